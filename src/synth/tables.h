/// What a body is made of, as tables in millimetres and degrees: primitives of the shape function,
/// joints with their cuts, spheres of finer mesh. The recipe that
/// reads them: docs/spec/characters.md.
#ifndef CUTIS_SYNTH_TABLES_H
#define CUTIS_SYNTH_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum synth_kind {
    SYNTH_CONE,   ///< a, radius ra to b, radius rb; flattened by `flat` along `axis`
    SYNTH_BLOB,   ///< ellipsoid: centre a, radii b, turned by `axis` degrees (Rz Ry Rx)
    SYNTH_HOLLOW, ///< the same, taken away
} synth_kind;

typedef struct synth_row {
    synth_kind kind;
    double a[3], ra, b[3], rb, k, axis[3], flat;
} synth_row;

#define FLAT(ax, ay, az, ra, bx, by, bz, rb, k, f, wx, wy, wz)                                     \
    {                                                                                              \
        SYNTH_CONE, { ax, ay, az }, ra, { bx, by, bz }, rb, k, { wx, wy, wz }, f                   \
    }
#define CONE(ax, ay, az, ra, bx, by, bz, rb, k) FLAT(ax, ay, az, ra, bx, by, bz, rb, k, 1, 0, 0, 0)
#define ELLIPSOID(kind, cx, cy, cz, rx, ry, rz, k, ax, ay, az)                                     \
    {                                                                                              \
        kind, { cx, cy, cz }, 0, { rx, ry, rz }, 0, k, { ax, ay, az }, 1                           \
    }
#define BLOB(...)   ELLIPSOID(SYNTH_BLOB, __VA_ARGS__)
#define HOLLOW(...) ELLIPSOID(SYNTH_HOLLOW, __VA_ARGS__)

typedef struct synth_joint_row {
    const char *name, *parent;
    bool sided; ///< exists as NAME_l and, mirrored, NAME_r
    double pivot[3], cut[3], normal[3];
    double blend; ///< half-width of the weight transition; 0: this part is where the labels start
} synth_joint_row;

typedef struct synth_size_row {
    double centre[3], radius, size;
} synth_size_row;

/// Consecutive rows of a table; a body is up to three runs, so that variants share what is equal.
#define SYNTH_RUN(row)                                                                             \
    struct {                                                                                       \
        const row *rows;                                                                           \
        size_t count;                                                                              \
    }
#define SYNTH_ROWS(array)                                                                          \
    {                                                                                              \
        array, sizeof array / sizeof *array                                                        \
    }

typedef struct synth_table {
    const char *name;
    SYNTH_RUN(synth_row) runs[3];
    SYNTH_RUN(synth_joint_row) joints[3];
    SYNTH_RUN(synth_size_row) sizes;
    bool mirrored; ///< the table is the left half, x >= 0
    bool has_floor;
    double floor_y, floor_k;
    double box_min[3], box_max[3];
    double cell;           ///< of the extraction grid
    uint32_t vertices_min; ///< fewer cannot carry the parts
    bool rooted;           ///< joint 0 is fixed: no part, no weight (the arm's `base`)
} synth_table;

/// More than any body's joints, sides counted.
#define SYNTH_JOINT_MAX 64

extern const synth_table cutis_synth_biped, cutis_synth_mitten, cutis_synth_quadruped,
    cutis_synth_arm;

#endif
