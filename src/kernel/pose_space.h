/// Kernel text: weighted pose space of one vertex (or KERNEL_LANES of them). Include or concatenate
/// after kernel.h and algebra.h.
///
/// The vertex has, per example pose k, a field (e_k, s_k) made at bind, and the frame has squared
/// distances per joint. A schedule sums the squared distance of every pose over the vertex's bones
/// (pose_square_add, ascending), finds the least of them, then adds the fields with weights
/// pose_phi and divides by their sum: the normalised radial interpolation of the examples, in its
/// collapsed form (docs/design/pose-space.md). Shifting by the least distance keeps the sum near 1
/// or above, however far the pose is.
#ifndef CUTIS_KERNEL_POSE_SPACE_H
#define CUTIS_KERNEL_POSE_SPACE_H

FN REAL pose_square_add(REAL sum, REAL weight, REAL square)
{
    return FMA(weight, square, sum);
}

// e^x for x <= 0, relative error below 2e-7; 0 below -80. Adding 1.5 2^23 leaves the nearest
// integer of x log2 e in the low bits; ln 2 is taken off in two parts.
FN REAL pose_exp(REAL x)
{
    REAL bounded = SELECT_LESS(x, K(-80.0), K(-80.0), x);
    REAL shifted = FMA(bounded, K(1.44269504), K(12582912.0));
    REAL n = shifted - K(12582912.0);
    REAL r = FNMA(n, K(1.42860677e-6), FNMA(n, K(0.693145752), bounded));
    REAL p = K(1.98756912e-4);
    p = FMA(p, r, K(1.39819995e-3));
    p = FMA(p, r, K(8.33345205e-3));
    p = FMA(p, r, K(4.16657962e-2));
    p = FMA(p, r, K(0.166666657));
    p = FMA(p, r, K(0.5));
    p = FMA(p * r, r, r) + K(1.0);
    // Times 2^n, by its exponent; 0x4B400000 are the bits of 1.5 2^23.
    REAL value = FROM_BITS(BITS(p) + (BITS(shifted) - 0x4B400000) * 0x800000);
    return SELECT_LESS(x, K(-80.0), K(0.0), value);
}

// The root of a square; 0 stays 0.
FN REAL pose_root(REAL square)
{
    return square * reciprocal_root(square);
}

// What a pose at `square` counts where the nearest one is at `least`. `scale`: 1 / sigma, or
// 1 / (2 sigma^2) for the Gaussian; 0 makes all poses count alike.
FN REAL pose_phi(REAL square, REAL least, REAL scale)
{
    return pose_exp((pose_root(least) - pose_root(square)) * scale);
}

FN REAL pose_phi_gaussian(REAL square, REAL least, REAL scale)
{
    return pose_exp((least - square) * scale);
}

// One over a positive sum of weights.
FN REAL pose_reciprocal(REAL sum)
{
    REAL r = reciprocal_root(sum);
    return r * r;
}

#endif
