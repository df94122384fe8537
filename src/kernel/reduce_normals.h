/// Sweeps on the turns of normals on a device, one vertex an item: what src/fit/reduce_normals.c
/// and reduce_lanes.c do on a CPU, the same arithmetic in the same order. After reduce_items.h and
/// reduce_turns.h, which say what the arrays are; compiled for a problem's sizes like the former.
#ifndef CUTIS_KERNEL_REDUCE_NORMALS_H
#define CUTIS_KERNEL_REDUCE_NORMALS_H

// Records of the vertices and their fans.
#define REDUCE_TURNS GLOBAL double *record, GLOBAL const int *fan_first, GLOBAL const int *fan
// 6 entries a pose of a lane, in blocks of lanes.
#define LANE_METRIC(lane, rows)                                                                    \
    (block_metric + (INDEX)((lane) / REDUCE_BLOCK) * 2 * (rows)*REDUCE_BLOCK +                     \
     (lane) % REDUCE_BLOCK)

// Where the original weights put the vertices.
#ifdef REDUCE_ONLY_places
OLD_ITEM_KERNEL cutis_reduce_places(REDUCE_PROBLEM, GLOBAL double *record, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double target[REDUCE_ROWS];
    GLOBAL double *own = record + (INDEX)item * 8 * columns;
    reduce_target(positions, first, control, weight, matrices, columns, controls, item, target);
    for (int j = 0; j < columns; j++)
        for (int c = 0; c < 3; c++) own[c * columns + j] = target[3 * j + c];
    ITEM_END
}
#endif

#ifdef REDUCE_ONLY_normal
OLD_ITEM_KERNEL cutis_reduce_normal(REDUCE_TURNS, GLOBAL const double *pose_weights,
                                    GLOBAL const double *area, int columns, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN reduce_turn_normal(record, fan_first, fan, columns, pose_weights,
                                            area[item], item);
    ITEM_END
}
#endif

// Turns of the errors, and the energy of each vertex's.
#ifdef REDUCE_ONLY_turn
OLD_ITEM_KERNEL cutis_reduce_turn(REDUCE_TURNS, GLOBAL const double *error, int columns,
                                  GLOBAL double *energy, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN double sum[REDUCE_ROWS];
    reduce_turn_start(record, fan_first, fan, columns, error, item, sum);
    energy[item] = reduce_turn_energy(record + (INDEX)item * 8 * columns, columns);
    ITEM_END
}
#endif

// Offsets of a lane's set, weights, metric and what is kept. share: of the gradient energy.
#ifdef REDUCE_ONLY_system
OLD_ITEM_KERNEL cutis_reduce_system(REDUCE_MESH, GLOBAL const double *positions,
                                    GLOBAL const double *matrices, int columns, int controls,
                                    int negative, REDUCE_BLOCKS, GLOBAL double *block_metric,
                                    REDUCE_TURNS, double share, GLOBAL const int *set_first,
                                    GLOBAL const int *set_control, GLOBAL const double *set_weight,
                                    ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int v = lane_vertex[item], n = REDUCE_COUNT(item), rows = REDUCE_ROWS;
    block_active[item] = 0;
    if (v >= 0) {
        double target[REDUCE_ROWS], metric[2 * REDUCE_ROWS];
        double gram[TRIANGLE(REDUCE_SET)], row[REDUCE_SET];
        double x = positions[3 * v], y = positions[3 * v + 1], z = positions[3 * v + 2];
        GLOBAL const double *own = record + (INDEX)v * 8 * columns;
        GLOBAL double *slots = LANE_WEIGHT(item), *turned = LANE_METRIC(item, rows);
        GLOBAL float *offset = LANE_OFFSET(item, rows);
        INDEX active = 0;
        for (int j = 0; j < columns; j++)
            for (int c = 0; c < 3; c++) target[3 * j + c] = own[c * columns + j];
        for (int i = 0; i < n; i++) {
            int which = set_control[set_first[v] + i];
            double w = set_weight[set_first[v] + i];
            PUT_ENTRY(slots, i, w);
            if (negative || w > 0) active |= (INDEX)1 << i;
            for (int r = 0; r < rows; r++)
                PUT_ENTRY(offset, i * rows + r,
                          reduce_offset(matrices, controls, which, r, x, y, z, target));
        }
        reduce_turn_metric(record, ring_first, ring, fan_first, fan, columns, share * diagonal[v],
                           v, metric, target);
        for (int i = 0; i < 2 * rows; i++) PUT_ENTRY(turned, i, metric[i]);
        if (n >= 2) {
            for (int i = 0; i < TRIANGLE(n); i++) gram[i] = 0;
            reduce_gram_turned(n, rows, offset, turned, gram);
            double mean = reduce_mean_diagonal(n, gram);
            if (reduce_keep(n, gram, mean, REDUCE_PROXIMAL * mean + 0.0, active, row,
                            LANE_KEPT(item)))
                block_active[item] = active;
        }
    }
    ITEM_END
}
#endif

// The update of a lane on its set: weights, and in `own` the new error. @return the fall
FN double reduce_turned_update(int n, int rows, GLOBAL const float *offset, GLOBAL double *kept,
                               GLOBAL const double *metric, GLOBAL INDEX *active, int negative,
                               const double *force, double *own, GLOBAL double *slots)
{
    double old[REDUCE_SET], now[REDUCE_SET], push[REDUCE_SET];
    double rest[REDUCE_ROWS], wish[REDUCE_ROWS], next[REDUCE_ROWS];
    for (int i = 0; i < n; i++) {
        old[i] = ENTRY(slots, i);
        push[i] = 0;
    }
    if (!reduce_attempt_turned(n, rows, offset, kept, metric, *active, negative, force, own, old,
                               rest, now)) {
        for (int r = 0; r < rows; r++) wish[r] = own[r];
        reduce_apply_metric(rows, metric, wish);
        for (int r = 0; r < rows; r++) wish[r] += force[r];
        reduce_search(n, rows, offset, kept, metric, active, negative, REDUCE_PROXIMAL, 0, wish,
                      push, old, rest, now);
    }
    reduce_finish(n, rows, offset, negative, 1, 0, old, now, next);
    for (int i = 0; i < n; i++) PUT_ENTRY(slots, i, now[i]);
    double fall = reduce_fall_turned(rows, metric, force, own, next, rest);
    for (int r = 0; r < rows; r++) own[r] = next[r];
    return fall;
}

// The error of a vertex becomes `own`; turns follow.
FN void reduce_turned_move(GLOBAL double *record, GLOBAL const int *fan_first,
                           GLOBAL const int *fan, int columns, GLOBAL double *error, int v,
                           const double *own)
{
    double step[REDUCE_ROWS], part[REDUCE_ROWS], sum[REDUCE_ROWS];
    GLOBAL double *out = error + (INDEX)v * REDUCE_ROWS;
    for (int r = 0; r < REDUCE_ROWS; r++) {
        step[r] = own[r] - out[r];
        out[r] = own[r];
    }
    reduce_turn_move(record, fan_first, fan, columns, v, step, part, sum);
}

// One colour (of distance 2), sets fixed.
#ifdef REDUCE_ONLY_turned
OLD_ITEM_KERNEL cutis_reduce_turned(REDUCE_MESH, REDUCE_BLOCKS, GLOBAL const double *block_metric,
                                    REDUCE_TURNS, double share, GLOBAL double *error, int columns,
                                    int negative, int lane_first, GLOBAL double *fall, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int lane = lane_first + item, v = lane_vertex[lane], rows = REDUCE_ROWS;
    int n = REDUCE_COUNT(lane);
    double gain = 0;
    if (v >= 0 && n >= 2) {
        double force[REDUCE_ROWS], own[REDUCE_ROWS];
        if (reduce_turn_force(record, ring_first, ring, edge, fan_first, fan, columns, error,
                              share * diagonal[v], share, v, force, own)) {
            for (int r = 0; r < rows; r++) own[r] = error[(INDEX)v * rows + r];
            gain = reduce_turned_update(n, rows, LANE_OFFSET(lane, rows), LANE_KEPT(lane),
                                        LANE_METRIC(lane, rows), block_active + lane, negative,
                                        force, own, LANE_WEIGHT(lane));
            reduce_turned_move(record, fan_first, fan, columns, error, v, own);
        }
    }
    fall[lane] = gain;
    ITEM_END
}
#endif

// a^T G a - 2 h^T a of all candidates, G packed.
PROC double reduce_turned_value(int n, const double *gram, const double *right,
                                const double *weight)
{
    double value = 0;
    for (int r = 0; r < n; r++) {
        double row = -2 * right[r];
        for (int c = 0; c < n; c++) row += gram[reduce_packed(r, c)] * weight[c];
        value += weight[r] * row;
    }
    return value;
}

// The candidates' system under a metric, poses a few at a time: gram (packed) = C^T A C and
// right = C^T F + G a. `target`: the vertex by its original weights.
PROC void reduce_turned_candidates(GLOBAL const double *positions, GLOBAL const int *control,
                                   GLOBAL const double *matrices, int controls, int vertex,
                                   const double *target, const int *list, int n,
                                   GLOBAL const double *metric, const double *force,
                                   const double *reference, double *gram, double *right)
{
    float offset[REDUCE_CANDIDATES * 3 * REDUCE_POSES];
    double turned[3 * REDUCE_POSES];
    double x = positions[3 * vertex], y = positions[3 * vertex + 1], z = positions[3 * vertex + 2];
    for (int i = 0; i < TRIANGLE(n); i++) gram[i] = 0;
    for (int i = 0; i < n; i++) right[i] = 0;
    for (int begin = 0; begin < REDUCE_ROWS; begin += 3 * REDUCE_POSES) {
        int rows = REDUCE_ROWS - begin;
        if (rows > 3 * REDUCE_POSES) rows = 3 * REDUCE_POSES;
        for (int i = 0; i < n; i++)
            for (int r = 0; r < rows; r++)
                offset[i * rows + r] =
                    reduce_offset(matrices, controls, control[list[i]], begin + r, x, y, z, target);
        for (int i = 0, at = 0; i < n; i++) {
            for (int r = 0; r < rows; r++) turned[r] = offset[i * rows + r];
            reduce_apply_metric(rows, metric + 2 * begin * REDUCE_BLOCK, turned);
            for (int k = 0; k <= i; k++, at++) {
                double sum = gram[at];
                for (int r = 0; r < rows; r++) sum += turned[r] * offset[k * rows + r];
                gram[at] = sum;
            }
            for (int r = 0; r < rows; r++) right[i] += offset[i * rows + r] * force[begin + r];
        }
    }
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) right[i] += gram[reduce_packed(i, k)] * reference[k];
}

// Look for a better set under a force, and keep it; in `own` the new error. @return the fall
PROC double reduce_turned_reselect(REDUCE_PROBLEM, GLOBAL const int *set_first,
                                   GLOBAL int *set_control, GLOBAL double *slots,
                                   GLOBAL float *offset, GLOBAL const double *metric,
                                   GLOBAL const double *place, int v, int count,
                                   const double *force, double *own)
{
    double gram[TRIANGLE(REDUCE_CANDIDATES)], right[REDUCE_CANDIDATES];
    double reference[REDUCE_CANDIDATES], target[REDUCE_ROWS], now[REDUCE_SET];
    int list[REDUCE_LIST], member[REDUCE_SET], begin = set_first[v], rows = REDUCE_ROWS;
    int n = reduce_largest(first, weight, v, limit, list);
    double x = positions[3 * v], y = positions[3 * v + 1], z = positions[3 * v + 2];
    for (int j = 0; j < columns; j++)
        for (int c = 0; c < 3; c++) target[3 * j + c] = place[c * columns + j];
    for (int i = 0; i < n; i++) {
        reference[i] = 0;
        for (int r = 0; r < count; r++)
            if (set_control[begin + r] == control[list[i]]) {
                member[r] = i;
                reference[i] = ENTRY(slots, r);
            }
    }
    reduce_turned_candidates(positions, control, matrices, controls, v, target, list, n, metric,
                             force, reference, gram, right);
    double before = reduce_turned_value(n, gram, right, reference);
    double value = reduce_try(gram, right, reference, member, count, negative, now);
    for (int e = 0; e < REDUCE_EXCHANGES; e++)
        if (!reduce_exchange(n, gram, right, count, negative, MAGNITUDE(value), member, now,
                             &value))
            break;
    for (int i = 1; i < count; i++) // controls ascending
        for (int k = i; k > 0 && member[k - 1] > member[k]; k--) {
            int moved = member[k];
            double carried = now[k];
            member[k] = member[k - 1];
            now[k] = now[k - 1];
            member[k - 1] = moved;
            now[k - 1] = carried;
        }
    for (int r = 0; r < rows; r++) own[r] = 0;
    for (int i = 0; i < count; i++) {
        set_control[begin + i] = control[list[member[i]]];
        PUT_ENTRY(slots, i, now[i]);
        for (int r = 0; r < rows; r++) {
            float o = reduce_offset(matrices, controls, set_control[begin + i], r, x, y, z, target);
            PUT_ENTRY(offset, i * rows + r, o);
            own[r] += now[i] * o;
        }
    }
    return before - value;
}

// One colour, where vertices with few candidates may exchange controls.
#ifdef REDUCE_ONLY_turned_exchanging
OLD_ITEM_KERNEL cutis_reduce_turned_exchanging(REDUCE_MESH, REDUCE_PROBLEM, REDUCE_BLOCKS,
                                               GLOBAL const double *block_metric, REDUCE_TURNS,
                                               double share, GLOBAL const int *set_first,
                                               GLOBAL int *set_control, GLOBAL double *error,
                                               int trials, int lane_first, GLOBAL double *fall,
                                               ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int lane = lane_first + item, v = lane_vertex[lane], rows = REDUCE_ROWS;
    int n = REDUCE_COUNT(lane);
    double gain = 0;
    if (v >= 0 && n >= 2) {
        int had = first[v + 1] - first[v], outside = (had < limit ? had : limit) - n;
        double force[REDUCE_ROWS], own[REDUCE_ROWS];
        if (reduce_turn_force(record, ring_first, ring, edge, fan_first, fan, columns, error,
                              share * diagonal[v], share, v, force, own)) {
            for (int r = 0; r < rows; r++) own[r] = error[(INDEX)v * rows + r];
            if (outside > 0 && n * outside <= trials) {
                gain = reduce_turned_reselect(
                    positions, first, control, weight, matrices, columns, controls, limit, negative,
                    set_first, set_control, LANE_WEIGHT(lane), LANE_OFFSET(lane, rows),
                    LANE_METRIC(lane, rows), record + (INDEX)v * 8 * columns, v, n, force, own);
                block_active[lane] = 0; // another set, another inverse
            } else {
                gain = reduce_turned_update(n, rows, LANE_OFFSET(lane, rows), LANE_KEPT(lane),
                                            LANE_METRIC(lane, rows), block_active + lane, negative,
                                            force, own, LANE_WEIGHT(lane));
            }
            reduce_turned_move(record, fan_first, fan, columns, error, v, own);
        }
    }
    fall[lane] = gain;
    ITEM_END
}
#endif

#endif
