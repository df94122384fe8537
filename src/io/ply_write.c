// PLY of the scene at rest: all primitives of all instances as one list of vertices and one of
// triangles; points where there are none. Normals, colours and texture coordinates are written when
// every primitive has them. Invariant: what is written comes back in the same bits, because each
// attribute takes a type that holds it exactly.
#include "io/bytes.h"
#include "io/format.h"
#include "io/output.h"

#include <string.h>

#include "base/memory.h"

typedef struct layout {
    bool ascii, normals, colors, texcoords;
    bool byte_colors;      // every colour is n / 255
    bool double_texcoords; // 1 - v is not always a float
    uint64_t vertex_count, triangle_count;
} layout;

static bool is_byte(float value)
{
    if (!(value >= 0 && value <= 1)) return false;
    for (int k = (int)(value * 255); k <= (int)(value * 255) + 1; k++)
        if (k >= 0 && k <= 255 && (float)(k / 255.0) == value) return true;
    return false;
}

static layout plan(const cutis_shown *shown, uint32_t count, bool ascii)
{
    layout l = {
        .ascii = ascii, .normals = true, .colors = true, .texcoords = true, .byte_colors = true
    };
    for (uint32_t i = 0; i < count; i++) {
        const cutis_primitive *p = shown[i].primitive;
        l.vertex_count += p->vertex_count;
        if (p->topology == CUTIS_TOPOLOGY_TRIANGLES) l.triangle_count += p->index_count / 3;
        l.normals &= p->normals != NULL;
        l.colors &= p->colors != NULL;
        l.texcoords &= p->texcoords != NULL;
        for (size_t k = 0; p->colors && k < 4 * (size_t)p->vertex_count; k++)
            l.byte_colors = l.byte_colors && is_byte(p->colors[k]);
        for (size_t k = 0; p->texcoords && k < p->vertex_count; k++) {
            float v = p->texcoords[2 * k + 1], up = (float)(1 - (double)v);
            l.double_texcoords |= (float)(1 - (double)up) != v;
        }
    }
    return l;
}

static void write_header(cutis_output *out, const layout *l)
{
    cutis_output_text(out, "ply\nformat ");
    cutis_output_text(out, l->ascii ? "ascii" : "binary_little_endian");
    cutis_output_text(out, " 1.0\ncomment Cutis\nelement vertex");
    cutis_output_count(out, ' ', l->vertex_count);
    cutis_output_text(out, "\nproperty float x\nproperty float y\nproperty float z\n");
    if (l->normals)
        cutis_output_text(out, "property float nx\nproperty float ny\nproperty float nz\n");
    if (l->texcoords)
        cutis_output_text(out, l->double_texcoords ? "property double s\nproperty double t\n"
                                                   : "property float s\nproperty float t\n");
    if (l->colors)
        cutis_output_text(out, l->byte_colors ? "property uchar red\nproperty uchar green\n"
                                                "property uchar blue\nproperty uchar alpha\n"
                                              : "property float red\nproperty float green\n"
                                                "property float blue\nproperty float alpha\n");
    if (l->triangle_count) {
        cutis_output_text(out, "element face");
        cutis_output_count(out, ' ', l->triangle_count);
        cutis_output_text(out, "\nproperty list uchar int vertex_indices\n");
    }
    cutis_output_text(out, "end_header\n");
}

static void put_float(cutis_output *out, const layout *l, bool first, float value)
{
    unsigned char bytes[4];
    cutis_store_f32(bytes, value);
    if (l->ascii)
        cutis_output_float(out, first ? 0 : ' ', value);
    else
        cutis_output_bytes(out, bytes, 4);
}

static void put_texcoord(cutis_output *out, const layout *l, double value)
{
    uint64_t bits;
    unsigned char bytes[8];
    if (!l->double_texcoords) {
        put_float(out, l, false, (float)value);
    } else if (l->ascii) {
        cutis_output_double(out, ' ', value);
    } else {
        memcpy(&bits, &value, 8);
        cutis_store_u32(bytes, (uint32_t)bits);
        cutis_store_u32(bytes + 4, (uint32_t)(bits >> 32));
        cutis_output_bytes(out, bytes, 8);
    }
}

static void put_color(cutis_output *out, const layout *l, float value)
{
    if (!l->byte_colors) {
        put_float(out, l, false, value);
        return;
    }
    unsigned char byte = (unsigned char)(value * 255 + 0.5f);
    if (l->ascii)
        cutis_output_count(out, ' ', byte);
    else
        cutis_output_bytes(out, &byte, 1);
}

static void write_vertices(cutis_output *out, const layout *l, const cutis_shown *shown)
{
    const cutis_primitive *p = shown->primitive;
    for (uint32_t i = 0; i < p->vertex_count; i++) {
        float position[3], normal[3];
        cutis_shown_vertex(shown, i, position, normal);
        for (int k = 0; k < 3; k++) put_float(out, l, k == 0, position[k]);
        for (int k = 0; l->normals && k < 3; k++) put_float(out, l, false, normal[k]);
        if (l->texcoords) {
            put_texcoord(out, l, (double)p->texcoords[2 * (size_t)i]);
            put_texcoord(out, l, 1 - (double)p->texcoords[2 * (size_t)i + 1]);
        }
        for (int k = 0; l->colors && k < 4; k++)
            put_color(out, l, p->colors[4 * (size_t)i + (size_t)k]);
        if (l->ascii) cutis_output_text(out, "\n");
    }
}

static void write_triangles(cutis_output *out, const layout *l, const cutis_shown *shown)
{
    const cutis_primitive *p = shown->primitive;
    if (p->topology != CUTIS_TOPOLOGY_TRIANGLES) return;
    for (uint32_t i = 0; i + 2 < p->index_count; i += 3) {
        unsigned char bytes[13] = { 3 };
        if (l->ascii) cutis_output_text(out, "3");
        for (uint32_t k = 0; k < 3; k++) {
            uint32_t index = shown->vertex_first + cutis_shown_corner(shown, i + k);
            cutis_store_u32(bytes + 1 + 4 * k, index);
            if (l->ascii) cutis_output_count(out, ' ', index);
        }
        if (l->ascii)
            cutis_output_text(out, "\n");
        else
            cutis_output_bytes(out, bytes, sizeof bytes);
    }
}

cutis_result cutis_ply_write(const cutis_model *model, const char *path, bool ascii)
{
    cutis_context *context = cutis_model_context(model);
    cutis_arena arena = { .context = context };
    cutis_shown *shown = NULL;
    uint32_t count;
    cutis_result result = cutis_shown_list(model, &arena, path, "PLY", &shown, &count);
    cutis_output *out = result == CUTIS_OK ? cutis_output_begin(context, path, &result) : NULL;
    if (out) {
        layout l = plan(shown, count, ascii);
        write_header(out, &l);
        for (uint32_t i = 0; i < count; i++) write_vertices(out, &l, &shown[i]);
        for (uint32_t i = 0; i < count; i++) write_triangles(out, &l, &shown[i]);
        result = cutis_output_finish(out);
    }
    cutis_arena_release(&arena);
    return result;
}
