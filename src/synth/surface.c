/// The recipe: extract, cut, remesh, exact count, repair, then mirror. The mirrored half is a copy
/// with x negated and faces reversed, so the symmetry is exact in bits and in topology.
#include "synth/surface.h"

#include "base/error.h"
#include "synth/remesh.h"

static cutis_result make_half(mesh *m, const synth_table *table, const synth_skeleton *skeleton,
                              uint32_t vertices)
{
    remesher r = { .m = m };
    TRY(cutis_synth_extract(m, table));
    if (skeleton) TRY(cutis_synth_cut(m, skeleton));
    TRY(cutis_synth_remesh(&r, vertices));
    TRY(cutis_synth_exact_count(&r, vertices));
    TRY(cutis_synth_repair(&r));
    TRY(cutis_synth_mesh_compact(m));
    for (int32_t v = 0; v < m->vertex_count; v++) cutis_synth_snap_vertex(m, v, 8);
    return CUTIS_OK;
}

static void copy_half(const mesh *m, synth_surface *out)
{
    for (int32_t v = 0; v < m->vertex_count; v++) {
        out->positions[v] = m->vertices[v].position;
        out->normals[v] = m->vertices[v].normal;
        out->mirror[v] = (uint32_t)v;
    }
    for (int32_t h = 0; h < m->half_count; h++) out->triangles[h] = (uint32_t)m->halves[h].vertex;
}

static void mirror_half(const mesh *m, synth_surface *out)
{
    uint32_t next = (uint32_t)m->vertex_count;
    for (uint32_t v = 0; v < (uint32_t)m->vertex_count; v++) {
        if (on_plane(&m->vertices[v])) {
            out->positions[v].x = 0; // never -0: both sides read the same bits
            out->normals[v].x = 0;
            continue;
        }
        out->mirror[v] = next;
        out->mirror[next] = v;
        out->positions[next] = out->positions[v];
        out->normals[next] = out->normals[v];
        out->positions[next].x = -out->positions[v].x;
        out->normals[next].x = -out->normals[v].x;
        next++;
    }
    for (int32_t h = 0; h < m->half_count; h += 3)
        for (int i = 0; i < 3; i++)
            out->triangles[m->half_count + h + i] =
                out->mirror[out->triangles[h + (i == 0 ? 0 : 3 - i)]];
}

static cutis_result finish(cutis_arena *arena, const mesh *m, const synth_skeleton *skeleton,
                           synth_surface *out)
{
    size_t half = (size_t)m->half_count / 3, count = (size_t)cutis_synth_mesh_total(m);
    size_t triangles = m->shape->folded ? 2 * half : half;
    int32_t *rows = cutis_arena_alloc(arena, half, sizeof *rows);
    *out =
        (synth_surface){ .vertex_count = (uint32_t)count, .triangle_count = (uint32_t)triangles };
    out->positions = cutis_arena_alloc(arena, count, sizeof *out->positions);
    out->normals = cutis_arena_alloc(arena, count, sizeof *out->normals);
    out->mirror = cutis_arena_alloc(arena, count, sizeof *out->mirror);
    out->triangles = cutis_arena_alloc(arena, triangles, 3 * sizeof *out->triangles);
    out->labels = cutis_arena_alloc(arena, triangles, sizeof *out->labels);
    if (!rows || !out->positions || !out->normals || !out->mirror || !out->triangles ||
        !out->labels)
        return cutis_alloc_result(arena->context);
    copy_half(m, out);
    if (m->shape->folded) mirror_half(m, out);
    if (!skeleton) return CUTIS_OK;
    TRY(cutis_synth_label(m, skeleton, rows));
    for (size_t t = 0; t < triangles; t++) {
        int side = t < half ? 1 : -1;
        // Without triangles this is not reached.
        // NOLINTNEXTLINE(clang-analyzer-core.DivideZero)
        out->labels[t] = (uint32_t)cutis_synth_skeleton_joint(skeleton, rows[t % half], side);
    }
    return CUTIS_OK;
}

cutis_result cutis_synth_surface_of_shape(cutis_arena *arena, const synth_table *table, shape *s,
                                          const synth_skeleton *skeleton, uint32_t vertices,
                                          synth_surface *out)
{
    mesh m = { .context = arena->context, .shape = s };
    cutis_result result = cutis_synth_shape_accelerate(s, table, arena->context);
    if (result == CUTIS_OK) result = make_half(&m, table, skeleton, vertices);
    if (result == CUTIS_OK) result = finish(arena, &m, skeleton, out);
    cutis_synth_mesh_release(&m);
    cutis_synth_shape_release(s);
    return result;
}

cutis_result cutis_synth_surface_build(cutis_arena *arena, const synth_table *table,
                                       const synth_skeleton *skeleton, uint32_t vertices,
                                       synth_surface *out)
{
    shape s;
    cutis_synth_shape_init(&s, table);
    return cutis_synth_surface_of_shape(arena, table, &s, skeleton, vertices, out);
}
