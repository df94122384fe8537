/// What a bench promises: figures beside their goals, said and emitted in one way by all of them.
#include "bench/bench.h"

#include <math.h>

void bench_figure_add(bench_figures *list, const char *name, uint32_t size, double value,
                      bool at_least, double goal)
{
    if (list->count == BENCH_FIGURES || !isfinite(value)) return;
    bench_figure *f = &list->items[list->count++];
    *f = (bench_figure){ .value = value, .goal = goal, .at_least = at_least };
    snprintf(f->name, sizeof f->name, size ? "%s_%u" : "%s", name, size);
}

static bool reached(const bench_figure *f)
{
    return f->at_least ? f->value >= f->goal : f->value <= f->goal;
}

void bench_figures_say(const cli_app *app, const bench_figures *list)
{
    if (list->count) app_say(app, "\n");
    for (const bench_figure *f = list->items; f < list->items + list->count; f++)
        app_say(app, "  %s%-7s%s %-38s %9.4g  (goal %s %.4g)\n",
                app_style(app, reached(f) ? "32" : "33"), reached(f) ? "reached" : "missed",
                app_style(app, "0"), f->name, f->value, f->at_least ? ">=" : "<=", f->goal);
}

void bench_figures_emit(json_out *json, const bench_figures *list)
{
    emit_array(json, "figures");
    for (const bench_figure *f = list->items; f < list->items + list->count; f++)
        emit(json, "{ name %s value %g goal %g sense %s reached %d }", f->name, f->value, f->goal,
             f->at_least ? "at least" : "at most", reached(f));
    emit_end(json);
}
