// Looking for what is wrong with a skin. Reports findings, changes nothing. One entry per code and
// place, with the number of vertices, joints or channels concerned; a place is a path into the
// model's data.
#include <cutis/measure.h>
#include <cutis/weights.h>

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/memory.h"
#include "fit/weights_vertex.h"
#include "geometry/order.h"
#include "geometry/vector.h"
#include "model/report.h"

enum { ERROR = 0, WARNING = 1, INFORMATION = 2 };

// A thousandth of weight moves a vertex by a thousandth of the bones' difference: less is rounding
// of 8- and 10-bit weights, more is seen.
static const double WEIGHT_TOLERANCE = 1e-3;

typedef struct {
    const cutis_model *model;
    const cutis_model_data *data;
    cutis_check_report *report;
    cutis_arena scratch;
    cutis_influence *list, *other; // of one vertex
    uint32_t influence_limit;
    bool out_of_memory;
    // Nodes that show a mesh with skin s: user_nodes[user_first[s]] .. [user_first[s + 1]].
    uint32_t *user_first, *user_nodes;
} check;

__attribute__((format(printf, 6, 7))) static void note(check *c, const char *code, uint8_t severity,
                                                       uint64_t count, const char *place,
                                                       const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (!cutis_report_add(c->report, code, severity, count, place, text)) c->out_of_memory = true;
}

// Zeros until the checks are done; NULL, and marked: out of memory.
static void *take(check *c, size_t count, size_t item)
{
    void *memory = cutis_arena_zero(&c->scratch, count, item);
    c->out_of_memory = c->out_of_memory || !memory;
    return memory;
}

// Weights of one primitive ----------------------------------------------

typedef struct {
    uint64_t unweighted, off, duplicated, over;
    double worst;
    uint32_t most;
} weight_counts;

static void count_vertex(check *c, const cutis_influences *influences, uint32_t v,
                         weight_counts *out)
{
    uint32_t count = cutis_vertex_gather(influences, v, c->list), positive = 0;
    double sum = 0;
    for (uint32_t i = influences->first[v]; i < influences->first[v + 1]; i++)
        positive += influences->weights[i] > 0;
    for (uint32_t i = 0; i < count; i++) sum += c->list[i].weight;
    out->duplicated += positive > count;
    out->unweighted += count == 0;
    out->over += count > c->influence_limit;
    if (count > out->most) out->most = count;
    if (count == 0 || fabs(sum - 1) <= WEIGHT_TOLERANCE) return;
    out->off++;
    if (fabs(sum - 1) > fabs(out->worst)) out->worst = sum - 1;
}

static void check_weights(check *c, const cutis_primitive *primitive, const char *place)
{
    weight_counts n = { 0 };
    for (uint32_t v = 0; v < primitive->vertex_count; v++)
        count_vertex(c, &primitive->influences, v, &n);
    if (n.unweighted)
        // No weight at all is no slip but a template, to be filled in by somebody else.
        note(c, "VERTEX_UNWEIGHTED", n.unweighted == primitive->vertex_count ? WARNING : ERROR,
             n.unweighted, place, "%llu of %u vertices have no weight on any joint",
             (unsigned long long)n.unweighted, primitive->vertex_count);
    if (n.off)
        note(c, "WEIGHTS_NON_NORMALIZED", ERROR, n.off, place,
             "weights of %llu vertices do not sum to 1; the worst sum is %.4g",
             (unsigned long long)n.off, 1 + n.worst);
    if (n.duplicated)
        note(c, "JOINT_DUPLICATED", WARNING, n.duplicated, place,
             "%llu vertices have weight on a joint more than once",
             (unsigned long long)n.duplicated);
    if (n.over)
        note(c, "INFLUENCES_OVER_LIMIT", WARNING, n.over, place,
             "%llu vertices have more than %u influences, up to %u; many players read only 4",
             (unsigned long long)n.over, c->influence_limit, n.most);
}

static bool is_degenerate(const cutis_primitive *primitive, const uint32_t *t)
{
    vec3 n = v3_normal(v3_at(primitive->positions, t[0]), v3_at(primitive->positions, t[1]),
                       v3_at(primitive->positions, t[2]));
    return n.x == 0 && n.y == 0 && n.z == 0;
}

static void check_triangles(check *c, const cutis_primitive *primitive, const char *place)
{
    uint64_t degenerate = 0;
    if (primitive->topology != CUTIS_TOPOLOGY_TRIANGLES) return;
    for (uint32_t i = 0; i + 2 < primitive->index_count; i += 3)
        degenerate += is_degenerate(primitive, primitive->indices + i);
    if (degenerate)
        note(c, "TRIANGLE_DEGENERATE", WARNING, degenerate, place,
             "%llu of %u triangles have no area", (unsigned long long)degenerate,
             primitive->index_count / 3);
}

// `skinned` per mesh: bit 0 used with a skin, bit 1 used without.
static void check_meshes(check *c, const uint8_t *skinned)
{
    for (uint32_t m = 0; m < c->data->mesh_count; m++)
        for (uint32_t p = 0; p < c->data->meshes[m].primitive_count; p++) {
            const cutis_primitive *primitive = &c->data->meshes[m].primitives[p];
            char place[64];
            snprintf(place, sizeof place, "meshes/%u/primitives/%u", m, p);
            check_triangles(c, primitive, place);
            if (primitive->influences.first && (skinned[m] & 1)) check_weights(c, primitive, place);
            if (primitive->influences.first && !(skinned[m] & 1))
                note(c, "INFLUENCES_UNUSED", INFORMATION, primitive->vertex_count, place,
                     "the primitive has influences, but no node shows it with a skin");
            if (!primitive->influences.first && (skinned[m] & 1))
                note(c, "INFLUENCES_MISSING", WARNING, primitive->vertex_count, place,
                     "a node shows the primitive with a skin, but it has no influences");
        }
}

// Seams -----------------------------------------------------------------

// A vertex of the meshes that one skin moves.
typedef struct {
    const cutis_primitive *primitive;
    uint32_t vertex;
} seam_vertex;

static bool weights_differ(check *c, const seam_vertex *a, const seam_vertex *b)
{
    uint32_t n = cutis_vertex_gather(&a->primitive->influences, a->vertex, c->list);
    uint32_t m = cutis_vertex_gather(&b->primitive->influences, b->vertex, c->other);
    const cutis_influence *x = c->list, *y = c->other;
    cutis_vertex_normalise(c->list, n);
    cutis_vertex_normalise(c->other, m);
    for (uint32_t i = 0, j = 0; i < n || j < m;) {
        bool first = i < n && (j >= m || x[i].joint <= y[j].joint);
        bool second = j < m && (i >= n || y[j].joint <= x[i].joint);
        double difference = (first ? x[i].weight : 0) - (second ? y[j].weight : 0);
        if (fabs(difference) > WEIGHT_TOLERANCE) return true;
        i += first;
        j += second;
    }
    return false;
}

// Copies of a vertex stand at exactly the same place; each is compared with the first there.
static uint64_t count_seams(check *c, const seam_vertex *vertices, uint32_t count)
{
    cutis_context *context = c->report->context;
    cutis_arena own = { .context = context };
    float *positions = cutis_arena_alloc(&own, count, 3 * sizeof *positions);
    uint32_t *weld = cutis_arena_alloc(&own, count, sizeof *weld);
    uint64_t differing = 0;
    for (uint32_t i = 0; positions && i < count; i++)
        memcpy(positions + 3 * (size_t)i,
               vertices[i].primitive->positions + 3 * (size_t)vertices[i].vertex,
               3 * sizeof *positions);
    if (!positions || !weld || cutis_weld_positions(context, count, positions, weld) != CUTIS_OK)
        c->out_of_memory = true;
    for (uint32_t i = 0; !c->out_of_memory && i < count; i++)
        differing += weld[i] != i && weights_differ(c, &vertices[weld[i]], &vertices[i]);
    cutis_arena_release(&own);
    return differing;
}

// Vertices with influences of the meshes that skin s moves, each mesh once; `done` per mesh holds
// the last `mark` that took it. With `out` NULL they are only counted.
static uint32_t list_seam_vertices(check *c, uint32_t s, uint32_t *done, uint32_t mark,
                                   seam_vertex *out)
{
    uint32_t count = 0;
    for (uint32_t i = c->user_first[s]; i < c->user_first[s + 1]; i++) {
        const cutis_node *node = &c->data->nodes[c->user_nodes[i]];
        if (done[node->mesh] == mark) continue;
        done[node->mesh] = mark;
        const cutis_mesh *mesh = &c->data->meshes[node->mesh];
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            if (!primitive->influences.first) continue;
            for (uint32_t v = 0; out && v < primitive->vertex_count; v++)
                out[count + v] = (seam_vertex){ primitive, v };
            count += primitive->vertex_count;
        }
    }
    return count;
}

static void check_seams(check *c, uint32_t s, uint32_t *done, const char *place)
{
    uint32_t count = list_seam_vertices(c, s, done, 2 * s + 1, NULL);
    seam_vertex *vertices = take(c, count, sizeof *vertices);
    if (!vertices) return;
    list_seam_vertices(c, s, done, 2 * s + 2, vertices);
    uint64_t differing = count_seams(c, vertices, count);
    if (differing)
        note(c, "SEAM_WEIGHTS_DIFFER", WARNING, differing, place,
             "%llu vertices have other weights than a vertex at the same place; the seam will open",
             (unsigned long long)differing);
}

// Skins -----------------------------------------------------------------

static void mark_used(const cutis_mesh *mesh, uint8_t *used)
{
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_influences *influences = &mesh->primitives[p].influences;
        uint32_t total =
            influences->first ? influences->first[mesh->primitives[p].vertex_count] : 0;
        for (uint32_t i = 0; i < total; i++)
            if (influences->weights[i] > 0) used[influences->joints[i]] = 1;
    }
}

static void check_joints(check *c, uint32_t s, const char *place)
{
    const cutis_skin *skin = &c->data->skins[s];
    uint8_t *used = take(c, skin->joint_count, 1);
    uint64_t unused = 0;
    uint32_t first = 0;
    if (!used) return;
    for (uint32_t i = c->user_first[s]; i < c->user_first[s + 1]; i++)
        mark_used(&c->data->meshes[c->data->nodes[c->user_nodes[i]].mesh], used);
    for (uint32_t j = skin->joint_count; j-- > 0;)
        if (!used[j]) unused++, first = j;
    const char *name = c->data->nodes[skin->joints[first]].name;
    if (unused)
        note(c, "JOINT_UNUSED", INFORMATION, unused, place,
             "%llu of %u joints have no weight on any vertex, the first is #%u%s%s",
             (unsigned long long)unused, skin->joint_count, first, name ? " " : "",
             name ? name : "");
}

// The nodes by their skin, so that the work over all skins is one pass over their users.
static bool list_users(check *c)
{
    const cutis_model_data *data = c->data;
    uint32_t *skins = take(c, data->node_count, sizeof *skins);
    c->user_first = take(c, (size_t)data->skin_count + 2, sizeof *c->user_first);
    c->user_nodes = take(c, data->node_count, sizeof *c->user_nodes);
    if (!skins || !c->user_first || !c->user_nodes) return false;
    for (uint32_t n = 0; n < data->node_count; n++)
        skins[n] =
            data->nodes[n].skin == CUTIS_NONE ? data->skin_count : (uint32_t)data->nodes[n].skin;
    order_by_key(skins, data->node_count, (size_t)data->skin_count + 1, c->user_first,
                 c->user_nodes);
    return true;
}

static void check_skins(check *c)
{
    uint32_t *done = take(c, c->data->mesh_count, sizeof *done);
    if (!done || !list_users(c)) return;
    for (uint32_t s = 0; s < c->data->skin_count && !c->out_of_memory; s++) {
        char place[32];
        snprintf(place, sizeof place, "skins/%u", s);
        if (!c->data->skins[s].inverse_binds)
            note(c, "INVERSE_BINDS_MISSING", INFORMATION, c->data->skins[s].joint_count, place,
                 "no inverse bind matrices: each is the identity");
        check_joints(c, s, place);
        if (!c->out_of_memory) check_seams(c, s, done, place);
    }
}

// Clips -----------------------------------------------------------------

static const float *rest_value(const cutis_model_data *data, const cutis_channel *channel)
{
    const cutis_node *node = &data->nodes[channel->node];
    switch (channel->path) {
    case CUTIS_PATH_TRANSLATION:
        return &node->rest.translation.x;
    case CUTIS_PATH_ROTATION:
        return &node->rest.rotation.x;
    case CUTIS_PATH_SCALE:
        return &node->rest.scale.x;
    default:
        break;
    }
    return node->target_weights ? node->target_weights : data->meshes[node->mesh].target_weights;
}

// Whether a channel only ever gives the rest value: every key holds it, and no tangent leads away.
static bool holds_rest(const cutis_model_data *data, const cutis_channel *channel)
{
    const float *rest = rest_value(data, channel);
    size_t width = channel->path == CUTIS_PATH_ROTATION ? 4
                   : channel->path != CUTIS_PATH_WEIGHTS
                       ? 3
                       : data->meshes[data->nodes[channel->node].mesh].target_count;
    bool cubic = channel->interpolation == CUTIS_INTERPOLATION_CUBIC;
    for (size_t k = 0; k < channel->key_count; k++)
        for (size_t i = 0; i < width; i++) {
            const float *key = channel->values + k * width * (cubic ? 3 : 1);
            if (key[(cubic ? width : 0) + i] != (rest ? rest[i] : 0)) return false;
            if (cubic && (key[i] != 0 || key[2 * width + i] != 0)) return false;
        }
    return true;
}

// Nodes that move something in the scene: shown meshes, joints of their skins, and all ancestors of
// either.
static void mark_moving(const cutis_model *model, uint8_t *moving)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(model, &instances);
    for (uint32_t i = 0; i < count; i++) {
        moving[instances[i].node] = 1;
        if (instances[i].skin == CUTIS_NONE) continue;
        const cutis_skin *skin = &data->skins[instances[i].skin];
        for (uint32_t j = 0; j < skin->joint_count; j++) moving[skin->joints[j]] = 1;
    }
    for (uint32_t n = data->node_count; n-- > 0;)
        if (moving[n] && data->nodes[n].parent != CUTIS_NONE) moving[data->nodes[n].parent] = 1;
}

static void check_clips(check *c)
{
    uint8_t *moving = take(c, c->data->node_count, 1);
    if (!moving) return;
    mark_moving(c->model, moving);
    for (uint32_t k = 0; k < c->data->clip_count; k++) {
        const cutis_clip *clip = &c->data->clips[k];
        uint32_t idle = 0;
        for (uint32_t i = 0; i < clip->channel_count; i++)
            idle += !moving[clip->channels[i].node] || holds_rest(c->data, &clip->channels[i]);
        char place[32];
        snprintf(place, sizeof place, "clips/%u", k);
        if (idle == clip->channel_count)
            note(c, "CLIP_WITHOUT_EFFECT", WARNING, idle, place,
                 "none of the clip's %u channels moves anything", idle);
        else if (idle)
            note(c, "CHANNEL_WITHOUT_EFFECT", INFORMATION, idle, place,
                 "%u of %u channels hold the rest value or move nothing shown", idle,
                 clip->channel_count);
    }
}

// -----------------------------------------------------------------------

static void run_checks(check *c)
{
    uint8_t *skinned = take(c, c->data->mesh_count, 1);
    if (!skinned) return;
    for (uint32_t n = 0; n < c->data->node_count; n++) {
        const cutis_node *node = &c->data->nodes[n];
        if (node->mesh != CUTIS_NONE) skinned[node->mesh] |= node->skin != CUTIS_NONE ? 1 : 2;
    }
    check_meshes(c, skinned);
    if (!c->out_of_memory) check_skins(c);
    if (!c->out_of_memory) check_clips(c);
}

cutis_result cutis_model_check(const cutis_model *model, uint32_t influence_limit,
                               cutis_check_report **out)
{
    if (out) *out = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_check_report *report = cutis_report_create(context);
    if (!report) return cutis_alloc_result(context);
    check c = { .model = model,
                .data = cutis_model_get(model),
                .report = report,
                .scratch = { .context = context },
                .influence_limit = influence_limit ? influence_limit : 4 };
    const size_t longest = cutis_vertex_longest(model);
    c.list = take(&c, longest, sizeof *c.list);
    c.other = take(&c, longest, sizeof *c.other);
    if (!c.out_of_memory) run_checks(&c);
    cutis_arena_release(&c.scratch);
    if (c.out_of_memory) {
        cutis_check_report_destroy(report);
        return cutis_alloc_result(context);
    }
    *out = report;
    return CUTIS_OK;
}
