/// JOBS.json (docs/formats/jobs.md): files times clips become units, each with the command line
/// that one process would be given. Invariant: no two units have one output, and every command line
/// was parsed before any is run.
#include "farm.h"

#include "deform.h"

#include <errno.h>
#include <glob.h>
#include <jansson.h>
#include <limits.h>
#include <unistd.h>

static const uint32_t FRAMES_MOST = 100000000; // as deform has them

uint64_t farm_digest(uint64_t sum, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

int farm_make_parents(cli_app *app, const char *path)
{
    char folder[PATH_MAX];
    const char *slash = strrchr(path, '/');
    if (!slash || slash == path) return EXIT_GOOD;
    snprintf(folder, sizeof folder, "%.*s", (int)(slash - path), path);
    return app_make_folder(app, folder);
}

char *farm_path(const farm *f, const char *below, const char *ending)
{
    const size_t size = strlen(f->out) + strlen(below) + strlen(ending) + 2;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/%s%s", f->out, below, ending);
    return path;
}

void farm_name_piece(const farm *f, uint32_t piece, char *out, size_t capacity)
{
    const farm_piece *p = &f->pieces[piece];
    const farm_unit *u = &f->units[p->unit];
    char frames[48] = "";
    if (u->cut) snprintf(frames, sizeof frames, ", frames %u:%u", p->first, p->end);
    if (u->parts && p->end) snprintf(frames, sizeof frames, ", part %u", p->first);
    snprintf(out, capacity, "piece %u (%s %s%s%s%s)", piece, u->verb, u->file, u->clip ? " " : "",
             u->clip ? u->clip : "", frames);
}

// One job -----------------------------------------------------------------------------------------

typedef struct job_reader {
    farm *farm;
    uint32_t index;
    const json_t *job;
    const verb_row *verb;
} job_reader;

static int complain(const job_reader *r, const char *what, const char *more)
{
    return app_fail_text(r->farm->app, "%s: job %u: %s%s", r->farm->jobs_name, r->index, what,
                         more);
}

static int no_memory(const job_reader *r)
{
    return complain(r, "not enough memory", "");
}

/// A text with {file}, {path} and {clip} filled in; malloc'd.
static char *fill_in(const char *text, const char *file, const char *clip)
{
    const char *slash = strrchr(file, '/'), *dot = strrchr(file, '.');
    const char *name = slash ? slash + 1 : file;
    const int stem = dot && dot > name ? (int)(dot - name) : (int)strlen(name);
    const int path = (int)(name - file) + stem;
    char *out = NULL;
    size_t size;
    FILE *stream = open_memstream(&out, &size);
    if (!stream) return NULL;
    while (*text) {
        if (strncmp(text, "{file}", 6) == 0)
            fprintf(stream, "%.*s", stem, name), text += 6;
        else if (strncmp(text, "{path}", 6) == 0)
            fprintf(stream, "%.*s", path, file), text += 6;
        else if (clip && strncmp(text, "{clip}", 6) == 0)
            fputs(clip, stream), text += 6;
        else
            fputc(*text++, stream);
    }
    return fclose(stream) == 0 ? out : NULL;
}

/// One spelling a name: without empty and "." parts, in place.
static void straighten(char *path)
{
    char *to = path;
    const bool rooted = *path == '/';
    for (const char *part = path; *part;) {
        const size_t length = strcspn(part, "/");
        const bool kept = length > 1 || (length == 1 && *part != '.');
        if (kept && (to > path || rooted)) *to++ = '/';
        if (kept) memmove(to, part, length), to += length;
        part += length + (part[length] == '/');
    }
    *to = 0;
}

/// A straightened name that leads nowhere else, and to nothing that is the farm's own.
static bool stays_below(const char *path)
{
    if (!*path || *path == '/') return false;
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL)
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || !part[2])) return false;
    return strncmp(path, "farm/", 5) != 0 && strcmp(path, "farm") != 0 &&
           strcmp(path, "results.json") != 0 && !has_extension(path, ".part");
}

static bool add_word(farm_unit *u, char *word)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): u is one of the farm's units
    char **grown = word ? realloc(u->words, ((size_t)u->word_count + 2) * sizeof *grown) : NULL;
    if (!grown) return free(word), false;
    u->words = grown;
    u->words[u->word_count++] = word;
    u->words[u->word_count] = NULL;
    return true;
}

static const option_row *find_option(const verb_row *verb, const char *name, option_id *id)
{
    for (int i = 0; i < OPTION_ID_COUNT; i++)
        if (verb->options[i] && strcmp(cli_options[i].name, name) == 0) {
            *id = (option_id)i;
            return &cli_options[i];
        }
    return NULL;
}

/// What stands in braces is filled in: a name that is none of ours would become a file's.
static int check_braces(const job_reader *r, const char *text, const char *clip)
{
    static const char *const NAMES[] = { "{clip}", "{file}", "{path}" };
    for (const char *at = text; (at = strchr(at, '{')) && strchr(at, '}'); at++) {
        bool known = false;
        for (int i = clip ? 0 : 1; i < 3; i++) known |= strncmp(at, NAMES[i], 6) == 0;
        if (!known)
            return complain(r, "an output has {file}, {path} and, with clips, {clip}, not ", at);
    }
    return EXIT_GOOD;
}

/// An output of the verb, with what stands in braces, goes below OUT.
static int add_output(const job_reader *r, farm_unit *u, const char *text, char **keep)
{
    TRY(check_braces(r, text, u->clip));
    char *below = fill_in(text, u->file, u->clip);
    if (!below) return no_memory(r);
    straighten(below);
    if (!stays_below(below)) {
        complain(r,
                 "an output must be a name below the folder of -o, and none of the farm's own, "
                 "not ",
                 below);
        return free(below), EXIT_FAILED;
    }
    char *whole = farm_path(r->farm, below, "");
    *keep = below;
    return add_word(u, whole) ? EXIT_GOOD : no_memory(r);
}

/// One value of an option as a word; NULL: it has none.
static char *value_word(const json_t *value, const farm_unit *u)
{
    // NOLINTNEXTLINE(clang-analyzer-core.NullDereference): u is one of the farm's units
    if (json_is_string(value)) return fill_in(json_string_value(value), u->file, u->clip);
    return json_is_number(value) ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
}

static int add_value(const job_reader *r, farm_unit *u, const char *key, option_id id,
                     const json_t *value)
{
    char **keep = id == OPTION_NORMALS ? &u->normals : id == OPTION_REPORT ? &u->report : NULL;
    char name[80];
    if (!json_is_string(value) && (keep || !json_is_number(value)))
        return complain(
            r, keep ? "want a name for the option " : "want text or a number for the option ", key);
    if (cli_options[id].kind != KIND_PATHS) {
        snprintf(name, sizeof name, "--%s", key);
        if (!add_word(u, strdup(name))) return no_memory(r);
    }
    if (keep) return add_output(r, u, json_string_value(value), keep);
    return add_word(u, value_word(value, u)) ? EXIT_GOOD : no_memory(r);
}

static int add_option(const job_reader *r, farm_unit *u, const char *key, const json_t *value)
{
    static const option_id OURS[] = { OPTION_OUTPUT, OPTION_JSON,    OPTION_QUIET, OPTION_HELP,
                                      OPTION_FORCE,  OPTION_THREADS, OPTION_DEVICE };
    option_id id;
    char name[80];
    const option_row *row = find_option(r->verb, key, &id);
    if (!row) return complain(r, "no option of the verb: ", key);
    for (size_t i = 0; i < sizeof OURS / sizeof *OURS; i++)
        if (id == OURS[i]) return complain(r, "the farm itself sets the option ", key);
    if (json_is_false(value)) return EXIT_GOOD;
    const bool flag = row->kind == KIND_FLAG;
    // A text would be an operand, and true would take the next word for its value.
    if (flag && !json_is_true(value)) return complain(r, "true or false only for the option ", key);
    snprintf(name, sizeof name, "--%s", row->name);
    if (flag || row->kind == KIND_PATHS)
        if (!add_word(u, strdup(name))) return no_memory(r);
    if (flag) return EXIT_GOOD;
    if (!json_is_array(value)) return add_value(r, u, row->name, id, value);
    if (row->kind != KIND_PATHS && row->kind != KIND_EACH)
        return complain(r, "one value only for the option ", key);
    for (size_t i = 0; i < json_array_size(value); i++)
        TRY(add_value(r, u, row->name, id, json_array_get(value, i)));
    return EXIT_GOOD;
}

static int add_options(const job_reader *r, farm_unit *u)
{
    json_t *options = json_object_get(r->job, "options"), *value;
    const char *key;
    if (options && !json_is_object(options)) return complain(r, "options must be an object", "");
    if (u->clip && (!add_word(u, strdup("--clip")) || !add_word(u, strdup(u->clip))))
        return no_memory(r);
    json_object_foreach(options, key, value)
    {
        TRY(add_option(r, u, key, value));
    }
    const char *output = json_string_value(json_object_get(r->job, "output"));
    if (output) {
        if (!add_word(u, strdup("-o"))) return no_memory(r);
        TRY(add_output(r, u, output, &u->output));
    }
    char threads[32];
    snprintf(threads, sizeof threads, "--threads=%u", r->farm->threads);
    const char *asked = option_text(r->farm->app, OPTION_DEVICE);
    const bool gpu = asked && strncmp(asked, "cpu", 3) != 0 && r->verb->options[OPTION_DEVICE];
    if (r->verb->options[OPTION_THREADS] && !gpu && !add_word(u, strdup(threads)))
        return no_memory(r);
    const char *const last[] = { "--json", "--", u->file };
    for (int i = 0; i < 3; i++)
        if (!add_word(u, strdup(last[i]))) return no_memory(r);
    return EXIT_GOOD;
}

int farm_parse_unit(const farm *f, const farm_unit *unit, cli_app *out, FILE *lines)
{
    (void)f;
    *out = (cli_app){ .program = unit->words[0], .lines = lines };
    return args_parse(out, unit->word_count, unit->words);
}

/// May it be done in parts? Slices cannot wait for each other.
static bool has_parts(const farm *f, const farm_unit *u, const cli_app *app)
{
    const char *device = option_text(f->app, OPTION_DEVICE);
    if (f->slices) return false;
    // A GPU learns all vertices at once.
    if (strcmp(u->verb, "fit") == 0)
        return option_given(app, OPTION_WEIGHTS_ONLY) &&
               (!device || strncmp(device, "cpu", 3) == 0);
    // A plan measures parts by themselves; what the first of a bake makes, the others need.
    return strcmp(u->verb, "bake") == 0 && !option_given(app, OPTION_METHOD) && !f->planned_ranks;
}

/// Which files of one frame each a unit may write: b_0000.obj and on for b.obj. Of a clip whose
/// length is not known yet any; a still, and one frame, have the name itself.
static int find_numbers(farm_unit *u, cli_app *app)
{
    if (strcmp(u->verb, "deform") != 0 || !u->output || !has_extension(u->output, ".obj .ply .stl"))
        return EXIT_GOOD;
    if (!option_given(app, OPTION_CLIP) && !option_given(app, OPTION_CAGE_POSES)) return EXIT_GOOD;
    TRY(deform_frame_range(app, u->file, FRAMES_MOST, &u->number_first, &u->number_end));
    if (u->number_end == u->number_first + 1) u->number_end = u->number_first;
    return EXIT_GOOD;
}

/// What the command line is worth: one line if it is wrong.
static int check_unit(const job_reader *r, farm_unit *u)
{
    cli_app app;
    char *said = NULL;
    size_t size;
    FILE *lines = open_memstream(&said, &size);
    if (!lines) return no_memory(r);
    int status = farm_parse_unit(r->farm, u, &app, lines);
    if (status == EXIT_GOOD) status = find_numbers(u, &app);
    fclose(lines);
    const bool patches = option_choice(&app, OPTION_METHOD) == CUTIS_METHOD_PATCHES;
    u->cut = status == EXIT_GOOD && strcmp(u->verb, "deform") == 0 && u->output && !patches &&
             has_extension(u->output, ".npy .pc2") &&
             (!u->normals || has_extension(u->normals, ".npy .pc2"));
    u->parts = status == EXIT_GOOD && has_parts(r->farm, u, &app);
    if (status == EXIT_GOOD) farm_stamp_inputs(u, &app);
    args_release(&app);
    if (status != EXIT_GOOD) {
        if (size && said[size - 1] == '\n') said[size - 1] = 0;
        status = complain(r, said && strncmp(said, "cutis: ", 7) == 0 ? said + 7 : "wrong", "");
    }
    free(said);
    return status;
}

static int add_unit(job_reader *r, const char *file, const char *clip)
{
    farm *f = r->farm;
    if (!f->units || f->unit_count == f->unit_capacity) {
        const uint32_t capacity = f->unit_capacity ? 2 * f->unit_capacity : 64;
        farm_unit *grown = realloc(f->units, capacity * sizeof *grown);
        if (!grown) return no_memory(r);
        f->units = grown, f->unit_capacity = capacity;
    }
    farm_unit *u = &f->units[f->unit_count++];
    *u = (farm_unit){ .job = r->index, .verb = r->verb->name, .clip = clip };
    char *kept = strdup(file);
    if (!kept || !add_word(u, strdup(f->app->program)) || !add_word(u, strdup(r->verb->name)))
        return free(kept), no_memory(r);
    u->file = kept;
    const json_t *frames = json_object_get(r->job, "frames_per_piece");
    if (frames && !(json_is_integer(frames) && json_integer_value(frames) >= 1 &&
                    json_integer_value(frames) <= 100000000))
        return complain(r, "frames_per_piece must be a whole number, 1 at least", "");
    u->frames_a_piece = (uint32_t)json_integer_value(frames);
    TRY(add_options(r, u));
    return check_unit(r, u);
}

/// A file, or all that a pattern finds, in the order of their names, times the clips.
static int add_files(job_reader *r, const char *pattern)
{
    const json_t *clips = json_object_get(r->job, "clips");
    const size_t count = json_is_array(clips) ? json_array_size(clips) : 0;
    if (clips && count == 0) return complain(r, "clips must be a list of names", "");
    glob_t found = { 0 };
    bool wild = strpbrk(pattern, "*?[") != NULL;
    if (wild && glob(pattern, 0, NULL, &found) != 0) {
        globfree(&found);
        if (access(pattern, F_OK) != 0) return complain(r, "there are no files ", pattern);
        wild = false; // as shells have it, a pattern that finds nothing is a name: "hero[1].glb"
    }
    int status = EXIT_GOOD;
    const size_t files = wild ? found.gl_pathc : 1;
    for (size_t i = 0; i < files && status == EXIT_GOOD; i++) {
        const char *file = wild ? found.gl_pathv[i] : pattern;
        if (!clips) status = add_unit(r, file, NULL);
        for (size_t c = 0; c < count && status == EXIT_GOOD; c++) {
            const char *clip = json_string_value(json_array_get(clips, c));
            status = clip ? add_unit(r, file, clip) : complain(r, "a clip must be a name", "");
        }
    }
    globfree(&found);
    return status;
}

static int read_job(job_reader *r)
{
    static const char VERBS[] = " deform compare reduce fit bake rig check convert ";
    static const char KEYS[] = " verb files clips output options frames_per_piece ";
    const char *verb = json_string_value(json_object_get(r->job, "verb")), *key;
    json_t *files = json_object_get(r->job, "files"), *value;
    char word[80];
    if (!json_is_object(r->job)) return complain(r, "must be an object", "");
    json_object_foreach((json_t *)r->job, key, value)
    {
        snprintf(word, sizeof word, " %.70s ", key);
        if (!strstr(KEYS, word))
            return complain(r,
                            "known are verb, files, clips, output, options "
                            "and frames_per_piece, not ",
                            key);
    }
    snprintf(word, sizeof word, " %.70s ", verb ? verb : "");
    for (uint32_t i = 0; verb && i < cli_verb_count; i++)
        if (strstr(VERBS, word) && strcmp(cli_verbs[i].name, verb) == 0) r->verb = &cli_verbs[i];
    if (!r->verb)
        return complain(r, "verb must be deform, compare, reduce, fit, bake, rig, check or convert",
                        "");
    const json_t *output = json_object_get(r->job, "output");
    if (output && !json_is_string(output)) return complain(r, "output must be a name", "");
    if (!output && strstr(" deform reduce fit bake rig convert ", word))
        return complain(r, "output is missing", "");
    if (json_is_string(files)) return add_files(r, json_string_value(files));
    if (!json_is_array(files) || json_array_size(files) == 0)
        return complain(r, "files must be a name or a list of names", "");
    for (size_t i = 0; i < json_array_size(files); i++) {
        const char *file = json_string_value(json_array_get(files, i));
        if (!file || !*file) return complain(r, "a file must be a name", "");
        TRY(add_files(r, file));
    }
    return EXIT_GOOD;
}

// All of them -------------------------------------------------------------------------------------

typedef struct output_row {
    const char *path;
    uint32_t unit;
} output_row;

static int compare_outputs(const void *a, const void *b)
{
    const output_row *x = a, *y = b;
    const int order = strcmp(x->path, y->path);
    return order ? order : (x->unit > y->unit) - (x->unit < y->unit);
}

static int complain_of_two(const farm *f, const char *path, const farm_unit *a, const farm_unit *b)
{
    return app_fail_text(
        f->app, "%s: two outputs are %s: of job %u, %s %s%s, and of job %u, %s %s", f->jobs_name,
        path, a->job, a->file, a->clip ? a->clip : "",
        a->number_end > a->number_first && strcmp(path, a->output) != 0 ? " (a file a frame)" : "",
        b->job, b->file, b->clip ? b->clip : "");
}

/// "a/b.obj" of "a/b_0007.obj", and 7; NULL: no frame is called so.
static char *without_number(const char *path, uint32_t *number)
{
    const char *dot = strrchr(path, '.'), *digits = dot;
    while (digits && digits > path && digits[-1] >= '0' && digits[-1] <= '9') digits--;
    const size_t count = digits ? (size_t)(dot - digits) : 0;
    if (count < 4 || count > 9 || digits == path || digits[-1] != '_') return NULL;
    if (count > 4 && *digits == '0') return NULL;
    *number = (uint32_t)strtoul(digits, NULL, 10);
    char *whole = strdup(path);
    if (whole) memmove(whole + (digits - 1 - path), dot, strlen(dot) + 1);
    return whole;
}

/// Is an output what a frame of another unit will be called?
static int check_numbered(const farm *f, const output_row *rows, uint32_t count,
                          const output_row *row)
{
    uint32_t number;
    OWN_MEMORY char *whole = without_number(row->path, &number);
    if (!whole) return EXIT_GOOD;
    uint32_t low = 0, high = count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (strcmp(rows[middle].path, whole) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count || strcmp(rows[low].path, whole) != 0) return EXIT_GOOD;
    const farm_unit *of_frames = &f->units[rows[low].unit];
    if (number < of_frames->number_first || number >= of_frames->number_end) return EXIT_GOOD;
    // normals and reports have no numbers
    if (!of_frames->output || strcmp(of_frames->output, whole) != 0) return EXIT_GOOD;
    return complain_of_two(f, row->path, of_frames, &f->units[row->unit]);
}

static int check_outputs(farm *f)
{
    uint32_t count = 0;
    OWN_MEMORY output_row *rows = calloc(3 * (size_t)f->unit_count + 1, sizeof *rows);
    if (!rows) return app_fail_text(f->app, "%s: not enough memory", f->jobs_name);
    for (uint32_t i = 0; i < f->unit_count; i++) {
        const farm_unit *u = &f->units[i];
        const char *const names[] = { u->output, u->normals, u->report };
        for (int n = 0; n < 3; n++)
            if (names[n]) rows[count++] = (output_row){ names[n], i };
    }
    qsort(rows, count, sizeof *rows, compare_outputs);
    for (uint32_t i = 1; i < count; i++) {
        if (strcmp(rows[i - 1].path, rows[i].path) == 0)
            return complain_of_two(f, rows[i].path, &f->units[rows[i - 1].unit],
                                   &f->units[rows[i].unit]);
    }
    for (uint32_t i = 0; i < count; i++) TRY(check_numbered(f, rows, count, &rows[i]));
    return EXIT_GOOD;
}

static void set_digest(farm *f)
{
    const char *device = option_text(f->app, OPTION_DEVICE);
    uint64_t sum = farm_digest(0xcbf29ce484222325u, f->text, f->text_size);
    sum = farm_digest(sum, cutis_version(), strlen(cutis_version()));
    sum = farm_digest(sum, &f->dry, sizeof f->dry); // what was not done is not done
    // Bits are the same on all devices; a driver that gets them wrong is not to be mixed in.
    if (device) sum = farm_digest(sum, device, strlen(device));
    for (uint32_t i = 0; i < f->unit_count; i++)
        sum = farm_digest(sum, f->units[i].file, strlen(f->units[i].file) + 1);
    f->digest = sum;
}

static int read_text(farm *f)
{
    void *data = NULL;
    TRY(app_result(f->app, f->jobs_name,
                   cutis_file_read(f->app->context, f->jobs_path, &data, &f->text_size)));
    f->text = malloc(f->text_size + 1);
    if (f->text) memcpy(f->text, data, f->text_size), f->text[f->text_size] = 0;
    cutis_memory_free(f->app->context, data, f->text_size);
    return f->text ? EXIT_GOOD : app_fail_text(f->app, "%s: not enough memory", f->jobs_name);
}

static int read_root(farm *f, const json_t *root)
{
    const json_t *jobs = json_object_get(root, "jobs");
    if (!json_is_array(jobs) || json_object_size(root) != 1)
        return app_fail_text(f->app, "%s: want an object with a list of jobs, {\"jobs\": [...]}",
                             f->jobs_name);
    for (size_t i = 0; i < json_array_size(jobs); i++) {
        job_reader reader = { .farm = f, .index = (uint32_t)i, .job = json_array_get(jobs, i) };
        TRY(read_job(&reader));
    }
    if (f->unit_count == 0) return app_fail_text(f->app, "%s: there are no jobs", f->jobs_name);
    return check_outputs(f);
}

int farm_read_jobs(farm *f, const char *path)
{
    json_error_t error;
    f->jobs_name = path;
    f->jobs_path = realpath(path, NULL);
    if (!f->jobs_path) return app_fail_text(f->app, "%s: %s", path, strerror(errno));
    TRY(read_text(f));
    char *slash = strrchr(f->jobs_path, '/');
    *slash = 0;
    const int gone = chdir(*f->jobs_path ? f->jobs_path : "/");
    *slash = '/';
    if (gone != 0) return app_fail_text(f->app, "%s: its folder cannot be entered", path);
    // Clips and verbs are named in the tree, which stays until the end.
    json_t *root = json_loadb(f->text, f->text_size, JSON_REJECT_DUPLICATES, &error);
    if (!root)
        return app_fail_text(f->app, "%s: line %d column %d: %s", path, error.line, error.column,
                             error.text);
    f->tree = root;
    TRY(read_root(f, root));
    set_digest(f);
    return EXIT_GOOD;
}

void farm_release(farm *f)
{
    for (uint32_t i = 0; i < f->unit_count; i++) {
        farm_unit *u = &f->units[i];
        for (int k = 0; k < u->word_count; k++) free(u->words[k]);
        free(u->words);
        free(u->output);
        free(u->normals);
        free(u->report);
        free((char *)u->file);
    }
    json_decref(f->tree);
    free(f->units);
    free(f->pieces);
    free(f->order);
    free(f->text);
    free(f->jobs_path);
    free(f->out);
}
