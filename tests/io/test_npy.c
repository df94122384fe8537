// .npy and .pc2: headers of every version by hand, orders and types, frames written incrementally,
// refusals. NumPy itself is the judge in test_npy_numpy.sh.
#include "files.h"

static size_t npy(unsigned char *out, int version, const char *dictionary, const void *values,
                  size_t size)
{
    size_t length = strlen(dictionary), start = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (unsigned char)version;
    out[7] = 0;
    for (size_t i = 8; i < start; i++) out[i] = (unsigned char)(length >> (8 * (i - 8)));
    memcpy(out + start, dictionary, length);
    memcpy(out + start + length, values, size);
    return start + length + size;
}

static cutis_array read_npy(fixture *f, int version, const char *dictionary, const void *values,
                            size_t size)
{
    unsigned char bytes[1024];
    cutis_array array;
    write_bytes(f, "a.npy", bytes, npy(bytes, version, dictionary, values, size));
    assert_ok(f->context, cutis_array_read(f->context, path_in(f, "a.npy"), &array));
    return array;
}

static void versions_types_and_orders_give_the_known_values(void **state)
{
    fixture *f = *state;
    const float single[6] = { 1, 2.5f, -3, 4, 5, 6e30f };
    for (int version = 1; version <= 3; version++) {
        cutis_array a =
            read_npy(f, version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n",
                     single, 24);
        assert_int_equal(a.dimension_count, 2);
        assert_int_equal(a.dimensions[1], 3);
        assert_memory_equal(a.values, single, 24);
        cutis_array_destroy(f->context, &a);
    }
    const double wide[2] = { 0.1, -1e300 };
    cutis_array a =
        read_npy(f, 1, "{\"shape\": (2,), 'fortran_order': False, 'descr': '<f8'}", wide, 16);
    assert_true(a.values[0] == 0.1f && isinf(a.values[1]));
    cutis_array_destroy(f->context, &a);
    a = read_npy(f, 1, "{'descr': '>i2', 'fortran_order': False, 'shape': (2,)}",
                 "\xFF\xFE\x01\x00", 4);
    assert_true(a.values[0] == -2 && a.values[1] == 256);
    cutis_array_destroy(f->context, &a);
    a = read_npy(f, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,)}", "\1\0", 2);
    assert_true(a.values[0] == 1 && a.values[1] == 0);
    cutis_array_destroy(f->context, &a);
    a = read_npy(f, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", single, 4);
    assert_true(a.dimension_count == 0 && a.values[0] == 1);
    cutis_array_destroy(f->context, &a);
}

static void fortran_order_comes_out_in_c_order(void **state)
{
    fixture *f = *state;
    float file[24];
    for (int i = 0; i < 2; i++) // element (i, j, k) is 100 i + 10 j + k, stored with i fastest
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 4; k++) file[i + 2 * j + 6 * k] = (float)(100 * i + 10 * j + k);
    cutis_array a = read_npy(f, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3, 4), }",
                             file, sizeof file);
    for (int n = 0; n < 24; n++)
        assert_true(a.values[n] == (float)(100 * (n / 12) + 10 * (n / 4 % 3) + n % 4));
    cutis_array_destroy(f->context, &a);
}

static void refuse_npy(fixture *f, const char *dictionary, const char *words)
{
    unsigned char bytes[1024];
    cutis_array array;
    write_bytes(f, "b.npy", bytes, npy(bytes, 1, dictionary, "12345678", 8));
    cutis_result result = cutis_array_read(f->context, path_in(f, "b.npy"), &array);
    if (result != CUTIS_CORRUPT_DATA || !strstr(cutis_context_error(f->context), words))
        fail_msg("%s: %s: %s", dictionary, cutis_result_name(result),
                 cutis_context_error(f->context));
    assert_null(array.values);
}

static void lying_headers_are_refused(void **state)
{
    fixture *f = *state;
    cutis_array array;
    refuse_npy(f, "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }", "more numbers than");
    refuse_npy(
        f,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), }",
        "more numbers than");
    refuse_npy(f, "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }", "shape");
    refuse_npy(f, "{'descr': '<f4', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }",
               "shape");
    refuse_npy(f, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }",
               "type of the numbers");
    refuse_npy(f, "{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,), }",
               "type of the numbers");
    refuse_npy(f, "{'descr': '<f4', 'shape': (1,), }", "lacks");
    refuse_npy(f, "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,), }", "fortran_order");
    refuse_npy(f, "__import__('os')", "dictionary");
    write_bytes(f, "c.npy", "\x93NUMPY\1\0\xFF\xFF{}", 12);
    assert_int_equal(cutis_array_read(f->context, path_in(f, "c.npy"), &array), CUTIS_CORRUPT_DATA);
    write_bytes(f, "d.npy", "\x93NUMPY\4\0\2\0{}", 12);
    assert_int_equal(cutis_array_read(f->context, path_in(f, "d.npy"), &array),
                     CUTIS_UNSUPPORTED_FORMAT);
    write_text(f, "e.npy", "hello");
    assert_int_equal(cutis_array_read(f->context, path_in(f, "e.npy"), &array),
                     CUTIS_UNSUPPORTED_FORMAT);
    assert_int_equal(cutis_array_read(f->context, path_in(f, "none.npy"), &array),
                     CUTIS_FILE_NOT_FOUND);
    cutis_model *model = NULL;
    write_bytes(f, "m.npy", "\x93NUMPY\1\0\2\0{}", 12);
    assert_int_equal(cutis_model_read(f->context, path_in(f, "m.npy"), NULL, &model),
                     CUTIS_UNSUPPORTED_FORMAT);
}

static void an_empty_array_with_huge_other_dimensions_is_empty(void **state)
{
    fixture *f = *state;
    cutis_array a = read_npy(
        f, 1,
        "{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 999999999999, 0), }", "",
        0);
    assert_int_equal(a.dimension_count, 3);
    cutis_array_destroy(f->context, &a);
}

static void write_frames(fixture *f, const char *name, const float *frames, uint32_t count,
                         uint32_t vertices)
{
    cutis_frame_writer *writer;
    assert_ok(f->context, cutis_frame_writer_create(f->context, path_in(f, name), count, vertices,
                                                    30, &writer));
    for (uint32_t i = 0; i < count; i++) {
        assert_int_equal(access(path_in(f, name), F_OK),
                         -1); // nothing under its name before it is whole
        assert_ok(f->context, cutis_frame_writer_add(writer, frames + 3 * (size_t)vertices * i));
    }
    assert_ok(f->context, cutis_frame_writer_finish(writer));
}

static void frames_come_back_in_the_same_bits_from_npy_and_pc2(void **state)
{
    fixture *f = *state;
    enum { FRAMES = 3, VERTICES = 7001 }; // more than one chunk of the writer
    static float frames[FRAMES * VERTICES * 3];
    for (uint32_t i = 0; i < FRAMES * VERTICES * 3; i++)
        frames[i] = (float)random_in(2, i, -1e6, 1e6);
    const char *names[] = { "f.npy", "f.pc2" };
    for (int k = 0; k < 2; k++) {
        cutis_array array;
        char header[CUTIS_FRAME_HEADER_MOST];
        size_t size, whole;
        void *bytes;
        write_frames(f, names[k], frames, FRAMES, VERTICES);
        // Who puts frames into place himself finds them where the header says.
        assert_int_equal(cutis_frame_header(names[k], FRAMES, VERTICES, header, &size), CUTIS_OK);
        assert_ok(f->context, cutis_file_read(f->context, path_in(f, names[k]), &bytes, &whole));
        assert_int_equal(whole, size + sizeof frames);
        assert_memory_equal(bytes, header, size);
        assert_memory_equal((char *)bytes + size, frames, sizeof frames); // on this machine's order
        cutis_memory_free(f->context, bytes, whole);
        assert_ok(f->context, cutis_array_read(f->context, path_in(f, names[k]), &array));
        assert_int_equal(array.dimension_count, 3);
        assert_int_equal(array.dimensions[0], FRAMES);
        assert_int_equal(array.dimensions[1], VERTICES);
        assert_int_equal(array.dimensions[2], 3);
        assert_memory_equal(array.values, frames, sizeof frames);
        assert_true(array.rate == k);
        cutis_array_destroy(f->context, &array);
    }
}

static void a_header_is_of_npy_and_pc2_alone(void **state)
{
    char header[CUTIS_FRAME_HEADER_MOST];
    size_t size = 1;
    (void)state;
    assert_int_equal(cutis_frame_header("a.obj", 1, 1, header, &size), CUTIS_UNSUPPORTED_FORMAT);
    assert_int_equal(size, 0);
}

static void an_unfinished_writer_leaves_no_file(void **state)
{
    fixture *f = *state;
    const float frame[3] = { 1, 2, 3 };
    cutis_frame_writer *writer;
    assert_ok(f->context,
              cutis_frame_writer_create(f->context, path_in(f, "x.npy"), 2, 1, 30, &writer));
    assert_ok(f->context, cutis_frame_writer_add(writer, frame));
    assert_int_equal(cutis_frame_writer_finish(writer), CUTIS_INVALID_ARGUMENT);
    assert_ok(f->context,
              cutis_frame_writer_create(f->context, path_in(f, "y.pc2"), 1, 1, 30, &writer));
    assert_ok(f->context, cutis_frame_writer_add(writer, frame));
    assert_int_equal(cutis_frame_writer_add(writer, frame), CUTIS_INVALID_ARGUMENT);
    cutis_frame_writer_destroy(writer);
    assert_int_equal(count_files(f), 0);
    assert_int_equal(cutis_frame_writer_create(f->context, path_in(f, "z.txt"), 1, 1, 30, &writer),
                     CUTIS_UNSUPPORTED_FORMAT);
    assert_int_equal(
        cutis_frame_writer_create(f->context, path_in(f, "no/z.npy"), 1, 1, 30, &writer),
        CUTIS_FILE_WRITE);
    assert_int_equal(cutis_frame_writer_create(f->context, path_in(f, "z.npy"), 1, 1, 0, &writer),
                     CUTIS_INVALID_ARGUMENT);
    cutis_frame_writer_destroy(NULL);
}

static void a_lying_pc2_is_refused(void **state)
{
    fixture *f = *state;
    char bytes[44] = "POINTCACHE2";
    cutis_array array;
    bytes[12] = 1;
    bytes[16] = 1;
    bytes[28] = 2; // two samples of one point, and room for one
    write_bytes(f, "p.pc2", bytes, sizeof bytes);
    assert_int_equal(cutis_array_read(f->context, path_in(f, "p.pc2"), &array), CUTIS_CORRUPT_DATA);
    bytes[28] = 1;
    write_bytes(f, "p.pc2", bytes, sizeof bytes);
    assert_ok(f->context, cutis_array_read(f->context, path_in(f, "p.pc2"), &array));
    cutis_array_destroy(f->context, &array);
    write_bytes(f, "p.pc2", bytes, 20);
    assert_int_equal(cutis_array_read(f->context, path_in(f, "p.pc2"), &array), CUTIS_CORRUPT_DATA);
}

// With a command line, a tool for test_npy_numpy.sh: "write OUT" writes frames, "sum IN" prints
// shape and values.
static int tool(char **arguments)
{
    cutis_context *context;
    if (cutis_context_create(NULL, &context) != CUTIS_OK) return 1;
    int result = 1;
    if (strcmp(arguments[1], "write") == 0) {
        cutis_frame_writer *writer;
        float frame[15];
        if (cutis_frame_writer_create(context, arguments[2], 4, 5, 30, &writer) != CUTIS_OK)
            goto done;
        for (int n = 0; n < 4; n++) {
            for (int i = 0; i < 15; i++) frame[i] = (float)(n * 15 + i) / 3.0f;
            if (cutis_frame_writer_add(writer, frame) != CUTIS_OK) goto done;
        }
        result = cutis_frame_writer_finish(writer) != CUTIS_OK;
    } else {
        cutis_array array;
        if (cutis_array_read(context, arguments[2], &array) != CUTIS_OK) {
            printf("%s\n", cutis_context_error(context));
            goto done;
        }
        size_t count = 1;
        for (uint32_t d = 0; d < array.dimension_count; d++) {
            printf("%llu ", (unsigned long long)array.dimensions[d]);
            count *= (size_t)array.dimensions[d];
        }
        printf(":");
        for (size_t i = 0; i < count; i++) printf(" %.9g", (double)array.values[i]);
        printf("\n");
        cutis_array_destroy(context, &array);
        result = 0;
    }
done:
    cutis_context_destroy(context);
    return result;
}

int main(int count, char **arguments)
{
    const struct CMUnitTest tests[] = {
        claim(versions_types_and_orders_give_the_known_values),
        claim(fortran_order_comes_out_in_c_order),
        claim(lying_headers_are_refused),
        claim(an_empty_array_with_huge_other_dimensions_is_empty),
        claim(frames_come_back_in_the_same_bits_from_npy_and_pc2),
        claim(a_header_is_of_npy_and_pc2_alone),
        claim(an_unfinished_writer_leaves_no_file),
        claim(a_lying_pc2_is_refused),
    };
    if (count == 3) return tool(arguments);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
