/// The memory of a bound body's work (kernel/patches_fields.h), array by array.
#ifndef CUTIS_TESTS_PATCHES_MEMORY_H
#define CUTIS_TESTS_PATCHES_MEMORY_H

#include "deform/patches_binding.h"
#include "deform/patches_pack.h"
#include "patches_device.h"

/// What the arrays of a body are counted by.
typedef struct patch_sizes {
    uint64_t counts[PATCH_COUNTS];
    bool whole; ///< the body is: see patch_arguments
} patch_sizes;

/// Counted by packing the body anew, as cutis_bind did.
static inline patch_sizes patch_sizes_of(const patch_run *r)
{
    cutis_arena arena = { .context = r->context };
    patch_body body;
    patch_pieces parts;
    patch_pack pack;
    patch_sizes sizes;
    const bool band = patches_of(r->patches)->rank_count > 0;
    assert_ok(r->context, cutis_patch_body_read(r->model, &arena, &body));
    assert_ok(r->context, cutis_patch_parts_make(&body, &parts));
    assert_ok(r->context, cutis_patch_shapes_make(&body, &parts));
    assert_ok(r->context, cutis_patch_pack_make(&body, &parts, 0, PATCH_FILL_KEEP, band, &pack));
    memcpy(sizes.counts, pack.counts, sizeof sizes.counts);
    sizes.whole = pack.arguments.whole;
    assert_int_equal(sizes.whole, patches_of(r->patches)->arguments.whole);
    cutis_arena_release(&arena);
    return sizes;
}

/// Units of PATCH_UNIT bytes that an array takes.
static inline uint64_t patch_field_units(const patch_sizes *sizes, const patch_field *field)
{
    return cutis_patch_field_units(field, sizes->counts, sizes->whole);
}

static inline patches_workspace *patch_workspace_of(const patch_run *r)
{
    return (patches_workspace *)atomic_load(&r->patches->workspaces);
}

/// Give every array of the work memory of its own: after a frame, what any step left is there.
static inline void patch_run_separate(patch_run *r)
{
    const patch_sizes sizes = patch_sizes_of(r);
    patches_binding *binding = (patches_binding *)r->patches;
    patches_workspace *workspace = patch_workspace_of(r);
    uint32_t count, at = 0;
    const patch_field *fields = cutis_patch_fields(true, &count);
    for (uint32_t i = 0; i < count; i++) {
        memcpy((char *)&binding->arguments.at + fields[i].place, &at, sizeof at);
        at += (uint32_t)patch_field_units(&sizes, &fields[i]);
    }
    if (!sizes.whole) assert_true(at > binding->arguments.work_stride); // else nothing is shared
    assert_true(at >= binding->arguments.work_stride); // all that a whole body has lives to its end
    binding->arguments.work_stride = at;
    cutis_buffer_destroy(workspace->work);
    assert_ok(r->context,
              cutis_buffer_create(r->device, PATCH_UNIT * (uint64_t)at * r->patches->capacity,
                                  &workspace->work));
}

#endif
