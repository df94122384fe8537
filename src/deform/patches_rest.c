/// What the rest topology of the patches needs (kernel/patches_rest.h), made when a body is packed:
/// where on a loop every vertex belongs, and which vertex of a part stands for each of the model.
#include "deform/patches_pack.h"

#include <math.h>

#include "base/error.h"
#include "kernel/patches.h"
#include "math/elementary.h"

// Places spread from the loop outwards: a vertex has the mean direction, around the circle that the
// loop is mapped to, of its neighbours nearer to the loop.
static void spread_places(const patch_pieces *parts, patch_work w, uint32_t entry, uint32_t first,
                          uint32_t count, double turn, double *circle, double *out)
{
    const int at = body_entry_at(w)[entry] + (int)first, joint = body_entry_joint(w)[entry];
    const int *order = body_order(w) + at;
    const double *far = body_far(w) + at;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = (uint32_t)order[i] - first;
        double x = 0.0, y = 0.0;
        if (parts->vertex_loop[v + first] == joint) {
            out[v] = parts->vertex_place[v + first];
            x = fixed_cos(out[v] / turn);
            y = fixed_sin(out[v] / turn);
        } else {
            for (uint32_t k = parts->ring_first[v + first]; k < parts->ring_first[v + first + 1];
                 k++) {
                uint32_t u = parts->ring[k] - first;
                if (!(far[u] < far[v])) continue;
                double near = 1.0 / fmax(parts->edge_lengths[parts->ring_edge[k]], 1e-300);
                x += near * circle[2 * u];
                y += near * circle[2 * u + 1];
            }
            double angle = fixed_atan2(y, x), l = fmax(sqrt(x * x + y * y), 1e-300);
            if (angle < 0.0) angle += 2.0 * M_PI;
            out[v] = angle * turn;
            x /= l;
            y /= l;
        }
        circle[2 * v] = x;
        circle[2 * v + 1] = y;
    }
}

// Vertices at one point have one place; on a loop the parent's vertex has it.
static cutis_result choose_vertices(const patch_body *body, const patch_pieces *parts, int *out)
{
    int32_t *copies = cutis_arena_alloc(body->arena, body->vertex_count, sizeof *copies);
    if (!copies) return cutis_alloc_result(body->context);
    for (uint32_t v = 0; v < body->vertex_count; v++) copies[v] = -1;
    for (uint32_t v = 0; v < parts->vertex_count; v++) copies[parts->welded[v]] = (int32_t)v;
    for (uint32_t i = 0; i < body->loop_count; i++)
        for (uint32_t k = body->loops[i].first; k < body->loops[i].first + body->loops[i].count;
             k++)
            copies[body->loop_vertices[k]] = (int32_t)parts->loop_copies[2 * (size_t)k];
    for (uint32_t v = 0; v < body->output_count; v++) out[v] = copies[body->weld[v]];
    return CUTIS_OK;
}

cutis_result cutis_patch_pack_rest(const patch_body *body, const patch_pieces *parts,
                                   const patch_pack *pack)
{
    char *const packed = pack->body;
    const patch_places *at = &pack->arguments.at;
    const patch_work w = patch_work_of(packed, NULL, &pack->arguments, 0);
    double *places = (void *)(packed + PATCH_UNIT * (size_t)at->body_place);
    double *circle =
        cutis_arena_alloc(body->arena, 2 * (size_t)parts->vertex_count, sizeof *circle);
    if (!circle) return cutis_alloc_result(body->context);
    for (uint32_t p = 0; p < body->part_count && !pack->arguments.whole; p++) {
        const int *entries = body_part_entry(w);
        const uint32_t first = parts->vertex_first[p], count = parts->vertex_first[p + 1] - first;
        for (uint32_t e = (uint32_t)entries[p]; e < (uint32_t)entries[p + 1]; e++) {
            double turn = body->loops[body_entry_joint(w)[e]].count / (2.0 * M_PI);
            spread_places(parts, w, e, first, count, turn, circle,
                          places + body_entry_at(w)[e] + first);
        }
    }
    return choose_vertices(body, parts,
                           (void *)(packed + PATCH_UNIT * (size_t)at->body_rest_vertex));
}
