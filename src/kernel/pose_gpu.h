/// Kernel text: weighted pose space in the GPU's schedule, shared by OpenCL and CUDA: vertices are
/// displaced by pose_space.h, then blended linearly. Concatenated after skin_gpu.h, in whose place
/// its walk over a block stands.
///
/// A lane serves POSE_TILE instances at a time, so that a field, the most there is to read, is read
/// once for all of them. Bones' records have the squared distances of the poses behind their
/// matrix, four to a row. Invariant: poses in the chunks of the kernel text and bones in ascending
/// order, so the bits are the reference's.
///
/// Defined by the host: SKIN_POSES (padded to whole quads), SKIN_POSE_PLANES (4, with normals 7),
/// SKIN_GAUSSIAN, POSE_TILE, SKIN_SQUARES (where in a bone's record they are).
#if !defined(CUTIS_KERNEL_POSE_GPU_H) && defined(SKIN_FORMULA) && SKIN_POSES
#define CUTIS_KERNEL_POSE_GPU_H

#define EACH_INSTANCE UNROLL for (int t = 0; t < POSE_TILE; t++)
#define EACH_POSE     UNROLL for (int p = 0; p < count; p++)

STRUCT(pose_tile)
{
    pose_sums of[POSE_TILE];
};

// Instance t of a tile; beyond the last of the group, that one again.
FN UINT tile_instance(const skin_group s, UINT g, int t)
{
    return g + (UINT)t < s.count ? g + (UINT)t : s.count - 1u;
}

// `count` poses from `quad` * 4 on, for all instances of a tile. `bones`: as in FOR_BONES.
FN pose_tile pose_chunk_add(const int bones, const int count, const skin_arguments a,
                            const skin_group s, const skin_block k, UINT quad, UINT g, REAL scale,
                            pose_tile tile)
{
    REAL at[POSE_TILE][POSE_CHUNK];
    PALETTE_TYPE palettes[POSE_TILE];
    EACH_INSTANCE
    {
        palettes[t] = PALETTE_OF(tile_instance(s, g, t));
        EACH_POSE at[t][p] = K(0.0);
    }
    FOR_BONES(EACH_INSTANCE {
        PALETTE_TYPE palette = palettes[t];
        float4 q = PALETTE_ROW(b + (SKIN_SQUARES + (int)quad) * PALETTE_UNIT);
        at[t][0] = pose_square_add(at[t][0], w, q.x);
        at[t][1] = pose_square_add(at[t][1], w, q.y);
        at[t][2] = pose_square_add(at[t][2], w, q.z);
        at[t][3] = pose_square_add(at[t][3], w, q.w);
        if (count > POSE_QUAD) {
            q = PALETTE_ROW(b + (SKIN_SQUARES + (int)quad + 1) * PALETTE_UNIT);
            at[t][4] = pose_square_add(at[t][4], w, q.x);
            at[t][5] = pose_square_add(at[t][5], w, q.y);
            at[t][6] = pose_square_add(at[t][6], w, q.z);
            at[t][7] = pose_square_add(at[t][7], w, q.w);
        }
    })
    REAL bias[POSE_TILE];
    EACH_INSTANCE
    {
        REAL nearest = REAL_MAX;
        EACH_POSE
        {
            if (!SKIN_GAUSSIAN) at[t][p] = pose_root(at[t][p]);
            nearest = p == 0 ? at[t][0] : AT_MOST(at[t][p], nearest);
        }
        if (quad)
            tile.of[t] = pose_sums_rescaled(tile.of[t], nearest, scale);
        else
            tile.of[t].nearest = nearest;
        bias[t] = tile.of[t].nearest * scale;
    }
    GLOBAL const float *field =
        s.layout + a.pose_fields +
        (WORD2)(k.block * SKIN_POSES + quad * POSE_QUAD) * (SKIN_POSE_PLANES * 32u) + s.lane;
    EACH_POSE
    {
        GLOBAL const float *e = field + p * (SKIN_POSE_PLANES * 32);
        real3 d = real3_make(e[0], e[32], e[64]), n = real3_zero();
        REAL share = e[96];
#if SKIN_NORMALS
        n = real3_make(e[128], e[160], e[192]);
#endif
        EACH_INSTANCE
        {
            REAL phi = pose_exp2(FNMA(at[t][p], scale, bias[t]));
            tile.of[t].d = real3_blend(tile.of[t].d, phi, d);
            tile.of[t].n = real3_blend(tile.of[t].n, phi, n);
            tile.of[t].total = FMA(phi, share, tile.of[t].total);
        }
    }
    return tile;
}

FN pose_tile pose_tile_sums(const int bones, const skin_arguments a, const skin_group s,
                            const skin_block k, UINT g, REAL scale)
{
    pose_tile tile;
    EACH_INSTANCE
    {
        tile.of[t].d = tile.of[t].n = real3_zero();
        tile.of[t].total = tile.of[t].nearest = K(0.0);
    }
    NO_UNROLL for (UINT quad = 0; quad + 2u <= SKIN_POSES / POSE_QUAD; quad += 2u) tile =
        pose_chunk_add(bones, POSE_CHUNK, a, s, k, quad, g, scale, tile);
#if SKIN_POSES % POSE_CHUNK
    tile = pose_chunk_add(bones, POSE_QUAD, a, s, k, SKIN_POSES / POSE_QUAD - 1u, g, scale, tile);
#endif
    return tile;
}

// One instance of a tile: displaced, blended, finished.
FN skin_vertex pose_finished(const int bones, const skin_arguments a, const skin_group s,
                             const skin_block k, UINT g, pose_sums sums)
{
    PALETTE_TYPE palette = PALETTE_OF(g);
    float4 row = NEAR_ROW(NEAR_AT(s.near_address, g * s.near_step * 4u));
    skin_vertex r = tile_morphed(a, s, k, g).of[0];
    REAL reciprocal = pose_reciprocal(sums.total);
    r.p = real3_blend(r.p, reciprocal, sums.d);
#if SKIN_NORMALS
    r.n = real3_blend(r.n, reciprocal, sums.n);
#endif
    mat34 blended = mat34_zero(), m;
    FOR_BONES(MATRIX_AT(m) blended = mat34_blend(blended, w, m);)
    return skin_finished(
        vertex_linear(blended, r, row.y, SKIN_NONUNIFORM, SKIN_NORMALS, SKIN_TANGENTS), row.x);
}

// The instances of the group, for one block.
FN void pose_instances(const int bones, const skin_arguments a, const skin_group s, skin_block k)
{
    GLOBAL const float *weights = s.layout + a.weights + (WORD2)k.list_first * 32u + s.lane;
    GLOBAL const UINT *list = s.index + k.list_at;
    UNROLL for (int i = 0; i < bones; i++)
    {
        k.weight[i] = weights[32 * i];
        k.record[i] = (int)list[i] * (RECORD_ROWS * PALETTE_UNIT);
        OPAQUE(k.record[i]);
    }
    REAL scale = s.layout[a.pose_scales + 32u * k.block + s.lane];
#if SKIN_STAGED
    UINT half_at = 0u;
    GLOBAL char *run = (GLOBAL char *)(s.positions + (WORD2)k.run * RECORD + s.lane * 4u);
    NEAR_FLOATS put_at = NEAR_AT(s.stage_address, s.lane * RECORD);
    NEAR_FLOATS get_at = NEAR_AT(s.stage_address, s.lane * 4u);
#endif
    NO_UNROLL for (UINT first = 0; first < s.count; first += POSE_TILE)
    {
        pose_tile tile = pose_tile_sums(bones, a, s, k, first, scale);
        EACH_INSTANCE
        {
            UINT g = first + (UINT)t;
            if (g < s.count) {
                skin_vertex v = pose_finished(bones, a, s, k, g, tile.of[t]);
                box_add(s, g, k, v.p);
#if SKIN_STAGED
                float4 row = NEAR_ROW(NEAR_AT(s.near_address, g * s.near_step * 4u));
                WORD2 to = (WORD2)(UINT)ELEM_BITS(row.w) << 32 | (UINT)ELEM_BITS(row.z);
                record_stage(NEAR_AT(put_at, half_at), v, 0);
                WARP_SYNC;
                if (k.run != NO_VERTEX)
                    record_whole(NEAR_AT(get_at, half_at), s, run, to, 0);
                else
                    record_scatter(s.stage + half_at, s.stage_vertices, s.lane,
                                   (GLOBAL float *)((GLOBAL char *)s.positions + to));
                half_at = RECORD * 32u - half_at;
#else
                if (k.vertex[0] != NO_VERTEX) vertex_write(a, s, k.vertex[0], s.instances[g], v, 0);
#endif
            }
        }
    }
}

FN void pose_block_run(const skin_arguments a, const skin_group s, UINT block)
{
    skin_block k = block_load(a, s, block);
#if SKIN_STAGED
    WARP_SYNC; // lanes may still read what the last block staged
    s.stage_vertices[s.lane] = k.vertex[0];
    WARP_SYNC;
#if SKIN_FOURS
    pieces_place(s);
#endif
#endif
    if (!SKIN_LISTS || k.list_count == 0 || k.list_count > 4 || k.list_step > 1u)
        pose_instances(0, a, s, k);
    else if (k.list_count <= 2) // lists are padded to an even length
        pose_instances(2, a, s, k);
    else
        pose_instances(4, a, s, k);
}

#undef EACH_INSTANCE
#undef EACH_POSE
#endif
