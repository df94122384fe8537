/// Kernels of a GPU device: the embedded text with a variant's defines, compiled once per device
/// and kept on disk.
///
/// Invariant: a cache entry is used only if its header, key and checksum are whole and the driver
/// accepts it; anything else is compiled again and overwritten. The cache never makes a call fail.
#include <device/gpu/gpu.h>

#include <base/error.h>
#include <base/memory.h>
#include <kernel/embedded.h>
#include <stdio.h>
#include <string.h>

typedef struct cutis_gpu_program {
    struct cutis_gpu_program *next;
    cutis_gpu_kernel kernel;
    char entry[32];
    char defines[2048];
} cutis_gpu_program;

/// First bytes of a cache entry. The key is repeated in it, so a renamed file is no hit.
typedef struct cache_header {
    char magic[8];
    uint64_t key[2];
    uint64_t size, checksum;
} cache_header;

static const char CACHE_MAGIC[8] = "cutisk1";

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *bytes = data;
    for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3ull; // FNV-1a
    return hash ^ (hash >> 29);
}

static uint64_t hash_text(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text, strlen(text) + 1);
}

static bool cache_path(const cutis_gpu *gpu, const uint64_t key[2], char *out, size_t capacity)
{
    char folder[3072];
    if (!cutis_os_cache_folder(folder, sizeof folder)) return false;
    int length = snprintf(out, capacity, "%s/%s-%016llx%016llx.bin", folder, gpu->driver->name,
                          (unsigned long long)key[0], (unsigned long long)key[1]);
    return length > 0 && (size_t)length < capacity;
}

/// Load a kernel from its cache entry; false if there is none that works.
static bool cache_load(cutis_gpu *gpu, const char *path, const uint64_t key[2], const char *entry,
                       cutis_gpu_kernel *out)
{
    void *data = NULL;
    size_t size = 0;
    cache_header header;
    bool loaded = false;
    cutis_context *context = gpu->base.context;
    if (!cutis_os_file_exists(path)) return false;
    cutis_errors_ignore(true);
    if (cutis_os_read_file(context, path, &data, &size) == CUTIS_OK && size >= sizeof header) {
        memcpy(&header, data, sizeof header);
        const char *binary = (const char *)data + sizeof header;
        if (memcmp(header.magic, CACHE_MAGIC, sizeof header.magic) == 0 &&
            header.key[0] == key[0] && header.key[1] == key[1] &&
            header.size == size - sizeof header &&
            header.checksum == hash_bytes(0, binary, (size_t)header.size))
            loaded = gpu->driver->load(gpu, binary, (size_t)header.size, entry, out) == CUTIS_OK;
    }
    if (data) cutis_free(context, data, size + 1);
    cutis_errors_ignore(false);
    return loaded;
}

static bool cache_store(cutis_gpu *gpu, const char *path, const uint64_t key[2], const void *binary,
                        size_t size)
{
    cache_header header = { .key = { key[0], key[1] }, .size = size };
    cutis_os_write *write = NULL;
    memcpy(header.magic, CACHE_MAGIC, sizeof header.magic);
    header.checksum = hash_bytes(0, binary, size);
    cutis_errors_ignore(true); // it is compiled again next time
    const bool begun = cutis_os_write_begin(gpu->base.context, path, &write) == CUTIS_OK;
    bool stored = begun && cutis_os_write_append(write, &header, sizeof header) == CUTIS_OK &&
                  cutis_os_write_append(write, binary, size) == CUTIS_OK;
    if (stored)
        stored = cutis_os_write_commit(write) == CUTIS_OK;
    else if (begun)
        cutis_os_write_abort(write);
    cutis_errors_ignore(false);
    return stored;
}

/// Compile, load, and keep on disk what worked.
static cutis_result compile(cutis_gpu *gpu, const char *text, uint32_t registers, const char *path,
                            const uint64_t key[2], const char *entry, cutis_gpu_kernel *out)
{
    void *binary = NULL;
    size_t size = 0;
    TRY(gpu->driver->compile(gpu, text, registers, &binary, &size));
    cutis_result result = gpu->driver->load(gpu, binary, size, entry, out);
    if (result == CUTIS_OK && path) cache_store(gpu, path, key, binary, size);
    cutis_free(gpu->base.context, binary, size);
    return result;
}

/// Append a kernel text without its #include lines (there are no files on the user's machine).
static void append_text(const char *name, char *out, size_t *length)
{
    const char *line = cutis_kernel_text(name);
    while (line && *line) {
        const char *end = strchr(line, '\n');
        size_t size = end ? (size_t)(end - line) + 1 : strlen(line);
        if (strncmp(line, "#include", 8) != 0) {
            if (out) memcpy(out + *length, line, size);
            *length += size;
        }
        line += size;
    }
}

/// Defines and kernel texts one after the other. @return the size with the final zero; `out` may be
/// NULL
static size_t join_text(const char *const *texts, const char *defines, char *out)
{
    size_t length = strlen(defines);
    if (out) memcpy(out, defines, length);
    append_text("kernel.h", out, &length);
    append_text("arguments.h", out, &length);
    append_text("item.h", out, &length);
    for (; *texts; texts++) append_text(*texts, out, &length);
    if (out) out[length] = 0;
    return length + 1;
}

/// The whole text of a kernel, and where the disk cache has it.
typedef struct whole_text {
    char *text;
    size_t length;
    uint64_t key[2];
    bool cached; ///< there is a place for it
    char path[4096];
} whole_text;

static cutis_result source_open(const cutis_gpu *gpu, const cutis_gpu_variant *wanted,
                                whole_text *out)
{
    cutis_context *context = gpu->base.context;
    out->length = join_text(wanted->texts, wanted->defines, NULL);
    out->text = cutis_alloc(context, out->length);
    if (!out->text) return cutis_alloc_result(context);
    join_text(wanted->texts, wanted->defines, out->text);
    out->key[0] = 0xcbf29ce484222325ull;
    out->key[1] = 0x84222325cbf29ce4ull;
    for (int i = 0; i < 2; i++) {
        out->key[i] = hash_text(out->key[i], gpu->identity);
        out->key[i] = hash_text(out->key[i], wanted->entry);
        out->key[i] = hash_text(out->key[i], out->text);
    }
    out->cached = cache_path(gpu, out->key, out->path, sizeof out->path);
    return CUTIS_OK;
}

static cutis_result build(cutis_gpu *gpu, const cutis_gpu_variant *wanted, cutis_gpu_kernel *out)
{
    whole_text source;
    cutis_result result = CUTIS_OK;
    TRY(source_open(gpu, wanted, &source));
    if (!source.cached || !cache_load(gpu, source.path, source.key, wanted->entry, out))
        result = compile(gpu, source.text, wanted->registers, source.cached ? source.path : NULL,
                         source.key, wanted->entry, out);
    cutis_free(gpu->base.context, source.text, source.length);
    return result;
}

typedef struct build_ahead {
    cutis_gpu *gpu;
    const cutis_gpu_variant *wanted;
    uint32_t count;
    _Atomic bool refused; ///< the cache takes nothing: what is compiled here would be lost
} build_ahead;

// Most of what a compiler does for a brief kernel is reading its text. So those that differ in
// nothing but which of the text's they are, compute.c's first line, are compiled together.
enum { BUNDLE = 8 };

static const char *after_first_line(const char *text)
{
    const char *end = strchr(text, '\n');
    return end ? end + 1 : text;
}

static bool are_alike(const cutis_gpu_variant *a, const cutis_gpu_variant *b)
{
    return a->brief && b->brief && a->texts == b->texts && a->registers == b->registers &&
           strcmp(after_first_line(a->defines), after_first_line(b->defines)) == 0;
}

// Those that are alike one after the other, in the order of the first of them.
static void order_alike(cutis_gpu_variant *wanted, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t at = i;
        const cutis_gpu_variant one = wanted[i];
        while (at > 0 && !are_alike(&wanted[at - 1], &one)) at--;
        if (at == 0) continue; // the first of its kind
        memmove(&wanted[at + 1], &wanted[at], (i - at) * sizeof one);
        wanted[at] = one;
    }
}

/// The text of `count` variants that are alike. The caller frees it.
static char *bundle_text(cutis_context *context, const cutis_gpu_variant *wanted, uint32_t count,
                         size_t *size)
{
    size_t length = 0;
    *size = join_text(wanted->texts, "", NULL) + strlen(wanted->defines);
    for (uint32_t i = 1; i < count; i++)
        *size += (size_t)(after_first_line(wanted[i].defines) - wanted[i].defines);
    char *text = cutis_alloc(context, *size);
    if (!text) return NULL;
    for (uint32_t i = 1; i < count; i++) {
        const size_t line = (size_t)(after_first_line(wanted[i].defines) - wanted[i].defines);
        memcpy(text + length, wanted[i].defines, line);
        length += line;
    }
    join_text(wanted->texts, wanted->defines, text + length);
    return text;
}

/// Keep a binary that has the kernels of `wanted` under the name of each; those there are stay.
static bool bundle_store(cutis_gpu *gpu, const cutis_gpu_variant *wanted, uint32_t count,
                         const void *binary, size_t size)
{
    bool stored = true;
    for (uint32_t i = 0; i < count && stored; i++) {
        whole_text source;
        if (source_open(gpu, &wanted[i], &source) != CUTIS_OK) return false;
        stored = cutis_os_file_exists(source.path) ||
                 cache_store(gpu, source.path, source.key, binary, size);
        cutis_free(gpu->base.context, source.text, source.length);
        cutis_errors_ignore(true); // the store has ended it
    }
    return stored;
}

static bool is_on_disk(const cutis_gpu *gpu, const cutis_gpu_variant *wanted)
{
    whole_text source;
    if (source_open(gpu, wanted, &source) != CUTIS_OK) return true; // no memory: later, or never
    const bool there = !source.cached || cutis_os_file_exists(source.path);
    cutis_free(gpu->base.context, source.text, source.length);
    return there;
}

// Some kernels from their text to the disk, at the first of them. What fails is compiled again, and
// told, when it is asked for.
static void build_task(void *data, uint32_t index)
{
    build_ahead *job = data;
    cutis_gpu *gpu = job->gpu;
    cutis_context *context = gpu->base.context;
    const cutis_gpu_variant *wanted = &job->wanted[index];
    uint32_t before = 0, count = 1, missing = 0;
    while (before < index && are_alike(wanted - before - 1, wanted)) before++;
    if (before % BUNDLE || job->refused) return;
    while (count < BUNDLE && index + count < job->count && are_alike(&wanted[count], wanted))
        count++;
    cutis_errors_ignore(true);
    for (uint32_t i = 0; i < count; i++) missing += !is_on_disk(gpu, &wanted[i]);
    size_t length = 0, size = 0;
    void *binary = NULL;
    char *text = missing ? bundle_text(context, wanted, count, &length) : NULL;
    if (text && gpu->driver->compile(gpu, text, wanted->registers, &binary, &size) == CUTIS_OK) {
        if (!bundle_store(gpu, wanted, count, binary, size)) job->refused = true;
        cutis_free(context, binary, size);
    }
    if (text) cutis_free(context, text, length);
    cutis_errors_ignore(false);
}

static cutis_gpu_program *find_program(const cutis_gpu *gpu, const cutis_gpu_variant *wanted)
{
    cutis_gpu_program *program = gpu->programs;
    while (program && (strcmp(program->defines, wanted->defines) != 0 ||
                       strcmp(program->entry, wanted->entry) != 0))
        program = program->next;
    return program;
}

bool cutis_gpu_kernel_loaded(const cutis_gpu *gpu, const cutis_gpu_variant *wanted)
{
    return find_program(gpu, wanted) != NULL;
}

void cutis_gpu_build_ahead(cutis_gpu *gpu, cutis_gpu_variant *wanted, uint32_t count)
{
    uint32_t missing = 0;
    // A caller's own threads may have little stack, and compilers want much.
    if (!gpu->compiles_in_parallel || gpu->base.run_tasks) return;
    if (cutis_gpu_enter(gpu) != CUTIS_OK) return;
    for (uint32_t i = 0; i < count; i++)
        if (!find_program(gpu, &wanted[i])) wanted[missing++] = wanted[i];
    cutis_gpu_leave(gpu, CUTIS_OK);
    order_alike(wanted, missing);
    if (missing > 1)
        cutis_device_run(&gpu->base, build_task,
                         &(build_ahead){ .gpu = gpu, .wanted = wanted, .count = missing }, missing);
}

cutis_result cutis_gpu_kernel_get(cutis_gpu *gpu, const char *const *texts, const char *defines,
                                  const char *entry, uint32_t registers, cutis_gpu_kernel *out)
{
    cutis_context *context = gpu->base.context;
    const cutis_gpu_variant wanted = { texts, defines, entry, registers, false };
    cutis_gpu_program *program = find_program(gpu, &wanted);
    if (program) {
        *out = program->kernel;
        return CUTIS_OK;
    }
    program = cutis_alloc_zero(context, 1, sizeof *program);
    if (!program) return cutis_alloc_result(context);
    if (strlen(defines) >= sizeof program->defines || strlen(entry) >= sizeof program->entry) {
        cutis_free(context, program, sizeof *program);
        return cutis_fail(context, CUTIS_INTERNAL, "%s: a variant's name is too long",
                          gpu->driver->name);
    }
    cutis_result result = build(gpu, &wanted, &program->kernel);
    if (result != CUTIS_OK) {
        cutis_free(context, program, sizeof *program);
        return result;
    }
    memcpy(program->defines, defines, strlen(defines) + 1);
    memcpy(program->entry, entry, strlen(entry) + 1);
    program->next = gpu->programs;
    gpu->programs = program;
    *out = program->kernel;
    return CUTIS_OK;
}

void cutis_gpu_clear(cutis_gpu *gpu)
{
    while (gpu->programs) {
        cutis_gpu_program *program = gpu->programs;
        gpu->programs = program->next;
        gpu->driver->unload(gpu, &program->kernel);
        cutis_free(gpu->base.context, program, sizeof *program);
    }
    cutis_gpu_drop_stages(gpu);
    cutis_os_pool_destroy(gpu->base.pool);
    cutis_os_lock_destroy(gpu->lock);
}
