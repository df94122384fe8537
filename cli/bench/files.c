/// cutis bench files: reading and binding a large skinned .glb, and writing frames, beside what the
/// machine does with the same bytes: read into fresh memory, written and brought to the disk. Files
/// are made in the current folder and taken away.
#include "bench/bench.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RUNS = 5, FRAMES = 64 };
#define NAME "cutis-bench-files"

/// Counts what a reader has at the same time.
typedef struct memory_peak {
    atomic_size_t now, most;
} memory_peak;

typedef struct file_rates {
    double bytes, plain_read, read, bind, frame_bytes, plain_write,
        write;   ///< seconds but for bytes
    double peak; ///< most memory while reading, of the file
} file_rates;

static void *counted_take(void *user, size_t size, size_t alignment)
{
    memory_peak *peak = user;
    void *memory = aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
    const size_t now = memory ? atomic_fetch_add(&peak->now, size) + size : 0;
    for (size_t most = atomic_load(&peak->most);
         most < now && !atomic_compare_exchange_weak(&peak->most, &most, now);) {}
    return memory;
}

static void counted_give(void *user, void *memory, size_t size)
{
    if (memory) atomic_fetch_sub(&((memory_peak *)user)->now, size);
    free(memory);
}

static cutis_result measure_peak(const char *path, file_rates *out)
{
    memory_peak peak = { 0 };
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    const cutis_context_options options = { .allocator = { counted_take, counted_give, &peak } };
    TRY(cutis_context_create(&options, &context));
    const cutis_result result = cutis_model_read(context, path, NULL, &model);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    out->peak = (double)atomic_load(&peak.most) / out->bytes;
    return result;
}

/// Files are in the page cache and one thread reads them: its processor time is the whole time, and
/// other work on the machine does not show in it. Writing waits for the disk and is timed by the
/// clock.
static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

/// The whole file into memory that nobody has touched: what every reader must do.
static cutis_result read_plain(const char *path, file_rates *out)
{
    for (int run = 0; run < RUNS; run++) {
        const double start = cpu_seconds();
        FILE *file = fopen(path, "rb");
        if (!file) return CUTIS_NOT_FOUND;
        void *memory = malloc((size_t)out->bytes);
        const bool good = memory && fread(memory, 1, (size_t)out->bytes, file) == out->bytes;
        fclose(file);
        const double seconds = cpu_seconds() - start;
        free(memory);
        if (!good) return CUTIS_CORRUPT_DATA;
        if (run == 0 || seconds < out->plain_read) out->plain_read = seconds;
    }
    return CUTIS_OK;
}

static cutis_result read_ours(cli_app *app, cutis_device *device, const char *path, file_rates *out)
{
    for (int run = 0; run < RUNS; run++) {
        OWN(cutis_model) *model = NULL;
        OWN(cutis_binding) *binding = NULL;
        const double start = cpu_seconds();
        TRY(cutis_model_read(app->context, path, NULL, &model));
        const double middle = cpu_seconds();
        TRY(cutis_bind(device, model, NULL, &binding));
        const double end = cpu_seconds();
        if (run == 0 || middle - start < out->read) out->read = middle - start;
        if (run == 0 || end - middle < out->bind) out->bind = end - middle;
    }
    return CUTIS_OK;
}

static cutis_result write_frames(cli_app *app, const char *path, const float *frame,
                                 uint32_t vertices)
{
    cutis_frame_writer *writer = NULL;
    TRY(cutis_frame_writer_create(app->context, path, FRAMES, vertices, 30, &writer));
    for (int f = 0; f < FRAMES; f++) {
        const cutis_result result = cutis_frame_writer_add(writer, frame);
        if (result == CUTIS_OK) continue;
        cutis_frame_writer_destroy(writer);
        return result;
    }
    return cutis_frame_writer_finish(writer);
}

static cutis_result measure_writing(cli_app *app, uint32_t vertices, file_rates *out)
{
    const size_t size = 12 * (size_t)vertices * FRAMES;
    char *bytes = calloc(1, size);
    cutis_result result = bytes ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
    out->frame_bytes = (double)size;
    for (int run = 0; run < RUNS && result == CUTIS_OK; run++) {
        const double start = app_seconds();
        result = cutis_file_write(app->context, NAME ".plain", bytes, size);
        const double middle = app_seconds();
        if (result == CUTIS_OK)
            result = write_frames(app, NAME ".npy", (const float *)bytes, vertices);
        const double end = app_seconds();
        if (run == 0 || middle - start < out->plain_write) out->plain_write = middle - start;
        if (run == 0 || end - middle < out->write) out->write = end - middle;
    }
    remove(NAME ".plain");
    remove(NAME ".npy");
    free(bytes);
    return result;
}

static cutis_result measure(cli_app *app, uint32_t vertices, file_rates *out)
{
    OWN(cutis_model) *model = NULL;
    OWN(cutis_device) *device = NULL;
    TRY(cutis_device_create(app->context, &(cutis_device_options){ .thread_count = 1 }, &device));
    TRY(bench_body_create(app->context, vertices, 16, &model));
    TRY(cutis_model_write(model, NAME ".glb", NULL));
    FILE *file = fopen(NAME ".glb", "rb");
    if (!file) return CUTIS_NOT_FOUND;
    fseek(file, 0, SEEK_END);
    out->bytes = (double)ftell(file);
    fclose(file);
    cutis_result result = read_plain(NAME ".glb", out);
    if (result == CUTIS_OK) result = read_ours(app, device, NAME ".glb", out);
    if (result == CUTIS_OK) result = measure_peak(NAME ".glb", out);
    remove(NAME ".glb");
    return result == CUTIS_OK ? measure_writing(app, vertices / 16, out) : result;
}

static void print_rates(const cli_app *app, const file_rates *r)
{
    const double giga = 1e-9 * r->bytes, frames = 1e-9 * r->frame_bytes;
    bench_figures figures = { 0 };
    bench_figure_add(&figures, "read_gb_per_second", 0, giga / r->read, true, 1);
    bench_figure_add(&figures, "bind_gb_per_second", 0, giga / r->bind, true, 1);
    bench_figure_add(&figures, "most_memory_of_file", 0, r->peak, false, 2.5);
    bench_figure_add(&figures, "frames_to_npy_over_bytes_at_once", 0, r->plain_write / r->write,
                     true, 0.8);
    app_say(app,
            "a skinned .glb of %.0f MB, one core, GB per second of processor time: read %.2f (into "
            "fresh memory alone %.2f), "
            "bind %.2f;\nframes to .npy %.2f (the same bytes at once %.2f)\n",
            1e-6 * r->bytes, giga / r->read, giga / r->plain_read, giga / r->bind,
            frames / r->write, frames / r->plain_write);
    bench_figures_say(app, &figures);
    if (!app->json) return;
    json_out json = { .file = stdout };
    emit(&json,
         "{ bytes %g read_gb_per_second %g plain_read_gb_per_second %g bind_gb_per_second %g "
         "peak_of_file %g write_gb_per_second %g plain_write_gb_per_second %g",
         r->bytes, giga / r->read, giga / r->plain_read, giga / r->bind, r->peak, frames / r->write,
         frames / r->plain_write);
    bench_figures_emit(&json, &figures);
    emit_end(&json);
}

int bench_files(cli_app *app)
{
    const uint32_t vertices =
        option_count(app, OPTION_VERTICES, option_given(app, OPTION_QUICK) ? 100000 : 1300000);
    file_rates rates = { 0 };
    TRY(app_result(app, "bench files", measure(app, vertices, &rates)));
    app_progress_done(app);
    print_rates(app, &rates);
    return EXIT_GOOD;
}
