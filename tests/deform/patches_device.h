/// The context and the device of one thread that tests of patches share, opened and closed with
/// their group.
#ifndef CUTIS_TESTS_PATCHES_DEVICE_H
#define CUTIS_TESTS_PATCHES_DEVICE_H

#include "patches_case.h"

static cutis_context *context;
static cutis_device *device;

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
    cutis_device_destroy(device);
    cutis_context_destroy(context);
    return 0;
}

#endif
