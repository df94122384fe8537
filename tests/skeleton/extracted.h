/// What the tests of extraction share: a context, bodies, hand-made surfaces, and what a new model
/// says of itself, counted again from its triangles.
#ifndef CUTIS_TESTS_EXTRACTED_H
#define CUTIS_TESTS_EXTRACTED_H

#include "support.h"

#include <cutis/skeleton.h>

static cutis_context *context;

static inline int setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context);
}

static inline int teardown(void **state)
{
    (void)state;
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left != 0;
}

static inline cutis_model *body(cutis_body kind, uint32_t vertices)
{
    cutis_model *model = NULL;
    cutis_synth_options options = { .body = kind, .vertex_count = vertices };
    assert_ok(context, cutis_synth_create(context, &options, &model));
    return model;
}

static inline cutis_model *extract(const cutis_model *model, cutis_skeleton_options options,
                                   cutis_skeleton_report **report)
{
    cutis_model *out = NULL;
    assert_ok(context, cutis_skeleton_extract(model, &options, &out, report));
    return out;
}

// What the new model says of itself -------------------------------------------------------------

typedef struct {
    uint32_t a, b, part;
} edge;

static inline int by_edge(const void *x, const void *y)
{
    const edge *e = x, *f = y;
    if (e->a != f->a) return e->a < f->a ? -1 : 1;
    return e->b < f->b ? -1 : e->b > f->b;
}

static inline const edge *find_edge(const edge *edges, size_t n, uint32_t a, uint32_t b)
{
    edge key = { a, b, 0 };
    return bsearch(&key, edges, n, sizeof key, by_edge);
}

static inline const cutis_mesh *mesh_of(const cutis_model *model)
{
    return &cutis_model_get(model)->meshes[0];
}

static inline size_t list_edges(const cutis_mesh *mesh, edge **out)
{
    size_t n = 0, first = 0, count = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) n += mesh->primitives[p].index_count;
    edge *edges = malloc((n + 1) * sizeof *edges);
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &mesh->primitives[p];
        const uint32_t *weld = mesh->part_tree->weld + first;
        for (uint32_t i = 0; i < primitive->index_count; i++) {
            uint32_t j = i % 3 == 2 ? i - 2 : i + 1;
            edges[count++] = (edge){ weld[primitive->indices[i]], weld[primitive->indices[j]],
                                     primitive->parts[i / 3] };
        }
        first += primitive->vertex_count;
    }
    qsort(edges, count, sizeof *edges, by_edge);
    *out = edges;
    return count;
}

// Closed: every directed edge once, and its opposite. Loops: between their two parts, disjoint.
static inline void assert_sound(const cutis_model *model)
{
    const cutis_mesh *mesh = mesh_of(model);
    const cutis_part_tree *tree = mesh->part_tree;
    edge *edges;
    size_t n = list_edges(mesh, &edges), borders = 0, on_loops = 0;
    for (size_t i = 0; i < n; i++) {
        if (i > 0) assert_true(by_edge(&edges[i - 1], &edges[i]) < 0);
        const edge *twin = find_edge(edges, n, edges[i].b, edges[i].a);
        assert_non_null(twin);
        borders += twin->part != edges[i].part;
    }
    uint8_t *seen = calloc(tree->welded_count, 1);
    for (uint32_t l = 0; l < tree->loop_count; l++) {
        const cutis_part_loop *loop = &tree->loops[l];
        for (uint32_t i = 0; i < loop->vertex_count; i++) {
            uint32_t a = loop->vertices[i], b = loop->vertices[(i + 1) % loop->vertex_count];
            assert_int_equal(seen[a], 0);
            seen[a] = 1;
            assert_int_equal(find_edge(edges, n, a, b)->part, loop->child);
            assert_int_equal(find_edge(edges, n, b, a)->part, loop->parent);
        }
        on_loops += loop->vertex_count;
    }
    assert_int_equal(borders, 2 * on_loops); // every border edge is on a loop
    free(seen);
    free(edges);
}

static inline uint32_t leaf_count(const cutis_mesh *mesh)
{
    uint32_t leaves = 0;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        bool leaf = true;
        for (uint32_t q = p + 1; q < mesh->part_count; q++)
            leaf = leaf && mesh->part_tree->parts[q].parent != (int32_t)p;
        leaves += leaf;
    }
    return leaves;
}

static inline uint32_t part_named(const cutis_mesh *mesh, const char *name)
{
    for (uint32_t p = 0; p < mesh->part_count; p++)
        if (strcmp(mesh->part_names[p], name) == 0) return p;
    fail_msg("no part %s", name);
    return 0;
}

static inline void welded_points(const cutis_mesh *mesh, double (*points)[3])
{
    size_t first = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        for (uint32_t v = 0; v < mesh->primitives[p].vertex_count; v++, first++)
            for (int k = 0; k < 3; k++)
                points[mesh->part_tree->weld[first]][k] =
                    mesh->primitives[p].positions[3 * (size_t)v + k];
}

static inline double distance(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

// Rest position of a node by name.
static inline void node_place(const cutis_model *model, const char *name, double *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_transform *local = malloc(data->node_count * sizeof *local);
    cutis_mat34 *world = malloc(data->node_count * sizeof *world);
    cutis_pose_rest(model, local, NULL);
    cutis_pose_world(model, local, world);
    bool found = false;
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t n = 0; n < data->node_count && !found; n++) {
        if (!data->nodes[n].name || strcmp(data->nodes[n].name, name) != 0) continue;
        for (int k = 0; k < 3; k++) out[k] = world[n].m[4 * k + 3];
        found = true;
    }
    free(local);
    free(world);
    assert_true(found);
}

// Hand-made surfaces ----------------------------------------------------------------------------

#define GRID 6u

typedef struct {
    float positions[6000][3];
    uint32_t indices[6000], labels[2000];
    uint32_t vertices, index_count;
} soup;

static inline uint32_t add_vertex(soup *s, double x, double y, double z)
{
    s->positions[s->vertices][0] = (float)x;
    s->positions[s->vertices][1] = (float)y;
    s->positions[s->vertices][2] = (float)z;
    return s->vertices++;
}

static inline void add_face(soup *s, uint32_t a, uint32_t b, uint32_t c, uint32_t label)
{
    s->labels[s->index_count / 3] = label;
    s->indices[s->index_count++] = a, s->indices[s->index_count++] = b;
    s->indices[s->index_count++] = c;
}

// A square tube along x from x0 to x1 in `steps`, GRID faces a side; ends open, or closed by a fan.
static inline void add_tube(soup *s, double x0, double x1, uint32_t steps, double y, double radius,
                            bool closed0, bool closed1, uint32_t label)
{
    uint32_t ring = 12, base = s->vertices;
    for (uint32_t i = 0; i <= steps; i++)
        for (uint32_t j = 0; j < ring; j++) {
            double a = 2 * 3.14159265358979 * j / ring;
            add_vertex(s, x0 + (x1 - x0) * i / steps, y + radius * cos(a), radius * sin(a));
        }
    for (uint32_t i = 0; i < steps; i++)
        for (uint32_t j = 0; j < ring; j++) {
            uint32_t a = base + i * ring + j, b = base + i * ring + (j + 1) % ring;
            add_face(s, a, b, b + ring, label);
            add_face(s, a, b + ring, a + ring, label);
        }
    for (int end = 0; end < 2; end++) {
        if (!(end ? closed1 : closed0)) continue;
        uint32_t centre = add_vertex(s, end ? x1 : x0, y, 0),
                 first = base + (end ? steps * ring : 0);
        for (uint32_t j = 0; j < ring; j++) {
            uint32_t a = first + j, b = first + (j + 1) % ring;
            if (end)
                add_face(s, a, b, centre, label);
            else
                add_face(s, b, a, centre, label);
        }
    }
}

static inline cutis_model *soup_model(const soup *s)
{
    cutis_primitive primitive = { .vertex_count = s->vertices,
                                  .index_count = s->index_count,
                                  .positions = &s->positions[0][0],
                                  .indices = s->indices,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .name = "soup", .primitive_count = 1, .primitives = &primitive };
    cutis_node node = { .parent = CUTIS_NONE,
                        .rest = cutis_transform_identity(),
                        .skin = CUTIS_NONE };
    cutis_model_data data = { .node_count = 1, .nodes = &node, .mesh_count = 1, .meshes = &mesh };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    return model;
}

static inline cutis_skeleton_options by_labels(const soup *s)
{
    return (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_LABELS,
                                     .labels = s->labels,
                                     .label_count = s->index_count / 3,
                                     .keep_curved = true };
}

#endif
