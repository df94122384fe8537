/// Short names for the files that build kinds, which are mostly calls of these.
#ifndef CUTIS_SYNTH_FAMILY_KINDS_H
#define CUTIS_SYNTH_FAMILY_KINDS_H

#include "synth/family.h"

#define draw  cutis_family_draw
#define fat   cutis_family_flesh
#define part  cutis_family_part
#define bone  cutis_family_bone
#define limb  cutis_family_limb
#define trunk cutis_family_trunk
#define cone  cutis_family_cone
#define flat  cutis_family_flat
#define blob  cutis_family_blob
#define turn  cutis_family_turn
#define at    family_side

/// Draws from here on are the pose's: the same seed in another pose is the same body.
static inline void begin_pose(family *f)
{
    f->stream = f->pose_stream;
    f->index = 0;
}
/// Drawn to both sides alike.
static inline double either(family *f, double most)
{
    return draw(f, -most, most);
}
/// x, then y, then z. Two draws never stand in one expression or initialiser: C leaves their order
/// to the compiler, and bodies would be other ones with another compiler.
static inline vec3 draw3(family *f, vec3 low, vec3 high)
{
    double x = draw(f, low.x, high.x), y = draw(f, low.y, high.y), z = draw(f, low.z, high.z);
    return v3(x, y, z);
}
static inline vec3 either3(family *f, double x, double y, double z)
{
    return draw3(f, v3(-x, -y, -z), v3(x, y, z));
}

#endif
