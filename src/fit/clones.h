/// Loops of the fits that are worth compiling for wide vectors. Nothing is contracted and no sum is
/// reordered, so every clone gives the same bits.
#ifndef CUTIS_FIT_CLONES_H
#define CUTIS_FIT_CLONES_H

// Not with clang: version 14 gives clones names that other files do not find.
#if defined(__x86_64__) && defined(__linux__) && defined(__GNUC__) && !defined(__clang__) &&       \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CUTIS_FIT_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
// With all that it calls in this file: vectors are passed on, which differs from clone to clone.
#define CUTIS_FIT_CLONES_WHOLE __attribute__((target_clones("avx512f", "avx2", "default"), flatten))
#else
#define CUTIS_FIT_CLONES
#define CUTIS_FIT_CLONES_WHOLE
#endif

#endif
