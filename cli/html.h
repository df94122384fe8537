/// A self-contained page in memory: text escaped, pictures as data URIs, nothing outside referred
/// to.
#ifndef CUTIS_CLI_HTML_H
#define CUTIS_CLI_HTML_H

#include "app.h"

typedef struct html_page {
    char *text;
    size_t size, capacity;
    bool failed; ///< out of memory: everything after is dropped, html_write says so
} html_page;

/// Head, style, title.
void html_open(html_page *page, const char *title);
/// printf of markup; values from outside go through html_text.
void html_markup(html_page *page, const char *format, ...) __attribute__((format(printf, 2, 3)));
void html_text(html_page *page, const char *text);
/// An <img> whose data is in the page. `type`: "image/png", "image/svg+xml".
void html_image(html_page *page, const char *type, const void *data, size_t size,
                const char *description);
/// Close the page and write it, atomically; the page is released in any case.
int html_write(cli_app *app, html_page *page, const char *path);
void html_release(html_page *page);

#endif
