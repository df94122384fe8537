/// Item kernels of cages: mean value coordinates, relaxation of harmonic coordinates, and the
/// deformation with its normals. Coordinates are double, frames float.
///
/// Arrays with a slot per vertex and control (or per node and lane) come with two strides, so that
/// a CPU walks them vertex by vertex and a GPU side by side: the arithmetic is the same.
/// Formulas: docs/spec/reduction.md 5 to 7.
#ifndef CUTIS_KERNEL_CAGE_H
#define CUTIS_KERNEL_CAGE_H

#include "arguments.h"
#include "cage_arguments.h"
#include "item.h"

// Mean value coordinates ------------------------------------------------------------------------

// Below this the point lies in the triangle's plane: unit vectors span no volume
// (docs/spec/reduction.md 6).
#define CAGE_FLAT 1e-14
// The three angles sum to two pi to this: the point lies on the triangle itself.
#define CAGE_FACE 1e-6
#define CAGE_PI   3.14159265358979323846

STRUCT(cage_vector)
{
    double x, y, z;
};

FN cage_vector cage_make(double x, double y, double z)
{
    cage_vector v = { x, y, z };
    return v;
}

FN double cage_dot(cage_vector a, cage_vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

FN cage_vector cage_cross(cage_vector a, cage_vector b)
{
    return cage_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

// The angle whose sine and cosine are proportional to y >= 0 and x; 0 for 0, 0. One division: the
// quotient is turned back by 0, pi / 8 or pi / 4, which leaves at most tan(pi / 16), where twelve
// terms of the series reach the last digit. No libm: the same bits on every device.
FN double cage_angle(double y, double x)
{
    double size = x < 0 ? -x : x;
    double low = y < size ? y : size, high = y < size ? size : y;
    double shift = low < 0.19891236737965800691 * high   ? 0.0
                   : low < 0.66817863791929891999 * high ? 0.41421356237309504880
                                                         : 1.0;
    double base = shift == 0.0 ? 0.0 : shift == 1.0 ? CAGE_PI / 4 : CAGE_PI / 8;
    double r = (low - shift * high) / (high + shift * low > 0 ? high + shift * low : 1.0);
    double s = r * r, p = -1.0 / 23;
    p = p * s + 1.0 / 21;
    p = p * s - 1.0 / 19;
    p = p * s + 1.0 / 17;
    p = p * s - 1.0 / 15;
    p = p * s + 1.0 / 13;
    p = p * s - 1.0 / 11;
    p = p * s + 1.0 / 9;
    p = p * s - 1.0 / 7;
    p = p * s + 1.0 / 5;
    p = p * s - 1.0 / 3;
    double angle = base + (p * s * r + r);
    angle = y > size ? CAGE_PI / 2 - angle : angle;
    return x < 0 ? CAGE_PI - angle : angle;
}

// A control seen from the point: direction and distance.
STRUCT(cage_ray)
{
    cage_vector u;
    double d;
};

FN cage_ray cage_ray_of(cage_vector v)
{
    cage_ray ray;
    ray.d = ROOT(cage_dot(v, v));
    double f = ray.d > 0 ? 1.0 / ray.d : 0.0;
    ray.u = cage_make(v.x * f, v.y * f, v.z * f);
    return ray;
}

// What a triangle gives to its corners, and how it stands to the point.
STRUCT(cage_share)
{
    double a, b, c;
    double volume;     // det [ua ub uc]
    double angles;     // half the sum of the three: pi on the triangle
    double half_solid; // half its solid angle, signed
    double ia, ib, ic; // on the triangle: barycentric coordinates times a common factor
};

FN cage_share cage_triangle(cage_ray a, cage_ray b, cage_ray c)
{
    cage_share s;
    cage_vector na = cage_cross(b.u, c.u), nb = cage_cross(c.u, a.u), nc = cage_cross(a.u, b.u);
    double la = ROOT(cage_dot(na, na)), lb = ROOT(cage_dot(nb, nb)), lc = ROOT(cage_dot(nc, nc));
    double ta = cage_angle(la, cage_dot(b.u, c.u)), tb = cage_angle(lb, cage_dot(c.u, a.u)),
           tc = cage_angle(lc, cage_dot(a.u, b.u));
    double fa = la > 0 ? 0.5 * ta / la : 0.0, fb = lb > 0 ? 0.5 * tb / lb : 0.0,
           fc = lc > 0 ? 0.5 * tc / lc : 0.0;
    cage_vector m = cage_make(fa * na.x + fb * nb.x + fc * nc.x, fa * na.y + fb * nb.y + fc * nc.y,
                              fa * na.z + fb * nb.z + fc * nc.z);
    s.volume = cage_dot(a.u, na);
    s.angles = 0.5 * (ta + tb + tc);
    s.half_solid = cage_angle(MAGNITUDE(s.volume),
                              1.0 + cage_dot(a.u, b.u) + cage_dot(b.u, c.u) + cage_dot(c.u, a.u));
    s.half_solid = s.volume < 0 ? -s.half_solid : s.half_solid;
    s.a = cage_dot(na, m) / (a.d * s.volume);
    s.b = cage_dot(nb, m) / (b.d * s.volume);
    s.c = cage_dot(nc, m) / (c.d * s.volume);
    s.ia = la * b.d * c.d;
    s.ib = lb * c.d * a.d;
    s.ic = lc * a.d * b.d;
    return s;
}

ITEM_KERNEL(cage_mean_value, CAGE_MEAN_VALUE_BUFFERS)
{
    ITEM_BEGIN
    const cage_vector x = cage_make(points[3 * (INDEX)item], points[3 * (INDEX)item + 1],
                                    points[3 * (INDEX)item + 2]);
    const INDEX own = (INDEX)item * given.point_stride;
    int touched = -1, face = -1;
    double ia = 0, ib = 0, ic = 0, sum = 0, size = 0, half_solid = 0;
    for (int c = 0; c < given.control_count; c++) {
        cage_vector v =
            cage_make(controls[3 * c] - x.x, controls[3 * c + 1] - x.y, controls[3 * c + 2] - x.z);
        weights[own + (INDEX)c * given.control_stride] = 0;
        if (touched < 0 && cage_dot(v, v) <= given.nearest * given.nearest) touched = c;
    }
    for (int t = 0; t < given.triangle_count && touched < 0 && face < 0; t++) {
        const int a = triangles[3 * t], b = triangles[3 * t + 1], c = triangles[3 * t + 2];
        cage_share s =
            cage_triangle(cage_ray_of(cage_make(controls[3 * a] - x.x, controls[3 * a + 1] - x.y,
                                                controls[3 * a + 2] - x.z)),
                          cage_ray_of(cage_make(controls[3 * b] - x.x, controls[3 * b + 1] - x.y,
                                                controls[3 * b + 2] - x.z)),
                          cage_ray_of(cage_make(controls[3 * c] - x.x, controls[3 * c + 1] - x.y,
                                                controls[3 * c + 2] - x.z)));
        half_solid += s.half_solid;
        if (MAGNITUDE(s.volume) >= CAGE_FLAT) {
            weights[own + (INDEX)a * given.control_stride] += s.a;
            weights[own + (INDEX)b * given.control_stride] += s.b;
            weights[own + (INDEX)c * given.control_stride] += s.c;
        } else if (CAGE_PI - s.angles < CAGE_FACE) {
            face = t;
            ia = s.ia;
            ib = s.ib;
            ic = s.ic;
        }
    }
    if (touched >= 0 || face >= 0)
        for (int c = 0; c < given.control_count; c++)
            weights[own + (INDEX)c * given.control_stride] = 0;
    if (touched >= 0) weights[own + (INDEX)touched * given.control_stride] = 1;
    if (face >= 0) {
        weights[own + (INDEX)triangles[3 * face] * given.control_stride] = ia;
        weights[own + (INDEX)triangles[3 * face + 1] * given.control_stride] = ib;
        weights[own + (INDEX)triangles[3 * face + 2] * given.control_stride] = ic;
    }
    for (int c = 0; c < given.control_count; c++) {
        double w = weights[own + (INDEX)c * given.control_stride];
        sum += w;
        size += MAGNITUDE(w);
    }
    status[item] = (MAGNITUDE(sum) > 1e-12 * size ? 0 : 1) +
                   (touched < 0 && face < 0 && half_solid < CAGE_PI ? 2 : 0);
    for (int c = 0; c < given.control_count; c++)
        weights[own + (INDEX)c * given.control_stride] /= sum;
    ITEM_END
}

ITEM_KERNEL(cage_weights_to_float, CAGE_WEIGHTS_TO_FLOAT_BUFFERS)
{
    ITEM_BEGIN
    for (int c = 0; c < given.control_count; c++)
        out[(INDEX)item * given.control_count + c] =
            (float)weights[(INDEX)item * given.point_stride + (INDEX)c * given.control_stride];
    ITEM_END
}

// Harmonic coordinates --------------------------------------------------------------------------

ITEM_KERNEL(cage_relax, CAGE_RELAX_BUFFERS)
{
    ITEM_BEGIN
    const int node = given.first + item / given.groups, lane = given.width * (item % given.groups);
    const INDEX own = (INDEX)node * given.lanes + lane, arm = 6 * (INDEX)node;
    const INDEX n0 = (INDEX)neighbours[arm] * given.lanes + lane,
                n1 = (INDEX)neighbours[arm + 1] * given.lanes + lane,
                n2 = (INDEX)neighbours[arm + 2] * given.lanes + lane,
                n3 = (INDEX)neighbours[arm + 3] * given.lanes + lane,
                n4 = (INDEX)neighbours[arm + 4] * given.lanes + lane,
                n5 = (INDEX)neighbours[arm + 5] * given.lanes + lane;
    const double c0 = coefficients[arm], c1 = coefficients[arm + 1], c2 = coefficients[arm + 2],
                 c3 = coefficients[arm + 3], c4 = coefficients[arm + 4], c5 = coefficients[arm + 5];
    const INDEX row = rows[node] < 0 ? -1 : (INDEX)rows[node] * given.lanes + lane;
    for (int l = 0; l < given.width; l++) {
        double mean = ((c0 * values[n0 + l] + c1 * values[n1 + l]) +
                       (c2 * values[n2 + l] + c3 * values[n3 + l])) +
                      (c4 * values[n4 + l] + c5 * values[n5 + l]);
        if (row >= 0) mean += fixed[row + l];
        values[own + l] += given.omega * (mean - values[own + l]);
    }
    ITEM_END
}

ITEM_KERNEL(cage_relax_residual, CAGE_RELAX_RESIDUAL_BUFFERS)
{
    ITEM_BEGIN
    INDEX node = (INDEX)item * given.stretch, end = node + given.stretch;
    double most = 0;
    if (end > given.node_count) end = given.node_count;
    for (; node < end; node++)
        for (int l = 0; l < given.lanes; l++) {
            double mean = rows[node] < 0 ? 0.0 : fixed[(INDEX)rows[node] * given.lanes + l];
            for (int k = 0; k < 6; k++)
                mean += coefficients[6 * node + k] *
                        values[(INDEX)neighbours[6 * node + k] * given.lanes + l];
            double change = MAGNITUDE(mean - values[node * given.lanes + l]);
            most = change > most ? change : most;
        }
    out[item] = most;
    ITEM_END
}

// Frames ----------------------------------------------------------------------------------------
//
// Products and sums apart, no FMA: nothing here cancels that a fused product would save, the bits
// are the same everywhere, and machines without the instruction do not emulate it.

// A normal is trusted while adj(X) Y n is this part of |X|^2 |Y n|: float noise is a hundredth of
// that. Below it the kept controls lie in a plane, and the faces around the vertex decide.
#define CAGE_THIN 1e-5

STRUCT(cage_point)
{
    ELEM x, y, z;
};

// X = sum of g c^T, row by row.
STRUCT(cage_moments)
{
    ELEM xx, xy, xz, yx, yy, yz, zx, zy, zz;
};

FN cage_point cage_point_of(ELEM x, ELEM y, ELEM z)
{
    cage_point p = { x, y, z };
    return p;
}

FN cage_moments cage_moments_add(cage_moments m, cage_point g, cage_point c)
{
    cage_moments r = { m.xx + g.x * c.x, m.xy + g.x * c.y, m.xz + g.x * c.z,
                       m.yx + g.y * c.x, m.yy + g.y * c.y, m.yz + g.y * c.z,
                       m.zx + g.z * c.x, m.zy + g.z * c.y, m.zz + g.z * c.z };
    return r;
}

FN ELEM cage_point_dot(cage_point a, cage_point b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

// At unit length; zero stays zero. Through double, whose roots and quotients are the same
// everywhere.
FN cage_point cage_unit(cage_point p)
{
    double square = (double)p.x * p.x + (double)p.y * p.y + (double)p.z * p.z;
    double factor = square > 0 ? 1.0 / ROOT(square) : 0.0;
    return cage_point_of((ELEM)(p.x * factor), (ELEM)(p.y * factor), (ELEM)(p.z * factor));
}

// The unit normal sgn(det X) adj(X) q, q = Y n at unit length; zero where it is not trusted.
FN cage_point cage_normal(cage_moments m, cage_point q)
{
    // Rows of the adjugate.
    cage_point a = cage_point_of(m.yy * m.zz - m.yz * m.zy, m.xz * m.zy - m.xy * m.zz,
                                 m.xy * m.yz - m.xz * m.yy);
    cage_point b = cage_point_of(m.yz * m.zx - m.yx * m.zz, m.xx * m.zz - m.xz * m.zx,
                                 m.xz * m.yx - m.xx * m.yz);
    cage_point c = cage_point_of(m.yx * m.zy - m.yy * m.zx, m.xy * m.zx - m.xx * m.zy,
                                 m.xx * m.yy - m.xy * m.yx);
    cage_point r = cage_point_of(cage_point_dot(a, q), cage_point_dot(b, q), cage_point_dot(c, q));
    ELEM det = m.xx * a.x + m.xy * b.x + m.xz * c.x;
    double size = (double)m.xx * m.xx + (double)m.xy * m.xy + (double)m.xz * m.xz +
                  (double)m.yx * m.yx + (double)m.yy * m.yy + (double)m.yz * m.yz +
                  (double)m.zx * m.zx + (double)m.zy * m.zy + (double)m.zz * m.zz;
    double square = (double)r.x * r.x + (double)r.y * r.y + (double)r.z * r.z;
    double least = CAGE_THIN * size;
    double length = (double)q.x * q.x + (double)q.y * q.y + (double)q.z * q.z;
    if (!(square > least * least * length)) r = cage_point_of(0, 0, 0);
    if (det < 0) r = cage_point_of(-r.x, -r.y, -r.z);
    return cage_unit(r);
}

#define CAGE_POINT_AT(p, i) cage_point_of((p)[(i)], (p)[(i) + 1], (p)[(i) + 2])

ITEM_KERNEL(cage_deform, CAGE_DEFORM_BUFFERS)
{
    ITEM_BEGIN
    const int instance = item / given.vertex_count, vertex = item - instance * given.vertex_count;
    const INDEX own = (INDEX)vertex * given.vertex_stride,
                frame = given.posed_first + 3 * (INDEX)instance * given.control_count;
    const INDEX to = given.position_first + (INDEX)item * given.position_stride;
    cage_point p = cage_point_of(0, 0, 0);
    for (int s = 0; s < given.slot_count; s++) {
        const INDEX at = own + (INDEX)s * given.slot_stride;
        const cage_point c = CAGE_POINT_AT(posed, frame + 3 * slot_controls[at]);
        const ELEM w = slot_weights[at];
        p = cage_point_of(p.x + w * c.x, p.y + w * c.y, p.z + w * c.z);
    }
    positions[to] = p.x;
    positions[to + 1] = p.y;
    positions[to + 2] = p.z;
    if (given.with_normals) {
        const INDEX out = given.normal_first + (INDEX)item * given.normal_stride;
        const ELEM scale = centres[4 * (INDEX)vertex + 3];
        const cage_point centre = CAGE_POINT_AT(centres, 4 * (INDEX)vertex),
                         q = CAGE_POINT_AT(rest_normals, 3 * (INDEX)vertex);
        cage_moments m;
        m.xx = m.xy = m.xz = m.yx = m.yy = m.yz = m.zx = m.zy = m.zz = 0;
        for (int s = 0; s < given.slot_count; s++) {
            const INDEX at = own + (INDEX)s * given.slot_stride;
            const int control = 3 * slot_controls[at];
            const ELEM w = slot_weights[at], square = scale * (w * w);
            const cage_point c = CAGE_POINT_AT(posed, frame + control),
                             g = CAGE_POINT_AT(rest, control);
            m = cage_moments_add(m,
                                 cage_point_of(square * (g.x - centre.x), square * (g.y - centre.y),
                                               square * (g.z - centre.z)),
                                 cage_point_of(c.x - p.x, c.y - p.y, c.z - p.z));
        }
        const cage_point n = cage_normal(m, q);
        normals[out] = n.x;
        normals[out + 1] = n.y;
        normals[out + 2] = n.z;
        if (n.x == 0 && n.y == 0 && n.z == 0) RAISE(thin[0]);
    }
    ITEM_END
}

ITEM_KERNEL(cage_face_normals, CAGE_FACE_NORMALS_BUFFERS)
{
    ITEM_BEGIN
    if (thin[0]) {
        const int instance = item / given.vertex_count,
                  vertex = item - instance * given.vertex_count;
        const INDEX out = given.normal_first + (INDEX)item * given.normal_stride,
                    base = given.position_first +
                           (INDEX)instance * given.vertex_count * given.position_stride;
        if (normals[out] == 0 && normals[out + 1] == 0 && normals[out + 2] == 0) {
            cage_point sum = cage_point_of(0, 0, 0);
            for (int f = face_first[vertex]; f < face_first[vertex + 1]; f++) {
                const cage_point a = CAGE_POINT_AT(positions, base + (INDEX)faces[3 * f] *
                                                                         given.position_stride),
                                 b = CAGE_POINT_AT(positions, base + (INDEX)faces[3 * f + 1] *
                                                                         given.position_stride),
                                 c = CAGE_POINT_AT(positions, base + (INDEX)faces[3 * f + 2] *
                                                                         given.position_stride);
                const ELEM ux = b.x - a.x, uy = b.y - a.y, uz = b.z - a.z;
                const ELEM vx = c.x - a.x, vy = c.y - a.y, vz = c.z - a.z;
                sum = cage_point_of(sum.x + (uy * vz - uz * vy), sum.y + (uz * vx - ux * vz),
                                    sum.z + (ux * vy - uy * vx));
            }
            sum = cage_unit(sum);
            normals[out] = sum.x;
            normals[out + 1] = sum.y;
            normals[out + 2] = sum.z;
        }
    }
    ITEM_END
}

#endif
