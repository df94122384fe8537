/// Item kernels: where parts and joints are in this frame.
///
/// A joint is described in its parent's rest space, with the centre it turns about as origin: the
/// child is turned by R = S T, a twist T about the limb and a swing S across it. Cut planes, the
/// length it wants and the shift of the loop all follow from S and T; nothing here needs a sine.
#ifndef CUTIS_KERNEL_PATCHES_JOINT_H
#define CUTIS_KERNEL_PATCHES_JOINT_H

#include "patches_band.h"

// Matrices come as floats: what differs from rest by less than their rounding over a chain of
// joints is rest, so that a body at rest is its file to the bit.
#define PATCH_REST_ANGLE  4e-6
#define PATCH_REST_SHIFT  1e-5 // of the diagonal
#define PATCH_SCALE_EVEN  1e-5 // of a square: scales that differ by less are one
#define PATCH_POLAR_STEPS 12
#define PATCH_REST_SCALE  1e-5                 // children scaled by less are not
#define PATCH_COARSE      4.8e-7               // four steps of a float, of how far a matrix moves
#define PATCH_BEND_MIN    8.726646259971648e-4 // 0.05 degrees: less is no bend
#define PATCH_TAN_MAX     3.7320508075688772   // 75 degrees: half of 150
#define PATCH_END_MOST    1.0 // of the loop's width: the ends of a front go inwards by no more
#define PATCH_TURN_LEAST  0.2 // a cut is no steeper than this allows
#define PATCH_KAPPA       1.0 // how far beyond the mitre the planes reach: 1 leaves space to keep volume

// 1 over what a part is scaled by; 0: not by the same along all axes.
FN double patch_inverse_scale(GLOBAL const double *m)
{
    double x = m[0] * m[0] + m[4] * m[4] + m[8] * m[8], y = m[1] * m[1] + m[5] * m[5] + m[9] * m[9];
    double z = m[2] * m[2] + m[6] * m[6] + m[10] * m[10], near = PATCH_SCALE_EVEN * x;
    int even = MAGNITUDE(x - y) <= near && MAGNITUDE(x - z) <= near &&
               MAGNITUDE(m[0] * m[1] + m[4] * m[5] + m[8] * m[9]) <= near &&
               MAGNITUDE(m[0] * m[2] + m[4] * m[6] + m[8] * m[10]) <= near &&
               MAGNITUDE(m[1] * m[2] + m[5] * m[6] + m[9] * m[10]) <= near;
    return even && x > 1e-300 ? 1.0 / ROOT(x) : 0.0;
}

ITEM_KERNEL(patch_parts, PATCH_PARTS_BUFFERS)
{
    ITEM_BEGIN
    int instance = item / given.part_count, part = item % given.part_count, rest = 1;
    patch_work w = patch_work_of(body, work, &given, instance);
    GLOBAL double *out = work_matrix(w) + 12 * part;
    GLOBAL const float *m = palette + 12 * (INDEX)item;
    double shift = PATCH_REST_SHIFT * given.diagonal;
    for (int i = 0; i < 12; i++) {
        double one = i % 5 == 0 ? 1.0 : 0.0,
               limit = i % 4 == 3 ? 0.1 * shift : 0.5 * PATCH_REST_ANGLE;
        if (!(MAGNITUDE((double)m[i] - one) <= limit)) rest = 0;
    }
    for (int i = 0; i < 12; i++) out[i] = rest ? (i % 5 == 0 ? 1.0 : 0.0) : (double)m[i];
    work_part_scale(w)[part] = patch_inverse_scale(out);
    ITEM_END
}

// The shift of the child's loop that brings it nearest to the parent's after the twist.
PATCH_FN int patch_loop_shift(patch_work w, int joint, GLOBAL const double *twist)
{
    int first = body_joint_loop(w)[joint];
    int count = body_joint_loop(w)[joint + 1] - first, best = 0;
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        GLOBAL const double *c = body_loop_shift(w) + 9 * (INDEX)(first + k);
        double sum = 0.0;
        for (int r = 0; r < 3; r++)
            for (int s = 0; s < 3; s++) sum += twist[3 * r + s] * c[3 * s + r];
        if (k == 0 || sum > most * (1.0 + 1e-12)) {
            most = sum;
            best = k;
        }
    }
    return best;
}

// Rows of inverse(parent) * child, linear part, and where the centre goes.
FN void patch_relative(GLOBAL const double *p, GLOBAL const double *c, pvec centre, pvec *rows,
                       pvec *offset)
{
    pvec x = pvec_make(p[0], p[1], p[2]), y = pvec_make(p[4], p[5], p[6]);
    pvec z = pvec_make(p[8], p[9], p[10]);
    pvec yz = pvec_cross(y, z), zx = pvec_cross(z, x), xy = pvec_cross(x, y);
    double det = pvec_dot(x, yz), f = det > 1e-150 || det < -1e-150 ? 1.0 / det : 0.0;
    pvec a = pvec_make(yz.x * f, zx.x * f, xy.x * f), b = pvec_make(yz.y * f, zx.y * f, xy.y * f);
    pvec d = pvec_make(yz.z * f, zx.z * f, xy.z * f); // rows of the inverse
    pvec cx = pvec_make(c[0], c[4], c[8]), cy = pvec_make(c[1], c[5], c[9]);
    pvec cz = pvec_make(c[2], c[6], c[10]); // columns
    rows[0] = pvec_make(pvec_dot(a, cx), pvec_dot(a, cy), pvec_dot(a, cz));
    rows[1] = pvec_make(pvec_dot(b, cx), pvec_dot(b, cy), pvec_dot(b, cz));
    rows[2] = pvec_make(pvec_dot(d, cx), pvec_dot(d, cy), pvec_dot(d, cz));
    pvec gap = pvec_minus(pvec_moved(c, centre), pvec_moved(p, centre));
    *offset = pvec_make(pvec_dot(a, gap), pvec_dot(b, gap), pvec_dot(d, gap));
}

// R = S T: the twist about `limb`, the swing across it. w of both is >= 0.
FN void patch_swing_twist(pquat q, pvec limb, pquat *swing, pquat *twist)
{
    double along = q.x * limb.x + q.y * limb.y + q.z * limb.z;
    *twist = q.w * q.w + along * along > 1e-12
                 ? pquat_unit(pquat_make(q.w, along * limb.x, along * limb.y, along * limb.z))
                 : pquat_make(1, 0, 0, 0);
    if (twist->w < 0) *twist = pquat_make(-twist->w, -twist->x, -twist->y, -twist->z);
    *swing = pquat_times(q, pquat_make(twist->w, -twist->x, -twist->y, -twist->z));
    if (swing->w < 0) *swing = pquat_make(-swing->w, -swing->x, -swing->y, -swing->z);
}

// Normal of the loop's plane; of a loop that runs along the limb, the limb's direction.
FN pvec patch_joint_plane(patch_work w, int joint)
{
    pvec normal = body_joint_plane(w)[joint];
    pvec limb = body_joint_limb(w)[joint];
    return pvec_dot(normal, limb) < 0.5 ? limb : normal;
}

/// The frame of a bend: the axis, the limb, and the side where the parts collide; the tangent of
/// half the bend, for the child the other way round.
STRUCT(patch_bend)
{
    pvec axis, limb, inner;
    double tangent;
};

FN pvec patch_loop_point(patch_work w, GLOBAL const double *twist, int joint, int side, int place)
{
    int v = body_loop_vertex(w)[2 * place + side];
    pvec y = pvec_minus(body_vertex_point(w)[v], body_joint_centre(w)[joint]);
    return side ? pvec_turned(twist, y) : y;
}

// A point of the loop that lies h beyond the axis meets its partner's neighbour h tan(bend / 2)
// further inwards: there both parts' fronts end. Found for both ends of the loop.
PATCH_FN void patch_find_ends(patch_work w, GLOBAL const double *twist, int joint, int side,
                              patch_bend b, double most, GLOBAL patch_cut_shape *out)
{
    int first = body_joint_loop(w)[joint], end = body_joint_loop(w)[joint + 1];
    pvec low = pvec_make(0, 0, 0), high = low, last = low;
    double before = 0.0, reach = 0.0;
    int found = 0;
    for (int i = first; i <= end; i++) {
        pvec y = patch_loop_point(w, twist, joint, side, i < end ? i : first);
        y = pvec_make(pvec_dot(b.axis, y), pvec_dot(b.limb, y), pvec_dot(b.inner, y));
        double shift = b.tangent * y.y;
        double gap = y.z - (shift > most ? most : shift < -most ? -most : shift);
        if (i > first && (gap > 0.0) != (before > 0.0)) {
            pvec x = pvec_mix(last, y, before / (before - gap));
            if (!found || x.x < low.x) low = x;
            if (!found || x.x > high.x) high = x;
            found = 1;
        }
        if (y.z > reach) reach = y.z;
        before = gap;
        last = y;
    }
    double apart = high.x - low.x;
    int good = apart > most;
    out->height_slope = good ? (high.y - low.y) / apart : 0.0;
    out->depth_slope = good ? (high.z - low.z) / apart : 0.0;
    out->height = good ? low.y - out->height_slope * low.x : 0.0;
    out->depth = good ? low.z - out->depth_slope * low.x : 0.0;
    out->low = low.x;
    out->high = high.x;
    double deep = (low.z > high.z ? low.z : high.z) + 0.25 * most;
    out->reach = reach > deep ? reach : deep;
}

// Where a part is cut: from the ends of its front, along its loop at first, so that nothing is cut
// off at once when the joint begins to bend; the further it bends, the more the limbs alone decide.
PATCH_FN void patch_cut_border(patch_work w, GLOBAL patch_joint *j, int joint, int side,
                               patch_bend b)
{
    GLOBAL const double *twist = j->twist;
    GLOBAL patch_cut_shape *out = &j->shape[side];
    double width = body_joint_width(w)[joint];
    double slope = (1.0 + PATCH_KAPPA) * b.tangent;
    pvec normal = patch_joint_plane(w, joint);
    if (side) normal = pvec_turned(twist, normal);
    patch_find_ends(w, twist, joint, side, b, PATCH_END_MOST * width, out);
    double tilt = -pvec_dot(normal, b.inner) / pvec_dot(normal, b.limb), reach = out->reach;
    double low = MAGNITUDE(out->height + out->height_slope * out->low);
    double high = MAGNITUDE(out->height + out->height_slope * out->high);
    double most = low;
    if (high > most) most = high;
    double bend = MAGNITUDE(b.tangent) * reach;
    out->follow = most / (most + bend + 1e-300);
    out->bend = slope;
    double turn = 1.0 + tilt * slope;
    out->slope = (tilt - slope) / (turn > PATCH_TURN_LEAST ? turn : PATCH_TURN_LEAST);
    out->axis = side ? pvec_turned_back(twist, b.axis) : b.axis; // back to rest
    out->inner = side ? pvec_turned_back(twist, b.inner) : b.inner;
    j->need[side] += MAGNITUDE(slope) * (reach < 1.25 * width ? reach : 1.25 * width);
}

PATCH_FN void patch_joint_bend(patch_work w, int joint, pquat swing, GLOBAL patch_joint *j)
{
    pvec limb = body_joint_limb(w)[joint], axis = pvec_make(swing.x, swing.y, swing.z);
    double sine = pvec_length(axis);
    double tangent = swing.w * PATCH_TAN_MAX > sine ? sine / swing.w : PATCH_TAN_MAX;
    double angle = swing.w > 1e-9 * sine ? 2.0 * patch_arctan(sine / swing.w) : 3.141592653589793;
    int bent = angle >= PATCH_BEND_MIN && !body_joint_seam(w)[joint];
    j->bent = bent;
    j->angle = angle;
    j->tangent = tangent;
    patch_bend b;
    b.axis = pvec_unit(axis);
    j->axis = b.axis;
    b.limb = limb;
    b.inner = pvec_cross(b.axis, limb);
    for (int side = 0; side < 2; side++) {
        b.tangent = side ? -tangent : tangent;
        j->need[side] = body_part_step(w)[body_joint_part(w)[2 * joint + side]];
        if (bent) patch_cut_border(w, j, joint, side, b);
        j->cut[side] = 0.0;
    }
}

FN double patch_turn_angle(pquat q)
{
    double sine = ROOT(q.x * q.x + q.y * q.y + q.z * q.z);
    return q.w > 1e-9 * sine ? 2.0 * patch_arctan(sine / q.w) : 3.141592653589793;
}

// A child that moved less has not moved: matrices are floats, and far from the origin they are
// coarse.
FN double patch_rest_shift(patch_work w, GLOBAL const int *parts)
{
    double far = 0.0, shift = PATCH_REST_SHIFT * w.given->diagonal;
    for (int side = 0; side < 2; side++) {
        GLOBAL const double *m = work_matrix(w) + 12 * parts[side];
        far += ROOT(m[3] * m[3] + m[7] * m[7] + m[11] * m[11]);
    }
    return PATCH_COARSE * far > shift ? PATCH_COARSE * far : shift;
}

FN void patch_put_rows(GLOBAL double *m, pvec a, pvec b, pvec c)
{
    m[0] = a.x, m[1] = a.y, m[2] = a.z;
    m[3] = b.x, m[4] = b.y, m[5] = b.z;
    m[6] = c.x, m[7] = c.y, m[8] = c.z;
}

// What a child does beside its turn: rows of R^-1 times all, and the inverse of these.
FN void patch_joint_scale(const pvec *rows, GLOBAL patch_joint *j)
{
    GLOBAL const double *r = j->turn;
    pvec u[3], inverse[3];
    double most = 0.0;
    for (int i = 0; i < 3; i++)
        u[i] = pvec_plus(pvec_times(rows[0], r[i]),
                         pvec_plus(pvec_times(rows[1], r[3 + i]), pvec_times(rows[2], r[6 + i])));
    patch_put_rows(j->stretch, u[0], u[1], u[2]);
    for (int i = 0; i < 9; i++) {
        if (i % 4 == 0) j->stretch[i] -= 1.0;
        if (MAGNITUDE(j->stretch[i]) > most) most = MAGNITUDE(j->stretch[i]);
    }
    j->scaled = most > PATCH_REST_SCALE;
    inverse[0] = pvec_cross(u[1], u[2]);
    inverse[1] = pvec_cross(u[2], u[0]);
    inverse[2] = pvec_cross(u[0], u[1]); // columns, times the determinant
    double det = pvec_dot(u[0], inverse[0]);
    double f = det > 1e-150 || det < -1e-150 ? 1.0 / det : 0.0; // shrunk to nothing: stays there
    patch_put_rows(j->shrink, pvec_make(inverse[0].x * f, inverse[1].x * f, inverse[2].x * f),
                   pvec_make(inverse[0].y * f, inverse[1].y * f, inverse[2].y * f),
                   pvec_make(inverse[0].z * f, inverse[1].z * f, inverse[2].z * f));
}

// The turn of a matrix that is `scale` times a rotation; of one that also scales unevenly that of
// the nearest rotation (Newton's iteration of the polar decomposition).
FN pquat patch_turn_of(const pvec *rows, double scale)
{
    double up = scale > 1e-150 ? 1.0 / scale : 0.0;
    pvec x = pvec_times(rows[0], up), y = pvec_times(rows[1], up), z = pvec_times(rows[2], up);
    for (int step = 0; step < PATCH_POLAR_STEPS; step++) {
        pvec a = pvec_cross(y, z), b = pvec_cross(z, x), c = pvec_cross(x, y);
        double det = pvec_dot(x, a), off = MAGNITUDE(pvec_dot(x, x) - pvec_dot(a, a));
        off += MAGNITUDE(pvec_dot(y, y) - pvec_dot(b, b)) + MAGNITUDE(det - 1.0);
        if (!(off > PATCH_SCALE_EVEN) || !(det > 1e-9)) { // even, or flat, or a mirror
            if (step == 0) return pquat_of(scale, rows[0], rows[1], rows[2]);
            break;
        }
        x = pvec_times(pvec_plus(x, pvec_times(a, 1.0 / det)), 0.5);
        y = pvec_times(pvec_plus(y, pvec_times(b, 1.0 / det)), 0.5);
        z = pvec_times(pvec_plus(z, pvec_times(c, 1.0 / det)), 0.5);
    }
    return pquat_of(1.0, x, y, z);
}

// Swing, twist and shift of a joint from where its parent and child are: nothing of them is left
// where bands turn it.
FN pquat patch_joint_turn(patch_work w, int joint, GLOBAL patch_joint *j)
{
    GLOBAL const int *parts = body_joint_part(w) + 2 * joint;
    GLOBAL const double *matrices = work_matrix(w);
    pvec rows[3], offset;
    pquat swing, twist;
    patch_relative(matrices + 12 * parts[0], matrices + 12 * parts[1], body_joint_centre(w)[joint],
                   rows, &offset);
    double square =
        pvec_dot(rows[0], rows[0]) + pvec_dot(rows[1], rows[1]) + pvec_dot(rows[2], rows[2]);
    pquat q = patch_turn_of(rows, ROOT(square / 3.0));
    if (q.w < 0.0) q = pquat_make(-q.w, -q.x, -q.y, -q.z);
    int near = pvec_length(offset) <= patch_rest_shift(w, parts);
    if (near) offset = pvec_make(0, 0, 0);
    int still = 2.0 * ROOT(q.x * q.x + q.y * q.y + q.z * q.z) <= PATCH_REST_ANGLE;
    if (still) q = pquat_make(1, 0, 0, 0);
    patch_swing_twist(q, body_joint_limb(w)[joint], &swing, &twist);
    j->bend_all = patch_turn_angle(swing);
    j->twist_angle = patch_turn_angle(twist);
    pquat_put_matrix(q, j->turn);
    patch_joint_scale(rows, j);
    j->softly = (!near || !still || j->scaled) && body_joint_band(w)[joint].there;
    if (j->softly) swing = pquat_make(1, 0, 0, 0), twist = q;
    j->soft = q;
    j->inner = pvec_cross(pvec_unit(pvec_make(q.x, q.y, q.z)), body_joint_limb(w)[joint]);
    j->swell = j->gained = 0.0;
    pquat_put_matrix(twist, j->twist);
    j->offset = offset;
    j->back = pvec_turned_back(j->turn, offset);
    if (j->scaled) j->back = pvec_turned(j->shrink, j->back);
    if (j->scaled && j->softly) { // both copies of a loop meet
        patch_put_rows(j->turn, rows[0], rows[1], rows[2]);
        patch_put_rows(j->twist, rows[0], rows[1], rows[2]);
    }
    j->shifted = !near;
    j->swing = swing;
    j->moves = !still || !near || j->softly;
    j->shift = still || j->softly ? 0 : patch_loop_shift(w, joint, j->twist);
    return swing;
}

ITEM_KERNEL(patch_joints, PATCH_JOINTS_BUFFERS)
{
    ITEM_BEGIN
    int instance = TEAM_INSTANCE(given.joint_count), joint = TEAM_INDEX(given.joint_count);
    patch_work w = patch_work_of(body, work, &given, instance);
    GLOBAL patch_joint *j = work_joint(w) + joint;
    pquat swing = patch_joint_turn(w, joint, j);
    j->weight = j->flat = j->left = 0.0;
    j->depth = 1.0;
    j->faces = 0;
    patch_joint_bend(w, joint, swing, j);
    ITEM_END
}

#endif
