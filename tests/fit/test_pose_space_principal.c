// Principal poses (docs/spec/pose-space.md 7 and 11.12): the basis against its definition in
// double, and what a compressed model plays against the model that keeps every displacement.
#include "support.h"

#include <cutis/poses.h>

#include "fit/poses/fit.h"

enum { COLUMNS = 7, ROWS = 600 };

static float columns[COLUMNS][ROWS];
static double vectors[COLUMNS * COLUMNS], squares[COLUMNS], scratch[COLUMNS * COLUMNS];

static void make_columns(bool low_rank)
{
    const float *list[COLUMNS];
    for (uint64_t k = 0; k < COLUMNS; k++) {
        for (uint64_t r = 0; r < ROWS; r++) {
            columns[k][r] = (float)random_in(1, k * ROWS + r, -1, 1) / (float)(1 + k);
            if (low_rank && k > 2)
                columns[k][r] = (float)k * columns[0][r] - columns[1][r] + 0.5f * columns[2][r];
        }
        list[k] = columns[k];
    }
    cutis_principal_basis(COLUMNS, ROWS, list, vectors, squares, scratch);
}

// Sum of the squares of X - F V^T with the first `keep` directions.
static double truncation(uint32_t keep, double *worst)
{
    double sum = 0;
    *worst = 0;
    for (int r = 0; r < ROWS; r++) {
        double field[COLUMNS] = { 0 };
        for (int m = 0; m < COLUMNS; m++)
            for (int k = 0; k < COLUMNS; k++) field[m] += vectors[k * COLUMNS + m] * columns[k][r];
        for (int k = 0; k < COLUMNS; k++) {
            double off = columns[k][r];
            for (uint32_t m = 0; m < keep; m++) off -= vectors[k * COLUMNS + (int)m] * field[m];
            sum += off * off;
            *worst = fmax(*worst, fabs(off));
        }
    }
    return sum;
}

static void all_directions_give_the_columns_back(void **state)
{
    (void)state;
    double worst;
    make_columns(false);
    truncation(COLUMNS, &worst);
    assert_true(worst < 1e-9);
    for (int a = 0; a < COLUMNS; a++)
        for (int b = 0; b < COLUMNS; b++) {
            double dot = 0;
            for (int k = 0; k < COLUMNS; k++)
                dot += vectors[k * COLUMNS + a] * vectors[k * COLUMNS + b];
            assert_near(dot, a == b, 1e-12);
        }
}

static void what_is_left_out_is_the_sum_of_the_discarded_squares(void **state)
{
    (void)state;
    make_columns(false);
    for (uint32_t keep = 0; keep < COLUMNS; keep++) {
        double worst, discarded = 0, left = truncation(keep, &worst);
        for (uint32_t m = keep; m < COLUMNS; m++) discarded += squares[m];
        assert_true(keep == 0 || squares[keep] <= squares[keep - 1]);
        assert_near(left / discarded, 1, 1e-8);
    }
    make_columns(true); // three columns and sums of them
    double worst;
    truncation(3, &worst);
    assert_true(worst < 1e-6); // floats
}

typedef struct stage {
    cutis_context *context;
    cutis_model *arm;
    uint32_t vertices, nodes;
    float *shapes;
    cutis_transform *poses;
} stage;

static void open_stage(stage *s)
{
    uint32_t clip;
    cutis_sampler *sampler = NULL;
    memset(s, 0, sizeof *s);
    assert_int_equal(cutis_context_create(NULL, &s->context), CUTIS_OK);
    assert_ok(s->context,
              cutis_synth_create(s->context,
                                 &(cutis_synth_options){ .body = CUTIS_BODY_ARM, .examples = true },
                                 &s->arm));
    s->vertices = cutis_model_vertex_count(s->arm);
    s->nodes = cutis_model_get(s->arm)->node_count;
    s->shapes = calloc(8 * 3 * (size_t)s->vertices, sizeof *s->shapes);
    s->poses = calloc(8 * (size_t)s->nodes, sizeof *s->poses);
    assert_ok(s->context, cutis_synth_arm_examples(s->arm, s->shapes));
    assert_ok(s->context, cutis_model_find_clip(s->arm, "examples", &clip));
    assert_ok(s->context, cutis_sampler_create(s->arm, clip, &sampler));
    for (uint32_t k = 0; k < 8; k++)
        cutis_sampler_sample(sampler, (float)k, s->poses + (size_t)k * s->nodes, NULL);
    cutis_sampler_destroy(sampler);
}

static void close_stage(stage *s)
{
    free(s->shapes);
    free(s->poses);
    cutis_model_destroy(s->arm);
    cutis_context_destroy(s->context);
}

static cutis_model *fit(const stage *s, uint32_t principal, cutis_pose_fit_report **report)
{
    cutis_model *out = NULL;
    assert_ok(s->context,
              cutis_poses_fit(s->arm, NULL, &(cutis_pose_examples){ 8, s->poses, s->shapes, NULL },
                              &(cutis_pose_fit_options){ .principal_poses = principal }, &out,
                              report));
    return out;
}

static double displacement(const cutis_model *model, uint32_t k, size_t at)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_morph_target *targets = data->meshes[0].primitives->targets;
    const cutis_pose_space *space = data->pose_space;
    if (!space->field_count) return targets[k - 1].positions[at];
    double sum = 0;
    for (uint32_t m = 0; m < space->field_count; m++)
        sum += (double)space->coefficients[(k - 1) * space->field_count + m] *
               targets[m].positions[at];
    return sum;
}

static double worst_shape(const stage *s, const cutis_model *model, cutis_method method)
{
    cutis_device *device = NULL;
    cutis_binding *binding = NULL;
    float *out = calloc(8 * 3 * (size_t)s->vertices, sizeof *out);
    double worst = 0;
    assert_ok(s->context, cutis_device_create(s->context, NULL, &device));
    assert_ok(s->context,
              cutis_bind(device, model, &(cutis_bind_options){ .method = method }, &binding));
    assert_ok(s->context, cutis_deform(binding, &(cutis_poses){ .local = s->poses }, 8,
                                       &(cutis_outputs){ .positions = { .data = out } }));
    for (size_t i = 0; i < 8 * (size_t)s->vertices; i++) {
        double square = 0;
        for (size_t c = 0; c < 3; c++)
            square += pow((double)out[3 * i + c] - s->shapes[3 * i + c], 2);
        worst = fmax(worst, sqrt(square));
    }
    cutis_binding_destroy(binding);
    cutis_device_destroy(device);
    free(out);
    return worst;
}

static void a_compressed_model_is_off_by_what_the_report_says(void **state)
{
    (void)state;
    stage s;
    cutis_pose_fit_report *whole = NULL, *report = NULL;
    open_stage(&s);
    cutis_model *all = fit(&s, 0, &whole);
    assert_int_equal(whole->field_count, 7);
    assert_near(whole->energy, 1, 0);
    for (uint32_t keep = 2; keep <= 4; keep++) {
        cutis_model *few = fit(&s, keep, &report);
        double left = 0, total = 0, worst = 0;
        assert_int_equal(report->field_count, keep);
        assert_int_equal(cutis_model_get(few)->meshes[0].target_count, keep);
        for (uint32_t k = 1; k < 8; k++)
            for (size_t v = 0; v < s.vertices; v++) {
                double square = 0;
                for (size_t c = 0; c < 3; c++) {
                    double d = displacement(all, k, 3 * v + c);
                    square += pow(d - displacement(few, k, 3 * v + c), 2);
                    total += d * d;
                }
                left += square;
                worst = fmax(worst, sqrt(square));
            }
        print_message("%u of 7: energy %.6f, off by %.3g m at most\n", keep, report->energy, worst);
        assert_near(left / total, 1 - report->energy, 1e-6);
        assert_near(worst, report->compression_max, 1e-7);
        for (int m = 0; m < 2; m++) {
            double shape = worst_shape(&s, few, m ? CUTIS_METHOD_WPSD : CUTIS_METHOD_PSD);
            assert_true(shape <= 1.001 * worst + 1e-5 * report->diagonal); // bones turn, not scale
            assert_true(shape > 0.2 * worst);
        }
        cutis_pose_fit_report_destroy(report);
        cutis_model_destroy(few);
    }
    cutis_model *same = fit(&s, 7, &report); // as many as there are: nothing to compress
    assert_int_equal(report->field_count, 7);
    assert_null(cutis_model_get(same)->pose_space->coefficients);
    cutis_pose_fit_report_destroy(report);
    cutis_pose_fit_report_destroy(whole);
    cutis_model_destroy(same);
    cutis_model_destroy(all);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_directions_give_the_columns_back),
        cmocka_unit_test(what_is_left_out_is_the_sum_of_the_discarded_squares),
        cmocka_unit_test(a_compressed_model_is_off_by_what_the_report_says),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
