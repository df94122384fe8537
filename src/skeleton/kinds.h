/// What kind of body the limbs are of, and which limb is which.
#ifndef CUTIS_SKELETON_KINDS_H
#define CUTIS_SKELETON_KINDS_H

#include "skeleton/limbs.h"

typedef enum cutis_kind {
    CUTIS_KIND_HUMAN,
    CUTIS_KIND_QUADRUPED,
    CUTIS_KIND_BIRD,
    CUTIS_KIND_OCTOPUS,
    CUTIS_KIND_INSECT,
    CUTIS_KIND_BEAR,
    CUTIS_KIND_HAND,
    CUTIS_KIND_FISH,
    CUTIS_KIND_ANY, ///< none of these: limbs have no roles
    CUTIS_KIND_COUNT,
} cutis_kind;

/// What a limb is to its body.
typedef enum cutis_role {
    CUTIS_ROLE_NONE, ///< nothing that the kind has a name for
    CUTIS_ROLE_HEAD, ///< with the neck; of a fish its front, of an octopus its mantle
    CUTIS_ROLE_ARM,
    CUTIS_ROLE_LEG,
    CUTIS_ROLE_TAIL,
    CUTIS_ROLE_EAR, ///< of an insect its antennae
    CUTIS_ROLE_WING,
    CUTIS_ROLE_ABDOMEN,
    CUTIS_ROLE_FINGER,
    CUTIS_ROLE_STUMP, ///< of a hand
    CUTIS_ROLE_CAUDAL,
    CUTIS_ROLE_DORSAL,
    CUTIS_ROLE_ANAL,
    CUTIS_ROLE_PECTORAL,
    CUTIS_ROLE_UNTOLD, ///< of what a person may say (hints.h)
} cutis_role;

typedef struct cutis_kind_match {
    cutis_kind kind;
    double cost; ///< 0: as the kind is in the mean; beyond 1.5 it is something else
    cutis_role roles[CUTIS_LIMB_MOST]; ///< per limb
} cutis_kind_match;

/// How well limbs fit a kind, with the roles that fit best.
/// @param told per limb what a person says of it, which is hardly ever gone against
void cutis_kind_fit(const cutis_limb *limbs, uint32_t count, double diagonal,
                    const cutis_role *told, cutis_kind kind, cutis_kind_match *out);

/// The kind that fits best. @param next, second the next one and its cost
void cutis_kind_find(const cutis_limb *limbs, uint32_t count, double diagonal,
                     const cutis_role *told, cutis_kind_match *out, cutis_kind *next,
                     double *second);

/// The first role that a kind must have more limbs of than these; NONE: all are there.
cutis_role cutis_kind_lacks(cutis_kind kind, const cutis_role *roles, uint32_t count, uint32_t *has,
                            uint32_t *needs);

const char *cutis_kind_name(cutis_kind kind);
/// What one limb of a role is called.
const char *cutis_role_name(cutis_kind kind, cutis_role role);

#endif
