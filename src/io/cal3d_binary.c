// Cal3D's binary files: CSF skeletons, CMF meshes, CAF animations, CRF materials; versions 699 to
// 910 and 1000 to 1300, which share one layout. Numbers are little-endian. Invariant: a count is
// trusted only as far as bytes follow for it.
#include "io/cal3d.h"
#include "io/bytes.h"
#include "io/text.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

enum {
    VERSION_MIN = 699,
    VERSION_PLAIN_MAX = 910,
    VERSION_AGAIN_MIN = 1000,
    VERSION_MAX = 1300,
    VERSION_FLAGS = 1200
};

typedef struct cursor {
    const cal3d_source_file *file;
    const unsigned char *at, *end;
    bool failed; // something was cut off; reads give 0 from then on
} cursor;

static cutis_result fail_at(const cursor *c, cutis_result result, const char *reason)
{
    return cutis_fail(c->file->context, result, "%s: byte %zu: %s", c->file->name,
                      (size_t)((const char *)c->at - c->file->data), reason);
}

static cutis_result cut_off(const cursor *c)
{
    return fail_at(c, CUTIS_CORRUPT_DATA, "the data ends too early");
}

static uint32_t take_u32(cursor *c)
{
    if (c->end - c->at < 4) {
        c->failed = true;
        return 0;
    }
    uint32_t value = cutis_load_u32(c->at);
    c->at += 4;
    return value;
}

static void take_floats(cursor *c, float *out, int count)
{
    for (int i = 0; i < count; i++) {
        uint32_t bits = take_u32(c);
        memcpy(&out[i], &bits, 4);
    }
}

// Whether `count` items of at least `least` bytes can follow.
static bool fits(const cursor *c, uint32_t count, size_t least)
{
    return !c->failed && count <= INT32_MAX && count <= (size_t)(c->end - c->at) / least;
}

static cutis_result begin(const cal3d_source_file *file, const char *magic, cursor *c,
                          uint32_t *version)
{
    *c = (cursor){ file, (const unsigned char *)file->data,
                   (const unsigned char *)file->data + file->size, false };
    if (file->size < 8 || memcmp(file->data, magic, 4) != 0) {
        char reason[40] = "not a Cal3D file of kind ";
        return fail_at(c, CUTIS_CORRUPT_DATA, strncat(reason, magic, 4));
    }
    c->at += 4;
    *version = take_u32(c);
    if (*version < VERSION_MIN || *version > VERSION_MAX ||
        (*version > VERSION_PLAIN_MAX && *version < VERSION_AGAIN_MIN))
        return cutis_fail(
            file->context, CUTIS_UNSUPPORTED_FORMAT,
            "%s: byte 4: Cal3D file version %u (699 to 910 and 1000 to 1300 are read)", file->name,
            *version);
    return CUTIS_OK;
}

// A length that counts the terminator, then the bytes.
static cutis_result take_string(cursor *c, char **out)
{
    uint32_t length = take_u32(c);
    if (!fits(c, length, 1)) return cut_off(c);
    char *copy = cutis_arena_alloc(c->file->arena, (size_t)length + 1, 1);
    if (!copy) return cutis_alloc_result(c->file->context);
    memcpy(copy, c->at, length);
    copy[length] = 0;
    c->at += length;
    cutis_utf8_repair(copy);
    *out = copy;
    return CUTIS_OK;
}

static cutis_result take_bone(cursor *c, cal3d_bone *bone)
{
    cutis_result result = take_string(c, &bone->name);
    if (result != CUTIS_OK) return result;
    take_floats(c, bone->translation, 3);
    take_floats(c, bone->rotation, 4);
    take_floats(c, bone->bone_translation, 3);
    take_floats(c, bone->bone_rotation, 4);
    bone->parent = (int32_t)take_u32(c);
    uint32_t children = take_u32(c);
    if (!fits(c, children, 4)) return cut_off(c);
    c->at += 4 * (size_t)children; // the parents say it already
    return CUTIS_OK;
}

cutis_result cutis_cal3d_skeleton(const cal3d_source_file *file, cal3d_skeleton *out)
{
    cursor c;
    uint32_t version;
    cutis_result result = begin(file, "CSF", &c, &version);
    if (result != CUTIS_OK) return result;
    out->count = take_u32(&c);
    if (out->count == 0 || !fits(&c, out->count, 68))
        return fail_at(&c, CUTIS_CORRUPT_DATA, "no such number of bones");
    out->bones = cutis_arena_alloc(file->arena, out->count, sizeof *out->bones);
    if (!out->bones) return cutis_alloc_result(file->context);
    for (uint32_t i = 0; i < out->count && result == CUTIS_OK; i++)
        result = take_bone(&c, &out->bones[i]);
    return result;
}

typedef struct submesh_head {
    uint32_t vertices, faces, springs, maps;
} submesh_head;

static cutis_result take_vertex(cursor *c, const submesh_head *head, cal3d_draft *draft)
{
    float position[3], normal[3], texcoord[2] = { 0, 0 }, ignored[2];
    take_floats(c, position, 3);
    take_floats(c, normal, 3);
    take_u32(c); // level of detail: the vertex this one collapses to
    take_u32(c); // and how many faces that takes away
    for (uint32_t m = 0; m < head->maps && !c->failed; m++)
        take_floats(c, m == 0 ? texcoord : ignored, 2);
    uint32_t influences = take_u32(c);
    if (!fits(c, influences, 8)) return cut_off(c);
    if (!cutis_cal3d_add_vertex(draft, position, normal, texcoord))
        return cutis_alloc_result(c->file->context);
    for (uint32_t i = 0; i < influences; i++) {
        float weight;
        uint32_t bone = take_u32(c);
        take_floats(c, &weight, 1);
        if (!cutis_cal3d_add_influence(draft, bone, weight))
            return cutis_alloc_result(c->file->context);
    }
    if (head->springs) take_floats(c, ignored, 1);
    return c->failed ? cut_off(c) : CUTIS_OK;
}

static cutis_result take_submesh(cursor *c, cal3d_draft *draft, cal3d_submesh *out)
{
    submesh_head head;
    cutis_result result = CUTIS_OK;
    int32_t material = (int32_t)take_u32(c);
    head.vertices = take_u32(c);
    head.faces = take_u32(c);
    take_u32(c); // levels of detail
    head.springs = take_u32(c);
    head.maps = take_u32(c);
    if (!fits(c, head.vertices, 36) || !fits(c, head.faces, 12) || !fits(c, head.springs, 16) ||
        !fits(c, head.maps, 1))
        return fail_at(c, CUTIS_CORRUPT_DATA,
                       "a submesh has more vertices, faces or springs than bytes follow");
    for (uint32_t v = 0; v < head.vertices && result == CUTIS_OK; v++)
        result = take_vertex(c, &head, draft);
    if (result != CUTIS_OK) return result;
    if (!fits(c, head.springs, 16)) return cut_off(c);
    c->at += 16 * (size_t)head.springs;
    if (!fits(c, head.faces, 12)) return cut_off(c);
    for (uint32_t f = 0; f < head.faces; f++) {
        uint32_t corners[3] = { take_u32(c), take_u32(c), take_u32(c) };
        if (!cutis_cal3d_add_face(draft, corners)) return cutis_alloc_result(c->file->context);
    }
    return cutis_cal3d_finish(draft, c->file, material, head.maps > 0, out);
}

cutis_result cutis_cal3d_mesh(const cal3d_source_file *file, cal3d_mesh *out)
{
    cursor c;
    uint32_t version;
    cutis_result result = begin(file, "CMF", &c, &version);
    if (result != CUTIS_OK) return result;
    out->count = take_u32(&c);
    if (!fits(&c, out->count, 24))
        return fail_at(&c, CUTIS_CORRUPT_DATA, "no such number of submeshes");
    out->submeshes = cutis_arena_alloc(file->arena, out->count, sizeof *out->submeshes);
    if (!out->submeshes) return cutis_alloc_result(file->context);
    for (uint32_t i = 0; i < out->count && result == CUTIS_OK; i++)
        result = take_submesh(&c, &(cal3d_draft){ .arena = file->arena }, &out->submeshes[i]);
    return result;
}

static cutis_result take_track(cursor *c, cal3d_track *track)
{
    track->bone = take_u32(c);
    uint32_t count = take_u32(c);
    if (!fits(c, count, 32))
        return fail_at(c, CUTIS_CORRUPT_DATA, "a track has more keys than bytes follow");
    cutis_arena *arena = c->file->arena;
    float *keys = cutis_arena_alloc(arena, count, 8 * sizeof *keys);
    for (size_t k = 0; keys && k < count; k++) take_floats(c, keys + 8 * k, 8);
    return keys && cutis_cal3d_set_keys(track, arena, keys, count)
               ? CUTIS_OK
               : cutis_alloc_result(c->file->context);
}

cutis_result cutis_cal3d_animation(const cal3d_source_file *file, cal3d_animation *out)
{
    cursor c;
    uint32_t version;
    float duration;
    cutis_result result = begin(file, "CAF", &c, &version);
    if (result != CUTIS_OK) return result;
    take_floats(&c, &duration, 1);
    out->count = take_u32(&c);
    uint32_t flags = version >= VERSION_FLAGS ? take_u32(&c) : 0;
    if (flags & 1)
        return fail_at(&c, CUTIS_UNSUPPORTED_FORMAT, "compressed Cal3D animations are not read");
    if (!fits(&c, out->count, 8))
        return fail_at(&c, CUTIS_CORRUPT_DATA, "no such number of tracks");
    out->tracks = cutis_arena_alloc(file->arena, out->count, sizeof *out->tracks);
    if (!out->tracks) return cutis_alloc_result(file->context);
    for (uint32_t i = 0; i < out->count && result == CUTIS_OK; i++)
        result = take_track(&c, &out->tracks[i]);
    return result;
}

cutis_result cutis_cal3d_material(const cal3d_source_file *file, float diffuse[3])
{
    cursor c;
    uint32_t version;
    cutis_result result = begin(file, "CRF", &c, &version);
    if (result != CUTIS_OK) return result;
    if (c.end - c.at < 12) return cut_off(&c);
    for (int k = 0; k < 3; k++) diffuse[k] = (float)c.at[4 + k];
    return CUTIS_OK;
}
