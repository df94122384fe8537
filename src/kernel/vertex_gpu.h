/// Kernel text: one vertex of the GPU schedule as values, from blended bones to finished outputs.
/// Concatenated after blend.h; the SKIN_ defines are those of skin_gpu.h. What it computes is what
/// the CPU's schedule computes.
#if !defined(CUTIS_KERNEL_VERTEX_GPU_H) && defined(SKIN_FORMULA)
#define CUTIS_KERNEL_VERTEX_GPU_H

#define SKIN_TURNED (SKIN_FORMULA != FORMULA_LBS)
// The blended matrix is needed: as the method, beside it, or for its centre.
#define SKIN_LINEAR                                                                                \
    (!SKIN_TURNED || SKIN_BLEND || SKIN_LINEAR_NORMALS || SKIN_FORMULA == FORMULA_SBS_WEIGHTED)
// The linear vertex leaves the kernel, wholly or in part.
#define SKIN_LINEAR_OUT (!SKIN_TURNED || SKIN_BLEND || SKIN_LINEAR_NORMALS)
#define SKIN_SHADED     (SKIN_NORMALS || SKIN_TANGENTS)

// One vertex, blended and not yet finished.
STRUCT(skin_vertex)
{
    real3 p, n, t;
    REAL w;              // handedness of the tangent
    REAL n_sign, t_sign; // to multiply normal and tangent with
};

// `sign` is that of a uniform frame's scale.
FN skin_vertex skin_linear(mat34 m, skin_vertex r, REAL sign)
{
    skin_vertex out = r;
    out.p = mat34_point(m, r.p);
    out.n_sign = sign;
    out.t_sign = sign;
#if SKIN_SHADED && SKIN_NONUNIFORM
    shaded s = linear_normal_nonuniform(m, r.n);
    out.n = s.v;
    out.n_sign = s.sign;
    out.t_sign = K(1.0);
#else
    out.n = mat34_vector(m, r.n);
#endif
    out.t = mat34_vector(m, r.t);
    out.w = r.w * out.n_sign;
    return out;
}

// d: the blended dual quaternion; c: the centre, `to` its blended image; s: the blended stretch of
// a nonuniform frame.
FN skin_vertex skin_turned(dual_quat d, real3 c, real3 to, sym33 s, skin_vertex r, REAL sign)
{
    skin_vertex out = r;
    REAL f = quat_factor(d.q);
    mat33 q = quat_matrix(d.q, f);
    out.n_sign = sign;
    out.t_sign = sign;
#if SKIN_NONUNIFORM
    shaded n = turned_normal_nonuniform(q, s, r.n);
    out.n = n.v;
    out.n_sign = n.sign;
    out.t = turned_tangent_nonuniform(q, s, r.t);
    out.t_sign = K(1.0);
#if SKIN_FORMULA == FORMULA_DQS
    out.p = dual_point_nonuniform(d, f);
#else
    out.p = spherical_point_nonuniform(q, s, to, r.p, c);
#endif
#else
    out.n = mat33_vector(q, r.n);
    out.t = mat33_vector(q, r.t);
#if SKIN_FORMULA == FORMULA_DQS
    out.p = dual_point(d, f, q, r.p);
#else
    out.p = spherical_point(q, to, r.p, c);
#endif
#endif
    out.w = r.w * out.n_sign;
    return out;
}

// Linear beside the method: a blend of both, or normals of the paper's shader.
FN skin_vertex skin_mixed(skin_vertex method, skin_vertex linear, REAL f)
{
#if SKIN_BLEND
    method.p = real3_mix(linear.p, method.p, f);
    method.n =
        real3_mix(real3_scaled(linear.n, linear.n_sign), real3_scaled(method.n, method.n_sign), f);
    method.t =
        real3_mix(real3_scaled(linear.t, linear.t_sign), real3_scaled(method.t, method.t_sign), f);
    method.n_sign = K(1.0); // the signs are in the values now
    method.t_sign = K(1.0);
#endif
#if SKIN_LINEAR_NORMALS
    method.n = linear.n;
    method.n_sign = linear.n_sign;
#endif
    return method;
}

FN skin_vertex skin_finished(skin_vertex v, REAL scale)
{
    v.p = finish_point(v.p, scale);
#if SKIN_UNIT
    v.n = finish_unit(v.n, v.n_sign);
    v.t = finish_unit(v.t, v.t_sign);
#else
    v.n = finish_vector(v.n, v.n_sign);
    v.t = finish_vector(v.t, v.t_sign);
#endif
    v.w = v.w + K(0.0);
    return v;
}

FN int ordered_bits(REAL x) // integers in the order of the floats
{
    int i = BITS(x);
    return i ^ ((i >> 31) & 0x7fffffff);
}

#endif
