/// A brush for weights: dabs on a body's surface that give a joint weight, take it, smooth, sharpen
/// or lead to other weights. What an editor needs: where the pointer meets the body
/// (cutis_surface_pick), a dab, what changed, a stroke to keep for undo, and a model of it.
///
/// At every moment the weights of a vertex sum to one, those of locked joints are what they were,
/// and no vertex that was painted has more influences than asked for. Distances run along the
/// surface, so that the front of a chest never paints its back. Formulas: docs/spec/brush.md.
///
/// Threads: a painting is for one thread at a time; several may be of one model.
#ifndef CUTIS_BRUSH_H
#define CUTIS_BRUSH_H

#include <cutis/measure.h>
#include <cutis/model.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Weights of a model while they are painted.
typedef struct cutis_painting cutis_painting;

/// Vertices at the same place under the same skin are one and stay alike; a mesh that is shown
/// twice is painted as its first instance is. Vertices without weight follow their skin's first
/// joint.
/// @param model borrowed until the painting is destroyed
/// @param rest  a frame of the model that distances are measured on, 3 floats a vertex of an output
///              frame; copied
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (no skin), CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_painting_create(const cutis_model *model, const float *rest,
                                             cutis_painting **out);
CUTIS_API void cutis_painting_destroy(cutis_painting *painting); ///< NULL is fine

typedef enum cutis_brush_kind {
    CUTIS_BRUSH_ADD = 0,      ///< weight of `joint`, taken from the others
    CUTIS_BRUSH_SUBTRACT = 1, ///< the other way; with no other joint it goes to one above it
    CUTIS_BRUSH_SMOOTH = 2,   ///< all weights towards the mean of the neighbours
    CUTIS_BRUSH_SHARPEN = 3,  ///< away from it
    CUTIS_BRUSH_TOWARD = 4,   ///< towards the weights of another painting
} cutis_brush_kind;

/// The zero value of everything but `radius` and `strength` adds to node 0 with a soft edge.
typedef struct cutis_brush {
    cutis_brush_kind kind;
    uint32_t joint;      ///< ADD, SUBTRACT: a node; where a skin has it not, nothing is painted
    double radius;       ///< along the surface, units of `rest`; > 0
    double strength;     ///< in the middle, 0 .. 1: times the pressure of a pen
    bool even;           ///< as strong everywhere inside; else falling to 0 at the radius
    bool mirror;         ///< also on the other side of the body, for the joint that is there
    uint32_t influences; ///< most a painted vertex keeps, 1 .. 64; 0: 64
    const bool *locked;  ///< per node of the model, or NULL: these joints keep their weights
    const cutis_painting *toward; ///< TOWARD: of a model with the same vertices and skins
} cutis_brush;

/// Paint around a point of the surface.
/// @param at triangle (in the order of cutis_model_triangles) and place in it
/// @return CUTIS_OK, also where nothing could change; CUTIS_INVALID_ARGUMENT (numbers out of range,
/// `toward` of another body), CUTIS_OUT_OF_MEMORY: nothing changed
CUTIS_API cutis_result cutis_painting_dab(cutis_painting *painting, const cutis_surface_point *at,
                                          const cutis_brush *brush);

/// Vertices of an output frame whose weights changed since the last call, each once.
/// @param count how many
/// @return the painting's own, valid until the next call for it
CUTIS_API const uint32_t *cutis_painting_changed(cutis_painting *painting, uint32_t *count);

/// Weight of a node on every vertex of an output frame.
/// @param weights vertex_count of caller memory
CUTIS_API void cutis_painting_weights(const cutis_painting *painting, uint32_t node,
                                      float *weights);

/// The influences of a vertex of an output frame, joints (of its skin) ascending.
/// @param joints, weights 64 of caller memory each, or NULL @return how many; 0: it has no skin
CUTIS_API uint32_t cutis_painting_influences(const cutis_painting *painting, uint32_t vertex,
                                             uint32_t *joints, double *weights);

/// The joint on the other side: by its name (left and right, l and r), else by its place at rest;
/// itself in the middle. @return a node
CUTIS_API uint32_t cutis_painting_opposite(cutis_painting *painting, uint32_t node);

/// Weights of some vertices, to be put back: what strokes are kept as.
typedef struct cutis_stroke {
    uint32_t vertex_count;
    const uint32_t *vertices; ///< of an output frame; others at their places have the same weights
    const uint32_t *first;    ///< vertex_count + 1, into the following
    const uint32_t *joints;   ///< of the vertex's skin, ascending
    const double *weights;    ///< sum one
} cutis_stroke;

/// What dabs since the last call made: the weights as they are now of all vertices they changed.
/// @param out its arrays are the painting's, valid until the next call for it
/// @return CUTIS_OK, CUTIS_OUT_OF_MEMORY
CUTIS_API cutis_result cutis_painting_stroke(cutis_painting *painting, cutis_stroke *out);

/// Give vertices weights that cutis_painting_stroke told. A model's weights and its strokes, put
/// one after the other, are the same bits again: undo is beginning anew and leaving out the last.
/// @return CUTIS_OK, CUTIS_INVALID_ARGUMENT (a vertex or joint that there is not, weights that are
/// negative or have no sum): nothing changed
CUTIS_API cutis_result cutis_painting_put(cutis_painting *painting, const cutis_stroke *stroke);

/// The model's own weights again.
CUTIS_API void cutis_painting_reset(cutis_painting *painting);

/// A model with the weights as they are now. Vertices that nobody painted keep their bits;
/// everything else is the same.
CUTIS_API cutis_result cutis_painting_finish(const cutis_painting *painting, cutis_model **out);

#ifdef __cplusplus
}
#endif
#endif
