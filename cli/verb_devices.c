/// cutis devices: what can run the deformers, and why something cannot.
#include "app.h"
#include "prepare.h"

#define DEVICES_MAX 64

static void print_json(const cutis_device_info *infos, uint32_t count)
{
    json_out json = { .file = stdout };
    emit(&json, "{ devices [");
    for (const cutis_device_info *info = infos; info < infos + count; info++)
        emit(&json,
             "{ kind %s index %u available %d name %s detail %s memory_bytes %ju threads %u isa %s "
             "}",
             cutis_device_kind_name(info->kind), info->index, info->available, info->name,
             info->detail, info->memory_bytes, info->thread_count,
             info->kind == CUTIS_DEVICE_CPU ? cutis_isa_name(info->isa) : NULL);
    emit(&json, "] }");
}

static void print_text(const cli_app *app, const cutis_device_info *info)
{
    char name[32];
    snprintf(name, sizeof name, "%s:%u", cutis_device_kind_name(info->kind), info->index);
    if (!info->available) {
        app_say(app, "%s%-10s%s not available: %s\n", app_style(app, "2"),
                cutis_device_kind_name(info->kind), app_style(app, "0"), info->detail);
        return;
    }
    app_say(app, "%s%-10s%s %s", app_style(app, "1"), name, app_style(app, "0"), info->name);
    if (info->kind == CUTIS_DEVICE_CPU)
        app_say(app, ", %u threads, %s", info->thread_count, cutis_isa_name(info->isa));
    else
        app_say(app, ", %u units", info->thread_count);
    if (info->memory_bytes) app_say(app, ", %.1f GiB", (double)info->memory_bytes / 1073741824.0);
    app_say(app, "%s%s\n", info->detail[0] ? "; " : "", info->detail);
}

int verb_devices(cli_app *app)
{
    static cutis_device_info infos[DEVICES_MAX];
    uint32_t count = 0;
    if (option_given(app, OPTION_PREPARE)) return prepare_devices(app);
    if (option_given(app, OPTION_DEVICE)) return app_usage(app, "--device is for --prepare");
    TRY(app_result(app, NULL, cutis_device_list(app->context, DEVICES_MAX, infos, &count)));
    if (count > DEVICES_MAX) count = DEVICES_MAX;
    if (app->json) print_json(infos, count);
    for (uint32_t i = 0; i < count; i++) print_text(app, &infos[i]);
    return EXIT_GOOD;
}
