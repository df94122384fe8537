/// VIRTUAL handle weights on a voxel domain: many distance fields at once, cover, its maxima,
/// supports of candidates, what an accepted handle gains, faces between Voronoi cells, and folding.
/// After item.h and handles.h.
///
/// Kernels do what src/fit/handles_virtual.c and handles_dual.c do for one voxel, in the same
/// order. Fields stand one behind the other: voxel v of field f is at f * n + v. Sites' fields are
/// found through `slot`. An infinite radius is written as -1, a voxel not reached as
/// HANDLES_INFINITY.
#ifndef CUTIS_KERNEL_HANDLES_VIRTUAL_H
#define CUTIS_KERNEL_HANDLES_VIRTUAL_H

#define HANDLES_TAU 0.8 ///< a voxel is covered within this part of a support

FN float handles_ratio(float distance, double radius)
{
    if (!(distance < HANDLES_INFINITY)) return HANDLES_INFINITY;
    return radius < 0 ? 0.0f : (float)((double)distance / radius);
}

FN float handles_basis(float ratio)
{
    double t = ratio, u = 1 - t;
    return t < 1 ? (float)(u * u * u * (1 + 3 * t + 6 * t * t)) : 0.0f;
}

/// values[place[item]] = value[item]; places differ.
#if !defined(HANDLES_ONE) || defined(HANDLES_SCATTER)
OLD_ITEM_KERNEL cutis_handles_scatter(GLOBAL const unsigned *place, GLOBAL const float *value,
                                      GLOBAL float *values, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN values[place[item]] = value[item];
    ITEM_END
}
#endif

/// Box of the voxels of a unit: low and high x, y, z.
#if !defined(HANDLES_ONE) || defined(HANDLES_BOXES)
OLD_ITEM_KERNEL cutis_handles_boxes(GLOBAL const unsigned *place, GLOBAL int *box, int n,
                                    int size_x, int size_y, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int low[3], high[3], cell[3];
    for (int c = 0; c < 3; c++) low[c] = 1 << 30, high[c] = -1;
    for (int i = 0; i < HANDLES_UNIT; i++) {
        int v = HANDLES_UNIT * item + i;
        if (v < n) {
            int at = (int)place[v];
            cell[0] = at % size_x, cell[1] = at / size_x % size_y, cell[2] = at / size_x / size_y;
            for (int c = 0; c < 3; c++) {
                low[c] = cell[c] < low[c] ? cell[c] : low[c];
                high[c] = cell[c] > high[c] ? cell[c] : high[c];
            }
        }
    }
    for (int c = 0; c < 3; c++) box[6 * item + c] = low[c], box[6 * item + 3 + c] = high[c];
    ITEM_END
}
#endif

/// Which of 32 units hold voxels within a field's bound of its middle, in a straight line and with
/// some to spare: no way below the bound leads through others.
#if !defined(HANDLES_ONE) || defined(HANDLES_AROUND)
OLD_ITEM_KERNEL cutis_handles_around(GLOBAL const int *box, GLOBAL const unsigned *place,
                                     GLOBAL const unsigned *middle, GLOBAL const float *bound,
                                     GLOBAL unsigned *mask, int n, int size_x, int size_y, double h,
                                     ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int units = (n + HANDLES_UNIT - 1) / HANDLES_UNIT,
                             words = (units + 31) / 32;
    int f = item / words, first = 32 * (item - f * words), at = (int)place[middle[f]];
    int cell[3];
    double reach = bound[f] / h + 2;
    unsigned bits = 0;
    cell[0] = at % size_x, cell[1] = at / size_x % size_y, cell[2] = at / size_x / size_y;
    for (int i = 0; i < 32; i++)
        if (first + i < units) {
            double square = 0;
            for (int c = 0; c < 3; c++) {
                int below = box[6 * (first + i) + c] - cell[c];
                int above = cell[c] - box[6 * (first + i) + 3 + c];
                int gap = below > above ? below : above;
                square += gap > 0 ? (double)gap * gap : 0.0;
            }
            if (square < reach * reach) bits |= 1u << i;
        }
    mask[item] = bits;
    ITEM_END
}
#endif

/// A sweep of many fields, each wanted below its bound only. Voxels that are not in `work` hold
/// HANDLES_INFINITY in both buffers.
#if !defined(HANDLES_ONE) || defined(HANDLES_FIELDS)
OLD_ITEM_KERNEL cutis_handles_fields(GLOBAL const unsigned *work, GLOBAL const unsigned *neighbour,
                                     GLOBAL const float *bound, GLOBAL const float *from,
                                     GLOBAL float *to, GLOBAL int *changed, int n, double h,
                                     ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN HANDLES_WORK if (v < n)
    {
        INDEX base = (INDEX)f * n;
        float low[3], known = from[base + v];
        for (int axis = 0; axis < 3; axis++) {
            unsigned a = neighbour[6 * (INDEX)v + 2 * axis];
            unsigned b = neighbour[6 * (INDEX)v + 2 * axis + 1];
            float one = a != HANDLES_NONE ? from[base + a] : HANDLES_INFINITY;
            float two = b != HANDLES_NONE ? from[base + b] : HANDLES_INFINITY;
            low[axis] = one < two ? one : two;
        }
        float value = handles_godunov(low[0], low[1], low[2], h);
        if (value < known && value < bound[f])
            RAISE(changed[0]);
        else
            value = known;
        to[base + v] = value;
    }
    ITEM_END
}
#endif

/// Fields that were marched into the places where sites find them.
#if !defined(HANDLES_ONE) || defined(HANDLES_KEEP)
OLD_ITEM_KERNEL cutis_handles_keep(GLOBAL const float *from, GLOBAL const unsigned *slot,
                                   GLOBAL float *fields, int n, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int f = item / n;
    fields[(INDEX)slot[f] * n + (item - f * n)] = from[item];
    ITEM_END
}
#endif

/// Least distance from site `item / sites` to the core of site `item % sites`.
#if !defined(HANDLES_ONE) || defined(HANDLES_APART)
OLD_ITEM_KERNEL cutis_handles_apart(GLOBAL const float *fields, GLOBAL const unsigned *slot,
                                    GLOBAL const unsigned *core_first, GLOBAL const unsigned *cores,
                                    GLOBAL float *out, int sites, int n, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int j = item % sites;
    INDEX base = (INDEX)slot[item / sites] * n;
    float least = HANDLES_INFINITY;
    for (unsigned c = core_first[j]; c < core_first[j + 1]; c++) {
        float d = fields[base + cores[c]];
        least = d < least ? d : least;
    }
    out[item] = least;
    ITEM_END
}
#endif

/// What sites cover of a voxel, and the first entries of its list. Pieces without a site follow
/// their owner as a whole.
#if !defined(HANDLES_ONE) || defined(HANDLES_COVER)
OLD_ITEM_KERNEL cutis_handles_cover(GLOBAL const float *fields, GLOBAL const unsigned *slot,
                                    GLOBAL const double *radius, GLOBAL const unsigned *label,
                                    GLOBAL const unsigned *owner, GLOBAL float *cover,
                                    GLOBAL unsigned *count, GLOBAL unsigned *handle,
                                    GLOBAL float *value, GLOBAL int *overflow, int sites, int n,
                                    int room, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN float best = HANDLES_INFINITY;
    int used = 0, held = label[item] != HANDLES_NONE;
    for (int s = 0; s < sites; s++) {
        float ratio = HANDLES_INFINITY;
        if (held) ratio = handles_ratio(fields[(INDEX)slot[s] * n + item], radius[s]);
        float own = held ? handles_basis(ratio) : owner[item] == (unsigned)s ? 1.0f : 0.0f;
        best = ratio < best ? ratio : best;
        if (own > 0) {
            if (used < room) {
                handle[(INDEX)item * room + used] = (unsigned)s;
                value[(INDEX)item * room + used] = own;
                used++;
            } else {
                RAISE(overflow[0]);
            }
        }
    }
    cover[item] = held ? best : 0.0f;
    count[item] = (unsigned)used;
    ITEM_END
}
#endif

/// Which of 32 voxels are maxima of cover above TAU.
#if !defined(HANDLES_ONE) || defined(HANDLES_PEAKS)
OLD_ITEM_KERNEL cutis_handles_peaks(GLOBAL const unsigned *neighbour, GLOBAL const float *cover,
                                    GLOBAL unsigned *mask, int n, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN unsigned bits = 0;
    for (int i = 0; i < 32; i++) {
        int v = 32 * item + i;
        if (v < n && cover[v] > HANDLES_TAU) {
            int peak = 1;
            for (int d = 0; d < 6 && peak; d++) {
                unsigned m = neighbour[6 * (INDEX)v + d];
                if (m != HANDLES_NONE) peak = cover[v] >= cover[m];
            }
            if (peak) bits |= 1u << i;
        }
    }
    mask[item] = bits;
    ITEM_END
}
#endif

/// Candidates by falling cover; equal ones by voxel.
#if !defined(HANDLES_ONE) || defined(HANDLES_RANK)
OLD_ITEM_KERNEL cutis_handles_rank(GLOBAL const unsigned *list, GLOBAL const float *cover,
                                   GLOBAL unsigned *sorted, int count, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN unsigned own = list[item];
    float height = cover[own];
    int before = 0;
    for (int i = 0; i < count; i++) {
        float other = cover[list[i]];
        before += other > height || (other == height && list[i] < own);
    }
    sorted[before] = own;
    ITEM_END
}
#endif

/// How far a candidate's field is followed at first: as far as the nearest site, whose core begins
/// before it.
#if !defined(HANDLES_ONE) || defined(HANDLES_BOUND)
OLD_ITEM_KERNEL cutis_handles_bound(GLOBAL const unsigned *sorted, GLOBAL const unsigned *place,
                                    GLOBAL const float *fields, GLOBAL const unsigned *slot,
                                    GLOBAL float *bound, GLOBAL unsigned *middle,
                                    GLOBAL double *segments, GLOBAL unsigned *segment_first,
                                    int first, int sites, int n, int size_x, int size_y, double ox,
                                    double oy, double oz, double h, double least, double most,
                                    ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN unsigned v = sorted[first + item];
    int at = (int)place[v];
    double near = most;
    for (int s = 0; s < sites; s++) {
        double d = fields[(INDEX)slot[s] * n + v] + 0.5 * h;
        near = d < near ? d : near;
    }
    near = near > least ? near : least;
    bound[item] = (float)(near * 1.000001);
    middle[item] = v;
    double x = ox + (at % size_x + 0.5) * h, y = oy + (at / size_x % size_y + 0.5) * h;
    double z = oz + (at / size_x / size_y + 0.5) * h;
    for (int end = 0; end < 2; end++) {
        segments[6 * item + 3 * end] = x;
        segments[6 * item + 3 * end + 1] = y;
        segments[6 * item + 3 * end + 2] = z;
    }
    if (item == 0) segment_first[0] = 0;
    segment_first[item + 1] = (unsigned)item + 1;
    ITEM_END
}
#endif

/// Least distance of field `item / parts` to a part of all cores.
#if !defined(HANDLES_ONE) || defined(HANDLES_NEAR)
OLD_ITEM_KERNEL cutis_handles_near(GLOBAL const float *from, GLOBAL const unsigned *cores,
                                   GLOBAL float *partial, int core_count, int parts, int n,
                                   ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX base = (INDEX)(item / parts) * n;
    float least = HANDLES_INFINITY;
    for (int c = item % parts; c < core_count; c += parts) {
        float d = from[base + cores[c]];
        least = d < least ? d : least;
    }
    partial[item] = least;
    ITEM_END
}
#endif

/// The support of a candidate ends before the first core, a `part` of the way to it. One that met
/// no core before its bound, and may go farther, is followed twice as far.
#if !defined(HANDLES_ONE) || defined(HANDLES_SUPPORT)
OLD_ITEM_KERNEL cutis_handles_support(GLOBAL const float *partial, GLOBAL const unsigned *middle,
                                      GLOBAL float *bound, GLOBAL double *support,
                                      GLOBAL int *again, int parts, double part, double least,
                                      double most, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN float near = HANDLES_INFINITY;
    for (int p = 0; p < parts; p++) {
        float d = partial[item * parts + p];
        near = d < near ? d : near;
    }
    double radius = most;
    if (near < HANDLES_INFINITY) {
        double own = part * near > least ? part * near : least;
        radius = own < radius ? own : radius;
    } else if ((double)bound[item] < most) {
        bound[item] = 2 * bound[item];
        RAISE(again[0]);
    }
    support[2 * item] = radius;
    support[2 * item + 1] = (double)middle[item];
    ITEM_END
}
#endif

/// Whether candidate i of a batch covers candidate j behind it; on the diagonal: whether i is
/// covered already.
#if !defined(HANDLES_ONE) || defined(HANDLES_CLASH)
OLD_ITEM_KERNEL cutis_handles_clash(GLOBAL const float *from, GLOBAL const unsigned *middle,
                                    GLOBAL const double *support, GLOBAL const float *cover,
                                    GLOBAL unsigned *out, int batch, int n, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int i = item / batch, j = item - i * batch;
    unsigned hit = 0;
    if (i < j) {
        float d = from[(INDEX)i * n + middle[j]];
        hit = (double)d < support[2 * i] && (double)handles_ratio(d, support[2 * i]) <= HANDLES_TAU;
    } else if (i == j) {
        hit = !((double)cover[middle[i]] > HANDLES_TAU);
    }
    out[item] = hit;
    ITEM_END
}
#endif

/// Supports of the accepted ones of a batch: cover and list of each voxel.
#if !defined(HANDLES_ONE) || defined(HANDLES_GAIN)
OLD_ITEM_KERNEL cutis_handles_gain(GLOBAL const float *from, GLOBAL const unsigned *accepted,
                                   GLOBAL const double *support, GLOBAL float *cover,
                                   GLOBAL unsigned *count, GLOBAL unsigned *handle,
                                   GLOBAL float *value, GLOBAL int *overflow, int accepted_count,
                                   int first_handle, int n, int room, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN float best = cover[item];
    int used = (int)count[item];
    for (int k = 0; k < accepted_count; k++) {
        double radius = support[2 * accepted[k]];
        float d = from[(INDEX)accepted[k] * n + item];
        if ((double)d < radius) {
            float ratio = handles_ratio(d, radius), own = handles_basis(ratio);
            best = ratio < best ? ratio : best;
            if (own > 0 && used < room) {
                handle[(INDEX)item * room + used] = (unsigned)(first_handle + k);
                value[(INDEX)item * room + used] = own;
                used++;
            } else if (own > 0) {
                RAISE(overflow[0]);
            }
        }
    }
    cover[item] = best;
    count[item] = (unsigned)used;
    ITEM_END
}
#endif

/// How many faces a voxel has (+x, +y, +z) with cells of other handles.
#if !defined(HANDLES_ONE) || defined(HANDLES_BORDERS)
OLD_ITEM_KERNEL cutis_handles_borders(GLOBAL const unsigned *neighbour,
                                      GLOBAL const float *distance, GLOBAL const unsigned *label,
                                      GLOBAL int *count, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN int used = 0;
    for (int axis = 0; axis < 3; axis++) {
        unsigned m = neighbour[6 * (INDEX)item + 2 * axis + 1];
        used += distance[item] < HANDLES_INFINITY && m != HANDLES_NONE && label[m] != label[item];
    }
    count[item] = used;
    ITEM_END
}
#endif

/// Those faces, one voxel's behind the other's (`before`: sums of their counts): the cells, the
/// lower one first, the length of the way between, and the factor that falls with the distance to
/// the nearest site.
#if !defined(HANDLES_ONE) || defined(HANDLES_FACES)
OLD_ITEM_KERNEL cutis_handles_faces(GLOBAL const unsigned *neighbour, GLOBAL const float *distance,
                                    GLOBAL const unsigned *label, GLOBAL const float *fields,
                                    GLOBAL const unsigned *slot, GLOBAL const int *bar,
                                    GLOBAL const int *before, GLOBAL unsigned *cells,
                                    GLOBAL double *out, int sites, int n, double h, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX at = before[item];
    for (int axis = 0; axis < 3; axis++) {
        unsigned m = neighbour[6 * (INDEX)item + 2 * axis + 1];
        if (distance[item] < HANDLES_INFINITY && m != HANDLES_NONE && label[m] != label[item]) {
            unsigned a = label[item], b = label[m];
            double least = HANDLES_INFINITY;
            int line = 0;
            for (int s = 0; s < sites; s++) {
                INDEX base = (INDEX)slot[s] * n;
                double d = ((double)fields[base + item] + fields[base + m]) / 2;
                if (d < least) least = d, line = bar[s];
            }
            double ratio = (least > h ? least : h) / h;
            cells[2 * at] = a < b ? a : b;
            cells[2 * at + 1] = a < b ? b : a;
            out[2 * at] = (double)distance[item] + distance[m];
            out[2 * at + 1] = line ? 1 / ratio : 1 / (ratio * ratio);
            at++;
        }
    }
    ITEM_END
}
#endif

/// Virtual handles into the real ones: each gives its value to them by its shares.
#if !defined(HANDLES_ONE) || defined(HANDLES_FOLD)
OLD_ITEM_KERNEL cutis_handles_fold(GLOBAL const unsigned *count, GLOBAL const unsigned *handle,
                                   GLOBAL const float *value, GLOBAL const double *share,
                                   GLOBAL float *values, GLOBAL float *density, int sites, int room,
                                   ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN INDEX to = (INDEX)item * sites, from = (INDEX)item * room;
    double sum = 0;
    for (int s = 0; s < sites; s++) values[to + s] = 0;
    for (unsigned e = 0; e < count[item]; e++) {
        unsigned h = handle[from + e];
        double own = value[from + e];
        if (h < (unsigned)sites)
            values[to + h] = value[from + e];
        else
            for (int s = 0; s < sites; s++)
                values[to + s] += (float)(own * share[(INDEX)(h - sites) * sites + s]);
    }
    for (int s = 0; s < sites; s++) sum += values[to + s];
    density[item] = (float)sum;
    ITEM_END
}
#endif

/// Lists without gaps.
#if !defined(HANDLES_ONE) || defined(HANDLES_PACK)
OLD_ITEM_KERNEL cutis_handles_pack(GLOBAL const unsigned *first, GLOBAL const unsigned *handle,
                                   GLOBAL const float *value, GLOBAL unsigned *packed_handle,
                                   GLOBAL float *packed_value, int room, ITEM_ARGS)
{
    OLD_BEGIN ITEM_BEGIN unsigned count = first[item + 1] - first[item];
    for (unsigned e = 0; e < count; e++) {
        packed_handle[first[item] + e] = handle[(INDEX)item * room + e];
        packed_value[first[item] + e] = value[(INDEX)item * room + e];
    }
    ITEM_END
}
#endif

#endif
