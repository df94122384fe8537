// Rest poses, blending, world matrices, joints by name. Allocates nothing, holds nothing; four
// nodes at a time. Invariant: the arithmetic of a node does not depend on its place in a group of
// four, so the bits of a node's result do not depend on the size of the model.
#include <cutis/clip.h>

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/lanes.h"
#include "model/drivers.h"

_Static_assert(sizeof(cutis_transform) == 40 && sizeof(cutis_mat34) == 48, "no padding");

void cutis_pose_rest(const cutis_model *model, cutis_transform *transforms, float *morph_weights)
{
    if (!model || !transforms) return;
    if (model->data.node_count)
        memcpy(transforms, model->rest, model->data.node_count * sizeof *transforms);
    if (morph_weights && model->target_count)
        memcpy(morph_weights, model->rest_targets, model->target_count * sizeof *morph_weights);
}

// Sum of the four entries of each of four vectors, one a lane, always as ((x + y) + z) + w.
static inline lanes sum_entries(lanes a, lanes b, lanes c, lanes d)
{
    lanes_transpose(&a, &b, &c, &d);
    return ((a + b) + c) + d;
}

static inline const float *floats(const cutis_transform *transform)
{
    return (const float *)(const void *)transform;
}

static void blend4(const cutis_transform *a, const cutis_transform *b, float weight,
                   cutis_transform *out)
{
    lanes w = lanes_all(weight), v = lanes_all(1 - weight);
    lanes translation[4], scale[4], ra[4], rb[4], r[4];
    LANES_UNROLL
    for (int i = 0; i < 4; i++) {
        const float *p = floats(a + i), *q = floats(b + i);
        lanes ta = lanes_load(p), tb = lanes_load(q);
        lanes sa = lanes_load(p + TRANSFORM_BEFORE_SCALE),
              sb = lanes_load(q + TRANSFORM_BEFORE_SCALE);
        translation[i] = v * ta + w * tb;
        scale[i] = v * sa + w * sb;
        ra[i] = lanes_load(p + TRANSFORM_ROTATION);
        rb[i] = lanes_load(q + TRANSFORM_ROTATION);
    }
    lanes dot = sum_entries(ra[0] * rb[0], ra[1] * rb[1], ra[2] * rb[2], ra[3] * rb[3]);
    lanes signed_w = lanes_select(dot < 0, -w, w); // q and -q are one rotation: take the near one
    LANES_UNROLL
    for (int i = 0; i < 4; i++) r[i] = v * ra[i] + lanes_all(signed_w[i]) * rb[i];
    lanes square = sum_entries(r[0] * r[0], r[1] * r[1], r[2] * r[2], r[3] * r[3]);
    // Unnormalised inputs apart, |r|^2 >= 1/2; a vanished one is left as it is rather than made
    // NaN.
    lanes scale_r = lanes_all(1) / lanes_sqrt(square);
    scale_r = lanes_select(square > 1e-30f, scale_r, lanes_all(1));
    LANES_UNROLL
    for (int i = 0; i < 4; i++) {
        float *p = (float *)(void *)(out + i);
        lanes_store(p + TRANSFORM_TRANSLATION, translation[i]);
        lanes_store(p + TRANSFORM_BEFORE_SCALE, scale[i]);
        lanes_store(p + TRANSFORM_ROTATION, r[i] * lanes_all(scale_r[i]));
    }
}

void cutis_pose_blend(const cutis_transform *a, const cutis_transform *b, float weight,
                      uint32_t count, cutis_transform *out)
{
    if (!a || !b || !out) return;
    uint32_t i = 0;
    for (; count - i >= 4; i += 4) blend4(a + i, b + i, weight, out + i);
    if (i == count) return;
    cutis_transform rest_a[4] = { { .rotation.w = 1 } }, rest_b[4] = { { .rotation.w = 1 } };
    memcpy(rest_a, a + i, (count - i) * sizeof *a);
    memcpy(rest_b, b + i, (count - i) * sizeof *b);
    blend4(rest_a, rest_b, weight, rest_a);
    memcpy(out + i, rest_a, (count - i) * sizeof *out);
}

// Matrices of four transforms; the rotation is normalised by 2 / |q|^2, without a root.
static void local4(const cutis_transform *transforms, cutis_mat34 *out)
{
    lanes t[4], r[4], s[4];
    LANES_UNROLL
    for (int i = 0; i < 4; i++) {
        const float *p = floats(transforms + i);
        t[i] = lanes_load(p + TRANSFORM_TRANSLATION);
        r[i] = lanes_load(p + TRANSFORM_ROTATION);
        s[i] = lanes_load(p + TRANSFORM_BEFORE_SCALE);
    }
    lanes_transpose(&t[0], &t[1], &t[2], &t[3]);
    lanes_transpose(&r[0], &r[1], &r[2], &r[3]);
    lanes_transpose(&s[0], &s[1], &s[2], &s[3]);
    lanes x = r[0], y = r[1], z = r[2], w = r[3], one = lanes_all(1);
    lanes square = ((x * x + y * y) + z * z) + w * w;
    lanes k = lanes_select(square > 0, lanes_all(2) / square, lanes_all(0));
    lanes xk = x * k, yk = y * k, zk = z * k;
    lanes wx = w * xk, wy = w * yk, wz = w * zk;
    lanes xx = x * xk, xy = x * yk, xz = x * zk, yy = y * yk, yz = y * zk, zz = z * zk;
    lanes row0[4] = { (one - (yy + zz)) * s[1], (xy - wz) * s[2], (xz + wy) * s[3], t[0] };
    lanes row1[4] = { (xy + wz) * s[1], (one - (xx + zz)) * s[2], (yz - wx) * s[3], t[1] };
    lanes row2[4] = { (xz - wy) * s[1], (yz + wx) * s[2], (one - (xx + yy)) * s[3], t[2] };
    lanes_transpose(&row0[0], &row0[1], &row0[2], &row0[3]);
    lanes_transpose(&row1[0], &row1[1], &row1[2], &row1[3]);
    lanes_transpose(&row2[0], &row2[1], &row2[2], &row2[3]);
    LANES_UNROLL
    for (int i = 0; i < 4; i++) {
        lanes_store(out[i].m + 0, row0[i]);
        lanes_store(out[i].m + 4, row1[i]);
        lanes_store(out[i].m + 8, row2[i]);
    }
}

// The sum is a tree, not a chain: the walk down a limb waits for it at every joint.
static inline void multiply_in_place(const cutis_mat34 *parent, cutis_mat34 *child)
{
    lanes c0 = lanes_load(child->m), c1 = lanes_load(child->m + 4), c2 = lanes_load(child->m + 8);
    const lanes_int last = { 0, 0, 0, -1 };
    LANES_UNROLL
    for (int row = 0; row < 3; row++) {
        lanes p = lanes_load(parent->m + 4 * row);
        lanes xy = LANES_SHUFFLE(p, p, 0, 0, 0, 0) * c0 + LANES_SHUFFLE(p, p, 1, 1, 1, 1) * c1;
        lanes zt = LANES_SHUFFLE(p, p, 2, 2, 2, 2) * c2 + (lanes)((lanes_int)p & last);
        lanes_store(child->m + 4 * row, xy + zt);
    }
}

// A pose that leaves a matrix node at rest means its matrix, shear and all. Blending and sampling
// may have moved the transform by rounding only: a few ULP, so 1e-6 of the largest entry is "at
// rest".
bool cutis_pose_rests(const cutis_model *model, const cutis_transform *transforms, uint32_t node)
{
    static const int PLACES[3] = { 0, 4, TRANSFORM_BEFORE_SCALE }; // ten floats, some twice
    const float *p = floats(&transforms[node]), *r = floats(&model->rest[node]);
    const lanes_int bits = { INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX };
    lanes_int good = { -1, -1, -1, -1 };
    LANES_UNROLL
    for (int i = 0; i < 3; i++) {
        const lanes rest = lanes_load(r + PLACES[i]), off = lanes_load(p + PLACES[i]) - rest;
        good &= (lanes)((lanes_int)off & bits) <= 1e-6f * (1 + (lanes)((lanes_int)rest & bits));
    }
    return (good[0] & good[1] & good[2] & good[3]) != 0;
}

// Driven nodes' own matrices, in place of the pose's.
static void drive_locals(const cutis_model *model, const cutis_transform *transforms,
                         cutis_drive drive, cutis_mat34 *world)
{
    cutis_drive_inputs inputs;
    cutis_drive_read(model, transforms, &inputs);
    for (uint32_t g = 0; g < cutis_drive_groups(model); g++) {
        const uint32_t *nodes, count = cutis_drive_nodes(model, g, &nodes);
        cutis_transform own[CUTIS_DRIVE_GROUP];
        cutis_mat34 matrices[CUTIS_DRIVE_GROUP];
        cutis_drive_evaluate(model, &inputs, g, false, own);
        local4(own, matrices), local4(own + 4, matrices + 4);
        for (uint32_t l = 0; l < count; l++)
            if (drive == CUTIS_DRIVE_ALL || cutis_pose_rests(model, transforms, nodes[l]))
                world[nodes[l]] = matrices[l];
    }
}

void cutis_pose_world(const cutis_model *model, const cutis_transform *transforms,
                      cutis_mat34 *world)
{
    cutis_pose_world_driven(model, transforms, CUTIS_DRIVE_RESTING, world);
}

void cutis_pose_world_driven(const cutis_model *model, const cutis_transform *transforms,
                             cutis_drive drive, cutis_mat34 *world)
{
    if (!model || !transforms || !world) return;
    const cutis_node *nodes = model->data.nodes;
    uint32_t count = model->data.node_count, i = 0;
    for (; count - i >= 4; i += 4) local4(transforms + i, world + i);
    if (i < count) {
        cutis_transform rest[4] = { { .rotation.w = 1 } };
        cutis_mat34 matrices[4];
        memcpy(rest, transforms + i, (count - i) * sizeof *rest);
        local4(rest, matrices);
        memcpy(world + i, matrices, (count - i) * sizeof *world);
    }
    for (uint32_t k = 0; k < model->matrix_count; k++) {
        uint32_t n = model->matrix_nodes[k];
        if (cutis_pose_rests(model, transforms, n)) world[n] = *nodes[n].matrix;
    }
    if (model->drive && drive != CUTIS_DRIVE_NONE) drive_locals(model, transforms, drive, world);
    for (uint32_t k = 0; k < model->step_count; k++)
        multiply_in_place(&world[model->steps[k].parent], &world[model->steps[k].node]);
}

// A name stands for one joint: the first match, and whether another node matches too. Joints go
// before other nodes.
static uint32_t match_name(const cutis_model_data *data, const char *name, uint32_t *found)
{
    uint32_t matches = 0;
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++) {
            uint32_t n = data->skins[s].joints[j];
            if (!data->nodes[n].name || strcmp(data->nodes[n].name, name) != 0) continue;
            if (matches && *found == n) continue;
            matches++;
            *found = n;
        }
    for (uint32_t n = 0; matches == 0 && n < data->node_count; n++)
        if (data->nodes[n].name && strcmp(data->nodes[n].name, name) == 0) {
            for (uint32_t m = n + 1; m < data->node_count; m++)
                if (data->nodes[m].name && strcmp(data->nodes[m].name, name) == 0) matches = 1;
            matches++;
            *found = n;
        }
    return matches;
}

// "#i" must mean the same node in every skin that has that many joints.
static uint32_t match_index(const cutis_model_data *data, const char *digits, uint32_t *found)
{
    uint64_t index = 0;
    uint32_t matches = 0;
    for (; *digits >= '0' && *digits <= '9' && index <= UINT32_MAX; digits++)
        index = 10 * index + (uint64_t)(*digits - '0');
    if (*digits) return 0;
    for (uint32_t s = 0; s < data->skin_count; s++) {
        if (index >= data->skins[s].joint_count) continue;
        uint32_t n = data->skins[s].joints[index];
        if (matches && *found == n) continue;
        matches++;
        *found = n;
    }
    return matches;
}

static void list_joints(const cutis_model_data *data, char *list, size_t capacity)
{
    size_t used = 0;
    for (uint32_t s = 0; s < data->skin_count && s < 1; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count && used < capacity; j++) {
            const char *name = data->nodes[data->skins[s].joints[j]].name;
            int length = name ? snprintf(list + used, capacity - used, "%s%s", j ? ", " : "", name)
                              : snprintf(list + used, capacity - used, "%s#%u", j ? ", " : "", j);
            used += (size_t)length;
        }
    for (uint32_t n = 0; data->skin_count == 0 && n < data->node_count && used < capacity; n++)
        if (data->nodes[n].name)
            used += (size_t)snprintf(list + used, capacity - used, "%s%s", used ? ", " : "",
                                     data->nodes[n].name);
    if (used >= capacity) memcpy(list + capacity - 4, "...", 4);
}

cutis_result cutis_model_find_joint(const cutis_model *model, const char *name, uint32_t *node)
{
    if (!model || !name || !node) return CUTIS_INVALID_ARGUMENT;
    const cutis_model_data *data = &model->data;
    uint32_t found = 0, matches = match_name(data, name, &found);
    if (matches == 0 && name[0] == '#' && name[1]) matches = match_index(data, name + 1, &found);
    if (matches == 1) {
        *node = found;
        return CUTIS_OK;
    }
    if (matches > 1)
        return cutis_fail(model->context, CUTIS_INVALID_ARGUMENT,
                          "joint \"%s\" is ambiguous: more than one node goes by it", name);
    char list[1024] = "none";
    list_joints(data, list, sizeof list);
    return cutis_fail(model->context, CUTIS_NOT_FOUND, "no joint \"%s\"; there are %s", name, list);
}
