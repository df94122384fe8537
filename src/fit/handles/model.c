// Bodies of models. Invariant: vertices of a body are in output order (instances, or meshes,
// primitives, vertices), so influences find their way back by counting.
#include "fit/handles/model.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "geometry/vector.h"
#include "math/mat3.h"
#include "model/object.h"

// Bones at rest whose matrices differ by less than this part of their size move a mesh as one.
static const double SAME_FRAME = 1e-5;

static bool count_primitive(const cutis_primitive *primitive, cutis_handles_shape *shape)
{
    uint64_t triangles = shape->triangle_count;
    if (primitive->topology == CUTIS_TOPOLOGY_TRIANGLES) triangles += primitive->index_count / 3;
    if (primitive->topology == CUTIS_TOPOLOGY_LINES) triangles += primitive->index_count / 2;
    if (primitive->topology == CUTIS_TOPOLOGY_POINTS) shape->point_count += primitive->index_count;
    uint64_t vertices = (uint64_t)shape->vertex_count + primitive->vertex_count;
    if (triangles > UINT32_MAX / 3 || vertices > UINT32_MAX / 3) return false;
    shape->triangle_count = (uint32_t)triangles;
    shape->vertex_count = (uint32_t)vertices;
    return true;
}

static cutis_result alloc_body(cutis_arena *arena, bool counted, cutis_handles_body *body)
{
    cutis_handles_shape *shape = &body->shape;
    if (!counted)
        return cutis_fail(arena->context, CUTIS_LIMIT_EXCEEDED, "too many vertices or triangles");
    if (shape->vertex_count == 0)
        return cutis_fail(arena->context, CUTIS_INVALID_ARGUMENT,
                          "there is nothing to put handles on: no vertices");
    body->positions = cutis_arena_alloc(arena, shape->vertex_count, 3 * sizeof(float));
    body->triangles = cutis_arena_alloc(arena, shape->triangle_count, 3 * sizeof(uint32_t));
    body->points = cutis_arena_alloc(arena, shape->point_count, sizeof(uint32_t));
    if (!body->positions || !body->triangles || !body->points)
        return cutis_alloc_result(arena->context);
    shape->positions = body->positions;
    shape->triangles = body->triangles;
    shape->points = body->points;
    shape->vertex_count = shape->triangle_count = shape->point_count = 0;
    return CUTIS_OK;
}

// Faces and file positions of a primitive, after what is there; the counts move on.
static void append_primitive(const cutis_primitive *primitive, cutis_handles_body *body)
{
    cutis_handles_shape *shape = &body->shape;
    const uint32_t base = shape->vertex_count, *index = primitive->indices;
    memcpy(body->positions + 3 * (size_t)base, primitive->positions,
           3 * (size_t)primitive->vertex_count * sizeof(float));
    uint32_t width = primitive->topology == CUTIS_TOPOLOGY_TRIANGLES ? 3 : 2;
    if (primitive->topology == CUTIS_TOPOLOGY_POINTS) {
        for (uint32_t i = 0; i < primitive->index_count; i++)
            body->points[shape->point_count++] = base + index[i];
    } else {
        for (uint32_t i = 0; i + width <= primitive->index_count; i += width) {
            uint32_t *triangle = body->triangles + 3 * (size_t)shape->triangle_count++;
            for (uint32_t c = 0; c < 3; c++)
                triangle[c] = base + index[i + (c < width ? c : width - 1)];
        }
    }
    shape->vertex_count += primitive->vertex_count;
}

// Vertices that nothing shows may lie anywhere, and would stretch the grid until no voxel is finer
// than a limb: what is solved has them in the box of what is shown, what is baked where they were.
static cutis_result fetch_strays(cutis_arena *arena, cutis_handles_body *body)
{
    cutis_handles_shape *shape = &body->shape;
    float *held = NULL;
    box3 box = box3_empty();
    for (size_t k = 0; k < 3 * (size_t)shape->triangle_count; k++)
        box3_add(&box, v3_at(body->positions, body->triangles[k]));
    for (uint32_t k = 0; k < shape->point_count; k++)
        box3_add(&box, v3_at(body->positions, body->points[k]));
    if (shape->triangle_count == 0 && shape->point_count == 0) return CUTIS_OK;
    for (size_t i = 0; i < 3 * (size_t)shape->vertex_count; i++) {
        const float at = body->positions[i];
        const bool below = at<box.low[i % 3], above = at> box.high[i % 3];
        if (!below && !above) continue;
        if (!held)
            held = cutis_arena_copy(arena, body->positions, shape->vertex_count, 3 * sizeof(float));
        if (!held) return cutis_alloc_result(arena->context);
        held[i] = (float)(below ? box.low[i % 3] : box.high[i % 3]);
    }
    if (held) shape->positions = held;
    return CUTIS_OK;
}

void cutis_handles_mesh_skins(const cutis_model *model, int32_t *mesh_skin)
{
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t m = 0; m < cutis_model_get(model)->mesh_count; m++) mesh_skin[m] = CUTIS_NONE;
    for (uint32_t i = 0; i < count; i++)
        if (instances[i].skin != CUTIS_NONE && mesh_skin[instances[i].mesh] == CUTIS_NONE)
            mesh_skin[instances[i].mesh] = instances[i].skin;
}

cutis_result cutis_handles_body_skin(cutis_arena *arena, const cutis_model *model,
                                     const int32_t *mesh_skin, int32_t skin,
                                     cutis_handles_body *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    bool counted = true;
    *out = (cutis_handles_body){ 0 };
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t p = 0; mesh_skin[m] == skin && p < data->meshes[m].primitive_count; p++)
            counted = counted && count_primitive(&data->meshes[m].primitives[p], &out->shape);
    cutis_result result = alloc_body(arena, counted, out);
    for (uint32_t m = 0; m < data->mesh_count && result == CUTIS_OK; m++)
        for (uint32_t p = 0; mesh_skin[m] == skin && p < data->meshes[m].primitive_count; p++)
            append_primitive(&data->meshes[m].primitives[p], out);
    return result == CUTIS_OK ? fetch_strays(arena, out) : result;
}

// World space at rest
// -------------------------------------------------------------------------------

// Rest matrices of the bones of an instance: the skin's joints, or its node alone.
static uint32_t bone_matrices(const cutis_model_data *data, const cutis_instance *instance,
                              const cutis_mat34 *world, double (*out)[12])
{
    if (instance->skin == CUTIS_NONE) {
        double34_from_floats(world[instance->node].m, out[0]);
        return 1;
    }
    const cutis_skin *skin = &data->skins[instance->skin];
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        cutis_mat34 matrix = world[skin->joints[j]];
        if (skin->inverse_binds) matrix = cutis_mat34_multiply(&matrix, &skin->inverse_binds[j]);
        double34_from_floats(matrix.m, out[j]);
    }
    return skin->joint_count;
}

static bool same_frames(double (*matrices)[12], uint32_t count)
{
    double size = 0;
    for (int i = 0; i < 12; i++) size = fmax(size, fabs(matrices[0][i]));
    for (uint32_t j = 1; j < count; j++)
        for (int i = 0; i < 12; i++)
            if (!(fabs(matrices[j][i] - matrices[0][i]) <= SAME_FRAME * size)) return false;
    return true;
}

// The blended rest matrix of a vertex; without weights the first bone's, as binding has it.
static void vertex_matrix(const cutis_influences *influences, uint32_t v, double (*bones)[12],
                          uint32_t bone_count, double *out)
{
    double sum = 0;
    memset(out, 0, 12 * sizeof *out);
    for (uint32_t i = influences->first ? influences->first[v] : 0;
         influences->first && i < influences->first[v + 1]; i++) {
        if (influences->joints[i] >= bone_count) continue;
        for (int c = 0; c < 12; c++)
            out[c] += influences->weights[i] * bones[influences->joints[i]][c];
        sum += influences->weights[i];
    }
    for (int c = 0; c < 12; c++) out[c] = sum > 0 ? out[c] / sum : bones[0][c];
}

// @param moved per vertex, out: its matrix; NULL: all go with the first bone
static void move_positions(const cutis_primitive *primitive, double (*bones)[12],
                           uint32_t bone_count, double (*moved)[12], float *positions)
{
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        double matrix[12], p[3], q[3];
        memcpy(matrix, bones[0], sizeof matrix);
        if (moved) {
            vertex_matrix(&primitive->influences, v, bones, bone_count, matrix);
            memcpy(moved[v], matrix, sizeof matrix);
        }
        for (int c = 0; c < 3; c++) p[c] = positions[3 * (size_t)v + c];
        double34_point(matrix, p, q);
        for (int c = 0; c < 3; c++) positions[3 * (size_t)v + c] = (float)q[c];
    }
}

static cutis_result check_finite(cutis_context *context, const cutis_handles_shape *shape)
{
    for (size_t i = 0; i < 3 * (size_t)shape->vertex_count; i++)
        if (!(fabsf(shape->positions[i]) < 1e30f))
            return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                              "vertex %zu at rest is not at a finite place", i / 3);
    return CUTIS_OK;
}

cutis_result cutis_handles_body_world(cutis_arena *arena, const cutis_model *model,
                                      cutis_handles_body *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(model, &instances);
    uint32_t most = 1;
    bool counted = true;
    *out = (cutis_handles_body){ 0 };
    for (uint32_t s = 0; s < data->skin_count; s++)
        if (data->skins[s].joint_count > most) most = data->skins[s].joint_count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t p = 0; p < data->meshes[instances[i].mesh].primitive_count; p++)
            counted = counted &&
                      count_primitive(&data->meshes[instances[i].mesh].primitives[p], &out->shape);
    TRY(alloc_body(arena, counted, out));
    cutis_transform *local = cutis_arena_alloc(arena, data->node_count, sizeof *local);
    cutis_mat34 *world = cutis_arena_alloc(arena, data->node_count, sizeof *world);
    double(*bones)[12] = cutis_arena_alloc(arena, most, sizeof *bones);
    out->frame = cutis_arena_alloc(arena, count, sizeof *out->frame);
    out->baked = cutis_arena_alloc(arena, count, sizeof *out->baked);
    if (!local || !world || !bones || !out->frame || !out->baked)
        return cutis_alloc_result(arena->context);
    cutis_pose_rest(model, local, NULL);
    cutis_pose_world(model, local, world);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t bone_count = bone_matrices(data, &instances[i], world, bones);
        out->baked[i] = !same_frames(bones, bone_count);
        if (out->baked[i] && !out->moved) {
            out->moved =
                cutis_arena_alloc(arena, cutis_model_vertex_count(model), sizeof *out->moved);
            if (!out->moved) return cutis_alloc_result(arena->context);
        }
        memcpy(out->frame[i], bones[0], sizeof bones[0]);
        if (out->baked[i]) double34_identity(out->frame[i]);
        for (uint32_t p = 0; p < data->meshes[instances[i].mesh].primitive_count; p++) {
            const cutis_primitive *primitive = &data->meshes[instances[i].mesh].primitives[p];
            const size_t first = out->shape.vertex_count;
            append_primitive(primitive, out);
            move_positions(primitive, bones, bone_count, out->baked[i] ? out->moved + first : NULL,
                           out->positions + 3 * first);
        }
    }
    TRY(check_finite(arena->context, &out->shape));
    return fetch_strays(arena, out);
}

// Directions by the linear part of each vertex's matrix: `width` floats each, of which three turn.
// `unit`: brought back to length one (normals by the cofactor matrix, which keeps them normal; a
// mirror's turns them inside, which `mirrored` undoes, and the fourth float's sign with it).
static const float *turn(cutis_arena *arena, const float *values, uint32_t width, bool normal,
                         bool unit, bool mirrored, double (*moved)[12], size_t count)
{
    float *out = cutis_arena_copy(arena, values, count, width * sizeof *out);
    for (size_t v = 0; out && v < count; v++) {
        double linear[9], cofactor[9], in[3], to[3];
        double34_linear(moved[v], linear);
        double33_cofactor(linear, cofactor);
        for (int c = 0; c < 3; c++) in[c] = values[width * v + c];
        double33_vector(normal ? cofactor : linear, in, to);
        double length = unit ? sqrt(double3_dot(to, to)) : 1;
        if (mirrored && width == 4) out[width * v + 3] = -values[width * v + 3];
        const double side = mirrored && normal ? -length : length;
        for (int c = 0; c < 3 && length > 0; c++) out[width * v + c] = (float)(to[c] / side);
    }
    return out;
}

bool cutis_handles_bake(cutis_arena *arena, const cutis_handles_body *body, size_t first,
                        uint32_t target_count, bool mirrored, cutis_primitive *primitive)
{
    const size_t count = primitive->vertex_count;
    double(*moved)[12] = body->moved + first;
    primitive->positions =
        cutis_arena_copy(arena, body->positions + 3 * first, count, 3 * sizeof(float));
    bool good = primitive->positions != NULL;
    if (mirrored) good &= (primitive->indices = cutis_turned_corners(arena, primitive)) != NULL;
    if (primitive->normals)
        good &= (primitive->normals = turn(arena, primitive->normals, 3, true, true, mirrored,
                                           moved, count)) != NULL;
    if (primitive->tangents)
        good &= (primitive->tangents = turn(arena, primitive->tangents, 4, false, true, mirrored,
                                            moved, count)) != NULL;
    if (!primitive->targets || !good) return good;
    cutis_morph_target *targets =
        cutis_arena_copy(arena, primitive->targets, target_count, sizeof *targets);
    if (!targets) return false;
    for (uint32_t t = 0; t < target_count; t++) {
        const float **streams[3] = { &targets[t].positions, &targets[t].normals,
                                     &targets[t].tangents };
        for (int s = 0; s < 3; s++)
            if (*streams[s])
                good &= (*streams[s] = turn(arena, *streams[s], 3, false, false, false, moved,
                                            count)) != NULL;
    }
    primitive->targets = targets;
    return good;
}

bool cutis_handles_set_influences(cutis_arena *arena, const cutis_handles_influences *influences,
                                  size_t first, cutis_primitive *primitive)
{
    const size_t count = primitive->vertex_count, slots = influences->slots;
    uint32_t *starts = cutis_arena_alloc(arena, count + 1, sizeof *starts), used = 0;
    uint32_t *joints = cutis_arena_alloc(arena, count * slots, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, count * slots, sizeof *weights);
    if (!starts || !joints || !weights) return false;
    for (size_t v = 0; v < count; v++) {
        starts[v] = used;
        for (size_t i = (first + v) * slots; i < (first + v + 1) * slots; i++) {
            if (!(influences->weights[i] > 0)) continue;
            joints[used] = influences->joints[i];
            weights[used++] = influences->weights[i];
        }
    }
    starts[count] = used;
    primitive->influences = (cutis_influences){ starts, joints, weights };
    return true;
}
