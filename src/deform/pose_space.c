/// Pose space at run time. PSD interpolates the examples once per instance, here, and hands the
/// weights to the morph targets that hold their displacements: every device has those. WPSD hands
/// over squared distances per bone, and each vertex interpolates for itself, with fields made here
/// at bind. What its weights cannot tell apart is one pose to it, with the mean displacement; the
/// rest of those displacements is played as PSD plays it, by morph targets of the few vertices that
/// have any, so that WPSD too passes through every example.
///
/// Invariant: nothing is allocated after bind; what an instance gets depends on its pose alone.
#include "deform/skin.h"

#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "model/pose_space.h"

static const double LOG2_E = 1.4426950408889634;
// Displacements that are off their mean by less, of the diagonal, are left at the mean.
static const double RESIDUAL = 1e-6;
// A joint may be moved further than floats reach squared; nothing differs beyond this.
static const double SQUARE_MAX = 1e30;

struct cutis_pose_play {
    cutis_pose_measure measure;
    cutis_pose_table table;
    cutis_rbf rbf;        ///< PSD, and WPSD with residuals
    int32_t *bone_joint;  ///< per bone: joint of the space, or -1
    uint32_t range_count; ///< instances whose targets are examples, or one: the residuals
    uint32_t *ranges;     ///< first of those targets in a pose's morph weights
};

static void find_joints(const cutis_skin_binding *binding, const cutis_pose_space *space,
                        int32_t *bone_joint)
{
    for (uint32_t b = 0; b < binding->bone_count; b++) {
        bone_joint[b] = -1;
        for (uint32_t j = 0; j < space->joint_count; j++)
            if (space->joints[j] == binding->bone_node[b]) bone_joint[b] = (int32_t)j;
    }
}

static void find_ranges(const cutis_skin_binding *binding, const cutis_pose_space *space,
                        struct cutis_pose_play *play)
{
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(binding->base.model, &instances);
    for (uint32_t i = 0; i < count; i++)
        if (space->targets[instances[i].mesh] != CUTIS_NONE)
            play->ranges[play->range_count++] =
                instances[i].target_first + (uint32_t)space->targets[instances[i].mesh];
}

/// Displacements of all poses at a vertex: 3 of the position, 3 of the normal each.
/// @param first their first target; CUTIS_NONE: there are none
static void load_displacements(const cutis_pose_space *space, const cutis_primitive *primitive,
                               size_t vertex, int32_t first, double *out)
{
    const uint32_t fields = space->field_count;
    memset(out, 0, 6 * (size_t)space->pose_count * sizeof *out);
    if (first == CUTIS_NONE || !primitive->targets) return;
    for (uint32_t m = 0; m < cutis_pose_targets(space); m++) {
        const cutis_morph_target *target = &primitive->targets[(uint32_t)first + m];
        const float *values[2] = { target->positions, target->normals };
        for (size_t i = 0; i < 6; i++) {
            if (!values[i / 3]) continue;
            double value = values[i / 3][3 * vertex + i % 3];
            if (!fields) out[6 * (size_t)(m + 1) + i] = value;
            for (size_t k = 1; k < space->pose_count && fields; k++)
                out[6 * k + i] += space->coefficients[(k - 1) * fields + m] * value;
        }
    }
}

/// The collapsed fields of one vertex into its lane of the planes; those of padding stay 0.
static void fill_fields(const cutis_skin_layout *layout, const cutis_rbf *rbf, const double *d,
                        uint32_t slot, float *fields)
{
    const size_t size = layout->block_size, planes = layout->normals ? 7 : 4;
    const uint32_t n = rbf->pose_count;
    float *to = fields + (slot / size) * layout->pose_count * planes * size + slot % size;
    for (uint32_t k = 0; k < n; k++, to += planes * size) {
        double sum[6] = { 0 };
        for (size_t t = 1; t < n; t++) // the rest pose has none
            for (size_t i = 0; i < planes - 1; i++) sum[i] += rbf->matrix[t * n + k] * d[6 * t + i];
        for (size_t c = 0; c < 3; c++) to[c * size] = (float)sum[c];
        to[3 * size] = (float)rbf->sums[k];
        for (size_t c = 3; c < planes - 1; c++) to[(c + 1) * size] = (float)sum[c];
    }
}

static float scale_of(const cutis_rbf *rbf)
{
    if (!(rbf->sigma > 0)) return 0;
    return (float)(LOG2_E / (rbf->gaussian ? 2 * rbf->sigma * rbf->sigma : rbf->sigma));
}

/// What the vertices of one primitive share while their fields are made.
typedef struct field_work {
    cutis_skin_binding *binding;
    struct cutis_pose_play *play;
    cutis_rbf rbf;
    double *scratch, *weight;
    double *displacements; ///< 6 per pose, of the vertex at hand
    uint32_t *joint;
    uint32_t last; ///< vertex whose weights `rbf` was made for, or UINT32_MAX
    float *fields, *scales;
    uint32_t *rows; ///< per output vertex: row of its residuals, or UINT32_MAX
    uint32_t row_count;
    float *deltas; ///< NULL while rows are counted
} field_work;

/// Fit the vertex's own RBF, unless its weights are those of the last one.
static void fit_vertex(field_work *w, uint32_t vertex, bool displaced)
{
    const cutis_skin_layout *layout = &w->binding->layout;
    const cutis_pose_space *space = cutis_model_get(w->binding->base.model)->pose_space;
    const uint32_t first = layout->first[vertex], count = layout->first[vertex + 1] - first;
    cutis_joint_weights weights = { 0, w->joint, w->weight };
    if (w->last != UINT32_MAX && displaced) {
        const uint32_t last = layout->first[w->last];
        if (layout->first[w->last + 1] - last == count &&
            memcmp(layout->bone + last, layout->bone + first, count * sizeof *layout->bone) == 0 &&
            memcmp(layout->weight + last, layout->weight + first, count * sizeof *layout->weight) ==
                0)
            return;
    }
    for (uint32_t i = 0; i < count && displaced; i++) {
        int32_t joint = w->play->bone_joint[layout->bone[first + i]];
        if (joint < 0) continue;
        w->joint[weights.count] = (uint32_t)joint;
        w->weight[weights.count++] = layout->weight[first + i];
    }
    cutis_rbf_fit(&w->play->table, &weights, space->kernel == CUTIS_POSE_GAUSSIAN, space->sigma,
                  w->scratch, &w->rbf);
    w->last = displaced ? vertex : UINT32_MAX;
}

/// What the displacements of a vertex are off the mean of their cluster. @return is it worth it?
static bool residual(const field_work *w, float *out)
{
    const cutis_rbf *rbf = &w->rbf;
    const double limit = RESIDUAL * w->binding->diagonal;
    bool worth = false;
    for (size_t t = 0; t < rbf->pose_count; t++) {
        double mean[6] = { 0 }, square = 0;
        uint32_t members = 0;
        for (size_t u = 0; u < rbf->pose_count; u++) {
            if (rbf->cluster[u] != rbf->cluster[t]) continue;
            for (size_t i = 0; i < 6; i++) mean[i] += w->displacements[6 * u + i];
            members++;
        }
        for (size_t i = 0; i < 6; i++) {
            double off = w->displacements[6 * t + i] - mean[i] / members;
            if (i < 3) square += off * off;
            if (out) out[6 * t + i] = (float)off;
        }
        if (square > limit * limit) worth = true;
    }
    return worth;
}

/// Count the vertices with residuals, or fill in their rows.
static void note_residual(field_work *w, uint32_t vertex)
{
    const size_t targets = w->rbf.pose_count;
    if (w->deltas) {
        residual(w, w->deltas + 6 * targets * w->rows[vertex]);
        return;
    }
    w->rows[vertex] = UINT32_MAX;
    if (w->rbf.cluster_count < w->rbf.pose_count && residual(w, NULL))
        w->rows[vertex] = w->row_count++;
}

static void fill_primitive(field_work *w, const cutis_primitive *primitive, uint32_t vertex,
                           int32_t target)
{
    const cutis_skin_layout *layout = &w->binding->layout;
    for (uint32_t v = 0; v < primitive->vertex_count; v++, vertex++) {
        uint32_t slot = layout->vertex_slot[vertex];
        if (w->deltas && w->rows[vertex] == UINT32_MAX) continue;
        fit_vertex(w, vertex, target != CUTIS_NONE);
        load_displacements(cutis_model_get(w->binding->base.model)->pose_space, primitive, v,
                           target, w->displacements);
        note_residual(w, vertex);
        if (w->deltas) continue;
        fill_fields(layout, &w->rbf, w->displacements, slot, w->fields);
        w->scales[slot] = scale_of(&w->rbf);
    }
}

/// Padding lanes divide by a sum too: it is one for them.
static void fill_padding(const cutis_skin_layout *layout, float *fields)
{
    const size_t size = layout->block_size, planes = layout->normals ? 7 : 4;
    for (size_t slot = 0; slot < layout->block_count * size; slot++)
        if (layout->vertices[slot] == CUTIS_NO_VERTEX)
            fields[(slot / size) * layout->pose_count * planes * size + 3 * size + slot % size] = 1;
}

static bool alloc_rbf(cutis_skin_binding *binding, uint32_t n, cutis_rbf *out)
{
    out->cluster = cutis_binding_alloc(&binding->base, n, sizeof *out->cluster);
    out->matrix = cutis_binding_alloc(&binding->base, n, n * sizeof *out->matrix);
    out->sums = cutis_binding_alloc(&binding->base, n, sizeof *out->sums);
    return out->cluster && out->matrix && out->sums;
}

/// All vertices that are drawn, in output order.
static cutis_result walk_vertices(field_work *w)
{
    const cutis_skin_binding *binding = w->binding;
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(binding->base.model, &instances);
    w->last = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        uint32_t vertex = instances[i].vertex_first;
        TRY(cutis_progress(binding->base.context, "pose space", (double)i / count));
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            fill_primitive(w, &mesh->primitives[p], vertex,
                           data->pose_space->targets[instances[i].mesh]);
            vertex += mesh->primitives[p].vertex_count;
        }
    }
    return CUTIS_OK;
}

static cutis_result make_residuals(field_work *w, cutis_arena *arena, cutis_pose_residuals *out)
{
    const uint32_t targets = w->rbf.pose_count; // the rest pose's too: its cluster has a mean
    if (!w->row_count) return CUTIS_OK;
    w->deltas = cutis_arena_zero(arena, (size_t)w->row_count * targets, 6 * sizeof *w->deltas);
    if (!w->deltas) return cutis_alloc_result(w->binding->base.context);
    *out = (cutis_pose_residuals){ targets, w->rows, w->deltas };
    w->play->range_count = 1;
    w->play->ranges[0] = cutis_model_target_count(w->binding->base.model);
    return walk_vertices(w);
}

static cutis_result make_fields(cutis_skin_binding *binding, struct cutis_pose_play *play,
                                cutis_arena *arena, cutis_pose_residuals *residuals)
{
    cutis_skin_layout *layout = &binding->layout;
    uint32_t n = play->table.pose_count, most = binding->max_influences;
    uint32_t padded = (n + CUTIS_POSE_QUAD - 1) / CUTIS_POSE_QUAD * CUTIS_POSE_QUAD;
    size_t planes = layout->normals ? 7 : 4,
           slots = (size_t)layout->block_count * layout->block_size;
    field_work w = { .binding = binding, .play = play };
    w.scratch = cutis_arena_alloc(arena, cutis_rbf_scratch(n), sizeof *w.scratch);
    w.joint = cutis_arena_alloc(arena, (size_t)most + 1, sizeof *w.joint);
    w.weight = cutis_arena_alloc(arena, (size_t)most + 1, sizeof *w.weight);
    w.displacements = cutis_arena_alloc(arena, n, 6 * sizeof *w.displacements);
    w.rows = cutis_arena_alloc(arena, layout->vertex_count, sizeof *w.rows);
    w.fields = cutis_layout_alloc(binding, slots, padded * planes * sizeof *w.fields);
    w.scales = cutis_layout_alloc(binding, slots, sizeof *w.scales);
    if (!w.scratch || !w.joint || !w.weight || !w.displacements || !w.rows || !w.fields ||
        !w.scales || !alloc_rbf(binding, n, &w.rbf))
        return cutis_alloc_result(binding->base.context);
    layout->pose_count = padded;
    layout->pose_gaussian =
        cutis_model_get(binding->base.model)->pose_space->kernel == CUTIS_POSE_GAUSSIAN;
    play->range_count = 0;
    cutis_result result = walk_vertices(&w);
    if (result == CUTIS_OK) result = make_residuals(&w, arena, residuals);
    fill_padding(layout, w.fields);
    layout->pose_fields = w.fields;
    layout->pose_scales = w.scales;
    return result;
}

static bool make_play(cutis_skin_binding *binding, const cutis_pose_space *space,
                      cutis_arena *arena, struct cutis_pose_play *play)
{
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(binding->base.model, &instances), n = space->pose_count;
    play->bone_joint =
        cutis_binding_alloc(&binding->base, binding->bone_count, sizeof *play->bone_joint);
    play->ranges = cutis_binding_alloc(&binding->base, (size_t)count + 1, sizeof *play->ranges);
    if (!play->bone_joint || !play->ranges || !alloc_rbf(binding, n, &play->rbf) ||
        !cutis_pose_measure_create(binding->base.model, space, &binding->base.arena,
                                   &play->measure) ||
        !cutis_pose_table_create(&play->measure, arena, &play->table))
        return false;
    // What the measure keeps: a quaternion and a flag per joint, both places of every pose.
    binding->base.memory_bytes += space->joint_count * (33ull + 56ull * space->pose_count);
    find_joints(binding, space, play->bone_joint);
    find_ranges(binding, space, play);
    return true;
}

cutis_result cutis_bind_pose_space(cutis_skin_binding *binding, cutis_arena *arena,
                                   cutis_pose_residuals *residuals)
{
    const cutis_pose_space *space = cutis_model_get(binding->base.model)->pose_space;
    bool weighted = binding->base.options.method == CUTIS_METHOD_WPSD;
    if (binding->base.options.method != CUTIS_METHOD_PSD && !weighted) return CUTIS_OK;
    if (!space)
        return cutis_fail(binding->base.context, CUTIS_UNSUPPORTED,
                          "bind: %s needs a model with a pose space (cutis fit makes one)",
                          cutis_method_name(binding->base.options.method));
    if (weighted && space->after &&
        cutis_device_describe(binding->base.device).kind != CUTIS_DEVICE_CPU)
        return cutis_fail(binding->base.context, CUTIS_UNSUPPORTED,
                          "bind: wpsd of displacements that are added after skinning runs on the "
                          "CPU only; psd runs on every device");
    struct cutis_pose_play *play = cutis_binding_alloc(&binding->base, 1, sizeof *play);
    double *scratch =
        cutis_arena_alloc(arena, cutis_rbf_scratch(space->pose_count), sizeof *scratch);
    if (!play || !scratch || !make_play(binding, space, arena, play))
        return cutis_alloc_result(binding->base.context);
    if (weighted) TRY(make_fields(binding, play, arena, residuals));
    if (play->range_count)
        cutis_rbf_fit(&play->table, &(cutis_joint_weights){ 0 },
                      space->kernel == CUTIS_POSE_GAUSSIAN, space->sigma, scratch, &play->rbf);
    play->table.squares = play->table.query_squares = NULL; // of the arena
    binding->play = play;
    return CUTIS_OK;
}

/// Doubles that one task works with.
static size_t scratch_size(const cutis_pose_measure *m)
{
    return (size_t)m->pose_count * (m->joint_count + 2);
}

bool cutis_pose_space_workspace(cutis_skin_binding *binding, cutis_skin_workspace *w)
{
    if (!binding->play) return true;
    const cutis_pose_measure *m = &binding->play->measure;
    w->pose_scratch =
        cutis_binding_alloc(&binding->base, scratch_size(m), binding->lane_count * sizeof(double));
    if (binding->layout.pose_count)
        w->pose_squares = cutis_binding_alloc(
            &binding->base, (size_t)binding->base.capacity * binding->layout.pose_count,
            binding->bone_count * sizeof(float));
    return w->pose_scratch && (w->pose_squares || !binding->layout.pose_count);
}

/// Squares of one instance, spread over the bones.
static void write_squares(const cutis_skin_binding *binding, const double *squares, float *out)
{
    const struct cutis_pose_play *play = binding->play;
    const size_t joints = play->measure.joint_count, poses = play->measure.pose_count;
    for (uint32_t b = 0; b < binding->bone_count; b++) {
        int32_t joint = play->bone_joint[b];
        for (size_t k = 0; k < binding->layout.pose_count; k++) {
            double square = k >= poses ? SQUARE_MAX : 0;
            if (k < poses && joint >= 0) square = squares[k * joints + (size_t)joint];
            *out++ = (float)(square < SQUARE_MAX ? square : SQUARE_MAX);
        }
    }
}

/// Weights of the poses as weights of targets: residuals have one for every pose, meshes one for
/// every pose but rest, or principal fields.
static void write_targets(const cutis_skin_binding *binding, const double *weights, float *out)
{
    const cutis_pose_space *space = cutis_model_get(binding->base.model)->pose_space;
    const size_t n = space->pose_count, fields = space->field_count;
    if (binding->layout.pose_count)
        for (size_t k = 0; k < n; k++) out[k] = (float)weights[k];
    else if (!fields)
        for (size_t k = 1; k < n; k++) out[k - 1] = (float)weights[k];
    for (size_t m = 0; m < fields && !binding->layout.pose_count; m++) {
        double sum = 0;
        for (size_t k = 1; k < n; k++)
            sum += weights[k] * space->coefficients[(k - 1) * fields + m];
        out[m] = (float)sum;
    }
}

void cutis_pose_space_prepare(const cutis_skin_binding *binding, cutis_skin_workspace *w,
                              const cutis_transform *local, uint32_t slot, uint32_t lane)
{
    const struct cutis_pose_play *play = binding->play;
    const size_t n = play->measure.pose_count;
    double *squares = w->pose_scratch + lane * scratch_size(&play->measure);
    double *g = squares + n * play->measure.joint_count, *weights = g + n;
    float *targets = w->targets + (size_t)slot * binding->layout.target_count;
    cutis_pose_squares(&play->measure, local, squares);
    if (w->pose_squares)
        write_squares(binding, squares,
                      w->pose_squares +
                          (size_t)slot * binding->layout.pose_count * binding->bone_count);
    if (!play->range_count) return;
    cutis_rbf_distances(&play->table, &(cutis_joint_weights){ 0 }, squares, g);
    cutis_rbf_weights(&play->rbf, g, g, weights);
    for (uint32_t r = 0; r < play->range_count; r++)
        write_targets(binding, weights, targets + play->ranges[r]);
}
