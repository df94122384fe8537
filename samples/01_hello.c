// A built-in character walks: make it, bind it, deform one frame.
#include <cutis/cutis.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    cutis_context *context = NULL;
    cutis_model *biped = NULL;
    cutis_device *device = NULL;
    cutis_binding *skin = NULL;
    cutis_sampler *walk = NULL;
    uint32_t clip = 0;

    cutis_context_create(NULL, &context);
    cutis_result result =
        cutis_synth_create(context, &(cutis_synth_options){ .vertex_count = 3000 }, &biped);
    if (!result) result = cutis_device_create(context, NULL, &device); // all cores, best SIMD
    if (!result)
        result =
            cutis_bind(device, biped,
                       &(cutis_bind_options){ .method = CUTIS_METHOD_DQS, .normals = true }, &skin);
    if (!result) result = cutis_model_find_clip(biped, "walk", &clip);
    if (!result) result = cutis_sampler_create(biped, clip, &walk);
    if (result) return fprintf(stderr, "%s\n", cutis_context_error(context)), 1;

    uint32_t vertex_count = cutis_model_vertex_count(biped);
    cutis_transform *pose = malloc(cutis_model_get(biped)->node_count * sizeof *pose);
    float *positions = malloc(vertex_count * 12), *normals = malloc(vertex_count * 12);
    cutis_bounds box;

    cutis_sampler_sample(walk, 0.25f, pose,
                         NULL); // every frame: sample, deform; nothing is allocated
    result = cutis_deform(
        skin, &(cutis_poses){ .local = pose }, 1,
        &(cutis_outputs){ .positions.data = positions, .normals.data = normals, .bounds = &box });
    printf("%s: %u vertices, from %.2f m to %.2f m above the ground\n", cutis_result_text(result),
           vertex_count, box.min.y, box.max.y);

    free(normals), free(positions), free(pose);
    cutis_sampler_destroy(walk);
    cutis_binding_destroy(skin);
    cutis_device_destroy(device);
    cutis_model_destroy(biped);
    cutis_context_destroy(context);
    return result != CUTIS_OK;
}
