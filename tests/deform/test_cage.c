// The method CAGE: positions by definition, normals by the best affine map
// (docs/spec/reduction.md 10.15), streams, devices; the kernel text in double for what float cannot
// show. Each on an arm made by code and, where it is there, on the arm of SuperCages.
#include "fit/cage_case.h"

#include <time.h>

#define KERNEL_DOUBLE
#include "kernel/cage.h"

typedef struct {
    cutis_context *context;
    cutis_device *device;
    cutis_model *model; ///< with its cage
    const cutis_cage *cage;
    uint32_t vertex_count;
    float *rest, *rest_normals; ///< linear blending at rest
} scene;

static cutis_binding *bind_cage(const scene *s, cutis_device *device, bool normals)
{
    cutis_binding *binding = NULL;
    assert_ok(s->context,
              cutis_bind(device, s->model,
                         &(cutis_bind_options){ .method = CUTIS_METHOD_CAGE, .normals = normals },
                         &binding));
    return binding;
}

#define ARM_FOLDER "supercages/__DataExamples/Arm/"
static bool real_arm; ///< main runs every test for each arm

static scene open_arm(uint32_t influences)
{
    scene s = { 0 };
    cutis_model *plain, *model;
    cutis_cage *cage;
    assert_int_equal(cutis_context_create(NULL, &s.context), CUTIS_OK);
    assert_ok(s.context, cutis_device_create(s.context, NULL, &s.device));
    if (real_arm) {
        assert_ok(s.context,
                  cutis_model_read(s.context, shared_path(ARM_FOLDER "arm.obj"), NULL, &plain));
        assert_ok(s.context, cutis_model_read(s.context, shared_path(ARM_FOLDER "arm_cage.obj"),
                                              NULL, &model));
    } else {
        make_arm(s.context, &plain, &model);
    }
    assert_ok(s.context, cutis_cage_create(model, &cage));
    cutis_cage_options options = { .influences = influences, .skip_evaluation = true };
    assert_ok(s.context, cutis_cage_bind(plain, s.device, cage, &options, &s.model, NULL));
    cutis_model_destroy(model);
    cutis_cage_destroy(cage);
    s.cage = cutis_model_get(s.model)->cage;
    s.vertex_count = cutis_model_vertex_count(s.model);
    s.rest = malloc(3 * s.vertex_count * sizeof *s.rest);
    s.rest_normals = malloc(3 * s.vertex_count * sizeof *s.rest_normals);
    cutis_binding *binding;
    cutis_transform local[8];
    cutis_pose_rest(plain, local, NULL);
    assert_ok(s.context,
              cutis_bind(s.device, plain, &(cutis_bind_options){ .normals = true }, &binding));
    assert_ok(s.context, cutis_deform(binding, &(cutis_poses){ .local = local }, 1,
                                      &(cutis_outputs){ .positions.data = s.rest,
                                                        .normals.data = s.rest_normals }));
    cutis_binding_destroy(binding);
    cutis_model_destroy(plain);
    return s;
}

static void close_scene(scene *s)
{
    free(s->rest), free(s->rest_normals);
    cutis_model_destroy(s->model);
    cutis_device_destroy(s->device);
    assert_int_equal(cutis_context_memory(s->context), 0);
    cutis_context_destroy(s->context);
}

static void run(const scene *s, const cutis_binding *binding, const float *controls, uint32_t count,
                float *positions, float *normals)
{
    cutis_poses poses = { .kind = CUTIS_POSE_CONTROLS, .controls = (const cutis_float3 *)controls };
    assert_ok(s->context, cutis_deform(binding, &poses, count,
                                       &(cutis_outputs){ .positions.data = positions,
                                                         .normals.data = normals }));
}

// Controls moved by a matrix.
static float *moved(const scene *s, const cutis_mat34 *m)
{
    float *out = malloc(3 * s->cage->control_count * sizeof *out);
    for (uint32_t i = 0; i < s->cage->control_count; i++) {
        cutis_float3 p = cutis_mat34_point(m, s->cage->controls[i]);
        out[3 * i] = p.x, out[3 * i + 1] = p.y, out[3 * i + 2] = p.z;
    }
    return out;
}

static double angle(const double *a, const double *b)
{
    double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
           z = a[0] * b[1] - a[1] * b[0];
    return atan2(sqrt(x * x + y * y + z * z), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

// Inverse transpose of a matrix, up to a positive factor: cofactors times the sign of det.
static void inverse_transpose(const cutis_mat34 *matrix, double out[3][3])
{
    const float *m = matrix->m;
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) {
            int r1 = (r + 1) % 3, r2 = (r + 2) % 3, c1 = (c + 1) % 3, c2 = (c + 2) % 3;
            out[r][c] =
                (double)m[4 * r1 + c1] * m[4 * r2 + c2] - (double)m[4 * r1 + c2] * m[4 * r2 + c1];
        }
    double det = m[0] * out[0][0] + m[1] * out[0][1] + m[2] * out[0][2];
    for (int i = 0; i < 9 && det < 0; i++) out[i / 3][i % 3] *= -1;
}

static void positions_are_weighted_controls(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        scene s = open_arm(k ? 8 : 0);
        float *pose = malloc(3 * s.cage->control_count * sizeof *pose);
        float *out = malloc(3 * s.vertex_count * sizeof *out);
        cutis_cage_automatic_poses(s.cage, 3, 1, pose);
        cutis_binding *binding = bind_cage(&s, s.device, false);
        assert_int_equal(cutis_binding_describe(binding).max_influences,
                         k ? 8 : s.cage->control_count);
        run(&s, binding, pose, 1, out, NULL);
        const cutis_cage_mesh *mesh = &s.cage->meshes[0];
        for (uint32_t v = 0; v < s.vertex_count; v++)
            for (int c = 0; c < 3; c++) {
                double sum = 0;
                for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
                    sum += (double)mesh->weights[i] * pose[3 * mesh->controls[i] + c];
                assert_near(out[3 * v + c], sum, 2e-4); // the arm is 200 units long
            }
        // At rest mean value coordinates give the body back.
        run(&s, binding, &s.cage->controls->x, 1, out, NULL);
        for (uint32_t i = 0; k == 0 && i < 3 * s.vertex_count; i++)
            assert_near(out[i], s.rest[i], 2e-4);
        cutis_binding_destroy(binding);
        free(pose), free(out), close_scene(&s);
    }
}

// Two affine maps, the second with a mirror.
static const cutis_mat34 MAPS[2] = {
    { { 1.2f, 0.3f, -0.1f, 4, -0.2f, 0.9f, 0.4f, -7, 0.1f, -0.3f, 1.1f, 2 } },
    { { -0.9f, 0.2f, 0.1f, 1, 0.3f, 1.1f, -0.2f, 5, 0.2f, 0.1f, 0.8f, -3 } },
};

static void affine_motion_turns_normals_exactly_mirrors_too(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        scene s = open_arm(k ? 8 : 0);
        float *out = malloc(6 * s.vertex_count * sizeof *out), *normals = out + 3 * s.vertex_count;
        cutis_binding *binding = bind_cage(&s, s.device, true);
        for (int m = 0; m < 2; m++) {
            float *pose = moved(&s, &MAPS[m]);
            double turn[3][3], worst = 0;
            inverse_transpose(&MAPS[m], turn);
            run(&s, binding, pose, 1, out, normals);
            for (uint32_t v = 0; v < s.vertex_count; v++) {
                double want[3] = { 0 }, got[3], square = 0;
                for (int r = 0; r < 3; r++) {
                    for (int c = 0; c < 3; c++) want[r] += turn[r][c] * s.rest_normals[3 * v + c];
                    got[r] = normals[3 * v + r];
                    square += got[r] * got[r];
                }
                assert_near(square, 1, 1e-6);
                worst = fmax(worst, angle(want, got));
            }
            print_message("%s weights, map %d: %g radians\n", k ? "8" : "all", m, worst);
            assert_true(worst < 1e-3); // float; the next test has the text in double
            free(pose);
        }
        cutis_binding_destroy(binding);
        free(out), close_scene(&s);
    }
}

// The kernel text in double, on centres and rest normals made here from the formulas.
static void the_text_in_double_is_exact_for_affine_motion(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        scene s = open_arm(k ? 8 : 0);
        const cutis_cage_mesh *mesh = &s.cage->meshes[0];
        const uint32_t n = s.cage->control_count;
        double *rest = malloc(3 * n * sizeof *rest), *posed = malloc(3 * n * sizeof *posed);
        for (uint32_t i = 0; i < 3 * n; i++) rest[i] = (&s.cage->controls->x)[i];
        for (int m = 0; m < 2; m++) {
            double turn[3][3], worst = 0;
            inverse_transpose(&MAPS[m], turn);
            for (uint32_t i = 0; i < n; i++)
                for (int r = 0; r < 3; r++) {
                    posed[3 * i + r] = MAPS[m].m[4 * r + 3];
                    for (int c = 0; c < 3; c++)
                        posed[3 * i + r] += (double)MAPS[m].m[4 * r + c] * rest[3 * i + c];
                }
            for (uint32_t v = 0; v < s.vertex_count; v++) {
                const uint32_t begin = mesh->first[v], count = mesh->first[v + 1] - begin;
                int control[64], thin = 0;
                double weight[64], centre[4] = { 0, 0, 0, 1 }, w2 = 0, sum = 0, y[3][3] = { { 0 } };
                double q[3] = { 0 }, position[3], normal[3], want[3] = { 0 };
                for (uint32_t i = 0; i < count; i++) sum += mesh->weights[begin + i];
                for (uint32_t i = 0; i < count; i++) {
                    control[i] = (int)mesh->controls[begin + i];
                    weight[i] = mesh->weights[begin + i] / sum;
                    w2 += weight[i] * weight[i];
                    for (int c = 0; c < 3; c++)
                        centre[c] += weight[i] * weight[i] * rest[3 * control[i] + c];
                }
                for (int c = 0; c < 3; c++) centre[c] /= w2;
                for (uint32_t i = 0; i < count; i++)
                    for (int r = 0; r < 3; r++)
                        for (int c = 0; c < 3; c++)
                            y[r][c] += weight[i] * weight[i] *
                                       (rest[3 * control[i] + r] - centre[r]) *
                                       (rest[3 * control[i] + c] - centre[c]);
                for (int r = 0; r < 3; r++)
                    for (int c = 0; c < 3; c++) {
                        q[r] += y[r][c] * s.rest_normals[3 * v + c];
                        want[r] += turn[r][c] * s.rest_normals[3 * v + c];
                    }
                cage_deform(control, weight, centre, q, rest, posed, position, normal, &thin,
                            (cage_deform_arguments){ .item_end = 1,
                                                     .vertex_count = 1,
                                                     .slot_count = (int)count,
                                                     .control_count = (int)n,
                                                     .vertex_stride = (int)count,
                                                     .slot_stride = 1,
                                                     .position_stride = 3,
                                                     .normal_stride = 3,
                                                     .with_normals = 1 });
                if (thin) continue; // left to the faces: controls nearly in a plane
                worst = fmax(worst, angle(want, normal));
            }
            print_message("double, %s weights, map %d: %g radians\n", k ? "8" : "all", m, worst);
            assert_true(worst < 1e-6);
        }
        free(rest), free(posed), close_scene(&s);
    }
}

// Bend the controls by 1.2 radians about z through the middle, spread over a third of the length.
static float *bent(const scene *s)
{
    float *out = malloc(3 * s->cage->control_count * sizeof *out);
    double low[3] = { 1e9, 1e9, 1e9 }, high[3] = { -1e9, -1e9, -1e9 };
    for (uint32_t i = 0; i < s->cage->control_count; i++)
        for (int c = 0; c < 3; c++) {
            double p = (&s->cage->controls[i].x)[c];
            low[c] = fmin(low[c], p), high[c] = fmax(high[c], p);
        }
    int along = 0;
    for (int c = 1; c < 3; c++)
        if (high[c] - low[c] > high[along] - low[along]) along = c;
    int u = along, v = (along + 1) % 3;
    double middle[3], length = high[along] - low[along];
    for (int c = 0; c < 3; c++) middle[c] = (low[c] + high[c]) / 2;
    for (uint32_t i = 0; i < s->cage->control_count; i++) {
        double p[3];
        for (int c = 0; c < 3; c++) p[c] = (&s->cage->controls[i].x)[c];
        double part = fmin(1, fmax(0, (p[u] - middle[u]) / (length / 3) + 0.5)), a = 1.2 * part;
        double x = p[u] - middle[u], y = p[v] - middle[v];
        p[u] = middle[u] + cos(a) * x - sin(a) * y;
        p[v] = middle[v] + sin(a) * x + cos(a) * y;
        for (int c = 0; c < 3; c++) out[3 * i + c] = (float)p[c];
    }
    return out;
}

static void normals_follow_the_full_deformation_of_a_bend(void **state)
{
    (void)state;
    scene full = open_arm(0), reduced = open_arm(8);
    const uint32_t count = full.vertex_count;
    float *pose = bent(&full), *positions = malloc(3 * count * sizeof *positions);
    float *truth = malloc(3 * count * sizeof *truth),
          *normals = malloc(3 * count * sizeof *normals);
    uint32_t *indices = malloc(3 * cutis_model_triangle_count(full.model) * sizeof *indices);
    cutis_model_triangles(full.model, indices);
    cutis_binding *binding = bind_cage(&full, full.device, true);
    run(&full, binding, pose, 1, positions, normals);
    cutis_surface surface = { count, cutis_model_triangle_count(full.model), positions, indices };
    assert_ok(full.context, cutis_surface_normals(full.context, &surface, NULL, truth));
    cutis_binding_destroy(binding);
    for (int k = 0; k < 2; k++) {
        double mean = 0;
        if (k) {
            binding = bind_cage(&reduced, reduced.device, true);
            run(&reduced, binding, pose, 1, positions, normals);
            cutis_binding_destroy(binding);
        }
        for (uint32_t v = 0; v < count; v++) {
            double a[3], b[3];
            for (int c = 0; c < 3; c++) a[c] = truth[3 * v + c], b[c] = normals[3 * v + c];
            mean += angle(a, b) / count;
        }
        print_message("%s weights: %g degrees\n", k ? "8" : "all", mean * 57.29577951);
        assert_true(mean < 2 / 57.29577951);
    }
    free(pose), free(positions), free(truth), free(normals), free(indices);
    close_scene(&full), close_scene(&reduced);
}

// A flat cage pose squashes every X: the faces give the normals.
static void squashed_cages_fall_back_to_face_normals(void **state)
{
    (void)state;
    scene s = open_arm(8);
    static const cutis_mat34 flat = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 3 } };
    float *pose = moved(&s, &flat), *out = malloc(6 * s.vertex_count * sizeof *out);
    float *normals = out + 3 * s.vertex_count;
    cutis_binding *binding = bind_cage(&s, s.device, true);
    run(&s, binding, pose, 1, out, normals);
    uint32_t upright = 0;
    for (uint32_t v = 0; v < s.vertex_count; v++) {
        for (int c = 0; c < 3; c++) assert_true(isfinite(normals[3 * v + c]));
        upright += fabsf(normals[3 * v + 2]) > 0.99f;
    }
    assert_true(upright > 0.9 * s.vertex_count);
    cutis_binding_destroy(binding);
    free(pose), free(out), close_scene(&s);
}

static void threads_instances_and_strides_do_not_matter(void **state)
{
    (void)state;
    scene s = open_arm(8);
    const uint32_t n = s.cage->control_count, count = s.vertex_count, frames = 5;
    float *poses = malloc(3 * n * frames * sizeof *poses);
    float *one = malloc(3 * count * frames * sizeof *one),
          *turned = malloc(3 * count * frames * sizeof *turned);
    float *wide = malloc(8 * (count + 3) * frames * sizeof *wide);
    cutis_cage_automatic_poses(s.cage, 1, frames, poses);
    cutis_binding *binding = bind_cage(&s, s.device, true);
    for (uint32_t f = 0; f < frames; f++)
        run(&s, binding, poses + 3 * n * f, 1, one + 3 * count * f, turned + 3 * count * f);
    cutis_binding_destroy(binding);
    for (uint32_t threads = 1; threads <= 4; threads *= 4) {
        cutis_device *device;
        assert_ok(s.context,
                  cutis_device_create(s.context, &(cutis_device_options){ .thread_count = threads },
                                      &device));
        binding = bind_cage(&s, device, true);
        cutis_bounds bounds[5], alone[5];
        cutis_poses in = { .kind = CUTIS_POSE_CONTROLS, .controls = (cutis_float3 *)poses };
        memset(wide, 0, 8 * (count + 3) * frames * sizeof *wide);
        cutis_outputs outputs = {
            .positions = { .data = wide, .stride = 32, .instance_stride = 32 * (count + 3) },
            .normals = { .data = wide + 4, .stride = 32, .instance_stride = 32 * (count + 3) },
            .bounds = bounds
        };
        assert_ok(s.context, cutis_deform(binding, &in, frames, &outputs));
        for (uint32_t f = 0; f < frames; f++) {
            float low = 1e30f, high = -1e30f;
            for (uint32_t v = 0; v < count; v++) {
                const float *record = wide + 8 * ((size_t)f * (count + 3) + v);
                assert_memory_equal(record, one + 3 * ((size_t)f * count + v), 12);
                assert_memory_equal(record + 4, turned + 3 * ((size_t)f * count + v), 12);
                low = fminf(low, record[1]), high = fmaxf(high, record[1]);
            }
            assert_true(bounds[f].min.y == low && bounds[f].max.y == high);
        }
        assert_ok(s.context,
                  cutis_deform(binding, &in, frames, &(cutis_outputs){ .bounds = alone }));
        assert_memory_equal(alone, bounds, sizeof bounds);
        // What positions held before.
        float *before = malloc(3 * count * sizeof *before),
              *again = malloc(3 * count * sizeof *again);
        memcpy(again, one, 3 * count * sizeof *again);
        in.controls = (cutis_float3 *)(poses + 3 * n);
        assert_ok(s.context, cutis_deform(binding, &in, 1,
                                          &(cutis_outputs){ .positions.data = again,
                                                            .previous_positions.data = before }));
        assert_memory_equal(before, one, 3 * count * sizeof *before);
        assert_memory_equal(again, one + 3 * count, 3 * count * sizeof *again);
        free(before), free(again);
        cutis_binding_destroy(binding);
        cutis_device_destroy(device);
    }
    free(poses), free(one), free(turned), free(wide), close_scene(&s);
}

// Device buffers and host memory of an OpenCL device give the CPU's bits.
static void opencl_has_the_same_bits(void **state)
{
    (void)state;
    scene s = open_arm(8);
    cutis_device *device;
    if (cutis_device_create(s.context, &(cutis_device_options){ .kind = gpu_kind() }, &device) !=
        CUTIS_OK) {
        print_message("skip: %s\n", cutis_context_error(s.context));
        close_scene(&s);
        skip();
    }
    const uint32_t n = s.cage->control_count, count = s.vertex_count;
    float *poses = malloc(6 * n * sizeof *poses), *a = malloc(12 * count * sizeof *a);
    float *b = malloc(12 * count * sizeof *b);
    cutis_cage_automatic_poses(s.cage, 1, 2, poses);
    cutis_binding *cpu = bind_cage(&s, s.device, true), *gpu = bind_cage(&s, device, true);
    run(&s, cpu, poses, 2, a, a + 6 * count);
    run(&s, gpu, poses, 2, b, b + 6 * count);
    assert_memory_equal(a, b, 12 * count * sizeof *a);
    cutis_buffer *buffer;
    cutis_bounds bounds[2], host[2];
    cutis_poses in = { .kind = CUTIS_POSE_CONTROLS, .controls = (cutis_float3 *)poses };
    assert_ok(s.context, cutis_buffer_create(device, 48 * count, &buffer));
    assert_ok(
        s.context,
        cutis_deform(gpu, &in, 2,
                     &(cutis_outputs){ .positions = { .buffer = buffer, .stride = 24 },
                                       .normals = { .buffer = buffer, .offset = 12, .stride = 24 },
                                       .bounds = bounds }));
    assert_ok(s.context, cutis_buffer_read(buffer, 0, b, 48 * count));
    for (uint32_t i = 0; i < 2 * count; i++) {
        assert_memory_equal(b + 6 * i, a + 3 * i, 12);
        assert_memory_equal(b + 6 * i + 3, a + 6 * count + 3 * i, 12);
    }
    assert_ok(s.context, cutis_deform(cpu, &in, 2, &(cutis_outputs){ .bounds = host }));
    assert_memory_equal(bounds, host, sizeof host);
    cutis_buffer_destroy(buffer);
    cutis_binding_destroy(cpu), cutis_binding_destroy(gpu);
    // Coordinates too.
    cutis_cage_shape shape;
    cutis_arena arena = { .context = s.context };
    assert_true(cutis_cage_shape_make(&arena, s.cage, &shape));
    double points[3 * 50], *here = malloc(100 * n * sizeof *here), *there = here + 50 * n;
    int32_t status[50];
    for (int i = 0; i < 150; i++) points[i] = s.rest[i];
    assert_ok(s.context, cutis_cage_mean_value(s.device, &shape, points, 50,
                                               (cutis_cage_weights){ .wide = here }, status));
    assert_ok(s.context, cutis_cage_mean_value(device, &shape, points, 50,
                                               (cutis_cage_weights){ .wide = there }, status));
    assert_memory_equal(here, there, 50 * n * sizeof *here);
    cutis_cage_grid_report report;
    assert_ok(s.context, cutis_cage_harmonic(s.device, &shape, 16, false, 1e-9, points, 50,
                                             (cutis_cage_weights){ .wide = here }, &report));
    assert_ok(s.context, cutis_cage_harmonic(device, &shape, 16, false, 1e-9, points, 50,
                                             (cutis_cage_weights){ .wide = there }, &report));
    for (uint32_t i = 0; i < 50 * n; i++) assert_near(here[i], there[i], 1e-7);
    cutis_arena_release(&arena);
    cutis_device_destroy(device);
    free(here), free(poses), free(a), free(b), close_scene(&s);
}

static void wrong_uses_are_refused(void **state)
{
    (void)state;
    scene s = open_arm(8);
    cutis_binding *binding = NULL, *cage;
    float out[3];
    cutis_bind_options options = { .method = CUTIS_METHOD_CAGE, .tangents = true };
    assert_int_equal(cutis_bind(s.device, s.model, &options, &binding), CUTIS_UNSUPPORTED);
    options = (cutis_bind_options){ .method = CUTIS_METHOD_CAGE, .max_influences = 4 };
    assert_int_equal(cutis_bind(s.device, s.model, &options, &binding), CUTIS_UNSUPPORTED);
    cage = bind_cage(&s, s.device, false);
    cutis_transform local[8];
    cutis_poses poses = { .local = local };
    cutis_outputs outputs = { .positions.data = out };
    cutis_pose_rest(s.model, local, NULL);
    assert_int_equal(cutis_deform(cage, &poses, 1, &outputs), CUTIS_INVALID_ARGUMENT);
    poses = (cutis_poses){ .kind = CUTIS_POSE_CONTROLS };
    assert_int_equal(cutis_deform(cage, &poses, 1, &outputs), CUTIS_INVALID_ARGUMENT);
    float *bad = moved(&s, &MAPS[0]);
    bad[5] = NAN;
    poses.controls = (cutis_float3 *)bad;
    assert_int_equal(cutis_deform(cage, &poses, 1, &outputs), CUTIS_INVALID_ARGUMENT);
    cutis_model_data data = *cutis_model_get(s.model);
    data.cage = NULL;
    cutis_model *none;
    assert_ok(s.context, cutis_model_create(s.context, &data, CUTIS_GATE_REFUSE, &none));
    options = (cutis_bind_options){ .method = CUTIS_METHOD_CAGE };
    assert_int_equal(cutis_bind(s.device, none, &options, &binding), CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(s.context), "no cage"));
    cutis_model_destroy(none);
    cutis_binding_destroy(cage);
    free(bad), close_scene(&s);
}

// Seconds of CPU time of one frame, the least of several.
static double frame_seconds(const scene *s, const cutis_binding *binding, const float *pose,
                            float *out)
{
    double best = 1e9;
    for (int i = 0; i < 12; i++) {
        clock_t start = clock();
        for (int k = 0; k < 4; k++) run(s, binding, pose, 1, out, out + 3 * s->vertex_count);
        best = fmin(best, (double)(clock() - start) / CLOCKS_PER_SEC / 4);
    }
    return best;
}

// Icosphere of 162 controls around the arm's cage: 162 weights against 8.
static void eight_weights_are_as_much_faster_as_they_are_fewer(void **state)
{
    (void)state;
    scene s = open_arm(0);
    cage_mesh m;
    make_icosphere(&m, 2, 160);
    cutis_model *around =
        mesh_model(s.context, m.vertex_count, m.positions, m.triangle_count, m.triangles);
    cutis_cage *cage;
    cutis_model_data data = *cutis_model_get(s.model);
    cutis_model *bound[2], *body;
    cutis_device *device;
    cutis_binding *binding[2];
    double seconds[2] = { 1e9, 1e9 };
    data.cage = NULL;
    assert_ok(s.context, cutis_model_create(s.context, &data, CUTIS_GATE_REFUSE, &body));
    assert_ok(s.context, cutis_cage_create(around, &cage));
    assert_ok(s.context,
              cutis_device_create(s.context, &(cutis_device_options){ .thread_count = 1 },
                                  &device)); // no threads that wait
    float *out = malloc(6 * s.vertex_count * sizeof *out);
    for (int k = 0; k < 2; k++) {
        cutis_cage_options options = { .influences = k ? 8 : 0,
                                       .method = CUTIS_REDUCE_KLARGEST,
                                       .skip_evaluation = true };
        assert_ok(s.context, cutis_cage_bind(body, s.device, cage, &options, &bound[k], NULL));
        assert_ok(s.context,
                  cutis_bind(device, bound[k],
                             &(cutis_bind_options){ .method = CUTIS_METHOD_CAGE, .normals = true },
                             &binding[k]));
    }
    // Whatever else runs on the machine makes both slower: the best of as many rounds as it takes.
    for (int round = 0; round < 20 && seconds[0] < 8 * seconds[1]; round++)
        for (int k = 0; k < 2; k++)
            seconds[k] = fmin(seconds[k], frame_seconds(&s, binding[k], &cage->controls->x, out));
    for (int k = 0; k < 2; k++) {
        cutis_binding_destroy(binding[k]);
        cutis_model_destroy(bound[k]);
    }
    print_message("162 weights: %.3g ms, 8: %.3g ms\n", 1e3 * seconds[0], 1e3 * seconds[1]);
    assert_true(seconds[0] >= 8 * seconds[1]);
    cutis_device_destroy(device);
    cutis_cage_destroy(cage);
    cutis_model_destroy(around);
    cutis_model_destroy(body);
    free(out), close_scene(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(positions_are_weighted_controls),
        cmocka_unit_test(affine_motion_turns_normals_exactly_mirrors_too),
        cmocka_unit_test(the_text_in_double_is_exact_for_affine_motion),
        cmocka_unit_test(normals_follow_the_full_deformation_of_a_bend),
        cmocka_unit_test(squashed_cages_fall_back_to_face_normals),
        cmocka_unit_test(threads_instances_and_strides_do_not_matter),
        cmocka_unit_test(opencl_has_the_same_bits),
        cmocka_unit_test(wrong_uses_are_refused),
        cmocka_unit_test(eight_weights_are_as_much_faster_as_they_are_fewer),
    };
    int failed = cmocka_run_group_tests_name("an arm made by code", tests, NULL, NULL);
    real_arm = shared_is_there(ARM_FOLDER "arm_cage.obj");
    if (real_arm) failed += cmocka_run_group_tests_name("the arm of SuperCages", tests, NULL, NULL);
    return failed;
}
