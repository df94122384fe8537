/// Rigs of bodies whose parts are told.
#ifndef CUTIS_SKELETON_RIG_LABELS_H
#define CUTIS_SKELETON_RIG_LABELS_H

#include <cutis/rig.h>

#include "skeleton/closed.h"

/// cutis_rig by options->labels. @param report its kind and counts are filled in
/// @param notes what was done to the mesh and its labels
cutis_result cutis_rig_labelled(const cutis_model *model, cutis_device *device,
                                const cutis_rig_options *options, cutis_rig_report *report,
                                cutis_notes *problems, cutis_notes *notes, cutis_model **out);

#endif
