/// Bones and rotation centres in double lanes: shapes and rotations of bone matrices
/// (docs/spec/blending.md 6.1), centres of bone sets by the closed normal equations N y = h (4.2).
///
/// Text over kernel.h and algebra.h with KERNEL_DOUBLE. Invariant: only +, -, *, / and the square
/// root, each rounded once, in one fixed order; no multiply-add, so machines without one lose no
/// time and all give the same bits.
#ifndef CUTIS_KERNEL_BONE_H
#define CUTIS_KERNEL_BONE_H

// 1e-3 bounds a singular value of the stacked system: about 1e-3 rad between two bones. Below it
// the centre is noise, and moving it by one unit moves the vertex by only 1e-7
// (docs/spec/blending.md 4.3). Squared: eigenvalues of N.
#define CENTRE_CUT K(1e-6)
// The quick ways keep this factor from the cut on either side, far more than rounding can move an
// eigenvalue.
#define CENTRE_MARGIN K(2.0)
// Third eigenvalue below this part of the second: two steps of inverse iteration give the axis to
// 1e-18.
#define CENTRE_AXIS_CLEAR K(1e-6)
// Condition from which the plain solve is refined once.
#define CENTRE_STIFF K(1e-4)

/// Row-major [L | t], one bone per lane.
STRUCT(bone34)
{
    REAL m[12];
};

STRUCT(bone_shape)
{
    REAL square;     // |L|^2 / 3
    REAL sigma;      // its root, with the sign of det L
    REAL nonuniform; // largest |S / |sigma| -+ 1|, to first order; huge for L = 0
};

STRUCT(bone_quat)
{
    REAL w, x, y, z;
};

/// N (upper triangle), h and sigma^2: mean square scale of the bones.
STRUCT(centre_system)
{
    REAL xx, xy, xz, yy, yz, zz;
    real3 h;
    REAL square;
};

/// What the eigenvalues allow; each flag is 0 or 1.
STRUCT(centre_ways)
{
    REAL turns, plain, axial, stiff;
    REAL trace;
    REAL a0, a1, a2, a3, a4, a5; // adjugate of N / trace
};

FN REAL larger(REAL a, REAL b)
{
    return SELECT_LESS(b, a, a, b);
}

FN REAL absolute(REAL a)
{
    return SELECT_LESS(a, K(0.0), -a, a);
}

FN REAL real3_product(real3 a, real3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// Bones -----------------------------------------------------------------------------------------

FN bone_shape bone_measured(bone34 b)
{
    REAL xx = b.m[0] * b.m[0] + b.m[4] * b.m[4] + b.m[8] * b.m[8];
    REAL yy = b.m[1] * b.m[1] + b.m[5] * b.m[5] + b.m[9] * b.m[9];
    REAL zz = b.m[2] * b.m[2] + b.m[6] * b.m[6] + b.m[10] * b.m[10];
    REAL xy = b.m[0] * b.m[1] + b.m[4] * b.m[5] + b.m[8] * b.m[9];
    REAL xz = b.m[0] * b.m[2] + b.m[4] * b.m[6] + b.m[8] * b.m[10];
    REAL yz = b.m[1] * b.m[2] + b.m[5] * b.m[6] + b.m[9] * b.m[10];
    REAL determinant = b.m[0] * (b.m[5] * b.m[10] - b.m[6] * b.m[9]) +
                       b.m[1] * (b.m[6] * b.m[8] - b.m[4] * b.m[10]) +
                       b.m[2] * (b.m[4] * b.m[9] - b.m[5] * b.m[8]);
    bone_shape shape;
    shape.square = (xx + yy + zz) / K(3.0);
    REAL off = absolute(xy) + absolute(xz) + absolute(yz);
    REAL along = larger(absolute(xx - shape.square),
                        larger(absolute(yy - shape.square), absolute(zz - shape.square)));
    REAL sigma = ROOT(shape.square);
    shape.sigma = SELECT_LESS(determinant, K(0.0), -sigma, sigma);
    // L^T L = S^2, so S is off by half of what its square is off.
    shape.nonuniform =
        SELECT_LESS(K(0.0), shape.square, K(0.5) * larger(off, along) / shape.square, REAL_MAX);
    return shape;
}

/// Rotation of a bone that is sigma times a rotation to 1e-4: X (3 I - X^T X) / 2, where an error e
/// becomes 0.75 e^2; then Shepperd's quaternion.
FN bone_quat bone_turned(bone34 b, REAL scale)
{
    REAL x[9], s[9], r[9];
    for (int row = 0; row < 3; row++)
        for (int c = 0; c < 3; c++) x[3 * row + c] = b.m[4 * row + c] * scale;
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            s[3 * i + c] = (x[i] * x[c] + x[3 + i] * x[3 + c] + x[6 + i] * x[6 + c]) * K(-0.5);
    s[0] = s[0] + K(1.5);
    s[4] = s[4] + K(1.5);
    s[8] = s[8] + K(1.5);
    for (int row = 0; row < 3; row++)
        for (int c = 0; c < 3; c++)
            r[3 * row + c] =
                x[3 * row] * s[c] + x[3 * row + 1] * s[3 + c] + x[3 * row + 2] * s[6 + c];
    REAL trace = r[0] + r[4] + r[8], most = larger(r[0], larger(r[4], r[8]));
    REAL a = r[7] - r[5], d = r[2] - r[6], g = r[3] - r[1];
    REAL e = r[1] + r[3], f = r[2] + r[6], h = r[5] + r[7];
    bone_quat q; // by z; where y is larger by y; ...
    q.w = g, q.x = f, q.y = h, q.z = K(1.0) + r[8] - r[0] - r[4];
    REAL y_most = K(1.0) + r[4] - r[0] - r[8], x_most = K(1.0) + r[0] - r[4] - r[8];
    q.w = SELECT_LESS(r[4], r[8], q.w, d);
    q.x = SELECT_LESS(r[4], r[8], q.x, e);
    q.z = SELECT_LESS(r[4], r[8], q.z, h);
    q.y = SELECT_LESS(r[4], r[8], q.y, y_most);
    REAL other = larger(r[4], r[8]);
    q.w = SELECT_LESS(r[0], other, q.w, a);
    q.y = SELECT_LESS(r[0], other, q.y, e);
    q.z = SELECT_LESS(r[0], other, q.z, f);
    q.x = SELECT_LESS(r[0], other, q.x, x_most);
    q.x = SELECT_LESS(trace, most, q.x, a);
    q.y = SELECT_LESS(trace, most, q.y, d);
    q.z = SELECT_LESS(trace, most, q.z, g);
    q.w = SELECT_LESS(trace, most, q.w, K(1.0) + trace);
    REAL unit = K(1.0) / ROOT(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    q.w = q.w * unit, q.x = q.x * unit, q.y = q.y * unit, q.z = q.z * unit;
    return q;
}

// Centres ---------------------------------------------------------------------------------------

FN centre_system centre_system_zero(void)
{
    centre_system e;
    e.xx = e.xy = e.xz = e.yy = e.yz = e.zz = e.square = K(0.0);
    e.h = real3_make(K(0.0), K(0.0), K(0.0));
    return e;
}

/// N += A^T A and h -= A^T (A c + b) for one difference of matrices. The reference c goes in here:
/// A c + b is small where g and N c0 (docs/spec/blending.md 4.2) are both large.
FN centre_system centre_system_add(centre_system e, bone34 d, real3 c)
{
    for (int r = 0; r < 3; r++) {
        REAL x = d.m[4 * r], y = d.m[4 * r + 1], z = d.m[4 * r + 2];
        REAL b = x * c.x + y * c.y + z * c.z + d.m[4 * r + 3];
        e.xx = e.xx + x * x;
        e.xy = e.xy + x * y;
        e.xz = e.xz + x * z;
        e.yy = e.yy + y * y;
        e.yz = e.yz + y * z;
        e.zz = e.zz + z * z;
        e.h.x = e.h.x - x * b;
        e.h.y = e.h.y - y * b;
        e.h.z = e.h.z - z * b;
    }
    return e;
}

FN bone34 bone_minus(bone34 a, bone34 b)
{
    for (int i = 0; i < 12; i++) a.m[i] = a.m[i] - b.m[i];
    return a;
}

FN bone34 bone_plus(bone34 a, bone34 b)
{
    for (int i = 0; i < 12; i++) a.m[i] = a.m[i] + b.m[i];
    return a;
}

/// With D the differences from the first bone and D+ their sum, the sum over pairs of squares is
/// n sum D^T D - D+^T D+ (what cancels is at most a factor n).
FN centre_system centre_system_of_sums(centre_system e, centre_system whole, REAL count)
{
    e.xx = e.xx * count - whole.xx;
    e.xy = e.xy * count - whole.xy;
    e.xz = e.xz * count - whole.xz;
    e.yy = e.yy * count - whole.yy;
    e.yz = e.yz * count - whole.yz;
    e.zz = e.zz * count - whole.zz;
    e.h =
        real3_make(e.h.x * count - whole.h.x, e.h.y * count - whole.h.y, e.h.z * count - whole.h.z);
    return e;
}

/// Which quick way is safe: nothing turns (rank 0), all directions are well above the cut (plain),
/// one direction is clearly below it (axial). Neither: the eigenvectors decide, elsewhere.
FN centre_ways centre_ways_of(centre_system e)
{
    centre_ways w;
    REAL cut = CENTRE_CUT * e.square;
    w.trace = e.xx + e.yy + e.zz;
    w.turns = SELECT_LESS(cut, w.trace, K(1.0), K(0.0));
    // Entries and eigenvalues as parts of the trace, so that products neither overflow nor vanish.
    REAL part = K(1.0) / SELECT_LESS(cut, w.trace, w.trace, K(1.0));
    REAL xx = e.xx * part, xy = e.xy * part, xz = e.xz * part;
    REAL yy = e.yy * part, yz = e.yz * part, zz = e.zz * part;
    cut = cut * part;
    w.a0 = yy * zz - yz * yz, w.a1 = xz * yz - xy * zz, w.a2 = xy * yz - xz * yy;
    w.a3 = xx * zz - xz * xz, w.a4 = xy * xz - xx * yz, w.a5 = xx * yy - xy * xy;
    REAL minors = w.a0 + w.a3 + w.a5;                       // l1 l2 + l1 l3 + l2 l3
    REAL determinant = xx * w.a0 + xy * w.a1 + xz * w.a2;   // l1 l2 l3
    REAL third_above = K(4.0) * determinant;                // <= l3
    REAL second_above = minors * K(0.33333333333333333333); // <= l2
    REAL product = K(3.0) * absolute(determinant);          // >= l3 * minors
    w.plain = SELECT_LESS(CENTRE_MARGIN * cut, third_above, w.turns, K(0.0));
    w.stiff = SELECT_LESS(third_above, CENTRE_STIFF, w.plain, K(0.0));
    w.axial = SELECT_LESS(CENTRE_MARGIN * cut, second_above, w.turns - w.plain, K(0.0));
    w.axial = SELECT_LESS(CENTRE_MARGIN * product, cut * minors, w.axial, K(0.0));
    w.axial = SELECT_LESS(product, CENTRE_AXIS_CLEAR * second_above * minors, w.axial, K(0.0));
    return w;
}

/// Positive definite systems by L D L^T; the right side is given by itself.
FN real3 centre_definite(centre_system n, real3 h)
{
    REAL inverse0 = K(1.0) / n.xx;
    REAL l10 = n.xy * inverse0, l20 = n.xz * inverse0;
    REAL inverse1 = K(1.0) / (n.yy - l10 * n.xy);
    REAL d21 = n.yz - l20 * n.xy, l21 = d21 * inverse1;
    REAL inverse2 = K(1.0) / (n.zz - l20 * n.xz - l21 * d21);
    REAL z1 = h.y - l10 * h.x;
    REAL z2 = h.z - l20 * h.x - l21 * z1;
    real3 y;
    y.z = z2 * inverse2;
    y.y = z1 * inverse1 - l21 * y.z;
    y.x = h.x * inverse0 - l10 * y.y - l20 * y.z;
    return y;
}

FN real3 centre_adjugate_vector(centre_ways w, real3 v)
{
    return real3_make(w.a0 * v.x + w.a1 * v.y + w.a2 * v.z, w.a1 * v.x + w.a3 * v.y + w.a4 * v.z,
                      w.a2 * v.x + w.a4 * v.y + w.a5 * v.z);
}

/// Rank 2: leave out the axis (the eigenvector of the vanishing eigenvalue) and solve across it.
FN real3 centre_across(centre_system e, centre_ways w)
{
    real3 first = real3_make(w.a0, w.a1, w.a2), second = real3_make(w.a1, w.a3, w.a4);
    real3 axis = real3_select_less(w.a3, w.a5, real3_make(w.a2, w.a4, w.a5), second);
    axis = real3_select_less(w.a0, larger(w.a3, w.a5), axis, first);
    axis = centre_adjugate_vector(w, axis);
    axis = centre_adjugate_vector(w, axis);
    REAL share = K(1.0) / real3_product(axis, axis);
    REAL along = real3_product(axis, e.h) * share;
    real3 h = real3_make(e.h.x - along * axis.x, e.h.y - along * axis.y, e.h.z - along * axis.z);
    REAL trace = w.trace * share; // the axis gets the eigenvalue `trace`
    centre_system n = e;
    n.xx = e.xx + trace * axis.x * axis.x;
    n.xy = e.xy + trace * axis.x * axis.y;
    n.xz = e.xz + trace * axis.x * axis.z;
    n.yy = e.yy + trace * axis.y * axis.y;
    n.yz = e.yz + trace * axis.y * axis.z;
    n.zz = e.zz + trace * axis.z * axis.z;
    real3 y = centre_definite(n, h);
    along = real3_product(axis, y) * share;
    return real3_make(y.x - along * axis.x, y.y - along * axis.y, y.z - along * axis.z);
}

#endif
