/// Workspaces of a binding: taken without a lock while one is free; a call that finds none sleeps,
/// or, where the threads are the caller's own, makes one more. A runner that does other jobs while
/// it waits may come back here on a thread that holds a workspace already: sleeping there would
/// never end.
///
/// Invariant: the list only grows while the binding lives.
#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"
#include "deform/deformer.h"

static void free_workspace(cutis_binding *binding, cutis_workspace *workspace)
{
    const cutis_deformer *deformer = binding->deformer;
    cutis_stage_release(&workspace->stage);
    if (deformer->workspace_destroy) deformer->workspace_destroy(binding, workspace);
    cutis_free(binding->context, workspace, deformer->workspace_size);
}

// With the lock held, or before anybody else has the binding.
static cutis_result add_workspace(cutis_binding *binding, bool taken, cutis_workspace **out)
{
    const cutis_deformer *deformer = binding->deformer;
    cutis_workspace *workspace = cutis_alloc_zero(binding->context, 1, deformer->workspace_size);
    if (!workspace) return cutis_alloc_result(binding->context);
    workspace->stage.device = binding->device;
    atomic_flag_clear(&workspace->busy);
    if (taken) atomic_flag_test_and_set(&workspace->busy);
    cutis_result result = deformer->workspace_create(binding, workspace);
    if (result != CUTIS_OK) {
        free_workspace(binding, workspace);
        return result;
    }
    binding->memory_bytes += deformer->workspace_size;
    atomic_store(&workspace->next, atomic_load(&binding->workspaces));
    atomic_store(&binding->workspaces, workspace);
    if (out) *out = workspace;
    return CUTIS_OK;
}

cutis_result cutis_workspaces_create(cutis_binding *binding)
{
    const uint32_t calls =
        binding->options.concurrent_calls ? binding->options.concurrent_calls : 1;
    TRY(cutis_os_lock_create(binding->context, &binding->lock));
    for (uint32_t i = 0; i < calls; i++) TRY(add_workspace(binding, false, NULL));
    return CUTIS_OK;
}

void cutis_workspaces_destroy(cutis_binding *binding)
{
    for (cutis_workspace *w = atomic_load(&binding->workspaces); w;) {
        cutis_workspace *next = atomic_load(&w->next);
        free_workspace(binding, w);
        w = next;
    }
    atomic_store(&binding->workspaces, NULL);
    cutis_os_lock_destroy(binding->lock);
    binding->lock = NULL;
}

static cutis_workspace *try_take(const cutis_binding *binding)
{
    for (cutis_workspace *w = atomic_load(&binding->workspaces); w; w = atomic_load(&w->next))
        if (!atomic_flag_test_and_set(&w->busy)) return w;
    return NULL;
}

cutis_workspace *cutis_workspace_take(const cutis_binding *shared)
{
    cutis_workspace *workspace = try_take(shared);
    if (workspace) return workspace;
    cutis_binding *binding = (cutis_binding *)shared;
    cutis_os_lock_take(binding->lock);
    // Said before looking again: who gives one back afterwards sees that somebody waits.
    atomic_fetch_add(&binding->waiting, 1);
    while (!(workspace = try_take(binding))) {
        if (binding->device->run_tasks) {
            add_workspace(binding, true, &workspace);
            break;
        }
        cutis_os_lock_wait(binding->lock);
    }
    atomic_fetch_sub(&binding->waiting, 1);
    cutis_os_lock_give(binding->lock);
    return workspace;
}

void cutis_workspaces_begin(cutis_binding *binding)
{
    if (binding->device->run_tasks) return; // nobody waits for a workspace there
    cutis_os_lock_take(binding->lock);
    atomic_fetch_add(&binding->waiting, 1);
    while (binding->preparing) cutis_os_lock_wait(binding->lock);
    atomic_fetch_sub(&binding->waiting, 1);
    binding->preparing = true;
    cutis_os_lock_give(binding->lock);
}

void cutis_workspaces_end(cutis_binding *binding)
{
    if (binding->device->run_tasks) return;
    cutis_os_lock_take(binding->lock);
    binding->preparing = false;
    cutis_os_lock_wake(binding->lock);
    cutis_os_lock_give(binding->lock);
}

void cutis_workspace_give(const cutis_binding *binding, cutis_workspace *workspace)
{
    atomic_flag_clear(&workspace->busy);
    if (atomic_load(&binding->waiting) == 0) return;
    cutis_os_lock_take(binding->lock);
    cutis_os_lock_wake(binding->lock);
    cutis_os_lock_give(binding->lock);
}
