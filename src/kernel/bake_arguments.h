/// What the kernels of bake_items.h take. `columns` are targets or turns with neighbouring points
/// side by side, [3 stride][points]; `tracks` are of joints and then helpers, [bone][4][3][stride].
#ifndef CUTIS_KERNEL_BAKE_ARGUMENTS_H
#define CUTIS_KERNEL_BAKE_ARGUMENTS_H

#define BAKE_SQUARE 10 // entries of a symmetric 4 x 4 matrix
#define BAKE_GROUP  4  // bones of an item of bake_sums

/// Eight floats of a point for each item, into columns.
#define BAKE_COLUMNS_BUFFERS(IN, OUT) IN(float, targets) OUT(float, columns)
KERNEL_TAKES(bake_columns, int points; int length)

/// c_b of two points and BAKE_GROUP bones for each item: sum over frames of M_b^T v, times the
/// place. Out: [bone][points]. one: 1 for places, 0 for directions
#define BAKE_SUMS_BUFFERS(IN, OUT)                                                                 \
    IN(float, columns) IN(double, tracks) IN(double, places) OUT(double, sums)
KERNEL_TAKES(bake_sums, int points; int length; int bone_first; int bones; int one)

/// Of those the ones of joints that a point may follow, an item a point.
#define BAKE_PICK_BUFFERS(IN, OUT)                                                                 \
    IN(double, sums) IN(int, joint_first) IN(int, joint) OUT(double, picked)
KERNEL_TAKES(bake_pick, int points; int bone_first; int bones)

/// Sum of squares of a point's targets, and of its turns (NULL: none) times `worth`.
#define BAKE_LENGTHS_BUFFERS(IN, OUT)                                                              \
    IN(float, columns) IN(float, turned_columns) OUT(double, lengths)
KERNEL_TAKES(bake_lengths, int points; int length; int turns; double worth)

/// Weights, an item a point (kernel/bake.h). products and turned are sums of helpers; turned may be
/// NULL without turns, allowed where all are, given_* without a prior, loss where it is not asked
/// for. product_of, diagonal_of and listed are scratch, [bone][points].
#define BAKE_WEIGH_BUFFERS(IN, OUT)                                                                \
    IN(double, square)                                                                             \
    IN(double, lengths)                                                                            \
    IN(int, joint_first)                                                                           \
    IN(int, joint_near)                                                                            \
    IN(int, joint)                                                                                 \
    IN(double, joint_product)                                                                      \
    IN(double, products)                                                                           \
    IN(double, turned)                                                                             \
    IN(unsigned char, allowed)                                                                     \
    IN(double, form)                                                                               \
    IN(int, given_first)                                                                           \
    IN(int, given_joint)                                                                           \
    IN(double, given_weight)                                                                       \
    IN(unsigned char, limits)                                                                      \
    OUT(unsigned char, slots)                                                                      \
    OUT(int, bone)                                                                                 \
    OUT(double, weight)                                                                            \
    OUT(double, used)                                                                              \
    OUT(double, energy)                                                                            \
    OUT(double, loss) OUT(double, product_of) OUT(double, diagonal_of) OUT(int, listed)
KERNEL_TAKES(bake_weigh, int points; int joints; int helpers; int influences; int sweeps; int turns;
             int masked; int losses; double affinity; double prior; double beyond; double worth)

/// Goals of one helper, row and frame for each item: over the points of its list, in order.
#define BAKE_GOALS_BUFFERS(IN, OUT)                                                                \
    IN(int, list_first)                                                                            \
    IN(int, list)                                                                                  \
    IN(double, share)                                                                              \
    IN(double, places)                                                                             \
    IN(double, normals) IN(float, targets) IN(float, turned) OUT(double, goals)
KERNEL_TAKES(bake_goals, int stride; int turns; double worth)

/// Squared distances of points from `point_first` on, frame by frame: an item each,
/// [point][stride]. one: 1 for places, 0 for directions, of which what stands across the target
/// counts
#define BAKE_OFF_BUFFERS(IN, OUT)                                                                  \
    IN(int, begin)                                                                                 \
    IN(int, end)                                                                                   \
    IN(int, bone)                                                                                  \
    IN(double, weight) IN(double, tracks) IN(double, places) IN(float, targets) OUT(double, off)
KERNEL_TAKES(bake_off, int point_first; int stride; int one)

/// Their sums over frames, an item a point.
#define BAKE_OFF_POINTS_BUFFERS(IN, OUT) IN(double, off) OUT(double, sums)
KERNEL_TAKES(bake_off_points, int point_first; int stride; int frames)

/// Their sums over points, an item a frame, on top of what is there.
#define BAKE_OFF_FRAMES_BUFFERS(IN, OUT) IN(double, off) IN(double, mass) OUT(double, sums)
KERNEL_TAKES(bake_off_frames, int point_first; int points; int stride)

#endif
