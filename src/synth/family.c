/// From a kind and a seed to a body with its truth. A draw that would grow together with itself or
/// is no sphere is thrown away for the next one of the same seed, so every seed gives a body; which
/// draw it was follows from the seed alone.
#include "synth/family.h"

#include "base/error.h"
#include "synth/remesh.h"

#include <stdio.h>
#include <string.h>

enum {
    VERTICES_DEFAULT = 8000,
    VERTICES_MIN = 2000,    ///< fewer cannot carry the thinnest limbs
    VERTICES_MAX = 4000000, ///< as of the other bodies
    DRAWS = 240,
    POSE_DRAWS = 12, ///< new poses for the same body, before it is a new body
};
/// mm: of the grid, and around the body.
static const double CELL = 7, MARGIN = 40;
/// Streams: what the seed says of pose and scan; proportions; poses.
static const uint64_t STREAM_CHOICE = 1, STREAM_BODY = 1 << 16, STREAM_POSE = 1 << 24;

typedef struct kind_row {
    const char *name;
    void (*build)(family *f);
} kind_row;

static const kind_row KINDS[CUTIS_FAMILY_KIND_COUNT] = {
    [CUTIS_FAMILY_HUMAN] = { "human", cutis_family_human },
    [CUTIS_FAMILY_QUADRUPED] = { "quadruped", cutis_family_quadruped },
    [CUTIS_FAMILY_BIRD] = { "bird", cutis_family_bird },
    [CUTIS_FAMILY_OCTOPUS] = { "octopus", cutis_family_octopus },
    [CUTIS_FAMILY_INSECT] = { "insect", cutis_family_insect },
    [CUTIS_FAMILY_BEAR] = { "bear", cutis_family_bear },
    [CUTIS_FAMILY_HAND] = { "hand", cutis_family_hand },
    [CUTIS_FAMILY_FISH] = { "fish", cutis_family_fish },
};

const char *cutis_family_kind_name(cutis_family_kind kind)
{
    return (unsigned)kind < CUTIS_FAMILY_KIND_COUNT ? KINDS[kind].name : "unknown";
}

cutis_result cutis_family_kind_from_name(const char *name, cutis_family_kind *out)
{
    if (!name || !out) return CUTIS_INVALID_ARGUMENT;
    for (int i = 0; i < CUTIS_FAMILY_KIND_COUNT; i++) {
        if (strcmp(name, KINDS[i].name) != 0) continue;
        *out = (cutis_family_kind)i;
        return CUTIS_OK;
    }
    return CUTIS_NOT_FOUND;
}

cutis_result cutis_family_resolve(const cutis_synth_options *options, cutis_synth_options *out)
{
    if (!options || !out || options->body != CUTIS_BODY_FAMILY) return CUTIS_INVALID_ARGUMENT;
    uint64_t stream = STREAM_CHOICE + (uint64_t)options->kind;
    *out = *options;
    if (out->pose == CUTIS_FAMILY_POSE_AUTO)
        out->pose = (cutis_family_pose)(1 + (int)(4 * cutis_random_unit(out->seed, stream, 0)));
    if (out->scan == CUTIS_FAMILY_SCAN_AUTO)
        out->scan = cutis_random_unit(out->seed, stream, 1) < 0.5 ? CUTIS_FAMILY_SCAN_ON
                                                                  : CUTIS_FAMILY_SCAN_OFF;
    return CUTIS_OK;
}

static cutis_result check(cutis_context *context, const cutis_synth_options *o)
{
    if ((unsigned)o->kind >= CUTIS_FAMILY_KIND_COUNT)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "family: no kind %d", (int)o->kind);
    if ((unsigned)o->pose > CUTIS_FAMILY_POSE_BENT || (unsigned)o->scan > CUTIS_FAMILY_SCAN_OFF)
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "family: unknown pose %d or scan %d",
                          (int)o->pose, (int)o->scan);
    if (o->vertex_count && (o->vertex_count < VERTICES_MIN || o->vertex_count > VERTICES_MAX))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                          "family: %u vertices asked for; it can have %d to %d",
                          (unsigned)o->vertex_count, (int)VERTICES_MIN, (int)VERTICES_MAX);
    return CUTIS_OK;
}

/// The seed's draw number n: n / POSE_DRAWS of the body, and a pose of its own.
static void draw_body(family *f, const cutis_synth_options *o, int n)
{
    uint64_t kind = (uint64_t)o->kind << 8;
    *f = (family){ .seed = o->seed,
                   .stream = STREAM_BODY + kind + (uint64_t)(n / POSE_DRAWS),
                   .pose_stream = STREAM_POSE + kind + (uint64_t)n,
                   .kind = o->kind,
                   .pose = o->pose };
    f->plump = cutis_family_draw(f, 0, 1);
    KINDS[o->kind].build(f);
}

static void primitive_box(const shape_primitive *p, box3 *box)
{
    double reach[3] = { 0 };
    if (p->kind == SYNTH_CONE) {
        double rb = p->ra - p->slope * p->length, r = p->ra > rb ? p->ra : rb;
        vec3 by = v3(r, r, r), b = v3_mad(p->a, p->length, p->u);
        box3_add(box, v3_sub(p->a, by)), box3_add(box, v3_add(p->a, by));
        box3_add(box, v3_sub(b, by)), box3_add(box, v3_add(b, by));
        return;
    }
    double radii[3] = { 1 / p->inverse.x, 1 / p->inverse.y, 1 / p->inverse.z };
    for (int k = 0; k < 3; k++) {
        vec3 a = v3_scale(p->axes[k], radii[k]);
        reach[0] += a.x * a.x, reach[1] += a.y * a.y, reach[2] += a.z * a.z;
    }
    vec3 by = v3(sqrt(reach[0]), sqrt(reach[1]), sqrt(reach[2]));
    box3_add(box, v3_sub(p->centre, by)), box3_add(box, v3_add(p->centre, by));
}

static void make_table(const family *f, synth_table *table)
{
    *table = (synth_table){ .name = KINDS[f->kind].name, .cell = CELL };
    table->runs[0].rows = f->rows;
    table->runs[0].count = (size_t)f->flesh_count;
}

static void set_box(synth_table *table, const shape *s)
{
    box3 box = box3_empty();
    for (int i = 0; i < s->count; i++) primitive_box(&s->primitives[i], &box);
    vec3 by = v3(MARGIN, MARGIN, MARGIN);
    v3_put(v3_sub(v3_of(box.low), by), table->box_min);
    v3_put(v3_add(v3_of(box.high), by), table->box_max);
}

/// Joints of the rest pose; rows carry their blend widths.
static void make_skeleton(const family *f, synth_joint_row *rows, synth_skeleton *out)
{
    memset(out, 0, sizeof *out);
    out->row_count = out->joint_count = f->bone_count;
    for (int j = 0; j < f->bone_count; j++) {
        const family_bone *b = &f->bones[j];
        rows[j] = (synth_joint_row){ .name = b->name, .blend = b->blend };
        out->rows[j] = &rows[j];
        out->joints[j] = (synth_joint){
            .row = j, .side = 0, .parent = b->parent, .mirror = j, .pivot = b->pivot
        };
        memcpy(out->joints[j].name, b->name, sizeof b->name);
    }
}

/// One draw made real: surface, parts, weights, joints, all still in neutral millimetres.
/// @return CUTIS_INTERNAL when the draw is none to keep
static cutis_result make_truth(cutis_arena *arena, family *f, const cutis_synth_options *o,
                               synth_body *out, synth_surface *surface, uint32_t **parts,
                               cutis_influences *weights)
{
    synth_table *table = cutis_arena_alloc(arena, 1, sizeof *table);
    synth_joint_row *rows = cutis_arena_alloc(arena, SYNTH_JOINT_MAX, sizeof *rows);
    shape *s = cutis_arena_alloc(arena, 1, sizeof *s);
    if (!table || !rows || !s) return cutis_alloc_result(arena->context);
    make_table(f, table);
    cutis_synth_shape_init(s, table);
    cutis_family_pose_shape(f, s);
    set_box(table, s);
    if (!cutis_family_is_clear(f, s))
        return cutis_fail(arena->context, CUTIS_INTERNAL, "%s: it would grow together",
                          table->name);
    out->table = table;
    out->clips = (clip_list){ 0 };
    make_skeleton(f, rows, &out->skeleton);
    TRY(cutis_synth_surface_of_shape(arena, table, s, NULL, o->vertex_count, surface));
    *parts = cutis_arena_alloc(arena, surface->triangle_count, sizeof **parts);
    if (!*parts) return cutis_alloc_result(arena->context);
    TRY(cutis_family_labels(arena, f, s, surface, false, surface->labels));
    TRY(cutis_family_labels(arena, f, s, surface, true, *parts));
    return cutis_synth_weights(arena, &out->skeleton, surface, weights);
}

/// To its true size, lowest point on y = 0.
static void place(const family *f, synth_surface *s, synth_skeleton *skeleton)
{
    double lowest = s->positions[0].y;
    for (uint32_t v = 1; v < s->vertex_count; v++)
        if (s->positions[v].y < lowest) lowest = s->positions[v].y;
    vec3 down = v3(0, -lowest, 0);
    for (uint32_t v = 0; v < s->vertex_count; v++)
        s->positions[v] = v3_scale(v3_add(s->positions[v], down), f->scale);
    for (int j = 0; j < skeleton->joint_count; j++)
        skeleton->joints[j].pivot = v3_scale(v3_add(skeleton->joints[j].pivot, down), f->scale);
}

static cutis_result make_mesh(cutis_arena *arena, const family *f, const synth_surface *s,
                              const uint32_t *parts, const cutis_influences *weights, bool bare,
                              cutis_mesh *out)
{
    cutis_primitive *p = cutis_arena_zero(arena, 1, sizeof *p);
    const char **names = cutis_arena_alloc(arena, (size_t)f->part_count, sizeof *names);
    float *positions = cutis_arena_alloc(arena, s->vertex_count, 3 * sizeof *positions);
    float *normals = cutis_arena_alloc(arena, s->vertex_count, 3 * sizeof *normals);
    if (!p || !names || !positions || !normals) return cutis_alloc_result(arena->context);
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        v3_put_floats(v3_scale(s->positions[v], 1e-3), positions + 3 * (size_t)v);
        v3_put_floats(s->normals[v], normals + 3 * (size_t)v);
    }
    *p = (cutis_primitive){ .vertex_count = s->vertex_count,
                            .index_count = 3 * s->triangle_count,
                            .indices = s->triangles,
                            .positions = positions,
                            .normals = normals };
    *out = (cutis_mesh){ .name = "body", .primitive_count = 1, .primitives = p };
    if (bare) return CUTIS_OK;
    for (int i = 0; i < f->part_count; i++) {
        names[i] = cutis_arena_string(arena, f->parts[i]);
        if (!names[i]) return cutis_alloc_result(arena->context);
    }
    p->parts = parts;
    p->influences = *weights;
    out->name = KINDS[f->kind].name;
    out->part_count = (uint32_t)f->part_count;
    out->part_names = names;
    return CUTIS_OK;
}

cutis_result cutis_synth_family_build(cutis_arena *arena, const cutis_synth_options *options,
                                      synth_body *out)
{
    cutis_synth_options o;
    synth_surface surface;
    uint32_t *parts = NULL;
    cutis_influences weights;
    TRY(check(arena->context, options));
    TRY(cutis_family_resolve(options, &o));
    if (o.vertex_count == 0) o.vertex_count = VERTICES_DEFAULT;
    family *f = cutis_arena_alloc(arena, 1, sizeof *f);
    if (!f) return cutis_alloc_result(arena->context);
    cutis_result result = CUTIS_INTERNAL;
    for (int n = 0; n < DRAWS && result == CUTIS_INTERNAL; n++) {
        draw_body(f, &o, n);
        result = make_truth(arena, f, &o, out, &surface, &parts, &weights);
    }
    if (result != CUTIS_OK) return result;
    TRY(cutis_family_scan_and_shuffle(arena, f, o.scan == CUTIS_FAMILY_SCAN_ON, &surface, parts,
                                      &weights));
    place(f, &surface, &out->skeleton);
    return make_mesh(arena, f, &surface, parts, &weights, o.unrigged, &out->mesh);
}
