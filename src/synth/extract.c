/// Marching tetrahedra on a grid of cubes, six around each cube's diagonal: always manifold,
/// whatever the values. Blocks of 4^3 nodes far from the surface have one evaluation, and groups of
/// 4^3 such blocks too; of their nodes only the sign is ever read, beside blocks that are near it.
/// Vertices are shared through the edge's lower node and direction (7 a node), kept for two layers
/// of x at a time.
#include "synth/mesh.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

enum { BLOCK = 4, HALF = BLOCK / 2, GROUP = 4 };
/// What is known of a block. INSIDE: of one that is not NEAR; CUT: cubes that start in it may be
/// crossed, since they reach into a near one; FILLED: its nodes' values are there.
enum { NEAR = 1, INSIDE = 2, CUT = 4, FILLED = 8 };
/// A block, or a group of blocks, whose centre is this many of its edges away cannot hold the
/// surface: its nodes are within 0.87.
static const double BLOCK_SKIP = 1.6;
/// The same for an eighth of a block, whose nodes' cubes reach 1.3 of its edges from its centre.
static const double HALF_SKIP = 1.75;
/// mm; no value is zero, so every node is inside or outside.
static const float VALUE_MIN = 1e-4f;

typedef struct grid {
    cutis_arena arena;
    int nodes[3], blocks[3];
    vec3 origin;
    double cell;
    float *values;      ///< per node, x-major
    uint8_t *state;     ///< per block: NEAR, ...
    int32_t *shared[2]; ///< per node of a layer and direction 1..7: vertex + 1
    size_t layer_count;
} grid;

static size_t node_index(const grid *g, int x, int y, int z)
{
    return ((size_t)x * (size_t)g->nodes[1] + (size_t)y) * (size_t)g->nodes[2] + (size_t)z;
}

static size_t block_index(const grid *g, int x, int y, int z)
{
    return ((size_t)x * (size_t)g->blocks[1] + (size_t)y) * (size_t)g->blocks[2] + (size_t)z;
}

static vec3 node_position(const grid *g, double x, double y, double z)
{
    return v3_mad(g->origin, g->cell, v3(x, y, z));
}

static cutis_result grid_create(grid *g, cutis_context *context, const synth_table *table)
{
    size_t value_count = 1, block_count = 1;
    *g = (grid){ .arena = { .context = context },
                 .origin = v3_of(table->box_min),
                 .cell = table->cell };
    for (int i = 0; i < 3; i++) {
        int cells = (int)((table->box_max[i] - table->box_min[i]) / table->cell) + 2;
        g->blocks[i] = cells / BLOCK + 1;
        g->nodes[i] = g->blocks[i] * BLOCK;
        value_count *= (size_t)g->nodes[i];
        block_count *= (size_t)g->blocks[i];
    }
    g->layer_count = (size_t)g->nodes[1] * (size_t)g->nodes[2] * 8;
    g->values = cutis_arena_alloc(&g->arena, value_count, sizeof *g->values);
    g->state = cutis_arena_zero(&g->arena, block_count, 1);
    for (int i = 0; i < 2; i++)
        g->shared[i] = cutis_arena_zero(&g->arena, g->layer_count, sizeof *g->shared[i]);
    bool all = g->values && g->state && g->shared[0] && g->shared[1];
    return all ? CUTIS_OK : cutis_alloc_result(context);
}

static vec3 middle_of(const grid *g, int x, int y, int z, int edge)
{
    double half = (edge - 1) * 0.5;
    return node_position(g, x + half, y + half, z + half);
}

/// The nodes [x, x + edge)^3 and so on: evaluated, or all filled with `value` when it is not 0.
static void fill_nodes(grid *g, const shape *s, int x, int y, int z, int edge, double fill)
{
    for (int i = 0; i < edge * edge * edge; i++) {
        int nx = x + i / (edge * edge), ny = y + i / edge % edge, nz = z + i % edge;
        float value = (float)fill;
        if (fill == 0) value = (float)cutis_synth_shape_distance(s, node_position(g, nx, ny, nz));
        if (value < VALUE_MIN && value > -VALUE_MIN) value = VALUE_MIN;
        g->values[node_index(g, nx, ny, nz)] = value;
    }
}

static bool is_far(const grid *g, double distance, double skip, int edge)
{
    return (distance < 0 ? -distance : distance) > skip * edge * g->cell;
}

/// A block near the surface is evaluated but for those of its eighths that are far.
static void fill_block(grid *g, const shape *s, int bx, int by, int bz)
{
    int x = bx * BLOCK, y = by * BLOCK, z = bz * BLOCK;
    double d = cutis_synth_shape_distance_once(s, middle_of(g, x, y, z, BLOCK));
    uint8_t *state = &g->state[block_index(g, bx, by, bz)];
    *state = NEAR | FILLED;
    if (is_far(g, d, BLOCK_SKIP, BLOCK)) {
        *state = d < 0 ? INSIDE : 0;
        return;
    }
    for (int i = 0; i < 8; i++) {
        int sx = x + (i & 1) * HALF, sy = y + (i >> 1 & 1) * HALF, sz = z + (i >> 2 & 1) * HALF;
        d = cutis_synth_shape_distance(s, middle_of(g, sx, sy, sz, HALF));
        fill_nodes(g, s, sx, sy, sz, HALF, is_far(g, d, HALF_SKIP, HALF) ? d : 0);
    }
}

static int least_int(int a, int b)
{
    return a < b ? a : b;
}

/// The blocks [bx, bx + GROUP) and so on, as far as there are. Outside, a distance is never more
/// than the true one (each primitive's is a Newton step of a convex function, and joining lowers
/// it); inside a flat blob it can be, so inside it is asked of every block.
static void fill_group(grid *g, const shape *s, int bx, int by, int bz)
{
    int edge = GROUP * BLOCK;
    double d =
        cutis_synth_shape_distance_once(s, middle_of(g, bx * BLOCK, by * BLOCK, bz * BLOCK, edge));
    if (d > 0 && is_far(g, d, BLOCK_SKIP, edge)) return;
    for (int x = bx; x < least_int(bx + GROUP, g->blocks[0]); x++)
        for (int y = by; y < least_int(by + GROUP, g->blocks[1]); y++)
            for (int z = bz; z < least_int(bz + GROUP, g->blocks[2]); z++)
                fill_block(g, s, x, y, z);
}

/// The blocks whose cubes reach into this one.
static void mark_cut(grid *g, int bx, int by, int bz)
{
    for (int i = 0; i < 8; i++) {
        int x = bx - (i & 1), y = by - (i >> 1 & 1), z = bz - (i >> 2 & 1);
        if (x >= 0 && y >= 0 && z >= 0) g->state[block_index(g, x, y, z)] |= CUT;
    }
}

/// The far blocks that the cubes of this one reach into: only the sign of their values is read.
static void fill_around(grid *g, const shape *s, int bx, int by, int bz)
{
    for (int i = 0; i < 8; i++) {
        int x = bx + (i & 1), y = by + (i >> 1 & 1), z = bz + (i >> 2 & 1);
        if (x >= g->blocks[0] || y >= g->blocks[1] || z >= g->blocks[2]) continue;
        uint8_t *state = &g->state[block_index(g, x, y, z)];
        if (*state & FILLED) continue;
        *state |= FILLED;
        fill_nodes(g, s, x * BLOCK, y * BLOCK, z * BLOCK, BLOCK, *state & INSIDE ? -1 : 1);
    }
}

static cutis_result fill_grid(grid *g, const shape *s)
{
    for (int x = 0; x < g->blocks[0]; x += GROUP) {
        TRY(cutis_progress(g->arena.context, "shape", (double)x / (double)g->blocks[0]));
        for (int y = 0; y < g->blocks[1]; y += GROUP)
            for (int z = 0; z < g->blocks[2]; z += GROUP) fill_group(g, s, x, y, z);
    }
    for (int x = 0; x < g->blocks[0]; x++)
        for (int y = 0; y < g->blocks[1]; y++)
            for (int z = 0; z < g->blocks[2]; z++)
                if (g->state[block_index(g, x, y, z)] & NEAR) mark_cut(g, x, y, z);
    for (int x = 0; x < g->blocks[0]; x++)
        for (int y = 0; y < g->blocks[1]; y++)
            for (int z = 0; z < g->blocks[2]; z++)
                if (g->state[block_index(g, x, y, z)] & CUT) fill_around(g, s, x, y, z);
    return CUTIS_OK;
}

/// One cube being cut: where it is, its corner values (corner bit 0 = x, 1 = y, 2 = z).
typedef struct cube {
    int x, y, z;
    float value[8];
} cube;

/// The vertex on the edge between two corners, one of which contains the other's bits.
static int32_t edge_vertex(mesh *m, grid *g, const cube *c, int a, int b)
{
    int low = a & b, direction = a ^ b;
    int lx = c->x + (low & 1), ly = c->y + (low >> 1 & 1), lz = c->z + (low >> 2 & 1);
    size_t node = (size_t)ly * (size_t)g->nodes[2] + (size_t)lz;
    int32_t *slot = &g->shared[lx & 1][node * 8 + (size_t)direction];
    if (*slot) return *slot - 1;
    if (a != low) b = a; // from the lower node, so that all cubes compute the same position
    double va = c->value[low], vb = c->value[b], t = va / (va - vb);
    t = t < 0.05 ? 0.05 : t > 0.95 ? 0.95 : t;
    double dx = direction & 1 ? t : 0, dy = direction & 2 ? t : 0, dz = direction & 4 ? t : 0;
    mesh_vertex vertex = { .position = node_position(g, lx + dx, ly + dy, lz + dz) };
    if (m->shape->folded && lx == 0 && !(direction & 1)) vertex.curve = SYNTH_PLANE;
    m->vertices[m->vertex_count] = vertex;
    *slot = ++m->vertex_count;
    return *slot - 1;
}

static void emit(mesh *m, int32_t a, int32_t b, int32_t c, bool reverse)
{
    cutis_synth_mesh_add(m, a, reverse ? c : b, reverse ? b : c);
}

/// Sign of the permutation that brings the tetrahedron's corners into the order p.
static bool odd_order(const int p[4])
{
    int swaps = 0;
    for (int i = 0; i < 4; i++)
        for (int j = i + 1; j < 4; j++) swaps += p[i] > p[j];
    return swaps & 1;
}

/// Triangles face outside, to positive values.
static void cut_tetrahedron(mesh *m, grid *g, const cube *c, const int corner[4])
{
    int inside[4], outside[4], in = 0, out = 0;
    for (int i = 0; i < 4; i++) {
        if (c->value[corner[i]] < 0)
            inside[in++] = i;
        else
            outside[out++] = i;
    }
    if (in == 0 || out == 0) return;
    if (in == 2) {
        int p[4] = { inside[0], inside[1], outside[0], outside[1] };
        int32_t ik = edge_vertex(m, g, c, corner[p[0]], corner[p[2]]);
        int32_t il = edge_vertex(m, g, c, corner[p[0]], corner[p[3]]);
        int32_t jl = edge_vertex(m, g, c, corner[p[1]], corner[p[3]]);
        int32_t jk = edge_vertex(m, g, c, corner[p[1]], corner[p[2]]);
        bool reverse = odd_order(p);
        emit(m, ik, il, jl, reverse);
        emit(m, ik, jl, jk, reverse);
        return;
    }
    const int *one = in == 1 ? inside : outside, *many = in == 1 ? outside : inside;
    int p[4] = { one[0], many[0], many[1], many[2] };
    int32_t v[3];
    for (int i = 0; i < 3; i++) v[i] = edge_vertex(m, g, c, corner[p[0]], corner[p[i + 1]]);
    emit(m, v[0], v[1], v[2], odd_order(p) != (in == 3));
}

static cutis_result cut_cube(mesh *m, grid *g, int x, int y, int z)
{
    // Around the diagonal 0-7, all of positive orientation: det(x, x + y, x + y + z) and so on.
    static const int tetrahedra[6][4] = { { 0, 1, 3, 7 }, { 0, 3, 2, 7 }, { 0, 2, 6, 7 },
                                          { 0, 6, 4, 7 }, { 0, 4, 5, 7 }, { 0, 5, 1, 7 } };
    cube c = { x, y, z, { 0 } };
    int inside = 0;
    for (int i = 0; i < 8; i++) {
        c.value[i] = g->values[node_index(g, x + (i & 1), y + (i >> 1 & 1), z + (i >> 2 & 1))];
        inside += c.value[i] < 0;
    }
    if (inside == 0 || inside == 8) return CUTIS_OK;
    TRY(cutis_synth_mesh_reserve(m, 19, 36));
    for (int i = 0; i < 6; i++) cut_tetrahedron(m, g, &c, tetrahedra[i]);
    return CUTIS_OK;
}

/// Layer x is done; its slots become those of layer x + 2. Cubes of this layer and of the one
/// before have used them, in the blocks that they start in and one node beyond.
static void clear_layer(grid *g, int x)
{
    for (int by = 0; by < g->blocks[1]; by++) {
        for (int bz = 0; bz < g->blocks[2]; bz++) {
            uint8_t state = g->state[block_index(g, x / BLOCK, by, bz)];
            if (x % BLOCK == 0 && x > 0) state |= g->state[block_index(g, x / BLOCK - 1, by, bz)];
            if (!(state & CUT)) continue;
            int count = least_int(BLOCK + 1, g->nodes[2] - bz * BLOCK);
            for (int y = by * BLOCK; y < least_int(by * BLOCK + BLOCK + 1, g->nodes[1]); y++)
                memset(g->shared[x & 1] +
                           ((size_t)y * (size_t)g->nodes[2] + (size_t)bz * BLOCK) * 8,
                       0, (size_t)count * 8 * sizeof *g->shared[0]);
        }
    }
}

static cutis_result cut_layer(mesh *m, grid *g, int x)
{
    for (int by = 0; by < g->blocks[1]; by++) {
        for (int bz = 0; bz < g->blocks[2]; bz++) {
            if (!(g->state[block_index(g, x / BLOCK, by, bz)] & CUT)) continue;
            for (int i = 0; i < BLOCK * BLOCK; i++) {
                int y = by * BLOCK + i / BLOCK, z = bz * BLOCK + i % BLOCK;
                if (y + 1 >= g->nodes[1] || z + 1 >= g->nodes[2]) continue;
                TRY(cut_cube(m, g, x, y, z));
            }
        }
    }
    clear_layer(g, x);
    return CUTIS_OK;
}

static cutis_result cut_grid(mesh *m, grid *g)
{
    for (int x = 0; x + 1 < g->nodes[0]; x++) TRY(cut_layer(m, g, x));
    return CUTIS_OK;
}

/// Euler characteristic: vertices - edges + faces.
static int32_t euler(const mesh *m)
{
    int32_t border = 0;
    for (int32_t h = 0; h < m->half_count; h++) border += m->halves[h].twin < 0;
    return m->vertex_count - (m->half_count + border) / 2 + m->half_count / 3;
}

/// Area-weighted normals and wanted sizes. Vertices are within a fraction of a millimetre of the
/// surface; most of them are collapsed soon, and what stays is put on the surface with its first
/// move.
static void estimate_normals(mesh *m)
{
    for (int32_t h = 0; h < m->half_count; h += 3) {
        int32_t a = m->halves[h].vertex, b = m->halves[h + 1].vertex, c = m->halves[h + 2].vertex;
        vec3 n = v3_normal(mesh_position(m, a), mesh_position(m, b), mesh_position(m, c));
        m->vertices[a].normal = v3_add(m->vertices[a].normal, n);
        m->vertices[b].normal = v3_add(m->vertices[b].normal, n);
        m->vertices[c].normal = v3_add(m->vertices[c].normal, n);
    }
    for (int32_t v = 0; v < m->vertex_count; v++) {
        m->vertices[v].normal = v3_unit(m->vertices[v].normal);
        m->vertices[v].size = cutis_synth_shape_size(m->shape, m->vertices[v].position);
    }
}

cutis_result cutis_synth_extract(mesh *m, const synth_table *table)
{
    grid g;
    cutis_result result = grid_create(&g, m->context, table);
    if (result == CUTIS_OK) result = fill_grid(&g, m->shape);
    if (result == CUTIS_OK) result = cut_grid(m, &g);
    cutis_arena_release(&g.arena);
    if (result == CUTIS_OK) result = cutis_synth_mesh_connect(m);
    if (result != CUTIS_OK) return result;
    int32_t wanted = table->mirrored ? 1 : 2;
    if (euler(m) != wanted)
        return cutis_fail(m->context, CUTIS_INTERNAL,
                          "%s: the table's surface has Euler characteristic %d, not %d",
                          table->name, (int)euler(m), (int)wanted);
    estimate_normals(m);
    return CUTIS_OK;
}
