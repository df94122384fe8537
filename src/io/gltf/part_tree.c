/// The tree in CUTIS_parts (docs/formats/parts.md): parts with joints, boxes and centroids as JSON
/// numbers that give their doubles back, loops and welded vertices in accessors. Invariant: counts
/// are compared with the JSON's and the accessors' own before anything is allocated; what indices
/// mean is for the model's gate.
#include "io/gltf/parts.h"
#include "io/gltf/writer.h"

#include <stddef.h>
#include <string.h>

#define FAIL(...) return WRONG("CUTIS_EXTENSION_INVALID", __VA_ARGS__)

// Reading ---------------------------------------------------------------------------------------

static bool read_numbers(const json_t *object, const char *key, size_t count, double *out)
{
    const json_t *list = json_object_get(object, key);
    if (!cutis_gltf_all_numbers(list, count)) return false;
    for (size_t i = 0; i < count; i++) out[i] = json_number_value(json_array_get(list, i));
    return true;
}

// Absent: CUTIS_NONE.
static bool read_index(const json_t *object, const char *key, int32_t *out)
{
    const json_t *item = json_object_get(object, key);
    int64_t value;
    *out = CUTIS_NONE;
    if (!item) return true;
    if (!cutis_json_integer(item, &value) || value < 0 || value > INT32_MAX) return false;
    *out = (int32_t)value;
    return true;
}

static cutis_result read_part(const gltf_document *document, const json_t *json, uint32_t mesh,
                              size_t p, cutis_part *out)
{
    int32_t joint;
    memset(out, 0, sizeof *out);
    const json_t *radius = json_object_get(json, "kernelRadius");
    if (!read_index(json, "parent", &out->parent) || !read_index(json, "loop", &out->loop) ||
        !read_index(json, "joint", &joint) || joint == CUTIS_NONE || !json_is_number(radius) ||
        !read_numbers(json, "position", 3, out->position) ||
        !read_numbers(json, "end", 3, out->end) ||
        !read_numbers(json, "centroid", 3, out->centroid) ||
        !read_numbers(json, "axes", 9, &out->axes[0][0]) ||
        !read_numbers(json, "boxMin", 3, out->box_min) ||
        !read_numbers(json, "boxMax", 3, out->box_max))
        FAIL("/meshes/%u/extensions/CUTIS_parts/parts/%zu: a member is missing or of another kind",
             mesh, p);
    out->joint = (uint32_t)joint;
    out->kernel_radius = json_number_value(radius);
    return CUTIS_OK;
}

// An accessor of `count` unsigned numbers (0: any number of them).
static cutis_result read_accessor(gltf_document *document, const json_t *item, const char *what,
                                  uint32_t mesh, uint32_t *count, const uint32_t **out)
{
    const int64_t accessor = cutis_gltf_accessor_of(document, item);
    if (accessor < 0 || document->accessors[accessor].width != 1 ||
        (*count && document->accessors[accessor].count != *count))
        FAIL("/meshes/%u/extensions/CUTIS_parts/%s: no accessor of as many numbers", mesh, what);
    *count = document->accessors[accessor].count;
    return cutis_gltf_new_integers(document, (uint32_t)accessor, out);
}

static cutis_result read_loops(gltf_document *document, const json_t *list, uint32_t mesh,
                               cutis_part_loop *loops)
{
    for (size_t l = 0; l < json_array_size(list); l++) {
        const json_t *json = json_array_get(list, l);
        int32_t parent, child;
        if (!read_index(json, "parent", &parent) || !read_index(json, "child", &child) ||
            parent == CUTIS_NONE || child == CUTIS_NONE)
            FAIL("/meshes/%u/extensions/CUTIS_parts/loops/%zu: parent or child is missing", mesh,
                 l);
        loops[l] = (cutis_part_loop){ .parent = (uint32_t)parent, .child = (uint32_t)child };
        cutis_result result = read_accessor(document, json_object_get(json, "vertices"), "loops",
                                            mesh, &loops[l].vertex_count, &loops[l].vertices);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static cutis_result read_links(const gltf_document *document, const json_t *list, uint32_t mesh,
                               cutis_part_link *links)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *json = json_array_get(list, i);
        int32_t part;
        if (!read_index(json, "part", &part) || part == CUTIS_NONE ||
            !read_numbers(json, "from", 3, links[i].from) ||
            !read_numbers(json, "to", 3, links[i].to))
            FAIL("/meshes/%u/extensions/CUTIS_parts/links/%zu: part, from or to is missing", mesh,
                 i);
        links[i].part = (uint32_t)part;
    }
    return CUTIS_OK;
}

static cutis_result read_weld(gltf_document *document, const json_t *list, uint32_t mesh,
                              const cutis_mesh *out, uint32_t *weld)
{
    for (uint32_t p = 0; p < out->primitive_count; p++) {
        const json_t *item = json_array_get(list, document->primitives[mesh][p]);
        const uint32_t *numbers;
        uint32_t count = out->primitives[p].vertex_count;
        cutis_result result = read_accessor(document, item, "weld", mesh, &count, &numbers);
        if (result != CUTIS_OK) return result;
        memcpy(weld, numbers, count * sizeof *weld);
        weld += count;
    }
    return CUTIS_OK;
}

cutis_result cutis_gltf_read_part_tree(gltf_document *document, uint32_t index, const json_t *json,
                                       cutis_mesh *out)
{
    const json_t *parts = json_object_get(json, "parts"), *loops = json_object_get(json, "loops");
    const json_t *weld = json_object_get(json, "weld"), *links = json_object_get(json, "links");
    int32_t welded;
    size_t vertices = 0;
    if (!parts) return CUTIS_OK;
    if (!json_is_array(parts) || json_array_size(parts) != out->part_count ||
        !json_is_array(loops) || !read_index(json, "weldedCount", &welded) ||
        welded == CUTIS_NONE || (links && !json_is_array(links)) || !json_is_array(weld))
        FAIL("/meshes/%u/extensions/CUTIS_parts: needs one entry of parts per name, loops, weld "
             "and weldedCount",
             index);
    for (uint32_t p = 0; p < out->primitive_count; p++) vertices += out->primitives[p].vertex_count;
    cutis_part_tree *tree = cutis_arena_alloc(&document->parts, 1, sizeof *tree);
    cutis_part *list = cutis_arena_alloc(&document->parts, out->part_count, sizeof *list);
    cutis_part_loop *rings =
        cutis_arena_alloc(&document->parts, json_array_size(loops), sizeof *rings);
    cutis_part_link *lines =
        cutis_arena_alloc(&document->parts, json_array_size(links), sizeof *lines);
    uint32_t *welds = cutis_arena_alloc(&document->parts, vertices, sizeof *welds);
    if (!tree || !list || !rings || !lines || !welds) return cutis_alloc_result(document->context);
    *tree = (cutis_part_tree){ .parts = list,
                               .loop_count = (uint32_t)json_array_size(loops),
                               .loops = rings,
                               .welded_count = (uint32_t)welded,
                               .weld = welds,
                               .link_count = (uint32_t)json_array_size(links),
                               .links = lines };
    cutis_result result = CUTIS_OK;
    for (size_t p = 0; p < out->part_count && result == CUTIS_OK; p++)
        result = read_part(document, json_array_get(parts, p), index, p, &list[p]);
    if (result == CUTIS_OK) result = read_loops(document, loops, index, rings);
    if (result == CUTIS_OK) result = read_links(document, links, index, lines);
    if (result == CUTIS_OK) result = read_weld(document, weld, index, out, welds);
    out->part_tree = tree;
    return result;
}

// Writing ---------------------------------------------------------------------------------------

static json_t *numbers(gltf_writer *writer, const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++) cutis_gltf_append(writer, list, json_real(values[i]));
    return list;
}

static json_t *integers(gltf_writer *writer, const uint32_t *values, uint32_t count)
{
    return json_integer(cutis_gltf_add_integers(writer, values, count, 4, 0));
}

static json_t *write_part(gltf_writer *writer, const cutis_part *part)
{
    json_t *json = json_object();
    if (part->parent != CUTIS_NONE)
        cutis_gltf_set(writer, json, "parent", json_integer(part->parent));
    if (part->loop != CUTIS_NONE) cutis_gltf_set(writer, json, "loop", json_integer(part->loop));
    cutis_gltf_set(writer, json, "joint", json_integer(part->joint));
    cutis_gltf_set(writer, json, "position", numbers(writer, part->position, 3));
    cutis_gltf_set(writer, json, "end", numbers(writer, part->end, 3));
    cutis_gltf_set(writer, json, "centroid", numbers(writer, part->centroid, 3));
    cutis_gltf_set(writer, json, "kernelRadius", json_real(part->kernel_radius));
    cutis_gltf_set(writer, json, "axes", numbers(writer, &part->axes[0][0], 9));
    cutis_gltf_set(writer, json, "boxMin", numbers(writer, part->box_min, 3));
    cutis_gltf_set(writer, json, "boxMax", numbers(writer, part->box_max, 3));
    return json;
}

void cutis_gltf_write_part_tree(gltf_writer *writer, const cutis_mesh *mesh, const uint32_t *map,
                                size_t file_count, json_t *json)
{
    const cutis_part_tree *tree = mesh->part_tree;
    if (!tree) return;
    json_t *parts = json_array(), *loops = json_array(), *weld = json_array();
    json_t *links = json_array();
    for (uint32_t p = 0; p < mesh->part_count; p++)
        cutis_gltf_append(writer, parts, write_part(writer, &tree->parts[p]));
    for (uint32_t l = 0; l < tree->loop_count; l++) {
        const cutis_part_loop *loop = &tree->loops[l];
        json_t *item = json_object();
        cutis_gltf_set(writer, item, "parent", json_integer(loop->parent));
        cutis_gltf_set(writer, item, "child", json_integer(loop->child));
        cutis_gltf_set(writer, item, "vertices",
                       integers(writer, loop->vertices, loop->vertex_count));
        cutis_gltf_append(writer, loops, item);
    }
    for (size_t f = 0; f < file_count; f++) cutis_gltf_append(writer, weld, json_null());
    for (size_t p = 0, v = 0; p < mesh->primitive_count; p++) {
        uint32_t count = mesh->primitives[p].vertex_count;
        if (json_array_set_new(weld, map[p], integers(writer, tree->weld + v, count)) != 0)
            writer->failed = true;
        v += count;
    }
    for (uint32_t i = 0; i < tree->link_count; i++) {
        json_t *item = json_object();
        cutis_gltf_set(writer, item, "part", json_integer(tree->links[i].part));
        cutis_gltf_set(writer, item, "from", numbers(writer, tree->links[i].from, 3));
        cutis_gltf_set(writer, item, "to", numbers(writer, tree->links[i].to, 3));
        cutis_gltf_append(writer, links, item);
    }
    cutis_gltf_set(writer, json, "parts", parts);
    cutis_gltf_set(writer, json, "loops", loops);
    cutis_gltf_set(writer, json, "weldedCount", json_integer(tree->welded_count));
    cutis_gltf_set(writer, json, "weld", weld);
    cutis_gltf_set(writer, json, "links", links);
}

static bool same_part(const cutis_part *a, const cutis_part *b)
{
    return a->parent == b->parent && a->loop == b->loop && a->joint == b->joint &&
           memcmp(a->position, b->position, sizeof *a - offsetof(cutis_part, position)) == 0;
}

bool cutis_gltf_same_part_tree(const cutis_mesh *a, const cutis_mesh *b)
{
    const cutis_part_tree *x = a->part_tree, *y = b->part_tree;
    if (!x || !y) return x == y;
    if (x->loop_count != y->loop_count || x->link_count != y->link_count ||
        x->welded_count != y->welded_count)
        return false;
    for (uint32_t p = 0; p < a->part_count; p++)
        if (!same_part(&x->parts[p], &y->parts[p])) return false;
    for (uint32_t l = 0; l < x->loop_count; l++) {
        const cutis_part_loop *u = &x->loops[l], *v = &y->loops[l];
        if (u->parent != v->parent || u->child != v->child || u->vertex_count != v->vertex_count ||
            memcmp(u->vertices, v->vertices, u->vertex_count * sizeof *u->vertices) != 0)
            return false;
    }
    for (uint32_t i = 0; i < x->link_count; i++)
        if (x->links[i].part != y->links[i].part ||
            memcmp(x->links[i].from, y->links[i].from, 6 * sizeof(double)) != 0)
            return false;
    size_t count = 0; // the primitives agree in their counts: same_parts has looked
    for (uint32_t p = 0; p < a->primitive_count; p++) {
        if (a->primitives[p].vertex_count != b->primitives[p].vertex_count) return false;
        count += a->primitives[p].vertex_count;
    }
    return memcmp(x->weld, y->weld, count * sizeof *x->weld) == 0;
}
