// BVH: a hierarchy of joints and sampled Euler angles. Joints become nodes, End Sites nodes called
// NAME_end, the motion one clip of linear keys, one per frame. Invariant: the nodes stand
// depth-first, and the number of motion values is proven to fit the file before they are allocated.
// No recursion: the open joint's parent link is the stack.
#include "io/place.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "geometry/sincos.h"

typedef enum axis_kind { XPOS, YPOS, ZPOS, XROT, YROT, ZROT, AXIS_NONE } axis_kind;

typedef struct bvh_node {
    char *name;
    int32_t parent;
    double offset[3];
    unsigned char channels[6];
    uint32_t channel_count, channel_first;
    bool has_offset, has_channels, is_end;
} bvh_node;

typedef struct bvh_file {
    const cutis_input *input;
    cutis_context *context;
    cutis_text text;
    cutis_arena arena;
    bvh_node *nodes;
    size_t node_count, node_capacity;
    uint32_t channel_count, frame_count;
    double frame_time;
    cutis_text motion; // where its numbers begin
} bvh_file;

static cutis_result bad(const bvh_file *file, const char *reason, cutis_span what)
{
    return cutis_text_bad(file->input, &file->text, reason, what);
}

static cutis_result take_number(bvh_file *file, double *out)
{
    cutis_span word = cutis_text_word(&file->text);
    if (word.size == 0) return bad(file, "the file ends where a number is wanted", word);
    return cutis_parse_double(word, out) ? CUTIS_OK : bad(file, "not a number:", word);
}

static cutis_result take_word(bvh_file *file, const char *wanted)
{
    cutis_span word = cutis_text_word(&file->text);
    if (cutis_span_is_any_case(word, wanted)) return CUTIS_OK;
    char reason[64];
    snprintf(reason, sizeof reason, "expected '%.20s', found", wanted);
    return bad(file, reason, word);
}

// The rest of the line is the name, up to a brace: some programs write blanks into names.
static char *take_name(bvh_file *file)
{
    cutis_span name = cutis_text_rest(&file->text);
    const char *brace = name.size ? memchr(name.data, '{', name.size) : NULL;
    if (brace) {
        name.size = (size_t)(brace - name.data);
        file->text.at = brace;
        while (name.size && (name.data[name.size - 1] == ' ' || name.data[name.size - 1] == '\t'))
            name.size--;
    }
    size_t shown = name.size < 1024 ? name.size : 1024;
    char *copy = cutis_arena_alloc(&file->arena, shown + 1, 1);
    if (!copy) return NULL;
    for (size_t i = 0; i < shown; i++) copy[i] = name.data[i] ? name.data[i] : '?';
    copy[shown] = 0;
    cutis_utf8_repair(copy);
    return copy;
}

static cutis_result add_node(bvh_file *file, int32_t parent, bool is_end)
{
    const cutis_limits *limits = cutis_context_limits(file->context);
    if (file->node_count >= limits->node_count || file->node_count >= INT32_MAX)
        return cutis_fail(file->context, CUTIS_LIMIT_EXCEEDED, "%s: line %zu: more than %u nodes",
                          file->input->name, file->text.line, limits->node_count);
    if (!cutis_arena_grow(&file->arena, &file->nodes, &file->node_capacity, file->node_count + 1,
                          sizeof *file->nodes))
        return cutis_alloc_result(file->context);
    bvh_node *node = &file->nodes[file->node_count++];
    *node = (bvh_node){ .parent = parent, .is_end = is_end };
    node->name = take_name(file); // after End: "Site", or a comment some programs put there
    if (node->name && is_end)
        node->name = cutis_arena_format(&file->arena, "%s_end", file->nodes[parent].name);
    if (!node->name) return cutis_alloc_result(file->context);
    return take_word(file, "{");
}

static cutis_result take_offset(bvh_file *file, bvh_node *node)
{
    cutis_result result = CUTIS_OK;
    for (int k = 0; k < 3 && result == CUTIS_OK; k++) result = take_number(file, &node->offset[k]);
    node->has_offset = true;
    return result;
}

static axis_kind axis_named(cutis_span word)
{
    static const char *const NAMES[] = { "Xposition", "Yposition", "Zposition",
                                         "Xrotation", "Yrotation", "Zrotation" };
    for (int i = 0; i < AXIS_NONE; i++)
        if (cutis_span_is_any_case(word, NAMES[i])) return (axis_kind)i;
    return AXIS_NONE;
}

static cutis_result take_channels(bvh_file *file, bvh_node *node)
{
    cutis_span word = cutis_text_word(&file->text);
    int64_t count;
    if (node->has_channels || node->is_end) return bad(file, "no CHANNELS may stand here", word);
    if (!cutis_parse_int(word, &count) || count < 0 || count > 6)
        return bad(file, "0 to 6 channels, not", word);
    node->has_channels = true;
    node->channel_first = file->channel_count;
    for (int64_t i = 0; i < count; i++) {
        word = cutis_text_word(&file->text);
        axis_kind axis = axis_named(word);
        if (axis == AXIS_NONE) return bad(file, "unknown channel", word);
        for (uint32_t k = 0; k < node->channel_count; k++)
            if (node->channels[k] == axis) return bad(file, "a channel twice:", word);
        node->channels[node->channel_count++] = (unsigned char)axis;
    }
    file->channel_count += node->channel_count;
    return CUTIS_OK;
}

// From ROOT to MOTION.
static cutis_result parse_hierarchy(bvh_file *file)
{
    int32_t open = CUTIS_NONE;
    uint32_t depth = 0, deepest = cutis_context_limits(file->context)->nesting;
    cutis_result result = take_word(file, "HIERARCHY");
    while (result == CUTIS_OK) {
        cutis_span word = cutis_text_word(&file->text);
        bool root = cutis_span_is_any_case(word, "ROOT"),
             joint = cutis_span_is_any_case(word, "JOINT");
        bool end = cutis_span_is_any_case(word, "End");
        if (open == CUTIS_NONE && !root) {
            if (file->node_count && cutis_span_is_any_case(word, "MOTION")) return CUTIS_OK;
            return bad(file, file->node_count ? "expected MOTION, found" : "expected ROOT, found",
                       word);
        }
        if (root || joint || end) {
            if (root != (open == CUTIS_NONE)) return bad(file, "a ROOT inside a joint:", word);
            if (!root && file->nodes[open].is_end)
                return bad(file, "an End Site has no children:", word);
            if (++depth > deepest)
                return cutis_fail(file->context, CUTIS_LIMIT_EXCEEDED,
                                  "%s: line %zu: joints nested deeper than %u", file->input->name,
                                  file->text.line, deepest);
            result = add_node(file, open, end);
            open = (int32_t)file->node_count - 1;
        } else if (cutis_span_is_any_case(word, "OFFSET")) {
            result = take_offset(file, &file->nodes[open]);
        } else if (cutis_span_is_any_case(word, "CHANNELS")) {
            result = take_channels(file, &file->nodes[open]);
        } else if (cutis_span_is(word, "}")) {
            if (!file->nodes[open].has_offset)
                return bad(file, "a joint without OFFSET ends at", word);
            open = file->nodes[open].parent;
            depth--;
        } else {
            return bad(file, word.size ? "unknown word" : "the file ends inside the hierarchy",
                       word);
        }
    }
    return result;
}

static cutis_result parse_motion_header(bvh_file *file)
{
    cutis_span word;
    int64_t frames;
    cutis_result result = take_word(file, "Frames:");
    if (result != CUTIS_OK) return result;
    word = cutis_text_word(&file->text);
    if (!cutis_parse_int(word, &frames) || frames < 0 || frames > UINT32_MAX)
        return bad(file, "no count of frames:", word);
    result = take_word(file, "Frame");
    if (result == CUTIS_OK) result = take_word(file, "Time:");
    if (result == CUTIS_OK) result = take_number(file, &file->frame_time);
    if (result != CUTIS_OK) return result;
    if (file->frame_time < 0 || (file->frame_time == 0 && frames > 1) || file->frame_time > 1e6)
        return bad(file, "the time of a frame must be positive", (cutis_span){ "", 0 });
    uint64_t left = (uint64_t)(file->text.end - file->text.at);
    // A value takes a digit and a blank; without channels there is nothing to animate.
    if (file->channel_count && (uint64_t)frames > (left + 1) / 2 / file->channel_count)
        return bad(file, "the data ends before the announced frame", word);
    file->frame_count = file->channel_count ? (uint32_t)frames : 0;
    file->motion = file->text;
    return CUTIS_OK;
}

// q = q * rotation about an axis: channels apply to the right, in the order of the file.
static void rotate(double q[4], int axis, double degrees)
{
    double s, c, r[4] = { 0, 0, 0, 0 };
    sincos_degrees_any(degrees / 2, &s, &c);
    r[axis] = s;
    r[3] = c;
    double p[4] = { q[0], q[1], q[2], q[3] };
    q[0] = p[3] * r[0] + p[0] * r[3] + p[1] * r[2] - p[2] * r[1];
    q[1] = p[3] * r[1] - p[0] * r[2] + p[1] * r[3] + p[2] * r[0];
    q[2] = p[3] * r[2] + p[0] * r[1] - p[1] * r[0] + p[2] * r[3];
    q[3] = p[3] * r[3] - p[0] * r[0] - p[1] * r[1] - p[2] * r[2];
}

typedef struct bvh_track {
    float *translations, *rotations; // per frame, or NULL
} bvh_track;

static cutis_result make_tracks(bvh_file *file, bvh_track *tracks, uint32_t *channel_count)
{
    *channel_count = 0;
    for (size_t i = 0; i < file->node_count; i++) {
        bool moves = false, turns = false;
        for (uint32_t k = 0; k < file->nodes[i].channel_count; k++) {
            moves |= file->nodes[i].channels[k] <= ZPOS;
            turns |= file->nodes[i].channels[k] >= XROT;
        }
        tracks[i] = (bvh_track){ NULL, NULL };
        if (moves)
            tracks[i].translations =
                cutis_arena_alloc(&file->arena, file->frame_count, 3 * sizeof(float));
        if (turns)
            tracks[i].rotations =
                cutis_arena_alloc(&file->arena, file->frame_count, 4 * sizeof(float));
        if ((moves && !tracks[i].translations) || (turns && !tracks[i].rotations))
            return cutis_alloc_result(file->context);
        *channel_count += (uint32_t)moves + (uint32_t)turns;
    }
    return CUTIS_OK;
}

static cutis_result take_frame(bvh_file *file, bvh_track *tracks, uint32_t frame)
{
    double scale = (double)file->input->scale;
    for (size_t i = 0; i < file->node_count; i++) {
        const bvh_node *node = &file->nodes[i];
        double q[4] = { 0, 0, 0, 1 }, moved[3];
        memcpy(moved, node->offset, sizeof moved);
        for (uint32_t k = 0; k < node->channel_count; k++) {
            double value;
            cutis_result result = take_number(file, &value);
            if (result != CUTIS_OK) return result;
            if (node->channels[k] <= ZPOS)
                moved[node->channels[k]] += value;
            else
                rotate(q, node->channels[k] - XROT, value);
        }
        if (tracks[i].translations)
            for (int k = 0; k < 3; k++)
                tracks[i].translations[3 * (size_t)frame + (size_t)k] = (float)(moved[k] * scale);
        if (!tracks[i].rotations) continue;
        float *out = tracks[i].rotations + 4 * (size_t)frame;
        double along = 0;
        for (int k = 0; k < 4 && frame; k++) along += q[k] * (double)out[k - 4];
        for (int k = 0; k < 4; k++)
            out[k] = (float)(along < 0 ? -q[k] : q[k]); // neighbours on one side
    }
    return CUTIS_OK;
}

// Lines all as long as the first, which holds more than a frame, but not whole ones (or there are
// as many lines as frames): a line is meant to be a frame, and has too many numbers. Frames over
// several lines, or all on one, are no such thing. @return numbers of a line, or 0
static uint64_t count_too_long(const bvh_file *file)
{
    cutis_text text = file->motion;
    uint64_t lines = 0, first = 0, own = 0;
    size_t line = 0;
    for (;;) {
        double value;
        const cutis_span word = cutis_text_word(&text);
        const bool ends = word.size == 0 || !cutis_parse_double(word, &value);
        if (lines > 0 && (ends || text.line != line)) {
            if (lines == 1) first = own;
            if (own != first) return 0;
            own = 0;
        }
        if (ends) break;
        lines += lines == 0 || text.line != line;
        line = text.line;
        own++;
    }
    const bool whole = first % file->channel_count == 0;
    return lines > 1 && first > file->channel_count && (!whole || lines == file->frame_count)
               ? first
               : 0;
}

// Whole frames behind the announced ones are left out. Other numbers there mean that lines hold
// more than the channels take: then every frame but the first was read from the wrong places.
static cutis_result look_behind(bvh_file *file)
{
    uint64_t numbers = 0;
    for (;;) {
        double value;
        const cutis_span word = cutis_text_word(&file->text);
        if (word.size == 0 || !cutis_parse_double(word, &value)) break;
        numbers++;
    }
    if (numbers == 0 || file->channel_count == 0) return CUTIS_OK;
    char reason[128];
    if (numbers % file->channel_count) {
        snprintf(reason, sizeof reason,
                 "%ju numbers behind the last frame: its lines do not have the %u of the channels",
                 (uintmax_t)numbers, file->channel_count);
        return bad(file, reason, (cutis_span){ "", 0 });
    }
    const uint64_t of_line = count_too_long(file);
    if (of_line) {
        snprintf(reason, sizeof reason, "lines of %ju numbers do not have the %u of the channels",
                 (uintmax_t)of_line, file->channel_count);
        return bad(file, reason, (cutis_span){ "", 0 });
    }
    cutis_log(file->context, "%s: it announces %u frames; %ju more are left out", file->input->name,
              file->frame_count, (uintmax_t)(numbers / file->channel_count));
    return CUTIS_OK;
}

static cutis_result make_clip(bvh_file *file, cutis_clip *clip)
{
    bvh_track *tracks = cutis_arena_alloc(&file->arena, file->node_count, sizeof *tracks);
    float *times = cutis_arena_alloc(&file->arena, file->frame_count, sizeof *times);
    if (!tracks || !times) return cutis_alloc_result(file->context);
    cutis_result result = make_tracks(file, tracks, &clip->channel_count);
    for (uint32_t f = 0; f < file->frame_count && result == CUTIS_OK; f++) {
        times[f] = (float)((double)f * file->frame_time);
        result = take_frame(file, tracks, f);
    }
    cutis_channel *channels =
        cutis_arena_alloc(&file->arena, clip->channel_count, sizeof *channels);
    if (result == CUTIS_OK && !channels) result = cutis_alloc_result(file->context);
    if (result != CUTIS_OK) return result;
    uint32_t n = 0;
    for (size_t i = 0; i < file->node_count; i++) {
        cutis_channel channel = { .node = (uint32_t)i,
                                  .key_count = file->frame_count,
                                  .times = times };
        channel.path = CUTIS_PATH_TRANSLATION;
        channel.values = tracks[i].translations;
        if (channel.values) channels[n++] = channel;
        channel.path = CUTIS_PATH_ROTATION;
        channel.values = tracks[i].rotations;
        if (channel.values) channels[n++] = channel;
    }
    clip->channels = channels;
    clip->name = cutis_stem(&file->arena, file->input->name);
    if (!clip->name) return cutis_alloc_result(file->context);
    cutis_utf8_repair((char *)clip->name);
    return CUTIS_OK;
}

static cutis_result publish(bvh_file *file, cutis_model **out)
{
    cutis_clip clip = { 0 };
    cutis_node *nodes = cutis_arena_alloc(&file->arena, file->node_count, sizeof *nodes);
    if (!nodes) return cutis_alloc_result(file->context);
    for (size_t i = 0; i < file->node_count; i++) {
        const double *offset = file->nodes[i].offset;
        double scale = (double)file->input->scale;
        nodes[i] = cutis_node_default();
        nodes[i].name = file->nodes[i].name;
        nodes[i].parent = file->nodes[i].parent;
        nodes[i].rest.translation =
            (cutis_float3){ (float)(offset[0] * scale), (float)(offset[1] * scale),
                            (float)(offset[2] * scale) };
    }
    if (file->frame_count) {
        cutis_result result = make_clip(file, &clip);
        if (result != CUTIS_OK) return result;
    }
    cutis_result behind = look_behind(file);
    if (behind != CUTIS_OK) return behind;
    cutis_model_data data = { .node_count = (uint32_t)file->node_count,
                              .clip_count = clip.channel_count ? 1 : 0,
                              .nodes = nodes,
                              .clips = &clip };
    return cutis_input_publish(file->input, &data, file->input->scale, out);
}

cutis_result cutis_bvh_read(const cutis_input *input, cutis_model **out)
{
    bvh_file file = { .input = input, .context = input->context };
    file.arena.context = input->context;
    file.text = cutis_text_begin(input->data, input->size);
    cutis_result result = parse_hierarchy(&file);
    if (result == CUTIS_OK) result = parse_motion_header(&file);
    if (result == CUTIS_OK) result = publish(&file, out);
    cutis_arena_release(&file.arena);
    return result;
}
