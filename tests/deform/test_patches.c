/// Blending patches on limbs with one joint: the tests of docs/spec/patches.md D.
/// Volumes, edges and crossings are computed from the frames themselves; bounds are
/// that page's unless a comment says what holds instead.
#include "patches_device.h"

#include "kernel/patches_conic.h"

static const limb_options CYLINDER = { .length = 5, .around = 32, .rings = 40 };
static const limb_options KNEE = { .length = 4.5, .knee = true, .around = 32, .rings = 58 };
static const limb_options LIMBS[5] = {
    { .length = 5, .around = 32, .rings = 40 },
    { .length = 4.5, .knee = true, .around = 32, .rings = 58 },
    { .length = 4.5, .knee = true, .around = 32, .rings = 58, .jitter = 0.02 },
    { .length = 4.5, .knee = true, .around = 32, .rings = 58, .ellipse = 0.75 },
    { .length = 4.5, .knee = true, .around = 32, .rings = 58, .wave = 0.12 },
};

static patch_run open_limb(const limb_options *limb, cutis_patch_removal removal,
                           cutis_patch_fill fill)
{
    return patch_run_open(context, device, limb_create(context, limb), removal, fill);
}

static double bent_change(patch_run *r, double turn, double bend, double twist)
{
    patch_pose_joint(r, 0, turn, bend * DEGREES, twist * DEGREES);
    patch_run_now(r);
    return 100.0 * (patch_run_volume(r) / r->rest_volume - 1.0);
}

// D5. The reference is the 2-D form of B5 (tangents u, v), written out here.
static void conics_pass_through_their_point_in_1000_random_cases(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        double a[2], b[2], k[2], w[3], sum = 0.0;
        for (int c = 0; c < 2; c++) {
            a[c] = random_in(1, 12 * i + (uint64_t)c, -1, 1);
            b[c] = random_in(1, 12 * i + 2 + (uint64_t)c, -1, 1);
            k[c] = random_in(1, 12 * i + 4 + (uint64_t)c, -1, 1);
        }
        for (int c = 0; c < 3; c++) sum += w[c] = random_in(1, 12 * i + 6 + (uint64_t)c, 0.05, 1);
        double s[2] = { (w[0] * a[0] + w[1] * k[0] + w[2] * b[0]) / sum,
                        (w[0] * a[1] + w[1] * k[1] + w[2] * b[1]) / sum };
        double u[2] = { k[0] - a[0], k[1] - a[1] }, v[2] = { k[0] - b[0], k[1] - b[1] };
        double ab = hypot(b[0] - a[0], b[1] - a[1]);
        double flat = fabs(u[0] * (b[1] - a[1]) - u[1] * (b[0] - a[0]));
        if (flat < 1e-3 * ab * ab) continue; // no triangle
#define CROSS(p, q) ((p)[0] * (q)[1] - (p)[1] * (q)[0])
#define D(x, r, y)  ((r)[0] * ((x)[1] - (y)[1]) - (r)[1] * ((x)[0] - (y)[0]))
        double area = 0.5 * ((s[0] - a[0]) * (b[1] - a[1]) - (s[1] - a[1]) * (b[0] - a[0]));
        double r2 = D(b, u, a) * D(s, u, a) * D(a, v, b) * D(s, v, b);
        double sg = D(b, u, a) * D(a, v, b) > 0 ? 1.0 : -1.0;
        double wanted = sg * area * CROSS(u, v) / sqrt(r2);
        patch_weight got = patch_weight_through(pvec_make(a[0], a[1], 0), pvec_make(k[0], k[1], 0),
                                                pvec_make(b[0], b[1], 0), pvec_make(s[0], s[1], 0));
        assert_true(got.valid);
        assert_near(got.w, fabs(wanted), 1e-9 * fmax(1.0, fabs(wanted)));
        assert_near(got.w, w[1] / (2.0 * sqrt(w[0] * w[2])), 1e-9 * fmax(1.0, got.w));
        double t_s = sqrt(w[2]) / (sqrt(w[0]) + sqrt(w[2])); // where the conic meets s
        pvec at = patch_conic(pvec_make(a[0], a[1], 0), pvec_make(k[0], k[1], 0),
                              pvec_make(b[0], b[1], 0), got.w, t_s);
        double nearest = hypot(at.x - s[0], at.y - s[1]);
        assert_true(nearest < 1e-6 * ab);
        pvec x = patch_conic(pvec_make(a[0], a[1], 0), pvec_make(k[0], k[1], 0),
                             pvec_make(b[0], b[1], 0), got.w, 1e-7);
        double t[2] = { x.x - a[0], x.y - a[1] };
        assert_near(CROSS(t, u) / (hypot(t[0], t[1]) * hypot(u[0], u[1])), 0.0, 1e-4);
    }
    // Quarter circle: w = cos 45. A point beyond the control point, or none: no NaN.
    patch_weight quarter =
        patch_weight_through(pvec_make(1, 0, 0), pvec_make(1, 1, 0), pvec_make(0, 1, 0),
                             pvec_make(sqrt(0.5), sqrt(0.5), 0));
    assert_near(quarter.w, sqrt(0.5), 1e-12);
    patch_weight beyond = patch_weight_through(pvec_make(1, 0, 0), pvec_make(1, 1, 0),
                                               pvec_make(0, 1, 0), pvec_make(2, 2, 0));
    assert_false(beyond.valid);
    assert_near(beyond.w, 5.0, 0.0);
    patch_weight none = patch_weight_through(pvec_make(1, 0, 0), pvec_make(0, 0, 0),
                                             pvec_make(-1, 0, 0), pvec_make(0, 0, 0));
    assert_near(none.w, 0.0, 0.0);
}

static void angles_without_a_library_are_those_of_the_library(void **state)
{
    (void)state;
    for (int i = 0; i <= 1000; i++) {
        double x = tan(i * 1.57 / 1000);
        assert_near(patch_arctan(x), atan(x), 1e-12);
    }
}

// D6.
static void at_rest_the_mesh_is_the_file_to_the_bit(void **state)
{
    (void)state;
    for (int l = 0; l < 5; l++) {
        patch_run r = open_limb(&LIMBS[l], CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_DEFAULT);
        const cutis_primitive *p = &cutis_model_get(r.model)->meshes[0].primitives[0];
        assert_int_equal(r.counts[0], p->vertex_count);
        assert_int_equal(r.counts[1], p->index_count / 3);
        double file = mesh_volume(p->index_count / 3, p->positions, p->indices);
        assert_near(r.rest_volume / file, 1.0, 1e-12);
        assert_null(frame_fault(&r, 2));
        for (uint32_t t = 0; t < r.counts[1]; t++) assert_true(r.labels[t] < r.info.part_count);
        patch_run_close(&r);
    }
}

// D7, on five limbs.
static void every_pose_of_a_limb_is_closed_in_both_removals_and_five_fills(void **state)
{
    (void)state;
    static const double twists[] = { 5, 22.5, 45, 90, 135, 180 };
    uint32_t poses = 0;
    for (int l = 0; l < 5; l++)
        for (int removal = 0; removal < 2; removal++)
            for (int fill = 1; fill <= 5; fill++) {
                patch_run r =
                    open_limb(&LIMBS[l], (cutis_patch_removal)removal, (cutis_patch_fill)fill);
                for (int bend = 0; bend <= 110; bend += l < 2 ? 5 : 15)
                    for (int axis = 0; axis < 3; axis++, poses++) {
                        bent_change(&r, axis * M_PI / 3, bend, 0);
                        const char *fault = frame_fault(&r, 2);
                        if (fault) fail_msg("limb %d bend %d axis %d: %s", l, bend, axis, fault);
                    }
                for (int i = 0; i < 18; i++, poses++) {
                    bent_change(&r, 0.4, i % 3 == 0 ? 0 : i % 3 == 1 ? 40 : 90, twists[i / 3]);
                    const char *fault = frame_fault(&r, 2);
                    if (fault) fail_msg("limb %d twist %g: %s", l, twists[i / 3], fault);
                }
                patch_run_close(&r);
            }
    print_message("%u poses closed\n", poses);
}

static double lbs_volume(patch_run *r)
{
    cutis_binding *binding = NULL;
    uint32_t vertices = cutis_model_vertex_count(r->model);
    float *positions = malloc(12 * (size_t)vertices);
    const cutis_primitive *p = &cutis_model_get(r->model)->meshes[0].primitives[0];
    assert_ok(context, cutis_bind(device, r->model, NULL, &binding));
    assert_ok(context, cutis_deform(binding, &(cutis_poses){ .local = r->pose }, 1,
                                    &(cutis_outputs){ .positions.data = positions }));
    double volume = mesh_volume(p->index_count / 3, positions, p->indices);
    cutis_binding_destroy(binding);
    free(positions);
    return volume;
}

// D8, first part.
static void cut_and_keep_keeps_the_volume_of_cylinder_and_knees(void **state)
{
    (void)state;
    double worst[3] = { 0 }, twisted = 0.0, turned = 0.0;
    for (int l = 0; l < 4; l++) {
        patch_run r = open_limb(&LIMBS[l], CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
        for (int bend = 5; bend <= 110; bend += 5)
            for (int axis = 0; axis < 3; axis++) {
                double change = fabs(bent_change(&r, axis * M_PI / 3, bend, 0));
                int band = bend <= 30 ? 0 : bend <= 60 ? 1 : 2;
                worst[band] = fmax(worst[band], change);
            }
        for (int twist = 30; twist <= 180; twist += 30) {
            twisted = fmax(twisted, fabs(bent_change(&r, 0.3, 60, twist)));
            turned = fmax(turned, fabs(bent_change(&r, 0.3, 0, twist)));
        }
        bent_change(&r, 0, 90, 0);
        double ours = fabs(patch_run_volume(&r) - r.rest_volume);
        assert_true(ours < (r.rest_volume - lbs_volume(&r)) / 50.0);
        patch_run_close(&r);
    }
    print_message("volume change: %.5f %% to 30, %.5f to 60, %.5f to 110 degrees; with twist %.5f, "
                  "pure twist %.5f\n",
                  worst[0], worst[1], worst[2], twisted, turned);
    assert_true(worst[0] <= 0.02);
    assert_true(worst[1] <= 0.03);
    assert_true(worst[2] <= 0.05);
    assert_true(twisted <= 0.1);
    assert_true(turned <= 0.001);
}

// D8, second part: the paper's best, and the order of its four.
static void box_and_reduced_loses_what_the_specification_says(void **state)
{
    (void)state;
    static const int bends[4] = { 30, 60, 90, 110 };
    double loss[6][4];
    for (int fill = 2; fill <= 5; fill++) {
        patch_run r = open_limb(&KNEE, CUTIS_PATCH_BOX, (cutis_patch_fill)fill);
        for (int b = 0; b < 4; b++) loss[fill][b] = -bent_change(&r, 0, bends[b], 0);
        print_message("box + %-12s %+.3f %+.3f %+.3f %+.3f %%\n",
                      cutis_patch_fill_name((cutis_patch_fill)fill), -loss[fill][0], -loss[fill][1],
                      -loss[fill][2], -loss[fill][3]);
        patch_run_close(&r);
    }
    const double *reduced = loss[CUTIS_PATCH_FILL_REDUCED];
    assert_true(fabs(reduced[0]) <= 0.1);
    assert_true(fabs(reduced[1]) <= 0.8);
    assert_true(fabs(reduced[2]) <= 2.5);
    for (int b = 1; b < 4; b++) {
        assert_true(reduced[b] <= loss[CUTIS_PATCH_FILL_INTERSECTION][b]);
        assert_true(loss[CUTIS_PATCH_FILL_INTERSECTION][b] <= loss[CUTIS_PATCH_FILL_MEAN][b]);
        assert_true(loss[CUTIS_PATCH_FILL_MEAN][b] <= loss[CUTIS_PATCH_FILL_BETWEEN][b]);
    }
}

// D8, third part.
static void few_patch_triangles_of_a_limb_cross(void **state)
{
    (void)state;
    for (int l = 0; l < 5; l++) {
        patch_run r = open_limb(&LIMBS[l], CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
        uint32_t poses = 0, clean = 0, most = 0;
        for (int bend = 10; bend <= 110; bend += 10)
            for (int axis = 0; axis < 3; axis++, poses++) {
                bent_change(&r, axis * M_PI / 3, bend, 0);
                uint32_t crossing = patch_crossings(&r, 0, NULL);
                clean += crossing == 0;
                if (crossing > most) most = crossing;
            }
        print_message("limb %d: no crossing triangle in %u of %u poses, at most %u\n", l, clean,
                      poses, most);
        assert_true(10 * clean >= 6 * poses);
        assert_true(most <= 6);
        patch_run_close(&r);
    }
}

// D9: a front point keeps its distance from the joint, and its neighbours theirs.
static void front_points_stay_on_circles_about_the_joint(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        double angle = 0.02 * (i + 1);
        pquat swing = pquat_make(cos(angle / 2), sin(angle / 2) * 0.6, sin(angle / 2) * 0.8, 0);
        pvec p = pvec_make(random_in(3, 3 * (uint64_t)i, -1, 1),
                           random_in(3, 3 * (uint64_t)i + 1, -1, 1), 0.3);
        for (int k = 0; k <= 16; k++)
            assert_near(pvec_length(patch_arc(p, p, swing, k / 16.0)), pvec_length(p), 1e-12);
        pvec end = patch_arc(p, p, swing, 1.0), turned = pquat_turned(swing, p);
        assert_near(pvec_length(pvec_minus(end, turned)), 0.0, 1e-12);
    }
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

// D10: medians of the parts, and the patch's 95th percentile.
static void curvature_of_the_parts_stays_and_the_patch_has_no_crease(void **state)
{
    (void)state;
    patch_run r = open_limb(&KNEE, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    double rest[3], now[3], worst = 0.0, crease = 0.0;
    float *bend = malloc(4 * (size_t)r.info.vertex_capacity),
          *own = malloc(4 * (size_t)r.info.vertex_capacity);
    uint32_t *weld = malloc(4 * (size_t)r.info.vertex_capacity);
    uint8_t *patch = malloc(r.info.vertex_capacity);
    for (uint32_t v = 0; v < r.info.vertex_capacity; v++) weld[v] = v;
    for (int angle = 0; angle <= 110; angle += 10) {
        bent_change(&r, 0, angle, 0);
        cutis_surface surface = { .vertex_count = r.counts[0],
                                  .positions = r.positions,
                                  .triangle_count = r.counts[1],
                                  .indices = r.indices };
        assert_ok(context, cutis_surface_bend(context, &surface, weld, r.labels, 3,
                                              angle ? now : rest, bend));
        if (angle == 0) continue;
        for (int p = 0; p < 2; p++) worst = fmax(worst, fabs(100.0 * (now[p] / rest[p] - 1.0)));
        size_t count = 0;
        memset(patch, 0, r.counts[0]);
        for (uint32_t i = 0; i < 3 * r.counts[1]; i++)
            if (r.labels[i / 3] == 2) patch[r.indices[i]] = 1;
        for (uint32_t v = 0; v < r.counts[0]; v++)
            if (patch[v]) own[count++] = bend[v];
        qsort(own, count, sizeof *own, by_value);
        crease = fmax(crease, own[(size_t)(0.95 * (double)(count - 1))]);
    }
    print_message("part medians change by %.2f %% at most; patch, 95 %%: %.1f degrees\n", worst,
                  crease);
    assert_true(worst < 3.0);
    assert_true(crease <= 20.0);
    free(bend), free(own), free(weld), free(patch);
    patch_run_close(&r);
}

// D11: a loop tilted by 20 degrees.
static void a_tilted_loop_keeps_its_volume_and_no_patch_triangle_crosses(void **state)
{
    (void)state;
    limb_options tilted = KNEE;
    tilted.tilt = 20;
    patch_run r = open_limb(&tilted, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    double worst = 0.0;
    uint32_t crossing = 0;
    for (int bend = 10; bend <= 90; bend += 10)
        for (int axis = 0; axis < 3; axis++) {
            worst = fmax(worst, fabs(bent_change(&r, axis * M_PI / 3, bend, 0)));
            crossing += patch_crossings(&r, 0, NULL);
        }
    print_message("tilted by 20 degrees: %.4f %%, %u crossing triangles\n", worst, crossing);
    assert_true(worst <= 0.3);
    assert_int_equal(crossing, 0);
    patch_run_close(&r);
}

static uint64_t frame_hash(const patch_run *r)
{
    uint64_t h = 1469598103934665603u;
    const uint8_t *bytes[3] = { (const uint8_t *)r->positions, (const uint8_t *)r->normals,
                                (const uint8_t *)r->indices };
    size_t sizes[3] = { 12 * (size_t)r->counts[0], 12 * (size_t)r->counts[0],
                        12 * (size_t)r->counts[1] };
    for (int k = 0; k < 3; k++)
        for (size_t i = 0; i < sizes[k]; i++) h = (h ^ bytes[k][i]) * 1099511628211u;
    return h;
}

// D12.
static void bytes_do_not_depend_on_the_number_of_threads(void **state)
{
    (void)state;
    uint64_t hashes[3];
    static const uint32_t threads[3] = { 1, 2, 8 };
    for (int t = 0; t < 3; t++) {
        cutis_device *own = NULL;
        assert_ok(context,
                  cutis_device_create(context,
                                      &(cutis_device_options){ .thread_count = threads[t] }, &own));
        patch_run r = patch_run_open(context, own, limb_create(context, &KNEE), CUTIS_PATCH_CUT,
                                     CUTIS_PATCH_FILL_KEEP);
        bent_change(&r, 0.7, 80, 35);
        hashes[t] = frame_hash(&r);
        patch_run_close(&r);
        cutis_device_destroy(own);
    }
    assert_int_equal(hashes[0], hashes[1]);
    assert_int_equal(hashes[0], hashes[2]);
}

static void many_instances_give_the_frames_of_one(void **state)
{
    (void)state;
    patch_run r = open_limb(&KNEE, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    uint32_t nodes = cutis_model_get(r.model)->node_count, counts[10];
    cutis_transform *poses = malloc(5 * nodes * sizeof *poses);
    cutis_binding *many = NULL;
    size_t vertices = r.info.vertex_capacity, triangles = r.info.triangle_capacity;
    float *positions = calloc(5 * vertices, 12), *normals = calloc(5 * vertices, 12);
    uint32_t *indices = calloc(5 * triangles, 12);
    for (uint32_t i = 0; i < 5; i++) {
        patch_pose_joint(&r, 0, i, 25.0 * i * DEGREES, 0.1 * i);
        memcpy(poses + i * nodes, r.pose, nodes * sizeof *poses);
    }
    assert_ok(context, cutis_bind(device, r.model,
                                  &(cutis_bind_options){ .method = CUTIS_METHOD_PATCHES,
                                                         .normals = true,
                                                         .instance_capacity = 2,
                                                         .patch_band = patch_case_band },
                                  &many));
    cutis_outputs output = { .positions.data = positions,
                             .normals.data = normals,
                             .topology.indices.data = indices,
                             .topology.counts.data = counts };
    assert_ok(context, cutis_deform(many, &(cutis_poses){ .local = poses }, 5, &output));
    for (uint32_t i = 0; i < 5; i++) {
        memcpy(r.pose, poses + i * nodes, nodes * sizeof *poses);
        patch_run_now(&r);
        assert_memory_equal(r.counts, counts + 2 * i, 8);
        assert_memory_equal(r.positions, positions + 3 * vertices * i, 12 * (size_t)r.counts[0]);
        assert_memory_equal(r.normals, normals + 3 * vertices * i, 12 * (size_t)r.counts[0]);
        assert_memory_equal(r.indices, indices + 3 * triangles * i, 12 * (size_t)r.counts[1]);
    }
    free(poses), free(positions), free(normals), free(indices);
    cutis_binding_destroy(many);
    patch_run_close(&r);
}

static void too_little_room_says_how_much_is_needed(void **state)
{
    (void)state;
    patch_run r = open_limb(&KNEE, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    uint32_t counts[2] = { 0 };
    bent_change(&r, 0, 60, 0);
    float marker = r.positions[0];
    cutis_outputs output = { .topology.vertex_capacity = 1000,
                             .topology.triangle_capacity = 100000,
                             .positions.data = r.positions,
                             .topology.indices.data = r.indices,
                             .topology.counts.data = counts };
    assert_int_equal(cutis_deform(r.patches, &(cutis_poses){ .local = r.pose }, 1, &output),
                     CUTIS_BUFFER_TOO_SMALL);
    assert_int_equal(counts[0], r.counts[0]);
    assert_int_equal(counts[1], r.counts[1]);
    assert_true(r.positions[0] == marker);
    patch_run_close(&r);
}

// A frame may not allocate.
static size_t allocations;
static void *counted_alloc(void *user, size_t size, size_t alignment)
{
    (void)user;
    allocations++;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
static void counted_free(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static void a_frame_allocates_nothing(void **state)
{
    (void)state;
    cutis_context *own = NULL;
    cutis_device *cpu = NULL;
    cutis_context_options options = { .allocator = { .allocate = counted_alloc,
                                                     .release = counted_free } };
    assert_ok(NULL, cutis_context_create(&options, &own));
    assert_ok(own, cutis_device_create(own, &(cutis_device_options){ .thread_count = 1 }, &cpu));
    cutis_context *before = context;
    context = own;
    patch_run r =
        patch_run_open(own, cpu, limb_create(own, &KNEE), CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    size_t bound = allocations;
    bent_change(&r, 0, 75, 20);
    assert_int_equal(allocations, bound);
    context = before;
    patch_run_close(&r);
    cutis_device_destroy(cpu);
    cutis_context_destroy(own);
}

// --fixed: nothing at rest, closed where the file is, and bounded in what it loses.
static void the_rest_topology_follows_the_patches(void **state)
{
    (void)state;
    patch_run r = open_limb(&KNEE, CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    const cutis_primitive *p = &cutis_model_get(r.model)->meshes[0].primitives[0];
    float *fixed = malloc(12 * (size_t)p->vertex_count);
    patch_pose_rest(&r);
    assert_ok(context, cutis_deform(r.patches, &(cutis_poses){ .local = r.pose }, 1,
                                    &(cutis_outputs){ .topology.rest_positions.data = fixed }));
    assert_memory_equal(fixed, p->positions, 12 * (size_t)p->vertex_count);
    double worst = 0.0;
    for (int bend = 10; bend <= 110; bend += 20) {
        bent_change(&r, 0, bend, 0);
        assert_ok(context, cutis_deform(r.patches, &(cutis_poses){ .local = r.pose }, 1,
                                        &(cutis_outputs){ .topology.rest_positions.data = fixed }));
        for (uint32_t i = 0; i < 3 * p->vertex_count; i++) assert_true(isfinite(fixed[i]));
        double volume = mesh_volume(p->index_count / 3, fixed, p->indices);
        worst = fmax(worst, fabs(100.0 * (volume / r.rest_volume - 1.0)));
    }
    print_message("rest topology: volume within %.3f %% to 110 degrees\n", worst);
    assert_true(worst < 3.0);
    free(fixed);
    patch_run_close(&r);
}

static void models_without_parts_or_with_holes_are_refused(void **state)
{
    (void)state;
    cutis_model *arm = limb_create(context, &CYLINDER), *broken = NULL;
    cutis_model_data data = *cutis_model_get(arm);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    cutis_binding *patches = NULL;
    data.meshes = &mesh;
    mesh.primitives = &primitive;
    primitive.index_count -= 3;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &broken));
    assert_int_equal(
        cutis_bind(device, broken,
                   &(cutis_bind_options){ .method = CUTIS_METHOD_PATCHES, .normals = true },
                   &patches),
        CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(context), "not closed"));
    cutis_model_destroy(broken);
    primitive = cutis_model_get(arm)->meshes[0].primitives[0];
    primitive.parts = NULL;
    mesh.part_count = 0;
    mesh.part_names = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &broken));
    assert_int_equal(
        cutis_bind(device, broken,
                   &(cutis_bind_options){ .method = CUTIS_METHOD_PATCHES, .normals = true },
                   &patches),
        CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(context), "parts"));
    cutis_model_destroy(broken);
    cutis_model_destroy(arm);
}

// Sources, mixed at rest and moved with their part, are where the vertices are (those of the patch
// excepted); weights sum to one; origins are triangles of the same part.
static void vertices_and_triangles_know_what_they_come_from(void **state)
{
    (void)state;
    limb_options limb = { .length = 4.5, .knee = true, .around = 24, .rings = 40 };
    patch_run r = patch_run_open(context, device, limb_create(context, &limb), CUTIS_PATCH_CUT,
                                 CUTIS_PATCH_FILL_KEEP);
    const cutis_primitive *mesh = &cutis_model_get(r.model)->meshes[0].primitives[0];
    uint32_t *vertices = calloc(r.info.vertex_capacity, 16), split = 0, samples = 0;
    uint32_t *origins = calloc(r.info.triangle_capacity, 4), patches = 0;
    float *weights = calloc(r.info.vertex_capacity, 16);
    cutis_mat34 palette[2];
    patch_pose_joint(&r, 0, 0.3, 60 * DEGREES, 0.0);
    cutis_binding_palette(r.patches, r.pose, palette);
    cutis_poses poses = { .kind = CUTIS_POSE_LOCAL, .local = r.pose };
    cutis_outputs output = { .positions.data = r.positions,
                             .topology.indices.data = r.indices,
                             .topology.labels.data = r.labels,
                             .topology.origins.data = origins,
                             .topology.source_vertices.data = vertices,
                             .topology.source_weights.data = weights,
                             .topology.counts.data = r.counts };
    output.topology.source_weights.data = NULL; // one without the other
    assert_int_equal(cutis_deform(r.patches, &poses, 1, &output), CUTIS_INVALID_ARGUMENT);
    output.topology.source_weights.data = weights;
    assert_ok(context, cutis_deform(r.patches, &poses, 1, &output));
    for (uint32_t t = 0; t < r.counts[1]; t++) {
        patches += r.labels[t] >= 2;
        if (r.labels[t] >= 2) {
            assert_int_equal(origins[t], UINT32_MAX);
            continue;
        }
        assert_in_range(origins[t], 0, mesh->index_count / 3 - 1);
        assert_int_equal(mesh->parts[origins[t]], r.labels[t]);
        for (int k = 0; k < 3; k++) {
            uint32_t v = r.indices[3 * t + k];
            const float *w = weights + 4 * v, *m = palette[r.labels[t]].m;
            double x[3] = { 0 }, sum = 0.0;
            for (int s = 0; s < 4; s++) {
                sum += w[s];
                for (int c = 0; c < 3; c++)
                    x[c] += w[s] * mesh->positions[3 * vertices[4 * v + s] + c];
            }
            assert_float_equal(sum, 1.0, 1e-6);
            split += w[1] > 0;
            for (int c = 0; c < 3; c++)
                assert_float_equal(r.positions[3 * v + c],
                                   m[4 * c] * x[0] + m[4 * c + 1] * x[1] + m[4 * c + 2] * x[2] +
                                       m[4 * c + 3],
                                   2e-5);
        }
    }
    for (uint32_t v = 0; v < r.counts[0]; v++) {
        const float *w = weights + 4 * v;
        assert_float_equal(w[0] + w[1] + w[2] + w[3], 1.0, 1e-6);
        samples += w[2] + w[3] > 0;
    }
    assert_true(split > 20 && samples > 50 && patches > 100);
    free(vertices), free(weights), free(origins);
    patch_run_close(&r);
}

// The paper's triangulation uses the same points: no more than the same area, no edge in three
// triangles, and holes where points disagree, which is why it is not the default.
static void local_triangulation_covers_the_patch_but_for_holes(void **state)
{
    (void)state;
    limb_options limb = { .length = 4.5, .knee = true, .around = 24, .rings = 40 };
    patch_run r = patch_run_open(context, device, limb_create(context, &limb), CUTIS_PATCH_CUT,
                                 CUTIS_PATCH_FILL_KEEP);
    for (int step = 2; step <= 8; step += 3) {
        double area[2] = { 0 };
        cutis_manifold manifold;
        patch_pose_joint(&r, 0, 0.3, 10 * step * DEGREES, 0.0);
        patch_run_now(&r);
        for (int way = 0; way < 2; way++) {
            if (way == 1)
                assert_ok(context,
                          cutis_patches_local(context, &r.info, r.positions, r.normals, r.indices,
                                              r.labels, r.info.triangle_capacity, r.counts));
            for (uint32_t t = 0; t < r.counts[1]; t++) {
                double a[3], b[3], x[3];
                for (int k = 0; k < 3; k++) {
                    const float *p = r.positions + k;
                    const uint32_t *v = r.indices + 3 * t;
                    a[k] = (double)p[3 * v[1]] - p[3 * v[0]];
                    b[k] = (double)p[3 * v[2]] - p[3 * v[0]];
                }
                for (int k = 0; k < 3; k++)
                    x[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
                if (r.labels[t] >= r.info.part_count)
                    area[way] += 0.5 * sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
            }
        }
        cutis_surface surface = { r.counts[0], r.counts[1], r.positions, r.indices };
        assert_ok(context, cutis_surface_manifold(context, &surface, NULL, &manifold));
        print_message("%d degrees: local triangulation has %.1f %% of the area, %llu open edges\n",
                      10 * step, 100 * area[1] / area[0],
                      (unsigned long long)manifold.boundary_edges);
        assert_true(area[1] > 0.6 * area[0] && area[1] < 1.02 * area[0]);
        assert_int_equal(manifold.crowded_edges, 0);
    }
    patch_run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conics_pass_through_their_point_in_1000_random_cases),
        cmocka_unit_test(angles_without_a_library_are_those_of_the_library),
        cmocka_unit_test(at_rest_the_mesh_is_the_file_to_the_bit),
        cmocka_unit_test(every_pose_of_a_limb_is_closed_in_both_removals_and_five_fills),
        cmocka_unit_test(cut_and_keep_keeps_the_volume_of_cylinder_and_knees),
        cmocka_unit_test(box_and_reduced_loses_what_the_specification_says),
        cmocka_unit_test(few_patch_triangles_of_a_limb_cross),
        cmocka_unit_test(front_points_stay_on_circles_about_the_joint),
        cmocka_unit_test(curvature_of_the_parts_stays_and_the_patch_has_no_crease),
        cmocka_unit_test(a_tilted_loop_keeps_its_volume_and_no_patch_triangle_crosses),
        cmocka_unit_test(bytes_do_not_depend_on_the_number_of_threads),
        cmocka_unit_test(many_instances_give_the_frames_of_one),
        cmocka_unit_test(too_little_room_says_how_much_is_needed),
        cmocka_unit_test(a_frame_allocates_nothing),
        cmocka_unit_test(the_rest_topology_follows_the_patches),
        cmocka_unit_test(vertices_and_triangles_know_what_they_come_from),
        cmocka_unit_test(local_triangulation_covers_the_patch_but_for_holes),
        cmocka_unit_test(models_without_parts_or_with_holes_are_refused),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
