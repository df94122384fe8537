/// Bone sets: which bones act together on some vertex. Centres are solved once per set, and blocks
/// are packed by set.
#include "base/error.h"
#include "base/memory.h"
#include "deform/skin.h"

#include <string.h>

/// The point the least squares of a set refer to: mean of the rest origins, or the world origin as
/// in the paper.
static void set_reference(const cutis_skin_binding *binding, uint32_t set, double *reference)
{
    uint32_t first = binding->set_first[set], count = binding->set_first[set + 1] - first;
    reference[0] = reference[1] = reference[2] = 0.0;
    if (binding->base.options.paper.centres) return;
    for (uint32_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            reference[c] += binding->origins[3 * (size_t)binding->set_bone[first + i] + c];
    for (int c = 0; c < 3; c++) reference[c] /= count;
}

/// One group of `used` sets of `count` bones; the last is repeated.
static void fill_group(cutis_skin_binding *binding, const uint32_t *sets, uint32_t used,
                       uint32_t count)
{
    uint32_t group = binding->group_count++, at = binding->group_first[group];
    for (uint32_t lane = 0; lane < CUTIS_CENTRE_LANES; lane++) {
        uint32_t set = sets[lane < used ? lane : used - 1];
        double reference[3];
        set_reference(binding, set, reference);
        binding->group_set[CUTIS_CENTRE_LANES * (size_t)group + lane] = set;
        for (uint32_t c = 0; c < 3; c++)
            binding->group_reference[CUTIS_CENTRE_LANES * (3 * (size_t)group + c) + lane] =
                reference[c];
        for (uint32_t i = 0; i < count; i++)
            binding->group_bone[CUTIS_CENTRE_LANES * (size_t)(at + i) + lane] =
                binding->set_bone[binding->set_first[set] + i];
    }
    binding->group_size[group] = used;
    binding->group_first[group + 1] = at + count;
}

/// Sets of equal size together, sizes ascending, first-seen order within a size.
static cutis_result group_sets(cutis_skin_binding *binding)
{
    uint32_t sets = binding->set_count, most = binding->max_influences;
    size_t groups = (size_t)sets / CUTIS_CENTRE_LANES + most + 1, places = 0;
    for (uint32_t set = 0; set < sets; set++)
        places += binding->set_first[set + 1] - binding->set_first[set];
    places = places / CUTIS_CENTRE_LANES + (size_t)most * (most + 1) / 2 + most +
             1; // a last group of every size
    binding->group_first = cutis_binding_alloc(&binding->base, groups + 1, sizeof(uint32_t));
    binding->group_size = cutis_binding_alloc(&binding->base, groups, sizeof(uint32_t));
    binding->group_set =
        cutis_binding_alloc(&binding->base, groups, CUTIS_CENTRE_LANES * sizeof(uint32_t));
    binding->group_bone =
        cutis_binding_alloc(&binding->base, places, CUTIS_CENTRE_LANES * sizeof(uint32_t));
    binding->group_reference =
        cutis_binding_alloc(&binding->base, groups, 3 * CUTIS_CENTRE_LANES * sizeof(double));
    if (!binding->group_first || !binding->group_size || !binding->group_set ||
        !binding->group_bone || !binding->group_reference)
        return cutis_alloc_result(binding->base.context);
    for (uint32_t size = 2; size <= most; size++) {
        uint32_t lanes[CUTIS_CENTRE_LANES], used = 0;
        for (uint32_t set = 0; set < sets; set++) {
            if (binding->set_first[set + 1] - binding->set_first[set] != size) continue;
            lanes[used++] = set;
            if (used < CUTIS_CENTRE_LANES) continue;
            fill_group(binding, lanes, used, size);
            used = 0;
        }
        if (used > 0) fill_group(binding, lanes, used, size);
    }
    return CUTIS_OK;
}

/// The set of every vertex; neighbours in a file mostly have the same one.
static bool find_sets(cutis_skin_binding *binding, cutis_sets *table, uint32_t *vertex_set)
{
    const cutis_skin_layout *layout = &binding->layout;
    const uint32_t *last = NULL;
    uint32_t last_count = 0;
    for (uint32_t v = 0; v < layout->vertex_count; v++) {
        const uint32_t *bones = layout->bone + layout->first[v];
        uint32_t count = layout->first[v + 1] - layout->first[v], same = 0;
        while (same < count && count == last_count && bones[same] == last[same]) same++;
        if (same == count && count == last_count)
            vertex_set[v] = vertex_set[v - 1];
        else if (!cutis_sets_find(table, bones, count, &vertex_set[v]))
            return false;
        if (count > binding->max_influences) binding->max_influences = count;
        last = bones, last_count = count;
    }
    for (uint32_t i = 0; table->count && i < table->first[table->count]; i++)
        binding->bone_used[table->numbers[i]] = UINT32_MAX;
    return true;
}

/// Numbers the sets of all vertices (`vertex_set`), and among them those of two or more bones
/// (`centre` per set, CUTIS_NO_SET for single bones; vertex_count entries are enough).
cutis_result cutis_bind_sets(cutis_skin_binding *binding, cutis_sets *table, uint32_t *vertex_set,
                             uint32_t *centre)
{
    size_t bones = 0;
    if (!find_sets(binding, table, vertex_set)) return cutis_alloc_result(binding->base.context);
    for (uint32_t set = 0; set < table->count; set++) {
        uint32_t count = table->first[set + 1] - table->first[set];
        centre[set] = count > 1 ? binding->set_count++ : CUTIS_NO_SET;
        if (count > 2) binding->large_set_count++;
        if (count > 1) bones += count;
    }
    binding->set_first = cutis_binding_alloc(&binding->base, (size_t)binding->set_count + 1,
                                             sizeof *binding->set_first);
    binding->set_bone = cutis_binding_alloc(&binding->base, bones, sizeof *binding->set_bone);
    if (!binding->set_first || !binding->set_bone) return cutis_alloc_result(binding->base.context);
    size_t used = 0;
    for (uint32_t set = 0; set < table->count; set++) {
        if (centre[set] == CUTIS_NO_SET) continue;
        uint32_t first = table->first[set], count = table->first[set + 1] - first;
        memcpy(binding->set_bone + used, table->numbers + first, count * sizeof *table->numbers);
        used += count;
        binding->set_first[centre[set] + 1] = (uint32_t)used;
    }
    return binding->layout.formula == CUTIS_FORMULA_SBS ? group_sets(binding) : CUTIS_OK;
}
