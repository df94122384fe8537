/// Prepares frames: poses into what a device runs with. Palettes and rotations per instance, then
/// rotation centres per bone set, both in parallel where it pays. Everything lives in a workspace
/// made at bind; nothing is allocated.
///
/// Invariant: what is written for an instance depends on its pose alone, not on threads or chunks.
#include "deform/binding.h"
#include "deform/split.h"
#include "math/mat3.h"

#include <float.h>

// All stretches equal sigma I within this: run the rigid formulas (blending spec 6.1).
static const double EVEN = 1e-6;
// Linear blending needs the distinction only to pick the rule for normals; the two rules differ by
// as much as the bones are uneven, so float noise of a palette that someone else made does not
// matter.
static const float EVEN_LINEAR = 1e-4f;
// A common scale closer to 1 than this is left in the matrices of linear blending: they keep their
// bits.
static const float SCALE_ONE = 1e-5f;
// Sets per task: some microseconds of work.
#define SETS_PER_TASK 64

typedef struct frame_job {
    const cutis_binding *binding;
    cutis_workspace *workspace;
    const cutis_poses *poses;
    uint32_t first, count, lanes;
    atomic_bool bad; ///< a matrix is not finite in float
} frame_job;

static bool all_finite(const float *values, size_t count)
{
    uint32_t worst = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        bits &= 0x7f800000u;
        worst = bits > worst ? bits : worst;
    }
    return worst < 0x7f800000u;
}

/// Float matrices of one instance, scaled by 1 / sigma.
static void write_matrices(const cutis_binding *binding, const double *palette, double sigma,
                           float *matrices)
{
    size_t count = 12 * (size_t)binding->bone_count;
    if (sigma == 1.0) {
        for (size_t i = 0; i < count; i++) matrices[i] = (float)palette[i];
    } else {
        double scale = 1.0 / sigma;
        for (size_t i = 0; i < count; i++) matrices[i] = (float)(palette[i] * scale);
    }
}

/// Linear blending: is every bone in use a scaled rotation, none mirrored (formats.md 1)?
/// @param sigma the largest scale
static bool evenly_scaled(const cutis_binding *binding, const float *matrices, float *sigma)
{
    float largest = 0.0f;
    for (uint32_t b = 0; b < binding->bone_count; b++) {
        if (!binding->bone_used[b]) continue;
        const float *m = matrices + 12 * (size_t)b;
        float xx = m[0] * m[0] + m[4] * m[4] + m[8] * m[8];
        float yy = m[1] * m[1] + m[5] * m[5] + m[9] * m[9];
        float zz = m[2] * m[2] + m[6] * m[6] + m[10] * m[10];
        float xy = m[0] * m[1] + m[4] * m[5] + m[8] * m[9];
        float xz = m[0] * m[2] + m[4] * m[6] + m[8] * m[10];
        float yz = m[1] * m[2] + m[5] * m[6] + m[9] * m[10];
        float square = (xx + yy + zz) * (1.0f / 3.0f), slack = EVEN_LINEAR * square;
        float determinant = m[0] * (m[5] * m[10] - m[6] * m[9]) +
                            m[1] * (m[6] * m[8] - m[4] * m[10]) +
                            m[2] * (m[4] * m[9] - m[5] * m[8]);
        bool even = fabsf(xx - square) <= slack && fabsf(yy - square) <= slack &&
                    fabsf(zz - square) <= slack && fabsf(xy) <= slack && fabsf(xz) <= slack &&
                    fabsf(yz) <= slack;
        if (!even || determinant < 0.0f) return false;
        largest = square > largest ? square : largest;
    }
    *sigma = sqrtf(largest);
    return true;
}

/// Matrices as they are, or divided by the largest scale so that raw normals are no longer than 1.
static void prepare_linear(const cutis_binding *binding, float *matrices, float *scale,
                           uint32_t *uneven)
{
    float sigma = 1.0f;
    *scale = 1.0f;
    *uneven = 0;
    if (binding->layout.normal_rule == CUTIS_NORMAL_NONE && !binding->layout.tangents) return;
    if (!evenly_scaled(binding, matrices, &sigma)) {
        *uneven = 1;
        return;
    }
    if (fabsf(sigma - 1.0f) <= SCALE_ONE || !(sigma > FLT_MIN)) return;
    for (size_t i = 0; i < 12 * (size_t)binding->bone_count; i++) matrices[i] /= sigma;
    *scale = sigma;
}

/// Do all bones in use equal sigma times a rotation, with one sigma?
static bool common_scale(const cutis_binding *binding, const double *palette, double *sigma)
{
    double low = INFINITY, high = -INFINITY, worst = 0.0;
    for (uint32_t b = 0; b < binding->bone_count; b++) {
        if (!binding->bone_used[b]) continue;
        cutis_bone_shape shape = cutis_bone_measure(palette + 12 * (size_t)b);
        low = shape.sigma < low ? shape.sigma : low;
        high = shape.sigma > high ? shape.sigma : high;
        worst = shape.uneven > worst ? shape.uneven : worst;
    }
    *sigma = 1.0;
    if (!(low <= high)) return true; // no bone is in use
    double middle = 0.5 * (low + high);
    if (!(fabs(middle) > FLT_MIN) || worst + (high - low) / fabs(2.0 * middle) > EVEN) return false;
    *sigma = (float)middle; // what the device multiplies by again
    return true;
}

static void write_dual(const double *matrix, double sigma, const double *q, float *dual)
{
    double x = 0.5 * matrix[3] / sigma, y = 0.5 * matrix[7] / sigma, z = 0.5 * matrix[11] / sigma;
    dual[0] = (float)(-(x * q[1] + y * q[2] + z * q[3]));
    dual[1] = (float)(x * q[0] + y * q[3] - z * q[2]);
    dual[2] = (float)(y * q[0] + z * q[1] - x * q[3]);
    dual[3] = (float)(z * q[0] + x * q[2] - y * q[1]);
}

/// A bone whose matrix defines no rotation: by the local rotations, or as the bone above it turns.
static void fallback_rotation(const cutis_binding *binding, const double *palette,
                              const cutis_transform *local, uint32_t bone, double *quat)
{
    double stretch[6];
    if (local) {
        cutis_palette_rotation(binding, local, bone, quat);
        return;
    }
    for (int32_t b = binding->bone_parent[bone]; b >= 0; b = binding->bone_parent[b])
        if (cutis_bone_split(palette + 12 * (size_t)b, NULL, quat, stretch)) return;
    quat[0] = 1.0, quat[1] = quat[2] = quat[3] = 0.0;
}

static void prepare_uneven(const cutis_binding *binding, const double *palette,
                           const cutis_transform *local, float *rotations, float *stretches)
{
    for (uint32_t b = 0; b < binding->bone_count; b++) {
        double quat[4] = { 1, 0, 0, 0 }, stretch[6] = { 0 }, fallback[4];
        const double *matrix = palette + 12 * (size_t)b;
        if (binding->bone_used[b] && !cutis_bone_split(matrix, NULL, quat, stretch)) {
            fallback_rotation(binding, palette, local, b, fallback);
            cutis_bone_split(matrix, fallback, quat, stretch);
        }
        for (int i = 0; i < 4; i++) rotations[4 * (size_t)b + i] = (float)quat[i];
        for (int i = 0; i < 6; i++) stretches[6 * (size_t)b + i] = (float)stretch[i];
    }
}

/// The methods that blend rotations: choose the path, take the bones apart.
static void prepare_turning(const cutis_binding *binding, cutis_workspace *w, uint32_t slot,
                            const double *palette, const cutis_transform *local)
{
    size_t bones = binding->bone_count;
    double sigma = 1.0;
    bool even = common_scale(binding, palette, &sigma);
    w->uneven[slot] = !even;
    w->scales[slot] = even ? (float)sigma : 1.0f;
    write_matrices(binding, palette, even ? sigma : 1.0, w->matrices + 12 * bones * slot);
    float *rotations = w->rotations + 4 * bones * slot;
    float *duals = w->duals ? w->duals + 4 * bones * slot : NULL;
    if (!even) {
        prepare_uneven(binding, palette, local, rotations, w->stretches + 6 * bones * slot);
        return;
    }
    for (uint32_t b = 0; b < bones; b++) {
        double quat[4] = { 1, 0, 0, 0 };
        if (binding->bone_used[b]) cutis_bone_turn(palette + 12 * (size_t)b, sigma, quat);
        for (int i = 0; i < 4; i++) rotations[4 * (size_t)b + i] = (float)quat[i];
        if (duals) write_dual(palette + 12 * (size_t)b, sigma, quat, duals + 4 * (size_t)b);
    }
}

static void prepare_instance(frame_job *job, uint32_t slot, uint32_t lane)
{
    const cutis_binding *binding = job->binding;
    cutis_workspace *w = job->workspace;
    size_t bones = binding->bone_count, nodes = binding->node_count, at = job->first + (size_t)slot;
    const cutis_poses *poses = job->poses;
    const cutis_transform *local = NULL;
    double *palette = w->palettes + 12 * bones * slot;
    float *matrices = w->matrices + 12 * bones * slot;
    bool linear = binding->layout.formula == CUTIS_FORMULA_LBS;
    if (poses->kind == CUTIS_POSE_LOCAL) {
        local = poses->local + nodes * at;
        cutis_palette_local(binding, local, w->worlds + 12 * (size_t)binding->step_count * lane,
                            palette);
    } else if (poses->kind == CUTIS_POSE_WORLD) {
        cutis_palette_world(binding, poses->matrices + nodes * at, palette);
    } else if (linear) {
        memcpy(matrices, poses->matrices + bones * at, 12 * bones * sizeof *matrices);
    } else {
        for (size_t b = 0; b < bones; b++)
            double34_from_floats(poses->matrices[bones * at + b].m, palette + 12 * b);
    }
    if (linear) {
        if (poses->kind != CUTIS_POSE_PALETTE) write_matrices(binding, palette, 1.0, matrices);
        prepare_linear(binding, matrices, &w->scales[slot], &w->uneven[slot]);
    } else {
        prepare_turning(binding, w, slot, palette, local);
    }
    bool finite = all_finite(matrices, 12 * bones);
    if (w->duals && !w->uneven[slot])
        finite = finite && all_finite(w->duals + 4 * bones * slot, 4 * bones);
    if (w->stretches && w->uneven[slot])
        finite = finite && all_finite(w->stretches + 6 * bones * slot, 6 * bones);
    if (!finite) atomic_store(&job->bad, true);
}

static void prepare_lane(void *data, uint32_t lane)
{
    frame_job *job = data;
    for (uint32_t slot = lane; slot < job->count; slot += job->lanes)
        prepare_instance(job, slot, lane);
}

/// Centres of up to SETS_PER_TASK sets of one instance.
static void solve_sets(void *data, uint32_t index)
{
    frame_job *job = data;
    const cutis_binding *binding = job->binding;
    uint32_t tasks = (binding->set_count + SETS_PER_TASK - 1) / SETS_PER_TASK;
    uint32_t slot = index / tasks, begin = index % tasks * SETS_PER_TASK;
    uint32_t end =
        begin + SETS_PER_TASK < binding->set_count ? begin + SETS_PER_TASK : binding->set_count;
    const double *palette = job->workspace->palettes + 12 * (size_t)binding->bone_count * slot;
    float *centres = job->workspace->centres + 4 * (size_t)binding->set_count * slot;
    for (uint32_t set = begin; set < end; set++) {
        uint32_t first = binding->set_first[set];
        double centre[3];
        cutis_centre_solve(palette, binding->set_bone + first, binding->set_first[set + 1] - first,
                           binding->set_reference + 3 * (size_t)set, binding->centre_limit, centre);
        for (int c = 0; c < 3; c++) centres[4 * (size_t)set + c] = (float)centre[c];
        centres[4 * (size_t)set + 3] = 0.0f;
    }
    if (!all_finite(centres + 4 * (size_t)begin, 4 * (size_t)(end - begin)))
        atomic_store(&job->bad, true);
    atomic_fetch_add_explicit(&((cutis_binding *)binding)->solve_count, end - begin,
                              memory_order_relaxed);
}

/// On the device's threads when there is work for more than one.
static void run(const frame_job *job, void (*task)(void *, uint32_t), uint32_t count,
                uint32_t worth)
{
    cutis_device *device = job->binding->device;
    if (count >= worth && job->binding->lane_count > 1)
        device->operations->run_tasks(device, task, (void *)job, count);
    else
        for (uint32_t i = 0; i < count; i++) task((void *)job, i);
}

bool cutis_frames_prepare(const cutis_binding *binding, cutis_workspace *workspace,
                          const cutis_poses *poses, uint32_t first, uint32_t count)
{
    frame_job job = {
        .binding = binding, .workspace = workspace, .poses = poses, .first = first, .count = count
    };
    job.lanes = count < 4 ? 1 : count < binding->lane_count ? count : binding->lane_count;
    atomic_init(&job.bad, false);
    run(&job, prepare_lane, job.lanes, 2);
    if (atomic_load(&job.bad)) return false;
    if (binding->layout.formula == CUTIS_FORMULA_SBS && binding->set_count > 0) {
        uint32_t tasks = (binding->set_count + SETS_PER_TASK - 1) / SETS_PER_TASK;
        run(&job, solve_sets, tasks * count, 3);
    }
    size_t targets = binding->layout.target_count;
    for (uint32_t i = 0; i < count && targets > 0; i++)
        memcpy(workspace->targets + targets * i,
               poses->morph_weights ? poses->morph_weights + targets * (first + (size_t)i)
                                    : binding->rest_targets,
               targets * sizeof(float));
    return !atomic_load(&job.bad);
}

bool cutis_workspace_create(cutis_binding *binding, cutis_workspace *w)
{
    size_t bones = binding->bone_count, capacity = binding->capacity;
    cutis_formula formula = binding->layout.formula;
    bool turning = formula != CUTIS_FORMULA_LBS;
    atomic_flag_clear(&w->busy);
    w->worlds = cutis_binding_alloc(binding, (size_t)binding->step_count * binding->lane_count,
                                    12 * sizeof(double));
    w->palettes = cutis_binding_alloc(binding, bones * capacity, 12 * sizeof(double));
    w->matrices = cutis_binding_alloc(binding, bones * capacity, 12 * sizeof(float));
    w->scales = cutis_binding_alloc(binding, capacity, sizeof(float));
    w->uneven = cutis_binding_alloc(binding, capacity, sizeof(uint32_t));
    w->targets =
        cutis_binding_alloc(binding, capacity * binding->layout.target_count, sizeof(float));
    if (!w->worlds || !w->palettes || !w->matrices || !w->scales || !w->uneven || !w->targets)
        return false;
    if (turning) {
        w->rotations = cutis_binding_alloc(binding, bones * capacity, 4 * sizeof(float));
        w->stretches = cutis_binding_alloc(binding, bones * capacity, 6 * sizeof(float));
        if (!w->rotations || !w->stretches) return false;
    }
    if (formula == CUTIS_FORMULA_DQS) {
        w->duals = cutis_binding_alloc(binding, bones * capacity, 4 * sizeof(float));
        if (!w->duals) return false;
    }
    if (formula == CUTIS_FORMULA_SBS) {
        w->centres = cutis_binding_alloc(binding, binding->set_count * capacity, 4 * sizeof(float));
        if (!w->centres) return false;
    }
    return true;
}
