/// Blend skinning through the public interface, in float: every method against the
/// formulas of docs/spec/blending.md in double (rig.h), the reference body's volumes, bone sets,
/// optimized centres, the same bits on every schedule.
#include "rig.h"

#include "deform/skin.h"

static const struct method_case {
    cutis_method method;
    bool weighted;
    ref_method reference;
} CASES[] = {
    { CUTIS_METHOD_LBS, false, REF_LBS },         { CUTIS_METHOD_SBS, false, REF_SBS },
    { CUTIS_METHOD_SBS, true, REF_SBS_WEIGHTED }, { CUTIS_METHOD_DQS, false, REF_DQS },
    { CUTIS_METHOD_COR, false, REF_COR },
};
#define CASE_COUNT 5

// A crowd of loose triangles with random influences
// ---------------------------------------------------

#define BODY_VERTICES 600
#define BODY_JOINTS   12
#define BODY_MOST     6

typedef struct body {
    cutis_context *context;
    cutis_device *device;
    cutis_model *model;
    float positions[3 * BODY_VERTICES], normals[3 * BODY_VERTICES], origins[3 * BODY_JOINTS];
    uint32_t first[BODY_VERTICES + 1], joints[BODY_MOST * BODY_VERTICES], indices[BODY_VERTICES];
    float weights[BODY_MOST * BODY_VERTICES];
} body;

static uint64_t counter;

static double roll(double low, double high)
{
    return random_in(77, counter++, low, high);
}

/// Influences in random order, not normalised; groups of vertices share bone sets.
static void body_influences(body *b, uint32_t most)
{
    uint32_t at = 0, start = 0;
    for (uint32_t v = 0; v < BODY_VERTICES; v++) {
        uint32_t group = v / 7, count = 1 + group % most;
        if (v % 7 == 0) start = (uint32_t)roll(0, BODY_JOINTS);
        b->first[v] = at;
        for (uint32_t i = 0; i < count; i++) {
            b->joints[at] = (start + (count - i) * (1 + group / 2 % 2)) % BODY_JOINTS;
            b->weights[at++] = (float)roll(0.05, 2);
        }
    }
    b->first[BODY_VERTICES] = at;
}

static body *body_create(uint32_t most, const cutis_device_options *options)
{
    body *b = calloc(1, sizeof *b);
    counter = 0;
    for (uint32_t v = 0; v < BODY_VERTICES; v++) {
        double n[3], square = 0;
        for (int c = 0; c < 3; c++) {
            b->positions[3 * v + c] = (float)roll(-1, 1);
            n[c] = roll(-1, 1);
            square += n[c] * n[c];
        }
        for (int c = 0; c < 3; c++) b->normals[3 * v + c] = (float)(n[c] / sqrt(square));
        b->indices[v] = v;
    }
    for (int i = 0; i < 3 * BODY_JOINTS; i++) b->origins[i] = (float)roll(-1, 1);
    body_influences(b, most);
    assert_int_equal(cutis_context_create(NULL, &b->context), CUTIS_OK);
    assert_ok(b->context, cutis_device_create(b->context, options, &b->device));
    b->model = rig_model(b->context, &(rig_data){ .vertex_count = BODY_VERTICES,
                                                  .joint_count = BODY_JOINTS,
                                                  .index_count = BODY_VERTICES,
                                                  .positions = b->positions,
                                                  .normals = b->normals,
                                                  .first = b->first,
                                                  .joints = b->joints,
                                                  .weights = b->weights,
                                                  .indices = b->indices,
                                                  .origins = b->origins });
    return b;
}

static void body_destroy(body *b)
{
    cutis_model_destroy(b->model);
    cutis_device_destroy(b->device);
    assert_int_equal(cutis_context_memory(b->context), 0);
    cutis_context_destroy(b->context);
    free(b);
}

typedef enum posing { RIGID, ARMATURE, MIRRORED_WHOLE, UNIFORM, NON_UNIFORM, ONE_MIRRORED } posing;
#define POSING_COUNT 6

/// Random bone matrices; rotations stay within 70 degrees so that sums of quaternions do not
/// cancel.
static void pose_palette(posing kind, cutis_mat34 *palette)
{
    for (uint32_t j = 0; j < BODY_JOINTS; j++) {
        double axis[3], t[3], m[12], s[12] = { 0 }, even = roll(0.6, 1.6);
        for (int c = 0; c < 3; c++) axis[c] = roll(-1, 1), t[c] = roll(-0.5, 0.5);
        ref_rotation(axis, roll(-1.2, 1.2), t, m);
        for (int c = 0; c < 3; c++)
            s[5 * c] = kind == UNIFORM                               ? even
                       : kind == NON_UNIFORM || kind == ONE_MIRRORED ? roll(0.6, 1.6)
                                                                     : 1;
        if (kind == ONE_MIRRORED && j % 4 == 1) s[0] = -s[0];
        ref_compose(m, s, m);
        double g = kind == ARMATURE ? 0.01 : kind == MIRRORED_WHOLE ? -1 : 1;
        for (int i = 0; i < 12; i++) palette[j].m[i] = (float)(g * m[i]);
    }
}

static void body_vertex(const body *b, const cutis_binding *binding, const cutis_mat34 *palette,
                        uint32_t v, ref_vertex *x)
{
    double sum = 0;
    memset(x, 0, sizeof *x);
    for (uint32_t j = 0; j < BODY_JOINTS; j++)
        for (uint32_t i = b->first[v]; i < b->first[v + 1]; i++) {
            if (b->joints[i] != j) continue;
            for (int k = 0; k < 12; k++) x->m[x->n][k] = palette[j].m[k];
            for (int c = 0; c < 3; c++) x->o[x->n][c] = b->origins[3 * j + c];
            sum += x->w[x->n++] = b->weights[i];
        }
    for (int i = 0; i < x->n; i++) x->w[i] /= sum;
    for (int c = 0; c < 3; c++) {
        x->v[c] = b->positions[3 * v + c];
        x->normal[c] = b->normals[3 * v + c];
        const cutis_skin_layout *layout = &cutis_skin_of(binding)->layout;
        uint32_t slot = layout->vertex_slot[v], size = layout->block_size;
        if (layout->centres)
            x->p[c] = layout->centres[(slot / size * 3 + (uint32_t)c) * size + slot % size];
    }
}

static double distance(const float *a, const double *b)
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

static void every_method_equals_its_formula_for_every_kind_of_bone(void **state)
{
    (void)state;
    body *b = body_create(BODY_MOST, NULL);
    static float out[3 * BODY_VERTICES], normals[3 * BODY_VERTICES];
    for (int k = 0; k < CASE_COUNT; k++) {
        cutis_binding *binding = NULL;
        assert_ok(b->context,
                  cutis_bind(b->device, b->model,
                             &(cutis_bind_options){ .method = CASES[k].method,
                                                    .weighted_centres = CASES[k].weighted,
                                                    .normals = true },
                             &binding));
        for (posing kind = RIGID; kind < POSING_COUNT; kind++) {
            cutis_mat34 palette[BODY_JOINTS];
            double worst = 0, worst_normal = 0;
            pose_palette(kind, palette);
            assert_ok(
                b->context,
                cutis_deform(binding,
                             &(cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = palette }, 1,
                             &(cutis_outputs){ .positions = { .data = out },
                                               .normals = { .data = normals } }));
            for (uint32_t v = 0; v < BODY_VERTICES; v++) {
                ref_vertex x;
                double p[3], n[3], centre[3], c0[3] = { 0 }, far = 0,
                                              scale = kind == ARMATURE ? 0.01 : 1;
                body_vertex(b, binding, palette, v, &x);
                x.even = kind == RIGID || kind == ARMATURE || kind == UNIFORM;
                ref_deform(CASES[k].reference, &x, p, n);
                for (int i = 0; i < x.n; i++)
                    for (int c = 0; c < 3; c++) c0[c] += x.o[i][c] / x.n;
                ref_centre(x.n, x.m, c0, centre, NULL);
                for (int c = 0; c < 3; c++)
                    far += fabs(centre[c]); // float error grows with the centre
                double error = distance(out + 3 * v, p) / scale / (1 + far);
                worst = fmax(worst, error);
                worst_normal = fmax(worst_normal, distance(normals + 3 * v, n));
            }
            // Weighted centres are solved in float with a ridge of 1e-4: up to 1e4 roundings.
            if (worst > (CASES[k].weighted ? 5e-5 : 2e-6) || worst_normal > 2e-5)
                fail_msg("method %s weighted %d bones %d: position %.3g, normal %.3g",
                         cutis_method_name(CASES[k].method), CASES[k].weighted, (int)kind, worst,
                         worst_normal);
        }
        cutis_binding_destroy(binding);
    }
    body_destroy(b);
}

static void rest_pose_returns_the_input(void **state)
{
    (void)state;
    body *b = body_create(BODY_MOST, NULL);
    static float out[3 * BODY_VERTICES];
    cutis_transform pose[BODY_JOINTS + 1];
    cutis_pose_rest(b->model, pose, NULL);
    for (int method = CUTIS_METHOD_LBS; method <= CUTIS_METHOD_COR; method++) {
        cutis_binding *binding = NULL;
        assert_ok(b->context,
                  cutis_bind(b->device, b->model,
                             &(cutis_bind_options){ .method = (cutis_method)method }, &binding));
        assert_ok(b->context, cutis_deform(binding, &(cutis_poses){ .local = pose }, 1,
                                           &(cutis_outputs){ .positions = { .data = out } }));
        for (int i = 0; i < 3 * BODY_VERTICES; i++) assert_near(out[i], b->positions[i], 1e-6);
        cutis_binding_destroy(binding);
    }
    body_destroy(b);
}

static void a_global_rigid_motion_moves_the_result_with_it(void **state)
{
    (void)state;
    body *b = body_create(BODY_MOST, NULL);
    static float before[3 * BODY_VERTICES], after[3 * BODY_VERTICES];
    double g[12];
    ref_rotation((double[]){ 1, 2, -1 }, 2, (double[]){ 0.5, -1, 2 }, g);
    for (int k = 0; k < CASE_COUNT; k++) {
        cutis_binding *binding = NULL;
        cutis_mat34 palette[BODY_JOINTS], moved[BODY_JOINTS];
        assert_ok(b->context,
                  cutis_bind(b->device, b->model,
                             &(cutis_bind_options){ .method = CASES[k].method,
                                                    .weighted_centres = CASES[k].weighted },
                             &binding));
        pose_palette(RIGID, palette);
        for (int j = 0; j < BODY_JOINTS; j++) {
            double m[12];
            for (int i = 0; i < 12; i++) m[i] = palette[j].m[i];
            ref_compose(g, m, m);
            for (int i = 0; i < 12; i++) moved[j].m[i] = (float)m[i];
        }
        cutis_poses poses = { .kind = CUTIS_POSE_PALETTE, .matrices = palette };
        assert_ok(b->context, cutis_deform(binding, &poses, 1,
                                           &(cutis_outputs){ .positions = { .data = before } }));
        poses.matrices = moved;
        assert_ok(b->context, cutis_deform(binding, &poses, 1,
                                           &(cutis_outputs){ .positions = { .data = after } }));
        for (int v = 0; v < BODY_VERTICES; v++) {
            double p[3] = { before[3 * v], before[3 * v + 1], before[3 * v + 2] };
            ref_apply(g, p, p);
            assert_near(distance(after + 3 * v, p), 0,
                        1e-5 * (1 + fabs(p[0]) + fabs(p[1]) + fabs(p[2])));
        }
        cutis_binding_destroy(binding);
    }
    body_destroy(b);
}

static void single_influences_make_every_method_equal_lbs(void **state)
{
    (void)state;
    body *b = body_create(1, NULL);
    static float lbs[3 * BODY_VERTICES], out[3 * BODY_VERTICES];
    cutis_mat34 palette[BODY_JOINTS];
    for (posing kind = RIGID; kind < POSING_COUNT; kind++) {
        pose_palette(kind, palette);
        for (int method = CUTIS_METHOD_LBS; method <= CUTIS_METHOD_COR; method++) {
            cutis_binding *binding = NULL;
            assert_ok(b->context,
                      cutis_bind(b->device, b->model,
                                 &(cutis_bind_options){ .method = (cutis_method)method },
                                 &binding));
            assert_ok(
                b->context,
                cutis_deform(binding,
                             &(cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = palette }, 1,
                             &(cutis_outputs){ .positions = { .data = method ? out : lbs } }));
            for (int i = 0; method && i < 3 * BODY_VERTICES; i++) assert_near(out[i], lbs[i], 1e-6);
            assert_int_equal(cutis_binding_describe(binding).bone_set_count, 0);
            cutis_binding_destroy(binding);
        }
    }
    body_destroy(b);
}

static void rigid_follows_the_largest_weight(void **state)
{
    (void)state;
    body *b = body_create(BODY_MOST, NULL);
    static float out[3 * BODY_VERTICES];
    cutis_mat34 palette[BODY_JOINTS];
    cutis_binding *binding = NULL;
    pose_palette(NON_UNIFORM, palette);
    assert_ok(b->context,
              cutis_bind(b->device, b->model, &(cutis_bind_options){ .method = CUTIS_METHOD_RIGID },
                         &binding));
    assert_ok(b->context,
              cutis_deform(binding,
                           &(cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = palette }, 1,
                           &(cutis_outputs){ .positions = { .data = out } }));
    for (uint32_t v = 0; v < BODY_VERTICES; v++) {
        uint32_t best = b->first[v];
        for (uint32_t i = best; i < b->first[v + 1]; i++)
            if (b->weights[i] > b->weights[best]) best = i;
        double m[12],
            p[3] = { b->positions[3 * v], b->positions[3 * v + 1], b->positions[3 * v + 2] };
        for (int i = 0; i < 12; i++) m[i] = palette[b->joints[best]].m[i];
        ref_apply(m, p, p);
        assert_near(distance(out + 3 * v, p), 0, 1e-6);
    }
    cutis_binding_destroy(binding);
    body_destroy(b);
}

// Bone sets
// -------------------------------------------------------------------------------------------

/// The paper's key with its exponent put right.
static uint64_t paper_key(const uint32_t *bones, uint32_t count)
{
    uint64_t key = 0;
    for (uint32_t i = 0; i < count; i++) key = key * 100 + bones[i] + 1;
    return key;
}

static void the_papers_key_of_4_8_10_is_50911_and_sets_are_as_distinct_as_their_keys(void **state)
{
    (void)state;
    assert_int_equal(paper_key((uint32_t[]){ 4, 8, 10 }, 3), 50911);
    body *b = body_create(4, NULL);
    cutis_binding *binding = NULL;
    assert_ok(b->context,
              cutis_bind(b->device, b->model, &(cutis_bind_options){ .method = CUTIS_METHOD_SBS },
                         &binding));
    const cutis_skin_layout *layout = &cutis_skin_of(binding)->layout;
    uint64_t *keys = calloc(layout->set_count, sizeof *keys);
    uint32_t next = 0;
    for (uint32_t v = 0; v < BODY_VERTICES; v++) {
        uint32_t count = layout->first[v + 1] - layout->first[v];
        uint32_t set = layout->sets[layout->vertex_slot[v]];
        if (count == 1) {
            assert_true(set == CUTIS_NO_SET);
            continue;
        }
        assert_true(set <= next && set < layout->set_count); // ids in first-seen order
        uint64_t key = paper_key(layout->bone + layout->first[v], count);
        if (set == next) keys[next++] = key;
        assert_true(keys[set] == key);
    }
    assert_int_equal(next, layout->set_count);
    for (uint32_t i = 0; i < next; i++)
        for (uint32_t j = i + 1; j < next; j++) assert_true(keys[i] != keys[j]);
    free(keys);
    cutis_binding_destroy(binding);
    body_destroy(b);
}

static void the_order_of_influences_does_not_matter(void **state)
{
    (void)state;
    cutis_context *context = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_sets table = { .context = context };
    uint32_t a, b, c;
    assert_true(cutis_sets_find(&table, (uint32_t[]){ 1, 5, 9 }, 3, &a));
    assert_true(cutis_sets_find(&table, (uint32_t[]){ 1, 5 }, 2, &b));
    assert_true(cutis_sets_find(&table, (uint32_t[]){ 1, 5, 9 }, 3, &c));
    assert_true(a == 0 && b == 1 && c == 0 && table.count == 2);
    cutis_sets_release(&table);
    // Two triangles whose vertices list the same influences forwards and backwards.
    float positions[18] = { 0 }, weights[18];
    uint32_t first[7], joints[18], indices[6];
    for (uint32_t v = 0; v < 6; v++) {
        first[v] = 3 * v, indices[v] = v;
        for (uint32_t i = 0; i < 3; i++) {
            joints[3 * v + i] = v % 2 ? 2 - i : i;
            weights[3 * v + i] = v % 2 ? 3.0f - (float)i : 1.0f + (float)i;
        }
    }
    first[6] = 18;
    cutis_model *model = rig_model(context, &(rig_data){ .vertex_count = 6,
                                                         .joint_count = 3,
                                                         .index_count = 6,
                                                         .positions = positions,
                                                         .first = first,
                                                         .joints = joints,
                                                         .weights = weights,
                                                         .indices = indices });
    cutis_device *device = NULL;
    cutis_binding *binding = NULL;
    assert_ok(context, cutis_device_create(context, NULL, &device));
    assert_ok(context, cutis_bind(device, model,
                                  &(cutis_bind_options){ .method = CUTIS_METHOD_SBS }, &binding));
    assert_int_equal(cutis_binding_describe(binding).bone_set_count, 1);
    for (uint32_t v = 0; v < 6; v++)
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(cutis_skin_of(binding)->layout.bone[3 * v + i], i);
            assert_near(cutis_skin_of(binding)->layout.weight[3 * v + i], (i + 1) / 6.0, 1e-7);
        }
    cutis_binding_destroy(binding);
    cutis_device_destroy(device);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
}

static void centres_are_solved_once_per_set_and_frame_and_equal_those_of_each_vertex(void **state)
{
    (void)state;
    body *b = body_create(BODY_MOST, NULL);
    static float out[5 * 3 * BODY_VERTICES];
    static cutis_mat34 palette[5 * BODY_JOINTS];
    cutis_binding *binding = NULL;
    assert_ok(b->context,
              cutis_bind(b->device, b->model, &(cutis_bind_options){ .method = CUTIS_METHOD_SBS },
                         &binding));
    cutis_binding_info info = cutis_binding_describe(binding);
    assert_true(info.bone_set_count > 20 && info.centre_solves == info.bone_set_count);
    for (int i = 0; i < 5; i++) pose_palette(RIGID, palette + i * BODY_JOINTS);
    assert_ok(b->context,
              cutis_deform(binding,
                           &(cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = palette }, 5,
                           &(cutis_outputs){ .positions = { .data = out } }));
    assert_int_equal(atomic_load(&cutis_skin_of(binding)->solve_count), 5 * info.centre_solves);
    const cutis_skin_layout *layout = &cutis_skin_of(binding)->layout;
    const cutis_skin_workspace *workspace =
        (const cutis_skin_workspace *)atomic_load(&binding->workspaces);
    for (uint32_t instance = 0; instance < 5; instance++) {
        double matrices[12 * BODY_JOINTS];
        for (uint32_t i = 0; i < 12 * BODY_JOINTS; i++)
            matrices[i] = palette[instance * BODY_JOINTS + i / 12].m[i % 12];
        for (uint32_t v = 0; v < BODY_VERTICES;
             v++) { // without the table: from the vertex's own bones
            uint32_t count = layout->first[v + 1] - layout->first[v],
                     set = layout->sets[layout->vertex_slot[v]];
            double c0[3] = { 0 }, centre[3];
            if (count == 1) continue;
            for (uint32_t i = 0; i < count; i++)
                for (int c = 0; c < 3; c++)
                    c0[c] += b->origins[3 * layout->bone[layout->first[v] + i] + (uint32_t)c];
            for (int c = 0; c < 3; c++) c0[c] /= count;
            centre_of_set(matrices, layout->bone + layout->first[v], count, c0, 1e9, centre);
            const float *used = workspace->centres + 4 * (instance * layout->set_count + set);
            for (int c = 0; c < 3; c++) assert_true(used[c] == (float)centre[c]);
        }
    }
    cutis_binding_destroy(binding);
    body_destroy(b);
}

// The reference body
// ------------------------------------------------------------------------------------

static cutis_model *cylinder_model(cutis_context *context, const cylinder *c)
{
    float *positions = calloc(CYLINDER_VERTICES, 3 * sizeof *positions);
    float *weights = calloc(CYLINDER_VERTICES, 2 * sizeof *weights);
    uint32_t *first = calloc(CYLINDER_VERTICES + 1, sizeof *first);
    uint32_t *joints = calloc(CYLINDER_VERTICES, 2 * sizeof *joints);
    for (uint32_t v = 0; v < CYLINDER_VERTICES; v++) {
        for (int k = 0; k < 3; k++) positions[3 * v + k] = (float)c->points[v][k];
        first[v] = 2 * v;
        joints[2 * v + 1] = 1;
        weights[2 * v] = (float)(1 - c->upper[v]), weights[2 * v + 1] = (float)c->upper[v];
    }
    first[CYLINDER_VERTICES] = 2 * CYLINDER_VERTICES;
    cutis_model *model = rig_model(context, &(rig_data){ .vertex_count = CYLINDER_VERTICES,
                                                         .joint_count = 2,
                                                         .index_count = CYLINDER_INDICES,
                                                         .positions = positions,
                                                         .first = first,
                                                         .joints = joints,
                                                         .weights = weights,
                                                         .indices = c->indices });
    free(positions), free(weights), free(first), free(joints);
    return model;
}

static void the_reference_body_keeps_the_volumes_of_the_table(void **state)
{
    (void)state;
    static const double TABLE[6][5] = {
        { 30, 0.99441, 0.98880, 1.00000, 0.99996 },  { 60, 0.97916, 0.95828, 0.99998, 0.99992 },
        { 90, 0.95831, 0.91660, 0.99996, 0.99987 },  { 120, 0.93747, 0.87494, 0.99993, 0.99982 },
        { 150, 0.92221, 0.84447, 0.99989, 0.99976 }, { 180, 0.91663, 0.83333, 0.99984, 0.99969 }
    };
    static const cutis_method METHODS[3] = { CUTIS_METHOD_LBS, CUTIS_METHOD_SBS, CUTIS_METHOD_DQS };
    static cylinder c;
    static float out[3 * CYLINDER_VERTICES];
    static double points[CYLINDER_VERTICES][3];
    cutis_context *context = NULL;
    cutis_device *device = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_device_create(context, NULL, &device));
    cylinder_make(&c);
    cutis_model *model = cylinder_model(context, &c);
    double rest = cylinder_volume(&c, c.points);
    for (int k = 0; k < 3; k++) {
        cutis_binding *binding = NULL;
        assert_ok(context, cutis_bind(device, model, &(cutis_bind_options){ .method = METHODS[k] },
                                      &binding));
        for (int row = 0; row < 6; row++)
            for (int twist = 0; twist < 2; twist++) {
                cutis_mat34 palette[2] = { { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } } };
                double m[12];
                cylinder_bone(twist, TABLE[row][0], m);
                for (int i = 0; i < 12; i++) palette[1].m[i] = (float)m[i];
                assert_ok(
                    context,
                    cutis_deform(binding,
                                 &(cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = palette },
                                 1, &(cutis_outputs){ .positions = { .data = out } }));
                for (int i = 0; i < 3 * CYLINDER_VERTICES; i++) points[i / 3][i % 3] = out[i];
                assert_near(cylinder_volume(&c, points) / rest, TABLE[row][1 + twist + 2 * (k > 0)],
                            5e-4);
            }
        cutis_binding_destroy(binding);
    }
    cutis_model_destroy(model);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

/// Rotation centres of the cylinder's vertices under CoR, and its deformed points.
static void optimized_centres_lie_on_the_axis_beside_their_vertex(void **state)
{
    (void)state;
    static cylinder c;
    static float out[2][3 * CYLINDER_VERTICES];
    cutis_context *context = NULL;
    cutis_device *device = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    assert_ok(context, cutis_device_create(context, NULL, &device));
    cylinder_make(&c);
    cutis_model *model = cylinder_model(context, &c);
    cutis_mat34 palette[2] = { { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } } };
    double m[12], box[2][2][3];
    cylinder_bone(false, 90, m);
    for (int i = 0; i < 12; i++) palette[1].m[i] = (float)m[i];
    for (int k = 0; k < 2; k++) {
        cutis_binding *binding = NULL;
        assert_ok(context, cutis_bind(device, model,
                                      &(cutis_bind_options){ .method = k ? CUTIS_METHOD_COR
                                                                         : CUTIS_METHOD_SBS },
                                      &binding));
        const cutis_skin_layout *layout = &cutis_skin_of(binding)->layout;
        for (uint32_t v = 0; k && v < CYLINDER_VERTICES; v++) {
            uint32_t slot = layout->vertex_slot[v], size = layout->block_size;
            const float *p = layout->centres + slot / size * 3 * size + slot % size;
            bool rigid = c.upper[v] == 0 || c.upper[v] == 1;
            if (rigid) { // not used: the vertex itself
                for (int i = 0; i < 3; i++)
                    assert_true(p[(uint32_t)i * size] == (float)c.points[v][i]);
                continue;
            }
            assert_true(hypot(p[0], p[size]) < 1e-9);
            if (fabs(c.points[v][2]) < 0.6) assert_near(p[2 * size], c.points[v][2], 0.05);
        }
        assert_ok(context,
                  cutis_deform(binding,
                               &(cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = palette }, 1,
                               &(cutis_outputs){ .positions = { .data = out[k] } }));
        cutis_binding_destroy(binding);
    }
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < 3; i++) {
            box[k][0][i] = 1e9, box[k][1][i] = -1e9;
            for (uint32_t v = 0; v < CYLINDER_VERTICES; v++) { // the rings at z = +-0.5
                if (fabs(fabs(c.points[v][2]) - 0.5) > 1e-6) continue;
                box[k][0][i] = fmin(box[k][0][i], out[k][3 * v + (uint32_t)i]);
                box[k][1][i] = fmax(box[k][1][i], out[k][3 * v + (uint32_t)i]);
            }
        }
    for (int i = 0; i < 3; i++) {
        assert_true(box[1][0][i] >= box[0][0][i] - 1e-6);
        assert_true(box[1][1][i] <= box[0][1][i] + 1e-6);
    }
    uint32_t middle =
        CYLINDER_SIDES * (CYLINDER_RINGS / 2); // z = 0: both keep the distance to the joint
    for (uint32_t s = 0; s < CYLINDER_SIDES; s++) {
        const float *p = out[0] + 3 * (middle + s), *q = out[1] + 3 * (middle + s);
        assert_near(sqrt(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), 1, 1e-6);
        for (int i = 0; i < 3; i++) assert_near(p[i], q[i], 1e-5);
    }
    cutis_model_destroy(model);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

// Optimized centres against the integral done by brute force
// ----------------------------------------------

typedef struct brute {
    double weights[BODY_JOINTS]; ///< of the vertex
    double sum[4], scale;
} brute;

/// One triangle with three dense weight vectors; halves the edge with the largest difference, up to
/// 8 times.
static void brute_triangle(brute *b, double p[3][3], double w[3][BODY_JOINTS], int level)
{
    double worst = 0;
    int edge = 0;
    for (int e = 0; e < 3 && level < 8; e++) {
        double d = 0;
        for (int j = 0; j < BODY_JOINTS; j++) d += pow(w[e][j] - w[(e + 1) % 3][j], 2);
        if (sqrt(d) > worst) worst = sqrt(d), edge = e;
    }
    if (worst > 0.1 && level < 8) {
        for (int half = 0; half < 2; half++) {
            double q[3][3], u[3][BODY_JOINTS];
            int moved = half ? edge : (edge + 1) % 3;
            memcpy(q, p, sizeof q);
            memcpy(u, w, sizeof u);
            for (int i = 0; i < 3; i++) q[moved][i] = (p[edge][i] + p[(edge + 1) % 3][i]) / 2;
            for (int j = 0; j < BODY_JOINTS; j++)
                u[moved][j] = (w[edge][j] + w[(edge + 1) % 3][j]) / 2;
            brute_triangle(b, q, u, level + 1);
        }
        return;
    }
    double n[3], s = 0, mean[BODY_JOINTS];
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        n[i] =
            (p[1][j] - p[0][j]) * (p[2][k] - p[0][k]) - (p[1][k] - p[0][k]) * (p[2][j] - p[0][j]);
    }
    for (int j = 0; j < BODY_JOINTS; j++) mean[j] = (w[0][j] + w[1][j] + w[2][j]) / 3;
    for (int j = 0; j < BODY_JOINTS; j++)
        for (int k = 0; k < BODY_JOINTS; k++)
            if (j != k)
                s += b->weights[j] * b->weights[k] * mean[j] * mean[k] *
                     exp(-pow(b->weights[j] * mean[k] - b->weights[k] * mean[j], 2) / 0.01);
    double area = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
    for (int i = 0; i < 3; i++) b->sum[i] += s * area * (p[0][i] + p[1][i] + p[2][i]) / 3;
    b->sum[3] += s * area;
}

static void optimized_centres_equal_the_integral_done_by_brute_force(void **state)
{
    (void)state;
    body *b = body_create(4, NULL);
    cutis_binding *binding = NULL;
    assert_ok(b->context,
              cutis_bind(b->device, b->model, &(cutis_bind_options){ .method = CUTIS_METHOD_COR },
                         &binding));
    const cutis_skin_layout *layout = &cutis_skin_of(binding)->layout;
    for (uint32_t v = 0; v < BODY_VERTICES; v += 37) {
        if (layout->first[v + 1] - layout->first[v] < 2) continue;
        brute sum = { 0 };
        for (uint32_t i = layout->first[v]; i < layout->first[v + 1]; i++)
            sum.weights[layout->bone[i]] = layout->weight[i];
        for (uint32_t t = 0; t < BODY_VERTICES; t += 3) {
            double p[3][3], w[3][BODY_JOINTS] = { 0 };
            for (uint32_t c = 0; c < 3; c++) {
                for (uint32_t i = 0; i < 3; i++) p[c][i] = b->positions[3 * (t + c) + i];
                for (uint32_t i = layout->first[t + c]; i < layout->first[t + c + 1]; i++)
                    w[c][layout->bone[i]] = layout->weight[i];
            }
            brute_triangle(&sum, p, w, 0);
        }
        uint32_t slot = layout->vertex_slot[v], size = layout->block_size;
        const float *p = layout->centres + slot / size * 3 * size + slot % size;
        for (uint32_t i = 0; i < 3; i++) assert_near(p[i * size], sum.sum[i] / sum.sum[3], 5e-6);
    }
    cutis_binding_destroy(binding);
    body_destroy(b);
}

// Bits
// --------------------------------------------------------------------------------------------------

/// Zeros of both signs and subnormals among the entries.
static void spoil(cutis_mat34 *palette)
{
    static const float ODD[4] = { 0.0f, -0.0f, 1e-40f, -1e-40f };
    for (uint32_t j = 0; j < BODY_JOINTS; j++)
        for (uint32_t i = 0; i < 12; i++)
            if ((i + j) % 3 == 0) palette[j].m[i] = ODD[(i + 2 * j) % 4];
}

static void every_schedule_and_thread_count_gives_the_bits_of_the_reference(void **state)
{
    (void)state;
    static float out[2][7 * 3 * BODY_VERTICES], normals[2][7 * 3 * BODY_VERTICES];
    static cutis_mat34 palette[7 * BODY_JOINTS];
    const cutis_device_options OPTIONS[4] = { { .isa = CUTIS_ISA_SCALAR, .thread_count = 1 },
                                              { .thread_count = 1 },
                                              { .thread_count = 4 },
                                              { .isa = CUTIS_ISA_SCALAR, .thread_count = 3 } };
    for (int k = 0; k < CASE_COUNT; k++)
        for (int d = 0; d < 4; d++) {
            body *b = body_create(BODY_MOST, &OPTIONS[d]);
            cutis_binding *binding = NULL;
            counter = 1000000;
            for (int i = 0; i < 7; i++) {
                pose_palette(i < 3 ? RIGID : NON_UNIFORM, palette + i * BODY_JOINTS);
                if (i % 3 == 2) spoil(palette + i * BODY_JOINTS);
            }
            assert_ok(b->context,
                      cutis_bind(b->device, b->model,
                                 &(cutis_bind_options){ .method = CASES[k].method,
                                                        .weighted_centres = CASES[k].weighted,
                                                        .normals = true,
                                                        .instance_capacity = d == 2 ? 3 : 0 },
                                 &binding));
            int at = d > 0;
            assert_ok(
                b->context,
                cutis_deform(binding,
                             &(cutis_poses){ .kind = CUTIS_POSE_PALETTE, .matrices = palette }, 7,
                             &(cutis_outputs){ .positions = { .data = out[at] },
                                               .normals = { .data = normals[at] } }));
            if (at) {
                assert_memory_equal(out[0], out[1], sizeof out[0]);
                assert_memory_equal(normals[0], normals[1], sizeof normals[0]);
            }
            cutis_binding_destroy(binding);
            body_destroy(b);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_method_equals_its_formula_for_every_kind_of_bone),
        cmocka_unit_test(rest_pose_returns_the_input),
        cmocka_unit_test(a_global_rigid_motion_moves_the_result_with_it),
        cmocka_unit_test(single_influences_make_every_method_equal_lbs),
        cmocka_unit_test(rigid_follows_the_largest_weight),
        cmocka_unit_test(the_papers_key_of_4_8_10_is_50911_and_sets_are_as_distinct_as_their_keys),
        cmocka_unit_test(the_order_of_influences_does_not_matter),
        cmocka_unit_test(centres_are_solved_once_per_set_and_frame_and_equal_those_of_each_vertex),
        cmocka_unit_test(the_reference_body_keeps_the_volumes_of_the_table),
        cmocka_unit_test(optimized_centres_lie_on_the_axis_beside_their_vertex),
        cmocka_unit_test(optimized_centres_equal_the_integral_done_by_brute_force),
        cmocka_unit_test(every_schedule_and_thread_count_gives_the_bits_of_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
