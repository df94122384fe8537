// Turns of vertex normals by errors of the vertices around them. Invariant: `turn` is what the
// errors make of it; every change of an error goes through cutis_reduce_turns_move.
#include "fit/reduce_turns.h"

#include <math.h>
#include <string.h>

#include "fit/clones.h"
#include "fit/reduce_vertex.h"
#include "math/mat3.h"

// Weight of the gradient energy, in turns of normals: the best of 0.001, 0.01, 0.1 on MakeHuman
// with face units; a tenth and ten times this are 1 and 6 % worse (docs/design/reduction.md).
static const double GRADIENT_SHARE = 0.01;
// Floors of s: of the fan's size at rest, and of its squared sides (slivers).
static const double REST_FLOOR = 0.1;
static const double SLIVER_FLOOR = 0.01;

static bool has_edge(const cutis_reduce_mesh *mesh, uint32_t from, uint32_t to)
{
    for (uint32_t i = mesh->first[from]; i < mesh->first[from + 1]; i++)
        if (mesh->neighbour[i] == to) return true;
    return false;
}

// Triangles that the mesh has left out (no shape) are left out here too: colours keep vertices
// apart along the mesh's edges only.
static bool is_used(const cutis_reduce_mesh *mesh, const uint32_t *corner)
{
    for (int k = 0; k < 3; k++)
        if (!has_edge(mesh, corner[k], corner[(k + 1) % 3])) return false;
    return true;
}

static void fill_fans(cutis_reduce_turns *t, const cutis_reduce_surface *surface)
{
    const cutis_reduce_mesh *mesh = t->problem->mesh;
    const uint32_t vertices = mesh->vertex_count;
    memset(t->fan_first, 0, ((size_t)vertices + 2) * sizeof *t->fan_first);
    for (uint32_t i = 0; i < surface->triangle_count; i++) {
        const uint32_t *corner = surface->triangles + 3 * (size_t)i;
        for (int k = 0; k < 3 && is_used(mesh, corner); k++) t->fan_first[corner[k] + 2]++;
    }
    for (uint32_t v = 0; v < vertices; v++) t->fan_first[v + 2] += t->fan_first[v + 1];
    for (uint32_t i = 0; i < surface->triangle_count; i++) {
        const uint32_t *corner = surface->triangles + 3 * (size_t)i;
        for (int k = 0; k < 3 && is_used(mesh, corner); k++) {
            uint32_t *fan = t->fan + 2 * (size_t)t->fan_first[corner[k] + 1]++;
            fan[0] = corner[(k + 1) % 3];
            fan[1] = corner[(k + 2) % 3];
        }
    }
}

bool cutis_reduce_turns_create(const cutis_reduce_problem *problem,
                               const cutis_reduce_surface *surface, cutis_arena *arena,
                               cutis_reduce_turns *out)
{
    const size_t vertices = problem->mesh->vertex_count, columns = problem->column_count;
    double area = 0;
    for (size_t v = 0; v < vertices; v++) area += problem->mesh->area[v];
    *out = (cutis_reduce_turns){
        .problem = problem,
        .column_weights = surface->column_weights,
        .gradient = vertices ? GRADIENT_SHARE * (double)vertices / area : 0,
        .fan_first = cutis_arena_alloc(arena, vertices + 2, sizeof *out->fan_first),
        .fan = cutis_arena_alloc(arena, surface->triangle_count, 6 * sizeof *out->fan),
        .target = cutis_arena_alloc(arena, vertices, 3 * columns * sizeof *out->target),
        .normal = cutis_arena_alloc(arena, vertices, 3 * columns * sizeof *out->normal),
        .scale = cutis_arena_alloc(arena, vertices, columns * sizeof *out->scale),
        .turn = cutis_arena_alloc(arena, vertices, 3 * columns * sizeof *out->turn),
    };
    if (!out->fan_first || !out->fan || !out->target || !out->normal || !out->scale || !out->turn)
        return false;
    fill_fans(out, surface);
    return true;
}

// Pose after pose to planar and back.
static void spread(uint32_t columns, const double *in, double *planar)
{
    for (uint32_t j = 0; j < columns; j++)
        for (uint32_t c = 0; c < 3; c++) planar[c * columns + j] = in[3 * j + c];
}

void cutis_reduce_turns_target(const cutis_reduce_turns *t, uint32_t v, double *scratch)
{
    const uint32_t columns = t->problem->column_count;
    cutis_reduce_target(t->problem, v, scratch);
    spread(columns, scratch, t->target + 3 * (size_t)v * columns);
}

// The normal of one vertex in one pose, and how long it is at least taken to be.
static void fan_normal(const cutis_reduce_turns *t, uint32_t v, uint32_t pose, double *normal,
                       double *size, double *sides)
{
    const uint32_t columns = t->problem->column_count;
    const double *all = t->target + pose, *a = all + 3 * (size_t)v * columns;
    normal[0] = normal[1] = normal[2] = *size = *sides = 0;
    for (uint32_t i = t->fan_first[v]; i < t->fan_first[v + 1]; i++) {
        const double *b = all + 3 * (size_t)t->fan[2 * (size_t)i] * columns;
        const double *c = all + 3 * (size_t)t->fan[2 * (size_t)i + 1] * columns;
        double e[3], f[3], cross[3];
        for (uint32_t k = 0; k < 3; k++) {
            e[k] = b[k * columns] - a[k * columns];
            f[k] = c[k * columns] - a[k * columns];
        }
        double3_cross(e, f, cross);
        for (int k = 0; k < 3; k++) {
            normal[k] += cross[k];
            *sides += (e[k] - f[k]) * (e[k] - f[k]);
        }
        *size += sqrt(double3_dot(cross, cross));
    }
}

void cutis_reduce_turns_normal(const cutis_reduce_turns *t, uint32_t v)
{
    const uint32_t columns = t->problem->column_count;
    for (uint32_t j = 0; j < columns; j++) {
        const double weight = t->column_weights ? t->column_weights[j] : 1;
        double normal[3], size, sides;
        fan_normal(t, v, j, normal, &size, &sides);
        // A sixth of the fan's sum is the mixed area of a vertex; lengths carry the root of the
        // pose's weight.
        const double rest = REST_FLOOR * 6 * weight * t->problem->mesh->area[v];
        const double square = double3_dot(normal, normal), length = sqrt(square);
        const double s2 =
            square + size * size + rest * rest + SLIVER_FLOOR * SLIVER_FLOOR * sides * sides;
        for (uint32_t k = 0; k < 3; k++)
            t->normal[(3 * (size_t)v + k) * columns + j] =
                length > 0 ? (float)(normal[k] / length) : 0;
        t->scale[(size_t)v * columns + j] = s2 > 0 ? (float)(weight / s2) : 0;
    }
}

// turn += scale * (what of `change` lies across the normal)
CUTIS_FIT_CLONES
static void add_turn(uint32_t n, const float *restrict normal, const float *restrict scale,
                     const double *restrict change, double *restrict turn)
{
    for (uint32_t j = 0; j < n; j++) {
        double nx = normal[j], ny = normal[n + j], nz = normal[2 * n + j], s = scale[j];
        double x = change[j], y = change[n + j], z = change[2 * n + j];
        double along = nx * x + ny * y + nz * z;
        turn[j] += s * (x - along * nx);
        turn[n + j] += s * (y - along * ny);
        turn[2 * n + j] += s * (z - along * nz);
    }
}

// out = move x (b - c); sum += out
CUTIS_FIT_CLONES
static void turn_of(uint32_t n, const double *restrict move, const double *restrict b,
                    const double *restrict c, double *restrict out, double *restrict sum)
{
    for (uint32_t j = 0; j < n; j++) {
        double dx = b[j] - c[j], dy = b[n + j] - c[n + j], dz = b[2 * n + j] - c[2 * n + j];
        double ex = move[j], ey = move[n + j], ez = move[2 * n + j];
        out[j] = ey * dz - ez * dy;
        out[n + j] = ez * dx - ex * dz;
        out[2 * n + j] = ex * dy - ey * dx;
    }
    for (uint32_t r = 0; r < 3 * n; r++) sum[r] += out[r];
}

void cutis_reduce_turns_start(const cutis_reduce_turns *t, uint32_t v, const double *error,
                              double *scratch)
{
    const uint32_t columns = t->problem->column_count;
    const size_t rows = 3 * (size_t)columns;
    double *sum = scratch, *move = sum + rows, *part = move + rows;
    memset(sum, 0, rows * sizeof *sum);
    for (uint32_t i = t->fan_first[v]; i < t->fan_first[v + 1]; i++) {
        const uint32_t corner[3] = { v, t->fan[2 * (size_t)i], t->fan[2 * (size_t)i + 1] };
        for (int k = 0; k < 3; k++) {
            spread(columns, error + corner[k] * rows, move);
            turn_of(columns, move, t->target + corner[(k + 1) % 3] * rows,
                    t->target + corner[(k + 2) % 3] * rows, part, sum);
        }
    }
    memset(t->turn + v * rows, 0, rows * sizeof *t->turn);
    add_turn(columns, t->normal + v * rows, t->scale + (size_t)v * columns, sum,
             t->turn + v * rows);
}

double cutis_reduce_turns_energy(const cutis_reduce_turns *t, uint32_t v)
{
    const uint32_t n = t->problem->column_count;
    const double *turn = t->turn + 3 * (size_t)v * n;
    const float *scale = t->scale + (size_t)v * n;
    double sum = 0;
    for (uint32_t j = 0; j < n; j++)
        if (scale[j] > 0)
            sum += (turn[j] * turn[j] + turn[n + j] * turn[n + j] +
                    turn[2 * n + j] * turn[2 * n + j]) /
                   scale[j];
    return sum;
}

// metric += scale (|d|^2 I - d d^T - (d x n) (d x n)^T): e -> |P (e x d)|^2
CUTIS_FIT_CLONES
static void add_metric(uint32_t n, const double *restrict d, const float *restrict normal,
                       const float *restrict scale, double *restrict metric)
{
    for (uint32_t j = 0; j < n; j++) {
        double x = d[j], y = d[n + j], z = d[2 * n + j];
        double nx = normal[j], ny = normal[n + j], nz = normal[2 * n + j], s = scale[j];
        double cx = y * nz - z * ny, cy = z * nx - x * nz, cz = x * ny - y * nx;
        double square = x * x + y * y + z * z, *m = metric + 6 * (size_t)j;
        m[0] += s * (square - x * x - cx * cx);
        m[1] += s * (square - y * y - cy * cy);
        m[2] += s * (square - z * z - cz * cz);
        m[3] -= s * (x * y + cx * cy);
        m[4] -= s * (x * z + cx * cz);
        m[5] -= s * (y * z + cy * cz);
    }
}

static double own_weight(const cutis_reduce_turns *t, uint32_t v)
{
    return t->gradient * (t->problem->mesh->diagonal[v] + cutis_reduce_anchor(t->problem, v));
}

void cutis_reduce_turns_metric(const cutis_reduce_turns *t, uint32_t v, double *metric,
                               double *scratch)
{
    const cutis_reduce_mesh *mesh = t->problem->mesh;
    const uint32_t columns = t->problem->column_count;
    const size_t rows = 3 * (size_t)columns;
    const double plain = own_weight(t, v);
    for (size_t i = 0; i < 6 * (size_t)columns; i++) metric[i] = i % 6 < 3 ? plain : 0;
    // Of every normal that the vertex turns: its neighbours' and its own.
    for (uint32_t at = mesh->first[v]; at <= mesh->first[v + 1]; at++) {
        const size_t l = at < mesh->first[v + 1] ? mesh->neighbour[at] : v;
        memset(scratch, 0, rows * sizeof *scratch);
        for (uint32_t i = t->fan_first[v]; i < t->fan_first[v + 1]; i++) {
            const uint32_t *fan = t->fan + 2 * (size_t)i;
            const double *b = t->target + fan[0] * rows, *c = t->target + fan[1] * rows;
            if (l != v && fan[0] != l && fan[1] != l) continue;
            for (size_t r = 0; r < rows; r++) scratch[r] += b[r] - c[r];
        }
        add_metric(columns, scratch, t->normal + l * rows, t->scale + l * columns, metric);
    }
}

// force -= (b - c) x (turns of the triangle's corners)
CUTIS_FIT_CLONES
static void add_force(uint32_t n, const double *restrict b, const double *restrict c,
                      const double *restrict own, const double *restrict tb,
                      const double *restrict tc, double *restrict force)
{
    for (uint32_t j = 0; j < n; j++) {
        double dx = b[j] - c[j], dy = b[n + j] - c[n + j], dz = b[2 * n + j] - c[2 * n + j];
        double x = own[j] + tb[j] + tc[j], y = own[n + j] + tb[n + j] + tc[n + j],
               z = own[2 * n + j] + tb[2 * n + j] + tc[2 * n + j];
        force[j] -= dy * z - dz * y;
        force[n + j] -= dz * x - dx * z;
        force[2 * n + j] -= dx * y - dy * x;
    }
}

bool cutis_reduce_turns_force(const cutis_reduce_turns *t, uint32_t v, const double *error,
                              double *force, double *scratch)
{
    const cutis_reduce_mesh *mesh = t->problem->mesh;
    const uint32_t columns = t->problem->column_count;
    const size_t rows = 3 * (size_t)columns;
    const double own = own_weight(t, v);
    double size = 0;
    memset(scratch, 0, rows * sizeof *scratch);
    for (uint32_t i = t->fan_first[v]; i < t->fan_first[v + 1]; i++) {
        const size_t b = t->fan[2 * (size_t)i], c = t->fan[2 * (size_t)i + 1];
        add_force(columns, t->target + b * rows, t->target + c * rows, t->turn + v * rows,
                  t->turn + b * rows, t->turn + c * rows, scratch);
    }
    for (size_t r = 0; r < rows; r++) force[r] = -own * error[v * rows + r];
    for (uint32_t i = mesh->first[v]; i < mesh->first[v + 1]; i++) {
        const double *other = error + mesh->neighbour[i] * rows;
        const double weight = t->gradient * mesh->cotangent[i];
        for (size_t r = 0; r < rows; r++) force[r] += weight * other[r];
    }
    for (uint32_t j = 0; j < columns; j++)
        for (uint32_t c = 0; c < 3; c++) force[3 * j + c] += scratch[c * columns + j];
    for (size_t r = 0; r < rows; r++) size += fabs(force[r]);
    return size > 0;
}

void cutis_reduce_turns_move(const cutis_reduce_turns *t, uint32_t v, const double *old,
                             const double *now, double *scratch)
{
    const uint32_t columns = t->problem->column_count;
    const size_t rows = 3 * (size_t)columns;
    double *move = scratch, *part = move + rows, *sum = part + rows;
    for (size_t r = 0; r < rows; r++) part[r] = now[r] - old[r];
    spread(columns, part, move);
    memset(sum, 0, rows * sizeof *sum);
    for (uint32_t i = t->fan_first[v]; i < t->fan_first[v + 1]; i++) {
        const uint32_t *fan = t->fan + 2 * (size_t)i;
        turn_of(columns, move, t->target + fan[0] * rows, t->target + fan[1] * rows, part, sum);
        for (int k = 0; k < 2; k++)
            add_turn(columns, t->normal + fan[k] * rows, t->scale + (size_t)fan[k] * columns, part,
                     t->turn + fan[k] * rows);
    }
    add_turn(columns, t->normal + v * rows, t->scale + (size_t)v * columns, sum,
             t->turn + v * rows);
}
