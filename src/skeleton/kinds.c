// Kinds of bodies as lists of limbs: how many of each, and what they look like (lengths in the
// body's diagonal, logarithms compared). Roles are given so that the sum of squared deviations is
// least, with a price for limbs that are missing or too many, for pairs that are not alike and for
// arms that are farther from the head than legs. Invariant: no role is given more often than the
// kind has it.
#include "skeleton/kinds.h"

#include <math.h>
#include <string.h>

#define FEATURES 5
#define SLOTS    20
#define SIDE     (CUTIS_LIMB_MOST + SLOTS)

typedef struct {
    cutis_kind kind;
    cutis_role role;
    int least, most;
    double mean[FEATURES];   // length and thickness in diagonals, bulge, opening, flatness
    double spread[FEATURES]; // of their logarithms
} role_row;

// Medians and spreads over seeds 100 to 107 and 2000 to 2007 of `cutis synth family`, spreads not
// below 0.3, 0.3, 0.2, 0.4, 0.17: bodies that nobody here drew are wider spread.
static const role_row ROLES[] = {
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_LEG, 2, 2, { .452, .031, 1.40, 1.37, 1.18 }, { 0 } },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_ARM, 2, 2, { .335, .022, 1.48, 1.80, 1.23 }, { 0 } },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_HEAD, 1, 1, { .150, .038, 1.72, 2.16, 1.33 }, { 0 } },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_LEG, 4, 4, { .287, .026, 1.50, 2.15, 1.23 }, { 0 } },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_HEAD, 1, 1, { .307, .046, 1.43, 1.60, 1.20 }, { 0 } },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_EAR, 0, 2, { .080, .020, 1.68, 2.21, 1.70 }, { 0 } },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_TAIL, 0, 1, { .202, .017, 1.48, 2.84, 1.38 }, { 0 } },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_WING, 2, 2, { .374, .036, 1.21, 2.81, 1.77 }, { 0 } },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_LEG, 2, 2, { .230, .023, 1.85, 4.26, 1.38 }, { 0 } },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_TAIL, 1, 1, { .218, .037, 1.76, 2.03, 1.67 }, { 0, 0, .42 } },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_HEAD, 1, 1, { .227, .032, 1.53, 2.35, 1.24 }, { .5, .35 } },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_ARM, 8, 8, { .319, .021, 1.32, 2.84, 1.23 }, { 0 } },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_HEAD, 1, 1, { .160, .076, 1.12, 1.20, 1.19 }, { 0 } },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_LEG, 6, 6, { .377, .019, 1.23, 3.36, 1.29 }, { 0 } },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_EAR, 0, 2, { .177, .016, 1.07, 1.73, 1.32 }, { 0 } },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_ABDOMEN, 1, 1, { .302, .066, 1.88, 1.30, 1.16 }, { 0 } },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_HEAD, 0, 1, { .139, .047, 1.83, 2.18, 1.37 }, { 0 } },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_ARM, 2, 2, { .210, .054, 2.00, 2.66, 1.27 }, { 0 } },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_LEG, 2, 2, { .229, .075, 1.72, 2.02, 1.26 }, { 0 } },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_EAR, 2, 2, { .131, .043, 1.83, 2.80, 1.69 }, { 0 } },
    { CUTIS_KIND_HAND, CUTIS_ROLE_FINGER, 5, 5, { .279, .031, 1.18, 2.94, 1.22 }, { 0 } },
    { CUTIS_KIND_HAND, CUTIS_ROLE_STUMP, 1, 1, { .497, .094, 1.15, 1.20, 1.60 }, { 0 } },
    { CUTIS_KIND_FISH, CUTIS_ROLE_CAUDAL, 1, 3, { .251, .042, 1.85, 1.46, 1.83 }, { 0 } },
    { CUTIS_KIND_FISH, CUTIS_ROLE_HEAD, 1, 1, { .143, .056, 1.37, 1.41, 1.51 }, { 0, .39 } },
    { CUTIS_KIND_FISH, CUTIS_ROLE_DORSAL, 1, 1, { .132, .033, 2.35, 3.33, 2.02 }, { 0, 0, .23 } },
    { CUTIS_KIND_FISH, CUTIS_ROLE_PECTORAL, 2, 2, { .169, .029, 1.21, 3.77, 1.79 }, { 0 } },
    { CUTIS_KIND_FISH, CUTIS_ROLE_ANAL, 0, 1, { .093, .028, 2.37, 3.13, 2.13 }, { 0 } },
};
#define ROLE_ROWS (sizeof ROLES / sizeof *ROLES)

static const double FLOORS[FEATURES] = { 0.3, 0.3, 0.2, 0.4, 0.17 };
static const double NEVER = 1e6;
static const double FAR = 12;        // the most that a single limb costs
static const double MISSING = 6;     // a limb that the kind must have
static const double NOT_THERE = 0.7; // one that it may have
static const double EXTRA = 0.03; // of the diagonal: every so much of a limb without a role costs 1
static const double UNLIKE = 0.14; // deviation of the logarithms within a pair
static const double MISPLACED = 5;

typedef struct {
    const cutis_centrelines *lines;
    const cutis_limb *limbs;
    uint32_t count;
    double diagonal;
    cutis_kind kind;
    double features[CUTIS_LIMB_MOST][FEATURES];
    const role_row *slots[SLOTS];
    uint32_t slot_count;
} fitting;

const char *cutis_kind_name(cutis_kind kind)
{
    static const char *const NAMES[CUTIS_KIND_COUNT] = { "human",  "quadruped", "bird", "octopus",
                                                         "insect", "bear",      "hand", "fish" };
    return kind < CUTIS_KIND_COUNT ? NAMES[kind] : "any";
}

const char *cutis_role_name(cutis_kind kind, cutis_role role)
{
    static const char *const NAMES[] = { "limb", "head",       "arm",      "leg",         "tail",
                                         "ear",  "wing",       "abdomen",  "finger",      "wrist",
                                         "tail", "dorsal fin", "anal fin", "pectoral fin" };
    if (role == CUTIS_ROLE_EAR && kind == CUTIS_KIND_INSECT) return "antenna";
    return NAMES[role];
}

// What is behind a limb can only be a head, of kinds that have something on it.
static double deviation(const fitting *f, uint32_t limb, const role_row *row)
{
    double sum = 0;
    if (f->limbs[limb].behind && (row->role != CUTIS_ROLE_HEAD ||
                                  (f->kind != CUTIS_KIND_QUADRUPED && f->kind != CUTIS_KIND_BIRD &&
                                   f->kind != CUTIS_KIND_INSECT)))
        return NEVER;
    for (int k = 0; k < FEATURES; k++) {
        double z = (f->features[limb][k] - log(row->mean[k])) / fmax(row->spread[k], FLOORS[k]);
        sum += z * z / 2;
    }
    return fmin(sum, FAR);
}

static double without_role(const fitting *f, uint32_t limb)
{
    if (f->limbs[limb].behind) return 0;
    return fmin(FAR, 1 + f->limbs[limb].stands_out / (EXTRA * f->diagonal));
}

// Assignment of rows to columns with the least sum (shortest augmenting paths, Jonker and
// Volgenant's form of the Hungarian method).
static void assign(double costs[SIDE][SIDE], uint32_t n, uint32_t *column_of)
{
    double u[SIDE + 1] = { 0 }, v[SIDE + 1] = { 0 }, least[SIDE + 1];
    uint32_t row_of[SIDE + 1] = { 0 }, way[SIDE + 1];
    for (uint32_t i = 1; i <= n; i++) {
        bool used[SIDE + 1] = { false };
        uint32_t j0 = 0;
        for (uint32_t j = 0; j <= n; j++) least[j] = INFINITY;
        row_of[0] = i;
        do {
            uint32_t i0 = row_of[j0], j1 = 0;
            double delta = INFINITY;
            used[j0] = true;
            for (uint32_t j = 1; j <= n; j++) {
                if (used[j]) continue;
                double c = costs[i0 - 1][j - 1] - u[i0] - v[j];
                if (c < least[j]) least[j] = c, way[j] = j0;
                if (least[j] < delta) delta = least[j], j1 = j;
            }
            for (uint32_t j = 0; j <= n; j++)
                if (used[j])
                    u[row_of[j]] += delta, v[j] -= delta;
                else
                    least[j] -= delta;
            j0 = j1;
        } while (row_of[j0] != 0);
        do {
            row_of[j0] = row_of[way[j0]];
            j0 = way[j0];
        } while (j0);
    }
    for (uint32_t j = 1; j <= n; j++) column_of[row_of[j] - 1] = j - 1;
}

// What two limbs that should be a pair cost for their difference.
static double unlike(const fitting *f, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (int k = 0; k < 2; k++) {
        double z = (f->features[a][k] - f->features[b][k]) / UNLIKE;
        sum += z * z / 2;
    }
    return fmin(sum, 6);
}

static double pairs_cost(const fitting *f, const role_row *const *given)
{
    double sum = 0;
    for (size_t r = 0; r < ROLE_ROWS; r++) {
        const role_row *row = &ROLES[r];
        uint32_t list[CUTIS_LIMB_MOST], n = 0;
        if (row->kind != f->kind || row->most % 2 != 0) continue;
        for (uint32_t i = 0; i < f->count; i++) {
            if (given[i] != row) continue;
            double size = f->features[i][0] + f->features[i][1];
            uint32_t k = n++;
            for (; k > 0 && f->features[list[k - 1]][0] + f->features[list[k - 1]][1] > size; k--)
                list[k] = list[k - 1];
            list[k] = i;
        }
        for (uint32_t k = 0; k + 1 < n; k += 2) sum += unlike(f, list[k], list[k + 1]);
    }
    return sum;
}

// The mean place where limbs of a role meet the body. false: there are none.
static bool root_of(const fitting *f, const role_row *const *given, cutis_role role, vec3 *out)
{
    uint32_t n = 0;
    vec3 sum = v3(0, 0, 0);
    for (uint32_t i = 0; i < f->count; i++) {
        if (!given[i] || given[i]->role != role) continue;
        sum = v3_add(sum, cutis_limb_point(f->lines, &f->limbs[i], f->limbs[i].length));
        n++;
    }
    *out = v3_scale(sum, n ? 1. / n : 0);
    return n > 0;
}

// Arms lie nearer to the head than legs, the pectoral fins of a fish nearer than its tail.
static double places_cost(const fitting *f, const role_row *const *given)
{
    vec3 arms, legs, head;
    if (f->kind == CUTIS_KIND_FISH && root_of(f, given, CUTIS_ROLE_PECTORAL, &arms) &&
        root_of(f, given, CUTIS_ROLE_CAUDAL, &legs) && root_of(f, given, CUTIS_ROLE_HEAD, &head))
        return v3_distance(arms, head) < v3_distance(arms, legs) ? 0 : MISPLACED;
    if (f->kind != CUTIS_KIND_HUMAN && f->kind != CUTIS_KIND_BEAR) return 0;
    if (!root_of(f, given, CUTIS_ROLE_ARM, &arms) || !root_of(f, given, CUTIS_ROLE_LEG, &legs) ||
        !root_of(f, given, f->kind == CUTIS_KIND_BEAR ? CUTIS_ROLE_EAR : CUTIS_ROLE_HEAD, &head))
        return 0;
    return v3_distance(arms, head) < v3_distance(legs, head) ? 0 : MISPLACED;
}

static double total_cost(const fitting *f, const role_row *const *given)
{
    double sum = pairs_cost(f, given) + places_cost(f, given);
    for (uint32_t i = 0; i < f->count; i++)
        sum += given[i] ? deviation(f, i, given[i]) : without_role(f, i);
    for (size_t r = 0; r < ROLE_ROWS; r++) {
        const role_row *row = &ROLES[r];
        int n = 0;
        if (row->kind != f->kind) continue;
        for (uint32_t i = 0; i < f->count; i++) n += given[i] == row;
        for (; n < row->most; n++) sum += n < row->least ? MISSING : NOT_THERE;
    }
    return sum;
}

// Exchange roles of two limbs for as long as that is cheaper.
static double improve(const fitting *f, const role_row **given)
{
    double best = total_cost(f, given);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t a = 0; a < f->count; a++)
            for (uint32_t b = 0; b < a; b++) {
                const role_row *swap = given[a];
                if (given[a] == given[b]) continue;
                given[a] = given[b], given[b] = swap;
                double cost = total_cost(f, given);
                if (cost < best - 1e-9) {
                    best = cost, changed = true;
                    continue;
                }
                given[b] = given[a], given[a] = swap;
            }
    }
    return best;
}

static void first_roles(const fitting *f, const role_row **given)
{
    double costs[SIDE][SIDE];
    uint32_t n = f->count, m = f->slot_count, column[SIDE];
    for (uint32_t i = 0; i < n + m; i++)
        for (uint32_t j = 0; j < n + m; j++) {
            double c = i < n || j < m ? NEVER : 0;
            if (i < n && j < m) c = deviation(f, i, f->slots[j]);
            if (i < n && j == m + i) c = without_role(f, i);
            if (i >= n && j == i - n) // a slot that stays empty; the first ones must not
                c = j >= (uint32_t)f->slots[j]->least &&
                            f->slots[j - (uint32_t)f->slots[j]->least] == f->slots[j]
                        ? NOT_THERE
                        : MISSING;
            costs[i][j] = c;
        }
    assign(costs, n + m, column);
    for (uint32_t i = 0; i < n; i++) given[i] = column[i] < m ? f->slots[column[i]] : NULL;
}

void cutis_kind_fit(const cutis_centrelines *lines, const cutis_limb *limbs, uint32_t count,
                    double diagonal, cutis_kind kind, cutis_kind_match *out)
{
    fitting f = { lines, limbs, count, diagonal, kind, { { 0 } }, { NULL }, 0 };
    const role_row *given[CUTIS_LIMB_MOST] = { NULL };
    uint32_t ends = 0;
    for (uint32_t i = 0; i < count; i++) {
        const cutis_limb *l = &limbs[i];
        ends += !l->behind;
        const double values[FEATURES] = { l->length / diagonal, l->thickness / diagonal, l->bulge,
                                          l->opening, l->flatness };
        for (int k = 0; k < FEATURES; k++) f.features[i][k] = log(fmax(values[k], 1e-6));
    }
    for (size_t r = 0; r < ROLE_ROWS; r++)
        for (int i = 0; ROLES[r].kind == kind && i < ROLES[r].most; i++)
            f.slots[f.slot_count++] = &ROLES[r];
    first_roles(&f, given);
    *out = (cutis_kind_match){ .kind = kind, .cost = improve(&f, given) / (ends + 2.) };
    for (uint32_t i = 0; i < count; i++)
        out->roles[i] = given[i] ? given[i]->role : CUTIS_ROLE_NONE;
}

void cutis_kind_find(const cutis_centrelines *lines, const cutis_limb *limbs, uint32_t count,
                     double diagonal, cutis_kind_match *out, cutis_kind *next, double *second)
{
    *second = INFINITY, *next = CUTIS_KIND_COUNT;
    for (int k = 0; k < CUTIS_KIND_COUNT; k++) {
        cutis_kind_match match;
        cutis_kind_fit(lines, limbs, count, diagonal, (cutis_kind)k, &match);
        bool better = k == 0 || match.cost < out->cost;
        if (better && k > 0) *second = out->cost, *next = out->kind;
        if (!better && match.cost < *second) *second = match.cost, *next = match.kind;
        if (better) *out = match;
    }
}

cutis_role cutis_kind_lacks(cutis_kind kind, const cutis_role *roles, uint32_t count, uint32_t *has,
                            uint32_t *needs)
{
    for (size_t r = 0; r < ROLE_ROWS; r++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < count; i++) n += roles[i] == ROLES[r].role;
        if (ROLES[r].kind != kind || n >= (uint32_t)ROLES[r].least) continue;
        *has = n, *needs = (uint32_t)ROLES[r].least;
        return ROLES[r].role;
    }
    return CUTIS_ROLE_NONE;
}
