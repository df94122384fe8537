/// cutis check: what is wrong with a file and its skin, and with --fix -o a repaired copy.
///
/// Two looks: the strict one of the file's format (for glTF the Khronos validator's codes), and one
/// with the repairing gate, so that a run lists everything. What the gate had to repair is an error
/// of the file until --fix has written the repaired model.
#include "app.h"
#include "batch.h"

#include <string.h>

typedef struct tally {
    uint32_t errors, warnings, repaired;
} tally;

static const char *severity_name(const cutis_issue *issue)
{
    return issue->severity == 0 ? "error" : issue->severity == 1 ? "warning" : "info";
}

static void count_issue(const cutis_issue *issue, bool again, tally *out)
{
    out->repaired += issue->repaired;
    out->errors += issue->severity == 0 && !again;
    out->warnings += issue->severity == 1 && !again;
}

/// What the look at the file left out; no finding.
static bool not_checked(const cutis_issue *issue)
{
    return strcmp(issue->code, "NOT_CHECKED") == 0;
}

static bool has_code(const cutis_issue *issues, uint32_t count, const char *code)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(issues[i].code, code) == 0) return true;
    return false;
}

static void print_issue(const cli_app *app, json_out *json, const cutis_issue *issue, bool repaired)
{
    const bool fixed = (issue->repaired || repaired) && option_given(app, OPTION_FIX);
    if (not_checked(issue)) return;
    if (app->json)
        emit(json, "{ code %s place %s text %s count %ju severity %s repaired %d }", issue->code,
             issue->place, issue->text, issue->count, severity_name(issue), fixed);
    const char *color = issue->severity == 0 ? "31" : issue->severity == 1 ? "33" : "36";
    char text[2048];
    snprintf(text, sizeof text, "%s: %s: %s", issue->place, issue->code, issue->text);
    app_clean(text);
    app_say(app, "%s%-8s%s%s%s\n", app_style(app, color), severity_name(issue), app_style(app, "0"),
            text, fixed ? " [repaired]" : "");
}

/// The findings in order: the file by its format's letter, what the gate repaired, the skin.
typedef struct findings {
    const cutis_issue *lists[3];
    uint32_t counts[3];
} findings;

/// A list in JSON, one line in text. @return how many there are
static uint32_t print_not_checked(const cli_app *app, json_out *json, const findings *all)
{
    enum { SHOWN = 4 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < all->counts[0]; i++) {
        const cutis_issue *issue = &all->lists[0][i];
        if (!not_checked(issue)) continue;
        if (app->json) emit(json, "{ place %s text %s }", issue->place, issue->text);
        char text[2048];
        snprintf(text, sizeof text, "%s: %s", issue->place, issue->text);
        app_clean(text);
        if (count < SHOWN) app_say(app, "%s%s", count ? "; " : "not checked: ", text);
        count++;
    }
    if (count > SHOWN) app_say(app, "; and %u more, --json lists them", count - SHOWN);
    if (count) app_say(app, "\n");
    return count;
}

/// What reading put right is in the first list already, where that came so far.
static bool told_before(const findings *all, int list, const cutis_issue *issue)
{
    return list == 1 && has_code(all->lists[0], all->counts[0], issue->code);
}

static void print_findings(const cli_app *app, const char *path, const findings *all, tally *total)
{
    json_out json = { .file = app->results ? app->results : stdout };
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < all->counts[k]; i++)
            count_issue(&all->lists[k][i], told_before(all, k, &all->lists[k][i]), total);
    if (app->json)
        emit(&json, "{ file %s errors %u warnings %u repaired %u issues [", path, total->errors,
             total->warnings, option_given(app, OPTION_FIX) ? total->repaired : 0);
    for (int k = 0; k < 3; k++)
        for (uint32_t i = 0; i < all->counts[k]; i++) {
            const cutis_issue *issue = &all->lists[k][i];
            if (told_before(all, k, issue)) continue;
            print_issue(app, &json, issue,
                        k == 0 && has_code(all->lists[1], all->counts[1], issue->code));
        }
    if (app->json) emit(&json, "] not_checked [");
    const uint32_t left_out = print_not_checked(app, &json, all);
    if (app->json) emit(&json, "] }");
    char shown[4096];
    snprintf(shown, sizeof shown, "%s", path);
    app_clean(shown);
    if (all->counts[0] + all->counts[1] + all->counts[2] == left_out) {
        app_say(app, "%s: nothing to complain about\n", shown);
    } else {
        app_say(app, "%s: %u error%s, %u warning%s\n", shown, total->errors,
                total->errors == 1 ? "" : "s", total->warnings, total->warnings == 1 ? "" : "s");
    }
}

static int write_fixed(cli_app *app, const cutis_model *model, const char *output)
{
    cutis_model *clean = NULL;
    int status = app_result(
        app, output, cutis_weights_limit(model, option_count(app, OPTION_INFLUENCES, 0), &clean));
    if (status == EXIT_GOOD) status = app_write_model(app, clean, output);
    if (status == EXIT_GOOD) app_say(app, "wrote %s\n", output);
    cutis_model_destroy(clean);
    return status;
}

/// One line for standard error: the first error with its place and code, and how many more.
static int refuse(cli_app *app, const char *path, const findings *all, const tally *total)
{
    const cutis_issue *first = NULL;
    for (int k = 0; k < 3 && !first; k++)
        for (uint32_t i = 0; i < all->counts[k] && !first; i++)
            if (all->lists[k][i].severity == 0) first = &all->lists[k][i];
    if (!first) return EXIT_GOOD;
    const bool whole = strcmp(first->place, path) == 0; // of the file as such: named already
    return app_fail_text(app, "%s: %s%s%s [%s]; %u error%s in all%s", path,
                         whole ? "" : first->place, whole ? "" : ": ", first->text, first->code,
                         total->errors, total->errors == 1 ? "" : "s",
                         total->repaired ? ", --fix -o FILE repairs what can be" : "");
}

/// Read with the repairing gate, so that one run lists everything about the skin. A file that
/// cannot even be repaired has only the findings of its format.
static cutis_result look_at_skin(cli_app *app, const char *path, findings *all, cutis_model **model,
                                 cutis_check_report **skin)
{
    cutis_read_options options = { .gate = CUTIS_GATE_REPAIR,
                                   .keep_source = option_given(app, OPTION_OUTPUT) };
    if (app_placement(app, path, &options) != EXIT_GOOD) return CUTIS_INVALID_ARGUMENT;
    cutis_result result = app_read_as(app, path, options, model);
    if (result == CUTIS_OK)
        result = cutis_model_check(*model, option_count(app, OPTION_INFLUENCES, 4), skin);
    if (result != CUTIS_OK) return result;
    all->counts[1] = cutis_model_issues(*model, &all->lists[1]);
    all->counts[2] = cutis_check_report_issues(*skin, &all->lists[2]);
    return CUTIS_OK;
}

/// Whether the model cannot be read because its data is on a network: no fault of the file.
static bool only_elsewhere(const findings *all)
{
    for (uint32_t i = 0; i < all->counts[0]; i++)
        if (strcmp(all->lists[0][i].code, "NON_RELATIVE_URI") == 0) return true;
    return false;
}

int verb_check(cli_app *app)
{
    const char *path = app->operands[0], *output = option_text(app, OPTION_OUTPUT);
    const bool fix = option_given(app, OPTION_FIX);
    cutis_model *model = NULL;
    cutis_check_report *format = NULL, *skin = NULL;
    findings all = { 0 };
    tally total = { 0 };
    if (batch_wanted(app) && (fix || output))
        return app_usage(app, "--fix -o FILE is for one file; convert FILES --fix --to FORMAT -o "
                              "FOLDER repairs many");
    if (batch_wanted(app)) return batch_run(app, verb_check);
    if (fix && !output) return app_usage(app, "--fix needs -o FILE: the input is never changed");
    if (output && !fix) return app_usage(app, "-o is for --fix");
    int status = app_placement(app, path, &(cutis_read_options){ 0 });
    if (output && status == EXIT_GOOD) status = app_check_output(app, output);
    if (output && status == EXIT_GOOD) status = app_check_writing(app, output);
    if (status != EXIT_GOOD) return status;
    cutis_result result = cutis_file_inspect(app->context, path, &format);
    if (result == CUTIS_OK) {
        all.counts[0] = cutis_check_report_issues(format, &all.lists[0]);
        result = look_at_skin(app, path, &all, &model, &skin);
    }
    bool unreadable = result != CUTIS_OK;
    if (!format || (unreadable && (fix || all.counts[0] == 0))) {
        status = app_fail(app, path, result);
        goto done;
    }
    print_findings(app, path, &all, &total);
    if (fix)
        status = write_fixed(app, model, output);
    else if (total.errors > 0)
        status = refuse(app, path, &all, &total);
    else if (unreadable && result != CUTIS_UNSUPPORTED_FORMAT && !only_elsewhere(&all))
        status = app_fail(app, path, result); // warnings about the format, but no model
done:
    cutis_check_report_destroy(format);
    cutis_check_report_destroy(skin);
    cutis_model_destroy(model);
    return status;
}
