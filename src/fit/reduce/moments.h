/// Reduction by moments (docs/spec/reduction.md 2.8): poses are streamed once into a quadratic form
/// of the weights, and sets and weights are chosen on it.
///
/// Invariants: the form and its minimum depend on the problem and the poses only, not on threads;
/// every step of the solver lowers the form's value.
#ifndef CUTIS_FIT_REDUCE_MOMENTS_H
#define CUTIS_FIT_REDUCE_MOMENTS_H

#include "device/compute/moments.h"
#include "fit/reduce/model.h"

/// Candidates of a vertex at most, and where the form would be too large; controls that can be
/// kept.
enum {
    CUTIS_MOMENTS_WIDE = 32,
    CUTIS_MOMENTS_NARROW = 16,
    CUTIS_MOMENTS_SET = 16,
    CUTIS_MOMENTS_KINDS = 2
};

/// Poses of one kind: their normals and positions are counted in units of what k-largest does.
typedef struct cutis_moments_poses {
    const double *matrices; ///< 12 per pose and control (pose-major)
    uint32_t count;
    double normal, position; ///< weights of both in the form
} cutis_moments_poses;

/// The form, and the part of the mesh that it is about. Units that may change are *free*: those
/// with more influences than are kept (and on small problems their neighbours). Welds are the
/// places of normals that a free unit can change.
typedef struct cutis_moments {
    cutis_context *context;
    cutis_device *device; ///< a CPU device
    cutis_device *gpu;    ///< that makes forms; NULL: the CPU device does
    const cutis_reduce_group *group;
    uint32_t control_count;
    uint32_t influences;   ///< kept at most
    uint32_t limit;        ///< of candidates
    bool every;            ///< all units with more than one influence are free
    const uint8_t *closed; ///< per influence of the group: it cannot be kept; NULL: all can
    const uint8_t *most;   ///< per free unit: kept at most, 0: its weights stay; NULL: `influences`
    const double *prior;   ///< per influence: weights to start from; NULL: the group's
    uint32_t free_count, *free_unit;
    int32_t *unit_free;   ///< per unit, or -1
    uint32_t *slot_first; ///< free_count + 1: candidates
    uint32_t *slot;       ///< place among the unit's original influences, ascending
    uint32_t weld_count;
    /// Welds stand in *clumps* of some that lie together (moments_clump.c), whose units and faces
    /// are listed once: first weld, place in listed_unit and place in face of every clump (and
    /// their ends).
    uint32_t clump_count, *clump_weld, *clump_unit, *clump_face;
    uint32_t *listed_unit; ///< units, clump after clump
    int32_t *listed_place; ///< its number among the free ones if this is the first time, else -1
    uint32_t *face;        ///< three places in listed_unit each
    uint32_t *weld_face, *fan;  ///< weld_count + 1: faces of a weld's fan
    uint32_t *weld_rim, *rim;   ///< weld_count + 1: free units whose errors turn its normal
    uint32_t *rim_free;         ///< the same as numbers of free units
    uint32_t *rim_edge, *edges; ///< rims + 1: edges that an error there is multiplied with: places
                                ///< in listed_unit, to and from
    uint32_t *weld_candidates;  ///< per weld: of all free units of its faces
    double *copies;             ///< per weld: root of its number of vertices
    double *unit_copies;        ///< per unit: its number of vertices
    uint32_t *in_first;         ///< free_count + 1: welds that a free unit is in the rim of
    uint32_t *in, *in_rim;      ///< the weld, ascending; the place in rim
    size_t *near_first; ///< free_count + 1: free units that share a weld, ascending, itself too
    uint32_t *near;
    size_t *entry;               ///< per near: its block in `value`
    uint32_t *edge_first, *edge; ///< free neighbours along edges
    size_t value_count;
    double *value;       ///< blocks of normals: candidates of the near unit by those of the own
    size_t *place_first; ///< free_count + 1
    double *place;       ///< of positions: n * n
    double unit[CUTIS_MOMENTS_KINDS]; ///< what k-largest does to normals, by kind
    /// Forms of each kind of poses by themselves, kept so that they can be mixed again: normals
    /// (NULL: there is no room), positions, what k-largest does to these.
    double *kind_value[CUTIS_MOMENTS_KINDS], *kind_place[CUTIS_MOMENTS_KINDS];
    double place_unit[CUTIS_MOMENTS_KINDS];
    bool roomy; ///< they may be kept: three times the form's memory
    /// About a bent surface the form's value is a^T H a - 2 linear^T a + constant; else these are
    /// NULL and 0.
    const double *linear;
    double constant;
    double form_seconds, form_products; ///< of all forms made: processor time, multiply-adds
} cutis_moments;

/// Fans of welds while a form is opened: units around a weld (ring), its triangles and their
/// corners as three places in the ring; the weld of a unit (UINT32_MAX: none).
typedef struct cutis_moments_fans {
    uint32_t *ring_first, *ring, *first, *triangle, *corner;
    const uint32_t *unit_weld;
} cutis_moments_fans;

/// Put welds that lie together into clumps: renumbers them, fills in clumps, rims and fans.
bool cutis_moments_clump(cutis_moments *m, const cutis_moments_fans *fans, cutis_arena *arena,
                         cutis_arena *own);

/// What may change and what it touches; no poses yet. @param limit of candidates
cutis_result cutis_moments_open(cutis_moments *m, cutis_arena *arena);
/// Doubles behind the form's, so that a row can be read as if it had so many entries at least.
enum { CUTIS_MOMENTS_BEYOND = 8 };
/// Bytes that the form of an opened problem takes.
double cutis_moments_size(const cutis_moments *m);
/// Stream the poses into the form. @param start weights of the candidates that errors are counted
/// in units of: k-largest
cutis_result cutis_moments_form(cutis_moments *m, cutis_arena *arena,
                                const cutis_moments_poses *poses, uint32_t kind_count,
                                const double *start);

/// The same about the surface that given weights make (a step of Gauss and Newton): how far its
/// normals are from the original ones is taken as it is, not to first order.
struct cutis_moments_state;
cutis_result cutis_moments_bend(cutis_moments *m, cutis_arena *arena,
                                const cutis_moments_poses *poses, uint32_t kind_count,
                                const struct cutis_moments_state *state);

/// Weights of the free units: `influences` places each, `count` of them used, by candidate.
typedef struct cutis_moments_state {
    uint8_t *count, *index;
    double *weight;
    double energy; ///< of the form
} cutis_moments_state;

/// Weights that a free unit may keep at most.
static inline uint32_t cutis_moments_most(const cutis_moments *m, uint32_t f)
{
    return m->most ? m->most[f] : m->influences;
}
/// The weight that a unit's influence starts from.
static inline double cutis_moments_prior(const cutis_moments *m, uint32_t unit, uint32_t slot)
{
    return (m->prior ? m->prior : m->group->weight)[m->group->first[unit] + slot];
}

bool cutis_moments_state_create(const cutis_moments *m, cutis_arena *arena,
                                cutis_moments_state *out);
void cutis_moments_copy(const cutis_moments *m, const cutis_moments_state *from, uint32_t free,
                        cutis_moments_state *to);
/// The K largest of `keys` per candidate, weighted as the original is.
void cutis_moments_pick(const cutis_moments *m, const double *keys, cutis_moments_state *out);
/// Value of the form, by its definition.
double cutis_moments_energy(const cutis_moments *m, const cutis_moments_state *state);

/// One vertex's problem: least a^T G a - 2 h^T a over weights >= 0 with sum 1, at most `most` of
/// them (all subsets where there are few, else swaps from the set that is given).
/// @param count in: of the set to start from (0: none); @param index, weight  set and weights
void cutis_moments_local(uint32_t n, const double *gram, const double *right, uint32_t most,
                         uint8_t *count, uint8_t *index, double *weight);

/// How hard to search.
typedef struct cutis_moments_effort {
    uint32_t starts; ///< random ones, besides k-largest and positions
    uint64_t seed;
} cutis_moments_effort;

/// Least value found. @param state in: weights to start from as well, if its energy is >= 0
/// @param curve at most CUTIS_MOMENTS_CURVE values: the start's, and after every stage
enum { CUTIS_MOMENTS_CURVE = 8 };
cutis_result cutis_moments_solve(const cutis_moments *m, cutis_arena *arena,
                                 const cutis_moments_effort *effort, cutis_moments_state *state,
                                 double *curve, uint32_t *curve_count);

/// Sweeps from a state until they gain little. @param select sets may change
cutis_result cutis_moments_settle(const cutis_moments *m, cutis_arena *arena, bool select,
                                  cutis_moments_state *state);

/// Sweeps from a state (moments_solve.c). `dirty`: free_count bytes, 1 where a vertex's
/// surroundings have changed since it was updated.
typedef struct cutis_moments_work {
    const cutis_moments *m;
    double places; ///< weight of the positions' part; 1 in the end
    cutis_moments_state *state;
    uint8_t *dirty;
} cutis_moments_work;
/// A vertex's problem with the others as they are: a^T gram a + 2 force^T a. @return its candidates
uint32_t cutis_moments_load(const cutis_moments_work *w, uint32_t f, double *gram, double *force);
/// @return the fall of the form's value
double cutis_moments_update(cutis_moments_work *w, uint32_t f, bool select);
/// Replace a vertex's weights. @return the change of the form's value
double cutis_moments_replace(cutis_moments_work *w, uint32_t f, const cutis_moments_state *from);
double cutis_moments_sweep(cutis_moments_work *w, bool select);

#endif
