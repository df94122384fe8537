/// Reading of frame_file.h: only files whose numbers lie as memory has them are read in place.
#include "frame_file.h"

#include <string.h>
#include <sys/stat.h>

// @return where the numbers begin, or 0: it is another kind
static int64_t find_frames(const unsigned char *head, size_t size, uint32_t most, frame_file *out)
{
    if (size >= 32 && memcmp(head, "POINTCACHE2", 12) == 0) {
        uint32_t word[8];
        memcpy(word, head, sizeof word);
        if (word[3] != 1) return 0;
        out->vertex_count = word[4], out->count = word[7];
        return out->count <= most ? 32 : 0;
    }
    if (size < 128 || memcmp(head, "\x93NUMPY\x01", 7) != 0) return 0;
    const size_t length = head[8] + 256 * (size_t)head[9];
    char text[513];
    if (length + 10 > size || length >= sizeof text) return 0;
    memcpy(text, head + 10, length);
    text[length] = 0;
    const char *shape = strstr(text, "'shape': (");
    unsigned long long frames, vertices;
    int used = 0;
    if (!shape || !strstr(text, "'descr': '<f4'") || !strstr(text, "'fortran_order': False") ||
        sscanf(shape, "'shape': (%llu, %llu, 3)%n", &frames, &vertices, &used) != 2 || !used ||
        frames > most || vertices < 1 || vertices > UINT32_MAX)
        return 0;
    out->count = (uint32_t)frames, out->vertex_count = (uint32_t)vertices;
    return (int64_t)(10 + length);
}

bool frame_file_open(const char *path, uint64_t budget, uint32_t frames_most, frame_file *out)
{
    unsigned char head[512], low;
    const uint16_t one = 1;
    struct stat info;
    *out = (frame_file){ 0 };
    memcpy(&low, &one, 1);
    if (low != 1 || stat(path, &info) != 0 || (uint64_t)info.st_size <= budget) return false;
    out->file = fopen(path, "rb");
    if (!out->file) return false;
    const size_t size = fread(head, 1, sizeof head, out->file);
    out->at = find_frames(head, size, frames_most, out);
    const double end =
        (double)out->at + 3.0 * sizeof(float) * out->count * (double)out->vertex_count;
    if (out->at > 0 && end <= (double)info.st_size) return true;
    frame_file_close(out);
    return false;
}

bool frame_file_read(const frame_file *frames, uint32_t frame, uint32_t first, uint32_t count,
                     float *out)
{
    const int64_t vertex = (int64_t)frames->vertex_count * frame + first;
    const size_t floats = 3 * (size_t)count;
    return fseeko(frames->file, (off_t)(frames->at + (int64_t)(3 * sizeof(float)) * vertex),
                  SEEK_SET) == 0 &&
           fread(out, sizeof(float), floats, frames->file) == floats;
}

void frame_file_close(frame_file *frames)
{
    if (frames->file) fclose(frames->file);
    *frames = (frame_file){ 0 };
}
