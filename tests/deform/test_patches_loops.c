/// What removal does at loops: the paper's plane test, and loops close together on one part. What a
/// removal by boxes takes is found here anew, by its definition.
#include "patches_device.h"

// A limb whose section is an ellipse, so that the axes of its boxes are those of the space.
static const limb_options OVAL = {
    .length = 4.5, .knee = true, .around = 32, .rings = 58, .ellipse = 0.75
};

/// A removal by definition, on a limb of two parts about the origin.
typedef struct removal {
    uint32_t vertices, triangles;
    const float *points;
    const uint32_t *indices, *parts;
    double box[2][6]; ///< least and greatest of each part along the axes
    double normal[3]; ///< of the loop
    double turn[9];   ///< of the child
    uint8_t *removed[2], *used[2];
} removal;

static removal removal_open(const patch_run *r, const double *normal)
{
    const cutis_primitive *p = &cutis_model_get(r->model)->meshes[0].primitives[0];
    removal m = { .vertices = p->vertex_count,
                  .triangles = p->index_count / 3,
                  .points = p->positions,
                  .indices = p->indices,
                  .parts = p->parts };
    memcpy(m.normal, normal, sizeof m.normal);
    for (int side = 0; side < 2; side++) {
        m.removed[side] = calloc(m.vertices, 1);
        m.used[side] = calloc(m.vertices, 1);
        for (int k = 0; k < 6; k++) m.box[side][k] = k < 3 ? 1e9 : -1e9;
    }
    for (uint32_t i = 0; i < 3 * m.triangles; i++) {
        uint32_t side = m.parts[i / 3], v = m.indices[i];
        m.used[side][v] = 1;
        for (int k = 0; k < 3; k++) {
            m.box[side][k] = fmin(m.box[side][k], m.points[3 * v + k]);
            m.box[side][3 + k] = fmax(m.box[side][3 + k], m.points[3 * v + k]);
        }
    }
    return m;
}

static void removal_close(removal *m)
{
    for (int side = 0; side < 2; side++) free(m->removed[side]), free(m->used[side]);
}

static void about_axis(const double *axis, double angle, double *m)
{
    double c = cos(angle), s = sin(angle), *a = (double[3]){ axis[0], axis[1], axis[2] };
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) m[3 * i + k] = (1 - c) * a[i] * a[k] + (i == k ? c : 0.0);
    m[1] -= s * a[2], m[2] += s * a[1], m[3] += s * a[2];
    m[5] -= s * a[0], m[6] -= s * a[1], m[7] += s * a[0];
}

// Inside the other part's box, and with `plane` beyond its end of the loop as well.
static bool is_hit(const removal *m, int side, uint32_t v, bool plane)
{
    double y[3], beyond = 0.0;
    for (int i = 0; i < 3; i++) { // in the rest space of the other part
        y[i] = 0.0;
        for (int k = 0; k < 3; k++)
            y[i] += (side ? m->turn[3 * i + k] : m->turn[3 * k + i]) * m->points[3 * v + k];
        beyond += m->normal[i] * y[i];
    }
    for (int k = 0; k < 3; k++)
        if (y[k] <= m->box[1 - side][k] || y[k] >= m->box[1 - side][3 + k]) return false;
    return !plane || (side ? -beyond : beyond) > 1e-6;
}

// The walk from the loop. @return removed vertices of both parts
static uint32_t remove_boxes(removal *m, bool plane)
{
    uint32_t count = 0;
    for (int side = 0; side < 2; side++) {
        memset(m->removed[side], 0, m->vertices);
        for (uint32_t v = 0; v < m->vertices; v++)
            if (m->used[0][v] && m->used[1][v] && is_hit(m, side, v, plane))
                m->removed[side][v] = 1;
        for (bool grew = true; grew;) {
            grew = false;
            for (uint32_t t = 0; t < m->triangles; t++) {
                const uint32_t *x = m->indices + 3 * (size_t)t;
                if (m->parts[t] != (uint32_t)side) continue;
                if (!(m->removed[side][x[0]] | m->removed[side][x[1]] | m->removed[side][x[2]]))
                    continue;
                for (int k = 0; k < 3; k++)
                    if (!m->removed[side][x[k]] && is_hit(m, side, x[k], plane))
                        m->removed[side][x[k]] = 1, grew = true;
            }
        }
        for (uint32_t v = 0; v < m->vertices; v++) count += m->removed[side][v];
    }
    return count;
}

static uint32_t kept_vertices(const patch_run *r)
{
    uint32_t count = 0;
    uint8_t *seen = calloc(2 * (size_t)r->counts[0], 1);
    for (uint32_t i = 0; i < 3 * r->counts[1]; i++)
        if (r->labels[i / 3] < 2) seen[2 * (size_t)r->indices[i] + r->labels[i / 3]] = 1;
    for (size_t i = 0; i < 2 * (size_t)r->counts[0]; i++) count += seen[i];
    free(seen);
    return count;
}

// D11, over the four ways to bend: those in which the tilt does not matter spare less.
static void the_plane_test_spares_a_fifth_to_a_half_of_what_boxes_alone_remove(void **state)
{
    (void)state;
    limb_options tilted = OVAL;
    tilted.tilt = 20;
    patch_run r = patch_run_open(context, device, limb_create(context, &tilted), CUTIS_PATCH_BOX,
                                 CUTIS_PATCH_FILL_REDUCED);
    double slope = tan(20 * DEGREES), l = sqrt(1 + slope * slope);
    removal m = removal_open(&r, (double[3]){ -slope / l, 0, 1 / l });
    uint32_t whole = kept_vertices(&r);
    for (int bend = 40; bend <= 90; bend += 10) {
        uint32_t boxes = 0, defined = 0, frames = 0;
        for (int way = 0; way < 4; way++) {
            double axis[3];
            limb_axis(cutis_patches_joint_at(r.patches, 0).limb, way * M_PI / 2, axis);
            about_axis(axis, bend * DEGREES, m.turn);
            boxes += remove_boxes(&m, false);
            defined += remove_boxes(&m, true);
            patch_pose_rest(&r);
            patch_pose_joint(&r, 0, way * M_PI / 2, bend * DEGREES, 0);
            patch_run_now(&r);
            assert_null(frame_fault(&r, 2));
            frames += whole - kept_vertices(&r);
        }
        double spared = 1.0 - (double)frames / boxes;
        print_message("%d degrees: boxes alone remove %u, planes as well %u, frames %u: %.0f %% "
                      "fewer\n",
                      bend, boxes, defined, frames, 100 * spared);
        assert_true(spared >= 0.2);
        assert_true(spared <= 0.5);
        // Frames have their own boxes (of the hulls) and clean up what pinches.
        assert_true(fabs((double)frames / defined - 1.0) < 0.12);
    }
    removal_close(&m);
    patch_run_close(&r);
}

// The limb with a third part between its two, `rings` edges long.
static cutis_model *short_middle(uint32_t rings)
{
    limb_options limb = OVAL;
    cutis_model *model = limb_create(context, &limb), *out = NULL;
    cutis_model_data data = *cutis_model_get(model);
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    uint32_t triangles = primitive.index_count / 3, *parts = malloc(4 * (size_t)triangles);
    uint32_t from = limb.rings / 2, quads = 2 * limb.around * limb.rings;
    for (uint32_t t = 0; t < triangles; t++) {
        uint32_t ring = t / (2 * limb.around);
        parts[t] = t >= quads            ? 2 * primitive.parts[t]
                   : ring < from         ? 0
                   : ring < from + rings ? 1
                                         : 2;
    }
    static const char *const names[3] = { "upper", "middle", "lower" };
    double length = 2.0 * limb.length / limb.rings * rings;
    cutis_transform still = cutis_transform_identity();
    cutis_node nodes[4];
    for (int i = 0; i < 4; i++)
        nodes[i] = (cutis_node){ .name = i < 3 ? names[i] : "limb",
                                 .parent = i == 0 || i == 3 ? CUTIS_NONE : i - 1,
                                 .rest = still,
                                 .mesh = i == 3 ? 0 : CUTIS_NONE,
                                 .skin = i == 3 ? 0 : CUTIS_NONE };
    nodes[0].rest.translation.z = (float)-limb.length;
    nodes[1].rest.translation.z = (float)limb.length;
    nodes[2].rest.translation.z = (float)length;
    uint32_t joints[3] = { 0, 1, 2 };
    cutis_mat34 binds[3] = { { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, (float)limb.length } },
                             { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } },
                             { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, (float)-length } } };
    cutis_skin skin = {
        .joint_count = 3, .joints = joints, .inverse_binds = binds, .root = CUTIS_NONE
    };
    primitive.parts = parts;
    mesh.primitives = &primitive;
    mesh.part_count = 3;
    mesh.part_names = names;
    data.node_count = 4;
    data.nodes = nodes;
    data.meshes = &mesh;
    data.skins = &skin;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &out));
    cutis_model_destroy(model);
    free(parts);
    return out;
}

// D14, its second part.
static void two_loops_one_two_and_four_edges_apart_are_closed(void **state)
{
    (void)state;
    uint32_t poses = 0;
    for (uint32_t rings = 1; rings <= 4; rings *= 2)
        for (int kind = 0; kind < 2; kind++) {
            patch_run r = patch_run_open(context, device, short_middle(rings),
                                         (cutis_patch_removal)kind, CUTIS_PATCH_FILL_DEFAULT);
            assert_int_equal(r.info.joint_count, 2);
            for (int bend = 0; bend <= 110; bend += 10)
                for (int which = 1; which <= 3; which++)
                    for (int twist = 0; twist <= 90; twist += 45, poses++) {
                        patch_pose_rest(&r);
                        if (which & 1)
                            patch_pose_joint(&r, 0, 0.3, bend * DEGREES, twist * DEGREES);
                        if (which & 2)
                            patch_pose_joint(&r, 1, 1.1, bend * DEGREES, twist * DEGREES);
                        patch_run_now(&r);
                        const char *fault = frame_fault(&r, 2);
                        if (fault)
                            fail_msg(
                                "%u edges, removal %d, joints %d bent by %d, twisted by %d: %s",
                                rings, kind, which, bend, twist, fault);
                    }
            patch_run_close(&r);
        }
    print_message("%u poses closed\n", poses);
}

int main(int count, char **arguments)
{
    if (count > 1) cmocka_set_test_filter(arguments[1]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_plane_test_spares_a_fifth_to_a_half_of_what_boxes_alone_remove),
        cmocka_unit_test(two_loops_one_two_and_four_edges_apart_are_closed),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
