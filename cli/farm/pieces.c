/// Cutting: units into pieces, pieces into slices, and the files that pieces are put into.
/// Invariant: pieces depend on the jobs and their files alone, not on how many ranks there are, so
/// that a run goes on with any number of them.
#include "farm.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static uint64_t frame_bytes(const farm_unit *u)
{
    return 12 * (uint64_t)u->vertices;
}

static size_t header_of(const char *name, const farm_unit *u, char header[CUTIS_FRAME_HEADER_MOST])
{
    size_t size = 0;
    if (cutis_frame_header(name, u->end - u->first, u->vertices, header, &size) != CUTIS_OK)
        size = 0;
    return size;
}

uint64_t farm_place(const farm_unit *u, uint32_t frame, bool normals)
{
    char header[CUTIS_FRAME_HEADER_MOST];
    return header_of(normals ? u->normals : u->output, u, header) +
           frame_bytes(u) * (frame - u->first);
}

/// What a byte of a model costs the verbs, against reading it: they order pieces and no more.
static double verb_cost(const char *verb)
{
    static const struct {
        const char *verb;
        double cost;
    } COSTS[] = { { "check", 1 },   { "convert", 1 }, { "compare", 30 }, { "fit", 40 },
                  { "reduce", 60 }, { "rig", 100 },   { "bake", 200 },   { "deform", 4 } };
    for (size_t i = 0; i < sizeof COSTS / sizeof *COSTS; i++)
        if (strcmp(COSTS[i].verb, verb) == 0) return COSTS[i].cost;
    return 1;
}

static uint32_t frames_a_piece(const farm_unit *u)
{
    const uint64_t bytes = frame_bytes(u) * (u->normals ? 2 : 1);
    uint64_t count = u->frames_a_piece ? u->frames_a_piece : FARM_PIECE_BYTES / (bytes ? bytes : 1);
    if (count < 1) count = 1;
    const uint32_t all = u->end - u->first;
    return count < all ? (uint32_t)count : all ? all : 1;
}

static const farm *sorted; // qsort has no word for it

static int compare_units(const void *a, const void *b)
{
    const uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
    const double x = sorted->units[i].cost, y = sorted->units[k].cost;
    return x != y ? (x < y ? 1 : -1) : (i > k) - (i < k);
}

/// Each piece, the dearest unit first, goes to the slice that has least to do so far.
static int assign_slices(farm *f)
{
    OWN_MEMORY double *loads = calloc(f->slices, sizeof *loads);
    if (!loads) return app_fail_text(f->app, "%s: not enough memory", f->jobs_name);
    for (uint32_t i = 0; i < f->unit_count; i++) {
        const farm_unit *u = &f->units[f->order[i]];
        for (uint32_t k = 0; k < u->piece_count; k++) {
            uint32_t least = 0;
            for (uint32_t s = 1; s < f->slices; s++)
                if (loads[s] < loads[least]) least = s;
            loads[least] += u->cost / u->piece_count;
            f->pieces[u->piece_first + k].elsewhere = least + 1 != f->slice;
        }
    }
    return EXIT_GOOD;
}

int farm_cut(farm *f)
{
    uint64_t total = 0;
    for (uint32_t i = 0; i < f->unit_count; i++) {
        farm_unit *u = &f->units[i];
        const uint32_t size = u->cut ? frames_a_piece(u) : 1, frames = u->end - u->first;
        u->parts = u->parts && frames > 1;
        u->piece_first = (uint32_t)total;
        u->piece_count = u->cut ? (frames + size - 1) / size : u->parts ? frames + 1 : 1;
        u->cost = u->cut ? (double)frame_bytes(u) * frames + (double)u->file_bytes
                         : verb_cost(u->verb) * ((double)u->file_bytes + 1e4);
        total += u->piece_count;
        if (total > 100000000)
            return app_fail_text(f->app, "%s: more than 100,000,000 pieces", f->jobs_name);
    }
    f->piece_count = (uint32_t)total;
    f->pieces = calloc(total + 1, sizeof *f->pieces);
    f->order = calloc(f->unit_count + (size_t)1, sizeof *f->order);
    if (!f->pieces || !f->order)
        return app_fail_text(f->app, "%s: not enough memory", f->jobs_name);
    for (uint32_t i = 0; i < f->unit_count; i++) {
        const farm_unit *u = &f->units[i];
        f->order[i] = i;
        for (uint32_t k = 0; k < u->piece_count; k++) {
            farm_piece *p = &f->pieces[u->piece_first + k];
            *p = (farm_piece){ .unit = i, .tried_by = UINT32_MAX };
            if (u->parts && k + 1 < u->piece_count) p->first = k, p->end = k + 1;
            if (!u->cut) continue;
            p->first = u->first + k * frames_a_piece(u);
            p->end = k + 1 < u->piece_count ? p->first + frames_a_piece(u) : u->end;
        }
    }
    sorted = f;
    qsort(f->order, f->unit_count, sizeof *f->order, compare_units);
    return f->slices ? assign_slices(f) : EXIT_GOOD;
}

// Places ------------------------------------------------------------------------------------------

static int make_place(farm *f, const farm_unit *u, const char *name, bool normals)
{
    char header[CUTIS_FRAME_HEADER_MOST];
    const size_t size = header_of(name, u, header);
    const uint64_t whole = farm_place(u, u->end, normals);
    OWN_MEMORY char *path = farm_path(f, name, ".part");
    if (!path) return app_fail_text(f->app, "not enough memory");
    TRY(farm_make_parents(f->app, path));
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool made = file >= 0;
    if (!made) file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) return app_fail_text(f->app, "%s: %s", path, strerror(errno));
    // Room for all of it now, so that a full disk is told before the work, where that can be asked.
    int problem = fallocate(file, 0, 0, (off_t)whole) == 0 ? 0 : errno;
    if (problem == EOPNOTSUPP || problem == ENOSYS)
        problem = ftruncate(file, (off_t)whole) == 0 ? 0 : errno;
    if (!problem) problem = farm_write_at(file, header, size, 0);
    if (close(file) != 0 && !problem) problem = errno;
    if (!problem) return EXIT_GOOD;
    if (made) unlink(path); // one that was there has pieces in it
    return app_fail_text(f->app, "%s: %.3g GB cannot be put there: %s", path, 1e-9 * (double)whole,
                         strerror(problem));
}

int farm_make_places(farm *f)
{
    for (uint32_t i = 0; i < f->unit_count; i++) {
        const farm_unit *u = &f->units[i];
        bool ours = false;
        for (uint32_t k = 0; k < u->piece_count; k++)
            ours |= !f->pieces[u->piece_first + k].elsewhere &&
                    f->pieces[u->piece_first + k].state != PIECE_DONE;
        if (!u->cut || !ours) continue;
        TRY(make_place(f, u, u->output, false));
        if (u->normals) TRY(make_place(f, u, u->normals, true));
    }
    return EXIT_GOOD;
}

static size_t folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash + 1 - path) : 0;
}

/// Names of one folder stand together.
static int compare_names(const void *a, const void *b)
{
    const char *x = *(const char *const *)a, *y = *(const char *const *)b;
    const size_t of_x = folder_of(x), of_y = folder_of(y);
    if (of_x != of_y) return of_x < of_y ? -1 : 1;
    const int order = strncmp(x, y, of_x);
    return order ? order : strcmp(x + of_x, y + of_y);
}

static bool is_name(const char *path, const char *const *names, size_t count)
{
    return bsearch(&path, names, count, sizeof *names, compare_names) != NULL;
}

/// An output of ours, a frame of one (frames as meshes are NAME_0012.ply), or what is written
/// beside one: materials of an .obj, buffers of a .gltf.
static bool is_output(const char *path, const char *const *names, size_t count)
{
    static const char *const BESIDE[][2] = { { "", "" }, { ".mtl", ".obj" }, { ".bin", ".gltf" } };
    const char *dot = strrchr(path, '.'), *line = strrchr(path, '_');
    char other[4096];
    for (size_t i = 0; i < sizeof BESIDE / sizeof *BESIDE; i++) {
        if (i > 0 && (!dot || strcmp(dot, BESIDE[i][0]) != 0)) continue;
        const char *ending = i > 0 ? BESIDE[i][1] : dot ? dot : "";
        const size_t stem = dot ? (size_t)(dot - path) : strlen(path);
        snprintf(other, sizeof other, "%.*s%s", (int)stem, path, ending);
        if (is_name(other, names, count)) return true;
        if (!dot || !line || strspn(line + 1, "0123456789") != (size_t)(dot - line - 1)) continue;
        snprintf(other, sizeof other, "%.*s%s", (int)(line - path), path, ending);
        if (is_name(other, names, count)) return true;
    }
    return false;
}

/// Of one folder below OUT; `length`: of its name with the slash.
static void clean_folder(const farm *f, const char *folder, int length, const char *const *names,
                         size_t count)
{
    char below[4096], path[8192];
    snprintf(path, sizeof path, "%s/%.*s", f->out, length, folder);
    DIR *stream = opendir(path);
    for (const struct dirent *entry; stream && (entry = readdir(stream));) {
        const char *name = entry->d_name, *end = strstr(name, ".cutis-");
        // OpenMPI's lock beside a file that it has open: "NAME.part-123-45.lock".
        const char *part = strstr(name, ".part-");
        const bool lock = part && part != name && has_extension(name, ".lock");
        if (!lock && (name[0] != '.' || !end || end == name)) continue;
        snprintf(below, sizeof below, "%.*s%.*s", length, folder,
                 (int)(lock ? part - name : end - name - 1), lock ? name : name + 1);
        snprintf(path, sizeof path, "%s/%.*s%s", f->out, length, folder, entry->d_name);
        if (is_output(below, names, count)) unlink(path);
    }
    if (stream) closedir(stream);
}

void farm_clean(const farm *f)
{
    size_t count = 0;
    OWN_MEMORY const char **names = calloc(3 * (size_t)f->unit_count + 1, sizeof *names);
    if (!names) return; // they are in nobody's way
    for (uint32_t i = 0; i < f->unit_count; i++) {
        const farm_unit *u = &f->units[i];
        if (u->output) names[count++] = u->output;
        if (u->normals) names[count++] = u->normals;
        if (u->report) names[count++] = u->report;
    }
    names[count++] = "results.json";
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count; i++) { // each folder once
        const size_t length = folder_of(names[i]);
        if (i && folder_of(names[i - 1]) == length && strncmp(names[i - 1], names[i], length) == 0)
            continue;
        clean_folder(f, names[i], (int)length, names, count);
    }
}

static bool is_there(const farm *f, const char *name, const char *ending, uint64_t bytes)
{
    struct stat info;
    char *path = farm_path(f, name, ending);
    const bool there = path && stat(path, &info) == 0 && S_ISREG(info.st_mode) &&
                       (!bytes || (uint64_t)info.st_size == bytes);
    free(path);
    return there;
}

bool farm_unit_is_there(const farm *f, const farm_unit *u)
{
    if (!u->output) return true;
    if (!u->cut) { // frames as meshes have numbered names, not their output's
        const bool meshes =
            strcmp(u->verb, "deform") == 0 && has_extension(u->output, ".obj .ply .stl");
        return meshes || is_there(f, u->output, "", 0);
    }
    const char *const names[2] = { u->output, u->normals };
    for (int n = 0; n < 2 && names[n]; n++) {
        const uint64_t bytes = farm_place(u, u->end, n);
        if (!is_there(f, names[n], "", bytes) && !is_there(f, names[n], ".part", bytes))
            return false;
    }
    return true;
}

static int finish_file(farm *f, const char *name)
{
    OWN_MEMORY char *part = farm_path(f, name, ".part");
    OWN_MEMORY char *path = farm_path(f, name, "");
    if (!part || !path) return app_fail_text(f->app, "not enough memory");
    const int file = open(part, O_RDONLY | O_CLOEXEC);
    if (file < 0 && errno == ENOENT && access(path, F_OK) == 0) return EXIT_GOOD; // it was, before
    if (file < 0) return app_fail_text(f->app, "%s: %s", part, strerror(errno));
    int problem = fsync(file) == 0 ? 0 : errno;
    close(file);
    if (!problem && rename(part, path) != 0) problem = errno;
    return problem ? app_fail_text(f->app, "%s: %s", path, strerror(problem)) : EXIT_GOOD;
}

const part_verb *farm_parted(const farm_unit *u)
{
    static const part_verb *const VERBS[] = { &fit_in_parts, &bake_in_parts };
    for (size_t i = 0; i < sizeof VERBS / sizeof *VERBS; i++)
        if (strcmp(VERBS[i]->verb, u->verb) == 0) return VERBS[i];
    return NULL;
}

uint32_t farm_needs(const farm_unit *u, uint32_t piece)
{
    return u->parts ? farm_parted(u)->needs(u->end, piece) : 0;
}

char *farm_part_path(const farm *f, const farm_unit *u, uint32_t part)
{
    char name[64];
    snprintf(name, sizeof name, "farm/parts/%u.%u", (uint32_t)(u - f->units), part);
    return farm_path(f, name, "");
}

/// Parts that were put together are not needed any more.
static void remove_parts(const farm *f, const farm_unit *u)
{
    OWN_MEMORY char *folder = farm_path(f, "farm/parts", "");
    for (uint32_t k = u->first; k < u->end; k++) {
        OWN_MEMORY char *path = farm_part_path(f, u, k);
        if (path) unlink(path);
    }
    if (folder) rmdir(folder); // the last one
}

int farm_finish_unit(farm *f, farm_unit *u)
{
    u->finished = true;
    if (u->parts && !f->dry) remove_parts(f, u);
    if (!u->cut || f->dry) return EXIT_GOOD;
    if (u->normals) TRY(finish_file(f, u->normals)); // who finds the other finds it too
    return finish_file(f, u->output);
}
