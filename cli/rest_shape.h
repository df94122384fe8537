/// The triangles of a model and its vertices at rest, as measuring wants them.
#ifndef CUTIS_CLI_REST_SHAPE_H
#define CUTIS_CLI_REST_SHAPE_H

#include "app.h"

typedef struct rest_shape {
    uint32_t vertex_count;
    uint64_t triangle_count;
    float *positions;  ///< 3 per vertex, world space
    uint32_t *indices; ///< 3 per triangle
} rest_shape;

/// `path` is named in error lines. On failure nothing is left to release.
int rest_shape_make(cli_app *app, const char *path, const cutis_model *model, rest_shape *out);
void rest_shape_release(rest_shape *shape);
cutis_surface rest_shape_surface(const rest_shape *shape, const float *positions);

/// Grow a box until it holds another.
void bounds_add(cutis_bounds *box, cutis_bounds more);

#endif
