/// Balls around a clip's skin at any time, by reach: a vertex that hangs on a bone is no farther
/// from its joint than at rest, and a joint no farther from the one above than its translation is
/// long. Invariant: a linear skin never leaves its ball, whatever the clips' rotations, blends and
/// times; formulas that turn may leave the bones' hull by a bulge, for which a quarter is added.
#include "deform/crowd.h"

#include <math.h>

#include "base/error.h"
#include "geometry/vector.h"
#include "model/object.h"
#include "model/sampler.h"

static const double BULGE = 1.25;

static void take(cutis_node_range *range, cutis_path path, const float *value)
{
    if (path == CUTIS_PATH_TRANSLATION)
        box3_add(&range->box, v3(value[0], value[1], value[2]));
    else
        for (int c = 0; c < 3; c++) range->scale = fmax(range->scale, fabsf(value[c]));
}

/// Values of a channel stay in the hull of its keys and, cubic, of its Bezier points.
static void take_channel(const cutis_channel *channel, cutis_node_range *range)
{
    const bool cubic = channel->interpolation == CUTIS_INTERPOLATION_CUBIC;
    for (uint32_t k = 0; k < channel->key_count; k++) {
        const float *value = channel->values + (cubic ? 9 * (size_t)k + 3 : 3 * (size_t)k);
        take(range, channel->path, value);
        for (int side = -1; cubic && side <= 1; side += 2) {
            const uint32_t other = side < 0 ? (k ? k - 1 : k) : k + 1;
            if (other >= channel->key_count) continue;
            const float step = fabsf(channel->times[other] - channel->times[k]) / 3;
            float point[3];
            for (int c = 0; c < 3; c++)
                point[c] = value[c] + (float)side * step * value[3 * side + c];
            take(range, channel->path, point);
        }
    }
}

/// The largest factor by which a matrix stretches: its square is no more than the largest row sum
/// of L^T L.
static double stretch(const float *m)
{
    double most = 0;
    for (int a = 0; a < 3; a++) {
        double sum = 0;
        for (int b = 0; b < 3; b++)
            sum += fabs((double)m[a] * m[b] + (double)m[4 + a] * m[4 + b] +
                        (double)m[8 + a] * m[8 + b]);
        most = fmax(most, sum);
    }
    return sqrt(most);
}

static void clip_ranges(const cutis_model *model, const cutis_clip *clip, cutis_node_range *ranges)
{
    for (uint32_t n = 0; n < model->data.node_count; n++) {
        const cutis_transform *rest = &model->rest[n];
        ranges[n] = (cutis_node_range){ .box = box3_empty() };
        take(&ranges[n], CUTIS_PATH_TRANSLATION, &rest->translation.x);
        take(&ranges[n], CUTIS_PATH_SCALE, &rest->scale.x);
        if (model->data.nodes[n].matrix)
            ranges[n].scale = fmax(ranges[n].scale, stretch(model->data.nodes[n].matrix->m));
    }
    for (uint32_t c = 0; clip && c < clip->channel_count; c++) {
        const cutis_channel *channel = &clip->channels[c];
        if (channel->path == CUTIS_PATH_TRANSLATION || channel->path == CUTIS_PATH_SCALE)
            take_channel(channel, &ranges[channel->node]);
    }
}

static double longest(const box3 *box)
{
    const double x = fmax(fabs(box->low[0]), fabs(box->high[0]));
    const double y = fmax(fabs(box->low[1]), fabs(box->high[1]));
    const double z = fmax(fabs(box->low[2]), fabs(box->high[2]));
    return sqrt(x * x + y * y + z * z);
}

/// How far morph targets may take a primitive's vertices, all at once.
static double morph_reach(const cutis_mesh *mesh, const cutis_primitive *primitive)
{
    double sum = 0;
    for (uint32_t t = 0; primitive->targets && t < mesh->target_count; t++) {
        const float *d = primitive->targets[t].positions;
        double most = 0;
        for (uint32_t v = 0; d && v < primitive->vertex_count; v++)
            most = fmax(most, v3_dot(v3_at(d, v), v3_at(d, v)));
        sum += sqrt(most);
    }
    return sum;
}

static void take_point(const cutis_mat34 *inverse_bind, vec3 p, double more, double *radius)
{
    double square = v3_dot(p, p);
    if (inverse_bind) {
        const float *m = inverse_bind->m;
        const double x = m[0] * p.x + m[1] * p.y + m[2] * p.z + m[3];
        const double y = m[4] * p.x + m[5] * p.y + m[6] * p.z + m[7];
        const double z = m[8] * p.x + m[9] * p.y + m[10] * p.z + m[11];
        square = x * x + y * y + z * z;
    }
    if (more > 0 && inverse_bind) more *= stretch(inverse_bind->m);
    const double far = more > 0 ? sqrt(square) + more : 0;
    if (more > 0 ? far > *radius : square > *radius * *radius)
        *radius = more > 0 ? far : sqrt(square);
}

/// How far the vertices of a primitive are from the nodes that hold them, in the nodes' own
/// coordinates.
static void take_primitive(const cutis_model *model, const cutis_instance *instance,
                           const cutis_mesh *mesh, const cutis_primitive *primitive, double *radii)
{
    const cutis_influences *w = &primitive->influences;
    const double more = morph_reach(mesh, primitive);
    for (uint32_t v = 0; v < primitive->vertex_count; v++) {
        const vec3 p = v3_at(primitive->positions, v);
        if (instance->skin == CUTIS_NONE || !w->first) {
            take_point(NULL, p, more, &radii[instance->node]);
            continue;
        }
        const cutis_skin *skin = &model->data.skins[instance->skin];
        for (uint32_t e = w->first[v]; e < w->first[v + 1]; e++)
            if (w->weights[e] > 0)
                take_point(skin->inverse_binds ? &skin->inverse_binds[w->joints[e]] : NULL, p, more,
                           &radii[skin->joints[w->joints[e]]]);
    }
}

/// What a node of the level's own holds, seen from the nearest one above that the first level has.
static void fold_radii(const crowd_level *level, double *own, double *radii)
{
    const cutis_model *model = level->binding->base.model;
    for (uint32_t n = model->data.node_count; n-- > 0;) {
        const int32_t parent = model->data.nodes[n].parent;
        const int32_t to = level->map ? level->map[n] : (int32_t)n;
        if (to >= 0) {
            radii[to] = fmax(radii[to], own[n]);
        } else if (parent != CUTIS_NONE && own[n] > 0) {
            const cutis_mat34 m = model->data.nodes[n].matrix
                                      ? *model->data.nodes[n].matrix
                                      : cutis_mat34_from_transform(&model->rest[n]);
            const vec3 t = v3(m.m[3], m.m[7], m.m[11]);
            own[parent] = fmax(own[parent], v3_length(t) + stretch(m.m) * own[n]);
        }
    }
}

cutis_result cutis_crowd_radii(const cutis_crowd *crowd, double *radii)
{
    for (uint32_t n = 0; n < crowd->node_count; n++) radii[n] = 0;
    for (uint32_t l = 0; l < crowd->level_count; l++) {
        const cutis_model *model = crowd->levels[l].binding->base.model;
        double *own = cutis_alloc_zero(crowd->context, model->data.node_count, sizeof *own);
        if (!own) return cutis_alloc_result(crowd->context);
        for (uint32_t i = 0; i < model->instance_count; i++) {
            const cutis_mesh *mesh = &model->data.meshes[model->instances[i].mesh];
            for (uint32_t p = 0; p < mesh->primitive_count; p++)
                take_primitive(model, &model->instances[i], mesh, &mesh->primitives[p], own);
        }
        fold_radii(&crowd->levels[l], own, radii);
        cutis_free_array(crowd->context, own, model->data.node_count, sizeof *own);
    }
    return CUTIS_OK;
}

void cutis_crowd_reach(const cutis_model *model, const cutis_clip *clip, const double *radii,
                       cutis_node_range *ranges, double *reach)
{
    const cutis_model_data *data = &model->data;
    clip_ranges(model, clip, ranges);
    for (uint32_t n = 0; n < data->node_count; n++) reach[n] = radii[n];
    for (uint32_t n = data->node_count; n-- > 0;) { // children come after their parents
        const int32_t parent = data->nodes[n].parent;
        if (parent == CUTIS_NONE) continue;
        const double far = longest(&ranges[n].box) + ranges[n].scale * reach[n];
        reach[parent] = fmax(reach[parent], far);
    }
}

/// The ball of a clip; NULL: of the rest pose.
static crowd_ball ball_of(const cutis_model *model, const cutis_node_range *ranges,
                          const double *reach, double bulge)
{
    box3 box = box3_empty();
    for (uint32_t n = 0; n < model->data.node_count; n++) {
        if (model->data.nodes[n].parent != CUTIS_NONE || reach[n] == 0) continue;
        const double far = bulge * ranges[n].scale * reach[n];
        const vec3 more = v3(far, far, far);
        box3_add(&box, v3_sub(v3_of(ranges[n].box.low), more));
        box3_add(&box, v3_add(v3_of(ranges[n].box.high), more));
    }
    crowd_ball ball = { { 0, 0, 0 }, 0 };
    if (!(box.low[0] <= box.high[0])) return ball;
    const vec3 middle = v3_scale(v3_add(v3_of(box.low), v3_of(box.high)), 0.5);
    v3_put(middle, ball.centre);
    for (uint32_t n = 0; n < model->data.node_count; n++) {
        if (model->data.nodes[n].parent != CUTIS_NONE || reach[n] == 0) continue;
        const vec3 a = v3_sub(v3_of(ranges[n].box.low), middle),
                   b = v3_sub(v3_of(ranges[n].box.high), middle);
        const vec3 far =
            v3(fmax(fabs(a.x), fabs(b.x)), fmax(fabs(a.y), fabs(b.y)), fmax(fabs(a.z), fabs(b.z)));
        ball.radius =
            fmax(ball.radius, sqrt(v3_dot(far, far)) + bulge * ranges[n].scale * reach[n]);
    }
    return ball;
}

cutis_result cutis_crowd_bounds_make(cutis_crowd *crowd)
{
    crowd_clips *clips = &crowd->clips;
    const cutis_model *model = crowd->levels[0].binding->base.model;
    cutis_arena arena = { .context = crowd->context };
    double *radii = cutis_arena_alloc(&arena, crowd->node_count, 2 * sizeof *radii);
    cutis_node_range *ranges = cutis_arena_alloc(&arena, crowd->node_count, sizeof *ranges);
    clips->balls = cutis_arena_zero(&crowd->arena, (size_t)clips->count + 1, sizeof *clips->balls);
    cutis_result result = CUTIS_OK;
    if (!radii || !ranges || !clips->balls) {
        result = cutis_alloc_result(crowd->context);
    } else {
        double bulge = 1;
        for (uint32_t l = 0; l < crowd->level_count; l++) {
            const cutis_method method = crowd->levels[l].binding->base.options.method;
            if (method != CUTIS_METHOD_LBS && method != CUTIS_METHOD_RIGID) bulge = BULGE;
        }
        result = cutis_crowd_radii(crowd, radii);
        for (uint32_t c = 0; c <= clips->count && result == CUTIS_OK; c++) {
            double *reach = radii + crowd->node_count;
            cutis_crowd_reach(model, c < clips->count ? clips->sources[c] : NULL, radii, ranges,
                              reach);
            clips->balls[c] = ball_of(model, ranges, reach, bulge);
        }
    }
    cutis_arena_release(&arena);
    return result;
}

void cutis_crowd_bound(cutis_crowd *crowd, uint32_t instance)
{
    const cutis_crowd_instance *given = &crowd->now[instance];
    const crowd_clips *clips = &crowd->clips;
    const crowd_ball *first =
        &clips->balls[given->track_count ? given->tracks[0].clip : clips->count];
    double radius = first->radius;
    for (uint32_t t = 1; t < given->track_count; t++) {
        const crowd_ball *other = &clips->balls[given->tracks[t].clip];
        const vec3 apart = v3_sub(v3_of(first->centre), v3_of(other->centre));
        radius = fmax(radius, sqrt(v3_dot(apart, apart)) + other->radius);
    }
    const cutis_mat34 root = cutis_mat34_from_transform(&given->root);
    const float *m = root.m;
    const double *c = first->centre;
    crowd->x[instance] = (float)(m[0] * c[0] + m[1] * c[1] + m[2] * c[2] + m[3]);
    crowd->y[instance] = (float)(m[4] * c[0] + m[5] * c[1] + m[6] * c[2] + m[7]);
    crowd->z[instance] = (float)(m[8] * c[0] + m[9] * c[1] + m[10] * c[2] + m[11]);
    // Rounded up: the centre was rounded, and so will be the products of culling.
    radius *= given->root.scale.x;
    const double size =
        fabs(crowd->x[instance]) + fabs(crowd->y[instance]) + fabs(crowd->z[instance]);
    crowd->radius[instance] = given->hidden ? -1 : (float)(radius * 1.0001 + size * 1e-6);
}
