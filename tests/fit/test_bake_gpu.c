// Baking on a GPU (OpenCL, on a CPU where there is none): the whole of a solve has the bits of the
// host's, with normals, with few influences and many, with a mask and without joints.
#include "support.h"

#include "fit/bake/gpu.h"
#include "fit/bake/solver.h"

enum { POINTS = 4200, FRAMES = 61, STRIDE = 64, JOINTS = 4, GIVEN = 2 };
_Static_assert((size_t)POINTS *STRIDE >= 1u << 18, "enough for a GPU");

typedef struct fixture {
    cutis_context *context;
    cutis_device *device;
    double *positions, *normals, *mass, *joints, *weight;
    float *targets, *turns;
    uint32_t *first, *joint;
    cutis_bake_problem problem;
    cutis_arena arena;
} fixture;

// A turn about z and about x, growing over the frames, and a small shift.
static void turn_of(uint32_t joint, uint32_t frame, double *m)
{
    const double a = 0.02 * joint * frame, b = 0.3 * sin(0.2 * frame + joint);
    const double r[9] = { cos(a), -sin(a) * cos(b), sin(a) * sin(b),
                          sin(a), cos(a) * cos(b),  -cos(a) * sin(b),
                          0,      sin(b),           cos(b) };
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 3; j++) m[4 * i + j] = r[3 * i + j];
        m[4 * i + 3] = 0.01 * joint * sin(0.1 * frame + (double)i);
    }
}

static void make_points(fixture *f)
{
    for (uint32_t i = 0; i < POINTS; i++) { // a tube along x
        const double angle = 0.7 * i, along = (double)i / POINTS * JOINTS;
        double *p = f->positions + 3 * (size_t)i, *n = f->normals + 3 * (size_t)i;
        n[0] = 0, n[1] = cos(angle), n[2] = sin(angle);
        p[0] = along, p[1] = 0.3 * n[1], p[2] = 0.3 * n[2];
        f->mass[i] = 1 + i % 3;
        const uint32_t near = (uint32_t)along, next = near + 1 < JOINTS ? near + 1 : near - 1;
        f->first[i + 1] = f->first[i] + GIVEN;
        f->joint[GIVEN * i] = near, f->weight[GIVEN * i] = 0.75;
        f->joint[GIVEN * i + 1] = next, f->weight[GIVEN * i + 1] = 0.25;
    }
}

// What linear blending cannot: joints turn the tube, and it swells. Its normals are as plain
// blending has them, so that other weights turn them off.
static void make_targets(fixture *f)
{
    for (uint32_t t = 0; t < FRAMES; t++) {
        double m[JOINTS][12];
        for (uint32_t b = 0; b < JOINTS; b++) {
            turn_of(b, t, m[b]);
            for (size_t i = 0; i < 3; i++)
                for (size_t j = 0; j < 4; j++)
                    f->joints[(12 * (size_t)b + 3 * j + i) * STRIDE + t] = m[b][4 * i + j];
        }
        for (uint32_t i = 0; i < POINTS; i++) {
            const double *p = f->positions + 3 * (size_t)i, *n = f->normals + 3 * (size_t)i;
            const double *own = m[f->joint[GIVEN * i]];
            const double swell = 1 + 0.2 * sin(0.15 * t) * cos(2 * p[0]);
            for (size_t c = 0; c < 3; c++) {
                const size_t at = (3 * (size_t)i + c) * STRIDE + t;
                const double *row = own + 4 * c;
                f->targets[at] =
                    (float)(row[0] * p[0] + swell * (row[1] * p[1] + row[2] * p[2]) + row[3]);
                const double *beside = m[f->joint[GIVEN * i + 1]] + 4 * c;
                f->turns[at] =
                    (float)(0.75 * (row[0] * n[0] + row[1] * n[1] + row[2] * n[2]) +
                            0.25 * (beside[0] * n[0] + beside[1] * n[1] + beside[2] * n[2]));
            }
        }
    }
}

static void open_fixture(fixture *f)
{
    memset(f, 0, sizeof *f);
    assert_int_equal(cutis_context_create(NULL, &f->context), CUTIS_OK);
    f->arena.context = f->context;
    f->positions = cutis_arena_zero(&f->arena, POINTS, 3 * sizeof(double));
    f->normals = cutis_arena_zero(&f->arena, POINTS, 3 * sizeof(double));
    f->mass = cutis_arena_zero(&f->arena, POINTS, sizeof(double));
    f->joints = cutis_arena_zero(&f->arena, (size_t)JOINTS * 12 * STRIDE, sizeof(double));
    f->weight = cutis_arena_zero(&f->arena, (size_t)POINTS * GIVEN, sizeof(double));
    f->joint = cutis_arena_zero(&f->arena, (size_t)POINTS * GIVEN, sizeof(uint32_t));
    f->first = cutis_arena_zero(&f->arena, POINTS + 1, sizeof(uint32_t));
    f->targets = cutis_arena_zero(&f->arena, (size_t)POINTS * 3 * STRIDE, sizeof(float));
    f->turns = cutis_arena_zero(&f->arena, (size_t)POINTS * 3 * STRIDE, sizeof(float));
    make_points(f);
    make_targets(f);
    f->problem = (cutis_bake_problem){ .context = f->context,
                                       .point_count = POINTS,
                                       .frame_count = FRAMES,
                                       .joint_count = JOINTS,
                                       .stride = STRIDE,
                                       .positions = f->positions,
                                       .targets = f->targets,
                                       .normals = f->normals,
                                       .turns = f->turns,
                                       .worth = 0.02,
                                       .joints = f->joints,
                                       .mass = f->mass,
                                       .first = f->first,
                                       .joint = f->joint,
                                       .weight = f->weight,
                                       .helper_count = 2,
                                       .influences = 4,
                                       .affinity = 3e-4,
                                       .prior = 1e-4 };
}

static void close_fixture(fixture *f)
{
    cutis_arena_release(&f->arena);
    cutis_context_destroy(f->context);
}

static void solve_on(fixture *f, cutis_device_kind kind, cutis_bake_solution *s)
{
    cutis_device *device = NULL;
    if (cutis_device_create(f->context, &(cutis_device_options){ .kind = kind }, &device)) {
        print_message("skip: no GPU: %s\n", cutis_context_error(f->context));
        skip();
    }
    f->problem.device = device;
    assert_ok(f->context, cutis_bake_solve(&f->problem, &f->arena, s));
    cutis_device_destroy(device);
}

static void compare(fixture *f)
{
    cutis_bake_solution host = { 0 }, gpu = { 0 };
    const size_t slots = (size_t)POINTS * f->problem.influences;
    solve_on(f, gpu_kind(), &gpu);
    solve_on(f, CUTIS_DEVICE_CPU, &host);
    assert_int_equal(host.helper_count, 2);
    assert_int_equal(gpu.helper_count, host.helper_count);
    assert_memory_equal(gpu.helpers, host.helpers, 2 * 12 * STRIDE * sizeof(double));
    assert_memory_equal(gpu.count, host.count, POINTS);
    assert_memory_equal(gpu.residual, host.residual, POINTS * sizeof(double));
    assert_memory_equal(gpu.plain, host.plain, POINTS * sizeof(double));
    assert_memory_equal(gpu.turn, host.turn, POINTS * sizeof(double));
    assert_memory_equal(gpu.plain_turn, host.plain_turn, POINTS * sizeof(double));
    for (size_t k = 0; k < slots; k++) {
        if (k % f->problem.influences >= host.count[k / f->problem.influences]) continue;
        assert_int_equal(gpu.bone[k], host.bone[k]);
        assert_memory_equal(&gpu.weight[k], &host.weight[k], sizeof(double));
    }
    double now = 0, own = 0, turn = 0; // it is a solve of something, and of normals too
    for (uint32_t i = 0; i < POINTS; i++)
        now += host.residual[i], own += host.plain[i], turn += host.turn[i];
    if (f->problem.first) assert_true(now < 0.5 * own);
    if (f->problem.turns) assert_true(turn > 0);
}

static void a_solve_on_a_gpu_has_the_bits_of_the_host(void **state)
{
    (void)state;
    fixture f;
    if (LIGHT) { // the next one takes the same steps
        print_message("skip: too long under sanitizers, ./dev soak runs it\n");
        skip();
    }
    open_fixture(&f);
    compare(&f);
    close_fixture(&f);
}

static void more_than_four_influences_too(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    f.problem.influences = 6, f.problem.prior = 0;
    compare(&f);
    close_fixture(&f);
}

static void and_bones_from_nothing(void **state)
{
    (void)state;
    fixture f;
    open_fixture(&f);
    f.problem.joint_count = 0, f.problem.first = NULL;
    f.problem.normals = NULL, f.problem.turns = NULL;
    compare(&f);
    close_fixture(&f);
}

// Below it nothing would be compared: a level of this size has to be opened on the device.
static void a_level_of_this_size_is_opened(void **state)
{
    (void)state;
    fixture f;
    cutis_device *device = NULL;
    open_fixture(&f);
    if (cutis_device_create(f.context, &(cutis_device_options){ .kind = gpu_kind() }, &device)) {
        print_message("skip: no GPU: %s\n", cutis_context_error(f.context));
        skip();
    }
    f.problem.device = device, f.problem.joint_count = 0;
    const uint32_t *none = cutis_arena_zero(&f.arena, POINTS + 1, sizeof *none);
    cutis_bake_level level = {
        .count = POINTS, .joint_first = none, .joint_near = none, .joint = none
    };
    cutis_bake_work work = {
        .problem = &f.problem, .arena = &f.arena, .level = &level, .capacity = 8, .bone_capacity = 8
    };
    f.problem.first = NULL;
    assert_ok(f.context, cutis_bake_gpu_open(&work));
    assert_non_null(work.gpu);
    cutis_bake_gpu_close(&work);
    assert_null(work.gpu);
    f.problem.point_count = 60; // launches would cost more than they save
    assert_ok(f.context, cutis_bake_gpu_open(&work));
    assert_null(work.gpu);
    cutis_device_destroy(device);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_of_this_size_is_opened),
        cmocka_unit_test(a_solve_on_a_gpu_has_the_bits_of_the_host),
        cmocka_unit_test(more_than_four_influences_too),
        cmocka_unit_test(and_bones_from_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
