// Weights from examples against weights the examples were made with, displacements against the
// blend they undo, and the published figures of real data
// (docs/spec/pose-space.md 11.2, 11.9, 11.11, 11.16).
#include "support.h"

#include <jansson.h>

#include "fit/poses/weights.h"
#include "math/pose_rbf.h"

#define PI 3.14159265358979323846

enum { JOINTS = 4, EXAMPLES = 16, VERTICES = 500 };

typedef struct chain {
    double palettes[EXAMPLES][JOINTS][12];
    double rest[VERTICES][3], truth[VERTICES][JOINTS], places[VERTICES][3 * EXAMPLES];
} chain;

static void multiply(const double *a, const double *b, double *out)
{
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++) {
            out[4 * r + c] = c == 3 ? a[4 * r + 3] : 0;
            for (int k = 0; k < 3; k++) out[4 * r + c] += a[4 * r + k] * b[4 * k + c];
        }
}

// Rotation about a random axis through `x` on the x axis.
static void random_turn(uint64_t seed, uint64_t index, double x, double most, double *m)
{
    double axis[3], length = 0, angle = random_in(seed, 8 * index, -most, most);
    for (int c = 0; c < 3; c++) {
        axis[c] = random_in(seed, 8 * index + 1 + (uint64_t)c, -1, 1);
        length += axis[c] * axis[c];
    }
    for (int c = 0; c < 3; c++) axis[c] /= sqrt(length);
    double s = sin(angle), k = 1 - cos(angle);
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            m[4 * r + c] = (r == c ? cos(angle) : 0) + k * axis[r] * axis[c];
    }
    m[1] -= s * axis[2], m[2] += s * axis[1], m[4] += s * axis[2];
    m[6] -= s * axis[0], m[8] -= s * axis[1], m[9] += s * axis[0];
    for (int r = 0; r < 3; r++) m[4 * r + 3] = (r == 0 ? x : 0) - m[4 * r] * x;
}

// A chain of joints along x and random vertices with up to four weights; exact blends, moved by
// `origin` and disturbed by `noise` (Gaussian, of this standard deviation).
static void make_chain(chain *c, double origin, double noise)
{
    for (uint64_t e = 0; e < EXAMPLES; e++)
        for (uint64_t j = 0; j < JOINTS; j++) {
            double turn[12];
            random_turn(1, e * JOINTS + j, 2.0 * (double)j, PI / 2, turn);
            if (j)
                multiply(c->palettes[e][j - 1], turn, c->palettes[e][j]);
            else
                memcpy(c->palettes[e][0], turn, sizeof turn);
        }
    for (uint64_t e = 0; e < EXAMPLES; e++)
        for (int j = 0; j < JOINTS; j++)
            for (int r = 0; r < 3; r++) c->palettes[e][j][4 * r + 3] += origin;
    for (uint64_t v = 0; v < VERTICES; v++) {
        double sum = 0;
        for (uint64_t k = 0; k < 3; k++)
            c->rest[v][k] = random_in(2, 3 * v + k, k ? -1 : 0, k ? 1 : 8);
        for (uint64_t j = 0; j < JOINTS; j++) {
            bool has = (v >> j & 1) || j == v % JOINTS;
            c->truth[v][j] = has ? random_in(3, JOINTS * v + j, 0.05, 1) : 0;
            sum += c->truth[v][j];
        }
        for (int j = 0; j < JOINTS; j++) c->truth[v][j] /= sum;
        for (uint64_t i = 0; i < 3 * EXAMPLES; i++) {
            const uint64_t e = i / 3, r = i % 3;
            const uint64_t draw = 2 * (v * 3 * EXAMPLES + i);
            double place = noise * sqrt(-2 * log(random_in(4, draw, 1e-12, 1))) *
                           cos(2 * PI * random_in(4, draw + 1, 0, 1)); // Box and Muller
            for (int j = 0; j < JOINTS; j++) {
                const double *m = c->palettes[e][j] + 4 * r;
                place += c->truth[v][j] * (m[0] * c->rest[v][0] + m[1] * c->rest[v][1] +
                                           m[2] * c->rest[v][2] + m[3]);
            }
            c->places[v][i] = place;
        }
    }
}

// Solves every vertex; weights of all joints into w. Returns the largest and RMS error.
static double solve_chain(const chain *c, bool normalise, double (*w)[JOINTS], double *rms)
{
    static const uint32_t joint[JOINTS] = { 0, 1, 2, 3 };
    static const double prior[JOINTS] = { 0.25, 0.25, 0.25, 0.25 };
    static double scratch[2 * JOINTS * JOINTS + JOINTS + 3 * JOINTS * EXAMPLES];
    double worst = 0, sum = 0;
    assert_true(cutis_example_scratch(JOINTS, EXAMPLES) * sizeof(double) <= sizeof scratch);
    for (int v = 0; v < VERTICES; v++) {
        cutis_example_vertex vertex = { .joint_count = JOINTS,
                                        .example_count = EXAMPLES,
                                        .joint = joint,
                                        .prior = prior,
                                        .palettes = c->palettes[0][0],
                                        .palette_count = JOINTS,
                                        .places = c->places[v] };
        memcpy(vertex.rest, c->rest[v], sizeof vertex.rest);
        cutis_example_weights found;
        cutis_example_solve(&vertex, 4, normalise, scratch, &found);
        memset(w[v], 0, sizeof w[v]);
        double total = 0;
        for (uint32_t i = 0; i < found.count; i++) {
            assert_true(found.weight[i] > 0);
            w[v][found.candidate[i]] = found.weight[i];
            total += found.weight[i];
        }
        assert_near(total, 1, 1e-12);
        assert_false(found.deficient);
        for (int j = 0; j < JOINTS; j++) {
            double error = fabs(w[v][j] - c->truth[v][j]);
            worst = fmax(worst, error);
            sum += error * error;
        }
    }
    *rms = sqrt(sum / (VERTICES * JOINTS));
    return worst;
}

static double found_weights[2][VERTICES][JOINTS];

static void exact_blends_give_their_weights_back(void **state)
{
    (void)state;
    static chain c;
    double rms;
    make_chain(&c, 0, 0);
    assert_true(solve_chain(&c, false, found_weights[0], &rms) < 1e-7);
    assert_true(solve_chain(&c, true, found_weights[0], &rms) < 1e-7);
}

static void noise_moves_weights_little_and_less_with_the_sum_inside(void **state)
{
    (void)state;
    static chain c;
    const double diagonal = sqrt(64 + 4 + 4);
    double inside, after;
    make_chain(&c, 0, 1e-3 * diagonal);
    solve_chain(&c, false, found_weights[0], &inside);
    solve_chain(&c, true, found_weights[0], &after);
    assert_true(inside < 0.008);
    assert_true(inside <= 1.05 * after);
}

static void a_far_origin_changes_nothing_with_the_sum_inside_but_does_otherwise(void **state)
{
    (void)state;
    static chain near, far;
    double rms, change[2] = { 0 };
    make_chain(&near, 0, 0.008);
    make_chain(&far, 100, 0.008);
    for (int normalise = 0; normalise < 2; normalise++) {
        solve_chain(&near, normalise, found_weights[0], &rms);
        solve_chain(&far, normalise, found_weights[1], &rms);
        for (int v = 0; v < VERTICES; v++)
            for (int j = 0; j < JOINTS; j++)
                change[normalise] =
                    fmax(change[normalise], fabs(found_weights[0][v][j] - found_weights[1][v][j]));
    }
    assert_true(change[0] < 1e-6);
    assert_true(change[1] > 1e-4);
}

static void joints_that_move_alike_share_by_the_prior_and_are_reported(void **state)
{
    (void)state;
    static chain c;
    make_chain(&c, 0, 0);
    const uint32_t joint[3] = { 0, 1, 1 };
    const double prior[3] = { 0.2, 0.6, 0.2 };
    double scratch[2 * 9 + 3 + 9 * EXAMPLES], places[3 * EXAMPLES];
    for (int i = 0; i < 3 * EXAMPLES; i++) {
        double at[2] = { 0 };
        for (int j = 0; j < 2; j++) {
            const double *m = c.palettes[i / 3][j] + 4 * (i % 3);
            at[j] = m[0] * 1.5 + m[1] * 0.3 + m[3];
        }
        places[i] = 0.3 * at[0] + 0.7 * at[1];
    }
    cutis_example_vertex vertex = {
        3,    EXAMPLES, joint, prior, c.palettes[0][0], JOINTS, { 1.5, 0.3, 0 }, places,
        NULL, 0,        NULL,  0
    };
    cutis_example_weights found;
    cutis_example_solve(&vertex, 4, false, scratch, &found);
    assert_true(found.deficient);
    assert_int_equal(found.count, 3);
    assert_near(found.weight[0], 0.3, 1e-6);
    assert_near(found.weight[1] - found.weight[2], 0.4, 1e-5); // as far apart as in the prior
}

static void the_pull_undoes_the_blend_unless_it_is_singular(void **state)
{
    (void)state;
    static chain c;
    uint32_t damped = 0;
    make_chain(&c, 0, 0);
    for (int v = 0; v < VERTICES; v++)
        for (int e = 0; e < EXAMPLES; e++) {
            double b[12] = { 0 }, place[3], d[3];
            for (int j = 0; j < JOINTS; j++)
                for (int i = 0; i < 12; i++) b[i] += c.truth[v][j] * c.palettes[e][j][i];
            for (int k = 0; k < 3; k++)
                place[k] = c.places[v][3 * e + k] + random_in(7, (uint64_t)(3 * v + k), -1, 1);
            if (!cutis_example_pull(b, 1, c.rest[v], place, d)) {
                damped++;
                continue;
            }
            for (int r = 0; r < 3; r++) {
                double at = b[4 * r + 3] - place[r];
                for (int k = 0; k < 3; k++) at += b[4 * r + k] * (c.rest[v][k] + d[k]);
                assert_near(at, 0, 1e-10);
            }
        }
    assert_true(damped < VERTICES * EXAMPLES / 20);
    // Half of the identity and half of a half turn about x: only x is left.
    const double twisted[12] = { 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    double rest[3] = { 1, 2, 3 }, place[3] = { 1.5, 4, 5 }, d[3];
    assert_false(cutis_example_pull(twisted, 1, rest, place, d));
    assert_near(d[0], 0.5, 1e-12);
    assert_true(isfinite(d[1]) && isfinite(d[2]));
}

// The whole way in double: displacements by the pull, weights of poses by the interpolant, the
// blend. At every example the vertex is where it should be, at rest it does not move, and turning
// and moving everything changes no displacement (docs/spec/pose-space.md 11.3, 11.5, 11.9).
static void every_example_comes_back_in_double(void **state)
{
    (void)state;
    enum { POSES = 6, LIMIT = POSES * POSES };
    static chain c, moved;
    double squares[LIMIT * JOINTS], scratch[2 * LIMIT + 3 * POSES], matrix[LIMIT], sums[POSES];
    double angle[POSES][JOINTS], motion[12], worst = 0, drift = 0;
    uint32_t cluster[POSES];
    make_chain(&c, 0, 0);
    moved = c;
    random_turn(50, 1, 3, 2, motion);
    for (int r = 0; r < 3; r++) motion[4 * r + 3] += 1.5 * r - 1;
    for (int e = 0; e < POSES; e++)
        for (int j = 0; j < JOINTS; j++) {
            angle[e][j] = e ? random_in(51, (uint64_t)(e * JOINTS + j), -1.5, 1.5) : 0;
            if (e == 0) { // the rest pose
                memset(c.palettes[0][j], 0, sizeof c.palettes[0][j]);
                for (int i = 0; i < 3; i++) c.palettes[0][j][5 * i] = 1;
            }
            multiply(motion, c.palettes[e][j], moved.palettes[e][j]);
        }
    for (int k = 0; k < POSES; k++)
        for (int l = 0; l < POSES; l++)
            for (int j = 0; j < JOINTS; j++)
                squares[(k * POSES + l) * JOINTS + j] = pow(angle[k][j] - angle[l][j], 2);
    const cutis_pose_table table = { .pose_count = POSES,
                                     .joint_count = JOINTS,
                                     .squares = squares };
    assert_true(cutis_rbf_scratch(POSES) <= sizeof scratch / sizeof *scratch);
    for (int v = 0; v < VERTICES; v++) {
        static const uint32_t joint[JOINTS] = { 0, 1, 2, 3 };
        const cutis_joint_weights weights = { JOINTS, joint, c.truth[v] };
        cutis_rbf rbf = { .cluster = cluster, .matrix = matrix, .sums = sums };
        double blend[POSES][12] = { { 0 } }, place[POSES][3], d[POSES][3], also[3];
        bool exact = true;
        for (int e = 0; e < POSES; e++) {
            double turned[12] = { 0 }, there[3];
            for (int j = 0; j < JOINTS; j++)
                for (int i = 0; i < 12; i++) {
                    blend[e][i] += c.truth[v][j] * c.palettes[e][j][i];
                    turned[i] += c.truth[v][j] * moved.palettes[e][j][i];
                }
            for (int k = 0; k < 3; k++)
                place[e][k] =
                    e ? random_in(52, (uint64_t)((v * POSES + e) * 3 + k), -1, 9) : c.rest[v][k];
            for (int r = 0; r < 3; r++)
                there[r] = motion[4 * r] * place[e][0] + motion[4 * r + 1] * place[e][1] +
                           motion[4 * r + 2] * place[e][2] + motion[4 * r + 3];
            exact = cutis_example_pull(blend[e], 1, c.rest[v], place[e], d[e]) && exact;
            cutis_example_pull(turned, 1, c.rest[v], there, also);
            for (int k = 0; k < 3 && exact; k++) drift = fmax(drift, fabs(also[k] - d[e][k]));
        }
        for (int k = 0; k < 3; k++) assert_near(d[0][k], 0, 1e-12);
        for (int metric = 0; metric < 2 && exact; metric++) { // PSD, WPSD
            const cutis_joint_weights *own = metric ? &weights : &(cutis_joint_weights){ 0 };
            cutis_rbf_fit(&table, own, false, 0, scratch, &rbf);
            if (rbf.cluster_count < POSES) continue; // cannot tell them apart: not to be exact
            for (int e = 0; e < POSES; e++) {
                double g[POSES], r[POSES], at[3];
                cutis_rbf_distances(&table, own, squares + e * POSES * JOINTS, g);
                cutis_rbf_weights(&rbf, g, g, r);
                for (int k = 0; k < 3; k++) {
                    at[k] = c.rest[v][k];
                    for (int t = 0; t < POSES; t++) at[k] += r[t] * d[t][k];
                }
                for (int row = 0; row < 3; row++) {
                    double x = blend[e][4 * row + 3] - place[e][row];
                    for (int k = 0; k < 3; k++) x += blend[e][4 * row + k] * at[k];
                    worst = fmax(worst, fabs(x));
                }
            }
        }
    }
    print_message("examples to %.2g, displacements moved along to %.2g\n", worst, drift);
    assert_true(worst < 1e-9 * sqrt(64 + 4 + 4));
    assert_true(drift < 1e-10);
}

// Real data -------------------------------------------------------------------------------------

enum { BONES_MAX = 20, FRAMES = 40, MESH = 754 };

typedef struct dem_bones {
    uint32_t joint_count;
    double binds[BONES_MAX][12], worlds[FRAMES][BONES_MAX][12];
    float places[FRAMES][MESH][3];
} dem_bones;

static void read_rows(const json_t *rows, double *out)
{
    for (size_t r = 0; r < 3; r++)
        for (size_t c = 0; c < 4; c++)
            out[4 * r + c] = json_number_value(json_array_get(json_array_get(rows, r), c));
}

static void read_rig(const char *name, dem_bones *d)
{
    char relative[256];
    double to_world[12];
    snprintf(relative, sizeof relative, "dem-bones/converted/%s.rig.json", name);
    json_t *rig = json_load_file(shared_path(relative), 0, NULL);
    assert_non_null(rig);
    const json_t *joints = json_object_get(rig, "joints");
    d->joint_count = (uint32_t)json_array_size(joints);
    assert_in_range(d->joint_count, 1, BONES_MAX);
    read_rows(json_object_get(rig, "mesh_to_world"), to_world);
    for (uint32_t j = 0; j < d->joint_count; j++) {
        read_rows(json_object_get(json_array_get(joints, j), "bind_world"), d->binds[j]);
        for (uint32_t f = 0; f < FRAMES; f++)
            read_rows(
                json_array_get(json_array_get(json_object_get(rig, "joint_world_rows"), f), j),
                d->worlds[f][j]);
    }
    json_decref(rig);
    FILE *file =
        fopen(shared_path("dem-bones/converted/bone_positions_400frames_754verts_f32le.bin"), "rb");
    assert_non_null(file);
    for (long f = 0; f < FRAMES; f++) {
        assert_int_equal(fseek(file, f * 10 * (long)sizeof d->places[0], SEEK_SET), 0);
        assert_int_equal(fread(d->places[f], sizeof d->places[0], 1, file), 1);
        for (int v = 0; v < MESH; v++)
            for (int c = 0; c < 3; c++) d->places[f][v][c] += (float)to_world[4 * c + 3];
    }
    fclose(file);
}

static cutis_mat34 to_floats(const double *m)
{
    cutis_mat34 out;
    for (int i = 0; i < 12; i++) out.m[i] = (float)m[i];
    return out;
}

// A model of the first frame's shape whose joints are all roots, without weights.
static cutis_model *make_model(cutis_context *context, const dem_bones *d)
{
    cutis_node nodes[BONES_MAX + 1] = { 0 };
    uint32_t joints[BONES_MAX];
    cutis_mat34 inverse[BONES_MAX];
    for (uint32_t j = 0; j < d->joint_count; j++) {
        cutis_mat34 bind = to_floats(d->binds[j]);
        assert_true(cutis_mat34_invert(&bind, &inverse[j]));
        nodes[j] = (cutis_node){ .parent = CUTIS_NONE,
                                 .rest = cutis_transform_from_mat34(&bind),
                                 .mesh = CUTIS_NONE,
                                 .skin = CUTIS_NONE };
        joints[j] = j;
    }
    nodes[d->joint_count] =
        (cutis_node){ .parent = CUTIS_NONE, .rest = cutis_transform_identity() };
    cutis_primitive primitive = { .topology = CUTIS_TOPOLOGY_POINTS,
                                  .vertex_count = MESH,
                                  .positions = d->places[0][0],
                                  .material = CUTIS_NONE };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_skin skin = { .joint_count = d->joint_count,
                        .joints = joints,
                        .inverse_binds = inverse,
                        .root = CUTIS_NONE };
    cutis_model_data data = { .node_count = d->joint_count + 1,
                              .mesh_count = 1,
                              .skin_count = 1,
                              .nodes = nodes,
                              .meshes = &mesh,
                              .skins = &skin };
    cutis_model *model = NULL;
    assert_ok(context, cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model));
    return model;
}

// RMS of a model's own weights on frames first, first + 2, ..., blended again in double.
static double frames_rms(const dem_bones *d, const cutis_model *model, uint32_t first)
{
    const cutis_influences *w = &cutis_model_get(model)->meshes[0].primitives[0].influences;
    const cutis_mat34 *inverse = cutis_model_get(model)->skins[0].inverse_binds;
    double sum = 0;
    uint32_t count = 0;
    for (uint32_t f = first; f < FRAMES; f += 2)
        for (uint32_t v = 0; v < MESH; v++, count++) {
            double at[3] = { 0 };
            for (uint32_t i = w->first[v]; i < w->first[v + 1]; i++) {
                double inverse_bind[12], matrix[12];
                for (int k = 0; k < 12; k++) inverse_bind[k] = inverse[w->joints[i]].m[k];
                multiply(d->worlds[f][w->joints[i]], inverse_bind, matrix);
                for (int r = 0; r < 3; r++)
                    at[r] += w->weights[i] *
                             (matrix[4 * r] * d->places[0][v][0] +
                              matrix[4 * r + 1] * d->places[0][v][1] +
                              matrix[4 * r + 2] * d->places[0][v][2] + matrix[4 * r + 3]);
            }
            for (int r = 0; r < 3; r++) sum += pow(at[r] - d->places[f][v][r], 2);
        }
    return sqrt(sum / count);
}

static cutis_model *learn(cutis_context *context, const dem_bones *d, cutis_device *device,
                          const cutis_pose_fit_options *options)
{
    cutis_model *model = make_model(context, d), *fitted = NULL;
    static cutis_transform poses[FRAMES / 2][BONES_MAX + 1];
    static float places[FRAMES / 2][MESH][3];
    uint32_t nodes = d->joint_count + 1;
    cutis_transform *pose = poses[0];
    for (uint32_t k = 0; k < FRAMES / 2; k++) {
        for (uint32_t j = 0; j < d->joint_count; j++) {
            cutis_mat34 world = to_floats(d->worlds[2 * k][j]);
            *pose++ = cutis_transform_from_mat34(&world);
        }
        *pose++ = cutis_transform_identity();
        memcpy(places[k], d->places[2 * k], sizeof places[k]);
    }
    assert_int_equal(pose - poses[0], FRAMES / 2 * nodes);
    cutis_pose_examples examples = { FRAMES / 2, poses[0], places[0][0], NULL };
    cutis_pose_fit_report *report = NULL;
    assert_ok(context, cutis_poses_fit(model, device, &examples, options, &fitted, &report));
    assert_near(report->after_rms, frames_rms(d, fitted, 0), 1e-5);
    assert_null(report->before);
    cutis_weight_summary summary;
    assert_ok(context, cutis_weights_summarize(fitted, &summary));
    assert_true(summary.max_influences <= 4);
    cutis_pose_fit_report_destroy(report);
    cutis_model_destroy(model);
    return fitted;
}

static void real_shapes_reach_the_published_figures(void **state)
{
    (void)state;
    static dem_bones d;
    static const struct {
        const char *rig;
        bool normalise;
        double train, held_out;
    } rows[] = {
        { "Bone_All", false, 0.02720, 0.0267 },
        { "Bone_All", true, 0.02730, 0.0268 },
        { "Decomposition_10", false, 0.01556, 1 },
        { "Decomposition_20", false, 0.0103, 1 },
    };
    cutis_context *context = NULL;
    shared_path("dem-bones/converted/Bone_All.rig.json"); // skips before anything is made
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        read_rig(rows[i].rig, &d);
        cutis_model *fitted =
            learn(context, &d, NULL,
                  &(cutis_pose_fit_options){ .learn_weights = true,
                                             .weights_only = true,
                                             .paper.normalise = rows[i].normalise });
        double train = frames_rms(&d, fitted, 0), held_out = frames_rms(&d, fitted, 1);
        print_message("%s%s: training %.6f, held out %.6f\n", rows[i].rig,
                      rows[i].normalise ? ", normalised afterwards" : "", train, held_out);
        assert_true(train <= rows[i].train);
        assert_true(held_out <= rows[i].held_out);
        cutis_model_destroy(fitted);
    }
    cutis_context_destroy(context);
}

// A tube along x bent and twisted over the frames by a chain of joints, with a little noise.
static void make_rig(dem_bones *d)
{
    d->joint_count = 10;
    for (uint32_t f = 0; f < FRAMES; f++)
        for (uint32_t j = 0; j < d->joint_count; j++) {
            double turn[12], *world = d->worlds[f][j];
            random_turn(21, f ? f * BONES_MAX + j : 0, (double)j, f ? 0.4 : 0, turn);
            memcpy(world, turn, sizeof turn);
            if (j) multiply(d->worlds[f][j - 1], turn, world);
            if (f == 0) memcpy(d->binds[j], world, sizeof turn);
        }
    for (int f = 0; f < FRAMES; f++)
        for (int v = 0; v < MESH; v++) {
            const double x = 10.0 * v / MESH, at[3] = { x, cos(v), sin(v) };
            const int a = x < 9 ? (int)x : 8;
            for (int c = 0; c < 3; c++) {
                double place = 0;
                for (int i = 0; i < 2; i++) {
                    const double *m = d->worlds[f][a + i] + 4 * c, w = i ? x - a : 1 - (x - a);
                    place += w * (m[0] * at[0] + m[1] * at[1] + m[2] * at[2] + m[3]);
                }
                d->places[f][v][c] =
                    (float)(place +
                            1e-3 * random_in(22, (uint64_t)((f * MESH + v) * 3 + c), -1, 1));
            }
        }
}

static void threads_do_not_change_the_bits(void **state)
{
    (void)state;
    static dem_bones d;
    cutis_context *context = NULL;
    cutis_device *device = NULL;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    make_rig(&d);
    cutis_model *fitted[2];
    const cutis_pose_fit_options options = { .learn_weights = true, .weights_only = true };
    fitted[0] = learn(context, &d, NULL, &options);
    assert_ok(context,
              cutis_device_create(context, &(cutis_device_options){ .thread_count = 3 }, &device));
    fitted[1] = learn(context, &d, device, &options);
    const cutis_influences *w[2];
    for (int i = 0; i < 2; i++)
        w[i] = &cutis_model_get(fitted[i])->meshes[0].primitives[0].influences;
    uint32_t count = w[0]->first[MESH];
    assert_memory_equal(w[0]->first, w[1]->first, (MESH + 1) * sizeof(uint32_t));
    assert_memory_equal(w[0]->joints, w[1]->joints, count * sizeof(uint32_t));
    assert_memory_equal(w[0]->weights, w[1]->weights, count * sizeof(float));
    for (int i = 0; i < 2; i++) cutis_model_destroy(fitted[i]);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_blends_give_their_weights_back),
        cmocka_unit_test(noise_moves_weights_little_and_less_with_the_sum_inside),
        cmocka_unit_test(a_far_origin_changes_nothing_with_the_sum_inside_but_does_otherwise),
        cmocka_unit_test(joints_that_move_alike_share_by_the_prior_and_are_reported),
        cmocka_unit_test(the_pull_undoes_the_blend_unless_it_is_singular),
        cmocka_unit_test(every_example_comes_back_in_double),
        cmocka_unit_test(real_shapes_reach_the_published_figures),
        cmocka_unit_test(threads_do_not_change_the_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
