// The form of reduction by moments is what docs/spec/reduction.md 2.8 says: values of random
// weights on it against sums over poses, welds and triangles written out here, about the original
// surface and about a reduced one; and the same bits by threads, by width and on a GPU.
#include "fit/reduce/mixed.h"

#include <math.h>
#include <string.h>

#include <cutis/synth.h>

#include "support.h"

enum { VERTICES = 1500, K = 2, POSES = 21, FEW = 5, TRIALS = 4 };

typedef struct body {
    cutis_context *context;
    cutis_arena arena;
    cutis_model *model;
    cutis_device *device, *host;
    cutis_reduce_groups groups;
    cutis_moments m;
    cutis_moments_poses kinds[2];
    double *start;
    uint32_t *place; ///< per unit: the first unit where it is
} body;

static double uniform(uint64_t stream, uint64_t index)
{
    return 2 * cutis_random_unit(77, stream, index) - 1;
}

// Matrices near the identity, all different.
static void make_poses(body *b, uint32_t kind, uint32_t count)
{
    const size_t entries = 12 * (size_t)b->m.control_count;
    double *matrices = cutis_arena_alloc(&b->arena, count, entries * sizeof *matrices);
    assert_non_null(matrices);
    for (size_t i = 0; i < count * entries; i++)
        matrices[i] = (i % 12 % 5 == 0) + (i % 4 == 3 ? 0.1 : 0.35) * uniform(kind, i);
    b->kinds[kind] = (cutis_moments_poses){ matrices, count, 1 + kind, 0.3 - 0.1 * kind };
}

static void random_state(const cutis_moments *m, uint64_t seed, cutis_moments_state *out)
{
    for (uint32_t f = 0; f < m->free_count; f++) {
        const uint32_t n = m->slot_first[f + 1] - m->slot_first[f];
        const uint32_t first = (uint32_t)(cutis_random_unit(5, seed, 3 * f) * n);
        const double weight = cutis_random_unit(5, seed, 3 * f + 1);
        out->count[f] = n > 1 ? 2 : 1;
        out->index[K * (size_t)f] = (uint8_t)first;
        out->index[K * (size_t)f + 1] = (uint8_t)((first + 1) % n);
        out->weight[K * (size_t)f] = n > 1 ? weight : 1;
        out->weight[K * (size_t)f + 1] = 1 - weight;
    }
}

static body make_body(cutis_device_options options, uint32_t limit)
{
    body b = { 0 };
    const cutis_synth_options synth = { .body = CUTIS_BODY_BIPED, .vertex_count = VERTICES };
    assert_int_equal(cutis_context_create(NULL, &b.context), CUTIS_OK);
    b.arena.context = b.context;
    assert_ok(b.context, cutis_synth_create(b.context, &synth, &b.model));
    if (cutis_device_create(b.context, &options, &b.device) != CUTIS_OK) return b;
    assert_ok(b.context, cutis_reduce_groups_create(b.model, NULL, false, &b.arena, &b.groups));
    const cutis_reduce_group *group = &b.groups.group[0];
    b.m = (cutis_moments){
        .context = b.context,
        .device = b.device,
        .group = group,
        .control_count = cutis_model_get(b.model)->skins[group->skin].joint_count,
        .influences = K,
        .limit = limit,
        .roomy = true,
    };
    if (options.kind != CUTIS_DEVICE_CPU) { // its threads are a CPU device's
        const cutis_device_options host = { .thread_count = 2 };
        b.m.gpu = b.device;
        assert_ok(b.context, cutis_device_create(b.context, &host, &b.host));
        b.m.device = b.host;
    }
    assert_ok(b.context, cutis_moments_open(&b.m, &b.arena));
    make_poses(&b, 0, FEW);
    make_poses(&b, 1, POSES);
    b.start = cutis_arena_alloc(&b.arena, b.m.slot_first[b.m.free_count], sizeof *b.start);
    for (uint32_t f = 0; f < b.m.free_count; f++) {
        const uint32_t begin = b.m.slot_first[f], n = b.m.slot_first[f + 1] - begin;
        for (uint32_t i = 0; i < n; i++) b.start[begin + i] = i < 2 && n > 1 ? 0.5 : n == 1;
    }
    b.place = cutis_arena_alloc(&b.arena, group->unit_count, sizeof *b.place);
    for (uint32_t u = 0; u < group->unit_count; u++) {
        uint32_t at = 0;
        while (memcmp(group->positions + 3 * (size_t)at, group->positions + 3 * (size_t)u, 24) != 0)
            at++;
        b.place[u] = at;
    }
    return b;
}

static void free_body(body *b)
{
    cutis_arena_release(&b->arena);
    cutis_device_destroy(b->device);
    cutis_device_destroy(b->host);
    cutis_model_destroy(b->model);
    cutis_context_destroy(b->context);
}

// The definition ----------------------------------------------------------------------------------

static void cross(const double *a, const double *b, double *out)
{
    for (int k = 0; k < 3; k++)
        out[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static double dot(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

// Where weights of candidates take a free unit; `weights` NULL: the original ones, any unit.
static void pose_unit(const body *b, const double *matrices, uint32_t unit, const double *weights,
                      double *out)
{
    const cutis_reduce_group *g = b->m.group;
    const int32_t f = b->m.unit_free[unit];
    const double *p = g->positions + 3 * (size_t)unit;
    memset(out, 0, 3 * sizeof *out);
    for (uint32_t i = g->first[unit]; i < g->first[unit + 1]; i++) {
        double w = weights && f >= 0 ? 0 : g->weight[i];
        for (uint32_t s = b->m.slot_first[f < 0 ? 0 : f];
             weights && f >= 0 && s < b->m.slot_first[f + 1]; s++)
            if (g->first[unit] + b->m.slot[s] == i) w = weights[s];
        const double *a = matrices + 12 * (size_t)g->control[i];
        for (int k = 0; k < 3; k++)
            out[k] +=
                w * (a[4 * k] * p[0] + a[4 * k + 1] * p[1] + a[4 * k + 2] * p[2] + a[4 * k + 3]);
    }
}

// Sums over triangles at places: normals, lengths, what errors (or NULL) do to the normals.
typedef struct surface {
    double *x, *normal, *size, *turn;
} surface;

static surface sum_surface(body *b, const double *matrices, const double *weights)
{
    const size_t units = b->m.group->unit_count;
    surface s = { .x = cutis_arena_zero(&b->arena, units, 24),
                  .normal = cutis_arena_zero(&b->arena, units, 24),
                  .size = cutis_arena_zero(&b->arena, units, 8),
                  .turn = cutis_arena_zero(&b->arena, units, 24) };
    for (uint32_t u = 0; u < units; u++) pose_unit(b, matrices, u, weights, s.x + 3 * (size_t)u);
    return s;
}

static void sum_faces(body *b, surface *s, const double *error)
{
    const cutis_reduce_group *g = b->m.group;
    for (uint32_t t = 0; t < g->triangle_count; t++) {
        const uint32_t *c = g->welded + 3 * (size_t)t;
        double e[2][3], n[3];
        if (b->place[c[0]] == b->place[c[1]] || b->place[c[1]] == b->place[c[2]] ||
            b->place[c[2]] == b->place[c[0]])
            continue;
        for (int k = 0; k < 6; k++)
            e[k / 3][k % 3] = s->x[3 * c[1 + k / 3] + k % 3] - s->x[3 * c[0] + k % 3];
        cross(e[0], e[1], n);
        for (int corner = 0; corner < 3; corner++) {
            const uint32_t at = b->place[c[corner]];
            for (int k = 0; k < 3; k++) s->normal[3 * at + k] += n[k];
            s->size[at] += sqrt(dot(n, n));
            for (int from = 0; from < 3 && error; from++) { // e_u x (next - next but one)
                double edge[3], part[3];
                for (int k = 0; k < 3; k++)
                    edge[k] = s->x[3 * c[(from + 1) % 3] + k] - s->x[3 * c[(from + 2) % 3] + k];
                cross(error + 3 * (size_t)c[from], edge, part);
                for (int k = 0; k < 3; k++) s->turn[3 * at + k] += part[k];
            }
        }
    }
}

// 1e-3 of the mean size of fans that a free unit's triangle touches, in the first pose of all.
static double floor_of(body *b)
{
    const cutis_reduce_group *g = b->m.group;
    surface s = sum_surface(b, b->kinds[0].matrices, NULL);
    uint8_t *touched = cutis_arena_zero(&b->arena, g->unit_count, 1);
    double sum = 0, count = 0;
    sum_faces(b, &s, NULL);
    for (uint32_t t = 0; t < g->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            for (int l = 0; l < 3; l++)
                if (b->m.unit_free[g->welded[3 * t + k]] >= 0)
                    touched[b->place[g->welded[3 * t + l]]] = 1;
    for (uint32_t u = 0; u < g->unit_count; u++)
        if (touched[u]) sum += s.size[u], count++;
    return 1e-3 * sum / count;
}

// What a weld's normal lacks in a pose: squared. about: weights of the surface, or NULL.
static double weld_value(const surface *s, const surface *original, uint32_t at, double floor)
{
    const double *n = s->normal + 3 * (size_t)at, length = sqrt(dot(n, n));
    const double half = original ? 0.5 : 1, size = half * s->size[at];
    const double scale = sqrt(length * length + size * size) + floor;
    double turn[3], unit[3], across[3];
    if (!(length > 0)) return 0;
    for (int k = 0; k < 3; k++) turn[k] = s->turn[3 * at + k] / scale, unit[k] = n[k] / length;
    if (original) { // the way to its normal, as long as the angle
        const double *o = original->normal + 3 * (size_t)at, whole = sqrt(dot(o, o));
        const double most = fmax(length, s->size[at] / 10) / scale;
        double way[3];
        for (int k = 0; k < 3; k++) way[k] = o[k] / whole - unit[k] * dot(unit, o) / whole;
        const double sine = sqrt(dot(way, way)), angle = atan2(sine, dot(unit, o) / whole);
        for (int k = 0; k < 3 && sine > 0; k++) turn[k] -= most * angle * way[k] / sine;
    }
    for (int k = 0; k < 3; k++) across[k] = turn[k] - unit[k] * dot(unit, turn);
    return dot(across, across);
}

// Means over a kind's poses: of what weights do to normals and to positions.
static void kind_values(body *b, uint32_t kind, const double *weights, const double *about,
                        double *normal, double *position)
{
    const cutis_reduce_group *g = b->m.group;
    const double floor = floor_of(b);
    *normal = *position = 0;
    for (uint32_t p = 0; p < b->kinds[kind].count; p++) {
        const double *matrices = b->kinds[kind].matrices + 12 * (size_t)p * b->m.control_count;
        surface s = sum_surface(b, matrices, about), moved = sum_surface(b, matrices, weights),
                original = sum_surface(b, matrices, NULL);
        for (uint32_t i = 0; i < 3 * g->unit_count; i++) moved.x[i] -= s.x[i];
        sum_faces(b, &s, moved.x);
        sum_faces(b, &original, NULL);
        for (uint32_t v = 0; v < g->source_count; v++) { // m_r is the number of vertices
            const uint32_t u = g->unit[v];
            *normal += weld_value(&s, about ? &original : NULL, b->place[u], floor);
            *position += dot(moved.x + 3 * (size_t)u, moved.x + 3 * (size_t)u);
        }
    }
    *normal /= b->kinds[kind].count, *position /= b->kinds[kind].count;
}

static const double *dense(body *b, const cutis_moments_state *state)
{
    double *out = cutis_arena_zero(&b->arena, b->m.slot_first[b->m.free_count], sizeof *out);
    for (uint32_t f = 0; f < b->m.free_count; f++)
        for (uint32_t i = 0; i < state->count[f]; i++)
            out[b->m.slot_first[f] + state->index[K * (size_t)f + i]] =
                state->weight[K * (size_t)f + i];
    return out;
}

static void check_definition(uint32_t limit, bool roomy)
{
    body b = make_body((cutis_device_options){ .thread_count = 2 }, limit);
    cutis_moments_state state, about;
    b.m.roomy = roomy;
    double unit[2][2], normal, position;
    assert_true(cutis_moments_state_create(&b.m, &b.arena, &state));
    assert_true(cutis_moments_state_create(&b.m, &b.arena, &about));
    assert_true(b.m.free_count > 200);
    assert_ok(b.context, cutis_moments_form(&b.m, &b.arena, b.kinds, 2, b.start));
    for (uint32_t k = 0; k < 2; k++) {
        kind_values(&b, k, b.start, NULL, &unit[k][0], &unit[k][1]);
        assert_true(fabs(b.m.unit[k] - unit[k][0]) < 1e-9 * unit[k][0]);
    }
    b.kinds[0].normal = 0.7; // mixed again
    assert_ok(b.context, cutis_moments_form(&b.m, &b.arena, b.kinds, 2, b.start));
    for (uint64_t trial = 0; trial < 2 * TRIALS; trial++) {
        const bool bent = trial >= TRIALS;
        double expected = 0;
        random_state(&b.m, trial, &state);
        if (trial == TRIALS) {
            random_state(&b.m, 99, &about);
            assert_ok(b.context, cutis_moments_bend(&b.m, &b.arena, b.kinds, 2, &about));
        }
        for (uint32_t k = 0; k < 2; k++) {
            kind_values(&b, k, dense(&b, &state), bent ? dense(&b, &about) : NULL, &normal,
                        &position);
            expected += b.kinds[k].normal * normal / unit[k][0];
            kind_values(&b, k, dense(&b, &state), NULL, &normal, &position);
            expected += b.kinds[k].position * position / unit[k][1];
        }
        const double value = cutis_moments_energy(&b.m, &state);
        if (!(fabs(value - expected) < 1e-7 * expected))
            fail_msg("trial %d: %.12g, by definition %.12g", (int)trial, value, expected);
    }
    free_body(&b);
}

static void the_form_is_what_its_definition_says(void **state)
{
    (void)state;
    check_definition(CUTIS_MOMENTS_WIDE, true);
}

static void with_candidates_cut_and_no_room_too(void **state)
{
    (void)state;
    check_definition(3, false);
}

// Both forms made by one thread without vectors and by another device: the same bits.
static void check_same_bits(cutis_device_options options)
{
    body here = make_body((cutis_device_options){ .thread_count = 1, .isa = CUTIS_ISA_SCALAR },
                          CUTIS_MOMENTS_WIDE),
         there = make_body(options, CUTIS_MOMENTS_WIDE), *both[2] = { &here, &there };
    if (!there.device) {
        print_message("skip: %s\n", cutis_context_error(there.context));
        free_body(&here), free_body(&there);
        skip();
    }
    for (int bent = 0; bent < 2; bent++) {
        for (int i = 0; i < 2; i++) {
            cutis_moments_state state;
            body *b = both[i];
            assert_true(cutis_moments_state_create(&b->m, &b->arena, &state));
            random_state(&b->m, 3, &state);
            assert_ok(b->context,
                      bent ? cutis_moments_bend(&b->m, &b->arena, b->kinds, 2, &state)
                           : cutis_moments_form(&b->m, &b->arena, b->kinds, 2, b->start));
        }
        assert_memory_equal(here.m.value, there.m.value, here.m.value_count * sizeof(double));
        assert_memory_equal(here.m.place, there.m.place,
                            here.m.place_first[here.m.free_count] * sizeof(double));
        assert_memory_equal(here.m.unit, there.m.unit, sizeof here.m.unit);
        assert_memory_equal(&here.m.constant, &there.m.constant, sizeof(double));
        if (bent)
            assert_memory_equal(here.m.linear, there.m.linear,
                                here.m.slot_first[here.m.free_count] * sizeof(double));
    }
    free_body(&here), free_body(&there);
}

static void threads_and_widths_give_the_same_bits(void **state)
{
    (void)state;
    check_same_bits((cutis_device_options){ .thread_count = 3 });
    check_same_bits((cutis_device_options){ .thread_count = 2, .isa = CUTIS_ISA_AVX2 });
}

static void a_gpu_gives_the_same_bits(void **state)
{
    (void)state;
    check_same_bits((cutis_device_options){ .kind = gpu_kind() });
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_form_is_what_its_definition_says),
        cmocka_unit_test(with_candidates_cut_and_no_room_too),
        cmocka_unit_test(threads_and_widths_give_the_same_bits),
        cmocka_unit_test(a_gpu_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
