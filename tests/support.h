/// What the tests share: cmocka, the place of the real assets, visible skips, random numbers.
#ifndef CUTIS_TESTS_SUPPORT_H
#define CUTIS_TESTS_SUPPORT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <cmocka.h>

#include <cutis/cutis.h>
#include <cutis/io.h>

/// ./dev test runs the C tests twice, the second time under sanitizers, for what these see: fewer
/// seeds and poses do there. The first run has them all, and so has ./dev soak under sanitizers.
#ifdef CUTIS_LIGHT
enum { LIGHT = 1 };
#else
enum { LIGHT = 0 };
#endif

/// Bounds of processor time are for the plain build on a processor: sanitizers and emulators take
/// longer for everything.
#if defined(__SANITIZE_ADDRESS__) || defined(CUTIS_EMULATED)
enum { SLOWED = 20 };
#else
enum { SLOWED = 1 };
#endif

/// Of this process, however busy the machine is.
static inline double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// For tests that use a real asset besides what they make by code.
static inline bool shared_is_there(const char *relative)
{
    char path[8192];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", CUTIS_SHARED_DATA, relative);
    return stat(path, &info) == 0;
}

/// Path of a real asset; skips the test, visibly, when the folder is not there.
static inline const char *shared_path(const char *relative)
{
    static char path[8192];
    snprintf(path, sizeof path, "%s/%s", CUTIS_SHARED_DATA, relative);
    if (!shared_is_there(relative)) {
        print_message("skip: shared data: ../shared/data/%s is not there\n", relative);
        skip();
    }
    return path;
}

/// A model that can be written as its file was.
#define KEEP_SOURCE (&(const cutis_read_options){ .keep_source = true })

#define assert_ok(context, call)                                                                   \
    do {                                                                                           \
        cutis_result result_ = (call);                                                             \
        if (result_ != CUTIS_OK)                                                                   \
            fail_msg("%s: %s: %s", #call, cutis_result_text(result_),                              \
                     cutis_context_error(context));                                                \
    } while (0)

/// Absolute difference at most `tolerance`; NaN fails.
#define assert_near(a, b, tolerance)                                                               \
    do {                                                                                           \
        double a_ = (a), b_ = (b), t_ = (tolerance);                                               \
        if (!(fabs(a_ - b_) <= t_))                                                                \
            fail_msg("%s = %.17g, %s = %.17g, difference %.3g > %.3g", #a, a_, #b, b_,             \
                     fabs(a_ - b_), t_);                                                           \
    } while (0)

/// Uniform in [low, high), from the library's own counter generator.
static inline double random_in(uint64_t seed, uint64_t index, double low, double high)
{
    return low + (high - low) * cutis_random_unit(seed, 0, index);
}

/// The GPU under test: OpenCL, or what CUTIS_TEST_DEVICE names (by hand, on a machine with one).
static inline cutis_device_kind gpu_kind(void)
{
    const char *name = getenv("CUTIS_TEST_DEVICE");
    return name && strcmp(name, "cuda") == 0 ? CUTIS_DEVICE_CUDA : CUTIS_DEVICE_OPENCL;
}

#endif
