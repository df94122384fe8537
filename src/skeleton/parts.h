/// Healed labels as a tree of parts with joint loops.
#ifndef CUTIS_SKELETON_PARTS_H
#define CUTIS_SKELETON_PARTS_H

#include "skeleton/closed.h"

/// A simple closed loop of border edges. vertices[i] -> vertices[i + 1] runs along faces of
/// `child`.
typedef struct cutis_ring {
    uint32_t parent, child; ///< parts
    uint32_t count;
    uint32_t *vertices;
    double length;
    double centre[3]; ///< mean by edge length
    double normal[3]; ///< of the plane of least squares, from parent to child
    double radius;    ///< length / 2 pi
    bool seam;        ///< not a joint: closes a cycle, or the pair has a longer loop
} cutis_ring;

/// What is found out about one part, stage by stage.
typedef struct cutis_piece {
    const char *name;
    uint32_t label;
    int32_t parent; ///< part, smaller
    int32_t ring;   ///< joint with the parent; CUTIS_NONE: root, or it only touches
    uint32_t child_count, *children;
    uint32_t face_count, *faces;      ///< without attached shells
    uint32_t vertex_count, *vertices; ///< with the vertices of its loops
    uint32_t ring_count, *rings;      ///< loops of the part, seams too
    double touch[3];                  ///< where it touches its parent, if it has no ring
    double volume, volume_centre[3], area, area_centre[3];
    // half_spaces.c
    bool star_shaped;
    double radius, centroid[3];
    // axes.c: rows e1 e2 e3; box of the vertices along them; the axis inside the part
    double axes[9], box_low[3], box_high[3], axis_from[3], axis_to[3];
    double axes_before[9], box_low_before[3], box_high_before[3];
    // graph.c: joints are the children in order, then the parent
    uint32_t joint_count, group_count;
    uint32_t *groups;
    double (*links)[3];
    // rig.c
    double joint[3], tip[3], end[3];
} cutis_piece;

typedef struct cutis_parts {
    cutis_arena *arena;
    cutis_closed *mesh;
    uint32_t count;
    cutis_piece *parts;      ///< pre-order: parents before children
    uint32_t *part_of_label; ///< CUTIS_NOTHING: no face
    uint32_t ring_count;
    cutis_ring *rings;
    uint32_t touching_count;
} cutis_parts;

/// @param root name of the root part, or NULL
cutis_result cutis_parts_find(cutis_closed *mesh, const cutis_labels *names, const char *root,
                              cutis_notes *notes, cutis_arena *arena, cutis_parts *out);

/// Points of a joint: the ring's centre, or where the part touches its parent.
static inline const double *cutis_piece_joint(const cutis_parts *parts, uint32_t p)
{
    const cutis_piece *part = &parts->parts[p];
    return part->ring == CUTIS_NONE ? part->touch : parts->rings[part->ring].centre;
}

/// Call `visit` with the corners of every triangle that closes a part: its faces, then fans over
/// its loops.
typedef void (*cutis_triangle_visitor)(void *user, const double *a, const double *b,
                                       const double *c);
void cutis_piece_triangles(const cutis_parts *parts, uint32_t p, cutis_triangle_visitor visit,
                           void *user);

/// Points in space, for the nearest one. Built once, asked often.
typedef struct cutis_nearest cutis_nearest;
cutis_nearest *cutis_nearest_make(cutis_arena *arena, const double (*points)[3],
                                  const uint32_t *list, uint32_t count);
/// The entry of `list` nearest to `point` if nearer than *distance (ties: lower), else
/// CUTIS_NOTHING.
uint32_t cutis_nearest_find(const cutis_nearest *nearest, const double *point, double *distance);

/// Distances along the edges of one label's faces from source vertices, times `sign`, where they
/// are less than what is there. false: out of memory.
bool cutis_label_distances(const cutis_closed *mesh, uint32_t label, const uint32_t *sources,
                           uint32_t source_count, double sign, double *distances);

#endif
