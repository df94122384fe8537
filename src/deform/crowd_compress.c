/// Clips in fewer bytes: rotation keys of 16 bits a component (cubic ones with their tangents),
/// keys of linear channels left out that their neighbours give, all within what the caller allows.
/// The result is a clip like any other, so that the host samples it as it is and the device the
/// same floats from fewer bits.
///
/// The error is stated, not hoped for: at every key of the original the compressed curve is as far
/// off as is measured here; between keys both are arcs of even speed, which are never farther apart
/// than sqrt 2 times their ends (arcs of at most a quarter turn of the quaternion); and what a node
/// is off by moves a point that hangs on it by the angle times its reach. Along a chain the parts
/// add up.
#include "deform/crowd.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/object.h"

static const double ARC = 1.4142135623730951;
// Keys apart from their neighbours need times and bins of their own: worth it below this part.
static const double WORTH = 0.5;
// A key that stays at least every so many: what is between two is looked at again for each.
enum { SPAN = 64 };
#define STEPS 32767.0

typedef struct compressor {
    cutis_crowd *crowd;
    cutis_arena *arena;
    const cutis_clip *clip;
    double *off;   ///< per node: how far its channels move what hangs on it
    double share;  ///< of one channel, in the model's units
    double *reach; ///< per node
} compressor;

/// The unit quaternion of a key, on the near side of another.
static void unit_key(const float *value, const double *near, double *q)
{
    double square = 0, dot = 0;
    for (int c = 0; c < 4; c++) square += (double)value[c] * value[c];
    for (int c = 0; c < 4; c++) q[c] = value[c] / sqrt(square), dot += near ? q[c] * near[c] : 0;
    for (int c = 0; c < 4 && dot < 0; c++) q[c] = -q[c];
}

/// The angle between two rotations, for small ones: twice the distance of their quaternions.
static double angle_between(const double *a, const double *b)
{
    double minus = 0, plus = 0;
    for (int c = 0; c < 4; c++) {
        minus += (a[c] - b[c]) * (a[c] - b[c]);
        plus += (a[c] + b[c]) * (a[c] + b[c]);
    }
    return 2 * sqrt(fmin(minus, plus));
}

/// Slerp by repeated halving of the arc: no trigonometry, and exact to rounding.
static void slerp_exact(const double *a, const double *b, double u, double *out)
{
    double low[4], high[4], middle[4];
    memcpy(low, a, sizeof low);
    memcpy(high, b, sizeof high);
    for (int step = 0; step < 40; step++) {
        double square = 0;
        for (int c = 0; c < 4; c++) middle[c] = low[c] + high[c], square += middle[c] * middle[c];
        for (int c = 0; c < 4; c++) middle[c] /= sqrt(square);
        u *= 2;
        if (u < 1)
            memcpy(high, middle, sizeof high);
        else
            memcpy(low, middle, sizeof low), u -= 1;
    }
    memcpy(out, low, sizeof low);
}

/// How far an original key is from the arc or line between two kept ones, at its time.
static double key_off(const cutis_channel *channel, const float *from, uint32_t a, uint32_t b,
                      uint32_t k)
{
    const uint32_t width = channel->path == CUTIS_PATH_ROTATION ? 4 : 3;
    const float *x = from + width * (size_t)a, *y = from + width * (size_t)b;
    const float *value = channel->values + width * (size_t)k;
    const double length = (double)channel->times[b] - channel->times[a];
    const double u = length > 0 ? ((double)channel->times[k] - channel->times[a]) / length : 0;
    if (width == 4) {
        double p[4], q[4], r[4], own[4];
        unit_key(x, NULL, p);
        unit_key(y, p, q);
        slerp_exact(p, q, u, r);
        unit_key(value, NULL, own);
        return angle_between(r, own);
    }
    double square = 0;
    for (int c = 0; c < 3; c++) {
        const double apart = (1 - u) * x[c] + u * y[c] - value[c];
        square += apart * apart;
    }
    return sqrt(square);
}

/// Keys that stay: each as far from the last as what is between them allows.
/// @param from values that the kept keys will have; @return how many; their numbers in `kept`
static uint32_t choose_keys(const cutis_channel *channel, const float *from, double tolerance,
                            uint32_t *kept, double *worst)
{
    uint32_t count = 1, last = channel->key_count - 1;
    kept[0] = 0;
    *worst = 0;
    for (uint32_t a = 0; a < last;) {
        uint32_t b = a + 1;
        double off = 0;
        while (b < last && b - a < SPAN) {
            double more = 0;
            for (uint32_t k = a; k <= b + 1 && more <= tolerance; k++)
                more = fmax(more, key_off(channel, from, a, b + 1, k));
            if (more > tolerance) break;
            off = more, b++;
        }
        if (b == a + 1)
            off = fmax(key_off(channel, from, a, b, a), key_off(channel, from, a, b, b));
        *worst = fmax(*worst, off);
        kept[count++] = a = b;
    }
    if (last == 0) *worst = key_off(channel, from, 0, 0, 0);
    return count;
}

float cutis_crowd_tangent_unit(const float *values, uint32_t key_count)
{
    double largest = 0;
    for (size_t i = 0; i < 12 * (size_t)key_count; i++)
        if (i % 12 < 4 || i % 12 >= 8) largest = fmax(largest, fabs(values[i]));
    return (float)(largest / (STEPS - 1)); // so that rounding leaves no step beyond the last
}

/// Values in 16 bits, as the device will read them; each on the near side of the one before.
static void quantise(const cutis_channel *channel, float *out)
{
    double before[4] = { 0 }, q[4];
    for (uint32_t k = 0; k < channel->key_count; k++, memcpy(before, q, sizeof q)) {
        unit_key(channel->values + 4 * (size_t)k, before, q);
        for (int c = 0; c < 4; c++) *out++ = (float)(floor(q[c] * STEPS + 0.5) / STEPS);
    }
}

/// How much of what hangs on a node a channel moves, for a unit of its own error.
static double lever(const compressor *w, const cutis_channel *channel)
{
    return channel->path == CUTIS_PATH_TRANSLATION ? 1 : w->reach[channel->node];
}

/// The shortest that a cubic channel's quaternion gets between its keys, with some room for what
/// eight looks a key may miss.
static double shortest(const cutis_channel *channel)
{
    double least = 1;
    for (uint32_t k = 0; k + 1 < channel->key_count; k++) {
        const float *a = channel->values + 12 * (size_t)k, *b = a + 12;
        const double step = (double)channel->times[k + 1] - channel->times[k];
        for (int i = 0; i <= 8; i++) {
            const double u = i / 8.0, v = 1 - u;
            double square = 0;
            for (int c = 0; c < 4; c++) {
                const double q = (1 + 2 * u) * v * v * a[4 + c] + u * v * v * step * a[8 + c] +
                                 u * u * (3 - 2 * u) * b[4 + c] - u * u * v * step * b[c];
                square += q * q;
            }
            least = fmin(least, sqrt(square));
        }
    }
    return 0.9 * least;
}

/// Cubic rotations: values in 16 bits, tangents too, in steps of their own. Values weigh 1 together
/// between keys, tangents 4/27 of the time between them each, so what they are off by is known.
static cutis_result compress_cubic(compressor *w, const cutis_channel *channel, cutis_channel *out,
                                   bool *packed)
{
    const uint32_t keys = channel->key_count;
    double longest = 0;
    for (uint32_t k = 0; k < keys; k++)
        for (int c = 4; c < 8; c++) // no unit quaternion
            if (fabs(channel->values[12 * (size_t)k + c]) > 1) return CUTIS_OK;
    for (uint32_t k = 0; k + 1 < keys; k++)
        longest = fmax(longest, (double)channel->times[k + 1] - channel->times[k]);
    const float unit = cutis_crowd_tangent_unit(channel->values, keys);
    const double least = shortest(channel), by = lever(w, channel);
    const double off = 2 * (1.0 / STEPS + 8.0 / 27 * longest * unit) / least;
    if (!(least > 0.5) || off * by > w->share) return CUTIS_OK;
    float *values = cutis_arena_alloc(w->arena, keys, 12 * sizeof *values);
    if (!values) return cutis_alloc_result(w->crowd->context);
    for (size_t i = 0; i < 12 * (size_t)keys; i++) {
        const bool value = i % 12 >= 4 && i % 12 < 8;
        const double steps = value      ? channel->values[i] * STEPS
                             : unit > 0 ? channel->values[i] / (double)unit
                                        : 0;
        values[i] = value ? (float)(floor(steps + 0.5) / STEPS)
                          : (float)(floor(steps + 0.5) * (double)unit);
    }
    out->values = values;
    *packed = true;
    w->off[channel->node] += off * by;
    return CUTIS_OK;
}

/// Linear rotations and translations; others stay as they are.
static cutis_result compress_channel(compressor *w, const cutis_channel *channel,
                                     cutis_channel *out, bool *packed)
{
    const bool rotation = channel->path == CUTIS_PATH_ROTATION;
    *out = *channel;
    *packed = false;
    if (channel->interpolation == CUTIS_INTERPOLATION_CUBIC && rotation)
        return compress_cubic(w, channel, out, packed);
    if (channel->interpolation != CUTIS_INTERPOLATION_LINEAR ||
        (!rotation && channel->path != CUTIS_PATH_TRANSLATION))
        return CUTIS_OK;
    const uint32_t width = rotation ? 4 : 3;
    const double by = lever(w, channel) * (rotation ? ARC : 1);
    const double tolerance = by > 0 ? w->share / by : 0.1;
    float *values = cutis_arena_copy(w->arena, channel->values, width * (size_t)channel->key_count,
                                     sizeof *values);
    uint32_t *kept = cutis_arena_alloc(w->arena, (size_t)channel->key_count + 1, sizeof *kept);
    float *times = cutis_arena_alloc(w->arena, channel->key_count, sizeof *times);
    if (!values || !kept || !times) return cutis_alloc_result(w->crowd->context);
    // Half a step in each of four components, twice as an angle.
    *packed = rotation && 2 * sqrt(4.0) * 0.5 / STEPS <= 0.75 * tolerance;
    if (*packed) quantise(channel, values);
    double worst = 0;
    uint32_t count = choose_keys(channel, values, tolerance, kept, &worst);
    if (count > WORTH * channel->key_count) { // all of them, at the times they share with others
        count = channel->key_count;
        worst = 0;
        for (uint32_t k = 0; k < count; k++)
            kept[k] = k, worst = fmax(worst, key_off(channel, values, k, k, k));
    } else {
        out->times = times;
    }
    for (uint32_t k = 0; k < count; k++) {
        times[k] = channel->times[kept[k]];
        memmove(values + width * (size_t)k, values + width * (size_t)kept[k],
                width * sizeof *values);
    }
    out->key_count = count;
    out->values = values;
    w->off[channel->node] += worst * by;
    return CUTIS_OK;
}

/// Channels of the longest chain of nodes that have some.
static uint32_t longest_chain(const compressor *w, uint32_t *counts)
{
    const cutis_model_data *data = &w->crowd->levels[0].binding->base.model->data;
    uint32_t most = 1;
    memset(counts, 0, data->node_count * sizeof *counts);
    for (uint32_t c = 0; c < w->clip->channel_count; c++)
        counts[w->clip->channels[c].node] += w->clip->channels[c].path != CUTIS_PATH_WEIGHTS;
    for (uint32_t n = 0; n < data->node_count; n++) {
        if (data->nodes[n].parent != CUTIS_NONE) counts[n] += counts[data->nodes[n].parent];
        most = counts[n] > most ? counts[n] : most;
    }
    return most;
}

/// What the chains' parts add up to, at most; scales above a node make its part larger.
static double chain_error(const compressor *w, const cutis_node_range *ranges, double *scales)
{
    const cutis_model_data *data = &w->crowd->levels[0].binding->base.model->data;
    double most = 0;
    for (uint32_t n = 0; n < data->node_count; n++) {
        const int32_t parent = data->nodes[n].parent;
        const double above = parent == CUTIS_NONE ? 1 : scales[parent];
        scales[n] = above * ranges[n].scale;
        w->off[n] *= fmax(above, scales[n]);
        if (parent != CUTIS_NONE) w->off[n] += w->off[parent];
        most = fmax(most, w->off[n]);
    }
    return most;
}

cutis_result cutis_crowd_compress(cutis_crowd *crowd, const cutis_clip *clip, cutis_arena *arena,
                                  cutis_clip *out, bool **packed, double *error)
{
    const size_t nodes = crowd->node_count;
    double *radii = cutis_arena_zero(arena, nodes, 4 * sizeof *radii);
    cutis_node_range *ranges = cutis_arena_alloc(arena, nodes, sizeof *ranges);
    uint32_t *counts = cutis_arena_alloc(arena, nodes, sizeof *counts);
    cutis_channel *channels = cutis_arena_alloc(arena, clip->channel_count, sizeof *channels);
    *packed = cutis_arena_zero(arena, clip->channel_count + (size_t)1, sizeof **packed);
    if (!radii || !ranges || !counts || !channels || !*packed)
        return cutis_alloc_result(crowd->context);
    compressor w = { crowd, arena, clip, radii + nodes, 0, radii + 2 * nodes };
    double most = 0;
    TRY(cutis_crowd_radii(crowd, radii));
    cutis_crowd_reach(crowd->levels[0].binding->base.model, clip, radii, ranges, w.reach);
    for (size_t n = 0; n < nodes; n++) most = fmax(most, w.reach[n]);
    w.share = crowd->options.clip_error / longest_chain(&w, counts);
    for (uint32_t c = 0; c < clip->channel_count; c++)
        TRY(compress_channel(&w, &clip->channels[c], &channels[c], &(*packed)[c]));
    *out = *clip;
    out->channels = channels;
    // Both ways are sampled in float: rounding of turns of 1e-7, several along a chain.
    *error = chain_error(&w, ranges, radii + 3 * nodes) + 2e-6 * most;
    return CUTIS_OK;
}
