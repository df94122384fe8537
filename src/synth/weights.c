/// For every joint j: the indicator of its subtree's parts is smoothed by three implicit heat steps
/// (M + tau L) u' = M u into S_j, and w_j = S_j - sum over children S_c. The sum over all joints
/// telescopes to S_root = 1, so nothing needs normalising; L is an M-matrix, so every S stays in
/// [0, 1]. Solves are local: beyond REACH blend widths from the loop S is 0 or 1 to 1e-8 and is
/// left so.
#include "synth/surface.h"

#include "base/error.h"
#include "geometry/half_edge.h"
#include "geometry/order.h"

#include <string.h>

/// A step's kernel decays as exp(-4 x / blend): 4.5 blends away 1e-8 is left, far below THRESHOLD.
static const double REACH = 4.5;
/// Subtracted, not cut, so that weights stay continuous.
static const double THRESHOLD = 3e-4;
/// 5-95 % width of the three steps in units of sqrt(tau * 6).
static const double WIDTH = 1.64;
static const double TOLERANCE = 1e-12;
enum { INFLUENCES = 8, HEAT_STEPS = 3, SOLVE_MAX = 2000, ROW_STEP = 4 };

/// Cotangent Laplacian and lumped areas of the whole surface. Not fit/reduce/mesh.c's, which takes
/// any mesh, clamps slivers and has mixed areas: characters keep their bits.
typedef struct laplacian {
    uint32_t *first, *neighbours; ///< neighbours of v: first[v] .. first[v + 1]
    double *weights;              ///< (cot a + cot b) / 2 of the edge, clamped at 0
    double *mass;
} laplacian;

/// One joint's system on its active vertices; neighbours outside are known values. Its rows stand
/// side by side in the order of the active vertices: every step reads all of them, and the
/// surface's own order jumps about in memory.
typedef struct solver {
    const laplacian *l;
    double tau;
    uint32_t count;
    uint32_t *active;         ///< vertices
    int32_t *local;           ///< per vertex: place in active, or -1
    uint32_t *first, *column; ///< active neighbours of active vertex i: first[i] .. first[i + 1]
    double *weights;
    double *diagonal, *right, *residual, *direction, *image, *scaled;
} solver;

/// Adds half a cotangent to the entry a -> b.
static void add_cotangent(laplacian *l, uint32_t a, uint32_t b, double value)
{
    for (uint32_t i = l->first[a]; i < l->first[a + 1]; i++)
        if (l->neighbours[i] == b) l->weights[i] += value;
}

/// In a closed surface every directed edge is in one triangle, so the edges that leave v are its
/// neighbours.
static void build_laplacian(laplacian *l, const synth_surface *s)
{
    order_by_key(s->triangles, 3 * (size_t)s->triangle_count, s->vertex_count, l->first,
                 l->neighbours);
    for (uint32_t h = 0; h < 3 * s->triangle_count; h++)
        l->neighbours[h] = s->triangles[half_next(l->neighbours[h])];
    for (uint32_t t = 0; t < s->triangle_count; t++) {
        const uint32_t *v = s->triangles + 3 * (size_t)t;
        vec3 p[3] = { s->positions[v[0]], s->positions[v[1]], s->positions[v[2]] };
        double area = v3_length(v3_normal(p[0], p[1], p[2])) / 2;
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            double half = v3_cotangent(p[i], p[j], p[k]) / 2;
            l->mass[v[i]] += area / 3;
            add_cotangent(l, v[j], v[k], half);
            add_cotangent(l, v[k], v[j], half);
        }
    }
    for (size_t i = 0; i < (size_t)s->triangle_count * 3; i++)
        if (l->weights[i] < 0) l->weights[i] = 0;
}

static bool in_subtree(const synth_skeleton *skeleton, int joint, int root)
{
    while (joint >= 0 && joint != root) joint = skeleton->joints[joint].parent;
    return joint == root;
}

/// Area share of the triangles at v that belong to the subtree: 0, 1, or between on the loop.
static void indicator(const synth_skeleton *skeleton, const synth_surface *s, const laplacian *l,
                      int joint, double *u)
{
    bool inside[SYNTH_JOINT_MAX];
    for (int j = 0; j < skeleton->joint_count; j++) inside[j] = in_subtree(skeleton, j, joint);
    memset(u, 0, (size_t)s->vertex_count * sizeof *u);
    for (uint32_t t = 0; t < s->triangle_count; t++) {
        if (!inside[s->labels[t]]) continue;
        const uint32_t *v = s->triangles + 3 * (size_t)t;
        double third =
            v3_length(v3_normal(s->positions[v[0]], s->positions[v[1]], s->positions[v[2]])) / 6;
        for (int i = 0; i < 3; i++) u[v[i]] += third;
    }
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        u[v] /= l->mass[v];
        if (u[v] > 1 - 1e-9) u[v] = 1;
    }
}

/// Vertices reached from the loop without leaving the ball of the loop's extent and REACH blends.
static void activate(solver *c, const synth_surface *s, const double *u, double blend)
{
    vec3 centre = v3(0, 0, 0);
    c->count = 0;
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        c->local[v] = -1;
        if (u[v] <= 0 || u[v] >= 1) continue;
        c->local[v] = (int32_t)c->count;
        c->active[c->count++] = v;
        centre = v3_add(centre, s->positions[v]);
    }
    centre = v3_scale(centre, 1 / (double)c->count);
    double radius = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        double far = v3_distance(centre, s->positions[c->active[i]]);
        if (far > radius) radius = far;
    }
    radius += REACH * blend;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t v = c->active[i];
        for (uint32_t k = c->l->first[v]; k < c->l->first[v + 1]; k++) {
            uint32_t n = c->l->neighbours[k];
            if (c->local[n] >= 0 || v3_distance(centre, s->positions[n]) > radius) continue;
            c->local[n] = (int32_t)c->count;
            c->active[c->count++] = n;
        }
    }
}

/// Rows end with zeros, which add exactly nothing to a sum that begins at +0: nearly all of them
/// have then one length, and the branch at their end is foreseen.
static void gather_rows(solver *c)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t v = c->active[i];
        c->first[i] = at;
        for (uint32_t k = c->l->first[v]; k < c->l->first[v + 1]; k++) {
            int32_t n = c->local[c->l->neighbours[k]];
            if (n < 0) continue;
            c->column[at] = (uint32_t)n;
            c->weights[at++] = c->l->weights[k];
        }
        for (; at % ROW_STEP != 0; at++) c->column[at] = i, c->weights[at] = 0;
    }
    c->first[c->count] = at;
}

/// out = (M + tau L) x on the active vertices, with zero outside.
/// @return x out, summed as it comes: the sum alone would wait for every addition
static double apply(const solver *c, const double *x, double *out)
{
    double product = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t *column = c->column + c->first[i], *end = c->column + c->first[i + 1];
        const double *weight = c->weights + c->first[i];
        double sum = 0;
        for (; column < end; column += ROW_STEP, weight += ROW_STEP) {
            sum += weight[0] * x[column[0]];
            sum += weight[1] * x[column[1]];
            sum += weight[2] * x[column[2]];
            sum += weight[3] * x[column[3]];
        }
        out[i] = c->diagonal[i] * x[i] - c->tau * sum;
        product += x[i] * out[i];
    }
    return product;
}

/// Right-hand side M u, with what the fixed values outside give; residual of x = u.
static void prepare(solver *c, const double *u)
{
    for (uint32_t i = 0; i < c->count; i++) {
        uint32_t v = c->active[i];
        double total = 0, sum = 0;
        for (uint32_t k = c->l->first[v]; k < c->l->first[v + 1]; k++) {
            total += c->l->weights[k];
            sum += c->l->weights[k] * u[c->l->neighbours[k]];
        }
        c->diagonal[i] = c->l->mass[v] + c->tau * total;
        c->right[i] = c->l->mass[v] * u[v];
        c->residual[i] = c->right[i] - (c->diagonal[i] * u[v] - c->tau * sum);
        c->right[i] = 0; // from here on: the change of u
    }
}

/// Conjugate gradients with Jacobi scaling for the change of u in one heat step.
static void heat_step(solver *c, double *u)
{
    prepare(c, u);
    double *change = c->right, scale = 0;
    for (uint32_t i = 0; i < c->count; i++) scale += c->l->mass[c->active[i]];
    double limit = TOLERANCE * TOLERANCE * scale, rho = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        c->direction[i] = c->scaled[i] = c->residual[i] / c->diagonal[i];
        rho += c->scaled[i] * c->residual[i];
    }
    for (int step = 0; step < SOLVE_MAX && rho > limit; step++) {
        double alpha = rho / apply(c, c->direction, c->image), next = 0;
        for (uint32_t i = 0; i < c->count; i++) {
            c->residual[i] -= alpha * c->image[i];
            c->scaled[i] = c->residual[i] / c->diagonal[i];
            next += c->scaled[i] * c->residual[i];
        }
        double beta = next / rho;
        for (uint32_t i = 0; i < c->count; i++) {
            change[i] += alpha * c->direction[i];
            c->direction[i] = c->scaled[i] + beta * c->direction[i];
        }
        rho = next;
    }
    for (uint32_t i = 0; i < c->count; i++) u[c->active[i]] += change[i];
}

static void smooth_joint(solver *c, const synth_skeleton *skeleton, const synth_surface *s,
                         int joint, double *u)
{
    double blend = skeleton->rows[skeleton->joints[joint].row]->blend;
    indicator(skeleton, s, c->l, joint, u);
    activate(c, s, u, blend);
    gather_rows(c);
    c->tau = (blend / WIDTH) * (blend / WIDTH) / 6;
    for (int i = 0; i < HEAT_STEPS; i++) heat_step(c, u);
    // The exact solution is symmetric; the last bits of the solver are made so.
    if (skeleton->joints[joint].side == 0) {
        for (uint32_t v = 0; v < s->vertex_count; v++) {
            if (s->mirror[v] <= v) continue;
            u[v] = u[s->mirror[v]] = (u[v] + u[s->mirror[v]]) / 2;
        }
    }
}

static bool solver_alloc(solver *c, cutis_arena *arena, size_t vertices, size_t halves)
{
    const size_t entries = halves + (ROW_STEP - 1) * vertices;
    double **arrays[] = { &c->diagonal,  &c->right, &c->residual,
                          &c->direction, &c->image, &c->scaled };
    c->active = cutis_arena_alloc(arena, vertices, sizeof *c->active);
    c->local = cutis_arena_alloc(arena, vertices, sizeof *c->local);
    c->first = cutis_arena_alloc(arena, vertices + 1, sizeof *c->first);
    c->column = cutis_arena_alloc(arena, entries, sizeof *c->column);
    c->weights = cutis_arena_alloc(arena, entries, sizeof *c->weights);
    bool ok = c->active && c->local && c->first && c->column && c->weights;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = cutis_arena_alloc(arena, vertices, sizeof(double));
        ok = ok && *arrays[i];
    }
    return ok;
}

/// The smoothed indicators of all joints, joint-major.
static cutis_result smooth_all(cutis_arena *arena, const synth_skeleton *skeleton,
                               const synth_surface *s, double *field)
{
    size_t vertices = s->vertex_count;
    laplacian l;
    l.first = cutis_arena_alloc(arena, vertices + 1, sizeof *l.first);
    l.neighbours = cutis_arena_alloc(arena, s->triangle_count, 3 * sizeof *l.neighbours);
    l.weights = cutis_arena_zero(arena, s->triangle_count, 3 * sizeof *l.weights);
    l.mass = cutis_arena_zero(arena, vertices, sizeof *l.mass);
    solver c = { .l = &l };
    if (!l.first || !l.neighbours || !l.weights || !l.mass ||
        !solver_alloc(&c, arena, vertices, 3 * (size_t)s->triangle_count))
        return cutis_alloc_result(arena->context);
    build_laplacian(&l, s);
    for (int j = 0; j < skeleton->joint_count; j++) {
        TRY(cutis_progress(arena->context, "weights", (double)j / (double)skeleton->joint_count));
        double *u = field + (size_t)j * vertices;
        if (j <= skeleton->part_first)
            for (size_t v = 0; v < vertices; v++) u[v] = 1;
        else if (skeleton->joints[j].side >= 0)
            smooth_joint(&c, skeleton, s, j, u);
    }
    for (int j = 0; j < skeleton->joint_count; j++) {
        if (skeleton->joints[j].side >= 0) continue;
        const double *left = field + (size_t)skeleton->joints[j].mirror * vertices;
        for (size_t v = 0; v < vertices; v++) field[(size_t)j * vertices + v] = left[s->mirror[v]];
    }
    return CUTIS_OK;
}

typedef struct entry {
    uint32_t joint;
    double weight;
} entry;

/// Telescoped weights of one vertex, thresholded, largest first; returns how many.
static uint32_t vertex_weights(const synth_skeleton *skeleton, const double *field, size_t vertices,
                               size_t v, entry *list)
{
    double w[SYNTH_JOINT_MAX];
    uint32_t count = 0;
    for (int j = 0; j < skeleton->joint_count; j++) w[j] = field[(size_t)j * vertices + v];
    for (int j = skeleton->joint_count - 1; j > 0; j--)
        w[skeleton->joints[j].parent] -= field[(size_t)j * vertices + v];
    for (int j = 0; j < skeleton->joint_count; j++) {
        double weight = w[j] - THRESHOLD;
        if (weight <= 0) continue;
        uint32_t at = count++;
        for (; at > 0 && list[at - 1].weight < weight; at--) list[at] = list[at - 1];
        list[at] = (entry){ (uint32_t)j, weight };
    }
    if (count > INFLUENCES) {
        double ninth = list[INFLUENCES].weight;
        count = INFLUENCES;
        for (uint32_t i = 0; i < count; i++) list[i].weight -= ninth;
        while (count > 1 && list[count - 1].weight <= 0) count--;
    }
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += list[i].weight;
    for (uint32_t i = 0; i < count; i++) list[i].weight /= sum;
    return count;
}

cutis_result cutis_synth_weights(cutis_arena *arena, const synth_skeleton *skeleton,
                                 const synth_surface *surface, cutis_influences *out)
{
    // What only this step needs is given back before the next one allocates.
    cutis_arena scratch = { .context = arena->context };
    size_t vertices = surface->vertex_count, joints = (size_t)skeleton->joint_count, total = 0;
    uint32_t *first = cutis_arena_alloc(arena, vertices + 1, sizeof *first);
    uint32_t *joint = cutis_arena_alloc(arena, vertices, INFLUENCES * sizeof *joint);
    float *weight = cutis_arena_alloc(arena, vertices, INFLUENCES * sizeof *weight);
    double *field = cutis_arena_alloc(&scratch, vertices, joints * sizeof *field);
    cutis_result result = CUTIS_OK;
    if (!first || !joint || !weight || !field)
        result = cutis_alloc_result(arena->context);
    else
        result = smooth_all(&scratch, skeleton, surface, field);
    for (size_t v = 0; v < vertices && result == CUTIS_OK; v++) {
        entry list[SYNTH_JOINT_MAX];
        uint32_t count = vertex_weights(skeleton, field, vertices, v, list);
        double rest = 1;
        first[v] = (uint32_t)total;
        for (uint32_t i = count; i-- > 0;) {
            // The largest takes what rounding the others left, so that floats sum to 1 within one
            // rounding.
            weight[total + i] = (float)(i == 0 ? rest : list[i].weight);
            joint[total + i] = list[i].joint;
            rest -= weight[total + i];
        }
        total += count;
    }
    cutis_arena_release(&scratch);
    if (result != CUTIS_OK) return result;
    first[vertices] = (uint32_t)total;
    *out = (cutis_influences){ first, joint, weight };
    return CUTIS_OK;
}
