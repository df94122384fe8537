/// What the kernels of handle weights take (handles_grid.h, handles_distance.h, handles_levels.h,
/// handles_multigrid.h, handles_sample.h, handles_virtual.h), and the numbers they share with the
/// host.
#ifndef CUTIS_KERNEL_HANDLES_ARGUMENTS_H
#define CUTIS_KERNEL_HANDLES_ARGUMENTS_H

#define HANDLES_NONE      0xffffffffu
#define HANDLES_INFINITY  3.402823466e+38f ///< beyond every distance: not reached
#define HANDLES_UNREACHED 0x7f7fffff       ///< its bits
#define HANDLES_TILE      8                ///< side of the tiles that voxels are numbered in
#define HANDLES_EMPTY     0
#define HANDLES_SURFACE   1
#define HANDLES_OUTSIDE   2
#define HANDLES_SUM       128 ///< nodes of a partial sum; sums of these run in order
#define HANDLES_AHEAD     12  ///< nodes that CPUs fetch neighbours ahead
#define HANDLES_SLOTS     64  ///< most influences that a vertex keeps
#define HANDLES_LAYERS    4   ///< most nodes of a voxel, where sheets split it
#define HANDLES_UNIT      32  ///< voxels of a field that are marched or left out together
/// A voxel is covered within this part of a support.
#define HANDLES_TAU 0.8

/// The voxel grid. Its outermost layers are never in the domain.
STRUCT(handles_grid)
{
    double origin[3], step; // low corner; side of a voxel
    int size[3];            // voxels along each axis
    int voxel_count;        // of the domain
};

// clang-format off

// Voxels of a shape -----------------------------------------------------------------------------

/// Voxels that a triangle touches. A triangle is `parts` items, each has some rows of its columns.
#define HANDLES_SURFACES_BUFFERS(IN, OUT)                                                          \
    IN(float, positions) IN(unsigned, triangles) OUT(unsigned char, state)
KERNEL_TAKES(handles_surfaces, handles_grid grid; int parts)

/// Voxels whose centres are within `radius` voxels of a point of a cloud.
#define HANDLES_BALLS_BUFFERS(IN, OUT)                                                             \
    IN(float, positions) IN(unsigned, points) OUT(unsigned char, state)
KERNEL_TAKES(handles_balls, handles_grid grid; double radius)

/// The voxel of each vertex.
#define HANDLES_CORNERS_BUFFERS(IN, OUT) IN(float, positions) OUT(unsigned char, state)
KERNEL_TAKES(handles_corners, handles_grid grid)

/// The outside spreads along rows of one axis, both ways. Rows have `length` voxels `stride` apart;
/// `inner` of them stand `inner_stride` apart, and such sets of them `outer_stride`. An item has
/// `width` rows of a set, more than one only where they stand side by side.
#define HANDLES_FLOOD_BUFFERS(IN, OUT) OUT(unsigned char, state) OUT(int, flag)
KERNEL_TAKES(handles_flood,
    int length; int stride; int inner; int inner_stride; int outer_stride; int width)

/// Voxels of each row of a tile: eight places along x; the 64 rows of a tile stand together.
#define HANDLES_ROWS_BUFFERS(IN, OUT) IN(unsigned char, state) OUT(int, rows)
KERNEL_TAKES(handles_rows, handles_grid grid)

/// Numbers of voxels, tile by tile. `rows`: voxels before each row.
#define HANDLES_NUMBER_BUFFERS(IN, OUT)                                                            \
    IN(unsigned char, state) IN(int, rows) OUT(unsigned, index) OUT(unsigned, place)
KERNEL_TAKES(handles_number, handles_grid grid)

/// Neighbours of each voxel (-x +x -y +y -z +z), and itself as its piece so far.
#define HANDLES_LINKS_BUFFERS(IN, OUT)                                                             \
    IN(unsigned, index) IN(unsigned, place) OUT(unsigned, neighbour) OUT(unsigned, piece)
KERNEL_TAKES(handles_links, handles_grid grid)

/// The least voxel that a voxel, its neighbours, or that one know of.
#define HANDLES_PIECES_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, neighbour) IN(unsigned, piece) OUT(unsigned, other_piece) OUT(int, flag)
KERNEL_TAKES_NONE(handles_pieces)

/// Which voxels are the first of their pieces.
#define HANDLES_ROOTS_BUFFERS(IN, OUT) IN(unsigned, piece) OUT(int, roots)
KERNEL_TAKES_NONE(handles_roots)

/// Pieces in the order of their first voxels. `roots`: such voxels before each voxel.
#define HANDLES_NAMES_BUFFERS(IN, OUT) IN(unsigned, piece) IN(int, roots) OUT(unsigned, component)
KERNEL_TAKES_NONE(handles_names)

// Distances by sweeps ---------------------------------------------------------------------------

/// Voxels near a segment that see it get their straight distance: field f has the segments from
/// segment_first[f] on. `start` and `start_label` hold the voxels that sites pass through, and are
/// the result. Items are the voxels of `units` (NULL: of all); the labels may be NULL, both.
#define HANDLES_START_BUFFERS(IN, OUT)                                                             \
    IN(unsigned, units) IN(unsigned, index) IN(unsigned, place) IN(double, segments)               \
    IN(unsigned, segment_labels) IN(unsigned, segment_first) OUT(float, start)                     \
    OUT(unsigned, start_label)
KERNEL_TAKES(handles_start, handles_grid grid; double reach)

/// One sweep of all voxels: Godunov's step from the six neighbours, or the start. Repeated until
/// nothing changes it is the solution that marching finds.
#define HANDLES_SWEEP_BUFFERS(IN, OUT)                                                             \
    IN(unsigned, neighbour) IN(float, start) IN(unsigned, start_label) IN(float, distance)         \
    IN(unsigned, label) OUT(float, other_distance) OUT(unsigned, other_label) OUT(int, flag)
KERNEL_TAKES(handles_sweep, handles_grid grid)

/// A sweep of many fields, each wanted below its bound only. Voxels that are not in `units` hold
/// HANDLES_INFINITY in both buffers.
#define HANDLES_FIELDS_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, units) IN(unsigned, neighbour) IN(float, bound) IN(float, field)                  \
    OUT(float, other_field) OUT(int, flag)
KERNEL_TAKES(handles_fields, handles_grid grid)

/// field[seed[item]] = seed_value[item]; equal places have equal values.
#define HANDLES_SCATTER_BUFFERS(IN, OUT) IN(unsigned, seed) IN(float, seed_value) OUT(float, field)
KERNEL_TAKES_NONE(handles_scatter)

// Levels of the multigrid -----------------------------------------------------------------------
//
// They stand one behind the other, from node `at` on; indices of nodes count within a level.

/// Whether a voxel is free and of a colour: flags for the first, then for the second.
#define HANDLES_SPLIT_BUFFERS(IN, OUT) IN(unsigned, owner) IN(unsigned, place) OUT(int, places)
KERNEL_TAKES(handles_split, handles_grid grid)

/// The finest level: its nodes and their places (`cell`). `places`: sums of the flags.
#define HANDLES_NODES_BUFFERS(IN, OUT)                                                             \
    IN(unsigned, owner) IN(unsigned, place) IN(int, places) OUT(unsigned, node)                    \
    OUT(unsigned, voxel) OUT(unsigned, cell)
KERNEL_TAKES(handles_nodes, handles_grid grid)

/// The first child of each block of 2 x 2 x 2 places. `map`: the node at each place of the finer
/// grid, which has `size` of them; for the finest level the voxel, and `node` its node, else NULL.
/// Nothing is cut: a place has one node.
#define HANDLES_FIRSTS_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, map) IN(unsigned, node) OUT(unsigned, first_child)
KERNEL_TAKES(handles_firsts, int size[3])

/// Whether a node is its block's first child: flags by the block's colour, as of handles_split.
#define HANDLES_HEADS_BUFFERS(IN, OUT) IN(unsigned, cell) IN(unsigned, first_child) OUT(int, places)
KERNEL_TAKES(handles_heads, int size[3]; int at; int count)

/// Blocks as nodes of the coarser level, which begins at `to`: its map, its nodes' places, how many
/// children they have, and the order of their first children. `count`: of the finer nodes.
#define HANDLES_BLOCKS_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, map) IN(unsigned, node) IN(unsigned, first_child)              \
    IN(int, places) OUT(unsigned, other_map) OUT(unsigned, cell) OUT(unsigned, order) OUT(int, family)
KERNEL_TAKES(handles_blocks, int size[3]; int to; int count)

/// Children in ascending order, and their parent. `family`: sums of the families, which the list of
/// the level gets too, with one item more than the level has nodes.
#define HANDLES_CHILDREN_BUFFERS(IN, OUT)                                                          \
    IN(unsigned, map) IN(unsigned, node) IN(unsigned, cell) IN(int, family)     \
    OUT(unsigned, child_first) OUT(unsigned, child) OUT(unsigned, parent)
KERNEL_TAKES(handles_children, int size[3]; int at; int to; int list; int count)

/// Conductances to the six neighbours: they fall with the distance to the nearest site, as 1 / d
/// from a bar, as 1 / d^2 from a point.
#define HANDLES_CONDUCT_BUFFERS(IN, OUT)                                                           \
    IN(unsigned, neighbour) IN(float, distance) IN(unsigned, label) IN(int, bars)                  \
    OUT(double, conductance)
KERNEL_TAKES(handles_conduct, handles_grid grid)

/// The finest level: free voxels, with what goes to fixed ones in the diagonal. A node without a
/// neighbour has itself there, with conductance 0.
#define HANDLES_FINEST_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, voxel) IN(unsigned, node) IN(unsigned, neighbour) IN(double, conductance)         \
    OUT(unsigned, level_neighbour) OUT(double, level_conductance) OUT(double, diagonal)            \
    OUT(double, inverse)
KERNEL_TAKES_NONE(handles_finest)

/// The level at `to` from the finer one at `at`: blocks of nodes, half their conductances.
#define HANDLES_COARSE_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, parent) IN(unsigned, child_first) IN(unsigned, child)                             \
    OUT(unsigned, level_neighbour) OUT(double, level_conductance) OUT(double, diagonal)            \
    OUT(double, inverse)
KERNEL_TAKES(handles_coarse, int at; int to; int list)

// Fields by conjugate gradients -----------------------------------------------------------------
//
// Fields ("lanes") stand side by side: lane l of node i is at i * lanes + l. An item has `width`
// lanes of a node: 1 on GPUs, all on CPUs.

#define HANDLES_LANES int lanes, width

/// First fields (1 where site `first` + lane is nearest), their residual, and no direction.
#define HANDLES_BEGIN_BUFFERS(IN, OUT)                                                             \
    IN(unsigned, voxel) IN(unsigned, label) IN(unsigned, owner) IN(unsigned, neighbour)            \
    IN(double, conductance) IN(unsigned, level_neighbour) IN(double, level_conductance)            \
    IN(double, diagonal) OUT(double, x) OUT(double, r) OUT(double, p)
KERNEL_TAKES(handles_begin, HANDLES_LANES; int first)

/// z = (r + sum of conductance * neighbour) / diagonal at the nodes of a level from `first` on, one
/// colour; with `zero` neighbours count as nothing. r and z have all levels.
#define HANDLES_SMOOTH_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, level_neighbour) IN(double, level_conductance) IN(double, inverse) IN(double, r)  \
    OUT(double, z)
KERNEL_TAKES(handles_smooth, HANDLES_LANES; int at; int first; int zero)

/// Residuals of the red children (black ones have none) of each block, summed: r of the level at
/// `to`. Items are blocks in the order of their first children, so children are passed once.
#define HANDLES_RESTRICT_BUFFERS(IN, OUT)                                                          \
    IN(unsigned, level_neighbour) IN(double, level_conductance) IN(double, diagonal)               \
    IN(unsigned, child_first) IN(unsigned, child) IN(unsigned, order) IN(double, z)                \
    OUT(double, r)
KERNEL_TAKES(handles_restrict, HANDLES_LANES; int at; int to; int list; int red)

/// Corrections of blocks, added to their children.
#define HANDLES_PROLONG_BUFFERS(IN, OUT) IN(unsigned, parent) OUT(double, z)
KERNEL_TAKES(handles_prolong, HANDLES_LANES; int at; int to)

/// The coarsest level, which has few nodes: all of it is one item.
#define HANDLES_COARSEST_BUFFERS(IN, OUT)                                                          \
    IN(unsigned, level_neighbour) IN(double, level_conductance) IN(double, inverse) IN(double, r)  \
    OUT(double, z)
KERNEL_TAKES(handles_coarsest, HANDLES_LANES; int at; int red; int count; int sweeps)

// An item has `stretch` nodes, of `count`: one, or HANDLES_SUM of them, of which it makes a partial
// sum, too. Scalars, of all lanes: rho, beta, alpha, done.

/// Sums of the products of two vectors.
#define HANDLES_DOT_BUFFERS(IN, OUT) IN(double, r) IN(double, z) OUT(double, partial)
/// p = z + beta p.
#define HANDLES_DIRECTION_BUFFERS(IN, OUT) IN(double, scalars) IN(double, z) OUT(double, p)
/// q = A p, and sums of q p.
#define HANDLES_APPLY_BUFFERS(IN, OUT)                                                             \
    IN(unsigned, level_neighbour) IN(double, level_conductance) IN(double, diagonal)               \
    IN(double, p) OUT(double, q) OUT(double, partial)
/// x += alpha p, r -= alpha q, and the largest |r| / diagonal.
#define HANDLES_ADVANCE_BUFFERS(IN, OUT)                                                           \
    IN(double, scalars) IN(double, inverse) IN(double, p) IN(double, q) OUT(double, x)             \
    OUT(double, r) OUT(double, partial)
/// The largest |r| / diagonal.
#define HANDLES_WORST_BUFFERS(IN, OUT) IN(double, inverse) IN(double, r) OUT(double, partial)
KERNEL_TAKES(handles_dot, HANDLES_LANES; int count; int stretch)
KERNEL_TAKES(handles_direction, HANDLES_LANES; int count; int stretch)
KERNEL_TAKES(handles_apply, HANDLES_LANES; int count; int stretch)
KERNEL_TAKES(handles_advance, HANDLES_LANES; int count; int stretch)
KERNEL_TAKES(handles_worst, HANDLES_LANES; int count; int stretch)

/// From the sums of r z: beta and the new rho. From those of q p: alpha, 0 for lanes that are done.
#define HANDLES_FIND_BETA_BUFFERS(IN, OUT)  IN(double, partial) OUT(double, scalars)
#define HANDLES_FIND_ALPHA_BUFFERS(IN, OUT) IN(double, partial) OUT(double, scalars)
/// Which lanes have converged: they stop for good, so what else is solved beside them does not
/// matter. `flag` is set while one has not.
#define HANDLES_DONE_BUFFERS(IN, OUT) IN(double, partial) OUT(double, scalars) OUT(int, flag)
KERNEL_TAKES(handles_find_beta, HANDLES_LANES; int sums)
KERNEL_TAKES(handles_find_alpha, HANDLES_LANES; int sums)
KERNEL_TAKES(handles_done, HANDLES_LANES; double tolerance; int sums)

/// Values of sites from `first` on at a voxel: 1 and 0 where it is fixed, else its node's.
#define HANDLES_GATHER_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, node) IN(unsigned, owner) IN(double, x) OUT(float, values)
KERNEL_TAKES(handles_gather, HANDLES_LANES; int first; int sites)

/// All values of a voxel, divided by their sum: what the solver left over is shared by all.
#define HANDLES_NORMALISE_BUFFERS(IN, OUT) OUT(float, values)
KERNEL_TAKES(handles_normalise, int sites)

// Vertices --------------------------------------------------------------------------------------

/// The largest weights of a vertex, by ascending joint, summing to one; and what was dropped.
/// An item has `stretch` vertices; a vertex keeps `slots` weights. `sums` is scratch, of all sites
/// for each item, with the strides of both. With `passes`, vertices marked in `passed` are left to
/// the host: they are near a cut.
#define HANDLES_SAMPLE_BUFFERS(IN, OUT)                                                            \
    IN(unsigned, index) IN(float, values) IN(float, positions) IN(unsigned char, passed)           \
    IN(unsigned, joint_site) IN(unsigned, sharers) OUT(double, sums) OUT(unsigned, joints)         \
    OUT(float, weights) OUT(double, dropped)
KERNEL_TAKES(handles_sample,
    handles_grid grid; int vertices; int stretch; int sites; int joint_count; int slots;
    int item_stride; int site_stride; int passes)

// Virtual handles -------------------------------------------------------------------------------
//
// Fields stand one behind the other: voxel v of field f is at f * voxel_count + v. Sites' fields
// are found through `slot`.

/// Fields that were marched, into the places where sites find them.
#define HANDLES_KEEP_BUFFERS(IN, OUT)                                                              \
    IN(float, field) IN(unsigned, new_slot) OUT(float, site_fields)
KERNEL_TAKES(handles_keep, handles_grid grid)

/// Least distance from site item / sites to the core of site item % sites.
#define HANDLES_APART_BUFFERS(IN, OUT)                                                             \
    IN(float, site_fields) IN(unsigned, slot) IN(unsigned, core_first) IN(unsigned, cores)         \
    OUT(float, apart)
KERNEL_TAKES(handles_apart, int sites; int voxel_count)

/// What sites cover of a voxel: the least part of a radius. With `capacity`, the first entries of its
/// list of handles too, which holds as many; `overflow` is set where that is too few. Pieces
/// without a site (label NONE) follow their owner as a whole.
#define HANDLES_COVER_BUFFERS(IN, OUT)                                                             \
    IN(float, site_fields) IN(unsigned, slot) IN(double, radius) IN(unsigned, held)                \
    IN(unsigned, owner) OUT(float, cover) OUT(unsigned, unpacked_count)                            \
    OUT(unsigned, unpacked_handle) OUT(float, unpacked_value) OUT(int, overflow)
KERNEL_TAKES(handles_cover, int sites; int voxel_count; int capacity)

/// Which of 32 voxels are maxima of cover above HANDLES_TAU.
#define HANDLES_PEAKS_BUFFERS(IN, OUT) IN(unsigned, neighbour) IN(float, cover) OUT(unsigned, mask)
KERNEL_TAKES(handles_peaks, handles_grid grid)

/// Candidates by falling cover; equal ones by voxel.
#define HANDLES_RANK_BUFFERS(IN, OUT) IN(unsigned, candidate) IN(float, cover) OUT(unsigned, sorted)
KERNEL_TAKES(handles_rank, int count)

/// Box of the voxels of a unit: low and high x, y, z.
#define HANDLES_BOXES_BUFFERS(IN, OUT) IN(unsigned, place) OUT(int, boxes)
KERNEL_TAKES(handles_boxes, handles_grid grid)

/// How far a candidate's field is followed at first: as far as the nearest site, whose core begins
/// before it, within `least` and `most`. Candidates from `first` on.
#define HANDLES_BOUND_BUFFERS(IN, OUT)                                                             \
    IN(unsigned, sorted) IN(unsigned, place) IN(float, site_fields) IN(unsigned, slot)             \
    OUT(float, bound) OUT(unsigned, middle) OUT(double, segments) OUT(unsigned, segment_first)
KERNEL_TAKES(handles_bound, handles_grid grid; double least; double most; int first; int sites)

/// Which of 32 units hold voxels within a field's bound of its middle, in a straight line and with
/// some to spare: no way below the bound leads through others.
#define HANDLES_AROUND_BUFFERS(IN, OUT)                                                            \
    IN(int, boxes) IN(unsigned, place) IN(unsigned, middle) IN(float, bound)                       \
    OUT(unsigned, around)
KERNEL_TAKES(handles_around, handles_grid grid)

/// Least distance of field item / parts to a part of all cores.
#define HANDLES_NEAR_BUFFERS(IN, OUT) IN(float, field) IN(unsigned, cores) OUT(float, core_distance)
KERNEL_TAKES(handles_near, int core_count; int parts; int voxel_count)

/// The support of a candidate ends before the first core, a `part` of the way to it: its radius and
/// its voxel. One that met no core before its bound, and may go farther, is followed twice as far.
#define HANDLES_SUPPORT_BUFFERS(IN, OUT)                                                           \
    IN(float, core_distance) IN(unsigned, middle) OUT(float, bound) OUT(double, support)           \
    OUT(int, flag)
KERNEL_TAKES(handles_support, double part; double least; double most; int parts)

/// Whether candidate i of a batch covers candidate j behind it; on the diagonal: whether i is
/// covered already.
#define HANDLES_CLASH_BUFFERS(IN, OUT)                                                             \
    IN(float, field) IN(unsigned, middle) IN(double, support) IN(float, cover)                     \
    OUT(unsigned, clash)
KERNEL_TAKES(handles_clash, int batch; int voxel_count)

/// Supports of the accepted ones of a batch, handles from `first_handle` on: cover and list of each
/// voxel.
#define HANDLES_GAIN_BUFFERS(IN, OUT)                                                              \
    IN(float, field) IN(unsigned, accepted) IN(double, support) OUT(float, cover)                  \
    OUT(unsigned, unpacked_count) OUT(unsigned, unpacked_handle) OUT(float, unpacked_value)        \
    OUT(int, overflow)
KERNEL_TAKES(handles_gain, int accepted_count; int first_handle; int voxel_count; int capacity)

/// How many faces a voxel has (+x, +y, +z) with cells of other handles.
#define HANDLES_BORDERS_BUFFERS(IN, OUT)                                                           \
    IN(unsigned, neighbour) IN(float, distance) IN(unsigned, label) OUT(int, borders)
KERNEL_TAKES_NONE(handles_borders)

/// Those faces, one voxel's behind the other's (`borders`: sums of their counts): the cells, the
/// lower one first, the length of the way between, and the factor that falls with the distance to
/// the nearest site.
#define HANDLES_FACES_BUFFERS(IN, OUT)                                                             \
    IN(unsigned, neighbour) IN(float, distance) IN(unsigned, label) IN(float, site_fields)         \
    IN(unsigned, slot) IN(int, bars) IN(int, borders) OUT(unsigned, face_cells)                    \
    OUT(double, face_lengths)
KERNEL_TAKES(handles_faces, double step; int sites; int voxel_count)

/// Lists without gaps. `list_first`: where each begins.
#define HANDLES_PACK_BUFFERS(IN, OUT)                                                              \
    IN(unsigned, list_first) IN(unsigned, unpacked_handle) IN(float, unpacked_value)               \
    OUT(unsigned, list_handle) OUT(float, list_value)
KERNEL_TAKES(handles_pack, int capacity)

/// Virtual handles into the real ones: each gives its value to them by its shares.
#define HANDLES_FOLD_BUFFERS(IN, OUT)                                                              \
    IN(unsigned, list_first) IN(unsigned, list_handle) IN(float, list_value) IN(double, share)     \
    OUT(float, values) OUT(float, density)
KERNEL_TAKES(handles_fold, int sites)

#endif
