// A group of drivers, DRIVE_LANES at a time; included by drive.c once for each width. No guard, for
// it is included several times. Exponential and product of quaternions are those of math/quat.h,
// operation by operation.

// Rotation vectors and shifts: each u[i] times a sum, which is half the products. @param turns of
// the rotation vectors x, y, z
DRIVE_TARGET
static void DRIVE_NAME(sum)(const drive_group *g, drive_sums *out, float (*turns)[GROUP])
{
    typedef float real __attribute__((vector_size(4 * DRIVE_LANES)));
    for (uint32_t first = 0; first < GROUP; first += DRIVE_LANES) {
        real sum[OUTPUTS] = { { 0 } };
        const float *at = g->terms + first;
        for (uint32_t i = 0; i < g->input_count; i++) {
            real part[OUTPUTS], u, c;
            DRIVE_UNROLL
            for (int k = 0; k < OUTPUTS; k++) memcpy(&part[k], at + k * GROUP, sizeof c);
            at += OUTPUTS * GROUP;
            for (uint32_t j = i; j < g->input_count; j++, at += OUTPUTS * GROUP) {
                memcpy(&u, &out->inputs[j][first], sizeof u);
                DRIVE_UNROLL
                for (int k = 0; k < OUTPUTS; k++) {
                    memcpy(&c, at + k * GROUP, sizeof c);
                    part[k] += u * c;
                }
            }
            memcpy(&u, &out->inputs[i][first], sizeof u);
            DRIVE_UNROLL
            for (int k = 0; k < OUTPUTS; k++) sum[k] += u * part[k];
        }
        DRIVE_UNROLL
        for (int k = 0; k < 3; k++) {
            memcpy(&turns[k][first], &sum[k], sizeof sum[k]);
            memcpy(&out->shifts[k][first], &sum[3 + k], sizeof sum[k]);
        }
    }
}

// Rotations: exp of the rotation vectors times those at rest.
DRIVE_TARGET
static void DRIVE_NAME(turn)(const drive_group *g, float (*turns)[GROUP], drive_sums *out)
{
    typedef float half __attribute__((vector_size(2 * DRIVE_LANES)));
    typedef double wide __attribute__((vector_size(4 * DRIVE_LANES)));
    enum { HALF = DRIVE_LANES / 2 };
    static const double SINE[] = {
        1.0 / 6227020800, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6, 1
    };
    static const double COSINE[] = { 1.0 / 87178291200, 1.0 / 479001600, 1.0 / 3628800, 1.0 / 40320,
                                     1.0 / 720,         1.0 / 24,        1.0 / 2,       1 };
    static const double PI = 3.141592653589793;
    for (uint32_t first = 0; first < GROUP; first += HALF) {
        half f[4];
        wide r[3], b[4], q[4], by = { 0 }, sine = { 0 }, cosine = { 0 };
        DRIVE_UNROLL
        for (int k = 0; k < 3; k++) {
            memcpy(&f[k], &turns[k][first], sizeof f[k]);
            r[k] = __builtin_convertvector(f[k], wide);
        }
        DRIVE_UNROLL
        for (int k = 0; k < 4; k++) memcpy(&b[k], &g->turns[k][first], sizeof b[k]);
        by += 0.5, sine += SINE[0], cosine += COSINE[0];
        wide square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
        for (int l = 0; l < HALF; l++)
            if (!(square[l] <= PI * PI)) by[l] *= PI / sqrt(square[l]), square[l] = PI * PI;
        const wide h = 0.25 * square; // of the half angle
        DRIVE_UNROLL
        for (int k = 1; k < 7; k++) sine = SINE[k] - h * sine;
        DRIVE_UNROLL
        for (int k = 1; k < 8; k++) cosine = COSINE[k] - h * cosine;
        const wide x = by * sine * r[0], y = by * sine * r[1], z = by * sine * r[2];
        q[3] = cosine * b[0] - x * b[1] - y * b[2] - z * b[3];
        q[0] = cosine * b[1] + x * b[0] + y * b[3] - z * b[2];
        q[1] = cosine * b[2] - x * b[3] + y * b[0] + z * b[1];
        q[2] = cosine * b[3] + x * b[2] - y * b[1] + z * b[0];
        DRIVE_UNROLL
        for (int k = 0; k < 4; k++) {
            f[k] = __builtin_convertvector(q[k], half);
            memcpy(&out->turns[k][first], &f[k], sizeof f[k]);
        }
    }
}
