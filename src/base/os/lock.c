/// A mutex and a condition; on the web, which has one thread, nothing.
#include "base/os/os.h"

#include "base/memory.h"

#if defined(__wasm__)
#define THREADS(call) (void)lock
#else
#include "base/os/threads.h"
#define THREADS(call) call
#endif

struct cutis_os_lock {
    cutis_context *context;
#if !defined(__wasm__)
    os_mutex mutex;
    os_condition changed;
#endif
};

cutis_result cutis_os_lock_create(cutis_context *context, cutis_os_lock **out)
{
    cutis_os_lock *lock = cutis_alloc_zero(context, 1, sizeof *lock);
    if (!lock) return cutis_alloc_result(context);
    lock->context = context;
    THREADS(os_mutex_init(&lock->mutex));
    THREADS(os_condition_init(&lock->changed));
    *out = lock;
    return CUTIS_OK;
}

void cutis_os_lock_destroy(cutis_os_lock *lock)
{
    if (!lock) return;
    THREADS(os_condition_destroy(&lock->changed));
    THREADS(os_mutex_destroy(&lock->mutex));
    cutis_free(lock->context, lock, sizeof *lock);
}

void cutis_os_lock_take(cutis_os_lock *lock)
{
    THREADS(os_mutex_lock(&lock->mutex));
}

void cutis_os_lock_give(cutis_os_lock *lock)
{
    THREADS(os_mutex_unlock(&lock->mutex));
}

void cutis_os_lock_wait(cutis_os_lock *lock)
{
    THREADS(os_condition_wait(&lock->changed, &lock->mutex));
}

void cutis_os_lock_wake(cutis_os_lock *lock)
{
    THREADS(os_condition_wake(&lock->changed));
}
