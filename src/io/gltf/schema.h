/// The shape of a glTF document, checked once: types, ranges, required properties, references in
/// range. After it, readers take values out of the JSON without asking again.
#ifndef CUTIS_IO_GLTF_SCHEMA_H
#define CUTIS_IO_GLTF_SCHEMA_H

#include "io/gltf/document.h"

/// Check the whole of document->root. The error reads "file: /json/pointer: reason [CODE]".
cutis_result cutis_gltf_check_schema(gltf_document *document);

#endif
