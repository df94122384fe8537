/// Linear blend skinning in plain C, as one would write it: the rival that `times_plain` is
/// measured against.
#ifndef CUTIS_CLI_BENCH_PLAIN_H
#define CUTIS_CLI_BENCH_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_plain_mesh {
    uint32_t vertex_count;
    bool four;             ///< influences of every vertex; else `first` says
    const uint32_t *first; ///< vertex_count + 1
    const uint32_t *bones;
    const float *weights;
    const float *positions; ///< 3 per vertex
    const float *normals;   ///< 3 per vertex
} bench_plain_mesh;

/// Positions and normals of one frame: blend the 3x4 matrices of each vertex, then transform.
/// @param palette 12 per bone, row-major
/// @param unit    normals to length 1 by sqrtf and a division
void bench_plain_lbs(const bench_plain_mesh *mesh, const float *palette, bool unit,
                     float *positions, float *normals);

#endif
