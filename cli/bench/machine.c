/// Measures the machine. Each loop is written so that only one resource can be its limit: twelve
/// independent chains of multiply-adds kept in registers, or three streams larger than any cache.
///
/// Best of many short runs, because noise only ever adds.
#include "bench/bench.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#define CHAINS                                                                                     \
    12 // more than latency times throughput of any machine we know, fewer than its registers
#define STEPS        4096        // multiply-adds of each chain in a run
#define STREAM_BYTES (96u << 20) // of each array, split among the threads
#define PIECES       16          // of the arrays, timed one by one: shorter than a time slice
#define THREADS_MAX  256u

// Twelve chains as named variables: an array of them would stay in memory.
#define FMA_LOOP(type, splat, fma)                                                                 \
    type a = splat(0.1f), b = splat(0.2f), c = splat(0.3f), d = splat(0.4f), e = splat(0.5f),      \
         f = splat(0.6f), g = splat(0.7f), h = splat(0.8f), i = splat(0.9f), j = splat(1.0f),      \
         k = splat(1.1f), l = splat(1.2f), x = splat(0.999f), y = splat(0.001f);                   \
    for (int n = 0; n < STEPS; n++) {                                                              \
        a = fma(a, x, y), b = fma(b, x, y), c = fma(c, x, y), d = fma(d, x, y);                    \
        e = fma(e, x, y), f = fma(f, x, y), g = fma(g, x, y), h = fma(h, x, y);                    \
        i = fma(i, x, y), j = fma(j, x, y), k = fma(k, x, y), l = fma(l, x, y);                    \
        __asm__ volatile("" ::: "memory");                                                         \
    }                                                                                              \
    a = fma(a, b, c), d = fma(d, e, f), g = fma(g, h, i), j = fma(j, k, l);                        \
    a = fma(a, d, fma(g, j, a));                                                                   \
    memcpy(out, &a, sizeof a)

#define PLAIN_SPLAT(v)     (v)
#define PLAIN_FMA(p, q, r) ((p) * (q) + (r))

static void fma_plain(float *out)
{
    FMA_LOOP(float, PLAIN_SPLAT, PLAIN_FMA);
}

static void triad_plain(float *a, const float *b, const float *c, size_t count)
{
    for (size_t n = 0; n < count; n++) a[n] = b[n] + 0.5f * c[n];
}

#if defined(__x86_64__)

#define SSE_FMA(p, q, r) _mm_add_ps(_mm_mul_ps(p, q), r)

static void fma_sse2(float *out)
{
    FMA_LOOP(__m128, _mm_set1_ps, SSE_FMA);
}

__attribute__((target("avx2,fma"))) static void fma_avx2(float *out)
{
    FMA_LOOP(__m256, _mm256_set1_ps, _mm256_fmadd_ps);
}

__attribute__((target("avx512f"))) static void fma_avx512(float *out)
{
    FMA_LOOP(__m512, _mm512_set1_ps, _mm512_fmadd_ps);
}

static void triad_sse2(float *a, const float *b, const float *c, size_t count)
{
    const __m128 s = _mm_set1_ps(0.5f);
    for (size_t n = 0; n < count; n += 4)
        _mm_stream_ps(a + n, _mm_add_ps(_mm_load_ps(b + n), _mm_mul_ps(s, _mm_load_ps(c + n))));
    _mm_sfence();
}

__attribute__((target("avx2,fma"))) static void triad_avx2(float *a, const float *b, const float *c,
                                                           size_t count)
{
    const __m256 s = _mm256_set1_ps(0.5f);
    for (size_t n = 0; n < count; n += 8)
        _mm256_stream_ps(a + n, _mm256_fmadd_ps(s, _mm256_load_ps(c + n), _mm256_load_ps(b + n)));
    _mm_sfence();
}

__attribute__((target("avx512f"))) static void triad_avx512(float *a, const float *b,
                                                            const float *c, size_t count)
{
    const __m512 s = _mm512_set1_ps(0.5f);
    for (size_t n = 0; n < count; n += 16)
        _mm512_stream_ps(a + n, _mm512_fmadd_ps(s, _mm512_load_ps(c + n), _mm512_load_ps(b + n)));
    _mm_sfence();
}

#endif

typedef struct machine_kind {
    void (*fma)(float *out);
    void (*triad)(float *a, const float *b, const float *c, size_t count);
    uint32_t lanes;
} machine_kind;

static machine_kind kind_of(cutis_isa isa)
{
#if defined(__x86_64__)
    if (isa == CUTIS_ISA_AVX512 && __builtin_cpu_supports("avx512f"))
        return (machine_kind){ fma_avx512, triad_avx512, 16 };
    if ((isa == CUTIS_ISA_AVX512 || isa == CUTIS_ISA_AVX2) && __builtin_cpu_supports("avx2") &&
        __builtin_cpu_supports("fma"))
        return (machine_kind){ fma_avx2, triad_avx2, 8 };
    if (isa != CUTIS_ISA_SCALAR) return (machine_kind){ fma_sse2, triad_sse2, 4 };
#endif
    (void)isa;
    return (machine_kind){ fma_plain, triad_plain, 1 };
}

/// Threads that do each run together: what they share (memory above all) is then shared in every
/// run that counts. Best times of their own would be those of moments when the others stood still.
typedef struct team {
    const struct worker *first; // who keeps the time
    uint32_t count;
    _Atomic uint32_t arrived; // at all meeting points so far
    _Atomic bool stop;
} team;

/// One thread's share.
typedef struct worker {
    team *team;
    machine_kind kind;
    float *a, *b, *c; // NULL: the FMA loop
    size_t count;
    double budget, best; // of the first one: seconds of a run, until all are done
} worker;

static void meet(team *t)
{
    const uint32_t turn = t->arrived++ / t->count + 1;
    for (uint32_t spin = 0; t->arrived / t->count < turn; spin++)
        if (spin > 1000) sched_yield();
}

static void *work(void *data)
{
    worker *w = data;
    const bool first = w == w->team->first;
    float sink[16];
    const double start = app_seconds();
    w->best = 1e30;
    // A piece comes round again when all others have been through the caches, so it is always cold.
    size_t piece = w->count / PIECES / 16 * 16, at = 0;
    for (;; at = (at + 1) % PIECES) {
        const double begin = app_seconds();
        if (first) w->team->stop = begin - start >= w->budget && w->best < 1e29;
        meet(w->team);
        if (w->team->stop) return NULL;
        if (w->a)
            w->kind.triad(w->a + at * piece, w->b + at * piece, w->c + at * piece, piece);
        else
            for (int n = 0; n < 16; n++) w->kind.fma(sink);
        meet(w->team);
        const double spent = app_seconds() - begin;
        if (spent < w->best) w->best = spent;
    }
}

// All workers at once; false if one could not be started.
static bool run_workers(worker *workers, uint32_t count)
{
    team together = { .first = workers, .count = count };
    pthread_t threads[THREADS_MAX];
    uint32_t started = 1;
    for (uint32_t i = 0; i < count; i++) workers[i].team = &together;
    while (started < count && pthread_create(&threads[started], NULL, work, &workers[started]) == 0)
        started++;
    if (started < count) { // those that wait for the rest are let go
        together.stop = true;
        together.arrived += count - started + 1;
    } else {
        work(&workers[0]);
    }
    for (uint32_t i = 1; i < started; i++) pthread_join(threads[i], NULL);
    for (uint32_t i = 0; i < count; i++) workers[i].team = NULL;
    return started == count;
}

static uint32_t team_size(uint32_t thread_count)
{
    return thread_count < 1 ? 1 : thread_count < THREADS_MAX ? thread_count : THREADS_MAX;
}

double bench_machine_fma_rate(cutis_isa isa, uint32_t thread_count, double budget_seconds)
{
    worker workers[THREADS_MAX];
    const uint32_t count = team_size(thread_count);
    const machine_kind kind = kind_of(isa);
    for (uint32_t i = 0; i < count; i++)
        workers[i] = (worker){ .kind = kind, .budget = budget_seconds };
    if (!run_workers(workers, count)) return 0;
    return 16.0 * STEPS * CHAINS * kind.lanes * count / workers[0].best;
}

double bench_machine_bandwidth(cutis_isa isa, uint32_t thread_count, double budget_seconds)
{
    static float *memory; // kept: making its pages takes longer than a measurement
    worker workers[THREADS_MAX];
    const uint32_t count = team_size(thread_count);
    const size_t floats = STREAM_BYTES / sizeof(float), share = floats / count / 16 * 16;
    if (!memory) {
        memory = malloc(3 * (size_t)STREAM_BYTES + 64);
        if (!memory) return 0;
        memory += (64 - (uintptr_t)memory % 64) % 64 / sizeof *memory; // vectors of 64 bytes
        memset(memory, 0, 3 * (size_t)STREAM_BYTES);
    }
    for (uint32_t i = 0; i < count; i++) {
        float *a = memory + i * share;
        workers[i] = (worker){ .kind = kind_of(isa),
                               .a = a,
                               .b = a + floats,
                               .c = a + 2 * floats,
                               .count = share,
                               .budget = budget_seconds };
    }
    if (!run_workers(workers, count)) return 0;
    return 3.0 * count * (double)(share / PIECES / 16 * 16 * sizeof(float)) / workers[0].best;
}
