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
                                    .positions = job->frames.positions };
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

// Whether the frames make an edge far longer than it is in the shortest of them.
static bool is_torn(const bake_job *job, uint32_t a, uint32_t b, double least)
{
    const size_t plane = 3 * (size_t)cutis_model_vertex_count(job->model);
    double low = INFINITY, high = 0;
    for (uint32_t f = 0; f < bake_clip_frames(job); f++) {
        const double length = length_in(job->frames.positions + f * plane, a, b);
        low = fmin(low, length), high = fmax(high, length);
    }
    return high > least && high > TORN * low;
}

// Mark ends of torn edges among the vertices that were left behind (1): 3.
static int mark_torn(cli_app *app, const bake_job *job, uint8_t *mark, double least)
{
    const uint64_t count = 3 * cutis_model_triangle_count(job->model);
    OWN_MEMORY uint32_t *indices = malloc((count + 1) * sizeof *indices);
    if (!indices) return bake_no_memory(app, job);
    cutis_model_triangles(job->model, indices);
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t a = indices[i], b = indices[i % 3 == 2 ? i - 2 : i + 1];
        if (mark[a] != 1 && mark[b] != 1) continue;
        if (!is_torn(job, a, b, least)) continue;
        if (mark[a]) mark[a] = 3;
        if (mark[b]) mark[b] = 3;
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
