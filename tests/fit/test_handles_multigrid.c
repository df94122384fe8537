// The solver of handle weights against the equation it solves, written out here: its residual, a
// direct solve of small systems, and its levels against plain lists of blocks.
#include "handles_case.h"

#include "fit/handles/multigrid.h"

#define LANES 8

/// A grid, every so many voxels one that is fixed to one of LANES owners, conductances between 1
/// and 3.
typedef struct system_case {
    cutis_handles_work *work;
    cutis_handles_grid grid;
    uint32_t *fixed, *nearest, *node;
    double *conductance, *x;
    cutis_handles_system system;
} system_case;

static void make_system(fixture *f, cutis_handles_work *work, const shape_case *s, uint32_t voxels,
                        uint32_t apart, system_case *out)
{
    cutis_handles_grid *grid = &out->grid;
    cutis_handles_buffers *b = &work->buffers;
    out->work = work;
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, work, &s->shape, voxels, grid));
    const uint32_t n = grid->voxel_count;
    out->fixed = cutis_arena_alloc(&f->arena, n, sizeof *out->fixed);
    out->nearest = cutis_arena_alloc(&f->arena, n, sizeof *out->nearest);
    out->node = cutis_arena_alloc(&f->arena, n, sizeof *out->node);
    out->conductance = cutis_arena_alloc(&f->arena, n, 6 * sizeof(double));
    out->x = cutis_arena_alloc(&f->arena, n, LANES * sizeof(double));
    bool *held = calloc(grid->component_count, sizeof *held);
    for (uint32_t v = 0; v < n; v++) {
        const bool first = !held[grid->component[v]];
        held[grid->component[v]] = true;
        out->fixed[v] = v % apart == 0 || first ? v / apart % LANES : CUTIS_HANDLES_NONE;
        out->nearest[v] = CUTIS_HANDLES_NONE; // all fields start from zero
        for (int d = 0; d < 6; d++) {
            const uint32_t m = grid->neighbour[6 * (size_t)v + (uint32_t)d];
            out->conductance[6 * (size_t)v + (uint32_t)d] =
                m == CUTIS_HANDLES_NONE ? 0 : 1 + (double)((v ^ m) % 17) / 8;
        }
    }
    free(held);
    assert_ok(f->context, cutis_handles_give(work, &b->owner, out->fixed, n, 4));
    assert_ok(f->context, cutis_handles_give(work, &b->label, out->nearest, n, 4));
    assert_ok(f->context, cutis_handles_give(work, &b->conductance, out->conductance, 6ull * n, 8));
    assert_ok(f->context, cutis_handles_system_create(work, grid, &out->system));
    assert_ok(f->context, cutis_buffer_read(b->node, 0, out->node, 4ull * n));
}

// Fields of owners [first, first + lanes); x has those of all, side by side.
static void solve(fixture *f, system_case *c, uint32_t first, uint32_t lanes, double tolerance)
{
    const uint32_t count = c->system.levels[0].count;
    double *x = malloc((size_t)count * lanes * sizeof *x);
    assert_ok(f->context, cutis_handles_system_solve(c->work, &c->system, first, lanes, tolerance));
    assert_ok(f->context,
              cutis_buffer_read(c->work->buffers.x, 0, x, (uint64_t)count * lanes * sizeof *x));
    for (size_t i = 0; i < count; i++)
        for (uint32_t l = 0; l < lanes && first + l < LANES; l++)
            c->x[LANES * i + first + l] = x[lanes * i + l];
    free(x);
}

static double value_of(const system_case *c, uint32_t v, uint32_t lane)
{
    if (c->fixed[v] != CUTIS_HANDLES_NONE) return c->fixed[v] == lane;
    return c->x[LANES * (size_t)c->node[v] + lane];
}

// The largest |sum of conductance * (neighbour - own)| / sum of conductance over free voxels.
static double residual(const system_case *c)
{
    double worst = 0;
    for (uint32_t v = 0; v < c->grid.voxel_count; v++) {
        double sum[LANES] = { 0 }, total = 0;
        if (c->fixed[v] != CUTIS_HANDLES_NONE) continue;
        for (size_t e = 6 * (size_t)v; e < 6 * (size_t)v + 6; e++) {
            const uint32_t m = c->grid.neighbour[e];
            if (m == CUTIS_HANDLES_NONE) continue;
            total += c->conductance[e];
            for (uint32_t l = 0; l < LANES; l++)
                sum[l] += c->conductance[e] * (value_of(c, m, l) - value_of(c, v, l));
        }
        for (uint32_t l = 0; l < LANES; l++) worst = fmax(worst, fabs(sum[l]) / total);
    }
    return worst;
}

static void a_box_is_solved_in_as_many_iterations_at_any_size(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    uint32_t most = 0;
    add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.5, 0.5 });
    for (uint32_t voxels = 20; voxels <= 80; voxels *= 2) {
        system_case c;
        make_system(f, &f->work, s, voxels, 997, &c);
        assert_int_equal(c.system.visits, voxels == 80 ? 2 : 1);
        solve(f, &c, 0, LANES, 1e-6);
        // What is left is measured by another route, so rounding comes on top.
        assert_true(residual(&c) < 1e-6 + 1e-12);
        if (voxels < 80)
            most = c.system.iteration_count > most ? c.system.iteration_count : most;
        else
            assert_true(c.system.iteration_count <= most);
    }
    free(s);
}

static void scale(fixture *f, cutis_buffer *buffer, uint64_t first, uint64_t count, double factor)
{
    double *values = malloc(count * sizeof *values);
    assert_ok(f->context, cutis_buffer_read(buffer, 8 * first, values, 8 * count));
    for (uint64_t i = 0; i < count; i++) values[i] *= factor;
    assert_ok(f->context, cutis_buffer_write(buffer, 8 * first, values, 8 * count));
    free(values);
}

// Coarse links that are a quarter of what they should be: corrections are four times too long, and
// two visits are not positive definite. One is, whatever the coarse levels say.
static void a_cycle_that_goes_too_far_is_given_up(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    system_case c;
    add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.5, 0.5 });
    make_system(f, &f->work, s, 40, 997, &c);
    c.system.visits = 2;
    for (uint32_t l = 2; l < c.system.level_count; l++) {
        const cutis_handles_level *level = &c.system.levels[l];
        scale(f, f->work.buffers.diagonal, level->at, level->count, 0.25);
        scale(f, f->work.buffers.inverse, level->at, level->count, 4);
        scale(f, f->work.buffers.level_conductance, 6ull * level->at, 6ull * level->count, 0.25);
    }
    solve(f, &c, 0, LANES, 1e-6);
    assert_true(c.system.iteration_count > CUTIS_HANDLES_PATIENCE);
    assert_true(c.system.iteration_count < CUTIS_HANDLES_CYCLES);
    assert_true(residual(&c) < 1e-6 + 1e-12);
    free(s);
}

// Gauss without pivots: the matrix is symmetric and positive definite. `a` has LANES columns more
// than rows, which end as the solutions.
static void eliminate(double *a, size_t n)
{
    const size_t width = n + LANES;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            const double factor = a[i * width + k] / a[k * width + k];
            if (i == k || factor == 0) continue;
            for (size_t j = k; j < width; j++) a[i * width + j] -= factor * a[k * width + j];
        }
    for (size_t k = 0; k < n; k++)
        for (size_t l = 0; l < LANES; l++) a[k * width + n + l] /= a[k * width + k];
}

static void compare_with_a_direct_solve(const system_case *c)
{
    const size_t n = c->system.levels[0].count, width = n + LANES;
    double *a = calloc(n * width, sizeof *a);
    for (uint32_t v = 0; v < c->grid.voxel_count; v++) {
        if (c->fixed[v] != CUTIS_HANDLES_NONE) continue;
        double *row = a + c->node[v] * width;
        for (size_t e = 6 * (size_t)v; e < 6 * (size_t)v + 6; e++) {
            const uint32_t m = c->grid.neighbour[e];
            if (m == CUTIS_HANDLES_NONE) continue;
            row[c->node[v]] += c->conductance[e];
            if (c->fixed[m] == CUTIS_HANDLES_NONE)
                row[c->node[m]] -= c->conductance[e];
            else
                row[n + c->fixed[m]] += c->conductance[e];
        }
    }
    eliminate(a, n);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < LANES; l++)
            assert_near(c->x[LANES * i + l], a[i * width + n + l], 1e-10);
    free(a);
}

// Eight lanes of a node an item, four, two, and one lane an item as on a GPU: a field's bits do not
// depend on what is solved beside it.
static void any_number_of_lanes_gives_the_direct_solution_and_the_same_bits(void **state)
{
    fixture *f = *state;
    static const uint32_t lanes[6] = { 8, 4, 2, 8, 3, 1 };
    shape_case *s = new_shape();
    double *eight = NULL;
    add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.5, 0.4 });
    add_box(s, (const double[3]){ 1.2, 0, 0 }, (const double[3]){ 1.4, 0.5, 0.4 });
    for (int way = 0; way < 6; way++) {
        cutis_handles_work work;
        system_case c;
        cutis_handles_work_init(&work, f->device, f->device->context);
        work.sweeps = way >= 3;
        make_system(f, &work, s, 16, 97, &c);
        assert_true(c.system.level_count > 1);
        for (uint32_t first = 0; first < LANES; first += lanes[way])
            solve(f, &c, first, lanes[way], 1e-13);
        compare_with_a_direct_solve(&c);
        const size_t size = LANES * sizeof *eight * c.system.levels[0].count;
        if (way == 0) eight = memcpy(malloc(size), c.x, size);
        assert_memory_equal(c.x, eight, size);
        cutis_handles_work_release(&work);
    }
    free(eight);
    free(s);
}

// A level as plain arrays.
typedef struct plain_level {
    uint32_t count, red, *cell, *parent, *neighbour;
    double *conductance, *diagonal;
} plain_level;

static void *fetch(fixture *f, cutis_buffer *buffer, uint64_t first, uint64_t size)
{
    void *out = cutis_arena_alloc(&f->arena, size + 1, 1);
    assert_ok(f->context, cutis_buffer_read(buffer, first, out, size));
    return out;
}

// Blocks in the order that the design page says: colour by colour, each in the order of its first
// child. @return how many; `parent` gets each node's
static uint32_t number_blocks(const plain_level *fine, const uint32_t *size, uint32_t *parent,
                              uint32_t *red)
{
    uint32_t half[3], used = 0;
    for (int c = 0; c < 3; c++) half[c] = (size[c] + 1) / 2;
    uint32_t *block = malloc((size_t)half[0] * half[1] * half[2] * sizeof *block);
    memset(block, 255, (size_t)half[0] * half[1] * half[2] * sizeof *block);
    for (uint32_t colour = 0; colour < 2; colour++) {
        for (uint32_t i = 0; i < fine->count; i++) {
            const uint32_t at = fine->cell[i], x = at % size[0] / 2, y = at / size[0] % size[1] / 2,
                           z = at / size[0] / size[1] / 2;
            if (((x + y + z) & 1) != colour) continue;
            uint32_t *own = &block[((size_t)z * half[1] + y) * half[0] + x];
            if (*own == UINT32_MAX) *own = used++;
            parent[i] = *own;
        }
        if (colour == 0) *red = used;
    }
    free(block);
    return used;
}

static plain_level fetch_level(fixture *f, const system_case *c, uint32_t l)
{
    const cutis_handles_level *level = &c->system.levels[l];
    const cutis_handles_buffers *b = &c->work->buffers;
    const uint64_t at = level->at, n = level->count;
    return (plain_level){ .count = level->count,
                          .red = level->red_count,
                          .cell = fetch(f, b->cell, 4 * at, 4 * n),
                          .parent = fetch(f, b->parent, 4 * at, 4 * n),
                          .neighbour = fetch(f, b->level_neighbour, 24 * at, 24 * n),
                          .conductance = fetch(f, b->level_conductance, 48 * at, 48 * n),
                          .diagonal = fetch(f, b->diagonal, 8 * at, 8 * n) };
}

// Every link of the finer level that leaves a block goes, halved, to the block's link; what goes to
// fixed voxels stays whole.
static void check_links(const plain_level *fine, const plain_level *coarse)
{
    double *link = calloc(6 * (size_t)coarse->count, sizeof *link);
    double *leak = calloc(coarse->count, sizeof *leak);
    for (size_t i = 0; i < fine->count; i++) {
        leak[fine->parent[i]] += fine->diagonal[i];
        for (size_t d = 0; d < 6; d++) {
            const double c = fine->conductance[6 * i + d];
            const uint32_t to = fine->parent[fine->neighbour[6 * i + d]];
            leak[fine->parent[i]] -= c;
            if (c == 0 || to == fine->parent[i]) continue;
            link[6 * (size_t)fine->parent[i] + d] += c / 2;
            assert_int_equal(coarse->neighbour[6 * (size_t)fine->parent[i] + d], to);
        }
    }
    for (size_t i = 0; i < coarse->count; i++) {
        double sum = fmax(leak[i], 0);
        for (size_t d = 0; d < 6; d++) {
            assert_near(coarse->conductance[6 * i + d], link[6 * i + d], 1e-12);
            sum += link[6 * i + d];
            if (link[6 * i + d] > 0) // neighbours have the other colour
                assert_true((i < coarse->red) != (coarse->neighbour[6 * i + d] < coarse->red));
        }
        assert_near(coarse->diagonal[i], sum, 1e-11);
    }
    free(link);
    free(leak);
}

// The box, and the cylinder beside it or stuck into it, where their surfaces cut voxels.
static void make_levels(fixture *f, cutis_handles_work *work, bool sweeps, double x, system_case *c)
{
    shape_case *s = new_shape();
    add_box(s, (const double[3]){ x, 0, 0 }, (const double[3]){ x + 1, 0.5, 0.4 });
    add_cylinder(s, 0.2, 1.5, 12, 5);
    cutis_handles_work_init(work, f->device, f->device->context);
    work->sweeps = sweeps;
    make_system(f, work, s, 40, 97, c);
    assert_int_equal(c->grid.sheets != NULL, x == 0);
    free(s);
}

static void levels_are_blocks_of_the_finer_ones(void **state)
{
    fixture *f = *state;
    for (int sweeps = 0; sweeps < 2; sweeps++) {
        cutis_handles_work work;
        system_case c;
        make_levels(f, &work, sweeps, 0.5, &c);
        uint32_t size[3], *voxel = fetch(f, work.buffers.voxel, 0, 4ull * c.system.levels[0].count);
        memcpy(size, c.grid.size, sizeof size);
        plain_level fine = fetch_level(f, &c, 0);
        for (uint32_t i = 0; i < fine.count; i++) { // red ones first, voxels ascending
            uint32_t cell[3];
            voxel_cell(&c.grid, voxel[i], cell);
            assert_int_equal((cell[0] + cell[1] + cell[2]) & 1, i >= fine.red);
            assert_int_equal(fine.cell[i], c.grid.place[voxel[i]]);
            if (i && i != fine.red) assert_true(voxel[i] > voxel[i - 1]);
        }
        assert_true(c.system.level_count > 2);
        for (uint32_t l = 1; l < c.system.level_count; l++) {
            const plain_level coarse = fetch_level(f, &c, l);
            uint32_t *parent = malloc(fine.count * sizeof *parent), red = 0;
            assert_int_equal(number_blocks(&fine, size, parent, &red), coarse.count);
            assert_int_equal(red, coarse.red);
            assert_memory_equal(parent, fine.parent, fine.count * sizeof *parent);
            free(parent);
            check_links(&fine, &coarse);
            for (int k = 0; k < 3; k++) size[k] = (size[k] + 1) / 2;
            fine = coarse;
        }
        cutis_handles_work_release(&work);
    }
}

static uint32_t root_of(const uint32_t *up, uint32_t i)
{
    while (up[i] != i) i = up[i];
    return i;
}

static bool merge(uint32_t *up, uint32_t a, uint32_t b)
{
    a = root_of(up, a), b = root_of(up, b);
    up[a > b ? a : b] = a < b ? a : b;
    return a != b;
}

static size_t block_at(const cutis_handles_grid *g, size_t place)
{
    const size_t x = g->size[0], y = g->size[1];
    return ((place / x / y / 2) * ((y + 1) / 2) + place / x % y / 2) * ((x + 1) / 2) +
           place % x / 2;
}

// Blocks with two voxels side by side, one of them in it, that are not just one node each and
// linked.
static uint8_t *find_cut_blocks(const cutis_handles_grid *g)
{
    uint8_t *nodes = calloc(g->dense_count, 1), *cut = calloc(g->dense_count, 1);
    const long step[3] = { 1, g->size[0], (long)g->size[0] * g->size[1] };
    for (uint32_t a = 0; a < g->voxel_count; a++) nodes[g->place[a]]++;
    for (uint32_t a = 0; a < g->voxel_count; a++)
        for (int d = 0; d < 6; d++) {
            const size_t at = g->place[a], to = at + (size_t)(d & 1 ? step[d / 2] : -step[d / 2]);
            if (!nodes[to]) continue;
            if (nodes[at] > 1 || nodes[to] > 1 || g->neighbour[6 * a + d] == CUTIS_HANDLES_NONE)
                cut[block_at(g, at)] = cut[block_at(g, to)] = 1;
        }
    free(nodes);
    return cut;
}

// Pieces as the design page defines them, by trying until nothing changes: nodes linked within a
// block are one, all of a block where nothing is cut, and those of one block that one piece is
// linked to in one direction.
static uint32_t *find_pieces(const cutis_handles_grid *g)
{
    uint32_t *up = malloc(g->voxel_count * sizeof *up);
    uint32_t *first = malloc(g->dense_count * sizeof *first);
    uint32_t *to = malloc(6 * (size_t)g->voxel_count * sizeof *to);
    uint8_t *cut = find_cut_blocks(g);
    bool again = true;
    memset(first, 255, g->dense_count * sizeof *first);
    for (uint32_t a = 0; a < g->voxel_count; a++) {
        const size_t block = block_at(g, g->place[a]);
        up[a] = a;
        if (first[block] == UINT32_MAX) first[block] = a;
        if (!cut[block]) merge(up, a, first[block]);
    }
    while (again) {
        again = false;
        memset(to, 255, 6 * (size_t)g->voxel_count * sizeof *to);
        for (uint32_t a = 0; a < g->voxel_count; a++)
            for (size_t d = 0; d < 6; d++) {
                const uint32_t m = g->neighbour[6 * (size_t)a + d];
                if (m == CUTIS_HANDLES_NONE) continue;
                if (block_at(g, g->place[a]) == block_at(g, g->place[m])) {
                    again |= merge(up, a, m);
                    continue;
                }
                uint32_t *other = &to[6 * (size_t)root_of(up, a) + d];
                if (*other == UINT32_MAX) *other = m;
                again |= merge(up, *other, m);
            }
    }
    free(first), free(to), free(cut);
    return up;
}

// Where sheets cut voxels the first blocks are kept in pieces, on devices of both kinds.
static void blocks_that_are_cut_stay_in_pieces(void **state)
{
    fixture *f = *state;
    for (int sweeps = 0; sweeps < 2; sweeps++) {
        cutis_handles_work work;
        system_case c;
        uint32_t red = 0;
        make_levels(f, &work, sweeps, 0, &c);
        const plain_level fine = fetch_level(f, &c, 0), coarse = fetch_level(f, &c, 1);
        const uint32_t *voxel = fetch(f, work.buffers.voxel, 0, 4ull * fine.count);
        uint32_t *block = malloc(fine.count * sizeof *block), *piece = find_pieces(&c.grid);
        uint32_t *of = malloc(coarse.count * sizeof *of);
        uint32_t *parent = malloc(c.grid.voxel_count * sizeof *parent);
        assert_true(coarse.count > number_blocks(&fine, c.grid.size, block, &red));
        memset(of, 255, coarse.count * sizeof *of);
        memset(parent, 255, c.grid.voxel_count * sizeof *parent);
        for (size_t i = 0; i < fine.count; i++) { // one parent a piece, one piece a parent
            const uint32_t own = root_of(piece, voxel[i]);
            if (of[fine.parent[i]] == UINT32_MAX) of[fine.parent[i]] = own;
            if (parent[own] == UINT32_MAX) parent[own] = fine.parent[i];
            assert_int_equal(of[fine.parent[i]], own);
            assert_int_equal(parent[own], fine.parent[i]);
        }
        check_links(&fine, &coarse);
        free(block), free(of), free(parent), free(piece);
        cutis_handles_work_release(&work);
    }
}

int main(void)
{
    const struct CMUnitTest claims[] = {
        claim(a_box_is_solved_in_as_many_iterations_at_any_size),
        claim(a_cycle_that_goes_too_far_is_given_up),
        claim(any_number_of_lanes_gives_the_direct_solution_and_the_same_bits),
        claim(levels_are_blocks_of_the_finer_ones),
        claim(blocks_that_are_cut_stay_in_pieces),
    };
    return cmocka_run_group_tests(claims, NULL, NULL);
}
