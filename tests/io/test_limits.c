/// Limits of players: by name, from files, and what is wrong with a file in one line.
#include "files.h"

static void players_are_known_by_name(void **state)
{
    fixture *f = *state;
    cutis_player_limits limits = { 0 };
    // One set of joints and weights, eight morphed attributes: what glTF 2.0 asks of clients.
    assert_ok(f->context, cutis_player_limits_read(f->context, "gltf", &limits));
    assert_true(limits.influences == 4 && limits.morphs == 8 && limits.joints == 0);
    assert_ok(f->context, cutis_player_limits_read(f->context, "three", &limits));
    assert_true(limits.influences == 4 && limits.morphs == 0 && limits.weights == 0);
}

static void files_say_what_they_limit(void **state)
{
    fixture *f = *state;
    cutis_player_limits limits = { .joints = 9, .morphs = 9 };
    write_text(f, "p.json", "{\"influences\": 8, \"weights\": [\"u8\", \"float\"]}");
    assert_ok(f->context, cutis_player_limits_read(f->context, path_in(f, "p.json"), &limits));
    assert_true(limits.influences == 8 && limits.joints == 0 && limits.morphs == 0);
    assert_int_equal(limits.weights, 1u << CUTIS_WEIGHTS_U8 | 1u << CUTIS_WEIGHTS_FLOAT);
}

static void errors_name_the_place_and_change_nothing(void **state)
{
    static const struct {
        const char *text, *words;
    } BAD[] = {
        { "[1]", "must be an object" },
        { "{\"bones\": 3}", "/bones: known are" },
        { "{\"joints\": 0}", "/joints: must be a whole number" },
        { "{\"joints\": 70000}", "/joints: must be a whole number" },
        { "{\"morphs\": 1.5}", "/morphs: must be a whole number" },
        { "{\"weights\": []}", "/weights: must be a list" },
        { "{\"weights\": [\"u8\", \"u4\"]}", "/weights: must be a list" },
        { "{\"weights\": \"u8\"}", "/weights: must be a list" },
        { "{\"joints\": 3", "line 1" },
    };
    fixture *f = *state;
    cutis_player_limits limits = { .joints = 9 };
    for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
        write_text(f, "p.json", BAD[i].text);
        assert_int_equal(cutis_player_limits_read(f->context, path_in(f, "p.json"), &limits),
                         CUTIS_CORRUPT_DATA);
        const char *error = cutis_context_error(f->context);
        if (!strstr(error, BAD[i].words) || !strstr(error, "p.json"))
            fail_msg("%s: %s", BAD[i].text, error);
        assert_true(limits.joints == 9 && limits.influences == 0);
    }
    assert_int_equal(cutis_player_limits_read(f->context, path_in(f, "none"), &limits),
                     CUTIS_FILE_NOT_FOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        claim(players_are_known_by_name),
        claim(files_say_what_they_limit),
        claim(errors_name_the_place_and_change_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
