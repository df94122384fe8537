/// A mutex and a condition on POSIX systems; on the web, which has one thread, nothing.
#include "base/os/os.h"

#include "base/memory.h"
#if defined(__wasm__)
#define THREADS(call) (void)lock
#else
#include <pthread.h>
#define THREADS(call) call
#endif

struct cutis_os_lock {
    cutis_context *context;
#if !defined(__wasm__)
    pthread_mutex_t mutex;
    pthread_cond_t changed;
#endif
};

cutis_result cutis_os_lock_create(cutis_context *context, cutis_os_lock **out)
{
    cutis_os_lock *lock = cutis_alloc_zero(context, 1, sizeof *lock);
    if (!lock) return cutis_alloc_result(context);
    lock->context = context;
    THREADS(pthread_mutex_init(&lock->mutex, NULL));
    THREADS(pthread_cond_init(&lock->changed, NULL));
    *out = lock;
    return CUTIS_OK;
}

void cutis_os_lock_destroy(cutis_os_lock *lock)
{
    if (!lock) return;
    THREADS(pthread_cond_destroy(&lock->changed));
    THREADS(pthread_mutex_destroy(&lock->mutex));
    cutis_free(lock->context, lock, sizeof *lock);
}

void cutis_os_lock_take(cutis_os_lock *lock)
{
    THREADS(pthread_mutex_lock(&lock->mutex));
}

void cutis_os_lock_give(cutis_os_lock *lock)
{
    THREADS(pthread_mutex_unlock(&lock->mutex));
}

void cutis_os_lock_wait(cutis_os_lock *lock)
{
    THREADS(pthread_cond_wait(&lock->changed, &lock->mutex));
}

void cutis_os_lock_wake(cutis_os_lock *lock)
{
    THREADS(pthread_cond_broadcast(&lock->changed));
}
