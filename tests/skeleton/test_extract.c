// Extraction from one end to the other: closed surfaces, healed labels, trees of loops, rigs.
// Edges, loops and joints are counted again here from what the new model says of itself.
#include "support.h"

#include <cutis/skeleton.h>

static cutis_context *context;

static int setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context);
}

static int teardown(void **state)
{
    (void)state;
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left != 0;
}

static cutis_model *body(cutis_body kind, uint32_t vertices)
{
    cutis_model *model = NULL;
    cutis_synth_options options = { .body = kind, .vertex_count = vertices };
    assert_ok(context, cutis_synth_create(context, &options, &model));
    return model;
}

static cutis_model *extract(const cutis_model *model, cutis_skeleton_options options,
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

static int by_edge(const void *x, const void *y)
{
    const edge *e = x, *f = y;
    if (e->a != f->a) return e->a < f->a ? -1 : 1;
    return e->b < f->b ? -1 : e->b > f->b;
}

static const edge *find_edge(const edge *edges, size_t n, uint32_t a, uint32_t b)
{
    edge key = { a, b, 0 };
    return bsearch(&key, edges, n, sizeof key, by_edge);
}

static const cutis_mesh *mesh_of(const cutis_model *model)
{
    return &cutis_model_get(model)->meshes[0];
}

static size_t list_edges(const cutis_mesh *mesh, edge **out)
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
static void assert_sound(const cutis_model *model)
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

static uint32_t leaf_count(const cutis_mesh *mesh)
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

static uint32_t part_named(const cutis_mesh *mesh, const char *name)
{
    for (uint32_t p = 0; p < mesh->part_count; p++)
        if (strcmp(mesh->part_names[p], name) == 0) return p;
    fail_msg("no part %s", name);
    return 0;
}

static void welded_points(const cutis_mesh *mesh, double (*points)[3])
{
    size_t first = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        for (uint32_t v = 0; v < mesh->primitives[p].vertex_count; v++, first++)
            for (int k = 0; k < 3; k++)
                points[mesh->part_tree->weld[first]][k] =
                    mesh->primitives[p].positions[3 * (size_t)v + k];
}

static double distance(const double *a, const double *b)
{
    double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

// Rest position of a node by name.
static void node_place(const cutis_model *model, const char *name, double *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_transform *local = malloc(data->node_count * sizeof *local);
    cutis_mat34 *world = malloc(data->node_count * sizeof *world);
    cutis_pose_rest(model, local, NULL);
    cutis_pose_world(model, local, world);
    bool found = false;
    for (uint32_t n = 0; n < data->node_count && !found; n++) {
        if (!data->nodes[n].name || strcmp(data->nodes[n].name, name) != 0) continue;
        for (int k = 0; k < 3; k++) out[k] = world[n].m[4 * k + 3];
        found = true;
    }
    free(local);
    free(world);
    assert_true(found);
}

// Bodies ----------------------------------------------------------------------------------------

static double angle_to(const double *axis, const double *from, const double *to)
{
    double length = distance(from, to), dot = 0;
    for (int k = 0; k < 3; k++) dot += axis[k] * (to[k] - from[k]) / length;
    return acos(fmin(1, fabs(dot)));
}

static void check_body(cutis_body kind)
{
    cutis_model *model = body(kind, 0);
    cutis_skeleton_report *report;
    cutis_model *out = extract(
        model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS, .keep_curved = true },
        &report);
    const cutis_mesh *mesh = mesh_of(out);
    const cutis_part_tree *tree = mesh->part_tree;
    cutis_surface surface = { mesh->primitives[0].vertex_count, mesh->primitives[0].index_count / 3,
                              mesh->primitives[0].positions, mesh->primitives[0].indices };
    double diagonal = cutis_surface_diagonal(&surface), worst = 0;
    assert_sound(out);
    assert_int_equal(mesh->part_count, mesh_of(model)->part_count);
    assert_int_equal(tree->loop_count, mesh->part_count - 1);
    // One joint per part, one end per leaf, and the body.
    assert_int_equal(cutis_model_get(out)->node_count, mesh->part_count + leaf_count(mesh) + 1);
    double(*points)[3] = malloc(tree->welded_count * sizeof *points);
    welded_points(mesh, points);
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        const cutis_part *part = &tree->parts[p];
        double truth[3], rig[3], sum[3] = { 0 }, total = 0;
        node_place(out, mesh->part_names[p], rig);
        assert_near(distance(rig, part->position), 0, 1e-6);
        if (part->parent == CUTIS_NONE) continue;
        const cutis_part_loop *loop = &tree->loops[part->loop];
        for (uint32_t i = 0; i < loop->vertex_count; i++) {
            const double *a = points[loop->vertices[i]];
            const double *b = points[loop->vertices[(i + 1) % loop->vertex_count]];
            double length = distance(a, b);
            for (int k = 0; k < 3; k++) sum[k] += length * (a[k] + b[k]) / 2;
            total += length;
        }
        for (int k = 0; k < 3; k++) assert_near(part->position[k], sum[k] / total, 1e-12);
        // The joint of the body that lies at this loop: the deeper of the two parts.
        uint32_t deep = p;
        node_place(model, mesh->part_names[deep], truth);
        double own = distance(truth, part->position);
        node_place(model, mesh->part_names[part->parent], truth);
        worst = fmax(worst, fmin(own, distance(truth, part->position)));
    }
    print_message("joints within %.2f %% of the diagonal\n", 100 * worst / diagonal);
    assert_true(worst < 0.05 * diagonal);
    free(points);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void joints_of_the_biped_are_where_its_makers_put_them(void **state)
{
    (void)state;
    check_body(CUTIS_BODY_BIPED);
}

static void joints_of_the_quadruped_are_where_its_makers_put_them(void **state)
{
    (void)state;
    check_body(CUTIS_BODY_QUADRUPED);
}

static void refinement_brings_axes_to_the_bones_and_leaves_no_part_worse(void **state)
{
    (void)state;
    for (cutis_body kind = CUTIS_BODY_BIPED; kind <= CUTIS_BODY_QUADRUPED; kind++) {
        cutis_model *model = body(kind, 0);
        double before = 0, after[2] = { 0 };
        uint32_t two_joints = 0;
        for (int paper = 0; paper < 2; paper++) {
            cutis_skeleton_report *report;
            cutis_model *out =
                extract(model,
                        (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS,
                                                  .refine = paper ? CUTIS_REFINE_PAPER : 0 },
                        &report);
            const cutis_mesh *mesh = mesh_of(out);
            const cutis_part_tree *tree = mesh->part_tree;
            for (uint32_t p = 0; p < mesh->part_count; p++) {
                uint32_t children = 0, child = 0;
                for (uint32_t q = p + 1; q < mesh->part_count; q++)
                    if (tree->parts[q].parent == (int32_t)p) children++, child = q;
                const double *old = report->parts[p].axes_before, *now = tree->parts[p].axes[0];
                if (children == 0 && !paper)
                    for (int k = 0; k < 3; k++) assert_near(now[k], old[k], 1e-12);
                if (children != 1 || p == 0) continue;
                double a = angle_to(old, tree->parts[p].position, tree->parts[child].position);
                double b = angle_to(now, tree->parts[p].position, tree->parts[child].position);
                if (!paper) assert_true(b <= a + 1e-9);
                if (!paper) before += a, two_joints++;
                after[paper] += b;
            }
            cutis_skeleton_report_destroy(report);
            cutis_model_destroy(out);
        }
        double degrees = 180 / 3.14159265358979 / two_joints;
        print_message(
            "%s: %u parts with two joints, mean angle %.2f -> %.2f degrees (paper's %.2f)\n",
            cutis_body_name(kind), two_joints, degrees * before, degrees * after[0],
            degrees * after[1]);
        assert_true(after[0] < before);
        cutis_model_destroy(model);
    }
}

static void automatic_parts_find_the_joints_of_the_biped(void **state)
{
    (void)state;
    static const char *const JOINTS[] = { "forearm_l",  "forearm_r",  "shin_l",
                                          "shin_r",     "thigh_l",    "thigh_r",
                                          "upperarm_l", "upperarm_r", "head" };
    cutis_model *model = body(CUTIS_BODY_BIPED, 0);
    cutis_model *out = extract(model, (cutis_skeleton_options){ .seed = 1 }, NULL);
    cutis_model *again = extract(model, (cutis_skeleton_options){ .seed = 1 }, NULL);
    const cutis_mesh *mesh = mesh_of(out);
    assert_sound(out);
    assert_in_range(mesh->part_count, 12, 24);
    assert_memory_equal(mesh->part_tree->parts, mesh_of(again)->part_tree->parts,
                        mesh->part_count * sizeof *mesh->part_tree->parts);
    double worst = 0;
    for (size_t j = 0; j < sizeof JOINTS / sizeof JOINTS[0]; j++) {
        double truth[3], best = 1e9;
        node_place(model, JOINTS[j], truth);
        for (uint32_t p = 1; p < mesh->part_count; p++)
            best = fmin(best, distance(truth, mesh->part_tree->parts[p].position));
        worst = fmax(worst, best);
    }
    print_message("%u parts; shoulders, elbows, hips, knees, head within %.3f m\n",
                  mesh->part_count, worst);
    assert_true(worst < 0.05 * 2.32); // of the diagonal
    cutis_model *fewer = extract(model, (cutis_skeleton_options){ .part_count = 6 }, NULL);
    assert_in_range(mesh_of(fewer)->part_count, 2, 6);
    assert_sound(fewer);
    cutis_model_destroy(fewer);
    cutis_model_destroy(again);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void parts_from_the_joints_of_a_skin_are_sound(void **state)
{
    (void)state;
    for (cutis_body kind = CUTIS_BODY_BIPED; kind <= CUTIS_BODY_ARM; kind++) {
        cutis_model *model = body(kind, 0);
        cutis_model *out =
            extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_JOINTS }, NULL);
        assert_sound(out);
        cutis_model_destroy(out);
        cutis_model_destroy(model);
    }
}

// Spoiled labels --------------------------------------------------------------------------------

static uint32_t *copy_labels(const cutis_primitive *primitive)
{
    uint32_t n = primitive->index_count / 3, *labels = malloc(n * sizeof *labels);
    memcpy(labels, primitive->parts, n * sizeof *labels);
    return labels;
}

static void middle_of(const cutis_primitive *primitive, uint32_t t, double *out)
{
    for (int k = 0; k < 3; k++) {
        out[k] = 0;
        for (int c = 0; c < 3; c++)
            out[k] += primitive->positions[3 * (size_t)primitive->indices[3 * t + c] + k] / 3.0;
    }
}

// Three parts at a point: the hips' lower half goes to the nearer thigh, the chest's top to neck
// and clavicles; teeth and islands at random.
static void spoil(const cutis_mesh *mesh, uint64_t seed, uint32_t *labels)
{
    const cutis_primitive *primitive = &mesh->primitives[0];
    uint32_t hips = part_named(mesh, "hips"), left = part_named(mesh, "thigh_l");
    uint32_t right = part_named(mesh, "thigh_r"), chest = part_named(mesh, "chest");
    uint32_t neck = part_named(mesh, "neck"),
             clavicle[2] = { part_named(mesh, "clavicle_l"), part_named(mesh, "clavicle_r") };
    for (uint32_t t = 0; t < primitive->index_count / 3; t++) {
        double m[3];
        middle_of(primitive, t, m);
        if (labels[t] == hips && m[1] < 0.97) labels[t] = m[0] > 0 ? left : right;
        if (labels[t] == chest && m[1] > 1.42)
            labels[t] = fabs(m[0]) < 0.07 ? neck : clavicle[m[0] < 0];
        double dice = cutis_random_unit(seed, 1, t);
        if (dice < 0.01) labels[t] = (uint32_t)(100 * dice * mesh->part_count);
    }
}

static void spoiled_labels_heal_to_a_tree_of_loops_and_stay_healed(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 6000);
    const cutis_mesh *mesh = mesh_of(model);
    uint64_t n = mesh->primitives[0].index_count / 3;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        uint32_t *labels = copy_labels(&mesh->primitives[0]);
        spoil(mesh, seed, labels);
        cutis_skeleton_report *report;
        cutis_model *out = extract(model,
                                   (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_LABELS,
                                                             .labels = labels,
                                                             .label_count = n,
                                                             .keep_curved = true },
                                   &report);
        const cutis_mesh *healed = mesh_of(out);
        assert_sound(out);
        assert_true(report->repairs.relabelled_faces > 0 && report->repairs.rounds > 0);
        assert_true(report->note_count > 0);
        assert_int_equal(healed->part_tree->loop_count, healed->part_count - 1);
        for (uint32_t a = 0; a < healed->part_tree->loop_count; a++) // one loop per pair
            for (uint32_t b = 0; b < a; b++)
                assert_false(
                    healed->part_tree->loops[a].parent == healed->part_tree->loops[b].parent &&
                    healed->part_tree->loops[a].child == healed->part_tree->loops[b].child);
        cutis_skeleton_report *second;
        cutis_model *again = extract(
            out, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS, .keep_curved = true },
            &second);
        assert_int_equal(second->repairs.relabelled_faces, 0);
        assert_int_equal(second->repairs.rounds, 0);
        assert_int_equal(mesh_of(again)->part_count, healed->part_count);
        cutis_skeleton_report_destroy(second);
        cutis_model_destroy(again);
        cutis_skeleton_report_destroy(report);
        cutis_model_destroy(out);
        free(labels);
    }
    cutis_model_destroy(model);
}

// Straight loops --------------------------------------------------------------------------------

// RMS distance from the plane through a loop's vertices, in its radii: the least eigenvalue of the
// covariance by bisection on its characteristic polynomial.
static double off_plane(const double (*points)[3], const cutis_part_loop *loop)
{
    double mean[3] = { 0 }, c[3][3] = { { 0 } }, length = 0;
    uint32_t n = loop->vertex_count;
    for (uint32_t i = 0; i < n; i++) {
        length += distance(points[loop->vertices[i]], points[loop->vertices[(i + 1) % n]]);
        for (int k = 0; k < 3; k++) mean[k] += points[loop->vertices[i]][k] / n;
    }
    for (uint32_t i = 0; i < n; i++)
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++)
                c[r][k] += (points[loop->vertices[i]][r] - mean[r]) *
                           (points[loop->vertices[i]][k] - mean[k]) / n;
    double low = 0, high = (c[0][0] + c[1][1] + c[2][2]) / 3;
    for (int step = 0; step < 200; step++) { // definite below the least eigenvalue
        double x = 0.5 * (low + high), a = c[0][0] - x, b = c[1][1] - x, d = c[2][2] - x;
        double det2 = a * b - c[0][1] * c[0][1];
        double det3 = a * (b * d - c[1][2] * c[1][2]) -
                      c[0][1] * (c[0][1] * d - c[1][2] * c[0][2]) +
                      c[0][2] * (c[0][1] * c[1][2] - b * c[0][2]);
        if (a > 0 && det2 > 0 && det3 > 0)
            low = x;
        else
            high = x;
    }
    return sqrt(low) / (length / (2 * 3.14159265358979));
}

static void straightened_loops_lie_in_planes_and_the_surface_stays(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 0);
    double sums[2] = { 0 }, volumes[2] = { 0 };
    uint64_t triangles[2];
    for (int straight = 0; straight < 2; straight++) {
        cutis_skeleton_report *report;
        cutis_model *out =
            extract(model, (cutis_skeleton_options){ .straighten = straight }, &report);
        const cutis_mesh *mesh = mesh_of(out);
        assert_sound(out);
        double(*points)[3] = malloc(mesh->part_tree->welded_count * sizeof *points);
        welded_points(mesh, points);
        for (uint32_t l = 0; l < mesh->part_tree->loop_count; l++)
            sums[straight] += off_plane((const double(*)[3])points, &mesh->part_tree->loops[l]) /
                              mesh->part_tree->loop_count;
        cutis_surface surface = { mesh->primitives[0].vertex_count,
                                  mesh->primitives[0].index_count / 3,
                                  mesh->primitives[0].positions, mesh->primitives[0].indices };
        volumes[straight] = cutis_surface_volume(&surface);
        triangles[straight] = surface.triangle_count;
        if (straight)
            print_message(
                "%u loops straightened, %u not: off plane by %.4f -> %.4f radii, %+.1f %% "
                "triangles\n",
                report->repairs.straightened, report->repairs.not_straightened, sums[0], sums[1],
                100.0 * (double)triangles[1] / (double)triangles[0] - 100);
        free(points);
        cutis_skeleton_report_destroy(report);
        cutis_model_destroy(out);
    }
    assert_true(sums[1] < 0.5 * sums[0]);
    assert_near(volumes[1] / volumes[0], 1, 1e-6);
    cutis_model_destroy(model);
}

// Hand-made surfaces ----------------------------------------------------------------------------

#define GRID 6u

typedef struct {
    float positions[6000][3];
    uint32_t indices[6000], labels[2000];
    uint32_t vertices, index_count;
} soup;

static uint32_t add_vertex(soup *s, double x, double y, double z)
{
    s->positions[s->vertices][0] = (float)x;
    s->positions[s->vertices][1] = (float)y;
    s->positions[s->vertices][2] = (float)z;
    return s->vertices++;
}

static void add_face(soup *s, uint32_t a, uint32_t b, uint32_t c, uint32_t label)
{
    s->labels[s->index_count / 3] = label;
    s->indices[s->index_count++] = a, s->indices[s->index_count++] = b;
    s->indices[s->index_count++] = c;
}

// A square tube along x from x0 to x1 in `steps`, GRID faces a side; ends open, or closed by a fan.
static void add_tube(soup *s, double x0, double x1, uint32_t steps, double y, double radius,
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

static cutis_model *soup_model(const soup *s)
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

static cutis_skeleton_options by_labels(const soup *s)
{
    return (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_LABELS,
                                     .labels = s->labels,
                                     .label_count = s->index_count / 3,
                                     .keep_curved = true };
}

static soup s; // large for a stack

static void borders_that_nearly_coincide_are_welded_and_holes_capped(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, false, false, 0); // open at the far end: a hole
    add_tube(&s, 2 + 1e-5, 4, 8, 0, 0.5, false, true, 1);
    cutis_model *model = soup_model(&s);
    cutis_skeleton_report *report;
    cutis_model *out = extract(model, by_labels(&s), &report);
    assert_sound(out);
    assert_int_equal(report->repairs.welded_edges, 24);
    assert_int_equal(report->repairs.capped_holes, 1);
    assert_int_equal(report->repairs.cap_faces, 12);
    assert_int_equal(mesh_of(out)->part_count, 2);
    assert_int_equal(mesh_of(out)->part_tree->loop_count, 1);
    double j[3] = { 2, 0, 0 };
    assert_near(distance(mesh_of(out)->part_tree->parts[1].position, j), 0, 2e-5);
    double volume = report->parts[0].volume + report->parts[1].volume;
    assert_near(volume, 4 * 12 * 0.5 * 0.25 * sin(2 * 3.14159265358979 / 12), 1e-4);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void pieces_that_only_touch_get_a_joint_at_their_contact_and_no_loop(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, true, true, 0);
    add_tube(&s, 2.01, 4, 8, 0, 0.5, true, true, 1);
    cutis_model *model = soup_model(&s);
    cutis_skeleton_report *report;
    cutis_model *out =
        extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_SHELLS }, &report);
    const cutis_part_tree *tree = mesh_of(out)->part_tree;
    assert_sound(out);
    assert_int_equal(tree->loop_count, 0);
    assert_int_equal(tree->parts[1].loop, CUTIS_NONE);
    assert_int_equal(report->repairs.touching_parts, 1);
    double j[3] = { 2.005, 0, 0 };
    assert_true(distance(tree->parts[1].position, j) < 0.05);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void an_edge_of_four_faces_is_split_into_two_solids(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    // Two boxes (made of 12 triangles) that share one edge.
    static const int corners[12][3] = { { 0, 2, 3 }, { 0, 3, 1 }, { 4, 5, 7 }, { 4, 7, 6 },
                                        { 0, 1, 5 }, { 0, 5, 4 }, { 2, 6, 7 }, { 2, 7, 3 },
                                        { 0, 4, 6 }, { 0, 6, 2 }, { 1, 3, 7 }, { 1, 7, 5 } };
    for (uint32_t b = 0; b < 2; b++) {
        for (int v = 0; v < 8; v++)
            add_vertex(&s, (v & 1) + (double)b, (v >> 1 & 1) + (double)b, v >> 2 & 1);
        for (int f = 0; f < 12; f++)
            add_face(&s, 8 * b + (uint32_t)corners[f][0], 8 * b + (uint32_t)corners[f][1],
                     8 * b + (uint32_t)corners[f][2], b);
    }
    cutis_model *model = soup_model(&s);
    cutis_skeleton_report *report;
    cutis_model *out = extract(model, by_labels(&s), &report);
    assert_sound(out);
    assert_int_equal(report->repairs.split_edges, 1);
    assert_int_equal(mesh_of(out)->part_tree->welded_count, 16); // the edge is there twice
    for (int p = 0; p < 2; p++) {
        assert_near(report->parts[p].volume, 1, 1e-12);
        assert_true(report->parts[p].star_shaped);
        assert_near(mesh_of(out)->part_tree->parts[p].kernel_radius, 0.5, 1e-9);
    }
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void faces_that_look_inward_or_are_there_twice_are_put_right(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, true, false, 0);
    add_tube(&s, 2, 4, 8, 0, 0.5, false, true, 1);
    for (uint32_t i = 0; i < s.index_count / 3; i += 5) { // every fifth face turned over
        uint32_t t = s.indices[3 * i];
        s.indices[3 * i] = s.indices[3 * i + 1], s.indices[3 * i + 1] = t;
    }
    uint32_t faces = s.index_count / 3;
    add_face(&s, s.indices[3], s.indices[4], s.indices[5], 0); // twice
    add_face(&s, 0, 0, 1, 0);                                  // without area
    cutis_model *model = soup_model(&s);
    cutis_skeleton_report *report;
    cutis_model *out = extract(model, by_labels(&s), &report);
    assert_sound(out);
    assert_int_equal(report->repairs.dropped_faces, 2);
    assert_int_equal(report->repairs.flipped_faces, (faces + 4) / 5);
    assert_int_equal(cutis_model_triangle_count(out), faces);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void a_curled_leaf_becomes_a_chain_of_parts(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    add_tube(&s, -14, 0, 14, 0, 0.5, true, false, 0); // larger, so the root
    uint32_t ring = 12,
             from = s.vertices - ring - 1; // the open end of the tube, then its fan centre
    add_tube(&s, 0, 10, 60, 0, 0.5, false, true, 1);
    for (uint32_t v = from + ring + 1; v < s.vertices; v++) { // bend the second tube to a spiral
        double x = s.positions[v][0], y = s.positions[v][1], angle = x / 2.2;
        s.positions[v][0] = (float)((2.2 - y) * sin(angle));
        s.positions[v][1] = (float)(2.2 - (2.2 - y) * cos(angle));
        s.positions[v][2] += (float)(0.15 * x);
    }
    cutis_model *model = soup_model(&s);
    cutis_skeleton_options options = by_labels(&s);
    cutis_model *whole = extract(model, options, NULL);
    assert_int_equal(mesh_of(whole)->part_count, 2);
    options.keep_curved = false;
    cutis_skeleton_report *report;
    cutis_model *out = extract(model, options, &report);
    assert_sound(out);
    assert_int_equal(report->repairs.curved_splits, 1);
    assert_in_range(mesh_of(out)->part_count, 3, 8);
    // A chain: every part but the last has one child.
    for (uint32_t p = 1; p < mesh_of(out)->part_count; p++)
        assert_true(mesh_of(out)->part_tree->parts[p].parent >= (int32_t)p - 2);
    cutis_skeleton_report_destroy(report);
    cutis_model_destroy(out);
    cutis_model_destroy(whole);
    cutis_model_destroy(model);
}

// Rest of the rig -------------------------------------------------------------------------------

static void bones_run_along_y_and_world_frames_are_not_turned(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 3000);
    for (int world = 0; world < 2; world++) {
        cutis_model *out =
            extract(model,
                    (cutis_skeleton_options){
                        .source = CUTIS_PART_SOURCE_PARTS, .world_frames = world, .extra = world },
                    NULL);
        const cutis_model_data *data = cutis_model_get(out);
        const cutis_mesh *mesh = mesh_of(out);
        cutis_transform *local = malloc(data->node_count * sizeof *local);
        cutis_mat34 *matrix = malloc(data->node_count * sizeof *matrix);
        cutis_pose_rest(out, local, NULL);
        cutis_pose_world(out, local, matrix);
        for (uint32_t p = 0; p < mesh->part_count; p++) {
            const cutis_part *part = &mesh->part_tree->parts[p];
            const float *m = matrix[data->skins[0].joints[part->joint]].m;
            double length = distance(part->position, part->end);
            for (int k = 0; k < 3; k++) {
                double y = world ? k == 1 : (part->end[k] - part->position[k]) / length;
                assert_near(m[4 * k + 1], y, 1e-5);
            }
            cutis_mat34 bind = cutis_mat34_multiply(&matrix[data->skins[0].joints[part->joint]],
                                                    &data->skins[0].inverse_binds[part->joint]);
            for (int i = 0; i < 12; i++) assert_near(bind.m[i], i % 5 == 0, 1e-5); // rest = bind
        }
        if (!world)
            assert_int_equal(data->node_count, mesh->part_count + leaf_count(mesh) + 1);
        else
            assert_true(data->node_count > mesh->part_count + leaf_count(mesh) + 1);
        free(local);
        free(matrix);
        cutis_model_destroy(out);
    }
    cutis_model_destroy(model);
}

static void the_named_part_is_the_root(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_BIPED, 3000);
    cutis_skeleton_options options = { .source = CUTIS_PART_SOURCE_PARTS, .root = "hips" };
    cutis_model *out = extract(model, options, NULL);
    assert_string_equal(mesh_of(out)->part_names[0], "hips");
    cutis_model_destroy(out);
    options.root = "wing";
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(context), "wing"));
    cutis_model_destroy(model);
}

static void what_cannot_be_closed_or_labelled_is_refused_with_its_part(void **state)
{
    (void)state;
    cutis_model *out = NULL;
    memset(&s, 0, sizeof s);
    add_tube(&s, 0, 2, 8, 0, 0.5, true, true, 3);
    cutis_model *model = soup_model(&s);
    cutis_skeleton_options options = by_labels(&s);
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(context), "part3")); // the only part
    options.label_count--;
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_INVALID_ARGUMENT);
    assert_non_null(strstr(cutis_context_error(context), "labels"));
    options = (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_JOINTS };
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_INVALID_ARGUMENT);
    cutis_model_destroy(model);

    memset(&s, 0, sizeof s); // a Moebius strip
    for (int i = 0; i < 24; i++) {
        double a = 2 * 3.14159265358979 * i / 24, b = a / 2;
        for (int side = -1; side <= 1; side += 2)
            add_vertex(&s, (2 + 0.5 * side * cos(b)) * cos(a), (2 + 0.5 * side * cos(b)) * sin(a),
                       0.5 * side * sin(b));
    }
    for (uint32_t i = 0; i < 24; i++) {
        uint32_t p = 2 * i, q = p + 1, r = i < 23 ? p + 2 : 1, t = i < 23 ? p + 3 : 0;
        add_face(&s, p, q, t, i < 12), add_face(&s, p, t, r, i < 12);
    }
    model = soup_model(&s);
    options = by_labels(&s);
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(context), "part"));
    cutis_model_destroy(model);

    memset(&s, 0, sizeof s); // a flat sheet
    for (uint32_t i = 0; i < 100; i++) add_vertex(&s, i % 10, i / 10, 0);
    for (uint32_t i = 0; i < 81; i++) {
        uint32_t v = i / 9 * 10 + i % 9;
        add_face(&s, v, v + 1, v + 11, i % 9 < 4), add_face(&s, v, v + 11, v + 10, i % 9 < 4);
    }
    model = soup_model(&s);
    options = by_labels(&s);
    assert_int_equal(cutis_skeleton_extract(model, &options, &out, NULL), CUTIS_UNSUPPORTED);
    assert_non_null(strstr(cutis_context_error(context), "sheet"));
    cutis_model_destroy(model);
}

static void the_part_tree_survives_a_file_bit_by_bit(void **state)
{
    (void)state;
    char path[] = "/tmp/cutis_part_tree_XXXXXX.glb";
    int file = mkstemps(path, 4);
    assert_true(file >= 0);
    fclose(fdopen(file, "w"));
    cutis_model *model = body(CUTIS_BODY_QUADRUPED, 1500), *read = NULL;
    cutis_model *out =
        extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS }, NULL);
    assert_ok(context, cutis_model_write(out, path, NULL));
    assert_ok(context, cutis_model_read(context, path, NULL, &read));
    const cutis_part_tree *a = mesh_of(out)->part_tree, *b = mesh_of(read)->part_tree;
    uint32_t n = mesh_of(out)->part_count;
    assert_non_null(b);
    for (uint32_t p = 0; p < n; p++) {
        assert_int_equal(a->parts[p].parent, b->parts[p].parent);
        assert_int_equal(a->parts[p].loop, b->parts[p].loop);
        assert_memory_equal(a->parts[p].position, b->parts[p].position,
                            sizeof *a->parts - offsetof(cutis_part, position));
    }
    assert_int_equal(a->loop_count, b->loop_count);
    for (uint32_t l = 0; l < a->loop_count; l++)
        assert_memory_equal(a->loops[l].vertices, b->loops[l].vertices,
                            4 * (size_t)a->loops[l].vertex_count);
    assert_memory_equal(a->weld, b->weld, 4 * (size_t)mesh_of(out)->primitives[0].vertex_count);
    assert_int_equal(a->link_count, b->link_count);
    for (uint32_t i = 0; i < a->link_count; i++)
        assert_memory_equal(a->links[i].from, b->links[i].from, 6 * sizeof(double));
    remove(path);
    cutis_model_destroy(read);
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void the_gate_refuses_trees_that_contradict_themselves(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_ARM, 0);
    cutis_model *out =
        extract(model, (cutis_skeleton_options){ .source = CUTIS_PART_SOURCE_PARTS }, NULL);
    const cutis_model_data *good = cutis_model_get(out);
    for (int fault = 0; fault < 7; fault++) {
        cutis_mesh mesh = good->meshes[0];
        cutis_part_tree tree = *mesh.part_tree;
        cutis_part *parts = malloc(mesh.part_count * sizeof *parts);
        cutis_part_loop *loops = malloc(tree.loop_count * sizeof *loops);
        memcpy(parts, tree.parts, mesh.part_count * sizeof *parts);
        memcpy(loops, tree.loops, tree.loop_count * sizeof *loops);
        uint32_t ring[3] = { 0, 1, tree.welded_count };
        if (fault == 0) parts[1].parent = 1;
        if (fault == 1) parts[1].loop = (int32_t)tree.loop_count;
        if (fault == 2) parts[0].joint = 1000;
        if (fault == 3) parts[1].centroid[2] = NAN;
        if (fault == 4) loops[0].vertices = ring, loops[0].vertex_count = 3;
        if (fault == 5) tree.welded_count--;
        if (fault == 6) loops[0].child = loops[0].parent;
        tree.parts = parts, tree.loops = loops, mesh.part_tree = &tree;
        cutis_model_data data = *good;
        data.meshes = &mesh;
        cutis_model *bad = NULL;
        assert_int_equal(cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &bad),
                         CUTIS_CORRUPT_DATA);
        assert_non_null(strstr(cutis_context_error(context), "part_tree"));
        free(parts);
        free(loops);
    }
    cutis_model_destroy(out);
    cutis_model_destroy(model);
}

static void nothing_leaks_when_memory_runs_out(void **state)
{
    (void)state;
    cutis_model *model = body(CUTIS_BODY_ARM, 0);
    const cutis_model_data *data = cutis_model_get(model);
    for (uint64_t limit = 2u << 20; limit < 24u << 20; limit += 1500007) {
        cutis_context *small = NULL;
        cutis_context_options limited = { .limits = { .memory_bytes = limit } };
        assert_int_equal(cutis_context_create(&limited, &small), CUTIS_OK);
        cutis_model *copy = NULL, *out = NULL;
        cutis_model_data plain = *data;
        plain.source = NULL;
        if (cutis_model_create(small, &plain, CUTIS_GATE_REFUSE, &copy) == CUTIS_OK) {
            cutis_skeleton_options options = { 0 };
            if (cutis_skeleton_extract(copy, &options, &out, NULL) == CUTIS_OK)
                cutis_model_destroy(out);
            cutis_model_destroy(copy);
        }
        assert_int_equal(cutis_context_memory(small), 0);
        cutis_context_destroy(small);
    }
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_of_the_biped_are_where_its_makers_put_them),
        cmocka_unit_test(joints_of_the_quadruped_are_where_its_makers_put_them),
        cmocka_unit_test(refinement_brings_axes_to_the_bones_and_leaves_no_part_worse),
        cmocka_unit_test(automatic_parts_find_the_joints_of_the_biped),
        cmocka_unit_test(parts_from_the_joints_of_a_skin_are_sound),
        cmocka_unit_test(spoiled_labels_heal_to_a_tree_of_loops_and_stay_healed),
        cmocka_unit_test(straightened_loops_lie_in_planes_and_the_surface_stays),
        cmocka_unit_test(borders_that_nearly_coincide_are_welded_and_holes_capped),
        cmocka_unit_test(pieces_that_only_touch_get_a_joint_at_their_contact_and_no_loop),
        cmocka_unit_test(an_edge_of_four_faces_is_split_into_two_solids),
        cmocka_unit_test(faces_that_look_inward_or_are_there_twice_are_put_right),
        cmocka_unit_test(a_curled_leaf_becomes_a_chain_of_parts),
        cmocka_unit_test(bones_run_along_y_and_world_frames_are_not_turned),
        cmocka_unit_test(the_named_part_is_the_root),
        cmocka_unit_test(what_cannot_be_closed_or_labelled_is_refused_with_its_part),
        cmocka_unit_test(the_part_tree_survives_a_file_bit_by_bit),
        cmocka_unit_test(the_gate_refuses_trees_that_contradict_themselves),
        cmocka_unit_test(nothing_leaks_when_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
