/// Motions on a rigged body, a clip each. Invariant: every clip that was added has a name, and no
/// other clip of the model has the same.
#include "rig.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 256, NUMBER_SIZE = 16 }; // bytes of a name, with a number behind it

int rig_motions_read(cli_app *app, rig_job *job)
{
    const option_value *given = &app->values[OPTION_MOTIONS];
    job->motions = calloc((size_t)given->word_count + 1, sizeof *job->motions);
    if (!job->motions) return app_fail_text(app, "%s: not enough memory", job->path);
    for (int i = 0; i < given->word_count; i++) {
        rig_motion *motion = &job->motions[job->motion_count++];
        motion->path = given->words[i];
        TRY(app_read_model(app, motion->path, &motion->model));
        if (cutis_model_get(motion->model)->clip_count == 0)
            return app_fail_text(app, "%s: it has no clip", motion->path);
    }
    return EXIT_GOOD;
}

void rig_motions_release(rig_job *job)
{
    for (uint32_t i = 0; i < job->motion_count; i++) cutis_model_destroy(job->motions[i].model);
    free(job->motions);
    job->motions = NULL, job->motion_count = 0;
}

// At most `size` bytes of a text, whole characters; what is no UTF-8 becomes '?'. `out` has
// NAME_SIZE.
static void copy_name(const char *text, size_t size, char *out)
{
    size_t n = 0;
    for (size_t i = 0; i < size && n + 4 + NUMBER_SIZE <= NAME_SIZE;) {
        int length = utf8_length((const unsigned char *)text + i);
        if (length == 0)
            out[n++] = '?', i++;
        else
            for (; length > 0; length--) out[n++] = text[i++];
    }
    out[n] = 0;
}

// The name of a file without folder and ending.
static void copy_stem(const char *path, char *out)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    copy_name(name, dot && dot > name ? (size_t)(dot - name) : strlen(name), out);
    app_clean(out);
}

static bool is_taken(const cutis_model *model, const char *name)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t c = 0; c < data->clip_count; c++)
        if (data->clips[c].name && strcmp(data->clips[c].name, name) == 0) return true;
    return false;
}

// Its own name, else its file's; with a number behind it if another clip has it.
static void choose_name(const rig_job *job, const rig_motion *motion, char *out)
{
    char name[NAME_SIZE];
    const char *own = cutis_model_get(motion->model)->clips[0].name;
    if (own && *own)
        copy_name(own, strlen(own), name);
    else
        copy_stem(motion->path, name);
    snprintf(out, NAME_SIZE, "%s", name);
    for (unsigned number = 2; is_taken(job->rigged, out); number++)
        snprintf(out, NAME_SIZE, "%.*s_%u", NAME_SIZE - NUMBER_SIZE, name, number);
}

int rig_motions_add(cli_app *app, rig_job *job)
{
    char name[NAME_SIZE];
    for (uint32_t i = 0; i < job->motion_count; i++) {
        rig_motion *motion = &job->motions[i];
        const cutis_retarget_options how = { .name = name };
        const double begun = app_seconds();
        cutis_model *next = NULL;
        choose_name(job, motion, name);
        TRY(app_result(app, motion->path,
                       cutis_retarget(job->rigged, motion->model, &how, &next, &motion->moved)));
        cutis_model_destroy(job->rigged);
        job->rigged = next;
        motion->clip = cutis_model_get(next)->clip_count - 1;
        TRY(app_result(
            app, motion->path,
            cutis_rig_check_motion(next, motion->model, 0, &motion->moved, job->report)));
        motion->seen = job->report->motion;
        if (motion->seen.contact_count == 0) // no legs that stand: nothing was measured
            motion->seen.lean = motion->seen.off_ground = motion->seen.sunk = motion->seen.slide =
                NAN;
        motion->seconds = app_seconds() - begun;
    }
    return EXIT_GOOD;
}

const char *rig_clip_name(const rig_job *job, uint32_t motion)
{
    const char *name = cutis_model_get(job->rigged)->clips[job->motions[motion].clip].name;
    return name ? name : "";
}
