/// cutis_bind: checks the request, runs the stages (bones, influences, sets, blocks, planes,
/// centres), hands the layout to the device and makes the workspaces. Invariant: a half-built
/// binding can always be destroyed.
#include "base/error.h"
#include "base/memory.h"
#include "deform/binding.h"
#include "deform/cage.h"
#include "deform/handles.h"
#include "deform/pose_space.h"

#include <math.h>
#include <string.h>

// Instances prepared together: enough to fill a device, few enough for its caches.
#define CAPACITY_CPU_BYTES (1u << 20)
#define CAPACITY_GPU_BYTES (16u << 20)
#define CAPACITY_CPU       256u
#define CAPACITY_GPU       1024u
// Beyond this many rest diagonals a rotation centre is noise (blending spec 4.3).
static const double CENTRE_LIMIT = 1e3;

void *cutis_binding_alloc(cutis_binding *binding, size_t count, size_t item)
{
    if (!cutis_grow(binding->context, &binding->memory, &binding->memory_capacity,
                    binding->memory_count + 1, sizeof *binding->memory))
        return NULL;
    void *memory = cutis_alloc_zero(binding->context, count, item);
    if (!memory) return NULL;
    binding->memory[binding->memory_count++] = (cutis_bound_memory){ memory, count * item };
    binding->memory_bytes += count * item;
    return memory;
}

void cutis_binding_destroy(cutis_binding *binding)
{
    if (!binding) return;
    if (binding->skin) binding->device->operations->skin_destroy(binding->skin);
    cutis_cage_close(binding);
    for (size_t i = binding->memory_count; i-- > 0;)
        cutis_free(binding->context, binding->memory[i].memory, binding->memory[i].size);
    if (binding->memory)
        cutis_free_array(binding->context, binding->memory, binding->memory_capacity,
                         sizeof *binding->memory);
    cutis_free(binding->context, binding, sizeof *binding);
}

static cutis_result check_options(cutis_context *context, const cutis_model *model,
                                  const cutis_bind_options *options)
{
    cutis_method method = options->method;
    const char *name = cutis_method_name(method);
    bool turning =
        method == CUTIS_METHOD_SBS || method == CUTIS_METHOD_DQS || method == CUTIS_METHOD_COR;
    if ((unsigned)method > CUTIS_METHOD_CAGE)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "bind: there is no method %d",
                          (int)method);
    if (method != CUTIS_METHOD_SBS &&
        (options->weighted_centres || options->paper_centres || options->paper_normals))
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "bind: weighted and paper centres belong to sbs, not to %s", name);
    if (options->weighted_centres && options->paper_centres)
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "bind: centres are either weighted or the paper's");
    if (options->blend && !turning)
        return cutis_fail(context, CUTIS_UNSUPPORTED,
                          "bind: %s is linear; blend needs sbs, dqs or cor", name);
    for (uint32_t v = 0; options->blend && v < cutis_model_vertex_count(model); v++)
        if (!(options->blend[v] >= 0.0f && options->blend[v] <= 1.0f))
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                              "bind: blend of vertex %u is not between 0 and 1", (unsigned)v);
    cutis_result result = cutis_cage_check(context, model, options);
    return result == CUTIS_OK ? cutis_bind_handles_check(context, model, options) : result;
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
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            if (instances[i].skin == CUTIS_NONE || !primitive->influences.first) continue;
            for (size_t k = 0; k < 3 * (size_t)primitive->vertex_count; k++) {
                double x = primitive->positions[k];
                low[k % 3] = x < low[k % 3] ? x : low[k % 3];
                high[k % 3] = x > high[k % 3] ? x : high[k % 3];
            }
        }
    }
    double square = 0.0;
    for (int c = 0; c < 3 && low[c] <= high[c]; c++)
        square += (high[c] - low[c]) * (high[c] - low[c]);
    return sqrt(square);
}

/// Every vertex is its own centre.
static cutis_result own_centres(const cutis_binding *binding, double *centres)
{
    float *rest = cutis_alloc_array(binding->context, binding->layout.vertex_count + (size_t)1,
                                    3 * sizeof *rest);
    if (!rest) return cutis_alloc_result(binding->context);
    cutis_model_file_positions(binding->model, rest);
    for (size_t i = 0; i < 3 * (size_t)binding->layout.vertex_count; i++) centres[i] = rest[i];
    cutis_free_array(binding->context, rest, binding->layout.vertex_count + (size_t)1,
                     3 * sizeof *rest);
    return CUTIS_OK;
}

/// Everything but the device: the layout and what frames are prepared with.
static cutis_result bind_stages(cutis_binding *binding, cutis_arena *arena)
{
    const cutis_model_data *data = cutis_model_get(binding->model);
    size_t vertices = binding->layout.vertex_count;
    uint32_t *skin_bone = cutis_arena_alloc(arena, data->skin_count, sizeof *skin_bone);
    uint32_t *node_bone = cutis_arena_alloc(arena, data->node_count, sizeof *node_bone);
    uint32_t *vertex_set = cutis_arena_alloc(arena, vertices, sizeof *vertex_set);
    uint32_t *centre = cutis_arena_alloc(arena, vertices, sizeof *centre);
    double *centres = NULL;
    if (binding->layout.formula == CUTIS_FORMULA_COR)
        centres = cutis_arena_alloc(arena, vertices, 3 * sizeof *centres);
    if (!skin_bone || !node_bone || !vertex_set || !centre ||
        (binding->layout.formula == CUTIS_FORMULA_COR && !centres))
        return cutis_alloc_result(binding->context);
    cutis_set_table table = { .context = binding->context };
    cutis_pose_residuals residuals = { 0 };
    cutis_result result = cutis_bind_bones(binding, skin_bone, node_bone);
    binding->layout.bone_count = binding->bone_count;
    if (result == CUTIS_OK) result = cutis_bind_handles(binding, skin_bone);
    if (result == CUTIS_OK) result = cutis_bind_influences(binding, skin_bone, node_bone);
    if (result == CUTIS_OK) result = cutis_bind_sets(binding, &table, vertex_set, centre);
    if (result == CUTIS_OK) result = cutis_bind_pack(binding, &table, vertex_set);
    if (result == CUTIS_OK && centres)
        result = binding->options.method == CUTIS_METHOD_COR ? cutis_bind_centres(binding, centres)
                                                             : own_centres(binding, centres);
    if (result == CUTIS_OK) result = cutis_bind_layout(binding, vertex_set, centre, centres);
    if (result == CUTIS_OK) result = cutis_bind_pose_space(binding, arena, &residuals);
    if (result == CUTIS_OK) result = cutis_bind_morphs(binding, &residuals);
    cutis_set_table_release(&table);
    return result;
}

/// Sizes and makes the workspaces.
static cutis_result make_workspaces(cutis_binding *binding)
{
    cutis_device_info info = cutis_device_describe(binding->device);
    bool cpu = info.kind == CUTIS_DEVICE_CPU;
    uint64_t bytes = (uint64_t)binding->bone_count * (12 * sizeof(double) + 26 * sizeof(float)) +
                     (uint64_t)binding->layout.set_count * 4 * sizeof(float) + 64;
    uint64_t capacity = (cpu ? CAPACITY_CPU_BYTES : CAPACITY_GPU_BYTES) / bytes;
    uint32_t most = cpu ? CAPACITY_CPU : CAPACITY_GPU;
    capacity = capacity < 1 ? 1 : capacity > most ? most : capacity;
    if (binding->options.instance_capacity) capacity = binding->options.instance_capacity;
    binding->capacity = (uint32_t)capacity;
    uint32_t threads = binding->device->task_threads;
    binding->lane_count = threads > 1 ? 2 * threads : 1;
    uint32_t calls = binding->options.concurrent_calls ? binding->options.concurrent_calls : 1;
    binding->workspace_count = calls;
    binding->workspaces = cutis_binding_alloc(binding, calls, sizeof *binding->workspaces);
    if (!binding->workspaces) return cutis_alloc_result(binding->context);
    for (uint32_t i = 0; i < calls; i++)
        if (!cutis_workspace_create(binding, &binding->workspaces[i]) ||
            !cutis_pose_space_workspace(binding, &binding->workspaces[i]))
            return cutis_alloc_result(binding->context);
    return CUTIS_OK;
}

cutis_result cutis_bind(cutis_device *device, const cutis_model *model,
                        const cutis_bind_options *options, cutis_binding **out)
{
    static const cutis_bind_options DEFAULTS;
    if (!device || !model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = device->context;
    if (!options) options = &DEFAULTS;
    cutis_result result = check_options(context, model, options);
    if (result != CUTIS_OK) return result;
    cutis_binding *binding = cutis_alloc_zero(context, 1, sizeof *binding);
    if (!binding) return cutis_alloc_result(context);
    cutis_arena arena = { .context = context };
    binding->context = context, binding->device = device, binding->model = model;
    binding->options = *options;
    binding->memory_bytes = sizeof *binding;
    atomic_init(&binding->solve_count, 0);
    cutis_skin_layout *layout = &binding->layout;
    layout->formula = formula_of(model, options);
    layout->normal_rule = !options->normals      ? CUTIS_NORMAL_NONE
                          : options->raw_normals ? CUTIS_NORMAL_RAW
                                                 : CUTIS_NORMAL_UNIT;
    layout->tangents = options->tangents;
    layout->linear_normals = options->paper_normals;
    layout->block_size = device->operations->block_size;
    layout->vertex_count = cutis_model_vertex_count(model);
    binding->diagonal = rest_diagonal(model);
    binding->centre_limit = CENTRE_LIMIT * binding->diagonal;
    if (options->method == CUTIS_METHOD_CAGE) {
        result = cutis_cage_open(binding);
    } else {
        result = bind_stages(binding, &arena);
        cutis_arena_release(&arena);
        binding->options.blend = NULL; // the caller's, only for this call
        if (result == CUTIS_OK) result = make_workspaces(binding);
        if (result == CUTIS_OK)
            result = device->operations->skin_create(device, layout, &binding->skin);
    }
    if (result != CUTIS_OK) {
        cutis_binding_destroy(binding);
        return result;
    }
    *out = binding;
    return CUTIS_OK;
}

cutis_binding_info cutis_binding_describe(const cutis_binding *binding)
{
    const cutis_skin_layout *layout = &binding->layout;
    cutis_binding_info info = { .vertex_count = layout->vertex_count,
                                .bone_count = binding->bone_count,
                                .max_influences = binding->max_influences,
                                .bone_set_count = binding->set_count,
                                .large_set_count = binding->large_set_count,
                                .memory_bytes = binding->memory_bytes };
    if (layout->block_count > 0)
        info.bones_per_block =
            (float)((double)layout->list_first[layout->block_count] / layout->block_count);
    if (layout->formula == CUTIS_FORMULA_SBS) info.centre_solves = binding->set_count;
    return info;
}
