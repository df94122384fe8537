/// From poses to bone matrices (world * inverse bind), in double: a chain of twenty float products
/// would by itself leave the 1e-5 within which bones count as rigid (docs/spec/blending.md 6.1).
/// Allocates nothing.
#include "deform/skin.h"
#include "device/compute.h"
#include "math/lanes.h"
#include "math/mat3.h"
#include "math/quat.h"
#include "math/svd3.h"
#include "model/drivers.h"

/// out = a b for rows of four, as pairs of lanes.
static inline void multiply_rows(const double *a, const double *b, double *out)
{
    double2 b0 = double2_load(b), b1 = double2_load(b + 4), b2 = double2_load(b + 8);
    double2 c0 = double2_load(b + 2), c1 = double2_load(b + 6), c2 = double2_load(b + 10);
    for (int r = 0; r < 3; r++, a += 4) {
        double2_store(out + 4 * r, a[0] * b0 + a[1] * b1 + a[2] * b2);
        double2_store(out + 4 * r + 2, a[0] * c0 + a[1] * c1 + a[2] * c2 + (double2){ 0.0, a[3] });
    }
}

/// Scale, rotate, translate. The quaternion may have any length; zero counts as no rotation.
static inline void local_matrix(const cutis_transform *t, double *m)
{
    double qx = t->rotation.x, qy = t->rotation.y, qz = t->rotation.z, qw = t->rotation.w;
    double length = qx * qx + qy * qy + qz * qz + qw * qw;
    double s = length > 0.0 ? 2.0 / length : 0.0;
    double x = qx * s, y = qy * s, z = qz * s;
    double xx = qx * x, yy = qy * y, zz = qz * z, xy = qx * y, xz = qx * z, yz = qy * z;
    double wx = qw * x, wy = qw * y, wz = qw * z;
    double sx = t->scale.x, sy = t->scale.y, sz = t->scale.z;
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): m is memory of the caller
    m[0] = (1.0 - (yy + zz)) * sx, m[1] = (xy - wz) * sy, m[2] = (xz + wy) * sz;
    m[4] = (xy + wz) * sx, m[5] = (1.0 - (xx + zz)) * sy, m[6] = (yz - wx) * sz;
    m[8] = (xz - wy) * sx, m[9] = (yz + wx) * sy, m[10] = (1.0 - (xx + yy)) * sz;
    m[3] = t->translation.x, m[7] = t->translation.y, m[11] = t->translation.z;
}

/// The matrix of a step whose node has one and is at rest; NULL: the pose's transform counts.
static const double *fixed_matrix(const cutis_skin_binding *binding, const cutis_transform *local,
                                  uint32_t step)
{
    const double *m = binding->step_matrix[step];
    return m && cutis_pose_rests(binding->base.model, local, binding->step_node[step]) ? m : NULL;
}

/// Whether a driven step is computed in this pose. Most that rest do so to the bit.
static bool is_driven(const cutis_skin_binding *binding, const cutis_transform *local, int32_t step)
{
    if (step < 0) return false;
    const uint32_t node = binding->step_node[step];
    const cutis_model *model = binding->base.model;
    return binding->base.options.drive == CUTIS_DRIVE_ALL ||
           memcmp(&local[node], &model->rest[node], sizeof *local) == 0 ||
           cutis_pose_rests(model, local, node);
}

static bool has_avx2(const cutis_skin_binding *binding)
{
    return binding->base.device->compute_width >= CUTIS_COMPUTE_AVX2;
}

/// World matrices of all steps. @param root a matrix above those without a parent, or NULL
/// @param worlds transforms of steps that can be driven stand where their matrices will
static void walk_steps(const cutis_skin_binding *binding, const cutis_transform *local,
                       const double *root, double *worlds)
{
    for (uint32_t k = 0; k < binding->step_count; k++) {
        cutis_transform driven;
        double own[12], *world = worlds + 12 * (size_t)k;
        const double *m = fixed_matrix(binding, local, k);
        int32_t parent = binding->step_parent[k];
        const double *above = parent < 0 ? root : worlds + 12 * (size_t)parent;
        double *target = above ? own : world;
        const cutis_transform *t = &local[binding->step_node[k]];
        if (binding->step_driver && binding->step_driver[k] >= 0)
            // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): each step has a world
            t = memcpy(&driven, world, sizeof driven);
        if (m)
            // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): the same
            memcpy(target, m, sizeof own);
        else
            local_matrix(t, target);
        if (above) multiply_rows(above, own, world);
    }
}

/// Transforms of steps that can be driven, to where their matrices will be.
static void drive_steps(const cutis_skin_binding *binding, const cutis_transform *local,
                        double *worlds)
{
    const cutis_model *model = binding->base.model;
    cutis_drive_inputs inputs;
    cutis_drive_read(model, local, &inputs);
    for (uint32_t g = 0; g < cutis_drive_groups(model); g++) {
        const uint32_t *nodes, count = cutis_drive_nodes(model, g, &nodes);
        const int32_t *steps = binding->driver_step + (size_t)g * CUTIS_DRIVE_GROUP;
        cutis_transform own[CUTIS_DRIVE_GROUP];
        bool driven[CUTIS_DRIVE_GROUP], any = false;
        for (uint32_t l = 0; l < count; l++) any |= driven[l] = is_driven(binding, local, steps[l]);
        if (any) cutis_drive_evaluate(model, &inputs, g, has_avx2(binding), own);
        for (uint32_t l = 0; l < count; l++)
            if (steps[l] >= 0)
                memcpy(worlds + 12 * (size_t)steps[l], driven[l] ? &own[l] : &local[nodes[l]],
                       sizeof *own);
    }
}

/// The rotation of a step, driven or not.
static cutis_quat step_rotation(const cutis_skin_binding *binding, const cutis_transform *local,
                                int32_t step)
{
    const int32_t place = binding->step_driver ? binding->step_driver[step] : -1;
    if (place < 0 || !is_driven(binding, local, step))
        return local[binding->step_node[step]].rotation;
    cutis_drive_inputs inputs;
    cutis_transform own[CUTIS_DRIVE_GROUP];
    cutis_drive_read(binding->base.model, local, &inputs);
    cutis_drive_evaluate(binding->base.model, &inputs, (uint32_t)place / CUTIS_DRIVE_GROUP,
                         has_avx2(binding), own);
    return own[place % CUTIS_DRIVE_GROUP].rotation;
}

void cutis_palette_local(const cutis_skin_binding *binding, const cutis_transform *local,
                         const cutis_transform *root, double *worlds, double *palette)
{
    const cutis_transform identity = cutis_transform_identity();
    double matrix[12], *above = NULL;
    if (root && memcmp(root, &identity, sizeof identity) != 0) local_matrix(root, above = matrix);
    if (binding->step_driver) drive_steps(binding, local, worlds);
    walk_steps(binding, local, above, worlds);
    for (uint32_t b = 0; b < binding->bone_count; b++) {
        const double *world = worlds + 12 * (size_t)binding->bone_step[b];
        double *out = palette + 12 * (size_t)b;
        if (binding->bone_plain[b])
            memcpy(out, world, 12 * sizeof *out);
        else
            multiply_rows(world, binding->inverse_binds + 12 * (size_t)b, out);
    }
}

void cutis_palette_transform(const cutis_transform *transform, double *matrix)
{
    local_matrix(transform, matrix);
}

void cutis_palette_world(const cutis_skin_binding *binding, const cutis_mat34 *world,
                         double *palette)
{
    for (uint32_t b = 0; b < binding->bone_count; b++) {
        double m[12], *out = palette + 12 * (size_t)b;
        double34_from_floats(world[binding->bone_node[b]].m, m);
        multiply_rows(m, binding->inverse_binds + 12 * (size_t)b, out);
    }
}

void cutis_palette_rotation(const cutis_skin_binding *binding, const cutis_transform *local,
                            const cutis_transform *root, uint32_t bone, double *quat)
{
    memcpy(quat, binding->bind_rotations + 4 * (size_t)bone, 4 * sizeof *quat);
    for (int32_t k = (int32_t)binding->bone_step[bone]; k >= 0; k = binding->step_parent[k]) {
        double q[4] = { 1, 0, 0, 0 }, linear[9], rotation[9];
        const double *m = fixed_matrix(binding, local, (uint32_t)k);
        if (m) {
            double34_linear(m, linear);
            if (cutis_polar3(linear, rotation)) cutis_quat_from_mat3(rotation, q);
        } else {
            const cutis_quat r = step_rotation(binding, local, k);
            if (r.x != 0.0f || r.y != 0.0f || r.z != 0.0f || r.w != 0.0f)
                q[0] = r.w, q[1] = r.x, q[2] = r.y, q[3] = r.z;
        }
        double_quat_multiply(q, quat, quat);
        double length =
            sqrt(quat[0] * quat[0] + quat[1] * quat[1] + quat[2] * quat[2] + quat[3] * quat[3]);
        for (int i = 0; i < 4; i++) quat[i] /= length;
    }
    if (root) {
        const cutis_quat r = root->rotation;
        const double q[4] = { r.w, r.x, r.y, r.z };
        const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        if (!(length > 0)) return;
        double_quat_multiply(q, quat, quat);
        for (int i = 0; i < 4; i++) quat[i] /= length;
    }
}

// L = R S to rounding, S symmetric, R proper.
bool cutis_bone_split(const double *matrix, const double *fallback, double *quat, double *stretch)
{
    double linear[9], rotation[9], s[9];
    double34_linear(matrix, linear);
    if (cutis_polar3(linear, rotation)) {
        cutis_quat_from_mat3(rotation, quat);
    } else {
        if (!fallback) return false;
        memcpy(quat, fallback, 4 * sizeof *quat);
        cutis_mat3_from_quat(quat, rotation);
    }
    double33_transpose_multiply(rotation, linear, s);
    stretch[0] = s[0], stretch[3] = s[4], stretch[5] = s[8];
    stretch[1] = 0.5 * (s[1] + s[3]); // equal to rounding, unless the rotation is the fallback
    stretch[2] = 0.5 * (s[2] + s[6]);
    stretch[4] = 0.5 * (s[5] + s[7]);
    return true;
}
