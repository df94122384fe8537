/// One model with bodies of the family side by side, a row a kind, for the gallery's picture:
/// pictures_family OUT.glb FIRST_SEED COUNT [KIND]. Every body is scaled to the same size and
/// turned a little; its parts are the mesh's, so `cutis render --show parts` paints the truth.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cutis/cutis.h>
#include <cutis/io.h>

enum { BODY_MAX = 256, VERTICES = 5000, ROW = 8 };
static const float STEP = 1.05f, QUARTER = 0.2164f; // of a turn: sine of 12.5 degrees

typedef struct sheet {
    cutis_context *context;
    cutis_model *bodies[BODY_MAX];
    cutis_mesh meshes[BODY_MAX];
    cutis_node nodes[BODY_MAX];
    char names[BODY_MAX][32];
    uint32_t count;
} sheet;

static void check(const sheet *s, cutis_result result)
{
    if (result == CUTIS_OK) return;
    fprintf(stderr, "pictures: %s\n", cutis_context_error(s->context));
    exit(1);
}

static void bounds(const cutis_primitive *p, float low[3], float high[3])
{
    for (int k = 0; k < 3; k++) low[k] = high[k] = p->positions[k];
    for (size_t i = 0; i < 3 * (size_t)p->vertex_count; i++) {
        int k = (int)(i % 3);
        if (p->positions[i] < low[k]) low[k] = p->positions[i];
        if (p->positions[i] > high[k]) high[k] = p->positions[i];
    }
}

static void add(sheet *s, cutis_family_kind kind, uint64_t seed, uint32_t column, uint32_t row)
{
    uint32_t i = s->count++;
    cutis_synth_options options = {
        .body = CUTIS_BODY_FAMILY, .kind = kind, .seed = seed, .vertex_count = VERTICES
    };
    check(s, cutis_synth_create(s->context, &options, &s->bodies[i]));
    s->meshes[i] = cutis_model_get(s->bodies[i])->meshes[0];
    float low[3], high[3], most = 0;
    bounds(s->meshes[i].primitives, low, high);
    for (int k = 0; k < 3; k++) most = high[k] - low[k] > most ? high[k] - low[k] : most;
    float scale = 0.9f / most;
    snprintf(s->names[i], sizeof s->names[i], "%s_%u", cutis_family_kind_name(kind),
             (unsigned)seed);
    s->nodes[i] = (cutis_node){ .name = s->names[i],
                                .parent = CUTIS_NONE,
                                .rest = cutis_transform_identity(),
                                .mesh = (int32_t)i,
                                .skin = CUTIS_NONE };
    float x = scale * (low[0] + high[0]) / 2, y = scale * (low[1] + high[1]) / 2;
    s->nodes[i].rest.translation =
        (cutis_float3){ (float)column * STEP - x, -(float)row * STEP - y, 0 };
    s->nodes[i].rest.scale = (cutis_float3){ scale, scale, scale };
    s->nodes[i].rest.rotation = (cutis_quat){ 0.08f, QUARTER, 0.0177f, 0.97287f };
}

int main(int argc, char **argv)
{
    static sheet s;
    if (argc < 4) return fprintf(stderr, "usage: pictures_family OUT FIRST_SEED COUNT [KIND]\n"), 2;
    uint64_t first = strtoull(argv[2], NULL, 10), count = strtoull(argv[3], NULL, 10);
    cutis_family_kind only = CUTIS_FAMILY_HUMAN;
    check(&s, cutis_context_create(NULL, &s.context));
    if (argc > 4) check(&s, cutis_family_kind_from_name(argv[4], &only));
    for (uint64_t i = 0; i < count && s.count + ROW <= BODY_MAX; i++) {
        if (argc > 4)
            add(&s, only, first + i, (uint32_t)(i % ROW), (uint32_t)(i / ROW));
        else
            for (int k = 0; k < CUTIS_FAMILY_KIND_COUNT; k++)
                add(&s, (cutis_family_kind)k, first + i, (uint32_t)k, (uint32_t)i);
    }
    cutis_model_data data = {
        .node_count = s.count, .mesh_count = s.count, .nodes = s.nodes, .meshes = s.meshes
    };
    static cutis_primitive bare[BODY_MAX];
    for (uint32_t i = 0; i < s.count; i++) {
        bare[i] = s.meshes[i].primitives[0];
        bare[i].influences = (cutis_influences){ 0 };
        bare[i].material = CUTIS_NONE;
        s.meshes[i].primitives = &bare[i];
    }
    cutis_model *all = NULL;
    check(&s, cutis_model_create(s.context, &data, CUTIS_GATE_REFUSE, &all));
    check(&s, cutis_model_write(all, argv[1], NULL));
    cutis_model_destroy(all);
    for (uint32_t i = 0; i < s.count; i++) cutis_model_destroy(s.bodies[i]);
    cutis_context_destroy(s.context);
    return 0;
}
