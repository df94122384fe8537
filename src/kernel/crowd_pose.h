/// Crowds on a device: from an instance's state to its bones (the arithmetic of deform/palette.c
/// and deform/frame.c). Concatenated after algebra.h, bone.h, crowd_bone.h, team.h and
/// crowd_clip.h, with KERNEL_DOUBLE.
///
/// Invariant: the bits of the host's way, for skeletons whose bones are rotations up to one scale
/// (deform/crowd_body.c proves it before). Lanes of a team share an instance: channels, nodes,
/// matrix rows and bones are spread over them, and nothing depends on how.
#ifndef CUTIS_KERNEL_CROWD_POSE_H
#define CUTIS_KERNEL_CROWD_POSE_H

#include "crowd_bone.h"
#include "team.h"
#include "crowd_arguments.h"
#include "crowd_clip.h"

// Matrices ----------------------------------------------------------------------------------------

/// Scale, rotate, translate: row r of the matrix of 10 floats.
STRUCT(crowd_turn)
{
    double r[9];
};

FN crowd_turn crowd_turned(GLOBAL const float *t)
{
    crowd_turn m;
    double qx = (double)t[3], qy = (double)t[4], qz = (double)t[5], qw = (double)t[6];
    double length = qx * qx + qy * qy + qz * qz + qw * qw;
    double s = length > 0.0 ? 2.0 / length : 0.0;
    double x = qx * s, y = qy * s, z = qz * s;
    double xx = qx * x, yy = qy * y, zz = qz * z, xy = qx * y, xz = qx * z, yz = qy * z;
    double wx = qw * x, wy = qw * y, wz = qw * z;
    double sx = (double)t[7], sy = (double)t[8], sz = (double)t[9];
    m.r[0] = (1.0 - (yy + zz)) * sx;
    m.r[1] = (xy - wz) * sy;
    m.r[2] = (xz + wy) * sz;
    m.r[3] = (xy + wz) * sx;
    m.r[4] = (1.0 - (xx + zz)) * sy;
    m.r[5] = (yz - wx) * sz;
    m.r[6] = (xz - wy) * sx;
    m.r[7] = (yz + wx) * sy;
    m.r[8] = (1.0 - (xx + yy)) * sz;
    return m;
}

FN void crowd_local_matrix(GLOBAL const float *t, GLOBAL double *m)
{
    crowd_turn turn = crowd_turned(t);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) m[4 * r + c] = turn.r[3 * r + c];
        m[4 * r + 3] = (double)t[r];
    }
}

/// A row of a product: (a, of four) b. The third column's + 0 is the host's.
STRUCT(crowd_row)
{
    double x, y, z, w;
};

FN crowd_row crowd_row_of(double a0, double a1, double a2, double a3, GLOBAL const double *b)
{
    crowd_row r;
    r.x = a0 * b[0] + a1 * b[4] + a2 * b[8];
    r.y = a0 * b[1] + a1 * b[5] + a2 * b[9];
    r.z = a0 * b[2] + a1 * b[6] + a2 * b[10] + 0.0;
    r.w = a0 * b[3] + a1 * b[7] + a2 * b[11] + a3;
    return r;
}

FN void crowd_row_store(GLOBAL double *to, crowd_row r)
{
    to[0] = r.x;
    to[1] = r.y;
    to[2] = r.z;
    to[3] = r.w;
}

/// Is a node's transform where it rests, to rounding?
FN int crowd_rests(GLOBAL const float *t, GLOBAL const float *rest)
{
    int rests = 1;
    for (int i = 0; i < 10; i++) {
        float off = t[i] - rest[i], size = rest[i];
        if (off < 0.0f) off = -off;
        if (size < 0.0f) size = -size;
        if (!(off <= 1e-6f * (1.0f + size))) rests = 0;
    }
    return rests;
}

/// The squared scale of a float matrix as linear blending measures it.
FN float crowd_linear_square(GLOBAL const double *p)
{
    float m[12];
    for (int i = 0; i < 12; i++) m[i] = (float)p[i];
    float xx = m[0] * m[0] + m[1] * m[1] + m[2] * m[2];
    float yy = m[4] * m[4] + m[5] * m[5] + m[6] * m[6];
    float zz = m[8] * m[8] + m[9] * m[9] + m[10] * m[10];
    return (xx + yy + zz) * (1.0f / 3.0f);
}

/// 0.5 (0, t) q, with the t that takes the bone's rest origin where its matrix takes it.
FN void crowd_dual(bone34 b, GLOBAL const double *origin, double sigma, bone_quat turn,
                   GLOBAL float *dual)
{
    double q[4], r[9], image[3], turned[3];
    q[0] = turn.w;
    q[1] = turn.x;
    q[2] = turn.y;
    q[3] = turn.z;
    for (int i = 0; i < 3; i++)
        image[i] = b.m[4 * i] * origin[0] + b.m[4 * i + 1] * origin[1] +
                   b.m[4 * i + 2] * origin[2] + b.m[4 * i + 3];
    double length = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double s = length > 0.0 ? 2.0 / length : 0.0;
    double x = q[1] * s, y = q[2] * s, z = q[3] * s;
    double xx = q[1] * x, yy = q[2] * y, zz = q[3] * z;
    double xy = q[1] * y, xz = q[1] * z, yz = q[2] * z;
    double wx = q[0] * x, wy = q[0] * y, wz = q[0] * z;
    r[0] = 1.0 - (yy + zz);
    r[1] = xy - wz;
    r[2] = xz + wy;
    r[3] = xy + wz;
    r[4] = 1.0 - (xx + zz);
    r[5] = yz - wx;
    r[6] = xz - wy;
    r[7] = yz + wx;
    r[8] = 1.0 - (xx + yy);
    for (int i = 0; i < 3; i++)
        turned[i] = r[3 * i] * origin[0] + r[3 * i + 1] * origin[1] + r[3 * i + 2] * origin[2];
    x = 0.5 * (image[0] / sigma - turned[0]);
    y = 0.5 * (image[1] / sigma - turned[1]);
    z = 0.5 * (image[2] / sigma - turned[2]);
    dual[0] = (float)(-(x * q[1] + y * q[2] + z * q[3]));
    dual[1] = (float)(x * q[0] + y * q[3] - z * q[2]);
    dual[2] = (float)(y * q[0] + z * q[1] - x * q[3]);
    dual[3] = (float)(z * q[0] + x * q[2] - y * q[1]);
}

// Poses: what a team does, step by step ----------------------------------------------------------

/// Tracks of a state, sampled and blended: the pose, with a second one behind it for what is
/// blended over it.
FN void crowd_play(const crowd_pose_arguments given, GLOBAL const int *states,
                   GLOBAL const float *state_floats, GLOBAL const double *state_doubles,
                   GLOBAL const int *clip_index, GLOBAL const float *clip_floats,
                   GLOBAL const float *rest, INDEX state, GLOBAL float *pose)
{
    int tracks = states[state + CROWD_STATE_COUNT], nodes = given.node_count;
    int pose_floats = 10 * nodes + given.target_count;
    for (int t = 0; t < tracks || t == 0; t++) {
        GLOBAL float *to = t ? pose + pose_floats : pose;
        INDEX track = state + t * CROWD_TRACK_WORDS;
        TEAM_EACH (i, 0, pose_floats) to[i] = rest[i];
        TEAM_SYNC;
        if (t < tracks) {
            GLOBAL const int *clip = clip_index + states[track + 4] * CROWD_CLIP_WORDS;
            float seconds = crowd_time(state_doubles[track / 2], state_floats[track + 2],
                                       given.clock, CROWD_FLOAT(clip[2]), states[track + 5]);
            TEAM_EACH (c, clip[0], clip[1]) {
                crowd_sample(clip_index + given.channels_at + (INDEX)c * CROWD_CHANNEL_WORDS,
                             clip_index, clip_floats, seconds, to);
            }
        }
        TEAM_SYNC;
        if (t > 0) {
            float weight = state_floats[track + 3];
            TEAM_EACH (n, 0, nodes) crowd_blend(pose + 10 * n, to + 10 * n, weight);
            TEAM_EACH (i, 10 * nodes, pose_floats) {
                pose[i] = (1.0f - weight) * pose[i] + weight * to[i];
            }
            TEAM_SYNC;
        }
    }
}

/// Matrices of all steps, and of the root behind them.
FN void crowd_locals(const crowd_pose_arguments given, GLOBAL const int *body,
                     GLOBAL const double *body_doubles, GLOBAL const float *rest,
                     GLOBAL const float *root, GLOBAL const float *pose, GLOBAL double *own)
{
    TEAM_EACH (k, 0, given.step_count + 1) {
        int node = k < given.step_count ? body[CROWD_STEP_WORDS * k] : 0;
        int fixed = k < given.step_count ? body[CROWD_STEP_WORDS * k + 2] : -1;
        if (fixed >= 0 && (node < 0 || crowd_rests(pose + 10 * node, rest + 10 * node))) {
            for (int i = 0; i < 12; i++) own[12 * k + i] = body_doubles[12 * fixed + i];
        } else {
            crowd_local_matrix(k < given.step_count ? pose + 10 * node : root, own + 12 * k);
        }
    }
    TEAM_SYNC;
}

/// World matrices, rank by rank, a row each. @param moved the root is none but the identity
FN void crowd_worlds(const crowd_pose_arguments given, GLOBAL const int *body, int moved,
                     GLOBAL const double *own, GLOBAL double *world)
{
    for (int rank = 0; rank < given.rank_count; rank++) {
        TEAM_EACH (e, 3 * body[given.ranks_at + rank], 3 * body[given.ranks_at + rank + 1]) {
            int k = e / 3, row = e % 3, parent = body[CROWD_STEP_WORDS * k + 1];
            GLOBAL const double *mine = own + 12 * k;
            GLOBAL double *to = world + 12 * k + 4 * row;
            if (parent < 0 && !moved) {
                for (int i = 0; i < 4; i++) to[i] = mine[4 * row + i];
            } else if (parent < 0) {
                GLOBAL const double *above = own + 12 * given.step_count + 4 * row;
                crowd_row_store(to, crowd_row_of(above[0], above[1], above[2], above[3], mine));
            } else {
                GLOBAL const double *above = world + 12 * parent + 4 * row;
                crowd_row_store(to, crowd_row_of(above[0], above[1], above[2], above[3], mine));
            }
        }
        TEAM_SYNC;
    }
}

/// World * inverse bind of every bone; and what they measure: linear blending a float square, the
/// others |L|^2 and, behind those, sigma.
FN void crowd_palette(const crowd_pose_arguments given, GLOBAL const int *body,
                      GLOBAL const double *body_doubles, GLOBAL const double *world,
                      GLOBAL double *palette, GLOBAL double *measure)
{
    TEAM_EACH (e, 0, 3 * given.bone_count) {
        int b = e / 3, row = e % 3;
        GLOBAL const int *bone = body + given.bones_at + CROWD_BONE_WORDS * b;
        GLOBAL const double *from = world + 12 * bone[0] + 4 * row;
        GLOBAL const double *inverse_bind =
            body_doubles + given.bones_at_double + CROWD_BONE_DOUBLES * b;
        GLOBAL double *to = palette + 12 * b + 4 * row;
        if (bone[1])
            crowd_row_store(to, crowd_row_of(from[0], from[1], from[2], from[3], inverse_bind));
        else
            for (int i = 0; i < 4; i++) to[i] = from[i];
    }
    TEAM_SYNC;
    if (given.measured) {
        TEAM_EACH (b, 0, given.bone_count) {
            if (given.turned) {
                bone_shape shape = bone_measured(crowd_bone(palette + 12 * b));
                measure[b] = shape.square * K(3.0);
                measure[given.bone_count + b] = shape.sigma;
            } else {
                measure[b] = (double)crowd_linear_square(palette + 12 * b);
            }
        }
        TEAM_SYNC;
    }
}

/// The common scale of the bones in use; every lane finds the same.
FN float crowd_scale(const crowd_pose_arguments given, GLOBAL const int *body,
                     GLOBAL const double *measure)
{
    double low = REAL_MAX, high = -REAL_MAX;
    float scale = 1.0f, most = 0.0f;
    for (int b = 0; given.measured && b < given.bone_count; b++) {
        if (body[given.bones_at + CROWD_BONE_WORDS * b + 2]) {
            double s = measure[given.turned ? given.bone_count + b : b];
            low = s < low ? s : low;
            high = s > high ? s : high;
            most = (float)s > most ? (float)s : most;
        }
    }
    if (given.turned) {
        if (low <= high) scale = (float)(0.5 * (low + high));
    } else if (given.measured) {
        float root = (float)ROOT(most), off = root - 1.0f;
        if (off < 0.0f) off = -off;
        if (off > 1e-5f && root > 1.17549435e-38f) scale = root;
    }
    return scale;
}

#define CROWD_AT(place) (frames + given.place.first + record * given.place.step)

/// What the skinning kernel reads of a bone. @param record number of the bone among all slots'
FN void crowd_write(const crowd_pose_arguments given, GLOBAL const int *body,
                    GLOBAL const double *body_doubles, GLOBAL const double *palette, int b,
                    INDEX record, double sigma, GLOBAL float *frames)
{
    bone34 m = crowd_bone(palette + 12 * b);
    double inverse = 1.0 / sigma;
    GLOBAL const double *origin =
        body_doubles + given.bones_at_double + CROWD_BONE_DOUBLES * b + 12;
    if (given.matrix.step) {
        GLOBAL float *to = CROWD_AT(matrix);
        for (int i = 0; i < 12; i++)
            to[i] = sigma == 1.0 ? (float)m.m[i] : (float)(m.m[i] * inverse);
    }
    if (given.turned) {
        bone_quat q = bone_turned(m, inverse);
        GLOBAL float *to = CROWD_AT(rotation);
        if (!body[given.bones_at + CROWD_BONE_WORDS * b + 2]) {
            q.w = 1.0;
            q.x = q.y = q.z = 0.0;
        }
        to[0] = (float)q.w;
        to[1] = (float)q.x;
        to[2] = (float)q.y;
        to[3] = (float)q.z;
        if (given.dual) crowd_dual(m, origin, sigma, q, CROWD_AT(duals));
    }
    if (given.origin.step) {
        GLOBAL float *to = CROWD_AT(origin);
        for (int i = 0; i < 3; i++) to[i] = (float)origin[i];
    }
}

TEAM_KERNEL(crowd_pose, CROWD_POSE_BUFFERS)
{
    TEAM_BEGIN
    INDEX state = (INDEX)drawn[given.drawn_first + item] * CROWD_STATE_WORDS;
    int moved = given.placed && states[state + CROWD_STATE_MOVED];
    int pose_floats = 10 * given.node_count + given.target_count;
    GLOBAL float *pose = poses + (INDEX)item * 2 * pose_floats;
    GLOBAL double *own = locals + (INDEX)item * 12 * (given.step_count + 1);
    GLOBAL double *world = worlds + (INDEX)item * 12 * given.step_count;
    GLOBAL double *palette = palettes + (INDEX)item * 12 * given.bone_count;
    GLOBAL double *measure = measures + (INDEX)item * 2 * given.bone_count;
    crowd_play(given, states, state_floats, state_doubles, clip_index, clip_floats, rest, state,
               pose);
    crowd_locals(given, body, body_doubles, rest, state_floats + state + CROWD_STATE_ROOT, pose,
                 own);
    crowd_worlds(given, body, moved, own, world);
    crowd_palette(given, body, body_doubles, world, palette, measure);
    float scale = crowd_scale(given, body, measure);
    if (TEAM_LANE == 0) frames[given.scales + item] = scale;
    TEAM_EACH (i, 0, given.target_count) {
        frames[given.targets + (INDEX)item * given.target_count + i] =
            pose[10 * given.node_count + i];
    }
    TEAM_EACH (b, 0, given.bone_count) {
        crowd_write(given, body, body_doubles, palette, b, (INDEX)item * given.bone_count + b,
                    (double)scale, frames);
    }
    ITEM_END
}

#endif
