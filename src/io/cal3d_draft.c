// A Cal3D submesh while it is read, and the order of keys. Invariant: first[] has vertex_count + 1
// entries from the first vertex on, so a finished draft is a valid CSR table whatever the file did.
#include "io/cal3d.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"

bool cutis_cal3d_add_vertex(cal3d_draft *draft, const float position[3], const float normal[3],
                            const float texcoord[2])
{
    size_t n = draft->vertex_count + 1;
    cutis_arena *arena = draft->arena;
    if (!cutis_arena_grow(arena, &draft->positions, &draft->position_capacity, n,
                          3 * sizeof(float)) ||
        !cutis_arena_grow(arena, &draft->normals, &draft->normal_capacity, n, 3 * sizeof(float)) ||
        !cutis_arena_grow(arena, &draft->texcoords, &draft->texcoord_capacity, n,
                          2 * sizeof(float)) ||
        !cutis_arena_grow(arena, &draft->first, &draft->first_capacity, n + 1, sizeof(uint32_t)))
        return false;
    memcpy(draft->positions + 3 * (n - 1), position, 3 * sizeof(float));
    memcpy(draft->normals + 3 * (n - 1), normal, 3 * sizeof(float));
    memcpy(draft->texcoords + 2 * (n - 1), texcoord, 2 * sizeof(float));
    draft->first[n - 1] = draft->first[n] = (uint32_t)draft->influence_count;
    draft->vertex_count = n;
    return true;
}

bool cutis_cal3d_add_influence(cal3d_draft *draft, uint32_t bone, float weight)
{
    size_t n = draft->influence_count + 1;
    if (!cutis_arena_grow(draft->arena, &draft->joints, &draft->joint_capacity, n,
                          sizeof(uint32_t)) ||
        !cutis_arena_grow(draft->arena, &draft->weights, &draft->weight_capacity, n, sizeof(float)))
        return false;
    draft->joints[n - 1] = bone;
    draft->weights[n - 1] = weight;
    draft->influence_count = n;
    draft->first[draft->vertex_count] = (uint32_t)n;
    return true;
}

bool cutis_cal3d_add_face(cal3d_draft *draft, const uint32_t corners[3])
{
    size_t n = draft->index_count + 3;
    if (!cutis_arena_grow(draft->arena, &draft->indices, &draft->index_capacity, n,
                          sizeof(uint32_t)))
        return false;
    memcpy(draft->indices + draft->index_count, corners, 3 * sizeof(uint32_t));
    draft->index_count = n;
    return true;
}

// Exporters disagree about winding; Cal3D turns a submesh whose faces look against its normals, and
// so do we, by area.
static void turn_outwards(cal3d_draft *draft)
{
    double along = 0;
    for (size_t i = 0; i < draft->index_count; i += 3) {
        const uint32_t *f = draft->indices + i;
        const float *a = draft->positions + 3 * (size_t)f[0],
                    *b = draft->positions + 3 * (size_t)f[1],
                    *c = draft->positions + 3 * (size_t)f[2];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            double face = ((double)b[u] - a[u]) * ((double)c[v] - a[v]) -
                          ((double)b[v] - a[v]) * ((double)c[u] - a[u]);
            for (int corner = 0; corner < 3; corner++)
                along += face * (double)draft->normals[3 * (size_t)f[corner] + (size_t)k];
        }
    }
    for (size_t i = 0; along < 0 && i < draft->index_count; i += 3) {
        uint32_t swap = draft->indices[i + 1];
        draft->indices[i + 1] = draft->indices[i + 2];
        draft->indices[i + 2] = swap;
    }
}

cutis_result cutis_cal3d_finish(cal3d_draft *draft, const cal3d_source_file *file, int32_t material,
                                bool texcoords, cal3d_submesh *out)
{
    size_t n = draft->vertex_count;
    if (n > INT32_MAX || draft->influence_count > UINT32_MAX || draft->index_count > UINT32_MAX)
        return cutis_fail(file->context, CUTIS_LIMIT_EXCEEDED,
                          "%s: a submesh of more than 2^31 vertices", file->name);
    for (size_t i = 0; i < draft->index_count; i++)
        if (draft->indices[i] >= n)
            return cutis_fail(file->context, CUTIS_CORRUPT_DATA, "%s: face %zu: vertex %u of %zu",
                              file->name, i / 3, draft->indices[i], n);
    turn_outwards(draft);
    *out = (cal3d_submesh){ .material = material,
                            .vertex_count = (uint32_t)n,
                            .index_count = (uint32_t)draft->index_count,
                            .influence_count = (uint32_t)draft->influence_count,
                            .positions = draft->positions,
                            .normals = draft->normals,
                            .texcoords = texcoords ? draft->texcoords : NULL,
                            .first = draft->first,
                            .joints = draft->joints,
                            .weights = draft->weights,
                            .indices = draft->indices };
    return CUTIS_OK;
}

// Numbers of the keys in order of time, ties in order of the file: the bits of a float ascend with
// it once negative ones are turned around.
static uint64_t *sorted_order(const float *keys, size_t n, cutis_arena *arena)
{
    uint64_t *order = cutis_arena_alloc(arena, n, sizeof *order);
    for (size_t i = 0; order && i < n; i++) {
        const float time = keys[8 * i] + 0.0f; // -0 is 0
        uint32_t bits;
        memcpy(&bits, &time, sizeof bits);
        bits = bits >> 31 ? ~bits : bits | 0x80000000u;
        order[i] = (uint64_t)bits << 32 | i;
    }
    if (order) qsort(order, n, sizeof *order, order_u64);
    return order;
}

bool cutis_cal3d_set_keys(cal3d_track *track, cutis_arena *arena, const float *keys, size_t count)
{
    uint64_t *order = sorted_order(keys, count, arena);
    uint32_t kept = 0;
    track->times = cutis_arena_alloc(arena, count, sizeof(float));
    track->translations = cutis_arena_alloc(arena, count, 3 * sizeof(float));
    track->rotations = cutis_arena_alloc(arena, count, 4 * sizeof(float));
    if (!order || !track->times || !track->translations || !track->rotations) return false;
    for (size_t i = 0; i < count; i++) {
        const float *key = keys + 8 * (size_t)(uint32_t)order[i];
        if (kept && !(key[0] > track->times[kept - 1])) kept--;
        track->times[kept] = key[0];
        memcpy(track->translations + 3 * (size_t)kept, key + 1, 3 * sizeof(float));
        memcpy(track->rotations + 4 * (size_t)kept++, key + 4, 4 * sizeof(float));
    }
    track->key_count = kept;
    return true;
}
