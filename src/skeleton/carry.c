// Morph targets and clips of the input on the new model. Invariant: what is carried over means the
// same there, frame by frame; what would not is left out and noted.
#include "skeleton/carry.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// Places at rest that differ by less than this part of the diagonal, and rotations by less than
// this, are the same: floats that went through a file and another sum.
static const double SAME_REST = 1e-4;

#define CLIPS_NAMED 5u // in the note about those that were left out

static cutis_result no_memory(const cutis_arena *arena)
{
    return cutis_alloc_result(arena->context);
}

// Targets ---------------------------------------------------------------------------------------

static float rest_weight(const cutis_model_data *data, const cutis_instance *instance, uint32_t t)
{
    const cutis_mesh *mesh = &data->meshes[instance->mesh];
    const float *own = data->nodes[instance->node].target_weights;
    return own ? own[t] : mesh->target_weights ? mesh->target_weights[t] : 0;
}

static bool of_pose_space(const cutis_pose_space *space, uint32_t mesh, uint32_t t)
{
    if (!space || space->targets[mesh] == CUTIS_NONE) return false;
    uint32_t first = (uint32_t)space->targets[mesh];
    uint32_t count = space->field_count ? space->field_count : space->pose_count - 1;
    return t >= first && t - first < count;
}

typedef struct {
    const cutis_model_data *data;
    const cutis_instance *instances;
    uint32_t instance_count;
    uint32_t *owners, *meshes, *indices; // per new target: the last instance it has, and where from
} merger;

// The new target that target t of an instance may join, or CUTIS_NOTHING.
static uint32_t find_target(const merger *m, const cutis_carried *c, uint32_t i, uint32_t t)
{
    const cutis_instance *instance = &m->instances[i];
    const cutis_mesh *mesh = &m->data->meshes[instance->mesh];
    const char *name = mesh->target_names ? mesh->target_names[t] : NULL;
    for (uint32_t n = 0; n < c->target_count; n++) {
        bool same = m->meshes[n] == instance->mesh ? m->indices[n] == t
                                                   : name && *name && c->target_names[n] &&
                                                         strcmp(name, c->target_names[n]) == 0;
        if (same && m->owners[n] != i && c->target_weights[n] == rest_weight(m->data, instance, t))
            return n;
    }
    return CUTIS_NOTHING;
}

static void merge_targets(merger *m, cutis_carried *c, uint32_t *left_out)
{
    for (uint32_t i = 0, at = 0; i < m->instance_count; i++) {
        const cutis_instance *instance = &m->instances[i];
        const cutis_mesh *mesh = &m->data->meshes[instance->mesh];
        c->first_targets[i] = at;
        for (uint32_t t = 0; t < mesh->target_count; t++, at++) {
            c->targets[at] = CUTIS_NOTHING;
            if (of_pose_space(m->data->pose_space, instance->mesh, t)) {
                ++*left_out;
                continue;
            }
            uint32_t n = find_target(m, c, i, t);
            if (n == CUTIS_NOTHING) {
                n = c->target_count++;
                c->target_names[n] = mesh->target_names ? mesh->target_names[t] : NULL;
                c->target_weights[n] = rest_weight(m->data, instance, t);
                m->meshes[n] = instance->mesh, m->indices[n] = t;
            }
            m->owners[n] = i;
            c->targets[at] = n;
        }
    }
}

static void note_behind(const cutis_model_data *data, uint32_t targets, cutis_notes *notes)
{
    if (data->pose_space)
        cutis_note(notes,
                   "the pose space and its %u morph targets left out: they belong to the joints of "
                   "the old rig",
                   targets);
    if (data->handles) cutis_note(notes, "the handles left out: they belong to the old rig");
    if (data->cage) cutis_note(notes, "the cage left out: it belongs to the old mesh");
}

cutis_result cutis_carry_targets(const cutis_model *model, const cutis_closed *mesh,
                                 cutis_arena *arena, cutis_notes *notes, cutis_carried *out)
{
    merger m = { .data = cutis_model_get(model) };
    size_t all = cutis_model_target_count(model), table;
    uint32_t left_out = 0;
    *out = (cutis_carried){ 0 };
    m.instance_count = cutis_model_instances(model, &m.instances);
    m.owners = cutis_arena_alloc(arena, all, 3 * sizeof *m.owners);
    out->first_targets = cutis_arena_alloc(arena, m.instance_count, sizeof *out->first_targets);
    out->targets = cutis_arena_alloc(arena, all, sizeof *out->targets);
    out->target_names = cutis_arena_alloc(arena, all, sizeof *out->target_names);
    out->target_weights = cutis_arena_alloc(arena, all, sizeof *out->target_weights);
    if (!m.owners || !out->first_targets || !out->targets || !out->target_names ||
        !out->target_weights)
        return no_memory(arena);
    m.meshes = m.owners + all, m.indices = m.meshes + all;
    merge_targets(&m, out, &left_out);
    table = (size_t)mesh->primitive_count * out->target_count;
    out->sources = cutis_nothings(arena, table);
    if (!out->sources) return no_memory(arena);
    note_behind(m.data, left_out, notes);
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        uint32_t i = mesh->primitives[p].instance;
        if (!mesh->primitives[p].source || !mesh->primitives[p].source->targets) continue;
        for (uint32_t t = 0; t < m.data->meshes[m.instances[i].mesh].target_count; t++) {
            uint32_t n = out->targets[out->first_targets[i] + t];
            if (n != CUTIS_NOTHING) out->sources[(size_t)p * out->target_count + n] = t;
        }
    }
    return CUTIS_OK;
}

bool cutis_transform_mirrors(const float *transform)
{
    double m[12], linear[9];
    double34_from_floats(transform, m);
    double34_linear(m, linear);
    return double33_determinant(linear) < 0;
}

vec3 cutis_transform_vector(const float *transform, bool normal, const float *v)
{
    double m[12], linear[9], cofactor[9], d[3] = { v[0], v[1], v[2] };
    double34_from_floats(transform, m);
    double34_linear(m, linear);
    double33_cofactor(linear, cofactor);
    double33_vector(normal ? cofactor : linear, d, d);
    if (normal && cutis_transform_mirrors(transform)) // cofactors of a mirror turn normals inside
        for (int k = 0; k < 3; k++) d[k] = -d[k];
    return v3_of(d);
}

// Displacements follow their vertices: positions by the transform, normals and tangents so that
// their sum with what they displace keeps its direction.
static void transform_displacement(const cutis_output_primitive *from, uint32_t vertex,
                                   const float *moved, int which, float *out)
{
    const float *bases[] = { NULL, from->source->normals, from->source->tangents };
    vec3 r = cutis_transform_vector(from->transform, which == 1, moved);
    double length = 1;
    if (bases[which])
        length = v3_length(cutis_transform_vector(
            from->transform, which == 1, bases[which] + (which == 1 ? 3u : 4u) * (size_t)vertex));
    v3_put_floats(length > 0 ? v3_divide(r, length) : v3_of_floats(moved), out);
}

void cutis_carry_displacement(const cutis_closed *mesh, const cutis_carried *carried,
                              uint32_t output, uint32_t target, int which, float *out)
{
    const cutis_output_vertex *o = &mesh->outputs[output];
    const cutis_output_primitive *from = &mesh->primitives[o->primitive];
    memset(out, 0, 3 * sizeof *out);
    if (!from->source || o->a != o->b) {
        float a[3], b[3];
        cutis_carry_displacement(mesh, carried, o->a, target, which, a);
        cutis_carry_displacement(mesh, carried, o->b, target, which, b);
        for (int k = 0; k < 3; k++) out[k] = (float)((1 - o->t) * a[k] + o->t * b[k]);
        return;
    }
    uint32_t t = carried->sources[(size_t)o->primitive * carried->target_count + target];
    if (t == CUTIS_NOTHING) return;
    const cutis_morph_target *own = &from->source->targets[t];
    const float *arrays[] = { own->positions, own->normals, own->tangents };
    uint32_t vertex = o->a - from->source_first;
    if (arrays[which])
        transform_displacement(from, vertex, arrays[which] + 3 * (size_t)vertex, which, out);
}

// Clips -----------------------------------------------------------------------------------------

static bool near(const float *a, const float *b, int count, double sign, double reach)
{
    for (int k = 0; k < count; k++)
        if (!(fabs(a[k] - sign * b[k]) <= reach)) return false;
    return true;
}

static bool same_rest(const cutis_node *a, const cutis_node *b, double scale)
{
    const cutis_transform *x = &a->rest, *y = &b->rest;
    return !a->matrix && !b->matrix &&
           near(&x->translation.x, &y->translation.x, 3, 1, SAME_REST * scale) &&
           near(&x->scale.x, &y->scale.x, 3, 1, SAME_REST) &&
           (near(&x->rotation.x, &y->rotation.x, 4, 1, SAME_REST) ||
            near(&x->rotation.x, &y->rotation.x, 4, -1, SAME_REST));
}

// Per node of the input the node of the new rig that stands for it, or CUTIS_NONE.
static void match_nodes(const cutis_model_data *data, const cutis_node *nodes, uint32_t node_count,
                        double scale, int32_t *matches)
{
    for (uint32_t n = 0; n < data->node_count; n++) { // parents come first
        const cutis_node *old = &data->nodes[n];
        int32_t parent = old->parent == CUTIS_NONE ? CUTIS_NONE : matches[old->parent];
        matches[n] = CUTIS_NONE;
        if (!old->name || (old->parent != CUTIS_NONE && parent == CUTIS_NONE)) continue;
        for (uint32_t k = 0; k < node_count && matches[n] == CUTIS_NONE; k++)
            if (nodes[k].name && strcmp(nodes[k].name, old->name) == 0 &&
                nodes[k].parent == parent && same_rest(old, &nodes[k], scale))
                matches[n] = (int32_t)k;
    }
}

// The one instance that all targets come from, or CUTIS_NOTHING.
static uint32_t only_instance(const cutis_model *model)
{
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(model, &instances), found = CUTIS_NOTHING;
    for (uint32_t i = 0; i < count; i++) {
        if (instances[i].target_count == 0) continue;
        if (found != CUTIS_NOTHING) return CUTIS_NOTHING;
        found = i;
    }
    return found;
}

typedef struct {
    const cutis_model *model;
    const cutis_carried *carried;
    const int32_t *matches;
    uint32_t body, instance; // the latter: of all targets, or CUTIS_NOTHING
    cutis_arena *arena;
} carrier;

// Keys of the weights in the order of the new targets.
static bool copy_weights(const carrier *c, const cutis_channel *from, cutis_channel *to)
{
    const cutis_carried *carried = c->carried;
    const cutis_instance *instances;
    cutis_model_instances(c->model, &instances);
    uint32_t old = instances[c->instance].target_count, first = carried->first_targets[c->instance];
    size_t rows =
        (from->interpolation == CUTIS_INTERPOLATION_CUBIC ? 3u : 1u) * (size_t)from->key_count;
    float *values = cutis_arena_alloc(c->arena, rows * carried->target_count, sizeof *values);
    if (!values) return false;
    for (size_t r = 0; r < rows; r++)
        for (uint32_t t = 0; t < old; t++) {
            uint32_t n = carried->targets[first + t];
            if (n != CUTIS_NOTHING)
                values[r * carried->target_count + n] = from->values[r * old + t];
        }
    *to = *from;
    to->node = c->body;
    to->values = values;
    return true;
}

// Joints move all together or not at all; weights of targets by themselves.
static bool copy_clip(const carrier *c, const cutis_clip *from, cutis_clip *to, bool *left,
                      uint32_t *weights)
{
    cutis_channel *channels = cutis_arena_alloc(c->arena, from->channel_count, sizeof *channels);
    const cutis_instance *instances;
    cutis_model_instances(c->model, &instances);
    bool whole = true;
    if (!channels) return false;
    *left = false, *weights = 0;
    for (uint32_t k = 0; k < from->channel_count; k++)
        if (from->channels[k].path != CUTIS_PATH_WEIGHTS)
            whole = whole && c->matches[from->channels[k].node] != CUTIS_NONE;
    *to = (cutis_clip){ .name = from->name, .channels = channels };
    for (uint32_t k = 0; k < from->channel_count; k++) {
        const cutis_channel *channel = &from->channels[k];
        cutis_channel *copy = &channels[to->channel_count];
        if (channel->path != CUTIS_PATH_WEIGHTS) {
            *left = !whole;
            if (*left) continue;
            *copy = *channel;
            copy->node = (uint32_t)c->matches[channel->node];
        } else if (c->instance != CUTIS_NOTHING && c->carried->target_count > 0 &&
                   channel->node == instances[c->instance].node) {
            if (!copy_weights(c, channel, copy)) return false;
        } else {
            ++*weights;
            continue;
        }
        to->channel_count++;
    }
    return true;
}

// One line for all clips whose joints are gone.
static void note_clips(cutis_notes *notes, const cutis_clip *clips, const bool *left,
                       uint32_t count)
{
    char names[300] = "";
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++) {
        size_t used = strlen(names);
        if (!left[i] || ++found > CLIPS_NAMED) continue;
        snprintf(names + used, sizeof names - used, "%s", found > 1 ? ", " : "");
        used = strlen(names);
        if (clips[i].name && *clips[i].name)
            snprintf(names + used, sizeof names - used, "\"%.40s\"", clips[i].name);
        else
            snprintf(names + used, sizeof names - used, "#%u", i);
    }
    if (found)
        cutis_note(notes,
                   "%u clip%s (%s%s) left out: joints of the old rig; `cutis retarget` brings such "
                   "motion to the new one",
                   found, found == 1 ? "" : "s", names, found > CLIPS_NAMED ? ", ..." : "");
}

cutis_result cutis_carry_clips(const cutis_model *model, const cutis_carried *carried,
                               const cutis_node *nodes, uint32_t node_count, uint32_t body,
                               cutis_arena *arena, cutis_notes *notes, cutis_clip **clips,
                               uint32_t *clip_count)
{
    const cutis_model_data *data = cutis_model_get(model);
    double scale = 0;
    int32_t *matches = cutis_arena_alloc(arena, data->node_count, sizeof *matches);
    cutis_clip *list = cutis_arena_alloc(arena, data->clip_count, sizeof *list);
    bool *left = cutis_arena_alloc(arena, data->clip_count, sizeof *left);
    uint32_t lost = 0;
    if (!matches || !list || !left) return no_memory(arena);
    for (uint32_t n = 0; n < node_count; n++) {
        const float *p = &nodes[n].rest.translation.x;
        for (int k = 0; k < 3; k++) scale = fmax(scale, fabs((double)p[k]));
    }
    match_nodes(data, nodes, node_count, scale, matches);
    carrier c = { model, carried, matches, body, only_instance(model), arena };
    *clip_count = 0;
    for (uint32_t i = 0; i < data->clip_count; i++) {
        uint32_t weights;
        cutis_clip *to = &list[*clip_count];
        if (!copy_clip(&c, &data->clips[i], to, &left[i], &weights)) return no_memory(arena);
        *clip_count += to->channel_count > 0;
        lost += weights;
    }
    note_clips(notes, data->clips, left, data->clip_count);
    if (lost)
        cutis_note(notes,
                   "%u channel%s of morph weights left out: targets of several meshes became one "
                   "list",
                   lost, lost == 1 ? "" : "s");
    *clips = list;
    return CUTIS_OK;
}
