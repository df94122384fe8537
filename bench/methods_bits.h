/// Whole methods of a GPU against the CPU: cage, rigid handles, pose space and patches, from poses
/// to vertices, on our own bodies in random poses. Part of bench_gpu.c.
#ifndef CUTIS_BENCH_METHODS_BITS_H
#define CUTIS_BENCH_METHODS_BITS_H

/// What a method runs on.
typedef struct method_case {
    cutis_method method;
    cutis_model *model;
    const cutis_cage *cage; ///< of the method cage
    uint64_t seed;
} method_case;

/// Outputs of one device.
typedef struct method_frames {
    cutis_binding *binding;
    float *positions, *normals;
    uint32_t *indices, *counts;
} method_frames;

/// How two outputs differ: in how many floats, and by how many ULP of the largest of them.
typedef struct method_difference {
    uint64_t floats, different;
    double worst;
} method_difference;

static cutis_model *synth(bench *b, cutis_body body)
{
    cutis_model *model = NULL;
    const cutis_synth_options options = { .body = body, .examples = body == CUTIS_BODY_ARM };
    must(b, cutis_synth_create(b->context, &options, &model), "synth");
    return model;
}

/// The arm with a pose space of its own examples.
static cutis_model *posed_arm(bench *b)
{
    cutis_model *arm = synth(b, CUTIS_BODY_ARM), *out = NULL;
    const uint32_t nodes = cutis_model_get(arm)->node_count;
    uint32_t clip = 0;
    cutis_sampler *sampler = NULL;
    cutis_transform *poses = malloc(CUTIS_ARM_EXAMPLE_COUNT * nodes * sizeof *poses);
    float *shapes = malloc(12ull * CUTIS_ARM_EXAMPLE_COUNT * cutis_model_vertex_count(arm));
    must(b, cutis_model_find_clip(arm, "examples", &clip), "clip");
    must(b, cutis_sampler_create(arm, clip, &sampler), "sampler");
    must(b, cutis_synth_arm_examples(arm, shapes), "examples");
    for (uint32_t i = 0; i < CUTIS_ARM_EXAMPLE_COUNT; i++)
        cutis_sampler_sample(sampler, (float)i, poses + (size_t)i * nodes, NULL);
    const cutis_pose_examples examples = { CUTIS_ARM_EXAMPLE_COUNT, poses, shapes, NULL };
    must(b, cutis_poses_fit(arm, b->cpu, &examples, NULL, &out, NULL), "fit");
    cutis_sampler_destroy(sampler);
    cutis_model_destroy(arm);
    free(poses), free(shapes);
    return out;
}

static cutis_model *handled_biped(bench *b)
{
    static const cutis_handle handles[] = { { .name = "head", .from = { 0, 1.6f, 0 } },
                                            { .name = "left", .from = { 0.6f, 1.3f, 0 } },
                                            { .name = "right", .from = { -0.6f, 1.3f, 0 } },
                                            { .name = "foot_l", .from = { 0.1f, 0.1f, 0 } },
                                            { .name = "foot_r", .from = { -0.1f, 0.1f, 0 } } };
    const cutis_handle_set set = { .handle_count = 5, .handles = handles };
    const cutis_handles_options options = { .voxels = 40,
                                            .weighting = CUTIS_WEIGHTING_VIRTUAL,
                                            .radius = 0.3 };
    cutis_model *biped = synth(b, CUTIS_BODY_BIPED), *out = NULL;
    must(b, cutis_handles_weights(biped, b->cpu, &set, &options, &out, NULL), "handles");
    cutis_model_destroy(biped);
    return out;
}

/// A box of 26 controls around a body: corners, edges and faces.
static cutis_model *cage_box(bench *b, const cutis_model *body)
{
    enum { SIDE = 3, POINTS = SIDE * SIDE * SIDE };
    float corners[3 * POINTS], low[3] = { 1e9f, 1e9f, 1e9f }, high[3] = { -1e9f, -1e9f, -1e9f };
    int32_t index[POINTS];
    uint32_t faces[6 * 6 * (SIDE - 1) * (SIDE - 1)], points = 0, corner = 0;
    const uint32_t vertices = cutis_model_vertex_count(body);
    float *rest = malloc(12ull * vertices);
    cutis_model_file_positions(body, rest);
    for (uint32_t i = 0; i < 3 * vertices; i++) {
        low[i % 3] = fminf(low[i % 3], rest[i]);
        high[i % 3] = fmaxf(high[i % 3], rest[i]);
    }
    free(rest);
    for (int i = 0; i < POINTS; i++) {
        const int at[3] = { i % 3, i / 3 % 3, i / 9 };
        index[i] = i == POINTS / 2 ? -1 : (int32_t)points;
        if (index[i] < 0) continue;
        for (int k = 0; k < 3; k++) {
            const float middle = 0.5f * (low[k] + high[k]),
                        half = 0.6f * (high[k] - low[k]) + 0.05f;
            corners[3 * points + (uint32_t)k] = middle + half * (float)(at[k] - 1);
        }
        points++;
    }
    for (int side = 0; side < 6; side++)
        for (int cell = 0; cell < 4; cell++) {
            const int axis = side / 2, u = (axis + 1) % 3, v = (axis + 2) % 3;
            uint32_t quad[4];
            for (int k = 0; k < 4; k++) {
                int at[3];
                at[axis] = side % 2 ? 2 : 0;
                at[u] = cell % 2 + (k == 1 || k == 2);
                at[v] = cell / 2 + (k >= 2);
                quad[k] = (uint32_t)index[at[0] + 3 * at[1] + 9 * at[2]];
            }
            const int order[2][6] = { { 0, 2, 1, 0, 3, 2 }, { 0, 1, 2, 0, 2, 3 } };
            for (int k = 0; k < 6; k++) faces[corner++] = quad[order[side % 2][k]];
        }
    const cutis_primitive primitive = { .vertex_count = points,
                                        .index_count = corner,
                                        .indices = faces,
                                        .positions = corners,
                                        .material = CUTIS_NONE };
    const cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    const cutis_node node = {
        .parent = CUTIS_NONE, .rest = cutis_transform_identity(), .mesh = 0, .skin = CUTIS_NONE
    };
    const cutis_model_data data = {
        .node_count = 1, .nodes = &node, .mesh_count = 1, .meshes = &mesh
    };
    cutis_model *out = NULL;
    must(b, cutis_model_create(b->context, &data, CUTIS_GATE_REFUSE, &out), "cage");
    return out;
}

/// Every node turned by up to 0.8, or every control moved.
static void *random_poses(const method_case *c, uint32_t instances, uint64_t round,
                          cutis_poses *out)
{
    uint64_t state = 1000003 * (round + 1) + c->seed;
    if (c->cage) {
        const uint32_t controls = c->cage->control_count;
        cutis_float3 *points = malloc((size_t)instances * controls * sizeof *points);
        for (size_t i = 0; i < (size_t)instances * controls; i++) {
            points[i] = c->cage->controls[i % controls];
            points[i].x += 0.2f * (float)case_in(&state, -1, 1);
            points[i].y += 0.2f * (float)case_in(&state, -1, 1);
            points[i].z += 0.2f * (float)case_in(&state, -1, 1);
        }
        *out = (cutis_poses){ .kind = CUTIS_POSE_CONTROLS, .controls = points };
        return points;
    }
    const uint32_t nodes = cutis_model_get(c->model)->node_count;
    cutis_transform *local = malloc((size_t)instances * nodes * sizeof *local);
    for (uint32_t i = 0; i < instances; i++) {
        cutis_transform *pose = local + (size_t)i * nodes;
        cutis_pose_rest(c->model, pose, NULL);
        for (uint32_t n = 0; n < nodes; n++) {
            const cutis_float3 axis = { (float)case_in(&state, -1, 1),
                                        (float)case_in(&state, -1, 1),
                                        (float)case_in(&state, -1, 1) };
            const cutis_quat turn =
                cutis_quat_from_axis_angle(axis, 0.8f * (float)case_in(&state, -1, 1));
            pose[n].rotation = cutis_quat_multiply(turn, pose[n].rotation);
        }
    }
    *out = (cutis_poses){ .local = local };
    return local;
}

static method_frames open_frames(bench *b, const method_case *c, cutis_device *device,
                                 uint32_t instances)
{
    method_frames f = { 0 };
    const cutis_bind_options options = { .method = c->method,
                                         .normals = true,
                                         .instance_capacity = instances };
    must(b, cutis_bind(device, c->model, &options, &f.binding), "bind");
    const cutis_binding_info info = cutis_binding_describe(f.binding);
    const uint64_t vertices = (uint64_t)info.vertex_count * instances;
    f.positions = calloc(vertices, 12);
    f.normals = calloc(vertices, 12);
    f.indices = calloc((uint64_t)info.triangle_count * instances + 1, 12);
    f.counts = calloc(instances, 8);
    return f;
}

static void close_frames(method_frames *f)
{
    cutis_binding_destroy(f->binding);
    free(f->positions), free(f->normals), free(f->indices), free(f->counts);
}

static void run_frames(bench *b, method_frames *f, const cutis_poses *poses, uint32_t instances)
{
    cutis_outputs to = { .positions.data = f->positions, .normals.data = f->normals };
    if (cutis_binding_describe(f->binding).triangle_count) {
        to.topology.indices.data = f->indices;
        to.topology.counts.data = f->counts;
    }
    must(b, cutis_deform(f->binding, poses, instances, &to), "deform");
}

static void compare_floats(const float *x, const float *y, size_t count, method_difference *d)
{
    double worst = 0.0, largest = 0.0;
    d->floats += count;
    for (size_t i = 0; i < count; i++) {
        largest = fmax(largest, fabs((double)y[i]));
        if (memcmp(&x[i], &y[i], sizeof *x) == 0) continue;
        d->different++;
        worst = fmax(worst, fabs((double)x[i] - (double)y[i]));
    }
    if (worst > 0.0) d->worst = fmax(d->worst, worst / (ldexp(1.0, ilogb(largest) - 23)));
}

/// Frames with a topology of their own: counts and indices must be the same to the last.
static void compare_topology(const method_frames *x, const method_frames *y, uint32_t instances,
                             method_difference *d)
{
    const cutis_binding_info info = cutis_binding_describe(x->binding);
    for (uint32_t i = 0; i < instances; i++) {
        const size_t v = 3 * (size_t)i * info.vertex_count, t = 3 * (size_t)i * info.triangle_count;
        const uint32_t *n = y->counts + 2 * i;
        if (memcmp(x->counts + 2 * i, n, 8) != 0 ||
            memcmp(x->indices + t, y->indices + t, 12 * (size_t)n[1]) != 0) {
            d->worst = HUGE_VAL;
            d->different++;
            continue;
        }
        compare_floats(x->positions + v, y->positions + v, 3 * (size_t)n[0], d);
        compare_floats(x->normals + v, y->normals + v, 3 * (size_t)n[0], d);
    }
}

static void check_method(bench *b, const method_case *c)
{
    const bool patches = c->method == CUTIS_METHOD_PATCHES;
    const uint32_t vertices = cutis_model_vertex_count(c->model);
    const uint32_t instances = patches ? 64 : 2000000 / vertices + 1;
    method_frames cpu = open_frames(b, c, b->cpu, instances);
    method_frames gpu = open_frames(b, c, b->device, instances);
    method_difference d = { 0 };
    const double start = now();
    for (uint64_t round = 0; d.floats < b->total; round++) {
        cutis_poses poses;
        void *memory = random_poses(c, instances, round, &poses);
        run_frames(b, &cpu, &poses, instances);
        run_frames(b, &gpu, &poses, instances);
        free(memory);
        if (patches) {
            compare_topology(&gpu, &cpu, instances, &d);
            continue;
        }
        const size_t count = 3 * (size_t)instances * vertices;
        compare_floats(gpu.positions, cpu.positions, count, &d);
        compare_floats(gpu.normals, cpu.normals, count, &d);
    }
    printf("bits  %-7s %-13s %-5s %11llu floats: %llu differ, by %.1f ULP of the largest at most "
           "(%.1f s)\n",
           b->gpu->driver->name, cutis_method_name(c->method), "whole",
           (unsigned long long)d.floats, (unsigned long long)d.different, d.worst, now() - start);
    if (b->json)
        fprintf(b->json,
                "%s{\"kind\": \"bits\", \"device\": \"%s\", \"method\": \"%s\", \"data\": "
                "\"whole\", \"floats\": %llu, \"different\": %llu, \"ulp\": %.2f}",
                b->rows++ ? ",\n" : "", b->gpu->driver->name, cutis_method_name(c->method),
                (unsigned long long)d.floats, (unsigned long long)d.different, d.worst);
    b->failures += !(d.worst <= 4.0);
    fflush(stdout);
    close_frames(&cpu);
    close_frames(&gpu);
}

static void check_methods(bench *b)
{
    cutis_model *arm = posed_arm(b), *handled = handled_biped(b);
    cutis_model *biped = synth(b, CUTIS_BODY_BIPED), *box = cage_box(b, biped), *caged = NULL;
    cutis_cage *cage = NULL;
    must(b, cutis_cage_create(box, &cage), "cage");
    must(b, cutis_cage_bind(biped, b->cpu, cage, NULL, &caged, NULL), "cage");
    const method_case cases[] = { { CUTIS_METHOD_PSD, arm, NULL, 1 },
                                  { CUTIS_METHOD_WPSD, arm, NULL, 2 },
                                  { CUTIS_METHOD_HANDLES_RIGID, handled, NULL, 3 },
                                  { CUTIS_METHOD_CAGE, caged, cage, 4 },
                                  { CUTIS_METHOD_PATCHES, biped, NULL, 5 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) check_method(b, &cases[i]);
    cutis_model *const models[] = { arm, handled, biped, box, caged };
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) cutis_model_destroy(models[i]);
    cutis_cage_destroy(cage);
}

#endif
