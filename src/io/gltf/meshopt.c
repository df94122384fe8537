/// The vertex codec of meshopt: elements in blocks, each byte of the elements a plane of its own,
/// deltas in groups of 16 with 0, 1, 2, 4 or 8 bits; what does not fit follows as whole bytes.
/// Invariant: the stream ends with a tail of at least 24 bytes, and a group is read only while 24
/// bytes are left, which is the longest it can be; so no byte needs a check of its own.
#include "io/gltf/meshopt.h"

#include "io/bytes.h"

#if defined(__x86_64__)
#include <tmmintrin.h>
#endif

enum { GROUP = 16, GROUP_BYTES = 24, BLOCK_BYTES = 8192, BLOCK_MOST = 256 };

static size_t header_bytes(size_t groups)
{
    return (groups + 3) / 4;
}

/// Four planes of deltas (one channel of a block) to `count` elements of four bytes each, `stride`
/// apart. @param previous the element before, then the last one
typedef void (*joiner)(const uint8_t (*planes)[BLOCK_MOST], size_t count, uint8_t mode,
                       uint8_t *out, size_t stride, uint32_t *previous);
/// A plane of a block. @param bits of a group, by its two header bits
/// @return the next byte of the stream, or NULL: it is too short
typedef const uint8_t *(*expander)(const uint8_t *data, const uint8_t *end, size_t groups,
                                   const uint8_t *bits, uint8_t *plane);

static const uint8_t *expand_plain(const uint8_t *data, const uint8_t *end, size_t groups,
                                   const uint8_t *bits, uint8_t *plane)
{
    const uint8_t *header = data;
    if ((size_t)(end - data) < header_bytes(groups)) return NULL;
    data += header_bytes(groups);
    for (size_t g = 0; g < groups; g++, plane += GROUP) {
        const uint32_t width = bits[header[g / 4] >> g % 4 * 2 & 3], all = (1u << width) - 1;
        const uint8_t *extra = data + 2 * width;
        if (end - data < GROUP_BYTES) return NULL;
        for (uint32_t i = 0; i < GROUP; i++) {
            const uint32_t at = i * width % 8;
            // One bit: from the lowest on; two and four: from the highest.
            uint32_t value = data[i * width / 8] >> (width == 1 ? at : 8 - width - at) & all;
            if (width == 0) value = 0;
            const bool escaped = value == all && width > 0 && width < 8;
            plane[i] = escaped ? *extra : (uint8_t)value;
            extra += escaped;
        }
        data = extra;
    }
    return data;
}

static uint32_t unzigzag(uint32_t value, uint32_t low, uint32_t rest)
{
    // Of each byte or half word: shifted down by one, and all bits turned where the lowest was set.
    return (value >> 1 & rest) ^ (value & low) * (low == 0x01010101 ? 0xffu : 0xffffu);
}

static uint32_t add_lanes(uint32_t a, uint32_t b, uint32_t high)
{
    return ((a & ~high) + (b & ~high)) ^ ((a ^ b) & high);
}

static void join_plain(const uint8_t (*planes)[BLOCK_MOST], size_t count, uint8_t mode,
                       uint8_t *out, size_t stride, uint32_t *previous)
{
    uint32_t last = *previous;
    const uint32_t turn = mode >> 4;
    for (size_t i = 0; i < count; i++, out += stride) {
        uint32_t delta = (uint32_t)planes[0][i] | (uint32_t)planes[1][i] << 8 |
                         (uint32_t)planes[2][i] << 16 | (uint32_t)planes[3][i] << 24;
        if ((mode & 15) == 0)
            last = add_lanes(last, unzigzag(delta, 0x01010101, 0x7f7f7f7f), 0x80808080);
        else if ((mode & 15) == 1)
            last = add_lanes(last, unzigzag(delta, 0x00010001, 0x7fff7fff), 0x80008000);
        else
            last ^= delta >> turn | delta << ((32 - turn) & 31); // it was turned to the left
        cutis_store_u32(out, last);
    }
    *previous = last;
}

#if defined(__x86_64__)
#define SSSE3  __attribute__((target("ssse3,popcnt")))
#define INSIDE __attribute__((target("ssse3,popcnt"), always_inline)) // gcc would call them at -O2

/// The 16 values of a group with `width` bits, and 255 in `escaped` where a whole byte stands for
/// it.
INSIDE static inline __m128i spread(const uint8_t *data, uint32_t width, __m128i *escaped)
{
    const __m128i four = _mm_set1_epi8(15), two = _mm_set1_epi8(3);
    __m128i x = _mm_loadl_epi64((const __m128i *)data);
    if (width == 1) {
        const __m128i which = _mm_set1_epi64x((int64_t)0x8040201008040201ull);
        x = _mm_shuffle_epi8(x, _mm_set_epi64x(0x0101010101010101, 0));
        *escaped = _mm_cmpeq_epi8(_mm_and_si128(x, which), which);
        return _mm_setzero_si128();
    }
    x = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi16(x, 4), four), _mm_and_si128(x, four));
    if (width == 2)
        x = _mm_unpacklo_epi8(_mm_and_si128(_mm_srli_epi16(x, 2), two), _mm_and_si128(x, two));
    *escaped = _mm_cmpeq_epi8(x, width == 2 ? two : four);
    return _mm_andnot_si128(*escaped, x);
}

SSSE3 static const uint8_t *expand_ssse3(const uint8_t *data, const uint8_t *end, size_t groups,
                                         const uint8_t *bits, uint8_t *plane)
{
    const uint8_t *header = data;
    if ((size_t)(end - data) < header_bytes(groups)) return NULL;
    data += header_bytes(groups);
    for (size_t g = 0; g < groups; g++, plane += GROUP) {
        const uint32_t width = bits[header[g / 4] >> g % 4 * 2 & 3];
        if (end - data < GROUP_BYTES) return NULL;
        if (width == 0 || width == 8) {
            _mm_store_si128((__m128i *)plane,
                            width ? _mm_loadu_si128((const __m128i *)data) : _mm_setzero_si128());
            data += 2 * width;
            continue;
        }
        __m128i escaped;
        const __m128i values = spread(data, width, &escaped);
        // The byte of the k-th escape is the k-th extra one: how many escapes there are up to each.
        __m128i up_to = _mm_sub_epi8(_mm_setzero_si128(), escaped);
        up_to = _mm_add_epi8(up_to, _mm_slli_si128(up_to, 1));
        up_to = _mm_add_epi8(up_to, _mm_slli_si128(up_to, 2));
        up_to = _mm_add_epi8(up_to, _mm_slli_si128(up_to, 4));
        up_to = _mm_add_epi8(up_to, _mm_slli_si128(up_to, 8));
        // Minus one, and where there is none negative, which gives a zero.
        const __m128i place = _mm_or_si128(_mm_add_epi8(up_to, _mm_set1_epi8(-1)),
                                           _mm_andnot_si128(escaped, _mm_set1_epi8(-128)));
        const __m128i extra = _mm_loadu_si128((const __m128i *)(data + 2 * width));
        _mm_store_si128((__m128i *)plane, _mm_or_si128(values, _mm_shuffle_epi8(extra, place)));
        data += 2 * width + (uint32_t)__builtin_popcount((uint32_t)_mm_movemask_epi8(escaped));
    }
    return data;
}

/// Four elements: their deltas summed up one after the other, from `last` on.
INSIDE static inline __m128i sum_up(__m128i delta, __m128i last, uint8_t mode)
{
    if ((mode & 15) == 0) {
        const __m128i one = _mm_set1_epi8(1),
                      sign = _mm_sub_epi8(_mm_setzero_si128(), _mm_and_si128(delta, one));
        delta = _mm_xor_si128(_mm_and_si128(_mm_srli_epi16(delta, 1), _mm_set1_epi8(127)), sign);
        delta = _mm_add_epi8(delta, _mm_slli_si128(delta, 4));
        return _mm_add_epi8(_mm_add_epi8(delta, _mm_slli_si128(delta, 8)), last);
    }
    if ((mode & 15) == 1) {
        const __m128i one = _mm_set1_epi16(1),
                      sign = _mm_sub_epi16(_mm_setzero_si128(), _mm_and_si128(delta, one));
        delta = _mm_xor_si128(_mm_srli_epi16(delta, 1), sign);
        delta = _mm_add_epi16(delta, _mm_slli_si128(delta, 4));
        return _mm_add_epi16(_mm_add_epi16(delta, _mm_slli_si128(delta, 8)), last);
    }
    const int turn = mode >> 4; // a shift by all 32 bits gives zero
    delta = _mm_or_si128(_mm_srli_epi32(delta, turn), _mm_slli_epi32(delta, 32 - turn));
    delta = _mm_xor_si128(delta, _mm_slli_si128(delta, 4));
    return _mm_xor_si128(_mm_xor_si128(delta, _mm_slli_si128(delta, 8)), last);
}

/// Four elements to their places. @return the last of them, four times
INSIDE static inline __m128i join_four(uint8_t *out, size_t stride, __m128i four)
{
    const uint64_t low = (uint64_t)_mm_cvtsi128_si64(four);
    const uint64_t high = (uint64_t)_mm_cvtsi128_si64(_mm_unpackhi_epi64(four, four));
    const uint32_t lanes[] = { (uint32_t)low, (uint32_t)(low >> 32), (uint32_t)high,
                               (uint32_t)(high >> 32) };
    memcpy(out, &lanes[0], 4);
    memcpy(out + stride, &lanes[1], 4);
    memcpy(out + 2 * stride, &lanes[2], 4);
    memcpy(out + 3 * stride, &lanes[3], 4);
    return _mm_shuffle_epi32(four, 0xff);
}

INSIDE static inline void join_mode(const uint8_t (*planes)[BLOCK_MOST], size_t count, uint8_t mode,
                                    uint8_t *out, size_t stride, uint32_t *previous)
{
    __m128i last = _mm_set1_epi32((int)*previous);
    for (size_t i = 0; i < count; i += GROUP) {
        const __m128i a = _mm_load_si128((const __m128i *)(planes[0] + i));
        const __m128i b = _mm_load_si128((const __m128i *)(planes[1] + i));
        const __m128i c = _mm_load_si128((const __m128i *)(planes[2] + i));
        const __m128i d = _mm_load_si128((const __m128i *)(planes[3] + i));
        const __m128i low = _mm_unpacklo_epi8(a, b), low2 = _mm_unpacklo_epi8(c, d);
        const __m128i high = _mm_unpackhi_epi8(a, b), high2 = _mm_unpackhi_epi8(c, d);
        const __m128i first = _mm_unpacklo_epi16(low, low2), second = _mm_unpackhi_epi16(low, low2);
        const __m128i third = _mm_unpacklo_epi16(high, high2);
        const __m128i fourth = _mm_unpackhi_epi16(high, high2);
        uint8_t rest[4 * GROUP]; // the last group: not all of it is wanted
        const bool whole = count - i >= GROUP;
        uint8_t *to = whole ? out : rest;
        const size_t step = whole ? stride : 4;
        last = join_four(to, step, sum_up(first, last, mode));
        last = join_four(to + 4 * step, step, sum_up(second, last, mode));
        last = join_four(to + 8 * step, step, sum_up(third, last, mode));
        last = join_four(to + 12 * step, step, sum_up(fourth, last, mode));
        if (whole)
            out += GROUP * stride;
        else
            for (size_t k = 0; k < count - i; k++, out += stride) memcpy(out, rest + 4 * k, 4);
    }
    memcpy(previous, out - stride, 4);
}

SSSE3 static void join_ssse3(const uint8_t (*planes)[BLOCK_MOST], size_t count, uint8_t mode,
                             uint8_t *out, size_t stride, uint32_t *previous)
{
    // A loop for each: what is the same for all elements is asked for once.
    if (mode == 0)
        join_mode(planes, count, 0, out, stride, previous);
    else if (mode == 1)
        join_mode(planes, count, 1, out, stride, previous);
    else
        join_mode(planes, count, mode, out, stride, previous);
}
#endif

/// What a stream is decoded with.
typedef struct vertex_stream {
    const uint8_t *end;      ///< of the whole, with its tail
    const uint8_t *channels; ///< their modes; NULL: codec 0, where all are 0
    size_t stride;
    uint32_t last[64]; ///< the element before the block
    expander expand;
    joiner join;
} vertex_stream;

static const uint8_t *decode_plane(const vertex_stream *stream, const uint8_t *data,
                                   uint32_t control, size_t count, uint8_t *plane)
{
    static const uint8_t BITS[][4] = { { 0, 1, 2, 4 }, { 1, 2, 4, 8 }, { 0, 2, 4, 8 } };
    const size_t groups = (count + GROUP - 1) / GROUP;
    if (!stream->channels) return stream->expand(data, stream->end, groups, BITS[2], plane);
    if (control < 2) return stream->expand(data, stream->end, groups, BITS[control], plane);
    if (control == 2) {
        memset(plane, 0, groups * GROUP);
        return data;
    }
    if ((size_t)(stream->end - data) < count) return NULL;
    memcpy(plane, data, count);
    return data + count;
}

static const uint8_t *decode_block(vertex_stream *stream, const uint8_t *data, size_t count,
                                   uint8_t *out)
{
    _Alignas(16) uint8_t planes[4][BLOCK_MOST] = { 0 };
    const uint8_t *control = data;
    if (stream->channels) {
        if ((size_t)(stream->end - data) < stream->stride / 4) return NULL;
        data += stream->stride / 4;
    }
    for (size_t c = 0; c < stream->stride / 4; c++) {
        for (uint32_t k = 0; k < 4 && data; k++)
            data = decode_plane(stream, data, stream->channels ? control[c] >> 2 * k & 3 : 0, count,
                                planes[k]);
        if (!data) return NULL;
        stream->join((const uint8_t(*)[BLOCK_MOST])planes, count,
                     stream->channels ? stream->channels[c] : 0, out + 4 * c, stream->stride,
                     &stream->last[c]);
    }
    return data;
}

static bool decode_vertices(const gltf_meshopt *packed, uint8_t *out)
{
    const size_t stride = packed->stride;
    if (packed->size < 1 || packed->data[0] >> 4 != 0xa || (packed->data[0] & 15) > 1) return false;
    const bool second = packed->data[0] & 1;
    const size_t tail = second ? stride + stride / 4 : stride, least = second ? 24 : 32;
    const size_t padded = tail < least ? least : tail;
    if (packed->size < 1 + padded) return false;
    vertex_stream stream = { .end = packed->data + packed->size,
                             .stride = stride,
                             .expand = expand_plain,
                             .join = join_plain };
#if defined(__x86_64__)
    if (!packed->plain && __builtin_cpu_supports("ssse3") && __builtin_cpu_supports("popcnt")) {
        stream.expand = expand_ssse3;
        stream.join = join_ssse3;
    }
#endif
    for (size_t c = 0; c < stride / 4; c++)
        stream.last[c] = cutis_load_u32(stream.end - tail + 4 * c);
    if (second) stream.channels = stream.end - stride / 4;
    for (size_t c = 0; second && c < stride / 4; c++) {
        const uint8_t mode = stream.channels[c];
        if ((mode & 15) > 2 || ((mode & 15) < 2 && mode >> 4)) return false;
    }
    size_t most = BLOCK_BYTES / stride / GROUP * GROUP;
    if (most > BLOCK_MOST) most = BLOCK_MOST;
    const uint8_t *data = packed->data + 1;
    for (size_t done = 0; done < packed->count && data; done += most) {
        const size_t left = packed->count - done;
        data = decode_block(&stream, data, left < most ? left : most, out + done * stride);
    }
    return data == stream.end - padded;
}

bool cutis_gltf_meshopt_possible(const gltf_meshopt *p)
{
    const bool index = p->stride == 2 || p->stride == 4;
    const bool attribute = p->stride > 0 && p->stride % 4 == 0 && p->stride <= 256;
    if (p->mode == MESHOPT_ATTRIBUTES ? !attribute : !index) return false;
    if (p->mode == MESHOPT_TRIANGLES && p->count % 3) return false;
    if (p->filter == MESHOPT_NONE) return true;
    if ((p->filter == MESHOPT_OCTAHEDRAL || p->filter == MESHOPT_COLOR) && p->stride != 4 &&
        p->stride != 8)
        return false;
    if (p->filter == MESHOPT_QUATERNION && p->stride != 8) return false;
    return p->mode == MESHOPT_ATTRIBUTES;
}

bool cutis_gltf_meshopt_decode(const gltf_meshopt *packed, uint8_t *out)
{
    if (packed->mode == MESHOPT_TRIANGLES) return cutis_gltf_meshopt_triangles(packed, out);
    if (packed->mode == MESHOPT_INDICES) return cutis_gltf_meshopt_indices(packed, out);
    if (!decode_vertices(packed, out)) return false;
    cutis_gltf_meshopt_filter(packed, out);
    return true;
}
