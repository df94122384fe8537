/// Item kernels: where parts and joints are in this frame. After patches.h.
///
/// A joint is described in its parent's rest space, with the centre it turns about as origin: the
/// child is turned by R = S T, a twist T about the limb and a swing S across it. Cut planes, the
/// room it wants and the shift of the loop all follow from S and T; nothing here needs a sine.
#ifndef CUTIS_KERNEL_PATCHES_JOINT_H
#define CUTIS_KERNEL_PATCHES_JOINT_H

// Matrices come as floats: what differs from rest by less than their rounding over a chain of
// joints is rest, so that a body at rest is its file to the bit.
#define PATCH_REST_ANGLE 4e-6
#define PATCH_REST_SHIFT 1e-5                 // of the diagonal
#define PATCH_BEND_MIN   8.726646259971648e-4 // 0.05 degrees: less is no bend
#define PATCH_TAN_MAX    3.7320508075688772   // 75 degrees: half of 150
#define PATCH_END_MOST   1.0 // of the loop's width: the ends of a front go inwards by no more
#define PATCH_TURN_LEAST 0.2 // a cut is no steeper than this allows
#define PATCH_KAPPA      1.0 // how far beyond the mitre the planes reach: 1 leaves room to keep volume

OLD_ITEM_KERNEL patch_parts(PATCH_BODY_ARGS, GLOBAL const double *G, GLOBAL const float *palette,
                            GLOBAL double *work, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN PATCH_BODY_HERE int count = S[PATCH_PART_COUNT], instance = item / count,
                                             part = item % count;
    GLOBAL double *out =
        work + (INDEX)instance * S[PATCH_REAL_STRIDE] + S[PATCH_MATRIX] + 12 * part;
    GLOBAL const float *m = palette + 12 * (INDEX)item;
    double shift = PATCH_REST_SHIFT * REALS(S, G, PATCH_SCALARS)[0];
    int rest = 1;
    for (int i = 0; i < 12; i++) {
        double one = i % 5 == 0 ? 1.0 : 0.0,
               limit = i % 4 == 3 ? 0.1 * shift : 0.5 * PATCH_REST_ANGLE;
        if (!(MAGNITUDE((double)m[i] - one) <= limit)) rest = 0;
    }
    for (int i = 0; i < 12; i++) out[i] = rest ? (i % 5 == 0 ? 1.0 : 0.0) : (double)m[i];
    ITEM_END
}

// The shift of the child's loop that brings it nearest to the parent's after the twist.
PATCH_FN int patch_loop_shift(PATCH_BODY S, GLOBAL const double *G, int joint,
                              GLOBAL const double *twist)
{
    int first = FIELD(S, PATCH_JOINT_LOOP)[joint];
    int count = FIELD(S, PATCH_JOINT_LOOP)[joint + 1] - first, best = 0;
    double most = 0.0;
    for (int k = 0; k < count; k++) {
        GLOBAL const double *c = REALS(S, G, PATCH_SHIFTS) + 9 * (INDEX)(first + k);
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
FN pvec patch_joint_plane(PATCH_BODY S, GLOBAL const double *G, int joint)
{
    pvec normal = pvec_at(REALS(S, G, PATCH_PLANE), joint);
    pvec limb = pvec_at(REALS(S, G, PATCH_LIMB), joint);
    return pvec_dot(normal, limb) < 0.5 ? limb : normal;
}

/// The frame of a bend: the axis, the limb, and the side where the parts collide; the tangent of
/// half the bend, for the child the other way round.
STRUCT(patch_bend)
{
    pvec axis, limb, inner;
    double tangent;
};

FN pvec patch_loop_point(PATCH_BODY S, GLOBAL const double *G, GLOBAL const double *twist,
                         int joint, int side, int place)
{
    int v = FIELD(S, PATCH_LOOP_VERTEX)[2 * place + side];
    pvec y = pvec_minus(pvec_at(REALS(S, G, PATCH_POINTS), v),
                        pvec_at(REALS(S, G, PATCH_CENTRE), joint));
    return side ? pvec_turned(twist, y) : y;
}

// A point of the loop that lies h beyond the axis meets its partner's neighbour h tan(bend / 2)
// further inwards: there both parts' fronts end. Found for both ends of the loop.
PATCH_FN void patch_find_ends(PATCH_BODY S, GLOBAL const double *G, GLOBAL const double *twist,
                              int joint, int side, patch_bend b, double most, GLOBAL double *out)
{
    int first = FIELD(S, PATCH_JOINT_LOOP)[joint], end = FIELD(S, PATCH_JOINT_LOOP)[joint + 1];
    pvec low = pvec_make(0, 0, 0), high = low, last = low;
    double before = 0.0, reach = 0.0;
    int found = 0;
    for (int i = first; i <= end; i++) {
        pvec y = patch_loop_point(S, G, twist, joint, side, i < end ? i : first);
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
    out[PATCH_B_LIMB + 1] = good ? (high.y - low.y) / apart : 0.0;
    out[PATCH_B_DEPTH + 1] = good ? (high.z - low.z) / apart : 0.0;
    out[PATCH_B_LIMB] = good ? low.y - out[PATCH_B_LIMB + 1] * low.x : 0.0;
    out[PATCH_B_DEPTH] = good ? low.z - out[PATCH_B_DEPTH + 1] * low.x : 0.0;
    out[PATCH_B_LOW] = low.x;
    out[PATCH_B_HIGH] = high.x;
    double deep = (low.z > high.z ? low.z : high.z) + 0.25 * most;
    out[PATCH_B_REACH] = reach > deep ? reach : deep;
}

// Where a part is cut: from the ends of its front, along its loop at first, so that nothing is cut
// off at once when the joint begins to bend; the further it bends, the more the limbs alone decide.
PATCH_FN void patch_cut_border(PATCH_BODY S, GLOBAL const double *G, GLOBAL double *r, int joint,
                               int side, patch_bend b)
{
    GLOBAL const double *twist = r + PATCH_J_TWIST;
    GLOBAL double *out = r + PATCH_J_BORDER + PATCH_BORDER_REALS * side;
    double width = REALS(S, G, PATCH_WIDTH)[joint];
    double slope = (1.0 + PATCH_KAPPA) * b.tangent;
    pvec normal = patch_joint_plane(S, G, joint);
    if (side) normal = pvec_turned(twist, normal);
    patch_find_ends(S, G, twist, joint, side, b, PATCH_END_MOST * width, out);
    double tilt = -pvec_dot(normal, b.inner) / pvec_dot(normal, b.limb), reach = out[PATCH_B_REACH];
    double low = MAGNITUDE(out[PATCH_B_LIMB] + out[PATCH_B_LIMB + 1] * out[PATCH_B_LOW]);
    double high = MAGNITUDE(out[PATCH_B_LIMB] + out[PATCH_B_LIMB + 1] * out[PATCH_B_HIGH]);
    double most = low;
    if (high > most) most = high;
    double bend = MAGNITUDE(b.tangent) * reach;
    out[PATCH_B_FOLLOW] = most / (most + bend + 1e-300);
    out[PATCH_B_BEND] = slope;
    double turn = 1.0 + tilt * slope;
    out[PATCH_B_SLOPE] = (tilt - slope) / (turn > PATCH_TURN_LEAST ? turn : PATCH_TURN_LEAST);
    for (int k = 0; k < 2; k++) {
        pvec v = k ? b.inner : b.axis;
        if (side) // back to rest
            v = pvec_make(twist[0] * v.x + twist[3] * v.y + twist[6] * v.z,
                          twist[1] * v.x + twist[4] * v.y + twist[7] * v.z,
                          twist[2] * v.x + twist[5] * v.y + twist[8] * v.z);
        pvec_put(out, k, v);
    }
    r[PATCH_J_NEED + side] += MAGNITUDE(slope) * (reach < 1.25 * width ? reach : 1.25 * width);
}

PATCH_FN void patch_joint_bend(PATCH_BODY S, GLOBAL const double *G, int joint, pquat swing,
                               GLOBAL double *r, GLOBAL int *ints)
{
    pvec limb = pvec_at(REALS(S, G, PATCH_LIMB), joint),
         axis = pvec_make(swing.x, swing.y, swing.z);
    double sine = pvec_length(axis);
    double tangent = swing.w * PATCH_TAN_MAX > sine ? sine / swing.w : PATCH_TAN_MAX;
    double angle = swing.w > 1e-9 * sine ? 2.0 * patch_arctan(sine / swing.w) : 3.141592653589793;
    int bent = angle >= PATCH_BEND_MIN && !FIELD(S, PATCH_JOINT_SEAM)[joint];
    ints[PATCH_J_BENT] = bent;
    r[PATCH_J_ANGLE] = angle;
    r[PATCH_J_TAN] = tangent;
    patch_bend b;
    b.axis = pvec_unit(axis);
    pvec_put(r + PATCH_J_AXIS, 0, b.axis);
    b.limb = limb;
    b.inner = pvec_cross(b.axis, limb);
    for (int side = 0; side < 2; side++) {
        b.tangent = side ? -tangent : tangent;
        r[PATCH_J_NEED + side] =
            REALS(S, G, PATCH_EDGE_STEP)[FIELD(S, PATCH_JOINT_PART)[2 * joint + side]];
        if (bent) patch_cut_border(S, G, r, joint, side, b);
        r[PATCH_J_CUT + side] = 0.0;
    }
}

OLD_ITEM_KERNEL patch_joints(PATCH_BODY_ARGS, GLOBAL const double *G, GLOBAL int *int_work,
                             GLOBAL double *work, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN PATCH_BODY_HERE int count = S[PATCH_JOINT_COUNT],
                                             instance = TEAM_INSTANCE(count),
                                             joint = TEAM_INDEX(count);
    GLOBAL double *D = work + (INDEX)instance * S[PATCH_REAL_STRIDE];
    GLOBAL int *ints = int_work + (INDEX)instance * S[PATCH_INT_STRIDE] + S[PATCH_JOINT_INTS] +
                       PATCH_JOINT_INT_COUNT * joint;
    GLOBAL double *r = D + S[PATCH_JOINT_REAL] + PATCH_JOINT_REAL_COUNT * joint;
    GLOBAL const int *parts = FIELD(S, PATCH_JOINT_PART) + 2 * joint;
    pvec rows[3], offset, centre = pvec_at(REALS(S, G, PATCH_CENTRE), joint);
    pquat swing, twist;
    patch_relative(D + S[PATCH_MATRIX] + 12 * parts[0], D + S[PATCH_MATRIX] + 12 * parts[1], centre,
                   rows, &offset);
    double square =
        pvec_dot(rows[0], rows[0]) + pvec_dot(rows[1], rows[1]) + pvec_dot(rows[2], rows[2]);
    pquat q = pquat_of(ROOT(square / 3.0), rows[0], rows[1], rows[2]);
    double diagonal = REALS(S, G, PATCH_SCALARS)[0];
    int near = pvec_length(offset) <= PATCH_REST_SHIFT * diagonal;
    if (near) offset = pvec_make(0, 0, 0);
    int still = 2.0 * ROOT(q.x * q.x + q.y * q.y + q.z * q.z) <= PATCH_REST_ANGLE;
    if (still) q = pquat_make(1, 0, 0, 0);
    patch_swing_twist(q, pvec_at(REALS(S, G, PATCH_LIMB), joint), &swing, &twist);
    pquat_put_matrix(q, r + PATCH_J_TURN);
    pquat_put_matrix(twist, r + PATCH_J_TWIST);
    pvec_put(r + PATCH_J_OFFSET, 0, offset);
    r[PATCH_J_SWING] = swing.w;
    r[PATCH_J_SWING + 1] = swing.x;
    r[PATCH_J_SWING + 2] = swing.y;
    r[PATCH_J_SWING + 3] = swing.z;
    double sine = ROOT(twist.x * twist.x + twist.y * twist.y + twist.z * twist.z);
    r[PATCH_J_TWIST_ANGLE] =
        twist.w > 1e-9 * sine ? 2.0 * patch_arctan(sine / twist.w) : 3.141592653589793;
    r[PATCH_J_WEIGHT] = r[PATCH_J_FLAT] = r[PATCH_J_LEFT] = 0.0;
    r[PATCH_J_DEPTH] = 1.0;
    ints[PATCH_J_MOVES] = !still || !near;
    ints[PATCH_J_SHIFT] = still ? 0 : patch_loop_shift(S, G, joint, r + PATCH_J_TWIST);
    patch_joint_bend(S, G, joint, swing, r, ints);
    ITEM_END
}

#endif
