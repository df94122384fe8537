// BVH: hierarchy and channels by hand, Euler orders against rotation matrices multiplied here, the
// CMU and MakeHuman files against a second parser in awk, and motion kept on the way out and in.
#include "files.h"

static const char SMALL[] =
    "HIERARCHY\nROOT Hips\n{\n  OFFSET 0 10 0\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
    "  JOINT Left Leg {\n    OFFSET 1 0 0\n    CHANNELS 3 Yrotation Zrotation Xrotation\n"
    "    End Site\n    {\n      OFFSET 0 -5 0\n    }\n  }\n}\n"
    "MOTION\nFrames: 2\nFrame Time: 0.5\n"
    "1 2 3 30 40 50 10 20 30\n4 5 6 90 0 0 -170 80 200\n";

static void hierarchy_and_motion_have_their_known_values(void **state)
{
    fixture *f = *state;
    cutis_model *model;
    assert_ok(f->context,
              cutis_model_read_memory(f->context, SMALL, strlen(SMALL), "dir/small.bvh",
                                      &(cutis_read_options){ .unit_scale = 0.5f }, &model));
    const cutis_model_data *data = cutis_model_get(model);
    assert_int_equal(data->node_count, 3);
    assert_string_equal(data->nodes[1].name, "Left Leg");
    assert_string_equal(data->nodes[2].name, "Left Leg_end");
    assert_int_equal(data->nodes[2].parent, 1);
    assert_near(data->nodes[2].rest.translation.y, -2.5, 0);
    assert_int_equal(data->clip_count, 1);
    assert_string_equal(data->clips[0].name, "small");
    assert_near(data->clips[0].duration, 0.5, 0);
    assert_int_equal(data->clips[0].channel_count, 3);
    const cutis_channel *move = &data->clips[0].channels[0];
    assert_int_equal(move->path, CUTIS_PATH_TRANSLATION);
    const float wanted[] = { 0.5f, 6, 1.5f, 2, 7.5f, 3 }; // offset + position, in metres
    assert_memory_equal(move->values, wanted, sizeof wanted);
    cutis_model_destroy(model);
}

static void axis_matrix(int axis, double degrees, double m[9])
{
    double c = cos(degrees * M_PI / 180), s = sin(degrees * M_PI / 180);
    int u = (axis + 1) % 3, v = (axis + 2) % 3;
    memset(m, 0, 9 * sizeof *m);
    m[4 * axis] = 1;
    m[4 * u] = m[4 * v] = c;
    m[3 * u + v] = -s;
    m[3 * v + u] = s;
}

static void multiply(const double a[9], const double b[9], double out[9])
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 3; c++)
            out[3 * r + c] = a[3 * r] * b[c] + a[3 * r + 1] * b[3 + c] + a[3 * r + 2] * b[6 + c];
}

static void every_order_of_euler_angles_gives_the_product_of_its_matrices(void **state)
{
    fixture *f = *state;
    static const int ORDERS[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                      { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    for (int o = 0; o < 6; o++)
        for (int n = 0; n < 20; n++) {
            double angles[3], a[9], b[9], c[9], ab[9], wanted[9];
            char text[512];
            for (int k = 0; k < 3; k++)
                angles[k] = random_in(9, (uint64_t)(100 * o + 3 * n + k), -400, 400);
            snprintf(text, sizeof text,
                     "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 3 %crotation %crotation %crotation "
                     "}\nMOTION Frames: 1\n"
                     "Frame Time: 1\n%.9f %.9f %.9f",
                     'X' + ORDERS[o][0], 'X' + ORDERS[o][1], 'X' + ORDERS[o][2], angles[0],
                     angles[1], angles[2]);
            cutis_model *model = read_text(f, "e.bvh", text);
            const float *q = cutis_model_get(model)->clips[0].channels[0].values;
            axis_matrix(ORDERS[o][0], angles[0], a);
            axis_matrix(ORDERS[o][1], angles[1], b);
            axis_matrix(ORDERS[o][2], angles[2], c);
            multiply(a, b, ab);
            multiply(ab, c, wanted);
            double x = q[0], y = q[1], z = q[2], w = q[3];
            const double got[9] = { 1 - 2 * (y * y + z * z), 2 * (x * y - z * w),
                                    2 * (x * z + y * w),     2 * (x * y + z * w),
                                    1 - 2 * (x * x + z * z), 2 * (y * z - x * w),
                                    2 * (x * z - y * w),     2 * (y * z + x * w),
                                    1 - 2 * (x * x + y * y) };
            for (int k = 0; k < 9; k++) assert_near(got[k], wanted[k], 5e-7);
            cutis_model_destroy(model);
        }
}

// A channel of floats holds a rotation to 6e-8; the product itself is made in double.
static void a_quarter_turn_about_z_first_takes_x_to_y(void **state)
{
    fixture *f = *state;
    cutis_model *model = read_text(
        f, "q.bvh",
        "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 3 Zrotation Xrotation Yrotation }\nMOTION "
        "Frames: 1\nFrame Time: 1\n90 0 0\n");
    const float *q = cutis_model_get(model)->clips[0].channels[0].values;
    double x = q[0], y = q[1], z = q[2], w = q[3];
    assert_near(1 - 2 * (y * y + z * z), 0, 2e-7);
    assert_near(2 * (x * y + z * w), 1, 2e-7);
    assert_near(2 * (x * z - y * w), 0, 2e-7);
    cutis_model_destroy(model);
}

static double awk_number(const char *program, const char *path)
{
    char command[8192];
    double value = NAN;
    snprintf(command, sizeof command, "tr -d '\\r' < '%s' | awk '%s'", path, program);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%lf", &value), 1);
    pclose(pipe);
    return value;
}

static void assert_awks_motion(fixture *f, const char *path)
{
    cutis_model *model = read_ok(f, path);
    const cutis_model_data *data = cutis_model_get(model);
    assert_int_equal(data->node_count,
                     (uint32_t)awk_number("/ROOT|JOINT|End/{n++} END{print n}", path));
    const cutis_channel *move = &data->clips[0].channels[0];
    assert_int_equal(move->key_count, (uint32_t)awk_number("/^Frames:/{print $2}", path));
    // Third coordinate of the root in the last frame: its offset and its third channel.
    double z =
        awk_number("/OFFSET/&&!o{o=1;z=$4} NF>20{last=$3} END{printf \"%.9g\",z+last}", path);
    assert_int_equal(move->path, CUTIS_PATH_TRANSLATION);
    assert_near(move->values[3 * (size_t)move->key_count - 1], z, 1e-5 * (1 + fabs(z)));
    cutis_model_destroy(model);
}

/// A chain of `joints` with an end site, `frames` in which every channel swings.
static void write_chain(fixture *f, const char *name, int joints, int frames)
{
    static char text[60000];
    int at = snprintf(text, sizeof text, "HIERARCHY\n");
    for (int j = 0; j < joints; j++)
        at += snprintf(
            text + at, sizeof text - (size_t)at,
            "%s bone%d\n{\nOFFSET %d 1.5 %d\nCHANNELS %s Zrotation Xrotation Yrotation\n",
            j ? "JOINT" : "ROOT", j, j, 3 - j, j ? "3" : "6 Xposition Yposition Zposition");
    at += snprintf(text + at, sizeof text - (size_t)at, "End Site\n{\nOFFSET 0 2 0\n}\n");
    for (int j = 0; j < joints; j++) at += snprintf(text + at, sizeof text - (size_t)at, "}\n");
    at += snprintf(text + at, sizeof text - (size_t)at, "MOTION\nFrames: %d\nFrame Time: 0.01\n",
                   frames);
    for (int k = 0; k < frames; k++)
        for (int c = 0; c < 3 * joints + 3; c++)
            at += snprintf(text + at, sizeof text - (size_t)at, "%.4f%c",
                           60 * sin(0.1 * k * (1 + c % 3) + c), c == 3 * joints + 2 ? '\n' : ' ');
    write_text(f, name, text);
}

#define CMU "cmu-mocap/data/"
static void files_have_the_joints_frames_and_root_path_awk_finds(void **state)
{
    fixture *f = *state;
    static const char *const FILES[] = { CMU "002/02_01.bvh", CMU "016/16_35.bvh",
                                         "makehuman/makehuman/data/animations/walks/walk1.bvh",
                                         "makehuman/makehuman/data/poses/tpose.bvh" };
    write_chain(f, "chain.bvh", 9, 40);
    assert_awks_motion(f, path_in(f, "chain.bvh"));
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (shared_is_there(FILES[i])) assert_awks_motion(f, shared_path(FILES[i]));
    if (cutis_context_memory(f->context)) fail();
}

static void assert_same_motion(fixture *f, const cutis_model *a, const cutis_model *b)
{
    const cutis_model_data *x = cutis_model_get(a), *y = cutis_model_get(b);
    static cutis_transform p[512], q[512];
    static cutis_mat34 u[512], v[512];
    cutis_sampler *s, *t;
    assert_int_equal(x->node_count, y->node_count);
    assert_true(x->node_count <= 512);
    assert_ok(f->context, cutis_sampler_create(a, 0, &s));
    assert_ok(f->context, cutis_sampler_create(b, 0, &t));
    assert_near(cutis_sampler_duration(s), cutis_sampler_duration(t), 1e-5);
    for (int k = 0; k <= 10; k++) {
        float time = cutis_sampler_duration(s) * (float)k / 10;
        cutis_sampler_sample(s, time, p, NULL);
        cutis_sampler_sample(t, time, q, NULL);
        cutis_pose_world(a, p, u);
        cutis_pose_world(b, q, v);
        for (uint32_t n = 0; n < x->node_count; n++) {
            assert_string_equal(x->nodes[n].name, y->nodes[n].name);
            for (int i = 0; i < 12; i++) assert_near(u[n].m[i], v[n].m[i], 2e-4);
        }
    }
    cutis_sampler_destroy(s);
    cutis_sampler_destroy(t);
}

static void motion_written_and_read_again_is_the_same_motion(void **state)
{
    fixture *f = *state;
    write_chain(f, "chain.bvh", 9, 40);
    for (int real = 0; real <= shared_is_there(CMU "016/16_35.bvh"); real++) {
        cutis_model *model =
            read_ok(f, real ? shared_path(CMU "016/16_35.bvh") : path_in(f, "chain.bvh"));
        assert_ok(f->context, cutis_model_write(model, path_in(f, "again.bvh"), NULL));
        cutis_model *again = read_ok(f, path_in(f, "again.bvh"));
        assert_same_motion(f, model, again);
        cutis_model_destroy(model);
        cutis_model_destroy(again);
    }
}

static void assert_second_clip(fixture *f, const cutis_model *model, const char *path,
                               const char *name)
{
    cutis_model *more;
    assert_ok(f->context, cutis_model_read_clip(model, path, &more));
    const cutis_model_data *data = cutis_model_get(more);
    assert_int_equal(data->clip_count, 2);
    assert_string_equal(data->clips[1].name, name);
    assert_int_equal(data->clips[1].channels[0].key_count,
                     (uint32_t)awk_number("/^Frames:/{print $2}", path));
    assert_int_equal(data->clips[1].channel_count, data->clips[0].channel_count);
    cutis_model_destroy(more);
}

static void clips_of_another_bvh_are_matched_by_name(void **state)
{
    fixture *f = *state;
    cutis_model *model, *more = NULL;
    if (shared_is_there(CMU "016/16_35.bvh") && shared_is_there(CMU "002/02_03.bvh")) {
        model = read_ok(f, shared_path(CMU "016/16_35.bvh"));
        assert_second_clip(f, model, shared_path(CMU "002/02_03.bvh"), "02_03");
        cutis_model_destroy(model);
    }
    write_chain(f, "first.bvh", 9, 20);
    write_chain(f, "second.bvh", 9, 30);
    model = read_ok(f, path_in(f, "first.bvh"));
    assert_second_clip(f, model, path_in(f, "second.bvh"), "second");
    write_text(f, "x.bvh",
               "HIERARCHY ROOT nobody { OFFSET 0 0 0 CHANNELS 1 Xrotation }\nMOTION Frames: "
               "1\nFrame Time: 1\n5\n");
    assert_int_equal(cutis_model_read_clip(model, path_in(f, "x.bvh"), &more), CUTIS_NOT_FOUND);
    assert_null(more);
    cutis_model_destroy(model);
}

static void bad_files_are_refused_with_their_line(void **state)
{
    fixture *f = *state;
    refuse_text(f, "a.bvh", "HIERARCHY\nJOINT x\n", CUTIS_CORRUPT_DATA, "line 2: expected ROOT");
    refuse_text(f, "a.bvh", "HIERARCHY\nROOT r\n{\nOFFSET 0 0\n}\n", CUTIS_CORRUPT_DATA,
                "line 5: not a number: '}'");
    refuse_text(f, "a.bvh", "HIERARCHY\nROOT r\n{\n}\n", CUTIS_CORRUPT_DATA, "without OFFSET");
    refuse_text(f, "a.bvh", "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 7 Xrotation\n",
                CUTIS_CORRUPT_DATA, "0 to 6 channels");
    refuse_text(f, "a.bvh", "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 1 Wrotation\n",
                CUTIS_CORRUPT_DATA, "line 5: unknown channel 'Wrotation'");
    refuse_text(f, "a.bvh", "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 2 Xrotation Xrotation }",
                CUTIS_CORRUPT_DATA, "twice");
    refuse_text(f, "a.bvh", "HIERARCHY ROOT r { OFFSET 0 0 0", CUTIS_CORRUPT_DATA, "ends inside");
    refuse_text(f, "a.bvh",
                "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 1 Xrotation }\nMOTION\nFrames: "
                "4000000000\nFrame Time: 1\n1\n",
                CUTIS_CORRUPT_DATA, "before the announced frame");
    refuse_text(f, "a.bvh",
                "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 1 Xrotation }\nMOTION\nFrames: 2\nFrame "
                "Time: 0\n1\n2\n",
                CUTIS_CORRUPT_DATA, "must be positive");
    refuse_text(f, "a.bvh",
                "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 1 Xrotation }\nMOTION\nFrames: 2\nFrame "
                "Time: 1\n1\nx2\n",
                CUTIS_CORRUPT_DATA, "line 6: not a number: 'x2'");
    refuse_text(f, "a.bvh",
                "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 1 Xrotation }\nMOTION\nFrames: 3\nFrame "
                "Time: 1\n1.00\n2.00\n",
                CUTIS_CORRUPT_DATA, "the file ends where a number is wanted");
}

// A line with a number too many shifts all frames behind it: read on, the motion would be another.
static void lines_of_another_length_are_refused_and_frames_too_many_are_left_out(void **state)
{
    static const char HEAD[] = "HIERARCHY ROOT r { OFFSET 0 0 0 CHANNELS 2 Xrotation Yrotation }\n"
                               "MOTION\nFrames: 2\nFrame Time: 1\n";
    fixture *f = *state;
    char text[512];
    snprintf(text, sizeof text, "%s1 2 3\n4 5 6\n7 8 9\n", HEAD);
    refuse_text(f, "a.bvh", text, CUTIS_CORRUPT_DATA, "5 numbers behind the last frame");
    snprintf(text, sizeof text, "%s1 2 3\n4 5 6\n", HEAD); // a frame more, if one only counts
    refuse_text(f, "a.bvh", text, CUTIS_CORRUPT_DATA, "lines of 3 numbers");
    snprintf(text, sizeof text, "%s1 2 3 4\n5 6 7 8\n", HEAD);
    refuse_text(f, "a.bvh", text, CUTIS_CORRUPT_DATA, "lines of 4 numbers");
    // Frames a line, over several lines, all on one line, and in lines of any length.
    static const char *const GOOD[] = { "1 2\n3 4\n5 6\n", "1\n2\n3\n4\n5\n6\n", "1 2 3 4 5 6\n",
                                        "1 2 3\n4 5\n6\n", "1 2 3 4\n5 6" };
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++) {
        snprintf(text, sizeof text, "%s%s", HEAD, GOOD[i]);
        write_text(f, "a.bvh", text);
        cutis_model *model = NULL;
        assert_ok(f->context, cutis_model_read(f->context, path_in(f, "a.bvh"), NULL, &model));
        assert_int_equal(cutis_model_get(model)->clips[0].channels[0].key_count, 2);
        cutis_model_destroy(model);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(hierarchy_and_motion_have_their_known_values),
        claim(every_order_of_euler_angles_gives_the_product_of_its_matrices),
        claim(a_quarter_turn_about_z_first_takes_x_to_y),
        claim(files_have_the_joints_frames_and_root_path_awk_finds),
        claim(motion_written_and_read_again_is_the_same_motion),
        claim(clips_of_another_bvh_are_matched_by_name),
        claim(bad_files_are_refused_with_their_line),
        claim(lines_of_another_length_are_refused_and_frames_too_many_are_left_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
