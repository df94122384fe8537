/// A glTF document in memory: its JSON, buffers, views and accessors, all checked; the map between
/// file and model. It is the model's source, so that writing can start from it.
#ifndef CUTIS_IO_GLTF_DOCUMENT_H
#define CUTIS_IO_GLTF_DOCUMENT_H

#include "base/error.h"
#include "base/memory.h"
#include "io/gltf/gltf.h"
#include "io/json.h"
#include "model/report.h"
#include "model/source.h"

enum {
    GLTF_I8 = 5120,
    GLTF_U8 = 5121,
    GLTF_I16 = 5122,
    GLTF_U16 = 5123,
    GLTF_U32 = 5125,
    GLTF_F32 = 5126,
};

enum { GLTF_ARRAY_BUFFER = 34962, GLTF_ELEMENT_ARRAY_BUFFER = 34963 };

typedef enum gltf_shape {
    GLTF_SCALAR,
    GLTF_VEC2,
    GLTF_VEC3,
    GLTF_VEC4,
    GLTF_MAT2,
    GLTF_MAT3,
    GLTF_MAT4
} gltf_shape;

/// As the file names shapes; bytes of a component (0: of none that glTF has).
extern const char *const CUTIS_GLTF_SHAPES[];
uint32_t cutis_gltf_component_size(int64_t component);

enum { GLB_MAGIC = 0x46546C67, CHUNK_JSON = 0x4E4F534A, CHUNK_BIN = 0x004E4942 };

typedef struct gltf_buffer {
    const uint8_t *data; ///< NULL: the file gives none (a fallback buffer)
    void *owned;         ///< what cutis_os_read_file gave, or NULL
    size_t owned_size;
    size_t size; ///< byteLength
} gltf_buffer;

typedef struct gltf_view {
    const uint8_t *data; ///< NULL: none; decompressed where compressed
    size_t size;
    uint32_t buffer;
    size_t offset;    ///< into the buffer; meaningless when compressed
    uint32_t stride;  ///< 0: not given
    uint32_t target;  ///< 0: not given
    bool compressed;  ///< its bytes are its own: meshopt_compression, or laid out anew
    bool askew;       ///< its stride is none of glTF's: every accessor on it is askew
    bool abandoned;   ///< an accessor on it was laid out anew elsewhere
    int32_t vertices; ///< an accessor on it that is a vertex attribute, or CUTIS_NONE
    int32_t indices;  ///< an accessor on it that is an index array, or CUTIS_NONE
} gltf_view;

/// What fills an accessor: itself; a stream that was decoded, with a loss that its bounds need not
/// know of; one that nobody here decodes, of which nothing can be said.
typedef enum gltf_draco { GLTF_DRACO_NONE, GLTF_DRACO_DECODED, GLTF_DRACO_UNDECODED } gltf_draco;

typedef struct gltf_accessor {
    gltf_shape shape;
    uint32_t component; ///< GLTF_I8 ...
    bool normalized;
    bool has_bounds;
    bool missing;   ///< a buffer under it has no data
    bool loose;     ///< its sparse values could not be put in: bounds say nothing
    bool unknown;   ///< a type glTF does not have: nothing may use it
    bool askew;     ///< readable, but not laid out as glTF wants it: uses.c lays it out anew
    bool unfit;     ///< readable, but its content is not glTF's: the writer never keeps it
    bool idle;      ///< nothing of the core uses it
    bool boundless; ///< its use asks for bounds that it does not have
    uint8_t draco;  ///< what KHR_draco_mesh_compression says of it (gltf_draco)
    uint32_t count;
    uint32_t width;      ///< components of an element
    int32_t view;        ///< or CUTIS_NONE
    const uint8_t *data; ///< first element, or NULL: zeros
    size_t stride;       ///< bytes from element to element
    uint32_t sparse_count;
    uint32_t sparse_component;
    const uint8_t *sparse_indices, *sparse_values;
} gltf_accessor;

/// What generous reading put right, a line for each code: how often, and where first.
typedef struct gltf_note {
    const char *code;
    uint64_t count;
    const char *place, *text;
} gltf_note;
enum { GLTF_NOTES_MAX = 64 };
typedef struct gltf_notes {
    uint32_t count;
    gltf_note items[GLTF_NOTES_MAX];
} gltf_notes;

typedef struct gltf_document {
    cutis_source source; ///< first, so that the two pointers are the same
    cutis_context *context;
    cutis_arena arena;
    cutis_arena parts;     ///< of what is decoded; gone once the gate has copied `data`
    cutis_model_data data; ///< what has been decoded; while writing: of the model
    const char *file;
    bool on_disk, binary, repair;
    bool kept;      ///< it outlives the bytes it is loaded from
    bool strict;    ///< refuse what the Khronos validator calls an error, harmless or not
    bool published; ///< models share it: nothing in it changes any more
    bool wrong;     ///< an issue has been reported; the phase under way is the last
    cutis_check_report *report; ///< while inspecting: where issues go; else NULL
    gltf_notes *notes;          ///< while reading for use; else NULL
    json_t *root;
    size_t json_bytes;    ///< charged to the context for `root`
    uint64_t input_bytes; ///< of all files read
    uint64_t charged;
    const uint8_t *bin; ///< the GLB's binary chunk while loading
    size_t bin_size;
    const uint8_t *chunks; ///< of a GLB that is kept: those nobody knows, with their headers
    size_t chunks_size;
    uint32_t buffer_count, view_count, view_capacity, accessor_count;
    gltf_buffer *buffers;
    gltf_view *views;
    gltf_accessor *accessors;
    bool quantized; ///< KHR_mesh_quantization is declared
    uint8_t *draco; ///< a gltf_draco per accessor; NULL: the extension is not used

    uint32_t node_count, mesh_count, skin_count, clip_count, material_count;
    uint32_t *node_of_model; ///< file index of each node of the model
    uint32_t *model_of_node; ///< and back
    int32_t *parent_of_node; ///< file indices, or CUTIS_NONE
    uint8_t *in_scene;       ///< per file node
    uint32_t **primitives;   ///< per mesh: file index of each primitive of the model
    uint32_t **channels;     ///< per clip: file index of each channel of the model
    uint32_t *primitive_counts, *channel_counts;
    uint32_t *joint_limits; ///< per mesh: joints of the smallest skin it is used with
    uint32_t *joints_used;  ///< per mesh: one more than the greatest joint that has a weight
    uint32_t *binds_needed; ///< per skin: the greatest of these over its meshes
} gltf_document;

/// Load container, JSON, buffers, views and accessors. Release with
/// cutis_source_release(&document->source).
/// @param purpose only what it is loaded for: `repair`, `strict`, `kept` and `report`
cutis_result cutis_gltf_document_load(const cutis_input *input, const gltf_document *purpose,
                                      gltf_document **out);
void cutis_gltf_document_destroy(cutis_source *source);

/// Set the error "file: pointer: reason [code]"; the pointer is a format for its indices, the code
/// the Khronos validator's (or one of ours for what it does not know). NULL: a limit, no issue of
/// the file.
cutis_result cutis_gltf_issue(const gltf_document *document, cutis_result result, const char *code,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));

/// The same for what nearly all issues are: the file contradicts itself or the specification.
#define WRONG(...) cutis_gltf_issue(document, CUTIS_CORRUPT_DATA, __VA_ARGS__)

/// What breaks the letter of the format and still has one safe meaning. Strict: an error, as
/// cutis_gltf_issue. Reading for use: CUTIS_OK, and noted once for each code; the caller goes on
/// with that meaning, after all sizes and ranges were checked, and sees to it that nobody writes
/// the fault (it mends `root`, or marks the accessor askew or unfit).
cutis_result cutis_gltf_forgive(const gltf_document *document, cutis_result result,
                                const char *code, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/// The same as a statement: it ends the function that is strict.
#define FORGIVE(...)                                                                               \
    do {                                                                                           \
        cutis_result forgiven_ = cutis_gltf_forgive(document, CUTIS_CORRUPT_DATA, __VA_ARGS__);    \
        if (forgiven_ != CUTIS_OK) return forgiven_;                                               \
    } while (0)

/// Whether values are put right: reading for use, but not when the writer looks at the source
/// again, which must find what the file really holds.
static inline bool cutis_gltf_mends(const gltf_document *document)
{
    return !document->strict && !document->published;
}

/// A warning or information for the report, if there is one; never an error.
void cutis_gltf_remark(const gltf_document *document, uint8_t severity, const char *code,
                       const char *format, ...) __attribute__((format(printf, 4, 5)));

/// What this run does not look at, for the report, if there is one: "place: what or why".
void cutis_gltf_not_checked(const gltf_document *document, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/// After an item of a list: while inspecting, one that is wrong does not hide the next ones. true:
/// go on, *result is CUTIS_OK again and the document `wrong`; false: stop with *result.
bool cutis_gltf_go_on(gltf_document *document, cutis_result *result);

/// At the end of a phase: what was collected in it makes it fail.
cutis_result cutis_gltf_end_phase(const gltf_document *document, cutis_result result);

/// Allow for `count * item` bytes more of decoded data, before it is allocated. The bound is 64
/// times the input plus 16 MiB over everything reading takes, so a small file cannot ask for a
/// large machine.
cutis_result cutis_gltf_charge(gltf_document *document, uint64_t count, uint64_t item);

/// Whether a URI has the syntax of one; of base64 also its padding (strict_json.c).
bool cutis_gltf_uri_valid(const char *uri);
bool cutis_gltf_base64_valid(const char *text);
/// Decode base64 up to its end or padding, and write at most `size` bytes of it.
/// @return how many bytes it holds
size_t cutis_gltf_decode_base64(const char *text, uint8_t *out, size_t size, bool *malformed);
/// The content of a data URI with a comma, base64 or plain; at most `size` bytes of it are written.
/// @return how many bytes were
size_t cutis_gltf_decode_data_uri(const char *uri, uint8_t *out, size_t size);
/// "%20" and the like; false if malformed, too long, or hiding a zero byte.
bool cutis_gltf_decode_percent(const char *uri, char *out, size_t capacity);
/// Container and buffers (container.c).
cutis_result cutis_gltf_load_json(gltf_document *document, const cutis_input *input);
cutis_result cutis_gltf_load_buffers(gltf_document *document);
/// Decode KHR_draco_mesh_compression into a buffer of its own (draco.c).
cutis_result cutis_gltf_unpack_draco(gltf_document *document);
/// Which extensions we understand, and how far (extensions.c). A file that requires it can be read:
/// it changes materials, textures or metadata only, or we implement it.
bool cutis_gltf_extension_readable(const char *name);
/// We know every place where it refers to accessors, views or buffers, so those that nothing refers
/// to may be dropped.
bool cutis_gltf_extension_known(const char *name);
/// Whether an object of type `place` (as the schema names it) may hold the extension. Extensions
/// whose places we do not know may stand anywhere.
bool cutis_gltf_extension_belongs(const char *name, const char *place);
/// Whether the schema has the inside of the extension (schema_extensions.c).
bool cutis_gltf_extension_checked(const char *name);
/// Name an extension in the list of those in use. @return false: no memory
bool cutis_gltf_declare(json_t *root, const char *name);
/// Whether no object of the core has a property that glTF 2.0 does not have.
bool cutis_gltf_plain_schema(const json_t *root);
/// The shape of the whole of document->root: types, ranges, required properties, references in
/// range (schema.c). After it, readers take values out of the JSON without asking again. The error
/// reads "file: /json/pointer: reason [CODE]".
cutis_result cutis_gltf_check_schema(gltf_document *document);
/// The two names of the same thing, and what of it an object has: a view, or a fallback buffer.
extern const char *const CUTIS_GLTF_MESHOPT[2];
const json_t *cutis_gltf_meshopt_extension(const json_t *object); ///< NULL if absent
/// Views (view.c) and accessors (accessor.c).
cutis_result cutis_gltf_load_views(gltf_document *document);
cutis_result cutis_gltf_load_accessors(gltf_document *document);

/// An accessor, after it was charged, as floats: normalised and quantised integers become floats,
/// sparse values are in place. Decoded into `parts`, or, where they lie there as they are, the
/// bytes of the document or of the caller's memory: never to be written, and gone with the
/// document. Not-finite floats are an error.
cutis_result cutis_gltf_new_floats(gltf_document *document, uint32_t accessor, const float **out);
/// The same to be mended: always in `parts`.
cutis_result cutis_gltf_own_floats(gltf_document *document, uint32_t accessor, float **out);
/// The same as the first for integers that stay integers; floats are an error.
cutis_result cutis_gltf_new_integers(gltf_document *document, uint32_t accessor,
                                     const uint32_t **out);
/// Whether the file holds anything for it; else its elements are zeros.
bool cutis_gltf_has_data(const gltf_accessor *accessor);
/// The same for directions: vectors of 3 floats, of 4 with a sign. Others than unit ones are
/// noted, and written as such.
cutis_result cutis_gltf_new_directions(gltf_document *document, uint32_t accessor,
                                       const char *place, const float **out);
/// Compare declared minimum and maximum with the content; while reading for use what is declared
/// becomes what is.
cutis_result cutis_gltf_check_bounds(gltf_document *document, uint32_t accessor);
/// Lay an accessor out anew, tightly, in a view of its own with that target (GLTF_ARRAY_BUFFER:
/// elements at multiples of 4 bytes; 0: none). Nothing happens where the document does not stay.
cutis_result cutis_gltf_repack(gltf_document *document, uint32_t accessor, uint32_t target);

/// Small reads from JSON that the schema has already checked.
int64_t cutis_gltf_integer(const json_t *object, const char *key, int64_t otherwise);
double cutis_gltf_number(const json_t *object, const char *key, double otherwise);
int32_t cutis_gltf_index(const json_t *object, const char *key);      ///< CUTIS_NONE if absent
const char *cutis_gltf_string(const json_t *object, const char *key); ///< NULL if absent
void cutis_gltf_floats(const json_t *array, float *out);              ///< all of the array
const json_t *cutis_gltf_item(const gltf_document *document, const char *collection, size_t index);
const json_t *cutis_gltf_extension(const json_t *object, const char *name); ///< NULL if absent
uint32_t cutis_gltf_entry(const json_t *array, size_t index); ///< of an array of indices
/// Place of a text in an array, of a word in a list of them; -1: not there.
int cutis_gltf_find_text(const json_t *array, const char *text);
int cutis_gltf_find_word(const char *const *words, int count, const char *word);
bool cutis_gltf_all_numbers(const json_t *array, size_t count); ///< an array of `count` of them
/// The accessor that a property of an extension names; -1: none of the file.
int64_t cutis_gltf_accessor_of(const gltf_document *document, const json_t *value);
/// Zeros for every item of a collection of the root, or NULL.
void *cutis_gltf_new_items(const gltf_document *document, cutis_arena *arena,
                           const char *collection, size_t item, uint32_t *count);

/// Between these two what is decoded is only looked at: it goes again, with what it was charged.
typedef struct gltf_glance {
    cutis_arena parts; ///< those that stay
    uint64_t charged;
} gltf_glance;
gltf_glance cutis_gltf_glance(gltf_document *document);
void cutis_gltf_forget(gltf_document *document, const gltf_glance *before);

#endif
