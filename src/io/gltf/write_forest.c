/// Hierarchies that the model allows and glTF does not: matrices that are no translation, rotation
/// and scale, joints of one skin in several trees. Each is said with nodes that are added at the
/// end, so no number changes and every node of the model keeps its place in the world.
#include "io/gltf/writer.h"

#include "math/svd3.h"

#include <math.h>
#include <string.h>

typedef struct forest {
    gltf_writer *writer;
    json_t *nodes;
    size_t capacity;  ///< nodes there may be in the end
    int32_t *parents; ///< of each
    uint32_t *stamps; ///< of each: the list or skin that had it last
    uint32_t stamp;
} forest;

/// Add a node. @return its index
static int32_t add_node(forest *f, json_t *node, int32_t parent)
{
    const size_t index = json_array_size(f->nodes);
    f->parents[index] = parent;
    cutis_gltf_append(f->writer, f->nodes, node);
    return (int32_t)index;
}

static void find_parents(forest *f)
{
    const size_t count = json_array_size(f->nodes);
    for (size_t n = 0; n < count; n++) f->parents[n] = CUTIS_NONE;
    for (size_t n = 0; n < count; n++) {
        const json_t *children = json_object_get(json_array_get(f->nodes, n), "children");
        for (size_t c = 0; c < json_array_size(children); c++)
            f->parents[cutis_gltf_entry(children, c)] = (int32_t)n;
    }
}

/// In a list of nodes, those that were added above its nodes in their place, each once.
static void relink(forest *f, json_t *list, size_t added_first)
{
    size_t kept = 0;
    f->stamp++;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const uint32_t node = cutis_gltf_entry(list, i);
        const int32_t above = f->parents[node];
        const bool moved = above >= (int32_t)added_first && node < added_first;
        const uint32_t entry = moved ? (uint32_t)above : node;
        if (moved && f->stamps[entry] == f->stamp) continue;
        f->stamps[entry] = f->stamp;
        if (json_array_set_new(list, kept++, json_integer(entry)) != 0) f->writer->failed = true;
    }
    while (json_array_size(list) > kept) json_array_remove(list, json_array_size(list) - 1);
}

static void relink_scenes(forest *f, size_t added_first)
{
    const json_t *scenes = json_object_get(f->writer->root, "scenes");
    for (size_t i = 0; i < json_array_size(scenes); i++)
        relink(f, json_object_get(json_array_get(scenes, i), "nodes"), added_first);
}

static json_t *quaternion_of(const double *m)
{
    // Columns of a rotation, as the transform of a matrix has them.
    cutis_mat34 turn = { { (float)m[0], (float)m[1], (float)m[2], 0, (float)m[3], (float)m[4],
                           (float)m[5], 0, (float)m[6], (float)m[7], (float)m[8], 0 } };
    const cutis_quat q = cutis_transform_from_mat34(&turn).rotation;
    return cutis_gltf_float_array((const float[4]){ q.x, q.y, q.z, q.w }, 4);
}

/// A matrix U S V^T with a translation: a new parent that moves, turns by U and scales by S, and
/// the node itself, which turns by V^T.
static void split_matrix(forest *f, uint32_t index, const float *columns)
{
    gltf_writer *writer = f->writer;
    json_t *node = json_array_get(f->nodes, index), *above = json_object(),
           *children = json_array();
    double a[9], u[9], s[3], v[9], turned[9];
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) a[3 * r + c] = columns[4 * c + r];
    cutis_svd3(a, u, s, v);
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++) turned[3 * r + c] = v[3 * c + r];
    const float scale[3] = { (float)s[0], (float)s[1], (float)s[2] };
    cutis_gltf_append(writer, children, json_integer(index));
    cutis_gltf_set(writer, above, "translation", cutis_gltf_float_array(columns + 12, 3));
    cutis_gltf_set(writer, above, "rotation", quaternion_of(u));
    cutis_gltf_set(writer, above, "scale", cutis_gltf_float_array(scale, 3));
    cutis_gltf_set(writer, above, "children", children);
    json_object_del(node, "matrix");
    cutis_gltf_set(writer, node, "rotation", quaternion_of(turned));
    f->parents[index] = add_node(f, above, f->parents[index]);
}

static void split_matrices(forest *f)
{
    const size_t count = json_array_size(f->nodes);
    for (size_t n = 0; n < count && !f->writer->failed; n++) {
        json_t *node = json_array_get(f->nodes, n);
        float columns[16];
        if (!json_object_get(node, "matrix")) continue;
        cutis_gltf_floats(json_object_get(node, "matrix"), columns);
        if (cutis_gltf_is_trs(columns)) continue;
        columns[3] = columns[7] = columns[11] = 0; // dust
        columns[15] = 1;
        if (cutis_gltf_is_trs(columns))
            cutis_gltf_set(f->writer, node, "matrix", cutis_gltf_float_array(columns, 16));
        else
            split_matrix(f, (uint32_t)n, columns);
    }
    if (json_array_size(f->nodes) == count) return;
    for (size_t n = 0; n < count; n++)
        relink(f, json_object_get(json_array_get(f->nodes, n), "children"), count);
    relink_scenes(f, count);
}

static uint32_t top_of(const forest *f, uint32_t node)
{
    while (f->parents[node] != CUTIS_NONE) node = (uint32_t)f->parents[node];
    return node;
}

/// The skeleton that a skin names is above all its joints: where some were added beside it, none is
/// named.
static void check_skeleton(const forest *f, uint32_t skin)
{
    json_t *json = json_array_get(json_object_get(f->writer->root, "skins"), skin);
    const json_t *joints = json_object_get(json, "joints");
    const int32_t root = cutis_gltf_index(json, "skeleton");
    bool above = true;
    for (size_t j = 0; j < json_array_size(joints) && root != CUTIS_NONE && above; j++) {
        int32_t node = (int32_t)cutis_gltf_entry(joints, j);
        while (node != CUTIS_NONE && node != root) node = f->parents[node];
        above = node == root;
    }
    if (!above) json_object_del(json, "skeleton");
}

/// All joints of a skin have one root: where they have several, one above these.
static void join_joints(forest *f, uint32_t skin)
{
    gltf_writer *writer = f->writer;
    const json_t *joints =
        json_object_get(json_array_get(json_object_get(writer->root, "skins"), skin), "joints");
    const size_t count = json_array_size(f->nodes);
    json_t *tops = json_array();
    f->stamp++;
    for (size_t j = 0; j < json_array_size(joints) && !writer->failed; j++) {
        const uint32_t top = top_of(f, cutis_gltf_entry(joints, j));
        if (f->stamps[top] == f->stamp) continue;
        f->stamps[top] = f->stamp;
        cutis_gltf_append(writer, tops, json_integer(top));
    }
    if (json_array_size(tops) > 1 && !writer->failed) {
        json_t *root = json_object();
        cutis_gltf_set(writer, root, "children", json_incref(tops));
        const int32_t added = add_node(f, root, CUTIS_NONE);
        for (size_t k = 0; k < json_array_size(tops); k++)
            f->parents[cutis_gltf_entry(tops, k)] = added;
        relink_scenes(f, count);
    }
    json_decref(tops);
}

void cutis_gltf_plant_forest(gltf_writer *writer)
{
    forest f = { .writer = writer, .nodes = json_object_get(writer->root, "nodes") };
    const json_t *skins = json_object_get(writer->root, "skins");
    cutis_arena scratch = { .context = writer->context };
    // At most one more for each node's matrix, and for each skin.
    f.capacity = 2 * json_array_size(f.nodes) + json_array_size(skins);
    f.stamps = cutis_arena_zero(&scratch, f.capacity, sizeof *f.stamps);
    f.parents = cutis_arena_alloc(&scratch, f.capacity, sizeof *f.parents);
    if (!f.stamps || !f.parents) writer->failed = true;
    if (!writer->failed) find_parents(&f);
    if (!writer->failed) split_matrices(&f);
    for (uint32_t s = 0; s < json_array_size(skins) && !writer->failed; s++) {
        check_skeleton(&f, s);
        join_joints(&f, s);
    }
    cutis_arena_release(&scratch);
}
