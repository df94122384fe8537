/// Shots of --method patches: the frame's own mesh, in the model's colours. The linear play of such
/// a shot stands for its pose and its bones.
#include "picture.h"

#include <stdlib.h>

int picture_patches_open(picture_stage *stage, picture_shot *shot)
{
    const picture_show *show = &stage->show;
    if (show->joint[0] || show->curvature || show->reference[0])
        return app_usage(stage->app, "--show weights, error and curvature paint the model's own "
                                     "vertices, which patches replace");
    const play_options options = { .clip = stage->clip,
                                   .pose_file = stage->pose_file,
                                   .bind = patch_options(stage->app) };
    return patch_play_open(stage->app, stage->path, stage->model, stage->device, &options,
                           &shot->patch);
}

int picture_patches_pose(picture_stage *stage, picture_shot *shot, double seconds)
{
    patch_play *p = &shot->patch;
    TRY(app_result(stage->app, stage->path, patch_play_frame(p, seconds)));
    const cutis_surface surface = patch_play_surface(p);
    shot->play.bounds[0] = cutis_surface_bounds(&surface);
    return EXIT_GOOD;
}

float *picture_patches_colors(const picture_stage *stage, const picture_shot *shot)
{
    const patch_play *p = &shot->patch;
    float *colors = calloc(p->counts[0] + (size_t)1, 4 * sizeof *colors);
    for (size_t k = 0; colors && k < 4 * (size_t)p->counts[0]; k++)
        for (int c = 0; c < 4; c++)
            colors[4 * (k / 4) + c] +=
                p->source_weights[k] * stage->colors[4 * (size_t)p->source_vertices[k] + c];
    return colors;
}

double picture_shot_volume(const picture_stage *stage, const picture_shot *shot)
{
    cutis_surface now = picture_is_patched(shot)
                            ? patch_play_surface(&shot->patch)
                            : rest_shape_surface(&stage->rest, shot->play.positions);
    return cutis_surface_volume(&now);
}

void picture_shot_close(picture_shot *shot)
{
    play_close(&shot->play);
    patch_play_close(&shot->patch);
}
