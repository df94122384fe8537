// Distances on domain voxels by first-order Godunov steps: marched in order of distance where the
// order matters (supports that end at a core), by buckets where only the end does. The heap orders
// by (distance, voxel). Invariant: both end in the one solution that no step lowers any more, so
// the result is the same on every machine.
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
    out->pending = cutis_arena_alloc(arena, n, sizeof *out->pending);
    out->touched = cutis_arena_alloc(arena, n, sizeof *out->touched);
    if (!out->distance || !out->label || !out->reached || !out->heap || !out->slot ||
        !out->pending || !out->touched)
        return false;
    for (uint32_t v = 0; v < n; v++) {
        out->distance[v] = out->pending[v] = INFINITY;
        out->slot[v] = CUTIS_HANDLES_NONE;
    }
    return true;
}

void cutis_handles_front_clear(cutis_handles_front *front)
{
    for (uint32_t i = 0; i < front->touched_count; i++) {
        uint32_t v = front->touched[i];
        front->distance[v] = front->pending[v] = INFINITY;
        front->slot[v] = CUTIS_HANDLES_NONE;
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
    const float known = f->pending[voxel];
    if (!(distance < known || (distance == known && label < f->label[voxel])) ||
        f->distance[voxel] < INFINITY)
        return;
    if (f->slot[voxel] == CUTIS_HANDLES_NONE) {
        f->touched[f->touched_count++] = voxel;
        f->slot[voxel] = f->heap_count++;
    }
    f->pending[voxel] = distance;
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
                if (distance <= reach && distance <= front->pending[voxel] &&
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

// The label of the nearest neighbours; the lower one of two at one distance.
static uint32_t label_of(const cutis_handles_front *f, const float *distance, const uint32_t *n,
                         float least)
{
    uint32_t label = CUTIS_HANDLES_NONE;
    for (int d = 0; d < 6; d++)
        if (n[d] != CUTIS_HANDLES_NONE && distance[n[d]] == least && f->label[n[d]] < label)
            label = f->label[n[d]];
    return label;
}

// Godunov's first-order solution of |grad d| = 1 at a voxel from its neighbours' distances, of
// which some may be infinite. @param least the smallest of them
static float godunov(const cutis_handles_grid *grid, const float *distance, const uint32_t *n,
                     float *least)
{
    const double h = grid->step;
    float axis[3];
    for (int k = 0; k < 3; k++) {
        float a = n[2 * k] == CUTIS_HANDLES_NONE ? INFINITY : distance[n[2 * k]];
        float b = n[2 * k + 1] == CUTIS_HANDLES_NONE ? INFINITY : distance[n[2 * k + 1]];
        axis[k] = a < b ? a : b;
    }
    for (int k = 1; k >= 0; k--) // ascending: three exchanges
        for (int i = 0; i <= k; i++)
            if (axis[i + 1] < axis[i]) {
                float larger = axis[i];
                axis[i] = axis[i + 1], axis[i + 1] = larger;
            }
    double a = axis[0], b = axis[1], c = axis[2], d = a + h;
    *least = axis[0];
    if (d > b) {
        d = (a + b + sqrt(2 * h * h - (a - b) * (a - b))) / 2;
        if (d > c) {
            double sum = a + b + c, squares = a * a + b * b + c * c;
            d = (sum + sqrt(fmax(sum * sum - 3 * (squares - h * h), 0))) / 3;
        }
    }
    return (float)d;
}

// From the passed neighbours of a voxel: the others are infinitely far.
static void update(cutis_handles_front *f, uint32_t voxel)
{
    const uint32_t *n = f->grid->neighbour + 6 * (size_t)voxel;
    float least, d = godunov(f->grid, f->distance, n, &least);
    if (d <= f->pending[voxel]) lower(f, voxel, d, label_of(f, f->distance, n, least));
}

uint32_t cutis_handles_front_step(cutis_handles_front *front)
{
    if (front->heap_count == 0) return CUTIS_HANDLES_NONE;
    const uint32_t voxel = (uint32_t)front->heap[0];
    const uint64_t last = front->heap[--front->heap_count];
    if (front->heap_count) sift_down(front, 0, last);
    front->distance[voxel] = front->pending[voxel];
    front->reached[front->reached_count++] = voxel;
    const uint32_t *n = front->grid->neighbour + 6 * (size_t)voxel;
    for (int d = 0; d < 6; d++)
        if (n[d] != CUTIS_HANDLES_NONE && !(front->distance[n[d]] < INFINITY)) update(front, n[d]);
    return voxel;
}

// A whole march needs no order among voxels half a step apart: they stand in buckets, and one whose
// distance still falls is looked at again. What remains when nothing falls any more is the solution
// that the ordered march finds, without its heap, whose jumps through memory cost more than the
// arithmetic on large domains. A bucket is a list through its voxels (the heap's memory).
#define BUCKETS 64 ///< of half a step, used in turn: distances in them span five steps at most

typedef struct bucket_queue {
    cutis_handles_front *front;
    uint32_t *link; ///< previous and next voxel of each
    uint32_t head[BUCKETS];
    uint32_t count, now; ///< voxels in all; the bucket that is emptied
    double width;
} bucket_queue;

static void take_out(bucket_queue *q, uint32_t voxel)
{
    const uint32_t before = q->link[2 * (size_t)voxel], after = q->link[2 * (size_t)voxel + 1];
    if (before == CUTIS_HANDLES_NONE)
        q->head[q->front->slot[voxel]] = after;
    else
        q->link[2 * (size_t)before + 1] = after;
    if (after != CUTIS_HANDLES_NONE) q->link[2 * (size_t)after] = before;
    q->front->slot[voxel] = CUTIS_HANDLES_NONE;
    q->count--;
}

static void put_in(bucket_queue *q, uint32_t voxel)
{
    uint32_t bucket = (uint32_t)(q->front->pending[voxel] / q->width);
    if (bucket < q->now) bucket = q->now; // rounding
    bucket %= BUCKETS;
    q->link[2 * (size_t)voxel] = CUTIS_HANDLES_NONE;
    q->link[2 * (size_t)voxel + 1] = q->head[bucket];
    if (q->head[bucket] != CUTIS_HANDLES_NONE) q->link[2 * (size_t)q->head[bucket]] = voxel;
    q->head[bucket] = voxel;
    q->front->slot[voxel] = bucket;
    q->count++;
}

static void relax(bucket_queue *q, uint32_t voxel)
{
    cutis_handles_front *f = q->front;
    const uint32_t *n = f->grid->neighbour + 6 * (size_t)voxel;
    const float known = f->pending[voxel];
    float least, d = godunov(f->grid, f->pending, n, &least);
    if (d > known) return;
    const uint32_t label = label_of(f, f->pending, n, least);
    if (d == known && label >= f->label[voxel]) return;
    if (known == INFINITY) f->touched[f->touched_count++] = voxel;
    if (f->slot[voxel] != CUTIS_HANDLES_NONE) take_out(q, voxel);
    f->pending[voxel] = d;
    f->label[voxel] = label;
    put_in(q, voxel);
}

void cutis_handles_front_finish(cutis_handles_front *front)
{
    bucket_queue q = { .front = front,
                       .link = (uint32_t *)front->heap,
                       .width = 0.5 * front->grid->step };
    const uint32_t started = front->heap_count;
    for (int b = 0; b < BUCKETS; b++) q.head[b] = CUTIS_HANDLES_NONE;
    for (uint32_t i = 0; i < started; i++) front->reached[i] = (uint32_t)front->heap[i];
    for (uint32_t i = 0; i < started; i++) put_in(&q, front->reached[i]);
    for (; q.count > 0; q.now++) {
        uint32_t *head = &q.head[q.now % BUCKETS];
        while (*head != CUTIS_HANDLES_NONE) {
            const uint32_t *n = front->grid->neighbour + 6 * (size_t)*head;
            take_out(&q, *head);
            for (int d = 0; d < 6; d++)
                if (n[d] != CUTIS_HANDLES_NONE) relax(&q, n[d]);
        }
    }
    for (uint32_t i = 0; i < front->touched_count; i++) {
        const uint32_t voxel = front->touched[i];
        front->distance[voxel] = front->pending[voxel];
    }
    front->heap_count = front->reached_count = 0;
}
