// Rules of where limbs are, one function a kind. Every rule is soft: half the square of how far it
// is broken, in spreads that are wide against those seen, and bounded. Invariant: nothing here
// depends on where the body stands or how large it is; which way is up counts little, once.
#include "skeleton/kind_places.h"
#include "math/elementary.h"

#include <float.h>
#include <math.h>

typedef struct {
    const cutis_limb *all;
    double diagonal;
    const cutis_limb *of[CUTIS_ROLE_PECTORAL + 1][CUTIS_LIMB_MOST]; // per role
    uint32_t n[CUTIS_ROLE_PECTORAL + 1];
} placed;

typedef struct {
    const cutis_limb *a, *b;
} pair;

enum { PAIRS_MOST = 4 };

static const vec3 UP = { 0, 1, 0 };
static const double NO_PAIR = 4; // birds may fold their wings or hide their legs, not both
static const double FOLDED = 1;
static const double NO_FIN = 3; // of a fish

// Half the square of x over its spread, bounded; nothing for what is not positive.
static double soft(double x, double spread, double most)
{
    if (!(x > 0)) return 0;
    x /= spread;
    return fmin(x * x / 2, most);
}

double cutis_limbs_unlike(const cutis_limb *a, const cutis_limb *b)
{
    double length = fixed_log(a->length / b->length) / 0.25;
    double thickness = fixed_log(a->thickness / b->thickness) / 0.25;
    return fmin((length * length + thickness * thickness) / 2, 4);
}

static vec3 way_of(const cutis_limb *limb)
{
    return v3_unit(v3_sub(limb->tip, limb->root));
}

static vec3 between_roots(pair p)
{
    return v3_mix(p.a->root, p.b->root, 0.5);
}

static vec3 across(pair p)
{
    return v3_sub(p.a->root, p.b->root);
}

static vec3 mean_root(const cutis_limb *const *list, uint32_t n)
{
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 0; i < n; i++) sum = v3_add(sum, list[i]->root);
    return v3_divide(sum, n ? n : 1);
}

static double deviation_of(const double *values, uint32_t n)
{
    double sum = 0, squares = 0;
    for (uint32_t i = 0; i < n; i++) sum += values[i];
    for (uint32_t i = 0; i < n; i++) squares += (values[i] - sum / n) * (values[i] - sum / n);
    return n ? sqrt(squares / n) : 0;
}

// Pairs lie across one plane, and what is single lies in it.
static double mirror(const placed *p, const pair *pairs, uint32_t count,
                     const cutis_limb *const *singles, uint32_t single_count)
{
    double widest = -1, cost = 0;
    vec3 normal = v3(0, 0, 0), sum = normal, centre = normal;
    if (count == 0) return 0;
    for (uint32_t i = 0; i < count; i++) {
        vec3 n = across(pairs[i]);
        if (v3_length(n) > widest) widest = v3_length(n), normal = n;
        centre = v3_add(centre, v3_divide(between_roots(pairs[i]), count));
    }
    for (uint32_t i = 0; i < count; i++) {
        vec3 n = across(pairs[i]);
        sum = v3_mad(sum, v3_dot(n, normal) < 0 ? -1 : 1, n);
    }
    normal = v3_unit(sum);
    for (uint32_t i = 0; i < count; i++) {
        vec3 away = v3_sub(between_roots(pairs[i]), centre);
        cost += soft(1 - fabs(v3_dot(v3_unit(across(pairs[i])), normal)), 0.25, 2);
        cost += soft(fabs(v3_dot(away, normal)) / p->diagonal, 0.05, 2);
    }
    for (uint32_t i = 0; i < single_count; i++)
        cost += soft(fabs(v3_dot(v3_sub(singles[i]->root, centre), normal)) / p->diagonal, 0.06, 2);
    return cost;
}

// The first two of a role.
static pair pair_of(const placed *p, cutis_role role)
{
    return (pair){ p->of[role][0], p->of[role][1] };
}

// The best of all ways to make pairs. For legs of four: those whose roots are near to each other;
// of more: across one plane. @return its cost
static double make_pairs(const placed *p, const cutis_limb *const *list, uint32_t n, pair *now,
                         uint32_t depth, double sum, double best, pair *out)
{
    if (n < 2) {
        if (p->n[CUTIS_ROLE_LEG] > 4) sum += mirror(p, now, depth, NULL, 0);
        if (sum >= best) return best;
        for (uint32_t i = 0; i < depth; i++) out[i] = now[i];
        return sum;
    }
    for (uint32_t k = 1; k < n; k++) {
        const cutis_limb *rest[2 * PAIRS_MOST];
        uint32_t m = 0;
        for (uint32_t i = 1; i < n; i++)
            if (i != k) rest[m++] = list[i];
        now[depth] = (pair){ list[0], list[k] };
        double cost = sum + cutis_limbs_unlike(list[0], list[k]);
        if (p->n[CUTIS_ROLE_LEG] <= 4)
            cost += v3_distance(list[0]->root, list[k]->root) / (0.15 * p->diagonal);
        if (cost < best) best = make_pairs(p, rest, m, now, depth + 1, cost, best, out);
    }
    return best;
}

// Kinds -----------------------------------------------------------------------------------------

// Where a root lies along an axis: 0 at its beginning, 1 at its end.
static double along(const cutis_limb *limb, vec3 from, vec3 axis)
{
    return v3_dot(v3_sub(limb->root, from), axis) / fmax(v3_dot(axis, axis), DBL_MIN);
}

// Two pairs of legs go the same way, across the line from the hind ones to the fore ones; the head
// is beyond these, the tail behind those.
static double quadruped(const placed *p)
{
    const cutis_limb *const *legs = p->of[CUTIS_ROLE_LEG];
    const cutis_limb *head = p->n[CUTIS_ROLE_HEAD] ? p->of[CUTIS_ROLE_HEAD][0] : NULL;
    const cutis_limb *tail = p->n[CUTIS_ROLE_TAIL] ? p->of[CUTIS_ROLE_TAIL][0] : NULL;
    pair now[PAIRS_MOST], pairs[PAIRS_MOST];
    if (p->n[CUTIS_ROLE_LEG] != 4) return 0;
    make_pairs(p, legs, 4, now, 0, 0, INFINITY, pairs);
    vec3 fore = between_roots(pairs[0]), hind = between_roots(pairs[1]), way = v3(0, 0, 0);
    vec3 ahead = head ? head->root : mean_root(p->of[CUTIS_ROLE_EAR], p->n[CUTIS_ROLE_EAR]);
    if ((head || p->n[CUTIS_ROLE_EAR]) && v3_distance(ahead, fore) > v3_distance(ahead, hind)) {
        vec3 swap = fore;
        fore = hind, hind = swap;
    }
    vec3 axis = v3_sub(fore, hind);
    for (int i = 0; i < 4; i++) way = v3_mad(way, 0.25, way_of(legs[i]));
    const cutis_limb *middle[2];
    uint32_t n = 0;
    if (head) middle[n++] = head;
    if (tail) middle[n++] = tail;
    double cost = mirror(p, pairs, 2, middle, n);
    for (int i = 0; i < 2; i++) cost += cutis_limbs_unlike(pairs[i].a, pairs[i].b);
    cost += soft(1 - v3_length(way), 0.3, 4);
    cost += soft(fabs(v3_dot(v3_unit(axis), v3_unit(way))) - 0.2, 0.3, 4);
    cost += soft(fabs(fixed_log(pairs[0].a->length * pairs[0].b->length /
                                (pairs[1].a->length * pairs[1].b->length))) /
                     2,
                 0.5, 2);
    cost += soft(0.12 - v3_length(axis) / p->diagonal, 0.05, 3);
    cost += soft(1 + v3_dot(v3_unit(way), UP), 0.6, 0.4);
    if (head) cost += soft(0.6 - along(head, hind, axis), 0.3, 3);
    if (tail) cost += soft(along(tail, hind, axis) - 0.4, 0.3, 3);
    for (uint32_t i = 0; i < p->n[CUTIS_ROLE_EAR]; i++) {
        const cutis_limb *ear = p->of[CUTIS_ROLE_EAR][i];
        cost += soft(0.8 - along(ear, hind, axis), 0.3, 2);
        if (!head) continue;
        double away = fmin(v3_distance(ear->root, head->tip), v3_distance(ear->root, head->root));
        cost += soft((away - 0.5 * head->length) / p->diagonal - 0.08, 0.06, 2);
    }
    return cost;
}

// Arms and legs across one plane, the head beyond the arms as seen from the legs; legs go away from
// the arms, or across when it sits.
static double upright(const placed *p, bool bear)
{
    cutis_role on_top = bear ? CUTIS_ROLE_EAR : CUTIS_ROLE_HEAD;
    const cutis_limb *const *heads = p->of[on_top];
    uint32_t n = p->n[on_top];
    pair pairs[3] = { pair_of(p, CUTIS_ROLE_LEG), pair_of(p, CUTIS_ROLE_ARM), pair_of(p, on_top) };
    bool ears = bear && n == 2;
    if (p->n[CUTIS_ROLE_LEG] != 2 || p->n[CUTIS_ROLE_ARM] != 2) return 0;
    double cost = mirror(p, pairs, ears ? 3 : 2, heads, bear ? 0 : n);
    for (int i = 0; i < (ears ? 3 : 2); i++) cost += cutis_limbs_unlike(pairs[i].a, pairs[i].b);
    vec3 low = between_roots(pairs[0]), axis = v3_sub(between_roots(pairs[1]), low);
    vec3 legs = v3_unit(v3_add(way_of(pairs[0].a), way_of(pairs[0].b)));
    cost += soft(0.9 + v3_dot(legs, v3_unit(axis)), 0.7, 3);
    cost += soft(0.08 - v3_length(axis) / p->diagonal, 0.05, 3);
    cost += soft(1 - v3_dot(v3_unit(axis), UP), 0.6, 0.4);
    if (n > 0) {
        vec3 top = v3(0, 0, 0);
        for (uint32_t i = 0; i < n; i++) top = v3_add(top, v3_divide(heads[i]->tip, n));
        double at = v3_dot(v3_sub(top, low), axis) / fmax(v3_dot(axis, axis), DBL_MIN);
        cost += soft(1.1 - at, 0.3, 3);
    }
    if (p->n[CUTIS_ROLE_TAIL])
        cost += soft(along(p->of[CUTIS_ROLE_TAIL][0], low, axis) - 0.3, 0.3, 3);
    double longer = fixed_log(pairs[1].a->length * pairs[1].b->length /
                              (pairs[0].a->length * pairs[0].b->length)) /
                    2;
    return cost + soft(longer - 0.1, 0.3, 2);
}

// Wings go apart and otherwise than legs; head and tail lie on opposite sides of both, the tail is
// the flatter one.
static double bird(const placed *p)
{
    static const cutis_role SIDED[2] = { CUTIS_ROLE_WING, CUTIS_ROLE_LEG };
    const cutis_limb *head = p->n[CUTIS_ROLE_HEAD] ? p->of[CUTIS_ROLE_HEAD][0] : NULL;
    const cutis_limb *tail = p->n[CUTIS_ROLE_TAIL] ? p->of[CUTIS_ROLE_TAIL][0] : NULL;
    const cutis_limb *middle[2];
    pair pairs[2];
    uint32_t n = 0, count = 0;
    double cost = 0;
    vec3 centre = v3(0, 0, 0);
    if (head) middle[n++] = head;
    if (tail) middle[n++] = tail;
    for (int i = 0; i < 2; i++) {
        if (p->n[SIDED[i]] != 2) continue;
        pairs[count] = pair_of(p, SIDED[i]);
        centre = v3_add(centre, between_roots(pairs[count]));
        cost += cutis_limbs_unlike(pairs[count].a, pairs[count].b), count++;
    }
    cost += count ? mirror(p, pairs, count, middle, n) : NO_PAIR;
    if (p->n[CUTIS_ROLE_WING] == 0) cost += FOLDED;
    if (p->n[CUTIS_ROLE_WING] == 2) {
        vec3 left = way_of(p->of[CUTIS_ROLE_WING][0]), right = way_of(p->of[CUTIS_ROLE_WING][1]);
        double alike = 0, legs = p->n[CUTIS_ROLE_LEG];
        cost += soft(v3_dot(left, right) - 0.5, 0.3, 4);
        for (uint32_t i = 0; i < p->n[CUTIS_ROLE_LEG]; i++) {
            vec3 leg = way_of(p->of[CUTIS_ROLE_LEG][i]);
            alike += (v3_dot(left, leg) + v3_dot(right, leg)) / (2 * legs);
        }
        cost += soft(alike - 0.6, 0.2, 4);
    }
    if (!head || !tail) return cost;
    cost += soft(v3_dot(way_of(head), way_of(tail)) + 0.3, 0.4, 3);
    cost +=
        soft(fixed_log(head->flatness / tail->flatness) + 0.05, 0.15, 2); // tails are the flat ones
    if (count == 0) return cost;
    centre = v3_divide(centre, count);
    vec3 ahead = v3_unit(v3_sub(head->root, centre)), back = v3_unit(v3_sub(tail->root, centre));
    return cost + soft(v3_dot(ahead, back) + 0.2, 0.4, 3);
}

// A long body between nose and tail; lobes of the tail on one stem; fins short against it, those on
// the sides a pair near the head, those above and below in its plane.
static double fish(const placed *p)
{
    const cutis_limb *head = p->n[CUTIS_ROLE_HEAD] ? p->of[CUTIS_ROLE_HEAD][0] : NULL;
    const cutis_limb *dorsal = p->n[CUTIS_ROLE_DORSAL] ? p->of[CUTIS_ROLE_DORSAL][0] : NULL;
    const cutis_limb *anal = p->n[CUTIS_ROLE_ANAL] ? p->of[CUTIS_ROLE_ANAL][0] : NULL;
    const cutis_limb *const *tails = p->of[CUTIS_ROLE_CAUDAL];
    const cutis_limb *middle[2];
    const uint32_t tail_count = p->n[CUTIS_ROLE_CAUDAL];
    pair sides = pair_of(p, CUTIS_ROLE_PECTORAL);
    const bool paired = p->n[CUTIS_ROLE_PECTORAL] == 2;
    uint32_t n = 0;
    double cost = 0, far = 0.01 * p->diagonal, apart = 0;
    if (head) middle[n++] = head;
    if (dorsal) middle[n++] = dorsal;
    if (paired) cost += cutis_limbs_unlike(sides.a, sides.b) + mirror(p, &sides, 1, middle, n);
    if (!paired) cost += NO_FIN;
    if (dorsal && paired)
        cost += soft(fabs(v3_dot(way_of(dorsal), v3_unit(across(sides)))) - 0.3, 0.3, 3);
    if (dorsal && anal) cost += soft(v3_dot(way_of(dorsal), way_of(anal)) + 0.3, 0.4, 3);
    if (!head || tail_count == 0) return cost;
    for (uint32_t i = 0; i < tail_count; i++) {
        far = fmax(far, v3_distance(head->tip, tails[i]->tip));
        apart = fmax(apart, v3_distance(tails[i]->root, tails[0]->root) / p->diagonal);
    }
    cost += soft(0.72 - far / p->diagonal, 0.1, 4) + soft(apart - 0.06, 0.04, 4);
    cost += soft(v3_dot(way_of(head), way_of(tails[0])) + 0.3, 0.5, 3);
    vec3 back = v3_unit(v3_sub(mean_root(tails, tail_count), head->tip));
    for (uint32_t i = 0; i < tail_count; i++) {
        cost += soft(0.3 - v3_dot(way_of(tails[i]), back), 0.3, 3);
        if (i > 0) cost += cutis_limbs_unlike(tails[i], tails[0]) / 2;
    }
    if (paired) { // fins go aside or back, legs the same way down
        vec3 a = way_of(sides.a), b = way_of(sides.b);
        double backwards = fmax(0, (v3_dot(a, back) + v3_dot(b, back)) / 2);
        cost += soft(v3_dot(a, b) - 0.4 - backwards, 0.25, 4);
    }
    for (cutis_role role = CUTIS_ROLE_DORSAL; role <= CUTIS_ROLE_PECTORAL; role++)
        for (uint32_t i = 0; i < p->n[role]; i++)
            cost += soft(p->of[role][i]->length / far - 0.35, 0.15, 2);
    if (p->n[CUTIS_ROLE_PECTORAL] == 0) return cost;
    vec3 fins = mean_root(p->of[CUTIS_ROLE_PECTORAL], p->n[CUTIS_ROLE_PECTORAL]);
    return cost + (v3_distance(fins, head->root) < v3_distance(fins, tails[0]->root) ? 0 : 3);
}

// Fingers of one thickness go away from the stump, all but the thumb from one line across; the palm
// is thick against them.
static double hand(const placed *p)
{
    const cutis_limb *const *fingers = p->of[CUTIS_ROLE_FINGER];
    uint32_t n = p->n[CUTIS_ROLE_FINGER], nearest = 0;
    double thick[CUTIS_LIMB_MOST], away[CUTIS_LIMB_MOST], cost, apart = 0, mean = 0, turned = 0;
    if (n == 0) return 0;
    for (uint32_t i = 0; i < n; i++)
        thick[i] = fixed_log(fingers[i]->thickness), mean += thick[i] / n;
    cost = 2 * soft(deviation_of(thick, n), 0.15, 5);
    if (p->n[CUTIS_ROLE_STUMP] == 0) return cost;
    const cutis_limb *stump = p->of[CUTIS_ROLE_STUMP][0];
    vec3 roots = mean_root(fingers, n), axis = v3_unit(v3_sub(roots, stump->tip));
    for (uint32_t i = 0; i < n; i++) {
        turned += soft(0.3 - v3_dot(way_of(fingers[i]), axis), 0.4, 3) / n;
        apart += v3_distance(fingers[i]->root, roots) / (n * p->diagonal);
        away[i] = v3_distance(fingers[i]->root, stump->tip) / p->diagonal;
        if (away[i] < away[nearest]) nearest = i;
    }
    away[nearest] = away[n - 1]; // without the thumb
    cost += 2 * turned + soft(apart - 0.14, 0.04, 4);
    cost += soft(fixed_log(2) - fixed_log(stump->thickness) + mean, 0.3, 4);
    return n > 2 ? cost + soft(deviation_of(away, n - 1), 0.05, 4) : cost;
}

// Three pairs of legs on one thorax, all of one thickness.
static double insect(const placed *p)
{
    const cutis_limb *middle[2];
    pair now[PAIRS_MOST], pairs[PAIRS_MOST];
    uint32_t n = p->n[CUTIS_ROLE_LEG], m = 0;
    double cost = 0;
    if (n < 4 || n > 2 * PAIRS_MOST) return 0;
    if (p->n[CUTIS_ROLE_HEAD]) middle[m++] = p->of[CUTIS_ROLE_HEAD][0];
    if (p->n[CUTIS_ROLE_ABDOMEN]) middle[m++] = p->of[CUTIS_ROLE_ABDOMEN][0];
    make_pairs(p, p->of[CUTIS_ROLE_LEG], n, now, 0, 0, INFINITY, pairs);
    for (uint32_t i = 0; i < n / 2; i++) cost += cutis_limbs_unlike(pairs[i].a, pairs[i].b) / 2;
    vec3 thorax = mean_root(p->of[CUTIS_ROLE_LEG], n);
    double apart = 0, thick[2 * PAIRS_MOST];
    for (uint32_t i = 0; i < n; i++) {
        apart += v3_distance(p->of[CUTIS_ROLE_LEG][i]->root, thorax) / (n * p->diagonal);
        thick[i] = fixed_log(p->of[CUTIS_ROLE_LEG][i]->thickness);
    }
    cost += soft(apart - 0.13, 0.04, 4) + soft(deviation_of(thick, n), 0.2, 4);
    return cost + mirror(p, pairs, n / 2, middle, m);
}

// Arms are alike.
static double octopus(const placed *p)
{
    double lengths[CUTIS_LIMB_MOST], thick[CUTIS_LIMB_MOST];
    uint32_t n = p->n[CUTIS_ROLE_ARM];
    for (uint32_t i = 0; i < n; i++) {
        lengths[i] = fixed_log(p->of[CUTIS_ROLE_ARM][i]->length);
        thick[i] = fixed_log(p->of[CUTIS_ROLE_ARM][i]->thickness);
    }
    return soft(deviation_of(lengths, n), 0.2, 6) + soft(deviation_of(thick, n), 0.2, 6);
}

double cutis_kind_places(cutis_kind kind, const cutis_limb *limbs, const cutis_role *roles,
                         uint32_t count, double diagonal)
{
    placed p;
    p.all = limbs, p.diagonal = diagonal;
    for (int r = 0; r <= CUTIS_ROLE_PECTORAL; r++) p.n[r] = 0;
    for (uint32_t i = 0; i < count; i++) p.of[roles[i]][p.n[roles[i]]++] = &limbs[i];
    switch (kind) {
    case CUTIS_KIND_HUMAN:
    case CUTIS_KIND_BEAR:
        return upright(&p, kind == CUTIS_KIND_BEAR);
    case CUTIS_KIND_QUADRUPED:
        return quadruped(&p);
    case CUTIS_KIND_BIRD:
        return bird(&p);
    case CUTIS_KIND_FISH:
        return fish(&p);
    case CUTIS_KIND_HAND:
        return hand(&p);
    case CUTIS_KIND_INSECT:
        return insect(&p);
    default:
        return octopus(&p);
    }
}
