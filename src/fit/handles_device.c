// The GPU's side of handle weights. Launches follow the host's order of work, sums have the host's
// stretches, and a field stops when it has converged, as on the host: the same bits. One wait every
// few sweeps and one an iteration, for whether to go on.
#include "fit/handles_device.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "fit/handles_distance.h"
#include "fit/handles_gpu.h"

bool cutis_handles_on_device(const cutis_handles_solution *solution,
                             const cutis_handles_shape *shape)
{
    const cutis_device *device = solution->device;
    const uint64_t sites = solution->sites.site_count, n = solution->grid.voxel_count;
    if (!device || !device->operations->compute_run) return false;
    return solution->options->influences <= CUTIS_HANDLES_SLOTS && 6 * n < INT32_MAX &&
           4 * n * sites < INT32_MAX && solution->grid.dense_count < INT32_MAX &&
           (uint64_t)shape->vertex_count * sites < INT32_MAX;
}

cutis_handles_gpu *cutis_handles_gpu_create(cutis_device *device)
{
    cutis_handles_gpu *gpu = cutis_alloc_zero(device->context, 1, sizeof *gpu);
    if (gpu) gpu->device = device;
    return gpu;
}

void cutis_handles_gpu_destroy(cutis_handles_gpu *gpu)
{
    if (!gpu) return;
    for (int b = 0; b < BUFFERS; b++) cutis_buffer_destroy(gpu->buffers[b]);
    cutis_handles_gpu_forget(gpu);
    cutis_free(gpu->device->context, gpu, sizeof *gpu);
}

// Buffers and launches
// -------------------------------------------------------------------------------

cutis_result cutis_handles_gpu_grid(cutis_handles_gpu *gpu, const cutis_handles_grid *grid)
{
    if (gpu->grid == grid->index) return CUTIS_OK;
    cutis_handles_gpu_forget(gpu);
    cutis_result result = upload(gpu, GRID_INDEX, grid->index, grid->dense_count, 4);
    if (result == CUTIS_OK) result = upload(gpu, GRID_PLACE, grid->place, grid->voxel_count, 4);
    if (result == CUTIS_OK)
        result = upload(gpu, GRID_NEIGHBOUR, grid->neighbour, 6ull * grid->voxel_count, 4);
    if (result == CUTIS_OK) result = room(gpu, FLAG, 1, sizeof(int32_t));
    if (result == CUTIS_OK) gpu->grid = grid->index;
    return result;
}

// Distances
// -----------------------------------------------------------------------------------------

// Voxels that sites pass through start whatever they see; the kernel does the ones around them.
static void passed_voxels(const cutis_handles_solution *solution, float *distance, uint32_t *label)
{
    const cutis_handles_grid *grid = &solution->grid;
    for (uint32_t v = 0; v < grid->voxel_count; v++)
        distance[v] = FLT_MAX, label[v] = CUTIS_HANDLES_NONE;
    for (uint32_t s = 0; s < solution->sites.site_count; s++) {
        const cutis_handles_site *site = &solution->sites.sites[s];
        for (uint32_t g = 0; g < site->segment_count; g++) {
            uint32_t count = cutis_handles_sample_count(grid, &site->segments[g]);
            for (uint32_t i = 0; i < count; i++) {
                double p[3], centre[3];
                cutis_handles_sample(&site->segments[g], count, i, p);
                uint32_t v = cutis_handles_voxel_of(grid, p);
                if (v == CUTIS_HANDLES_NONE) continue;
                cutis_handles_voxel_centre(grid, v, centre);
                float d = (float)cutis_handles_site_distance(site, centre, NULL);
                if (d < distance[v] || (d == distance[v] && s < label[v]))
                    distance[v] = d, label[v] = s;
            }
        }
    }
}

static cutis_result upload_sites(cutis_handles_gpu *gpu, const cutis_handles_solution *solution,
                                 uint32_t virtual_count, const uint32_t *voxel,
                                 cutis_arena *scratch)
{
    const cutis_handles_sites *sites = &solution->sites;
    const uint32_t n = solution->grid.voxel_count;
    size_t count = virtual_count, at = 0;
    for (uint32_t s = 0; s < sites->site_count; s++) count += sites->sites[s].segment_count;
    double *segments = cutis_arena_alloc(scratch, count, 6 * sizeof *segments);
    uint32_t *labels = cutis_arena_alloc(scratch, count, sizeof *labels);
    int32_t *bars = cutis_arena_alloc(scratch, sites->site_count, sizeof *bars);
    float *distance = cutis_arena_alloc(scratch, n, sizeof *distance);
    uint32_t *label = cutis_arena_alloc(scratch, n, sizeof *label);
    if (!segments || !labels || !bars || !distance || !label)
        return cutis_alloc_result(scratch->context);
    for (uint32_t s = 0; s < sites->site_count; s++) {
        bars[s] = sites->sites[s].bar;
        for (size_t g = 0; g < sites->sites[s].segment_count; g++, at++) {
            memcpy(segments + 6 * at, sites->sites[s].segments[g].a, 3 * sizeof *segments);
            memcpy(segments + 6 * at + 3, sites->sites[s].segments[g].b, 3 * sizeof *segments);
            labels[at] = s;
        }
    }
    for (uint32_t h = 0; h < virtual_count; h++, at++) {
        cutis_handles_voxel_centre(&solution->grid, voxel[h], segments + 6 * at);
        memcpy(segments + 6 * at + 3, segments + 6 * at, 3 * sizeof *segments);
        labels[at] = sites->site_count + h;
    }
    passed_voxels(solution, distance, label);
    const uint32_t first[2] = { 0, (uint32_t)count };
    cutis_result result = upload(gpu, SEGMENTS, segments, 6 * count, 8);
    if (result == CUTIS_OK) result = upload(gpu, SEGMENT_LABELS, labels, count, 4);
    if (result == CUTIS_OK) result = upload(gpu, SEGMENT_FIRST, first, 2, 4);
    if (result == CUTIS_OK) result = upload(gpu, BARS, bars, sites->site_count, 4);
    if (result == CUTIS_OK) result = upload(gpu, START, distance, n, 4);
    if (result == CUTIS_OK) result = upload(gpu, START_LABEL, label, n, 4);
    if (result == CUTIS_OK) result = upload(gpu, FROM, distance, n, 4);
    if (result == CUTIS_OK) result = upload(gpu, FROM_LABEL, label, n, 4);
    if (result == CUTIS_OK) result = room(gpu, TO, n, 4);
    if (result == CUTIS_OK) result = room(gpu, TO_LABEL, n, 4);
    return result;
}

// Distances and labels end in FROM and FROM_LABEL.
cutis_result cutis_handles_gpu_march(cutis_handles_gpu *gpu, const cutis_handles_solution *solution,
                                     uint32_t virtual_count, const uint32_t *voxel,
                                     cutis_arena *scratch)
{
    const cutis_handles_grid *grid = &solution->grid;
    const uint32_t n = grid->voxel_count;
    bool changed = true;
    cutis_result result = upload_sites(gpu, solution, virtual_count, voxel, scratch);
    const cutis_compute_argument all = CUTIS_BUFFER_ARGUMENT(NULL);
    LAUNCH(start, (n + 31) / 32 * 32, all, BUFFER(GRID_INDEX), BUFFER(GRID_PLACE), BUFFER(SEGMENTS),
           BUFFER(SEGMENT_LABELS), BUFFER(SEGMENT_FIRST), BUFFER(START), BUFFER(START_LABEL),
           INTEGER(n), INTEGER(grid->size[0]), INTEGER(grid->size[1]), INTEGER(grid->size[2]),
           NUMBER(grid->origin[0]), NUMBER(grid->origin[1]), NUMBER(grid->origin[2]),
           NUMBER(grid->step), NUMBER(CUTIS_HANDLES_EXACT_STEPS * grid->step));
    while (result == CUTIS_OK && changed) {
        result = clear_flag(gpu);
        for (int i = 0; i < CUTIS_HANDLES_SWEEPS_A_LOOK && result == CUTIS_OK; i++) {
            LAUNCH(sweep, n, BUFFER(GRID_NEIGHBOUR), BUFFER(START), BUFFER(START_LABEL),
                   BUFFER(FROM), BUFFER(FROM_LABEL), BUFFER(TO), BUFFER(TO_LABEL), BUFFER(FLAG),
                   NUMBER(grid->step));
            swap(gpu, FROM, TO);
            swap(gpu, FROM_LABEL, TO_LABEL);
        }
        if (result == CUTIS_OK) result = look_at_flag(gpu, &changed);
        if (result == CUTIS_OK) result = cutis_progress(scratch->context, "distances", 0.5);
    }
    return result;
}

// Fields
// --------------------------------------------------------------------------------------------

static cutis_result make_fields(cutis_handles_gpu *gpu, const cutis_handles_system *system)
{
    const uint32_t last = system->level_count - 1, n = system->grid->voxel_count;
    const uint64_t lanes = gpu->lanes, fine = system->levels[0].count;
    const uint64_t nodes = (uint64_t)gpu->level_at[last] + system->levels[last].count;
    cutis_result result = room(gpu, CONDUCTANCE, 6ull * n, 8);
    if (result == CUTIS_OK) result = room(gpu, LEVEL_NEIGHBOUR, 6 * nodes, 4);
    if (result == CUTIS_OK) result = room(gpu, LEVEL_CONDUCTANCE, 6 * nodes, 8);
    if (result == CUTIS_OK) result = room(gpu, DIAGONAL, nodes, 8);
    if (result == CUTIS_OK) result = room(gpu, INVERSE, nodes, 8);
    if (result == CUTIS_OK) result = room(gpu, COARSE_B, (nodes - fine) * lanes, 8);
    if (result == CUTIS_OK) result = room(gpu, COARSE_X, (nodes - fine) * lanes, 8);
    for (int vector = X; vector <= Z && result == CUTIS_OK; vector++)
        result = room(gpu, vector, fine * lanes, 8);
    if (result == CUTIS_OK) result = room(gpu, PARTIAL, (fine / CUTIS_HANDLES_SUM + 1) * lanes, 8);
    if (result == CUTIS_OK) result = room(gpu, VALUES, (uint64_t)n * lanes, 4);
    return result;
}

static cutis_result fill_levels(cutis_handles_gpu *gpu, const cutis_handles_system *system)
{
    const cutis_handles_grid *grid = system->grid;
    cutis_result result = CUTIS_OK;
    LAUNCH(conduct, grid->voxel_count, BUFFER(GRID_NEIGHBOUR), BUFFER(FROM), BUFFER(FROM_LABEL),
           BUFFER(BARS), BUFFER(CONDUCTANCE), NUMBER(grid->step));
    LAUNCH(finest, system->levels[0].count, BUFFER(VOXEL), BUFFER(NODE), BUFFER(GRID_NEIGHBOUR),
           BUFFER(CONDUCTANCE), BUFFER(LEVEL_NEIGHBOUR), BUFFER(LEVEL_CONDUCTANCE),
           BUFFER(DIAGONAL), BUFFER(INVERSE));
    for (uint32_t l = 1; l < system->level_count; l++)
        LAUNCH(coarse, system->levels[l].count, BUFFER(PARENT), BUFFER(CHILD_FIRST), BUFFER(CHILD),
               BUFFER(LEVEL_NEIGHBOUR), BUFFER(LEVEL_CONDUCTANCE), BUFFER(DIAGONAL),
               BUFFER(INVERSE), INTEGER(gpu->level_at[l - 1]), INTEGER(gpu->level_at[l]),
               INTEGER(gpu->list_at[l]));
    return result;
}

// A half sweep over nodes [first, end) of a level. `offset`: where its b and x begin.
static cutis_result smooth(cutis_handles_gpu *gpu, int b, int x, uint32_t at, uint32_t offset,
                           uint32_t first, uint32_t end)
{
    cutis_result result = CUTIS_OK;
    LAUNCH(smooth, (end - first) * gpu->lanes, BUFFER(LEVEL_NEIGHBOUR), BUFFER(LEVEL_CONDUCTANCE),
           BUFFER(INVERSE), BUFFER(b), BUFFER(x), INTEGER(at), INTEGER(offset), INTEGER(gpu->lanes),
           INTEGER(first));
    return result;
}

// z = M^-1 r, one cycle from zero (or on, on level 1); the order of handles_multigrid.c.
static cutis_result cycle(cutis_handles_gpu *gpu, const cutis_handles_system *system,
                          uint32_t visits, uint32_t depth, bool zero)
{
    const cutis_handles_level *level = &system->levels[depth];
    const uint32_t red = level->red_count, all = level->count, fine = system->levels[0].count;
    const uint32_t at = gpu->level_at[depth], offset = depth ? at - fine : 0, lanes = gpu->lanes;
    const int b = depth ? COARSE_B : R, x = depth ? COARSE_X : Z;
    cutis_result result = CUTIS_OK;
    if (depth + 1 == system->level_count) {
        LAUNCH(coarsest, lanes, BUFFER(LEVEL_NEIGHBOUR), BUFFER(LEVEL_CONDUCTANCE), BUFFER(INVERSE),
               BUFFER(b), BUFFER(x), INTEGER(at), INTEGER(offset), INTEGER(red), INTEGER(all),
               INTEGER(CUTIS_HANDLES_SWEEPS), INTEGER(lanes));
        return result;
    }
    const uint32_t coarse = gpu->level_at[depth + 1] - fine;
    if (!zero) result = smooth(gpu, b, x, at, offset, 0, red);
    if (zero)
        LAUNCH(divide, red * lanes, BUFFER(INVERSE), BUFFER(b), BUFFER(x), INTEGER(at),
               INTEGER(offset), INTEGER(lanes), INTEGER(0));
    if (result == CUTIS_OK) result = smooth(gpu, b, x, at, offset, red, all);
    LAUNCH(restrict, system->levels[depth + 1].count * lanes, BUFFER(LEVEL_NEIGHBOUR),
           BUFFER(LEVEL_CONDUCTANCE), BUFFER(DIAGONAL), BUFFER(CHILD_FIRST), BUFFER(CHILD),
           BUFFER(b), BUFFER(x), BUFFER(COARSE_B), INTEGER(at), INTEGER(offset), INTEGER(red),
           INTEGER(gpu->list_at[depth + 1]), INTEGER(coarse), INTEGER(lanes));
    for (uint32_t visit = 0; visit < (depth == 0 ? visits : 1) && result == CUTIS_OK; visit++)
        result = cycle(gpu, system, visits, depth + 1, visit == 0);
    LAUNCH(prolong, red * lanes, BUFFER(PARENT), BUFFER(COARSE_X), BUFFER(x), INTEGER(at),
           INTEGER(offset), INTEGER(coarse), INTEGER(lanes));
    if (result == CUTIS_OK) result = smooth(gpu, b, x, at, offset, red, all);
    if (result == CUTIS_OK) result = smooth(gpu, b, x, at, offset, 0, red);
    return result;
}

static cutis_result iterate(cutis_handles_gpu *gpu, const cutis_handles_system *system,
                            uint32_t visits, double tolerance, bool *going)
{
    const uint32_t lanes = gpu->lanes, count = system->levels[0].count;
    const uint32_t sums = (count + CUTIS_HANDLES_SUM - 1) / CUTIS_HANDLES_SUM;
    cutis_result result = cycle(gpu, system, visits, 0, true);
    LAUNCH(dot, sums * lanes, BUFFER(R), BUFFER(Z), BUFFER(PARTIAL), INTEGER(count),
           INTEGER(lanes));
    LAUNCH(turning, lanes, BUFFER(PARTIAL), BUFFER(SCALARS), INTEGER(sums), INTEGER(lanes));
    LAUNCH(turn, count * lanes, BUFFER(SCALARS), BUFFER(Z), BUFFER(P), INTEGER(lanes));
    LAUNCH(apply, count * lanes, BUFFER(LEVEL_NEIGHBOUR), BUFFER(LEVEL_CONDUCTANCE),
           BUFFER(DIAGONAL), BUFFER(P), BUFFER(Q), INTEGER(lanes));
    LAUNCH(dot, sums * lanes, BUFFER(Q), BUFFER(P), BUFFER(PARTIAL), INTEGER(count),
           INTEGER(lanes));
    LAUNCH(stepping, lanes, BUFFER(PARTIAL), BUFFER(SCALARS), INTEGER(sums), INTEGER(lanes));
    LAUNCH(advance, count * lanes, BUFFER(SCALARS), BUFFER(P), BUFFER(Q), BUFFER(X), BUFFER(R),
           INTEGER(lanes));
    LAUNCH(worst, sums * lanes, BUFFER(R), BUFFER(INVERSE), BUFFER(PARTIAL), INTEGER(count),
           INTEGER(lanes));
    if (result == CUTIS_OK) result = clear_flag(gpu);
    LAUNCH(done, lanes, BUFFER(PARTIAL), BUFFER(SCALARS), BUFFER(FLAG), INTEGER(sums),
           INTEGER(lanes), NUMBER(tolerance));
    if (result == CUTIS_OK) result = look_at_flag(gpu, going);
    return result;
}

// A node without a neighbour reads itself with conductance 0: what it reads must be finite from the
// start, and new memory of a device may hold anything.
static cutis_result clear(cutis_handles_gpu *gpu, int which, uint64_t doubles)
{
    return fill_words_run(gpu->device, (uint32_t)(2 * doubles),
                          (fill_words_buffers){ .words = gpu->buffers[which] },
                          (fill_words_arguments){ .value = 0 });
}

// From here on another preconditioner: no direction so far is of use to it.
static cutis_result forget_rho(cutis_handles_gpu *gpu)
{
    const double nothing = 0;
    cutis_result result = CUTIS_OK;
    for (uint64_t lane = 0; lane < gpu->lanes && result == CUTIS_OK; lane++)
        result = cutis_buffer_write(gpu->buffers[SCALARS], 4 * lane * sizeof nothing, &nothing,
                                    sizeof nothing);
    return result;
}

static cutis_result solve_fields(cutis_handles_gpu *gpu, cutis_handles_solution *solution,
                                 const cutis_handles_system *system, cutis_arena *scratch)
{
    const uint32_t lanes = gpu->lanes, count = system->levels[0].count;
    uint32_t visits = system->visits;
    double *scalars = cutis_arena_alloc(scratch, lanes, 4 * sizeof *scalars);
    if (!scalars) return cutis_alloc_result(scratch->context);
    memset(scalars, 0, 4 * lanes * sizeof *scalars);
    cutis_result result = upload(gpu, SCALARS, scalars, 4ull * lanes, 8);
    const uint32_t last = system->level_count - 1;
    const uint64_t coarse = gpu->level_at[last] + system->levels[last].count - count;
    if (result == CUTIS_OK) result = clear(gpu, Z, (uint64_t)count * lanes);
    if (result == CUTIS_OK) result = clear(gpu, COARSE_X, coarse * lanes);
    LAUNCH(begin, count * lanes, BUFFER(VOXEL), BUFFER(FROM_LABEL), BUFFER(OWNER),
           BUFFER(GRID_NEIGHBOUR), BUFFER(CONDUCTANCE), BUFFER(LEVEL_NEIGHBOUR),
           BUFFER(LEVEL_CONDUCTANCE), BUFFER(DIAGONAL), BUFFER(X), BUFFER(R), BUFFER(P),
           INTEGER(lanes));
    bool going = count > 0;
    for (uint32_t i = 1; result == CUTIS_OK && going && i <= CUTIS_HANDLES_CYCLES; i++) {
        if (i > CUTIS_HANDLES_PATIENCE && visits > 1) {
            visits = 1;
            result = forget_rho(gpu);
        }
        if (result == CUTIS_OK)
            result = iterate(gpu, system, visits, solution->options->tolerance, &going);
        solution->field.iteration_count = i;
        if (result == CUTIS_OK) result = cutis_progress(scratch->context, "weights", 0.5);
    }
    LAUNCH(values, system->grid->voxel_count, BUFFER(NODE), BUFFER(OWNER), BUFFER(X),
           BUFFER(VALUES), INTEGER(lanes));
    return result;
}

cutis_result cutis_handles_gpu_field(cutis_handles_gpu *gpu, cutis_handles_solution *solution,
                                     const uint32_t *owner, double *seconds_distances)
{
    cutis_context *context = gpu->device->context;
    cutis_arena scratch = { .context = context };
    cutis_handles_system system;
    const uint32_t n = solution->grid.voxel_count, lanes = solution->sites.site_count;
    double start = cutis_os_seconds();
    gpu->lanes = lanes;
    gpu->field = false;
    solution->field = (cutis_handles_field){ .site_count = lanes };
    solution->field.values = cutis_arena_alloc(solution->arena, (size_t)n * lanes, sizeof(float));
    cutis_result result = solution->field.values ? cutis_handles_gpu_grid(gpu, &solution->grid)
                                                 : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = cutis_handles_gpu_march(gpu, solution, 0, NULL, &scratch);
    *seconds_distances += cutis_os_seconds() - start;
    if (result == CUTIS_OK) result = upload(gpu, OWNER, owner, n, 4);
    if (result == CUTIS_OK) result = cutis_handles_gpu_levels(gpu, &solution->grid, &system);
    if (result == CUTIS_OK) result = make_fields(gpu, &system);
    if (result == CUTIS_OK) result = fill_levels(gpu, &system);
    if (result == CUTIS_OK) result = solve_fields(gpu, solution, &system, &scratch);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[VALUES], 0, solution->field.values,
                                   (uint64_t)n * lanes * sizeof(float));
    if (result == CUTIS_OK) {
        solution->field.level_count = system.level_count;
        gpu->field = true;
    }
    cutis_arena_release(&scratch);
    return result;
}

// Vertices
// --------------------------------------------------------------------------------------------

cutis_result cutis_handles_gpu_sample(cutis_handles_gpu *gpu, cutis_handles_solution *solution,
                                      const cutis_handles_shape *shape, double *dropped)
{
    const cutis_handles_grid *grid = &solution->grid;
    const cutis_handles_influences *out = &solution->influences;
    const uint32_t vertices = shape->vertex_count, sites = solution->sites.site_count;
    const uint64_t slots = (uint64_t)vertices * out->width;
    cutis_result result = cutis_handles_gpu_grid(gpu, grid);
    if (result == CUTIS_OK && gpu->positions != shape->positions)
        result = upload(gpu, POSITIONS, shape->positions, 3ull * vertices, 4);
    if (result == CUTIS_OK) gpu->positions = shape->positions;
    if (result == CUTIS_OK && !gpu->field)
        result =
            upload(gpu, VALUES, solution->field.values, (uint64_t)grid->voxel_count * sites, 4);
    gpu->field = false;
    if (result == CUTIS_OK)
        result = upload(gpu, JOINT_SITE, solution->joint_site, solution->joint_count, 4);
    if (result == CUTIS_OK) result = upload(gpu, SHARERS, solution->sharers, sites, 4);
    if (result == CUTIS_OK) result = room(gpu, SUMS, (uint64_t)vertices * sites, 8);
    if (result == CUTIS_OK) result = room(gpu, JOINTS, slots, 4);
    if (result == CUTIS_OK) result = room(gpu, WEIGHTS, slots, 4);
    if (result == CUTIS_OK) result = room(gpu, DROPPED, vertices, 8);
    LAUNCH(sample, vertices, BUFFER(GRID_INDEX), BUFFER(VALUES), BUFFER(POSITIONS),
           BUFFER(JOINT_SITE), BUFFER(SHARERS), BUFFER(SUMS), BUFFER(JOINTS), BUFFER(WEIGHTS),
           BUFFER(DROPPED), INTEGER(vertices), INTEGER(sites), INTEGER(solution->joint_count),
           INTEGER(out->width), INTEGER(grid->size[0]), INTEGER(grid->size[1]),
           NUMBER(grid->origin[0]), NUMBER(grid->origin[1]), NUMBER(grid->origin[2]),
           NUMBER(grid->step));
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[JOINTS], 0, out->joints, 4 * slots);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[WEIGHTS], 0, out->weights, 4 * slots);
    if (result == CUTIS_OK)
        result = cutis_buffer_read(gpu->buffers[DROPPED], 0, dropped, 8ull * vertices);
    return result;
}
