/// A self-contained page in memory.
#include "html.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void append(html_page *page, const char *data, size_t size)
{
    if (page->failed) return;
    if (page->size + size + 1 > page->capacity) {
        size_t capacity = 2 * (page->size + size) + 4096;
        char *grown = realloc(page->text, capacity);
        if (!grown) {
            page->failed = true;
            return;
        }
        page->text = grown;
        page->capacity = capacity;
    }
    memcpy(page->text + page->size, data, size);
    page->size += size;
    page->text[page->size] = 0;
}

void html_markup(html_page *page, const char *format, ...)
{
    char text[4096];
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        append(page, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

void html_text(html_page *page, const char *text)
{
    for (const char *c = text; *c;) {
        const int length = utf8_length((const unsigned char *)c);
        const bool control = ((unsigned char)*c < 0x20 && *c != '\n' && *c != '\t') || *c == 0x7f;
        const char *entity = *c == '&'   ? "&amp;"
                             : *c == '<' ? "&lt;"
                             : *c == '>' ? "&gt;"
                             : *c == '"' ? "&quot;"
                             : control   ? "?"
                             : !length   ? "\xef\xbf\xbd" // U+FFFD
                                         : NULL;
        if (entity)
            append(page, entity, strlen(entity));
        else
            append(page, c, (size_t)length);
        c += length ? length : 1;
    }
}

void html_between(html_page *page, const char *before, const char *text, const char *after)
{
    append(page, before, strlen(before));
    html_text(page, text);
    append(page, after, strlen(after));
}

void html_data(html_page *page, const char *type, const void *data, size_t size)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = data;
    html_markup(page, "data:%s;base64,", type);
    for (size_t i = 0; i < size; i += 3) {
        size_t left = size - i;
        uint32_t v = (uint32_t)bytes[i] << 16 | (left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) |
                     (left > 2 ? bytes[i + 2] : 0);
        char four[4] = { DIGITS[v >> 18], DIGITS[v >> 12 & 63],
                         left > 1 ? DIGITS[v >> 6 & 63] : '=', left > 2 ? DIGITS[v & 63] : '=' };
        append(page, four, 4);
    }
}

// An <img> whose data is in the page. `type`: "image/png", "image/svg+xml".
static void html_image(html_page *page, const char *type, const void *data, size_t size,
                       const char *description)
{
    html_between(page, "<img alt=\"", description, "\" src=\"");
    html_data(page, type, data, size);
    html_markup(page, "\">\n");
}

void html_open(html_page *page, const char *title)
{
    *page = (html_page){ 0 };
    html_markup(
        page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
              "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    html_text(page, title);
    html_markup(
        page,
        "</title>\n<style>\n"
        ":root { color-scheme: light dark; --ink: #1d2126; --soft: #5b6570; --line: #e1e5ea; "
        "--paper: "
        "#fafbfc; --card: #fff; }\n"
        "@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ed; --soft: #98a3af; --line: "
        "#2c333b; --paper: #14171b; --card: #1b1f24; }\n"
        "  img[src^='data:image/svg'] { filter: invert(.89) hue-rotate(180deg); } }\n"
        "body { font: 15px/1.55 system-ui, 'Segoe UI', 'DejaVu Sans', sans-serif; color: "
        "var(--ink); background: var(--paper);\n"
        "  max-width: 1180px; margin: 0 auto; padding: 32px 24px 64px; }\n"
        "h1 { font-size: 28px; margin: 0 0 4px; } h2 { font-size: 19px; margin: 40px 0 12px; }\n"
        "p.lead, figcaption, caption { color: var(--soft); }\n"
        "img { max-width: 100%%; height: auto; border-radius: 8px; border: 1px solid var(--line); "
        "background: #fff; }\n"
        "figure { margin: 16px 0; } figcaption { font-size: 13px; margin-top: 6px; }\n"
        "table { border-collapse: collapse; width: 100%%; background: var(--card); border: 1px "
        "solid "
        "var(--line); border-radius: 8px; }\n"
        "th, td { padding: 8px 12px; text-align: right; border-bottom: 1px solid var(--line); "
        "font-variant-numeric: tabular-nums; }\n"
        "th:first-child, td:first-child { text-align: left; } thead th { font-size: 13px; color: "
        "var(--soft); font-weight: 600; }\n"
        "td.best { font-weight: 700; } code, pre { font: 13px/1.5 ui-monospace, 'DejaVu Sans "
        "Mono', monospace; }\n"
        "pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; "
        "padding: 12px "
        "16px; overflow-x: auto; }\n"
        ".grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(440px, 100%%), "
        "1fr)); gap: "
        "16px; }\n"
        "</style>\n</head>\n<body>\n");
}

void html_verdict_style(html_page *page)
{
    static const char STYLE[] =
        "<style>\n"
        ":root { --good: #16794c; --good-back: #e3f4ea; --bad: #b42318; --bad-back: #fdecea; "
        "--warn: #8a5a00; --warn-back: #fdf3dc; }\n"
        "@media (prefers-color-scheme: dark) { :root { --good: #6fd3a0; --good-back: #14301f; "
        "--bad: #ff9a8f; --bad-back: #3a1714; --warn: #f0c36a; --warn-back: #33270d; } }\n"
        "table { border-collapse: separate; border-spacing: 0; overflow: hidden; }\n"
        "tbody tr:last-child td { border-bottom: 0; }\n"
        ".badge { display: inline-block; border-radius: 99px; padding: 1px 10px; font-size: 12px; "
        "font-weight: 600; margin-right: 8px; }\n"
        ".good { color: var(--good); background: var(--good-back); }\n"
        ".bad { color: var(--bad); background: var(--bad-back); }\n"
        ".warn { color: var(--warn); background: var(--warn-back); }\n"
        ".tally { display: flex; gap: 12px; flex-wrap: wrap; margin: 20px 0; }\n"
        ".tally div { background: var(--card); border: 1px solid var(--line); border-radius: 8px; "
        "padding: 10px 18px; min-width: 92px; }\n"
        ".tally b { display: block; font-size: 24px; line-height: 1.2; }\n"
        ".tally span { color: var(--soft); font-size: 13px; }\n"
        ".tally .bad b { color: var(--bad); } .tally .bad { background: var(--card); }\n"
        "</style>\n";
    html_markup(page, "%s", STYLE);
}

static void put_words(html_page *page, const option_value *value, option_kind kind,
                      const char *name)
{
    const int count = value->words ? value->word_count : 1;
    for (int i = 0; i < count; i++) {
        if (i == 0 || kind == KIND_EACH) html_markup(page, " --%s", name);
        if (value->text) html_between(page, " ", value->words ? value->words[i] : value->text, "");
    }
}

void html_command(html_page *page, const cli_app *app)
{
    html_markup(page, "<h2>To make this page again</h2>\n<pre>cutis %s", app->verb->name);
    for (uint32_t i = 0; i < app->operand_count; i++) html_between(page, " ", app->operands[i], "");
    for (int i = 0; i < OPTION_ID_COUNT; i++)
        if (app->values[i].set)
            put_words(page, &app->values[i], cli_options[i].kind, cli_options[i].name);
    html_markup(page, "</pre>\n");
}

void html_release(html_page *page)
{
    free(page->text);
    *page = (html_page){ 0 };
}

int html_write(cli_app *app, html_page *page, const char *path)
{
    html_markup(page, "</body>\n</html>\n");
    if (page->failed) {
        html_release(page);
        return app_fail_text(app, "%s: not enough memory", path);
    }
    cutis_result result = cutis_file_write(app->context, path, page->text, page->size);
    html_release(page);
    return app_result(app, path, result);
}

cutis_result html_put_picture(cutis_context *context, html_page *page, const cutis_image *image,
                              const char *text)
{
    void *data = NULL;
    size_t size = 0;
    TRY(cutis_image_encode_png(context, image, &data, &size));
    html_markup(page, "<figure>");
    html_image(page, "image/png", data, size, text);
    html_between(page, "<figcaption>", text, "</figcaption></figure>\n");
    cutis_memory_free(context, data, size);
    return CUTIS_OK;
}

cutis_result html_put_plot(cutis_context *context, html_page *page, cutis_plot plot)
{
    void *data = NULL;
    size_t size = 0;
    plot.width = 720, plot.height = 400; // two stand side by side on a wide page
    TRY(cutis_plot_svg(context, &plot, &data, &size));
    html_image(page, "image/svg+xml", data, size, plot.title);
    cutis_memory_free(context, data, size);
    return CUTIS_OK;
}

int html_plot(cli_app *app, html_page *page, cutis_plot plot)
{
    return app_result(app, "report", html_put_plot(app->context, page, plot));
}
