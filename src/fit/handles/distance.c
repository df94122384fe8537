// Distances on domain voxels by first-order Godunov steps: marched in order of distance where the
// order matters (supports that end at a core), tile by tile where only the end does. The heap
// orders by (distance, voxel). Invariant: both end in the one solution that no step lowers any
// more, so the result is the same on every machine.
#include "fit/handles/distance.h"

#include <math.h>
#include <string.h>

#include "fit/handles/text.h"
#include "geometry/order.h"

#define FAR HANDLES_INFINITY
/// Words of a tile's bits.
#define TILE_WORDS (HANDLES_TILE * HANDLES_TILE * HANDLES_TILE / 64)

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
    out->fresh = cutis_arena_zero(arena, grid->tile_count, TILE_WORDS * sizeof *out->fresh);
    out->tile_link = cutis_arena_alloc(arena, grid->tile_count, 2 * sizeof *out->tile_link);
    out->tile_queue = cutis_arena_alloc(arena, grid->tile_count, sizeof *out->tile_queue);
    if (!out->distance || !out->label || !out->reached || !out->heap || !out->slot ||
        !out->pending || !out->touched || !out->fresh || !out->tile_link || !out->tile_queue)
        return false;
    for (uint32_t t = 0; t < grid->tile_count; t++) out->tile_queue[t] = CUTIS_HANDLES_NONE;
    for (uint32_t v = 0; v < n; v++) {
        out->distance[v] = out->pending[v] = FAR;
        out->slot[v] = out->label[v] = CUTIS_HANDLES_NONE;
    }
    return true;
}

void cutis_handles_front_clear(cutis_handles_front *front)
{
    for (uint32_t i = 0; i < front->touched_count; i++) {
        uint32_t v = front->touched[i];
        front->distance[v] = front->pending[v] = FAR;
        front->slot[v] = front->label[v] = CUTIS_HANDLES_NONE;
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

// Four children a node: half the levels, and they share a cache line. Not geometry/heap.h: keys
// are lowered in place, and one number holds distance and voxel.
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
    if (!handles_nearer(distance, label, f->pending[voxel], f->label[voxel]) ||
        f->distance[voxel] < FAR)
        return;
    if (f->slot[voxel] == CUTIS_HANDLES_NONE) {
        f->touched[f->touched_count++] = voxel;
        f->slot[voxel] = f->heap_count++;
    }
    f->pending[voxel] = distance;
    f->label[voxel] = label;
    sift_up(f, f->slot[voxel], key_of(distance, voxel));
}

static void start_segment(cutis_handles_front *front, const cutis_handles_segment *segment,
                          uint32_t label)
{
    const handles_grid grid = cutis_handles_grid_given(front->grid);
    const handles_point a = cutis_handles_point(segment->a), b = cutis_handles_point(segment->b);
    const double reach = CUTIS_HANDLES_EXACT_STEPS * grid.step;
    const cutis_handles_sheets *sheets = front->grid->sheets;
    int low[3], high[3];
    for (int c = 0; c < 3; c++) {
        const double least = fmin(segment->a[c], segment->b[c]) - reach - grid.origin[c];
        const double most = fmax(segment->a[c], segment->b[c]) + reach - grid.origin[c];
        low[c] = (int)fmin(fmax(floor(least / grid.step), 0), grid.size[c]);
        high[c] = (int)fmin(fmax(floor(most / grid.step), -1), grid.size[c] - 1.0);
    }
    for (int z = low[2]; z <= high[2]; z++)
        for (int y = low[1]; y <= high[1]; y++)
            for (int x = low[0]; x <= high[0]; x++) {
                uint32_t voxel = front->grid->index[handles_place(grid, x, y, z)];
                if (voxel == CUTIS_HANDLES_NONE) continue;
                const handles_point centre = handles_centre(grid, (handles_cell){ x, y, z });
                const handles_point nearest = handles_nearest(a, b, centre);
                const double distance = handles_length(centre, nearest);
                if (distance > reach) continue;
                for (; voxel != CUTIS_HANDLES_NONE;
                     voxel = sheets ? sheets->next[voxel] : CUTIS_HANDLES_NONE)
                    if (distance <= front->pending[voxel] &&
                        handles_sees(sheets ? sheets->sight : front->grid->index, grid, centre,
                                     nearest))
                        lower(front, voxel, (float)distance, label);
            }
}

typedef struct passing {
    cutis_handles_front *front;
    uint32_t label;
} passing;

static void pass(void *user, uint32_t voxel, float distance)
{
    const passing *p = user;
    lower(p->front, voxel, distance, p->label);
}

void cutis_handles_front_start(cutis_handles_front *front, const cutis_handles_site *site,
                               uint32_t label)
{
    // The voxels the site passes through always start, whatever their centres see of it.
    cutis_handles_site_visit(front->grid, site, pass, &(passing){ front, label });
    for (size_t g = 0; g < site->segment_count; g++)
        start_segment(front, &site->segments[g], label);
}

// The label of the nearest neighbours; the lower one of two at one distance.
static uint32_t label_of(const cutis_handles_front *f, const float *distance, const uint32_t *n)
{
    uint32_t label = CUTIS_HANDLES_NONE;
    float least = FAR;
    for (int d = 0; d < 6; d++)
        if (n[d] != CUTIS_HANDLES_NONE &&
            handles_nearer(distance[n[d]], f->label[n[d]], least, label))
            least = distance[n[d]], label = f->label[n[d]];
    return label;
}

// Godunov's step at a voxel from its neighbours' distances, of which some may be unknown.
static float step_from(const cutis_handles_front *f, const float *distance, const uint32_t *n)
{
    float axis[3];
    for (int k = 0; k < 3; k++) {
        const float a = n[2 * k] == CUTIS_HANDLES_NONE ? FAR : distance[n[2 * k]];
        const float b = n[2 * k + 1] == CUTIS_HANDLES_NONE ? FAR : distance[n[2 * k + 1]];
        axis[k] = a < b ? a : b;
    }
    return handles_godunov(axis[0], axis[1], axis[2], f->grid->step);
}

// From the passed neighbours of a voxel: the others are infinitely far.
static void update(cutis_handles_front *f, uint32_t voxel)
{
    const uint32_t *n = f->grid->neighbour + 6 * (size_t)voxel;
    const float d = step_from(f, f->distance, n);
    if (d <= f->pending[voxel]) lower(f, voxel, d, label_of(f, f->distance, n));
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
        if (n[d] != CUTIS_HANDLES_NONE && !(front->distance[n[d]] < FAR)) update(front, n[d]);
    return voxel;
}

// A whole march needs little order: it goes tile by tile through bands of distance. In a band a
// tile works until none of its voxels there has a change that a neighbour must see; so memory is
// walked in pieces of a few kilobytes, however large the domain is. What remains when nothing
// changes is the solution that the ordered march finds. A tile waits in a queue by its nearest
// changed voxel; the queues alternate.
#define QUEUES 64
static const double BAND = 1; ///< voxels

typedef struct tile_march {
    cutis_handles_front *front;
    uint32_t head[QUEUES];
    uint32_t count;            ///< tiles that wait
    uint64_t now;              ///< the queue that is emptied, not taken modulo QUEUES
    double width;              ///< of a band
    float limit;               ///< where the band ends
    uint32_t tile, first, end; ///< that is worked on, and its voxels
} tile_march;

static void take_out(tile_march *m, uint32_t tile)
{
    cutis_handles_front *f = m->front;
    const uint32_t before = f->tile_link[2 * (size_t)tile];
    const uint32_t after = f->tile_link[2 * (size_t)tile + 1];
    if (before == CUTIS_HANDLES_NONE)
        m->head[f->tile_queue[tile]] = after;
    else
        f->tile_link[2 * (size_t)before + 1] = after;
    if (after != CUTIS_HANDLES_NONE) f->tile_link[2 * (size_t)after] = before;
    f->tile_queue[tile] = CUTIS_HANDLES_NONE;
    m->count--;
}

static void put_in(tile_march *m, uint32_t tile, float distance)
{
    cutis_handles_front *f = m->front;
    const uint64_t last = m->now + QUEUES - 1;
    uint64_t queue = (uint64_t)(distance / m->width);
    // What is below the band's end belongs to it, what is not to a later one, however they round.
    queue = queue <= m->now ? m->now + 1 : queue > last ? last : queue;
    if (distance < m->limit) queue = m->now;
    if (f->tile_queue[tile] != CUTIS_HANDLES_NONE) {
        const uint64_t stands = m->now + (f->tile_queue[tile] + QUEUES - m->now % QUEUES) % QUEUES;
        if (stands <= queue) return;
        take_out(m, tile);
    }
    uint32_t *head = &m->head[queue % QUEUES];
    f->tile_link[2 * (size_t)tile] = CUTIS_HANDLES_NONE;
    f->tile_link[2 * (size_t)tile + 1] = *head;
    if (*head != CUTIS_HANDLES_NONE) f->tile_link[2 * (size_t)*head] = tile;
    *head = tile;
    f->tile_queue[tile] = (uint32_t)(queue % QUEUES);
    m->count++;
}

// A voxel from its neighbours, or from its own start (kept in `distance` and `slot`).
static bool relax(cutis_handles_front *f, uint32_t voxel)
{
    const uint32_t *n = f->grid->neighbour + 6 * (size_t)voxel;
    const float known = f->pending[voxel];
    float d = step_from(f, f->pending, n);
    if (d > known) return false;
    uint32_t label = label_of(f, f->pending, n);
    if (handles_nearer(f->distance[voxel], f->slot[voxel], d, label))
        d = f->distance[voxel], label = f->slot[voxel];
    if (!(d < known || (d == known && label != f->label[voxel]))) return false;
    if (known == FAR) f->touched[f->touched_count++] = voxel;
    f->pending[voxel] = d;
    f->label[voxel] = label;
    return true;
}

static void mark_changed(cutis_handles_front *f, uint32_t tile, uint32_t voxel)
{
    const uint32_t bit = voxel - f->grid->tile_first[tile];
    f->fresh[TILE_WORDS * (size_t)tile + bit / 64] |= UINT64_C(1) << bit % 64;
}

// Neighbours of a voxel look at it; nearer ones have nothing to learn.
static void tell(tile_march *m, uint32_t voxel)
{
    cutis_handles_front *f = m->front;
    const uint32_t *n = f->grid->neighbour + 6 * (size_t)voxel;
    const float distance = f->pending[voxel];
    for (int d = 0; d < 6; d++) {
        if (n[d] == CUTIS_HANDLES_NONE || f->pending[n[d]] <= distance || !relax(f, n[d])) continue;
        if (n[d] >= m->first && n[d] < m->end) {
            mark_changed(f, m->tile, n[d]);
            continue;
        }
        const uint32_t tile =
            f->grid->sheets
                ? (uint32_t)order_last(f->grid->tile_first, 0, f->grid->tile_count, n[d])
                : f->grid->tile_neighbour[6 * (size_t)m->tile + (size_t)d];
        mark_changed(f, tile, n[d]);
        put_in(m, tile, f->pending[n[d]]);
    }
}

// Work on a tile until no voxel in the band has changed; what lies beyond waits for a later band.
static void settle_tile(tile_march *m)
{
    const cutis_handles_front *f = m->front;
    uint64_t *fresh = f->fresh + TILE_WORDS * (size_t)m->tile;
    float least = FAR;
    for (bool told = true; told;) {
        told = false;
        least = FAR;
        for (uint32_t w = 0; w < TILE_WORDS; w++)
            for (uint64_t bits = fresh[w]; bits; bits &= bits - 1) {
                const uint32_t bit = (uint32_t)__builtin_ctzll(bits);
                const uint32_t voxel = m->first + 64 * w + bit;
                if (!(f->pending[voxel] < m->limit)) {
                    least = f->pending[voxel] < least ? f->pending[voxel] : least;
                    continue;
                }
                fresh[w] &= ~(UINT64_C(1) << bit);
                tell(m, voxel);
                told = true;
            }
    }
    if (least < FAR) put_in(m, m->tile, least);
}

void cutis_handles_front_finish(cutis_handles_front *front)
{
    const cutis_handles_grid *grid = front->grid;
    const double width = BAND * grid->step;
    tile_march m = { .front = front, .width = width, .limit = (float)width };
    const uint32_t started = front->heap_count;
    for (int q = 0; q < QUEUES; q++) m.head[q] = CUTIS_HANDLES_NONE;
    for (uint32_t i = 0; i < started; i++) {
        const uint32_t voxel = (uint32_t)front->heap[i];
        const uint32_t tile = (uint32_t)order_last(grid->tile_first, 0, grid->tile_count, voxel);
        front->distance[voxel] = front->pending[voxel];
        front->slot[voxel] = front->label[voxel];
        mark_changed(front, tile, voxel);
        put_in(&m, tile, front->pending[voxel]);
    }
    for (; m.count > 0; m.now++) {
        m.limit = (float)((double)(m.now + 1) * m.width);
        while (m.head[m.now % QUEUES] != CUTIS_HANDLES_NONE) {
            m.tile = m.head[m.now % QUEUES];
            m.first = grid->tile_first[m.tile];
            m.end = grid->tile_first[m.tile + 1];
            take_out(&m, m.tile);
            settle_tile(&m);
        }
    }
    for (uint32_t i = 0; i < front->touched_count; i++) {
        const uint32_t voxel = front->touched[i];
        front->distance[voxel] = front->pending[voxel];
        front->slot[voxel] = CUTIS_HANDLES_NONE;
    }
    front->heap_count = front->reached_count = 0;
}
