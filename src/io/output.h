/// Writing files piece by piece: buffered, atomic, with an error that sticks, so that a writer
/// checks once at the end.
#ifndef CUTIS_IO_OUTPUT_H
#define CUTIS_IO_OUTPUT_H

#include <cutis/io.h>

#include "base/memory.h"

typedef struct cutis_output {
    cutis_context *context;
    struct cutis_os_write *write;
    cutis_result result; ///< the first failure
    size_t used;
    char buffer[1 << 16];
} cutis_output;

/// @return NULL on failure, with `result` set
cutis_output *cutis_output_begin(cutis_context *context, const char *path, cutis_result *result);
void cutis_output_bytes(cutis_output *output, const void *data, size_t size);
void cutis_output_text(cutis_output *output, const char *text);
void cutis_output_float(cutis_output *output, char before,
                        float value); ///< `before` is written first
void cutis_output_double(cutis_output *output, char before, double value);
void cutis_output_count(cutis_output *output, char before, uint64_t value); ///< 0: nothing before
/// A name on one line: control characters become '_'.
void cutis_output_name(cutis_output *output, const char *name);
/// Put the file in place if nothing failed; the output is gone afterwards.
cutis_result cutis_output_finish(cutis_output *output);
/// The same for two files that belong together: both or none. `beside` may be NULL.
cutis_result cutis_output_finish_both(cutis_output *beside, cutis_output *output);
void cutis_output_abort(cutis_output *output); ///< NULL is fine

/// One primitive of the scene as OBJ and PLY hold it: positions where the rest pose puts them.
typedef struct cutis_shown {
    const cutis_instance *instance;
    const cutis_mesh *mesh;
    const cutis_primitive *primitive;
    uint32_t vertex_first; ///< of the primitive, over the whole scene
    bool moved;            ///< positions and normals go through `matrix`
    cutis_mat34 matrix;    ///< rest world matrix of an unskinned instance's node
    bool mirrored;         ///< by it: triangles turn the other way round
} cutis_shown;

/// All primitives of all instances in output order. Skinned meshes stand as the file has them,
/// unskinned ones where their node puts them. A model without any is refused, with the names of the
/// file and of its format in the error.
cutis_result cutis_shown_list(const cutis_model *model, cutis_arena *arena, const char *path,
                              const char *format, cutis_shown **out, uint32_t *count);
/// Entry k of the primitive's list of corners, as the scene shows it.
uint32_t cutis_shown_corner(const cutis_shown *shown, size_t k);
/// Position and (if the primitive has them) normal of a vertex, in the scene.
void cutis_shown_vertex(const cutis_shown *shown, uint32_t vertex, float position[3],
                        float normal[3]);

#endif
