// Binding a model to a cage, and reducing what is bound. Invariant: nothing is published unless
// everything succeeded; a mesh has one set of weights, so it is shown once.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "fit/cage/coordinates.h"
#include "fit/cage/reduce.h"

static cutis_result open_binder(cutis_cage_binder *b, const cutis_model *model,
                                cutis_device *device, const cutis_cage *cage,
                                const cutis_cage_options *options)
{
    *b = (cutis_cage_binder){
        .model = model, .context = cutis_model_context(model), .device = device, .cage = cage
    };
    b->arena.context = b->context;
    if (options) b->options = *options;
    b->report = cutis_owner_create(b->context, sizeof *b->report);
    if (!b->report) return cutis_alloc_result(b->context);
    if (cutis_model_vertex_count(model) == 0)
        return cutis_fail(b->context, CUTIS_INVALID_ARGUMENT, "there are no vertices to bind");
    if (!cutis_cage_shape_make(&b->arena, cage, &b->shape)) return cutis_alloc_result(b->context);
    return cutis_handles_body_world(&b->arena, model, &b->body);
}

static cutis_result close_binder(cutis_cage_binder *b, cutis_result result,
                                 cutis_cage_report **report)
{
    cutis_arena_release(&b->arena);
    if (result == CUTIS_OK && report)
        *report = b->report;
    else
        cutis_cage_report_destroy(b->report);
    return cutis_fail_in(b->context, result);
}

static cutis_result check_instances(const cutis_cage_binder *b)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(b->model, &instances);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < i; k++)
            if (instances[k].mesh == instances[i].mesh)
                return cutis_fail(b->context, CUTIS_UNSUPPORTED,
                                  "mesh %u is shown twice; a cage binds meshes that are shown once",
                                  instances[i].mesh);
    return CUTIS_OK;
}

// All controls of every vertex.
static cutis_result weigh(cutis_cage_binder *b)
{
    const uint32_t count = b->body.shape.vertex_count, n = b->cage->control_count;
    size_t entries;
    if (!cutis_size_multiply(count, n, &entries) || entries > UINT32_MAX)
        return cutis_fail(b->context, CUTIS_LIMIT_EXCEEDED,
                          "%u vertices times %u controls are more weights than a cage holds", count,
                          n);
    double *points = cutis_arena_alloc(&b->arena, count, 3 * sizeof *points);
    b->lists.first = cutis_arena_alloc(&b->arena, (size_t)count + 1, sizeof *b->lists.first);
    b->lists.control = cutis_arena_alloc(&b->arena, entries, sizeof *b->lists.control);
    b->lists.weight = cutis_arena_alloc(&b->arena, entries, sizeof *b->lists.weight);
    if (!points || !b->lists.first || !b->lists.control || !b->lists.weight)
        return cutis_alloc_result(b->context);
    for (size_t i = 0; i < 3 * (size_t)count; i++) points[i] = b->body.positions[i];
    for (size_t i = 0; i < entries; i++) b->lists.control[i] = (uint32_t)(i % n);
    for (uint32_t v = 0; v <= count; v++) b->lists.first[v] = v * n;
    TRY(cutis_cage_weigh(b->context, b->device, &b->shape, &b->options, points, count,
                         (cutis_cage_weights){ .narrow = b->lists.weight }, b->report));
    for (size_t i = 0; i < entries; i++)
        if (!isfinite(b->lists.weight[i]))
            return cutis_fail(b->context, CUTIS_INVALID_ARGUMENT,
                              "the weights of vertex %zu are not defined: it is outside the cage "
                              "where they sum to 0",
                              i / n);
    return CUTIS_OK;
}

// The model with the cage and the lists, which are in output order.
static cutis_result publish(cutis_cage_binder *b, cutis_coordinates coordinates, cutis_model **out)
{
    cutis_model_data data = *cutis_model_get(b->model);
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(b->model, &instances);
    cutis_cage cage = *b->cage;
    cutis_cage_mesh *meshes = cutis_arena_alloc(&b->arena, data.mesh_count, sizeof *meshes);
    if (!meshes) return cutis_alloc_result(b->context);
    for (uint32_t m = 0; m < data.mesh_count; m++) meshes[m] = (cutis_cage_mesh){ 0 };
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t begin = instances[i].vertex_first, vertices = instances[i].vertex_count;
        uint32_t *first = cutis_arena_alloc(&b->arena, (size_t)vertices + 1, sizeof *first);
        const uint32_t start = b->lists.first[begin];
        if (!first) return cutis_alloc_result(b->context);
        for (uint32_t v = 0; v <= vertices; v++) first[v] = b->lists.first[begin + v] - start;
        meshes[instances[i].mesh] = (cutis_cage_mesh){ .vertex_count = vertices,
                                                       .first = first,
                                                       .controls = b->lists.control + start,
                                                       .weights = b->lists.weight + start };
    }
    cage.coordinates = coordinates;
    cage.mesh_count = data.mesh_count;
    cage.meshes = meshes;
    data.cage = &cage;
    return cutis_model_create(b->context, &data, CUTIS_GATE_REFUSE, out);
}

static cutis_result check_influences(cutis_context *context, uint32_t influences)
{
    if (influences == 0 || influences >= 4) return CUTIS_OK;
    return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                      "%u influences for a cage; a point in space takes at least 4", influences);
}

cutis_result cutis_cage_bind(const cutis_model *model, cutis_device *device, const cutis_cage *cage,
                             const cutis_cage_options *options, cutis_model **out,
                             cutis_cage_report **report)
{
    if (out) *out = NULL;
    if (report) *report = NULL;
    if (!model || !cage || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_cage_binder b;
    cutis_result result = open_binder(&b, model, device, cage, options);
    if (result == CUTIS_OK) result = check_influences(b.context, b.options.influences);
    if (result == CUTIS_OK) result = check_instances(&b);
    if (result == CUTIS_OK) result = weigh(&b);
    if (result == CUTIS_OK && b.options.influences && b.options.influences < cage->control_count)
        result = cutis_cage_reduce_lists(&b, b.options.signed_weights ||
                                                 b.options.coordinates == CUTIS_COORDINATES_MVC);
    if (result == CUTIS_OK) result = publish(&b, b.options.coordinates, out);
    return close_binder(&b, result, report);
}

// The lists of a model that has a cage, in output order.
static cutis_result gather_lists(cutis_cage_binder *b)
{
    const cutis_instance *instances;
    const uint32_t count = cutis_model_instances(b->model, &instances);
    const uint32_t vertices = b->body.shape.vertex_count;
    size_t entries = 0, used = 0;
    for (uint32_t i = 0; i < count; i++) {
        const cutis_cage_mesh *mesh = &b->cage->meshes[instances[i].mesh];
        if (!mesh->first)
            return cutis_fail(b->context, CUTIS_INVALID_ARGUMENT,
                              "mesh %u is not bound to the cage", instances[i].mesh);
        entries += mesh->first[mesh->vertex_count];
    }
    if (entries > UINT32_MAX)
        return cutis_fail(b->context, CUTIS_LIMIT_EXCEEDED, "too many weights for a cage");
    b->lists.first = cutis_arena_alloc(&b->arena, (size_t)vertices + 1, sizeof *b->lists.first);
    b->lists.control = cutis_arena_alloc(&b->arena, entries, sizeof *b->lists.control);
    b->lists.weight = cutis_arena_alloc(&b->arena, entries, sizeof *b->lists.weight);
    if (!b->lists.first || !b->lists.control || !b->lists.weight)
        return cutis_alloc_result(b->context);
    for (uint32_t i = 0; i < count; i++) {
        const cutis_cage_mesh *mesh = &b->cage->meshes[instances[i].mesh];
        const size_t part = mesh->first[mesh->vertex_count];
        for (uint32_t v = 0; v < mesh->vertex_count; v++)
            b->lists.first[instances[i].vertex_first + v] = (uint32_t)used + mesh->first[v];
        memcpy(b->lists.control + used, mesh->controls, part * sizeof *mesh->controls);
        memcpy(b->lists.weight + used, mesh->weights, part * sizeof *mesh->weights);
        used += part;
    }
    b->lists.first[vertices] = (uint32_t)used;
    return CUTIS_OK;
}

cutis_result cutis_cage_reduce(const cutis_model *model, cutis_device *device,
                               const cutis_cage_options *options, cutis_model **out,
                               cutis_cage_report **report)
{
    if (out) *out = NULL;
    if (report) *report = NULL;
    if (!model || !out) return CUTIS_INVALID_ARGUMENT;
    const cutis_cage *cage = cutis_model_get(model)->cage;
    cutis_cage_binder b;
    if (!cage)
        return cutis_fail(cutis_model_context(model), CUTIS_INVALID_ARGUMENT,
                          "the model has no cage; cutis cage binds one");
    cutis_result result = open_binder(&b, model, device, cage, options);
    if (result == CUTIS_OK && !b.options.influences) b.options.influences = 8;
    if (result == CUTIS_OK) result = check_influences(b.context, b.options.influences);
    if (result == CUTIS_OK) result = check_instances(&b);
    if (result == CUTIS_OK) result = gather_lists(&b);
    if (result == CUTIS_OK) b.report->vertex_count = b.body.shape.vertex_count;
    if (result == CUTIS_OK && b.options.influences < cage->control_count)
        result = cutis_cage_reduce_lists(&b, b.options.signed_weights ||
                                                 cage->coordinates == CUTIS_COORDINATES_MVC);
    if (result == CUTIS_OK) result = publish(&b, cage->coordinates, out);
    return close_binder(&b, result, report);
}

cutis_result cutis_cage_coordinates(cutis_context *context, cutis_device *device,
                                    const cutis_cage *cage, const double *points,
                                    uint32_t point_count, const cutis_cage_options *options,
                                    float *weights, cutis_cage_report **report)
{
    if (report) *report = NULL;
    if (!context || !cage || !points || !weights) return CUTIS_INVALID_ARGUMENT;
    cutis_arena arena = { .context = context };
    cutis_cage_shape shape;
    cutis_cage_report *own = report ? cutis_owner_create(context, sizeof *own) : NULL;
    cutis_result result = CUTIS_OK;
    if ((report && !own) || !cutis_cage_shape_make(&arena, cage, &shape))
        result = cutis_alloc_result(context);
    else
        result = cutis_cage_weigh(context, device, &shape, options, points, point_count,
                                  (cutis_cage_weights){ .narrow = weights }, own);
    cutis_arena_release(&arena);
    if (result == CUTIS_OK && report)
        *report = own;
    else
        cutis_cage_report_destroy(own);
    return cutis_fail_in(context, result);
}
