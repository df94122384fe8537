/// The signed shape function of a body, in millimetres: smooth union of round cones and ellipsoids.
#ifndef CUTIS_SYNTH_SHAPE_H
#define CUTIS_SYNTH_SHAPE_H

#include <cutis/base.h>
#include "synth/tables.h"
#include "geometry/vector.h"

#define SYNTH_PRIMITIVE_MAX 128

typedef struct shape_primitive {
    synth_kind kind;
    bool flattened;
    double k;
    vec3 centre;         ///< of the bounding sphere
    double radius;       ///< of the bounding sphere
    vec3 a, u, w;        ///< cone: start, direction, flattening axis
    double length, ra;   ///< cone
    double slope, shift; ///< cone: s and s / sqrt(1 - s^2)
    double cosine;       ///< cone: sqrt(1 - s^2)
    double stretch;      ///< cone: 1/f - 1
    vec3 axes[3];        ///< ellipsoid: columns of the rotation
    vec3 inverse;        ///< ellipsoid: 1 / radii
    double smallest;     ///< ellipsoid: least radius
} shape_primitive;

typedef struct shape {
    shape_primitive primitives[SYNTH_PRIMITIVE_MAX];
    int count;
    bool folded, has_floor;
    double floor_y, floor_k;
    const synth_size_row *sizes;
    int size_count;
    // Which primitives can matter in each cell of a coarse grid; filled on first visit. NULL: none
    // yet.
    cutis_context *context;
    vec3 grid_origin;
    int grid_size[3];
    uint8_t *lists; ///< per cell: count + 1 (0: not yet known), then indices
    size_t list_bytes;
} shape;

void cutis_synth_shape_init(shape *s, const synth_table *table);
/// Adds the candidate lists, which make evaluation several times faster inside the table's box and
/// change no bit of it.
cutis_result cutis_synth_shape_accelerate(shape *s, const synth_table *table,
                                          cutis_context *context);
void cutis_synth_shape_release(shape *s);

double cutis_synth_shape_distance(const shape *s, vec3 x);
/// The same without making a candidate list: for a place that is not visited again.
double cutis_synth_shape_distance_once(const shape *s, vec3 x);
/// Distance to one primitive alone.
double cutis_synth_shape_piece(const shape *s, int primitive, vec3 x);
/// Also the exact gradient.
double cutis_synth_shape_gradient(const shape *s, vec3 x, vec3 *gradient);
/// Relative edge length wanted at x, at most 1.
double cutis_synth_shape_size(const shape *s, vec3 x);

#endif
