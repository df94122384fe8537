/// Mutations that know what text formats are made of: numbers are replaced by those that break
/// things, lines and whole JSON values are dropped, doubled and put in each other's place, and a
/// GLB keeps lengths that fit its chunks, so that more than one in a thousand files gets past the
/// first check. The rest of the time libFuzzer mutates bytes.
///
/// Define MUTATE_LINES, MUTATE_JSON or MUTATE_GLTF before including this.
#ifndef CUTIS_FUZZ_MUTATE_H
#define CUTIS_FUZZ_MUTATE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

typedef struct mutate_text {
    uint8_t *data;
    size_t size, capacity;
    uint64_t state;
} mutate_text;

typedef struct mutate_range {
    size_t from, to;
} mutate_range;

static inline uint32_t mutate_random(mutate_text *t, size_t below)
{
    t->state = t->state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return below ? (uint32_t)((t->state >> 33) % below) : 0;
}

/// Put `count` bytes in place of a range; nothing happens if they do not fit.
static void mutate_replace(mutate_text *t, mutate_range r, const void *bytes, size_t count)
{
    if (t->size - (r.to - r.from) + count > t->capacity) return;
    memmove(t->data + r.from + count, t->data + r.to, t->size - r.to);
    memcpy(t->data + r.from, bytes, count);
    t->size += count - (r.to - r.from);
}

static inline bool mutate_is_number(uint8_t c)
{
    return (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '+' || c == 'e' || c == 'E';
}

/// The first number at or after a random place; empty if there is none.
static mutate_range mutate_find_number(mutate_text *t)
{
    mutate_range r = { mutate_random(t, t->size), 0 };
    while (r.from < t->size && !(t->data[r.from] >= '0' && t->data[r.from] <= '9')) r.from++;
    while (r.from > 0 && r.from < t->size && mutate_is_number(t->data[r.from - 1])) r.from--;
    for (r.to = r.from; r.to < t->size && mutate_is_number(t->data[r.to]);) r.to++;
    return r;
}

static void mutate_number(mutate_text *t)
{
    static const char *const NUMBERS[] = { "0",
                                           "-1",
                                           "1",
                                           "2",
                                           "3",
                                           "4",
                                           "8",
                                           "16",
                                           "255",
                                           "256",
                                           "65535",
                                           "65536",
                                           "16777216",
                                           "2147483647",
                                           "2147483648",
                                           "4294967295",
                                           "4294967296",
                                           "4611686018427387904",
                                           "9223372036854775807",
                                           "9223372036854775808",
                                           "18446744073709551616",
                                           "0.5",
                                           "-0.0",
                                           "1e-45",
                                           "1e38",
                                           "-3.5e38",
                                           "1e308",
                                           "1e999",
                                           "nan",
                                           "inf",
                                           "5120",
                                           "5121",
                                           "5123",
                                           "5125",
                                           "5126" };
    char text[64];
    mutate_range r = mutate_find_number(t), other;
    if (r.from == r.to) return;
    switch (mutate_random(t, 3)) {
    case 0: {
        const char *number = NUMBERS[mutate_random(t, sizeof NUMBERS / sizeof *NUMBERS)];
        mutate_replace(t, r, number, strlen(number));
        return;
    }
    case 1: { // a neighbour
        long long value = 0;
        for (size_t i = r.from; i < r.to && t->data[i] >= '0' && t->data[i] <= '9'; i++)
            value = value < INT32_MAX ? 10 * value + t->data[i] - '0' : value;
        int length =
            snprintf(text, sizeof text, "%lld", value + (long long)mutate_random(t, 7) - 3);
        mutate_replace(t, r, text, (size_t)length);
        return;
    }
    default: // another one of the file
        other = mutate_find_number(t);
        if (other.to - other.from > sizeof text) return;
        memcpy(text, t->data + other.from, other.to - other.from);
        mutate_replace(t, r, text, other.to - other.from);
    }
}

static mutate_range mutate_find_line(mutate_text *t)
{
    mutate_range r = { mutate_random(t, t->size), 0 };
    while (r.from > 0 && t->data[r.from - 1] != '\n') r.from--;
    for (r.to = r.from; r.to < t->size && t->data[r.to] != '\n';) r.to++;
    if (r.to < t->size) r.to++;
    return r;
}

/// One JSON value, or a key with its value, that starts at or after a random place.
static mutate_range mutate_find_value(mutate_text *t)
{
    mutate_range r = { mutate_random(t, t->size), 0 };
    const uint8_t *d = t->data;
    while (r.from < t->size && (!d[r.from] || !strchr("{[\"-0123456789tfn", d[r.from]))) r.from++;
    int depth = 0;
    bool quoted = false;
    for (r.to = r.from; r.to < t->size; r.to++) {
        uint8_t c = d[r.to];
        if (quoted) {
            quoted = c != '"';
        } else if (c == '"') {
            quoted = true;
        } else if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            if (--depth < 0) break;
            if (depth == 0) {
                r.to++;
                break;
            }
        } else if (depth == 0 && c == ',') {
            break;
        }
    }
    return r;
}

/// Drop a piece, double it (with `between`), or put another of the file in its place.
static void mutate_piece(mutate_text *t, mutate_range (*find)(mutate_text *), const char *between)
{
    enum { PIECE = 1024 };
    uint8_t piece[PIECE + 1];
    mutate_range r = find(t), other = find(t);
    switch (mutate_random(t, 4)) {
    case 0:
        if (r.to < t->size && *between && t->data[r.to] == *between) r.to++;
        mutate_replace(t, r, "", 0);
        return;
    case 1: // before itself
        if (r.to - r.from > PIECE) return;
        memcpy(piece, t->data + r.from, r.to - r.from);
        memcpy(piece + (r.to - r.from), between, strlen(between));
        mutate_replace(t, (mutate_range){ r.from, r.from }, piece, r.to - r.from + strlen(between));
        return;
    default:
        if (other.to - other.from > PIECE) return;
        memcpy(piece, t->data + other.from, other.to - other.from);
        mutate_replace(t, r, piece, other.to - other.from);
    }
}

static void mutate_bytes(mutate_text *t)
{
    t->size = LLVMFuzzerMutate(t->data, t->size, t->capacity);
}

static inline void mutate_lines(mutate_text *t)
{
    uint32_t kind = mutate_random(t, 8);
    if (t->size == 0 || kind < 3)
        mutate_bytes(t);
    else if (kind < 6)
        mutate_number(t);
    else
        mutate_piece(t, mutate_find_line, "");
}

static inline void mutate_json(mutate_text *t)
{
    uint32_t kind = mutate_random(t, 8);
    if (t->size == 0 || kind < 2)
        mutate_bytes(t);
    else if (kind < 5)
        mutate_number(t);
    else
        mutate_piece(t, mutate_find_value, ",");
}

static inline uint32_t mutate_load(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, 4);
    return value;
}

/// The text of a GLB by itself, then lengths that fit; or anything at all.
static inline void mutate_gltf(mutate_text *t)
{
    enum { HEADER = 20 };
    uint32_t length = t->size > HEADER ? mutate_load(t->data + 12) : 0;
    bool glb = t->size > HEADER && memcmp(t->data, "glTF", 4) == 0 && length <= t->size - HEADER;
    if (!glb) {
        mutate_json(t);
        return;
    }
    if (mutate_random(t, 4) == 0) {
        mutate_bytes(t);
        return;
    }
    size_t rest = t->size - HEADER - length;
    uint8_t *tail = malloc(rest + 1);
    if (!tail) return;
    memcpy(tail, t->data + HEADER + length, rest);
    mutate_text json = { t->data + HEADER, length, t->capacity - HEADER - rest, t->state };
    mutate_json(&json);
    while (json.size % 4 && json.size < json.capacity) json.data[json.size++] = ' ';
    memcpy(json.data + json.size, tail, rest);
    free(tail);
    t->size = HEADER + json.size + rest;
    memcpy(t->data + 12, &(uint32_t){ (uint32_t)json.size }, 4);
    memcpy(t->data + 8, &(uint32_t){ (uint32_t)t->size }, 4);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    mutate_text t = { data, size, max_size, seed * UINT64_C(0x9e3779b97f4a7c15) + 1 };
    mutate_random(&t, 1);
#if defined MUTATE_GLTF
    mutate_gltf(&t);
#elif defined MUTATE_JSON
    mutate_json(&t);
#else
    mutate_lines(&t);
#endif
    return t.size;
}

#endif
