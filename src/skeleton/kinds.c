// Kinds of bodies as lists of limbs: how many of each, and what they look like (lengths in the
// body's diagonal, logarithms compared). Roles are given so that the sum of squared deviations is
// least, with a price for limbs that are missing or too many, for pairs that are not alike and for
// arms that are farther from the head than legs. Invariant: no role is given more often than the
// kind has it.
#include "skeleton/kind_places.h"
#include "math/elementary.h"

#include <math.h>
#include <string.h>

#define FEATURES 5
#define STARTS   16
#define SLOTS    20
#define SIDE     (CUTIS_LIMB_MOST + SLOTS)

typedef struct {
    cutis_kind kind;
    cutis_role role;
    int least, most;
    double mean[FEATURES]; // length and thickness in diagonals, bulge, opening, flatness
    bool loose;            // mice and elephants, giraffes and crocodiles
    bool rare;             // few have it: to lack it costs nothing
} role_row;

// Medians and spreads over seeds 100 to 107 and 2000 to 2007 of `cutis synth family`, spreads not
// below 0.3, 0.3, 0.2, 0.4, 0.17: bodies that nobody here drew are wider spread.
static const role_row ROLES[] = {
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_LEG, 2, 2, { .452, .031, 1.40, 1.37, 1.18 }, false, false },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_ARM, 2, 2, { .335, .022, 1.48, 1.80, 1.23 }, false, false },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_HEAD, 1, 1, { .150, .038, 1.72, 2.16, 1.33 }, false, false },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_TAIL, 0, 1, { .202, .017, 1.48, 2.84, 1.38 }, true, true },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_EAR, 0, 2, { .080, .020, 1.68, 2.21, 1.70 }, true, true },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_LEG, 4, 4, { .287, .026, 1.50, 2.15, 1.23 }, true, false },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_HEAD, 1, 1, { .307, .046, 1.43, 1.60, 1.20 }, true, false },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_EAR, 0, 2, { .080, .020, 1.68, 2.21, 1.70 }, false, false },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_TAIL, 0, 1, { .202, .017, 1.48, 2.84, 1.38 }, true, false },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_WING, 0, 2, { .374, .036, 1.21, 2.81, 1.77 }, false, false },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_LEG, 0, 2, { .230, .023, 1.85, 4.26, 1.38 }, false, false },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_TAIL, 1, 1, { .218, .037, 1.76, 2.03, 1.67 }, true, false },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_HEAD, 1, 1, { .227, .032, 1.53, 2.35, 1.24 }, true, false },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_ARM, 8, 8, { .319, .021, 1.32, 2.84, 1.23 }, false, false },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_HEAD, 1, 1, { .160, .076, 1.12, 1.20, 1.19 }, false, false },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_LEG, 6, 6, { .377, .019, 1.23, 3.36, 1.29 }, false, false },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_EAR, 0, 2, { .177, .016, 1.07, 1.73, 1.32 }, false, false },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_ABDOMEN, 1, 1, { .302, .066, 1.88, 1.30, 1.16 }, false, false },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_HEAD, 0, 1, { .139, .047, 1.83, 2.18, 1.37 }, false, false },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_ARM, 2, 2, { .210, .054, 2.00, 2.66, 1.27 }, false, false },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_LEG, 2, 2, { .229, .075, 1.72, 2.02, 1.26 }, false, false },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_EAR, 2, 2, { .131, .043, 1.83, 2.80, 1.69 }, false, false },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_TAIL, 0, 1, { .202, .030, 1.48, 2.84, 1.38 }, true, true },
    { CUTIS_KIND_HAND, CUTIS_ROLE_FINGER, 5, 5, { .279, .031, 1.18, 2.94, 1.22 }, false, false },
    { CUTIS_KIND_HAND, CUTIS_ROLE_STUMP, 1, 1, { .497, .094, 1.15, 1.20, 1.60 }, false, false },
    { CUTIS_KIND_FISH, CUTIS_ROLE_CAUDAL, 1, 3, { .251, .042, 1.85, 1.46, 1.83 }, false, false },
    { CUTIS_KIND_FISH, CUTIS_ROLE_HEAD, 1, 1, { .143, .056, 1.37, 1.41, 1.51 }, false, false },
    { CUTIS_KIND_FISH, CUTIS_ROLE_DORSAL, 0, 1, { .132, .033, 2.35, 3.33, 2.02 }, false, false },
    { CUTIS_KIND_FISH, CUTIS_ROLE_PECTORAL, 0, 2, { .169, .029, 1.21, 3.77, 1.79 }, false, false },
    { CUTIS_KIND_FISH, CUTIS_ROLE_ANAL, 0, 1, { .093, .028, 2.37, 3.13, 2.13 }, false, false },
};
#define ROLE_ROWS (sizeof ROLES / sizeof *ROLES)

// Spreads of logarithms, wide against those of the family: bodies that nobody here drew have legs
// twice as thick, and openings and bulges that say little. Four-legged ones are mice and elephants.
static const double SPREADS[FEATURES] = { 0.45, 0.6, 0.8, 1.0, 0.7 };
static const double LOOSE = 0.9;    // of lengths and thicknesses that say nothing
static const double FARTHEST = 1.8; // spreads: what is farther off is just wrong, as in any body
static const double BLUNT = 1.2;    // opening of what has none
static const double NO_OPENING = 1.5;
static const double SHAPE = 0.6; // what shape counts against places
static const double PLACES = 2.5;

static const double NEVER = 1e6;
static const double FAR = 6;         // the most that a single limb costs
static const double CONTRARY = 40;   // to what a person says
static const double MISSING = 9;     // a limb that the kind must have
static const double HEADLESS = 2;    // horns or ears, and no neck between them and the trunk
static const double ALONE = 3;       // one of a pair without the other
static const double FORCED = 30;     // the same, while roles are looked for
static const double NOT_THERE = 0.7; // one that it may have
static const double EXTRA = 0.04; // of the diagonal: every so much of a limb without a role costs 1
static const double CARRIED = 0.15; // a limb without a role that stands on another, or carries some
static const double SMALL = 0.3;    // of its carrier: such a limb is a finger, a toe, an ear
static const double A_PAIR = 3;     // less unlike than that

typedef struct {
    const cutis_limb *limbs;
    uint32_t count;
    double diagonal;
    const cutis_role *told;
    cutis_kind kind;
    double missing;
    double features[CUTIS_LIMB_MOST][FEATURES];
    const role_row *slots[SLOTS];
    uint32_t slot_count;
    const role_row *given[CUTIS_LIMB_MOST]; // per limb; NULL: no role
    double cost;
} fitting;

const char *cutis_kind_name(cutis_kind kind)
{
    static const char *const NAMES[CUTIS_KIND_COUNT] = { "human",   "quadruped", "bird",
                                                         "octopus", "insect",    "bear",
                                                         "hand",    "fish",      "any" };
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

static double deviation(const fitting *f, uint32_t limb, const role_row *row)
{
    const cutis_limb *l = &f->limbs[limb];
    double sum = 0;
    if (f->told[limb] != CUTIS_ROLE_UNTOLD) return f->told[limb] == row->role ? 0 : CONTRARY;
    if (l->carrier != CUTIS_NOTHING && !l->parted &&
        l->length < SMALL * f->limbs[l->carrier].length && row->role != CUTIS_ROLE_EAR &&
        row->role != CUTIS_ROLE_FINGER)
        return FAR + 2;
    if (l->behind && (row->role == CUTIS_ROLE_EAR || row->role == CUTIS_ROLE_TAIL))
        return FAR + 2; // what carries others is neither
    for (int k = 0; k < FEATURES; k++) {
        double spread = k < 2 && row->loose ? LOOSE : SPREADS[k];
        double z = (f->features[limb][k] - fixed_log(row->mean[k])) / spread;
        sum += fmin(z * z, FARTHEST * FARTHEST) / 2;
    }
    bool blunt = l->opening <= BLUNT && row->mean[3] > 1.7; // a corner of a box is no arm
    return SHAPE * sum + (blunt ? NO_OPENING : 0);
}

static double without_role(const fitting *f, uint32_t limb)
{
    uint32_t carries = 0;
    if (f->told[limb] != CUTIS_ROLE_UNTOLD) return f->told[limb] == CUTIS_ROLE_NONE ? 0 : CONTRARY;
    if (f->limbs[limb].carrier != CUTIS_NOTHING) return CARRIED;
    for (uint32_t i = 0; i < f->count; i++)
        if (f->limbs[i].carrier == limb && f->given[i])
            carries += f->given[i]->role == CUTIS_ROLE_EAR ? 1 : 2; // a rump is its tail's
    if (carries > 1 && f->limbs[limb].behind) return CARRIED;
    return fmin(FAR, 0.6 + f->limbs[limb].stands_out / (EXTRA * f->diagonal));
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

static double total_cost(const fitting *f)
{
    cutis_role roles[CUTIS_LIMB_MOST];
    double sum = 0;
    int ears = 0;
    for (uint32_t i = 0; i < f->count; i++) {
        roles[i] = f->given[i] ? f->given[i]->role : CUTIS_ROLE_NONE;
        sum += f->given[i] ? deviation(f, i, f->given[i]) : without_role(f, i);
        ears += roles[i] == CUTIS_ROLE_EAR;
    }
    for (size_t r = 0; r < ROLE_ROWS; r++) {
        const role_row *row = &ROLES[r];
        int n = 0;
        if (row->kind != f->kind) continue;
        for (uint32_t i = 0; i < f->count; i++) n += f->given[i] == row;
        if (row->most % 2 == 0 && n % 2 == 1) sum += ALONE;
        if (row->rare) sum += NOT_THERE * n;
        if (row->kind == CUTIS_KIND_QUADRUPED && row->role == CUTIS_ROLE_HEAD && n == 0 &&
            ears == 2) {
            sum += HEADLESS;
            continue;
        }
        for (; n < row->most && !row->rare; n++) sum += n < row->least ? f->missing : NOT_THERE;
    }
    return sum + PLACES * cutis_kind_places(f->kind, f->limbs, roles, f->count, f->diagonal);
}

// Others lose a role that is given too often. false: it was not they.
static bool make_room(fitting *f, const role_row *row, uint32_t a, uint32_t b)
{
    int n = 0;
    for (uint32_t i = 0; row && i < f->count; i++) n += f->given[i] == row;
    for (uint32_t i = 0; row && i < f->count && n > row->most; i++)
        if (f->given[i] == row && i != a && i != b) f->given[i] = NULL, n--;
    return !row || n <= row->most;
}

// Give two limbs roles (or one of them twice the same), if that is cheaper.
static bool try_roles(fitting *f, uint32_t a, const role_row *of_a, uint32_t b,
                      const role_row *of_b)
{
    const role_row *before[CUTIS_LIMB_MOST];
    if (f->given[a] == of_a && f->given[b] == of_b) return false;
    memcpy(before, f->given, sizeof before);
    f->given[a] = of_a, f->given[b] = of_b;
    if (make_room(f, of_a, a, b) && make_room(f, of_b, a, b)) {
        double cost = total_cost(f);
        if (cost < f->cost - 1e-9) {
            f->cost = cost;
            return true;
        }
    }
    memcpy(f->given, before, sizeof before);
    return false;
}

// Exchange roles, give and take them, for as long as that is cheaper.
static void improve(fitting *f, double missing)
{
    f->missing = missing;
    f->cost = total_cost(f);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t a = 0; a < f->count; a++) {
            changed |= try_roles(f, a, NULL, a, NULL);
            for (uint32_t b = 0; b < a; b++)
                changed |= try_roles(f, a, f->given[b], b, f->given[a]);
            for (uint32_t r = 0; r < f->slot_count; r++) {
                const role_row *row = f->slots[r];
                if (r > 0 && f->slots[r - 1] == row) continue;
                changed |= try_roles(f, a, row, a, row);
                for (uint32_t b = 0; row->most > 1 && b < a; b++)
                    if (cutis_limbs_unlike(&f->limbs[a], &f->limbs[b]) < A_PAIR)
                        changed |= try_roles(f, a, row, b, row);
            }
        }
    }
}

static void first_roles(fitting *f)
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
                        ? (f->slots[j]->rare ? 0 : NOT_THERE)
                        : MISSING;
            costs[i][j] = c;
        }
    assign(costs, n + m, column);
    for (uint32_t i = 0; i < n; i++) f->given[i] = column[i] < m ? f->slots[column[i]] : NULL;
}

// Roles at random; the same ones for the same number of limbs.
static void random_roles(fitting *f, uint32_t *seed)
{
    memset(f->given, 0, sizeof f->given);
    for (uint32_t s = 0; s < f->slot_count && f->count > 0; s++) {
        *seed = *seed * 1664525u + 1013904223u;
        f->given[(*seed >> 8) % f->count] = f->slots[s];
    }
}

// From many beginnings: what each limb looks like, and any.
void cutis_kind_fit(const cutis_limb *limbs, uint32_t count, double diagonal,
                    const cutis_role *told, cutis_kind kind, cutis_kind_match *out)
{
    fitting f = {
        .limbs = limbs, .count = count, .diagonal = diagonal, .told = told, .kind = kind
    };
    uint32_t on_trunk = 0;
    *out = (cutis_kind_match){ .kind = kind, .cost = INFINITY };
    for (uint32_t i = 0; i < count; i++) {
        const cutis_limb *l = &limbs[i];
        on_trunk += l->carrier == CUTIS_NOTHING;
        const double values[FEATURES] = { l->length / diagonal, l->thickness / diagonal, l->bulge,
                                          l->opening, l->flatness };
        for (int k = 0; k < FEATURES; k++) f.features[i][k] = fixed_log(fmax(values[k], 1e-6));
    }
    for (size_t r = 0; r < ROLE_ROWS; r++)
        for (int i = 0; ROLES[r].kind == kind && i < ROLES[r].most; i++)
            f.slots[f.slot_count++] = &ROLES[r];
    for (uint32_t start = 0, seed = 1; start < STARTS; start++) {
        f.missing = MISSING;
        if (start == 0)
            first_roles(&f);
        else
            random_roles(&f, &seed);
        improve(&f, FORCED);
        improve(&f, MISSING);
        if (f.cost / (on_trunk + 2.) >= out->cost) continue;
        out->cost = f.cost / (on_trunk + 2.);
        for (uint32_t i = 0; i < count; i++)
            out->roles[i] = f.given[i] ? f.given[i]->role : CUTIS_ROLE_NONE;
    }
}

void cutis_kind_find(const cutis_limb *limbs, uint32_t count, double diagonal,
                     const cutis_role *told, cutis_kind_match *out, cutis_kind *next,
                     double *second)
{
    *second = INFINITY, *next = CUTIS_KIND_COUNT;
    for (int k = 0; k < CUTIS_KIND_ANY; k++) {
        cutis_kind_match match;
        cutis_kind_fit(limbs, count, diagonal, told, (cutis_kind)k, &match);
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
        if (kind == CUTIS_KIND_QUADRUPED && ROLES[r].role == CUTIS_ROLE_HEAD) {
            uint32_t ears = 0;
            for (uint32_t i = 0; i < count; i++) ears += roles[i] == CUTIS_ROLE_EAR;
            if (ears == 2) continue;
        }
        *has = n, *needs = (uint32_t)ROLES[r].least;
        return ROLES[r].role;
    }
    return CUTIS_ROLE_NONE;
}
