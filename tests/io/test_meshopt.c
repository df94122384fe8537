/// Meshopt's streams against npm's meshoptimizer: its encoder makes them, its decoder says what
/// they hold. And streams cut off, changed and made up: decoded or refused, nothing read or written
/// outside.
#include "support.h"

#include "io/bytes.h"
#include "io/gltf/meshopt.h"

#include <meshoptimizer.h>

typedef struct test_case {
    gltf_meshopt packed;
    const uint8_t *decoded;
} test_case;

static uint8_t *cases;
static size_t cases_size;

/// Made by node once; NULL: it is not there, or not the packages.
static int make_cases(void **state)
{
    (void)state;
    char path[] = "/tmp/cutis_meshopt_XXXXXX", command[8192];
    const int file = mkstemp(path);
    assert_true(file >= 0);
    snprintf(command, sizeof command, "node %s/tests/io/meshopt_cases.mjs %s 2>/dev/null",
             CUTIS_SOURCE_DIR, path);
    FILE *made = system(command) == 0 ? fdopen(file, "rb") : NULL;
    if (made) {
        fseek(made, 0, SEEK_END);
        cases_size = (size_t)ftell(made);
        rewind(made);
        cases = malloc(cases_size);
        assert_int_equal(fread(cases, 1, cases_size, made), cases_size);
        fclose(made);
    }
    remove(path);
    return 0;
}

static int drop_cases(void **state)
{
    (void)state;
    free(cases);
    return 0;
}

/// The case at *offset, which moves to the next. @return false: there are no more
static bool next_case(size_t *offset, test_case *out)
{
    if (!cases) {
        print_message("skip: node or its package meshoptimizer is not there\n");
        skip();
    }
    if (*offset >= cases_size) return false;
    const uint8_t *at = cases + *offset;
    out->packed = (gltf_meshopt){ .mode = (gltf_meshopt_mode)cutis_load_u32(at),
                                  .filter = (gltf_meshopt_filter)cutis_load_u32(at + 4),
                                  .count = cutis_load_u32(at + 8),
                                  .stride = cutis_load_u32(at + 12),
                                  .size = cutis_load_u32(at + 16),
                                  .data = at + 20 };
    out->decoded = at + 20 + out->packed.size;
    *offset += 20 + out->packed.size + out->packed.count * out->packed.stride;
    return true;
}

/// The stream in a block of its own length, so that a sanitizer sees a byte read past its end.
static bool decode_exactly(const gltf_meshopt *packed, size_t size, uint8_t *out)
{
    uint8_t *exact = malloc(size ? size : 1);
    assert_non_null(exact);
    memcpy(exact, packed->data, size);
    gltf_meshopt cut = *packed;
    cut.data = exact;
    cut.size = size;
    const bool decoded = cutis_gltf_meshopt_decode(&cut, out);
    free(exact);
    return decoded;
}

/// One unit in the last place of a component, for the filters that the specification rounds freely.
static bool nearly_same(const gltf_meshopt *packed, const uint8_t *a, const uint8_t *b)
{
    const size_t size = packed->count * packed->stride;
    const bool wide = packed->stride == 8;
    if (packed->filter == MESHOPT_NONE || packed->filter == MESHOPT_EXPONENTIAL)
        return memcmp(a, b, size) == 0;
    for (size_t i = 0; i < size; i += wide ? 2 : 1) {
        const uint32_t difference =
            wide ? (uint32_t)cutis_load_u16(a + i) - cutis_load_u16(b + i) : (uint32_t)a[i] - b[i];
        if (((difference + 1) & (wide ? 0xffff : 0xff)) > 2) return false;
    }
    return true;
}

static void every_stream_of_npm_decodes_to_what_npm_decodes_with_and_without_simd(void **state)
{
    (void)state;
    test_case test;
    size_t count[5] = { 0 };
    for (size_t offset = 0; next_case(&offset, &test);) {
        uint8_t *out = malloc(test.packed.count * test.packed.stride);
        for (int plain = 0; plain < 2; plain++) {
            test.packed.plain = plain;
            assert_true(cutis_gltf_meshopt_possible(&test.packed));
            if (!decode_exactly(&test.packed, test.packed.size, out) ||
                !nearly_same(&test.packed, out, test.decoded))
                fail_msg("mode %d, filter %d, %zu of %zu bytes, codec %02x, %s", test.packed.mode,
                         test.packed.filter, test.packed.count, test.packed.stride,
                         test.packed.data[0], plain ? "plain" : "with SIMD");
        }
        free(out);
        count[test.packed.filter]++;
    }
    for (int f = 0; f < 5; f++) assert_true(count[f] >= 50);
}

static void streams_cut_off_are_refused(void **state)
{
    (void)state;
    test_case test;
    for (size_t offset = 0; next_case(&offset, &test);) {
        if (test.packed.size > 400) continue;
        uint8_t *out = malloc(test.packed.count * test.packed.stride);
        for (size_t size = 0; size < test.packed.size; size += 1 + size / 16)
            assert_false(decode_exactly(&test.packed, size, out));
        free(out);
    }
}

static void changed_streams_are_decoded_or_refused_the_same_way_with_and_without_simd(void **state)
{
    (void)state;
    test_case test;
    uint64_t seed = 0;
    for (size_t offset = 0; next_case(&offset, &test);) {
        const size_t size = test.packed.size, bytes = test.packed.count * test.packed.stride;
        if (size > 2000) continue;
        uint8_t *changed = malloc(size), *out = calloc(2, bytes);
        for (int round = 0; round < 8; round++, seed++) {
            memcpy(changed, test.packed.data, size);
            for (int i = 0; i <= round % 3; i++)
                changed[(size_t)random_in(seed, 2 * i, 0, (double)size)] =
                    (uint8_t)random_in(seed, 2 * i + 1, 0, 256);
            gltf_meshopt packed = test.packed;
            packed.data = changed;
            const bool first = decode_exactly(&packed, size, out);
            packed.plain = true;
            assert_int_equal(first, decode_exactly(&packed, size, out + bytes));
            if (first) assert_memory_equal(out, out + bytes, bytes);
        }
        free(changed);
        free(out);
    }
}

/// Debian's encoder writes version 0 where it is not told otherwise.
static void triangles_of_the_older_version_are_read(void **state)
{
    (void)state;
    enum { SIDE = 40, COUNT = 6 * (SIDE - 1) * (SIDE - 1) };
    static uint32_t indices[COUNT], expected[COUNT], found[COUNT];
    static uint8_t stream[COUNT * 4];
    size_t at = 0;
    for (uint32_t y = 0; y + 1 < SIDE; y++) {
        for (uint32_t x = 0; x + 1 < SIDE; x++) {
            const uint32_t a = y * SIDE + x,
                           cell[] = { a, a + 1, a + SIDE, a + SIDE, a + 1, a + SIDE + 1 };
            memcpy(indices + at, cell, sizeof cell);
            at += 6;
        }
    }
    for (int version = 0; version < 2; version++) {
        meshopt_encodeIndexVersion(version);
        gltf_meshopt packed = {
            .data = stream, .count = COUNT, .stride = 4, .mode = MESHOPT_TRIANGLES
        };
        packed.size = meshopt_encodeIndexBuffer(stream, sizeof stream, indices, COUNT);
        assert_int_equal(stream[0], 0xe0 + version);
        assert_int_equal(meshopt_decodeIndexBuffer(expected, COUNT, 4, stream, packed.size), 0);
        assert_true(cutis_gltf_meshopt_decode(&packed, (uint8_t *)found));
        assert_memory_equal(found, expected, sizeof found);
    }
}

/// Codec 0 has no control bytes: seen by a sanitizer, where a block starts at the stream's end.
static void a_block_at_the_end_of_a_stream_reads_nothing(void **state)
{
    (void)state;
    uint8_t stream[41] = { 0xa0 }, out[300 * 4];
    stream[16] = 0x80;
    memset(stream + 17, 0xff, 24);
    gltf_meshopt packed = { .data = stream, .count = 300, .stride = 4 };
    for (int plain = 0; plain < 2; plain++) {
        packed.plain = plain;
        assert_false(decode_exactly(&packed, sizeof stream, out));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stream_of_npm_decodes_to_what_npm_decodes_with_and_without_simd),
        cmocka_unit_test(streams_cut_off_are_refused),
        cmocka_unit_test(changed_streams_are_decoded_or_refused_the_same_way_with_and_without_simd),
        cmocka_unit_test(triangles_of_the_older_version_are_read),
        cmocka_unit_test(a_block_at_the_end_of_a_stream_reads_nothing),
    };
    return cmocka_run_group_tests_name("meshopt", tests, make_cases, drop_cases);
}
