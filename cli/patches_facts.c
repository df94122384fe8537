/// Facts of a frame of blending patches. Vertices are one where the frame says so, not where a pose
/// brings them together: the mesh of a frame has no seams.
#include "patches_facts.h"

#include <stdlib.h>
#include <string.h>

/// Triangles of a frame that cross others, and memory to look at some of them alone.
typedef struct crossing_lists {
    const patch_play *play;
    uint32_t *triangles, count;
    uint32_t *indices, *from;
    bool *crosses, *own; ///< own: per triangle of the frame
    uint32_t *weld;
} crossing_lists;

static bool is_around(const patch_play *p, uint32_t joint, uint32_t label)
{
    const cutis_patches_joint own = cutis_patches_joint_at(p->patches, joint);
    if (label < p->info.part_count) return label == own.parent || label == own.child;
    const cutis_patches_joint other =
        cutis_patches_joint_at(p->patches, label - p->info.part_count);
    return other.parent == own.parent || other.parent == own.child || other.child == own.parent ||
           other.child == own.child;
}

// Of all triangles that cross something, those around one joint that cross each other.
static cutis_result look_around(cli_app *app, crossing_lists *c, uint32_t joint, uint32_t *count)
{
    const patch_play *p = c->play;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        const uint32_t t = c->triangles[i];
        if (!is_around(p, joint, p->labels[t])) continue;
        memcpy(c->indices + 3 * (size_t)n, p->indices + 3 * (size_t)t, 3 * sizeof *c->indices);
        c->from[n++] = t;
    }
    cutis_crossings crossings;
    cutis_surface surface = patch_play_surface(p);
    surface.indices = c->indices;
    surface.triangle_count = n;
    *count = 0;
    if (n < 2) return CUTIS_OK;
    TRY(cutis_surface_crossings(app->context, &surface, c->weld, c->crosses, &crossings));
    for (uint32_t i = 0; i < n; i++)
        if (c->crosses[i]) c->own[c->from[i]] = true, ++*count;
    return CUTIS_OK;
}

static cutis_result find_crossings(cli_app *app, crossing_lists *c, patch_facts *out)
{
    const cutis_surface surface = patch_play_surface(c->play);
    for (uint32_t v = 0; v < surface.vertex_count; v++) c->weld[v] = v;
    TRY(cutis_surface_manifold(app->context, &surface, c->weld, &out->manifold));
    TRY(cutis_surface_crossings(app->context, &surface, c->weld, c->crosses, &out->crossings));
    for (uint32_t t = 0; t < surface.triangle_count; t++)
        if (c->crosses[t]) c->triangles[c->count++] = t;
    for (uint32_t j = 0; j < c->play->info.joint_count && c->count > 0; j++)
        TRY(look_around(app, c, j, &out->joint[j]));
    for (uint32_t i = 0; i < c->count; i++) out->own += c->own[c->triangles[i]];
    out->posed = c->count - out->own;
    return CUTIS_OK;
}

int patch_facts_make(cli_app *app, const char *path, const patch_play *played, patch_facts *out)
{
    ENDS_BY(memory_release) memory_list memory = { 0 };
    const size_t triangles = played->counts[1];
    const cutis_surface surface = patch_play_surface(played);
    crossing_lists c = { .play = played };
    c.triangles = memory_take(&memory, triangles, sizeof *c.triangles);
    c.indices = memory_take(&memory, triangles, 3 * sizeof *c.indices);
    c.from = memory_take(&memory, triangles, sizeof *c.from);
    c.crosses = memory_take(&memory, triangles, sizeof *c.crosses);
    c.own = memory_take(&memory, triangles, sizeof *c.own);
    c.weld = memory_take(&memory, played->counts[0], sizeof *c.weld);
    *out =
        (patch_facts){ .volume = cutis_surface_volume(&surface),
                       .joint = calloc(played->info.joint_count + (size_t)1, sizeof *out->joint) };
    if (memory.failed || !out->joint) return app_fail_text(app, "%s: not enough memory", path);
    return app_result(app, path, find_crossings(app, &c, out));
}

void patch_facts_release(patch_facts *facts)
{
    free(facts->joint);
    *facts = (patch_facts){ 0 };
}
