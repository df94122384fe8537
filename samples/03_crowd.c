// A thousand characters in one call, on the GPU if there is one; the vertices stay on the device.
#include <cutis/cutis.h>
#include <stdio.h>
#include <stdlib.h>

enum { INSTANCES = 1000 };

int main(void)
{
    cutis_context *context = NULL;
    cutis_model *hound = NULL;
    cutis_device *device = NULL;
    cutis_binding *skin = NULL;
    cutis_sampler *walk = NULL;
    cutis_buffer *vertices = NULL;
    cutis_context_create(NULL, &context);

    cutis_result result = CUTIS_DEVICE_UNAVAILABLE;
    for (int kind = CUTIS_DEVICE_CUDA; kind >= CUTIS_DEVICE_CPU && result; kind--)
        result = cutis_device_create(
            context, &(cutis_device_options){ .kind = (cutis_device_kind)kind }, &device);
    if (!result)
        result = cutis_synth_create(
            context, &(cutis_synth_options){ .body = CUTIS_BODY_QUADRUPED, .vertex_count = 1500 },
            &hound);
    if (!result) result = cutis_bind(device, hound, NULL, &skin);
    if (!result) result = cutis_sampler_create(hound, 0, &walk);
    if (result) return fprintf(stderr, "%s\n", cutis_context_error(context)), 1;

    uint32_t node_count = cutis_model_get(hound)->node_count;
    cutis_transform *poses = malloc((size_t)INSTANCES * node_count * sizeof *poses);
    cutis_bounds *boxes = malloc(INSTANCES * sizeof *boxes);
    for (uint32_t i = 0; i < INSTANCES; i++) // everyone at another phase
        cutis_sampler_sample(walk, cutis_sampler_duration(walk) * (float)i / INSTANCES,
                             poses + i * node_count, NULL);

    uint64_t size = (uint64_t)INSTANCES * cutis_model_vertex_count(hound) * 12;
    result = cutis_buffer_create(device, size, &vertices);
    if (!result)
        result = cutis_deform(skin, &(cutis_poses){ .local = poses }, INSTANCES,
                              &(cutis_outputs){ .positions.buffer = vertices, .bounds = boxes });
    if (!result) result = cutis_device_finish(device);
    printf("%s: %llu bytes of vertices on %s\n", cutis_result_text(result),
           (unsigned long long)size, cutis_device_describe(device).name);

    free(boxes), free(poses);
    cutis_buffer_destroy(vertices);
    cutis_sampler_destroy(walk);
    cutis_binding_destroy(skin);
    cutis_model_destroy(hound);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
    return result != CUTIS_OK;
}
