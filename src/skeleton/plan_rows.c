// Joints and borders along limbs. People's proportions are those of anthropometry (of an arm from
// the fingertips: wrist at 0.24, elbow at 0.58, shoulder at 1; a limb's length here reaches a tenth
// beyond the shoulder); all of them are medians, or what most joints are near, over bodies of
// `cutis synth family` with the seeds 100 to 107 and 2000 to 2023.
#include "skeleton/plan_rows.h"

const plan_row CUTIS_PLAN_ROWS[] = {
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_LEG, 0, FROM_TIP, "thigh", .99, "thigh", 1.02 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_LEG, 0, FROM_TIP, "shin", .58, "shin", .60 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_LEG, 0, FROM_TIP, "foot", .20, "foot", .205 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_LEG, 0, FROM_TIP, "toes", .08, 0, 0 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_ARM, 0, FROM_TIP, "upperarm", .99, "upperarm", .89 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_ARM, 0, AFTER_WAIST, "forearm", .585, "forearm", .56 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_ARM, 0, AT_WAIST, "hand", PLAN_WRIST, "hand", PLAN_WRIST },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_HEAD, 0, FROM_TIP, "neck", .97, 0, 0 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_HEAD, 0, FROM_TIP, "head", .67, "head", .87 },

    { CUTIS_KIND_HUMAN, CUTIS_ROLE_TAIL, 0, FROM_TIP, "tail1", 1.05, "tail", .96 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_TAIL, 0, FROM_TIP, "tail2", .5, 0, 0 },
    { CUTIS_KIND_HUMAN, CUTIS_ROLE_EAR, 0, FROM_TIP, "ear", .86, "ear", .90 },

    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_LEG, 0, FROM_TIP, "upperarm", 1.20, "front_upper", 1.06 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_LEG, 0, FROM_TIP, "forearm", .64, "front_lower", .62 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_LEG, 0, FROM_TIP, "hand", .25, 0, 0 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_LEG, 1, FROM_TIP, "thigh", 1.14, "hind_upper", 1.10 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_LEG, 1, FROM_TIP, "shin", .62, "hind_lower", .59 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_LEG, 1, FROM_TIP, "foot", .23, 0, 0 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_HEAD, 0, FROM_TIP, 0, 0, "neck", .94 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_HEAD, 0, FROM_PEAK, "head", .15, "head", .3 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_TAIL, 0, FROM_TIP, "tail1", 1.05, "tail", .96 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_TAIL, 0, FROM_TIP, "tail2", .64, 0, 0 },
    { CUTIS_KIND_QUADRUPED, CUTIS_ROLE_TAIL, 0, FROM_TIP, "tail3", .33, 0, 0 },

    { CUTIS_KIND_BIRD, CUTIS_ROLE_WING, 0, FROM_TIP, "wing1", 1.02, "wing", 1.04 },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_WING, 0, FROM_TIP, "wing2", .71, 0, 0 },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_WING, 0, FROM_TIP, "wing3", .44, 0, 0 },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_LEG, 0, FROM_TIP, "thigh", 1.11, "leg", 1.10 },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_LEG, 0, FROM_TIP, "shin", .78, 0, 0 },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_LEG, 0, FROM_TIP, "foot", .24, 0, 0 },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_TAIL, 0, FROM_TIP, "tail", .86, "tail", .89 },
    { CUTIS_KIND_BIRD, CUTIS_ROLE_HEAD, 0, FROM_PEAK, "head", .43, "head", .6 },

    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_HEAD, 0, FROM_TIP, "mantle", 1.15, 0, 0 },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_ARM, 0, FROM_TIP, "_1", 1.04, "", 1.12 },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_ARM, 0, FROM_TIP, "_2", .79, 0, 0 },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_ARM, 0, FROM_TIP, "_3", .60, 0, 0 },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_ARM, 0, FROM_TIP, "_4", .40, 0, 0 },
    { CUTIS_KIND_OCTOPUS, CUTIS_ROLE_ARM, 0, FROM_TIP, "_5", .21, 0, 0 },

    { CUTIS_KIND_INSECT, CUTIS_ROLE_LEG, 0, FROM_TIP, "femur", 1.07, "leg", 1.05 },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_LEG, 0, FROM_TIP, "tibia", .61, 0, 0 },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_LEG, 0, FROM_TIP, "tarsus", .20, 0, 0 },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_ABDOMEN, 0, FROM_TIP, "abdomen1", .87, "abdomen", .93 },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_ABDOMEN, 0, FROM_TIP, "abdomen2", .43, 0, 0 },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_EAR, 0, FROM_TIP, "antenna1", 1.0, "antenna", 1.0 },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_EAR, 0, FROM_TIP, "antenna2", .56, 0, 0 },
    { CUTIS_KIND_INSECT, CUTIS_ROLE_HEAD, 0, FROM_TIP, "head", .83, "head", .9 },

    { CUTIS_KIND_BEAR, CUTIS_ROLE_ARM, 0, FROM_TIP, "upperarm", 1.08, "arm", 1.15 },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_ARM, 0, FROM_TIP, "forearm", .55, 0, 0 },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_LEG, 0, FROM_TIP, "thigh", 1.0, "leg", 1.0 },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_LEG, 0, FROM_TIP, "foot", .63, 0, 0 },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_EAR, 0, FROM_TIP, "ear", .86, "ear", .90 },
    { CUTIS_KIND_BEAR, CUTIS_ROLE_TAIL, 0, FROM_TIP, "tail", 1.0, "tail", .96 },

    { CUTIS_KIND_HAND, CUTIS_ROLE_FINGER, 0, FROM_TIP, "1", 1.02, "", .95 },
    { CUTIS_KIND_HAND, CUTIS_ROLE_FINGER, 0, FROM_TIP, "2", .58, 0, 0 },
    { CUTIS_KIND_HAND, CUTIS_ROLE_FINGER, 0, FROM_TIP, "3", .32, 0, 0 },
    { CUTIS_KIND_HAND, CUTIS_ROLE_FINGER, 1, FROM_TIP, "2", .83, "", .89 },
    { CUTIS_KIND_HAND, CUTIS_ROLE_FINGER, 1, FROM_TIP, "3", .43, 0, 0 },

    { CUTIS_KIND_FISH, CUTIS_ROLE_PECTORAL, 0, FROM_TIP, "pectoral", .99, "pectoral", 1.03 },
    { CUTIS_KIND_FISH, CUTIS_ROLE_ANAL, 0, FROM_TIP, "anal", 1.46, "anal", 1.43 },
};
const uint32_t CUTIS_PLAN_ROW_COUNT = sizeof CUTIS_PLAN_ROWS / sizeof *CUTIS_PLAN_ROWS;
