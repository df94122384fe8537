/// Pictures on one sheet: pictures_sheet OUT.png COLUMNS (PICTURE.png TITLE)... An empty title is
/// none.
#include <stdio.h>
#include <stdlib.h>

#include <cutis/cutis.h>
#include <cutis/render.h>

enum { TILES = 256 };

static void check(const cutis_context *context, cutis_result result)
{
    if (result == CUTIS_OK) return;
    fprintf(stderr, "pictures: %s\n", cutis_context_error(context));
    exit(1);
}

int main(int argc, char **argv)
{
    static cutis_image images[TILES];
    static cutis_tile tiles[TILES];
    cutis_context *context = NULL;
    cutis_image sheet = { 0 };
    const uint32_t count = argc < 5 ? 0 : (uint32_t)(argc - 3) / 2;
    if (count == 0 || count > TILES || argc % 2 == 0)
        return fprintf(stderr, "usage: pictures_sheet OUT.png COLUMNS (PICTURE.png TITLE)...\n"), 2;
    check(context, cutis_context_create(NULL, &context));
    for (uint32_t i = 0; i < count; i++) {
        check(context, cutis_image_read_png(context, argv[3 + 2 * i], &images[i]));
        tiles[i] = (cutis_tile){ &images[i], *argv[4 + 2 * i] ? argv[4 + 2 * i] : NULL, NULL };
    }
    check(context, cutis_sheet_create(context, tiles, count, (uint32_t)strtoul(argv[2], NULL, 10),
                                      NULL, NULL, false, &sheet));
    check(context, cutis_image_write_png(context, &sheet, argv[1]));
    cutis_image_destroy(context, &sheet);
    for (uint32_t i = 0; i < count; i++) cutis_image_destroy(context, &images[i]);
    cutis_context_destroy(context);
    return 0;
}
