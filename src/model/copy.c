// Deep copy of a caller's data into a model's arena. When it succeeds every pointer of the copy is
// NULL or points into the arena; when it stops half-way the model is only fit to be destroyed,
// which touches nothing but the arena.
#include "model/drivers.h"

// cutis_validate_shape has seen that every count has its array.
// NOLINTBEGIN(clang-analyzer-core.NullDereference)

// Replace a borrowed array by a copy; an empty or missing one becomes NULL. False on lack of
// memory.
#define COPY(arena, field, count)                                                                  \
    ((field) && (count) > 0                                                                        \
         ? ((field) = cutis_arena_copy((arena), (field), (count), sizeof *(field))) != NULL        \
         : ((field) = NULL, true))

static bool copy_name(cutis_arena *arena, const char **name)
{
    if (!*name) return true;
    *name = cutis_arena_string(arena, *name);
    return *name != NULL;
}

static bool copy_names(cutis_arena *arena, const char *const **names, uint32_t count)
{
    if (!*names || count == 0) {
        *names = NULL;
        return true;
    }
    const char **own = cutis_arena_copy(arena, (const void *)*names, count, sizeof **names);
    if (!own) return false;
    *names = own;
    for (uint32_t i = 0; i < count; i++)
        if (!copy_name(arena, &own[i])) return false;
    return true;
}

static bool count_up(cutis_arena *arena, cutis_primitive *primitive)
{
    uint32_t *indices = cutis_arena_alloc(arena, primitive->vertex_count, sizeof *indices);
    if (!indices) return false;
    uint32_t per = cutis_topology_corners(primitive->topology);
    for (uint32_t i = 0; i < primitive->vertex_count; i++) indices[i] = i;
    primitive->indices = indices;
    primitive->index_count = primitive->vertex_count - primitive->vertex_count % per;
    return true;
}

static bool copy_targets(cutis_arena *arena, cutis_primitive *primitive, uint32_t target_count)
{
    if (!COPY(arena, primitive->targets, target_count)) return false;
    size_t count = 3 * (size_t)primitive->vertex_count;
    for (uint32_t t = 0; primitive->targets && t < target_count; t++) {
        cutis_morph_target *target = (cutis_morph_target *)&primitive->targets[t];
        if (!COPY(arena, target->positions, count) || !COPY(arena, target->normals, count) ||
            !COPY(arena, target->tangents, count))
            return false;
    }
    return true;
}

static bool copy_influences(cutis_arena *arena, cutis_influences *influences, uint32_t vertex_count)
{
    if (!influences->first) return true;
    if (!COPY(arena, influences->first, (size_t)vertex_count + 1)) return false;
    uint32_t count = influences->first[vertex_count];
    return COPY(arena, influences->joints, count) && COPY(arena, influences->weights, count);
}

static bool copy_primitive(cutis_arena *arena, cutis_primitive *primitive, uint32_t target_count)
{
    size_t count = primitive->vertex_count;
    uint32_t triangles =
        primitive->indices ? primitive->index_count / 3 : primitive->vertex_count / 3;
    // An empty list of indices stays one: NULL would mean 0, 1, 2, ... when the data is used again.
    if (primitive->indices)
        primitive->indices = cutis_arena_copy(arena, primitive->indices, primitive->index_count,
                                              sizeof *primitive->indices);
    else if (!count_up(arena, primitive))
        return false;
    if (!primitive->indices) return false;
    return COPY(arena, primitive->positions, 3 * count) &&
           COPY(arena, primitive->normals, 3 * count) &&
           COPY(arena, primitive->tangents, 4 * count) &&
           COPY(arena, primitive->texcoords, 2 * count) &&
           COPY(arena, primitive->colors, 4 * count) && COPY(arena, primitive->parts, triangles) &&
           copy_influences(arena, &primitive->influences, primitive->vertex_count) &&
           copy_targets(arena, primitive, target_count);
}

static bool copy_part_tree(cutis_arena *arena, cutis_mesh *mesh)
{
    if (!COPY(arena, mesh->part_tree, 1)) return false;
    cutis_part_tree *tree = (cutis_part_tree *)mesh->part_tree;
    if (!tree) return true;
    if (!COPY(arena, tree->parts, mesh->part_count) ||
        !COPY(arena, tree->loops, tree->loop_count) ||
        !COPY(arena, tree->weld, cutis_mesh_vertex_total(mesh)) ||
        !COPY(arena, tree->links, tree->link_count))
        return false;
    for (uint32_t l = 0; l < tree->loop_count; l++) {
        cutis_part_loop *loop = (cutis_part_loop *)&tree->loops[l];
        if (!COPY(arena, loop->vertices, loop->vertex_count)) return false;
    }
    return true;
}

static bool copy_mesh(cutis_arena *arena, cutis_mesh *mesh)
{
    if (!copy_name(arena, &mesh->name) || !COPY(arena, mesh->primitives, mesh->primitive_count) ||
        !COPY(arena, mesh->target_weights, mesh->target_count) ||
        !copy_names(arena, &mesh->target_names, mesh->target_count) ||
        !copy_names(arena, &mesh->part_names, mesh->part_count) || !copy_part_tree(arena, mesh))
        return false;
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        if (!copy_primitive(arena, (cutis_primitive *)&mesh->primitives[p], mesh->target_count))
            return false;
    return true;
}

static bool copy_node(cutis_arena *arena, const cutis_model_data *data, cutis_node *node)
{
    uint32_t targets = node->mesh == CUTIS_NONE ? 0 : data->meshes[node->mesh].target_count;
    return copy_name(arena, &node->name) && copy_name(arena, &node->extras) &&
           COPY(arena, node->matrix, 1) && COPY(arena, node->target_weights, targets);
}

// Readers hand the same time array to many channels; the copy keeps that, which saves memory and
// lets the sampler search once. Looking back a few channels finds nearly all of it.
static const float *shared_times(const cutis_clip *clip, const cutis_channel *originals,
                                 uint32_t index)
{
    for (uint32_t back = 1; back <= 8 && back <= index; back++)
        if (originals[index - back].times == originals[index].times &&
            originals[index - back].key_count == originals[index].key_count)
            return clip->channels[index - back].times;
    return NULL;
}

static bool copy_clip(cutis_arena *arena, const cutis_model_data *data, cutis_clip *clip)
{
    const cutis_channel *originals = clip->channels;
    if (!copy_name(arena, &clip->name) || !COPY(arena, clip->channels, clip->channel_count))
        return false;
    for (uint32_t i = 0; i < clip->channel_count; i++) {
        cutis_channel *channel = (cutis_channel *)&clip->channels[i];
        size_t width = cutis_channel_width(data, channel), count;
        if (channel->interpolation == CUTIS_INTERPOLATION_CUBIC) width *= 3;
        if (!cutis_size_multiply(channel->key_count, width, &count))
            count = SIZE_MAX; // refused by the arena
        const float *shared = shared_times(clip, originals, i);
        if (shared)
            channel->times = shared;
        else if (!COPY(arena, channel->times, channel->key_count))
            return false;
        if (!COPY(arena, channel->values, count)) return false;
    }
    return true;
}

static bool copy_pose_space(cutis_arena *arena, cutis_model_data *own)
{
    if (!COPY(arena, own->pose_space, 1)) return false;
    cutis_pose_space *space = (cutis_pose_space *)own->pose_space;
    if (!space) return true;
    size_t entries = (size_t)space->pose_count * space->joint_count; // both limited by the gate
    return COPY(arena, space->joints, space->joint_count) &&
           COPY(arena, space->rotations, entries) && COPY(arena, space->translations, entries) &&
           COPY(arena, space->targets, own->mesh_count) &&
           COPY(arena, space->coefficients, (size_t)(space->pose_count - 1) * space->field_count);
}

static bool copy_handles(cutis_arena *arena, cutis_model_data *own)
{
    if (!COPY(arena, own->handles, 1)) return false;
    cutis_handle_rig *rig = (cutis_handle_rig *)own->handles;
    if (!rig) return true;
    const size_t shares = rig->share_first ? rig->share_first[rig->virtual_count] : 0;
    if (!COPY(arena, rig->handles, rig->handle_count) ||
        !COPY(arena, rig->nodes, rig->handle_count) ||
        !COPY(arena, rig->virtual_places, rig->virtual_count) ||
        !COPY(arena, rig->share_first, (size_t)rig->virtual_count + 1) ||
        !COPY(arena, rig->share_handles, shares) || !COPY(arena, rig->shares, shares) ||
        !COPY(arena, rig->first_handles, rig->mesh_count) ||
        !COPY(arena, rig->weights, rig->primitive_count))
        return false;
    for (uint32_t h = 0; h < rig->handle_count; h++) ((cutis_handle *)rig->handles)[h].name = NULL;
    for (uint32_t p = 0; rig->weights && p < rig->primitive_count; p++) {
        cutis_handle_weights *weights = (cutis_handle_weights *)&rig->weights[p];
        if (!copy_influences(arena, &weights->influences, weights->vertex_count)) return false;
    }
    return true;
}

static bool copy_cage(cutis_arena *arena, cutis_model_data *own)
{
    if (!COPY(arena, own->cage, 1)) return false;
    cutis_cage *cage = (cutis_cage *)own->cage;
    if (!cage) return true;
    if (!COPY(arena, cage->controls, cage->control_count) ||
        !COPY(arena, cage->triangles, 3 * (size_t)cage->triangle_count) ||
        !COPY(arena, cage->meshes, cage->mesh_count))
        return false;
    for (uint32_t m = 0; m < cage->mesh_count; m++) {
        cutis_cage_mesh *mesh = (cutis_cage_mesh *)&cage->meshes[m];
        if (!mesh->first) continue;
        size_t count = mesh->first[mesh->vertex_count];
        if (!COPY(arena, mesh->first, (size_t)mesh->vertex_count + 1) ||
            !COPY(arena, mesh->controls, count) || !COPY(arena, mesh->weights, count))
            return false;
    }
    return true;
}

static bool copy_drivers(cutis_arena *arena, cutis_model_data *own)
{
    if (!COPY(arena, own->drivers, 1)) return false;
    cutis_drivers *drivers = (cutis_drivers *)own->drivers;
    if (!drivers) return true;
    if (!COPY(arena, drivers->joints, drivers->joint_count) ||
        !COPY(arena, drivers->ranges, 8 * (size_t)drivers->joint_count) ||
        !COPY(arena, drivers->drivers, drivers->driver_count))
        return false;
    for (uint32_t d = 0; d < drivers->driver_count; d++) {
        cutis_driver *driver = (cutis_driver *)&drivers->drivers[d];
        if (!COPY(arena, driver->coefficients, 6 * cutis_driver_terms(driver->input_count)))
            return false;
    }
    if (!COPY(arena, drivers->weights, drivers->weight_count)) return false;
    for (uint32_t d = 0; d < drivers->weight_count; d++) {
        cutis_weight_driver *driver = (cutis_weight_driver *)&drivers->weights[d];
        if (!COPY(arena, driver->coefficients, cutis_driver_terms(driver->input_count)))
            return false;
    }
    return true;
}

bool cutis_model_copy(cutis_model *model, const cutis_model_data *data)
{
    cutis_arena *arena = &model->arena;
    cutis_model_data *own = &model->data;
    cutis_source *source = own->source;
    *own = *data;
    own->source = source; // the model's own reference
    if (!COPY(arena, own->nodes, own->node_count) || !COPY(arena, own->meshes, own->mesh_count) ||
        !COPY(arena, own->skins, own->skin_count) || !COPY(arena, own->clips, own->clip_count) ||
        !COPY(arena, own->materials, own->material_count))
        return false;
    for (uint32_t i = 0; i < own->node_count; i++)
        if (!copy_node(arena, data, (cutis_node *)&own->nodes[i])) return false;
    for (uint32_t i = 0; i < own->mesh_count; i++)
        if (!copy_mesh(arena, (cutis_mesh *)&own->meshes[i])) return false;
    for (uint32_t i = 0; i < own->skin_count; i++) {
        cutis_skin *skin = (cutis_skin *)&own->skins[i];
        if (!copy_name(arena, &skin->name) || !COPY(arena, skin->joints, skin->joint_count) ||
            !COPY(arena, skin->inverse_binds, skin->joint_count))
            return false;
    }
    for (uint32_t i = 0; i < own->clip_count; i++)
        if (!copy_clip(arena, data, (cutis_clip *)&own->clips[i])) return false;
    for (uint32_t i = 0; i < own->material_count; i++)
        if (!copy_name(arena, (const char **)&own->materials[i].name)) return false;
    return copy_pose_space(arena, own) && copy_handles(arena, own) && copy_cage(arena, own) &&
           copy_drivers(arena, own);
}

// NOLINTEND(clang-analyzer-core.NullDereference)
