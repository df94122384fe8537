/// The arc tangent and rotations: + - * / and sqrt only, so no library's libm decides a byte of a
/// character.
#include "synth/trig.h"

#include "geometry/sincos.h"

double cutis_synth_atan2(double y, double x)
{
    if (x == 0 && y == 0) return 0;
    // Halve the angle until the series converges fast: the direction's bisector with +x, three
    // times.
    double length = sqrt(x * x + y * y), u = x / length, v = y / length;
    if (u < -0.999999999999) return v < 0 ? -180 : 180;
    double tangent = v / (1 + u); // of half the angle; |tangent| may be large near 180
    double factor = 2;
    while (tangent > 0.15 || tangent < -0.15) {
        tangent = tangent / (1 + sqrt(1 + tangent * tangent));
        factor *= 2;
    }
    double s = tangent * tangent, sum = 0;
    for (int n = 15; n >= 1; n -= 2) sum = 1 / (double)n - s * sum;
    return factor * tangent * sum * (180 / SYNTH_PI);
}

synth_quat cutis_synth_rotation(vec3 degrees)
{
    double angle = v3_length(degrees), s, c;
    if (angle == 0) return (synth_quat){ 0, 0, 0, 1 };
    sincos_degrees(angle / 2, &s, &c);
    vec3 v = v3_scale(degrees, s / angle);
    return (synth_quat){ v.x, v.y, v.z, c };
}

synth_quat cutis_synth_quat_multiply(synth_quat a, synth_quat b)
{
    return (synth_quat){ a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                         a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                         a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w,
                         a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z };
}

vec3 cutis_synth_quat_rotate(synth_quat q, vec3 v)
{
    vec3 u = v3(q.x, q.y, q.z), t = v3_scale(v3_cross(u, v), 2);
    return v3_add(v3_mad(v, q.w, t), v3_cross(u, t));
}
