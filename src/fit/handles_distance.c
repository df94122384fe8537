// Fast marching on domain voxels. The heap orders by (distance, voxel), so the result is one and
// the same on every machine. Invariant: a voxel that has been passed never changes again.
#include "fit/handles_distance.h"

#include <math.h>
#include <string.h>

#include "math/mat3.h"

bool cutis_handles_front_init(cutis_arena *arena, const cutis_handles_grid *grid,
                              cutis_handles_front *out)
{
    const uint32_t n = grid->voxel_count;
    *out = (cutis_handles_front){ .grid = grid };
    out->distance = cutis_arena_alloc(arena, n, sizeof *out->distance);
    out->label = cutis_arena_alloc(arena, n, sizeof *out->label);
    out->reached = cutis_arena_alloc(arena, n, sizeof *out->reached);
    out->heap = cutis_arena_alloc(arena, n, sizeof *out->heap);
    out->slot = cutis_arena_alloc(arena, n, sizeof *out->slot);
    out->done = cutis_arena_alloc(arena, n, sizeof *out->done);
    out->touched = cutis_arena_alloc(arena, n, sizeof *out->touched);
    if (!out->distance || !out->label || !out->reached || !out->heap || !out->slot || !out->done ||
        !out->touched)
        return false;
    for (uint32_t v = 0; v < n; v++) {
        out->distance[v] = INFINITY;
        out->slot[v] = CUTIS_HANDLES_NONE;
        out->done[v] = 0;
    }
    return true;
}

void cutis_handles_front_clear(cutis_handles_front *front)
{
    for (uint32_t i = 0; i < front->touched_count; i++) {
        uint32_t v = front->touched[i];
        front->distance[v] = INFINITY;
        front->slot[v] = CUTIS_HANDLES_NONE;
        front->done[v] = 0;
    }
    front->touched_count = front->heap_count = front->reached_count = 0;
}

// Distances are not negative, so their bits are in their order; ties go to the lower voxel.
static uint64_t key_of(float distance, uint32_t voxel)
{
    uint32_t bits;
    memcpy(&bits, &distance, sizeof bits);
    return (uint64_t)bits << 32 | voxel;
}

// Four children a node: half the levels, and they share a cache line.
static void sift_up(cutis_handles_front *f, uint32_t at, uint64_t key)
{
    while (at > 0) {
        uint32_t parent = (at - 1) / 4;
        if (!(key < f->heap[parent])) break;
        f->heap[at] = f->heap[parent];
        f->slot[(uint32_t)f->heap[at]] = at;
        at = parent;
    }
    f->heap[at] = key;
    f->slot[(uint32_t)key] = at;
}

static void sift_down(cutis_handles_front *f, uint32_t at, uint64_t key)
{
    for (;;) {
        uint32_t child = 4 * at + 1;
        if (child >= f->heap_count) break;
        const uint32_t end = f->heap_count - child > 4 ? child + 4 : f->heap_count;
        for (uint32_t other = child + 1; other < end; other++)
            if (f->heap[other] < f->heap[child]) child = other;
        if (!(f->heap[child] < key)) break;
        f->heap[at] = f->heap[child];
        f->slot[(uint32_t)f->heap[at]] = at;
        at = child;
    }
    f->heap[at] = key;
    f->slot[(uint32_t)key] = at;
}

static void lower(cutis_handles_front *f, uint32_t voxel, float distance, uint32_t label)
{
    // Equal distances from two sites belong to the lower label, so order of starting does not
    // matter.
    if (f->done[voxel] || !(distance < f->distance[voxel] ||
                            (distance == f->distance[voxel] && label < f->label[voxel])))
        return;
    if (f->slot[voxel] == CUTIS_HANDLES_NONE) {
        f->touched[f->touched_count++] = voxel;
        f->slot[voxel] = f->heap_count++;
    }
    f->distance[voxel] = distance;
    f->label[voxel] = label;
    sift_up(f, f->slot[voxel], key_of(distance, voxel));
}

// All voxels on the straight way from a voxel's centre to a point are in the domain.
static bool sees(const cutis_handles_grid *grid, const double *from, const double *to)
{
    double d[3], square = 0;
    for (int c = 0; c < 3; c++) d[c] = to[c] - from[c], square += d[c] * d[c];
    uint32_t count = (uint32_t)ceil(sqrt(square) / (0.5 * grid->step));
    for (uint32_t i = 1; i <= count; i++) {
        double p[3];
        for (int c = 0; c < 3; c++) p[c] = from[c] + d[c] * i / count;
        if (cutis_handles_voxel_of(grid, p) == CUTIS_HANDLES_NONE) return false;
    }
    return true;
}

static void start_segment(cutis_handles_front *front, const cutis_handles_segment *segment,
                          uint32_t label)
{
    const cutis_handles_grid *grid = front->grid;
    const cutis_handles_site one = { .segments = (cutis_handles_segment *)segment,
                                     .segment_count = 1 };
    const double reach = CUTIS_HANDLES_EXACT_STEPS * grid->step;
    int64_t low[3], high[3], cell[3];
    for (int c = 0; c < 3; c++) {
        double least = fmin(segment->a[c], segment->b[c]),
               most = fmax(segment->a[c], segment->b[c]);
        low[c] = (int64_t)floor((least - reach - grid->origin[c]) / grid->step);
        high[c] = (int64_t)floor((most + reach - grid->origin[c]) / grid->step);
        if (low[c] < 0) low[c] = 0;
        if (high[c] >= grid->size[c]) high[c] = (int64_t)grid->size[c] - 1;
    }
    for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++)
        for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
            for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++) {
                uint32_t voxel = cutis_handles_voxel_at(grid, cell);
                if (voxel == CUTIS_HANDLES_NONE) continue;
                double centre[3], nearest[3];
                for (int c = 0; c < 3; c++)
                    centre[c] = grid->origin[c] + ((double)cell[c] + 0.5) * grid->step;
                double distance = cutis_handles_site_distance(&one, centre, nearest);
                if (distance <= reach && distance <= front->distance[voxel] &&
                    sees(grid, centre, nearest))
                    lower(front, voxel, (float)distance, label);
            }
}

void cutis_handles_front_start(cutis_handles_front *front, const cutis_handles_site *site,
                               uint32_t label)
{
    for (uint32_t g = 0; g < site->segment_count; g++) {
        // The voxels the site passes through always start, whatever their centres see of it.
        uint32_t count = cutis_handles_sample_count(front->grid, &site->segments[g]);
        for (uint32_t i = 0; i < count; i++) {
            double p[3], centre[3];
            cutis_handles_sample(&site->segments[g], count, i, p);
            uint32_t voxel = cutis_handles_voxel_of(front->grid, p);
            if (voxel == CUTIS_HANDLES_NONE) continue;
            cutis_handles_voxel_centre(front->grid, voxel, centre);
            lower(front, voxel, (float)cutis_handles_site_distance(site, centre, NULL), label);
        }
        start_segment(front, &site->segments[g], label);
    }
}

// Godunov's first-order solution of |grad d| = 1 from the passed neighbours of a voxel.
static void update(cutis_handles_front *f, uint32_t voxel)
{
    const uint32_t *n = f->grid->neighbour + 6 * (size_t)voxel;
    const double h = f->grid->step;
    double value[3];
    uint32_t label = CUTIS_HANDLES_NONE, count = 0;
    float least = INFINITY;
    for (int axis = 0; axis < 3; axis++) {
        double best = INFINITY;
        for (int side = 0; side < 2; side++) {
            uint32_t m = n[2 * axis + side];
            if (m == CUTIS_HANDLES_NONE || !f->done[m]) continue;
            best = fmin(best, f->distance[m]);
            if (f->distance[m] < least || (f->distance[m] == least && f->label[m] < label))
                least = f->distance[m], label = f->label[m];
        }
        if (best == INFINITY) continue;
        uint32_t at = count++;
        for (; at > 0 && value[at - 1] > best; at--) value[at] = value[at - 1];
        value[at] = best;
    }
    double d = value[0] + h;
    if (count > 1 && d > value[1]) {
        double a = value[0], b = value[1];
        d = (a + b + sqrt(2 * h * h - (a - b) * (a - b))) / 2;
        if (count > 2 && d > value[2]) {
            double sum = a + b + value[2];
            double squares = a * a + b * b + value[2] * value[2];
            d = (sum + sqrt(fmax(sum * sum - 3 * (squares - h * h), 0))) / 3;
        }
    }
    lower(f, voxel, (float)d, label);
}

uint32_t cutis_handles_front_step(cutis_handles_front *front)
{
    if (front->heap_count == 0) return CUTIS_HANDLES_NONE;
    const uint32_t voxel = (uint32_t)front->heap[0];
    const uint64_t last = front->heap[--front->heap_count];
    if (front->heap_count) sift_down(front, 0, last);
    front->done[voxel] = 1;
    front->reached[front->reached_count++] = voxel;
    const uint32_t *n = front->grid->neighbour + 6 * (size_t)voxel;
    for (int d = 0; d < 6; d++)
        if (n[d] != CUTIS_HANDLES_NONE && !front->done[n[d]]) update(front, n[d]);
    return voxel;
}

void cutis_handles_front_finish(cutis_handles_front *front)
{
    while (cutis_handles_front_step(front) != CUTIS_HANDLES_NONE) {}
}
