// Cal3D models: a .cfg names skeleton, meshes, materials and animations; they become nodes, one
// skin, meshes and clips. Every .caf and .xaf in the folder is a clip; those the .cfg names come
// first and must be right, the others are left out if they are not for this skeleton. Joint i is
// bone i of the file; nodes are sorted so that parents come first.
#include "io/cal3d.h"
#include "io/names.h"
#include "io/place.h"
#include "io/text.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/os/os.h"
#include "base/path.h"
#include "math/elementary.h"

typedef struct builder {
    const cutis_input *input;
    cutis_context *context;
    cutis_arena arena;
    float scale;
    cutis_names meshes, materials, animations; // file names as the .cfg has them
    const char *skeleton_file;
    cal3d_skeleton skeleton;
    uint32_t *nodes_of_bones;
    cutis_node *nodes;
    uint32_t node_count;
    cutis_mesh *mesh_list;
    uint32_t mesh_count;
    cutis_material *material_list;
    cutis_clip *clips;
    size_t clip_count, clip_capacity;
    cutis_result visit_result; // of the folder walk
    char folder_path[4096];
} builder;

cal3d_kind cutis_cal3d_kind(const char *data, size_t size, bool *is_xml)
{
    static const struct {
        const char *magic, *xml, *root;
        cal3d_kind kind;
    } KINDS[] = { { "CSF", "XSF", "<SKELETON", CAL3D_SKELETON },
                  { "CMF", "XMF", "<MESH", CAL3D_MESH },
                  { "CAF", "XAF", "<ANIMATION", CAL3D_ANIMATION },
                  { "CRF", "XRF", "<MATERIAL", CAL3D_MATERIAL } };
    size_t window = size < 1024 ? size : 1024;
    for (size_t k = 0; k < 4; k++)
        if (size >= 4 && memcmp(data, KINDS[k].magic, 4) == 0) {
            *is_xml = false;
            return KINDS[k].kind;
        }
    *is_xml = true;
    for (size_t i = 0; i < window; i++)
        for (size_t k = 0; k < 4; k++) {
            size_t root = strlen(KINDS[k].root);
            if (window - i >= root && memcmp(data + i, KINDS[k].root, root) == 0)
                return KINDS[k].kind;
            if (window - i >= 3 && memcmp(data + i, KINDS[k].xml, 3) == 0) return KINDS[k].kind;
        }
    return CAL3D_UNKNOWN;
}

// Reads one part below the .cfg's folder; `file` is released with drop_part.
static cutis_result open_part(builder *b, const char *relative, cal3d_source_file *file)
{
    char path[4096];
    void *data = NULL;
    while (relative[0] == '.' && relative[1] == '/') relative += 2;
    cutis_result result =
        cutis_os_resolve_below(b->context, b->input->name, relative, path, sizeof path);
    *file = (cal3d_source_file){ b->context, &b->arena, NULL, NULL, 0 };
    if (result == CUTIS_OK) result = cutis_os_read_file(b->context, path, &data, &file->size);
    if (result != CUTIS_OK) return result;
    file->data = data;
    file->name = cutis_arena_string(&b->arena, path);
    if (file->name) return CUTIS_OK;
    cutis_free(b->context, data, file->size + 1);
    return cutis_alloc_result(b->context);
}

static void drop_part(builder *b, cal3d_source_file *file)
{
    if (file->data) cutis_free(b->context, (void *)file->data, file->size + 1);
    file->data = NULL;
}

// The .cfg
// -----------------------------------------------------------------------------------------

static cutis_result bad_line(const builder *b, const cutis_text *text, const char *reason,
                             cutis_span what)
{
    return cutis_fail(b->context, CUTIS_CORRUPT_DATA, "%s: line %zu: %s '%.*s'", b->input->name,
                      text->line, reason, CUTIS_SPAN_SHOW(what));
}

static cutis_span trim(cutis_span span)
{
    while (span.size && (span.data[0] == ' ' || span.data[0] == '\t')) span.data++, span.size--;
    while (span.size && (span.data[span.size - 1] == ' ' || span.data[span.size - 1] == '\t'))
        span.size--;
    return span;
}

static cutis_result take_setting(builder *b, const cutis_text *text, cutis_span key,
                                 cutis_span value)
{
    uint32_t number;
    cutis_names *names = cutis_span_is(key, "mesh")        ? &b->meshes
                         : cutis_span_is(key, "material")  ? &b->materials
                         : cutis_span_is(key, "animation") ? &b->animations
                                                           : NULL;
    if (cutis_span_is(key, "scale")) {
        float scale;
        if (!cutis_parse_float(value, &scale) || !(scale > 0))
            return bad_line(b, text, "no positive scale:", value);
        b->scale = scale * b->input->scale;
        return isfinite(b->scale) && b->scale > 0 ? CUTIS_OK
                                                  : bad_line(b, text, "no usable scale:", value);
    }
    if (cutis_span_is(key, "skeleton")) {
        if (b->skeleton_file) return bad_line(b, text, "a second skeleton:", value);
        b->skeleton_file = cutis_arena_format(
            &b->arena, "%.*s", (int)(value.size < 4000 ? value.size : 4000), value.data);
        return b->skeleton_file ? CUTIS_OK : cutis_alloc_result(b->context);
    }
    if (!names) return bad_line(b, text, "unknown setting", key);
    return cutis_names_add(names, value, &number) ? CUTIS_OK : cutis_alloc_result(b->context);
}

static cutis_result parse_cfg(builder *b)
{
    cutis_text text = cutis_text_begin(b->input->data, b->input->size);
    if (b->input->size) do {
            cutis_span line = cutis_text_rest(&text);
            if (line.size == 0 || line.data[0] == '#') continue;
            const char *equals = memchr(line.data, '=', line.size);
            if (!equals) return bad_line(b, &text, "no 'name=value':", line);
            cutis_span key = trim((cutis_span){ line.data, (size_t)(equals - line.data) });
            cutis_span value =
                trim((cutis_span){ equals + 1, (size_t)(line.data + line.size - equals - 1) });
            cutis_result result = take_setting(b, &text, key, value);
            if (result != CUTIS_OK) return result;
        } while (cutis_text_next_line(&text));
    if (!b->skeleton_file)
        return cutis_fail(b->context, CUTIS_CORRUPT_DATA,
                          "%s: line %zu: the file names no skeleton", b->input->name, text.line);
    return CUTIS_OK;
}

// Bones
// --------------------------------------------------------------------------------------------

static cutis_transform to_transform(const builder *b, const float *translation,
                                    const float *rotation)
{
    return (cutis_transform){ { translation[0] * b->scale, translation[1] * b->scale,
                                translation[2] * b->scale },
                              cutis_cal3d_rotation(rotation),
                              { 1, 1, 1 } };
}

// Depth-first from the roots, children in the file's order. What is not reached is in a cycle.
static cutis_result place_bones(builder *b)
{
    uint32_t n = b->skeleton.count, placed = 0, depth = 0, at;
    uint32_t *first = cutis_arena_alloc(&b->arena, (size_t)n + 1, sizeof *first);
    uint32_t *next = cutis_arena_alloc(&b->arena, n, sizeof *next),
             *stack = cutis_arena_alloc(&b->arena, n, sizeof *stack);
    if (!first || !next || !stack) return cutis_alloc_result(b->context);
    memset(first, 0xFF, ((size_t)n + 1) * sizeof *first);
    for (uint32_t i = n; i-- > 0;) {
        int32_t parent = b->skeleton.bones[i].parent;
        if (parent < -1 || parent >= (int32_t)n || parent == (int32_t)i)
            return cutis_fail(b->context, CUTIS_CORRUPT_DATA, "%s: bone %u: parent %d of %u bones",
                              b->skeleton_file, i, parent, n);
        at = parent == -1 ? n : (uint32_t)parent;
        next[i] = first[at];
        first[at] = i;
    }
    for (at = first[n]; at != UINT32_MAX || depth;) {
        if (at == UINT32_MAX) {
            at = stack[--depth];
            continue;
        }
        const cal3d_bone *bone = &b->skeleton.bones[at];
        b->nodes_of_bones[at] = placed;
        cutis_node *node = &b->nodes[placed++];
        *node = cutis_node_default();
        node->name = bone->name;
        node->rest = to_transform(b, bone->translation, bone->rotation);
        if (bone->parent != -1) node->parent = (int32_t)b->nodes_of_bones[bone->parent];
        if (next[at] != UINT32_MAX) stack[depth++] = next[at];
        at = first[at];
    }
    b->node_count = placed;
    if (placed < n)
        return cutis_fail(b->context, CUTIS_CORRUPT_DATA, "%s: %u of %u bones are in a cycle",
                          b->skeleton_file, n - placed, n);
    return CUTIS_OK;
}

static cutis_result read_skeleton(builder *b, const cal3d_source_file *file)
{
    bool is_xml;
    cal3d_kind kind = cutis_cal3d_kind(file->data, file->size, &is_xml);
    if (kind != CAL3D_SKELETON)
        return cutis_fail(b->context, CUTIS_CORRUPT_DATA, "%s: byte 0: not a Cal3D skeleton",
                          file->name);
    cutis_result result = is_xml ? cutis_cal3d_xml_skeleton(file, &b->skeleton)
                                 : cutis_cal3d_skeleton(file, &b->skeleton);
    if (result != CUTIS_OK) return result;
    const cutis_limits *limits = cutis_context_limits(b->context);
    if (b->skeleton.count > limits->node_count)
        return cutis_fail(b->context, CUTIS_LIMIT_EXCEEDED, "%s: %u bones", file->name,
                          b->skeleton.count);
    b->skeleton_file = file->name;
    size_t nodes = (size_t)b->skeleton.count + b->meshes.count;
    b->nodes = cutis_arena_alloc(&b->arena, nodes, sizeof *b->nodes);
    b->nodes_of_bones = cutis_arena_alloc(&b->arena, b->skeleton.count, sizeof *b->nodes_of_bones);
    if (!b->nodes || !b->nodes_of_bones) return cutis_alloc_result(b->context);
    return place_bones(b);
}

// Meshes
// -------------------------------------------------------------------------------------------

// Influences only mean something beside a skeleton; a vertex none of them moves stands still, as in
// Cal3D.
static cutis_result make_primitive(builder *b, const cal3d_source_file *file,
                                   const cal3d_submesh *submesh, cutis_primitive *out)
{
    for (uint32_t i = 0; b->skeleton.count && i < submesh->influence_count; i++)
        if (submesh->joints[i] >= b->skeleton.count)
            return cutis_fail(b->context, CUTIS_CORRUPT_DATA, "%s: influence %u: bone %u of %u",
                              file->name, i, submesh->joints[i], b->skeleton.count);
    for (size_t i = 0; i < 3 * (size_t)submesh->vertex_count; i++)
        submesh->positions[i] *= b->scale;
    bool known = submesh->material >= 0 && (uint32_t)submesh->material < b->materials.count;
    *out = (cutis_primitive){ .topology = CUTIS_TOPOLOGY_TRIANGLES,
                              .vertex_count = submesh->vertex_count,
                              .index_count = submesh->index_count,
                              .indices = submesh->indices,
                              .positions = submesh->positions,
                              .normals = submesh->normals,
                              .texcoords = submesh->texcoords,
                              .material = known ? submesh->material : CUTIS_NONE };
    if (b->skeleton.count && submesh->influence_count)
        out->influences = (cutis_influences){ submesh->first, submesh->joints, submesh->weights };
    return CUTIS_OK;
}

static cutis_result add_mesh(builder *b, const cal3d_source_file *file)
{
    bool is_xml, skinned = false;
    cal3d_mesh mesh = { NULL, 0 };
    if (cutis_cal3d_kind(file->data, file->size, &is_xml) != CAL3D_MESH)
        return cutis_fail(b->context, CUTIS_CORRUPT_DATA, "%s: byte 0: not a Cal3D mesh",
                          file->name);
    cutis_result result =
        is_xml ? cutis_cal3d_xml_mesh(file, &mesh) : cutis_cal3d_mesh(file, &mesh);
    if (result != CUTIS_OK) return result;
    cutis_primitive *primitives = cutis_arena_alloc(&b->arena, mesh.count, sizeof *primitives);
    char *name = cutis_stem(&b->arena, file->name);
    if (!primitives || !name) return cutis_alloc_result(b->context);
    cutis_utf8_repair(name);
    uint32_t count = 0;
    for (uint32_t i = 0; i < mesh.count; i++) {
        if (mesh.submeshes[i].vertex_count == 0 || mesh.submeshes[i].index_count == 0)
            continue; // nothing to show
        result = make_primitive(b, file, &mesh.submeshes[i], &primitives[count]);
        if (result != CUTIS_OK) return result;
        skinned |= primitives[count++].influences.first != NULL;
    }
    if (count == 0) return CUTIS_OK;
    b->mesh_list[b->mesh_count] =
        (cutis_mesh){ .name = name, .primitive_count = count, .primitives = primitives };
    cutis_node *node = &b->nodes[b->node_count++];
    *node = cutis_node_default();
    node->name = name;
    node->mesh = (int32_t)b->mesh_count++;
    if (skinned) node->skin = 0;
    return CUTIS_OK;
}

static cutis_result read_meshes(builder *b)
{
    b->mesh_list = cutis_arena_alloc(&b->arena, b->meshes.count, sizeof *b->mesh_list);
    if (!b->mesh_list) return cutis_alloc_result(b->context);
    for (uint32_t i = 0; i < b->meshes.count; i++) {
        cal3d_source_file file;
        cutis_result result = open_part(b, b->meshes.names[i], &file);
        if (result == CUTIS_OK) result = add_mesh(b, &file);
        drop_part(b, &file);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

// 8-bit colours are what a screen shows, so they go through its curve.
static float to_linear(float byte)
{
    float c = byte < 0 ? 0 : byte > 255 ? 1 : byte / 255.0f;
    return c <= 0.04045f ? c / 12.92f : (float)fixed_pow(((double)c + 0.055) / 1.055, 2.4);
}

// Looks are not what a skin needs: a material that cannot be read keeps its name and is white.
static cutis_result read_materials(builder *b)
{
    b->material_list = cutis_arena_alloc(&b->arena, b->materials.count, sizeof *b->material_list);
    if (!b->material_list) return cutis_alloc_result(b->context);
    for (uint32_t i = 0; i < b->materials.count; i++) {
        float diffuse[3] = { 255, 255, 255 };
        cal3d_source_file file;
        bool is_xml;
        cutis_result result = open_part(b, b->materials.names[i], &file);
        if (result == CUTIS_OK) {
            cutis_cal3d_kind(file.data, file.size, &is_xml);
            result = is_xml ? cutis_cal3d_xml_material(&file, diffuse)
                            : cutis_cal3d_material(&file, diffuse);
        }
        if (result != CUTIS_OK)
            cutis_log(b->context, "%s: material left out: %s", b->input->name,
                      cutis_context_error(b->context));
        drop_part(b, &file);
        char *name = cutis_stem(&b->arena, b->materials.names[i]);
        if (!name) return cutis_alloc_result(b->context);
        cutis_utf8_repair(name);
        b->material_list[i] = (cutis_material){ .name = name, .roughness = 1 };
        for (int k = 0; k < 3; k++) b->material_list[i].base_color[k] = to_linear(diffuse[k]);
        b->material_list[i].base_color[3] = 1; // Cal3D's own files have 0 there
    }
    return CUTIS_OK;
}

// Clips
// --------------------------------------------------------------------------------------------

static cutis_result add_clip(builder *b, const char *relative)
{
    cal3d_source_file file;
    cal3d_animation animation = { NULL, 0 };
    cutis_clip clip;
    bool is_xml;
    cutis_result result = open_part(b, relative, &file);
    if (result == CUTIS_OK && cutis_cal3d_kind(file.data, file.size, &is_xml) != CAL3D_ANIMATION)
        result = cutis_fail(b->context, CUTIS_CORRUPT_DATA, "%s: byte 0: not a Cal3D animation",
                            file.name);
    if (result == CUTIS_OK)
        result = is_xml ? cutis_cal3d_xml_animation(&file, &animation)
                        : cutis_cal3d_animation(&file, &animation);
    if (result == CUTIS_OK)
        result = cutis_cal3d_make_clip(&file, &animation, b->scale, b->nodes_of_bones,
                                       b->skeleton.count, &clip);
    if (result == CUTIS_OK &&
        !cutis_arena_grow(&b->arena, &b->clips, &b->clip_capacity, b->clip_count + 1, sizeof clip))
        result = cutis_alloc_result(b->context);
    if (result == CUTIS_OK) b->clips[b->clip_count++] = clip;
    drop_part(b, &file);
    return result;
}

static void visit_file(void *user, const char *name)
{
    builder *b = user;
    size_t size = strlen(name);
    if (b->visit_result != CUTIS_OK || size < 4) return;
    cutis_span end = { name + size - 4, 4 }, whole = { name, size };
    if (!cutis_span_is_any_case(end, ".caf") && !cutis_span_is_any_case(end, ".xaf")) return;
    if (cutis_names_find(&b->animations, whole) != UINT32_MAX) return;
    cutis_result result = add_clip(b, name);
    if (result == CUTIS_OUT_OF_MEMORY || result == CUTIS_LIMIT_EXCEEDED)
        b->visit_result = result;
    else if (result != CUTIS_OK)
        cutis_log(b->context, "%s: clip left out: %s", b->input->name,
                  cutis_context_error(b->context));
}

static cutis_result read_clips(builder *b)
{
    for (uint32_t i = 0; i < b->animations.count; i++) {
        cutis_result result = add_clip(b, b->animations.names[i]);
        if (result != CUTIS_OK) return result;
    }
    const size_t folder = cutis_path_folder(b->input->name);
    if (folder >= sizeof b->folder_path) return CUTIS_OK;
    memcpy(b->folder_path, b->input->name, folder);
    b->folder_path[folder] = 0;
    cutis_result result =
        cutis_os_list_folder(b->context, folder ? b->folder_path : ".", visit_file, b);
    return result != CUTIS_OK ? result : b->visit_result;
}

// The model
// ----------------------------------------------------------------------------------------

static cutis_result publish(builder *b, cutis_model **out)
{
    uint32_t n = b->skeleton.count;
    cutis_mat34 *binds = cutis_arena_alloc(&b->arena, n, sizeof *binds);
    if (!binds) return cutis_alloc_result(b->context);
    for (uint32_t i = 0; i < n; i++) {
        const cal3d_bone *bone = &b->skeleton.bones[i];
        cutis_transform bind = to_transform(b, bone->bone_translation, bone->bone_rotation);
        binds[i] = cutis_mat34_from_transform(&bind);
    }
    cutis_skin skin = { .name = "skin",
                        .joint_count = n,
                        .joints = b->nodes_of_bones,
                        .inverse_binds = binds,
                        .root = CUTIS_NONE };
    cutis_model_data data = { .node_count = b->node_count,
                              .mesh_count = b->mesh_count,
                              .skin_count = n ? 1 : 0,
                              .clip_count = (uint32_t)b->clip_count,
                              .material_count = b->material_list ? b->materials.count : 0,
                              .nodes = b->nodes,
                              .meshes = b->mesh_list,
                              .skins = &skin,
                              .clips = b->clips,
                              .materials = b->material_list };
    return cutis_input_publish(b->input, &data, b->scale, out);
}

static cutis_result read_cfg_model(builder *b)
{
    if (!b->input->on_disk)
        return cutis_fail(b->context, CUTIS_UNSUPPORTED_FORMAT,
                          "%s: a Cal3D .cfg names other files, and this one is not on disk",
                          b->input->name);
    cal3d_source_file file;
    cutis_result result = parse_cfg(b);
    if (result != CUTIS_OK) return result;
    result = open_part(b, b->skeleton_file, &file);
    if (result == CUTIS_OK) result = read_skeleton(b, &file);
    drop_part(b, &file);
    if (result == CUTIS_OK) result = read_materials(b);
    if (result == CUTIS_OK) result = read_meshes(b);
    if (result == CUTIS_OK) result = read_clips(b);
    return result;
}

// A part alone: the skeleton without meshes, or the mesh without a skeleton.
static cutis_result read_part(builder *b, cal3d_kind kind)
{
    cal3d_source_file file = { b->context, &b->arena, b->input->name, b->input->data,
                               b->input->size };
    if (kind == CAL3D_SKELETON) return read_skeleton(b, &file);
    if (kind != CAL3D_MESH)
        return cutis_fail(
            b->context, CUTIS_UNSUPPORTED_FORMAT,
            "%s: a Cal3D animation or material, not a model; read the .cfg it belongs to",
            b->input->name);
    b->nodes = cutis_arena_alloc(&b->arena, 1, sizeof *b->nodes);
    b->mesh_list = cutis_arena_alloc(&b->arena, 1, sizeof *b->mesh_list);
    if (!b->nodes || !b->mesh_list) return cutis_alloc_result(b->context);
    cutis_result result = add_mesh(b, &file);
    if (result == CUTIS_OK && b->mesh_count == 0)
        result = cutis_fail(b->context, CUTIS_CORRUPT_DATA, "%s: byte 8: the mesh has no vertices",
                            b->input->name);
    return result;
}

cutis_result cutis_cal3d_read(const cutis_input *input, cutis_model **out)
{
    builder *b = cutis_alloc_zero(input->context, 1, sizeof *b);
    if (!b) return cutis_alloc_result(input->context);
    b->input = input;
    b->context = input->context;
    b->scale = input->scale;
    b->arena.context = input->context;
    b->meshes.arena = b->materials.arena = b->animations.arena = &b->arena;
    bool is_xml, is_cfg;
    cal3d_kind kind = cutis_cal3d_kind(input->data, input->size, &is_xml);
    size_t size = strlen(input->name);
    is_cfg = size >= 4 &&
             cutis_span_is_any_case((cutis_span){ input->name + size - 4, 4 }, ".cfg") && is_xml;
    cutis_result result = is_cfg || kind == CAL3D_UNKNOWN ? read_cfg_model(b) : read_part(b, kind);
    if (result == CUTIS_OK) result = publish(b, out);
    cutis_arena_release(&b->arena);
    cutis_free(b->context, b, sizeof *b);
    return result;
}
