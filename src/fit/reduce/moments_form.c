// Poses streamed into the form (docs/spec/reduction.md 2.8). Welds go in batches: the device makes
// the form of each from all poses, then every free unit takes its part. Memory besides the form
// does not grow with the mesh. Invariant: sums over poses and welds have one order.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce/moments.h"

// Blocks of poses that rows are kept of at a time; scale of the floor of a normal's size.
enum { CHUNK = 16, KINDS = CUTIS_MOMENTS_KINDS };
static const double FLOOR = 1e-3;

// clang-format off
#define BUFFERS(X)                                                                                 \
    X(positions) X(first) X(control) X(weight) X(matrices) X(pose_scales) X(slot_first) X(slot)    \
    X(ring_first) X(ring) X(fan_first) X(fan) X(copies) X(unit_free) X(free_unit)                  \
    X(start) X(place_first) X(scratch) X(gram_first) X(gram) X(part) X(place)
// clang-format on

typedef struct former {
    cutis_moments *m;
    cutis_arena arena;
    const cutis_moments_poses *kinds;
    uint32_t kind_count;
    uint32_t kind_block[KINDS + 1]; ///< blocks of a kind's poses
    const double *start;
    double *linear; ///< per candidate, of a form about a bent surface; else NULL
    double *matrices, *scales, *scratch, *gram, *part, *place;
    long long *gram_first, *place_first;
    uint32_t weld;                ///< first of the batch
    uint32_t *taker, taker_count; ///< free units in a fan of the batch, in the order of welds
    uint32_t *taken;              ///< per free unit: the last batch that had it, and 1
    moments_sizes sizes;
#define BUFFER(name) cutis_buffer *name;
    struct {
        BUFFERS(BUFFER)
    } buffers;
} former;

static uint32_t slots(const cutis_moments *m, uint32_t f)
{
    return m->slot_first[f + 1] - m->slot_first[f];
}

// Matrices by blocks of poses; a block that is not full repeats its last pose.
static void pack_task(void *data, uint32_t index)
{
    former *f = data;
    const uint32_t controls = f->m->control_count;
    uint32_t kind = 0;
    while (index >= f->kind_block[kind + 1]) kind++;
    const cutis_moments_poses *poses = &f->kinds[kind];
    double *out = f->matrices + (size_t)index * controls * 12 * MOMENTS_BLOCK;
    for (uint32_t l = 0; l < MOMENTS_BLOCK; l++) {
        uint32_t pose = (index - f->kind_block[kind]) * MOMENTS_BLOCK + l;
        if (pose >= poses->count) pose = poses->count - 1;
        const double *from = poses->matrices + (size_t)pose * controls * 12;
        for (size_t i = 0; i < 12 * (size_t)controls; i++) out[i * MOMENTS_BLOCK + l] = from[i];
    }
}

// Scales of a kind's poses: their mean is taken with this weight.
static void set_scales(former *f, uint32_t kind, double weight)
{
    const uint32_t count = f->kinds[kind].count;
    double *scales = f->scales + (size_t)f->kind_block[kind] * MOMENTS_BLOCK;
    const size_t places = (size_t)(f->kind_block[kind + 1] - f->kind_block[kind]) * MOMENTS_BLOCK;
    for (size_t i = 0; i < places; i++) scales[i] = i < count ? sqrt(weight / count) : 0;
}

// A small part of the mean size of fans where the first pose puts them: the floor of their scale.
static double fan_floor(const former *f)
{
    const cutis_moments *m = f->m;
    const cutis_reduce_group *group = m->group;
    double sum = 0;
    for (uint32_t w = 0; w < m->weld_count; w++)
        for (uint32_t t = m->fan_first[w]; t < m->fan_first[w + 1]; t++) {
            double x[3][3] = { { 0 } }, cross[3];
            for (int c = 0; c < 3; c++) {
                const uint32_t unit = m->ring[m->ring_first[w] + m->fan[3 * (size_t)t + c]];
                const double *p = group->positions + 3 * (size_t)unit;
                for (uint32_t i = group->first[unit]; i < group->first[unit + 1]; i++) {
                    const double *a = f->kinds[0].matrices + 12 * (size_t)group->control[i];
                    for (int k = 0; k < 3; k++)
                        x[c][k] += group->weight[i] * (a[4 * k] * p[0] + a[4 * k + 1] * p[1] +
                                                       a[4 * k + 2] * p[2] + a[4 * k + 3]);
                }
            }
            for (int k = 0; k < 3; k++) x[1][k] -= x[0][k], x[2][k] -= x[0][k];
            for (int k = 0; k < 3; k++)
                cross[k] =
                    x[1][(k + 1) % 3] * x[2][(k + 2) % 3] - x[1][(k + 2) % 3] * x[2][(k + 1) % 3];
            sum += sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
        }
    return m->weld_count ? FLOOR * sum / m->weld_count : 0;
}

static uint32_t task_count(uint32_t items)
{
    return items / MOMENTS_TASK + 1;
}

static cutis_result wrap(former *f, const void *data, size_t size, cutis_buffer **out)
{
    return cutis_buffer_wrap(f->m->device, (uint64_t)(uintptr_t)data, size ? size : 8, out);
}

static cutis_result make_buffers(former *f)
{
    const cutis_moments *m = f->m;
    const cutis_reduce_group *g = m->group;
    const size_t units = g->unit_count, blocks = f->kind_block[f->kind_count];
    const size_t rings = m->ring_first[m->weld_count], fans = m->fan_first[m->weld_count];
    const size_t batch = m->weld_count < MOMENTS_BATCH ? m->weld_count : MOMENTS_BATCH;
    const struct {
        const void *data;
        size_t size;
        cutis_buffer **out;
    } all[] = {
        { g->positions, 24 * units, &f->buffers.positions },
        { g->first, 4 * (units + 1), &f->buffers.first },
        { g->control, 4 * (size_t)g->first[units], &f->buffers.control },
        { g->weight, 8 * (size_t)g->first[units], &f->buffers.weight },
        { f->matrices, blocks * m->control_count * 96 * MOMENTS_BLOCK, &f->buffers.matrices },
        { f->scales, blocks * 8 * MOMENTS_BLOCK, &f->buffers.pose_scales },
        { m->slot_first, 4 * ((size_t)m->free_count + 1), &f->buffers.slot_first },
        { m->slot, 4 * (size_t)m->slot_first[m->free_count], &f->buffers.slot },
        { m->ring_first, 4 * ((size_t)m->weld_count + 1), &f->buffers.ring_first },
        { m->ring, 4 * rings, &f->buffers.ring },
        { m->fan_first, 4 * ((size_t)m->weld_count + 1), &f->buffers.fan_first },
        { m->fan, 12 * fans, &f->buffers.fan },
        { m->copies, 8 * (size_t)m->weld_count, &f->buffers.copies },
        { m->unit_free, 4 * units, &f->buffers.unit_free },
        { m->free_unit, 4 * (size_t)m->free_count, &f->buffers.free_unit },
        { f->start, 8 * (size_t)m->slot_first[m->free_count], &f->buffers.start },
        { f->place_first, 8 * ((size_t)m->free_count + 1), &f->buffers.place_first },
        { f->gram_first, 8 * (batch + 1), &f->buffers.gram_first },
        { f->part, 8 * batch, &f->buffers.part },
        { f->place, 8 * m->place_first[m->free_count], &f->buffers.place },
        { f->scratch, 8, &f->buffers.scratch },
        { f->gram, 8, &f->buffers.gram },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        TRY(wrap(f, all[i].data, all[i].size, all[i].out));
    return CUTIS_OK;
}

static size_t rows_of(const cutis_moments *m, uint32_t weld)
{
    size_t rows = 0;
    for (uint32_t r = m->ring_first[weld]; r < m->ring_first[weld + 1]; r++) {
        const int32_t f = m->unit_free[m->ring[r]];
        if (f >= 0) rows += slots(m, (uint32_t)f);
    }
    return rows + 1; // one more for what they should come to
}

// Memory, matrices; scratch and forms of the largest batch.
static cutis_result open_former(former *f)
{
    cutis_moments *m = f->m;
    uint32_t blocks = 0;
    for (uint32_t k = 0; k < f->kind_count; k++) {
        blocks += (f->kinds[k].count + MOMENTS_BLOCK - 1) / MOMENTS_BLOCK;
        f->kind_block[k + 1] = blocks;
    }
    size_t largest = 0, sum = 0, triangle = m->place_first[m->free_count];
    for (uint32_t w = 0; w < m->weld_count; w++) {
        if (w % MOMENTS_BATCH == 0) sum = 0;
        const size_t rows = rows_of(m, w);
        sum += rows * (rows + 1) / 2;
        if (sum > largest) largest = sum;
    }
    const size_t batch = m->weld_count < MOMENTS_BATCH ? m->weld_count : MOMENTS_BATCH;
    const size_t rows = m->row_most > CUTIS_MOMENTS_WIDE ? m->row_most + 1 : CUTIS_MOMENTS_WIDE + 1;
    const size_t scratch = MOMENTS_SCRATCH((size_t)m->ring_most, rows, (size_t)CHUNK) * 2;
    f->sizes = (moments_sizes){ .controls = (int)m->control_count,
                                .ring_most = (int)m->ring_most,
                                .row_most = (int)rows,
                                .floor = 0 };
    f->matrices = cutis_arena_alloc(&f->arena, (size_t)blocks * m->control_count,
                                    12 * MOMENTS_BLOCK * sizeof(double));
    f->scales = cutis_arena_alloc(&f->arena, blocks, MOMENTS_BLOCK * sizeof(double));
    f->scratch = cutis_arena_alloc(&f->arena, task_count(MOMENTS_BATCH), scratch * sizeof(double));
    f->gram = cutis_arena_alloc(&f->arena, largest, sizeof *f->gram);
    f->part = cutis_arena_alloc(&f->arena, batch, sizeof *f->part);
    f->gram_first = cutis_arena_alloc(&f->arena, batch + 1, sizeof *f->gram_first);
    f->place = cutis_arena_alloc(&f->arena, triangle, sizeof *f->place);
    f->place_first =
        cutis_arena_alloc(&f->arena, (size_t)m->free_count + 1, sizeof *f->place_first);
    f->taker = cutis_arena_alloc(&f->arena, m->free_count, sizeof *f->taker);
    f->taken = cutis_arena_zero(&f->arena, m->free_count, sizeof *f->taken);
    if (!f->taker || !f->taken) return cutis_alloc_result(m->context);
    if (!f->matrices || !f->scales || !f->scratch || !f->gram || !f->part || !f->gram_first ||
        !f->place || !f->place_first)
        return cutis_alloc_result(m->context);
    for (uint32_t i = 0; i <= m->free_count; i++) f->place_first[i] = (long long)m->place_first[i];
    cutis_device_run(m->device, pack_task, f, blocks);
    f->sizes.floor = fan_floor(f);
    return make_buffers(f);
}

static void close_former(former *f)
{
#define DESTROY(name) cutis_buffer_destroy(f->buffers.name);
    BUFFERS(DESTROY)
    cutis_arena_release(&f->arena);
}

#define PASS(type, name) .name = f->buffers.name,

// What k-largest does to the normals of a kind's poses.
static cutis_result find_normals(former *f, uint32_t kind, double *energy)
{
    *energy = 0;
    set_scales(f, kind, 1);
    for (uint32_t weld = 0; weld < f->m->weld_count; weld += MOMENTS_BATCH) {
        const uint32_t left = f->m->weld_count - weld,
                       count = left < MOMENTS_BATCH ? left : MOMENTS_BATCH;
        f->sizes.item = (int)weld;
        for (uint32_t b = f->kind_block[kind]; b < f->kind_block[kind + 1]; b += CHUNK) {
            const uint32_t blocks = f->kind_block[kind + 1] - b;
            f->sizes.block_first = (int)b;
            f->sizes.blocks = (int)(blocks < CHUNK ? blocks : CHUNK);
            TRY(moments_energy_run(f->m->device, count,
                                   (moments_energy_buffers){ MOMENTS_ENERGY_BUFFERS(PASS, PASS) },
                                   (moments_energy_arguments){ .sizes = f->sizes }));
            for (uint32_t w = 0; w < count; w++) *energy += f->part[w];
        }
    }
    return CUTIS_OK;
}

// Add the positions' form of a kind to the whole one, in units of what k-largest does.
static cutis_result add_places(former *f, uint32_t kind)
{
    cutis_moments *m = f->m;
    double energy = 0;
    memset(f->place, 0, m->place_first[m->free_count] * sizeof *f->place);
    set_scales(f, kind, 1);
    for (uint32_t b = f->kind_block[kind]; b < f->kind_block[kind + 1]; b += CHUNK)
        for (uint32_t unit = 0; unit < m->free_count; unit += MOMENTS_BATCH) {
            const uint32_t left = m->free_count - unit, blocks = f->kind_block[kind + 1] - b;
            f->sizes.item = (int)unit;
            f->sizes.block_first = (int)b;
            f->sizes.blocks = (int)(blocks < CHUNK ? blocks : CHUNK);
            TRY(moments_place_run(m->device, left < MOMENTS_BATCH ? left : MOMENTS_BATCH,
                                  (moments_place_buffers){ MOMENTS_PLACE_BUFFERS(PASS, PASS) },
                                  (moments_place_arguments){ .sizes = f->sizes }));
        }
    for (int pass = 0; pass < 2; pass++) {
        const double scale = energy > 0 ? f->kinds[kind].position / energy : 0;
        for (uint32_t i = 0; i < m->free_count; i++) {
            const uint32_t n = slots(m, i);
            const double copies = m->unit_copies[m->free_unit[i]],
                         *start = f->start + m->slot_first[i];
            for (uint32_t r = 0; r < n; r++)
                for (uint32_t c = 0; c < n; c++) {
                    const uint32_t high = r > c ? r : c, low = r > c ? c : r;
                    const double v =
                        copies * f->place[m->place_first[i] + (size_t)high * (high + 1) / 2 + low];
                    if (pass == 0)
                        energy += start[r] * start[c] * v;
                    else
                        m->place[m->place_first[i] + (size_t)r * n + c] += scale * v;
                }
        }
    }
    return CUTIS_OK;
}

// A free unit's part of the batch's forms.
static void take_unit(const former *f, uint32_t own, uint32_t end)
{
    const cutis_moments *m = f->m;
    const uint32_t n = slots(m, own);
    for (uint32_t i = m->in_first[own]; i < m->in_first[own + 1]; i++) {
        const uint32_t weld = m->in[i], own_row = m->in_row[i];
        if (weld < f->weld || weld >= end) continue;
        const double *gram = f->gram + f->gram_first[weld - f->weld];
        const size_t last = rows_of(m, weld) - 1;
        for (uint32_t k = 0; k < n && f->linear; k++)
            f->linear[m->slot_first[own] + k] += gram[last * (last + 1) / 2 + own_row + k];
        for (uint32_t r = m->ring_first[weld], row = 0; r < m->ring_first[weld + 1]; r++) {
            const int32_t g = m->unit_free[m->ring[r]];
            if (g < 0) continue;
            size_t at = m->near_first[own];
            while (m->near[at] != (uint32_t)g) at++;
            double *block = m->value + m->entry[at];
            const uint32_t count = slots(m, (uint32_t)g);
            for (uint32_t j = 0; j < count; j++, row++)
                for (uint32_t k = 0; k < n; k++) {
                    const size_t a = own_row + k, b = row;
                    block[(size_t)j * n + k] +=
                        a > b ? gram[a * (a + 1) / 2 + b] : gram[b * (b + 1) / 2 + a];
                }
        }
    }
}

// Whom the batch's welds are about. Every free unit is looked at as often as it is in a fan.
static void list_takers(former *f, uint32_t count)
{
    const cutis_moments *m = f->m;
    f->taker_count = 0;
    for (uint32_t r = m->ring_first[f->weld]; r < m->ring_first[f->weld + count]; r++) {
        const int32_t g = m->unit_free[m->ring[r]];
        if (g < 0 || f->taken[g] == f->weld + 1) continue;
        f->taken[g] = f->weld + 1;
        f->taker[f->taker_count++] = (uint32_t)g;
    }
}

enum { TAKE_TASK = 16 };
static void take_task(void *data, uint32_t index)
{
    const former *f = data;
    uint32_t i = index * TAKE_TASK;
    for (uint32_t last = i + TAKE_TASK; i < last && i < f->taker_count; i++)
        take_unit(f, f->taker[i], f->weld + MOMENTS_BATCH);
}

static cutis_result form_batch(former *f)
{
    cutis_moments *m = f->m;
    const uint32_t left = m->weld_count - f->weld,
                   count = left < MOMENTS_BATCH ? left : MOMENTS_BATCH,
                   blocks = f->kind_block[f->kind_count];
    f->gram_first[0] = 0;
    for (uint32_t w = 0; w < count; w++) {
        const size_t rows = rows_of(m, f->weld + w);
        f->gram_first[w + 1] = f->gram_first[w] + (long long)(rows * (rows + 1) / 2);
    }
    memset(f->gram, 0, (size_t)f->gram_first[count] * sizeof *f->gram);
    f->sizes.item = (int)f->weld;
    for (uint32_t b = 0; b < blocks; b += CHUNK) {
        f->sizes.block_first = (int)b;
        f->sizes.blocks = (int)(blocks - b < CHUNK ? blocks - b : CHUNK);
        TRY(moments_gram_run(m->device, count,
                             (moments_gram_buffers){ MOMENTS_GRAM_BUFFERS(PASS, PASS) },
                             (moments_gram_arguments){ .sizes = f->sizes }));
    }
    list_takers(f, count);
    cutis_device_run_items(m->device, take_task, f, f->taker_count, TAKE_TASK);
    for (uint32_t w = 0; w < count && f->linear; w++)
        m->constant += f->gram[f->gram_first[w + 1] - 1];
    return CUTIS_OK;
}

static cutis_result form_all(former *f)
{
    cutis_moments *m = f->m;
    for (uint32_t k = 0; k < f->kind_count && !f->linear; k++) {
        TRY(cutis_progress(m->context, "reading poses", 0.5 * k / f->kind_count));
        TRY(add_places(f, k));
        if (!(m->unit[k] > 0)) TRY(find_normals(f, k, &m->unit[k])); // else as it was
    }
    for (uint32_t k = 0; k < f->kind_count; k++)
        set_scales(f, k, m->unit[k] > 0 ? f->kinds[k].normal / m->unit[k] : 0);
    f->sizes.bent = f->linear != NULL;
    for (f->weld = 0; f->weld < m->weld_count; f->weld += MOMENTS_BATCH) {
        TRY(cutis_progress(m->context, "forming moments", (double)f->weld / m->weld_count));
        TRY(form_batch(f));
    }
    return CUTIS_OK;
}

// Multiply-adds that a form cannot do without: two tangents, half a square of rows.
static double count_products(const former *f)
{
    double sum = 0, poses = 0;
    for (uint32_t k = 0; k < f->kind_count; k++) poses += f->kinds[k].count;
    for (uint32_t w = 0; w < f->m->weld_count; w++) {
        const double rows = (double)rows_of(f->m, w) - 1;
        sum += rows * rows;
    }
    return poses * sum;
}

static cutis_result run_former(former *f)
{
    const double start = cutis_os_processor_seconds();
    cutis_result result = open_former(f);
    if (result == CUTIS_OK) result = form_all(f);
    f->m->form_products += count_products(f);
    close_former(f);
    f->m->form_seconds += cutis_os_processor_seconds() - start;
    return result;
}

cutis_result cutis_moments_form(cutis_moments *m, cutis_arena *arena,
                                const cutis_moments_poses *poses, uint32_t kind_count,
                                const double *start)
{
    former f = { .m = m,
                 .arena.context = m->context,
                 .kinds = poses,
                 .kind_count = kind_count,
                 .start = start };
    if (!m->value) { // else its memory is used again
        m->value = cutis_arena_alloc(arena, m->value_count, sizeof *m->value);
        m->place = cutis_arena_alloc(arena, m->place_first[m->free_count], sizeof *m->place);
    }
    if (!m->value || !m->place) return cutis_alloc_result(m->context);
    memset(m->value, 0, m->value_count * sizeof *m->value);
    memset(m->place, 0, m->place_first[m->free_count] * sizeof *m->place);
    m->linear = NULL;
    m->constant = 0;
    return run_former(&f);
}

cutis_result cutis_moments_bend(cutis_moments *m, cutis_arena *arena,
                                const cutis_moments_poses *poses, uint32_t kind_count,
                                const cutis_moments_state *state)
{
    const uint32_t slots = m->slot_first[m->free_count];
    double *weights = cutis_arena_zero(arena, slots, sizeof *weights);
    former f = { .m = m,
                 .arena.context = m->context,
                 .kinds = poses,
                 .kind_count = kind_count,
                 .start = weights };
    f.linear = cutis_arena_zero(arena, slots, sizeof *f.linear);
    if (!weights || !f.linear) return cutis_alloc_result(m->context);
    for (uint32_t i = 0; i < m->free_count; i++)
        for (uint32_t k = 0; k < state->count[i]; k++) {
            const size_t at = (size_t)i * m->influences + k;
            weights[m->slot_first[i] + state->index[at]] = state->weight[at];
        }
    memset(m->value, 0, m->value_count * sizeof *m->value);
    m->constant = 0;
    m->linear = f.linear;
    return run_former(&f);
}
