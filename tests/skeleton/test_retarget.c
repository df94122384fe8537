/// Retargeting: maps of rigs named in six ways and not at all, the motion of a rig on itself, on
/// one twice as large and twisted at rest, and turned; feet. References are written out here:
/// angles, lengths, and the motion's own world matrices in double.
#include "support.h"

#include <cutis/retarget.h>

#include "math/mat3.h"
#include "math/quat.h"
#include "skeleton/retarget.h"

static cutis_context *context;

static int setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context) == CUTIS_OK ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left == 0 ? 0 : -1;
}

// A body of 21 joints ----------------------------------------------------------------------------

enum { JOINTS = 21, ENDS = 5, NODES = JOINTS + ENDS };

typedef struct joint {
    int parent;
    double place[3]; // world, y up, facing z
} joint;

static const joint BODY[NODES] = {
    { -1, { 0, 1.0, 0 } },          // 0 hips
    { 0, { 0, 1.15, 0 } },          // 1 spine
    { 1, { 0, 1.3, -0.01 } },       // 2 chest
    { 2, { 0, 1.5, -0.02 } },       // 3 neck
    { 3, { 0, 1.6, 0 } },           // 4 head
    { 2, { 0.03, 1.45, 0 } },       // 5 left collar bone
    { 5, { 0.18, 1.45, -0.02 } },   // 6 left upper arm
    { 6, { 0.46, 1.44, -0.03 } },   // 7 left forearm
    { 7, { 0.72, 1.44, -0.01 } },   // 8 left hand
    { 2, { -0.03, 1.45, 0 } },      // 9 right
    { 9, { -0.18, 1.45, -0.02 } },  // 10
    { 10, { -0.46, 1.44, -0.03 } }, // 11
    { 11, { -0.72, 1.44, -0.01 } }, // 12
    { 0, { 0.09, 0.95, 0.01 } },    // 13 left thigh
    { 13, { 0.1, 0.52, 0.03 } },    // 14 left shin
    { 14, { 0.1, 0.09, -0.02 } },   // 15 left foot
    { 15, { 0.1, 0.02, 0.11 } },    // 16 left toes
    { 0, { -0.09, 0.95, 0.01 } },   // 17 right
    { 17, { -0.1, 0.52, 0.03 } },   // 18
    { 18, { -0.1, 0.09, -0.02 } },  // 19
    { 19, { -0.1, 0.02, 0.11 } },   // 20
    { 4, { 0, 1.8, 0.02 } },        // ends
    { 8, { 0.9, 1.44, 0 } },        { 12, { -0.9, 1.44, 0 } },
    { 16, { 0.1, 0.02, 0.18 } },    { 20, { -0.1, 0.02, 0.18 } },
};

static const char *const NAMES[][JOINTS] = {
    { "Hips",      "Spine",       "Spine1",      "Neck",          "Head",        "LeftShoulder",
      "LeftArm",   "LeftForeArm", "LeftHand",    "RightShoulder", "RightArm",    "RightForeArm",
      "RightHand", "LeftUpLeg",   "LeftLeg",     "LeftFoot",      "LeftToeBase", "RightUpLeg",
      "RightLeg",  "RightFoot",   "RightToeBase" },
    { "mixamorig:Hips",          "mixamorig:Spine",       "mixamorig:Spine2",
      "mixamorig:Neck",          "mixamorig:Head",        "mixamorig:LeftShoulder",
      "mixamorig:LeftArm",       "mixamorig:LeftForeArm", "mixamorig:LeftHand",
      "mixamorig:RightShoulder", "mixamorig:RightArm",    "mixamorig:RightForeArm",
      "mixamorig:RightHand",     "mixamorig:LeftUpLeg",   "mixamorig:LeftLeg",
      "mixamorig:LeftFoot",      "mixamorig:LeftToeBase", "mixamorig:RightUpLeg",
      "mixamorig:RightLeg",      "mixamorig:RightFoot",   "mixamorig:RightToeBase" },
    { "Bip01 Pelvis", "Bip01 Spine",      "Bip01 Spine1",     "Bip01 Neck",
      "Bip01 Head",   "Bip01 L Clavicle", "Bip01 L UpperArm", "Bip01 L Forearm",
      "Bip01 L Hand", "Bip01 R Clavicle", "Bip01 R UpperArm", "Bip01 R Forearm",
      "Bip01 R Hand", "Bip01 L Thigh",    "Bip01 L Calf",     "Bip01 L Foot",
      "Bip01 L Toe0", "Bip01 R Thigh",    "Bip01 R Calf",     "Bip01 R Foot",
      "Bip01 R Toe0" },
    { "pelvis",     "spine_01",   "spine_02", "neck_01",    "head",       "clavicle_l",
      "upperarm_l", "lowerarm_l", "hand_l",   "clavicle_r", "upperarm_r", "lowerarm_r",
      "hand_r",     "thigh_l",    "calf_l",   "foot_l",     "ball_l",     "thigh_r",
      "calf_r",     "foot_r",     "ball_r" },
    { "root",    "abdomen", "chest",    "neck",       "head",    "collar.L", "shoulder.L",
      "elbow.L", "wrist.L", "collar.R", "shoulder.R", "elbow.R", "wrist.R",  "hip.L",
      "knee.L",  "ankle.L", "toe.L",    "hip.R",      "knee.R",  "ankle.R",  "toe.R" },
    { "DEF-hips", "DEF-torso", "DEF-thorax", "DEF-neck",  "DEF-head", "lcollar", "lupperarm",
      "lforearm", "lhand",     "rcollar",    "rupperarm", "rforearm", "rhand",   "lthigh",
      "lshin",    "lfoot",     "ltoe",       "rthigh",    "rshin",    "rfoot",   "rtoe" },
    { "j0",  "j1",  "j2",  "j3",  "j4",  "j5",  "j6",  "j7",  "j8",  "j9", "j10",
      "j11", "j12", "j13", "j14", "j15", "j16", "j17", "j18", "j19", "j20" },
};
enum { CONVENTIONS = sizeof NAMES / sizeof *NAMES };

// A model of the body: names, size, rest rotations per joint (quaternions w x y z, or NULL: none).
// Node i is joint i; the nodes of ends follow.
static cutis_model *make_body(const char *const *names, double size, double (*turns)[4],
                              const cutis_clip *clip)
{
    static char ends[ENDS][64];
    cutis_node nodes[NODES] = { 0 };
    double world[NODES][9];
    for (int n = 0; n < NODES; n++) {
        const int parent = BODY[n].parent;
        double offset[3], local[4] = { 1, 0, 0, 0 };
        for (int k = 0; k < 3; k++)
            offset[k] = size * (double)((float)BODY[n].place[k] -
                                        (parent < 0 ? 0.0f : (float)BODY[parent].place[k]));
        // The offset stays as it is in the parent's own frame: turning a joint bends the body.
        if (turns && n < JOINTS) memcpy(local, turns[n], sizeof local);
        cutis_mat3_from_quat(local, world[n]);
        if (n >= JOINTS) snprintf(ends[n - JOINTS], 64, "%.50s_end", names[parent]);
        nodes[n] = (cutis_node){ .name = n < JOINTS ? names[n] : ends[n - JOINTS],
                                 .parent = parent,
                                 .rest = { { (float)offset[0], (float)offset[1], (float)offset[2] },
                                           { (float)local[1], (float)local[2], (float)local[3],
                                             (float)local[0] },
                                           { 1, 1, 1 } },
                                 .mesh = CUTIS_NONE,
                                 .skin = CUTIS_NONE };
    }
    cutis_model_data data = {
        .node_count = NODES, .nodes = nodes, .clip_count = clip != NULL, .clips = clip
    };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    return model;
}

static void unit_quat(uint64_t seed, uint64_t index, double most, double *out)
{
    double axis[3], square = 0, angle = random_in(seed, 8 * index, -most, most);
    for (int k = 0; k < 3; k++) {
        axis[k] = random_in(seed, 8 * index + 1 + (uint64_t)k, -1, 1);
        square += axis[k] * axis[k];
    }
    out[0] = cos(angle / 2);
    for (int k = 0; k < 3; k++) out[1 + k] = sin(angle / 2) * axis[k] / sqrt(square);
}

enum { FRAMES = 12 };

// A clip that turns every joint at random and moves the hips.
typedef struct motion {
    float times[FRAMES], moves[3 * FRAMES], turns[JOINTS][4 * FRAMES];
    cutis_channel channels[JOINTS + 1];
    cutis_clip clip;
} motion;

static motion *make_motion(void)
{
    static motion m;
    for (int f = 0; f < FRAMES; f++) {
        m.times[f] = (float)f / 8;
        for (int k = 0; k < 3; k++)
            m.moves[3 * f + k] =
                (float)(BODY[0].place[k] +
                        random_in(5, 100u + 3u * (unsigned)f + (unsigned)k, -1, 1));
        for (int j = 0; j < JOINTS; j++) {
            double q[4];
            unit_quat(6, (uint64_t)(f * JOINTS + j), 1.2, q);
            for (int k = 0; k < 4; k++) m.turns[j][4 * f + k] = (float)q[(k + 1) % 4];
        }
    }
    m.channels[0] = (cutis_channel){ .node = 0,
                                     .path = CUTIS_PATH_TRANSLATION,
                                     .key_count = FRAMES,
                                     .times = m.times,
                                     .values = m.moves };
    for (int j = 0; j < JOINTS; j++)
        m.channels[1 + j] = (cutis_channel){ .node = (uint32_t)j,
                                             .path = CUTIS_PATH_ROTATION,
                                             .key_count = FRAMES,
                                             .times = m.times,
                                             .values = m.turns[j] };
    m.clip = (cutis_clip){ .name = "m", .channel_count = JOINTS + 1, .channels = m.channels };
    return &m;
}

// Maps -------------------------------------------------------------------------------------------

static void joints_are_matched_across_six_ways_to_name_them_and_none(void **state)
{
    (void)state;
    for (int a = 0; a < CONVENTIONS; a++)
        for (int b = 0; b < CONVENTIONS; b++) {
            cutis_model *target = make_body(NAMES[a], 1, NULL, NULL);
            cutis_model *source = make_body(NAMES[b], 3, NULL, NULL);
            int32_t map[NODES];
            cutis_retarget_found by[2];
            assert_ok(context, cutis_retarget_map(target, source, map, &by[0], &by[1]));
            if (a != b && a + b != 1) { // mixamo's names are the plain ones with a prefix
                assert_int_equal(by[0], a == CONVENTIONS - 1 ? CUTIS_RETARGET_BY_TOPOLOGY
                                                             : CUTIS_RETARGET_BY_NAMES);
            }
            for (int n = 0; n < NODES; n++)
                if (map[n] != (n < JOINTS ? n : CUTIS_NONE))
                    fail_msg("convention %d on %d: %s follows %d", b, a,
                             cutis_model_get(target)->nodes[n].name, map[n]);
            cutis_model_destroy(target);
            cutis_model_destroy(source);
        }
}

// The nameless body again with everything else about it changed.
static void check_nameless(const cutis_model *target, const int *joint_of, uint32_t count)
{
    cutis_model *source = make_body(NAMES[0], 1, NULL, NULL);
    int32_t map[64];
    cutis_retarget_found by;
    assert_ok(context, cutis_retarget_map(target, source, map, &by, NULL));
    assert_int_equal(by, CUTIS_RETARGET_BY_TOPOLOGY);
    for (uint32_t n = 0; n < count; n++)
        if (map[n] != joint_of[n]) fail_msg("node %u follows %d, not %d", n, map[n], joint_of[n]);
    cutis_model_destroy(source);
}

static void a_nameless_rig_is_understood_with_z_up_and_with_its_root_in_the_chest(void **state)
{
    (void)state;
    // z up: x, -z, y.
    cutis_node nodes[NODES] = { 0 };
    int joint_of[NODES];
    for (int n = 0; n < NODES; n++) {
        const int parent = BODY[n].parent;
        double d[3];
        for (int k = 0; k < 3; k++)
            d[k] = BODY[n].place[k] - (parent < 0 ? 0 : BODY[parent].place[k]);
        nodes[n] = (cutis_node){ .name = n < JOINTS ? NULL : "x_end",
                                 .parent = parent,
                                 .rest = cutis_transform_identity(),
                                 .mesh = CUTIS_NONE,
                                 .skin = CUTIS_NONE };
        nodes[n].rest.translation = (cutis_float3){ (float)d[0], (float)-d[2], (float)d[1] };
        joint_of[n] = n < JOINTS ? n : CUTIS_NONE;
    }
    cutis_model_data data = { .node_count = NODES, .nodes = nodes };
    cutis_model *model;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    check_nameless(model, joint_of, NODES);
    cutis_model_destroy(model);

    // Rooted at the chest: chest, spine, hips, then what hangs from each; ends left out.
    static const int ORDER[JOINTS] = { 2, 1, 0, 13, 14, 15, 16, 17, 18, 19, 20,
                                       3, 4, 5, 6,  7,  8,  9,  10, 11, 12 };
    for (int i = 0; i < JOINTS; i++) {
        const int n = ORDER[i];
        int up = n == 2 ? -1 : n == 1 ? 2 : n == 0 ? 1 : BODY[n].parent, at = CUTIS_NONE;
        for (int k = 0; k < i; k++)
            if (ORDER[k] == up) at = k;
        nodes[i] = (cutis_node){
            .parent = at, .rest = cutis_transform_identity(), .mesh = CUTIS_NONE, .skin = CUTIS_NONE
        };
        float *t = &nodes[i].rest.translation.x;
        for (int k = 0; k < 3; k++)
            t[k] = (float)(BODY[n].place[k] - (up < 0 ? 0 : BODY[up].place[k]));
        joint_of[i] = n;
    }
    joint_of[1] = 0; // a trunk that hangs from the chest: the joint between belongs to the hips or
                     // to the spine; the chest is what the arms need
    data.node_count = JOINTS;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    cutis_model *source = make_body(NAMES[0], 1, NULL, NULL);
    int32_t map[64];
    assert_ok(context, cutis_retarget_map(model, source, map, NULL, NULL));
    for (int i = 0; i < JOINTS; i++)
        if (i != 1) assert_int_equal(map[i], joint_of[i]);
    cutis_model_destroy(source);
    cutis_model_destroy(model);
}

static void rigs_without_anything_in_common_are_refused(void **state)
{
    (void)state;
    cutis_node nodes[3] = { 0 };
    for (int n = 0; n < 3; n++)
        nodes[n] = (cutis_node){ .name = "x",
                                 .parent = n - 1,
                                 .rest = cutis_transform_identity(),
                                 .mesh = CUTIS_NONE,
                                 .skin = CUTIS_NONE };
    cutis_model_data data = { .node_count = 3, .nodes = nodes };
    cutis_model *model, *source = make_body(NAMES[0], 1, NULL, &make_motion()->clip), *out = NULL;
    int32_t map[3];
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    assert_int_equal(cutis_retarget_map(model, source, map, NULL, NULL), CUTIS_NOT_FOUND);
    assert_int_equal(cutis_retarget(model, source, NULL, &out, NULL), CUTIS_NOT_FOUND);
    const int32_t wrong[3] = { 0, 99, CUTIS_NONE }, none[3] = { -1, -1, -1 };
    assert_int_equal(
        cutis_retarget(model, source, &(cutis_retarget_options){ .map = wrong }, &out, NULL),
        CUTIS_INVALID_ARGUMENT);
    assert_int_equal(
        cutis_retarget(model, source, &(cutis_retarget_options){ .map = none }, &out, NULL),
        CUTIS_NOT_FOUND);
    assert_int_equal(
        cutis_retarget(source, source, &(cutis_retarget_options){ .clip = 7 }, &out, NULL),
        CUTIS_NOT_FOUND);
    assert_null(out);
    cutis_model_destroy(model);
    cutis_model_destroy(source);
}

// Motion -----------------------------------------------------------------------------------------

// One job and its frames, without files and floats between.
typedef struct bench {
    cutis_arena arena;
    retarget_job job;
    retarget_frame frame;
    int32_t map[NODES];
    cutis_sampler *sampler;
    cutis_transform pose[NODES];
} bench;

static void bench_open(bench *b, const cutis_model *target, const cutis_model *source)
{
    memset(b, 0, sizeof *b);
    b->arena.context = context;
    b->job.context = context;
    b->job.arena = &b->arena;
    b->job.map = b->map;
    for (int n = 0; n < NODES; n++) b->map[n] = n < JOINTS ? n : CUTIS_NONE;
    assert_ok(context, cutis_retarget_rig_bind(&b->arena, target, &b->job.target));
    assert_ok(context, cutis_retarget_rig_pose(&b->arena, source, NULL, &b->job.motion));
    assert_ok(context, cutis_retarget_roles(&b->arena, &b->job.target));
    assert_ok(context, cutis_retarget_roles(&b->arena, &b->job.motion));
    assert_ok(context, cutis_retarget_align(&b->job));
    assert_ok(context, cutis_retarget_frame_alloc(&b->job, &b->frame));
    assert_ok(context, cutis_sampler_create(source, 0, &b->sampler));
}

static void bench_frame(bench *b, int f)
{
    cutis_sampler_sample(b->sampler, (float)f / 8, b->pose, NULL);
    cutis_retarget_frame_make(&b->job, b->pose, 0, &b->frame);
}

static void bench_close(bench *b)
{
    cutis_sampler_destroy(b->sampler);
    cutis_arena_release(&b->arena);
}

static void a_rig_on_itself_turns_every_joint_as_the_motion_does(void **state)
{
    (void)state;
    cutis_model *source = make_body(NAMES[0], 1, NULL, &make_motion()->clip);
    bench b;
    bench_open(&b, source, source);
    assert_near(b.job.scale, 1, 1e-12);
    for (int f = 0; f < FRAMES; f++) {
        bench_frame(&b, f);
        double world[NODES][9];
        for (int n = 0; n < JOINTS; n++) { // world rotations, written out
            const double q[4] = { b.pose[n].rotation.w, b.pose[n].rotation.x, b.pose[n].rotation.y,
                                  b.pose[n].rotation.z };
            double local[9];
            cutis_mat3_from_quat(q, local);
            if (BODY[n].parent < 0)
                memcpy(world[n], local, sizeof local);
            else
                double33_multiply(world[BODY[n].parent], local, world[n]);
            for (int i = 0; i < 9; i++) assert_near(b.frame.turned[9 * n + i], world[n][i], 1e-12);
        }
        for (int i = 0; i < 3 * JOINTS; i++)
            assert_near(b.frame.placed[i], b.frame.place[i], 1e-12);
    }
    bench_close(&b);
    cutis_model_destroy(source);
}

static void legs_of_a_rig_twice_as_large_and_twisted_at_rest_follow_twice_the_path(void **state)
{
    (void)state;
    cutis_model *source = make_body(NAMES[0], 1, NULL, &make_motion()->clip);
    for (uint64_t seed = 0; seed < 8; seed++) {
        double turns[JOINTS][4];
        for (uint64_t j = 0; j < JOINTS; j++) unit_quat(70 + seed, j, 0.5, turns[j]);
        cutis_model *target = make_body(NAMES[3], 2, turns, NULL);
        bench b;
        bench_open(&b, target, source);
        assert_near(b.job.scale, 2, 1e-6); // offsets are floats
        for (int f = 0; f < FRAMES; f++) {
            bench_frame(&b, f);
            static const int LEGS[6] = { 13, 14, 15, 17, 18, 19 };
            for (int i = 0; i < 6; i++)
                for (int k = 0; k < 3; k++)
                    assert_near(b.frame.placed[3 * LEGS[i] + k],
                                b.job.scale * b.frame.place[3 * LEGS[i] + k], 1e-6);
            // Arms: the same directions from joint to joint.
            static const int ARMS[4][2] = { { 6, 7 }, { 7, 8 }, { 10, 11 }, { 11, 12 } };
            for (int i = 0; i < 4; i++) {
                double t[3], m[3], c[3];
                for (int k = 0; k < 3; k++) {
                    t[k] = b.frame.placed[3 * ARMS[i][1] + k] - b.frame.placed[3 * ARMS[i][0] + k];
                    m[k] = b.frame.place[3 * ARMS[i][1] + k] - b.frame.place[3 * ARMS[i][0] + k];
                }
                double3_cross(t, m, c);
                assert_true(double3_dot(t, m) > 0);
                assert_near(double3_dot(c, c) / (double3_dot(t, t) * double3_dot(m, m)), 0, 1e-12);
            }
        }
        bench_close(&b);
        cutis_model_destroy(target);
    }
    cutis_model_destroy(source);
}

static void a_target_that_faces_elsewhere_walks_the_same_way(void **state)
{
    (void)state;
    cutis_model *source = make_body(NAMES[0], 1, NULL, &make_motion()->clip);
    for (int turn = 0; turn < 2; turn++) {
        // About up by 130 degrees: nothing changes. About x by 90 (z up): all turns with it.
        double turns[JOINTS][4], r[9];
        for (int j = 0; j < JOINTS; j++) {
            const double none[4] = { 1, 0, 0, 0 };
            memcpy(turns[j], none, sizeof none);
        }
        double half = turn ? M_PI / 4 : 65 * M_PI / 180;
        turns[0][0] = cos(half), turns[0][turn ? 1 : 2] = sin(half);
        cutis_mat3_from_quat(turns[0], r);
        if (!turn) double33_identity(r);
        cutis_model *target = make_body(NAMES[3], 1, turns, NULL);
        bench b;
        bench_open(&b, target, source);
        for (int f = 0; f < FRAMES; f++) {
            cutis_sampler_sample(b.sampler, (float)f / 8, b.pose, NULL);
            double matrices[12 * NODES], place[3 * NODES], wanted[3];
            cutis_retarget_world(b.job.motion.data, b.pose, matrices, place, NULL);
            cutis_retarget_frame_make(&b.job, b.pose, 0, &b.frame);
            for (int n = 0; n < JOINTS; n++) {
                double33_vector(r, place + 3 * n, wanted);
                for (int k = 0; k < 3; k++) assert_near(b.frame.placed[3 * n + k], wanted[k], 1e-6);
            }
        }
        bench_close(&b);
        cutis_model_destroy(target);
    }
    cutis_model_destroy(source);
}

// The body bent to the ground, sitting, kneeling and standing, with each of the six axes up.
static void up_is_found_in_any_rest_pose(void **state)
{
    (void)state;
    static const struct {
        const char *pose;
        int joint[6];
        double degrees[6]; // about x, the body's left
    } POSES[] = { { "standing", { 0 }, { 0 } },
                  { "bent to the ground", { 1, 2, 3 }, { 55, 40, -40 } },
                  { "sitting", { 13, 17, 14, 18, 1 }, { -90, -85, 90, 80, -15 } },
                  { "kneeling", { 13, 17, 14, 18, 15, 19 }, { -15, -25, 100, 110, 45, 40 } } };
    static const double TURNS[6][4] = { { 1, 0, 0, 0 },
                                        { M_SQRT1_2, M_SQRT1_2, 0, 0 },
                                        { 0, 1, 0, 0 },
                                        { M_SQRT1_2, -M_SQRT1_2, 0, 0 },
                                        { M_SQRT1_2, 0, 0, M_SQRT1_2 },
                                        { M_SQRT1_2, 0, 0, -M_SQRT1_2 } };
    static const double UPS[6][3] = { { 0, 1, 0 },  { 0, 0, 1 },  { 0, -1, 0 },
                                      { 0, 0, -1 }, { -1, 0, 0 }, { 1, 0, 0 } };
    for (size_t p = 0; p < sizeof POSES / sizeof *POSES; p++)
        for (int axis = 0; axis < 6; axis++) {
            double turns[JOINTS][4];
            for (int j = 0; j < JOINTS; j++)
                memcpy(turns[j], (double[4]){ 1, 0, 0, 0 }, sizeof turns[j]);
            memcpy(turns[0], TURNS[axis], sizeof turns[0]);
            for (int i = 0; i < 6; i++) {
                double half = POSES[p].degrees[i] * M_PI / 360;
                if (half != 0) turns[POSES[p].joint[i]][0] = cos(half);
                if (half != 0) turns[POSES[p].joint[i]][1] = sin(half);
            }
            cutis_model *model = make_body(NAMES[3], 1, turns, NULL);
            cutis_arena arena = { .context = context };
            retarget_rig rig;
            assert_ok(context, cutis_retarget_rig_bind(&arena, model, &rig));
            assert_ok(context, cutis_retarget_roles(&arena, &rig));
            for (int k = 0; k < 3; k++)
                if (rig.up[k] != UPS[axis][k])
                    fail_msg("%s, axis %d: up is %g %g %g", POSES[p].pose, axis, rig.up[0],
                             rig.up[1], rig.up[2]);
            assert_false(rig.four_legged);
            cutis_arena_release(&arena);
            cutis_model_destroy(model);
        }
}

static void the_new_clip_holds_the_motion_and_old_clips_stay(void **state)
{
    (void)state;
    motion *m = make_motion();
    cutis_model *source = make_body(NAMES[0], 1, NULL, &m->clip), *out = NULL;
    cutis_retarget_report report;
    cutis_retarget_options options = { .rest = CUTIS_RETARGET_ZERO,
                                       .feet = CUTIS_RETARGET_FEET_FREE,
                                       .name = "again" };
    assert_ok(context, cutis_retarget(source, source, &options, &out, &report));
    const cutis_model_data *data = cutis_model_get(out);
    assert_int_equal(data->clip_count, 2);
    assert_string_equal(data->clips[0].name, "m");
    assert_string_equal(data->clips[1].name, "again");
    assert_int_equal(report.frame_count, FRAMES);
    assert_int_equal(report.mapped_count, JOINTS);
    assert_near(report.fps, 8, 1e-4);
    cutis_sampler *a, *b;
    cutis_transform p[NODES], q[NODES];
    assert_ok(context, cutis_sampler_create(out, 0, &a));
    assert_ok(context, cutis_sampler_create(out, 1, &b));
    for (int f = 0; f < FRAMES; f++) {
        cutis_sampler_sample(a, (float)f / 8, p, NULL);
        cutis_sampler_sample(b, (float)f / 8, q, NULL);
        for (int n = 0; n < JOINTS; n++) {
            double dot = (double)p[n].rotation.x * q[n].rotation.x +
                         (double)p[n].rotation.y * q[n].rotation.y +
                         (double)p[n].rotation.z * q[n].rotation.z +
                         (double)p[n].rotation.w * q[n].rotation.w;
            assert_near(fabs(dot), 1, 1e-6);
        }
        assert_near(q[0].translation.x, p[0].translation.x, 1e-5);
        assert_near(q[0].translation.y, p[0].translation.y + report.ground, 1e-5);
    }
    cutis_sampler_destroy(a);
    cutis_sampler_destroy(b);
    cutis_model_destroy(out);
    cutis_model_destroy(source);
}

// Feet -------------------------------------------------------------------------------------------

static void a_leg_reaches_its_goal_with_its_lengths_its_plane_and_its_foot(void **state)
{
    (void)state;
    cutis_model *source = make_body(NAMES[0], 1, NULL, &make_motion()->clip);
    bench b;
    bench_open(&b, source, source);
    for (int f = 0; f < FRAMES; f++)
        for (int side = 0; side < 2; side++) {
            const int hip = side ? 17 : 13, knee = hip + 1, ankle = hip + 2;
            double goal[3], offset[3], foot[9], thigh[3], shin[3], before[3], after[3];
            bench_frame(&b, f);
            memcpy(foot, b.frame.turned + 9 * ankle, sizeof foot);
            double *at = b.frame.placed;
            for (int k = 0; k < 3; k++) {
                thigh[k] = at[3 * knee + k] - at[3 * hip + k];
                shin[k] = at[3 * ankle + k] - at[3 * knee + k];
                // Towards the hip, a little aside: a goal the leg can reach.
                offset[k] = 0.15 * (at[3 * hip + k] - at[3 * ankle + k]) +
                            random_in(8, (uint64_t)(12 * f + 6 * side + k), -0.02, 0.02);
                goal[k] = at[3 * ankle + k] + offset[k];
            }
            double a = sqrt(double3_dot(thigh, thigh)), c = sqrt(double3_dot(shin, shin));
            double3_cross(thigh, shin, before);
            double far[3];
            for (int k = 0; k < 3; k++) far[k] = goal[k] - at[3 * hip + k];
            if (sqrt(double3_dot(far, far)) < fabs(a - c) * 1.1) continue;
            cutis_retarget_reach(&b.job, side, goal, &b.frame);
            for (int k = 0; k < 3; k++) {
                assert_near(at[3 * ankle + k], goal[k], 1e-9);
                thigh[k] = at[3 * knee + k] - at[3 * hip + k];
                shin[k] = at[3 * ankle + k] - at[3 * knee + k];
            }
            assert_near(sqrt(double3_dot(thigh, thigh)), a, 1e-12);
            assert_near(sqrt(double3_dot(shin, shin)), c, 1e-12);
            double3_cross(thigh, shin, after);
            assert_true(double3_dot(before, after) > 0); // bends the same way
            for (int i = 0; i < 9; i++) assert_near(b.frame.turned[9 * ankle + i], foot[i], 0);
        }
    bench_close(&b);
    cutis_model_destroy(source);
}

// A foot that stands from 0.5 to 1.2 s and from 2 to 2.6 s and swings between, with a slow drift.
static void standing_feet_are_found_and_held(void **state)
{
    (void)state;
    enum { COUNT = 301 };
    static double path[3 * COUNT], offsets[3 * COUNT], scratch[3 * COUNT];
    static retarget_stance stances[COUNT];
    const double dt = 0.01;
    double x = 0;
    for (int f = 0; f < COUNT; f++) {
        double t = f * dt;
        bool stands = (t >= 0.5 && t <= 1.2) || (t >= 2 && t <= 2.6);
        x += (stands ? 0.02 : 1.5) * dt;
        path[3 * f] = x, path[3 * f + 1] = 0.08, path[3 * f + 2] = 0;
    }
    double *points = path;
    const double up[3] = { 0, 1, 0 };
    uint32_t count = cutis_retarget_stances(&points, 1, up, COUNT, dt, 0.9, scratch, stances);
    assert_int_equal(count, 2);
    assert_near(stances[0].first * dt, 0.5, 0.03);
    assert_near(stances[0].last * dt, 1.2, 0.03);
    assert_near(stances[1].first * dt, 2, 0.03);
    assert_near(stances[1].last * dt, 2.6, 0.03);
    cutis_retarget_hold(path, NULL, NULL, up, COUNT, dt, stances, count, offsets);
    for (uint32_t s = 0; s < 2; s++) {
        const uint32_t first = 3 * stances[s].first;
        for (uint32_t f = stances[s].first; f <= stances[s].last; f++)
            assert_near(path[3 * f] + offsets[3 * f], path[first] + offsets[first], 1e-12);
    }
    for (int f = 1; f < COUNT; f++) // no jumps: 0.007 m of correction over 0.12 s
        assert_near(offsets[3 * f], offsets[3 * f - 3], 0.0025);
    assert_near(offsets[0], 0, 0);
    assert_near(offsets[3 * 160], 0, 0); // half way between: the motion's own place
    assert_int_equal(cutis_retarget_stances(&points, 1, up, 30, dt, 0.9, scratch, stances), 0);
}

// A round sole that turns must take its ankle along the ground by radius times angle, however the
// path was, and back.
static void a_round_sole_rolls_without_sliding(void **state)
{
    (void)state;
    enum { COUNT = 60, POINTS = 720 };
    static double points[2][3 * POINTS], path[3 * COUNT], step[3 * COUNT], low[COUNT];
    static double offsets[3 * COUNT];
    const double up[3] = { 0, 1, 0 }, radius = 0.3, level = 0.05;
    double angle[COUNT];
    for (int f = 0; f < COUNT; f++) {
        angle[f] = 0.8 * sin(0.07 * f);
        path[3 * f] = 1 + 0.001 * f, path[3 * f + 1] = 0.4, path[3 * f + 2] = 0;
        for (int i = 0; i < POINTS; i++) {
            double a = 2 * M_PI * i / POINTS - angle[f]; // clockwise: towards +x
            double *p = points[f % 2] + 3 * i;
            p[0] = radius * cos(a), p[1] = radius * sin(a), p[2] = 0;
        }
        cutis_retarget_touch(f ? points[(f + 1) % 2] : NULL, points[f % 2], POINTS, up, 1e-4,
                             step + 3 * f, &low[f]);
        assert_near(low[f], -radius, 2e-5);
    }
    const retarget_stance stance = { 0, COUNT - 1, level };
    cutis_retarget_hold(path, step, low, up, COUNT, 0.01, &stance, 1, offsets);
    double goal[3 * COUNT];
    for (int i = 0; i < 3 * COUNT; i++) goal[i] = path[i] + offsets[i];
    for (int f = 1; f < COUNT; f++) {
        assert_near(goal[3 * f] - goal[0], radius * (angle[f] - angle[0]), 2e-4);
        assert_near(goal[3 * f + 1], level + radius, 1e-4);
    }
    assert_near(cutis_retarget_slide(goal, step, up, &stance), 0, 1e-9);
    // The ankle that stands still drags the sole: by radius times the whole way of the angle.
    double way = 0, still[3 * COUNT] = { 0 };
    for (int f = 1; f < COUNT; f++) way += radius * fabs(angle[f] - angle[f - 1]);
    assert_near(cutis_retarget_slide(still, step, up, &stance), way, 0.01 * way);
}

// A run at 120 frames a second: 0.2 s on the ground, where the foot still creeps at 0.4 m/s, 0.5 s
// in the air at 6 m/s; in the middle of each flight the foot stops for 0.1 s, high up.
static void runs_have_stances_and_a_foot_that_hangs_does_not_stand(void **state)
{
    (void)state;
    enum { COUNT = 420 };
    static double path[3 * COUNT], scratch[3 * COUNT];
    static retarget_stance stances[COUNT];
    const double up[3] = { 0, 1, 0 }, dt = 1.0 / 120;
    double x = 0, *points = path;
    for (int f = 0; f < COUNT; f++) {
        double t = fmod(f * dt, 0.7);
        bool ground = t<0.2, hangs = t> 0.4 && t < 0.5;
        x += (ground ? 0.4 : hangs ? 0.1 : 6) * dt;
        path[3 * f] = x, path[3 * f + 2] = 0;
        path[3 * f + 1] = ground ? 0.08 : 0.08 + 0.5 * sin(M_PI * (t - 0.2) / 0.5);
    }
    uint32_t count = cutis_retarget_stances(&points, 1, up, COUNT, dt, 0.9, scratch, stances);
    assert_int_equal(count, 5);
    for (uint32_t i = 0; i < count; i++) {
        assert_near(stances[i].first * dt, 0.7 * i, 0.02);
        assert_near(stances[i].last * dt, 0.7 * i + 0.2, 0.02);
    }
}

// A rig with goals for inverse kinematics: feet and toes hang from a root on the ground, before the
// body.
static void feet_that_hang_elsewhere_stay_at_their_shins(void **state)
{
    (void)state;
    static const int ORDER[] = { -1, 15, 16, 19, 20, 0,  1,  2,  3,  4,  5,
                                 6,  7,  8,  9,  10, 11, 12, 13, 14, 17, 18 };
    enum { COUNT = sizeof ORDER / sizeof *ORDER };
    cutis_node nodes[COUNT] = { 0 };
    int node_of[NODES];
    for (int i = 0; i < COUNT; i++) {
        const int n = ORDER[i];
        int up = n < 0 ? -2 : n == 15 || n == 19 || n == 0 ? -1 : BODY[n].parent;
        nodes[i] = (cutis_node){ .name = n < 0 ? "Rig" : NAMES[3][n],
                                 .parent = up == -2   ? CUTIS_NONE
                                           : up == -1 ? 0
                                                      : node_of[up],
                                 .rest = cutis_transform_identity(),
                                 .mesh = CUTIS_NONE,
                                 .skin = CUTIS_NONE };
        float *t = &nodes[i].rest.translation.x;
        for (int k = 0; k < 3 && n >= 0; k++)
            t[k] = (float)(BODY[n].place[k] - (up < 0 ? 0 : BODY[up].place[k]));
        if (n >= 0) node_of[n] = i;
    }
    cutis_model_data data = { .node_count = COUNT, .nodes = nodes };
    cutis_model *target, *source = make_body(NAMES[0], 1, NULL, &make_motion()->clip), *out;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &target));
    cutis_retarget_report report;
    cutis_retarget_options options = { .rest = CUTIS_RETARGET_ZERO,
                                       .feet = CUTIS_RETARGET_FEET_FREE };
    assert_ok(context, cutis_retarget(target, source, &options, &out, &report));
    assert_int_equal(report.mapped_count, JOINTS);
    assert_true(report.ankle_max < 1e-3); // the same body: on the motion's own path
    cutis_sampler *sampler;
    cutis_transform pose[COUNT];
    cutis_mat34 world[COUNT];
    assert_ok(context, cutis_sampler_create(out, 0, &sampler));
    for (int f = 0; f < FRAMES; f++) {
        cutis_sampler_sample(sampler, (float)f / 8, pose, NULL);
        cutis_pose_world(out, pose, world);
        for (int foot = 15; foot <= 19; foot += 4) {
            double now = 0, rest = 0;
            for (int k = 0; k < 3; k++) {
                double d = (double)world[node_of[foot]].m[4 * k + 3] -
                           world[node_of[foot - 1]].m[4 * k + 3];
                double e = BODY[foot].place[k] - BODY[foot - 1].place[k];
                now += d * d;
                rest += e * e;
            }
            assert_near(sqrt(now), sqrt(rest), 1e-5);
        }
    }
    cutis_sampler_destroy(sampler);
    cutis_model_destroy(out);
    cutis_model_destroy(target);
    cutis_model_destroy(source);
}

// The body with a jaw and a tongue below its head; `way`: from jaw to tongue.
static cutis_model *make_speaker(const double *way, const cutis_clip *clip)
{
    cutis_node nodes[NODES + 2] = { 0 };
    cutis_model *body = make_body(NAMES[0], 1, NULL, NULL), *model = NULL;
    memcpy(nodes, cutis_model_get(body)->nodes, NODES * sizeof *nodes);
    for (int n = NODES; n < NODES + 2; n++) {
        nodes[n] = nodes[NODES - 1];
        nodes[n].rest = cutis_transform_identity();
        nodes[n].name = n == NODES ? "jaw" : "tongue";
        nodes[n].parent = n == NODES ? 4 : NODES;
        float *t = &nodes[n].rest.translation.x;
        for (int k = 0; k < 3; k++) t[k] = n == NODES ? 0.05f * (float)(k > 0) : (float)way[k];
    }
    const cutis_model_data data = {
        .node_count = NODES + 2, .nodes = nodes, .clip_count = clip != NULL, .clips = clip
    };
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    cutis_model_destroy(body);
    return model;
}

// Two rigs of one face put its joints elsewhere: a jaw that the motion turns by 0.3 radians turns
// by 0.3 radians, whatever way its tongue lies.
static void a_jaw_opens_as_in_the_motion_wherever_its_joints_lie(void **state)
{
    (void)state;
    enum { JAW = NODES };
    motion m = *make_motion();
    float turns[4 * FRAMES];
    for (int f = 0; f < FRAMES; f++)
        memcpy(turns + 4 * (size_t)f, (float[4]){ sinf(0.15f), 0, 0, cosf(0.15f) }, 16);
    m.channels[1 + 4] = m.channels[1]; // in place of the head's: turning it is no matter here
    m.channels[1 + 4].node = JAW;
    m.channels[1 + 4].values = turns;
    m.clip.channels = m.channels;
    cutis_model *source = make_speaker((double[3]){ 0, -0.06, 0 }, &m.clip), *out;
    cutis_model *target = make_speaker((double[3]){ 0.01, 0.02, 0.06 }, NULL);
    cutis_retarget_options options = { .rest = CUTIS_RETARGET_ZERO };
    cutis_sampler *sampler;
    cutis_transform pose[NODES + 2];
    assert_ok(context, cutis_retarget(target, source, &options, &out, NULL));
    assert_ok(context, cutis_sampler_create(out, 0, &sampler));
    for (int f = 0; f < FRAMES; f++) {
        cutis_sampler_sample(sampler, (float)f / 8, pose, NULL);
        assert_near(fabsf(pose[JAW].rotation.x), sinf(0.15f), 1e-5);
        assert_near(fabsf(pose[JAW].rotation.w), cosf(0.15f), 1e-5);
        assert_near(fabsf(pose[JAW + 1].rotation.w), 1, 1e-5);
    }
    cutis_sampler_destroy(sampler);
    cutis_model_destroy(out);
    cutis_model_destroy(target);
    cutis_model_destroy(source);
}

// Memory and stopping ----------------------------------------------------------------------------

static long allocations, allocations_max = -1;

static void *counted_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (allocations_max >= 0 && allocations++ >= allocations_max) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void counted_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    free(memory);
}

static bool stop(void *user, const char *stage, double fraction)
{
    (void)stage;
    return !*(bool *)user || fraction < 0.7;
}

static void every_allocation_may_fail_and_stopping_leaves_nothing(void **state)
{
    (void)state;
    bool stopping = false;
    cutis_context *usual = context;
    cutis_context_options options = { .allocator = { .allocate = counted_allocate,
                                                     .release = counted_release },
                                      .progress = stop,
                                      .progress_user = &stopping };
    assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
    cutis_model *source = make_body(NAMES[0], 1, NULL, &make_motion()->clip);
    cutis_model *bare = make_body(NAMES[CONVENTIONS - 1], 1, NULL, NULL), *out = NULL;
    uint64_t before = cutis_context_memory(context);
    for (int run = 0; run < 2; run++) {
        cutis_result result = CUTIS_OUT_OF_MEMORY;
        for (long most = 0; result != CUTIS_OK; most++) {
            allocations = 0, allocations_max = most;
            result = cutis_retarget(run ? bare : source, source, NULL, &out, NULL);
            allocations_max = -1;
            if (result != CUTIS_OK) assert_int_equal(result, CUTIS_OUT_OF_MEMORY);
            cutis_model_destroy(out);
            out = NULL;
            assert_true(cutis_context_memory(context) == before);
        }
    }
    stopping = true;
    assert_int_equal(cutis_retarget(bare, source, NULL, &out, NULL), CUTIS_CANCELLED);
    assert_null(out);
    assert_true(cutis_context_memory(context) == before);
    cutis_model_destroy(source);
    cutis_model_destroy(bare);
    cutis_context_destroy(context);
    context = usual;
}

int main(void)
{
#define claim(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        claim(joints_are_matched_across_six_ways_to_name_them_and_none),
        claim(a_nameless_rig_is_understood_with_z_up_and_with_its_root_in_the_chest),
        claim(rigs_without_anything_in_common_are_refused),
        claim(a_rig_on_itself_turns_every_joint_as_the_motion_does),
        claim(legs_of_a_rig_twice_as_large_and_twisted_at_rest_follow_twice_the_path),
        claim(a_target_that_faces_elsewhere_walks_the_same_way),
        claim(up_is_found_in_any_rest_pose),
        claim(the_new_clip_holds_the_motion_and_old_clips_stay),
        claim(a_leg_reaches_its_goal_with_its_lengths_its_plane_and_its_foot),
        claim(standing_feet_are_found_and_held),
        claim(a_round_sole_rolls_without_sliding),
        claim(runs_have_stances_and_a_foot_that_hangs_does_not_stand),
        claim(feet_that_hang_elsewhere_stay_at_their_shins),
        claim(a_jaw_opens_as_in_the_motion_wherever_its_joints_lie),
        claim(every_allocation_may_fail_and_stopping_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
