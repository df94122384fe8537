// Normalised radial functions over poses. Invariants: sums run in ascending order and exp is our
// own, so the bits depend on the poses and weights alone; a fit always succeeds, because sigma
// shrinks until the RBF matrix is as good as the identity.
#include "math/pose_rbf.h"

#include <math.h>
#include <string.h>

#include "math/cholesky.h"
#include "math/exponential.h"
#include "math/quat.h"
#include "math/elementary.h"

// Poses closer than this, in radians weighted by joint, are one (docs/spec/pose-space.md 5.3).
static const double NEAR = 1e-3;
// The same over all joints: there is nobody else to play what tells them apart.
static const double NEAR_ALL = 1e-5;
// Below this pivot the matrix gets the ridge, once (docs/spec/pose-space.md 5.2).
static const double PIVOT = 1e-10, RIDGE = 1e-8;
// Least sums of the Gaussian, least shifted denominator of the exponential
// (docs/spec/pose-space.md 5.2).
static const double GAUSSIAN_SUM = 0.25, DENOMINATOR = 0.5;
static const double SHRINK = 0.8;
// 0.8^200 is 1e-19: by then the matrix is the identity.
#define SHRINKS_MAX 200
#define PI          3.14159265358979323846

static void rotation_vector(const double *q, double *out)
{
    double sign = q[0] < 0 ? -1 : 1;
    double length = sqrt(q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double factor = length < 1e-8 ? 2 * sign : 2 * fixed_atan2(length, fabs(q[0])) * sign / length;
    for (int c = 0; c < 3; c++) out[c] = factor * q[c + 1];
}

// R = Rz(c) Ry(b) Rx(a).
static void euler_angles(const double *q, double *out)
{
    double w = q[0], x = q[1], y = q[2], z = q[3];
    double sine = 2 * (w * y - z * x);
    out[0] = fixed_atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y));
    out[1] = fixed_asin(sine > 1 ? 1 : sine < -1 ? -1 : sine);
    out[2] = fixed_atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z));
}

double cutis_rbf_angle_square(cutis_rbf_distance distance, const double *a, const double *b)
{
    double u[4], v[3], sum = 0;
    if (distance == CUTIS_RBF_GEODESIC) {
        const double conjugate[4] = { b[0], -b[1], -b[2], -b[3] };
        double_quat_multiply(conjugate, a, u);
        double angle = 2 * fixed_atan2(sqrt(u[1] * u[1] + u[2] * u[2] + u[3] * u[3]), fabs(u[0]));
        return angle * angle;
    }
    if (distance == CUTIS_RBF_ROTVEC) {
        rotation_vector(a, u);
        rotation_vector(b, v);
    } else {
        euler_angles(a, u);
        euler_angles(b, v);
    }
    for (int c = 0; c < 3; c++) {
        double d = u[c] - v[c];
        if (distance == CUTIS_RBF_EULER) d -= 2 * PI * floor(d / (2 * PI) + 0.5);
        sum += d * d;
    }
    return sum;
}

void cutis_rbf_distances(const cutis_pose_table *table, const cutis_joint_weights *weights,
                         const double *squares, double *g)
{
    for (uint32_t k = 0; k < table->pose_count; k++) {
        const double *row = squares + (size_t)k * table->joint_count;
        double sum = 0;
        if (weights->joint)
            for (uint32_t i = 0; i < weights->count; i++)
                sum += weights->weight[i] * row[weights->joint[i]];
        else
            for (uint32_t j = 0; j < table->joint_count; j++) sum += row[j];
        g[k] = sqrt(sum);
    }
}

void cutis_rbf_kernel(const cutis_rbf *rbf, const double *g, double *phi)
{
    double least = INFINITY;
    for (uint32_t k = 0; k < rbf->pose_count; k++) least = g[k] < least ? g[k] : least;
    for (uint32_t k = 0; k < rbf->pose_count; k += CUTIS_LANES) {
        bool pair = k + 1 < rbf->pose_count;
        double2 x = { g[k], pair ? g[k + 1] : g[k] };
        if (rbf->sigma == 0)
            x = double2_splat(0);
        else if (rbf->gaussian)
            x = (least * least - x * x) / (2 * rbf->sigma * rbf->sigma);
        else
            x = (least - x) / rbf->sigma;
        x = exp_negative2(x);
        phi[k] = x[0];
        if (pair) phi[k + 1] = x[1];
    }
}

static double denominator(const cutis_rbf *rbf, const double *phi)
{
    double sum = 0;
    for (uint32_t k = 0; k < rbf->pose_count; k++) sum += rbf->sums[k] * phi[k];
    return sum;
}

void cutis_rbf_weights(const cutis_rbf *rbf, const double *g, double *phi, double *out)
{
    const uint32_t n = rbf->pose_count;
    cutis_rbf_kernel(rbf, g, phi);
    const double total = denominator(rbf, phi);
    for (uint32_t t = 0; t < n; t++) {
        double sum = 0;
        for (uint32_t k = 0; k < n; k++) sum += rbf->matrix[(size_t)t * n + k] * phi[k];
        out[t] = sum / total;
    }
}

size_t cutis_rbf_scratch(uint32_t pose_count)
{
    size_t n = pose_count;
    return 2 * n * n + 3 * n;
}

static uint32_t find(uint32_t *cluster, uint32_t k)
{
    while (cluster[k] != k) k = cluster[k] = cluster[cluster[k]];
    return k;
}

// Poses nearer than `least`, or than was asked for, directly or over others, become one; the lowest
// stands for all.
static void make_clusters(uint32_t n, const double *g, double least, cutis_rbf *rbf)
{
    for (uint32_t k = 0; k < n; k++) rbf->cluster[k] = k;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t l = 0; l < k; l++) {
            if (!(g[(size_t)k * n + l] < fmax(least, rbf->near))) continue;
            uint32_t a = find(rbf->cluster, k), b = find(rbf->cluster, l);
            if (a < b) rbf->cluster[b] = a;
            if (b < a) rbf->cluster[a] = b;
        }
    rbf->cluster_count = 0;
    for (uint32_t k = 0; k < n; k++) {
        rbf->cluster[k] = find(rbf->cluster, k);
        rbf->cluster_count += rbf->cluster[k] == k;
    }
}

static void sort(double *values, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        double value = values[i];
        uint32_t j = i;
        for (; j > 0 && values[j - 1] > value; j--) values[j] = values[j - 1];
        values[j] = value;
    }
}

static double first_sigma(uint32_t n, const double *g, const cutis_rbf *rbf, double c, double *rows)
{
    double largest = 0;
    uint32_t count = 0;
    for (uint32_t k = 0; k < n; k++) {
        double nearest = INFINITY;
        for (uint32_t l = 0; l < n && rbf->cluster[k] == k; l++) {
            if (l == k || rbf->cluster[l] != l) continue;
            nearest = fmin(nearest, g[(size_t)k * n + l]);
            largest = fmax(largest, g[(size_t)k * n + l]);
        }
        if (rbf->cluster[k] == k) rows[count++] = nearest;
    }
    if (!rbf->gaussian) return (c > 0 ? c : 1) * largest;
    sort(rows, count);
    double middle = 0.5 * (rows[(count - 1) / 2] + rows[count / 2]);
    return (c > 0 ? c : 0.5) * middle;
}

// The RBF matrix of the clusters, packed m x m; false if its factor has no positive pivots.
static bool factor(uint32_t n, const double *g, cutis_rbf *rbf, double ridge, double *a)
{
    uint32_t m = rbf->cluster_count;
    for (uint32_t k = 0, row = 0; k < n; k++) {
        if (rbf->cluster[k] != k) continue;
        for (uint32_t l = 0, column = 0; l <= k; l++) {
            if (rbf->cluster[l] != l) continue;
            double d = g[(size_t)k * n + l];
            double x = rbf->gaussian ? -d * d / (2 * rbf->sigma * rbf->sigma) : -d / rbf->sigma;
            a[(size_t)row * m + column++] = l == k ? 1 + ridge : exp_negative2(double2_splat(x))[0];
        }
        row++;
    }
    if (!cutis_cholesky_factor(m, a)) return false;
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < m; i++) {
        double pivot = a[(size_t)i * m + i] * a[(size_t)i * m + i];
        least = fmin(least, pivot);
        most = fmax(most, pivot);
    }
    rbf->condition = most / least;
    return ridge > 0 || least >= PIVOT;
}

// The inverse, spread over the members of the clusters.
static void spread(uint32_t n, cutis_rbf *rbf, const double *a, double *column)
{
    uint32_t m = rbf->cluster_count;
    memset(rbf->matrix, 0, (size_t)n * n * sizeof *rbf->matrix);
    memset(rbf->sums, 0, n * sizeof *rbf->sums);
    for (uint32_t k = 0, at = 0; k < n; k++) {
        if (rbf->cluster[k] != k) continue;
        memset(column, 0, m * sizeof *column);
        column[at++] = 1;
        cutis_cholesky_solve(m, a, column);
        for (uint32_t t = 0, row = 0; t < n; t++) {
            if (rbf->cluster[t] != t) continue;
            uint32_t size = 0;
            for (uint32_t u = t; u < n; u++) size += rbf->cluster[u] == t;
            for (uint32_t u = t; u < n; u++)
                if (rbf->cluster[u] == t) rbf->matrix[(size_t)u * n + k] = column[row] / size;
            rbf->sums[k] += column[row++];
        }
    }
}

// Can the denominator come near zero? Proven not to where all sums are positive
// (docs/spec/pose-space.md 5.2); else looked at.
static bool safe(const cutis_pose_table *table, const cutis_joint_weights *weights,
                 const cutis_rbf *rbf, double *g)
{
    double least = INFINITY;
    for (uint32_t k = 0; k < rbf->pose_count; k++)
        if (rbf->cluster[k] == k) least = fmin(least, rbf->sums[k]);
    if (rbf->gaussian) return least >= GAUSSIAN_SUM;
    if (least >= 0) return true;
    for (uint32_t q = 0; q < table->query_count; q++) {
        cutis_rbf_distances(
            table, weights,
            table->query_squares + (size_t)q * table->pose_count * table->joint_count, g);
        cutis_rbf_kernel(rbf, g, g);
        if (!(denominator(rbf, g) >= DENOMINATOR)) return false;
    }
    return true;
}

void cutis_rbf_fit(const cutis_pose_table *table, const cutis_joint_weights *weights, bool gaussian,
                   double c, double *scratch, cutis_rbf *rbf)
{
    const uint32_t n = table->pose_count;
    double *g = scratch, *a = g + (size_t)n * n, *row = a + (size_t)n * n;
    rbf->pose_count = n;
    rbf->gaussian = gaussian;
    rbf->shrink_count = 0;
    rbf->sigma = 0;
    rbf->condition = 1;
    for (uint32_t k = 0; k < n; k++)
        cutis_rbf_distances(table, weights, table->squares + (size_t)k * n * table->joint_count,
                            g + (size_t)k * n);
    make_clusters(n, g, weights->joint ? NEAR : NEAR_ALL, rbf);
    if (rbf->cluster_count > 1) rbf->sigma = first_sigma(n, g, rbf, c, row);
    for (uint32_t i = 0; i < SHRINKS_MAX; i++) {
        bool good = rbf->cluster_count == 1;
        if (good)
            a[0] = 1;
        else
            good = factor(n, g, rbf, 0, a) || factor(n, g, rbf, RIDGE, a);
        if (good) {
            spread(n, rbf, a, row);
            if (rbf->cluster_count == 1 || safe(table, weights, rbf, row)) return;
        }
        rbf->sigma *= SHRINK;
        rbf->shrink_count++;
    }
}
