/// A thread pool for short parallel loops.
///
/// One job at a time; callers take turns (a mutex held for the whole run). Threads take indices
/// from one shared counter that carries the job's number, so a late worker can never take an index
/// of the next job. Invariant: when run returns, every task has returned and no worker touches the
/// caller's data.
#include "base/os/os.h"
#include "base/error.h"
#include "base/memory.h"

#if defined(__wasm__)

struct cutis_os_pool {
    cutis_context *context;
};

cutis_result cutis_os_pool_create(cutis_context *context, uint32_t thread_count,
                                  cutis_os_pool **out)
{
    (void)thread_count;
    cutis_os_pool *pool = cutis_alloc_zero(context, 1, sizeof *pool);
    if (!pool) return cutis_alloc_result(context);
    pool->context = context;
    *out = pool;
    return CUTIS_OK;
}

void cutis_os_pool_destroy(cutis_os_pool *pool)
{
    if (pool) cutis_free(pool->context, pool, sizeof *pool);
}

void cutis_os_pool_run(cutis_os_pool *pool, void (*task)(void *, uint32_t), void *data,
                       uint32_t count)
{
    (void)pool;
    for (uint32_t i = 0; i < count; i++) task(data, i);
}

#else

#include "base/os/threads.h"

#include <stdatomic.h>

#define CLOSED UINT32_MAX // no job has an index as high

enum {
    SPINS = 2000, // about 10 us: longer than the gap between the stages of one frame, shorter than
                  // a slice
};

struct cutis_os_pool {
    cutis_context *context;
    uint32_t worker_count, started;
    os_thread *workers;
    os_mutex turn, mutex;
    os_condition wake;     // workers: there is a job
    os_condition finished; // the caller: the last task has returned, the last worker has left
    // The job: written by the caller before `ticket` announces it.
    void (*task)(void *data, uint32_t index);
    void *data;
    uint32_t count;
    _Atomic uint64_t ticket; // job number << 32 | next index; odd numbers: closed, between two jobs
    _Atomic uint32_t done;   // tasks that have returned
    _Atomic uint32_t inside; // workers that may read the job
    _Atomic bool sleeping;   // the caller waits for `finished`
    _Atomic bool stop;
};

static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

// The caller looks at `value` once more after it has said that it sleeps; so either it sees the
// change, or who made it sees the caller sleep.
static void tell_caller(cutis_os_pool *pool)
{
    if (!atomic_load(&pool->sleeping)) return;
    os_mutex_lock(&pool->mutex);
    os_condition_wake(&pool->finished);
    os_mutex_unlock(&pool->mutex);
}

/// Take indices of job `number` until none is left.
static void work(cutis_os_pool *pool, uint32_t number)
{
    uint64_t ticket = atomic_load(&pool->ticket);
    for (;;) {
        uint32_t index = (uint32_t)ticket;
        if ((uint32_t)(ticket >> 32) != number || index == CLOSED || index >= pool->count) return;
        if (!atomic_compare_exchange_weak(&pool->ticket, &ticket, ticket + 1)) continue;
        const uint32_t count = pool->count;
        pool->task(pool->data, index);
        if (atomic_fetch_add(&pool->done, 1) + 1 == count) tell_caller(pool);
        ticket = atomic_load(&pool->ticket);
    }
}

static uint32_t wait_for_job(cutis_os_pool *pool, uint32_t seen)
{
    for (int spin = 0; spin < SPINS; spin++) {
        uint32_t number = (uint32_t)(atomic_load(&pool->ticket) >> 32);
        if (number != seen || atomic_load(&pool->stop)) return number;
        relax();
    }
    os_mutex_lock(&pool->mutex);
    while ((uint32_t)(atomic_load(&pool->ticket) >> 32) == seen && !atomic_load(&pool->stop))
        os_condition_wait(&pool->wake, &pool->mutex);
    os_mutex_unlock(&pool->mutex);
    return (uint32_t)(atomic_load(&pool->ticket) >> 32);
}

static os_thread_end OS_THREAD_CALL worker_main(void *argument)
{
    cutis_os_pool *pool = argument;
    uint32_t seen = 0;
    while (!atomic_load(&pool->stop)) {
        seen = wait_for_job(pool, seen);
        // Announce before reading the job: the caller does not reuse its fields while anyone is
        // inside.
        atomic_fetch_add(&pool->inside, 1);
        work(pool, (uint32_t)(atomic_load(&pool->ticket) >> 32));
        if (atomic_fetch_sub(&pool->inside, 1) == 1) tell_caller(pool);
    }
    return 0;
}

cutis_result cutis_os_pool_create(cutis_context *context, uint32_t thread_count,
                                  cutis_os_pool **out)
{
    cutis_os_pool *pool = cutis_alloc_zero(context, 1, sizeof *pool);
    if (!pool) return cutis_alloc_result(context);
    pool->context = context;
    pool->worker_count = thread_count > 1 ? thread_count - 1 : 0;
    os_mutex_init(&pool->turn);
    os_mutex_init(&pool->mutex);
    os_condition_init(&pool->wake);
    os_condition_init(&pool->finished);
    pool->workers = cutis_alloc_zero(context, pool->worker_count, sizeof *pool->workers);
    if (!pool->workers) {
        cutis_result result = cutis_alloc_result(context);
        cutis_os_pool_destroy(pool);
        return result;
    }
    for (; pool->started < pool->worker_count; pool->started++) {
        int error = os_thread_start(&pool->workers[pool->started], worker_main, pool);
        if (error == 0) continue;
        cutis_result result =
            cutis_fail(context, CUTIS_OUT_OF_MEMORY, "thread %u of %u: the system's error %d",
                       pool->started + 1, pool->worker_count, error);
        cutis_os_pool_destroy(pool);
        return result;
    }
    *out = pool;
    return CUTIS_OK;
}

void cutis_os_pool_destroy(cutis_os_pool *pool)
{
    if (!pool) return;
    os_mutex_lock(&pool->mutex);
    atomic_store(&pool->stop, true);
    os_condition_wake(&pool->wake);
    os_mutex_unlock(&pool->mutex);
    for (uint32_t i = 0; i < pool->started; i++) os_thread_join(pool->workers[i]);
    os_condition_destroy(&pool->wake);
    os_condition_destroy(&pool->finished);
    os_mutex_destroy(&pool->mutex);
    os_mutex_destroy(&pool->turn);
    cutis_free_array(pool->context, pool->workers, pool->worker_count, sizeof *pool->workers);
    cutis_free(pool->context, pool, sizeof *pool);
}

static void wait_until(cutis_os_pool *pool, _Atomic uint32_t *value, uint32_t wanted)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (atomic_load(value) == wanted) return;
        relax();
    }
    os_mutex_lock(&pool->mutex);
    atomic_store(&pool->sleeping, true);
    while (atomic_load(value) != wanted) os_condition_wait(&pool->finished, &pool->mutex);
    atomic_store(&pool->sleeping, false);
    os_mutex_unlock(&pool->mutex);
}

void cutis_os_pool_run(cutis_os_pool *pool, void (*task)(void *data, uint32_t index), void *data,
                       uint32_t count)
{
    if (pool->worker_count == 0 || count < 2) {
        for (uint32_t i = 0; i < count; i++) task(data, i);
        return;
    }
    os_mutex_lock(&pool->turn);
    uint32_t closed = (uint32_t)(atomic_load(&pool->ticket) >> 32) | 1, number = closed + 1;
    // Who comes in from here on finds the job closed; who came before is waited for, then its
    // fields are ours.
    atomic_store(&pool->ticket, (uint64_t)closed << 32 | CLOSED);
    wait_until(pool, &pool->inside, 0);
    pool->task = task;
    pool->data = data;
    pool->count = count;
    atomic_store(&pool->done, 0);
    os_mutex_lock(
        &pool->mutex); // a worker between its test and its wait must not miss the call
    atomic_store(&pool->ticket, (uint64_t)number << 32);
    os_condition_wake(&pool->wake);
    os_mutex_unlock(&pool->mutex);
    work(pool, number);
    wait_until(pool, &pool->done, count);
    os_mutex_unlock(&pool->turn);
}

#endif
