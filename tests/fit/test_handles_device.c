// Handle weights on an OpenCL device (PoCL here) against the CPU's: the issue allows 1e-5, the text
// promises the same bits. Skips, visibly, where there is no such device.
#include "handles_case.h"

static cutis_device *open_device(fixture *f)
{
    cutis_device *device = NULL;
    const cutis_device_options options = { .kind = CUTIS_DEVICE_OPENCL, .thread_count = 2 };
    if (cutis_device_create(f->context, &options, &device) != CUTIS_OK) {
        print_message("skip: %s\n", cutis_context_error(f->context));
        skip();
    }
    return device;
}

static void compare(fixture *f, cutis_device *device, const cutis_model *model,
                    const cutis_handle *handles, uint32_t count,
                    const cutis_handles_options *options)
{
    cutis_handle_session *host = NULL, *other = NULL;
    assert_ok(f->context, cutis_handles_open(model, f->device, options, &host));
    assert_ok(f->context, cutis_handles_open(model, device, options, &other));
    for (int change = 0; change < 2; change++) {
        cutis_handle moved = handles[0];
        moved.from.y += 0.02f;
        if (change == 0) {
            assert_ok(f->context, cutis_handles_set(host, handles, count));
            assert_ok(f->context, cutis_handles_set(other, handles, count));
        } else { // buffers are used again
            assert_ok(f->context, cutis_handles_move(host, 0, &moved));
            assert_ok(f->context, cutis_handles_move(other, 0, &moved));
        }
        cutis_handles_view a = cutis_handles_look(host), b = cutis_handles_look(other);
        assert_int_equal(a.influences, b.influences);
        assert_int_equal(a.report->iterations, b.report->iterations);
        assert_true(a.report->dropped_mass_mean == b.report->dropped_mass_mean);
        assert_true(a.report->interpolation_error_max == b.report->interpolation_error_max);
        uint64_t different = 0;
        for (size_t i = 0; i < (size_t)a.vertex_count * a.influences; i++) {
            if (a.joints[i] == b.joints[i]) assert_near(a.weights[i], b.weights[i], 1e-5);
            different += a.joints[i] != b.joints[i] || a.weights[i] != b.weights[i];
        }
        assert_int_equal(different, 0);
    }
    cutis_handles_close(host), cutis_handles_close(other);
}

static void an_opencl_device_gives_the_cpus_weights(void **state)
{
    fixture *f = *state;
    cutis_device *device = open_device(f);
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_synth_create(
                              f->context, &(cutis_synth_options){ .vertex_count = 3000 }, &model));
    const cutis_handle handles[5] = {
        { "head", CUTIS_HANDLE_POINT, { 0, 1.6f, 0 }, { 0, 0, 0 } },
        { "spine", CUTIS_HANDLE_BAR, { 0, 1.05f, 0 }, { 0, 1.3f, 0 } },
        { "left", CUTIS_HANDLE_POINT, { 0.1f, 0.4f, 0 }, { 0, 0, 0 } },
        { "right", CUTIS_HANDLE_POINT, { -0.1f, 0.4f, 0 }, { 0, 0, 0 } },
        { "twin", CUTIS_HANDLE_POINT, { -0.1f, 0.4f, 0 }, { 0, 0, 0 } }, // shares its site
    };
    for (int w = 0; w < 2; w++)
        compare(f, device, model, handles, 5,
                &(cutis_handles_options){ .voxels = 40, .weighting = (cutis_weighting)w });
    cutis_model_destroy(model);
    cutis_device_destroy(device);
}

// Two pieces of which one has no handle, and a coarsest level that is the only one.
static void loose_pieces_and_small_grids_too(void **state)
{
    fixture *f = *state;
    cutis_device *device = open_device(f);
    shape_case *s = new_shape();
    add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.4, 0.4 });
    add_box(s, (const double[3]){ 1.5, 0, 0 }, (const double[3]){ 1.8, 0.4, 0.4 });
    cutis_primitive primitive = { .vertex_count = s->shape.vertex_count,
                                  .positions = s->positions,
                                  .index_count = 3 * s->shape.triangle_count,
                                  .indices = s->triangles,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_node node = { .parent = CUTIS_NONE, .mesh = 0, .skin = CUTIS_NONE };
    node.rest = cutis_transform_identity();
    cutis_model_data data = { .node_count = 1, .nodes = &node, .mesh_count = 1, .meshes = &mesh };
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
    const cutis_handle handles[2] = {
        { NULL, CUTIS_HANDLE_POINT, { 0.2f, 0.2f, 0.2f }, { 0, 0, 0 } },
        { NULL, CUTIS_HANDLE_POINT, { 0.8f, 0.2f, 0.2f }, { 0, 0, 0 } }
    };
    const uint32_t voxels[2] = { 8, 24 };
    for (int i = 0; i < 2; i++)
        compare(f, device, model, handles, 2, &(cutis_handles_options){ .voxels = voxels[i] });
    cutis_model_destroy(model);
    free(s);
    cutis_device_destroy(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(an_opencl_device_gives_the_cpus_weights),
        claim(loose_pieces_and_small_grids_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
