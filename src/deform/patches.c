/// Blending patches as a deformer: a body is read, cut into parts, packed and uploaded once; frames
/// are in patches_frame.c.
#include "deform/patches_binding.h"

#include <string.h>

#include "base/error.h"
#include "kernel/patches.h"

// Instances that may be worked on together.
#define CAPACITY_MAX (1u << 20)

enum { REMOVALS = 2, FILLS = 6 };
static const char *const REMOVAL_NAMES[REMOVALS] = { "cut", "box" };
static const char *const FILL_NAMES[FILLS] = { "default",      "keep",    "mean",
                                               "intersection", "reduced", "between" };

// Which of the names it is; `count`: none.
static int find_name(const char *const *names, int count, const char *name)
{
    int i = 0;
    while (i < count && strcmp(name, names[i]) != 0) i++;
    return i;
}

const char *cutis_patch_removal_name(cutis_patch_removal removal)
{
    return (uint32_t)removal < REMOVALS ? REMOVAL_NAMES[removal] : "unknown";
}

cutis_result cutis_patch_removal_from_name(const char *name, cutis_patch_removal *out)
{
    if (!name || !out) return CUTIS_INVALID_ARGUMENT;
    const int found = find_name(REMOVAL_NAMES, REMOVALS, name);
    if (found < REMOVALS) *out = (cutis_patch_removal)found;
    return found < REMOVALS ? CUTIS_OK : CUTIS_NOT_FOUND;
}

const char *cutis_patch_fill_name(cutis_patch_fill fill)
{
    return (uint32_t)fill < FILLS ? FILL_NAMES[fill] : "unknown";
}

cutis_result cutis_patch_fill_from_name(const char *name, cutis_patch_fill *out)
{
    if (!name || !out) return CUTIS_INVALID_ARGUMENT;
    const int found = find_name(FILL_NAMES, FILLS, name);
    if (found < FILLS) *out = (cutis_patch_fill)found;
    return found < FILLS ? CUTIS_OK : CUTIS_NOT_FOUND;
}

// What the binding keeps on the host: names, joints, inverse binds, the volume.
static cutis_result keep_facts(patches_binding *binding, const patch_body *body,
                               const patch_pieces *parts, const patch_pack *pack)
{
    const cutis_skin *skin = body->skin;
    cutis_arena *arena = &binding->base.arena;
    const patch_work packed = patch_work_of(pack->body, NULL, &pack->arguments, 0);
    binding->node_count = cutis_model_get(body->model)->node_count;
    binding->joints = cutis_arena_alloc(arena, body->loop_count, sizeof *binding->joints);
    binding->part_nodes = cutis_arena_alloc(arena, body->part_count, sizeof(uint32_t));
    binding->inverse_binds = cutis_arena_alloc(arena, body->part_count, sizeof(cutis_mat34));
    binding->part_names = cutis_arena_alloc(arena, body->part_count, sizeof(char *));
    binding->rank_first =
        cutis_arena_alloc(arena, pack->rank_count + (size_t)1, sizeof *binding->rank_first);
    if (!binding->rank_first) return cutis_alloc_result(body->context);
    memcpy(binding->rank_first, pack->rank_first,
           (pack->rank_count + (size_t)1) * sizeof *binding->rank_first);
    if (!binding->joints || !binding->part_nodes || !binding->inverse_binds || !binding->part_names)
        return cutis_alloc_result(body->context);
    for (uint32_t p = 0; p < body->part_count; p++) {
        const char *name = body->mesh->part_names ? body->mesh->part_names[p] : NULL;
        binding->part_nodes[p] = skin->joints[body->joints[p]];
        binding->inverse_binds[p] = skin->inverse_binds
                                        ? skin->inverse_binds[body->joints[p]]
                                        : (cutis_mat34){ { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
        binding->part_names[p] = cutis_arena_string(arena, name ? name : "");
        if (!binding->part_names[p]) return cutis_alloc_result(body->context);
        binding->info.volume += parts->shapes[p].volume;
    }
    for (uint32_t j = 0; j < body->loop_count; j++) {
        const patch_loop *loop = &body->loops[j];
        cutis_patches_joint *joint = &binding->joints[j];
        *joint = (cutis_patches_joint){ .parent = loop->parent,
                                        .child = loop->child,
                                        .node = binding->part_nodes[loop->child],
                                        .loop_length = loop->count,
                                        .seam = loop->seam,
                                        .parent_volume = parts->shapes[loop->parent].volume,
                                        .child_volume = parts->shapes[loop->child].volume };
        memcpy(joint->centre, body->centres + 3 * (size_t)j, sizeof joint->centre);
        memcpy(joint->limb, &body_joint_limb(packed)[j], sizeof joint->limb);
    }
    return CUTIS_OK;
}

static void fill_info(patches_binding *binding, const patch_body *body, const patch_pieces *parts,
                      const patch_pack *pack)
{
    cutis_patches_info *info = &binding->info;
    const uint64_t *n = pack->counts;
    info->part_count = body->part_count;
    info->joint_count = body->loop_count;
    info->vertex_count = body->vertex_count;
    info->triangle_count = body->face_count;
    info->vertex_capacity = (uint32_t)(parts->vertex_count + n[PATCH_SLOTS] + n[PATCH_POINTS]);
    info->triangle_capacity =
        (uint32_t)(body->face_count + n[PATCH_SLOTS] + 2 * n[PATCH_POINTS] + 2 * n[PATCH_RUNGS]);
    info->diagonal = body->diagonal;
    if (pack->arguments.whole) {
        info->vertex_capacity = (uint32_t)pack->arguments.whole_count;
        info->triangle_capacity = body->face_count;
    }
    binding->rank_count = pack->rank_count;
    binding->vertex_blocks = (uint32_t)n[PATCH_VERTEX_BLOCKS];
    binding->face_blocks = (uint32_t)n[PATCH_FACE_BLOCKS];
    binding->rest_blocks = (uint32_t)((n[PATCH_RESTS] + PATCH_BLOCK - 1) / PATCH_BLOCK);
    binding->arguments = pack->arguments;
}

static cutis_result check_model(cutis_context *context, const cutis_model *model,
                                const cutis_bind_options *options)
{
    (void)model; // what is wrong with it shows while it is read
    if ((uint32_t)options->patch_removal > CUTIS_PATCH_BOX ||
        (uint32_t)options->patch_fill > CUTIS_PATCH_FILL_BETWEEN ||
        (uint32_t)options->patch_band > CUTIS_PATCH_BAND_NONE)
        return INVALID(context, "bind: no such removal or fill");
    if (options->instance_capacity > CAPACITY_MAX)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "bind: patches of %u instances at once",
                          options->instance_capacity);
    if (options->max_influences) return UNSUPPORTED(context, "bind: patches have no influences");
    return CUTIS_OK;
}

// Everything but the device: the body as the kernels read it, and what the host keeps.
static cutis_result bind_body(patches_binding *binding, cutis_arena *scratch, patch_pack *pack)
{
    const cutis_bind_options *options = &binding->base.options;
    const bool box = options->patch_removal == CUTIS_PATCH_BOX;
    cutis_patch_fill fill = options->patch_fill;
    patch_body body;
    patch_pieces parts;
    if (fill == CUTIS_PATCH_FILL_DEFAULT)
        fill = box ? CUTIS_PATCH_FILL_REDUCED : CUTIS_PATCH_FILL_KEEP;
    TRY(cutis_patch_body_read(binding->base.model, scratch, &body));
    TRY(cutis_patch_parts_make(&body, &parts));
    TRY(cutis_patch_shapes_make(&body, &parts));
    // The paper's ways are left as they are: rigid to the border.
    const bool band =
        options->patch_band == CUTIS_PATCH_BAND_GIRTH && !box && fill == CUTIS_PATCH_FILL_KEEP;
    TRY(cutis_patch_pack_make(&body, &parts, box, (int)fill - CUTIS_PATCH_FILL_KEEP, band, pack));
    fill_info(binding, &body, &parts, pack);
    return keep_facts(binding, &body, &parts, pack);
}

// Instances of a batch. A CPU's threads take a few through all ranks before the next ones, so that
// what they work on stays in the cache.
static uint32_t capacity_of(const cutis_binding *base)
{
    const uint32_t asked = base->options.instance_capacity ? base->options.instance_capacity : 1;
    const uint32_t threads = base->device->task_threads > 0 ? base->device->task_threads : 1;
    const uint32_t few = threads > 1 ? 2 * threads : 1;
    return base->device->operations->compute_run || asked < few ? asked : few;
}

static cutis_result bind(cutis_binding *base)
{
    patches_binding *binding = (patches_binding *)base;
    cutis_arena scratch = { .context = base->context };
    patch_pack pack;
    base->capacity = capacity_of(base);
    cutis_result result = bind_body(binding, &scratch, &pack);
    if (result == CUTIS_OK) {
        const uint64_t size = PATCH_UNIT * (uint64_t)pack.body_units;
        result = cutis_buffer_create(base->device, size, &binding->body);
        if (result == CUTIS_OK) result = cutis_buffer_write(binding->body, 0, pack.body, size);
        base->memory_bytes += size;
        base->vertex_count = binding->info.vertex_capacity;
        base->triangle_count = binding->info.triangle_capacity;
    }
    cutis_arena_release(&scratch);
    return result;
}

static void destroy(cutis_binding *base)
{
    patches_binding *binding = (patches_binding *)base;
    cutis_buffer_destroy(binding->body);
}

static void describe(const cutis_binding *binding, cutis_binding_info *info)
{
    info->bone_count = patches_of(binding)->info.part_count;
}

static cutis_result make_buffer(cutis_binding *binding, uint64_t size, cutis_buffer **out)
{
    binding->memory_bytes += size;
    return cutis_buffer_create(binding->device, size > 0 ? size : 4, out);
}

static cutis_result workspace_create(cutis_binding *base, cutis_workspace *workspace)
{
    patches_binding *binding = (patches_binding *)base;
    patches_workspace *w = (patches_workspace *)workspace;
    const uint64_t n = base->capacity, parts = binding->info.part_count;
    TRY(make_buffer(base, n * PATCH_UNIT * binding->arguments.work_stride, &w->work));
    TRY(make_buffer(base, n * parts * sizeof(cutis_mat34), &w->palette));
    TRY(make_buffer(base, n * 2 * sizeof(uint32_t), &w->counts));
    w->worlds = cutis_binding_alloc(base, binding->node_count, sizeof *w->worlds);
    w->matrices = cutis_binding_alloc(base, (size_t)(n * parts), sizeof *w->matrices);
    w->host_counts = cutis_binding_alloc(base, (size_t)n, 2 * sizeof *w->host_counts);
    w->host_joints = cutis_binding_alloc(base, binding->info.joint_count, sizeof *w->host_joints);
    w->host_tries = cutis_binding_alloc(base, (size_t)parts, sizeof *w->host_tries);
    return w->worlds && w->matrices && w->host_counts && w->host_joints && w->host_tries
               ? CUTIS_OK
               : cutis_alloc_result(base->context);
}

static void workspace_destroy(cutis_binding *binding, cutis_workspace *workspace)
{
    patches_workspace *w = (patches_workspace *)workspace;
    cutis_buffer *all[] = { w->work, w->palette, w->counts, w->indices };
    for (size_t b = 0; b < sizeof all / sizeof *all; b++) cutis_buffer_destroy(all[b]);
    cutis_stage_bounds_destroy(binding->device, &w->bounds);
}

const cutis_deformer cutis_patches_deformer = {
    .binding_size = sizeof(patches_binding),
    .workspace_size = sizeof(patches_workspace),
    .check = check_model,
    .bind = bind,
    .destroy = destroy,
    .describe = describe,
    .workspace_create = workspace_create,
    .workspace_destroy = workspace_destroy,
    .check_call = cutis_patches_check_call,
    .run = cutis_patches_run,
    .prepare = cutis_patches_prepare,
    .palette = cutis_patches_palette,
};

// What a binding says of itself -------------------------------------------------------------------

static bool has_patches(const cutis_binding *binding)
{
    return binding && binding->deformer == &cutis_patches_deformer;
}

cutis_patches_info cutis_patches_describe(const cutis_binding *binding)
{
    return has_patches(binding) ? patches_of(binding)->info : (cutis_patches_info){ 0 };
}

cutis_patches_joint cutis_patches_joint_at(const cutis_binding *binding, uint32_t joint)
{
    if (!has_patches(binding) || joint >= patches_of(binding)->info.joint_count)
        return (cutis_patches_joint){ 0 };
    return patches_of(binding)->joints[joint];
}

const char *cutis_patches_part_name(const cutis_binding *binding, uint32_t part)
{
    if (!has_patches(binding) || part >= patches_of(binding)->info.part_count) return "";
    return patches_of(binding)->part_names[part];
}
