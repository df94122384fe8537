/// Values in fewer bits: floats to halves, unit vectors to octahedral words. One lane, float.
/// Invariant: rounded to nearest, ties to even, from integer steps and one addition that rounds, so
/// every device has the same bits.
#ifndef CUTIS_KERNEL_PACK_H
#define CUTIS_KERNEL_PACK_H

/// IEEE 754 binary16 of a float: beyond 65519 infinite, NaN stays one. All three ways are taken and
/// one is chosen, so that loops over vertices become vectors.
FN UINT pack_half(float x)
{
    UINT bits = (UINT)BITS(x), sign = bits >> 16 & 0x8000u, size = bits & 0x7fffffffu;
    // Below 2^-14: 0.5 has the place value of the smallest half, so the sum rounds to it.
    UINT small = (UINT)BITS(FROM_BITS((int)size) + 0.5f) - 0x3f000000u;
    UINT usual = (size + 0xc8000fffu + (size >> 13 & 1u)) >> 13;
    UINT beyond = size > 0x7f800000u ? 0x7e00u : 0x7c00u;
    UINT finite = size < 0x38800000u ? small : usual;
    return sign | (size >= 0x47800000u ? beyond : finite);
}

/// Two values of -1 .. 1 as signed words of 16 bits. 1.5 * 2^23 has the place value 1, so the sum
/// rounds to whole numbers.
FN UINT pack_pair(float x, float y)
{
    UINT low = (UINT)BITS(x * 32767.0f + 12582912.0f),
         high = (UINT)BITS(y * 32767.0f + 12582912.0f);
    return (low & 0xffffu) | high << 16;
}

FN float pack_size(float x)
{
    return x < 0.0f ? -x : x;
}

/// A direction on the octahedron |x| + |y| + |z| = 1, its lower half folded over the edges. Zero
/// stays zero.
FN UINT pack_octahedral(float x, float y, float z)
{
    float sum = pack_size(x) + pack_size(y) + pack_size(z);
    float inverse = reciprocal_root(sum * sum);
    float u = x * inverse, v = y * inverse;
    float a = 1.0f - pack_size(v), b = 1.0f - pack_size(u);
    float folded_u = u < 0.0f ? -a : a, folded_v = v < 0.0f ? -b : b;
    return pack_pair(z < 0.0f ? folded_u : u, z < 0.0f ? folded_v : v);
}

#endif
