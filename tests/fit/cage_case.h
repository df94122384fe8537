/// Cages for tests: boxes, an icosphere, an L, a U, a tetrahedron, a tube around the arm of
/// cutis_synth_create; as models and as shapes. And
/// mean value coordinates once more, in long double, by the published angles (Ju, Schaefer, Warren
/// 2005), where the library has vectors.
#ifndef CUTIS_TESTS_CAGE_CASE_H
#define CUTIS_TESTS_CAGE_CASE_H

#include "support.h"

#include <cutis/cage.h>

#include "fit/cage/coordinates.h"

typedef struct {
    uint32_t vertex_count, triangle_count;
    float positions[3 * 2600];
    uint32_t triangles[3 * 5200];
} cage_mesh;

static inline uint32_t add_vertex(cage_mesh *m, double x, double y, double z)
{
    float *p = m->positions + 3 * m->vertex_count;
    p[0] = (float)x, p[1] = (float)y, p[2] = (float)z;
    return m->vertex_count++;
}

static inline void add_triangle(cage_mesh *m, uint32_t a, uint32_t b, uint32_t c)
{
    uint32_t *t = m->triangles + 3 * m->triangle_count++;
    t[0] = a, t[1] = b, t[2] = c;
}

/// A prism over a polygon in the xy plane (counter-clockwise), `ears` a triangulation of it.
static inline void make_prism(cage_mesh *m, uint32_t count, const double (*outline)[2],
                              uint32_t ear_count, const uint32_t (*ears)[3], double height)
{
    *m = (cage_mesh){ 0 };
    for (uint32_t side = 0; side < 2; side++)
        for (uint32_t i = 0; i < count; i++)
            add_vertex(m, outline[i][0], outline[i][1], side * height);
    for (uint32_t e = 0; e < ear_count; e++) {
        add_triangle(m, ears[e][0], ears[e][2], ears[e][1]);
        add_triangle(m, count + ears[e][0], count + ears[e][1], count + ears[e][2]);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = (i + 1) % count;
        add_triangle(m, i, j, count + j);
        add_triangle(m, i, count + j, count + i);
    }
}

static inline void make_cube(cage_mesh *m)
{
    static const double outline[4][2] = { { 0, 0 }, { 1, 0 }, { 1, 1 }, { 0, 1 } };
    static const uint32_t ears[2][3] = { { 0, 1, 2 }, { 0, 2, 3 } };
    make_prism(m, 4, outline, 2, ears, 1);
}

static inline void make_l(cage_mesh *m)
{
    static const double outline[6][2] = {
        { 0, 0 }, { 2, 0 }, { 2, 1 }, { 1, 1 }, { 1, 2 }, { 0, 2 }
    };
    static const uint32_t ears[4][3] = { { 0, 1, 2 }, { 0, 2, 3 }, { 0, 3, 4 }, { 0, 4, 5 } };
    make_prism(m, 6, outline, 4, ears, 1);
}

/// Two prongs of width 1 and height 4 on a base of 3 x 1, a gap of 1 between them.
static inline void make_u(cage_mesh *m)
{
    static const double outline[8][2] = { { 0, 0 }, { 3, 0 }, { 3, 4 }, { 2, 4 },
                                          { 2, 1 }, { 1, 1 }, { 1, 4 }, { 0, 4 } };
    static const uint32_t ears[6][3] = { { 0, 1, 4 }, { 0, 4, 5 }, { 1, 2, 4 },
                                         { 2, 3, 4 }, { 0, 5, 7 }, { 5, 6, 7 } };
    make_prism(m, 8, outline, 6, ears, 1);
}

static inline void make_tetrahedron(cage_mesh *m)
{
    *m = (cage_mesh){ 0 };
    add_vertex(m, 1, 1, 1), add_vertex(m, -1, -1, 1), add_vertex(m, -1, 1, -1);
    add_vertex(m, 1, -1, -1);
    add_triangle(m, 0, 2, 1), add_triangle(m, 0, 1, 3), add_triangle(m, 0, 3, 2);
    add_triangle(m, 1, 2, 3);
}

static inline uint32_t middle_of(cage_mesh *m, uint32_t a, uint32_t b)
{
    double p[3], length = 0;
    for (int c = 0; c < 3; c++)
        p[c] = (double)m->positions[3 * a + c] + m->positions[3 * b + c], length += p[c] * p[c];
    length = sqrt(length);
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        double d = 0;
        for (int c = 0; c < 3; c++) d += fabs(m->positions[3 * v + c] - p[c] / length);
        if (d < 1e-5) return v;
    }
    return add_vertex(m, p[0] / length, p[1] / length, p[2] / length);
}

/// Radius `radius`, `levels` splits: 12, 42, 162, 642, 2562 vertices.
static inline void make_icosphere(cage_mesh *m, int levels, double radius)
{
    static const uint32_t faces[20][3] = {
        { 0, 11, 5 }, { 0, 5, 1 },  { 0, 1, 7 },   { 0, 7, 10 }, { 0, 10, 11 },
        { 1, 5, 9 },  { 5, 11, 4 }, { 11, 10, 2 }, { 10, 7, 6 }, { 7, 1, 8 },
        { 3, 9, 4 },  { 3, 4, 2 },  { 3, 2, 6 },   { 3, 6, 8 },  { 3, 8, 9 },
        { 4, 9, 5 },  { 2, 4, 11 }, { 6, 2, 10 },  { 8, 6, 7 },  { 9, 8, 1 },
    };
    const double t = (1 + sqrt(5)) / 2, s = 1 / sqrt(1 + t * t);
    *m = (cage_mesh){ 0 };
    const double corner[12][3] = { { -1, t, 0 }, { 1, t, 0 }, { -1, -t, 0 }, { 1, -t, 0 },
                                   { 0, -1, t }, { 0, 1, t }, { 0, -1, -t }, { 0, 1, -t },
                                   { t, 0, -1 }, { t, 0, 1 }, { -t, 0, -1 }, { -t, 0, 1 } };
    for (int i = 0; i < 12; i++)
        add_vertex(m, s * corner[i][0], s * corner[i][1], s * corner[i][2]);
    for (int f = 0; f < 20; f++) add_triangle(m, faces[f][0], faces[f][1], faces[f][2]);
    for (int l = 0; l < levels; l++) {
        uint32_t count = m->triangle_count, old[3 * 1300];
        memcpy(old, m->triangles, 3 * count * sizeof *old);
        m->triangle_count = 0;
        for (uint32_t f = 0; f < count; f++) {
            uint32_t a = old[3 * f], b = old[3 * f + 1], c = old[3 * f + 2];
            uint32_t ab = middle_of(m, a, b), bc = middle_of(m, b, c), ca = middle_of(m, c, a);
            add_triangle(m, a, ab, ca), add_triangle(m, b, bc, ab);
            add_triangle(m, c, ca, bc), add_triangle(m, ab, bc, ca);
        }
    }
    for (uint32_t i = 0; i < 3 * m->vertex_count; i++) m->positions[i] *= (float)radius;
}

/// A model of one mesh.
static inline cutis_model *mesh_model(cutis_context *context, uint32_t vertex_count,
                                      const float *positions, uint32_t triangle_count,
                                      const uint32_t *triangles)
{
    cutis_primitive primitive = { .vertex_count = vertex_count,
                                  .index_count = 3 * triangle_count,
                                  .indices = triangles,
                                  .positions = positions,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_node node = {
        .parent = CUTIS_NONE, .rest = cutis_transform_identity(), .mesh = 0, .skin = CUTIS_NONE
    };
    cutis_model_data data = { .node_count = 1, .mesh_count = 1, .nodes = &node, .meshes = &mesh };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    return model;
}

/// Along the made arm's cage: rings of four controls and a pole at each end, 58 in all, as
/// many as the arm of SuperCages has.
enum { ARM_RINGS = 14, ARM_CONTROLS = 4 * ARM_RINGS + 2 };
static const double ARM_LENGTH = 60, ARM_TURN = 1.6; ///< units, radians

/// A straight arm along x, 0 .. ARM_LENGTH, laid along an arc that turns by ARM_TURN: its cage is
/// not convex, so that mean value weights have both signs.
static inline void lay_along_arc(float *p)
{
    const double r = ARM_LENGTH / ARM_TURN, t = p[0] / r, inner = r - p[1];
    p[0] = (float)(inner * sin(t)), p[1] = (float)(r - inner * cos(t));
}

/// Square rings whose sides are a tenth farther from the axis than the body near them.
static inline void make_tube(cage_mesh *m, uint32_t count, const float *body)
{
    const double step = ARM_LENGTH / (ARM_RINGS - 1);
    *m = (cage_mesh){ 0 };
    add_vertex(m, -step, 0, 0);
    for (int k = 0; k < ARM_RINGS; k++) {
        double x = k * step + (k == 0 ? -0.1 : k == ARM_RINGS - 1 ? 0.1 : 0) * step, r = 0;
        for (uint32_t v = 0; v < count; v++)
            if (fabs(body[3 * v] - k * step) <= 0.6 * step)
                r = fmax(r, 1.1 * hypot(body[3 * v + 1], body[3 * v + 2]));
        add_vertex(m, x, r, r), add_vertex(m, x, -r, r);
        add_vertex(m, x, -r, -r), add_vertex(m, x, r, -r);
    }
    add_vertex(m, ARM_LENGTH + step, 0, 0);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t a = 1 + i, b = 1 + (i + 1) % 4;
        add_triangle(m, 0, b, a);
        for (uint32_t k = 0; k + 1 < ARM_RINGS; k++, a += 4, b += 4)
            add_triangle(m, a, b, b + 4), add_triangle(m, a, b + 4, a + 4);
        add_triangle(m, a, b, ARM_CONTROLS - 1);
    }
}

/// The arm of cutis_synth_create without its skin, and the tube around it; both still straight.
static inline void make_straight_arm(cutis_context *context, cage_mesh *m, cage_mesh *tube)
{
    cutis_model *arm = NULL;
    cutis_synth_options options = { .body = CUTIS_BODY_ARM, .vertex_count = 1000 };
    double low[3] = { 1e9, 1e9, 1e9 }, high[3] = { -1e9, -1e9, -1e9 };
    assert_ok(context, cutis_synth_create(context, &options, &arm));
    m->vertex_count = cutis_model_vertex_count(arm);
    m->triangle_count = (uint32_t)cutis_model_triangle_count(arm);
    cutis_model_file_positions(arm, m->positions);
    cutis_model_triangles(arm, m->triangles);
    cutis_model_destroy(arm);
    for (uint32_t i = 0; i < 3 * m->vertex_count; i++) {
        low[i % 3] = fmin(low[i % 3], m->positions[i]);
        high[i % 3] = fmax(high[i % 3], m->positions[i]);
    }
    for (uint32_t i = 0; i < 3 * m->vertex_count; i++) {
        double zero = i % 3 ? (low[i % 3] + high[i % 3]) / 2 : low[0];
        m->positions[i] = (float)(ARM_LENGTH / (high[0] - low[0]) * (m->positions[i] - zero));
    }
    make_tube(tube, m->vertex_count, m->positions);
}

/// A bent arm and a cage around it, as models; made once a program.
static inline void make_arm(cutis_context *context, cutis_model **body, cutis_model **around)
{
    static cage_mesh m, tube;
    if (m.vertex_count == 0) {
        make_straight_arm(context, &m, &tube);
        for (uint32_t v = 0; v < m.vertex_count; v++) lay_along_arc(m.positions + 3 * v);
        for (uint32_t v = 0; v < tube.vertex_count; v++) lay_along_arc(tube.positions + 3 * v);
    }
    *body = mesh_model(context, m.vertex_count, m.positions, m.triangle_count, m.triangles);
    *around =
        mesh_model(context, tube.vertex_count, tube.positions, tube.triangle_count, tube.triangles);
}

/// A cage of a mesh, with its shape in double.
typedef struct {
    cutis_context *context;
    cutis_arena arena;
    cutis_device *device;
    cutis_cage *cage;
    cutis_cage_shape shape;
} cage_case;

static inline cage_case make_cage(const cage_mesh *m)
{
    cage_case c = { 0 };
    assert_int_equal(cutis_context_create(NULL, &c.context), CUTIS_OK);
    c.arena.context = c.context;
    assert_ok(c.context, cutis_device_create(c.context, NULL, &c.device));
    cutis_model *model =
        mesh_model(c.context, m->vertex_count, m->positions, m->triangle_count, m->triangles);
    assert_ok(c.context, cutis_cage_create(model, &c.cage));
    cutis_model_destroy(model);
    assert_true(cutis_cage_shape_make(&c.arena, c.cage, &c.shape));
    return c;
}

static inline void free_cage(cage_case *c)
{
    cutis_cage_destroy(c->cage);
    cutis_arena_release(&c->arena);
    cutis_device_destroy(c->device);
    assert_int_equal(cutis_context_memory(c->context), 0);
    cutis_context_destroy(c->context);
}

/// One point by the angle form, in long double.
static inline void angle_form(const cutis_cage_shape *s, const double *x, double *out)
{
    long double w[512] = { 0 }, sum = 0;
    for (uint32_t t = 0; t < s->triangle_count; t++) {
        long double u[3][3], d[3], theta[3], c[3], sine[3], det, h = 0;
        for (int i = 0; i < 3; i++) {
            long double square = 0;
            for (int k = 0; k < 3; k++) {
                u[i][k] = (long double)s->controls[3 * s->triangles[3 * t + i] + k] - x[k];
                square += u[i][k] * u[i][k];
            }
            d[i] = sqrtl(square);
            for (int k = 0; k < 3; k++) u[i][k] /= d[i];
        }
        for (int i = 0; i < 3; i++) {
            long double square = 0;
            for (int k = 0; k < 3; k++) {
                long double e = u[(i + 1) % 3][k] - u[(i + 2) % 3][k];
                square += e * e;
            }
            theta[i] = 2 * asinl(sqrtl(square) / 2);
            h += theta[i] / 2;
        }
        det = u[0][0] * (u[1][1] * u[2][2] - u[1][2] * u[2][1]) -
              u[0][1] * (u[1][0] * u[2][2] - u[1][2] * u[2][0]) +
              u[0][2] * (u[1][0] * u[2][1] - u[1][1] * u[2][0]);
        for (int i = 0; i < 3; i++) {
            c[i] = 2 * sinl(h) * sinl(h - theta[i]) /
                       (sinl(theta[(i + 1) % 3]) * sinl(theta[(i + 2) % 3])) -
                   1;
            sine[i] = (det < 0 ? -1 : 1) * sqrtl(1 - c[i] * c[i]);
        }
        for (int i = 0; i < 3; i++) {
            int n = (i + 1) % 3, p = (i + 2) % 3;
            w[s->triangles[3 * t + i]] +=
                (theta[i] - c[n] * theta[p] - c[p] * theta[n]) / (d[i] * sinl(theta[n]) * sine[p]);
        }
    }
    for (uint32_t i = 0; i < s->control_count; i++) sum += w[i];
    for (uint32_t i = 0; i < s->control_count; i++) out[i] = (double)(w[i] / sum);
}

#endif
