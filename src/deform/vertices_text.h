/// Skinning of vertices in the caller's own arrays, one after the other, by the kernel text.
/// Compiled twice (room.cmake): plainly, and with fused multiply-add for machines that have it; the
/// bits are the same. Every bone counts as nonuniform, so that any palette is right.
#include "deform/vertices.h"

#include "kernel/kernel.h"
#include "kernel/algebra.h"
#include "kernel/blend.h"

FN mat34 palette_at(const cutis_mat34 *palette, uint32_t bone)
{
    mat34 m;
    MAT34_AT(m, palette[bone].m, 0);
    return m;
}

static void linear_vertex(const cutis_vertex_work *w, real3 *p, real3 *n)
{
    mat34 m = mat34_zero();
    for (uint32_t i = 0; i < w->count; i++)
        m = mat34_blend(m, w->weights[i], palette_at(w->palette, w->joints[i]));
    *p = mat34_point(m, *p);
    if (!w->normals) return;
    if (w->rotations) {
        *n = finish_unit(mat34_vector(m, *n), K(1.0));
    } else {
        const shaded s = linear_normal_nonuniform(m, *n);
        *n = finish_unit(s.v, s.sign);
    }
}

static void dual_vertex(const cutis_vertex_work *w, real3 *p, real3 *n)
{
    dual_turn t = dual_turn_zero();
    largest most = largest_zero();
    sym33 s = sym33_zero();
    for (uint32_t i = 0; i < w->count; i++) {
        const cutis_vertex_bone *bone = &w->bones[w->joints[i]];
        quat rotation;
        sym33 stretch;
        QUAT_AT(rotation, bone->rotation, 0);
        SYM33_AT(stretch, bone->stretch, 0);
        const dual_quat d = dual_of_image(palette_at(w->palette, w->joints[i]), rotation, *p);
        t = dual_turn_add(t, w->weights[i], d);
        most = largest_add(most, w->weights[i], d);
        if (w->normals) s = sym33_blend(s, w->weights[i], stretch);
    }
    const dual_quat d = turn_settled(t.sum, most);
    const REAL f = quat_factor(d.q);
    *p = dual_point_nonuniform(d, f);
    if (!w->normals) return;
    const shaded turned = turned_normal_nonuniform(quat_matrix(d.q, f), s, *n);
    *n = finish_unit(turned.v, turned.sign);
}

void NAME(cutis_vertices_run)(cutis_vertex_work *w, float position[3], float normal[3])
{
    real3 p = real3_make(position[0], position[1], position[2]);
    real3 n = real3_make(normal[0], normal[1], normal[2]);
    if (w->bones)
        dual_vertex(w, &p, &n);
    else
        linear_vertex(w, &p, &n);
    position[0] = p.x, position[1] = p.y, position[2] = p.z;
    normal[0] = n.x, normal[1] = n.y, normal[2] = n.z;
}
