/// cutis_deform: checks every argument, takes a workspace, and runs the binding's deformer over
/// batches of instances, outputs staged. Invariant: streams, sizes and kinds are checked before
/// anything is written (matrices batch by batch, as they are used); nothing is allocated.
#include "base/error.h"
#include "base/memory.h"
#include "deform/deformer.h"

/// A call on its way through the batches.
typedef struct batch_run {
    const cutis_binding *binding;
    cutis_workspace *workspace;
    const cutis_deform_call *call;
} batch_run;

static cutis_result run_batch(void *data, cutis_stage_batch *batch)
{
    const batch_run *r = data;
    const cutis_deformer *deformer = r->binding->deformer;
    if (!r->call->poses)
        return deformer->prepare ? deformer->prepare(r->binding, r->workspace, r->call, batch)
                                 : CUTIS_OK;
    return deformer->run(r->binding, r->workspace, r->call, batch);
}

static cutis_result run_call(const cutis_binding *binding, const cutis_deform_call *call,
                             cutis_workspace *workspace)
{
    batch_run run = { binding, workspace, call };
    const cutis_stage_call staged = { .outputs = call->streams,
                                      .output_count = CUTIS_OUTPUT_KINDS,
                                      .instance_count = call->instance_count,
                                      .batch_max = binding->capacity,
                                      .keeps_old = binding->keeps_previous,
                                      .run = run_batch,
                                      .data = &run };
    return call->poses ? cutis_stage_run(&workspace->stage, &staged)
                       : cutis_stage_prepare(&workspace->stage, &staged);
}

static cutis_result check_call(const cutis_binding *binding, const cutis_outputs *outputs,
                               uint32_t instance_count, cutis_deform_call *call)
{
    TRY(cutis_outputs_check(binding, outputs, instance_count, call));
    return binding->deformer->check_call(binding, call);
}

cutis_result cutis_deform(const cutis_binding *binding, const cutis_poses *poses,
                          uint32_t instance_count, const cutis_outputs *outputs)
{
    return cutis_deform_rooted(binding, poses, NULL, instance_count, instance_count, outputs);
}

cutis_result cutis_deform_rooted(const cutis_binding *binding, const cutis_poses *poses,
                                 const cutis_transform *roots, uint32_t instance_count,
                                 uint32_t written_count, const cutis_outputs *outputs)
{
    if (!binding) return CUTIS_INVALID_ARGUMENT;
    if (!poses || !outputs)
        return INVALID(binding->context, "deform: poses and outputs may not be NULL");
    if (instance_count == 0) return CUTIS_OK;
    cutis_deform_call call = { .poses = poses,
                               .roots = roots,
                               .outputs = outputs,
                               .instance_count = instance_count,
                               .written_count = written_count };
    TRY(check_call(binding, outputs, instance_count, &call));
    cutis_workspace *workspace = cutis_workspace_take(binding);
    if (!workspace) return cutis_alloc_result(binding->context);
    cutis_result result = run_call(binding, &call, workspace);
    cutis_workspace_give(binding, workspace);
    return result;
}

cutis_result cutis_binding_prepare(cutis_binding *binding, const cutis_outputs *outputs,
                                   uint32_t instance_count)
{
    if (!binding) return CUTIS_INVALID_ARGUMENT;
    if (!outputs) return INVALID(binding->context, "prepare: outputs may not be NULL");
    if (instance_count == 0) return CUTIS_OK;
    cutis_deform_call call = { .outputs = outputs, .instance_count = instance_count };
    cutis_result result = check_call(binding, outputs, instance_count, &call);
    if (result != CUTIS_OK) return result;
    // All workspaces, at once: any of them may serve the next call.
    const uint32_t calls =
        binding->options.concurrent_calls ? binding->options.concurrent_calls : 1;
    cutis_workspace **all = cutis_alloc_array(binding->context, calls, sizeof *all);
    if (!all) return cutis_alloc_result(binding->context);
    uint32_t taken = 0;
    cutis_workspaces_begin(binding);
    for (; taken < calls && result == CUTIS_OK; taken++) {
        all[taken] = cutis_workspace_take(binding);
        if (!all[taken]) break;
        result = run_call(binding, &call, all[taken]);
    }
    if (result == CUTIS_OK && taken < calls) result = cutis_alloc_result(binding->context);
    while (taken > 0) cutis_workspace_give(binding, all[--taken]);
    cutis_workspaces_end(binding);
    cutis_free_array(binding->context, all, calls, sizeof *all);
    return result;
}

cutis_result cutis_binding_palette(const cutis_binding *binding, const cutis_transform *local,
                                   cutis_mat34 *palette)
{
    if (!binding || !local || !palette) return CUTIS_INVALID_ARGUMENT;
    if (!binding->deformer->palette)
        return UNSUPPORTED(binding->context, "%s has no bone matrices", binding->method->name);
    cutis_workspace *workspace = cutis_workspace_take(binding);
    if (!workspace) return cutis_alloc_result(binding->context);
    binding->deformer->palette(binding, workspace, local, palette);
    cutis_workspace_give(binding, workspace);
    return CUTIS_OK;
}
