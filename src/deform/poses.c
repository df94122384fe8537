/// Checks of poses that all deformers share.
#include "base/error.h"
#include "deform/deformer.h"
#include "deform/finite.h"

_Static_assert(sizeof(cutis_transform) == 10 * sizeof(float), "read as floats");

// The floats of a pose of this kind.
static cutis_result find_floats(const cutis_binding *binding, const cutis_poses *poses,
                                size_t nodes, size_t bones, const float **floats, size_t *each)
{
    cutis_context *context = binding->context;
    const char *missing = NULL;
    *floats = NULL;
    switch (poses->kind) {
    case CUTIS_POSE_LOCAL:
        *each = 10 * nodes;
        if (poses->local) *floats = &poses->local->translation.x;
        missing = "local";
        break;
    case CUTIS_POSE_WORLD:
    case CUTIS_POSE_PALETTE:
        *each = 12 * (poses->kind == CUTIS_POSE_WORLD ? nodes : bones);
        if (poses->matrices) *floats = poses->matrices->m;
        missing = "matrices";
        break;
    case CUTIS_POSE_CONTROLS:
        *each = 3 * bones;
        if (poses->controls) *floats = &poses->controls->x;
        missing = "controls";
        break;
    default:
        return INVALID(context, "deform: there is no pose kind %d", (int)poses->kind);
    }
    if (*each > 0 && !*floats) return INVALID(context, "deform: poses.%s is NULL", missing);
    return CUTIS_OK;
}

cutis_result cutis_poses_check(const cutis_binding *binding, const cutis_deform_call *call,
                               size_t nodes, size_t bones)
{
    cutis_context *context = binding->context;
    const cutis_method_info *method = binding->method;
    const cutis_poses *poses = call->poses;
    const bool controls = poses->kind == CUTIS_POSE_CONTROLS;
    const float *floats;
    size_t each = 0;
    if (controls != ((method->abilities & CUTIS_CAN_CONTROLS) != 0))
        return INVALID(context, "deform: controls move cages, and nothing else does; this is %s",
                       method->name);
    if (!controls && poses->kind != CUTIS_POSE_LOCAL && !(method->abilities & CUTIS_CAN_MATRICES))
        return INVALID(context, "deform: %s needs local poses to measure distances of",
                       method->name);
    TRY(find_floats(binding, poses, nodes, bones, &floats, &each));
    if (each == 0 || call->finite) return CUTIS_OK;
    if (!floats_finite(floats, each * call->instance_count))
        return INVALID(context, "deform: a pose holds a value that is not finite");
    return CUTIS_OK;
}
