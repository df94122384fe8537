/// What `reduce` says of a bound, of weights in whole numbers and of merged joints: as text, as
/// JSON and on its page. Nothing is said of what was not asked for.
#include "html.h"
#include "reduce.h"

#include <math.h>

static const double DEGREES = 57.29577951308232;
enum { NAMED = 6, LINE = 256 }; // joints that the text names; room for a line of it

static double mean_influences(const cutis_weight_summary *summary)
{
    double sum = 0, count = 0;
    for (int i = 0; i < 17; i++) {
        sum += (double)i * (double)summary->histogram[i];
        count += (double)summary->histogram[i];
    }
    return count > 0 ? sum / count : 0;
}

// "1.66 mm", "4.2 degrees", or both, of what was bounded.
static void say_both(const reduce_job *job, double position, double normal, char *out)
{
    const bool distance = job->options.max_error > 0, angle = job->options.max_normal > 0;
    int used = 0;
    out[0] = 0;
    if (distance) used = snprintf(out, LINE, "%.4g mm", 1e3 * position);
    if (angle)
        snprintf(out + used, LINE - (size_t)used, "%s%.4g degrees", distance ? " and " : "",
                 DEGREES * normal);
}

static void say_bounds(const cli_app *app, const reduce_job *job)
{
    const cutis_reduce_bounds *b = &job->reduction->bounds;
    char most[LINE], high[LINE];
    if (!b->judged_count) return;
    say_both(job, b->position, b->normal, most);
    say_both(job, b->position_99, b->normal_99, high);
    app_say(app,
            "%s at most in %u unseen poses, 99 %% of the vertices within %s; counts were found on "
            "%u other poses\nvertices by influences:",
            most, b->judged_count, high, b->checked_count);
    for (int i = 0; i < 17; i++)
        if (job->after.histogram[i])
            app_say(app, " %d: %ju", i, (uintmax_t)job->after.histogram[i]);
    app_say(app, "; %.3g on average, before %.3g\n", mean_influences(&job->after),
            mean_influences(&job->before));
}

static void say_quantised(const cli_app *app, const reduce_job *job)
{
    const cutis_reduce_quantised *q = &job->reduction->quantised;
    if (!q->total) return;
    app_say(app,
            "weights in steps of 1/%u: held-out poses %.4g %% and %.4g rad; plain rounding %.4g %% "
            "and %.4g rad\n",
            q->total, q->chosen_position, q->chosen_normal, q->rounded_position, q->rounded_normal);
}

static const char *name_of(const reduce_job *job, uint32_t node)
{
    const char *name = cutis_model_get(job->model)->nodes[node].name;
    return name ? name : "?";
}

static void say_joints(const cli_app *app, const reduce_job *job)
{
    const cutis_reduce_report *r = job->reduction;
    const uint32_t gone = r->joints_before - r->joints_after;
    uint32_t named = 0;
    if (!r->merged) return;
    app_say(app, "%u joints, before %u", r->joints_after, r->joints_before);
    for (uint32_t n = 0; n < cutis_model_get(job->model)->node_count && named < NAMED; n++)
        if (r->merged[n] != CUTIS_NONE)
            app_say(app, "%s %s into %s", named++ ? "," : ":", name_of(job, n),
                    name_of(job, (uint32_t)r->merged[n]));
    if (gone > named) app_say(app, ", and %u more", gone - named);
    app_say(app, "\n");
}

void reduce_say_limits(const cli_app *app, const reduce_job *job)
{
    say_joints(app, job);
    say_bounds(app, job);
    say_quantised(app, job);
}

void reduce_emit_limits(json_out *json, const reduce_job *job)
{
    const cutis_reduce_report *r = job->reduction;
    const cutis_reduce_bounds *b = &r->bounds;
    const cutis_reduce_quantised *q = &r->quantised;
    emit(json, "mean_influences_before %g mean_influences_after %g", mean_influences(&job->before),
         mean_influences(&job->after));
    if (b->judged_count)
        emit(json,
             "bounds { error_mm %g normal_degrees %g checked_poses %u judged_poses %u "
             "largest_error_mm %g largest_normal_degrees %g error_99_mm %g normal_99_degrees %g "
             "beyond_vertices %u }",
             job->options.max_error > 0 ? 1e3 * job->options.max_error : NAN,
             job->options.max_normal > 0 ? DEGREES * job->options.max_normal : NAN,
             b->checked_count, b->judged_count, 1e3 * b->position,
             job->options.max_normal > 0 ? DEGREES * b->normal : NAN, 1e3 * b->position_99,
             job->options.max_normal > 0 ? DEGREES * b->normal_99 : NAN, (unsigned)b->beyond_count);
    if (q->total)
        emit(json,
             "quantised { total %u rounded_energy %g chosen_energy %g real_energy %g "
             "rounded_position %g rounded_normal %g chosen_position %g chosen_normal %g }",
             q->total, q->rounded_energy, q->chosen_energy, q->real_energy, q->rounded_position,
             q->rounded_normal, q->chosen_position, q->chosen_normal);
    if (!r->merged) return;
    emit(json, "joints { before %u after %u merged [", r->joints_before, r->joints_after);
    for (uint32_t n = 0; n < cutis_model_get(job->model)->node_count; n++)
        if (r->merged[n] != CUTIS_NONE)
            emit(json, "{ joint %s into %s }", name_of(job, n),
                 name_of(job, (uint32_t)r->merged[n]));
    emit(json, "] }");
}

void reduce_page_limits(html_page *page, const reduce_job *job)
{
    const cutis_reduce_report *r = job->reduction;
    const cutis_reduce_quantised *q = &r->quantised;
    char most[LINE], bound[LINE];
    if (r->merged)
        html_markup(page, "<p>%u joints, before %u.</p>\n", r->joints_after, r->joints_before);
    if (r->bounds.judged_count) {
        say_both(job, job->options.max_error, job->options.max_normal, bound);
        say_both(job, r->bounds.position, r->bounds.normal, most);
        html_markup(page,
                    "<p>Bound: %s. The largest error of any vertex in %u unseen poses is %s, with "
                    "%.3g influences a vertex on average (before: %.3g).</p>\n",
                    bound, r->bounds.judged_count, most, mean_influences(&job->after),
                    mean_influences(&job->before));
    }
    if (q->total)
        html_markup(page,
                    "<p>Weights in steps of 1/%u: held-out poses %.4g %% and %.4g rad; plain "
                    "rounding %.4g %% and %.4g rad.</p>\n",
                    q->total, q->chosen_position, q->chosen_normal, q->rounded_position,
                    q->rounded_normal);
}
