/// The parts of a document as the model has them. Each function decodes one item into `arena`; the
/// reader calls them all, the writer calls them again to see what has changed since.
#ifndef CUTIS_IO_GLTF_PARTS_H
#define CUTIS_IO_GLTF_PARTS_H

#include "io/gltf/document.h"

/// Order the nodes: depth-first over the default scene, then the others. Fills the document's maps.
cutis_result cutis_gltf_load_hierarchy(gltf_document *document);
/// What may be wrong between nodes, meshes and skins, once all are known.
cutis_result cutis_gltf_check_scene(gltf_document *document, const cutis_model_data *data);

/// @param index file index; indices in the result are the model's
cutis_result cutis_gltf_read_node(gltf_document *document, cutis_arena *arena, uint32_t index,
                                  cutis_node *out);
cutis_result cutis_gltf_read_skin(gltf_document *document, cutis_arena *arena, uint32_t index,
                                  cutis_skin *out);
void cutis_gltf_read_material(const gltf_document *document, uint32_t index, cutis_material *out);

/// Attributes, indices and targets of every primitive: formats, counts, views. Also fills
/// document->primitives.
cutis_result cutis_gltf_check_meshes(gltf_document *document);
cutis_result cutis_gltf_read_mesh(gltf_document *document, cutis_arena *arena, uint32_t index,
                                  cutis_mesh *out);

/// The tree in a mesh's CUTIS_parts, after its labels; none leaves part_tree NULL (part_tree.c).
cutis_result cutis_gltf_read_part_tree(gltf_document *document, cutis_arena *arena, uint32_t index,
                                       const json_t *json, cutis_mesh *out);

/// Also fills document->channels on the first call.
cutis_result cutis_gltf_read_clip(gltf_document *document, cutis_arena *arena,
                                  const cutis_model_data *data, uint32_t index, cutis_clip *out);

/// Samplers that no channel uses, too, and channels of other paths (strict).
cutis_result cutis_gltf_check_samplers(gltf_document *document, uint32_t index);

/// CUTIS_pose_space, after nodes and meshes; none leaves data->pose_space NULL (pose_space.c).
cutis_result cutis_gltf_read_pose_space(gltf_document *document, cutis_arena *arena,
                                        cutis_model_data *data);

/// CUTIS_handles, after nodes and meshes; none leaves data->handles NULL (handle_rig.c).
cutis_result cutis_gltf_read_handles(gltf_document *document, cutis_arena *arena,
                                     cutis_model_data *data);

/// What glTF asks for beyond what reading needs, when document->strict: over the JSON before
/// buffers are loaded (strict_json.c), and over the data once everything else holds (strict.c).
cutis_result cutis_gltf_check_strict_json(gltf_document *document);
cutis_result cutis_gltf_check_strict(gltf_document *document, const cutis_model_data *data);

/// CUTIS_cage, after meshes; none leaves data->cage NULL (cage.c).
cutis_result cutis_gltf_read_cage(gltf_document *document, cutis_arena *arena,
                                  cutis_model_data *data);

#endif
