// Memory of the patches: largest field first, each at the lowest place where no field lies that
// lives at the same time. Invariant: places depend on the counts alone.
#include "deform/patches_pack.h"

#include <stddef.h>
#include <string.h>

#define ROW(name, size, of, begin, end, place)                                                     \
    { name, size, of, PATCH_STEP_##begin, PATCH_STEP_##end, offsetof(patch_places, place) },
#define BODY_ROW(name, type, width, of)                                                            \
    ROW(#name, (width) * sizeof(type), PATCH_##of, PARTS, REPORT, body_##name)
#define WORK_ROW(name, type, width, of, begin, end)                                                \
    ROW(#name, (width) * sizeof(type), PATCH_##of, begin, end, work_##name)

static const patch_field BODY[] = { PATCH_BODY_FIELDS(BODY_ROW) };
static const patch_field WORK[] = { PATCH_WORK_FIELDS(WORK_ROW) };
enum { BODY_COUNT = sizeof BODY / sizeof *BODY, WORK_COUNT = sizeof WORK / sizeof *WORK };

const patch_field *cutis_patch_fields(bool work, uint32_t *count)
{
    *count = work ? WORK_COUNT : BODY_COUNT;
    return work ? WORK : BODY;
}

/// A field that has its place.
typedef struct placed {
    const patch_field *field;
    uint64_t begin, end; ///< units
} placed;

uint64_t cutis_patch_field_units(const patch_field *field, const uint64_t *counts, bool whole)
{
    if (whole && field->from > PATCH_STEP_BACK) return 0; // made by what whole bodies leave out
    return (field->size * counts[field->count] + PATCH_UNIT - 1) / PATCH_UNIT;
}

// The last step of the launch that a step is part of.
static uint32_t launch_of(uint32_t step)
{
    static const uint8_t ends[] = { PATCH_STEP_PARTS,  PATCH_STEP_JOINTS, PATCH_STEP_BANDS,
                                    PATCH_STEP_BORDER, PATCH_STEP_WELD,   PATCH_STEP_CUT_VOLUME,
                                    PATCH_STEP_NUMBER };
    for (size_t k = 0; k < sizeof ends; k++)
        if (step <= ends[k]) return ends[k];
    return step; // from here on every step is a launch
}

static bool may_share(const placed *a, const patch_field *b, uint64_t at, uint64_t units)
{
    const patch_field *f = a->field;
    if (at >= a->end || at + units <= a->begin) return true;
    if (launch_of(f->last) < launch_of(b->from) || launch_of(b->last) < launch_of(f->from))
        return true;
    return at == a->begin && f->size == b->size && f->count == b->count &&
           (f->last < b->from || b->last < f->from);
}

// The lowest place of `units`. Candidates are 0, and where what is placed begins and ends.
static uint64_t find_place(const placed *done, uint32_t count, const patch_field *field,
                           uint64_t units)
{
    uint64_t best = UINT64_MAX;
    for (uint32_t c = 0; c <= 2 * count; c++) {
        const uint64_t at = c == 2 * count ? 0 : c % 2 ? done[c / 2].end : done[c / 2].begin;
        bool free = at < best;
        for (uint32_t i = 0; i < count && free; i++) free = may_share(&done[i], field, at, units);
        if (free) best = at;
    }
    return best;
}

bool cutis_patch_places(bool work, const uint64_t *counts, bool whole, patch_places *places,
                        unsigned *units)
{
    uint32_t count;
    const patch_field *fields = cutis_patch_fields(work, &count);
    placed done[BODY_COUNT > WORK_COUNT ? BODY_COUNT : WORK_COUNT];
    bool taken[sizeof done / sizeof *done] = { false };
    uint64_t needs[sizeof done / sizeof *done], size = 0;
    for (uint32_t i = 0; i < count; i++)
        needs[i] = cutis_patch_field_units(&fields[i], counts, whole);
    for (uint32_t n = 0; n < count; n++) {
        uint32_t next = count;
        for (uint32_t i = 0; i < count; i++) // the first of the largest
            if (!taken[i] && (next == count || needs[i] > needs[next])) next = i;
        const uint64_t need = needs[next];
        const uint64_t at = find_place(done, n, &fields[next], need);
        if (at + need > UINT32_MAX) return false;
        taken[next] = true;
        done[n] = (placed){ &fields[next], at, at + need };
        size = at + need > size ? at + need : size;
        const unsigned place = (unsigned)at;
        memcpy((char *)places + fields[next].place, &place, sizeof place);
    }
    *units = (unsigned)size;
    return true;
}
