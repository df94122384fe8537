// Files: whole regular files in, nothing outside the asset's folder, atomic files out.
#include "support.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"

static cutis_context *context;
static char root[64], path[4200];

static const char *at(const char *name)
{
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

static void put(const char *name, const char *text)
{
    FILE *file = fopen(at(name), "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void assert_content(const char *name, const char *text)
{
    void *data = NULL;
    size_t size = 0;
    assert_ok(context, cutis_os_read_file(context, at(name), &data, &size));
    assert_int_equal(size, strlen(text));
    assert_memory_equal(data, text, size + 1); // with the zero byte after its end
    cutis_free(context, data, size + 1);
}

// Files in the folder, so that a forgotten temporary shows.
static int count_files(void)
{
    int count = 0;
    DIR *folder = opendir(root);
    for (struct dirent *entry; (entry = readdir(folder));) count += entry->d_type == DT_REG;
    closedir(folder);
    return count;
}

static int setup(void **state)
{
    (void)state;
    strcpy(root, "/tmp/cutis-test-XXXXXX");
    if (!mkdtemp(root)) return 1;
    return cutis_context_create(NULL, &context) != CUTIS_OK;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    int failed = cutis_context_memory(context) != 0;
    cutis_context_destroy(context);
    return failed | system(command);
}

static void assert_read(const char *name, cutis_result result, const char *text)
{
    void *data = NULL;
    size_t size;
    assert_int_equal(cutis_os_read_file(context, at(name), &data, &size), result);
    assert_null(data);
    if (!strstr(cutis_context_error(context), text))
        fail_msg("\"%s\" lacks \"%s\"", cutis_context_error(context), text);
}

static void a_file_is_read_whole_with_a_zero_behind_it(void **state)
{
    (void)state;
    put("a", "hello");
    put("empty", "");
    assert_content("a", "hello");
    assert_content("empty", "");
    assert_true(cutis_os_file_exists(at("a")));
    assert_false(cutis_os_file_exists(at("b")));
    assert_false(cutis_os_file_exists(root));
}

static void what_is_no_regular_file_is_refused_without_waiting(void **state)
{
    (void)state;
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    assert_int_equal(mkdir(at("folder"), 0700), 0);
    put("file", "x");
    assert_read("nothing", CUTIS_FILE_NOT_FOUND, "nothing");
    assert_read("file/below", CUTIS_FILE_NOT_FOUND, "below");
    assert_read("fifo", CUTIS_FILE_READ, "regular"); // would hang if it were opened plainly
    assert_read("folder", CUTIS_FILE_READ, "folder");
    assert_int_equal(symlink("loop", at("loop")), 0);
    assert_read("loop", CUTIS_FILE_READ, "loop");
    void *data = NULL;
    size_t size;
    assert_int_equal(cutis_os_read_file(context, "/dev/zero", &data, &size), CUTIS_FILE_READ);
}

static void a_file_above_the_limit_is_refused_before_memory_is_taken(void **state)
{
    (void)state;
    cutis_context *small = NULL;
    cutis_context_options options = { .limits = { .file_bytes = 5 } };
    assert_int_equal(cutis_context_create(&options, &small), CUTIS_OK);
    put("five", "12345");
    put("six", "123456");
    void *data = NULL;
    size_t size;
    assert_int_equal(cutis_os_read_file(small, at("six"), &data, &size), CUTIS_LIMIT_EXCEEDED);
    assert_int_equal(cutis_context_memory(small), 0);
    assert_int_equal(cutis_os_read_file(small, at("five"), &data, &size), CUTIS_OK);
    cutis_free(small, data, size + 1);
    cutis_context_destroy(small);
    // A sparse file of 1 TiB under the default limit of 4 GiB.
    int file = open(at("sparse"), O_CREAT | O_WRONLY, 0600);
    if (ftruncate(file, (off_t)1 << 40) == 0) assert_read("sparse", CUTIS_LIMIT_EXCEEDED, "sparse");
    close(file);
}

static cutis_result resolve(const char *relative, char *out)
{
    char base[128];
    snprintf(base, sizeof base, "%s/asset/model.gltf", root);
    return cutis_os_resolve_below(context, base, relative, out, 4096);
}

static void names_below_the_folder_resolve_and_all_others_do_not(void **state)
{
    (void)state;
    char out[4096];
    assert_int_equal(mkdir(at("asset"), 0700), 0);
    assert_int_equal(mkdir(at("asset/textures"), 0700), 0);
    assert_int_equal(mkdir(at("asset-evil"), 0700), 0); // shares the folder's name as a prefix
    put("asset/data.bin", "in");
    put("asset/textures/a b.png", "in");
    put("asset/..dots", "in");
    put("secret", "out");
    put("asset-evil/secret", "out");
    assert_int_equal(symlink("../secret", at("asset/link_out")), 0);
    assert_int_equal(symlink("../asset-evil", at("asset/folder_out")), 0);
    assert_int_equal(symlink("data.bin", at("asset/link_in")), 0);
    const char *const good[] = { "data.bin", "./data.bin", "textures/a b.png", "link_in",
                                 "..dots" };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_ok(context, resolve(good[i], out));
        assert_true(cutis_os_file_exists(out));
    }
    char absolute[128];
    snprintf(absolute, sizeof absolute, "%s/asset/data.bin", root);
    const char *const bad[] = { "",
                                "..",
                                "../secret",
                                "textures/../../secret",
                                "textures/..",
                                absolute,
                                "/etc/passwd",
                                "file:data.bin",
                                "http://x/y",
                                "C:\\x",
                                "a\\..\\b",
                                "link_out",
                                "folder_out/secret",
                                "data:x" };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        out[0] = 0;
        cutis_result result = resolve(bad[i], out);
        if (result != CUTIS_CORRUPT_DATA)
            fail_msg("'%s' gave %s", bad[i], cutis_result_name(result));
        assert_int_equal(out[0], 0);
    }
    assert_int_equal(resolve("missing.bin", out), CUTIS_FILE_NOT_FOUND);
    char longest[5000];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    assert_int_equal(resolve(longest, out), CUTIS_CORRUPT_DATA);
    char tiny[8];
    char base[128];
    snprintf(base, sizeof base, "%s/asset/model.gltf", root);
    assert_int_not_equal(cutis_os_resolve_below(context, base, "data.bin", tiny, sizeof tiny),
                         CUTIS_OK);
}

static void a_base_without_a_folder_means_the_working_folder(void **state)
{
    (void)state;
    char before[4096], out[4096];
    assert_non_null(getcwd(before, sizeof before));
    put("data.bin", "in");
    assert_int_equal(chdir(root), 0);
    cutis_result good = cutis_os_resolve_below(context, "model.gltf", "data.bin", out, sizeof out);
    cutis_result bad = cutis_os_resolve_below(context, "model.gltf", "../etc", out, sizeof out);
    assert_int_equal(chdir(before), 0);
    assert_int_equal(good, CUTIS_OK);
    assert_int_equal(bad, CUTIS_CORRUPT_DATA);
}

static void remember(void *user, const char *name)
{
    strcat(user, name);
    strcat(user, " ");
}

static void a_folders_files_come_sorted_by_bytes(void **state)
{
    (void)state;
    char names[200] = "";
    put("b.caf", ""), put("a.caf", ""), put("C.caf", "");
    assert_int_equal(mkdir(at("0folder"), 0700), 0);
    assert_ok(context, cutis_os_list_folder(context, root, remember, names));
    assert_string_equal(names, "C.caf a.caf b.caf ");
    assert_int_equal(cutis_os_list_folder(context, at("none"), remember, names), CUTIS_FILE_READ);
}

static cutis_os_write *begin(const char *name)
{
    cutis_os_write *write = NULL;
    assert_ok(context, cutis_os_write_begin(context, at(name), &write));
    return write;
}

static void a_committed_write_replaces_and_an_aborted_one_leaves_no_trace(void **state)
{
    (void)state;
    put("out", "old");
    cutis_os_write *write = begin("out");
    assert_ok(context, cutis_os_write_append(write, "new ", 4));
    assert_ok(context, cutis_os_write_append(write, "text", 4));
    assert_content("out", "old"); // until the commit
    assert_ok(context, cutis_os_write_commit(write));
    assert_content("out", "new text");
    write = begin("out");
    assert_ok(context, cutis_os_write_append(write, "half", 4));
    cutis_os_write_abort(write);
    assert_content("out", "new text");
    write = begin("fresh");
    cutis_os_write_abort(write);
    cutis_os_write_abort(NULL);
    assert_int_equal(count_files(), 1);
}

static void a_new_file_has_the_modes_of_the_users_umask(void **state)
{
    (void)state;
    mode_t before = umask(027);
    assert_ok(context, cutis_os_write_commit(begin("out")));
    umask(before);
    struct stat info;
    assert_int_equal(stat(at("out"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0640);
}

static void write_one(void *data, uint32_t index)
{
    char file[300];
    cutis_os_write *write = NULL;
    snprintf(file, sizeof file, "%s/%u", (const char *)data, (unsigned)index % 2);
    if (cutis_os_write_begin(context, file, &write) == CUTIS_OK) cutis_os_write_abort(write);
}

static void threads_that_write_leave_the_umask_alone(void **state)
{
    (void)state;
    cutis_os_pool *pool = NULL;
    mode_t before = umask(027);
    assert_ok(context, cutis_os_pool_create(context, 4, &pool));
    cutis_os_pool_run(pool, write_one, root, 4000);
    cutis_os_pool_destroy(pool);
    assert_int_equal(umask(before), 027);
    assert_int_equal(count_files(), 0);
}

static void a_link_is_written_through_not_replaced(void **state)
{
    (void)state;
    put("real", "old");
    assert_int_equal(symlink("real", at("link")), 0);
    cutis_os_write *write = begin("link");
    assert_ok(context, cutis_os_write_append(write, "new", 3));
    assert_ok(context, cutis_os_write_commit(write));
    struct stat info;
    assert_int_equal(lstat(at("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_content("real", "new");
}

// Every link on the way stays; what it leads to is made where nothing was.
static void a_dangling_link_is_followed_not_replaced(void **state)
{
    (void)state;
    char absolute[128];
    struct stat info;
    assert_int_equal(mkdir(at("folder"), 0700), 0);
    snprintf(absolute, sizeof absolute, "%s/folder/second", root);
    assert_int_equal(symlink(absolute, at("first")), 0);
    assert_int_equal(symlink("../real", at("folder/second")), 0); // relative to its own folder
    cutis_os_write *write = begin("first");
    assert_ok(context, cutis_os_write_append(write, "new", 3));
    assert_ok(context, cutis_os_write_commit(write));
    assert_content("real", "new");
    assert_int_equal(lstat(at("first"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(lstat(at("folder/second"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
}

static mode_t mode_of(const char *name)
{
    struct stat info;
    assert_int_equal(stat(at(name), &info), 0);
    return info.st_mode & 07777;
}

static void a_replaced_file_keeps_its_mode_from_the_start(void **state)
{
    (void)state;
    static const mode_t MODES[] = { 0600, 0640, 0666, 0755, 0200 };
    mode_t before = umask(027);
    for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
        put("out", "old");
        assert_int_equal(chmod(at("out"), MODES[i]), 0);
        cutis_os_write *write = begin("out");
        DIR *folder = opendir(root); // nobody sees more of it while it is written
        for (struct dirent *entry; (entry = readdir(folder));)
            if (entry->d_type == DT_REG) assert_int_equal(mode_of(entry->d_name), MODES[i]);
        closedir(folder);
        assert_ok(context, cutis_os_write_commit(write));
        assert_int_equal(mode_of("out"), MODES[i]);
        assert_int_equal(unlink(at("out")), 0);
    }
    put("out", "old");
    assert_int_equal(chmod(at("out"), 04755), 0);
    assert_ok(context, cutis_os_write_commit(begin("out")));
    assert_int_equal(mode_of("out"), 0755); // setuid is not for what another program wrote
    umask(before);
}

static void a_read_only_file_is_replaced_only_by_force(void **state)
{
    (void)state;
    cutis_os_write *write = NULL;
    put("out", "old");
    assert_int_equal(symlink("out", at("link")), 0);
    assert_int_equal(chmod(at("out"), 0444), 0);
    const char *const names[] = { "out", "link" };
    for (int i = 0; i < 2; i++) {
        assert_int_equal(cutis_os_write_begin(context, at(names[i]), &write), CUTIS_FILE_WRITE);
        assert_null(write);
        assert_non_null(strstr(cutis_context_error(context), "read-only"));
    }
    assert_content("out", "old");
    assert_int_equal(count_files(), 1);
    cutis_context *forced = NULL;
    assert_int_equal(
        cutis_context_create(&(cutis_context_options){ .replace_read_only = true }, &forced),
        CUTIS_OK);
    assert_ok(forced, cutis_os_write_begin(forced, at("link"), &write));
    assert_ok(forced, cutis_os_write_append(write, "new", 3));
    assert_ok(forced, cutis_os_write_commit(write));
    cutis_context_destroy(forced);
    assert_content("out", "new");
    assert_int_equal(mode_of("out"), 0444);
}

static void of_two_files_that_belong_together_both_appear_or_none(void **state)
{
    (void)state;
    cutis_os_write *beside = begin("a.bin"), *write = begin("a.gltf");
    assert_ok(context, cutis_os_write_append(beside, "data", 4));
    assert_ok(context, cutis_os_write_append(write, "text", 4));
    assert_ok(context, cutis_os_write_commit_both(beside, write));
    assert_content("a.bin", "data");
    assert_content("a.gltf", "text");
    beside = begin("b.bin"), write = begin("b.gltf");
    assert_int_equal(mkdir(at("b.gltf"), 0700), 0); // the second cannot get its name
    assert_int_equal(cutis_os_write_commit_both(beside, write), CUTIS_FILE_WRITE);
    assert_false(cutis_os_file_exists(at("b.bin")));
    assert_int_equal(count_files(), 2);
}

static void assert_no_begin(const char *name)
{
    cutis_os_write *write = NULL;
    assert_int_equal(cutis_os_write_begin(context, at(name), &write), CUTIS_FILE_WRITE);
    assert_null(write);
    assert_non_null(strstr(cutis_context_error(context), root));
}

static void targets_that_cannot_be_are_refused_at_the_start(void **state)
{
    (void)state;
    assert_int_equal(mkdir(at("folder"), 0700), 0);
    assert_int_equal(mkfifo(at("fifo"), 0600), 0);
    put("file", "x");
    assert_no_begin("none/out");
    assert_no_begin("folder");
    assert_no_begin("folder/");
    assert_no_begin("none/");
    assert_no_begin("fifo");
    assert_no_begin("file/below");
    assert_int_equal(symlink("loop", at("loop")), 0);
    assert_no_begin("loop");
    assert_int_equal(symlink("none/out", at("astray")), 0); // its folder is not there
    assert_no_begin("astray");
    char longest[4100];
    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    cutis_os_write *write = NULL;
    assert_int_equal(cutis_os_write_begin(context, longest, &write), CUTIS_FILE_WRITE);
    assert_int_equal(count_files(), 1);
}

// A file size limit of the process stands for a full disk.
static void a_full_disk_keeps_the_old_file_and_leaves_no_temporary(void **state)
{
    (void)state;
    put("out", "old");
    struct rlimit before, small = { 10000, 10000 };
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    cutis_os_write *write = begin("out");
    char *block = calloc(1, 20000);
    cutis_result append = cutis_os_write_append(write, block, 20000);
    cutis_result after = cutis_os_write_append(write, block, 10);
    cutis_os_write_abort(write);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    free(block);
    assert_int_equal(append, CUTIS_FILE_WRITE);
    assert_int_equal(after, CUTIS_FILE_WRITE);
    assert_content("out", "old");
    assert_int_equal(count_files(), 1);
}

static void a_failed_commit_says_so_and_cleans_up(void **state)
{
    (void)state;
    cutis_os_write *write = begin("out");
    assert_int_equal(mkdir(at("out"), 0700), 0); // somebody made a folder of that name meanwhile
    assert_int_equal(mkdir(at("out/full"), 0700), 0);
    assert_int_equal(cutis_os_write_commit(write), CUTIS_FILE_WRITE);
    assert_int_equal(count_files(), 0);
}

// One writer that is killed after `wait` microseconds, and what it leaves. @return whether the new
// content was there
static bool survive_a_kill(char *block, int size, useconds_t wait)
{
    put("out", "old");
    pid_t child = fork();
    if (child == 0) {
        for (int i = 0;; i++) {
            cutis_os_write *write = NULL;
            memset(block, 'a' + i % 26, (size_t)size);
            if (cutis_os_write_begin(context, at("out"), &write) != CUTIS_OK) _exit(1);
            for (int k = 0; k < size; k += size / 10)
                cutis_os_write_append(write, block + k, (size_t)size / 10);
            if (cutis_os_write_commit(write) != CUTIS_OK) _exit(1);
        }
    }
    usleep(wait);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    void *data = NULL;
    size_t length;
    assert_ok(context, cutis_os_read_file(context, at("out"), &data, &length));
    assert_true(length == (size_t)size || (length == 3 && memcmp(data, "old", 3) == 0));
    for (size_t i = 1; i < length && length == (size_t)size; i++)
        assert_int_equal(((char *)data)[i], ((char *)data)[0]);
    cutis_free(context, data, length + 1);
    return length != 3;
}

// Killed at any moment, a writer leaves the old content or the new, never a mixture: a thousand
// times here, CUTIS_KILLS times in ./dev soak.
static void a_kill_leaves_old_or_new_never_half(void **state)
{
    (void)state;
    enum { SIZE = 300000 };
    const char *wanted = getenv("CUTIS_KILLS");
    int kills = wanted ? atoi(wanted) : 1000, replaced = 0;
    char *block = malloc(SIZE);
    for (int round = 0; round < kills; round++) {
        int size = round % 20 == 0 ? SIZE : 5000;
        useconds_t wait =
            (useconds_t)random_in(11, (uint64_t)round, 0, round % 20 == 0 ? 8000 : 2500);
        replaced += survive_a_kill(block, size, wait);
    }
    print_message("%d kills: %d times the new file, %d times the old one\n", kills, replaced,
                  kills - replaced);
    assert_true(replaced > kills / 100 && replaced < kills); // both happen
    free(block);
}

static void the_cache_folder_follows_the_environment(void **state)
{
    (void)state;
    char out[4096], want[200];
    const char *before = getenv("XDG_CACHE_HOME");
    char *kept = before ? strdup(before) : NULL;
    setenv("XDG_CACHE_HOME", root, 1);
    snprintf(want, sizeof want, "%s/cutis", root);
    assert_true(cutis_os_cache_folder(out, sizeof out));
    assert_string_equal(out, want);
    struct stat info;
    assert_int_equal(stat(want, &info), 0);
    assert_true(cutis_os_cache_folder(out, sizeof out)); // there already
    assert_false(cutis_os_cache_folder(out, strlen(want)));
    setenv("XDG_CACHE_HOME", at("none/below"), 1);
    assert_false(cutis_os_cache_folder(out, sizeof out));
    kept ? setenv("XDG_CACHE_HOME", kept, 1) : unsetenv("XDG_CACHE_HOME");
    free(kept);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_file_is_read_whole_with_a_zero_behind_it),
        TEST(what_is_no_regular_file_is_refused_without_waiting),
        TEST(a_file_above_the_limit_is_refused_before_memory_is_taken),
        TEST(names_below_the_folder_resolve_and_all_others_do_not),
        TEST(a_base_without_a_folder_means_the_working_folder),
        TEST(a_folders_files_come_sorted_by_bytes),
        TEST(a_committed_write_replaces_and_an_aborted_one_leaves_no_trace),
        TEST(a_new_file_has_the_modes_of_the_users_umask),
        TEST(threads_that_write_leave_the_umask_alone),
        TEST(a_link_is_written_through_not_replaced),
        TEST(a_dangling_link_is_followed_not_replaced),
        TEST(a_replaced_file_keeps_its_mode_from_the_start),
        TEST(a_read_only_file_is_replaced_only_by_force),
        TEST(of_two_files_that_belong_together_both_appear_or_none),
        TEST(targets_that_cannot_be_are_refused_at_the_start),
        TEST(a_full_disk_keeps_the_old_file_and_leaves_no_temporary),
        TEST(a_failed_commit_says_so_and_cleans_up),
        TEST(a_kill_leaves_old_or_new_never_half),
        TEST(the_cache_folder_follows_the_environment),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
