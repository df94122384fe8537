/// Weighted pose space in the CPU's schedule: displaces rest vertices by kernel/pose_space.h before
/// they are blended. Included by skin_schedule.h, whose view and list it reads.
///
/// Invariant: chunks of poses are those of the kernel text, so every instruction set and device
/// adds the same numbers in the same order.
#ifndef CUTIS_CPU_POSE_SCHEDULE_H
#define CUTIS_CPU_POSE_SCHEDULE_H

_Static_assert(POSE_QUAD == CUTIS_POSE_QUAD, "layout and kernel text agree");

#if defined(__GNUC__) && !defined(__clang__) // clang unrolls what is this short by itself
#define EACH_POSE _Pragma("GCC unroll 8") for (int k = 0; k < count; k++)
#else
#define EACH_POSE for (int k = 0; k < count; k++)
#endif

/// What the poses of one chunk need.
typedef struct pose_chunk {
    const float *squares; // of the instance and the chunk's first pose; a bone's are `step` apart
    const float *field;   // of the lanes and the chunk's first pose
    size_t step;
    REAL scale;
    bool gaussian;
} pose_chunk;

FN pose_sums pose_chunk_add(const pose_chunk *chunk, const skin_list *list, pose_sums sums,
                            const int first, const int count, const int normals)
{
    const size_t planes = normals ? 7 : 4;
    REAL at[POSE_CHUNK], nearest;
    EACH_POSE at[k] = K(0.0);
    for (uint32_t i = 0; i < list->count; i++) {
        const REAL w = LIST_WEIGHT(list, i);
        const float *squares = chunk->squares + list->bone[i] * chunk->step;
        EACH_POSE at[k] = pose_square_add(at[k], w, SPLAT(squares[k]));
    }
    if (!chunk->gaussian) EACH_POSE at[k] = pose_root(at[k]);
    nearest = at[0];
    EACH_POSE nearest = AT_MOST(at[k], nearest);
    if (first)
        sums.nearest = nearest;
    else
        sums = pose_sums_rescaled(sums, nearest, chunk->scale);
    const REAL bias = sums.nearest * chunk->scale;
    EACH_POSE
    {
        const float *field = chunk->field + (size_t)k * planes * BLOCK;
        const REAL phi = pose_phi(at[k], bias, chunk->scale);
        sums.d = real3_blend(sums.d, phi, planes_at(field, 0));
        sums.total = FMA(phi, LOAD(field + 3 * BLOCK), sums.total);
        if (normals) sums.n = real3_blend(sums.n, phi, planes_at(field + 4 * BLOCK, 0));
    }
    return sums;
}

FN pose_sums pose_chunks(const skin_view *view, const skin_list *list, uint32_t block,
                         uint32_t lane, const int normals)
{
    const cutis_skin_layout *layout = view->layout;
    const uint32_t poses = layout->pose_count;
    const size_t planes = normals ? 7 : 4;
    pose_chunk chunk = { .squares = view->pose_squares,
                         .field =
                             layout->pose_fields + (size_t)block * poses * planes * BLOCK + lane,
                         .step = poses,
                         .scale = LOAD(layout->pose_scales + (size_t)block * BLOCK + lane),
                         .gaussian = layout->pose_gaussian };
    pose_sums sums;
    sums.d = sums.n = real3_zero();
    sums.total = sums.nearest = K(0.0);
    if (poses == POSE_QUAD) return pose_chunk_add(&chunk, list, sums, 1, POSE_QUAD, normals);
    sums = pose_chunk_add(&chunk, list, sums, 1, POSE_CHUNK, normals);
    for (uint32_t k = POSE_CHUNK; k < poses; k += POSE_CHUNK) {
        chunk.squares += POSE_CHUNK;
        chunk.field += POSE_CHUNK * planes * BLOCK;
        sums = k + POSE_QUAD < poses ? pose_chunk_add(&chunk, list, sums, 0, POSE_CHUNK, normals)
                                     : pose_chunk_add(&chunk, list, sums, 0, POSE_QUAD, normals);
    }
    return sums;
}

/// The rest vertex with its displacement. With `normals` the layout has them, and their fields.
FN skin_vertex pose_vertex(const skin_view *view, const skin_list *list, uint32_t block,
                           uint32_t lane, skin_vertex r, const int normals)
{
    const pose_sums sums = pose_chunks(view, list, block, lane, normals);
    const REAL reciprocal = pose_reciprocal(sums.total);
    r.p = real3_blend(r.p, reciprocal, sums.d);
    if (normals) r.n = real3_blend(r.n, reciprocal, sums.n);
    return r;
}

/// For walks that do it seldom: one copy of the text.
OUTLINED void pose_vertex_apart(const skin_view *view, const skin_list *list, uint32_t block,
                                uint32_t lane, skin_vertex *r)
{
    *r = view->layout->normals ? pose_vertex(view, list, block, lane, *r, 1)
                               : pose_vertex(view, list, block, lane, *r, 0);
}

#undef EACH_POSE
#endif
