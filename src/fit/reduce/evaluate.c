// Errors of reduced weights on poses: by pose, and the largest of every vertex
// (docs/spec/reduction.md 8). Invariant: the same numbers for any number of threads.
#include "fit/reduce/judge.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

// By pose ----------------------------------------------------------------------------------------

typedef struct frames {
    double **position, **normal; ///< per row and pose
} frames;

static void look_at_frame(void *data, const cutis_judge_view *view)
{
    const frames *f = data;
    const cutis_judge *j = view->judge;
    double distance = 0, angles = 0;
    for (size_t i = 0; i < 3 * (size_t)view->part->vertex_count; i++) {
        const double d = view->original[i] - view->reduced[i];
        distance += d * d;
    }
    for (uint32_t s = 0; s < view->part->spot_count; s++) {
        if (!view->part->copies[s]) continue;
        const double angle = cutis_judge_angle(view, s);
        angles += view->part->copies[s] * (angle * angle);
    }
    // A body without extent has no error that could be told in its own size.
    if (!(j->extent > 0)) return;
    f->position[view->row][view->pose] = 100 * sqrt(distance / (double)j->vertex_count) / j->extent;
    f->normal[view->row][view->pose] = j->counted ? sqrt(angles / (double)j->counted) : 0;
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
    cutis_judge judge = { .model = model, .device = device, .groups = groups };
    cutis_judge_part part;
    frames f = { frame_position, frame_normal };
    cutis_result result = cutis_judge_open(&judge, &arena);
    uint8_t *moved = result == CUTIS_OK ? cutis_arena_zero(&arena, judge.vertex_count, 1) : NULL;
    for (uint32_t r = 0; r < row_count; r++) {
        for (uint32_t p = 0; p < count; p++) frame_position[r][p] = frame_normal[r][p] = 0;
        if (moved) cutis_judge_mark(&judge, weights + (size_t)r * groups->count, NULL, moved);
    }
    if (result == CUTIS_OK && !(moved && cutis_judge_take(&judge, moved, &arena, &part)))
        result = cutis_alloc_result(context);
    if (result == CUTIS_OK)
        result = cutis_judge_run(&judge, &part, poses->transforms, count, weights, row_count, true,
                                 look_at_frame, &f);
    cutis_arena_release(&arena);
    return result;
}

// By vertex --------------------------------------------------------------------------------------

// Where the original's faces cancel to this part of their area, they are folded flat onto each
// other and have no normal to speak of.
static const double FOLDED = 0.1;

// The largest so far, of every task: distances by vertex of the part, angles by spot.
typedef struct largest {
    uint32_t tasks;
    double *position[CUTIS_JUDGE_TASKS], *normal[CUTIS_JUDGE_TASKS];
    double *area[CUTIS_JUDGE_TASKS];
    uint32_t *pose[CUTIS_JUDGE_TASKS];
} largest;

// The area that faces around every spot have, whichever way they look.
static void find_areas(const cutis_judge_part *part, const double *positions, double *area)
{
    memset(area, 0, part->spot_count * sizeof *area);
    for (uint32_t t = 0; t < part->triangle_count; t++) {
        const uint32_t *corner = part->triangles + 3 * (size_t)t;
        const double *a = positions + 3 * (size_t)corner[0], *b = positions + 3 * (size_t)corner[1],
                     *c = positions + 3 * (size_t)corner[2];
        double n[3], size = 0;
        for (int k = 0; k < 3; k++) {
            const int l = (k + 1) % 3, m = (k + 2) % 3;
            n[k] = (b[l] - a[l]) * (c[m] - a[m]) - (b[m] - a[m]) * (c[l] - a[l]);
            size += n[k] * n[k];
        }
        for (int k = 0; k < 3; k++) area[part->spot[corner[k]]] += sqrt(size);
    }
}

static void look_for_largest(void *data, const cutis_judge_view *view)
{
    const largest *l = data;
    const cutis_judge_part *part = view->part;
    double *position = l->position[view->task], *normal = l->normal[view->task],
           *area = l->area[view->task];
    for (uint32_t v = 0; v < part->vertex_count; v++) {
        const double *p = view->original + 3 * (size_t)v, *q = view->reduced + 3 * (size_t)v;
        const double x = p[0] - q[0], y = p[1] - q[1], z = p[2] - q[2],
                     d = sqrt(x * x + y * y + z * z);
        if (d > position[v]) position[v] = d;
    }
    if (!normal) return;
    find_areas(part, view->original, area);
    for (uint32_t s = 0; s < part->spot_count; s++) {
        const double *a = view->normals + 3 * (size_t)s, *b = view->compared + 3 * (size_t)s;
        if (!part->copies[s] ||
            !(a[0] * a[0] + a[1] * a[1] + a[2] * a[2] > FOLDED * FOLDED * area[s] * area[s]))
            continue;
        // A normal that is gone points nowhere: as far off as can be.
        const bool gone = b[0] == 0 && b[1] == 0 && b[2] == 0;
        const double angle = gone ? 3.141592653589793 : cutis_judge_angle(view, s);
        if (angle > normal[s]) normal[s] = angle, l->pose[view->task][s] = view->pose;
    }
}

static bool open_largest(const cutis_judge_part *part, bool normals, cutis_arena *arena,
                         largest *out)
{
    bool good = true;
    for (uint32_t i = 0; i < out->tasks && good; i++) {
        out->position[i] = cutis_arena_zero(arena, part->vertex_count, sizeof(double));
        good = out->position[i] != NULL;
        if (!normals || !good) continue;
        out->normal[i] = cutis_arena_zero(arena, part->spot_count, sizeof(double));
        out->area[i] = cutis_arena_alloc(arena, part->spot_count, sizeof(double));
        out->pose[i] = cutis_arena_zero(arena, part->spot_count, sizeof(uint32_t));
        good = out->normal[i] && out->area[i] && out->pose[i];
    }
    return good;
}

// The tasks' largest for the body; of equal ones the lower pose.
static void join_largest(const cutis_judge_part *part, const largest *l, cutis_reduce_worst *out)
{
    for (uint32_t v = 0; v < part->vertex_count; v++) {
        double most = 0;
        for (uint32_t i = 0; i < l->tasks; i++) most = fmax(most, l->position[i][v]);
        if (part->moved[v]) out->position[part->vertex[v]] = most;
    }
    for (uint32_t s = 0; s < part->spot_count && out->normal; s++) {
        if (!part->copies[s]) continue;
        double most = 0;
        uint32_t pose = 0;
        for (uint32_t i = 0; i < l->tasks; i++) {
            const bool equal = l->normal[i][s] == most && l->pose[i][s] < pose;
            if (l->normal[i][s] > most || equal) most = l->normal[i][s], pose = l->pose[i][s];
        }
        out->normal[part->place[s]] = most, out->pose[part->place[s]] = pose;
    }
}

// Who is to blame --------------------------------------------------------------------------------

// Poses in which a normal beyond the bound is worst.
typedef struct culprits {
    const cutis_reduce_bound *bound;
    const cutis_reduce_worst *worst;
    uint32_t *pose; ///< of those that are looked at: which they are
    double *most;   ///< per place
    uint8_t *blamed[CUTIS_JUDGE_TASKS];
} culprits;

// What a corner's error does to a face's normal: |e x opposite edge|^2.
static double tilt(const cutis_judge_view *view, uint32_t v, uint32_t a, uint32_t b)
{
    const double *p = view->original, *q = view->reduced;
    double e[3], d[3], size = 0;
    for (int c = 0; c < 3; c++) {
        e[c] = q[3 * (size_t)v + c] - p[3 * (size_t)v + c];
        d[c] = p[3 * (size_t)a + c] - p[3 * (size_t)b + c];
    }
    for (int c = 0; c < 3; c++) {
        const double x = e[(c + 1) % 3] * d[(c + 2) % 3] - e[(c + 2) % 3] * d[(c + 1) % 3];
        size += x * x;
    }
    return size;
}

// Corners of the faces of a place by what they do there, in the pose where it is worst. Two passes:
// the largest of a place's corners, then all that come near it. A place has one such pose, so no
// two tasks write to it.
static void look_for_culprits(void *data, const cutis_judge_view *view)
{
    const culprits *c = data;
    const cutis_judge_part *part = view->part;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t t = 0; t < part->triangle_count; t++) {
            const uint32_t *corner = part->triangles + 3 * (size_t)t;
            for (int r = 0; r < 3; r++) {
                const uint32_t place = part->place[part->spot[corner[r]]];
                if (!(c->worst->normal[place] > c->bound->normal) ||
                    c->worst->pose[place] != c->pose[view->pose])
                    continue;
                for (int k = 0; k < 3; k++) {
                    const uint32_t v = corner[k], vertex = part->vertex[v];
                    if (!c->bound->able[vertex]) continue;
                    const double size = tilt(view, v, corner[(k + 1) % 3], corner[(k + 2) % 3]);
                    if (pass == 0 && size > c->most[place]) c->most[place] = size;
                    if (pass == 1 && size > 0 && size >= 0.25 * c->most[place])
                        c->blamed[view->task][vertex] = 1;
                }
            }
        }
}

static cutis_result blame(const cutis_judge *j, const cutis_transform *transforms,
                          uint32_t pose_count, const cutis_reduce_weights *weights,
                          const cutis_reduce_bound *bound, const cutis_reduce_worst *worst,
                          cutis_arena *arena)
{
    const size_t nodes = cutis_model_get(j->model)->node_count;
    const uint32_t tasks = cutis_judge_tasks(j);
    culprits c = { .bound = bound, .worst = worst };
    cutis_judge_part part;
    uint8_t *beyond = cutis_arena_zero(arena, j->vertex_count, 1);
    uint8_t *shown = cutis_arena_zero(arena, pose_count, 1);
    cutis_transform *poses = cutis_arena_alloc(arena, pose_count * nodes, sizeof *poses);
    c.most = cutis_arena_zero(arena, j->vertex_count, sizeof *c.most);
    c.pose = cutis_arena_alloc(arena, pose_count, sizeof *c.pose);
    bool good = beyond && shown && poses && c.most && c.pose;
    for (uint32_t i = 0; i < tasks && good; i++)
        good = (c.blamed[i] = cutis_arena_zero(arena, j->vertex_count, 1)) != NULL;
    for (size_t v = 0; v < j->vertex_count && good; v++) {
        beyond[v] = worst->normal[j->weld[v]] > bound->normal;
        if (beyond[v]) shown[worst->pose[j->weld[v]]] = 1;
    }
    if (!good || !cutis_judge_take(j, beyond, arena, &part))
        return cutis_alloc_result(arena->context);
    uint32_t count = 0;
    for (uint32_t p = 0; p < pose_count; p++) {
        if (!shown[p]) continue;
        memcpy(poses + count * nodes, transforms + p * nodes, nodes * sizeof *poses);
        c.pose[count++] = p;
    }
    TRY(cutis_judge_run(j, &part, poses, count, weights, 1, false, look_for_culprits, &c));
    for (uint32_t i = 0; i < tasks; i++)
        for (size_t v = 0; v < j->vertex_count; v++) bound->blamed[v] |= c.blamed[i][v];
    return CUTIS_OK;
}

cutis_result cutis_reduce_find_worst(const cutis_judge *judge, const cutis_transform *transforms,
                                     uint32_t pose_count, const cutis_reduce_weights *weights,
                                     const uint8_t *changed, const cutis_reduce_bound *bound,
                                     cutis_reduce_worst *out)
{
    cutis_context *context = cutis_model_context(judge->model);
    const size_t count = judge->vertex_count;
    const bool normals = out->normal != NULL;
    cutis_arena arena = { .context = context };
    cutis_judge_part part;
    largest l = { .tasks = cutis_judge_tasks(judge) };
    uint8_t *moved = cutis_arena_zero(&arena, count, 1);
    if (!changed && moved) {
        cutis_judge_mark(judge, weights, NULL, moved);
        memset(out->position, 0, count * sizeof *out->position);
        if (normals) memset(out->normal, 0, count * sizeof *out->normal);
        if (normals) memset(out->pose, 0, count * sizeof *out->pose);
    }
    const bool good = moved && cutis_judge_take(judge, changed ? changed : moved, &arena, &part) &&
                      open_largest(&part, normals, &arena, &l);
    cutis_result result = good ? CUTIS_OK : cutis_alloc_result(context);
    if (result == CUTIS_OK)
        result = cutis_judge_run(judge, &part, transforms, pose_count, weights, 1, normals,
                                 look_for_largest, &l);
    if (result == CUTIS_OK) {
        join_largest(&part, &l, out);
        if (bound && normals)
            result = blame(judge, transforms, pose_count, weights, bound, out, &arena);
    }
    cutis_arena_release(&arena);
    return result;
}
