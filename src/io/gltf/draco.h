/// Draco's decoder and encoder, which run as the program cutis-draco.
#ifndef CUTIS_IO_GLTF_DRACO_H
#define CUTIS_IO_GLTF_DRACO_H

#include "io/json.h"

bool cutis_gltf_has_draco(void); ///< the program is there

/// Send a request (io/draco/protocol.h) and take its answer.
/// @return as cutis_os_run_helper; CUTIS_UNSUPPORTED_FORMAT: the program is not there. The error
/// text names no file.
cutis_result cutis_gltf_run_draco(cutis_context *context, const cutis_bytes *request, void *answer,
                                  size_t answer_size, size_t *got);

#endif
