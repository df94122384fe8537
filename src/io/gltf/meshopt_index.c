/// The index codecs of meshopt: triangles by the edges and vertices seen last, and plain sequences.
/// The specifications have version 1 alone; 0 is what older libraries write, and everybody reads.
/// Invariant: a byte is read only where the tail has not begun, and what a FIFO gives was once put
/// in.
#include "io/gltf/meshopt.h"

#include "io/bytes.h"

// The few steps of the most common codes, which gcc would call at -O2.
#define INSIDE __attribute__((always_inline))

enum { TRIANGLES_HEADER = 0xe0, INDICES_HEADER = 0xd0, TRIANGLES_TAIL = 16, INDICES_TAIL = 4 };

/// The bytes that follow the codes. Past the end zeros are read, and it is `short_of` them.
typedef struct reader {
    const uint8_t *data, *end;
    bool short_of;
} reader;

static uint32_t read_byte(reader *in)
{
    if (in->data < in->end) return *in->data++;
    in->short_of = true;
    return 0;
}

/// Seven bits a byte, lowest first; at most five bytes.
static uint32_t read_number(reader *in)
{
    uint32_t value = 0, byte = 0x80;
    for (uint32_t shift = 0; shift < 35 && byte & 0x80; shift += 7) {
        byte = read_byte(in);
        value |= (byte & 0x7f) << shift;
    }
    if (byte & 0x80) in->short_of = true;
    return value;
}

static uint32_t signed_delta(uint32_t value)
{
    return value & 1 ? ~(value >> 1) : value >> 1;
}

static inline void put_index(bool wide, uint8_t *out, size_t at, uint32_t index)
{
    if (wide) {
        cutis_store_u32(out + 4 * at, index);
    } else {
        out[2 * at] = (uint8_t)index;
        out[2 * at + 1] = (uint8_t)(index >> 8);
    }
}

typedef struct triangles {
    reader in;
    uint32_t next, last;
    uint32_t near; ///< codes of a third vertex from here on are next to `last`: none in version 0
    uint32_t edges[16][2], vertices[16];
    uint32_t edge_count, vertex_count; ///< ever put in; the place of the next one modulo 16
} triangles;

INSIDE static inline void push_edge(triangles *t, uint32_t a, uint32_t b)
{
    uint32_t *edge = t->edges[t->edge_count++ & 15];
    edge[0] = a;
    edge[1] = b;
}

INSIDE static inline void push_vertex(triangles *t, uint32_t vertex)
{
    t->vertices[t->vertex_count++ & 15] = vertex;
}

/// The vertex `back` places before the last one put in.
INSIDE static inline uint32_t old_vertex(triangles *t, uint32_t back)
{
    if (back >= t->vertex_count) t->in.short_of = true;
    return t->vertices[(t->vertex_count - 1 - back) & 15];
}

static uint32_t explicit_vertex(triangles *t)
{
    return t->last += signed_delta(read_number(&t->in));
}

/// A corner of a triangle that shares no edge: 0 the next vertex, 15 one given, else one seen.
static uint32_t corner(triangles *t, uint32_t code)
{
    if (code == 0) return t->next++;
    return code == 15 ? explicit_vertex(t) : old_vertex(t, code - 1);
}

INSIDE static inline void on_edge(triangles *t, uint32_t code, uint32_t *out)
{
    const uint32_t back = code >> 4, third = code & 15;
    if (back >= t->edge_count) t->in.short_of = true;
    const uint32_t *edge = t->edges[(t->edge_count - 1 - back) & 15];
    const uint32_t a = edge[0], b = edge[1];
    uint32_t c;
    if (third == 0)
        c = t->next++;
    else if (third < t->near)
        c = old_vertex(t, third);
    else if (third < 15)
        c = t->last += third == 13 ? UINT32_MAX : 1;
    else
        c = explicit_vertex(t);
    push_edge(t, c, b);
    push_edge(t, a, c);
    if (third == 0 || third >= t->near) push_vertex(t, c);
    out[0] = a, out[1] = b, out[2] = c;
}

static void on_none(triangles *t, uint32_t code, const uint8_t *table, uint32_t *out)
{
    const bool given = (code & 15) >= 14;
    const uint32_t two = given ? read_byte(&t->in) : table[code & 15];
    if (given && two == 0) t->next = 0;
    const uint32_t a = code == 0xff ? explicit_vertex(t) : t->next++;
    const uint32_t b = corner(t, two >> 4), c = corner(t, two & 15);
    push_edge(t, b, a);
    push_edge(t, c, b);
    push_edge(t, a, c);
    push_vertex(t, a);
    if (two >> 4 == 0 || two >> 4 == 15) push_vertex(t, b);
    if ((two & 15) == 0 || (two & 15) == 15) push_vertex(t, c);
    out[0] = a, out[1] = b, out[2] = c;
}

/// The last two bytes of the table are 0, and no half of any is 15: that means a vertex given.
static bool table_possible(const uint8_t *table)
{
    for (int i = 0; i < TRIANGLES_TAIL; i++)
        if (table[i] >> 4 == 15 || (table[i] & 15) == 15) return false;
    return table[14] == 0 && table[15] == 0;
}

/// In a function of its own for each width, as nothing but this takes time.
INSIDE static inline bool decode(triangles *t, const uint8_t *codes, const uint8_t *table,
                                 size_t count, bool wide, uint8_t *out)
{
    for (size_t i = 0; i < count && !t->in.short_of; i++) {
        uint32_t corners[3];
        if (codes[i] < 0xf0)
            on_edge(t, codes[i], corners);
        else
            on_none(t, codes[i], table, corners);
        for (size_t k = 0; k < 3; k++) put_index(wide, out, 3 * i + k, corners[k]);
    }
    return !t->in.short_of && t->in.data == t->in.end;
}

bool cutis_gltf_meshopt_triangles(const gltf_meshopt *packed, uint8_t *out)
{
    const size_t count = packed->count / 3;
    if (packed->size < 1 + TRIANGLES_TAIL || packed->size - 1 - TRIANGLES_TAIL < count ||
        (packed->data[0] & ~1) != TRIANGLES_HEADER)
        return false;
    const uint8_t *codes = packed->data + 1, *table = packed->data + packed->size - TRIANGLES_TAIL;
    triangles t = { .in = { .data = codes + count, .end = table },
                    .near = packed->data[0] & 1 ? 13 : 15 };
    if (!table_possible(table)) return false;
    return packed->stride == 4 ? decode(&t, codes, table, count, true, out)
                               : decode(&t, codes, table, count, false, out);
}

bool cutis_gltf_meshopt_indices(const gltf_meshopt *packed, uint8_t *out)
{
    if (packed->size < 1 + INDICES_TAIL || (packed->data[0] & ~1) != INDICES_HEADER) return false;
    reader in = { .data = packed->data + 1, .end = packed->data + packed->size - INDICES_TAIL };
    uint32_t last[2] = { 0 };
    for (size_t i = 0; i < packed->count && !in.short_of; i++) {
        const uint32_t value = read_number(&in);
        last[value & 1] += signed_delta(value >> 1);
        put_index(packed->stride == 4, out, i, last[value & 1]);
    }
    return !in.short_of && in.data == in.end;
}
