// The seeds of the fuzzers as plain tests: every glTF seed survives being written in both
// containers, every model that can be is written as OBJ, PLY and BVH, and reading and writing any
// of them fails cleanly whichever allocation fails.
#include "support.h"

#include "../../fuzz/run.h"
#include "gltf_compare.h"

#include <dirent.h>
#include <unistd.h>

typedef struct seed {
    char name[256], path[512];
} seed;

static seed seeds[64];
static int seed_count;

static int by_name(const void *a, const void *b)
{
    return strcmp(((const seed *)a)->name, ((const seed *)b)->name);
}

static char folder[64];

static int set_up_all(void **state)
{
    DIR *list = opendir(CUTIS_SOURCE_DIR "/fuzz/seeds");
    struct dirent *entry;
    (void)state;
    while (list && (entry = readdir(list)) && seed_count < 64) {
        if (entry->d_name[0] == '.') continue;
        snprintf(seeds[seed_count].name, sizeof seeds[0].name, "%s", entry->d_name);
        snprintf(seeds[seed_count].path, sizeof seeds[0].path, "%s/fuzz/seeds/%s", CUTIS_SOURCE_DIR,
                 entry->d_name);
        seed_count++;
    }
    if (list) closedir(list);
    qsort(seeds, (size_t)seed_count, sizeof *seeds, by_name);
    strcpy(folder, "/tmp/cutis_seeds_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down_all(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

static bool is_model(const seed *s)
{
    const char *end = strrchr(s->name, '.');
    return strstr(".gltf .glb .obj .ply .off .stl .bvh .xsf .xmf .csf .cmf", end) != NULL;
}

/// Count allocations and fail one of them (or, `persistent`, all from it on).
typedef struct failing {
    uint64_t seen, fail_at;
    bool persistent;
} failing;

static void *failing_allocate(void *user, size_t size, size_t alignment)
{
    failing *f = user;
    uint64_t now = f->seen++;
    if (now == f->fail_at || (f->persistent && now > f->fail_at)) return NULL;
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void failing_release(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

static void assert_same_drivers(const cutis_drivers *a, const cutis_drivers *b)
{
    assert_int_equal(!a, !b);
    if (!a) return;
    assert_int_equal(a->joint_count, b->joint_count);
    assert_int_equal(a->driver_count, b->driver_count);
    assert_memory_equal(a->joints, b->joints, a->joint_count * sizeof *a->joints);
    assert_memory_equal(a->ranges, b->ranges, 8 * a->joint_count * sizeof *a->ranges);
    for (uint32_t d = 0; d < a->driver_count; d++) {
        const cutis_driver *p = &a->drivers[d], *q = &b->drivers[d];
        const uint32_t n = 4 * p->input_count;
        assert_int_equal(p->node, q->node);
        assert_int_equal(p->input_count, q->input_count);
        if (!n) continue;
        assert_memory_equal(p->inputs, q->inputs, p->input_count * sizeof *p->inputs);
        assert_memory_equal(p->coefficients, q->coefficients,
                            6 * (n + n * (n + 1) / 2) * sizeof *p->coefficients);
    }
    assert_int_equal(a->weight_count, b->weight_count);
    for (uint32_t d = 0; d < a->weight_count; d++) {
        const cutis_weight_driver *p = &a->weights[d], *q = &b->weights[d];
        const uint32_t n = 4 * p->input_count;
        assert_int_equal(p->node, q->node);
        assert_int_equal(p->target, q->target);
        assert_int_equal(p->input_count, q->input_count);
        if (!n) continue;
        assert_memory_equal(p->inputs, q->inputs, p->input_count * sizeof *p->inputs);
        assert_memory_equal(p->coefficients, q->coefficients,
                            (n + n * (n + 1) / 2) * sizeof *p->coefficients);
    }
}

static void every_gltf_seed_survives_both_containers(void **state)
{
    static const char *const ENDS[] = { ".glb", ".gltf" };
    int count = 0;
    (void)state;
    for (int i = 0; i < seed_count; i++) {
        if (!strstr(seeds[i].name, ".gl")) continue;
        for (int e = 0; e < 2; e++) {
            char path[160], why[256] = "";
            cutis_context *context = NULL;
            cutis_model *model = NULL, *again = NULL;
            assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
            snprintf(path, sizeof path, "%s/out%s", folder, ENDS[e]);
            assert_ok(context, cutis_model_read(context, seeds[i].path, KEEP_SOURCE, &model));
            assert_ok(context, cutis_model_write(model, path, NULL));
            assert_ok(context, cutis_model_read(context, path, NULL, &again));
            if (!same_models(model, again, why)) fail_msg("%s: %s", seeds[i].name, why);
            // Our extensions came back, too.
            const cutis_model_data *a = cutis_model_get(model), *b = cutis_model_get(again);
            assert_int_equal(!a->handles, !b->handles);
            assert_int_equal(!a->cage, !b->cage);
            assert_same_drivers(a->drivers, b->drivers);
            assert_int_equal(!a->pose_space, !b->pose_space);
            for (uint32_t m = 0; m < a->mesh_count; m++)
                assert_int_equal(!a->meshes[m].part_tree, !b->meshes[m].part_tree);
            cutis_model_destroy(again);
            cutis_model_destroy(model);
            assert_int_equal(cutis_context_memory(context), 0);
            cutis_context_destroy(context);
            count++;
        }
    }
    assert_true(count >= 20);
}

/// Read, inspect and write with allocation `fail_at` failing; how many allocations there were.
static uint64_t read_and_write(const seed *s, const char *end, failing *f)
{
    char path[160];
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    cutis_check_report *report = NULL;
    cutis_context_options options = { .allocator = { failing_allocate, failing_release, f } };
    f->seen = 0;
    if (cutis_context_create(&options, &context) != CUTIS_OK) return f->seen;
    snprintf(path, sizeof path, "%s/out%s", folder, end);
    cutis_result result = cutis_model_read(
        context, s->path, &(cutis_read_options){ .gate = CUTIS_GATE_REPAIR, .keep_source = true },
        &model);
    assert_int_equal(result == CUTIS_OK, model != NULL);
    if (model) result = cutis_model_write(model, path, NULL);
    if (f->fail_at == UINT64_MAX && result != CUTIS_OK && result != CUTIS_UNSUPPORTED)
        fail_msg("%s to %s: %s", s->name, end, cutis_context_error(context));
    cutis_model_destroy(model);
    if (strstr(s->name, ".gl")) {
        result = cutis_file_inspect(context, s->path, &report);
        assert_int_equal(result == CUTIS_OK, report != NULL);
        cutis_check_report_destroy(report);
    }
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
    unlink(path);
    return f->seen;
}

static void any_allocation_may_fail_on_the_way(void **state)
{
    static const char *const ENDS[] = { ".glb", ".gltf", ".obj", ".ply", ".stl", ".bvh" };
    uint64_t tries = 0;
    (void)state;
    for (int i = 0; i < seed_count; i++) {
        if (!is_model(&seeds[i])) continue;
        for (int e = 0; e < 5; e++) {
            failing f = { .fail_at = UINT64_MAX };
            uint64_t count = read_and_write(&seeds[i], ENDS[e], &f);
            // The reading part is the same for all formats written.
            uint64_t step = e == 0 || e == 2 ? 1 : 7;
            for (uint64_t k = 0; k < count; k += step, tries++) {
                f = (failing){ .fail_at = k, .persistent = k % 2 };
                read_and_write(&seeds[i], ENDS[e], &f);
            }
        }
    }
    print_message("%llu failing allocations\n", (unsigned long long)tries);
    assert_true(tries > 1000);
}

static void small_files_fail_cleanly_whichever_allocation_fails(void **state)
{
    (void)state;
    for (int i = 0; i < seed_count; i++) {
        const char *name = seeds[i].name;
        if (is_model(&seeds[i]) || strstr(name, ".cli") || strstr(name, "af")) continue;
        failing f = { .fail_at = UINT64_MAX };
        uint64_t count = 0;
        for (uint64_t k = 0; k <= count; k++) {
            cutis_context *context = NULL;
            cutis_array array = { 0 };
            cutis_handle_file *handles = NULL;
            uint32_t *labels = NULL;
            uint64_t label_count = 0;
            cutis_transform pose[8];
            int32_t map[8];
            cutis_player_limits limits;
            cutis_context_options options = { .allocator = { failing_allocate, failing_release,
                                                             &f } };
            f = (failing){ .fail_at = UINT64_MAX };
            assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
            cutis_model *model = run_character(context);
            cutis_pose_rest(model, pose, NULL);
            f.seen = 0;
            f.fail_at = k ? k - 1 : UINT64_MAX;
            cutis_result result = CUTIS_OK;
            if (strstr(name, ".npy") || strstr(name, ".pc2"))
                result = cutis_array_read(context, seeds[i].path, &array);
            else if (strstr(name, "handles"))
                result = cutis_handles_read(context, seeds[i].path, &handles);
            else if (strstr(name, ".seg"))
                result = cutis_part_labels_read(context, seeds[i].path, &labels, &label_count);
            else if (strstr(name, "limits"))
                result = cutis_player_limits_read(context, seeds[i].path, &limits);
            else if (strstr(name, "map"))
                result = cutis_joint_map_read(model, model, seeds[i].path, map);
            else
                result = cutis_pose_read(model, seeds[i].path, pose);
            if (k == 0) {
                if (result != CUTIS_OK) fail_msg("%s: %s", name, cutis_context_error(context));
                count = f.seen;
            } else {
                assert_int_equal(result, CUTIS_OUT_OF_MEMORY);
            }
            if (labels) cutis_memory_free(context, labels, label_count * sizeof(uint32_t));
            cutis_array_destroy(context, &array);
            cutis_handle_file_destroy(handles);
            cutis_model_destroy(model);
            assert_int_equal(cutis_context_memory(context), 0);
            cutis_context_destroy(context);
        }
    }
}

static void a_joint_map_that_was_written_reads_the_same(void **state)
{
    char path[160];
    int32_t map[4], again[4] = { 0 };
    cutis_context *context = NULL;
    (void)state;
    assert_int_equal(cutis_context_create(NULL, &context), CUTIS_OK);
    cutis_model *model = run_character(context);
    snprintf(path, sizeof path, "%s/map.json", folder);
    assert_ok(context, cutis_joint_map_read(model, model,
                                            CUTIS_SOURCE_DIR "/fuzz/seeds/joint_map.json", map));
    assert_ok(context, cutis_joint_map_write(model, model, map, path));
    assert_ok(context, cutis_joint_map_read(model, model, path, again));
    assert_memory_equal(map, again, sizeof map);
    cutis_model_destroy(model);
    assert_int_equal(cutis_context_memory(context), 0);
    cutis_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_gltf_seed_survives_both_containers),
        cmocka_unit_test(any_allocation_may_fail_on_the_way),
        cmocka_unit_test(small_files_fail_cleanly_whichever_allocation_fails),
        cmocka_unit_test(a_joint_map_that_was_written_reads_the_same),
    };
    return cmocka_run_group_tests(tests, set_up_all, tear_down_all);
}
