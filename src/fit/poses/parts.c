// Parts of a fit that whoever has learned: a group's weights and what its tasks have added to each
// sum, as bytes. Invariant: sums are added task by task in the order of vertices, whoever made the
// tasks, so that a fit put together from parts has the bits of one process.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fit/poses/fit.h"

typedef struct part_head {
    uint32_t magic, part, vertex, count, slots, examples, learned, reserved;
} part_head;
#define MAGIC 0x31704643u // "CFp1" where bytes are little-endian: of another order it is another

// Where things are in the bytes of a part; all a multiple of 8.
typedef struct part_layout {
    size_t counts, joints, weights, sums, errors, end;
} part_layout;

static size_t round_up(size_t size)
{
    return (size + 7) / 8 * 8;
}

static part_layout lay_out(const cutis_fit_problem *p, uint32_t count)
{
    const size_t tasks = (count + CUTIS_FIT_TASK - 1) / CUTIS_FIT_TASK, n = count;
    part_layout l = { .counts = sizeof(part_head) };
    l.joints = l.counts + round_up(4 * n);
    l.weights = l.joints + round_up(4 * n * p->slots);
    l.sums = l.weights + round_up(4 * n * p->slots);
    l.errors = l.sums + tasks * sizeof(cutis_fit_sums);
    l.end = l.errors + tasks * 2 * p->examples->count * sizeof(double);
    return l;
}

static part_head head_of(const cutis_fit_problem *p, uint32_t part, uint32_t vertex, uint32_t count)
{
    return (part_head){ .magic = MAGIC,
                        .part = part,
                        .vertex = vertex,
                        .count = count,
                        .slots = p->slots,
                        .examples = p->examples->count,
                        .learned = p->options.learn_weights };
}

cutis_result cutis_fit_part_put(cutis_fit_problem *p, uint32_t vertex, uint32_t count,
                                const cutis_fit_sums *sums, const double *errors)
{
    const part_layout l = lay_out(p, count);
    const part_head head = head_of(p, p->part->part, vertex, count);
    const size_t slots = p->slots, at = vertex * slots;
    unsigned char *bytes = cutis_alloc_zero(p->context, l.end + 1, 1); // cutis_memory_free
    if (!bytes) return cutis_alloc_result(p->context);
    memcpy(bytes, &head, sizeof head);
    memcpy(bytes + l.counts, p->counts + vertex, 4 * (size_t)count);
    for (size_t v = 0; v < count; v++) { // what is beyond the count was never set
        const size_t own = 4 * (size_t)p->counts[vertex + v];
        memcpy(bytes + l.joints + 4 * v * slots, p->joints + at + v * slots, own);
        memcpy(bytes + l.weights + 4 * v * slots, p->weights + at + v * slots, own);
    }
    memcpy(bytes + l.sums, sums, l.errors - l.sums);
    memcpy(bytes + l.errors, errors, l.end - l.errors);
    p->part->bytes = bytes, p->part->size = l.end;
    return CUTIS_OK;
}

static bool is_sound(const cutis_fit_problem *p, uint32_t vertex, uint32_t joint_count)
{
    const size_t at = (size_t)vertex * p->slots;
    if (p->counts[vertex] > p->slots) return false;
    for (uint32_t i = 0; i < p->counts[vertex]; i++)
        if (p->joints[at + i] >= joint_count || !isfinite(p->weights[at + i])) return false;
    return true;
}

cutis_result cutis_fit_part_take(cutis_fit_problem *p, uint32_t part, uint32_t vertex,
                                 uint32_t count, uint32_t joint_count, cutis_fit_sums *sums,
                                 double *errors)
{
    const part_layout l = lay_out(p, count);
    const part_head want = head_of(p, part, vertex, count);
    const unsigned char *bytes = p->options.parts[part];
    if (!bytes || p->options.part_sizes[part] != l.end || memcmp(bytes, &want, sizeof want) != 0)
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                          "fit: part %u is of another fit, or damaged", part);
    memcpy(p->counts + vertex, bytes + l.counts, 4 * (size_t)count);
    memcpy(p->joints + (size_t)vertex * p->slots, bytes + l.joints, 4 * (size_t)count * p->slots);
    memcpy(p->weights + (size_t)vertex * p->slots, bytes + l.weights, 4 * (size_t)count * p->slots);
    memcpy(sums, bytes + l.sums, l.errors - l.sums);
    memcpy(errors, bytes + l.errors, l.end - l.errors);
    for (uint32_t v = vertex; v < vertex + count; v++)
        if (!is_sound(p, v, joint_count))
            return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT, "fit: part %u is damaged", part);
    return CUTIS_OK;
}
