// Examples that stay with the caller: places of some vertices at a time, in all examples.
// Invariant: what is fitted has the bits of the same examples in memory.
#include <string.h>

#include "base/error.h"
#include "fit/poses/fit.h"
#include "model/validate.h"

enum { CHUNK = 1 << 16 }; // vertices that are checked at once

static cutis_result check_example(cutis_fit_problem *p, uint32_t example, float *places)
{
    for (uint32_t first = 0; first < p->vertex_count; first += CHUNK) {
        const uint32_t left = p->vertex_count - first, count = left < CHUNK ? left : CHUNK;
        TRY(p->options.read(p->options.user, example, first, count, places));
        const size_t bad = cutis_first_not_finite(places, 3 * (size_t)count);
        if (bad < 3 * (size_t)count)
            return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                              "fit: example %u: vertex %zu is not finite", example,
                              first + bad / 3);
    }
    return CUTIS_OK;
}

cutis_result cutis_fit_window_open(cutis_fit_problem *p)
{
    const uint32_t most = p->vertex_count < CHUNK ? p->vertex_count : CHUNK;
    p->window = cutis_arena_zero(p->arena, 1, sizeof *p->window);
    float *places = cutis_arena_alloc(p->arena, most, 3 * sizeof *places);
    if (!p->window || !places) return cutis_alloc_result(p->context);
    p->window->number = cutis_arena_zero(p->arena, p->vertex_count, sizeof *p->window->number);
    if (!p->window->number) return cutis_alloc_result(p->context);
    for (uint32_t e = 0; e < p->examples->count && !p->part; e++) { // once: not by every part
        TRY(cutis_progress(p->context, "reading", (double)e / p->examples->count));
        TRY(check_example(p, e, places));
    }
    return CUTIS_OK;
}

// Vertices that follow each other are read together.
static cutis_result read_example(const cutis_fit_problem *p, uint32_t example,
                                 const uint32_t *vertices, uint32_t count, float *to)
{
    for (uint32_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && vertices[end] == vertices[end - 1] + 1;) end++;
        TRY(p->options.read(p->options.user, example, vertices[first], end - first,
                            to + 3 * (size_t)first));
    }
    const size_t bad = cutis_first_not_finite(to, 3 * (size_t)count);
    if (bad == 3 * (size_t)count) return CUTIS_OK;
    return cutis_fail(p->context, CUTIS_INVALID_ARGUMENT,
                      "fit: example %u: vertex %u is not finite", example, vertices[bad / 3]);
}

cutis_result cutis_fit_window_load(cutis_fit_problem *p, const uint32_t *vertices, uint32_t count)
{
    cutis_fit_window *w = p->window;
    const size_t examples = p->examples->count, need = examples * count;
    if (!w) return CUTIS_OK;
    if (need > w->room) {
        w->places = cutis_arena_alloc(p->arena, need, 3 * sizeof *w->places);
        if (!w->places) return cutis_alloc_result(p->context);
        w->room = need;
    }
    w->count = count;
    for (uint32_t i = 0; i < count; i++) w->number[vertices[i]] = i;
    for (uint32_t e = 0; e < examples; e++)
        TRY(read_example(p, e, vertices, count, w->places + 3 * (size_t)e * count));
    return CUTIS_OK;
}

cutis_result cutis_fit_window_range(cutis_fit_problem *p, uint32_t first, uint32_t count)
{
    if (!p->window) return CUTIS_OK;
    uint32_t *vertices = cutis_alloc_array(p->context, count, sizeof *vertices);
    if (!vertices) return cutis_alloc_result(p->context);
    for (uint32_t i = 0; i < count; i++) vertices[i] = first + i;
    const cutis_result result = cutis_fit_window_load(p, vertices, count);
    cutis_free_array(p->context, vertices, count, sizeof *vertices);
    return result;
}
