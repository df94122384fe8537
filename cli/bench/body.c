/// The sheet of bench/body.h. Weights change slowly along the strip and take few different values,
/// so that binding (optimized centres above all) stays quick; a kernel's speed does not depend on
/// them.
#include "bench/bench.h"

#include <math.h>
#include <stdlib.h>

#define INFLUENCES 4
#define STEPS      64 // different weight vectors per bone set
#define KEYS       31
#define CLIPS      2

typedef struct parts {
    cutis_node nodes[BENCH_BONES + 1];
    uint32_t joints[BENCH_BONES];
    cutis_mat34 binds[BENCH_BONES];
    cutis_channel channels[CLIPS][BENCH_BONES];
    float times[KEYS];
    float rotations[CLIPS][BENCH_BONES][KEYS][4];
    memory_list memory;
    float *positions, *normals, *weights;
    uint32_t *indices, *first, *bones;
} parts;

static cutis_quat small_turn(uint64_t stream, uint64_t index, double most)
{
    cutis_float3 axis = { (float)(2.0 * cutis_random_unit(1, stream, 4 * index) - 1.0),
                          (float)(2.0 * cutis_random_unit(1, stream, 4 * index + 1) - 1.0), 0.5f };
    double angle = most * cutis_random_unit(1, stream, 4 * index + 2);
    return cutis_quat_from_axis_angle(axis, (float)angle);
}

void bench_pose(const cutis_model *model, cutis_transform *transforms)
{
    const uint32_t count = cutis_model_get(model)->node_count;
    cutis_pose_rest(model, transforms, NULL);
    for (uint32_t n = 1; n < count; n++)
        transforms[n].rotation = cutis_quat_multiply(transforms[n].rotation, small_turn(0, n, 0.7));
}

// A tree of joints three deep: a hub, eight limbs, seven fingers each.
static void fill_skeleton(parts *p)
{
    for (uint32_t j = 0; j < BENCH_BONES; j++) {
        int32_t parent = j == 0 ? CUTIS_NONE : j < 8 ? 0 : (int32_t)(j / 8);
        p->nodes[j] = cutis_node_default();
        p->nodes[j].parent = parent;
        p->nodes[j].rest.translation = (cutis_float3){ 0.02f * (float)(j % 8), 0.1f, 0.0f };
        cutis_mat34 local = cutis_mat34_from_transform(&p->nodes[j].rest);
        cutis_mat34 world = local, parent_world;
        if (parent >= 0 && cutis_mat34_invert(&p->binds[parent], &parent_world))
            world = cutis_mat34_multiply(&parent_world, &local);
        cutis_mat34_invert(&world, &p->binds[j]);
        p->joints[j] = j;
    }
    p->nodes[BENCH_BONES] = cutis_node_default();
    p->nodes[BENCH_BONES].mesh = p->nodes[BENCH_BONES].skin = 0;
}

static void fill_clips(parts *p)
{
    for (int k = 0; k < KEYS; k++) p->times[k] = (float)k / 30.0f;
    for (uint32_t c = 0; c < CLIPS; c++)
        for (uint32_t j = 0; j < BENCH_BONES; j++) {
            for (uint32_t k = 0; k < KEYS; k++) {
                cutis_quat q = small_turn(1 + c, j * KEYS + k, 0.5);
                float *out = p->rotations[c][j][k];
                out[0] = q.x, out[1] = q.y, out[2] = q.z, out[3] = q.w;
            }
            p->channels[c][j] = (cutis_channel){ .node = j,
                                                 .path = CUTIS_PATH_ROTATION,
                                                 .key_count = KEYS,
                                                 .times = p->times,
                                                 .values = p->rotations[c][j][0] };
        }
}

// Set s of 16: bones 4s to 4s + 3. With more sets the later ones start at other bones and have
// gaps, so all differ.
static uint32_t set_bone(uint32_t set, uint32_t i)
{
    uint32_t round = set / 16, start = 4 * (set % 16) + round;
    return (start + i * (1 + round % 7)) % BENCH_BONES;
}

static void fill_vertex(parts *p, uint32_t v, uint32_t set, double along)
{
    double step = floor(along * STEPS) / STEPS, sum = 0.0, raw[INFLUENCES];
    float *position = p->positions + 3 * (size_t)v, *normal = p->normals + 3 * (size_t)v;
    double turn = 6.283185307179586 * cutis_random_unit(2, 0, v);
    position[0] = (float)(0.5 * cos(turn));
    position[1] = (float)along;
    position[2] = (float)(0.5 * sin(turn));
    normal[0] = (float)cos(turn);
    normal[1] = 0.0f;
    normal[2] = (float)sin(turn);
    for (int i = 0; i < INFLUENCES; i++) {
        raw[i] = 1.0 + 0.8 * cos(6.283185307179586 * (step + 0.25 * i));
        sum += raw[i];
    }
    for (uint32_t i = 0; i < INFLUENCES; i++) {
        p->bones[INFLUENCES * (size_t)v + i] = set_bone(set, i);
        p->weights[INFLUENCES * (size_t)v + i] = (float)(raw[i] / sum);
    }
    p->first[v] = INFLUENCES * v;
}

// Sets change at multiples of 32 vertices, the widest block, so that no block mixes two of them.
static void fill_vertices(parts *p, uint32_t count, uint32_t set_count)
{
    const uint32_t blocks = (count + 31) / 32;
    for (uint32_t v = 0; v < count; v++) {
        uint64_t block = v / 32;
        uint32_t set = (uint32_t)(block * set_count / blocks);
        uint64_t begin = 32 * (((uint64_t)set * blocks + set_count - 1) / set_count);
        uint64_t end = 32 * (((uint64_t)(set + 1) * blocks + set_count - 1) / set_count);
        fill_vertex(p, v, set, (double)(v - begin) / (double)(end - begin));
    }
    p->first[count] = INFLUENCES * count;
    for (uint32_t t = 0; t + 2 < count; t++)
        for (uint32_t k = 0; k < 3; k++) p->indices[3 * (size_t)t + k] = t + k;
}

static bool allocate(parts *p, size_t count)
{
    p->positions = memory_take(&p->memory, 3 * count, sizeof *p->positions);
    p->normals = memory_take(&p->memory, 3 * count, sizeof *p->normals);
    p->weights = memory_take(&p->memory, INFLUENCES * count, sizeof *p->weights);
    p->bones = memory_take(&p->memory, INFLUENCES * count, sizeof *p->bones);
    p->first = memory_take(&p->memory, count, sizeof *p->first);
    p->indices = memory_take(&p->memory, 3 * count, sizeof *p->indices);
    return !p->memory.failed;
}

static void release(parts **p)
{
    if (*p) memory_release(&(*p)->memory);
    free(*p);
}

cutis_result bench_body_create(cutis_context *context, uint32_t vertex_count, uint32_t set_count,
                               cutis_model **out)
{
    ENDS_BY(release) parts *p = calloc(1, sizeof *p);
    if (!p || vertex_count < 3 || !allocate(p, vertex_count)) return CUTIS_OUT_OF_MEMORY;
    fill_skeleton(p);
    fill_clips(p);
    fill_vertices(p, vertex_count, set_count);
    cutis_primitive primitive = {
        .vertex_count = vertex_count,
        .index_count = 3 * (vertex_count - 2),
        .indices = p->indices,
        .positions = p->positions,
        .normals = p->normals,
        .influences = { p->first, p->bones, p->weights },
        .material = CUTIS_NONE,
    };
    cutis_mesh mesh = { .primitive_count = 1, .primitives = &primitive };
    cutis_skin skin = { .joint_count = BENCH_BONES,
                        .joints = p->joints,
                        .inverse_binds = p->binds,
                        .root = CUTIS_NONE };
    cutis_clip clips[CLIPS] = {
        { .name = "a", .channel_count = BENCH_BONES, .channels = p->channels[0] },
        { .name = "b", .channel_count = BENCH_BONES, .channels = p->channels[1] },
    };
    cutis_model_data data = { .node_count = BENCH_BONES + 1,
                              .mesh_count = 1,
                              .skin_count = 1,
                              .clip_count = CLIPS,
                              .nodes = p->nodes,
                              .meshes = &mesh,
                              .skins = &skin,
                              .clips = clips };
    return cutis_model_create(context, &data, CUTIS_GATE_REFUSE, out);
}
