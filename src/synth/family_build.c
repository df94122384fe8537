/// What the builders of the kinds share: draws, bones, flesh, turns, and the rest pose. Every draw
/// is the hash of (seed, stream, index), so a body never depends on another.
#include "synth/family.h"

#include <stdio.h>
#include <stdlib.h>

/// A round cone whose radii differ by more than this of its length is no cone any more.
static const double SLOPE_MAX = 0.9;
/// Points along a cone where its distance to other flesh is measured.
enum { CLEAR_SAMPLES = 9 };
/// mm between what must not grow together: two cells of the grid and some air.
static const double CLEAR_LEAST = 14;

double cutis_family_draw(family *f, double low, double high)
{
    return low + (high - low) * cutis_random_unit(f->seed, f->stream, f->index++);
}

double cutis_family_flesh(const family *f, double low, double high)
{
    return low + (high - low) * f->plump;
}

static void sided_name(char *out, const char *name, int side)
{
    snprintf(out, 24, "%s%s", name, side > 0 ? "_l" : side < 0 ? "_r" : "");
}

int cutis_family_part(family *f, const char *name, int side)
{
    sided_name(f->parts[f->part_count], name, side);
    return f->part_count++;
}

int cutis_family_bone(family *f, const char *name, int side, int parent, vec3 pivot, double blend)
{
    family_bone *bone = &f->bones[f->bone_count];
    *bone = (family_bone){
        .parent = parent, .side = side, .pivot = pivot, .blend = blend, .turn = { 0, 0, 0, 1 }
    };
    sided_name(bone->name, name, side);
    return f->bone_count++;
}

void cutis_family_limb(family *f)
{
    f->limb = ++f->limb_count;
    f->place = 0;
}

void cutis_family_trunk(family *f)
{
    f->limb = f->place = 0;
}

static void add_row(family *f, int bone, int part, const synth_row *row)
{
    f->rows[f->flesh_count] = *row;
    f->flesh[f->flesh_count++] = (family_flesh){ bone, part, f->limb, f->place++ };
}

void cutis_family_flat(family *f, int bone, int part, vec3 a, double ra, vec3 b, double rb,
                       double k, double flat, vec3 axis)
{
    synth_row row = { .kind = SYNTH_CONE, .ra = ra, .rb = rb, .k = k, .flat = flat };
    double most = SLOPE_MAX * v3_distance(a, b);
    if (ra - rb > most) row.rb = ra - most;
    if (rb - ra > most) row.ra = rb - most;
    v3_put(a, row.a);
    v3_put(b, row.b);
    v3_put(axis, row.axis);
    add_row(f, bone, part, &row);
}

void cutis_family_cone(family *f, int bone, int part, vec3 a, double ra, vec3 b, double rb,
                       double k)
{
    cutis_family_flat(f, bone, part, a, ra, b, rb, k, 1, v3(0, 0, 0));
}

void cutis_family_blob(family *f, int bone, int part, vec3 centre, vec3 radii, double k,
                       double pitch)
{
    synth_row row = { .kind = SYNTH_BLOB, .k = k, .axis = { pitch, 0, 0 }, .flat = 1 };
    v3_put(centre, row.a);
    v3_put(radii, row.b);
    add_row(f, bone, part, &row);
}

void cutis_family_turn(family *f, int bone, vec3 degrees)
{
    family_bone *b = &f->bones[bone];
    if (b->side < 0) degrees = v3(degrees.x, -degrees.y, -degrees.z);
    b->turn = cutis_synth_quat_multiply(cutis_synth_rotation(degrees), b->turn);
}

/// Where a primitive's point or direction goes with its bone.
static vec3 carried(const family_bone *b, vec3 neutral, vec3 x)
{
    return v3_add(b->pivot, cutis_synth_quat_rotate(b->turn, v3_sub(x, neutral)));
}

void cutis_family_pose_shape(family *f, shape *s)
{
    vec3 neutral[SYNTH_JOINT_MAX];
    for (int j = 0; j < f->bone_count; j++) {
        family_bone *b = &f->bones[j];
        neutral[j] = b->pivot;
        if (b->parent < 0) continue;
        const family_bone *up = &f->bones[b->parent];
        b->pivot = carried(up, neutral[b->parent], b->pivot);
        b->turn = cutis_synth_quat_multiply(up->turn, b->turn);
    }
    for (int i = 0; i < s->count; i++) {
        shape_primitive *p = &s->primitives[i];
        int bone = f->flesh[i].bone;
        const family_bone *b = &f->bones[bone];
        p->centre = carried(b, neutral[bone], p->centre);
        p->a = carried(b, neutral[bone], p->a);
        p->u = cutis_synth_quat_rotate(b->turn, p->u);
        p->w = cutis_synth_quat_rotate(b->turn, p->w);
        for (int k = 0; k < 3; k++) p->axes[k] = cutis_synth_quat_rotate(b->turn, p->axes[k]);
    }
}

/// May the two touch: neighbours in a limb, the start of a limb and the trunk or another's start?
static bool may_touch(const family_flesh *a, const family_flesh *b)
{
    if (a->bone == b->bone) return true;
    if (a->limb == b->limb) return a->limb == 0 || abs(a->place - b->place) < 3;
    if (a->limb != 0 && b->limb != 0) return a->place == 0 && b->place == 0;
    return (a->limb == 0 ? b : a)->place == 0;
}

/// Does cone i keep clear of flesh j, the second of a limb with its outer half? A flattened cone
/// counts by its thickness.
static bool keeps_clear(const family *f, const shape *s, int i, int j)
{
    const shape_primitive *p = &s->primitives[i];
    double air = s->primitives[j].k / 2;
    if (air < CLEAR_LEAST) air = CLEAR_LEAST;
    bool outer = f->flesh[j].limb == 0 && f->flesh[i].place == 1;
    for (int n = outer ? CLEAR_SAMPLES / 2 : 0; n < CLEAR_SAMPLES; n++) {
        double t = p->length * n / (CLEAR_SAMPLES - 1);
        double gap = cutis_synth_shape_piece(s, j, v3_mad(p->a, t, p->u));
        if (gap - (p->ra - p->slope * t) * f->rows[i].flat < air) return false;
    }
    return true;
}

bool cutis_family_is_clear(const family *f, const shape *s)
{
    for (int j = 1; j < f->flesh_count; j++) {
        for (int i = 0; i < j; i++) {
            if (may_touch(&f->flesh[i], &f->flesh[j])) continue;
            bool cone = f->rows[j].kind == SYNTH_CONE;
            if (!cone && f->rows[i].kind != SYNTH_CONE) continue;
            if (!keeps_clear(f, s, cone ? j : i, cone ? i : j)) return false;
        }
    }
    return true;
}
