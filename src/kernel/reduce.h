/// What the kernels of weight reduction share (docs/design/reduction.md): constants, lanes, and
/// lists of buffers. With KERNEL_DOUBLE.
///
/// Vertices are done KERNEL_LANES side by side, one a lane of REAL: eight on a CPU, one on a GPU.
/// Invariant: a lane's result is a function of that lane's numbers alone, every sum runs in a fixed
/// order and ties go to the lower index, so the bits depend neither on the number of lanes nor on
/// the neighbours in a block.
///
/// Defined by the compiling host: REDUCE_SET (most controls a vertex keeps), REDUCE_CANDIDATES
/// (most it chooses from), REDUCE_LIST (the larger of the two). On a GPU also REDUCE_COLUMNS (the
/// number of poses) and REDUCE_TRIALS, so that a work item's arrays are no larger than they must
/// be.
#ifndef CUTIS_KERNEL_REDUCE_H
#define CUTIS_KERNEL_REDUCE_H

#include "arguments.h"
#include "reduce_arguments.h"
#include "reduce_solve.h"

#define REDUCE_PULL     1e-2 // of first weights towards the original ones: good on unseen poses
#define REDUCE_PROXIMAL 1e-3 // of a sweep towards the current ones, in mean diagonals
// Signed weights whose sum nearly vanishes cannot be divided by it.
#define REDUCE_SUM_MIN 1e-6
// An exchange must lower the vertex's energy by this share of what is there, or rounding would
// decide. At most this many at one vertex in one sweep.
#define REDUCE_EXCHANGE_MARGIN 1e-6
#define REDUCE_EXCHANGES       4
#define REDUCE_NONE            255 // no slot has the same control
#define REDUCE_POSES           8   // whose rows are held at a time

// Functions that vectors go through. They are inlined, but for OpenCL, whose compilers take seconds
// where they put them into each other.
#ifdef KERNEL_OPENCL
#define WIDE_FN static __attribute__((noinline))
#else
#define WIDE_FN FN
#endif

#ifdef REDUCE_COLUMNS
#define COLUMNS REDUCE_COLUMNS
#define TRIALS  REDUCE_TRIALS
#else
#define COLUMNS given.sizes.columns
#define TRIALS  given.trials
#endif
#if defined(REDUCE_COLUMNS) && REDUCE_COLUMNS < REDUCE_POSES
#define REDUCE_CHUNK (3 * REDUCE_COLUMNS) // rows held at a time
#else
#define REDUCE_CHUNK (3 * REDUCE_POSES)
#endif

// Lanes -----------------------------------------------------------------------------------------

// A mask is all bits of a lane in vectors and 1 in one lane: `mask == 0` negates it. ENTRY: of
// a block's records; NEAR_FLOAT: of an array of KERNEL_LANES a row. LINE: an array of rows, where
// one lane is all of it, else `copy`, whose numbers go to or come from lane l by lane_put and
// lane_get.
#if KERNEL_LANES > 1
typedef float reduce_floats __attribute__((vector_size(4 * KERNEL_LANES), aligned(4), may_alias));
typedef INT1 reduce_loose __attribute__((vector_size(8 * KERNEL_LANES), aligned(8), may_alias));
#define LANE(x, l)           ((x)[l])
#define ENTRY(p, i)          LOAD((p) + (i)*REDUCE_BLOCK)
#define PUT_ENTRY(p, i, x)   STORE((p) + (i)*REDUCE_BLOCK, x)
#define FLOATS(p)            __builtin_convertvector(*(const reduce_floats *)(p), REAL)
#define FLOAT_ENTRY(p, i)    FLOATS((p) + (i)*REDUCE_BLOCK)
#define NEAR_FLOAT(p, i)     FLOATS((p) + (i)*KERNEL_LANES)
#define LOAD_BITS(p)         ((INT)(*(const reduce_loose *)(p)))
#define STORE_BITS(p, x)     (*(reduce_loose *)(p) = (x))
#define STORE_LANES(p, x)    STORE(p, x)
#define SELECT_BITS(m, a, b) (((m) & (a)) | (~(m) & (b)))
#define LINE(rows, copy)     ((double *)(copy))
#define FETCH(p)             __builtin_prefetch(p)
FN int reduce_any(INT m)
{
    INT1 any = 0;
    for (int l = 0; l < KERNEL_LANES; l++) any |= m[l];
    return any != 0;
}
FN void lane_put(REAL *rows, int l, int count, const double *line)
{
    for (int i = 0; i < count; i++) rows[i][l] = line[i];
}
FN void lane_get(const REAL *rows, int l, int count, double *line)
{
    for (int i = 0; i < count; i++) line[i] = rows[i][l];
}
#else
#define LANE(x, l)                     (x)
#define ENTRY(p, i)                    ((p)[(i)*REDUCE_BLOCK])
#define PUT_ENTRY(p, i, x)             ((p)[(i)*REDUCE_BLOCK] = (x))
#define FLOAT_ENTRY(p, i)              ((double)(p)[(i)*REDUCE_BLOCK])
#define NEAR_FLOAT(p, i)               ((double)(p)[i])
#define LOAD_BITS(p)                   (*(p))
#define STORE_BITS(p, x)               (*(p) = (x))
#define STORE_LANES(p, x)              (*(p) = (x))
#define SELECT_BITS(m, a, b)           ((m) ? (a) : (b))
#define LINE(rows, copy)               (rows)
#define FETCH(p)                       ((void)0)
#define reduce_any(m)                  ((m) != 0)
#define lane_put(rows, l, count, line) ((void)0)
#define lane_get(rows, l, count, line) ((void)0)
#endif
#define ZERO SPLAT(0.0)
#define ONE  SPLAT(1.0)
// Is bit i of every lane set?
#define HAS(bits, i) ((((bits) >> (i)) & 1) != 0)
#define ALL_LANES    (ZERO == ZERO)
#define NO_LANES     (ZERO != ZERO)

FN REAL reduce_size_of(REAL x)
{
    return SELECT(x < ZERO, -x, x);
}

// Where entry (a, b) of a symmetric matrix is in its lower triangle.
FN int reduce_packed(int a, int b)
{
    return a < b ? TRIANGLE(b) + a : TRIANGLE(a) + b;
}

// Lists of buffers as structs of pointers, which helpers are handed: TAKE_MESH in a kernel makes
// `mesh` of the kernel's own.
#define REDUCE_IN(type, name)           GLOBAL const type *name;
#define REDUCE_OUT(type, name)          GLOBAL type *name;
#define REDUCE_TAKE_PROBLEM(type, name) problem.name = name;
#define REDUCE_TAKE_SETS(type, name)    sets.name = name;
#define REDUCE_TAKE_MESH(type, name)    mesh.name = name;
#define REDUCE_TAKE_BLOCKS(type, name)  blocks.name = name;
STRUCT(reduce_problem)
{
    REDUCE_PROBLEM_BUFFERS(REDUCE_IN, REDUCE_OUT)
    reduce_sizes sizes;
    int columns;
};
STRUCT(reduce_sets){ REDUCE_SET_BUFFERS(REDUCE_IN, REDUCE_OUT) };
STRUCT(reduce_mesh){ REDUCE_MESH_BUFFERS(REDUCE_IN, REDUCE_OUT) };
STRUCT(reduce_blocks){ REDUCE_BLOCK_BUFFERS(REDUCE_IN, REDUCE_OUT) };
#define TAKE_PROBLEM                                                                               \
    reduce_problem problem;                                                                        \
    REDUCE_PROBLEM_BUFFERS(REDUCE_TAKE_PROBLEM, REDUCE_TAKE_PROBLEM)                               \
    problem.sizes = given.sizes;                                                                   \
    problem.columns = COLUMNS;
#define TAKE_SETS                                                                                  \
    reduce_sets sets;                                                                              \
    REDUCE_SET_BUFFERS(REDUCE_TAKE_SETS, REDUCE_TAKE_SETS)
#define TAKE_MESH                                                                                  \
    reduce_mesh mesh;                                                                              \
    REDUCE_MESH_BUFFERS(REDUCE_TAKE_MESH, REDUCE_TAKE_MESH)
#define TAKE_BLOCKS                                                                                \
    reduce_blocks blocks;                                                                          \
    REDUCE_BLOCK_BUFFERS(REDUCE_TAKE_BLOCKS, REDUCE_TAKE_BLOCKS)

#endif
