// The visibility kernel of a solid (from where all of it is seen): the intersection of the
// half-spaces of its faces. Invariant: a result that says star-shaped has a centroid that satisfies
// every half-space it was made from.
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "geometry/vector.h"
#include "math/mat3.h"
#include "skeleton/hull.h"

// Below this ball (part of the diagonal) the visibility kernel is rounding.
static const double SMALLEST_BALL = 1e-6;
// Violations this small (parts of the diagonal) are rounding of the planes.
static const double FEASIBLE = 1e-13;
// Its vertices this close are one.
static const double SAME_POINT = 1e-9;
// Normals this close are one plane.
static const double SAME_NORMAL = 1e-6;

// Solve the 4 x 4 system rows . x = right (or its transpose); false: singular.
static bool solve4(const double (*rows)[4], bool transpose, const double *right, double *x)
{
    double m[4][5];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++) m[i][j] = transpose ? rows[j][i] : rows[i][j];
        m[i][4] = right[i];
    }
    for (int c = 0; c < 4; c++) {
        int pivot = c;
        for (int r = c + 1; r < 4; r++)
            if (fabs(m[r][c]) > fabs(m[pivot][c])) pivot = r;
        if (!(fabs(m[pivot][c]) > 1e-14)) return false;
        for (int j = c; j < 5; j++) {
            double t = m[c][j];
            m[c][j] = m[pivot][j], m[pivot][j] = t;
        }
        for (int r = c + 1; r < 4; r++) {
            double f = m[r][c] / m[c][c];
            for (int j = c; j < 5; j++) m[r][j] -= f * m[c][j];
        }
    }
    for (int r = 3; r >= 0; r--) {
        x[r] = m[r][4];
        for (int j = r + 1; j < 4; j++) x[r] -= m[r][j] * x[j];
        x[r] /= m[r][r];
    }
    return true;
}

typedef struct {
    const double (*planes)[4];
    uint32_t count;
    double origin[3];
    double tolerance;
} programme;

// The most violated plane at (x, r), or (careful) the first one; count: none is.
static uint32_t violated(const programme *p, const double *x, bool careful)
{
    double worst = p->tolerance;
    uint32_t found = p->count;
    for (uint32_t i = 0; i < p->count; i++) {
        const double *n = p->planes[i];
        double d = n[0] * (x[0] + p->origin[0]) + n[1] * (x[1] + p->origin[1]) +
                   n[2] * (x[2] + p->origin[2]) + x[3] - n[3];
        if (d <= worst) continue;
        found = i, worst = d;
        if (careful) break;
    }
    return found;
}

// Dual simplex: maximise r subject to n . x + r <= b. The radius only ever falls, so it stops as
// soon as it is too small. Four box planes are a first dual feasible basis.
static bool largest_ball(const programme *p, double least, double *x)
{
    uint32_t basis[4] = { 0, 1, 2, 4 };
    static const double goal[4] = { 0, 0, 0, 1 };
    for (uint32_t step = 0; step < 4000; step++) {
        double rows[4][4], right[4], weights[4], entering[4], mix[4];
        for (int i = 0; i < 4; i++) {
            const double *n = p->planes[basis[i]];
            rows[i][0] = n[0], rows[i][1] = n[1], rows[i][2] = n[2], rows[i][3] = 1;
            right[i] = n[3] - double3_dot(n, p->origin);
        }
        if (!solve4(rows, false, right, x) || !solve4(rows, true, goal, weights)) return false;
        if (x[3] <= least) return true;
        uint32_t enter = violated(p, x, step > 400);
        if (enter == p->count) return true;
        for (int k = 0; k < 3; k++) entering[k] = p->planes[enter][k];
        entering[3] = 1;
        if (!solve4(rows, true, entering, mix)) return false;
        int leave = -1;
        for (int i = 0; i < 4; i++) {
            if (!(mix[i] > 1e-12)) continue;
            if (leave < 0 || weights[i] * mix[leave] < weights[leave] * mix[i] ||
                (weights[i] * mix[leave] == weights[leave] * mix[i] && basis[i] < basis[leave]))
                leave = i;
        }
        if (leave < 0) return false;
        basis[leave] = enter;
    }
    return false;
}

// Duals of the planes. Of neighbours in the list that are one plane the tightest is taken: flat
// regions of a mesh mostly stand together, and the hull merges the rest.
static uint32_t dualise(const double (*planes)[4], uint32_t n, const double *x0, double (*out)[3])
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        double gap = planes[i][3] - double3_dot(planes[i], x0), y[3];
        for (int k = 0; k < 3; k++) y[k] = planes[i][k] / gap;
        if (count > 0 && i > 0) {
            vec3 d = v3_sub(v3_of(planes[i]), v3_of(planes[i - 1]));
            if (v3_dot(d, d) < SAME_NORMAL * SAME_NORMAL) {
                double *last = out[count - 1];
                if (double3_dot(y, y) > double3_dot(last, last)) memcpy(last, y, sizeof y);
                continue;
            }
        }
        memcpy(out[count++], y, sizeof y);
    }
    return count;
}

static uint32_t merge_points(double (*points)[3], uint32_t n, double reach)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool fresh = true;
        for (uint32_t j = count > 64 ? count - 64 : 0; j < count && fresh; j++) {
            vec3 d = v3_sub(v3_of(points[i]), v3_of(points[j]));
            fresh = v3_dot(d, d) > reach * reach;
        }
        if (fresh) memmove(points[count++], points[i], sizeof *points);
    }
    return count;
}

cutis_result cutis_intersection_make(cutis_arena *arena, const double (*planes)[4], uint32_t n,
                                     double diagonal, cutis_intersection *out)
{
    programme p = { planes, n, { 0 }, FEASIBLE * diagonal };
    double x[4] = { 0 };
    *out = (cutis_intersection){ 0 };
    for (int k = 0; k < 3; k++) p.origin[k] = 0.5 * (planes[2 * k][3] - planes[2 * k + 1][3]);
    if (!largest_ball(&p, SMALLEST_BALL * diagonal, x)) x[3] = 0;
    out->radius = x[3];
    out->star_shaped = x[3] > SMALLEST_BALL * diagonal;
    for (int k = 0; k < 3; k++) out->centre[k] = out->centroid[k] = p.origin[k] + x[k];
    if (!out->star_shaped) return CUTIS_OK;
    double(*duals)[3] = cutis_arena_alloc(arena, n, sizeof *duals), (*corners)[3];
    uint32_t count;
    if (!duals) return cutis_alloc_result(arena->context);
    count = dualise(planes, n, out->centre, duals);
    TRY(cutis_hull_dual(arena, duals, count, &corners, &count));
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) corners[i][k] += out->centre[k];
    count = merge_points(corners, count, SAME_POINT * diagonal);
    cutis_hull hull;
    cutis_result result = cutis_hull_make(arena, corners, count, SAME_POINT * diagonal, &hull);
    if (result == CUTIS_OK && hull.count > 0)
        cutis_hull_centroid(&hull, out->centroid, &out->volume);
    return result;
}
