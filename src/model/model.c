// A model: check, copy, publish; then questions about it. Immutable once published, so every
// function here but create and destroy may run in any number of threads.
#include "model/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "model/drivers.h"
#include "model/source.h"
#include "model/validate.h"

// A mesh is shown where a node of the scene has it; one without vertices has nothing to show.
static bool shows_mesh(const cutis_model_data *data, uint32_t n)
{
    const cutis_node *node = &data->nodes[n];
    return node->mesh != CUTIS_NONE && !node->outside &&
           cutis_mesh_vertex_total(&data->meshes[node->mesh]) > 0;
}

static uint64_t mesh_triangles(const cutis_mesh *mesh)
{
    uint64_t total = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        if (mesh->primitives[p].topology == CUTIS_TOPOLOGY_TRIANGLES)
            total += mesh->primitives[p].index_count / 3;
    return total;
}

static bool list_instances(cutis_model *model)
{
    const cutis_model_data *data = &model->data;
    for (uint32_t n = 0; n < data->node_count; n++) model->instance_count += shows_mesh(data, n);
    model->instances =
        cutis_arena_alloc(&model->arena, model->instance_count, sizeof *model->instances);
    if (!model->instances) return false;
    for (uint32_t n = 0, i = 0; n < data->node_count; n++) {
        if (!shows_mesh(data, n)) continue;
        const cutis_mesh *mesh = &data->meshes[data->nodes[n].mesh];
        cutis_instance *instance = &model->instances[i++];
        *instance = (cutis_instance){
            .node = n,
            .mesh = (uint32_t)data->nodes[n].mesh,
            .skin = data->nodes[n].skin,
            .vertex_first = model->vertex_count,
            .vertex_count = (uint32_t)cutis_mesh_vertex_total(mesh),
            .target_first = model->target_count,
            .target_count = mesh->target_count,
        };
        model->vertex_count += instance->vertex_count;
        model->target_count += instance->target_count;
        model->triangle_count += mesh_triangles(mesh);
    }
    return true;
}

// Counting sort of the nodes by depth. A limb's joints wait for each other; other limbs' do not, so
// level by level a processor always has independent work at hand.
static bool list_steps(cutis_model *model)
{
    const cutis_model_data *data = &model->data;
    uint32_t nesting = cutis_context_limits(model->context)->nesting, count = data->node_count;
    size_t levels = (size_t)(nesting < count ? nesting : count) + 2; // depths 0 .. levels - 2
    uint32_t *depth = cutis_alloc_array(model->context, count, sizeof *depth);
    uint32_t *next = depth ? cutis_alloc_zero(model->context, levels, sizeof *next) : NULL;
    model->steps = cutis_arena_alloc(&model->arena, count, sizeof *model->steps);
    bool good = next && model->steps;
    for (uint32_t n = 0; good && n < count; n++) {
        depth[n] = data->nodes[n].parent < 0 ? 0 : depth[data->nodes[n].parent] + 1;
        if (depth[n]) next[depth[n] + 1]++, model->step_count++;
    }
    for (size_t level = 1; good && level < levels; level++) next[level] += next[level - 1];
    for (uint32_t n = 0; good && n < count; n++)
        if (depth[n])
            model->steps[next[depth[n]]++] =
                (struct cutis_world_step){ n, (uint32_t)data->nodes[n].parent };
    cutis_free_array(model->context, next, levels, sizeof *next);
    cutis_free_array(model->context, depth, count, sizeof *depth);
    return good;
}

static bool list_rest(cutis_model *model)
{
    const cutis_model_data *data = &model->data;
    for (uint32_t n = 0; n < data->node_count; n++)
        model->matrix_count += data->nodes[n].matrix != NULL;
    model->rest = cutis_arena_alloc(&model->arena, data->node_count, sizeof *model->rest);
    model->rest_targets = cutis_arena_alloc(&model->arena, model->target_count, sizeof(float));
    model->matrix_nodes = cutis_arena_alloc(&model->arena, model->matrix_count, sizeof(uint32_t));
    if (!model->rest || !model->rest_targets || !model->matrix_nodes) return false;
    for (uint32_t n = 0, k = 0; n < data->node_count; n++) {
        model->rest[n] = data->nodes[n].rest;
        if (data->nodes[n].matrix) model->matrix_nodes[k++] = n;
    }
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const cutis_instance *instance = &model->instances[i];
        const float *weights = data->nodes[instance->node].target_weights;
        if (!weights) weights = data->meshes[instance->mesh].target_weights;
        float *out = model->rest_targets + instance->target_first;
        for (uint32_t t = 0; t < instance->target_count; t++) out[t] = weights ? weights[t] : 0;
    }
    return true;
}

cutis_result cutis_model_create(cutis_context *context, const cutis_model_data *data,
                                cutis_gate gate, cutis_model **out)
{
    return cutis_model_create_from(context, data, gate, NULL, out);
}

cutis_result cutis_model_create_from(cutis_context *context, const cutis_model_data *data,
                                     cutis_gate gate, cutis_arena *lender, cutis_model **out)
{
    if (out) *out = NULL;
    if (!context) return CUTIS_INVALID_ARGUMENT;
    if (!data || !out || (gate != CUTIS_GATE_REFUSE && gate != CUTIS_GATE_REPAIR))
        return INVALID(context, "cutis_model_create: no data, no output or "
                                "an unknown gate");
    cutis_result result = cutis_validate_shape(context, data);
    if (result != CUTIS_OK) return result;
    cutis_model *model = cutis_alloc_zero(context, 1, sizeof *model);
    if (!model) return cutis_alloc_result(context);
    model->context = context;
    model->arena.context = context;
    model->data.source = cutis_source_retain(data->source);
    model->arena.lender = lender;
    bool memory = cutis_model_copy(model, data);
    model->arena.lender = NULL;
    if (memory) result = cutis_validate_values(model, gate);
    if (memory && result == CUTIS_OK)
        memory = list_instances(model) && list_rest(model) && list_steps(model) &&
                 cutis_drive_create(model);
    if (!memory) result = cutis_alloc_result(context);
    if (result == CUTIS_OK)
        *out = model;
    else
        cutis_model_destroy(model);
    return result;
}

void cutis_model_destroy(cutis_model *model)
{
    if (!model) return;
    cutis_source_release(model->data.source);
    cutis_free_array(model->context, model->issues, model->issue_capacity, sizeof *model->issues);
    cutis_arena_release(&model->arena);
    cutis_free(model->context, model, sizeof *model);
}

cutis_node cutis_node_default(void)
{
    return (cutis_node){ .parent = CUTIS_NONE,
                         .rest = cutis_transform_identity(),
                         .mesh = CUTIS_NONE,
                         .skin = CUTIS_NONE };
}

cutis_primitive cutis_primitive_default(void)
{
    return (cutis_primitive){ .material = CUTIS_NONE };
}

cutis_skin cutis_skin_default(void)
{
    return (cutis_skin){ .root = CUTIS_NONE };
}

cutis_material cutis_material_default(void)
{
    return (cutis_material){ .base_color = { 1, 1, 1, 1 }, .metallic = 1, .roughness = 1 };
}

const cutis_model_data *cutis_model_get(const cutis_model *model)
{
    return model ? &model->data : NULL;
}

cutis_context *cutis_model_context(const cutis_model *model)
{
    return model ? model->context : NULL;
}

uint32_t cutis_model_issues(const cutis_model *model, const cutis_issue **out)
{
    if (out) *out = model ? model->issues : NULL;
    return model ? model->issue_count : 0;
}

uint32_t cutis_model_instances(const cutis_model *model, const cutis_instance **out)
{
    if (out) *out = model ? model->instances : NULL;
    return model ? model->instance_count : 0;
}

uint32_t cutis_model_vertex_count(const cutis_model *model)
{
    return model ? model->vertex_count : 0;
}

uint64_t cutis_model_triangle_count(const cutis_model *model)
{
    return model ? model->triangle_count : 0;
}

uint32_t cutis_model_target_count(const cutis_model *model)
{
    return model ? model->target_count : 0;
}

static double side_of(const cutis_mat34 *matrix)
{
    double linear[9];
    for (int i = 0; i < 9; i++) linear[i] = matrix->m[4 * (i / 3) + i % 3];
    return double33_determinant(linear);
}

bool cutis_instance_mirrored(const cutis_model_data *data, const cutis_instance *instance)
{
    const cutis_skin *skin = instance->skin == CUTIS_NONE ? NULL : &data->skins[instance->skin];
    int32_t node = (int32_t)(skin ? skin->joints[0] : instance->node);
    bool mirrored = skin && skin->inverse_binds && side_of(&skin->inverse_binds[0]) < 0;
    for (; node != CUTIS_NONE; node = data->nodes[node].parent) {
        const cutis_node *n = &data->nodes[node];
        const cutis_float3 s = n->rest.scale;
        mirrored ^= n->matrix ? side_of(n->matrix) < 0 : ((s.x < 0) ^ (s.y < 0) ^ (s.z < 0)) != 0;
    }
    return mirrored;
}

void cutis_model_triangles(const cutis_model *model, uint32_t *indices)
{
    if (!model || !indices) return;
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const cutis_mesh *mesh = &model->data.meshes[model->instances[i].mesh];
        uint32_t first = model->instances[i].vertex_first;
        const bool mirrored = cutis_instance_mirrored(&model->data, &model->instances[i]);
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            if (primitive->topology == CUTIS_TOPOLOGY_TRIANGLES)
                for (uint32_t k = 0; k < primitive->index_count; k++)
                    *indices++ = first + cutis_corner_of(primitive, mirrored, k);
            first += primitive->vertex_count;
        }
    }
}

void cutis_model_file_positions(const cutis_model *model, float *positions)
{
    if (!model || !positions) return;
    for (uint32_t i = 0; i < model->instance_count; i++) {
        const cutis_mesh *mesh = &model->data.meshes[model->instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            size_t count = 3 * (size_t)mesh->primitives[p].vertex_count;
            memcpy(positions, mesh->primitives[p].positions, count * sizeof *positions);
            positions += count;
        }
    }
}

// "#2" or "2" as a number below `count`; false for anything else.
static bool parse_index(const char *text, uint32_t count, uint32_t *out)
{
    uint64_t value = 0;
    if (*text == '#') text++;
    if (!*text) return false;
    for (; *text; text++) {
        if (*text < '0' || *text > '9') return false;
        value = 10 * value + (uint64_t)(*text - '0');
        if (value >= count) return false;
    }
    *out = (uint32_t)value;
    return true;
}

cutis_result cutis_model_find_clip(const cutis_model *model, const char *name_or_index,
                                   uint32_t *out)
{
    if (!model || !name_or_index || !out) return CUTIS_INVALID_ARGUMENT;
    const cutis_model_data *data = &model->data;
    for (uint32_t c = 0; c < data->clip_count; c++)
        if (data->clips[c].name && strcmp(data->clips[c].name, name_or_index) == 0) {
            *out = c;
            return CUTIS_OK;
        }
    if (parse_index(name_or_index, data->clip_count, out)) return CUTIS_OK;
    char list[1024] = "";
    size_t used = 0;
    for (uint32_t c = 0; c < data->clip_count && used < sizeof list; c++) {
        const char *name = data->clips[c].name;
        int length =
            snprintf(list + used, sizeof list - used, "%s%s", c ? ", " : "", name ? name : "");
        if (!name && used + (size_t)length < sizeof list)
            length += snprintf(list + used + length, sizeof list - used - (size_t)length, "#%u", c);
        used += (size_t)length;
    }
    if (used >= sizeof list) memcpy(list + sizeof list - 4, "...", 4);
    return cutis_fail(model->context, CUTIS_NOT_FOUND, "no clip \"%s\"; there %s %s", name_or_index,
                      data->clip_count ? (data->clip_count > 1 ? "are" : "is") : "are",
                      data->clip_count ? list : "no clips");
}
