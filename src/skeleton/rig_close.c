// A rig that patches can bend: the body as one closed mesh, and a part for every joint. Invariant:
// at rest every vertex is where it was, and joints and weights are those of any rig.
#include <string.h>

#include <cutis/skeleton.h>

#include "base/error.h"
#include "skeleton/heal.h"
#include "skeleton/rig_parts.h"
#include "skeleton/source.h"

// Which nodes neither hold a skin nor hang on a joint; those that hold one stay, too.
static bool *find_others(cutis_arena *arena, const cutis_model_data *data)
{
    bool *gone = cutis_arena_zero(arena, data->node_count + (size_t)1, sizeof *gone);
    for (uint32_t s = 0; gone && s < data->skin_count; s++)
        for (uint32_t j = 0; j < data->skins[s].joint_count; j++)
            gone[data->skins[s].joints[j]] = true;
    for (uint32_t n = 0; gone && n < data->node_count; n++) // parents come first
        if (data->nodes[n].parent != CUTIS_NONE && gone[data->nodes[n].parent]) gone[n] = true;
    return gone;
}

// A model of cutis_skeleton_extract without its skeleton and parts.
static cutis_result strip(const cutis_model *made, cutis_model **out)
{
    cutis_context *context = cutis_model_context(made);
    cutis_model_data data = *cutis_model_get(made);
    cutis_arena arena = { .context = context };
    cutis_mesh mesh = data.meshes[0];
    bool *gone = find_others(&arena, &data);
    uint32_t *places = cutis_arena_alloc(&arena, data.node_count, sizeof *places), kept = 0;
    cutis_node *nodes = cutis_arena_alloc(&arena, data.node_count, sizeof *nodes);
    cutis_primitive *primitives =
        cutis_arena_copy(&arena, mesh.primitives, mesh.primitive_count, sizeof *primitives);
    cutis_result result =
        gone && places && nodes && primitives ? CUTIS_OK : cutis_alloc_result(context);
    for (uint32_t n = 0; result == CUTIS_OK && n < data.node_count; n++) {
        if (gone[n]) continue;
        nodes[places[n] = kept++] = data.nodes[n];
        nodes[places[n]].skin = CUTIS_NONE;
        if (data.nodes[n].parent != CUTIS_NONE)
            nodes[places[n]].parent = (int32_t)places[data.nodes[n].parent];
    }
    for (uint32_t p = 0; result == CUTIS_OK && p < mesh.primitive_count; p++) {
        primitives[p].influences = (cutis_influences){ 0 };
        primitives[p].parts = NULL;
    }
    mesh.primitives = primitives;
    mesh.part_count = 0, mesh.part_names = NULL, mesh.part_tree = NULL;
    data.nodes = nodes, data.node_count = kept;
    data.meshes = &mesh;
    data.skins = NULL, data.skin_count = 0;
    data.clips = NULL, data.clip_count = 0;
    if (result == CUTIS_OK) result = cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
    cutis_arena_release(&arena);
    return result;
}

cutis_result cutis_rig_close(const cutis_model *model, const uint32_t *parts, uint32_t count,
                             cutis_notes *notes, cutis_model **out)
{
    const cutis_skeleton_options cut = { .source = CUTIS_PART_SOURCE_LABELS,
                                         .labels = parts,
                                         .label_count = count,
                                         .keep_curved = true };
    cutis_skeleton_report *made = NULL;
    cutis_model *whole = NULL;
    cutis_result result = cutis_skeleton_extract(model, &cut, &whole, &made);
    if (result == CUTIS_OK) result = strip(whole, out);
    if (result == CUTIS_OK && cutis_model_get(model)->clip_count)
        cutis_note(notes, "%u clips stay behind: the closed body is another mesh",
                   cutis_model_get(model)->clip_count);
    if (result == CUTIS_OK && made->repairs.welded_edges)
        cutis_note(notes, "%u open edges were welded", made->repairs.welded_edges);
    if (result == CUTIS_OK && made->repairs.capped_holes)
        cutis_note(notes, "%u holes were capped with %u triangles", made->repairs.capped_holes,
                   made->repairs.cap_faces);
    cutis_skeleton_report_destroy(made);
    cutis_model_destroy(whole);
    return result;
}

// The model again, its triangles with these parts. Parts that no triangle has are left out.
static cutis_result name_parts(const cutis_model *model, cutis_arena *arena, uint32_t *parts,
                               uint32_t count, const cutis_labels *names, cutis_model **out)
{
    cutis_model_data data = *cutis_model_get(model);
    cutis_mesh mesh = data.meshes[0];
    uint32_t *number = cutis_nothings(arena, names->count), used = 0;
    const char **list = cutis_arena_alloc(arena, names->count, sizeof *list);
    cutis_primitive *primitives =
        cutis_arena_copy(arena, mesh.primitives, mesh.primitive_count, sizeof *primitives);
    if (!number || !list || !primitives) return cutis_alloc_result(arena->context);
    for (uint32_t t = 0; t < count; t++) {
        uint32_t *own = &number[parts[t]];
        if (*own == CUTIS_NOTHING) list[ *own = used++] = names->names[parts[t]];
        parts[t] = *own;
    }
    for (uint32_t p = 0, first = 0; p < mesh.primitive_count; p++) {
        primitives[p].parts = parts + first;
        first += primitives[p].index_count / 3;
    }
    mesh.primitives = primitives;
    mesh.part_names = list, mesh.part_count = used;
    data.meshes = &mesh;
    return cutis_model_create(arena->context, &data, CUTIS_GATE_REFUSE, out);
}

cutis_result cutis_rig_joint_parts(const cutis_model *model, cutis_model **out)
{
    const cutis_skeleton_options by_joints = { .source = CUTIS_PART_SOURCE_JOINTS };
    cutis_context *context = cutis_model_context(model);
    cutis_arena arena = { .context = context };
    cutis_labels names = { .arena = &arena };
    cutis_notes notes = { .arena = &arena };
    cutis_skeleton_repairs repairs = { 0 };
    cutis_closed mesh = { 0 };
    cutis_gathered body;
    const uint32_t *labels = NULL;
    uint32_t nested, *parts = NULL;
    cutis_result result = cutis_source_labels(model, &by_joints, &names, &labels);
    if (result == CUTIS_OK) result = cutis_closed_make(model, labels, &names, &repairs, &mesh);
    if (result == CUTIS_OK) result = cutis_nest(&mesh, &names, &nested);
    if (result == CUTIS_OK) result = cutis_heal(&mesh, &names, 0, &notes, &repairs);
    if (result == CUTIS_OK) result = cutis_gather(&arena, model, &body);
    if (result == CUTIS_OK) {
        parts = cutis_arena_zero(&arena, body.triangle_count, sizeof *parts);
        result = parts ? cutis_rig_nearest(&mesh, mesh.labels, &body, &arena, parts)
                       : cutis_alloc_result(context);
    }
    if (result == CUTIS_OK)
        result = name_parts(model, &arena, parts, body.triangle_count, &names, out);
    cutis_closed_release(&mesh);
    cutis_arena_release(&arena);
    return result;
}
