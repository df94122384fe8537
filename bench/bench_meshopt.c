// Our decoder of meshopt's streams against Debian's: bench_meshopt [ROUNDS]. Waves with noise of 16
// bits in elements of 4 to 48 bytes, and the triangles of a grid; processor time, the best of the
// rounds, in turn.
#include "io/gltf/meshopt.h"

#include <math.h>
#include <meshoptimizer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BYTES = 8000000, SIDE = 600 };

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void compare(const char *name, const gltf_meshopt *packed, int rounds)
{
    const size_t size = packed->count * packed->stride;
    uint8_t *theirs = malloc(size), *ours = malloc(size);
    double best[2] = { INFINITY, INFINITY };
    for (int i = 0; i < rounds; i++) {
        double start = seconds();
        int failed = packed->mode == MESHOPT_TRIANGLES
                         ? meshopt_decodeIndexBuffer(theirs, packed->count, packed->stride,
                                                     packed->data, packed->size)
                         : meshopt_decodeVertexBuffer(theirs, packed->count, packed->stride,
                                                      packed->data, packed->size);
        best[0] = fmin(best[0], seconds() - start);
        start = seconds();
        failed |= !cutis_gltf_meshopt_decode(packed, ours);
        best[1] = fmin(best[1], seconds() - start);
        if (failed || memcmp(ours, theirs, size) != 0) {
            fprintf(stderr, "bench_meshopt: %s: not the same bytes\n", name);
            exit(1);
        }
    }
    printf("%-12s %5.2f of the size, Debian's %.2f GB/s, ours %.2f GB/s, ratio %.2f\n", name,
           (double)packed->size / (double)size, (double)size / best[0] / 1e9,
           (double)size / best[1] / 1e9, best[1] / best[0]);
    free(theirs);
    free(ours);
}

static void attributes(size_t stride, int rounds)
{
    const size_t count = BYTES / stride, bound = meshopt_encodeVertexBufferBound(count, stride);
    int16_t *values = malloc(count * stride);
    uint8_t *stream = malloc(bound);
    char name[32];
    for (size_t i = 0; i < count * stride / 2; i++) {
        const double at = (double)(i * 2 / stride), phase = (double)(i % (stride / 2));
        values[i] = (int16_t)(2500 * sin(0.01 * at + phase) + (i % 2 ? 0 : rand() % 8));
    }
    snprintf(name, sizeof name, "%zu bytes", stride);
    compare(
        name,
        &(gltf_meshopt){ .data = stream,
                         .size = meshopt_encodeVertexBuffer(stream, bound, values, count, stride),
                         .stride = stride,
                         .count = count },
        rounds);
    free(values);
    free(stream);
}

static void triangles(int rounds)
{
    const size_t count = 6 * (size_t)(SIDE - 1) * (SIDE - 1),
                 bound = meshopt_encodeIndexBufferBound(count, SIDE * SIDE);
    uint32_t *indices = malloc(count * sizeof *indices), *at = indices;
    uint8_t *stream = malloc(bound);
    for (uint32_t y = 0; y + 1 < SIDE; y++) {
        for (uint32_t x = 0; x + 1 < SIDE; x++) {
            const uint32_t a = y * SIDE + x,
                           cell[] = { a, a + 1, a + SIDE, a + SIDE, a + 1, a + SIDE + 1 };
            memcpy(at, cell, sizeof cell);
            at += 6;
        }
    }
    meshopt_optimizeVertexCache(indices, indices, count, SIDE * SIDE);
    compare("triangles",
            &(gltf_meshopt){ .data = stream,
                             .size = meshopt_encodeIndexBuffer(stream, bound, indices, count),
                             .stride = 4,
                             .count = count,
                             .mode = MESHOPT_TRIANGLES },
            rounds);
    free(indices);
    free(stream);
}

int main(int count, char **arguments)
{
    const int rounds = count > 1 ? atoi(arguments[1]) : 15;
    static const size_t STRIDES[] = { 4, 12, 16, 48 };
    for (int s = 0; s < 4; s++) attributes(STRIDES[s], rounds);
    triangles(rounds);
    return 0;
}
