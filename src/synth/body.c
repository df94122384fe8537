/// From options to a mesh with everything on it: sizes and limits, surface, weights, colours,
/// texture coordinates.
#include "synth/body.h"

#include "base/error.h"

#include <string.h>

/// More would not fit the 32-bit half-edges of the remesher with any to spare, nor most machines.
static const uint32_t VERTICES_MAX = 4000000;
/// Below this a finger has too few edges around it.
static const uint32_t FINGERS_FROM = 3000;

const synth_table *cutis_synth_table(cutis_body body, uint32_t vertices)
{
    switch (body) {
    case CUTIS_BODY_BIPED:
        return vertices < FINGERS_FROM ? &cutis_synth_mitten : &cutis_synth_biped;
    case CUTIS_BODY_QUADRUPED:
        return &cutis_synth_quadruped;
    case CUTIS_BODY_ARM:
        return &cutis_synth_arm;
    default:
        return NULL;
    }
}

/// Vertices of a closed body; the arm's published sizes come from these and a seam of so many
/// edges.
static void size_in_vertices(cutis_body body, cutis_body_size size, uint32_t *vertices,
                             uint32_t *seam)
{
    static const uint32_t counts[][4] = { [CUTIS_BODY_BIPED] = { 12000, 3000, 12000, 46036 },
                                          [CUTIS_BODY_QUADRUPED] = { 8000, 1500, 8000, 46036 },
                                          [CUTIS_BODY_ARM] = { 2883, 2883, 11420, 45732 } };
    static const uint32_t arm_seam[4] = { 90, 90, 155, 305 };
    *seam = body == CUTIS_BODY_ARM ? arm_seam[size] : 0;
    *vertices = counts[body][size];
}

cutis_result cutis_synth_body_size(cutis_context *context, cutis_body body,
                                   const cutis_synth_options *options, uint32_t *vertices,
                                   uint32_t *seam_edges)
{
    *vertices = options->vertex_count;
    *seam_edges = 0;
    if (options->size < CUTIS_BODY_SIZE_DEFAULT || options->size > CUTIS_BODY_SIZE_HIGH)
        return INVALID(context, "%s: unknown size %d", cutis_body_name(body), (int)options->size);
    if (*vertices == 0) size_in_vertices(body, options->size, vertices, seam_edges);
    uint32_t least =
        cutis_synth_table(body, body == CUTIS_BODY_BIPED ? 0 : *vertices)->vertices_min;
    if (*vertices < least || *vertices > VERTICES_MAX)
        return INVALID(context, "%s: %u vertices asked for; it can have %u to %u%s",
                       cutis_body_name(body), (unsigned)*vertices, (unsigned)least,
                       (unsigned)VERTICES_MAX,
                       body == CUTIS_BODY_BIPED ? " (fingers from 3000, mittens below)" : "");
    return CUTIS_OK;
}

/// Space for all vertex arrays of a primitive.
typedef struct arrays {
    float *positions, *normals, *texcoords, *colors;
    uint32_t *parts;
} arrays;

static cutis_result arrays_alloc(cutis_arena *arena, size_t vertices, size_t triangles, arrays *out)
{
    out->positions = cutis_arena_alloc(arena, vertices, 3 * sizeof(float));
    out->normals = cutis_arena_alloc(arena, vertices, 3 * sizeof(float));
    out->texcoords = cutis_arena_alloc(arena, vertices, 2 * sizeof(float));
    out->colors = cutis_arena_alloc(arena, vertices, 4 * sizeof(float));
    out->parts = cutis_arena_alloc(arena, triangles, sizeof(uint32_t));
    if (!out->positions || !out->normals || !out->texcoords || !out->colors || !out->parts)
        return cutis_alloc_result(arena->context);
    return CUTIS_OK;
}

/// Angle of a point about the arm's axis, degrees.
static double angle_about_arm(vec3 x)
{
    return cutis_synth_atan2(x.z + 10, x.y - 1425);
}

/// The seam's angle at the place of x: that of its vertex nearest along the arm.
static double seam_angle(const synth_surface *s, const synth_seam *seam, double x)
{
    uint32_t best = 0;
    double least = 1e300;
    for (uint32_t i = 0; i < seam->path_count; i++) {
        double far = s->positions[seam->path[i]].x - x;
        far = far < 0 ? -far : far;
        if (far < least) least = far, best = i;
    }
    return angle_about_arm(s->positions[seam->path[best]]);
}

/// u around from the seam (0 on its left side, 1 on the copies), v along the arm.
static void seam_texcoords(const synth_surface *s, const synth_seam *seam, float *out)
{
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        vec3 x = s->positions[v];
        double turn = (angle_about_arm(x) - seam_angle(s, seam, x.x)) / 360;
        out[2 * v] = (float)(turn < 0 ? turn + 1 : turn);
        out[2 * v + 1] = (float)((x.x - 60) / 900);
    }
    for (uint32_t i = 0; i < seam->path_count; i++) out[2 * seam->path[i]] = 0;
    for (uint32_t i = 0; i < seam->copy_count; i++) {
        out[2 * (s->vertex_count + i)] = 1;
        out[2 * (s->vertex_count + i) + 1] = out[2 * seam->copies[i] + 1];
    }
}

/// Seen from the front, two metres to the unit: simple, and continuous over the closed surface.
static void front_texcoords(const synth_surface *s, float *out)
{
    for (uint32_t v = 0; v < s->vertex_count; v++) {
        out[2 * v] = (float)(0.5 + s->positions[v].x / 2000);
        out[2 * v + 1] = (float)(1 - s->positions[v].y / 2000);
    }
}

static void write_vertices(const synth_surface *s, const synth_seam *seam, const arrays *a)
{
    for (uint32_t v = 0; v < s->vertex_count + seam->copy_count; v++) {
        uint32_t from = v < s->vertex_count ? v : seam->copies[v - s->vertex_count];
        v3_put_floats(v3_scale(s->positions[from], 1e-3), a->positions + 3 * (size_t)v);
        v3_put_floats(s->normals[from], a->normals + 3 * (size_t)v);
        memcpy(a->colors + 4 * (size_t)v, a->colors + 4 * (size_t)from, 4 * sizeof(float));
    }
}

/// The copies' influences after those of the surface.
static cutis_result extend_influences(cutis_arena *arena, const synth_surface *s,
                                      const synth_seam *seam, cutis_influences *w)
{
    size_t vertices = s->vertex_count, total = w->first[vertices],
           capacity = total + 8 * seam->copy_count;
    uint32_t *first = cutis_arena_alloc(arena, vertices + seam->copy_count + 1, sizeof *first);
    uint32_t *joints = cutis_arena_alloc(arena, capacity, sizeof *joints);
    float *weights = cutis_arena_alloc(arena, capacity, sizeof *weights);
    if (!first || !joints || !weights) return cutis_alloc_result(arena->context);
    memcpy(first, w->first, (vertices + 1) * sizeof *first);
    memcpy(joints, w->joints, total * sizeof *joints);
    memcpy(weights, w->weights, total * sizeof *weights);
    for (uint32_t i = 0; i < seam->copy_count; i++) {
        for (uint32_t k = w->first[seam->copies[i]]; k < w->first[seam->copies[i] + 1]; k++) {
            joints[total] = w->joints[k];
            weights[total++] = w->weights[k];
        }
        first[vertices + i + 1] = (uint32_t)total;
    }
    *w = (cutis_influences){ first, joints, weights };
    return CUTIS_OK;
}

static cutis_result make_primitive(cutis_arena *arena, const synth_body *body, synth_surface *s,
                                   uint32_t seam_edges, cutis_primitive *out)
{
    synth_seam seam = { 0 };
    cutis_influences influences;
    arrays a;
    size_t capacity = (size_t)s->vertex_count + seam_edges;
    TRY(arrays_alloc(arena, capacity, s->triangle_count, &a));
    TRY(cutis_synth_weights(arena, &body->skeleton, s, &influences));
    TRY(cutis_synth_colors(arena, body->table, &body->skeleton, s, a.colors));
    if (seam_edges > 0) {
        TRY(cutis_synth_seam_cut(arena, s, seam_edges, &seam));
        TRY(extend_influences(arena, s, &seam, &influences));
    }
    write_vertices(s, &seam, &a);
    if (seam_edges > 0)
        seam_texcoords(s, &seam, a.texcoords);
    else
        front_texcoords(s, a.texcoords);
    for (uint32_t t = 0; t < s->triangle_count; t++)
        a.parts[t] = s->labels[t] - (uint32_t)body->skeleton.part_first;
    *out = (cutis_primitive){ .vertex_count = s->vertex_count + seam.copy_count,
                              .index_count = 3 * s->triangle_count,
                              .indices = s->triangles,
                              .positions = a.positions,
                              .normals = a.normals,
                              .texcoords = a.texcoords,
                              .colors = a.colors,
                              .parts = a.parts,
                              .influences = influences };
    return CUTIS_OK;
}

cutis_result cutis_synth_body_build(cutis_arena *arena, cutis_body body, uint32_t vertices,
                                    uint32_t seam_edges, synth_body *out)
{
    synth_surface surface;
    out->table = cutis_synth_table(body, vertices);
    out->clips = body == CUTIS_BODY_BIPED       ? cutis_synth_biped_clips
                 : body == CUTIS_BODY_QUADRUPED ? cutis_synth_quadruped_clips
                                                : cutis_synth_arm_clips;
    TRY(cutis_synth_skeleton_init(&out->skeleton, arena->context, out->table));
    TRY(cutis_synth_surface_build(arena, out->table, &out->skeleton, vertices, &surface));
    uint32_t first = (uint32_t)out->skeleton.part_first;
    uint32_t parts = (uint32_t)out->skeleton.joint_count - first;
    cutis_primitive *primitive = cutis_arena_alloc(arena, 1, sizeof *primitive);
    const char **names = cutis_arena_alloc(arena, parts, sizeof *names);
    if (!primitive || !names) return cutis_alloc_result(arena->context);
    for (uint32_t i = 0; i < parts; i++) {
        names[i] = cutis_arena_string(arena, out->skeleton.joints[first + i].name);
        if (!names[i]) return cutis_alloc_result(arena->context);
    }
    out->mesh = (cutis_mesh){ .name = out->table->name,
                              .primitive_count = 1,
                              .primitives = primitive,
                              .part_count = parts,
                              .part_names = names };
    return make_primitive(arena, out, &surface, seam_edges, primitive);
}

static cutis_float3 metres(vec3 v)
{
    return (cutis_float3){ (float)(v.x * 1e-3), (float)(v.y * 1e-3), (float)(v.z * 1e-3) };
}

cutis_result cutis_synth_body_skin(cutis_arena *arena, const synth_body *body, int32_t parent,
                                   uint32_t first_node, cutis_node *nodes, cutis_skin *skin)
{
    const synth_skeleton *skeleton = &body->skeleton;
    size_t count = (size_t)skeleton->joint_count;
    uint32_t *joints = cutis_arena_alloc(arena, count, sizeof *joints);
    cutis_mat34 *binds = cutis_arena_alloc(arena, count, sizeof *binds);
    if (!joints || !binds) return cutis_alloc_result(arena->context);
    for (int j = 0; j < skeleton->joint_count; j++) {
        const synth_joint *joint = &skeleton->joints[j];
        vec3 from = joint->parent < 0 ? v3(0, 0, 0) : skeleton->joints[joint->parent].pivot;
        cutis_float3 back = metres(v3_scale(joint->pivot, -1));
        nodes[j] =
            cutis_synth_node(cutis_arena_string(arena, joint->name),
                             joint->parent < 0 ? parent : (int32_t)first_node + joint->parent);
        if (!nodes[j].name) return cutis_alloc_result(arena->context);
        nodes[j].rest.translation = metres(v3_sub(joint->pivot, from));
        joints[j] = first_node + (uint32_t)j;
        binds[j] = (cutis_mat34){ { 1, 0, 0, back.x, 0, 1, 0, back.y, 0, 0, 1, back.z } };
    }
    *skin = (cutis_skin){ .name = body->table->name,
                          .joint_count = (uint32_t)count,
                          .joints = joints,
                          .inverse_binds = binds,
                          .root = (int32_t)first_node };
    return CUTIS_OK;
}

cutis_node cutis_synth_node(const char *name, int32_t parent)
{
    return (cutis_node){ .name = name,
                         .parent = parent,
                         .rest = cutis_transform_identity(),
                         .mesh = CUTIS_NONE,
                         .skin = CUTIS_NONE };
}

cutis_material cutis_synth_material(void)
{
    return (cutis_material){
        .name = "body", .base_color = { 1, 1, 1, 1 }, .metallic = 0, .roughness = 0.75f
    };
}
