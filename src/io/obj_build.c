// OBJ statements to a model: one mesh, one primitive per topology and material, groups as parts.
//
// Order matters, because sculpts and caches are matched by it. A vertex keeps its place in the
// file: primitive vertices are the file's v in ascending order (all of them, used or not, when the
// file makes a single primitive), each with the first (vt, vn) it is used with; further
// combinations follow in order of use.
#include "io/obj.h"
#include "io/place.h"
#include "io/polygon.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"

// A primitive while it is built; `corners` are numbers of file corners, one per index.
typedef struct draft {
    cutis_topology topology;
    int32_t material;
    size_t index_count;
    uint32_t *corners;
    uint32_t *parts;
    size_t filled, triangles;
} draft;

// One more (vt, vn) for a vertex that already has one.
typedef struct extra {
    obj_corner corner;
    uint32_t index; // in the primitive; UINT32_MAX: the slot is free
} extra;

typedef struct builder {
    obj_file *file;
    cutis_context *context;
    draft *drafts;
    uint32_t draft_count;
    obj_corner *first; // per file vertex: the combination that stands in its place
    uint32_t *index;   // per file vertex: its index in the primitive at work
    uint32_t *stamp;   // per file vertex: draft number + 1 that used it last
    uint32_t *used;    // file vertices of the primitive at work
    extra *extras;
    size_t extra_capacity;
    obj_corner *order; // combination of each primitive vertex
    size_t order_capacity;
    uint32_t vertex_count;
} builder;

static size_t indices_of(const obj_element *element)
{
    size_t count = element->count;
    return element->topology == CUTIS_TOPOLOGY_TRIANGLES ? 3 * (count - 2)
           : element->topology == CUTIS_TOPOLOGY_LINES   ? 2 * (count - 1)
                                                         : count;
}

// Which draft each (topology, material) is, in order of first use, and how long they get.
static cutis_result make_drafts(builder *b, uint32_t *draft_of)
{
    obj_file *file = b->file;
    size_t keys = 3 * ((size_t)file->materials.count + 1);
    memset(draft_of, 0xFF, keys * sizeof *draft_of);
    for (size_t i = 0; i < file->element_count; i++) {
        const obj_element *element = &file->elements[i];
        size_t key = 3 * (size_t)(element->material + 1) + (size_t)element->topology;
        if (draft_of[key] == UINT32_MAX) {
            draft_of[key] = b->draft_count++;
            b->drafts[draft_of[key]] =
                (draft){ .topology = element->topology, .material = element->material };
        }
        b->drafts[draft_of[key]].index_count += indices_of(element);
    }
    for (uint32_t i = 0; i < b->draft_count; i++) {
        draft *d = &b->drafts[i];
        if (d->index_count > UINT32_MAX)
            return cutis_fail(b->context, CUTIS_LIMIT_EXCEEDED, "%s: more than 2^32 indices",
                              file->input->name);
        d->corners = cutis_arena_alloc(&file->arena, d->index_count, sizeof *d->corners);
        if (!d->corners) return cutis_alloc_result(b->context);
        if (d->topology != CUTIS_TOPOLOGY_TRIANGLES || !file->any_part) continue;
        d->parts = cutis_arena_alloc(&file->arena, d->index_count / 3, sizeof *d->parts);
        if (!d->parts) return cutis_alloc_result(b->context);
    }
    return CUTIS_OK;
}

static cutis_result add_face(builder *b, cutis_polygons *work, draft *d, const obj_element *element)
{
    obj_file *file = b->file;
    uint32_t n = element->count;
    if (!cutis_polygons_begin(work, n)) return cutis_alloc_result(b->context);
    for (uint32_t i = 0; i < n; i++)
        memcpy(work->corners[i].point,
               file->positions + 3 * (size_t)file->corners[element->first + i].v,
               3 * sizeof(float));
    if (!cutis_polygons_triangulate(work, n))
        return cutis_fail(b->context, CUTIS_LIMIT_EXCEEDED,
                          "%s: line %u: a concave polygon of %u corners takes too long",
                          file->input->name, element->line, n);
    for (uint32_t i = 0; i < 3 * (n - 2); i++)
        d->corners[d->filled++] = element->first + work->corners[i / 3].triangle[i % 3];
    if (d->parts)
        for (uint32_t i = 0; i < n - 2; i++) d->parts[d->triangles++] = element->part;
    return CUTIS_OK;
}

static cutis_result fill_drafts(builder *b, const uint32_t *draft_of)
{
    obj_file *file = b->file;
    cutis_polygons work = { .arena = &file->arena,
                            .budget = cutis_polygons_budget(file->input->size) };
    cutis_result result = CUTIS_OK;
    for (size_t i = 0; i < file->element_count && result == CUTIS_OK; i++) {
        const obj_element *element = &file->elements[i];
        draft *d =
            &b->drafts[draft_of[3 * (size_t)(element->material + 1) + (size_t)element->topology]];
        if (element->topology == CUTIS_TOPOLOGY_TRIANGLES) {
            result = add_face(b, &work, d, element);
        } else if (element->topology == CUTIS_TOPOLOGY_LINES) {
            for (uint32_t k = 0; k + 1 < element->count; k++) {
                d->corners[d->filled++] = element->first + k;
                d->corners[d->filled++] = element->first + k + 1;
            }
        } else {
            for (uint32_t k = 0; k < element->count; k++)
                d->corners[d->filled++] = element->first + k;
        }
    }
    return result;
}

// The combination a vertex that nothing refers to gets: by number where there are as many vt or vn
// as v.
static obj_corner lone_corner(const obj_file *file, uint32_t v)
{
    obj_corner corner = { (int32_t)v, -1, -1 };
    if (file->texcoord_count == file->position_count) corner.vt = (int32_t)v;
    if (file->normal_count == file->position_count) corner.vn = (int32_t)v;
    return corner;
}

// The vertices that keep their place: those in use, or all.
static cutis_result place_vertices(builder *b, const draft *d, uint32_t number, bool all)
{
    obj_file *file = b->file;
    size_t used = 0;
    for (size_t i = 0; i < d->index_count; i++) {
        const obj_corner *corner = &file->corners[d->corners[i]];
        if (b->stamp[corner->v] == number + 1) continue;
        b->stamp[corner->v] = number + 1;
        b->first[corner->v] = *corner;
        b->used[used++] = (uint32_t)corner->v;
    }
    if (all) {
        for (uint32_t v = 0; v < file->position_count; v++) {
            if (b->stamp[v] != number + 1) b->first[v] = lone_corner(file, v);
            b->used[v] = v;
        }
        used = file->position_count;
    } else {
        qsort(b->used, used, sizeof *b->used, order_u32);
    }
    if (!cutis_arena_grow(&file->arena, &b->order, &b->order_capacity, used, sizeof *b->order))
        return cutis_alloc_result(b->context);
    for (size_t i = 0; i < used; i++) {
        b->index[b->used[i]] = (uint32_t)i;
        b->order[i] = b->first[b->used[i]];
    }
    b->vertex_count = (uint32_t)used;
    return CUTIS_OK;
}

static uint64_t mix(obj_corner c)
{
    uint64_t h = (uint64_t)(uint32_t)c.v * UINT64_C(0x9E3779B97F4A7C15);
    h = (h ^ h >> 29 ^ (uint32_t)c.vt) * UINT64_C(0xBF58476D1CE4E5B9);
    h = (h ^ h >> 32 ^ (uint32_t)c.vn) * UINT64_C(0x94D049BB133111EB);
    return h ^ h >> 31;
}

static bool same_corner(obj_corner a, obj_corner b)
{
    return a.v == b.v && a.vt == b.vt && a.vn == b.vn;
}

// Indices of the primitive; combinations beyond the first of a vertex are appended, found again by
// hash.
static cutis_result index_corners(builder *b, const draft *d, uint32_t *indices)
{
    obj_file *file = b->file;
    size_t misses = 0, slots = 16;
    for (size_t i = 0; i < d->index_count; i++) {
        obj_corner corner = file->corners[d->corners[i]];
        misses += !same_corner(corner, b->first[corner.v]);
    }
    while (slots < 2 * misses) slots *= 2;
    if (!cutis_arena_grow(&file->arena, &b->extras, &b->extra_capacity, slots, sizeof *b->extras) ||
        !cutis_arena_grow(&file->arena, &b->order, &b->order_capacity, b->vertex_count + misses,
                          sizeof *b->order))
        return cutis_alloc_result(b->context);
    for (size_t i = 0; i < slots; i++) b->extras[i].index = UINT32_MAX;
    for (size_t i = 0; i < d->index_count; i++) {
        obj_corner corner = file->corners[d->corners[i]];
        if (same_corner(corner, b->first[corner.v])) {
            indices[i] = b->index[corner.v];
            continue;
        }
        size_t slot = (size_t)mix(corner) & (slots - 1);
        while (b->extras[slot].index != UINT32_MAX && !same_corner(b->extras[slot].corner, corner))
            slot = (slot + 1) & (slots - 1);
        if (b->extras[slot].index == UINT32_MAX) {
            b->extras[slot] = (extra){ corner, b->vertex_count };
            b->order[b->vertex_count++] = corner;
        }
        indices[i] = b->extras[slot].index;
    }
    return CUTIS_OK;
}

// What the file lacks for some vertices but not for all: texture coordinates become 0, normals are
// dropped altogether (deform makes them from the faces) unless only vertices without a face lack
// them.
static cutis_result fill_attributes(builder *b, const draft *d, cutis_primitive *primitive)
{
    obj_file *file = b->file;
    size_t count = b->vertex_count;
    bool any_vt = false, any_vn = false, hole_vn = false;
    for (size_t i = 0; i < count; i++) any_vt |= b->order[i].vt >= 0;
    for (size_t i = 0; i < d->index_count; i++) {
        any_vn |= file->corners[d->corners[i]].vn >= 0;
        hole_vn |= file->corners[d->corners[i]].vn < 0;
    }
    if (file->element_count == 0) any_vn = file->normal_count == file->position_count;
    float *positions = cutis_arena_alloc(&file->arena, count, 3 * sizeof(float));
    float *texcoords = any_vt ? cutis_arena_alloc(&file->arena, count, 2 * sizeof(float)) : NULL;
    float *normals =
        any_vn && !hole_vn ? cutis_arena_alloc(&file->arena, count, 3 * sizeof(float)) : NULL;
    float *colors =
        file->has_colors ? cutis_arena_alloc(&file->arena, count, 4 * sizeof(float)) : NULL;
    if (!positions || (any_vt && !texcoords) || (any_vn && !hole_vn && !normals) ||
        (file->has_colors && !colors))
        return cutis_alloc_result(b->context);
    static const float NO_TEXCOORD[2] = { 0, 0 }, NO_NORMAL[3] = { 0, 0, 1 };
    for (size_t i = 0; i < count; i++) {
        obj_corner c = b->order[i];
        memcpy(positions + 3 * i, file->positions + 3 * (size_t)c.v, 3 * sizeof(float));
        if (colors) memcpy(colors + 4 * i, file->colors + 4 * (size_t)c.v, 4 * sizeof(float));
        if (texcoords)
            memcpy(texcoords + 2 * i, c.vt < 0 ? NO_TEXCOORD : file->texcoords + 2 * (size_t)c.vt,
                   2 * sizeof(float));
        if (normals)
            memcpy(normals + 3 * i, c.vn < 0 ? NO_NORMAL : file->normals + 3 * (size_t)c.vn,
                   3 * sizeof(float));
    }
    primitive->positions = positions;
    primitive->texcoords = texcoords;
    primitive->normals = normals;
    primitive->colors = colors;
    primitive->vertex_count = b->vertex_count;
    return CUTIS_OK;
}

static cutis_result build_primitive(builder *b, uint32_t number, cutis_primitive *primitive)
{
    draft *d = &b->drafts[number];
    bool all = b->draft_count == 1;
    *primitive =
        (cutis_primitive){ .topology = d->topology, .material = d->material, .parts = d->parts };
    uint32_t *indices = cutis_arena_alloc(&b->file->arena, d->index_count, sizeof *indices);
    if (!indices) return cutis_alloc_result(b->context);
    cutis_result result = place_vertices(b, d, number, all);
    if (result == CUTIS_OK) result = index_corners(b, d, indices);
    if (result == CUTIS_OK) result = fill_attributes(b, d, primitive);
    primitive->indices = indices;
    primitive->index_count = (uint32_t)d->index_count;
    return result;
}

// Points for a file that only has vertices.
static cutis_result add_cloud(builder *b)
{
    b->drafts[0] = (draft){ .topology = CUTIS_TOPOLOGY_POINTS, .material = -1 };
    b->drafts[0].corners = cutis_arena_alloc(&b->file->arena, 0, 1);
    b->draft_count = 1;
    return b->drafts[0].corners ? CUTIS_OK : cutis_alloc_result(b->context);
}

// Faces before the first o or g get a part of their own.
static cutis_result name_parts(obj_file *file)
{
    bool loose = false;
    for (size_t i = 0; i < file->element_count; i++) loose |= file->elements[i].part == UINT32_MAX;
    if (!loose || !file->any_part) return CUTIS_OK;
    uint32_t number;
    if (!cutis_names_add(&file->parts, (cutis_span){ "default", 7 }, &number))
        return cutis_alloc_result(file->input->context);
    for (size_t i = 0; i < file->element_count; i++)
        if (file->elements[i].part == UINT32_MAX) file->elements[i].part = number;
    return CUTIS_OK;
}

static cutis_result publish(builder *b, cutis_primitive *primitives, cutis_model **out)
{
    obj_file *file = b->file;
    bool parts = false;
    for (uint32_t i = 0; i < b->draft_count; i++) parts |= primitives[i].parts != NULL;
    cutis_names_repair(&file->parts);
    cutis_names_repair(&file->materials);
    for (uint32_t i = 0; i < file->materials.count; i++)
        file->looks[i].name = file->materials.names[i];
    char *name = cutis_stem(&file->arena, file->input->name);
    if (!name) return cutis_alloc_result(b->context);
    cutis_utf8_repair(name);
    cutis_mesh mesh = { .name = name,
                        .primitive_count = b->draft_count,
                        .primitives = primitives,
                        .part_count = parts ? file->parts.count : 0,
                        .part_names = parts ? file->parts.names : NULL };
    cutis_node node = cutis_node_default();
    node.name = name;
    node.mesh = 0;
    cutis_model_data data = { .node_count = 1,
                              .mesh_count = 1,
                              .material_count = file->materials.count,
                              .nodes = &node,
                              .meshes = &mesh,
                              .materials = file->looks };
    return cutis_input_publish(file->input, &data, file->input->scale, out);
}

cutis_result cutis_obj_build(obj_file *file, cutis_model **out)
{
    cutis_arena *arena = &file->arena;
    size_t count = file->position_count, keys = 3 * ((size_t)file->materials.count + 1);
    builder b = { .file = file, .context = file->input->context };
    cutis_primitive *primitives = cutis_arena_alloc(arena, keys, sizeof *primitives);
    uint32_t *draft_of = cutis_arena_alloc(arena, keys, sizeof *draft_of);
    b.drafts = cutis_arena_alloc(arena, keys, sizeof *b.drafts);
    b.first = cutis_arena_alloc(arena, count, sizeof *b.first);
    b.index = cutis_arena_alloc(arena, count, sizeof *b.index);
    b.stamp = cutis_arena_zero(arena, count, sizeof *b.stamp);
    b.used = cutis_arena_alloc(arena, count, sizeof *b.used);
    if (!primitives || !draft_of || !b.drafts || !b.first || !b.index || !b.stamp || !b.used)
        return cutis_alloc_result(b.context);
    cutis_result result = name_parts(file);
    if (result == CUTIS_OK)
        result = file->element_count ? make_drafts(&b, draft_of) : add_cloud(&b);
    if (result == CUTIS_OK && file->element_count) result = fill_drafts(&b, draft_of);
    for (uint32_t i = 0; i < b.draft_count && result == CUTIS_OK; i++)
        result = build_primitive(&b, i, &primitives[i]);
    if (result == CUTIS_OK && file->element_count == 0) { // every vertex once
        primitives[0].index_count = 0;
        primitives[0].indices = NULL;
    }
    if (result == CUTIS_OK) result = publish(&b, primitives, out);
    return result;
}
