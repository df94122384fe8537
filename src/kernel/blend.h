/// Kernel text: linear, spherical, dual-quaternion and optimized-centre skinning of one vertex (or
/// KERNEL_LANES of them). Include or concatenate after kernel.h and algebra.h.
///
/// A schedule walks the bones of a vertex (or the shared list of its block) in ascending order,
/// calls the add functions of its formula, then the finish functions. What the formulas compute:
/// docs/spec/blending.md. Uniform frames hold (R_j, t_j / sigma) and end with `* sigma`; nonuniform
/// ones hold the full [L | t], and sigma is 1.
///
///   LBS    m = mat34_blend(m, w, M)                           p = mat34_point(m, v)
///   SBS    c = the set's centre (a vertex with one bone: c = v); COR: c = the vertex's centre
///          q = dual_turn_add(...).sum.q, to = real3_blend(to, w, mat34_point(M, c)), nonuniform: s
///          = sym33_blend(s, w, S) p = mat33_point(Q, to, v - c), nonuniform: Q S in place of Q
///   SBS_WEIGHTED  first LBS's m, o = real3_blend(o, w, origin), the largest weight; then
///   centre_add, centre_solve:
///          c; then as SBS with to = mat34_point(m, c)
///   DQS    uniform: dual quaternions; nonuniform: every bone is the rigid motion with rotation R
///   that takes v to M v
///          (dual_of_image), and s as in SBS for normals and tangents
/// Normals: as the functions say; with `linear_normals` those of LBS. Tangents: x y z as a
/// difference of points (m, or Q, or Q S), w changes sign with the method's mirror_sign. Signs:
/// uniform frames multiply normals, tangents and w by mirror_sign(sigma); nonuniform frames normals
/// and w by that of their determinant, tangents by 1. With a blend factor: real3_mix(linear,
/// method, factor) of points, of signed normals (not with linear_normals) and of signed tangents.
/// Last: finish_point(p, sigma); finish_unit, or finish_vector where normals are raw; w + 0.
#ifndef CUTIS_KERNEL_BLEND_H
#define CUTIS_KERNEL_BLEND_H

// Below this square of its length a sum of quaternions has no direction: the bone with the largest
// weight decides.
#define TURN_DEGENERATE K(1e-12)
// The ridge of SBS_WEIGHTED's centre, as a fraction of the bones' mean square scale.
#define CENTRE_RIDGE K(1e-4)

// Outputs ---------------------------------------------------------------------------------------

// -1 where `determinant` (or the scale of a uniform frame) is negative, else 1.
FN REAL mirror_sign(REAL determinant)
{
    return SELECT_LESS(determinant, K(0.0), K(-1.0), K(1.0));
}

FN real3 finish_point(real3 p, REAL scale)
{
    return real3_scaled(p, scale);
}

// A raw normal or tangent: `sign` is mirror_sign of the vertex (of the frame, if it is uniform).
FN real3 finish_vector(real3 n, REAL sign)
{
    return real3_scaled(n, sign);
}

// A unit one; a zero vector stays zero.
FN real3 finish_unit(real3 n, REAL sign)
{
    return real3_scaled(n, reciprocal_root(real3_dot(n, n)) * sign);
}

// One morph target: v is the rest point, normal or tangent so far.
FN real3 morph_add(real3 v, REAL weight, real3 delta)
{
    return real3_blend(v, weight, delta);
}

// Linear ----------------------------------------------------------------------------------------

STRUCT(shaded)
{
    real3 v;
    REAL sign;
}; // a normal before its sign, and mirror_sign of its vertex

// Nonuniform frames: the cofactor rule. Uniform ones: mat34_vector(m, n), sign of the frame's
// scale.
FN shaded linear_normal_nonuniform(mat34 m, real3 n)
{
    mat33 c = mat34_cofactor(m);
    shaded r;
    r.v = mat33_vector(c, n);
    r.sign = mirror_sign(mat34_determinant(m, c));
    return r;
}

// Sums of rotations -----------------------------------------------------------------------------

STRUCT(dual_turn)
{
    dual_quat sum;
    quat pivot;
    REAL before;
}; // before: sum of the weights so far
STRUCT(largest)
{
    REAL weight;
    dual_quat d;
}; // the bone with the largest weight, lowest index first

// q and -q are one rotation: the weight's sign is chosen to agree with the pivot; a dot product of
// 0 counts as +.
FN REAL turn_weight(REAL w, quat pivot, quat q)
{
    return SELECT_LESS(quat_dot(pivot, q), K(0.0), -w, w);
}

FN dual_turn dual_turn_zero(void)
{
    dual_turn t = { dual_quat_zero(), quat_zero(), K(0.0) };
    return t;
}

// The pivot is the first bone with a weight.
FN dual_turn dual_turn_add(dual_turn t, REAL w, dual_quat d)
{
    t.pivot = quat_select_less(K(0.0), t.before, t.pivot, d.q);
    t.before = t.before + w;
    t.sum = dual_quat_blend(t.sum, turn_weight(w, t.pivot, d.q), d);
    return t;
}

FN largest largest_zero(void)
{
    largest r = { K(0.0), dual_quat_zero() };
    return r;
}

FN largest largest_add(largest r, REAL w, dual_quat d)
{
    r.d.q = quat_select_less(r.weight, w, d.q, r.d.q);
    r.d.e = quat_select_less(r.weight, w, d.e, r.d.e);
    r.weight = SELECT_LESS(r.weight, w, w, r.weight);
    return r;
}

// A degenerate sum becomes the bone with the largest weight. A schedule may leave `largest` and
// this call out where no lane has quat_dot(sum, sum) < TURN_DEGENERATE: the bits are the same. (SBS
// and COR: e is not used, leave it 0.)
FN dual_quat turn_settled(dual_quat sum, largest r)
{
    REAL square = quat_dot(sum.q, sum.q);
    dual_quat d;
    d.q = quat_select_less(square, TURN_DEGENERATE, r.d.q, sum.q);
    d.e = quat_select_less(square, TURN_DEGENERATE, r.d.e, sum.e);
    return d;
}

// Spherical: Q = quat_matrix(q, quat_factor(q)) -------------------------------------------------

// `to` is the blended image of the centre c.
FN real3 spherical_point(mat33 q, real3 to, real3 v, real3 c)
{
    return mat33_point(q, to, real3_minus(v, c));
}

FN real3 spherical_point_nonuniform(mat33 q, sym33 s, real3 to, real3 v, real3 c)
{
    return mat33_point(q, to, sym33_vector(s, real3_minus(v, c)));
}

// Normals of SBS, COR and DQS. Uniform frames: mat33_vector(q, n), sign of the frame's scale.
FN shaded turned_normal_nonuniform(mat33 q, sym33 s, real3 n)
{
    sym33 c = sym33_cofactor(s);
    shaded r;
    r.v = mat33_vector(q, sym33_vector(c, n));
    r.sign = mirror_sign(sym33_determinant(s, c));
    return r;
}

// Tangents follow the surface. Uniform frames: mat33_vector(q, t).
FN real3 turned_tangent_nonuniform(mat33 q, sym33 s, real3 t)
{
    return mat33_vector(q, sym33_vector(s, t));
}

// Dual quaternions ------------------------------------------------------------------------------

// f = quat_factor(d.q), q = quat_matrix(d.q, f)
FN real3 dual_point(dual_quat d, REAL f, mat33 q, real3 v)
{
    return mat33_point(q, dual_quat_translation(d, f), v);
}

// Nonuniform frames: one bone's dual quaternion for the vertex v, to blend as any other. It has no
// factor 0.5.
FN dual_quat dual_of_image(mat34 m, quat q, real3 v)
{
    dual_quat d;
    d.q = q;
    d.e = quat_of_vector(mat34_point(m, v), q);
    return d;
}

FN real3 dual_point_nonuniform(dual_quat d, REAL f)
{
    return dual_quat_translation(d, K(0.5) * f);
}

// Centre by weights (SBS_WEIGHTED) --------------------------------------------------------------

STRUCT(centre_sum)
{
    sym33 n;
    real3 g;
};

FN centre_sum centre_zero(void)
{
    centre_sum s = { sym33_zero(), real3_zero() };
    return s;
}

// Second walk over the bones: b is the first walk's blended matrix, o the blended origin. The right
// side is taken about o, as the difference of o's images, so that nothing large cancels in float.
FN centre_sum centre_add(centre_sum s, REAL w, mat34 m, mat34 b, real3 o)
{
    mat34 d = { m.xx - b.xx, m.xy - b.xy, m.xz - b.xz, m.xw - b.xw, m.yx - b.yx, m.yy - b.yy,
                m.yz - b.yz, m.yw - b.yw, m.zx - b.zx, m.zy - b.zy, m.zz - b.zz, m.zw - b.zw };
    real3 e = mat34_point(d, o);
    real3 x = real3_make(w * d.xx, w * d.yx, w * d.zx); // weighted columns
    real3 y = real3_make(w * d.xy, w * d.yy, w * d.zy);
    real3 z = real3_make(w * d.xz, w * d.yz, w * d.zz);
    s.n.xx = FMA(x.z, d.zx, FMA(x.y, d.yx, FMA(x.x, d.xx, s.n.xx)));
    s.n.xy = FMA(x.z, d.zy, FMA(x.y, d.yy, FMA(x.x, d.xy, s.n.xy)));
    s.n.xz = FMA(x.z, d.zz, FMA(x.y, d.yz, FMA(x.x, d.xz, s.n.xz)));
    s.n.yy = FMA(y.z, d.zy, FMA(y.y, d.yy, FMA(y.x, d.xy, s.n.yy)));
    s.n.yz = FMA(y.z, d.zz, FMA(y.y, d.yz, FMA(y.x, d.xz, s.n.yz)));
    s.n.zz = FMA(z.z, d.zz, FMA(z.y, d.yz, FMA(z.x, d.xz, s.n.zz)));
    s.g.x = FNMA(x.z, e.z, FNMA(x.y, e.y, FNMA(x.x, e.x, s.g.x)));
    s.g.y = FNMA(y.z, e.z, FNMA(y.y, e.y, FNMA(y.x, e.x, s.g.y)));
    s.g.z = FNMA(z.z, e.z, FNMA(z.y, e.y, FNMA(z.x, e.x, s.g.z)));
    return s;
}

// (N + ridge I) y = g by Cholesky, reciprocal roots for pivots; centre = o + y. The mean square
// scale is sum w |L|^2 / 3 = (trace N + |blended L|^2) / 3. A vertex whose largest weight is 1
// follows that bone: its centre is itself, so that the point is the blended matrix times v.
FN real3 centre_solve(centre_sum s, mat34 b, real3 o, REAL weight_largest, real3 v)
{
    REAL square = s.n.xx + s.n.yy + s.n.zz;
    square = FMA(b.xz, b.xz, FMA(b.xy, b.xy, FMA(b.xx, b.xx, square)));
    square = FMA(b.yz, b.yz, FMA(b.yy, b.yy, FMA(b.yx, b.yx, square)));
    square = FMA(b.zz, b.zz, FMA(b.zy, b.zy, FMA(b.zx, b.zx, square)));
    REAL ridge = (CENTRE_RIDGE * K(0.33333333333333333)) * square;
    REAL ix = reciprocal_root(s.n.xx + ridge);
    REAL xy = s.n.xy * ix, xz = s.n.xz * ix;
    REAL iy = reciprocal_root(FNMA(xy, xy, s.n.yy + ridge));
    REAL yz = FNMA(xy, xz, s.n.yz) * iy;
    REAL iz = reciprocal_root(FNMA(yz, yz, FNMA(xz, xz, s.n.zz + ridge)));
    REAL gx = s.g.x * ix;
    REAL gy = FNMA(xy, gx, s.g.y) * iy;
    REAL gz = FNMA(yz, gy, FNMA(xz, gx, s.g.z)) * iz;
    REAL z = gz * iz;
    REAL y = FNMA(yz, z, gy) * iy;
    REAL x = FNMA(xz, z, FNMA(xy, y, gx)) * ix;
    real3 c = real3_make(o.x + x, o.y + y, o.z + z);
    return real3_select_less(weight_largest, K(1.0), c, v);
}

// One vertex ------------------------------------------------------------------------------------
//
// What a schedule knows when it is compiled (nonuniform, normals, tangents: wanted) are constants.

/// A vertex in its rest pose, or blended and not yet finished.
STRUCT(skin_vertex)
{
    real3 p, n, t;
    REAL w;              // handedness of the tangent
    REAL n_sign, t_sign; // to multiply normal and tangent with
};

// `sign` is that of a uniform frame's scale.
FN skin_vertex vertex_linear(mat34 m, skin_vertex r, REAL sign, const int nonuniform,
                             const int normals, const int tangents)
{
    skin_vertex out = r;
    out.p = mat34_point(m, r.p);
    out.n_sign = out.t_sign = sign;
    if (nonuniform && (normals || tangents)) {
        shaded s = linear_normal_nonuniform(m, r.n);
        out.n = s.v;
        out.n_sign = s.sign;
        out.t_sign = K(1.0);
    } else if (normals) {
        out.n = mat34_vector(m, r.n);
    }
    if (tangents) {
        out.t = mat34_vector(m, r.t);
        out.w = r.w * out.n_sign;
    }
    return out;
}

// d: the blended dual quaternion, f = quat_factor(d.q), q = quat_matrix(d.q, f); c: the centre,
// `to` its blended image (`dual`: DQS, which has none); s: the blended stretch of a nonuniform
// frame.
FN skin_vertex vertex_turned(dual_quat d, REAL f, mat33 q, real3 c, real3 to, sym33 s,
                             skin_vertex r, REAL sign, const int dual, const int nonuniform,
                             const int normals, const int tangents)
{
    skin_vertex out = r;
    out.n_sign = out.t_sign = sign;
    if (nonuniform) {
        shaded n = turned_normal_nonuniform(q, s, r.n);
        out.p = dual ? dual_point_nonuniform(d, f) : spherical_point_nonuniform(q, s, to, r.p, c);
        out.n = n.v;
        out.n_sign = n.sign;
        out.t = turned_tangent_nonuniform(q, s, r.t);
        out.t_sign = K(1.0);
    } else {
        out.p = dual ? dual_point(d, f, q, r.p) : spherical_point(q, to, r.p, c);
        if (normals) out.n = mat33_vector(q, r.n);
        if (tangents) out.t = mat33_vector(q, r.t);
    }
    if (tangents) out.w = r.w * out.n_sign;
    return out;
}

// Linear beside the method: a blend of both by `f`, or normals of the paper's shader.
FN skin_vertex vertex_mixed(skin_vertex method, skin_vertex linear, REAL f, const int blend,
                            const int linear_normals)
{
    if (blend) {
        method.p = real3_mix(linear.p, method.p, f);
        method.n = real3_mix(real3_scaled(linear.n, linear.n_sign),
                             real3_scaled(method.n, method.n_sign), f);
        method.t = real3_mix(real3_scaled(linear.t, linear.t_sign),
                             real3_scaled(method.t, method.t_sign), f);
        method.n_sign = method.t_sign = K(1.0); // the signs are in the values now
    }
    if (linear_normals) {
        method.n = linear.n;
        method.n_sign = linear.n_sign;
    }
    return method;
}

#endif
