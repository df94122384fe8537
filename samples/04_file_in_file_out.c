// Read a glTF file, limit it to four influences, write it again; then bake its first clip to a
// NumPy file. usage: 04_file_in_file_out IN.glb OUT.glb OUT.npy
#include <cutis/cutis.h>
#include <cutis/io.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argument_count, char **arguments)
{
    if (argument_count != 4)
        return fprintf(stderr, "usage: %s IN.glb OUT.glb OUT.npy\n", arguments[0]), 2;
    enum { FRAMES = 24 };
    cutis_context *context = NULL;
    cutis_model *model = NULL, *limited = NULL;
    cutis_device *device = NULL;
    cutis_binding *skin = NULL;
    cutis_sampler *clip = NULL;
    cutis_frame_writer *writer = NULL;
    cutis_context_create(NULL, &context);

    const cutis_read_options options = { .keep_source = true }; // textures go out again, too
    cutis_result result = cutis_model_read(context, arguments[1], &options, &model);
    if (!result) result = cutis_weights_limit(model, 4, &limited);
    if (!result) result = cutis_model_write(limited, arguments[2], NULL);
    if (!result) result = cutis_device_create(context, NULL, &device);
    if (!result) result = cutis_bind(device, limited, NULL, &skin);
    if (!result) result = cutis_sampler_create(limited, 0, &clip);
    if (result) return fprintf(stderr, "%s\n", cutis_context_error(context)), 1;

    uint32_t vertex_count = cutis_model_vertex_count(limited);
    cutis_transform *pose = malloc(cutis_model_get(limited)->node_count * sizeof *pose);
    float *positions = malloc(vertex_count * 12ul);
    result = cutis_frame_writer_create(context, arguments[3], FRAMES, vertex_count, 24, &writer);
    for (int i = 0; i < FRAMES && !result; i++) {
        cutis_sampler_sample(clip, (float)i / 24, pose, NULL);
        result = cutis_deform(skin, &(cutis_poses){ .local = pose }, 1,
                              &(cutis_outputs){ .positions.data = positions });
        if (!result) result = cutis_frame_writer_add(writer, positions);
    }
    if (!result) { // appears under its name only now, whole
        result = cutis_frame_writer_finish(writer);
        writer = NULL;
    }
    if (result) fprintf(stderr, "%s\n", cutis_context_error(context));

    cutis_frame_writer_destroy(writer);
    free(positions), free(pose);
    cutis_sampler_destroy(clip);
    cutis_binding_destroy(skin);
    cutis_device_destroy(device);
    cutis_model_destroy(limited);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    return result != CUTIS_OK;
}
