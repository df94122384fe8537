// A painting of a model: places, who is beside whom, and the model's weights as lists.
#include <cutis/clip.h>

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fit/brush/painting.h"
#include "geometry/order.h"

typedef struct making {
    cutis_painting *p;
    cutis_arena *arena;
    const cutis_model_data *data;
    const cutis_instance *instances;
    uint32_t instance_count;
    float *positions; ///< mesh space, of an output frame
    uint32_t *lowest; ///< per vertex: the lowest at its place under its skin
} making;

static void copy_positions(const making *m)
{
    for (uint32_t i = 0; i < m->instance_count; i++) {
        const cutis_mesh *mesh = &m->data->meshes[m->instances[i].mesh];
        float *to = m->positions + 3 * (size_t)m->instances[i].vertex_first;
        for (uint32_t k = 0; k < mesh->primitive_count; k++) {
            const size_t count = 3 * (size_t)mesh->primitives[k].vertex_count;
            memcpy(to, mesh->primitives[k].positions, count * sizeof *to);
            to += count;
        }
    }
}

/// Instances that show a mesh for the first time, of one skin: their vertices one after the other
/// in `list`, then welded by position.
static cutis_result weld_skin(making *m, int32_t skin, uint32_t *list, float *positions,
                              uint32_t *weld)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->instance_count; i++) {
        const cutis_instance *at = &m->instances[i];
        bool seen = at->skin != skin;
        for (uint32_t k = 0; k < i && !seen; k++) seen = m->instances[k].mesh == at->mesh;
        for (uint32_t v = 0; v < at->vertex_count && !seen; v++)
            list[count++] = at->vertex_first + v;
    }
    for (uint32_t i = 0; i < count; i++)
        memcpy(positions + 3 * (size_t)i, m->positions + 3 * (size_t)list[i],
               3 * sizeof *positions);
    TRY(cutis_weld_positions(m->p->context, count, positions, weld));
    for (uint32_t i = 0; i < count; i++) m->lowest[list[i]] = list[weld[i]];
    return CUTIS_OK;
}

static cutis_result weld_all(making *m)
{
    const uint32_t n = m->p->vertex_count;
    m->positions = cutis_arena_alloc(m->arena, 3 * (size_t)n, sizeof *m->positions);
    m->lowest = cutis_arena_alloc(m->arena, n, sizeof *m->lowest);
    uint32_t *list = cutis_arena_alloc(m->arena, n, sizeof *list);
    uint32_t *weld = cutis_arena_alloc(m->arena, n, sizeof *weld);
    float *positions = cutis_arena_alloc(m->arena, 3 * (size_t)n, sizeof *positions);
    if (!m->positions || !m->lowest || !list || !weld || !positions)
        return cutis_alloc_result(m->p->context);
    copy_positions(m);
    for (int32_t skin = CUTIS_NONE; skin < (int32_t)m->data->skin_count; skin++)
        TRY(weld_skin(m, skin, list, positions, weld));
    for (uint32_t i = 0; i < m->instance_count; i++) // shown again: as the first one shows it
        for (uint32_t k = 0; k < i; k++)
            if (m->instances[k].mesh == m->instances[i].mesh) {
                memcpy(m->lowest + m->instances[i].vertex_first,
                       m->lowest + m->instances[k].vertex_first,
                       m->instances[i].vertex_count * sizeof *m->lowest);
                break;
            }
    return CUTIS_OK;
}

/// Numbers for welds in the order of their lowest vertices, and the vertices of each.
static bool number_welds(making *m)
{
    cutis_painting *p = m->p;
    cutis_arena *own = cutis_owner_arena(p);
    p->weld = cutis_arena_alloc(own, p->vertex_count, sizeof *p->weld);
    p->copies = cutis_arena_alloc(own, p->vertex_count, sizeof *p->copies);
    p->told = cutis_arena_alloc(own, p->vertex_count, sizeof *p->told);
    if (!p->weld || !p->copies || !p->told) return false;
    for (uint32_t v = 0; v < p->vertex_count; v++) // the lowest comes first
        p->weld[v] = m->lowest[v] == v ? p->weld_count++ : p->weld[m->lowest[v]];
    p->copy_first = cutis_arena_alloc(own, (size_t)p->weld_count + 1, sizeof *p->copy_first);
    if (!p->copy_first) return false;
    order_by_key(p->weld, p->vertex_count, p->weld_count, p->copy_first, p->copies);
    return true;
}

/// Triangles as welds, corners around each weld, and its neighbours.
static bool connect(making *m)
{
    cutis_painting *p = m->p;
    cutis_arena *own = cutis_owner_arena(p);
    const size_t corners = 3 * (size_t)p->triangle_count, n = p->weld_count;
    p->triangles = cutis_arena_alloc(own, corners, sizeof *p->triangles);
    p->around_first = cutis_arena_alloc(own, n + 1, sizeof *p->around_first);
    p->around = cutis_arena_alloc(own, corners, sizeof *p->around);
    p->near_first = cutis_arena_alloc(own, n + 1, sizeof *p->near_first);
    p->near = cutis_arena_alloc(own, 2 * corners, sizeof *p->near);
    uint32_t *seen = cutis_arena_zero(m->arena, n, sizeof *seen);
    if (!p->triangles || !p->around_first || !p->around || !p->near_first || !p->near || !seen)
        return false;
    cutis_model_triangles(p->model, p->triangles);
    for (size_t i = 0; i < corners; i++) p->triangles[i] = p->weld[p->triangles[i]];
    order_by_key(p->triangles, corners, n, p->around_first, p->around);
    uint32_t used = 0;
    for (uint32_t w = 0; w < n; w++) {
        p->near_first[w] = used;
        seen[w] = w + 1;
        for (uint32_t i = p->around_first[w]; i < p->around_first[w + 1]; i++)
            for (uint32_t k = 1; k < 3; k++) {
                const uint32_t corner = p->around[i],
                               other = p->triangles[corner / 3 * 3 + (corner + k) % 3];
                if (seen[other] == w + 1) continue;
                seen[other] = w + 1;
                p->near[used++] = other;
            }
    }
    p->near_first[n] = used;
    return true;
}

static bool name_joints(making *m)
{
    cutis_painting *p = m->p;
    cutis_arena *own = cutis_owner_arena(p);
    const cutis_model_data *data = m->data;
    p->skin = cutis_arena_alloc(own, p->weld_count, sizeof *p->skin);
    p->joint_of = cutis_arena_alloc(own, data->skin_count, sizeof *p->joint_of);
    if (!p->skin || !p->joint_of) return false;
    for (uint32_t s = 0; s < data->skin_count; s++) {
        uint32_t *joints = cutis_arena_alloc(own, data->node_count, sizeof *joints);
        if (!joints) return false;
        memset(joints, 0xff, data->node_count * sizeof *joints);
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            joints[data->skins[s].joints[j]] = j;
        p->joint_of[s] = joints;
    }
    for (uint32_t i = m->instance_count; i-- > 0;) // the first instance of a mesh has the last word
        for (uint32_t v = 0; v < m->instances[i].vertex_count; v++)
            p->skin[p->weld[m->instances[i].vertex_first + v]] = m->instances[i].skin;
    return true;
}

/// Where the nodes are at rest.
static bool place_nodes(making *m)
{
    const uint32_t n = m->data->node_count;
    cutis_transform *pose = cutis_arena_alloc(m->arena, n, sizeof *pose);
    cutis_mat34 *world = cutis_arena_alloc(m->arena, n, sizeof *world);
    vec3 *nodes = cutis_arena_alloc(cutis_owner_arena(m->p), n, sizeof *nodes);
    if (!pose || !world || !nodes) return false;
    cutis_pose_rest(m->p->model, pose, NULL);
    cutis_pose_world(m->p->model, pose, world);
    for (uint32_t i = 0; i < n; i++) nodes[i] = v3(world[i].m[3], world[i].m[7], world[i].m[11]);
    m->p->nodes = nodes;
    return true;
}

static bool make_marks(cutis_painting *p, brush_marks *marks)
{
    marks->list = cutis_arena_alloc(cutis_owner_arena(p), p->weld_count, sizeof *marks->list);
    marks->has = cutis_arena_zero(cutis_owner_arena(p), p->weld_count, sizeof *marks->has);
    return marks->list && marks->has;
}

static bool make_room(making *m, const float *rest)
{
    cutis_painting *p = m->p;
    cutis_arena *own = cutis_owner_arena(p);
    const size_t n = p->weld_count, longest = cutis_vertex_longest(p->model);
    p->room = (uint32_t)(longest + 8 < 16           ? 16
                         : longest + 8 > BRUSH_MOST ? BRUSH_MOST
                                                    : longest + 8);
    p->place = cutis_arena_alloc(own, n, sizeof *p->place);
    p->count = cutis_arena_zero(own, n, sizeof *p->count);
    p->lists = cutis_arena_alloc(own, n * p->room, sizeof *p->lists);
    p->distance = cutis_arena_alloc(own, n, sizeof *p->distance);
    p->settled = cutis_arena_zero(own, n, sizeof *p->settled);
    p->heap.context = p->context;
    if (!p->place || !p->count || !p->lists || !p->distance || !p->settled) return false;
    for (uint32_t w = 0; w < n; w++) {
        p->place[w] = v3_at(rest, p->copies[p->copy_first[w]]);
        p->distance[w] = INFINITY;
    }
    return make_marks(p, &p->changed) && make_marks(p, &p->stroked) && make_marks(p, &p->edited) &&
           make_marks(p, &p->reached);
}

static cutis_result make(making *m, const float *rest)
{
    TRY(weld_all(m));
    if (!number_welds(m) || !connect(m) || !name_joints(m) || !place_nodes(m) ||
        !make_room(m, rest))
        return cutis_alloc_result(m->p->context);
    cutis_painting_reset(m->p);
    brush_unmark(&m->p->changed);
    return CUTIS_OK;
}

cutis_result cutis_painting_create(const cutis_model *model, const float *rest,
                                   cutis_painting **out)
{
    if (out) *out = NULL;
    if (!model || !rest || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    making m = { .data = cutis_model_get(model) };
    m.instance_count = cutis_model_instances(model, &m.instances);
    bool skinned = false;
    for (uint32_t i = 0; i < m.instance_count; i++) skinned |= m.instances[i].skin >= 0;
    if (!skinned) return INVALID(context, "no mesh of the scene has a skin: nothing to paint");
    if (cutis_model_triangle_count(model) > UINT32_MAX / 6)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "too many triangles to paint on");
    m.p = cutis_owner_create(context, sizeof *m.p);
    if (!m.p) return cutis_alloc_result(context);
    cutis_arena scratch = { .context = context };
    m.arena = &scratch;
    m.p->context = context;
    m.p->model = model;
    m.p->vertex_count = cutis_model_vertex_count(model);
    m.p->triangle_count = (uint32_t)cutis_model_triangle_count(model);
    const cutis_result result = make(&m, rest);
    cutis_arena_release(&scratch);
    if (result == CUTIS_OK)
        *out = m.p;
    else
        cutis_painting_destroy(m.p);
    return result;
}

void cutis_painting_destroy(cutis_painting *painting)
{
    if (!painting) return;
    cutis_context *c = painting->context;
    const size_t *stroke = painting->stroke_capacity;
    cutis_heap_release(&painting->heap);
    cutis_free_array(c, painting->next, painting->next_capacity, sizeof *painting->next);
    cutis_free_array(c, painting->next_count, painting->next_count_capacity,
                     sizeof *painting->next_count);
    cutis_free_array(c, painting->stroke_vertices, stroke[0], sizeof(uint32_t));
    cutis_free_array(c, painting->stroke_first, stroke[1], sizeof(uint32_t));
    cutis_free_array(c, painting->stroke_joints, stroke[2], sizeof(uint32_t));
    cutis_free_array(c, painting->stroke_weights, stroke[3], sizeof(double));
    cutis_owner_destroy(painting);
}
