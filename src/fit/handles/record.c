// Gathering a handle rig. Invariant: shares and weights name handles by their place in the whole
// rig, whatever skin they come from.
#include "fit/handles/record.h"

#include <string.h>

#include "math/mat3.h"

bool cutis_handles_record_init(cutis_arena *arena, uint32_t handle_count, uint32_t mesh_count,
                               uint32_t primitive_count, cutis_handles_record *out)
{
    *out = (cutis_handles_record){ .arena = arena };
    out->handles = cutis_arena_zero(arena, handle_count, sizeof *out->handles);
    out->nodes = cutis_arena_zero(arena, handle_count, sizeof *out->nodes);
    out->first_handles = cutis_arena_alloc(arena, mesh_count, sizeof *out->first_handles);
    out->weights = cutis_arena_zero(arena, primitive_count, sizeof *out->weights);
    if (!out->handles || !out->nodes || !out->first_handles || !out->weights) return false;
    out->rig = (cutis_handle_rig){ .handle_count = handle_count,
                                   .mesh_count = mesh_count,
                                   .primitive_count = primitive_count };
    for (uint32_t m = 0; m < mesh_count; m++) out->first_handles[m] = CUTIS_NONE;
    return true;
}

static bool push_share(cutis_handles_record *r, uint32_t at, uint32_t handle, double share)
{
    if (!cutis_arena_grow(r->arena, &r->share_handles, &r->handle_capacity, (size_t)at + 1,
                          sizeof *r->share_handles) ||
        !cutis_arena_grow(r->arena, &r->shares, &r->share_capacity, (size_t)at + 1,
                          sizeof *r->shares))
        return false;
    r->share_handles[at] = handle;
    r->shares[at] = (float)share;
    return true;
}

static bool add_virtual(cutis_handles_record *r, const cutis_handles_solution *solution, uint32_t h,
                        uint32_t first_handle, const double (*rest)[12])
{
    const cutis_handles_virtual *virtual = &solution->virtual;
    const double *row = virtual->share + (size_t)h * virtual->site_count;
    const uint32_t v = r->rig.virtual_count;
    if (!cutis_arena_grow(r->arena, &r->places, &r->place_capacity, (size_t)v + 1,
                          sizeof *r->places) ||
        !cutis_arena_grow(r->arena, &r->share_first, &r->first_capacity, (size_t)v + 2,
                          sizeof *r->share_first))
        return false;
    if (v == 0) r->share_first[0] = 0;
    uint32_t at = r->share_first[v];
    double centre[3], place[3] = { 0 };
    cutis_handles_voxel_centre(&solution->grid, virtual->voxel[h], centre);
    for (uint32_t j = 0; j < solution->joint_count; j++) {
        const uint32_t site = solution->joint_site[j];
        const double share = site == CUTIS_HANDLES_NONE ? 0 : row[site] / solution->sharers[site];
        if (!((float)share > 0)) continue;
        if (!push_share(r, at++, first_handle + j, share)) return false;
        double moved[3] = { centre[0], centre[1], centre[2] };
        if (rest) double34_point(rest[j], centre, moved);
        for (int c = 0; c < 3; c++) place[c] += share * moved[c];
    }
    r->places[v] = (cutis_float3){ (float)place[0], (float)place[1], (float)place[2] };
    r->share_first[v + 1] = at;
    r->rig.virtual_count++;
    return true;
}

uint32_t cutis_handles_record_virtual(cutis_handles_record *record,
                                      const cutis_handles_solution *solution, uint32_t first_handle,
                                      const double (*rest)[12])
{
    const uint32_t first = record->rig.virtual_count;
    for (uint32_t h = 0; h < solution->virtual.virtual_count; h++)
        if (!add_virtual(record, solution, h, first_handle, rest)) return UINT32_MAX;
    return first;
}

bool cutis_handles_record_primitive(cutis_handles_record *record,
                                    const cutis_handles_solution *solution, uint32_t primitive,
                                    size_t vertex, uint32_t vertex_count, uint32_t first_handle,
                                    uint32_t first_virtual)
{
    const cutis_handles_spread *spread = &solution->spread;
    if (!spread->first) return true;
    const uint32_t begin = spread->first[vertex];
    const size_t count = spread->first[vertex + vertex_count] - begin;
    uint32_t *first = cutis_arena_alloc(record->arena, (size_t)vertex_count + 1, sizeof *first);
    uint32_t *handles = cutis_arena_alloc(record->arena, count, sizeof *handles);
    float *weights =
        cutis_arena_copy(record->arena, spread->weights + begin, count, sizeof *weights);
    if (!first || !handles || !weights) return false;
    for (size_t v = 0; v <= vertex_count; v++) first[v] = spread->first[vertex + v] - begin;
    for (size_t i = 0; i < count; i++) {
        const uint32_t h = spread->handles[begin + i];
        handles[i] = h < solution->joint_count
                         ? first_handle + h
                         : record->rig.handle_count + first_virtual + h - solution->joint_count;
    }
    record->weights[primitive] =
        (cutis_handle_weights){ vertex_count, { first, handles, weights } };
    return true;
}

const cutis_handle_rig *cutis_handles_record_rig(cutis_handles_record *record)
{
    cutis_handle_rig *rig = &record->rig;
    rig->handles = record->handles;
    rig->nodes = record->nodes;
    rig->first_handles = record->first_handles;
    rig->virtual_places = record->places;
    rig->share_first = record->share_first;
    rig->share_handles = record->share_handles;
    rig->shares = record->shares;
    rig->weights = rig->virtual_count ? record->weights : NULL;
    return rig;
}
