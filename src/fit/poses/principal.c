// Principal directions of a few long columns, by cyclic Jacobi on their Gram matrix. Invariant: the
// order of sums and rotations is fixed, and a direction's largest entry is positive, so the bits
// depend on the columns alone.
#include "fit/poses/fit.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

#define SWEEPS 60
// Rotations below this, of the diagonal, change nothing any more.
static const double NOTHING = 1e-18;

// Zero entry (p, q) by a rotation of rows and columns; the rotation is gathered in v.
static void rotate(uint32_t n, double *a, double *v, uint32_t p, uint32_t q)
{
    double apq = a[p * n + q], app = a[p * n + p], aqq = a[q * n + q];
    if (apq * apq <= NOTHING * NOTHING * fabs(app * aqq)) return;
    double theta = (aqq - app) / (2 * apq);
    double t = (theta >= 0 ? 1 : -1) / (fabs(theta) + sqrt(theta * theta + 1));
    double c = 1 / sqrt(t * t + 1), s = t * c;
    for (uint32_t k = 0; k < n; k++) {
        double x = a[k * n + p], y = a[k * n + q];
        a[k * n + p] = c * x - s * y;
        a[k * n + q] = s * x + c * y;
    }
    for (uint32_t k = 0; k < n; k++) {
        double x = a[p * n + k], y = a[q * n + k];
        a[p * n + k] = c * x - s * y;
        a[q * n + k] = s * x + c * y;
        x = v[k * n + p], y = v[k * n + q];
        v[k * n + p] = c * x - s * y;
        v[k * n + q] = s * x + c * y;
    }
    a[p * n + q] = a[q * n + p] = 0;
}

static void swap_directions(uint32_t n, double *squares, double *v, uint32_t i, uint32_t j)
{
    double square = squares[i];
    squares[i] = squares[j];
    squares[j] = square;
    for (uint32_t k = 0; k < n; k++) {
        double x = v[k * n + i];
        v[k * n + i] = v[k * n + j];
        v[k * n + j] = x;
    }
}

// The largest first; signs that do not depend on the way here.
static void settle(uint32_t n, double *squares, double *v)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t best = i, largest = 0;
        for (uint32_t j = i + 1; j < n; j++)
            if (squares[j] > squares[best]) best = j;
        if (best != i) swap_directions(n, squares, v, i, best);
        squares[i] = fmax(0, squares[i]);
        for (uint32_t k = 1; k < n; k++)
            if (fabs(v[k * n + i]) > fabs(v[largest * n + i])) largest = k;
        for (uint32_t k = 0; k < n && v[largest * n + i] < 0; k++)
            if (k != largest) v[k * n + i] = -v[k * n + i];
        v[largest * n + i] = fabs(v[largest * n + i]);
    }
}

void cutis_principal_basis(uint32_t n, size_t rows, const float *const *columns, double *vectors,
                           double *squares, double *scratch)
{
    double *a = scratch;
    memset(vectors, 0, (size_t)n * n * sizeof *vectors);
    for (uint32_t i = 0; i < n; i++) {
        vectors[i * n + i] = 1;
        for (uint32_t j = 0; j <= i; j++) {
            double sum = 0;
            for (size_t r = 0; r < rows; r++) sum += (double)columns[i][r] * columns[j][r];
            a[i * n + j] = a[j * n + i] = sum;
        }
    }
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double outside = 0, inside = 0;
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                *(i == j ? &inside : &outside) += a[i * n + j] * a[i * n + j];
        if (!(outside > NOTHING * NOTHING * inside)) break;
        for (uint32_t p = 0; p < n; p++)
            for (uint32_t q = p + 1; q < n; q++) rotate(n, a, vectors, p, q);
    }
    for (uint32_t i = 0; i < n; i++) squares[i] = a[i * n + i];
    settle(n, squares, vectors);
}

// Fields m = sum over poses of V_km times their displacement.
static bool make_fields(const cutis_fit_problem *p, float **columns, uint32_t count, uint32_t keep,
                        const double *vectors)
{
    const size_t rows = 3 * (size_t)p->vertex_count;
    double *row = cutis_arena_alloc(p->arena, count, sizeof *row);
    if (!row) return false;
    for (size_t r = 0; r < rows; r++) {
        for (uint32_t k = 0; k < count; k++) row[k] = columns[k][r];
        for (uint32_t m = 0; m < keep; m++) {
            double sum = 0;
            for (uint32_t k = 0; k < count; k++) sum += vectors[k * count + m] * row[k];
            columns[m][r] = (float)sum;
        }
    }
    return true;
}

// The farthest a displacement is from what the kept fields give.
static double largest_error(const cutis_fit_problem *p, float **columns, uint32_t count,
                            uint32_t keep, const double *vectors)
{
    double largest = 0;
    for (size_t v = 0; v < p->vertex_count; v++)
        for (uint32_t k = 0; k < count; k++) {
            double square = 0;
            for (size_t c = 0; c < 3; c++) {
                // X - X V V^T: what the directions that are left out give
                double off = 0;
                for (uint32_t m = keep; m < count; m++) {
                    double field = 0;
                    for (uint32_t i = 0; i < count; i++)
                        field += vectors[i * count + m] * columns[i][3 * v + c];
                    off += vectors[k * count + m] * field;
                }
                square += off * off;
            }
            largest = fmax(largest, square);
        }
    return sqrt(largest);
}

cutis_result cutis_fit_compress(cutis_fit_problem *p, cutis_fit_poses *poses)
{
    const uint32_t count = poses->space.pose_count - 1, keep = p->options.principal_poses;
    const size_t entries = (size_t)count * count;
    if (!keep || keep >= count) return CUTIS_OK;
    if (count > CUTIS_PRINCIPAL_MAX)
        return cutis_fail(p->context, CUTIS_LIMIT_EXCEEDED,
                          "fit: principal poses of %u poses; %d are the most", count,
                          CUTIS_PRINCIPAL_MAX);
    double *vectors = cutis_arena_alloc(p->arena, entries, sizeof *vectors);
    double *scratch = cutis_arena_alloc(p->arena, entries, sizeof *scratch);
    double *squares = cutis_arena_alloc(p->arena, count, sizeof *squares);
    float *coefficients = cutis_arena_alloc(p->arena, (size_t)count * keep, sizeof *coefficients);
    if (!vectors || !scratch || !squares || !coefficients) return cutis_alloc_result(p->context);
    cutis_principal_basis(count, 3 * (size_t)p->vertex_count,
                          (const float *const *)poses->positions, vectors, squares, scratch);
    double all = 0, kept = 0;
    for (uint32_t m = 0; m < count; m++) {
        all += squares[m];
        if (m < keep) kept += squares[m];
    }
    poses->energy = all > 0 ? kept / all : 1;
    poses->compression_max = largest_error(p, poses->positions, count, keep, vectors);
    for (uint32_t k = 0; k < count; k++)
        for (uint32_t m = 0; m < keep; m++)
            coefficients[k * keep + m] = (float)vectors[k * count + m];
    poses->space.field_count = keep;
    poses->space.coefficients = coefficients;
    if (!make_fields(p, poses->positions, count, keep, vectors) ||
        (poses->normals && !make_fields(p, poses->normals, count, keep, vectors)))
        return cutis_alloc_result(p->context);
    return CUTIS_OK;
}
