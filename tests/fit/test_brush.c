// The weight brush against its definition (docs/spec/brush.md), written down here once more in
// dense form: a weight for every joint, no lists. Distances against the plane, the cylinder and a
// slab.
#include "support.h"

enum { JOINTS = 6, SIDE = 21, VERTICES = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };

// A sheet of SIDE x SIDE vertices, one unit apart in its plane, bent by `place`.
typedef struct {
    cutis_context *context;
    cutis_model *model;
    cutis_painting *painting;
    float rest[3 * VERTICES];
} sheet;

typedef void (*placing)(double u, double v, float *out);
static void flat(double u, double v, float *out)
{
    out[0] = (float)u, out[1] = (float)v, out[2] = 0;
}
static void cylinder(double u, double v, float *out) // radius 5: the sheet goes round 4 of 2 pi
{
    out[0] = (float)(5 * sin(u / 5)), out[1] = (float)v, out[2] = (float)(5 * cos(u / 5));
}
static void folded(double u, double v,
                   float *out) // a slab: up to u = 0 the front, 0.2 behind it the back
{
    out[0] = (float)fabs(u), out[1] = (float)v, out[2] = u < 0 ? 0.2f : 0;
}

static void seamed(double u, double v, float *out) // columns 10 and 11 are at the same place
{
    flat(u > 0 ? u - 1 : u, v, out);
}

static void fill_weights(uint32_t seed, uint32_t *first, uint32_t *joints, float *weights)
{
    uint32_t used = 0;
    for (uint32_t v = 0; v < VERTICES; v++) {
        first[v] = used;
        for (uint32_t j = 0; j < JOINTS; j++) {
            const double w = seed ? random_in(seed, (uint64_t)v * JOINTS + j, -1, 1) : j == 0;
            if (w <= 0 && (j || used > first[v])) continue;
            joints[used] = j;
            weights[used++] = (float)(w > 0 ? w : 0.5);
        }
    }
    first[VERTICES] = used;
}

static sheet *make_sheet(placing place, uint32_t seed)
{
    static const char *const NAMES[] = { "root", "arm_l", "arm_r", "LeftLeg", "RightLeg", "tail" };
    static uint32_t indices[3 * TRIANGLES], first[VERTICES + 1], joints[VERTICES * JOINTS],
        list[] = { 0, 1, 2, 3, 4, 5 };
    static float weights[VERTICES * JOINTS];
    sheet *s = calloc(1, sizeof *s);
    for (int i = 0; i < VERTICES; i++)
        place(i % SIDE - (SIDE - 1) / 2.0, i / SIDE - (SIDE - 1) / 2.0, s->rest + 3 * i);
    uint32_t *to = indices;
    for (uint32_t y = 0; y + 1 < SIDE; y++)
        for (uint32_t x = 0; x + 1 < SIDE; x++) {
            const uint32_t a = y * SIDE + x, b = a + 1, c = a + SIDE, d = c + 1;
            const uint32_t two[6] = { a, b, d, a, d, c };
            memcpy(to, two, sizeof two);
            to += 6;
        }
    fill_weights(seed, first, joints, weights);
    cutis_primitive part = cutis_primitive_default();
    part.vertex_count = VERTICES, part.positions = s->rest, part.material = CUTIS_NONE;
    part.index_count = 3 * TRIANGLES, part.indices = indices;
    part.influences = (cutis_influences){ first, joints, weights };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &part };
    cutis_node nodes[JOINTS + 1];
    for (int n = 0; n <= JOINTS; n++) nodes[n] = cutis_node_default();
    for (int n = 0; n < JOINTS; n++) nodes[n].name = NAMES[n], nodes[n].parent = n ? 0 : CUTIS_NONE;
    nodes[JOINTS].mesh = nodes[JOINTS].skin = 0;
    cutis_skin skin = { .joint_count = JOINTS, .joints = list, .root = CUTIS_NONE };
    const cutis_model_data data = { .node_count = JOINTS + 1,
                                    .nodes = nodes,
                                    .mesh_count = 1,
                                    .meshes = &mesh,
                                    .skin_count = 1,
                                    .skins = &skin };
    assert_int_equal(cutis_context_create(NULL, &s->context), CUTIS_OK);
    assert_ok(s->context, cutis_model_create(s->context, &data, CUTIS_GATE_REFUSE, &s->model));
    assert_ok(s->context, cutis_painting_create(s->model, s->rest, &s->painting));
    return s;
}

static void free_sheet(sheet *s)
{
    cutis_painting_destroy(s->painting);
    cutis_model_destroy(s->model);
    assert_int_equal(cutis_context_memory(s->context), 0);
    cutis_context_destroy(s->context);
    free(s);
}

/// At a vertex: the corner of a triangle that has it.
static cutis_surface_point at_vertex(uint32_t x, uint32_t y)
{
    return (cutis_surface_point){ .triangle = 2 * (y * (SIDE - 1) + x), .corners = { 1, 0, 0 } };
}

static void dense(const sheet *s, uint32_t v, double *w)
{
    uint32_t joints[64];
    double weights[64];
    for (int j = 0; j < JOINTS; j++) w[j] = 0;
    const uint32_t count = cutis_painting_influences(s->painting, v, joints, weights);
    for (uint32_t k = 0; k < count; k++) w[joints[k]] = weights[k];
}

static double weight_of(const sheet *s, uint32_t v, uint32_t joint)
{
    double w[JOINTS];
    dense(s, v, w);
    return w[joint];
}

static double soft(double distance, double radius)
{
    const double part = distance / radius;
    return part < 1 ? (1 - part * part) * (1 - part * part) : 0;
}

// Distances -------------------------------------------------------------------------------------

static void on_a_plane_the_brush_is_round_to_the_last_digits(void **state)
{
    (void)state;
    sheet *s = make_sheet(flat, 0);
    const cutis_brush brush = { .joint = 5, .radius = 6.5, .strength = 0.8 };
    const cutis_surface_point at = { .triangle = 2 * (9 * (SIDE - 1) + 11),
                                     .corners = { 0.3, 0.5, 0.2 } };
    const double x = 11 + 0.5 + 0.2, y = 9 + 0.2; // corners a, b, d
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    for (uint32_t v = 0; v < VERTICES; v++) {
        const double d = hypot(v % SIDE - x, v / SIDE - y);
        const double wanted = 0.8 * soft(d, 6.5);
        assert_near(weight_of(s, v, 5), wanted < 0.5 / 65535 ? 0 : wanted, 1e-9);
    }
    free_sheet(s);
}

static void on_a_cylinder_the_brush_follows_the_surface_within_two_percent(void **state)
{
    (void)state;
    sheet *s = make_sheet(cylinder, 0);
    const double radius = 9;
    const cutis_brush brush = { .joint = 5, .radius = radius, .strength = 1 };
    const cutis_surface_point at = at_vertex(10, 10);
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    int seen = 0;
    for (uint32_t v = 0; v < VERTICES; v++) {
        const double w = weight_of(s, v, 5), d = hypot(v % SIDE - 10.0, v / SIDE - 10.0);
        if (!(w > 1e-3) || d < 1) continue;
        assert_near(radius * sqrt(1 - sqrt(w)), d, 0.02 * d);
        seen++;
    }
    assert_true(seen > 200);
    free_sheet(s);
}

static void the_back_of_a_slab_is_far_from_its_front(void **state)
{
    (void)state;
    sheet *s = make_sheet(folded, 0);
    const cutis_brush brush = { .joint = 5, .radius = 5, .strength = 1 };
    const cutis_surface_point at = at_vertex(17, 10); // u = 7, the edge at 0, the back 0.2 away
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    uint32_t front = 0;
    for (uint32_t v = 0; v < VERTICES; v++) {
        if (v % SIDE < 10) assert_true(weight_of(s, v, 5) == 0);
        front += weight_of(s, v, 5) > 0;
    }
    assert_true(front > 40);
    free_sheet(s);
}

// The definition, dense -------------------------------------------------------------------------

typedef struct {
    double w[VERTICES][JOINTS];
} weights;

static void read_all(const sheet *s, weights *all)
{
    for (uint32_t v = 0; v < VERTICES; v++) dense(s, v, all->w[v]);
}

/// Crumbs, the limit and the sum: sections 2.1 and 2.5.
static void define_tidy(double *w, const bool *locked, int own, int most)
{
    double free_weight = 1, sum = 0, largest = 0;
    int count = 0;
    for (int j = 0; j < JOINTS; j++) largest = locked[j] ? largest : fmax(largest, w[j]);
    for (int j = 0; j < JOINTS; j++) {
        if (locked[j]) free_weight -= w[j];
        if (!locked[j] && w[j] < 0.5 / 65535 && w[j] < largest) w[j] = 0;
        count += w[j] > 0;
    }
    for (; count > most; count--) {
        int worst = -1, open = 0;
        for (int j = 0; j < JOINTS; j++) {
            open += !locked[j] && w[j] > 0;
            if (!locked[j] && j != own && w[j] > 0 && (worst < 0 || w[j] <= w[worst])) worst = j;
        }
        if (worst < 0 || open == 1) break;
        w[worst] = 0;
    }
    for (int j = 0; j < JOINTS; j++) sum += locked[j] ? 0 : w[j];
    for (int j = 0; j < JOINTS; j++)
        if (!locked[j] && sum > 0) w[j] *= free_weight / sum;
}

static void define_give(double *w, const bool *locked, int joint, double by)
{
    double free_weight = 1, others = 0;
    if (locked[joint]) return;
    for (int j = 0; j < JOINTS; j++) {
        if (locked[j]) free_weight -= w[j];
        if (!locked[j] && j != joint) others += w[j];
    }
    const double now = fmin(free_weight, fmax(0, w[joint] + by));
    if (others > 0) {
        for (int j = 0; j < JOINTS; j++)
            if (!locked[j] && j != joint) w[j] *= (free_weight - now) / others;
        w[joint] = now;
    } else if (now < w[joint] && joint != 0 && !locked[0]) { // node 0 is above all others
        w[0] = free_weight - now;
        w[joint] = now;
    }
}

static void define_lead(double *w, const double *goal, const bool *locked, double part)
{
    double free_weight = 1, sum = 0, next[JOINTS];
    for (int j = 0; j < JOINTS; j++) {
        next[j] = locked[j] ? w[j] : fmax(0, (1 - part) * w[j] + part * goal[j]);
        if (locked[j])
            free_weight -= w[j];
        else
            sum += next[j];
    }
    for (int j = 0; j < JOINTS && sum > 0; j++)
        w[j] = locked[j] ? w[j] : next[j] * free_weight / sum;
}

static void define_mean(const weights *all, uint32_t v, double *mean)
{
    const int x = (int)(v % SIDE), y = (int)(v / SIDE);
    static const int AROUND[6][2] = {
        { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 }, { 1, 1 }, { -1, -1 }
    };
    int count = 0;
    for (int j = 0; j < JOINTS; j++) mean[j] = 0;
    for (int i = 0; i < 6; i++) {
        const int nx = x + AROUND[i][0], ny = y + AROUND[i][1];
        if (nx < 0 || ny < 0 || nx >= SIDE || ny >= SIDE) continue;
        for (int j = 0; j < JOINTS; j++) mean[j] += all->w[ny * SIDE + nx][j];
        count++;
    }
    for (int j = 0; j < JOINTS; j++) mean[j] /= count;
}

static void define_dab(weights *all, const weights *toward, const cutis_brush *b, double x,
                       double y)
{
    const weights before = *all;
    for (uint32_t v = 0; v < VERTICES; v++) {
        const double d = hypot(v % SIDE - x, v / SIDE - y);
        const double amount =
            b->even ? (d < b->radius ? b->strength : 0) : b->strength * soft(d, b->radius);
        double mean[JOINTS], *w = all->w[v];
        if (!(amount > 0)) continue;
        define_mean(&before, v, mean);
        switch (b->kind) {
        case CUTIS_BRUSH_ADD:
            define_give(w, b->locked, (int)b->joint, amount);
            break;
        case CUTIS_BRUSH_SUBTRACT:
            define_give(w, b->locked, (int)b->joint, -amount);
            break;
        case CUTIS_BRUSH_SMOOTH:
            define_lead(w, mean, b->locked, amount);
            break;
        case CUTIS_BRUSH_SHARPEN:
            define_lead(w, mean, b->locked, -amount);
            break;
        default:
            define_lead(w, toward->w[v], b->locked, amount);
        }
        define_tidy(w, b->locked, b->kind == CUTIS_BRUSH_ADD ? (int)b->joint : -1,
                    b->influences ? (int)b->influences : JOINTS);
    }
}

static double unlike(const sheet *s, const weights *wanted)
{
    weights got;
    double most = 0;
    read_all(s, &got);
    for (uint32_t v = 0; v < VERTICES; v++)
        for (int j = 0; j < JOINTS; j++) most = fmax(most, fabs(got.w[v][j] - wanted->w[v][j]));
    return most;
}

static void four_hundred_random_dabs_are_what_the_definition_makes(void **state)
{
    (void)state;
    sheet *s = make_sheet(flat, 3), *other = make_sheet(flat, 9);
    static weights wanted, toward;
    read_all(s, &wanted);
    read_all(other, &toward);
    int kinds[5] = { 0 };
    for (uint64_t i = 0; i < 400; i++) {
        bool locked[JOINTS + 1] = { false };
        for (int j = 0; j < JOINTS; j++)
            locked[j] = random_in(20, 8 * i + (uint64_t)j, 0, 1) < 0.15;
        const uint32_t x = (uint32_t)random_in(21, i, 0, SIDE - 1),
                       y = (uint32_t)random_in(22, i, 0, SIDE - 1);
        const cutis_brush brush = { .kind = (cutis_brush_kind)(i % 5),
                                    .joint = (uint32_t)random_in(23, i, 0, JOINTS),
                                    .radius = random_in(24, i, 0.5, 7),
                                    .strength = random_in(25, i, 0, 1),
                                    .even = random_in(26, i, 0, 1) < 0.2,
                                    .influences = (uint32_t)random_in(27, i, 0, 5),
                                    .locked = locked,
                                    .toward = other->painting };
        const cutis_surface_point at = at_vertex(x, y);
        assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
        define_dab(&wanted, &toward, &brush, x, y);
        kinds[brush.kind]++;
        assert_near(unlike(s, &wanted), 0, 1e-11);
        read_all(s, &wanted); // so that rounding does not decide a tie differently later
    }
    for (uint32_t v = 0; v < VERTICES; v++) {
        double sum = 0;
        for (int j = 0; j < JOINTS; j++) sum += wanted.w[v][j];
        assert_near(sum, 1, 1e-12);
    }
    free_sheet(s);
    free_sheet(other);
}

static void a_stroke_of_pure_joint_goes_to_the_one_above_or_stays(void **state)
{
    (void)state;
    sheet *s = make_sheet(flat, 0);
    bool locked[JOINTS + 1] = { false };
    cutis_brush brush = { .joint = 5, .radius = 3, .strength = 1, .even = true };
    const cutis_surface_point at = at_vertex(10, 10);
    const uint32_t v = 10 * SIDE + 10;
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    assert_true(weight_of(s, v, 5) == 1);
    brush.kind = CUTIS_BRUSH_SUBTRACT, brush.strength = 0.25, brush.locked = locked;
    locked[0] = true; // nobody may take it
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    assert_true(weight_of(s, v, 5) == 1);
    locked[0] = false;
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    assert_near(weight_of(s, v, 5), 0.75, 1e-15);
    assert_near(weight_of(s, v, 0), 0.25, 1e-15);
    free_sheet(s);
}

// Both sides, strokes, models -------------------------------------------------------------------

static void mirrored_dabs_paint_both_sides_for_the_joints_that_are_there(void **state)
{
    (void)state;
    sheet *s = make_sheet(flat, 0);
    assert_int_equal(cutis_painting_opposite(s->painting, 1), 2);
    assert_int_equal(cutis_painting_opposite(s->painting, 4), 3);
    assert_int_equal(cutis_painting_opposite(s->painting, 5), 5);
    cutis_brush brush = { .joint = 1, .radius = 4, .strength = 0.7, .mirror = true };
    const cutis_surface_point at = at_vertex(15, 8);
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    brush.joint = 5;
    const cutis_surface_point middle = at_vertex(11, 14); // both dabs meet in the middle
    assert_ok(s->context, cutis_painting_dab(s->painting, &middle, &brush));
    for (uint32_t v = 0; v < VERTICES; v++) {
        double own[JOINTS], image[JOINTS];
        dense(s, v, own);
        dense(s, v / SIDE * SIDE + SIDE - 1 - v % SIDE, image);
        for (int j = 0; j < JOINTS; j++)
            assert_near(own[j], image[cutis_painting_opposite(s->painting, (uint32_t)j)], 1e-9);
    }
    assert_near(weight_of(s, 8 * SIDE + 5, 2), 0.7, 1e-12);
    assert_near(weight_of(s, 14 * SIDE + 11, 5), 0.7, 1e-12); // once, not twice
    free_sheet(s);
}

/// A copy of what a painting tells of a stroke.
static cutis_stroke keep(cutis_painting *painting, cutis_context *context)
{
    cutis_stroke s;
    assert_ok(context, cutis_painting_stroke(painting, &s));
    const size_t n = s.vertex_count, total = s.first[n];
    void *copies[4] = { malloc(4 * n + 4), malloc(4 * n + 4), malloc(4 * total + 4),
                        malloc(8 * total + 8) };
    memcpy(copies[0], s.vertices, 4 * n);
    memcpy(copies[1], s.first, 4 * n + 4);
    memcpy(copies[2], s.joints, 4 * total);
    memcpy(copies[3], s.weights, 8 * total);
    return (cutis_stroke){ s.vertex_count, copies[0], copies[1], copies[2], copies[3] };
}
static void let_go(cutis_stroke *s)
{
    free((void *)s->vertices), free((void *)s->first), free((void *)s->joints),
        free((void *)s->weights);
}

static void strokes_put_again_are_the_same_bits_and_without_the_last_one_it_is_undone(void **state)
{
    (void)state;
    sheet *s = make_sheet(flat, 4);
    weights after[4];
    cutis_stroke strokes[3];
    read_all(s, &after[0]);
    for (uint32_t i = 0; i < 3; i++) {
        for (uint32_t k = 0; k < 5; k++) {
            const cutis_brush brush = {
                .kind = (cutis_brush_kind)(i % 4), .joint = i, .radius = 3 + i, .strength = 0.4
            };
            const cutis_surface_point at = at_vertex(5 + 2 * k, 4 + 4 * i);
            assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
        }
        strokes[i] = keep(s->painting, s->context);
        assert_true(strokes[i].vertex_count > 20);
        read_all(s, &after[i + 1]);
    }
    for (uint32_t wanted = 0; wanted < 4; wanted++) {
        cutis_painting_reset(s->painting);
        for (uint32_t i = 0; i < wanted; i++)
            assert_ok(s->context, cutis_painting_put(s->painting, &strokes[i]));
        assert_true(unlike(s, &after[wanted]) == 0);
    }
    cutis_stroke nothing;
    assert_ok(s->context, cutis_painting_stroke(s->painting, &nothing));
    assert_int_equal(nothing.vertex_count, 0);
    uint32_t *bad = (uint32_t *)strokes[0].joints, kept = bad[1];
    bad[1] = JOINTS;
    assert_int_equal(cutis_painting_put(s->painting, &strokes[0]), CUTIS_INVALID_ARGUMENT);
    bad[1] = kept;
    for (int i = 0; i < 3; i++) let_go(&strokes[i]);
    free_sheet(s);
}

static void the_model_has_what_was_painted_and_the_bits_of_everything_else(void **state)
{
    (void)state;
    sheet *s = make_sheet(flat, 4);
    const cutis_brush brush = { .joint = 2, .radius = 4, .strength = 1, .influences = 3 };
    const cutis_surface_point at = at_vertex(6, 6);
    uint32_t count, painted = 0;
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    const uint32_t *changed = cutis_painting_changed(s->painting, &count);
    bool is[VERTICES] = { false };
    for (uint32_t i = 0; i < count; i++) is[changed[i]] = true;
    (void)cutis_painting_changed(s->painting, &count);
    assert_int_equal(count, 0);
    cutis_model *made;
    assert_ok(s->context, cutis_painting_finish(s->painting, &made));
    const cutis_influences *old = &cutis_model_get(s->model)->meshes[0].primitives[0].influences;
    const cutis_influences *now = &cutis_model_get(made)->meshes[0].primitives[0].influences;
    float heat[VERTICES];
    cutis_painting_weights(s->painting, 2, heat);
    for (uint32_t v = 0; v < VERTICES; v++) {
        const uint32_t n = now->first[v + 1] - now->first[v];
        float own = 0;
        for (uint32_t k = now->first[v]; k < now->first[v + 1]; k++)
            if (now->joints[k] == 2) own = now->weights[k];
        painted += is[v];
        if (is[v]) {
            assert_true(n <= 3 && own == heat[v]);
            continue;
        }
        assert_int_equal(n, old->first[v + 1] - old->first[v]);
        assert_memory_equal(now->joints + now->first[v], old->joints + old->first[v], 4 * n);
        assert_memory_equal(now->weights + now->first[v], old->weights + old->first[v], 4 * n);
    }
    assert_true(painted > 30 && painted < 60); // a disc of radius 4
    cutis_model_destroy(made);
    free_sheet(s);
}

static void copies_at_a_seam_stay_alike_and_the_brush_goes_across(void **state)
{
    (void)state;
    sheet *s = make_sheet(seamed, 4);
    const cutis_brush brush = { .joint = 5, .radius = 4, .strength = 0.5 };
    const cutis_surface_point at = at_vertex(8, 10);
    assert_ok(s->context, cutis_painting_dab(s->painting, &at, &brush));
    for (uint32_t y = 8; y < 13; y++) {
        double a[JOINTS], b[JOINTS];
        dense(s, y * SIDE + 10, a);
        dense(s, y * SIDE + 11, b);
        assert_memory_equal(a, b, sizeof a);
    }
    static weights before;
    sheet *fresh = make_sheet(seamed, 4);
    read_all(fresh, &before);
    const double there = before.w[10 * SIDE + 12][5]; // u = 1: 3 from the middle of the dab
    assert_near(weight_of(s, 10 * SIDE + 12, 5), fmin(1, there + 0.5 * soft(3, 4)), 1e-9);
    free_sheet(fresh);
    free_sheet(s);
}

static void brushes_that_there_are_not_are_refused(void **state)
{
    (void)state;
    sheet *s = make_sheet(flat, 4);
    static weights before;
    read_all(s, &before);
    const cutis_surface_point good = at_vertex(3, 3), bad = { .triangle = TRIANGLES };
    const cutis_brush fine = { .radius = 1, .strength = 1 };
    cutis_brush wrong[] = { fine, fine, fine, fine, fine, fine, fine };
    wrong[0].radius = 0, wrong[1].radius = NAN, wrong[2].strength = 1.1,
    wrong[3].kind = (cutis_brush_kind)5;
    wrong[4].joint = 99, wrong[5].influences = 65, wrong[6].kind = CUTIS_BRUSH_TOWARD;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(cutis_painting_dab(s->painting, &good, &wrong[i]), CUTIS_INVALID_ARGUMENT);
    assert_int_equal(cutis_painting_dab(s->painting, &bad, &fine), CUTIS_INVALID_ARGUMENT);
    assert_true(unlike(s, &before) == 0);
    free_sheet(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_a_plane_the_brush_is_round_to_the_last_digits),
        cmocka_unit_test(on_a_cylinder_the_brush_follows_the_surface_within_two_percent),
        cmocka_unit_test(the_back_of_a_slab_is_far_from_its_front),
        cmocka_unit_test(four_hundred_random_dabs_are_what_the_definition_makes),
        cmocka_unit_test(a_stroke_of_pure_joint_goes_to_the_one_above_or_stays),
        cmocka_unit_test(mirrored_dabs_paint_both_sides_for_the_joints_that_are_there),
        cmocka_unit_test(strokes_put_again_are_the_same_bits_and_without_the_last_one_it_is_undone),
        cmocka_unit_test(the_model_has_what_was_painted_and_the_bits_of_everything_else),
        cmocka_unit_test(copies_at_a_seam_stay_alike_and_the_brush_goes_across),
        cmocka_unit_test(brushes_that_there_are_not_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
