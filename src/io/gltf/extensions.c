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
    "CUTIS_drivers",
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
