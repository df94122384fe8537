// B-spline taps. The block of 4 x 4 x 4 voxels is one 64-bit word (x in bits 0-1, y in 2-3, z in
// 4-5 of the bit number), so that connectivity is a few shifts. Invariant: taps stand in ascending
// order of their bit, so sums over them always run the same way.
#include "fit/handles_taps.h"

#include <math.h>

static void spline(double x, double *out)
{
    double y = 1 - x;
    out[0] = y * y * y / 6;
    out[1] = (3 * x * x * x - 6 * x * x + 4) / 6;
    out[2] = (3 * y * y * y - 6 * y * y + 4) / 6; // = (-3x^3 + 3x^2 + 3x + 1) / 6, mirror-exact
    out[3] = x * x * x / 6;
}

static uint64_t grow(uint64_t reach, uint64_t inside)
{
    const uint64_t x0 = UINT64_C(0x1111111111111111), y0 = UINT64_C(0x000f000f000f000f);
    for (;;) {
        uint64_t next = reach;
        next |= (reach & ~(x0 << 3)) << 1 | (reach & ~x0) >> 1;
        next |= (reach & ~(y0 << 12)) << 4 | (reach & ~y0) >> 4;
        next |= reach << 16 | reach >> 16;
        next &= inside;
        if (next == reach) return reach;
        reach = next;
    }
}

void cutis_handles_taps_at(const cutis_handles_grid *grid, const double *point, bool connected,
                           cutis_handles_taps *out)
{
    double weight[3][4];
    int64_t first[3];
    uint32_t own = 0, shift = 0;
    out->count = 0;
    out->sum = 0;
    if (cutis_handles_voxel_of(grid, point) == CUTIS_HANDLES_NONE) return;
    for (int c = 0; c < 3; c++, shift += 2) {
        double place = (point[c] - grid->origin[c]) / grid->step;
        double base = floor(place - 0.5);
        spline(place - 0.5 - base, weight[c]);
        first[c] = (int64_t)base - 1;
        own |= (uint32_t)((int64_t)floor(place) - first[c]) << shift;
    }
    // Domain voxels keep two voxels from the grid's border, so the block is inside it.
    const uint32_t *corner = grid->index +
                             ((size_t)first[2] * grid->size[1] + (size_t)first[1]) * grid->size[0] +
                             first[0];
    const uint32_t *rows[16];
    uint64_t inside = 0;
    for (uint32_t r = 0; r < 16; r++) {
        const uint32_t *row = corner + ((size_t)(r >> 2) * grid->size[1] + (r & 3)) * grid->size[0];
        uint64_t four = 0;
        for (uint32_t x = 0; x < 4; x++) four |= (uint64_t)(row[x] != CUTIS_HANDLES_NONE) << x;
        inside |= four << (4 * r);
        rows[r] = row;
    }
    if (connected && inside != UINT64_MAX) inside = grow(UINT64_C(1) << own, inside);
    uint32_t count = 0;
    double sum = 0;
    for (uint32_t r = 0; r < 16; r++) {
        const uint64_t four = inside >> (4 * r) & 15;
        for (uint32_t x = 0; four && x < 4; x++) {
            if (!(four >> x & 1)) continue;
            const double value = weight[0][x] * weight[1][r & 3] * weight[2][r >> 2];
            out->voxel[count] = rows[r][x];
            out->weight[count++] = value;
            sum += value;
        }
    }
    out->count = count;
    out->sum = sum;
}
