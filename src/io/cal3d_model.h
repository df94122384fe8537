/// From Cal3D's parts to nodes, skins and clips. Internal to the Cal3D reader.
#ifndef CUTIS_IO_CAL3D_MODEL_H
#define CUTIS_IO_CAL3D_MODEL_H

#include "io/cal3d.h"

/// Cal3D's rotation in our convention: the conjugate, of unit length.
cutis_quat cutis_cal3d_rotation(const float q[4]);

/// Tracks as channels on `nodes` (node of each bone). The animation's arrays are changed and
/// borrowed.
cutis_result cutis_cal3d_make_clip(const cal3d_source_file *file, const cal3d_animation *animation,
                                   float scale, const uint32_t *nodes, uint32_t bone_count,
                                   cutis_clip *out);

/// What a model read from Cal3D was scaled by (the .cfg's scale and the reader's units); 1 for
/// other sources.
float cutis_cal3d_scale_of(const cutis_source *source);

#endif
