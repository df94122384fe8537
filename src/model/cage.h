/// The gate for a model's cage.
#ifndef CUTIS_MODEL_CAGE_H
#define CUTIS_MODEL_CAGE_H

#include "model/object.h"

#define CUTIS_CAGE_CONTROLS 65535 ///< most: an index fits 16 bits

/// Counts, indices, values; before the copy. `data->cage` may be NULL.
cutis_result cutis_validate_cage(cutis_context *context, const cutis_model_data *data);

#endif
