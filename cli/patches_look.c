/// Carries what a model looks like onto a frame of its patches. Every vertex of a frame is a
/// mixture of vertices of the model; a triangle that is (part of) one of the model's takes them
/// from that triangle's own corners, so that seams stay seams. Invariant: a vertex of a piece is
/// one vertex of the frame with one set of sources.
#include "patches_look.h"

#include <math.h>
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
    to->triangles[to->triangle_count] = triangle;
    to->labels[to->triangle_count++] = p->labels[triangle];
}

// Space for the worst case, three vertices a triangle, suffices for every frame.
static bool open_piece(look_piece *out, size_t triangles, int32_t material, bool texcoords,
                       bool colors)
{
    *out = (look_piece){ .material = material };
    out->positions = malloc(36 * triangles + 1);
    out->normals = malloc(36 * triangles + 1);
    out->indices = malloc(12 * triangles + 1);
    out->labels = malloc(4 * triangles + 1);
    out->triangles = malloc(4 * triangles + 1);
    if (texcoords) out->texcoords = malloc(24 * triangles + 1);
    if (colors) out->colors = malloc(48 * triangles + 1);
    return out->positions && out->normals && out->indices && out->labels && out->triangles &&
           !out->texcoords == !texcoords && !out->colors == !colors;
}

void patch_look_release(patch_look *look)
{
    for (uint32_t i = 0; look->pieces && i < look->count; i++) {
        look_piece *piece = &look->pieces[i];
        free(piece->positions), free(piece->normals), free(piece->texcoords), free(piece->colors);
        free(piece->indices), free(piece->labels), free(piece->triangles);
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
        good = open_piece(&out->pieces[p], source->counts[1], primitive->material,
                          primitive->texcoords, primitive->colors);
    }
    for (uint32_t t = 0; t < source->counts[1] && good; t++) add_triangle(&l, t);
    free(l.vertex_first), free(l.triangle_first), free(l.heads), free(l.variants);
    if (!good) patch_look_release(out);
    return good;
}

// The outside ------------------------------------------------------------------------------------

/// A vertex of the outside in one piece, with one look.
typedef struct outside_vertex {
    uint32_t piece, at;
    uint32_t next; ///< another of the same vertex + 1; 0: none
} outside_vertex;

typedef struct outlining {
    const patch_look *from;
    patch_look *to;
    const cutis_united_data *united;
    uint32_t *piece_of, *place_of; ///< per triangle of the frame
    uint32_t *heads;               ///< per vertex of the outside: its first + 1
    outside_vertex *vertices;
    uint32_t count;
    bool seams; ///< some vertices of the frame are several of its look
} outlining;

/// `width` numbers of three vertices in these parts.
static void mix_corners(const float *from, const uint32_t *corners, const float *parts, int width,
                        float *out)
{
    for (int c = 0; c < width; c++) {
        double sum = 0;
        for (int k = 0; k < 3; k++) sum += (double)parts[k] * from[width * (size_t)corners[k] + c];
        out[c] = (float)sum;
    }
}

static void make_unit(float *v)
{
    const double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
    for (int k = 0; k < 3 && length > 0; k++) v[k] = (float)(v[k] / length);
}

/// Normals and colours are shared along a cut. So are texture coordinates where the frame has no
/// seam: who reads vertices by number finds the outside as closed as the frame.
static bool same_look(const outlining *o, const look_piece *p, uint32_t a, uint32_t b)
{
    if (!o->seams || !p->texcoords) return true;
    const float *x = p->texcoords + 2 * (size_t)a, *y = p->texcoords + 2 * (size_t)b;
    return fabsf(x[0] - y[0]) < 1e-5f && fabsf(x[1] - y[1]) < 1e-5f;
}

/// A corner of the outside: made at the end of its piece, and taken back where it is there already.
static uint32_t add_corner(outlining *o, uint32_t piece, size_t corner)
{
    const look_piece *from = &o->from->pieces[piece];
    look_piece *to = &o->to->pieces[piece];
    const uint32_t vertex = o->united->surface.indices[corner], at = to->vertex_count;
    const uint32_t *corners =
        from->indices + 3 * (size_t)o->place_of[o->united->origins[corner / 3]];
    const float *parts = o->united->parts + 3 * corner;
    memcpy(to->positions + 3 * (size_t)at, o->united->surface.positions + 3 * (size_t)vertex, 12);
    mix_corners(from->normals, corners, parts, 3, to->normals + 3 * (size_t)at);
    make_unit(to->normals + 3 * (size_t)at);
    if (to->texcoords)
        mix_corners(from->texcoords, corners, parts, 2, to->texcoords + 2 * (size_t)at);
    if (to->colors) mix_corners(from->colors, corners, parts, 4, to->colors + 4 * (size_t)at);
    for (uint32_t i = o->heads[vertex]; i; i = o->vertices[i - 1].next) {
        const outside_vertex *v = &o->vertices[i - 1];
        if (v->piece != piece || !same_look(o, to, v->at, at)) continue;
        for (int k = 0; k < 3; k++)
            to->normals[3 * (size_t)v->at + k] += to->normals[3 * (size_t)at + k];
        return v->at;
    }
    o->vertices[o->count] = (outside_vertex){ piece, at, o->heads[vertex] };
    o->heads[vertex] = ++o->count;
    return to->vertex_count++;
}

static bool outline(outlining *o)
{
    const cutis_surface *s = &o->united->surface;
    for (uint32_t p = 0; p < o->from->count; p++) {
        const look_piece *from = &o->from->pieces[p];
        for (uint32_t t = 0; t < from->triangle_count; t++)
            o->piece_of[from->triangles[t]] = p, o->place_of[from->triangles[t]] = t;
        if (!open_piece(&o->to->pieces[p], (size_t)s->triangle_count, from->material,
                        from->texcoords, from->colors))
            return false;
    }
    for (size_t t = 0; t < s->triangle_count; t++) {
        const uint32_t origin = o->united->origins[t], piece = o->piece_of[origin];
        look_piece *to = &o->to->pieces[piece];
        for (int k = 0; k < 3; k++)
            to->indices[3 * (size_t)to->triangle_count + k] = add_corner(o, piece, 3 * t + k);
        to->triangles[to->triangle_count] = origin;
        to->labels[to->triangle_count++] = o->from->pieces[piece].labels[o->place_of[origin]];
    }
    for (uint32_t p = 0; p < o->to->count; p++)
        for (uint32_t v = 0; v < o->to->pieces[p].vertex_count; v++)
            make_unit(o->to->pieces[p].normals + 3 * (size_t)v);
    return true;
}

static bool look_outside(const patch_play *source, const cutis_united_data *united,
                         patch_look *look)
{
    ENDS_BY(memory_release) memory_list memory = { 0 };
    patch_look made = { calloc(look->count, sizeof *made.pieces), look->count };
    outlining o = { .from = look, .to = &made, .united = united };
    o.piece_of = memory_take(&memory, source->counts[1], sizeof *o.piece_of);
    o.place_of = memory_take(&memory, source->counts[1], sizeof *o.place_of);
    o.heads = memory_take(&memory, united->surface.vertex_count, sizeof *o.heads);
    o.vertices =
        memory_take(&memory, 3 * (size_t)united->surface.triangle_count, sizeof *o.vertices);
    uint32_t vertices = 0;
    for (uint32_t p = 0; p < look->count; p++) vertices += look->pieces[p].vertex_count;
    o.seams = vertices != source->counts[0];
    const bool good = made.pieces && !memory.failed && outline(&o);
    if (good) {
        patch_look_release(look);
        *look = made;
    } else
        patch_look_release(&made);
    return good;
}

/// Closed by its places too, as formats without indices have it; what still crosses.
static cutis_result judge_outside(cli_app *app, const cutis_surface *s, bool *whole,
                                  patch_outside *out)
{
    cutis_manifold manifold;
    cutis_crossings crossings;
    TRY(cutis_surface_manifold(app->context, s, NULL, &manifold));
    TRY(cutis_surface_crossings(app->context, s, NULL, NULL, &crossings));
    *out = (patch_outside){ .piece_count = manifold.piece_count,
                            .vertex_count = s->vertex_count,
                            .triangle_count = (uint32_t)s->triangle_count,
                            .crossing_count = crossings.triangle_count,
                            .volume = cutis_surface_volume(s) };
    *whole = manifold.watertight && out->volume > 0;
    return CUTIS_OK;
}

int patch_look_unite(cli_app *app, const char *path, const patch_play *source, patch_look *look,
                     bool *whole, patch_outside *out)
{
    const cutis_surface surface = patch_play_surface(source);
    cutis_united *united = NULL;
    OWN_MEMORY uint32_t *weld = calloc(surface.vertex_count + (size_t)1, sizeof *weld);
    *whole = false;
    if (!weld) return app_fail_text(app, "%s: not enough memory", path);
    for (uint32_t v = 0; v < surface.vertex_count; v++) weld[v] = v; // as in the frame
    cutis_result result = cutis_surface_unite(app->context, &surface, weld, &united);
    if (result == CUTIS_INVALID_ARGUMENT)
        return EXIT_GOOD; // the frame is kept, and what crosses is told
    if (result == CUTIS_OK)
        result = judge_outside(app, &cutis_united_get(united)->surface, whole, out);
    if (result == CUTIS_OK && *whole && !look_outside(source, cutis_united_get(united), look))
        result = CUTIS_OUT_OF_MEMORY;
    cutis_united_destroy(united);
    return app_result(app, path, result);
}
