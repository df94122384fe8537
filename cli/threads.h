/// Threads as POSIX has them. On the web there is one: a thread that is started has run to its end
/// when pthread_create returns, so that what it would tell is there before anybody waits for it.
#ifndef CUTIS_CLI_THREADS_H
#define CUTIS_CLI_THREADS_H

#if defined(__wasm__)

#include <sys/types.h> // has their names, and nothing to do with them

static inline int pthread_create(pthread_t *thread, const void *attributes, void *(*run)(void *),
                                 void *data)
{
    (void)thread, (void)attributes;
    return run(data), 0;
}

#define pthread_join(thread, out)             ((void)(thread))
#define pthread_mutex_init(mutex, options)    ((void)(mutex))
#define pthread_mutex_destroy(mutex)          ((void)(mutex))
#define pthread_mutex_lock(mutex)             ((void)(mutex))
#define pthread_mutex_unlock(mutex)           ((void)(mutex))
#define pthread_cond_init(condition, options) ((void)(condition))
#define pthread_cond_destroy(condition)       ((void)(condition))
#define pthread_cond_signal(condition)        ((void)(condition))
#define pthread_cond_wait(condition, mutex)   ((void)(condition), (void)(mutex))

#else
#include <pthread.h>
#endif

#endif
