/// One material with vertex colours, so that the body stays one closed index mesh: splitting it by
/// material would double the vertices on every border. Colours are linear, as glTF's COLOR_0 is.
#include "synth/surface.h"

#include "synth/clips.h"

#include <string.h>

static const vec3 SUIT = { 0.055, 0.105, 0.160 }, TROUSERS = { 0.028, 0.038, 0.060 };
static const vec3 SKIN = { 0.62, 0.36, 0.25 }, BLUSH = { 0.61, 0.335, 0.235 };
static const vec3 LIPS = { 0.46, 0.20, 0.155 }, MOUTH = { 0.20, 0.07, 0.055 };
static const vec3 EYE_WHITE = { 0.66, 0.62, 0.58 }, IRIS = { 0.045, 0.03, 0.02 };
static const vec3 SHOES = { 0.025, 0.022, 0.022 }, HAIR = { 0.045, 0.024, 0.014 };
static const vec3 COAT = { 0.36, 0.21, 0.10 }, SADDLE = { 0.10, 0.055, 0.03 };
static const vec3 PALE = { 0.58, 0.44, 0.30 }, BLACK = { 0.012, 0.011, 0.011 };

static vec3 mix(vec3 a, vec3 b, double t)
{
    return v3_mix(a, b, cutis_synth_smoothstep(t));
}

static bool starts_with(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

/// 0 outside an ellipsoid, 1 well inside: its rim is blurred over a fifth of its size.
static double inside(vec3 x, double cx, double cy, double cz, double rx, double ry, double rz)
{
    vec3 q = v3((x.x - cx) / rx, (x.y - cy) / ry, (x.z - cz) / rz);
    return (1.1 - v3_length(q)) / 0.2;
}

/// Painted eyes: an almond of white with an iris, darkened under the upper lid.
static vec3 eye_color(vec3 skin, vec3 x)
{
    double u = (x.x - 31) / 15, v = x.y - 1677, height = 6.5 * (1 - u * u);
    if (x.z < 55 || height <= 0) return skin;
    vec3 color = mix(skin, EYE_WHITE, (height - (v < 0 ? -v : v)) / 2.5 + 0.5);
    double far = sqrt((x.x - 30.5) * (x.x - 30.5) + (v - 0.5) * (v - 0.5));
    if (v < height + 1 && v > -height - 1) color = mix(color, IRIS, (6.4 - far) / 2.5 + 0.5);
    double lid = v - height;
    return mix(color, HAIR, 1 - (lid < 0 ? -lid : lid) / 2.6);
}

static vec3 head_color(vec3 x)
{
    x.x = x.x < 0 ? -x.x : x.x;
    vec3 hair = v3(x.x / 77, (x.y - 1706) / 100, (x.z + 20) / 99);
    double cap = x.y > 1600 ? (1.03 - v3_length(hair)) / 0.03 : 0;
    vec3 color = mix(SKIN, BLUSH, inside(x, 44, 1648, 66, 26, 20, 30));
    if (x.z > 60) {
        color = mix(color, LIPS, inside(x, 0, 1612.5, 84, 24, 10.5, 14));
        double line = x.y - 1612.3 + x.x * x.x / 500;
        if (x.x < 24) color = mix(color, MOUTH, 0.75 - (line < 0 ? -line : line) / 3.5);
    }
    if (x.z > 40) {
        double arch = x.y - 1700 - 4 * (1 - (x.x - 36) * (x.x - 36) / 400);
        if (x.x > 11 && x.x < 56) color = mix(color, HAIR, 0.85 - (arch < 0 ? -arch : arch) / 6.5);
    }
    return mix(eye_color(color, x), HAIR, cap);
}

static vec3 biped_color(const char *part, vec3 x)
{
    static const char *const skin[] = { "neck", "hand",  "index", "middle",
                                        "ring", "pinky", "thumb", "fingers" };
    static const char *const trousers[] = { "hips", "thigh", "shin" };
    if (starts_with(part, "head")) return head_color(x);
    if (starts_with(part, "foot") || starts_with(part, "toes")) return SHOES;
    for (size_t i = 0; i < sizeof skin / sizeof *skin; i++)
        if (starts_with(part, skin[i])) return SKIN;
    for (size_t i = 0; i < sizeof trousers / sizeof *trousers; i++)
        if (starts_with(part, trousers[i])) return TROUSERS;
    return SUIT;
}

static vec3 quadruped_color(const char *part, vec3 x)
{
    x.x = x.x < 0 ? -x.x : x.x;
    if (starts_with(part, "head") || starts_with(part, "ear")) {
        vec3 color = mix(COAT, PALE, (x.z - 520) / 60);
        if (starts_with(part, "ear")) color = mix(COAT, SADDLE, (x.y - 880) / 60);
        color = mix(color, BLACK, inside(x, 0, 778, 632, 19, 15, 16));
        return mix(color, BLACK, inside(x, 43, 816, 472, 11, 10, 12));
    }
    if (starts_with(part, "tail")) return mix(COAT, PALE, (-650 - x.z) / 80);
    vec3 color = mix(COAT, SADDLE, (x.y - 600) / 60 - (x.z > 200 ? (x.z - 200) / 60 : 0));
    color = mix(color, PALE, (500 - x.y) / 90 - x.x / 90);
    return mix(color, PALE, (110 - x.y) / 60);
}

static vec3 arm_color(const char *part, vec3 x)
{
    (void)x;
    return strcmp(part, "collar") == 0 ? SUIT : SKIN;
}

cutis_result cutis_synth_colors(cutis_arena *arena, const synth_table *table,
                                const synth_skeleton *skeleton, const synth_surface *surface,
                                float *colors)
{
    uint32_t *part = cutis_arena_zero(arena, surface->vertex_count, sizeof *part);
    if (!part) return cutis_alloc_result(arena->context);
    // Joints stand depth-first, so of two parts that meet the child has the larger number.
    for (size_t h = 0; h < (size_t)surface->triangle_count * 3; h++)
        if (surface->labels[h / 3] > part[surface->triangles[h]])
            part[surface->triangles[h]] = surface->labels[h / 3];
    bool quadruped = strcmp(table->name, "quadruped") == 0, arm = strcmp(table->name, "arm") == 0;
    for (uint32_t v = 0; v < surface->vertex_count; v++) {
        const char *name = skeleton->rows[skeleton->joints[part[v]].row]->name;
        vec3 x = surface->positions[v];
        vec3 color = quadruped ? quadruped_color(name, x)
                     : arm     ? arm_color(name, x)
                               : biped_color(name, x);
        float *out = colors + 4 * (size_t)v;
        v3_put_floats(color, out), out[3] = 1;
    }
    return CUTIS_OK;
}
