// A crowd that lives on the device: clips and instances go up once, then a frame is one call.
#include <cutis/cutis.h>
#include <stdio.h>

enum { WALKERS = 2000, CAPACITY = 1000 };

int main(void)
{
    static const uint32_t VERTICES[2] = { 3000, 1500 };
    cutis_context *context = NULL;
    cutis_device *device = NULL;
    cutis_model *models[2] = { NULL, NULL };
    cutis_binding *skins[2] = { NULL, NULL };
    cutis_crowd *crowd = NULL;
    cutis_crowd_output outputs[2] = { { 0 }, { 0 } };
    cutis_context_create(NULL, &context);
    cutis_result result = CUTIS_DEVICE_UNAVAILABLE;
    for (int kind = CUTIS_DEVICE_CUDA; kind >= CUTIS_DEVICE_CPU && result; kind--)
        result = cutis_device_create(
            context, &(cutis_device_options){ .kind = (cutis_device_kind)kind }, &device);
    for (int l = 0; l < 2 && !result; l++) {
        cutis_synth_options body = { .vertex_count = VERTICES[l] };
        result = cutis_synth_create(context, &body, &models[l]);
        if (!result)
            result =
                cutis_bind(device, models[l], &(cutis_bind_options){ .normals = true }, &skins[l]);
    }
    cutis_crowd_level levels[] = { { skins[0], 8 }, { skins[1], 0 } }; // the fine one up to 8 m
    cutis_crowd_options options = { .levels = levels,
                                    .level_count = 2,
                                    .instance_capacity = WALKERS,
                                    .normal = CUTIS_CROWD_NORMAL_OCTAHEDRAL,
                                    .placed = true };
    if (!result) result = cutis_crowd_create(&options, &crowd);
    cutis_crowd_info info = cutis_crowd_describe(crowd);
    for (int l = 0; l < 2 && !result; l++)
        result =
            cutis_buffer_create(device, CAPACITY * info.levels[l].slot_bytes, &outputs[l].vertices);

    if (!result) result = cutis_crowd_resize(crowd, WALKERS);
    for (uint32_t i = 0; i < WALKERS && !result; i++) { // a grid of walkers, each out of step
        cutis_crowd_instance walker = { .root = cutis_transform_identity(), .track_count = 1 };
        walker.root.translation = (cutis_float3){ (float)(i % 50) - 25, 0, (float)(i / 50) - 20 };
        walker.tracks[0] = (cutis_crowd_track){ .seconds = 0.37 * i, .speed = 1 };
        result = cutis_crowd_set(crowd, i, 1, &walker);
    }
    cutis_crowd_view view = { .eye = { 0, 2, 0 },
                              .plane_count = 2, // all that is ahead and near
                              .planes = { { 0, 0, -1, 0 }, { 0, 0, 1, 15 } } };
    for (int frame = 0; frame < 10 && !result; frame++) // only the clock goes up
        result = cutis_crowd_run(crowd, frame / 60.0, &view, outputs);
    if (!result) result = cutis_device_finish(device);
    printf("%s: %u near and %u far of %d are drawn\n",
           result ? cutis_context_error(context) : "success", cutis_crowd_drawn(crowd, 0, NULL),
           cutis_crowd_drawn(crowd, 1, NULL), WALKERS);

    cutis_crowd_destroy(crowd);
    for (int l = 0; l < 2; l++) {
        cutis_buffer_destroy(outputs[l].vertices);
        cutis_binding_destroy(skins[l]);
        cutis_model_destroy(models[l]);
    }
    cutis_device_destroy(device);
    cutis_context_destroy(context);
    return result != CUTIS_OK;
}
