// Errors of reduced weights: linear blend of all groups in world space by original and reduced
// weights, compared by the measures of docs/spec/conventions.md 5. Every mesh counts once, whatever
// the number of its instances.
#include "fit/reduce/model.h"

#include <math.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "math/mat3.h"

void cutis_reduce_palette(const cutis_model *model, const cutis_reduce_group *group,
                          const cutis_mat34 *world, double *palette)
{
    const cutis_skin *skin = &cutis_model_get(model)->skins[group->skin];
    for (uint32_t j = 0; j < skin->joint_count; j++) {
        double a[12], b[12];
        double34_from_floats(world[skin->joints[j]].m, a);
        if (skin->inverse_binds)
            double34_from_floats(skin->inverse_binds[j].m, b);
        else
            double34_identity(b);
        double34_multiply(a, b, palette + 12 * (size_t)j);
    }
}

// Poses that are judged side by side; each has its own places.
enum { SIDE_BY_SIDE = 4 };

typedef struct judge {
    const cutis_model *model;
    cutis_reduce_worst *worst; ///< per place, where vertices are wanted and not poses
    const cutis_reduce_groups *groups;
    const cutis_reduce_poses *poses;
    const cutis_reduce_weights *weights; ///< row_count * group count
    uint32_t row_count, pose_first;
    double **frame_position, **frame_normal;
    size_t vertex_count, triangle_count;
    uint32_t *triangles; ///< all groups
    uint32_t *weld;      ///< per vertex: its representative
    uint8_t *used;       ///< per vertex: a representative with a face
    double extent;
    struct {
        double *palette;            ///< of the largest skin
        cutis_mat34 *world;         ///< node_count
        double *original, *reduced; ///< 3 * vertex_count each
        double *normals, *compared; ///< the same, of representatives
    } place[SIDE_BY_SIDE];
} judge;

// One group by one set of weights; sources of a unit share its place.
static void blend_group(const cutis_reduce_group *group, const uint32_t *first,
                        const uint32_t *control, const double *weight, const double *palette,
                        double *out)
{
    for (uint32_t v = 0; v < group->source_count; v++) {
        uint32_t unit = group->unit[v];
        double sum[12] = { 0 }, p[3];
        for (uint32_t i = first[unit]; i < first[unit + 1]; i++) {
            const double *m = palette + 12 * (size_t)control[i], w = weight[i];
            for (int c = 0; c < 12; c++) sum[c] += w * m[c];
        }
        for (int c = 0; c < 3; c++) p[c] = group->source_positions[3 * (size_t)v + c];
        double34_point(sum, p, out + 3 * (size_t)v);
    }
}

// All groups; `weights` NULL: the original ones.
static void blend_all(const judge *j, const cutis_reduce_weights *weights, const cutis_mat34 *world,
                      double *palette, double *out)
{
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        cutis_reduce_palette(j->model, group, world, palette);
        if (weights)
            blend_group(group, weights[g].first, weights[g].control, weights[g].weight, palette,
                        out);
        else
            blend_group(group, group->first, group->control, group->weight, palette, out);
        out += 3 * (size_t)group->source_count;
    }
}

static void find_normals(const judge *j, const double *positions, double *normals)
{
    memset(normals, 0, 3 * j->vertex_count * sizeof *normals);
    for (size_t t = 0; t < j->triangle_count; t++) {
        const uint32_t *corner = j->triangles + 3 * t;
        const double *a = positions + 3 * (size_t)corner[0], *b = positions + 3 * (size_t)corner[1],
                     *c = positions + 3 * (size_t)corner[2];
        const double u[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] },
                     v[3] = { c[0] - a[0], c[1] - a[1], c[2] - a[2] };
        const double n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                              u[0] * v[1] - u[1] * v[0] };
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) normals[3 * (size_t)j->weld[corner[k]] + d] += n[d];
    }
}

static void compare(const judge *j, int place, double *position, double *normal)
{
    const double *p = j->place[place].original, *q = j->place[place].reduced;
    const double *m = j->place[place].normals, *n = j->place[place].compared;
    double distance = 0, angles = 0;
    size_t count = 0;
    for (size_t i = 0; i < 3 * j->vertex_count; i++) distance += (p[i] - q[i]) * (p[i] - q[i]);
    for (size_t v = 0; v < j->vertex_count; v++) {
        if (!j->used[v]) continue;
        const double *a = m + 3 * v, *b = n + 3 * v;
        const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
                     z = a[0] * b[1] - a[1] * b[0];
        const double angle =
            atan2(sqrt(x * x + y * y + z * z), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
        angles += angle * angle;
        count++;
    }
    *position = j->vertex_count ? 100 * sqrt(distance / (double)j->vertex_count) / j->extent : 0;
    *normal = count ? sqrt(angles / (double)count) : 0;
}

// Where the original's faces cancel to this part of their area, they are folded flat onto each
// other and have no normal to speak of (docs/spec/reduction.md 8).
static const double FOLDED = 0.1;

// The area that faces around every place have, whichever way they look.
static void find_areas(const judge *j, const double *positions, double *area)
{
    memset(area, 0, j->vertex_count * sizeof *area);
    for (size_t t = 0; t < j->triangle_count; t++) {
        const uint32_t *corner = j->triangles + 3 * t;
        const double *a = positions + 3 * (size_t)corner[0], *b = positions + 3 * (size_t)corner[1],
                     *c = positions + 3 * (size_t)corner[2];
        double n[3], size = 0;
        for (int k = 0; k < 3; k++) {
            const int l = (k + 1) % 3, m = (k + 2) % 3;
            n[k] = (b[l] - a[l]) * (c[m] - a[m]) - (b[m] - a[m]) * (c[l] - a[l]);
            size += n[k] * n[k];
        }
        for (int k = 0; k < 3; k++) area[j->weld[corner[k]]] += sqrt(size);
    }
}

// Vertices whose error in this pose is the largest so far, in one of the places.
static void find_worst(const judge *j, uint32_t place, uint32_t pose)
{
    cutis_reduce_worst *worst = &j->worst[place];
    const double *p = j->place[place].original, *q = j->place[place].reduced;
    for (size_t v = 0; v < j->vertex_count; v++) {
        const double x = p[3 * v] - q[3 * v], y = p[3 * v + 1] - q[3 * v + 1],
                     z = p[3 * v + 2] - q[3 * v + 2], d = sqrt(x * x + y * y + z * z);
        if (d > worst->position[v]) worst->position[v] = d;
    }
    if (!worst->normal) return;
    find_areas(j, p, worst->area);
    for (size_t v = 0; v < j->vertex_count; v++) {
        const double *a = j->place[place].normals + 3 * v, *b = j->place[place].compared + 3 * v;
        const double dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
        if (!j->used[v] || !(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] >
                             FOLDED * FOLDED * worst->area[v] * worst->area[v]))
            continue;
        const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
                     z = a[0] * b[1] - a[1] * b[0];
        // A normal that is gone points nowhere: as far off as can be.
        const bool gone = b[0] == 0 && b[1] == 0 && b[2] == 0;
        const double angle = gone ? 3.141592653589793 : atan2(sqrt(x * x + y * y + z * z), dot);
        if (angle > worst->normal[v]) worst->normal[v] = angle, worst->pose[v] = pose;
    }
}

static void judge_task(void *data, uint32_t index)
{
    const judge *j = data;
    const uint32_t f = j->pose_first + index;
    const bool normals = !j->worst || j->worst->normal;
    cutis_mat34 *world = j->place[index].world;
    double *palette = j->place[index].palette;
    if (f >= j->poses->example_count + j->poses->held_out_count) return;
    cutis_pose_world(
        j->model, j->poses->transforms + f * (size_t)cutis_model_get(j->model)->node_count, world);
    blend_all(j, NULL, world, palette, j->place[index].original);
    if (normals) find_normals(j, j->place[index].original, j->place[index].normals);
    for (uint32_t r = 0; r < j->row_count; r++) {
        blend_all(j, j->weights + (size_t)r * j->groups->count, world, palette,
                  j->place[index].reduced);
        if (normals) find_normals(j, j->place[index].reduced, j->place[index].compared);
        if (j->worst)
            find_worst(j, index, f);
        else
            compare(j, (int)index, &j->frame_position[r][f], &j->frame_normal[r][f]);
    }
}

// Vertices, triangles and joints of all groups.
static size_t count_all(judge *j)
{
    const cutis_model_data *data = cutis_model_get(j->model);
    size_t joints = 0;
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        j->vertex_count += group->source_count;
        j->triangle_count += group->triangle_count;
        if (data->skins[group->skin].joint_count > joints)
            joints = data->skins[group->skin].joint_count;
    }
    return joints;
}

static bool open_places(judge *j, size_t joints, cutis_arena *arena)
{
    bool good = true;
    for (int i = 0; i < SIDE_BY_SIDE && good; i++) {
        double *numbers = cutis_arena_alloc(arena, j->vertex_count, 12 * sizeof *numbers);
        j->place[i].palette = cutis_arena_alloc(arena, joints, 12 * sizeof(double));
        j->place[i].world = cutis_arena_alloc(arena, cutis_model_get(j->model)->node_count,
                                              sizeof *j->place[i].world);
        j->place[i].original = numbers;
        j->place[i].reduced = numbers ? numbers + 3 * j->vertex_count : NULL;
        j->place[i].normals = numbers ? numbers + 6 * j->vertex_count : NULL;
        j->place[i].compared = numbers ? numbers + 9 * j->vertex_count : NULL;
        good = numbers && j->place[i].palette && j->place[i].world;
    }
    return good;
}

static cutis_result open_judge(judge *j, cutis_device *device, cutis_arena *arena)
{
    cutis_context *context = arena->context;
    const size_t joints = count_all(j);
    cutis_transform *local =
        cutis_arena_alloc(arena, cutis_model_get(j->model)->node_count, sizeof *local);
    float *rest = cutis_arena_alloc(arena, j->vertex_count, 3 * sizeof *rest);
    j->triangles = cutis_arena_alloc(arena, j->triangle_count, 3 * sizeof(uint32_t));
    j->weld = cutis_arena_alloc(arena, j->vertex_count, sizeof *j->weld);
    j->used = cutis_arena_zero(arena, j->vertex_count, sizeof *j->used);
    if (!local || !rest || !j->triangles || !j->weld || !j->used || !open_places(j, joints, arena))
        return cutis_alloc_result(context);
    uint32_t *corner = j->triangles, vertex = 0;
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        for (size_t i = 0; i < 3 * (size_t)group->triangle_count; i++)
            *corner++ = vertex + group->triangles[i];
        vertex += group->source_count;
    }
    cutis_pose_rest(j->model, local, NULL);
    cutis_pose_world(j->model, local, j->place[0].world);
    blend_all(j, NULL, j->place[0].world, j->place[0].palette, j->place[0].original);
    for (size_t i = 0; i < 3 * j->vertex_count; i++) rest[i] = (float)j->place[0].original[i];
    const cutis_surface surface = { (uint32_t)j->vertex_count, j->triangle_count, rest,
                                    j->triangles };
    j->extent = cutis_surface_diagonal(&surface);
    TRY(cutis_weld_positions_on(context, device, (uint32_t)j->vertex_count, rest, j->weld));
    for (size_t i = 0; i < 3 * j->triangle_count; i++) j->used[j->weld[j->triangles[i]]] = 1;
    return CUTIS_OK;
}

cutis_result cutis_reduce_evaluate(const cutis_model *model, cutis_device *device,
                                   const cutis_reduce_groups *groups,
                                   const cutis_reduce_poses *poses, uint32_t row_count,
                                   const cutis_reduce_weights *weights, double **frame_position,
                                   double **frame_normal)
{
    cutis_context *context = cutis_model_context(model);
    const uint32_t count = poses->example_count + poses->held_out_count;
    cutis_arena arena = { .context = context };
    judge j = { .model = model,
                .groups = groups,
                .poses = poses,
                .weights = weights,
                .row_count = row_count,
                .frame_position = frame_position,
                .frame_normal = frame_normal };
    cutis_result result = open_judge(&j, device, &arena);
    for (uint32_t r = 0; r < row_count; r++)
        for (uint32_t f = 0; f < count; f++) frame_position[r][f] = frame_normal[r][f] = 0;
    // A body without extent has no error that could be told in its own size.
    for (; result == CUTIS_OK && j.extent > 0 && j.pose_first < count;
         j.pose_first += SIDE_BY_SIDE) {
        result = cutis_progress(context, "judging poses", (double)j.pose_first / count);
        if (result == CUTIS_OK) cutis_device_run(device, judge_task, &j, SIDE_BY_SIDE);
    }
    cutis_arena_release(&arena);
    return result;
}

// Vertices --------------------------------------------------------------------------------------

static bool open_worst(judge *j, bool normals, cutis_arena *arena)
{
    j->worst = cutis_arena_zero(arena, SIDE_BY_SIDE, sizeof *j->worst);
    bool good = j->worst != NULL;
    for (int i = 0; i < SIDE_BY_SIDE && good; i++) {
        cutis_reduce_worst *w = &j->worst[i];
        w->position = cutis_arena_zero(arena, j->vertex_count, sizeof *w->position);
        good = w->position != NULL;
        if (!normals || !good) continue;
        w->normal = cutis_arena_zero(arena, j->vertex_count, sizeof *w->normal);
        w->area = cutis_arena_alloc(arena, j->vertex_count, sizeof *w->area);
        w->pose = cutis_arena_zero(arena, j->vertex_count, sizeof *w->pose);
        good = w->normal && w->area && w->pose;
    }
    return good;
}

// The places' largest into the first one's; equal ones have the lower pose.
static void join_worst(judge *j)
{
    cutis_reduce_worst *all = &j->worst[0];
    for (int i = 1; i < SIDE_BY_SIDE; i++) {
        const cutis_reduce_worst *w = &j->worst[i];
        for (size_t v = 0; v < j->vertex_count; v++) {
            if (w->position[v] > all->position[v]) all->position[v] = w->position[v];
            if (!w->normal) continue;
            const bool equal = w->normal[v] == all->normal[v] && w->pose[v] < all->pose[v];
            if (w->normal[v] > all->normal[v] || equal)
                all->normal[v] = w->normal[v], all->pose[v] = w->pose[v];
        }
    }
}

// Who turns the normals that are beyond the bound: corners of their faces by what their error does
// there, |e x opposite edge|, in the pose where it is worst. Two passes: the largest of a place's
// corners, then all that come near it.
static void blame_pose(const judge *j, uint32_t pose, double bound, const uint8_t *able,
                       double *most, uint8_t *blamed, int pass)
{
    const cutis_reduce_worst *worst = &j->worst[0];
    const double *p = j->place[0].original, *q = j->place[0].reduced;
    for (size_t t = 0; t < j->triangle_count; t++) {
        const uint32_t *corner = j->triangles + 3 * t;
        for (int r = 0; r < 3; r++) {
            const uint32_t weld = j->weld[corner[r]];
            if (!(worst->normal[weld] > bound) || worst->pose[weld] != pose) continue;
            for (int k = 0; k < 3; k++) {
                const uint32_t v = corner[k], a = corner[(k + 1) % 3], b = corner[(k + 2) % 3];
                double e[3], d[3], size = 0;
                if (!able[v]) continue;
                for (int c = 0; c < 3; c++) {
                    e[c] = q[3 * (size_t)v + c] - p[3 * (size_t)v + c];
                    d[c] = p[3 * (size_t)a + c] - p[3 * (size_t)b + c];
                }
                for (int c = 0; c < 3; c++) {
                    const double x =
                        e[(c + 1) % 3] * d[(c + 2) % 3] - e[(c + 2) % 3] * d[(c + 1) % 3];
                    size += x * x;
                }
                if (pass == 0 && size > most[weld]) most[weld] = size;
                if (pass == 1 && size > 0 && size >= 0.25 * most[weld]) blamed[v] = 1;
            }
        }
    }
}

static bool blame(judge *j, const cutis_reduce_bound *bound, cutis_arena *arena)
{
    const uint32_t count = j->poses->example_count + j->poses->held_out_count;
    const size_t nodes = cutis_model_get(j->model)->node_count;
    const cutis_reduce_worst *worst = &j->worst[0];
    double *most = cutis_arena_zero(arena, j->vertex_count, sizeof *most);
    uint8_t *shown = cutis_arena_zero(arena, count, 1);
    if (!most || !shown) return false;
    for (size_t v = 0; v < j->vertex_count; v++)
        if (worst->normal[v] > bound->normal) shown[worst->pose[v]] = 1;
    for (uint32_t f = 0; f < count; f++) {
        if (!shown[f]) continue;
        cutis_pose_world(j->model, j->poses->transforms + f * nodes, j->place[0].world);
        blend_all(j, NULL, j->place[0].world, j->place[0].palette, j->place[0].original);
        blend_all(j, j->weights, j->place[0].world, j->place[0].palette, j->place[0].reduced);
        for (int pass = 0; pass < 2; pass++)
            blame_pose(j, f, bound->normal, bound->able, most, bound->blamed, pass);
    }
    return true;
}

cutis_result cutis_reduce_find_worst(const cutis_model *model, cutis_device *device,
                                     const cutis_reduce_groups *groups,
                                     const cutis_transform *transforms, uint32_t pose_count,
                                     const cutis_reduce_weights *weights,
                                     const cutis_reduce_bound *bound, cutis_reduce_worst *out)
{
    cutis_context *context = cutis_model_context(model);
    const cutis_reduce_poses poses = { .example_count = pose_count,
                                       .transforms = (cutis_transform *)transforms };
    cutis_arena arena = { .context = context };
    judge j = {
        .model = model, .groups = groups, .poses = &poses, .weights = weights, .row_count = 1
    };
    cutis_result result = open_judge(&j, device, &arena);
    if (result == CUTIS_OK && !open_worst(&j, out->normal != NULL, &arena))
        result = cutis_alloc_result(context);
    for (; result == CUTIS_OK && j.pose_first < pose_count; j.pose_first += SIDE_BY_SIDE) {
        result = cutis_progress(context, "checking poses", (double)j.pose_first / pose_count);
        if (result == CUTIS_OK) cutis_device_run(device, judge_task, &j, SIDE_BY_SIDE);
    }
    if (result == CUTIS_OK) {
        join_worst(&j);
        memcpy(out->position, j.worst[0].position, j.vertex_count * sizeof *out->position);
        if (out->normal)
            memcpy(out->normal, j.worst[0].normal, j.vertex_count * sizeof *out->normal);
        if (bound && out->normal && !blame(&j, bound, &arena)) result = cutis_alloc_result(context);
    }
    cutis_arena_release(&arena);
    return result;
}
