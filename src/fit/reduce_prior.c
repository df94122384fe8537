// Gradient sweeps with the smooth prior: the vertex's weights are pulled to the neighbours' mean of
// A - Abar, control by control. Invariant: energy and prior together never rise.
#include "fit/reduce_prior.h"

#include <math.h>
#include <string.h>

#include "fit/reduce_vertex.h"

// As in plain sweeps (reduce_sweep.c): proximal.
static const double PROXIMAL = 1e-3;

double cutis_reduce_prior_weight(const cutis_reduce_problem *problem,
                                 const cutis_reduce_state *state)
{
    double sum = 0;
    uint32_t used = 0;
    if (!(problem->prior > 0)) return 0;
    for (uint32_t v = 0; v < problem->mesh->vertex_count; v++) {
        const double *gram = state->gram + state->gram_first[v];
        uint32_t count = state->first[v + 1] - state->first[v];
        double trace = 0;
        for (uint32_t r = 0; r < count; r++) trace += gram[(size_t)r * (r + 1) / 2 + r];
        if (count) sum += trace / count, used++;
    }
    return used ? problem->prior * sum / used : 0;
}

// The value of a control in a sorted list, 0 if it is not there.
static double look_up(const uint32_t *controls, const double *weights, uint32_t begin, uint32_t end,
                      uint32_t control)
{
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (controls[middle] < control)
            begin = middle + 1;
        else
            end = middle;
    }
    return controls[begin] == control ? weights[begin] : 0;
}

// A - Abar of one control at a vertex.
static double difference(const cutis_reduce_problem *p, const cutis_reduce_state *s, uint32_t v,
                         uint32_t control)
{
    const uint32_t first = p->first[v], end = p->first[v + 1], kept = s->first[v],
                   kept_end = s->first[v + 1];
    double original, now = 0;
    if (end - first == p->control_count) // all of them: no search
        original = p->weight[first + control];
    else
        original = end > first && control <= p->control[end - 1]
                       ? look_up(p->control, p->weight, first, end, control)
                       : 0;
    if (kept_end > kept && control <= s->control[kept_end - 1])
        now = look_up(s->control, s->weight, kept, kept_end, control);
    return now - original;
}

double cutis_reduce_prior_energy(const cutis_reduce_problem *problem,
                                 const cutis_reduce_state *state)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    double energy = 0;
    if (!(problem->prior > 0)) return 0;
    // A control that neither end of an edge has adds nothing; each end's own list is walked, and
    // what both have is counted at the lower one.
    for (uint32_t v = 0; v < mesh->vertex_count; v++)
        for (uint32_t i = problem->first[v]; i < problem->first[v + 1]; i++) {
            const uint32_t control = problem->control[i];
            double own = difference(problem, state, v, control);
            energy += cutis_reduce_anchor(problem, v) * own * own;
            for (uint32_t k = mesh->first[v]; k < mesh->first[v + 1]; k++) {
                const uint32_t u = mesh->neighbour[k], end = problem->first[u + 1];
                bool shared = end - problem->first[u] == problem->control_count;
                for (uint32_t j = problem->first[u]; j < end && !shared; j++)
                    shared = problem->control[j] == control;
                if (shared && u < v) continue;
                double other = difference(problem, state, u, control);
                energy += mesh->cotangent[k] * (own - other) * (own - other);
            }
        }
    return energy;
}

// What the neighbours wish the vertex's kept weights to be.
static void wish_weights(const cutis_reduce_problem *problem, const cutis_reduce_state *state,
                         uint32_t v, double share, double *wish)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    const uint32_t begin = state->first[v], count = state->first[v + 1] - begin;
    for (uint32_t s = 0; s < count; s++) {
        const uint32_t control = state->control[begin + s];
        double sum = 0;
        for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++)
            sum += mesh->cotangent[i] * difference(problem, state, mesh->neighbour[i], control);
        // Abar = A - (A - Abar)
        wish[s] = state->weight[begin + s] - difference(problem, state, v, control) + share * sum;
    }
}

static double square_distance(const double *a, const double *b, uint32_t count)
{
    double sum = 0;
    for (uint32_t i = 0; i < count; i++) sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sum;
}

double cutis_reduce_prior_update(const cutis_reduce_problem *problem, cutis_reduce_state *state,
                                 double lambda, uint32_t v, double omega, double *scratch)
{
    const cutis_reduce_mesh *mesh = problem->mesh;
    const uint32_t rows = 3 * problem->column_count, begin = state->first[v];
    const uint32_t count = state->first[v + 1] - begin;
    double *own = state->error + (size_t)v * rows, *weight = state->weight + begin, *wish = scratch;
    double wished[CUTIS_REDUCE_SET], d = mesh->diagonal[v] + cutis_reduce_anchor(problem, v);
    cutis_reduce_local local;
    if (count < 2) return 0;
    memset(wish, 0, rows * sizeof *wish);
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double *other = state->error + (size_t)mesh->neighbour[i] * rows;
        for (uint32_t r = 0; r < rows; r++) wish[r] += mesh->cotangent[i] / d * other[r];
    }
    wish_weights(problem, state, v, 1 / d, wished);
    double before = square_distance(own, wish, rows),
           strayed = square_distance(weight, wished, count);
    if (before == 0 && strayed == 0) return 0; // nothing was dropped near here
    const double *packed = state->gram + state->gram_first[v];
    local.count = count;
    for (uint32_t r = 0; r < count; r++)
        for (uint32_t c = 0; c <= r; c++, packed++)
            local.gram[r * count + c] = local.gram[c * count + r] = *packed;
    for (uint32_t i = 0; i < count; i++) {
        local.weight[i] = weight[i];
        local.right[i] = cutis_reduce_dot(rows, state->offset + (size_t)(begin + i) * rows, wish) +
                         lambda * wished[i];
    }
    cutis_reduce_regularise(&local, PROXIMAL, weight);
    for (uint32_t i = 0; i < count; i++) local.gram[i * count + i] += lambda;
    cutis_reduce_solve(&local, problem->negative);
    if (omega != 1) cutis_reduce_relax(weight, local.weight, count, problem->negative, omega);
    memcpy(weight, local.weight, count * sizeof *weight);
    cutis_reduce_blend(count, rows, state->offset + (size_t)begin * rows, weight, own);
    return d * (before - square_distance(own, wish, rows) +
                lambda * (strayed - square_distance(weight, wished, count)));
}
