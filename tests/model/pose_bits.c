// Prints a hash of the bits of many sampled, blended and world-space poses. test_pose_bits.sh
// compiles it in several ways and compares what it prints. Inputs are made by integer arithmetic
// only.
#include <stdio.h>
#include <stdlib.h>

#include <cutis/cutis.h>

enum { NODES = 37, KEYS = 20, TIMES = 5 };

static uint64_t state = 1;
static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(state >> 33) % below;
}

static float draw_float(void)
{
    return (float)draw(1u << 24) / 8388608.0f - 1.0f;
}

static uint64_t hash(uint64_t sum, const void *data, size_t size)
{
    const uint32_t *words = data;
    for (size_t i = 0; i < size / 4; i++) sum = (sum ^ words[i]) * 0x9E3779B97F4A7C15u;
    return sum;
}

int main(void)
{
    static cutis_node nodes[NODES];
    static cutis_channel channels[NODES * 3];
    static float times[TIMES][KEYS], values[NODES * 3][KEYS * 12];
    static cutis_transform a[NODES], b[NODES];
    static cutis_mat34 world[NODES];
    for (int t = 0; t < TIMES; t++)
        for (int k = 1; k < KEYS; k++) times[t][k] = times[t][k - 1] + 0.05f + 0.04f * draw_float();
    for (uint32_t n = 0; n < NODES; n++)
        nodes[n] = (cutis_node){ .parent = n ? (int32_t)draw(n) : CUTIS_NONE,
                                 .rest = cutis_transform_identity(),
                                 .mesh = CUTIS_NONE,
                                 .skin = CUTIS_NONE };
    for (uint32_t i = 0; i < NODES * 3; i++) {
        for (int k = 0; k < KEYS * 12; k++) values[i][k] = draw_float();
        channels[i] = (cutis_channel){ i / 3, (cutis_path)(i % 3), (cutis_interpolation)draw(3),
                                       KEYS,  times[draw(TIMES)],  values[i] };
    }
    cutis_clip clip = { .channel_count = NODES * 3, .channels = channels };
    cutis_model_data data = {
        .node_count = NODES, .clip_count = 1, .nodes = nodes, .clips = &clip
    };
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    cutis_sampler *sampler = NULL;
    if (cutis_context_create(NULL, &context) != CUTIS_OK ||
        cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model) != CUTIS_OK ||
        cutis_sampler_create(model, 0, &sampler) != CUTIS_OK) {
        fprintf(stderr, "%s\n", cutis_context_error(context));
        return 1;
    }
    uint64_t sum = 0;
    for (int i = 0; i < 2000; i++) {
        cutis_sampler_sample(sampler, (float)i / 1500, a, NULL);
        cutis_sampler_sample(sampler, (float)i / 1900, b, NULL);
        sum = hash(sum, a, sizeof a);
        cutis_pose_blend(a, b, (float)i / 2000, NODES, b);
        cutis_pose_world(model, b, world);
        sum = hash(hash(sum, b, sizeof b), world, sizeof world);
    }
    printf("%016llx\n", (unsigned long long)sum);
    cutis_sampler_destroy(sampler);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    return 0;
}
