// The model that comes out: new joints at the end of the nodes, their tracks at the end of the
// clips' channels, skins with them, weights. Invariant: what was there keeps its place and value,
// but for weights, a pose space and the morph targets that were its alone.
#include "fit/bake/job.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/quat.h"

// Keys that differ by less from the first are one key: a unit in the last place of a metre.
static const float SAME_KEY = 1e-7f;

typedef struct builder {
    cutis_bake_job *job;
    cutis_model_data data;
    uint32_t space_count; ///< skins, or instances of a bare body
    int32_t *place;       ///< [space][helper]: its number among the skin's new joints, or -1
    uint32_t *added;      ///< per space: new joints
    cutis_mat34 *parent_world;
    double *world; ///< 12 per helper and frame: its node in world space
    double *rest;  ///< 12 per helper: at rest
    cutis_node *nodes;
    uint8_t *bare_targets; ///< per mesh: its morph targets go
} builder;

// Nodes -------------------------------------------------------------------------------------------

// M W0: a helper's node in world space, from its centred matrix. W0 stands at the pivot, unturned.
static void node_world(const cutis_bake_job *job, uint32_t helper, const double *m, double *out)
{
    const double *pivot = job->pivot + 3 * (size_t)helper;
    memcpy(out, m, 12 * sizeof *out);
    for (size_t i = 0; i < 3; i++)
        out[4 * i + 3] = double3_dot(m + 4 * i, pivot) + m[4 * i + 3] + job->centre[i];
}

static const double *helper_world(const builder *b, uint32_t helper, uint32_t frame)
{
    return b->world + 12 * ((size_t)helper * b->job->frames->count + frame);
}

static void fill_worlds(builder *b)
{
    const cutis_bake_job *job = b->job;
    double m[12];
    for (uint32_t h = 0; h < job->solution.helper_count; h++) {
        for (int k = 0; k < 2; k++) {
            const cutis_bake_part *part = k ? &job->others : &job->learned;
            for (uint32_t f = 0; f < part->count; f++) {
                cutis_bake_matrix(part->helpers + h * 12 * part->stride, part->stride, f, m);
                node_world(job, h, m,
                           b->world + 12 * ((size_t)h * job->frames->count + part->frame[f]));
            }
        }
        if (job->bare) {
            double34_identity(m);
        } else {
            cutis_bake_joint(job, job->parent_bone[h], job->rest_world, m);
            cutis_bake_rigid(m, job->pivot + 3 * (size_t)h);
        }
        node_world(job, h, m, b->rest + 12 * (size_t)h);
    }
}

// Local transform of a node below another. Both are scaled rotations, or near enough.
static cutis_transform local_of(const double *parent, const double *world)
{
    double inverse[12], m[12], r[9], q[4];
    if (parent && double34_invert(parent, inverse))
        double34_multiply(inverse, world, m);
    else
        // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): every bone has a world
        memcpy(m, world, sizeof m);
    double34_linear(m, r);
    // Of a scaled rotation; a root, not cbrt, whose last bit is a matter of the C library.
    const double square = double33_square(r), scale = square > 0 ? sqrt(square / 3) : 1;
    for (int k = 0; k < 9; k++) r[k] /= scale;
    cutis_quat_from_mat3(r, q);
    const float s = (float)scale;
    return (cutis_transform){ { (float)m[3], (float)m[7], (float)m[11] },
                              { (float)q[1], (float)q[2], (float)q[3], (float)q[0] },
                              { s, s, s } };
}

// @param frame UINT32_MAX: at rest
static cutis_transform helper_local(const builder *b, uint32_t helper, uint32_t frame)
{
    const cutis_bake_job *job = b->job;
    const int32_t parent = job->parent[helper];
    const bool rest = frame == UINT32_MAX;
    const double *world = rest ? b->rest + 12 * (size_t)helper : helper_world(b, helper, frame);
    double above[12];
    if (parent == CUTIS_NONE) return local_of(NULL, world);
    if (job->bare)
        return local_of(
            rest ? b->rest + 12 * (size_t)parent : helper_world(b, (uint32_t)parent, frame), world);
    const cutis_mat34 *worlds = rest || !job->frames->poses
                                    ? job->rest_world
                                    : job->world + (size_t)frame * job->data->node_count;
    double34_from_floats(worlds[parent].m, above);
    return local_of(above, world);
}

static bool name_taken(const cutis_model_data *data, const char *name)
{
    for (uint32_t n = 0; n < data->node_count; n++)
        if (data->nodes[n].name && strcmp(data->nodes[n].name, name) == 0) return true;
    return false;
}

static const char *helper_name(const cutis_bake_job *job, uint32_t number)
{
    char name[64];
    const char *head = job->bare ? "bone" : "helper";
    snprintf(name, sizeof name, "%s_%u", head, number);
    for (uint32_t k = 2; name_taken(job->data, name) && k < 1000; k++)
        snprintf(name, sizeof name, "%s_%u_%u", head, number, k);
    return cutis_arena_string(job->arena, name);
}

static bool build_nodes(builder *b)
{
    const cutis_bake_job *job = b->job;
    const uint32_t old = job->data->node_count, count = job->solution.helper_count;
    b->nodes = cutis_arena_alloc(job->arena, old + (size_t)count, sizeof *b->nodes);
    if (!b->nodes) return false;
    memcpy(b->nodes, job->data->nodes, old * sizeof *b->nodes);
    for (uint32_t h = 0; h < count; h++) {
        cutis_node *node = &b->nodes[old + job->order[h]];
        const int32_t parent = job->parent[h];
        *node = cutis_node_default();
        node->name = helper_name(job, job->order[h]);
        node->rest = helper_local(b, h, UINT32_MAX);
        node->parent = parent == CUTIS_NONE ? CUTIS_NONE
                       : job->bare          ? (int32_t)(old + job->order[parent])
                                            : parent;
        if (!node->name) return false;
    }
    for (uint32_t i = 0; i < job->instance_count && job->bare; i++)
        b->nodes[job->instances[i].node].skin = (int32_t)(job->data->skin_count + i);
    b->data.nodes = b->nodes, b->data.node_count = old + count;
    return true;
}

// Skins -------------------------------------------------------------------------------------------

static bool place_helpers(builder *b)
{
    cutis_bake_job *job = b->job;
    const cutis_bake_solution *s = &job->solution;
    const uint32_t count = s->helper_count, slots = job->problem.influences;
    b->space_count = job->bare ? job->instance_count : job->data->skin_count;
    b->place = cutis_arena_alloc(job->arena, (size_t)b->space_count * count + 1, sizeof *b->place);
    b->added = cutis_arena_zero(job->arena, b->space_count + (size_t)1, sizeof *b->added);
    if (!b->place || !b->added) return false;
    memset(b->place, 0xff, (size_t)b->space_count * count * sizeof *b->place);
    for (uint32_t i = 0; i < job->point_count; i++)
        for (uint32_t k = 0; k < s->count[i] && !cutis_bake_is_kept(job, i); k++)
            if (s->bone[(size_t)i * slots + k] >= job->joint_count)
                b->place[(size_t)job->space[i] * count + s->bone[(size_t)i * slots + k] -
                         job->joint_count] = 0;
    for (uint32_t space = 0; space < b->space_count; space++)
        for (uint32_t h = 0; h < count; h++)
            if (b->place[(size_t)space * count + h] == 0)
                b->place[(size_t)space * count + h] = (int32_t)b->added[space]++;
    return true;
}

// Joints of a skin and their inverse binds: W0^-1 * bind for helpers.
static bool build_skin(builder *b, uint32_t space, const cutis_skin *old, cutis_skin *out)
{
    const cutis_bake_job *job = b->job;
    const uint32_t before = old ? old->joint_count : 0, count = job->solution.helper_count;
    uint32_t *joints =
        cutis_arena_alloc(job->arena, before + (size_t)b->added[space] + 1, sizeof *joints);
    cutis_mat34 *binds =
        cutis_arena_zero(job->arena, before + (size_t)b->added[space] + 1, sizeof *binds);
    if (!joints || !binds) return false;
    for (uint32_t j = 0; j < before; j++) {
        joints[j] = old->joints[j];
        if (old->inverse_binds)
            binds[j] = old->inverse_binds[j];
        else
            binds[j].m[0] = binds[j].m[5] = binds[j].m[10] = 1;
    }
    for (uint32_t h = 0; h < count; h++) {
        const int32_t at = b->place[(size_t)space * count + h];
        if (at < 0) continue;
        joints[before + (uint32_t)at] = job->data->node_count + job->order[h];
        float *m = binds[before + (uint32_t)at].m;
        for (size_t i = 0; i < 3; i++)
            for (size_t j = 0; j < 4; j++)
                m[4 * i + j] =
                    (float)(job->bind[space][4 * i + j] -
                            (j == 3 ? job->pivot[3 * (size_t)h + i] + job->centre[i] : 0));
    }
    *out = old ? *old : cutis_skin_default();
    out->joint_count = before + b->added[space];
    out->joints = joints, out->inverse_binds = binds;
    return true;
}

static bool build_skins(builder *b)
{
    cutis_bake_job *job = b->job;
    const uint32_t old = job->data->skin_count, more = job->bare ? job->instance_count : 0;
    cutis_skin *skins = cutis_arena_alloc(job->arena, old + (size_t)more + 1, sizeof *skins);
    if (!skins) return false;
    if (old) memcpy(skins, job->data->skins, old * sizeof *skins);
    for (uint32_t s = 0; s < old && !job->bare; s++)
        if (job->bone_first[s] != UINT32_MAX && b->added[s] &&
            !build_skin(b, s, &job->data->skins[s], &skins[s]))
            return false;
    for (uint32_t i = 0; i < more; i++)
        if (!build_skin(b, i, NULL, &skins[old + i])) return false;
    b->data.skins = skins, b->data.skin_count = old + more;
    return true;
}

// Meshes ------------------------------------------------------------------------------------------

// Influences of a vertex as joints of its skin. @return how many
static uint32_t vertex_weights(const builder *b, uint32_t space, uint32_t point, uint32_t *joints,
                               float *weights)
{
    const cutis_bake_job *job = b->job;
    const cutis_bake_solution *s = &job->solution;
    const uint32_t slots = job->problem.influences, first = job->bare ? 0 : job->bone_first[space];
    uint32_t count = 0;
    if (cutis_bake_is_kept(job, point)) {
        for (uint32_t k = job->first[point]; k < job->first[point + 1]; k++) {
            joints[count] = job->joint[k] - first;
            weights[count++] = (float)job->weight[k];
        }
        return count;
    }
    const uint32_t before = job->bare ? 0 : job->data->skins[space].joint_count;
    for (uint32_t k = 0; k < s->count[point]; k++) {
        const uint32_t bone = s->bone[(size_t)point * slots + k];
        joints[count] =
            bone < job->joint_count
                ? bone - first
                : before +
                      (uint32_t)b->place[(size_t)space * s->helper_count + bone - job->joint_count];
        weights[count++] = (float)s->weight[(size_t)point * slots + k];
    }
    return count;
}

static bool build_primitive(builder *b, uint32_t space, uint32_t vertex, cutis_primitive *primitive)
{
    cutis_bake_job *job = b->job;
    const size_t n = primitive->vertex_count, slots = job->problem.influences;
    uint32_t *first = cutis_arena_alloc(job->arena, n + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(job->arena, n * slots + 1, sizeof *joints);
    float *weights = cutis_arena_alloc(job->arena, n * slots + 1, sizeof *weights);
    if (!first || !joints || !weights) return false;
    first[0] = 0;
    for (size_t v = 0; v < n; v++) {
        const uint32_t point = job->vertex_point[vertex + v];
        job->kept_count += cutis_bake_is_kept(job, point);
        first[v + 1] =
            first[v] + vertex_weights(b, space, point, joints + first[v], weights + first[v]);
    }
    primitive->influences = (cutis_influences){ first, joints, weights };
    return true;
}

// Morph targets of a primitive, from common space back to the mesh's.
static bool build_targets(builder *b, uint32_t space, uint32_t vertex, cutis_primitive *primitive)
{
    cutis_bake_job *job = b->job;
    const size_t n = primitive->vertex_count;
    double inverse[12];
    double34_identity(inverse);
    double34_invert(job->bind[space], inverse);
    cutis_morph_target *targets = cutis_arena_zero(job->arena, job->morph_count, sizeof *targets);
    if (!targets) return false;
    for (uint32_t k = 0; k < job->morph_count; k++) {
        float *to = cutis_arena_alloc(job->arena, n, 3 * sizeof *to);
        if (!to) return false;
        for (size_t v = 0; v < n; v++) {
            const uint32_t point = job->vertex_point[vertex + v];
            const double *d = job->morphs + ((size_t)k * job->point_count + point) * 3;
            for (size_t r = 0; r < 3; r++) to[3 * v + r] = (float)double3_dot(inverse + 4 * r, d);
        }
        targets[k].positions = to;
    }
    primitive->targets = targets;
    return true;
}

static bool name_targets(const builder *b, cutis_mesh *mesh)
{
    cutis_bake_job *job = b->job;
    const char **names = cutis_arena_alloc(job->arena, job->morph_count, sizeof *names);
    for (uint32_t k = 0; names && k < job->morph_count; k++) {
        names[k] = cutis_arena_format(job->arena, "baked_%u", k);
        if (!names[k]) return false;
    }
    mesh->target_count = job->morph_count, mesh->target_names = names;
    return names != NULL;
}

// Morph targets that are a pose space's alone go with it.
bool cutis_bake_loses_targets(const cutis_bake_job *job, uint32_t mesh)
{
    const cutis_pose_space *space = job->data->pose_space;
    if (!space || space->targets[mesh] == CUTIS_NONE) return false;
    const uint32_t own = space->field_count ? space->field_count : space->pose_count - 1;
    return job->data->meshes[mesh].target_count == own;
}

static bool build_meshes(builder *b)
{
    cutis_bake_job *job = b->job;
    cutis_mesh *meshes =
        cutis_arena_copy(job->arena, job->data->meshes, job->data->mesh_count, sizeof *meshes);
    b->bare_targets = cutis_arena_zero(job->arena, job->data->mesh_count + (size_t)1, 1);
    if (!meshes || !b->bare_targets) return false;
    for (uint32_t m = 0; m < job->data->mesh_count; m++) {
        cutis_primitive *primitives = cutis_arena_copy(
            job->arena, meshes[m].primitives, meshes[m].primitive_count, sizeof *primitives);
        if (!primitives) return false;
        meshes[m].primitives = primitives;
        b->bare_targets[m] = cutis_bake_loses_targets(job, m);
        if (!b->bare_targets[m]) continue;
        meshes[m].target_count = 0, meshes[m].target_names = NULL, meshes[m].target_weights = NULL;
        for (uint32_t k = 0; k < meshes[m].primitive_count; k++) primitives[k].targets = NULL;
    }
    for (uint32_t i = 0; i < job->instance_count; i++) {
        const cutis_instance *instance = &job->instances[i];
        uint32_t vertex = instance->vertex_first;
        if (b->bare_targets[instance->mesh]) b->nodes[instance->node].target_weights = NULL;
        for (uint32_t k = 0; job->baked[i] && k < meshes[instance->mesh].primitive_count; k++) {
            cutis_primitive *primitive = (cutis_primitive *)&meshes[instance->mesh].primitives[k];
            const uint32_t space = job->bare ? i : (uint32_t)instance->skin;
            if (!build_primitive(b, space, vertex, primitive) ||
                (job->morph_count && !build_targets(b, space, vertex, primitive)))
                return false;
            vertex += primitive->vertex_count;
        }
        if (job->morph_count && job->baked[i] && !name_targets(b, &meshes[instance->mesh]))
            return false;
    }
    b->data.meshes = meshes;
    // Both belong to other weights; handles also to a skin of theirs alone.
    b->data.pose_space = NULL, b->data.handles = NULL;
    return true;
}

// Clips -------------------------------------------------------------------------------------------

// One key where they are all alike.
static void join_keys(cutis_channel *channel, uint32_t width)
{
    for (size_t k = width; k < (size_t)channel->key_count * width; k++)
        if (!(fabsf(channel->values[k] - channel->values[k % width]) <= SAME_KEY)) return;
    channel->key_count = 1;
}

static bool build_tracks(const builder *b, uint32_t helper, uint32_t first, uint32_t end,
                         const float *times, cutis_channel *out)
{
    const cutis_bake_job *job = b->job;
    const uint32_t count = end - first;
    float *places = cutis_arena_alloc(job->arena, count, 3 * sizeof *places);
    float *turns = cutis_arena_alloc(job->arena, count, 4 * sizeof *turns);
    if (!places || !turns) return false;
    for (uint32_t f = 0; f < count; f++) {
        const cutis_transform t = helper_local(b, helper, first + f);
        float *q = turns + 4 * (size_t)f;
        memcpy(places + 3 * (size_t)f, &t.translation, 3 * sizeof *places);
        memcpy(q, &t.rotation, 4 * sizeof *q);
        float dot = 0;
        for (int k = 0; k < 4 && f > 0; k++) dot += q[k] * q[k - 4];
        for (int k = 0; k < 4 && dot < 0; k++) q[k] = -q[k]; // the short way to the next key
    }
    const uint32_t node = job->data->node_count + job->order[helper];
    out[0] =
        (cutis_channel){ node,  CUTIS_PATH_TRANSLATION, CUTIS_INTERPOLATION_LINEAR, count, times,
                         places };
    out[1] = (cutis_channel){ node, CUTIS_PATH_ROTATION, CUTIS_INTERPOLATION_LINEAR, count, times,
                              turns };
    join_keys(&out[0], 3), join_keys(&out[1], 4);
    return true;
}

// Weights of the morph targets of all meshes: one channel a node, one set of values.
static bool build_morph_tracks(const builder *b, uint32_t first, uint32_t end, const float *times,
                               cutis_channel *out, uint32_t *count)
{
    const cutis_bake_job *job = b->job;
    float *values =
        cutis_arena_alloc(job->arena, end - first, job->morph_count * sizeof *values + 1);
    if (!values) return false;
    for (uint32_t f = first; f < end; f++)
        for (uint32_t k = 0; k < job->morph_count; k++)
            values[(size_t)(f - first) * job->morph_count + k] =
                (float)job->morph_weights[(size_t)k * job->frames->count + f];
    for (uint32_t i = 0; i < job->instance_count && job->morph_count; i++)
        if (job->baked[i])
            out[(*count)++] = (cutis_channel){ job->instances[i].node,
                                               CUTIS_PATH_WEIGHTS,
                                               CUTIS_INTERPOLATION_LINEAR,
                                               end - first,
                                               times,
                                               values };
    return true;
}

// Frames [first, end) into a clip, after the channels that it has.
static bool extend_clip(const builder *b, uint32_t first, uint32_t end, cutis_clip *clip)
{
    const cutis_bake_job *job = b->job;
    const uint32_t count = job->solution.helper_count, old = clip->channel_count;
    cutis_channel *channels = cutis_arena_alloc(
        job->arena, old + 2 * (size_t)count + job->instance_count + 1, sizeof *channels);
    float *times = cutis_arena_alloc(job->arena, end - first, sizeof *times);
    uint32_t kept = 0;
    if (!channels || !times) return false;
    for (uint32_t f = first; f < end; f++)
        times[f - first] = job->frames->times ? job->frames->times[f] : (float)(f - first) / 30;
    for (uint32_t c = 0; c < old; c++) {
        const cutis_channel *channel = &clip->channels[c];
        const int32_t mesh = job->data->nodes[channel->node].mesh;
        if (channel->path == CUTIS_PATH_WEIGHTS && mesh != CUTIS_NONE && b->bare_targets[mesh])
            continue;
        channels[kept++] = *channel;
    }
    for (uint32_t h = 0; h < count; h++)
        if (!build_tracks(b, h, first, end, times, channels + kept + 2 * (size_t)h)) return false;
    clip->channels = channels, clip->channel_count = kept + 2 * count;
    return build_morph_tracks(b, first, end, times, channels, &clip->channel_count);
}

static bool build_clips(builder *b)
{
    const cutis_bake_job *job = b->job;
    const cutis_bake_frames *frames = job->frames;
    const uint32_t old = job->data->clip_count, more = !frames->clips;
    cutis_clip *clips = cutis_arena_alloc(job->arena, old + (size_t)more + 1, sizeof *clips);
    if (!clips) return false;
    if (old) memcpy(clips, job->data->clips, old * sizeof *clips);
    b->data.clips = clips, b->data.clip_count = old + more;
    if (more) {
        clips[old] =
            (cutis_clip){ .name = job->options.clip_name ? job->options.clip_name : "baked" };
        return extend_clip(b, 0, frames->count, &clips[old]);
    }
    for (uint32_t first = 0, end = 0; first < frames->count && frames->clips[first] != CUTIS_NONE;
         first = end) {
        while (end < frames->count && frames->clips[end] == frames->clips[first]) end++;
        if (!extend_clip(b, first, end, &clips[frames->clips[first]])) return false;
    }
    return true;
}

cutis_result cutis_bake_build(cutis_bake_job *job, cutis_model **out, uint32_t *helper_nodes)
{
    const size_t count = job->solution.helper_count;
    builder b = { .job = job, .data = *job->data };
    b.world = cutis_arena_alloc(job->arena, count * job->frames->count + 1, 12 * sizeof(double));
    b.rest = cutis_arena_alloc(job->arena, count + 1, 12 * sizeof(double));
    if (!b.world || !b.rest) return cutis_alloc_result(job->context);
    fill_worlds(&b);
    for (uint32_t h = 0; h < count; h++)
        helper_nodes[job->order[h]] = job->data->node_count + job->order[h];
    if (!build_nodes(&b) || !place_helpers(&b) || !build_skins(&b) || !build_meshes(&b) ||
        !build_clips(&b))
        return cutis_alloc_result(job->context);
    if (job->drive) TRY(cutis_bake_drive_table(job, &b.data.drivers));
    return cutis_model_create(job->context, &b.data, CUTIS_GATE_REFUSE, out);
}
