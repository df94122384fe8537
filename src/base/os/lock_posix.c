/// A mutex and a condition on POSIX systems; on the web, which has one thread, nothing.
#include "base/os/os.h"

#include "base/memory.h"
#if !defined(__wasm__)
#include <pthread.h>
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
#if !defined(__wasm__)
    pthread_mutex_init(&lock->mutex, NULL);
    pthread_cond_init(&lock->changed, NULL);
#endif
    *out = lock;
    return CUTIS_OK;
}

void cutis_os_lock_destroy(cutis_os_lock *lock)
{
    if (!lock) return;
#if !defined(__wasm__)
    pthread_cond_destroy(&lock->changed);
    pthread_mutex_destroy(&lock->mutex);
#endif
    cutis_free(lock->context, lock, sizeof *lock);
}

void cutis_os_lock_take(cutis_os_lock *lock)
{
#if !defined(__wasm__)
    pthread_mutex_lock(&lock->mutex);
#else
    (void)lock;
#endif
}

void cutis_os_lock_give(cutis_os_lock *lock)
{
#if !defined(__wasm__)
    pthread_mutex_unlock(&lock->mutex);
#else
    (void)lock;
#endif
}

void cutis_os_lock_wait(cutis_os_lock *lock)
{
#if !defined(__wasm__)
    pthread_cond_wait(&lock->changed, &lock->mutex);
#else
    (void)lock;
#endif
}

void cutis_os_lock_wake(cutis_os_lock *lock)
{
#if !defined(__wasm__)
    pthread_cond_broadcast(&lock->changed);
#else
    (void)lock;
#endif
}
