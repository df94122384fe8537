// A rig from a model: world places and rotations at rest, which nodes are joints, where the skin of
// each joint lies. Invariant: rest is the bind pose (docs/spec/conventions.md 1), so a file saved
// in the middle of a walk has the same rig as one saved at rest.
#include "skeleton/retarget.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"
#include "math/elementary.h"

// World matrices of joints and binds are floats; a rig at rest repeats its bind to about this part
// of its size.
static const double SAME_BIND = 1e-3;
// A joint with no larger weight moves nothing that would be seen.
static const float SEEN = 0.01f;

bool cutis_retarget_is_end(const cutis_node *node)
{
    size_t size = node->name ? strlen(node->name) : 0;
    return size > 4 && strcmp(node->name + size - 4, "_end") == 0;
}

static void local_matrix(const cutis_transform *t, double *out)
{
    const double quat[4] = { t->rotation.w, t->rotation.x, t->rotation.y, t->rotation.z };
    const double scale[3] = { t->scale.x, t->scale.y, t->scale.z };
    const double move[3] = { t->translation.x, t->translation.y, t->translation.z };
    double r[9];
    cutis_mat3_from_quat(quat, r);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 3; k++) out[4 * i + k] = r[3 * i + k] * scale[k];
        out[4 * i + 3] = move[i];
    }
}

// The rotation of an affine matrix. Matrices that hold nothing else are passed on bit by bit: the
// polar decomposition would cost their last digits.
static void rotation_of(const double *matrix, double *out)
{
    double linear[9], gram[9];
    double34_linear(matrix, linear);
    double33_multiply_transpose(linear, linear, gram);
    double off = fabs(gram[0] - 1) + fabs(gram[4] - 1) + fabs(gram[8] - 1) + fabs(gram[1]) +
                 fabs(gram[2]) + fabs(gram[5]);
    memcpy(out, linear, sizeof linear);
    if (off < 1e-12 && double33_determinant(linear) > 0) return;
    if (!cutis_polar3(linear, out)) double33_identity(out);
}

static void node_matrix(const cutis_node *node, const cutis_transform *pose, double *out)
{
    if (node->matrix && !pose)
        double34_from_floats(node->matrix->m, out);
    else
        local_matrix(pose ? pose : &node->rest, out);
}

static void take_matrices(const double *matrices, size_t count, double *place, double *rotation)
{
    for (size_t n = 0; n < count; n++) {
        const double *world = matrices + 12 * n;
        for (int k = 0; k < 3; k++) place[3 * n + k] = world[4 * k + 3];
        if (rotation) rotation_of(world, rotation + 9 * n);
    }
}

void cutis_retarget_world(const cutis_model_data *data, const cutis_transform *pose,
                          double *matrices, double *place, double *rotation)
{
    for (uint32_t n = 0; n < data->node_count; n++) {
        double local[12], *world = matrices + 12 * (size_t)n;
        node_matrix(&data->nodes[n], pose ? &pose[n] : NULL, local);
        if (data->nodes[n].parent == CUTIS_NONE)
            memcpy(world, local, sizeof local);
        else
            double34_multiply(matrices + 12 * (size_t)data->nodes[n].parent, local, world);
    }
    take_matrices(matrices, data->node_count, place, rotation);
}

static cutis_result rig_alloc(cutis_arena *arena, const cutis_model *model, retarget_rig *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const size_t n = data->node_count;
    *out = (retarget_rig){ .model = model,
                           .data = data,
                           .count = data->node_count,
                           .up = { 0, 1, 0 },
                           .skin = CUTIS_NONE };
    double34_identity(out->frame);
    out->place = cutis_arena_alloc(arena, n, 3 * sizeof *out->place);
    out->rotation = cutis_arena_alloc(arena, n, 9 * sizeof *out->rotation);
    out->world = cutis_arena_alloc(arena, n, 12 * sizeof *out->world);
    out->joint = cutis_arena_zero(arena, n, sizeof *out->joint);
    out->driven = cutis_arena_zero(arena, n, sizeof *out->driven);
    out->role = cutis_arena_zero(arena, n, 1);
    out->side = cutis_arena_zero(arena, n, 1);
    out->order = cutis_arena_zero(arena, n, 1);
    if (!out->place || !out->rotation || !out->world || !out->joint || !out->driven || !out->role ||
        !out->side || !out->order)
        return cutis_alloc_result(arena->context);
    for (uint32_t d = 0; data->drivers && d < data->drivers->driver_count; d++)
        out->driven[data->drivers->drivers[d].node] = true;
    return CUTIS_OK;
}

// The skin with the most joints, of those that are shown.
static int32_t main_skin(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(model, &instances);
    int32_t best = CUTIS_NONE;
    for (uint32_t i = 0; i < count; i++) {
        int32_t skin = instances[i].skin;
        if (skin == CUTIS_NONE) continue;
        if (best == CUTIS_NONE || data->skins[skin].joint_count > data->skins[best].joint_count)
            best = skin;
    }
    return best;
}

// Joints of the main skin and of the skins that share some with it: clothes on one body. Other
// characters of the scene stay as they are.
static void mark_joints(retarget_rig *rig, int32_t skin)
{
    const cutis_model_data *data = rig->data;
    for (uint32_t n = 0; skin == CUTIS_NONE && n < rig->count; n++)
        rig->joint[n] = !cutis_retarget_is_end(&data->nodes[n]);
    if (skin == CUTIS_NONE) return;
    const cutis_skin *body = &data->skins[skin];
    for (uint32_t j = 0; j < body->joint_count; j++) rig->joint[body->joints[j]] = true;
    for (uint32_t s = 0; s < data->skin_count; s++) {
        bool shared = false;
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            shared = shared || rig->joint[data->skins[s].joints[j]];
        for (uint32_t j = 0; shared && j < data->skins[s].joint_count; j++)
            rig->joint[data->skins[s].joints[j]] = true;
    }
    for (uint32_t n = 0; n < rig->count; n++) rig->joint[n] = rig->joint[n] && !rig->driven[n];
}

// The joint that a node goes with: of a driven one the nearest above that is not.
static size_t carrier(const retarget_rig *rig, uint32_t node)
{
    while (rig->driven[node] && rig->data->nodes[node].parent != CUTIS_NONE)
        node = (uint32_t)rig->data->nodes[node].parent;
    return node;
}

static void inverse_bind(const cutis_skin *skin, uint32_t joint, double *out)
{
    double34_identity(out);
    if (skin->inverse_binds) double34_from_floats(skin->inverse_binds[joint].m, out);
}

static void bind_frame(const retarget_rig *rig, const cutis_skin *skin, uint32_t joint, double *out)
{
    double bind[12];
    inverse_bind(skin, joint, bind);
    double34_multiply(rig->world + 12 * (size_t)skin->joints[joint], bind, out);
}

// Nearest rotation by quarter turns about the axes, if it is near: what the nodes above a body do
// to it is such a one (z up to y up), and what the pose of a walk adds is not wanted.
static void snap_rotation(double *r)
{
    double snapped[9] = { 0 };
    for (int k = 0; k < 3; k++) {
        int best = 0;
        for (int i = 1; i < 3; i++)
            if (fabs(r[3 * k + i]) > fabs(r[3 * k + best])) best = i;
        snapped[3 * k + best] = r[3 * k + best] > 0 ? 1 : -1;
    }
    double trace = 0;
    for (int i = 0; i < 9; i++) trace += snapped[i] * r[i];
    if (fabs(double33_determinant(snapped) - 1) < 1e-9 && trace > 1 + 2 * fixed_cos(0.5))
        memcpy(r, snapped, sizeof snapped);
}

// What takes the skin's own space to the world: the first joint's frame; where the nodes are not at
// their bind pose, without the part of it that is pose.
static void skin_frame(const retarget_rig *rig, const cutis_skin *skin, double *frame, bool *posed)
{
    double other[12], size = 0, off = 0;
    bind_frame(rig, skin, 0, frame);
    for (int i = 0; i < 12; i++) size = fmax(size, fabs(frame[i]));
    for (uint32_t j = 1; j < skin->joint_count; j++) {
        bind_frame(rig, skin, j, other);
        for (int i = 0; i < 12; i++) off = fmax(off, fabs(other[i] - frame[i]));
    }
    *posed = off > SAME_BIND * size;
    if (!*posed) return;
    double r[9], linear[9];
    rotation_of(frame, r);
    double34_linear(frame, linear);
    double scale = fixed_cbrt(fabs(double33_determinant(linear)));
    snap_rotation(r);
    for (int i = 0; i < 9; i++) frame[4 * (i / 3) + i % 3] = scale * r[i];
}

static void place_joints(retarget_rig *rig, const cutis_skin *skin, const double *frame)
{
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        double bind[12], rest[12];
        inverse_bind(skin, j, bind);
        if (!double34_invert(bind, rest)) continue;
        double34_multiply(frame, rest, rig->world + 12 * (size_t)skin->joints[j]);
    }
}

// Nodes that are no joints of the skin stand under their parents as the file has them.
static void place_others(retarget_rig *rig, const cutis_skin *skin)
{
    for (uint32_t j = 0; j < skin->joint_count; j++) rig->order[skin->joints[j]] = 1;
    for (uint32_t n = 0; n < rig->count; n++) {
        double local[12];
        int32_t parent = rig->data->nodes[n].parent;
        if (rig->order[n] || parent == CUTIS_NONE) continue;
        node_matrix(&rig->data->nodes[n], NULL, local);
        double34_multiply(rig->world + 12 * (size_t)parent, local, rig->world + 12 * (size_t)n);
    }
    memset(rig->order, 0, rig->count);
}

static void bound_nodes(retarget_rig *rig)
{
    rig->bounds = box3_empty();
    for (uint32_t n = 0; n < rig->count; n++) {
        int32_t parent = rig->data->nodes[n].parent;
        if (rig->joint[n] || (parent != CUTIS_NONE && rig->joint[parent]))
            box3_add(&rig->bounds, v3_of(rig->place + 3 * (size_t)n));
    }
}

// Vertices of a primitive at bind: the bounds, and for each joint the mean of those it moves most.
static void add_skin(retarget_rig *rig, const cutis_primitive *p, const cutis_skin *skin,
                     const double *frame, double *counts)
{
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        const float *at = p->positions + 3 * (size_t)v;
        double x[3] = { at[0], at[1], at[2] };
        double34_point(frame, x, x);
        box3_add(&rig->bounds, v3_of(x));
        if (!p->influences.first) continue;
        uint32_t best = p->influences.first[v], last = p->influences.first[v + 1];
        for (uint32_t i = best; i < last; i++) {
            if (p->influences.weights[i] > p->influences.weights[best]) best = i;
            if (p->influences.weights[i] > SEEN)
                rig->moves_skin[carrier(rig, skin->joints[p->influences.joints[i]])] = true;
        }
        if (best == last) continue;
        size_t node = carrier(rig, skin->joints[p->influences.joints[best]]);
        v3_sum(rig->centre + 3 * node, v3_of(x));
        counts[node] += 1;
    }
}

static cutis_result measure_skin(cutis_arena *arena, const cutis_model *model, retarget_rig *rig,
                                 int32_t skin, const double *frame)
{
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(model, &instances);
    double *counts = cutis_arena_zero(arena, rig->count, sizeof *counts);
    rig->centre = cutis_arena_zero(arena, rig->count, 3 * sizeof *rig->centre);
    rig->moves_skin = cutis_arena_zero(arena, rig->count, sizeof *rig->moves_skin);
    if (!counts || !rig->centre || !rig->moves_skin) return cutis_alloc_result(arena->context);
    rig->bounds = box3_empty();
    for (uint32_t i = 0; skin != CUTIS_NONE && i < count; i++) {
        const cutis_mesh *mesh = &rig->data->meshes[instances[i].mesh];
        if (instances[i].skin != skin) continue;
        for (uint32_t p = 0; p < mesh->primitive_count; p++)
            if (mesh->primitives[p].topology == CUTIS_TOPOLOGY_TRIANGLES)
                add_skin(rig, &mesh->primitives[p], &rig->data->skins[skin], frame, counts);
    }
    for (uint32_t n = 0; n < rig->count; n++)
        for (int k = 0; k < 3; k++) rig->centre[3 * (size_t)n + k] /= counts[n]; // none: NAN
    if (!(rig->bounds.low[0] <= rig->bounds.high[0])) bound_nodes(rig);
    return CUTIS_OK;
}

cutis_result cutis_retarget_rig_bind(cutis_arena *arena, const cutis_model *model,
                                     retarget_rig *out)
{
    TRY(rig_alloc(arena, model, out));
    int32_t skin = main_skin(model);
    double frame[12];
    double34_identity(frame);
    cutis_retarget_world(out->data, NULL, out->world, out->place, out->rotation);
    mark_joints(out, skin);
    if (skin != CUTIS_NONE && out->data->skins[skin].joint_count) {
        bool posed;
        skin_frame(out, &out->data->skins[skin], frame, &posed);
        if (posed) {
            place_joints(out, &out->data->skins[skin], frame);
            place_others(out, &out->data->skins[skin]);
            take_matrices(out->world, out->count, out->place, out->rotation);
        }
    }
    out->skin = skin;
    memcpy(out->frame, frame, sizeof frame);
    return measure_skin(arena, model, out, skin, frame);
}

cutis_result cutis_retarget_rig_pose(cutis_arena *arena, const cutis_model *model,
                                     const cutis_transform *pose, retarget_rig *out)
{
    TRY(rig_alloc(arena, model, out));
    cutis_retarget_world(out->data, pose, out->world, out->place, out->rotation);
    mark_joints(out, main_skin(model));
    bound_nodes(out);
    return CUTIS_OK;
}

double cutis_retarget_height(const retarget_rig *rig)
{
    double sum = 0;
    for (int k = 0; k < 3; k++)
        sum += fabs(rig->up[k]) * (rig->bounds.high[k] - rig->bounds.low[k]);
    return sum;
}
