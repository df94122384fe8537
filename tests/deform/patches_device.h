/// The context and the device of one thread that tests of patches share, opened and closed with
/// their group.
#ifndef CUTIS_TESTS_PATCHES_DEVICE_H
#define CUTIS_TESTS_PATCHES_DEVICE_H

#include "patches_case.h"

static cutis_context *context;
static cutis_device *device;
static cutis_model *made_bodies[2][2];

/// A biped or a quadruped. A copy of the one made first: runs take their model over, and making one
/// takes longer than many frames.
static inline cutis_model *make_body(cutis_body body, bool small)
{
    cutis_model **made = &made_bodies[body == CUTIS_BODY_QUADRUPED][small], *copy = NULL;
    const cutis_synth_options options = { .body = body,
                                          .size = small ? CUTIS_BODY_SIZE_LOW
                                                        : CUTIS_BODY_SIZE_DEFAULT };
    if (!*made) assert_ok(context, cutis_synth_create(context, &options, made));
    assert_ok(context,
              cutis_model_create(context, cutis_model_get(*made), CUTIS_GATE_REFUSE, &copy));
    return copy;
}

static int open_device(void **state)
{
    (void)state;
    if (cutis_context_create(NULL, &context) != CUTIS_OK) return -1;
    return cutis_device_create(context, &(cutis_device_options){ .thread_count = 1 }, &device) !=
           CUTIS_OK;
}

static int close_device(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++) cutis_model_destroy(made_bodies[i / 2][i % 2]);
    cutis_device_destroy(device);
    cutis_context_destroy(context);
    return 0;
}

#endif
