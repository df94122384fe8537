// Limbs from centrelines. Seen from a tip, the least section from here to the centre only grows;
// where it grows at once, the limb opens into the body. Invariant: a limb's length is positive and
// not beyond the centre.
#include "skeleton/limbs.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static const double GROWS = 1.28;    // within one section's length: less is a limb getting thicker
static const double CLEAR = 1.62;    // the first that grows so much ends a limb, whatever follows
static const double CAP = 1.5;       // sections from the tip, where it only rounds off
static const double THIN_CELLS = 2;  // a section of fewer cells says nothing
static const double IN_CENTRE = 0.5; // of the centre's ball: openings in it are of the trunk
static const double CREASE = 0.45;   // of the section: how far into the opening the crease lies
static const double BUMP = 0.05;     // of the diagonal: an end without opening that stands out less
static const double BEYOND = 1.3; // lengths of a limb: an opening farther in is of what carries it
static const double NOT_OPEN = 1.2;

// The value at x of a function given at growing places.
static double between(const double *places, const double *values, uint32_t n, double x)
{
    uint32_t low = 0, high = n - 1;
    if (!(x > places[0])) return values[0];
    if (!(x < places[n - 1])) return values[n - 1];
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (places[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    double step = places[high] - places[low];
    double t = step > 0 ? (x - places[low]) / step : 0;
    return values[low] + t * (values[high] - values[low]);
}

double cutis_limb_section(const cutis_limb *limb, double along)
{
    return between(limb->along, limb->section, limb->count, along);
}

vec3 cutis_limb_point(const cutis_centrelines *lines, const cutis_limb *limb, double along)
{
    uint32_t i = 0;
    while (i + 1 < limb->count && limb->along[i + 1] < along) i++;
    vec3 a = lines->nodes[limb->path[i]].point;
    if (i + 1 == limb->count) return a;
    double step = limb->along[i + 1] - limb->along[i];
    double t = step > 0 ? fmin(fmax((along - limb->along[i]) / step, 0), 1) : 0;
    return v3_mix(a, lines->nodes[limb->path[i + 1]].point, t);
}

// The path from an end to the centre with sections, each the mean of itself and its neighbours.
static bool follow_path(cutis_arena *arena, const cutis_centrelines *lines, cutis_limb *limb)
{
    uint32_t n = 0, first = lines->ends[limb->end].node;
    for (uint32_t v = first; v != CUTIS_NOTHING; v = lines->nodes[v].parent) n++;
    uint32_t *path = cutis_arena_alloc(arena, n, sizeof *path);
    double *along = cutis_arena_alloc(arena, n, sizeof *along);
    double *section = cutis_arena_alloc(arena, n, sizeof *section);
    if (!path || !along || !section) return false;
    limb->count = n, limb->path = path, limb->along = along, limb->section = section;
    n = 0;
    for (uint32_t v = first; v != CUTIS_NOTHING; v = lines->nodes[v].parent) {
        path[n] = v;
        along[n++] = lines->nodes[first].way - lines->nodes[v].way;
    }
    for (uint32_t i = 0; i < n; i++) {
        double a = lines->nodes[path[i > 0 ? i - 1 : i]].section;
        double b = lines->nodes[path[i + 1 < n ? i + 1 : i]].section;
        section[i] = (a + 2 * lines->nodes[path[i]].section + b) / 4;
    }
    return true;
}

typedef struct {
    const cutis_limb *limb;
    double *least;  // per node of the path: the least section from there to the centre
    double *growth; // over the length of half a section to each side
    uint32_t first; // node behind the cap
} profile;

static void grow_at(const profile *p, uint32_t i, double *before, double *after)
{
    const cutis_limb *limb = p->limb;
    double half = 0.5 * p->least[i];
    double low = fmax(limb->along[i] - half, limb->along[p->first]);
    *before = between(limb->along, p->least, limb->count, low);
    *after = between(limb->along, p->least, limb->count, limb->along[i] + half);
}

// The openings of a limb: where growth is largest, at the mean of what lies on both sides.
static void find_openings(const cutis_centrelines *lines, cutis_limb *limb, const profile *p)
{
    double reach = IN_CENTRE * lines->nodes[0].radius;
    for (uint32_t i = p->first; i < limb->count; i++) {
        if (p->growth[i] < GROWS) continue;
        uint32_t best = i;
        for (; i < limb->count && p->growth[i] >= GROWS; i++)
            if (p->growth[i] > p->growth[best]) best = i;
        cutis_opening o = { .factor = p->growth[best] };
        grow_at(p, best, &o.before, &o.after);
        uint32_t at = p->first;
        while (at + 1 < limb->count && p->least[at] < sqrt(o.before * o.after)) at++;
        o.along = limb->along[at];
        if (lines->nodes[limb->path[at]].way > reach && limb->opening_count < CUTIS_OPENING_MOST)
            limb->openings[limb->opening_count++] = o;
    }
}

static void look(const cutis_centrelines *lines, cutis_limb *limb)
{
    double sum = 0, balls = 0, most = 0, least = INFINITY, n = 0;
    for (uint32_t i = 0; i < limb->count; i++) {
        double t = limb->along[i] / limb->length;
        if (t >= 0.5 && t <= 1) least = fmin(least, limb->section[i]);
        if (t < 0.25 || t > 0.9) continue;
        sum += limb->section[i], balls += lines->nodes[limb->path[i]].radius, n++;
        most = fmax(most, limb->section[i]);
    }
    limb->thickness = n > 0 ? sum / n : limb->section[0];
    limb->flatness = n > 0 && balls > 0 ? sum / balls : 1;
    limb->bulge = n > 0 && isfinite(least) && least > 0 ? most / least : 1;
}

static bool measure_limb(cutis_arena *scratch, const cutis_centrelines *lines, cutis_limb *limb)
{
    profile p = { .limb = limb, .first = 0 };
    const uint32_t n = limb->count;
    p.least = cutis_arena_alloc(scratch, n, sizeof *p.least);
    p.growth = cutis_arena_alloc(scratch, n, sizeof *p.growth);
    if (!p.least || !p.growth) return false;
    for (uint32_t i = n; i-- > 0;)
        p.least[i] = i + 1 < n ? fmin(limb->section[i], p.least[i + 1]) : limb->section[i];
    while (p.first + 1 < n && (limb->along[p.first] < CAP * limb->section[p.first] ||
                               limb->section[p.first] < THIN_CELLS * lines->cells.size))
        p.first++;
    for (uint32_t i = 0; i < n; i++) {
        double before, after;
        grow_at(&p, i, &before, &after);
        p.growth[i] = i >= p.first && before > 0 ? after / before : 1;
    }
    find_openings(lines, limb, &p);
    const cutis_opening *best = NULL;
    for (uint32_t i = 0; i < limb->opening_count && (!best || best->factor < CLEAR); i++)
        if (!best || limb->openings[i].factor > best->factor) best = &limb->openings[i];
    const double whole = limb->along[n - 1], floor = fmin(3 * lines->cells.size, whole);
    limb->length = best ? best->along + CREASE * best->before : whole - lines->nodes[0].radius;
    limb->length = fmin(fmax(limb->length, floor), whole);
    limb->opening = best ? best->factor : NOT_OPEN;
    if (limb->length > 0) look(lines, limb);
    return true;
}

cutis_result cutis_limbs_find(cutis_arena *arena, const cutis_centrelines *lines, double diagonal,
                              cutis_limb *out, uint32_t *count)
{
    cutis_arena scratch = { .context = lines->cells.context };
    bool good = true;
    *count = 0;
    for (uint32_t e = 0; e < lines->end_count && good; e++) {
        cutis_limb *limb = &out[*count];
        *limb = (cutis_limb){ .end = e, .stands_out = lines->ends[e].stands_out };
        good = follow_path(arena, lines, limb) && measure_limb(&scratch, lines, limb);
        bool bump = limb->opening_count == 0 && limb->stands_out < BUMP * diagonal;
        if (!bump && limb->length > 0) ++*count;
    }
    const uint32_t own = *count;
    for (uint32_t i = 0; i < own && good; i++) {
        const cutis_opening *next = NULL;
        for (uint32_t k = 0; k < out[i].opening_count; k++)
            if (out[i].openings[k].along > BEYOND * out[i].length) next = &out[i].openings[k];
        if (!next) continue;
        cutis_limb *limb = &out[(*count)++];
        *limb = out[i];
        limb->behind = true, limb->stands_out = 0;
        limb->length = fmin(next->along + CREASE * next->before, limb->along[limb->count - 1]);
        limb->opening = next->factor;
        look(lines, limb);
    }
    cutis_arena_release(&scratch);
    return good ? CUTIS_OK : cutis_alloc_result(lines->cells.context);
}
