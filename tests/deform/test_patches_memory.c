/// The table of the patches' memory (kernel/patches_fields.h) says the truth: what it calls dead is
/// not read. After every launch all memory is spoiled that no living array covers, and frames keep
/// their bytes; arrays that share memory give the bytes of arrays that do not; and a table that
/// lies about a life is found out.
#include "patches_memory.h"

/// What is done after each launch of the run at hand.
static struct {
    const cutis_device_operations *real;
    const patch_run *run;
    const patch_sizes *sizes;
    const char *liar; ///< an array that is held to die at once, or NULL
    uint64_t launches, spoiled, kept;
} spoiler;

// The last step of the launch of a kernel; 0: not one after which anything dies.
static uint32_t last_step_of(const cutis_compute_kernel *kernel, const patch_arguments *given)
{
    if (kernel == &cutis_compute_patch_overlaps && given->rank < 0) return PATCH_STEP_START;
    // Ranks are launches of one step: what dies with it lives until the last.
    if (kernel == &cutis_compute_patch_bands &&
        given->rank + 1 < (int)patches_of(spoiler.run->patches)->rank_count)
        return PATCH_STEP_START;
    const struct {
        const cutis_compute_kernel *kernel;
        uint32_t step;
    } all[] = {
        { &cutis_compute_patch_joints, PATCH_STEP_JOINTS },
        { &cutis_compute_patch_bands, PATCH_STEP_BANDS },
        { &cutis_compute_patch_overlaps, PATCH_STEP_BACK },
        { &cutis_compute_patch_cut, PATCH_STEP_BORDER },
        { &cutis_compute_patch_rungs, PATCH_STEP_WELD },
        { &cutis_compute_patch_cut_volume, PATCH_STEP_CUT_VOLUME },
        { &cutis_compute_patch_solve, PATCH_STEP_NUMBER },
        { &cutis_compute_patch_rest, PATCH_STEP_REST },
        { &cutis_compute_patch_count, PATCH_STEP_COUNT },
        { &cutis_compute_patch_sum, PATCH_STEP_SUM },
        { &cutis_compute_patch_vertices, PATCH_STEP_VERTICES },
        { &cutis_compute_patch_faces, PATCH_STEP_FACES },
        { &cutis_compute_patch_strips, PATCH_STEP_STRIPS },
        { &cutis_compute_patch_bent, PATCH_STEP_STRIPS },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].kernel == kernel) return all[i].step;
    return 0;
}

// Spoil what is not alive between two steps, in every instance of the workspace.
static void spoil_after(uint32_t step)
{
    const patches_binding *binding = patches_of(spoiler.run->patches);
    char *work = (char *)(uintptr_t)patch_workspace_of(spoiler.run)->work->handle;
    const size_t units = binding->arguments.work_stride;
    uint8_t *living = calloc(units, 1);
    uint32_t count, place;
    const patch_field *fields = cutis_patch_fields(true, &count);
    for (uint32_t i = 0; i < count; i++) {
        const bool lie = spoiler.liar && strcmp(spoiler.liar, fields[i].name) == 0;
        if (fields[i].from > step || fields[i].last <= step || lie) continue;
        memcpy(&place, (const char *)&binding->arguments.at + fields[i].place, sizeof place);
        memset(living + place, 1, patch_field_units(spoiler.sizes, &fields[i]));
    }
    for (uint32_t i = 0; i < spoiler.run->patches->capacity; i++)
        for (size_t u = 0, end; u < units; u = end) {
            for (end = u + 1; end < units && living[end] == living[u];) end++;
            *(living[u] ? &spoiler.kept : &spoiler.spoiled) += end - u;
            if (!living[u])
                memset(work + PATCH_UNIT * (i * units + u), 0xed, PATCH_UNIT * (end - u));
        }
    free(living);
}

static cutis_device_operations spoiling;

static cutis_result run_and_spoil(cutis_device *on, const cutis_compute_kernel *kernel,
                                  uint32_t items, const cutis_buffer *const *buffers,
                                  const void *arguments)
{
    if (kernel == &cutis_compute_patch_parts) spoil_after(PATCH_STEP_REPORT); // the frame before
    on->operations = spoiler.real;
    cutis_result result = cutis_compute_run(on, kernel, items, buffers, arguments);
    on->operations = &spoiling;
    const uint32_t step = last_step_of(kernel, arguments);
    spoiler.launches++;
    if (step && result == CUTIS_OK) spoil_after(step);
    return result;
}

/// Everything a frame gives, as one digest.
static uint64_t frame_digest(patch_run *r)
{
    const size_t vertices = r->info.vertex_capacity, triangles = r->info.triangle_capacity;
    float *rest = calloc(3 * (size_t)cutis_model_vertex_count(r->model), sizeof *rest);
    uint32_t *sources = calloc(4 * vertices, sizeof *sources), *origins = calloc(triangles, 4);
    float *weights = calloc(4 * vertices, sizeof *weights);
    uint64_t digest = 1469598103934665603ull;
    const cutis_outputs outputs = { .positions.data = r->positions,
                                    .normals.data = r->normals,
                                    .topology = { .indices.data = r->indices,
                                                  .labels.data = r->labels,
                                                  .counts.data = r->counts,
                                                  .source_vertices.data = sources,
                                                  .source_weights.data = weights,
                                                  .origins.data = origins,
                                                  .rest_positions.data = rest,
                                                  .reports = r->reports } };
    assert_ok(r->context,
              cutis_deform(r->patches, &(cutis_poses){ .local = r->pose }, 1, &outputs));
    const struct {
        const void *data;
        size_t size;
    } all[] = { { r->counts, sizeof r->counts },
                { r->positions, 12 * (size_t)r->counts[0] },
                { r->normals, 12 * (size_t)r->counts[0] },
                { sources, 16 * (size_t)r->counts[0] },
                { weights, 16 * (size_t)r->counts[0] },
                { r->indices, 12 * (size_t)r->counts[1] },
                { r->labels, 4 * (size_t)r->counts[1] },
                { origins, 4 * (size_t)r->counts[1] },
                { rest, 12 * (size_t)cutis_model_vertex_count(r->model) },
                { r->reports, r->info.joint_count * sizeof *r->reports } };
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t i = 0; i < all[k].size; i++)
            digest = (digest ^ ((const uint8_t *)all[k].data)[i]) * 1099511628211ull;
    free(rest), free(sources), free(origins), free(weights);
    return digest;
}

enum { POSES = 6 };

// All joints at once, harder from pose to pose; the last is rest again, after a frame that left
// everything else behind.
static void take_pose(patch_run *r, uint64_t seed, int pose)
{
    patch_pose_rest(r);
    for (uint32_t j = 0; j < r->info.joint_count && pose < POSES - 1; j++)
        patch_pose_joint(r, j, random_in(seed, 3 * j + 100 * (uint64_t)pose, 0, 6.28),
                         (20 + 25 * pose) * DEGREES *
                             random_in(seed, 3 * j + 1 + 100 * (uint64_t)pose, 0, 1),
                         random_in(seed, 3 * j + 2 + 100 * (uint64_t)pose, -1, 1));
}

static void start_spoiling(const patch_run *r, const patch_sizes *sizes, const char *liar)
{
    spoiler.real = r->device->operations;
    spoiler.run = r;
    spoiler.sizes = sizes;
    spoiler.liar = liar;
    spoiling = *spoiler.real;
    spoiling.compute_run = run_and_spoil;
    r->device->operations = &spoiling;
}

static void stop_spoiling(const patch_run *r)
{
    r->device->operations = spoiler.real;
}

static void dead_memory_is_not_read_and_shared_memory_is_not_mixed_up(void **state)
{
    (void)state;
    for (int which = 0; which < 2; which++)
        for (int removal = 0; removal < 2; removal++)
            for (int fill = 1; fill <= 5; fill++) {
                patch_case_band = which ? CUTIS_PATCH_BAND_GIRTH : CUTIS_PATCH_BAND_NONE;
                patch_run r =
                    patch_run_open(context, device,
                                   make_body(which ? CUTIS_BODY_QUADRUPED : CUTIS_BODY_BIPED, true),
                                   (cutis_patch_removal)removal, (cutis_patch_fill)fill);
                const patch_sizes sizes = patch_sizes_of(&r);
                uint64_t wanted[POSES];
                for (int p = 0; p < POSES; p++) take_pose(&r, 7, p), wanted[p] = frame_digest(&r);
                for (int separate = 0; separate < 2; separate++) {
                    if (separate) patch_run_separate(&r);
                    start_spoiling(&r, &sizes, NULL);
                    for (int p = 0; p < POSES; p++) {
                        take_pose(&r, 7, p);
                        assert_true(frame_digest(&r) == wanted[p]);
                    }
                    stop_spoiling(&r);
                }
                patch_run_close(&r);
            }
    print_message("%llu launches, %.0f %% of the memory dead after one\n",
                  (unsigned long long)spoiler.launches,
                  100.0 * (double)spoiler.spoiled / (double)(spoiler.spoiled + spoiler.kept));
}

static void find_liars(cutis_patch_band band, const char *const *arrays, size_t count)
{
    patch_case_band = band;
    patch_run r = patch_run_open(context, device, make_body(CUTIS_BODY_BIPED, true),
                                 CUTIS_PATCH_CUT, CUTIS_PATCH_FILL_KEEP);
    const patch_sizes sizes = patch_sizes_of(&r);
    take_pose(&r, 7, 2);
    const uint64_t wanted = frame_digest(&r);
    patch_run_separate(&r);
    for (size_t i = 0; i < count; i++) {
        start_spoiling(&r, &sizes, arrays[i]);
        const uint64_t got = frame_digest(&r);
        stop_spoiling(&r);
        if (got == wanted) fail_msg("spoiling %s is not seen", arrays[i]);
    }
    patch_run_close(&r);
}

// What the test above would see: each array that outlives its launch, held to die with it, changes
// the frames.
static void a_table_that_lies_is_found_out(void **state)
{
    (void)state;
    // Of numbers alone: a spoiled index would be followed anywhere.
    static const char *const arrays[] = { "matrix", "sample", "slot_point",
                                          "slot_t", "tries",  "slot_far" };
    static const char *const soft[] = { "matrix", "soft_point", "soft_out" };
    find_liars(CUTIS_PATCH_BAND_NONE, arrays, sizeof arrays / sizeof *arrays);
    find_liars(CUTIS_PATCH_BAND_GIRTH, soft, sizeof soft / sizeof *soft);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dead_memory_is_not_read_and_shared_memory_is_not_mixed_up),
        cmocka_unit_test(a_table_that_lies_is_found_out),
    };
    return cmocka_run_group_tests(tests, open_device, close_device);
}
