/// The shape of a glTF document, checked once: types, ranges, required properties, references in
/// range. After it, readers take values out of the JSON without asking again.
#ifndef CUTIS_IO_GLTF_SCHEMA_H
#define CUTIS_IO_GLTF_SCHEMA_H

#include <cutis/base.h>
#include <jansson.h>

/// Check the whole document. The error reads "file: /json/pointer: reason".
cutis_result cutis_gltf_check_schema(cutis_context *context, const char *file, const json_t *root);

#endif
