// Blending what differs from the original, pose by pose, for whoever looks at it. Invariants: a
// pose's numbers do not depend on threads, nor on what else is in the part.
#include "fit/reduce/judge.h"

#include <math.h>
#include <string.h>

#include <cutis/measure.h>

#include "base/error.h"
#include "math/mat3.h"
#include "math/elementary.h"

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

// The body ---------------------------------------------------------------------------------------

static void blend_vertex(const cutis_reduce_group *group, const cutis_reduce_weights *weights,
                         uint32_t v, const double *palette, double *out)
{
    const uint32_t unit = group->unit[v];
    double sum[12] = { 0 }, p[3];
    for (uint32_t i = weights->first[unit]; i < weights->first[unit + 1]; i++) {
        const double *m = palette + 12 * (size_t)weights->control[i], w = weights->weight[i];
        for (int c = 0; c < 12; c++) sum[c] += w * m[c];
    }
    for (int c = 0; c < 3; c++) p[c] = group->source_positions[3 * (size_t)v + c];
    double34_point(sum, p, out);
}

static cutis_reduce_weights original_of(const cutis_reduce_group *group)
{
    return (cutis_reduce_weights){ group->first, group->control, group->weight };
}

// Where the body stands at rest.
static bool stand(const cutis_judge *j, cutis_arena *own, float *rest)
{
    const size_t nodes = cutis_model_get(j->model)->node_count;
    cutis_transform *local = cutis_arena_alloc(own, nodes, sizeof *local);
    cutis_mat34 *world = cutis_arena_alloc(own, nodes, sizeof *world);
    double *palette = cutis_arena_alloc(own, j->joint_most, 12 * sizeof *palette);
    if (!local || !world || !palette) return false;
    cutis_pose_rest(j->model, local, NULL);
    cutis_pose_world(j->model, local, world);
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        const cutis_reduce_weights original = original_of(group);
        cutis_reduce_palette(j->model, group, world, palette);
        for (uint32_t v = 0; v < group->source_count; v++) {
            double at[3];
            blend_vertex(group, &original, v, palette, at);
            for (int c = 0; c < 3; c++) *rest++ = (float)at[c];
        }
    }
    return true;
}

static void count_all(cutis_judge *j)
{
    const cutis_model_data *data = cutis_model_get(j->model);
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        j->vertex_count += group->source_count;
        j->triangle_count += group->triangle_count;
        if (data->skins[group->skin].joint_count > j->joint_most)
            j->joint_most = data->skins[group->skin].joint_count;
    }
}

// Places with a face, and how many vertices each has.
static bool count_copies(cutis_judge *j, cutis_arena *own)
{
    uint8_t *used = cutis_arena_zero(own, j->vertex_count, 1);
    if (!used) return false;
    for (size_t i = 0; i < 3 * j->triangle_count; i++) used[j->weld[j->triangles[i]]] = 1;
    for (size_t v = 0; v < j->vertex_count; v++)
        if (used[j->weld[v]]) j->copies[j->weld[v]]++, j->counted++;
    return true;
}

static cutis_result open_body(cutis_judge *j, cutis_arena *arena, cutis_arena *own)
{
    count_all(j);
    float *rest = cutis_arena_alloc(own, j->vertex_count, 3 * sizeof *rest);
    j->triangles = cutis_arena_alloc(arena, j->triangle_count, 3 * sizeof(uint32_t));
    j->weld = cutis_arena_alloc(arena, j->vertex_count, sizeof *j->weld);
    j->copies = cutis_arena_zero(arena, j->vertex_count, sizeof *j->copies);
    if (!rest || !j->triangles || !j->weld || !j->copies || !stand(j, own, rest))
        return cutis_alloc_result(arena->context);
    uint32_t *corner = j->triangles, vertex = 0;
    for (uint32_t g = 0; g < j->groups->count; g++) {
        const cutis_reduce_group *group = &j->groups->group[g];
        for (size_t i = 0; i < 3 * (size_t)group->triangle_count; i++)
            *corner++ = vertex + group->triangles[i];
        vertex += group->source_count;
    }
    const cutis_surface surface = { (uint32_t)j->vertex_count, j->triangle_count, rest,
                                    j->triangles };
    j->extent = cutis_surface_diagonal(&surface);
    TRY(cutis_weld_positions_on(arena->context, j->device, (uint32_t)j->vertex_count, rest,
                                j->weld));
    return count_copies(j, own) ? CUTIS_OK : cutis_alloc_result(arena->context);
}

cutis_result cutis_judge_open(cutis_judge *judge, cutis_arena *arena)
{
    cutis_arena own = { .context = arena->context };
    cutis_result result = open_body(judge, arena, &own);
    cutis_arena_release(&own);
    return result;
}

// The part that differs --------------------------------------------------------------------------

static bool same_weights(const cutis_reduce_weights *a, const cutis_reduce_weights *b, uint32_t u)
{
    const uint32_t count = a->first[u + 1] - a->first[u];
    return count == b->first[u + 1] - b->first[u] &&
           !memcmp(a->control + a->first[u], b->control + b->first[u],
                   count * sizeof *a->control) &&
           !memcmp(a->weight + a->first[u], b->weight + b->first[u], count * sizeof *a->weight);
}

void cutis_judge_mark(const cutis_judge *judge, const cutis_reduce_weights *weights,
                      const cutis_reduce_weights *other, uint8_t *moved)
{
    for (uint32_t g = 0; g < judge->groups->count; g++) {
        const cutis_reduce_group *group = &judge->groups->group[g];
        const cutis_reduce_weights original = original_of(group);
        for (uint32_t v = 0; v < group->source_count; v++, moved++)
            if (!same_weights(&weights[g], other ? &other[g] : &original, group->unit[v]))
                *moved = 1;
    }
}

// Which vertices are needed (index: 1, else 0), and which places' normals can differ.
static void find_needed(const cutis_judge *j, const uint8_t *moved, uint8_t *near, uint32_t *index)
{
    for (size_t v = 0; v < j->vertex_count; v++) index[v] = moved[v];
    for (size_t t = 0; t < j->triangle_count; t++) {
        const uint32_t *corner = j->triangles + 3 * t;
        if (moved[corner[0]] | moved[corner[1]] | moved[corner[2]])
            for (int c = 0; c < 3; c++) near[j->weld[corner[c]]] = 1;
    }
    for (size_t t = 0; t < j->triangle_count; t++) {
        const uint32_t *corner = j->triangles + 3 * t;
        if (near[j->weld[corner[0]]] | near[j->weld[corner[1]]] | near[j->weld[corner[2]]])
            for (int c = 0; c < 3; c++) index[corner[c]] = 1;
    }
}

// Vertices in order, with their spots.
static void list_vertices(const cutis_judge *j, const uint8_t *moved, const uint8_t *near,
                          uint32_t *index, uint32_t *spot, cutis_judge_part *out)
{
    uint32_t count = 0, v = 0;
    for (uint32_t g = 0; g < j->groups->count; g++) {
        out->first[g] = count;
        for (const uint32_t end = v + j->groups->group[g].source_count; v < end; v++) {
            if (!index[v]) continue;
            const uint32_t place = j->weld[v];
            if (spot[place] == UINT32_MAX) {
                out->copies[out->spot_count] = near[place] ? j->copies[place] : 0;
                out->place[out->spot_count] = place;
                spot[place] = out->spot_count++;
            }
            out->spot[count] = spot[place];
            out->moved[count] = moved[v];
            out->vertex[count] = v;
            index[v] = count++;
        }
    }
    out->first[j->groups->count] = count;
}

bool cutis_judge_take(const cutis_judge *j, const uint8_t *moved, cutis_arena *arena,
                      cutis_judge_part *out)
{
    const size_t all = j->vertex_count;
    uint8_t *near = cutis_arena_zero(arena, all, 1);
    uint32_t *index = cutis_arena_alloc(arena, all, sizeof *index);
    uint32_t *spot = cutis_arena_alloc(arena, all, sizeof *spot);
    *out = (cutis_judge_part){ 0 };
    if (!near || !index || !spot) return false;
    find_needed(j, moved, near, index);
    for (size_t v = 0; v < all; v++) spot[v] = UINT32_MAX, out->vertex_count += index[v] != 0;
    for (size_t t = 0; t < j->triangle_count; t++) {
        const uint32_t *c = j->triangles + 3 * t;
        out->triangle_count += near[j->weld[c[0]]] | near[j->weld[c[1]]] | near[j->weld[c[2]]];
    }
    const size_t count = out->vertex_count;
    out->vertex = cutis_arena_alloc(arena, count, sizeof *out->vertex);
    out->first = cutis_arena_alloc(arena, (size_t)j->groups->count + 1, sizeof *out->first);
    out->moved = cutis_arena_alloc(arena, count, 1);
    out->spot = cutis_arena_alloc(arena, count, sizeof *out->spot);
    out->copies = cutis_arena_alloc(arena, count, sizeof *out->copies);
    out->place = cutis_arena_alloc(arena, count, sizeof *out->place);
    out->triangles = cutis_arena_alloc(arena, out->triangle_count, 3 * sizeof *out->triangles);
    if (!out->vertex || !out->first || !out->moved || !out->spot || !out->copies || !out->place ||
        !out->triangles)
        return false;
    list_vertices(j, moved, near, index, spot, out);
    uint32_t *to = out->triangles;
    for (size_t t = 0; t < j->triangle_count; t++) {
        const uint32_t *c = j->triangles + 3 * t;
        if (near[j->weld[c[0]]] | near[j->weld[c[1]]] | near[j->weld[c[2]]])
            for (int k = 0; k < 3; k++) *to++ = index[c[k]];
    }
    return true;
}

// Poses ------------------------------------------------------------------------------------------

// A run: tasks take poses in turn, each with memory of its own.
typedef struct runner {
    const cutis_judge *judge;
    const cutis_judge_part *part;
    const cutis_transform *transforms;
    uint32_t pose_first, pose_end;
    const cutis_reduce_weights *weights;
    uint32_t row_count;
    uint32_t tasks;
    bool normals;
    cutis_judge_look look;
    void *data;
    struct {
        double *palette; ///< of all groups
        cutis_mat34 *world;
        double *original, *reduced, *normals, *compared;
    } own[CUTIS_JUDGE_TASKS];
} runner;

static void blend_part(const runner *r, const cutis_reduce_weights *weights, const double *palette,
                       double *out)
{
    const cutis_judge_part *part = r->part;
    uint32_t base = 0;
    for (uint32_t g = 0; g < r->judge->groups->count; g++) {
        const cutis_reduce_group *group = &r->judge->groups->group[g];
        const cutis_reduce_weights own = weights ? weights[g] : original_of(group);
        for (uint32_t i = part->first[g]; i < part->first[g + 1]; i++)
            blend_vertex(group, &own, part->vertex[i] - base, palette, out + 3 * (size_t)i);
        base += group->source_count;
        palette += 12 * r->judge->joint_most;
    }
}

static void sum_normals(const cutis_judge_part *part, const double *positions, double *normals)
{
    memset(normals, 0, 3 * (size_t)part->spot_count * sizeof *normals);
    for (uint32_t t = 0; t < part->triangle_count; t++) {
        const uint32_t *corner = part->triangles + 3 * (size_t)t;
        const double *a = positions + 3 * (size_t)corner[0], *b = positions + 3 * (size_t)corner[1],
                     *c = positions + 3 * (size_t)corner[2];
        const double u[3] = { b[0] - a[0], b[1] - a[1], b[2] - a[2] },
                     v[3] = { c[0] - a[0], c[1] - a[1], c[2] - a[2] };
        const double n[3] = { u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2],
                              u[0] * v[1] - u[1] * v[0] };
        for (int k = 0; k < 3; k++)
            for (int d = 0; d < 3; d++) normals[3 * (size_t)part->spot[corner[k]] + d] += n[d];
    }
}

double cutis_judge_angle(const cutis_judge_view *view, uint32_t spot)
{
    const double *a = view->normals + 3 * (size_t)spot, *b = view->compared + 3 * (size_t)spot;
    const double x = a[1] * b[2] - a[2] * b[1], y = a[2] * b[0] - a[0] * b[2],
                 z = a[0] * b[1] - a[1] * b[0];
    return fixed_atan2(sqrt(x * x + y * y + z * z), a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
}

uint32_t cutis_judge_tasks(const cutis_judge *judge)
{
    const uint32_t threads = judge->device ? judge->device->task_threads : 1;
    return threads < 4 ? 4 : threads < CUTIS_JUDGE_TASKS ? threads : CUTIS_JUDGE_TASKS;
}

static void run_task(void *data, uint32_t task)
{
    const runner *r = data;
    const cutis_judge *j = r->judge;
    const size_t nodes = cutis_model_get(j->model)->node_count;
    double *palette = r->own[task].palette;
    for (uint32_t f = r->pose_first + task; f < r->pose_end; f += r->tasks) {
        cutis_pose_world(j->model, r->transforms + f * nodes, r->own[task].world);
        for (uint32_t g = 0; g < j->groups->count; g++)
            cutis_reduce_palette(j->model, &j->groups->group[g], r->own[task].world,
                                 palette + 12 * g * j->joint_most);
        blend_part(r, NULL, palette, r->own[task].original);
        if (r->normals) sum_normals(r->part, r->own[task].original, r->own[task].normals);
        for (uint32_t row = 0; row < r->row_count; row++) {
            blend_part(r, r->weights + (size_t)row * j->groups->count, palette,
                       r->own[task].reduced);
            if (r->normals) sum_normals(r->part, r->own[task].reduced, r->own[task].compared);
            const cutis_judge_view view = { j,
                                            r->part,
                                            f,
                                            row,
                                            task,
                                            r->own[task].original,
                                            r->own[task].reduced,
                                            r->own[task].normals,
                                            r->own[task].compared };
            r->look(r->data, &view);
        }
    }
}

static bool open_runner(runner *r, cutis_arena *own)
{
    const cutis_judge *j = r->judge;
    const size_t vertices = r->part->vertex_count, spots = r->part->spot_count;
    bool good = true;
    for (uint32_t i = 0; i < r->tasks && good; i++) {
        double *numbers = cutis_arena_alloc(own, vertices + spots, 6 * sizeof *numbers);
        r->own[i].palette =
            cutis_arena_alloc(own, j->groups->count * j->joint_most, 12 * sizeof(double));
        r->own[i].world =
            cutis_arena_alloc(own, cutis_model_get(j->model)->node_count, sizeof *r->own[i].world);
        good = numbers && r->own[i].palette && r->own[i].world;
        if (!good) break;
        r->own[i].original = numbers;
        r->own[i].reduced = numbers + 3 * vertices;
        r->own[i].normals = numbers + 6 * vertices;
        r->own[i].compared = numbers + 6 * vertices + 3 * spots;
    }
    return good;
}

// Poses between two reports of progress.
enum { STRETCH = 64 };

cutis_result cutis_judge_run(const cutis_judge *judge, const cutis_judge_part *part,
                             const cutis_transform *transforms, uint32_t pose_count,
                             const cutis_reduce_weights *weights, uint32_t row_count, bool normals,
                             cutis_judge_look look, void *data)
{
    cutis_context *context = cutis_model_context(judge->model);
    cutis_arena own = { .context = context };
    runner r = { .judge = judge,
                 .part = part,
                 .transforms = transforms,
                 .weights = weights,
                 .row_count = row_count,
                 .tasks = cutis_judge_tasks(judge),
                 .normals = normals,
                 .look = look,
                 .data = data };
    if (part->vertex_count == 0) return CUTIS_OK;
    cutis_result result = open_runner(&r, &own) ? CUTIS_OK : cutis_alloc_result(context);
    while (result == CUTIS_OK && r.pose_first < pose_count) {
        const uint32_t left = pose_count - r.pose_first;
        r.pose_end = r.pose_first + (left < STRETCH ? left : STRETCH);
        result = cutis_progress(context, "judging poses", (double)r.pose_first / pose_count);
        if (result == CUTIS_OK) cutis_device_run(judge->device, run_task, &r, r.tasks);
        r.pose_first = r.pose_end;
    }
    cutis_arena_release(&own);
    return result;
}
