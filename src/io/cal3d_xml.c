// Cal3D's XML files: XSF skeletons, XMF meshes, XAF animations, XRF materials, with a HEADER
// element in front or a VERSION attribute inside. Elements are taken in document order; announced
// counts are not needed and not trusted.
#include "io/cal3d.h"
#include "io/text.h"
#include "io/xml.h"

#include <string.h>

#include "base/error.h"

static cutis_result bad(const cal3d_source_file *file, const cutis_xml *xml, const char *reason)
{
    return cutis_fail(file->context, CUTIS_CORRUPT_DATA, "%s: line %zu: %s", file->name, xml->line,
                      reason);
}

// Exactly `count` numbers in a piece of text.
static bool numbers_of(cutis_span span, float *out, int count)
{
    cutis_text text = { span.data, span.data + span.size, 1 };
    for (int i = 0; i < count; i++)
        if (!cutis_parse_float(cutis_text_word(&text), &out[i])) return false;
    return cutis_text_word(&text).size == 0;
}

static bool attribute_float(const cutis_xml *xml, const char *name, float *out)
{
    cutis_span span;
    return cutis_xml_attribute(xml, name, &span) && numbers_of(span, out, 1);
}

static bool is_int(cutis_span span, int32_t *out)
{
    int64_t value;
    if (!cutis_parse_int(span, &value) || value < INT32_MIN || value > INT32_MAX) return false;
    *out = (int32_t)value;
    return true;
}

static bool attribute_int(const cutis_xml *xml, const char *name, int32_t *out)
{
    cutis_span span;
    return cutis_xml_attribute(xml, name, &span) && is_int(span, out);
}

static bool attribute_string(const cal3d_source_file *file, const cutis_xml *xml, const char *name,
                             char **out)
{
    cutis_span span = { "", 0 };
    cutis_xml_attribute(xml, name, &span);
    *out = cutis_arena_alloc(file->arena, span.size + 1, 1);
    if (!*out) return false;
    cutis_xml_decode(span, *out);
    cutis_utf8_repair(*out);
    return true;
}

// Skeleton
// -----------------------------------------------------------------------------------------

static bool bone_text(cal3d_bone *bone, cutis_span element, cutis_span value)
{
    if (cutis_span_is(element, "TRANSLATION")) return numbers_of(value, bone->translation, 3);
    if (cutis_span_is(element, "ROTATION")) return numbers_of(value, bone->rotation, 4);
    if (cutis_span_is(element, "LOCALTRANSLATION"))
        return numbers_of(value, bone->bone_translation, 3);
    if (cutis_span_is(element, "LOCALROTATION")) return numbers_of(value, bone->bone_rotation, 4);
    if (cutis_span_is(element, "PARENTID")) return is_int(value, &bone->parent);
    return true;
}

cutis_result cutis_cal3d_xml_skeleton(const cal3d_source_file *file, cal3d_skeleton *out)
{
    cutis_xml xml = cutis_xml_begin(file->data, file->size);
    cal3d_bone *bones = NULL;
    size_t count = 0, capacity = 0;
    cutis_result result = CUTIS_OK;
    cutis_xml_event event = CUTIS_XML_START;
    while (result == CUTIS_OK && (event = cutis_xml_next(&xml)) != CUTIS_XML_END_OF_FILE) {
        if (event == CUTIS_XML_ERROR) {
            result = bad(file, &xml, xml.error);
        } else if (event == CUTIS_XML_START && cutis_span_is(xml.name, "BONE")) {
            cal3d_bone bone = { .parent = -1,
                                .rotation = { 0, 0, 0, 1 },
                                .bone_rotation = { 0, 0, 0, 1 } };
            if (!attribute_string(file, &xml, "NAME", &bone.name) ||
                !cutis_arena_grow(file->arena, &bones, &capacity, count + 1, sizeof bone))
                result = cutis_alloc_result(file->context);
            else
                bones[count++] = bone;
        } else if (event == CUTIS_XML_TEXT && count &&
                   !bone_text(&bones[count - 1], xml.open[xml.depth - 1], xml.value)) {
            result = bad(file, &xml, "a bone has an element that is not the numbers it should be");
        }
    }
    if (result == CUTIS_OK && count == 0) result = bad(file, &xml, "the skeleton has no bones");
    if (result == CUTIS_OK && count > INT32_MAX) result = bad(file, &xml, "too many bones");
    *out = (cal3d_skeleton){ bones, (uint32_t)count };
    return result;
}

// Mesh
// ---------------------------------------------------------------------------------------------

typedef struct mesh_reader {
    const cal3d_source_file *file;
    cutis_xml xml;
    cal3d_draft draft;
    cal3d_submesh *submeshes;
    size_t count, capacity;
    int32_t material, bone;
    bool in_submesh, has_texcoords, texcoord_seen;
} mesh_reader;

static const float ZEROS[3] = { 0, 0, 0 };

static cutis_result mesh_start(mesh_reader *r)
{
    cutis_span name = r->xml.name, value = { "", 0 };
    if (cutis_span_is(name, "SUBMESH")) {
        if (r->in_submesh) return bad(r->file, &r->xml, "a submesh inside a submesh");
        r->in_submesh = true;
        r->has_texcoords = false;
        r->material = -1;
        attribute_int(&r->xml, "MATERIAL", &r->material);
        return CUTIS_OK;
    }
    if (!r->in_submesh) return CUTIS_OK;
    if (cutis_span_is(name, "VERTEX")) {
        r->texcoord_seen = false;
        return cutis_cal3d_add_vertex(&r->draft, ZEROS, ZEROS, ZEROS)
                   ? CUTIS_OK
                   : cutis_alloc_result(r->file->context);
    }
    if (cutis_span_is(name, "INFLUENCE") &&
        (!attribute_int(&r->xml, "ID", &r->bone) || r->bone < 0))
        return bad(r->file, &r->xml, "an influence without the ID of a bone");
    if (!cutis_span_is(name, "FACE")) return CUTIS_OK;
    bool right = cutis_xml_attribute(&r->xml, "VERTEXID", &value);
    cutis_text text = { value.data, value.data + value.size, 1 };
    uint32_t face[3];
    for (int k = 0; k < 3 && right; k++) {
        int32_t index = -1;
        right = is_int(cutis_text_word(&text), &index) && index >= 0;
        face[k] = (uint32_t)index;
    }
    if (!right || cutis_text_word(&text).size)
        return bad(r->file, &r->xml, "a face without three vertices");
    return cutis_cal3d_add_face(&r->draft, face) ? CUTIS_OK : cutis_alloc_result(r->file->context);
}

static cutis_result mesh_text(mesh_reader *r)
{
    cutis_span element = r->xml.open[r->xml.depth - 1], value = r->xml.value;
    size_t v = r->draft.vertex_count;
    float weight;
    bool right = true;
    if (!r->in_submesh || v == 0) return CUTIS_OK;
    v--;
    if (cutis_span_is(element, "POS")) {
        right = numbers_of(value, r->draft.positions + 3 * v, 3);
    } else if (cutis_span_is(element, "NORM")) {
        right = numbers_of(value, r->draft.normals + 3 * v, 3);
    } else if (cutis_span_is(element, "TEXCOORD") && !r->texcoord_seen) {
        r->has_texcoords = r->texcoord_seen = true;
        right = numbers_of(value, r->draft.texcoords + 2 * v, 2);
    } else if (cutis_span_is(element, "INFLUENCE")) {
        right = numbers_of(value, &weight, 1);
        if (right && !cutis_cal3d_add_influence(&r->draft, (uint32_t)r->bone, weight))
            return cutis_alloc_result(r->file->context);
    }
    return right ? CUTIS_OK
                 : bad(r->file, &r->xml,
                       "a vertex has an element that is not the numbers it should be");
}

static cutis_result mesh_end(mesh_reader *r)
{
    if (!cutis_span_is(r->xml.name, "SUBMESH")) return CUTIS_OK;
    r->in_submesh = false;
    if (!cutis_arena_grow(r->file->arena, &r->submeshes, &r->capacity, r->count + 1,
                          sizeof *r->submeshes))
        return cutis_alloc_result(r->file->context);
    cutis_result result = cutis_cal3d_finish(&r->draft, r->file, r->material, r->has_texcoords,
                                             &r->submeshes[r->count++]);
    r->draft = (cal3d_draft){ .arena = r->file->arena };
    return result;
}

cutis_result cutis_cal3d_xml_mesh(const cal3d_source_file *file, cal3d_mesh *out)
{
    mesh_reader r = { .file = file, .xml = cutis_xml_begin(file->data, file->size) };
    r.draft.arena = file->arena;
    cutis_result result = CUTIS_OK;
    cutis_xml_event event = CUTIS_XML_START;
    while (result == CUTIS_OK && (event = cutis_xml_next(&r.xml)) != CUTIS_XML_END_OF_FILE) {
        if (event == CUTIS_XML_ERROR) result = bad(file, &r.xml, r.xml.error);
        if (event == CUTIS_XML_START) result = mesh_start(&r);
        if (event == CUTIS_XML_TEXT) result = mesh_text(&r);
        if (event == CUTIS_XML_END) result = mesh_end(&r);
    }
    *out = (cal3d_mesh){ r.submeshes, (uint32_t)r.count };
    return result;
}

// Animation
// ----------------------------------------------------------------------------------------

typedef struct animation_reader {
    const cal3d_source_file *file;
    cutis_xml xml;
    cal3d_track *tracks;
    size_t count, capacity;
    float *keys; // time, translation, rotation of the open track
    size_t key_count, key_capacity;
    bool in_track;
} animation_reader;

static cutis_result animation_start(animation_reader *r)
{
    int32_t bone;
    if (cutis_span_is(r->xml.name, "TRACK")) {
        if (r->in_track) return bad(r->file, &r->xml, "a track inside a track");
        if (!attribute_int(&r->xml, "BONEID", &bone) || bone < 0)
            return bad(r->file, &r->xml, "a track without BONEID");
        if (!cutis_arena_grow(r->file->arena, &r->tracks, &r->capacity, r->count + 1,
                              sizeof *r->tracks))
            return cutis_alloc_result(r->file->context);
        r->tracks[r->count++] = (cal3d_track){ .bone = (uint32_t)bone };
        r->key_count = 0;
        r->in_track = true;
    } else if (cutis_span_is(r->xml.name, "KEYFRAME")) {
        float key[8] = { 0, 0, 0, 0, 0, 0, 0, 1 };
        if (!r->in_track || !attribute_float(&r->xml, "TIME", &key[0]))
            return bad(r->file, &r->xml, "a key without a track or a TIME");
        if (!cutis_arena_grow(r->file->arena, &r->keys, &r->key_capacity, r->key_count + 1,
                              sizeof key))
            return cutis_alloc_result(r->file->context);
        memcpy(r->keys + 8 * r->key_count++, key, sizeof key);
    }
    return CUTIS_OK;
}

static cutis_result animation_text(animation_reader *r)
{
    cutis_span element = r->xml.open[r->xml.depth - 1];
    if (!r->in_track || r->key_count == 0) return CUTIS_OK;
    float *key = r->keys + 8 * (r->key_count - 1);
    bool right = true;
    if (cutis_span_is(element, "TRANSLATION")) right = numbers_of(r->xml.value, key + 1, 3);
    if (cutis_span_is(element, "ROTATION")) right = numbers_of(r->xml.value, key + 4, 4);
    return right
               ? CUTIS_OK
               : bad(r->file, &r->xml, "a key has an element that is not the numbers it should be");
}

static cutis_result animation_end(animation_reader *r)
{
    if (!r->in_track || !cutis_span_is(r->xml.name, "TRACK")) return CUTIS_OK;
    r->in_track = false;
    if (r->key_count > INT32_MAX) return bad(r->file, &r->xml, "too many keys");
    return cutis_cal3d_set_keys(&r->tracks[r->count - 1], r->file->arena, r->keys, r->key_count)
               ? CUTIS_OK
               : cutis_alloc_result(r->file->context);
}

cutis_result cutis_cal3d_xml_animation(const cal3d_source_file *file, cal3d_animation *out)
{
    animation_reader r = { .file = file, .xml = cutis_xml_begin(file->data, file->size) };
    cutis_result result = CUTIS_OK;
    cutis_xml_event event = CUTIS_XML_START;
    while (result == CUTIS_OK && (event = cutis_xml_next(&r.xml)) != CUTIS_XML_END_OF_FILE) {
        if (event == CUTIS_XML_ERROR) result = bad(file, &r.xml, r.xml.error);
        if (event == CUTIS_XML_START) result = animation_start(&r);
        if (event == CUTIS_XML_TEXT) result = animation_text(&r);
        if (event == CUTIS_XML_END) result = animation_end(&r);
    }
    *out = (cal3d_animation){ r.tracks, (uint32_t)r.count };
    return result;
}

// Material
// -----------------------------------------------------------------------------------------

cutis_result cutis_cal3d_xml_material(const cal3d_source_file *file, float diffuse[3])
{
    cutis_xml xml = cutis_xml_begin(file->data, file->size);
    cutis_xml_event event;
    while ((event = cutis_xml_next(&xml)) != CUTIS_XML_END_OF_FILE) {
        float color[4];
        if (event == CUTIS_XML_ERROR) return bad(file, &xml, xml.error);
        if (event != CUTIS_XML_TEXT || !cutis_span_is(xml.open[xml.depth - 1], "DIFFUSE")) continue;
        if (!numbers_of(xml.value, color, 4)) return bad(file, &xml, "DIFFUSE is not four numbers");
        memcpy(diffuse, color, 3 * sizeof *diffuse);
    }
    return CUTIS_OK;
}
