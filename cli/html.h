/// A self-contained page in memory: text escaped, pictures as data URIs, nothing outside referred
/// to.
#ifndef CUTIS_CLI_HTML_H
#define CUTIS_CLI_HTML_H

#include <cutis/render.h>

#include "app.h"

typedef struct html_page {
    char *text;
    size_t size, capacity;
    bool failed; ///< out of memory: everything after is dropped, html_write says so
} html_page;

/// Head, style, title.
void html_open(html_page *page, const char *title);
/// Behind html_open: for verdicts (span.badge.good, .bad, .warn) and figures (div.tally > div > b,
/// span).
void html_verdict_style(html_page *page);
/// The command line that makes the page, under a heading.
void html_command(html_page *page, const cli_app *app);
/// printf of markup; values from outside go through html_text.
void html_markup(html_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_text(html_page *page, const char *text);
/// Text between two tags.
void html_between(html_page *page, const char *before, const char *text, const char *after);
/// A data URI.
void html_data(html_page *page, const char *type, const void *data, size_t size);
/// Close the page and write it, atomically; the page is released in any case.
int html_write(cli_app *app, html_page *page, const char *path);
void html_release(html_page *page);

/// A picture with its caption.
cutis_result html_put_picture(cutis_context *context, html_page *page, const cutis_image *image,
                              const char *text);
/// A plot as SVG, in the size of the page's plots; its title describes it.
cutis_result html_put_plot(cutis_context *context, html_page *page, cutis_plot plot);
/// The same, and the error line on failure.
int html_plot(cli_app *app, html_page *page, cutis_plot plot);

#endif
