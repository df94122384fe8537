/// A level's skeleton as the device's kernels read it, and the proof that they may: in no pose of
/// the clips do its bones leave the uniform path of deform/frame.c, so that which path a frame
/// takes need not be found out on the device.
#include "deform/crowd.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "model/object.h"
#include "model/sampler.h"

// Half of what frame.c allows (UNIFORM, EVEN_LINEAR): the other half is for rounding.
static const double RIGID_TURNED = 0.5e-5, RIGID_LINEAR = 0.5e-4;

/// How far a step's own matrix is from a rotation times a scale, relative.
/// @param rest of the level's nodes
static double step_off(const cutis_skin_binding *binding, const cutis_transform *rest,
                       uint32_t step)
{
    const cutis_float3 s = rest[binding->step_node[step]].scale;
    const double low = fmin(s.x, fmin(s.y, s.z)), high = fmax(s.x, fmax(s.y, s.z));
    if (!(low > 0)) return INFINITY;
    double off = (high - low) / low;
    if (binding->step_matrix[step]) {
        const uint32_t used = 1;
        cutis_bone_range r;
        cutis_device_bone_work(binding->base.device)
            ->shapes(binding->step_matrix[step], &used, 1, NULL, &r);
        if (!(r.low > 0)) return INFINITY;
        off = fmax(off, r.nonuniform + fabs(r.low / ((low + high) / 2) - 1));
    }
    return off;
}

void cutis_crowd_map_pose(const crowd_level *level, const cutis_transform *pose,
                          cutis_transform *out)
{
    const cutis_model *model = level->binding->base.model;
    for (uint32_t n = 0; n < model->data.node_count; n++)
        out[n] = !level->map ? pose[n] : level->map[n] < 0 ? model->rest[n] : pose[level->map[n]];
}

/// The first level's node that a step follows, or -1.
static int32_t step_source(const crowd_level *level, uint32_t step)
{
    const uint32_t node = level->binding->step_node[step];
    return level->map ? level->map[node] : (int32_t)node;
}

static bool clips_scale(const cutis_crowd *crowd, const crowd_level *level)
{
    for (uint32_t c = 0; c < crowd->clips.count; c++) {
        const cutis_sampler *sampler = crowd->clips.samplers[c];
        for (uint32_t r = 0; r < sampler->run_count; r++) {
            const cutis_run *run = &sampler->runs[r];
            for (uint32_t b = 0; run->path == CUTIS_PATH_SCALE && b < run->batch_count; b++)
                for (uint32_t l = 0; l < (run->narrow ? 1 : 4); l++)
                    for (uint32_t k = 0; k < level->binding->step_count; k++)
                        if (step_source(level, k) == (int32_t)run->batches[b].nodes[l]) return true;
        }
    }
    return false;
}

/// Of the bones at rest, and the most that steps may add to how far they are from rotations.
static cutis_bone_range rest_range(const cutis_crowd *crowd, const crowd_level *level,
                                   cutis_transform *rest, double *worlds, double *most)
{
    const cutis_skin_binding *binding = level->binding;
    double *palette = worlds + 12 * (size_t)binding->step_count;
    double *off = palette + 12 * (size_t)binding->bone_count;
    cutis_bone_range r;
    cutis_crowd_map_pose(level, crowd->levels[0].binding->base.model->rest, rest);
    *most = 0;
    for (uint32_t k = 0; k < binding->step_count; k++) {
        off[k] = step_off(binding, rest, k);
        if (binding->step_parent[k] >= 0) off[k] += off[binding->step_parent[k]];
        *most = fmax(*most, off[k]);
    }
    cutis_palette_local(binding, rest, NULL, worlds, palette);
    cutis_device_bone_work(binding->base.device)
        ->shapes(palette, binding->bone_used, binding->bone_count, NULL, &r);
    return r;
}

cutis_result cutis_crowd_body_is_rigid(const cutis_crowd *crowd, const crowd_level *level,
                                       bool *rigid)
{
    const cutis_skin_binding *binding = level->binding;
    const bool linear = binding->layout.formula == CUTIS_FORMULA_LBS;
    *rigid = false;
    if (binding->step_driver || binding->drives_weights || binding->play ||
        binding->handle_skin_count || clips_scale(crowd, level))
        return CUTIS_OK;
    cutis_arena arena = { .context = crowd->context };
    double *worlds = cutis_arena_alloc(
        &arena, 13 * (size_t)binding->step_count + 12 * (size_t)binding->bone_count,
        sizeof *worlds);
    cutis_transform *rest = cutis_arena_alloc(&arena, binding->node_count, sizeof *rest);
    double most = 0;
    const bool there = worlds && rest;
    if (there) {
        const cutis_bone_range r = rest_range(crowd, level, rest, worlds, &most);
        const double spread = linear ? 0 : (r.high - r.low) / (r.high + r.low);
        *rigid = !(r.low <= r.high) || // no bone is in use
                 (r.low > 1e-30 &&
                  r.nonuniform + spread + 2 * most <= (linear ? RIGID_LINEAR : RIGID_TURNED));
    }
    cutis_arena_release(&arena);
    return there ? CUTIS_OK : cutis_alloc_result(crowd->context);
}

/// Steps by rank: those without parents, their children, and so on.
/// @param place per step of the binding: where it stands now; @param ranks step_count + 1
static uint32_t sort_steps(const cutis_skin_binding *binding, uint32_t *depth, uint32_t *place,
                           int32_t *ranks)
{
    const uint32_t count = binding->step_count;
    uint32_t most = 0, at = 0;
    for (uint32_t k = 0; k < count; k++) {
        const int32_t parent = binding->step_parent[k];
        depth[k] = parent < 0 ? 0 : depth[parent] + 1;
        most = depth[k] >= most ? depth[k] + 1 : most;
    }
    for (uint32_t rank = 0; rank < most; rank++) {
        ranks[rank] = (int32_t)at;
        for (uint32_t k = 0; k < count; k++)
            if (depth[k] == rank) place[k] = at++;
    }
    ranks[most] = (int32_t)at;
    return most;
}

/// A step has a matrix of its own where its node has, or where it follows nothing.
static bool is_fixed(const crowd_level *level, uint32_t step)
{
    return level->binding->step_matrix[step] || step_source(level, step) < 0;
}

static void fill_steps(const crowd_level *level, const uint32_t *place, int32_t *words,
                       double *doubles)
{
    const cutis_skin_binding *binding = level->binding;
    int32_t fixed = 0;
    for (uint32_t k = 0; k < binding->step_count; k++) {
        int32_t *step = words + CROWD_STEP_WORDS * (size_t)place[k];
        const int32_t parent = binding->step_parent[k];
        step[0] = step_source(level, k);
        step[1] = parent < 0 ? -1 : (int32_t)place[parent];
        step[2] = -1;
        if (!is_fixed(level, k)) continue;
        step[2] = fixed++;
        if (binding->step_matrix[k])
            memcpy(doubles, binding->step_matrix[k], 12 * sizeof *doubles);
        else
            cutis_palette_transform(&binding->base.model->rest[binding->step_node[k]], doubles);
        doubles += 12;
    }
}

static void fill_bones(const cutis_skin_binding *binding, const uint32_t *place, int32_t *words,
                       double *doubles)
{
    for (size_t b = 0; b < binding->bone_count; b++, doubles += CROWD_BONE_DOUBLES) {
        *words++ = (int32_t)place[binding->bone_step[b]];
        *words++ = !binding->bone_plain[b];
        *words++ = binding->bone_used[b] != 0;
        memcpy(doubles, binding->inverse_binds + 12 * b, 12 * sizeof *doubles);
        memcpy(doubles + 12, binding->origins + 3 * b, 3 * sizeof *doubles);
    }
}

static cutis_result make_skeleton(cutis_crowd *crowd, crowd_level *level, cutis_arena *arena)
{
    const cutis_skin_binding *binding = level->binding;
    const size_t steps = binding->step_count, bones = binding->bone_count;
    size_t fixed = 0;
    for (uint32_t k = 0; k < steps; k++) fixed += is_fixed(level, k);
    level->ranks_at = (uint32_t)(CROWD_STEP_WORDS * steps);
    level->bones_at = level->ranks_at + (uint32_t)steps + 1;
    level->bones_at_double = (uint32_t)(12 * fixed);
    const size_t word_count = level->bones_at + CROWD_BONE_WORDS * bones;
    const size_t double_count = 12 * fixed + CROWD_BONE_DOUBLES * bones;
    uint32_t *place = cutis_arena_alloc(arena, 2 * steps, sizeof *place);
    int32_t *words = cutis_arena_zero(arena, word_count, sizeof *words);
    double *doubles = cutis_arena_zero(arena, double_count, sizeof *doubles);
    if (!place || !words || !doubles) return cutis_alloc_result(crowd->context);
    level->rank_count = sort_steps(binding, place + steps, place, words + level->ranks_at);
    fill_steps(level, place, words, doubles);
    fill_bones(binding, place, words + level->bones_at, doubles + 12 * fixed);
    TRY(cutis_crowd_buffer(crowd, words, word_count * sizeof *words, &level->body));
    return cutis_crowd_buffer(crowd, doubles, double_count * sizeof *doubles, &level->body_doubles);
}

/// Bone sets as the centres' kernel has them: where each begins (set_count + 1), their bones; and
/// their reference points.
static cutis_result make_sets(cutis_crowd *crowd, crowd_level *level, cutis_arena *arena)
{
    const cutis_skin_binding *binding = level->binding;
    const size_t sets = binding->set_count, used = sets ? binding->set_first[sets] : 0;
    int32_t *words = cutis_arena_zero(arena, sets + 1 + used, sizeof *words);
    double *references = cutis_arena_zero(arena, sets + 1, 3 * sizeof *references);
    if (!words || !references) return cutis_alloc_result(crowd->context);
    for (size_t s = 0; s <= sets; s++)
        words[s] = (int32_t)(sets + 1 + (sets ? binding->set_first[s] : 0));
    for (size_t i = 0; i < used; i++) words[sets + 1 + i] = (int32_t)binding->set_bone[i];
    for (uint32_t g = 0; g < binding->group_count; g++)
        for (uint32_t l = 0; l < binding->group_size[g]; l++) {
            const size_t set = binding->group_set[CUTIS_CENTRE_LANES * (size_t)g + l];
            const double *from = binding->group_reference + 3 * CUTIS_CENTRE_LANES * (size_t)g + l;
            for (size_t c = 0; c < 3; c++) references[3 * set + c] = from[CUTIS_CENTRE_LANES * c];
        }
    TRY(cutis_crowd_buffer(crowd, words, (sets + 1 + used) * sizeof *words, &level->sets));
    return cutis_crowd_buffer(crowd, references, 3 * sets * sizeof *references, &level->references);
}

cutis_result cutis_crowd_body_make(cutis_crowd *crowd, crowd_level *level)
{
    cutis_arena arena = { .context = crowd->context };
    cutis_result result = make_skeleton(crowd, level, &arena);
    if (result == CUTIS_OK && level->binding->layout.formula == CUTIS_FORMULA_SBS)
        result = make_sets(crowd, level, &arena);
    cutis_arena_release(&arena);
    return result;
}

void cutis_crowd_body_destroy(crowd_level *level)
{
    cutis_buffer_destroy(level->body);
    cutis_buffer_destroy(level->body_doubles);
    cutis_buffer_destroy(level->sets);
    cutis_buffer_destroy(level->references);
    cutis_buffer_destroy(level->frames);
}
