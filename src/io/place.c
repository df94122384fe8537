// A change of axes and units, done to everything a reader makes: if S turns and scales, positions p
// become S p and every transform M becomes S M S^-1, so that whatever is deformed afterwards is S
// of what it would have been. Turning is a permutation of axes with signs and loses no bits.
#include "io/place.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/source.h"

/// Entry k of a turned vector is sign[k] times entry axis[k] of the old one; det 1.
typedef struct turn {
    int axis[3];
    float sign[3];
    float scale;
} turn;

static turn make_turn(cutis_place place)
{
    static const turn TURNS[] = {
        [CUTIS_UP_Y] = { { 0, 1, 2 }, { 1, 1, 1 }, 1 },
        [CUTIS_UP_X] = { { 1, 0, 2 }, { -1, 1, 1 }, 1 }, // a quarter about z
        [CUTIS_UP_Z] = { { 0, 2, 1 }, { 1, 1, -1 }, 1 }, // a quarter back about x
    };
    turn t = TURNS[place.up];
    t.scale = place.scale;
    return t;
}

static void turn_vector(const turn *t, float scale, const float *from, float *to)
{
    for (int k = 0; k < 3; k++) to[k] = t->sign[k] * from[t->axis[k]] * scale;
}

static void turn_matrix(const turn *t, const cutis_mat34 *from, cutis_mat34 *to)
{
    for (int i = 0; i < 3; i++) {
        const float *row = from->m + 4 * t->axis[i];
        for (int j = 0; j < 3; j++) to->m[4 * i + j] = t->sign[i] * t->sign[j] * row[t->axis[j]];
        to->m[4 * i + 3] = t->sign[i] * row[3] * t->scale;
    }
}

// `count` vectors, each at the start of `width` floats whose others stay.
static const float *turn_vectors(cutis_arena *arena, const turn *t, float scale, const float *from,
                                 size_t count, size_t width)
{
    float *to = from ? cutis_arena_copy(arena, from, count, width * sizeof *to) : NULL;
    for (size_t i = 0; to && i < count; i++)
        turn_vector(t, scale, from + width * i, to + width * i);
    return to;
}

static bool turn_channel(cutis_arena *arena, const turn *t, cutis_channel *channel)
{
    size_t count = channel->key_count;
    if (channel->interpolation == CUTIS_INTERPOLATION_CUBIC) count *= 3;
    if (channel->path == CUTIS_PATH_WEIGHTS) return true;
    const size_t width = channel->path == CUTIS_PATH_ROTATION ? 4 : 3;
    const float scale = channel->path == CUTIS_PATH_TRANSLATION ? t->scale : 1;
    turn plain = *t; // scales along axes have no sign
    if (channel->path == CUTIS_PATH_SCALE)
        for (int k = 0; k < 3; k++) plain.sign[k] = 1;
    channel->values = turn_vectors(arena, &plain, scale, channel->values, count, width);
    return channel->values != NULL;
}

cutis_clip *cutis_place_clips(cutis_arena *arena, cutis_place place, const cutis_clip *clips,
                              uint32_t count)
{
    const turn t = make_turn(place);
    cutis_clip *out = cutis_arena_copy(arena, clips, count, sizeof *out);
    for (uint32_t c = 0; out && c < count; c++) {
        cutis_channel *channels =
            cutis_arena_copy(arena, clips[c].channels, clips[c].channel_count, sizeof *channels);
        if (!channels) return NULL;
        for (uint32_t i = 0; i < clips[c].channel_count; i++)
            if (!turn_channel(arena, &t, &channels[i])) return NULL;
        out[c].channels = channels;
    }
    return out;
}

static bool turn_primitive(cutis_arena *arena, const turn *t, cutis_primitive *p)
{
    const cutis_primitive old = *p;
    p->positions = turn_vectors(arena, t, t->scale, old.positions, old.vertex_count, 3);
    p->normals = turn_vectors(arena, t, 1, old.normals, old.vertex_count, 3);
    p->tangents = turn_vectors(arena, t, 1, old.tangents, old.vertex_count, 4);
    return p->positions && (p->normals || !old.normals) && (p->tangents || !old.tangents);
}

static bool turn_meshes(cutis_arena *arena, const turn *t, cutis_model_data *data)
{
    cutis_mesh *meshes = cutis_arena_copy(arena, data->meshes, data->mesh_count, sizeof *meshes);
    for (uint32_t m = 0; meshes && m < data->mesh_count; m++) {
        cutis_primitive *primitives = cutis_arena_copy(
            arena, meshes[m].primitives, meshes[m].primitive_count, sizeof *primitives);
        for (uint32_t p = 0; primitives && p < meshes[m].primitive_count; p++)
            if (!turn_primitive(arena, t, &primitives[p])) return false;
        if (!primitives) return false;
        meshes[m].primitives = primitives;
    }
    data->meshes = meshes;
    return meshes != NULL;
}

static bool turn_skeleton(cutis_arena *arena, const turn *t, cutis_model_data *data)
{
    cutis_node *nodes = cutis_arena_copy(arena, data->nodes, data->node_count, sizeof *nodes);
    cutis_skin *skins = cutis_arena_copy(arena, data->skins, data->skin_count, sizeof *skins);
    for (uint32_t i = 0; nodes && i < data->node_count; i++) {
        const cutis_transform old = nodes[i].rest;
        const float *scale = &old.scale.x;
        turn_vector(t, t->scale, &old.translation.x, &nodes[i].rest.translation.x);
        turn_vector(t, 1, &old.rotation.x, &nodes[i].rest.rotation.x);
        nodes[i].rest.scale =
            (cutis_float3){ scale[t->axis[0]], scale[t->axis[1]], scale[t->axis[2]] };
    }
    for (uint32_t s = 0; skins && s < data->skin_count; s++) {
        if (!skins[s].inverse_binds) continue;
        cutis_mat34 *binds = cutis_arena_alloc(arena, skins[s].joint_count, sizeof *binds);
        if (!binds) return false;
        for (uint32_t j = 0; j < skins[s].joint_count; j++)
            turn_matrix(t, &skins[s].inverse_binds[j], &binds[j]);
        skins[s].inverse_binds = binds;
    }
    data->nodes = nodes;
    data->skins = skins;
    return nodes && skins;
}

// What a model remembers of how its file was read: clips that are added later are read alike.
typedef struct memory {
    cutis_source source;
    cutis_context *context;
    cutis_place place;
    float total;
} memory;

static void destroy_memory(cutis_source *source)
{
    memory *m = (memory *)source;
    cutis_free(m->context, m, sizeof *m);
}

cutis_place cutis_place_of(const cutis_source *source, float *total)
{
    const memory *m = (const memory *)source;
    const bool ours = source && source->destroy == destroy_memory;
    if (total) *total = ours ? m->total : 1;
    return ours ? m->place : (cutis_place){ .scale = 1 };
}

double cutis_units_metres(cutis_units units)
{
    static const double METRES[] = { [CUTIS_UNITS_M] = 1,
                                     [CUTIS_UNITS_CM] = 0.01,
                                     [CUTIS_UNITS_MM] = 0.001,
                                     [CUTIS_UNITS_IN] = 0.0254 };
    return (unsigned)units <= CUTIS_UNITS_IN ? METRES[units] : 1;
}

// Fills in what is to be guessed, and says so.
static cutis_result guess(const cutis_input *input, const cutis_model_data *data,
                          cutis_arena *arena, cutis_place *place)
{
    static const char *const UP[] = { "y", "x", "z" }, *const UNITS[] = { "m", "cm", "mm", "in" };
    cutis_read_guess made = { 0 };
    // What is printed layer by layer is printed along z, and most STL is.
    const cutis_up fallback = input->format == CUTIS_FORMAT_STL ? CUTIS_UP_Z : CUTIS_UP_Y;
    if (input->up == CUTIS_UP_AUTO) {
        if (!cutis_guess_up(data, arena, fallback, &made.up, made.up_reason))
            return cutis_alloc_result(input->context);
        place->up = made.up;
        cutis_log(input->context, "%s: guessed --up %s: %s", input->name, UP[made.up],
                  made.up_reason);
    }
    if (input->guess_units) {
        if (!cutis_guess_units(data, arena, place->up, &made.units, made.units_reason))
            return cutis_alloc_result(input->context);
        place->scale = (float)cutis_units_metres(made.units);
        cutis_log(input->context, "%s: guessed --units %s: %s", input->name, UNITS[made.units],
                  made.units_reason);
    }
    if (input->guess) *input->guess = made;
    return CUTIS_OK;
}

cutis_result cutis_input_publish(const cutis_input *input, const cutis_model_data *data,
                                 float total, cutis_model **out)
{
    cutis_context *context = input->context;
    cutis_arena arena = { .context = context };
    cutis_place place = { input->up == CUTIS_UP_AUTO ? CUTIS_UP_Y : input->up, 1 };
    cutis_model_data placed = *data;
    memory *m = NULL;
    cutis_result result = CUTIS_OK;
    if (input->up == CUTIS_UP_AUTO || input->guess_units)
        result = guess(input, data, &arena, &place);
    if (result == CUTIS_OK && (place.up != CUTIS_UP_Y || place.scale != 1)) {
        const turn t = make_turn(place);
        placed.clips = cutis_place_clips(&arena, place, data->clips, data->clip_count);
        if (!placed.clips || !turn_meshes(&arena, &t, &placed) ||
            !turn_skeleton(&arena, &t, &placed))
            result = cutis_alloc_result(context);
    }
    if (result == CUTIS_OK && (place.up != CUTIS_UP_Y || place.scale * total != 1)) {
        m = cutis_alloc_zero(context, 1, sizeof *m);
        if (!m) result = cutis_alloc_result(context);
    }
    if (m) {
        atomic_init(&m->source.references, 1);
        m->source.destroy = destroy_memory;
        m->context = context;
        m->place = (cutis_place){ place.up, place.scale * input->scale };
        m->total = place.scale * total;
        placed.source = &m->source;
    }
    if (result == CUTIS_OK) result = cutis_model_create(context, &placed, input->gate, out);
    if (m) cutis_source_release(&m->source);
    cutis_arena_release(&arena);
    return result;
}
