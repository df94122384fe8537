// The mesh that PLY, OFF and STL files become. Invariant: every index is a vertex of the draft, as
// the readers have proven before they hand it over.
#include "io/surface.h"

#include <string.h>

#include "base/error.h"
#include "io/place.h"
#include "io/text.h"

void cutis_surface_begin(cutis_surface_draft *draft, const cutis_input *input)
{
    *draft = (cutis_surface_draft){ .input = input };
    draft->arena.context = input->context;
    draft->polygons.arena = &draft->arena;
    draft->polygons.budget = cutis_polygons_budget(input->size);
}

void cutis_surface_end(cutis_surface_draft *draft)
{
    cutis_arena_release(&draft->arena);
}

cutis_result cutis_surface_triangle(cutis_surface_draft *draft, uint32_t a, uint32_t b, uint32_t c)
{
    if (!cutis_arena_grow(&draft->arena, &draft->indices, &draft->index_capacity,
                          draft->index_count + 3, sizeof *draft->indices))
        return cutis_alloc_result(draft->input->context);
    uint32_t *to = draft->indices + draft->index_count;
    to[0] = a, to[1] = b, to[2] = c;
    draft->index_count += 3;
    return CUTIS_OK;
}

cutis_result cutis_surface_polygon(cutis_surface_draft *draft, const uint32_t *corners,
                                   uint32_t count)
{
    if (count < 3) return CUTIS_OK; // no area, nothing to draw
    if (!cutis_polygons_begin(&draft->polygons, count))
        return cutis_alloc_result(draft->input->context);
    for (uint32_t i = 0; i < count; i++)
        memcpy(draft->polygons.corners[i].point, draft->positions + 3 * (size_t)corners[i],
               3 * sizeof(float));
    if (!cutis_polygons_triangulate(&draft->polygons, count)) return CUTIS_UNSUPPORTED;
    cutis_result result = CUTIS_OK;
    for (uint32_t i = 0; i + 2 < count && result == CUTIS_OK; i++) {
        const uint32_t *t = draft->polygons.corners[i].triangle;
        result = cutis_surface_triangle(draft, corners[t[0]], corners[t[1]], corners[t[2]]);
    }
    return result;
}

cutis_result cutis_surface_publish(cutis_surface_draft *draft, cutis_model **out)
{
    const cutis_input *input = draft->input;
    if (draft->vertex_count > UINT32_MAX || draft->index_count > UINT32_MAX)
        return cutis_fail(input->context, CUTIS_LIMIT_EXCEEDED,
                          "%s: more than 2^32 vertices or indices", input->name);
    char *name = cutis_stem(&draft->arena, input->name);
    if (!name) return cutis_alloc_result(input->context);
    cutis_utf8_repair(name);
    const bool faces = draft->index_count > 0;
    cutis_primitive primitive = { .topology =
                                      faces ? CUTIS_TOPOLOGY_TRIANGLES : CUTIS_TOPOLOGY_POINTS,
                                  .vertex_count = (uint32_t)draft->vertex_count,
                                  .index_count = (uint32_t)draft->index_count,
                                  .indices = faces ? draft->indices : NULL,
                                  .positions = draft->positions,
                                  .normals = draft->normals,
                                  .colors = draft->colors,
                                  .texcoords = draft->texcoords,
                                  .parts = faces ? draft->parts : NULL,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .name = name,
                        .primitive_count = 1,
                        .primitives = &primitive,
                        .part_count = primitive.parts ? draft->part_count : 0,
                        .part_names = primitive.parts ? draft->part_names : NULL };
    cutis_node node = cutis_node_default();
    node.name = name;
    node.mesh = 0;
    cutis_model_data data = { .node_count = 1, .mesh_count = 1, .nodes = &node, .meshes = &mesh };
    return cutis_input_publish(input, &data, input->scale, out);
}
