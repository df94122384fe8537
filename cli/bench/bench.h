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
    uint32_t queued; ///< frames before each wait for the device
} bench_skin;

/// Normals are bound when options say so.
cutis_result bench_skin_open(cutis_device *device, const cutis_model *model,
                             const cutis_bind_options *options, uint32_t instance_count,
                             bench_skin *out);
/// The frames between two waits for the device (`queued`); a bench_function.
cutis_result bench_skin_run(void *skin);
/// Seconds per frame of all instances.
cutis_result bench_skin_time(bench_skin *skin, double budget, double *seconds);
void bench_skin_close(bench_skin *skin);
/// The three for one instance.
cutis_result bench_frame_time(cutis_device *device, const cutis_model *model,
                              const cutis_bind_options *options, double budget, double *seconds);

/// Bind, deform `count` instances and let the binding go.
cutis_result bench_deform(cutis_device *device, const cutis_model *model,
                          const cutis_bind_options *options, const cutis_poses *poses,
                          uint32_t count, const cutis_outputs *outputs);
/// The pose of a clip at a moment.
cutis_result bench_sample(const cutis_model *model, uint32_t clip, float seconds,
                          cutis_transform *pose);

/// Seconds of plain C doing linear blending of the same model, pose, influences and normals on one
/// core.
cutis_result bench_plain_time(const cutis_model *model, const cutis_mat34 *palette,
                              bool unit_normals, double budget, double *seconds);

// Figures and goals (bench/figures.c) -----------------------------------------------------------

#define BENCH_FIGURES 64

typedef struct bench_figure {
    char name[64];
    double value, goal;
    bool at_least;
} bench_figure;

/// What a bench promises. One that does not fit, or that was not measured (NaN), is left out.
typedef struct bench_figures {
    bench_figure items[BENCH_FIGURES];
    uint32_t count;
} bench_figures;

/// @param size ends the name; 0: it does not
void bench_figure_add(bench_figures *list, const char *name, uint32_t size, double value,
                      bool at_least, double goal);
/// A line each: reached or missed, the value, the goal.
void bench_figures_say(const cli_app *app, const bench_figures *list);
/// The array `figures` of the object that is open.
void bench_figures_emit(json_out *json, const bench_figures *list);

// Models to measure speed on (bench/body.c) -----------------------------------------------------

#define BENCH_BONES 64

/// A strip of `vertex_count` vertices with four influences each, in `set_count` bone sets of equal
/// size (16: no two sets share a bone); two clips, "a" and "b", that turn all 64 joints.
cutis_result bench_body_create(cutis_context *context, uint32_t vertex_count, uint32_t set_count,
                               cutis_model **out);

/// A pose that turns every node a little (at most 40 degrees), the same every time.
/// @param transforms node_count of the model
void bench_pose(const cutis_model *model, cutis_transform *transforms);

// How fast a GPU can fill memory, the floor of any kernel that writes its vertices (bench/fill.c)

/// Seconds to fill `buffer` (`size` bytes) with the API's own call: cuMemsetD32Async or
/// clEnqueueFillBuffer.
/// @return CUTIS_UNSUPPORTED on a CPU, or if the driver has no such call
cutis_result bench_fill_time(cutis_device *device, cutis_buffer *buffer, uint64_t size,
                             double budget, double *seconds);

// The machine's own limits, measured in the run they are compared with (bench/machine.c)

/// Float multiply-adds a second of `thread_count` threads at once; a vector instruction counts as
/// its lanes.
/// @param isa the widest set to use; machines without fused multiply-add count a multiply and an
/// add as one
/// @return 0 if a thread cannot be started
double bench_machine_fma_rate(cutis_isa isa, uint32_t thread_count, double budget_seconds);

/// Bytes a second of a[i] = b[i] + s c[i] over arrays that no cache holds, writes past the cache
/// where the machine has such stores; two reads and one write count.
/// @return 0 if there is no memory for the arrays or a thread cannot be started
double bench_machine_bandwidth(cutis_isa isa, uint32_t thread_count, double budget_seconds);

// A crowd on one level (bench/crowd.c) ----------------------------------------------------------

typedef struct crowd_bench bench_walkers;
/// Bipeds that walk, linear blending with normals.
cutis_result bench_walkers_open(cutis_context *context, cutis_device *device, uint32_t count,
                                uint32_t vertices, bench_walkers **out);
/// Some frames; a bench_function.
cutis_result bench_walkers_run(void *walkers);
void bench_walkers_close(bench_walkers **walkers);

int bench_poses(cli_app *app);
int bench_pose_space(cli_app *app);
int bench_frames(cli_app *app);
int bench_crowd(cli_app *app);
int bench_reduce(cli_app *app);
/// Rows of moments (bench/reduce_moments.c); has: whether the options leave any.
bool bench_moments_has(cli_app *app);
cutis_result bench_moments(cli_app *app, cutis_device *device, json_out *json);
int bench_patches(cli_app *app);
int bench_cage(cli_app *app);
int bench_skeleton(cli_app *app);
int bench_handles(cli_app *app);
int bench_files(cli_app *app);
int bench_growth(cli_app *app);

#endif
