/// Kernel text: vectors, quaternions and matrices as values. Include or concatenate after kernel.h.
///
/// Every sum that runs over bones starts at +0 and is FMA(w, m, sum) in ascending bone order, so a
/// weight of 0 adds exactly nothing and a shared bone list gives the bits of the vertex's own
/// (docs/spec/blending.md 6.2). A sum may still come out as -0 or +0 by schedule (underflow);
/// whatever leaves a kernel has +0 added for that.
#ifndef CUTIS_KERNEL_ALGEBRA_H
#define CUTIS_KERNEL_ALGEBRA_H

STRUCT(real3)
{
    REAL x, y, z;
};
STRUCT(quat)
{
    REAL w, x, y, z;
};
STRUCT(dual_quat)
{
    quat q, e;
}; // rotation, and 0.5 (0, t) q
STRUCT(sym33)
{
    REAL xx, xy, xz, yy, yz, zz;
}; // symmetric
STRUCT(mat33)
{
    REAL xx, xy, xz, yx, yy, yz, zx, zy, zz;
};
STRUCT(mat34)
{
    REAL xx, xy, xz, xw, yx, yy, yz, yw, zx, zy, zz, zw;
}; // row-major [L | t]

// Loads are macros, because p may be in any address space. p holds ELEM.
#define MAT34_AT(m, p, i)                                                                          \
    m = mat34_make(SPLAT(p[(i)]), SPLAT(p[(i) + 1]), SPLAT(p[(i) + 2]), SPLAT(p[(i) + 3]),         \
                   SPLAT(p[(i) + 4]), SPLAT(p[(i) + 5]), SPLAT(p[(i) + 6]), SPLAT(p[(i) + 7]),     \
                   SPLAT(p[(i) + 8]), SPLAT(p[(i) + 9]), SPLAT(p[(i) + 10]), SPLAT(p[(i) + 11]))
#define QUAT_AT(q, p, i)                                                                           \
    q = quat_make(SPLAT(p[(i)]), SPLAT(p[(i) + 1]), SPLAT(p[(i) + 2]), SPLAT(p[(i) + 3]))
#define SYM33_AT(s, p, i)                                                                          \
    s.xx = SPLAT(p[(i)]);                                                                          \
    s.xy = SPLAT(p[(i) + 1]);                                                                      \
    s.xz = SPLAT(p[(i) + 2]);                                                                      \
    s.yy = SPLAT(p[(i) + 3]);                                                                      \
    s.yz = SPLAT(p[(i) + 4]);                                                                      \
    s.zz = SPLAT(p[(i) + 5])
#define REAL3_AT(v, p, i) v = real3_make(SPLAT(p[(i)]), SPLAT(p[(i) + 1]), SPLAT(p[(i) + 2]))

// real3 -----------------------------------------------------------------------------------------

FN real3 real3_make(REAL x, REAL y, REAL z)
{
    real3 r = { x, y, z };
    return r;
}

FN real3 real3_zero(void)
{
    return real3_make(K(0.0), K(0.0), K(0.0));
}

FN real3 real3_minus(real3 a, real3 b)
{
    return real3_make(a.x - b.x, a.y - b.y, a.z - b.z);
}

FN real3 real3_blend(real3 s, REAL w, real3 v)
{
    return real3_make(FMA(w, v.x, s.x), FMA(w, v.y, s.y), FMA(w, v.z, s.z));
}

FN REAL real3_dot(real3 a, real3 b)
{
    return FMA(a.z, b.z, FMA(a.y, b.y, a.x * b.x));
}

// v * s + 0: one rounding, and never -0 from a zero.
FN real3 real3_scaled(real3 v, REAL s)
{
    return real3_make(FMA(v.x, s, K(0.0)), FMA(v.y, s, K(0.0)), FMA(v.z, s, K(0.0)));
}

// a < b ? v : u
FN real3 real3_select_less(REAL a, REAL b, real3 v, real3 u)
{
    return real3_make(SELECT_LESS(a, b, v.x, u.x), SELECT_LESS(a, b, v.y, u.y),
                      SELECT_LESS(a, b, v.z, u.z));
}

FN REAL real_mix(REAL a, REAL b, REAL f)
{
    return FMA(f, b, FNMA(f, a, a));
}

// f = 0 is a, f = 1 is b, both exactly.
FN real3 real3_mix(real3 a, real3 b, REAL f)
{
    return real3_make(real_mix(a.x, b.x, f), real_mix(a.y, b.y, f), real_mix(a.z, b.z, f));
}

// quat ------------------------------------------------------------------------------------------

FN quat quat_make(REAL w, REAL x, REAL y, REAL z)
{
    quat q = { w, x, y, z };
    return q;
}

FN quat quat_zero(void)
{
    return quat_make(K(0.0), K(0.0), K(0.0), K(0.0));
}

FN REAL quat_dot(quat a, quat b)
{
    return FMA(a.z, b.z, FMA(a.y, b.y, FMA(a.x, b.x, a.w * b.w)));
}

FN quat quat_blend(quat s, REAL w, quat q)
{
    return quat_make(FMA(w, q.w, s.w), FMA(w, q.x, s.x), FMA(w, q.y, s.y), FMA(w, q.z, s.z));
}

// a < b ? p : q
FN quat quat_select_less(REAL a, REAL b, quat p, quat q)
{
    return quat_make(SELECT_LESS(a, b, p.w, q.w), SELECT_LESS(a, b, p.x, q.x),
                     SELECT_LESS(a, b, p.y, q.y), SELECT_LESS(a, b, p.z, q.z));
}

// 2 / |q|^2, which turns a quaternion of any length into a rotation without normalising it first.
FN REAL quat_factor(quat q)
{
    REAL r = reciprocal_root(quat_dot(q, q));
    return (r + r) * r;
}

// The rotation of q, f = quat_factor(q). Products and sums apart, not FMA: many machines add beside
// multiplying.
FN mat33 quat_matrix(quat q, REAL f)
{
    REAL x = q.x * f, y = q.y * f, z = q.z * f;
    REAL xx = q.x * x, yy = q.y * y, zz = q.z * z;
    REAL xy = q.x * y, xz = q.x * z, yz = q.y * z;
    REAL wx = q.w * x, wy = q.w * y, wz = q.w * z;
    mat33 m;
    m.xx = K(1.0) - (yy + zz);
    m.xy = xy - wz;
    m.xz = xz + wy;
    m.yx = xy + wz;
    m.yy = K(1.0) - (xx + zz);
    m.yz = yz - wx;
    m.zx = xz - wy;
    m.zy = yz + wx;
    m.zz = K(1.0) - (xx + yy);
    return m;
}

// (0, v) q
FN quat quat_of_vector(real3 v, quat q)
{
    return quat_make(
        FNMA(v.z, q.z, FNMA(v.y, q.y, -(v.x * q.x))), FMA(v.y, q.z, FNMA(v.z, q.y, v.x * q.w)),
        FMA(v.z, q.x, FNMA(v.x, q.z, v.y * q.w)), FMA(v.x, q.y, FNMA(v.y, q.x, v.z * q.w)));
}

// The vector part of a b*, b* the conjugate.
FN real3 quat_times_conjugate(quat a, quat b)
{
    return real3_make(FMA(a.z, b.y, FNMA(a.y, b.z, FNMA(a.w, b.x, a.x * b.w))),
                      FMA(a.x, b.z, FNMA(a.z, b.x, FNMA(a.w, b.y, a.y * b.w))),
                      FMA(a.y, b.x, FNMA(a.x, b.y, FNMA(a.w, b.z, a.z * b.w))));
}

FN dual_quat dual_quat_zero(void)
{
    dual_quat d = { quat_zero(), quat_zero() };
    return d;
}

FN dual_quat dual_quat_blend(dual_quat s, REAL w, dual_quat d)
{
    s.q = quat_blend(s.q, w, d.q);
    s.e = quat_blend(s.e, w, d.e);
    return s;
}

// Translation of a dual quaternion of any length, f = quat_factor(d.q).
FN real3 dual_quat_translation(dual_quat d, REAL f)
{
    return real3_scaled(quat_times_conjugate(d.e, d.q), f);
}

// sym33 -----------------------------------------------------------------------------------------

FN sym33 sym33_zero(void)
{
    sym33 s;
    s.xx = s.xy = s.xz = s.yy = s.yz = s.zz = K(0.0);
    return s;
}

FN sym33 sym33_blend(sym33 s, REAL w, sym33 m)
{
    sym33 r = { FMA(w, m.xx, s.xx), FMA(w, m.xy, s.xy), FMA(w, m.xz, s.xz),
                FMA(w, m.yy, s.yy), FMA(w, m.yz, s.yz), FMA(w, m.zz, s.zz) };
    return r;
}

FN real3 sym33_vector(sym33 s, real3 v)
{
    return real3_make(FMA(s.xz, v.z, FMA(s.xy, v.y, s.xx * v.x)),
                      FMA(s.yz, v.z, FMA(s.yy, v.y, s.xy * v.x)),
                      FMA(s.zz, v.z, FMA(s.yz, v.y, s.xz * v.x)));
}

// Cofactors of a symmetric matrix are symmetric.
FN sym33 sym33_cofactor(sym33 s)
{
    sym33 c;
    c.xx = FNMA(s.yz, s.yz, s.yy * s.zz);
    c.xy = FNMA(s.xy, s.zz, s.xz * s.yz);
    c.xz = FNMA(s.xz, s.yy, s.xy * s.yz);
    c.yy = FNMA(s.xz, s.xz, s.xx * s.zz);
    c.yz = FNMA(s.xx, s.yz, s.xy * s.xz);
    c.zz = FNMA(s.xy, s.xy, s.xx * s.yy);
    return c;
}

// c = sym33_cofactor(s)
FN REAL sym33_determinant(sym33 s, sym33 c)
{
    return FMA(s.xz, c.xz, FMA(s.xy, c.xy, s.xx * c.xx));
}

// mat33, mat34 ----------------------------------------------------------------------------------

FN real3 mat33_vector(mat33 m, real3 v)
{
    return real3_make(FMA(m.xz, v.z, FMA(m.xy, v.y, m.xx * v.x)),
                      FMA(m.yz, v.z, FMA(m.yy, v.y, m.yx * v.x)),
                      FMA(m.zz, v.z, FMA(m.zy, v.y, m.zx * v.x)));
}

FN real3 mat33_point(mat33 m, real3 t, real3 v) // m v + t
{
    return real3_make(FMA(m.xz, v.z, FMA(m.xy, v.y, FMA(m.xx, v.x, t.x))),
                      FMA(m.yz, v.z, FMA(m.yy, v.y, FMA(m.yx, v.x, t.y))),
                      FMA(m.zz, v.z, FMA(m.zy, v.y, FMA(m.zx, v.x, t.z))));
}

FN mat34 mat34_make(REAL xx, REAL xy, REAL xz, REAL xw, REAL yx, REAL yy, REAL yz, REAL yw, REAL zx,
                    REAL zy, REAL zz, REAL zw)
{
    mat34 m = { xx, xy, xz, xw, yx, yy, yz, yw, zx, zy, zz, zw };
    return m;
}

FN mat34 mat34_zero(void)
{
    mat34 m;
    m.xx = m.xy = m.xz = m.xw = K(0.0);
    m.yx = m.yy = m.yz = m.yw = K(0.0);
    m.zx = m.zy = m.zz = m.zw = K(0.0);
    return m;
}

FN mat34 mat34_blend(mat34 s, REAL w, mat34 m)
{
    return mat34_make(FMA(w, m.xx, s.xx), FMA(w, m.xy, s.xy), FMA(w, m.xz, s.xz),
                      FMA(w, m.xw, s.xw), FMA(w, m.yx, s.yx), FMA(w, m.yy, s.yy),
                      FMA(w, m.yz, s.yz), FMA(w, m.yw, s.yw), FMA(w, m.zx, s.zx),
                      FMA(w, m.zy, s.zy), FMA(w, m.zz, s.zz), FMA(w, m.zw, s.zw));
}

FN real3 mat34_point(mat34 m, real3 p)
{
    return real3_make(FMA(m.xz, p.z, FMA(m.xy, p.y, FMA(m.xx, p.x, m.xw))),
                      FMA(m.yz, p.z, FMA(m.yy, p.y, FMA(m.yx, p.x, m.yw))),
                      FMA(m.zz, p.z, FMA(m.zy, p.y, FMA(m.zx, p.x, m.zw))));
}

FN real3 mat34_vector(mat34 m, real3 v)
{
    return real3_make(FMA(m.xz, v.z, FMA(m.xy, v.y, m.xx * v.x)),
                      FMA(m.yz, v.z, FMA(m.yy, v.y, m.yx * v.x)),
                      FMA(m.zz, v.z, FMA(m.zy, v.y, m.zx * v.x)));
}

// Cofactors of the linear part: det(L) L^-T without a division.
FN mat33 mat34_cofactor(mat34 m)
{
    mat33 c;
    c.xx = FNMA(m.yz, m.zy, m.yy * m.zz);
    c.xy = FNMA(m.yx, m.zz, m.yz * m.zx);
    c.xz = FNMA(m.yy, m.zx, m.yx * m.zy);
    c.yx = FNMA(m.xy, m.zz, m.xz * m.zy);
    c.yy = FNMA(m.xz, m.zx, m.xx * m.zz);
    c.yz = FNMA(m.xx, m.zy, m.xy * m.zx);
    c.zx = FNMA(m.xz, m.yy, m.xy * m.yz);
    c.zy = FNMA(m.xx, m.yz, m.xz * m.yx);
    c.zz = FNMA(m.xy, m.yx, m.xx * m.yy);
    return c;
}

// c = mat34_cofactor(m)
FN REAL mat34_determinant(mat34 m, mat33 c)
{
    return FMA(m.xz, c.xz, FMA(m.xy, c.xy, m.xx * c.xx));
}

#endif
