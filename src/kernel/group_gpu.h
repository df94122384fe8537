/// Kernel text: the GPU's kernel of blend skinning, shared by OpenCL and CUDA. Concatenated after
/// skin_gpu.h and pose_gpu.h; reads their SKIN_ defines.
///
/// A group of SKIN_WARPS warps serves the blocks of a chunk for some instances: it brings what all
/// its blocks share of their palettes to shared memory, then a warp walks block after block.
#if !defined(CUTIS_KERNEL_GROUP_GPU_H) && defined(SKIN_FORMULA)
#define CUTIS_KERNEL_GROUP_GPU_H

// Which instances and blocks this group has.
FN skin_group group_begin(const skin_arguments a, GLOBAL const UINT *index, UINT chunk)
{
    skin_group s;
    s.index = index;
    s.lane = (UINT)LOCAL_ID % 32u;
    s.first = (UINT)GROUP_ID / (a.chunk_count * a.split_count) * a.group_instances;
    s.count = a.instance_count - s.first;
    if (s.count > a.group_instances) s.count = a.group_instances;
    s.block_first = index[a.chunk_block + chunk];
    s.near_step = 1;
#if SKIN_NEAR
    s.near_step += (index[a.near_first + chunk + 1] - index[a.near_first + chunk]) * RECORD_ROWS;
#endif
    return s;
}

// Rows and palettes of the group's instances, only the bones that the chunk's blocks use.
FN void group_load(const skin_arguments a, const skin_group s, GLOBAL const UINT *frame_index,
                   UINT chunk, UINT warp)
{
    UINT near_first = s.index[a.near_first + chunk];
    for (UINT g = warp; g < s.count; g += SKIN_WARPS) {
        UINT instance = s.first + g, place = frame_index[a.instances + instance];
        if (s.lane == 0) {
            float scale = s.frames[a.scales + instance];
            WORD2 to = (a.position_first + place * a.position_step) * 4u; // bytes
            s.instances[g] = place;
            s.near[g * s.near_step] =
                QUAD(scale, PART_OF(mirror_sign(SPLAT(scale)), 0), ELEM_FROM_BITS((int)(UINT)to),
                     ELEM_FROM_BITS((int)(UINT)(to >> 32)));
        }
#if SKIN_NEAR
        for (UINT i = s.lane; i + 1 < s.near_step; i += 32u) {
            UINT bone = s.index[a.near_bone + near_first + i / RECORD_ROWS];
            if (i % RECORD_ROWS < SKIN_PALETTE)
                s.near[g * s.near_step + 1u + i] =
                    s.frames4[a.palette / 4 + (instance * a.bone_count + bone) * SKIN_PALETTE +
                              i % RECORD_ROWS];
        }
#endif
    }
}

#if SKIN_AMOUNTS
// Amounts of the targets, eight instances of one side by side; beyond the last that one again.
FN void group_amounts(const skin_arguments a, const skin_group s, NEAR_POINTER float *amounts)
{
    for (UINT i = (UINT)LOCAL_ID; i < a.target_count * 8u; i += SKIN_WARPS * 32u) {
        UINT g = i % 8u < s.count ? i % 8u : s.count - 1u;
        amounts[i] = s.frames[a.targets + (s.first + g) * a.target_count + i / 8u];
    }
}
#endif

#if SKIN_TURNED
FN void group_signs(const skin_arguments a, const skin_group s, UINT block_end,
                    NEAR_POINTER float4 *signs)
{
    for (UINT i = (UINT)LOCAL_ID; i < s.count * CHUNK_BLOCKS; i += SKIN_WARPS * 32u) {
        UINT block = s.block_first + i % CHUNK_BLOCKS, g = i / CHUNK_BLOCKS;
        if (block < block_end)
            signs[i % CHUNK_BLOCKS * 8u + g] = signs_row(block_signs(a, s, block, g));
    }
}
#endif

#if SKIN_BOUNDS
FN void box_clear(const skin_group s)
{
    for (UINT i = s.lane; i < s.count * 192u; i += 32u)
        s.box[i] = i / 96u % 2u ? -ELEM_FROM_BITS(0x7f800000) : ELEM_FROM_BITS(0x7f800000);
}
#endif

FN int ordered_bits(float x) // integers in the order of the floats
{
    int i = ELEM_BITS(x);
    return i ^ ((i >> 31) & 0x7fffffff);
}

FN void group_bounds(const skin_group s, GLOBAL int *bounds)
{
    for (UINT g = 0; g < s.count; g++) {
        if (s.lane < 6u) {
            NEAR_POINTER const float *side = s.box + g * 192u + s.lane * 32u;
            GLOBAL int *slot = bounds + s.instances[g] * 6u + s.lane;
            float value = side[s.lane]; // rotated: no two lanes in one bank
            for (UINT i = 1; i < 32u; i++) {
                float other = side[(i + s.lane) % 32u];
                bool better = s.lane < 3u ? other < value : value < other;
                value = better ? other : value;
            }
            if (s.lane < 3u)
                ATOMIC_MIN(slot, ordered_bits(value));
            else
                ATOMIC_MAX(slot, ordered_bits(value));
        }
    }
}

// clang-format off
KERNEL BOUNDED(SKIN_WARPS * 32) void cutis_skin(
    const skin_arguments a, GLOBAL const UINT *RESTRICT index, GLOBAL const float *RESTRICT layout,
    GLOBAL const UINT *RESTRICT frame_index, GLOBAL const float *RESTRICT frames,
    GLOBAL const float4 *RESTRICT frames4, GLOBAL float *RESTRICT positions,
    GLOBAL float *RESTRICT normals, GLOBAL float *RESTRICT tangents, GLOBAL int *RESTRICT bounds
#ifndef KERNEL_CUDA
    , LOCAL float4 *near_memory
#endif
)
// clang-format on
{
#ifdef KERNEL_CUDA
    extern __shared__ float4 near_memory[];
#endif
    LOCAL UINT near_instances[SKIN_TOGETHER];
    UINT warp = (UINT)LOCAL_ID / 32u, split = (UINT)GROUP_ID % a.split_count;
    UINT chunk = (UINT)GROUP_ID % (a.chunk_count * a.split_count) / a.split_count;
    skin_group s = group_begin(a, index, chunk);
    s.layout = layout;
    s.frames = frames;
    s.frames4 = frames4;
    s.positions = positions;
    s.normals = normals;
    s.tangents = tangents;
    s.near = near_memory;
    s.instances = near_instances;
    s.near_address = ADDRESS_OF(near_memory);
    OPAQUE(s.near_address);
#if SKIN_STAGED
    LOCAL float4 stages[SKIN_WARPS * RECORD * 16];
    LOCAL UINT stage_vertices[SKIN_WARPS * SLOTS];
    s.stage = (NEAR_POINTER float *)stages + warp * (RECORD * 64u);
    s.stage_vertices = stage_vertices + warp * SLOTS;
#if SKIN_FOURS
    LOCAL UINT stage_pieces[SKIN_WARPS * ROUNDS * SLOTS];
    s.stage_pieces = stage_pieces + warp * (ROUNDS * SLOTS);
    s.stage_pieces_address = NEAR_WORDS_OF(s.stage_pieces);
#endif
    s.stage_address = ADDRESS_OF(s.stage);
    OPAQUE(s.stage_address);
#endif
#if SKIN_TURNED
    LOCAL float4 signs[8 * CHUNK_BLOCKS];
    s.signs_address = ADDRESS_OF(signs);
    OPAQUE(s.signs_address);
#endif
#if SKIN_FORMULA == FORMULA_SBS && SKIN_LISTS && WARP_SYNCS
    LOCAL float4 images[SKIN_WARPS * 8 * IMAGE_ROWS];
    s.images = images + warp * (8u * IMAGE_ROWS);
    s.images_address = ADDRESS_OF(s.images);
    OPAQUE(s.images_address);
#endif
    NEAR_POINTER float *after = (NEAR_POINTER float *)(near_memory + s.count * s.near_step);
#if SKIN_AMOUNTS
    s.amounts_address = ADDRESS_OF(after);
    group_amounts(a, s, after);
    after += a.target_count * 8u;
#endif
#if SKIN_BOUNDS
    s.box = after + warp * s.count * 192u;
    box_clear(s);
#endif
    (void)after;
    group_load(a, s, frame_index, chunk, warp);
    BARRIER;
    UINT block_end = index[a.chunk_block + chunk + 1];
#if SKIN_TURNED
    group_signs(a, s, block_end, signs);
    BARRIER;
#endif
    for (UINT block = s.block_first + split * SKIN_WARPS + warp; block < block_end;
         block += a.split_count * SKIN_WARPS)
#if SKIN_POSES
        pose_block_run(a, s, block);
#else
        block_run(a, s, block);
#endif
#if SKIN_BOUNDS
    BARRIER;
    group_bounds(s, bounds);
#endif
}

#endif
