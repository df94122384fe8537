// Cal3D: the paper's character, the three models of the original package against libcal3d itself,
// XML against binary, and files made by hand with known values.
#include "files.h"

// Sets of two or more bones with weight, counted here by the plain definition: vertex by vertex,
// sorted, compared.
static uint32_t count_bone_sets(const cutis_model *model)
{
    enum { SETS = 4096, BONES = 16 };
    static uint32_t sets[SETS][BONES];
    uint32_t count = 0;
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++) {
            const cutis_primitive *primitive = &data->meshes[m].primitives[p];
            for (uint32_t v = 0; primitive->influences.first && v < primitive->vertex_count; v++) {
                uint32_t set[BONES], n = 0;
                for (uint32_t i = primitive->influences.first[v];
                     i < primitive->influences.first[v + 1]; i++) {
                    uint32_t bone = primitive->influences.joints[i], k = n;
                    if (!(primitive->influences.weights[i] > 0)) continue;
                    assert_true(n < BONES - 1);
                    for (n++; k > 0 && set[k - 1] > bone; k--) set[k] = set[k - 1];
                    set[k] = bone;
                }
                if (n < 2) continue;
                for (uint32_t k = n; k < BONES; k++) set[k] = UINT32_MAX;
                uint32_t s = 0;
                while (s < count && memcmp(sets[s], set, sizeof set) != 0) s++;
                if (s == count) memcpy(sets[count++], set, sizeof set);
            }
        }
    return count;
}

static void cally_has_the_papers_counts_and_62_bone_sets(void **state)
{
    fixture *f = *state;
    cutis_model *model;
    assert_ok(f->context, cutis_model_read(f->context, shared_path("cal3d/data/cally/cally.cfg"),
                                           NULL, &model));
    const cutis_model_data *data = cutis_model_get(model);
    assert_int_equal(cutis_model_vertex_count(model), 1844);
    assert_int_equal(cutis_model_triangle_count(model), 3342);
    assert_int_equal(data->skins[0].joint_count, 37);
    assert_int_equal(count_bone_sets(model), 62);
    assert_int_equal(data->clip_count, 7);
    assert_string_equal(data->clips[0].name, "cally_walk"); // the one the .cfg names comes first
    assert_string_equal(data->clips[1].name, "cally_idle"); // then the folder's, by name
    assert_string_equal(data->nodes[data->skins[0].joints[0]].name, "Cally");
    assert_string_equal(data->materials[0].name, "cally_skin");
    cutis_model_destroy(model);
}

static void skeleton_has_one_joint_per_vertex(void **state)
{
    fixture *f = *state;
    cutis_model *model;
    assert_ok(f->context,
              cutis_model_read(f->context, shared_path("cal3d/data/skeleton/skeleton.cfg"), NULL,
                               &model));
    assert_int_equal(cutis_model_vertex_count(model), 2527);
    assert_int_equal(cutis_model_get(model)->skins[0].joint_count, 23);
    assert_int_equal(count_bone_sets(model), 0);
    cutis_model_destroy(model);
}

// At rest every joint's world matrix is the inverse of its inverse bind: the nodes and the
// bone-space transforms are two independent statements of the file, so they only agree if both are
// read in the right convention.
static void assert_rest_undoes_binds(fixture *f, const char *path)
{
    static cutis_transform pose[256];
    static cutis_mat34 world[256];
    cutis_model *model = read_ok(f, path);
    const cutis_model_data *data = cutis_model_get(model);
    assert_true(data->node_count <= 256);
    cutis_pose_rest(model, pose, NULL);
    cutis_pose_world(model, pose, world);
    for (uint32_t j = 0; j < data->skins[0].joint_count; j++) {
        cutis_mat34 product = cutis_mat34_multiply(&world[data->skins[0].joints[j]],
                                                   &data->skins[0].inverse_binds[j]);
        for (int i = 0; i < 12; i++)
            assert_near(product.m[i], i % 5 == 0 ? 1 : 0, i % 4 == 3 ? 2e-3 : 2e-5);
    }
    cutis_model_destroy(model);
}

// By hand: the tip is turned by -90 degrees about z and stands at (0, 3, 0); turned back, that is
// (-3, 0, 0).
static const char TURNED[] =
    "<HEADER MAGIC=\"XSF\" VERSION=\"1000\"/><SKELETON NUMBONES=\"2\">"
    "<BONE ID=\"0\" NAME=\"root\" NUMCHILDS=\"1\"><TRANSLATION>0 1 0</TRANSLATION>"
    "<ROTATION>0 0 0 1</ROTATION><LOCALTRANSLATION>0 -1 0</LOCALTRANSLATION>"
    "<LOCALROTATION>0 0 0 1</LOCALROTATION><PARENTID>-1</PARENTID><CHILDID>1</CHILDID></BONE>"
    "<BONE ID=\"1\" NAME=\"tip\" NUMCHILDS=\"0\"><TRANSLATION>0 2 0</TRANSLATION>"
    "<ROTATION>0 0 0.70710678 0.70710678</ROTATION><LOCALTRANSLATION>3 0 0</LOCALTRANSLATION>"
    "<LOCALROTATION>0 0 -0.70710678 0.70710678</LOCALROTATION><PARENTID>0</PARENTID></BONE>"
    "</SKELETON>";

static void rest_nodes_undo_the_inverse_binds(void **state)
{
    fixture *f = *state;
    write_text(f, "turned.xsf", TURNED);
    write_text(f, "turned.cfg", "skeleton=turned.xsf\n");
    assert_rest_undoes_binds(f, path_in(f, "turned.cfg"));
    if (shared_is_there("cal3d/data/cally/cally.cfg"))
        assert_rest_undoes_binds(f, shared_path("cal3d/data/cally/cally.cfg"));
}

#ifdef CAL3D_REFERENCE
enum { TIMES = 5 };

// Of the rest diagonal. libcal3d blends in single precision: its own distance from the exact result
// is about 1e-6 of it.
static const double TOLERANCE = 5e-6;

static double rest_diagonal(const cutis_model *model)
{
    uint32_t vertices = cutis_model_vertex_count(model);
    float *positions = malloc(3 * sizeof(float) * vertices);
    double sum = 0;
    cutis_model_file_positions(model, positions);
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (size_t i = (size_t)k; i < 3 * (size_t)vertices; i += 3) {
            low = fmin(low, (double)positions[i]);
            high = fmax(high, (double)positions[i]);
        }
        sum += (high - low) * (high - low);
    }
    free(positions);
    return sqrt(sum);
}

static float *judge(const char *cfg, const char *clip, const double *times, size_t count)
{
    char command[8192];
    int length = snprintf(command, sizeof command, "'%s' '%s' '%s'", CAL3D_REFERENCE, cfg, clip);
    for (int t = 0; t < TIMES; t++)
        length += snprintf(command + length, sizeof command - (size_t)length, " %.9g", times[t]);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    float *values = malloc(count * sizeof(float));
    assert_int_equal(fread(values, sizeof(float), count, pipe), count);
    assert_int_equal(fgetc(pipe), EOF);
    assert_int_equal(pclose(pipe), 0);
    return values;
}

static double worst_difference(fixture *f, const cutis_binding *skin, const cutis_model *model,
                               const char *cfg, uint32_t clip, const char *clip_file)
{
    uint32_t vertices = cutis_model_vertex_count(model);
    cutis_sampler *sampler;
    assert_ok(f->context, cutis_sampler_create(model, clip, &sampler));
    double times[TIMES], worst = 0;
    for (int t = 0; t < TIMES; t++)
        times[t] = (double)(float)(cutis_sampler_duration(sampler) * (t + 0.37) / TIMES);
    float *theirs = judge(cfg, clip_file, times, (size_t)TIMES * 3 * vertices);
    float *ours = malloc(3 * sizeof(float) * vertices);
    cutis_transform *pose = malloc(sizeof *pose * cutis_model_get(model)->node_count);
    for (int t = 0; t < TIMES; t++) {
        cutis_sampler_sample(sampler, (float)times[t], pose, NULL);
        cutis_poses poses = { .kind = CUTIS_POSE_LOCAL, .local = pose };
        cutis_outputs outputs = { .positions = { .data = ours } };
        assert_ok(f->context, cutis_deform(skin, &poses, 1, &outputs));
        for (size_t i = 0; i < 3 * (size_t)vertices; i++)
            worst =
                fmax(worst, fabs((double)ours[i] - (double)theirs[(size_t)t * 3 * vertices + i]));
    }
    free(pose);
    free(ours);
    free(theirs);
    cutis_sampler_destroy(sampler);
    return worst;
}

static void compare_model(fixture *f, const char *name)
{
    char cfg[4096], clip_file[4200];
    cutis_model *model;
    cutis_device *device;
    cutis_binding *skin;
    snprintf(cfg, sizeof cfg, "cal3d/data/%s/%s.cfg", name, name);
    strcpy(cfg, shared_path(cfg));
    assert_ok(f->context, cutis_model_read(f->context, cfg, NULL, &model));
    assert_ok(f->context, cutis_device_create(
                              f->context, &(cutis_device_options){ .thread_count = 1 }, &device));
    assert_ok(f->context, cutis_bind(device, model, NULL, &skin));
    assert_int_equal(cutis_model_get(model)->clip_count, 7);
    double diagonal = rest_diagonal(model);
    for (uint32_t c = 0; c < 7; c++) {
        snprintf(clip_file, sizeof clip_file, "%.*s/%s.caf", (int)(strrchr(cfg, '/') - cfg), cfg,
                 cutis_model_get(model)->clips[c].name);
        double worst = worst_difference(f, skin, model, cfg, c, clip_file);
        print_message("%s: at most %.2e file units from libcal3d, %.1e of the diagonal\n",
                      cutis_model_get(model)->clips[c].name, worst, worst / diagonal);
        assert_near(worst / diagonal, 0, TOLERANCE);
    }
    cutis_binding_destroy(skin);
    cutis_device_destroy(device);
    cutis_model_destroy(model);
}

static void cally_moves_as_libcal3d_moves_it_on_all_seven_clips(void **state)
{
    compare_model(*state, "cally");
}
static void paladin_moves_as_libcal3d_moves_it_on_all_seven_clips(void **state)
{
    compare_model(*state, "paladin");
}
static void skeleton_moves_as_libcal3d_moves_it_on_all_seven_clips(void **state)
{
    compare_model(*state, "skeleton");
}
#else
static void cally_moves_as_libcal3d_moves_it_on_all_seven_clips(void **state)
{
    (void)state;
    print_message("skip: libcal3d12-dev is not installed\n");
    skip();
}
#endif

static const char XSF[] =
    "<HEADER MAGIC=\"XSF\" VERSION=\"1000\"/>\n"
    "<SKELETON NUMBONES=\"2\">\n"
    " <BONE ID=\"0\" NAME=\"tip &amp; top\" NUMCHILDS=\"0\">\n"
    "  <TRANSLATION>0 2 0</TRANSLATION><ROTATION>0 0 0.70710678 0.70710678</ROTATION>\n"
    "  <LOCALTRANSLATION>0 -3 0</LOCALTRANSLATION><LOCALROTATION>0 0 0 1</LOCALROTATION>\n"
    "  <PARENTID>1</PARENTID></BONE>\n"
    " <BONE ID=\"1\" NAME=\"root\" NUMCHILDS=\"1\"><TRANSLATION>0 1 0</TRANSLATION>\n"
    "  <ROTATION>0 0 0 1</ROTATION><LOCALTRANSLATION>0 -1 0</LOCALTRANSLATION>\n"
    "  <LOCALROTATION>0 0 0 1</LOCALROTATION><PARENTID>-1</PARENTID><CHILDID>0</CHILDID></BONE>\n"
    "</SKELETON>\n";
static const char XMF[] = "<MESH VERSION=\"1000\" NUMSUBMESH=\"1\"><SUBMESH NUMVERTICES=\"3\" "
                          "NUMFACES=\"1\" MATERIAL=\"0\">"
                          "<VERTEX ID=\"0\" NUMINFLUENCES=\"1\"><POS>0 0 0</POS><NORM>0 0 1</NORM>"
                          "<TEXCOORD>0.25 0.5</TEXCOORD><INFLUENCE ID=\"1\">1</INFLUENCE></VERTEX>"
                          "<VERTEX ID=\"1\" NUMINFLUENCES=\"2\"><POS>1 0 0</POS><NORM>0 0 1</NORM>"
                          "<TEXCOORD>0 0</TEXCOORD><INFLUENCE ID=\"0\">0.75</INFLUENCE>"
                          "<INFLUENCE ID=\"1\">0.25</INFLUENCE></VERTEX>"
                          "<VERTEX ID=\"2\" NUMINFLUENCES=\"1\"><POS>0 4 0</POS><NORM>0 0 1</NORM>"
                          "<TEXCOORD>1 1</TEXCOORD><INFLUENCE ID=\"0\">1</INFLUENCE></VERTEX>"
                          "<FACE VERTEXID=\"0 2 1\"/></SUBMESH></MESH>";
static const char XAF[] =
    "<ANIMATION VERSION=\"1000\" DURATION=\"1\" NUMTRACKS=\"1\"><TRACK BONEID=\"0\" "
    "NUMKEYFRAMES=\"2\">"
    "<KEYFRAME TIME=\"1\"><TRANSLATION>0 4 0</TRANSLATION><ROTATION>0 0 0 1</ROTATION></KEYFRAME>"
    "<KEYFRAME TIME=\"0\"><TRANSLATION>0 2 0</TRANSLATION><ROTATION>0 0 0 1</ROTATION></KEYFRAME>"
    "</TRACK></ANIMATION>";

static void xml_files_give_their_known_values_scaled_by_the_cfg(void **state)
{
    fixture *f = *state;
    cutis_model *model;
    write_text(f, "s.xsf", XSF);
    write_text(f, "m.xmf", XMF);
    write_text(f, "z.xaf", XAF);
    write_text(f, "look.xrf",
               "<MATERIAL VERSION=\"1\" NUMMAPS=\"0\"><DIFFUSE>255 0 255 0</DIFFUSE></MATERIAL>");
    write_text(f, "m.cfg",
               "# hand-made\r\nscale=0.5\r\nskeleton=s.xsf\r\nmesh=m.xmf\r\nmaterial=look.xrf\r\n");
    assert_ok(f->context, cutis_model_read(f->context, path_in(f, "m.cfg"), NULL, &model));
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_skin *skin = &data->skins[0];
    // The file has the child first: joints keep its order, nodes have the parent first.
    assert_int_equal(skin->joints[0], 1);
    assert_int_equal(skin->joints[1], 0);
    const cutis_node *tip = &data->nodes[1];
    assert_string_equal(tip->name, "tip & top");
    assert_near(tip->rest.translation.y, 1, 0);
    assert_near(tip->rest.rotation.z, -0.70710678, 1e-6); // conjugate of the file's
    assert_near(skin->inverse_binds[0].m[7], -1.5, 0);
    const cutis_primitive *p = &data->meshes[0].primitives[0];
    assert_near(p->positions[7], 2, 0);
    assert_near(p->texcoords[0], 0.25, 0);
    assert_int_equal(p->indices[1], 1); // turned towards its normals
    assert_int_equal(p->influences.first[3], 4);
    assert_near(p->influences.weights[1], 0.75, 0);
    assert_near(data->materials[0].base_color[0], 1, 1e-6);
    assert_int_equal(data->clip_count, 1);
    assert_string_equal(data->clips[0].name, "z");
    assert_near(data->clips[0].channels[0].values[1], 1, 0); // keys sorted by time, scaled
    assert_near(data->clips[0].channels[0].values[4], 2, 0);
    cutis_model_destroy(model);
}

static void a_clip_of_another_file_comes_last_and_is_scaled_as_the_model(void **state)
{
    fixture *f = *state;
    cutis_model *model, *more;
    write_text(f, "s.xsf", XSF);
    write_text(f, "m.cfg", "scale=0.5\nskeleton=s.xsf\n");
    char clip[300];
    char folder[300];
    snprintf(folder, sizeof folder, "%s", path_in(f, "sub"));
    assert_int_equal(mkdir(folder, 0700), 0);
    write_text(f, "sub/far.xaf", XAF);
    snprintf(clip, sizeof clip, "%s", path_in(f, "sub/far.xaf"));
    assert_ok(f->context, cutis_model_read(f->context, path_in(f, "m.cfg"), NULL, &model));
    assert_ok(f->context, cutis_model_read_clip(model, clip, &more));
    const cutis_model_data *data = cutis_model_get(more);
    assert_string_equal(data->clips[data->clip_count - 1].name, "far");
    assert_near(data->clips[data->clip_count - 1].channels[0].values[4], 2, 0);
    cutis_model_destroy(more);
    cutis_model_destroy(model);
}

static void refuse(fixture *f, const char *name, cutis_result wanted, const char *words)
{
    cutis_model *model = NULL;
    cutis_result result = cutis_model_read(f->context, path_in(f, name), NULL, &model);
    if (result != wanted || !strstr(cutis_context_error(f->context), words))
        fail_msg("%s: %s: %s", name, cutis_result_name(result), cutis_context_error(f->context));
    assert_null(model);
}

static void broken_files_are_refused_with_place_and_reason(void **state)
{
    fixture *f = *state;
    write_text(f, "c.xsf",
               "<SKELETON><BONE NAME=\"a\"><PARENTID>1</PARENTID></BONE>"
               "<BONE NAME=\"b\"><PARENTID>0</PARENTID></BONE></SKELETON>");
    write_text(f, "c.cfg", "skeleton=c.xsf\n");
    refuse(f, "c.cfg", CUTIS_CORRUPT_DATA, "cycle");
    write_text(f, "p.xsf", "<SKELETON>\n<BONE NAME=\"a\"><PARENTID>7</PARENTID></BONE></SKELETON>");
    refuse(f, "p.xsf", CUTIS_CORRUPT_DATA, "bone 0: parent 7 of 1");
    write_text(f, "n.xsf",
               "<SKELETON>\n<BONE NAME=\"a\">\n<TRANSLATION>1 x 2</TRANSLATION></BONE></SKELETON>");
    refuse(f, "n.xsf", CUTIS_CORRUPT_DATA, "line 3");
    write_text(f, "e.xsf", "<!DOCTYPE a [<!ENTITY b \"bbbb\">]><SKELETON>&b;</SKELETON>");
    refuse(f, "e.xsf", CUTIS_CORRUPT_DATA, "document types");
    write_text(f, "t.xsf", "<SKELETON><BONE>");
    refuse(f, "t.xsf", CUTIS_CORRUPT_DATA, "ends inside");
    write_text(f, "k.cfg", "skeleton=s.xsf\ncolour=red\n");
    refuse(f, "k.cfg", CUTIS_CORRUPT_DATA, "line 2: unknown setting 'colour'");
    write_text(f, "u.cfg", "skeleton=../../etc/passwd\n");
    cutis_model *model = NULL;
    assert_int_not_equal(cutis_model_read(f->context, path_in(f, "u.cfg"), NULL, &model), CUTIS_OK);
    static const char HEAD[] = "CSF\0\xBC\x02\0\0\xFF\xFF\xFF\x7F";
    assert_ok(f->context, cutis_file_write(f->context, path_in(f, "h.csf"), HEAD, 12));
    refuse(f, "h.csf", CUTIS_CORRUPT_DATA, "number of bones");
    static const char OLD[] = "CSF\0\x98\x03\0\0\1\0\0\0";
    assert_ok(f->context, cutis_file_write(f->context, path_in(f, "v.csf"), OLD, 12));
    refuse(f, "v.csf", CUTIS_UNSUPPORTED_FORMAT, "version 920");
}

// Cutting a file at any byte gives an error, never a crash; the sanitizer build makes that a strong
// claim.
static void refuse_truncations(fixture *f, const char *path)
{
    void *data;
    size_t size;
    assert_ok(f->context, cutis_file_read(f->context, path, &data, &size));
    for (size_t cut = 0; cut < size; cut += 1 + size / 500) {
        cutis_model *model = NULL;
        cutis_result result =
            cutis_model_read_memory(f->context, data, cut, "neck.cmf", NULL, &model);
        assert_int_not_equal(result, CUTIS_OK);
        assert_null(model);
    }
    cutis_memory_free(f->context, data, size);
}

static void every_truncation_of_a_mesh_is_refused(void **state)
{
    refuse_truncations(*state, CUTIS_SOURCE_DIR "/fuzz/seeds/one.cmf");
    if (shared_is_there("cal3d/data/cally/cally_neck.cmf"))
        refuse_truncations(*state, shared_path("cal3d/data/cally/cally_neck.cmf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(cally_has_the_papers_counts_and_62_bone_sets),
        claim(skeleton_has_one_joint_per_vertex),
        claim(rest_nodes_undo_the_inverse_binds),
        claim(cally_moves_as_libcal3d_moves_it_on_all_seven_clips),
#ifdef CAL3D_REFERENCE
        claim(paladin_moves_as_libcal3d_moves_it_on_all_seven_clips),
        claim(skeleton_moves_as_libcal3d_moves_it_on_all_seven_clips),
#endif
        claim(xml_files_give_their_known_values_scaled_by_the_cfg),
        claim(a_clip_of_another_file_comes_last_and_is_scaled_as_the_model),
        claim(broken_files_are_refused_with_place_and_reason),
        claim(every_truncation_of_a_mesh_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
