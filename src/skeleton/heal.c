// Healing labels. Every step only ever changes labels of faces, never the surface. Invariant of the
// result: each label's border is a set of closed loops, no vertex has more than two border edges,
// and but for attached shells every label is one connected piece.
#include "skeleton/heal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"

// A piece with fewer faces, or of a smaller part of the area and few faces, is a fragment. A finger
// bone of a fine mesh may be as small in area, but not in faces.
#define FRAGMENT_FACES 12u
#define FEW_FACES      40u
static const double FRAGMENT_AREA = 5e-4;
#define SMOOTHING_PASSES 10
// 20 rounds settle every segmentation of the Princeton benchmark that was tried (at most 23 parts).
// Rigs with faces have dozens of small parts that all meet: small ones with arcs to several others
// go at once, and what has not settled after 20 rounds loses its smallest part, one after the
// other.
#define ROUNDS     20u
#define CROWD_ARCS 3u
static const double CROWD_AREA = 0.01;

typedef struct {
    cutis_closed *mesh;
    cutis_labels *names;
    cutis_arena arena; // of one round
    uint8_t *seen;     // per face: in a piece
    uint32_t *faces;   // by piece
    uint32_t *last;    // labels before the round that is one too many
    double *areas;     // per face
    double total;
} label_repair;

// Pieces ----------------------------------------------------------------------------------------

typedef struct {
    uint32_t label, index;
    uint32_t *faces, count;
    double area;
    bool whole; // a connected piece of the surface: no border
} piece;

// Takes the faces around `seed` into p->faces, nearest first.
static void flood(label_repair *h, uint32_t seed, piece *p)
{
    const cutis_closed *mesh = h->mesh;
    p->faces[p->count++] = seed;
    h->seen[seed] = 1;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t f = p->faces[i];
        p->area += h->areas[f];
        for (uint32_t e = 3 * f; e < 3 * f + 3; e++) {
            uint32_t g = mesh->twins[e] / 3;
            if (mesh->labels[g] != p->label)
                p->whole = false;
            else if (!h->seen[g])
                h->seen[g] = 1, p->faces[p->count++] = g;
        }
    }
}

static int by_area(const void *a, const void *b)
{
    const piece *p = a, *q = b;
    if (p->area != q->area) return p->area < q->area ? -1 : 1;
    return p->index < q->index ? -1 : p->index > q->index;
}

static cutis_result list_pieces(label_repair *h, piece **pieces, uint32_t *count)
{
    const cutis_closed *mesh = h->mesh;
    size_t capacity = 0;
    uint32_t *faces = h->faces;
    memset(h->seen, 0, mesh->face_count);
    *pieces = NULL, *count = 0;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        if (h->seen[f]) continue;
        if (!cutis_arena_grow(&h->arena, pieces, &capacity, (size_t)*count + 1, sizeof **pieces))
            return cutis_alloc_result(mesh->context);
        piece *p = &(*pieces)[*count];
        *p = (piece){ .label = mesh->labels[f], .index = *count, .faces = faces, .whole = true };
        flood(h, f, p);
        faces += p->count;
        ++*count;
    }
    if (*count) qsort(*pieces, *count, sizeof **pieces, by_area);
    return CUTIS_OK;
}

// The label with the longest border to a piece; ties by label. CUTIS_NOTHING: none.
static uint32_t longest_border(const label_repair *h, const piece *p, double *lengths)
{
    const cutis_closed *mesh = h->mesh;
    uint32_t best = CUTIS_NOTHING;
    for (uint32_t i = 0; i < 3 * p->count; i++) {
        uint32_t e = 3 * p->faces[i / 3] + i % 3;
        if (cutis_is_border(mesh, e))
            lengths[mesh->labels[mesh->twins[e] / 3]] += cutis_edge_length(mesh, e);
    }
    for (uint32_t i = 0; i < 3 * p->count; i++) {
        uint32_t label = mesh->labels[mesh->twins[3 * p->faces[i / 3] + i % 3] / 3];
        if (lengths[label] > 0 && (best == CUTIS_NOTHING || lengths[label] > lengths[best] ||
                                   (lengths[label] == lengths[best] && label < best)))
            best = label;
    }
    for (uint32_t i = 0; i < 3 * p->count; i++)
        lengths[mesh->labels[mesh->twins[3 * p->faces[i / 3] + i % 3] / 3]] = 0;
    return best;
}

// Fragments join a neighbour, further pieces of a label get labels of their own; whole shells keep
// theirs and stay attached.
static cutis_result heal_pieces(label_repair *h, bool *changed)
{
    piece *pieces = NULL;
    uint32_t count, labels = h->names->count;
    TRY(list_pieces(h, &pieces, &count));
    double *lengths = cutis_arena_zero(&h->arena, labels, sizeof *lengths);
    uint32_t *main = cutis_nothings(&h->arena, labels);
    uint32_t *number = cutis_arena_zero(&h->arena, labels, sizeof *number);
    if (!lengths || !main || !number) return cutis_alloc_result(h->mesh->context);
    for (uint32_t i = 0; i < count; i++) { // ascending, so the largest stays; borders before shells
        uint32_t old = main[pieces[i].label];
        if (old == CUTIS_NOTHING || !pieces[i].whole || pieces[old].whole)
            main[pieces[i].label] = i;
    }
    for (uint32_t i = 0; i < count; i++) {
        piece *p = &pieces[i];
        bool fragment = p->count < FRAGMENT_FACES ||
                        (p->count < FEW_FACES && p->area < FRAGMENT_AREA * h->total);
        if (p->whole || (!fragment && main[p->label] == i)) continue;
        uint32_t to = fragment ? longest_border(h, p, lengths)
                               : cutis_labels_add(h->names, "%.250s_%u", h->names->names[p->label],
                                                  2 + number[p->label]++);
        if (to == CUTIS_NOTHING && !fragment) return cutis_alloc_result(h->mesh->context);
        if (to == CUTIS_NOTHING) continue; // its neighbours joined it meanwhile
        for (uint32_t k = 0; k < p->count; k++) h->mesh->labels[p->faces[k]] = to;
        *changed = true;
    }
    return CUTIS_OK;
}

static bool smooth_borders(label_repair *h)
{
    cutis_closed *mesh = h->mesh;
    bool ever = false, changed = true;
    for (int pass = 0; pass < SMOOTHING_PASSES && changed; pass++) {
        changed = false;
        for (uint32_t f = 0; f < mesh->face_count; f++) {
            uint32_t own = mesh->labels[f], n[3];
            for (uint32_t c = 0; c < 3; c++) n[c] = mesh->labels[mesh->twins[3 * f + c] / 3];
            uint32_t to = n[0] == n[1] || n[0] == n[2] ? n[0] : n[1] == n[2] ? n[1] : own;
            if (to == own) continue;
            mesh->labels[f] = to;
            ever = changed = true;
        }
    }
    return ever;
}

// Contacts --------------------------------------------------------------------------------------

// An arc has ends: vertices with an odd number of the contact's edges.
static void close_contact(const cutis_closed *mesh, const uint32_t *edges, uint8_t *odd,
                          cutis_contact *contact)
{
    for (uint32_t i = 0; i < contact->count; i++) {
        uint32_t e = edges[contact->first + i];
        odd[cutis_from(mesh, e)] ^= 1, odd[cutis_to(mesh, e)] ^= 1;
        contact->length += cutis_edge_length(mesh, e);
    }
    for (uint32_t i = 0; i < contact->count; i++) {
        uint32_t e = edges[contact->first + i], a = cutis_from(mesh, e), b = cutis_to(mesh, e);
        contact->open = contact->open || odd[a] || odd[b];
    }
    for (uint32_t i = 0; i < contact->count; i++) {
        uint32_t e = edges[contact->first + i];
        odd[cutis_from(mesh, e)] = odd[cutis_to(mesh, e)] = 0;
    }
}

cutis_result cutis_contacts_find(const cutis_closed *mesh, cutis_arena *arena, cutis_contacts *out)
{
    size_t capacity = 0, contact_capacity = 0;
    cutis_edge *list = NULL; // half-edges by the labels on both sides
    uint8_t *odd = cutis_arena_zero(arena, mesh->vertex_count, 1);
    bool good = odd;
    *out = (cutis_contacts){ 0 };
    for (uint32_t h = 0; h < 3 * mesh->face_count && good; h++) {
        uint32_t low = mesh->labels[h / 3], high = mesh->labels[mesh->twins[h] / 3];
        if (low >= high) continue;
        good = cutis_arena_grow(arena, &list, &capacity, out->edge_count + 1, sizeof *list);
        if (good) list[out->edge_count++] = (cutis_edge){ low, high, h };
    }
    out->edges = cutis_arena_alloc(arena, out->edge_count, sizeof *out->edges);
    if (!good || !out->edges || !cutis_edges_order(arena->context, list, out->edge_count))
        return cutis_alloc_result(arena->context);
    for (uint32_t i = 0, n; i < out->edge_count; i += n) {
        n = (uint32_t)cutis_edges_run(list, out->edge_count, i);
        if (!cutis_arena_grow(arena, &out->contacts, &contact_capacity, out->count + 1,
                              sizeof *out->contacts))
            return cutis_alloc_result(arena->context);
        for (uint32_t k = i; k < i + n; k++) out->edges[k] = (uint32_t)list[k].half;
        out->contacts[out->count] = (cutis_contact){ list[i].low, list[i].high, i, n, 0, false };
        close_contact(mesh, out->edges, odd, &out->contacts[out->count++]);
    }
    return CUTIS_OK;
}

// Trees -----------------------------------------------------------------------------------------

// How the parts of each connected piece are attached: a spanning tree of the contacts.
typedef struct {
    int32_t *parents; // per label; CUTIS_NONE: a root, or no face has it
    uint32_t *depths;
    bool *in_tree; // per contact
} spanning_tree;

static int by_worth(const void *a, const void *b)
{
    const cutis_contact *p = *(const cutis_contact *const *)a,
                        *q = *(const cutis_contact *const *)b;
    if (p->open != q->open) return p->open ? 1 : -1;
    if (p->length != q->length) return p->length > q->length ? -1 : 1;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    return p->high < q->high ? -1 : p->high > q->high;
}

static uint32_t walk(uint32_t root, const uint32_t *starts, const uint32_t *neighbours,
                     uint32_t *queue, uint32_t *hops)
{
    uint32_t head = 0, tail = 0;
    queue[tail++] = root;
    hops[root] = 0;
    while (head < tail) {
        uint32_t n = queue[head++];
        for (uint32_t i = starts[n]; i < starts[n + 1]; i++) {
            uint32_t m = neighbours[i];
            if (m == root || hops[m] != CUTIS_NOTHING) continue;
            hops[m] = hops[n] + 1;
            queue[tail++] = m;
        }
    }
    return tail;
}

uint32_t cutis_best_root(uint32_t seed, uint32_t count, const uint32_t *starts,
                         const uint32_t *neighbours, const double *sizes, uint32_t *scratch)
{
    uint32_t *queue = scratch, *hops = scratch + count, best = seed, size;
    double least = INFINITY;
    memset(hops, 0xff, count * sizeof *hops);
    size = walk(seed, starts, neighbours, queue, hops);
    uint32_t last = seed;
    for (uint32_t i = 0; i < size; i++) last = queue[i] > last ? queue[i] : last;
    for (uint32_t n = 0; n <= last; n++) {
        if (hops[n] == CUTIS_NOTHING || (size > 2 && starts[n + 1] - starts[n] < 2)) continue;
        memset(hops, 0xff, count * sizeof *hops);
        double sum = 0;
        walk(n, starts, neighbours, queue, hops);
        for (uint32_t i = 0; i < size; i++) sum += sizes[queue[i]] * hops[queue[i]];
        if (sum < least) least = sum, best = n;
    }
    return best;
}

// @param sizes per label; 0: not there
static cutis_result find_tree(cutis_arena *arena, const cutis_contacts *contacts,
                              const double *sizes, uint32_t label_count, spanning_tree *out)
{
    size_t n = label_count;
    const cutis_contact **order = cutis_arena_alloc(arena, contacts->count, sizeof *order);
    uint32_t *up = cutis_arena_alloc(arena, n, sizeof *up), *scratch, *neighbours;
    uint32_t *starts = cutis_arena_zero(arena, n + 2, sizeof *starts);
    scratch = cutis_arena_alloc(arena, 2 * n, sizeof *scratch);
    neighbours = cutis_arena_alloc(arena, 2 * (size_t)contacts->count, sizeof *neighbours);
    out->parents = cutis_arena_alloc(arena, n, sizeof *out->parents);
    out->depths = cutis_arena_zero(arena, n, sizeof *out->depths);
    out->in_tree = cutis_arena_zero(arena, contacts->count, sizeof *out->in_tree);
    if (!order || !up || !starts || !scratch || !neighbours || !out->parents || !out->depths ||
        !out->in_tree)
        return cutis_alloc_result(arena->context);
    for (uint32_t c = 0; c < contacts->count; c++) order[c] = &contacts->contacts[c];
    qsort((void *)order, contacts->count, sizeof *order, by_worth);
    for (uint32_t i = 0; i < n; i++) up[i] = i, out->parents[i] = CUTIS_NONE;
    for (uint32_t i = 0; i < contacts->count; i++) {
        const cutis_contact *c = order[i];
        uint32_t a = group_of(up, c->low), b = group_of(up, c->high);
        if (a == b) continue;
        up[a] = b;
        out->in_tree[c - contacts->contacts] = true;
        starts[c->low + 2]++, starts[c->high + 2]++;
    }
    for (uint32_t i = 0; i < n; i++) starts[i + 2] += starts[i + 1];
    for (uint32_t c = 0; c < contacts->count; c++) {
        if (!out->in_tree[c]) continue;
        neighbours[starts[contacts->contacts[c].low + 1]++] = contacts->contacts[c].high;
        neighbours[starts[contacts->contacts[c].high + 1]++] = contacts->contacts[c].low;
    }
    uint32_t *done = up; // no longer needed
    memset(done, 0, n * sizeof *done);
    for (uint32_t seed = 0; seed < n; seed++) {
        if (done[seed] || starts[seed] == starts[seed + 1]) continue;
        uint32_t root = cutis_best_root(seed, label_count, starts, neighbours, sizes, scratch);
        uint32_t *queue = scratch, *hops = scratch + n;
        memset(hops, 0xff, n * sizeof *hops);
        uint32_t size = walk(root, starts, neighbours, queue, hops);
        for (uint32_t i = 0; i < size; i++) {
            uint32_t p = queue[i];
            done[p] = 1, out->depths[p] = hops[p];
            for (uint32_t k = starts[p]; k < starts[p + 1]; k++)
                if (hops[neighbours[k]] < hops[p]) out->parents[p] = (int32_t)neighbours[k];
        }
    }
    return CUTIS_OK;
}

// Points where three parts meet -----------------------------------------------------------------

// Faces of the two parts around every vertex of the contact go to `label`.
static void widen(cutis_closed *mesh, const cutis_contacts *contacts, const cutis_contact *contact,
                  uint32_t label)
{
    for (uint32_t i = 0; i < 2 * contact->count; i++) {
        uint32_t e = contacts->edges[contact->first + i / 2];
        uint32_t v = i % 2 ? cutis_to(mesh, e) : cutis_from(mesh, e);
        for (uint32_t h = mesh->leaving[v]; h != CUTIS_NOTHING; h = cutis_next_around(mesh, v, h)) {
            uint32_t *own = &mesh->labels[h / 3];
            if (*own == contact->low || *own == contact->high) *own = label;
        }
    }
}

// A part goes to the neighbour with the longest border.
static void dissolve(label_repair *h, const cutis_contacts *contacts, uint32_t from)
{
    uint32_t to = from;
    double longest = 0;
    for (uint32_t c = 0; c < contacts->count; c++) {
        const cutis_contact *other = &contacts->contacts[c];
        if ((other->low != from && other->high != from) || other->length <= longest) continue;
        longest = other->length, to = other->low == from ? other->high : other->low;
    }
    for (uint32_t f = 0; f < h->mesh->face_count; f++)
        if (h->mesh->labels[f] == from) h->mesh->labels[f] = to;
}

// The smallest part that crowds: small and with arcs to several others, or (stuck) any with an arc.
static uint32_t crowding_part(const label_repair *h, const cutis_contacts *contacts,
                              const spanning_tree *tree, const double *sizes, uint32_t *arcs,
                              bool stuck)
{
    uint32_t best = CUTIS_NOTHING;
    for (uint32_t c = 0; c < contacts->count; c++) {
        if (!contacts->contacts[c].open || tree->in_tree[c]) continue;
        arcs[contacts->contacts[c].low]++, arcs[contacts->contacts[c].high]++;
    }
    for (uint32_t l = 0; l < h->names->count; l++) {
        bool crowds = arcs[l] >= CROWD_ARCS && sizes[l] < CROWD_AREA * h->total;
        if (!crowds && !(stuck && arcs[l] > 0)) continue;
        if (best == CUTIS_NOTHING || sizes[l] < sizes[best]) best = l;
    }
    return best;
}

// Arcs that close a cycle of parts; several a round where they have no part in common.
static cutis_result heal_arcs(label_repair *h, const cutis_contacts *contacts,
                              const spanning_tree *tree, const double *sizes, bool stuck,
                              bool *changed)
{
    uint8_t *used = cutis_arena_zero(&h->arena, h->names->count, 1);
    uint32_t *arcs = cutis_arena_zero(&h->arena, h->names->count, sizeof *arcs);
    if (!used || !arcs) return cutis_alloc_result(h->mesh->context);
    uint32_t crowding = crowding_part(h, contacts, tree, sizes, arcs, stuck);
    if (crowding != CUTIS_NOTHING) {
        dissolve(h, contacts, crowding);
        *changed = true;
        return CUTIS_OK;
    }
    for (uint32_t c = 0; c < contacts->count; c++) {
        const cutis_contact *contact = &contacts->contacts[c];
        uint32_t x = contact->low, y = contact->high, deep = x;
        if (!contact->open || tree->in_tree[c]) continue;
        if (tree->depths[y] > tree->depths[x] ||
            (tree->depths[y] == tree->depths[x] && sizes[y] < sizes[x]))
            deep = y;
        uint32_t to = (uint32_t)tree->parents[deep]; // a root is never the deeper one
        if (used[x] || used[y] || used[to]) continue;
        used[x] = used[y] = used[to] = 1;
        widen(h->mesh, contacts, contact, to);
        *changed = true;
    }
    return CUTIS_OK;
}

// Do two border edges join the same two vertices? That is a loop without an inside.
static bool is_digon(const cutis_closed *mesh, uint32_t e)
{
    for (uint32_t h = cutis_around(mesh, e); h != e; h = cutis_around(mesh, h))
        if (cutis_to(mesh, h) == cutis_to(mesh, e) && cutis_is_border(mesh, h)) return true;
    return false;
}

static cutis_result heal_touching(label_repair *h, const spanning_tree *tree, bool *changed)
{
    cutis_closed *mesh = h->mesh;
    uint8_t *borders = cutis_arena_zero(&h->arena, mesh->vertex_count, 1);
    if (!borders) return cutis_alloc_result(mesh->context);
    for (uint32_t e = 0; e < 3 * mesh->face_count; e++) {
        uint8_t *count = &borders[cutis_from(mesh, e)];
        if (cutis_is_border(mesh, e) && *count < 3) ++*count;
    }
    for (uint32_t e = 0; e < 3 * mesh->face_count; e++)
        if (cutis_is_border(mesh, e) && borders[cutis_from(mesh, e)] < 3 && is_digon(mesh, e))
            borders[cutis_from(mesh, e)] = 3;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        if (borders[v] < 3) continue;
        uint32_t best = mesh->labels[mesh->leaving[v] / 3];
        for (uint32_t e = mesh->leaving[v]; e != CUTIS_NOTHING; e = cutis_next_around(mesh, v, e)) {
            uint32_t label = mesh->labels[e / 3];
            if (tree->depths[label] < tree->depths[best] ||
                (tree->depths[label] == tree->depths[best] && label < best))
                best = label;
        }
        for (uint32_t e = mesh->leaving[v]; e != CUTIS_NOTHING; e = cutis_next_around(mesh, v, e))
            mesh->labels[e / 3] = best;
        *changed = true;
    }
    return CUTIS_OK;
}

// Rounds ----------------------------------------------------------------------------------------

static cutis_result heal_round(label_repair *h, bool stuck, bool *changed)
{
    cutis_contacts contacts;
    spanning_tree tree;
    TRY(heal_pieces(h, changed));
    *changed |= smooth_borders(h);
    TRY(cutis_contacts_find(h->mesh, &h->arena, &contacts));
    double *sizes = cutis_arena_zero(&h->arena, h->names->count, sizeof *sizes);
    if (!sizes) return cutis_alloc_result(h->mesh->context);
    for (uint32_t f = 0; f < h->mesh->face_count; f++) sizes[h->mesh->labels[f]] += h->areas[f];
    TRY(find_tree(&h->arena, &contacts, sizes, h->names->count, &tree));
    bool arcs = false;
    TRY(heal_arcs(h, &contacts, &tree, sizes, stuck, &arcs));
    *changed |= arcs;
    return arcs ? CUTIS_OK : heal_touching(h, &tree, changed);
}

typedef struct {
    uint32_t from, to, count;
} moved;

static int by_move(const void *a, const void *b)
{
    const moved *p = a, *q = b;
    if (p->from != q->from) return p->from < q->from ? -1 : 1;
    return p->to < q->to ? -1 : p->to > q->to;
}

// What became of the labels, one line for every pair of parts.
static cutis_result note_changes(const cutis_closed *mesh, const uint32_t *before,
                                 const cutis_labels *names, cutis_arena *arena, cutis_notes *notes,
                                 cutis_skeleton_repairs *repairs)
{
    moved *list = cutis_arena_alloc(arena, mesh->face_count, sizeof *list);
    uint32_t count = 0, *kept = cutis_arena_zero(arena, names->count, sizeof *kept);
    if (!list || !kept) return cutis_alloc_result(mesh->context);
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        kept[mesh->labels[f]]++;
        if (mesh->labels[f] != before[f]) list[count++] = (moved){ before[f], mesh->labels[f], 1 };
    }
    repairs->relabelled_faces += count;
    qsort(list, count, sizeof *list, by_move);
    for (uint32_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && by_move(&list[i], &list[i + n]) == 0;) n++;
        cutis_note(notes, "%u face%s of \"%s\" went to \"%s\"%s", n, n == 1 ? "" : "s",
                   names->names[list[i].from], names->names[list[i].to],
                   kept[list[i].from] ? "" : " (nothing is left)");
    }
    return CUTIS_OK;
}

// The error names a part that the last round still changed.
static cutis_result never_settles(const label_repair *h, uint32_t rounds)
{
    const cutis_closed *mesh = h->mesh;
    uint32_t f = 0;
    while (f + 1 < mesh->face_count && mesh->labels[f] == h->last[f]) f++;
    return cutis_fail(mesh->context, CUTIS_UNSUPPORTED,
                      "part \"%s\": its border does not settle to closed loops of two parts each "
                      "in %u rounds of healing",
                      h->names->names[h->last[f]], rounds);
}

static cutis_result heal_all(label_repair *h, uint32_t rounds, cutis_skeleton_repairs *repairs)
{
    cutis_closed *mesh = h->mesh;
    uint32_t most = rounds ? rounds : ROUNDS + 4 * h->names->count;
    bool changed = true;
    for (uint32_t f = 0; f < mesh->face_count; f++)
        h->total += h->areas[f] = cutis_face_area(mesh, f);
    for (uint32_t round = 0; changed; round++) {
        changed = false;
        if (round == ROUNDS && !rounds) most += 4 * h->names->count; // pieces are parts by now
        if (round == most) memcpy(h->last, mesh->labels, mesh->face_count * sizeof *h->last);
        cutis_result result = heal_round(h, round >= ROUNDS, &changed);
        if (result == CUTIS_OK && changed && round == most) result = never_settles(h, most);
        if (result == CUTIS_OK && changed) {
            repairs->rounds++;
            result = cutis_progress(mesh->context, "healing", (double)round / most);
        }
        cutis_arena_release(&h->arena);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

cutis_result cutis_heal(cutis_closed *mesh, cutis_labels *names, uint32_t rounds,
                        cutis_notes *notes, cutis_skeleton_repairs *repairs)
{
    cutis_context *context = mesh->context;
    label_repair h = { .mesh = mesh, .names = names, .arena = { .context = context } };
    cutis_arena arena = { .context = context };
    h.seen = cutis_arena_alloc(&arena, mesh->face_count, 1);
    h.faces = cutis_arena_alloc(&arena, mesh->face_count, sizeof *h.faces);
    h.areas = cutis_arena_alloc(&arena, mesh->face_count, sizeof *h.areas);
    h.last = cutis_arena_alloc(&arena, mesh->face_count, sizeof *h.last);
    uint32_t *before =
        cutis_arena_copy(&arena, mesh->labels, mesh->face_count, sizeof *mesh->labels);
    cutis_result result = h.seen && h.faces && h.areas && h.last && before
                              ? heal_all(&h, rounds, repairs)
                              : cutis_alloc_result(context);
    if (result == CUTIS_OK) result = note_changes(mesh, before, names, &arena, notes, repairs);
    cutis_arena_release(&h.arena);
    cutis_arena_release(&arena);
    return result;
}
