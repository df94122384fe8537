/// Timing shared by bench and demo: the best of many warm calls, and a bound character that can be
/// run over and over.
#ifndef CUTIS_CLI_BENCH_H
#define CUTIS_CLI_BENCH_H

#include "app.h"

/// @return CUTIS_OK, or what went wrong: the timing stops
typedef cutis_result (*bench_function)(void *data);

/// Seconds of one call: warm, then many, in groups long enough for the clock; the best group
/// counts, because noise only ever adds. Spends about `budget` seconds.
cutis_result bench_best(bench_function function, void *data, double budget, double *seconds);

/// A model bound to a device, posed once, with memory for its outputs (GPU devices: in their own
/// memory).
typedef struct bench_skin {
    cutis_binding *binding;
    cutis_binding_info info;
    cutis_device_info device_info;
    cutis_device *device; ///< borrowed
    uint32_t instance_count;
    cutis_mat34 *palette; ///< instance_count * bone_count
    float *positions, *normals;
    cutis_buffer *buffer;
    cutis_poses poses;
    cutis_outputs outputs;
} bench_skin;

/// Normals are bound when options say so.
cutis_result bench_skin_open(cutis_device *device, const cutis_model *model,
                             const cutis_bind_options *options, uint32_t instance_count,
                             bench_skin *out);
/// Seconds per frame of all instances.
cutis_result bench_skin_time(bench_skin *skin, double budget, double *seconds);
void bench_skin_close(bench_skin *skin);

/// Seconds of plain C doing linear blending of the same model, pose, influences and normals on one
/// core.
cutis_result bench_plain_time(const cutis_model *model, const cutis_mat34 *palette,
                              bool unit_normals, double budget, double *seconds);

int bench_blend(cli_app *app);
int bench_poses(cli_app *app);
int bench_pose_space(cli_app *app);
int bench_frames(cli_app *app);
int bench_reduce(cli_app *app);
int bench_patches(cli_app *app);
int bench_cage(cli_app *app);
int bench_skeleton(cli_app *app);
int bench_handles(cli_app *app);

#endif
