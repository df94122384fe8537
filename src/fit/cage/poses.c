// Automatic poses of a cage (docs/spec/conventions.md 4): a bend, a twist, three bumps, a little
// noise. Invariant: a pose depends on the cage, the seed and its number only; random numbers are
// the counter hash.
#include <math.h>
#include <string.h>

#include <cutis/cage.h>

#include "fit/reduce/poses.h"
#include "geometry/vector.h"
#include "math/eigen3.h"
#include "math/mat3.h"
#include "math/elementary.h"

static const double RADIAN = 0.017453292519943295;
enum { BUMPS = 3 };

// The cage's frame: its middle, its longest direction and how far it reaches along that.
typedef struct frame {
    double centre[3], axis[3], side[2][3];
    double low, high;
    double diagonal;
} frame;

static double uniform(uint64_t seed, uint64_t pose, uint64_t index, double low, double high)
{
    return low + (high - low) * cutis_random_unit(seed, pose, index);
}

static void find_frame(const cutis_cage *cage, frame *out)
{
    double spread[6] = { 0 }, values[3], vectors[9];
    box3 box = box3_empty();
    *out = (frame){ .low = INFINITY, .high = -INFINITY };
    for (uint32_t i = 0; i < cage->control_count; i++) {
        const float *p = &cage->controls[i].x;
        for (int c = 0; c < 3; c++) out->centre[c] += p[c] / cage->control_count;
        box3_add(&box, v3_of_floats(p));
    }
    out->diagonal = box3_diagonal(&box);
    for (uint32_t i = 0; i < cage->control_count; i++)
        v3_spread(spread, v3_sub(v3_of_floats(&cage->controls[i].x), v3_of(out->centre)));
    cutis_eigen3(spread, values, vectors);
    memcpy(out->axis, vectors, sizeof out->axis);
    memcpy(out->side[0], vectors + 3, sizeof out->side[0]);
    memcpy(out->side[1], vectors + 6, sizeof out->side[1]);
    for (uint32_t i = 0; i < cage->control_count; i++) {
        double at = v3_dot(v3_sub(v3_of_floats(&cage->controls[i].x), v3_of(out->centre)),
                           v3_of(out->axis));
        out->low = fmin(out->low, at), out->high = fmax(out->high, at);
    }
}

// Turn p about an axis through `origin` by an angle.
static void turn(double *p, const double *origin, const double *axis, double angle)
{
    double d[3], cross[3], c = fixed_cos(angle), s = fixed_sin(angle);
    for (int k = 0; k < 3; k++) d[k] = p[k] - origin[k];
    double3_cross(axis, d, cross);
    double along = double3_dot(axis, d) * (1 - c);
    for (int k = 0; k < 3; k++) p[k] = origin[k] + c * d[k] + s * cross[k] + along * axis[k];
}

// Outward direction of a control: the area-weighted normal of its triangles.
static void control_normal(const cutis_cage *cage, uint32_t control, double *out)
{
    double sum[3] = { 0 };
    for (uint32_t t = 0; t < cage->triangle_count; t++) {
        const uint32_t *corner = cage->triangles + 3 * (size_t)t;
        double a[3], b[3], n[3];
        if (corner[0] != control && corner[1] != control && corner[2] != control) continue;
        for (int c = 0; c < 3; c++) {
            a[c] = (&cage->controls[corner[1]].x)[c] - (&cage->controls[corner[0]].x)[c];
            b[c] = (&cage->controls[corner[2]].x)[c] - (&cage->controls[corner[0]].x)[c];
        }
        double3_cross(a, b, n);
        for (int c = 0; c < 3; c++) sum[c] += n[c];
    }
    double length = sqrt(double3_dot(sum, sum));
    for (int c = 0; c < 3; c++) out[c] = length > 0 ? sum[c] / length : 0;
}

typedef struct motion {
    double bend, bend_at, bend_axis[3], bend_origin[3], twist;
    double bump[BUMPS][3], bump_at[BUMPS][3];
} motion;

static void draw_motion(const cutis_cage *cage, const frame *f, uint64_t seed, uint64_t pose,
                        motion *out)
{
    const double length = f->high - f->low, pi = 180 * RADIAN;
    double angle = uniform(seed, pose, 0, 0, 2 * pi);
    out->bend = RADIAN * uniform(seed, pose, 1, -60, 60);
    out->bend_at = uniform(seed, pose, 2, f->low + length / 4, f->high - length / 4);
    out->twist = RADIAN * uniform(seed, pose, 3, -60, 60);
    for (int c = 0; c < 3; c++) {
        out->bend_axis[c] = fixed_cos(angle) * f->side[0][c] + fixed_sin(angle) * f->side[1][c];
        out->bend_origin[c] = f->centre[c] + out->bend_at * f->axis[c];
    }
    for (int b = 0; b < BUMPS; b++) {
        uint32_t at =
            (uint32_t)(cutis_random_unit(seed, pose, 4 + 2 * (uint64_t)b) * cage->control_count);
        double height = uniform(seed, pose, 5 + 2 * (uint64_t)b, -0.08, 0.08) * f->diagonal;
        double n[3];
        control_normal(cage, at, n);
        for (int c = 0; c < 3; c++) {
            out->bump[b][c] = height * n[c];
            out->bump_at[b][c] = (&cage->controls[at].x)[c];
        }
    }
}

static void move(const frame *f, const motion *m, const float *rest, double *p)
{
    const double length = f->high - f->low;
    double along = 0;
    for (int c = 0; c < 3; c++) p[c] = rest[c];
    for (int c = 0; c < 3; c++) along += (rest[c] - f->centre[c]) * f->axis[c];
    for (int b = 0; b < BUMPS; b++) {
        double radius = 0.25 * f->diagonal;
        vec3 d = v3_sub(v3_of_floats(rest), v3_of(m->bump_at[b]));
        double share = fixed_exp(-v3_dot(d, d) / (2 * radius * radius));
        for (int c = 0; c < 3; c++) p[c] += share * m->bump[b][c];
    }
    turn(p, f->centre, f->axis, length > 0 ? m->twist * (along - f->low) / length : 0);
    double part = length > 0 ? (along - m->bend_at) / (length / 3) + 0.5 : 0.5;
    turn(p, m->bend_origin, m->bend_axis, m->bend * fmin(1, fmax(0, part)));
}

void cutis_cage_automatic_poses(const cutis_cage *cage, uint64_t seed, uint32_t count, float *poses)
{
    if (!cage || !poses) return;
    frame f;
    find_frame(cage, &f);
    for (uint32_t j = 0; j < count; j++) {
        motion m;
        draw_motion(cage, &f, seed, j, &m);
        for (uint32_t i = 0; i < cage->control_count; i++) {
            double p[3];
            move(&f, &m, &cage->controls[i].x, p);
            for (int c = 0; c < 3; c++)
                poses[3 * ((size_t)j * cage->control_count + i) + (size_t)c] =
                    (float)(p[c] + 0.005 * f.diagonal *
                                       cutis_random_gaussian(seed, j,
                                                             100 + 3 * (uint64_t)i + (uint64_t)c));
        }
    }
}
