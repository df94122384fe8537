/// The handle rig of a model: its gate.
#ifndef CUTIS_MODEL_HANDLE_RIG_H
#define CUTIS_MODEL_HANDLE_RIG_H

#include "model/object.h"

/// Most handles, real and virtual together: a file cannot ask for a palette beyond this.
#define CUTIS_HANDLE_RIG_MAX 1000000u

/// Counts, indices, arrays and values; before the copy. `data->handles` may be NULL.
cutis_result cutis_validate_handles(cutis_context *context, const cutis_model_data *data);

#endif
