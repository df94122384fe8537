/// The one random generator of the project: a hash of (seed, stream, index), no state, so any value
/// can be had in any order on any thread. Three rounds of the splitmix64 finaliser, one per word,
/// each word spread by a different odd constant before it enters; every input bit reaches every
/// output bit.
#include <cutis/synth.h>

static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= UINT64_C(0xbf58476d1ce4e5b9);
    x ^= x >> 27;
    x *= UINT64_C(0x94d049bb133111eb);
    x ^= x >> 31;
    return x;
}

uint64_t cutis_random_bits(uint64_t seed, uint64_t stream, uint64_t index)
{
    uint64_t x = mix(seed + UINT64_C(0x9e3779b97f4a7c15));
    x = mix((x ^ stream * UINT64_C(0xd1342543de82ef95)) + UINT64_C(0x9e3779b97f4a7c15));
    return mix((x ^ index * UINT64_C(0xda942042e4dd58b5)) + UINT64_C(0x9e3779b97f4a7c15));
}

double cutis_random_unit(uint64_t seed, uint64_t stream, uint64_t index)
{
    // The top 53 bits scaled by 2^-53: exact, never 1.
    return (double)(cutis_random_bits(seed, stream, index) >> 11) * 0x1p-53;
}
