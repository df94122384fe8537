/// What drivers cost a frame: linear blending of one baked file with its drivers and without, one
/// thread, a character at a time, alternated; medians. The pose is another every frame.
/// bench_drivers BAKED.glb [rounds]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/cutis.h>
#include <cutis/io.h>

#include "base/os/os.h"

enum { POSES = 64, CALLS = 256 };

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Nanoseconds a call, over some calls.
static double run(const cutis_binding *binding, const cutis_transform *poses, size_t nodes,
                  float *positions)
{
    const cutis_outputs outputs = { .positions.data = positions };
    const double begun = cutis_os_seconds();
    for (uint32_t i = 0; i < CALLS; i++) {
        const cutis_poses pose = { .kind = CUTIS_POSE_LOCAL, .local = poses + i % POSES * nodes };
        if (cutis_deform(binding, &pose, 1, &outputs) != CUTIS_OK) exit(1);
    }
    return 1e9 * (cutis_os_seconds() - begun) / CALLS;
}

int main(int argc, char **argv)
{
    const uint32_t rounds = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 41;
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    cutis_device *device = NULL;
    cutis_binding *binding[2] = { NULL, NULL };
    const cutis_drive drive[2] = { CUTIS_DRIVE_RESTING, CUTIS_DRIVE_NONE };
    if (argc < 2 || cutis_context_create(NULL, &context) != CUTIS_OK ||
        cutis_model_read(context, argv[1], NULL, &model) != CUTIS_OK ||
        cutis_device_create(context, &(cutis_device_options){ .thread_count = 1 }, &device) !=
            CUTIS_OK)
        return fprintf(stderr, "bench_drivers BAKED.glb [rounds]\n"), 1;
    const size_t nodes = cutis_model_get(model)->node_count;
    const uint32_t vertices = cutis_model_vertex_count(model);
    cutis_transform *poses = malloc(POSES * nodes * sizeof *poses);
    float *positions = malloc(3 * (size_t)vertices * sizeof *positions);
    double *times[2] = { malloc(rounds * sizeof(double)), malloc(rounds * sizeof(double)) };
    cutis_sampler *sampler = NULL;
    if (!poses || !positions || !times[0] || !times[1] ||
        cutis_sampler_create(model, 0, &sampler) != CUTIS_OK)
        return 1;
    const cutis_drivers *all = cutis_model_get(model)->drivers;
    for (uint32_t i = 0; i < POSES; i++) {
        cutis_sampler_sample(sampler, (float)i / POSES, poses + i * nodes, NULL);
        for (uint32_t d = 0; all && d < all->driver_count; d++) // joints alone are posed
            poses[i * nodes + all->drivers[d].node] =
                cutis_model_get(model)->nodes[all->drivers[d].node].rest;
    }
    for (int k = 0; k < 2; k++)
        if (cutis_bind(device, model, &(cutis_bind_options){ .drive = drive[k] }, &binding[k]) !=
            CUTIS_OK)
            return 1;
    for (uint32_t r = 0; r < rounds; r++)
        for (int k = 0; k < 2; k++) times[k][r] = run(binding[k], poses, nodes, positions);
    for (int k = 0; k < 2; k++) qsort(times[k], rounds, sizeof(double), compare);
    printf("%u vertices, %u drivers: %.0f ns a frame driven, %.0f ns without, ratio %.3f (least "
           "%.3f)\n",
           vertices, all ? all->driver_count : 0, times[0][rounds / 2], times[1][rounds / 2],
           times[0][rounds / 2] / times[1][rounds / 2], times[0][0] / times[1][0]);
    for (int k = 0; k < 2; k++) cutis_binding_destroy(binding[k]), free(times[k]);
    cutis_sampler_destroy(sampler);
    cutis_device_destroy(device);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    free(poses), free(positions);
    return 0;
}
