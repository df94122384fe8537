/// The CPU's schedule of blend skinning, compiled once per instruction set (device/room.cmake makes
/// the wrappers): KERNEL_LANES vertices at a time of blocks of 16 that share a bone list. With one
/// lane it is the reference: each vertex walks its own influences, no blocks.
///
/// Everything but NAME(cutis_cpu_skin) is static, so no code for one instruction set leaks into
/// another. Invariant: a short cut taken here (one sign per bone, one centre per block) gives the
/// bits of the kernel text's own way, because it does the same operations on values that are equal
/// in all lanes.
#include "device/cpu/cpu.h"

#include "kernel/kernel.h"
#include "kernel/algebra.h"
#include "kernel/blend.h"
#include "kernel/pose_space.h"

#include "device/cpu/lanes.h"

#define BLOCK     CUTIS_CPU_BLOCK
#define SIGNS_MAX 32     // longer lists take their signs lane by lane
#define PAIRS_MAX 8      // the same where all pairs of bones have to be looked at
#define AHEAD     65536u // bytes of outputs from their being asked for to their being written
#define OUTLINED  static __attribute__((noinline))
#define ALWAYS    static inline __attribute__((always_inline))

/// Linear blending of vertices that pose space displaces: a walk of its own beside the formulas.
#define FORMULA_POSED 64
/// The same with displacements after skinning: COR about the vertex itself.
#define FORMULA_POSED_TURNED 65

/// How much a compiled walk can do; what is rare is tested for at run time, in a walk of its own.
enum {
    LEVEL_RUNS,    // positions and normals of blocks that are runs, tightly packed, scale 1
    LEVEL_SIMPLE,  // the same of any blocks, any scale
    LEVEL_OUTPUTS, // also bounds, previous positions, any stride, morph targets, stores past the
                   // cache
    LEVEL_EXTRAS,  // also tangents, blend factors, linear normals
};

/// What is the same for all vertices of one instance.
typedef struct skin_view {
    const cutis_skin_layout *layout;
    const float *matrices, *rotations, *duals, *stretches, *centres, *targets, *pose_squares;
    REAL scale, sign; // of a uniform frame
    bool unscaled;    // scale is 1: then `* scale + 0` is `+ 0`, which most machines add beside
                      // multiplying
    bool linear;      // the blended matrix is needed beside the method
} skin_view;

/// The bones of the vertices in the lanes.
typedef struct skin_list {
    const uint32_t *bone;
    const float *weight; // of the lanes; the next bone's is BLOCK (one lane: 1) further on
    uint32_t count;
    const uint32_t *flips; // sign bit per bone against the first bone, or NULL: lane by lane
    const float *centre;   // the one centre of all lanes, or NULL
} skin_list;

#if KERNEL_LANES == 1
#define LIST_STEP 1
#else
#define LIST_STEP BLOCK
#endif
#define LIST_WEIGHT(list, i) LOAD((list)->weight + (size_t)(i)*LIST_STEP)

// Walks over the bone list ----------------------------------------------------------------------

FN mat34 matrix_add(const skin_view *view, const skin_list *list, mat34 sum, uint32_t i)
{
    const float *p = view->matrices + 12 * (size_t)list->bone[i];
    mat34 m;
    MAT34_AT(m, p, 0);
    return mat34_blend(sum, LIST_WEIGHT(list, i), m);
}

// Two bones at a time: lists are short, and a turn of the loop should outlast the latency of what
// follows it.
FN mat34 list_matrix(const skin_view *view, const skin_list *list)
{
    mat34 sum = mat34_zero();
    uint32_t i = 0;
    for (; i + 2 <= list->count; i += 2) {
        sum = matrix_add(view, list, sum, i);
        sum = matrix_add(view, list, sum, i + 1);
    }
    return i < list->count ? matrix_add(view, list, sum, i) : sum;
}

FN sym33 list_stretch(const skin_view *view, const skin_list *list)
{
    sym33 sum = sym33_zero();
    for (uint32_t i = 0; i < list->count; i++) {
        const float *p = view->stretches + 6 * (size_t)list->bone[i];
        sym33 s;
        SYM33_AT(s, p, 0);
        sum = sym33_blend(sum, LIST_WEIGHT(list, i), s);
    }
    return sum;
}

// Image of the centre: all lanes may share it, then each bone moves one point.
FN real3 list_image(const skin_view *view, const skin_list *list, real3 c)
{
    real3 sum = real3_zero();
    if (list->centre) {
        const float *o = list->centre;
        for (uint32_t i = 0; i < list->count; i++) {
            const float *m = view->matrices + 12 * (size_t)list->bone[i];
            REAL w = LIST_WEIGHT(list, i);
            float x = elem_fma(m[2], o[2], elem_fma(m[1], o[1], elem_fma(m[0], o[0], m[3])));
            float y = elem_fma(m[6], o[2], elem_fma(m[5], o[1], elem_fma(m[4], o[0], m[7])));
            float z = elem_fma(m[10], o[2], elem_fma(m[9], o[1], elem_fma(m[8], o[0], m[11])));
            sum = real3_blend(sum, w, real3_make(SPLAT(x), SPLAT(y), SPLAT(z)));
        }
        return sum;
    }
    for (uint32_t i = 0; i < list->count; i++) {
        const float *p = view->matrices + 12 * (size_t)list->bone[i];
        mat34 m;
        MAT34_AT(m, p, 0);
        sum = real3_blend(sum, LIST_WEIGHT(list, i), mat34_point(m, c));
    }
    return sum;
}

FN REAL flipped(REAL w, uint32_t flip)
{
    return FROM_BITS(BITS(w) ^ (INT1)flip);
}

// One bone's dual quaternion; SBS and COR leave the dual part 0 and the compiler drops it.
FN dual_quat bone_dual(const skin_view *view, uint32_t bone, real3 v, const int formula,
                       const int nonuniform)
{
    const float *q = view->rotations + 4 * (size_t)bone;
    dual_quat d;
    QUAT_AT(d.q, q, 0);
    d.e = quat_zero();
    if (formula == CUTIS_FORMULA_DQS && nonuniform) {
        const float *p = view->matrices + 12 * (size_t)bone;
        mat34 m;
        MAT34_AT(m, p, 0);
        d = dual_of_image(m, d.q, v);
    } else if (formula == CUTIS_FORMULA_DQS) {
        const float *e = view->duals + 4 * (size_t)bone;
        QUAT_AT(d.e, e, 0);
    }
    return d;
}

// Rare, and as long as the walk itself: kept out of the way.
OUTLINED void list_settle(const skin_view *view, const skin_list *list, const real3 *v,
                          const int formula, const int nonuniform, dual_quat *sum)
{
    largest most = largest_zero();
    for (uint32_t i = 0; i < list->count; i++) {
        dual_quat d = bone_dual(view, list->bone[i], *v, CUTIS_FORMULA_SBS, 0);
        if (formula == CUTIS_FORMULA_DQS)
            d = nonuniform ? bone_dual(view, list->bone[i], *v, CUTIS_FORMULA_DQS, 1)
                           : bone_dual(view, list->bone[i], *v, CUTIS_FORMULA_DQS, 0);
        most = largest_add(most, LIST_WEIGHT(list, i), d);
    }
    *sum = turn_settled(*sum, most);
}

FN dual_quat list_turn(const skin_view *view, const skin_list *list, real3 v, const int formula,
                       const int nonuniform)
{
    dual_quat sum = dual_quat_zero();
    if (list->flips) {
        for (uint32_t i = 0; i < list->count; i++) {
            dual_quat d = bone_dual(view, list->bone[i], v, formula, nonuniform);
            sum = dual_quat_blend(sum, flipped(LIST_WEIGHT(list, i), list->flips[i]), d);
        }
    } else {
        dual_turn t = dual_turn_zero();
        for (uint32_t i = 0; i < list->count; i++) {
            dual_quat d = bone_dual(view, list->bone[i], v, formula, nonuniform);
            t = dual_turn_add(t, LIST_WEIGHT(list, i), d);
        }
        sum = t.sum;
    }
    if (__builtin_expect(ANY_LESS(quat_dot(sum.q, sum.q), TURN_DEGENERATE), 0)) {
        const skin_view view_copy =
            *view; // what an outlined function is given leaves its registers
        const skin_list list_copy = *list;
        const real3 v_copy = v;
        dual_quat settled = sum;
        list_settle(&view_copy, &list_copy, &v_copy, formula, nonuniform, &settled);
        sum = settled;
    }
    return sum;
}

// SBS_WEIGHTED: two more walks for the centre.
FN real3 list_centre(const skin_view *view, const skin_list *list, mat34 b, real3 v)
{
    real3 o = real3_zero();
    REAL most = K(0.0);
    for (uint32_t i = 0; i < list->count; i++) {
        const float *p = view->layout->origins + 3 * (size_t)list->bone[i];
        REAL w = LIST_WEIGHT(list, i);
        real3 origin;
        REAL3_AT(origin, p, 0);
        o = real3_blend(o, w, origin);
        most = SELECT_LESS(most, w, w, most);
    }
    centre_sum s = centre_zero();
    for (uint32_t i = 0; i < list->count; i++) {
        const float *p = view->matrices + 12 * (size_t)list->bone[i];
        mat34 m;
        MAT34_AT(m, p, 0);
        s = centre_add(s, LIST_WEIGHT(list, i), m, b, o);
    }
    return centre_solve(s, b, o, most, v);
}

// One vertex per lane ---------------------------------------------------------------------------

FN skin_vertex turned_vertex(const skin_view *view, const skin_list *list, skin_vertex r, real3 c,
                             mat34 b, const int formula, const int nonuniform, const int normals,
                             const int extras)
{
    const int dual = formula == CUTIS_FORMULA_DQS;
    dual_quat d = list_turn(view, list, r.p, formula, nonuniform);
    REAL f = quat_factor(d.q);
    mat33 q = quat_matrix(d.q, f);
    real3 to = real3_zero();
    sym33 s = sym33_zero();
    if (formula == CUTIS_FORMULA_SBS_WEIGHTED) {
        c = list_centre(view, list, b, r.p);
        to = mat34_point(b, c);
    } else if (!dual) {
        to = list_image(view, list, c);
    }
    if (nonuniform) s = list_stretch(view, list);
    return vertex_turned(d, f, q, c, to, s, r, view->sign, dual, nonuniform, normals, extras);
}

FN skin_vertex blended_vertex(const skin_view *view, const skin_list *list, skin_vertex rest,
                              real3 c, uint32_t slot, const int formula, const int nonuniform,
                              const int normals, const int extras)
{
    mat34 b = mat34_zero();
    const bool linear = extras && view->linear;
    if (formula == CUTIS_FORMULA_LBS || formula == CUTIS_FORMULA_SBS_WEIGHTED || linear)
        b = list_matrix(view, list);
    if (formula == CUTIS_FORMULA_LBS)
        return vertex_linear(b, rest, view->sign, nonuniform, normals, extras);
    skin_vertex out = turned_vertex(view, list, rest, c, b, formula, nonuniform, normals, extras);
    if (!linear) return out;
    const float *blend = view->layout->blend;
    return vertex_mixed(out, vertex_linear(b, rest, view->sign, nonuniform, normals, extras),
                        blend ? LOAD(blend + slot) : K(1.0), blend != NULL,
                        view->layout->linear_normals);
}

// Rest data, morphs, centres --------------------------------------------------------------------

FN real3 planes_at(const float *planes, uint32_t lane)
{
    return real3_make(LOAD(planes + lane), LOAD(planes + BLOCK + lane),
                      LOAD(planes + 2 * BLOCK + lane));
}

FN void morph_vertex(const skin_view *view, uint32_t block, uint32_t lane, skin_vertex *r)
{
    const cutis_skin_layout *layout = view->layout;
    const size_t planes = 3 + (layout->normals ? 3 : 0) + (layout->tangents ? 3 : 0);
    for (uint32_t i = layout->morph_first[block]; i < layout->morph_first[block + 1]; i++) {
        const float weight = view->targets[layout->morph_target[i]];
        const float *delta = layout->morph_delta + i * planes * BLOCK;
        if (weight == 0) continue;
        r->p = morph_add(r->p, SPLAT(weight), planes_at(delta, lane));
        delta += 3 * BLOCK;
        if (layout->normals) {
            r->n = morph_add(r->n, SPLAT(weight), planes_at(delta, lane));
            delta += 3 * BLOCK;
        }
        if (layout->tangents) r->t = morph_add(r->t, SPLAT(weight), planes_at(delta, lane));
    }
}

FN skin_vertex rest_vertex(const skin_view *view, uint32_t block, uint32_t lane, const int normals,
                           const int level)
{
    const cutis_skin_layout *layout = view->layout;
    skin_vertex r;
    r.p = planes_at(layout->positions + (size_t)block * 3 * BLOCK, lane);
    r.n = r.t = real3_zero();
    r.w = r.n_sign = r.t_sign = K(1.0);
    if (normals && (level <= LEVEL_SIMPLE || layout->normals))
        r.n = planes_at(layout->normals + (size_t)block * 3 * BLOCK, lane);
    if (level == LEVEL_EXTRAS && layout->tangents) {
        const float *t = layout->tangents_rest + (size_t)block * 4 * BLOCK;
        r.t = planes_at(t, lane);
        r.w = LOAD(t + 3 * BLOCK + lane);
    }
    if (level > LEVEL_SIMPLE && view->targets) morph_vertex(view, block, lane, &r);
    return r;
}

#include "device/cpu/pose_schedule.h"

// The rotation centre of each lane. A vertex without a set has one bone: it is its own centre.
FN real3 centre_of(const skin_view *view, const skin_list *list, uint32_t block, uint32_t lane,
                   uint32_t flags, real3 p, const int formula)
{
    const cutis_skin_layout *layout = view->layout;
    if (formula == CUTIS_FORMULA_COR)
        return planes_at(layout->centres + (size_t)block * 3 * BLOCK, lane);
    if (formula != CUTIS_FORMULA_SBS || (flags & CUTIS_CPU_BLOCK_NO_SET)) return p;
    if (list->centre) {
        real3 c;
        REAL3_AT(c, list->centre, 0);
        return c;
    }
    return centres_at(view->centres, layout->sets + (size_t)block * BLOCK + lane, p);
}

// Outputs ---------------------------------------------------------------------------------------

typedef struct skin_box {
    real3 low, high;
} skin_box;

/// Where the vertices of one instance go.
typedef struct skin_target {
    char *positions, *normals, *tangents, *previous;
    skin_box box;
} skin_target;

FN void store_vertices(char *data, uint32_t stride, const uint32_t *vertices, uint32_t flags,
                       real3 v, bool streaming)
{
    if (__builtin_expect((flags & CUTIS_CPU_BLOCK_RUN) && stride == 12, 1))
        store_run((float *)(data + (uint64_t)vertices[0] * 12), v, streaming);
    else
        store_scattered(data, stride, vertices, v.x, v.y, v.z,
                        (flags & CUTIS_CPU_BLOCK_PADDED) != 0);
}

OUTLINED void keep_previous(const cutis_cpu_job *job, const skin_target *target,
                            const uint32_t *vertices)
{
    for (uint32_t l = 0; l < KERNEL_LANES; l++) {
        if (vertices[l] == CUTIS_NO_VERTEX) continue;
        memcpy(target->previous + (uint64_t)vertices[l] * job->previous.stride,
               target->positions + (uint64_t)vertices[l] * job->positions.stride, 12);
    }
}

FN void box_add(skin_box *box, real3 p)
{
    box->low = real3_make(SELECT_LESS(p.x, box->low.x, p.x, box->low.x),
                          SELECT_LESS(p.y, box->low.y, p.y, box->low.y),
                          SELECT_LESS(p.z, box->low.z, p.z, box->low.z));
    box->high = real3_make(SELECT_LESS(box->high.x, p.x, p.x, box->high.x),
                           SELECT_LESS(box->high.y, p.y, p.y, box->high.y),
                           SELECT_LESS(box->high.z, p.z, p.z, box->high.z));
}

// Padding lanes are no vertices: they get a value that changes no box.
OUTLINED void box_add_padded(skin_box *box, const real3 *p, const uint32_t *vertices)
{
    float valid[KERNEL_LANES];
    for (uint32_t l = 0; l < KERNEL_LANES; l++)
        valid[l] = vertices[l] == CUTIS_NO_VERTEX ? 0.0f : 1.0f;
    REAL v = LOAD(valid);
    skin_box grown = *box;
    box_add(&grown, *p);
    box->low = real3_select_less(K(0.5), v, grown.low, box->low);
    box->high = real3_select_less(K(0.5), v, grown.high, box->high);
}

FN real3 plus_zero(real3 v)
{
    return real3_make(v.x + K(0.0), v.y + K(0.0), v.z + K(0.0));
}

FN real3 finished_vector(real3 n, REAL sign, int rule, const int level)
{
    if (level == LEVEL_RUNS) sign = K(1.0);
    if (rule != CUTIS_NORMAL_RAW) return finish_unit(n, sign);
    return level == LEVEL_RUNS ? plus_zero(n) : finish_vector(n, sign);
}

FN void finish_vertices(const cutis_cpu_job *job, const skin_view *view, skin_target *target,
                        const uint32_t *vertices, uint32_t flags, skin_vertex v, const int normals,
                        const int level)
{
    const bool simple = level <= LEVEL_SIMPLE;
    const int rule = simple ? normals : (int)view->layout->normal_rule;
    const bool streaming = !simple && job->streaming;
    real3 p = level == LEVEL_RUNS ? plus_zero(v.p) : finish_point(v.p, view->scale);
    if (level == LEVEL_RUNS) flags = CUTIS_CPU_BLOCK_RUN;
    if (!simple && job->previous.data) keep_previous(job, target, vertices);
    if (!simple && normals && job->records) {
        real3 n = finished_vector(v.n, v.n_sign, rule, level);
        store_records(target->positions, job->positions.stride, vertices, p.x, p.y, p.z, n.x, n.y,
                      n.z, (flags & CUTIS_CPU_BLOCK_RUN) != 0,
                      (flags & CUTIS_CPU_BLOCK_PADDED) != 0, streaming);
    } else {
        if (simple || job->positions.data)
            store_vertices(target->positions, simple ? 12 : job->positions.stride, vertices, flags,
                           p, streaming);
        if (normals && (simple || job->normals.data))
            store_vertices(target->normals, simple ? 12 : job->normals.stride, vertices, flags,
                           finished_vector(v.n, v.n_sign, rule, level), streaming);
    }
    if (level == LEVEL_EXTRAS && job->tangents.data) {
        real3 t = finished_vector(v.t, v.t_sign, rule, level);
        store_scattered4(target->tangents, job->tangents.stride, vertices, t.x, t.y, t.z,
                         v.w + K(0.0), (flags & CUTIS_CPU_BLOCK_PADDED) != 0);
    }
    if (!simple && job->bounds) {
        real3 copy = p; // p itself has to stay in registers
        if (flags & CUTIS_CPU_BLOCK_PADDED)
            box_add_padded(&target->box, &copy, vertices);
        else
            box_add(&target->box, p);
    }
}

// Ranges of blocks ------------------------------------------------------------------------------

// Not inlined: the compiler would compare again for every block rather than keep the answer.
OUTLINED bool is_one(float scale)
{
    return scale == 1;
}

FN skin_view view_of(const cutis_cpu_job *job, const cutis_skin_layout *layout, uint32_t instance)
{
    const cutis_skin_frames *frames = job->frames;
    const size_t bones = (size_t)instance * layout->bone_count;
    skin_view view = { .layout = layout };
    view.matrices = frames->matrices + 12 * bones;
    if (frames->rotations) view.rotations = frames->rotations + 4 * bones;
    if (frames->duals) view.duals = frames->duals + 4 * bones;
    if (frames->stretches) view.stretches = frames->stretches + 6 * bones;
    if (frames->centres) view.centres = frames->centres + 4 * (size_t)instance * layout->set_count;
    if (frames->targets && layout->morph_first)
        view.targets = frames->targets + (size_t)instance * layout->target_count;
    if (frames->pose_squares)
        view.pose_squares =
            frames->pose_squares + (size_t)instance * layout->bone_count * layout->pose_count;
    view.scale = SPLAT(frames->scales[instance]);
    view.sign = mirror_sign(view.scale);
    view.unscaled = is_one(frames->scales[instance]);
    view.linear = layout->blend || layout->linear_normals;
    return view;
}

static char *stream_of(const cutis_cpu_stream *stream, uint32_t instance)
{
    return stream->data ? stream->data + instance * stream->instance_stride : NULL;
}

FN skin_target target_of(const cutis_cpu_job *job, uint32_t instance)
{
    skin_target target;
    target.positions = stream_of(&job->positions, instance);
    target.normals = stream_of(&job->normals, instance);
    target.tangents = stream_of(&job->tangents, instance);
    target.previous = stream_of(&job->previous, instance);
    target.box.low.x = target.box.low.y = target.box.low.z = SPLAT(__builtin_inff());
    target.box.high.x = target.box.high.y = target.box.high.z = SPLAT(-__builtin_inff());
    return target;
}

static void merge_box(const cutis_cpu_job *job, uint32_t instance, const skin_box *box)
{
    const real3 ends[2] = { box->low, box->high };
    float lanes[6][KERNEL_LANES];
    for (int e = 0; e < 2; e++) {
        STORE(lanes[3 * e], ends[e].x);
        STORE(lanes[3 * e + 1], ends[e].y);
        STORE(lanes[3 * e + 2], ends[e].z);
    }
    float low[3], high[3];
    for (int c = 0; c < 3; c++) {
        low[c] = lanes[c][0];
        high[c] = lanes[3 + c][0];
        for (int l = 1; l < KERNEL_LANES; l++) {
            if (lanes[c][l] < low[c]) low[c] = lanes[c][l];
            if (lanes[3 + c][l] > high[c]) high[c] = lanes[3 + c][l];
        }
    }
    cutis_cpu_merge_bounds(job->bounds + instance, low, high);
}

ALWAYS void skin_lanes(const cutis_cpu_job *job, const skin_view *view, skin_target *target,
                       const skin_list *list, uint32_t block, uint32_t lane,
                       const uint32_t *vertices, uint32_t flags, const int formula,
                       const int nonuniform, const int normals, const int level)
{
    skin_vertex rest = rest_vertex(view, block, lane, normals, level);
    const int blend = formula == FORMULA_POSED          ? CUTIS_FORMULA_LBS
                      : formula == FORMULA_POSED_TURNED ? CUTIS_FORMULA_COR
                                                        : formula;
    if (formula == FORMULA_POSED && level == LEVEL_RUNS) {
        rest = pose_vertex(view, list, block, lane, rest, normals);
    } else if (formula == FORMULA_POSED || formula == FORMULA_POSED_TURNED) {
        const skin_view view_copy = *view; // as in list_turn
        const skin_list list_copy = *list;
        skin_vertex moved = rest;
        pose_vertex_apart(&view_copy, &list_copy, block, lane, &moved);
        rest = moved;
    }
    real3 c = centre_of(view, list, block, lane, flags, rest.p, blend);
    skin_vertex v = blended_vertex(view, list, rest, c, block * BLOCK + lane, blend, nonuniform,
                                   normals, level == LEVEL_EXTRAS);
    finish_vertices(job, view, target, vertices, flags, v, normals, level);
}

#if KERNEL_LANES == 1

ALWAYS void skin_range(const cutis_cpu_job *job, uint32_t instance, uint32_t begin, uint32_t end,
                       const int formula, const int nonuniform, const int normals, const int level)
{
    const cutis_skin_layout *layout = job->layout;
    const skin_view view = view_of(job, layout, instance);
    skin_target target = target_of(job, instance);
    const uint64_t last = (uint64_t)end * BLOCK;
    const uint32_t stop = last < layout->vertex_count ? (uint32_t)last : layout->vertex_count;
    for (uint32_t v = begin * BLOCK; v < stop; v++) {
        const uint32_t slot = layout->vertex_slot[v], first = layout->first[v];
        skin_list list = { layout->bone + first, layout->weight + first,
                           layout->first[v + 1] - first, NULL, NULL };
        skin_lanes(job, &view, &target, &list, slot / BLOCK, slot % BLOCK, &v, 0, formula,
                   nonuniform, normals, level);
    }
    if (job->bounds) merge_box(job, instance, &target.box);
}

#else

// The lines where block k + AHEAD writes: blocks are nearly in the order of their outputs. Of wide
// records only those that are written. Beyond the end of the memory nothing happens.
FN void ask_ahead(const char *data, uint32_t stride, uint32_t k)
{
    const uintptr_t at = (uintptr_t)data + (uint64_t)k * BLOCK * stride + AHEAD;
    const uint64_t end = data ? (uint64_t)BLOCK * stride : 0, step = stride > 64 ? stride : 64;
    for (uint64_t i = 0; i < end; i += step)
        __builtin_prefetch((const void *)(uintptr_t)(at + i), 1);
}

// Does the rotation of bone b point away from that of bone a? The bits of quat_dot.
FN uint32_t bones_oppose(const skin_view *view, uint32_t bone_a, uint32_t bone_b)
{
    const float *a = view->rotations + 4 * (size_t)bone_a,
                *b = view->rotations + 4 * (size_t)bone_b;
    float dot = elem_fma(a[3], b[3], elem_fma(a[2], b[2], elem_fma(a[1], b[1], a[0] * b[0])));
    return dot < 0 ? 0x80000000u : 0;
}

// Sign bits of a list's bones against its first one, if they serve all lanes: either all have
// weight on that bone, so it is their pivot; or the signs of all pairs agree, so another pivot
// changes at most the sign of a lane's whole sum, which drops out of every product of two of its
// components.
FN bool list_flips(const skin_view *view, const uint32_t *bone, uint32_t count, uint32_t flags,
                   uint32_t *flips)
{
    const bool pivot = (flags & CUTIS_CPU_BLOCK_PIVOT) != 0;
    if (count > (pivot ? SIGNS_MAX : PAIRS_MAX)) return false;
    for (uint32_t i = 0; i < count; i++) flips[i] = bones_oppose(view, bone[0], bone[i]);
    for (uint32_t i = 1; i < count && !pivot; i++)
        for (uint32_t j = i + 1; j < count; j++)
            if (bones_oppose(view, bone[i], bone[j]) != (flips[i] ^ flips[j])) return false;
    return true;
}

ALWAYS void skin_blocks(const cutis_cpu_job *job, const skin_view *view, skin_target *target,
                        uint32_t begin, uint32_t end, const int formula, const int nonuniform,
                        const int normals, const int level)
{
    const cutis_skin_layout *layout = view->layout;
    uint32_t flips[SIGNS_MAX];
    for (uint32_t k = begin; k < end; k++) {
        const uint32_t first = layout->list_first[k], flags = job->block_flags[k];
        const uint32_t *vertices = layout->vertices + (size_t)k * BLOCK;
        skin_list list = { layout->list_bone + first, NULL, layout->list_first[k + 1] - first, NULL,
                           NULL };
        if (formula != CUTIS_FORMULA_LBS && formula != FORMULA_POSED &&
            list_flips(view, list.bone, list.count, flags, flips))
            list.flips = flips;
        if (formula == CUTIS_FORMULA_SBS && (flags & CUTIS_CPU_BLOCK_ONE_SET))
            list.centre = view->centres + 4 * (size_t)layout->sets[(size_t)k * BLOCK];
        if (level >= LEVEL_OUTPUTS && job->ahead) {
            ask_ahead(target->positions, job->positions.stride, k);
            if (!job->records) ask_ahead(target->normals, job->normals.stride, k);
            ask_ahead(target->tangents, job->tangents.stride, k);
            ask_ahead(target->previous, job->previous.stride, k);
        }
        for (uint32_t lane = 0; lane < BLOCK; lane += KERNEL_LANES) {
            list.weight = layout->weights + (size_t)first * BLOCK + lane;
            skin_lanes(job, view, target, &list, k, lane, vertices + lane, flags, formula,
                       nonuniform, normals, level);
        }
    }
}

// Stores may alias anything the compiler knows of, so what the loops need is copied to locals that
// none points to.
ALWAYS void skin_range(const cutis_cpu_job *shared_job, uint32_t instance, uint32_t begin,
                       uint32_t end, const int formula, const int nonuniform, const int normals,
                       const int level)
{
    const cutis_cpu_job job = *shared_job;
    const cutis_skin_layout layout = *shared_job->layout;
    const skin_view view = view_of(shared_job, &layout, instance);
    skin_target target = target_of(shared_job, instance);
    if (level == LEVEL_SIMPLE) {
        const uint8_t run = view.unscaled ? CUTIS_CPU_BLOCK_RUN : 0;
        for (uint32_t k = begin, next = begin; k < end; k = next) {
            while (next < end && (job.block_flags[next] & run)) next++;
            skin_blocks(&job, &view, &target, k, next, formula, nonuniform, normals, LEVEL_RUNS);
            k = next;
            while (next < end && !(job.block_flags[next] & run)) next++;
            skin_blocks(&job, &view, &target, k, next, formula, nonuniform, normals, LEVEL_SIMPLE);
        }
        return;
    }
    skin_blocks(&job, &view, &target, begin, end, formula, nonuniform, normals, level);
    if (job.bounds) merge_box(&job, instance, &target.box);
    if (job.streaming) STREAM_END();
}

#endif

// One function per formula and path. Where the rule of normals is not in the name it is tested at
// run time.
#define RANGE(name, formula, nonuniform, normals, level)                                           \
    OUTLINED void name(const cutis_cpu_job *job, uint32_t instance, uint32_t begin, uint32_t end)  \
    {                                                                                              \
        skin_range(job, instance, begin, end, formula, nonuniform, normals, level);                \
    }
#define RANGES(name, formula)                                                                      \
    RANGE(name##_none, formula, 0, CUTIS_NORMAL_NONE, LEVEL_SIMPLE)                                \
    RANGE(name##_raw, formula, 0, CUTIS_NORMAL_RAW, LEVEL_SIMPLE)                                  \
    RANGE(name##_unit, formula, 0, CUTIS_NORMAL_UNIT, LEVEL_SIMPLE)                                \
    RANGE(name##_outputs, formula, 0, CUTIS_NORMAL_UNIT, LEVEL_OUTPUTS)                            \
    RANGE(name##_extras, formula, 0, CUTIS_NORMAL_UNIT, LEVEL_EXTRAS)                              \
    RANGE(name##_nonuniform, formula, 1, CUTIS_NORMAL_UNIT, LEVEL_EXTRAS)                          \
    static const cutis_cpu_run name[6] = { name##_none,    name##_raw,    name##_unit,             \
                                           name##_outputs, name##_extras, name##_nonuniform };

RANGES(run_lbs, CUTIS_FORMULA_LBS)
RANGES(run_sbs, CUTIS_FORMULA_SBS)
RANGES(run_sbs_weighted, CUTIS_FORMULA_SBS_WEIGHTED)
RANGES(run_dqs, CUTIS_FORMULA_DQS)
RANGES(run_cor, CUTIS_FORMULA_COR)
// The text of a posed vertex is long: where it is not asked for often, one copy serves.
RANGE(run_posed_unit, FORMULA_POSED, 0, CUTIS_NORMAL_UNIT, LEVEL_SIMPLE)
RANGE(run_posed_outputs, FORMULA_POSED, 0, CUTIS_NORMAL_UNIT, LEVEL_OUTPUTS)
RANGE(run_posed_extras, FORMULA_POSED, 0, CUTIS_NORMAL_UNIT, LEVEL_EXTRAS)
RANGE(run_posed_nonuniform, FORMULA_POSED, 1, CUTIS_NORMAL_UNIT, LEVEL_EXTRAS)
RANGE(run_turned_outputs, FORMULA_POSED_TURNED, 0, CUTIS_NORMAL_UNIT, LEVEL_OUTPUTS)
RANGE(run_turned_extras, FORMULA_POSED_TURNED, 0, CUTIS_NORMAL_UNIT, LEVEL_EXTRAS)
RANGE(run_turned_nonuniform, FORMULA_POSED_TURNED, 1, CUTIS_NORMAL_UNIT, LEVEL_EXTRAS)
static const cutis_cpu_run run_turned[6] = { run_turned_outputs, run_turned_outputs,
                                             run_turned_outputs, run_turned_outputs,
                                             run_turned_extras,  run_turned_nonuniform };
static const cutis_cpu_run run_posed[6] = { run_posed_outputs, run_posed_outputs,
                                            run_posed_unit,    run_posed_outputs,
                                            run_posed_extras,  run_posed_nonuniform };

static int path_of(const cutis_cpu_job *job, uint32_t instance)
{
    const cutis_skin_layout *layout = job->layout;
    if (job->frames->nonuniform && job->frames->nonuniform[instance]) return 5;
    if (job->tangents.data || layout->blend || layout->linear_normals) return 4;
    if (!job->positions.data || job->positions.stride != 12 || job->previous.data || job->bounds ||
        (job->normals.data && job->normals.stride != 12) || job->frames->targets ||
        job->streaming || job->ahead)
        return 3;
    return job->normals.data ? (int)layout->normal_rule : 0;
}

void NAME(cutis_cpu_skin)(const cutis_cpu_job *job, uint32_t instance, uint32_t begin,
                          uint32_t end);

void NAME(cutis_cpu_skin)(const cutis_cpu_job *job, uint32_t instance, uint32_t begin, uint32_t end)
{
    const cutis_formula formula = job->layout->formula;
    const cutis_cpu_run *runs = formula == CUTIS_FORMULA_SBS            ? run_sbs
                                : formula == CUTIS_FORMULA_SBS_WEIGHTED ? run_sbs_weighted
                                : formula == CUTIS_FORMULA_DQS          ? run_dqs
                                : formula == CUTIS_FORMULA_COR
                                    ? (job->frames->pose_squares ? run_turned : run_cor)
                                : job->frames->pose_squares ? run_posed
                                                            : run_lbs;
    runs[path_of(job, instance)](job, instance, begin, end);
}
