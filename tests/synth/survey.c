/// Measures for the tests of characters: nothing here knows how the meshes were made.
#include "survey.h"

static const double *at(const triangle_mesh *m, uint32_t v)
{
    return m->positions + 3 * (size_t)v;
}

static void subtract(const double *a, const double *b, double *out)
{
    for (int k = 0; k < 3; k++) out[k] = a[k] - b[k];
}

static double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void cross3(const double *a, const double *b, double *out)
{
    out[0] = a[1] * b[2] - a[2] * b[1];
    out[1] = a[2] * b[0] - a[0] * b[2];
    out[2] = a[0] * b[1] - a[1] * b[0];
}

static const float *weld_positions; // for qsort

static int by_position(const void *left, const void *right)
{
    const float *a = weld_positions + 3 * (size_t) * (const uint32_t *)left;
    const float *b = weld_positions + 3 * (size_t) * (const uint32_t *)right;
    for (int k = 0; k < 3; k++)
        if (a[k] != b[k]) return a[k] < b[k] ? -1 : 1;
    uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
    return (i > j) - (i < j);
}

triangle_mesh mesh_of(const cutis_primitive *p, bool weld)
{
    triangle_mesh m = { p->vertex_count, p->index_count / 3, NULL, NULL };
    m.positions = malloc(3 * sizeof(double) * p->vertex_count);
    m.triangles = malloc(sizeof(uint32_t) * p->index_count);
    for (size_t i = 0; i < 3 * (size_t)p->vertex_count; i++) m.positions[i] = p->positions[i];
    memcpy(m.triangles, p->indices, sizeof(uint32_t) * p->index_count);
    if (!weld) return m;
    uint32_t *order = malloc(sizeof(uint32_t) * p->vertex_count),
             *to = malloc(sizeof(uint32_t) * p->vertex_count);
    for (uint32_t v = 0; v < p->vertex_count; v++) order[v] = v;
    weld_positions = p->positions;
    qsort(order, p->vertex_count, sizeof *order, by_position);
    uint32_t count = 0;
    for (uint32_t i = 0; i < p->vertex_count; i++) {
        bool same =
            i > 0 && memcmp(p->positions + 3 * (size_t)order[i],
                            p->positions + 3 * (size_t)order[i - 1], 3 * sizeof(float)) == 0;
        for (int k = 0; k < 3 && !same; k++)
            m.positions[3 * (size_t)count + (size_t)k] =
                p->positions[3 * (size_t)order[i] + (size_t)k];
        count += !same;
        to[order[i]] = count - 1;
    }
    for (uint32_t i = 0; i < p->index_count; i++) m.triangles[i] = to[m.triangles[i]];
    m.vertex_count = count;
    free(order);
    free(to);
    return m;
}

void mesh_release(triangle_mesh *m)
{
    free(m->positions);
    free(m->triangles);
}

static int by_key(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/// Directed edges without exactly one opposite; *edges gets half the directed edges.
static uint32_t pair_edges(const triangle_mesh *m)
{
    size_t count = 3 * (size_t)m->triangle_count;
    uint64_t *keys = malloc(sizeof *keys * count);
    uint32_t bad = 0;
    for (size_t h = 0; h < count; h++) {
        uint64_t a = m->triangles[h], b = m->triangles[h % 3 == 2 ? h - 2 : h + 1];
        keys[h] = a << 32 | b;
    }
    qsort(keys, count, sizeof *keys, by_key);
    for (size_t i = 0; i < count; i++) {
        uint64_t opposite = keys[i] << 32 | keys[i] >> 32;
        bool twice = i > 0 && keys[i] == keys[i - 1], loop = keys[i] == opposite;
        if (twice || loop || !bsearch(&opposite, keys, count, sizeof *keys, by_key)) bad++;
    }
    free(keys);
    return bad;
}

static uint32_t root_of(uint32_t *parent, uint32_t v)
{
    while (parent[v] != v) v = parent[v] = parent[parent[v]];
    return v;
}

static uint32_t count_components(const triangle_mesh *m)
{
    uint32_t *parent = malloc(sizeof *parent * m->vertex_count), count = 0;
    for (uint32_t v = 0; v < m->vertex_count; v++) parent[v] = v;
    for (size_t h = 0; h < 3 * (size_t)m->triangle_count; h++)
        parent[root_of(parent, m->triangles[h])] = root_of(parent, m->triangles[h - h % 3]);
    for (uint32_t v = 0; v < m->vertex_count; v++) count += root_of(parent, v) == v;
    free(parent);
    return count;
}

double volume_of(const double *x, const uint32_t *triangles, uint32_t count)
{
    double sum = 0, n[3];
    for (uint32_t t = 0; t < count; t++) {
        cross3(x + 3 * (size_t)triangles[3 * t + 1], x + 3 * (size_t)triangles[3 * t + 2], n);
        sum += dot3(x + 3 * (size_t)triangles[3 * t], n) / 6;
    }
    return sum;
}

static void measure_triangle(const triangle_mesh *m, uint32_t t, survey *s)
{
    double least = 180, squares = 0, n[3], e[3], f[3];
    for (int i = 0; i < 3; i++) {
        const double *a = at(m, m->triangles[3 * t + (uint32_t)i]);
        subtract(at(m, m->triangles[3 * t + (uint32_t)(i + 1) % 3]), a, e);
        subtract(at(m, m->triangles[3 * t + (uint32_t)(i + 2) % 3]), a, f);
        cross3(e, f, n);
        double angle = atan2(sqrt(dot3(n, n)), dot3(e, f)) * 180 / M_PI;
        if (angle < least) least = angle;
        if (angle > s->angle_max) s->angle_max = angle;
        squares += dot3(e, e);
    }
    if (least < s->angle_min) s->angle_min = least;
    s->below_20 += least < 20;
    s->below_30 += least < 30;
    s->quality_mean += 2 * sqrt(3) * sqrt(dot3(n, n)) / squares / m->triangle_count;
}

survey survey_mesh(const triangle_mesh *m)
{
    survey s = { .angle_min = 180, .valence_min = UINT32_MAX };
    uint32_t *valence = calloc(m->vertex_count, sizeof *valence);
    for (uint32_t t = 0; t < m->triangle_count; t++) measure_triangle(m, t, &s);
    for (size_t h = 0; h < 3 * (size_t)m->triangle_count; h++) valence[m->triangles[h]]++;
    for (uint32_t v = 0; v < m->vertex_count; v++) {
        if (valence[v] < s.valence_min) s.valence_min = valence[v];
        if (valence[v] > s.valence_max) s.valence_max = valence[v];
    }
    free(valence);
    s.unpaired_edges = pair_edges(m);
    s.components = count_components(m);
    s.euler = (int64_t)m->vertex_count - 3 * (int64_t)m->triangle_count / 2 + m->triangle_count;
    s.volume = volume_of(m->positions, m->triangles, m->triangle_count);
    return s;
}

/// Does the open segment p-q pass through the inside of triangle (a, b, c)?
static bool pierces(const double *p, const double *q, const double *a, const double *b,
                    const double *c)
{
    double e[3], f[3], d[3], h[3], s[3], k[3];
    subtract(b, a, e);
    subtract(c, a, f);
    subtract(q, p, d);
    cross3(d, f, h);
    double det = dot3(e, h);
    if (fabs(det) < 1e-30) return false;
    subtract(p, a, s);
    double u = dot3(s, h) / det;
    if (u < 1e-9 || u > 1 - 1e-9) return false;
    cross3(s, e, k);
    double v = dot3(d, k) / det, t = dot3(f, k) / det;
    return v > 1e-9 && u + v < 1 - 1e-9 && t > 1e-9 && t < 1 - 1e-9;
}

/// The corners of the two triangles that are no corner of both.
static bool triangles_cut(const triangle_mesh *m, uint32_t s, uint32_t t)
{
    const uint32_t *a = m->triangles + 3 * (size_t)s, *b = m->triangles + 3 * (size_t)t;
    int shared = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) shared += a[i] == b[j];
    if (shared >= 2) return false;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        if (pierces(at(m, a[i]), at(m, a[j]), at(m, b[0]), at(m, b[1]), at(m, b[2]))) return true;
        if (pierces(at(m, b[i]), at(m, b[j]), at(m, a[0]), at(m, a[1]), at(m, a[2]))) return true;
    }
    return false;
}

static void box_of(const triangle_mesh *m, uint32_t t, double *low, double *high)
{
    for (int k = 0; k < 3; k++) {
        low[k] = 1e300;
        high[k] = -1e300;
        for (int i = 0; i < 3; i++) {
            double x = at(m, m->triangles[3 * (size_t)t + (size_t)i])[k];
            low[k] = x < low[k] ? x : low[k];
            high[k] = x > high[k] ? x : high[k];
        }
    }
}

typedef struct boxed {
    double low[3], high[3];
    uint32_t triangle;
} boxed;

static int by_low_y(const void *left, const void *right)
{
    const boxed *a = left, *b = right;
    if (a->low[1] != b->low[1]) return a->low[1] < b->low[1] ? -1 : 1;
    return (a->triangle > b->triangle) - (a->triangle < b->triangle);
}

uint32_t count_intersections(const triangle_mesh *m)
{
    // Sweep along y: only triangles whose boxes overlap are tested.
    boxed *list = malloc(sizeof *list * m->triangle_count);
    uint32_t count = 0;
    for (uint32_t t = 0; t < m->triangle_count; t++) {
        box_of(m, t, list[t].low, list[t].high);
        list[t].triangle = t;
    }
    qsort(list, m->triangle_count, sizeof *list, by_low_y);
    for (uint32_t i = 0; i < m->triangle_count; i++)
        for (uint32_t j = i + 1; j < m->triangle_count && list[j].low[1] <= list[i].high[1]; j++)
            if (list[j].low[0] <= list[i].high[0] && list[i].low[0] <= list[j].high[0] &&
                list[j].low[2] <= list[i].high[2] && list[i].low[2] <= list[j].high[2])
                count += triangles_cut(m, list[i].triangle, list[j].triangle);
    free(list);
    return count;
}

typedef struct part_edge {
    uint32_t low, high, a, b; ///< parts, then vertices
} part_edge;

typedef struct directed {
    uint64_t key;
    uint32_t part;
} directed;

static int by_directed(const void *left, const void *right)
{
    const directed *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

static int by_parts(const void *left, const void *right)
{
    const part_edge *a = left, *b = right;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return (a->high > b->high) - (a->high < b->high);
}

/// Edges between two parts, each once.
static uint32_t part_edges(const triangle_mesh *m, const uint32_t *parts, part_edge *out)
{
    size_t count = 3 * (size_t)m->triangle_count;
    directed *list = malloc(sizeof *list * count);
    uint32_t found = 0;
    for (size_t h = 0; h < count; h++) {
        uint64_t a = m->triangles[h], b = m->triangles[h % 3 == 2 ? h - 2 : h + 1];
        list[h] = (directed){ a << 32 | b, parts[h / 3] };
    }
    qsort(list, count, sizeof *list, by_directed);
    for (size_t i = 0; i < count; i++) {
        directed opposite = { list[i].key << 32 | list[i].key >> 32, 0 };
        const directed *other = bsearch(&opposite, list, count, sizeof *list, by_directed);
        if (other && list[i].part < other->part)
            out[found++] = (part_edge){ list[i].part, other->part, (uint32_t)(list[i].key >> 32),
                                        (uint32_t)list[i].key };
    }
    free(list);
    return found;
}

/// Directed along the smaller part, a loop's edges must chain head to tail through all of them.
static loop_survey measure_loop(const triangle_mesh *m, const part_edge *edges, uint32_t count)
{
    loop_survey s = { .low = edges[0].low, .high = edges[0].high, .edges = count };
    uint32_t v = edges[0].b, steps = 1;
    while (v != edges[0].a && steps <= count) {
        uint32_t next = UINT32_MAX, ways = 0;
        for (uint32_t i = 0; i < count; i++)
            if (edges[i].a == v) next = edges[i].b, ways++;
        if (ways != 1) break;
        v = next;
        steps++;
    }
    s.simple_and_closed = v == edges[0].a && steps == count;
    double normal[3] = { 0 }, shortest = 1e300, longest = 0;
    for (uint32_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) s.centroid[k] += at(m, edges[i].a)[k] / count;
    for (uint32_t i = 0; i < count; i++) {
        double p[3], q[3], n[3], e[3];
        subtract(at(m, edges[i].a), s.centroid, p);
        subtract(at(m, edges[i].b), s.centroid, q);
        subtract(q, p, e);
        cross3(p, q, n);
        for (int k = 0; k < 3; k++) normal[k] += n[k];
        double length = sqrt(dot3(e, e));
        shortest = fmin(shortest, length);
        longest = fmax(longest, length);
    }
    for (uint32_t i = 0; i < count; i++) {
        double p[3];
        subtract(at(m, edges[i].a), s.centroid, p);
        s.plane_error = fmax(s.plane_error, fabs(dot3(p, normal)) / sqrt(dot3(normal, normal)));
    }
    s.edge_ratio = shortest / longest;
    return s;
}

uint32_t find_loops(const triangle_mesh *m, const uint32_t *parts, loop_survey *out,
                    uint32_t capacity)
{
    part_edge *edges = malloc(sizeof *edges * 3 * (size_t)m->triangle_count);
    uint32_t count = part_edges(m, parts, edges), found = 0;
    qsort(edges, count, sizeof *edges, by_parts);
    for (uint32_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && by_parts(&edges[i], &edges[next]) == 0; next++) {}
        if (found < capacity) out[found] = measure_loop(m, edges + i, next - i);
        found++;
    }
    free(edges);
    return found;
}
