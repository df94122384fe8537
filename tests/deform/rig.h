/// What the deform tests share: small skinned models, and the blending formulas in double straight
/// from docs/spec/blending.md, written apart from the library (its own polar decomposition,
/// quaternions and stacked SVD).
#ifndef CUTIS_TESTS_DEFORM_RIG_H
#define CUTIS_TESTS_DEFORM_RIG_H

#include "support.h"

#include "deform/skin.h"
#include "device/cpu/cpu.h"

#define PI 3.14159265358979323846

// Small algebra
// ------------------------------------------------------------------------------------

static inline void ref_multiply(const double *a, const double *b, double *out) // 3x3
{
    double r[9];
    for (int i = 0; i < 9; i++) {
        r[i] = 0;
        for (int k = 0; k < 3; k++) r[i] += a[i / 3 * 3 + k] * b[3 * k + i % 3];
    }
    memcpy(out, r, sizeof r);
}

static inline double ref_determinant(const double *a)
{
    return a[0] * (a[4] * a[8] - a[5] * a[7]) - a[1] * (a[3] * a[8] - a[5] * a[6]) +
           a[2] * (a[3] * a[7] - a[4] * a[6]);
}

static inline void ref_cofactor(const double *a, double *c)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            c[3 * i + j] = a[3 * i1 + j1] * a[3 * i2 + j2] - a[3 * i1 + j2] * a[3 * i2 + j1];
        }
}

static inline void ref_apply(const double *m, const double *v, double *out) // 3x4
{
    double r[3];
    for (int i = 0; i < 3; i++)
        r[i] = m[4 * i] * v[0] + m[4 * i + 1] * v[1] + m[4 * i + 2] * v[2] + m[4 * i + 3];
    memcpy(out, r, sizeof r);
}

static inline void ref_compose(const double *a, const double *b, double *out) // 3x4
{
    double r[12];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            r[4 * i + j] = j == 3 ? a[4 * i + 3] : 0;
            for (int k = 0; k < 3; k++) r[4 * i + j] += a[4 * i + k] * b[4 * k + j];
        }
    memcpy(out, r, sizeof r);
}

/// |L|^2 of a 3x4
static inline double ref_square(const double *m)
{
    double sum = 0;
    for (int i = 0; i < 9; i++) sum += m[i / 3 * 4 + i % 3] * m[i / 3 * 4 + i % 3];
    return sum;
}

static inline void ref_linear(const double *m, double *l)
{
    for (int i = 0; i < 9; i++) l[i] = m[i / 3 * 4 + i % 3];
}

/// Rotation about an axis of any length by Rodrigues' formula, then t.
static inline void ref_rotation(const double *axis, double angle, const double *t, double *m)
{
    double n = sqrt(axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2]);
    double x = axis[0] / n, y = axis[1] / n, z = axis[2] / n, c = cos(angle), s = sin(angle);
    double u = 1 - c;
    double r[12] = { c + x * x * u,     x * y * u - z * s, x * z * u + y * s, t ? t[0] : 0,
                     y * x * u + z * s, c + y * y * u,     y * z * u - x * s, t ? t[1] : 0,
                     z * x * u - y * s, z * y * u + x * s, c + z * z * u,     t ? t[2] : 0 };
    memcpy(m, r, sizeof r);
}

/// Turn about an axis through a point: T(p) R T(-p).
static inline void ref_turn_about(const double *axis, double angle, const double *p, double *m)
{
    double image[3];
    ref_rotation(axis, angle, NULL, m);
    ref_apply(m, p, image);
    for (int i = 0; i < 3; i++) m[4 * i + 3] = p[i] - image[i];
}

/// Proper rotation of the polar decomposition of sign(det) L, by plain Newton averaging. L regular.
static inline void ref_polar(const double *l, double *r)
{
    double x[9], c[9], e = ref_determinant(l) < 0 ? -1 : 1, scale = 0;
    for (int i = 0; i < 9; i++) scale += l[i] * l[i];
    for (int i = 0; i < 9; i++) x[i] = e * l[i] / sqrt(scale / 3);
    for (int step = 0; step < 100; step++) {
        ref_cofactor(x, c);
        double d = ref_determinant(x);
        for (int i = 0; i < 9; i++) x[i] = 0.5 * (x[i] + c[i] / d);
    }
    memcpy(r, x, sizeof x);
}

/// Shepperd's formulas as printed in docs/spec/blending.md 3.1. w x y z
static inline void ref_quat(const double *r, double *q)
{
    double t[4] = { r[0] + r[4] + r[8], r[0], r[4], r[8] }, s;
    int k = 0;
    for (int i = 1; i < 4; i++) k = t[i] > t[k] ? i : k;
    if (k == 0) {
        s = 2 * sqrt(1 + t[0]);
        q[0] = s / 4, q[1] = (r[7] - r[5]) / s, q[2] = (r[2] - r[6]) / s, q[3] = (r[3] - r[1]) / s;
    } else {
        int a = k - 1, b = (a + 1) % 3, c = (a + 2) % 3;
        s = 2 * sqrt(1 + r[4 * a] - r[4 * b] - r[4 * c]);
        q[1 + a] = s / 4;
        q[0] = (r[3 * c + b] - r[3 * b + c]) / s;
        q[1 + b] = (r[3 * a + b] + r[3 * b + a]) / s;
        q[1 + c] = (r[3 * a + c] + r[3 * c + a]) / s;
    }
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    for (int i = 0; i < 4; i++) q[i] /= n;
}

static inline void ref_hamilton(const double *a, const double *b, double *out)
{
    double r[4] = { a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
                    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
                    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
                    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0] };
    memcpy(out, r, sizeof r);
}

/// q (0, v) q*
static inline void ref_rotate(const double *q, const double *v, double *out)
{
    double p[4] = { 0, v[0], v[1], v[2] }, conjugate[4] = { q[0], -q[1], -q[2], -q[3] }, r[4];
    ref_hamilton(q, p, r);
    ref_hamilton(r, conjugate, r);
    memcpy(out, r + 1, 3 * sizeof *out);
}

// Centres: the stacked system and an independent SVD
// --------------------------------------------------

#define REF_BONES 16

/// Least squares of (L_s - L_t) r = t_t - t_s for all pairs, minimum norm about c0, by one-sided
/// Jacobi on the stacked matrix. @param smallest smallest singular value squared above the cut (or
/// NULL)
static inline void ref_centre(int n, double m[][12], const double *c0, double *centre,
                              double *smallest)
{
    static double a[3 * REF_BONES * REF_BONES][3], b[3 * REF_BONES * REF_BONES];
    int rows = 0;
    double sigma = 0, v[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    for (int s = 0; s < n; s++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++) sigma += m[s][4 * i + j] * m[s][4 * i + j] / (3 * n);
    for (int s = 0; s < n; s++)
        for (int t = s + 1; t < n; t++)
            for (int i = 0; i < 3; i++, rows++) {
                b[rows] = m[t][4 * i + 3] - m[s][4 * i + 3];
                for (int j = 0; j < 3; j++) {
                    a[rows][j] = m[s][4 * i + j] - m[t][4 * i + j];
                    b[rows] -= a[rows][j] * c0[j];
                }
            }
    for (int sweep = 0; sweep < 60; sweep++)
        for (int p = 0; p < 2; p++)
            for (int q = p + 1; q < 3; q++) {
                double alpha = 0, beta = 0, gamma = 0;
                for (int i = 0; i < rows; i++) {
                    alpha += a[i][p] * a[i][p];
                    beta += a[i][q] * a[i][q];
                    gamma += a[i][p] * a[i][q];
                }
                if (gamma == 0) continue;
                double angle = 0.5 * atan2(2 * gamma, alpha - beta), c = cos(angle), s = sin(angle);
                for (int i = 0; i < rows; i++) {
                    double x = a[i][p], y = a[i][q];
                    a[i][p] = c * x + s * y, a[i][q] = c * y - s * x;
                }
                for (int i = 0; i < 3; i++) {
                    double x = v[i][p], y = v[i][q];
                    v[i][p] = c * x + s * y, v[i][q] = c * y - s * x;
                }
            }
    memcpy(centre, c0, 3 * sizeof *centre);
    if (smallest) *smallest = INFINITY;
    for (int k = 0; k < 3; k++) {
        double square = 0, along = 0;
        for (int i = 0; i < rows; i++) square += a[i][k] * a[i][k], along += a[i][k] * b[i];
        if (!(square > 1e-6 * sigma)) continue;
        if (smallest && square < *smallest) *smallest = square;
        for (int i = 0; i < 3; i++) centre[i] += v[i][k] * along / square;
    }
}

/// One set as a group of the library's; it takes several at a time.
typedef struct set_group {
    cutis_centre_group group;
    uint32_t bones[CUTIS_CENTRE_LANES * REF_BONES];
    double reference[3 * CUTIS_CENTRE_LANES], squares[REF_BONES];
} set_group;

static inline void group_of_set(const double *palette, const uint32_t *bones, uint32_t count,
                                const double *c0, double limit, set_group *out)
{
    assert_true(count <= REF_BONES);
    for (uint32_t i = 0; i < CUTIS_CENTRE_LANES * count; i++)
        out->bones[i] = bones[i / CUTIS_CENTRE_LANES];
    for (uint32_t i = 0; i < 3 * CUTIS_CENTRE_LANES; i++)
        out->reference[i] = c0[i / CUTIS_CENTRE_LANES];
    for (uint32_t i = 0; i < count; i++) {
        assert_true(bones[i] < REF_BONES);
        out->squares[bones[i]] = ref_square(palette + 12 * bones[i]);
    }
    out->group = (cutis_centre_group){ .palette = palette,
                                       .squares = out->squares,
                                       .bones = out->bones,
                                       .reference = out->reference,
                                       .count = count,
                                       .set_count = CUTIS_CENTRE_LANES,
                                       .limit = limit };
}

/// The library's centre of one set, by every table of bone work this machine has; all must agree in
/// their bits, in every lane.
static inline void centre_of_set(const double *palette, const uint32_t *bones, uint32_t count,
                                 const double *c0, double limit, double *centre)
{
    cutis_cpu_variant variants[8];
    double first[3 * CUTIS_CENTRE_LANES], out[3 * CUTIS_CENTRE_LANES];
    set_group set;
    group_of_set(palette, bones, count, c0, limit, &set);
    for (uint32_t i = 0, n = cutis_cpu_variants(variants); i < n; i++) {
        if (!variants[i].supported) continue;
        cutis_centre_solve(variants[i].bones, &set.group, out);
        if (i == 0) memcpy(first, out, sizeof out);
        for (uint32_t k = 0; k < 3 * CUTIS_CENTRE_LANES; k++)
            assert_memory_equal(&out[k], &first[k / CUTIS_CENTRE_LANES * CUTIS_CENTRE_LANES],
                                sizeof out[k]);
    }
    for (uint32_t i = 0; i < 3; i++) centre[i] = first[CUTIS_CENTRE_LANES * i];
}

// One vertex
// ------------------------------------------------------------------------------------------

typedef enum ref_method { REF_LBS, REF_SBS, REF_SBS_WEIGHTED, REF_DQS, REF_COR } ref_method;

typedef struct ref_vertex {
    int n;                   ///< influences, ascending bones
    double m[REF_BONES][12]; ///< their matrices
    double o[REF_BONES][3];  ///< their rest origins
    double w[REF_BONES];
    double v[3], normal[3];
    double p[3]; ///< CoR: centre
    bool even;   ///< LBS: all bones evenly scaled, so normals by the blended matrix
} ref_vertex;

/// Centre of SBS_WEIGHTED (section 7), by Cramer's rule.
static inline void ref_weighted_centre(const ref_vertex *x, double *centre)
{
    double mean[12] = { 0 }, n[9] = { 0 }, g[3] = { 0 }, c0[3] = { 0 }, sigma = 0;
    for (int s = 0; s < x->n; s++) {
        for (int i = 0; i < 12; i++) mean[i] += x->w[s] * x->m[s][i];
        for (int i = 0; i < 3; i++) c0[i] += x->w[s] * x->o[s][i];
        for (int i = 0; i < 9; i++)
            sigma += x->w[s] * x->m[s][i / 3 * 4 + i % 3] * x->m[s][i / 3 * 4 + i % 3] / 3;
    }
    for (int s = 0; s < x->n; s++) {
        double d[12];
        for (int i = 0; i < 12; i++) d[i] = x->m[s][i] - mean[i];
        for (int i = 0; i < 3; i++)
            for (int r = 0; r < 3; r++) {
                g[i] -= x->w[s] * d[4 * r + i] * d[4 * r + 3];
                for (int j = 0; j < 3; j++) n[3 * i + j] += x->w[s] * d[4 * r + i] * d[4 * r + j];
            }
    }
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) g[i] -= n[3 * i + j] * c0[j];
    for (int i = 0; i < 3; i++) n[4 * i] += 1e-4 * sigma;
    double det = ref_determinant(n);
    for (int k = 0; k < 3; k++) {
        double c[9];
        memcpy(c, n, sizeof c);
        for (int i = 0; i < 3; i++) c[3 * i + k] = g[i];
        centre[k] = c0[k] + ref_determinant(c) / det;
    }
}

/// Section 6.1 (which holds sections 2, 4, 5, 6 as its cases): position, and unit normal if
/// `normal` is not NULL.
static inline void ref_deform(ref_method method, const ref_vertex *x, double *out, double *normal)
{
    double blended[12] = { 0 }, q[REF_BONES][4], sb[9] = { 0 }, l[9], sum[4] = { 0 }, c[9];
    for (int s = 0; s < x->n; s++)
        for (int i = 0; i < 12; i++) blended[i] += x->w[s] * x->m[s][i];
    if (method == REF_LBS || x->n == 1) {
        ref_apply(blended, x->v, out);
        if (!normal) return;
        ref_linear(blended, l);
        ref_cofactor(l, c);
        double sign = ref_determinant(l) < 0 ? -1 : 1, length = 0;
        const double *by = x->even ? l : c;
        if (x->even) sign = 1;
        for (int i = 0; i < 3; i++) {
            normal[i] = 0;
            for (int j = 0; j < 3; j++) normal[i] += sign * by[3 * i + j] * x->normal[j];
            length += normal[i] * normal[i];
        }
        for (int i = 0; i < 3; i++) normal[i] /= sqrt(length);
        return;
    }
    for (int s = 0; s < x->n; s++) {
        double r[9], st[9], rt[9];
        ref_linear(x->m[s], l);
        ref_polar(l, r);
        ref_quat(r, q[s]);
        for (int i = 0; i < 9; i++) rt[i] = r[i % 3 * 3 + i / 3];
        ref_multiply(rt, l, st);
        double dot = 0;
        for (int i = 0; i < 4; i++) dot += q[0][i] * q[s][i];
        double sign = dot < 0 ? -1 : 1;
        for (int i = 0; i < 4; i++) q[s][i] *= sign, sum[i] += x->w[s] * q[s][i];
        for (int i = 0; i < 9; i++) sb[i] += x->w[s] * st[i];
    }
    double length = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3]);
    double unit[4] = { sum[0] / length, sum[1] / length, sum[2] / length, sum[3] / length };
    if (normal) {
        double sign = ref_determinant(sb) < 0 ? -1 : 1, n[3], square = 0;
        ref_cofactor(sb, c);
        for (int i = 0; i < 3; i++) {
            n[i] = 0;
            for (int j = 0; j < 3; j++) n[i] += sign * c[3 * i + j] * x->normal[j];
            square += n[i] * n[i];
        }
        for (int i = 0; i < 3; i++) n[i] /= sqrt(square);
        ref_rotate(unit, n, normal);
    }
    if (method == REF_DQS) {
        double dual[4] = { 0 }, conjugate[4] = { sum[0], -sum[1], -sum[2], -sum[3] };
        for (int s = 0; s < x->n; s++) {
            double image[4] = { 0 }, e[4];
            ref_apply(x->m[s], x->v, image + 1);
            ref_hamilton(image, q[s], e);
            for (int i = 0; i < 4; i++) dual[i] += 0.5 * x->w[s] * e[i];
        }
        ref_hamilton(dual, conjugate, dual);
        for (int i = 0; i < 3; i++) out[i] = 2 * dual[1 + i] / (length * length);
        return;
    }
    double centre[3], c0[3] = { 0 }, from[3], to[3], stretched[3];
    for (int s = 0; s < x->n; s++)
        for (int i = 0; i < 3; i++) c0[i] += x->o[s][i] / x->n;
    if (method == REF_COR)
        memcpy(centre, x->p, sizeof centre);
    else if (method == REF_SBS_WEIGHTED)
        ref_weighted_centre(x, centre);
    else
        ref_centre(x->n, (double(*)[12])x->m, c0, centre, NULL);
    for (int i = 0; i < 3; i++) from[i] = x->v[i] - centre[i];
    for (int i = 0; i < 3; i++)
        stretched[i] = sb[3 * i] * from[0] + sb[3 * i + 1] * from[1] + sb[3 * i + 2] * from[2];
    ref_rotate(unit, stretched, out);
    ref_apply(blended, centre, to);
    for (int i = 0; i < 3; i++) out[i] += to[i];
}

// Models
// --------------------------------------------------------------------------------------------

/// A skin of joints that stand flat in the scene; joint j's inverse bind is a translation by
/// -origins[j].
typedef struct rig_data {
    uint32_t vertex_count, joint_count, index_count;
    const float *positions, *normals; ///< normals may be NULL
    const uint32_t *first, *joints, *indices;
    const float *weights;
    const float *origins; ///< 3 per joint, or NULL: zeros
} rig_data;

static inline cutis_model *rig_model(cutis_context *context, const rig_data *data)
{
    cutis_node *nodes = calloc(data->joint_count + 1, sizeof *nodes);
    cutis_mat34 *binds = calloc(data->joint_count, sizeof *binds);
    uint32_t *joints = calloc(data->joint_count, sizeof *joints);
    for (uint32_t j = 0; j <= data->joint_count; j++) {
        nodes[j] = (cutis_node){ .parent = CUTIS_NONE, .mesh = CUTIS_NONE, .skin = CUTIS_NONE };
        nodes[j].rest = cutis_transform_identity();
        if (j == data->joint_count) break;
        joints[j] = j;
        const float *o = data->origins ? data->origins + 3 * j : (float[]){ 0, 0, 0 };
        nodes[j].rest.translation = (cutis_float3){ o[0], o[1], o[2] };
        binds[j] = (cutis_mat34){ { 1, 0, 0, -o[0], 0, 1, 0, -o[1], 0, 0, 1, -o[2] } };
    }
    nodes[data->joint_count].mesh = nodes[data->joint_count].skin = 0;
    cutis_primitive primitive = { .topology = CUTIS_TOPOLOGY_TRIANGLES,
                                  .vertex_count = data->vertex_count,
                                  .index_count = data->index_count,
                                  .indices = data->indices,
                                  .positions = data->positions,
                                  .normals = data->normals,
                                  .influences = { data->first, data->joints, data->weights },
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_skin skin = { .joint_count = data->joint_count,
                        .joints = joints,
                        .inverse_binds = binds,
                        .root = CUTIS_NONE };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context,
                                          &(cutis_model_data){ .node_count = data->joint_count + 1,
                                                               .mesh_count = 1,
                                                               .skin_count = 1,
                                                               .nodes = nodes,
                                                               .meshes = &mesh,
                                                               .skins = &skin },
                                          CUTIS_GATE_REFUSE, &model));
    free(nodes), free(binds), free(joints);
    return model;
}

// The reference cylinder of section 9
// -------------------------------------------------------------------

#define CYLINDER_SIDES    64
#define CYLINDER_RINGS    257
#define CYLINDER_VERTICES (CYLINDER_SIDES * CYLINDER_RINGS + 2)
#define CYLINDER_INDICES  (3 * (2 * CYLINDER_SIDES * (CYLINDER_RINGS - 1) + 2 * CYLINDER_SIDES))

typedef struct cylinder {
    double points[CYLINDER_VERTICES][3];
    double upper[CYLINDER_VERTICES]; ///< weight of the second bone
    uint32_t indices[CYLINDER_INDICES];
} cylinder;

/// Radius 1, length 8 along z, h = 1. Rings are made of one quadrant turned by exact quarter turns.
static inline void cylinder_make(cylinder *c)
{
    uint32_t top = CYLINDER_VERTICES - 1, bottom = top - 1, *index = c->indices;
    for (uint32_t r = 0; r < CYLINDER_RINGS; r++)
        for (uint32_t s = 0; s < CYLINDER_SIDES; s++) {
            double angle = 2 * PI * (s % 16) / CYLINDER_SIDES, x = cos(angle), y = sin(angle);
            if (s % 16 == 0) x = 1, y = 0;
            for (uint32_t k = 0; k < s / 16; k++) {
                double turned = -y;
                y = x, x = turned;
            }
            double *p = c->points[r * CYLINDER_SIDES + s];
            p[0] = x, p[1] = y, p[2] = -4 + 8.0 * r / (CYLINDER_RINGS - 1);
        }
    memcpy(c->points[bottom], (double[]){ 0, 0, -4 }, sizeof c->points[0]);
    memcpy(c->points[top], (double[]){ 0, 0, 4 }, sizeof c->points[0]);
    for (uint32_t v = 0; v < CYLINDER_VERTICES; v++) {
        double w = (c->points[v][2] + 1) / 2;
        c->upper[v] = w < 0 ? 0 : w > 1 ? 1 : w;
    }
    for (uint32_t r = 0; r + 1 < CYLINDER_RINGS; r++)
        for (uint32_t s = 0; s < CYLINDER_SIDES; s++) {
            uint32_t a = r * CYLINDER_SIDES + s, b = r * CYLINDER_SIDES + (s + 1) % CYLINDER_SIDES;
            uint32_t d = b + CYLINDER_SIDES, e = a + CYLINDER_SIDES;
            uint32_t quad[6] = { a, b, d, a, d, e };
            memcpy(index, quad, sizeof quad);
            index += 6;
        }
    for (uint32_t s = 0; s < CYLINDER_SIDES; s++) {
        uint32_t next = (s + 1) % CYLINDER_SIDES, last = CYLINDER_SIDES * (CYLINDER_RINGS - 1);
        uint32_t caps[6] = { bottom, next, s, top, last + s, last + next };
        memcpy(index, caps, sizeof caps);
        index += 6;
    }
}

static inline double cylinder_volume(const cylinder *c, double (*points)[3])
{
    double sum = 0;
    for (uint32_t t = 0; t < CYLINDER_INDICES; t += 3) {
        double m[9];
        for (int k = 0; k < 3; k++) memcpy(m + 3 * k, points[c->indices[t + k]], 3 * sizeof *m);
        sum += ref_determinant(m) / 6;
    }
    return sum;
}

/// The second bone's matrix: bend about x or twist about z, joint at the origin.
static inline void cylinder_bone(bool twist, double degrees, double *m)
{
    ref_rotation(twist ? (double[]){ 0, 0, 1 } : (double[]){ 1, 0, 0 }, degrees * PI / 180, NULL,
                 m);
}

#endif
