/// Kernel text: the GPU's schedule of blend skinning, shared by OpenCL and CUDA. Concatenated after
/// kernel.h, algebra.h, blend.h and arguments_gpu.h.
///
/// A warp of 32 work items serves a block of 32 vertices that share a bone list: weights and rest
/// data stay in registers while it walks the instances of its group, whose palettes lie in shared
/// memory, so every palette read is a broadcast. Packed records go through shared memory and leave
/// as 16 bytes a lane. Invariant: bones are added in ascending order by the functions of blend.h,
/// so the bits are the reference's.
///
/// Defined by the host: SKIN_FORMULA, SKIN_NORMALS and SKIN_TANGENTS (wanted), SKIN_UNIT (their
/// length), SKIN_UNEVEN, SKIN_BLEND, SKIN_MORPH (0, or triples of planes of a morph entry: 1 to 3),
/// SKIN_LINEAR_NORMALS, SKIN_POSITIONS, SKIN_BOUNDS; SKIN_WARPS a group; SKIN_NEAR (palettes in
/// shared memory); SKIN_STAGED (packed records), SKIN_PTX (OpenCL on NVIDIA); SKIN_PALETTE (float4s
/// of a bone's record) and where in it SKIN_MATRIX, SKIN_ROTATION, SKIN_DUAL, SKIN_STRETCH and
/// SKIN_ORIGIN are.
#if !defined(CUTIS_KERNEL_SKIN_GPU_H) && defined(SKIN_FORMULA)
#define CUTIS_KERNEL_SKIN_GPU_H

#define NO_VERTEX 0xffffffffu
#define NO_SET    0xffffffffu

#define CHUNK_BLOCKS 32u         // CUTIS_GPU_CHUNK_BLOCKS
#define SIGNS_APART  0x80000000u // the signs of a block differ from lane to lane
#define SIGNS_MAX    16          // bones; longer lists take their signs lane by lane

#define FORMULA_LBS          0
#define FORMULA_SBS          1
#define FORMULA_SBS_WEIGHTED 2
#define FORMULA_DQS          3
#define FORMULA_COR          4

#define SKIN_TURNED  (SKIN_FORMULA != FORMULA_LBS)
#define SKIN_CENTRED (SKIN_TURNED && SKIN_FORMULA != FORMULA_DQS)
// The blended matrix is needed: as the method, beside it, or for its centre.
#define SKIN_LINEAR                                                                                \
    (!SKIN_TURNED || SKIN_BLEND || SKIN_LINEAR_NORMALS || SKIN_FORMULA == FORMULA_SBS_WEIGHTED)
// The linear vertex leaves the kernel, wholly or in part.
#define SKIN_LINEAR_OUT (!SKIN_TURNED || SKIN_BLEND || SKIN_LINEAR_NORMALS)
#define SKIN_SHADED     (SKIN_NORMALS || SKIN_TANGENTS)
#define RECORD          (3 + (SKIN_NORMALS ? 3 : 0) + (SKIN_TANGENTS ? 4 : 0)) // floats of a packed vertex

#define UNROLL    _Pragma("unroll")
#define NO_UNROLL _Pragma("unroll 1")
#ifndef INSTANCE_UNROLL
#define INSTANCE_UNROLL NO_UNROLL
#endif
#ifdef KERNEL_CUDA
#define PAIR(x, y)       make_float2(x, y)
#define QUAD(x, y, z, w) make_float4(x, y, z, w)
#define RESTRICT         __restrict__
#define ATOMIC_MIN(p, v) atomicMin(p, v)
#define ATOMIC_MAX(p, v) atomicMax(p, v)
#define WARP_SYNC        __syncwarp()
#define STREAM4(p, v)    __stcs(p, v)
#define STREAM2(p, v)    __stcs(p, v)
#define STREAM1(p, v)    __stcs(p, v)
#define BOUNDED(threads) __launch_bounds__(threads)
#define LOCAL_POINTER
#else
#define PAIR(x, y)       (float2)(x, y)
#define QUAD(x, y, z, w) (float4)(x, y, z, w)
#define RESTRICT         restrict
#define ATOMIC_MIN(p, v) atomic_min(p, v)
#define ATOMIC_MAX(p, v) atomic_max(p, v)
#define LOCAL_POINTER    LOCAL
#define BOUNDED(threads) __attribute__((reqd_work_group_size(threads, 1, 1)))
#if SKIN_PTX
#define WARP_SYNC __asm__ volatile("bar.warp.sync 0xffffffff;" ::: "memory")
#define STREAM4(p, v)                                                                              \
    __asm__ volatile("st.global.cs.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(p), "f"((v).x),           \
                     "f"((v).y), "f"((v).z), "f"((v).w)                                            \
                     : "memory")
#define STREAM2(p, v)                                                                              \
    __asm__ volatile("st.global.cs.v2.f32 [%0], {%1, %2};" ::"l"(p), "f"((v).x), "f"((v).y)        \
                     : "memory")
#define STREAM1(p, v) __asm__ volatile("st.global.cs.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory")
#else
#define WARP_SYNC     BARRIER // staged kernels have one warp a group here
#define STREAM4(p, v) (*(p) = (v))
#define STREAM2(p, v) (*(p) = (v))
#define STREAM1(p, v) (*(p) = (v))
#endif
#endif

// A warp can synchronise by itself, or is a whole group (and then its control flow is the group's).
#if defined(KERNEL_CUDA) || SKIN_PTX || SKIN_WARPS == 1
#define WARP_IMAGES      1
#define WARP_SYNC_IMAGES WARP_SYNC
#else
#define WARP_IMAGES 0
#define WARP_SYNC_IMAGES
#endif

// Palette records
// -----------------------------------------------------------------------------------

#if SKIN_NEAR
#define PALETTE_OF(g)    UINT palette_at = (g)*near_size;
#define PALETTE(b, part) near_palette[palette_at + (b) + (part)]
#else
#define PALETTE_OF(g)    UINT palette_at = a.palette / 4 + (first + (g)) * a.bone_count * SKIN_PALETTE;
#define PALETTE(b, part) frames4[palette_at + (b) + (part)]
#endif

#define MATRIX_AT(m, b)                                                                            \
    {                                                                                              \
        float4 r0 = PALETTE(b, SKIN_MATRIX), r1 = PALETTE(b, SKIN_MATRIX + 1);                     \
        float4 r2 = PALETTE(b, SKIN_MATRIX + 2);                                                   \
        m.xx = r0.x, m.xy = r0.y, m.xz = r0.z, m.xw = r0.w;                                        \
        m.yx = r1.x, m.yy = r1.y, m.yz = r1.z, m.yw = r1.w;                                        \
        m.zx = r2.x, m.zy = r2.y, m.zz = r2.z, m.zw = r2.w;                                        \
    }
#define ROTATION_AT(q, b, part)                                                                    \
    {                                                                                              \
        float4 r0 = PALETTE(b, part);                                                              \
        q.w = r0.x, q.x = r0.y, q.y = r0.z, q.z = r0.w;                                            \
    }
#define STRETCH_AT(s, b)                                                                           \
    {                                                                                              \
        float4 r0 = PALETTE(b, SKIN_STRETCH), r1 = PALETTE(b, SKIN_STRETCH + 1);                   \
        s.xx = r0.x, s.xy = r0.y, s.xz = r0.z, s.yy = r0.w, s.yz = r1.x, s.zz = r1.y;              \
    }

// One bone's dual quaternion for the vertex at v; SBS and COR leave the dual part 0 and the
// compiler drops it.
#if SKIN_FORMULA == FORMULA_DQS && SKIN_UNEVEN
#define DUAL_AT(d, b, v)                                                                           \
    {                                                                                              \
        mat34 bone_matrix;                                                                         \
        quat bone_turn;                                                                            \
        MATRIX_AT(bone_matrix, b)                                                                  \
        ROTATION_AT(bone_turn, b, SKIN_ROTATION)                                                   \
        d = dual_of_image(bone_matrix, bone_turn, v);                                              \
    }
#elif SKIN_FORMULA == FORMULA_DQS
#define DUAL_AT(d, b, v)                                                                           \
    {                                                                                              \
        ROTATION_AT(d.q, b, SKIN_ROTATION)                                                         \
        ROTATION_AT(d.e, b, SKIN_DUAL)                                                             \
    }
#else
#define DUAL_AT(d, b, v)                                                                           \
    {                                                                                              \
        ROTATION_AT(d.q, b, SKIN_ROTATION)                                                         \
        d.e = quat_zero();                                                                         \
    }
#endif

// Walk the bone list: the statements get `w` and `b`, the place of the record. The first bones of a
// list are in registers.
#ifndef NEAR_BONES
#define NEAR_BONES 8
#endif
#define LIST_BONES(begin, ...)                                                                     \
    NO_UNROLL for (int i = (begin); i < list_count; i++)                                           \
    {                                                                                              \
        REAL w = layout[a.weights + 32u * (list_first + (WORD)i) + lane];                          \
        int b = (int)index[a.list_near + list_first + (WORD)i] * SKIN_PALETTE;                     \
        __VA_ARGS__                                                                                \
    }
#define EACH_BONE(...) LIST_BONES(0, __VA_ARGS__) // for what is rare
#define FOR_BONES(...)                                                                             \
    {                                                                                              \
        UNROLL for (int i = 0; i < NEAR_BONES; i++)                                                \
        {                                                                                          \
            if (i < list_count) {                                                                  \
                REAL w = weight[i];                                                                \
                int b = record[i];                                                                 \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
        LIST_BONES(NEAR_BONES, __VA_ARGS__)                                                        \
    }

#define PLANES3(v, base, place)                                                                    \
    v.x = layout[(base) + 96u * (place) + lane];                                                   \
    v.y = layout[(base) + 96u * (place) + 32u + lane];                                             \
    v.z = layout[(base) + 96u * (place) + 64u + lane]

// One vertex, blended and not yet finished.
STRUCT(skin_vertex)
{
    real3 p, n, t;
    REAL w;              // handedness of the tangent
    REAL n_sign, t_sign; // to multiply normal and tangent with
};

// `sign` is that of an even frame's scale.
FN skin_vertex skin_linear(mat34 m, skin_vertex r, REAL sign)
{
    skin_vertex out = r;
    out.p = mat34_point(m, r.p);
    out.n_sign = sign;
    out.t_sign = sign;
#if SKIN_SHADED && SKIN_UNEVEN
    shaded s = linear_normal_uneven(m, r.n);
    out.n = s.v;
    out.n_sign = s.sign;
    out.t_sign = K(1.0);
#else
    out.n = mat34_vector(m, r.n);
#endif
    out.t = mat34_vector(m, r.t);
    out.w = r.w * out.n_sign;
    return out;
}

// d: the blended dual quaternion; c: the centre, `to` its blended image; s: the blended stretch of
// an uneven frame.
FN skin_vertex skin_turned(dual_quat d, real3 c, real3 to, sym33 s, skin_vertex r, REAL sign)
{
    skin_vertex out = r;
    REAL f = quat_factor(d.q);
    mat33 q = quat_matrix(d.q, f);
    out.n_sign = sign;
    out.t_sign = sign;
#if SKIN_UNEVEN
    shaded n = turned_normal_uneven(q, s, r.n);
    out.n = n.v;
    out.n_sign = n.sign;
    out.t = turned_tangent_uneven(q, s, r.t);
    out.t_sign = K(1.0);
#if SKIN_FORMULA == FORMULA_DQS
    out.p = dual_point_uneven(d, f);
#else
    out.p = spherical_point_uneven(q, s, to, r.p, c);
#endif
#else
    out.n = mat33_vector(q, r.n);
    out.t = mat33_vector(q, r.t);
#if SKIN_FORMULA == FORMULA_DQS
    out.p = dual_point(d, f, q, r.p);
#else
    out.p = spherical_point(q, to, r.p, c);
#endif
#endif
    out.w = r.w * out.n_sign;
    return out;
}

// Linear beside the method: a blend of both, or normals of the paper's shader.
FN skin_vertex skin_mixed(skin_vertex method, skin_vertex linear, REAL f)
{
#if SKIN_BLEND
    method.p = real3_mix(linear.p, method.p, f);
    method.n =
        real3_mix(real3_scaled(linear.n, linear.n_sign), real3_scaled(method.n, method.n_sign), f);
    method.t =
        real3_mix(real3_scaled(linear.t, linear.t_sign), real3_scaled(method.t, method.t_sign), f);
    method.n_sign = K(1.0); // the signs are in the values now
    method.t_sign = K(1.0);
#endif
#if SKIN_LINEAR_NORMALS
    method.n = linear.n;
    method.n_sign = linear.n_sign;
#endif
    return method;
}

FN skin_vertex skin_finished(skin_vertex v, REAL scale)
{
    v.p = finish_point(v.p, scale);
#if SKIN_UNIT
    v.n = finish_unit(v.n, v.n_sign);
    v.t = finish_unit(v.t, v.t_sign);
#else
    v.n = finish_vector(v.n, v.n_sign);
    v.t = finish_vector(v.t, v.t_sign);
#endif
    v.w = v.w + K(0.0);
    return v;
}

FN int ordered_bits(REAL x) // integers in the order of the floats
{
    int i = BITS(x);
    return i ^ ((i >> 31) & 0x7fffffff);
}

// Packed records: into the warp's part of shared memory, and from there to the outputs. 32
// consecutive vertices are one run of 16-byte pieces; others go in pieces of 8 (or 4) bytes, so
// that neighbours still share a transaction.
#if RECORD == 6 || RECORD == 10
#define STAGE_PIECE float2
#define STAGE_WIDTH 2
#define STAGE_STORE STREAM2
#else
#define STAGE_PIECE float
#define STAGE_WIDTH 1
#define STAGE_STORE STREAM1
#endif
#define STAGE_PIECES (RECORD / STAGE_WIDTH) // of a vertex

#if RECORD == 3
#define SKIN_STAGE(v)                                                                              \
    stage[lane * 3u] = v.p.x, stage[lane * 3u + 1u] = v.p.y, stage[lane * 3u + 2u] = v.p.z;
#elif RECORD == 6
#define SKIN_STAGE(v)                                                                              \
    pieces[lane * 3u] = PAIR(v.p.x, v.p.y);                                                        \
    pieces[lane * 3u + 1u] = PAIR(v.p.z, v.n.x);                                                   \
    pieces[lane * 3u + 2u] = PAIR(v.n.y, v.n.z);
#elif RECORD == 10
#define SKIN_STAGE(v)                                                                              \
    pieces[lane * 5u] = PAIR(v.p.x, v.p.y);                                                        \
    pieces[lane * 5u + 1u] = PAIR(v.p.z, v.n.x);                                                   \
    pieces[lane * 5u + 2u] = PAIR(v.n.y, v.n.z);                                                   \
    pieces[lane * 5u + 3u] = PAIR(v.t.x, v.t.y);                                                   \
    pieces[lane * 5u + 4u] = PAIR(v.t.z, v.w);
#endif

// clang-format off
KERNEL BOUNDED(SKIN_WARPS * 32) void cutis_skin(
    const skin_arguments a, GLOBAL const UINT *RESTRICT index, GLOBAL const float *RESTRICT layout,
    GLOBAL const UINT *RESTRICT frame_index, GLOBAL const float *RESTRICT frames,
    GLOBAL const float4 *RESTRICT frames4, GLOBAL float *RESTRICT positions,
    GLOBAL float *RESTRICT normals, GLOBAL float *RESTRICT tangents, GLOBAL int *RESTRICT bounds
#ifndef KERNEL_CUDA
    , LOCAL float4 *near_palette
#endif
)
// clang-format on
{
#ifdef KERNEL_CUDA
    extern __shared__ float4 near_palette[];
#endif
    LOCAL float near_scale[8];
    LOCAL UINT near_instance[8];
#if SKIN_STAGED
    LOCAL float4 stage4[SKIN_WARPS * RECORD * 8];
    LOCAL UINT stage_vertex[SKIN_WARPS * 32];
    LOCAL_POINTER float *stage = (LOCAL_POINTER float *)stage4 + LOCAL_ID / 32 * (RECORD * 32);
    LOCAL_POINTER STAGE_PIECE *pieces = (LOCAL_POINTER STAGE_PIECE *)stage;
    LOCAL_POINTER float4 *quads = (LOCAL_POINTER float4 *)stage;
#endif
#if SKIN_TURNED
    LOCAL UINT near_signs[8 * CHUNK_BLOCKS];
#endif
#if SKIN_FORMULA == FORMULA_SBS
    LOCAL float4 near_images[SKIN_WARPS * 8 * NEAR_BONES];
    LOCAL_POINTER float4 *images = near_images + LOCAL_ID / 32 * (8 * NEAR_BONES);
#endif
    UINT lane = (UINT)LOCAL_ID % 32u, warp = (UINT)LOCAL_ID / 32u;
    UINT part = (UINT)GROUP_ID % (a.chunk_count * a.split_count);
    UINT first = (UINT)GROUP_ID / (a.chunk_count * a.split_count) * a.group_instances;
    UINT count =
        a.instance_count - first < a.group_instances ? a.instance_count - first : a.group_instances;
    UINT chunk = part / a.split_count, split = part % a.split_count;
    UINT near_first = index[a.near_first + chunk];
    UINT near_size = (index[a.near_first + chunk + 1] - near_first) * SKIN_PALETTE;

    // Palettes of the group's instances, only the bones that the chunk's blocks use.
    for (UINT g = warp; g < count; g += SKIN_WARPS) {
        UINT instance = first + g;
        if (lane == 0) {
            near_scale[g] = frames[a.scales + instance];
            near_instance[g] = frame_index[a.instances + instance];
        }
#if SKIN_NEAR
        for (UINT i = lane; i < near_size; i += 32) {
            UINT bone = index[a.near_bone + near_first + i / SKIN_PALETTE];
            near_palette[g * near_size + i] =
                frames4[a.palette / 4 + (instance * a.bone_count + bone) * SKIN_PALETTE +
                        i % SKIN_PALETTE];
        }
#endif
    }
#if SKIN_BOUNDS
    LOCAL_POINTER float *box =
        (LOCAL_POINTER float *)(near_palette + (SKIN_NEAR ? count * near_size : 0u)) +
        warp * count * 192u;
    for (UINT g = 0; g < count; g++)
        for (UINT i = 0; i < 6; i++)
            box[g * 192u + i * 32u + lane] = i < 3 ? FROM_BITS(0x7f800000) : -FROM_BITS(0x7f800000);
#endif
    BARRIER;

    UINT block_first = index[a.chunk_block + chunk], block_end = index[a.chunk_block + chunk + 1];
#if SKIN_TURNED
    // Quaternions that agree in sign with each other after some of them are negated agree with any
    // pivot: then the sum is the reference's or its negative, which is the same rotation in the
    // same bits (everything after it is even). One work item finds that out for one block and
    // instance, by the dot products the reference would take.
    for (UINT i = (UINT)LOCAL_ID; i < count * CHUNK_BLOCKS; i += SKIN_WARPS * 32u) {
        UINT g = i / CHUNK_BLOCKS, block = block_first + i % CHUNK_BLOCKS;
        if (block < block_end) {
            UINT list_first = index[a.list_first + block];
            int list_count = (int)(index[a.list_first + block + 1] - list_first);
            UINT signs = list_count > SIGNS_MAX ? SIGNS_APART : 0u;
            PALETTE_OF(g)
            NO_UNROLL for (int j = 1; j < list_count && !(signs & SIGNS_APART); j++)
            {
                quat later;
                ROTATION_AT(later, (int)index[a.list_near + list_first + (UINT)j] * SKIN_PALETTE,
                            SKIN_ROTATION)
                NO_UNROLL for (int k = 0; k < j; k++)
                {
                    quat earlier;
                    ROTATION_AT(earlier,
                                (int)index[a.list_near + list_first + (UINT)k] * SKIN_PALETTE,
                                SKIN_ROTATION)
                    UINT opposed = quat_dot(earlier, later) < K(0.0) ? 1u : 0u;
                    if (k == 0)
                        signs |= opposed << j;
                    else if (opposed != (((signs >> j) ^ (signs >> k)) & 1u))
                        signs |= SIGNS_APART;
                }
            }
            near_signs[i] = signs;
        }
    }
    BARRIER;
#endif
    for (UINT block = block_first + split * SKIN_WARPS + warp; block < block_end;
         block += a.split_count * SKIN_WARPS) {
        UINT list_first = index[a.list_first + block];
        int list_count = (int)(index[a.list_first + block + 1] - list_first);
        REAL weight[NEAR_BONES];
        int record[NEAR_BONES];
        UNROLL for (int i = 0; i < NEAR_BONES; i++)
        {
            weight[i] = K(0.0);
            record[i] = 0;
            if (i < list_count) {
                weight[i] = layout[a.weights + 32u * (list_first + (UINT)i) + lane];
                record[i] = (int)index[a.list_near + list_first + (UINT)i] * SKIN_PALETTE;
            }
        }
        UINT vertex = index[a.vertices + 32u * block + lane];
        UINT block_vertex = index[a.block_vertex + block];
        skin_vertex rest;
        PLANES3(rest.p, a.positions, block);
        rest.n = real3_zero();
        rest.t = real3_zero();
        rest.w = K(0.0);
        rest.n_sign = K(1.0);
        rest.t_sign = K(1.0);
#if SKIN_NORMALS
        PLANES3(rest.n, a.normals, block);
#endif
#if SKIN_TANGENTS
        rest.t.x = layout[a.tangents + 128u * block + lane];
        rest.t.y = layout[a.tangents + 128u * block + 32u + lane];
        rest.t.z = layout[a.tangents + 128u * block + 64u + lane];
        rest.w = layout[a.tangents + 128u * block + 96u + lane];
#endif
#if SKIN_FORMULA == FORMULA_SBS
        UINT set = index[a.sets + 32u * block + lane];
#endif
#if SKIN_FORMULA == FORMULA_COR
        real3 rest_centre;
        PLANES3(rest_centre, a.centres, block);
#endif
#if SKIN_BLEND
        REAL factor = layout[a.blend + 32u * block + lane];
#else
        REAL factor = K(1.0);
#endif
#if SKIN_STAGED
        stage_vertex[LOCAL_ID] = vertex;
#endif
#if SKIN_FORMULA == FORMULA_SBS
        // Where all lanes share a centre, its image under each bone is one point for all of them:
        // every lane makes some.
        UINT shared_set =
            list_count <= NEAR_BONES && WARP_IMAGES ? index[a.block_set + block] : NO_SET;
        if (shared_set != NO_SET) {
            WARP_SYNC_IMAGES;
            for (UINT i = lane; i < count * NEAR_BONES; i += 32u) {
                UINT g = i / NEAR_BONES, k = i % NEAR_BONES;
                if ((int)k < list_count) {
                    float4 c =
                        frames4[a.frame_centres / 4 + (first + g) * a.set_count + shared_set];
                    real3 image;
                    mat34 m;
                    PALETTE_OF(g)
                    MATRIX_AT(m, (int)index[a.list_near + list_first + k] * SKIN_PALETTE)
                    image = mat34_point(m, real3_make(c.x, c.y, c.z));
                    images[i] = QUAD(image.x, image.y, image.z, K(0.0));
                }
            }
            WARP_SYNC_IMAGES;
        }
#endif
        INSTANCE_UNROLL for (UINT g = 0; g < count; g++)
        {
            PALETTE_OF(g)
            REAL scale = near_scale[g], sign = mirror_sign(scale);
            skin_vertex r = rest, out;
#if SKIN_MORPH
            UINT morph_end = index[a.morph_first + block + 1];
            for (UINT e = index[a.morph_first + block]; e < morph_end; e++) {
                REAL amount =
                    frames[a.targets + (first + g) * a.target_count + index[a.morph_target + e]];
                UINT planes = e * SKIN_MORPH;
                real3 delta;
                PLANES3(delta, a.morph_delta, planes);
                r.p = morph_add(r.p, amount, delta);
#if SKIN_NORMALS
                PLANES3(delta, a.morph_delta, planes + 1u);
                r.n = morph_add(r.n, amount, delta);
#endif
#if SKIN_TANGENTS
                PLANES3(delta, a.morph_delta, planes + SKIN_MORPH - 1u);
                r.t = morph_add(r.t, amount, delta);
#endif
            }
#endif
#if SKIN_LINEAR
            mat34 blended = mat34_zero();
            FOR_BONES({
                mat34 m;
                MATRIX_AT(m, b)
                blended = mat34_blend(blended, w, m);
            })
#endif
#if SKIN_LINEAR_OUT
            skin_vertex linear = skin_linear(blended, r, sign);
            out = linear;
#endif
#if SKIN_TURNED
            real3 centre = r.p, to = real3_zero();
            sym33 stretch = sym33_zero();
#if SKIN_FORMULA == FORMULA_SBS
            if (set != NO_SET) {
                float4 c = frames4[a.frame_centres / 4 + (first + g) * a.set_count + set];
                centre = real3_make(c.x, c.y, c.z);
            }
#elif SKIN_FORMULA == FORMULA_COR
            centre = rest_centre;
#elif SKIN_FORMULA == FORMULA_SBS_WEIGHTED
            real3 origin = real3_zero();
            REAL most = K(0.0);
            FOR_BONES({
                float4 o = PALETTE(b, SKIN_ORIGIN);
                origin = real3_blend(origin, w, real3_make(o.x, o.y, o.z));
                most = SELECT_LESS(most, w, w, most);
            })
            centre_sum sums = centre_zero();
            FOR_BONES({
                mat34 m;
                MATRIX_AT(m, b)
                sums = centre_add(sums, w, m, blended, origin);
            })
            centre = centre_solve(sums, blended, origin, most, r.p);
            to = mat34_point(blended, centre);
#endif
            dual_quat sum = dual_quat_zero();
            UINT signs = near_signs[g * CHUNK_BLOCKS + block - block_first];
            if (signs & SIGNS_APART) {
                dual_turn turned = dual_turn_zero();
                EACH_BONE({
                    dual_quat d;
                    DUAL_AT(d, b, r.p)
                    turned = dual_turn_add(turned, w, d);
                })
                sum = turned.sum;
            } else {
                FOR_BONES({
                    dual_quat d;
                    DUAL_AT(d, b, r.p)
                    sum = dual_quat_blend(sum, FROM_BITS(BITS(w) ^ (int)(signs >> i << 31)), d);
                })
            }
#if SKIN_FORMULA == FORMULA_SBS
            if (shared_set != NO_SET) {
                UNROLL for (int i = 0; i < NEAR_BONES; i++)
                {
                    if (i < list_count) {
                        float4 m = images[g * NEAR_BONES + i];
                        to = real3_blend(to, weight[i], real3_make(m.x, m.y, m.z));
                    }
                }
            } else
#endif
#if SKIN_FORMULA == FORMULA_SBS || SKIN_FORMULA == FORMULA_COR
                FOR_BONES({
                    mat34 m;
                    MATRIX_AT(m, b)
                    to = real3_blend(to, w, mat34_point(m, centre));
                })
#endif
#if SKIN_UNEVEN
            FOR_BONES({
                sym33 s;
                STRETCH_AT(s, b)
                stretch = sym33_blend(stretch, w, s);
            })
#endif
            if (quat_dot(sum.q, sum.q) < TURN_DEGENERATE) {
                largest heaviest = largest_zero();
                EACH_BONE({
                    dual_quat d;
                    DUAL_AT(d, b, r.p)
                    heaviest = largest_add(heaviest, w, d);
                })
                sum = turn_settled(sum, heaviest);
            }
            out = skin_turned(sum, centre, to, stretch, r, sign);
#if SKIN_LINEAR_OUT
            out = skin_mixed(out, linear, factor);
#endif
#endif
            out = skin_finished(out, scale);
#if SKIN_BOUNDS
            if (vertex != NO_VERTEX) {
                LOCAL_POINTER float *mine = box + g * 192u + lane;
                mine[0] = SELECT_LESS(out.p.x, mine[0], out.p.x, mine[0]);
                mine[32] = SELECT_LESS(out.p.y, mine[32], out.p.y, mine[32]);
                mine[64] = SELECT_LESS(out.p.z, mine[64], out.p.z, mine[64]);
                mine[96] = SELECT_LESS(mine[96], out.p.x, out.p.x, mine[96]);
                mine[128] = SELECT_LESS(mine[128], out.p.y, out.p.y, mine[128]);
                mine[160] = SELECT_LESS(mine[160], out.p.z, out.p.z, mine[160]);
            }
#endif
            WORD2 instance = near_instance[g];
#if SKIN_STAGED
            SKIN_STAGE(out)
            WARP_SYNC;
            GLOBAL float *to_instance = positions + a.position_first + instance * a.position_step;
            if (block_vertex != NO_VERTEX) {
                GLOBAL float4 *to4 =
                    (GLOBAL float4 *)(to_instance + (WORD2)block_vertex * RECORD) + lane;
                UNROLL for (UINT i = 0; i < RECORD * 8u; i += 32u)
                {
                    if (i + lane < RECORD * 8u) STREAM4(to4 + i, quads[i + lane]);
                }
            } else {
                UNROLL for (UINT i = 0; i < STAGE_PIECES * 32u; i += 32u)
                {
                    UINT owner = (i + lane) / STAGE_PIECES;
                    UINT to_vertex = stage_vertex[warp * 32u + owner];
                    GLOBAL float *at = to_instance + (WORD2)to_vertex * RECORD;
                    if (to_vertex != NO_VERTEX)
                        STAGE_STORE((GLOBAL STAGE_PIECE *)at + (i + lane) % STAGE_PIECES,
                                    pieces[i + lane]);
                }
            }
            WARP_SYNC;
#else
            if (vertex != NO_VERTEX) {
                WORD2 at;
#if SKIN_POSITIONS
                at = a.position_first + instance * a.position_step +
                     (WORD2)vertex * a.position_stride;
                positions[at] = out.p.x;
                positions[at + 1] = out.p.y;
                positions[at + 2] = out.p.z;
#endif
#if SKIN_NORMALS
                at = a.normal_first + instance * a.normal_step + (WORD2)vertex * a.normal_stride;
                normals[at] = out.n.x;
                normals[at + 1] = out.n.y;
                normals[at + 2] = out.n.z;
#endif
#if SKIN_TANGENTS
                at = a.tangent_first + instance * a.tangent_step + (WORD2)vertex * a.tangent_stride;
                tangents[at] = out.t.x;
                tangents[at + 1] = out.t.y;
                tangents[at + 2] = out.t.z;
                tangents[at + 3] = out.w;
#endif
            }
#endif
        }
    }
#if SKIN_BOUNDS
    BARRIER;
    for (UINT g = 0; g < count; g++)
        if (lane < 6) {
            float value = box[g * 192u + lane * 32u + lane]; // rotated: no two lanes in one bank
            for (UINT i = 1; i < 32; i++) {
                float other = box[g * 192u + lane * 32u + (i + lane) % 32u];
                value = lane < 3 ? SELECT_LESS(other, value, other, value)
                                 : SELECT_LESS(value, other, other, value);
            }
            GLOBAL int *slot = bounds + near_instance[g] * 6u + lane;
            if (lane < 3)
                ATOMIC_MIN(slot, ordered_bits(value));
            else
                ATOMIC_MAX(slot, ordered_bits(value));
        }
#endif
}

#endif
