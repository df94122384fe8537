/// Made-up skins for device tests: a layout and frames as deform would build them, with every
/// option of the interface, and the plain double reference written from the formulas of the
/// docs/spec/blending.md. No library code is used.
///
/// Nasty cases hold weights of 0 in the shared lists, subnormal weights, matrices with +-0,
/// subnormals and large values; they are for comparing bits. Tame ones are for comparing with the
/// reference.
#ifndef CUTIS_TESTS_SKIN_CASE_H
#define CUTIS_TESTS_SKIN_CASE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

typedef struct skin_options {
    uint64_t seed;
    cutis_formula formula;
    cutis_normal_rule normal_rule;
    uint32_t block_size, vertex_count, bone_count, influences; ///< at most `influences` each
    uint32_t instance_count, target_count;
    uint32_t pose_count; ///< WPSD: a multiple of 4
    bool tangents, linear_normals, blend, gaussian;
    bool nasty;      ///< see above
    bool shuffled;   ///< output vertices of a block are not consecutive
    bool nonuniform; ///< every second instance is
} skin_options;

typedef struct skin_case {
    skin_options options;
    cutis_skin_layout layout;
    cutis_skin_frames frames;
    uint32_t owned_count;
    void *owned[64];
    const float *rest; ///< 3 per vertex, in output order; the same for the next ones
    const float *rest_normal, *rest_tangent, *centre, *blend,
        *delta;                           ///< delta: 9 per target and vertex
    const float *pose_field, *pose_scale; ///< field: e, s, n (7) per vertex and pose
    const uint32_t *set;
} skin_case;

// Random numbers: splitmix64 --------------------------------------------------------------------

static inline uint64_t case_hash(uint64_t *state)
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
}

static inline double case_in(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(case_hash(state) >> 11) * 0x1p-53;
}

static inline uint32_t case_below(uint64_t *state, uint32_t n)
{
    return (uint32_t)(case_hash(state) % n);
}

static inline void *case_alloc(skin_case *c, size_t count, size_t item)
{
    void *memory = calloc(count ? count : 1, item);
    if (!memory || c->owned_count == 64) abort();
    return c->owned[c->owned_count++] = memory;
}

static inline void skin_case_free(skin_case *c)
{
    for (uint32_t i = 0; i < c->owned_count; i++) free(c->owned[i]);
    memset(c, 0, sizeof *c);
}

// A value that is hard on arithmetic: +-0, subnormal, huge or plain.
static inline float case_nasty(uint64_t *state, float plain)
{
    switch (case_below(state, 12)) {
    case 0:
        return 0.0f;
    case 1:
        return -0.0f;
    case 2:
        return (float)case_in(state, -1e-39, 1e-39);
    case 3:
        return (float)case_in(state, -1e-44, 1e-44);
    case 4:
        return (float)case_in(state, -1e8, 1e8);
    default:
        return plain;
    }
}

// Influences ------------------------------------------------------------------------------------

static inline int case_compare_bones(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/// first, bone, weight: ascending bones, weights > 0 that sum to one. Bones of a vertex are near
/// each other, so that sets repeat.
static inline void case_influences(skin_case *c, uint64_t *state)
{
    const skin_options *o = &c->options;
    uint32_t *first = case_alloc(c, o->vertex_count + 1, sizeof *first);
    uint32_t *bone = case_alloc(c, (size_t)o->vertex_count * o->influences, sizeof *bone);
    float *weight = case_alloc(c, (size_t)o->vertex_count * o->influences, sizeof *weight);
    uint32_t n = 0;
    for (uint32_t v = 0; v < o->vertex_count; v++) {
        uint32_t count = 1 + case_below(state, o->influences),
                 base = case_below(state, o->bone_count);
        double w[64], sum = 0;
        first[v] = n;
        if (count > o->bone_count) count = o->bone_count;
        for (uint32_t i = 0; i < count; i++) {
            bone[n + i] = (base + i) % o->bone_count;
            w[i] = case_in(state, 0.1, 1);
            if (o->nasty && case_below(state, 6) == 0) w[i] = case_in(state, 1e-44, 1e-39);
            sum += w[i];
        }
        qsort(bone + n, count, sizeof *bone, case_compare_bones);
        for (uint32_t i = 0; i < count; i++) {
            float f = (float)(w[i] / sum);
            weight[n + i] = f > 0 ? f : 1e-45f;
        }
        n += count;
    }
    first[o->vertex_count] = n;
    c->layout.first = first;
    c->layout.bone = bone;
    c->layout.weight = weight;
}

static inline uint32_t case_count(const skin_case *c, uint32_t v)
{
    return c->layout.first[v + 1] - c->layout.first[v];
}

static inline bool case_same_bones(const skin_case *c, uint32_t a, uint32_t b)
{
    return case_count(c, a) == case_count(c, b) &&
           memcmp(c->layout.bone + c->layout.first[a], c->layout.bone + c->layout.first[b],
                  case_count(c, a) * sizeof(uint32_t)) == 0;
}

static const skin_case *case_sorting;
static inline int case_compare_vertices(const void *a, const void *b)
{
    const cutis_skin_layout *l = &case_sorting->layout;
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const uint32_t n = case_count(case_sorting, x), m = case_count(case_sorting, y);
    for (uint32_t i = 0; i < n && i < m; i++) {
        const uint32_t p = l->bone[l->first[x] + i], q = l->bone[l->first[y] + i];
        if (p != q) return p < q ? -1 : 1;
    }
    if (n != m) return n < m ? -1 : 1;
    return (x > y) - (x < y);
}

// Blocks ----------------------------------------------------------------------------------------

/// Slots: vertices sorted by bone set (or as they come, then lists are long), the last block
/// padded.
static inline void case_slots(skin_case *c)
{
    const skin_options *o = &c->options;
    cutis_skin_layout *l = &c->layout;
    l->block_count = (o->vertex_count + o->block_size - 1) / o->block_size;
    const uint32_t slots = l->block_count * o->block_size;
    uint32_t *vertices = case_alloc(c, slots, sizeof *vertices);
    uint32_t *slot_of = case_alloc(c, o->vertex_count, sizeof *slot_of);
    for (uint32_t i = 0; i < slots; i++) vertices[i] = i < o->vertex_count ? i : CUTIS_NO_VERTEX;
    case_sorting = c;
    if (o->shuffled) qsort(vertices, o->vertex_count, sizeof *vertices, case_compare_vertices);
    for (uint32_t i = 0; i < slots; i++)
        if (vertices[i] != CUTIS_NO_VERTEX) slot_of[vertices[i]] = i;
    l->vertices = vertices;
    l->vertex_slot = slot_of;
}

static inline void case_lists(skin_case *c)
{
    const skin_options *o = &c->options;
    cutis_skin_layout *l = &c->layout;
    uint32_t *list_first = case_alloc(c, l->block_count + 1, sizeof *list_first);
    uint32_t *list_bone = case_alloc(c, (size_t)l->block_count * o->bone_count, sizeof *list_bone);
    float *weights =
        case_alloc(c, (size_t)l->block_count * o->bone_count * o->block_size, sizeof *weights);
    uint32_t n = 0;
    for (uint32_t k = 0; k < l->block_count; k++) {
        list_first[k] = n;
        for (uint32_t b = 0; b < o->bone_count; b++) {
            bool used = false;
            for (uint32_t s = 0; s < o->block_size; s++) {
                const uint32_t v = l->vertices[k * o->block_size + s];
                if (v == CUTIS_NO_VERTEX) continue;
                for (uint32_t i = l->first[v]; i < l->first[v + 1]; i++) {
                    if (l->bone[i] != b) continue;
                    weights[(size_t)n * o->block_size + s] = l->weight[i];
                    used = true;
                }
            }
            if (used) list_bone[n++] = b;
        }
        for (uint32_t s = 0; s < o->block_size; s++)
            if (l->vertices[k * o->block_size + s] == CUTIS_NO_VERTEX)
                weights[(size_t)list_first[k] * o->block_size + s] = 1;
    }
    list_first[l->block_count] = n;
    l->list_first = list_first;
    l->list_bone = list_bone;
    l->weights = weights;
}

/// `width` planes per block from values by vertex.
static inline float *case_planes(skin_case *c, const float *by_vertex, uint32_t width)
{
    const uint32_t size = c->options.block_size;
    float *planes = case_alloc(c, (size_t)c->layout.block_count * size * width, sizeof *planes);
    for (uint32_t i = 0; i < c->layout.block_count * size; i++) {
        const uint32_t v = c->layout.vertices[i];
        for (uint32_t p = 0; p < width && v != CUTIS_NO_VERTEX; p++)
            planes[((size_t)(i / size) * width + p) * size + i % size] =
                by_vertex[(size_t)v * width + p];
    }
    return planes;
}

static inline float *case_random(skin_case *c, uint64_t *state, size_t count, double size,
                                 bool nasty)
{
    float *values = case_alloc(c, count, sizeof *values);
    for (size_t i = 0; i < count; i++) {
        values[i] = (float)case_in(state, -size, size);
        if (nasty) values[i] = case_nasty(state, values[i]);
    }
    return values;
}

static inline void case_sets(skin_case *c)
{
    const skin_options *o = &c->options;
    uint32_t *set = case_alloc(c, o->vertex_count, sizeof *set);
    uint32_t *lead = case_alloc(c, o->vertex_count, sizeof *lead);
    const uint32_t slots = c->layout.block_count * o->block_size;
    uint32_t *by_slot = case_alloc(c, slots, sizeof *by_slot);
    uint32_t count = 0;
    for (uint32_t v = 0; v < o->vertex_count; v++) {
        set[v] = CUTIS_NO_SET;
        if (case_count(c, v) < 2) continue;
        for (uint32_t s = 0; s < count && set[v] == CUTIS_NO_SET; s++)
            if (case_same_bones(c, lead[s], v)) set[v] = s;
        if (set[v] == CUTIS_NO_SET) {
            lead[count] = v;
            set[v] = count++;
        }
    }
    for (uint32_t i = 0; i < slots; i++)
        by_slot[i] =
            c->layout.vertices[i] == CUTIS_NO_VERTEX ? CUTIS_NO_SET : set[c->layout.vertices[i]];
    c->set = set;
    c->layout.set_count = count;
    c->layout.sets = by_slot;
}

static inline void case_morphs(skin_case *c, uint64_t *state)
{
    const skin_options *o = &c->options;
    cutis_skin_layout *l = &c->layout;
    const uint32_t groups = 1 + (o->normal_rule != CUTIS_NORMAL_NONE) + o->tangents;
    const size_t entries = (size_t)l->block_count * o->target_count;
    float *delta =
        case_random(c, state, (size_t)o->target_count * o->vertex_count * 9, 0.1, o->nasty);
    uint32_t *first = case_alloc(c, l->block_count + 1, sizeof *first);
    uint32_t *target = case_alloc(c, entries, sizeof *target);
    float *planes = case_alloc(c, entries * groups * 3 * o->block_size, sizeof *planes);
    uint32_t n = 0;
    for (uint32_t k = 0; k < l->block_count; k++) {
        first[k] = n;
        for (uint32_t t = 0; t < o->target_count; t++) {
            if ((k + t) % 3 == 2) { // not every target moves every block
                for (uint32_t s = 0; s < o->block_size; s++) {
                    const uint32_t v = l->vertices[k * o->block_size + s];
                    if (v != CUTIS_NO_VERTEX)
                        memset(delta + ((size_t)t * o->vertex_count + v) * 9, 0, 9 * sizeof *delta);
                }
                continue;
            }
            float *out = planes + (size_t)n * groups * 3 * o->block_size;
            for (uint32_t g = 0, from = 0; g < groups; g++, from += 3) {
                if (g == 1 && o->normal_rule == CUTIS_NORMAL_NONE) from = 6;
                for (uint32_t p = 0; p < 3; p++)
                    for (uint32_t s = 0; s < o->block_size; s++) {
                        const uint32_t v = l->vertices[k * o->block_size + s];
                        if (v != CUTIS_NO_VERTEX)
                            out[(g * 3 + p) * o->block_size + s] =
                                delta[((size_t)t * o->vertex_count + v) * 9 + from + p];
                    }
            }
            target[n++] = t;
        }
    }
    first[l->block_count] = n;
    c->delta = delta;
    l->target_count = o->target_count;
    l->morph_first = first;
    l->morph_target = target;
    l->morph_delta = planes;
}

/// Fields of every vertex (the last pose is padding in some cases), and their kernels' scales.
static inline void case_poses(skin_case *c, uint64_t *state)
{
    const skin_options *o = &c->options;
    cutis_skin_layout *l = &c->layout;
    const size_t planes = o->normal_rule != CUTIS_NORMAL_NONE ? 7 : 4, poses = o->pose_count;
    float *field = case_random(c, state, o->vertex_count * poses * 7, 0.1, o->nasty);
    float *scale = case_random(c, state, o->vertex_count, 3, false);
    float *flat = case_alloc(c, o->vertex_count * poses * planes, sizeof *flat);
    for (size_t i = 0; i < o->vertex_count * poses; i++) {
        field[7 * i + 3] = (float)case_in(state, 0.5, 1);
        if (o->seed % 2 && i % poses == poses - 1) memset(field + 7 * i, 0, 7 * sizeof *field);
        memcpy(flat + planes * i, field + 7 * i, planes * sizeof *flat);
    }
    for (uint32_t v = 0; v < o->vertex_count; v++) scale[v] = v % 7 == 3 ? 0 : fabsf(scale[v]);
    float *planes_of = case_planes(c, flat, (uint32_t)(poses * planes));
    for (uint32_t i = 0; i < l->block_count * o->block_size; i++)
        if (l->vertices[i] == CUTIS_NO_VERTEX)
            planes_of[(i / o->block_size * poses * planes + 3) * o->block_size +
                      i % o->block_size] = 1;
    l->pose_count = o->pose_count;
    l->pose_gaussian = o->gaussian;
    l->pose_fields = planes_of;
    l->pose_scales = case_planes(c, scale, 1);
    c->pose_field = field;
    c->pose_scale = scale;
}

static inline void case_layout(skin_case *c, uint64_t *state)
{
    const skin_options *o = &c->options;
    cutis_skin_layout *l = &c->layout;
    l->formula = o->formula;
    l->normal_rule = o->normal_rule;
    l->tangents = o->tangents;
    l->linear_normals = o->linear_normals;
    l->block_size = o->block_size;
    l->vertex_count = o->vertex_count;
    l->bone_count = o->bone_count;
    case_influences(c, state);
    case_slots(c);
    case_lists(c);
    c->rest = case_random(c, state, 3 * (size_t)o->vertex_count, 1, o->nasty);
    l->positions = case_planes(c, c->rest, 3);
    if (o->normal_rule != CUTIS_NORMAL_NONE) {
        c->rest_normal = case_random(c, state, 3 * (size_t)o->vertex_count, 1, o->nasty);
        l->normals = case_planes(c, c->rest_normal, 3);
    }
    if (o->tangents) {
        float *t = case_random(c, state, 4 * (size_t)o->vertex_count, 1, o->nasty);
        for (uint32_t v = 0; v < o->vertex_count; v++) t[4 * v + 3] = t[4 * v + 3] < 0 ? -1 : 1;
        c->rest_tangent = t;
        l->tangents_rest = case_planes(c, t, 4);
    }
    if (o->formula == CUTIS_FORMULA_SBS) case_sets(c);
    if (o->formula == CUTIS_FORMULA_COR) {
        float *centre = case_random(c, state, 3 * (size_t)o->vertex_count, 1, o->nasty);
        for (uint32_t v = 0; v < o->vertex_count; v++)
            if (case_count(c, v) == 1) memcpy(centre + 3 * v, c->rest + 3 * v, 12);
        c->centre = centre;
        l->centres = case_planes(c, centre, 3);
    }
    if (o->formula == CUTIS_FORMULA_SBS_WEIGHTED)
        l->origins = case_random(c, state, 3 * (size_t)o->bone_count, 1, o->nasty);
    if (o->blend) {
        float *f = case_random(c, state, o->vertex_count, 1, false);
        for (uint32_t v = 0; v < o->vertex_count; v++)
            f[v] = v % 5 == 0 ? 0 : v % 5 == 1 ? 1 : fabsf(f[v]);
        c->blend = f;
        l->blend = case_planes(c, f, 1);
    }
    if (o->target_count) case_morphs(c, state);
    if (o->pose_count) case_poses(c, state);
}

// Frames ----------------------------------------------------------------------------------------

static inline void case_rotation(const double q[4], double r[9])
{
    const double w = q[0], x = q[1], y = q[2], z = q[3];
    const double m[9] = { w * w + x * x - y * y - z * z, 2 * (x * y - w * z),
                          2 * (x * z + w * y),           2 * (x * y + w * z),
                          w * w - x * x + y * y - z * z, 2 * (y * z - w * x),
                          2 * (x * z - w * y),           2 * (y * z + w * x),
                          w * w - x * x - y * y + z * z };
    memcpy(r, m, sizeof m);
}

/// (0, t) q / 2
static inline void case_dual(const double t[3], const double q[4], double e[4])
{
    e[0] = -0.5 * (t[0] * q[1] + t[1] * q[2] + t[2] * q[3]);
    e[1] = 0.5 * (t[0] * q[0] + t[1] * q[3] - t[2] * q[2]);
    e[2] = 0.5 * (t[1] * q[0] + t[2] * q[1] - t[0] * q[3]);
    e[3] = 0.5 * (t[2] * q[0] + t[0] * q[2] - t[1] * q[1]);
}

static inline void case_bone(skin_case *c, uint64_t *state, size_t bone, bool nonuniform,
                             float *matrix, float *rotation, float *dual, float *stretch)
{
    double q[4], r[9], e[4], t[3], s[6], length = 0;
    for (int i = 0; i < 4; i++) {
        q[i] = case_in(state, -1, 1) +
               (i == 0 && !c->options.nasty ? 1.5 : 0); // tame: not too far apart
        length += q[i] * q[i];
    }
    for (int i = 0; i < 4; i++) q[i] /= sqrt(length);
    if (case_below(state, 2))
        for (int i = 0; i < 4; i++) q[i] = -q[i];
    for (int i = 0; i < 3; i++) t[i] = case_in(state, -2, 2);
    const double mirror = nonuniform && bone % 7 == 3 ? -1 : 1;
    for (int i = 0; i < 6; i++) s[i] = mirror * case_in(state, -0.2, 0.2);
    s[0] += mirror, s[3] += mirror, s[5] += mirror;
    case_rotation(q, r);
    case_dual(t, q, e);
    const double full[9] = { s[0], s[1], s[2], s[1], s[3], s[4], s[2], s[4], s[5] };
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            double l = r[3 * i + j];
            if (nonuniform)
                l = r[3 * i] * full[j] + r[3 * i + 1] * full[3 + j] + r[3 * i + 2] * full[6 + j];
            matrix[4 * i + j] = (float)l;
        }
        matrix[4 * i + 3] = (float)t[i];
    }
    for (int i = 0; i < 4; i++) rotation[i] = (float)q[i], dual[i] = (float)e[i];
    for (int i = 0; i < 6; i++) stretch[i] = (float)s[i];
    if (!c->options.nasty) return;
    for (int i = 0; i < 12; i++) matrix[i] = case_nasty(state, matrix[i]);
    for (int i = 0; i < 4; i++) rotation[i] = case_nasty(state, rotation[i]);
    for (int i = 0; i < 4; i++) dual[i] = case_nasty(state, dual[i]);
    for (int i = 0; i < 6; i++) stretch[i] = case_nasty(state, stretch[i]);
}

static inline void case_frames(skin_case *c, uint64_t *state)
{
    const skin_options *o = &c->options;
    const size_t bones = (size_t)o->bone_count * o->instance_count;
    float *matrices = case_alloc(c, 12 * bones, sizeof *matrices);
    float *rotations = case_alloc(c, 4 * bones, sizeof *rotations);
    float *duals = case_alloc(c, 4 * bones, sizeof *duals);
    float *stretches = case_alloc(c, 6 * bones, sizeof *stretches);
    float *scales = case_alloc(c, o->instance_count, sizeof *scales);
    uint32_t *nonuniform = case_alloc(c, o->instance_count, sizeof *nonuniform);
    for (uint32_t n = 0; n < o->instance_count; n++) {
        static const float SCALES[4] = { 1, 0.01f, -1, 2.5f };
        nonuniform[n] = o->nonuniform && n % 2;
        scales[n] = nonuniform[n] ? 1 : SCALES[n / 2 % 4];
        for (uint32_t b = 0; b < o->bone_count; b++) {
            const size_t i = (size_t)n * o->bone_count + b;
            case_bone(c, state, b, nonuniform[n], matrices + 12 * i, rotations + 4 * i,
                      duals + 4 * i, stretches + 6 * i);
        }
    }
    float *centres =
        case_random(c, state, 4 * (size_t)c->layout.set_count * o->instance_count, 1, o->nasty);
    float *targets =
        case_random(c, state, (size_t)o->target_count * o->instance_count, 1, o->nasty);
    for (uint32_t i = 0; i < o->target_count * o->instance_count; i += 4) targets[i] = 0;
    float *squares = case_random(c, state, bones * o->pose_count, 9, false);
    for (size_t i = 0; i < bones * o->pose_count; i++) {
        squares[i] = squares[i] < 0 ? 0 : squares[i];
        if (o->seed % 2 && i % o->pose_count == o->pose_count - 1) squares[i] = 1e30f;
    }
    c->frames = (cutis_skin_frames){ .instance_count = o->instance_count,
                                     .matrices = matrices,
                                     .rotations = rotations,
                                     .duals = duals,
                                     .stretches = stretches,
                                     .centres = c->layout.set_count ? centres : NULL,
                                     .scales = scales,
                                     .nonuniform = nonuniform,
                                     .targets = o->target_count ? targets : NULL,
                                     .pose_squares = o->pose_count ? squares : NULL };
}

static inline void skin_case_make(skin_case *c, const skin_options *options)
{
    uint64_t state = options->seed;
    memset(c, 0, sizeof *c);
    c->options = *options;
    case_layout(c, &state);
    case_frames(c, &state);
}

#endif
