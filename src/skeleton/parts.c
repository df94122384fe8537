// From healed labels to a tree of parts: rings, attached shells, what only touches, the root, and
// the order. Invariant: parts are in pre-order, every joint has its ring or its touching point,
// and every face that is not of an attached shell is in exactly one part's list.
#include "skeleton/parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"
#include "math/eigen3.h"
#include "skeleton/heal.h"

// A loose shell with fewer faces, or of a smaller part of the area, is a detail (a tooth, a
// button). Not the rule of heal.c, which keeps small pieces of 40 faces and more: those are
// bordered by other parts, and may be bones (of a finger) in a fine mesh (docs/spec/skeleton.md A1,
// A1a).
#define FRAGMENT_FACES 12u
static const double FRAGMENT_AREA = 5e-4; // of the whole
// How far beyond the nearest point two pieces still touch, in diagonals of the smaller one.
static const double TOUCH_REACH = 0.03;
// Distances between pieces are taken between points this far apart (parts of the diagonal), at most
// this many along an edge.
static const double SAMPLE_STEP = 0.01;
#define SAMPLE_MOST 12

// A shell that belongs to one label whose main shell is another one is attached to that.
typedef struct {
    uint32_t label, faces;
    double area;
    bool mixed; // has more than one label
    bool attached;
} shell;

typedef struct {
    uint32_t a, b; // labels
    int32_t ring;  // or CUTIS_NONE
    double touch[3];
} link;

typedef struct {
    cutis_closed *mesh;
    const cutis_labels *names;
    cutis_notes *notes;
    cutis_arena scratch;
    cutis_parts *out;
    shell *shells;
    uint32_t *main_shell; // per label: its shell
    link *links;
    uint32_t link_count;
    size_t link_capacity;
    double *volumes; // per label
} builder;

static bool add_link(builder *b, link entry)
{
    if (!cutis_arena_grow(&b->scratch, &b->links, &b->link_capacity, (size_t)b->link_count + 1,
                          sizeof *b->links))
        return false;
    b->links[b->link_count++] = entry;
    return true;
}

// Attached shells -------------------------------------------------------------------------------

static cutis_result find_main_shells(builder *b)
{
    cutis_closed *mesh = b->mesh;
    b->shells = cutis_arena_alloc(&b->scratch, mesh->shell_count, sizeof *b->shells);
    b->main_shell = cutis_nothings(&b->scratch, b->names->count);
    if (!b->shells || !b->main_shell) return cutis_alloc_result(mesh->context);
    for (uint32_t s = 0; s < mesh->shell_count; s++)
        b->shells[s] = (shell){ .label = CUTIS_NOTHING };
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        shell *s = &b->shells[mesh->shells[f]];
        if (s->label == CUTIS_NOTHING) s->label = mesh->labels[f];
        s->mixed = s->mixed || s->label != mesh->labels[f];
        s->area += cutis_face_area(mesh, f);
        s->faces++;
    }
    for (uint32_t f = 0; f < mesh->face_count; f++) { // where it has borders, else the largest
        uint32_t *main_shell = &b->main_shell[mesh->labels[f]], here = mesh->shells[f];
        if (*main_shell == here) continue;
        if (*main_shell == CUTIS_NOTHING ||
            (b->shells[here].mixed && !b->shells[*main_shell].mixed) ||
            (!b->shells[here].mixed && !b->shells[*main_shell].mixed &&
             b->shells[here].area > b->shells[*main_shell].area))
            *main_shell = here;
    }
    return CUTIS_OK;
}

// Shells too small for a part take the label of the nearest vertex of a part.
static cutis_result attach_fragments(builder *b)
{
    cutis_closed *mesh = b->mesh;
    double total = 0;
    uint32_t count = 0, *list = cutis_arena_alloc(&b->scratch, mesh->vertex_count, sizeof *list);
    uint32_t *label = cutis_arena_alloc(&b->scratch, mesh->vertex_count, sizeof *label);
    uint32_t *first = cutis_nothings(&b->scratch, mesh->shell_count);
    if (!list || !label || !first) return cutis_alloc_result(mesh->context);
    for (uint32_t s = 0; s < mesh->shell_count; s++) total += b->shells[s].area;
    uint32_t fragments = 0;
    for (uint32_t s = 0; s < mesh->shell_count; s++) {
        shell *own = &b->shells[s];
        own->attached = !own->mixed && b->main_shell[own->label] == s &&
                        (own->faces < FRAGMENT_FACES || own->area < FRAGMENT_AREA * total);
        fragments += own->attached;
    }
    if (fragments == 0 || fragments == mesh->shell_count) return CUTIS_OK;
    for (uint32_t v = 0; v < mesh->vertex_count; v++) {
        uint32_t f = mesh->leaving[v] / 3, s = mesh->shells[f];
        label[v] = mesh->labels[f];
        if (first[s] == CUTIS_NOTHING) first[s] = v;
        if (!b->shells[s].attached) list[count++] = v;
    }
    cutis_nearest *nearest = cutis_nearest_make(&b->scratch, mesh->points, list, count);
    if (!nearest) return cutis_alloc_result(mesh->context);
    for (uint32_t s = 0; s < mesh->shell_count; s++) {
        if (!b->shells[s].attached) continue;
        double distance = INFINITY;
        uint32_t v = cutis_nearest_find(nearest, mesh->points[first[s]], &distance);
        cutis_note(b->notes, "\"%s\" (%u faces) is too small for a part and is attached to \"%s\"",
                   b->names->names[b->shells[s].label], b->shells[s].faces,
                   b->names->names[label[v]]);
        b->shells[s].label = label[v];
    }
    for (uint32_t f = 0; f < mesh->face_count; f++)
        if (b->shells[mesh->shells[f]].attached) mesh->labels[f] = b->shells[mesh->shells[f]].label;
    return find_main_shells(b);
}

static bool is_attached(const builder *b, uint32_t f)
{
    return b->main_shell[b->mesh->labels[f]] != b->mesh->shells[f];
}

// Rings -----------------------------------------------------------------------------------------

static void measure_ring(const cutis_closed *mesh, cutis_ring *ring)
{
    double sum[3] = { 0 }, mean[3] = { 0 }, c[6] = { 0 }, values[3], vectors[9], area[3] = { 0 };
    for (uint32_t i = 0; i < ring->count; i++) {
        const double *p = mesh->points[ring->vertices[i]];
        const double *q = mesh->points[ring->vertices[(i + 1) % ring->count]];
        double length = v3_distance_of(p, q);
        ring->length += length;
        for (int k = 0; k < 3; k++)
            sum[k] += 0.5 * length * (p[k] + q[k]), mean[k] += p[k] / ring->count;
    }
    for (int k = 0; k < 3; k++)
        ring->centre[k] = ring->length > 0 ? sum[k] / ring->length : mean[k];
    ring->radius = ring->length / (2 * 3.14159265358979323846);
    for (uint32_t i = 0; i < ring->count; i++) {
        const double *p = mesh->points[ring->vertices[i]];
        const double *q = mesh->points[ring->vertices[(i + 1) % ring->count]];
        vec3 d = v3_sub(v3_of(p), v3_of(mean)), e = v3_sub(v3_of(q), v3_of(mean));
        v3_sum(area, v3_cross(d, e));
        v3_spread(c, d);
    }
    cutis_eigen3(c, values, vectors);
    // The ring runs along the child's faces, which lie to its left: its area points to the child.
    double sign = double3_dot(vectors + 6, area) < 0 ? -1 : 1;
    v3_put(v3_scale(v3_of(vectors + 6), sign), ring->normal);
}

// All rings, as loops along the face of the lower label; parent and child hold labels for now.
static cutis_result trace_rings(builder *b)
{
    cutis_closed *mesh = b->mesh;
    cutis_contacts contacts;
    cutis_parts *out = b->out;
    TRY(cutis_contacts_find(mesh, &b->scratch, &contacts));
    uint32_t *next = cutis_nothings(&b->scratch, mesh->vertex_count);
    uint32_t *list = cutis_arena_alloc(out->arena, contacts.edge_count, sizeof *list);
    out->rings = cutis_arena_alloc(out->arena, contacts.edge_count / 3 + 1, sizeof *out->rings);
    if (!next || !list || !out->rings) return cutis_alloc_result(mesh->context);
    for (uint32_t i = 0; i < contacts.edge_count; i++)
        next[cutis_from(mesh, contacts.edges[i])] = cutis_to(mesh, contacts.edges[i]);
    for (uint32_t c = 0; c < contacts.count; c++) {
        const cutis_contact *contact = &contacts.contacts[c];
        for (uint32_t i = 0; i < contact->count; i++) {
            uint32_t v = cutis_from(mesh, contacts.edges[contact->first + i]);
            if (next[v] == CUTIS_NOTHING) continue; // traced already
            cutis_ring *ring = &out->rings[out->ring_count];
            *ring =
                (cutis_ring){ .parent = contact->high, .child = contact->low, .vertices = list };
            while (next[v] != CUTIS_NOTHING) {
                uint32_t to = next[v];
                list[ring->count++] = v;
                next[v] = CUTIS_NOTHING;
                v = to;
            }
            if (ring->count < 3 || v != ring->vertices[0])
                return cutis_fail(mesh->context, CUTIS_INTERNAL,
                                  "part \"%s\": a healed border is no loop",
                                  b->names->names[contact->low]);
            list += ring->count;
            measure_ring(mesh, ring);
            out->ring_count++;
        }
    }
    return CUTIS_OK;
}

static int longer_ring(const void *a, const void *b)
{
    const cutis_ring *const *p = a, *const *q = b;
    if ((*p)->length != (*q)->length) return (*p)->length > (*q)->length ? -1 : 1;
    return *p < *q ? -1 : *p > *q;
}

// Rings that connect parts become links, longest first; the others are seams.
static cutis_result choose_rings(builder *b, uint32_t *up)
{
    cutis_parts *out = b->out;
    cutis_ring **order = cutis_arena_alloc(&b->scratch, out->ring_count, sizeof *order);
    if (!order) return cutis_alloc_result(b->mesh->context);
    for (uint32_t r = 0; r < out->ring_count; r++) order[r] = &out->rings[r];
    qsort((void *)order, out->ring_count, sizeof *order, longer_ring);
    for (uint32_t i = 0; i < out->ring_count; i++) {
        uint32_t a = order[i]->parent, c = order[i]->child;
        if (group_of(up, a) == group_of(up, c)) {
            order[i]->seam = true;
            cutis_note(b->notes, "a second loop between \"%s\" and \"%s\" stays stitched",
                       b->names->names[c], b->names->names[a]);
            continue;
        }
        up[group_of(up, a)] = group_of(up, c);
        if (!add_link(b, (link){ a, c, (int32_t)(order[i] - out->rings), { 0 } }))
            return cutis_alloc_result(b->mesh->context);
    }
    return CUTIS_OK;
}

// Pieces that only touch ------------------------------------------------------------------------

typedef struct {
    uint32_t *list, count; // samples
    cutis_nearest *nearest;
    double distance; // to what is attached
    uint32_t from, to;
    double size;
    bool attached;
} island;

// Points all over the surface: vertices alone say little of coarse pieces.
typedef struct {
    double (*points)[3];
    uint32_t *faces;
    uint32_t count;
} samples;

static uint32_t grid_steps(const cutis_closed *mesh, uint32_t f)
{
    double longest = 0;
    for (uint32_t h = 3 * f; h < 3 * f + 3; h++)
        longest = fmax(longest, cutis_edge_length(mesh, h));
    double steps = ceil(longest / (SAMPLE_STEP * mesh->diagonal));
    return steps < 1 ? 1 : steps > SAMPLE_MOST ? SAMPLE_MOST : (uint32_t)steps;
}

// A grid over every face, its corners included.
static bool take_samples(builder *b, samples *out)
{
    const cutis_closed *mesh = b->mesh;
    size_t total = 0;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        size_t n = grid_steps(mesh, f);
        total += (n + 1) * (n + 2) / 2;
    }
    if (total > UINT32_MAX) return false;
    out->points = cutis_arena_alloc(&b->scratch, total, sizeof *out->points);
    out->faces = cutis_arena_alloc(&b->scratch, total, sizeof *out->faces);
    if (!out->points || !out->faces) return false;
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        uint32_t n = grid_steps(mesh, f);
        const uint32_t *v = mesh->faces[f];
        for (uint32_t i = 0; i <= n; i++)
            for (uint32_t j = 0; i + j <= n; j++, out->count++) {
                double x = (double)i / n, y = (double)j / n;
                for (int k = 0; k < 3; k++)
                    out->points[out->count][k] = (1 - x - y) * mesh->points[v[0]][k] +
                                                 x * mesh->points[v[1]][k] +
                                                 y * mesh->points[v[2]][k];
                out->faces[out->count] = f;
            }
    }
    return true;
}

static void approach(const samples *s, island *c, const island *a)
{
    for (uint32_t i = 0; i < c->count; i++) {
        double distance = c->distance;
        uint32_t v = cutis_nearest_find(a->nearest, s->points[c->list[i]], &distance);
        if (v == CUTIS_NOTHING || !(distance < c->distance)) continue;
        c->distance = distance, c->from = c->list[i], c->to = v;
    }
}

// Mean of the points of the smaller piece that are nearly as close to the larger as the closest.
static void touching_point(const samples *s, const island *c, const island *a, double *out)
{
    const island *small = c->size <= a->size ? c : a, *large = small == c ? a : c;
    double reach = c->distance + TOUCH_REACH * small->size, sum[3] = { 0 };
    uint32_t count = 0;
    for (uint32_t i = 0; i < small->count; i++) {
        const double *p = s->points[small->list[i]];
        double distance = reach;
        if (cutis_nearest_find(large->nearest, p, &distance) == CUTIS_NOTHING) continue;
        v3_sum(sum, v3_of(p));
        count++;
    }
    const double *p = s->points[c->from], *q = s->points[c->to];
    for (int k = 0; k < 3; k++) out[k] = count ? sum[k] / count : 0.5 * (p[k] + q[k]);
}

static cutis_result list_islands(builder *b, const samples *s, const uint32_t *island_of_shell,
                                 uint32_t count, island *islands)
{
    cutis_closed *mesh = b->mesh;
    uint32_t *keys = cutis_arena_alloc(&b->scratch, s->count, sizeof *keys);
    uint32_t *list = cutis_arena_alloc(&b->scratch, s->count, sizeof *list);
    uint32_t *first = cutis_arena_alloc(&b->scratch, (size_t)count + 2, sizeof *first);
    if (!keys || !list || !first) return cutis_alloc_result(mesh->context);
    for (uint32_t i = 0; i < s->count; i++) keys[i] = island_of_shell[mesh->shells[s->faces[i]]];
    order_by_key(keys, s->count, (size_t)count + 1, first, list);
    for (uint32_t i = 0; i < count; i++) {
        box3 box = box3_empty();
        islands[i] = (island){ .list = list + first[i], .count = first[i + 1] - first[i] };
        for (uint32_t j = 0; j < islands[i].count; j++)
            box3_add(&box, v3_of(s->points[islands[i].list[j]]));
        islands[i].size = box3_diagonal(&box), islands[i].distance = INFINITY;
        islands[i].nearest =
            cutis_nearest_make(&b->scratch, s->points, islands[i].list, islands[i].count);
        if (!islands[i].nearest) return cutis_alloc_result(mesh->context);
    }
    return CUTIS_OK;
}

// Prim: the nearest piece joins what is attached, from the largest on.
static cutis_result link_islands(builder *b, uint32_t *up)
{
    cutis_closed *mesh = b->mesh;
    uint32_t count = 0, last = 0;
    uint32_t *index = cutis_arena_alloc(&b->scratch, mesh->shell_count, sizeof *index);
    if (!index) return cutis_alloc_result(mesh->context);
    for (uint32_t s = 0; s < mesh->shell_count; s++) {
        bool part = b->shells[s].mixed || b->main_shell[b->shells[s].label] == s;
        index[s] = part ? count++ : CUTIS_NOTHING;
    }
    if (count < 2) return CUTIS_OK;
    for (uint32_t s = 0; s < mesh->shell_count; s++)
        if (index[s] == CUTIS_NOTHING) index[s] = count;
    island *islands = cutis_arena_alloc(&b->scratch, count, sizeof *islands);
    samples s = { .count = 0 };
    if (!islands || !take_samples(b, &s)) return cutis_alloc_result(mesh->context);
    TRY(list_islands(b, &s, index, count, islands));
    for (uint32_t i = 1; i < count; i++)
        if (islands[i].size > islands[last].size) last = i;
    for (uint32_t done = 1; done < count; done++) {
        islands[last].attached = true;
        uint32_t best = CUTIS_NOTHING;
        for (uint32_t i = 0; i < count; i++) {
            if (islands[i].attached) continue;
            approach(&s, &islands[i], &islands[last]);
            if (best == CUTIS_NOTHING || islands[i].distance < islands[best].distance) best = i;
        }
        island *c = &islands[best];
        uint32_t to = index[mesh->shells[s.faces[c->to]]];
        link entry = {
            mesh->labels[s.faces[c->from]], mesh->labels[s.faces[c->to]], CUTIS_NONE, { 0 }
        };
        touching_point(&s, c, &islands[to], entry.touch);
        up[group_of(up, entry.a)] = group_of(up, entry.b);
        if (!add_link(b, entry)) return cutis_alloc_result(mesh->context);
        cutis_note(b->notes, "\"%s\" only touches \"%s\": a joint, no patch",
                   b->names->names[entry.a], b->names->names[entry.b]);
        b->out->touching_count++;
        last = best;
        TRY(cutis_progress(mesh->context, "touching", (double)done / count));
    }
    return CUTIS_OK;
}

// The tree --------------------------------------------------------------------------------------

// Volumes of the parts, closed by fans, by label.
static cutis_result label_volumes(builder *b)
{
    cutis_closed *mesh = b->mesh;
    b->volumes = cutis_arena_zero(&b->scratch, b->names->count, sizeof *b->volumes);
    if (!b->volumes) return cutis_alloc_result(mesh->context);
    const double *o = mesh->points[0];
    for (uint32_t f = 0; f < mesh->face_count; f++) {
        const uint32_t *v = mesh->faces[f];
        if (is_attached(b, f)) continue;
        b->volumes[mesh->labels[f]] +=
            v3_wedge_of(mesh->points[v[0]], mesh->points[v[1]], mesh->points[v[2]], o) / 6;
    }
    for (uint32_t r = 0; r < b->out->ring_count; r++) {
        const cutis_ring *ring = &b->out->rings[r];
        for (uint32_t i = 0; i < ring->count; i++) {
            double v = v3_wedge_of(mesh->points[ring->vertices[(i + 1) % ring->count]],
                                   mesh->points[ring->vertices[i]], ring->centre, o) /
                       6;
            b->volumes[ring->child] += v, b->volumes[ring->parent] -= v;
        }
    }
    for (uint32_t i = 0; i < b->names->count; i++) b->volumes[i] = fabs(b->volumes[i]);
    return CUTIS_OK;
}

static cutis_result named_root(const builder *b, const char *name, uint32_t *out)
{
    char list[256] = "";
    for (uint32_t i = 0; i < b->names->count; i++) {
        if (b->main_shell[i] == CUTIS_NOTHING) continue;
        if (strcmp(b->names->names[i], name) == 0) {
            *out = i;
            return CUTIS_OK;
        }
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%.40s", used ? ", " : "", b->names->names[i]);
    }
    return INVALID(b->mesh->context, "there is no part \"%s\" for the root; parts: %s", name, list);
}

// Labels and links as a graph, then the parts in pre-order from the root, children by label.
static cutis_result order_parts(builder *b, const char *root_name)
{
    cutis_context *context = b->mesh->context;
    cutis_parts *out = b->out;
    uint32_t n = b->names->count, root = CUTIS_NOTHING;
    uint32_t *starts = cutis_arena_zero(&b->scratch, (size_t)n + 2, sizeof *starts);
    uint32_t *near = cutis_arena_alloc(&b->scratch, 2 * (size_t)b->link_count, sizeof *near);
    uint32_t *via = cutis_arena_alloc(&b->scratch, 2 * (size_t)b->link_count, sizeof *via);
    uint32_t *stack = cutis_arena_alloc(&b->scratch, 2 * (size_t)n + 2, sizeof *stack);
    out->part_of_label = cutis_nothings(out->arena, n);
    out->parts = cutis_arena_alloc(out->arena, (size_t)b->link_count + 1, sizeof *out->parts);
    if (!starts || !near || !via || !stack || !out->part_of_label || !out->parts)
        return cutis_alloc_result(context);
    for (uint32_t i = 0; i < b->link_count; i++)
        starts[b->links[i].a + 2]++, starts[b->links[i].b + 2]++;
    for (uint32_t i = 0; i < n; i++) starts[i + 2] += starts[i + 1];
    for (uint32_t i = 0; i < b->link_count; i++) {
        const link *l = &b->links[i];
        via[starts[l->a + 1]] = i, near[starts[l->a + 1]++] = l->b;
        via[starts[l->b + 1]] = i, near[starts[l->b + 1]++] = l->a;
    }
    if (root_name)
        TRY(named_root(b, root_name, &root));
    else
        root = cutis_best_root(b->links[0].a, n, starts, near, b->volumes, stack);
    uint32_t height = 0, *through = stack + n;
    stack[height] = root, through[height++] = CUTIS_NOTHING;
    while (height > 0) {
        uint32_t label = stack[--height], l = through[height], p = out->count++;
        cutis_piece *part = &out->parts[p];
        *part = (cutis_piece){
            .name = b->names->names[label], .label = label, .parent = CUTIS_NONE, .ring = CUTIS_NONE
        };
        out->part_of_label[label] = p;
        if (l != CUTIS_NOTHING) {
            uint32_t other = b->links[l].a == label ? b->links[l].b : b->links[l].a;
            part->parent = (int32_t)out->part_of_label[other];
            part->ring = b->links[l].ring;
            memcpy(part->touch, b->links[l].touch, sizeof part->touch);
        }
        uint32_t base = height; // children in descending order of label, so the lowest pops first
        for (uint32_t i = starts[label]; i < starts[label + 1]; i++) {
            if (out->part_of_label[near[i]] != CUTIS_NOTHING) continue;
            uint32_t at = height++;
            for (; at > base && stack[at - 1] < near[i]; at--)
                stack[at] = stack[at - 1], through[at] = through[at - 1];
            stack[at] = near[i], through[at] = via[i];
        }
    }
    return CUTIS_OK;
}

// Rings name parts, and run along the child.
static void turn_rings(cutis_parts *out)
{
    for (uint32_t r = 0; r < out->ring_count; r++) {
        cutis_ring *ring = &out->rings[r];
        ring->parent = out->part_of_label[ring->parent];
        ring->child = out->part_of_label[ring->child];
        if (ring->parent < ring->child) continue;
        uint32_t p = ring->parent;
        ring->parent = ring->child, ring->child = p;
        for (uint32_t i = 0, j = ring->count - 1; i < j; i++, j--) {
            uint32_t v = ring->vertices[i];
            ring->vertices[i] = ring->vertices[j], ring->vertices[j] = v;
        }
        for (int k = 0; k < 3; k++) ring->normal[k] = -ring->normal[k];
    }
}

// Lists -----------------------------------------------------------------------------------------

// Items in the order of their parts: those of part p are list[first[p]] .. list[first[p + 1]], and
// those with the key parts->count are in none. NULL: out of memory.
static uint32_t *by_part(builder *b, const uint32_t *keys, size_t count, uint32_t *first)
{
    uint32_t *list = cutis_arena_alloc(b->out->arena, count, sizeof *list);
    if (list) order_by_key(keys, count, (size_t)b->out->count + 1, first, list);
    return list;
}

// Children, loops and faces of the parts.
static bool list_items(builder *b)
{
    cutis_closed *mesh = b->mesh;
    cutis_parts *out = b->out;
    size_t most = 2 * (size_t)out->ring_count + mesh->face_count + out->count;
    uint32_t *keys = cutis_arena_alloc(&b->scratch, most, sizeof *keys), *list;
    uint32_t *first = cutis_arena_alloc(&b->scratch, (size_t)out->count + 2, sizeof *first);
    if (!keys || !first) return false;
    for (uint32_t p = 0; p < out->count; p++)
        keys[p] = p ? (uint32_t)out->parts[p].parent : out->count;
    if (!(list = by_part(b, keys, out->count, first))) return false;
    for (uint32_t p = 0; p < out->count; p++)
        out->parts[p].children = list + first[p],
        out->parts[p].child_count = first[p + 1] - first[p];
    for (uint32_t r = 0; r < out->ring_count; r++)
        keys[2 * r] = out->rings[r].parent, keys[2 * r + 1] = out->rings[r].child;
    if (!(list = by_part(b, keys, 2 * (size_t)out->ring_count, first))) return false;
    for (uint32_t i = 0; i < 2 * out->ring_count; i++) list[i] /= 2;
    for (uint32_t p = 0; p < out->count; p++)
        out->parts[p].rings = list + first[p], out->parts[p].ring_count = first[p + 1] - first[p];
    for (uint32_t f = 0; f < mesh->face_count; f++)
        keys[f] = is_attached(b, f) ? out->count : out->part_of_label[mesh->labels[f]];
    if (!(list = by_part(b, keys, mesh->face_count, first))) return false;
    for (uint32_t p = 0; p < out->count; p++)
        out->parts[p].faces = list + first[p], out->parts[p].face_count = first[p + 1] - first[p];
    return true;
}

// Vertices of the parts' faces: counted, then listed.
static bool list_vertices(builder *b)
{
    cutis_closed *mesh = b->mesh;
    cutis_parts *out = b->out;
    uint32_t total = 0, *seen = cutis_nothings(&b->scratch, mesh->vertex_count), *list = NULL;
    if (!seen) return false;
    for (uint32_t mark = 0; mark < 2 * out->count; mark++) {
        cutis_piece *part = &out->parts[mark % out->count];
        if (mark == out->count && !(list = cutis_arena_alloc(out->arena, total, sizeof *list)))
            return false;
        part->vertices = list, part->vertex_count = 0;
        for (uint32_t i = 0; i < 3 * part->face_count; i++) {
            uint32_t v = mesh->faces[part->faces[i / 3]][i % 3];
            if (seen[v] == mark) continue;
            seen[v] = mark;
            if (list) *list++ = v;
            part->vertex_count++, total++;
        }
    }
    return true;
}

void cutis_piece_triangles(const cutis_parts *parts, uint32_t p, cutis_triangle_visitor visit,
                           void *user)
{
    const cutis_piece *part = &parts->parts[p];
    const cutis_closed *mesh = parts->mesh;
    for (uint32_t i = 0; i < part->face_count; i++) {
        const uint32_t *v = mesh->faces[part->faces[i]];
        visit(user, mesh->points[v[0]], mesh->points[v[1]], mesh->points[v[2]]);
    }
    for (uint32_t i = 0; i < part->ring_count; i++) {
        const cutis_ring *ring = &parts->rings[part->rings[i]];
        for (uint32_t j = 0; j < ring->count; j++) {
            const double *a = mesh->points[ring->vertices[j]];
            const double *b = mesh->points[ring->vertices[(j + 1) % ring->count]];
            // The child's faces run a -> b, so its cap runs b -> a.
            if (ring->child == p)
                visit(user, b, a, ring->centre);
            else
                visit(user, a, b, ring->centre);
        }
    }
}

typedef struct {
    cutis_piece *part;
    const double *origin;
} solid;

static void add_triangle(void *user, const double *a, const double *b, const double *c)
{
    solid *s = user;
    const double *o = s->origin, area = v3_area_of(a, b, c), volume = v3_wedge_of(a, b, c, o) / 6;
    s->part->area += area;
    s->part->volume += volume;
    for (int k = 0; k < 3; k++) {
        s->part->area_centre[k] += area * (a[k] + b[k] + c[k]) / 3;
        s->part->volume_centre[k] += volume * (a[k] - o[k] + (b[k] - o[k]) + (c[k] - o[k])) / 4;
    }
}

static void measure_part(cutis_parts *out, uint32_t p)
{
    cutis_piece *part = &out->parts[p];
    solid s = { part, out->mesh->points[part->vertices[0]] };
    cutis_piece_triangles(out, p, add_triangle, &s);
    for (int k = 0; k < 3; k++) {
        part->area_centre[k] = part->area > 0 ? part->area_centre[k] / part->area : s.origin[k];
        part->volume_centre[k] = part->volume != 0
                                     ? s.origin[k] + part->volume_centre[k] / part->volume
                                     : part->area_centre[k];
    }
    part->volume = fabs(part->volume);
}

static cutis_result build(builder *b, const char *root)
{
    cutis_context *context = b->mesh->context;
    TRY(find_main_shells(b));
    TRY(attach_fragments(b));
    TRY(trace_rings(b));
    uint32_t *up = cutis_arena_alloc(&b->scratch, b->names->count, sizeof *up);
    if (!up) return cutis_alloc_result(context);
    for (uint32_t i = 0; i < b->names->count; i++) up[i] = i;
    TRY(choose_rings(b, up));
    TRY(link_islands(b, up));
    if (b->link_count == 0)
        return UNSUPPORTED(context, "part \"%s\": it is the only part; a skeleton needs two",
                           b->names->names[b->mesh->labels[0]]);
    TRY(label_volumes(b));
    TRY(order_parts(b, root));
    turn_rings(b->out);
    if (!list_items(b) || !list_vertices(b)) return cutis_alloc_result(context);
    for (uint32_t p = 0; p < b->out->count; p++) measure_part(b->out, p);
    return CUTIS_OK;
}

cutis_result cutis_parts_find(cutis_closed *mesh, const cutis_labels *names, const char *root,
                              cutis_notes *notes, cutis_arena *arena, cutis_parts *out)
{
    *out = (cutis_parts){ .arena = arena, .mesh = mesh };
    builder b = { .mesh = mesh,
                  .names = names,
                  .notes = notes,
                  .scratch = { .context = mesh->context },
                  .out = out };
    cutis_result result = build(&b, root);
    cutis_arena_release(&b.scratch);
    return result;
}
