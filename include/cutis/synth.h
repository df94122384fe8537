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
    CUTIS_BODY_CROWD = 4,  ///< bipeds and quadrupeds on a grid
    CUTIS_BODY_FAMILY = 5, ///< drawn from a seed, with true parts, joints, weights; no clips
} cutis_body;

/// What kind of body a family is (docs/spec/family.md).
typedef enum cutis_family_kind {
    CUTIS_FAMILY_HUMAN = 0,
    CUTIS_FAMILY_QUADRUPED = 1,
    CUTIS_FAMILY_BIRD = 2,
    CUTIS_FAMILY_OCTOPUS = 3,
    CUTIS_FAMILY_INSECT = 4,
    CUTIS_FAMILY_BEAR = 5, ///< a plump toy
    CUTIS_FAMILY_HAND = 6,
    CUTIS_FAMILY_FISH = 7,
} cutis_family_kind;
#define CUTIS_FAMILY_KIND_COUNT 8

/// The rest pose; what each means for a kind: docs/spec/family.md 4.
typedef enum cutis_family_pose {
    CUTIS_FAMILY_POSE_AUTO = 0, ///< as the seed says
    CUTIS_FAMILY_POSE_A = 1,
    CUTIS_FAMILY_POSE_T = 2,
    CUTIS_FAMILY_POSE_SITTING = 3,
    CUTIS_FAMILY_POSE_BENT = 4,
} cutis_family_pose;

/// Noise and holes as scans have them.
typedef enum cutis_family_scan {
    CUTIS_FAMILY_SCAN_AUTO = 0, ///< as the seed says: every other one
    CUTIS_FAMILY_SCAN_ON = 1,
    CUTIS_FAMILY_SCAN_OFF = 2,
} cutis_family_scan;

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
    uint64_t seed;  ///< crowd and family
    uint32_t count; ///< crowd only: instances; 0 = 16
    bool examples;  ///< arm only: a further clip "examples", the poses of cutis_synth_arm_examples,
                    ///< one a second
    bool motions; ///< biped, quadruped: the clips walk, run, idle (and wave, on two legs) in place
                  ///< of its own; to be put on others (cutis/retarget.h)
    // Family only; its vertex_count is 2000 to 4 million, 0 = 8000, before holes.
    cutis_family_kind kind;
    cutis_family_pose pose;
    cutis_family_scan scan;
    bool
        unrigged; ///< the bare mesh: the same vertices and triangles without parts, joints, weights
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

/// "human", "quadruped", "bird", "octopus", "insect", "bear", "hand", "fish".
CUTIS_API const char *cutis_family_kind_name(cutis_family_kind kind);
CUTIS_API cutis_result cutis_family_kind_from_name(const char *name, cutis_family_kind *out);
/// The same options with pose and scan as the seed says where they are AUTO.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no options, or of no family)
CUTIS_API cutis_result cutis_family_resolve(const cutis_synth_options *options,
                                            cutis_synth_options *out);

/// "biped", "quadruped", "arm", "cylinder", "crowd", "family".
CUTIS_API const char *cutis_body_name(cutis_body body);
CUTIS_API cutis_result cutis_body_from_name(const char *name, cutis_body *out);

/// Signed distance (metres, outside positive; exact only near the surface) of a body's shape
/// function at a point; for tests and cages. Of a family, which is not one surface: NaN.
CUTIS_API double cutis_synth_distance(cutis_body body, double x, double y, double z);

/// The one generator: a 64-bit hash of (seed, stream, index). No state.
CUTIS_API uint64_t cutis_random_bits(uint64_t seed, uint64_t stream, uint64_t index);
/// In [0, 1), 53 bits.
CUTIS_API double cutis_random_unit(uint64_t seed, uint64_t stream, uint64_t index);

#ifdef __cplusplus
}
#endif
#endif
