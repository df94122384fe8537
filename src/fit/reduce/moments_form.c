// Poses streamed into the form (docs/spec/reduction.md 2.8). Clumps of welds go in batches: the
// device makes the form of each weld from all poses, then every free unit takes its part. Memory
// besides the form does not grow with the mesh. Invariant: sums over poses and welds have one
// order.
//
// Fewer rows than candidates: weights w that a surface is made of are no error about it, so that
// the rows of a unit, times w, sum to 0. One of them, that of the largest w, follows from the
// others, and so do its products: they are filled in at the end, once for all poses.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/reduce/moments_former.h"

enum { BATCH = 4096, BATCH_ROWS = 1 << 17, NONE = -1 };
static const double FLOOR = 1e-3; // of the mean size of fans: the floor of a normal's
// Weights whose sum is further from 1 than this have rows of their own.
static const double SUM = 1e-12;

typedef cutis_former former;

static uint32_t slots(const cutis_moments *m, uint32_t f)
{
    return m->slot_first[f + 1] - m->slot_first[f];
}

// Matrices by controls and blocks of poses, so that a clump reads on where it was; a block that is
// not full repeats its last pose.
static void pack_task(void *data, uint32_t index)
{
    former *f = data;
    const uint32_t controls = f->m->control_count;
    uint32_t kind = 0;
    while (index >= f->kind_block[kind + 1]) kind++;
    const cutis_moments_poses *poses = &f->kinds[kind];
    const size_t blocks = f->kind_block[f->kind_count];
    double *out = f->matrices + (size_t)index * 12 * MOMENTS_BLOCK;
    for (uint32_t l = 0; l < MOMENTS_BLOCK; l++) {
        uint32_t pose = (index - f->kind_block[kind]) * MOMENTS_BLOCK + l;
        if (pose >= poses->count) pose = poses->count - 1;
        const double *from = poses->matrices + (size_t)pose * controls * 12;
        for (size_t c = 0; c < controls; c++)
            for (size_t i = 0; i < 12; i++)
                out[(12 * c * blocks + i) * MOMENTS_BLOCK + l] = from[12 * c + i];
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

// Where the first pose puts a unit.
static void pose_unit(const former *f, uint32_t unit, double *out)
{
    const cutis_reduce_group *group = f->m->group;
    const double *p = group->positions + 3 * (size_t)unit;
    out[0] = out[1] = out[2] = 0;
    for (uint32_t k = group->first[unit]; k < group->first[unit + 1]; k++) {
        const double *a = f->kinds[0].matrices + 12 * (size_t)group->control[k];
        for (int l = 0; l < 3; l++)
            out[l] += group->weight[k] *
                      (a[4 * l] * p[0] + a[4 * l + 1] * p[1] + a[4 * l + 2] * p[2] + a[4 * l + 3]);
    }
}

// A small part of the mean size of fans where the first pose puts them: the floor of their scale.
static bool find_floor(former *f)
{
    const cutis_moments *m = f->m;
    const size_t listed = m->clump_unit[m->clump_count], faces = m->clump_face[m->clump_count];
    double *place = cutis_arena_alloc(&f->arena, listed, 3 * sizeof *place);
    double *size = cutis_arena_alloc(&f->arena, faces, sizeof *size), sum = 0;
    if (!place || !size) return false;
    for (size_t u = 0; u < listed; u++) pose_unit(f, m->listed_unit[u], place + 3 * u);
    for (size_t i = 0; i < faces; i++) {
        double x[3][3], cross[3];
        for (int c = 0; c < 3; c++)
            memcpy(x[c], place + 3 * (size_t)m->face[3 * i + c], sizeof x[c]);
        for (int k = 0; k < 3; k++) x[1][k] -= x[0][k], x[2][k] -= x[0][k];
        for (int k = 0; k < 3; k++)
            cross[k] =
                x[1][(k + 1) % 3] * x[2][(k + 2) % 3] - x[1][(k + 2) % 3] * x[2][(k + 1) % 3];
        size[i] = sqrt(cross[0] * cross[0] + cross[1] * cross[1] + cross[2] * cross[2]);
    }
    for (uint32_t i = 0; i < m->weld_face[m->weld_count]; i++) sum += size[m->fan[i]];
    f->sizes.floor = m->weld_count ? FLOOR * sum / m->weld_count : 0;
    return true;
}

// Rows --------------------------------------------------------------------------------------------

// The candidate of a free unit that needs no row, and what it follows from: where all influences
// are candidates the surface's weights are theirs.
static void choose_base(former *f, uint32_t own)
{
    const cutis_moments *m = f->m;
    const uint32_t begin = m->slot_first[own], n = slots(m, own), unit = m->free_unit[own],
                   influence = m->group->first[unit];
    const bool all = n == m->group->first[unit + 1] - influence;
    double sum = 0, most = 0;
    int base = NONE;
    for (uint32_t i = 0; i < n; i++) {
        const double w =
            f->linear ? f->start[begin + i] : m->group->weight[influence + m->slot[begin + i]];
        f->ratio[begin + i] = w;
        sum += w;
        if (w > most) most = w, base = (int)i;
    }
    if ((!f->linear && !all) || !(fabs(sum - 1) < SUM)) base = NONE;
    f->base[own] = base;
    for (uint32_t i = 0, row = 0; i < n; i++) {
        if ((int)i != base) f->row_slot[begin + row++] = i;
        f->ratio[begin + i] = base == NONE || (int)i == base ? 0 : f->ratio[begin + i] / most;
        f->keep[influence + m->slot[begin + i]] = (int)i != base;
    }
}

static uint32_t kept(const former *f, uint32_t own)
{
    return slots(f->m, own) - (f->base[own] != NONE);
}

// The candidate of a free unit's row.
static uint32_t slot_of(const former *f, uint32_t own, uint32_t row)
{
    return f->row_slot[f->m->slot_first[own] + row];
}

static bool choose_rows(former *f)
{
    const cutis_moments *m = f->m;
    const cutis_reduce_group *g = m->group;
    const size_t influences = g->first[g->unit_count], listed = m->clump_unit[m->clump_count];
    f->keep = cutis_arena_zero(&f->arena, influences, sizeof *f->keep);
    f->moved = cutis_arena_zero(&f->arena, influences, sizeof *f->moved);
    f->base = cutis_arena_alloc(&f->arena, m->free_count, sizeof *f->base);
    f->ratio = cutis_arena_alloc(&f->arena, m->slot_first[m->free_count], sizeof *f->ratio);
    f->row_slot = cutis_arena_alloc(&f->arena, m->slot_first[m->free_count], sizeof *f->row_slot);
    f->unit_slot = cutis_arena_alloc(&f->arena, listed + 1, sizeof *f->unit_slot);
    f->row_first = cutis_arena_alloc(&f->arena, (size_t)m->weld_count + 1, sizeof *f->row_first);
    f->rim_row = cutis_arena_alloc(&f->arena, m->weld_rim[m->weld_count], sizeof *f->rim_row);
    if (!f->keep || !f->moved || !f->base || !f->ratio || !f->row_slot || !f->unit_slot ||
        !f->row_first || !f->rim_row)
        return false;
    for (uint32_t u = 0; u < g->unit_count; u++)
        for (uint32_t i = g->first[u]; i < g->first[u + 1] && m->unit_free[u] < 0; i++)
            f->moved[i] = g->weight[i];
    for (uint32_t i = 0; i < m->free_count; i++) {
        choose_base(f, i);
        for (uint32_t s = m->slot_first[i]; s < m->slot_first[i + 1]; s++)
            f->moved[g->first[m->free_unit[i]] + m->slot[s]] = f->start[s];
    }
    f->unit_slot[0] = f->row_first[0] = 0;
    for (size_t u = 0; u < listed; u++) {
        const int32_t own = m->unit_free[m->listed_unit[u]];
        f->unit_slot[u + 1] = f->unit_slot[u] + (own < 0 ? 0 : (int)kept(f, (uint32_t)own));
    }
    for (uint32_t w = 0; w < m->weld_count; w++) {
        int row = 0;
        for (uint32_t r = m->weld_rim[w]; r < m->weld_rim[w + 1]; r++) {
            f->rim_row[r] = row;
            row += (int)kept(f, m->rim_free[r]);
        }
        f->row_first[w + 1] = f->row_first[w] + row + (f->linear ? 1 : 0);
    }
    return true;
}

// Memory ------------------------------------------------------------------------------------------

// A buffer of what the host has: a CPU works in its memory.
static cutis_result share(former *f, const void *data, size_t size, cutis_buffer **out)
{
    if (!f->gpu)
        return cutis_buffer_wrap(f->m->device, (uint64_t)(uintptr_t)data, size ? size : 8, out);
    TRY(cutis_buffer_create(f->gpu, size ? size : 8, out));
    return size ? cutis_buffer_write(*out, 0, data, size) : CUTIS_OK;
}

static cutis_result make_buffers(former *f)
{
    const cutis_moments *m = f->m;
    const cutis_reduce_group *g = m->group;
    const size_t units = g->unit_count, blocks = f->kind_block[f->kind_count],
                 influences = g->first[units], listed = m->clump_unit[m->clump_count],
                 welds = m->weld_count, rims = m->weld_rim[welds], clumps = m->clump_count;
    const struct {
        const void *data;
        size_t size;
        cutis_buffer **out;
    } all[] = {
        { g->positions, 24 * units, &f->buffers.positions },
        { g->first, 4 * (units + 1), &f->buffers.first },
        { g->control, 4 * influences, &f->buffers.control },
        { g->weight, 8 * influences, &f->buffers.weight },
        { f->keep, 4 * influences, &f->buffers.keep },
        { f->moved, 8 * influences, &f->buffers.moved },
        { f->matrices, blocks * m->control_count * 96 * MOMENTS_BLOCK, &f->buffers.matrices },
        { f->scales, blocks * 8 * MOMENTS_BLOCK, &f->buffers.pose_scales },
        { m->listed_unit, 4 * listed, &f->buffers.listed_unit },
        { f->unit_slot, 4 * (listed + 1), &f->buffers.unit_slot },
        { m->clump_weld, 4 * (clumps + 1), &f->buffers.clump_weld },
        { m->clump_unit, 4 * (clumps + 1), &f->buffers.clump_unit },
        { m->clump_face, 4 * (clumps + 1), &f->buffers.clump_face },
        { m->face, 12 * (size_t)m->clump_face[clumps], &f->buffers.face },
        { m->weld_face, 4 * (welds + 1), &f->buffers.weld_face },
        { m->fan, 4 * (size_t)m->weld_face[welds], &f->buffers.fan },
        { m->weld_rim, 4 * (welds + 1), &f->buffers.weld_rim },
        { m->rim, 4 * rims, &f->buffers.rim },
        { m->rim_edge, 4 * (rims + 1), &f->buffers.rim_edge },
        { m->edges, 8 * (size_t)m->rim_edge[rims], &f->buffers.edge },
        { m->copies, 8 * welds, &f->buffers.copies },
        { f->row_first, 4 * (welds + 1), &f->buffers.row_first },
        { m->listed_place, 4 * listed, &f->buffers.listed_place },
        { f->place_first, 8 * ((size_t)m->free_count + 1), &f->buffers.place_first },
        { f->gram_first, 8 * (welds + 1), &f->buffers.gram_first },
        { f->place, 8 * m->place_first[m->free_count], &f->buffers.place },
        { f->scratch, 8, &f->buffers.scratch }, // the last two: a GPU has its own
        { f->gram, 8, &f->buffers.gram },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all - (f->gpu ? 2 : 0); i++)
        TRY(share(f, all[i].data, all[i].size, all[i].out));
    return CUTIS_OK;
}

static uint32_t batch_end(const former *f, uint32_t clump)
{
    const cutis_moments *m = f->m;
    const uint32_t weld = m->clump_weld[clump];
    uint32_t end = clump + 1;
    while (end < m->clump_count && m->clump_weld[end + 1] - weld <= BATCH &&
           f->row_first[m->clump_weld[end + 1]] - f->row_first[weld] <= BATCH_ROWS)
        end++;
    return end;
}

static void raise_to(int *most, int x)
{
    if (*most < x) *most = x;
}

// Batches, and what the largest of them take. @return entries of the largest one's forms
static size_t measure_batches(former *f)
{
    const cutis_moments *m = f->m;
    moments_sizes *sizes = &f->sizes;
    size_t largest = 0;
    for (uint32_t c = 0; c < m->clump_count; c++) {
        const uint32_t *unit = m->clump_unit + c, *face = m->clump_face + c,
                       *weld = m->clump_weld + c;
        raise_to(&sizes->units, (int)(unit[1] - unit[0]));
        raise_to(&sizes->faces, (int)(face[1] - face[0]));
        raise_to(&sizes->slots, f->unit_slot[unit[1]] - f->unit_slot[unit[0]]);
        raise_to(&sizes->rows, f->row_first[weld[1]] - f->row_first[weld[0]]);
    }
    for (uint32_t c = 0, end; c < m->clump_count; c = end) {
        size_t sum = 0;
        end = batch_end(f, c);
        for (uint32_t w = m->clump_weld[c]; w < m->clump_weld[end]; w++) {
            const size_t rows = (size_t)(f->row_first[w + 1] - f->row_first[w]);
            f->gram_first[w] = (long long)sum;
            sum += rows * (rows + 1) / 2;
        }
        if (sum > largest) largest = sum;
        if (end - c > f->clump_most) f->clump_most = end - c;
    }
    return largest;
}

// Tasks of a batch have a scratch each: four times as many as threads, so that none waits long for
// the last one. @return doubles of all
static size_t set_tasks(former *f)
{
    moments_sizes *s = &f->sizes;
    const uint32_t threads = f->m->device ? f->m->device->task_threads : 1,
                   tasks = 4 * (threads ? threads : 1);
    s->task = (int)((f->clump_most + tasks - 1) / tasks);
    if (s->task < 1) s->task = 1;
    s->stride = MOMENTS_STRIDE(MOMENTS_CHUNK);
    s->place_stride = MOMENTS_STRIDE(2 * MOMENTS_CHUNK);
    const size_t own = MOMENTS_KEPT((size_t)s->units, s->slots, s->faces, s->kept) +
                       (size_t)s->rows * s->stride + (size_t)s->slots * s->place_stride;
    return own * (f->clump_most / s->task + 1);
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
    f->gram_first = cutis_arena_alloc(&f->arena, (size_t)m->weld_count + 1, sizeof *f->gram_first);
    if (!f->gram_first || !choose_rows(f)) return cutis_alloc_result(m->context);
    f->sizes = (moments_sizes){ .blocks_all = (int)blocks, .kept = MOMENTS_TOGETHER, .rows = 1 };
    const size_t largest = measure_batches(f);
    f->matrices = cutis_arena_alloc(&f->arena, (size_t)blocks * m->control_count,
                                    12 * MOMENTS_BLOCK * sizeof(double));
    f->scales = cutis_arena_alloc(&f->arena, blocks, MOMENTS_BLOCK * sizeof(double));
    const size_t scratch = set_tasks(f);
    f->scratch = cutis_arena_alloc(&f->arena, f->gpu ? 1 : scratch, sizeof *f->scratch);
    f->gram = cutis_arena_alloc(&f->arena, largest, sizeof *f->gram);
    f->place = cutis_arena_alloc(&f->arena, m->place_first[m->free_count], sizeof *f->place);
    f->place_first =
        cutis_arena_alloc(&f->arena, (size_t)m->free_count + 1, sizeof *f->place_first);
    f->taker = cutis_arena_alloc(&f->arena, m->free_count, sizeof *f->taker);
    f->taken = cutis_arena_zero(&f->arena, m->free_count, sizeof *f->taken);
    f->part_energy = cutis_arena_alloc(&f->arena, m->free_count, sizeof *f->part_energy);
    if (!f->matrices || !f->scales || !f->scratch || !f->gram || !f->place || !f->place_first ||
        !f->taker || !f->taken || !f->part_energy)
        return cutis_alloc_result(m->context);
    for (uint32_t i = 0; i <= m->free_count; i++) f->place_first[i] = (long long)m->place_first[i];
    cutis_device_run(m->device, pack_task, f, blocks);
    return find_floor(f) ? make_buffers(f) : cutis_alloc_result(m->context);
}

static void close_former(former *f)
{
#define DESTROY(name) cutis_buffer_destroy(f->buffers.name);
    CUTIS_FORMER_BUFFERS(DESTROY)
    cutis_arena_release(&f->arena);
}

// Forms -------------------------------------------------------------------------------------------

#define PASS(type, name) .name = f->buffers.name,

// Entry (r, c) of a symmetric form of which the lower triangle is kept.
static double entry_of(const double *triangle, size_t r, size_t c)
{
    return r > c ? triangle[r * (r + 1) / 2 + c] : triangle[c * (c + 1) / 2 + r];
}

// Fill in the row and the column of a block (g's candidates by f's) that follow from the others.
static void complete(const former *f, uint32_t g, uint32_t own, double *block)
{
    const cutis_moments *m = f->m;
    const uint32_t n = slots(m, own), rows = slots(m, g);
    const double *ratio = f->ratio + m->slot_first[own], *other = f->ratio + m->slot_first[g];
    double base[CUTIS_MOMENTS_WIDE] = { 0 };
    for (uint32_t j = 0; j < rows; j++) {
        double *row = block + (size_t)j * n, sum = 0;
        for (uint32_t k = 0; k < n; k++) sum -= ratio[k] * row[k];
        if (f->base[own] != NONE) row[f->base[own]] = sum;
        for (uint32_t k = 0; k < n; k++) base[k] -= other[j] * row[k];
    }
    if (f->base[g] != NONE) memcpy(block + (size_t)f->base[g] * n, base, n * sizeof *base);
}

// a^T B b of weights of candidates, by the rows that there are; B is g's by own's.
static double product(const former *f, uint32_t g, uint32_t own, const double *block)
{
    const cutis_moments *m = f->m;
    const uint32_t n = slots(m, own), rows = slots(m, g);
    const double *ratio = f->ratio + m->slot_first[own], *other = f->ratio + m->slot_first[g],
                 *a = f->start + m->slot_first[own], *b = f->start + m->slot_first[g],
                 a_base = f->base[own] == NONE ? 0 : a[f->base[own]],
                 b_base = f->base[g] == NONE ? 0 : b[f->base[g]];
    double all = 0;
    for (uint32_t j = 0; j < rows; j++) {
        double sum = 0;
        for (uint32_t k = 0; k < n; k++)
            sum += block[(size_t)j * n + k] * (a[k] - ratio[k] * a_base);
        all += sum * (b[j] - other[j] * b_base);
    }
    return all;
}

// The positions' form of a kind, and what k-largest does to it.
static void take_places(former *f, uint32_t kind)
{
    cutis_moments *m = f->m;
    m->place_unit[kind] = 0;
    for (uint32_t i = 0; i < m->free_count; i++) {
        const uint32_t n = slots(m, i), rows = kept(f, i);
        const double copies = m->unit_copies[m->free_unit[i]];
        double *block = m->kind_place[kind] + m->place_first[i];
        memset(block, 0, (size_t)n * n * sizeof *block);
        for (uint32_t r = 0; r < rows; r++)
            for (uint32_t c = 0; c < rows; c++)
                block[slot_of(f, i, r) * n + slot_of(f, i, c)] =
                    copies * entry_of(f->place + m->place_first[i], r, c);
        m->place_unit[kind] += product(f, i, i, block);
        complete(f, i, i, block);
    }
}

// Add rows `own_row` on by `row` on of a weld's form, a lower triangle, to a block of own's and g's
// candidates.
static void take_block(const former *f, uint32_t own, uint32_t g, const double *gram,
                       size_t own_row, size_t row, double *block)
{
    const uint32_t n = slots(f->m, own), own_rows = kept(f, own), count = kept(f, g);
    const uint32_t *own_slot = f->row_slot + f->m->slot_first[own],
                   *slot = f->row_slot + f->m->slot_first[g];
    for (uint32_t j = 0; j < count; j++) {
        const size_t b = row + j;
        double *to = block + (size_t)slot[j] * n;
        const double *line = gram + b * (b + 1) / 2 + own_row;
        if (own_row < row) {
            for (uint32_t k = 0; k < own_rows; k++) to[own_slot[k]] += line[k];
            continue;
        }
        for (uint32_t k = 0; k < own_rows; k++) {
            const size_t a = own_row + k;
            to[own_slot[k]] += a > b ? gram[a * (a + 1) / 2 + b] : line[k];
        }
    }
}

// A free unit's part of the batch's forms.
static void take_unit(const former *f, uint32_t own)
{
    const cutis_moments *m = f->m;
    const uint32_t own_rows = kept(f, own), begin = m->clump_weld[f->clump],
                   end = m->clump_weld[f->clump_end];
    for (uint32_t i = m->in_first[own]; i < m->in_first[own + 1]; i++) {
        const uint32_t weld = m->in[i], own_row = (uint32_t)f->rim_row[m->in_rim[i]];
        if (weld < begin || weld >= end) continue;
        const double *gram = f->gram + f->gram_first[weld];
        const size_t last = (size_t)(f->row_first[weld + 1] - f->row_first[weld]) - 1;
        for (uint32_t k = 0; k < own_rows && f->linear; k++)
            f->linear[m->slot_first[own] + slot_of(f, own, k)] +=
                gram[last * (last + 1) / 2 + own_row + k];
        for (uint32_t r = m->weld_rim[weld]; r < m->weld_rim[weld + 1]; r++) {
            size_t at = m->near_first[own];
            while (m->near[at] != m->rim_free[r]) at++;
            take_block(f, own, m->rim_free[r], gram, own_row, (size_t)f->rim_row[r],
                       f->value + m->entry[at]);
        }
    }
}

// Whom the batch's welds are about. Every free unit is looked at as often as it is in a fan.
static void list_takers(former *f)
{
    const cutis_moments *m = f->m;
    f->taker_count = 0;
    for (uint32_t r = m->weld_rim[m->clump_weld[f->clump]];
         r < m->weld_rim[m->clump_weld[f->clump_end]]; r++) {
        const uint32_t g = m->rim_free[r];
        if (f->taken[g] == f->clump + 1) continue;
        f->taken[g] = f->clump + 1;
        f->taker[f->taker_count++] = g;
    }
}

enum { TAKE_TASK = 16 };
static void take_task(void *data, uint32_t index)
{
    const former *f = data;
    uint32_t i = index * TAKE_TASK;
    for (uint32_t last = i + TAKE_TASK; i < last && i < f->taker_count; i++)
        take_unit(f, f->taker[i]);
}

// Multiply-adds of a form by its definition: two tangents, half a square of rows, one a candidate.
static double count_products(const former *f, uint32_t begin, uint32_t end)
{
    const cutis_moments *m = f->m;
    double sum = 0, poses = 0;
    for (uint32_t k = 0; k < f->kind_count; k++)
        if (begin <= f->kind_block[k] && f->kind_block[k] < end) poses += f->kinds[k].count;
    for (uint32_t w = 0; w < m->weld_count; w++)
        sum += (double)m->weld_candidates[w] * m->weld_candidates[w];
    return poses * sum;
}

// Forms of a batch of clumps.
static cutis_result run_batch(former *f, moments_sizes sizes)
{
    const cutis_moments *m = f->m;
    const uint32_t weld = m->clump_weld[f->clump], weld_end = m->clump_weld[f->clump_end];
    const size_t last = weld < weld_end
                            ? (size_t)(f->row_first[weld_end] - f->row_first[weld_end - 1])
                            : 0,
                 entries = weld < weld_end
                               ? (size_t)f->gram_first[weld_end - 1] + last * (last + 1) / 2
                               : 0;
    if (f->gpu) return cutis_former_batch(f, sizes, entries);
    cutis_compute_kernel kernel = cutis_compute_moments_gram;
    kernel.task_items = (uint32_t)sizes.task;
    memset(f->gram, 0, entries * sizeof *f->gram);
    sizes.item = (int)f->clump;
    const moments_gram_buffers buffers = { MOMENTS_GRAM_BUFFERS(PASS, PASS) };
    const moments_gram_arguments arguments = { .sizes = sizes };
    return cutis_compute_run(m->device, &kernel, f->clump_end - f->clump, &buffers, &arguments);
}

// Rows of the poses' blocks, streamed into the form as they are. @param places positions too
static cutis_result stream(former *f, uint32_t begin, uint32_t end, bool places)
{
    cutis_moments *m = f->m;
    moments_sizes sizes = f->sizes;
    sizes.block_first = (int)begin, sizes.blocks = (int)(end - begin);
    sizes.places = places;
    sizes.bent = sizes.second = f->linear != NULL;
    memset(f->taken, 0, m->free_count * sizeof *f->taken);
    if (places) memset(f->place, 0, m->place_first[m->free_count] * sizeof *f->place);
    if (f->gpu) TRY(cutis_former_begin(f, places));
    for (f->clump = 0; f->clump < m->clump_count; f->clump = f->clump_end) {
        TRY(cutis_progress(m->context, "forming moments", (double)f->clump / m->clump_count));
        f->clump_end = batch_end(f, f->clump);
        TRY(run_batch(f, sizes));
        list_takers(f);
        cutis_device_run_items(m->device, take_task, f, f->taker_count, TAKE_TASK);
        for (uint32_t w = m->clump_weld[f->clump]; w < m->clump_weld[f->clump_end] && f->linear;
             w++) {
            const size_t rows = (size_t)(f->row_first[w + 1] - f->row_first[w]);
            m->constant += f->gram[(size_t)f->gram_first[w] + rows * (rows + 1) / 2 - 1];
        }
    }
    m->form_products += count_products(f, begin, end);
    return f->gpu && places ? cutis_former_end(f) : CUTIS_OK;
}

enum { UNIT_TASK = 64 };
// What the weights `start` come to on the form, by its rows.
static void energy_task(void *data, uint32_t index)
{
    former *f = data;
    const cutis_moments *m = f->m;
    for (uint32_t i = index * UNIT_TASK; i < (index + 1) * UNIT_TASK && i < m->free_count; i++) {
        f->part_energy[i] = 0;
        for (size_t b = m->near_first[i]; b < m->near_first[i + 1]; b++)
            f->part_energy[i] += product(f, m->near[b], i, f->value + m->entry[b]);
    }
}

// Normals of the kinds mixed (where they are kept), and what follows from them.
static void finish_task(void *data, uint32_t index)
{
    former *f = data;
    cutis_moments *m = f->m;
    for (uint32_t i = index * UNIT_TASK; i < (index + 1) * UNIT_TASK && i < m->free_count; i++) {
        const size_t begin = m->entry[m->near_first[i]],
                     end = i + 1 < m->free_count ? m->entry[m->near_first[i + 1]] : m->value_count;
        for (uint32_t k = 0; k < f->kind_count && !f->linear && m->kind_value[k]; k++) {
            const double scale = m->unit[k] > 0 ? f->kinds[k].normal / m->unit[k] : 0;
            for (size_t e = begin; e < end; e++)
                m->value[e] = (k ? m->value[e] : 0) + scale * m->kind_value[k][e];
        }
        for (size_t b = m->near_first[i]; b < m->near_first[i + 1]; b++)
            complete(f, m->near[b], i, m->value + m->entry[b]);
        double sum = 0;
        for (uint32_t s = m->slot_first[i]; s < m->slot_first[i + 1] && f->linear; s++)
            sum -= f->ratio[s] * f->linear[s];
        if (f->linear && f->base[i] != NONE) f->linear[m->slot_first[i] + f->base[i]] = sum;
    }
}

// A kind by itself: its form, if it is kept, and what k-largest does to its normals and positions.
static cutis_result stream_kind(former *f, uint32_t kind)
{
    cutis_moments *m = f->m;
    f->value = m->kind_value[kind] ? m->kind_value[kind] : m->value;
    memset(f->value, 0, m->value_count * sizeof *f->value);
    set_scales(f, kind, 1);
    TRY(stream(f, f->kind_block[kind], f->kind_block[kind + 1], true));
    take_places(f, kind);
    cutis_device_run_items(m->device, energy_task, f, m->free_count, UNIT_TASK);
    m->unit[kind] = 0;
    for (uint32_t i = 0; i < m->free_count; i++) m->unit[kind] += f->part_energy[i];
    return CUTIS_OK;
}

static void add_places(former *f, uint32_t kind)
{
    cutis_moments *m = f->m;
    const double scale =
        m->place_unit[kind] > 0 ? f->kinds[kind].position / m->place_unit[kind] : 0;
    for (size_t i = 0; i < m->place_first[m->free_count]; i++)
        m->place[i] += scale * m->kind_place[kind][i];
}

static cutis_result form_all(former *f)
{
    cutis_moments *m = f->m;
    const bool known = m->unit[0] > 0 || m->place_unit[0] > 0; // else this is the first form
    for (uint32_t k = 0; k < f->kind_count && !f->linear; k++) {
        if (!known) TRY(stream_kind(f, k));
        add_places(f, k);
    }
    if (f->linear || !m->kind_value[0]) { // all again, mixed
        f->value = m->value;
        memset(m->value, 0, m->value_count * sizeof *m->value);
        for (uint32_t k = 0; k < f->kind_count; k++)
            set_scales(f, k, m->unit[k] > 0 ? f->kinds[k].normal / m->unit[k] : 0);
        TRY(stream(f, 0, f->kind_block[f->kind_count], false));
    }
    cutis_device_run_items(m->device, finish_task, f, m->free_count, UNIT_TASK);
    return CUTIS_OK;
}

static cutis_result run_former(former *f)
{
    const double start = cutis_os_processor_seconds();
    const former untouched = *f;
    cutis_result result = open_former(f);
    if (result != CUTIS_OK && f->gpu) { // no room there: the host has some
        close_former(f);
        *f = untouched, f->gpu = NULL;
        result = open_former(f);
    }
    if (result == CUTIS_OK) result = form_all(f);
    close_former(f);
    f->m->form_seconds += cutis_os_processor_seconds() - start;
    return result;
}

// Memory of the forms, once.
static bool make_forms(cutis_moments *m, cutis_arena *arena, uint32_t kind_count)
{
    const size_t places = m->place_first[m->free_count];
    if (m->value) return true;
    m->value = cutis_arena_alloc(arena, m->value_count + CUTIS_MOMENTS_BEYOND, sizeof *m->value);
    if (m->value) memset(m->value + m->value_count, 0, CUTIS_MOMENTS_BEYOND * sizeof *m->value);
    m->place = cutis_arena_alloc(arena, places, sizeof *m->place);
    bool good = m->value && m->place;
    for (uint32_t k = 0; k < kind_count && good; k++) {
        m->kind_place[k] = cutis_arena_alloc(arena, places, sizeof *m->kind_place[k]);
        good = m->kind_place[k] != NULL;
        if (!m->roomy || !good) continue;
        m->kind_value[k] = cutis_arena_alloc(arena, m->value_count, sizeof *m->kind_value[k]);
        good = m->kind_value[k] != NULL;
    }
    return good;
}

cutis_result cutis_moments_form(cutis_moments *m, cutis_arena *arena,
                                const cutis_moments_poses *poses, uint32_t kind_count,
                                const double *start)
{
    former f = { .m = m,
                 .gpu = m->gpu,
                 .arena.context = m->context,
                 .kinds = poses,
                 .kind_count = kind_count,
                 .start = start };
    if (!make_forms(m, arena, kind_count)) return cutis_alloc_result(m->context);
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
                 .gpu = m->gpu,
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
    m->constant = 0;
    m->linear = f.linear;
    return run_former(&f);
}
