// One vertex of a reduction: its candidates, targets, offsets and Gram matrices. Offsets are kept
// in float (they are the problem's data); everything made of them is summed in double, in row
// order.
#include "fit/reduce_vertex.h"

#include <math.h>

#include "fit/clones.h"
//
#include "kernel/kernel.h"
//
#include "kernel/item.h"

#define REDUCE_SET CUTIS_REDUCE_SET
#include "kernel/reduce.h"

uint32_t cutis_reduce_candidate_limit(const cutis_reduce_problem *problem)
{
    uint32_t limit = 2 * problem->influences > 16 ? 2 * problem->influences : 16;
    if (limit > CUTIS_REDUCE_CANDIDATES) limit = CUTIS_REDUCE_CANDIDATES;
    return limit > problem->influences ? limit : problem->influences;
}

uint32_t cutis_reduce_largest(const cutis_reduce_problem *problem, uint32_t vertex, uint32_t limit,
                              uint32_t *list)
{
    uint32_t begin = problem->first[vertex], end = problem->first[vertex + 1], count = 0;
    if (end - begin <= limit) {
        for (uint32_t i = begin; i < end; i++) list[count++] = i;
        return count;
    }
    // The list is held by falling magnitude while it fills; strict comparison keeps the lower of
    // equals.
    for (uint32_t i = begin; i < end; i++) {
        double size = fabs(problem->weight[i]);
        if (count == limit && !(size > fabs(problem->weight[list[count - 1]]))) continue;
        uint32_t at = count < limit ? count++ : count - 1;
        for (; at > 0 && fabs(problem->weight[list[at - 1]]) < size; at--) list[at] = list[at - 1];
        list[at] = i;
    }
    for (uint32_t i = 1; i < count; i++) { // ascending again
        uint32_t item = list[i], at = i;
        for (; at > 0 && list[at - 1] > item; at--) list[at] = list[at - 1];
        list[at] = item;
    }
    return count;
}

CUTIS_FIT_CLONES
void cutis_reduce_target(const cutis_reduce_problem *problem, uint32_t vertex, double *target)
{
    const double *p = problem->positions + 3 * (size_t)vertex;
    for (uint32_t j = 0; j < problem->column_count; j++) {
        const double *palette = problem->matrices + 12 * (size_t)j * problem->control_count;
        double sum[12] = { 0 };
        for (uint32_t i = problem->first[vertex]; i < problem->first[vertex + 1]; i++) {
            const double *m = palette + 12 * (size_t)problem->control[i], w = problem->weight[i];
            for (int c = 0; c < 12; c++) sum[c] += w * m[c];
        }
        for (int r = 0; r < 3; r++)
            target[3 * j + r] =
                sum[4 * r] * p[0] + sum[4 * r + 1] * p[1] + sum[4 * r + 2] * p[2] + sum[4 * r + 3];
    }
}

void cutis_reduce_offset(const cutis_reduce_problem *problem, uint32_t vertex, uint32_t control,
                         const double *target, float *offset)
{
    const double *p = problem->positions + 3 * (size_t)vertex;
    for (uint32_t j = 0; j < problem->column_count; j++) {
        const double *m = problem->matrices + 12 * ((size_t)j * problem->control_count + control);
        for (int r = 0; r < 3; r++)
            offset[3 * j + r] = (float)(m[4 * r] * p[0] + m[4 * r + 1] * p[1] +
                                        m[4 * r + 2] * p[2] + m[4 * r + 3] - target[3 * j + r]);
    }
}

CUTIS_FIT_CLONES
void cutis_reduce_gram(uint32_t count, uint32_t rows, const float *offset, double *gram)
{
    double column[CUTIS_REDUCE_SET];
    for (uint32_t r = 0; r < rows; r++) {
        for (uint32_t i = 0; i < count; i++) column[i] = offset[(size_t)i * rows + r];
        for (uint32_t i = 0; i < count; i++) {
            double *restrict row = gram + (size_t)i * count, f = column[i];
            for (uint32_t k = 0; k < count; k++) row[k] += f * column[k];
        }
    }
}

CUTIS_FIT_CLONES
double cutis_reduce_dot(uint32_t rows, const float *offset, const double *direction)
{
    return reduce_dot((int)rows, offset, direction);
}

CUTIS_FIT_CLONES
void cutis_reduce_blend(uint32_t count, uint32_t rows, const float *offset, const double *weight,
                        double *restrict error)
{
    for (uint32_t r = 0; r < rows; r++) error[r] = 0;
    for (uint32_t i = 0; i < count; i++) {
        const float *o = offset + (size_t)i * rows;
        double w = weight[i];
        for (uint32_t r = 0; r < rows; r++) error[r] += w * o[r];
    }
}
