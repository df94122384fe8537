/// cutis_bind: checks the request against the method's row, has its deformer bind the model, and
/// makes the workspaces. Invariant: a half-built binding can always be destroyed.
#include "base/error.h"
#include "base/memory.h"
#include "deform/deformer.h"

void *cutis_binding_alloc(cutis_binding *binding, size_t count, size_t item)
{
    void *memory = cutis_arena_zero(&binding->arena, count, item);
    if (memory) binding->memory_bytes += count * item;
    return memory;
}

void cutis_binding_destroy(cutis_binding *binding)
{
    if (!binding) return;
    cutis_workspaces_destroy(binding);
    binding->deformer->destroy(binding);
    cutis_arena_release(&binding->arena);
    cutis_free(binding->context, binding, binding->deformer->binding_size);
}

static const cutis_deformer *deformer_of(const cutis_method_info *method)
{
    if (method->needs & CUTIS_NEEDS_CAGE) return &cutis_cage_deformer;
    if (method->needs & CUTIS_NEEDS_PARTS) return &cutis_patches_deformer;
    return &cutis_skin_deformer;
}

// What the method's row does not allow. An impossible combination is an error, never a silent
// fallback.
static cutis_result check_options(cutis_context *context, const cutis_method_info *method,
                                  const cutis_bind_options *o)
{
    const struct {
        bool asked;
        uint32_t ability;
        const char *text;
    } rules[] = {
        { o->weighted_centres || o->paper.centres || o->paper.normals, CUTIS_CAN_PAPER,
          "weighted and paper centres belong to sbs, not to" },
        { o->blend != NULL, CUTIS_CAN_BLEND, "blend needs sbs, dqs or cor; this is" },
        { o->tangents, CUTIS_CAN_TANGENTS, "tangents cannot be had of" },
        { o->raw_normals, CUTIS_CAN_RAW_NORMALS, "raw normals cannot be had of" },
        { o->patch_removal != CUTIS_PATCH_CUT || o->patch_fill != CUTIS_PATCH_FILL_DEFAULT,
          CUTIS_CHANGES_TOPOLOGY, "removal and fill belong to patches, not to" },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].asked && !(method->abilities & rules[i].ability))
            return UNSUPPORTED(context, "bind: %s %s", rules[i].text, method->name);
    if ((unsigned)o->drive > CUTIS_DRIVE_NONE)
        return INVALID(context, "bind: there is no way %d to drive", (int)o->drive);
    if (o->weighted_centres && o->paper.centres)
        return UNSUPPORTED(context, "bind: centres are either weighted or the paper's");
    return CUTIS_OK;
}

cutis_result cutis_bind(cutis_device *device, const cutis_model *model,
                        const cutis_bind_options *options, cutis_binding **out)
{
    cutis_bind_options o;
    if (out) *out = NULL;
    if (!device || !model || !out) return CUTIS_INVALID_ARGUMENT;
    cutis_context *context = device->context;
    if (!cutis_options_copy(&o, sizeof o, sizeof o, options))
        return UNSUPPORTED(context, CUTIS_NEWER, "bind");
    const cutis_method_info *method = cutis_method_describe(o.method);
    if (!method) return INVALID(context, "bind: there is no method %d", (int)o.method);
    const cutis_deformer *deformer = deformer_of(method);
    cutis_result result = check_options(context, method, &o);
    if (result == CUTIS_OK) result = deformer->check(context, model, &o);
    if (result != CUTIS_OK) return result;
    cutis_binding *binding = cutis_alloc_zero(context, 1, deformer->binding_size);
    if (!binding) return cutis_alloc_result(context);
    binding->context = binding->arena.context = context;
    binding->device = device;
    binding->model = model;
    binding->deformer = deformer;
    binding->method = method;
    binding->options = o;
    binding->memory_bytes = deformer->binding_size;
    atomic_init(&binding->waiting, 0);
    atomic_init(&binding->workspaces, NULL);
    result = deformer->bind(binding);
    binding->options.blend = NULL; // the caller's, only for this call
    if (result == CUTIS_OK) result = cutis_workspaces_create(binding);
    if (result != CUTIS_OK) {
        cutis_binding_destroy(binding);
        return cutis_fail_in(context, result);
    }
    *out = binding;
    return CUTIS_OK;
}

cutis_binding_info cutis_binding_describe(const cutis_binding *binding)
{
    cutis_binding_info info = { 0 };
    if (!binding) return info;
    info.vertex_count = binding->vertex_count;
    info.triangle_count = binding->triangle_count;
    cutis_os_lock_take(binding->lock); // a call may be adding a workspace of its own
    info.memory_bytes = binding->memory_bytes;
    cutis_os_lock_give(binding->lock);
    binding->deformer->describe(binding, &info);
    return info;
}
