/// fma and fmaf, rounded once. mingw-w64's round twice (through x87's 64 bits, and through double),
/// which shows in the last bit; here they stand before it, for the instruction where the machine
/// has it and by integers where not. tests/math/test_fma.c compares them with a C library that is
/// right.
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if !defined(FMA_NAME)
#define FMA_NAME(name) name
#endif

double FMA_NAME(fma)(double x, double y, double z);
float FMA_NAME(fmaf)(float x, float y, float z);

typedef unsigned __int128 wide;

/// |x| = m * 2^e with bit 52 of m set; x is finite and not 0.
static uint64_t split(double x, int *e)
{
    uint64_t bits, m;
    memcpy(&bits, &x, sizeof bits);
    m = bits & ((UINT64_C(1) << 52) - 1);
    *e = (int)(bits >> 52 & 0x7ff);
    if (*e == 0) { // denormal
        for (*e = 1; !(m >> 52); --*e) m <<= 1;
    } else {
        m |= UINT64_C(1) << 52;
    }
    *e -= 1075;
    return m;
}

/// What is shifted out stays as one bit that says there was something.
static wide shift_right(wide m, int by)
{
    if (by >= 128) return m != 0;
    if (by == 0) return m;
    return m >> by | ((m & (((wide)1 << by) - 1)) != 0);
}

static double round_once(wide m, int e, bool negative)
{
    int top = 127;
    while (!(m >> top)) top--;
    int cut = top - 52;
    if (e + cut < -1074) cut = -1074 - e; // denormal: fewer bits
    if (cut > 0) {
        const wide below = shift_right(m, cut - 2 > 0 ? cut - 2 : 0) << (cut == 1); // two bits more
        m = below >> 2;
        m += (below & 2) && ((below & 1) || (m & 1));
        e += cut;
    }
    const double size = ldexp((double)(uint64_t)m, e); // exact, or too large
    return negative ? -size : size;
}

static double by_integers(double x, double y, double z)
{
    if (!isfinite(x) || !isfinite(y) || x == 0 || y == 0) return x * y + z;
    if (!isfinite(z)) return z; // however large the product
    if (z == 0) return x * y;
    int ex, ey, ez;
    const uint64_t mx = split(x, &ex), my = split(y, &ey), mz = split(z, &ez);
    const bool product_negative = signbit(x) != signbit(y), negative = signbit(z) != 0;
    // Both with their first bit at 124 to 126: no sum is too large, and only what is shifted by more
    // than 20 loses bits, which then lie far below the last one of the result.
    wide p = (wide)mx * my << 20, q = (wide)mz << 73;
    int ep = ex + ey - 20;
    ez -= 73;
    const int e = ep > ez ? ep : ez;
    p = shift_right(p, e - ep), q = shift_right(q, e - ez);
    if (product_negative == negative) return round_once(p + q, e, negative);
    if (p == q) return 0.0;
    return p > q ? round_once(p - q, e, product_negative) : round_once(q - p, e, negative);
}

/// In double the product is exact; the sum is rounded to odd, so that rounding it to float rounds
/// the true sum.
static float by_doubles(float x, float y, float z)
{
    const double p = (double)x * y, s = p + z;
    const double part = s - p, rest = (p - (s - part)) + (z - part);
    uint64_t bits;
    memcpy(&bits, &s, sizeof bits);
    if (isfinite(s) && rest != 0 && !(bits & 1)) {
        bits += (rest > 0) == (s > 0) ? 1 : UINT64_MAX;
        double odd;
        memcpy(&odd, &bits, sizeof odd);
        return (float)odd;
    }
    return (float)s;
}

#if defined(__x86_64__)

__attribute__((target("fma"))) static double by_machine(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}

__attribute__((target("fma"))) static float by_machine_float(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}

#define MACHINE_HAS_IT __builtin_cpu_supports("fma")

#else
#define MACHINE_HAS_IT          false
#define by_machine(x, y, z)       by_integers(x, y, z)
#define by_machine_float(x, y, z) by_doubles(x, y, z)
#endif

double FMA_NAME(fma)(double x, double y, double z)
{
    return MACHINE_HAS_IT ? by_machine(x, y, z) : by_integers(x, y, z);
}

float FMA_NAME(fmaf)(float x, float y, float z)
{
    return MACHINE_HAS_IT ? by_machine_float(x, y, z) : by_doubles(x, y, z);
}
