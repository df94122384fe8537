/// Cyclic Jacobi: rotations (0,1), (0,2), (1,2), at most 10 sweeps, so the same steps on every
/// machine. Invariant: vectors stay orthonormal to rounding, whatever the multiplicities.
#include "math/eigen3.h"

#include <math.h>
#include <string.h>

static const int SWEEPS = 10;
// Below this part of the trace squared the off-diagonal changes no eigenvalue in its last bit.
static const double OFF_DIAGONAL = 1e-30;

/// Make m[p][q] zero; `v` holds vectors as rows.
static void rotate(double m[3][3], double v[3][3], int p, int q)
{
    if (m[p][q] == 0.0) return;
    int k = 3 - p - q;
    double theta = (m[q][q] - m[p][p]) / (2.0 * m[p][q]);
    double t = (theta < 0.0 ? -1.0 : 1.0) / (fabs(theta) + sqrt(theta * theta + 1.0));
    double c = 1.0 / sqrt(t * t + 1.0), s = t * c;
    m[p][p] -= t * m[p][q];
    m[q][q] += t * m[p][q];
    m[p][q] = m[q][p] = 0.0;
    double kp = m[k][p], kq = m[k][q];
    m[k][p] = m[p][k] = c * kp - s * kq;
    m[k][q] = m[q][k] = s * kp + c * kq;
    for (int i = 0; i < 3; i++) {
        double vp = v[p][i], vq = v[q][i];
        v[p][i] = c * vp - s * vq;
        v[q][i] = s * vp + c * vq;
    }
}

void cutis_eigen3(const double *a, double *values, double *vectors)
{
    double m[3][3] = { { a[0], a[1], a[2] }, { a[1], a[3], a[4] }, { a[2], a[4], a[5] } };
    double v[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    double trace = a[0] + a[3] + a[5];
    double stop = OFF_DIAGONAL * trace * trace;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = m[0][1] * m[0][1] + m[0][2] * m[0][2] + m[1][2] * m[1][2];
        if (off == 0.0 || off < stop) break;
        rotate(m, v, 0, 1);
        rotate(m, v, 0, 2);
        rotate(m, v, 1, 2);
    }
    int order[3] = { 0, 1, 2 };
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2 - i; j++)
            if (m[order[j]][order[j]] < m[order[j + 1]][order[j + 1]]) {
                int swap = order[j];
                order[j] = order[j + 1], order[j + 1] = swap;
            }
    for (int i = 0; i < 3; i++) {
        values[i] = m[order[i]][order[i]];
        memcpy(vectors + 3 * i, v[order[i]], 3 * sizeof *vectors);
    }
}
