/// The schema of extensions, as far as the Khronos validator has it, and of some that it does not
/// know: where each may stand, and what stands inside. Rules between properties are in
/// strict_extensions.c. Invariant: an extension without a row may stand anywhere and is not looked
/// into.
#include "io/gltf/schema.h"

#include <string.h>

#define FACTOR(name)  NUMBER_IN(name, 0, 1)
#define AMOUNT(name)  NUMBER_IN(name, 0, INFINITY)
#define COLOR(name)   name, NUMBERS, false, NULL, 3, 0, 1
#define TEXTURE(name) PART(name, "texture_info")
#define SWITCH(name)  name, BOOLEAN, false, NULL, 0, 0, 0
// The greatest double below a right angle: the inner cone is narrower than that, the outer not
// wider.
#define RIGHT_ANGLE 1.5707963267948966
#define BELOW_RIGHT 1.5707963267948963

static const type TYPES[] = {
    TYPE("lights", { LIST_REQUIRED("lights", "light") }),
    TYPE("light", { COLOR("color") }, { AMOUNT("intensity") },
         { "type", STRING, true, "directional point spot", 0, 0, 0 },
         { "spot", CHOSEN, false, "light_spot", 0, 0, 0 },
         { "range", NUMBER, false, NULL, 0, POSITIVE }, { TEXT("name") }),
    TYPE("light_spot", { NUMBER_IN("innerConeAngle", 0, BELOW_RIGHT) },
         { NUMBER_IN("outerConeAngle", 5e-324, RIGHT_ANGLE) }),
    TYPE("light_node", { REF_REQUIRED("light", "@KHR_lights_punctual/lights") }),
    TYPE("variants", { LIST_REQUIRED("variants", "variant") }),
    TYPE("variant", { "name", STRING, true, NULL, 0, 0, 0 }),
    TYPE("variant_mappings", { LIST_REQUIRED("mappings", "variant_mapping") }),
    TYPE("variant_mapping",
         { "variants", INDICES, true, "@KHR_materials_variants/variants", 0, 0, 0 },
         { REF_REQUIRED("material", "materials") }, { TEXT("name") }),
    TYPE("animation_pointer", { "pointer", POINTER, true, NULL, 0, 0, 0 }),
    TYPE("texture_source", { REF("source", "images") }),
    TYPE("texture_transform", { "offset", NUMBERS, false, NULL, 2, ANY },
         { NUMBER_IN("rotation", -INFINITY, INFINITY) }, { "scale", NUMBERS, false, NULL, 2, ANY },
         { "texCoord", INTEGER, false, COUNT(0) }),
    TYPE("anisotropy", { FACTOR("anisotropyStrength") },
         { NUMBER_IN("anisotropyRotation", -INFINITY, INFINITY) },
         { TEXTURE("anisotropyTexture") }),
    TYPE("clearcoat", { FACTOR("clearcoatFactor") }, { TEXTURE("clearcoatTexture") },
         { FACTOR("clearcoatRoughnessFactor") }, { TEXTURE("clearcoatRoughnessTexture") },
         { PART("clearcoatNormalTexture", "normal_texture") }),
    TYPE("diffuse_transmission", { FACTOR("diffuseTransmissionFactor") },
         { TEXTURE("diffuseTransmissionTexture") },
         { "diffuseTransmissionColorFactor", NUMBERS, false, NULL, 3, 0, INFINITY },
         { TEXTURE("diffuseTransmissionColorTexture") }),
    TYPE("dispersion", { AMOUNT("dispersion") }),
    TYPE("emissive_strength", { AMOUNT("emissiveStrength") }),
    TYPE("ior", { "ior", NUMBER_OR_0, false, NULL, 0, 1, INFINITY }),
    TYPE("iridescence", { FACTOR("iridescenceFactor") }, { TEXTURE("iridescenceTexture") },
         { NUMBER_IN("iridescenceIor", 1, INFINITY) }, { AMOUNT("iridescenceThicknessMinimum") },
         { AMOUNT("iridescenceThicknessMaximum") }, { TEXTURE("iridescenceThicknessTexture") }),
    TYPE("specular_glossiness", { "diffuseFactor", NUMBERS, false, NULL, 4, 0, 1 },
         { TEXTURE("diffuseTexture") }, { COLOR("specularFactor") }, { FACTOR("glossinessFactor") },
         { TEXTURE("specularGlossinessTexture") }),
    TYPE("sheen", { COLOR("sheenColorFactor") }, { TEXTURE("sheenColorTexture") },
         { FACTOR("sheenRoughnessFactor") }, { TEXTURE("sheenRoughnessTexture") }),
    TYPE("specular", { FACTOR("specularFactor") }, { TEXTURE("specularTexture") },
         { "specularColorFactor", NUMBERS, false, NULL, 3, 0, INFINITY },
         { TEXTURE("specularColorTexture") }),
    TYPE("transmission", { FACTOR("transmissionFactor") }, { TEXTURE("transmissionTexture") }),
    { "unlit", (const property[]){ { NULL, BOOLEAN, false, NULL, 0, 0, 0 } } },
    TYPE("volume", { COLOR("attenuationColor") },
         { "attenuationDistance", NUMBER, false, NULL, 0, POSITIVE }, { AMOUNT("thicknessFactor") },
         { TEXTURE("thicknessTexture") }),
    TYPE("visibility", { SWITCH("visible") }),
    TYPE("selectability", { SWITCH("selectable") }),
    TYPE("hoverability", { SWITCH("hoverable") }),
    TYPE("draco", { REF_REQUIRED("bufferView", "bufferViews") },
         { "attributes", INDEX_MAP, true, NULL, 0, 0, 0 }),
    TYPE("instancing", { "attributes", INDEX_MAP, true, "accessors", 0, 0, 0 }),
};

static const struct {
    const char *extension, *place, *type;
} PLACES[] = {
    { "KHR_mesh_quantization", "nowhere", NULL },
    { "KHR_lights_punctual", "root", "lights" },
    { "KHR_lights_punctual", "node", "light_node" },
    { "KHR_materials_variants", "root", "variants" },
    { "KHR_materials_variants", "primitive", "variant_mappings" },
    { "KHR_animation_pointer", "target", "animation_pointer" },
    { "EXT_texture_webp", "texture", "texture_source" },
    { "KHR_texture_basisu", "texture", "texture_source" },
    { "EXT_texture_avif", "texture", "texture_source" },
    { "MSFT_texture_dds", "texture", "texture_source" },
    { "KHR_texture_transform", "texture_info", "texture_transform" },
    { "KHR_texture_transform", "normal_texture", "texture_transform" },
    { "KHR_texture_transform", "occlusion_texture", "texture_transform" },
    { "KHR_materials_anisotropy", "material", "anisotropy" },
    { "KHR_materials_clearcoat", "material", "clearcoat" },
    { "KHR_materials_diffuse_transmission", "material", "diffuse_transmission" },
    { "KHR_materials_dispersion", "material", "dispersion" },
    { "KHR_materials_emissive_strength", "material", "emissive_strength" },
    { "KHR_materials_ior", "material", "ior" },
    { "KHR_materials_iridescence", "material", "iridescence" },
    { "KHR_materials_pbrSpecularGlossiness", "material", "specular_glossiness" },
    { "KHR_materials_sheen", "material", "sheen" },
    { "KHR_materials_specular", "material", "specular" },
    { "KHR_materials_transmission", "material", "transmission" },
    { "KHR_materials_unlit", "material", "unlit" },
    { "KHR_materials_volume", "material", "volume" },
    { "KHR_node_visibility", "node", "visibility" },
    { "KHR_node_selectability", "node", "selectability" },
    { "KHR_node_hoverability", "node", "hoverability" },
    { "KHR_draco_mesh_compression", "primitive", "draco" },
    { "EXT_mesh_gpu_instancing", "node", "instancing" },
};
enum { PLACE_COUNT = sizeof PLACES / sizeof *PLACES };

bool cutis_gltf_extension_checked(const char *name)
{
    for (size_t i = 0; i < PLACE_COUNT; i++)
        if (strcmp(PLACES[i].extension, name) == 0) return true;
    return false;
}

bool cutis_gltf_extension_belongs(const char *name, const char *place)
{
    return !cutis_gltf_extension_checked(name) || cutis_gltf_extension_type(name, place);
}

const type *cutis_gltf_extension_part(const char *name)
{
    return cutis_gltf_find_type(TYPES, sizeof TYPES / sizeof *TYPES, name);
}

const type *cutis_gltf_extension_type(const char *name, const char *place)
{
    for (size_t i = 0; i < PLACE_COUNT; i++) {
        if (PLACES[i].type && strcmp(PLACES[i].extension, name) == 0 &&
            strcmp(PLACES[i].place, place) == 0)
            return cutis_gltf_extension_part(PLACES[i].type);
    }
    return NULL;
}
