// Labels to disjoint simple loops: spoiled labels, straightened loops, what cannot heal.
#include "extracted.h"

#include "skeleton/source.h"

// Spoiled labels --------------------------------------------------------------------------------

static uint32_t *copy_labels(const cutis_primitive *primitive)
{
    uint32_t n = primitive->index_count / 3, *labels = malloc(n * sizeof *labels);
    memcpy(labels, primitive->parts, n * sizeof *labels);
    return labels;
}

static void middle_of(const cutis_primitive *primitive, uint32_t t, double *out)
{
    for (int k = 0; k < 3; k++) {
        out[k] = 0;
        for (int c = 0; c < 3; c++)
            out[k] += primitive->positions[3 * (size_t)primitive->indices[3 * t + c] + k] / 3.0;
    }
}

// Three parts at a point: the hips' lower half goes to the nearer thigh, the chest's top to neck
// and clavicles; teeth and islands at random.
static void spoil(const cutis_mesh *mesh, uint64_t seed, uint32_t *labels)
{
    const cutis_primitive *primitive = &mesh->primitives[0];
    uint32_t hips = part_named(mesh, "hips"), left = part_named(mesh, "thigh_l");
    uint32_t right = part_named(mesh, "thigh_r"), chest = part_named(mesh, "chest");
    uint32_t neck = part_named(mesh, "neck"),
             clavicle[2] = { part_named(mesh, "clavicle_l"), part_named(mesh, "clavicle_r") };
    for (uint32_t t = 0; t < primitive->index_count / 3; t++) {
        double m[3];
        middle_of(primitive, t, m);
        if (labels[t] == hips && m[1] < 0.97) labels[t] = m[0] > 0 ? left : right;
        if (labels[t] == chest && m[1] > 1.42)
            labels[t] = fabs(m[0]) < 0.07 ? neck : clavicle[m[0] < 0];
        double dice = cutis_random_unit(seed, 1, t);
        if (dice < 0.01) labels[t] = (uint32_t)(100 * dice * mesh->part_count);
    }
}

static void spoiled_labels_heal_to_a_tree_of_loops_and_stay_healed(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 6000);
    const cutis_mesh *mesh = mesh_of(model);
    uint64_t n = mesh->primitives[0].index_count / 3;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        uint32_t *labels = copy_labels(&mesh->primitives[0]);
        spoil(mesh, seed, labels);
        cutis_skeleton_report *report;
        cutis_model *out = extract(model,
                                   (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_LABELS,
                                                             .labels = labels,
                                                             .label_count = n,
                                                             .keep_curved = true },
                                   &report);
        const cutis_mesh *healed = mesh_of(out);
        assert_sound(out);
        assert_true(report->repairs.relabelled_faces > 0 && report->repairs.rounds > 0);
        assert_true(report->note_count > 0);
        assert_int_equal(healed->part_tree->loop_count, healed->part_count - 1);
        for (uint32_t a = 0; a < healed->part_tree->loop_count; a++) // one loop per pair
            for (uint32_t b = 0; b < a; b++)
                assert_false(
                    healed->part_tree->loops[a].parent == healed->part_tree->loops[b].parent &&
                    healed->part_tree->loops[a].child == healed->part_tree->loops[b].child);
        cutis_skeleton_report *second;
        cutis_model *again = extract(
            out, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS, .keep_curved = true },
            &second);
        assert_int_equal(second->repairs.relabelled_faces, 0);
        assert_int_equal(second->repairs.rounds, 0);
        assert_int_equal(mesh_of(again)->part_count, healed->part_count);
        cutis_skeleton_report_destroy(second);
        cutis_model_destroy(again);
        cutis_skeleton_report_destroy(report);
        cutis_model_destroy(out);
        free(labels);
    }
    cutis_model_destroy(model);
}

// Two joints of one part whose loops share vertices: a band that is one face wide at one place, and
// none at another.
static void loops_that_touch_are_drawn_apart(void **state)
{
    (void)state;
    static soup s;
    for (int pinch = 1; pinch <= 3; pinch++) {
        memset(&s, 0, sizeof s);
        add_tube(&s, 0, 12, 24, 0, 1, true, true, 0); // 12 quads a ring, two faces each
        for (uint32_t f = 0; f < 24 * 24; f++) {
            uint32_t ring = f / 24, quad = f % 24 / 2;
            s.labels[f] = ring < 10 ? 1 : ring >= 14 ? 2 : 0;
            if (quad < (uint32_t)pinch && ring < 12) s.labels[f] = 1;
            if (quad < (uint32_t)pinch && ring >= 12) s.labels[f] = 2;
            if (pinch == 1 && quad == 0 && ring == 12) s.labels[f] = 0; // only a vertex in common
        }
        for (uint32_t f = 24 * 24; f < s.index_count / 3; f++) // the ends
            s.labels[f] = f < 24 * 24 + 12 ? 1 : 2;
        cutis_model *model = soup_model(&s);
        cutis_skeleton_report *report;
        cutis_model *out = extract(model, by_labels(&s), &report);
        assert_sound(out); // loops disjoint: no vertex in two
        assert_int_equal(mesh_of(out)->part_count, 3);
        assert_int_equal(mesh_of(out)->part_tree->loop_count, 2);
        cutis_model *again = extract(
            out, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS, .keep_curved = true },
            NULL);
        assert_int_equal(mesh_of(again)->part_count, 3);
        cutis_model_destroy(again);
        cutis_skeleton_report_destroy(report);
        cutis_model_destroy(out);
        cutis_model_destroy(model);
    }
}

// Labels drawn face by face are no segmentation. They still heal, in dozens of rounds and to
// something nobody meant; who sets a limit gets the error that names a part, and no model.
static void labels_that_do_not_settle_are_refused_with_a_part_and_the_rounds(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_ARM, 0), *out = NULL;
    uint64_t n = mesh_of(model)->primitives[0].index_count / 3;
    uint32_t *labels = malloc(n * sizeof *labels);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        for (uint64_t t = 0; t < n; t++)
            labels[t] = 10 + (uint32_t)(5 * cutis_random_unit(seed, 1, t));
        cutis_skeleton_options options = {
            .source = CUTIS_PART_SOURCE_LABELS, .labels = labels, .label_count = n, .heal_rounds = 6
        };
        cutis_skeleton_report *report = (cutis_skeleton_report *)&options;
        assert_int_equal(cutis_skeleton_extract(model, &options, &out, &report), CUTIS_UNSUPPORTED);
        assert_null(out);
        assert_null(report);
        const char *error = cutis_context_error(context);
        assert_non_null(strstr(error, "part \"part1")); // 10 .. 14, or a piece of one
        assert_non_null(strstr(error, "does not settle"));
        assert_non_null(strstr(error, "6 rounds"));
        options.heal_rounds = 0;
        cutis_result result = cutis_skeleton_extract(model, &options, &out, &report);
        if (result == CUTIS_OK) {
            print_message("noise %u settles in %u rounds, %u parts\n", (unsigned)seed,
                          report->repairs.rounds, report->part_count);
            assert_true(report->repairs.rounds > 6);
            assert_sound(out);
            // As many rounds as it took are enough, one fewer is not.
            cutis_model *again = NULL;
            options.heal_rounds = report->repairs.rounds;
            assert_ok(context, cutis_skeleton_extract(model, &options, &again, NULL));
            cutis_model_destroy(again);
            options.heal_rounds--;
            assert_int_equal(cutis_skeleton_extract(model, &options, &again, NULL),
                             CUTIS_UNSUPPORTED);
            cutis_model_destroy(out);
            cutis_skeleton_report_destroy(report);
            out = NULL;
        } else {
            assert_non_null(strstr(cutis_context_error(context), "part"));
        }
    }
    free(labels);
    cutis_model_destroy(model);
}

// Joints of a random tree, drawn at random over a body: the worst that weights could say.
static void labels_of_joints_nest_whatever_the_weights_say(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 2000);
    uint32_t faces = mesh_of(model)->primitives[0].index_count / 3;
    uint32_t *labels = malloc(faces * sizeof *labels);
    for (uint64_t seed = 1; seed <= 12; seed++) {
        cutis_arena arena = { .context = context };
        cutis_labels names = { .arena = &arena };
        cutis_skeleton_repairs repairs = { 0 };
        cutis_closed mesh;
        uint32_t parents[24], moved, changed = 0, count = 2 + (uint32_t)(2 * seed - 1) % 22;
        const cutis_primitive *primitive = &mesh_of(model)->primitives[0];
        for (uint32_t l = 0; l < count; l++) {
            char name[16];
            snprintf(name, sizeof name, "j%u", l);
            cutis_labels_add(&names, "%s", name);
            parents[l] = l == 0 ? CUTIS_NOTHING : (uint32_t)(l * cutis_random_unit(seed, 2, l));
        }
        names.parents = parents;
        for (uint32_t t = 0; t < faces; t++) { // patches of a few faces, or (odd seeds) single ones
            double m[3];
            middle_of(primitive, t, m);
            uint64_t cell = seed % 2
                                ? t
                                : (uint64_t)(8 * (m[0] + 2)) + 64 * (uint64_t)(8 * (m[1] + 2)) +
                                      4096 * (uint64_t)(8 * (m[2] + 2));
            labels[t] = (uint32_t)(count * cutis_random_unit(seed, 1, cell));
        }
        assert_ok(context, cutis_closed_make(model, labels, &names, &repairs, &mesh));
        assert_int_equal(mesh.face_count, faces);
        assert_ok(context, cutis_nest(&mesh, &names, &moved));
        for (uint32_t v = 0; v < mesh.vertex_count; v++) {
            uint32_t low = CUTIS_NOTHING, high = 0, borders = 0, h = mesh.leaving[v];
            do {
                uint32_t label = mesh.labels[h / 3];
                low = label < low ? label : low, high = label > high ? label : high;
                borders += cutis_is_border(&mesh, h);
                h = cutis_around(&mesh, h);
            } while (h != mesh.leaving[v]);
            do { // one label, or a joint and its parent
                assert_true(mesh.labels[h / 3] == low || mesh.labels[h / 3] == high);
                h = cutis_around(&mesh, h);
            } while (h != mesh.leaving[v]);
            assert_true(low == high || parents[high] == low); // parents have smaller numbers
            assert_int_equal(borders, low == high ? 0 : 2);
        }
        for (uint32_t f = 0; f < faces; f++) {
            uint32_t up = labels[f];
            while (up != mesh.labels[f] && up != CUTIS_NOTHING) up = parents[up];
            assert_int_equal(up, mesh.labels[f]); // only ever up its own chain
            changed += labels[f] != mesh.labels[f];
        }
        assert_int_equal(changed, moved);
        cutis_closed_release(&mesh);
        cutis_arena_release(&arena);
    }
    free(labels);
    cutis_model_destroy(model);
}

// Straight loops --------------------------------------------------------------------------------

// RMS distance from the plane through a loop's vertices, in its radii: the least eigenvalue of the
// covariance by bisection on its characteristic polynomial.
static double off_plane(const double (*points)[3], const cutis_part_loop *loop)
{
    double mean[3] = { 0 }, c[3][3] = { { 0 } }, length = 0;
    uint32_t n = loop->vertex_count;
    for (uint32_t i = 0; i < n; i++) {
        length += distance(points[loop->vertices[i]], points[loop->vertices[(i + 1) % n]]);
        for (int k = 0; k < 3; k++) mean[k] += points[loop->vertices[i]][k] / n;
    }
    for (uint32_t i = 0; i < n; i++)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                c[r][k] += (points[loop->vertices[i]][r] - mean[r]) *
                           (points[loop->vertices[i]][k] - mean[k]) / n;
    double low = 0, high = (c[0][0] + c[1][1] + c[2][2]) / 3;
    for (int step = 0; step < 200; step++) { // definite below the least eigenvalue
        double x = 0.5 * (low + high), a = c[0][0] - x, b = c[1][1] - x, d = c[2][2] - x;
        double det2 = a * b - c[0][1] * c[0][1];
        double det3 = a * (b * d - c[1][2] * c[1][2]) -
                      c[0][1] * (c[0][1] * d - c[1][2] * c[0][2]) +
                      c[0][2] * (c[0][1] * c[1][2] - b * c[0][2]);
        if (a > 0 && det2 > 0 && det3 > 0)
            low = x;
        else
            high = x;
    }
    return sqrt(low) / (length / (2 * 3.14159265358979));
}

static void straightened_loops_lie_in_planes_and_the_surface_stays(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 0);
    double sums[2] = { 0 }, volumes[2] = { 0 };
    uint64_t triangles[2];
    for (int straight = 0; straight < 2; straight++) {
        cutis_skeleton_report *report;
        cutis_model *out = extract(
            model, (cutis_skeleton_options){ .straighten = straight, .part_count = 16 }, &report);
        const cutis_mesh *mesh = mesh_of(out);
        assert_sound(out);
        double(*points)[3] = malloc(mesh->part_tree->welded_count * sizeof *points);
        welded_points(mesh, points);
        for (uint32_t l = 0; l < mesh->part_tree->loop_count; l++)
            sums[straight] += off_plane((const double(*)[3])points, &mesh->part_tree->loops[l]) /
                              mesh->part_tree->loop_count;
        cutis_surface surface = { mesh->primitives[0].vertex_count,
                                  mesh->primitives[0].index_count / 3,
                                  mesh->primitives[0].positions, mesh->primitives[0].indices };
        volumes[straight] = cutis_surface_volume(&surface);
        triangles[straight] = surface.triangle_count;
        if (straight)
            print_message(
                "%u loops straightened, %u not: off plane by %.4f -> %.4f radii, %+.1f %% "
                "triangles\n",
                report->repairs.straightened, report->repairs.not_straightened, sums[0], sums[1],
                100.0 * (double)triangles[1] / (double)triangles[0] - 100);
        free(points);
        cutis_skeleton_report_destroy(report);
        cutis_model_destroy(out);
    }
    assert_true(sums[1] < 0.5 * sums[0]);
    assert_near(volumes[1] / volumes[0], 1, 1e-6);
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spoiled_labels_heal_to_a_tree_of_loops_and_stay_healed),
        cmocka_unit_test(loops_that_touch_are_drawn_apart),
        cmocka_unit_test(labels_that_do_not_settle_are_refused_with_a_part_and_the_rounds),
        cmocka_unit_test(labels_of_joints_nest_whatever_the_weights_say),
        cmocka_unit_test(straightened_loops_lie_in_planes_and_the_surface_stays),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
