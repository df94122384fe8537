/// Colour maps, made in OKLab so that equal steps look equal: lightness is linear in the value, hue
/// and chroma follow a smooth path. Colours out of the sRGB gamut lose chroma, never lightness.
#include <cutis/render.h>

#include <math.h>

static const double PI = 3.14159265358979323846;

/// A point of a path: lightness, chroma, hue in degrees.
typedef struct lch {
    double l, c, h;
} lch;

static void oklab_to_linear(double l, double a, double b, double rgb[3])
{
    double x = l + 0.3963377774 * a + 0.2158037573 * b;
    double y = l - 0.1055613458 * a - 0.0638541728 * b;
    double z = l - 0.0894841775 * a - 1.2914855480 * b;
    x = x * x * x, y = y * y * y, z = z * z * z;
    rgb[0] = 4.0767416621 * x - 3.3077115913 * y + 0.2309699292 * z;
    rgb[1] = -1.2684380046 * x + 2.6097574011 * y - 0.3413193965 * z;
    rgb[2] = -0.0041960863 * x - 0.7034186147 * y + 1.7076147010 * z;
}

static bool in_gamut(const double rgb[3])
{
    for (int i = 0; i < 3; i++)
        if (!(rgb[i] >= -1e-6 && rgb[i] <= 1 + 1e-6)) return false;
    return true;
}

static void lch_to_linear(lch color, double rgb[3])
{
    double radians = color.h * PI / 180;
    double chroma = color.c;
    while (chroma > 0) {
        oklab_to_linear(color.l, chroma * cos(radians), chroma * sin(radians), rgb);
        if (in_gamut(rgb)) return;
        chroma -= 0.005;
    }
    oklab_to_linear(color.l, 0, 0, rgb);
}

/// Linear between knots that stand at equal distances.
static lch path(const lch *knots, int count, double value)
{
    double position = value * (count - 1);
    int i = (int)position;
    if (i > count - 2) i = count - 2;
    double t = position - i;
    return (lch){ knots[i].l + t * (knots[i + 1].l - knots[i].l),
                  knots[i].c + t * (knots[i + 1].c - knots[i].c),
                  knots[i].h + t * (knots[i + 1].h - knots[i].h) };
}

static const lch HEAT[] = { { 0.22, 0.07, 285 },
                            { 0.40, 0.16, 310 },
                            { 0.58, 0.19, 370 },
                            { 0.76, 0.16, 415 },
                            { 0.94, 0.10, 465 } };
static const lch WEIGHT[] = {
    { 0.93, 0.01, 240 }, { 0.72, 0.09, 238 }, { 0.51, 0.15, 258 }, { 0.30, 0.14, 268 }
};
static const lch COLD[] = { { 0.96, 0.005, 250 }, { 0.70, 0.12, 245 }, { 0.42, 0.14, 258 } };
static const lch WARM[] = { { 0.96, 0.005, 40 }, { 0.70, 0.15, 38 }, { 0.42, 0.15, 25 } };

void cutis_colormap_linear(cutis_colormap map, double value, float rgb[3])
{
    if (!rgb) return;
    double result[3] = { 0.2, 0.2, 0.2 };
    if (value == value) {
        double v = value < 0 ? 0 : value > 1 ? 1 : value;
        switch (map) {
        case CUTIS_COLORMAP_HEAT:
            lch_to_linear(path(HEAT, 5, v), result);
            break;
        case CUTIS_COLORMAP_WEIGHT:
            lch_to_linear(path(WEIGHT, 4, v), result);
            break;
        case CUTIS_COLORMAP_DIVERGING:
            lch_to_linear(v < 0.5 ? path(COLD, 3, 1 - 2 * v) : path(WARM, 3, 2 * v - 1), result);
            break;
        }
    }
    for (int i = 0; i < 3; i++) rgb[i] = (float)(result[i] < 0 ? 0 : result[i] > 1 ? 1 : result[i]);
}

static uint32_t srgb_byte(double linear)
{
    double s = linear <= 0.0031308 ? 12.92 * linear : 1.055 * pow(linear, 1 / 2.4) - 0.055;
    return (uint32_t)(255 * s + 0.5);
}

static uint32_t pack(const float rgb[3])
{
    return srgb_byte(rgb[0]) << 24 | srgb_byte(rgb[1]) << 16 | srgb_byte(rgb[2]) << 8 | 0xff;
}

uint32_t cutis_colormap_srgb(cutis_colormap map, double value)
{
    float rgb[3];
    cutis_colormap_linear(map, value, rgb);
    return pack(rgb);
}

uint32_t cutis_color_category(uint32_t index)
{
    // Hues a golden angle apart, lightness in three steps: neighbours in the list differ in both.
    static const double LIGHTNESS[] = { 0.62, 0.74, 0.52 };
    double rgb[3];
    lch_to_linear((lch){ LIGHTNESS[index % 3], 0.13, 255 + 137.508 * index }, rgb);
    float clamped[3];
    for (int i = 0; i < 3; i++) clamped[i] = (float)(rgb[i] < 0 ? 0 : rgb[i] > 1 ? 1 : rgb[i]);
    return pack(clamped);
}
