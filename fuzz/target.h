/// What makes a fuzz target of `static void target(const uint8_t *data, size_t size)`: libFuzzer's
/// entry, or with CUTIS_FUZZ_REPLAY a program that runs the files it is given. With MUTATE_LINES,
/// MUTATE_JSON or MUTATE_GLTF defined it mutates as that format asks for (mutate.h).
#ifndef CUTIS_FUZZ_TARGET_H
#define CUTIS_FUZZ_TARGET_H

#include "run.h"

static void target(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef CUTIS_FUZZ_FAST
    target(guard_begin(data, size), size);
    guard_end();
#else
    target(data, size);
#endif
    return 0;
}

/// Which of `count` ways the fast programs take with a file, by its bytes: they do one, and so many
/// times as many files.
static inline uint32_t run_choice(const uint8_t *data, size_t size, uint32_t count)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < size; i++) sum += data[i];
    return sum % count;
}

/// Both gates.
static inline void run_gates(const char *name, const uint8_t *data, size_t size)
{
#ifdef CUTIS_FUZZ_FAST
    run_read(name, data, size, run_choice(data, size, 2) ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE);
#else
    run_read(name, data, size, CUTIS_GATE_REFUSE);
    run_read(name, data, size, CUTIS_GATE_REPAIR);
#endif
}

#ifndef CUTIS_FUZZ_REPLAY
#if defined MUTATE_LINES || defined MUTATE_JSON || defined MUTATE_GLTF
#include "mutate.h"
#endif
#else
int main(int count, char **arguments)
{
    for (int i = 1; i < count; i++) {
        FILE *file = fopen(arguments[i], "rb");
        if (!file) {
            fprintf(stderr, "%s: cannot be opened\n", arguments[i]);
            return 1;
        }
        uint8_t *data = NULL;
        size_t size = 0, got;
        do {
            data = realloc(data, size + 65536);
            RUN_MUST(data);
            got = fread(data + size, 1, 65536, file);
            size += got;
        } while (got);
        fclose(file);
        uint8_t *exact = malloc(size ? size : 1); // so that a sanitizer sees one byte too far
        RUN_MUST(exact);
        memcpy(exact, data, size);
        free(data);
        target(exact, size);
        free(exact);
    }
    printf("ok %s: %d files replayed\n", strrchr(arguments[0], '/') + 1, count - 1);
    return 0;
}
#endif

#endif
