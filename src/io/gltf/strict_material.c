/// What the Khronos validator asks of materials and of primitives that wear them: coordinates for
/// their textures, a tangent space, variants that are named once; and what it remarks on. Runs on a
/// document that has passed the schema of core glTF and of the extensions it knows. Invariant: each
/// material is looked at once, however many primitives wear it.
#include "io/gltf/parts.h"

#include <stdio.h>
#include <string.h>

#define REMARK(severity, ...) cutis_gltf_remark(document, CUTIS_ISSUE_##severity, __VA_ARGS__)

/// What a material asks of a primitive.
typedef struct demands {
    int64_t sets;       ///< texture coordinates: the highest set plus 1
    bool tangents;      ///< something is seen in tangent space
    bool normal_mapped; ///< so that a reader can make the tangents
} demands;

static void add_texture(const json_t *info, demands *out)
{
    const json_t *transform = cutis_gltf_extension(info, "KHR_texture_transform");
    const int64_t own = cutis_gltf_integer(info, "texCoord", 0);
    const int64_t other = cutis_gltf_integer(transform, "texCoord", own);
    if (own + 1 > out->sets) out->sets = own + 1;
    if (other + 1 > out->sets) out->sets = other + 1;
}

/// All members "...Texture" of a material, its metallic part, or one of its extensions.
static void add_textures(const json_t *owner, demands *out)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)owner, key, value)
    {
        size_t length = strlen(key);
        if (length >= 7 && strcmp(key + length - 7, "Texture") == 0) add_texture(value, out);
    }
}

static demands find_demands(const json_t *material)
{
    demands out = { .normal_mapped = json_object_get(material, "normalTexture") != NULL };
    const char *name;
    json_t *value;
    const json_t *coat = cutis_gltf_extension(material, "KHR_materials_clearcoat");
    const json_t *anisotropy = cutis_gltf_extension(material, "KHR_materials_anisotropy");
    out.tangents = out.normal_mapped || json_object_get(coat, "clearcoatNormalTexture") ||
                   json_object_get(anisotropy, "anisotropyTexture");
    add_textures(material, &out);
    add_textures(json_object_get(material, "pbrMetallicRoughness"), &out);
    json_object_foreach(json_object_get(material, "extensions"), name, value)
    {
        if (cutis_gltf_extension_checked(name)) add_textures(value, &out);
    }
    return out;
}

static cutis_result check_sets(const gltf_document *document, const char *place,
                               const json_t *primitive, int32_t material, const demands *d)
{
    char name[40];
    snprintf(name, sizeof name, "TEXCOORD_%lld", (long long)d->sets - 1);
    if (d->sets == 0 || json_object_get(json_object_get(primitive, "attributes"), name))
        return CUTIS_OK;
    return WRONG("MESH_PRIMITIVE_TOO_FEW_TEXCOORDS", "%s/material: material %d needs %s", place,
                 material, name);
}

static cutis_result check_worn(const gltf_document *document, const char *place,
                               const json_t *primitive, const demands *all)
{
    const json_t *attributes = json_object_get(primitive, "attributes");
    const bool normals = json_object_get(attributes, "NORMAL") != NULL;
    const bool tangents = json_object_get(attributes, "TANGENT") != NULL;
    const int32_t material = cutis_gltf_index(primitive, "material");
    const demands *d = material == CUTIS_NONE ? NULL : &all[material];
    if (tangents && !normals)
        REMARK(WARNING, "MESH_PRIMITIVE_TANGENT_WITHOUT_NORMAL", "%s: tangents without normals",
               place);
    if (tangents && (!d || !d->tangents))
        REMARK(INFORMATION, "UNUSED_MESH_TANGENT",
               "%s/attributes/TANGENT: the material has no normal texture", place);
    if (!d) return CUTIS_OK;
    if (d->tangents && !(normals && tangents)) {
        if (!d->normal_mapped)
            return WRONG("MESH_PRIMITIVE_NO_TANGENT_SPACE",
                         "%s/material: needs tangents, and has no normal texture to make them of",
                         place);
        REMARK(WARNING, "MESH_PRIMITIVE_GENERATED_TANGENT_SPACE",
               "%s/material: needs tangents, which readers make each in their own way", place);
    }
    return check_sets(document, place, primitive, material, d);
}

/// `stamps`: per variant, the number of the primitive that named it last.
static cutis_result check_variants(gltf_document *document, const char *place,
                                   const json_t *primitive, const demands *all, uint32_t *stamps,
                                   uint32_t stamp)
{
    const json_t *list =
        json_object_get(cutis_gltf_extension(primitive, "KHR_materials_variants"), "mappings");
    cutis_result result = CUTIS_OK;
    for (size_t m = 0; m < json_array_size(list) && result == CUTIS_OK; m++) {
        const json_t *mapping = json_array_get(list, m);
        const json_t *variants = json_object_get(mapping, "variants");
        const int32_t material = cutis_gltf_index(mapping, "material");
        char inner[200];
        snprintf(inner, sizeof inner, "%s/extensions/KHR_materials_variants/mappings/%zu", place,
                 m);
        for (size_t v = 0; v < json_array_size(variants) && result == CUTIS_OK; v++) {
            uint32_t *seen = &stamps[cutis_gltf_entry(variants, v)];
            if (*seen == stamp)
                result = WRONG("KHR_MATERIALS_VARIANTS_NON_UNIQUE_VARIANT",
                               "%s/variants/%zu: an earlier mapping has this variant", inner, v);
            *seen = stamp;
        }
        if (result == CUTIS_OK)
            result = check_sets(document, inner, primitive, material, &all[material]);
        cutis_gltf_go_on(document, &result);
    }
    return result;
}

static cutis_result check_primitives(gltf_document *document, const demands *all, uint32_t *stamps)
{
    const json_t *meshes = json_object_get(document->root, "meshes");
    cutis_result result = CUTIS_OK;
    uint32_t stamp = 0;
    for (size_t m = 0; m < json_array_size(meshes) && result == CUTIS_OK; m++) {
        const json_t *list = json_object_get(json_array_get(meshes, m), "primitives");
        for (size_t p = 0; p < json_array_size(list) && result == CUTIS_OK; p++) {
            const json_t *primitive = json_array_get(list, p);
            char place[96];
            snprintf(place, sizeof place, "/meshes/%zu/primitives/%zu", m, p);
            result = check_worn(document, place, primitive, all);
            if (cutis_gltf_go_on(document, &result))
                result = check_variants(document, place, primitive, all, stamps, ++stamp);
        }
    }
    return result;
}

/// Two textures of a material that should be laid out alike.
static void remark_sets(const gltf_document *document, uint32_t index, const char *extension,
                        const char *key, const char *code)
{
    const json_t *material = cutis_gltf_item(document, "materials", index);
    const json_t *normal = json_object_get(material, "normalTexture");
    const json_t *other = json_object_get(cutis_gltf_extension(material, extension), key);
    if (normal && other &&
        cutis_gltf_integer(normal, "texCoord", 0) != cutis_gltf_integer(other, "texCoord", 0))
        REMARK(WARNING, code,
               "/materials/%u/extensions/%s/%s: other coordinates than normalTexture", index,
               extension, key);
}

static bool is_black(const json_t *color)
{
    for (size_t i = 0; i < json_array_size(color); i++)
        if (json_number_value(json_array_get(color, i)) != 0) return false;
    return true;
}

/// Whether light gets through: by an extension for it, or perhaps by one that is not known.
static bool transmits(const json_t *material)
{
    const json_t *extensions = json_object_get(material, "extensions");
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)extensions, name, value)
    {
        if (strstr(name, "transmission") || !cutis_gltf_extension_checked(name)) return true;
    }
    return false;
}

static void remark_film(const gltf_document *document, uint32_t index, const json_t *film)
{
    const bool textured = json_object_get(film, "iridescenceThicknessTexture") != NULL;
    if (textured && cutis_gltf_number(film, "iridescenceThicknessMinimum", 100) ==
                        cutis_gltf_number(film, "iridescenceThicknessMaximum", 400))
        REMARK(INFORMATION, "KHR_MATERIALS_IRIDESCENCE_THICKNESS_TEXTURE_UNUSED",
               "/materials/%u/extensions/KHR_materials_iridescence/iridescenceThicknessTexture: "
               "minimum and maximum are the same",
               index);
    if (film && !textured && json_object_get(film, "iridescenceThicknessMinimum"))
        REMARK(INFORMATION, "KHR_MATERIALS_IRIDESCENCE_THICKNESS_RANGE_WITHOUT_TEXTURE",
               "/materials/%u/extensions/KHR_materials_iridescence/iridescenceThicknessMinimum: "
               "there is no thickness texture",
               index);
}

static void remark_material(const gltf_document *document, uint32_t index)
{
    static const char *const ALONE[] = { "KHR_materials_unlit",
                                         "KHR_materials_pbrSpecularGlossiness" };
    const json_t *json = cutis_gltf_item(document, "materials", index);
    const json_t *volume = cutis_gltf_extension(json, "KHR_materials_volume");
    const json_t *strength = cutis_gltf_extension(json, "KHR_materials_emissive_strength");
    const char *mode = cutis_gltf_string(json, "alphaMode");
    if (json_object_get(json, "alphaCutoff") && (!mode || strcmp(mode, "MASK") != 0))
        REMARK(WARNING, "MATERIAL_ALPHA_CUTOFF_INVALID_MODE",
               "/materials/%u/alphaCutoff: only for alphaMode MASK", index);
    for (size_t i = 0; i < 2; i++)
        if (cutis_gltf_extension(json, ALONE[i]) &&
            json_object_size(json_object_get(json, "extensions")) > 1)
            REMARK(WARNING, "MULTIPLE_EXTENSIONS",
                   "/materials/%u/extensions/%s: may not go with the others here", index, ALONE[i]);
    if (cutis_gltf_extension(json, "KHR_materials_dispersion") && !volume)
        REMARK(WARNING, "KHR_MATERIALS_DISPERSION_NO_VOLUME",
               "/materials/%u/extensions/KHR_materials_dispersion: needs KHR_materials_volume",
               index);
    if (strength && cutis_gltf_number(strength, "emissiveStrength", 1) != 1 &&
        is_black(json_object_get(json, "emissiveFactor")))
        REMARK(WARNING, "KHR_MATERIALS_EMISSIVE_STRENGTH_ZERO_FACTOR",
               "/materials/%u/extensions/KHR_materials_emissive_strength: emissiveFactor is 0",
               index);
    if (volume && !transmits(json))
        REMARK(WARNING, "KHR_MATERIALS_VOLUME_NO_TRANSMISSION",
               "/materials/%u/extensions/KHR_materials_volume: no light gets through", index);
    if (cutis_gltf_number(volume, "thicknessFactor", 0) > 0 &&
        json_is_true(json_object_get(json, "doubleSided")))
        REMARK(WARNING, "KHR_MATERIALS_VOLUME_DOUBLE_SIDED",
               "/materials/%u/extensions/KHR_materials_volume: of a double-sided material", index);
    remark_film(document, index, cutis_gltf_extension(json, "KHR_materials_iridescence"));
    remark_sets(document, index, "KHR_materials_anisotropy", "anisotropyTexture",
                "KHR_MATERIALS_ANISOTROPY_ANISOTROPY_TEXTURE_TEXCOORD");
    remark_sets(document, index, "KHR_materials_clearcoat", "clearcoatNormalTexture",
                "KHR_MATERIALS_CLEARCOAT_CLEARCOAT_NORMAL_TEXTURE_TEXCOORD");
}

cutis_result cutis_gltf_check_strict_materials(gltf_document *document)
{
    cutis_context *context = document->context;
    const json_t *materials = json_object_get(document->root, "materials");
    const json_t *known = cutis_gltf_extension(document->root, "KHR_materials_variants");
    const size_t count = json_array_size(materials);
    const size_t variants = json_array_size(json_object_get(known, "variants"));
    demands *all = cutis_alloc_zero(context, count, sizeof *all);
    uint32_t *stamps = cutis_alloc_zero(context, variants, sizeof *stamps);
    cutis_result result = all && stamps ? CUTIS_OK : cutis_alloc_result(context);
    for (uint32_t i = 0; i < count && result == CUTIS_OK; i++) {
        all[i] = find_demands(json_array_get(materials, i));
        if (document->report) remark_material(document, i);
    }
    if (result == CUTIS_OK) result = check_primitives(document, all, stamps);
    cutis_free_array(context, all, count, sizeof *all);
    cutis_free_array(context, stamps, variants, sizeof *stamps);
    return result;
}
