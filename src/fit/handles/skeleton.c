// Sites of bones. Invariant: every site that is made has its samples in the domain, and at least
// one joint has a site, whatever the skeleton looks like.
#include "fit/handles/skeleton.h"

#include <math.h>

#include <cutis/clip.h>

#include "fit/handles/sheets.h"
#include "geometry/vector.h"
#include "math/mat3.h"

#define REACH 2 ///< voxels a bone may be outside the domain and still hold it
/// Between joints that stand on one another, of the diagonal of all joints.
static const double SAME_PLACE = 1e-4;
static const double LEAF_PART = 0.75; ///< of the way to the end of the shape that a leaf holds

// Bones
// ---------------------------------------------------------------------------------------------

// Origins from the inverse bind matrices; false where they do not tell joints apart.
static bool bind_origins(const cutis_skin *skin, double *origin)
{
    if (!skin->inverse_binds) return false;
    bool apart = skin->joint_count == 1;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        cutis_mat34 bind;
        if (!cutis_mat34_invert(&skin->inverse_binds[j], &bind)) return false;
        for (int c = 0; c < 3; c++) {
            origin[3 * (size_t)j + c] = bind.m[4 * c + 3];
            if (!isfinite(bind.m[4 * c + 3])) return false;
            apart |= origin[3 * (size_t)j + c] != origin[c];
        }
    }
    return apart;
}

static bool node_origins(cutis_arena *arena, const cutis_model *model, const cutis_skin *skin,
                         double *origin)
{
    const uint32_t count = cutis_model_get(model)->node_count;
    cutis_transform *local = cutis_arena_alloc(arena, count, sizeof *local);
    cutis_mat34 *world = cutis_arena_alloc(arena, count, sizeof *world);
    if (!local || !world) return false;
    cutis_pose_rest(model, local, NULL);
    cutis_pose_world(model, local, world);
    for (uint32_t j = 0; j < skin->joint_count; j++)
        for (int c = 0; c < 3; c++) {
            float value = world[skin->joints[j]].m[4 * c + 3];
            origin[3 * (size_t)j + c] = isfinite(value) ? value : 0;
        }
    return true;
}

static uint32_t below(const cutis_handles_bones *bones, uint32_t joint, uint32_t top)
{
    int32_t at = (int32_t)joint;
    while (at != CUTIS_NONE && at != (int32_t)top) at = bones->parent[at];
    return at != CUTIS_NONE;
}

static uint32_t size_below(const cutis_handles_bones *bones, uint32_t top)
{
    uint32_t size = 0;
    for (uint32_t j = 0; j < bones->joint_count; j++) size += below(bones, j, top);
    return size;
}

// Whether a branch beside the body's is a rig of controls: one of its joints stands on one of a
// larger branch, as IK targets do on hands and feet. Not on its first: a leg may begin where the
// trunk does.
static bool only_controls(const cutis_handles_bones *bones, double same, uint32_t top)
{
    const uint32_t size = size_below(bones, top);
    for (uint32_t k = 0; k < bones->joint_count; k++) {
        if (below(bones, k, top) || bones->parent[k] == bones->parent[top]) continue;
        bool stands = false;
        for (uint32_t j = 0; j < bones->joint_count && !stands; j++)
            stands = v3_distance_of(bones->origin + 3 * (size_t)j, bones->origin + 3 * (size_t)k) <=
                         same &&
                     below(bones, j, top);
        uint32_t other = k;
        while (bones->parent[other] != bones->parent[top] && bones->parent[other] != CUTIS_NONE)
            other = (uint32_t)bones->parent[other];
        if (stands && bones->parent[other] == bones->parent[top] && size_below(bones, other) > size)
            return true;
    }
    return false;
}

static uint32_t child_count(const cutis_handles_bones *bones, uint32_t joint, uint32_t *first)
{
    uint32_t count = 0;
    for (uint32_t k = bones->joint_count; k-- > 0;)
        if (bones->parent[k] == (int32_t)joint && !bones->control[k]) *first = k, count++;
    return count;
}

// Joints of controls: branches where the rig first branches.
static bool find_controls(cutis_arena *arena, cutis_handles_bones *bones)
{
    box3 box = box3_empty();
    for (uint32_t j = 0; j < bones->joint_count; j++)
        box3_add(&box, v3_of(bones->origin + 3 * (size_t)j));
    const double same = SAME_PLACE * box3_diagonal(&box);
    bones->control = cutis_arena_zero(arena, bones->joint_count, sizeof *bones->control);
    bool *top = cutis_arena_zero(arena, bones->joint_count, sizeof *top);
    if (!bones->control || !top) return false;
    for (uint32_t j = 0; j < bones->joint_count; j++) {
        int32_t above = bones->parent[j];
        uint32_t child = 0;
        if (above == CUTIS_NONE || child_count(bones, (uint32_t)above, &child) < 2) continue;
        bool first = true;
        while (first && (above = bones->parent[above]) != CUTIS_NONE)
            first = child_count(bones, (uint32_t)above, &child) < 2;
        top[j] = first && only_controls(bones, same, j);
    }
    for (uint32_t j = 0; j < bones->joint_count; j++)
        for (uint32_t k = 0; k < bones->joint_count && top[j]; k++)
            if (below(bones, k, j)) bones->control[k] = true;
    return true;
}

cutis_result cutis_handles_bones_create(cutis_arena *arena, const cutis_model *model,
                                        uint32_t skin_index, cutis_handles_bones *out)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_skin *skin = &data->skins[skin_index];
    *out = (cutis_handles_bones){ .joint_count = skin->joint_count };
    out->origin = cutis_arena_alloc(arena, skin->joint_count, 3 * sizeof *out->origin);
    out->parent = cutis_arena_alloc(arena, skin->joint_count, sizeof *out->parent);
    int32_t *joint_of = cutis_arena_alloc(arena, data->node_count, sizeof *joint_of);
    if (!out->origin || !out->parent || !joint_of) return cutis_alloc_result(arena->context);
    if (!bind_origins(skin, out->origin) && !node_origins(arena, model, skin, out->origin))
        return cutis_alloc_result(arena->context);
    for (uint32_t n = 0; n < data->node_count; n++) joint_of[n] = CUTIS_NONE;
    for (uint32_t j = 0; j < skin->joint_count; j++) joint_of[skin->joints[j]] = (int32_t)j;
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        int32_t node = data->nodes[skin->joints[j]].parent;
        while (node != CUTIS_NONE && joint_of[node] == CUTIS_NONE) node = data->nodes[node].parent;
        out->parent[j] = node == CUTIS_NONE ? CUTIS_NONE : joint_of[node];
    }
    return find_controls(arena, out) ? CUTIS_OK : cutis_alloc_result(arena->context);
}

// Segments
// ------------------------------------------------------------------------------------------

// The domain voxel nearest to a point among those within REACH, or NONE.
static uint32_t voxel_near(const cutis_handles_grid *grid, const double *point)
{
    uint32_t own = cutis_handles_voxel_of(grid, point), best = CUTIS_HANDLES_NONE;
    if (own != CUTIS_HANDLES_NONE) return own;
    int64_t base[3], cell[3];
    double least = INFINITY;
    for (int c = 0; c < 3; c++) {
        double place = floor((point[c] - grid->origin[c]) / grid->step);
        if (!(place >= -REACH && place < grid->size[c] + (double)REACH)) return CUTIS_HANDLES_NONE;
        base[c] = (int64_t)place;
    }
    for (cell[2] = base[2] - REACH; cell[2] <= base[2] + REACH; cell[2]++)
        for (cell[1] = base[1] - REACH; cell[1] <= base[1] + REACH; cell[1]++)
            for (cell[0] = base[0] - REACH; cell[0] <= base[0] + REACH; cell[0]++) {
                uint32_t voxel = cutis_handles_voxel_at(grid, cell);
                if (voxel == CUTIS_HANDLES_NONE) continue;
                double centre[3];
                cutis_handles_voxel_centre(grid, voxel, centre);
                double distance = v3_distance_of(centre, point);
                if (distance < least) least = distance, best = voxel;
            }
    return best;
}

// Longest run of samples near the domain; false if there is none.
static bool longest_run(const cutis_handles_grid *grid, const cutis_handles_segment *whole,
                        uint32_t count, uint32_t *first, uint32_t *last)
{
    uint32_t start = UINT32_MAX, best = 0;
    for (uint32_t i = 0; i <= count; i++) {
        double p[3];
        bool near = false;
        if (i < count) {
            cutis_handles_sample(whole, count, i, p);
            near = voxel_near(grid, p) != CUTIS_HANDLES_NONE;
        }
        if (near && start == UINT32_MAX) start = i;
        if (near || start == UINT32_MAX) continue;
        if (i - start > best) best = i - start, *first = start, *last = i - 1;
        start = UINT32_MAX;
    }
    return best > 0;
}

// Append a to b, with what lies outside the domain moved to the voxels nearest to it.
static bool append_inside(cutis_arena *arena, const cutis_handles_grid *grid, const double *a,
                          const double *b, cutis_handles_site *site)
{
    cutis_handles_segment whole;
    for (int c = 0; c < 3; c++) whole.a[c] = a[c], whole.b[c] = b[c];
    uint32_t count = cutis_handles_sample_count(grid, &whole), first = UINT32_MAX;
    uint32_t before = CUTIS_HANDLES_NONE;
    for (uint32_t i = 0; i <= count; i++) {
        double p[3] = { 0 }, start[3];
        bool inside = false;
        if (i < count) {
            cutis_handles_sample(&whole, count, i, p);
            inside = cutis_handles_voxel_of(grid, p) != CUTIS_HANDLES_NONE;
        }
        if (inside) {
            if (first == UINT32_MAX) first = i;
            continue;
        }
        if (first != UINT32_MAX) {
            double end[3];
            cutis_handles_sample(&whole, count, first, start);
            cutis_handles_sample(&whole, count, i - 1, end);
            if (!cutis_handles_site_append(arena, site, start, end)) return false;
            first = UINT32_MAX;
        }
        uint32_t voxel = i < count ? voxel_near(grid, p) : CUTIS_HANDLES_NONE;
        if (voxel == CUTIS_HANDLES_NONE || voxel == before) continue;
        before = voxel;
        cutis_handles_voxel_centre(grid, voxel, start);
        if (!cutis_handles_site_append(arena, site, start, start)) return false;
    }
    return true;
}

// One bone: the run near the domain, then trimmed where it is shared and not clipped.
static bool add_bone(cutis_arena *arena, const cutis_handles_grid *grid, const double *from,
                     const double *to, bool shared_start, bool shared_end, double softness,
                     double gap, cutis_handles_site *site)
{
    cutis_handles_segment whole;
    uint32_t first = 0, last = 0;
    for (int c = 0; c < 3; c++) whole.a[c] = from[c], whole.b[c] = to[c];
    uint32_t count = cutis_handles_sample_count(grid, &whole);
    if (!longest_run(grid, &whole, count, &first, &last)) return true;
    double length = v3_distance_of(from, to), trim = fmax(softness * length, gap / 2), a[3], b[3];
    double part = count > 1 ? 1.0 / (count - 1) : 0;
    double begin = first * part, end = last * part;
    if (count == 1) begin = end = 0;
    bool cut_start = shared_start && first == 0, cut_end = shared_end && last + 1 == count;
    if (length > 0) {
        double most = cut_start && cut_end ? 1 : 0.5;
        double piece = fmin(trim / length, most);
        if (cut_start && cut_end && 2 * piece >= 1) {
            begin = end = 0.5;
        } else {
            if (cut_start) begin = fmin(begin + piece, end);
            if (cut_end) end = fmax(end - piece, begin);
        }
    }
    v3_put(v3_mix(v3_of(from), v3_of(to), begin), a);
    v3_put(v3_mix(v3_of(from), v3_of(to), end), b);
    return append_inside(arena, grid, a, b, site);
}

// A leaf: along the way from its nearest ancestor elsewhere, to where the domain ends.
static bool add_leaf(cutis_arena *arena, const cutis_handles_bones *bones, uint32_t joint,
                     const cutis_handles_grid *grid, double softness, double gap,
                     cutis_handles_site *site)
{
    const double *origin = bones->origin + 3 * (size_t)joint;
    int32_t above = bones->parent[joint];
    double away = 0;
    while (above != CUTIS_NONE &&
           !((away = v3_distance_of(bones->origin + 3 * (size_t)above, origin)) > 0))
        above = bones->parent[above];
    if (voxel_near(grid, origin) == CUTIS_HANDLES_NONE) return true;
    double end[3] = { origin[0], origin[1], origin[2] }, reach = 0;
    if (above != CUTIS_NONE) {
        double direction[3], p[3];
        const double *start = bones->origin + 3 * (size_t)above;
        for (int c = 0; c < 3; c++) direction[c] = (origin[c] - start[c]) / away;
        // Bounded by the grid: outside it no voxel is found. A start just outside may enter first.
        uint32_t node = bones->node ? bones->node[joint] : cutis_handles_node_of(grid, origin);
        for (uint32_t i = 1;; i++) {
            double at = 0.5 * grid->step * i;
            for (int c = 0; c < 3; c++) p[c] = origin[c] + at * direction[c];
            node = node == CUTIS_HANDLES_NONE ? cutis_handles_node_of(grid, p)
                                              : cutis_handles_node_next(grid, node, p);
            // In another limb it may come back to its own.
            const bool inside = cutis_handles_node_holds(grid, node, p);
            const bool over = node == CUTIS_HANDLES_NONE && reach > 0;
            if (inside) reach = at;
            if (!inside && (over || at - reach > REACH * grid->step)) break;
        }
        if (reach < 2 * grid->step) reach = 0;
        for (int c = 0; c < 3; c++) end[c] += LEAF_PART * reach * direction[c];
    }
    return add_bone(arena, grid, origin, end, bones->parent[joint] != CUTIS_NONE && reach > 0,
                    false, softness, gap, site);
}

// Nothing touches the shape: the root holds all of it.
static bool add_root(const cutis_handles_bones *bones, const cutis_handles_grid *grid,
                     cutis_handles_sites *sites, uint32_t *site)
{
    uint32_t root = 0;
    while (root + 1 < bones->joint_count && bones->parent[root] != CUTIS_NONE) root++;
    const double *origin = bones->origin + 3 * (size_t)root;
    site[root] = sites->site_count;
    return cutis_handles_sites_add(sites, grid, origin, origin, false) != NULL;
}

// Joints at the top that only carry the rig from place to place: each stands outside the shape, or
// has one child, which is where the body branches (pelvis, hip). Artists give them no weight, and
// their bones would take the belly from the hip.
static bool only_carries(const cutis_handles_bones *bones, const cutis_handles_grid *grid,
                         uint32_t joint)
{
    uint32_t child = 0, other = 0;
    const uint32_t children = child_count(bones, joint, &child);
    if (children == 0) return false;
    const double *origin = bones->origin + 3 * (size_t)joint;
    const bool inside = children > 1 ? cutis_handles_voxel_of(grid, origin) != CUTIS_HANDLES_NONE
                                     : voxel_near(grid, origin) != CUTIS_HANDLES_NONE;
    if (inside && (children != 1 || child_count(bones, child, &other) < 2)) return false;
    const int32_t above = bones->parent[joint];
    return above == CUTIS_NONE || only_carries(bones, grid, (uint32_t)above);
}

// Nodes of the joints, each along its bone from that of its parent, whose place in the skin may be
// behind its own.
static bool place_joints(cutis_arena *arena, cutis_handles_bones *bones,
                         const cutis_handles_grid *grid)
{
    bones->node = cutis_arena_alloc(arena, bones->joint_count, sizeof *bones->node);
    bool *done = cutis_arena_zero(arena, bones->joint_count, sizeof *done), more = true;
    if (!bones->node || !done) return false;
    while (more) {
        more = false;
        for (uint32_t j = 0; j < bones->joint_count; j++) {
            const int32_t above = bones->parent[j];
            if (done[j] || (above != CUTIS_NONE && !done[above])) continue;
            const double *origin = bones->origin + 3 * (size_t)j;
            bones->node[j] =
                above == CUTIS_NONE
                    ? cutis_handles_node_of(grid, origin)
                    : cutis_handles_node_along(grid, bones->node[above],
                                               bones->origin + 3 * (size_t)above, origin);
            done[j] = more = true;
        }
    }
    return true;
}

// Where the segments of a joint's site start: along the way from the joint.
static bool start_segments(cutis_arena *arena, const cutis_handles_bones *bones, uint32_t joint,
                           const cutis_handles_grid *grid, cutis_handles_site *site)
{
    if (!bones->node) return true;
    site->starts = cutis_arena_alloc(arena, site->segment_count, sizeof *site->starts);
    for (size_t g = 0; g < site->segment_count && site->starts; g++) {
        const double *a = site->segments[g].a;
        const uint32_t node = cutis_handles_node_along(grid, bones->node[joint],
                                                       bones->origin + 3 * (size_t)joint, a);
        site->starts[g] = node != CUTIS_HANDLES_NONE ? node : cutis_handles_node_of(grid, a);
    }
    return site->starts != NULL;
}

bool cutis_handles_bones_sites(cutis_handles_bones *bones, const cutis_handles_grid *grid,
                               double softness, double gap, cutis_handles_sites *sites,
                               uint32_t *site)
{
    if (grid->sheets && !place_joints(sites->arena, bones, grid)) return false;
    for (uint32_t j = 0; j < bones->joint_count; j++) {
        cutis_handles_site *made = &sites->sites[sites->site_count];
        const double *origin = bones->origin + 3 * (size_t)j;
        bool leaf = true, good = true;
        *made = (cutis_handles_site){ .bar = true };
        const bool carrier = !bones->every && (bones->control[j] || only_carries(bones, grid, j));
        for (uint32_t k = 0; k < bones->joint_count && good; k++) {
            if (bones->parent[k] != (int32_t)j || (bones->control[k] && !bones->every)) continue;
            leaf = false;
            if (carrier) continue;
            const double *end = bones->origin + 3 * (size_t)k;
            if (v3_distance_of(origin, end) > 0)
                good = add_bone(sites->arena, grid, origin, end, bones->parent[j] != CUTIS_NONE,
                                true, softness, gap, made);
        }
        if (leaf && good && !carrier)
            good = add_leaf(sites->arena, bones, j, grid, softness, gap, made);
        good = good && start_segments(sites->arena, bones, j, grid, made);
        site[j] = made->segment_count ? sites->site_count : CUTIS_HANDLES_NONE;
        if (!good) return false;
        sites->site_count += made->segment_count > 0;
    }
    return sites->site_count > 0 || add_root(bones, grid, sites, site);
}
