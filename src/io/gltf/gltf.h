/// glTF 2.0 and GLB: the doors of this folder. Everything else in it is private to it.
#ifndef CUTIS_IO_GLTF_H
#define CUTIS_IO_GLTF_H

#include "io/format.h"
#include "model/report.h"

/// Read a glTF or GLB file (GLB if it starts with "glTF", else JSON). External URIs resolve below
/// its folder when it is on disk, and are refused when not.
/// @return CUTIS_OK; CUTIS_CORRUPT_DATA, CUTIS_UNSUPPORTED_FORMAT (a required extension),
/// CUTIS_LIMIT_EXCEEDED,
///         CUTIS_FILE_NOT_FOUND (a buffer), CUTIS_OUT_OF_MEMORY; the error reads "path:
///         /json/pointer: reason"
cutis_result cutis_gltf_read(const cutis_input *input, const cutis_read_options *options,
                             cutis_model **out);

/// List what the Khronos validator calls errors, by its own codes, with JSON pointer or byte
/// offset.
/// @return CUTIS_OK if the report holds what is wrong, or nothing is; else why the file could not
/// be looked at (CUTIS_LIMIT_EXCEEDED, CUTIS_OUT_OF_MEMORY)
cutis_result cutis_gltf_inspect(const cutis_input *input, cutis_check_report *report);

/// Write `.glb`, or `.gltf` with a `.bin` of the same name beside it (`options->format`, else by
/// the path's end). A model read from glTF keeps everything of its file that Cutis does not model.
cutis_result cutis_gltf_write(const cutis_model *model, const char *path,
                              const cutis_write_options *options);

#endif
