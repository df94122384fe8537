/// Kernel text: the values of blending patches: vectors in double, planes, arcs, conics, and the
/// names of everything that lies in the four big buffers. After team.h.
///
/// A bound body is two buffers: S (ints) and G (doubles); what an instance needs while it is made
/// is two more, I and D (base + instance * stride). S begins with the counts and places of
/// patch_field, so that a kernel needs no argument per array: FIELD(S, PATCH_RING) is the first
/// entry of that array. Arithmetic is double on every device: joints are closed to rounding with
/// it, and sums, products, quotients and roots have the same bits everywhere.
#ifndef CUTIS_KERNEL_PATCHES_H
#define CUTIS_KERNEL_PATCHES_H

// Functions that are called from several places: inlined everywhere they would make kernels of
// hundreds of kilobytes, which take minutes to compile and do not fit an instruction cache.
#if defined(KERNEL_CUDA)
#define PATCH_FN static __device__ __noinline__
#elif defined(KERNEL_OPENCL)
#define PATCH_FN static __attribute__((noinline))
#else
#define PATCH_FN static __attribute__((noinline, unused))
#endif

/// Counts, then places. "P" parts, "J" joints (loops), "V" part vertices (a vertex of a loop stands
/// in both of its parts), "E" edges, "L" places on loops, "N" entries: (part, loop of it).
enum patch_field {
    PATCH_PART_COUNT,
    PATCH_JOINT_COUNT,
    PATCH_VERTEX_COUNT,
    PATCH_FACE_COUNT,
    PATCH_INT_STRIDE, ///< of an instance in I
    PATCH_REAL_STRIDE,
    PATCH_BOX,       ///< 1: the paper's removal, 0: plane cut
    PATCH_FILL,      ///< patch_fill_kind
    PATCH_CURVE_MAX, ///< inner samples of a rung at most
    // places in S
    PATCH_PART_VERTEX,  ///< P + 1
    PATCH_PART_FACE,    ///< P + 1
    PATCH_PART_ENTRY,   ///< P + 1, into the entries
    PATCH_PART_SEED,    ///< P: the vertex farthest from all loops
    PATCH_PART_TIP,     ///< P: place in G of distances to the tip, or -1
    PATCH_ENTRY_JOINT,  ///< N
    PATCH_ENTRY_SIDE,   ///< N: 0 the part is the parent, 1 the child
    PATCH_ENTRY_FAR,    ///< N: place in G of the part's distances to the loop
    PATCH_ENTRY_AT,     ///< N: + a vertex: its place in PATCH_FAR, PATCH_VALUE and PATCH_NEAR
    PATCH_ENTRY_ORDER,  ///< N: place in S of the part's vertices by that distance
    PATCH_ENTRY_SHARE,  ///< N: its shares in PATCH_SHARE
    PATCH_ENTRY_SLOT,   ///< N + 1: border slots of an entry, into the slot arrays
    PATCH_JOINT_PART,   ///< 2 J: parent, child
    PATCH_JOINT_ENTRY,  ///< 2 J: entry in the parent, in the child
    PATCH_JOINT_SEAM,   ///< J: 1: never articulated
    PATCH_JOINT_LOOP,   ///< J + 1, into the loop arrays
    PATCH_JOINT_RUNG,   ///< J + 1: rungs of a joint
    PATCH_JOINT_POINT,  ///< J + 1: samples of a joint
    PATCH_LOOP_VERTEX,  ///< 2 L: part vertex in the parent, in the child
    PATCH_VERTEX_PART,  ///< V
    PATCH_VERTEX_LOOP,  ///< V: joint, or -1
    PATCH_VERTEX_PLACE, ///< V: place on the loop, from its first
    PATCH_RING_FIRST,   ///< V + 1
    PATCH_RING,         ///< neighbours counter-clockwise; on a loop from border to border
    PATCH_RING_EDGE,    ///< the edges to them
    PATCH_FACES,        ///< 3 F part vertices
    PATCH_FACE_EDGES,   ///< 3 F: edge from corner k to k + 1
    PATCH_FACE_JOINED,  ///< 3 F: the face across it in the same part, or -1
    PATCH_SLOT_JOINT,   ///< slots: their joint
    PATCH_SEED_ORDER,   ///< V: of each part the vertices by their distance to its seed
    PATCH_VERTEX_FILE,  ///< V: a vertex of the model
    PATCH_FACE_ORIGIN,  ///< F: triangle of the model
    // places in G
    PATCH_POINTS,      ///< 3 V
    PATCH_NORMALS,     ///< 3 V
    PATCH_EDGE_NORMAL, ///< 3 E: of its faces together, weighted by area
    PATCH_EDGE_STEP,   ///< P: median edge
    PATCH_EDGE_MOST,   ///< P: longest edge
    PATCH_CENTROID,    ///< 3 P
    PATCH_VOLUME,      ///< P: closed by fans over its loops
    PATCH_FRAME,       ///< 15 P: three axes, least and greatest along each
    PATCH_CENTRE,      ///< 3 J: the point it turns about
    PATCH_LIMB,        ///< 3 J: limb direction
    PATCH_PLANE,       ///< 3 J: normal of the loop, parent to child
    PATCH_WIDTH,       ///< J: shorter half axis of the loop
    PATCH_SHIFTS,      ///< 9 L: sums of y[i + k] y[i]^T, for every shift k of a loop
    PATCH_STEP,        ///< J: sampling length
    PATCH_CONIC,       ///< PATCH_CONIC_STEPS + 1: w for evenly spaced g
    PATCH_SCALARS,     ///< diagonal, eps
    PATCH_FAR,         ///< distances to the loops, entry by entry
    // places in I, from the instance's base
    PATCH_STATE,      ///< V: patch_state
    PATCH_OWNER,      ///< V: entry that removes it, or -1
    PATCH_SLOT,       ///< V: its border slot
    PATCH_VERTEX_OUT, ///< V: output vertex, -1: removed, -2 - slot: that slot's
    PATCH_EDGE_SLOT,  ///< E: slot of the point that splits it
    PATCH_QUEUE,      ///< V: scratch
    PATCH_SNAP_EDGE,  ///< V: edge a vertex may be moved along, or -1
    PATCH_SLOT_NODE,  ///< slots: vertex, or -1 - edge
    PATCH_SLOT_NEXT,
    PATCH_SLOT_ORDER, ///< slots in order along the border
    PATCH_SLOT_RANK,  ///< and back
    PATCH_SLOT_WELD,  ///< child: slot of the parent it became one with, or -1
    PATCH_SLOT_OUT,   ///< output vertex; -1 - n: split point n from the joint's first
    PATCH_SLOT_GUEST, ///< parent: the child's slot that became one with it, or -1
    PATCH_SLOT_LOOP,  ///< by rank: is it on the loop?
    PATCH_SLOT_RUNG,  ///< its first rung
    PATCH_SLOT_FROM,  ///< vertices it lies between: SLOT_T of the way
    PATCH_SLOT_TO,
    PATCH_BORDER,     ///< N: slots of the entry
    PATCH_REACH,      ///< N: how many of its vertices by distance the entry looks at
    PATCH_NEAR,       ///< per entry: its vertices beside the border
    PATCH_NEAR_COUNT, ///< N: how many
    PATCH_TRIES,      ///< P
    PATCH_TOUCHED,    ///< P: faces that have removed or moved vertices
    PATCH_FACE_LIST,  ///< F: these faces, from the part's first; later scratch
    PATCH_JOINT_INTS, ///< PATCH_JOINT_INT_COUNT per joint
    PATCH_RUNG_P,     ///< slot of the parent
    PATCH_RUNG_C,
    PATCH_RUNG_KIND,    ///< patch_rung
    PATCH_RUNG_COUNT,   ///< inner samples
    PATCH_RUNG_FIRST,   ///< first of them, from the joint's first
    PATCH_RUNG_FACE,    ///< first triangle of the strip to the next rung, likewise
    PATCH_BLOCK_VERTEX, ///< per block of vertices: first output vertex
    PATCH_BLOCK_FACE,   ///< per block of faces: first output triangle
    // places in D
    PATCH_MATRIX,      ///< 12 P: part to world
    PATCH_JOINT_REAL,  ///< PATCH_JOINT_REAL_COUNT per joint
    PATCH_VALUE,       ///< per entry like PATCH_FAR: how far a vertex is removed by it
    PATCH_SNAP,        ///< V: how far from it, of the edge's length
    PATCH_SHARE,       ///< per entry its shares of the way to the part's entries
    PATCH_SHRINK,      ///< N: what this try takes from the territory
    PATCH_ENTRY_SUM,   ///< TEAM_PARTS per entry
    PATCH_SLOT_POINT,  ///< 3 per slot, rest
    PATCH_SLOT_PLACED, ///< 3 per slot, the parent's rest space, from the centre
    PATCH_SLOT_FAR,    ///< distance to the loop
    PATCH_SLOT_ALONG,  ///< place on the joint loop, or -1
    PATCH_RUNG_ALONG,  ///< place on the joint loop
    PATCH_SAMPLE,      ///< 3 per sample, parent's rest space
    PATCH_SLOT_GAP,    ///< by rank: distance to the next
    PATCH_SLOT_T,      ///< of the way between its two vertices
    PATCH_JOINT_SUM,   ///< PATCH_SCRATCH per joint
    PATCH_RUNG_SUM,    ///< 12 per rung: the patch's normals at its ends: after it and before it
    PATCH_SAMPLE_SUM,  ///< 6 per sample, likewise
    PATCH_FIELD_COUNT
};

// A body's ints, S. On CUDA the fields in front come once more as an argument of their own, which
// is constant memory: nearly every access needs one, and reading it would cost as much as the
// access.
#if defined(KERNEL_CUDA)
struct patch_head {
    int fields[PATCH_FIELD_COUNT];
};
struct patch_ints {
    const int *at, *fields;
    __device__ __forceinline__ int operator[](int field) const { return fields[field]; }
    __device__ __forceinline__ const int *operator+(int place) const { return at + place; }
};
#define PATCH_BODY patch_ints
#define PATCH_BODY_ARGS                                                                            \
    const int *__restrict__ body_ints, const __grid_constant__ patch_head body_head
#define PATCH_BODY_HERE patch_ints S = { body_ints, body_head.fields };
#else
#define PATCH_BODY      GLOBAL const int *RESTRICT
#define PATCH_BODY_ARGS PATCH_BODY S
#define PATCH_BODY_HERE
#endif

#define FIELD(S, name)    ((S) + (S)[name]) // ints
#define REALS(S, G, name) ((G) + (S)[name]) // doubles
#define PATCH_BLOCK       256               // vertices or faces that are counted together
#define PATCH_CONIC_STEPS 1024
#define PATCH_TIMES       16
#define PATCH_CURVE_MOST  48 // samples of a rung: a right angle of a limb of 40 edges takes 10
#define PATCH_SUMS        18 // over the strips of a joint (patches_keep.h)
// Scratch of a joint: sums in parts, then whole; what samples of rear rungs are mixed of.
#define PATCH_SCRATCH_SUM (TEAM_PARTS * PATCH_SUMS)
#define PATCH_SCRATCH_MIX (PATCH_SCRATCH_SUM + PATCH_SUMS)
#define PATCH_SCRATCH     (PATCH_SCRATCH_MIX + 3 * (PATCH_CURVE_MOST + 2))

enum patch_state { PATCH_KEPT, PATCH_REMOVED, PATCH_ZERO /* moved onto the border */ };
enum patch_rung {
    PATCH_RUNG_WELD,
    PATCH_RUNG_LINE,
    PATCH_RUNG_ARC,  ///< front, between partners
    PATCH_RUNG_FAN,  ///< front, between others
    PATCH_RUNG_CONIC ///< rear
};
enum patch_fill_kind {
    PATCH_FILL_KEEP,
    PATCH_FILL_MEAN,
    PATCH_FILL_INTERSECTION,
    PATCH_FILL_REDUCED,
    PATCH_FILL_BETWEEN
};

/// Of a joint in this frame.
enum patch_joint_int {
    PATCH_J_MOVES, ///< 0: at rest
    PATCH_J_BENT,  ///< parts are removed
    PATCH_J_SHIFT, ///< child's place on the loop = parent's + shift
    PATCH_J_RUNGS,
    PATCH_J_POINTS,
    PATCH_J_FACES,
    PATCH_J_VERTEX_OUT, ///< first output vertex of its split points; samples follow
    PATCH_J_FACE_OUT,
    PATCH_J_SPLITS_OUT, ///< split points that became vertices of their own
    PATCH_JOINT_INT_COUNT
};
/// Where a part is cut, in rest space from the centre: a height along the limb, as a function of
/// the place along the bend axis and of the depth inwards.
enum patch_border_real {
    PATCH_B_AXIS = 0,
    PATCH_B_INNER = 3, ///< across axis and limb, where the parts collide
    PATCH_B_LIMB = 6,  ///< 2: height where the front ends, and its slope over the axis
    PATCH_B_DEPTH = 8, ///< 2: the same for its depth
    PATCH_B_LOW = 10,  ///< ends of the loop along the axis
    PATCH_B_HIGH,
    PATCH_B_REACH,  ///< depth of the loop's inner side
    PATCH_B_FOLLOW, ///< the share of the front's height that the cut still has there
    PATCH_B_BEND,   ///< slope of the cut of a loop across the limb
    PATCH_B_SLOPE,  ///< and of this one
    PATCH_BORDER_REALS
};

enum patch_joint_real {
    PATCH_J_TURN = 0,   ///< 9: R, child to parent
    PATCH_J_OFFSET = 9, ///< 3: where the centre goes
    PATCH_J_SWING = 12, ///< 4: quaternion w x y z
    PATCH_J_TWIST = 16, ///< 9: T
    PATCH_J_AXIS = 25,  ///< 3: of the bend, unit
    PATCH_J_ANGLE = 28,
    PATCH_J_TWIST_ANGLE,
    PATCH_J_TAN,         ///< of half the bend, 150 degrees at most
    PATCH_J_NEED,        ///< 2: room wanted in the parent, in the child
    PATCH_J_CUT = 33,    ///< 2: volume the cut changed
    PATCH_J_WEIGHT = 35, ///< w of the conics
    PATCH_J_FLAT,        ///< how far the front arcs are flattened
    PATCH_J_LEFT,        ///< volume that is left over
    PATCH_J_DEPTH,       ///< of the crease, 1 = where the limbs meet
    PATCH_J_LENGTH,      ///< of a rear rung, in chords
    PATCH_J_TIMES,       ///< PATCH_TIMES + 1: parameters of evenly spaced points of a rear rung
    PATCH_J_BORDER = PATCH_J_TIMES + PATCH_TIMES + 1, ///< 2 patch_border_real: parent, child
    PATCH_JOINT_REAL_COUNT = PATCH_J_BORDER + 2 * PATCH_BORDER_REALS
};

STRUCT(pvec)
{
    double x, y, z;
};

FN pvec pvec_make(double x, double y, double z)
{
    pvec v;
    v.x = x;
    v.y = y;
    v.z = z;
    return v;
}
FN pvec pvec_at(GLOBAL const double *p, int i)
{
    return pvec_make(p[3 * i], p[3 * i + 1], p[3 * i + 2]);
}
FN void pvec_put(GLOBAL double *p, int i, pvec v)
{
    p[3 * i] = v.x;
    p[3 * i + 1] = v.y;
    p[3 * i + 2] = v.z;
}
FN pvec pvec_plus(pvec a, pvec b)
{
    return pvec_make(a.x + b.x, a.y + b.y, a.z + b.z);
}
FN pvec pvec_minus(pvec a, pvec b)
{
    return pvec_make(a.x - b.x, a.y - b.y, a.z - b.z);
}
FN pvec pvec_times(pvec a, double s)
{
    return pvec_make(a.x * s, a.y * s, a.z * s);
}
FN double pvec_dot(pvec a, pvec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
FN pvec pvec_cross(pvec a, pvec b)
{
    return pvec_make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
FN double pvec_length(pvec a)
{
    return ROOT(pvec_dot(a, a));
}
// A vector too short to have a direction stays as it is.
FN pvec pvec_unit(pvec a)
{
    double l = pvec_length(a);
    return l > 1e-150 ? pvec_times(a, 1.0 / l) : a;
}
FN pvec pvec_mix(pvec a, pvec b, double t)
{
    return pvec_make(a.x + t * (b.x - a.x), a.y + t * (b.y - a.y), a.z + t * (b.z - a.z));
}
FN double pvec_det(pvec a, pvec b, pvec c)
{
    return pvec_dot(a, pvec_cross(b, c));
}
// Row-major 3x3 at m.
FN pvec pvec_turned(GLOBAL const double *m, pvec v)
{
    return pvec_make(m[0] * v.x + m[1] * v.y + m[2] * v.z, m[3] * v.x + m[4] * v.y + m[5] * v.z,
                     m[6] * v.x + m[7] * v.y + m[8] * v.z);
}
// Row-major 3x4 at m.
FN pvec pvec_moved(GLOBAL const double *m, pvec v)
{
    return pvec_make(m[0] * v.x + m[1] * v.y + m[2] * v.z + m[3],
                     m[4] * v.x + m[5] * v.y + m[6] * v.z + m[7],
                     m[8] * v.x + m[9] * v.y + m[10] * v.z + m[11]);
}

STRUCT(pquat)
{
    double w, x, y, z;
};

FN pquat pquat_make(double w, double x, double y, double z)
{
    pquat q;
    q.w = w;
    q.x = x;
    q.y = y;
    q.z = z;
    return q;
}
// b first, then a.
FN pquat pquat_times(pquat a, pquat b)
{
    return pquat_make(a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z,
                      a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
                      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x,
                      a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w);
}
FN pquat pquat_unit(pquat q)
{
    double l = ROOT(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    if (!(l > 1e-150)) return pquat_make(1, 0, 0, 0);
    return pquat_make(q.w / l, q.x / l, q.y / l, q.z / l);
}
// v turned by a quaternion of any length but zero: divided by q.q, not by a root.
FN pvec pquat_turned(pquat q, pvec v)
{
    pvec u = pvec_make(q.x, q.y, q.z);
    double square = q.w * q.w + pvec_dot(u, u);
    pvec a = pvec_cross(u, v), b = pvec_cross(u, a);
    double f = 2.0 / square;
    return pvec_plus(v, pvec_plus(pvec_times(a, f * q.w), pvec_times(b, f)));
}
FN void pquat_put_matrix(pquat q, GLOBAL double *m)
{
    pvec a = pquat_turned(q, pvec_make(1, 0, 0)), b = pquat_turned(q, pvec_make(0, 1, 0));
    pvec c = pquat_turned(q, pvec_make(0, 0, 1));
    m[0] = a.x, m[1] = b.x, m[2] = c.x;
    m[3] = a.y, m[4] = b.y, m[5] = c.y;
    m[6] = a.z, m[7] = b.z, m[8] = c.z;
}
// Of a matrix that is `scale` times a rotation but for rounding (Shepperd).
FN pquat pquat_of(double scale, pvec x, pvec y, pvec z) // rows
{
    double t = x.x + y.y + z.z;
    if (t > x.x && t > y.y && t > z.z)
        return pquat_unit(pquat_make(scale + t, z.y - y.z, x.z - z.x, y.x - x.y));
    if (x.x >= y.y && x.x >= z.z)
        return pquat_unit(pquat_make(z.y - y.z, scale + x.x - y.y - z.z, x.y + y.x, x.z + z.x));
    if (y.y >= z.z)
        return pquat_unit(pquat_make(x.z - z.x, x.y + y.x, scale + y.y - x.x - z.z, y.z + z.y));
    return pquat_unit(pquat_make(y.x - x.y, x.z + z.x, y.z + z.y, scale + z.z - x.x - y.y));
}

// Arc tangent of x >= 0 to 1e-12: halved twice, then its series. Only sample counts and reports
// hang on it.
FN double patch_arctan(double x)
{
    double r = x > 1.0 ? 1.0 / x : x;
    r = r / (1.0 + ROOT(1.0 + r * r));
    r = r / (1.0 + ROOT(1.0 + r * r));
    double s = r * r, sum = 0.0;
    for (int k = 21; k >= 1; k -= 2) sum = 1.0 / k - s * sum;
    double angle = 4.0 * r * sum;
    return x > 1.0 ? 1.5707963267948966 - angle : angle;
}

// Front arc: where a point p of the parent's loop that goes to c (both from the centre) is at t.
// The swing is interpolated as the paper does (normalised linear), what twist leaves goes straight.
FN pvec patch_arc(pvec p, pvec back, pquat swing, double t)
{
    pquat q = pquat_make(1.0 + t * (swing.w - 1.0), t * swing.x, t * swing.y, t * swing.z);
    return pquat_turned(q, pvec_mix(p, back, t));
}

// Rational quadratic from a to b with control point k of weight w.
FN pvec patch_conic(pvec a, pvec k, pvec b, double w, double t)
{
    double u = 1.0 - t, x = u * u, y = 2.0 * w * t * u, z = t * t;
    double f = 1.0 / (x + y + z);
    return pvec_plus(pvec_times(a, x * f), pvec_plus(pvec_times(k, y * f), pvec_times(b, z * f)));
}

/// What a conic is: its weight, and whether the point it should pass through lies in the triangle.
STRUCT(patch_weight)
{
    double w;
    int valid;
};

// The weight with which the conic from a to b with control point k passes through s, which lies in
// their plane: w = b1 / (2 sqrt(b0 b2)) of its barycentric coordinates. If s is not inside the
// triangle: by heights over ab, 0.2 .. 5. No triangle: 0, a straight line.
PATCH_FN patch_weight patch_weight_through(pvec a, pvec k, pvec b, pvec s)
{
    patch_weight r;
    r.w = 0.0;
    r.valid = 0;
    pvec ab = pvec_minus(b, a), ak = pvec_minus(k, a), n = pvec_cross(ak, ab);
    double area = pvec_dot(n, n), base = pvec_dot(ab, ab);
    if (!(area > 1e-24 * base * base)) return r;
    pvec as = pvec_minus(s, a);
    double b1 = pvec_dot(n, pvec_cross(as, ab)) / area;
    double b2 = pvec_dot(n, pvec_cross(ak, as)) / area;
    double b0 = 1.0 - b1 - b2;
    if (b0 > 0.0 && b1 > 0.0 && b2 > 0.0) {
        r.w = b1 / (2.0 * ROOT(b0 * b2));
        r.valid = 1;
        return r;
    }
    pvec up = pvec_minus(k, pvec_mix(a, b, 0.5));
    double top = pvec_dot(up, up), at = pvec_dot(pvec_minus(s, pvec_mix(a, b, 0.5)), up);
    double w = at / (top - at);
    r.w = !(w >= 0.2) || !(top > at) ? (at < top ? 0.2 : 5.0) : w > 5.0 ? 5.0 : w;
    return r;
}

#endif
