// BVH of a model's joints and its first clip: OFFSET is the rest translation, channels are Z X Y
// Euler angles (and positions for roots and for joints whose translation moves). Invariant: local
// transforms at the written frames are the sampled ones; a scale cannot be held and is refused.
#include "io/format.h"
#include "io/output.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "base/memory.h"
#include "math/elementary.h"

enum { FRAMES_MAX = 1 << 20 };
static const double DEGREES = 180.0 / 3.14159265358979323846;

typedef struct bvh_writer {
    cutis_context *context;
    const cutis_model_data *data;
    const char *path;
    cutis_arena arena;
    bool *kept;         // joints and what stands above them
    bool *moves;        // has a translation channel
    bool *animated;     // has any channel
    uint32_t *order;    // kept nodes depth-first
    uint32_t *children; // kept children per node
    uint32_t count;
    const cutis_clip *clip;
    double frame_time;
    uint32_t frame_count;
} bvh_writer;

// With skins: their joints and all above; without: every node that shows no mesh.
static void choose_nodes(bvh_writer *w)
{
    const cutis_model_data *data = w->data;
    for (uint32_t i = 0; i < data->node_count; i++)
        w->kept[i] = data->skin_count == 0 && data->nodes[i].mesh == CUTIS_NONE;
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            w->kept[data->skins[s].joints[j]] = true;
    for (uint32_t i = data->node_count; i-- > 0;)
        if (w->kept[i] && data->nodes[i].parent != CUTIS_NONE)
            w->kept[data->nodes[i].parent] = true;
}

static bool is_one(cutis_float3 scale)
{
    const float near = 1e-4f; // what a decomposed matrix leaves of a scale of one
    return fabsf(scale.x - 1) < near && fabsf(scale.y - 1) < near && fabsf(scale.z - 1) < near;
}

static cutis_result check_nodes(bvh_writer *w)
{
    for (uint32_t i = 0; i < w->data->node_count; i++) {
        const cutis_node *node = &w->data->nodes[i];
        if (!w->kept[i]) continue;
        w->count++;
        if (node->matrix || !is_one(node->rest.scale))
            return cutis_fail(w->context, CUTIS_UNSUPPORTED,
                              "%s: node %u ('%s') has a scale or a matrix; BVH holds neither",
                              w->path, i, node->name ? node->name : "");
    }
    if (w->count == 0)
        return cutis_fail(w->context, CUTIS_UNSUPPORTED,
                          "%s: BVH holds joints, and the model has none", w->path);
    for (uint32_t c = 0; w->clip && c < w->clip->channel_count; c++) {
        const cutis_channel *channel = &w->clip->channels[c];
        w->animated[channel->node] = true;
        if (channel->path == CUTIS_PATH_TRANSLATION) w->moves[channel->node] = true;
    }
    for (uint32_t i = 0; i < w->data->node_count; i++)
        w->moves[i] |= w->data->nodes[i].parent == CUTIS_NONE;
    return CUTIS_OK;
}

// Depth-first with links in place of recursion: first child and next sibling, both ascending.
static cutis_result order_nodes(bvh_writer *w)
{
    uint32_t n = w->data->node_count, at, written = 0;
    uint32_t *first = cutis_arena_alloc(&w->arena, n + 1, sizeof *first);
    uint32_t *next = cutis_arena_alloc(&w->arena, n + 1, sizeof *next);
    uint32_t *stack = cutis_arena_alloc(&w->arena, n + 1, sizeof *stack);
    if (!first || !next || !stack) return cutis_alloc_result(w->context);
    memset(first, 0xFF, (n + 1) * sizeof *first);
    for (uint32_t i = n; i-- > 0;) {
        if (!w->kept[i]) continue;
        int32_t parent = w->data->nodes[i].parent;
        at = parent == CUTIS_NONE ? n : (uint32_t)parent; // n stands for "above the roots"
        next[i] = first[at];
        first[at] = i;
        if (at < n) w->children[at]++;
    }
    uint32_t depth = 0;
    for (at = first[n]; at != UINT32_MAX || depth;) {
        if (at == UINT32_MAX) {
            at = stack[--depth];
            continue;
        }
        w->order[written++] = at;
        if (next[at] != UINT32_MAX) stack[depth++] = next[at];
        at = first[at];
    }
    return CUTIS_OK;
}

// Frames of the file the clip came from if its keys are equally spaced, else 30 per second.
static cutis_result plan_frames(bvh_writer *w)
{
    w->frame_time = 1.0 / 30;
    w->frame_count = 1;
    if (!w->clip) return CUTIS_OK;
    const cutis_channel *longest = &w->clip->channels[0];
    for (uint32_t c = 1; c < w->clip->channel_count; c++)
        if (w->clip->channels[c].key_count > longest->key_count) longest = &w->clip->channels[c];
    uint32_t keys = longest->key_count;
    double duration = (double)w->clip->duration, step = keys > 1 ? duration / (keys - 1) : 0;
    bool regular = keys > 1 && step > 0;
    for (uint32_t k = 0; k < keys && regular; k++)
        regular = fabs((double)longest->times[k] - k * step) < 1e-3 * step + 1e-6;
    if (regular) w->frame_time = step;
    double frames = floor(duration / w->frame_time + 1e-3) + 1;
    if (!(frames <= FRAMES_MAX))
        return cutis_fail(w->context, CUTIS_LIMIT_EXCEEDED, "%s: more than %d frames", w->path,
                          FRAMES_MAX);
    w->frame_count = (uint32_t)frames;
    return CUTIS_OK;
}

static bool is_end_site(const bvh_writer *w, uint32_t i)
{
    const cutis_node *node = &w->data->nodes[i];
    size_t size = node->name ? strlen(node->name) : 0;
    if (size < 4 || strcmp(node->name + size - 4, "_end") != 0 || node->parent == CUTIS_NONE)
        return false;
    return w->children[i] == 0 && !w->animated[i];
}

static void indent(cutis_output *out, uint32_t depth, const char *text)
{
    for (uint32_t i = 0; i < depth && i < 64; i++) cutis_output_text(out, "\t");
    cutis_output_text(out, text);
}

static void write_offset(cutis_output *out, uint32_t depth, cutis_float3 offset)
{
    indent(out, depth, "OFFSET");
    cutis_output_float(out, ' ', offset.x);
    cutis_output_float(out, ' ', offset.y);
    cutis_output_float(out, ' ', offset.z);
    cutis_output_text(out, "\n");
}

static void write_joint_head(cutis_output *out, const bvh_writer *w, uint32_t i, uint32_t depth,
                             bool end)
{
    const cutis_node *node = &w->data->nodes[i];
    indent(out, depth, end ? "End Site" : node->parent == CUTIS_NONE ? "ROOT " : "JOINT ");
    if (!end && node->name && *node->name)
        cutis_output_name(out, node->name);
    else if (!end)
        cutis_output_count(out, '#', i);
    cutis_output_text(out, "\n");
    indent(out, depth, "{\n");
    write_offset(out, depth + 1, node->rest.translation);
    if (end) return;
    indent(out, depth + 1,
           w->moves[i] ? "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n"
                       : "CHANNELS 3 Zrotation Xrotation Yrotation\n");
    if (w->children[i]) return;
    indent(out, depth + 1, "End Site\n");
    indent(out, depth + 1, "{\n");
    write_offset(out, depth + 2, (cutis_float3){ 0, 0, 0 });
    indent(out, depth + 1, "}\n");
}

static void write_hierarchy(cutis_output *out, const bvh_writer *w, const bool *ends)
{
    cutis_output_text(out, "HIERARCHY\n");
    int32_t open = CUTIS_NONE;
    uint32_t depth = 0;
    for (uint32_t k = 0; k <= w->count; k++) {
        int32_t parent = k < w->count ? w->data->nodes[w->order[k]].parent : CUTIS_NONE;
        for (; open != parent && open != CUTIS_NONE; open = w->data->nodes[open].parent)
            indent(out, --depth, "}\n");
        if (k == w->count) return;
        write_joint_head(out, w, w->order[k], depth++, ends[w->order[k]]);
        open = (int32_t)w->order[k];
    }
}

// Angles of R = Rz Rx Ry in degrees.
static void euler_zxy(cutis_quat quat, double out[3])
{
    double x = (double)quat.x, y = (double)quat.y, z = (double)quat.z, v = (double)quat.w;
    double s = 2 / (x * x + y * y + z * z + v * v);
    double r00 = 1 - s * (y * y + z * z), r01 = s * (x * y - z * v), r10 = s * (x * y + z * v);
    double r11 = 1 - s * (x * x + z * z), r20 = s * (x * z - y * v), r21 = s * (y * z + x * v);
    double r22 = 1 - s * (x * x + y * y);
    double across = sqrt(r20 * r20 + r22 * r22);
    out[1] = DEGREES * fixed_atan2(r21, across);
    if (across > 1e-9) {
        out[0] = DEGREES * fixed_atan2(-r01, r11);
        out[2] = DEGREES * fixed_atan2(-r20, r22);
    } else { // looking along the axis: one of the two angles is free
        out[0] = DEGREES * fixed_atan2(r10, r00);
        out[2] = 0;
    }
}

static void write_frame(cutis_output *out, const bvh_writer *w, const bool *ends,
                        const cutis_transform *pose)
{
    for (uint32_t k = 0; k < w->count; k++) {
        uint32_t i = w->order[k];
        if (ends[i]) continue;
        const cutis_float3 *rest = &w->data->nodes[i].rest.translation, *now = &pose[i].translation;
        double angles[3];
        if (w->moves[i]) {
            cutis_output_double(out, ' ', (double)now->x - (double)rest->x);
            cutis_output_double(out, ' ', (double)now->y - (double)rest->y);
            cutis_output_double(out, ' ', (double)now->z - (double)rest->z);
        }
        euler_zxy(pose[i].rotation, angles);
        for (int a = 0; a < 3; a++) cutis_output_double(out, ' ', angles[a]);
    }
    cutis_output_text(out, "\n");
}

static cutis_result write_motion(cutis_output *out, const bvh_writer *w, const cutis_model *model,
                                 const bool *ends, cutis_transform *pose)
{
    cutis_sampler *sampler = NULL;
    if (w->clip) {
        cutis_result result = cutis_sampler_create(model, 0, &sampler);
        if (result != CUTIS_OK) return result;
    }
    cutis_output_text(out, "MOTION\nFrames:");
    cutis_output_count(out, ' ', w->frame_count);
    cutis_output_text(out, "\nFrame Time:");
    cutis_output_double(out, ' ', w->frame_time);
    cutis_output_text(out, "\n");
    cutis_pose_rest(model, pose, NULL);
    for (uint32_t f = 0; f < w->frame_count; f++) {
        if (sampler) cutis_sampler_sample(sampler, (float)(f * w->frame_time), pose, NULL);
        write_frame(out, w, ends, pose);
    }
    cutis_sampler_destroy(sampler);
    return CUTIS_OK;
}

static cutis_result write_file(bvh_writer *w, const cutis_model *model)
{
    uint32_t n = w->data->node_count;
    cutis_result result;
    bool *ends = cutis_arena_alloc(&w->arena, n, sizeof *ends);
    cutis_transform *pose = cutis_arena_alloc(&w->arena, n, sizeof *pose);
    if (!ends || !pose) return cutis_alloc_result(w->context);
    for (uint32_t i = 0; i < n; i++) ends[i] = w->kept[i] && is_end_site(w, i);
    cutis_output *out = cutis_output_begin(w->context, w->path, &result);
    if (!out) return result;
    write_hierarchy(out, w, ends);
    result = write_motion(out, w, model, ends, pose);
    if (result == CUTIS_OK) return cutis_output_finish(out);
    cutis_output_abort(out);
    return result;
}

cutis_result cutis_bvh_write(const cutis_model *model, const char *path)
{
    bvh_writer w = { .context = cutis_model_context(model),
                     .data = cutis_model_get(model),
                     .path = path };
    w.arena.context = w.context;
    uint32_t n = w.data->node_count;
    w.clip = w.data->clip_count && w.data->clips[0].channel_count ? &w.data->clips[0] : NULL;
    w.kept = cutis_arena_alloc(&w.arena, n, sizeof *w.kept);
    w.moves = cutis_arena_zero(&w.arena, n, sizeof *w.moves);
    w.animated = cutis_arena_zero(&w.arena, n, sizeof *w.animated);
    w.order = cutis_arena_alloc(&w.arena, n, sizeof *w.order);
    w.children = cutis_arena_zero(&w.arena, n, sizeof *w.children);
    cutis_result result = CUTIS_OK;
    if (!w.kept || !w.moves || !w.animated || !w.order || !w.children) {
        result = cutis_alloc_result(w.context);
    } else {
        choose_nodes(&w);
        result = check_nodes(&w);
    }
    if (result == CUTIS_OK) result = order_nodes(&w);
    if (result == CUTIS_OK) result = plan_frames(&w);
    if (result == CUTIS_OK) result = write_file(&w, model);
    cutis_arena_release(&w.arena);
    return result;
}
