// STL of the scene at rest: the triangles of all primitives of all instances, binary or text, with
// the normals of their corners. Invariant: what is written is read back with the same triangles in
// the same order, and the same bits of every corner.
#include "io/bytes.h"
#include "io/format.h"
#include "io/output.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"

// Zero where the corners span no area, as the format has it.
static void facet_normal(float c[4][3])
{
    double u[3], v[3], n[3], length = 0;
    for (int k = 0; k < 3; k++) {
        u[k] = (double)c[2][k] - c[1][k];
        v[k] = (double)c[3][k] - c[1][k];
    }
    for (int k = 0; k < 3; k++) {
        n[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
        length += n[k] * n[k];
    }
    length = sqrt(length);
    for (int k = 0; k < 3; k++) c[0][k] = length > 0 ? (float)(n[k] / length) : 0;
}

static void put_binary(cutis_output *out, float c[4][3])
{
    unsigned char record[50] = { 0 }; // two bytes of attributes at its end
    for (int k = 0; k < 12; k++) cutis_store_f32(record + 4 * k, c[k / 3][k % 3]);
    cutis_output_bytes(out, record, sizeof record);
}

static void put_text(cutis_output *out, float c[4][3])
{
    static const char *const WORDS[] = { "facet normal", "\nouter loop\nvertex", "\nvertex",
                                         "\nvertex" };
    for (int i = 0; i < 4; i++) {
        cutis_output_text(out, WORDS[i]);
        for (int k = 0; k < 3; k++) cutis_output_float(out, ' ', c[i][k]);
    }
    cutis_output_text(out, "\nendloop\nendfacet\n");
}

static void write_triangles(cutis_output *out, const cutis_shown *shown, bool ascii)
{
    const cutis_primitive *p = shown->primitive;
    if (p->topology != CUTIS_TOPOLOGY_TRIANGLES) return;
    for (uint32_t i = 0; i + 2 < p->index_count; i += 3) {
        float c[4][3], ignored[3]; // normal, corners
        for (uint32_t k = 0; k < 3; k++)
            cutis_shown_vertex(shown, cutis_shown_corner(shown, i + k), c[k + 1], ignored);
        facet_normal(c);
        if (ascii)
            put_text(out, c);
        else
            put_binary(out, c);
    }
}

cutis_result cutis_stl_write(const cutis_model *model, const char *path, bool ascii)
{
    cutis_context *context = cutis_model_context(model);
    cutis_arena arena = { .context = context };
    cutis_shown *shown = NULL;
    uint32_t count;
    const uint64_t triangles = cutis_model_triangle_count(model);
    cutis_result result = cutis_shown_list(model, &arena, path, "STL", &shown, &count);
    if (result == CUTIS_OK && (triangles == 0 || triangles > UINT32_MAX))
        result = cutis_fail(context, triangles ? CUTIS_LIMIT_EXCEEDED : CUTIS_UNSUPPORTED,
                            triangles ? "%s: STL counts triangles up to 2^32"
                                      : "%s: STL holds triangles, and the model has none",
                            path);
    cutis_output *out = result == CUTIS_OK ? cutis_output_begin(context, path, &result) : NULL;
    if (out) {
        unsigned char header[84] = "Cutis"; // not "solid", which readers take for a text
        cutis_store_u32(header + 80, (uint32_t)triangles);
        if (ascii)
            cutis_output_text(out, "solid Cutis\n");
        else
            cutis_output_bytes(out, header, sizeof header);
        for (uint32_t i = 0; i < count; i++) write_triangles(out, &shown[i], ascii);
        if (ascii) cutis_output_text(out, "endsolid Cutis\n");
        result = cutis_output_finish(out);
    }
    cutis_arena_release(&arena);
    return result;
}
