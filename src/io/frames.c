// Frames of vertices written one after the other, as `.npy` or `.pc2`. The header is written first,
// with the counts the caller promised; finishing with another number of frames is an error and
// leaves no file.
#include "io/bytes.h"
#include "io/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/memory.h"
#include "base/os/os.h"

struct cutis_frame_writer {
    cutis_context *context;
    cutis_os_write *write;
    uint32_t frame_count, frames_written;
    uint32_t vertex_count;
};

// Version 1 header, padded with blanks so that the numbers start at a multiple of 64.
static size_t npy_header(uint32_t frames, uint32_t vertices, char header[192])
{
    int length = snprintf(header + 10, 128,
                          "{'descr': '<f4', 'fortran_order': False, 'shape': (%u, %u, 3), }",
                          frames, vertices);
    size_t size = ((size_t)length + 10 + 1 + 63) / 64 * 64;
    memset(header + 10 + length, ' ', size - 10 - (size_t)length);
    header[size - 1] = '\n';
    // Bytes, not text.
    // NOLINTNEXTLINE(bugprone-not-null-terminated-result)
    memcpy(header, "\x93NUMPY\x01\x00", 8);
    header[8] = (char)((size - 10) & 255);
    header[9] = (char)((size - 10) >> 8);
    return size;
}

// One sample per frame from frame 0; PC2 has no frame rate.
static size_t pc2_header(uint32_t frames, uint32_t vertices, char header[192])
{
    memcpy(header, "POINTCACHE2", 12);
    cutis_store_u32(header + 12, 1);
    cutis_store_u32(header + 16, vertices);
    cutis_store_f32(header + 20, 0);
    cutis_store_f32(header + 24, 1);
    cutis_store_u32(header + 28, frames);
    return 32;
}

cutis_result cutis_frame_writer_create(cutis_context *context, const char *path,
                                       uint32_t frame_count, uint32_t vertex_count,
                                       float frames_per_second, cutis_frame_writer **out)
{
    if (out) *out = NULL;
    if (!context || !path || !out) return CUTIS_INVALID_ARGUMENT;
    if (!(frames_per_second > 0) || !isfinite(frames_per_second))
        return cutis_fail(context, CUTIS_INVALID_ARGUMENT, "%s: frames per second must be positive",
                          path);
    cutis_format format = cutis_format_of_name(path);
    if (format != CUTIS_FORMAT_NPY && format != CUTIS_FORMAT_PC2)
        return cutis_fail(context, CUTIS_UNSUPPORTED_FORMAT,
                          "%s: frames are written to .npy or .pc2", path);
    cutis_frame_writer *writer = cutis_alloc_zero(context, 1, sizeof *writer);
    if (!writer) return cutis_alloc_result(context);
    writer->context = context;
    writer->frame_count = frame_count;
    writer->vertex_count = vertex_count;
    char header[192];
    size_t size = format == CUTIS_FORMAT_NPY ? npy_header(frame_count, vertex_count, header)
                                             : pc2_header(frame_count, vertex_count, header);
    cutis_result result = cutis_os_write_begin(context, path, &writer->write);
    if (result == CUTIS_OK) result = cutis_os_write_append(writer->write, header, size);
    if (result != CUTIS_OK) {
        cutis_frame_writer_destroy(writer);
        return result;
    }
    *out = writer;
    return CUTIS_OK;
}

cutis_result cutis_frame_writer_add(cutis_frame_writer *writer, const float *positions)
{
    if (!writer || (!positions && writer->vertex_count)) return CUTIS_INVALID_ARGUMENT;
    if (writer->frames_written == writer->frame_count)
        return cutis_fail(writer->context, CUTIS_INVALID_ARGUMENT,
                          "frame %u: only %u were announced", writer->frames_written,
                          writer->frame_count);
    // As they lie: a file has the bytes that memory has (io/bytes.h).
    const size_t size = (size_t)writer->vertex_count * 3 * sizeof *positions;
    const cutis_result result =
        size ? cutis_os_write_append(writer->write, positions, size) : CUTIS_OK;
    if (result != CUTIS_OK) return result;
    writer->frames_written++;
    return CUTIS_OK;
}

cutis_result cutis_frame_writer_finish(cutis_frame_writer *writer)
{
    if (!writer) return CUTIS_INVALID_ARGUMENT;
    cutis_result result;
    if (writer->frames_written != writer->frame_count) {
        result = cutis_fail(writer->context, CUTIS_INVALID_ARGUMENT,
                            "%u of %u announced frames were written", writer->frames_written,
                            writer->frame_count);
    } else {
        result = cutis_os_write_commit(writer->write);
        writer->write = NULL;
    }
    cutis_frame_writer_destroy(writer);
    return result;
}

void cutis_frame_writer_destroy(cutis_frame_writer *writer)
{
    if (!writer) return;
    cutis_os_write_abort(writer->write);
    cutis_free(writer->context, writer, sizeof *writer);
}
