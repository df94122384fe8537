// Twist joints: where they stand, what skin they have, how retargeting turns them, and what of a
// wrung wrist is left. Expected values are formulas over the written model, in double.
#include "support.h"

#include <cutis/retarget.h>
#include <cutis/rig.h>

static cutis_context *context;
static cutis_model *plain, *twisted; // one body, rigged without and with twist joints

static cutis_model *rig(const cutis_model *bare, bool twist)
{
    cutis_model *out = NULL;
    cutis_rig_report *report = NULL;
    assert_ok(context,
              cutis_rig(bare, NULL, &(cutis_rig_options){ .twist = twist }, &out, &report));
    assert_int_equal(report->problem_count, 0);
    assert_int_equal(report->joint_count, cutis_model_get(out)->skins[0].joint_count);
    cutis_rig_report_destroy(report);
    return out;
}

static int setup(void **state)
{
    (void)state;
    cutis_model *bare = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_synth_options options = { .body = CUTIS_BODY_FAMILY,
                                    .vertex_count = 6000,
                                    .seed = 100,
                                    .pose = CUTIS_FAMILY_POSE_T,
                                    .scan = CUTIS_FAMILY_SCAN_OFF,
                                    .unrigged = true };
    assert_ok(context, cutis_synth_create(context, &options, &bare));
    plain = rig(bare, false), twisted = rig(bare, true);
    cutis_model_destroy(bare);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    cutis_model_destroy(plain);
    cutis_model_destroy(twisted);
    uint64_t left = cutis_context_memory(context);
    cutis_context_destroy(context);
    return left != 0;
}

static uint32_t joint_of(const cutis_model *model, const char *name)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t j = 0; j < data->skins[0].joint_count; j++)
        if (strcmp(data->nodes[data->skins[0].joints[j]].name, name) == 0) return j;
    fail_msg("no joint %s", name);
    return 0;
}

static void place_of(const cutis_model *model, const char *name, double *out)
{
    cutis_mat34 bind;
    assert_true(cutis_mat34_invert(
        &cutis_model_get(model)->skins[0].inverse_binds[joint_of(model, name)], &bind));
    for (int k = 0; k < 3; k++) out[k] = (double)bind.m[4 * k + 3];
}

static double weight_at(const cutis_influences *in, uint32_t v, uint32_t joint)
{
    for (uint32_t i = in->first[v]; i < in->first[v + 1]; i++)
        if (in->joints[i] == joint) return (double)in->weights[i];
    return 0;
}

// How far a point is along a bone.
static double along(const double *a, const double *b, const float *x)
{
    double dot = 0, square = 0;
    for (int k = 0; k < 3; k++) {
        dot += ((double)x[k] - a[k]) * (b[k] - a[k]);
        square += (b[k] - a[k]) * (b[k] - a[k]);
    }
    return dot / square;
}

static const struct {
    const char *bone, *next, *twist;
    bool near;
} BONES[] = { { "upperarm_l", "forearm_l", "upperarm_twist_l", true },
              { "upperarm_r", "forearm_r", "upperarm_twist_r", true },
              { "forearm_l", "hand_l", "forearm_twist_l", false },
              { "forearm_r", "hand_r", "forearm_twist_r", false },
              { "thigh_l", "shin_l", "thigh_twist_l", true },
              { "thigh_r", "shin_r", "thigh_twist_r", true } };

static void twist_joints_stand_halfway_and_share_linearly(void **state)
{
    (void)state;
    const cutis_model_data *data = cutis_model_get(twisted);
    const cutis_primitive *p = &data->meshes[0].primitives[0];
    assert_int_equal(data->skins[0].joint_count, cutis_model_get(plain)->skins[0].joint_count + 6);
    for (size_t b = 0; b < sizeof BONES / sizeof *BONES; b++) {
        double from[3], to[3], at[3];
        uint32_t seen = 0;
        const uint32_t bone = joint_of(twisted, BONES[b].bone);
        const uint32_t twist = joint_of(twisted, BONES[b].twist);
        place_of(twisted, BONES[b].bone, from);
        place_of(twisted, BONES[b].next, to);
        place_of(twisted, BONES[b].twist, at);
        for (int k = 0; k < 3; k++) assert_near(at[k], (from[k] + to[k]) / 2, 1e-5);
        for (uint32_t v = 0; v < p->vertex_count; v++) {
            double own = weight_at(&p->influences, v, bone),
                   other = weight_at(&p->influences, v, twist);
            if (!(own > 0.05) || !(other > 0.05)) continue; // one of the two may have been dropped
            double t = along(from, to, p->positions + 3 * (size_t)v);
            assert_near(other / (own + other), BONES[b].near ? 1 - t : t, 1e-4);
            seen++;
        }
        assert_true(seen > 50);
    }
}

static void weights_sum_to_one_and_are_four_at_most(void **state)
{
    (void)state;
    const cutis_primitive *p = &cutis_model_get(twisted)->meshes[0].primitives[0];
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        double sum = 0;
        assert_true(p->influences.first[v + 1] - p->influences.first[v] <= 4);
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++)
            sum += (double)p->influences.weights[i];
        assert_near(sum, 1, 1e-5);
    }
}

// The plain rig with a clip of one joint: turned about its bone (`own`: y of itself), or of its
// parent's.
static cutis_model *twisting(const char *joint, double degrees, bool own)
{
    cutis_model_data data = *cutis_model_get(plain);
    const uint32_t node = data.skins[0].joints[joint_of(plain, joint)];
    const float times[2] = { 0, 1 }, half = (float)(degrees * M_PI / 360);
    const cutis_transform turn = { .rotation = { 0, sinf(half), 0, cosf(half) },
                                   .scale = { 1, 1, 1 } };
    cutis_transform rest = data.nodes[node].rest;
    rest.translation = (cutis_float3){ 0 };
    const cutis_mat34 a = cutis_mat34_from_transform(own ? &rest : &turn),
                      b = cutis_mat34_from_transform(own ? &turn : &rest),
                      m = cutis_mat34_multiply(&a, &b);
    const cutis_quat q = cutis_transform_from_mat34(&m).rotation;
    const float values[8] = { q.x, q.y, q.z, q.w, q.x, q.y, q.z, q.w };
    const cutis_channel channel = { .node = node,
                                    .path = CUTIS_PATH_ROTATION,
                                    .interpolation = CUTIS_INTERPOLATION_LINEAR,
                                    .key_count = 2,
                                    .times = times,
                                    .values = values };
    const cutis_clip clip = { .name = "twist", .channel_count = 1, .channels = &channel };
    cutis_model *out = NULL;
    data.clips = &clip, data.clip_count = 1;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &out));
    return out;
}

static cutis_model *moved(const cutis_model *target, const char *joint, double degrees, bool own)
{
    cutis_model *motion = twisting(joint, degrees, own), *out = NULL;
    assert_ok(context, cutis_retarget(target, motion,
                                      &(cutis_retarget_options){ .rest = CUTIS_RETARGET_ZERO,
                                                                 .feet = CUTIS_RETARGET_FEET_FREE },
                                      &out, NULL));
    cutis_model_destroy(motion);
    return out;
}

static void turns_about_y_by(const cutis_model *model, const char *joint, double degrees)
{
    const cutis_model_data *data = cutis_model_get(model);
    const uint32_t node = data->skins[0].joints[joint_of(model, joint)];
    const cutis_clip *clip = &data->clips[data->clip_count - 1];
    for (uint32_t c = 0; c < clip->channel_count; c++) {
        if (clip->channels[c].node != node || clip->channels[c].path != CUTIS_PATH_ROTATION)
            continue;
        const float *q = clip->channels[c].values, *r = &data->nodes[node].rest.rotation.x;
        // conjugate(rest) key: the turn, in the joint's own axes
        double w = 0, y = (double)r[3] * q[1] - (double)r[1] * q[3] - (double)r[2] * q[0] +
                          (double)r[0] * q[2];
        for (int k = 0; k < 4; k++) w += (double)r[k] * q[k];
        assert_near(remainder(2 * atan2(y, w) - degrees * M_PI / 180, 2 * M_PI), 0, 0.02);
        assert_near(w * w + y * y, 1, 1e-3); // about y, and nothing else
        return;
    }
    fail_msg("%s has no keys", joint);
}

static void a_forearm_takes_half_of_the_hand_and_an_upper_arm_leaves_half_behind(void **state)
{
    (void)state;
    static const double ANGLES[] = { 90, 150, -60 };
    for (size_t i = 0; i < sizeof ANGLES / sizeof *ANGLES; i++) {
        cutis_model *model = moved(twisted, "hand_l", ANGLES[i], false);
        turns_about_y_by(model, "forearm_twist_l", ANGLES[i] / 2);
        turns_about_y_by(model, "forearm_twist_r", 0);
        turns_about_y_by(model, "upperarm_twist_l", 0);
        cutis_model_destroy(model);
    }
    cutis_model *arm = moved(twisted, "upperarm_r", 80, true);
    cutis_model *leg = moved(twisted, "thigh_l", -50, true);
    turns_about_y_by(arm, "upperarm_twist_r", -40);
    turns_about_y_by(arm, "forearm_twist_r", 0);
    turns_about_y_by(leg, "thigh_twist_l", 25);
    cutis_model_destroy(arm);
    cutis_model_destroy(leg);
}

enum { BANDS = 12 };

// Mean distance of the skin of a forearm and its wrist from the bone, band by band, at a clip's
// start.
static void radii(const cutis_model *model, bool posed, double *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_primitive *p = &data->meshes[0].primitives[0];
    const cutis_skin *skin = &data->skins[0];
    cutis_transform *pose = malloc(data->node_count * sizeof *pose);
    cutis_mat34 *world = malloc(data->node_count * sizeof *world);
    double from[3], to[3], count[BANDS] = { 0 };
    cutis_pose_rest(model, pose, NULL);
    if (posed) {
        cutis_sampler *sampler = NULL;
        assert_ok(context, cutis_sampler_create(model, data->clip_count - 1, &sampler));
        cutis_sampler_sample(sampler, 0, pose, NULL);
        cutis_sampler_destroy(sampler);
    }
    cutis_pose_world(model, pose, world);
    for (int k = 0; k < 3; k++) {
        from[k] = (double)world[skin->joints[joint_of(model, "forearm_l")]].m[4 * k + 3];
        to[k] = (double)world[skin->joints[joint_of(model, "hand_l")]].m[4 * k + 3];
    }
    double rest_from[3], rest_to[3];
    place_of(model, "forearm_l", rest_from);
    place_of(model, "hand_l", rest_to);
    memset(out, 0, BANDS * sizeof *out);
    for (uint32_t v = 0; v < p->vertex_count; v++) {
        const float *x = p->positions + 3 * (size_t)v;
        const double t = along(rest_from, rest_to, x);
        double sum = 0, m[3] = { 0 }, square = 0;
        if (!(t > 0.1) || !(t < 1.3) || fabs((double)x[1] - rest_to[1]) > 0.15) continue;
        for (uint32_t i = p->influences.first[v]; i < p->influences.first[v + 1]; i++) {
            const cutis_mat34 bone =
                cutis_mat34_multiply(&world[skin->joints[p->influences.joints[i]]],
                                     &skin->inverse_binds[p->influences.joints[i]]);
            const cutis_float3 at = cutis_mat34_point(&bone, (cutis_float3){ x[0], x[1], x[2] });
            for (int k = 0; k < 3; k++)
                m[k] += (double)p->influences.weights[i] * (double)(&at.x)[k];
            sum += (double)p->influences.weights[i];
        }
        const float now[3] = { (float)(m[0] / sum), (float)(m[1] / sum), (float)(m[2] / sum) };
        const double s = along(from, to, now);
        for (int k = 0; k < 3; k++) {
            const double off = (double)now[k] - from[k] - s * (to[k] - from[k]);
            square += off * off;
        }
        const int band = (int)((t - 0.1) / 1.2 * BANDS);
        out[band] += sqrt(square), count[band]++;
    }
    for (int b = 0; b < BANDS; b++) out[b] /= count[b] > 0 ? count[b] : 1;
    free(pose);
    free(world);
}

// What is left of the thinnest place of the forearm.
static double thinnest(const cutis_model *target, double degrees)
{
    double rest[BANDS], now[BANDS], least = 1;
    cutis_model *model = moved(target, "hand_l", degrees, false);
    radii(model, false, rest);
    radii(model, true, now);
    for (int b = 0; b < BANDS; b++)
        if (rest[b] > 0) least = fmin(least, now[b] / rest[b]);
    cutis_model_destroy(model);
    return least;
}

static void a_wrung_forearm_keeps_its_girth(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        const double degrees = i ? 150 : 90, without = thinnest(plain, degrees),
                     with = thinnest(twisted, degrees);
        print_message("hand twisted by %g degrees: thinnest place of the forearm %.3f of its rest "
                      "without twist joints, %.3f with\n",
                      degrees, without, with);
        assert_true(1 - with < 0.5 * (1 - without)); // at least half of the collapse is gone
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twist_joints_stand_halfway_and_share_linearly),
        cmocka_unit_test(weights_sum_to_one_and_are_four_at_most),
        cmocka_unit_test(a_forearm_takes_half_of_the_hand_and_an_upper_arm_leaves_half_behind),
        cmocka_unit_test(a_wrung_forearm_keeps_its_girth),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
