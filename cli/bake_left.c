/// What joints could not do: vertices that stay far from where they were to go, and whether the
/// surface tears there. A joint moves a region as one; where neighbours go different ways, each
/// needs joints of its own.
#include "bake.h"

#include <math.h>
#include <stdlib.h>

// A vertex is left behind if joints took less than half of its error away, and it is off by more
// than this part of the body, which one sees.
static const double LEFT_RATIO = 0.5, LEFT_SIZE = 2e-3;
// An edge is torn where it is this many times as long as at rest.
static const double TORN = 5;

static double diagonal(const bake_job *job)
{
    const cutis_surface surface = { .vertex_count = cutis_model_vertex_count(job->model),
                                    .positions = bake_target(job, 0) };
    return cutis_surface_diagonal(&surface);
}

static double length_in(const float *positions, uint32_t a, uint32_t b)
{
    double sum = 0;
    for (size_t c = 0; c < 3; c++) {
        const double d = (double)positions[3 * (size_t)a + c] - positions[3 * (size_t)b + c];
        sum += d * d;
    }
    return sqrt(sum);
}

// Edges at vertices that were left behind: two ends each, and how short and long frames make them.
typedef struct edges {
    size_t count;
    uint32_t (*ends)[2];
    double (*lengths)[2];
} edges;

static void edges_end(edges *e)
{
    free(e->ends);
    free(e->lengths);
}

static int list_edges(cli_app *app, const bake_job *job, const uint8_t *mark, edges *e)
{
    const uint64_t count = 3 * cutis_model_triangle_count(job->model);
    OWN_MEMORY uint32_t *indices = malloc((count + 1) * sizeof *indices);
    if (!indices) return bake_no_memory(app, job);
    cutis_model_triangles(job->model, indices);
    for (int pass = 0; pass < 2; pass++) {
        e->count = 0;
        for (uint64_t i = 0; i < count; i++) {
            const uint32_t a = indices[i], b = indices[i % 3 == 2 ? i - 2 : i + 1];
            if (!mark[a] && !mark[b]) continue;
            if (pass) e->ends[e->count][0] = a, e->ends[e->count][1] = b;
            e->count++;
        }
        if (pass) continue;
        e->ends = malloc((e->count + 1) * sizeof *e->ends);
        e->lengths = malloc((e->count + 1) * sizeof *e->lengths);
        if (!e->ends || !e->lengths) return bake_no_memory(app, job);
    }
    return EXIT_GOOD;
}

// Mark (3) the ends of edges that frames make far longer than they are in the shortest of them.
static int mark_torn(cli_app *app, const bake_job *job, uint8_t *mark, double least)
{
    ENDS_BY(edges_end) edges e = { 0 };
    TRY(list_edges(app, job, mark, &e));
    for (size_t k = 0; k < e.count; k++) e.lengths[k][0] = INFINITY, e.lengths[k][1] = 0;
    for (uint32_t f = 0; f < bake_clip_frames(job); f++) {
        const float *target = bake_target(job, f);
        for (size_t k = 0; k < e.count; k++) {
            const double length = length_in(target, e.ends[k][0], e.ends[k][1]);
            e.lengths[k][0] = fmin(e.lengths[k][0], length);
            e.lengths[k][1] = fmax(e.lengths[k][1], length);
        }
    }
    for (size_t k = 0; k < e.count; k++) {
        if (e.lengths[k][1] <= least || e.lengths[k][1] <= TORN * e.lengths[k][0]) continue;
        for (int end = 0; end < 2; end++)
            if (mark[e.ends[k][end]]) mark[e.ends[k][end]] = 3;
    }
    return EXIT_GOOD;
}

static void list_worst(bake_left *left, uint32_t vertex, double distance)
{
    const uint32_t most = BAKE_LEFT_LISTED;
    uint32_t at = left->count < most ? left->count : most;
    for (; at > 0 && left->distance[at - 1] < distance; at--)
        if (at < most)
            left->distance[at] = left->distance[at - 1], left->worst[at] = left->worst[at - 1];
    if (at < most) left->distance[at] = distance, left->worst[at] = vertex;
}

int bake_find_left(cli_app *app, bake_job *job)
{
    bake_left *left = &job->left;
    const uint32_t count = cutis_model_vertex_count(job->model);
    const double frames = bake_clip_frames(job);
    OWN_MEMORY uint8_t *mark = calloc(count + (size_t)1, 1);
    if (!mark) return bake_no_memory(app, job);
    *left = (bake_left){ .beyond = LEFT_SIZE * diagonal(job) };
    for (uint32_t v = 0; v < count; v++) {
        const double off = sqrt(job->squares[0][v] / frames);
        if (off <= left->beyond || off <= LEFT_RATIO * sqrt(job->squares[1][v] / frames)) continue;
        mark[v] = 1;
        list_worst(left, v, off);
        left->count++;
    }
    if (left->count == 0) return EXIT_GOOD;
    TRY(mark_torn(app, job, mark, left->beyond));
    for (uint32_t v = 0; v < count; v++) left->torn += mark[v] == 3;
    return EXIT_GOOD;
}

void bake_note_left(cli_app *app, const bake_job *job)
{
    const bake_left *left = &job->left;
    if (2 * left->torn <= left->count) return;
    app_note(app,
             "%s: %u vertices stay off by more than %.3g mm, vertex %u by %.3g mm: the surface "
             "tears there, and joints move neighbours together",
             job->path, left->count, 1e3 * left->beyond, left->worst[0], 1e3 * left->distance[0]);
}

void bake_say_left(const cli_app *app, const bake_job *job)
{
    const bake_left *left = &job->left;
    if (left->count)
        app_say(app, "%-16s %u vertices stay off by more than %.3g mm, vertex %u by %.3g mm\n",
                "left", left->count, 1e3 * left->beyond, left->worst[0], 1e3 * left->distance[0]);
}

void bake_emit_left(json_out *json, const bake_job *job)
{
    const bake_left *left = &job->left;
    const uint32_t most = BAKE_LEFT_LISTED;
    emit(json, "left { count %u torn %u beyond %g", left->count, left->torn, left->beyond);
    emit_array(json, "worst");
    for (uint32_t i = 0; i < left->count && i < most; i++)
        emit(json, "{ vertex %u distance %g }", left->worst[i], left->distance[i]);
    emit(json, "] }");
}
