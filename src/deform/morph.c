/// Morph targets in blocks: a block lists only the targets that move one of its vertices.
/// Invariant: targets ascend within a block; a target that is not listed has only zero deltas
/// there.
#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"
#include "model/pose_space.h"

/// Where the deltas of vertices are: a primitive of an instance, and the instance's targets.
typedef struct morph_span {
    const cutis_primitive *primitive;
    uint32_t vertex_first, target_first, target_count;
    uint32_t skip_first, skip_end; ///< targets that WPSD plays in its own way
} morph_span;

/// Vertices of a block come in any order, so search by halves.
static const morph_span *find_span(const morph_span *spans, uint32_t count, uint32_t vertex)
{
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (spans[middle].vertex_first <= vertex)
            low = middle;
        else
            high = middle;
    }
    return &spans[low];
}

static uint32_t list_spans(const cutis_skin_binding *binding, morph_span *spans)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_pose_space *space =
        binding->base.options.method == CUTIS_METHOD_WPSD ? data->pose_space : NULL;
    const cutis_instance *instances;
    uint32_t instance_count = cutis_model_instances(binding->base.model, &instances), count = 0;
    for (uint32_t i = 0; i < instance_count; i++) {
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        uint32_t vertex = instances[i].vertex_first, skip = 0, skip_end = 0;
        if (space && space->targets[instances[i].mesh] != CUTIS_NONE) {
            skip = (uint32_t)space->targets[instances[i].mesh];
            skip_end = skip + cutis_pose_targets(space);
        }
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            const cutis_primitive *primitive = &mesh->primitives[p];
            const uint32_t targets = primitive->targets ? instances[i].target_count : 0;
            if (spans && primitive->vertex_count > 0)
                spans[count] = (morph_span){ primitive, vertex, instances[i].target_first,
                                             targets,   skip,   skip_end };
            count += primitive->vertex_count > 0;
            vertex += primitive->vertex_count;
        }
    }
    return count;
}

/// Which kinds of deltas a layout carries, in plane order.
static uint32_t delta_kinds(const cutis_skin_layout *layout)
{
    return 1u + (layout->normals != NULL) + (layout->tangents_rest != NULL);
}

static const float *kind_of(const cutis_skin_layout *layout, const cutis_morph_target *target,
                            uint32_t kind)
{
    if (kind == 0) return target->positions;
    return kind == 1 && layout->normals ? target->normals : target->tangents;
}

static bool moves(const cutis_skin_layout *layout, const cutis_morph_target *target,
                  uint32_t vertex)
{
    for (uint32_t kind = 0; kind < delta_kinds(layout); kind++) {
        const float *deltas = kind_of(layout, target, kind);
        if (!deltas) continue;
        deltas += 3 * (size_t)vertex;
        if (deltas[0] != 0.0f || deltas[1] != 0.0f || deltas[2] != 0.0f) return true;
    }
    return false;
}

typedef struct morph_work {
    const cutis_skin_layout *layout;
    const cutis_pose_residuals *residuals;
    uint32_t residual_first; ///< their first target
    const morph_span *spans;
    uint32_t span_count;
    uint8_t *marked; ///< per target: some lane of the block uses it
} morph_work;

static void mark_target(const morph_work *w, uint32_t target, uint32_t *low, uint32_t *high)
{
    w->marked[target] = 1;
    if (target < *low) *low = target;
    if (target + 1 > *high) *high = target + 1;
}

/// Mark the targets of a block; between *low and *high (exclusive) lie all of them.
static void mark_block(const morph_work *w, uint32_t block, uint32_t *low, uint32_t *high)
{
    *low = UINT32_MAX, *high = 0;
    for (uint32_t l = 0; l < w->layout->block_size; l++) {
        uint32_t v = w->layout->vertices[(size_t)block * w->layout->block_size + l];
        if (v == CUTIS_NO_VERTEX) continue;
        const morph_span *span = find_span(w->spans, w->span_count, v);
        for (uint32_t t = 0; t < span->target_count; t++) {
            uint32_t target = span->target_first + t;
            if (w->marked[target] || (t >= span->skip_first && t < span->skip_end) ||
                !moves(w->layout, &span->primitive->targets[t], v - span->vertex_first))
                continue;
            mark_target(w, target, low, high);
        }
        if (w->residuals->target_count && w->residuals->rows[v] != UINT32_MAX)
            for (uint32_t t = 0; t < w->residuals->target_count; t++)
                mark_target(w, w->residual_first + t, low, high);
    }
}

static void fill_residual(const morph_work *w, uint32_t v, uint32_t pose, float *lane)
{
    const uint32_t row = w->residuals->rows[v];
    if (row == UINT32_MAX) return;
    const float *deltas =
        w->residuals->deltas + 6 * ((size_t)row * w->residuals->target_count + pose);
    for (size_t c = 0; c < (w->layout->normals ? 6u : 3u); c++)
        lane[c * w->layout->block_size] = deltas[c];
}

static void fill_entry(const morph_work *w, uint32_t block, uint32_t target, float *planes)
{
    size_t size = w->layout->block_size;
    for (size_t l = 0; l < size; l++) {
        uint32_t v = w->layout->vertices[block * size + l];
        if (v == CUTIS_NO_VERTEX) continue;
        if (target >= w->residual_first) {
            fill_residual(w, v, target - w->residual_first, planes + l);
            continue;
        }
        const morph_span *span = find_span(w->spans, w->span_count, v);
        const size_t own = v - span->vertex_first;
        if (target < span->target_first || target - span->target_first >= span->target_count)
            continue;
        const cutis_morph_target *deltas = &span->primitive->targets[target - span->target_first];
        for (uint32_t kind = 0; kind < delta_kinds(w->layout); kind++) {
            const float *values = kind_of(w->layout, deltas, kind);
            for (size_t c = 0; values && c < 3; c++)
                planes[(3 * kind + c) * size + l] = values[3 * own + c];
        }
    }
}

static cutis_result fill_lists(cutis_skin_binding *binding, const morph_work *w)
{
    cutis_skin_layout *layout = &binding->layout;
    size_t blocks = layout->block_count, size = layout->block_size;
    size_t entry_floats = 3 * size * delta_kinds(layout);
    uint64_t total = 0;
    uint32_t low, high, *first = cutis_layout_alloc(binding, blocks + 1, sizeof *first);
    if (!first) return cutis_alloc_result(binding->base.context);
    for (uint32_t k = 0; k < blocks; k++) {
        mark_block(w, k, &low, &high);
        for (uint32_t t = low; t < high; t++) total += w->marked[t], w->marked[t] = 0;
        if (total > INT32_MAX / entry_floats)
            return cutis_fail(binding->base.context, CUTIS_LIMIT_EXCEEDED,
                              "bind: too many morph deltas");
        first[k + 1] = (uint32_t)total;
    }
    if (total == 0) return CUTIS_OK; // no lists: nothing to add at run time
    uint32_t *targets = cutis_layout_alloc(binding, (size_t)total, sizeof *targets);
    float *deltas = cutis_layout_alloc(binding, (size_t)total, entry_floats * sizeof *deltas);
    if (!targets || !deltas) return cutis_alloc_result(binding->base.context);
    for (uint32_t k = 0, entry = 0; k < blocks; k++) {
        mark_block(w, k, &low, &high);
        for (uint32_t t = low; t < high; t++) {
            if (!w->marked[t]) continue;
            w->marked[t] = 0;
            targets[entry] = t;
            fill_entry(w, k, t, deltas + entry_floats * entry);
            entry++;
        }
    }
    layout->morph_first = first, layout->morph_target = targets, layout->morph_delta = deltas;
    return CUTIS_OK;
}

/// The weights a pose has when it names none: the node's, else the mesh's, else 0.
static void fill_rest_weights(cutis_skin_binding *binding)
{
    const cutis_model_data *data = cutis_model_get(binding->base.model);
    const cutis_instance *instances;
    uint32_t count = cutis_model_instances(binding->base.model, &instances);
    for (uint32_t i = 0; i < count; i++) {
        const float *weights = data->nodes[instances[i].node].target_weights;
        if (!weights) weights = data->meshes[instances[i].mesh].target_weights;
        for (uint32_t t = 0; weights && t < instances[i].target_count; t++)
            binding->rest_targets[instances[i].target_first + t] = weights[t];
    }
}

cutis_result cutis_bind_morphs(cutis_skin_binding *binding, const cutis_pose_residuals *residuals)
{
    uint32_t own = cutis_model_target_count(binding->base.model);
    uint32_t target_count = own + residuals->target_count;
    binding->target_count = own;
    binding->layout.target_count = target_count;
    binding->rest_targets = cutis_binding_alloc(&binding->base, target_count, sizeof(float));
    if (!binding->rest_targets) return cutis_alloc_result(binding->base.context);
    if (target_count == 0) return CUTIS_OK;
    fill_rest_weights(binding);
    cutis_arena arena = { .context = binding->base.context };
    uint32_t span_count = list_spans(binding, NULL);
    morph_span *spans = cutis_arena_alloc(&arena, span_count, sizeof *spans);
    uint8_t *marked = cutis_arena_zero(&arena, target_count, sizeof *marked);
    cutis_result result = CUTIS_OK;
    if (!spans || !marked) {
        result = cutis_alloc_result(binding->base.context);
    } else {
        list_spans(binding, spans);
        result = fill_lists(binding, &(morph_work){ .layout = &binding->layout,
                                                    .residuals = residuals,
                                                    .residual_first = own,
                                                    .spans = spans,
                                                    .span_count = span_count,
                                                    .marked = marked });
    }
    cutis_arena_release(&arena);
    return result;
}
