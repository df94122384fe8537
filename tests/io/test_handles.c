// Handle files: good ones are read as they stand, bad ones are refused with the place, and nothing
// leaks.
#include "files.h"

static void handles_and_poses_are_read_as_they_stand(void **state)
{
    fixture *f = *state;
    cutis_handle_file *file = NULL;
    write_text(
        f, "h.json",
        "{\"handles\": [{\"name\": \"head\", \"kind\": \"point\", \"position\": [1, 2, 3]},"
        " {\"name\": \"tail\", \"kind\": \"bar\", \"from\": [0, 0, 0], \"to\": [0, 0.5, -1]},"
        " {\"kind\": \"point\", \"position\": [4, 5, 6]}],"
        " \"poses\": [{\"name\": \"nod\", \"handles\": {\"tail\": {\"translation\": [0, 1, 0]},"
        " \"head\": {\"rotation\": [0, 0, 3, 4]}}}, {\"handles\": {}}]}");
    assert_ok(f->context, cutis_handles_read(f->context, path_in(f, "h.json"), &file));
    const cutis_handle_set *set = cutis_handle_file_get(file);
    assert_int_equal(set->handle_count, 3);
    assert_string_equal(set->handles[0].name, "head");
    assert_int_equal(set->handles[0].kind, CUTIS_HANDLE_POINT);
    assert_near(set->handles[0].from.y, 2, 0);
    assert_int_equal(set->handles[1].kind, CUTIS_HANDLE_BAR);
    assert_near(set->handles[1].to.z, -1, 0);
    assert_null(set->handles[2].name);
    assert_int_equal(set->pose_count, 2);
    assert_string_equal(set->poses[0].name, "nod");
    assert_int_equal(set->poses[0].motion_count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        const cutis_handle_motion *motion = &set->poses[0].motions[i];
        if (motion->handle == 1) assert_near(motion->translation.y, 1, 0);
        if (motion->handle == 1) assert_near(motion->rotation.w, 1, 0);
        if (motion->handle == 0) assert_near(motion->rotation.z, 0.6, 1e-7); // of unit length
    }
    assert_null(set->poses[1].name);
    cutis_handle_file_destroy(file);
}

static void bad_files_are_refused_with_their_place(void **state)
{
#define POINT "{\"name\": \"a\", \"kind\": \"point\", \"position\": [0, 0, 0]}"
    static const struct {
        const char *text, *words;
    } BAD[] = {
        { "{\"handles\": [", "line 1" },
        { "[]", "object" },
        { "{}", "/handles" },
        { "{\"handles\": []}", "/handles" },
        { "{\"handles\": [7]}", "/handles/0" },
        { "{\"handles\": [{\"kind\": \"cage\", \"position\": [0, 0, 0]}]}", "/handles/0/kind" },
        { "{\"handles\": [{\"kind\": \"point\"}]}", "/handles/0/position" },
        { "{\"handles\": [{\"kind\": \"point\", \"position\": [0, 0]}]}", "3 numbers" },
        { "{\"handles\": [{\"kind\": \"point\", \"position\": [0, 0, 1e300]}]}", "finite" },
        { "{\"handles\": [{\"kind\": \"point\", \"position\": [0, 0, \"x\"]}]}", "finite" },
        { "{\"handles\": [{\"kind\": \"bar\", \"from\": [0, 0, 0]}]}", "/handles/0/to" },
        { "{\"handles\": [{\"kind\": \"point\", \"position\": [0, 0, 0], \"to\": [0, 0, 0]}]}",
          "unknown key" },
        { "{\"handles\": [{\"kind\": \"point\", \"position\": [0, 0, 0], \"name\": 3}]}",
          "/handles/0/name" },
        { "{\"handles\": [" POINT ", " POINT "]}", "two handles are named" },
        { "{\"handles\": [" POINT "], \"extra\": 1}", "unknown key" },
        { "{\"handles\": [" POINT "], \"poses\": {}}", "/poses" },
        { "{\"handles\": [" POINT "], \"poses\": [{\"name\": \"p\"}]}", "/poses/0/handles" },
        { "{\"handles\": [" POINT "], \"poses\": [{\"handles\": {\"b\": {}}}]}",
          "/poses/0/handles/b" },
        { "{\"handles\": [" POINT "], \"poses\": [{\"handles\": {\"a\": {\"scale\": [1, 1, 1]}}}]}",
          "unknown key" },
        { "{\"handles\": [" POINT
          "], \"poses\": [{\"handles\": {\"a\": {\"rotation\": [0, 0, 0, 0]}}}]}",
          "length 0" },
        { "{\"handles\": [" POINT "], \"poses\": [{\"handles\": {\"a\": 5}}]}",
          "/poses/0/handles/a" },
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        cutis_handle_file *file = NULL;
        write_text(f, "h.json", BAD[i].text);
        assert_int_not_equal(cutis_handles_read(f->context, path_in(f, "h.json"), &file), CUTIS_OK);
        const char *error = cutis_context_error(f->context);
        if (!strstr(error, BAD[i].words) || !strstr(error, "h.json") || strchr(error, '\n'))
            fail_msg("%s: %s", BAD[i].text, error);
        assert_null(file);
    }
    cutis_handle_file *file = NULL;
    assert_int_equal(cutis_handles_read(f->context, path_in(f, "none.json"), &file),
                     CUTIS_FILE_NOT_FOUND);
}

static void long_names_do_not_overrun_the_place(void **state)
{
    fixture *f = *state;
    char text[4096], name[1024];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    snprintf(text, sizeof text,
             "{\"handles\": [{\"name\": \"%s\", \"kind\": \"point\", \"position\": [0, 0, 0]}], "
             "\"poses\": [{\"handles\": "
             "{\"%s\": {\"rotation\": 1}}}]}",
             name, name);
    cutis_handle_file *file = NULL;
    write_text(f, "h.json", text);
    assert_int_equal(cutis_handles_read(f->context, path_in(f, "h.json"), &file),
                     CUTIS_CORRUPT_DATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(handles_and_poses_are_read_as_they_stand),
        claim(bad_files_are_refused_with_their_place),
        claim(long_names_do_not_overrun_the_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
