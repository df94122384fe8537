/// cutis_crowd: checks what a caller gives, keeps the instances, and has the frame run. Invariant:
/// a call that fails changes nothing; a half-built crowd can always be destroyed.
#include "deform/crowd.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "kernel/crowd_time.h"
#include "model/object.h"
#include "model/sampler.h"

// More would not fit the kernels' numbers.
static const uint32_t CAPACITY_MAX = 1u << 24;

// Creation ----------------------------------------------------------------------------------------

static bool same_name(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool same_nodes(const cutis_model_data *a, const cutis_model_data *b)
{
    if (a->node_count != b->node_count) return false;
    for (uint32_t n = 0; n < a->node_count; n++)
        if (a->nodes[n].parent != b->nodes[n].parent ||
            !same_name(a->nodes[n].name, b->nodes[n].name))
            return false;
    return true;
}

/// Which node of the first level each node of this one follows: by name. Its own that the first
/// does not have stay at rest.
static cutis_result map_nodes(cutis_crowd *crowd, crowd_level *level, uint32_t number)
{
    const cutis_model_data *first = &crowd->levels[0].binding->base.model->data;
    const cutis_model_data *own = &level->binding->base.model->data;
    if (same_nodes(first, own)) return CUTIS_OK;
    level->map = cutis_arena_alloc(&crowd->arena, own->node_count, sizeof *level->map);
    if (!level->map) return cutis_alloc_result(crowd->context);
    for (uint32_t n = 0; n < own->node_count; n++) {
        const int32_t parent = own->nodes[n].parent;
        level->map[n] = -1;
        for (uint32_t k = 0; own->nodes[n].name && k < first->node_count; k++)
            if (same_name(own->nodes[n].name, first->nodes[k].name)) level->map[n] = (int32_t)k;
        if (level->map[n] < 0) continue;
        const int32_t above = first->nodes[level->map[n]].parent;
        if (above != (parent == CUTIS_NONE ? CUTIS_NONE : level->map[parent]))
            return UNSUPPORTED(
                crowd->context,
                "crowd: level %u: node \"%s\" hangs on another node than in the first", number,
                own->nodes[n].name);
    }
    return CUTIS_OK;
}

static cutis_result check_level(const cutis_crowd_options *o, uint32_t l)
{
    const cutis_binding *binding = o->levels[l].binding, *first = o->levels[0].binding;
    cutis_context *context = first->context;
    const float distance = o->levels[l].distance, before = l ? o->levels[l - 1].distance : 0;
    if (binding->deformer != &cutis_skin_deformer)
        return UNSUPPORTED(context, "crowd: level %u: %s is no skin of blocks", l,
                           binding->method->name);
    if (binding->device != first->device)
        return INVALID(context, "crowd: level %u is bound to another device than the first", l);
    if (!(distance >= 0) || (l > 0 && (before == 0 || (distance != 0 && distance <= before))))
        return INVALID(context, "crowd: level %u: distances ascend, and only the last may be 0", l);
    if (o->normal && cutis_skin_of(binding)->layout.normal_rule == CUTIS_NORMAL_NONE)
        return INVALID(context, "crowd: level %u is bound without normals", l);
    if (binding->model->target_count != first->model->target_count)
        return UNSUPPORTED(context, "crowd: level %u has %u morph targets, the first %u", l,
                           binding->model->target_count, first->model->target_count);
    return CUTIS_OK;
}

static cutis_result check_options(const cutis_crowd_options *o)
{
    if (!o->levels || o->level_count < 1 || o->level_count > CUTIS_CROWD_LEVELS)
        return CUTIS_INVALID_ARGUMENT;
    for (uint32_t l = 0; l < o->level_count; l++)
        if (!o->levels[l].binding) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = o->levels[0].binding->context;
    for (uint32_t l = 0; l < o->level_count; l++) TRY(check_level(o, l));
    if (o->instance_capacity < 1 || o->instance_capacity > CAPACITY_MAX)
        return INVALID(context, "crowd: a capacity of %u instances is not between 1 and %u",
                       o->instance_capacity, CAPACITY_MAX);
    if ((unsigned)o->position > CUTIS_CROWD_POSITION_F16 ||
        (unsigned)o->normal > CUTIS_CROWD_NORMAL_OCTAHEDRAL)
        return INVALID(context, "crowd: there is no format %d of positions or %d of normals",
                       (int)o->position, (int)o->normal);
    if (!(o->clip_error >= 0 && isfinite(o->clip_error)))
        return INVALID(context, "crowd: clip_error is negative or not finite");
    return CUTIS_OK;
}

static void describe_level(const cutis_crowd *crowd, crowd_level *level)
{
    static const uint32_t POSITION[] = { 12, 8 }, NORMAL[] = { 0, 12, 4 };
    cutis_crowd_level_info *info = &level->info;
    info->vertex_count = level->binding->base.vertex_count;
    info->previous_record_bytes = crowd->options.previous ? POSITION[crowd->options.position] : 0;
    info->record_bytes = POSITION[crowd->options.position] + NORMAL[crowd->options.normal];
    const uint64_t vertices = (info->vertex_count + 3ull) / 4 * 4; // so that slots are 16 bytes
    info->slot_bytes = vertices * info->record_bytes;
    info->previous_slot_bytes = vertices * info->previous_record_bytes;
    info->on_device = level->on_device;
}

/// CUTIS_CROWD_POSES=device|host, for tests: the device's kernels also on CPUs, or never.
static bool device_poses(const cutis_crowd *crowd)
{
    const char *asked = cutis_os_environment("CUTIS_CROWD_POSES");
    if (asked && strcmp(asked, "device") == 0) return true;
    if (asked && strcmp(asked, "host") == 0) return false;
    return crowd->device->operations->staging_create != NULL;
}

static cutis_result make_instances(cutis_crowd *crowd)
{
    const size_t n = crowd->capacity;
    crowd->now = cutis_arena_zero(&crowd->arena, n, sizeof *crowd->now);
    crowd->before = cutis_arena_zero(&crowd->arena, n, sizeof *crowd->before);
    crowd->x = cutis_arena_zero(&crowd->arena, n, 4 * sizeof *crowd->x);
    crowd->changed = cutis_arena_zero(&crowd->arena, n, 2 * sizeof *crowd->changed);
    crowd->changes = cutis_arena_zero(&crowd->arena, n, 3 * sizeof *crowd->changes);
    if (!crowd->now || !crowd->before || !crowd->x || !crowd->changed || !crowd->changes)
        return cutis_alloc_result(crowd->context);
    crowd->y = crowd->x + n, crowd->z = crowd->y + n, crowd->radius = crowd->z + n;
    crowd->chosen = crowd->changed + n;
    crowd->changes_before = crowd->changes + n, crowd->drawn = crowd->changes_before + n;
    return CUTIS_OK;
}

static cutis_result make(cutis_crowd *crowd, const cutis_crowd_options *o)
{
    const bool device = device_poses(crowd);
    TRY(make_instances(crowd));
    TRY(cutis_crowd_clips_make(crowd, o));
    for (uint32_t l = 0; l < crowd->level_count; l++) {
        crowd_level *level = &crowd->levels[l];
        TRY(map_nodes(crowd, level, l));
        if (device) TRY(cutis_crowd_body_is_rigid(crowd, level, &level->on_device));
        describe_level(crowd, level);
        if (level->on_device) TRY(cutis_crowd_body_make(crowd, level));
        crowd->any_on_device = crowd->any_on_device || level->on_device;
        crowd->any_on_host = crowd->any_on_host || !level->on_device;
    }
    if (crowd->any_on_device) TRY(cutis_crowd_clips_upload(crowd));
    TRY(cutis_crowd_bounds_make(crowd));
    return cutis_crowd_frame_prepare(crowd);
}

cutis_result cutis_crowd_create(const cutis_crowd_options *options, cutis_crowd **out)
{
    cutis_crowd_options o;
    if (out) *out = NULL;
    if (!options || !out) return CUTIS_INVALID_ARGUMENT;
    if (!cutis_options_copy(&o, sizeof o, sizeof o, options)) return CUTIS_UNSUPPORTED;
    TRY(check_options(&o));
    cutis_context *context = o.levels[0].binding->context;
    cutis_crowd *crowd = cutis_alloc_zero(context, 1, sizeof *crowd);
    if (!crowd) return cutis_alloc_result(context);
    crowd->context = crowd->arena.context = context;
    crowd->device = o.levels[0].binding->device;
    crowd->options = o;
    crowd->capacity = o.instance_capacity;
    crowd->level_count = o.level_count;
    for (uint32_t l = 0; l < o.level_count; l++) {
        crowd->levels[l].binding = (cutis_skin_binding *)o.levels[l].binding;
        crowd->levels[l].distance = o.levels[l].distance;
    }
    const cutis_model *model = o.levels[0].binding->model;
    crowd->node_count = model->data.node_count;
    crowd->target_count = model->target_count;
    cutis_result result = make(crowd, &o);
    crowd->options.levels = NULL, crowd->options.clips = NULL;
    if (result != CUTIS_OK) {
        cutis_crowd_destroy(crowd);
        return cutis_fail_in(context, result);
    }
    *out = crowd;
    return CUTIS_OK;
}

void cutis_crowd_destroy(cutis_crowd *crowd)
{
    if (!crowd) return;
    cutis_crowd_frame_destroy(crowd);
    for (uint32_t l = 0; l < crowd->level_count; l++) cutis_crowd_body_destroy(&crowd->levels[l]);
    cutis_crowd_clips_destroy(crowd);
    cutis_arena_release(&crowd->arena);
    cutis_free(crowd->context, crowd, sizeof *crowd);
}

// What there is ---------------------------------------------------------------------------------

cutis_crowd_info cutis_crowd_describe(const cutis_crowd *crowd)
{
    cutis_crowd_info info = { 0 };
    if (!crowd) return info;
    info.level_count = crowd->level_count;
    for (uint32_t l = 0; l < crowd->level_count; l++) info.levels[l] = crowd->levels[l].info;
    info.clip_count = crowd->clips.count;
    info.clip_bytes = crowd->clips.index_count * sizeof *crowd->clips.index +
                      crowd->clips.float_count * sizeof *crowd->clips.floats;
    info.clip_bytes_plain = crowd->clips.plain_bytes;
    info.clip_error = (float)crowd->clips.error;
    info.device_bytes = crowd->device_bytes;
    for (uint32_t c = 0; c <= crowd->clips.count; c++)
        if (crowd->clips.balls[c].radius > info.radius)
            info.radius = (float)crowd->clips.balls[c].radius;
    return info;
}

float cutis_crowd_clip_duration(const cutis_crowd *crowd, uint32_t clip)
{
    return crowd && clip < crowd->clips.count ? crowd->clips.samplers[clip]->duration : 0;
}

float cutis_crowd_clip_sphere(const cutis_crowd *crowd, uint32_t clip, cutis_float3 *centre)
{
    if (centre) *centre = (cutis_float3){ 0, 0, 0 };
    if (!crowd || clip >= crowd->clips.count) return 0;
    const crowd_ball *ball = &crowd->clips.balls[clip];
    const double *c = ball->centre;
    if (centre) *centre = (cutis_float3){ (float)c[0], (float)c[1], (float)c[2] };
    return (float)ball->radius;
}

float cutis_crowd_track_time(const cutis_crowd *crowd, const cutis_crowd_track *track, double clock)
{
    if (!crowd || !track) return 0;
    return crowd_time(track->seconds, track->speed, clock,
                      cutis_crowd_clip_duration(crowd, track->clip), track->once);
}

uint32_t cutis_crowd_drawn(const cutis_crowd *crowd, uint32_t level, const uint32_t **instances)
{
    if (instances) *instances = NULL;
    if (!crowd || level >= crowd->level_count) return 0;
    if (instances) *instances = crowd->drawn + crowd->levels[level].drawn_first;
    return crowd->levels[level].drawn_count;
}

uint64_t cutis_crowd_uploaded(const cutis_crowd *crowd)
{
    return crowd ? crowd->upload_bytes : 0;
}

// Instances -------------------------------------------------------------------------------------

static bool root_is_good(const cutis_transform *t)
{
    const float *f = &t->translation.x;
    bool good = t->scale.x > 0 && t->scale.x == t->scale.y && t->scale.x == t->scale.z;
    for (int i = 0; i < 10; i++) good = good && isfinite(f[i]);
    return good;
}

static cutis_result check_instance(const cutis_crowd *crowd, const cutis_crowd_instance *given,
                                   uint32_t number)
{
    cutis_context *context = crowd->context;
    if (!root_is_good(&given->root))
        return INVALID(context,
                       "crowd: instance %u: its root is not finite, or its scales are not "
                       "equal and positive",
                       number);
    if (given->track_count > CUTIS_CROWD_TRACKS)
        return INVALID(context, "crowd: instance %u: %u tracks are more than %u", number,
                       given->track_count, (unsigned)CUTIS_CROWD_TRACKS);
    for (uint32_t t = 0; t < given->track_count; t++) {
        const cutis_crowd_track *track = &given->tracks[t];
        if (track->clip >= crowd->clips.count)
            return INVALID(context, "crowd: instance %u: no clip %u; the crowd has %u", number,
                           track->clip, crowd->clips.count);
        if (!isfinite(track->seconds) || !isfinite(track->speed))
            return INVALID(context, "crowd: instance %u: a track's time is not finite", number);
        if (t > 0 && !(track->weight >= 0 && track->weight <= 1))
            return INVALID(context, "crowd: instance %u: a track's weight is not between 0 and 1",
                           number);
    }
    return CUTIS_OK;
}

static cutis_result check_range(const cutis_crowd *crowd, uint32_t first, uint32_t count,
                                const void *given)
{
    if (!crowd) return CUTIS_INVALID_ARGUMENT;
    if (first > crowd->count || count > crowd->count - first)
        return INVALID(crowd->context, "crowd: instances %u to %llu of %u", first,
                       (unsigned long long)first + count, crowd->count);
    if (count && !given) return INVALID(crowd->context, "crowd: instances may not be NULL");
    return CUTIS_OK;
}

static void note_change(cutis_crowd *crowd, uint32_t instance)
{
    if (!(crowd->changed[instance] & 1)) crowd->changes[crowd->change_count++] = instance;
    crowd->changed[instance] |= 1;
    cutis_crowd_bound(crowd, instance);
}

cutis_result cutis_crowd_resize(cutis_crowd *crowd, uint32_t instance_count)
{
    if (!crowd) return CUTIS_INVALID_ARGUMENT;
    if (instance_count > crowd->capacity)
        return INVALID(crowd->context, "crowd: %u instances are more than the capacity of %u",
                       instance_count, crowd->capacity);
    const uint32_t before = crowd->count;
    crowd->count = instance_count;
    for (uint32_t i = before; i < instance_count; i++) {
        crowd->now[i] =
            (cutis_crowd_instance){ .root = cutis_transform_identity(), .hidden = true };
        crowd->changed[i] |= 4; // it has no past
        note_change(crowd, i);
    }
    return CUTIS_OK;
}

cutis_result cutis_crowd_set(cutis_crowd *crowd, uint32_t first, uint32_t count,
                             const cutis_crowd_instance *instances)
{
    TRY(check_range(crowd, first, count, instances));
    for (uint32_t i = 0; i < count; i++) TRY(check_instance(crowd, &instances[i], first + i));
    for (uint32_t i = 0; i < count; i++) {
        crowd->now[first + i] = instances[i];
        note_change(crowd, first + i);
    }
    return CUTIS_OK;
}

cutis_result cutis_crowd_place(cutis_crowd *crowd, uint32_t first, uint32_t count,
                               const cutis_transform *roots)
{
    TRY(check_range(crowd, first, count, roots));
    for (uint32_t i = 0; i < count; i++)
        if (!root_is_good(&roots[i]))
            return INVALID(crowd->context,
                           "crowd: instance %u: its root is not finite, or its "
                           "scales are not equal and positive",
                           first + i);
    for (uint32_t i = 0; i < count; i++) {
        crowd->now[first + i].root = roots[i];
        note_change(crowd, first + i);
    }
    return CUTIS_OK;
}

// Frames ----------------------------------------------------------------------------------------

void cutis_crowd_view_from_matrix(const float matrix[16], cutis_float3 eye, cutis_crowd_view *view)
{
    if (!matrix || !view) return;
    *view = (cutis_crowd_view){ .eye = eye };
    for (int axis = 0; axis < 3; axis++)
        for (int side = -1; side <= 1; side += 2) { // w + x >= 0, w - x >= 0, ...
            float *n = view->planes[view->plane_count];
            float square = 0;
            for (int c = 0; c < 4; c++) n[c] = matrix[12 + c] - (float)side * matrix[4 * axis + c];
            for (int c = 0; c < 3; c++) square += n[c] * n[c];
            if (square > 0) view->plane_count++; // an endless camera has no far plane
        }
    for (uint32_t p = view->plane_count; p < CUTIS_CROWD_PLANES; p++)
        memset(view->planes[p], 0, sizeof view->planes[p]);
}

static cutis_result check_view(const cutis_crowd *crowd, double clock, const cutis_crowd_view *view)
{
    cutis_context *context = crowd->context;
    if (!isfinite(clock)) return INVALID(context, "crowd: the clock is not finite");
    if (!view) return CUTIS_OK;
    if (!isfinite(view->eye.x) || !isfinite(view->eye.y) || !isfinite(view->eye.z))
        return INVALID(context, "crowd: the eye is not finite");
    if (view->plane_count > CUTIS_CROWD_PLANES)
        return INVALID(context, "crowd: %u planes are more than %u", view->plane_count,
                       (unsigned)CUTIS_CROWD_PLANES);
    for (uint32_t p = 0; p < view->plane_count; p++) {
        const float *n = view->planes[p];
        const double square = (double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2];
        if (!(square > 0) || !isfinite(square) || !isfinite(n[3]))
            return INVALID(context, "crowd: plane %u has no direction or is not finite", p);
    }
    return CUTIS_OK;
}

/// Does what is drawn fit its buffer?
static cutis_result check_buffer(const cutis_crowd *crowd, uint32_t l, const char *name,
                                 const cutis_buffer *buffer, uint64_t offset, uint64_t slot)
{
    const uint32_t count = crowd->levels[l].drawn_count;
    if (buffer->device != crowd->device || offset % 16)
        return INVALID(crowd->context, "crowd: level %u: %s: %s", l, name,
                       offset % 16 ? "the offset is no multiple of 16"
                                   : "the buffer belongs to another device");
    if (offset > buffer->size || slot * count > buffer->size - offset)
        return cutis_fail(crowd->context, CUTIS_BUFFER_TOO_SMALL,
                          "crowd: level %u: %s of %u instances need %llu bytes, of which there are "
                          "%llu",
                          l, name, count, (unsigned long long)(slot * count),
                          (unsigned long long)(offset > buffer->size ? 0 : buffer->size - offset));
    return CUTIS_OK;
}

static cutis_result check_outputs(const cutis_crowd *crowd, const cutis_crowd_output *outputs)
{
    for (uint32_t l = 0; l < crowd->level_count; l++) {
        const crowd_level *level = &crowd->levels[l];
        const cutis_crowd_output *out = &outputs[l];
        if (level->drawn_count == 0) continue;
        if (!out->vertices)
            return INVALID(crowd->context,
                           "crowd: level %u: %u instances are drawn, but there is "
                           "no buffer of vertices",
                           l, level->drawn_count);
        TRY(check_buffer(crowd, l, "vertices", out->vertices, out->vertices_offset,
                         level->info.slot_bytes));
        if (!out->previous) continue;
        if (!crowd->options.previous)
            return INVALID(crowd->context,
                           "crowd: level %u: previous positions were not asked for "
                           "when the crowd was made",
                           l);
        TRY(check_buffer(crowd, l, "previous positions", out->previous, out->previous_offset,
                         level->info.previous_slot_bytes));
    }
    return CUTIS_OK;
}

/// What is now is the past of the next frame.
static void keep_past(cutis_crowd *crowd, double clock)
{
    uint32_t *swap = crowd->changes_before;
    for (uint32_t i = 0; i < crowd->change_count; i++) {
        const uint32_t instance = crowd->changes[i];
        crowd->changed[instance] &= (uint8_t)~1u;
        if (crowd->options.previous) crowd->before[instance] = crowd->now[instance];
    }
    crowd->changes_before = crowd->changes;
    crowd->change_before_count = crowd->options.previous ? crowd->change_count : 0;
    crowd->changes = swap;
    crowd->change_count = 0;
    crowd->clock_before = clock;
    crowd->has_run = true;
}

cutis_result cutis_crowd_run(cutis_crowd *crowd, double clock, const cutis_crowd_view *view,
                             const cutis_crowd_output *outputs)
{
    if (!crowd) return CUTIS_INVALID_ARGUMENT;
    if (!outputs) return INVALID(crowd->context, "crowd: outputs may not be NULL");
    TRY(check_view(crowd, clock, view));
    crowd->drawn_changed |= cutis_crowd_cull(crowd, view);
    TRY(check_outputs(crowd, outputs));
    if (!crowd->has_run) crowd->clock_before = clock;
    for (uint32_t i = 0; i < crowd->change_count; i++) { // whoever has no past begins now
        const uint32_t instance = crowd->changes[i];
        if (crowd->changed[instance] & 4) crowd->before[instance] = crowd->now[instance];
        crowd->changed[instance] &= (uint8_t)~4u;
    }
    TRY(cutis_crowd_frame_run(crowd, clock, crowd->drawn_changed, outputs));
    crowd->drawn_changed = false;
    keep_past(crowd, clock);
    return CUTIS_OK;
}
