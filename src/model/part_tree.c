// The gate for the parts of a mesh as a tree. Invariant: after it parents stand before their
// children, every loop lies between the two parts it names and is named by its child, welded
// vertices are in range and lie on one point, and every number is finite. That the welded surface
// is closed is checked where its topology is built.
#include "model/validate.h"

#include <math.h>

#include "base/error.h"

static bool all_finite(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return false;
    return true;
}

static cutis_result check_part(cutis_context *context, const cutis_part_tree *tree, uint32_t m,
                               uint32_t p)
{
    const cutis_part *part = &tree->parts[p];
    if (p == 0 ? part->parent != CUTIS_NONE : part->parent < 0 || part->parent >= (int32_t)p)
        FAIL("meshes/%u/part_tree: part %u has parent %d; part 0 is the root, a parent stands "
             "before its children",
             m, p, part->parent);
    if (part->loop == CUTIS_NONE) return CUTIS_OK;
    if (part->loop < 0 || (uint32_t)part->loop >= tree->loop_count)
        FAIL("meshes/%u/part_tree: part %u has loop %d of %u", m, p, part->loop, tree->loop_count);
    const cutis_part_loop *loop = &tree->loops[part->loop];
    if (loop->child != p || (int32_t)loop->parent != part->parent)
        FAIL("meshes/%u/part_tree: loop %d of part %u lies between parts %u and %u", m, part->loop,
             p, loop->parent, loop->child);
    return CUTIS_OK;
}

cutis_result cutis_validate_part_tree(cutis_context *context, const cutis_mesh *mesh, uint32_t m)
{
    const cutis_part_tree *tree = mesh->part_tree;
    if (!tree) return CUTIS_OK;
    if (mesh->part_count == 0 || !tree->parts || !tree->weld ||
        (tree->loop_count && !tree->loops) || (tree->link_count && !tree->links))
        FAIL("meshes/%u/part_tree: an array is missing", m);
    if (mesh->part_count > INT32_MAX || tree->loop_count > INT32_MAX)
        FAIL("meshes/%u/part_tree: a count above 2147483647", m);
    for (uint32_t l = 0; l < tree->loop_count; l++) {
        const cutis_part_loop *loop = &tree->loops[l];
        if (loop->child >= mesh->part_count || loop->parent >= loop->child)
            FAIL("meshes/%u/part_tree: loop %u is of parts %u and %u of %u", m, l, loop->parent,
                 loop->child, mesh->part_count);
        if (loop->vertex_count < 3 || loop->vertex_count > tree->welded_count || !loop->vertices)
            FAIL("meshes/%u/part_tree: loop %u has %u vertices", m, l, loop->vertex_count);
    }
    for (uint32_t p = 0; p < mesh->part_count; p++) { TRY(check_part(context, tree, m, p)); }
    for (uint32_t p = 0; p < mesh->primitive_count; p++)
        if (mesh->primitives[p].topology == CUTIS_TOPOLOGY_TRIANGLES && !mesh->primitives[p].parts)
            FAIL("meshes/%u/part_tree: primitive %u has no parts", m, p);
    return CUTIS_OK;
}

// Every welded vertex is there, and its vertices lie on one point.
static cutis_result check_weld(cutis_context *context, const cutis_mesh *mesh, uint32_t m)
{
    const cutis_part_tree *tree = mesh->part_tree;
    if (tree->welded_count > cutis_mesh_vertex_total(mesh))
        FAIL("meshes/%u/part_tree: %u welded vertices, more than vertices", m, tree->welded_count);
    const float **places = cutis_alloc_zero(context, tree->welded_count, sizeof *places);
    if (!places) return cutis_alloc_result(context);
    cutis_result result = CUTIS_OK;
    size_t v = 0;
    for (uint32_t p = 0; p < mesh->primitive_count; p++) {
        const cutis_primitive *primitive = &mesh->primitives[p];
        for (uint32_t i = 0; i < primitive->vertex_count && result == CUTIS_OK; i++, v++) {
            const float *place = primitive->positions + 3 * (size_t)i;
            uint32_t w = tree->weld[v];
            if (w >= tree->welded_count)
                result = CORRUPT("meshes/%u/part_tree: vertex %zu is welded vertex %u of %u", m, v,
                                 w, tree->welded_count);
            else if (!places[w])
                places[w] = place;
            else if (place[0] != places[w][0] || place[1] != places[w][1] ||
                     place[2] != places[w][2])
                result = CORRUPT("meshes/%u/part_tree: vertex %zu is welded to one at another "
                                 "place",
                                 m, v);
        }
    }
    for (uint32_t w = 0; w < tree->welded_count && result == CUTIS_OK; w++)
        if (!places[w])
            result = CORRUPT("meshes/%u/part_tree: no vertex is welded vertex %u", m, w);
    cutis_free_array(context, (void *)places, tree->welded_count, sizeof *places);
    return result;
}

cutis_result cutis_validate_part_values(cutis_context *context, const cutis_mesh *mesh, uint32_t m,
                                        uint32_t joint_count)
{
    const cutis_part_tree *tree = mesh->part_tree;
    if (!tree) return CUTIS_OK;
    for (uint32_t p = 0; p < mesh->part_count; p++) {
        const cutis_part *part = &tree->parts[p];
        if (part->joint >= joint_count)
            FAIL("meshes/%u/part_tree: joint of part %u is %u, a skin it is used with has %u", m, p,
                 part->joint, joint_count);
        if (!all_finite(part->position, 3) || !all_finite(part->end, 3) ||
            !all_finite(part->centroid, 3) || !all_finite(&part->kernel_radius, 1) ||
            !all_finite(&part->axes[0][0], 9) || !all_finite(part->box_min, 3) ||
            !all_finite(part->box_max, 3))
            FAIL("meshes/%u/part_tree: a number of part %u is not finite", m, p);
    }
    for (uint32_t l = 0; l < tree->loop_count; l++)
        for (uint32_t i = 0; i < tree->loops[l].vertex_count; i++)
            if (tree->loops[l].vertices[i] >= tree->welded_count)
                FAIL("meshes/%u/part_tree: vertex %u of loop %u is %u of %u", m, i, l,
                     tree->loops[l].vertices[i], tree->welded_count);
    for (uint32_t i = 0; i < tree->link_count; i++)
        if (tree->links[i].part >= mesh->part_count || !all_finite(tree->links[i].from, 3) ||
            !all_finite(tree->links[i].to, 3))
            FAIL("meshes/%u/part_tree: link %u is of no part or not finite", m, i);
    return check_weld(context, mesh, m);
}
