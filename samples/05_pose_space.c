// Eight sculpted poses in, a skin that passes through all of them out: fit, bind, play.
#include <cutis/cutis.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    cutis_context *context = NULL;
    cutis_model *arm = NULL, *fitted = NULL;
    cutis_device *device = NULL;
    cutis_binding *skin = NULL;
    cutis_sampler *clip = NULL;
    cutis_pose_fit_report *report = NULL;
    uint32_t index = 0;

    cutis_context_create(NULL, &context);
    cutis_result result = cutis_synth_create(
        context, &(cutis_synth_options){ .body = CUTIS_BODY_ARM, .examples = true }, &arm);
    if (!result) result = cutis_device_create(context, NULL, &device);
    if (!result) result = cutis_model_find_clip(arm, "examples", &index);
    if (!result) result = cutis_sampler_create(arm, index, &clip); // a pose a second
    if (result) return fprintf(stderr, "%s\n", cutis_context_error(context)), 1;

    // What an artist hands over: poses, and what the skin looks like in each.
    const uint32_t count = CUTIS_ARM_EXAMPLE_COUNT, nodes = cutis_model_get(arm)->node_count;
    const size_t vertices = cutis_model_vertex_count(arm);
    cutis_transform *poses = malloc(count * nodes * sizeof *poses);
    float *shapes = malloc(count * vertices * 12), *positions = malloc(vertices * 12);
    for (uint32_t k = 0; k < count; k++)
        cutis_sampler_sample(clip, (float)k, poses + k * nodes, NULL);
    cutis_synth_arm_examples(arm, shapes);

    result = cutis_poses_fit(arm, device, &(cutis_pose_examples){ count, poses, shapes, NULL },
                             &(cutis_pose_fit_options){ .learn_weights = true }, &fitted, &report);
    if (!result)
        result =
            cutis_bind(device, fitted, &(cutis_bind_options){ .method = CUTIS_METHOD_WPSD }, &skin);
    if (!result) // in play: any pose, any number of instances; here the elbow's example
        result = cutis_deform(skin, &(cutis_poses){ .local = poses + 2 * nodes }, 1,
                              &(cutis_outputs){ .positions.data = positions });
    if (result) return fprintf(stderr, "%s\n", cutis_context_error(context)), 1;
    float most = 0;
    for (size_t i = 0; i < 3 * vertices; i++) {
        float off = positions[i] - shapes[2 * 3 * vertices + i];
        most = off > most ? off : -off > most ? -off : most;
    }
    printf("%u poses: skinning alone misses the shapes by %.1f mm RMS, pose space by %.4f mm at "
           "most\n",
           report->pose_count, 1e3 * report->after_rms, 1e3 * most);

    free(positions), free(shapes), free(poses);
    cutis_pose_fit_report_destroy(report);
    cutis_sampler_destroy(clip);
    cutis_binding_destroy(skin);
    cutis_device_destroy(device);
    cutis_model_destroy(fitted);
    cutis_model_destroy(arm);
    cutis_context_destroy(context);
    return 0;
}
