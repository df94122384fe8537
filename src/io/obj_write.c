// OBJ and its .mtl. Vertices are in the model's output order, so that a file written and read
// again has them in the same places and the same bits. Parts become groups, materials usemtl.
#include "io/format.h"
#include "io/output.h"

#include <string.h>

#include "base/memory.h"
#include "base/path.h"

// One past what was written of each kind so far.
typedef struct counts {
    uint64_t v, vt, vn;
} counts;

static void write_vertices(cutis_output *out, const cutis_shown *shown)
{
    const cutis_primitive *p = shown->primitive;
    for (uint32_t i = 0; i < p->vertex_count; i++) {
        float position[3], normal[3];
        cutis_shown_vertex(shown, i, position, normal);
        cutis_output_text(out, "v");
        for (int k = 0; k < 3; k++) cutis_output_float(out, ' ', position[k]);
        const float *color = p->colors ? p->colors + 4 * (size_t)i : NULL;
        for (int k = 0; color && k < (color[3] == 1 ? 3 : 4); k++)
            cutis_output_float(out, ' ', color[k]);
        cutis_output_text(out, "\n");
    }
    for (uint32_t i = 0; p->texcoords && i < p->vertex_count; i++) {
        // OBJ counts v upwards; in double, 1 - v is exact for every float from 2^-29 up.
        cutis_output_text(out, "vt");
        cutis_output_float(out, ' ', p->texcoords[2 * (size_t)i]);
        cutis_output_double(out, ' ', 1 - (double)p->texcoords[2 * (size_t)i + 1]);
        cutis_output_text(out, "\n");
    }
    for (uint32_t i = 0; p->normals && i < p->vertex_count; i++) {
        float position[3], normal[3];
        cutis_shown_vertex(shown, i, position, normal);
        cutis_output_text(out, "vn");
        for (int k = 0; k < 3; k++) cutis_output_float(out, ' ', normal[k]);
        cutis_output_text(out, "\n");
    }
}

static void write_corner(cutis_output *out, const cutis_primitive *p, const counts *base,
                         uint32_t index)
{
    cutis_output_count(out, ' ', base->v + index);
    if (p->texcoords || p->normals) cutis_output_text(out, "/");
    if (p->texcoords) cutis_output_count(out, 0, base->vt + index);
    if (p->normals) cutis_output_count(out, '/', base->vn + index);
}

static void write_elements(cutis_output *out, const cutis_shown *shown, const counts *base)
{
    static const char *const WORDS[] = { "f", "l", "p" };
    static const uint32_t CORNERS[] = { 3, 2, 1 };
    const cutis_primitive *p = shown->primitive;
    uint32_t n = CORNERS[p->topology], part = UINT32_MAX;
    for (uint32_t i = 0; i < p->index_count / n; i++) {
        if (p->parts && p->parts[i] != part) {
            part = p->parts[i];
            cutis_output_text(out, "g ");
            cutis_output_name(out, shown->mesh->part_names ? shown->mesh->part_names[part] : "");
            cutis_output_text(out, "\n");
        }
        cutis_output_text(out, WORDS[p->topology]);
        for (uint32_t k = 0; k < n; k++)
            write_corner(out, p, base, cutis_shown_corner(shown, (size_t)n * i + k));
        cutis_output_text(out, "\n");
    }
}

static void write_material_name(cutis_output *out, const cutis_model_data *data, uint32_t material)
{
    const char *name = data->materials[material].name;
    if (name && *name) {
        cutis_output_name(out, name);
    } else {
        cutis_output_text(out, "material");
        cutis_output_count(out, '_', material);
    }
}

static void write_scene(const cutis_model *model, const cutis_shown *shown, uint32_t count,
                        const char *library, cutis_output *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances, *last = NULL;
    uint32_t instance_count = cutis_model_instances(model, &instances);
    cutis_output_text(out, "# Cutis\n");
    if (library) {
        cutis_output_text(out, "mtllib ");
        cutis_output_name(out, library);
        cutis_output_text(out, "\n");
    }
    counts base = { 1, 1, 1 };
    int32_t material = CUTIS_NONE;
    for (uint32_t i = 0; i < count; i++) {
        const cutis_primitive *p = shown[i].primitive;
        const char *name = data->nodes[shown[i].instance->node].name;
        if (shown[i].instance != last && instance_count > 1) {
            cutis_output_text(out, "o ");
            cutis_output_name(out, name && *name         ? name
                                   : shown[i].mesh->name ? shown[i].mesh->name
                                                         : "mesh");
            cutis_output_text(out, "\n");
        }
        last = shown[i].instance;
        write_vertices(out, &shown[i]);
        if (p->material != material) { // "usemtl" alone: none
            material = p->material;
            cutis_output_text(out, "usemtl ");
            if (material != CUTIS_NONE) write_material_name(out, data, (uint32_t)material);
            cutis_output_text(out, "\n");
        }
        write_elements(out, &shown[i], &base);
        base.v += p->vertex_count;
        if (p->texcoords) base.vt += p->vertex_count;
        if (p->normals) base.vn += p->vertex_count;
    }
}

static void write_materials(const cutis_model *model, cutis_output *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    for (uint32_t i = 0; i < data->material_count; i++) {
        const cutis_material *m = &data->materials[i];
        cutis_output_text(out, "newmtl ");
        write_material_name(out, data, i);
        cutis_output_text(out, "\nKd");
        for (int k = 0; k < 3; k++) cutis_output_float(out, ' ', m->base_color[k]);
        cutis_output_text(out, "\nd");
        cutis_output_float(out, ' ', m->base_color[3]);
        cutis_output_text(out, "\nPr");
        cutis_output_float(out, ' ', m->roughness);
        cutis_output_text(out, "\nPm");
        cutis_output_float(out, ' ', m->metallic);
        cutis_output_text(out, "\n\n");
    }
}

cutis_result cutis_obj_write(const cutis_model *model, const char *path)
{
    cutis_context *context = cutis_model_context(model);
    cutis_arena arena = { .context = context };
    cutis_shown *shown = NULL;
    char *library = NULL;
    uint32_t count;
    cutis_output *materials = NULL, *scene = NULL;
    cutis_result result = cutis_shown_list(model, &arena, path, "OBJ", &shown, &count);
    if (result == CUTIS_OK && cutis_model_get(model)->material_count) {
        char *stem = cutis_stem(&arena, path);
        int folder = (int)cutis_path_folder(path);
        char *full = stem ? cutis_arena_format(&arena, "%.*s%s.mtl", folder, path, stem) : NULL;
        library = full ? full + folder : NULL;
        if (full)
            materials = cutis_output_begin(context, full, &result);
        else
            result = cutis_alloc_result(context);
        if (materials) write_materials(model, materials);
    }
    if (result == CUTIS_OK) scene = cutis_output_begin(context, path, &result);
    if (scene) {
        write_scene(model, shown, count, library, scene);
        result = cutis_output_finish_both(materials, scene);
    } else {
        cutis_output_abort(materials);
    }
    cutis_arena_release(&arena);
    return result;
}
