/// Where joints and borders of parts lie along limbs, for every kind and role.
#ifndef CUTIS_SKELETON_PLAN_ROWS_H
#define CUTIS_SKELETON_PLAN_ROWS_H

#include "skeleton/kinds.h"

/// What `at` and `cut` are measured from.
typedef enum plan_anchor {
    FROM_TIP,    ///< in the limb's length: 0 its tip, 1 where it opens
    FROM_PEAK,   ///< in its largest section, from there towards the centre,
    AT_WAIST,    ///< as FROM_TIP, or where the limb is narrowest near there: wrists
    AFTER_WAIST, ///< as FROM_TIP, and moved by half as much as the wrist: elbows
} plan_anchor;

#define PLAN_WRIST 0.235 ///< share of an arm

typedef struct plan_row {
    cutis_kind kind;
    cutis_role role;
    int variant; ///< of limbs of one role that differ: hind legs and thumbs are 1
    plan_anchor anchor;
    const char *joint; ///< or NULL
    double at;
    const char *part; ///< of what lies beyond `cut`, towards the tip; or NULL
    double cut;
} plan_row;

/// From the trunk outwards.
extern const plan_row CUTIS_PLAN_ROWS[];
extern const uint32_t CUTIS_PLAN_ROW_COUNT;

#endif
