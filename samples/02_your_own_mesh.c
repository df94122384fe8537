// Your engine has the mesh, the weights and the world matrices: Cutis only deforms. No files, no
// clips.
#include <cutis/cutis.h>
#include <stdio.h>

int main(void)
{
    // A strip of two triangles, bound to two joints one above the other.
    static const float positions[] = { 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 2, 0 };
    static const uint32_t indices[] = { 0, 1, 2, 2, 1, 3 }, joints[] = { 0, 1 };
    static const uint32_t first[] = { 0, 1, 2, 3, 4 }, joint[] = { 0, 0, 1, 1 };
    static const float weight[] = { 1, 1, 1, 1 };
    cutis_mat34 inverse_binds[2] = { { { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 } },
                                     { { 1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 1, 0 } } };
    cutis_transform hip = cutis_transform_identity(), knee = hip;
    knee.translation.y = 1;

    cutis_primitive strip = { .vertex_count = 4,
                              .positions = positions,
                              .index_count = 6,
                              .indices = indices,
                              .influences = { first, joint, weight },
                              .material = CUTIS_NONE };
    cutis_mesh mesh = { .name = "strip", .primitive_count = 1, .primitives = &strip };
    cutis_skin skin = {
        .joint_count = 2, .joints = joints, .inverse_binds = inverse_binds, .root = CUTIS_NONE
    };
    cutis_node nodes[3] = { cutis_node_default(), cutis_node_default(), cutis_node_default() };
    nodes[0].name = "hip";
    nodes[1].name = "knee", nodes[1].parent = 0, nodes[1].rest = knee;
    nodes[2].name = "body", nodes[2].mesh = 0, nodes[2].skin = 0;
    cutis_model_data data = { .node_count = 3,
                              .nodes = nodes,
                              .mesh_count = 1,
                              .meshes = &mesh,
                              .skin_count = 1,
                              .skins = &skin };

    cutis_context *context = NULL;
    cutis_model *model = NULL;
    cutis_device *device = NULL;
    cutis_binding *binding = NULL;
    cutis_context_create(NULL, &context);
    cutis_result result =
        cutis_model_create(context, &data, CUTIS_GATE_REFUSE, &model); // checks and copies
    if (!result) result = cutis_device_create(context, NULL, &device);
    if (!result) result = cutis_bind(device, model, NULL, &binding);
    if (result) return fprintf(stderr, "%s\n", cutis_context_error(context)), 1;

    cutis_transform pose[3] = { hip, knee, hip };
    pose[1].rotation = cutis_quat_from_axis_angle((cutis_float3){ 0, 0, 1 }, 1.5707963f);
    struct {
        float position[3], color[3];
    } vertices[4]; // your own interleaved vertices
    result = cutis_deform(
        binding, &(cutis_poses){ .local = pose }, 1,
        &(cutis_outputs){ .positions = { .data = vertices, .stride = sizeof *vertices } });
    for (int i = 0; i < 4; i++)
        printf("%g %g %g\n", vertices[i].position[0], vertices[i].position[1],
               vertices[i].position[2]);

    cutis_binding_destroy(binding);
    cutis_device_destroy(device);
    cutis_model_destroy(model);
    cutis_context_destroy(context);
    return result != CUTIS_OK;
}
