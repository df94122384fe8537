/// What wasi-libc leaves out and we use: included before the files that do
/// (web/wasm/CMakeLists.txt).
#ifndef STUDIO_MISSING_H
#define STUDIO_MISSING_H

#include <sys/types.h>

char *realpath(const char *path, char *out);
int fchown(int file, uid_t owner, gid_t group);
int fchmod(int file, mode_t mode);

#endif
