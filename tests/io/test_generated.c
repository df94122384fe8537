// Malformed files, generated from every seed in fuzz/seeds: each number replaced, each byte and
// word of binary data replaced, each seed cut at every byte, lines dropped and doubled, and random
// combinations of these. None may crash, leak, or take 100 ms. The number is 25,000, or what
// CUTIS_GENERATED says (./dev soak: 250,000, under sanitizers).
#include "support.h"

#include "../../fuzz/run.h"

#include <dirent.h>
#include <time.h>

static const double SECONDS_MAX = 0.1 * SLOWED;

typedef struct seed {
    char name[256];
    uint8_t *data;
    size_t size;
    bool binary;
} seed;

static seed seeds[64];
static size_t seed_count;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const seed *)a)->name, ((const seed *)b)->name);
}

static void load_seeds(void)
{
    DIR *folder = opendir(CUTIS_SOURCE_DIR "/fuzz/seeds");
    struct dirent *entry;
    assert_non_null(folder);
    while ((entry = readdir(folder)) && seed_count < 64) {
        char path[512];
        seed *s = &seeds[seed_count];
        if (entry->d_name[0] == '.' || strstr(entry->d_name, ".cli")) continue;
        snprintf(s->name, sizeof s->name, "%s", entry->d_name);
        snprintf(path, sizeof path, "%s/fuzz/seeds/%s", CUTIS_SOURCE_DIR, entry->d_name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        s->data = malloc(1 << 16);
        s->size = fread(s->data, 1, 1 << 16, file);
        s->binary = memchr(s->data, 0, s->size) != NULL;
        fclose(file);
        seed_count++;
    }
    closedir(folder);
    qsort(seeds, seed_count, sizeof *seeds, by_name);
}

/// A file under way. `first` and `last` bound the text of a GLB's JSON, whose chunk grows with it.
typedef struct draft {
    uint8_t data[1 << 17];
    size_t size;
} draft;

static void splice(draft *d, size_t at, size_t old, const void *text, size_t size)
{
    if (at + old > d->size || d->size - old + size > sizeof d->data) return;
    memmove(d->data + at + size, d->data + at + old, d->size - at - old);
    memcpy(d->data + at, text, size);
    d->size = d->size - old + size;
}

static uint32_t load_word(const uint8_t *at)
{
    uint32_t word;
    memcpy(&word, at, 4);
    return word;
}

static bool is_glb(const draft *d)
{
    return d->size >= 20 && memcmp(d->data, "glTF", 4) == 0;
}

/// After the JSON of a GLB has changed by `grown` bytes: pad it, and tell its lengths the truth.
static void mend_glb(draft *d, size_t json_size)
{
    while (json_size % 4) {
        splice(d, 20 + json_size, 0, " ", 1);
        json_size++;
    }
    uint32_t total = (uint32_t)d->size, length = (uint32_t)json_size;
    memcpy(d->data + 8, &total, 4);
    memcpy(d->data + 12, &length, 4);
}

static bool starts_number(const uint8_t *data, size_t at)
{
    uint8_t c = data[at], before = at ? data[at - 1] : ' ';
    bool digit = (c >= '0' && c <= '9') || (c == '-' && data[at + 1] >= '0' && data[at + 1] <= '9');
    return digit && strchr(" ,:[(\n\t\"/>=", before) != NULL;
}

static const char *const NUMBERS[] = {
    "-1",
    "0",
    "1",
    "2",
    "3",
    "4",
    "7",
    "127",
    "128",
    "255",
    "256",
    "65535",
    "65536",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740991",
    "4611686018427387904",
    "9223372036854775808",
    "-2147483649",
    "-9223372036854775809",
    "1e300",
    "1e999",
    "-1e39",
    "1.5",
    "-0.0",
    "1e-300",
    "\"x\"",
    "null",
    "[]",
    "{}",
    "true",
    "nan",
    "inf",
    "",
    "00",
    "5120",
    "5121",
    "5123",
    "5125",
    "5126",
    "34962",
    "99999",
    "1000000",
    "[[[[]]]]",
};
enum { NUMBER_COUNT = sizeof NUMBERS / sizeof *NUMBERS };
static const uint32_t WORDS[] = { 0,          1,          0xffffffff, 0x7fffffff, 0x80000000,
                                  0x7fc00000, 0x7f800000, 0xff800000, 0x7f7fffff, 0x00000100 };
enum { WORD_COUNT = sizeof WORDS / sizeof *WORDS };
static const uint8_t BYTES[] = { 0, 1, 0x7f, 0x80, 0xff, '{', '"', '\n' };
enum { BYTE_COUNT = sizeof BYTES / sizeof *BYTES };

/// Replace the number that starts at `at`.
static void edit_number(draft *d, size_t at, const char *text)
{
    size_t length = 0, json_size = is_glb(d) ? load_word(d->data + 12) : 0;
    while (at + length < d->size && strchr("+-.0123456789eE", d->data[at + length])) length++;
    bool inside = json_size && at >= 20 && at < 20 + json_size;
    splice(d, at, length, text, strlen(text));
    if (inside) mend_glb(d, json_size - length + strlen(text));
}

/// The kinds of single edits, and how many of each a seed has.
enum kind { CUT, NUMBER, WORD, BYTE, LINE, KINDS };

static size_t edit_count(const seed *s, enum kind kind)
{
    size_t numbers = 0, lines = 0;
    for (size_t i = 0; i + 1 < s->size; i++) {
        numbers += starts_number(s->data, i);
        lines += s->data[i] == '\n';
    }
    switch (kind) {
    case CUT:
        return s->size;
    case NUMBER:
        return numbers * NUMBER_COUNT;
    case WORD:
        return s->binary ? s->size / 2 * WORD_COUNT : 0;
    case BYTE:
        return s->size * BYTE_COUNT;
    default:
        return 2 * lines;
    }
}

static size_t find_line(const draft *d, size_t line)
{
    size_t at = 0;
    for (size_t i = 0; i < d->size && line; i++)
        if (d->data[i] == '\n' && line-- == 1) at = i + 1;
    return at;
}

/// Number `index` of the seed's edits of a kind.
static void edit(draft *d, const seed *s, enum kind kind, size_t index)
{
    size_t at = 0;
    switch (kind) {
    case CUT:
        if (index < d->size) d->size = index;
        break;
    case NUMBER:
        for (size_t i = 0, seen = 0; i + 1 < d->size; i++) {
            if (!starts_number(d->data, i) || seen++ != index / NUMBER_COUNT) continue;
            edit_number(d, i, NUMBERS[index % NUMBER_COUNT]);
            break;
        }
        break;
    case WORD:
        at = 2 * (index / WORD_COUNT);
        if (at + 4 <= d->size) memcpy(d->data + at, &WORDS[index % WORD_COUNT], 4);
        break;
    case BYTE:
        at = index / BYTE_COUNT;
        if (at < d->size) d->data[at] = BYTES[index % BYTE_COUNT];
        break;
    default:
        at = find_line(d, index / 2);
        size_t length = find_line(d, index / 2 + 1);
        length = length > at ? length - at : 0;
        uint8_t line[4096];
        if (length > sizeof line) break;
        memcpy(line, d->data + at, length);
        splice(d, at, index % 2 ? length : 0, line, index % 2 ? 0 : length);
        break;
    }
    (void)s;
}

typedef struct tally {
    uint64_t files;
    double slowest;
    char slowest_name[320];
} tally;

static void try_draft(const draft *d, const seed *s, const char *what, tally *t)
{
    struct timespec start, end;
    uint8_t *exact = malloc(d->size ? d->size : 1); // so that a sanitizer sees one byte too far
    memcpy(exact, d->data, d->size);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
    run_any(s->name, exact, d->size, t->files % 2 ? CUTIS_GATE_REPAIR : CUTIS_GATE_REFUSE);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    free(exact);
    double took =
        (double)(end.tv_sec - start.tv_sec) + 1e-9 * (double)(end.tv_nsec - start.tv_nsec);
    t->files++;
    if (took <= t->slowest) return;
    t->slowest = took;
    snprintf(t->slowest_name, sizeof t->slowest_name, "%s: %s", s->name, what);
}

static void single_edits(tally *t, uint64_t share, uint64_t total)
{
    static const char *const NAMES[] = { "cut", "number", "word", "byte", "line" };
    static draft d;
    uint64_t next = 0;
    for (size_t s = 0; s < seed_count; s++) {
        for (int kind = 0; kind < KINDS; kind++) {
            size_t count = edit_count(&seeds[s], (enum kind)kind);
            for (size_t i = 0; i < count; i++, next++) {
                // Evenly spread over all there are, when not all are wanted.
                if (next * share / total == (next + 1) * share / total) continue;
                char what[64];
                memcpy(d.data, seeds[s].data, seeds[s].size);
                d.size = seeds[s].size;
                edit(&d, &seeds[s], (enum kind)kind, i);
                snprintf(what, sizeof what, "%s %zu", NAMES[kind], i);
                try_draft(&d, &seeds[s], what, t);
            }
        }
    }
}

static void random_edits(tally *t, uint64_t count)
{
    static draft d;
    for (uint64_t round = 0; round < count; round++) {
        const seed *s = &seeds[cutis_random_bits(9, 0, round) % seed_count];
        uint64_t edits = 2 + cutis_random_bits(9, 1, round) % 4;
        char what[64];
        memcpy(d.data, s->data, s->size);
        d.size = s->size;
        for (uint64_t e = 0; e < edits; e++) {
            uint64_t bits = cutis_random_bits(9, 2 + e, round);
            // Mostly numbers: they keep a file readable far enough to make it lie.
            enum kind kind = bits % 8 < 5 ? NUMBER : (enum kind)(bits / 8 % KINDS);
            size_t possible = edit_count(s, kind);
            if (possible) edit(&d, s, kind, (size_t)(bits >> 16) % possible);
        }
        snprintf(what, sizeof what, "random %llu", (unsigned long long)round);
        try_draft(&d, s, what, t);
    }
}

static void generated_files_never_crash_leak_or_take_100_ms(void **state)
{
    const char *wanted = getenv("CUTIS_GENERATED");
    uint64_t count = wanted ? strtoull(wanted, NULL, 10) : 25000, total = 0;
    tally t = { 0 };
    (void)state;
    load_seeds();
    for (size_t s = 0; s < seed_count; s++)
        for (int kind = 0; kind < KINDS; kind++) total += edit_count(&seeds[s], (enum kind)kind);
    uint64_t singles = count * 4 / 5 < total ? count * 4 / 5 : total;
    single_edits(&t, singles, total);
    random_edits(&t, count - t.files);
    print_message(
        "%llu files from %zu seeds (%llu single edits there are), the slowest %.1f ms (%s)\n",
        (unsigned long long)t.files, seed_count, (unsigned long long)total, 1e3 * t.slowest,
        t.slowest_name);
    for (size_t s = 0; s < seed_count; s++) free(seeds[s].data);
    assert_int_equal(t.files, count);
    assert_true(t.slowest < SECONDS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated_files_never_crash_leak_or_take_100_ms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
