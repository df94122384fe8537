// Centrelines of a body. The centre is deep and near to all; ends are the peaks of the way from it,
// as long as they stand out of what surrounds them (so the rim of a flat wing is none); lines lead
// from ends to the centre where the body is thick. Invariant: the nodes are a tree whose leaves are
// the ends; every node lies inside.
#include "skeleton/centrelines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "geometry/order.h"

#define SAMPLES    8u // far points that the centre is found from
#define WINDOW     3  // cells to each side that a cell's depth is compared with
#define SMOOTHED   6  // passes over the lines
#define ENDS_ASKED 12u
static const double STANDS_OUT = 0.06; // of the diagonal: ends that the centre lies between
static const double SHY = 8;           // how much more a way costs beside the middle
static const double AS_GOOD = 0.5;     // cells: middles that differ by less are equally good

typedef struct {
    cutis_centrelines *lines;
    cutis_arena scratch;
    cutis_heap heap;
    double *distances, *other;
} finder;

static bool march_from(finder *f, uint32_t cell, const double *costs, double *out, uint32_t *from)
{
    const cutis_cell_start start = { cell, 0 };
    return cutis_cells_march(&f->lines->cells, &f->heap, &start, 1, costs, out, from, NULL);
}

// The deepest cell of the largest piece: a centre there can be of.
static uint32_t deepest(const cutis_cells *c)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < c->count; i++)
        if (c->depth[i] > c->depth[best]) best = i;
    return best;
}

static uint32_t farthest(const cutis_cells *c, const double *distances)
{
    uint32_t best = CUTIS_NOTHING;
    for (uint32_t i = 0; i < c->count; i++)
        if (isfinite(distances[i]) && (best == CUTIS_NOTHING || distances[i] > distances[best]))
            best = i;
    return best;
}

// The one in the middle of all cells that are as good as the best: which of them is the best by a
// hair is chance.
static uint32_t middle_of(const cutis_cells *c, const double *values, uint32_t best)
{
    const double most = values[best] + AS_GOOD * c->size;
    vec3 sum = v3(0, 0, 0);
    double n = 0, least = INFINITY;
    for (uint32_t i = 0; i < c->count; i++)
        if (values[i] <= most) sum = v3_add(sum, cutis_cell_centre(c, i)), n++;
    sum = v3_divide(sum, n);
    for (uint32_t i = 0; i < c->count; i++) {
        if (values[i] > most) continue;
        const double away = v3_distance(cutis_cell_centre(c, i), sum);
        if (away < least) least = away, best = i;
    }
    return best;
}

// A cell with the least mean way to some cells, less its depth: a centre is as deep as it can be.
// @param cells `count` of them; NULL: far points, far from each other
static bool find_middle(finder *f, const uint32_t *cells, uint32_t count, uint32_t *out)
{
    const cutis_cells *c = &f->lines->cells;
    double *sum = cutis_arena_zero(&f->scratch, c->count, sizeof *sum);
    double *least = cutis_arena_alloc(&f->scratch, c->count, sizeof *least);
    if (!sum || !least || !march_from(f, deepest(c), NULL, least, NULL)) return false;
    for (uint32_t s = 0; s < count; s++) {
        uint32_t source = cells ? cells[s] : farthest(c, least);
        if (!march_from(f, source, NULL, f->distances, NULL)) return false;
        for (uint32_t i = 0; i < c->count; i++) {
            sum[i] += f->distances[i] / count;
            least[i] = s == 0 ? f->distances[i] : fmin(least[i], f->distances[i]);
        }
    }
    *out = CUTIS_NOTHING;
    for (uint32_t i = 0; i < c->count; i++) {
        sum[i] -= c->depth[i]; // INFINITY stays
        if (isfinite(sum[i]) && (*out == CUTIS_NOTHING || sum[i] < sum[*out])) *out = i;
    }
    if (*out == CUTIS_NOTHING) return false;
    *out = middle_of(c, sum, *out);
    return true;
}

// One direction of a running maximum over WINDOW places on both sides.
static void widen(const cutis_cells *c, ptrdiff_t step, const double *in, double *out)
{
    for (uint32_t i = 0; i < c->count; i++) {
        double most = in[i];
        for (int way = -1; way <= 1; way += 2) {
            const uint32_t *at = c->at + c->places[i];
            for (int k = 1; k <= WINDOW; k++) {
                uint32_t to = at[way * k * step];
                if (to == CUTIS_NOTHING) break; // the border is two places wide, and empty
                most = fmax(most, in[to]);
            }
        }
        out[i] = most;
    }
}

// What a way costs: 1 in the middle, more where deeper cells are near.
static void find_costs(finder *f, double *costs)
{
    cutis_cells *c = &f->lines->cells;
    widen(c, 1, c->depth, costs);
    widen(c, (ptrdiff_t)c->n[0], costs, f->other);
    widen(c, (ptrdiff_t)c->n[0] * (ptrdiff_t)c->n[1], f->other, costs);
    for (uint32_t i = 0; i < c->count; i++) {
        double beside = 1 - c->depth[i] / costs[i];
        costs[i] = 1 + SHY * beside * beside;
    }
}

// Ends ------------------------------------------------------------------------------------------

typedef struct {
    uint32_t cell, elder; // peaks
    double peak, meets;
} merging;

typedef struct {
    uint32_t *up, *tip; // union-find over cells; the peak of a representative
    merging *list;
    uint32_t count;
    size_t capacity;
} sweep;

static int by_height(const void *a, const void *b)
{
    const merging *x = a, *y = b;
    double p = x->peak - x->meets, q = y->peak - y->meets;
    return p > q ? -1 : p < q ? 1 : x->cell < y->cell ? -1 : x->cell > y->cell;
}

// Cell v joins the pieces around it; all but the one with the highest peak end here.
static bool join_pieces(finder *f, sweep *s, uint32_t v, const uint32_t *roots, uint32_t n,
                        double least)
{
    const double *reach = f->lines->reach;
    uint32_t best = 0;
    for (uint32_t i = 1; i < n; i++) {
        double mine = reach[s->tip[roots[i]]], other = reach[s->tip[roots[best]]];
        if (mine > other || (mine == other && s->tip[roots[i]] < s->tip[roots[best]])) best = i;
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tip = s->tip[roots[i]];
        s->up[roots[i]] = v;
        if (i == best || reach[tip] - reach[v] < least) continue;
        if (!cutis_arena_grow(&f->scratch, &s->list, &s->capacity, s->count + 1u, sizeof *s->list))
            return false;
        s->list[s->count++] = (merging){ tip, s->tip[roots[best]], reach[tip], reach[v] };
    }
    s->tip[v] = s->tip[roots[best]];
    return true;
}

static bool sweep_peaks(finder *f, sweep *s, double least)
{
    const cutis_cells *c = &f->lines->cells;
    cutis_waiting *order = cutis_arena_alloc(&f->scratch, c->count, sizeof *order);
    s->up = cutis_nothings(&f->scratch, c->count);
    s->tip = cutis_arena_alloc(&f->scratch, c->count, sizeof *s->tip);
    if (!order || !s->up || !s->tip) return false;
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->count; i++)
        if (isfinite(f->lines->reach[i])) order[n++] = (cutis_waiting){ -f->lines->reach[i], i };
    qsort(order, n, sizeof *order, cutis_heap_order);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t v = order[i].vertex, roots[CUTIS_CELL_NEIGHBOURS], found = 0;
        const uint32_t *here = c->at + c->places[v];
        for (int k = 0; k < CUTIS_CELL_NEIGHBOURS; k++) {
            uint32_t to = here[c->steps[k]], j = 0;
            if (to == CUTIS_NOTHING || s->up[to] == CUTIS_NOTHING) continue;
            uint32_t root = group_of(s->up, to);
            while (j < found && roots[j] != root) j++;
            if (j == found) roots[found++] = root;
        }
        s->up[v] = v;
        if (found == 0)
            s->tip[v] = v;
        else if (!join_pieces(f, s, v, roots, found, least))
            return false;
    }
    if (!cutis_arena_grow(&f->scratch, &s->list, &s->capacity, s->count + 1u, sizeof *s->list))
        return false;
    uint32_t first = order[0].vertex;
    s->list[s->count++] = (merging){ first, CUTIS_NOTHING, f->lines->reach[first], 0 };
    return true;
}

// Where every two ends meet, from the pairs that the sweep found.
static void find_meetings(cutis_centrelines *lines, const merging *list, uint32_t n)
{
    uint32_t group[CUTIS_END_MOST], order[CUTIS_END_MOST];
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = i;
        for (; k > 0 && list[order[k - 1]].meets < list[i].meets; k--) order[k] = order[k - 1];
        order[k] = i, group[i] = i;
    }
    memset(lines->meets, 0, sizeof lines->meets);
    for (uint32_t k = 0; k < n; k++) {
        const merging *m = &list[order[k]];
        uint32_t mine = group[order[k]], elder = CUTIS_NOTHING;
        for (uint32_t i = 0; i < n; i++)
            if (list[i].cell == m->elder) elder = group[i];
        if (elder == CUTIS_NOTHING || elder == mine) continue;
        for (uint32_t a = 0; a < n; a++)
            for (uint32_t b = 0; b < n; b++)
                if (group[a] == mine && group[b] == elder)
                    lines->meets[a][b] = lines->meets[b][a] = m->meets;
        for (uint32_t i = 0; i < n; i++)
            if (group[i] == mine) group[i] = elder;
    }
}

// Lines -----------------------------------------------------------------------------------------

static bool lay_lines(finder *f, const merging *list, uint32_t n)
{
    cutis_centrelines *lines = f->lines;
    cutis_cells *c = &lines->cells;
    size_t capacity = 0, path_capacity = 0;
    uint32_t *of = cutis_nothings(&f->scratch, c->count), *path = NULL;
    if (!of) return false;
    for (uint32_t e = 0; e <= n; e++) { // the centre, then ends
        uint32_t v = e == 0 ? lines->centre : list[e - 1].cell, length = 0;
        for (; v != CUTIS_NOTHING && of[v] == CUTIS_NOTHING; v = lines->main[v]) {
            if (!cutis_arena_grow(&f->scratch, &path, &path_capacity, length + 1u, sizeof *path))
                return false;
            path[length++] = v;
        }
        uint32_t parent = v == CUTIS_NOTHING ? CUTIS_NOTHING : of[v];
        if (!cutis_arena_grow(c->arena, &lines->nodes, &capacity, lines->count + (size_t)length,
                              sizeof *lines->nodes))
            return false;
        while (length > 0) {
            uint32_t cell = path[--length];
            of[cell] = lines->count;
            lines->nodes[lines->count] = (cutis_line_node){
                .parent = parent,
                .cell = cell,
                .point = cutis_cell_centre(c, cell),
                .radius = c->depth[cell],
                .reach = lines->reach[cell],
            };
            parent = lines->count++;
        }
        if (e > 0)
            lines->ends[e - 1] = (cutis_line_end){ of[list[e - 1].cell], list[e - 1].peak,
                                                   list[e - 1].peak - list[e - 1].meets };
    }
    return true;
}

// Per node its only child; CUTIS_NOTHING: an end, the number of nodes: a fork. NULL: out of memory.
static uint32_t *only_children(finder *f)
{
    const cutis_centrelines *lines = f->lines;
    uint32_t *child = cutis_nothings(&f->scratch, lines->count);
    for (uint32_t i = 1; i < lines->count && child; i++) {
        uint32_t *of = &child[lines->nodes[i].parent];
        *of = *of == CUTIS_NOTHING ? i : lines->count;
    }
    return child;
}

// Steps from cell to cell are jagged: points move to the mean of their neighbours, but ends, the
// centre and forks stay.
static bool smooth_lines(finder *f)
{
    cutis_centrelines *lines = f->lines;
    uint32_t *child = only_children(f);
    vec3 *next = cutis_arena_alloc(&f->scratch, lines->count, sizeof *next);
    if (!child || !next) return false;
    for (int pass = 0; pass < SMOOTHED; pass++) {
        for (uint32_t i = 0; i < lines->count; i++) {
            const cutis_line_node *node = &lines->nodes[i];
            next[i] = node->point;
            if (i == 0 || child[i] >= lines->count) continue;
            vec3 a = lines->nodes[node->parent].point, b = lines->nodes[child[i]].point;
            next[i] = v3_mix(node->point, v3_mix(a, b, 0.5), 0.5);
        }
        for (uint32_t i = 0; i < lines->count; i++) lines->nodes[i].point = next[i];
    }
    for (uint32_t i = 1; i < lines->count; i++) {
        cutis_line_node *node = &lines->nodes[i], *to = &lines->nodes[node->parent];
        node->way = to->way + v3_distance(node->point, to->point);
    }
    return true;
}

// The direction of the line at a node: over its own radius both ways.
static vec3 line_direction(const cutis_centrelines *lines, const uint32_t *child, uint32_t i)
{
    const cutis_line_node *node = &lines->nodes[i];
    double reach = fmax(0.7 * node->radius, 2 * lines->cells.size);
    uint32_t a = i, b = i;
    while (lines->nodes[a].parent != CUTIS_NOTHING && node->way - lines->nodes[a].way < reach)
        a = lines->nodes[a].parent;
    while (child[b] < lines->count && lines->nodes[b].way - node->way < reach) b = child[b];
    return v3_unit(v3_sub(lines->nodes[b].point, lines->nodes[a].point));
}

// How many cells a plane through a node meets, of those that hang together around it.
static uint32_t count_section(const cutis_centrelines *lines, uint32_t i, vec3 way, uint32_t *marks,
                              uint32_t *queue)
{
    const cutis_cells *c = &lines->cells;
    vec3 from = lines->nodes[i].point;
    uint32_t head = 0, tail = 0, first = cutis_cell_near(c, from);
    // As thick as keeps a slanted plane in one piece.
    double half = 0.5 * c->size * cutis_cells_breadth(c, way);
    if (first == CUTIS_NOTHING) return 0;
    queue[tail++] = first, marks[first] = i;
    while (head < tail) {
        uint32_t cell = queue[head++];
        const uint32_t *here = c->at + c->places[cell];
        for (int k = 0; k < CUTIS_CELL_NEIGHBOURS; k++) {
            uint32_t to = here[c->steps[k]];
            if (to == CUTIS_NOTHING || marks[to] == i) continue;
            if (fabs(v3_dot(v3_sub(cutis_cell_centre(c, to), from), way)) > half) continue;
            marks[to] = i, queue[tail++] = to;
        }
    }
    return tail;
}

static bool find_sections(finder *f)
{
    cutis_centrelines *lines = f->lines;
    const cutis_cells *c = &lines->cells;
    uint32_t *child = only_children(f);
    uint32_t *marks = cutis_nothings(&f->scratch, c->count);
    uint32_t *queue = cutis_arena_alloc(&f->scratch, c->count, sizeof *queue);
    if (!child || !marks || !queue) return false;
    for (uint32_t i = 0; i < lines->count; i++) {
        vec3 way = line_direction(lines, child, i);
        double thick = cutis_cells_breadth(c, way);
        if (!(thick > 0)) way = c->axes[1], thick = 1;
        double area = count_section(lines, i, way, marks, queue) * c->size * c->size / thick;
        lines->nodes[i].section = sqrt(area / 3.14159265358979323846);
    }
    return true;
}

// Arrays of a finder for the cells as they are.
static bool begin(finder *f)
{
    cutis_centrelines *lines = f->lines;
    const cutis_cells *c = &lines->cells;
    lines->reach = cutis_arena_alloc(c->arena, c->count, sizeof *lines->reach);
    lines->main = cutis_arena_alloc(c->arena, c->count, sizeof *lines->main);
    f->distances = cutis_arena_alloc(&f->scratch, c->count, sizeof *f->distances);
    f->other = cutis_arena_alloc(&f->scratch, c->count, sizeof *f->other);
    return lines->reach && lines->main && f->distances && f->other;
}

// The centre: between far points first, then between the ends that stand out as seen from there. A
// body whose head is as large as its trunk has its centre where most limbs are.
static bool find_centre(finder *f, double stands_out)
{
    cutis_centrelines *lines = f->lines;
    uint32_t ends[ENDS_ASKED], count;
    sweep s = { 0 };
    if (!begin(f) || !find_middle(f, NULL, SAMPLES, &lines->centre) ||
        !march_from(f, lines->centre, NULL, lines->reach, NULL) || !sweep_peaks(f, &s, stands_out))
        return false;
    qsort(s.list, s.count, sizeof *s.list, by_height);
    for (count = 0; count < s.count && count < ENDS_ASKED; count++)
        ends[count] = s.list[count].cell;
    return count < 3 || find_middle(f, ends, count, &lines->centre);
}

// The coarse cells may join what the fine ones keep apart: then the centre may lie in a collar or a
// belt, from where no way leads to the body.
static bool keep_to_body(finder *f)
{
    cutis_centrelines *lines = f->lines;
    const cutis_cells *c = &lines->cells;
    uint32_t reached = 0;
    if (!march_from(f, lines->centre, NULL, lines->reach, NULL)) return false;
    for (uint32_t i = 0; i < c->count; i++) reached += isfinite(lines->reach[i]) != 0;
    if (2 * (uint64_t)reached < c->count) lines->centre = deepest(c);
    return true;
}

static bool find_lines(finder *f, double least)
{
    cutis_centrelines *lines = f->lines;
    cutis_cells *c = &lines->cells;
    sweep s = { 0 };
    double *costs = cutis_arena_alloc(&f->scratch, c->count, sizeof *costs);
    if (!costs || !march_from(f, lines->centre, NULL, lines->reach, NULL) ||
        !sweep_peaks(f, &s, fmax(least, 2 * c->size)))
        return false;
    find_costs(f, costs);
    if (!march_from(f, lines->centre, costs, f->distances, lines->main)) return false;
    qsort(s.list, s.count, sizeof *s.list, by_height);
    lines->end_count = s.count < CUTIS_END_MOST ? s.count : CUTIS_END_MOST;
    find_meetings(lines, s.list, lines->end_count);
    return lay_lines(f, s.list, lines->end_count) && smooth_lines(f) && find_sections(f);
}

// The centre is looked for in cells of twice the size: that takes an eighth of the time, and many
// marches.
static cutis_result find_centre_point(const cutis_closed *mesh, uint32_t wanted, bool part,
                                      vec3 *out)
{
    cutis_centrelines *coarse = cutis_alloc_zero(mesh->context, 1, sizeof *coarse);
    if (!coarse) return cutis_alloc_result(mesh->context);
    cutis_arena arena = { .context = mesh->context };
    finder f = { .lines = coarse,
                 .scratch = { .context = mesh->context },
                 .heap = { .context = mesh->context } };
    cutis_result result = cutis_cells_make(&arena, mesh, wanted / 8, part, &coarse->cells);
    if (result == CUTIS_OK) {
        double least = fmax(2 * coarse->cells.size, STANDS_OUT * coarse->cells.diagonal);
        if (coarse->cells.count == 0)
            result = UNSUPPORTED(mesh->context, "the body has no inside");
        else if (!find_centre(&f, least))
            result = cutis_alloc_result(mesh->context);
    }
    if (result == CUTIS_OK) *out = cutis_cell_centre(&coarse->cells, coarse->centre);
    cutis_heap_release(&f.heap);
    cutis_arena_release(&f.scratch);
    cutis_arena_release(&arena);
    cutis_free(mesh->context, coarse, sizeof *coarse);
    return result;
}

cutis_result cutis_centrelines_find(cutis_arena *arena, const cutis_closed *mesh, uint32_t wanted,
                                    bool part, double least, cutis_centrelines *out)
{
    vec3 centre;
    memset(out, 0, sizeof *out);
    TRY(find_centre_point(mesh, wanted, part, &centre));
    TRY(cutis_progress(mesh->context, "looking for limbs", 0.2));
    TRY(cutis_cells_make(arena, mesh, wanted, part, &out->cells));
    finder f = { .lines = out,
                 .scratch = { .context = mesh->context },
                 .heap = { .context = mesh->context } };
    out->centre = cutis_cell_near(&out->cells, centre);
    if (out->centre == CUTIS_NOTHING) // the body is thinner than the cells it was looked for in
        return UNSUPPORTED(mesh->context,
                           "nothing of the body is thick enough to look for limbs in");
    bool good = begin(&f) && keep_to_body(&f) && find_lines(&f, least * out->cells.diagonal);
    cutis_heap_release(&f.heap);
    cutis_arena_release(&f.scratch);
    return good ? CUTIS_OK : cutis_alloc_result(mesh->context);
}

cutis_result cutis_centrelines_owners(const cutis_centrelines *lines, uint32_t *owners)
{
    const cutis_cells *c = &lines->cells;
    cutis_arena scratch = { .context = c->context };
    cutis_heap heap = { .context = c->context };
    double *distances = cutis_arena_alloc(&scratch, c->count, sizeof *distances), most = 0;
    cutis_cell_start *starts = cutis_arena_alloc(&scratch, lines->count, sizeof *starts);
    bool good = distances && starts;
    for (uint32_t i = 0; i < lines->count; i++) most = fmax(most, lines->nodes[i].radius);
    for (uint32_t i = 0; i < lines->count && good; i++)
        starts[i] = (cutis_cell_start){ lines->nodes[i].cell, most - lines->nodes[i].radius };
    if (good) {
        for (uint32_t i = 0; i < c->count; i++) owners[i] = CUTIS_NOTHING;
        good = cutis_cells_march(c, &heap, starts, lines->count, NULL, distances, NULL, owners);
    }
    cutis_heap_release(&heap);
    cutis_arena_release(&scratch);
    return good ? CUTIS_OK : cutis_alloc_result(c->context);
}
