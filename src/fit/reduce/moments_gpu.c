// Forms of welds on a GPU: units, faces, rows and products of a batch of clumps, a launch each, for
// a chunk of poses after the other. Invariant: the bits of the CPU's (kernel/moments.h).
#include "base/error.h"
#include "device/compute/basic.h"
#include "fit/reduce/moments_former.h"

enum { SIDE = MOMENTS_SIDE };
#define PASS(type, name) .name = f->buffers.name,

// A batch: where its lists begin and end; tiles of its forms, and those of positions behind them.
typedef struct batch {
    uint32_t weld, weld_end, unit, unit_end, face, face_end;
    uint32_t weld_tiles, tiles;
} batch;

static cutis_result grow(cutis_former *f, uint64_t size, cutis_buffer **buffer, uint64_t *have)
{
    if (*buffer && size <= *have) return CUTIS_OK;
    cutis_buffer_destroy(*buffer);
    *buffer = NULL;
    *have = size ? size : 8;
    return cutis_buffer_create(f->gpu, *have, buffer);
}

static cutis_result clear(cutis_former *f, cutis_buffer *buffer, size_t doubles)
{
    if (doubles == 0) return CUTIS_OK;
    if (doubles > INT32_MAX / 2)
        return cutis_fail(f->m->context, CUTIS_UNSUPPORTED, "reduce: a form of %zu numbers",
                          doubles);
    return fill_words_run(f->gpu, (uint32_t)(2 * doubles), (fill_words_buffers){ .words = buffer },
                          (fill_words_arguments){ 0 });
}

// Together, since each is wanted at once.
static cutis_result compile(cutis_former *f)
{
#define STEP(kernel, BUFFERS) &cutis_compute_##kernel,
    static const cutis_compute_kernel *const steps[] = { CUTIS_MOMENTS_STEPS(STEP) };
#undef STEP
    return cutis_compute_prepare(f->gpu, steps, sizeof steps / sizeof *steps);
}

cutis_result cutis_former_begin(cutis_former *f, bool places)
{
    TRY(compile(f));
    const size_t blocks = f->kind_block[f->kind_count];
    TRY(cutis_buffer_write(f->buffers.pose_scales, 0, f->scales, blocks * 8 * MOMENTS_BLOCK));
    return places ? clear(f, f->buffers.place, f->m->place_first[f->m->free_count]) : CUTIS_OK;
}

cutis_result cutis_former_end(cutis_former *f)
{
    const size_t size = f->m->place_first[f->m->free_count] * sizeof *f->place;
    return size ? cutis_buffer_read(f->buffers.place, 0, f->place, size) : CUTIS_OK;
}

// Tiles of a form of `count` rows from `row` on. @return tiles after them
static uint32_t list_tiles(int row, int count, long long first, uint32_t used, int *tile,
                           long long *tile_first)
{
    for (int a = 0; a < count; a += SIDE)
        for (int b = 0; b <= a; b += SIDE, used++) {
            if (!tile) continue;
            int *t = tile + 4 * (size_t)used;
            t[0] = row, t[1] = count, t[2] = a, t[3] = b;
            tile_first[used] = first;
        }
    return used;
}

// tile NULL: they are counted.
static void list_batch(const cutis_former *f, batch *b, int *tile, long long *tile_first)
{
    uint32_t used = 0;
    for (uint32_t w = b->weld; w < b->weld_end; w++)
        used = list_tiles(f->row_first[w] - f->row_first[b->weld],
                          f->row_first[w + 1] - f->row_first[w], f->gram_first[w], used, tile,
                          tile_first);
    b->weld_tiles = used;
    for (uint32_t u = b->unit; u < b->unit_end; u++)
        if (f->m->listed_place[u] >= 0)
            used = list_tiles(f->unit_slot[u] - f->unit_slot[b->unit],
                              f->unit_slot[u + 1] - f->unit_slot[u],
                              f->place_first[f->m->listed_place[u]], used, tile, tile_first);
    b->tiles = used;
}

static cutis_result send_tiles(cutis_former *f, batch *b)
{
    cutis_arena own = { .context = f->m->context };
    list_batch(f, b, NULL, NULL);
    int *tile = cutis_arena_alloc(&own, b->tiles, 4 * sizeof *tile);
    long long *first = cutis_arena_alloc(&own, b->tiles, sizeof *first);
    cutis_result result = tile && first ? CUTIS_OK : cutis_alloc_result(f->m->context);
    const uint64_t tiles = b->tiles;
    if (result == CUTIS_OK) {
        list_batch(f, b, tile, first);
        result = grow(f, 16 * tiles, &f->buffers.tile, &f->tile_size);
    }
    if (result == CUTIS_OK)
        result = grow(f, 8 * tiles, &f->buffers.tile_first, &f->tile_first_size);
    if (result == CUTIS_OK)
        result = grow(f, 8 * (uint64_t)SIDE * SIDE * MOMENTS_BLOCK * tiles, &f->buffers.part,
                      &f->part_size);
    if (result == CUTIS_OK && tiles)
        result = cutis_buffer_write(f->buffers.tile, 0, tile, 16 * tiles);
    if (result == CUTIS_OK && tiles)
        result = cutis_buffer_write(f->buffers.tile_first, 0, first, 8 * tiles);
    cutis_arena_release(&own);
    return result;
}

// Products of rows of a chunk: forms of welds, or of positions.
static cutis_result multiply(cutis_former *f, uint32_t begin, uint32_t end, int stride, int length,
                             cutis_buffer *gram)
{
    const uint32_t tiles = end - begin;
    TRY(moments_tiles_run(
        f->gpu, tiles * MOMENTS_BLOCK, (moments_tiles_buffers){ MOMENTS_TILES_BUFFERS(PASS, PASS) },
        (moments_tiles_arguments){ .tile_begin = (int)begin, .stride = stride, .length = length }));
    return moments_sums_run(f->gpu, tiles * SIDE * SIDE,
                            (moments_sums_buffers){ .tile = f->buffers.tile,
                                                    .tile_first = f->buffers.tile_first,
                                                    .part = f->buffers.part,
                                                    .gram = gram },
                            (moments_sums_arguments){ .tile_begin = (int)begin });
}

static cutis_result run_chunk(cutis_former *f, const batch *b, moments_sizes sizes)
{
    const uint32_t each = (uint32_t)sizes.blocks * MOMENTS_BLOCK;
    TRY(moments_units_run(f->gpu, (b->unit_end - b->unit) * each,
                          (moments_units_buffers){ MOMENTS_UNITS_BUFFERS(PASS, PASS) },
                          (moments_units_arguments){ .sizes = sizes }));
    TRY(moments_faces_run(f->gpu, (b->face_end - b->face) * each,
                          (moments_faces_buffers){ MOMENTS_FACES_BUFFERS(PASS, PASS) },
                          (moments_faces_arguments){ .sizes = sizes }));
    TRY(moments_rows_run(f->gpu, (b->weld_end - b->weld) * each,
                         (moments_rows_buffers){ MOMENTS_ROWS_BUFFERS(PASS, PASS) },
                         (moments_rows_arguments){ .sizes = sizes }));
    TRY(multiply(f, 0, b->weld_tiles, sizes.stride, 2 * (int)each, f->buffers.gram));
    if (!sizes.places) return CUTIS_OK;
    TRY(moments_places_run(f->gpu, (b->unit_end - b->unit) * each,
                           (moments_places_buffers){ MOMENTS_PLACES_BUFFERS(PASS, PASS) },
                           (moments_places_arguments){ .sizes = sizes }));
    return multiply(f, b->weld_tiles, b->tiles, sizes.place_stride, 3 * (int)each,
                    f->buffers.place);
}

static batch batch_of(const cutis_former *f)
{
    const cutis_moments *m = f->m;
    const uint32_t begin = f->clump, end = f->clump_end;
    return (batch){ m->clump_weld[begin],
                    m->clump_weld[end],
                    m->clump_unit[begin],
                    m->clump_unit[end],
                    m->clump_face[begin],
                    m->clump_face[end],
                    0,
                    0 };
}

cutis_result cutis_former_batch(cutis_former *f, moments_sizes sizes, size_t entries)
{
    batch b = batch_of(f);
    const int begin = sizes.block_first, end = begin + sizes.blocks;
    sizes.item = (int)b.weld;
    sizes.unit_base = (int)b.unit, sizes.face_base = (int)b.face;
    sizes.slot_base = f->unit_slot[b.unit], sizes.row_base = f->row_first[b.weld];
    sizes.units = (int)(b.unit_end - b.unit), sizes.faces = (int)(b.face_end - b.face);
    sizes.slots = f->unit_slot[b.unit_end] - sizes.slot_base;
    sizes.rows = f->row_first[b.weld_end] - sizes.row_base;
    sizes.kept = MOMENTS_CHUNK;
    const uint64_t rows = (uint64_t)sizes.rows * (uint64_t)sizes.stride,
                   places = (uint64_t)sizes.slots * (uint64_t)sizes.place_stride,
                   kept = MOMENTS_KEPT((uint64_t)sizes.units, (uint64_t)sizes.slots,
                                       (uint64_t)sizes.faces, MOMENTS_CHUNK);
    TRY(send_tiles(f, &b));
    TRY(grow(f, 8 * kept, &f->buffers.scratch, &f->scratch_size));
    TRY(grow(f, 8 * (rows > places ? rows : places), &f->buffers.rows, &f->rows_size));
    TRY(grow(f, 8 * (uint64_t)entries, &f->buffers.gram, &f->gram_size));
    TRY(clear(f, f->buffers.gram, entries));
    for (int block = begin; block < end; block += MOMENTS_CHUNK) {
        sizes.block_first = block;
        sizes.blocks = end - block < MOMENTS_CHUNK ? end - block : MOMENTS_CHUNK;
        TRY(run_chunk(f, &b, sizes));
    }
    return entries ? cutis_buffer_read(f->buffers.gram, 0, f->gram, entries * sizeof *f->gram)
                   : CUTIS_OK;
}
