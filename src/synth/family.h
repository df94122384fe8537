/// Bodies of eight kinds with proportions and rest pose drawn from a seed, and the truth about
/// them: parts, joints, weights. Rule and numbers: docs/spec/family.md.
///
/// A kind's builder lays bones and flesh (rows of the shape function) out in a neutral pose, in
/// millimetres, y up, facing +z, left +x; then it turns bones. Flesh is rigid on its bone, so the
/// surface is made in the rest pose itself and no skinning has stretched it.
#ifndef CUTIS_SYNTH_FAMILY_H
#define CUTIS_SYNTH_FAMILY_H

#include "synth/body.h"
#include "synth/shape.h"
#include "synth/trig.h"

#define FAMILY_PART_MAX 16

typedef struct family_bone {
    char name[24];
    int parent, side; ///< side as of synth_joint
    vec3 pivot;       ///< neutral; after cutis_family_pose: in the rest pose
    double blend;     ///< half-width of the weight transition
    synth_quat turn;  ///< against the parent; after cutis_family_pose: against the world
} family_bone;

/// Of one row of the shape function: whom it belongs to, and where in its limb it is.
typedef struct family_flesh {
    int bone, part;
    int limb;  ///< 0: the trunk
    int place; ///< from where the limb leaves the trunk; neighbours may touch
} family_flesh;

typedef struct family {
    uint64_t seed, stream, index; ///< of the next draw
    uint64_t pose_stream;
    cutis_family_kind kind;
    cutis_family_pose pose;
    double plump; ///< 0 thin, 1 plump
    double scale; ///< size of the finished body against the neutral millimetres
    family_bone bones[SYNTH_JOINT_MAX];
    family_flesh flesh[SYNTH_PRIMITIVE_MAX];
    synth_row rows[SYNTH_PRIMITIVE_MAX];
    char parts[FAMILY_PART_MAX][24];
    int bone_count, flesh_count, part_count;
    int limb, limb_count, place; ///< of the flesh to come
} family;

/// Uniform in [low, high): the next number of the stream.
double cutis_family_draw(family *f, double low, double high);
/// low for the thinnest, high for the plumpest.
double cutis_family_flesh(const family *f, double low, double high);
/// NAME, NAME_l or NAME_r; returns its number.
int cutis_family_part(family *f, const char *name, int side);
int cutis_family_bone(family *f, const char *name, int side, int parent, vec3 pivot, double blend);
/// Flesh from here on is of a new limb, or of the trunk again.
void cutis_family_limb(family *f);
void cutis_family_trunk(family *f);
/// A round cone on a bone, of a part.
void cutis_family_cone(family *f, int bone, int part, vec3 a, double ra, vec3 b, double rb,
                       double k);
/// The same, flattened along an axis.
void cutis_family_flat(family *f, int bone, int part, vec3 a, double ra, vec3 b, double rb,
                       double k, double flat, vec3 axis);
/// An ellipsoid, pitched about x by degrees.
void cutis_family_blob(family *f, int bone, int part, vec3 centre, vec3 radii, double k,
                       double pitch);
/// Turn a bone by R(degrees) after what it was turned already; right-hand bones get the mirror
/// image.
void cutis_family_turn(family *f, int bone, vec3 degrees);
/// The point or direction mirrored to a side (1: as it is).
static inline vec3 family_side(int side, double x, double y, double z)
{
    return v3(side * x, y, z);
}

void cutis_family_human(family *f);
void cutis_family_bear(family *f);
void cutis_family_quadruped(family *f);
void cutis_family_bird(family *f);
void cutis_family_fish(family *f);
void cutis_family_octopus(family *f);
void cutis_family_insect(family *f);
void cutis_family_hand(family *f);

/// Bones and the shape's primitives (row i of the family is primitive i) into the rest pose.
void cutis_family_pose_shape(family *f, shape *s);
/// No two pieces of flesh that are not neighbours come so near that they would grow together.
bool cutis_family_is_clear(const family *f, const shape *s);

/// Per triangle of a closed surface: the bone or part of the nearest flesh, then islands joined to
/// what they lie in (docs/spec/family.md 2).
cutis_result cutis_family_labels(cutis_arena *arena, const family *f, const shape *s,
                                 const synth_surface *surface, bool parts, uint32_t *labels);

/// What scanning does, and an order that says nothing: noise along the normals, holes, then
/// vertices and triangles shuffled. Vertex and triangle counts of the surface shrink with holes.
/// @param parts per triangle; follows
/// @param weights per vertex; follows, in the arena
cutis_result cutis_family_scan_and_shuffle(cutis_arena *arena, const family *f, bool scan,
                                           synth_surface *surface, uint32_t *parts,
                                           cutis_influences *weights);

#endif
