// The kernels of handle weights against plain definitions in double precision: Godunov's step
// against a bisection, taps against the B-spline's formula, voxels against clipped triangles and a
// flood, supports, lists, cells and shares against what they are said to be. CPUs and GPUs run one
// text, so comparing the two would prove little.
#include "handles_case.h"

static void init_work(fixture *f, bool sweeps, cutis_handles_work *work)
{
    cutis_handles_work_init(work, f->device, f->device->context);
    work->sweeps = sweeps;
}

// d with sum of max(d - a, 0)^2 = h^2.
static double eikonal(const double *a, double h)
{
    long double low = fmin(a[0], fmin(a[1], a[2])), high = low + h;
    for (int i = 0; i < 200; i++) {
        const long double middle = (low + high) / 2;
        long double sum = 0;
        for (int k = 0; k < 3; k++)
            if (middle > a[k]) sum += (middle - a[k]) * (middle - a[k]);
        if (sum < (long double)h * h)
            low = middle;
        else
            high = middle;
    }
    return (double)low;
}

static void godunovs_step_solves_the_eikonal_equation(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 20000; i++) {
        const double h = random_in(1, 8 * i, 0.01, 2), base = random_in(1, 8 * i + 1, 0, 50 * h);
        double a[3];
        float f[3];
        for (uint64_t k = 0; k < 3; k++) {
            f[k] = (float)(base + random_in(2, 3 * i + k, 0, 1.5 * h));
            if (i % 7 == k) f[k] = HANDLES_INFINITY; // not reached yet
            a[k] = f[k];
        }
        const double exact = eikonal(a, h);
        assert_near(handles_godunov(f[0], f[1], f[2], h), exact, 1e-7 * exact);
    }
    assert_true(handles_godunov(HANDLES_INFINITY, HANDLES_INFINITY, HANDLES_INFINITY, 0.1) ==
                HANDLES_INFINITY);
}

// Taps and vertices -----------------------------------------------------------------------------

// The central cubic B-spline by truncated powers.
static double b_spline(double x)
{
    static const double binomial[5] = { 1, -4, 6, -4, 1 };
    double sum = 0;
    for (int k = 0; k < 5; k++)
        if (x + 2 - k > 0) sum += binomial[k] * pow(x + 2 - k, 3);
    return sum / 6;
}

/// What the B-spline at a point looks at, by definition.
typedef struct plain_taps {
    int count;
    uint32_t voxel[64];
    double weight[64];
} plain_taps;

static uint32_t voxel_in_block(const cutis_handles_grid *grid, const int64_t *first, int bit)
{
    const int64_t cell[3] = { first[0] + bit % 4, first[1] + bit / 4 % 4, first[2] + bit / 16 };
    return cutis_handles_voxel_at(grid, cell);
}

// Voxels of the 4 x 4 x 4 nearest the point that hang together with its own inside the block.
static plain_taps define_taps(const cutis_handles_grid *grid, const double *point, bool connected)
{
    plain_taps out = { 0 };
    double place[3];
    int64_t first[3];
    bool reached[64] = { false };
    int own = 0;
    for (int c = 0; c < 3; c++) {
        place[c] = (point[c] - grid->origin[c]) / grid->step;
        first[c] = (int64_t)floor(place[c] - 0.5) - 1;
        own += (int)((int64_t)floor(place[c]) - first[c]) << (2 * c);
    }
    reached[own] = true;
    for (bool news = true; news;) {
        news = false;
        for (int a = 0; a < 64; a++)
            for (int b = 0; b < 64; b++) {
                const int steps =
                    abs(a % 4 - b % 4) + abs(a / 4 % 4 - b / 4 % 4) + abs(a / 16 - b / 16);
                if (!reached[a] || reached[b] || steps != 1) continue;
                if (voxel_in_block(grid, first, b) == CUTIS_HANDLES_NONE) continue;
                news = reached[b] = true;
            }
    }
    for (int bit = 0; bit < 64; bit++) {
        const uint32_t v = voxel_in_block(grid, first, bit);
        if (v == CUTIS_HANDLES_NONE || (connected && !reached[bit])) continue;
        double weight = 1;
        for (int c = 0; c < 3; c++) {
            const int step = bit >> (2 * c) & 3;
            weight *= b_spline(place[c] - ((double)(first[c] + step) + 0.5));
        }
        out.voxel[out.count] = v;
        out.weight[out.count++] = weight;
    }
    return out;
}

// Two prongs two voxels apart: blocks of points between them have parts that do not hang together.
static shape_case *prongs(double step)
{
    shape_case *s = new_shape();
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 0.3, 0.3, 1 });
    add_box(s, (double[]){ 0.3 + 2.1 * step, 0, 0 }, (double[]){ 0.6 + 2.1 * step, 0.3, 1 });
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 0.6 + 2.1 * step, 0.3, 0.2 });
    return s;
}

static void taps_are_the_b_spline_on_what_hangs_together(void **state)
{
    fixture *f = *state;
    shape_case *s = prongs(1.0 / 24);
    cutis_handles_grid grid;
    assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 24, &grid));
    int cut = 0;
    for (uint64_t i = 0; i < 5000; i++) {
        double p[3];
        handles_taps taps[2];
        for (uint64_t c = 0; c < 3; c++) p[c] = random_in(3, 3 * i + c, -0.1, c == 1 ? 0.4 : 1.1);
        for (int connected = 0; connected < 2; connected++) {
            cutis_handles_taps_at(&grid, p, connected, &taps[connected]);
            if (cutis_handles_voxel_of(&grid, p) == CUTIS_HANDLES_NONE) {
                assert_int_equal(taps[connected].count, 0);
                continue;
            }
            const plain_taps exact = define_taps(&grid, p, connected);
            assert_int_equal(taps[connected].count, exact.count);
            for (int t = 0; t < exact.count; t++) {
                assert_int_equal(taps[connected].voxel[t], exact.voxel[t]);
                assert_near(taps[connected].weight[t], exact.weight[t], 1e-14);
            }
        }
        cut += taps[0].count > taps[1].count;
    }
    assert_true(cut > 20);
    free(s);
}

// The weights of a vertex on joints, two of which may share a site.
static void define_weights(const cutis_handles_grid *grid, const float *values, uint32_t sites,
                           const float *position, const uint32_t *joint_site,
                           const uint32_t *sharers, uint32_t joints, double *weights)
{
    const double p[3] = { position[0], position[1], position[2] };
    const plain_taps taps = define_taps(grid, p, true);
    double sum[16] = { 0 }, all = 0;
    for (int t = 0; t < taps.count; t++)
        for (uint32_t s = 0; s < sites; s++)
            sum[s] += taps.weight[t] * values[(size_t)taps.voxel[t] * sites + s];
    for (uint32_t s = 0; s < sites; s++) all += sum[s];
    for (uint32_t j = 0; j < joints; j++)
        weights[j] = joint_site[j] == CUTIS_HANDLES_NONE
                         ? 0
                         : sum[joint_site[j]] / all / sharers[joint_site[j]];
}

// What is kept is the largest of all, by ascending joint, divided by its sum.
static void check_vertex(const double *weights, uint32_t joints, uint32_t slots,
                         const uint32_t *kept, const float *kept_weights, double dropped)
{
    double sum = 0, least = 1, rest = 0;
    bool taken[16] = { false };
    for (uint32_t i = 0; i < slots; i++) {
        if (!(kept_weights[i] > 0)) continue;
        if (i) assert_true(kept_weights[i - 1] > 0 && kept[i] > kept[i - 1]);
        taken[kept[i]] = true;
        sum += weights[kept[i]];
        least = fmin(least, weights[kept[i]]);
    }
    for (uint32_t j = 0; j < joints; j++)
        if (!taken[j]) rest += weights[j], assert_true(weights[j] <= least + 1e-14);
    for (uint32_t i = 0; i < slots; i++)
        if (kept_weights[i] > 0) assert_near(kept_weights[i], weights[kept[i]] / sum, 1e-7);
    assert_near(sum + rest, 1, 1e-12);
    assert_near(dropped, rest, 1e-12);
}

static void vertices_keep_their_largest_weights(void **state)
{
    fixture *f = *state;
    enum { SITES = 13, JOINTS = 15 };
    static const uint32_t slots[3] = { 1, 4, JOINTS };
    shape_case *s = prongs(1.0 / 24);
    cutis_handles_solution solution = { .arena = &f->arena };
    uint32_t joint_site[JOINTS], sharers[SITES];
    add_cylinder(s, 0.29, 0.9, 24, 40);
    for (uint32_t j = 0; j < JOINTS; j++) joint_site[j] = j < SITES ? j : j - SITES + 5;
    joint_site[3] = CUTIS_HANDLES_NONE;
    for (uint32_t k = 0; k < SITES; k++) sharers[k] = k == 5 || k == 6 ? 2 : k != 3;
    for (int way = 0; way < 6; way++) {
        cutis_handles_options options = { .influences = slots[way / 2], .voxels = 24 };
        cutis_handles_work work;
        init_work(f, way % 2, &work);
        solution.work = &work, solution.options = &options;
        assert_ok(f->context,
                  cutis_handles_grid_create(&f->arena, &work, &s->shape, 24, &solution.grid));
        const size_t total = (size_t)solution.grid.voxel_count * SITES;
        float *values = cutis_arena_alloc(&f->arena, total, sizeof *values);
        for (size_t i = 0; i < total; i++)
            values[i] = i % SITES == 3 ? 0 : (float)random_in(4, i, 0, 1);
        solution.field = (cutis_handles_field){ .site_count = SITES, .values = values };
        solution.sites.site_count = SITES;
        solution.joint_count = JOINTS;
        solution.joint_site = joint_site, solution.sharers = sharers;
        cutis_handles_report report = { 0 };
        assert_ok(f->context, cutis_handles_weigh(&solution, &s->shape, &report));
        const uint32_t width = solution.influences.slots;
        double *dropped = malloc(s->shape.vertex_count * sizeof *dropped), mean = 0;
        assert_ok(f->context, cutis_buffer_read(work.buffers.dropped, 0, dropped,
                                                8ull * s->shape.vertex_count));
        for (size_t v = 0; v < s->shape.vertex_count; v++) {
            double weights[JOINTS];
            define_weights(&solution.grid, values, SITES, s->positions + 3 * v, joint_site, sharers,
                           JOINTS, weights);
            check_vertex(weights, JOINTS, width, solution.influences.joints + width * v,
                         solution.influences.weights + width * v, dropped[v]);
            mean += dropped[v];
        }
        assert_near(report.dropped_mass_mean, mean, 1e-9);
        free(dropped);
        cutis_handles_work_release(&work);
    }
    free(s);
}

// Voxels ----------------------------------------------------------------------------------------

// Cut a polygon along an axis: keep what is on one side of a plane. @return corners that are left
static int clip(double (*p)[3], int count, int axis, double plane, double sign)
{
    double out[16][3];
    int used = 0;
    for (int i = 0; i < count; i++) {
        const double *a = p[i], *b = p[(i + 1) % count];
        const double da = sign * (plane - a[axis]), db = sign * (plane - b[axis]);
        if (da >= 0) memcpy(out[used++], a, 3 * sizeof **p);
        if ((da >= 0) != (db >= 0)) {
            for (int c = 0; c < 3; c++) out[used][c] = a[c] + (b[c] - a[c]) * da / (da - db);
            used++;
        }
    }
    memcpy(p, out, (size_t)used * sizeof *p);
    return used;
}

// Whether any of a triangle (in voxels) is left in a voxel that is `slack` larger on all sides.
static bool touches(double (*corner)[3], const int *cell, double slack)
{
    double p[16][3];
    int count = 3;
    memcpy(p, corner, 3 * sizeof *p);
    for (int axis = 0; axis < 3 && count; axis++) {
        count = clip(p, count, axis, cell[axis] + 1 + slack, 1);
        if (count) count = clip(p, count, axis, cell[axis] - slack, -1);
    }
    return count > 0;
}

static size_t place_of(const cutis_handles_grid *grid, const int *cell)
{
    return ((size_t)cell[2] * grid->size[1] + (size_t)cell[1]) * grid->size[0] + (size_t)cell[0];
}

// Mark voxels by triangles, balls and vertices. @param radius of balls, in voxels
static void define_surface(const cutis_handles_grid *grid, const cutis_handles_shape *shape,
                           double radius, uint8_t *state)
{
    const int *size = (const int *)grid->size;
    double(*p)[3] = malloc(shape->vertex_count * sizeof *p);
    for (uint32_t v = 0; v < shape->vertex_count; v++) {
        int cell[3];
        for (int c = 0; c < 3; c++) {
            p[v][c] = (shape->positions[3 * v + (uint32_t)c] - grid->origin[c]) / grid->step;
            cell[c] = (int)floor(p[v][c]);
        }
        state[place_of(grid, cell)] = 1;
    }
    int cell[3];
    for (cell[2] = 0; cell[2] < size[2]; cell[2]++)
        for (cell[1] = 0; cell[1] < size[1]; cell[1]++)
            for (cell[0] = 0; cell[0] < size[0]; cell[0]++) {
                bool hit = false;
                for (uint32_t t = 0; t < shape->triangle_count && !hit; t++) {
                    double corner[3][3];
                    for (uint32_t e = 0; e < 3; e++)
                        memcpy(corner[e], p[shape->triangles[3 * t + e]], sizeof corner[e]);
                    hit = touches(corner, cell, 1e-6);
                }
                for (uint32_t i = 0; i < shape->point_count && !hit; i++) {
                    double square = 0;
                    for (int c = 0; c < 3; c++)
                        square += pow(cell[c] + 0.5 - p[shape->points[i]][c], 2);
                    hit = square <= radius * radius;
                }
                if (hit) state[place_of(grid, cell)] = 1;
            }
    free(p);
}

static const int STEPS[6][3] = { { -1, 0, 0 }, { 1, 0, 0 },  { 0, -1, 0 },
                                 { 0, 1, 0 },  { 0, 0, -1 }, { 0, 0, 1 } };

// Everything that hangs together with `place` and has its state gets another one.
static void flood(const cutis_handles_grid *grid, size_t place, uint8_t to, uint8_t *state)
{
    const uint8_t from = state[place];
    size_t *stack = malloc(grid->dense_count * sizeof *stack), count = 0;
    stack[count++] = place;
    state[place] = to;
    while (count) {
        const size_t at = stack[--count];
        const int own[3] = { (int)(at % grid->size[0]), (int)(at / grid->size[0] % grid->size[1]),
                             (int)(at / grid->size[0] / grid->size[1]) };
        for (int d = 0; d < 6; d++) {
            const int cell[3] = { own[0] + STEPS[d][0], own[1] + STEPS[d][1],
                                  own[2] + STEPS[d][2] };
            bool there = true;
            for (int c = 0; c < 3; c++)
                there = there && cell[c] >= 0 && cell[c] < (int)grid->size[c];
            if (!there || state[place_of(grid, cell)] != from) continue;
            state[place_of(grid, cell)] = to;
            stack[count++] = place_of(grid, cell);
        }
    }
    free(stack);
}

// Voxels tile by tile, x fastest in a tile and among tiles; neighbours; tiles.
static void check_numbers(const cutis_handles_grid *grid, const uint8_t *inside)
{
    uint32_t used = 0, tile = 0;
    int low[3], cell[3];
    for (low[2] = 0; low[2] < (int)grid->size[2]; low[2] += 8)
        for (low[1] = 0; low[1] < (int)grid->size[1]; low[1] += 8)
            for (low[0] = 0; low[0] < (int)grid->size[0]; low[0] += 8) {
                const uint32_t first = used;
                for (int i = 0; i < 512; i++) {
                    cell[0] = low[0] + i % 8, cell[1] = low[1] + i / 8 % 8;
                    cell[2] = low[2] + i / 64;
                    if (cell[0] >= (int)grid->size[0] || cell[1] >= (int)grid->size[1] ||
                        cell[2] >= (int)grid->size[2])
                        continue;
                    const size_t place = place_of(grid, cell);
                    const uint32_t own = inside[place] ? used++ : CUTIS_HANDLES_NONE;
                    assert_int_equal(grid->index[place], own);
                    if (!inside[place]) continue;
                    assert_int_equal(grid->place[own], place);
                    for (size_t d = 0; d < 6; d++) {
                        const int64_t next[3] = { cell[0] + STEPS[d][0], cell[1] + STEPS[d][1],
                                                  cell[2] + STEPS[d][2] };
                        assert_int_equal(grid->neighbour[6 * (size_t)own + d],
                                         cutis_handles_voxel_at(grid, next));
                    }
                }
                if (used > first) assert_int_equal(grid->tile_first[tile++], first);
            }
    assert_int_equal(grid->voxel_count, used);
    assert_int_equal(grid->tile_count, tile);
}

// Pieces in the order of their first voxels, by flooding each from there.
static void check_pieces(const cutis_handles_grid *grid, const uint8_t *inside)
{
    uint8_t *state = malloc(grid->dense_count);
    uint32_t count = 0;
    for (size_t i = 0; i < grid->dense_count; i++) state[i] = inside[i];
    for (uint32_t v = 0; v < grid->voxel_count; v++) {
        if (state[grid->place[v]] != 1) continue;
        flood(grid, grid->place[v], 2, state);
        for (uint32_t m = 0; m < grid->voxel_count; m++) {
            if (state[grid->place[m]] != 2) continue;
            state[grid->place[m]] = 3;
            assert_int_equal(grid->component[m], count);
        }
        count++;
    }
    assert_int_equal(grid->component_count, count);
    free(state);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Spec 4.1: twice the median distance to the nearest neighbour; ours has 1 to 16 voxels.
static double ball_radius(const cutis_handles_shape *shape, double step)
{
    double nearest[64];
    for (uint32_t i = 0; i < shape->point_count; i++) {
        nearest[i] = INFINITY;
        for (uint32_t j = 0; j < shape->point_count; j++) {
            const float *p = shape->positions + 3 * (size_t)shape->points[i];
            const float *q = shape->positions + 3 * (size_t)shape->points[j];
            const double x = (double)p[0] - q[0], y = (double)p[1] - q[1], z = (double)p[2] - q[2];
            const double d = sqrt(x * x + y * y + z * z);
            if (d > 0 && d < nearest[i]) nearest[i] = d;
        }
    }
    qsort(nearest, shape->point_count, sizeof *nearest, by_size);
    return fmin(fmax(2 * nearest[shape->point_count / 2] / step, 1), 16);
}

static void check_voxels(fixture *f, const cutis_handles_shape *shape, uint32_t voxels)
{
    for (int sweeps = 0; sweeps < 2; sweeps++) {
        cutis_handles_work work;
        cutis_handles_grid grid;
        init_work(f, sweeps, &work);
        assert_ok(f->context, cutis_handles_grid_create(&f->arena, &work, shape, voxels, &grid));
        uint8_t *state = calloc(grid.dense_count, 1);
        define_surface(&grid, shape, shape->point_count ? ball_radius(shape, grid.step) : 0, state);
        flood(&grid, 0, 9, state);
        for (size_t i = 0; i < grid.dense_count; i++) state[i] = state[i] != 9;
        check_numbers(&grid, state);
        check_pieces(&grid, state);
        free(state);
        cutis_handles_work_release(&work);
    }
}

// Slanted, large and tiny triangles, closed shapes that cross them, loose points with balls.
static void voxels_are_those_a_shape_touches_or_encloses(void **state)
{
    fixture *f = *state;
    for (uint64_t seed = 1; seed <= 4; seed++) {
        shape_case *s = new_shape();
        uint32_t points[64];
        if (seed == 1) add_box(s, (const double[3]){ 0, 0, 0 }, (const double[3]){ 1, 0.5, 0.5 });
        if (seed == 2) add_cylinder(s, 0.3, 1, 12, 5);
        for (uint64_t t = 0; t < 30; t++) {
            const double size = t % 3 ? 0.05 : 0.6;
            double at[3], corner[3];
            uint32_t v[3];
            for (int c = 0; c < 3; c++) at[c] = random_in(seed, 3 * t + (uint64_t)c, 0, 1);
            for (uint64_t e = 0; e < 3; e++) {
                for (uint64_t c = 0; c < 3; c++)
                    corner[c] = at[c] + random_in(seed + 9, 9 * t + 3 * e + c, -size, size);
                v[e] = add_vertex(s, corner[0], corner[1], corner[2]);
            }
            if (seed == 4) points[t] = v[0];
            if (seed < 4) add_triangle(s, v[0], v[1], v[2]);
        }
        if (seed == 4) s->shape.points = points, s->shape.point_count = 30;
        check_voxels(f, &s->shape, 12);
        check_voxels(f, &s->shape, 37);
        free(s);
    }
}

// How much of a segment lies in a voxel, in voxels.
static double inside_length(const double *a, const double *b, const uint32_t *cell, double slack)
{
    double low = 0, high = 1, square = 0;
    for (int c = 0; c < 3; c++) {
        const double d = b[c] - a[c], from = cell[c] - slack - a[c],
                     to = cell[c] + 1 + slack - a[c];
        square += d * d;
        if (d == 0 && (from > 0 || to < 0)) return -1;
        if (d == 0) continue;
        low = fmax(low, fmin(from / d, to / d)), high = fmin(high, fmax(from / d, to / d));
    }
    return (high - low) * sqrt(square);
}

// A line is sampled every quarter of a voxel: it has every voxel that it is longer in, and none
// that it is not in.
static void a_line_is_a_row_of_voxels(void **state)
{
    fixture *f = *state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        shape_case *s = new_shape();
        cutis_handles_grid grid;
        double p[2][3];
        for (uint64_t e = 0; e < 2; e++) {
            for (uint64_t c = 0; c < 3; c++) p[e][c] = (float)random_in(seed, 3 * e + c, 0, 1);
            add_vertex(s, p[e][0], p[e][1], p[e][2]);
        }
        add_triangle(s, 0, 1, 1);
        assert_ok(f->context, cutis_handles_grid_create(&f->arena, &f->work, &s->shape, 32, &grid));
        for (int e = 0; e < 2; e++)
            for (int c = 0; c < 3; c++) p[e][c] = (p[e][c] - grid.origin[c]) / grid.step;
        for (size_t i = 0; i < grid.dense_count; i++) {
            const uint32_t cell[3] = { (uint32_t)(i % grid.size[0]),
                                       (uint32_t)(i / grid.size[0] % grid.size[1]),
                                       (uint32_t)(i / grid.size[0] / grid.size[1]) };
            if (grid.index[i] != CUTIS_HANDLES_NONE)
                assert_true(inside_length(p[0], p[1], cell, 1e-6) >= 0);
            else
                assert_true(inside_length(p[0], p[1], cell, 0) < 0.26);
        }
        free(s);
    }
}

// Supports, lists and shares --------------------------------------------------------------------

static double phi(double t)
{
    return t < 1 ? pow(1 - t, 3) * (1 + 3 * t + 6 * t * t) : 0;
}

static cutis_handles_front march(fixture *f, const cutis_handles_grid *grid,
                                 const cutis_handles_site *site)
{
    cutis_handles_front front;
    assert_true(cutis_handles_front_init(&f->arena, grid, &front));
    cutis_handles_front_start(&front, site, 0);
    cutis_handles_front_finish(&front);
    return front;
}

// Per handle, then per voxel: distances of sites and virtual handles.
static double *all_distances(fixture *f, const cutis_handles_solution *solution)
{
    const cutis_handles_virtual *virtual = &solution->virtual;
    const size_t n = solution->grid.voxel_count, sites = virtual->site_count;
    double *out = malloc((sites + virtual->virtual_count) * n * sizeof *out);
    for (size_t h = 0; h < sites + virtual->virtual_count; h++) {
        cutis_handles_segment point;
        cutis_handles_site site = { .segments = &point, .segment_count = 1 };
        if (h < sites) {
            site = solution->sites.sites[h];
        } else {
            cutis_handles_voxel_centre(&solution->grid, virtual->voxel[h - sites], point.a);
            memcpy(point.b, point.a, sizeof point.b);
        }
        const cutis_handles_front front = march(f, &solution->grid, &site);
        for (size_t v = 0; v < n; v++)
            out[h * n + v] = front.distance[v] < HANDLES_INFINITY ? front.distance[v] : INFINITY;
    }
    return out;
}

// Lists, cover and values of the voxels that a site can reach.
static void check_lists(const cutis_handles_solution *solution, const double *distance)
{
    const cutis_handles_virtual *virtual = &solution->virtual;
    const size_t n = solution->grid.voxel_count, sites = virtual->site_count,
                 all = sites + virtual->virtual_count;
    double coverage = 0;
    for (size_t v = 0; v < n; v++) {
        double least = INFINITY, values[16] = { 0 }, density = 0;
        uint32_t e = virtual->list_first[v];
        for (size_t h = 0; h < all; h++) {
            const double t = distance[h * n + v] / virtual->radius[h], value = phi(t);
            least = fmin(least, t);
            if (e < virtual->list_first[v + 1] && virtual->list_handle[e] == h)
                assert_near(virtual->list_value[e++], value, 1e-5);
            else
                assert_true(value < 1e-12); // a float of it may be 0
            for (size_t s = 0; s < sites; s++)
                values[s] +=
                    h < sites ? (s == h) * value : value * virtual->share[(h - sites) * sites + s];
        }
        assert_int_equal(e, virtual->list_first[v + 1]);
        coverage = fmax(coverage, least);
        for (size_t s = 0; s < sites; s++) {
            density += values[s];
            assert_near(solution->field.values[v * sites + s], values[s], 2e-5);
        }
        assert_near(solution->field.density[v], density, 2e-5);
    }
    assert_near(virtual->coverage_max, coverage, 1e-6);
}

// No support but its own reaches a core: up to floors, a virtual one ends 0.85 of the way there, if
// the core is within the largest support.
static void check_radii(const cutis_handles_solution *solution, const double *distance)
{
    const cutis_handles_virtual *virtual = &solution->virtual;
    const size_t n = solution->grid.voxel_count, sites = virtual->site_count;
    double apart[16][16], longest = 0;
    for (size_t i = 0; i < sites; i++)
        for (size_t j = 0; j < sites; j++) {
            const cutis_handles_site *site = &solution->sites.sites[j];
            apart[i][j] = INFINITY;
            for (size_t c = 0; c < site->core_count; c++)
                apart[i][j] = fmin(apart[i][j],
                                   distance[i * n + solution->sites.cores[site->core_first + c]]);
            if (i != j) longest = fmax(longest, apart[i][j]);
        }
    for (size_t i = 0; i < sites; i++) {
        double radius = longest / 2;
        for (size_t j = 0; j < sites; j++)
            if (i != j) radius = fmin(radius, apart[i][j]);
        assert_near(virtual->radius[i], fmax(radius, 4.5 * solution->grid.step), 1e-7);
    }
    for (size_t h = sites; h < sites + virtual->virtual_count; h++) {
        double first = INFINITY;
        for (size_t c = 0; c < solution->sites.core_count; c++)
            first = fmin(first, distance[h * n + solution->sites.cores[c]]);
        const double most = longest / 2, part = fmax(0.85 * first, solution->grid.step);
        assert_near(virtual->radius[h], first < most ? fmin(part, most) : most, 1e-7);
    }
}

// Shares are harmonic on the graph of cells: what goes in along its edges is nothing. Edges have
// the conductance of the faces between two cells, times how it falls far from sites.
static void check_shares(fixture *f, const cutis_handles_solution *solution, const double *distance)
{
    const cutis_handles_grid *grid = &solution->grid;
    const cutis_handles_virtual *virtual = &solution->virtual;
    const size_t n = grid->voxel_count, sites = virtual->site_count,
                 all = sites + virtual->virtual_count;
    const double h = grid->step;
    double(*edge)[3] = calloc(all * all, sizeof *edge); // faces, lengths, factors
    cutis_handles_front front;
    assert_true(cutis_handles_front_init(&f->arena, grid, &front));
    for (uint32_t i = 0; i < all; i++) {
        cutis_handles_segment point;
        const cutis_handles_site one = { .segments = &point, .segment_count = 1 };
        if (i >= sites) cutis_handles_voxel_centre(grid, virtual->voxel[i - sites], point.a);
        if (i >= sites) memcpy(point.b, point.a, sizeof point.b);
        cutis_handles_front_start(&front, i < sites ? &solution->sites.sites[i] : &one, i);
    }
    cutis_handles_front_finish(&front);
    for (uint32_t v = 0; v < n; v++)
        for (size_t d = 0; d < 6; d++) {
            const uint32_t m = grid->neighbour[6 * (size_t)v + d];
            if (m == CUTIS_HANDLES_NONE || front.label[v] == front.label[m]) continue;
            double near = INFINITY, power = 2;
            for (size_t s = 0; s < sites; s++) {
                const double mean = (distance[s * n + v] + distance[s * n + m]) / 2;
                if (mean < near) near = mean, power = solution->sites.sites[s].bar ? 1 : 2;
            }
            double *at = edge[front.label[v] * all + front.label[m]];
            at[0] += 1, at[1] += (double)front.distance[v] + front.distance[m];
            at[2] += pow(fmax(near, h) / h, -power);
        }
    for (size_t i = sites; i < all; i++)
        for (size_t s = 0; s < sites; s++) {
            double in = 0, total = 0;
            for (size_t j = 0; j < all; j++) {
                const double *e = edge[i * all + j];
                if (e[0] == 0) continue;
                const double other = j < sites ? j == s : virtual->share[(j - sites) * sites + s];
                const double c = e[0] * h * h / fmax(e[1] / e[0], h / 10) * (e[2] / e[0]);
                in += c * (other - virtual->share[(i - sites) * sites + s]), total += c;
            }
            assert_near(in / total, 0, 1e-9);
        }
    free(edge);
}

static void virtual_handles_are_what_they_are_said_to_be(void **state)
{
    fixture *f = *state;
    const double low[3] = { 0, 0, 0 }, high[3] = { 1, 0.5, 0.5 };
    shape_case *s = new_shape();
    add_box(s, low, high);
    for (uint64_t seed = 1; seed < 3; seed++)
        for (int sweeps = 0; sweeps < 2; sweeps++) {
            static domain_case d;
            cutis_handles_work work;
            double a[8][3], b[8][3];
            const uint32_t count = random_points(seed, 6, low, high, 0.2, a);
            memcpy(b, a, sizeof b);
            b[0][0] = fmin(a[0][0] + 0.1, 0.95);
            init_work(f, sweeps, &work);
            solve_domain_with(f, &work, s, 30, CUTIS_WEIGHTING_VIRTUAL, 0, count,
                              (const double(*)[3])a, (const double(*)[3])b, &d);
            assert_true(d.solution.virtual.virtual_count > 5);
            double *distance = all_distances(f, &d.solution);
            check_lists(&d.solution, distance);
            check_radii(&d.solution, distance);
            check_shares(f, &d.solution, distance);
            free(distance);
            cutis_handles_work_release(&work);
        }
    free(s);
}

// FIELD: conductances are a power of the distance to the nearest site, and each field is harmonic.
static void fields_are_harmonic_with_conductances_that_fall(void **state)
{
    fixture *f = *state;
    shape_case *s = new_shape();
    add_box(s, (double[]){ 0, 0, 0 }, (double[]){ 1, 0.5, 0.5 });
    const double a[3][3] = { { 0.2, 0.2, 0.2 }, { 0.8, 0.3, 0.3 }, { 0.5, 0.1, 0.4 } };
    const double b[3][3] = { { 0.2, 0.2, 0.2 }, { 0.8, 0.3, 0.3 }, { 0.7, 0.1, 0.4 } };
    for (int sweeps = 0; sweeps < 2; sweeps++) {
        static domain_case d;
        cutis_handles_work work;
        init_work(f, sweeps, &work);
        solve_domain_with(f, &work, s, 24, CUTIS_WEIGHTING_FIELD, 1e-12, 3, a, b, &d);
        const cutis_handles_grid *grid = &d.solution.grid;
        cutis_handles_front front;
        uint8_t *core = calloc(grid->voxel_count, 1);
        assert_true(cutis_handles_front_init(&f->arena, grid, &front));
        for (uint32_t h = 0; h < 3; h++)
            cutis_handles_front_start(&front, &d.solution.sites.sites[h], h);
        cutis_handles_front_finish(&front);
        for (size_t c = 0; c < d.solution.sites.core_count; c++)
            core[d.solution.sites.cores[c]] = 1;
        for (uint32_t v = 0; v < grid->voxel_count; v++) {
            double in[3] = { 0 }, total = 0;
            for (size_t k = 0; k < 6 && !core[v]; k++) {
                const uint32_t m = grid->neighbour[6 * (size_t)v + k];
                if (m == CUTIS_HANDLES_NONE) continue;
                const double own = front.distance[v], other = front.distance[m];
                const uint32_t near = own < other || (own == other && v < m) ? v : m;
                const double c = pow(fmax((own + other) / 2, grid->step) / grid->step,
                                     front.label[near] == 2 ? -1 : -2);
                for (size_t h = 0; h < 3; h++)
                    in[h] += c * ((double)d.solution.field.values[3 * (size_t)m + h] -
                                  d.solution.field.values[3 * (size_t)v + h]);
                total += c;
            }
            for (int h = 0; h < 3 && total > 0; h++) assert_near(in[h] / total, 0, 1e-7);
        }
        free(core);
        cutis_handles_work_release(&work);
    }
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(godunovs_step_solves_the_eikonal_equation),
        claim(taps_are_the_b_spline_on_what_hangs_together),
        claim(vertices_keep_their_largest_weights),
        claim(voxels_are_those_a_shape_touches_or_encloses),
        claim(a_line_is_a_row_of_voxels),
        claim(virtual_handles_are_what_they_are_said_to_be),
        claim(fields_are_harmonic_with_conductances_that_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
