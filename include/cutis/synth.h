/// Characters made by code: closed, manifold, rigged, animated, the same bytes on every machine.
/// Threads: nothing is kept between calls, so several may make characters at once.
#ifndef CUTIS_SYNTH_H
#define CUTIS_SYNTH_H

#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cutis_body {
    CUTIS_BODY_BIPED = 0,     ///< 41 joints with fingers (29 below 3000 vertices: mittens)
    CUTIS_BODY_QUADRUPED = 1, ///< a lean hound, 28 joints
    CUTIS_BODY_ARM = 2,       ///< collar, shoulder, elbow, wrist
    CUTIS_BODY_CYLINDER =
        3, ///< radius 1, length 8, two bones: the reference body of the blending tests
    CUTIS_BODY_CROWD = 4, ///< bipeds and quadrupeds on a grid
} cutis_body;

typedef enum cutis_body_size {
    CUTIS_BODY_SIZE_DEFAULT = 0, ///< biped 12000, quadruped 8000, arm low
    CUTIS_BODY_SIZE_LOW = 1,     ///< arm 2972 vertices, biped 3000, quadruped 1500
    CUTIS_BODY_SIZE_MID = 2,     ///< arm 11574, biped 12000, quadruped 8000
    CUTIS_BODY_SIZE_HIGH = 3,    ///< 46036 each
} cutis_body_size;

typedef struct cutis_synth_options {
    cutis_body body;
    uint32_t vertex_count; ///< 0: by size
    cutis_body_size size;
    uint64_t seed;  ///< crowd only
    uint32_t count; ///< crowd only: instances; 0 = 16
    bool examples;  ///< arm only: a further clip "examples", the poses of cutis_synth_arm_examples,
                    ///< one a second
} cutis_synth_options;

/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (a vertex count the body cannot have; the error says
/// the limits), CUTIS_CANCELLED
CUTIS_API cutis_result cutis_synth_create(cutis_context *context,
                                          const cutis_synth_options *options, cutis_model **out);

/// Example poses of the arm: rest, elbow 45 and 90, shoulder 45 and 90, wrist 45 and 90, collar 20
/// degrees.
#define CUTIS_ARM_EXAMPLE_COUNT 8

/// The arm's eight example shapes for pose-space fits: the poses of its clip "examples" (key k at k
/// seconds) under linear blend skinning, with a muscle on the front (+z) side that swells in rest
/// space by 9 mm * sum over joints of sin(angle) * weight * max(0, n_z), along the normal n.
/// Metres, world space.
/// @param arm       what cutis_synth_create made for CUTIS_BODY_ARM (any size, with or without the
/// clip)
/// @param positions 8 * cutis_model_vertex_count(arm) * 3 floats of caller memory, shape after
/// shape
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (another model)
CUTIS_API cutis_result cutis_synth_arm_examples(const cutis_model *arm, float *positions);

/// "biped", "quadruped", "arm", "cylinder", "crowd".
CUTIS_API const char *cutis_body_name(cutis_body body);
CUTIS_API cutis_result cutis_body_from_name(const char *name, cutis_body *out);

/// Signed distance (metres, outside positive; exact only near the surface) of a body's shape
/// function at a point; for tests and cages.
CUTIS_API double cutis_synth_distance(cutis_body body, double x, double y, double z);

/// The one generator: a 64-bit hash of (seed, stream, index). No state.
CUTIS_API uint64_t cutis_random_bits(uint64_t seed, uint64_t stream, uint64_t index);
/// In [0, 1), 53 bits.
CUTIS_API double cutis_random_unit(uint64_t seed, uint64_t stream, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
