// Live sessions have the bits of fresh binds; virtual handles move rigidly and are written and read
// with their bits; locality, bumps and update cost (docs/spec/handles.md 9.5, 9.7, 9.15, 9.17).
#include "handles_case.h"

#include <time.h>
#include <unistd.h>

#include <cutis/clip.h>

static const double LOW[3] = { 0, 0, 0 }, HIGH[3] = { 1, 0.5, 0.5 };

static cutis_model *biped(fixture *f, uint32_t vertices)
{
    cutis_model *model = NULL;
    assert_ok(
        f->context,
        cutis_synth_create(f->context, &(cutis_synth_options){ .vertex_count = vertices }, &model));
    return model;
}

// Handles at joints that are far apart: hips, head, hands, feet and elbows of the biped by index.
static uint32_t joint_handles(const cutis_model *model, uint32_t count, cutis_handle *out)
{
    const cutis_skin *skin = &cutis_model_get(model)->skins[0];
    for (uint32_t h = 0; h < count; h++) {
        cutis_mat34 bind;
        assert_true(cutis_mat34_invert(
            &skin->inverse_binds[h * (skin->joint_count - 1) / (count - 1)], &bind));
        out[h] = (cutis_handle){ .kind = CUTIS_HANDLE_POINT,
                                 .from = { bind.m[3], bind.m[7], bind.m[11] } };
    }
    return count;
}

static void assert_same_view(const cutis_handles_view *a, const cutis_handles_view *b)
{
    assert_int_equal(a->handle_count, b->handle_count);
    assert_int_equal(a->influences, b->influences);
    const size_t total = (size_t)a->vertex_count * a->influences;
    assert_memory_equal(a->joints, b->joints, total * sizeof *a->joints);
    assert_memory_equal(a->weights, b->weights, total * sizeof *a->weights);
    assert_int_equal(a->report->virtual_handles, b->report->virtual_handles);
}

static void after_any_changes_weights_have_the_bits_of_a_fresh_bind(void **state)
{
    fixture *f = *state;
    cutis_model *model = biped(f, 3000);
    cutis_handle handles[8];
    joint_handles(model, 8, handles);
    for (int w = 0; w < 2; w++) {
        const cutis_handles_options options = { .voxels = 48, .weighting = (cutis_weighting)w };
        cutis_handle_session *live = NULL, *fresh = NULL;
        assert_ok(f->context, cutis_handle_session_create(model, f->device, &options, &live));
        assert_ok(f->context, cutis_handles_set(live, handles, 6));
        for (uint32_t h = 6; h < 8; h++) {
            uint32_t index = 0;
            assert_ok(f->context, cutis_handles_add(live, &handles[h], &index));
            assert_int_equal(index, h);
        }
        cutis_handle away = handles[3], back = handles[3];
        away.from.y += 0.1f;
        back.name = "back";
        assert_ok(f->context, cutis_handles_move(live, 3, &away));
        assert_ok(f->context, cutis_handles_move(live, 3, &back));
        assert_ok(f->context, cutis_handles_remove(live, 1));
        cutis_handle left[7];
        for (int h = 0; h < 7; h++) left[h] = handles[h + (h >= 1)];
        assert_ok(f->context, cutis_handle_session_create(model, NULL, &options, &fresh));
        assert_ok(f->context, cutis_handles_set(fresh, left, 7));
        cutis_handles_view a = cutis_handles_look(live), b = cutis_handles_look(fresh);
        assert_same_view(&a, &b);
        assert_string_equal(a.handles[2].name, "back");
        // The model of a session is the one a plain call makes.
        cutis_model *one = NULL, *two = NULL;
        const cutis_handle_set set = { .handle_count = 7, .handles = left };
        assert_ok(f->context, cutis_handles_finish(fresh, NULL, 0, &one));
        assert_ok(f->context, cutis_handles_weights(model, f->device, &set, &options, &two, NULL));
        const cutis_influences *x = &cutis_model_get(one)->meshes[0].primitives[0].influences;
        const cutis_influences *y = &cutis_model_get(two)->meshes[0].primitives[0].influences;
        assert_memory_equal(x->first, y->first, (a.vertex_count + 1) * sizeof *x->first);
        assert_memory_equal(x->weights, y->weights, x->first[a.vertex_count] * sizeof(float));
        cutis_model_destroy(one), cutis_model_destroy(two);
        cutis_handle_session_destroy(live), cutis_handle_session_destroy(fresh);
    }
    cutis_model_destroy(model);
}

static void a_change_that_fails_leaves_everything_as_it_was(void **state)
{
    fixture *f = *state;
    cutis_model *model = biped(f, 1500);
    cutis_handle handles[4], bad;
    joint_handles(model, 4, handles);
    cutis_handle_session *live = NULL;
    const cutis_handles_options options = { .voxels = 32 };
    assert_ok(f->context, cutis_handle_session_create(model, f->device, &options, &live));
    assert_null(cutis_handles_look(live).weights);
    assert_int_equal(cutis_handles_remove(live, 0), CUTIS_INVALID_ARGUMENT);
    assert_ok(f->context, cutis_handles_set(live, handles, 4));
    cutis_handles_view before = cutis_handles_look(live);
    float first = before.weights[0];
    bad = handles[0];
    bad.from.x = NAN;
    assert_int_equal(cutis_handles_move(live, 4, &handles[0]), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_handles_move(live, 1, &bad), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_handles_add(live, &bad, NULL), CUTIS_INVALID_ARGUMENT);
    cutis_handles_view after = cutis_handles_look(live);
    assert_ptr_equal(before.weights, after.weights);
    assert_true(first == after.weights[0]);
    assert_ok(f->context, cutis_handles_set(live, NULL, 0));
    assert_int_equal(cutis_handles_look(live).handle_count, 0);
    cutis_model *out = NULL;
    assert_int_equal(cutis_handles_finish(live, NULL, 0, &out), CUTIS_INVALID_ARGUMENT);
    cutis_handle_session *other = NULL;
    assert_int_equal(cutis_handle_session_create(
                         model, NULL, &(cutis_handles_options){ .voxels_auto = true }, &other),
                     CUTIS_INVALID_ARGUMENT);
    assert_null(other);
    cutis_handle_session_destroy(live);
    cutis_model_destroy(model);
}

// Virtual handles -------------------------------------------------------------------------------

static cutis_model *bind_virtual(fixture *f, const cutis_model *model, uint32_t count)
{
    cutis_handle handles[32];
    cutis_model *out = NULL;
    joint_handles(model, count, handles);
    const cutis_handle_set set = { .handle_count = count, .handles = handles };
    const cutis_handles_options options = { .voxels = 48, .weighting = CUTIS_WEIGHTING_VIRTUAL };
    assert_ok(f->context, cutis_handles_weights(model, f->device, &set, &options, &out, NULL));
    return out;
}

static void deform_with(fixture *f, const cutis_model *model, cutis_method method,
                        const cutis_transform *pose, float *out)
{
    cutis_binding *binding = NULL;
    assert_ok(f->context,
              cutis_bind(f->device, model, &(cutis_bind_options){ .method = method }, &binding));
    cutis_outputs outputs = { .positions = { .data = out } };
    assert_ok(f->context, cutis_deform(binding, &(cutis_poses){ .local = pose }, 1, &outputs));
    cutis_binding_destroy(binding);
}

typedef double dual[8]; ///< w x y z, then the dual part

static void dual_of(const cutis_transform *t, const double *from, double *out)
{
    // x -> R (x - from) + translation, as the handle's node does it.
    double q[4] = { t->rotation.w, t->rotation.x, t->rotation.y, t->rotation.z }, r[3];
    const double u[3] = { q[1], q[2], q[3] };
    double cross[3] = { u[1] * from[2] - u[2] * from[1], u[2] * from[0] - u[0] * from[2],
                        u[0] * from[1] - u[1] * from[0] };
    double twice[3] = { u[1] * cross[2] - u[2] * cross[1], u[2] * cross[0] - u[0] * cross[2],
                        u[0] * cross[1] - u[1] * cross[0] };
    for (int c = 0; c < 3; c++) r[c] = from[c] + 2 * q[0] * cross[c] + 2 * twice[c];
    const double p[3] = { t->translation.x - r[0], t->translation.y - r[1],
                          t->translation.z - r[2] };
    memcpy(out, q, sizeof q);
    out[4] = -0.5 * (p[0] * q[1] + p[1] * q[2] + p[2] * q[3]);
    out[5] = 0.5 * (p[0] * q[0] + p[1] * q[3] - p[2] * q[2]);
    out[6] = 0.5 * (p[1] * q[0] + p[2] * q[1] - p[0] * q[3]);
    out[7] = 0.5 * (p[2] * q[0] + p[0] * q[2] - p[1] * q[1]);
}

// The point a (not unit) dual quaternion takes x to, by the textbook formula.
static void dual_point(const double *d, const double *x, double *out)
{
    double n = 0;
    for (int c = 0; c < 4; c++) n += d[c] * d[c];
    const double w = d[0], *u = d + 1, *e = d + 5, s = d[4];
    double cross[3] = { u[1] * x[2] - u[2] * x[1] + w * x[0], u[2] * x[0] - u[0] * x[2] + w * x[1],
                        u[0] * x[1] - u[1] * x[0] + w * x[2] };
    const double turned[3] = { u[1] * cross[2] - u[2] * cross[1], u[2] * cross[0] - u[0] * cross[2],
                               u[0] * cross[1] - u[1] * cross[0] };
    const double moved[3] = { w * e[0] - s * u[0] + u[1] * e[2] - u[2] * e[1],
                              w * e[1] - s * u[1] + u[2] * e[0] - u[0] * e[2],
                              w * e[2] - s * u[2] + u[0] * e[1] - u[1] * e[0] };
    for (int c = 0; c < 3; c++) out[c] = x[c] + 2 * (turned[c] + moved[c]) / n;
}

static void handles_rigid_is_linear_over_dual_quaternion_blends_of_the_handles(void **state)
{
    fixture *f = *state;
    cutis_model *model = biped(f, 2000), *bound = bind_virtual(f, model, 8);
    const cutis_model_data *data = cutis_model_get(bound);
    const cutis_handle_rig *rig = data->handles;
    assert_non_null(rig);
    assert_true(rig->virtual_count > 0);
    cutis_transform *pose = malloc(data->node_count * sizeof *pose);
    dual *turn = malloc((rig->handle_count + rig->virtual_count) * sizeof *turn);
    cutis_pose_rest(bound, pose, NULL);
    for (uint32_t h = 0; h < rig->handle_count; h++) {
        const double from[3] = { rig->handles[h].from.x, rig->handles[h].from.y,
                                 rig->handles[h].from.z };
        cutis_transform *t = &pose[rig->nodes[h]];
        t->rotation = cutis_quat_from_axis_angle(
            (cutis_float3){ (float)(h % 3), 1, (float)(h % 2) }, 0.2f * (float)h);
        t->translation.x += 0.05f * (float)h;
        dual_of(t, from, turn[h]);
    }
    for (uint32_t v = 0; v < rig->virtual_count; v++) {
        double *sum = turn[rig->handle_count + v];
        memset(sum, 0, sizeof(dual));
        for (uint32_t e = rig->share_first[v]; e < rig->share_first[v + 1]; e++) {
            const double *part = turn[rig->share_handles[e]],
                         *pivot = turn[rig->share_handles[rig->share_first[v]]];
            double dot = 0;
            for (int c = 0; c < 4; c++) dot += part[c] * pivot[c];
            for (int c = 0; c < 8; c++) sum[c] += (dot < 0 ? -1 : 1) * rig->shares[e] * part[c];
        }
    }
    const uint32_t vertices = cutis_model_vertex_count(bound);
    float *out = malloc(12 * (size_t)vertices);
    deform_with(f, bound, CUTIS_METHOD_HANDLES_RIGID, pose, out);
    const cutis_primitive *primitive = &data->meshes[0].primitives[0];
    const cutis_influences *in = &rig->weights[0].influences;
    for (uint32_t v = 0; v < vertices; v++) {
        double want[3] = { 0 }, total = 0, x[3], y[3];
        for (int c = 0; c < 3; c++) x[c] = primitive->positions[3 * v + (uint32_t)c];
        for (uint32_t e = in->first[v]; e < in->first[v + 1]; e++) {
            dual_point(turn[in->joints[e]], x, y);
            for (int c = 0; c < 3; c++) want[c] += in->weights[e] * y[c];
            total += in->weights[e];
        }
        assert_near(total, 1, 1e-6);
        for (int c = 0; c < 3; c++) assert_near(out[3 * v + (uint32_t)c], want[c] / total, 3e-6);
    }
    free(out), free(turn), free(pose);
    cutis_model_destroy(bound), cutis_model_destroy(model);
}

static void a_common_motion_is_reproduced_by_the_rigid_mode(void **state)
{
    fixture *f = *state;
    cutis_model *model = biped(f, 2000), *bound = bind_virtual(f, model, 8);
    const cutis_model_data *data = cutis_model_get(bound);
    const cutis_handle_rig *rig = data->handles;
    cutis_transform *pose = malloc(data->node_count * sizeof *pose);
    const cutis_quat turn = cutis_quat_from_axis_angle((cutis_float3){ 1, -2, 0.5f }, 2.0f);
    const cutis_transform whole = { .translation = { 0.3f, -0.2f, 1 },
                                    .rotation = turn,
                                    .scale = { 1, 1, 1 } };
    const cutis_mat34 matrix = cutis_mat34_from_transform(&whole);
    cutis_pose_rest(bound, pose, NULL);
    for (uint32_t h = 0; h < rig->handle_count; h++) {
        pose[rig->nodes[h]].translation = cutis_mat34_point(&matrix, rig->handles[h].from);
        pose[rig->nodes[h]].rotation = turn;
    }
    const uint32_t vertices = cutis_model_vertex_count(bound);
    float *out = malloc(12 * (size_t)vertices);
    deform_with(f, bound, CUTIS_METHOD_HANDLES_RIGID, pose, out);
    for (uint32_t v = 0; v < vertices; v++) {
        const float *p = data->meshes[0].primitives[0].positions + 3 * (size_t)v;
        cutis_float3 want = cutis_mat34_point(&matrix, (cutis_float3){ p[0], p[1], p[2] });
        assert_near(out[3 * v], want.x, 2e-6);
        assert_near(out[3 * v + 1], want.y, 2e-6);
        assert_near(out[3 * v + 2], want.z, 2e-6);
    }
    free(out), free(pose);
    cutis_model_destroy(bound), cutis_model_destroy(model);
}

static void cutis_handles_is_written_and_read_with_its_bits(void **state)
{
    fixture *f = *state;
    cutis_model *model = biped(f, 1500), *bound = bind_virtual(f, model, 6);
    char folder[] = "/tmp/cutis_handles_XXXXXX", names[2][64], beside[64];
    assert_non_null(mkdtemp(folder));
    snprintf(names[0], sizeof names[0], "%s/bits.glb", folder);
    snprintf(names[1], sizeof names[1], "%s/bits.gltf", folder);
    snprintf(beside, sizeof beside, "%s/bits.bin", folder);
    for (int i = 0; i < 2; i++) {
        cutis_model *again = NULL, *third = NULL;
        assert_ok(f->context, cutis_model_write(bound, names[i], NULL));
        assert_ok(f->context, cutis_model_read(f->context, names[i], NULL, &again));
        // Once more over its own source: old accessors go, new ones come.
        assert_ok(f->context, cutis_model_write(again, names[0], NULL));
        assert_ok(f->context, cutis_model_read(f->context, names[0], NULL, &third));
        const cutis_handle_rig *a = cutis_model_get(bound)->handles;
        const cutis_handle_rig *b = cutis_model_get(third)->handles;
        assert_non_null(b);
        assert_int_equal(a->handle_count, b->handle_count);
        assert_int_equal(a->virtual_count, b->virtual_count);
        for (uint32_t h = 0; h < a->handle_count; h++) {
            assert_memory_equal(&a->handles[h].from, &b->handles[h].from, sizeof(cutis_float3));
            assert_string_equal(cutis_model_get(bound)->nodes[a->nodes[h]].name
                                    ? cutis_model_get(bound)->nodes[a->nodes[h]].name
                                    : "",
                                cutis_model_get(third)->nodes[b->nodes[h]].name
                                    ? cutis_model_get(third)->nodes[b->nodes[h]].name
                                    : "");
        }
        const uint32_t shares = a->share_first[a->virtual_count];
        assert_memory_equal(a->virtual_places, b->virtual_places,
                            a->virtual_count * sizeof(cutis_float3));
        assert_memory_equal(a->share_first, b->share_first, (a->virtual_count + 1) * 4);
        assert_memory_equal(a->share_handles, b->share_handles, shares * 4);
        assert_memory_equal(a->shares, b->shares, shares * 4);
        const cutis_handle_weights *x = &a->weights[0], *y = &b->weights[0];
        const uint32_t entries = x->influences.first[x->vertex_count];
        assert_memory_equal(x->influences.first, y->influences.first, (x->vertex_count + 1) * 4);
        assert_memory_equal(x->influences.joints, y->influences.joints, entries * 4);
        assert_memory_equal(x->influences.weights, y->influences.weights, entries * 4);
        cutis_model_destroy(again), cutis_model_destroy(third);
        unlink(names[i]);
    }
    unlink(beside), unlink(names[0]), rmdir(folder);
    cutis_model_destroy(bound), cutis_model_destroy(model);
}

static void a_rig_that_does_not_fit_its_model_is_refused(void **state)
{
    fixture *f = *state;
    cutis_model *model = biped(f, 1500), *bound = bind_virtual(f, model, 4), *out = NULL;
    const cutis_model_data *good = cutis_model_get(bound);
    for (int i = 0; i < 9; i++) {
        cutis_model_data data = *good;
        cutis_handle_rig rig = *good->handles;
        cutis_handle_weights weights = rig.weights[0];
        const uint32_t entries = weights.influences.first[weights.vertex_count];
        uint32_t *handles = malloc(entries * sizeof *handles);
        float *shares = malloc(rig.share_first[rig.virtual_count] * sizeof *shares);
        const uint32_t node = good->node_count, none[4] = { node, node, node, node };
        int32_t first = 7;
        memcpy(handles, weights.influences.joints, entries * sizeof *handles);
        memcpy(shares, rig.shares, rig.share_first[rig.virtual_count] * sizeof *shares);
        data.handles = &rig;
        if (i == 0) rig.handle_count = 0;
        if (i == 1) rig.mesh_count++;
        if (i == 2) rig.primitive_count++;
        if (i == 3) rig.nodes = none;
        if (i == 4) rig.first_handles = &first;
        if (i == 5) shares[0] = 2, rig.shares = shares;
        if (i == 6) shares[0] += 0.1f, rig.shares = shares;
        if (i == 7) handles[0] = UINT32_MAX, weights.influences.joints = handles;
        if (i == 8) weights.vertex_count--;
        if (i >= 7) rig.weights = &weights;
        cutis_result result = cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &out);
        if (result != CUTIS_CORRUPT_DATA) fail_msg("case %d: %s", i, cutis_result_text(result));
        free(handles), free(shares);
    }
    cutis_binding *binding = NULL;
    assert_int_equal(cutis_bind(f->device, model,
                                &(cutis_bind_options){ .method = CUTIS_METHOD_HANDLES_RIGID },
                                &binding),
                     CUTIS_UNSUPPORTED);
    cutis_model_destroy(bound), cutis_model_destroy(model);
}

// Fields ------------------------------------------------------------------------------------------

static void random_box(fixture *f, cutis_weighting weighting, uint64_t seed, uint32_t voxels,
                       domain_case *d, double (*points)[3], uint32_t *count)
{
    shape_case *s = new_shape();
    add_box(s, LOW, HIGH);
    *count = random_points(seed, 10, LOW, HIGH, 8.0 / voxels, points);
    solve_domain(f, s, voxels, weighting, 1e-8, *count, (const double(*)[3])points,
                 (const double(*)[3])points, d);
    free(s);
}

// Spec 5: beyond r_i + 2 sqrt 3 voxels a handle has no weight of its own.
static void virtual_weights_end_where_their_support_does(void **state)
{
    fixture *f = *state;
    static domain_case d;
    double points[16][3];
    uint32_t count;
    random_box(f, CUTIS_WEIGHTING_VIRTUAL, 5, 48, &d, points, &count);
    const cutis_handles_grid *grid = &d.solution.grid;
    const cutis_handles_virtual *virtual = &d.solution.virtual;
    const double margin = 2 * sqrt(3) * grid->step;
    uint64_t seen = 0;
    for (uint32_t h = 0; h < count; h++) {
        cutis_handles_front front;
        assert_true(cutis_handles_front_init(&f->arena, grid, &front));
        cutis_handles_front_start(&front, &d.solution.sites.sites[h], 0);
        cutis_handles_front_finish(&front);
        for (uint32_t v = 0; v < grid->voxel_count; v++) {
            if (!(front.distance[v] > virtual->radius[h] + margin)) continue;
            handles_taps taps;
            double centre[3];
            cutis_handles_voxel_centre(grid, v, centre);
            cutis_handles_taps_at(grid, centre, true, &taps);
            for (int t = 0; t < taps.count; t++)
                for (uint32_t e = virtual->list_first[taps.voxel[t]];
                     e < virtual->list_first[taps.voxel[t] + 1]; e++)
                    if (taps.weight[t] > 0 && virtual->list_handle[e] == h)
                        fail_msg("handle %u reaches voxel %u at %g, radius %g", h, v,
                                 front.distance[v], virtual->radius[h]);
            seen++;
        }
    }
    assert_true(seen > 1000);
}

typedef struct peak {
    double value;
    uint32_t voxel;
} peak;

static int downwards(const void *a, const void *b)
{
    const peak *x = a, *y = b;
    if (x->value != y->value) return x->value > y->value ? -1 : 1;
    return (x->voxel > y->voxel) - (x->voxel < y->voxel);
}

static uint32_t find(uint32_t *root, uint32_t i)
{
    while (root[i] != i) i = root[i] = root[root[i]];
    return i;
}

// Highest prominence of any maximum but the highest one: voxels from high to low, joined to their
// 6-neighbours; where two hills meet the lower one ends.
static double second_prominence(const cutis_handles_grid *grid, const double *values)
{
    const uint32_t n = grid->voxel_count;
    peak *order = malloc(n * sizeof *order);
    uint32_t *root = malloc(n * sizeof *root);
    double worst = 0;
    for (uint32_t v = 0; v < n; v++) order[v] = (peak){ values[v], v }, root[v] = UINT32_MAX;
    qsort(order, n, sizeof *order, downwards);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t v = order[i].voxel;
        root[v] = v;
        for (int d = 0; d < 6; d++) {
            const uint32_t m = grid->neighbour[6 * (size_t)v + (size_t)d];
            if (m == CUTIS_HANDLES_NONE || root[m] == UINT32_MAX) continue;
            uint32_t a = find(root, v), b = find(root, m);
            if (a == b) continue;
            // The root of a hill is its highest voxel.
            if (values[a] < values[b] || (values[a] == values[b] && a > b)) {
                uint32_t swap = a;
                a = b, b = swap;
            }
            if (values[b] - values[v] > worst) worst = values[b] - values[v];
            root[b] = a;
        }
    }
    free(order), free(root);
    return worst;
}

// Spec 15.
static void no_weight_has_a_second_hill(void **state)
{
    fixture *f = *state;
    for (int w = 0; w < 2; w++) {
        static domain_case d;
        double points[16][3], weights[16];
        uint32_t count;
        random_box(f, (cutis_weighting)w, 3, 64, &d, points, &count);
        assert_int_equal(count, 10);
        const cutis_handles_grid *grid = &d.solution.grid;
        double *values = malloc(grid->voxel_count * count * sizeof *values);
        for (uint32_t v = 0; v < grid->voxel_count; v++) {
            double centre[3];
            cutis_handles_voxel_centre(grid, v, centre);
            weights_at(&d, centre, weights);
            for (uint32_t h = 0; h < count; h++)
                values[(size_t)h * grid->voxel_count + v] = weights[h];
        }
        for (uint32_t h = 0; h < count; h++) {
            double found = second_prominence(grid, values + (size_t)h * grid->voxel_count);
            if (found > 0.01)
                fail_msg("%s: handle %u has a hill of %g", w ? "virtual" : "field", h, found);
        }
        free(values);
    }
}

// Spec 17 ---------------------------------------------------------------------------------------

static double update_seconds(fixture *f, uint32_t vertices, uint32_t influences)
{
    cutis_model *model = biped(f, vertices), *bound = NULL;
    cutis_handle handles[12];
    joint_handles(model, 12, handles);
    const cutis_handle_set set = { .handle_count = 12, .handles = handles };
    const cutis_handles_options options = { .voxels = 32, .influences = influences };
    assert_ok(f->context, cutis_handles_weights(model, NULL, &set, &options, &bound, NULL));
    cutis_binding *binding = NULL;
    cutis_device *one = NULL;
    assert_ok(f->context,
              cutis_device_create(f->context, &(cutis_device_options){ .thread_count = 1 }, &one));
    assert_ok(f->context, cutis_bind(one, bound, NULL, &binding));
    cutis_transform *pose = malloc(cutis_model_get(bound)->node_count * sizeof *pose);
    float *out = malloc(12 * (size_t)vertices);
    cutis_pose_rest(bound, pose, NULL);
    const cutis_poses poses = { .local = pose };
    const cutis_outputs outputs = { .positions = { .data = out } };
    double best = INFINITY;
    const uint64_t memory = cutis_context_memory(f->context);
    for (int i = 0; i < 200; i++) {
        struct timespec a, b;
        clock_gettime(CLOCK_MONOTONIC, &a);
        assert_int_equal(cutis_deform(binding, &poses, 1, &outputs), CUTIS_OK);
        clock_gettime(CLOCK_MONOTONIC, &b);
        best = fmin(best, (double)(b.tv_sec - a.tv_sec) + 1e-9 * (double)(b.tv_nsec - a.tv_nsec));
    }
    assert_true(cutis_context_memory(f->context) == memory);
    free(pose), free(out);
    cutis_binding_destroy(binding);
    cutis_device_destroy(one);
    cutis_model_destroy(bound), cutis_model_destroy(model);
    return best;
}

static void an_update_allocates_nothing_and_costs_its_vertices(void **state)
{
    fixture *f = *state;
    double small = update_seconds(f, 5000, 4), large = update_seconds(f, 20000, 4);
    // Best of many, so a busy machine does not matter; 4 x the vertices.
    print_message("update: %.1f us and %.1f us\n", 1e6 * small, 1e6 * large);
    assert_true(large < 8 * small);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(after_any_changes_weights_have_the_bits_of_a_fresh_bind),
        claim(a_change_that_fails_leaves_everything_as_it_was),
        claim(handles_rigid_is_linear_over_dual_quaternion_blends_of_the_handles),
        claim(a_common_motion_is_reproduced_by_the_rigid_mode),
        claim(cutis_handles_is_written_and_read_with_its_bits),
        claim(a_rig_that_does_not_fit_its_model_is_refused),
        claim(virtual_weights_end_where_their_support_does),
        claim(no_weight_has_a_second_hill),
        claim(an_update_allocates_nothing_and_costs_its_vertices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
