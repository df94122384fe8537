/// Kernel text: everything the blending patches keep in memory, in one table. After arguments.h.
///
/// A bound body is one buffer, the work of an instance another (instances stand work_stride bytes
/// apart). PATCH_BODY_FIELDS and PATCH_WORK_FIELDS list the arrays in them: name, type, how many
/// there are of what, and for the work the steps of a frame in which it lives, from the first that
/// writes it to the last that reads it. From the tables come the struct of places (patch_places),
/// the accessors body_NAME(w) and work_NAME(w), and the packer (deform/patches_pack.c), which lets
/// arrays that never live at the same time share their memory.
///
/// Invariant: nothing reads an array outside of its steps (tests/deform/test_patches_memory.c
/// overwrites what is not in use after every launch).
#ifndef CUTIS_KERNEL_PATCHES_FIELDS_H
#define CUTIS_KERNEL_PATCHES_FIELDS_H

#include "arguments.h"

#define PATCH_UNIT        8   // bytes
#define PATCH_BLOCK       256 // vertices or faces that are counted together
#define PATCH_CONIC_STEPS 1024
#define PATCH_TIMES       16
#define PATCH_CURVE_MOST  48  // samples of a rung: a right angle of a limb of 40 edges takes 10
#define PATCH_SUMS        18  // over the strips of a joint (patches_keep.h)
#define PATCH_HALF_STEPS  16  // of the table of lengths of half a symmetric conic
#define PATCH_BAND_PARTS  128 // stretches that the volume under a band is summed in
#define PATCH_BAND_TOPS   16  // and those that these are summed in
#define PATCH_FACE_BLOCK  32  // faces of a band that are looked at together

#ifndef TEAM_PARTS // the host's files, which have no team.h
#define TEAM_PARTS 32
#endif

STRUCT(pvec)
{
    double x, y, z;
};

/// A direction, or a step that is short beside where it is made.
STRUCT(pvec_short)
{
    float x, y, z;
};

STRUCT(pquat)
{
    double w, x, y, z;
};

/// A part's box: its axes, and the least and greatest place along each.
STRUCT(patch_box)
{
    pvec axis[3];
    double low[3], high[3];
};

/// Where a part is cut, in rest space from the centre: a height along the limb, as a function of
/// the place along the bend axis and of the depth inwards.
STRUCT(patch_cut_shape)
{
    pvec axis, inner;            // inner: across axis and limb, where the parts collide
    double height, height_slope; // where the front ends, and its slope over the axis
    double depth, depth_slope;   // the same for its depth
    double low, high;            // ends of the loop along the axis
    double reach;                // depth of the loop's inner side
    double follow;               // the share of the front's height that the cut still has there
    double bend, slope;          // slope of the cut of a loop across the limb, and of this one
};

/// The band in which a joint bends softly.
STRUCT(patch_band)
{
    double volume; // six times that of its faces at rest, over the centre; of those that others
                   // bend before, nothing
    double slope;  // how that grows with swelling at rest, without regard to what is pressed
    double girth;  // what its length goes by: the loop's half axis, or how far it is from the joint
    int there;
    int rank;   // joints of one rank share no vertex, and those of less come before it
    int over;   // faces that others bend before: they stand first, whole blocks of them
    int place;  // in its rank
    int lifted; // where its moves are lifted, less where they stand: joints of other ranks use the
                // same memory, so that it stays in a CPU's cache
};

// What a joint does to a vertex.
#define PATCH_MOVE_CHILD 1  // it is on the child's side
#define PATCH_MOVE_MIXED 2  // other joints bend it too
#define PATCH_MOVE_STILL 4  // nothing: a corner of a face that it bends
#define PATCH_MOVE_ON    8  // another one above will: it goes on in the parent's rest space
#define PATCH_MOVE_WHOLE 16 // it follows the child whole

// vertex_band: no band has it; one joint alone bends it; of one that several bend 1 + its place in
// mixed_part.
#define PATCH_BAND_NONE (-1)
#define PATCH_BAND_ONE  0

/// A vertex of a band after its joint has turned it: where it is from the centre, and where
/// swelling takes it.
STRUCT(patch_lifted)
{
    pvec at;
    pvec_short grow;
};

/// A joint in this frame.
STRUCT(patch_joint)
{
    double turn[9];    // R, child to parent; of a joint with bands all that the child does
    double twist[9];   // T; of a joint with bands the same
    pquat soft;        // the turn of its bands, whole
    int scaled;        // is the child more than turned?
    double stretch[9]; // what is more, less 1: R (1 + stretch) is what the child does
    double shrink[9];  // the inverse of 1 + stretch
    pvec inner;        // where it presses them together; shorter where it twists
    double swell;      // and by how much they swell
    double gained;     // volume that is too much all the same
    double bend_all;   // the bend, of bands too
    pvec offset;       // where the centre goes
    pvec back;         // turned back
    int shifted;       // is that anywhere?
    pvec axis;         // of the bend, unit
    pquat swing;
    double angle, twist_angle;
    double tangent;                // of half the bend, 150 degrees at most
    double need[2];                // length wanted in the parent, in the child
    double cut[2];                 // volume the cut changed
    double weight;                 // of the conics
    double flat;                   // how far the front arcs are flattened
    double depth;                  // of the crease, 1 = where the limbs meet
    double length;                 // of a rear rung, in chords
    double left;                   // volume that is left over
    double times[PATCH_TIMES + 1]; // parameters of evenly spaced points of a rear rung
    patch_cut_shape shape[2];      // parent, child
    int moves;                     // 0: at rest
    int softly;                    // its bands turn
    int bent;                      // parts are removed
    int shift;                     // child's place on the loop = parent's + shift
    int rungs, points, faces;      // of its patch
    int vertex_out;                // first output vertex of its split points; samples follow
    int face_out;
    int splits_out; // split points that became vertices of their own
};

/// A point of a rear rung: so much of the parent's end, the control point, the child's end.
STRUCT(patch_mix)
{
    double p, k, c;
};

/// What a joint's lanes tell each other while its weight is looked for.
STRUCT(patch_sums)
{
    double lane[TEAM_PARTS];              // one value of each stretch, or of each lane
    double piece[PATCH_HALF_STEPS];       // lengths along a symmetric conic
    double walked[4];                     // volumes of the strips that are walked
    double part[TEAM_PARTS * PATCH_SUMS]; // sums over the strips between rear rungs, in stretches
    double whole[PATCH_SUMS];
    patch_mix mix[PATCH_CURVE_MOST + 2]; // of the samples of rear rungs
};

/// The steps of a frame, in order. A launch is one or several of them.
enum patch_step {
    PATCH_STEP_PARTS,
    PATCH_STEP_JOINTS,
    PATCH_STEP_START, // vertices that several joints bend, at rest
    PATCH_STEP_BANDS, // rank after rank
    PATCH_STEP_BACK,  // vertices that several joints bend, in their parts
    PATCH_STEP_CUT,   // what is removed
    PATCH_STEP_PINCH, // removal by boxes: again and again, with FLOOD, until nothing changes
    PATCH_STEP_FLOOD,
    PATCH_STEP_SNAP,
    PATCH_STEP_BORDER,
    PATCH_STEP_ANCHORS, // rungs
    PATCH_STEP_WALK,
    PATCH_STEP_WELD,
    PATCH_STEP_CUT_VOLUME,
    PATCH_STEP_KEEP, // solve: the weight that keeps the volume
    PATCH_STEP_NUMBER,
    PATCH_STEP_REST, // the vertices of the rest topology
    PATCH_STEP_COUNT,
    PATCH_STEP_SUM,
    PATCH_STEP_VERTICES,
    PATCH_STEP_FACES,
    PATCH_STEP_STRIPS,
    PATCH_STEP_SOURCES,
    PATCH_STEP_REPORT // the host reads what joints did
};

enum patch_fill_kind {
    PATCH_FILL_KEEP,
    PATCH_FILL_MEAN,
    PATCH_FILL_INTERSECTION,
    PATCH_FILL_REDUCED,
    PATCH_FILL_BETWEEN
};

/// What arrays are counted by. An entry is a loop of a part: (part, joint).
enum patch_count {
    PATCH_PARTS,
    PATCH_PARTS_1, // and one more, for the end of the last
    PATCH_JOINTS,
    PATCH_JOINTS_1,
    PATCH_ENTRIES,
    PATCH_ENTRIES_1,
    PATCH_VERTICES, // of parts: a vertex of a loop is in both of its parts
    PATCH_VERTICES_1,
    PATCH_EDGES,
    PATCH_FACES,
    PATCH_PLACES,  // on loops
    PATCH_RINGS,   // neighbours of all vertices
    PATCH_REACHES, // vertices of the part of every entry
    PATCH_PAIRS,   // entries of the part of every entry
    PATCH_SLOTS,
    PATCH_RUNGS,
    PATCH_POINTS, // samples
    PATCH_VERTEX_BLOCKS,
    PATCH_FACE_BLOCKS,
    PATCH_CONICS,
    PATCH_RESTS, // vertices of the model
    PATCH_MOVES, // of vertices by joints
    PATCH_LIFTS, // moves of a rank, at most
    PATCH_RANK,  // joints of a rank, at most
    PATCH_BAND_FACES,
    PATCH_MIXED, // vertices that several joints bend
    PATCH_MIXED_1,
    PATCH_UNDOS, // joints on their ways back
    PATCH_COUNTS
};

/// F(name, type, how many, of what)
#define PATCH_BODY_FIELDS(F)                                                                       \
    F(part_vertex, int, 1, PARTS_1)                                                                \
    F(part_face, int, 1, PARTS_1)                                                                  \
    F(part_entry, int, 1, PARTS_1)                                                                 \
    F(part_seed, int, 1, PARTS)    /* the vertex farthest from all loops */                        \
    F(part_is_leaf, int, 1, PARTS) /* one loop only: vertices know how far its tip is */           \
    F(part_step, double, 1, PARTS) /* median edge */                                               \
    F(part_edge_most, double, 1, PARTS)                                                            \
    F(part_centroid, pvec, 1, PARTS)                                                               \
    F(part_volume, double, 1, PARTS) /* closed by fans over its loops */                           \
    F(part_box, patch_box, 1, PARTS)                                                               \
    F(entry_joint, int, 1, ENTRIES)                                                                \
    F(entry_side, int, 1, ENTRIES)  /* 0 the part is the parent, 1 the child */                    \
    F(entry_at, int, 1, ENTRIES)    /* + a vertex: its place in far, near, value and order */      \
    F(entry_share, int, 1, ENTRIES) /* its first in share */                                       \
    F(entry_slot, int, 1, ENTRIES_1)                                                               \
    F(joint_part, int, 2, JOINTS)  /* parent, child */                                             \
    F(joint_entry, int, 2, JOINTS) /* entry in the parent, in the child */                         \
    F(joint_seam, int, 1, JOINTS)  /* 1: never articulated */                                      \
    F(joint_loop, int, 1, JOINTS_1)                                                                \
    F(joint_rung, int, 1, JOINTS_1)                                                                \
    F(joint_point, int, 1, JOINTS_1)                                                               \
    F(joint_centre, pvec, 1, JOINTS)  /* the point it turns about */                               \
    F(joint_limb, pvec, 1, JOINTS)    /* unit, along the limb, from parent to child */             \
    F(joint_plane, pvec, 1, JOINTS)   /* normal of the loop, parent to child */                    \
    F(joint_width, double, 1, JOINTS) /* shorter half axis of the loop */                          \
    F(joint_step, double, 1, JOINTS)  /* sampling length */                                        \
    F(joint_band, patch_band, 1, JOINTS)                                                           \
    F(rank_joint, int, 1, JOINTS)   /* joints, by rank */                                          \
    F(band_first, int, 1, JOINTS_1) /* of a joint's band the first vertex in this list */          \
    F(move_vertex, int, 1, MOVES)                                                                  \
    F(move_kind, int, 1, MOVES) /* PATCH_MOVE_... */                                               \
    F(move_share, double, 1, MOVES)                                                                \
    F(move_rate, float, 2, MOVES)        /* how it grows along two directions (patch_across) */    \
    F(band_face_first, int, 1, JOINTS_1) /* and the first face that it moves */                    \
    F(band_face, int, 3, BAND_FACES)     /* corners: moves */                                      \
    F(mixed_part, int, 1, MIXED)         /* the part above the joints that bend it */              \
    F(mixed_undo, int, 1, MIXED_1)       /* its first in undo */                                   \
    F(undo, int, 1, UNDOS)               /* joints on the way back down to its part */             \
    F(loop_vertex, int, 2, PLACES)       /* part vertex in the parent, in the child */             \
    F(loop_shift, double, 9, PLACES) /* sums of y[i + k] y[i]^T, for every shift k of a loop */    \
    F(vertex_part, int, 1, VERTICES)                                                               \
    F(vertex_loop, int, 1, VERTICES)  /* joint, or -1 */                                           \
    F(vertex_place, int, 1, VERTICES) /* place on the loop, from its first */                      \
    F(vertex_file, int, 1, VERTICES)  /* a vertex of the model */                                  \
    F(vertex_point, pvec, 1, VERTICES)                                                             \
    F(vertex_normal, pvec, 1, VERTICES)                                                            \
    F(vertex_outwards, pvec, 1, VERTICES) /* normal of the faces around it */                      \
    F(vertex_tip, double, 1, VERTICES)    /* of leaves: distance to the tip */                     \
    F(vertex_band, int, 1, VERTICES)      /* PATCH_BAND_..., or 1 + its place in mixed_part */     \
    F(whole_vertex, int, 1, VERTICES)     /* of whole bodies: its output; -1 - v: v's */           \
    F(whole_face, int, 3, FACES)          /* and the output vertices of a face */                  \
    F(ring_first, int, 1, VERTICES_1)                                                              \
    F(ring, int, 1, RINGS) /* neighbours counter-clockwise; on a loop from border to border */     \
    F(ring_edge, int, 1, RINGS)                                                                    \
    F(face_vertex, int, 3, FACES)                                                                  \
    F(face_edge, int, 3, FACES)   /* from corner k to k + 1 */                                     \
    F(face_joined, int, 3, FACES) /* the face across it in the same part, or -1 */                 \
    F(face_origin, int, 1, FACES) /* triangle of the model */                                      \
    F(slot_joint, int, 1, SLOTS)                                                                   \
    F(far, double, 1, REACHES)         /* distance of the part's vertices to the entry's loop */   \
    F(order, int, 1, REACHES)          /* these vertices, nearest first */                         \
    F(place, double, 1, REACHES)       /* where on the entry's loop a vertex belongs */            \
    F(rest_vertex, int, 1, RESTS)      /* of a vertex of the model: one of a part, or -1 */        \
    F(seed_order, int, 1, VERTICES)    /* of each part the vertices by distance to its seed */     \
    F(conic_weight, double, 1, CONICS) /* w for evenly spaced shares of the triangle */

/// F(name, type, how many, of what, first step, last step)
#define PATCH_WORK_FIELDS(F)                                                                       \
    F(matrix, double, 12, PARTS, PARTS, SOURCES) /* part to world */                               \
    F(joint, patch_joint, 1, JOINTS, JOINTS, REPORT)                                               \
    F(part_scale, double, 1, PARTS, PARTS, SOURCES) /* 1 / its one scale; 0: has several */        \
    F(swell_sum, double, 4 * PATCH_BAND_PARTS, RANK, BANDS, BANDS)                                 \
    F(swell_top, double, 4 * PATCH_BAND_TOPS, RANK, BANDS, BANDS)                                  \
    /* vertices */                                                                                 \
    F(soft_point, pvec, 1, VERTICES, START, SOURCES)      /* of bands: where it is */              \
    F(soft_out, pvec_short, 1, VERTICES, START, SOURCES)  /* its direction outwards */             \
    F(soft_lean, pvec_short, 2, VERTICES, START, SOURCES) /* two along the surface; 0: at rest */  \
    F(lifted, patch_lifted, 1, LIFTS, BANDS, BANDS)                                                \
    F(state, int, 1, VERTICES, CUT, SOURCES)    /* patch_state */                                  \
    F(owner, int, 1, VERTICES, CUT, REST)       /* entry that removes it, or -1 */                 \
    F(slot, int, 1, VERTICES, CUT, SOURCES)     /* its border slot, or -1 */                       \
    F(snap_edge, int, 1, VERTICES, CUT, BORDER) /* edge a vertex may be moved along, or -1 */      \
    F(snap, double, 1, VERTICES, SNAP, BORDER)  /* how far, of the edge's length */                \
    F(snapped, int, 1, VERTICES, SNAP, SNAP)    /* is it moved? */                                 \
    F(seen, int, 1, VERTICES, FLOOD, FLOOD)     /* is it connected with the seed?      */          \
    F(pinched, int, 1, VERTICES, PINCH, PINCH)  /* removed vertices whose rings are looked at */   \
    F(vertex_out, int, 1, VERTICES, VERTICES, SOURCES) /* -1: removed, -2 - slot: that slot's */   \
    F(edge_slot, int, 1, EDGES, CUT, FACES)            /* slot of the point that splits it */      \
    /* entries */                                                                                  \
    F(reach, int, 1, ENTRIES, CUT, BORDER)    /* vertices, nearest first, that it looks at */      \
    F(shrink, double, 1, ENTRIES, CUT, FLOOD) /* what this try takes from the territory */         \
    F(share, double, 1, PAIRS, CUT, FLOOD)    /* what it gets of the way to the part's entries */  \
    F(value, double, 1, REACHES, CUT, BORDER) /* how far a vertex is removed by it */              \
    F(near, int, 1, REACHES, CUT, BORDER)     /* its vertices beside the border */                 \
    F(near_count, int, 1, ENTRIES, CUT, BORDER)                                                    \
    F(border_count, int, 1, ENTRIES, BORDER, SOURCES) /* slots of its border */                    \
    F(entry_sum, double, TEAM_PARTS, ENTRIES, CUT_VOLUME, CUT_VOLUME)                              \
    /* parts */                                                                                    \
    F(tries, int, 1, PARTS, BORDER, REPORT)                                                        \
    F(removed, int, 1, PARTS, PINCH, FLOOD) /* what one lane tells the others */                   \
    F(touched_count, int, 1, PARTS, BORDER, COUNT)                                                 \
    F(touched, int, 1, FACES, BORDER, CUT_VOLUME) /* faces with removed or moved vertices */       \
    /* slots: points of a border */                                                                \
    F(slot_node, int, 1, SLOTS, BORDER, SOURCES) /* vertex, or -1 - edge */                        \
    F(slot_from, int, 1, SLOTS, BORDER, SOURCES) /* vertices it lies between, slot_t of the way */ \
    F(slot_to, int, 1, SLOTS, BORDER, SOURCES)                                                     \
    F(slot_t, double, 1, SLOTS, BORDER, SOURCES)                                                   \
    F(slot_point, pvec, 1, SLOTS, BORDER, STRIPS) /* rest */                                       \
    F(slot_far, double, 1, SLOTS, BORDER, REST)   /* distance to the loop */                       \
    F(slot_along, double, 1, SLOTS, BORDER, WELD) /* place on the joint's loop, or -1 */           \
    F(slot_next, int, 1, SLOTS, BORDER, BORDER)                                                    \
    F(slot_order, int, 1, SLOTS, BORDER, WELD)      /* slots in order along the border */          \
    F(slot_rank, int, 1, SLOTS, BORDER, ANCHORS)    /* and back */                                 \
    F(slot_weld, int, 1, SLOTS, BORDER, SOURCES)    /* child: slot of the parent it is one with */ \
    F(slot_guest, int, 1, SLOTS, BORDER, STRIPS)    /* parent: slot of the child, or -1 */         \
    F(slot_placed, pvec, 1, SLOTS, ANCHORS, STRIPS) /* the parent's rest space, from the centre */ \
    F(slot_gap, double, 1, SLOTS, ANCHORS, WALK)    /* by rank: distance to the next */            \
    F(slot_on_loop, int, 1, SLOTS, ANCHORS, WALK)   /* by rank */                                  \
    F(slot_out, int, 1, SLOTS, NUMBER, SOURCES) /* vertex; -1 - n: split point n of the joint */   \
    /* rungs: from a slot of the parent to one of the child */                                     \
    F(anchor_rank, int, 1, RUNGS, ANCHORS, WALK)    /* of the parent's slot */                     \
    F(anchor_partner, int, 1, RUNGS, ANCHORS, WALK) /* of the child's */                           \
    F(closest, int, 1, RUNGS, ANCHORS, ANCHORS)     /* by rank: the child's nearest */             \
    F(closest_square, double, 1, RUNGS, ANCHORS, ANCHORS)                                          \
    F(rung_span, int, 1, RUNGS, WALK, WELD) /* the rung its stretch begins with, or -1 */          \
    F(span_way, pvec, 1, RUNGS, WALK, WELD) /* a stretch: where on the loop, how far, length */    \
    F(rung_stays, int, 1, RUNGS, WELD, WELD)                                                       \
    F(rung_p, int, 1, RUNGS, WALK, SOURCES) /* slot of the parent; at first its rank */            \
    F(rung_c, int, 1, RUNGS, WALK, SOURCES)                                                        \
    F(rung_kind, int, 1, RUNGS, WALK, STRIPS)      /* patch_rung */                                \
    F(rung_along, double, 1, RUNGS, WALK, SOURCES) /* place on the joint's loop */                 \
    F(front_count, int, 1, RUNGS, KEEP, KEEP)      /* inner samples, of front rungs alone */       \
    F(front_first, int, 1, RUNGS, KEEP, KEEP)                                                      \
    F(front_round, pvec, 1, POINTS, KEEP, KEEP) /* these, without flattening */                    \
    F(corner, pvec, 1, RUNGS, KEEP, KEEP)       /* control points of rear rungs */                 \
    F(loose, int, 1, RUNGS, KEEP, KEEP)         /* strips that are walked */                       \
    F(sums, patch_sums, 1, JOINTS, KEEP, KEEP)                                                     \
    F(rung_count, int, 1, RUNGS, KEEP, SOURCES) /* inner samples */                                \
    F(rung_first, int, 1, RUNGS, KEEP, SOURCES) /* first of them, from the joint's first */        \
    F(rung_face, int, 1, RUNGS, NUMBER, STRIPS) /* first triangle of the strip to the next rung */ \
    F(sample, pvec, 1, POINTS, KEEP, STRIPS)    /* parent's rest space */                          \
    F(sample_normal, pvec, 2, POINTS, STRIPS, STRIPS)                                              \
    /* output */                                                                                   \
    F(block_vertex, int, 1, VERTEX_BLOCKS, COUNT, SOURCES) /* first output vertex of a block */    \
    F(block_face, int, 1, FACE_BLOCKS, COUNT, SOURCES)                                             \
    F(face_list, int, 1, FACES, FACES, FACES) /* of a block: faces that the border touches */

#define PATCH_BODY_PLACE(name, type, width, count)             unsigned body_##name;
#define PATCH_WORK_PLACE(name, type, width, count, from, last) unsigned work_##name;
/// Where the arrays begin, in units of PATCH_UNIT bytes.
STRUCT(patch_places){ PATCH_BODY_FIELDS(PATCH_BODY_PLACE) PATCH_WORK_FIELDS(PATCH_WORK_PLACE) };

/// Where an output goes, in words of 4 bytes: the first element of the first instance, from
/// instance to instance, from element to element.
STRUCT(patch_stream)
{
    KERNEL_LONG first, step, stride;
};

/// What all kernels of the patches are told.
STRUCT(patch_arguments)
{
    ITEM_RANGE;
    int part_count, joint_count, vertex_count, face_count;
    int box;                            // 1: the paper's removal, 0: plane cut
    int fill;                           // patch_fill_kind
    int vertex_capacity, face_capacity; // of the outputs, per instance
    int rest_count;                     // vertices of the model
    int rank;                           // of the joints that a launch turns
    int rank_first, rank_count;         // these, in rank_joint
    int whole;                          // 1: all joints have bands, so no frame cuts anything
    int whole_count;                    // of a whole body: vertices of every frame
    double diagonal, eps;               // of the rest mesh; removed by less is not removed
    unsigned work_stride;               // units from instance to instance
    patch_stream positions, normals, source_vertices, source_weights; // of vertices
    patch_stream indices, labels, origins;                            // of triangles
    patch_stream counts;                                              // the caller's
    patch_stream rest_positions;                                      // of the model's vertices
    patch_places at;
};

#endif
