// The thread pool: every index once, for any number of threads, jobs and callers.
#include "support.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "base/os/os.h"

static cutis_context *context;

static int setup(void **state)
{
    (void)state;
    return cutis_context_create(NULL, &context) != CUTIS_OK;
}

static int teardown(void **state)
{
    (void)state;
    int leaked = cutis_context_memory(context) != 0;
    cutis_context_destroy(context);
    return leaked;
}

typedef struct {
    atomic_uint *hits;
    atomic_uint alive; // 0 as soon as the caller thinks the job is over
    atomic_uint late;
} job;

static void hit(void *data, uint32_t index)
{
    job *j = data;
    if (!atomic_load(&j->alive)) atomic_fetch_add(&j->late, 1);
    atomic_fetch_add(&j->hits[index], 1);
}

static void run_job(cutis_os_pool *pool, uint32_t count)
{
    job *j = calloc(1, sizeof *j);
    j->hits = calloc(count + 1, sizeof *j->hits);
    atomic_store(&j->alive, 1);
    cutis_os_pool_run(pool, hit, j, count);
    atomic_store(&j->alive, 0);
    for (uint32_t i = 0; i < count; i++) assert_int_equal(atomic_load(&j->hits[i]), 1);
    assert_int_equal(atomic_load(&j->hits[count]), 0);
    assert_int_equal(atomic_load(&j->late), 0);
    free(j->hits);
    free(j);
}

static void every_index_runs_once_for_every_number_of_threads_and_tasks(void **state)
{
    (void)state;
    const uint32_t counts[] = { 0, 1, 2, 3, 7, 16, 17, 1000, 30000 };
    for (uint32_t threads = 0; threads <= 17; threads++) {
        cutis_os_pool *pool = NULL;
        assert_ok(context, cutis_os_pool_create(context, threads, &pool));
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) run_job(pool, counts[i]);
        cutis_os_pool_destroy(pool);
    }
    cutis_os_pool_destroy(NULL);
}

static void thousands_of_short_jobs_follow_each_other_without_mixing(void **state)
{
    (void)state;
    cutis_os_pool *pool = NULL;
    assert_ok(context, cutis_os_pool_create(context, 4, &pool));
    for (uint32_t i = 0; i < 5000; i++) run_job(pool, i % 9);
    cutis_os_pool_destroy(pool);
}

static void sleeping_workers_wake_up(void **state)
{
    (void)state;
    cutis_os_pool *pool = NULL;
    assert_ok(context, cutis_os_pool_create(context, 3, &pool));
    for (int i = 0; i < 10; i++) {
        usleep(3000); // longer than they spin
        run_job(pool, 50);
    }
    usleep(3000);
    cutis_os_pool_destroy(pool);
}

static void pools_come_and_go_with_or_without_work(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 200; i++) {
        cutis_os_pool *pool = NULL;
        assert_ok(context, cutis_os_pool_create(context, i % 6, &pool));
        if (i % 2) run_job(pool, 20);
        cutis_os_pool_destroy(pool);
    }
}

static void *call_often(void *pool)
{
    for (uint32_t i = 0; i < 300; i++) run_job(pool, 1 + i % 40);
    return NULL;
}

static void several_callers_take_turns(void **state)
{
    (void)state;
    cutis_os_pool *pool = NULL;
    pthread_t callers[4];
    assert_ok(context, cutis_os_pool_create(context, 3, &pool));
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&callers[i], NULL, call_often, pool), 0);
    for (int i = 0; i < 4; i++) pthread_join(callers[i], NULL);
    cutis_os_pool_destroy(pool);
}

static void note_thread(void *data, uint32_t index)
{
    ((pthread_t *)data)[index] = pthread_self();
}

static void a_pool_of_one_thread_runs_in_the_caller(void **state)
{
    (void)state;
    cutis_os_pool *pool = NULL;
    pthread_t threads[8];
    assert_ok(context, cutis_os_pool_create(context, 1, &pool));
    cutis_os_pool_run(pool, note_thread, threads, 8);
    for (int i = 0; i < 8; i++) assert_true(pthread_equal(threads[i], pthread_self()));
    cutis_os_pool_destroy(pool);
}

static void wait_for_all(void *data, uint32_t index)
{
    (void)index;
    atomic_uint *arrived = data;
    atomic_fetch_add(arrived, 1);
    for (long spin = 0; atomic_load(arrived) < 4; spin++) { // 4 tasks that need 4 threads at once
        if (spin > 20000) usleep(100);
        assert_true(spin < 200000);
    }
}

static void as_many_tasks_run_at_once_as_there_are_threads(void **state)
{
    (void)state;
    cutis_os_pool *pool = NULL;
    assert_ok(context, cutis_os_pool_create(context, 4, &pool));
    for (int i = 0; i < 20; i++) {
        atomic_uint arrived = 0;
        cutis_os_pool_run(pool, wait_for_all, &arrived, 4);
    }
    cutis_os_pool_destroy(pool);
}

static void machine_facts_are_sane(void **state)
{
    (void)state;
    assert_in_range(cutis_os_core_count(), 1, 100000);
    double a = cutis_os_seconds();
    usleep(2000);
    double b = cutis_os_seconds();
    assert_true(b - a >= 0.0019 && b - a < 10);
    assert_null(cutis_os_environment("CUTIS_THIS_IS_NOT_SET"));
    assert_null(cutis_os_library_open("libthis-is-not-there.so.7"));
    cutis_os_library_close(NULL);
}

typedef struct {
    cutis_os_lock *lock;
    long value;
} counter;

static void *count_up(void *data)
{
    counter *c = data;
    for (int i = 0; i < 20000; i++) {
        cutis_os_lock_take(c->lock);
        c->value++;
        cutis_os_lock_give(c->lock);
    }
    return NULL;
}

static void a_lock_lets_one_thread_in(void **state)
{
    (void)state;
    counter c = { NULL, 0 };
    pthread_t threads[3];
    assert_ok(context, cutis_os_lock_create(context, &c.lock));
    for (int i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, count_up, &c), 0);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    assert_int_equal(c.value, 60000);
    cutis_os_lock_destroy(c.lock);
    cutis_os_lock_destroy(NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_index_runs_once_for_every_number_of_threads_and_tasks),
        TEST(thousands_of_short_jobs_follow_each_other_without_mixing),
        TEST(sleeping_workers_wake_up),
        TEST(pools_come_and_go_with_or_without_work),
        TEST(several_callers_take_turns),
        TEST(a_pool_of_one_thread_runs_in_the_caller),
        TEST(as_many_tasks_run_at_once_as_there_are_threads),
        TEST(machine_facts_are_sane),
        TEST(a_lock_lets_one_thread_in),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
