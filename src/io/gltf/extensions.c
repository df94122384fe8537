/// The list of extensions. All that can be read leave geometry, hierarchy and animation as they
/// are, or are implemented.
#include "io/gltf/document.h"

#include <string.h>

static const char *const READABLE_AND_KNOWN[] = {
    "KHR_mesh_quantization",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_draco_mesh_compression",
    "CUTIS_parts",
    "CUTIS_pose_space",
    "CUTIS_cage",
    "CUTIS_handles",
    "KHR_texture_transform",
    "KHR_texture_basisu",
    "EXT_texture_webp",
    "EXT_texture_avif",
    "MSFT_texture_dds",
    "KHR_materials_anisotropy",
    "KHR_materials_clearcoat",
    "KHR_materials_diffuse_transmission",
    "KHR_materials_dispersion",
    "KHR_materials_emissive_strength",
    "KHR_materials_ior",
    "KHR_materials_iridescence",
    "KHR_materials_pbrSpecularGlossiness",
    "KHR_materials_sheen",
    "KHR_materials_specular",
    "KHR_materials_transmission",
    "KHR_materials_unlit",
    "KHR_materials_variants",
    "KHR_materials_volume",
    "KHR_lights_punctual",
    "KHR_xmp_json_ld",
    "KHR_node_visibility",
    "KHR_node_selectability",
    "KHR_node_hoverability",
};

static const char *const READABLE_ONLY[] = { "KHR_texture_procedurals", "EXT_lights_image_based",
                                             "EXT_lights_ies", "KHR_xmp", "KHR_audio_emitter" };

// A file that requires them has geometry or motion that we do not see.
static const char *const KNOWN_ONLY[] = { "EXT_mesh_gpu_instancing", "KHR_animation_pointer" };

#define IN(list, name) (cutis_gltf_find_word(list, sizeof list / sizeof *list, name) >= 0)

bool cutis_gltf_extension_readable(const char *name)
{
    return IN(READABLE_AND_KNOWN, name) || IN(READABLE_ONLY, name);
}

bool cutis_gltf_extension_known(const char *name)
{
    return IN(READABLE_AND_KNOWN, name) || IN(KNOWN_ONLY, name);
}

// Where extensions stand; a name that ends in '*' is for all that start so.
static const struct {
    const char *name, *first, *second;
} PLACES[] = {
    { "KHR_mesh_quantization", "", "" },
    { "KHR_lights_punctual", "root", "node" },
    { "KHR_materials_variants", "root", "primitive" },
    { "KHR_materials_diffuse_transmission", NULL, NULL },
    { "KHR_materials_*", "material", "" },
    { "EXT_texture_webp", "texture", "" },
    { "KHR_animation_pointer", "target", "" },
};

bool cutis_gltf_extension_belongs(const char *name, const char *place)
{
    if (strcmp(name, "KHR_texture_transform") == 0)
        return strcmp(place, "texture_info") == 0 || strcmp(place, "normal_texture") == 0 ||
               strcmp(place, "occlusion_texture") == 0;
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        size_t length = strlen(PLACES[i].name);
        bool all = PLACES[i].name[length - 1] == '*';
        if (all ? strncmp(name, PLACES[i].name, length - 1) != 0
                : strcmp(name, PLACES[i].name) != 0)
            continue;
        return !PLACES[i].first || strcmp(place, PLACES[i].first) == 0 ||
               strcmp(place, PLACES[i].second) == 0;
    }
    return true;
}
