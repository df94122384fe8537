/// The weight brush as the page calls it: a pen's ray in, changed weights out. What is flat in the
/// library already is called there (CMakeLists.txt).
#include "studio.h"

cutis_painting *EXPORT(studio_painting_create)(const cutis_model *model, const float *rest)
{
    cutis_painting *painting = NULL;
    return good(cutis_painting_create(model, rest, &painting)) ? painting : NULL;
}

/// Where a ray (origin, direction) meets a frame. out: the point, the triangle's normal (not of
/// unit length), the distance; at: for studio_dab.
int EXPORT(studio_pick)(const cutis_model *model, const uint32_t *indices, const float *positions,
                        const double *ray, cutis_surface_point *at, double *out)
{
    const cutis_surface surface = { .vertex_count = cutis_model_vertex_count(model),
                                    .triangle_count = cutis_model_triangle_count(model),
                                    .positions = positions,
                                    .indices = indices };
    if (cutis_surface_pick(&surface, ray, ray + 3, at) != CUTIS_OK) return 0;
    const uint32_t *corner = indices + 3 * (size_t)at->triangle;
    double edge[2][3];
    for (int c = 0; c < 3; c++) {
        const double a = positions[3 * corner[0] + c], b = positions[3 * corner[1] + c],
                     d = positions[3 * corner[2] + c];
        out[c] = ray[c] + at->distance * ray[3 + c];
        edge[0][c] = b - a, edge[1][c] = d - a;
    }
    for (int c = 0; c < 3; c++)
        out[3 + c] = edge[0][(c + 1) % 3] * edge[1][(c + 2) % 3] -
                     edge[0][(c + 2) % 3] * edge[1][(c + 1) % 3];
    out[6] = at->distance;
    return 1;
}

/// @param flags 1: even, 2: on the other side too
int EXPORT(studio_dab)(cutis_painting *painting, const cutis_surface_point *at, uint32_t kind,
                       uint32_t joint, double radius, double strength, uint32_t flags,
                       uint32_t influences, const bool *locked, const cutis_painting *toward)
{
    const cutis_brush brush = { .kind = (cutis_brush_kind)kind,
                                .joint = joint,
                                .radius = radius,
                                .strength = strength,
                                .even = (flags & 1) != 0,
                                .mirror = (flags & 2) != 0,
                                .influences = influences,
                                .locked = locked,
                                .toward = toward };
    return good(cutis_painting_dab(painting, at, &brush));
}

int EXPORT(studio_stroke)(cutis_painting *painting, cutis_stroke *out)
{
    return good(cutis_painting_stroke(painting, out));
}

int EXPORT(studio_put)(cutis_painting *painting, uint32_t count, const uint32_t *vertices,
                       const uint32_t *first, const uint32_t *joints, const double *weights)
{
    const cutis_stroke stroke = { count, vertices, first, joints, weights };
    return good(cutis_painting_put(painting, &stroke));
}

cutis_model *EXPORT(studio_painting_finish)(const cutis_painting *painting)
{
    cutis_model *model = NULL;
    return good(cutis_painting_finish(painting, &model)) ? model : NULL;
}
