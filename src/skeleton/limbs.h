/// Limbs of a body: the stretch of every centreline from its end to where the body's section opens
/// into what carries it, and what that stretch looks like. What has several ends (a hand, a head
/// with ears) is one limb that carries others.
#ifndef CUTIS_SKELETON_LIMBS_H
#define CUTIS_SKELETON_LIMBS_H

#include "skeleton/centrelines.h"

enum { CUTIS_OPENING_MOST = 4, CUTIS_LIMB_MOST = 2 * CUTIS_END_MOST };

/// A place where the section grows at once and stays large from there to the centre.
typedef struct cutis_opening {
    double along;         ///< from the limb's tip
    double factor;        ///< of growth
    double before, after; ///< sections, as radii of discs
} cutis_opening;

typedef struct cutis_limb {
    uint32_t end;          ///< of the centrelines
    uint32_t count;        ///< nodes from the tip to the centre
    const uint32_t *path;  ///< those nodes
    const double *along;   ///< per node of the path: from the tip
    const double *section; ///< the same, smoothed
    cutis_opening openings[CUTIS_OPENING_MOST];
    uint32_t opening_count;
    double length;     ///< to a little beyond the opening that ends it
    double opening;    ///< its factor; 1.2: none was found
    double thickness;  ///< mean section
    double bulge;      ///< largest section by the least of its inner half
    double flatness;   ///< section by the ball that fits in: 1 round, 2 flat
    double stands_out; ///< of its ends the most, not more than its length
    bool behind;       ///< not the end's own limb but what carries it, up to the next opening: the
                       ///< head behind an ear
    bool parted;       ///< shares a stem with another, and ends where the two part: legs
    uint32_t carrier;  ///< the limb that it stands on; CUTIS_NOTHING: the trunk
    vec3 tip, root;    ///< where it ends and where it opens
    double root_way;   ///< of the root, from the centre
} cutis_limb;

/// The limbs of a body: what ends in itself first, then what carries others; the longest first.
/// Bumps are left out, and no two are the same: of ends that share a root the longest counts.
typedef struct cutis_limbs {
    cutis_limb list[CUTIS_LIMB_MOST];
    uint32_t count;
    uint32_t
        of_end[CUTIS_END_MOST]; ///< per end of the centrelines: its limb; CUTIS_NOTHING: a bump
} cutis_limbs;

cutis_result cutis_limbs_find(cutis_arena *arena, const cutis_centrelines *lines, double diagonal,
                              cutis_limbs *out);

/// Does a limb stand on another, or on what stands on it, or is it the other?
bool cutis_limb_within(const cutis_limbs *limbs, uint32_t limb, uint32_t other);

/// Values between the nodes of a limb's path, at a way from its tip.
double cutis_limb_section(const cutis_limb *limb, double along);
vec3 cutis_limb_point(const cutis_centrelines *lines, const cutis_limb *limb, double along);

#endif
