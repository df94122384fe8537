// From a model and its frames to a problem. Invariant: after it every number is finite, points of
// one place with the same weights and motion are one, and the joints of a point are of its skin.
#include "fit/bake/job.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>
#include <cutis/measure.h>

#include "base/error.h"
#include "fit/weights_vertex.h"
#include "math/mat3.h"
#include "model/validate.h"

// What does not move by this part of the diagonal does not move.
static const double STILL = 1e-7;

static cutis_result check_frames(cutis_bake_job *job)
{
    const cutis_bake_frames *f = job->frames;
    const size_t nodes = job->data->node_count;
    if (f->count < 2 || (!f->positions && !f->read))
        return INVALID(job->context, "bake: %u frame%s; a motion has two at least", f->count,
                       f->count == 1 ? "" : "s");
    for (uint32_t i = 0; i < f->count; i++) {
        if (f->poses) {
            const size_t bad =
                cutis_first_not_finite(&f->poses[i * nodes].translation.x, 10 * nodes);
            if (bad < 10 * nodes)
                return INVALID(job->context, "bake: frame %u: the pose of node %zu is not finite",
                               i, bad / 10);
        }
        const bool single = f->clips && f->clips[i] == CUTIS_NONE;
        if (f->clips && !single &&
            (f->clips[i] < 0 || (uint32_t)f->clips[i] >= job->data->clip_count ||
             (i > 0 && (f->clips[i] < f->clips[i - 1] || f->clips[i - 1] == CUTIS_NONE))))
            return INVALID(job->context, "bake: frame %u: clip %d is out of range or order", i,
                           f->clips[i]);
        const bool same = i > 0 && !single && (!f->clips || f->clips[i] == f->clips[i - 1]);
        if (f->times && (!(f->times[i] >= 0) || (same && !(f->times[i] > f->times[i - 1]))))
            return INVALID(job->context, "bake: frame %u: times are not ascending", i);
    }
    return CUTIS_OK;
}

static cutis_result choose_instances(cutis_bake_job *job)
{
    uint32_t skinned = 0;
    uint8_t *shown = cutis_arena_zero(job->arena, job->data->mesh_count + (size_t)1, 1);
    job->baked = cutis_arena_zero(job->arena, job->instance_count + (size_t)1, 1);
    if (!shown || !job->baked) return cutis_alloc_result(job->context);
    for (uint32_t i = 0; i < job->instance_count; i++)
        skinned += job->instances[i].skin != CUTIS_NONE;
    job->bare = skinned == 0;
    for (uint32_t i = 0; i < job->instance_count; i++) {
        const cutis_instance *instance = &job->instances[i];
        job->baked[i] = job->bare || instance->skin != CUTIS_NONE;
        if (!job->baked[i]) continue;
        if (shown[instance->mesh]++)
            return UNSUPPORTED(job->context,
                               "bake: mesh %u is shown twice; each would need weights of its own",
                               instance->mesh);
    }
    for (uint32_t i = 0; i < job->instance_count && job->options.morphs; i++) {
        const uint32_t mesh = job->instances[i].mesh;
        if (job->baked[i] && job->data->meshes[mesh].target_count &&
            !cutis_bake_loses_targets(job, mesh))
            return UNSUPPORTED(job->context,
                               "bake: mesh %u has morph targets of its own; none can be added",
                               mesh);
    }
    if (job->bare && job->frames->held_out)
        return INVALID(job->context, "bake: frames are held out, but no mesh has a skin");
    return CUTIS_OK;
}

static void bone_matrix(const cutis_bake_job *job, uint32_t bone, const cutis_mat34 *world,
                        double *out)
{
    const cutis_skin *skin = &job->data->skins[job->bone_skin[bone]];
    double w[12], inverse[12];
    double34_from_floats(world[job->bone_node[bone]].m, w);
    double34_identity(inverse);
    if (skin->inverse_binds)
        double34_from_floats(skin->inverse_binds[bone - job->bone_first[job->bone_skin[bone]]].m,
                             inverse);
    double34_multiply(w, inverse, out);
}

// Where a skin's mesh stands at rest: what the joint with most weight does to it then.
static void find_bind(cutis_bake_job *job, uint32_t instance)
{
    const cutis_instance *shown = &job->instances[instance];
    double test[12];
    if (job->bare) {
        double34_from_floats(job->rest_world[shown->node].m, job->bind[instance]);
        if (!double34_invert(job->bind[instance], test)) double34_identity(job->bind[instance]);
        return;
    }
    const uint32_t skin = (uint32_t)shown->skin;
    const uint32_t first = job->bone_first[skin], count = job->data->skins[skin].joint_count;
    const cutis_mesh *mesh = &job->data->meshes[shown->mesh];
    uint32_t best = 0;
    double most = -1;
    for (uint32_t j = 0; j < count; j++) {
        double sum = 0;
        for (uint32_t k = 0; k < mesh->primitive_count; k++) {
            const cutis_influences *in = &mesh->primitives[k].influences;
            const uint32_t total = in->first ? in->first[mesh->primitives[k].vertex_count] : 0;
            for (uint32_t i = 0; i < total; i++)
                if (in->joints[i] == j) sum += (double)in->weights[i];
        }
        if (sum > most) most = sum, best = j;
    }
    bone_matrix(job, first + best, job->rest_world, job->bind[skin]);
    if (!double34_invert(job->bind[skin], test)) double34_identity(job->bind[skin]);
}

static cutis_result find_bones(cutis_bake_job *job)
{
    const uint32_t skins = job->data->skin_count;
    const size_t spaces = (job->bare ? job->instance_count : skins) + (size_t)1;
    job->bone_first = cutis_arena_alloc(job->arena, skins + (size_t)1, sizeof(uint32_t));
    job->bind = cutis_arena_zero(job->arena, spaces, sizeof *job->bind);
    if (!job->bone_first || !job->bind) return cutis_alloc_result(job->context);
    memset(job->bone_first, 0xff, skins * sizeof(uint32_t));
    for (uint32_t i = 0; i < job->instance_count && !job->bare; i++) {
        const int32_t skin = job->instances[i].skin;
        if (skin == CUTIS_NONE || job->bone_first[skin] != UINT32_MAX) continue;
        job->bone_first[skin] = job->joint_count;
        job->joint_count += job->data->skins[skin].joint_count;
        if (job->joint_count > CUTIS_BAKE_BONES / 2)
            return cutis_fail(job->context, CUTIS_LIMIT_EXCEEDED, "bake: more than %d joints",
                              CUTIS_BAKE_BONES / 2);
    }
    job->bone_node = cutis_arena_alloc(job->arena, job->joint_count + (size_t)1, sizeof(uint32_t));
    job->bone_skin = cutis_arena_alloc(job->arena, job->joint_count + (size_t)1, sizeof(uint32_t));
    if (!job->bone_node || !job->bone_skin) return cutis_alloc_result(job->context);
    for (uint32_t s = 0; s < skins && !job->bare; s++)
        for (uint32_t j = 0;
             job->bone_first[s] != UINT32_MAX && j < job->data->skins[s].joint_count; j++) {
            job->bone_node[job->bone_first[s] + j] = job->data->skins[s].joints[j];
            job->bone_skin[job->bone_first[s] + j] = s;
        }
    for (uint32_t i = job->instance_count; i-- > 0;) // the first instance of a skin decides
        if (job->baked[i]) find_bind(job, i);
    return CUTIS_OK;
}

static cutis_result find_worlds(cutis_bake_job *job)
{
    const size_t nodes = job->data->node_count, count = job->frames->poses ? job->frames->count : 0;
    cutis_transform *rest = cutis_arena_alloc(job->arena, nodes, sizeof *rest);
    job->rest_world = cutis_arena_alloc(job->arena, nodes, sizeof *job->rest_world);
    job->world = cutis_arena_alloc(job->arena, count * nodes + 1, sizeof *job->world);
    if (!rest || !job->rest_world || !job->world) return cutis_alloc_result(job->context);
    cutis_pose_rest(job->model, rest, NULL);
    cutis_pose_world(job->model, rest, job->rest_world);
    for (size_t f = 0; f < count; f++)
        cutis_pose_world(job->model, job->frames->poses + f * nodes, job->world + f * nodes);
    return CUTIS_OK;
}

// Points ------------------------------------------------------------------------------------------

// Rest positions with the morph weights of rest, in common space but for the centre.
static void place_vertices(const cutis_bake_job *job, uint32_t i, float *places)
{
    const cutis_instance *instance = &job->instances[i];
    const cutis_mesh *mesh = &job->data->meshes[instance->mesh];
    const float *rest = job->data->nodes[instance->node].target_weights;
    const double *bind = job->bind[job->bare ? i : (uint32_t)instance->skin];
    float *to = places + 3 * (size_t)instance->vertex_first;
    if (!rest) rest = mesh->target_weights;
    for (uint32_t k = 0; k < mesh->primitive_count; k++) {
        const cutis_primitive *primitive = &mesh->primitives[k];
        for (size_t v = 0; v < primitive->vertex_count; v++, to += 3) {
            double p[3], q[3];
            for (size_t c = 0; c < 3; c++) {
                p[c] = primitive->positions[3 * v + c];
                for (uint32_t t = 0; rest && primitive->targets && t < mesh->target_count; t++)
                    if (primitive->targets[t].positions)
                        p[c] += (double)rest[t] * primitive->targets[t].positions[3 * v + c];
            }
            double34_point(bind, p, q);
            for (size_t c = 0; c < 3; c++) to[c] = (float)q[c];
        }
    }
}

// A vertex on its way to a point.
typedef struct cutis_bake_source {
    const cutis_influences *influences; ///< NULL: none
    uint32_t vertex, space;
} source;

static bool same_influences(const source *a, const source *b)
{
    if (a->space != b->space || !a->influences != !b->influences) return false;
    if (!a->influences) return true;
    const uint32_t from = a->influences->first[a->vertex], other = b->influences->first[b->vertex];
    const uint32_t count = a->influences->first[a->vertex + 1] - from;
    if (b->influences->first[b->vertex + 1] - other != count) return false;
    return memcmp(a->influences->joints + from, b->influences->joints + other,
                  count * sizeof(uint32_t)) == 0 &&
           memcmp(a->influences->weights + from, b->influences->weights + other,
                  count * sizeof(float)) == 0;
}

static void list_sources(const cutis_bake_job *job, source *sources)
{
    for (uint32_t i = 0; i < job->instance_count; i++) {
        const cutis_instance *instance = &job->instances[i];
        const cutis_mesh *mesh = &job->data->meshes[instance->mesh];
        uint32_t at = instance->vertex_first;
        for (uint32_t k = 0; k < mesh->primitive_count; k++) {
            const cutis_primitive *primitive = &mesh->primitives[k];
            for (uint32_t v = 0; v < primitive->vertex_count; v++, at++)
                sources[at] = (source){ .influences = job->bare || !primitive->influences.first
                                                          ? NULL
                                                          : &primitive->influences,
                                        .vertex = v,
                                        .space = !job->baked[i] ? UINT32_MAX
                                                 : job->bare    ? i
                                                                : (uint32_t)instance->skin };
        }
    }
}

static void measure_box(cutis_bake_job *job, const float *places, const source *sources)
{
    double low[3] = { INFINITY, INFINITY, INFINITY }, high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (uint32_t v = 0; v < job->vertex_count; v++)
        for (size_t c = 0; sources[v].space != UINT32_MAX && c < 3; c++) {
            low[c] = fmin(low[c], (double)places[3 * (size_t)v + c]);
            high[c] = fmax(high[c], (double)places[3 * (size_t)v + c]);
        }
    job->diagonal =
        sqrt((high[0] - low[0]) * (high[0] - low[0]) + (high[1] - low[1]) * (high[1] - low[1]) +
             (high[2] - low[2]) * (high[2] - low[2]));
    for (size_t c = 0; c < 3; c++) job->centre[c] = 0.5 * (low[c] + high[c]);
}

// Clean influences of a point. One without weight follows the skin's first joint, as in a binding.
static bool add_weights(cutis_bake_job *job, const source *from, cutis_influence *list,
                        size_t *capacity)
{
    const uint32_t at = job->first[job->point_count];
    uint32_t count =
        from->influences ? cutis_vertex_gather(from->influences, from->vertex, list) : 0;
    if (count == 0) list[count++] = (cutis_influence){ 0, 1 };
    cutis_vertex_normalise(list, count);
    size_t both = *capacity;
    if (!cutis_arena_grow(job->arena, &job->joint, &both, (size_t)at + count, sizeof *job->joint) ||
        !cutis_arena_grow(job->arena, &job->weight, capacity, (size_t)at + count,
                          sizeof *job->weight))
        return false;
    for (uint32_t k = 0; k < count; k++) {
        job->joint[at + k] = job->bone_first[from->space] + list[k].joint;
        job->weight[at + k] = list[k].weight;
    }
    job->first[job->point_count + 1] = at + count;
    return true;
}

static cutis_result list_points(cutis_bake_job *job)
{
    const size_t n = job->vertex_count;
    const float *places = job->places;
    const source *sources = job->sources;
    const uint32_t *weld = job->weld;
    const uint8_t *apart = job->apart;
    size_t capacity = 0;
    cutis_influence *list =
        cutis_arena_alloc(job->arena, cutis_vertex_longest(job->model) + 1, sizeof *list);
    job->vertex_point = cutis_arena_alloc(job->arena, n, sizeof(uint32_t));
    job->positions = cutis_arena_alloc(job->arena, n, 3 * sizeof(double));
    job->mass = cutis_arena_alloc(job->arena, n, sizeof(double));
    job->space = cutis_arena_alloc(job->arena, n, sizeof(uint32_t));
    job->first = cutis_arena_zero(job->arena, n + 1, sizeof(uint32_t));
    if (!list || !job->vertex_point || !job->positions || !job->mass || !job->space || !job->first)
        return cutis_alloc_result(job->context);
    for (uint32_t v = 0; v < n; v++) {
        const uint32_t other = weld[v];
        job->vertex_point[v] = UINT32_MAX;
        if (sources[v].space == UINT32_MAX) continue;
        if (other < v && same_influences(&sources[v], &sources[other]) && !apart[v]) {
            job->vertex_point[v] = job->vertex_point[other];
            job->mass[job->vertex_point[v]] += 1;
            continue;
        }
        const uint32_t point = job->point_count;
        for (size_t c = 0; c < 3; c++)
            job->positions[3 * (size_t)point + c] =
                (double)places[3 * (size_t)v + c] - job->centre[c];
        job->mass[point] = 1, job->space[point] = sources[v].space;
        if (!job->bare && !add_weights(job, &sources[v], list, &capacity))
            return cutis_alloc_result(job->context);
        job->vertex_point[v] = job->point_count++;
    }
    return CUTIS_OK;
}

// Where vertices rest, and which of them might be one point.
static cutis_result find_places(cutis_bake_job *job)
{
    const size_t n = job->vertex_count;
    job->places = cutis_arena_zero(job->arena, n, 3 * sizeof *job->places);
    job->weld = cutis_arena_alloc(job->arena, n, sizeof *job->weld);
    job->sources = cutis_arena_alloc(job->arena, n, sizeof *job->sources);
    job->apart = cutis_arena_zero(job->arena, n, 1);
    if (!job->places || !job->weld || !job->sources || !job->apart)
        return cutis_alloc_result(job->context);
    for (uint32_t i = 0; i < job->instance_count; i++)
        if (job->baked[i]) place_vertices(job, i, job->places);
    list_sources(job, job->sources);
    measure_box(job, job->places, job->sources);
    return cutis_weld_positions(job->context, job->vertex_count, job->places, job->weld);
}

// Frames ------------------------------------------------------------------------------------------

void cutis_bake_joint(const cutis_bake_job *job, uint32_t bone, const cutis_mat34 *world,
                      double *out)
{
    double inverse[12], m[12];
    double34_identity(inverse);
    double34_invert(job->bind[job->bone_skin[bone]], inverse);
    bone_matrix(job, bone, world, m);
    double34_multiply(m, inverse, out);
    for (size_t i = 0; i < 3; i++)
        out[4 * i + 3] += double3_dot(out + 4 * i, job->centre) - job->centre[i];
}

static bool moves(const cutis_bake_job *job)
{
    const cutis_bake_part *part = &job->learned;
    for (size_t k = 0; k < 3 * (size_t)job->point_count; k++)
        for (uint32_t f = 1; f < part->count; f++)
            if (fabs((double)part->targets[k * part->stride + f] -
                     part->targets[k * part->stride]) > STILL * job->diagonal)
                return true;
    return false;
}

static cutis_result split_frames(cutis_bake_job *job)
{
    TRY(cutis_bake_split(job));
    if (job->learned.count < 2)
        return INVALID(job->context, "bake: %u frame%s to learn from; a motion has two at least",
                       job->learned.count, job->learned.count == 1 ? "" : "s");
    if (!job->taken && !moves(job))
        return INVALID(job->context, "bake: nothing moves in the %u frames", job->learned.count);
    return CUTIS_OK;
}

cutis_result cutis_bake_gather_rest(cutis_bake_job *job)
{
    if (job->places) return CUTIS_OK;
    job->vertex_count = cutis_model_vertex_count(job->model);
    job->instance_count = cutis_model_instances(job->model, &job->instances);
    if (job->vertex_count == 0)
        return INVALID(job->context, "bake: there is no mesh in the model's scene");
    TRY(check_frames(job));
    TRY(choose_instances(job));
    TRY(find_worlds(job));
    TRY(find_bones(job));
    return find_places(job);
}

cutis_result cutis_bake_gather(cutis_bake_job *job)
{
    TRY(cutis_bake_gather_rest(job));
    if (job->taken) // whatever was gathered before, to look
        memcpy(job->apart, job->taken, job->vertex_count);
    else if (!job->looked)
        TRY(cutis_bake_look(job, 0, job->frames->count, job->apart));
    TRY(list_points(job));
    if (job->options.helpers > job->point_count)
        return INVALID(job->context, "bake: %u joints for %u different vertices",
                       job->options.helpers, job->point_count);
    return split_frames(job);
}
