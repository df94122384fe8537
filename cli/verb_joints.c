/// cutis joints: joints of a rig moved, added, removed and renamed, and weights that follow.
/// Nothing is written unless all of it succeeded.
#include "app.h"

#include <cutis/skeleton.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "json_out.h"
#include "own.h"

enum { NAME_MOST = 256 };

typedef struct {
    const char *path, *output;
    cutis_model *model, *edited, *result;
    cutis_device *device;
    cutis_joint_edit *edits;
    char (*names)[NAME_MOST]; // of edits that have one
    uint32_t count, moved, added, removed, renamed;
} joints_job;

static void close_job(joints_job *job)
{
    free(job->edits);
    free(job->names);
    cutis_model_destroy(job->result);
    cutis_model_destroy(job->edited);
    cutis_device_destroy(job->device);
    cutis_model_destroy(job->model);
}

static bool in_a_skin(const cutis_model_data *data, uint32_t node)
{
    for (uint32_t i = 0; i < data->skin_count; i++)
        for (uint32_t k = 0; k < data->skins[i].joint_count; k++)
            if (data->skins[i].joints[k] == node) return true;
    return false;
}

/// The joint of a name: of the file, or added before.
static int find_joint(cli_app *app, const joints_job *job, const char *name, uint32_t *out)
{
    const cutis_model_data *data = cutis_model_get(job->model);
    for (uint32_t i = 0; i < data->node_count; i++)
        if (data->nodes[i].name && strcmp(data->nodes[i].name, name) == 0 && in_a_skin(data, i))
            return *out = i, EXIT_GOOD;
    for (uint32_t i = 0; i < job->added; i++)
        if (strcmp(job->edits[i].name, name) == 0) return *out = data->node_count + i, EXIT_GOOD;
    return app_fail_text(app, "%s: no joint is called \"%s\"", job->path, name);
}

/// "NAME=REST", or all of it where there is no '='. @return what stands behind it, or NULL
static const char *split_name(const char *text, char *name)
{
    const char *at = strchr(text, '=');
    const size_t length = at ? (size_t)(at - text) : strlen(text);
    if (length == 0 || length >= NAME_MOST) return NULL;
    memcpy(name, text, length);
    name[length] = 0;
    return at ? at + 1 : text + length;
}

/// "X,Y,Z", nothing behind it.
static bool read_point(const char *text, cutis_float3 *out)
{
    float *const to[3] = { &out->x, &out->y, &out->z };
    for (int i = 0; i < 3; i++) {
        char *end;
        const double value = strtod(text, &end);
        if (end == text || !isfinite(value) || fabs(value) > 1e30 || *end != (i < 2 ? ',' : 0))
            return false;
        *to[i] = (float)value;
        text = end + 1;
    }
    return true;
}

static int read_add(cli_app *app, joints_job *job, const char *text)
{
    cutis_joint_edit *edit = &job->edits[job->count];
    char *name = job->names[job->count], parent[NAME_MOST] = "";
    const char *rest = split_name(text, name), *comma = rest ? strchr(rest, ',') : NULL;
    const size_t length = comma ? (size_t)(comma - rest) : 0;
    if (length == 0 || length >= NAME_MOST || !read_point(comma + 1, &edit->position))
        return app_usage(app, "--add: \"%s\" is not NAME=PARENT,X,Y,Z", text);
    memcpy(parent, rest, length);
    edit->change = CUTIS_JOINT_ADD, edit->name = name;
    TRY(find_joint(app, job, parent, &edit->node));
    job->added++, job->count++;
    return EXIT_GOOD;
}

static int read_move(cli_app *app, joints_job *job, const char *text)
{
    cutis_joint_edit *edit = &job->edits[job->count];
    char *name = job->names[job->count];
    const char *rest = split_name(text, name);
    if (!rest || !read_point(rest, &edit->position))
        return app_usage(app, "--move: \"%s\" is not NAME=X,Y,Z", text);
    edit->change = CUTIS_JOINT_MOVE;
    TRY(find_joint(app, job, name, &edit->node));
    job->moved++, job->count++;
    return EXIT_GOOD;
}

static int read_remove(cli_app *app, joints_job *job, const char *text)
{
    cutis_joint_edit *edit = &job->edits[job->count];
    edit->change = CUTIS_JOINT_REMOVE;
    TRY(find_joint(app, job, text, &edit->node));
    job->removed++, job->count++;
    return EXIT_GOOD;
}

static int read_rename(cli_app *app, joints_job *job, const char *text)
{
    cutis_joint_edit *edit = &job->edits[job->count];
    char *name = job->names[job->count];
    const char *rest = split_name(text, name);
    if (!rest || !*rest || strlen(rest) >= NAME_MOST)
        return app_usage(app, "--rename: \"%s\" is not OLD=NEW", text);
    edit->change = CUTIS_JOINT_RENAME;
    TRY(find_joint(app, job, name, &edit->node));
    memcpy(name, rest, strlen(rest) + 1);
    edit->name = name;
    job->renamed++, job->count++;
    return EXIT_GOOD;
}

static int read_edits(cli_app *app, joints_job *job)
{
    static const struct {
        option_id option;
        int (*read)(cli_app *app, joints_job *job, const char *text);
    } KINDS[] = { { OPTION_JOINT_ADD, read_add },
                  { OPTION_JOINT_MOVE, read_move },
                  { OPTION_JOINT_REMOVE, read_remove },
                  { OPTION_JOINT_RENAME, read_rename } };
    size_t total = 0;
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        total += (size_t)app->values[KINDS[i].option].word_count;
    if (!total) return app_usage(app, "nothing is to be done: --move, --add, --remove or --rename");
    job->edits = calloc(total, sizeof *job->edits);
    job->names = calloc(total, sizeof *job->names);
    if (!job->edits || !job->names) return app_fail_text(app, "not enough memory");
    for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
        for (int k = 0; k < app->values[KINDS[i].option].word_count; k++)
            TRY(KINDS[i].read(app, job, app->values[KINDS[i].option].words[k]));
    return EXIT_GOOD;
}

static int edit_joints(cli_app *app, joints_job *job)
{
    const cutis_handles_options options = { .influences = option_count(app, OPTION_INFLUENCES, 0),
                                            .reduce = true };
    TRY(app_result(app, job->path,
                   cutis_joints_edit(job->model, job->edits, job->count, &job->edited)));
    if (option_given(app, OPTION_KEEP_WEIGHTS) || !(job->moved || job->added)) return EXIT_GOOD;
    TRY(app_open_device(app, &job->device));
    const cutis_result result =
        cutis_handles_skeleton(job->edited, job->device, &options, &job->result, NULL);
    app_progress_done(app);
    return app_result(app, job->path, result);
}

int verb_joints(cli_app *app)
{
    ENDS_BY(close_job) joints_job job = { .path = app->operands[0] };
    TRY(app_output(app, ".glb .gltf", &job.output)); // others hold no weights
    TRY(app_read_model(app, job.path, &job.model));
    TRY(read_edits(app, &job));
    TRY(edit_joints(app, &job));
    TRY(app_write_model(app, job.result ? job.result : job.edited, job.output));
    app_say(app, "%s: %u moved, %u added, %u removed, %u renamed; weights %s\n", job.output,
            job.moved, job.added, job.removed, job.renamed, job.result ? "made anew" : "kept");
    if (app->json) {
        json_out json = { .file = stdout };
        emit(&json, "{ file %s output %s moved %u added %u removed %u renamed %u bound %d }",
             job.path, job.output, job.moved, job.added, job.removed, job.renamed,
             job.result != NULL);
    }
    return EXIT_GOOD;
}
