// Handles on anything, live: put them on a body, drag one about, and the weights follow.
#include <cutis/cutis.h>
#include <cutis/handles.h>
#include <stdio.h>

int main(void)
{
    cutis_context *context = NULL;
    cutis_model *body = NULL, *rigged = NULL;
    cutis_device *device = NULL;
    cutis_handle_session *session = NULL;
    cutis_context_create(NULL, &context);

    const cutis_handle handles[] = {
        { "head", CUTIS_HANDLE_POINT, { 0, 1.6f, 0 }, { 0, 0, 0 } },
        { "back", CUTIS_HANDLE_BAR, { 0, 1.0f, 0 }, { 0, 1.3f, 0 } },
        { "left foot", CUTIS_HANDLE_POINT, { 0.12f, 0.1f, 0 }, { 0, 0, 0 } },
        { "right foot", CUTIS_HANDLE_POINT, { -0.12f, 0.1f, 0 }, { 0, 0, 0 } },
    };
    cutis_result result = cutis_device_create(context, NULL, &device);
    if (!result)
        result = cutis_synth_create(context, &(cutis_synth_options){ .vertex_count = 8000 }, &body);
    // The body is voxelised once; every change after that solves only what depends on it.
    if (!result)
        result = cutis_handle_session_create(body, device, &(cutis_handles_options){ .voxels = 96 },
                                             &session);
    if (!result) result = cutis_handles_set(session, handles, 4);
    for (int i = 1; i <= 10 && !result; i++) {
        cutis_handle head = handles[0];
        head.from.y += 0.005f * (float)i; // as the mouse would
        result = cutis_handles_move(session, 0, &head);
        cutis_handles_view now = cutis_handles_look(session);
        if (!result)
            printf("step %d: %u weights a vertex, %.0f ms\n", i, now.influences,
                   1e3 * (now.report->seconds.distances + now.report->seconds.weights));
    }
    // A pose of the handles becomes a clip of an ordinary skinned model.
    const cutis_handle_motion nod = { 0, { 0.2588f, 0, 0, 0.9659f }, { 0, -0.05f, 0.1f } };
    const cutis_handle_pose pose = { "nod", 1, &nod };
    if (!result) result = cutis_handles_finish(session, &pose, 1, &rigged);
    if (result)
        fprintf(stderr, "%s\n", cutis_context_error(context));
    else
        printf("%u nodes, %u clips\n", cutis_model_get(rigged)->node_count,
               cutis_model_get(rigged)->clip_count);

    cutis_model_destroy(rigged);
    cutis_handle_session_destroy(session);
    cutis_model_destroy(body);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
    return result != CUTIS_OK;
}
