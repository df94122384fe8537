/// The entry point: options in, model out.
#include <cutis/synth.h>

#include "base/error.h"
#include "synth/body.h"

#include <string.h>

static const char *const NAMES[] = { "biped", "quadruped", "arm", "cylinder", "crowd", "family" };
enum { BODY_COUNT = sizeof NAMES / sizeof *NAMES };

const char *cutis_body_name(cutis_body body)
{
    return (unsigned)body < BODY_COUNT ? NAMES[body] : "unknown";
}

cutis_result cutis_body_from_name(const char *name, cutis_body *out)
{
    if (!name || !out) return CUTIS_INVALID_ARGUMENT;
    for (int i = 0; i < BODY_COUNT; i++) {
        if (strcmp(name, NAMES[i]) != 0) continue;
        *out = (cutis_body)i;
        return CUTIS_OK;
    }
    return CUTIS_NOT_FOUND;
}

static double cylinder_distance(double x, double y, double z)
{
    double side = sqrt(x * x + y * y) - 1, cap = (z < 0 ? -z : z) - 4;
    if (side > 0 && cap > 0) return sqrt(side * side + cap * cap);
    return side > cap ? side : cap;
}

double cutis_synth_distance(cutis_body body, double x, double y, double z)
{
    if (body == CUTIS_BODY_CYLINDER) return cylinder_distance(x, y, z);
    if (body == CUTIS_BODY_FAMILY) return NAN;
    const synth_table *table = cutis_synth_table(body, 4000000);
    if (!table)
        table = &cutis_synth_biped; // a crowd has no one surface; its first body stands for it
    shape s;
    cutis_synth_shape_init(&s, table);
    return cutis_synth_shape_distance(&s, v3(x * 1e3, y * 1e3, z * 1e3)) * 1e-3;
}

/// Root, joints depth-first, then the mesh beside them: a skinned mesh is a root of the scene, as
/// glTF recommends.
static cutis_result make_nodes(cutis_arena *arena, const synth_body *body, cutis_model_data *data,
                               cutis_skin *skin)
{
    uint32_t joints = (uint32_t)body->skeleton.joint_count;
    cutis_node *nodes = cutis_arena_alloc(arena, (size_t)joints + 2, sizeof *nodes);
    if (!nodes) return cutis_alloc_result(arena->context);
    nodes[0] = cutis_synth_node(body->table->name, CUTIS_NONE);
    nodes[joints + 1] =
        cutis_synth_node(cutis_arena_format(arena, "%s_mesh", body->table->name), CUTIS_NONE);
    nodes[joints + 1].mesh = nodes[joints + 1].skin = 0;
    data->nodes = nodes;
    data->node_count = joints + 2;
    if (!nodes[joints + 1].name) return cutis_alloc_result(arena->context);
    return cutis_synth_body_skin(arena, body, 0, 1, nodes + 1, skin);
}

static cutis_result make_clips(cutis_arena *arena, const synth_body *body, bool examples,
                               cutis_model_data *data)
{
    size_t count = body->clips.count + (examples ? 1 : 0);
    if (count == 0) return CUTIS_OK;
    cutis_clip *clips = cutis_arena_alloc(arena, count, sizeof *clips);
    if (!clips) return cutis_alloc_result(arena->context);
    for (size_t i = 0; i < count; i++) {
        const clip_row *row =
            i < body->clips.count ? &body->clips.rows[i] : &cutis_synth_arm_examples_clip;
        TRY(cutis_synth_clip(arena, &body->skeleton, row, 1, &clips[i]));
    }
    data->clips = clips;
    data->clip_count = (uint32_t)count;
    return CUTIS_OK;
}

static cutis_result build(cutis_arena *arena, const cutis_synth_options *options, synth_body *body)
{
    uint32_t vertices, seam;
    if (options->body == CUTIS_BODY_FAMILY) return cutis_synth_family_build(arena, options, body);
    TRY(cutis_synth_body_size(arena->context, options->body, options, &vertices, &seam));
    TRY(cutis_synth_body_build(arena, options->body, vertices, seam, body));
    if (options->motions && options->body == CUTIS_BODY_BIPED)
        body->clips = cutis_synth_biped_motions;
    if (options->motions && options->body == CUTIS_BODY_QUADRUPED)
        body->clips = cutis_synth_quadruped_motions;
    return CUTIS_OK;
}

static cutis_result create_body(cutis_context *context, const cutis_synth_options *options,
                                cutis_model **out)
{
    cutis_arena arena = { .context = context };
    synth_body body;
    cutis_skin skin;
    cutis_material material = cutis_synth_material();
    bool bare = options->body == CUTIS_BODY_FAMILY && options->unrigged;
    cutis_model_data data = { .mesh_count = 1, .skin_count = bare ? 0 : 1, .material_count = 1 };
    cutis_node only = cutis_synth_node("body", CUTIS_NONE);
    only.mesh = 0;
    cutis_result result = build(&arena, options, &body);
    if (result == CUTIS_OK && bare)
        data.nodes = &only, data.node_count = 1;
    else if (result == CUTIS_OK)
        result = make_nodes(&arena, &body, &data, &skin);
    if (result == CUTIS_OK)
        result =
            make_clips(&arena, &body, options->body == CUTIS_BODY_ARM && options->examples, &data);
    if (result == CUTIS_OK) {
        data.meshes = &body.mesh;
        data.skins = &skin;
        data.materials = &material;
        result = cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
    }
    cutis_arena_release(&arena);
    return result;
}

cutis_result cutis_synth_create(cutis_context *context, const cutis_synth_options *options,
                                cutis_model **out)
{
    if (out) *out = NULL;
    if (!context || !out) return CUTIS_INVALID_ARGUMENT;
    static const cutis_synth_options defaults = { .body = CUTIS_BODY_BIPED };
    if (!options) options = &defaults;
    switch (options->body) {
    case CUTIS_BODY_BIPED:
    case CUTIS_BODY_QUADRUPED:
    case CUTIS_BODY_ARM:
    case CUTIS_BODY_FAMILY:
        return create_body(context, options, out);
    case CUTIS_BODY_CYLINDER:
        if (options->vertex_count != 0 && options->vertex_count != 16450)
            return INVALID(context, "cylinder: %u vertices asked for; it has 16450",
                           (unsigned)options->vertex_count);
        return cutis_synth_cylinder(context, out);
    case CUTIS_BODY_CROWD:
        return cutis_synth_crowd(context, options, out);
    }
    return INVALID(context, "synth: no body %d", (int)options->body);
}
