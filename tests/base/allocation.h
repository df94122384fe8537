/// Every allocation may fail: a table of scenarios, each a call of the library on small objects,
/// run with every allocation failing in turn, once (transient) and from then on (persistent). A
/// failure is CUTIS_OUT_OF_MEMORY with one line of text; nothing leaks; the objects the call worked
/// on are as they were; and the same call then works and gives what it gives on a healthy machine.
/// A call may also do without the memory it did not get, if its result is the same.
#ifndef CUTIS_TESTS_ALLOCATION_H
#define CUTIS_TESTS_ALLOCATION_H

#include "support.h"

#include "guard.h"

#include <stdatomic.h>
#include <time.h>

static struct {
    atomic_bool armed; ///< count, and fail
    atomic_bool persistent;
    atomic_llong seen, fail_at, live; ///< live: allocations that are not released
    atomic_bool lexes;                ///< of the scenario
} faults;

static inline bool fault_here(void)
{
    if (!atomic_load(&faults.armed)) return false;
    long long now = atomic_fetch_add(&faults.seen, 1), at = atomic_load(&faults.fail_at);
    bool fails = now == at || (now > at && atomic_load(&faults.persistent));
    return fails;
}

/// Memory between pages that may not be touched, in place of ordinary memory. Whose a block is its
/// address says: they are few, and searched.
enum { GUARDED_MOST = 4096 };
static struct {
    atomic_int place; ///< 0: ordinary memory, else 1 + guard_place
    atomic_flag busy;
    guard_block blocks[GUARDED_MOST];
    int count;
} guards;

static inline void *guarded_allocate(size_t size, size_t alignment, guard_place place)
{
    guard_block block = guard_take(size, alignment, place);
    while (atomic_flag_test_and_set(&guards.busy)) {}
    guard_must(guards.count < GUARDED_MOST, "too many blocks");
    guards.blocks[guards.count++] = block;
    atomic_flag_clear(&guards.busy);
    return guard_memory(&block);
}

static inline bool guarded_release(void *memory)
{
    guard_block block = { 0 };
    while (atomic_flag_test_and_set(&guards.busy)) {}
    for (int i = guards.count - 1; i >= 0 && !block.pages; i--)
        if (guard_memory(&guards.blocks[i]) == memory) {
            block = guards.blocks[i];
            guards.blocks[i] = guards.blocks[--guards.count];
        }
    atomic_flag_clear(&guards.busy);
    if (!block.pages) return false;
    guard_give(&block);
    return true;
}

static inline void *fault_allocate(void *user, size_t size, size_t alignment)
{
    (void)user;
    if (fault_here()) return NULL;
    atomic_fetch_add(&faults.live, 1);
    int place = atomic_load(&guards.place);
    if (place) return guarded_allocate(size, alignment, (guard_place)(place - 1));
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static inline void fault_release(void *user, void *memory, size_t size)
{
    (void)user, (void)size;
    atomic_fetch_sub(&faults.live, 1);
    if (!guarded_release(memory)) free(memory);
}

/// For what a scenario prepares and puts away: it is not what is tested.
static inline void pause_faults(void)
{
    atomic_store(&faults.armed, false);
}

static inline void resume_faults(void)
{
    atomic_store(&faults.armed, true);
}

static inline cutis_context *fault_context(void)
{
    cutis_context *context = NULL;
    cutis_context_options options = { .allocator = { fault_allocate, fault_release, NULL } };
    assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
    return context;
}

// Digests ----------------------------------------------------------------------------------------

static inline void fold(uint64_t *digest, const void *data, size_t size)
{
    const uint8_t *bytes = data;
    if (!bytes) size = 0;
    for (size_t i = 0; i < size; i++) *digest = (*digest ^ bytes[i]) * UINT64_C(0x100000001b3);
    *digest = (*digest ^ size) * UINT64_C(0x100000001b3);
}

static inline void fold_influences(uint64_t *digest, const cutis_influences *in, uint32_t count)
{
    if (!in->first) return;
    fold(digest, in->first, ((size_t)count + 1) * 4);
    fold(digest, in->joints, (size_t)in->first[count] * 4);
    fold(digest, in->weights, (size_t)in->first[count] * 4);
}

/// What a model deforms with: vertices, weights, targets, nodes, clips, cage.
static inline void fold_model(uint64_t *digest, const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t i = 0; i < data->meshes[m].primitive_count; i++) {
            const cutis_primitive *p = &data->meshes[m].primitives[i];
            fold(digest, p->positions, (size_t)p->vertex_count * 12);
            fold(digest, p->indices, (size_t)p->index_count * 4);
            fold_influences(digest, &p->influences, p->vertex_count);
            for (uint32_t t = 0; t < data->meshes[m].target_count; t++)
                fold(digest, p->targets[t].positions, (size_t)p->vertex_count * 12);
        }
    for (uint32_t n = 0; n < data->node_count; n++) {
        fold(digest, &data->nodes[n].parent, sizeof data->nodes[n].parent);
        fold(digest, &data->nodes[n].rest, sizeof data->nodes[n].rest);
    }
    for (uint32_t c = 0; c < data->clip_count; c++)
        for (uint32_t i = 0; i < data->clips[c].channel_count; i++)
            fold(digest, data->clips[c].channels[i].times,
                 data->clips[c].channels[i].key_count * sizeof(float));
    if (data->cage)
        for (uint32_t m = 0; m < data->cage->mesh_count; m++)
            if (data->cage->meshes[m].first)
                fold(digest, data->cage->meshes[m].weights,
                     (size_t)data->cage->meshes[m].first[data->cage->meshes[m].vertex_count] * 4);
}

// Scenarios --------------------------------------------------------------------------------------

typedef struct scenario {
    const char *function; ///< of the public headers; tests/base/test_allocation_all.sh reads them
    const char *variant;
    /// The call. Owns and releases what it makes; folds what came out into `digest` if it worked.
    cutis_result (*run)(uint64_t *digest);
    int stride; ///< 1: every allocation; slow calls: every so many, and all with CUTIS_SOAK=1
    bool lexes; ///< it parses JSON: see json_allocate
} scenario;

typedef struct fault_suite {
    cutis_context *context;
    /// What no failing call may change.
    void (*fold_objects)(uint64_t *digest);
} fault_suite;

/// One run with allocation `at` failing (-1: none).
static inline cutis_result run_once(const scenario *s, long long at, bool persistent,
                                    uint64_t *digest)
{
    *digest = UINT64_C(0xcbf29ce484222325);
    atomic_store(&faults.seen, 0);
    atomic_store(&faults.fail_at, at < 0 ? INT64_MAX : at);
    atomic_store(&faults.persistent, persistent);
    atomic_store(&faults.lexes, s->lexes);
    resume_faults();
    cutis_result result = s->run(digest);
    pause_faults();
    return result;
}

#define FAULT_CLAIM(condition)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            fail_msg("%s, %s, allocation %lld of %lld, %s: %s (%s: %s)", s->function, s->variant,  \
                     at, count, persistent ? "persistent" : "transient", #condition,               \
                     cutis_result_name(result), cutis_context_error(suite->context));              \
    } while (0)

static inline long long run_scenario(const fault_suite *suite, const scenario *s)
{
    uint64_t objects = 0, wanted = 0, digest = 0;
    bool persistent = false;
    long long at = -1, count = 0, live = atomic_load(&faults.live);
    uint64_t memory = cutis_context_memory(suite->context);
    suite->fold_objects(&objects);
    cutis_result result = run_once(s, -1, false, &wanted);
    FAULT_CLAIM(result == CUTIS_OK);
    count = atomic_load(&faults.seen);
    FAULT_CLAIM(count > 0);
    FAULT_CLAIM(atomic_load(&faults.live) == live); // nothing is kept from the first run
    // Under sanitizers half as many of a slow call's, and others than without.
    const bool all = getenv("CUTIS_SOAK") != NULL, half = LIGHT && !all && s->stride > 1;
    const int stride = all ? 1 : s->stride << half;
    for (at = half ? s->stride / 2 : 0; at < count; at += stride)
        for (int mode = 0; mode < 2; mode++) {
            uint64_t after = 0;
            persistent = mode;
            result = run_once(s, at, persistent, &digest);
            FAULT_CLAIM(result == CUTIS_OUT_OF_MEMORY || (result == CUTIS_OK && digest == wanted));
            FAULT_CLAIM(result == CUTIS_OK || cutis_context_error(suite->context)[0]);
            FAULT_CLAIM(!strchr(cutis_context_error(suite->context), '\n'));
            FAULT_CLAIM(atomic_load(&faults.live) == live);
            FAULT_CLAIM(cutis_context_memory(suite->context) == memory);
            suite->fold_objects(&after);
            FAULT_CLAIM(after == objects);
            result = run_once(s, -1, false, &digest);
            FAULT_CLAIM(result == CUTIS_OK && digest == wanted);
        }
    return count;
}

/// The same results with every block of memory against a page that may not be touched, and full of
/// NaN before it is used.
static inline void guard_scenarios(const fault_suite *suite, const scenario *table, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t wanted, digest;
        assert_ok(suite->context, run_once(&table[i], -1, false, &wanted));
        for (int place = 1; place <= 2; place++) {
            atomic_store(&guards.place, place);
            cutis_result result = run_once(&table[i], -1, false, &digest);
            atomic_store(&guards.place, 0);
            if (result != CUTIS_OK || digest != wanted)
                fail_msg("%s, %s: other results between guard pages (%s: %s)", table[i].function,
                         table[i].variant, cutis_result_name(result),
                         cutis_context_error(suite->context));
            assert_int_equal(guards.count, 0);
        }
    }
}

static inline void run_scenarios(const fault_suite *suite, const scenario *table, size_t count)
{
    long long total = 0;
    const char *only = getenv("CUTIS_SCENARIO");
    for (size_t i = 0; i < count; i++) {
        struct timespec start, end;
        if (only && !strstr(table[i].function, only)) continue;
        clock_gettime(CLOCK_MONOTONIC, &start);
        long long allocations = run_scenario(suite, &table[i]);
        clock_gettime(CLOCK_MONOTONIC, &end);
        double seconds =
            (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
        if (only || seconds > 1)
            print_message("%s, %s: %lld allocations, %.2f s\n", table[i].function, table[i].variant,
                          allocations, seconds);
        total += allocations;
    }
    print_message("%zu scenarios, %lld allocations, each failing once and for good\n", count,
                  total);
}

#endif
