/// Shapes for cutis fit: meshes or one array, brought to the order of the model's vertices.
#ifndef CUTIS_CLI_FIT_SHAPES_H
#define CUTIS_CLI_FIT_SHAPES_H

#include "frame_file.h"

/// A shape for every pose: in memory, or in their file. The zero value: none.
typedef struct fit_shapes {
    uint32_t vertex_count; ///< of the model
    float *positions;      ///< pose_count * vertex_count * 3; NULL: they stay in the file
    frame_file file;
    uint32_t *map; ///< per vertex: that of the file
    float *raw;    ///< one shape of the file
    float *shape;  ///< the same in the model's order
} fit_shapes;

/// Read what --shapes names. @param path of the model, for error lines
/// @param poses pose_count * node_count local transforms
/// @param stay  an array of more than --memory stays in its file
int fit_shapes_read(cli_app *app, const char *path, const cutis_model *model, uint32_t pose_count,
                    const cutis_transform *poses, bool stay, fit_shapes *out);
/// One of them, valid until the next call; NULL: it cannot be read any more.
const float *fit_shapes_get(const fit_shapes *shapes, uint32_t pose);
/// Some vertices of one, as cutis_pose_fit_options has it; `user` is the shapes.
cutis_result fit_shapes_some(void *user, uint32_t pose, uint32_t first, uint32_t count,
                             float *positions);
void fit_shapes_release(fit_shapes *shapes);

#endif
