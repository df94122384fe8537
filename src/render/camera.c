/// Cameras: framing a box, and the few 4x4 matrices that needs.
#include "render/renderer.h"

#include "geometry/vector.h"

#include <math.h>

static const double PI = 3.14159265358979323846;

cutis_mat4 cutis_mat4_multiply(const cutis_mat4 *a, const cutis_mat4 *b)
{
    cutis_mat4 r;
    for (int c = 0; c < 4; c++)
        for (int i = 0; i < 4; i++) {
            double sum = 0;
            for (int k = 0; k < 4; k++) sum += a->m[4 * k + i] * b->m[4 * c + k];
            r.m[4 * c + i] = sum;
        }
    return r;
}

cutis_mat4 cutis_mat4_look(const double eye[3], const double target[3], const double up[3])
{
    vec3 from = v3_of(eye), back = v3_direction(v3_sub(from, v3_of(target)));
    vec3 right = v3_cross(v3_of(up), back);
    if (v3_dot(right, right) < 1e-12) right = v3_cross(v3(0, 0, -1), back); // straight down
    right = v3_direction(right);
    const vec3 rows[3] = { right, v3_cross(back, right), back };
    cutis_mat4 r = { { 0 } };
    for (int i = 0; i < 3; i++) {
        r.m[i] = rows[i].x, r.m[4 + i] = rows[i].y, r.m[8 + i] = rows[i].z;
        r.m[12 + i] = -v3_dot(rows[i], from);
    }
    r.m[15] = 1;
    return r;
}

static cutis_mat4 perspective(double tan_half_y, double aspect, double near, double far)
{
    cutis_mat4 r = { { 0 } };
    r.m[0] = 1 / (tan_half_y * aspect);
    r.m[5] = 1 / tan_half_y;
    r.m[10] = -(far + near) / (far - near);
    r.m[11] = -1;
    r.m[14] = -2 * far * near / (far - near);
    return r;
}

cutis_mat4 cutis_mat4_orthographic(double half_width, double half_height, double near, double far)
{
    cutis_mat4 r = { { 0 } };
    r.m[0] = 1 / half_width;
    r.m[5] = 1 / half_height;
    r.m[10] = -2 / (far - near);
    r.m[14] = -(far + near) / (far - near);
    r.m[15] = 1;
    return r;
}

bool cutis_mat4_project(const cutis_mat4 *m, const double point[3], double out[3])
{
    double r[4];
    for (int i = 0; i < 4; i++)
        r[i] = m->m[i] * point[0] + m->m[4 + i] * point[1] + m->m[8 + i] * point[2] + m->m[12 + i];
    if (!(r[3] > 0)) return false;
    for (int i = 0; i < 3; i++) out[i] = r[i] / r[3];
    return true;
}

/// The smallest distance from the target at which all corners of the box fit in the picture, with a
/// margin.
static double fitting_distance(const cutis_bounds *box, const double target[3],
                               const cutis_mat4 *turn, double tan_x, double tan_y)
{
    static const double MARGIN = 1.12;
    double best = 0;
    for (int corner = 0; corner < 8; corner++) {
        double p[3] = { corner & 1 ? box->max.x : box->min.x, corner & 2 ? box->max.y : box->min.y,
                        corner & 4 ? box->max.z : box->min.z };
        double d[3] = { p[0] - target[0], p[1] - target[1], p[2] - target[2] }, v[3];
        for (int i = 0; i < 3; i++)
            v[i] = turn->m[i] * d[0] + turn->m[4 + i] * d[1] + turn->m[8 + i] * d[2];
        double wanted = fmax(MARGIN * fabs(v[0]) / tan_x, MARGIN * fabs(v[1]) / tan_y) + v[2];
        best = fmax(best, wanted);
    }
    return best;
}

cutis_view cutis_view_frame(const cutis_camera *camera, const cutis_bounds *box, double aspect)
{
    cutis_view view;
    vec3 size = { box->max.x - box->min.x, box->max.y - box->min.y, box->max.z - box->min.z };
    view.target[0] = 0.5 * (box->min.x + box->max.x);
    view.target[1] = 0.5 * (box->min.y + box->max.y);
    view.target[2] = 0.5 * (box->min.z + box->max.z);
    view.radius = fmax(0.5 * v3_length(size), 1e-6);
    double yaw = camera->yaw * PI / 180, pitch = camera->pitch * PI / 180;
    double direction[3] = { sin(yaw) * cos(pitch), sin(pitch), cos(yaw) * cos(pitch) };
    double tan_y = tan((camera->field_of_view > 0 ? camera->field_of_view : 28) * PI / 360);
    double eye[3];
    for (int i = 0; i < 3; i++) eye[i] = view.target[i] + direction[i];
    cutis_mat4 turn = cutis_mat4_look(eye, view.target, (double[3]){ 0, 1, 0 });
    double distance = camera->distance > 0
                          ? camera->distance * view.radius
                          : fitting_distance(box, view.target, &turn, tan_y * aspect, tan_y);
    distance = fmax(distance, 1e-3 * view.radius);
    for (int i = 0; i < 3; i++) view.eye[i] = view.target[i] + distance * direction[i];
    view.view = cutis_mat4_look(view.eye, view.target, (double[3]){ 0, 1, 0 });
    double near = fmax(distance - 4 * view.radius, 0.01 * distance);
    view.projection = perspective(tan_y, aspect, near, distance + 30 * view.radius);
    view.both = cutis_mat4_multiply(&view.projection, &view.view);
    return view;
}
