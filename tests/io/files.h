/// What the file tests share: a context that must end without a byte allocated, and a folder that
/// goes away.
#ifndef CUTIS_TESTS_FILES_H
#define CUTIS_TESTS_FILES_H

#include "support.h"

#include <dirent.h>
#include <unistd.h>

typedef struct fixture {
    cutis_context *context;
    char folder[64];
} fixture;

static inline int set_up(void **state)
{
    static fixture f;
    strcpy(f.folder, "/tmp/cutis-files-XXXXXX");
    if (!mkdtemp(f.folder)) return 1;
    *state = &f;
    return cutis_context_create(NULL, &f.context);
}

static inline int tear_down(void **state)
{
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    int result = system(command);
    if (cutis_context_memory(f->context) != 0) {
        print_message("leak: %llu bytes\n", (unsigned long long)cutis_context_memory(f->context));
        result = 1;
    }
    cutis_context_destroy(f->context);
    return result;
}

/// A path in the test's folder; valid until the fourth call after this one.
static inline const char *path_in(fixture *f, const char *name)
{
    static char paths[4][512];
    static unsigned turn;
    char *path = paths[turn++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", f->folder, name);
    return path;
}

static inline void write_bytes(fixture *f, const char *name, const void *data, size_t size)
{
    assert_ok(f->context, cutis_file_write(f->context, path_in(f, name), data, size));
}

static inline void write_text(fixture *f, const char *name, const char *text)
{
    write_bytes(f, name, text, strlen(text));
}

static inline cutis_model *read_ok(fixture *f, const char *path)
{
    cutis_model *model = NULL;
    assert_ok(f->context, cutis_model_read(f->context, path, NULL, &model));
    return model;
}

/// A text that must become a model of the format its name says.
static inline cutis_model *read_text(fixture *f, const char *name, const char *text)
{
    cutis_model *model = NULL;
    assert_ok(f->context,
              cutis_model_read_memory(f->context, text, strlen(text), name, NULL, &model));
    return model;
}

/// Bytes that must be refused with a result and words of the error, in one line, leaving no model.
static inline void refuse_bytes(fixture *f, const char *name, const void *data, size_t size,
                                cutis_result wanted, const char *words)
{
    cutis_model *model = NULL;
    cutis_result result = cutis_model_read_memory(f->context, data, size, name, NULL, &model);
    const char *error = cutis_context_error(f->context);
    if (result != wanted || !strstr(error, words) || !strstr(error, name) || strchr(error, '\n'))
        fail_msg("%s gave %s '%s', wanted %s '%s'", name, cutis_result_name(result), error,
                 cutis_result_name(wanted), words);
    assert_null(model);
}

static inline void refuse_text(fixture *f, const char *name, const char *text, cutis_result wanted,
                               const char *words)
{
    refuse_bytes(f, name, text, strlen(text), wanted, words);
}

static inline const cutis_primitive *only_primitive(const cutis_model *model)
{
    const cutis_model_data *data = cutis_model_get(model);
    assert_int_equal(data->mesh_count, 1);
    assert_int_equal(data->meshes[0].primitive_count, 1);
    return &data->meshes[0].primitives[0];
}

/// Equal in bits, or both not there.
static inline void assert_same_floats(const float *a, const float *b, size_t count)
{
    assert_int_equal(a == NULL, b == NULL);
    if (a) assert_memory_equal(a, b, count * sizeof(float));
}

static inline void assert_same_primitive(const cutis_primitive *a, const cutis_primitive *b)
{
    assert_int_equal(a->topology, b->topology);
    assert_int_equal(a->vertex_count, b->vertex_count);
    assert_int_equal(a->index_count, b->index_count);
    assert_memory_equal(a->indices, b->indices, a->index_count * sizeof(uint32_t));
    assert_same_floats(a->positions, b->positions, 3 * (size_t)a->vertex_count);
    assert_same_floats(a->normals, b->normals, 3 * (size_t)a->vertex_count);
    assert_same_floats(a->texcoords, b->texcoords, 2 * (size_t)a->vertex_count);
    assert_same_floats(a->colors, b->colors, 4 * (size_t)a->vertex_count);
}

/// Names left in the test's folder, temporary ones included.
static inline int count_files(fixture *f)
{
    int count = 0;
    DIR *folder = opendir(f->folder);
    for (struct dirent *entry; (entry = readdir(folder));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(folder);
    return count;
}

#define claim(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
