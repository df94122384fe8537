/// The reference body of docs/spec/blending.md 9: radius 1, length 8 along z, 64 sides, 257
/// rings, caps with a centre vertex, two bones that meet at the origin. Its volumes under every
/// method are known in closed form.
#include "synth/body.h"

#include "geometry/sincos.h"

enum {
    SIDES = 64,
    RINGS = 257,
    VERTICES = SIDES * RINGS + 2,
    TRIANGLES = 2 * SIDES * (RINGS - 1) + 2 * SIDES
};
static const double RADIUS = 1, LENGTH = 8, BLEND = 1;
/// Clips go from 0 to 180 degrees, 30 a second: at 1 frame a second the angles of that page's
/// table.
enum { STEPS = 6 };

typedef struct cylinder {
    float *positions, *normals, *weights;
    uint32_t *indices, *first, *joints, *parts;
} cylinder;

static void put_vertex(cylinder *c, uint32_t v, vec3 x, vec3 n)
{
    double w = (x.z + BLEND) / (2 * BLEND);
    w = w < 0 ? 0 : w > 1 ? 1 : w;
    v3_put_floats(x, c->positions + 3 * (size_t)v);
    v3_put_floats(n, c->normals + 3 * (size_t)v);
    uint32_t at = c->first[v];
    // The weight of the lower bone is rounded, the other one exact, so that they sum to 1.
    if (w < 1) c->joints[at] = 0, c->weights[at++] = (float)(1 - w);
    if (w > 0) c->joints[at] = 1, c->weights[at++] = (float)w;
    c->first[v + 1] = at;
}

static void put_triangle(cylinder *c, uint32_t *t, uint32_t i, uint32_t j, uint32_t k, bool upper)
{
    c->indices[3 * *t] = i;
    c->indices[3 * *t + 1] = j;
    c->indices[3 * *t + 2] = k;
    c->parts[(*t)++] = upper;
}

static void fill(cylinder *c)
{
    c->first[0] = 0;
    for (uint32_t ring = 0; ring < RINGS; ring++) {
        for (uint32_t side = 0; side < SIDES; side++) {
            double s, co, z = LENGTH * ((double)ring / (RINGS - 1) - 0.5);
            sincos_degrees(360.0 * side / SIDES, &s, &co);
            put_vertex(c, ring * SIDES + side, v3(RADIUS * co, RADIUS * s, z), v3(co, s, 0));
        }
    }
    put_vertex(c, VERTICES - 2, v3(0, 0, -LENGTH / 2), v3(0, 0, -1));
    put_vertex(c, VERTICES - 1, v3(0, 0, LENGTH / 2), v3(0, 0, 1));
    uint32_t t = 0;
    for (uint32_t ring = 0; ring + 1 < RINGS; ring++) {
        for (uint32_t side = 0; side < SIDES; side++) {
            uint32_t a = ring * SIDES + side, b = ring * SIDES + (side + 1) % SIDES;
            bool upper = ring >= (RINGS - 1) / 2;
            put_triangle(c, &t, a, b, b + SIDES, upper);
            put_triangle(c, &t, a, b + SIDES, a + SIDES, upper);
        }
    }
    for (uint32_t side = 0; side < SIDES; side++) {
        uint32_t next = (side + 1) % SIDES, top = (RINGS - 1) * SIDES;
        put_triangle(c, &t, VERTICES - 2, next, side, false);
        put_triangle(c, &t, VERTICES - 1, top + side, top + next, true);
    }
}

static cutis_result cylinder_alloc(cutis_arena *arena, cylinder *c)
{
    c->positions = cutis_arena_alloc(arena, VERTICES, 3 * sizeof(float));
    c->normals = cutis_arena_alloc(arena, VERTICES, 3 * sizeof(float));
    c->weights = cutis_arena_alloc(arena, VERTICES, 2 * sizeof(float));
    c->joints = cutis_arena_alloc(arena, VERTICES, 2 * sizeof(uint32_t));
    c->first = cutis_arena_alloc(arena, VERTICES + 1, sizeof(uint32_t));
    c->indices = cutis_arena_alloc(arena, TRIANGLES, 3 * sizeof(uint32_t));
    c->parts = cutis_arena_alloc(arena, TRIANGLES, sizeof(uint32_t));
    if (!c->positions || !c->normals || !c->weights || !c->joints || !c->first || !c->indices ||
        !c->parts)
        return cutis_alloc_result(arena->context);
    return CUTIS_OK;
}

/// Keys of the upper bone turning about `axis`.
static void clip_values(vec3 axis, float *times, float *values)
{
    for (int i = 0; i <= STEPS; i++) {
        synth_quat q = cutis_synth_rotation(v3_scale(axis, 30.0 * i));
        float key[4] = { (float)q.x, (float)q.y, (float)q.z, (float)q.w };
        times[i] = (float)i;
        for (int k = 0; k < 4; k++) values[4 * i + k] = key[k];
    }
}

static void fill_nodes(cutis_node nodes[4])
{
    static const char *const names[4] = { "cylinder", "lower", "upper", "cylinder_mesh" };
    static const int32_t parents[4] = { CUTIS_NONE, 0, 1, CUTIS_NONE };
    static const float heights[4] = { 0, -4, 4, 0 };
    for (int i = 0; i < 4; i++) {
        nodes[i] = cutis_synth_node(names[i], parents[i]);
        nodes[i].rest.translation.z = heights[i];
    }
    nodes[3].mesh = nodes[3].skin = 0;
}

static cutis_result create(cutis_context *context, const cylinder *c, cutis_model **out)
{
    static const char *const parts[2] = { "lower", "upper" };
    static const uint32_t joints[2] = { 1, 2 };
    static const cutis_mat34 binds[2] = { { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 4 } },
                                          { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } } };
    cutis_primitive primitive = {
        .vertex_count = VERTICES,
        .index_count = 3 * TRIANGLES,
        .indices = c->indices,
        .positions = c->positions,
        .normals = c->normals,
        .parts = c->parts,
        .material = 0,
        .influences = { c->first, c->joints, c->weights },
    };
    cutis_mesh mesh = { .name = "cylinder",
                        .primitive_count = 1,
                        .primitives = &primitive,
                        .part_count = 2,
                        .part_names = parts };
    cutis_node nodes[4];
    fill_nodes(nodes);
    cutis_skin skin = {
        .name = "cylinder", .joint_count = 2, .joints = joints, .inverse_binds = binds, .root = 1
    };
    float times[STEPS + 1], values[2][4 * (STEPS + 1)];
    clip_values(v3(1, 0, 0), times, values[0]);
    clip_values(v3(0, 0, 1), times, values[1]);
    cutis_channel channels[2];
    for (int i = 0; i < 2; i++)
        channels[i] = (cutis_channel){ .node = 2,
                                       .path = CUTIS_PATH_ROTATION,
                                       .key_count = STEPS + 1,
                                       .times = times,
                                       .values = values[i] };
    cutis_clip clips[2] = { { .name = "bend", .channel_count = 1, .channels = &channels[0] },
                            { .name = "twist", .channel_count = 1, .channels = &channels[1] } };
    cutis_material material = cutis_synth_material();
    material.base_color[0] = material.base_color[1] = 0.45f;
    cutis_model_data data = { .node_count = 4,
                              .mesh_count = 1,
                              .skin_count = 1,
                              .clip_count = 2,
                              .material_count = 1,
                              .nodes = nodes,
                              .meshes = &mesh,
                              .skins = &skin,
                              .clips = clips,
                              .materials = &material };
    return cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
}

cutis_result cutis_synth_cylinder(cutis_context *context, cutis_model **out)
{
    cutis_arena arena = { .context = context };
    cylinder c;
    cutis_result result = cylinder_alloc(&arena, &c);
    if (result == CUTIS_OK) {
        fill(&c);
        result = create(context, &c, out);
    }
    cutis_arena_release(&arena);
    return result;
}
