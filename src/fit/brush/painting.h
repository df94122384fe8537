/// Weights while they are painted. Invariant: every list is ascending by joint, has at most `room`
/// entries, all > 0, and sums to one (to rounding).
#ifndef CUTIS_FIT_BRUSH_PAINTING_H
#define CUTIS_FIT_BRUSH_PAINTING_H

#include <cutis/brush.h>

#include "base/memory.h"
#include "fit/weights_vertex.h"
#include "geometry/heap.h"
#include "geometry/vector.h"

#define BRUSH_NOWHERE UINT32_MAX
enum { BRUSH_MOST = 64 }; // influences of a vertex

/// Welds that changed, each once.
typedef struct brush_marks {
    uint32_t *list;
    bool *has;
    uint32_t count;
} brush_marks;

struct cutis_painting {
    cutis_context *context;
    const cutis_model *model;
    uint32_t vertex_count, triangle_count, weld_count;
    uint32_t *weld;                       ///< per vertex of an output frame
    uint32_t *copy_first, *copies;        ///< per weld: its vertices, ascending
    uint32_t *triangles;                  ///< corners as welds
    uint32_t *around_first, *around;      ///< per weld: corners (3 * triangle + c) at it
    uint32_t *near_first, *near;          ///< per weld: its neighbours, ascending
    vec3 *place;                          ///< per weld, of the rest frame
    int32_t *skin;                        ///< per weld, or CUTIS_NONE
    uint32_t **joint_of;                  ///< per skin: joint of each node, or BRUSH_NOWHERE
    uint32_t room;                        ///< influences that a weld's list has space for
    uint32_t *count;                      ///< per weld
    cutis_influence *lists;               ///< room a weld
    brush_marks changed, stroked, edited; ///< since cutis_painting_changed, _stroke, creation
    uint32_t *told;                       ///< vertices for cutis_painting_changed
    // Of a dab
    double *distance; ///< per weld; INFINITY between dabs
    bool *settled;
    brush_marks reached;
    cutis_heap heap;
    cutis_influence *next; ///< new lists, room each, in the order of `reached`
    uint32_t *next_count;
    size_t next_capacity, next_count_capacity;
    // The other side
    bool has_plane;
    double plane; ///< the body is alike on both sides of x = plane
    vec3 *nodes;  ///< where each node is at rest
    // Of a stroke
    uint32_t *stroke_vertices, *stroke_first, *stroke_joints;
    double *stroke_weights;
    size_t stroke_capacity[4];
};

static inline cutis_influence *brush_list(const cutis_painting *p, uint32_t weld)
{
    return p->lists + (size_t)weld * p->room;
}

static inline void brush_mark(brush_marks *marks, uint32_t weld)
{
    if (marks->has[weld]) return;
    marks->has[weld] = true;
    marks->list[marks->count++] = weld;
}

static inline void brush_unmark(brush_marks *marks)
{
    for (uint32_t i = 0; i < marks->count; i++) marks->has[marks->list[i]] = false;
    marks->count = 0;
}

/// Distances along the surface from a point of a triangle, up to a radius: `reached` and
/// `distance`. false: out of memory.
bool brush_march(cutis_painting *p, uint32_t triangle, vec3 from, double radius);

/// Which body is on the other side of a point: the triangle there and the point itself.
/// BRUSH_NOWHERE: none near.
uint32_t brush_opposite_triangle(cutis_painting *p, vec3 point, vec3 *there);

/// What becomes of a weld's list with an amount of the brush; @return how many influences
uint32_t brush_edit(const cutis_painting *p, const cutis_brush *brush, uint32_t joint_node,
                    uint32_t weld, double amount, cutis_influence *out);

#endif
