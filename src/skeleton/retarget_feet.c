// Standing feet (docs/spec/retarget.md E5): when an ankle stands, and by how much each frame must
// be moved so that it stands still on the target too. Invariant: inside a stance the ankle is at
// one place; outside, the correction fades within FADE seconds, or runs from one stance to the next
// where they are nearer.
#include "skeleton/retarget.h"

#include <math.h>
#include <string.h>

// An ankle slower than this many leg lengths a second stands (docs/spec/retarget.md E5) ...
static const double STANDING = 0.15;
// ... for at least this long: a swinging foot is slow for a moment at its turning points.
static const double STANCE_LEAST = 0.1;
// Speeds are taken over this long on both sides, so that noise of single frames is no step.
static const double SPEED_SPAN = 1.0 / 60;
static const double FADE = 0.12;

static double speed(const double *path, uint32_t count, double dt, uint32_t frame, uint32_t span)
{
    uint32_t a = frame > span ? frame - span : 0,
             b = frame + span < count ? frame + span : count - 1;
    double way = v3_distance_of(path + 3 * (size_t)b, path + 3 * (size_t)a);
    return b > a ? way / ((b - a) * dt) : 0;
}

uint32_t cutis_retarget_stances(const double *path, uint32_t frame_count, double seconds_per_frame,
                                double leg, retarget_stance *stances)
{
    uint32_t count = 0, span = (uint32_t)fmax(1, round(SPEED_SPAN / seconds_per_frame));
    for (uint32_t f = 0; f < frame_count;) {
        uint32_t last = f;
        while (last < frame_count &&
               speed(path, frame_count, seconds_per_frame, last, span) < STANDING * leg)
            last++;
        if (last > f && (last - f - 1) * seconds_per_frame >= STANCE_LEAST)
            stances[count++] = (retarget_stance){ f, last - 1 };
        f = last + 1;
    }
    return count;
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

void cutis_retarget_hold(const double *path, uint32_t frame_count, double seconds_per_frame,
                         const retarget_stance *stances, uint32_t stance_count, double *offsets)
{
    memset(offsets, 0, 3 * (size_t)frame_count * sizeof *offsets);
    for (uint32_t i = 0; i < stance_count; i++) {
        const retarget_stance *s = &stances[i];
        double mean[3] = { 0 };
        for (uint32_t f = s->first; f <= s->last; f++)
            for (int k = 0; k < 3; k++)
                mean[k] += path[3 * (size_t)f + k] / (s->last - s->first + 1);
        for (uint32_t f = s->first; f <= s->last; f++)
            for (int k = 0; k < 3; k++)
                offsets[3 * (size_t)f + k] = mean[k] - path[3 * (size_t)f + k];
    }
    for (uint32_t i = 0; i <= stance_count && stance_count; i++) {
        const retarget_stance *a = i > 0 ? &stances[i - 1] : NULL;
        const retarget_stance *b = i < stance_count ? &stances[i] : NULL;
        fade(a ? offsets + 3 * (size_t)a->last : NULL, a ? (int64_t)a->last : -1,
             b ? offsets + 3 * (size_t)b->first : NULL, b ? (int64_t)b->first : frame_count,
             seconds_per_frame, offsets);
    }
}
