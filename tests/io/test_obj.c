// OBJ: known values, the order of vertices, concave polygons, real files against counts made by
// awk, and bits kept on the way out and in again.
#include "files.h"

static void statements_give_their_known_values(void **state)
{
    fixture *f = *state;
    cutis_model *model =
        read_text(f, "a.obj",
                  "\xEF\xBB\xBF# comment \\\r\n"
                  "v 1 2 3\r\nv 4 5 6\r\nv 7 8 9e0\r\nv -1 -2 -3.5\r\n"
                  "vt 0.25 0.75\r\nvt 0 0\r\nvn 0 0 1\r\n"
                  "usemtl red paint\r\ng left arm\r\n"
                  "f 1/1/1 2/2/1 \\\r\n  3/1/1\r\ng right\r\nf -4/1/1 -2/1/1 -1/2/1\r\n");
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_primitive *p = only_primitive(model);
    assert_int_equal(p->vertex_count, 4);
    assert_int_equal(p->index_count, 6);
    const uint32_t indices[] = { 0, 1, 2, 0, 2, 3 };
    assert_memory_equal(p->indices, indices, sizeof indices);
    assert_true(p->positions[11] == -3.5f && p->positions[8] == 9);
    assert_true(p->texcoords[0] == 0.25f &&
                p->texcoords[1] == 0.25f); // v counts downwards in the model
    assert_true(p->texcoords[3] == 1);
    assert_true(p->normals[2] == 1);
    assert_string_equal(data->materials[0].name, "red paint");
    assert_int_equal(data->meshes[0].part_count, 2);
    assert_string_equal(data->meshes[0].part_names[0], "left arm");
    assert_int_equal(p->parts[0], 0);
    assert_int_equal(p->parts[1], 1);
    cutis_model_destroy(model);
}

static void a_vertex_keeps_its_place_and_further_combinations_follow(void **state)
{
    fixture *f = *state;
    // v 3 is unused and stays; v 1 is used with two texture coordinates: the second one is
    // appended.
    cutis_model *model = read_text(f, "a.obj",
                                   "v 0 0 0\nv 1 0 0\nv 9 9 9\nv 0 1 0\nv 1 1 0\nvt 0 0\nvt 1 1\n"
                                   "f 4/1 1/1 2/1\nf 1/2 2/1 5/1\nf 1/2 5/1 4/1\n");
    const cutis_primitive *p = only_primitive(model);
    assert_int_equal(p->vertex_count, 6);
    const float wanted[] = { 0, 0, 0, 1, 0, 0, 9, 9, 9, 0, 1, 0, 1, 1, 0, 0, 0, 0 };
    assert_memory_equal(p->positions, wanted, sizeof wanted);
    const uint32_t indices[] = { 3, 0, 1, 5, 1, 4, 5, 4, 3 };
    assert_memory_equal(p->indices, indices, sizeof indices);
    assert_true(p->texcoords[10] == 1 && p->texcoords[0] == 0);
    cutis_model_destroy(model);
}

static void materials_make_primitives_and_come_from_the_library_beside(void **state)
{
    fixture *f = *state;
    write_text(f, "m.mtl",
               "newmtl a\nKd 0.5 0.25 1\nd 0.5\nnewmtl b\nKd 1 0 0\nTr 0.25\nPr 0.5\nPm 1\n");
    write_text(f, "m.obj",
               "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl b\nf 1 2 3\n"
               "usemtl a\nf 1 2 4\nusemtl b\nf 2 3 4\nusemtl\nf 1 3 4\n");
    cutis_model *model = read_ok(f, path_in(f, "m.obj"));
    const cutis_model_data *data = cutis_model_get(model);
    assert_int_equal(data->meshes[0].primitive_count, 3);
    assert_int_equal(data->meshes[0].primitives[0].index_count, 6);
    assert_int_equal(data->meshes[0].primitives[1].vertex_count, 3);
    assert_int_equal(data->meshes[0].primitives[2].material, CUTIS_NONE);
    const cutis_material *b = &data->materials[0], *a = &data->materials[1];
    assert_string_equal(b->name, "b");
    assert_true(b->base_color[0] == 1 && b->base_color[3] == 0.75f && b->roughness == 0.5f &&
                b->metallic == 1);
    assert_true(a->base_color[1] == 0.25f && a->base_color[3] == 0.5f);
    cutis_model_destroy(model);
}

static void lines_and_points_become_primitives_of_their_own(void **state)
{
    fixture *f = *state;
    cutis_model *model =
        read_text(f, "a.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nl 1 2 3\np 2 3\nf 1 2 3\n");
    const cutis_mesh *mesh = &cutis_model_get(model)->meshes[0];
    assert_int_equal(mesh->primitive_count, 3);
    assert_int_equal(mesh->primitives[0].topology, CUTIS_TOPOLOGY_LINES);
    assert_int_equal(mesh->primitives[0].index_count, 4);
    assert_int_equal(mesh->primitives[1].topology, CUTIS_TOPOLOGY_POINTS);
    assert_int_equal(mesh->primitives[1].index_count, 2);
    assert_int_equal(cutis_model_triangle_count(model), 1);
    cutis_model_destroy(model);
}

static double area_of(const cutis_primitive *p, double *signed_area)
{
    double total = 0, direction[3] = { 0, 0, 0 };
    for (uint32_t i = 0; i < p->index_count; i += 3) {
        const float *a = p->positions + 3 * p->indices[i],
                    *b = p->positions + 3 * p->indices[i + 1],
                    *c = p->positions + 3 * p->indices[i + 2];
        double n[3];
        for (int k = 0; k < 3; k++) {
            int u = (k + 1) % 3, v = (k + 2) % 3;
            n[k] = ((double)b[u] - a[u]) * ((double)c[v] - a[v]) -
                   ((double)b[v] - a[v]) * ((double)c[u] - a[u]);
            direction[k] += n[k] / 2;
        }
        total += sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]) / 2;
    }
    *signed_area = sqrt(direction[0] * direction[0] + direction[1] * direction[1] +
                        direction[2] * direction[2]);
    return total;
}

// A triangulation is right exactly when no triangle is turned over: then its areas add up to the
// polygon's.
static void concave_polygons_are_cut_without_overlap(void **state)
{
    fixture *f = *state;
    double around;
    cutis_model *model;
    const cutis_primitive *p;
    if (shared_is_there("assimp/test/models/OBJ/concave_polygon.obj")) {
        model = read_ok(f, shared_path("assimp/test/models/OBJ/concave_polygon.obj"));
        p = only_primitive(model);
        assert_int_equal(p->index_count / 3, 64); // 66 corners
        assert_near(area_of(p, &around) / around, 1, 1e-6);
        cutis_model_destroy(model);
    }

    char text[20000];
    int length = 0; // a comb of 200 teeth, as one polygon
    for (int i = 0; i <= 200; i++) {
        length += snprintf(text + length, sizeof text - (size_t)length, "v %d 0 0\n", i);
        length += snprintf(text + length, sizeof text - (size_t)length, "v %d.5 %d 0\n", i,
                           i == 200 ? 0 : 5 + i % 3);
    }
    length += snprintf(text + length, sizeof text - (size_t)length, "v 201 -1 0\nv 0 -1 0\nf");
    for (int i = 404; i >= 1; i--)
        length += snprintf(text + length, sizeof text - (size_t)length, " %d", i);
    model = read_text(f, "comb.obj", text);
    p = only_primitive(model);
    assert_int_equal(p->index_count / 3, 402);
    assert_near(area_of(p, &around) / around, 1, 1e-6);
    cutis_model_destroy(model);
}

static void vertex_colours_are_kept_and_white_where_missing(void **state)
{
    fixture *f = *state;
    cutis_model *model = read_text(f, "colours.obj",
                                   "g sheet\nv 0 0 0\nv 0 0 1 0.0 0.0 1.0\nv 0 1 0\n"
                                   "v 1 0 0  1.0 0.6 0.3\nv 1 1 0\nf 1 2 3\nf 1 4 3\nf 2 5 4\n");
    const cutis_primitive *p = only_primitive(model);
    const float wanted[] = { 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1, 0.6f, 0.3f, 1, 1, 1, 1, 1 };
    assert_memory_equal(p->colors, wanted, sizeof wanted);
    cutis_model_destroy(model);
}

static void unit_scale_turns_file_units_into_metres(void **state)
{
    fixture *f = *state;
    cutis_model *model;
    const char *text = "v 100 0 0\nv 0 100 0\nv 0 0 50\nf 1 2 3\n";
    assert_ok(f->context,
              cutis_model_read_memory(f->context, text, strlen(text), "cm.obj",
                                      &(cutis_read_options){ .unit_scale = 0.01f }, &model));
    assert_near(only_primitive(model)->positions[8], 0.5, 1e-7);
    cutis_model_destroy(model);
}

// Every bit pattern class: tiny, huge, subnormal, negative zero, neighbours of powers of two.
static float awkward(uint32_t i)
{
    static const float KNOWN[] = { 0,    -0.0f,    1e-45f,      -3e38f,      1.17549435e-38f,
                                   0.1f, 16777216, 1.00000012f, 0.999999940f };
    if (i < sizeof KNOWN / sizeof *KNOWN) return KNOWN[i];
    uint64_t bits = (uint64_t)(cutis_random_unit(3, 1, i) * 4294967296.0);
    uint32_t pattern = (uint32_t)bits;
    float value;
    memcpy(&value, &pattern, 4);
    return isfinite(value) ? value : 0.5f;
}

static void writing_and_reading_again_keeps_every_bit(void **state)
{
    fixture *f = *state;
    enum { N = 3000 };
    static float positions[3 * N], normals[3 * N], texcoords[2 * N], colors[4 * N];
    static uint32_t indices[3 * N], parts[N];
    for (uint32_t i = 0; i < 3 * N; i++) {
        positions[i] = awkward(i);
        normals[i] = (float)random_in(5, i, -1, 1);
        indices[i] = i < N ? i : (uint32_t)random_in(6, i, 0, N);
        if (i < 2 * N) texcoords[i] = (float)random_in(7, i, 0, 1);
        if (i < N) parts[i] = i / 1000;
    }
    for (uint32_t i = 0; i < 4 * N; i++) colors[i] = i % 4 == 3 ? 1 : (float)random_in(8, i, 0, 1);
    const char *names[] = { "head", "tail end", "z" };
    cutis_primitive p = { .vertex_count = N,
                          .index_count = 3 * N,
                          .indices = indices,
                          .positions = positions,
                          .normals = normals,
                          .texcoords = texcoords,
                          .colors = colors,
                          .parts = parts,
                          .material = 0 };
    cutis_mesh mesh = {
        .name = "m", .primitive_count = 1, .primitives = &p, .part_count = 3, .part_names = names
    };
    cutis_node node = {
        .parent = CUTIS_NONE, .rest = cutis_transform_identity(), .mesh = 0, .skin = CUTIS_NONE
    };
    cutis_material look = { .name = "skin tone",
                            .base_color = { 0.1f, 0.2f, 0.3f, 1 },
                            .roughness = 0.7f };
    cutis_model_data data = { .node_count = 1,
                              .mesh_count = 1,
                              .material_count = 1,
                              .nodes = &node,
                              .meshes = &mesh,
                              .materials = &look };
    cutis_model *model, *again;
    assert_ok(f->context, cutis_model_create(f->context, &data, CUTIS_GATE_REFUSE, &model));
    assert_ok(f->context, cutis_model_write(model, path_in(f, "bits.obj"), NULL));
    again = read_ok(f, path_in(f, "bits.obj"));
    const cutis_primitive *q = only_primitive(again);
    assert_same_primitive(only_primitive(model), q);
    assert_memory_equal(parts, q->parts, sizeof parts);
    assert_string_equal(cutis_model_get(again)->meshes[0].part_names[1], "tail end");
    assert_memory_equal(cutis_model_get(again)->materials[0].base_color, look.base_color,
                        sizeof look.base_color);
    assert_int_equal(count_files(f), 2); // the .obj and its .mtl, nothing left behind
    cutis_model_destroy(model);
    cutis_model_destroy(again);
}

static void bad_statements_are_refused_with_their_line(void **state)
{
    fixture *f = *state;
    refuse_text(f, "a.obj", "v 1 2\n", CUTIS_CORRUPT_DATA, "line 1: a vertex needs");
    refuse_text(f, "a.obj", "v 1 2 x\n", CUTIS_CORRUPT_DATA, "line 1: not a number: 'x'");
    refuse_text(f, "a.obj", "v 1 2 nan\n", CUTIS_CORRUPT_DATA, "not a number");
    refuse_text(f, "a.obj", "v 1 2 1e39\n", CUTIS_CORRUPT_DATA, "not a number");
    refuse_text(f, "a.obj", "\n\nv 0 0 0\nf 1 1 2\n", CUTIS_CORRUPT_DATA, "line 4: vertex 2 of 1");
    refuse_text(f, "a.obj", "v 0 0 0\nf 1/1 1/1 1/1\n", CUTIS_CORRUPT_DATA,
                "line 2: texture coordinate 1 of 0");
    refuse_text(f, "a.obj", "v 0 0 0\nf -1 -1 -2\n", CUTIS_CORRUPT_DATA,
                "line 2: not a vertex reference: '-2'");
    refuse_text(f, "a.obj", "v 0 0 0\nf 0 1 1\n", CUTIS_CORRUPT_DATA, "'0'");
    refuse_text(f, "a.obj", "v 0 0 0\nf 1/1/1/1 1 1\n", CUTIS_CORRUPT_DATA, "'1/1/1/1'");
    refuse_text(f, "a.obj", "v 0 0 0\nf 99999999999999999999 1 1\n", CUTIS_CORRUPT_DATA,
                "not a vertex reference");
    refuse_text(f, "a.obj", "v 0 0 0\nf 1 1\n", CUTIS_CORRUPT_DATA,
                "line 2: a face needs at least 3 corners");
    refuse_text(f, "a.obj", "v 0 0 0\nbogus 1\n", CUTIS_CORRUPT_DATA,
                "line 2: unknown statement 'bogus'");
    refuse_text(f, "a.obj", "# nothing\n", CUTIS_CORRUPT_DATA, "without a vertex");
    refuse_bytes(f, "a.obj", "\xFF\xFEv\0 \0", 6, CUTIS_UNSUPPORTED_FORMAT, "UTF-16");
}

static uint64_t shell_count(const char *program, const char *path)
{
    char command[8192];
    unsigned long long count = 0;
    snprintf(command, sizeof command, "awk '%s' '%s'", program, path);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    assert_int_equal(fscanf(pipe, "%llu", &count), 1);
    pclose(pipe);
    return count;
}

static void assert_awks_counts(fixture *f, const char *path)
{
    cutis_model *model = read_ok(f, path);
    assert_int_equal(cutis_model_triangle_count(model),
                     shell_count("$1==\"f\"{n+=NF-3} END{print n+0}", path));
    if (cutis_model_get(model)->meshes[0].primitive_count == 1) {
        // One vertex per v, and one more per further pair of v and vt in use.
        uint64_t v = shell_count("$1==\"v\"{n++} END{print n+0}", path);
        uint64_t pairs = shell_count(
            "$1==\"f\"{for(i=2;i<=NF;i++){sub(/\\r/,\"\",$i);split($i,a,\"/\");"
            "if(!(($i) in s)){s[$i]=1;n++;if(!(a[1] in u)){u[a[1]]=1;m++}}}} END{print n-m}",
            path);
        assert_int_equal(cutis_model_vertex_count(model), v + pairs);
    }
    cutis_model_destroy(model);
}

/// A sheet of quads and triangles, a fan as its last face; texture coordinates anew at every third
/// face.
static void write_sheet(fixture *f, const char *name)
{
    enum { N = 12 };
    static char text[40000];
    int at = 0;
    for (int v = 0; v < N * N; v++)
        at += snprintf(text + at, sizeof text - (size_t)at, "v %d %d %g\nvt %g %g\r\n", v % N,
                       v / N, sin(v), (v % N) / 11.0, (v / N) / 11.0);
    for (int v = 0, k = 0; v < N * (N - 1); v++) {
        int a = v + 1, c = v + N + 2, other = k++ % 3 ? 0 : N;
        if (v % N == N - 1) continue;
        at += snprintf(text + at, sizeof text - (size_t)at, "f %d/%d %d/%d %d/%d", a, a, a + 1,
                       (a + other) % (N * N) + 1, c, c);
        at += snprintf(text + at, sizeof text - (size_t)at, k % 2 ? " %d/%d\r\n" : "\n", c - 1,
                       c - 1);
    }
    snprintf(text + at, sizeof text - (size_t)at, "f 1/1 2/2 3/3 15/15 27/27 26/26 25/25\n");
    write_text(f, name, text);
}

static void files_have_the_counts_awk_finds(void **state)
{
    fixture *f = *state;
    static const char *const FILES[] = {
        "makehuman/makehuman/data/3dobjs/base.obj",
        "spot-cc0/spot_triangulated.obj",
        "spot-cc0/spot_quadrangulated.obj",
        "supercages/__DataExamples/Arm/arm.obj",
        "dem-bones/converted/bone_000.obj",
        "makehuman-assets/base/proxymeshes/male1591/male1591.obj",
        "assimp/test/models/OBJ/spider.obj",
    };
    write_sheet(f, "sheet.obj");
    assert_awks_counts(f, path_in(f, "sheet.obj"));
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (shared_is_there(FILES[i])) assert_awks_counts(f, shared_path(FILES[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(statements_give_their_known_values),
        claim(a_vertex_keeps_its_place_and_further_combinations_follow),
        claim(materials_make_primitives_and_come_from_the_library_beside),
        claim(lines_and_points_become_primitives_of_their_own),
        claim(concave_polygons_are_cut_without_overlap),
        claim(vertex_colours_are_kept_and_white_where_missing),
        claim(unit_scale_turns_file_units_into_metres),
        claim(writing_and_reading_again_keeps_every_bit),
        claim(bad_statements_are_refused_with_their_line),
        claim(files_have_the_counts_awk_finds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
