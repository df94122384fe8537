/// Threads, mutexes and conditions under one set of names, for this folder: POSIX's own, and on
/// Windows what they are there. Nothing here fails but starting a thread.
#ifndef CUTIS_BASE_OS_THREADS_H
#define CUTIS_BASE_OS_THREADS_H

#if defined(_WIN32)

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

typedef SRWLOCK os_mutex;
typedef CONDITION_VARIABLE os_condition;
typedef HANDLE os_thread;
typedef DWORD os_thread_end;
#define OS_THREAD_CALL WINAPI

static inline void os_mutex_init(os_mutex *mutex)
{
    InitializeSRWLock(mutex);
}
static inline void os_mutex_lock(os_mutex *mutex)
{
    AcquireSRWLockExclusive(mutex);
}
static inline void os_mutex_unlock(os_mutex *mutex)
{
    ReleaseSRWLockExclusive(mutex);
}
static inline void os_condition_init(os_condition *condition)
{
    InitializeConditionVariable(condition);
}
static inline void os_condition_wait(os_condition *condition, os_mutex *mutex)
{
    SleepConditionVariableSRW(condition, mutex, INFINITE, 0);
}
static inline void os_condition_wake(os_condition *condition)
{
    WakeAllConditionVariable(condition);
}
// Neither holds anything on Windows.
static inline void os_mutex_destroy(os_mutex *mutex)
{
    (void)mutex;
}
static inline void os_condition_destroy(os_condition *condition)
{
    (void)condition;
}

/// @return 0, or the system's number of what went wrong
static inline int os_thread_start(os_thread *thread, os_thread_end (*WINAPI run)(void *),
                                  void *data)
{
    // Linux's stack; the default here is what the host program's linker was told, a MiB or less.
    *thread = CreateThread(NULL, 8u << 20, run, data, STACK_SIZE_PARAM_IS_A_RESERVATION, NULL);
    return *thread ? 0 : (int)GetLastError();
}
static inline void os_thread_join(os_thread thread)
{
    WaitForSingleObject(thread, INFINITE);
    CloseHandle(thread);
}

#else

#include <pthread.h>

typedef pthread_mutex_t os_mutex;
typedef pthread_cond_t os_condition;
typedef pthread_t os_thread;
typedef void *os_thread_end;
#define OS_THREAD_CALL

static inline void os_mutex_init(os_mutex *mutex)
{
    pthread_mutex_init(mutex, NULL);
}
static inline void os_mutex_lock(os_mutex *mutex)
{
    pthread_mutex_lock(mutex);
}
static inline void os_mutex_unlock(os_mutex *mutex)
{
    pthread_mutex_unlock(mutex);
}
static inline void os_mutex_destroy(os_mutex *mutex)
{
    pthread_mutex_destroy(mutex);
}
static inline void os_condition_init(os_condition *condition)
{
    pthread_cond_init(condition, NULL);
}
static inline void os_condition_wait(os_condition *condition, os_mutex *mutex)
{
    pthread_cond_wait(condition, mutex);
}
static inline void os_condition_wake(os_condition *condition)
{
    pthread_cond_broadcast(condition);
}
static inline void os_condition_destroy(os_condition *condition)
{
    pthread_cond_destroy(condition);
}

/// @return 0, or the system's number of what went wrong
static inline int os_thread_start(os_thread *thread, os_thread_end (*run)(void *), void *data)
{
    return pthread_create(thread, NULL, run, data);
}
static inline void os_thread_join(os_thread thread)
{
    pthread_join(thread, NULL);
}

#endif

#endif
