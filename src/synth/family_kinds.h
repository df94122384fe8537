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

#endif
