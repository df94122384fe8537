/// A crowd: bipeds and quadrupeds walking on the spot on a jittered grid. Two meshes, one skin and
/// one set of joint nodes a walker; place, heading, size, pace and phase come from the counter hash
/// of (seed, walker).
#include "synth/body.h"

#include "base/error.h"

/// Metres between places of the grid, and how far a walker may stand from its place.
static const double PITCH = 1.1, JITTER = 0.18;
/// The clip lasts two of the biped's cycles; walkers of other pace are cut off there.
static const double DURATION = 2.2;
static const double QUADRUPEDS = 0.3;
enum { KEYS = 40, COUNT_DEFAULT = 16, COUNT_MAX = 20000 };
enum {
    STREAM_KIND = 1,
    STREAM_X,
    STREAM_Z,
    STREAM_PHASE,
    STREAM_PACE,
    STREAM_SCALE,
    STREAM_HEADING
};

typedef struct crowd {
    cutis_arena arena;
    synth_body bodies[2];
    uint64_t seed;
    uint32_t count, columns;
    cutis_node *nodes;
    cutis_skin *skins;
    cutis_channel *channels;
    uint8_t *kinds; ///< 0 biped, 1 quadruped
    uint32_t node_count, channel_count;
} crowd;

static double draw(const crowd *c, uint64_t stream, uint32_t i, double low, double high)
{
    return low + (high - low) * cutis_random_unit(c->seed, stream, i);
}

static cutis_transform place(const crowd *c, uint32_t i)
{
    cutis_transform t = cutis_transform_identity();
    double middle = (c->columns - 1) / 2.0, heading = draw(c, STREAM_HEADING, i, 0, 360);
    double x = (i % c->columns - middle) * PITCH + draw(c, STREAM_X, i, -JITTER, JITTER);
    double z = (i / c->columns - middle) * PITCH + draw(c, STREAM_Z, i, -JITTER, JITTER);
    synth_quat q = cutis_synth_rotation(v3(0, heading, 0));
    float scale = (float)draw(c, STREAM_SCALE, i, 0.92, 1.08);
    t.translation = (cutis_float3){ (float)x, 0, (float)z };
    t.rotation = (cutis_quat){ (float)q.x, (float)q.y, (float)q.z, (float)q.w };
    t.scale = (cutis_float3){ scale, scale, scale };
    return t;
}

static cutis_result add_walk(crowd *c, const synth_body *body, uint32_t i, uint32_t first_node)
{
    clip_row row = body->clips.rows[0];
    row.start = draw(c, STREAM_PHASE, i, 0, 1);
    row.span = DURATION / row.duration * draw(c, STREAM_PACE, i, 0.85, 1.15);
    row.duration = DURATION;
    row.intervals = KEYS;
    row.linear = true;
    cutis_clip clip;
    TRY(cutis_synth_clip(&c->arena, &body->skeleton, &row, first_node, &clip));
    for (uint32_t k = 0; k < clip.channel_count; k++)
        c->channels[c->channel_count++] = clip.channels[k];
    return CUTIS_OK;
}

static cutis_result add_walker(crowd *c, uint32_t i)
{
    int kind = cutis_random_unit(c->seed, STREAM_KIND, i) < QUADRUPEDS;
    const synth_body *body = &c->bodies[kind];
    uint32_t root = c->node_count, joints = (uint32_t)body->skeleton.joint_count;
    cutis_node *nodes = c->nodes + root;
    nodes[0] =
        (cutis_node){ .parent = 0, .rest = place(c, i), .mesh = CUTIS_NONE, .skin = CUTIS_NONE };
    nodes[0].name = cutis_arena_format(&c->arena, "%s_%u", body->table->name, (unsigned)i);
    if (!nodes[0].name) return cutis_alloc_result(c->arena.context);
    c->node_count += joints + 1;
    c->kinds[i] = (uint8_t)kind;
    TRY(cutis_synth_body_skin(&c->arena, body, (int32_t)root, root + 1, nodes + 1, &c->skins[i]));
    return add_walk(c, body, i, root + 1);
}

static cutis_result build_bodies(crowd *c, const cutis_synth_options *options)
{
    static const cutis_body kinds[2] = { CUTIS_BODY_BIPED, CUTIS_BODY_QUADRUPED };
    cutis_synth_options each = *options;
    if (each.size == CUTIS_BODY_SIZE_DEFAULT) each.size = CUTIS_BODY_SIZE_LOW;
    for (int i = 0; i < 2; i++) {
        uint32_t vertices, seam;
        TRY(cutis_synth_body_size(c->arena.context, kinds[i], &each, &vertices, &seam));
        TRY(cutis_synth_body_build(&c->arena, kinds[i], vertices, 0, &c->bodies[i]));
    }
    return CUTIS_OK;
}

static cutis_result build_walkers(crowd *c)
{
    size_t most = (size_t)c->bodies[0].skeleton.joint_count + 2;
    c->nodes = cutis_arena_alloc(&c->arena, 1 + c->count * most, sizeof *c->nodes);
    c->skins = cutis_arena_alloc(&c->arena, c->count, sizeof *c->skins);
    c->channels = cutis_arena_alloc(&c->arena, c->count * most, sizeof *c->channels);
    c->kinds = cutis_arena_alloc(&c->arena, c->count, 1);
    if (!c->nodes || !c->skins || !c->channels || !c->kinds)
        return cutis_alloc_result(c->arena.context);
    c->nodes[0] = cutis_synth_node("crowd", CUTIS_NONE);
    c->node_count = 1;
    for (uint32_t i = 0; i < c->count; i++) TRY(add_walker(c, i));
    // The meshes after all walkers: a skinned mesh is a root of the scene, as glTF recommends.
    for (uint32_t i = 0; i < c->count; i++) {
        cutis_node *node = &c->nodes[c->node_count++];
        *node = cutis_synth_node(c->bodies[c->kinds[i]].table->name, CUTIS_NONE);
        node->mesh = c->kinds[i], node->skin = (int32_t)i;
    }
    return CUTIS_OK;
}

static cutis_result create(crowd *c, cutis_model **out)
{
    cutis_mesh meshes[2] = { c->bodies[0].mesh, c->bodies[1].mesh };
    cutis_clip clip = { .name = "walk",
                        .channel_count = c->channel_count,
                        .channels = c->channels };
    cutis_material material = cutis_synth_material();
    cutis_model_data data = { .node_count = c->node_count,
                              .mesh_count = 2,
                              .skin_count = c->count,
                              .clip_count = 1,
                              .material_count = 1,
                              .nodes = c->nodes,
                              .meshes = meshes,
                              .skins = c->skins,
                              .clips = &clip,
                              .materials = &material };
    return cutis_model_create(c->arena.context, &data, CUTIS_GATE_REFUSE, out);
}

cutis_result cutis_synth_crowd(cutis_context *context, const cutis_synth_options *options,
                               cutis_model **out)
{
    crowd c = { .arena = { .context = context }, .seed = options->seed, .columns = 1 };
    c.count = options->count ? options->count : COUNT_DEFAULT;
    if (c.count > COUNT_MAX)
        return INVALID(context, "crowd: %u walkers asked for; it can have 1 to %d",
                       (unsigned)c.count, (int)COUNT_MAX);
    while (c.columns * c.columns < c.count) c.columns++;
    cutis_result result = build_bodies(&c, options);
    if (result == CUTIS_OK) result = build_walkers(&c);
    if (result == CUTIS_OK) result = create(&c, out);
    cutis_arena_release(&c.arena);
    return result;
}
