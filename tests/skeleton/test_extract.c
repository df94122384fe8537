// Extraction from one end to the other: joints, refinement, rigs, files, memory.
#include "extracted.h"

// Bodies ----------------------------------------------------------------------------------------

static double angle_to(const double *axis, const double *from, const double *to)
{
    double length = distance(from, to), dot = 0;
    for (int k = 0; k < 3; k++) dot += axis[k] * (to[k] - from[k]) / length;
    return acos(fmin(1, fabs(dot)));
}

static void check_body(cutis_body kind)
{
    cutis_model *model = body(kind, 0);
    cutis_skeleton_report *report;
    cutis_model *out = extract(
        model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS, .keep_curved = true },
        &report);
    const cutis_mesh *mesh = mesh_of(out);
    const cutis_part_tree *tree = mesh->part_tree;
    cutis_surface surface = { mesh->primitives[0].vertex_count, mesh->primitives[0].index_count / 3,
                              mesh->primitives[0].positions, mesh->primitives[0].indices };
    double diagonal = cutis_surface_diagonal(&surface), worst = 0;
    assert_sound(out);
    assert_int_equal(mesh->part_count, mesh_of(model)->part_count);
    assert_int_equal(tree->loop_count, mesh->part_count - 1);
    // One joint per part, one end per leaf, and the body.
    assert_int_equal(cutis_model_get(out)->node_count, mesh->part_count + leaf_count(mesh) + 1);
    double(*points)[3] = malloc(tree->welded_count * sizeof *points);
    welded_points(mesh, points);
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        const cutis_part *part = &tree->parts[p];
        double truth[3], rig[3], sum[3] = { 0 }, total = 0;
        node_place(out, mesh->part_names[p], rig);
        assert_near(distance(rig, part->position), 0, 1e-6);
        if (part->parent == CUTIS_NONE) continue;
        const cutis_part_loop *loop = &tree->loops[part->loop];
        for (uint32_t i = 0; i < loop->vertex_count; i++) {
            const double *a = points[loop->vertices[i]];
            const double *b = points[loop->vertices[(i + 1) % loop->vertex_count]];
            double length = distance(a, b);
            for (int k = 0; k < 3; k++) sum[k] += length * (a[k] + b[k]) / 2;
            total += length;
        }
        for (int k = 0; k < 3; k++) assert_near(part->position[k], sum[k] / total, 1e-12);
        // The joint of the body that lies at this loop: the deeper of the two parts.
        uint32_t deep = p;
        node_place(model, mesh->part_names[deep], truth);
        double own = distance(truth, part->position);
        node_place(model, mesh->part_names[part->parent], truth);
        worst = fmax(worst, fmin(own, distance(truth, part->position)));
    }
    print_message("joints within %.2f %% of the diagonal\n", 100 * worst / diagonal);
    assert_true(worst < 0.05 * diagonal);
    free(points);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void joints_of_the_biped_are_where_its_makers_put_them(void **state)
{
    (void)state;
    check_body(CUTIS_BODY_BIPED);
}

static void joints_of_the_quadruped_are_where_its_makers_put_them(void **state)
{
    (void)state;
    check_body(CUTIS_BODY_QUADRUPED);
}

static void refinement_brings_axes_to_the_bones_and_leaves_no_part_worse(void **state)
{
    (void)state;
    for (cutis_body kind = CUTIS_BODY_BIPED; kind <= CUTIS_BODY_QUADRUPED; kind++) {
        cutis_model *model = body(kind, 0);
        double before = 0, after[2] = { 0 };
        uint32_t two_joints = 0;
        for (int paper = 0; paper < 2; paper++) {
            cutis_skeleton_report *report;
            cutis_model *out =
                extract(model,
                        (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS,
                                                  .refine = paper ? CUTIS_REFINE_PAPER : 0 },
                        &report);
            const cutis_mesh *mesh = mesh_of(out);
            const cutis_part_tree *tree = mesh->part_tree;
            for (uint32_t p = 0; p < mesh->part_count; p++) {
                uint32_t children = 0, child = 0;
                for (uint32_t q = p + 1; q < mesh->part_count; q++)
                    if (tree->parts[q].parent == (int32_t)p) children++, child = q;
                const double *old = report->parts[p].axes_before, *now = tree->parts[p].axes[0];
                if (children == 0 && !paper)
                    for (int k = 0; k < 3; k++) assert_near(now[k], old[k], 1e-12);
                if (children != 1 || p == 0) continue;
                double a = angle_to(old, tree->parts[p].position, tree->parts[child].position);
                double b = angle_to(now, tree->parts[p].position, tree->parts[child].position);
                if (!paper) assert_true(b <= a + 1e-9);
                if (!paper) before += a, two_joints++;
                after[paper] += b;
            }
            cutis_skeleton_report_destroy(report);
            cutis_model_destroy(out);
        }
        double degrees = 180 / 3.14159265358979 / two_joints;
        print_message(
            "%s: %u parts with two joints, mean angle %.2f -> %.2f degrees (paper's %.2f)\n",
            cutis_body_name(kind), two_joints, degrees * before, degrees * after[0],
            degrees * after[1]);
        assert_true(after[0] < before);
        cutis_model_destroy(model);
    }
}

static void parts_from_the_joints_of_a_skin_are_sound(void **state)
{
    (void)state;
    for (cutis_body kind = CUTIS_BODY_BIPED; kind <= CUTIS_BODY_ARM; kind++) {
        cutis_model *model = body(kind, 0);
        cutis_model *out =
            extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_JOINTS }, NULL);
        assert_sound(out);
        cutis_model_destroy(out);
        cutis_model_destroy(model);
    }
}

// Rest of the rig -------------------------------------------------------------------------------

static void bones_run_along_y_and_world_frames_are_not_turned(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 3000);
    for (int world = 0; world < 2; world++) {
        cutis_model *out =
            extract(model,
                    (cutis_skeleton_options){
                        .source = CUTIS_PART_SOURCE_PARTS, .world_frames = world, .extra = world },
                    NULL);
        const cutis_model_data *data = cutis_model_get(out);
        const cutis_mesh *mesh = mesh_of(out);
        cutis_transform *local = malloc(data->node_count * sizeof *local);
        cutis_mat34 *matrix = malloc(data->node_count * sizeof *matrix);
        cutis_pose_rest(out, local, NULL);
        cutis_pose_world(out, local, matrix);
        for (uint32_t p = 0; p < mesh->part_count; p++) {
            const cutis_part *part = &mesh->part_tree->parts[p];
            const float *m = matrix[data->skins[0].joints[part->joint]].m;
            double length = distance(part->position, part->end);
            for (int k = 0; k < 3; k++) {
                double y = world ? k == 1 : (part->end[k] - part->position[k]) / length;
                assert_near(m[4 * k + 1], y, 1e-5);
            }
            cutis_mat34 bind = cutis_mat34_multiply(&matrix[data->skins[0].joints[part->joint]],
                                                    &data->skins[0].inverse_binds[part->joint]);
            for (int i = 0; i < 12; i++) assert_near(bind.m[i], i % 5 == 0, 1e-5); // rest = bind
        }
        if (!world)
            assert_int_equal(data->node_count, mesh->part_count + leaf_count(mesh) + 1);
        else
            assert_true(data->node_count > mesh->part_count + leaf_count(mesh) + 1);
        free(local);
        free(matrix);
        cutis_model_destroy(out);
    }
    cutis_model_destroy(model);
}

static void the_named_part_is_the_root(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 3000);
    cutis_skeleton_options options = { .source = CUTIS_PART_SOURCE_PARTS, .root = "hips" };
    cutis_model *out = extract(model, options, NULL);
    assert_string_equal(mesh_of(out)->part_names[0], "hips");
    cutis_model_destroy(out);
    options.root = "wing";
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(context), "wing"));
    cutis_model_destroy(model);
}

static void the_part_tree_survives_a_file_bit_by_bit(void **state)
{
    (void)state;
    char path[] = "/tmp/cutis_part_tree_XXXXXX.glb";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    fclose(fdopen(file, "w"));
    cutis_model *model = body(CUTIS_BODY_QUADRUPED, 1500), *read = NULL;
    cutis_model *out =
        extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS }, NULL);
    assert_ok(context, cutis_model_write(out, path, NULL));
    assert_ok(context, cutis_model_read(context, path, NULL, &read));
    const cutis_part_tree *a = mesh_of(out)->part_tree, *b = mesh_of(read)->part_tree;
    uint32_t n = mesh_of(out)->part_count;
    assert_non_null(b);
    for (uint32_t p = 0; p < n; p++) {
        assert_int_equal(a->parts[p].parent, b->parts[p].parent);
        assert_int_equal(a->parts[p].loop, b->parts[p].loop);
        assert_memory_equal(a->parts[p].position, b->parts[p].position,
                            sizeof *a->parts - offsetof(cutis_part, position));
    }
    assert_int_equal(a->loop_count, b->loop_count);
    for (uint32_t l = 0; l < a->loop_count; l++)
        assert_memory_equal(a->loops[l].vertices, b->loops[l].vertices,
                            4 * (size_t)a->loops[l].vertex_count);
    assert_memory_equal(a->weld, b->weld, 4 * (size_t)mesh_of(out)->primitives[0].vertex_count);
    assert_int_equal(a->link_count, b->link_count);
    for (uint32_t i = 0; i < a->link_count; i++)
        assert_memory_equal(a->links[i].from, b->links[i].from, 6 * sizeof(double));
    remove(path);
    cutis_model_destroy(read);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void the_gate_refuses_trees_that_contradict_themselves(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_ARM, 0);
    cutis_model *out =
        extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS }, NULL);
    const cutis_model_data *good = cutis_model_get(out);
    for (int fault = 0; fault < 7; fault++) {
        cutis_mesh mesh = good->meshes[0];
        cutis_part_tree tree = *mesh.part_tree;
        cutis_part *parts = malloc(mesh.part_count * sizeof *parts);
        cutis_part_loop *loops = malloc(tree.loop_count * sizeof *loops);
        memcpy(parts, tree.parts, mesh.part_count * sizeof *parts);
        memcpy(loops, tree.loops, tree.loop_count * sizeof *loops);
        uint32_t ring[3] = { 0, 1, tree.welded_count };
        if (fault == 0) parts[1].parent = 1;
        if (fault == 1) parts[1].loop = (int32_t)tree.loop_count;
        if (fault == 2) parts[0].joint = 1000;
        if (fault == 3) parts[1].centroid[2] = NAN;
        if (fault == 4) loops[0].vertices = ring, loops[0].vertex_count = 3;
        if (fault == 5) tree.welded_count--;
        if (fault == 6) loops[0].child = loops[0].parent;
        tree.parts = parts, tree.loops = loops, mesh.part_tree = &tree;
        cutis_model_data data = *good;
        data.meshes = &mesh;
        cutis_model *bad = NULL;
        assert_int_equal(cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &bad),
                         CUTIS_CORRUPT_DATA);
        assert_non_null(strstr(cutis_context_error(context), "part_tree"));
        free(parts);
        free(loops);
    }
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void nothing_leaks_when_memory_runs_out(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_ARM, 0);
    const cutis_model_data *data = cutis_model_get(model);
    for (uint64_t limit = 2u << 20; limit < 24u << 20; limit += 1500007) {
        cutis_context *small = NULL;
        cutis_context_options limited = { .limits = { .memory_bytes = limit } };
        assert_int_equal(cutis_context_create(&limited, &small), CUTIS_OK);
        cutis_model *copy = NULL, *out = NULL;
        cutis_model_data plain = *data;
        plain.source = NULL;
        if (cutis_model_create(small, &plain, CUTIS_GATE_REFUSE, &copy) == CUTIS_OK) {
            cutis_skeleton_options options = { 0 };
            if (cutis_skeleton_extract(copy, &options, &out, NULL) == CUTIS_OK)
                cutis_model_destroy(out);
            cutis_model_destroy(copy);
        }
        assert_int_equal(cutis_context_memory(small), 0);
        cutis_context_destroy(small);
    }
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_of_the_biped_are_where_its_makers_put_them),
        cmocka_unit_test(joints_of_the_quadruped_are_where_its_makers_put_them),
        cmocka_unit_test(refinement_brings_axes_to_the_bones_and_leaves_no_part_worse),
        cmocka_unit_test(parts_from_the_joints_of_a_skin_are_sound),
        cmocka_unit_test(bones_run_along_y_and_world_frames_are_not_turned),
        cmocka_unit_test(the_named_part_is_the_root),
        cmocka_unit_test(the_part_tree_survives_a_file_bit_by_bit),
        cmocka_unit_test(the_gate_refuses_trees_that_contradict_themselves),
        cmocka_unit_test(nothing_leaks_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
