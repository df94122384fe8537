// Labels of triangles, one whole number a line: the .seg files of the Princeton segmentation
// benchmark. Blank lines are skipped; anything else is refused with its line.
#include "io/format.h"

#include "base/error.h"
#include "base/memory.h"

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

// One line: a number of 0 .. 2^32 - 2, or blank. *found tells which.
static bool read_line(const char **text, const char *end, bool *found, uint32_t *value)
{
    const char *p = *text;
    uint64_t number = 0;
    int digits = 0;
    while (p < end && is_space(*p)) p++;
    for (; p < end && *p >= '0' && *p <= '9' && number < UINT32_MAX; p++, digits++)
        number = 10 * number + (uint64_t)(*p - '0');
    while (p < end && is_space(*p)) p++;
    if ((p < end && *p != '\n') || number >= UINT32_MAX) return false;
    *text = p < end ? p + 1 : p;
    *found = digits > 0;
    *value = (uint32_t)number;
    return true;
}

cutis_result cutis_part_labels_parse(const cutis_input *input, uint32_t **labels, uint64_t *count)
{
    cutis_context *context = input->context;
    size_t used = 0, capacity = 0;
    uint32_t *list = NULL;
    cutis_result result = CUTIS_OK;
    const char *text = input->data, *end = text + input->size;
    for (uint64_t line = 1; text < end && result == CUTIS_OK; line++) {
        bool found;
        uint32_t value;
        if (!read_line(&text, end, &found, &value))
            result = cutis_fail(context, CUTIS_CORRUPT_DATA,
                                "%s: line %llu: want one whole number, the part of a triangle",
                                input->name, (unsigned long long)line);
        else if (found && !cutis_grow(context, &list, &capacity, used + 1, sizeof *list))
            result = cutis_alloc_result(context);
        else if (found)
            list[used++] = value;
    }
    if (result == CUTIS_OK && used == 0)
        result = cutis_fail(context, CUTIS_CORRUPT_DATA, "%s: no labels", input->name);
    if (result == CUTIS_OK) { // the caller releases by count
        *labels = cutis_alloc(context, used * sizeof *list + 1);
        if (!*labels) result = cutis_alloc_result(context);
        for (size_t i = 0; i < used && *labels; i++) (*labels)[i] = list[i];
        *count = used;
    }
    cutis_free_array(context, list, capacity, sizeof *list);
    return result;
}

cutis_result cutis_part_labels_read(cutis_context *context, const char *path, uint32_t **labels,
                                    uint64_t *count)
{
    if (!context || !path || !labels || !count) return CUTIS_INVALID_ARGUMENT;
    cutis_input input;
    cutis_result result = cutis_input_open(context, path, NULL, &input);
    if (result == CUTIS_OK) result = cutis_part_labels_parse(&input, labels, count);
    cutis_input_close(&input);
    return result;
}
