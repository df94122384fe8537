/// A model being played with blending patches: a clip or a pose, a binding, and memory for a frame.
#ifndef CUTIS_CLI_PATCHES_H
#define CUTIS_CLI_PATCHES_H

#include <cutis/patches.h>

#include "play.h"

typedef struct patch_play {
    const cutis_model *model; ///< borrowed
    memory_list memory;
    cutis_binding *patches;
    cutis_patches_info info;
    cutis_sampler *sampler;      ///< NULL: the pose in `transforms` stays
    cutis_transform *transforms; ///< node_count
    float *positions, *normals;
    uint32_t *indices, *labels, counts[2];
    uint32_t *origins, *source_vertices; ///< where triangles and vertices come from
    float *source_weights;
    cutis_patches_report *reports;
    double seconds; ///< spent in cutis_deform
} patch_play;

/// The binding that --remove, --fill and --band ask for.
cutis_bind_options patch_options(const cli_app *app);
/// Does it bend in bands? Only what would be cut and kept does.
bool patch_has_bands(const cli_app *app);
/// --band girth beside what it would do nothing for is a wrong use.
int patch_check_options(cli_app *app);
/// Clip, pose file and binding of the options; on failure nothing is left to close.
int patch_play_open(cli_app *app, const char *path, const cutis_model *model, cutis_device *device,
                    const play_options *options, patch_play *out);
/// The mesh at `seconds` into the clip.
cutis_result patch_play_frame(patch_play *play, double seconds);
cutis_surface patch_play_surface(const patch_play *play);
void patch_play_close(patch_play *play);

#endif
