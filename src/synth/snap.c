/// Newton steps towards the zero of the shape function: freely along the gradient, within the plane
/// of a loop or of the mirror, or along the line where both meet.
#include "synth/mesh.h"

/// On the surface: a millionth of a micrometre, far below what a float file holds.
static const double ON_SURFACE = 1e-9;
/// No step longer than this, mm: a vertex never jumps to another limb.
static const double STEP_MAX = 20;

/// The directions left free by up to two planes.
static vec3 allowed(const mesh *m, const mesh_vertex *like, vec3 g)
{
    switch (like->curve) {
    case SYNTH_FREE:
        return g;
    case SYNTH_PLANE:
        return v3(0, g.y, g.z);
    case SYNTH_CORNER: {
        vec3 line = v3_unit(v3_cross(m->loops[like->loop - 1].normal, v3(1, 0, 0)));
        return v3_scale(line, v3_dot(g, line));
    }
    default: {
        vec3 n = m->loops[like->curve - 1].normal;
        return v3_mad(g, -v3_dot(g, n), n);
    }
    }
}

static vec3 into_planes(const mesh *m, const mesh_vertex *like, vec3 x)
{
    int32_t loop = like->curve == SYNTH_CORNER ? like->loop : like->curve;
    if (like->curve == SYNTH_PLANE || like->curve == SYNTH_CORNER) x.x = 0;
    if (loop > 0) {
        const mesh_plane *p = &m->loops[loop - 1];
        x = v3_mad(x, -v3_dot(v3_sub(x, p->point), p->normal), p->normal);
    }
    return x;
}

vec3 cutis_synth_snap(const mesh *m, const mesh_vertex *like, vec3 x, int steps, vec3 *normal)
{
    vec3 g = v3(0, 0, 0);
    x = into_planes(m, like, x);
    for (int i = 0; i < steps; i++) {
        double d = cutis_synth_shape_gradient(m->shape, x, &g);
        if (d < ON_SURFACE && d > -ON_SURFACE) break;
        vec3 p = allowed(m, like, g);
        double square = v3_dot(p, p);
        if (square < 1e-12) break;
        double length = (d < 0 ? -d : d) / sqrt(square);
        double step = length > STEP_MAX ? d * STEP_MAX / length : d;
        x = into_planes(m, like, v3_mad(x, -step / square, p));
    }
    *normal = v3_unit(g);
    return x;
}

void cutis_synth_snap_vertex(mesh *m, int32_t v, int steps)
{
    mesh_vertex *vertex = &m->vertices[v];
    vertex->position = cutis_synth_snap(m, vertex, vertex->position, steps, &vertex->normal);
    vertex->size = cutis_synth_shape_size(m->shape, vertex->position);
}
