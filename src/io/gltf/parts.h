/// The parts of a document as the model has them. Each function decodes one item; the reader calls
/// them all, the writer calls them again to see what has changed since.
#ifndef CUTIS_IO_GLTF_PARTS_H
#define CUTIS_IO_GLTF_PARTS_H

#include "io/gltf/document.h"

/// Give every joint of a skin a node of its own, before the nodes are ordered.
cutis_result cutis_gltf_part_joints(gltf_document *document);
/// Order the nodes: depth-first over the default scene, then the others. Fills the document's maps.
cutis_result cutis_gltf_load_hierarchy(gltf_document *document);
/// Whether a matrix is a translation, a rotation and a scale, by the Khronos validator's measure.
bool cutis_gltf_is_trs(const float *columns);
/// What may be wrong between nodes, meshes and skins, once all are known.
cutis_result cutis_gltf_check_scene(gltf_document *document);

/// One item of a collection: @param index file index; indices in the result are the model's
/// @param item a cutis_node, cutis_skin, cutis_material, cutis_mesh or cutis_clip
cutis_result cutis_gltf_read_node(gltf_document *document, uint32_t index, void *item);
cutis_result cutis_gltf_begin_skins(gltf_document *document); ///< after the meshes
cutis_result cutis_gltf_read_skin(gltf_document *document, uint32_t index, void *item);
cutis_result cutis_gltf_read_material(gltf_document *document, uint32_t index, void *item);
cutis_result cutis_gltf_read_mesh(gltf_document *document, uint32_t index, void *item);
/// Also fills document->channels on the first call.
cutis_result cutis_gltf_read_clip(gltf_document *document, uint32_t index, void *item);

/// Attributes, indices and targets of every primitive: formats, counts, views. Also fills
/// document->primitives.
cutis_result cutis_gltf_check_meshes(gltf_document *document);

/// Joints and weights of a primitive as the file has them: sets, each of four a vertex.
typedef struct gltf_sets {
    uint32_t count;
    const uint32_t **joints;
    const float **weights;
    uint32_t greatest; ///< of all joints that are named, set by cutis_gltf_list_influences
} gltf_sets;
cutis_result cutis_gltf_read_sets(gltf_document *document, const json_t *attributes,
                                  gltf_sets *out);

/// All sets to one list per vertex, sets in order; weights of zero are padding and left out.
cutis_result cutis_gltf_list_influences(gltf_document *document, gltf_sets *sets,
                                        uint32_t vertex_count, cutis_arena *arena,
                                        cutis_influences *out);
/// What reading for use makes of such a list: a joint once a vertex, weights that sum to one, no
/// vertex without any beside others that have some (influences.c). A clean list is looked at once.
cutis_result cutis_gltf_settle_influences(gltf_document *document, uint32_t mesh,
                                          uint32_t primitive, const gltf_sets *sets,
                                          uint32_t vertex_count, cutis_arena *arena,
                                          cutis_influences *list);

/// The tree in a mesh's CUTIS_parts, after its labels; none leaves part_tree NULL (part_tree.c).
cutis_result cutis_gltf_read_part_tree(gltf_document *document, uint32_t index, const json_t *json,
                                       cutis_mesh *out);

/// Samplers that no channel uses, too, and channels of other paths (strict).
cutis_result cutis_gltf_check_samplers(gltf_document *document, uint32_t index);

/// Into document->data, after nodes and meshes; none leaves NULL there: CUTIS_pose_space
/// (pose_space.c), CUTIS_handles (handle_rig.c), CUTIS_cage (cage.c), CUTIS_drivers (drivers.c).
cutis_result cutis_gltf_read_pose_space(gltf_document *document);
cutis_result cutis_gltf_read_handles(gltf_document *document);
cutis_result cutis_gltf_read_cage(gltf_document *document);
cutis_result cutis_gltf_read_drivers(gltf_document *document);

/// What glTF asks for beyond what reading needs, when document->strict: over the JSON before
/// buffers are loaded (strict_json.c, which calls strict_material.c), over images once there are
/// views (strict_image.c), and over the data once everything else holds (strict.c).
cutis_result cutis_gltf_check_strict_json(gltf_document *document);
cutis_result cutis_gltf_check_strict_materials(gltf_document *document);
cutis_result cutis_gltf_check_strict_images(gltf_document *document);
/// Warnings, informations and what is not checked, for the report (strict_remarks.c).
cutis_result cutis_gltf_remark_all(gltf_document *document);
cutis_result cutis_gltf_check_strict(gltf_document *document);

/// One use for each accessor and view, over the whole file. Reading for use, what breaks this, or
/// is laid out as glTF does not want it, is laid out anew (uses.c).
cutis_result cutis_gltf_check_uses(gltf_document *document);

#endif
