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
    char defines[1024];
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
    _Atomic bool refused; ///< the cache takes nothing: what is compiled here would be lost
} build_ahead;

// One kernel from its text to the disk. What fails is compiled again, and told, when it is asked
// for.
static void build_task(void *data, uint32_t index)
{
    build_ahead *job = data;
    cutis_gpu *gpu = job->gpu;
    const cutis_gpu_variant *wanted = &job->wanted[index];
    whole_text source;
    void *binary = NULL;
    size_t size = 0;
    if (job->refused) return;
    cutis_errors_ignore(true);
    if (source_open(gpu, wanted, &source) == CUTIS_OK) {
        if (source.cached && !cutis_os_file_exists(source.path) &&
            gpu->driver->compile(gpu, source.text, wanted->registers, &binary, &size) == CUTIS_OK) {
            if (!cache_store(gpu, source.path, source.key, binary, size)) job->refused = true;
            cutis_errors_ignore(true); // the store has ended it
            cutis_free(gpu->base.context, binary, size);
        }
        cutis_free(gpu->base.context, source.text, source.length);
    }
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
    if (missing > 1)
        cutis_device_run(&gpu->base, build_task, &(build_ahead){ .gpu = gpu, .wanted = wanted },
                         missing);
}

cutis_result cutis_gpu_kernel_get(cutis_gpu *gpu, const char *const *texts, const char *defines,
                                  const char *entry, uint32_t registers, cutis_gpu_kernel *out)
{
    cutis_context *context = gpu->base.context;
    const cutis_gpu_variant wanted = { texts, defines, entry, registers };
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
