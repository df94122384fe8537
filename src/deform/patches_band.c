/// The bands in which joints bend softly, packed (kernel/patches_band.h): per joint the vertices
/// and faces that it moves. Vertices that several joints bend are listed, with the part in whose
/// space these leave them and the way back from there to their own (docs/spec/patches.md B0).
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "deform/patches_pack.h"
#include "kernel/patches_band.h"

/// The moves of vertices, while they are counted or filled.
typedef struct turning {
    const patch_body *body;
    const patch_pieces *parts;
    patch_bands *bands;
    const uint32_t *first, *list; // items by vertex
    uint32_t *depths;             // per joint
    uint32_t undo_count, move_count;
    uint32_t vertex; // at hand
    bool fill;       // else they are counted
} turning;

static uint32_t depth_of(const turning *t, uint32_t joint)
{
    uint32_t depth = 0;
    for (int32_t j = (int32_t)joint; j >= 0; j = t->bands->tree[t->body->loops[j].parent]) depth++;
    return depth;
}

// A joint's move of the vertex at hand.
static void add_move(turning *t, uint32_t joint, int kind, double share, const pvec *slope)
{
    patch_bands *bands = t->bands;
    if (t->fill)
        bands->moves[bands->move_first[joint + 1]++] =
            (patch_band_move){ .vertex = (int)t->vertex,
                               .kind = kind,
                               .share = share,
                               .slope = slope ? *slope : pvec_make(0, 0, 0) };
    else
        bands->move_first[joint + 2]++;
    t->move_count++;
}

static const patch_item *item_of(const turning *t, uint32_t v, uint32_t joint)
{
    for (uint32_t k = t->first[v]; k < t->first[v + 1]; k++)
        if (t->bands->items[t->list[k]].joint == joint) return &t->bands->items[t->list[k]];
    return NULL;
}

/// A joint that turns the vertex at hand; without an item it is followed whole.
typedef struct turn_step {
    const patch_item *item;
    uint32_t joint;
    bool above; // is the vertex's part below it?
} turn_step;

// Deeper joints turn first, those of one depth by number.
static bool turns_before(const turning *t, uint32_t a, uint32_t b)
{
    return t->depths[a] != t->depths[b] ? t->depths[a] > t->depths[b] : a < b;
}

// The next joint after `last` (NULL: the first) that turns the vertex: of its items, and of the
// joints above its part up to `end`, which it follows whole.
static bool next_step(const turning *t, uint32_t v, const turn_step *last, uint32_t end,
                      turn_step *out)
{
    bool found = false;
    for (uint32_t k = t->first[v]; k < t->first[v + 1]; k++) {
        const patch_item *item = &t->bands->items[t->list[k]];
        if ((last && !turns_before(t, last->joint, item->joint)) ||
            (found && !turns_before(t, item->joint, out->joint)))
            continue;
        *out = (turn_step){ item, item->joint, item->side };
        found = true;
    }
    int32_t j = t->bands->tree[t->parts->vertex_part[v]];
    while (j >= 0 && last && !turns_before(t, last->joint, (uint32_t)j))
        j = t->bands->tree[t->body->loops[j].parent];
    if (j < 0 || !turns_before(t, (uint32_t)j, end)) return found;
    if (found && !turns_before(t, (uint32_t)j, out->joint)) return true;
    *out = (turn_step){ item_of(t, v, (uint32_t)j), (uint32_t)j, true };
    return true;
}

// The last joint of a vertex's items: it turns the vertex, or must find it where the joints before
// have brought it.
static uint32_t last_step(const turning *t, uint32_t v)
{
    uint32_t end = t->body->loop_count;
    for (uint32_t k = t->first[v]; k < t->first[v + 1]; k++) {
        const uint32_t joint = t->bands->items[t->list[k]].joint;
        if (end == t->body->loop_count || turns_before(t, end, joint)) end = joint;
    }
    return end;
}

// The way back to its part of a vertex that has gone through `on` joints above it, the highest one
// first, and the part that it is in the space of until then.
static void add_undo(turning *t, uint32_t v, uint32_t on)
{
    patch_bands *bands = t->bands;
    uint32_t space = t->parts->vertex_part[v];
    if (t->fill) bands->mixed_undo[bands->mixed_count] = (int)t->undo_count;
    for (uint32_t k = 0; k < on; k++) {
        const uint32_t joint = (uint32_t)bands->tree[space];
        if (t->fill) bands->undo[t->undo_count + on - 1 - k] = (int)joint;
        space = t->body->loops[joint].parent;
    }
    if (t->fill) bands->mixed_part[bands->mixed_count] = (int)space;
    t->undo_count += on;
}

// Joints turn a vertex one after the other, in the rest space that all parts share; those above its
// part it goes through. The last of these leaves it on its child's side.
static void add_steps(turning *t, uint32_t v)
{
    const uint32_t end = last_step(t, v);
    turn_step step, *last = NULL;
    uint32_t on = 0;
    for (turn_step next; next_step(t, v, last, end, &next);) {
        step = next, last = &step;
        const double share = step.item ? step.item->share : 1.0;
        const pvec *slope = step.item ? &step.item->slope : NULL;
        if (step.above && step.joint == end) {
            if (share < 1.0) add_move(t, end, PATCH_MOVE_MIXED | PATCH_MOVE_CHILD, share, slope);
            break;
        }
        if (!step.above && share == 0.0) continue; // it is only to be found there
        const int kind = step.above ? PATCH_MOVE_CHILD | PATCH_MOVE_ON : 0;
        add_move(t, step.joint, PATCH_MOVE_MIXED | kind | (share < 1.0 ? 0 : PATCH_MOVE_WHOLE),
                 share, slope);
        on += step.above;
    }
    add_undo(t, v, on);
}

// One turn that needs no other to be made and undone?
static bool is_simple(const turning *t, uint32_t v)
{
    if (t->first[v + 1] - t->first[v] != 1) return false;
    const patch_item *item = &t->bands->items[t->list[t->first[v]]];
    const int32_t own = t->bands->tree[t->parts->vertex_part[v]];
    return own == (int32_t)item->joint ||
           (!item->side && (own < 0 || turns_before(t, item->joint, (uint32_t)own)));
}

static void list_vertex(turning *t, uint32_t v)
{
    patch_bands *bands = t->bands;
    t->vertex = v;
    bands->bands[v] = PATCH_BAND_NONE;
    if (t->first[v] == t->first[v + 1]) return;
    if (is_simple(t, v)) {
        const patch_item *item = &bands->items[t->list[t->first[v]]];
        if (!(item->share > 0.0)) return;
        bands->bands[v] = PATCH_BAND_ONE;
        add_move(t, item->joint, item->side ? PATCH_MOVE_CHILD : 0, item->share, &item->slope);
        return;
    }
    add_steps(t, v);
    bands->bands[v] = PATCH_BAND_ONE + 1 + (int)bands->mixed_count++;
}

// Count undos and moves, or fill them in.
static void list_moves(turning *t, bool fill)
{
    t->fill = fill;
    t->undo_count = t->move_count = t->bands->mixed_count = 0;
    for (uint32_t v = 0; v < t->parts->vertex_count; v++) list_vertex(t, v);
    if (fill) t->bands->mixed_undo[t->bands->mixed_count] = (int)t->undo_count;
}

// The faces of a joint that others bend before stand first, up to a whole block; volume of the
// others at rest.
static void order_faces(const turning *t, uint32_t joint, const int *last)
{
    patch_bands *bands = t->bands;
    patch_band *band = &bands->joints[joint];
    int *corners = bands->corners + 3 * (size_t)bands->face_first[joint];
    const size_t faces = bands->face_first[joint + 1] - bands->face_first[joint];
    pvec centre, x[3];
    memcpy(&centre, t->body->centres + 3 * (size_t)joint, sizeof centre);
    for (size_t f = 0; f < faces; f++) {
        int c[3];
        memcpy(c, corners + 3 * f, sizeof c);
        if (last[c[0]] < 0 && last[c[1]] < 0 && last[c[2]] < 0) continue;
        memcpy(corners + 3 * f, corners + 3 * (size_t)band->over, sizeof c);
        memcpy(corners + 3 * (size_t)band->over++, c, sizeof c);
    }
    band->over = (band->over + PATCH_FACE_BLOCK - 1) / PATCH_FACE_BLOCK * PATCH_FACE_BLOCK;
    for (size_t f = (size_t)band->over; f < faces; f++) {
        for (int k = 0; k < 3; k++) {
            const int v = corners[3 * f + (size_t)k];
            memcpy(&x[k], t->body->points + 3 * (size_t)t->parts->welded[v], sizeof *x);
            x[k] = pvec_minus(x[k], centre);
        }
        band->volume += pvec_det(x[0], x[1], x[2]);
    }
}

// How the volume over a joint's centre grows with swelling, at rest: of a vertex by the faces
// around it that the band moves.
static void find_slope(const turning *t, uint32_t joint, double *grow)
{
    const patch_bands *bands = t->bands;
    patch_band *band = &bands->joints[joint];
    const uint32_t first = bands->move_first[joint], end = bands->move_first[joint + 1];
    for (uint32_t i = first; i < end; i++)
        grow[bands->moves[i].vertex] = patch_bump(bands->moves[i].share);
    for (size_t f = bands->face_first[joint]; f < bands->face_first[joint + 1]; f++) {
        const int *c = bands->corners + 3 * f;
        pvec x[3];
        for (int k = 0; k < 3; k++)
            memcpy(&x[k], t->body->points + 3 * (size_t)t->parts->welded[c[k]], sizeof *x);
        const pvec n = pvec_cross(pvec_minus(x[1], x[0]), pvec_minus(x[2], x[0]));
        for (int k = 0; k < 3; k++) {
            pvec out;
            memcpy(&out, t->body->outwards + 3 * (size_t)t->parts->welded[c[k]], sizeof out);
            band->slope += grow[c[k]] * pvec_dot(out, n);
        }
    }
    for (uint32_t i = first; i < end; i++) grow[bands->moves[i].vertex] = 0.0;
}

// A joint's rank is above those of all before it that it shares a vertex with.
static void rank_joint(turning *t, uint32_t j, int *last)
{
    patch_bands *bands = t->bands;
    const patch_band_move *moves = bands->moves + bands->move_first[j];
    const uint32_t count = bands->move_first[j + 1] - bands->move_first[j];
    const int *corners = bands->corners + 3 * (size_t)bands->face_first[j];
    const size_t faces = bands->face_first[j + 1] - bands->face_first[j];
    int rank = 0;
    for (uint32_t i = 0; i < count; i++)
        if (last[moves[i].vertex] >= rank) rank = last[moves[i].vertex] + 1;
    for (size_t i = 0; i < 3 * faces; i++)
        if (last[corners[i]] >= rank) rank = last[corners[i]] + 1;
    order_faces(t, j, last);
    for (uint32_t i = 0; i < count; i++) last[moves[i].vertex] = rank;
    for (size_t i = 0; i < 3 * faces; i++) last[corners[i]] = rank;
    bands->joints[j].rank = rank;
    if ((uint32_t)rank >= bands->rank_count) bands->rank_count = (uint32_t)rank + 1;
}

// Joints of a rank have places beside each other; the next rank has the same.
static cutis_result place_joints(const turning *t)
{
    patch_bands *bands = t->bands;
    cutis_arena *arena = t->body->arena;
    uint32_t *joints = cutis_arena_zero(arena, bands->rank_count + (size_t)1, sizeof *joints);
    uint32_t *moves = cutis_arena_zero(arena, bands->rank_count + (size_t)1, sizeof *moves);
    if (!joints || !moves) return cutis_alloc_result(t->body->context);
    for (uint32_t j = 0; j < t->body->loop_count; j++) {
        patch_band *band = &bands->joints[j];
        const int first = (int)bands->move_first[j];
        band->place = (int)joints[band->rank]++;
        band->lifted = (int)moves[band->rank] - first;
        moves[band->rank] += bands->move_first[j + 1] - bands->move_first[j];
        if (joints[band->rank] > bands->rank_most) bands->rank_most = joints[band->rank];
        if (moves[band->rank] > bands->lift_count) bands->lift_count = moves[band->rank];
    }
    return CUTIS_OK;
}

// Joints that touch the same vertices turn one after the other, the deepest first.
static cutis_result rank_joints(turning *t)
{
    const patch_body *body = t->body;
    int *last = cutis_arena_alloc(body->arena, t->parts->vertex_count, sizeof *last);
    double *grow = cutis_arena_zero(body->arena, t->parts->vertex_count, sizeof *grow);
    uint32_t most = 0;
    if (!last || !grow) return cutis_alloc_result(body->context);
    for (uint32_t v = 0; v < t->parts->vertex_count; v++) last[v] = -1;
    for (uint32_t j = 0; j < body->loop_count; j++)
        most = t->depths[j] > most ? t->depths[j] : most;
    for (uint32_t depth = most; depth > 0; depth--)
        for (uint32_t j = 0; j < body->loop_count; j++)
            if (t->depths[j] == depth) {
                rank_joint(t, j, last);
                find_slope(t, j, grow);
            }
    return place_joints(t);
}

// Corners of the faces of a joint that it does not move are moves too, of nothing: faces then look
// at moves alone. Counted where `out` is NULL.
static uint32_t add_still(const turning *t, uint32_t joint, int *seen, patch_band_move *out)
{
    const patch_bands *bands = t->bands;
    uint32_t count = bands->move_first[joint + 1] - bands->move_first[joint];
    for (uint32_t i = 0; i < count; i++) {
        const patch_band_move *move = &bands->moves[bands->move_first[joint] + i];
        seen[move->vertex] = (int)joint;
        if (out) out[i] = *move;
    }
    for (size_t i = 3 * (size_t)bands->face_first[joint];
         i < 3 * (size_t)bands->face_first[joint + 1]; i++) {
        const int v = bands->corners[i];
        if (seen[v] == (int)joint) continue;
        seen[v] = (int)joint;
        if (out) out[count] = (patch_band_move){ .vertex = v, .kind = PATCH_MOVE_STILL };
        count++;
    }
    return count;
}

static cutis_result add_stills(turning *t)
{
    patch_bands *bands = t->bands;
    cutis_arena *arena = t->body->arena;
    const uint32_t joints = t->body->loop_count;
    int *seen = cutis_arena_alloc(arena, t->parts->vertex_count, sizeof *seen);
    uint32_t *first = cutis_arena_zero(arena, joints + (size_t)1, sizeof *first);
    if (!seen || !first) return cutis_alloc_result(t->body->context);
    for (uint32_t v = 0; v < t->parts->vertex_count; v++) seen[v] = -1;
    for (uint32_t j = 0; j < joints; j++) first[j + 1] = first[j] + add_still(t, j, seen, NULL);
    patch_band_move *moves = cutis_arena_alloc(arena, first[joints] + (size_t)1, sizeof *moves);
    if (!moves) return cutis_alloc_result(t->body->context);
    for (uint32_t v = 0; v < t->parts->vertex_count; v++) seen[v] = -1;
    for (uint32_t j = 0; j < joints; j++) add_still(t, j, seen, moves + first[j]);
    bands->moves = moves;
    bands->move_first = first;
    bands->move_count = first[joints];
    return CUTIS_OK;
}

static cutis_result make_moves(turning *t)
{
    patch_bands *bands = t->bands;
    cutis_arena *arena = t->body->arena;
    const size_t joints = t->body->loop_count;
    bands->move_first = cutis_arena_zero(arena, joints + 2, sizeof *bands->move_first);
    bands->bands = cutis_arena_alloc(arena, t->parts->vertex_count, sizeof *bands->bands);
    if (!bands->move_first || !bands->bands) return cutis_alloc_result(t->body->context);
    list_moves(t, false);
    bands->undo_count = t->undo_count;
    for (size_t j = 2; j < joints + 2; j++) bands->move_first[j] += bands->move_first[j - 1];
    const size_t mixed = bands->mixed_count + (size_t)1;
    bands->mixed_part = cutis_arena_alloc(arena, mixed, sizeof *bands->mixed_part);
    bands->mixed_undo = cutis_arena_alloc(arena, mixed, sizeof *bands->mixed_undo);
    bands->undo = cutis_arena_alloc(arena, bands->undo_count + (size_t)1, sizeof *bands->undo);
    bands->moves = cutis_arena_alloc(arena, t->move_count + (size_t)1, sizeof *bands->moves);
    if (!bands->mixed_part || !bands->mixed_undo || !bands->undo || !bands->moves)
        return cutis_alloc_result(t->body->context);
    list_moves(t, true);
    TRY(add_stills(t));
    return rank_joints(t);
}

cutis_result cutis_patch_bands_turn(const patch_body *body, const patch_pieces *parts,
                                    patch_bands *bands)
{
    cutis_arena *arena = body->arena;
    const size_t vertices = parts->vertex_count;
    uint32_t *first = cutis_arena_zero(arena, vertices + 2, sizeof *first);
    uint32_t *list = cutis_arena_alloc(arena, bands->item_count + 1, sizeof *list);
    turning t = { .body = body, .parts = parts, .bands = bands, .first = first, .list = list };
    t.depths = cutis_arena_alloc(arena, body->loop_count + (size_t)1, sizeof *t.depths);
    if (!first || !list || !t.depths) return cutis_alloc_result(body->context);
    for (uint32_t j = 0; j < body->loop_count; j++) t.depths[j] = depth_of(&t, j);
    for (size_t i = 0; i < bands->item_count; i++) first[bands->items[i].vertex + 2]++;
    for (size_t v = 2; v < vertices + 2; v++) first[v] += first[v - 1];
    for (size_t i = 0; i < bands->item_count; i++)
        list[first[bands->items[i].vertex + 1]++] = (uint32_t)i;
    return make_moves(&t);
}

// Array of the body, to be filled.
#define FILL(pack, name)                                                                           \
    ((void *)((pack)->body + PATCH_UNIT * (size_t)(pack)->arguments.at.body_##name))

static void copy(void *to, const void *from, size_t bytes)
{
    if (bytes > 0) memcpy(to, from, bytes);
}

// Corners of the faces of a joint, as moves.
static void fill_corners(const patch_bands *bands, uint32_t joint, int *at, int *out)
{
    for (uint32_t i = bands->move_first[joint]; i < bands->move_first[joint + 1]; i++)
        at[bands->moves[i].vertex] = (int)i;
    for (size_t i = 3 * (size_t)bands->face_first[joint];
         i < 3 * (size_t)bands->face_first[joint + 1]; i++)
        out[i] = at[bands->corners[i]];
}

// How the share of a move grows along the two directions that its vertex's normal goes by.
static void fill_rate(const patch_band_move *move, const pvec *normals, float *out)
{
    const pvec n = normals[move->vertex], a = patch_across(n);
    out[0] = (float)pvec_dot(move->slope, a);
    out[1] = (float)pvec_dot(move->slope, pvec_cross(n, a));
}

void cutis_patch_pack_bands(const patch_body *body, const patch_pieces *parts,
                            const patch_bands *bands, const patch_pack *pack)
{
    int *band = FILL(pack, vertex_band), *vertex = FILL(pack, move_vertex);
    int *kind = FILL(pack, move_kind), *face_first = FILL(pack, band_face_first);
    double *share = FILL(pack, move_share);
    float *rate = FILL(pack, move_rate);
    for (uint32_t j = 0; j < body->loop_count; j++) // `band`: meanwhile where moves stand
        fill_corners(bands, j, band, FILL(pack, band_face));
    copy(band, bands->bands, parts->vertex_count * sizeof *band);
    for (size_t i = 0; i < bands->move_count; i++) {
        vertex[i] = bands->moves[i].vertex;
        kind[i] = bands->moves[i].kind;
        share[i] = bands->moves[i].share;
        fill_rate(&bands->moves[i], FILL(pack, vertex_normal), rate + 2 * i);
    }
    const size_t joints = body->loop_count + (size_t)1;
    copy(FILL(pack, joint_band), bands->joints, body->loop_count * sizeof *bands->joints);
    copy(FILL(pack, band_first), bands->move_first, joints * sizeof *bands->move_first);
    copy(face_first, bands->face_first, joints * sizeof *bands->face_first);
    copy(FILL(pack, mixed_part), bands->mixed_part, bands->mixed_count * sizeof(int));
    copy(FILL(pack, mixed_undo), bands->mixed_undo, (bands->mixed_count + 1) * sizeof(int));
    copy(FILL(pack, undo), bands->undo, bands->undo_count * sizeof(int));
}
