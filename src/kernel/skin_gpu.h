/// Kernel text: the GPU's schedule of blend skinning, shared by OpenCL and CUDA: what a warp does
/// with a block. Concatenated after kernel.h, algebra.h, blend.h, arguments_gpu.h and near_gpu.h;
/// group_gpu.h has the kernel itself.
///
/// A warp of 32 work items serves a block of 32 or, with KERNEL_PAIRS, 64 vertices that share a
/// bone list: weights and rest data stay in registers while it walks the instances of its group,
/// whose palettes lie in shared memory, so every palette read is a broadcast. Reading is what
/// bounds it (a row of a palette costs as many cycles as four of arithmetic, for whomever it is),
/// so a lane does two vertices with what it reads. Packed records go through shared memory and
/// leave as 16 bytes a lane. Invariant: bones are added in ascending order by the functions of
/// blend.h, so the bits are the reference's.
///
/// Defined by the host: FORMULA_LBS and so on (CUTIS_FORMULAS), SKIN_FORMULA, SKIN_NORMALS and
/// SKIN_TANGENTS (wanted), SKIN_UNIT (their length), SKIN_NONUNIFORM, SKIN_BLEND, SKIN_MORPH (0, or
/// triples of planes of a morph entry: 1 to 3), SKIN_LINEAR_NORMALS, SKIN_POSITIONS, SKIN_BOUNDS;
/// SKIN_WARPS a group; SKIN_NEAR (palettes in shared memory); SKIN_STAGED (packed records);
/// SKIN_AMOUNTS (those of morph targets there too, where four instances share a tile);
/// SKIN_LISTS (short bone lists in registers); SKIN_PTX (OpenCL on NVIDIA); SKIN_GROUPS (on a
/// multiprocessor, at least); SKIN_PALETTE (float4s of a bone's record) and where in it
/// SKIN_MATRIX, SKIN_ROTATION, SKIN_DUAL, SKIN_STRETCH, SKIN_ORIGIN and SKIN_SQUARES are;
/// SKIN_TOGETHER (instances of a group, at most: 8, or with SKIN_POSES more).
#if !defined(CUTIS_KERNEL_SKIN_GPU_H) && defined(SKIN_FORMULA)
#define CUTIS_KERNEL_SKIN_GPU_H

#define SKIN_TURNED (SKIN_FORMULA != FORMULA_LBS)
// The blended matrix is needed: as the method, beside it, or for its centre.
#define SKIN_LINEAR                                                                                \
    (!SKIN_TURNED || SKIN_BLEND || SKIN_LINEAR_NORMALS || SKIN_FORMULA == FORMULA_SBS_WEIGHTED)
// The linear vertex leaves the kernel, wholly or in part.
#define SKIN_LINEAR_OUT (!SKIN_TURNED || SKIN_BLEND || SKIN_LINEAR_NORMALS)

// NVIDIA's OpenCL (driver 580) refuses kernels with many inlined loops, or makes ones that fault,
// where CUDA makes right ones from the same text (compute-sanitizer finds nothing in them). So for
// OpenCL there are fewer copies: formulas that walk a list several times read it from memory (so do
// those that turn and also morph or blend with the linear vertex, which it refuses in part), and
// SBS asks in the loop whether a block has one centre.
#if !defined(KERNEL_CUDA) && (SKIN_FORMULA == FORMULA_SBS_WEIGHTED ||                              \
                              (SKIN_TURNED && (SKIN_NONUNIFORM || SKIN_MORPH || SKIN_LINEAR_OUT)))
#undef SKIN_LISTS
#define SKIN_LISTS 0
#endif

#define IMAGES_NONE  0 // each lane has its own centre
#define IMAGES       1 // the block has one, and its images are in shared memory
#define IMAGES_ASK   2
#define NO_VERTEX    0xffffffffu
#define NO_SET       0xffffffffu
#define PARTS        KERNEL_LANES  // vertices of a lane
#define SLOTS        (32u * PARTS) // of a block
#define CHUNK_BLOCKS (32u / PARTS) // as CUTIS_GPU_CHUNK_SLOTS says
#define SIGNS_APART  0x80000000u   // the signs of a block differ from lane to lane
#define SIGNS_LOOSE  0x40000000u   // a sum of quaternions may have no direction
#define LIST_LED     0x20000000u   // all lanes have weight on the first bone: it is their pivot
#define LIST_OWN     0x10000000u   // each lane has a list of its own bones
#define LIST_COUNT   0x0fffffffu
#define SIGNS_MAX    16       // bones; longer lists take their signs lane by lane
#define LIST_MAX     8        // bones whose weights are kept in registers
#define LIST_FEW     4        // bones whose signs are kept as words
#define IMAGE_ROWS   LIST_MAX // of an instance; the centre is in the first three's fourth words
// Instances whose morph targets are added together. Formulas that turn would be copied as often.
#define MORPH_TILE (!SKIN_MORPH || SKIN_TURNED || SKIN_POSES ? 1 : SKIN_TANGENTS ? 2 : 4)
#define RECORD     (3 + (SKIN_NORMALS ? 3 : 0) + (SKIN_TANGENTS ? 4 : 0)) // floats of a packed vertex

// What a group of work items knows. An instance's part of `near` is a row (scale, its sign, first
// float of its packed output as two words) and the records of the chunk's bones.
STRUCT(skin_group)
{
    GLOBAL const UINT *index;
    GLOBAL const float *layout, *frames;
    GLOBAL const float4 *frames4;
    GLOBAL float *positions, *normals, *tangents;
    NEAR_POINTER float4 *near;
    NEAR_POINTER UINT *instances, *stage_vertices, *stage_pieces;
    NEAR_POINTER float *stage, *box;
    NEAR_POINTER float4 *images;
    UINT first, count, near_step; // instances, float4s of one of them in `near`
    UINT lane, block_first;
    NEAR_FLOATS near_address;
    NEAR_FLOATS signs_address;
    NEAR_FLOATS images_address;
    NEAR_FLOATS stage_address;
    NEAR_FLOATS amounts_address;
#if SKIN_FOURS
    NEAR_WORDS stage_pieces_address;
#endif
};

// A block, and the vertex of this lane.
STRUCT(skin_block)
{
    // run: the first of SLOTS consecutive vertices (with SKIN_FOURS of fours), else NO_VERTEX
    UINT block, list_first, run;
    UINT list_at, list_step; // of its bones: the first, and words to the next
    int list_count;
    UINT vertex[PARTS], set[PARTS];
    REAL weight[LIST_MAX];
    int record[LIST_MAX];
    skin_vertex rest;
    real3 centre;
    UINT shared_set;
    REAL factor;
};

// Both vertices of a lane from memory, and one of them.
#define EACH_PART UNROLL for (int part = 0; part < PARTS; part++)
#if PARTS == 2
#define PARTS_AT(p)      BOTH((p)[0], (p)[32])
#define PART_OF(v, part) ((part) == 0 ? (v).x : (v).y)
#define ANY_BELOW(a, b)  ((a).x < (b).x || (a).y < (b).y)
#else
#define PARTS_AT(p)      ((p)[0])
#define PART_OF(v, part) (v)
#define ANY_BELOW(a, b)  ((a) < (b))
#endif

    // Palette records: `palette` is where those of the instance start
    // ------------------------------------

// In shared memory a record has an odd number of rows, so that eight lanes which read eight of them
// find them in banks of their own.
#if SKIN_NEAR
#define RECORD_ROWS SKIN_NEAR_PALETTE
#else
#define RECORD_ROWS SKIN_PALETTE
#endif

#if SKIN_NEAR && ADDRESSED
#define PALETTE_TYPE   UINT
#define PALETTE_UNIT   16
#define PALETTE_ROW(i) near_row(palette + (UINT)(i))
#define PALETTE_OF(g)  (s.near_address + ((g)*s.near_step + 1u) * 16u)
#else
#define PALETTE_UNIT   1
#define PALETTE_ROW(i) palette[i]
#if SKIN_NEAR
#define PALETTE_TYPE  NEAR_POINTER const float4 *
#define PALETTE_OF(g) (s.near + (g)*s.near_step + 1)
#else
#define PALETTE_TYPE  GLOBAL const float4 *
#define PALETTE_OF(g) (s.frames4 + a.palette / 4 + (s.first + (g)) * a.bone_count * SKIN_PALETTE)
#endif
#endif

// Row `i` of a record. A list from memory may be each vertex's own (b, other), a list in registers
// is everybody's.
STRUCT(real4)
{
    REAL x, y, z, w;
};
#define ROW_SHARED(r, at)                                                                          \
    {                                                                                              \
        float4 one = PALETTE_ROW(at);                                                              \
        r.x = SPLAT(one.x);                                                                        \
        r.y = SPLAT(one.y);                                                                        \
        r.z = SPLAT(one.z);                                                                        \
        r.w = SPLAT(one.w);                                                                        \
    }
#if PARTS == 2
#define ROW_AT(r, i)                                                                               \
    if (bones) {                                                                                   \
        ROW_SHARED(r, b + (i)*PALETTE_UNIT)                                                        \
    } else {                                                                                       \
        float4 one = PALETTE_ROW(b + (i)*PALETTE_UNIT);                                            \
        float4 two = PALETTE_ROW(other + (i)*PALETTE_UNIT);                                        \
        r.x = BOTH(one.x, two.x);                                                                  \
        r.y = BOTH(one.y, two.y);                                                                  \
        r.z = BOTH(one.z, two.z);                                                                  \
        r.w = BOTH(one.w, two.w);                                                                  \
    }
#else
#define ROW_AT(r, i) ROW_SHARED(r, b + (i)*PALETTE_UNIT)
#endif

#define MATRIX_AT(m)                                                                               \
    {                                                                                              \
        real4 r0;                                                                                  \
        real4 r1;                                                                                  \
        real4 r2;                                                                                  \
        ROW_AT(r0, SKIN_MATRIX)                                                                    \
        ROW_AT(r1, SKIN_MATRIX + 1)                                                                \
        ROW_AT(r2, SKIN_MATRIX + 2)                                                                \
        m = mat34_make(r0.x, r0.y, r0.z, r0.w, r1.x, r1.y, r1.z, r1.w, r2.x, r2.y, r2.z, r2.w);    \
    }
#define ROTATION_AT(q, part)                                                                       \
    {                                                                                              \
        real4 r0;                                                                                  \
        ROW_AT(r0, part)                                                                           \
        q = quat_make(r0.x, r0.y, r0.z, r0.w);                                                     \
    }
#define STRETCH_AT(m)                                                                              \
    {                                                                                              \
        real4 r0;                                                                                  \
        real4 r1;                                                                                  \
        ROW_AT(r0, SKIN_STRETCH)                                                                   \
        ROW_AT(r1, SKIN_STRETCH + 1)                                                               \
        m.xx = r0.x;                                                                               \
        m.xy = r0.y;                                                                               \
        m.xz = r0.z;                                                                               \
        m.yy = r0.w;                                                                               \
        m.yz = r1.x;                                                                               \
        m.zz = r1.y;                                                                               \
    }

// One bone's dual quaternion for the vertex at v; SBS and COR leave the dual part 0 and the
// compiler drops it.
#if SKIN_FORMULA == FORMULA_DQS && SKIN_NONUNIFORM
#define DUAL_AT(d, v)                                                                              \
    {                                                                                              \
        mat34 bone_matrix;                                                                         \
        quat bone_turn;                                                                            \
        MATRIX_AT(bone_matrix)                                                                     \
        ROTATION_AT(bone_turn, SKIN_ROTATION)                                                      \
        d = dual_of_image(bone_matrix, bone_turn, v);                                              \
    }
#elif SKIN_FORMULA == FORMULA_DQS
#define DUAL_AT(d, v)                                                                              \
    {                                                                                              \
        ROTATION_AT(d.q, SKIN_ROTATION)                                                            \
        ROTATION_AT(d.e, SKIN_DUAL)                                                                \
    }
#else
#define DUAL_AT(d, v)                                                                              \
    {                                                                                              \
        ROTATION_AT(d.q, SKIN_ROTATION)                                                            \
        d.e = quat_zero();                                                                         \
    }
#endif

// Walk the bone list; BODY gets the weight `w` and `b`, the place of the record. `bones` is a
// constant where the function is inlined: that many bones from registers (beyond its end a list has
// weight 0 on its last bone, which adds exactly nothing), or, 0, the whole list from memory.
#define LIST_ENTRY(i)                                                                              \
    ((int)s.index[k.list_at + (UINT)(i)*k.list_step] * (RECORD_ROWS * PALETTE_UNIT))
#define LIST_OTHER(i) /* of the lane's second vertex */                                            \
    ((int)s.index[k.list_at + (UINT)(i)*k.list_step + (k.list_step > 1u ? 32u : 0u)] *             \
     (RECORD_ROWS * PALETTE_UNIT))
#define EACH_BONE(BODY)                                                                            \
    NO_UNROLL for (int i = 0; i < k.list_count; i++)                                               \
    {                                                                                              \
        UINT weight_at = a.weights + SLOTS * (k.list_first + (UINT)i) + s.lane;                    \
        OPAQUE(weight_at); /* what leads to it is worth no register meanwhile */                   \
        REAL w = PARTS_AT(s.layout + weight_at);                                                   \
        int b = LIST_ENTRY(i);                                                                     \
        int other = PARTS == 2 ? LIST_OTHER(i) : b;                                                \
        (void)other;                                                                               \
        BODY                                                                                       \
    }
#define FOR_BONES(BODY)                                                                            \
    if (bones == 0) {                                                                              \
        EACH_BONE(BODY)                                                                            \
    } else {                                                                                       \
        UNROLL for (int i = 0; i < bones; i++)                                                     \
        {                                                                                          \
            if (i < 4 || (i & ~1) < k.list_count) {                                                \
                REAL w = k.weight[i];                                                              \
                int b = k.record[i];                                                               \
                int other = b;                                                                     \
                (void)other;                                                                       \
                BODY                                                                               \
            }                                                                                      \
        }                                                                                          \
    }

// Components of lane values, planes of SLOTS; by pointer, so that they differ by a constant.
#define PLANES3(v, base, place)                                                                    \
    {                                                                                              \
        GLOBAL const float *plane = s.layout + (base) + (WORD2)(place) * (3u * SLOTS) + s.lane;    \
        v = real3_make(PARTS_AT(plane), PARTS_AT(plane + SLOTS), PARTS_AT(plane + 2u * SLOTS));    \
    }

// What a block has before the first instance ----------------------------------------------------

// Lanes whose bones are few among many have lists of their own: fewer bones each, at the price of
// palette reads that are no broadcasts.
FN skin_block block_lists(const skin_arguments a, const skin_group s, UINT block)
{
    skin_block k;
    UINT count = s.index[a.blocks + 4u * block + 1u];
    k.block = block;
    k.list_first = s.index[a.blocks + 4u * block];
    k.list_count = (int)(count & LIST_COUNT);
    k.list_at = a.list_near + k.list_first;
    k.list_step = 1u;
    k.shared_set = s.index[a.blocks + 4u * block + 3u];
    if (count & LIST_OWN) {
        k.list_at = a.list_own + k.shared_set + s.lane;
        k.list_step = SLOTS;
        k.shared_set = NO_SET;
    }
    return k;
}

FN skin_block block_load(const skin_arguments a, const skin_group s, UINT block)
{
    skin_block k = block_lists(a, s, block);
    k.run = s.index[a.blocks + 4u * block + 2u];
    EACH_PART k.vertex[part] = s.index[a.vertices + SLOTS * block + 32u * (UINT)part + s.lane];
    PLANES3(k.rest.p, a.positions, block);
    k.rest.n = real3_zero();
    k.rest.t = real3_zero();
    k.rest.w = K(1.0);
    k.rest.n_sign = K(1.0);
    k.rest.t_sign = K(1.0);
#if SKIN_NORMALS
    PLANES3(k.rest.n, a.normals, block);
#endif
#if SKIN_TANGENTS
    GLOBAL const float *tangent = s.layout + a.tangents + (WORD2)block * (4u * SLOTS) + s.lane;
    k.rest.t =
        real3_make(PARTS_AT(tangent), PARTS_AT(tangent + SLOTS), PARTS_AT(tangent + 2u * SLOTS));
    k.rest.w = PARTS_AT(tangent + 3u * SLOTS);
#endif
    k.centre = real3_zero();
#if SKIN_FORMULA == FORMULA_COR
    PLANES3(k.centre, a.centres, block);
#endif
#if SKIN_FORMULA == FORMULA_SBS
    EACH_PART k.set[part] = s.index[a.sets + SLOTS * block + 32u * (UINT)part + s.lane];
    if (!SKIN_LISTS || !WARP_SYNCS || k.list_count > LIST_MAX) k.shared_set = NO_SET;
#endif
    k.factor = K(1.0);
#if SKIN_BLEND
    k.factor = PARTS_AT(s.layout + a.blend + SLOTS * block + s.lane);
#endif
    return k;
}

#if SKIN_FORMULA == FORMULA_SBS
// Where all lanes share a centre, its image under each bone is one point for all of them: every
// lane makes some; of a short list, one for each of 8 instances and 4 bones.
FN void block_images(const skin_arguments a, const skin_group s, const skin_block k)
{
    UINT few = k.list_count <= LIST_FEW ? LIST_FEW : LIST_MAX;
    NO_UNROLL for (UINT i = s.lane; i < s.count * few; i += 32u)
    {
        UINT g = i / few, entry = i % few;
        PALETTE_TYPE palette = PALETTE_OF(g);
        NEAR_POINTER float4 *rows = s.images + g * IMAGE_ROWS;
        float4 c = s.frames4[a.frame_centres / 4 + (s.first + g) * a.set_count + k.shared_set];
        const int bones = 1;
        int b = LIST_ENTRY((int)entry < k.list_count ? (int)entry : k.list_count - 1), other = b;
        mat34 m;
        MATRIX_AT(m)
        real3 image = mat34_point(m, real3_make(SPLAT(c.x), SPLAT(c.y), SPLAT(c.z)));
        rows[entry] = QUAD(PART_OF(image.x, 0), PART_OF(image.y, 0), PART_OF(image.z, 0),
                           entry == 0u   ? c.x
                           : entry == 1u ? c.y
                                         : c.z);
    }
}
#endif

// Quaternions that agree in sign with each other after some of them are negated agree with any
// pivot: then the sum is the reference's or its negative, which is the same rotation in the same
// bits (everything after it is even). One work item finds that out for one block and instance, by
// the dot products the reference would take. If they are no shorter than a half either, weights
// that are positive and sum to a half (the host looks at them) give a sum far longer than
// TURN_DEGENERATE. Where the first bone is every lane's pivot, agreeing with it is enough, and the
// sum is no shorter than that bone's part of it.
#if SKIN_TURNED
FN UINT signs_pair(UINT signs, int i, int j, quat earlier, quat later)
{
    UINT opposed = PART_OF(quat_dot(earlier, later), 0) < 0.0f ? 1u : 0u;
    if (i == 0) return signs | opposed << j;
    return opposed != (((signs >> j) ^ (signs >> i)) & 1u) ? signs | SIGNS_APART : signs;
}

FN UINT signs_length(quat q)
{
    float square = PART_OF(quat_dot(q, q), 0);
    return square >= 0.25f && square <= 4.0f ? 0u : SIGNS_LOOSE;
}

FN quat list_rotation(const skin_group s, const skin_block k, PALETTE_TYPE palette, int i)
{
    real4 row;
    ROW_SHARED(row, LIST_ENTRY(i) + SKIN_ROTATION * PALETTE_UNIT)
    return quat_make(row.x, row.y, row.z, row.w);
}

FN UINT block_signs(const skin_arguments a, const skin_group s, UINT block, UINT g)
{
    skin_block k = block_lists(a, s, block);
    PALETTE_TYPE palette = PALETTE_OF(g);
    UINT count = s.index[a.blocks + 4u * block + 1u], signs = count & SIGNS_LOOSE;
    if (k.list_count > SIGNS_MAX || count & LIST_OWN) return SIGNS_APART;
    if (k.list_count > 0 && k.list_count <= LIST_FEW) {
        quat q[LIST_FEW]; // the last one repeated agrees with itself
        UNROLL for (int j = 0; j < LIST_FEW; j++)
        {
            q[j] = list_rotation(s, k, palette, j < k.list_count ? j : k.list_count - 1);
            signs |= signs_length(q[j]);
            UNROLL for (int i = 0; i < j; i++) if (i == 0 || !(count & LIST_LED)) signs =
                signs_pair(signs, i, j, q[i], q[j]);
        }
        return signs;
    }
    NO_UNROLL for (int j = 0; j < k.list_count; j++)
    {
        quat later = list_rotation(s, k, palette, j);
        signs |= signs_length(later);
        NO_UNROLL for (int i = 0; i < (count & LIST_LED ? (j > 0 ? 1 : 0) : j); i++)
        {
            signs = signs_pair(signs, i, j, list_rotation(s, k, palette, i), later);
        }
    }
    return signs;
}

// Kept as what to change the sign of bones 1, 2 and 3 with, and all of it.
FN float4 signs_row(UINT signs)
{
    return QUAD(ELEM_FROM_BITS((int)(signs >> 1 << 31)), ELEM_FROM_BITS((int)(signs >> 2 << 31)),
                ELEM_FROM_BITS((int)(signs >> 3 << 31)), ELEM_FROM_BITS((int)signs));
}

// The weight of bone i with its sign; with `bones`, i is a constant.
FN REAL signed_weight(const int bones, REAL w, int i, float4 signs)
{
    if (bones && i == 0) return w;
    if (bones && i == 1) return FROM_BITS(BITS(w) ^ ELEM_BITS(signs.x));
    if (bones && i == 2) return FROM_BITS(BITS(w) ^ ELEM_BITS(signs.y));
    if (bones && i == 3) return FROM_BITS(BITS(w) ^ ELEM_BITS(signs.z));
    return FROM_BITS(BITS(w) ^ (int)((UINT)ELEM_BITS(signs.w) >> i << 31));
}
#endif

// One vertex of one instance --------------------------------------------------------------------

// Rest vertices of MORPH_TILE instances, moved by their morph targets: a delta, the most there is
// to read, is read once for all of them.
STRUCT(skin_tile)
{
    skin_vertex of[MORPH_TILE];
};
#define EACH_OF_TILE UNROLL for (int t = 0; t < MORPH_TILE; t++)

FN skin_tile tile_morphed(const skin_arguments a, const skin_group s, const skin_block k, UINT g)
{
    skin_tile tile;
    EACH_OF_TILE tile.of[t] = k.rest;
#if SKIN_MORPH
#if !SKIN_AMOUNTS
    UINT amounts[MORPH_TILE];
    EACH_OF_TILE // beyond the last of the group, that one again
    {
        UINT instance = g + (UINT)t < s.count ? g + (UINT)t : s.count - 1u;
        amounts[t] = a.targets + (s.first + instance) * a.target_count;
    }
#endif
    UINT end = s.index[a.morph_first + k.block + 1];
    UNROLL_TWO for (UINT e = s.index[a.morph_first + k.block]; e < end; e++)
    {
        UINT target = s.index[a.morph_target + e];
        real3 p, n = real3_zero(), along = real3_zero();
        PLANES3(p, a.morph_delta, e * SKIN_MORPH);
#if SKIN_NORMALS
        PLANES3(n, a.morph_delta, e * SKIN_MORPH + 1u);
#endif
#if SKIN_TANGENTS
        PLANES3(along, a.morph_delta, e * SKIN_MORPH + SKIN_MORPH - 1u);
#endif
#if SKIN_AMOUNTS
        float4 four = NEAR_ROW(NEAR_AT(s.amounts_address, target * 8u + g));
#endif
        EACH_OF_TILE
        {
#if SKIN_AMOUNTS
            REAL amount = SPLAT(t == 0 ? four.x : t == 1 ? four.y : t == 2 ? four.z : four.w);
#else
            REAL amount = SPLAT(s.frames[amounts[t] + target]);
#endif
            tile.of[t].p = morph_add(tile.of[t].p, amount, p);
            if (SKIN_NORMALS) tile.of[t].n = morph_add(tile.of[t].n, amount, n);
            if (SKIN_TANGENTS) tile.of[t].t = morph_add(tile.of[t].t, amount, along);
        }
    }
#endif
    return tile;
}

#if SKIN_TURNED
// The blended rotation (DQS: dual quaternion) of a vertex at v. With bones in registers, `apart`
// says that the block's signs do not hold for every lane or the sum may have no direction.
FN dual_quat vertex_turn(const int bones, const int apart, const skin_arguments a,
                         const skin_group s, const skin_block k, PALETTE_TYPE palette, float4 signs,
                         real3 v)
{
    dual_quat sum = dual_quat_zero(), d;
    if (apart || (bones == 0 && (UINT)ELEM_BITS(signs.w) & SIGNS_APART)) {
        dual_turn turned = dual_turn_zero();
        FOR_BONES(DUAL_AT(d, v) turned = dual_turn_add(turned, w, d);)
        sum = turned.sum;
    } else {
        FOR_BONES(DUAL_AT(d, v) sum = dual_quat_blend(sum, signed_weight(bones, w, i, signs), d);)
    }
    // The warp stays together, and lanes whose sum has a direction keep it.
    if ((apart || bones == 0) && WARP_ANY(ANY_BELOW(quat_dot(sum.q, sum.q), TURN_DEGENERATE))) {
        largest heaviest = largest_zero();
        EACH_BONE(DUAL_AT(d, v) heaviest = largest_add(heaviest, w, d);)
        sum = turn_settled(sum, heaviest);
    }
    return sum;
}
#endif

#if SKIN_FORMULA == FORMULA_SBS_WEIGHTED
FN real3 vertex_centre(const int bones, const skin_arguments a, const skin_group s,
                       const skin_block k, PALETTE_TYPE palette, mat34 blended, real3 v)
{
    real3 origin = real3_zero();
    REAL most = K(0.0);
    centre_sum sums = centre_zero();
    mat34 m;
    real4 o;
    FOR_BONES(ROW_AT(o, SKIN_ORIGIN) origin = real3_blend(origin, w, real3_make(o.x, o.y, o.z));
              most = SELECT_LESS(most, w, w, most);)
    FOR_BONES(MATRIX_AT(m) sums = centre_add(sums, w, m, blended, origin);)
    return centre_solve(sums, blended, origin, most, v);
}
#endif

#if SKIN_FORMULA == FORMULA_SBS
// The centre of each vertex's own set; a vertex without one is its own centre.
FN real3 vertex_set_centre(const skin_arguments a, const skin_group s, const skin_block k, UINT g,
                           real3 p)
{
    float4 c[PARTS];
    EACH_PART
    {
        c[part] = QUAD(PART_OF(p.x, part), PART_OF(p.y, part), PART_OF(p.z, part), 0.0f);
        if (k.set[part] != NO_SET)
            c[part] = s.frames4[a.frame_centres / 4 + (s.first + g) * a.set_count + k.set[part]];
    }
#if PARTS == 2
    return real3_make(BOTH(c[0].x, c[1].x), BOTH(c[0].y, c[1].y), BOTH(c[0].z, c[1].z));
#else
    return real3_make(c[0].x, c[0].y, c[0].z);
#endif
}
#endif

FN skin_vertex vertex_blended(const int bones, const int images, const int apart,
                              const skin_arguments a, const skin_group s, const skin_block k,
                              const skin_vertex r, UINT g, float4 signs, REAL sign)
{
    PALETTE_TYPE palette = PALETTE_OF(g);
    skin_vertex out = r;
    mat34 blended = mat34_zero(), m;
#if SKIN_LINEAR
    FOR_BONES(MATRIX_AT(m) blended = mat34_blend(blended, w, m);)
#endif
#if SKIN_LINEAR_OUT
    skin_vertex linear =
        vertex_linear(blended, r, sign, SKIN_NONUNIFORM, SKIN_NORMALS, SKIN_TANGENTS);
    out = linear;
#endif
#if SKIN_TURNED
    dual_quat sum = vertex_turn(bones, apart, a, s, k, palette, signs, r.p);
    real3 centre = r.p, to = real3_zero();
    sym33 stretch = sym33_zero();
#if SKIN_FORMULA == FORMULA_SBS
    if (images == IMAGES || (images == IMAGES_ASK && bones && k.shared_set != NO_SET)) {
        NEAR_FLOATS rows = NEAR_AT(s.images_address, g * (IMAGE_ROWS * 4u));
        float4 row0 = NEAR_ROW(rows), row1 = NEAR_ROW(NEAR_AT(rows, 4u)), image;
        float4 row2 = NEAR_ROW(NEAR_AT(rows, 8u));
        centre = real3_make(SPLAT(row0.w), SPLAT(row1.w), SPLAT(row2.w));
        UNROLL for (int i = 0; i < bones; i++)
        {
            if (i < LIST_FEW || i < k.list_count) {
                image = row0;
                if (i == 1) image = row1;
                if (i == 2) image = row2;
                if (i > 2) image = NEAR_ROW(NEAR_AT(rows, (UINT)i * 4u));
                to = real3_blend(to, k.weight[i],
                                 real3_make(SPLAT(image.x), SPLAT(image.y), SPLAT(image.z)));
            }
        }
    } else {
        centre = vertex_set_centre(a, s, k, g, r.p);
        FOR_BONES(MATRIX_AT(m) to = real3_blend(to, w, mat34_point(m, centre));)
    }
#elif SKIN_FORMULA == FORMULA_COR
    centre = k.centre;
    FOR_BONES(MATRIX_AT(m) to = real3_blend(to, w, mat34_point(m, centre));)
#elif SKIN_FORMULA == FORMULA_SBS_WEIGHTED
    centre = vertex_centre(bones, a, s, k, palette, blended, r.p);
    to = mat34_point(blended, centre);
#endif
#if SKIN_NONUNIFORM
    sym33 one;
    FOR_BONES(STRETCH_AT(one) stretch = sym33_blend(stretch, w, one);)
#endif
    REAL factor = quat_factor(sum.q);
    out = vertex_turned(sum, factor, quat_matrix(sum.q, factor), centre, to, stretch, r, sign,
                        SKIN_FORMULA == FORMULA_DQS, SKIN_NONUNIFORM, SKIN_NORMALS, SKIN_TANGENTS);
#if SKIN_LINEAR_OUT
    out = vertex_mixed(out, linear, k.factor, SKIN_BLEND, SKIN_LINEAR_NORMALS);
#endif
#endif
    return out;
}

// Outputs ---------------------------------------------------------------------------------------

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

FN void box_add(const skin_group s, UINT g, const skin_block k, real3 p)
{
#if SKIN_BOUNDS
    NEAR_POINTER float *mine = s.box + g * 192u + s.lane;
    EACH_PART
    {
        if (k.vertex[part] == NO_VERTEX) continue;
        const float q[3] = { PART_OF(p.x, part), PART_OF(p.y, part), PART_OF(p.z, part) };
        UNROLL for (int i = 0; i < 3; i++)
        {
            mine[32 * i] = q[i] < mine[32 * i] ? q[i] : mine[32 * i];
            mine[96 + 32 * i] = mine[96 + 32 * i] < q[i] ? q[i] : mine[96 + 32 * i];
        }
    }
#endif
}

// Packed records: into the warp's part of shared memory, and from there to the outputs. 32
// consecutive vertices are one run of 16-byte pieces; others go in pieces of 8 (or 4) bytes, so
// that neighbours still share a transaction.
#if RECORD == 6 || RECORD == 10
#define PIECE       float2
#define PIECE_STORE STREAM2
#define PIECES      (RECORD / 2) // of a vertex
#else
#define PIECE       float
#define PIECE_STORE STREAM1
#define PIECES      RECORD
#endif

FN void record_stage(NEAR_FLOATS to, skin_vertex v, const int part)
{
#if RECORD == 3
    NEAR_PUT(to, PART_OF(v.p.x, part));
    NEAR_PUT(NEAR_AT(to, 1u), PART_OF(v.p.y, part));
    NEAR_PUT(NEAR_AT(to, 2u), PART_OF(v.p.z, part));
#elif RECORD == 6 || RECORD == 10
    NEAR_PUT2(to, PART_OF(v.p.x, part), PART_OF(v.p.y, part));
    NEAR_PUT2(NEAR_AT(to, 2u), PART_OF(v.p.z, part), PART_OF(v.n.x, part));
    NEAR_PUT2(NEAR_AT(to, 4u), PART_OF(v.n.y, part), PART_OF(v.n.z, part));
#endif
#if RECORD == 10
    NEAR_PUT2(NEAR_AT(to, 6u), PART_OF(v.t.x, part), PART_OF(v.t.y, part));
    NEAR_PUT2(NEAR_AT(to, 8u), PART_OF(v.t.z, part), PART_OF(v.w, part));
#endif
}

#if SKIN_FOURS
// Four records are as many pieces of 16 bytes as a record has floats. Where the pieces of a block
// go in an instance's outputs, as words beside its vertices: of each part all it has, ROUNDS of a
// lane.
#define ROUNDS ((RECORD * 8u + 31u) / 32u)
FN void pieces_place(const skin_group s)
{
    UNROLL for (UINT i = 0; i < ROUNDS * PARTS; i++)
    {
        UINT piece = i % ROUNDS * 32u + s.lane;
        UINT four = i / ROUNDS * 8u + (piece < RECORD * 8u ? piece / RECORD : 0u);
        s.stage_pieces[i * 32u + s.lane] =
            s.stage_vertices[four * 4u] / 4u * RECORD + piece % RECORD;
    }
}
#endif

// A part of a block that is written in whole pieces. `from` is the lane's own first piece, `run`
// and `to` the bytes from the outputs' first where it goes.
FN void record_whole(NEAR_FLOATS from, const skin_group s, GLOBAL char *run, WORD2 to,
                     const int part)
{
#if SKIN_FOURS
    GLOBAL float4 *out = (GLOBAL float4 *)((GLOBAL char *)s.positions + to);
    NEAR_WORDS at = NEAR_AT(s.stage_pieces_address, (UINT)part * ROUNDS * 32u + s.lane);
    (void)run;
#else
    GLOBAL float4 *out = (GLOBAL float4 *)(run + to) + part * (RECORD * 8);
#endif
    UNROLL for (UINT i = 0; i < RECORD * 8u; i += 32u)
    {
        if (i + 32u <= RECORD * 8u || s.lane < RECORD * 8u - i) {
            UINT place = i;
#if SKIN_FOURS
            place = NEAR_WORD(NEAR_AT(at, i));
#endif
            float4 row = NEAR_ROW(NEAR_AT(from, i * 4u));
            STREAM4(out + place, row);
        }
    }
}

FN void record_scatter(NEAR_POINTER const float *stage, NEAR_POINTER const UINT *vertices,
                       UINT lane, GLOBAL float *to)
{
    OPAQUE(lane); // nothing of this is worth a register while it waits
    UNROLL for (UINT i = lane; i < PIECES * 32u; i += 32u)
    {
        UINT vertex = vertices[i / PIECES];
        GLOBAL PIECE *at = (GLOBAL PIECE *)(to + (WORD2)vertex * RECORD) + i % PIECES;
        if (vertex != NO_VERTEX) PIECE_STORE(at, ((NEAR_POINTER const PIECE *)stage)[i]);
    }
}

// A stream each, any stride.
FN void vertex_write(const skin_arguments a, const skin_group s, UINT vertex, WORD2 instance,
                     skin_vertex v, const int part)
{
    WORD2 at;
#if SKIN_POSITIONS
    at = a.position_first + instance * a.position_step + (WORD2)vertex * a.position_stride;
    s.positions[at] = PART_OF(v.p.x, part);
    s.positions[at + 1] = PART_OF(v.p.y, part);
    s.positions[at + 2] = PART_OF(v.p.z, part);
#endif
#if SKIN_NORMALS
    at = a.normal_first + instance * a.normal_step + (WORD2)vertex * a.normal_stride;
    s.normals[at] = PART_OF(v.n.x, part);
    s.normals[at + 1] = PART_OF(v.n.y, part);
    s.normals[at + 2] = PART_OF(v.n.z, part);
#endif
#if SKIN_TANGENTS
    at = a.tangent_first + instance * a.tangent_step + (WORD2)vertex * a.tangent_stride;
    s.tangents[at] = PART_OF(v.t.x, part);
    s.tangents[at + 1] = PART_OF(v.t.y, part);
    s.tangents[at + 2] = PART_OF(v.t.z, part);
    s.tangents[at + 3] = PART_OF(v.w, part);
#endif
}

// The instances of the group, for one block. With bones in registers those are left out that need
// the reference's own way with signs and lengths; `apart` does those (a bit each in `wanted`).
// `images`: IMAGES_... @return what was left out
FN UINT block_instances(const int bones, const int images, const int apart, const skin_arguments a,
                        const skin_group s, skin_block k, UINT wanted)
{
    GLOBAL const float *weights = s.layout + a.weights + (WORD2)k.list_first * SLOTS + s.lane;
    GLOBAL const UINT *list = s.index + k.list_at;
    UNROLL for (int i = 0; i < bones; i++)
    {
        k.weight[i] = K(0.0);
        k.record[i] = i < 2 ? 0 : k.record[1];
        // Lists are padded to an even length; with `apart` they may be shorter than 3.
        if (i < (apart ? 2 : 4) || (i & ~1) < k.list_count) {
            k.weight[i] = PARTS_AT(weights + SLOTS * i);
            k.record[i] = (int)list[i] * (RECORD_ROWS * PALETTE_UNIT);
        }
        OPAQUE(k.record[i]);
    }
#if SKIN_STAGED
    UINT half_at = 0u;
    GLOBAL char *run = (GLOBAL char *)(s.positions + (WORD2)k.run * RECORD + s.lane * 4u);
    NEAR_FLOATS put_at = NEAR_AT(s.stage_address, s.lane * RECORD);
    NEAR_FLOATS get_at = NEAR_AT(s.stage_address, s.lane * 4u);
    OPAQUE2(run);
    OPAQUE(put_at);
    OPAQUE(get_at);
#endif
    UINT left = 0u;
#if SKIN_TURNED
    NEAR_FLOATS signs_at = NEAR_AT(s.signs_address, (k.block - s.block_first) * 32u);
#endif
    NO_UNROLL for (UINT first = 0; first < s.count; first += MORPH_TILE)
    {
        skin_tile tile = tile_morphed(a, s, k, first);
        EACH_OF_TILE
        {
            UINT g = first + (UINT)t;
            if (MORPH_TILE > 1 && g >= s.count) break;
            float4 row = NEAR_ROW(NEAR_AT(s.near_address, g * s.near_step * 4u));
            float4 signs = QUAD(0.0f, 0.0f, 0.0f, 0.0f);
#if SKIN_TURNED
            signs = NEAR_ROW(signs_at);
            signs_at = NEAR_AT(signs_at, 4u);
            if (bones && !apart && (UINT)ELEM_BITS(signs.w) >= SIGNS_LOOSE) {
                left |= 1u << g;
                continue;
            }
            if (apart && !(wanted >> g & 1u)) continue;
#endif
            skin_vertex v = skin_finished(
                vertex_blended(bones, images, apart, a, s, k, tile.of[t], g, signs, SPLAT(row.y)),
                SPLAT(row.x));
            box_add(s, g, k, v.p);
#if SKIN_STAGED
            // Two halves, alternately: one is staged while slower lanes still read the other.
            WORD2 to = (WORD2)(UINT)ELEM_BITS(row.w) << 32 | (UINT)ELEM_BITS(row.z);
            EACH_PART
            {
                record_stage(NEAR_AT(put_at, half_at), v, part);
                WARP_SYNC;
                if (k.run != NO_VERTEX)
                    record_whole(NEAR_AT(get_at, half_at), s, run, to, part);
                else
                    record_scatter(s.stage + half_at, s.stage_vertices + 32 * part, s.lane,
                                   (GLOBAL float *)((GLOBAL char *)s.positions + to));
                half_at = RECORD * 32u - half_at;
            }
#else
            EACH_PART if (k.vertex[part] != NO_VERTEX)
                vertex_write(a, s, k.vertex[part], s.instances[g], v, part);
#endif
        }
    }
    return left;
}

// A block of a short list that all lanes share.
FN void block_listed(const int images, const skin_arguments a, const skin_group s, skin_block k)
{
    UINT left;
    if (k.list_count <= 2)
        left = block_instances(2, images, 0, a, s, k, 0u);
    else if (k.list_count <= 4)
        left = block_instances(4, images, 0, a, s, k, 0u);
    else
        left = block_instances(LIST_MAX, images, 0, a, s, k, 0u);
#if SKIN_TURNED
    if (left) {
        UINT again = k.block; // loaded again, so that nothing of it is kept for this rare case
        OPAQUE(again);
        WARP_SYNC; // lanes may still read what the last instance staged
        k = block_load(a, s, again);
        block_instances(LIST_MAX, images, 1, a, s, k, left);
    }
#endif
}

FN void block_run(const skin_arguments a, const skin_group s, UINT block)
{
    skin_block k = block_load(a, s, block);
#if SKIN_STAGED
    WARP_SYNC; // lanes may still read what the last block staged
    EACH_PART s.stage_vertices[32u * (UINT)part + s.lane] = k.vertex[part];
    WARP_SYNC;
#if SKIN_FOURS
    pieces_place(s);
#endif
#endif
#if SKIN_FORMULA == FORMULA_SBS && SKIN_LISTS && WARP_SYNCS
    WARP_SYNC;
    if (k.shared_set != NO_SET) block_images(a, s, k);
    WARP_SYNC;
#endif
    if (!SKIN_LISTS || k.list_count == 0 || k.list_count > LIST_MAX || k.list_step > 1u)
        block_instances(0, IMAGES_NONE, 0, a, s, k, 0u);
#if SKIN_FORMULA == FORMULA_SBS && WARP_SYNCS && defined(KERNEL_CUDA)
    else if (k.shared_set != NO_SET)
        block_listed(IMAGES, a, s, k);
    else
        block_listed(IMAGES_NONE, a, s, k);
#else
    else
        block_listed(IMAGES_ASK, a, s, k);
#endif
}

#endif
