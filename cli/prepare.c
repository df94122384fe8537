/// cutis devices --prepare: each kind of work once on a small body, on every GPU there is or on the
/// one that --device names. Kernels are compiled for kinds of work, not for bodies, so that the
/// first real one finds them in the cache.
#include "prepare.h"

#include <cutis/handles.h>
#include <stdlib.h>

enum { DEVICES_MAX = 64, VERTICES = 1500, PREPARED = 16 };

typedef struct preparing {
    cli_app *app;
    cutis_device *device;
    const cutis_model *body;
    json_out json;
} preparing;

static cutis_result prepare_method(preparing *p, cutis_method method, bool normal)
{
    OWN(cutis_binding) *binding = NULL;
    const cutis_bind_options options = { .method = method, .normals = normal };
    TRY(cutis_bind(p->device, p->body, &options, &binding));
    const cutis_binding_info info = cutis_binding_describe(binding);
    // Only addresses are looked at: nothing is deformed.
    const size_t words = 6 * (size_t)info.vertex_count + 3 * (size_t)info.triangle_count + 2;
    float *memory = calloc(words, sizeof *memory);
    float *normals = memory ? memory + 3 * (size_t)info.vertex_count : NULL;
    cutis_outputs outputs = { .positions.data = memory };
    if (normal) outputs.normals.data = normals;
    if (method == CUTIS_METHOD_PATCHES && memory) {
        outputs.topology.counts.data = normals + 3 * (size_t)info.vertex_count;
        outputs.topology.indices.data = normals + 3 * (size_t)info.vertex_count + 2;
    }
    // One character has kernels of its own beside those of many, and so have boxes around them.
    cutis_bounds bounds[PREPARED];
    cutis_result result = memory ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
    for (int i = 0; i < 4 && result == CUTIS_OK; i++) {
        outputs.bounds = i & 2 ? bounds : NULL;
        result = cutis_binding_prepare(binding, &outputs, i & 1 ? PREPARED : 1);
    }
    free(memory);
    return result;
}

static cutis_result prepare_blending(preparing *p)
{
    for (int m = CUTIS_METHOD_LBS; m <= CUTIS_METHOD_COR; m++)
        for (int normal = 0; normal < 2; normal++) TRY(prepare_method(p, (cutis_method)m, normal));
    return CUTIS_OK;
}

static cutis_result prepare_patches(preparing *p)
{
    return prepare_method(p, CUTIS_METHOD_PATCHES, true);
}

static cutis_result prepare_reduction(preparing *p)
{
    OWN(cutis_model) *out = NULL;
    return cutis_weights_reduce(
        p->body, p->device,
        &(cutis_reduce_options){ .automatic = true, .effort = CUTIS_REDUCE_FAST }, &out, NULL);
}

static cutis_result prepare_handles(preparing *p)
{
    OWN(cutis_model) *out = NULL;
    return cutis_handles_skeleton(p->body, p->device, &(cutis_handles_options){ .voxels = 32 },
                                  &out, NULL);
}

static int prepare_device(preparing *p, const char *name)
{
    static const struct {
        const char *what;
        cutis_result (*run)(preparing *p);
    } STEPS[] = { { "blending", prepare_blending },
                  { "patches", prepare_patches },
                  { "handles", prepare_handles },
                  { "reduction", prepare_reduction } };
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        const double start = app_seconds();
        TRY(app_result(p->app, name, STEPS[i].run(p)));
        const double seconds = app_seconds() - start;
        if (p->app->json)
            emit(&p->json, "{ device %s what %s seconds %g }", name, STEPS[i].what, seconds);
        app_say(p->app, "%-10s %-10s %7.2f s\n", name, STEPS[i].what, seconds);
    }
    return EXIT_GOOD;
}

static int prepare_all(preparing *p)
{
    static cutis_device_info infos[DEVICES_MAX];
    uint32_t count = 0, prepared = 0;
    TRY(app_result(p->app, NULL, cutis_device_list(p->app->context, DEVICES_MAX, infos, &count)));
    for (uint32_t i = 0; i < count && i < DEVICES_MAX; i++) {
        OWN(cutis_device) *device = NULL;
        char name[32];
        if (!infos[i].available || infos[i].kind == CUTIS_DEVICE_CPU) continue;
        snprintf(name, sizeof name, "%s:%u", cutis_device_kind_name(infos[i].kind), infos[i].index);
        const cutis_device_options options = { .kind = infos[i].kind, .index = infos[i].index };
        TRY(app_result(p->app, name, cutis_device_create(p->app->context, &options, &device)));
        p->device = device;
        TRY(prepare_device(p, name));
        prepared++;
    }
    if (prepared == 0) app_say(p->app, "there is no GPU: a CPU's kernels are compiled already\n");
    return EXIT_GOOD;
}

int prepare_devices(cli_app *app)
{
    OWN(cutis_model) *body = NULL;
    OWN(cutis_device) *device = NULL;
    preparing p = { .app = app, .json = { .file = stdout } };
    const char *name = option_text(app, OPTION_DEVICE);
    const cutis_synth_options options = { .body = CUTIS_BODY_BIPED, .vertex_count = VERTICES };
    TRY(app_result(app, NULL, cutis_synth_create(app->context, &options, &body)));
    p.body = body;
    if (name) TRY(app_open_device(app, &device));
    if (app->json) emit(&p.json, "{ prepared [");
    p.device = device;
    const int code = name ? prepare_device(&p, name) : prepare_all(&p);
    if (app->json) emit(&p.json, "] }");
    return code;
}
