/// Playing a model with blending patches.
#include "patches.h"

#include <stdlib.h>

static bool allocate(patch_play *p)
{
    const size_t vertices = p->info.vertex_capacity, triangles = p->info.triangle_capacity;
    memory_list *m = &p->memory;
    p->transforms = memory_take(m, cutis_model_get(p->model)->node_count, sizeof *p->transforms);
    p->positions = memory_take(m, vertices, 3 * sizeof *p->positions);
    p->normals = memory_take(m, vertices, 3 * sizeof *p->normals);
    p->indices = memory_take(m, triangles, 3 * sizeof *p->indices);
    p->labels = memory_take(m, triangles, sizeof *p->labels);
    p->origins = memory_take(m, triangles, sizeof *p->origins);
    p->source_vertices = memory_take(m, vertices, 4 * sizeof *p->source_vertices);
    p->source_weights = memory_take(m, vertices, 4 * sizeof *p->source_weights);
    p->reports = memory_take(m, p->info.joint_count, sizeof *p->reports);
    return !m->failed;
}

cutis_bind_options patch_options(const cli_app *app)
{
    const char *removal = option_text(app, OPTION_REMOVE), *fill = option_text(app, OPTION_FILL);
    cutis_bind_options options = { .method = CUTIS_METHOD_PATCHES, .normals = true };
    if (removal) cutis_patch_removal_from_name(removal, &options.patch_removal);
    if (fill) cutis_patch_fill_from_name(fill, &options.patch_fill);
    if (option_given(app, OPTION_BAND))
        options.patch_band = (cutis_patch_band)option_choice(app, OPTION_BAND);
    return options;
}

bool patch_has_bands(const cli_app *app)
{
    const cutis_bind_options options = patch_options(app);
    const bool keep = options.patch_fill == CUTIS_PATCH_FILL_DEFAULT ||
                      options.patch_fill == CUTIS_PATCH_FILL_KEEP;
    return options.patch_band == CUTIS_PATCH_BAND_GIRTH &&
           options.patch_removal == CUTIS_PATCH_CUT && keep;
}

int patch_check_options(cli_app *app)
{
    const bool girth = option_given(app, OPTION_BAND) && option_choice(app, OPTION_BAND) == 0;
    if (girth && !patch_has_bands(app))
        return app_usage(app, "--band girth goes with --remove cut and --fill keep alone");
    return EXIT_GOOD;
}

int patch_play_open(cli_app *app, const char *path, const cutis_model *model, cutis_device *device,
                    const play_options *options, patch_play *out)
{
    const char *place = path;
    *out = (patch_play){ .model = model };
    cutis_result result = cutis_bind(device, model, &options->bind, &out->patches);
    if (result == CUTIS_OK && options->clip != CUTIS_NONE)
        result = cutis_sampler_create(model, (uint32_t)options->clip, &out->sampler);
    if (result == CUTIS_OK) {
        out->info = cutis_patches_describe(out->patches);
        if (!allocate(out)) {
            patch_play_close(out);
            return app_fail_text(app, "%s: not enough memory", path);
        }
        cutis_pose_rest(model, out->transforms, NULL);
        if (options->pose_file) {
            place = options->pose_file;
            result = cutis_pose_read(model, place, out->transforms);
        }
    }
    if (result == CUTIS_OK) return EXIT_GOOD;
    patch_play_close(out);
    return app_fail(app, place, result);
}

cutis_result patch_play_frame(patch_play *p, double seconds)
{
    cutis_poses poses = { .kind = CUTIS_POSE_LOCAL, .local = p->transforms };
    cutis_outputs output = { .positions.data = p->positions,
                             .normals.data = p->normals,
                             .topology.indices.data = p->indices,
                             .topology.labels.data = p->labels,
                             .topology.origins.data = p->origins,
                             .topology.source_vertices.data = p->source_vertices,
                             .topology.source_weights.data = p->source_weights,
                             .topology.counts.data = p->counts,
                             .topology.reports = p->reports };
    if (p->sampler) cutis_sampler_sample(p->sampler, (float)seconds, p->transforms, NULL);
    double start = app_seconds();
    cutis_result result = cutis_deform(p->patches, &poses, 1, &output);
    p->seconds += app_seconds() - start;
    return result;
}

cutis_surface patch_play_surface(const patch_play *p)
{
    return (cutis_surface){ .vertex_count = p->counts[0],
                            .positions = p->positions,
                            .triangle_count = p->counts[1],
                            .indices = p->indices };
}

void patch_play_close(patch_play *p)
{
    cutis_binding_destroy(p->patches);
    cutis_sampler_destroy(p->sampler);
    memory_release(&p->memory);
    *p = (patch_play){ 0 };
}
