/// cutis retarget: a motion on a model, whatever their rigs are called.
#include <cutis/retarget.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"

typedef struct request {
    const char *path, *motion_path, *output, *map_path, *map_output;
    cutis_model *model, *motion, *result;
    int32_t *map; // node_count of the model
    cutis_retarget_options options;
    cutis_retarget_report report;
} request;

static const char *found_text(cutis_retarget_found found)
{
    static const char *const TEXTS[] = { "nothing", "names", "topology", "file", "same names" };
    return TEXTS[found];
}

// --map without a file: words with commas between. False: it is a file.
static bool read_wishes(const char *text, cutis_retarget_options *out)
{
    static const char *const UPS[] = { "auto", "x-up", "y-up", "z-up" }; // as cutis_retarget_up
    cutis_retarget_options read = *out;
    size_t size;
    for (const char *word; (word = next_entry(&text, ",", &size));) {
        bool known = size == strlen("across") && strncmp(word, "across", size) == 0;
        if (known) read.across = true;
        for (int i = 0; i < 4 && !known; i++)
            if (size == strlen(UPS[i]) && strncmp(word, UPS[i], size) == 0) {
                known = true;
                if (i) read.up = (cutis_retarget_up)i;
            }
        if (!known) return false;
    }
    *out = read;
    return true;
}

// -o may be left out when only the map is wanted.
static int read_options(cli_app *app, request *r)
{
    r->path = app->operands[0];
    r->motion_path = option_text(app, OPTION_MOTION);
    r->map_output = option_text(app, OPTION_WRITE_MAP);
    r->map_path = option_text(app, OPTION_MAP);
    if (r->map_path && read_wishes(r->map_path, &r->options)) r->map_path = NULL;
    if (!r->motion_path) return app_usage(app, "needs --motion FILE");
    r->options.rest = (cutis_retarget_rest)option_choice(app, OPTION_MOTION_REST);
    r->options.feet = (cutis_retarget_feet)option_choice(app, OPTION_FEET);
    r->options.fps = option_number(app, OPTION_FPS, 0);
    if (r->map_output) TRY(app_check_output(app, r->map_output));
    if (option_given(app, OPTION_OUTPUT) || !r->map_output)
        TRY(app_output(app, ".glb .gltf .bvh", &r->output));
    return EXIT_GOOD;
}

static int find_motion(cli_app *app, request *r)
{
    const char *clip = option_text(app, OPTION_CLIP);
    if (!clip) return EXIT_GOOD;
    return app_result(app, r->motion_path,
                      cutis_model_find_clip(r->motion, clip, &r->options.clip));
}

static const char *node_name(const cutis_model *model, uint32_t node)
{
    const char *name = cutis_model_get(model)->nodes[node].name;
    return name ? name : "?";
}

// Joints of the skins and what is above them; of a model without skins all nodes. One byte a node,
// or NULL.
static bool *shown_nodes(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    bool *shown = calloc(data->node_count + (size_t)1, sizeof *shown);
    for (uint32_t s = 0; shown && s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            for (int32_t n = (int32_t)data->skins[s].joints[j]; n != CUTIS_NONE && !shown[n];
                 n = data->nodes[n].parent)
                shown[n] = true;
    for (uint32_t n = 0; shown && !data->skin_count && n < data->node_count; n++) shown[n] = true;
    return shown;
}

// The next shown node from `at` on as an indented line; false when there is none.
static bool tree_line(const cutis_model *model, const bool *shown, uint32_t *at, char *out,
                      size_t size)
{
    const cutis_model_data *data = cutis_model_get(model);
    while (*at < data->node_count && !shown[*at]) ++*at;
    out[0] = 0;
    if (*at >= data->node_count) return false;
    int depth = 0;
    for (int32_t n = data->nodes[*at].parent; n != CUTIS_NONE; n = data->nodes[n].parent) depth++;
    snprintf(out, size, "%*s%s", 2 * (depth < 12 ? depth : 12), "", node_name(model, *at));
    app_clean(out);
    ++*at;
    return true;
}

static void json_joints(json_out *json, const char *key, const cutis_model *model,
                        const bool *shown)
{
    const cutis_model_data *data = cutis_model_get(model);
    emit_array(json, key);
    for (uint32_t n = 0; n < data->node_count; n++) {
        int32_t parent = data->nodes[n].parent;
        if (!shown[n]) continue;
        emit(json, "{ name %s parent %s }", node_name(model, n),
             parent == CUTIS_NONE ? NULL : node_name(model, (uint32_t)parent));
    }
    emit(json, "]");
}

// What could not be mapped, side by side: for whoever writes the map.
static void show_skeletons(const cli_app *app, const request *r)
{
    bool *model = shown_nodes(r->model), *motion = shown_nodes(r->motion);
    if (model && motion && app->json) {
        json_out json = { .file = stdout };
        emit(&json, "{ file %s motion %s", r->path, r->motion_path);
        json_joints(&json, "model_joints", r->model, model);
        json_joints(&json, "motion_joints", r->motion, motion);
        emit(&json, "}");
    } else if (model && motion) {
        uint32_t a = 0, b = 0;
        char left[96], right[96];
        app_say(app, "%-40s %s\n", "the model's joints", "the motion's joints");
        for (;;) {
            bool more = tree_line(r->model, model, &a, left, sizeof left);
            more = tree_line(r->motion, motion, &b, right, sizeof right) || more;
            if (!more) break;
            app_say(app, "%-40s %s\n", left, right);
        }
    }
    free(model);
    free(motion);
}

static int find_map(cli_app *app, request *r)
{
    cutis_result result;
    r->map = calloc(cutis_model_get(r->model)->node_count + (size_t)1, sizeof *r->map);
    if (!r->map) return app_fail_text(app, "not enough memory");
    if (r->map_path) {
        result = cutis_joint_map_read(r->model, r->motion, r->map_path, r->map);
        r->options.map = r->map;
    } else {
        result = cutis_retarget_map(r->model, r->motion, r->map, NULL, NULL);
    }
    if (result == CUTIS_NOT_FOUND && !r->map_path) show_skeletons(app, r);
    if (result != CUTIS_OK) return app_fail(app, r->map_path ? r->map_path : r->path, result);
    if (!r->map_output) return EXIT_GOOD;
    return app_result(app, r->map_output,
                      cutis_joint_map_write(r->model, r->motion, r->map, r->map_output));
}

// A BVH holds one motion: the new one.
static cutis_result write_result(const request *r)
{
    if (!has_extension(r->output, ".bvh")) return cutis_model_write(r->result, r->output, NULL);
    cutis_model_data data = *cutis_model_get(r->result);
    OWN(cutis_model) *only = NULL;
    data.clips += data.clip_count - 1;
    data.clip_count = 1;
    TRY(cutis_model_create(cutis_model_context(r->result), &data, CUTIS_GATE_REFUSE, &only));
    return cutis_model_write(only, r->output, NULL);
}

static int make(cli_app *app, request *r)
{
    cutis_result result = cutis_retarget(r->model, r->motion, &r->options, &r->result, &r->report);
    if (result == CUTIS_NOT_FOUND && !r->map_path &&
        r->options.clip < cutis_model_get(r->motion)->clip_count)
        show_skeletons(app, r);
    TRY(app_result(app, r->motion_path, result));
    return app_result(app, r->output, write_result(r));
}

static const char *clip_name(const request *r)
{
    const cutis_model_data *data = cutis_model_get(r->result);
    const char *name = data->clips[data->clip_count - 1].name;
    return name ? name : "";
}

static void print_map(const cli_app *app, const request *r)
{
    for (uint32_t n = 0; n < cutis_model_get(r->model)->node_count; n++)
        if (r->map[n] != CUTIS_NONE)
            app_say(app, "  %-24s %s\n", node_name(r->model, n),
                    node_name(r->motion, (uint32_t)r->map[n]));
}

static void print_text(const cli_app *app, const request *r)
{
    const cutis_retarget_report *p = &r->report;
    app_say(app, "%s: clip %s, %u frames at %.4g a second, %u of %u joints moved\n", r->output,
            clip_name(r), p->frame_count, p->fps, p->mapped_count, p->joint_count);
    app_say(app, "%-16s model by %s, motion by %s\n", "joints", found_text(p->target_by),
            found_text(p->motion_by));
    print_map(app, r);
    app_say(app, "%-16s %s\n", "rest",
            p->rest == CUTIS_RETARGET_TPOSE ? "first frame, left out of the clip"
                                            : "all channels 0");
    app_say(app, "%-16s %.5g, lifted by %.4g; height %.4g\n", "scale", p->scale, p->ground,
            p->height);
    if (isfinite(p->ankle_mean))
        app_say(app, "%-16s %.2f %% of the height from the scaled path, at most %.2f %%\n",
                "ankles", p->ankle_mean, p->ankle_max);
    if (isfinite(p->slide))
        app_say(app,
                "%-16s %u times left, %u right; a contact slides at most %.3f %% of the height "
                "(free %.3f %%, the motion %.3f %%)\n",
                "standing feet", p->stance_count[0], p->stance_count[1], p->slide, p->slide_free,
                p->slide_source);
    if (isfinite(p->hand_mean))
        app_say(app, "%-16s %.2f degrees from the motion's, at most %.2f\n", "arm directions",
                p->hand_mean, p->hand_max);
}

static void json_figures(json_out *json, const cutis_retarget_report *p)
{
    emit(json,
         "frames %u fps %g joints %u mapped %u model_by %s motion_by %s rest %s scale %.17g "
         "height %g ground %.17g up [ %g %g %g ] stances [ %u %u ] stance_seconds [ %g %g ]",
         p->frame_count, p->fps, p->joint_count, p->mapped_count, found_text(p->target_by),
         found_text(p->motion_by), p->rest == CUTIS_RETARGET_TPOSE ? "tpose" : "zero", p->scale,
         p->height, p->ground, p->up[0], p->up[1], p->up[2], p->stance_count[0], p->stance_count[1],
         p->stance_seconds[0], p->stance_seconds[1]);
    emit(json,
         "ankle_mean %g ankle_max %g slide %g slide_free %g slide_source %g hand_mean %g hand_max "
         "%g",
         p->ankle_mean, p->ankle_max, p->slide, p->slide_free, p->slide_source, p->hand_mean,
         p->hand_max);
}

static void print_json(const request *r)
{
    json_out json = { .file = stdout };
    emit(&json, "{ file %s motion %s output %s", r->path, r->motion_path, r->output);
    if (r->output) {
        emit_string(&json, "clip", clip_name(r));
        json_figures(&json, &r->report);
    }
    emit_array(&json, "map");
    for (uint32_t n = 0; n < cutis_model_get(r->model)->node_count; n++)
        if (r->map[n] != CUTIS_NONE)
            emit(&json, "{ joint %s motion_joint %s }", node_name(r->model, n),
                 node_name(r->motion, (uint32_t)r->map[n]));
    emit(&json, "] }");
}

int verb_retarget(cli_app *app)
{
    request r = { 0 };
    int status = read_options(app, &r);
    if (status == EXIT_GOOD) status = app_read_model(app, r.path, &r.model);
    if (status == EXIT_GOOD) status = app_read_model(app, r.motion_path, &r.motion);
    if (status == EXIT_GOOD) status = find_motion(app, &r);
    if (status == EXIT_GOOD) status = find_map(app, &r);
    if (status == EXIT_GOOD && r.output) status = make(app, &r);
    app_progress_done(app);
    if (status == EXIT_GOOD) {
        if (app->json)
            print_json(&r);
        else if (r.output)
            print_text(app, &r);
        else
            print_map(app, &r);
    }
    cutis_model_destroy(r.result);
    cutis_model_destroy(r.motion);
    cutis_model_destroy(r.model);
    free(r.map);
    return status;
}
