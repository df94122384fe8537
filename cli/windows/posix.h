/// What the command uses of POSIX, on Windows: included before every file of it
/// (windows.cmake), so that those stay as they are. Paths are UTF-8 and of any length, the same
/// as in the library. Threads are those of winpthreads, linked into the program.
#ifndef CUTIS_CLI_WINDOWS_POSIX_H
#define CUTIS_CLI_WINDOWS_POSIX_H

// Windows' own first: the names below stand for ours afterwards.
#include <dirent.h>
#include <io.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#undef stat
#define stat posix_stat
struct posix_stat {
    unsigned long long st_dev, st_ino; ///< a file's own, whatever path leads to it
    unsigned st_mode;
    long long st_size;
};
int posix_stat(const char *path, struct posix_stat *out);

#define dirent posix_dirent
struct posix_dirent {
    unsigned char d_type;
    char d_name[1024]; ///< 255 characters of UTF-16 are fewer bytes
};
#undef DT_REG
#undef DT_DIR
enum { DT_DIR = 4, DT_REG = 8 };
#define DIR posix_folder
typedef struct posix_folder posix_folder;
#define opendir  posix_opendir
#define readdir  posix_readdir
#define closedir posix_closedir
#define scandir  posix_scandir
#define alphasort posix_alphasort
posix_folder *posix_opendir(const char *path);
struct posix_dirent *posix_readdir(posix_folder *folder);
int posix_closedir(posix_folder *folder);
int posix_scandir(const char *path, struct posix_dirent ***out,
                  int (*wanted)(const struct posix_dirent *),
                  int (*order)(const struct posix_dirent **, const struct posix_dirent **));
int posix_alphasort(const struct posix_dirent **a, const struct posix_dirent **b);

#define mkdir(path, mode) posix_mkdir(path)
#define access            posix_access
#define unlink            posix_unlink
#define rmdir             posix_rmdir
#define realpath          posix_realpath
#define isatty            posix_isatty
int posix_mkdir(const char *path);
int posix_access(const char *path, int mode);
int posix_unlink(const char *path);
int posix_rmdir(const char *path);
char *posix_realpath(const char *path, char *out);
int posix_isatty(int file); ///< a console; Windows' own says yes to NUL

#define fopen          posix_fopen
#define fclose         posix_fclose
#define open_memstream posix_open_memstream
FILE *posix_fopen(const char *path, const char *mode);
FILE *posix_open_memstream(char **text, size_t *size);
int posix_fclose(FILE *file);

#define strndup posix_strndup
char *posix_strndup(const char *text, size_t most);
/// Not aligned: whoever asks for it here gives it back by free, and is only faster by it.
#define aligned_alloc(alignment, size) malloc(size)

enum { _SC_NPROCESSORS_ONLN = 84 };
long sysconf(int name);

// dlfcn.h, which only Linux's names of the drivers' libraries come to.
enum { RTLD_NOW = 2 };
void *dlopen(const char *name, int flags);
void *dlsym(void *library, const char *name);
int dlclose(void *library);

#endif
