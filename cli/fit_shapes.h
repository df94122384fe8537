/// Shapes for cutis fit: meshes or one array, brought to the order of the model's vertices.
#ifndef CUTIS_CLI_FIT_SHAPES_H
#define CUTIS_CLI_FIT_SHAPES_H

#include "app.h"

/// Read what --shapes names: a shape for every pose.
/// @param path  of the model, for error lines
/// @param poses pose_count * node_count local transforms
/// @param out   pose_count * vertex_count * 3; released with free
int fit_shapes_read(cli_app *app, const char *path, const cutis_model *model, uint32_t pose_count,
                    const cutis_transform *poses, float **out);

#endif
