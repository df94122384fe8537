/// Pictures and plots of a report, put into the page itself.
#ifndef CUTIS_CLI_HTML_FIGURES_H
#define CUTIS_CLI_HTML_FIGURES_H

#include <cutis/render.h>

#include "html.h"

/// A picture with its caption.
cutis_result html_put_picture(cutis_context *context, html_page *page, const cutis_image *image,
                              const char *text);
/// A plot as SVG, in the size of the page's plots; its title describes it.
cutis_result html_put_plot(cutis_context *context, html_page *page, cutis_plot plot);
/// The same, and the error line on failure.
int html_picture(cli_app *app, html_page *page, const cutis_image *image, const char *text);
int html_plot(cli_app *app, html_page *page, cutis_plot plot);

#endif
