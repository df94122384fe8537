/// Plain C, compiled with -O3 -march=native (cli/CMakeLists.txt), sharing nothing with the
/// library's kernels.
///
/// Of the ways to write the loop over influences (named fields, an array of 12, row by row; a fixed
/// or a variable number) this is the fastest with gcc 12, 8 ns a vertex with four influences where
/// the others take 9 to 24. Unrolled by hand for exactly four influences gcc reaches 5 (clang 17):
/// that is no longer plain.
#include "bench/plain.h"

#include <math.h>

typedef struct matrix {
    float xx, xy, xz, xw, yx, yy, yz, yw, zx, zy, zz, zw;
} matrix;

static inline void skin_vertex(const matrix *restrict palette, const uint32_t *restrict bones,
                               const float *restrict weights, uint32_t count,
                               const float *restrict p, const float *restrict n, bool unit,
                               float *restrict out_p, float *restrict out_n)
{
    matrix s = { 0 };
    for (uint32_t i = 0; i < count; i++) {
        const float w = weights[i];
        const matrix *m = palette + bones[i];
        s.xx += w * m->xx, s.xy += w * m->xy, s.xz += w * m->xz, s.xw += w * m->xw;
        s.yx += w * m->yx, s.yy += w * m->yy, s.yz += w * m->yz, s.yw += w * m->yw;
        s.zx += w * m->zx, s.zy += w * m->zy, s.zz += w * m->zz, s.zw += w * m->zw;
    }
    const float x = s.xx * n[0] + s.xy * n[1] + s.xz * n[2];
    const float y = s.yx * n[0] + s.yy * n[1] + s.yz * n[2];
    const float z = s.zx * n[0] + s.zy * n[1] + s.zz * n[2];
    const float scale = unit ? 1.0f / sqrtf(x * x + y * y + z * z) : 1.0f;
    out_p[0] = s.xx * p[0] + s.xy * p[1] + s.xz * p[2] + s.xw;
    out_p[1] = s.yx * p[0] + s.yy * p[1] + s.yz * p[2] + s.yw;
    out_p[2] = s.zx * p[0] + s.zy * p[1] + s.zz * p[2] + s.zw;
    out_n[0] = x * scale;
    out_n[1] = y * scale;
    out_n[2] = z * scale;
}

static inline void skin_four(const bench_plain_mesh *mesh, const matrix *restrict palette,
                             bool unit, float *restrict positions, float *restrict normals)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const uint64_t at = 3 * (uint64_t)v, first = 4 * (uint64_t)v;
        skin_vertex(palette, mesh->bones + first, mesh->weights + first, 4, mesh->positions + at,
                    mesh->normals + at, unit, positions + at, normals + at);
    }
}

static inline void skin_any(const bench_plain_mesh *mesh, const matrix *restrict palette, bool unit,
                            float *restrict positions, float *restrict normals)
{
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        const uint64_t at = 3 * (uint64_t)v;
        const uint32_t first = mesh->first[v];
        skin_vertex(palette, mesh->bones + first, mesh->weights + first, mesh->first[v + 1] - first,
                    mesh->positions + at, mesh->normals + at, unit, positions + at, normals + at);
    }
}

void bench_plain_lbs(const bench_plain_mesh *mesh, const float *palette, bool unit,
                     float *positions, float *normals)
{
    const matrix *matrices = (const matrix *)palette;
    if (mesh->four && unit)
        skin_four(mesh, matrices, true, positions, normals);
    else if (mesh->four)
        skin_four(mesh, matrices, false, positions, normals);
    else if (unit)
        skin_any(mesh, matrices, true, positions, normals);
    else
        skin_any(mesh, matrices, false, positions, normals);
}
