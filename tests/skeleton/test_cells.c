// Cells, centrelines and limbs of bodies whose figures are known by construction: a block with
// four prongs, made of cubes.
#include "extracted.h"

#include "skeleton/limbs.h"

#define SIDE 48

static uint8_t cubes[SIDE][SIDE][SIDE];
static float positions[16000][3];
static uint32_t indices[24000], vertex_count, index_count;

static bool cube(int x, int y, int z)
{
    return x >= 0 && y >= 0 && z >= 0 && x < SIDE && y < SIDE && z < SIDE && cubes[x][y][z];
}

static void fill(int x0, int x1, int y0, int y1, int z0, int z1)
{
    for (int x = x0; x < x1; x++)
        for (int y = y0; y < y1; y++)
            for (int z = z0; z < z1; z++) cubes[x][y][z] = 1;
}

// The two triangles of a cube's face that looks along `axis`, up or down.
static void add_side(int x, int y, int z, int axis, int up)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    uint32_t corners[4];
    for (int k = 0; k < 4; k++) {
        double p[3] = { x, y, z };
        p[axis] += up;
        p[u] += k == 1 || k == 2, p[v] += k >= 2;
        for (int i = 0; i < 3; i++) positions[vertex_count][i] = (float)p[i];
        corners[k] = vertex_count++;
    }
    const uint32_t a = corners[0], b = corners[up ? 1 : 3], c = corners[2], d = corners[up ? 3 : 1];
    const uint32_t both[6] = { a, b, c, a, c, d };
    for (int i = 0; i < 6; i++) indices[index_count++] = both[i];
}

// The surface of the cubes; vertices are welded when it is closed.
static cutis_model *cubes_model(void)
{
    vertex_count = index_count = 0;
    for (int x = 0; x < SIDE; x++)
        for (int y = 0; y < SIDE; y++)
            for (int z = 0; z < SIDE; z++) {
                if (!cube(x, y, z)) continue;
                if (!cube(x + 1, y, z)) add_side(x, y, z, 0, 1);
                if (!cube(x - 1, y, z)) add_side(x, y, z, 0, 0);
                if (!cube(x, y + 1, z)) add_side(x, y, z, 1, 1);
                if (!cube(x, y - 1, z)) add_side(x, y, z, 1, 0);
                if (!cube(x, y, z + 1)) add_side(x, y, z, 2, 1);
                if (!cube(x, y, z - 1)) add_side(x, y, z, 2, 0);
            }
    cutis_primitive primitive = { .vertex_count = vertex_count,
                                  .index_count = index_count,
                                  .positions = &positions[0][0],
                                  .indices = indices,
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_node node = cutis_node_default();
    node.mesh = 0;
    cutis_model_data data = { .node_count = 1, .nodes = &node, .mesh_count = 1, .meshes = &mesh };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    return model;
}

typedef struct {
    cutis_arena arena;
    cutis_labels names;
    cutis_closed mesh;
    cutis_centrelines lines;
} analysed;

static analysed all;

static void analyse(const cutis_model *model, uint32_t wanted)
{
    cutis_skeleton_repairs repairs = { 0 };
    memset(&all, 0, sizeof all);
    all.arena.context = cutis_model_context(model);
    all.names.arena = &all.arena;
    assert_int_equal(cutis_closed_make(model, NULL, &all.names, &repairs, &all.mesh), CUTIS_OK);
    assert_int_equal(cutis_centrelines_find(&all.arena, &all.mesh, wanted, false, 0.02, &all.lines),
                     CUTIS_OK);
}

static void release(void)
{
    cutis_closed_release(&all.mesh);
    cutis_arena_release(&all.arena);
}

// A block of 8 with prongs of 2 x 2, 14 long, on four sides.
static cutis_model *pronged(void)
{
    memset(cubes, 0, sizeof cubes);
    fill(20, 28, 20, 28, 20, 28);
    fill(6, 20, 23, 25, 23, 25);
    fill(28, 42, 23, 25, 23, 25);
    fill(23, 25, 6, 20, 23, 25);
    fill(23, 25, 28, 42, 23, 25);
    return cubes_model();
}

static void depth_is_the_distance_to_the_surface(void **state)
{
    (void)state;
    memset(cubes, 0, sizeof cubes);
    fill(10, 26, 10, 26, 10, 26);
    cutis_model *model = cubes_model();
    analyse(model, 40000);
    const cutis_cells *cells = &all.lines.cells;
    double worst = 0;
    for (uint32_t i = 0; i < cells->count; i++) {
        vec3 p = cutis_cell_centre(cells, i);
        double x = fmin(p.x - 10, 26 - p.x), y = fmin(p.y - 10, 26 - p.y);
        double truth = fmax(0, fmin(fmin(x, y), fmin(p.z - 10, 26 - p.z)));
        worst = fmax(worst, fabs(cells->depth[i] - truth));
        assert_int_equal(cutis_cell_near(cells, p), i);
    }
    print_message("depth within %.2f cells\n", worst / cells->size);
    assert_true(worst < 1.01 * cells->size);
    double volume = cells->count * cells->size * cells->size * cells->size;
    assert_true(volume > 16 * 16 * 16 && volume < 1.25 * 16 * 16 * 16); // with the surface's cells
    release();
    cutis_model_destroy(model);
}

static void every_prong_is_an_end_and_the_block_is_none(void **state)
{
    (void)state;
    cutis_model *model = pronged();
    static cutis_limbs limbs;
    analyse(model, 60000);
    assert_int_equal(cutis_limbs_find(&all.arena, &all.lines, all.mesh.diagonal, &limbs), CUTIS_OK);
    assert_int_equal(limbs.count, 4);
    vec3 centre = all.lines.nodes[0].point;
    assert_true(v3_distance(centre, v3(24, 24, 24)) < 2);
    for (uint32_t i = 0; i < limbs.count; i++) {
        const cutis_limb *l = &limbs.list[i];
        vec3 tip = cutis_limb_point(&all.lines, l, 0), root = cutis_limb_point(&all.lines, l, 14);
        print_message("length %.2f thickness %.2f opening %.2f flatness %.2f\n", l->length,
                      l->thickness, l->opening, l->flatness);
        assert_true(l->length > 13.2 && l->length < 15.5); // 14, and the crease
        assert_true(fabs(l->thickness - 2 / sqrt(3.14159265)) < 0.3);
        assert_true(l->opening > 2); // from 2 x 2 to 8 x 8
        assert_true(fabs(v3_distance(tip, v3(24, 24, 24)) - 18) < 1.5);
        assert_true(fabs(v3_distance(root, v3(24, 24, 24)) - 4) < 1.2);
        assert_true(l->flatness > 0.9 && l->flatness < 1.6);
    }
    release();
    cutis_model_destroy(model);
}

static void owners_split_where_the_prongs_begin(void **state)
{
    (void)state;
    cutis_model *model = pronged();
    analyse(model, 60000);
    const cutis_cells *cells = &all.lines.cells;
    uint32_t *owners = calloc(cells->count, sizeof *owners), wrong = 0;
    assert_int_equal(cutis_centrelines_owners(&all.lines, owners), CUTIS_OK);
    for (uint32_t i = 0; i < cells->count; i++) {
        vec3 p = cutis_cell_centre(cells, i), q = all.lines.nodes[owners[i]].point;
        // A cell far out in a prong belongs to a node of that prong.
        bool far = fabs(p.x - 24) > 8 || fabs(p.y - 24) > 8;
        wrong += far && v3_distance(p, q) > 3;
    }
    assert_int_equal(wrong, 0);
    free(owners);
    release();
    cutis_model_destroy(model);
}

static void the_same_lines_every_time(void **state)
{
    (void)state;
    cutis_model *model = pronged();
    analyse(model, 20000);
    uint32_t count = all.lines.count;
    cutis_line_node *nodes = malloc(count * sizeof *nodes);
    memcpy(nodes, all.lines.nodes, count * sizeof *nodes);
    release();
    analyse(model, 20000);
    assert_int_equal(all.lines.count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_memory_equal(&nodes[i].point, &all.lines.nodes[i].point, sizeof(vec3));
    free(nodes);
    release();
    cutis_model_destroy(model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_is_the_distance_to_the_surface),
        cmocka_unit_test(every_prong_is_an_end_and_the_block_is_none),
        cmocka_unit_test(owners_split_where_the_prongs_begin),
        cmocka_unit_test(the_same_lines_every_time),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
