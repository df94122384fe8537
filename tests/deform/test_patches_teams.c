// Teams of 32 lanes (or of TEAM_LANES, if that is defined already) make the frames of one lane.
// What a GPU does in warps is done here by as many contexts that take turns between two TEAM_SYNC,
// first lane first or last lane first: a lane that reads what another writes in the same stretch,
// or a TEAM_SYNC that not all lanes reach, shows.
#include <ucontext.h>

#include "patches_case.h"

#include "device/compute.h"

#ifndef TEAM_LANES
#define TEAM_LANES 32
#endif
enum { LANES = TEAM_LANES, STACK = 64 * 1024 };
static int team_host_lane, team_host_words[LANES];
static ucontext_t lanes[LANES], caller;
static char stacks[LANES][STACK];
static bool ended[LANES];

static void team_host_sync(void)
{
    swapcontext(&lanes[team_host_lane], &caller);
}

#define TEAM_HOST 1
// clang-format off
#define PATCH_NAMES(X)                                                                             \
    X(bands) X(overlaps) X(cut) X(rungs) X(cut_volume) X(solve) X(count) X(sum) X(vertices) X(faces) X(strips) X(bent) X(bent_faces) \
    X(vertex_sources) X(joint_sources) X(origins) X(no_origins) X(rest)
// clang-format on
#define cutis_compute_patch_parts          team_patch_parts
#define cutis_compute_patch_joints         team_patch_joints
#define cutis_compute_patch_bands          team_patch_bands
#define cutis_compute_patch_overlaps       team_patch_overlaps
#define cutis_compute_patch_cut            team_patch_cut
#define cutis_compute_patch_rungs          team_patch_rungs
#define cutis_compute_patch_cut_volume     team_patch_cut_volume
#define cutis_compute_patch_solve          team_patch_solve
#define cutis_compute_patch_count          team_patch_count
#define cutis_compute_patch_sum            team_patch_sum
#define cutis_compute_patch_vertices       team_patch_vertices
#define cutis_compute_patch_faces          team_patch_faces
#define cutis_compute_patch_strips         team_patch_strips
#define cutis_compute_patch_bent           team_patch_bent
#define cutis_compute_patch_bent_faces     team_patch_bent_faces
#define cutis_compute_patch_vertex_sources team_patch_vertex_sources
#define cutis_compute_patch_joint_sources  team_patch_joint_sources
#define cutis_compute_patch_origins        team_patch_origins
#define cutis_compute_patch_no_origins     team_patch_no_origins
#define cutis_compute_patch_rest           team_patch_rest
#include "device/compute/patches.c"

static const cutis_compute_kernel *const KERNELS[] = {
#define ENTRY(name) &team_patch_##name,
    PATCH_NAMES(ENTRY)
};

static struct {
    const cutis_compute_kernel *kernel;
    void *buffers[CUTIS_COMPUTE_BUFFERS];
    const void *arguments;
    int item;
} team;

static void lane_main(void)
{
    team.kernel->run[0](team.buffers, team.arguments, team.item, team.item + 1);
    ended[team_host_lane] = true;
    swapcontext(&lanes[team_host_lane], &caller);
}

static bool backwards;
static uint32_t teams_run;

// Lanes by turns, from one TEAM_SYNC to the next. All must end in the same turn.
static void run_team(void)
{
    static uint32_t left; // contexts are switched: no register
    static int i;
    left = LANES;
    teams_run++;
    for (i = 0; i < LANES; i++) {
        getcontext(&lanes[i]);
        lanes[i].uc_stack.ss_sp = stacks[i];
        lanes[i].uc_stack.ss_size = STACK;
        makecontext(&lanes[i], lane_main, 0);
        ended[i] = false;
    }
    while (left > 0) {
        for (i = 0; i < LANES; i++) {
            team_host_lane = backwards ? LANES - 1 - i : i;
            swapcontext(&caller, &lanes[team_host_lane]);
            left -= ended[team_host_lane];
        }
        if (left != 0 && left != LANES)
            fail_msg("%s: %u lanes are left behind", team.kernel->entry, left);
    }
}

static cutis_result run_teams(cutis_device *device, const cutis_compute_kernel *kernel,
                              uint32_t item_count, const cutis_buffer *const *buffers,
                              const void *arguments)
{
    (void)device;
    team.kernel = NULL;
    team.arguments = arguments;
    for (uint32_t b = 0; b < kernel->buffer_count; b++)
        team.buffers[b] = buffers[b] ? (void *)(uintptr_t)buffers[b]->handle : NULL;
    for (size_t k = 0; k < sizeof KERNELS / sizeof *KERNELS; k++)
        if (strcmp(KERNELS[k]->entry, kernel->entry) == 0) team.kernel = KERNELS[k];
    if (!team.kernel) {
        kernel->run[0](team.buffers, arguments, 0, (int)item_count);
        return CUTIS_OK;
    }
    for (team.item = 0; team.item < (int)item_count; team.item++) run_team();
    return CUTIS_OK;
}

static cutis_context *context;
static cutis_device *one, *many;

static int open_devices(void **state)
{
    static cutis_device_operations operations;
    (void)state;
    cutis_device_options options = { .kind = CUTIS_DEVICE_CPU, .thread_count = 1 };
    if (cutis_context_create(NULL, &context) != CUTIS_OK) return 1;
    if (cutis_device_create(context, &options, &one) != CUTIS_OK) return 1;
    if (cutis_device_create(context, &options, &many) != CUTIS_OK) return 1;
    operations = *many->operations;
    operations.compute_run = run_teams;
    many->operations = &operations;
    return 0;
}

static int close_devices(void **state)
{
    (void)state;
    cutis_device_destroy(one);
    cutis_device_destroy(many);
    cutis_context_destroy(context);
    return 0;
}

static cutis_model *copy_of(const cutis_model *model)
{
    cutis_model *out = NULL;
    assert_ok(context,
              cutis_model_create(context, cutis_model_get(model), CUTIS_GATE_REFUSE, &out));
    return out;
}

static void compare(const cutis_model *model, cutis_patch_removal removal)
{
    cutis_model *a_model = copy_of(model), *b_model = copy_of(model); // runs take them over
    patch_run a = patch_run_open(context, one, a_model, removal, CUTIS_PATCH_FILL_DEFAULT);
    patch_run b = patch_run_open(context, many, b_model, removal, CUTIS_PATCH_FILL_DEFAULT);
    for (int pose = LIGHT ? 4 : 0; pose < 6; pose++) {
        for (uint32_t j = 0; j < a.info.joint_count; j++) {
            double angle = 25.0 * pose * (1.0 + 0.1 * (j % 4)) * DEGREES;
            patch_pose_joint(&a, j, pose, angle, 0.3 * (pose % 3));
            patch_pose_joint(&b, j, pose, angle, 0.3 * (pose % 3));
        }
        backwards = pose % 2 != 0;
        patch_run_now(&a);
        patch_run_now(&b);
        assert_int_equal(a.counts[0], b.counts[0]);
        assert_int_equal(a.counts[1], b.counts[1]);
        assert_memory_equal(a.positions, b.positions, 12 * (size_t)a.counts[0]);
        assert_memory_equal(a.normals, b.normals, 12 * (size_t)a.counts[0]);
        assert_memory_equal(a.indices, b.indices, 12 * (size_t)a.counts[1]);
        assert_memory_equal(a.labels, b.labels, 4 * (size_t)a.counts[1]);
    }
    patch_run_close(&a);
    patch_run_close(&b);
}

static void teams_of_lanes_make_the_frames_of_one_lane(void **state)
{
    (void)state;
    const cutis_synth_options two = { .body = CUTIS_BODY_BIPED, .vertex_count = 2500 };
    const cutis_synth_options four = { .body = CUTIS_BODY_QUADRUPED, .vertex_count = 1500 };
    cutis_model *biped = NULL, *quadruped = NULL;
    assert_ok(context, cutis_synth_create(context, &two, &biped));
    assert_ok(context, cutis_synth_create(context, &four, &quadruped));
    for (int removal = CUTIS_PATCH_CUT; removal <= CUTIS_PATCH_BOX; removal++) {
        compare(biped, (cutis_patch_removal)removal);
        compare(quadruped, (cutis_patch_removal)removal);
    }
    patch_case_band = CUTIS_PATCH_BAND_GIRTH;
    compare(biped, CUTIS_PATCH_CUT);
    compare(quadruped, CUTIS_PATCH_CUT);
    patch_case_band = CUTIS_PATCH_BAND_NONE;
    cutis_model_destroy(biped);
    cutis_model_destroy(quadruped);
    print_message("%u teams\n", teams_run);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(
        teams_of_lanes_make_the_frames_of_one_lane) };
    return cmocka_run_group_tests(tests, open_devices, close_devices);
}
