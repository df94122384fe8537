/// A crowd's frame: what changed goes up, then for each level, batch by batch, poses, centres, skin
/// and, where vertices are packed, the packing. Invariant: everything is queued in order, so that
/// batches share their memory; nothing is allocated.
#include "deform/crowd.h"

#include <string.h>

#include "base/error.h"
#include "device/compute/basic.h"

// Memory of a batch on the device: enough slots to fill it, few enough for its cache.
static const uint64_t BATCH_BYTES = 64ull << 20;
// Vertices that are packed afterwards, as floats.
static const uint64_t FLOAT_BYTES = 256ull << 20;

static bool packs(const cutis_crowd *crowd)
{
    return crowd->options.position != CUTIS_CROWD_POSITION_F32 ||
           crowd->options.normal == CUTIS_CROWD_NORMAL_OCTAHEDRAL;
}

static uint32_t float_words(const cutis_crowd *crowd)
{
    return crowd->options.normal ? 6 : 3;
}

/// Floats from slot to slot before packing; whole 16 bytes, so that records leave in one piece.
static uint64_t float_step(const cutis_crowd *crowd, const crowd_level *level)
{
    const uint64_t words = (uint64_t)level->info.vertex_count * float_words(crowd);
    return (words + 3) / 4 * 4;
}

// Preparing ---------------------------------------------------------------------------------------

static uint64_t slot_bytes(const cutis_crowd *crowd, const crowd_level *level)
{
    const cutis_skin_binding *binding = level->binding;
    const uint64_t steps = binding->step_count, bones = binding->bone_count;
    return 2 * (10 * (uint64_t)crowd->node_count + crowd->target_count) * sizeof(float) +
           12 * (2 * steps + 1) * sizeof(double) + 14 * bones * sizeof(double) +
           (20 * bones + 4 * (uint64_t)binding->set_count) * sizeof(float);
}

static void choose_batch(const cutis_crowd *crowd, crowd_level *level)
{
    const cutis_binding *binding = &level->binding->base;
    const cutis_device_operations *operations = crowd->device->operations;
    uint64_t batch = binding->capacity;
    if (level->on_device && operations->staging_create) {
        const uint64_t most = operations->skin_batch(level->binding->skin);
        batch = BATCH_BYTES / slot_bytes(crowd, level);
        batch = batch > most ? most : batch;
    }
    if (packs(crowd)) {
        const uint64_t most = FLOAT_BYTES / (4 * float_step(crowd, level) + 1);
        batch = batch > most ? most : batch;
    }
    batch = batch > crowd->capacity ? crowd->capacity : batch;
    level->batch = batch < 1 ? 1 : (uint32_t)batch;
}

/// What of each kind the largest level needs, and the buffers.
static cutis_result make_scratch(cutis_crowd *crowd)
{
    uint64_t poses = 0, locals = 0, worlds = 0, palettes = 0, measures = 0, vertices = 0;
#define LARGEST(a, b) ((a) = (a) > (b) ? (a) : (b))
    for (uint32_t l = 0; l < crowd->level_count; l++) {
        const crowd_level *level = &crowd->levels[l];
        const uint64_t steps = level->binding->step_count, bones = level->binding->bone_count;
        const uint64_t batch = level->batch;
        if (packs(crowd)) LARGEST(vertices, batch * float_step(crowd, level) * sizeof(float));
        if (!level->on_device) continue;
        LARGEST(poses, batch * 2 * (10 * crowd->node_count + crowd->target_count) * sizeof(float));
        LARGEST(locals, batch * (steps + 1) * 12 * sizeof(double));
        LARGEST(worlds, batch * steps * 12 * sizeof(double));
        LARGEST(palettes, batch * bones * 12 * sizeof(double));
        LARGEST(measures, batch * bones * 2 * sizeof(double));
    }
#undef LARGEST
    if (vertices) TRY(cutis_crowd_buffer(crowd, NULL, vertices, &crowd->vertices));
    if (!crowd->any_on_device) return CUTIS_OK;
    TRY(cutis_crowd_buffer(crowd, NULL, poses, &crowd->poses));
    TRY(cutis_crowd_buffer(crowd, NULL, locals, &crowd->locals));
    TRY(cutis_crowd_buffer(crowd, NULL, worlds, &crowd->worlds));
    TRY(cutis_crowd_buffer(crowd, NULL, palettes, &crowd->palettes));
    return cutis_crowd_buffer(crowd, NULL, measures, &crowd->measures);
}

/// Words of a change: instance, state, and the previous one where it is wanted.
static uint64_t change_words(const cutis_crowd *crowd)
{
    return 1 + (crowd->options.previous ? 2 : 1) * CROWD_STATE_WORDS;
}

static cutis_result make_uploads(cutis_crowd *crowd)
{
    const uint64_t states = (uint64_t)crowd->capacity * CROWD_STATE_WORDS * sizeof(int32_t);
    const uint64_t size = crowd->capacity * (1 + change_words(crowd)) * sizeof(int32_t);
    const cutis_device_operations *operations = crowd->device->operations;
    TRY(cutis_crowd_buffer(crowd, NULL, states, &crowd->states));
    if (crowd->options.previous)
        TRY(cutis_crowd_buffer(crowd, NULL, states, &crowd->states_before));
    for (int u = 0; u < 2; u++) {
        crowd_upload *upload = &crowd->uploads[u];
        if (operations->staging_create) {
            TRY(operations->staging_create(crowd->device, size ? size : 16, &upload->staging));
            upload->words = upload->staging->host;
            upload->buffer = upload->staging->buffer;
        } else {
            TRY(cutis_buffer_create(crowd->device, size ? size : 16, &upload->buffer));
            upload->words = (int32_t *)(uintptr_t)upload->buffer->handle;
        }
        crowd->device_bytes += size;
    }
    return CUTIS_OK;
}

/// Frames of a level with what never changes in them: the numbers of the instances.
static cutis_result make_frames(cutis_crowd *crowd, crowd_level *level)
{
    const cutis_device_operations *operations = crowd->device->operations;
    operations->skin_places(level->binding->skin, level->batch, &level->places);
    TRY(cutis_crowd_buffer(crowd, NULL, level->places.words * sizeof(float), &level->frames));
    TRY(fill_words_run(crowd->device, (uint32_t)level->places.words,
                       (fill_words_buffers){ .words = level->frames },
                       (fill_words_arguments){ .value = 0 }));
    uint32_t *numbers = cutis_alloc_array(crowd->context, level->batch, sizeof *numbers);
    if (!numbers) return cutis_alloc_result(crowd->context);
    for (uint32_t i = 0; i < level->batch; i++) numbers[i] = i;
    cutis_result result = cutis_buffer_write(level->frames, level->places.instances * sizeof(float),
                                             numbers, level->batch * sizeof *numbers);
    cutis_free_array(crowd->context, numbers, level->batch, sizeof *numbers);
    return result;
}

/// Where slots from `first` on go as floats: the caller's buffer, or what is packed afterwards.
static void targets_of(const cutis_crowd *crowd, const crowd_level *level, cutis_buffer *buffer,
                       uint64_t offset, uint32_t first, bool before, cutis_outputs *out)
{
    const uint32_t words = before ? 3 : float_words(crowd);
    const bool packed = before ? crowd->options.position != CUTIS_CROWD_POSITION_F32 : packs(crowd);
    uint64_t step = before ? level->info.previous_slot_bytes : level->info.slot_bytes;
    uint64_t at = offset + first * step;
    if (packed) buffer = crowd->vertices, at = 0, step = 4 * float_step(crowd, level);
    *out = (cutis_outputs){ .positions = { .buffer = buffer,
                                           .offset = at,
                                           .stride = 4 * words,
                                           .instance_stride = step } };
    if (words == 6)
        out->normals = (cutis_stream){
            .buffer = buffer, .offset = at + 12, .stride = 4 * words, .instance_stride = step
        };
}

static cutis_target target_of(const cutis_stream *stream)
{
    return (cutis_target){ .buffer = stream->buffer,
                           .first = stream->offset / 4,
                           .step = stream->instance_stride / 4,
                           .stride = stream->stride / 4 };
}

/// The skin's kernels for such targets; and, where the host poses, memory for its frames.
static cutis_result compile_level(cutis_crowd *crowd, const crowd_level *level)
{
    const cutis_device_operations *operations = crowd->device->operations;
    if (!operations->skin_prepare || level->info.vertex_count == 0) return CUTIS_OK;
    for (int before = 0; before < (crowd->options.previous ? 2 : 1); before++) {
        cutis_outputs outputs;
        targets_of(crowd, level, crowd->any_buffer, 0, 0, before != 0, &outputs);
        const cutis_skin_targets targets = { .positions = target_of(&outputs.positions),
                                             .normals = target_of(&outputs.normals) };
        TRY(operations->skin_prepare(level->binding->skin, level->on_device ? 0 : level->batch, 1,
                                     &targets));
    }
    return CUTIS_OK;
}

static cutis_result compile(cutis_crowd *crowd)
{
    const cutis_compute_kernel *kernels[4];
    uint32_t count = 0;
    bool centres = false;
    for (uint32_t l = 0; l < crowd->level_count; l++)
        centres = centres || (crowd->levels[l].on_device &&
                              crowd->levels[l].binding->layout.formula == CUTIS_FORMULA_SBS);
    if (crowd->any_on_device) {
        kernels[count++] = &cutis_compute_crowd_update;
        kernels[count++] = &cutis_compute_crowd_pose;
    }
    if (centres) kernels[count++] = &cutis_compute_crowd_centres;
    if (packs(crowd)) kernels[count++] = &cutis_compute_crowd_pack;
    TRY(cutis_buffer_create(crowd->device, 16, &crowd->any_buffer));
    if (count) TRY(cutis_compute_prepare(crowd->device, kernels, count));
    for (uint32_t l = 0; l < crowd->level_count; l++) TRY(compile_level(crowd, &crowd->levels[l]));
    return CUTIS_OK;
}

cutis_result cutis_crowd_frame_prepare(cutis_crowd *crowd)
{
    for (uint32_t l = 0; l < crowd->level_count; l++) choose_batch(crowd, &crowd->levels[l]);
    TRY(make_scratch(crowd));
    if (crowd->any_on_device) TRY(make_uploads(crowd));
    if (crowd->any_on_host) TRY(cutis_crowd_host_prepare(crowd));
    for (uint32_t l = 0; l < crowd->level_count; l++)
        if (crowd->levels[l].on_device) TRY(make_frames(crowd, &crowd->levels[l]));
    return compile(crowd);
}

void cutis_crowd_frame_destroy(cutis_crowd *crowd)
{
    for (int u = 0; u < 2; u++) {
        if (crowd->uploads[u].staging)
            crowd->device->operations->staging_destroy(crowd->uploads[u].staging);
        else
            cutis_buffer_destroy(crowd->uploads[u].buffer);
    }
    cutis_buffer_destroy(crowd->states);
    cutis_buffer_destroy(crowd->states_before);
    cutis_buffer_destroy(crowd->poses);
    cutis_buffer_destroy(crowd->locals);
    cutis_buffer_destroy(crowd->worlds);
    cutis_buffer_destroy(crowd->palettes);
    cutis_buffer_destroy(crowd->measures);
    cutis_buffer_destroy(crowd->vertices);
    cutis_buffer_destroy(crowd->any_buffer);
}

// A frame -----------------------------------------------------------------------------------------

void cutis_crowd_state_words(const cutis_crowd_instance *instance, int32_t *words)
{
    const cutis_transform identity = cutis_transform_identity();
    memset(words, 0, CROWD_STATE_WORDS * sizeof *words);
    for (uint32_t t = 0; t < instance->track_count; t++) {
        const cutis_crowd_track *track = &instance->tracks[t];
        int32_t *to = words + CROWD_TRACK_WORDS * t;
        memcpy(to, &track->seconds, sizeof track->seconds);
        memcpy(to + 2, &track->speed, sizeof track->speed);
        memcpy(to + 3, &track->weight, sizeof track->weight);
        to[4] = (int32_t)track->clip;
        to[5] = track->once;
    }
    words[CROWD_STATE_COUNT] = (int32_t)instance->track_count;
    words[CROWD_STATE_MOVED] = memcmp(&instance->root, &identity, sizeof identity) != 0;
    memcpy(words + CROWD_STATE_ROOT, &instance->root, sizeof instance->root);
}

/// Who goes up: who changed since the last frame and, where previous states are kept, who did so
/// before that. @return how many; their numbers are in the upload
static uint32_t list_changes(const cutis_crowd *crowd, int32_t *numbers)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < crowd->change_count; i++)
        numbers[count++] = (int32_t)crowd->changes[i];
    for (uint32_t i = 0; i < crowd->change_before_count; i++)
        if (!(crowd->changed[crowd->changes_before[i]] & 1))
            numbers[count++] = (int32_t)crowd->changes_before[i];
    return count;
}

static cutis_result upload(cutis_crowd *crowd, bool drawn_changed)
{
    const cutis_device_operations *operations = crowd->device->operations;
    const uint32_t next = crowd->upload ^ 1;
    crowd_upload *to = &crowd->uploads[next];
    uint64_t drawn = 0;
    for (uint32_t l = 0; l < crowd->level_count; l++) drawn += crowd->levels[l].drawn_count;
    crowd->upload_bytes = 0;
    if (!drawn_changed && !crowd->change_count && !crowd->change_before_count) return CUTIS_OK;
    if (to->staging) TRY(operations->staging_wait(to->staging));
    int32_t *numbers = to->words + drawn;
    memcpy(to->words, crowd->drawn, drawn * sizeof *crowd->drawn);
    const uint32_t changes = list_changes(crowd, numbers);
    int32_t *states = numbers + changes;
    for (uint32_t i = 0; i < changes; i++) {
        cutis_crowd_state_words(&crowd->now[numbers[i]], states);
        states += CROWD_STATE_WORDS;
        if (!crowd->options.previous) continue;
        cutis_crowd_state_words(&crowd->before[numbers[i]], states);
        states += CROWD_STATE_WORDS;
    }
    const uint64_t bytes = (uint64_t)(states - to->words) * sizeof *states;
    if (to->staging && bytes) TRY(operations->staging_send(to->staging, bytes));
    crowd->upload = next;
    crowd->upload_bytes = to->staging ? bytes : 0;
    const uint32_t words = (uint32_t)change_words(crowd) - 1;
    return crowd_update_run(
        crowd->device, changes * words,
        (crowd_update_buffers){
            .changes = to->buffer, .states = crowd->states, .previous = crowd->states_before },
        (crowd_update_arguments){
            .first = (int64_t)drawn, .count = (int)changes, .words = (int)words });
}

static crowd_place place_of(cutis_frame_place place)
{
    return (crowd_place){ .first = (int64_t)place.first, .step = (int64_t)place.step };
}

static cutis_result run_poses(cutis_crowd *crowd, const crowd_level *level, uint32_t first,
                              uint32_t count, bool before, double clock)
{
    const cutis_skin_binding *binding = level->binding;
    const cutis_skin_layout *layout = &binding->layout;
    const cutis_frame_places *places = &level->places;
    const cutis_buffer *states = before ? crowd->states_before : crowd->states;
    const bool turned = layout->formula != CUTIS_FORMULA_LBS;
    const crowd_pose_buffers buffers = { .drawn = crowd->uploads[crowd->upload].buffer,
                                         .states = states,
                                         .state_floats = states,
                                         .state_doubles = states,
                                         .clip_index = crowd->clips.index_buffer,
                                         .clip_floats = crowd->clips.float_buffer,
                                         .rest = crowd->clips.rest_buffer,
                                         .body = level->body,
                                         .body_doubles = level->body_doubles,
                                         .poses = crowd->poses,
                                         .locals = crowd->locals,
                                         .worlds = crowd->worlds,
                                         .palettes = crowd->palettes,
                                         .measures = crowd->measures,
                                         .frames = level->frames };
    const crowd_pose_arguments arguments = {
        .drawn_first = (int)(level->drawn_first + first),
        .placed = crowd->options.placed,
        .clock = clock,
        .node_count = (int)crowd->node_count,
        .target_count = (int)crowd->target_count,
        .channels_at = (int)crowd->clips.channels_at,
        .step_count = (int)binding->step_count,
        .rank_count = (int)level->rank_count,
        .bone_count = (int)binding->bone_count,
        .ranks_at = (int)level->ranks_at,
        .bones_at = (int)level->bones_at,
        .bones_at_double = (int)level->bones_at_double,
        .turned = turned,
        .dual = places->dual.step != 0,
        .measured = turned || layout->normal_rule != CUTIS_NORMAL_NONE || layout->tangents,
        .scales = (int64_t)places->scales,
        .targets = (int64_t)places->targets,
        .matrix = place_of(places->matrix),
        .rotation = place_of(places->rotation),
        .duals = place_of(places->dual),
        .origin = place_of(places->origin),
    };
    TRY(crowd_pose_run(crowd->device, count, buffers, arguments));
    if (layout->formula != CUTIS_FORMULA_SBS || !binding->set_count) return CUTIS_OK;
    return crowd_centres_run(crowd->device, count * binding->set_count,
                             (crowd_centres_buffers){ .sets = level->sets,
                                                      .references = level->references,
                                                      .palettes = crowd->palettes,
                                                      .measures = crowd->measures,
                                                      .frames = level->frames },
                             (crowd_centres_arguments){ .set_count = (int)binding->set_count,
                                                        .bone_count = (int)binding->bone_count,
                                                        .centres = (int64_t)places->centres,
                                                        .limit = binding->centre_limit });
}

static cutis_result pack(const cutis_crowd *crowd, const crowd_level *level, uint32_t count,
                         bool before, cutis_buffer *to, uint64_t at)
{
    const cutis_crowd_level_info *info = &level->info;
    const uint64_t step = before ? info->previous_slot_bytes : info->slot_bytes;
    const uint32_t record = before ? info->previous_record_bytes : info->record_bytes;
    return crowd_pack_run(crowd->device, count * info->vertex_count,
                          (crowd_pack_buffers){ .from = crowd->vertices, .to = to },
                          (crowd_pack_arguments){
                              .from_step = (int64_t)float_step(crowd, level),
                              .to_first = (int64_t)(at / 4),
                              .to_step = (int64_t)(step / 4),
                              .vertex_count = (int)info->vertex_count,
                              .from_words = before ? 3 : (int)float_words(crowd),
                              .to_words = (int)(record / 4),
                              .half_positions = crowd->options.position == CUTIS_CROWD_POSITION_F16,
                              .normals = before ? 0 : (int)crowd->options.normal });
}

/// Slots [first, first + count) of a level. @param before their previous positions
static cutis_result run_batch(cutis_crowd *crowd, const crowd_level *level, uint32_t first,
                              uint32_t count, bool before, double clock, cutis_buffer *buffer,
                              uint64_t offset)
{
    const bool packed = before ? crowd->options.position != CUTIS_CROWD_POSITION_F32 : packs(crowd);
    const uint64_t step = before ? level->info.previous_slot_bytes : level->info.slot_bytes;
    const uint32_t written = packed ? count : level->drawn_count; // what is packed is short-lived
    cutis_outputs outputs;
    targets_of(crowd, level, buffer, offset, first, before, &outputs);
    if (level->on_device) {
        const cutis_skin_targets targets = { .positions = target_of(&outputs.positions),
                                             .normals = target_of(&outputs.normals),
                                             .call_count = written };
        TRY(run_poses(crowd, level, first, count, before, clock));
        TRY(crowd->device->operations->skin_run_placed(level->binding->skin, level->frames,
                                                       &level->places, count, &targets));
    } else {
        TRY(cutis_crowd_host_run(crowd, level, first, count, written, before, clock, &outputs));
    }
    return packed ? pack(crowd, level, count, before, buffer, offset + first * step) : CUTIS_OK;
}

cutis_result cutis_crowd_frame_run(cutis_crowd *crowd, double clock, bool drawn_changed,
                                   const cutis_crowd_output *outputs)
{
    if (crowd->any_on_device) TRY(upload(crowd, drawn_changed));
    for (uint32_t l = 0; l < crowd->level_count; l++) {
        const crowd_level *level = &crowd->levels[l];
        const cutis_crowd_output *out = &outputs[l];
        if (level->info.vertex_count == 0) continue;
        for (uint32_t first = 0; first < level->drawn_count; first += level->batch) {
            const uint32_t left = level->drawn_count - first;
            const uint32_t count = left < level->batch ? left : level->batch;
            TRY(run_batch(crowd, level, first, count, false, clock, out->vertices,
                          out->vertices_offset));
            if (out->previous)
                TRY(run_batch(crowd, level, first, count, true, crowd->clock_before, out->previous,
                              out->previous_offset));
        }
    }
    return CUTIS_OK;
}

cutis_result cutis_crowd_frame_poses(cutis_crowd *crowd, double clock)
{
    for (uint32_t l = 0; l < crowd->level_count; l++) {
        const crowd_level *level = &crowd->levels[l];
        const uint32_t count =
            level->drawn_count < level->batch ? level->drawn_count : level->batch;
        if (level->on_device && count) TRY(run_poses(crowd, level, 0, count, false, clock));
    }
    return CUTIS_OK;
}
