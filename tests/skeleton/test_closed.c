// Hand-made surfaces: welded, capped, split, turned over, curled, refused.
#include "extracted.h"

static soup s; // large for a stack

static void borders_that_nearly_coincide_are_welded_and_holes_capped(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, false, false, 0); // open at the far end: a hole
    add_tube(&s, 2 + 1e-5, 4, 8, 0, 0.5, false, true, 1);
    cutis_model *model = soup_model(&s);
    cutis_skeleton_report *report;
    cutis_model *out = extract(model, by_labels(&s), &report);
    assert_sound(out);
    assert_int_equal(report->repairs.welded_edges, 24);
    assert_int_equal(report->repairs.capped_holes, 1);
    assert_int_equal(report->repairs.cap_faces, 12);
    assert_int_equal(mesh_of(out)->part_count, 2);
    assert_int_equal(mesh_of(out)->part_tree->loop_count, 1);
    double j[3] = { 2, 0, 0 };
    assert_near(distance(mesh_of(out)->part_tree->parts[1].position, j), 0, 2e-5);
    double volume = report->parts[0].volume + report->parts[1].volume;
    assert_near(volume, 4 * 12 * 0.5 * 0.25 * sin(2 * 3.14159265358979 / 12), 1e-4);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void pieces_that_only_touch_get_a_joint_at_their_contact_and_no_loop(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, true, true, 0);
    add_tube(&s, 2.01, 4, 8, 0, 0.5, true, true, 1);
    cutis_model *model = soup_model(&s);
    cutis_skeleton_report *report;
    cutis_model *out =
        extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_SHELLS }, &report);
    const cutis_part_tree *tree = mesh_of(out)->part_tree;
    assert_sound(out);
    assert_int_equal(tree->loop_count, 0);
    assert_int_equal(tree->parts[1].loop, CUTIS_NONE);
    assert_int_equal(report->repairs.touching_parts, 1);
    double j[3] = { 2.005, 0, 0 };
    assert_true(distance(tree->parts[1].position, j) < 0.05);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void an_edge_of_four_faces_is_split_into_two_solids(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    // Two boxes (made of 12 triangles) that share one edge.
    static const int corners[12][3] = { { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 },
                                        { 0, 1, 5 }, { 0, 5, 4 }, { 2, 6, 7 }, { 2, 7, 3 },
                                        { 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 } };
    for (uint32_t b = 0; b < 2; b++) {
        for (int v = 0; v < 8; v++)
            add_vertex(&s, (v & 1) + (double)b, (v >> 1 & 1) + (double)b, v >> 2 & 1);
        for (int f = 0; f < 12; f++)
            add_face(&s, 8 * b + (uint32_t)corners[f][0], 8 * b + (uint32_t)corners[f][1],
                     8 * b + (uint32_t)corners[f][2], b);
    }
    cutis_model *model = soup_model(&s);
    cutis_skeleton_report *report;
    cutis_model *out = extract(model, by_labels(&s), &report);
    assert_sound(out);
    assert_int_equal(report->repairs.split_edges, 1);
    assert_int_equal(mesh_of(out)->part_tree->welded_count, 16); // the edge is there twice
    for (int p = 0; p < 2; p++) {
        assert_near(report->parts[p].volume, 1, 1e-12);
        assert_true(report->parts[p].star_shaped);
        assert_near(mesh_of(out)->part_tree->parts[p].kernel_radius, 0.5, 1e-9);
    }
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void faces_that_look_inward_or_are_there_twice_are_put_right(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, true, false, 0);
    add_tube(&s, 2, 4, 8, 0, 0.5, false, true, 1);
    for (uint32_t i = 0; i < s.index_count / 3; i += 5) { // every fifth face turned over
        uint32_t t = s.indices[3 * i];
        s.indices[3 * i] = s.indices[3 * i + 1], s.indices[3 * i + 1] = t;
    }
    uint32_t faces = s.index_count / 3;
    add_face(&s, s.indices[3], s.indices[4], s.indices[5], 0); // twice
    add_face(&s, 0, 0, 1, 0);                                  // without area
    cutis_model *model = soup_model(&s);
    cutis_skeleton_report *report;
    cutis_model *out = extract(model, by_labels(&s), &report);
    assert_sound(out);
    assert_int_equal(report->repairs.dropped_faces, 2);
    assert_int_equal(report->repairs.flipped_faces, (faces + 4) / 5);
    assert_int_equal(cutis_model_triangle_count(out), faces);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

// A torus cut like a cake: two pieces share two loops, three close a cycle. One loop too many stays
// stitched either way.
static void a_body_with_a_handle_keeps_one_loop_as_a_seam(void **state)
{
    (void)state;
    for (uint32_t pieces = 2; pieces <= 4; pieces++) {
        const uint32_t n = 36, m = 10;
        memset(&s, 0, sizeof s);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < m; j++) {
                double u = 2 * 3.14159265358979 * i / n, v = 2 * 3.14159265358979 * j / m;
                double r = 3 + (1 + 0.2 * sin(u)) * cos(v);
                add_vertex(&s, r * cos(u), r * sin(u), (1 + 0.2 * sin(u)) * sin(v));
            }
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < m; j++) {
                uint32_t a = i * m + j, b = (i + 1) % n * m + j, k = (j + 1) % m;
                uint32_t c = (i + 1) % n * m + k, d = i * m + k;
                add_face(&s, a, b, c, (i + 5) % n * pieces / n);
                add_face(&s, a, c, d, (i + 5) % n * pieces / n);
            }
        cutis_model *model = soup_model(&s);
        cutis_skeleton_report *report;
        cutis_model *out = extract(model, by_labels(&s), &report);
        const cutis_part_tree *tree = mesh_of(out)->part_tree;
        assert_sound(out); // all loops are there, and border edges are on them
        assert_int_equal(mesh_of(out)->part_count, pieces);
        assert_int_equal(tree->loop_count, pieces);
        assert_int_equal(report->repairs.seam_count, 1);
        uint32_t joints = 0;
        for (uint32_t p = 0; p < pieces; p++) joints += tree->parts[p].loop != CUTIS_NONE;
        assert_int_equal(joints, pieces - 1);
        cutis_skeleton_report_destroy(report);
        cutis_model_destroy(out);
        cutis_model_destroy(model);
    }
}

static void a_curled_leaf_becomes_a_chain_of_parts(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    add_tube(&s, -14, 0, 14, 0, 0.5, true, false, 0); // larger, so the root
    uint32_t ring = 12,
             from = s.vertices - ring - 1; // the open end of the tube, then its fan centre
    add_tube(&s, 0, 10, 60, 0, 0.5, false, true, 1);
    for (uint32_t v = from + ring + 1; v < s.vertices; v++) { // bend the second tube to a spiral
        double x = s.positions[v][0], y = s.positions[v][1], angle = x / 2.2;
        s.positions[v][0] = (float)((2.2 - y) * sin(angle));
        s.positions[v][1] = (float)(2.2 - (2.2 - y) * cos(angle));
        s.positions[v][2] += (float)(0.15 * x);
    }
    cutis_model *model = soup_model(&s);
    cutis_skeleton_options options = by_labels(&s);
    cutis_model *whole = extract(model, options, NULL);
    assert_int_equal(mesh_of(whole)->part_count, 2);
    options.keep_curved = false;
    cutis_skeleton_report *report;
    cutis_model *out = extract(model, options, &report);
    assert_sound(out);
    assert_int_equal(report->repairs.curved_splits, 1);
    assert_in_range(mesh_of(out)->part_count, 3, 8);
    // A chain: every part but the last has one child.
    for (uint32_t p = 1; p < mesh_of(out)->part_count; p++)
        assert_true(mesh_of(out)->part_tree->parts[p].parent >= (int32_t)p - 2);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(whole);
    cutis_model_destroy(model);
}

static void what_cannot_be_closed_or_labelled_is_refused_with_its_part(void **state)
{
    (void)state;
    cutis_model *out = NULL;
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, true, true, 3);
    cutis_model *model = soup_model(&s);
    cutis_skeleton_options options = by_labels(&s);
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(context), "part3")); // the only part
    options.label_count--;
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(context), "labels"));
    options = (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_JOINTS };
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_INVALID_ARGUMENT);
    cutis_model_destroy(model);

    memset(&s, 0, sizeof s); // a Moebius strip
    for (int i = 0; i < 24; i++) {
        double a = 2 * 3.14159265358979 * i / 24, b = a / 2;
        for (int side = -1; side <= 1; side += 2)
            add_vertex(&s, (2 + 0.5 * side * cos(b)) * cos(a), (2 + 0.5 * side * cos(b)) * sin(a),
                       0.5 * side * sin(b));
    }
    for (uint32_t i = 0; i < 24; i++) {
        uint32_t p = 2 * i, q = p + 1, r = i < 23 ? p + 2 : 1, t = i < 23 ? p + 3 : 0;
        add_face(&s, p, q, t, i < 12), add_face(&s, p, t, r, i < 12);
    }
    model = soup_model(&s);
    options = by_labels(&s);
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(context), "part"));
    cutis_model_destroy(model);

    memset(&s, 0, sizeof s); // a flat sheet
    for (uint32_t i = 0; i < 100; i++) add_vertex(&s, i % 10, i / 10, 0);
    for (uint32_t i = 0; i < 81; i++) {
        uint32_t v = i / 9 * 10 + i % 9;
        add_face(&s, v, v + 1, v + 11, i % 9 < 4), add_face(&s, v, v + 11, v + 10, i % 9 < 4);
    }
    model = soup_model(&s);
    options = by_labels(&s);
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(context), "sheet"));
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(borders_that_nearly_coincide_are_welded_and_holes_capped),
        cmocka_unit_test(pieces_that_only_touch_get_a_joint_at_their_contact_and_no_loop),
        cmocka_unit_test(an_edge_of_four_faces_is_split_into_two_solids),
        cmocka_unit_test(faces_that_look_inward_or_are_there_twice_are_put_right),
        cmocka_unit_test(a_body_with_a_handle_keeps_one_loop_as_a_seam),
        cmocka_unit_test(a_curled_leaf_becomes_a_chain_of_parts),
        cmocka_unit_test(what_cannot_be_closed_or_labelled_is_refused_with_its_part),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
