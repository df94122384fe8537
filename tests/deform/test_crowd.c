/// Crowds against the single path (sample, blend, deform), formats against their definition in
/// double, culling and levels against brute force, and what callers may not do.
#include "support.h"

#include "device/device.h"
#include "kernel/kernel.h"
#include "kernel/pack.h"

enum { COUNT = 12 };

// Made once: bodies, and devices with their kernels.
static cutis_context *the_context;
static cutis_model *the_models[2];
static cutis_model *the_linear; ///< the first with its clips as linear keys, 60 a second
static cutis_device *the_devices[3];

typedef struct scene {
    cutis_context *context;
    cutis_device *device;
    cutis_model *models[2];
    cutis_binding *bindings[2];
    cutis_crowd *crowd;
    cutis_crowd_info info;
    cutis_crowd_output outputs[2];
} scene;

typedef struct scene_options {
    cutis_device_kind kind;
    const char *poses; ///< CUTIS_CROWD_POSES
    cutis_method method;
    bool weighted;
    bool linear; ///< clips
    uint32_t levels;
    cutis_crowd_options crowd;
} scene_options;

static void close_scene(scene *s)
{
    cutis_crowd_destroy(s->crowd);
    for (int l = 0; l < 2; l++) {
        cutis_buffer_destroy(s->outputs[l].vertices);
        cutis_buffer_destroy(s->outputs[l].previous);
        cutis_binding_destroy(s->bindings[l]);
    }
}

static void open_scene(scene *s, const scene_options *o)
{
    cutis_crowd_options options = o->crowd;
    cutis_crowd_level levels[2];
    *s = (scene){ .context = the_context, .models = { the_models[0], the_models[1] } };
    cutis_result result =
        the_devices[o->kind]
            ? CUTIS_OK
            : cutis_device_create(s->context, &(cutis_device_options){ .kind = o->kind },
                                  &the_devices[o->kind]);
    if (result == CUTIS_DEVICE_UNAVAILABLE) {
        print_message("skip: %s\n", cutis_context_error(s->context));
        skip();
    }
    assert_ok(s->context, result);
    s->device = the_devices[o->kind];
    options.level_count = o->levels ? o->levels : 1;
    if (o->linear) s->models[0] = the_linear;
    for (uint32_t l = 0; l < options.level_count; l++) {
        assert_ok(s->context, cutis_bind(s->device, s->models[l],
                                         &(cutis_bind_options){ .method = o->method,
                                                                .weighted_centres = o->weighted,
                                                                .normals = true },
                                         &s->bindings[l]));
        levels[l] =
            (cutis_crowd_level){ s->bindings[l], l + 1 < options.level_count ? 6.0f : 0.0f };
    }
    options.levels = levels;
    if (!options.instance_capacity) options.instance_capacity = COUNT;
    if (o->poses) setenv("CUTIS_CROWD_POSES", o->poses, 1);
    assert_ok(s->context, cutis_crowd_create(&options, &s->crowd));
    unsetenv("CUTIS_CROWD_POSES");
    s->info = cutis_crowd_describe(s->crowd);
    for (uint32_t l = 0; l < options.level_count; l++) {
        if (o->poses)
            assert_int_equal(s->info.levels[l].on_device, strcmp(o->poses, "device") == 0);
        assert_ok(s->context,
                  cutis_buffer_create(s->device,
                                      options.instance_capacity * s->info.levels[l].slot_bytes,
                                      &s->outputs[l].vertices));
        if (options.previous)
            assert_ok(s->context, cutis_buffer_create(s->device,
                                                      options.instance_capacity *
                                                          s->info.levels[l].previous_slot_bytes,
                                                      &s->outputs[l].previous));
    }
}

/// Instance i: everyone elsewhere in time and space; two and three clips blended.
static cutis_crowd_instance instance_of(const scene *s, uint32_t i)
{
    cutis_crowd_instance one = { .root = cutis_transform_identity(), .track_count = 1 + i % 4 };
    one.root.translation =
        (cutis_float3){ (float)random_in(1, i, -9, 9), 0, (float)random_in(2, i, -9, 9) };
    one.root.rotation =
        cutis_quat_from_axis_angle((cutis_float3){ 0.1f, 1, 0 }, (float)random_in(3, i, -3, 3));
    if (i % 2) one.root.scale = (cutis_float3){ 1.25f, 1.25f, 1.25f };
    for (uint32_t t = 0; t < CUTIS_CROWD_TRACKS; t++)
        one.tracks[t] = (cutis_crowd_track){ .clip = (i + t) % s->info.clip_count,
                                             .seconds = random_in(4 + t, i, -2, 5),
                                             .speed = (float)random_in(9, i, -1, 2),
                                             .weight = (float)random_in(10 + t, i, 0, 1),
                                             .once = (i + t) % 5 == 0 };
    return one;
}

static void fill(scene *s, uint32_t count)
{
    assert_ok(s->context, cutis_crowd_resize(s->crowd, count));
    for (uint32_t i = 0; i < count; i++) {
        cutis_crowd_instance one = instance_of(s, i);
        assert_ok(s->context, cutis_crowd_set(s->crowd, i, 1, &one));
    }
}

/// The single path: positions and normals (6 floats a vertex) of an instance.
/// @param root in place of the topmost node's transform, which is the identity; or NULL
static void single(const scene *s, uint32_t level, const cutis_crowd_instance *one, double clock,
                   const cutis_transform *root, float *out)
{
    const uint32_t nodes = cutis_model_get(s->models[0])->node_count;
    cutis_transform *pose = calloc(2 * (size_t)nodes, sizeof *pose), *over = pose + nodes;
    cutis_pose_rest(s->models[0], pose, NULL);
    for (uint32_t t = 0; t < one->track_count; t++) {
        cutis_sampler *sampler = NULL;
        assert_ok(s->context, cutis_sampler_create(s->models[0], one->tracks[t].clip, &sampler));
        double time = one->tracks[t].seconds + (double)one->tracks[t].speed * clock;
        const double length = cutis_sampler_duration(sampler);
        if (!one->tracks[t].once) time -= length * floor(time / length);
        cutis_sampler_sample(sampler, (float)time, t ? over : pose, NULL);
        if (t) cutis_pose_blend(pose, over, one->tracks[t].weight, nodes, pose);
        cutis_sampler_destroy(sampler);
    }
    if (root) pose[0] = *root;
    (void)level;
    assert_ok(s->context, cutis_deform(s->bindings[0], &(cutis_poses){ .local = pose }, 1,
                                       &(cutis_outputs){ .positions = { out, .stride = 24 },
                                                         .normals = { out + 3, .stride = 24 } }));
    free(pose);
}

/// A level's buffer as it is.
static uint32_t *read_slots(const scene *s, uint32_t level, bool previous)
{
    const uint64_t slot =
        previous ? s->info.levels[level].previous_slot_bytes : s->info.levels[level].slot_bytes;
    const uint64_t size = slot * cutis_crowd_drawn(s->crowd, level, NULL);
    uint32_t *words = malloc(size + 16);
    assert_ok(s->context,
              cutis_buffer_read(previous ? s->outputs[level].previous : s->outputs[level].vertices,
                                0, words, size));
    return words;
}

// Bits --------------------------------------------------------------------------------------------

static void compare_with_single(const scene_options *o)
{
    scene s;
    scene_options options = *o;
    options.crowd.normal = CUTIS_CROWD_NORMAL_F32;
    open_scene(&s, &options);
    const uint32_t vertices = s.info.levels[0].vertex_count;
    const uint32_t count = o->kind == CUTIS_DEVICE_CPU ? COUNT : 6;
    float *expected = malloc(24 * (size_t)vertices);
    assert_int_equal(s.info.levels[0].record_bytes, 24);
    fill(&s, count);
    for (int frame = 0; frame < 2; frame++) {
        const double clock = 0.3 + 7.7 * frame;
        assert_ok(s.context, cutis_crowd_run(s.crowd, clock, NULL, s.outputs));
        assert_int_equal(cutis_crowd_drawn(s.crowd, 0, NULL), count);
        uint32_t *words = read_slots(&s, 0, false);
        for (uint32_t i = 0; i < count; i++) {
            const cutis_crowd_instance one = instance_of(&s, i);
            single(&s, 0, &one, clock, o->crowd.placed ? &one.root : NULL, expected);
            assert_memory_equal(words + i * s.info.levels[0].slot_bytes / 4, expected,
                                24 * (size_t)vertices);
        }
        free(words);
    }
    free(expected);
    close_scene(&s);
}

static void a_crowd_has_the_bits_of_the_single_path_with_every_method(void **state)
{
    (void)state;
    static const cutis_method METHODS[] = { CUTIS_METHOD_LBS, CUTIS_METHOD_RIGID, CUTIS_METHOD_SBS,
                                            CUTIS_METHOD_DQS, CUTIS_METHOD_COR };
    for (size_t m = 0; m < sizeof METHODS / sizeof *METHODS; m++)
        for (int poses = 0; poses < 2; poses++)
            compare_with_single(
                &(scene_options){ .poses = poses ? "device" : "host", .method = METHODS[m] });
    compare_with_single(
        &(scene_options){ .poses = "device", .method = CUTIS_METHOD_SBS, .weighted = true });
    for (int poses = 0; poses < 2; poses++)
        compare_with_single(&(scene_options){ .poses = poses ? "device" : "host", .linear = true });
}

static void roots_are_nodes_above_the_topmost(void **state)
{
    (void)state;
    for (int poses = 0; poses < 2; poses++) {
        compare_with_single(
            &(scene_options){ .poses = poses ? "device" : "host", .crowd.placed = true });
        compare_with_single(&(scene_options){
            .poses = poses ? "device" : "host", .method = CUTIS_METHOD_SBS, .crowd.placed = true });
        compare_with_single(&(scene_options){
            .poses = poses ? "device" : "host", .method = CUTIS_METHOD_DQS, .crowd.placed = true });
    }
}

static void opencl_has_the_same_bits(void **state)
{
    (void)state;
    compare_with_single(&(scene_options){
        .kind = gpu_kind(), .poses = "device", .method = CUTIS_METHOD_SBS, .crowd.placed = true });
}

static void previous_positions_are_those_of_the_frame_before(void **state)
{
    (void)state;
    for (int poses = 0; poses < 2; poses++) {
        scene s;
        open_scene(&s, &(scene_options){ .poses = poses ? "device" : "host",
                                         .crowd = { .placed = true, .previous = true } });
        const uint64_t slot = s.info.levels[0].slot_bytes;
        assert_int_equal(s.info.levels[0].previous_slot_bytes, slot);
        fill(&s, COUNT);
        uint32_t *before = NULL;
        for (int frame = 0; frame < 4; frame++) {
            assert_ok(s.context, cutis_crowd_run(s.crowd, 0.2 * frame, NULL, s.outputs));
            uint32_t *current = read_slots(&s, 0, false), *previous = read_slots(&s, 0, true);
            // In the first frame nobody has moved yet.
            for (uint64_t i = 0; i < COUNT; i++)
                assert_memory_equal(previous + i * slot / 4,
                                    (before ? before : current) + i * slot / 4,
                                    12 * (size_t)s.info.levels[0].vertex_count);
            free(before), free(previous);
            before = current;
            const cutis_crowd_instance other = instance_of(&s, 100 + (uint32_t)frame);
            assert_ok(s.context, cutis_crowd_set(s.crowd, 3, 1, &other));
            assert_ok(s.context, cutis_crowd_place(s.crowd, (uint32_t)frame, 1, &other.root));
        }
        free(before);
        close_scene(&s);
    }
}

static void only_what_changed_goes_up(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, &(scene_options){ .kind = gpu_kind(), .poses = "device" });
    fill(&s, COUNT);
    assert_ok(s.context, cutis_crowd_run(s.crowd, 0, NULL, s.outputs));
    const uint64_t all = cutis_crowd_uploaded(s.crowd);
    assert_ok(s.context, cutis_crowd_run(s.crowd, 1, NULL, s.outputs));
    assert_int_equal(cutis_crowd_uploaded(s.crowd), 0); // the clock alone
    const cutis_crowd_instance other = instance_of(&s, 99);
    assert_ok(s.context, cutis_crowd_set(s.crowd, 5, 1, &other));
    assert_ok(s.context, cutis_crowd_run(s.crowd, 2, NULL, s.outputs));
    const uint64_t one = cutis_crowd_uploaded(s.crowd);
    assert_true(one > 0 && one < all / 4);
    close_scene(&s);
}

// Formats -----------------------------------------------------------------------------------------

/// The nearest half of a double, by its definition: multiples of 2^-24 below 2^-14, of 2^(e-10)
/// above; ties to even.
static uint32_t half_of(double x)
{
    const uint32_t sign = signbit(x) ? 0x8000u : 0u;
    const double size = fabs(x);
    int exponent = -14;
    if (size > 0) frexp(size, &exponent), exponent -= 1;
    if (exponent < -14) exponent = -14;
    const double unit = ldexp(1, exponent - 10), places = nearbyint(size / unit);
    if (places * unit >= 65536) return sign | 0x7c00u;
    const uint32_t whole = (uint32_t)places; // 2048 carries into the exponent
    return sign | (whole < 1024 ? whole : (uint32_t)(((exponent + 14) << 10) + (int)whole));
}

static void halves_are_rounded_to_nearest_even(void **state)
{
    (void)state;
    static const float EDGES[] = {
        0.0f,     -0.0f,         1.0f,    65504.0f,       65519.996f,
        65520.0f, 1e30f,         6e-8f,   2.9802322e-8f,  2.98023e-8f,
        8.9e-8f,  6.1035156e-5f, 6.1e-5f, 1.00048828125f, 1.00146484375f
    };
    for (size_t i = 0; i < sizeof EDGES / sizeof *EDGES; i++) {
        assert_int_equal(pack_half(EDGES[i]), half_of(EDGES[i]));
        assert_int_equal(pack_half(-EDGES[i]), half_of(-EDGES[i]));
    }
    for (uint32_t i = 0; i < 100000; i++) {
        const float x = (float)(random_in(20, i, -1, 1) * exp2(random_in(21, i, -28, 17)));
        assert_int_equal(pack_half(x), half_of(x));
    }
    assert_int_equal(pack_half(INFINITY), 0x7c00);
    assert_true((pack_half(NAN) & 0x7fff) > 0x7c00);
}

static void octahedral_normals_are_within_the_stated_angle(void **state)
{
    (void)state;
    double worst = 0;
    for (uint32_t i = 0; i < 60000; i++) {
        double n[3], length = 0, d[3], dot = 0;
        for (int c = 0; c < 3; c++) n[c] = random_in(30 + (uint64_t)c, i, -1, 1);
        if (i % 7 == 0) n[i % 3] = 0; // edges of the octahedron
        for (int c = 0; c < 3; c++) length += n[c] * n[c];
        for (int c = 0; c < 3; c++) n[c] = (float)(n[c] / sqrt(length));
        const uint32_t word = pack_octahedral((float)n[0], (float)n[1], (float)n[2]);
        d[0] = (int16_t)(word & 0xffff) / 32767.0;
        d[1] = (int16_t)(word >> 16) / 32767.0;
        d[2] = 1 - fabs(d[0]) - fabs(d[1]);
        if (d[2] < 0) {
            const double x = d[0];
            d[0] = (1 - fabs(d[1])) * (x < 0 ? -1 : 1);
            d[1] = (1 - fabs(x)) * (d[1] < 0 ? -1 : 1);
        }
        double cross[3] = { n[1] * d[2] - n[2] * d[1], n[2] * d[0] - n[0] * d[2],
                            n[0] * d[1] - n[1] * d[0] },
               sine = 0;
        for (int c = 0; c < 3; c++) dot += n[c] * d[c], sine += cross[c] * cross[c];
        const double angle = atan2(sqrt(sine), dot);
        worst = angle > worst ? angle : worst;
    }
    assert_true(worst < 6.6e-5); // half a step in u and v, and both in z, seen from 1 / sqrt 3 away
    assert_true(worst > 1e-5);   // 16 bits are not better than that: the check sees something
    assert_int_equal(pack_octahedral(0, 0, 0), 0);
    assert_int_equal(pack_octahedral(0, 0, 1), 0);
    assert_int_equal(pack_octahedral(1, 0, 0), 32767);
}

static void packed_vertices_are_the_floats_packed(void **state)
{
    (void)state;
    for (int poses = 0; poses < 2; poses++) {
        scene s;
        open_scene(&s, &(scene_options){ .poses = poses ? "device" : "host",
                                         .crowd = { .position = CUTIS_CROWD_POSITION_F16,
                                                    .normal = CUTIS_CROWD_NORMAL_OCTAHEDRAL } });
        const uint32_t vertices = s.info.levels[0].vertex_count;
        float *floats = malloc(24 * (size_t)vertices);
        assert_int_equal(s.info.levels[0].record_bytes, 12);
        fill(&s, 4);
        assert_ok(s.context, cutis_crowd_run(s.crowd, 1.5, NULL, s.outputs));
        uint32_t *words = read_slots(&s, 0, false);
        for (uint32_t i = 0; i < 4; i++) {
            const cutis_crowd_instance one = instance_of(&s, i);
            single(&s, 0, &one, 1.5, NULL, floats);
            for (uint32_t v = 0; v < vertices; v++) {
                const uint32_t *w = words + i * s.info.levels[0].slot_bytes / 4 + 3 * v;
                const float *f = floats + 6 * v;
                assert_int_equal(w[0], half_of(f[0]) | half_of(f[1]) << 16);
                assert_int_equal(w[1], half_of(f[2]) | 0x3c000000u);
                assert_int_equal(w[2], pack_octahedral(f[3], f[4], f[5]));
            }
        }
        free(words), free(floats);
        close_scene(&s);
    }
}

// Culling and levels ------------------------------------------------------------------------------

static void nobody_who_is_seen_is_left_out_and_levels_go_by_distance(void **state)
{
    (void)state;
    enum { MANY = 150 };
    for (int m = 0; m < 2; m++) {
        scene s;
        open_scene(&s, &(scene_options){ .levels = 2,
                                         .method = m ? CUTIS_METHOD_DQS : CUTIS_METHOD_LBS,
                                         .crowd = { .instance_capacity = MANY, .placed = true } });
        const uint32_t vertices = s.info.levels[0].vertex_count;
        float *floats = malloc(24 * (size_t)vertices);
        uint32_t seen = 0, drawn = 0, left_out = 0;
        fill(&s, MANY);
        // Looks along -z from the eye, 60 degrees wide, from 0.1 to 20.
        const float matrix[16] = { 1.732f, 0, 0,      0,       0, 1.732f, 0,  -1.732f,
                                   0,      0, -1.01f, -0.201f, 0, 0,      -1, 0 };
        cutis_crowd_view view;
        cutis_crowd_view_from_matrix(matrix, (cutis_float3){ 0, 1, 0 }, &view);
        assert_int_equal(view.plane_count, 6);
        assert_ok(s.context, cutis_crowd_run(s.crowd, 0.4, &view, s.outputs));
        uint8_t level_of[MANY];
        memset(level_of, 9, sizeof level_of);
        for (uint32_t l = 0; l < 2; l++) {
            const uint32_t *who, count = cutis_crowd_drawn(s.crowd, l, &who);
            for (uint32_t i = 0; i < count; i++) {
                assert_true(i == 0 || who[i] > who[i - 1]);
                level_of[who[i]] = (uint8_t)l;
            }
            drawn += count;
        }
        for (uint32_t i = 0; i < MANY; i++) {
            const cutis_crowd_instance one = instance_of(&s, i);
            bool inside = false;
            single(&s, 0, &one, 0.4, &one.root, floats);
            for (uint32_t v = 0; v < vertices && !inside; v++) {
                inside = true;
                for (uint32_t p = 0; p < view.plane_count; p++) {
                    const float *n = view.planes[p], *x = floats + 6 * v;
                    inside = inside && n[0] * x[0] + n[1] * x[1] + n[2] * x[2] + n[3] >= 0;
                }
            }
            seen += inside;
            left_out += level_of[i] == 9;
            if (inside) assert_true(level_of[i] < 2);
            if (level_of[i] == 9) continue;
            // The level is the distance's, from the eye to the ball's middle.
            cutis_float3 middle;
            double square = 0;
            cutis_crowd_clip_sphere(s.crowd, one.tracks[0].clip, &middle);
            const cutis_mat34 root = cutis_mat34_from_transform(&one.root);
            const cutis_float3 at = cutis_mat34_point(&root, middle);
            square =
                (double)at.x * at.x + ((double)at.y - 1) * ((double)at.y - 1) + (double)at.z * at.z;
            if (fabs(sqrt(square) - 6) > 1e-4) assert_int_equal(level_of[i], sqrt(square) > 6);
        }
        assert_true(seen > 10 && drawn >= seen && left_out > MANY / 3);
        assert_true(drawn < 3 * seen); // balls are larger than bodies, but not by that much
        free(floats);
        close_scene(&s);
    }
}

static void a_clip_never_leaves_its_ball(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, &(scene_options){ .poses = "host" });
    const uint32_t vertices = s.info.levels[0].vertex_count;
    float *floats = malloc(24 * (size_t)vertices);
    for (uint32_t clip = 0; clip < s.info.clip_count; clip++) {
        cutis_float3 c;
        double far = 0;
        const float radius = cutis_crowd_clip_sphere(s.crowd, clip, &c);
        for (int k = 0; k < 12; k++) {
            const cutis_crowd_instance one = {
                .track_count = 1, .tracks = { { .clip = clip, .seconds = k * 0.29 } }
            };
            single(&s, 0, &one, 0, NULL, floats);
            for (uint32_t v = 0; v < vertices; v++) {
                const float *x = floats + 6 * v;
                far = fmax(far, sqrt(pow(x[0] - c.x, 2) + pow(x[1] - c.y, 2) + pow(x[2] - c.z, 2)));
            }
        }
        assert_true(far <= radius);
        assert_true(radius < 3 * far);
    }
    free(floats);
    close_scene(&s);
}

static void a_level_that_lacks_joints_follows_those_it_has(void **state)
{
    (void)state;
    for (int poses = 0; poses < 2; poses++) {
        scene s;
        open_scene(&s, &(scene_options){ .poses = poses ? "device" : "host",
                                         .levels = 2,
                                         .crowd = { .instance_capacity = 1 } });
        const cutis_model_data *first = cutis_model_get(s.models[0]),
                               *own = cutis_model_get(s.models[1]);
        assert_true(own->node_count < first->node_count); // mittens, no fingers
        const cutis_crowd_instance one = { .root = cutis_transform_identity(),
                                           .track_count = 1,
                                           .tracks = { { .clip = 0, .seconds = 0.6 } } };
        const cutis_crowd_view view = { .eye = { 50, 0, 0 } };
        assert_ok(s.context, cutis_crowd_resize(s.crowd, 1));
        assert_ok(s.context, cutis_crowd_set(s.crowd, 0, 1, &one));
        assert_ok(s.context, cutis_crowd_run(s.crowd, 0, &view, s.outputs));
        assert_int_equal(cutis_crowd_drawn(s.crowd, 1, NULL), 1);
        // By hand: the pose of the first model, node by node by name.
        cutis_transform *pose = calloc(first->node_count, sizeof *pose);
        cutis_transform *mine = calloc(own->node_count, sizeof *mine);
        cutis_sampler *sampler = NULL;
        assert_ok(s.context, cutis_sampler_create(s.models[0], 0, &sampler));
        cutis_sampler_sample(sampler, 0.6f, pose, NULL);
        cutis_pose_rest(s.models[1], mine, NULL);
        for (uint32_t n = 0; n < own->node_count; n++)
            for (uint32_t k = 0; k < first->node_count; k++)
                if (strcmp(own->nodes[n].name, first->nodes[k].name) == 0) mine[n] = pose[k];
        const uint32_t vertices = s.info.levels[1].vertex_count;
        float *expected = malloc(12 * (size_t)vertices);
        assert_ok(s.context, cutis_deform(s.bindings[1], &(cutis_poses){ .local = mine }, 1,
                                          &(cutis_outputs){ .positions.data = expected }));
        uint32_t *words = read_slots(&s, 1, false);
        assert_memory_equal(words, expected, 12 * (size_t)vertices);
        free(words), free(expected), free(pose), free(mine);
        cutis_sampler_destroy(sampler);
        close_scene(&s);
    }
}

// Compression -------------------------------------------------------------------------------------

static void check_compression(bool linear)
{
    static const float ALLOWED[] = { 1e-2f, 1e-3f, 1e-4f };
    float ratio[3];
    for (int e = 0; e < 3; e++) {
        scene a, b, plain;
        const cutis_crowd_options options = { .clip_error = ALLOWED[e] };
        open_scene(&a, &(scene_options){ .poses = "host", .linear = linear, .crowd = options });
        open_scene(&b, &(scene_options){ .poses = "device", .linear = linear, .crowd = options });
        open_scene(&plain, &(scene_options){ .poses = "host", .linear = linear });
        const uint64_t slot = a.info.levels[0].slot_bytes;
        double worst = 0;
        fill(&a, COUNT), fill(&b, COUNT), fill(&plain, COUNT);
        for (int frame = 0; frame < 12; frame++) {
            const double clock = 0.173 * frame;
            assert_ok(a.context, cutis_crowd_run(a.crowd, clock, NULL, a.outputs));
            assert_ok(a.context, cutis_crowd_run(b.crowd, clock, NULL, b.outputs));
            assert_ok(a.context, cutis_crowd_run(plain.crowd, clock, NULL, plain.outputs));
            uint32_t *x = read_slots(&a, 0, false), *y = read_slots(&b, 0, false),
                     *z = read_slots(&plain, 0, false);
            for (uint32_t i = 0; i < COUNT; i++) {
                const float *p = (const float *)(const void *)(x + i * slot / 4);
                const float *q = (const float *)(const void *)(z + i * slot / 4);
                const uint32_t vertices = a.info.levels[0].vertex_count;
                assert_memory_equal(p, y + i * slot / 4, 12 * (size_t)vertices);
                // The bound is a clip's, not of two of them blended.
                for (uint32_t v = 0; instance_of(&a, i).track_count == 1 && v < vertices; v++) {
                    const double dx = (double)p[3 * v] - q[3 * v],
                                 dy = (double)p[3 * v + 1] - q[3 * v + 1];
                    const double dz = (double)p[3 * v + 2] - q[3 * v + 2];
                    worst = fmax(worst, sqrt(dx * dx + dy * dy + dz * dz));
                }
            }
            free(x), free(y), free(z);
        }
        ratio[e] = (float)a.info.clip_bytes_plain / (float)a.info.clip_bytes;
        print_message("allowed %g, stated %g, seen %g; %.2f times fewer bytes\n", ALLOWED[e],
                      a.info.clip_error, worst, ratio[e]);
        assert_true(worst <= a.info.clip_error);
        assert_true(a.info.clip_error <= ALLOWED[e] + 1e-5f);
        assert_true(worst > 0.01 * a.info.clip_error); // not so loose as to say nothing
        assert_int_equal(plain.info.clip_bytes, plain.info.clip_bytes_plain);
        assert_int_equal(plain.info.clip_error, 0);
        close_scene(&a), close_scene(&b), close_scene(&plain);
    }
    assert_true(ratio[0] >= ratio[1] && ratio[1] >= ratio[2] && ratio[1] > (linear ? 4 : 1.3f));
}

static void compressed_clips_stay_within_the_stated_error_and_are_the_same_everywhere(void **state)
{
    (void)state;
    check_compression(false);
    check_compression(true);
}

// What callers may not do -------------------------------------------------------------------------

static const cutis_device_operations *the_operations;
static uint32_t told_least, told_most;

static cutis_result told_skin_run(cutis_device_skin *skin, const cutis_skin_frames *frames,
                                  const cutis_skin_targets *targets)
{
    if (targets->call_count < told_least) told_least = targets->call_count;
    if (targets->call_count > told_most) told_most = targets->call_count;
    return the_operations->skin_run(skin, frames, targets);
}

/// COUNT instances in batches of 5 by the host: floats are written together, what is packed is not.
static void check_told(cutis_device *device, const cutis_binding *binding,
                       cutis_crowd_normal normal, uint32_t least, uint32_t most)
{
    const cutis_crowd_level level = { .binding = (cutis_binding *)binding };
    cutis_crowd *crowd;
    cutis_crowd_output output = { 0 };
    assert_ok(the_context, cutis_crowd_create(&(cutis_crowd_options){ .levels = &level,
                                                                      .level_count = 1,
                                                                      .instance_capacity = COUNT,
                                                                      .normal = normal },
                                              &crowd));
    const uint64_t slot = cutis_crowd_describe(crowd).levels[0].slot_bytes;
    assert_ok(the_context, cutis_buffer_create(device, COUNT * slot, &output.vertices));
    assert_ok(the_context, cutis_crowd_resize(crowd, COUNT));
    for (uint32_t i = 0; i < COUNT; i++) {
        const cutis_crowd_instance one = { .root = cutis_transform_identity() };
        assert_ok(the_context, cutis_crowd_set(crowd, i, 1, &one));
    }
    told_least = UINT32_MAX, told_most = 0;
    assert_ok(the_context, cutis_crowd_run(crowd, 0, NULL, &output));
    assert_int_equal(told_least, least);
    assert_int_equal(told_most, most);
    cutis_buffer_destroy(output.vertices);
    cutis_crowd_destroy(crowd);
}

// How a batch is stored depends on it (cutis_cpu_choose_stores).
static void a_batch_knows_what_the_whole_call_and_the_whole_crowd_write(void **state)
{
    (void)state;
    cutis_device *device;
    cutis_binding *binding;
    assert_ok(the_context, cutis_device_create(the_context, NULL, &device));
    the_operations = device->operations;
    cutis_device_operations told = *the_operations;
    told.skin_run = told_skin_run;
    device->operations = &told;
    assert_ok(the_context,
              cutis_bind(device, the_models[0],
                         &(cutis_bind_options){ .normals = true, .instance_capacity = 5 },
                         &binding));
    setenv("CUTIS_CROWD_POSES", "host", 1);
    check_told(device, binding, CUTIS_CROWD_NORMAL_F32, COUNT, COUNT);
    check_told(device, binding, CUTIS_CROWD_NORMAL_OCTAHEDRAL, 2, 5);
    unsetenv("CUTIS_CROWD_POSES");
    const cutis_model_data *data = cutis_model_get(the_models[0]);
    cutis_transform *poses = malloc((size_t)COUNT * data->node_count * sizeof *poses);
    float *positions = malloc((size_t)COUNT * cutis_model_vertex_count(the_models[0]) * 12);
    for (uint32_t i = 0; i < COUNT; i++)
        cutis_pose_rest(the_models[0], poses + (size_t)i * data->node_count, NULL);
    told_least = UINT32_MAX, told_most = 0;
    assert_ok(the_context, cutis_deform(binding, &(cutis_poses){ .local = poses }, COUNT,
                                        &(cutis_outputs){ .positions.data = positions }));
    assert_int_equal(told_least, COUNT);
    assert_int_equal(told_most, COUNT);
    free(positions), free(poses);
    cutis_binding_destroy(binding);
    device->operations = the_operations;
    cutis_device_destroy(device);
}

static void bad_calls_are_refused_and_change_nothing(void **state)
{
    (void)state;
    scene s;
    open_scene(&s, &(scene_options){ .poses = "host" });
    cutis_crowd_instance one = instance_of(&s, 1), bad = one;
    assert_int_equal(cutis_crowd_resize(s.crowd, COUNT + 1), CUTIS_INVALID_ARGUMENT);
    assert_ok(s.context, cutis_crowd_resize(s.crowd, 2));
    assert_ok(s.context, cutis_crowd_set(s.crowd, 0, 1, &one));
    assert_int_equal(cutis_crowd_set(s.crowd, 1, 2, &one), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_crowd_set(s.crowd, 0, 1, NULL), CUTIS_INVALID_ARGUMENT);
    bad.tracks[0].clip = 1000;
    assert_int_equal(cutis_crowd_set(s.crowd, 0, 1, &bad), CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(s.context), "no clip 1000"));
    bad = one, bad.track_count = CUTIS_CROWD_TRACKS + 1;
    assert_int_equal(cutis_crowd_set(s.crowd, 0, 1, &bad), CUTIS_INVALID_ARGUMENT);
    bad = one, bad.tracks[1].weight = 1.5f;
    assert_int_equal(cutis_crowd_set(s.crowd, 0, 1, &bad), CUTIS_INVALID_ARGUMENT);
    bad = one, bad.tracks[0].seconds = NAN;
    assert_int_equal(cutis_crowd_set(s.crowd, 0, 1, &bad), CUTIS_INVALID_ARGUMENT);
    bad = one, bad.root.scale.y = 2;
    assert_int_equal(cutis_crowd_set(s.crowd, 0, 1, &bad), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_crowd_place(s.crowd, 0, 1, &bad.root), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_crowd_run(s.crowd, NAN, NULL, s.outputs), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_crowd_run(s.crowd, 0, NULL, NULL), CUTIS_INVALID_ARGUMENT);
    const cutis_crowd_view flat = { .plane_count = 1 };
    assert_int_equal(cutis_crowd_run(s.crowd, 0, &flat, s.outputs), CUTIS_INVALID_ARGUMENT);
    cutis_buffer *tiny = NULL;
    assert_ok(s.context, cutis_buffer_create(s.device, 64, &tiny));
    assert_int_equal(cutis_crowd_run(s.crowd, 0, NULL, &(cutis_crowd_output){ .vertices = tiny }),
                     CUTIS_BUFFER_TOO_SMALL);
    assert_int_equal(cutis_crowd_drawn(s.crowd, 0, NULL), 1); // the other is hidden until it is set
    assert_int_equal(cutis_crowd_run(s.crowd, 0, NULL, &(cutis_crowd_output){ 0 }),
                     CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_crowd_run(s.crowd, 0, NULL,
                                     &(cutis_crowd_output){ .vertices = s.outputs[0].vertices,
                                                            .previous = s.outputs[0].vertices }),
                     CUTIS_INVALID_ARGUMENT);
    assert_ok(s.context, cutis_crowd_run(s.crowd, 0, NULL, s.outputs));
    cutis_buffer_destroy(tiny);
    close_scene(&s);
}

static void bad_options_are_refused(void **state)
{
    (void)state;
    scene s;
    cutis_crowd *crowd = NULL;
    open_scene(&s, &(scene_options){ .poses = "host" });
    const cutis_crowd_level good = { s.bindings[0], 0 };
    const cutis_crowd_level twice[] = { { s.bindings[0], 0 }, { s.bindings[0], 5 } };
    const uint32_t clips[] = { 77 };
    const struct {
        cutis_crowd_options options;
        cutis_result result;
    } cases[] = {
        { { 0 }, CUTIS_INVALID_ARGUMENT },
        { { .levels = &good, .level_count = 1 }, CUTIS_INVALID_ARGUMENT },
        { { .levels = &good, .level_count = 9, .instance_capacity = 1 }, CUTIS_INVALID_ARGUMENT },
        { { .levels = twice, .level_count = 2, .instance_capacity = 1 }, CUTIS_INVALID_ARGUMENT },
        { { .levels = &good, .level_count = 1, .instance_capacity = 1, .clip_error = -1 },
          CUTIS_INVALID_ARGUMENT },
        { { .levels = &good, .level_count = 1, .instance_capacity = 1, .normal = 7 },
          CUTIS_INVALID_ARGUMENT },
        { { .levels = &good,
            .level_count = 1,
            .instance_capacity = 1,
            .clips = clips,
            .clip_count = 1 },
          CUTIS_NOT_FOUND },
        { { .struct_size = 4096, .levels = &good }, CUTIS_UNSUPPORTED },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        crowd = s.crowd;
        assert_int_equal(cutis_crowd_create(&cases[i].options, &crowd), cases[i].result);
        assert_null(crowd);
    }
    close_scene(&s);
}

/// Channels of all nodes by sampling, as motion capture has them.
static void make_linear(void)
{
    enum { KEYS = 64 };
    cutis_model_data data = *cutis_model_get(the_models[0]);
    const uint32_t nodes = data.node_count, count = data.clip_count;
    cutis_clip *clips = calloc(count, sizeof *clips);
    cutis_channel *channels = calloc((size_t)count * 2 * nodes, sizeof *channels);
    float *values = calloc((size_t)count * nodes * KEYS * 7, sizeof *values), *at = values;
    cutis_transform *pose = calloc(nodes, sizeof *pose);
    static float times[KEYS];
    for (int k = 0; k < KEYS; k++) times[k] = (float)k / 60;
    for (uint32_t c = 0; c < count; c++) {
        cutis_sampler *sampler = NULL;
        cutis_channel *own = channels + (size_t)c * 2 * nodes;
        assert_ok(the_context, cutis_sampler_create(the_models[0], c, &sampler));
        for (uint32_t n = 0; n < nodes; n++) {
            own[2 * n] = (cutis_channel){ .node = n,
                                          .path = CUTIS_PATH_ROTATION,
                                          .key_count = KEYS,
                                          .times = times,
                                          .values = at };
            own[2 * n + 1] = (cutis_channel){ .node = n,
                                              .path = CUTIS_PATH_TRANSLATION,
                                              .key_count = KEYS,
                                              .times = times,
                                              .values = at + 4 * KEYS };
            for (int k = 0; k < KEYS; k++) {
                cutis_sampler_sample(sampler, times[k], pose, NULL);
                memcpy(at + 4 * k, &pose[n].rotation, 4 * sizeof *at);
                memcpy(at + 4 * KEYS + 3 * k, &pose[n].translation, 3 * sizeof *at);
            }
            at += 7 * KEYS;
        }
        clips[c] =
            (cutis_clip){ .name = data.clips[c].name, .channel_count = 2 * nodes, .channels = own };
        cutis_sampler_destroy(sampler);
    }
    data.clips = clips;
    assert_ok(the_context, cutis_model_create(the_context, &data, CUTIS_GATE_REFUSE, &the_linear));
    free(clips), free(channels), free(values), free(pose);
}

static int make_bodies(void **state)
{
    (void)state;
    static const uint32_t VERTICES[] = { 3000, 1500 };
    assert_int_equal(cutis_context_create(NULL, &the_context), CUTIS_OK);
    for (int l = 0; l < 2; l++)
        assert_ok(the_context,
                  cutis_synth_create(the_context,
                                     &(cutis_synth_options){ .vertex_count = VERTICES[l] },
                                     &the_models[l]));
    make_linear();
    return 0;
}

static int drop_bodies(void **state)
{
    (void)state;
    for (int k = 0; k < 3; k++) cutis_device_destroy(the_devices[k]);
    for (int l = 0; l < 2; l++) cutis_model_destroy(the_models[l]);
    cutis_model_destroy(the_linear);
    cutis_context_destroy(the_context);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_crowd_has_the_bits_of_the_single_path_with_every_method),
        cmocka_unit_test(roots_are_nodes_above_the_topmost),
        cmocka_unit_test(opencl_has_the_same_bits),
        cmocka_unit_test(previous_positions_are_those_of_the_frame_before),
        cmocka_unit_test(only_what_changed_goes_up),
        cmocka_unit_test(halves_are_rounded_to_nearest_even),
        cmocka_unit_test(octahedral_normals_are_within_the_stated_angle),
        cmocka_unit_test(packed_vertices_are_the_floats_packed),
        cmocka_unit_test(nobody_who_is_seen_is_left_out_and_levels_go_by_distance),
        cmocka_unit_test(a_clip_never_leaves_its_ball),
        cmocka_unit_test(a_level_that_lacks_joints_follows_those_it_has),
        cmocka_unit_test(compressed_clips_stay_within_the_stated_error_and_are_the_same_everywhere),
        cmocka_unit_test(a_batch_knows_what_the_whole_call_and_the_whole_crowd_write),
        cmocka_unit_test(bad_calls_are_refused_and_change_nothing),
        cmocka_unit_test(bad_options_are_refused),
    };
    return cmocka_run_group_tests(tests, make_bodies, drop_bodies);
}
