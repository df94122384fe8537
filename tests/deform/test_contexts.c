/// Errors of calls whose objects have different contexts, and of contexts that come and go.
#include "support.h"

// An allocator that fails at will, and gives a destroyed context's address to the next one.
typedef struct {
    bool empty;
    _Alignas(64) char context[4096];
    bool taken;
} memory;

static void *allocate(void *user, size_t size, size_t alignment)
{
    memory *m = user;
    if (m->empty) return NULL;
    if (!m->taken && size <= sizeof m->context) {
        m->taken = true;
        return m->context;
    }
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void release(void *user, void *block, size_t size)
{
    memory *m = user;
    (void)size;
    if (block == m->context)
        m->taken = false;
    else
        free(block);
}

static cutis_context *context_of(memory *m)
{
    cutis_context *context = NULL;
    cutis_context_options options = { .allocator = { allocate, release, m } };
    assert_int_equal(cutis_context_create(&options, &context), CUTIS_OK);
    return context;
}

static void a_new_context_has_no_error(void **state)
{
    (void)state;
    memory m = { 0 };
    cutis_device *device = NULL;
    cutis_context *old = context_of(&m);
    assert_int_not_equal(cutis_device_create(old, &(cutis_device_options){ .kind = 77 }, &device),
                         CUTIS_OK);
    assert_string_not_equal(cutis_context_error(old), "");
    cutis_context_destroy(old);
    cutis_context *next = context_of(&m);
    assert_ptr_equal(next, old); // the address came back
    assert_string_equal(cutis_context_error(next), "");
    cutis_context_destroy(next);
}

typedef struct {
    cutis_context *ours, *theirs;
    cutis_model *model;
    cutis_device *device;
    memory m;
} pair;

static void open_pair(pair *p)
{
    *p = (pair){ 0 };
    assert_int_equal(cutis_context_create(NULL, &p->ours), CUTIS_OK);
    p->theirs = context_of(&p->m);
    cutis_synth_options arm = { .body = CUTIS_BODY_ARM, .vertex_count = 1000 };
    assert_int_equal(cutis_synth_create(p->ours, &arm, &p->model), CUTIS_OK);
    assert_int_equal(
        cutis_device_create(p->theirs, &(cutis_device_options){ .thread_count = 1 }, &p->device),
        CUTIS_OK);
    p->m.empty = true; // what the call needs of the device's context, it does not get
}

static void close_pair(pair *p)
{
    cutis_device_destroy(p->device);
    cutis_model_destroy(p->model);
    cutis_context_destroy(p->theirs);
    cutis_context_destroy(p->ours);
}

static void errors_are_in_the_context_of_the_first_argument(void **state)
{
    (void)state;
    pair p;
    cutis_model *made = NULL;
    cutis_binding *binding = NULL;
    open_pair(&p);
    assert_int_equal(cutis_bind(p.device, p.model, NULL, &binding), CUTIS_OUT_OF_MEMORY);
    assert_string_not_equal(cutis_context_error(p.theirs), "");
    assert_string_equal(cutis_context_error(p.ours), "");
    assert_int_equal(cutis_handles_skeleton(p.model, p.device, NULL, &made, NULL),
                     CUTIS_OUT_OF_MEMORY);
    assert_string_not_equal(cutis_context_error(p.ours), "");
    assert_string_equal(cutis_context_error(p.theirs), "");
    assert_null(made);
    close_pair(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_context_has_no_error),
        cmocka_unit_test(errors_are_in_the_context_of_the_first_argument),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
