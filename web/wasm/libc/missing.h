/// What wasi-libc leaves out and we use: included before the files that do
/// (web/wasm/CMakeLists.txt).
#ifndef STUDIO_MISSING_H
#define STUDIO_MISSING_H

char *realpath(const char *path, char *out);
#define fchown(file, owner, group) ((void)(file), 0)
#define fchmod(file, mode)         ((void)(file), 0)

#endif
