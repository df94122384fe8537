/// What the kernels of cage.h take.
#ifndef CUTIS_KERNEL_CAGE_ARGUMENTS_H
#define CUTIS_KERNEL_CAGE_ARGUMENTS_H

/// Mean value coordinates, a point an item. `status`: 1 where the sum of the weights vanishes (only
/// outside), plus 2 for points outside. A point as near to a control as `nearest` is the control;
/// the strides are those of the weights.
#define CAGE_MEAN_VALUE_BUFFERS(IN, OUT)                                                           \
    IN(double, points) IN(double, controls) IN(int, triangles) OUT(double, weights) OUT(int, status)
KERNEL_TAKES(cage_mean_value, int control_count; int triangle_count; int point_stride;
             int control_stride; double nearest)

/// Doubles side by side to floats vertex by vertex.
#define CAGE_WEIGHTS_TO_FLOAT_BUFFERS(IN, OUT) IN(double, weights) OUT(float, out)
KERNEL_TAKES(cage_weights_to_float, int control_count; int point_stride; int control_stride)

/// One step of successive over-relaxation at the nodes of one colour: `width` lanes from lane
/// `width * (item % groups)` of node `first + item / groups`. A node's new value is the mean of
/// what its six arms end in: a neighbour (coefficient not 0), or the cage, whose part is in `fixed`
/// (row -1: none).
#define CAGE_RELAX_BUFFERS(IN, OUT)                                                                \
    IN(int, neighbours) IN(double, coefficients) IN(int, rows) IN(double, fixed) OUT(double, values)
KERNEL_TAKES(cage_relax, int first; int groups; int width; int lanes; double omega)

/// How far the nodes of a stretch are from the mean of their arms: the largest of all lanes.
#define CAGE_RELAX_RESIDUAL_BUFFERS(IN, OUT)                                                       \
    IN(int, neighbours)                                                                            \
    IN(double, coefficients) IN(int, rows) IN(double, fixed) IN(double, values) OUT(double, out)
KERNEL_TAKES(cage_relax_residual, int node_count; int stretch; int lanes)

/// Vertex item % vertex_count of instance item / vertex_count. `centres`: of a vertex's controls at
/// rest, and the scale of its moments; `rest_normals`: Y n at unit length. `thin` is set where a
/// normal is left to cage_face_normals. What is not asked for may be NULL.
#define CAGE_DEFORM_BUFFERS(IN, OUT)                                                               \
    IN(int, slot_controls)                                                                         \
    IN(ELEM, slot_weights)                                                                         \
    IN(ELEM, centres)                                                                              \
    IN(ELEM, rest_normals)                                                                         \
    IN(ELEM, rest) IN(ELEM, posed) OUT(ELEM, positions) OUT(ELEM, normals) OUT(int, thin)
STRUCT(cage_deform_arguments)
{
    ITEM_RANGE;
    int vertex_count, slot_count, control_count;
    int vertex_stride, slot_stride; // of the slots
    int posed_first;
    int position_first, position_stride; // of the streams, in floats
    int normal_first, normal_stride;
    int with_normals;
};

/// Area-weighted normals of the faces around vertices that cage_deform has left at zero. Positions
/// are only read, but may lie in the buffer of the normals.
#define CAGE_FACE_NORMALS_BUFFERS(IN, OUT)                                                         \
    IN(int, thin) IN(int, face_first) IN(int, faces) OUT(ELEM, positions) OUT(ELEM, normals)
KERNEL_TAKES(cage_face_normals, int vertex_count; int position_first; int position_stride;
             int normal_first; int normal_stride)

#endif
