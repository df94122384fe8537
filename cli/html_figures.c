/// Pictures and plots of a report, put into the page itself.
#include "html_figures.h"

int html_picture(cli_app *app, html_page *page, const cutis_image *image, const char *text)
{
    void *data = NULL;
    size_t size = 0;
    cutis_result result = cutis_image_encode_png(app->context, image, &data, &size);
    if (result != CUTIS_OK) return app_fail(app, "report", result);
    html_markup(page, "<figure>");
    html_image(page, "image/png", data, size, text);
    html_markup(page, "<figcaption>");
    html_text(page, text);
    html_markup(page, "</figcaption></figure>\n");
    cutis_bytes_release(app->context, data, size);
    return EXIT_GOOD;
}

int html_plot(cli_app *app, html_page *page, cutis_plot plot)
{
    void *data = NULL;
    size_t size = 0;
    plot.width = 720, plot.height = 400; // two stand side by side on a wide page
    cutis_result result = cutis_plot_svg(app->context, &plot, &data, &size);
    if (result != CUTIS_OK) return app_fail(app, "report", result);
    html_image(page, "image/svg+xml", data, size, plot.title);
    cutis_bytes_release(app->context, data, size + 1);
    return EXIT_GOOD;
}
