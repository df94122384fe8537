// Fitting a model to example shapes: gather, weights and displacements, poses, the new model.
// Invariant: nothing is published unless everything succeeded; the result depends on model,
// examples and options only.
#include "fit/poses/fit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

void cutis_pose_fit_report_destroy(cutis_pose_fit_report *fit)
{
    cutis_owner_destroy(fit);
}

// Learned weights in place of a primitive's own.
static bool set_weights(cutis_arena *arena, const cutis_fit_problem *p, const cutis_fit_span *span,
                        cutis_influences *out)
{
    uint32_t total = 0, count = span->primitive->vertex_count;
    for (uint32_t v = 0; v < count; v++) total += p->counts[span->vertex_first + v];
    uint32_t *first = cutis_arena_alloc(arena, (size_t)count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(arena, total, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, total, sizeof *weights);
    if (!first || !joints || !weights) return false;
    first[0] = 0;
    for (uint32_t v = 0; v < count; v++) {
        size_t vertex = span->vertex_first + v, own = p->counts[vertex];
        memcpy(joints + first[v], p->joints + vertex * p->slots, own * sizeof *joints);
        memcpy(weights + first[v], p->weights + vertex * p->slots, own * sizeof *weights);
        first[v + 1] = first[v] + (uint32_t)own;
    }
    *out = (cutis_influences){ first, joints, weights };
    return true;
}

static bool set_targets(cutis_arena *arena, const cutis_fit_poses *poses,
                        const cutis_fit_span *span, cutis_primitive *out)
{
    uint32_t count = cutis_pose_targets(&poses->space);
    cutis_morph_target *targets = cutis_arena_alloc(arena, count, sizeof *targets);
    if (!targets) return false;
    for (uint32_t k = 0; k < count; k++)
        targets[k] = (cutis_morph_target){
            .positions = poses->positions[k] + 3 * (size_t)span->vertex_first,
            .normals = poses->normals && out->normals
                           ? poses->normals[k] + 3 * (size_t)span->vertex_first
                           : NULL,
        };
    out->targets = targets;
    return true;
}

static bool set_names(cutis_arena *arena, const cutis_fit_problem *p, const cutis_fit_poses *poses,
                      const char ***out)
{
    uint32_t count = cutis_pose_targets(&poses->space);
    *out = cutis_arena_alloc(arena, count, sizeof **out);
    for (uint32_t k = 1; *out && k <= count; k++) {
        uint32_t e = poses->example[k];
        const char *name = p->examples->names ? p->examples->names[e] : NULL;
        if (poses->space.field_count)
            (*out)[k - 1] = cutis_arena_format(arena, "principal %u", k);
        else
            (*out)[k - 1] = name ? name : cutis_arena_format(arena, "pose %u", k);
        if (!(*out)[k - 1]) return false;
    }
    return *out != NULL;
}

// The model with the new weights, and with targets and pose space unless `poses` is NULL.
static cutis_result make_model(const cutis_fit_problem *p, const cutis_fit_poses *poses,
                               cutis_model **out)
{
    cutis_model_data data = *p->data;
    cutis_arena *arena = p->arena;
    cutis_mesh *meshes = cutis_arena_copy(arena, data.meshes, data.mesh_count, sizeof *meshes);
    const char **names = NULL;
    bool good = meshes && (!poses || set_names(arena, p, poses, &names));
    for (uint32_t s = 0; s < p->span_count && good; s++) {
        const cutis_fit_span *span = &p->spans[s];
        cutis_mesh *mesh = &meshes[span->mesh];
        if (span->index == 0)
            mesh->primitives = cutis_arena_copy(arena, mesh->primitives, mesh->primitive_count,
                                                sizeof *mesh->primitives);
        if (!mesh->primitives) {
            good = false;
            break;
        }
        cutis_primitive *primitive = (cutis_primitive *)&mesh->primitives[span->index];
        if (p->options.learn_weights) good = set_weights(arena, p, span, &primitive->influences);
        if (!poses) continue;
        mesh->target_count = cutis_pose_targets(&poses->space);
        mesh->target_names = names;
        mesh->target_weights = NULL;
        good = good && set_targets(arena, poses, span, primitive);
    }
    data.meshes = meshes;
    if (poses) data.pose_space = &poses->space;
    return good ? cutis_model_create(p->context, &data, CUTIS_GATE_REFUSE, out)
                : cutis_alloc_result(p->context);
}

// Bytes of the paper's textures and of our fields (docs/spec/pose-space.md 9 and 10).
static void count_bytes(const cutis_fit_poses *poses, uint64_t vertices, cutis_pose_fit_report *fit)
{
    uint64_t n = poses->space.pose_count, joints = poses->space.joint_count;
    fit->paper_bytes = vertices * (2 * 12 + 2 * 16 + 12 * n) + 4 * n * (n + 3 * joints);
    fit->psd_bytes = vertices * (2 * 12 + 2 * 16 + 2 * 12 * cutis_pose_targets(&poses->space));
    fit->wpsd_bytes = vertices * (2 * 12 + 2 * 16 + 4 + 28 * n);
}

static double root_mean(double sum, double count)
{
    return count > 0 ? sqrt(sum / count) : 0;
}

static uint32_t contradictions_listed(const cutis_fit_poses *poses)
{
    return poses->contradiction_count < CUTIS_CONTRADICTIONS ? poses->contradiction_count
                                                             : CUTIS_CONTRADICTIONS;
}

static bool copy_one_out(const cutis_fit_problem *p, cutis_arena *arena, cutis_pose_fit_report *fit)
{
    const uint32_t count = p->examples->count;
    cutis_pose_left_out *o = &fit->one_out;
    const double **lists[3] = { &o->ssd, &o->psd, &o->wpsd };
    double *means[3] = { &o->ssd_rms, &o->psd_rms, &o->wpsd_rms };
    o->group_count = p->one_out_groups;
    o->vertex_count = p->one_out_vertices;
    for (int m = 0; m < (p->displacements ? 3 : 1); m++) {
        double sum = 0;
        for (uint32_t e = 0; e < count; e++) sum += p->one_out[m][e] * p->one_out[m][e];
        *means[m] = root_mean(sum, count);
        *lists[m] = cutis_arena_copy(arena, p->one_out[m], count, sizeof *p->one_out[m]);
        if (!*lists[m]) return false;
    }
    return true;
}

// Whose pose each example has first. @return how many have another's
static uint32_t find_same(const cutis_fit_poses *poses, uint32_t examples, uint32_t *same_as)
{
    uint32_t merged = 0;
    for (uint32_t e = 0; e < examples; e++) {
        same_as[e] = poses->pose_of[e] == 0 ? UINT32_MAX : poses->example[poses->pose_of[e]];
        merged += same_as[e] != e;
    }
    return merged;
}

static cutis_result make_report(const cutis_fit_problem *p, const cutis_fit_poses *poses,
                                cutis_pose_fit_report **out)
{
    cutis_pose_fit_report *fit = cutis_owner_create(p->context, sizeof *fit);
    if (!fit) return cutis_alloc_result(p->context);
    cutis_arena *arena = cutis_owner_arena(fit);
    const uint32_t examples = p->examples->count;
    for (uint32_t s = 0; s < p->span_count; s++)
        fit->vertex_count += p->spans[s].primitive->vertex_count;
    double *before = NULL, *after = cutis_arena_alloc(arena, examples, sizeof *after);
    uint32_t *same_as = cutis_arena_alloc(arena, examples, sizeof *same_as);
    cutis_pose_contradiction *contradictions = cutis_arena_copy(
        arena, poses->contradictions, contradictions_listed(poses), sizeof *contradictions);
    if (p->before) before = cutis_arena_alloc(arena, examples, sizeof *before);
    fit->still_joints =
        cutis_arena_copy(arena, poses->still, poses->still_count, sizeof *poses->still);
    if (!after || (p->before && !before) || !fit->still_joints || !same_as || !contradictions ||
        (p->one_out_groups && !copy_one_out(p, arena, fit))) {
        cutis_pose_fit_report_destroy(fit);
        return cutis_alloc_result(p->context);
    }
    double count = (double)fit->vertex_count;
    for (uint32_t e = 0; e < examples; e++) {
        if (before) before[e] = root_mean(p->before[e], count);
        if (before) fit->before_rms += p->before[e];
        after[e] = root_mean(p->after[e], count);
        fit->after_rms += p->after[e];
    }
    fit->before_rms = root_mean(fit->before_rms, count * examples);
    fit->after_rms = root_mean(fit->after_rms, count * examples);
    fit->before = before;
    fit->after = after;
    fit->example_count = examples;
    fit->pose_count = poses->space.pose_count;
    fit->merged_count = find_same(poses, examples, same_as);
    fit->same_as = same_as;
    fit->prior = p->options.prior;
    fit->left_out_own = p->left_out[0];
    fit->left_out_plain = p->left_out[1];
    fit->left_out_rms = p->left_out[2];
    fit->contradiction_count = poses->contradiction_count;
    fit->contradictions = contradictions;
    fit->root_counts = poses->root_counts;
    fit->diagonal = p->diagonal;
    fit->discarded_mean = p->sums.discarded / count;
    fit->discarded_max = p->sums.discarded_max;
    fit->deficient_count = p->sums.deficient;
    fit->damped_count = p->sums.damped;
    fit->ambiguous_count = poses->ambiguous;
    fit->still_joint_count = poses->still_count;
    fit->sigma = poses->sigma;
    fit->condition = poses->condition;
    fit->displacement_max = p->sums.longest;
    fit->field_count = p->displacements ? cutis_pose_targets(&poses->space) : 0;
    fit->energy = poses->energy;
    fit->compression_max = poses->compression_max;
    count_bytes(poses, fit->vertex_count, fit);
    *out = fit;
    return CUTIS_OK;
}

// The poses that weights are judged in before any are learned: with the model's own, or, where
// vertices have none, with plainly learned ones.
static cutis_result fit_first(cutis_fit_problem *p, bool weighted, cutis_fit_poses *poses)
{
    if (weighted) {
        p->options.learn_weights = false;
        p->options.prior = INFINITY;
        p->locks = false;
    } else {
        p->options.prior = 0;
    }
    if (!p->options.weights_only) TRY(cutis_fit_vertices(p));
    return cutis_fit_poses_create(p, poses);
}

// Weights that blend better may interpolate worse, so the choice of weights needs the poses, and
// these the displacements of some weights.
static cutis_result choose_weights(cutis_fit_problem *p, cutis_fit_poses *poses)
{
    bool weighted;
    if (!p->options.learn_weights) return CUTIS_OK;
    TRY(cutis_fit_random(p));
    cutis_fit_problem first = *p;
    TRY(cutis_fit_own_weights(p, &weighted));
    TRY(fit_first(&first, weighted, poses));
    TRY(cutis_fit_validate(p, poses, weighted));
    if (isinf(p->options.prior)) {
        p->options.learn_weights = false;
        p->locks = false;
    }
    return CUTIS_OK;
}

static cutis_result fit_all(cutis_fit_problem *p, cutis_fit_poses *poses)
{
    TRY(choose_weights(p, poses));
    TRY(cutis_fit_vertices(p));
    TRY(cutis_fit_poses_create(p, poses));
    return cutis_fit_left_out(p, poses);
}

// A call's problem; its arena is to be released.
static cutis_fit_problem problem_of(const cutis_model *model, cutis_device *device,
                                    const cutis_pose_examples *examples,
                                    const cutis_pose_fit_options *options, cutis_arena *arena)
{
    cutis_fit_problem p = { .model = model,
                            .data = cutis_model_get(model),
                            .context = cutis_model_context(model),
                            .device = device,
                            .examples = examples,
                            .arena = arena,
                            .vertex_count = cutis_model_vertex_count(model) };
    if (options) p.options = *options;
    if (!p.options.influences) p.options.influences = 4;
    arena->context = p.context;
    return p;
}

cutis_result cutis_poses_fit(const cutis_model *model, cutis_device *device,
                             const cutis_pose_examples *examples,
                             const cutis_pose_fit_options *options, cutis_model **out,
                             cutis_pose_fit_report **report)
{
    if (out) *out = NULL;
    if (report) *report = NULL;
    if (!model || !examples || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_arena arena = { 0 };
    cutis_fit_problem p = problem_of(model, device, examples, options, &arena);
    cutis_fit_poses poses;
    cutis_model *made = NULL;
    cutis_result result = cutis_fit_gather(&p);
    if (result == CUTIS_OK) result = fit_all(&p, &poses);
    if (result == CUTIS_OK) result = make_model(&p, p.options.weights_only ? NULL : &poses, &made);
    if (result == CUTIS_OK && report) result = make_report(&p, &poses, report);
    cutis_arena_release(&arena);
    if (result != CUTIS_OK) {
        cutis_model_destroy(made);
        return cutis_fail_in(p.context, result);
    }
    *out = made;
    return CUTIS_OK;
}

uint32_t cutis_poses_part_count(const cutis_model *model)
{
    const uint32_t most = CUTIS_FIT_TASK * CUTIS_FIT_GROUP;
    const cutis_instance *instances;
    uint32_t count = 0;
    if (!model) return 0;
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t i = 0, all = cutis_model_instances(model, &instances); i < all; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        for (uint32_t k = 0; k < mesh->primitive_count && instances[i].skin != CUTIS_NONE; k++)
            count += (mesh->primitives[k].vertex_count + most - 1) / most;
    }
    return count;
}

struct cutis_pose_learner {
    cutis_context *context;
    cutis_arena arena;
    cutis_pose_examples examples;
    cutis_fit_problem problem;
    cutis_fit_poses poses;
    cutis_fit_part part;
    uint32_t part_count;
};

void cutis_pose_learner_destroy(cutis_pose_learner *learner)
{
    if (!learner) return;
    cutis_arena_release(&learner->arena);
    cutis_free_array(learner->context, learner, 1, sizeof *learner);
}

cutis_result cutis_pose_learner_create(const cutis_model *model, cutis_device *device,
                                       const cutis_pose_examples *examples,
                                       const cutis_pose_fit_options *options,
                                       cutis_pose_learner **out)
{
    if (out) *out = NULL;
    if (!model || !examples || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = cutis_model_context(model);
    cutis_pose_learner *made = cutis_alloc_zero(context, 1, sizeof *made);
    if (!made) return cutis_fail_in(context, cutis_alloc_result(context));
    made->context = context;
    made->examples = *examples;
    made->part_count = cutis_poses_part_count(model);
    made->problem = problem_of(model, device, &made->examples, options, &made->arena);
    made->problem.part = &made->part;
    cutis_result result = cutis_fit_gather(&made->problem);
    if (result == CUTIS_OK) result = choose_weights(&made->problem, &made->poses);
    if (result != CUTIS_OK) {
        cutis_pose_learner_destroy(made);
        return cutis_fail_in(context, result);
    }
    *out = made;
    return CUTIS_OK;
}

cutis_result cutis_pose_learner_learn(cutis_pose_learner *learner, uint32_t part, void **bytes,
                                      size_t *size)
{
    if (bytes) *bytes = NULL;
    if (size) *size = 0;
    if (!learner || !bytes || !size) return CUTIS_INVALID_ARGUMENT;
    cutis_arena arena = { .context = learner->context };
    cutis_fit_problem p = learner->problem; // what a part takes goes with it
    cutis_fit_part made = { .part = part };
    cutis_fit_window window;
    p.arena = &arena, p.part = &made;
    if (p.window) window = *p.window, p.window = &window;
    cutis_result result = CUTIS_OK;
    if (part >= learner->part_count)
        result = cutis_fail(p.context, CUTIS_INVALID_ARGUMENT, "fit: no part %u; there are %u",
                            part, learner->part_count);
    if (result == CUTIS_OK) result = cutis_fit_vertices(&p);
    cutis_arena_release(&arena);
    if (result != CUTIS_OK) {
        cutis_memory_free(p.context, made.bytes, made.size);
        return cutis_fail_in(p.context, result);
    }
    *bytes = made.bytes, *size = made.size;
    return CUTIS_OK;
}
