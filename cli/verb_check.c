/// cutis check: what is wrong with a skin, and with --fix -o a repaired copy.
///
/// The file is always read with the repairing gate, so that one run lists everything; what the gate
/// had to repair is an error of the file until --fix has written the repaired model.
#include "convert.h"

#include <string.h>

typedef struct tally {
    uint32_t errors, warnings, repaired;
} tally;

static const char *severity_name(const cutis_issue *issue)
{
    return issue->severity == 0 ? "error" : issue->severity == 1 ? "warning" : "info";
}

static void count_issues(const cutis_issue *issues, uint32_t count, tally *out)
{
    for (uint32_t i = 0; i < count; i++) {
        out->repaired += issues[i].repaired;
        out->errors += issues[i].severity == 0;
        out->warnings += issues[i].severity == 1;
    }
}

static void print_issue(const cli_app *app, json_out *json, const cutis_issue *issue)
{
    if (app->json) {
        emit_object(json, NULL);
        emit_string(json, "code", issue->code);
        emit_string(json, "place", issue->place);
        emit_string(json, "text", issue->text);
        emit_count(json, "count", issue->count);
        emit_string(json, "severity", severity_name(issue));
        emit_bool(json, "repaired", issue->repaired && option_given(app, OPTION_FIX));
        emit_end(json);
        return;
    }
    const char *color = issue->severity == 0 ? "31" : issue->severity == 1 ? "33" : "36";
    bool fixed = issue->repaired && option_given(app, OPTION_FIX);
    app_say(app, "%s%-8s%s%s: %s: %s%s\n", app_style(app, color), severity_name(issue),
            app_style(app, "0"), issue->place, issue->code, issue->text,
            fixed ? " [repaired]" : "");
}

static void print_report(const cli_app *app, const char *path, const cutis_model *model,
                         const cutis_report *report, tally *total)
{
    const cutis_issue *lists[2];
    uint32_t counts[2] = { cutis_model_issues(model, &lists[0]),
                           cutis_report_issues(report, &lists[1]) };
    json_out json = { .file = stdout };
    for (int k = 0; k < 2; k++) count_issues(lists[k], counts[k], total);
    if (app->json) {
        emit_object(&json, NULL);
        emit_string(&json, "file", path);
        emit_count(&json, "errors", total->errors);
        emit_count(&json, "warnings", total->warnings);
        emit_count(&json, "repaired", option_given(app, OPTION_FIX) ? total->repaired : 0);
        emit_array(&json, "issues");
    }
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < counts[k]; i++) print_issue(app, &json, &lists[k][i]);
    if (app->json) {
        emit_end(&json);
        emit_end(&json);
    } else if (counts[0] + counts[1] == 0) {
        app_say(app, "%s: nothing to complain about\n", path);
    } else {
        app_say(app, "%s: %u errors, %u warnings\n", path, total->errors, total->warnings);
    }
}

static int write_fixed(cli_app *app, const cutis_model *model, const char *output)
{
    cutis_model *clean = NULL;
    cutis_write_options options = write_options(app);
    cutis_result result =
        cutis_weights_limit(model, option_count(app, OPTION_INFLUENCES, 0), &clean);
    if (result == CUTIS_OK) result = cutis_model_write(clean, output, &options);
    cutis_model_destroy(clean);
    if (result != CUTIS_OK) return app_fail(app, output, result);
    app_say(app, "wrote %s\n", output);
    return EXIT_GOOD;
}

int verb_check(cli_app *app)
{
    const char *path = app->operands[0], *output = option_text(app, OPTION_OUTPUT);
    const bool fix = option_given(app, OPTION_FIX);
    cutis_read_options options = { .gate = CUTIS_GATE_REPAIR,
                                   .unit_scale = (float)option_number(app, OPTION_SCALE, 0.0) };
    cutis_model *model = NULL;
    cutis_report *report = NULL;
    tally total = { 0 };
    if (fix && !output) return app_usage(app, "--fix needs -o FILE: the input is never changed");
    if (output && !fix) return app_usage(app, "-o is for --fix");
    int status = output ? app_check_output(app, output) : EXIT_GOOD;
    if (status != EXIT_GOOD) return status;
    cutis_result result = cutis_model_read(app->context, path, &options, &model);
    if (result == CUTIS_OK)
        result = cutis_model_check(model, option_count(app, OPTION_INFLUENCES, 4), &report);
    if (result != CUTIS_OK) {
        status = app_fail(app, path, result);
        goto done;
    }
    print_report(app, path, model, report, &total);
    if (fix)
        status = write_fixed(app, model, output);
    else if (total.errors > 0)
        status = app_fail_text(app, "%s: %u error%s; cutis check --fix -o FILE repairs what can be",
                               path, total.errors, total.errors == 1 ? "" : "s");
done:
    cutis_report_destroy(report);
    cutis_model_destroy(model);
    return status;
}
