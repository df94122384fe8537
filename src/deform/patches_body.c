/// Reads a model for blending patches. Invariant: what comes out is a closed, consistently oriented
/// surface over welded vertices, every face has a part, all borders of a part are on one piece of
/// it, and they are simple loops without common vertices; anything else is an error that names the
/// part and says what helps.
#include "deform/patches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "geometry/half_edge.h"
#include "geometry/vector.h"

#define NOWHERE UINT32_MAX

// Of a sum of unit normals: below it those of a vertex that was split cancel out.
static const double NORMAL_LEAST = 1e-3;

static const int OUTWARDS_PASSES = 16;
static const double OUTWARDS_FULL = 0.5; // means of normals that are longer have the length 1
static const double EDGE_LEAST = 1e-6;   // of the diagonal: shorter ones weigh no more

// The one mesh instance that has parts.
static cutis_result find_instance(patch_body *body)
{
    const cutis_model_data *data = cutis_model_get(body->model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(body->model, &instances), found = 0, instance = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (data->meshes[instances[i].mesh].part_count == 0) continue;
        instance = i;
        found++;
    }
    if (found == 0)
        return UNSUPPORTED(
            body->context,
            "no mesh has parts; cutis skeleton makes them, cutis rig --patches a whole rig");
    if (found > 1 || count > 1)
        return UNSUPPORTED(
            body->context,
            "%u meshes; patches need one, which cutis rig --patches and cutis skeleton make",
            count);
    if (instances[instance].skin == CUTIS_NONE)
        return UNSUPPORTED(body->context, "the mesh with parts has no skin");
    body->mesh = &data->meshes[instances[instance].mesh];
    body->skin = &data->skins[instances[instance].skin];
    for (uint32_t p = 0; p < body->mesh->primitive_count; p++)
        if (body->mesh->primitives[p].topology != CUTIS_TOPOLOGY_TRIANGLES ||
            !body->mesh->primitives[p].parts)
            return UNSUPPORTED(body->context, "primitive %u of the mesh with parts has none", p);
    body->part_count = body->mesh->part_count;
    return CUTIS_OK;
}

// Positions, faces and labels of all primitives, vertices in output order.
static cutis_result gather(patch_body *body, float **positions, uint32_t **weld)
{
    const cutis_mesh *mesh = body->mesh;
    uint32_t vertices = 0, faces = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        vertices += mesh->primitives[p].vertex_count;
        faces += mesh->primitives[p].index_count / 3;
    }
    body->output_count = vertices;
    body->face_count = faces;
    *positions = cutis_arena_alloc(body->arena, 3 * (size_t)vertices, sizeof **positions);
    *weld = cutis_arena_alloc(body->arena, vertices, sizeof **weld);
    body->faces = cutis_arena_alloc(body->arena, 3 * (size_t)faces, sizeof *body->faces);
    body->labels = cutis_arena_alloc(body->arena, faces, sizeof *body->labels);
    if (!*positions || !*weld || !body->faces || !body->labels)
        return cutis_alloc_result(body->context);
    uint32_t vertex = 0, face = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &mesh->primitives[p];
        memcpy(*positions + 3 * (size_t)vertex, primitive->positions,
               3 * sizeof(float) * (size_t)primitive->vertex_count);
        for (uint32_t i = 0; i < primitive->index_count; i++)
            body->faces[3 * (size_t)face + i] = vertex + primitive->indices[i];
        memcpy(body->labels + face, primitive->parts,
               sizeof(uint32_t) * (primitive->index_count / 3));
        vertex += primitive->vertex_count;
        face += primitive->index_count / 3;
    }
    return CUTIS_OK;
}

// Welded vertices are numbered in the order of their first appearance; faces then use them. Faces
// that collapse to an edge are not there.
static cutis_result weld_vertices(patch_body *body)
{
    float *positions = NULL;
    uint32_t *weld = NULL;
    TRY(gather(body, &positions, &weld));
    if (body->mesh->part_tree) {
        memcpy(weld, body->mesh->part_tree->weld, body->output_count * sizeof *weld);
        body->vertex_count = body->mesh->part_tree->welded_count;
    } else {
        TRY(cutis_weld_positions(body->context, body->output_count, positions, weld));
        for (uint32_t v = 0; v < body->output_count; v++)
            weld[v] = weld[v] == v ? body->vertex_count++ : weld[weld[v]];
    }
    body->weld = weld;
    body->points = cutis_arena_alloc(body->arena, 3 * (size_t)body->vertex_count, sizeof(double));
    body->files = cutis_arena_alloc(body->arena, body->vertex_count, sizeof *body->files);
    body->origins = cutis_arena_alloc(body->arena, body->face_count, sizeof *body->origins);
    if (!body->points || !body->files || !body->origins) return cutis_alloc_result(body->context);
    for (uint32_t v = body->output_count; v-- > 0;) body->files[weld[v]] = v;
    for (uint32_t v = 0; v < body->output_count; v++)
        for (int k = 0; k < 3; k++)
            body->points[3 * (size_t)weld[v] + k] = positions[3 * (size_t)v + k];
    uint32_t kept = 0;
    for (uint32_t f = 0; f < body->face_count; f++) {
        uint32_t v[3];
        for (int k = 0; k < 3; k++) v[k] = weld[body->faces[3 * (size_t)f + k]];
        if (v[0] == v[1] || v[1] == v[2] || v[2] == v[0]) continue;
        memcpy(body->faces + 3 * (size_t)kept, v, sizeof v);
        body->origins[kept] = f;
        body->labels[kept++] = body->labels[f];
    }
    body->face_count = kept;
    if (kept == 0) return UNSUPPORTED(body->context, "the mesh has no faces");
    return CUTIS_OK;
}

static void measure(patch_body *body)
{
    box3 box = box3_empty();
    for (uint32_t v = 0; v < body->vertex_count; v++)
        box3_add(&box, v3_of(body->points + 3 * (size_t)v));
    body->diagonal = box3_diagonal(&box);
}

static uint32_t head(const patch_body *body, uint32_t h)
{
    return body->faces[half_next(h)];
}

// Every edge must have two faces that run it in opposite directions.
static cutis_result pair_edges(patch_body *body)
{
    size_t count;
    cutis_edge *edges;
    body->twins = cutis_arena_alloc(body->arena, body->face_count, 3 * sizeof *body->twins);
    if (!body->twins) return cutis_alloc_result(body->context);
    TRY(cutis_edges_sort(body->arena, body->faces, NULL, body->face_count, &edges, &count));
    for (size_t i = 0; i < count; i += 2) {
        size_t faces = cutis_edges_run(edges, count, i);
        if (faces != 2)
            return UNSUPPORTED(body->context,
                               "part %s: the mesh is not closed there (an edge has %s)" PATCH_HEAL,
                               patch_part_name(body, body->labels[edges[i].half / 3]),
                               faces > 2 ? "more than two faces" : "one face");
        uint32_t a = (uint32_t)edges[i].half, b = (uint32_t)edges[i + 1].half;
        if (body->faces[a] == body->faces[b])
            return UNSUPPORTED(
                body->context,
                "part %s: neighbouring faces are oriented against each other" PATCH_HEAL,
                patch_part_name(body, body->labels[a / 3]));
        body->twins[a] = b;
        body->twins[b] = a;
    }
    return CUTIS_OK;
}

// The file's normals, which a body at rest is to have; of vertices that were split the mean.
// @return is there one for every welded vertex?
static bool file_normals(const patch_body *body)
{
    uint32_t vertex = 0;
    for (uint32_t p = 0; p < body->mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &body->mesh->primitives[p];
        if (!primitive->normals) return false;
        for (uint32_t v = 0; v < primitive->vertex_count; v++, vertex++) {
            const float *n = primitive->normals + 3 * (size_t)v;
            v3_sum(body->normals + 3 * (size_t)body->weld[vertex], v3(n[0], n[1], n[2]));
        }
    }
    for (size_t v = 0; v < body->vertex_count; v++)
        if (!(v3_length(v3_of(body->normals + 3 * v)) > NORMAL_LEAST)) return false;
    return true;
}

static void make_unit(double *normals, size_t count)
{
    for (size_t i = 0; i < count; i += 3) {
        double *n = normals + i, l = v3_length(v3_of(n));
        for (int k = 0; k < 3; k++) n[k] = l > 0.0 ? n[k] / l : k == 2;
    }
}

// Bands swell along directions that change slowly from vertex to vertex, by their distances, and
// that are short where the surface is folded: along normals the rims of eyelids and the webs of
// toes, a tenth of an edge high, swelled into their other side. A quarter of what is left stays
// along the normal, so that a joint which hardly bends turns no normal over (patch_normal_way).
static cutis_result even_outwards(patch_body *body)
{
    const size_t count = 3 * (size_t)body->vertex_count, corners = 3 * (size_t)body->face_count;
    double *sum = cutis_arena_alloc(body->arena, count, sizeof *sum);
    double *normals = cutis_arena_alloc(body->arena, count, sizeof *normals);
    double *total = cutis_arena_alloc(body->arena, body->vertex_count, sizeof *total);
    double *out = body->outwards;
    if (!sum || !normals || !total) return cutis_alloc_result(body->context);
    memcpy(normals, out, count * sizeof *out);
    for (int pass = 0; pass < OUTWARDS_PASSES; pass++) {
        memset(sum, 0, count * sizeof *sum);
        memset(total, 0, body->vertex_count * sizeof *total);
        for (size_t h = 0; h < corners; h++) { // every edge from both its faces, each one way
            const size_t a = body->faces[h], b = body->faces[half_next((uint32_t)h)];
            const double far = v3_distance_of(body->points + 3 * a, body->points + 3 * b);
            const double l = fmax(far / body->diagonal, EDGE_LEAST), weight = 1.0 / (l * l);
            v3_sum(sum + 3 * a, v3_scale(v3_of(out + 3 * b), weight));
            total[a] += weight;
        }
        for (size_t i = 0; i < count; i++)
            out[i] = 0.5 * out[i] + 0.5 * (total[i / 3] > 0.0 ? sum[i] / total[i / 3] : out[i]);
    }
    for (size_t i = 0; i < count; i += 3) {
        const vec3 n = v3_of(normals + i);
        const double length = v3_length(v3_of(out + i));
        const vec3 x = v3_divide(v3_of(out + i), fmax(length, OUTWARDS_FULL));
        const double least = 0.25 * v3_length(x);
        v3_put(v3_add(x, v3_scale(n, fmax(least - v3_dot(x, n), 0.0))), out + i);
    }
    return CUTIS_OK;
}

// What a frame shows, and what bands swell along: a file's normals may be anything.
static cutis_result vertex_normals(patch_body *body)
{
    size_t count = 3 * (size_t)body->vertex_count;
    body->normals = cutis_arena_zero(body->arena, count, sizeof *body->normals);
    if (!body->normals) return cutis_alloc_result(body->context);
    body->outwards = cutis_arena_zero(body->arena, count, sizeof *body->outwards);
    if (!body->outwards) return cutis_alloc_result(body->context);
    for (uint32_t f = 0; f < body->face_count; f++) {
        const uint32_t *v = body->faces + 3 * (size_t)f;
        vec3 n = v3_normal_of(body->points + 3 * (size_t)v[0], body->points + 3 * (size_t)v[1],
                              body->points + 3 * (size_t)v[2]);
        for (int i = 0; i < 3; i++) v3_sum(body->outwards + 3 * (size_t)v[i], n);
    }
    if (!file_normals(body)) memcpy(body->normals, body->outwards, count * sizeof *body->normals);
    make_unit(body->normals, count);
    make_unit(body->outwards, count);
    return even_outwards(body);
}

// The joint that drives a part: of its name, else the one with the most weight on its faces.
static cutis_result find_joints(patch_body *body)
{
    const cutis_model_data *data = cutis_model_get(body->model);
    const cutis_skin *skin = body->skin;
    double *weight = cutis_arena_zero(body->arena, (size_t)body->part_count * skin->joint_count + 1,
                                      sizeof *weight);
    body->joints = cutis_arena_alloc(body->arena, body->part_count, sizeof *body->joints);
    if (!weight || !body->joints) return cutis_alloc_result(body->context);
    for (uint32_t p = 0; p < body->mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &body->mesh->primitives[p];
        const cutis_influences *in = &primitive->influences;
        for (uint32_t i = 0; in->first && i < primitive->index_count; i++) {
            double *row = weight + (size_t)primitive->parts[i / 3] * skin->joint_count;
            uint32_t v = primitive->indices[i];
            for (uint32_t k = in->first[v]; k < in->first[v + 1]; k++)
                row[in->joints[k]] += in->weights[k];
        }
    }
    for (uint32_t part = 0; part < body->part_count; part++) {
        const double *row = weight + (size_t)part * skin->joint_count;
        uint32_t best = 0;
        for (uint32_t j = 1; j < skin->joint_count; j++)
            if (row[j] > row[best]) best = j;
        for (uint32_t j = 0; j < skin->joint_count; j++) {
            const char *name = data->nodes[skin->joints[j]].name;
            if (name && strcmp(name, patch_part_name(body, part)) == 0) best = j;
        }
        body->joints[part] =
            body->mesh->part_tree ? body->mesh->part_tree->parts[part].joint : best;
    }
    return CUTIS_OK;
}

// Parts as a tree, by the nodes of their joints: the parent is the part of the nearest joint above.
static cutis_result find_parents(patch_body *body)
{
    const cutis_model_data *data = cutis_model_get(body->model);
    const cutis_skin *skin = body->skin;
    uint32_t *part_of = cutis_arena_alloc(body->arena, data->node_count, sizeof *part_of);
    body->parents = cutis_arena_alloc(body->arena, body->part_count, sizeof *body->parents);
    if (!part_of || !body->parents) return cutis_alloc_result(body->context);
    for (uint32_t n = 0; n < data->node_count; n++) part_of[n] = NOWHERE;
    for (uint32_t part = body->part_count; part-- > 0;)
        part_of[skin->joints[body->joints[part]]] = part;
    for (uint32_t part = 0; part < body->part_count; part++) {
        int32_t node = data->nodes[skin->joints[body->joints[part]]].parent;
        while (node >= 0 && part_of[node] == NOWHERE) node = data->nodes[node].parent;
        body->parents[part] = node >= 0 ? part_of[node] : part;
    }
    return CUTIS_OK;
}

static uint32_t depth_of(const patch_body *body, uint32_t part)
{
    uint32_t depth = 0;
    while (body->parents[part] != part && depth < body->part_count) {
        part = body->parents[part];
        depth++;
    }
    return depth;
}

// Of two parts that meet: is b the child? The deeper one is; else the larger index.
static bool is_child(const patch_body *body, uint32_t a, uint32_t b)
{
    if (body->parents[b] == a) return true;
    if (body->parents[a] == b) return false;
    uint32_t da = depth_of(body, a), db = depth_of(body, b);
    return da != db ? db > da : b > a;
}

// Border half-edges of children: next[v] is where the loop goes on from v.
static cutis_result link_borders(patch_body *body, uint32_t *next, uint32_t *at)
{
    for (uint32_t v = 0; v < body->vertex_count; v++) next[v] = at[v] = NOWHERE;
    for (uint32_t h = 0; h < 3 * body->face_count; h++) {
        uint32_t own = body->labels[h / 3], other = body->labels[body->twins[h] / 3];
        if (own == other || !is_child(body, other, own)) continue;
        uint32_t v = body->faces[h];
        if (next[v] != NOWHERE)
            return UNSUPPORTED(
                body->context,
                "part %s: its border touches another (or itself) in a vertex" PATCH_HEAL,
                patch_part_name(body, own));
        next[v] = head(body, h);
        at[v] = h;
    }
    return CUTIS_OK;
}

static cutis_result trace_loop(patch_body *body, const uint32_t *next, const uint32_t *at,
                               uint32_t start, bool *seen, uint32_t *used, patch_loop *loop)
{
    uint32_t child = body->labels[at[start] / 3], v = start;
    uint32_t parent = body->labels[body->twins[at[start]] / 3];
    *loop = (patch_loop){ .parent = parent, .child = child, .first = *used };
    do {
        bool same = next[v] != NOWHERE && !seen[v] && body->labels[at[v] / 3] == child &&
                    body->labels[body->twins[at[v]] / 3] == parent;
        if (!same)
            return UNSUPPORTED(body->context,
                               "parts %s and %s: their border is no closed loop (three parts meet "
                               "in a vertex)" PATCH_HEAL,
                               patch_part_name(body, parent), patch_part_name(body, child));
        seen[v] = true;
        body->loop_vertices[(*used)++] = v;
        loop->count++;
        v = next[v];
    } while (v != start);
    return CUTIS_OK;
}

// Of several loops between two parts the longest is the joint, the others are seams.
static void mark_seams(patch_body *body)
{
    for (uint32_t i = 0; i < body->loop_count; i++)
        for (uint32_t k = 0; k < body->loop_count; k++) {
            const patch_loop *a = &body->loops[i], *b = &body->loops[k];
            if (i == k || a->child != b->child) continue;
            bool tree_a = body->parents[a->child] == a->parent;
            bool tree_b = body->parents[b->child] == b->parent;
            if (tree_a != tree_b ? tree_b : b->count > a->count || (b->count == a->count && k < i))
                body->loops[i].seam = true;
        }
}

static cutis_result find_loops(patch_body *body)
{
    uint32_t count = body->vertex_count, used = 0;
    uint32_t *next = cutis_arena_alloc(body->arena, count, sizeof *next);
    uint32_t *at = cutis_arena_alloc(body->arena, count, sizeof *at);
    bool *seen = cutis_arena_zero(body->arena, count, sizeof *seen);
    body->loop_vertices = cutis_arena_alloc(body->arena, count, sizeof *body->loop_vertices);
    body->loops = cutis_arena_alloc(body->arena, count / 3 + 1, sizeof *body->loops);
    if (!next || !at || !seen || !body->loop_vertices || !body->loops)
        return cutis_alloc_result(body->context);
    TRY(link_borders(body, next, at));
    for (uint32_t v = 0; v < count; v++) {
        if (next[v] == NOWHERE || seen[v]) continue;
        TRY(trace_loop(body, next, at, v, seen, &used, &body->loops[body->loop_count]));
        body->loop_count++;
    }
    mark_seams(body);
    return CUTIS_OK;
}

// The rest origin of a joint: the point its part turns about.
static cutis_result find_centres(patch_body *body)
{
    const cutis_skin *skin = body->skin;
    body->centres =
        cutis_arena_alloc(body->arena, 3 * (size_t)body->loop_count, sizeof *body->centres);
    if (!body->centres) return cutis_alloc_result(body->context);
    for (uint32_t i = 0; i < body->loop_count; i++) {
        uint32_t joint = body->joints[body->loops[i].child];
        cutis_mat34 rest = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
        if (skin->inverse_binds && !cutis_mat34_invert(&skin->inverse_binds[joint], &rest))
            return UNSUPPORTED(body->context, "part %s: the inverse bind of its joint is singular",
                               patch_part_name(body, body->loops[i].child));
        for (int k = 0; k < 3; k++) body->centres[3 * (size_t)i + k] = rest.m[4 * k + 3];
    }
    return CUTIS_OK;
}

cutis_result cutis_patch_body_read(const cutis_model *model, cutis_arena *arena, patch_body *out)
{
    *out = (patch_body){ .arena = arena, .context = arena->context, .model = model };
    TRY(find_instance(out));
    TRY(weld_vertices(out));
    measure(out);
    TRY(pair_edges(out));
    TRY(vertex_normals(out));
    TRY(find_joints(out));
    TRY(find_parents(out));
    TRY(find_loops(out));
    TRY(find_centres(out));
    if (out->loop_count == 0)
        return UNSUPPORTED(out->context, "no two parts meet: there is no joint to patch");
    return CUTIS_OK;
}
