/// What a caller of cutis_deform wants, as streams with their shapes: one table for all methods.
#include "base/error.h"
#include "deform/deformer.h"

#include <stddef.h>

typedef enum counted { VERTICES, TRIANGLES, MODEL_VERTICES, ONE } counted;

/// An output that there is.
typedef struct output_row {
    const char *name;
    size_t offset; ///< of its cutis_stream in cutis_outputs
    uint32_t words;
    counted of;
    uint32_t needs; ///< ability of the method, or 0
} output_row;

#define STREAM(field) offsetof(cutis_outputs, field)
static const output_row ROWS[CUTIS_OUTPUT_KINDS] = {
    [CUTIS_OUTPUT_POSITIONS] = { "positions", STREAM(positions), 3, VERTICES, 0 },
    [CUTIS_OUTPUT_NORMALS] = { "normals", STREAM(normals), 3, VERTICES, 0 },
    [CUTIS_OUTPUT_TANGENTS] = { "tangents", STREAM(tangents), 4, VERTICES, CUTIS_CAN_TANGENTS },
    [CUTIS_OUTPUT_PREVIOUS] = { "previous positions", STREAM(previous_positions), 3, VERTICES,
                                CUTIS_CAN_PREVIOUS },
    [CUTIS_OUTPUT_INDICES] = { "indices", STREAM(topology.indices), 3, TRIANGLES,
                               CUTIS_CHANGES_TOPOLOGY },
    [CUTIS_OUTPUT_LABELS] = { "labels", STREAM(topology.labels), 1, TRIANGLES,
                              CUTIS_CHANGES_TOPOLOGY },
    [CUTIS_OUTPUT_SOURCE_VERTICES] = { "source vertices", STREAM(topology.source_vertices), 4,
                                       VERTICES, CUTIS_CHANGES_TOPOLOGY },
    [CUTIS_OUTPUT_SOURCE_WEIGHTS] = { "source weights", STREAM(topology.source_weights), 4,
                                      VERTICES, CUTIS_CHANGES_TOPOLOGY },
    [CUTIS_OUTPUT_ORIGINS] = { "origins", STREAM(topology.origins), 1, TRIANGLES,
                               CUTIS_CHANGES_TOPOLOGY },
    [CUTIS_OUTPUT_COUNTS] = { "counts", STREAM(topology.counts), 2, ONE, CUTIS_CHANGES_TOPOLOGY },
    [CUTIS_OUTPUT_REST_POSITIONS] = { "rest positions", STREAM(topology.rest_positions), 3,
                                      MODEL_VERTICES, CUTIS_CHANGES_TOPOLOGY },
};

static cutis_result check_possible(const cutis_binding *binding, const output_row *row)
{
    const cutis_bind_options *options = &binding->options;
    const bool bound = row == &ROWS[CUTIS_OUTPUT_NORMALS]    ? options->normals
                       : row == &ROWS[CUTIS_OUTPUT_TANGENTS] ? options->tangents
                                                             : true;
    if (row->needs & ~binding->method->abilities)
        return INVALID(binding->context, "deform: %s has no %s", binding->method->name, row->name);
    if (!bound)
        return INVALID(binding->context, "deform: %s were not asked for when binding", row->name);
    return CUTIS_OK;
}

// The caller's stream with its defaults filled in.
static cutis_output_stream fill_in(const cutis_stream *in, uint64_t elements, uint32_t words)
{
    const uint32_t stride = in->stride ? in->stride : 4 * words;
    return (cutis_output_stream){ .data = in->data,
                                  .buffer = in->buffer,
                                  .offset = in->offset,
                                  .stride = stride,
                                  .instance_stride = in->instance_stride ? in->instance_stride
                                                                         : elements * stride };
}

static cutis_result check_capacities(const cutis_binding *binding, const cutis_outputs *outputs,
                                     cutis_deform_call *call)
{
    const uint32_t vertices = outputs->topology.vertex_capacity;
    const uint32_t triangles = outputs->topology.triangle_capacity;
    const bool changes = binding->method->abilities & CUTIS_CHANGES_TOPOLOGY;
    call->vertex_capacity = binding->vertex_count;
    call->triangle_capacity = binding->triangle_count;
    if (!changes && (vertices || triangles || outputs->topology.reports))
        return INVALID(binding->context, "deform: %s keeps the topology: no capacities, no reports",
                       binding->method->name);
    if (vertices > INT32_MAX / 4 || triangles > INT32_MAX / 4)
        return INVALID(binding->context, "deform: capacities of %u vertices and %u triangles",
                       vertices, triangles);
    if (vertices) call->vertex_capacity = vertices;
    if (triangles) call->triangle_capacity = triangles;
    return CUTIS_OK;
}

// Positions may be left out when nothing but bounds is wanted, or the rest topology alone.
static cutis_result check_positions(const cutis_binding *binding, const cutis_outputs *outputs,
                                    const cutis_deform_call *call)
{
    bool others = false;
    if (cutis_output_wanted(call, CUTIS_OUTPUT_POSITIONS)) return CUTIS_OK;
    for (int k = 1; k < CUTIS_OUTPUT_KINDS; k++)
        others |= k != CUTIS_OUTPUT_REST_POSITIONS && cutis_output_wanted(call, k);
    if (!others && (outputs->bounds || cutis_output_wanted(call, CUTIS_OUTPUT_REST_POSITIONS)))
        return CUTIS_OK;
    return INVALID(binding->context,
                   "deform: positions can be left out only when nothing but bounds is wanted");
}

cutis_result cutis_outputs_check(const cutis_binding *binding, const cutis_outputs *outputs,
                                 uint32_t instance_count, cutis_deform_call *call)
{
    TRY(check_capacities(binding, outputs, call));
    const bool changes = binding->method->abilities & CUTIS_CHANGES_TOPOLOGY;
    const uint64_t counts[] = { [VERTICES] = call->vertex_capacity,
                                [TRIANGLES] = call->triangle_capacity,
                                [MODEL_VERTICES] = cutis_model_vertex_count(binding->model),
                                [ONE] = 1 };
    for (int k = 0; k < CUTIS_OUTPUT_KINDS; k++) {
        const output_row *row = &ROWS[k];
        const cutis_stream *in =
            (const cutis_stream *)(const void *)((const char *)outputs + row->offset);
        const uint64_t elements = counts[row->of];
        call->streams[k] =
            (cutis_stage_output){ .name = row->name, .words = row->words, .elements = elements };
        if (!in->data && !in->buffer) continue;
        TRY(check_possible(binding, row));
        call->streams[k].stream = fill_in(in, elements, row->words);
        call->streams[k].together = row->of == VERTICES && !changes && k != CUTIS_OUTPUT_PREVIOUS;
        if (changes && row->of == VERTICES) call->streams[k].used = CUTIS_STAGE_USED_FIRST;
        if (changes && row->of == TRIANGLES) call->streams[k].used = CUTIS_STAGE_USED_SECOND;
    }
    call->streams[CUTIS_OUTPUT_PREVIOUS].old_of = &call->streams[CUTIS_OUTPUT_POSITIONS];
    TRY(cutis_stage_check(binding->device, "deform", call->streams, CUTIS_OUTPUT_KINDS,
                          instance_count));
    return check_positions(binding, outputs, call);
}
