/// Labels for the triangles of a model, from what the model says.
#ifndef CUTIS_SKELETON_SOURCE_H
#define CUTIS_SKELETON_SOURCE_H

#include "skeleton/closed.h"

/// What a part of a label file is called.
#define CUTIS_LABEL_NAME "part%u"

/// @param labels one per triangle of the instances; lives in the names' arena. NULL for SHELLS and
/// AUTO, which need the closed mesh
cutis_result cutis_source_labels(const cutis_model *model, const cutis_skeleton_options *options,
                                 cutis_labels *names, const uint32_t **labels);

/// Automatic parts of a closed mesh (segment.c).
cutis_result cutis_segment(cutis_closed *mesh, uint32_t wanted, cutis_labels *names);

/// Make the labels of joints nest (names->parents): every border is between a joint and its parent.
/// @param moved faces that took the label of a joint further up
cutis_result cutis_nest(cutis_closed *mesh, const cutis_labels *names, uint32_t *moved);

#endif
