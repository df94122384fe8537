/// Nodes, skins and materials. Invariant: after cutis_gltf_load_hierarchy the file's nodes are a
/// forest, and the model's order is depth-first, so a subtree is a range of it.
#include "io/gltf/parts.h"

#include <math.h>
#include <string.h>

// The Khronos validator's own tolerances: of a rotation's length, and of a matrix's norm.
static const double UNIT_TOLERANCE = 0.00769;
// A rotation shorter than this has lost its direction.
static const double SHORTEST = 1e-6;
static const double STRICT_MATRIX_TOLERANCE = 5e-5 + 1e-9;
// The last row of an affine matrix is 0 0 0 1; exporters that invert in float leave dust.
static const float AFFINE_TOLERANCE = 1e-4f;

static cutis_result find_parents(gltf_document *document)
{
    for (uint32_t i = 0; i < document->node_count; i++) document->parent_of_node[i] = CUTIS_NONE;
    for (uint32_t i = 0; i < document->node_count; i++) {
        const json_t *children = json_object_get(cutis_gltf_item(document, "nodes", i), "children");
        for (size_t c = 0; c < json_array_size(children); c++) {
            uint32_t child = cutis_gltf_entry(children, c);
            if (document->parent_of_node[child] != CUTIS_NONE)
                return WRONG("NODE_PARENT_OVERRIDE",
                             "/nodes/%u/children/%zu: node %u already is a child of node %d", i, c,
                             child, document->parent_of_node[child]);
            document->parent_of_node[child] = (int32_t)i;
        }
    }
    return CUTIS_OK;
}

/// Number the subtree of `root` depth-first, children in file order. `stack` holds node_count
/// entries.
static void visit_tree(gltf_document *document, uint32_t root, bool in_scene, uint32_t *stack,
                       uint32_t *next)
{
    size_t depth = 0;
    stack[depth++] = root;
    while (depth > 0) {
        uint32_t node = stack[--depth];
        const json_t *children =
            json_object_get(cutis_gltf_item(document, "nodes", node), "children");
        document->in_scene[node] = in_scene;
        document->model_of_node[node] = *next;
        document->node_of_model[(*next)++] = node;
        for (size_t c = json_array_size(children); c-- > 0;)
            stack[depth++] = cutis_gltf_entry(children, c);
    }
}

/// The gate that repairs: joints of skins that the scene shows come into it, after its other roots.
static cutis_result add_joints(gltf_document *document, json_t *roots, uint32_t *stack,
                               uint32_t *next)
{
    for (uint32_t i = 0; i < *next; i++) {
        const uint32_t index = document->node_of_model[i];
        const int32_t skin = cutis_gltf_index(cutis_gltf_item(document, "nodes", index), "skin");
        const json_t *joints =
            skin < 0 ? NULL
                     : json_object_get(cutis_gltf_item(document, "skins", (size_t)skin), "joints");
        uint32_t top = json_array_size(joints) ? cutis_gltf_entry(joints, 0) : UINT32_MAX,
                 steps = 0;
        if (top >= document->node_count || document->model_of_node[top] != UINT32_MAX) continue;
        while (document->parent_of_node[top] != CUTIS_NONE && steps++ < document->node_count)
            top = (uint32_t)document->parent_of_node[top];
        if (document->parent_of_node[top] != CUTIS_NONE) break; // a loop, as is said later
        FORGIVE("NODE_SKIN_NO_SCENE", "/nodes/%u/skin: the joints of skin %d are not in the scene",
                index, skin);
        if (json_array_append_new(roots, json_integer(top)) != 0)
            return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for a scene");
        visit_tree(document, top, true, stack, next);
    }
    return CUTIS_OK;
}

static cutis_result order_nodes(gltf_document *document, uint32_t *stack)
{
    const json_t *scenes = json_object_get(document->root, "scenes");
    int32_t scene = cutis_gltf_index(document->root, "scene");
    const json_t *roots =
        json_object_get(json_array_get(scenes, scene < 0 ? 0 : (size_t)scene), "nodes");
    uint32_t next = 0;
    for (uint32_t i = 0; i < document->node_count; i++) document->model_of_node[i] = UINT32_MAX;
    for (size_t i = 0; i < json_array_size(roots); i++) {
        uint32_t root = cutis_gltf_entry(roots, i);
        // One that has a parent is no root; check_scenes says so once loops are ruled out.
        if (document->parent_of_node[root] == CUTIS_NONE)
            visit_tree(document, root, true, stack, &next);
    }
    if (document->repair && !document->strict) {
        cutis_result result = add_joints(document, (json_t *)roots, stack, &next);
        if (result != CUTIS_OK) return result;
    }
    for (uint32_t i = 0; i < document->node_count; i++) {
        if (document->parent_of_node[i] == CUTIS_NONE && document->model_of_node[i] == UINT32_MAX)
            visit_tree(document, i, !scenes, stack, &next);
    }
    if (next == document->node_count) return CUTIS_OK;
    uint32_t lost = 0;
    while (document->model_of_node[lost] != UINT32_MAX) lost++;
    return WRONG("NODE_LOOP", "/nodes/%u: is its own ancestor", lost);
}

/// Roots of every scene, the default one or not.
static cutis_result check_scenes(const gltf_document *document)
{
    const json_t *scenes = json_object_get(document->root, "scenes");
    for (size_t s = 0; s < json_array_size(scenes); s++) {
        const json_t *roots = json_object_get(json_array_get(scenes, s), "nodes");
        for (size_t i = 0; i < json_array_size(roots); i++) {
            uint32_t root = cutis_gltf_entry(roots, i);
            if (document->parent_of_node[root] != CUTIS_NONE)
                return WRONG("SCENE_NON_ROOT_NODE", "/scenes/%zu/nodes/%zu: node %u is no root", s,
                             i, root);
        }
    }
    return CUTIS_OK;
}

// What jansson takes for a node and its two references.
enum { JSON_NODE = 400 };

/// A node that a skin has twice is a joint once; for the second a child that stands where it does,
/// which is what it means, and what can be written.
static cutis_result part_joints(gltf_document *document, json_t *joints, uint32_t *stamps,
                                size_t node_count, uint32_t stamp)
{
    json_t *nodes = json_object_get(document->root, "nodes");
    for (size_t j = 0; j < json_array_size(joints); j++) {
        const uint32_t node = cutis_gltf_entry(joints, j);
        if (node >= node_count) continue; // one that was added
        if (stamps[node] != stamp) {
            stamps[node] = stamp;
            continue;
        }
        json_t *parent = json_array_get(nodes, node), *children;
        const json_int_t added = (json_int_t)json_array_size(nodes);
        cutis_result result = cutis_gltf_charge(document, 1, JSON_NODE); // two letters ask for it
        if (result != CUTIS_OK) return result;
        if (!json_object_get(parent, "children") &&
            json_object_set_new(parent, "children", json_array()) != 0)
            return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for a node");
        children = json_object_get(parent, "children");
        if (json_array_append_new(nodes, json_object()) != 0 ||
            json_array_append_new(children, json_integer(added)) != 0 ||
            json_array_set_new(joints, j, json_integer(added)) != 0)
            return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for a node");
    }
    return CUTIS_OK;
}

cutis_result cutis_gltf_part_joints(gltf_document *document)
{
    const json_t *skins = json_object_get(document->root, "skins");
    const size_t count = json_array_size(json_object_get(document->root, "nodes"));
    cutis_result result = CUTIS_OK;
    if (document->strict || json_array_size(skins) == 0) return CUTIS_OK;
    uint32_t *stamps = cutis_alloc_zero(document->context, count, sizeof *stamps);
    if (!stamps) return cutis_alloc_result(document->context);
    for (uint32_t s = 0; s < json_array_size(skins) && result == CUTIS_OK; s++)
        result = part_joints(document, json_object_get(json_array_get(skins, s), "joints"), stamps,
                             count, s + 1);
    cutis_free_array(document->context, stamps, count, sizeof *stamps);
    return result;
}

cutis_result cutis_gltf_load_hierarchy(gltf_document *document)
{
    size_t count = json_array_size(json_object_get(document->root, "nodes"));
    if (count > cutis_context_limits(document->context)->node_count)
        return cutis_gltf_issue(document, CUTIS_LIMIT_EXCEEDED, NULL, "/nodes: %zu nodes", count);
    document->node_count = (uint32_t)count;
    document->node_of_model = cutis_arena_alloc(&document->arena, count, sizeof(uint32_t));
    document->model_of_node = cutis_arena_alloc(&document->arena, count, sizeof(uint32_t));
    document->parent_of_node = cutis_arena_alloc(&document->arena, count, sizeof(int32_t));
    document->in_scene = cutis_arena_alloc(&document->arena, count, 1);
    uint32_t *stack = cutis_alloc_array(document->context, count, sizeof *stack);
    cutis_result result = CUTIS_OK;
    if (!document->node_of_model || !document->model_of_node || !document->parent_of_node ||
        !document->in_scene || !stack)
        result = cutis_alloc_result(document->context);
    if (result == CUTIS_OK) result = find_parents(document);
    if (result == CUTIS_OK) result = order_nodes(document, stack);
    if (result == CUTIS_OK) result = check_scenes(document);
    cutis_free_array(document->context, stack, count, sizeof *stack);
    return result;
}

/// glTF's 16 numbers by columns to 12 by rows; false if the last row is not 0 0 0 1.
static bool to_mat34(const float *columns, cutis_mat34 *out)
{
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 4; c++) out->m[r * 4 + c] = columns[c * 4 + r];
    }
    return fabsf(columns[3]) <= AFFINE_TOLERANCE && fabsf(columns[7]) <= AFFINE_TOLERANCE &&
           fabsf(columns[11]) <= AFFINE_TOLERANCE && fabsf(columns[15] - 1) <= AFFINE_TOLERANCE;
}

/// The rotation nearest to three columns that need not be at right angles, as a quaternion.
static void turn_of(double c[3][3], double *q)
{
    double trace = c[0][0] + c[1][1] + c[2][2];
    if (trace > 0) {
        double s = sqrt(trace + 1);
        q[3] = s * 0.5;
        for (int i = 0; i < 3; i++) {
            int j = (i + 1) % 3, k = (i + 2) % 3;
            q[i] = (c[j][k] - c[k][j]) * 0.5 / s;
        }
        return;
    }
    int i = c[0][0] < c[1][1] ? (c[1][1] < c[2][2] ? 2 : 1) : (c[0][0] < c[2][2] ? 2 : 0);
    int j = (i + 1) % 3, k = (i + 2) % 3;
    double s = sqrt(c[i][i] - c[j][j] - c[k][k] + 1);
    q[i] = s * 0.5;
    q[3] = (c[j][k] - c[k][j]) * 0.5 / s;
    q[j] = (c[i][j] + c[j][i]) * 0.5 / s;
    q[k] = (c[i][k] + c[k][i]) * 0.5 / s;
}

/// The largest sum of a column's absolute values, scaled by `scale`; the last column is the
/// translation's.
static double column_norm(double c[3][3], const double *scale, const float *translation)
{
    double norm = fabs((double)translation[0]) + fabs((double)translation[1]) +
                  fabs((double)translation[2]) + 1;
    for (int i = 0; i < 3; i++)
        norm = fmax(norm, fabs(scale[i]) * (fabs(c[i][0]) + fabs(c[i][1]) + fabs(c[i][2])));
    return norm;
}

/// Whether a matrix is a translation, a rotation and a scale, none of them zero: taken apart and
/// put together, its norm is the same. This is the Khronos validator's measure, which forgives what
/// a large translation outweighs.
bool cutis_gltf_is_trs(const float *columns)
{
    double c[3][3], turned[3][3], scale[3], q[4];
    const double ones[3] = { 1, 1, 1 };
    if (columns[3] != 0 || columns[7] != 0 || columns[11] != 0 || columns[15] != 1) return false;
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) c[i][k] = columns[4 * i + k];
    double determinant = c[0][0] * (c[1][1] * c[2][2] - c[1][2] * c[2][1]) -
                         c[0][1] * (c[1][0] * c[2][2] - c[1][2] * c[2][0]) +
                         c[0][2] * (c[1][0] * c[2][1] - c[1][1] * c[2][0]);
    if (determinant == 0) return false;
    double norm = column_norm(c, ones, columns + 12);
    for (int i = 0; i < 3; i++) {
        scale[i] = sqrt(c[i][0] * c[i][0] + c[i][1] * c[i][1] + c[i][2] * c[i][2]);
        if (i == 0 && determinant < 0) scale[i] = -scale[i];
        for (int k = 0; k < 3; k++) c[i][k] /= scale[i];
    }
    turn_of(c, q);
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3, k = (i + 2) % 3;
        turned[i][i] = 1 - 2 * (q[j] * q[j] + q[k] * q[k]);
        turned[i][j] = 2 * (q[i] * q[j] + q[3] * q[k]);
        turned[i][k] = 2 * (q[i] * q[k] - q[3] * q[j]);
    }
    return fabs(norm - column_norm(turned, scale, columns + 12)) < STRICT_MATRIX_TOLERANCE;
}

static bool all_within_one(const json_t *array)
{
    for (size_t k = 0; k < json_array_size(array); k++)
        if (fabs(json_number_value(json_array_get(array, k))) > 1) return false;
    return true;
}

static cutis_result read_transform(gltf_document *document, uint32_t index, cutis_node *out)
{
    const json_t *json = cutis_gltf_item(document, "nodes", index);
    const json_t *matrix = json_object_get(json, "matrix");
    const json_t *t = json_object_get(json, "translation");
    const json_t *r = json_object_get(json, "rotation"), *s = json_object_get(json, "scale");
    float numbers[16];
    out->rest = cutis_transform_identity();
    if (matrix) {
        if (t || r || s)
            return WRONG("NODE_MATRIX_TRS",
                         "/nodes/%u/matrix: beside translation, rotation or scale", index);
        cutis_mat34 *affine = cutis_arena_alloc(&document->parts, 1, sizeof *affine);
        if (!affine) return cutis_alloc_result(document->context);
        cutis_gltf_floats(matrix, numbers);
        if (!to_mat34(numbers, affine))
            return WRONG("NODE_MATRIX_NON_TRS", "/nodes/%u/matrix: its last row is not 0 0 0 1",
                         index);
        // A matrix as good as any other here; the writer makes two nodes of it (write_forest.c).
        if (!document->published && !cutis_gltf_is_trs(numbers))
            FORGIVE("NODE_MATRIX_NON_TRS",
                    "/nodes/%u/matrix: is no translation, rotation and scale", index);
        out->matrix = affine;
        out->rest = cutis_transform_from_mat34(affine);
        return CUTIS_OK;
    }
    if (t) cutis_gltf_floats(t, &out->rest.translation.x);
    if (s) cutis_gltf_floats(s, &out->rest.scale.x);
    if (!r) return CUTIS_OK;
    cutis_gltf_floats(r, &out->rest.rotation.x);
    double length = 0;
    for (int k = 0; k < 4; k++) {
        double q = json_number_value(json_array_get(r, (size_t)k));
        length += q * q;
    }
    if (fabs(sqrt(length) - 1) <= UNIT_TOLERANCE && all_within_one(r)) return CUTIS_OK;
    // One without any length turns nothing anywhere; the gate that repairs makes it the identity.
    if (length <= SHORTEST * SHORTEST && document->repair) return CUTIS_OK;
    if (length <= SHORTEST * SHORTEST)
        return WRONG("ROTATION_NON_UNIT", "/nodes/%u/rotation: its length is %g, not 1", index,
                     sqrt(length));
    FORGIVE("ROTATION_NON_UNIT", "/nodes/%u/rotation: its length is %g, not 1", index,
            sqrt(length));
    // In the JSON, too, so that what is written from it is right; only while loading, because the
    // writer reads nodes of a document that is shared.
    for (int k = 0; k < 4 && !document->published; k++) {
        float *part = &out->rest.rotation.x + k;
        double turn = json_number_value(json_array_get(r, (size_t)k)) / sqrt(length);
        *part = (float)turn;
        if (json_array_set_new((json_t *)r, (size_t)k, cutis_json_float(*part)) != 0)
            return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for a node");
    }
    return CUTIS_OK;
}

cutis_result cutis_gltf_read_node(gltf_document *document, uint32_t index, void *item)
{
    cutis_node *out = item;
    const json_t *json = cutis_gltf_item(document, "nodes", index);
    const json_t *weights = json_object_get(json, "weights");
    int32_t parent = document->parent_of_node[index];
    *out = (cutis_node){
        .name = cutis_gltf_string(json, "name"),
        .parent = parent == CUTIS_NONE ? CUTIS_NONE : (int32_t)document->model_of_node[parent],
        .mesh = cutis_gltf_index(json, "mesh"),
        .skin = cutis_gltf_index(json, "skin"),
        .outside = !document->in_scene[index],
    };
    if (out->mesh == CUTIS_NONE && out->skin != CUTIS_NONE)
        return WRONG("UNSATISFIED_DEPENDENCY", "/nodes/%u/skin: there is no mesh", index);
    if (out->mesh == CUTIS_NONE && weights)
        return WRONG("UNSATISFIED_DEPENDENCY", "/nodes/%u/weights: there is no mesh", index);
    if (weights) {
        float *values =
            cutis_arena_alloc(&document->parts, json_array_size(weights), sizeof *values);
        if (!values) return cutis_alloc_result(document->context);
        cutis_gltf_floats(weights, values);
        out->target_weights = values;
    }
    return read_transform(document, index, out);
}

cutis_result cutis_gltf_begin_skins(gltf_document *document)
{
    const cutis_model_data *data = &document->data;
    uint32_t count,
        *needed = cutis_gltf_new_items(document, &document->arena, "skins", sizeof *needed, &count);
    if (!needed) return cutis_alloc_result(document->context);
    for (uint32_t n = 0; n < data->node_count; n++) {
        const cutis_node *node = &data->nodes[n];
        if (node->skin == CUTIS_NONE || node->mesh == CUTIS_NONE) continue;
        if (document->joints_used[node->mesh] > needed[node->skin])
            needed[node->skin] = document->joints_used[node->mesh];
    }
    document->binds_needed = needed;
    return CUTIS_OK;
}

/// Joints beyond the last inverse bind: nobody minds where no vertex follows one. Else the gate
/// that repairs makes them from the rest pose.
static cutis_result check_missing_binds(gltf_document *document, uint32_t index, gltf_accessor *a,
                                        const cutis_skin *skin)
{
    if (document->published || a->count >= skin->joint_count) return CUTIS_OK;
    const bool needed = a->count < document->binds_needed[index] && !document->repair;
    if (document->strict || !cutis_gltf_has_data(a) || needed)
        return WRONG("INVALID_IBM_ACCESSOR_COUNT",
                     "/skins/%u/inverseBindMatrices: %u matrices for %u joints%s", index, a->count,
                     skin->joint_count, needed ? ", and vertices follow the others" : "");
    a->unfit = true;
    return cutis_gltf_forgive(document, CUTIS_CORRUPT_DATA, "INVALID_IBM_ACCESSOR_COUNT",
                              "/skins/%u/inverseBindMatrices: %u matrices for %u joints", index,
                              a->count, skin->joint_count);
}

static cutis_result read_inverse_binds(gltf_document *document, uint32_t index, uint32_t accessor,
                                       cutis_skin *out)
{
    gltf_accessor *a = &document->accessors[accessor];
    const float *columns;
    if (a->shape != GLTF_MAT4 || a->component != GLTF_F32)
        return WRONG("SKIN_IBM_INVALID_FORMAT",
                     "/skins/%u/inverseBindMatrices: accessor %u is not MAT4 of floats", index,
                     accessor);
    cutis_result result = check_missing_binds(document, index, a, out);
    if (result != CUTIS_OK) return result;
    if (a->view != CUTIS_NONE && document->views[a->view].stride && !document->published) {
        FORGIVE("SKIN_IBM_ACCESSOR_WITH_BYTESTRIDE",
                "/skins/%u/inverseBindMatrices: its bufferView has a stride, which is honoured",
                index);
        a->askew = true;
    }
    if (!cutis_gltf_has_data(a)) return CUTIS_OK; // left to an extension to fill in
    result = cutis_gltf_new_floats(document, accessor, &columns);
    if (result == CUTIS_OK)
        result = cutis_gltf_charge(document, out->joint_count, sizeof(cutis_mat34));
    if (result != CUTIS_OK) return result;
    cutis_mat34 *matrices = cutis_arena_alloc(&document->parts, out->joint_count, sizeof *matrices);
    if (!matrices) return cutis_alloc_result(document->context);
    for (uint32_t j = 0; j < out->joint_count; j++) {
        const float *m = columns + 16 * (size_t)j;
        const float one = document->repair ? NAN : 1;
        matrices[j] = (cutis_mat34){ { one, 0, 0, 0, 0, one, 0, 0, 0, 0, one, 0 } };
        if (j >= a->count) continue;
        if (!to_mat34(m, &matrices[j]) && !document->repair)
            return WRONG("ACCESSOR_INVALID_IBM",
                         "/skins/%u/inverseBindMatrices: the last row of matrix %u is not 0 0 0 1",
                         index, j);
        if (document->strict || (m[3] == 0 && m[7] == 0 && m[11] == 0 && m[15] == 1)) continue;
        FORGIVE("ACCESSOR_INVALID_IBM",
                "/skins/%u/inverseBindMatrices: dust in the last row of matrix %u", index, j);
        if (!document->published) a->unfit = true;
    }
    out->inverse_binds = matrices;
    return CUTIS_OK;
}

cutis_result cutis_gltf_read_skin(gltf_document *document, uint32_t index, void *item)
{
    cutis_skin *out = item;
    const json_t *json = cutis_gltf_item(document, "skins", index);
    const json_t *list = json_object_get(json, "joints");
    int32_t root = cutis_gltf_index(json, "skeleton"),
            binds = cutis_gltf_index(json, "inverseBindMatrices");
    *out =
        (cutis_skin){ .name = cutis_gltf_string(json, "name"),
                      .joint_count = (uint32_t)json_array_size(list),
                      .root = root == CUTIS_NONE ? root : (int32_t)document->model_of_node[root] };
    uint32_t *joints = cutis_arena_alloc(&document->parts, out->joint_count, sizeof *joints);
    if (!joints) return cutis_alloc_result(document->context);
    for (uint32_t j = 0; j < out->joint_count; j++)
        joints[j] = document->model_of_node[cutis_gltf_entry(list, j)];
    out->joints = joints;
    if (binds == CUTIS_NONE) return CUTIS_OK;
    return read_inverse_binds(document, index, (uint32_t)binds, out);
}

cutis_result cutis_gltf_read_material(gltf_document *document, uint32_t index, void *item)
{
    cutis_material *out = item;
    const json_t *json = cutis_gltf_item(document, "materials", index);
    const json_t *pbr = json_object_get(json, "pbrMetallicRoughness");
    const json_t *metallic = json_object_get(pbr, "metallicFactor");
    const json_t *roughness = json_object_get(pbr, "roughnessFactor");
    *out = (cutis_material){ .name = cutis_gltf_string(json, "name"),
                             .base_color = { 1, 1, 1, 1 },
                             .metallic = metallic ? (float)json_number_value(metallic) : 1,
                             .roughness = roughness ? (float)json_number_value(roughness) : 1,
                             .double_sided = json_is_true(json_object_get(json, "doubleSided")) };
    cutis_gltf_floats(json_object_get(pbr, "baseColorFactor"), out->base_color);
    return CUTIS_OK;
}

/// @param roots per node: its topmost ancestor @param sizes of the subtree of each
static cutis_result check_skin(gltf_document *document, uint32_t index, const uint32_t *roots,
                               const uint32_t *sizes)
{
    cutis_skin *skin = (cutis_skin *)&document->data.skins[index];
    uint32_t common = UINT32_MAX;
    // As the Khronos validator looks for it: after a joint of another tree it starts again.
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        const uint32_t root = roots[skin->joints[j]];
        common = common == UINT32_MAX || common == root ? root : UINT32_MAX;
    }
    // Deforming does not mind; the writer gives them one (write_forest.c).
    if (common == UINT32_MAX)
        FORGIVE("SKIN_NO_COMMON_ROOT", "/skins/%u/joints: have no common root", index);
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        if (skin->root == CUTIS_NONE ||
            (skin->joints[j] >= (uint32_t)skin->root &&
             skin->joints[j] < (uint32_t)skin->root + sizes[skin->root]))
            continue;
        FORGIVE("SKIN_SKELETON_INVALID", "/skins/%u/skeleton: joint %u is not below it", index, j);
        skin->root = CUTIS_NONE;
        json_object_del((json_t *)cutis_gltf_item(document, "skins", index), "skeleton");
    }
    return CUTIS_OK;
}

/// @param unskinned per mesh: the first primitive (file index) without influences, or CUTIS_NONE
static cutis_result check_node(const gltf_document *document, uint32_t index,
                               const int32_t *unskinned)
{
    const cutis_model_data *data = &document->data;
    const cutis_node *node = &data->nodes[index];
    uint32_t file_index = document->node_of_model[index];
    if (node->mesh == CUTIS_NONE) return CUTIS_OK;
    const cutis_mesh *mesh = &data->meshes[node->mesh];
    size_t weight_count =
        json_array_size(json_object_get(cutis_gltf_item(document, "nodes", file_index), "weights"));
    if (weight_count && weight_count != mesh->target_count)
        return WRONG("NODE_WEIGHTS_INVALID",
                     "/nodes/%u/weights: %zu weights, mesh %d has %u morph targets", file_index,
                     weight_count, node->mesh, mesh->target_count);
    if (node->skin == CUTIS_NONE) return CUTIS_OK;
    if (unskinned[node->mesh] != CUTIS_NONE)
        return WRONG("NODE_SKIN_WITH_NON_SKINNED_MESH",
                     "/nodes/%u/skin: primitive %d of mesh %d has no joints and weights",
                     file_index, unskinned[node->mesh], node->mesh);
    if (!document->repair && !node->outside &&
        data->nodes[data->skins[node->skin].joints[0]].outside)
        return WRONG("NODE_SKIN_NO_SCENE",
                     "/nodes/%u/skin: the joints of skin %d are not in the scene", file_index,
                     node->skin);
    return CUTIS_OK;
}

cutis_result cutis_gltf_check_scene(gltf_document *document)
{
    const cutis_model_data *data = &document->data;
    cutis_result result = CUTIS_OK;
    cutis_arena scratch = { .context = document->context };
    uint32_t *roots = cutis_arena_alloc(&scratch, data->node_count, sizeof *roots);
    uint32_t *sizes = cutis_arena_alloc(&scratch, data->node_count, sizeof *sizes);
    int32_t *unskinned = cutis_arena_alloc(&scratch, data->mesh_count, sizeof *unskinned);
    if (!roots || !sizes || !unskinned) result = cutis_alloc_result(document->context);
    if (result == CUTIS_OK) {
        for (uint32_t i = 0; i < data->node_count; i++) {
            roots[i] = data->nodes[i].parent == CUTIS_NONE ? i : roots[data->nodes[i].parent];
            sizes[i] = 1;
        }
        for (uint32_t i = data->node_count; i-- > 0;) {
            if (data->nodes[i].parent != CUTIS_NONE) sizes[data->nodes[i].parent] += sizes[i];
        }
    }
    for (uint32_t m = 0; m < data->mesh_count && result == CUTIS_OK; m++) {
        unskinned[m] = CUTIS_NONE;
        for (uint32_t p = data->meshes[m].primitive_count; p-- > 0;) {
            if (!data->meshes[m].primitives[p].influences.first)
                unskinned[m] = (int32_t)document->primitives[m][p];
        }
    }
    for (uint32_t s = 0; s < data->skin_count && result == CUTIS_OK; s++)
        result = check_skin(document, s, roots, sizes);
    for (uint32_t n = 0; n < data->node_count && result == CUTIS_OK; n++)
        result = check_node(document, n, unskinned);
    cutis_arena_release(&scratch);
    return result;
}
