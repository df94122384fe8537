/// Kernel text: weighted pose space of one vertex (or KERNEL_LANES of them). Include or concatenate
/// after kernel.h and algebra.h.
///
/// The vertex has, per example pose k, a field (e_k, s_k) made at bind, and the frame has squared
/// distances per bone. A schedule takes POSE_CHUNK poses at a time (the last time POSE_QUAD, if
/// that is enough): it sums the squared distance of each over the vertex's bones (pose_square_add,
/// ascending), takes their roots, and adds the fields with weights pose_phi. Divided by the sum of
/// the weights that is the normalised radial interpolation of the examples, in its collapsed form
/// (docs/spec/pose-space.md 5.1). Weights are relative to the nearest pose so far, so that their
/// sum is near 1 or above however far the pose is; where a later chunk has a nearer one, what was
/// added is scaled (pose_rescale). Poses are padded to whole quads with fields of 0.
#ifndef CUTIS_KERNEL_POSE_SPACE_H
#define CUTIS_KERNEL_POSE_SPACE_H

#define POSE_QUAD  4
#define POSE_CHUNK 8

FN REAL pose_square_add(REAL sum, REAL weight, REAL square)
{
    return FMA(weight, square, sum);
}

// 2^x for x <= 0 (and a little above), relative error below 2e-7; what is below 2^-120 is that.
// Adding 1.5 2^23 leaves the nearest integer in the low bits; 0x4B400000 are the bits of it.
FN REAL pose_exp2(REAL x)
{
    REAL bounded = AT_LEAST(K(-120.0), x); // this way round NaN (of padding) is -120 too
    REAL shifted = bounded + K(12582912.0);
    REAL r = bounded - (shifted - K(12582912.0));
    REAL p = K(1.326472731e-3);
    p = FMA(p, r, K(9.671512991e-3));
    p = FMA(p, r, K(5.550733581e-2));
    p = FMA(p, r, K(0.2402224243));
    p = FMA(p, r, K(0.6931470037));
    p = FMA(p, r, K(1.0));
    return FROM_BITS(BITS(p) + (BITS(shifted) - 0x4B400000) * 0x800000);
}

// The root of a square below 1e30, to 1.3 ULP; 0 stays 0. A guess from the bits, a step of the
// third order towards 1 / root, then one of Newton's for the root itself.
FN REAL pose_root(REAL square)
{
    REAL y = FROM_BITS(RSQRT_MAGIC - (BITS(square) >> 1));
    REAL e = FNMA(square * y, y, K(1.0));
    y = FMA(y * e, FMA(e, K(0.375), K(0.5)), y);
    REAL g = square * y;
    return FMA(FNMA(g, g, square), K(0.5) * y, g);
}

// What a pose counts at a distance (the Gaussian: its square), where the nearest one is at
// `nearest` = bias / scale. `scale`: log2 e / sigma, or log2 e / (2 sigma^2); 0 makes all poses
// count alike.
FN REAL pose_phi(REAL distance, REAL bias, REAL scale)
{
    return pose_exp2(FNMA(distance, scale, bias));
}

// What weights relative to `nearest` are to be multiplied with when a pose at `nearer` has come.
FN REAL pose_rescale(REAL nearer, REAL nearest, REAL scale)
{
    return pose_exp2((nearer - nearest) * scale);
}

/// Sums over the poses so far, relative to the nearest of them.
STRUCT(pose_sums)
{
    real3 d, n;
    REAL total, nearest;
};

// What was added so far, relative to a pose that may be nearer.
FN pose_sums pose_sums_rescaled(pose_sums sums, REAL nearest, REAL scale)
{
    nearest = AT_MOST(sums.nearest, nearest);
    REAL factor = pose_rescale(nearest, sums.nearest, scale);
    sums.d = real3_scaled(sums.d, factor);
    sums.n = real3_scaled(sums.n, factor);
    sums.total = sums.total * factor;
    sums.nearest = nearest;
    return sums;
}

// One over a positive sum of weights.
FN REAL pose_reciprocal(REAL sum)
{
    REAL r = reciprocal_root(sum);
    return r * r;
}

#endif
