// Weights of one vertex of a fit: candidate joints by nearness, locked ones left as they are, the
// rest learned. Invariant: a vertex's weights are not negative, sum to one up to rounding, ascend
// by joint, and depend on this vertex alone.
#include "fit/poses/fit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "geometry/vector.h"
#include "math/mat3.h"

#define NEAREST 32u // candidates where a skin has more than CUTIS_NNLS_MAX joints

// Where locked joints have all but this, there is nothing to learn.
static const double FREE_MIN = 1e-3;

// Squared distance from a point to a bone.
static double segment_square(const double *segment, const double *point)
{
    vec3 along = v3_sub(v3_of(segment + 3), v3_of(segment));
    vec3 from = v3_sub(v3_of(point), v3_of(segment));
    double length = v3_dot(along, along), t = length > 0 ? v3_dot(along, from) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    from = v3_mad(from, -t, along);
    return v3_dot(from, from);
}

// Candidates of a vertex and how near their bones are.
static uint32_t find_candidates(const cutis_fit_problem *p, const cutis_fit_span *span,
                                const double *rest, uint32_t *joint, double *prior)
{
    const cutis_fit_skin *skin = &p->skins[span->skin];
    const uint32_t joints = p->data->skins[span->skin].joint_count;
    const uint32_t most = joints > CUTIS_NNLS_MAX ? NEAREST : joints;
    const double floor_square = 1e-12 * p->diagonal * p->diagonal + 1e-300;
    double square[CUTIS_NNLS_MAX], total = 0;
    uint32_t count = 0;
    for (uint32_t j = 0; j < joints; j++) {
        double least = INFINITY;
        if (skin->kept && skin->kept[j]) continue;
        for (uint32_t s = skin->segment_first[j]; s < skin->segment_first[j + 1]; s++)
            least = fmin(least, segment_square(skin->segments + 6 * (size_t)s, rest));
        uint32_t at = count;
        if (count == most) { // the farthest is dropped, the later of equal ones
            for (uint32_t i = at = 0; i < count; i++)
                if (square[i] >= square[at]) at = i;
            if (!(least < square[at])) continue;
            memmove(square + at, square + at + 1, (count - at - 1) * sizeof *square);
            memmove(joint + at, joint + at + 1, (count - at - 1) * sizeof *joint);
            at = --count;
        }
        square[at] = least;
        joint[at] = j;
        count++;
    }
    for (uint32_t i = 0; i < count; i++) total += prior[i] = 1 / (square[i] + floor_square);
    for (uint32_t i = 0; i < count; i++) prior[i] /= total;
    return count;
}

// The vertex's own weights as the prior, where it has any; a joint of them that is no candidate
// takes the place of the one that is least likely. @return false: it has none on joints that are
// learned
static bool take_own(const cutis_fit_span *span, uint32_t v, const uint8_t *kept, uint32_t count,
                     uint32_t *joint, double *prior)
{
    const cutis_influences *own = &span->primitive->influences;
    double mine[CUTIS_NNLS_MAX] = { 0 }, sum = 0;
    for (uint32_t i = own->first ? own->first[v] : 0; own->first && i < own->first[v + 1]; i++) {
        uint32_t at = 0, least = 0;
        if (kept && kept[own->joints[i]]) continue;
        while (at < count && joint[at] != own->joints[i]) at++;
        for (uint32_t k = 0; k < count && at == count; k++)
            if (mine[k] == 0 && (mine[least] > 0 || prior[k] < prior[least])) least = k;
        if (at == count) joint[at = least] = own->joints[i];
        mine[at] += own->weights[i];
        sum += own->weights[i];
    }
    for (uint32_t k = 0; k < count && sum > 0; k++) prior[k] = mine[k] / sum;
    return sum > 0;
}

// Candidates that the vertex has weight on already.
static uint32_t keep_own(uint32_t count, uint32_t *joint, double *prior)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if (prior[i] > 0) joint[kept] = joint[i], prior[kept++] = prior[i];
    return kept;
}

// Weights that stay: those of locked joints, which the vertex has from before.
typedef struct kept_weights {
    uint32_t count;
    double sum;
    uint32_t joint[CUTIS_NNLS_MAX];
    double weight[CUTIS_NNLS_MAX];
} kept_weights;

static void find_kept(const cutis_fit_problem *p, const cutis_fit_skin *skin, uint32_t vertex,
                      kept_weights *out)
{
    out->count = 0;
    out->sum = 0;
    for (uint32_t i = 0; skin->kept && i < p->counts[vertex]; i++) {
        const size_t at = (size_t)vertex * p->slots + i;
        if (!skin->kept[p->joints[at]] || out->count == CUTIS_NNLS_MAX) continue;
        out->joint[out->count] = p->joints[at];
        out->weight[out->count++] = p->weights[at];
        out->sum += p->weights[at];
    }
}

// Where the other joints together have to take the vertex, if they were all there is. Locked ones
// take their share off, and the rest of the weight is scaled to one.
static void read_places(const cutis_fit_problem *p, const cutis_example_vertex *v, uint32_t vertex,
                        const kept_weights *kept, double *places)
{
    for (size_t e = 0; e < v->example_count; e++) {
        const size_t at = v->example ? v->example[e] : e;
        const double *palette = v->palettes + 12 * at * v->palette_count;
        const float *shape = cutis_fit_place(p, at, vertex);
        double *place = places + 3 * e, image[3];
        for (size_t c = 0; c < 3; c++) place[c] = shape[c];
        for (uint32_t i = 0; i < kept->count; i++) {
            double34_point(palette + 12 * (size_t)kept->joint[i], v->rest, image);
            for (int c = 0; c < 3; c++) place[c] -= kept->weight[i] * image[c];
        }
        for (int c = 0; c < 3; c++) place[c] /= 1 - kept->sum;
    }
}

// Into a list that ascends by joint.
static void put_weight(uint32_t joint, double weight, uint32_t at, uint32_t *joints, float *weights)
{
    for (; at > 0 && joints[at - 1] > joint; at--)
        joints[at] = joints[at - 1], weights[at] = weights[at - 1];
    joints[at] = joint;
    weights[at] = (float)weight;
}

uint32_t cutis_fit_learn_list(const cutis_fit_problem *p, const cutis_fit_span *span, uint32_t v,
                              const uint32_t *joint, const cutis_example_weights *found,
                              uint32_t *joints, float *weights)
{
    kept_weights kept;
    uint32_t count = 0;
    find_kept(p, &p->skins[span->skin], span->vertex_first + v, &kept);
    for (uint32_t i = 0; i < kept.count; i++)
        put_weight(kept.joint[i], kept.weight[i], count++, joints, weights);
    for (uint32_t i = 0; i < found->count; i++)
        put_weight(joint[found->candidate[i]], (1 - kept.sum) * found->weight[i], count++, joints,
                   weights);
    return count;
}

uint32_t cutis_fit_learn_begin(const cutis_fit_problem *p, const cutis_fit_span *span, uint32_t v,
                               uint32_t *joint, double *prior, double *places, uint32_t *influences)
{
    const uint32_t vertex = span->vertex_first + v;
    const cutis_fit_skin *skin = &p->skins[span->skin];
    kept_weights kept;
    if (p->options.keep_vertices && p->options.keep_vertices[vertex]) return 0;
    cutis_example_vertex problem = { .example_count = p->use ? p->use_count : p->examples->count,
                                     .example = p->use,
                                     .palettes = skin->palettes,
                                     .palette_count = p->data->skins[span->skin].joint_count };
    for (int c = 0; c < 3; c++) problem.rest[c] = span->positions[3 * (size_t)v + c];
    find_kept(p, skin, vertex, &kept);
    uint32_t count = find_candidates(p, span, problem.rest, joint, prior);
    if (kept.sum > 1 - FREE_MIN) return 0;
    if (p->options.prior > 0 || p->options.own_joints) {
        const bool own = take_own(span, v, skin->kept, count, joint, prior);
        // Weights on kept joints alone leave nothing to learn among a vertex's own joints.
        if (p->options.own_joints && !own && kept.count) return 0;
        if (p->options.own_joints && own) count = keep_own(count, joint, prior);
    }
    read_places(p, &problem, vertex, &kept, places);
    *influences = p->options.influences > kept.count ? p->options.influences - kept.count : 1;
    return count;
}

void cutis_fit_learn_end(cutis_fit_problem *p, const cutis_fit_span *span, uint32_t v,
                         const uint32_t *joint, const cutis_example_weights *found,
                         cutis_fit_sums *sums)
{
    const size_t vertex = span->vertex_first + v, at = vertex * p->slots;
    p->counts[vertex] =
        cutis_fit_learn_list(p, span, v, joint, found, p->joints + at, p->weights + at);
    sums->deficient += found->deficient;
    sums->discarded += found->discarded;
    sums->discarded_max = fmax(sums->discarded_max, found->discarded);
}

bool cutis_fit_learn(const cutis_fit_problem *p, const cutis_fit_span *span, uint32_t v,
                     double *scratch, uint32_t *joint, cutis_example_weights *found)
{
    uint32_t influences = 0;
    double prior[CUTIS_NNLS_MAX];
    cutis_example_vertex problem = { .example_count = p->use ? p->use_count : p->examples->count,
                                     .example = p->use,
                                     .joint = joint,
                                     .prior = prior,
                                     .palettes = p->skins[span->skin].palettes,
                                     .palette_count = p->data->skins[span->skin].joint_count,
                                     .random = p->skins[span->skin].random,
                                     .random_count =
                                         p->skins[span->skin].random ? CUTIS_FIT_RANDOM : 0,
                                     .places = scratch };
    problem.joint_count = cutis_fit_learn_begin(p, span, v, joint, prior, scratch, &influences);
    if (!problem.joint_count) return false;
    if (p->options.prior > 0) problem.pull = p->options.prior;
    for (int c = 0; c < 3; c++) problem.rest[c] = span->positions[3 * (size_t)v + c];
    cutis_example_solve(&problem, influences, p->options.paper.normalise,
                        scratch + 3 * (size_t)problem.example_count, found);
    return true;
}

cutis_result cutis_fit_lock(cutis_fit_problem *p)
{
    const cutis_pose_fit_options *o = &p->options;
    p->locks = o->keep_vertices || o->keep_joint_count;
    if (p->locks && !o->learn_weights)
        return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                          "fit: joints or vertices are locked, but no weights are to be learned");
    for (uint32_t s = 0; s < p->data->skin_count && o->keep_joint_count; s++) {
        const cutis_skin *skin = &p->data->skins[s];
        if (!p->skins[s].used) continue;
        p->skins[s].kept = cutis_arena_zero(p->arena, skin->joint_count, 1);
        if (!p->skins[s].kept) return cutis_alloc_result(p->context);
        for (uint32_t j = 0; j < skin->joint_count; j++)
            for (uint32_t k = 0; k < o->keep_joint_count; k++)
                if (o->keep_joints[k] == skin->joints[j]) p->skins[s].kept[j] = 1;
    }
    for (uint32_t k = 0; k < o->keep_joint_count; k++) {
        bool found = false;
        for (uint32_t s = 0; s < p->data->skin_count && !found; s++)
            for (uint32_t j = 0; j < p->data->skins[s].joint_count && p->skins[s].used; j++)
                found = found || p->data->skins[s].joints[j] == o->keep_joints[k];
        if (!found)
            return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                              "fit: node %u is to be kept, but it is no joint of the skin",
                              o->keep_joints[k]);
    }
    return CUTIS_OK;
}
