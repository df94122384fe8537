// Guessing which axis of a file is up, and its units, with the reason in words. Evidence in order:
// joints called head and foot; a body that is symmetric from side to side and stands on the floor,
// on feet, or is slender. Invariant: time and memory are linear in the points; where nothing tells,
// the answer is the format's habit and says so.
#include "io/place.h"
#include "math/elementary.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct cloud {
    float *points; // 3 each
    size_t count;
    float low[3], size[3];
} cloud;

static const char AXES[] = "xyz";
// cutis_up of each axis.
static const cutis_up UPS[] = { CUTIS_UP_X, CUTIS_UP_Y, CUTIS_UP_Z };

// Where nodes are at rest, world space; parents come first in what readers make.
static float *place_nodes(const cutis_model_data *data, cutis_arena *arena)
{
    float *places = cutis_arena_alloc(arena, data->node_count, 3 * sizeof *places);
    cutis_mat34 *world = cutis_arena_alloc(arena, data->node_count, sizeof *world);
    for (uint32_t i = 0; places && world && i < data->node_count; i++) {
        world[i] = cutis_mat34_from_transform(&data->nodes[i].rest);
        if (data->nodes[i].parent >= 0)
            world[i] = cutis_mat34_multiply(&world[data->nodes[i].parent], &world[i]);
        for (int k = 0; k < 3; k++) places[3 * (size_t)i + (size_t)k] = world[i].m[4 * k + 3];
    }
    return world ? places : NULL;
}

// The vertices of all meshes, which stand where they are shown in what these readers make; of a
// skeleton alone its joints. Only finite ones: the gate has not looked yet.
static bool gather(const cutis_model_data *data, cutis_arena *arena, cloud *out)
{
    size_t total = 0;
    for (uint32_t m = 0; m < data->mesh_count; m++)
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++)
            total += data->meshes[m].primitives[p].vertex_count;
    *out = (cloud){ .count = total ? total : data->node_count };
    out->points =
        total ? cutis_arena_alloc(arena, total, 3 * sizeof(float)) : place_nodes(data, arena);
    if (!out->points) return false;
    float *to = out->points;
    for (uint32_t m = 0; total && m < data->mesh_count; m++)
        for (uint32_t p = 0; p < data->meshes[m].primitive_count; p++) {
            const cutis_primitive *primitive = &data->meshes[m].primitives[p];
            memcpy(to, primitive->positions, 3 * (size_t)primitive->vertex_count * sizeof *to);
            to += 3 * (size_t)primitive->vertex_count;
        }
    size_t kept = 0;
    float high[3] = { -INFINITY, -INFINITY, -INFINITY };
    for (int k = 0; k < 3; k++) out->low[k] = INFINITY;
    for (size_t i = 0; i < out->count; i++) {
        const float *p = out->points + 3 * i;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2])) continue;
        for (int k = 0; k < 3; k++) {
            out->low[k] = fminf(out->low[k], p[k]);
            high[k] = fmaxf(high[k], p[k]);
        }
        memmove(out->points + 3 * kept++, p, 3 * sizeof *p);
    }
    out->count = kept;
    for (int k = 0; k < 3; k++) out->size[k] = kept ? high[k] - out->low[k] : 0;
    return true;
}

// Joints by name
// ------------------------------------------------------------------------------------------------

static bool name_has(const char *name, const char *word)
{
    const size_t length = strlen(word);
    for (; name && *name; name++) {
        size_t i = 0;
        while (i < length && (name[i] | 0x20) == word[i]) i++;
        if (i == length) return true;
    }
    return false;
}

// The mean place of nodes whose name has one of the words, the first that any has; its name.
static const char *find_named(const cutis_model_data *data, const float *places,
                              const char *const *words, double mean[3])
{
    for (; *words; words++) {
        uint32_t count = 0;
        const char *name = NULL;
        double sum[3] = { 0, 0, 0 };
        for (uint32_t i = 0; i < data->node_count; i++) {
            if (data->nodes[i].mesh >= 0 || !name_has(data->nodes[i].name, *words)) continue;
            for (int k = 0; k < 3; k++) sum[k] += (double)places[3 * (size_t)i + (size_t)k];
            if (!count++) name = data->nodes[i].name;
        }
        for (int k = 0; count && k < 3; k++) mean[k] = sum[k] / count;
        if (count) return name;
    }
    return NULL;
}

static bool up_by_names(const cutis_model_data *data, const float *places, cutis_up *out,
                        char reason[CUTIS_REASON_SIZE])
{
    static const char *const HEADS[] = { "head", "neck", "chest", NULL };
    static const char *const FEET[] = { "foot", "ankle", "toe", "leg", NULL };
    double head[3], feet[3], length = 0;
    const char *high = find_named(data, places, HEADS, head);
    const char *low = find_named(data, places, FEET, feet);
    if (!high || !low) return false;
    int axis = 0;
    for (int k = 0; k < 3; k++) {
        length += (head[k] - feet[k]) * (head[k] - feet[k]);
        if (fabs(head[k] - feet[k]) > fabs(head[axis] - feet[axis])) axis = k;
    }
    // Within 37 degrees of the axis, or it is no standing figure.
    if (!(head[axis] - feet[axis] > 0.8 * sqrt(length))) return false;
    *out = UPS[axis];
    snprintf(reason, CUTIS_REASON_SIZE,
             "from joint %.40s to joint %.40s the rest pose rises along %c", low, high, AXES[axis]);
    return true;
}

// Shape
// ------------------------------------------------------------------------------------------------

enum { CELLS = 32, END = 4 }; // along each side of the bounding box; in a slice at its end

/// Which cells of the bounding box have points: bit z of rows[x][y].
typedef struct grid {
    uint32_t rows[CELLS][CELLS];
} grid;

static bool grid_at(const grid *g, const int cell[3])
{
    for (int k = 0; k < 3; k++)
        if (cell[k] < 0 || cell[k] >= CELLS) return false;
    return g->rows[cell[0]][cell[1]] >> cell[2] & 1;
}

static void fill_grid(const cloud *c, grid *g)
{
    memset(g, 0, sizeof *g);
    for (size_t i = 0; i < c->count; i++) {
        int cell[3];
        for (int k = 0; k < 3; k++) {
            double at = c->size[k] > 0 ? ((double)c->points[3 * i + (size_t)k] - c->low[k]) /
                                             (double)c->size[k] * CELLS
                                       : 0;
            cell[k] = at < CELLS - 1 ? (int)at : CELLS - 1;
        }
        g->rows[cell[0]][cell[1]] |= UINT32_C(1) << cell[2];
    }
}

// The part of the cells that have a cell at or beside their mirror image in the middle of an axis.
static double symmetry(const grid *g, int axis)
{
    uint32_t cells = 0, met = 0;
    for (int i = 0; i < CELLS * CELLS * CELLS; i++) {
        const int cell[3] = { i / (CELLS * CELLS), i / CELLS % CELLS, i % CELLS };
        if (!grid_at(g, cell)) continue;
        bool found = false;
        for (int n = 0; n < 27 && !found; n++) {
            int beside[3] = { cell[0] + n % 3 - 1, cell[1] + n / 3 % 3 - 1, cell[2] + n / 9 - 1 };
            beside[axis] += CELLS - 1 - 2 * cell[axis];
            found = grid_at(g, beside);
        }
        cells++;
        met += found;
    }
    return cells ? (double)met / cells : 0;
}

// How many pieces the slice at an end of an axis falls apart into; gaps of one cell are none.
static uint32_t count_pieces(const grid *g, int axis, bool top)
{
    bool open[CELLS][CELLS] = { { false } };
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    int stack[CELLS * CELLS];
    uint32_t pieces = 0;
    for (int i = 0; i < CELLS * CELLS * END; i++) {
        int cell[3];
        cell[axis] = top ? CELLS - 1 - i % END : i % END;
        cell[u] = i / END / CELLS;
        cell[v] = i / END % CELLS;
        open[cell[u]][cell[v]] |= grid_at(g, cell);
    }
    for (int start = 0; start < CELLS * CELLS; start++) {
        if (!open[start / CELLS][start % CELLS]) continue;
        int depth = 0;
        pieces++;
        open[start / CELLS][start % CELLS] = false;
        stack[depth++] = start;
        while (depth) {
            const int at = stack[--depth];
            for (int n = 0; n < 25; n++) {
                const int a = at / CELLS + n / 5 - 2, b = at % CELLS + n % 5 - 2;
                if (a < 0 || b < 0 || a >= CELLS || b >= CELLS || !open[a][b]) continue;
                open[a][b] = false;
                stack[depth++] = a * CELLS + b; // every cell once: it never overflows
            }
        }
    }
    return pieces;
}

// The axis a body is symmetric along, or -1: clearly more than along the others.
static int find_side(const grid *g, double *share)
{
    double s[3];
    int best = 0;
    for (int k = 0; k < 3; k++) {
        s[k] = symmetry(g, k);
        if (s[k] > s[best]) best = k;
    }
    *share = s[best];
    for (int k = 0; k < 3; k++)
        if (k != best && s[k] > s[best] - 0.1) return -1;
    return s[best] >= 0.85 ? best : -1;
}

// Whether the floor is where an axis has its zero: 2 % of its length is a sole.
static bool stands(const cloud *c, int axis)
{
    return c->size[axis] > 0 && fabsf(c->low[axis]) <= 0.02f * c->size[axis];
}

static bool up_by_shape(const cloud *c, cutis_up *out, char reason[CUTIS_REASON_SIZE])
{
    grid g;
    double share;
    fill_grid(c, &g);
    const int side = find_side(&g, &share);
    int floor = -1, floors = 0;
    for (int k = 0; k < 3; k++)
        if (k != side && stands(c, k)) floor = k, floors++;
    char body[64] = "it";
    if (side >= 0)
        snprintf(body, sizeof body, "it is symmetric along %c (%.0f %%) and", AXES[side],
                 100 * share);
    if (floors == 1) {
        *out = UPS[floor];
        snprintf(reason, CUTIS_REASON_SIZE, "%s stands on %c = 0", body, AXES[floor]);
        return true;
    }
    if (side < 0) return false;
    const int a = (side + 1) % 3, b = (side + 2) % 3;
    const uint32_t pieces[2][2] = { { count_pieces(&g, a, false), count_pieces(&g, a, true) },
                                    { count_pieces(&g, b, false), count_pieces(&g, b, true) } };
    const bool feet[2] = { pieces[0][0] > 1 && pieces[0][1] == 1,
                           pieces[1][0] > 1 && pieces[1][1] == 1 };
    if (feet[0] != feet[1]) {
        *out = UPS[feet[0] ? a : b];
        snprintf(reason, CUTIS_REASON_SIZE, "%s has feet (%u pieces) at its low end along %c", body,
                 pieces[feet[0] ? 0 : 1][0], AXES[feet[0] ? a : b]);
        return true;
    }
    // A standing human is four to six times as tall as deep; animals are at most twice as long as
    // tall.
    const int tall = c->size[a] > c->size[b] ? a : b, deep = tall == a ? b : a;
    if (!(c->size[tall] > 2.5f * c->size[deep])) return false;
    *out = UPS[tall];
    snprintf(reason, CUTIS_REASON_SIZE, "%s is slender: %.3g along %c, %.3g along %c", body,
             (double)c->size[tall], AXES[tall], (double)c->size[deep], AXES[deep]);
    return true;
}

bool cutis_guess_up(const cutis_model_data *data, cutis_arena *arena, cutis_up fallback,
                    cutis_up *out, char reason[CUTIS_REASON_SIZE])
{
    cloud c;
    const float *places = place_nodes(data, arena);
    if (!places || !gather(data, arena, &c)) return false;
    if (up_by_names(data, places, out, reason) || up_by_shape(&c, out, reason)) return true;
    *out = fallback;
    snprintf(reason, CUTIS_REASON_SIZE, "nothing in its shape tells; %s",
             fallback == CUTIS_UP_Z ? "printed bodies have z up"
                                    : "most files of the format have y up");
    return true;
}

bool cutis_guess_units(const cutis_model_data *data, cutis_arena *arena, cutis_up up,
                       cutis_units *out, char reason[CUTIS_REASON_SIZE])
{
    static const char *const NAMES[] = { "metres", "centimetres", "millimetres", "inches" };
    cloud c;
    if (!gather(data, arena, &c)) return false;
    const int axis = up == CUTIS_UP_X ? 0 : up == CUTIS_UP_Y ? 1 : 2;
    const double height = (double)c.size[axis];
    double longest = 0;
    for (int k = 0; k < 3; k++) longest = fmax(longest, (double)c.size[k]);
    // Who is clearly longer than tall goes on four legs. A T-pose is about as wide as tall.
    const bool upright = longest <= 1.3 * height;
    const double low = upright ? 1.0 : 0.2, high = upright ? 2.6 : 2.0, usual = upright ? 1.7 : 0.7;
    double nearest = INFINITY;
    *out = CUTIS_UNITS_M;
    for (int u = CUTIS_UNITS_M; u <= CUTIS_UNITS_IN; u++) {
        const double metres = height * cutis_units_metres((cutis_units)u);
        const double distance = metres > 0 ? fabs(fixed_log(metres / usual)) : INFINITY;
        if (metres < low || metres > high || distance >= nearest) continue;
        nearest = distance;
        *out = (cutis_units)u;
    }
    const char *kind = upright ? "an upright body" : "a body longer than tall";
    if (isinf(nearest))
        snprintf(reason, CUTIS_REASON_SIZE,
                 "no unit makes its height of %.4g that of %s (%g m to %g m); taken as metres",
                 height, kind, low, high);
    else
        snprintf(reason, CUTIS_REASON_SIZE, "in %s its height of %.4g is %.2f m, of %s",
                 NAMES[*out], height, height * cutis_units_metres(*out), kind);
    return true;
}
