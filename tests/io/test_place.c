// Up and units: what is read as another axis up, or in another unit, is the same file turned and
// scaled. Judged by a rotation matrix made of sines and cosines in double, by deforming first and
// turning afterwards, and by bodies made by code, laid on their backs and sides, whose axis and
// unit must be guessed.
#include "files.h"

#include <cutis/synth.h>

/// What S does: a rotation by a quarter, and a scale.
static void turn_point(cutis_up up, double scale, const double p[3], double out[3])
{
    // z to y is -90 degrees about x; x to y is 90 degrees about z.
    const double angle = up == CUTIS_UP_Z ? -acos(0) : up == CUTIS_UP_X ? acos(0) : 0;
    const double c = cos(angle), s = sin(angle);
    const double about_x[3][3] = { { 1, 0, 0 }, { 0, c, -s }, { 0, s, c } },
                 about_z[3][3] = { { c, -s, 0 }, { s, c, 0 }, { 0, 0, 1 } };
    for (int i = 0; i < 3; i++) {
        out[i] = 0;
        for (int j = 0; j < 3; j++)
            out[i] += scale * (up == CUTIS_UP_X ? about_z : about_x)[i][j] * p[j];
    }
}

static void assert_turned(cutis_up up, double scale, const float *was, const float *is,
                          size_t count, double tolerance)
{
    for (size_t v = 0; v < count; v++) {
        const double p[3] = { (double)was[3 * v], (double)was[3 * v + 1], (double)was[3 * v + 2] };
        double wanted[3];
        turn_point(up, scale, p, wanted);
        for (size_t k = 0; k < 3; k++) assert_near(is[3 * v + k], wanted[k], tolerance);
    }
}

static cutis_model *read_as(fixture *f, const char *path, cutis_read_options options)
{
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_model_read(f->context, path, &options, &model));
    return model;
}

static const char OBJ[] = "v 1 2 3\nv -4 5 6.5\nv 7 -8 .25\nvn 0.6 0 0.8\nvn 0 1 0\nvn 0 0 -1\n"
                          "f 1//1 2//2 3//3\n";

static void positions_and_normals_are_turned_and_scaled(void **state)
{
    static const struct {
        const char *name, *text;
    } FILES[] = {
        { "a.obj", OBJ },
        { "a.ply", "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\n"
                   "property float z\nproperty float nx\nproperty float ny\nproperty float nz\n"
                   "element face 1\nproperty list uchar int vertex_indices\nend_header\n"
                   "1 2 3 .6 0 .8\n-4 5 6.5 0 1 0\n7 -8 .25 0 0 -1\n3 0 1 2\n" },
        { "a.off", "NOFF 3 1 0\n1 2 3 .6 0 .8\n-4 5 6.5 0 1 0\n7 -8 .25 0 0 -1\n3 0 1 2\n" },
        { "a.stl", "solid\nfacet normal 0 0 0\nouter loop\nvertex 1 2 3\nvertex -4 5 6.5\n"
                   "vertex 7 -8 .25\nendloop\nendfacet\nendsolid\n" },
    };
    static const double METRES[] = { 1, 0.01, 0.001, 0.0254 };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        write_text(f, FILES[i].name, FILES[i].text);
        cutis_model *plain = read_ok(f, path_in(f, FILES[i].name));
        const cutis_primitive *p = only_primitive(plain);
        for (int up = CUTIS_UP_Y; up <= CUTIS_UP_Z; up++)
            for (int unit = CUTIS_UNITS_M; unit <= CUTIS_UNITS_IN; unit++) {
                cutis_model *model =
                    read_as(f, path_in(f, FILES[i].name),
                            (cutis_read_options){ .up = (cutis_up)up, .units = (cutis_units)unit });
                const cutis_primitive *q = only_primitive(model);
                assert_turned((cutis_up)up, METRES[unit], p->positions, q->positions, 3, 1e-6);
                if (p->normals) assert_turned((cutis_up)up, 1, p->normals, q->normals, 3, 1e-7);
                assert_int_equal(!p->normals, !q->normals);
                assert_memory_equal(p->indices, q->indices, 12);
                cutis_model_destroy(model);
            }
        cutis_model_destroy(plain);
    }
}

// --units cm is --scale 0.01, to the bit; turning alone loses no bit either.
static void a_unit_is_its_scale_and_turning_is_exact(void **state)
{
    fixture *f = *state;
    write_text(f, "a.obj", OBJ);
    const char *path = path_in(f, "a.obj");
    cutis_model *a = read_as(f, path, (cutis_read_options){ .units = CUTIS_UNITS_CM }),
                *b = read_as(f, path, (cutis_read_options){ .unit_scale = 0.01f }),
                *c =
                    read_as(f, path, (cutis_read_options){ .up = CUTIS_UP_Z, .unit_scale = 0.01f });
    const float *p = only_primitive(b)->positions, *q = only_primitive(c)->positions;
    assert_same_primitive(only_primitive(a), only_primitive(b));
    for (int v = 0; v < 3; v++) {
        assert_true(q[3 * v] == p[3 * v] && q[3 * v + 1] == p[3 * v + 2]);
        assert_true(q[3 * v + 2] == -p[3 * v + 1]);
    }
    cutis_model_destroy(a);
    cutis_model_destroy(b);
    cutis_model_destroy(c);
}

/// World positions of all nodes at a time of the last clip.
static void place_nodes(fixture *f, const cutis_model *model, float seconds, float *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_sampler *sampler = NULL;
    cutis_transform *pose = malloc(data->node_count * sizeof *pose);
    cutis_mat34 *world = malloc(data->node_count * sizeof *world);
    assert_ok(f->context, cutis_sampler_create(model, data->clip_count - 1, &sampler));
    cutis_sampler_sample(sampler, seconds, pose, NULL);
    cutis_pose_world(model, pose, world);
    for (uint32_t i = 0; i < data->node_count; i++)
        for (int k = 0; k < 3; k++) out[3 * i + (uint32_t)k] = world[i].m[4 * k + 3];
    cutis_sampler_destroy(sampler);
    free(pose);
    free(world);
}

static const char BVH[] =
    "HIERARCHY\nROOT Hips { OFFSET 1 2 3 CHANNELS 6 Xposition Yposition Zposition Zrotation "
    "Xrotation Yrotation\nJOINT Leg { OFFSET 4 0 -30 CHANNELS 3 Zrotation Xrotation Yrotation\n"
    "JOINT Foot { OFFSET 0 1 -40 CHANNELS 3 Yrotation Zrotation Xrotation\n"
    "End Site { OFFSET 0 10 0 } } }\nJOINT Head { OFFSET 0 0 70 CHANNELS 3 Xrotation Yrotation "
    "Zrotation\nEnd Site { OFFSET 0 0 20 } } }\nMOTION\nFrames: 3\nFrame Time: 0.5\n"
    "0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n10 20 30 10 20 30 40 -50 60 70 80 -90 15 25 35\n"
    "5 6 7 -20 40 80 -60 70 5 15 -25 35 45 -55 65\n";

static void assert_motion_turned(fixture *f, const cutis_model *plain, const cutis_model *turned,
                                 cutis_up up, double scale, double tolerance)
{
    const uint32_t count = cutis_model_get(plain)->node_count;
    float *was = malloc(count * 12), *is = malloc(count * 12);
    assert_int_equal(cutis_model_get(turned)->node_count, count);
    for (int t = 0; t <= 8; t++) {
        place_nodes(f, plain, .125f * (float)t, was);
        place_nodes(f, turned, .125f * (float)t, is);
        assert_turned(up, scale, was, is, count, tolerance);
    }
    free(was);
    free(is);
}

static void a_motion_is_turned_as_a_whole(void **state)
{
    fixture *f = *state;
    write_text(f, "m.bvh", BVH);
    cutis_model *plain = read_ok(f, path_in(f, "m.bvh"));
    for (int up = CUTIS_UP_Y; up <= CUTIS_UP_Z; up++) {
        cutis_model *model =
            read_as(f, path_in(f, "m.bvh"),
                    (cutis_read_options){ .up = (cutis_up)up, .units = CUTIS_UNITS_IN });
        assert_motion_turned(f, plain, model, (cutis_up)up, 0.0254, 1e-5);
        // At rest nothing is turned, so that it can be written as BVH; and it is the same motion.
        for (uint32_t i = 0; i < cutis_model_get(model)->node_count; i++)
            assert_near(cutis_model_get(model)->nodes[i].rest.rotation.w, 1, 0);
        assert_ok(f->context, cutis_model_write(model, path_in(f, "again.bvh"), NULL));
        cutis_model *again = read_ok(f, path_in(f, "again.bvh"));
        assert_motion_turned(f, plain, again, (cutis_up)up, 0.0254, 1e-4);
        // A clip that is read later comes from the same program: turned and scaled alike.
        cutis_model *more = NULL;
        assert_ok(f->context, cutis_model_read_clip(model, path_in(f, "m.bvh"), &more));
        assert_int_equal(cutis_model_get(more)->clip_count, 2);
        assert_motion_turned(f, plain, more, (cutis_up)up, 0.0254, 1e-5);
        cutis_model_destroy(more);
        cutis_model_destroy(again);
        cutis_model_destroy(model);
    }
    cutis_model_destroy(plain);
}

/// Deformed positions at a time of the last clip.
static void deform(fixture *f, cutis_device *device, const cutis_model *model, cutis_method method,
                   float seconds, float *out, float *normals)
{
    const cutis_model_data *data = cutis_model_get(model);
    cutis_sampler *sampler = NULL;
    cutis_binding *binding = NULL;
    cutis_transform *pose = malloc(data->node_count * sizeof *pose);
    assert_ok(f->context, cutis_sampler_create(model, data->clip_count - 1, &sampler));
    assert_ok(f->context,
              cutis_bind(device, model, &(cutis_bind_options){ .method = method, .normals = true },
                         &binding));
    cutis_sampler_sample(sampler, seconds, pose, NULL);
    assert_ok(f->context,
              cutis_deform(binding, &(cutis_poses){ .kind = CUTIS_POSE_LOCAL, .local = pose }, 1,
                           &(cutis_outputs){ .positions.data = out, .normals.data = normals }));
    cutis_binding_destroy(binding);
    cutis_sampler_destroy(sampler);
    free(pose);
}

// Two bones, the second turned at rest, and a skin between them.
static void write_character(fixture *f)
{
    write_text(f, "c.xsf",
               "<SKELETON><BONE NAME=\"root\"><TRANSLATION>0 1 0</TRANSLATION><ROTATION>0 0 0 "
               "1</ROTATION><LOCALTRANSLATION>0 -1 0</LOCALTRANSLATION><LOCALROTATION>0 0 0 "
               "1</LOCALROTATION><PARENTID>-1</PARENTID></BONE><BONE NAME=\"tip\"><TRANSLATION>0 2 "
               "0</TRANSLATION><ROTATION>0 0 0.70710678 0.70710678</ROTATION><LOCALTRANSLATION>3 0 "
               "0</LOCALTRANSLATION><LOCALROTATION>0 0 -0.70710678 0.70710678</LOCALROTATION>"
               "<PARENTID>0</PARENTID></BONE></SKELETON>");
    char text[4096] = "<MESH><SUBMESH>";
    for (int v = 0; v < 12; v++)
        sprintf(text + strlen(text),
                "<VERTEX><POS>%d %g %d</POS><NORM>%g 0 %g</NORM><INFLUENCE ID=\"0\">%g</INFLUENCE>"
                "<INFLUENCE ID=\"1\">%g</INFLUENCE></VERTEX>",
                v % 3 - 1, .5 * v, v % 2, v % 2 ? .6 : 0., v % 2 ? .8 : 1., 1 - v / 11., v / 11.);
    for (int t = 0; t < 10; t++)
        sprintf(text + strlen(text), "<FACE VERTEXID=\"%d %d %d\"/>", t, t + 1, t + 2);
    strcat(text, "</SUBMESH></MESH>");
    write_text(f, "c.xmf", text);
    static const char CLIP[] =
        "<ANIMATION VERSION=\"1000\" DURATION=\"1\" NUMTRACKS=\"2\"><TRACK BONEID=\"0\"><KEYFRAME "
        "TIME=\"0\"><TRANSLATION>0 1 0</TRANSLATION><ROTATION>0 0 0 "
        "1</ROTATION></KEYFRAME><KEYFRAME "
        "TIME=\"1\"><TRANSLATION>1 2 3</TRANSLATION><ROTATION>0.5 0.5 -0.5 "
        "0.5</ROTATION></KEYFRAME>"
        "</TRACK><TRACK BONEID=\"1\"><KEYFRAME TIME=\"0\"><TRANSLATION>0 2 "
        "0</TRANSLATION><ROTATION>"
        "0 0.6 0 0.8</ROTATION></KEYFRAME><KEYFRAME TIME=\"1\"><TRANSLATION>0 2 1</TRANSLATION>"
        "<ROTATION>0.6 0 0 0.8</ROTATION></KEYFRAME></TRACK></ANIMATION>";
    write_text(f, "c.xaf", CLIP);
    assert_int_equal(mkdir(path_in(f, "later"), 0700), 0);
    write_text(f, "later/l.xaf", CLIP);
    write_text(f, "c.cfg", "scale=0.5\nskeleton=c.xsf\nmesh=c.xmf\nanimation=c.xaf\n");
}

static void assert_deformed_alike(fixture *f, const cutis_model *plain, const cutis_model *turned,
                                  cutis_up up, double scale, double size)
{
    static const cutis_method METHODS[] = { CUTIS_METHOD_LBS, CUTIS_METHOD_DQS, CUTIS_METHOD_SBS };
    const uint32_t count = cutis_model_vertex_count(plain);
    float *was = malloc(count * 24), *is = malloc(count * 24);
    cutis_device *device = NULL;
    assert_ok(f->context, cutis_device_create(f->context, NULL, &device));
    for (int m = 0; m < 3; m++)
        for (int t = 0; t < 4; t++) {
            deform(f, device, plain, METHODS[m], .3f * (float)t, was, was + 3 * count);
            deform(f, device, turned, METHODS[m], .3f * (float)t, is, is + 3 * count);
            assert_turned(up, scale, was, is, count, 1e-5 * scale * size);
            assert_turned(up, 1, was + 3 * count, is + 3 * count, count, 2e-3);
        }
    cutis_device_destroy(device);
    free(was);
    free(is);
}

static void deforming_and_turning_may_be_exchanged(void **state)
{
    fixture *f = *state;
    write_character(f);
    cutis_model *plain = read_ok(f, path_in(f, "c.cfg"));
    for (int up = CUTIS_UP_Y; up <= CUTIS_UP_Z; up++) {
        cutis_model *model =
            read_as(f, path_in(f, "c.cfg"),
                    (cutis_read_options){ .up = (cutis_up)up, .units = CUTIS_UNITS_CM });
        assert_deformed_alike(f, plain, model, (cutis_up)up, 0.01, 6);
        cutis_model *more = NULL;
        assert_ok(f->context, cutis_model_read_clip(model, path_in(f, "later/l.xaf"), &more));
        assert_int_equal(cutis_model_get(more)->clip_count, 2);
        assert_deformed_alike(f, plain, more, (cutis_up)up, 0.01, 6);
        cutis_model_destroy(more);
        cutis_model_destroy(model);
    }
    cutis_model_destroy(plain);
    if (!shared_is_there("cal3d/data/cally/cally.cfg")) return;
    plain = read_ok(f, shared_path("cal3d/data/cally/cally.cfg"));
    cutis_model *model =
        read_as(f, shared_path("cal3d/data/cally/cally.cfg"),
                (cutis_read_options){ .up = CUTIS_UP_Z, .units = CUTIS_UNITS_AUTO });
    assert_deformed_alike(f, plain, model, CUTIS_UP_Z, 0.01, 200);
    cutis_model_destroy(model);
    cutis_model_destroy(plain);
}

// Guesses
// ------------------------------------------------------------------------------------------------

/// A body as OBJ text, so that reading it as `up` and in `scale` stands it upright again; lifted by
/// `lift` along its up.
static char *write_body(fixture *f, const cutis_model *body, cutis_up up, double scale, double lift)
{
    const uint32_t count = cutis_model_vertex_count(body);
    float *places = malloc(count * 12);
    char *text = malloc(count * 64 + 1), *at = text;
    cutis_model_file_positions(body, places);
    for (uint32_t v = 0; v < count; v++) {
        const double p[3] = { (double)places[3 * v], (double)places[3 * v + 1] + lift,
                              (double)places[3 * v + 2] };
        double q[3];
        turn_point(up, scale, p, q); // twice more is back again: it has the order 4
        turn_point(up, 1, (double[]){ q[0], q[1], q[2] }, q);
        turn_point(up, 1, (double[]){ q[0], q[1], q[2] }, q);
        at += sprintf(at, "v %.9g %.9g %.9g\n", q[0], q[1], q[2]);
    }
    free(places);
    write_text(f, "body.obj", text);
    return text;
}

static void bodies_are_stood_up_whatever_way_they_lie(void **state)
{
    static const double SCALES[] = { 1, 100, 1000, 1 / 0.0254 };
    static const cutis_body BODIES[] = { CUTIS_BODY_BIPED, CUTIS_BODY_QUADRUPED };
    fixture *f = *state;
    for (int b = 0; b < 2; b++) {
        cutis_model *body = NULL;
        assert_ok(f->context,
                  cutis_synth_create(
                      f->context,
                      &(cutis_synth_options){ .body = BODIES[b], .size = CUTIS_BODY_SIZE_LOW },
                      &body));
        for (int up = CUTIS_UP_Y; up <= CUTIS_UP_Z; up++)
            for (int unit = 0; unit < 4 - b; unit++) // a dog of 37 is one in centimetres
                for (int lift = 0; lift < 2; lift++) {
                    cutis_read_guess guess = { 0 };
                    free(write_body(f, body, (cutis_up)up, SCALES[unit], lift ? -.5 : 0));
                    cutis_model *model = read_as(f, path_in(f, "body.obj"),
                                                 (cutis_read_options){ .up = CUTIS_UP_AUTO,
                                                                       .units = CUTIS_UNITS_AUTO,
                                                                       .guess = &guess });
                    assert_int_equal(guess.up, up);
                    assert_int_equal(guess.units, unit);
                    assert_non_null(strstr(guess.up_reason, lift ? "feet" : "stands on"));
                    assert_non_null(strstr(guess.units_reason, b ? "longer than tall" : "upright"));
                    float *was = malloc(12 * (size_t)cutis_model_vertex_count(body));
                    cutis_model_file_positions(body, was);
                    const float *is = only_primitive(model)->positions;
                    for (size_t v = 0; lift == 0 && v < cutis_model_vertex_count(body); v++)
                        for (size_t k = 0; k < 3; k++)
                            assert_near(is[3 * v + k], was[3 * v + k], 1e-6);
                    free(was);
                    cutis_model_destroy(model);
                }
        cutis_model_destroy(body);
    }
}

static cutis_read_guess guess_text(fixture *f, const char *name, const char *text)
{
    cutis_read_guess guess = { 0 };
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_model_read_memory(f->context, text, strlen(text), name,
                                                  &(cutis_read_options){ .up = CUTIS_UP_AUTO,
                                                                         .units = CUTIS_UNITS_AUTO,
                                                                         .guess = &guess },
                                                  &model));
    cutis_model_destroy(model);
    return guess;
}

static void joints_tell_by_their_names(void **state)
{
    fixture *f = *state;
    cutis_read_guess guess = guess_text(f, "m.bvh", BVH);
    assert_int_equal(guess.up, CUTIS_UP_Z);
    assert_string_equal(guess.up_reason,
                        "from joint Foot to joint Head the rest pose rises along z");
    assert_int_equal(guess.units, CUTIS_UNITS_CM); // 70 + 20 + 70
    assert_non_null(strstr(guess.units_reason, "in centimetres its height of 160 is 1.60 m"));
}

static void where_nothing_tells_the_habit_of_the_format_is_taken_and_said(void **state)
{
    fixture *f = *state;
    cutis_read_guess guess = guess_text(f, "a.obj", "v 5 6 7\nv 9 8 7.5\nv 6 9 9\nf 1 2 3\n");
    assert_int_equal(guess.up, CUTIS_UP_Y);
    assert_non_null(strstr(guess.up_reason, "nothing in its shape tells"));
    guess = guess_text(f, "a.stl",
                       "solid\nfacet normal 0 0 0\nouter loop\nvertex 5 6 7\nvertex 9 8 "
                       "7.5\nvertex 6 9 9\nendloop\nendfacet\nendsolid\n");
    assert_int_equal(guess.up, CUTIS_UP_Z);
    guess = guess_text(f, "b.obj", "v 0 0 0\nv 1 14 0\nv 0 1 1\nf 1 2 3\n");
    assert_int_equal(guess.units, CUTIS_UNITS_M);
    assert_non_null(strstr(guess.units_reason, "no unit makes its height of 14"));
    guess = guess_text(f, "c.obj", "v 0 0 0\n"); // no height at all
    assert_int_equal(guess.units, CUTIS_UNITS_M);
}

static void real_files_are_guessed_right(void **state)
{
    static const struct {
        const char *path;
        cutis_up up;
    } FILES[] = { { "cal3d/data/cally/cally.cfg", CUTIS_UP_Z },
                  { "cal3d/data/paladin/paladin.cfg", CUTIS_UP_Z },
                  { "cmu-mocap/data/002/02_01.bvh", CUTIS_UP_Y },
                  { "makehuman/makehuman/data/3dobjs/base.obj", CUTIS_UP_Y },
                  { "spot-cc0/spot_triangulated.obj", CUTIS_UP_Y },
                  { "makehuman-assets/base/proxymeshes/male1591/male1591.obj", CUTIS_UP_Y },
                  { "assimp/test/models/STL/Wuson.stl", CUTIS_UP_Y } };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++) {
        cutis_read_guess guess = { 0 };
        cutis_model_destroy(read_as(f, shared_path(FILES[i].path),
                                    (cutis_read_options){ .up = CUTIS_UP_AUTO, .guess = &guess }));
        if (guess.up != FILES[i].up) fail_msg("%s: %s", FILES[i].path, guess.up_reason);
        assert_int_equal(guess.units_reason[0], 0);
    }
}

static void what_makes_no_sense_is_refused_and_gltf_has_its_own(void **state)
{
    static const char GLTF[] =
        "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
        "\"nodes\":[{\"translation\":[1,2,3]}]}";
    static const cutis_read_options WRONG[] = { { .unit_scale = 2, .units = CUTIS_UNITS_CM },
                                                { .unit_scale = 1, .units = CUTIS_UNITS_AUTO },
                                                { .up = (cutis_up)4 },
                                                { .units = (cutis_units)5 } };
    fixture *f = *state;
    cutis_model *model = NULL;
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            cutis_model_read_memory(f->context, OBJ, sizeof OBJ - 1, "a.obj", &WRONG[i], &model),
            CUTIS_INVALID_ARGUMENT);
    assert_ok(f->context,
              cutis_model_read_memory(
                  f->context, GLTF, sizeof GLTF - 1, "a.gltf",
                  &(cutis_read_options){ .up = CUTIS_UP_Z, .units = CUTIS_UNITS_AUTO }, &model));
    assert_near(cutis_model_get(model)->nodes[0].rest.translation.z, 3, 0);
    cutis_model_destroy(model);
    // Options of an older caller end before `up`; those of a newer library are refused.
    cutis_read_options sized = { .struct_size = offsetof(cutis_read_options, up),
                                 .up = CUTIS_UP_Z };
    assert_ok(f->context,
              cutis_model_read_memory(f->context, OBJ, sizeof OBJ - 1, "a.obj", &sized, &model));
    assert_near(only_primitive(model)->positions[1], 2, 0);
    cutis_model_destroy(model);
    sized.struct_size = sizeof sized + 1;
    assert_int_equal(
        cutis_model_read_memory(f->context, OBJ, sizeof OBJ - 1, "a.obj", &sized, &model),
        CUTIS_UNSUPPORTED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(positions_and_normals_are_turned_and_scaled),
        claim(a_unit_is_its_scale_and_turning_is_exact),
        claim(a_motion_is_turned_as_a_whole),
        claim(deforming_and_turning_may_be_exchanged),
        claim(bodies_are_stood_up_whatever_way_they_lie),
        claim(joints_tell_by_their_names),
        claim(where_nothing_tells_the_habit_of_the_format_is_taken_and_said),
        claim(real_files_are_guessed_right),
        claim(what_makes_no_sense_is_refused_and_gltf_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
