/// Kernel text: the arguments of the GPU schedules, one struct passed by value. The host includes
/// this file too, so both sides read the same fields. Offsets are in 4-byte words: `layout` fields
/// into the skin's data, `frame` fields into the data of this call.
#ifndef CUTIS_KERNEL_ARGUMENTS_GPU_H
#define CUTIS_KERNEL_ARGUMENTS_GPU_H

#if defined(__OPENCL_VERSION__) || defined(__OPENCL_C_VERSION__)
#define WORD  uint
#define WORD2 ulong
#elif defined(__CUDACC__) || defined(__CUDACC_RTC__)
#define WORD  unsigned int
#define WORD2 unsigned long long
#else
#include <stdint.h>
#define WORD  uint32_t
#define WORD2 uint64_t
#endif

typedef struct skin_arguments {
    // Outputs: first float, floats from instance to instance.
    WORD2 position_first, position_step;
    WORD2 normal_first, normal_step;
    WORD2 tangent_first, tangent_step;
    WORD position_stride, normal_stride, tangent_stride; // floats from vertex to vertex
    WORD unused;
    // Shape of the launch.
    WORD chunk_count, split_count; // groups that share a chunk
    WORD group_instances;          // instances a group serves
    WORD instance_count;           // of this launch
    WORD bone_count, set_count, target_count, vertex_count;
    // Layout.
    WORD chunk_block; // chunk_count + 1: first block of a chunk
    WORD near_first;  // chunk_count + 1: into near_bone
    WORD near_bone;   // bones of a chunk
    WORD blocks;      // 4 words each: first and count (with flags) of its list, first vertex of
                 // a block of consecutive ones or fours of such (else NO_VERTEX), the one centre of
                 // its vertices (else NO_SET; where each lane has a list of its own: first word in
                 // list_own)
    WORD list_near; // position in near_bone of the chunk (without near palettes: the bone)
    WORD list_own;  // the same, 32 per list entry, of blocks whose lanes have lists of their own
    WORD weights;   // 32 per list entry
    WORD positions, normals, tangents; // planes of 32
    WORD vertices;                     // per slot
    WORD sets, centres, blend;
    WORD morph_first, morph_target, morph_delta;
    WORD pose_scales, pose_fields; // per slot; per block and pose: planes of e, s, normals
    // Frames of this launch.
    WORD instances;     // per instance: its place in the outputs
    WORD scales;        // per instance
    WORD palette;       // per instance and bone: a record of SKIN_PALETTE * 4 floats
    WORD frame_centres; // per instance and set: 4 floats
    WORD targets;       // per instance and target
    WORD bounds;        // 6 order-preserving integers per instance of the call
} skin_arguments;

#endif
