/// Is a job quicker on all threads than on the caller's alone? Handing out costs what the machine,
/// its load and the caller's pauses make of it (a worker that spins begins in a fraction of a
/// microsecond, one that sleeps in tens), so it is not guessed but tried: of every ROUND calls of a
/// size the first few are run both ways by turns, and the rest the way that was quicker. The turns
/// change over halfway, so that of calls which alternate (a shadow's positions and a picture's
/// normals, two instances and three) each is run both ways. Invariant: what is run does not depend
/// on it, only where.
#ifndef CUTIS_CPU_SHARE_H
#define CUTIS_CPU_SHARE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum {
    CUTIS_SHARE_SIZES = 32,   ///< sizes by powers of two
    CUTIS_SHARE_TRIALS = 12,  ///< of a round: half of them alone
    CUTIS_SHARE_ROUND = 4096, ///< trials are one call in 300: lost even where they take thrice as
                              ///< long, they cost 1 %
};

/// Of one size: calls of this round, and the least time of either way, in nanoseconds.
typedef struct cutis_share_size {
    atomic_uint_least32_t calls;
    atomic_uint_least64_t alone, shared;
} cutis_share_size;

typedef struct cutis_share {
    cutis_share_size sizes[CUTIS_SHARE_SIZES];
} cutis_share;

typedef struct cutis_share_choice {
    cutis_share_size *size;
    bool shared;
    bool trial; ///< its time is wanted
} cutis_share_choice;

/// For a call of `work` blocks (at least 1). Zeroed memory is a start; any number of threads.
static inline cutis_share_choice cutis_share_choose(cutis_share *share, uint64_t work)
{
    uint32_t bits = 0;
    while (work >>= 1) bits++;
    cutis_share_size *size = &share->sizes[bits % CUTIS_SHARE_SIZES];
    const uint32_t call =
        atomic_fetch_add_explicit(&size->calls, 1, memory_order_relaxed) % CUTIS_SHARE_ROUND;
    if (call == 0) { // what was measured is old
        atomic_store_explicit(&size->alone, UINT64_MAX, memory_order_relaxed);
        atomic_store_explicit(&size->shared, UINT64_MAX, memory_order_relaxed);
    }
    // Shared first: who calls once has all threads.
    const bool turn = (call + call / (CUTIS_SHARE_TRIALS / 2)) % 2 == 0;
    if (call < CUTIS_SHARE_TRIALS) return (cutis_share_choice){ size, turn, true };
    return (cutis_share_choice){ size,
                                 atomic_load_explicit(&size->shared, memory_order_relaxed) <
                                     atomic_load_explicit(&size->alone, memory_order_relaxed),
                                 false };
}

/// How long a trial took; the least counts, because noise only ever adds.
static inline void cutis_share_tell(const cutis_share_choice *choice, uint64_t nanoseconds)
{
    atomic_uint_least64_t *least = choice->shared ? &choice->size->shared : &choice->size->alone;
    uint_least64_t old = atomic_load_explicit(least, memory_order_relaxed);
    while (nanoseconds < old &&
           !atomic_compare_exchange_weak_explicit(least, &old, nanoseconds, memory_order_relaxed,
                                                  memory_order_relaxed)) {}
}

#endif
