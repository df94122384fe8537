/// What every verb has at hand: the context, the parsed command line, and how to print.
///
/// Results go to stdout, everything else to stderr. A verb that fails has printed exactly one line
/// there, "cutis: file: place: reason", and returns EXIT_FAILED or EXIT_USAGE.
#ifndef CUTIS_CLI_APP_H
#define CUTIS_CLI_APP_H

#include <cutis/cutis.h>
#include <cutis/io.h>

#include "json_out.h"
#include "own.h"
#include "verbs.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

/// Return what failed, an exit status or a cutis_result: 0 is success in both.
#define TRY(call)                                                                                  \
    do {                                                                                           \
        const __auto_type tried = (call);                                                          \
        if (tried != 0) return tried;                                                              \
    } while (0)

#define APP_GUESSES 8 ///< files whose axes and units were guessed in one run; more are not listed

typedef struct option_value {
    bool set;
    const char *text; ///< NULL for flags
    double number;    ///< counts and numbers
    char **words;     ///< paths: the first is `text`. KIND_EACH: ours; else the command line's
    int word_count;
} option_value;

typedef struct cli_app {
    const char *program; ///< the command as it was called
    char **arguments;    ///< the command line
    cutis_context *context;
    const verb_row *verb;
    option_value values[OPTION_ID_COUNT];
    const char **operands; ///< as many as the command line has
    uint32_t operand_count;
    bool json, quiet;
    const uint8_t *unneeded_nodes;            ///< that writing leaves out (cutis/io.h), or NULL
    const cutis_weight_format *weight_format; ///< of written weights; NULL: as --weights says
    cutis_compression_report compressed;      ///< what app_write_model did to its last file
    bool color;                               ///< stdout is a terminal
    bool terminal;                            ///< stderr is one: progress is shown
    bool bar;                                 ///< a progress line stands there and must be wiped
    bool batch;    ///< one file of many (batch.c): what is said goes to the three below
    FILE *results; ///< JSON; NULL: stdout
    FILE *words;   ///< what app_say prints; NULL: stdout, unless JSON goes there
    FILE *lines;   ///< errors and notes; NULL: stderr
    struct {
        char file[512];
        cutis_read_guess guess;
    } guesses[APP_GUESSES];
    uint32_t guess_count;
} cli_app;

// args.c: the command line ------------------------------------------------------------------------

/// Fill in the app from argv[1..]. EXIT_GOOD, or EXIT_USAGE after one line on stderr. `app->verb`
/// NULL: none given.
int args_parse(cli_app *app, int count, char **arguments);
/// What args_parse took, whatever it returned.
void args_release(cli_app *app);

bool option_given(const cli_app *app, option_id id);
const char *option_text(const cli_app *app, option_id id); ///< NULL if not given
double option_number(const cli_app *app, option_id id, double fallback);
uint32_t option_count(const cli_app *app, option_id id, uint32_t fallback);
/// The place of a choice in its list, which is the order of the library's enum; 0 if not given.
int option_choice(const cli_app *app, option_id id);

/// The next entry of a list, not terminated, and its length; `list` moves behind it. NULL: no more.
const char *next_entry(const char **list, const char *separator, size_t *length);
/// The entry of a space-separated list that is spelled most like `word`, or NULL if none is near.
/// `out` has 64 bytes.
const char *nearest_word(const char *word, const char *list, char *out);

// say.c: speaking ---------------------------------------------------------------------------------

/// Say why a library call failed and return EXIT_FAILED. The line starts with `file` (may be NULL)
/// unless the error names it.
int app_fail(cli_app *app, const char *file, cutis_result result);
/// EXIT_GOOD, or what app_fail says.
int app_result(cli_app *app, const char *file, cutis_result result);
/// The same as app_fail in our own words.
int app_fail_text(cli_app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Say that Ctrl-C stopped the verb: what app_fail does for CUTIS_CANCELLED.
int app_stopped(cli_app *app);
/// Say what is wrong with the command line, with a hint; returns EXIT_USAGE.
int app_usage(cli_app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Analyzers look at one file at a time, and must know that these are never 0.
#if defined __clang_analyzer__ || defined CUTIS_ANALYZER
#define app_fail(app, file, result) (app_fail(app, file, result), 1)
static inline int app_failed(const cli_app *app, const char *file, cutis_result result)
{
    (void)app, (void)file;
    return result == CUTIS_OK ? 0 : 1;
}
#define app_result(app, file, result) app_failed(app, file, result)
#define app_fail_text(...)            (app_fail_text(__VA_ARGS__), 1)
#define app_stopped(app)              (app_stopped(app), 1)
#define app_usage(...)                (app_usage(__VA_ARGS__), 2)
#endif
/// One line on stderr that is worth knowing; silent with --quiet.
void app_note(cli_app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));
/// Names and texts of files as they are printed: on one line, nothing that a terminal obeys.
/// Control characters become '?', in place.
void app_clean(char *text);
/// printf to stdout, silent with --quiet and --json.
void app_say(const cli_app *app, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// "" unless stdout is a terminal: app_style(app, "1") is bold, "0" ends it.
const char *app_style(const cli_app *app, const char *code);

/// Show progress (on a terminal only); false once Ctrl-C was pressed.
bool app_progress(cli_app *app, const char *stage, double fraction);
void app_progress_done(cli_app *app);
/// The callback form for contexts; `user` is the app.
bool app_progress_callback(void *user, const char *stage, double fraction);

double app_seconds(void); ///< monotonic

// interrupt.c: stopping ---------------------------------------------------------------------------

/// Nobody asked to stop. A web page is told how far the work is.
bool app_goes_on(const char *stage, double fraction);
void app_catch_interrupt(void);
bool app_interrupted(void); ///< Ctrl-C was pressed
/// After everything is cleaned up: die of the signal that asked (Ctrl-C, SIGTERM), so that a
/// shell's loop stops too. Returns if none did.
void app_end_interrupted(void);
/// Ctrl-C was how the verb is meant to end: it does not count.
void app_forget_interrupt(void);

// app.c: shared steps -----------------------------------------------------------------------------

/// --scale, --up and --units for a file; EXIT_USAGE where they make no sense.
int app_placement(cli_app *app, const char *path, cutis_read_options *out);
/// Drop what reading put right and nobody has printed: a verb of a batch has ended.
void app_forget_notes(void);
/// cutis_model_read; what was guessed stands at the end of the verb's JSON.
cutis_result app_read_as(cli_app *app, const char *path, cutis_read_options options,
                         cutis_model **out);
/// Read a model as --fix, --scale, --up and --units say.
int app_read_model(cli_app *app, const char *path, cutis_model **out);
/// With what the file holds beside the model, though no output is glTF.
int app_read_source(cli_app *app, const char *path, cutis_model **out);
/// Is there a folder for this output? EXIT_FAILED with the line if not.
int app_check_output(cli_app *app, const char *path);
/// The same for a name whose ending matters: EXIT_USAGE if it is none of `endings` (".glb .gltf").
int app_check_output_as(cli_app *app, const char *option, const char *path, const char *endings);
/// The output path of a verb that needs one: EXIT_USAGE if it is missing, else as
/// app_check_output_as, or with `endings` NULL as app_check_output.
int app_output(cli_app *app, const char *endings, const char **out);
/// Write a model as --weights and --ascii say.
int app_write_model(cli_app *app, const cutis_model *model, const char *path);
cutis_result app_try_write(cli_app *app, const cutis_model *model,
                           const char *path); ///< the same, and says nothing of a failure
/// EXIT_USAGE where they say something about a format that has no such choice.
int app_check_writing(cli_app *app, const char *path);
/// Replace *model by one with at most --influences weights a vertex, if that was asked for.
int app_limit_influences(cli_app *app, const char *path, cutis_model **model);
/// The device that --device, --isa and --threads name.
int app_open_device(cli_app *app, cutis_device **out);
/// Split --device into kind and index.
int app_device_options(cli_app *app, cutis_device_options *out);
uint64_t array_size(const cutis_array *array); ///< how many numbers
/// Joints of all skins, each once, of those that no mesh uses (a bare Cal3D skeleton) too; of a
/// skeleton without skins, such as a BVH, all nodes.
uint32_t count_joints(const cutis_model_data *data);
bool has_extension(const char *path, const char *list); ///< list: ".npy .pc2"
/// A folder, created with its parents if need be.
int app_make_folder(cli_app *app, const char *path);

/// Memory of one owner, taken piece by piece and given back together.
typedef struct memory_list {
    void *pieces[16];
    uint32_t count;
    bool failed; ///< there was no memory for a piece
} memory_list;

/// Room for one more than `count`, so that there is always a piece; all of it zero.
void *memory_take(memory_list *list, size_t count, size_t size);
void memory_release(memory_list *list);

void emit_bounds(json_out *json, const char *key, cutis_bounds bounds);

#endif
