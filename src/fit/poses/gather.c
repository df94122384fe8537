// What a fit from examples starts from: checked arguments, skinned primitives, palettes, bones.
// Invariant: after it, every example is finite and every index is in range.
#include "fit/poses/fit.h"

#include <math.h>
#include <string.h>

#include <cutis/clip.h>
#include <cutis/measure.h>

#include "base/error.h"
#include "geometry/vector.h"
#include "math/mat3.h"
#include "model/validate.h"

// How far a joint may be from a scaled rotation and still count as one; the rule of linear blending
// for normals (deform/frame.c).
static const double UNIFORM = 1e-4;
// Joints of one skin: bones and chains are looked for pair by pair.
#define JOINTS_MAX 4096

static cutis_result check_options(const cutis_fit_problem *p)
{
    const cutis_pose_fit_options *o = &p->options;
    if (o->influences > CUTIS_NNLS_MAX)
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                          "fit: %u influences; 1 to %d can be learned", o->influences,
                          CUTIS_NNLS_MAX);
    if ((unsigned)o->kernel > CUTIS_POSE_GAUSSIAN || (unsigned)o->distance > CUTIS_POSE_EULER ||
        !(o->sigma >= 0 && o->sigma <= 1e6f))
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                          "fit: unknown kernel or distance, or a sigma out of range");
    if (o->weights_only && !o->learn_weights)
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                          "fit: weights only, but none are to be learned");
    if ((o->read || o->part_count || p->part) && !o->weights_only)
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                          "fit: shapes that are read, and parts, go with weights only");
    if (o->part_count && (o->part_count != cutis_poses_part_count(p->model) || !o->parts ||
                          !o->part_sizes || p->part))
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT, "fit: %u parts; there are %u",
                          o->part_count, cutis_poses_part_count(p->model));
    return CUTIS_OK;
}

static cutis_result check_examples(cutis_fit_problem *p)
{
    const cutis_pose_examples *e = p->examples;
    size_t nodes = p->data->node_count, per = 3 * (size_t)p->vertex_count;
    if (!e->count || !e->poses || !(e->positions || p->options.read))
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT, "fit: there are no examples");
    if (e->count >= CUTIS_POSE_SPACE_POSES)
        return cutis_fail(p->context, CUTIS_LIMIT_EXCEEDED, "fit: %u examples; %d are the most",
                          e->count, CUTIS_POSE_SPACE_POSES - 1);
    for (uint32_t k = 0; k < e->count; k++) {
        size_t bad = e->positions ? cutis_first_not_finite(e->positions + k * per, per) : per;
        if (bad < per)
            return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                              "fit: example %u: vertex %zu is not finite", k, bad / 3);
        bad = cutis_first_not_finite(&e->poses[k * nodes].translation.x, 10 * nodes);
        if (bad < 10 * nodes)
            return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                              "fit: example %u: the pose of node %zu is not finite", k, bad / 10);
    }
    return e->positions ? CUTIS_OK : cutis_fit_window_open(p);
}

// Where joints find a primitive when a pose says nothing of its morph targets: moved by the node's
// weights, else the mesh's, as it is played. @return NULL: no memory
static const float *rest_positions(const cutis_fit_problem *p, const cutis_instance *instance,
                                   const cutis_primitive *primitive)
{
    const cutis_mesh *mesh = &p->data->meshes[instance->mesh];
    const float *weights = p->data->nodes[instance->node].target_weights;
    if (!weights) weights = mesh->target_weights;
    float *moved = NULL;
    for (uint32_t t = 0; weights && t < mesh->target_count; t++) {
        const float *by = primitive->targets[t].positions;
        if (weights[t] == 0 || !by) continue;
        if (!moved)
            moved = cutis_arena_copy(p->arena, primitive->positions, primitive->vertex_count,
                                     3 * sizeof *moved);
        if (!moved) return NULL;
        for (size_t i = 0; i < 3 * (size_t)primitive->vertex_count; i++)
            moved[i] += weights[t] * by[i];
    }
    return moved ? moved : primitive->positions;
}

static cutis_result list_spans(cutis_fit_problem *p)
{
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(p->model, &instances), spans = 0;
    uint8_t *seen = cutis_arena_zero(p->arena, p->data->mesh_count, 1);
    for (uint32_t i = 0; i < count; i++)
        spans += p->data->meshes[instances[i].mesh].primitive_count;
    p->spans = cutis_arena_alloc(p->arena, spans, sizeof *p->spans);
    if (!seen || !p->spans) return cutis_alloc_result(p->context);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t mesh = instances[i].mesh, first = instances[i].vertex_first;
        if (instances[i].skin == CUTIS_NONE) continue;
        if (seen[mesh]++)
            return cutis_fail(p->context, CUTIS_UNSUPPORTED,
                              "fit: mesh %u is shown twice; each needs shapes of its own", mesh);
        if (p->data->meshes[mesh].target_count && !p->options.weights_only)
            return cutis_fail(p->context, CUTIS_UNSUPPORTED,
                              "fit: mesh %u has %u morph targets; displacements take their place",
                              mesh, p->data->meshes[mesh].target_count);
        for (uint32_t k = 0; k < p->data->meshes[mesh].primitive_count; k++) {
            const cutis_primitive *primitive = &p->data->meshes[mesh].primitives[k];
            if (!p->options.learn_weights && !primitive->influences.first)
                return cutis_fail(
                    p->context, CUTIS_INVALID_ARGUMENT,
                    "fit: meshes/%u/primitives/%u has no weights; they can be learned", mesh, k);
            const float *positions = rest_positions(p, &instances[i], primitive);
            if (!positions) return cutis_alloc_result(p->context);
            p->spans[p->span_count++] = (cutis_fit_span){
                primitive, positions, mesh, k, (uint32_t)instances[i].skin, first
            };
            first += primitive->vertex_count;
        }
        p->skins[instances[i].skin].used = true;
        if (p->data->skins[instances[i].skin].joint_count > JOINTS_MAX)
            return cutis_fail(p->context, CUTIS_LIMIT_EXCEEDED, "fit: %u joints; %d are the most",
                              p->data->skins[instances[i].skin].joint_count, JOINTS_MAX);
    }
    if (!p->span_count)
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT, "fit: the model has no skinned mesh");
    return CUTIS_OK;
}

static bool is_uniform(const double *m)
{
    double xx = double3_dot(m, m), yy = double3_dot(m + 4, m + 4), zz = double3_dot(m + 8, m + 8);
    double square = (xx + yy + zz) / 3, slack = UNIFORM * square;
    return fabs(xx - square) <= slack && fabs(yy - square) <= slack && fabs(zz - square) <= slack &&
           fabs(double3_dot(m, m + 4)) <= slack && fabs(double3_dot(m, m + 8)) <= slack &&
           fabs(double3_dot(m + 4, m + 8)) <= slack;
}

static cutis_result make_palettes(cutis_fit_problem *p)
{
    const uint32_t examples = p->examples->count;
    cutis_mat34 *world = cutis_arena_alloc(p->arena, p->data->node_count, sizeof *world);
    p->uniform = cutis_arena_alloc(p->arena, examples, 1);
    if (!world || !p->uniform) return cutis_alloc_result(p->context);
    for (uint32_t s = 0; s < p->data->skin_count; s++) {
        if (!p->skins[s].used) continue;
        p->skins[s].palettes = cutis_arena_alloc(
            p->arena, (size_t)examples * p->data->skins[s].joint_count, 12 * sizeof(double));
        if (!p->skins[s].palettes) return cutis_alloc_result(p->context);
    }
    for (uint32_t e = 0; e < examples; e++) {
        cutis_pose_world(p->model, p->examples->poses + (size_t)e * p->data->node_count, world);
        p->uniform[e] = 1;
        for (uint32_t s = 0; s < p->data->skin_count; s++) {
            const cutis_skin *skin = &p->data->skins[s];
            for (uint32_t j = 0; j < skin->joint_count && p->skins[s].used; j++) {
                double *to = p->skins[s].palettes + 12 * ((size_t)e * skin->joint_count + j);
                double a[12], b[12];
                double34_from_floats(world[skin->joints[j]].m, a);
                double34_identity(b);
                if (skin->inverse_binds) double34_from_floats(skin->inverse_binds[j].m, b);
                double34_multiply(a, b, to);
                p->uniform[e] = p->uniform[e] && is_uniform(to);
            }
        }
    }
    return CUTIS_OK;
}

// Rest origins of the joints in mesh space; bones run from a joint to each joint below it.
static cutis_result make_bones(cutis_fit_problem *p, uint32_t s)
{
    const cutis_skin *skin = &p->data->skins[s];
    cutis_fit_skin *own = &p->skins[s];
    uint32_t n = skin->joint_count;
    double *origins = cutis_arena_alloc(p->arena, n, 3 * sizeof *origins);
    int32_t *above = cutis_arena_alloc(p->arena, n, sizeof *above);
    int32_t *node_joint = cutis_arena_alloc(p->arena, p->data->node_count, sizeof *node_joint);
    own->segments = cutis_arena_alloc(p->arena, 2 * (size_t)n, 6 * sizeof *own->segments);
    own->segment_first = cutis_arena_alloc(p->arena, (size_t)n + 1, sizeof *own->segment_first);
    if (!origins || !above || !node_joint || !own->segments || !own->segment_first)
        return cutis_alloc_result(p->context);
    for (uint32_t i = 0; i < p->data->node_count; i++) node_joint[i] = -1;
    for (uint32_t j = 0; j < n; j++) node_joint[skin->joints[j]] = (int32_t)j;
    for (uint32_t j = 0; j < n; j++) {
        cutis_mat34 bind = { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } };
        if (skin->inverse_binds) cutis_mat34_invert(&skin->inverse_binds[j], &bind);
        for (int c = 0; c < 3; c++) origins[3 * j + (uint32_t)c] = bind.m[4 * c + 3];
        int32_t node = p->data->nodes[skin->joints[j]].parent;
        while (node != CUTIS_NONE && node_joint[node] < 0) node = p->data->nodes[node].parent;
        above[j] = node == CUTIS_NONE ? -1 : node_joint[node];
    }
    uint32_t count = 0;
    for (uint32_t j = 0; j < n; j++) {
        own->segment_first[j] = count;
        for (uint32_t k = 0; k <= n; k++) { // a joint with none below is a point
            if (k < n ? above[k] != (int32_t)j : count > own->segment_first[j]) continue;
            memcpy(own->segments + 6 * count, origins + 3 * j, 3 * sizeof *origins);
            memcpy(own->segments + 6 * count + 3, origins + 3 * (k < n ? k : j),
                   3 * sizeof *origins);
            count++;
        }
    }
    own->segment_first[n] = count;
    return CUTIS_OK;
}

// Vertices at one place with one normal share theirs; a hard edge keeps its sides apart.
static void split_edges(const cutis_fit_problem *p, uint32_t *weld)
{
    for (uint32_t i = 0; i < p->span_count; i++) {
        const cutis_fit_span *span = &p->spans[i];
        const float *normals = span->primitive->normals;
        for (uint32_t v = 0; v < span->primitive->vertex_count; v++) {
            uint32_t at = span->vertex_first + v, to = weld[at];
            if (to == at || !normals || to < span->vertex_first) continue;
            const float *a = normals + 3 * (size_t)v,
                        *b = normals + 3 * (size_t)(to - span->vertex_first);
            if (a[0] * b[0] + a[1] * b[1] + a[2] * b[2] < 0.999f) weld[at] = at;
        }
    }
}

// The triangles as the file has them: its normals lie on their side, whatever mirror shows them.
static void file_triangles(const cutis_fit_problem *p, uint32_t *indices)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(p->model, &instances);
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &p->data->meshes[instances[i].mesh];
        uint32_t first = instances[i].vertex_first;
        for (uint32_t k = 0; k < mesh->primitive_count; k++) {
            const cutis_primitive *primitive = &mesh->primitives[k];
            if (primitive->topology == CUTIS_TOPOLOGY_TRIANGLES)
                for (uint32_t c = 0; c < primitive->index_count; c++)
                    *indices++ = first + primitive->indices[c];
            first += primitive->vertex_count;
        }
    }
}

static cutis_result make_normals(cutis_fit_problem *p)
{
    const size_t per = 3 * (size_t)p->vertex_count;
    const uint64_t triangles = cutis_model_triangle_count(p->model);
    bool wanted = false;
    for (uint32_t i = 0; i < p->span_count; i++) wanted = wanted || p->spans[i].primitive->normals;
    if (!wanted || p->options.weights_only) return CUTIS_OK;
    uint32_t *indices = cutis_arena_alloc(p->arena, (size_t)triangles, 3 * sizeof *indices);
    uint32_t *weld = cutis_arena_alloc(p->arena, p->vertex_count, sizeof *weld);
    float *rest = cutis_arena_alloc(p->arena, per, sizeof *rest);
    p->rest_normals = cutis_arena_alloc(p->arena, per, sizeof(float));
    p->example_normals = cutis_arena_alloc(p->arena, p->examples->count, per * sizeof(float));
    if (!indices || !weld || !rest || !p->rest_normals || !p->example_normals)
        return cutis_alloc_result(p->context);
    file_triangles(p, indices);
    cutis_model_file_positions(p->model, rest);
    cutis_surface surface = { p->vertex_count, triangles, rest, indices };
    TRY(cutis_weld_positions(p->context, p->vertex_count, rest, weld));
    split_edges(p, weld);
    cutis_result result = cutis_surface_normals(p->context, &surface, weld, p->rest_normals);
    cutis_model_triangles(p->model, indices); // examples are of the world
    for (uint32_t e = 0; e < p->examples->count && result == CUTIS_OK; e++) {
        surface.positions = p->examples->positions + e * per;
        result = cutis_surface_normals(p->context, &surface, weld, p->example_normals + e * per);
    }
    return result;
}

static double rest_diagonal(const cutis_fit_problem *p)
{
    box3 box = box3_empty();
    for (uint32_t i = 0; i < p->span_count; i++)
        for (uint32_t v = 0; v < p->spans[i].primitive->vertex_count; v++)
            box3_add(&box, v3_at(p->spans[i].positions, v));
    return box3_diagonal(&box);
}

cutis_result cutis_fit_gather(cutis_fit_problem *p)
{
    p->skins = cutis_arena_zero(p->arena, p->data->skin_count, sizeof *p->skins);
    if (!p->skins) return cutis_alloc_result(p->context);
    TRY(check_options(p));
    TRY(check_examples(p));
    TRY(list_spans(p));
    TRY(cutis_fit_lock(p));
    TRY(make_palettes(p));
    for (uint32_t e = 0; e < p->examples->count && p->options.after; e++)
        if (!p->uniform[e])
            return cutis_fail(p->context, CUTIS_UNSUPPORTED,
                              "fit: example %u scales a joint nonuniformly; displacements after "
                              "skinning need rotations",
                              e);
    for (uint32_t s = 0; s < p->data->skin_count; s++)
        if (p->skins[s].used) TRY(make_bones(p, s));
    p->diagonal = rest_diagonal(p);
    return make_normals(p);
}
