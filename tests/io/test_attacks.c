// Attacks rebuilt from published classes of bugs in readers of this kind (integer overflow in
// counts and offsets, indices that nobody checks, cycles and deep trees, chunk lengths, hostile
// URIs, numbers that are none, unclosed and endless texts): each is refused with the code that
// names it, leaves nothing allocated and takes no time. The seed itself passes.
#include "support.h"

#include "attack_base.h"

#include <fcntl.h>
#include <unistd.h>

static cutis_context *context;
static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/cutis_attacks_XXXXXX");
    return cutis_context_create(NULL, &context) == CUTIS_OK && mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[128];
    uint64_t left = cutis_context_memory(context);
    (void)state;
    cutis_context_destroy(context);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return left == 0 && system(command) == 0 ? 0 : -1;
}

static int attack_count;

// Attacks that break the letter of glTF but have one safe meaning: read for use they are what
// their neighbours in tests/io/gltf_faults.py are. Strict, each is refused like the others.
static const char *const GENEROSITIES[] = {
    // strides and bounds
    "stride of zero",
    "position beyond its bounds",
    // lengths and paddings
    "buffer longer than its chunk",
    "view past the buffer",
    "length of 4 GiB",
    "cut in a chunk",
    "data:application/octet-stream;base64,AAAA",
    "data:text/html;base64,AAAAAAAAAAA=",
    // names and lists
    "child twice",
    "joint twice",
    // data
    "joint out of range with weight 0",
    "weights that sum to more",
    "weight of 3e38",
    "keys that go back",
};
static bool met[sizeof GENEROSITIES / sizeof *GENEROSITIES];

/// Whether an attack that was read for use may be; what is written of it is right.
static void expect_generosity(const char *name, cutis_model *model)
{
    char path[160];
    bool listed = false;
    cutis_check_report *report = NULL;
    for (size_t i = 0; i < sizeof met / sizeof *met; i++) {
        if (strcmp(GENEROSITIES[i], name) != 0) continue;
        met[i] = listed = true;
    }
    if (!listed) fail_msg("%s: is read for use", name);
    snprintf(path, sizeof path, "%s/generous.glb", folder);
    assert_ok(context, cutis_model_write(model, path, NULL));
    assert_ok(context, cutis_file_inspect(context, path, &report));
    const cutis_issue *issues = NULL;
    if (cutis_check_report_issues(report, &issues) != 0)
        fail_msg("%s: written with %s", name, issues[0].code);
    cutis_check_report_destroy(report);
}

/// Strict reading refuses; reading for use does, or is one of the generosities, which are said.
static void expect_refusal(const char *name, const char *file, const uint8_t *data, size_t size)
{
    const cutis_read_options options[] = { { .strict = true }, { 0 }, { .keep_source = true } };
    for (size_t i = 0; i < 3; i++) {
        cutis_model *model = NULL;
        uint8_t *exact = malloc(size ? size : 1);
        memcpy(exact, data, size);
        cutis_result result =
            cutis_model_read_memory(context, exact, size, file, &options[i], &model);
        free(exact);
        if (result == CUTIS_OK && i == 0) fail_msg("%s: strict reading takes it", name);
        if (result != CUTIS_OK) continue;
        assert_true(cutis_model_issues(model, NULL) > 0);
        expect_generosity(name, model);
        cutis_model_destroy(model);
    }
}

/// Inspect: one of the errors is `code`; then read.
static void expect_code(const char *name, const char *file, const uint8_t *data, size_t size,
                        const char *code)
{
    cutis_check_report *report = NULL;
    const cutis_issue *issues = NULL;
    double began = processor_seconds();
    uint8_t *exact = malloc(size ? size : 1); // so that a sanitizer sees one byte too far
    memcpy(exact, data, size);
    cutis_result result = cutis_file_inspect_memory(context, exact, size, file, &report);
    double took = processor_seconds() - began;
    free(exact);
    uint32_t count = report ? cutis_check_report_issues(report, &issues) : 0;
    bool found = result != CUTIS_OK && strcmp(cutis_result_name(result), code) == 0;
    for (uint32_t i = 0; i < count; i++)
        found |= issues[i].severity == 0 && strcmp(issues[i].code, code) == 0;
    if (!found) {
        print_message("%s: %s, %u findings", name, cutis_result_name(result), count);
        for (uint32_t i = 0; i < count; i++)
            print_message("; %s %s: %s", issues[i].code, issues[i].place, issues[i].text);
        print_message("\n");
    }
    cutis_check_report_destroy(report);
    if (!found) fail_msg("%s: not refused with %s", name, code);
    if (took > 1 * SLOWED) fail_msg("%s took %.2f s", name, took);
    expect_refusal(name, file, data, size);
    assert_int_equal(cutis_context_memory(context), 0);
    attack_count++;
}

static void the_seed_of_the_attacks_is_a_right_file(void **state)
{
    uint8_t data[BASE_DATA];
    size_t size;
    cutis_check_report *report = NULL;
    cutis_model *model = NULL;
    (void)state;
    base_data(data);
    uint8_t *glb = base_glb(BASE_JSON, data, sizeof data, &size);
    assert_ok(context, cutis_file_inspect_memory(context, glb, size, "seed.glb", &report));
    assert_int_equal(cutis_check_report_issues(report, NULL), 0);
    assert_ok(context, cutis_model_read_memory(context, glb, size, "seed.glb",
                                               &(cutis_read_options){ .strict = true }, &model));
    assert_int_equal(cutis_model_vertex_count(model), 3);
    cutis_model_destroy(model);
    cutis_check_report_destroy(report);
    free(glb);
}

// Lies in the JSON: what stands there, what is put in its place, the code.
static const struct {
    const char *name, *from, *to, *code;
} JSON_ATTACKS[] = {
    { "count of 2^62", "'count':3,'type':'VEC3','min':[0,0,0],'max':[1,1,0]",
      "'count':4611686018427387904,'type':'VEC3','min':[0,0,0],'max':[1,1,0]",
      "ACCESSOR_TOO_LONG" },
    { "count of 2^63", "'count':3,'type':'VEC3','min':[0,0,0],'max':[1,1,0]",
      "'count':9223372036854775808,'type':'VEC3','min':[0,0,0],'max':[1,1,0]",
      "VALUE_NOT_IN_RANGE" },
    { "count times stride wraps 32 bits", "'count':3,'type':'VEC3','min':[0,0,0],'max':[1,1,0]",
      "'count':357913942,'type':'VEC3','min':[0,0,0],'max':[1,1,0]", "ACCESSOR_TOO_LONG" },
    { "count times stride wraps 64 bits", "'count':3,'type':'VEC3','min':[0,0,0],'max':[1,1,0]",
      "'count':1537228672809129302,'type':'VEC3','min':[0,0,0],'max':[1,1,0]",
      "ACCESSOR_TOO_LONG" },
    { "negative count", "'count':3,'type':'SCALAR'", "'count':-1,'type':'SCALAR'",
      "VALUE_NOT_IN_RANGE" },
    { "count of zero with an offset past the view",
      "{'bufferView':1,'componentType':5123,'count':3",
      "{'bufferView':1,'byteOffset':4096,'componentType':5123,'count':0", "VALUE_NOT_IN_RANGE" },
    { "offset past the view", "{'bufferView':1,", "{'bufferView':1,'byteOffset':4096,",
      "ACCESSOR_TOO_LONG" },
    { "offset of 2^53", "{'bufferView':1,", "{'bufferView':1,'byteOffset':9007199254740992,",
      "ACCESSOR_TOO_LONG" },
    { "negative offset", "{'bufferView':1,", "{'bufferView':1,'byteOffset':-2,",
      "VALUE_NOT_IN_RANGE" },
    { "odd offset of shorts", "{'bufferView':1,", "{'bufferView':1,'byteOffset':1,",
      "ACCESSOR_OFFSET_ALIGNMENT" },
    { "view past the buffer", "'byteOffset':276,'byteLength':24",
      "'byteOffset':276,'byteLength':61", "BUFFER_VIEW_TOO_LONG" },
    { "view offset plus length wraps", "'byteOffset':276,'byteLength':24",
      "'byteOffset':9007199254740991,'byteLength':9007199254740991", "BUFFER_VIEW_TOO_LONG" },
    { "view of no buffer", "{'buffer':0,'byteOffset':276", "{'buffer':7,'byteOffset':276",
      "UNRESOLVED_REFERENCE" },
    { "view of a negative buffer", "{'buffer':0,'byteOffset':276", "{'buffer':-1,'byteOffset':276",
      "INVALID_INDEX" },
    { "stride less than an element", "'byteLength':36,'target'",
      "'byteLength':36,'byteStride':4,'target'", "ACCESSOR_SMALL_BYTESTRIDE" },
    { "stride beyond the view", "'byteLength':36,'target'",
      "'byteLength':36,'byteStride':252,'target'", "BUFFER_VIEW_TOO_BIG_BYTE_STRIDE" },
    { "stride of zero", "'byteLength':36,'target'", "'byteLength':36,'byteStride':0,'target'",
      "VALUE_NOT_IN_RANGE" },
    { "buffer longer than its chunk", "'buffers':[{'byteLength':336}]",
      "'buffers':[{'byteLength':4294967295}]", "BUFFER_BYTE_LENGTH_MISMATCH" },
    { "buffer of no bytes", "'buffers':[{'byteLength':336}]", "'buffers':[{'byteLength':0}]",
      "VALUE_NOT_IN_RANGE" },
    { "sparse entries beyond the count", "'sparse':{'count':2", "'sparse':{'count':4",
      "ACCESSOR_SPARSE_COUNT_OUT_OF_RANGE" },
    { "sparse count of 2^31", "'sparse':{'count':2", "'sparse':{'count':2147483648",
      "ACCESSOR_SPARSE_COUNT_OUT_OF_RANGE" },
    { "sparse indices past their view", "{'bufferView':7,'componentType':5123}",
      "{'bufferView':7,'componentType':5125}", "ACCESSOR_TOO_LONG" },
    { "sparse without values", ",'values':{'bufferView':8}", "", "UNDEFINED_PROPERTY" },
    { "unknown accessor", "'POSITION':0", "'POSITION':99", "UNRESOLVED_REFERENCE" },
    { "negative accessor", "'POSITION':0", "'POSITION':-1", "INVALID_INDEX" },
    { "accessor named by a word", "'POSITION':0", "'POSITION':'0'", "INVALID_INDEX" },
    { "joints as positions", "'POSITION':0", "'POSITION':2",
      "MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT" },
    { "weights of another count", "{'bufferView':3,'componentType':5126,'count':3",
      "{'bufferView':3,'componentType':5126,'count':2", "MESH_PRIMITIVE_UNEQUAL_ACCESSOR_COUNT" },
    { "joints without weights", ",'WEIGHTS_0':3", "", "MESH_PRIMITIVE_JOINTS_WEIGHTS_MISMATCH" },
    { "second set of joints only", "'JOINTS_0':2,'WEIGHTS_0':3", "'JOINTS_1':2,'WEIGHTS_1':3",
      "MESH_PRIMITIVE_INDEXED_SEMANTIC_CONTINUITY" },
    { "indices of floats", "'indices':1", "'indices':3",
      "MESH_PRIMITIVE_INDICES_ACCESSOR_INVALID_FORMAT" },
    { "drawing mode 9", "'indices':1", "'mode':9", "VALUE_NOT_IN_RANGE" },
    { "morph target of another count", "'targets':[{'POSITION':7}]", "'targets':[{'POSITION':6}]",
      "MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT" },
    { "morph target of a missing attribute", "'targets':[{'POSITION':7}]",
      "'targets':[{'NORMAL':7}]", "MESH_PRIMITIVE_MORPH_TARGET_NO_BASE_ACCESSOR" },
    { "weights of other morph targets", "'weights':[0]}]", "'weights':[0,0,0]}]",
      "MESH_INVALID_WEIGHTS_COUNT" },
    { "node that is its own child", "'children':[2]", "'children':[1]", "NODE_LOOP" },
    { "cycle of two nodes", "'name':'tip',", "'name':'tip','children':[1],", "NODE_LOOP" },
    { "node with two parents", "{'mesh':0,'skin':0,", "{'children':[2],'mesh':0,'skin':0,",
      "NODE_PARENT_OVERRIDE" },
    { "child that is not there", "'children':[2]", "'children':[3]", "UNRESOLVED_REFERENCE" },
    { "child twice", "'children':[2]", "'children':[2,2]", "DUPLICATE_ELEMENTS" },
    { "joint that is not there", "'joints':[1,2]", "'joints':[1,4000000000]",
      "UNRESOLVED_REFERENCE" },
    { "joint twice", "'joints':[1,2]", "'joints':[2,2]", "DUPLICATE_ELEMENTS" },
    { "no joints", "'joints':[1,2]", "'joints':[]", "EMPTY_ENTITY" },
    { "fewer inverse binds than joints", "'count':2,'type':'MAT4'", "'count':1,'type':'MAT4'",
      "INVALID_IBM_ACCESSOR_COUNT" },
    { "inverse binds that are vectors", "'inverseBindMatrices':4", "'inverseBindMatrices':6",
      "SKIN_IBM_INVALID_FORMAT" },
    { "skin without a mesh", "{'mesh':0,'skin':0,'weights':[0.5]}", "{'skin':0}",
      "UNSATISFIED_DEPENDENCY" },
    { "scene root that is a child", "'nodes':[0,1]", "'nodes':[0,1,2]", "SCENE_NON_ROOT_NODE" },
    { "rotation of zero", "'rotation':[0,0,0,1]", "'rotation':[0,0,0,0]", "ROTATION_NON_UNIT" },
    { "infinite translation", "'translation':[0,1,0]", "'translation':[0,1e999,0]",
      "VALUE_NOT_IN_RANGE" },
    { "translation beyond floats", "'translation':[0,1,0]", "'translation':[0,1e300,0]",
      "VALUE_NOT_IN_RANGE" },
    { "NaN in the JSON", "'translation':[0,1,0]", "'translation':[0,NaN,0]", "INVALID_JSON" },
    { "matrix beside a rotation", "'rotation':[0,0,0,1]",
      "'rotation':[0,0,0,1],'matrix':[1,0,0,0,0,1,0,0,0,0,1,0,0,0,0,1]", "NODE_MATRIX_TRS" },
    { "sampler that is not there", "{'sampler':0", "{'sampler':5", "UNRESOLVED_REFERENCE" },
    { "output of another count", "{'bufferView':6,'componentType':5126,'count':2",
      "{'bufferView':6,'componentType':5126,'count':1",
      "ANIMATION_SAMPLER_OUTPUT_ACCESSOR_INVALID_COUNT" },
    { "weights of a node without targets", "'path':'rotation'", "'path':'weights'",
      "ANIMATION_CHANNEL_TARGET_NODE_WEIGHTS_NO_MORPHS" },
    { "two channels for one target", "'channels':[",
      "'channels':[{'sampler':0,'target':{'node':2,'path':'rotation'}},",
      "ANIMATION_DUPLICATE_TARGETS" },
    { "key used twice", "'name':'root'", "'name':'a','name':'b'", "INVALID_JSON" },
    { "required extension nobody declared", "'scene':0,", "'extensionsRequired':['X_y'],'scene':0,",
      "UNUSED_EXTENSION_REQUIRED" },
    { "version of the future", "'version':'2.0'", "'version':'3.0'",
      "UNKNOWN_ASSET_MAJOR_VERSION" },
    { "texts after the end", "'buffers':[{'byteLength':336}]}", "'buffers':[{'byteLength':336}]}}",
      "INVALID_JSON" },
    { "meshopt that decodes to more than the file allows",
      "{'buffer':0,'byteOffset':276,'byteLength':24}",
      "{'buffer':0,'byteOffset':276,'byteLength':24,'extensions':{'EXT_meshopt_compression':{"
      "'buffer':0,'byteLength':24,'byteStride':256,'count':1000000000,'mode':'ATTRIBUTES'}}}",
      "UNDECLARED_EXTENSION" },
};

static void lies_in_the_json_are_refused_by_name(void **state)
{
    uint8_t data[BASE_DATA];
    (void)state;
    base_data(data);
    for (size_t i = 0; i < sizeof JSON_ATTACKS / sizeof *JSON_ATTACKS; i++) {
        size_t size;
        char *json = base_replace(BASE_JSON, JSON_ATTACKS[i].from, JSON_ATTACKS[i].to);
        uint8_t *glb = base_glb(json, data, sizeof data, &size);
        expect_code(JSON_ATTACKS[i].name, "attack.glb", glb, size, JSON_ATTACKS[i].code);
        free(glb);
        free(json);
    }
}

// Found by reading the writer: it renumbers the samplers of channels it does not read, so their
// index must be in range even where strictness is not asked for.
static void plain_reading_refuses_samplers_of_foreign_channels_too(void **state)
{
    uint8_t data[BASE_DATA];
    size_t size;
    cutis_model *model = NULL;
    (void)state;
    base_data(data);
    char *json = base_replace(BASE_JSON, "'channels':[",
                              "'channels':[{'sampler':1000000,'target':{'path':'pointer'}},");
    uint8_t *glb = base_glb(json, data, sizeof data, &size);
    assert_int_equal(cutis_model_read_memory(context, glb, size, "x.glb", NULL, &model),
                     CUTIS_CORRUPT_DATA);
    assert_non_null(strstr(cutis_context_error(context), "[UNRESOLVED_REFERENCE]"));
    free(glb);
    free(json);
    attack_count++;
}

// Found by fuzz_pipeline: a repaired file must be right when it is written.
static void repaired_bounds_and_rotations_are_written_right(void **state)
{
    static const char *const EDITS[][2] = {
        { "'max':[1,1,0]", "'max':[7,1,0]" },
        { "'rotation':[0,0,0,1]", "'rotation':[0,0,0,0.5]" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof EDITS / sizeof *EDITS; i++) {
        uint8_t data[BASE_DATA];
        char path[128];
        size_t size;
        cutis_model *model = NULL;
        cutis_check_report *report = NULL;
        const cutis_issue *issues = NULL;
        base_data(data);
        char *json = base_replace(BASE_JSON, EDITS[i][0], EDITS[i][1]);
        uint8_t *glb = base_glb(json, data, sizeof data, &size);
        snprintf(path, sizeof path, "%s/mended.glb", folder);
        assert_ok(context, cutis_model_read_memory(
                               context, glb, size, "x.glb",
                               &(cutis_read_options){ .gate = CUTIS_GATE_REPAIR }, &model));
        assert_int_equal(cutis_model_issues(model, &issues), 1);
        assert_true(issues[0].repaired);
        assert_ok(context, cutis_model_write(model, path, NULL));
        assert_ok(context, cutis_file_inspect(context, path, &report));
        assert_int_equal(cutis_check_report_issues(report, NULL), 0);
        cutis_check_report_destroy(report);
        cutis_model_destroy(model);
        free(glb);
        free(json);
    }
}

static void lies_in_the_data_are_refused_by_name(void **state)
{
    static const struct {
        const char *name;
        size_t offset;
        uint32_t word;
        int bytes;
        const char *code;
    } ATTACKS[] = {
        { "NaN position", 0, 0x7fc00000, 4, "ACCESSOR_INVALID_FLOAT" },
        { "infinite position", 4, 0x7f800000, 4, "ACCESSOR_INVALID_FLOAT" },
        { "position beyond its bounds", 0, 0x42c80000, 4, "ACCESSOR_MAX_MISMATCH" },
        { "vertex index out of range", 38, 3, 2, "ACCESSOR_INDEX_OOB" },
        { "vertex index 65535", 38, 65535, 2, "ACCESSOR_INDEX_OOB" },
        { "joint out of range", 45, 200, 1, "ACCESSOR_JOINTS_INDEX_OOB" },
        { "joint out of range with weight 0", 46, 255, 1, "ACCESSOR_JOINTS_INDEX_OOB" },
        { "joint twice", 45, 0, 1, "ACCESSOR_JOINTS_INDEX_DUPLICATE" },
        { "NaN weight", 56, 0x7fc00000, 4, "ACCESSOR_INVALID_FLOAT" },
        { "negative weight", 56, 0xbf000000, 4, "ACCESSOR_WEIGHTS_NEGATIVE" },
        { "weights that sum to more", 56, 0x3f800000, 4, "ACCESSOR_WEIGHTS_NON_NORMALIZED" },
        { "weight of 3e38", 56, 0x7f61b1e6, 4, "ACCESSOR_WEIGHTS_NON_NORMALIZED" },
        { "NaN inverse bind", 104, 0x7fc00000, 4, "ACCESSOR_INVALID_FLOAT" },
        { "inverse bind that projects", 116, 0x3f800000, 4, "ACCESSOR_INVALID_IBM" },
        { "NaN key", 232, 0x7fc00000, 4, "ACCESSOR_INVALID_FLOAT" },
        { "key before time zero", 232, 0xbf800000, 4, "ACCESSOR_ANIMATION_INPUT_NEGATIVE" },
        { "keys that go back", 232, 0x40000000, 4, "ACCESSOR_ANIMATION_INPUT_NON_INCREASING" },
        { "NaN rotation", 240, 0x7fc00000, 4, "ACCESSOR_INVALID_FLOAT" },
        { "rotation of no length", 252, 0, 4,
          "ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION" },
        { "sparse index out of range", 274, 3, 2, "ACCESSOR_SPARSE_INDEX_OOB" },
        { "sparse indices that go back", 272, 2, 2, "ACCESSOR_SPARSE_INDICES_NON_INCREASING" },
        { "NaN sparse value", 276, 0x7fc00000, 4, "ACCESSOR_INVALID_FLOAT" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ATTACKS / sizeof *ATTACKS; i++) {
        uint8_t data[BASE_DATA];
        size_t size;
        base_data(data);
        memcpy(data + ATTACKS[i].offset, &ATTACKS[i].word, (size_t)ATTACKS[i].bytes);
        uint8_t *glb = base_glb(BASE_JSON, data, sizeof data, &size);
        expect_code(ATTACKS[i].name, "attack.glb", glb, size, ATTACKS[i].code);
        free(glb);
    }
}

static void lies_in_the_container_are_refused_by_name(void **state)
{
    static const struct {
        const char *name;
        int offset; ///< from the start; negative: of the BIN chunk's header
        uint32_t word;
        const char *code;
    } ATTACKS[] = {
        { "another magic", 0, 0x46546c68, "GLB_INVALID_MAGIC" },
        { "version 1", 4, 1, "GLB_INVALID_VERSION" },
        { "length of 4 GiB", 8, 0xffffffff, "GLB_LENGTH_MISMATCH" },
        { "length of the header only", 8, 12, "GLB_LENGTH_TOO_SMALL" },
        { "length of zero", 8, 0, "GLB_LENGTH_TOO_SMALL" },
        { "JSON chunk of 4 GiB", 12, 0xfffffffc, "GLB_CHUNK_TOO_BIG" },
        { "JSON chunk that wraps with its header", 12, 0xfffffff8, "GLB_CHUNK_TOO_BIG" },
        { "JSON chunk of odd length", 12, 0x7ffffff1, "GLB_CHUNK_LENGTH_UNALIGNED" },
        { "JSON chunk of no length", 12, 0, "GLB_EMPTY_CHUNK" },
        { "first chunk not JSON", 16, 0x004e4942, "GLB_UNEXPECTED_FIRST_CHUNK" },
        { "BIN chunk of 4 GiB", -8, 0xfffffffc, "GLB_CHUNK_TOO_BIG" },
        // What follows a chunk cut to 4 bytes is taken for a header: 0.0 is an empty chunk's
        // length.
        { "BIN chunk shorter than its buffer", -8, 4, "GLB_CHUNK_TOO_BIG" },
        { "second JSON chunk", -4, 0x4e4f534a, "GLB_DUPLICATE_CHUNK" },
        { "BIN chunk of an unknown kind", -4, 0x12345678, "BUFFER_MISSING_GLB_DATA" },
    };
    uint8_t data[BASE_DATA];
    (void)state;
    base_data(data);
    for (size_t i = 0; i < sizeof ATTACKS / sizeof *ATTACKS; i++) {
        size_t size;
        uint8_t *glb = base_glb(BASE_JSON, data, sizeof data, &size);
        size_t chunk = size - sizeof data;
        size_t at =
            ATTACKS[i].offset < 0 ? chunk - (size_t)-ATTACKS[i].offset : (size_t)ATTACKS[i].offset;
        base_word(glb + at, ATTACKS[i].word);
        expect_code(ATTACKS[i].name, "attack.glb", glb, size, ATTACKS[i].code);
        free(glb);
    }
    size_t size;
    uint8_t *glb = base_glb(BASE_JSON, data, sizeof data, &size);
    expect_code("cut in the header", "attack.glb", glb, 11, "GLB_UNEXPECTED_END_OF_HEADER");
    expect_code("cut in a chunk header", "attack.glb", glb, 17,
                "GLB_UNEXPECTED_END_OF_CHUNK_HEADER");
    expect_code("cut in a chunk", "attack.glb", glb, size - 1, "GLB_UNEXPECTED_END_OF_CHUNK_DATA");
    expect_code("empty file", "attack.glb", glb, 0, "GLB_UNEXPECTED_END_OF_HEADER");
    free(glb);
}

/// A text that grows.
typedef struct text {
    char *data;
    size_t size, capacity;
} text;

__attribute__((format(printf, 2, 3))) static void say(text *t, const char *format, ...)
{
    va_list arguments;
    if (t->capacity - t->size < 4096) {
        t->capacity = 2 * t->capacity + 65536;
        t->data = realloc(t->data, t->capacity);
        assert_non_null(t->data);
    }
    va_start(arguments, format);
    t->size += (size_t)vsnprintf(t->data + t->size, t->capacity - t->size, format, arguments);
    va_end(arguments);
}

static void endless_structures_are_refused_by_name(void **state)
{
    enum { DEEP = 100000 };
    text t = { 0 };
    (void)state;
    say(&t, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[");
    for (int i = 0; i < DEEP - 1; i++) say(&t, "{\"children\":[%d]},", i + 1);
    say(&t, "{}]}");
    expect_code("100,000 nodes deep", "attack.gltf", (uint8_t *)t.data, t.size, "LIMIT_EXCEEDED");
    t.size = 0;
    say(&t, "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[");
    for (int i = 0; i < DEEP - 1; i++) say(&t, "{\"children\":[%d]},", i + 1);
    say(&t, "{\"children\":[0]}]}");
    expect_code("cycle of 100,000 nodes", "attack.gltf", (uint8_t *)t.data, t.size, "NODE_LOOP");
    t.size = 0;
    for (int i = 0; i < DEEP; i++) say(&t, "[");
    expect_code("100,000 brackets", "attack.gltf", (uint8_t *)t.data, t.size, "LIMIT_EXCEEDED");
    t.size = 0;
    say(&t, "{\"asset\":{\"version\":\"2.0\"},\"accessors\":[{\"componentType\":5126,\"count\":"
            "1000000000,\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[0,0,0]}],\"meshes\":[{"
            "\"primitives\":[{\"attributes\":{\"POSITION\":0}}]}]}");
    expect_code("12 GB of zeros", "attack.gltf", (uint8_t *)t.data, t.size, "LIMIT_EXCEEDED");
    t.size = 0;
    say(&t, "{\"asset\":{\"version\":\"2.0\"},\"x\":\"");
    for (int i = 0; i < DEEP; i++) say(&t, "\\u0000");
    expect_code("unclosed text", "attack.gltf", (uint8_t *)t.data, t.size, "INVALID_JSON");
    free(t.data);
}

static const char *below(const char *name)
{
    static char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void make_link(const char *target, const char *name)
{
    const int failed = symlink(target, below(name));
#ifdef _WIN32
    (void)failed; // no links, no pipes: what is not there is refused, too
#else
    assert_int_equal(failed, 0);
#endif
}

static void make_pipe(const char *name)
{
    const int failed = mkfifo(below(name), 0600);
#ifdef _WIN32
    (void)failed;
#else
    assert_int_equal(failed, 0);
#endif
}

/// "in" with links and a pipe, and a secret outside of it.
static void make_traps(void)
{
    assert_int_equal(mkdir(below("in"), 0700), 0);
    assert_ok(context, cutis_file_write(context, below("secret"), "12345678\n", 9));
    make_link("../secret", "in/link");
    make_link("/dev/zero", "in/zero");
    make_pipe("in/pipe");
}

static void uris_that_would_open_something_else_are_refused_by_name(void **state)
{
    static const struct {
        const char *uri, *code;
    } ATTACKS[] = {
        { "../../etc/passwd", "IO_ERROR" },
        { "/etc/passwd", "IO_ERROR" },
        { "file:///etc/passwd", "IO_ERROR" },
        { "%2e%2e/%2e%2e/etc/passwd", "IO_ERROR" },
        { "..%2f..%2fetc%2fpasswd", "IO_ERROR" },
        { "sub/../../secret", "IO_ERROR" },
        { "..\\\\..\\\\secret", "IO_ERROR" },
        { "//server/share", "IO_ERROR" },
        { "link", "IO_ERROR" },
        { "pipe", "IO_ERROR" },
        { "/dev/zero", "IO_ERROR" },
        { "zero", "IO_ERROR" },
        { ".", "IO_ERROR" },
        { "nothing.bin", "IO_ERROR" },
        { "a%00b", "INVALID_URI" },
        { "%zz", "INVALID_URI" },
        { "gopher://x:y/z", "INVALID_URI" },
        { ":", "INVALID_URI" },
        { "data:application/octet-stream;base64,####", "INVALID_URI" },
        { "data:application/octet-stream;base64,AAAA", "BUFFER_BYTE_LENGTH_MISMATCH" },
        { "data:text/html;base64,AAAAAAAAAAA=", "BUFFER_DATA_URI_MIME_TYPE_INVALID" },
    };
    char path[128];
    (void)state;
    make_traps();
    snprintf(path, sizeof path, "%s/in/x.gltf", folder);
    for (size_t i = 0; i < sizeof ATTACKS / sizeof *ATTACKS; i++) {
        cutis_check_report *report = NULL;
        cutis_model *model = NULL;
        const cutis_issue *issues;
        FILE *file = fopen(path, "w");
        fprintf(file,
                "{\"asset\":{\"version\":\"2.0\"},\"buffers\":[{\"byteLength\":8,\"uri\":\"%s\"}]}",
                ATTACKS[i].uri);
        fclose(file);
        assert_ok(context, cutis_file_inspect(context, path, &report));
        uint32_t count = cutis_check_report_issues(report, &issues);
        // The second says that nothing after it was looked at.
        if (count != 2 || strcmp(issues[0].code, ATTACKS[i].code) != 0 ||
            strcmp(issues[1].code, "NOT_CHECKED") != 0 ||
            strcmp(issues[0].place, "/buffers/0/uri") > 0)
            fail_msg("%s: %u findings, the first %s", ATTACKS[i].uri, count,
                     count ? issues[0].code : "none");
        cutis_check_report_destroy(report);
        assert_int_not_equal(
            cutis_model_read(context, path, &(cutis_read_options){ .strict = true }, &model),
            CUTIS_OK);
        if (cutis_model_read(context, path, NULL, &model) == CUTIS_OK)
            expect_generosity(ATTACKS[i].uri, model);
        cutis_model_destroy(model);
        attack_count++;
    }
}

// What is opened and no image would be IMAGE_UNRECOGNIZED_FORMAT.
static void images_outside_the_folder_and_what_is_no_file_are_not_opened(void **state)
{
    static const char *const URIS[] = { "../secret",
                                        "../../etc/passwd",
                                        "/etc/passwd",
                                        "file:///etc/passwd",
                                        "%2e%2e/secret",
                                        "sub/../../secret",
                                        "//server/share",
                                        "link",
                                        "pipe",
                                        "zero",
                                        ".",
                                        "a%00b" };
    char path[128];
    (void)state;
    make_traps();
    snprintf(path, sizeof path, "%s/in/x.gltf", folder);
    for (size_t i = 0; i < sizeof URIS / sizeof *URIS; i++) {
        cutis_check_report *report = NULL;
        const cutis_issue *issues;
        FILE *file = fopen(path, "w");
        fprintf(file, "{\"asset\":{\"version\":\"2.0\"},\"images\":[{\"uri\":\"%s\"}]}", URIS[i]);
        fclose(file);
        assert_ok(context, cutis_file_inspect(context, path, &report));
        uint32_t count = cutis_check_report_issues(report, &issues), named = 0;
        for (uint32_t k = 0; k < count; k++) {
            if (strncmp(issues[k].code, "IMAGE_", 6) == 0)
                fail_msg("%s: %s", URIS[i], issues[k].code);
            named += strcmp(issues[k].code, "IO_ERROR") == 0 ||
                     strcmp(issues[k].code, "NON_RELATIVE_URI") == 0;
        }
        if (named != 1) fail_msg("%s: %u warnings", URIS[i], named);
        cutis_check_report_destroy(report);
    }
}

static void cal3d_files_that_leave_their_folder_are_not_opened(void **state)
{
    static const char *const NAMES[] = {
        "../secret.csf",      "/etc/passwd",          "link.csf", "pipe.csf",
        "file:///etc/passwd", "sub/../../secret.csf", "."
    };
    char path[128];
    void *seed = NULL;
    size_t size = 0;
    (void)state;
    assert_int_equal(mkdir(below("in"), 0700), 0);
    assert_ok(context,
              cutis_file_read(context, CUTIS_SOURCE_DIR "/fuzz/seeds/two.csf", &seed, &size));
    assert_ok(context, cutis_file_write(context, below("secret.csf"), seed, size));
    assert_ok(context, cutis_file_write(context, below("in/good.csf"), seed, size));
    cutis_memory_free(context, seed, size);
    make_link("../secret.csf", "in/link.csf");
    make_pipe("in/pipe.csf");
    snprintf(path, sizeof path, "%s/in/x.cfg", folder);
    for (size_t i = 0; i <= sizeof NAMES / sizeof *NAMES; i++) {
        bool good = i == sizeof NAMES / sizeof *NAMES;
        cutis_model *model = NULL;
        FILE *file = fopen(path, "w");
        fprintf(file, "scale=1\nskeleton=%s\n", good ? "good.csf" : NAMES[i]);
        fclose(file);
        cutis_result result = cutis_model_read(context, path, NULL, &model);
        if ((result == CUTIS_OK) != good)
            fail_msg("%s: %s", good ? "good.csf" : NAMES[i], cutis_context_error(context));
        cutis_model_destroy(model);
        attack_count += !good;
    }
}

static void other_formats_are_refused_by_name(void **state)
{
    static const struct {
        const char *name, *file, *data, *code;
    } ATTACKS[] = {
        { "PLY with 10^11 vertices", "x.ply",
          "ply\nformat binary_little_endian 1.0\nelement vertex 100000000000\nproperty float x\n"
          "property float y\nproperty float z\nend_header\n",
          "CORRUPT_DATA" },
        { "PLY with 10^19 faces", "x.ply",
          "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
          "float z\nelement face 10000000000000000000\nproperty list uchar int vertex_indices\n"
          "end_header\n0 0 0\n",
          "CORRUPT_DATA" },
        { "PLY with 10^11 elements of no size", "x.ply",
          "ply\nformat ascii 1.0\nelement nothing 100000000000\nend_header\n", "CORRUPT_DATA" },
        { "PLY list of -1 entries", "x.ply",
          "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
          "float z\nelement face 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0 "
          "0\n"
          "0 1 0\n-1 0 1 2\n",
          "CORRUPT_DATA" },
        { "PLY face of a vertex that is not there", "x.ply",
          "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty "
          "float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 "
          "0\n0 1 0\n3 0 1 3\n",
          "CORRUPT_DATA" },
        { "PLY without a header's end", "x.ply", "ply\nformat ascii 1.0\nelement vertex 1\n",
          "CORRUPT_DATA" },
        { "PLY vertex of NaN", "x.ply",
          "ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nproperty float y\nproperty "
          "float z\nend_header\nnan 0 0\n",
          "CORRUPT_DATA" },
        { "OFF with 10^11 vertices", "x.off", "OFF\n100000000000 1 0\n0 0 0\n", "CORRUPT_DATA" },
        { "OFF with 10^19 faces", "x.off", "OFF\n1 9000000000000000000 0\n0 0 0\n",
          "CORRUPT_DATA" },
        { "OFF of -1 vertices", "x.off", "OFF\n-1 1 0\n0 0 0\n", "CORRUPT_DATA" },
        { "OFF face of -1 corners", "x.off", "OFF\n1 1 0\n0 0 0\n-1 0\n", "CORRUPT_DATA" },
        { "OFF face of 10^9 corners", "x.off", "OFF\n1 1 0\n0 0 0\n1000000000 0 0 0\n",
          "CORRUPT_DATA" },
        { "OFF face of a vertex that is not there", "x.off",
          "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", "CORRUPT_DATA" },
        { "OFF vertex of NaN", "x.off", "OFF\n1 0 0\nnan 0 0\n", "CORRUPT_DATA" },
        { "OFF with a vertex of infinity", "x.off", "OFF\n1 0 0\n1e99 0 0\n", "CORRUPT_DATA" },
        { "STL that ends inside a facet", "x.stl",
          "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n", "CORRUPT_DATA" },
        { "STL vertex of infinity", "x.stl",
          "solid a\nfacet normal 0 0 1\nouter loop\nvertex 1e99 0 0\n", "CORRUPT_DATA" },
        { "STL of four corners", "x.stl",
          "solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 1 1 "
          "0\nvertex "
          "0 1 0\nendloop\n",
          "CORRUPT_DATA" },
        { "STL without triangles", "x.stl", "solid a\nendsolid a\n", "CORRUPT_DATA" },
        { "STL of three bytes", "x.stl", "abc", "CORRUPT_DATA" },
        { "OBJ face of a vertex that is not there", "x.obj", "v 0 0 0\nf 1 2 3\n", "CORRUPT_DATA" },
        { "OBJ face of vertex 0", "x.obj", "v 0 0 0\nf 0 1 1\n", "CORRUPT_DATA" },
        { "OBJ face far before the first", "x.obj", "v 0 0 0\nf -9223372036854775808 -1 -1\n",
          "CORRUPT_DATA" },
        { "OBJ face of vertex 2^64", "x.obj", "v 0 0 0\nf 18446744073709551617 1 1\n",
          "CORRUPT_DATA" },
        { "OBJ vertex of infinity", "x.obj", "v 1e999 0 0\nf 1 1 1\n", "CORRUPT_DATA" },
        { "unclosed BVH", "x.bvh", "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nJOINT b\n{\n",
          "CORRUPT_DATA" },
        { "BVH with 10^11 channels", "x.bvh",
          "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 100000000000 Xposition\n}\n",
          "CORRUPT_DATA" },
        { "BVH with 10^11 frames", "x.bvh",
          "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xposition\n}\nMOTION\nFrames: "
          "100000000000\nFrame Time: 0.1\n",
          "CORRUPT_DATA" },
        { "BVH with a frame time of NaN", "x.bvh",
          "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xposition\n}\nMOTION\nFrames: 1\nFrame "
          "Time: nan\n0\n",
          "CORRUPT_DATA" },
        { "Cal3D bone that is its own parent", "x.xsf",
          "<SKELETON><BONE><PARENTID>0</PARENTID></BONE></SKELETON>", "CORRUPT_DATA" },
        { "unclosed XML", "x.xsf", "<SKELETON><BONE><a><b><c>", "CORRUPT_DATA" },
        { "not a format", "x.bin",
          "\x7f"
          "ELF",
          "UNSUPPORTED_FORMAT" },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ATTACKS / sizeof *ATTACKS; i++)
        expect_code(ATTACKS[i].name, ATTACKS[i].file, (const uint8_t *)ATTACKS[i].data,
                    strlen(ATTACKS[i].data), ATTACKS[i].code);
    // Cal3D binaries: counts of 2^31 and of -1 after the magic and version.
    static const uint8_t BONES[] = { 'C', 'S', 'F', 0, 0x8e, 3, 0, 0, 0xff, 0xff, 0xff, 0x7f };
    static const uint8_t MESHES[] = { 'C', 'M', 'F', 0, 0x8e, 3, 0, 0, 0xff, 0xff, 0xff, 0xff };
    expect_code("Cal3D with 2^31 bones", "x.csf", BONES, sizeof BONES, "CORRUPT_DATA");
    expect_code("Cal3D with -1 meshes", "x.cmf", MESHES, sizeof MESHES, "CORRUPT_DATA");
}

static void arrays_and_small_files_are_refused_by_name(void **state)
{
    static const struct {
        const char *name, *data;
        size_t size; ///< 0: a text
    } ATTACKS[] = {
        { "huge.npy",
          "\x93NUMPY\1\0\x46\0{'descr': '<f4', 'fortran_order': False, 'shape': "
          "(4294967296, 4294967296)}\n",
          0 },
        { "negative.npy",
          "\x93NUMPY\1\0\x3c\0{'descr': '<f4', 'fortran_order': False, 'shape': "
          "(-1, 3)}      \n",
          0 },
        { "object.npy",
          "\x93NUMPY\1\0\x3c\0{'descr': '|O', 'fortran_order': False, 'shape': "
          "(1,)}          \n",
          0 },
        { "long_header.npy", "\x93NUMPY\1\0\xff\xff{'descr'", 0 },
        { "huge.pc2", "POINTCACHE2\0\1\0\0\0\xff\xff\xff\x7f\0\0\0\0\0\0\x80?\xff\xff\xff\x7f",
          32 },
        { "cut.pc2", "POINTCACHE2\0\1\0\0\0", 16 },
    };
    (void)state;
    for (size_t i = 0; i < sizeof ATTACKS / sizeof *ATTACKS; i++) {
        char path[160];
        cutis_array array = { 0 };
        snprintf(path, sizeof path, "%s/%s", folder, ATTACKS[i].name);
        // The length byte of an .npy header may be 0, so the size is that of the literal's parts.
        size_t size = ATTACKS[i].size ? ATTACKS[i].size : 10 + strlen(ATTACKS[i].data + 10);
        assert_ok(context, cutis_file_write(context, path, ATTACKS[i].data, size));
        cutis_result result = cutis_array_read(context, path, &array);
        if (result != CUTIS_CORRUPT_DATA && result != CUTIS_UNSUPPORTED_FORMAT)
            fail_msg("%s: %s", ATTACKS[i].name, cutis_result_name(result));
        attack_count++;
    }
}

static void at_least_sixty_attacks_were_tried(void **state)
{
    (void)state;
    print_message("%d attacks\n", attack_count);
    assert_true(attack_count >= 60);
    for (size_t i = 0; i < sizeof met / sizeof *met; i++)
        if (!met[i]) fail_msg("%s: is no longer read for use", GENEROSITIES[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_seed_of_the_attacks_is_a_right_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lies_in_the_json_are_refused_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(plain_reading_refuses_samplers_of_foreign_channels_too,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(repaired_bounds_and_rotations_are_written_right, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(lies_in_the_data_are_refused_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lies_in_the_container_are_refused_by_name, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(endless_structures_are_refused_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uris_that_would_open_something_else_are_refused_by_name,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            images_outside_the_folder_and_what_is_no_file_are_not_opened, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cal3d_files_that_leave_their_folder_are_not_opened, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(other_formats_are_refused_by_name, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arrays_and_small_files_are_refused_by_name, set_up,
                                        tear_down),
        cmocka_unit_test(at_least_sixty_attacks_were_tried),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
