// Standing feet (docs/spec/retarget.md E5): when a foot stands, and by how much each frame's ankle
// must be moved so that it stands on the target too. Invariant: inside a stance what touches the
// ground does not move along it, flat, on the heel or on the ball; outside, the correction fades
// within FADE seconds, or runs from one stance to the next where they are nearer.
#include "skeleton/retarget.h"

#include <math.h>
#include <stdlib.h>

#include "geometry/order.h"

// A foot whose slowest point is slower than this part of its own fast speed (FAST of all frames are
// slower) stands: 0.1 divides walks and runs alike, a little more leaves room at both ends ...
static const double SLOW = 0.12, FAST = 0.95;
// ... or slower than this many leg lengths a second: a body that only stands has no swing.
static const double STANDING = 0.15;
// A foot higher than this many leg lengths above its own low level (LOW of all frames are lower)
// hangs, however slow: the turning point of a kick.
static const double HIGH = 0.12, LOW = 0.05;
// A swinging foot is slow for a moment; stances as near as BREAK to each other are one.
static const double STANCE_LEAST = 0.06, BREAK = 0.03;
// Speeds are taken over this long on both sides, so that noise of single frames is no step.
static const double SPEED_SPAN = 1.0 / 120;
static const double FADE = 0.12;

static double speed(const double *path, uint32_t count, double dt, uint32_t frame, uint32_t span)
{
    uint32_t a = frame > span ? frame - span : 0,
             b = frame + span < count ? frame + span : count - 1;
    double way = v3_distance_of(path + 3 * (size_t)b, path + 3 * (size_t)a);
    return b > a ? way / ((b - a) * dt) : 0;
}

// The value that `part` of all are below.
static double percentile(const double *values, uint32_t count, double part, double *scratch)
{
    memcpy(scratch, values, count * sizeof *values);
    qsort(scratch, count, sizeof *scratch, order_double);
    return scratch[(size_t)(part * (count - 1))];
}

uint32_t cutis_retarget_stances(double *const *points, uint32_t point_count, const double *up,
                                uint32_t frame_count, double seconds_per_frame, double leg,
                                double *scratch, retarget_stance *stances)
{
    uint32_t count = 0, span = (uint32_t)fmax(1, round(SPEED_SPAN / seconds_per_frame));
    double *speeds = scratch, *lows = scratch + frame_count, *sorted = scratch + 2 * frame_count;
    for (uint32_t f = 0; f < frame_count; f++) {
        speeds[f] = lows[f] = INFINITY;
        for (uint32_t i = 0; i < point_count; i++) {
            speeds[f] = fmin(speeds[f], speed(points[i], frame_count, seconds_per_frame, f, span));
            lows[f] = fmin(lows[f], double3_dot(points[i] + 3 * (size_t)f, up));
        }
    }
    const double bound = fmax(SLOW * percentile(speeds, frame_count, FAST, sorted), STANDING * leg);
    const double high = percentile(lows, frame_count, LOW, sorted) + HIGH * leg;
    for (uint32_t f = 0; f < frame_count;) {
        uint32_t last = f;
        while (last < frame_count && speeds[last] < bound && lows[last] < high) last++;
        if (last > f) {
            bool joins = count && (f - stances[count - 1].last) * seconds_per_frame < BREAK;
            if (!joins) stances[count++] = (retarget_stance){ .first = f, .level = NAN };
            stances[count - 1].last = last - 1;
        }
        f = last + 1;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++)
        if ((stances[i].last - stances[i].first) * seconds_per_frame >= STANCE_LEAST)
            stances[kept++] = stances[i];
    return kept;
}

static double smooth(double x)
{
    x = fmin(fmax(x, 0), 1);
    return x * x * (3 - 2 * x);
}

// The frames between two stances: from one's last correction to the other's first. Without a stance
// before (after), `first` (`last`) is just outside the motion.
static void fade(const double *from, int64_t first, const double *to, int64_t last, double dt,
                 double *offsets)
{
    const double span = FADE / dt, gap = (double)(last - first);
    for (int64_t f = first + 1; f < last; f++) {
        double a = smooth(1 - (double)(f - first) / span);
        double b = smooth(1 - (double)(last - f) / span);
        if (from && to && gap < 2 * span) {
            b = smooth((double)(f - first) / gap);
            a = 1 - b;
        }
        for (int k = 0; k < 3; k++)
            offsets[3 * f + k] = (from ? a * from[k] : 0) + (to ? b * to[k] : 0);
    }
}

// The ankle goes where its foot takes it that does not slide; the whole of it to where it is
// nearest to the path, on its level.
static void hold_one(const double *path, const double *step, const double *low, const double *up,
                     const retarget_stance *s, double *offsets)
{
    vec3 mean = { 0 }, way = { 0 };
    for (uint32_t f = s->first; f <= s->last; f++) {
        if (step && f > s->first) way = v3_sub(way, v3_of(step + 3 * (size_t)f));
        vec3 off = v3_sub(way, v3_of(path + 3 * (size_t)f));
        v3_put(off, offsets + 3 * (size_t)f);
        mean = v3_mad(mean, 1.0 / (s->last - s->first + 1), off);
    }
    for (uint32_t f = s->first; f <= s->last; f++) {
        vec3 off = v3_sub(v3_of(offsets + 3 * (size_t)f), mean);
        if (low && isfinite(s->level)) {
            double rise = s->level - low[f] - double3_dot(path + 3 * (size_t)f, up);
            off = v3_mad(off, rise - v3_dot(off, v3_of(up)), v3_of(up));
        }
        v3_put(off, offsets + 3 * (size_t)f);
    }
}

void cutis_retarget_hold(const double *path, const double *step, const double *low,
                         const double *up, uint32_t frame_count, double seconds_per_frame,
                         const retarget_stance *stances, uint32_t stance_count, double *offsets)
{
    memset(offsets, 0, 3 * (size_t)frame_count * sizeof *offsets);
    for (uint32_t i = 0; i < stance_count; i++) hold_one(path, step, low, up, &stances[i], offsets);
    for (uint32_t i = 0; i <= stance_count && stance_count; i++) {
        const retarget_stance *a = i > 0 ? &stances[i - 1] : NULL;
        const retarget_stance *b = i < stance_count ? &stances[i] : NULL;
        fade(a ? offsets + 3 * (size_t)a->last : NULL, a ? (int64_t)a->last : -1,
             b ? offsets + 3 * (size_t)b->first : NULL, b ? (int64_t)b->first : frame_count,
             seconds_per_frame, offsets);
    }
}

double cutis_retarget_slide(const double *path, const double *step, const double *up,
                            const retarget_stance *stance)
{
    double sum = 0;
    for (size_t f = stance->first + (size_t)1; f <= stance->last; f++) {
        vec3 way = v3_sub(v3_of(path + 3 * f), v3_of(path + 3 * f - 3));
        if (step) way = v3_add(way, v3_of(step + 3 * f));
        sum += v3_length(v3_mad(way, -v3_dot(way, v3_of(up)), v3_of(up)));
    }
    return sum;
}

static double lowest(const double *points, uint32_t count, const double *up)
{
    double low = INFINITY;
    for (uint32_t i = 0; i < count; i++) low = fmin(low, double3_dot(points + 3 * (size_t)i, up));
    return low;
}

void cutis_retarget_touch(const double *before, const double *now, uint32_t count, const double *up,
                          double touch, double *step, double *low)
{
    *low = lowest(now, count, up);
    v3_put(v3(0, 0, 0), step);
    if (!before) return;
    const double old = lowest(before, count, up);
    uint32_t touching = 0;
    vec3 sum = { 0 };
    for (size_t i = 0; i < count; i++) {
        if (double3_dot(now + 3 * i, up) >= *low + touch &&
            double3_dot(before + 3 * i, up) >= old + touch)
            continue;
        sum = v3_add(sum, v3_sub(v3_of(now + 3 * i), v3_of(before + 3 * i)));
        touching++;
    }
    sum = v3_divide(sum, touching ? touching : 1);
    sum = v3_mad(sum, *low - old - v3_dot(sum, v3_of(up)), v3_of(up));
    v3_put(sum, step);
}
