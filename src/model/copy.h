/// Deep copy of a caller's data into a model's arena.
#ifndef CUTIS_MODEL_COPY_H
#define CUTIS_MODEL_COPY_H

#include "model/object.h"

/// Copy everything; `data` has passed cutis_validate_shape. false: out of memory (the arena holds
/// what was copied). Missing index lists become 0, 1, 2, ...; channels that shared a time array go
/// on sharing one.
bool cutis_model_copy(cutis_model *model, const cutis_model_data *data);

#endif
