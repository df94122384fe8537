// Limbs from centrelines. Seen from a tip, the least section from here to the centre only grows;
// where it grows at once, the limb opens into the body. Invariant: a limb's length is positive and
// not beyond the centre; carriers open nearer to the centre than what they carry.
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
static const double HEAD = 1.15;       // of the neck: such a bulge is a head
static const double WIDER = 1.3;       // than a neck
static const double SAME_ROOT = 0.015; // of the diagonal: roots so near are one, or half a section
static const double BRANCH = 0.12;     // of it: branches of one stem so long are limbs
static const double OPEN = 2;          // what opens so much does so at its own root
static const double ON_STEM = 0.8;     // of a limb: what parts farther in does so at its root
static const double PARTED = 1.07;     // of the way from a toe to the crotch: the length of a leg

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
    limb->tip = lines->nodes[limb->path[0]].point;
    limb->root = cutis_limb_point(lines, limb, limb->length);
    limb->root_way = limb->along[limb->count - 1] - limb->length;
}

// The opening that ends a limb, of those beyond a place: the first clear one, else the largest.
static const cutis_opening *ending(const cutis_limb *limb, double beyond)
{
    const cutis_opening *best = NULL;
    for (uint32_t i = 0; i < limb->opening_count && (!best || best->factor < CLEAR); i++)
        if (limb->openings[i].along > beyond && (!best || limb->openings[i].factor > best->factor))
            best = &limb->openings[i];
    return best;
}

// Where what carries a limb opens in turn: at its next opening; or, where a neck widens slowly, at
// the place where it is a third wider than at its narrowest, if a head is behind the limb.
static bool opening_behind(const cutis_centrelines *lines, const cutis_limb *limb,
                           cutis_opening *out)
{
    const cutis_opening *next = ending(limb, BEYOND * limb->length);
    const double stop = limb->along[limb->count - 1] - IN_CENTRE * lines->nodes[0].radius;
    double head = 0, most = 0, least = INFINITY;
    uint32_t i = 0, narrow = 0;
    if (next) {
        *out = *next;
        return true;
    }
    for (; i < limb->count && limb->along[i] < BEYOND * limb->length; i++) {}
    for (uint32_t k = i; k < limb->count && limb->along[k] < stop; k++) {
        most = fmax(most, limb->section[k]);
        if (limb->section[k] < least || limb->section[k] < 1.05 * least) narrow = k;
        if (limb->section[k] < least) least = limb->section[k], head = most;
    }
    if (head < HEAD * least) return false;
    for (uint32_t k = narrow; k < limb->count && limb->along[k] < stop; k++) {
        if (limb->section[k] < WIDER * least) continue;
        *out = (cutis_opening){ limb->along[k], WIDER, least, limb->section[k] };
        return true;
    }
    return false;
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
    const cutis_opening *best = ending(limb, 0);
    const double whole = limb->along[n - 1], floor = fmin(3 * lines->cells.size, whole);
    limb->length = best ? best->along + CREASE * best->before : whole - lines->nodes[0].radius;
    limb->length = fmin(fmax(limb->length, floor), whole);
    limb->opening = best ? best->factor : NOT_OPEN;
    if (limb->length > 0) look(lines, limb);
    return true;
}

// Where the path of a limb comes upon another's, from its tip.
static double fork_of(const cutis_limb *a, const cutis_limb *b)
{
    uint32_t ia = a->count, ib = b->count;
    while (ia > 0 && ib > 0 && a->path[ia - 1] == b->path[ib - 1]) ia--, ib--;
    return a->along[ia < a->count ? ia : ia - 1];
}

// Where the body beyond holds another's end too, from its tip: the crotch, for a leg. Paths of two
// legs may run side by side up to the chest.
static double crotch_of(const cutis_centrelines *lines, const cutis_limb *a, const cutis_limb *b)
{
    double meets = lines->meets[a->end][b->end];
    for (uint32_t i = 0; i < a->count; i++)
        if (lines->nodes[a->path[i]].reach <= meets) return a->along[i];
    return a->along[a->count - 1];
}

static double tolerance(const cutis_limb *limb, double diagonal)
{
    return fmax(0.5 * cutis_limb_section(limb, limb->length), SAME_ROOT * diagonal);
}

// Mean section of the stretch from a limb's tip to a place, without its ends.
static double thickness_to(const cutis_limb *limb, double along)
{
    double sum = 0, n = 0;
    for (uint32_t i = 0; i < limb->count && limb->along[i] <= 0.9 * along; i++)
        if (limb->along[i] >= 0.25 * along) sum += limb->section[i], n++;
    return n > 0 ? sum / n : limb->section[0];
}

// Long branches on one stem, as legs below a waist no thicker than a thigh, end where they part.
static void part_stems(const cutis_centrelines *lines, cutis_limb *limbs, uint32_t count,
                       double diagonal)
{
    double cuts[CUTIS_LIMB_MOST];
    for (uint32_t i = 0; i < count; i++) {
        const cutis_limb *a = &limbs[i];
        cuts[i] = INFINITY;
        for (uint32_t k = 0; k < count; k++) {
            const cutis_limb *b = &limbs[k];
            double own = crotch_of(lines, a, b), other = crotch_of(lines, b, a);
            double thick = thickness_to(a, own), thin = thickness_to(b, other);
            bool alike = fmax(own, other) < 1.25 * fmin(own, other) &&
                         fmax(thick, thin) < 1.6 * fmin(thick, thin);
            double apart = v3_distance(a->root, b->root) / fmax(a->thickness, b->thickness);
            bool vague = a->opening < CLEAR && b->opening < CLEAR;
            // Clear: it found the shoulders' opening, where the other found none of its own.
            bool overlong = (a->opening < CLEAR && a->length > 1.2 * b->length) ||
                            (b->opening < CLEAR && a->length > 1.4 * b->length) ||
                            apart < (vague ? 1.6 : 1);
            if (k == i || !alike || !overlong || a->opening > OPEN || own >= ON_STEM * a->length ||
                own < BRANCH * diagonal || other >= 1.2 * b->length)
                continue;
            cuts[i] = fmin(cuts[i], PARTED * own);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!isfinite(cuts[i])) continue;
        limbs[i].parted = true;
        limbs[i].length = fmin(limbs[i].length, cuts[i]);
        look(lines, &limbs[i]);
    }
}

// Do two open at the same place?
static bool same_root(const cutis_centrelines *lines, const cutis_limb *a, const cutis_limb *b,
                      double diagonal)
{
    double near = tolerance(a, diagonal);
    if (fabs(a->root_way - b->root_way) >= near) return false;
    if (a->parted && b->parted && crotch_of(lines, a, b) >= BRANCH * diagonal) return false;
    if (fork_of(a, b) < a->length + 0.2 * near && fork_of(b, a) < b->length + 0.2 * near)
        return true;
    if (!a->behind || !b->behind) return false;
    vec3 way_a = v3_unit(v3_sub(a->tip, a->root)), way_b = v3_unit(v3_sub(b->tip, b->root));
    bool apart = a->root_way < lines->nodes[0].radius && v3_dot(way_a, way_b) < 0.3;
    return !apart && // all that is behind may meet in the centre
           v3_distance(a->root, b->root) < 0.5 * cutis_limb_section(a, a->length);
}

// Does one limb stand on another: does its path come upon that of one of the other's ends before
// the other opens?
static bool stands_on(const cutis_limb *limb, const cutis_limb *end, const cutis_limb *carrier)
{
    double section = cutis_limb_section(limb, limb->length), fork = fork_of(limb, end);
    return carrier->root_way < limb->root_way - 0.3 * section &&
           fork <= limb->length + 0.4 * section &&
           fork < limb->along[limb->count - 1] - carrier->root_way;
}

// Keep one of each: ends before what is behind them, the longest first.
static void keep_distinct(const cutis_centrelines *lines, const cutis_limb *all, uint32_t count,
                          double diagonal, cutis_limbs *limbs)
{
    cutis_limb *out = limbs->list;
    uint32_t order[2 * CUTIS_END_MOST], same_as[2 * CUTIS_END_MOST], kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t k = i;
        for (; k > 0; k--) {
            const cutis_limb *a = &all[order[k - 1]], *b = &all[i];
            if (a->behind != b->behind ? b->behind : a->length >= b->length) break;
            order[k] = order[k - 1];
        }
        order[k] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        const cutis_limb *limb = &all[order[i]];
        uint32_t k = 0;
        while (k < kept && !same_root(lines, &out[k], limb, diagonal)) k++;
        same_as[order[i]] = k;
        if (k == kept)
            out[kept++] = *limb;
        else
            out[k].stands_out = fmax(out[k].stands_out, fmin(limb->stands_out, out[k].length));
    }
    for (uint32_t i = 0; i < kept; i++) {
        uint32_t *carrier = &out[i].carrier;
        *carrier = CUTIS_NOTHING;
        for (uint32_t m = 0; m < count; m++) {
            uint32_t k = same_as[m];
            if (k != i && stands_on(&out[i], &all[m], &out[k]) &&
                (*carrier == CUTIS_NOTHING || out[*carrier].root_way < out[k].root_way))
                *carrier = k;
        }
    }
    limbs->count = kept;
    for (uint32_t i = count; i-- > 0;) limbs->of_end[all[i].end] = same_as[i];
}

bool cutis_limb_within(const cutis_limbs *limbs, uint32_t limb, uint32_t other)
{
    while (limb != CUTIS_NOTHING && limb != other) limb = limbs->list[limb].carrier;
    return limb == other;
}

cutis_result cutis_limbs_find(cutis_arena *arena, const cutis_centrelines *lines, double diagonal,
                              cutis_limbs *out)
{
    cutis_arena scratch = { .context = lines->cells.context };
    cutis_limb *all = cutis_arena_alloc(&scratch, CUTIS_LIMB_MOST, sizeof *all);
    uint32_t own = 0, n;
    bool good = all != NULL;
    out->count = 0;
    memset(out->of_end, 0xff, sizeof out->of_end);
    for (uint32_t e = 0; e < lines->end_count && good; e++) {
        cutis_limb *limb = &all[own];
        *limb = (cutis_limb){ .end = e };
        good = follow_path(arena, lines, limb) && measure_limb(&scratch, lines, limb);
        limb->stands_out = fmin(lines->ends[e].stands_out, limb->length);
        bool bump = limb->opening_count == 0 && lines->ends[e].stands_out < BUMP * diagonal;
        if (!bump && limb->length > 0) own++;
    }
    n = own;
    for (uint32_t i = 0; i < own && good; i++) {
        cutis_opening next;
        if (!opening_behind(lines, &all[i], &next)) continue;
        cutis_limb *limb = &all[n++];
        *limb = all[i];
        limb->behind = true;
        limb->length = fmin(next.along + CREASE * next.before, limb->along[limb->count - 1]);
        limb->opening = next.factor;
        limb->stands_out = fmin(lines->ends[limb->end].stands_out, limb->length);
        look(lines, limb);
    }
    if (good) part_stems(lines, all, own, diagonal);
    if (good) keep_distinct(lines, all, n, diagonal, out);
    cutis_arena_release(&scratch);
    return good ? CUTIS_OK : cutis_alloc_result(lines->cells.context);
}
