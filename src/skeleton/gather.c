// The triangles of a model at rest in world space. Invariant: vertices and triangles are in the
// output order of the instances, so labels of a file find their triangle by counting.
#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "model/object.h"
#include "skeleton/carry.h"

// Bones at rest whose matrices differ by less than this part of their size move a mesh as one.
static const double SAME_FRAME = 1e-5;

static bool same_matrix(const cutis_mat34 *a, const cutis_mat34 *b)
{
    // In float, which is exact: gcc 12 for 64-bit ARM ends with an internal error at a maximum in
    // double of floats (-O2, vect_transform_reduction).
    float size = 0;
    for (int i = 0; i < 12; i++) size = fmaxf(size, fabsf(a->m[i]));
    for (int i = 0; i < 12; i++)
        if (!(fabs((double)a->m[i] - b->m[i]) <= SAME_FRAME * (double)size)) return false;
    return true;
}

// How an instance is placed in the world: its node's matrix; with a skin what all its bones agree
// on at rest. Where they do not (a file saved in a pose) the bind shape is the rest shape.
static cutis_mat34 instance_transform(const cutis_model_data *data, const cutis_instance *instance,
                                      const cutis_mat34 *world)
{
    static const cutis_mat34 identity = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
    if (instance->skin == CUTIS_NONE) return world[instance->node];
    const cutis_skin *skin = &data->skins[instance->skin];
    cutis_mat34 first = identity;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        cutis_mat34 matrix = world[skin->joints[j]];
        if (skin->inverse_binds) matrix = cutis_mat34_multiply(&matrix, &skin->inverse_binds[j]);
        if (j == 0) first = matrix;
        if (!same_matrix(&first, &matrix)) return identity;
    }
    return same_matrix(&identity, &first) ? identity : first; // what differs is rounding
}

static void count(const cutis_model_data *data, const cutis_instance *instances, uint32_t n,
                  cutis_gathered *out)
{
    for (uint32_t i = 0; i < n; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            out->vertex_count += mesh->primitives[p].vertex_count; // limited by the gate
            if (mesh->primitives[p].topology != CUTIS_TOPOLOGY_TRIANGLES) continue;
            out->triangle_count += mesh->primitives[p].index_count / 3;
            out->primitive_count++;
        }
    }
}

static void place(const cutis_primitive *primitive, const cutis_mat34 *transform, float *out)
{
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        const float *p = primitive->positions + 3 * (size_t)v;
        cutis_float3 q = cutis_mat34_point(transform, (cutis_float3){ p[0], p[1], p[2] });
        memcpy(out + 3 * (size_t)v, &q, sizeof q);
    }
}

static cutis_result check_finite(cutis_context *context, const cutis_gathered *out)
{
    for (size_t i = 0; i < 3 * (size_t)out->vertex_count; i++)
        if (!(fabsf(out->positions[i]) < 1e18f)) // volumes and their products stay finite
            return INVALID(context, "vertex %zu at rest is not at a usable place (%g)", i / 3,
                           out->positions[i]);
    return CUTIS_OK;
}

cutis_result cutis_gather(cutis_arena *arena, const cutis_model *model, cutis_gathered *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t n = cutis_model_instances(model, &instances);
    *out = (cutis_gathered){ 0 };
    if (cutis_model_triangle_count(model) > UINT32_MAX / 12)
        return cutis_fail(arena->context, CUTIS_LIMIT_EXCEEDED,
                          "too many triangles for a skeleton");
    count(data, instances, n, out);
    if (out->triangle_count == 0)
        return INVALID(arena->context, "there is nothing to make a skeleton of: no triangles");
    out->positions = cutis_arena_alloc(arena, out->vertex_count, 3 * sizeof(float));
    out->triangles = cutis_arena_alloc(arena, out->triangle_count, 3 * sizeof(uint32_t));
    out->triangle_primitives = cutis_arena_alloc(arena, out->triangle_count, sizeof(uint32_t));
    out->primitives = cutis_arena_alloc(arena, out->primitive_count, sizeof *out->primitives);
    cutis_transform *local = cutis_arena_alloc(arena, data->node_count, sizeof *local);
    cutis_mat34 *world = cutis_arena_alloc(arena, data->node_count, sizeof *world);
    cutis_mat34 *transforms = cutis_arena_alloc(arena, n, sizeof *transforms);
    if (!out->positions || !out->triangles || !out->triangle_primitives || !out->primitives ||
        !local || !world || !transforms)
        return cutis_alloc_result(arena->context);
    cutis_pose_rest(model, local, NULL);
    cutis_pose_world(model, local, world);
    uint32_t vertex = 0, triangle = 0, primitive = 0;
    for (uint32_t i = 0; i < n; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        transforms[i] = instance_transform(data, &instances[i], world);
        const bool mirrored = cutis_transform_mirrors(transforms[i].m);
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *source = &mesh->primitives[p];
            place(source, &transforms[i], out->positions + 3 * (size_t)vertex);
            if (source->topology == CUTIS_TOPOLOGY_TRIANGLES) {
                for (uint32_t t = 0; t < source->index_count / 3; t++, triangle++) {
                    for (uint32_t c = 0; c < 3; c++)
                        out->triangles[3 * (size_t)triangle + c] =
                            vertex + cutis_corner_of(source, mirrored, 3 * (size_t)t + c);
                    out->triangle_primitives[triangle] = primitive;
                }
                out->primitives[primitive++] =
                    (cutis_output_primitive){ source, vertex, transforms[i].m, source->material,
                                              i };
            }
            vertex += source->vertex_count;
        }
    }
    return check_finite(arena->context, out);
}
