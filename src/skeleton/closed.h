/// The body as one closed, manifold, consistently oriented triangle mesh with a label per face.
///
/// Invariant, from cutis_closed_make on: every half-edge has a twin that runs the other way, and
/// the half-edges that leave a vertex form one ring.
#ifndef CUTIS_SKELETON_CLOSED_H
#define CUTIS_SKELETON_CLOSED_H

#include <cutis/model.h>
#include <cutis/skeleton.h>
#include <string.h>

#include "base/memory.h"
#include "geometry/half_edge.h"
#include "geometry/vector.h"
#include "math/mat3.h"

#define CUTIS_NOTHING UINT32_MAX

/// A vertex of the new model: a copy of a source vertex, or a point between two earlier outputs.
typedef struct cutis_output_vertex {
    uint32_t primitive; ///< of the new model
    uint32_t a, b;      ///< a == b: source vertex of the instances; else, and in caps: outputs,
                        ///< mixed by t
    double t;
    float position[3];
} cutis_output_vertex;

/// A primitive of the new model and where it comes from.
typedef struct cutis_output_primitive {
    const cutis_primitive *source; ///< NULL: caps
    uint32_t source_first;         ///< output-order index of its first vertex
    const float *transform;        ///< 12: moves its positions to world space
    int32_t material;
    uint32_t instance;
} cutis_output_primitive;

/// So many CUTIS_NOTHING, or NULL: out of memory.
static inline uint32_t *cutis_nothings(cutis_arena *arena, size_t count)
{
    uint32_t *list = cutis_arena_alloc(arena, count, sizeof *list);
    return list ? memset(list, 0xff, count * sizeof *list) : NULL;
}

enum { CUTIS_CLOSED_ARRAYS = 8 };

typedef struct cutis_closed {
    cutis_context *context;
    cutis_arena arena; ///< of all that follows
    uint32_t vertex_count, face_count;
    double (*points)[3];    ///< per vertex
    uint32_t *leaving;      ///< per vertex: a half-edge that leaves it
    uint32_t (*faces)[3];   ///< vertices
    uint32_t (*corners)[3]; ///< outputs
    uint32_t *twins;        ///< 3 per face
    uint32_t *labels;       ///< per face
    uint32_t *shells;       ///< per face: connected piece
    uint32_t shell_count;
    cutis_output_vertex *outputs;
    uint32_t output_count;
    size_t capacities[CUTIS_CLOSED_ARRAYS]; ///< of the arrays so far, in the order of growth
    cutis_output_primitive *primitives;
    uint32_t primitive_count;
    double diagonal;
} cutis_closed;

static inline uint32_t cutis_from(const cutis_closed *mesh, uint32_t h)
{
    return mesh->faces[h / 3][h % 3];
}
static inline uint32_t cutis_to(const cutis_closed *mesh, uint32_t h)
{
    return cutis_from(mesh, half_next(h));
}
/// The next half-edge that leaves the same vertex.
static inline uint32_t cutis_around(const cutis_closed *mesh, uint32_t h)
{
    return half_next(mesh->twins[h]);
}
/// The same from the vertex' own half-edge on; CUTIS_NOTHING when that is reached again.
static inline uint32_t cutis_next_around(const cutis_closed *mesh, uint32_t v, uint32_t h)
{
    uint32_t next = cutis_around(mesh, h);
    return next == mesh->leaving[v] ? CUTIS_NOTHING : next;
}
/// Do the two faces of an edge belong to different parts?
static inline bool cutis_is_border(const cutis_closed *mesh, uint32_t h)
{
    return mesh->labels[h / 3] != mesh->labels[mesh->twins[h] / 3];
}

static inline vec3 cutis_face_middle(const cutis_closed *mesh, uint32_t f)
{
    const uint32_t *v = mesh->faces[f];
    return v3_divide(v3_add(v3_of(mesh->points[v[0]]),
                            v3_add(v3_of(mesh->points[v[1]]), v3_of(mesh->points[v[2]]))),
                     3);
}
static inline double cutis_edge_length(const cutis_closed *mesh, uint32_t h)
{
    return v3_distance_of(mesh->points[cutis_from(mesh, h)], mesh->points[cutis_to(mesh, h)]);
}

double cutis_face_area(const cutis_closed *mesh, uint32_t face);

/// Names of labels; they only grow.
typedef struct cutis_labels {
    cutis_arena *arena;
    uint32_t count;
    size_t capacity;
    const char **names;
    uint32_t *parents; ///< of labels that are joints: the parent of each, or CUTIS_NOTHING;
                       ///< NULL: not known
} cutis_labels;

/// A new label; CUTIS_NOTHING: out of memory.
uint32_t cutis_labels_add(cutis_labels *labels, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// Lines of the report.
typedef struct cutis_notes {
    cutis_arena *arena;
    uint32_t count;
    size_t capacity;
    const char **lines;
    bool failed; ///< there was no memory for one: asked once, at the end
} cutis_notes;

void cutis_note(cutis_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Weld, pair, orient, split and cap the triangles of a model's instances.
/// @param labels one per triangle in output order, or NULL: connected pieces are named shellN
/// @param names  grows when labels is NULL, and names parts in errors
/// @return CUTIS_UNSUPPORTED: no closed surface comes of it; the error names part and reason
cutis_result cutis_closed_make(const cutis_model *model, const uint32_t *labels,
                               cutis_labels *names, cutis_skeleton_repairs *repairs,
                               cutis_closed *out);
void cutis_closed_release(cutis_closed *mesh); ///< zero value is fine

/// Space for so many of each in all. false: out of memory, nothing changed.
bool cutis_closed_grow(cutis_closed *mesh, size_t points, size_t faces, size_t outputs);

/// Put a new vertex at part t of half-edge h. Both faces are split; the first half of h keeps its
/// number. false: out of memory, nothing changed.
bool cutis_closed_split(cutis_closed *mesh, uint32_t h, double t, uint32_t *vertex);

/// Triangles and vertices of the instances at rest in world space (gather.c).
typedef struct cutis_gathered {
    uint32_t vertex_count, triangle_count;
    float *positions;
    uint32_t *triangles;           ///< 3 per triangle, output order
    uint32_t *triangle_primitives; ///< per triangle, index into primitives
    cutis_output_primitive *primitives;
    uint32_t primitive_count;
} cutis_gathered;

cutis_result cutis_gather(cutis_arena *arena, const cutis_model *model, cutis_gathered *out);

#endif
