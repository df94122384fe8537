// Errors of reduced weights: linear blend of all groups in world space by original and reduced
// weights, compared by the measures of docs/spec/conventions.md 5. Every mesh counts once, whatever
// the number of its instances.
#include "fit/reduce/model.h"

#include <cutis/measure.h>

#include "base/error.h"
#include "math/mat3.h"

void cutis_reduce_palette(const cutis_model *model, const cutis_reduce_group *group,
                          const cutis_mat34 *world, double *palette)
{
    const cutis_skin *skin = &cutis_model_get(model)->skins[group->skin];
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        double a[12], b[12];
        double34_from_floats(world[skin->joints[j]].m, a);
        if (skin->inverse_binds)
            double34_from_floats(skin->inverse_binds[j].m, b);
        else
            double34_identity(b);
        double34_multiply(a, b, palette + 12 * (size_t)j);
    }
}

typedef struct judge {
    const cutis_model *model;
    const cutis_reduce_groups *groups;
    uint32_t vertex_count;
    double *palette;                  ///< of the largest skin
    cutis_mat34 *world;               ///< node_count
    uint32_t *triangles;              ///< all groups
    float *rest, *original, *reduced; ///< 3 * vertex_count each
    cutis_surface surface;            ///< at rest
} judge;

// One group by one set of weights; sources of a unit share its place.
static void blend_group(const cutis_reduce_group *group, const uint32_t *first,
                        const uint32_t *control, const double *weight, const double *palette,
                        float *out)
{
    for (uint32_t v = 0; v < group->source_count; v++) {
        uint32_t unit = group->unit[v];
        double sum[12] = { 0 }, p[3], x[3];
        for (uint32_t i = first[unit]; i < first[unit + 1]; i++) {
            const double *m = palette + 12 * (size_t)control[i], w = weight[i];
            for (int c = 0; c < 12; c++) sum[c] += w * m[c];
        }
        for (int c = 0; c < 3; c++) p[c] = group->source_positions[3 * (size_t)v + c];
        double34_point(sum, p, x);
        for (int c = 0; c < 3; c++) out[3 * (size_t)v + c] = (float)x[c];
    }
}

// All groups; `weights` NULL: the original ones.
static void blend_all(const judge *j, const cutis_reduce_weights *weights, float *out)
{
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        cutis_reduce_palette(j->model, group, j->world, j->palette);
        if (weights)
            blend_group(group, weights[g].first, weights[g].control, weights[g].weight, j->palette,
                        out);
        else
            blend_group(group, group->first, group->control, group->weight, j->palette, out);
        out += 3 * (size_t)group->source_count;
    }
}

static bool open_judge(judge *j, cutis_arena *arena)
{
    const cutis_model_data *data = cutis_model_get(j->model);
    size_t triangles = 0, joints = 0;
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        j->vertex_count += group->source_count;
        triangles += group->triangle_count;
        if (data->skins[group->skin].joint_count > joints)
            joints = data->skins[group->skin].joint_count;
    }
    cutis_transform *local = cutis_arena_alloc(arena, data->node_count, sizeof *local);
    j->palette = cutis_arena_alloc(arena, joints, 12 * sizeof(double));
    j->world = cutis_arena_alloc(arena, data->node_count, sizeof *j->world);
    j->triangles = cutis_arena_alloc(arena, triangles, 3 * sizeof(uint32_t));
    j->rest = cutis_arena_alloc(arena, j->vertex_count, 3 * sizeof(float));
    j->original = cutis_arena_alloc(arena, j->vertex_count, 3 * sizeof(float));
    j->reduced = cutis_arena_alloc(arena, j->vertex_count, 3 * sizeof(float));
    if (!local || !j->palette || !j->world || !j->triangles || !j->rest || !j->original ||
        !j->reduced)
        return false;
    uint32_t *corner = j->triangles, vertex = 0;
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        for (size_t i = 0; i < 3 * (size_t)group->triangle_count; i++)
            *corner++ = vertex + group->triangles[i];
        vertex += group->source_count;
    }
    cutis_pose_rest(j->model, local, NULL);
    cutis_pose_world(j->model, local, j->world);
    blend_all(j, NULL, j->rest);
    j->surface = (cutis_surface){ j->vertex_count, triangles, j->rest, j->triangles };
    return true;
}

cutis_result cutis_reduce_evaluate(const cutis_model *model, const cutis_reduce_groups *groups,
                                   const cutis_reduce_poses *poses, uint32_t row_count,
                                   const cutis_reduce_weights *weights, double **frame_position,
                                   double **frame_normal)
{
    cutis_context *context = cutis_model_context(model);
    const size_t nodes = cutis_model_get(model)->node_count;
    const uint32_t count = poses->example_count + poses->held_out_count;
    cutis_arena arena = { .context = context };
    judge j = { .model = model, .groups = groups };
    cutis_result result = open_judge(&j, &arena) ? CUTIS_OK : cutis_alloc_result(context);
    const double extent = result == CUTIS_OK ? cutis_surface_diagonal(&j.surface) : 0;
    for (uint32_t f = 0; f < count && result == CUTIS_OK; f++) {
        result = cutis_progress(context, "judging poses", (double)f / count);
        cutis_pose_world(model, poses->transforms + f * nodes, j.world);
        blend_all(&j, NULL, j.original);
        for (uint32_t r = 0; r < row_count && result == CUTIS_OK; r++) {
            cutis_difference difference = { 0 };
            blend_all(&j, weights + (size_t)r * groups->count, j.reduced);
            if (extent > 0) // a body without extent has no error that could be told in its own size
                result =
                    cutis_surface_compare(context, &j.surface, j.reduced, j.original, &difference);
            frame_position[r][f] = difference.position_rms;
            frame_normal[r][f] = difference.normal_rms;
        }
    }
    cutis_arena_release(&arena);
    return result;
}
