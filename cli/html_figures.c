/// Pictures and plots of a report, put into the page itself.
#include "html_figures.h"

cutis_result html_put_picture(cutis_context *context, html_page *page, const cutis_image *image,
                              const char *text)
{
    void *data = NULL;
    size_t size = 0;
    cutis_result result = cutis_image_encode_png(context, image, &data, &size);
    if (result != CUTIS_OK) return result;
    html_markup(page, "<figure>");
    html_image(page, "image/png", data, size, text);
    html_markup(page, "<figcaption>");
    html_text(page, text);
    html_markup(page, "</figcaption></figure>\n");
    cutis_memory_free(context, data, size);
    return CUTIS_OK;
}

cutis_result html_put_plot(cutis_context *context, html_page *page, cutis_plot plot)
{
    void *data = NULL;
    size_t size = 0;
    plot.width = 720, plot.height = 400; // two stand side by side on a wide page
    cutis_result result = cutis_plot_svg(context, &plot, &data, &size);
    if (result != CUTIS_OK) return result;
    html_image(page, "image/svg+xml", data, size, plot.title);
    cutis_memory_free(context, data, size);
    return CUTIS_OK;
}

int html_picture(cli_app *app, html_page *page, const cutis_image *image, const char *text)
{
    cutis_result result = html_put_picture(app->context, page, image, text);
    return result == CUTIS_OK ? EXIT_GOOD : app_fail(app, "report", result);
}

int html_plot(cli_app *app, html_page *page, cutis_plot plot)
{
    cutis_result result = html_put_plot(app->context, page, plot);
    return result == CUTIS_OK ? EXIT_GOOD : app_fail(app, "report", result);
}
