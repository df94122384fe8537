/// Box removals that pinch: a kept vertex whose faces hang together in it alone, or that has none
/// left, goes too. Removals are made up here, and what is left is looked at by the definition, from
/// the faces alone.
#include "deform/patches_binding.h"
#include "device/compute.h"
//
#include "patches_device.h"
//
#include "kernel/patches_cut.h"

/// A part of a bound body, with what the kernels have of it.
typedef struct pinching {
    patch_work w;
    patch_cutting part;
    int entry;
} pinching;

static pinching pinching_open(const patch_run *r, int part)
{
    const patches_binding *binding = patches_of(r->patches);
    const patches_workspace *workspace =
        (const patches_workspace *)atomic_load(&r->patches->workspaces);
    pinching p = { .w = patch_work_of((const char *)(uintptr_t)binding->body->handle,
                                      (char *)(uintptr_t)workspace->work->handle,
                                      &binding->arguments, 0) };
    p.part = patch_cutting_of(p.w, part);
    p.entry = p.part.entry_first;
    for (int v = p.part.first; v < p.part.end; v++) {
        work_state(p.w)[v] = PATCH_KEPT;
        work_owner(p.w)[v] = -1;
    }
    return p;
}

static bool is_removed(const pinching *p, int v)
{
    return work_state(p->w)[v] == PATCH_REMOVED;
}

static void remove_vertex(pinching *p, int v)
{
    work_state(p->w)[v] = PATCH_REMOVED;
    work_owner(p->w)[v] = p->entry;
}

static bool face_is_whole(const pinching *p, const int *v)
{
    return !is_removed(p, v[0]) && !is_removed(p, v[1]) && !is_removed(p, v[2]);
}

// Into how many pieces the whole faces at a vertex fall if they hang together by edges alone.
static int pieces_at(const pinching *p, int vertex)
{
    enum { MOST = 64 };
    const int *faces[MOST];
    int piece[MOST], count = 0, pieces;
    for (int f = body_part_face(p->w)[p->part.part]; f < body_part_face(p->w)[p->part.part + 1];
         f++) {
        const int *v = body_face_vertex(p->w) + 3 * f;
        if ((v[0] != vertex && v[1] != vertex && v[2] != vertex) || !face_is_whole(p, v)) continue;
        assert_true(count < MOST);
        piece[count] = count;
        faces[count++] = v;
    }
    pieces = count;
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) {
            int shared = 0, from = piece[a], to = piece[b];
            for (int k = 0; k < 9; k++) shared += faces[a][k / 3] == faces[b][k % 3];
            if (shared < 2 || from == to) continue;
            pieces--;
            for (int n = 0; n < count; n++)
                if (piece[n] == from) piece[n] = to;
        }
    return pieces;
}

// The n-th vertex that has six neighbours and lies, like them, off the loop.
static int inner_vertex(const pinching *p, int n)
{
    for (int v = p->part.first; v < p->part.end; v++) {
        int on_loop = body_vertex_loop(p->w)[v] >= 0;
        for (int k = body_ring_first(p->w)[v]; k < body_ring_first(p->w)[v + 1]; k++)
            on_loop |= body_vertex_loop(p->w)[body_ring(p->w)[k]] >= 0;
        if (!on_loop && patch_degree(p->w, v) == 6 && n-- == 0) return v;
    }
    fail();
    return -1;
}

static int neighbour(const pinching *p, int v, int k)
{
    return body_ring(p->w)[body_ring_first(p->w)[v] + k];
}

static int clean_up(pinching *p)
{
    return patch_unpinch(p->w, p->part);
}

static int count_removed(const pinching *p)
{
    int count = 0;
    for (int v = p->part.first; v < p->part.end; v++) count += is_removed(p, v);
    return count;
}

static void assert_nothing_pinches(const pinching *p)
{
    for (int v = p->part.first; v < p->part.end; v++)
        if (!is_removed(p, v)) assert_int_equal(pieces_at(p, v), 1);
}

static patch_run open_limb(void)
{
    limb_options limb = { .length = 3, .around = 16, .rings = 24 };
    return patch_run_open(context, device, limb_create(context, &limb), CUTIS_PATCH_BOX,
                          CUTIS_PATCH_FILL_REDUCED);
}

static void a_vertex_that_alone_holds_two_pieces_of_faces_is_removed(void **state)
{
    (void)state;
    patch_run r = open_limb();
    for (int part = 0; part < 2; part++) {
        pinching p = pinching_open(&r, part);
        int v = inner_vertex(&p, 40);
        remove_vertex(&p, neighbour(&p, v, 0));
        remove_vertex(&p, neighbour(&p, v, 3));
        assert_int_equal(pieces_at(&p, v), 2);
        int removed = clean_up(&p);
        assert_true(is_removed(&p, v));
        assert_int_equal(removed, count_removed(&p));
        assert_int_equal(removed, 3);
        assert_nothing_pinches(&p);
    }
    patch_run_close(&r);
}

static void a_vertex_without_a_face_is_removed(void **state)
{
    (void)state;
    patch_run r = open_limb();
    pinching p = pinching_open(&r, 1);
    int v = inner_vertex(&p, 40);
    for (int k = 0; k < 6; k += 2) remove_vertex(&p, neighbour(&p, v, k));
    assert_int_equal(pieces_at(&p, v), 0);
    clean_up(&p);
    assert_true(is_removed(&p, v));
    assert_nothing_pinches(&p);
    patch_run_close(&r);
}

static void nothing_pinches_whatever_was_removed(void **state)
{
    (void)state;
    patch_run r = open_limb();
    int pinched = 0;
    for (uint64_t round = 0; round < 200; round++) {
        pinching p = pinching_open(&r, (int)(round % 2));
        for (int v = p.part.first; v < p.part.end; v++)
            if (random_in(31, 1000 * round + (uint64_t)v, 0, 1) < 0.02 + 0.002 * (double)round / 10)
                remove_vertex(&p, v);
        int before = count_removed(&p), removed = clean_up(&p);
        assert_true(removed >= before);
        assert_int_equal(removed, count_removed(&p));
        pinched += removed > before;
        assert_nothing_pinches(&p);
    }
    print_message("%d of 200 random removals pinched\n", pinched);
    assert_true(pinched > 50);
    patch_run_close(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_vertex_that_alone_holds_two_pieces_of_faces_is_removed),
        cmocka_unit_test(a_vertex_without_a_face_is_removed),
        cmocka_unit_test(nothing_pinches_whatever_was_removed),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
