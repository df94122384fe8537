/// Handles drawn over a posed model: points as dots, bars as thick lines, virtual handles as small
/// dots where their real ones carry them.
#include "picture.h"

#include <stdlib.h>

static const uint32_t REAL = 0xff8c1aff, VIRTUAL = 0x2a78b8c0;

static cutis_scene_line dot(cutis_float3 from, cutis_float3 to, float width, float radius,
                            uint32_t color)
{
    return (
        cutis_scene_line){ .from = from, .to = to, .width = width, .dot = radius, .color = color };
}

// What the nodes have done since rest: world now times inverse world then. False: no such matrix.
static bool motion_of(const cutis_mat34 *rest, const cutis_mat34 *now, cutis_mat34 *out)
{
    cutis_mat34 inverse;
    if (!cutis_mat34_invert(rest, &inverse)) return false;
    *out = cutis_mat34_multiply(now, &inverse);
    return true;
}

static uint32_t virtual_lines(const cutis_handle_rig *rig, const cutis_mat34 *motion,
                              cutis_scene_line *lines)
{
    for (uint32_t v = 0; v < rig->virtual_count; v++) {
        cutis_float3 p = { 0, 0, 0 };
        for (uint32_t e = rig->share_first[v]; e < rig->share_first[v + 1]; e++) {
            cutis_float3 q =
                cutis_mat34_point(&motion[rig->share_handles[e]], rig->virtual_places[v]);
            p.x += rig->shares[e] * q.x, p.y += rig->shares[e] * q.y, p.z += rig->shares[e] * q.z;
        }
        lines[v] = dot(p, p, 1, 2, VIRTUAL);
    }
    return rig->virtual_count;
}

uint32_t picture_handle_count(const picture_stage *stage)
{
    const cutis_handle_rig *rig = cutis_model_get(stage->model)->handles;
    return rig ? rig->handle_count + rig->virtual_count : 0;
}

bool picture_handle_lines(const picture_stage *stage, const cutis_mat34 *world,
                          cutis_scene_line *lines)
{
    const cutis_model_data *data = cutis_model_get(stage->model);
    const cutis_handle_rig *rig = data->handles;
    cutis_transform *local = malloc((data->node_count + (size_t)1) * sizeof *local);
    cutis_mat34 *rest = malloc((data->node_count + (size_t)1) * sizeof *rest);
    cutis_mat34 *motion = malloc(rig->handle_count * sizeof *motion);
    if (local && rest && motion) {
        cutis_pose_rest(stage->model, local, NULL);
        cutis_pose_world(stage->model, local, rest);
        for (uint32_t h = 0; h < rig->handle_count; h++) {
            const uint32_t node = rig->nodes[h];
            if (!motion_of(&rest[node], &world[node], &motion[h]))
                motion[h] = (cutis_mat34){ { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
        }
        lines += virtual_lines(rig, motion, lines);
        for (uint32_t h = 0; h < rig->handle_count; h++) {
            const cutis_handle *handle = &rig->handles[h];
            cutis_float3 from = cutis_mat34_point(&motion[h], handle->from), to = from;
            const bool bar = handle->kind == CUTIS_HANDLE_BAR;
            if (bar) to = cutis_mat34_point(&motion[h], handle->to);
            lines[h] = dot(from, to, bar ? 5 : 1, bar ? 5 : 6, REAL);
        }
    }
    bool good = local && rest && motion;
    free(local), free(rest), free(motion);
    return good;
}
