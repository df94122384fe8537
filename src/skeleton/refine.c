// Refinement of axes: towards the joints of the part, then towards the parent's axes. Invariant:
// frames stay orthonormal and right-handed, and no turn is larger than the bound.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "skeleton/axes.h"
#include "skeleton/graph.h"
#include "math/elementary.h"

// A parent axis whose shadow on the plane across the child's axis is shorter says nothing of roll.
static const double SHADOW = 0.5;

static bool unit(double *v)
{
    v3_put(v3_direction(v3_of(v)), v);
    return v3_length(v3_of(v)) > 0;
}

static void rotate(const double *axis, double angle, double *v)
{
    double c = fixed_cos(angle), s = fixed_sin(angle), d = (1 - c) * double3_dot(axis, v);
    vec3 across = v3_cross(v3_of(axis), v3_of(v));
    v3_put(v3_mad(v3_mad(v3_scale(v3_of(v), c), s, across), d, v3_of(axis)), v);
}

static void orthonormalise(double *axes)
{
    unit(axes);
    double along = double3_dot(axes, axes + 3);
    for (int k = 0; k < 3; k++) axes[3 + k] -= along * axes[k];
    unit(axes + 3);
    double3_cross(axes, axes + 3, axes + 6);
}

void cutis_turn_axes(double *axes, const double *from, const double *to, double angle)
{
    double axis[3];
    double3_cross(from, to, axis);
    if (!unit(axis)) return; // they agree, or are opposite and no turn is least
    for (int e = 0; e < 3; e++) rotate(axis, angle, axes + 3 * e);
    orthonormalise(axes);
}

// The signed axis closest to a direction: index and direction.
static int closest_axis(const double *axes, const double *d, double *out)
{
    int best = 0;
    double most = -1;
    for (int e = 0; e < 3; e++) {
        double c = double3_dot(axes + 3 * e, d);
        if (fabs(c) <= most) continue;
        most = fabs(c), best = e;
        for (int k = 0; k < 3; k++) out[k] = (c < 0 ? -1 : 1) * axes[3 * e + k];
    }
    return best;
}

// Axis `e` first, the others in cyclic order: still right-handed.
static void make_principal(double *axes, int e)
{
    double old[9];
    memcpy(old, axes, sizeof old);
    for (int i = 0; i < 3; i++) memcpy(axes + 3 * i, old + 3 * ((e + i) % 3), 3 * sizeof *axes);
}

// Local -----------------------------------------------------------------------------------------

static void local_default(cutis_parts *parts, uint32_t p, double bound)
{
    cutis_piece *part = &parts->parts[p];
    double d[3], mean[3] = { 0 }, f[3];
    if (part->parent == CUTIS_NONE || part->child_count == 0) return;
    for (uint32_t i = 0; i < part->child_count; i++) {
        const double *joint = cutis_piece_joint(parts, part->children[i]);
        for (int k = 0; k < 3; k++) mean[k] += joint[k] / part->child_count;
    }
    v3_put(v3_sub(v3_of(mean), v3_of(cutis_piece_joint(parts, p))), d);
    if (!unit(d)) return;
    if (part->child_count == 1) {
        v3_put(v3_scale(v3_of(part->axes), double3_dot(part->axes, d) < 0 ? -1 : 1), f);
    } else {
        closest_axis(part->axes, d, f);
    }
    double angle = v3_angle(v3_of(f), v3_of(d));
    if (angle > bound) return;
    cutis_turn_axes(part->axes, f, d, part->child_count == 1 ? angle : 0.5 * angle);
}

static void local_paper(cutis_parts *parts, uint32_t p, double bound)
{
    cutis_piece *part = &parts->parts[p];
    bool rooted = part->parent != CUTIS_NONE;
    uint32_t n = part->child_count + rooted;
    for (uint32_t i = 0; i < n; i++) {
        bool own = i == part->child_count;
        double d[3], f[3] = { 0 }, weight = rooted ? (own ? 2.0 : 1.0) / (n + 1) : 1.0 / n;
        const double *joint = cutis_piece_joint(parts, own ? p : part->children[i]);
        v3_put(v3_sub(v3_of(joint), v3_of(part->centroid)), d);
        if (!unit(d)) continue;
        int e = closest_axis(part->axes, d, f);
        double angle = v3_angle(v3_of(f), v3_of(d)) * (n == 1 ? 1 : weight);
        if (angle > bound) continue;
        cutis_turn_axes(part->axes, f, d, angle);
        if (n == 1) make_principal(part->axes, e);
    }
}

// Hierarchical ----------------------------------------------------------------------------------

// The turn about an axis that brings `from` in line with `to` or its opposite, the smaller.
static double turn_about(const double *axis, vec3 from, vec3 to)
{
    double x = v3_dot(to, from), y = v3_dot(v3_cross(from, to), v3_of(axis));
    return x < 0 ? fixed_atan2(-y, -x) : fixed_atan2(y, x);
}

// Roll about e1 so that e2 or e3 meets the nearest parent axis.
static void roll_default(const double *parent, double *axes, double bound)
{
    double least = INFINITY, roll = 0;
    for (int i = 0; i < 3; i++) {
        double along = double3_dot(parent + 3 * i, axes);
        vec3 s = v3_mad(v3_of(parent + 3 * i), -along, v3_of(axes));
        if (v3_length(s) < SHADOW) continue;
        for (int e = 1; e < 3; e++) {
            double angle = turn_about(axes, v3_of(axes + 3 * e), s);
            if (fabs(angle) < fabs(least)) least = roll = angle;
        }
    }
    if (!(fabs(least) <= bound)) return;
    rotate(axes, roll, axes + 3);
    rotate(axes, roll, axes + 6);
    orthonormalise(axes);
}

// As printed: the child's principal axis onto the nearest parent direction, then the nearest pair
// of the rest by a turn about it.
static void align_paper(const double *parent, double *axes, double bound)
{
    double f[3], e1[3] = { axes[0], axes[1], axes[2] };
    int used = closest_axis(parent, e1, f);
    double angle = v3_angle(v3_of(e1), v3_of(f));
    if (angle <= bound) cutis_turn_axes(axes, e1, f, angle);
    double least = INFINITY;
    for (int i = 0; i < 3; i++) {
        if (i == used) continue;
        for (int e = 1; e < 3; e++) {
            double turn = turn_about(axes, v3_of(axes + 3 * e), v3_of(parent + 3 * i));
            if (fabs(turn) < fabs(least)) least = turn;
        }
    }
    if (!(fabs(least) <= bound)) return;
    rotate(axes, least, axes + 3);
    orthonormalise(axes);
}

cutis_result cutis_parts_refine(cutis_parts *parts, cutis_skeleton_refine refine, double bound)
{
    bool local = refine != CUTIS_REFINE_NONE && refine != CUTIS_REFINE_HIERARCHY;
    bool hierarchy = refine != CUTIS_REFINE_NONE && refine != CUTIS_REFINE_LOCAL;
    for (uint32_t p = 0; p < parts->count && local; p++) {
        if (refine == CUTIS_REFINE_PAPER)
            local_paper(parts, p, bound);
        else
            local_default(parts, p, bound);
    }
    for (uint32_t p = 1; p < parts->count && hierarchy; p++) { // pre-order: the parent is done
        const double *parent = parts->parts[parts->parts[p].parent].axes;
        if (refine == CUTIS_REFINE_PAPER)
            align_paper(parent, parts->parts[p].axes, bound);
        else
            roll_default(parent, parts->parts[p].axes, bound);
    }
    for (uint32_t p = 0; p < parts->count && refine != CUTIS_REFINE_NONE; p++)
        TRY(cutis_piece_box(parts, p));
    return CUTIS_OK;
}
