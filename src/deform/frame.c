/// Prepares frames: poses into what a device runs with. Palettes and rotations per instance, then
/// rotation centres per bone set, both in parallel where it pays. Everything lives in a workspace
/// made at bind; nothing is allocated.
///
/// Invariant: what is written for an instance depends on its pose alone, not on threads or chunks.
#include "deform/skin.h"
#include "deform/finite.h"
#include "math/mat3.h"
#include "math/quat.h"

#include <cutis/clip.h>

#include <float.h>

// Stretches this close to sigma I run the rigid formulas (docs/spec/blending.md 6.1). Everyday
// files are rigid to 1e-6 .. 3e-6 only (rounded inverse binds): with 1e-6 they would switch paths
// from frame to frame. Bone matrices stay as they are on the uniform path, so what it neglects is
// this times the distance from the centre.
static const double UNIFORM = 1e-5;
// Linear blending needs the distinction only to pick the rule for normals; the two rules differ by
// as much as the bones are nonuniform, so float noise of a palette that someone else made does not
// matter.
static const float EVEN_LINEAR = 1e-4f;
// A common scale closer to 1 than this is left in the matrices of linear blending: they keep their
// bits.
static const float SCALE_ONE = 1e-5f;
// Groups of sets per task: some microseconds of work.
#define GROUPS_PER_TASK 16u

typedef struct frame_job {
    const cutis_skin_binding *binding;
    cutis_skin_workspace *workspace;
    const cutis_poses *poses;
    const cutis_transform *roots; ///< per pose, or NULL
    uint32_t first, count, lanes;
    const cutis_bone_work *work;
    bool rigid;         ///< palettes that need no look
    atomic_bool bad;    ///< a matrix is not finite in float
    atomic_bool scaled; ///< linear: some instance's matrices must be divided by their scale
} frame_job;

/// Float matrices of one instance, scaled by 1 / sigma.
static void write_matrices(const cutis_skin_binding *binding, const double *palette, double sigma,
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

typedef float float4 __attribute__((vector_size(16)));
typedef int32_t word4 __attribute__((vector_size(16)));

static inline float4 abs4(float4 a)
{
    return (float4)((word4)a & (word4){ INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX });
}

/// Four bones at a time: which are no scaled rotation, or mirrored; their squared scales.
static inline word4 measure4(const float *m, float4 *square)
{
#define ENTRY(i) ((float4){ m[i], m[12 + (i)], m[24 + (i)], m[36 + (i)] })
    float4 a = ENTRY(0), b = ENTRY(1), c = ENTRY(2), d = ENTRY(4), e = ENTRY(5), f = ENTRY(6);
    float4 g = ENTRY(8), h = ENTRY(9), k = ENTRY(10);
#undef ENTRY
    float4 xx = a * a + b * b + c * c, yy = d * d + e * e + f * f, zz = g * g + h * h + k * k;
    float4 xy = a * d + b * e + c * f, xz = a * g + b * h + c * k, yz = d * g + e * h + f * k;
    *square = (xx + yy + zz) * (1.0f / 3.0f);
    float4 slack = EVEN_LINEAR * *square;
    float4 determinant = a * (e * k - f * h) + b * (f * g - d * k) + c * (d * h - e * g);
    word4 uniform = (abs4(xx - *square) <= slack) & (abs4(yy - *square) <= slack) &
                    (abs4(zz - *square) <= slack) & (abs4(xy) <= slack) & (abs4(xz) <= slack) &
                    (abs4(yz) <= slack) & (determinant >= (float4){ 0 });
    return ~uniform;
}

/// Linear blending: is every bone in use a scaled rotation, none mirrored (docs/spec/conventions.md
/// 1)?
/// @param sigma the largest scale
static bool evenly_scaled(const cutis_skin_binding *binding, const float *matrices, float *sigma)
{
    const uint32_t bones = binding->bone_count;
    float4 largest = { 0 }, square;
    word4 bad = { 0 };
    float rest[48] = { 0 };
    for (uint32_t b = 0; b < bones; b += 4) {
        const uint32_t left = bones - b < 4 ? bones - b : 4;
        const float *m = matrices + 12 * (size_t)b;
        word4 used = { 0 };
        if (left == 4) {
            memcpy(&used, binding->bone_used + b, sizeof used);
        } else { // among zeros, which are uniform
            memcpy(&used, binding->bone_used + b, left * sizeof *binding->bone_used);
            m = memcpy(rest, m, 12 * left * sizeof *m);
        }
        bad |= measure4(m, &square) & used;
        square = (float4)((word4)square & used);
        largest =
            (float4)(((square > largest) & (word4)square) | (~(square > largest) & (word4)largest));
    }
    float most = largest[0];
    for (int i = 1; i < 4; i++) most = largest[i] > most ? largest[i] : most;
    *sigma = sqrtf(most);
    return !(bad[0] | bad[1] | bad[2] | bad[3]);
}

/// Chooses path and scale of one instance. Where it is not 1, matrices must be divided by it, so
/// that raw normals are no longer than 1.
static void measure_linear(const cutis_skin_binding *binding, const float *matrices, float *scale,
                           uint32_t *nonuniform)
{
    float sigma = 1.0f;
    *scale = 1.0f;
    *nonuniform = 0;
    if (binding->layout.normal_rule == CUTIS_NORMAL_NONE && !binding->layout.tangents) return;
    if (!evenly_scaled(binding, matrices, &sigma))
        *nonuniform = 1;
    else if (fabsf(sigma - 1.0f) > SCALE_ONE && sigma > FLT_MIN)
        *scale = sigma;
}

/// Do all bones in use equal sigma times a rotation, with one sigma?
/// @param squares |L|^2 of each, or NULL
static bool common_scale(const frame_job *job, const double *palette, double *squares,
                         double *sigma)
{
    cutis_bone_range r;
    job->work->shapes(palette, job->binding->bone_used, job->binding->bone_count, squares, &r);
    *sigma = 1.0;
    if (!(r.low <= r.high)) return true; // no bone is in use
    double middle = 0.5 * (r.low + r.high);
    if (!(fabs(middle) > FLT_MIN) || r.nonuniform + (r.high - r.low) / fabs(2.0 * middle) > UNIFORM)
        return false;
    *sigma = (float)middle; // what the device multiplies by again
    return true;
}

/// 0.5 (0, t) q, with the t that takes the bone's rest origin where its matrix takes it: what a
/// matrix is short of rigid then grows from there, not from the world's origin.
static void write_dual(const double *matrix, const double *origin, double sigma, const double *q,
                       float *dual)
{
    double rotation[9], image[3], turned[3];
    double34_point(matrix, origin, image);
    cutis_mat3_from_quat(q, rotation);
    double33_vector(rotation, origin, turned);
    double x = 0.5 * (image[0] / sigma - turned[0]);
    double y = 0.5 * (image[1] / sigma - turned[1]);
    double z = 0.5 * (image[2] / sigma - turned[2]);
    dual[0] = (float)(-(x * q[1] + y * q[2] + z * q[3]));
    dual[1] = (float)(x * q[0] + y * q[3] - z * q[2]);
    dual[2] = (float)(y * q[0] + z * q[1] - x * q[3]);
    dual[3] = (float)(z * q[0] + x * q[2] - y * q[1]);
}

/// A bone whose matrix defines no rotation: by the local rotations, or as the bone above it turns.
static void fallback_rotation(const cutis_skin_binding *binding, const double *palette,
                              const cutis_transform *local, const cutis_transform *root,
                              uint32_t bone, double *quat)
{
    double stretch[6];
    if (local) {
        cutis_palette_rotation(binding, local, root, bone, quat);
        return;
    }
    for (int32_t b = binding->bone_parent[bone]; b >= 0; b = binding->bone_parent[b])
        if (cutis_bone_split(palette + 12 * (size_t)b, NULL, quat, stretch)) return;
    quat[0] = 1.0, quat[1] = quat[2] = quat[3] = 0.0;
}

static void prepare_nonuniform(const cutis_skin_binding *binding, const double *palette,
                               const cutis_transform *local, const cutis_transform *root,
                               float *rotations, float *stretches)
{
    for (uint32_t b = 0; b < binding->bone_count; b++) {
        double quat[4] = { 1, 0, 0, 0 }, stretch[6] = { 0 }, fallback[4];
        const double *matrix = palette + 12 * (size_t)b;
        if (binding->bone_used[b] && !cutis_bone_split(matrix, NULL, quat, stretch)) {
            fallback_rotation(binding, palette, local, root, b, fallback);
            cutis_bone_split(matrix, fallback, quat, stretch);
        }
        for (int i = 0; i < 4; i++) rotations[4 * (size_t)b + i] = (float)quat[i];
        for (int i = 0; i < 6; i++) stretches[6 * (size_t)b + i] = (float)stretch[i];
    }
}

/// Rotations of uniformly scaled bones, and their duals; bones that are not in use do not turn.
static void prepare_even(const frame_job *job, uint32_t slot, const double *palette, double sigma)
{
    const cutis_skin_binding *binding = job->binding;
    cutis_skin_workspace *w = job->workspace;
    size_t bones = binding->bone_count;
    double *quats = w->quats + 4 * bones * slot;
    float *rotations = w->rotations + 4 * bones * slot;
    job->work->turns(palette, binding->bone_count, sigma, quats);
    for (size_t b = 0; b < bones; b++)
        if (!binding->bone_used[b])
            memcpy(quats + 4 * b, (const double[4]){ 1, 0, 0, 0 }, 4 * sizeof *quats);
    for (size_t i = 0; i < 4 * bones; i++) rotations[i] = (float)quats[i];
    if (!w->duals) return;
    float *duals = w->duals + 4 * bones * slot;
    for (size_t b = 0; b < bones; b++)
        write_dual(palette + 12 * b, binding->origins + 3 * b, sigma, quats + 4 * b, duals + 4 * b);
}

/// The methods that blend rotations: choose the path, take the bones apart.
static void prepare_turning(const frame_job *job, uint32_t slot, const double *palette,
                            const cutis_transform *local)
{
    const cutis_skin_binding *binding = job->binding;
    cutis_skin_workspace *w = job->workspace;
    size_t bones = binding->bone_count;
    double sigma = 1.0;
    bool uniform =
        common_scale(job, palette, w->squares ? w->squares + bones * slot : NULL, &sigma);
    w->nonuniform[slot] = !uniform;
    w->scales[slot] = uniform ? (float)sigma : 1.0f;
    write_matrices(binding, palette, uniform ? sigma : 1.0, w->matrices + 12 * bones * slot);
    if (uniform)
        prepare_even(job, slot, palette, sigma);
    else
        prepare_nonuniform(binding, palette, local,
                           job->roots ? job->roots + job->first + slot : NULL,
                           w->rotations + 4 * bones * slot, w->stretches + 6 * bones * slot);
}

/// Bone matrices of one instance as doubles. @return the local pose, if there is one
static const cutis_transform *load_palette(const frame_job *job, uint32_t slot, uint32_t lane)
{
    const cutis_skin_binding *binding = job->binding;
    const cutis_poses *poses = job->poses;
    size_t bones = binding->bone_count, nodes = binding->node_count, at = job->first + (size_t)slot;
    double *palette = job->workspace->palettes + 12 * bones * slot;
    const cutis_transform *local =
        poses->kind == CUTIS_POSE_LOCAL ? poses->local + nodes * at : NULL;
    if (local)
        cutis_palette_local(binding, local, job->roots ? job->roots + at : NULL,
                            job->workspace->worlds + 12 * (size_t)binding->step_count * lane,
                            palette);
    else if (poses->kind == CUTIS_POSE_WORLD)
        cutis_palette_world(binding, poses->matrices + nodes * at, palette);
    else
        for (size_t b = 0; b < bones; b++)
            double34_from_floats(poses->matrices[bones * at + b].m, palette + 12 * b);
    if (poses->kind != CUTIS_POSE_PALETTE && binding->handle_skin_count)
        cutis_handles_palette(binding, palette,
                              job->workspace->handle_scratch + CUTIS_HANDLE_SCRATCH * bones * lane);
    return local;
}

static void copy_targets(const frame_job *job, uint32_t slot)
{
    const cutis_skin_binding *binding = job->binding;
    const size_t targets = binding->target_count, at = job->first + (size_t)slot;
    const float *given = job->poses->morph_weights;
    if (targets > 0)
        memcpy(job->workspace->targets + binding->layout.target_count * (size_t)slot,
               given ? given + targets * at : binding->rest_targets, targets * sizeof(float));
    if (binding->drives_weights && job->poses->kind == CUTIS_POSE_LOCAL)
        cutis_pose_drive_weights(binding->base.model, binding->base.options.drive,
                                 job->poses->local + binding->node_count * at,
                                 job->workspace->targets +
                                     binding->layout.target_count * (size_t)slot);
}

static void prepare_instance(frame_job *job, uint32_t slot, uint32_t lane)
{
    const cutis_skin_binding *binding = job->binding;
    cutis_skin_workspace *w = job->workspace;
    size_t bones = binding->bone_count;
    float *matrices = w->matrices + 12 * bones * slot;
    if (binding->layout.formula == CUTIS_FORMULA_LBS && job->poses->kind == CUTIS_POSE_PALETTE) {
        // Already checked, and used where they are unless they must be scaled.
        const cutis_mat34 *palette = job->poses->matrices + bones * (job->first + (size_t)slot);
        w->scales[slot] = 1.0f, w->nonuniform[slot] = 0;
        if (job->rigid || bones == 0) return;
        measure_linear(binding, palette->m, &w->scales[slot], &w->nonuniform[slot]);
        if (w->scales[slot] != 1.0f) atomic_store(&job->scaled, true);
        return;
    }
    const cutis_transform *local = load_palette(job, slot, lane);
    const double *palette = w->palettes + 12 * bones * slot;
    if (binding->play) cutis_pose_space_prepare(binding, w, local, slot, lane);
    if (binding->layout.formula == CUTIS_FORMULA_LBS) {
        write_matrices(binding, palette, 1.0, matrices);
        measure_linear(binding, matrices, &w->scales[slot], &w->nonuniform[slot]);
        if (w->scales[slot] != 1.0f) write_matrices(binding, palette, w->scales[slot], matrices);
    } else {
        prepare_turning(job, slot, palette, local);
    }
    bool finite = floats_finite(matrices, 12 * bones);
    if (w->duals && !w->nonuniform[slot])
        finite = finite && floats_finite(w->duals + 4 * bones * slot, 4 * bones);
    if (w->stretches && w->nonuniform[slot])
        finite = finite && floats_finite(w->stretches + 6 * bones * slot, 6 * bones);
    if (!finite) atomic_store(&job->bad, true);
}

static void prepare_lane(void *data, uint32_t lane)
{
    frame_job *job = data;
    for (uint32_t slot = lane; slot < job->count; slot += job->lanes) {
        copy_targets(job, slot);
        prepare_instance(job, slot, lane);
    }
}

static uint32_t tasks_per_instance(const cutis_skin_binding *binding)
{
    return (binding->group_count + GROUPS_PER_TASK - 1) / GROUPS_PER_TASK;
}

/// Centres of up to GROUPS_PER_TASK groups of one instance.
static void solve_groups(void *data, uint32_t index)
{
    frame_job *job = data;
    const cutis_skin_binding *binding = job->binding;
    uint32_t tasks = tasks_per_instance(binding), slot = index / tasks;
    uint32_t begin = index % tasks * GROUPS_PER_TASK, end = begin + GROUPS_PER_TASK, solved = 0;
    if (end > binding->group_count) end = binding->group_count;
    const double *palette = job->workspace->palettes + 12 * (size_t)binding->bone_count * slot;
    const double *squares = job->workspace->squares + (size_t)binding->bone_count * slot;
    float *centres = job->workspace->centres + 4 * (size_t)binding->set_count * slot;
    bool finite = true;
    for (uint32_t group = begin; group < end; group++) {
        const uint32_t first = binding->group_first[group], size = binding->group_size[group];
        const uint32_t *sets = binding->group_set + CUTIS_CENTRE_LANES * (size_t)group;
        double out[3 * CUTIS_CENTRE_LANES];
        const cutis_centre_group given = {
            .palette = palette,
            .squares = squares,
            .bones = binding->group_bone + CUTIS_CENTRE_LANES * (size_t)first,
            .reference = binding->group_reference + 3 * CUTIS_CENTRE_LANES * (size_t)group,
            .count = binding->group_first[group + 1] - first,
            .set_count = size,
            .limit = binding->centre_limit,
        };
        cutis_centre_solve(job->work, &given, out);
        for (uint32_t lane = 0; lane < size; lane++) {
            float *centre = centres + 4 * (size_t)sets[lane];
            for (uint32_t c = 0; c < 3; c++) centre[c] = (float)out[CUTIS_CENTRE_LANES * c + lane];
            centre[3] = 0.0f;
            finite = finite && floats_finite(centre, 4);
        }
        solved += size;
    }
    if (!finite) atomic_store(&job->bad, true);
    atomic_fetch_add_explicit(&((cutis_skin_binding *)binding)->solve_count, solved,
                              memory_order_relaxed);
}

/// Linear blending of palettes: the caller's matrices, or scaled copies of all of them.
static void place_matrices(const frame_job *job)
{
    const cutis_skin_binding *binding = job->binding;
    cutis_skin_workspace *w = job->workspace;
    size_t bones = binding->bone_count;
    w->run_matrices = w->matrices;
    if (binding->layout.formula != CUTIS_FORMULA_LBS || job->poses->kind != CUTIS_POSE_PALETTE ||
        bones == 0)
        return;
    const float *given = job->poses->matrices[bones * job->first].m;
    if (!atomic_load(&job->scaled)) {
        w->run_matrices = given;
        return;
    }
    for (size_t i = 0; i < 12 * bones * job->count; i++)
        w->matrices[i] = given[i] / w->scales[i / (12 * bones)];
}

bool cutis_frames_prepare(const cutis_skin_binding *binding, cutis_skin_workspace *workspace,
                          const cutis_poses *poses, const cutis_transform *roots, uint32_t first,
                          uint32_t count, bool rigid)
{
    frame_job job = { .binding = binding,
                      .workspace = workspace,
                      .poses = poses,
                      .roots = roots,
                      .first = first,
                      .count = count,
                      .work = cutis_device_bone_work(binding->base.device),
                      .rigid = rigid };
    job.lanes = count < 4 ? 1 : count < binding->lane_count ? count : binding->lane_count;
    atomic_init(&job.bad, false);
    atomic_init(&job.scaled, false);
    cutis_device_run(binding->base.device, prepare_lane, &job, job.lanes);
    if (atomic_load(&job.bad)) return false;
    place_matrices(&job);
    if (binding->layout.formula == CUTIS_FORMULA_SBS)
        cutis_device_run(binding->lane_count > 1 ? binding->base.device : NULL, solve_groups, &job,
                         tasks_per_instance(binding) * count);
    return !atomic_load(&job.bad);
}

bool cutis_frames_workspace(cutis_skin_binding *binding, cutis_skin_workspace *w)
{
    const size_t capacity = binding->base.capacity, bones = binding->bone_count * capacity;
    const size_t lanes = binding->lane_count, sets = binding->set_count * capacity;
    const cutis_formula formula = binding->layout.formula;
    const bool turning = formula != CUTIS_FORMULA_LBS, sbs = formula == CUTIS_FORMULA_SBS;
    const struct {
        void *array; ///< address of its pointer
        bool wanted;
        size_t count, item;
    } all[] = {
        { &w->worlds, true, binding->step_count * lanes, 12 * sizeof(double) },
        { &w->palettes, true, bones, 12 * sizeof(double) },
        { &w->matrices, true, bones, 12 * sizeof(float) },
        { &w->scales, true, capacity, sizeof(float) },
        { &w->nonuniform, true, capacity, sizeof(uint32_t) },
        { &w->targets, true, capacity * binding->layout.target_count, sizeof(float) },
        { &w->handle_scratch, binding->handle_skin_count > 0, binding->bone_count * lanes,
          CUTIS_HANDLE_SCRATCH * sizeof(double) },
        { &w->rotations, turning, bones, 4 * sizeof(float) },
        { &w->stretches, turning, bones, 6 * sizeof(float) },
        { &w->quats, turning, bones, 4 * sizeof(double) },
        { &w->duals, formula == CUTIS_FORMULA_DQS, bones, 4 * sizeof(float) },
        { &w->centres, sbs, sets, 4 * sizeof(float) },
        { &w->squares, sbs, bones, sizeof(double) },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i].wanted) continue;
        void *memory = cutis_binding_alloc(&binding->base, all[i].count, all[i].item);
        if (!memory) return false;
        memcpy(all[i].array, &memory, sizeof memory);
    }
    return true;
}
