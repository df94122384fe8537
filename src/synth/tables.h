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
    double a[3], ra, b[3], rb, k, flat, axis[3];
} synth_row;

#define CONE(ax, ay, az, ra, bx, by, bz, rb, k)                                                    \
    {                                                                                              \
        SYNTH_CONE, { ax, ay, az }, ra, { bx, by, bz }, rb, k, 1,                                  \
        {                                                                                          \
            0, 0, 0                                                                                \
        }                                                                                          \
    }
#define FLAT(ax, ay, az, ra, bx, by, bz, rb, k, f, wx, wy, wz)                                     \
    {                                                                                              \
        SYNTH_CONE, { ax, ay, az }, ra, { bx, by, bz }, rb, k, f,                                  \
        {                                                                                          \
            wx, wy, wz                                                                             \
        }                                                                                          \
    }
#define BLOB(cx, cy, cz, rx, ry, rz, k, ax, ay, az)                                                \
    {                                                                                              \
        SYNTH_BLOB, { cx, cy, cz }, 0, { rx, ry, rz }, 0, k, 1,                                    \
        {                                                                                          \
            ax, ay, az                                                                             \
        }                                                                                          \
    }
#define HOLLOW(cx, cy, cz, rx, ry, rz, k, ax, ay, az)                                              \
    {                                                                                              \
        SYNTH_HOLLOW, { cx, cy, cz }, 0, { rx, ry, rz }, 0, k, 1,                                  \
        {                                                                                          \
            ax, ay, az                                                                             \
        }                                                                                          \
    }

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
typedef struct synth_run {
    const synth_row *rows;
    size_t count;
} synth_run;

typedef struct synth_joint_run {
    const synth_joint_row *rows;
    size_t count;
} synth_joint_run;

typedef struct synth_table {
    const char *name;
    synth_run runs[3];
    synth_joint_run joints[3];
    const synth_size_row *sizes;
    size_t size_count;
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
