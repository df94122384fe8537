/// The learning of bench/learn.h. Shapes are the biped's own skinning with all its joints; the rig
/// to learn on has 20 of them, so no weights fit exactly and every vertex is a real problem.
#include "bench/bench.h"
#include "bench/measure.h"

#include <stdlib.h>
#include <string.h>

#define JOINTS 20u
#define POSES  20u

// Of the biped's 41 joints: body, limbs, no fingers.
static bool is_kept(const cutis_model *model, uint32_t node, uint32_t kept)
{
    const char *name = cutis_model_get(model)->nodes[node].name;
    if (kept == JOINTS || !name) return false;
    static const char *const fine[] = { "thumb", "index", "middle", "ring", "little", "pinky" };
    for (size_t i = 0; i < sizeof fine / sizeof *fine; i++)
        if (strstr(name, fine[i])) return false;
    return true;
}

/// The same model with a skin of JOINTS joints and one weight a vertex.
static cutis_result make_rig(cli_app *app, const cutis_model *biped, cutis_model **out)
{
    cutis_model_data data = *cutis_model_get(biped);
    cutis_skin skin = data.skins[0];
    cutis_mesh mesh = data.meshes[0];
    cutis_primitive primitive = mesh.primitives[0];
    uint32_t joints[JOINTS], count = 0;
    cutis_mat34 binds[JOINTS];
    for (uint32_t j = 0; j < skin.joint_count; j++)
        if (is_kept(biped, skin.joints[j], count)) {
            joints[count] = skin.joints[j];
            binds[count++] = skin.inverse_binds[j];
        }
    ENDS_BY(memory_release) memory_list memory = { 0 };
    uint32_t *first = memory_take(&memory, primitive.vertex_count, sizeof *first);
    uint32_t *bones = memory_take(&memory, primitive.vertex_count, sizeof *bones);
    float *weights = memory_take(&memory, primitive.vertex_count, sizeof *weights);
    for (uint32_t v = 0; !memory.failed && v < primitive.vertex_count; v++)
        first[v + 1] = v + 1, weights[v] = 1;
    skin.joint_count = count, skin.joints = joints, skin.inverse_binds = binds;
    primitive.influences = (cutis_influences){ first, bones, weights };
    mesh.primitives = &primitive, data.meshes = &mesh, data.skins = &skin;
    return memory.failed ? CUTIS_OUT_OF_MEMORY
                         : cutis_model_create(app->context, &data, CUTIS_GATE_REFUSE, out);
}

/// Poses spread over the biped's clips, and its shape in each.
static cutis_result make_shapes(const cutis_model *biped, cutis_device *device,
                                cutis_transform *poses, float *shapes)
{
    const cutis_model_data *data = cutis_model_get(biped);
    for (uint32_t k = 0; k < POSES; k++) {
        const uint32_t clip = k % data->clip_count;
        TRY(bench_sample(biped, clip, data->clips[clip].duration * (float)(k + 1) / POSES,
                         poses + (size_t)k * data->node_count));
    }
    return bench_deform(device, biped, NULL, &(cutis_poses){ .local = poses }, POSES,
                        &(cutis_outputs){ .positions.data = shapes });
}

static cutis_result time_fit(const cutis_model *rig, cutis_device *device,
                             const cutis_pose_examples *examples, bench_learned *out)
{
    for (int i = 0; i < 3; i++) {
        OWN(cutis_model) *fitted = NULL;
        double start = app_seconds();
        TRY(cutis_poses_fit(
            rig, device, examples,
            &(cutis_pose_fit_options){ .learn_weights = true, .weights_only = true }, &fitted,
            NULL));
        double seconds = app_seconds() - start;
        if (i == 0 || seconds < out->seconds) out->seconds = seconds;
    }
    return CUTIS_OK;
}

cutis_result bench_learn(cli_app *app, bool quick, cutis_device *gpu, bench_learned *out)
{
    OWN(cutis_model) *biped = NULL, *rig = NULL;
    OWN(cutis_device) *device = NULL;
    OWN_MEMORY cutis_transform *poses = NULL;
    OWN_MEMORY float *shapes = NULL;
    const cutis_synth_options options = { .body = CUTIS_BODY_BIPED,
                                          .size =
                                              quick ? CUTIS_BODY_SIZE_LOW : CUTIS_BODY_SIZE_HIGH };
    *out = (bench_learned){ .joints = JOINTS, .poses = POSES, .gpu = gpu != NULL };
    TRY(cutis_synth_create(app->context, &options, &biped));
    TRY(cutis_device_create(app->context, &(cutis_device_options){ .thread_count = 2 }, &device));
    TRY(make_rig(app, biped, &rig));
    out->vertices = cutis_model_vertex_count(biped);
    poses = calloc(POSES, cutis_model_get(biped)->node_count * sizeof *poses);
    shapes = calloc(POSES, out->vertices * 3 * sizeof *shapes);
    TRY(poses && shapes ? make_shapes(biped, device, poses, shapes) : CUTIS_OUT_OF_MEMORY);
    return time_fit(rig, gpu ? gpu : device, &(cutis_pose_examples){ POSES, poses, shapes, NULL },
                    out);
}
