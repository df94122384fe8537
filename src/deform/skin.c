/// Block skins as a deformer: bind runs the stages (bones, influences, sets, blocks, planes,
/// centres) and hands the layout to the device; a frame is prepared on the host's threads and run
/// there.
#include "deform/skin.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "deform/finite.h"
#include "geometry/vector.h"

// Instances prepared together: enough to fill a device, few enough for its caches.
#define CAPACITY_CPU_BYTES (1u << 20)
#define CAPACITY_GPU_BYTES (16u << 20)
#define CAPACITY_CPU       256u
#define CAPACITY_GPU       1024u
// Beyond this many rest diagonals a rotation centre is noise (docs/spec/blending.md 4.3).
static const double CENTRE_LIMIT = 1e3;

static cutis_skin_binding *skin_of(cutis_binding *binding)
{
    return (cutis_skin_binding *)binding;
}

// Binding -----------------------------------------------------------------------------------------

void *cutis_layout_alloc(cutis_skin_binding *binding, size_t count, size_t item)
{
    void *memory = cutis_arena_zero(&binding->layout_memory, count, item);
    if (!memory) return NULL;
    binding->layout_bytes += count * item;
    binding->base.memory_bytes += count * item;
    return memory;
}

// What a device has copied is not kept a second time.
static void release_layout(cutis_skin_binding *binding)
{
    char *arrays = (char *)&binding->layout.list_first;
    cutis_arena_release(&binding->layout_memory);
    binding->base.memory_bytes -= binding->layout_bytes;
    memset(arrays, 0, sizeof binding->layout - offsetof(cutis_skin_layout, list_first));
}

static cutis_result check_model(cutis_context *context, const cutis_model *model,
                                const cutis_bind_options *options)
{
    for (uint32_t v = 0; options->blend && v < cutis_model_vertex_count(model); v++)
        if (!(options->blend[v] >= 0.0f && options->blend[v] <= 1.0f))
            return INVALID(context, "bind: blend of vertex %u is not between 0 and 1", (unsigned)v);
    return cutis_bind_handles_check(context, model, options);
}

static cutis_formula formula_of(const cutis_model *model, const cutis_bind_options *options)
{
    const cutis_pose_space *space = cutis_model_get(model)->pose_space;
    switch (options->method) {
    case CUTIS_METHOD_PSD:
    case CUTIS_METHOD_WPSD: // added after skinning: about the undisplaced vertex as its own centre
        return space && space->after ? CUTIS_FORMULA_COR : CUTIS_FORMULA_LBS;
    case CUTIS_METHOD_SBS:
        return options->weighted_centres ? CUTIS_FORMULA_SBS_WEIGHTED : CUTIS_FORMULA_SBS;
    case CUTIS_METHOD_DQS:
        return CUTIS_FORMULA_DQS;
    case CUTIS_METHOD_COR:
        return CUTIS_FORMULA_COR;
    default:
        return CUTIS_FORMULA_LBS;
    }
}

/// The diagonal of the box around the file positions of all primitives with influences.
static double rest_diagonal(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(model, &instances);
    box3 box = box3_empty();
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            if (instances[i].skin == CUTIS_NONE || !primitive->influences.first) continue;
            for (uint32_t v = 0; v < primitive->vertex_count; v++)
                box3_add(&box, v3_at(primitive->positions, v));
        }
    }
    return box3_diagonal(&box);
}

/// Everything but the device: the layout and what frames are prepared with.
static cutis_result bind_stages(cutis_skin_binding *binding, cutis_arena *arena)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    size_t vertices = binding->layout.vertex_count;
    uint32_t *skin_bone = cutis_arena_alloc(arena, data->skin_count, sizeof *skin_bone);
    uint32_t *node_bone = cutis_arena_alloc(arena, data->node_count, sizeof *node_bone);
    uint32_t *vertex_set = cutis_arena_alloc(arena, vertices, sizeof *vertex_set);
    uint32_t *centre = cutis_arena_alloc(arena, vertices, sizeof *centre);
    float *centres = NULL; // the vertices' own, unless the method finds others
    if (binding->layout.formula == CUTIS_FORMULA_COR)
        centres = cutis_arena_alloc(arena, vertices, 3 * sizeof *centres);
    if (!skin_bone || !node_bone || !vertex_set || !centre ||
        (binding->layout.formula == CUTIS_FORMULA_COR && !centres))
        return cutis_alloc_result(binding->base.context);
    cutis_sets table = { .context = binding->base.context };
    cutis_pose_residuals residuals = { 0 };
    cutis_result result = cutis_bind_bones(binding, arena, skin_bone, node_bone);
    binding->layout.bone_count = binding->bone_count;
    if (result == CUTIS_OK) result = cutis_bind_handles(binding, skin_bone);
    if (result == CUTIS_OK) result = cutis_bind_influences(binding, arena, skin_bone, node_bone);
    if (result == CUTIS_OK) result = cutis_bind_sets(binding, &table, vertex_set, centre);
    if (result == CUTIS_OK) result = cutis_bind_pack(binding, &table, vertex_set);
    if (centres) cutis_model_file_positions(binding->base.model, centres);
    if (result == CUTIS_OK && binding->base.options.method == CUTIS_METHOD_COR)
        result = cutis_bind_centres(binding, centres);
    if (result == CUTIS_OK) result = cutis_bind_layout(binding, vertex_set, centre, centres);
    if (result == CUTIS_OK) result = cutis_bind_pose_space(binding, arena, &residuals);
    if (result == CUTIS_OK) result = cutis_bind_morphs(binding, &residuals);
    cutis_sets_release(&table);
    return result;
}

/// How many instances are prepared together, and by how many tasks.
static void choose_capacity(cutis_skin_binding *binding)
{
    const bool gpu = binding->base.device->operations->skin_batch != NULL;
    const uint64_t bytes =
        (uint64_t)binding->bone_count * (12 * sizeof(double) + 26 * sizeof(float)) +
        (uint64_t)binding->layout.set_count * 4 * sizeof(float) + 64;
    uint64_t capacity = (gpu ? CAPACITY_GPU_BYTES : CAPACITY_CPU_BYTES) / bytes;
    const uint32_t most = gpu ? CAPACITY_GPU : CAPACITY_CPU;
    capacity = capacity < 1 ? 1 : capacity > most ? most : capacity;
    if (binding->base.options.instance_capacity) capacity = binding->base.options.instance_capacity;
    const uint32_t threads = binding->base.device->task_threads;
    binding->base.capacity = (uint32_t)capacity;
    binding->lane_count = threads > 1 ? 2 * threads : 1;
}

static cutis_result bind(cutis_binding *base)
{
    cutis_skin_binding *binding = skin_of(base);
    const cutis_bind_options *options = &base->options;
    const cutis_device_operations *operations = base->device->operations;
    cutis_skin_layout *layout = &binding->layout;
    cutis_arena arena = { .context = base->context };
    binding->layout_memory.context = base->context;
    atomic_init(&binding->solve_count, 0);
    layout->formula = formula_of(base->model, options);
    layout->normal_rule = !options->normals      ? CUTIS_NORMAL_NONE
                          : options->raw_normals ? CUTIS_NORMAL_RAW
                                                 : CUTIS_NORMAL_UNIT;
    layout->tangents = options->tangents;
    layout->linear_normals = options->paper.normals;
    layout->block_size = operations->block_size;
    layout->vertex_count = base->vertex_count = cutis_model_vertex_count(base->model);
    binding->diagonal = rest_diagonal(base->model);
    binding->centre_limit = CENTRE_LIMIT * binding->diagonal;
    cutis_result result = bind_stages(binding, &arena);
    cutis_arena_release(&arena);
    choose_capacity(binding);
    if (result == CUTIS_OK) result = operations->skin_create(base->device, layout, &binding->skin);
    if (result != CUTIS_OK) return result;
    binding->list_length = layout->block_count ? layout->list_first[layout->block_count] : 0;
    binding->has_morphs = layout->morph_first != NULL;
    if (operations->staging_create) release_layout(binding);
    const uint32_t most =
        operations->skin_batch ? operations->skin_batch(binding->skin) : UINT32_MAX;
    if (base->capacity > most) base->capacity = most;
    base->keeps_previous = !operations->staging_create;
    return CUTIS_OK;
}

static void destroy(cutis_binding *base)
{
    cutis_skin_binding *binding = skin_of(base);
    if (binding->skin) base->device->operations->skin_destroy(binding->skin);
    cutis_arena_release(&binding->layout_memory);
}

static void describe(const cutis_binding *base, cutis_binding_info *info)
{
    const cutis_skin_binding *binding = cutis_skin_of(base);
    const cutis_skin_layout *layout = &binding->layout;
    info->bone_count = binding->bone_count;
    info->max_influences = binding->max_influences;
    info->bone_set_count = binding->set_count;
    info->large_set_count = binding->large_set_count;
    if (layout->block_count > 0)
        info->bones_per_block = (float)((double)binding->list_length / layout->block_count);
    if (layout->formula == CUTIS_FORMULA_SBS) info->centre_solves = binding->set_count;
}

static cutis_result workspace_create(cutis_binding *binding, cutis_workspace *base)
{
    cutis_skin_workspace *workspace = (cutis_skin_workspace *)base;
    return cutis_frames_workspace(skin_of(binding), workspace) &&
                   cutis_pose_space_workspace(skin_of(binding), workspace)
               ? CUTIS_OK
               : cutis_alloc_result(binding->context);
}

// Frames ------------------------------------------------------------------------------------------

static cutis_result check_call(const cutis_binding *base, cutis_deform_call *call)
{
    const cutis_skin_binding *binding = cutis_skin_of(base);
    const cutis_poses *poses = call->poses;
    const size_t count = call->instance_count, bones = binding->bone_count;
    if (!poses) return CUTIS_OK;
    // One look tells whether palettes are rigid, and finite too, and nearly all frames are; only
    // linear blending asks.
    call->rigid = poses->kind == CUTIS_POSE_PALETTE && poses->matrices && bones > 0 &&
                  binding->layout.formula == CUTIS_FORMULA_LBS &&
                  cutis_device_bone_work(base->device)->rigid(poses->matrices->m, bones * count);
    call->finite = call->rigid;
    TRY(cutis_poses_check(base, call, binding->node_count, bones));
    if (poses->morph_weights && !floats_finite(poses->morph_weights, binding->target_count * count))
        return INVALID(base->context, "deform: a morph weight is not finite");
    return CUTIS_OK;
}

static cutis_skin_targets targets_of(const cutis_deform_call *call, const cutis_stage_batch *batch)
{
    cutis_bounds *bounds = call->outputs->bounds;
    return (cutis_skin_targets){ .positions = batch->targets[CUTIS_OUTPUT_POSITIONS],
                                 .normals = batch->targets[CUTIS_OUTPUT_NORMALS],
                                 .tangents = batch->targets[CUTIS_OUTPUT_TANGENTS],
                                 .previous = batch->targets[CUTIS_OUTPUT_PREVIOUS],
                                 .bounds = bounds ? bounds + batch->first : NULL,
                                 .call_count = call->written_count };
}

// Nothing to write, and a launch of no groups is an error.
static cutis_result run_empty(const cutis_skin_targets *targets, uint32_t count)
{
    for (uint32_t i = 0; targets->bounds && i < count; i++)
        targets->bounds[i] =
            (cutis_bounds){ { INFINITY, INFINITY, INFINITY }, { -INFINITY, -INFINITY, -INFINITY } };
    return CUTIS_OK;
}

static cutis_result run(const cutis_binding *base, cutis_workspace *workspace,
                        const cutis_deform_call *call, cutis_stage_batch *batch)
{
    const cutis_skin_binding *binding = cutis_skin_of(base);
    cutis_skin_workspace *w = (cutis_skin_workspace *)workspace;
    const cutis_skin_targets targets = targets_of(call, batch);
    if (!cutis_frames_prepare(binding, w, call->poses, call->roots, batch->first, batch->count,
                              call->rigid))
        return INVALID(base->context, "deform: a bone matrix is too large for float");
    if (base->vertex_count == 0) return run_empty(&targets, batch->count);
    const cutis_skin_frames frames = { .instance_count = batch->count,
                                       .matrices = w->run_matrices,
                                       .rotations = w->rotations,
                                       .duals = w->duals,
                                       .stretches = w->stretches,
                                       .centres = w->centres,
                                       .scales = w->scales,
                                       .nonuniform = w->nonuniform,
                                       .targets = binding->has_morphs ? w->targets : NULL,
                                       .pose_squares = w->pose_squares };
    return base->device->operations->skin_run(binding->skin, &frames, &targets);
}

static cutis_result prepare(const cutis_binding *base, cutis_workspace *workspace,
                            const cutis_deform_call *call, cutis_stage_batch *batch)
{
    const cutis_device_operations *operations = base->device->operations;
    const cutis_skin_targets targets = targets_of(call, batch);
    (void)workspace;
    if (!operations->skin_prepare || base->vertex_count == 0) return CUTIS_OK;
    return operations->skin_prepare(cutis_skin_of(base)->skin, batch->count,
                                    base->options.concurrent_calls, &targets);
}

static void palette(const cutis_binding *base, cutis_workspace *workspace,
                    const cutis_transform *local, cutis_mat34 *out)
{
    const cutis_skin_binding *binding = cutis_skin_of(base);
    cutis_skin_workspace *w = (cutis_skin_workspace *)workspace;
    cutis_palette_local(binding, local, NULL, w->worlds, w->palettes);
    if (binding->handle_skin_count) cutis_handles_palette(binding, w->palettes, w->handle_scratch);
    for (size_t b = 0; b < binding->bone_count; b++)
        for (int i = 0; i < 12; i++) out[b].m[i] = (float)w->palettes[12 * b + i];
}

const cutis_deformer cutis_skin_deformer = {
    .binding_size = sizeof(cutis_skin_binding),
    .workspace_size = sizeof(cutis_skin_workspace),
    .check = check_model,
    .bind = bind,
    .destroy = destroy,
    .describe = describe,
    .workspace_create = workspace_create,
    .check_call = check_call,
    .run = run,
    .prepare = prepare,
    .palette = palette,
};
