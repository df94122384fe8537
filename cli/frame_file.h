/// Arrays of frames that stay in their file, for those that are larger than what may be in memory.
#ifndef CUTIS_CLI_FRAME_FILE_H
#define CUTIS_CLI_FRAME_FILE_H

#include "app.h"

/// The zero value: none is open.
typedef struct frame_file {
    FILE *file;
    int64_t at; ///< where the numbers begin
    uint32_t count, vertex_count;
} frame_file;

/// Open a .npy as NumPy writes float32 [frames, vertices, 3], or a .pc2, of more than `budget`
/// bytes. @return false: it is smaller, cannot be opened, or is another kind, which is read whole
bool frame_file_open(const char *path, uint64_t budget, uint32_t frames_most, frame_file *out);
/// Vertices [first, first + count) of a frame, three floats each. @return false: it ends before
bool frame_file_read(const frame_file *frames, uint32_t frame, uint32_t first, uint32_t count,
                     float *out);
void frame_file_close(frame_file *frames);

#endif
