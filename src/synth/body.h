/// A body ready to be put into a model: mesh with weights, skeleton, clips.
#ifndef CUTIS_SYNTH_BODY_H
#define CUTIS_SYNTH_BODY_H

#include <cutis/model.h>
#include <cutis/synth.h>
#include "synth/clips.h"
#include "synth/surface.h"

typedef struct synth_body {
    const synth_table *table;
    synth_skeleton skeleton;
    cutis_mesh mesh; ///< one primitive; in the arena
    clip_list clips;
} synth_body;

/// The table of a body at a vertex count, NULL for bodies without one (cylinder, crowd).
const synth_table *cutis_synth_table(cutis_body body, uint32_t vertices);
/// Vertices and seam edges (0: none) that options ask for.
/// @return CUTIS_INVALID_ARGUMENT with the limits in the error text
cutis_result cutis_synth_body_size(cutis_context *context, cutis_body body,
                                   const cutis_synth_options *options, uint32_t *vertices,
                                   uint32_t *seam_edges);
cutis_result cutis_synth_body_build(cutis_arena *arena, cutis_body body, uint32_t vertices,
                                    uint32_t seam_edges, synth_body *out);
/// Nodes of the joints under `parent`, and the skin over them. Joint j becomes node first_node + j.
/// @param nodes joint_count entries
cutis_result cutis_synth_body_skin(cutis_arena *arena, const synth_body *body, int32_t parent,
                                   uint32_t first_node, cutis_node *nodes, cutis_skin *skin);
/// A node at its parent's place, without mesh and skin.
cutis_node cutis_synth_node(const char *name, int32_t parent);
/// The one material all bodies use: white under vertex colours.
cutis_material cutis_synth_material(void);

/// A body of the family in place of a table's: options with body = CUTIS_BODY_FAMILY.
/// @return CUTIS_INVALID_ARGUMENT with the limits in the error text, CUTIS_INTERNAL when no draw
/// gave a body
cutis_result cutis_synth_family_build(cutis_arena *arena, const cutis_synth_options *options,
                                      synth_body *out);

cutis_result cutis_synth_cylinder(cutis_context *context, cutis_model **out);
cutis_result cutis_synth_crowd(cutis_context *context, const cutis_synth_options *options,
                               cutis_model **out);

#endif
