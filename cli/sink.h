/// Where deformed frames go: an array (.npy, .pc2), meshes (.obj, .ply, .stl, numbered when there
/// are several), or one glTF that plays them as morph targets. Nothing is left under the output's
/// name unless sink_finish succeeded.
#ifndef CUTIS_CLI_SINK_H
#define CUTIS_CLI_SINK_H

#include "app.h"

#define SINK_MORPH_FRAMES 256 ///< players hold every frame of a morph clip in memory

typedef struct sink_options {
    const char *path;
    uint32_t first, frame_count; ///< frame numbers in file names start at `first`
    double fps;
} sink_options;

typedef struct frame_sink frame_sink;

bool sink_is_array(const char *path); ///< .npy, .pc2
/// OUT.obj of frame 7 is OUT_0007.obj when there are several.
void sink_frame_path(const char *path, uint32_t frame_count, uint32_t frame, char *out,
                     size_t capacity);
/// Take away a frame that was written, with the .mtl that a .obj of `model` has.
void sink_remove_frame(const char *path, uint32_t frame_count, uint32_t frame,
                       const cutis_model *model);
/// "OUT_0000.obj to OUT_0029.obj" where frames are numbered, else the path: for messages.
void sink_names(const char *path, uint32_t first, uint32_t frame_count, char *out, size_t capacity);
bool sink_is_mesh(const char *path); ///< .obj, .ply, .stl, .gltf, .glb

int sink_open(cli_app *app, const cutis_model *model, const sink_options *options,
              frame_sink **out);
/// @param normals may be NULL for arrays
int sink_add(frame_sink *sink, const float *positions, const float *normals);
int sink_finish(frame_sink *sink); ///< the sink is gone afterwards
void sink_drop(frame_sink *sink);  ///< NULL is fine

#endif
