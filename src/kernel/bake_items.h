/// Kernel text: baking on a GPU, after bake_arguments.h, bake_state.h and bake.h. Every sum runs as
/// the CPU's does (src/fit/bake): over frames, points or entries in ascending order, one sum an
/// item, so the bits are the same.
#ifndef CUTIS_KERNEL_BAKE_ITEMS_H
#define CUTIS_KERNEL_BAKE_ITEMS_H

ITEM_KERNEL(bake_columns, BAKE_COLUMNS_BUFFERS)
{
    ITEM_BEGIN
    const int point = item % given.points, first = 8 * (item / given.points);
    for (int k = first; k < first + 8; k++)
        columns[(INDEX)k * given.points + point] = targets[(INDEX)point * given.length + k];
    ITEM_END
}

ITEM_KERNEL(bake_sums, BAKE_SUMS_BUFFERS)
{
    ITEM_BEGIN
    const int pairs = (given.points + 1) / 2, group = item / pairs, a = item % pairs;
    const int b = a + pairs < given.points ? a + pairs : a;
    const int first = BAKE_GROUP * group;
    double s[8 * BAKE_GROUP];
    INDEX track[BAKE_GROUP];
    for (int i = 0; i < 8 * BAKE_GROUP; i++) s[i] = 0;
    for (int i = 0; i < BAKE_GROUP; i++) { // beyond the last bone the last one again
        const int bone = first + i < given.bones ? first + i : given.bones - 1;
        track[i] = (INDEX)(given.bone_first + bone) * 4 * given.length;
    }
    for (int k = 0; k < given.length; k++) {
        const double v = (double)columns[(INDEX)k * given.points + a];
        const double w = (double)columns[(INDEX)k * given.points + b];
        for (int i = 0; i < BAKE_GROUP; i++)
            for (int j = 0; j < 4; j++) {
                const double m = tracks[track[i] + (INDEX)j * given.length + k];
                s[4 * i + j] += m * v;
                s[4 * (BAKE_GROUP + i) + j] += m * w;
            }
    }
    for (int i = 0; i < BAKE_GROUP && first + i < given.bones; i++) {
        const INDEX to = (INDEX)(first + i) * given.points;
        for (int l = 0; l < 2; l++) {
            const int point = l ? b : a;
            const int u = 4 * (l * BAKE_GROUP + i);
            const double sum = s[u] * places[3 * (INDEX)point] +
                               s[u + 1] * places[3 * (INDEX)point + 1] +
                               s[u + 2] * places[3 * (INDEX)point + 2];
            sums[to + point] = given.one ? sum + s[u + 3] : sum;
        }
    }
    ITEM_END
}

ITEM_KERNEL(bake_pick, BAKE_PICK_BUFFERS)
{
    ITEM_BEGIN
    for (int c = joint_first[item]; c < joint_first[item + 1]; c++) {
        const int bone = joint[c] - given.bone_first;
        if (bone >= 0 && bone < given.bones) picked[c] = sums[(INDEX)bone * given.points + item];
    }
    ITEM_END
}

ITEM_KERNEL(bake_lengths, BAKE_LENGTHS_BUFFERS)
{
    ITEM_BEGIN
    double sum = 0;
    for (int k = 0; k < given.length; k++) {
        const double v = (double)columns[(INDEX)k * given.points + item];
        sum += v * v;
    }
    for (int k = 0; given.turns && k < given.length; k++) {
        const double t = (double)turned_columns[(INDEX)k * given.points + item];
        sum += given.worth * t * t;
    }
    lengths[item] = sum;
    ITEM_END
}

// Weights ---------------------------------------------------------------------------------------

// form . square
FN double bake_dot(GLOBAL const double *form, const double *square)
{
    double sum = 0;
    for (int k = 0; k < BAKE_SQUARE; k++) sum += form[k] * square[k];
    return sum;
}

FN double bake_entry(const struct bake_solver *s, int i, int b)
{
    const int own = s->bone[i];
    if (b == own) return BAKE_DIAGONAL(s, b);
    const double sum = bake_dot(s->form + ((INDEX)own * s->bones + b) * BAKE_SQUARE, s->square);
    return sum + ((s->square_sum - BAKE_AT(s, product, own)) - BAKE_AT(s, product, b));
}

// Q_bb of a bone without prior; affinity is of the residual.
FN double bake_raw(const struct bake_solver *s, int b)
{
    return bake_dot(s->form + ((INDEX)b * s->bones + b) * BAKE_SQUARE, s->square);
}

// What of the prior concerns a point: its given weights. Returns their squares, times the prior.
FN double bake_given(bake_solver *s, GLOBAL const int *joint, GLOBAL const double *weight,
                     int first, int end, double prior)
{
    double sum = 0;
    for (int k = first; k < end; k++) {
        BAKE_AT(s, product, joint[k]) += prior * weight[k];
        BAKE_AT(s, diagonal, joint[k]) -= 2 * prior * weight[k];
        sum += weight[k] * weight[k];
    }
    for (int k = 0; k < s->candidate_count; k++)
        BAKE_AT(s, diagonal, BAKE_CANDIDATE(s, k)) += prior * sum;
    return prior * sum;
}

ITEM_KERNEL(bake_weigh, BAKE_WEIGH_BUFFERS)
{
    ITEM_BEGIN
    bake_solver s;
    const double prior = given.prior, length = lengths[item];
    const INDEX slot = (INDEX)item * given.influences;
    double own = 0;
    s.form = form;
    s.product = product_of + item;
    s.diagonal = diagonal_of + item;
    s.listed = listed + item;
    s.joint = joint + joint_first[item];
    s.joint_count = joint_first[item + 1] - joint_first[item];
    s.candidate_count = s.joint_count;
    s.points = given.points;
    s.bones = given.joints + given.helpers;
    s.limit = limits[item];
    for (int k = 0; k < BAKE_SQUARE; k++) s.square[k] = square[BAKE_SQUARE * (INDEX)item + k];
    for (int k = 0; k < s.joint_count; k++) {
        const double c = joint_product[joint_first[item] + k];
        BAKE_AT(&s, product, s.joint[k]) = c;
        BAKE_AT(&s, diagonal, s.joint[k]) =
            (1 + given.affinity) * (bake_raw(&s, s.joint[k]) - 2 * c + length) + prior;
    }
    for (int h = 0; h < given.helpers; h++) {
        const int b = given.joints + h;
        double c = products[(INDEX)h * given.points + item], q = bake_raw(&s, b);
        if (given.turns) c += given.worth * turned[(INDEX)h * given.points + item];
        if (!given.masked || allowed[(INDEX)h * given.points + item]) {
            BAKE_AT(&s, listed, s.candidate_count - s.joint_count) = b;
            s.candidate_count++;
            q = (1 + given.affinity) * (q - 2 * c + length) + prior;
        }
        BAKE_AT(&s, product, b) = c;
        BAKE_AT(&s, diagonal, b) = q;
    }
    if (prior > 0)
        own = bake_given(&s, given_joint, given_weight, given_first[item], given_first[item + 1],
                         prior);
    s.square_sum = length + own;
    for (int k = joint_near[item]; k < joint_first[item + 1]; k++)
        BAKE_AT(&s, diagonal, joint[k]) += given.beyond * prior;
    s.count = slots[item];
    for (int k = 0; k < s.count; k++) {
        s.bone[k] = bone[slot + k];
        s.weight[k] = weight[slot + k];
    }
    bake_point(&s, given.sweeps);
    slots[item] = (unsigned char)s.count;
    energy[item] = s.energy;
    for (int k = 0; k < s.count; k++) {
        bone[slot + k] = s.bone[k];
        weight[slot + k] = s.weight[k];
        used[slot + k] = BAKE_AT(&s, product, s.bone[k]);
    }
    if (given.losses) bake_losses(&s, loss + slot);
    ITEM_END
}

// Transforms and errors -------------------------------------------------------------------------

ITEM_KERNEL(bake_goals, BAKE_GOALS_BUFFERS)
{
    ITEM_BEGIN
    const int frame = item % given.stride, row = item / given.stride % 3,
              helper = item / given.stride / 3;
    double x = 0, y = 0, z = 0, one = 0;
    for (int e = list_first[helper]; e < list_first[helper + 1]; e++) {
        const INDEX at = 3 * (INDEX)list[e], from = (at + row) * given.stride + frame;
        const double by = share[e], v = (double)targets[from];
        x += by * places[at] * v;
        y += by * places[at + 1] * v;
        z += by * places[at + 2] * v;
        one += by * v;
        if (given.turns) {
            const double times = given.worth * by, t = (double)turned[from];
            x += times * normals[at] * t;
            y += times * normals[at + 1] * t;
            z += times * normals[at + 2] * t;
        }
    }
    const INDEX to = (12 * (INDEX)helper + row) * given.stride + frame;
    goals[to] = x;
    goals[to + 3 * (INDEX)given.stride] = y;
    goals[to + 6 * (INDEX)given.stride] = z;
    goals[to + 9 * (INDEX)given.stride] = one;
    ITEM_END
}

ITEM_KERNEL(bake_off, BAKE_OFF_BUFFERS)
{
    ITEM_BEGIN
    const int frame = item % given.stride, point = given.point_first + item / given.stride;
    const INDEX column = 3 * (INDEX)given.stride;
    double square = 0, along = 0, length = 0;
    for (int c = 0; c < 3; c++) {
        const double t = (double)targets[(3 * (INDEX)point + c) * given.stride + frame];
        double d = -t;
        for (int k = begin[point]; k < end[point]; k++) {
            GLOBAL const double *m =
                tracks + 4 * column * bone[k] + (INDEX)c * given.stride + frame;
            const double x = weight[k] * places[3 * (INDEX)point],
                         y = weight[k] * places[3 * (INDEX)point + 1],
                         z = weight[k] * places[3 * (INDEX)point + 2], w = weight[k] * given.one;
            d += x * m[0] + y * m[column] + z * m[2 * column] + w * m[3 * column];
        }
        square += d * d;
        along += d * t;
        length += t * t;
    }
    if (!given.one && length > 0) square -= along * along / length;
    off[item] = square > 0 ? square : 0;
    ITEM_END
}

ITEM_KERNEL(bake_off_points, BAKE_OFF_POINTS_BUFFERS)
{
    ITEM_BEGIN
    double sum = 0;
    for (int f = 0; f < given.frames; f++) sum += off[(INDEX)item * given.stride + f];
    sums[given.point_first + item] = sum;
    ITEM_END
}

ITEM_KERNEL(bake_off_frames, BAKE_OFF_FRAMES_BUFFERS)
{
    ITEM_BEGIN
    double sum = sums[item];
    for (int i = 0; i < given.points; i++)
        sum += mass[given.point_first + i] * off[(INDEX)i * given.stride + item];
    sums[item] = sum;
    ITEM_END
}

#endif
