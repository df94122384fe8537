/// Carries what a model looks like onto a frame of its patches. Every vertex of a frame is a
/// mixture of vertices of the model; a triangle that is (part of) one of the model's takes them
/// from that triangle's own corners, so that seams stay seams. Invariant: a vertex of a piece is
/// one vertex of the frame with one set of sources.
#include "patches_look.h"

#include <stdlib.h>
#include <string.h>

/// One vertex of a piece.
typedef struct variant {
    uint32_t vertex;     // of the frame
    uint32_t sources[4]; // vertices of the model
    uint32_t at;         // in its piece
    uint32_t piece;
    uint32_t next; // another of the same vertex + 1; 0: none
} variant;

typedef struct looking {
    const patch_play *play;
    const cutis_mesh *mesh;
    uint32_t *vertex_first, *triangle_first; // per primitive, + 1
    uint32_t *heads;                         // per vertex of the frame: its first variant + 1
    variant *variants;
    uint32_t variant_count;
    patch_look *out;
} looking;

static uint32_t primitive_of(const uint32_t *first, uint32_t count, uint32_t at)
{
    uint32_t p = 0;
    while (p + 1 < count && at >= first[p + 1]) p++;
    return p;
}

static const float *position_of(const looking *l, uint32_t vertex)
{
    uint32_t p = primitive_of(l->vertex_first, l->mesh->primitive_count, vertex);
    return l->mesh->primitives[p].positions + 3 * (size_t)(vertex - l->vertex_first[p]);
}

// The corner of a triangle of the model that is this vertex, or its twin across a seam.
static uint32_t corner_like(const looking *l, uint32_t triangle, uint32_t vertex)
{
    uint32_t p = primitive_of(l->triangle_first, l->mesh->primitive_count, triangle);
    const cutis_primitive *primitive = &l->mesh->primitives[p];
    const uint32_t *corners = primitive->indices + 3 * (size_t)(triangle - l->triangle_first[p]);
    const float *x = position_of(l, vertex);
    for (int k = 0; k < 3; k++)
        if (memcmp(primitive->positions + 3 * (size_t)corners[k], x, 12) == 0)
            return l->vertex_first[p] + corners[k];
    return vertex; // of the other part, where border points of both became one
}

// A value of the model's vertices, mixed: texture coordinates or colours. Primitives without count
// as 0 or white.
static void mix(const looking *l, const variant *v, bool color, float *out)
{
    const float *weights = l->play->source_weights + 4 * (size_t)v->vertex;
    int width = color ? 4 : 2;
    double sum[4] = { 0 };
    for (int k = 0; k < 4; k++) {
        uint32_t p = primitive_of(l->vertex_first, l->mesh->primitive_count, v->sources[k]);
        const cutis_primitive *primitive = &l->mesh->primitives[p];
        const float *from = color ? primitive->colors : primitive->texcoords;
        size_t at = width * (size_t)(v->sources[k] - l->vertex_first[p]);
        for (int c = 0; c < width; c++)
            sum[c] += weights[k] * (from ? from[at + c] : color ? 1.0f : 0.0f);
    }
    for (int c = 0; c < width; c++) out[c] = (float)sum[c];
}

static uint32_t add_variant(looking *l, uint32_t vertex, uint32_t piece, const uint32_t *sources)
{
    look_piece *to = &l->out->pieces[piece];
    for (uint32_t i = l->heads[vertex]; i; i = l->variants[i - 1].next) {
        const variant *v = &l->variants[i - 1];
        if (v->piece == piece && memcmp(v->sources, sources, sizeof v->sources) == 0) return v->at;
    }
    variant *v = &l->variants[l->variant_count++];
    *v = (variant){
        .vertex = vertex, .at = to->vertex_count, .piece = piece, .next = l->heads[vertex]
    };
    memcpy(v->sources, sources, sizeof v->sources);
    l->heads[vertex] = l->variant_count;
    memcpy(to->positions + 3 * (size_t)v->at, l->play->positions + 3 * (size_t)vertex, 12);
    memcpy(to->normals + 3 * (size_t)v->at, l->play->normals + 3 * (size_t)vertex, 12);
    if (to->texcoords) mix(l, v, false, to->texcoords + 2 * (size_t)v->at);
    if (to->colors) mix(l, v, true, to->colors + 4 * (size_t)v->at);
    return to->vertex_count++;
}

static void add_triangle(looking *l, uint32_t triangle)
{
    const patch_play *p = l->play;
    const uint32_t *corners = p->indices + 3 * (size_t)triangle;
    uint32_t origin = p->origins[triangle], count = l->mesh->primitive_count;
    uint32_t piece =
        origin != UINT32_MAX
            ? primitive_of(l->triangle_first, count, origin)
            : primitive_of(l->vertex_first, count, p->source_vertices[4 * (size_t)corners[0]]);
    look_piece *to = &l->out->pieces[piece];
    for (int k = 0; k < 3; k++) {
        uint32_t sources[4];
        memcpy(sources, p->source_vertices + 4 * (size_t)corners[k], sizeof sources);
        for (int s = 0; s < 4 && origin != UINT32_MAX; s++)
            sources[s] = corner_like(l, origin, sources[s]);
        for (int s = 1; s < 4; s++) // what does not count must not tell vertices apart
            if (!(p->source_weights[4 * (size_t)corners[k] + s] > 0)) sources[s] = sources[0];
        to->indices[3 * (size_t)to->triangle_count + k] =
            add_variant(l, corners[k], piece, sources);
    }
    to->labels[to->triangle_count++] = p->labels[triangle];
}

// Space for the worst case, three vertices a triangle, suffices for every frame.
static bool open_piece(const looking *l, const cutis_primitive *primitive, look_piece *out)
{
    size_t triangles = l->play->counts[1] + (size_t)1;
    *out = (look_piece){ .material = primitive->material };
    out->positions = malloc(36 * triangles);
    out->normals = malloc(36 * triangles);
    out->indices = malloc(12 * triangles);
    out->labels = malloc(4 * triangles);
    if (primitive->texcoords) out->texcoords = malloc(24 * triangles);
    if (primitive->colors) out->colors = malloc(48 * triangles);
    return out->positions && out->normals && out->indices && out->labels &&
           !out->texcoords == !primitive->texcoords && !out->colors == !primitive->colors;
}

void patch_look_release(patch_look *look)
{
    for (uint32_t i = 0; look->pieces && i < look->count; i++) {
        look_piece *piece = &look->pieces[i];
        free(piece->positions), free(piece->normals), free(piece->texcoords), free(piece->colors);
        free(piece->indices), free(piece->labels);
    }
    free(look->pieces);
    *look = (patch_look){ 0 };
}

bool patch_look_make(const patch_play *source, patch_look *out)
{
    const cutis_model_data *data = cutis_model_get(source->model);
    const cutis_instance *instances;
    cutis_model_instances(source->model, &instances); // patches are of models with one
    const cutis_mesh *mesh = &data->meshes[instances[0].mesh];
    uint32_t count = mesh->primitive_count;
    looking l = { .play = source, .mesh = mesh, .out = out };
    *out = (patch_look){ calloc(count, sizeof *out->pieces), count };
    l.vertex_first = calloc(count + (size_t)1, sizeof *l.vertex_first);
    l.triangle_first = calloc(count + (size_t)1, sizeof *l.triangle_first);
    l.heads = calloc(source->counts[0] + (size_t)1, sizeof *l.heads);
    l.variants = calloc(3 * (size_t)source->counts[1] + 1, sizeof *l.variants);
    bool good = out->pieces && l.vertex_first && l.triangle_first && l.heads && l.variants;
    for (uint32_t p = 0; p < count && good; p++) {
        const cutis_primitive *primitive = &mesh->primitives[p];
        l.vertex_first[p + 1] = l.vertex_first[p] + primitive->vertex_count;
        l.triangle_first[p + 1] = l.triangle_first[p] + primitive->index_count / 3;
        good = open_piece(&l, primitive, &out->pieces[p]);
    }
    for (uint32_t t = 0; t < source->counts[1] && good; t++) add_triangle(&l, t);
    free(l.vertex_first), free(l.triangle_first), free(l.heads), free(l.variants);
    if (!good) patch_look_release(out);
    return good;
}
