/// Angles and rotations in degrees, the same bits on every machine.
#ifndef CUTIS_SYNTH_TRIG_H
#define CUTIS_SYNTH_TRIG_H

#include "geometry/vector.h"

#define SYNTH_PI 3.14159265358979323846

/// Angle of (x, y) in degrees, -180..180, within 1e-9.
double cutis_synth_atan2(double y, double x);

/// A rotation in double; x y z w.
typedef struct synth_quat {
    double x, y, z, w;
} synth_quat;

/// R(v) of docs/spec/characters.md 5: the rotation about v by |v| degrees.
synth_quat cutis_synth_rotation(vec3 degrees);
/// b first, then a.
synth_quat cutis_synth_quat_multiply(synth_quat a, synth_quat b);
vec3 cutis_synth_quat_rotate(synth_quat q, vec3 v);

#endif
