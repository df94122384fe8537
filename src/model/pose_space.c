// The pose space of a model. Invariant: after the gate every count fits its arrays and every
// displaced mesh has the morph targets that its poses name. Nothing here depends on threads.
#include "model/pose_space.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "math/quat.h"
#include "model/validate.h"

// Random poses that denominators are looked at (docs/spec/pose-space.md 5.2); fewer where the table
// would be large.
#define QUERIES       1000u
#define QUERY_ENTRIES (1u << 22)
// Translations count from here, in mean bone lengths: below is rounding of a rig that only turns.
static const double STILL = 1e-6;

static cutis_result check_joints(cutis_context *context, const cutis_model_data *data)
{
    const cutis_pose_space *space = data->pose_space;
    uint8_t *seen = cutis_alloc_zero(context, data->node_count, 1);
    if (!seen) return cutis_alloc_result(context);
    cutis_result result = CUTIS_OK;
    for (uint32_t j = 0; j < space->joint_count && result == CUTIS_OK; j++) {
        uint32_t node = space->joints[j];
        if (node >= data->node_count || seen[node])
            result = CORRUPT("pose_space: joint %u is node %u, which %s", j, node,
                             node >= data->node_count ? "is not there" : "is there already");
        else
            seen[node] = 1;
    }
    cutis_free_array(context, seen, data->node_count, 1);
    return result;
}

cutis_result cutis_validate_pose_space(cutis_context *context, const cutis_model_data *data)
{
    const cutis_pose_space *space = data->pose_space;
    if (!space) return CUTIS_OK;
    if (space->joint_count < 1 || space->pose_count < 2)
        FAIL("pose_space: %u joints, %u poses; one and two are the least", space->joint_count,
             space->pose_count);
    if (space->joint_count > CUTIS_POSE_SPACE_JOINTS || space->pose_count > CUTIS_POSE_SPACE_POSES)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED,
                          "pose_space: %u joints, %u poses; %d and %d are the most",
                          space->joint_count, space->pose_count, CUTIS_POSE_SPACE_JOINTS,
                          CUTIS_POSE_SPACE_POSES);
    if (!space->joints || !space->rotations || (data->mesh_count && !space->targets))
        FAIL("pose_space: joints, rotations or targets are missing");
    if ((unsigned)space->kernel > CUTIS_POSE_GAUSSIAN ||
        (unsigned)space->distance > CUTIS_POSE_EULER)
        FAIL("pose_space: unknown kernel or distance");
    if (!(space->sigma >= 0 && space->sigma <= 1e6f)) FAIL("pose_space: sigma is out of range");
    if (space->field_count >= space->pose_count || !space->field_count != !space->coefficients)
        FAIL("pose_space: %u fields of %u poses, %s coefficients", space->field_count,
             space->pose_count, space->coefficients ? "with" : "without");
    size_t numbers = (size_t)(space->pose_count - 1) * space->field_count;
    if (space->coefficients && cutis_first_not_finite(space->coefficients, numbers) < numbers)
        FAIL("pose_space: a coefficient is not finite");
    for (uint32_t m = 0; m < data->mesh_count; m++) {
        int32_t first = space->targets[m];
        if (first == CUTIS_NONE) continue;
        if (first < 0 || (uint64_t)first + cutis_pose_targets(space) > data->meshes[m].target_count)
            FAIL("pose_space: mesh %u needs morph targets %d and %u more, it has %u", m, first,
                 cutis_pose_targets(space) - 1, data->meshes[m].target_count);
    }
    size_t entries = (size_t)space->pose_count * space->joint_count;
    for (size_t i = 0; i < entries; i++)
        if (!cutis_quat_usable(&space->rotations[i].x))
            FAIL("pose_space: rotation %zu of pose %zu has no length or is not finite",
                 i % space->joint_count, i / space->joint_count);
    if (space->translations &&
        cutis_first_not_finite(&space->translations[0].x, 3 * entries) < 3 * entries)
        FAIL("pose_space: a translation is not finite");
    return check_joints(context, data);
}

static void unit_quat(const cutis_quat *q, double *out)
{
    double w = q->w, x = q->x, y = q->y, z = q->z;
    double length = sqrt(w * w + x * x + y * y + z * z);
    if (!(length > 0)) w = 1, length = 1;
    out[0] = w / length, out[1] = x / length, out[2] = y / length, out[3] = z / length;
}

static double mean_bone_length(const cutis_model *model, const cutis_pose_space *space)
{
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t j = 0; j < space->joint_count; j++) {
        if (model->data.nodes[space->joints[j]].parent == CUTIS_NONE) continue;
        cutis_float3 t = model->rest[space->joints[j]].translation;
        sum += sqrt((double)t.x * t.x + (double)t.y * t.y + (double)t.z * t.z);
        count++;
    }
    return count ? sum / count : 0;
}

// The translation of a joint that none of the others carries moves the whole body, which is no
// change of pose.
static void find_slides(const cutis_model *model, const cutis_pose_space *space, double length,
                        uint8_t *slides)
{
    for (uint32_t j = 0; j < space->joint_count; j++) {
        int32_t above = model->data.nodes[space->joints[j]].parent;
        slides[j] = 0;
        for (; above != CUTIS_NONE && !slides[j]; above = model->data.nodes[above].parent)
            for (uint32_t k = 0; k < space->joint_count; k++)
                if (space->joints[k] == (uint32_t)above) slides[j] = 1;
        if (!space->translations || !(length > 0)) slides[j] = 0;
    }
}

bool cutis_pose_measure_create(const cutis_model *model, const cutis_pose_space *space,
                               cutis_arena *arena, cutis_pose_measure *out)
{
    const size_t joints = space->joint_count, entries = joints * space->pose_count;
    double *inverse = cutis_arena_alloc(arena, joints, 4 * sizeof *inverse);
    double *rotations = cutis_arena_alloc(arena, entries, 4 * sizeof *rotations);
    double *places = cutis_arena_alloc(arena, entries, 3 * sizeof *places);
    uint8_t *slides = cutis_arena_alloc(arena, joints, 1);
    const double length = mean_bone_length(model, space);
    if (!inverse || !rotations || !places || !slides) return false;
    find_slides(model, space, length, slides);
    for (size_t j = 0; j < joints; j++) {
        double *q = inverse + 4 * j;
        unit_quat(&model->rest[space->joints[j]].rotation, q);
        q[1] = -q[1], q[2] = -q[2], q[3] = -q[3];
    }
    for (size_t i = 0; i < entries; i++) {
        double q[4];
        unit_quat(&space->rotations[i], q);
        double_quat_multiply(inverse + 4 * (i % joints), q, rotations + 4 * i);
        for (int c = 0; c < 3; c++)
            places[3 * i + (size_t)c] = space->translations ? (&space->translations[i].x)[c] : 0.0;
    }
    *out = (cutis_pose_measure){ .pose_count = space->pose_count,
                                 .joint_count = space->joint_count,
                                 .distance = (cutis_rbf_distance)space->distance,
                                 .bone_length = length,
                                 .slides = slides,
                                 .joints = space->joints,
                                 .inverse_rests = inverse,
                                 .rotations = rotations,
                                 .places = places };
    return true;
}

// One joint's rotation (from rest) and place against an example's.
static double joint_square(const cutis_pose_measure *m, size_t entry, const double *rotation,
                           const double *place)
{
    double square = cutis_rbf_angle_square(m->distance, rotation, m->rotations + 4 * entry);
    if (!m->slides[entry % m->joint_count]) return square;
    double sum = 0;
    for (int c = 0; c < 3; c++) {
        double d = (place[c] - m->places[3 * entry + (size_t)c]) / m->bone_length;
        sum += d * d;
    }
    return sum > STILL * STILL ? square + sum : square;
}

void cutis_pose_squares(const cutis_pose_measure *m, const cutis_transform *local, double *squares)
{
    for (uint32_t j = 0; j < m->joint_count; j++) {
        const cutis_transform *t = &local[m->joints[j]];
        double q[4], place[3] = { t->translation.x, t->translation.y, t->translation.z };
        unit_quat(&t->rotation, q);
        double_quat_multiply(m->inverse_rests + 4 * (size_t)j, q, q);
        for (uint32_t k = 0; k < m->pose_count; k++) {
            size_t entry = (size_t)k * m->joint_count + j;
            squares[entry] = joint_square(m, entry, q, place);
        }
    }
}

// splitmix64: numbers in [-1, 1).
static double next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    z ^= z >> 31;
    return (double)(z >> 11) * 0x1p-52 - 1;
}

bool cutis_pose_table_create(const cutis_pose_measure *m, cutis_arena *arena, cutis_pose_table *out)
{
    const size_t joints = m->joint_count, poses = m->pose_count, entries = joints * poses;
    size_t total;
    uint32_t queries = (uint32_t)(QUERY_ENTRIES / entries);
    queries = queries > QUERIES ? QUERIES : queries < 16 ? 16 : queries;
    double *squares = cutis_size_multiply(entries, poses, &total)
                          ? cutis_arena_alloc(arena, total, sizeof *squares)
                          : NULL;
    double *query = cutis_arena_alloc(arena, entries, queries * sizeof *query);
    if (!squares || !query) return false;
    for (size_t k = 0; k < poses; k++)
        for (size_t i = 0; i < entries; i++) {
            size_t own = k * joints + i % joints;
            squares[k * entries + i] =
                joint_square(m, i, m->rotations + 4 * own, m->places + 3 * own);
        }
    uint64_t state = 1;
    for (size_t r = 0; r < queries; r++)
        for (size_t j = 0; j < joints; j++) {
            double q[4], length = 0;
            for (int c = 0; c < 4; c++) q[c] = next_random(&state), length += q[c] * q[c];
            // A pose in two stays near one of the examples in most joints.
            size_t near = ((r / 2) % poses) * joints + j;
            if (r % 2 && (r + j) % 4) memcpy(q, m->rotations + 4 * near, sizeof q), length = 1;
            for (int c = 0; c < 4; c++) q[c] /= sqrt(length > 0 ? length : 1);
            for (size_t k = 0; k < poses; k++)
                query[r * entries + k * joints + j] =
                    joint_square(m, k * joints + j, q, m->places + 3 * near);
        }
    *out = (cutis_pose_table){ .pose_count = m->pose_count,
                               .joint_count = m->joint_count,
                               .squares = squares,
                               .query_count = queries,
                               .query_squares = query };
    return true;
}
