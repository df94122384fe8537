/// Sampling motions into channels. Keys hold what the motion's formula gives at their time; cubic
/// tangents are Catmull-Rom from the neighbouring keys (beyond the ends too), so cyclic motions
/// stay smooth where they close.
#include "synth/clips.h"

#include "base/error.h"
#include "geometry/sincos.h"

#include <string.h>

void cutis_synth_pose_clear(clip_pose *pose)
{
    for (int j = 0; j < SYNTH_JOINT_MAX; j++) pose->rotations[j] = (synth_quat){ 0, 0, 0, 1 };
    pose->offset = v3(0, 0, 0);
}

void cutis_synth_turn(const synth_skeleton *skeleton, clip_pose *pose, const char *name, int side,
                      vec3 v)
{
    if (side < 0) v = v3(v.x, -v.y, -v.z);
    for (int j = 0; j < skeleton->joint_count; j++) {
        const synth_joint *joint = &skeleton->joints[j];
        if (joint->side != side || strcmp(skeleton->rows[joint->row]->name, name) != 0) continue;
        pose->rotations[j] = cutis_synth_quat_multiply(pose->rotations[j], cutis_synth_rotation(v));
    }
}

double cutis_synth_sine(double turns)
{
    double s, c;
    sincos_degrees(360 * turns, &s, &c);
    return s;
}

double cutis_synth_swing(double turns)
{
    double s, c;
    sincos_degrees(360 * turns, &s, &c);
    return (1 - c) / 2;
}

double cutis_synth_cycle(const double table[16], double t)
{
    double x = t * 16;
    long long cell = (long long)x;
    if ((double)cell > x) cell--;
    double f = x - (double)cell, p[4];
    for (int i = 0; i < 4; i++) p[i] = table[(cell + i + 15) & 15];
    return p[1] + 0.5 * f *
                      (p[2] - p[0] +
                       f * (2 * p[0] - 5 * p[1] + 4 * p[2] - p[3] +
                            f * (3 * (p[1] - p[2]) + p[3] - p[0])));
}

double cutis_synth_smoothstep(double t)
{
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    return t * t * (3 - 2 * t);
}

/// Keys from one before the first to one after the last, so that tangents need no special case.
typedef struct samples {
    clip_pose *poses;
    uint32_t count; ///< keys proper; poses has two more
} samples;

static cutis_result take_samples(cutis_arena *arena, const synth_skeleton *skeleton,
                                 const clip_row *row, samples *out)
{
    out->count = row->intervals + 1;
    out->poses = cutis_arena_alloc(arena, (size_t)out->count + 2, sizeof *out->poses);
    if (!out->poses) return cutis_alloc_result(arena->context);
    for (uint32_t i = 0; i < out->count + 2; i++) {
        cutis_synth_pose_clear(&out->poses[i]);
        double t = ((double)i - 1) / (double)row->intervals;
        if (row->span > 0) t *= row->span;
        row->function(skeleton, row->start + t, &out->poses[i]);
        if (i == 0) continue;
        // Neighbouring keys on the same side of the double cover, or interpolation would take the
        // long way.
        for (int j = 0; j < skeleton->joint_count; j++) {
            synth_quat *q = &out->poses[i].rotations[j], p = out->poses[i - 1].rotations[j];
            if (p.x * q->x + p.y * q->y + p.z * q->z + p.w * q->w < 0)
                *q = (synth_quat){ -q->x, -q->y, -q->z, -q->w };
        }
    }
    return CUTIS_OK;
}

/// The values of one channel at sample i.
static void read_value(const synth_skeleton *skeleton, const samples *s, int joint, cutis_path path,
                       uint32_t i, double *out)
{
    if (path == CUTIS_PATH_ROTATION) {
        synth_quat q = s->poses[i].rotations[joint];
        out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
        return;
    }
    vec3 place = v3_scale(v3_add(skeleton->joints[joint].pivot, s->poses[i].offset), 1e-3);
    out[0] = place.x, out[1] = place.y, out[2] = place.z;
}

static bool moves(const synth_skeleton *skeleton, const samples *s, int joint, cutis_path path)
{
    double at[4] = { 0 }, rest[4] = { 0, 0, 0, 1 };
    if (path == CUTIS_PATH_TRANSLATION) {
        vec3 pivot = v3_scale(skeleton->joints[joint].pivot, 1e-3);
        rest[0] = pivot.x, rest[1] = pivot.y, rest[2] = pivot.z, rest[3] = 0;
    }
    for (uint32_t i = 1; i <= s->count; i++) {
        read_value(skeleton, s, joint, path, i, at);
        for (int k = 0; k < 4; k++)
            if (at[k] - rest[k] > 1e-9 || at[k] - rest[k] < -1e-9) return true;
    }
    return false;
}

static float *channel_values(cutis_arena *arena, const synth_skeleton *skeleton,
                             const clip_row *row, const samples *s, int joint, cutis_path path)
{
    size_t width = path == CUTIS_PATH_ROTATION ? 4 : 3, at = 0;
    float *values =
        cutis_arena_alloc(arena, s->count, width * (row->linear ? 1 : 3) * sizeof *values);
    if (!values) return NULL;
    double span = 2 * row->duration / (double)row->intervals; // between the neighbours of a key
    for (uint32_t i = 1; i <= s->count; i++) {
        double before[4], value[4], after[4];
        read_value(skeleton, s, joint, path, i - 1, before);
        read_value(skeleton, s, joint, path, i, value);
        read_value(skeleton, s, joint, path, i + 1, after);
        for (size_t k = 0; k < width && !row->linear; k++)
            values[at++] = (float)((after[k] - before[k]) / span);
        for (size_t k = 0; k < width; k++) values[at++] = (float)value[k];
        for (size_t k = 0; k < width && !row->linear; k++)
            values[at++] = (float)((after[k] - before[k]) / span);
    }
    return values;
}

static float *key_times(cutis_arena *arena, const clip_row *row)
{
    float *times = cutis_arena_alloc(arena, (size_t)row->intervals + 1, sizeof *times);
    for (uint32_t i = 0; times && i <= row->intervals; i++)
        times[i] = (float)(row->duration * (double)i / (double)row->intervals);
    return times;
}

cutis_result cutis_synth_clip(cutis_arena *arena, const synth_skeleton *skeleton,
                              const clip_row *row, uint32_t first_node, cutis_clip *out)
{
    samples s;
    TRY(take_samples(arena, skeleton, row, &s));
    size_t joints = (size_t)skeleton->joint_count;
    cutis_channel *channels = cutis_arena_alloc(arena, joints + 1, sizeof *channels);
    const float *times = key_times(arena, row);
    if (!channels || !times) return cutis_alloc_result(arena->context);
    *out = (cutis_clip){ .name = row->name, .channels = channels };
    for (int i = -1; i < skeleton->joint_count; i++) {
        int joint = i < 0 ? 0 : i;
        cutis_path path = i < 0 ? CUTIS_PATH_TRANSLATION : CUTIS_PATH_ROTATION;
        if (!moves(skeleton, &s, joint, path)) continue;
        float *values = channel_values(arena, skeleton, row, &s, joint, path);
        if (!values) return cutis_alloc_result(arena->context);
        channels[out->channel_count++] = (cutis_channel){
            .node = first_node + (uint32_t)joint,
            .path = path,
            .interpolation = row->linear ? CUTIS_INTERPOLATION_LINEAR : CUTIS_INTERPOLATION_CUBIC,
            .key_count = s.count,
            .times = times,
            .values = values,
        };
    }
    return CUTIS_OK;
}
