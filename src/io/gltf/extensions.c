/// The list of extensions. All of the first kind leave geometry, hierarchy and animation as they
/// are.
#include "io/gltf/extensions.h"

#include <string.h>

enum { READABLE = 1, KNOWN = 2, BOTH = 3 };

static const struct {
    const char *name;
    int flags;
} EXTENSIONS[] = {
    { "KHR_mesh_quantization", BOTH },
    { "EXT_meshopt_compression", BOTH },
    { "CUTIS_parts", BOTH },
    { "CUTIS_pose_space", BOTH },
    { "CUTIS_cage", BOTH },
    { "CUTIS_handles", BOTH },
    { "KHR_texture_transform", BOTH },
    { "KHR_texture_basisu", BOTH },
    { "KHR_texture_procedurals", READABLE },
    { "EXT_texture_webp", BOTH },
    { "EXT_texture_avif", BOTH },
    { "MSFT_texture_dds", BOTH },
    { "KHR_materials_anisotropy", BOTH },
    { "KHR_materials_clearcoat", BOTH },
    { "KHR_materials_diffuse_transmission", BOTH },
    { "KHR_materials_dispersion", BOTH },
    { "KHR_materials_emissive_strength", BOTH },
    { "KHR_materials_ior", BOTH },
    { "KHR_materials_iridescence", BOTH },
    { "KHR_materials_pbrSpecularGlossiness", BOTH },
    { "KHR_materials_sheen", BOTH },
    { "KHR_materials_specular", BOTH },
    { "KHR_materials_transmission", BOTH },
    { "KHR_materials_unlit", BOTH },
    { "KHR_materials_variants", BOTH },
    { "KHR_materials_volume", BOTH },
    { "KHR_lights_punctual", BOTH },
    { "EXT_lights_image_based", READABLE },
    { "EXT_lights_ies", READABLE },
    { "KHR_xmp", READABLE },
    { "KHR_xmp_json_ld", BOTH },
    { "KHR_audio_emitter", READABLE },
    { "KHR_node_visibility", BOTH },
    { "KHR_node_selectability", BOTH },
    { "KHR_node_hoverability", BOTH },
    // Only known: a file that requires them has geometry or motion that we do not see.
    { "KHR_draco_mesh_compression", KNOWN },
    { "EXT_mesh_gpu_instancing", KNOWN },
    { "KHR_animation_pointer", KNOWN },
};

static int flags_of(const char *name)
{
    for (size_t i = 0; i < sizeof EXTENSIONS / sizeof *EXTENSIONS; i++) {
        if (strcmp(EXTENSIONS[i].name, name) == 0) return EXTENSIONS[i].flags;
    }
    return 0;
}

bool cutis_gltf_extension_readable(const char *name)
{
    return flags_of(name) & READABLE;
}

bool cutis_gltf_extension_known(const char *name)
{
    return flags_of(name) & KNOWN;
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
