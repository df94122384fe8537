// Fish: which end is which follows from where they are, and where the tail begins from its
// narrowest place. Invariant: nose and tail are different ends.
#include <math.h>

#include "skeleton/planner.h"

// Of the height of a back fin's tip above the spine: its joint, and how far ahead of the tip's line
// that is; of the way from the tip to it, its border. Medians over bodies of `cutis synth family`
// with the seeds 3000 to 3024 and 4000 to 4024.
static const double FIN_JOINT = 0.41, FIN_AHEAD = 0.16, FIN_BORDER = 0.93;
static const double ROOT =
    0.018;                      // of the diagonal: the joint of a tail lies so far beyond its stem
static const double STEM = 0.6; // of the way to a fish's tail: lobes part beyond it

// How thick a limb is at its tip: noses are, tails are not.
static double blunt(const cutis_planner *p, uint32_t limb)
{
    const cutis_limb *l = &p->limbs[limb];
    double whole = l->along[l->count - 1], sum = 0;
    for (int i = 1; i <= 4; i++) {
        double along = 0.08 * i * whole;
        uint32_t k = 0;
        while (k + 1 < l->count && l->along[k] < along) k++;
        sum += p->lines->nodes[l->path[k]].radius;
    }
    return sum;
}

// Which end of a fish is which follows from where they are: the nose is the bluntest, the tail the
// farthest from it, lobes share the tail's stem, fins stand up, down and aside.
static uint32_t assign_fish(cutis_planner *p)
{
    uint32_t nose = 0, tail = 0;
    double far = -1;
    while (p->count > 0 && p->limbs[p->count - 1].behind) p->count--; // they have ends of their own
    for (uint32_t i = 1; i < p->count; i++)
        if (blunt(p, i) > blunt(p, nose)) nose = i;
    for (uint32_t i = 0; i < p->count; i++)
        if (p->roles[i] == CUTIS_ROLE_HEAD) nose = i; // what the kind says of it counts more
    for (uint32_t i = 0; i < p->count; i++) {
        double d = v3_distance(cutis_plan_limb_at(p, i, 0), cutis_plan_limb_at(p, nose, 0));
        if (d > far) far = d, tail = i;
    }
    vec3 front = v3_sub(cutis_plan_limb_at(p, nose, 0), cutis_plan_limb_at(p, tail, 0));
    front = v3_mad(front, -v3_dot(front, p->up), p->up);
    vec3 left = v3_unit(v3_cross(p->up, front));
    uint32_t side[2] = { nose, nose }, dorsal = nose, anal = nose;
    double most[2] = { 0 }, high = 0, low = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        p->roles[i] = CUTIS_ROLE_NONE;
        if (i == nose || i == tail) continue;
        if (p->lines->meets[p->limbs[i].end][p->limbs[tail].end] >
            STEM * p->lines->ends[p->limbs[tail].end].reach) {
            p->roles[i] = CUTIS_ROLE_CAUDAL;
            continue;
        }
        vec3 out = v3_unit(v3_sub(cutis_plan_limb_at(p, i, 0), cutis_plan_limb_at(p, i, 1)));
        double aside = v3_dot(out, left), up = v3_dot(out, p->up);
        uint32_t k = aside < 0;
        if (fabs(aside) > 0.5 && fabs(aside) > most[k]) most[k] = fabs(aside), side[k] = i;
        if (fabs(aside) <= 0.5 && up > high) high = up, dorsal = i;
        if (fabs(aside) <= 0.5 && up < low) low = up, anal = i;
    }
    for (int k = 0; k < 2; k++) p->roles[side[k]] = CUTIS_ROLE_PECTORAL;
    p->roles[dorsal] = CUTIS_ROLE_DORSAL, p->roles[anal] = CUTIS_ROLE_ANAL;
    p->roles[nose] = CUTIS_ROLE_HEAD, p->roles[tail] = CUTIS_ROLE_CAUDAL;
    return tail;
}

// The root of a fish's tail: the narrowest place between the fin and the body, as the way from the
// centre.
static double fish_stem(const cutis_planner *p, uint32_t tail)
{
    const cutis_limb *limb = &p->limbs[tail];
    double whole = limb->along[limb->count - 1], most = 0, least = INFINITY, peak = 0, stem = 0;
    double lobes = 0; // where the last of them joins
    for (uint32_t i = 1; i < p->lines->count; i++)
        for (uint32_t k = 1; k < limb->count && limb->along[k] < 0.5 * whole; k++)
            if (p->lines->nodes[i].parent == limb->path[k] && i != limb->path[k - 1])
                lobes = fmax(lobes, limb->along[k]);
    for (uint32_t i = 0; i < limb->count; i++)
        if (limb->along[i] > 0.1 * whole && limb->along[i] < 0.45 * whole &&
            limb->section[i] > most)
            most = limb->section[i], peak = limb->along[i];
    for (uint32_t i = 0; i < limb->count; i++) {
        if (limb->along[i] <= fmax(peak, lobes) || limb->along[i] > 0.7 * whole) continue;
        if (limb->section[i] < least) least = limb->section[i], stem = whole - limb->along[i];
    }
    return stem;
}

// How high a point is above the line through some points.
static double height_above(const vec3 *line, int count, vec3 point)
{
    double least = INFINITY;
    for (int i = 0; i + 1 < count; i++) {
        const vec3 way = v3_sub(line[i + 1], line[i]), d = v3_sub(point, line[i]);
        const double square = v3_dot(way, way);
        const double t = square > 0 ? fmin(fmax(v3_dot(d, way) / square, 0), 1) : 0;
        least = fmin(least, v3_length(v3_mad(d, -t, way)));
    }
    return least;
}

// The fin on the back: a wide one opens into the body anywhere, but its joint is at a part of its
// tip's height above the spine.
static void lay_dorsal(cutis_planner *p, const vec3 *spine, int count)
{
    uint32_t list[CUTIS_LIMB_MOST];
    if (!cutis_plan_limbs(p, CUTIS_ROLE_DORSAL, list)) return;
    const cutis_limb *limb = &p->limbs[list[0]];
    const double tip = height_above(spine, count, limb->tip), high = FIN_JOINT * tip;
    uint32_t i = 0;
    while (i + 1 < limb->count &&
           height_above(spine, count, p->lines->nodes[limb->path[i]].point) > high)
        i++;
    const vec3 ahead = v3_unit(v3_sub(spine[0], spine[count - 1])); // fins are swept back
    cutis_plan_add_joint(p, "", "dorsal", "", 0,
                         v3_mad(p->lines->nodes[limb->path[i]].point, FIN_AHEAD * tip, ahead));
    cutis_plan_mark(p, limb, FIN_BORDER * limb->along[i], cutis_plan_add_part(p, "", "dorsal", ""));
}

void cutis_plan_fish(cutis_planner *p)
{
    static const char *const NAMES[4] = { "body", "head", "spine1", "spine2" };
    static const double PLACES[4] = { 0.47, 0.24, 0.69, 0.87 }; // from the nose to the tail's root
    static const int32_t PARENTS[4] = { CUTIS_NONE, 0, 0, 2 };
    uint32_t tails[CUTIS_LIMB_MOST], noses[CUTIS_LIMB_MOST], n;
    uint32_t tail = p->count > 1 ? assign_fish(p) : 0;
    n = cutis_plan_limbs(p, CUTIS_ROLE_CAUDAL, tails);
    double stem = n ? fish_stem(p, tail) : 0;
    vec3 points[5];
    for (int i = 0; i < 5; i++) points[i] = p->lines->nodes[0].point;
    cutis_plan_add_part(p, "", "body", "");
    if (n && cutis_plan_limbs(p, CUTIS_ROLE_HEAD, noses)) {
        const cutis_limb *limb = &p->limbs[tail];
        double root = stem + ROOT * p->diagonal;
        double share = fmax(0, limb->along[limb->count - 1] - root) / limb->length;
        for (int i = 0; i < 4; i++)
            points[i] = cutis_plan_between(p, noses[0], 0, tail, share, PLACES[i]);
        points[4] = cutis_limb_point(p->lines, limb, share * limb->length);
    }
    for (int i = 0; i < 4; i++) cutis_plan_add_joint(p, "", NAMES[i], "", PARENTS[i], points[i]);
    if (n) cutis_plan_add_joint(p, "", "caudal", "", 3, points[4]);
    for (uint32_t i = 0; i < n; i++) {
        const cutis_limb *limb = &p->limbs[tails[i]];
        cutis_plan_mark(p, limb, limb->along[limb->count - 1] - stem,
                        cutis_plan_add_part(p, "", "caudal", ""));
    }
    const vec3 spine[5] = { points[1], points[0], points[2], points[3], points[4] };
    lay_dorsal(p, spine, 5);
    cutis_plan_lay_single(p, CUTIS_ROLE_ANAL, "", 2);
    cutis_plan_lay_pair(p, CUTIS_ROLE_PECTORAL, 0, "", 0);
}
