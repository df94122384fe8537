/// Kernel text: copy positions to where the previous frame's are kept, before they are overwritten.
/// Concatenated after arguments_gpu.h; defined by the host: COPY_POSITIONS.
#if !defined(CUTIS_KERNEL_COPY_GPU_H) && defined(COPY_POSITIONS)
#define CUTIS_KERNEL_COPY_GPU_H

// A group of 256 items copies 256 vertices of one instance.
// clang-format off
KERNEL void cutis_copy(const skin_arguments a, GLOBAL const float *positions, GLOBAL float *previous
#ifndef KERNEL_CUDA
    , LOCAL float *unused
#endif
)
// clang-format on
{
    WORD parts = (a.vertex_count + 255u) / 256u;
    WORD2 instance = (WORD)GROUP_ID / parts;
    WORD2 vertex = (WORD)GROUP_ID % parts * 256u + (WORD)LOCAL_ID;
    WORD2 from = a.position_first + instance * a.position_step + vertex * a.position_stride;
    WORD2 to = a.previous_first + instance * a.previous_step + vertex * a.previous_stride;
    if (vertex < a.vertex_count) {
        previous[to] = positions[from];
        previous[to + 1] = positions[from + 1];
        previous[to + 2] = positions[from + 2];
    }
}

#endif
