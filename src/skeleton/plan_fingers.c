// Fingers of people: a hand with a stretch of its forearm is looked at as a body of its own, in
// finer cells, and its fingers' joints are hung below the hand. Invariant: a hand has joints of all
// five fingers or of none.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "skeleton/plan.h"

static const uint32_t CELLS[2] = { 40000,
                                   120000 }; // fingers that touch may come apart in the finer
static const double LEAST_END = 0.03;        // of the hand: what an end stands out by
static const double TRUSTED = 0.9;  // deviation from hands beyond which there are no fingers,
static const double BELIEVED = 1.3; // unless those of the other hand are clear
static const double STUMP = 0.25;   // of the hand's length
static const uint32_t FACES_LEAST = 120;
static const uint32_t FINGERS_LEAST = 4; // that must be seen for a second look,
static const double DOUBTED = 2;         // or all, and not far from a hand's

// How far a part reaches from a point, and its number of faces.
static double reach_of(const cutis_closed *mesh, const uint32_t *labels, uint32_t part, vec3 from,
                       uint32_t *count)
{
    double most = 0;
    *count = 0;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        if (labels[f] != part) continue;
        most = fmax(most, v3_distance(cutis_face_middle(mesh, f), from));
        ++*count;
    }
    return most;
}

// The faces of a part, every rim drawn out by a way and closed there: a mesh of its own.
static bool cut_out(cutis_arena *arena, const cutis_closed *mesh, const uint32_t *labels,
                    uint32_t part, uint32_t n, vec3 way, cutis_closed *out)
{
    uint32_t *own = cutis_nothings(arena, mesh->vertex_count);
    uint32_t *moved = cutis_nothings(arena, mesh->vertex_count);
    *out = (cutis_closed){ .context = mesh->context, .vertex_count = 1 };
    out->points = cutis_arena_zero(arena, 6 * (size_t)n + 1, sizeof *out->points);
    out->faces = cutis_arena_alloc(arena, 10 * (size_t)n, sizeof *out->faces);
    if (!own || !moved || !out->points || !out->faces) return false;
    vec3 sum = v3(0, 0, 0);
    double rim = 0;
    for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
        uint32_t v = cutis_from(mesh, h);
        if (labels[h / 3] != part) continue;
        if (own[v] == CUTIS_NOTHING) {
            memcpy(out->points[out->vertex_count], mesh->points[v], sizeof *out->points);
            own[v] = out->vertex_count++;
        }
        if (labels[mesh->twins[h] / 3] == part || moved[v] != CUTIS_NOTHING) continue;
        v3_put(v3_add(v3_of(mesh->points[v]), way), out->points[out->vertex_count]);
        sum = v3_add(sum, v3_of(out->points[out->vertex_count])), rim++;
        moved[v] = out->vertex_count++;
    }
    v3_put(v3_scale(sum, rim > 0 ? 1 / rim : 0), out->points[0]); // it closes the rims
    for (uint32_t h = 0; h < 3 * mesh->face_count; h++) {
        uint32_t a = cutis_from(mesh, h), b = cutis_to(mesh, h);
        if (labels[h / 3] != part) continue;
        if (h % 3 == 0)
            for (int k = 0; k < 3; k++) out->faces[out->face_count][k] = own[mesh->faces[h / 3][k]];
        out->face_count += h % 3 == 0;
        if (labels[mesh->twins[h] / 3] == part) continue;
        const uint32_t wall[3][3] = { { own[b], own[a], moved[a] },
                                      { own[b], moved[a], moved[b] },
                                      { moved[b], moved[a], 0 } };
        memcpy(out->faces[out->face_count], wall, sizeof wall);
        out->face_count += 3;
    }
    return true;
}

// Joints of fingers, below the hand.
static void take_over(const cutis_plan *from, const char *side, int32_t hand, cutis_plan *plan)
{
    int32_t renamed[CUTIS_PLAN_JOINTS];
    for (uint32_t j = 0; j < from->joint_count; j++) {
        const cutis_plan_joint *own = &from->joints[j];
        renamed[j] = hand;
        if (strcmp(own->name, "forearm") == 0 || strcmp(own->name, "hand") == 0) continue;
        if (plan->joint_count == CUTIS_PLAN_JOINTS) return;
        cutis_plan_joint *joint = &plan->joints[plan->joint_count];
        snprintf(joint->name, sizeof joint->name, "%.20s%s", own->name, side);
        joint->parent = own->parent == CUTIS_NONE ? hand : renamed[own->parent];
        joint->point = own->point;
        renamed[j] = (int32_t)plan->joint_count++;
    }
}

// @param out a plan of the hand alone; joint_count 0: it shows no five fingers
static cutis_result find_fingers(cutis_arena *arena, const cutis_closed *mesh,
                                 const uint32_t *labels, const char *side, const cutis_plan *plan,
                                 cutis_centrelines *lines, cutis_plan *out)
{
    const int32_t hand = cutis_plan_find(plan, "hand", side);
    const uint32_t part = cutis_plan_part(plan, "hand", side);
    cutis_closed cut;
    uint32_t n;
    if (hand == CUTIS_NONE || plan->joints[hand].parent == CUTIS_NONE || part == CUTIS_NOTHING)
        return CUTIS_OK;
    vec3 wrist = plan->joints[hand].point;
    vec3 way = v3_sub(plan->joints[plan->joints[hand].parent].point, wrist);
    double length = reach_of(mesh, labels, part, wrist, &n);
    if (n < FACES_LEAST) return CUTIS_OK;
    if (!cut_out(arena, mesh, labels, part, n, v3_scale(v3_unit(way), STUMP * length), &cut))
        return cutis_alloc_result(mesh->context);
    for (int look = 0; look < 2 && out->joint_count == 0; look++) {
        TRY(cutis_centrelines_find(arena, &cut, CELLS[look], look > 0, LEAST_END, lines));
        TRY(cutis_plan_make(arena, lines, CUTIS_KIND_HAND, NULL, out));
        const bool some = out->lacks == CUTIS_ROLE_NONE
                              ? out->cost < DOUBTED
                              : out->lacks == CUTIS_ROLE_FINGER && out->has >= FINGERS_LEAST;
        if (out->cost > BELIEVED || out->lacks != CUTIS_ROLE_NONE) out->joint_count = 0;
        if (!some) break; // a mitten
    }
    return CUTIS_OK;
}

// Faces of a hand that are a finger's become a part of that name.
static cutis_result part_fingers(cutis_arena *arena, const cutis_closed *mesh,
                                 const cutis_centrelines *lines, const cutis_plan *hand,
                                 const char *side, cutis_plan *plan, uint32_t *labels)
{
    const uint32_t whole = cutis_plan_part(plan, "hand", side);
    uint32_t number[CUTIS_PLAN_PARTS];
    uint32_t *owners = cutis_arena_alloc(arena, lines->cells.count, sizeof *owners);
    if (!owners) return cutis_alloc_result(mesh->context);
    TRY(cutis_centrelines_owners(lines, owners));
    for (uint32_t p = 0; p < hand->part_count; p++) {
        number[p] = whole;
        if (strcmp(hand->parts[p], "palm") == 0 || strcmp(hand->parts[p], "forearm") == 0 ||
            plan->part_count == CUTIS_PLAN_PARTS)
            continue;
        number[p] = plan->part_count++;
        snprintf(plan->parts[number[p]], CUTIS_PLAN_NAME, "%.20s%s", hand->parts[p], side);
    }
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        if (labels[f] != whole) continue;
        const uint32_t cell = cutis_cell_near(&lines->cells, cutis_face_middle(mesh, f));
        if (cell != CUTIS_NOTHING && owners[cell] != CUTIS_NOTHING)
            labels[f] = number[hand->node_parts[owners[cell]]];
    }
    return CUTIS_OK;
}

cutis_result cutis_plan_fingers(const cutis_closed *mesh, uint32_t *labels, bool parts,
                                cutis_plan *plan)
{
    static const char *const SIDES[2] = { "_l", "_r" };
    cutis_arena arena = { .context = mesh->context };
    cutis_plan *hands = cutis_arena_zero(&arena, 2, sizeof *hands);
    cutis_centrelines *lines = cutis_arena_zero(&arena, 2, sizeof *lines);
    cutis_result result = hands && lines ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
    if (plan->kind != CUTIS_KIND_HUMAN) result = CUTIS_UNSUPPORTED;
    cutis_errors_ignore(true); // a hand without an inside has no fingers
    for (int side = 0; side < 2 && result == CUTIS_OK; side++)
        result = find_fingers(&arena, mesh, labels, SIDES[side], plan, &lines[side], &hands[side]);
    cutis_errors_ignore(false);
    const bool found = result == CUTIS_OK && hands[0].joint_count > 0 && hands[1].joint_count > 0 &&
                       fmin(hands[0].cost, hands[1].cost) <= TRUSTED;
    for (int side = 0; side < 2 && found && parts && result == CUTIS_OK; side++)
        result = part_fingers(&arena, mesh, &lines[side], &hands[side], SIDES[side], plan, labels);
    if (result == CUTIS_OK && found && parts)
        result = cutis_plan_tidy(mesh, labels, plan->part_count);
    if (result == CUTIS_OK && found)
        for (int side = 0; side < 2; side++)
            take_over(&hands[side], SIDES[side], cutis_plan_find(plan, "hand", SIDES[side]), plan);
    cutis_arena_release(&arena);
    if (result == CUTIS_CANCELLED)
        return cutis_fail(mesh->context, CUTIS_CANCELLED, "fingers: stopped on request");
    if (result == CUTIS_OUT_OF_MEMORY || result == CUTIS_LIMIT_EXCEEDED)
        return cutis_alloc_result(mesh->context);
    return CUTIS_OK;
}
