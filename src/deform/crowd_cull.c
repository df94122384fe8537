/// Who is drawn, and at which level: every instance's ball against the view's planes, its distance
/// against the levels'. Invariant: a ball that reaches the inside of all planes is never left out;
/// instances of a level are in ascending order.
#include "deform/crowd.h"

#include <math.h>
#include <string.h>

/// A view with unit normals and squared distances, in floats that err towards drawing.
typedef struct sight {
    float eye[3];
    uint32_t plane_count, level_count;
    float planes[CUTIS_CROWD_PLANES][4];
    float squares[CUTIS_CROWD_LEVELS];
} sight;

// Instances looked at together: plain loops over them, which compilers turn into vectors.
enum { BUNCH = 64 };

static void look(const cutis_crowd *crowd, const sight *s, uint32_t first, uint32_t count,
                 uint8_t *chosen)
{
    const float *x = crowd->x + first, *y = crowd->y + first, *z = crowd->z + first;
    const float *radius = crowd->radius + first;
    float square[BUNCH];
    uint32_t level[BUNCH];
    for (uint32_t i = 0; i < count; i++) {
        const float a = x[i] - s->eye[0], b = y[i] - s->eye[1], c = z[i] - s->eye[2];
        square[i] = a * a + b * b + c * c;
        level[i] = radius[i] < 0 ? CROWD_NOBODY : 0;
    }
    for (uint32_t l = 0; l < s->level_count; l++)
        for (uint32_t i = 0; i < count; i++) level[i] += square[i] > s->squares[l];
    for (uint32_t p = 0; p < s->plane_count; p++) {
        const float *n = s->planes[p];
        for (uint32_t i = 0; i < count; i++)
            level[i] |=
                n[0] * x[i] + n[1] * y[i] + n[2] * z[i] + n[3] < -radius[i] ? CROWD_NOBODY : 0;
    }
    for (uint32_t i = 0; i < count; i++)
        chosen[i] = (uint8_t)(level[i] < s->level_count ? level[i] : CROWD_NOBODY);
}

static void make_sight(const cutis_crowd *crowd, const cutis_crowd_view *view, sight *s)
{
    *s = (sight){ .level_count = crowd->level_count };
    for (uint32_t l = 0; l < crowd->level_count; l++) {
        const float d = crowd->levels[l].distance;
        s->squares[l] = d > 0 && view ? d * d : INFINITY;
    }
    if (!view) return;
    s->eye[0] = view->eye.x, s->eye[1] = view->eye.y, s->eye[2] = view->eye.z;
    s->plane_count = view->plane_count;
    for (uint32_t p = 0; p < view->plane_count; p++) {
        const float *n = view->planes[p];
        const double length = sqrt((double)n[0] * n[0] + (double)n[1] * n[1] + (double)n[2] * n[2]);
        for (int c = 0; c < 4; c++) s->planes[p][c] = (float)(n[c] / length);
        // What rounding may take from a plane's distance; balls have their own (crowd_bounds.c).
        s->planes[p][3] += fabsf(s->planes[p][3]) * 1e-6f;
    }
}

bool cutis_crowd_cull(cutis_crowd *crowd, const cutis_crowd_view *view)
{
    sight s;
    uint32_t at[CUTIS_CROWD_LEVELS + 1] = { 0 }, next = 0;
    bool changed = false;
    make_sight(crowd, view, &s);
    for (uint32_t first = 0; first < crowd->count; first += BUNCH) {
        const uint32_t left = crowd->count - first, count = left < BUNCH ? left : BUNCH;
        look(crowd, &s, first, count, crowd->chosen + first);
        for (uint32_t i = first; i < first + count; i++)
            if (crowd->chosen[i] != CROWD_NOBODY) at[crowd->chosen[i]]++;
    }
    for (uint32_t l = 0; l < crowd->level_count; l++) {
        crowd_level *level = &crowd->levels[l];
        changed = changed || level->drawn_count != at[l];
        level->drawn_first = next;
        level->drawn_count = at[l];
        at[l] = next;
        next += level->drawn_count;
    }
    for (uint32_t i = 0; i < crowd->count; i++) {
        if (crowd->chosen[i] == CROWD_NOBODY) continue;
        uint32_t *slot = &crowd->drawn[at[crowd->chosen[i]]++];
        changed = changed || *slot != i;
        *slot = i;
    }
    return changed;
}
