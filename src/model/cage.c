// The gate for cages. Invariant: behind it every index is in range, controls of a vertex ascend and
// every number is finite; whether the cage is closed and encloses the model is checked where it is
// made.
#include "model/validate.h"

static cutis_result check_mesh(cutis_context *context, const cutis_cage *cage, uint32_t m)
{
    const cutis_cage_mesh *mesh = &cage->meshes[m];
    if (mesh->first[0] != 0) FAIL("cage: mesh %u: first does not start at 0", m);
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        if (mesh->first[v + 1] < mesh->first[v] ||
            mesh->first[v + 1] - mesh->first[v] > cage->control_count)
            FAIL("cage: mesh %u: vertex %u has no valid list of controls", m, v);
        if (mesh->first[v + 1] == mesh->first[v])
            FAIL("cage: mesh %u: vertex %u has no control", m, v);
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            if (mesh->controls[i] >= cage->control_count ||
                (i > mesh->first[v] && mesh->controls[i] <= mesh->controls[i - 1]))
                FAIL("cage: mesh %u: controls of vertex %u are out of range or do not ascend", m,
                     v);
    }
    size_t count = mesh->first[mesh->vertex_count],
           bad = cutis_first_not_finite(mesh->weights, count);
    if (bad < count) FAIL("cage: mesh %u: weight %zu is not finite", m, bad);
    return CUTIS_OK;
}

cutis_result cutis_validate_cage(cutis_context *context, const cutis_model_data *data)
{
    const cutis_cage *cage = data->cage;
    if (!cage) return CUTIS_OK;
    if (cage->control_count < 4 || cage->triangle_count < 4)
        FAIL("cage: %u controls, %u triangles; four of each are the least", cage->control_count,
             cage->triangle_count);
    if (cage->control_count > CUTIS_CAGE_CONTROLS || cage->triangle_count > UINT32_MAX / 3)
        return cutis_fail(context, CUTIS_LIMIT_EXCEEDED, "cage: %u controls; %d are the most",
                          cage->control_count, CUTIS_CAGE_CONTROLS);
    if (!cage->controls || !cage->triangles || (data->mesh_count && !cage->meshes))
        FAIL("cage: controls, triangles or meshes are missing");
    if ((unsigned)cage->coordinates > CUTIS_COORDINATES_HARMONIC) FAIL("cage: unknown coordinates");
    if (cage->mesh_count != data->mesh_count)
        FAIL("cage: it is for %u meshes, the model has %u", cage->mesh_count, data->mesh_count);
    for (size_t i = 0; i < 3 * (size_t)cage->triangle_count; i++)
        if (cage->triangles[i] >= cage->control_count)
            FAIL("cage: triangle %zu names control %u of %u", i / 3, cage->triangles[i],
                 cage->control_count);
    size_t count = 3 * (size_t)cage->control_count,
           bad = cutis_first_not_finite(&cage->controls->x, count);
    if (bad < count) FAIL("cage: control %zu is not finite", bad / 3);
    for (uint32_t m = 0; m < cage->mesh_count; m++) {
        if (!cage->meshes[m].first) continue;
        if (cage->meshes[m].vertex_count != cutis_mesh_vertex_total(&data->meshes[m]))
            FAIL("cage: mesh %u: weights of %u vertices, it has %llu", m,
                 cage->meshes[m].vertex_count,
                 (unsigned long long)cutis_mesh_vertex_total(&data->meshes[m]));
        TRY(check_mesh(context, cage, m));
    }
    return CUTIS_OK;
}
