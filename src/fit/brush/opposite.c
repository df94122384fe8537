// The other side of a body: of a point and of a joint. Bodies stand upright along y and look along
// z (docs/spec/conventions.md 1), so the two sides lie along x.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "fit/brush/painting.h"

// Parts of a joint's place at rest that may be off on the other side, of the body's size: rigs are
// made by hand.
static const double NEAR_JOINT = 0.03;
enum { SAMPLES = 256 };

static uint32_t nearest_weld(const cutis_painting *p, vec3 point, double *distance)
{
    uint32_t best = BRUSH_NOWHERE;
    double least = INFINITY;
    for (uint32_t w = 0; w < p->weld_count; w++) {
        const vec3 to = v3_sub(p->place[w], point);
        const double d = v3_dot(to, to);
        if (p->skin[w] >= 0 && d < least) least = d, best = w;
    }
    if (distance) *distance = sqrt(least);
    return best;
}

static vec3 across(vec3 point, double plane)
{
    return v3(2 * plane - point.x, point.y, point.z);
}

/// How far, on the whole, the body is from its image.
static double unlike(const cutis_painting *p, double plane)
{
    const uint32_t step = p->weld_count / SAMPLES + 1;
    double sum = 0, distance;
    for (uint32_t w = 0; w < p->weld_count; w += step) {
        (void)nearest_weld(p, across(p->place[w], plane), &distance);
        sum += distance;
    }
    return sum;
}

/// x = 0 or the middle of the body, whichever it is more alike about.
static void find_plane(cutis_painting *p)
{
    if (p->has_plane) return;
    double low = INFINITY, high = -INFINITY;
    for (uint32_t w = 0; w < p->weld_count; w++)
        low = fmin(low, p->place[w].x), high = fmax(high, p->place[w].x);
    const double middle = (low + high) / 2;
    p->plane = unlike(p, middle) < unlike(p, 0) ? middle : 0;
    p->has_plane = true;
}

/// How far a point is from a triangle: off its plane, and beyond its edges as a part of its size.
static double off_triangle(vec3 a, vec3 b, vec3 c, vec3 point)
{
    const vec3 ab = v3_sub(b, a), ac = v3_sub(c, a), ap = v3_sub(point, a), n = v3_cross(ab, ac);
    const double area = v3_dot(n, n);
    if (!(area > 0)) return INFINITY;
    const double v = v3_dot(v3_cross(ap, ac), n) / area, w = v3_dot(v3_cross(ab, ap), n) / area;
    return fabs(v3_dot(ap, n)) / sqrt(area) +
           sqrt(sqrt(area)) * fmax(0, -fmin(fmin(v, w), 1 - v - w));
}

uint32_t brush_opposite_triangle(cutis_painting *p, vec3 point, vec3 *there)
{
    find_plane(p);
    *there = across(point, p->plane);
    const uint32_t weld = nearest_weld(p, *there, NULL);
    uint32_t best = BRUSH_NOWHERE;
    double least = INFINITY;
    for (uint32_t i = weld == BRUSH_NOWHERE ? 0 : p->around_first[weld];
         weld != BRUSH_NOWHERE && i < p->around_first[weld + 1]; i++) {
        const uint32_t triangle = p->around[i] / 3, *corner = p->triangles + 3 * (size_t)triangle;
        const double off =
            off_triangle(p->place[corner[0]], p->place[corner[1]], p->place[corner[2]], *there);
        if (off < least) least = off, best = triangle;
    }
    return best;
}

// Joints ----------------------------------------------------------------------------------------

/// Is a word of a name from `at` on, of `length` letters? A single letter must stand alone.
static bool is_word(const char *name, size_t at, size_t length)
{
    const unsigned char before = at > 0 ? (unsigned char)name[at - 1] : '_';
    const unsigned char after = (unsigned char)name[at + length];
    if (length > 1) return true;
    if (isalnum(before) && !(islower(before) && isupper((unsigned char)name[at]))) return false;
    return !isalnum(after) || (isupper((unsigned char)name[at]) && isupper(after));
}

/// The node called as this one is, with one word for a side in place of the other.
static uint32_t other_name(const cutis_model_data *data, const char *name)
{
    static const char *const SIDES[][2] = {
        { "left", "right" }, { "Left", "Right" }, { "LEFT", "RIGHT" }, { "l", "r" }, { "L", "R" }
    };
    for (size_t s = 0; s < 2 * (sizeof SIDES / sizeof *SIDES); s++) {
        const char *from = SIDES[s / 2][s % 2], *to = SIDES[s / 2][1 - s % 2];
        for (const char *at = strstr(name, from); at; at = strstr(at + 1, from)) {
            const size_t before = (size_t)(at - name), length = strlen(from);
            if (!is_word(name, before, length)) continue;
            for (uint32_t n = 0; n < data->node_count; n++) {
                const char *other = data->nodes[n].name;
                if (other && strncmp(other, name, before) == 0 &&
                    strncmp(other + before, to, strlen(to)) == 0 &&
                    strcmp(other + before + strlen(to), at + length) == 0)
                    return n;
            }
        }
    }
    return BRUSH_NOWHERE;
}

/// The joint nearest to the image of another's place, if it is there; else itself.
static uint32_t other_place(const cutis_painting *p, uint32_t node)
{
    const cutis_model_data *data = cutis_model_get(p->model);
    const vec3 image = across(p->nodes[node], p->plane);
    vec3 low = p->place[0], high = low;
    for (uint32_t w = 0; w < p->weld_count; w++) {
        low =
            v3(fmin(low.x, p->place[w].x), fmin(low.y, p->place[w].y), fmin(low.z, p->place[w].z));
        high = v3(fmax(high.x, p->place[w].x), fmax(high.y, p->place[w].y),
                  fmax(high.z, p->place[w].z));
    }
    double least = NEAR_JOINT * v3_length(v3_sub(high, low));
    uint32_t best = node;
    if (v3_length(v3_sub(image, p->nodes[node])) < least) return node; // in the middle
    for (uint32_t s = 0; s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++) {
            const uint32_t other = data->skins[s].joints[j];
            const double d = v3_length(v3_sub(p->nodes[other], image));
            if (d < least) least = d, best = other;
        }
    return best;
}

uint32_t cutis_painting_opposite(cutis_painting *p, uint32_t node)
{
    const cutis_model_data *data = p ? cutis_model_get(p->model) : NULL;
    if (!data || node >= data->node_count) return node;
    const uint32_t named =
        data->nodes[node].name ? other_name(data, data->nodes[node].name) : BRUSH_NOWHERE;
    if (named != BRUSH_NOWHERE) return named;
    find_plane(p);
    return other_place(p, node);
}
