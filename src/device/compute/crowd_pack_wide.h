// The packing of crowd_pack.h, compiled for every width of vectors (room.cmake): coordinates of a
// run of vertices side by side, loops over which the compiler turns into vectors. The same
// functions of pack.h on every vertex, so all widths and the item kernel give the same bits.
#include "device/compute/crowd.h"

#include "kernel/item.h"
#include "kernel/pack.h"

/// Vertices of a run: what was written one by one has left the store queue when it is read as
/// vectors, and all of it stays in the first cache.
enum { RUN = 128 };

typedef struct pack_run {
    const float *from;
    unsigned *to;
    int count, from_words, to_words;
} pack_run;

static void take_points(const pack_run *run, int word, float *x, float *y, float *z)
{
    const float *v = run->from + word;
    for (int i = 0; i < run->count; i++, v += run->from_words) {
        x[i] = v[0];
        y[i] = v[1];
        z[i] = v[2];
    }
}

static void put_words(const pack_run *run, int word, const unsigned *words)
{
    unsigned *to = run->to + word;
    for (int i = 0; i < run->count; i++, to += run->to_words) *to = words[i];
}

static void copy_points(const pack_run *run, int from_word, int to_word)
{
    const float *v = run->from + from_word;
    unsigned *to = run->to + to_word;
    for (int i = 0; i < run->count; i++, v += run->from_words, to += run->to_words)
        memcpy(to, v, 12);
}

static void pack_positions(const pack_run *run)
{
    float x[RUN], y[RUN], z[RUN];
    unsigned low[RUN], high[RUN];
    take_points(run, 0, x, y, z);
    for (int i = 0; i < run->count; i++) {
        low[i] = pack_half(x[i]) | pack_half(y[i]) << 16;
        high[i] = pack_half(z[i]) | 0x3c000000u;
    }
    put_words(run, 0, low);
    put_words(run, 1, high);
}

static void pack_normals(const pack_run *run, int word)
{
    float x[RUN], y[RUN], z[RUN];
    unsigned packed[RUN];
    take_points(run, 3, x, y, z);
    for (int i = 0; i < run->count; i++) packed[i] = pack_octahedral(x[i], y[i], z[i]);
    put_words(run, word, packed);
}

static void crowd_pack(const float *from, unsigned *to, crowd_pack_arguments given)
{
    const int word = given.half_positions ? 2 : 3;
    for (int item = given.item_first; item < given.item_end;) {
        const int slot = item / given.vertex_count, vertex = item % given.vertex_count;
        pack_run run = { .from = from + slot * given.from_step + (INDEX)vertex * given.from_words,
                         .to = to + given.to_first + slot * given.to_step +
                               (INDEX)vertex * given.to_words,
                         .count = given.vertex_count - vertex,
                         .from_words = given.from_words,
                         .to_words = given.to_words };
        if (run.count > given.item_end - item) run.count = given.item_end - item;
        if (run.count > RUN) run.count = RUN;
        if (given.half_positions)
            pack_positions(&run);
        else
            copy_points(&run, 0, 0);
        if (given.normals == 1) copy_points(&run, 3, word);
        if (given.normals == 2) pack_normals(&run, word);
        item += run.count;
    }
}

void CUTIS_COMPUTE_FUNCTION(NAME(crowd_pack), crowd_pack, CROWD_PACK_BUFFERS)
