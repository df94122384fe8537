/// cutis view: serves the studio's page to a browser of this machine, with one model opened in it.
///
/// Everything that is served is in memory before the server starts. A GLB goes to the page as it
/// is; every other format (and glTF, whose parts may lie in several files), and what the page's
/// engine cannot unpack, as a GLB of it.
#include "app.h"
#include "page_server.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// What web/build.mjs makes, but for service.js: a page of one run leaves nothing behind in a
// browser. The model comes behind.
static const struct {
    const char *path, *type;
} PAGE[] = {
    { "index.html", "text/html; charset=utf-8" },
    { "studio.js", "text/javascript; charset=utf-8" },
    { "worker.js", "text/javascript; charset=utf-8" },
    { "studio.css", "text/css; charset=utf-8" },
    { "engine.wasm", "application/wasm" },
    { "icon.svg", "image/svg+xml" },
    { "inter.woff2", "font/woff2" },
    { "journey.png", "image/png" },
    { "licences.txt", "text/plain; charset=utf-8" },
    { "models/biped.glb", "model/gltf-binary" },
    { "models/quadruped.glb", "model/gltf-binary" },
    { "models/arm.glb", "model/gltf-binary" },
    { "models/cylinder.glb", "model/gltf-binary" },
    { "models/biped-high.glb", "model/gltf-binary" },
    { "models/motions-two.glb", "model/gltf-binary" },
    { "models/motions-four.glb", "model/gltf-binary" },
};
enum { PAGE_COUNT = sizeof PAGE / sizeof PAGE[0], DEFAULT_PORT = 8732, NAME_SIZE = 96 };

typedef struct view {
    cli_app *app;
    page_file files[PAGE_COUNT + 1];
    uint32_t file_count;
    char name[NAME_SIZE], path[NAME_SIZE + 8]; // of the model: "fox.glb", "open/fox.glb"
} view;

/// The page's folder: beside the command (a build), or where installing puts it.
static bool find_page(char *folder, size_t size)
{
    char self[PATH_MAX], *slash;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return false;
    self[length] = 0;
    slash = strrchr(self, '/');
    if (!slash) return false;
    *slash = 0;
    static const char *const PLACES[] = { "studio", "../share/cutis/studio" };
    for (size_t i = 0; i < sizeof PLACES / sizeof PLACES[0]; i++) {
        char index[PATH_MAX + 64];
        snprintf(index, sizeof index, "%s/%s/index.html", self, PLACES[i]);
        if (access(index, R_OK) != 0) continue;
        return snprintf(folder, size, "%s/%s", self, PLACES[i]) < (int)size;
    }
    return false;
}

static int read_page(view *v)
{
    char folder[PATH_MAX], path[PATH_MAX + 64];
    if (!find_page(folder, sizeof folder))
        return app_fail_text(v->app, "the studio's page is not there: it is Debian's package "
                                     "cutis-studio, or built by ./dev studio (cmake "
                                     "-DCUTIS_STUDIO=ON)");
    for (uint32_t i = 0; i < PAGE_COUNT; i++) {
        void *data = NULL;
        size_t size = 0;
        snprintf(path, sizeof path, "%s/%s", folder, PAGE[i].path);
        TRY(app_result(v->app, path, cutis_file_read(v->app->context, path, &data, &size)));
        v->files[v->file_count++] = (page_file){ PAGE[i].path, PAGE[i].type, data, size };
    }
    return EXIT_GOOD;
}

/// The model's name in the address: what an address can hold without escapes; a GLB arrives.
static void name_model(view *v, const char *path)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t length = dot && dot > base ? (size_t)(dot - base) : strlen(base), used = 0;
    for (size_t i = 0; i < length && used < NAME_SIZE - 8; i++) {
        char c = base[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '-' || c == '_';
        v->name[used++] = plain ? c : '_';
    }
    snprintf(v->name + used, NAME_SIZE - used, ".glb");
    snprintf(v->path, sizeof v->path, "open/%s", v->name);
}

/// A model as the bytes of a GLB, by way of a file that is gone afterwards.
static int model_as_glb(cli_app *app, const cutis_model *model, void **data, size_t *size)
{
    const char *folder = getenv("TMPDIR");
    char place[PATH_MAX], file[PATH_MAX + 16];
    snprintf(place, sizeof place, "%s/cutis-view-XXXXXX", folder && *folder ? folder : "/tmp");
    if (!mkdtemp(place)) return app_fail_text(app, "%s: %s", place, strerror(errno));
    snprintf(file, sizeof file, "%s/model.glb", place);
    cutis_result result = cutis_model_write(model, file, NULL);
    if (result == CUTIS_OK) result = cutis_file_read(app->context, file, data, size);
    int status = app_result(app, file, result);
    unlink(file);
    rmdir(place);
    return status;
}

/// Does the page read these bytes itself? Draco's decoder is a program of its own, which no page
/// has; a GLB that merely mentions it is converted too, which loses nothing.
static bool page_reads(const void *data, size_t size)
{
    enum { HEADER = 20 }; // magic, version, length; length and type of the first chunk
    static const char DRACO[] = "\"KHR_draco_mesh_compression\"";
    const unsigned char *bytes = data;
    if (size < HEADER || memcmp(bytes, "glTF", 4) != 0) return false;
    size_t json = (size_t)bytes[12] | (size_t)bytes[13] << 8 | (size_t)bytes[14] << 16 |
                  (size_t)bytes[15] << 24;
    if (json > size - HEADER) json = size - HEADER;
    for (size_t i = 0; i + sizeof DRACO - 1 <= json; i++)
        if (memcmp(bytes + HEADER + i, DRACO, sizeof DRACO - 1) == 0) return false;
    return true;
}

static int read_opened(view *v, const char *path)
{
    OWN(cutis_model) *model = NULL;
    void *data = NULL;
    size_t size = 0;
    TRY(app_read_source(v->app, path, &model)); // says what is wrong with it, before a page does
    bool changed = option_given(v->app, OPTION_FIX) || option_given(v->app, OPTION_SCALE) ||
                   option_given(v->app, OPTION_UP) || option_given(v->app, OPTION_UNITS);
    name_model(v, path);
    if (!changed && has_extension(path, ".glb .vrm"))
        TRY(app_result(v->app, path, cutis_file_read(v->app->context, path, &data, &size)));
    if (data && !page_reads(data, size)) {
        cutis_memory_free(v->app->context, data, size);
        data = NULL;
    }
    if (!data) TRY(model_as_glb(v->app, model, &data, &size));
    v->files[v->file_count++] = (page_file){ v->path, "application/octet-stream", data, size };
    return EXIT_GOOD;
}

/// Ask the desktop to show an address; nothing happens where there is none.
static void open_browser(const char *address)
{
    if (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY")) return;
    pid_t child = fork();
    if (child != 0) return; // also when there is no process to spare: the address is printed
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
    execlp("xdg-open", "xdg-open", address, (char *)NULL);
    _exit(1);
}

static void tell(const cli_app *app, const char *address)
{
    if (app->json)
        emit(&(json_out){ .file = stdout }, "{ address %s }", address);
    else if (!app->quiet)
        printf("%s\nstop it with Ctrl-C\n", address);
    fflush(stdout);
}

static int serve(view *v)
{
    cli_app *app = v->app;
    page_server *server = page_server_start(v->files, v->file_count,
                                            (uint16_t)option_count(app, OPTION_PORT, DEFAULT_PORT));
    if (!server) return app_fail_text(app, "the page cannot be served: %s", strerror(errno));
    char address[256];
    snprintf(address, sizeof address, "%s%s%s", page_server_address(server),
             v->name[0] ? "#open=" : "", v->name);
    tell(app, address);
    if (!option_given(app, OPTION_NO_BROWSER)) open_browser(address);
    while (!app_interrupted()) {
        nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
        waitpid(-1, NULL, WNOHANG); // the browser's starter
    }
    app_forget_interrupt();
    page_server_stop(server);
    return EXIT_GOOD;
}

int verb_view(cli_app *app)
{
    view v = { .app = app };
    int status = read_page(&v);
    if (status == EXIT_GOOD && app->operand_count) status = read_opened(&v, app->operands[0]);
    if (status == EXIT_GOOD) status = serve(&v);
    for (uint32_t i = 0; i < v.file_count; i++)
        cutis_memory_free(app->context, (void *)v.files[i].data, v.files[i].size);
    return status;
}
