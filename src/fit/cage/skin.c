// A cage as a plain skin: joints are the controls and move by translation. Invariant: linear
// blending of the result is the sum of weight times control, in every frame; where weights are
// negative a control has two joints, which move by plus and minus W times its way, and what is left
// of the weight is on a joint that stays.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "fit/cage/shape.h"
#include "fit/handles/model.h"
#include "model/object.h"

typedef struct skinner {
    const cutis_model *model;
    cutis_context *context;
    const cutis_cage *cage;
    cutis_arena arena;
    cutis_handles_body body;
    cutis_model_data data;
    cutis_cage_skin_report report;
    uint32_t first_node; ///< of the joints' root
} skinner;

// Joint of a control, by the sign of the weight. In pairs joint 0 stays.
static uint32_t joint_of(const skinner *s, uint32_t control, bool negative)
{
    return s->report.paired ? 1 + 2 * control + negative : control;
}

static void look_at_weights(skinner *s)
{
    for (uint32_t m = 0; m < s->cage->mesh_count; m++) {
        const cutis_cage_mesh *mesh = &s->cage->meshes[m];
        for (uint32_t v = 0; mesh->first && v < mesh->vertex_count; v++) {
            double sum = 0;
            for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
                sum += fabs((double)mesh->weights[i]);
                s->report.paired |= mesh->weights[i] < 0;
            }
            s->report.scale = fmax(s->report.scale, sum);
        }
    }
    if (!s->report.paired) s->report.scale = 1;
    s->report.joint_count =
        s->report.paired ? 1 + 2 * s->cage->control_count : s->cage->control_count;
}

// The body where the cage at rest has it, with a matrix for every vertex.
static bool place_body(skinner *s)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(s->model, &instances);
    double(*moved)[12] = cutis_arena_alloc(&s->arena, s->body.shape.vertex_count, sizeof *moved);
    if (!moved) return false;
    for (uint32_t i = 0; i < count; i++) {
        const cutis_cage_mesh *mesh = &s->cage->meshes[instances[i].mesh];
        for (uint32_t v = 0; v < instances[i].vertex_count; v++) {
            const size_t at = instances[i].vertex_first + (size_t)v;
            memcpy(moved[at], s->body.baked[i] ? s->body.moved[at] : s->body.frame[i],
                   sizeof *moved);
            if (!mesh->first) continue;
            double x[3] = { 0 };
            for (uint32_t k = mesh->first[v]; k < mesh->first[v + 1]; k++)
                for (int c = 0; c < 3; c++)
                    x[c] += (double)mesh->weights[k] * (&s->cage->controls[mesh->controls[k]].x)[c];
            for (int c = 0; c < 3; c++) s->body.positions[3 * at + (size_t)c] = (float)x[c];
        }
    }
    s->body.moved = moved;
    return true;
}

// Influences of one primitive, whose vertices begin at `first` of the mesh's.
static bool set_influences(skinner *s, const cutis_cage_mesh *mesh, uint32_t first,
                           cutis_primitive *primitive)
{
    const uint32_t count = primitive->vertex_count;
    const size_t entries =
        (size_t)mesh->first[first + count] - mesh->first[first] + (s->report.paired ? count : 0);
    uint32_t *starts = cutis_arena_alloc(&s->arena, (size_t)count + 1, sizeof *starts), used = 0;
    uint32_t *joints = cutis_arena_alloc(&s->arena, entries, sizeof *joints);
    float *weights = cutis_arena_alloc(&s->arena, entries, sizeof *weights);
    if (!starts || !joints || !weights) return false;
    for (uint32_t v = 0; v < count; v++) {
        double sum = 0;
        starts[v] = used;
        uint32_t stays = used;
        if (s->report.paired) used++;
        for (uint32_t i = mesh->first[first + v]; i < mesh->first[first + v + 1]; i++) {
            const double w = mesh->weights[i];
            if (w == 0) continue;
            joints[used] = joint_of(s, mesh->controls[i], w < 0);
            weights[used++] = (float)(fabs(w) / s->report.scale);
            sum += fabs(w) / s->report.scale;
        }
        if (s->report.paired) joints[stays] = 0, weights[stays] = (float)fmax(0, 1 - sum);
        if (used - starts[v] > s->report.max_influences)
            s->report.max_influences = used - starts[v];
    }
    starts[count] = used;
    primitive->influences = (cutis_influences){ starts, joints, weights };
    return true;
}

static bool add_meshes(skinner *s)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(s->model, &instances);
    cutis_mesh *meshes =
        cutis_arena_copy(&s->arena, s->data.meshes, s->data.mesh_count, sizeof *meshes);
    if (!meshes) return false;
    for (uint32_t i = 0; i < count; i++) {
        cutis_mesh *mesh = &meshes[instances[i].mesh];
        const cutis_cage_mesh *weights = &s->cage->meshes[instances[i].mesh];
        const bool mirrored = cutis_instance_mirrored(cutis_model_get(s->model), &instances[i]);
        uint32_t at = 0;
        if (!weights->first) continue;
        cutis_primitive *primitives = cutis_arena_copy(&s->arena, mesh->primitives,
                                                       mesh->primitive_count, sizeof *primitives);
        if (!primitives) return false;
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            if (!cutis_handles_bake(&s->arena, &s->body, instances[i].vertex_first + (size_t)at,
                                    mesh->target_count, mirrored, &primitives[p]) ||
                !set_influences(s, weights, at, &primitives[p]))
                return false;
            at += primitives[p].vertex_count;
        }
        mesh->primitives = primitives;
    }
    s->data.meshes = meshes;
    return true;
}

// A root, then the joints at their controls; instances that are bound get the new skin.
static bool add_nodes(skinner *s)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(s->model, &instances);
    const uint32_t old = s->data.node_count, joints = s->report.joint_count;
    cutis_node *nodes = cutis_arena_alloc(&s->arena, (size_t)old + 1 + joints, sizeof *nodes);
    if (!nodes) return false;
    memcpy(nodes, s->data.nodes, old * sizeof *nodes);
    for (uint32_t i = 0; i < count; i++)
        if (s->cage->meshes[instances[i].mesh].first)
            nodes[instances[i].node].skin = (int32_t)s->data.skin_count;
    cutis_node node = { .name = "cage",
                        .parent = CUTIS_NONE,
                        .rest = cutis_transform_identity(),
                        .mesh = CUTIS_NONE,
                        .skin = CUTIS_NONE };
    nodes[old] = node;
    node.parent = (int32_t)old;
    for (uint32_t j = 0; j < joints; j++) {
        const uint32_t control = s->report.paired ? (j - 1) / 2 : j;
        const bool stays = s->report.paired && j == 0;
        const cutis_float3 origin = { 0, 0, 0 };
        node.rest.translation = stays ? origin : s->cage->controls[control];
        node.name = stays              ? "cage_rest"
                    : s->report.paired ? cutis_arena_format(&s->arena, "cage_%u%c", control,
                                                            (j - 1) % 2 ? '-' : '+')
                                       : cutis_arena_format(&s->arena, "cage_%u", control);
        if (!node.name) return false;
        nodes[old + 1 + j] = node;
    }
    s->first_node = old;
    s->data.nodes = nodes;
    s->data.node_count = old + 1 + joints;
    return true;
}

static bool add_skin(skinner *s)
{
    const uint32_t old = s->data.skin_count, joints = s->report.joint_count;
    cutis_skin *skins = cutis_arena_alloc(&s->arena, (size_t)old + 1, sizeof *skins);
    cutis_mat34 *binds = cutis_arena_alloc(&s->arena, joints, sizeof *binds);
    uint32_t *list = cutis_arena_alloc(&s->arena, joints, sizeof *list);
    if (!skins || !binds || !list) return false;
    for (uint32_t k = 0; k < old; k++) skins[k] = s->data.skins[k];
    for (uint32_t j = 0; j < joints; j++) {
        const cutis_float3 at = s->data.nodes[s->first_node + 1 + j].rest.translation;
        binds[j] = (cutis_mat34){ { 1, 0, 0, -at.x, 0, 1, 0, -at.y, 0, 0, 1, -at.z } };
        list[j] = s->first_node + 1 + j;
    }
    skins[old] = (cutis_skin){ .name = "cage",
                               .joint_count = joints,
                               .joints = list,
                               .inverse_binds = binds,
                               .root = (int32_t)s->first_node };
    s->data.skins = skins;
    s->data.skin_count = old + 1;
    return true;
}

// A translation channel for every joint that moves.
static bool add_clip(skinner *s, const float *frames, uint32_t count, float fps)
{
    const uint32_t n = s->cage->control_count, old = s->data.clip_count;
    cutis_clip *clips = cutis_arena_alloc(&s->arena, (size_t)old + 1, sizeof *clips);
    cutis_channel *channels = cutis_arena_alloc(&s->arena, s->report.joint_count, sizeof *channels);
    float *times = cutis_arena_alloc(&s->arena, count, sizeof *times);
    float *values =
        cutis_arena_alloc(&s->arena, (size_t)s->report.joint_count * count, 3 * sizeof *values);
    uint32_t used = 0;
    if (!clips || !channels || !times || !values) return false;
    for (uint32_t c = 0; c < old; c++) clips[c] = s->data.clips[c];
    for (uint32_t f = 0; f < count; f++) times[f] = (float)((double)f / fps);
    for (uint32_t j = s->report.paired ? 1 : 0; j < s->report.joint_count; j++) {
        const uint32_t control = s->report.paired ? (j - 1) / 2 : j;
        const float *rest = &s->cage->controls[control].x;
        const double way = s->report.paired && (j - 1) % 2 ? -s->report.scale : s->report.scale;
        float *out = values + 3 * (size_t)j * count;
        for (uint32_t f = 0; f < count; f++)
            for (size_t c = 0; c < 3; c++) {
                double moved = (double)frames[3 * ((size_t)f * n + control) + c] - rest[c];
                out[3 * (size_t)f + c] = (float)(rest[c] + way * moved);
            }
        channels[used++] = (cutis_channel){ .node = s->first_node + 1 + j,
                                            .path = CUTIS_PATH_TRANSLATION,
                                            .interpolation = CUTIS_INTERPOLATION_LINEAR,
                                            .key_count = count,
                                            .times = times,
                                            .values = out };
    }
    clips[old] = (cutis_clip){ .name = "cage", .channel_count = used, .channels = channels };
    s->data.clips = clips;
    s->data.clip_count = old + 1;
    return true;
}

cutis_result cutis_cage_to_skin(const cutis_model *model, const float *frames, uint32_t frame_count,
                                float frames_per_second, cutis_model **out,
                                cutis_cage_skin_report *report)
{
    if (out) *out = NULL;
    if (!model || (!frames && frame_count) || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    skinner s = { .model = model,
                  .context = context,
                  .cage = cutis_model_get(model)->cage,
                  .arena = { .context = context },
                  .data = *cutis_model_get(model) };
    if (!s.cage)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "the model has no cage; cutis cage binds one");
    for (size_t i = 0; i < 3 * (size_t)frame_count * s.cage->control_count; i++)
        if (!isfinite(frames[i]))
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "cage frame %zu is not finite",
                              i / (3 * (size_t)s.cage->control_count));
    if (frame_count && !(frames_per_second > 0))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "cage frames need a rate above 0");
    look_at_weights(&s);
    cutis_result result = cutis_handles_body_world(&s.arena, model, &s.body);
    if (result == CUTIS_OK &&
        !(place_body(&s) && add_meshes(&s) && add_nodes(&s) && add_skin(&s) &&
          (!frame_count || add_clip(&s, frames, frame_count, frames_per_second))))
        result = cutis_alloc_result(context);
    s.data.cage = NULL;    // the skin has its place
    s.data.handles = NULL; // of skins that no longer move the meshes
    if (result == CUTIS_OK) result = cutis_model_create(context, &s.data, CUTIS_GATE_REFUSE, out);
    if (result == CUTIS_OK && report) *report = s.report;
    cutis_arena_release(&s.arena);
    return result;
}
