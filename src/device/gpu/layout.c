/// Packing a bound character for the GPU: choose the order of vertices, cut blocks into chunks
/// whose bones fit in shared memory, write everything into one array.
///
/// Invariant: a block's list is ascending and holds every bone of its vertices; weights, rest data
/// and vertex numbers are those of the layout, so the order changes where a vertex is computed and
/// never its bits.
#include <device/gpu/layout.h>

#include <base/error.h>
#include <device/gpu/regroup.h>
#include <string.h>

#define BLOCK_MAX  64u
#define LIST_LOOSE 0x40000000u ///< beside a list's count; SIGNS_LOOSE of the kernel text
#define LIST_LED   0x20000000u
#define LIST_OWN   0x10000000u

/// Bones of a list that all lanes share, at most, while lists of their own would be shorter: as
/// many as a work item keeps in registers. Up to there broadcasts are cheaper than fewer bones.
#define SHARED_LIST_MAX 8u

/// Two vertices a work item lose more on long lists than they gain on short ones when more than one
/// block in so many has one: where each bone set has a centre, and for the others.
#define LONG_LISTS_SHARE 32u
#define LONG_LISTS_SOME  4u

/// Output order pays while its lists are not very much longer than the sorted ones: arithmetic is
/// half hidden behind writing, and scattered writes cost twice unbroken ones (H200: biped 0.47
/// against 0.92 ms, quadruped 0.55 against 1.12 with lists more than twice as long).
static const double OUTPUT_ORDER_LIST_RATIO = 4.0;

/// Regrouping pays from here on: below a twentieth less there is nothing to see of it.
static const double REGROUP_GAIN = 0.95;

/// Not before `CUTIS_GPU_ORDER=fours bench_gpu --bits` has run on a GPU: that regrouped fours have
/// the CPU's bits was seen on PoCL alone, with one warp a group.
enum { CHOOSE_FOURS = 0 };

// Blocks of another size or order ----------------------------------------------------------------

typedef struct repacker {
    const cutis_skin_layout *from;
    cutis_arena *arena;
    uint32_t size;         ///< of a block
    const uint32_t *order; ///< per slot its vertex; NULL: output order
    uint32_t *stamp;       ///< per bone or target: the last block that had it, plus one
    uint32_t *place;       ///< per bone or target: where in the block's list
} repacker;

static void sort_words(uint32_t *words, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        uint32_t word = words[i], j = i;
        for (; j > 0 && words[j - 1] > word; j--) words[j] = words[j - 1];
        words[j] = word;
    }
}

static uint32_t vertex_at(const repacker *pack, uint32_t slot)
{
    return pack->order ? pack->order[slot] : slot;
}

/// The distinct bones of a block, ascending; `out` may be NULL to count only.
static uint32_t block_bones(repacker *pack, uint32_t block, uint32_t *out)
{
    const cutis_skin_layout *from = pack->from;
    uint32_t begin = block * pack->size, end = begin + pack->size, count = 0;
    if (end > from->vertex_count) end = from->vertex_count;
    for (uint32_t slot = begin; slot < end; slot++) {
        uint32_t v = vertex_at(pack, slot);
        for (uint32_t i = from->first[v]; i < from->first[v + 1]; i++) {
            uint32_t bone = from->bone[i];
            if (pack->stamp[bone] == block + 1) continue;
            pack->stamp[bone] = block + 1;
            if (out) out[count] = bone;
            count++;
        }
    }
    if (out) sort_words(out, count);
    return count;
}

static cutis_result count_lists(repacker *pack, uint32_t block_count, uint64_t *total)
{
    *total = 0;
    memset(pack->stamp, 0, (size_t)pack->from->bone_count * sizeof *pack->stamp);
    for (uint32_t k = 0; k < block_count; k++) *total += block_bones(pack, k, NULL);
    return *total <= UINT32_MAX / BLOCK_MAX
               ? CUTIS_OK
               : cutis_fail(pack->arena->context, CUTIS_LIMIT_EXCEEDED,
                            "skin: bone lists of %llu entries are too long for a GPU",
                            (unsigned long long)*total);
}

static cutis_result repack_lists(repacker *pack, uint64_t total, cutis_skin_layout *to)
{
    const cutis_skin_layout *from = pack->from;
    uint32_t *first = cutis_arena_alloc(pack->arena, (size_t)to->block_count + 1, sizeof *first);
    uint32_t *bones = cutis_arena_alloc(pack->arena, (size_t)total + 1, sizeof *bones);
    float *weights =
        cutis_arena_zero(pack->arena, (size_t)(total + 1) * pack->size, sizeof *weights);
    if (!first || !bones || !weights) return cutis_alloc_result(pack->arena->context);
    memset(pack->stamp, 0, (size_t)from->bone_count * sizeof *pack->stamp);
    uint32_t at = 0;
    for (uint32_t k = 0; k < to->block_count; k++) {
        first[k] = at;
        uint32_t count = block_bones(pack, k, bones + at);
        for (uint32_t i = 0; i < count; i++) pack->place[bones[at + i]] = at + i;
        for (uint32_t l = 0; l < pack->size; l++) {
            if (k * pack->size + l >= from->vertex_count) {
                if (count) weights[(size_t)at * pack->size + l] = 1.0f;
                continue;
            }
            uint32_t v = vertex_at(pack, k * pack->size + l);
            for (uint32_t i = from->first[v]; i < from->first[v + 1]; i++)
                weights[(size_t)pack->place[from->bone[i]] * pack->size + l] = from->weight[i];
        }
        at += count;
    }
    first[to->block_count] = at;
    to->list_first = first;
    to->list_bone = bones;
    to->weights = weights;
    return CUTIS_OK;
}

/// Planes of `width` floats per vertex, or words with `fill` for padding lanes, moved from the
/// layout's slots to ours.
static const void *repack_planes(repacker *pack, const void *planes, uint32_t width, uint32_t fill,
                                 uint32_t block_count)
{
    const cutis_skin_layout *from = pack->from;
    const uint32_t *source = planes;
    uint32_t mine = pack->size, size = from->block_size;
    if (!source) return NULL;
    uint32_t *to = cutis_arena_alloc(pack->arena, (size_t)block_count * mine * width, sizeof *to);
    if (!to) return NULL;
    for (uint32_t i = 0; i < block_count * mine; i++)
        for (uint32_t c = 0; c < width; c++) {
            size_t at = ((size_t)(i / mine) * width + c) * mine + i % mine;
            if (i >= from->vertex_count) {
                to[at] = fill;
                continue;
            }
            uint32_t slot = from->vertex_slot[vertex_at(pack, i)];
            to[at] = source[((size_t)(slot / size) * width + c) * size + slot % size];
        }
    return to;
}

/// Targets of the blocks that the vertices of one of ours come from, ascending; `out` may be NULL
/// to count only.
static uint32_t block_targets(repacker *pack, uint32_t block, uint32_t *out)
{
    const cutis_skin_layout *from = pack->from;
    uint32_t count = 0;
    uint32_t end = (block + 1) * pack->size;
    for (uint32_t i = block * pack->size; i < end && i < from->vertex_count; i++) {
        uint32_t source = from->vertex_slot[vertex_at(pack, i)] / from->block_size;
        for (uint32_t e = from->morph_first[source]; e < from->morph_first[source + 1]; e++) {
            uint32_t target = from->morph_target[e];
            if (pack->stamp[target] == block + 1) continue;
            pack->stamp[target] = block + 1;
            if (out) out[count] = target;
            count++;
        }
    }
    if (out) sort_words(out, count);
    return count;
}

static void repack_deltas(repacker *pack, uint32_t i, uint32_t width, float *deltas)
{
    const cutis_skin_layout *from = pack->from;
    uint32_t slot = from->vertex_slot[vertex_at(pack, i)], size = from->block_size,
             source = slot / size;
    for (uint32_t e = from->morph_first[source]; e < from->morph_first[source + 1]; e++) {
        size_t entry = pack->place[from->morph_target[e]];
        for (uint32_t c = 0; c < width; c++)
            deltas[(entry * width + c) * pack->size + i % pack->size] =
                from->morph_delta[((size_t)e * width + c) * size + slot % size];
    }
}

static cutis_result repack_morphs(repacker *pack, uint32_t width, cutis_skin_layout *to)
{
    const cutis_skin_layout *from = pack->from;
    size_t total = 0, stamps = (size_t)from->target_count * sizeof *pack->stamp;
    memset(pack->stamp, 0, stamps);
    for (uint32_t k = 0; k < to->block_count; k++) total += block_targets(pack, k, NULL);
    uint32_t *first = cutis_arena_alloc(pack->arena, (size_t)to->block_count + 1, sizeof *first);
    uint32_t *targets = cutis_arena_alloc(pack->arena, total + 1, sizeof *targets);
    float *deltas = cutis_arena_zero(pack->arena, total * width * pack->size + 1, sizeof *deltas);
    if (!first || !targets || !deltas) return cutis_alloc_result(pack->arena->context);
    memset(pack->stamp, 0, stamps);
    uint32_t at = 0;
    for (uint32_t k = 0; k < to->block_count; k++) {
        first[k] = at;
        uint32_t count = block_targets(pack, k, targets + at);
        for (uint32_t i = 0; i < count; i++) pack->place[targets[at + i]] = at + i;
        for (uint32_t i = k * pack->size; i < (k + 1) * pack->size && i < from->vertex_count; i++)
            repack_deltas(pack, i, width, deltas);
        at += count;
    }
    first[to->block_count] = at;
    to->morph_first = first;
    to->morph_target = targets;
    to->morph_delta = deltas;
    return CUTIS_OK;
}

static uint32_t morph_width(const cutis_skin_layout *layout)
{
    return 3u + (layout->normals ? 3u : 0u) + (layout->tangents ? 3u : 0u);
}

/// Planes of weighted pose space: e, s and normals of every pose.
static uint32_t field_width(const cutis_skin_layout *layout)
{
    return layout->pose_count * (layout->normals ? 7u : 4u);
}

static cutis_result repack(repacker *pack, uint64_t list_length, cutis_skin_layout *to)
{
    const cutis_skin_layout *from = pack->from;
    uint32_t blocks = (from->vertex_count + pack->size - 1) / pack->size;
    *to = *from;
    to->block_size = pack->size;
    to->block_count = blocks;
    TRY(repack_lists(pack, list_length, to));
    if (from->morph_first) TRY(repack_morphs(pack, morph_width(from), to));
    to->positions = repack_planes(pack, from->positions, 3, 0, blocks);
    to->normals = repack_planes(pack, from->normals, 3, 0, blocks);
    to->tangents_rest = repack_planes(pack, from->tangents_rest, 4, 0, blocks);
    to->sets = repack_planes(pack, from->sets, 1, CUTIS_NO_SET, blocks);
    to->centres = repack_planes(pack, from->centres, 3, 0, blocks);
    to->blend = repack_planes(pack, from->blend, 1, 0, blocks);
    to->pose_scales = repack_planes(pack, from->pose_scales, 1, 0, blocks);
    to->pose_fields = repack_planes(pack, from->pose_fields, field_width(from), 0, blocks);
    to->vertices = repack_planes(pack, from->vertices, 1, CUTIS_NO_VERTEX, blocks);
    bool whole = !from->positions == !to->positions && !from->normals == !to->normals &&
                 !from->tangents_rest == !to->tangents_rest && !from->sets == !to->sets &&
                 !from->centres == !to->centres && !from->blend == !to->blend && to->vertices &&
                 !from->pose_scales == !to->pose_scales && !from->pose_fields == !to->pose_fields;
    return whole ? CUTIS_OK : cutis_alloc_result(pack->arena->context);
}

// Chunks and the array of words -----------------------------------------------------------------

typedef struct chunk_table {
    uint32_t *block, *near_first, *near_bone, *list_near;
    uint32_t count, near_count;
} chunk_table;

/// Cut blocks into chunks. `place` holds per bone its position in the current chunk, valid if its
/// stamp is the chunk.
static cutis_result make_chunks(cutis_arena *arena, const cutis_skin_layout *layout, bool near,
                                chunk_table *chunks, cutis_gpu_layout *out)
{
    uint32_t blocks = layout->block_count, entries = layout->list_first[blocks];
    uint32_t *stamp = cutis_arena_zero(arena, (size_t)layout->bone_count + 1, sizeof *stamp);
    uint32_t *place = cutis_arena_alloc(arena, (size_t)layout->bone_count + 1, sizeof *place);
    chunks->block = cutis_arena_alloc(arena, (size_t)blocks + 1, sizeof(uint32_t));
    chunks->near_first = cutis_arena_alloc(arena, (size_t)blocks + 1, sizeof(uint32_t));
    chunks->near_bone = cutis_arena_alloc(arena, (size_t)entries + 1, sizeof(uint32_t));
    chunks->list_near = cutis_arena_alloc(arena, (size_t)entries + 1, sizeof(uint32_t));
    if (!stamp || !place || !chunks->block || !chunks->near_first || !chunks->near_bone ||
        !chunks->list_near)
        return cutis_alloc_result(arena->context);
    chunks->block[0] = chunks->near_first[0] = 0;
    for (uint32_t k = 0; k < blocks; k++) {
        uint32_t fresh = 0, begin = layout->list_first[k], end = layout->list_first[k + 1];
        for (uint32_t i = begin; i < end; i++)
            fresh += stamp[layout->list_bone[i]] != chunks->count + 1;
        uint32_t bones = chunks->near_count - chunks->near_first[chunks->count];
        uint32_t size = k - chunks->block[chunks->count];
        if (size > 0 && (size == CUTIS_GPU_CHUNK_SLOTS / layout->block_size ||
                         bones + fresh > CUTIS_GPU_CHUNK_BONES)) {
            chunks->count++;
            chunks->block[chunks->count] = k;
            chunks->near_first[chunks->count] = chunks->near_count;
        }
        for (uint32_t i = begin; i < end; i++) {
            uint32_t bone = layout->list_bone[i];
            if (stamp[bone] != chunks->count + 1) {
                stamp[bone] = chunks->count + 1;
                place[bone] = chunks->near_count - chunks->near_first[chunks->count];
                chunks->near_bone[chunks->near_count++] = bone;
            }
            chunks->list_near[i] = near ? place[bone] : bone;
        }
        bones = chunks->near_count - chunks->near_first[chunks->count];
        if (bones > out->near_max) out->near_max = bones;
    }
    if (blocks) chunks->count++;
    chunks->block[chunks->count] = blocks;
    chunks->near_first[chunks->count] = chunks->near_count;
    return CUTIS_OK;
}

/// First vertex of a block that the schedule may write in pieces of 16 bytes, which must be
/// aligned: consecutive vertices, the first a multiple of 4, or only fours of such (`fours`).
static uint32_t run_of_block(const uint32_t *vertices, uint32_t size, bool fours)
{
    for (uint32_t l = 0; l < size; l++) {
        const uint32_t begin = fours ? l / 4 * 4 : 0;
        if (vertices[l] == CUTIS_NO_VERTEX || vertices[begin] % 4 ||
            vertices[l] != vertices[begin] + l - begin)
            return CUTIS_NO_VERTEX;
    }
    return vertices[0];
}

/// The set that all vertices of a block have, or none.
static uint32_t set_of_block(const cutis_skin_layout *layout, uint32_t block)
{
    uint32_t set = CUTIS_NO_SET;
    for (uint32_t l = 0; layout->sets && l < layout->block_size; l++) {
        size_t slot = (size_t)block * layout->block_size + l;
        if (layout->vertices[slot] == CUTIS_NO_VERTEX) continue;
        if (layout->sets[slot] == CUTIS_NO_SET ||
            (set != CUTIS_NO_SET && set != layout->sets[slot]))
            return CUTIS_NO_SET;
        set = layout->sets[slot];
    }
    return set;
}

/// What a block's weights say of any sum of quaternions: LIST_LOOSE unless they are positive and
/// sum to about 1 (so that unit quaternions, none opposed to another, cannot cancel), LIST_LED
/// where moreover all lanes have a good part of theirs on the first bone.
static uint32_t weight_flags(const float *weights, uint32_t length, uint32_t size)
{
    uint32_t flags = LIST_LED;
    for (uint32_t l = 0; l < size; l++) {
        double sum = 0;
        for (uint32_t i = 0; i < length; i++) {
            if (!(weights[i * size + l] >= 0)) return LIST_LOOSE;
            sum += weights[i * size + l];
        }
        if (!(sum >= 0.5 && sum <= 2)) return LIST_LOOSE;
        if (weights[l] < 1.0f / 256) flags = 0;
    }
    return flags;
}

/// Lists as the schedule reads them: padded to an even length with weight 0 on the last bone.
typedef struct padded_lists {
    uint32_t *blocks; ///< four words of each block, as skin_arguments.blocks says
    uint32_t *near;   ///< count
    uint32_t *own;    ///< block size * own_count
    float *weights;   ///< block size * count
    size_t count, own_count;
} padded_lists;

static uint32_t padded_length(uint32_t length)
{
    return length == 0 ? 0 : (length + 1) / 2 * 2;
}

/// Bones of a block's list, or, where that is too long to share, of the longest list of a lane.
/// @param own set where lanes have lists of their own
static uint32_t kept_length(const cutis_skin_layout *layout, uint32_t block, bool *own)
{
    uint32_t first = layout->list_first[block], length = layout->list_first[block + 1] - first;
    uint32_t counts[BLOCK_MAX] = { 0 }, longest = 1, size = layout->block_size;
    *own = false;
    if (length <= SHARED_LIST_MAX) return length;
    const float *weights = layout->weights + (size_t)first * size;
    for (uint32_t i = 0; i < length; i++)
        for (uint32_t l = 0; l < size; l++) counts[l] += weights[i * size + l] != 0;
    for (uint32_t l = 0; l < size; l++)
        if (counts[l] > longest) longest = counts[l];
    *own = longest < length;
    return longest;
}

static void pad_shared(const cutis_skin_layout *layout, const chunk_table *chunks, uint32_t block,
                       size_t at, padded_lists *out)
{
    uint32_t first = layout->list_first[block], length = layout->list_first[block + 1] - first;
    uint32_t size = layout->block_size;
    memcpy(out->weights + at * size, layout->weights + (size_t)first * size,
           (size_t)length * size * sizeof *out->weights);
    for (uint32_t i = 0; i < padded_length(length); i++) {
        out->near[at + i] = chunks->list_near[first + (i < length ? i : length - 1)];
        if (i >= length) memset(out->weights + (at + i) * size, 0, size * sizeof(float));
    }
}

/// Every lane's bones with weight, ascending as the block's; then its last one (or the block's
/// first) with weight 0.
static void pad_own(const cutis_skin_layout *layout, const chunk_table *chunks, uint32_t block,
                    size_t at, uint32_t entries, padded_lists *out)
{
    uint32_t first = layout->list_first[block], length = layout->list_first[block + 1] - first;
    uint32_t size = layout->block_size, *own = out->own + out->own_count * size;
    memset(out->near + at, 0, entries * sizeof *out->near);
    for (uint32_t l = 0; l < size; l++) {
        uint32_t count = 0, last = chunks->list_near[first];
        for (uint32_t i = 0; i < length; i++) {
            float weight = layout->weights[((size_t)first + i) * size + l];
            if (weight == 0) continue;
            own[count * size + l] = last = chunks->list_near[first + i];
            out->weights[(at + count++) * size + l] = weight;
        }
        for (; count < entries; count++) {
            own[count * size + l] = last;
            out->weights[(at + count) * size + l] = 0;
        }
    }
}

static cutis_result pad_lists(cutis_arena *arena, const cutis_skin_layout *layout,
                              const chunk_table *chunks, bool fours, padded_lists *out)
{
    size_t at = 0, own_entries = 0, size = layout->block_size;
    bool own = false;
    for (uint32_t k = 0; k < layout->block_count; k++) {
        uint32_t entries = padded_length(kept_length(layout, k, &own));
        out->count += entries;
        own_entries += own ? entries : 0;
    }
    out->blocks = cutis_arena_alloc(arena, (size_t)layout->block_count + 1, 4 * sizeof(uint32_t));
    out->near = cutis_arena_alloc(arena, out->count + 1, sizeof *out->near);
    out->own = cutis_arena_alloc(arena, own_entries + 1, size * sizeof *out->own);
    out->weights = cutis_arena_alloc(arena, out->count + 1, size * sizeof *out->weights);
    if (!out->blocks || !out->near || !out->own || !out->weights)
        return cutis_alloc_result(arena->context);
    for (uint32_t k = 0; k < layout->block_count; k++) {
        uint32_t length = kept_length(layout, k, &own), entries = padded_length(length);
        const float *weights = layout->weights + (size_t)layout->list_first[k] * size;
        uint32_t *block = out->blocks + 4 * (size_t)k;
        block[0] = (uint32_t)at;
        block[1] = length | (own ? LIST_OWN : weight_flags(weights, length, layout->block_size));
        block[2] = run_of_block(layout->vertices + k * size, layout->block_size, fours);
        block[3] = own ? (uint32_t)(out->own_count * size) : set_of_block(layout, k);
        if (own) {
            pad_own(layout, chunks, k, at, entries, out);
            out->own_count += entries;
        } else {
            pad_shared(layout, chunks, k, at, out);
        }
        at += entries;
    }
    return CUTIS_OK;
}

/// Append `count` words to the array (or only count them while there is no array), 4-word aligned.
static uint32_t append(cutis_gpu_layout *out, const void *data, size_t count)
{
    size_t at = out->word_count;
    if (!data) return 0;
    if (out->words) memcpy(out->words + at, data, count * sizeof *out->words);
    out->word_count = at + (count + 3) / 4 * 4;
    return (uint32_t)at;
}

static void append_all(const cutis_skin_layout *layout, const chunk_table *chunks,
                       const padded_lists *lists, cutis_gpu_layout *out)
{
    skin_arguments *a = &out->arguments;
    size_t size = layout->block_size, slots = layout->block_count * size;
    out->word_count = 0;
    a->chunk_block = append(out, chunks->block, (size_t)chunks->count + 1);
    a->near_first = append(out, chunks->near_first, (size_t)chunks->count + 1);
    a->near_bone = append(out, chunks->near_bone, chunks->near_count);
    a->blocks = append(out, lists->blocks, (size_t)layout->block_count * 4);
    a->list_near = append(out, lists->near, lists->count);
    a->list_own = append(out, lists->own, lists->own_count * size);
    a->weights = append(out, lists->weights, lists->count * size);
    a->positions = append(out, layout->positions, slots * 3);
    a->normals = append(out, layout->normals, slots * 3);
    a->tangents = append(out, layout->tangents_rest, slots * 4);
    a->vertices = append(out, layout->vertices, slots);
    a->sets = append(out, layout->sets, slots);
    a->centres = append(out, layout->centres, slots * 3);
    a->blend = append(out, layout->blend, slots);
    a->pose_scales = append(out, layout->pose_scales, slots);
    a->pose_fields = append(out, layout->pose_fields, slots * field_width(layout));
    if (layout->morph_first) {
        size_t morphs = layout->morph_first[layout->block_count];
        a->morph_first = append(out, layout->morph_first, (size_t)layout->block_count + 1);
        a->morph_target = append(out, layout->morph_target, morphs);
        a->morph_delta = append(out, layout->morph_delta, morphs * morph_width(layout) * size);
    }
}

static cutis_result write_words(cutis_arena *arena, const cutis_skin_layout *layout, bool near,
                                cutis_gpu_layout *out)
{
    chunk_table chunks = { 0 };
    padded_lists lists = { 0 };
    TRY(make_chunks(arena, layout, near, &chunks, out));
    TRY(pad_lists(arena, layout, &chunks, out->fours, &lists));
    append_all(layout, &chunks, &lists, out);
    if (out->word_count > UINT32_MAX)
        return cutis_fail(arena->context, CUTIS_LIMIT_EXCEEDED, "skin: too large for a GPU");
    out->words = cutis_arena_zero(arena, out->word_count + 1, sizeof *out->words);
    if (!out->words) return cutis_alloc_result(arena->context);
    append_all(layout, &chunks, &lists, out);
    out->arguments.chunk_count = chunks.count;
    out->arguments.bone_count = layout->bone_count;
    out->arguments.set_count = layout->set_count;
    out->arguments.target_count = layout->target_count;
    out->arguments.vertex_count = layout->vertex_count;
    out->list_length = layout->list_first[layout->block_count];
    return CUTIS_OK;
}

/// The layout's vertices as its blocks have them.
static cutis_result bound_order(repacker *pack)
{
    const cutis_skin_layout *from = pack->from;
    uint32_t slots = from->block_count * from->block_size, count = 0;
    uint32_t *order = cutis_arena_alloc(pack->arena, (size_t)from->vertex_count + 1, sizeof *order);
    if (!order) return cutis_alloc_result(pack->arena->context);
    for (uint32_t slot = 0; slot < slots; slot++)
        if (from->vertices[slot] != CUTIS_NO_VERTEX) order[count++] = from->vertices[slot];
    pack->order = order;
    return CUTIS_OK;
}

/// What the blocks' lists cost, about, in bones that all lanes walk: those that are too long to
/// share are as dear as if each lane's few were three times as many.
static double lists_cost(repacker *pack, uint32_t block_count)
{
    double cost = 0;
    memset(pack->stamp, 0, (size_t)pack->from->bone_count * sizeof *pack->stamp);
    for (uint32_t k = 0; k < block_count; k++) {
        const uint32_t count = block_bones(pack, k, NULL);
        cost += 3 + (count <= 2 ? 2 : count <= 4 ? 4 : count <= SHARED_LIST_MAX ? count : 16);
    }
    return cost;
}

/// Output order, with its fours regrouped where that makes lists shorter. Not with morph targets:
/// of those a block would have as many as all the places that its vertices come from.
static cutis_result output_order(repacker *pack, uint32_t block_count, bool forced)
{
    const uint32_t *order = NULL;
    if (pack->from->morph_first && !forced) return CUTIS_OK;
    const double before = lists_cost(pack, block_count);
    TRY(cutis_gpu_regroup(pack->arena, pack->from, pack->size, &order));
    pack->order = order;
    const double after = lists_cost(pack, block_count);
    if (!forced && after > REGROUP_GAIN * before) pack->order = NULL;
    return CUTIS_OK;
}

/// One mark and one place per bone or target.
static cutis_result open_repacker(repacker *pack)
{
    const cutis_skin_layout *from = pack->from;
    size_t marks = from->bone_count > from->target_count ? from->bone_count : from->target_count;
    pack->stamp = cutis_arena_zero(pack->arena, marks + 1, sizeof *pack->stamp);
    pack->place = cutis_arena_alloc(pack->arena, marks + 1, sizeof *pack->place);
    return pack->stamp && pack->place ? CUTIS_OK : cutis_alloc_result(pack->arena->context);
}

cutis_result cutis_gpu_lists_look(cutis_arena *arena, const cutis_skin_layout *layout,
                                  cutis_gpu_order order, uint32_t block_size, cutis_gpu_lists *out)
{
    repacker pack = { .from = layout, .arena = arena, .size = block_size };
    uint32_t blocks = (layout->vertex_count + block_size - 1) / block_size, long_lists = 0;
    TRY(open_repacker(&pack));
    if (order == CUTIS_GPU_ORDER_FOURS || (order == CUTIS_GPU_ORDER_CHOOSE && CHOOSE_FOURS))
        TRY(output_order(&pack, blocks, order == CUTIS_GPU_ORDER_FOURS));
    memset(pack.stamp, 0, (size_t)layout->bone_count * sizeof *pack.stamp);
    for (uint32_t k = 0; k < blocks; k++)
        long_lists += block_bones(&pack, k, NULL) > SHARED_LIST_MAX;
    *out = (cutis_gpu_lists){ .fours = pack.order != NULL,
                              .few_long = long_lists <= blocks / LONG_LISTS_SHARE,
                              .some_long = long_lists <= blocks / LONG_LISTS_SOME };
    return CUTIS_OK;
}

cutis_result cutis_gpu_layout_make(cutis_arena *arena, const cutis_skin_layout *layout,
                                   cutis_gpu_order order, bool near, uint32_t block_size,
                                   cutis_gpu_layout *out)
{
    repacker pack = { .from = layout, .arena = arena, .size = block_size };
    uint64_t list_length = 0;
    const bool forced = order == CUTIS_GPU_ORDER_FOURS;
    cutis_skin_layout packed = *layout;
    memset(out, 0, sizeof *out);
    TRY(open_repacker(&pack));
    uint32_t blocks = (layout->vertex_count + block_size - 1) / block_size;
    TRY(count_lists(&pack, blocks, &list_length));
    double bound =
        (double)layout->list_first[layout->block_count] * layout->block_size / block_size;
    if (order == CUTIS_GPU_ORDER_CHOOSE)
        order = (double)list_length > OUTPUT_ORDER_LIST_RATIO * bound ? CUTIS_GPU_ORDER_BOUND
                : CHOOSE_FOURS                                        ? CUTIS_GPU_ORDER_FOURS
                                                                      : CUTIS_GPU_ORDER_OUTPUT;
    if (order == CUTIS_GPU_ORDER_FOURS) {
        TRY(output_order(&pack, blocks, forced));
        out->fours = pack.order != NULL;
        TRY(count_lists(&pack, blocks, &list_length));
    }
    if (order == CUTIS_GPU_ORDER_BOUND) {
        TRY(bound_order(&pack));
        TRY(count_lists(&pack, blocks, &list_length));
    }
    if (order != CUTIS_GPU_ORDER_BOUND || layout->block_size != block_size)
        TRY(repack(&pack, list_length, &packed));
    return write_words(arena, &packed, near, out);
}
