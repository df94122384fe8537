// Buffered atomic output, and the scene at rest that OBJ and PLY write. Invariant: after a failure
// nothing more is written and finish returns that failure, so no half file ever appears.
#include "io/output.h"
#include "io/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cutis/clip.h>

#include "base/error.h"
#include "base/os/os.h"
#include "model/object.h"

cutis_output *cutis_output_begin(cutis_context *context, const char *path, cutis_result *result)
{
    cutis_output *output = cutis_alloc(context, sizeof *output);
    if (!output) {
        *result = cutis_alloc_result(context);
        return NULL;
    }
    output->context = context;
    output->write = NULL;
    output->used = 0;
    output->result = *result = cutis_os_write_begin(context, path, &output->write);
    if (*result == CUTIS_OK) return output;
    cutis_output_abort(output);
    return NULL;
}

static void flush(cutis_output *output)
{
    if (output->result == CUTIS_OK && output->used)
        output->result = cutis_os_write_append(output->write, output->buffer, output->used);
    output->used = 0;
}

void cutis_output_bytes(cutis_output *output, const void *data, size_t size)
{
    const char *at = data;
    while (size) {
        size_t space = sizeof output->buffer - output->used, part = size < space ? size : space;
        memcpy(output->buffer + output->used, at, part);
        output->used += part;
        at += part;
        size -= part;
        if (output->used == sizeof output->buffer) flush(output);
    }
}

void cutis_output_text(cutis_output *output, const char *text)
{
    cutis_output_bytes(output, text, strlen(text));
}

static void put_char(cutis_output *output, char c)
{
    if (c) cutis_output_bytes(output, &c, 1);
}

void cutis_output_float(cutis_output *output, char before, float value)
{
    char text[CUTIS_NUMBER_SIZE];
    put_char(output, before);
    cutis_output_bytes(output, text, cutis_format_float(value, text));
}

void cutis_output_double(cutis_output *output, char before, double value)
{
    char text[CUTIS_NUMBER_SIZE];
    put_char(output, before);
    cutis_output_bytes(output, text, cutis_format_double(value, text));
}

void cutis_output_count(cutis_output *output, char before, uint64_t value)
{
    char text[24];
    put_char(output, before);
    cutis_output_bytes(output, text,
                       (size_t)snprintf(text, sizeof text, "%llu", (unsigned long long)value));
}

void cutis_output_name(cutis_output *output, const char *name)
{
    for (; *name; name++) put_char(output, (unsigned char)*name < 32 || *name == 127 ? '_' : *name);
}

cutis_result cutis_output_finish(cutis_output *output)
{
    return cutis_output_finish_both(NULL, output);
}

cutis_result cutis_output_finish_both(cutis_output *beside, cutis_output *output)
{
    if (beside) flush(beside);
    flush(output);
    cutis_result result = beside ? beside->result : CUTIS_OK;
    if (result == CUTIS_OK) result = output->result;
    if (result == CUTIS_OK) {
        result = cutis_os_write_commit_both(beside ? beside->write : NULL, output->write);
        output->write = NULL;
        if (beside) beside->write = NULL;
    }
    cutis_output_abort(beside);
    cutis_output_abort(output);
    return result;
}

void cutis_output_abort(cutis_output *output)
{
    if (!output) return;
    cutis_os_write_abort(output->write);
    cutis_free(output->context, output, sizeof *output);
}

// The scene at rest ------------------------------------------------------------------------------

static bool is_identity(const cutis_mat34 *m)
{
    static const float IDENTITY[12] = { 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0 };
    for (int i = 0; i < 12; i++)
        if (m->m[i] != IDENTITY[i]) return false;
    return true;
}

cutis_result cutis_shown_list(const cutis_model *model, cutis_arena *arena, const char *path,
                              const char *format, cutis_shown **out, uint32_t *count)
{
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_instance *instances;
    uint32_t instance_count = cutis_model_instances(model, &instances), k = 0;
    *count = 0;
    for (uint32_t i = 0; i < instance_count; i++)
        *count += data->meshes[instances[i].mesh].primitive_count;
    cutis_transform *pose = cutis_arena_alloc(arena, data->node_count, sizeof *pose);
    cutis_mat34 *world = cutis_arena_alloc(arena, data->node_count, sizeof *world);
    cutis_shown *shown = *out = cutis_arena_alloc(arena, *count, sizeof *shown);
    if (!pose || !world || !shown) return cutis_alloc_result(arena->context);
    if (*count == 0)
        return cutis_fail(arena->context, CUTIS_UNSUPPORTED,
                          "%s: %s holds meshes, and the model has none", path, format);
    cutis_pose_rest(model, pose, NULL);
    cutis_pose_world(model, pose, world);
    for (uint32_t i = 0; i < instance_count; i++) {
        uint32_t first = instances[i].vertex_first;
        const cutis_mesh *mesh = &data->meshes[instances[i].mesh];
        const cutis_mat34 *matrix = &world[instances[i].node];
        const bool moved = instances[i].skin == CUTIS_NONE && !is_identity(matrix);
        const bool mirrored = moved && cutis_instance_mirrored(data, &instances[i]);
        for (uint32_t p = 0; p < mesh->primitive_count; p++) {
            shown[k++] = (cutis_shown){ &instances[i], mesh,    &mesh->primitives[p], first, moved,
                                        *matrix,       mirrored };
            first += mesh->primitives[p].vertex_count;
        }
    }
    return CUTIS_OK;
}

uint32_t cutis_shown_corner(const cutis_shown *shown, size_t k)
{
    return cutis_corner_of(shown->primitive, shown->mirrored, k);
}

// Normals go through the cofactor matrix, which is right under nonuniform scale; a mirror's turns
// them inside.
static void move_normal(const float *m, bool mirrored, float n[3])
{
    double out[3], length = 0;
    for (int r = 0; r < 3; r++) {
        const float *u = m + 4 * ((r + 1) % 3), *v = m + 4 * ((r + 2) % 3);
        out[r] = 0;
        for (int c = 0; c < 3; c++) {
            int a = (c + 1) % 3, b = (c + 2) % 3;
            out[r] += ((double)u[a] * v[b] - (double)u[b] * v[a]) * n[c];
        }
        length += out[r] * out[r];
    }
    length = sqrt(length);
    if (!(length > 0)) return;
    for (int r = 0; r < 3; r++) n[r] = (float)((mirrored ? -out[r] : out[r]) / length);
}

void cutis_shown_vertex(const cutis_shown *shown, uint32_t vertex, float position[3],
                        float normal[3])
{
    const cutis_primitive *primitive = shown->primitive;
    memcpy(position, primitive->positions + 3 * (size_t)vertex, 3 * sizeof(float));
    if (primitive->normals)
        memcpy(normal, primitive->normals + 3 * (size_t)vertex, 3 * sizeof(float));
    if (!shown->moved) return;
    cutis_float3 p =
        cutis_mat34_point(&shown->matrix, (cutis_float3){ position[0], position[1], position[2] });
    position[0] = p.x;
    position[1] = p.y;
    position[2] = p.z;
    if (primitive->normals) move_normal(shown->matrix.m, shown->mirrored, normal);
}
