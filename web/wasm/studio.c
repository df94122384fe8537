/// The flat interface the page calls: numbers and addresses only. Everything goes through
/// include/cutis; the page owns what it creates and destroys it. What is flat in the library
/// already is called there (CMakeLists.txt).
///
/// Invariant: a function that makes something returns its address, or 0 with the reason in
/// studio_error. Counts of caller memory are the page's duty, as they are in C.
#include "studio.h"

#include <cutis/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cutis_context *context;
static cutis_device *exact, *fast;
static char failure[4096];
static char notes[8192]; // lines; the last ones are lost where there are too many

/// Imported from the page: how far a long job is; 0 stops it.
__attribute__((import_module("studio"), import_name("progress"))) extern int
page_progress(const char *stage, double fraction);

static bool tell_progress(void *user, const char *stage, double fraction)
{
    (void)user;
    return page_progress(stage, fraction) != 0;
}

static void keep_note(void *user, const char *line)
{
    (void)user;
    const size_t used = strlen(notes);
    snprintf(notes + used, sizeof notes - used, "%s\n", line);
}

bool good(cutis_result result)
{
    if (result == CUTIS_OK) return true;
    const char *why = cutis_context_error(context);
    snprintf(failure, sizeof failure, "%s", why && *why ? why : cutis_result_text(result));
    return false;
}

cutis_device *exact_device(void)
{
    return exact;
}

int EXPORT(studio_start)(void)
{
    cutis_context_options options = { .progress = tell_progress, .log = keep_note };
    if (cutis_context_create(&options, &context) != CUTIS_OK) return 0;
    return good(cutis_device_create(context, &(cutis_device_options){ .isa = CUTIS_ISA_WASM },
                                    &exact)) &&
           good(cutis_device_create(context, &(cutis_device_options){ .isa = CUTIS_ISA_WASM_FAST },
                                    &fast));
}

const char *EXPORT(studio_error)(void)
{
    return failure;
}

/// The methods: a line each of number, name, what it needs (CUTIS_NEEDS_...), title and help, with
/// tabs between.
const char *EXPORT(studio_methods)(void)
{
    static char text[2048];
    size_t used = 0;
    const cutis_method_info *info;
    for (int i = 0; (info = cutis_method_describe((cutis_method)i)) && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%d\t%s\t%u\t%s\t%s\n", i,
                                 info->name, (unsigned)info->needs, info->title, info->help);
    return used < sizeof text ? text : "";
}

void *EXPORT(studio_allocate)(uint32_t size)
{
    return malloc(size ? size : 1);
}

void EXPORT(studio_free)(void *memory)
{
    free(memory);
}

/// Bytes that the library has allocated and not freed.
double EXPORT(studio_memory)(void)
{
    return (double)cutis_context_memory(context);
}

// Models ----------------------------------------------------------------------------------------

/// A file of any format, from the memory's files. `up` and `units` as cutis_up and cutis_units.
cutis_model *EXPORT(studio_open)(const char *path, uint32_t up, uint32_t units)
{
    cutis_model *model = NULL;
    const cutis_read_options options = { .struct_size = sizeof options,
                                         .keep_source = true,
                                         .up = (cutis_up)up,
                                         .units = (cutis_units)units };
    notes[0] = 0;
    if (!good(cutis_model_read(context, path, &options, &model))) return NULL;
    const cutis_issue *issues;
    const uint32_t count = cutis_model_issues(model, &issues);
    for (uint32_t i = 0; i < count; i++) {
        char line[512];
        snprintf(line, sizeof line, "%s: %s", issues[i].place, issues[i].text);
        keep_note(NULL, line);
    }
    return model;
}

/// What reading the last file put right or guessed, a line each.
const char *EXPORT(studio_notes)(void)
{
    return notes;
}

/// What the file held stays, but for what was changed since. `weights` as cutis_weight_format.
int EXPORT(studio_save)(const cutis_model *model, const char *path, uint32_t weights)
{
    return good(cutis_model_write(
        model, path, &(cutis_write_options){ .weights = (cutis_weight_format)weights }));
}

// Clips -----------------------------------------------------------------------------------------

cutis_sampler *EXPORT(studio_sampler_create)(const cutis_model *model, uint32_t clip)
{
    cutis_sampler *sampler = NULL;
    return good(cutis_sampler_create(model, clip, &sampler)) ? sampler : NULL;
}

// Deforming -------------------------------------------------------------------------------------

cutis_binding *EXPORT(studio_bind)(const cutis_model *model, uint32_t method, uint32_t weighted,
                                   uint32_t max_influences, uint32_t bits)
{
    cutis_binding *binding = NULL;
    const cutis_bind_options options = { .method = (cutis_method)method,
                                         .normals = true,
                                         .weighted_centres = weighted != 0,
                                         .max_influences = max_influences };
    return good(cutis_bind(bits ? exact : fast, model, &options, &binding)) ? binding : NULL;
}

/// World-space positions and normals (NULL: not wanted) of one pose.
int EXPORT(studio_deform)(const cutis_binding *binding, const cutis_transform *pose,
                          const float *morphs, float *positions, float *normals)
{
    const cutis_poses poses = { .local = pose, .morph_weights = morphs };
    const cutis_outputs outputs = { .positions = { .data = positions },
                                    .normals = { .data = normals } };
    return good(cutis_deform(binding, &poses, 1, &outputs));
}

/// Two results of the same model: out gets position rms and max (% of the rest diagonal), normal
/// rms and max (radians).
int EXPORT(studio_compare)(const cutis_model *model, const uint32_t *indices, const float *rest,
                           const float *positions, const float *reference, double *out)
{
    cutis_difference difference;
    const cutis_surface surface = { .vertex_count = cutis_model_vertex_count(model),
                                    .triangle_count = cutis_model_triangle_count(model),
                                    .positions = rest,
                                    .indices = indices };
    if (!good(cutis_surface_compare(context, &surface, positions, reference, &difference)))
        return 0;
    out[0] = difference.position_rms;
    out[1] = difference.position_max;
    out[2] = difference.normal_rms;
    out[3] = difference.normal_max;
    return 1;
}

double EXPORT(studio_volume)(const cutis_model *model, const uint32_t *indices,
                             const float *positions)
{
    return cutis_surface_volume(
        &(cutis_surface){ .vertex_count = cutis_model_vertex_count(model),
                          .triangle_count = cutis_model_triangle_count(model),
                          .positions = positions,
                          .indices = indices });
}

// Fitting ---------------------------------------------------------------------------------------

/// The model with the `influences` largest weights of each vertex.
cutis_model *EXPORT(studio_limit)(const cutis_model *model, uint32_t influences)
{
    cutis_model *limited = NULL;
    return good(cutis_weights_limit(model, influences, &limited)) ? limited : NULL;
}

/// A live session on a model, which must outlive it: handles move, weights follow.
/// virtual_ones: with virtual handles, which the method HANDLES_RIGID moves
cutis_handle_session *EXPORT(studio_handles_open)(const cutis_model *model, uint32_t voxels,
                                                  bool virtual_ones)
{
    cutis_handle_session *session = NULL;
    const cutis_handles_options options = {
        .voxels = voxels,
        .influences = 8,
        .weighting = virtual_ones ? CUTIS_WEIGHTING_VIRTUAL : CUTIS_WEIGHTING_FIELD,
    };
    return good(cutis_handle_session_create(model, fast, &options, &session)) ? session : NULL;
}

/// The model with weights for `count` handles (from, to: 6 floats each, world space of the rest
/// pose; a point where both are one place, else a bar). domain: its voxels.
cutis_model *EXPORT(studio_handles_set)(cutis_handle_session *session, const cutis_float3 *ends,
                                        uint32_t count, double *domain)
{
    cutis_model *posed = NULL;
    cutis_handle *handles = calloc(count ? count : 1, sizeof *handles);
    char(*names)[24] = calloc(count ? count : 1, sizeof *names);
    cutis_result result = handles && names ? CUTIS_OK : CUTIS_OUT_OF_MEMORY;
    for (uint32_t i = 0; result == CUTIS_OK && i < count; i++) {
        snprintf(names[i], sizeof names[i], "handle %u", i + 1);
        const cutis_float3 from = ends[2 * i], to = ends[2 * i + 1];
        const bool bar = from.x != to.x || from.y != to.y || from.z != to.z;
        handles[i] = (cutis_handle){ .name = names[i],
                                     .kind = bar ? CUTIS_HANDLE_BAR : CUTIS_HANDLE_POINT,
                                     .from = from,
                                     .to = to };
    }
    if (result == CUTIS_OK) result = cutis_handles_set(session, handles, count);
    if (result == CUTIS_OK) result = cutis_handles_finish(session, NULL, 0, &posed);
    if (result == CUTIS_OK) {
        const cutis_handles_report *report = cutis_handles_look(session).report;
        *domain = report ? (double)report->domain_voxels : 0;
    }
    free(handles);
    free(names);
    return good(result) ? posed : NULL;
}
