// What a closed mesh can do: areas, splitting an edge, names and notes.
#include "skeleton/closed.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

double cutis_face_area(const cutis_closed *mesh, uint32_t face)
{
    const uint32_t *v = mesh->faces[face];
    return v3_area_of(mesh->points[v[0]], mesh->points[v[1]], mesh->points[v[2]]);
}

// The text in the arena, at the end of a list that has space for it then; false: out of memory.
static bool add_text(cutis_arena *arena, const char ***list, uint32_t *count, size_t *capacity,
                     const char *text)
{
    const char *copy = cutis_arena_string(arena, text);
    if (!copy || !cutis_arena_grow(arena, (void *)list, capacity, (size_t)*count + 1, sizeof copy))
        return false;
    (*list)[(*count)++] = copy;
    return true;
}

uint32_t cutis_labels_add(cutis_labels *labels, const char *format, ...)
{
    char name[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    return add_text(labels->arena, &labels->names, &labels->count, &labels->capacity, name)
               ? labels->count - 1
               : CUTIS_NOTHING;
}

void cutis_note(cutis_notes *notes, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    for (uint32_t i = 0; i < notes->count; i++) // parts are found again after every change
        if (strcmp(notes->lines[i], text) == 0) return;
    if (!add_text(notes->arena, &notes->lines, &notes->count, &notes->capacity, text))
        notes->failed = true;
}

void cutis_closed_release(cutis_closed *mesh)
{
    cutis_arena_release(&mesh->arena);
    *mesh = (cutis_closed){ 0 };
}

bool cutis_closed_grow(cutis_closed *mesh, size_t points, size_t faces, size_t outputs)
{
    const struct {
        void *array;
        size_t needed, item;
    } arrays[CUTIS_CLOSED_ARRAYS] = { { &mesh->points, points, sizeof *mesh->points },
                                      { &mesh->leaving, points, sizeof *mesh->leaving },
                                      { &mesh->faces, faces, sizeof *mesh->faces },
                                      { &mesh->corners, faces, sizeof *mesh->corners },
                                      { &mesh->twins, faces, 3 * sizeof *mesh->twins },
                                      { &mesh->labels, faces, sizeof *mesh->labels },
                                      { &mesh->shells, faces, sizeof *mesh->shells },
                                      { &mesh->outputs, outputs, sizeof *mesh->outputs } };
    for (int i = 0; i < CUTIS_CLOSED_ARRAYS; i++)
        if (!cutis_arena_grow(&mesh->arena, arrays[i].array, &mesh->capacities[i], arrays[i].needed,
                              arrays[i].item))
            return false;
    return true;
}

// The output vertex at part t between two corners; faces that share both corners share it.
static uint32_t mix_output(cutis_closed *mesh, uint32_t a, uint32_t b, double t, uint32_t vertex)
{
    const double *p = mesh->points[vertex];
    mesh->outputs[mesh->output_count] =
        (cutis_output_vertex){ .primitive = mesh->outputs[a].primitive,
                               .a = a,
                               .b = b,
                               .t = t,
                               .position = { (float)p[0], (float)p[1], (float)p[2] } };
    return mesh->output_count++;
}

// Face of h becomes (from, v, opposite), a new face is (v, to, opposite).
static uint32_t split_face(cutis_closed *mesh, uint32_t h, uint32_t vertex, uint32_t output)
{
    uint32_t f = h / 3, g = mesh->face_count++, n = half_next(h), p = half_previous(h);
    uint32_t outer = mesh->twins[n];
    mesh->faces[g][0] = vertex, mesh->corners[g][0] = output;
    mesh->faces[g][1] = mesh->faces[f][n % 3], mesh->corners[g][1] = mesh->corners[f][n % 3];
    mesh->faces[g][2] = mesh->faces[f][p % 3], mesh->corners[g][2] = mesh->corners[f][p % 3];
    mesh->faces[f][n % 3] = vertex, mesh->corners[f][n % 3] = output;
    mesh->labels[g] = mesh->labels[f];
    mesh->shells[g] = mesh->shells[f];
    // New half-edges: 3g: v -> to (twin set by the caller), 3g+1: to -> opposite, 3g+2: back to v.
    mesh->twins[3 * g + 1] = outer, mesh->twins[outer] = 3 * g + 1;
    mesh->twins[3 * g + 2] = n, mesh->twins[n] = 3 * g + 2;
    mesh->leaving[mesh->faces[g][1]] = 3 * g + 1;
    mesh->leaving[mesh->faces[g][2]] = 3 * g + 2;
    return 3 * g;
}

bool cutis_closed_split(cutis_closed *mesh, uint32_t h, double t, uint32_t *vertex)
{
    if (!cutis_closed_grow(mesh, (size_t)mesh->vertex_count + 1, (size_t)mesh->face_count + 2,
                           (size_t)mesh->output_count + 2))
        return false;
    uint32_t twin = mesh->twins[h], v = mesh->vertex_count++;
    uint32_t a = mesh->corners[h / 3][h % 3], b = mesh->corners[h / 3][half_next(h) % 3];
    uint32_t c = mesh->corners[twin / 3][half_next(twin) % 3];
    uint32_t d = mesh->corners[twin / 3][twin % 3];
    // Positions are the floats that are written, so that copies of a vertex stay on one point.
    const double *p = mesh->points[cutis_from(mesh, h)], *q = mesh->points[cutis_to(mesh, h)];
    for (int k = 0; k < 3; k++) mesh->points[v][k] = (float)((1 - t) * p[k] + t * q[k]);
    uint32_t output = mix_output(mesh, a, b, t, v);
    uint32_t other = c == a && d == b ? output : mix_output(mesh, c, d, t, v);
    uint32_t second = split_face(mesh, h, v, output); // h: from -> v, second: v -> to
    uint32_t back = split_face(mesh, twin, v, other); // twin: to -> v, back: v -> from
    mesh->twins[h] = back, mesh->twins[back] = h;
    mesh->twins[second] = twin, mesh->twins[twin] = second;
    mesh->leaving[v] = second;
    mesh->leaving[mesh->faces[h / 3][h % 3]] = h;
    mesh->leaving[mesh->faces[twin / 3][twin % 3]] = twin;
    *vertex = v;
    return true;
}
