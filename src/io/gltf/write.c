/// From a model to a file: choose the base (the source's JSON, or a new document), write the parts
/// over it, lay out the buffer, put the files in place atomically. The same model gives the same
/// bytes.
#include "io/gltf/writer.h"

#include "base/os/os.h"
#include "base/path.h"
#include "io/bytes.h"
#include "io/gltf/compress.h"
#include "io/output.h"

#include <stdio.h>
#include <string.h>

static const char *const COLLECTIONS[] = { "scenes", "nodes",      "meshes",    "materials",
                                           "skins",  "animations", "accessors", "bufferViews" };
enum { COLLECTION_COUNT = sizeof COLLECTIONS / sizeof *COLLECTIONS };

/// Has a node of the model, which the source may not have, its name of the source?
static bool same_name(const gltf_writer *writer, uint32_t index)
{
    const gltf_document *source = &writer->source;
    const json_t *nodes = json_object_get(source->root, "nodes");
    if (index >= source->node_count) return false;
    return cutis_gltf_same_text(
        cutis_gltf_string(json_array_get(nodes, source->node_of_model[index]), "name"),
        writer->data->nodes[index].name);
}

/// A node that was moved and has another name is the same one still where those above and below it
/// are: of a part of the tree that was taken out for another, neighbours have other names, too.
static bool neighbours_stay(const gltf_writer *writer, uint32_t index)
{
    const cutis_model_data *data = writer->data;
    const int32_t parent = data->nodes[index].parent;
    if (parent >= 0 && !same_name(writer, (uint32_t)parent)) return false;
    for (uint32_t i = 0; i < writer->source.node_count; i++)
        if (data->nodes[i].parent == (int32_t)index && !same_name(writer, i)) return false;
    return true;
}

/// Has a node but another name? Then nobody else has the new one in the source, or the old one in
/// the model, and everything else of it is as it was, or its neighbours are.
static bool renamed(const gltf_writer *writer, uint32_t index, const cutis_node *old)
{
    const cutis_model_data *data = writer->data;
    const cutis_node *node = &data->nodes[index];
    const json_t *nodes = json_object_get(writer->source.root, "nodes");
    if (!node->name || !old->name || node->mesh != old->mesh || node->skin != old->skin)
        return false;
    for (uint32_t i = 0; i < data->node_count; i++)
        if (cutis_gltf_same_text(data->nodes[i].name, old->name)) return false;
    for (size_t i = 0; i < json_array_size(nodes); i++)
        if (cutis_gltf_same_text(cutis_gltf_string(json_array_get(nodes, i), "name"), node->name))
            return false;
    const bool still = cutis_gltf_same(old->matrix, node->matrix, 1, sizeof *node->matrix) &&
                       (node->matrix || memcmp(&old->rest, &node->rest, sizeof node->rest) == 0);
    return still || neighbours_stay(writer, index);
}

/// The source is a base as long as its items still are the model's first ones: then what we do not
/// model still belongs to them. New ones may follow, and some may have got other names; one that
/// was removed or moved makes all references doubtful.
static bool fits_source(gltf_writer *writer)
{
    const cutis_model_data *data = writer->data;
    gltf_document *source = &writer->source;
    bool fits = data->node_count >= source->node_count && data->mesh_count >= source->mesh_count &&
                data->skin_count >= source->skin_count && data->clip_count >= source->clip_count &&
                data->material_count >= source->material_count;
    for (uint32_t i = 0; i < source->node_count && fits; i++) {
        cutis_node old;
        const cutis_node *node = &data->nodes[i];
        if (cutis_gltf_read_node(source, source->node_of_model[i], &old) != CUTIS_OK)
            writer->failed = true; // it was read before: there is no memory
        fits = !writer->failed && node->parent == old.parent && node->outside == old.outside &&
               (cutis_gltf_same_text(node->name, old.name) || renamed(writer, i, &old));
        cutis_arena_release(&source->parts);
    }
    return fits;
}

static void start_new(gltf_writer *writer)
{
    json_t *asset = json_object();
    char generator[64];
    snprintf(generator, sizeof generator, "Cutis %s", cutis_version());
    writer->root = json_object();
    cutis_gltf_set(writer, asset, "version", json_string("2.0"));
    cutis_gltf_set(writer, asset, "generator", json_string(generator));
    cutis_gltf_set(writer, writer->root, "asset", asset);
    // In an order that reads well; what stays empty goes at the end.
    for (size_t i = 0; i < COLLECTION_COUNT; i++) cutis_gltf_collection(writer, COLLECTIONS[i]);
}

/// A source that no longer fits may still say how the model looks.
static void start(gltf_writer *writer, const char *path)
{
    cutis_source *source = writer->data->source;
    uint32_t kept = 0;
    if (source && source->destroy == cutis_gltf_document_destroy) {
        // The copy has its own allowance, and nothing it points to is changed: models share their
        // source across threads.
        writer->source = *(gltf_document *)source;
        writer->source.context = writer->source.parts.context = writer->context;
        writer->source.data = *writer->data;
        if (fits_source(writer)) {
            writer->before = writer->source.root;
            writer->root = json_deep_copy(writer->before);
            writer->source_views = writer->source.view_count;
            kept = writer->source.node_count;
        } else if (writer->data->material_count >= writer->source.material_count) {
            cutis_gltf_start_anew(writer, path);
        } else {
            cutis_log(writer->context,
                      "%s: nodes and materials of %s were removed or moved: written anew, without "
                      "the textures, cameras, extras and foreign extensions that belonged to them",
                      path, writer->source.file);
        }
    }
    if (!writer->before && !writer->failed) start_new(writer);
    if (!writer->root) writer->failed = true;
    for (uint32_t i = 0; i < writer->data->node_count && writer->node_of_model; i++)
        writer->node_of_model[i] = i < kept ? writer->source.node_of_model[i] : i;
}

/// glTF has no mesh without primitives and no animation without channels.
static void drop_empty(gltf_writer *writer)
{
    json_t *meshes = json_object_get(writer->root, "meshes");
    json_t *nodes = json_object_get(writer->root, "nodes"), *node;
    json_t *animations = json_object_get(writer->root, "animations");
    size_t n;
    for (size_t m = json_array_size(meshes); m-- > 0;) {
        if (json_array_size(json_object_get(json_array_get(meshes, m), "primitives"))) continue;
        json_array_remove(meshes, m);
        json_array_foreach(nodes, n, node)
        {
            int32_t mesh = cutis_gltf_index(node, "mesh");
            if (mesh > (int32_t)m) cutis_gltf_set_index(writer, node, "mesh", mesh - 1);
            if (mesh != (int32_t)m) continue;
            json_object_del(node, "mesh");
            json_object_del(node, "skin");
            json_object_del(node, "weights");
        }
    }
    for (size_t a = json_array_size(animations); a-- > 0;) {
        if (json_array_size(json_object_get(json_array_get(animations, a), "channels")) == 0)
            json_array_remove(animations, a);
    }
    for (size_t i = 0; i < COLLECTION_COUNT; i++) {
        const json_t *items = json_object_get(writer->root, COLLECTIONS[i]);
        if (items && json_array_size(items) == 0) json_object_del(writer->root, COLLECTIONS[i]);
    }
}

static void write_parts(gltf_writer *writer)
{
    const cutis_model_data *data = writer->data;
    for (uint32_t i = 0; i < data->material_count && !writer->failed; i++)
        cutis_gltf_write_material(writer, i);
    for (uint32_t i = 0; i < data->mesh_count && !writer->failed; i++)
        cutis_gltf_write_mesh(writer, i);
    if (!writer->failed) cutis_gltf_write_nodes(writer);
    if (!writer->failed && writer->nodes) cutis_gltf_keep_scene(writer);
    for (uint32_t i = 0; i < data->skin_count && !writer->failed; i++)
        cutis_gltf_write_skin(writer, i);
    for (uint32_t i = 0; i < data->clip_count && !writer->failed; i++)
        cutis_gltf_write_clip(writer, i);
    if (!writer->failed) cutis_gltf_write_pose_space(writer);
    if (!writer->failed) cutis_gltf_write_cage(writer);
    if (!writer->failed) cutis_gltf_write_handles(writer);
    if (!writer->failed) cutis_gltf_write_drivers(writer);
    if (!writer->failed) drop_empty(writer);
    if (!writer->failed) cutis_gltf_prune(writer);
    if (!writer->failed) cutis_gltf_plant_forest(writer);
    if (!writer->failed) cutis_gltf_lay_out(writer);
}

static cutis_result write_glb(gltf_writer *writer, const char *path)
{
    cutis_bytes json = { .context = writer->context };
    uint8_t header[20], chunk[8];
    cutis_json_write(&json, writer->root, true);
    cutis_bytes_pad(&json, 4, ' ');
    cutis_bytes_pad(&writer->file, 4, 0);
    uint64_t bin = writer->file.size ? writer->file.size + 8 : 0;
    // Chunks that the source has more belong to the source as a whole.
    const uint64_t more = writer->before ? writer->source.chunks_size : 0;
    const uint64_t total = 20 + json.size + bin + more;
    cutis_result result = CUTIS_OK;
    if (json.failed || writer->file.failed) result = cutis_alloc_result(writer->context);
    if (result == CUTIS_OK && total > UINT32_MAX)
        result = cutis_fail(writer->context, CUTIS_UNSUPPORTED,
                            "%s: %llu bytes, a GLB holds at most 4294967295; write .gltf", path,
                            (unsigned long long)total);
    cutis_store_u32(header, GLB_MAGIC);
    cutis_store_u32(header + 4, 2);
    cutis_store_u32(header + 8, (uint32_t)total);
    cutis_store_u32(header + 12, (uint32_t)json.size);
    cutis_store_u32(header + 16, CHUNK_JSON);
    cutis_store_u32(chunk, (uint32_t)writer->file.size);
    cutis_store_u32(chunk + 4, CHUNK_BIN);
    cutis_output *out =
        result == CUTIS_OK ? cutis_output_begin(writer->context, path, &result) : NULL;
    if (out) {
        cutis_output_bytes(out, header, sizeof header);
        cutis_output_bytes(out, json.data, json.size);
        if (bin) cutis_output_bytes(out, chunk, sizeof chunk);
        if (bin) cutis_output_bytes(out, writer->file.data, writer->file.size);
        if (more) cutis_output_bytes(out, writer->source.chunks, more);
        result = cutis_output_finish(out);
    }
    cutis_bytes_drop(&json);
    return result;
}

/// The buffer's name beside `path`: the same with ".bin" at its end.
static char *bin_path(const char *path, cutis_arena *arena)
{
    const char *name = cutis_path_name(path), *dot = strrchr(name, '.');
    int length = dot && dot > name ? (int)(dot - path) : (int)strlen(path);
    return cutis_arena_format(arena, "%.*s.bin", length, path);
}

/// A file name as a URI: everything but the unreserved characters in percent.
static char *to_uri(const char *name, cutis_arena *arena)
{
    static const char PLAIN[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~";
    size_t length = strlen(name), at = 0;
    char *uri = cutis_arena_alloc(arena, 3 * length + 1, 1);
    for (size_t i = 0; uri && i < length; i++) {
        if (strchr(PLAIN, name[i])) {
            uri[at++] = name[i];
        } else {
            at += (size_t)snprintf(uri + at, 4, "%%%02X", (unsigned char)name[i]);
        }
    }
    if (uri) uri[at] = 0;
    return uri;
}

/// The buffer first: a reader that finds the new document finds its data too.
static cutis_result write_gltf(gltf_writer *writer, const char *path)
{
    cutis_context *context = writer->context;
    cutis_arena arena = { .context = context };
    cutis_bytes json = { .context = context };
    cutis_os_write *bin = NULL, *file = NULL;
    cutis_result result = CUTIS_OK;
    if (writer->file.size > 0) {
        char *beside = bin_path(path, &arena), *uri = NULL;
        if (beside) uri = to_uri(cutis_path_name(beside), &arena);
        if (!uri) {
            result = cutis_alloc_result(context);
            goto done;
        }
        cutis_gltf_set(writer, json_array_get(json_object_get(writer->root, "buffers"), 0), "uri",
                       json_string(uri));
        if (writer->failed)
            result = cutis_fail(context, CUTIS_OUT_OF_MEMORY, "%s: no memory for its JSON", path);
        if (result == CUTIS_OK) result = cutis_os_write_begin(context, beside, &bin);
        if (result == CUTIS_OK)
            result = cutis_os_write_append(bin, writer->file.data, writer->file.size);
    }
    cutis_json_write(&json, writer->root, false);
    cutis_bytes_append(&json, "\n", 1);
    if (json.failed && result == CUTIS_OK) result = cutis_alloc_result(context);
    if (result == CUTIS_OK) result = cutis_os_write_begin(context, path, &file);
    if (result == CUTIS_OK) result = cutis_os_write_append(file, json.data, json.size);
    if (result == CUTIS_OK) {
        result = cutis_os_write_commit_both(bin, file);
        bin = file = NULL;
    }

done:
    cutis_os_write_abort(file);
    cutis_os_write_abort(bin);
    cutis_bytes_drop(&json);
    cutis_arena_release(&arena);
    return result;
}

static bool wants_glb(const char *path, const cutis_write_options *options)
{
    size_t length = strlen(path);
    if (options->format == CUTIS_FORMAT_GLB) return true;
    if (options->format == CUTIS_FORMAT_GLTF) return false;
    return !(length >= 5 &&
             (strcmp(path + length - 5, ".gltf") == 0 || strcmp(path + length - 5, ".GLTF") == 0));
}

static cutis_result check_extras(cutis_context *context, const char *path, uint32_t node,
                                 const char *text)
{
    cutis_json parsed = { 0 };
    char place[64];
    if (!text) return CUTIS_OK;
    snprintf(place, sizeof place, "extras of node %u", node);
    cutis_result result = cutis_json_parse(context, place, text, strlen(text), &parsed);
    if (result == CUTIS_OK && !json_is_object(parsed.root))
        result = cutis_fail(context, CUTIS_INVALID_ARGUMENT,
                            "%s: the extras of node %u are no JSON object", path, node);
    cutis_json_release(context, &parsed);
    return result;
}

static cutis_result check_model(cutis_context *context, const char *path,
                                const cutis_model_data *data)
{
    for (uint32_t s = 0; s < data->skin_count; s++) {
        if (data->skins[s].joint_count > 65536)
            return cutis_fail(context, CUTIS_UNSUPPORTED,
                              "%s: skin %u has %u joints, glTF counts them in 16 bits", path, s,
                              data->skins[s].joint_count);
    }
    for (uint32_t n = 0; n < data->node_count; n++)
        TRY(check_extras(context, path, n, data->nodes[n].extras));
    return CUTIS_OK;
}

/// What a merged buffer and another container cannot hold.
static void note_left(const gltf_writer *writer, const char *path)
{
    const json_t *buffers = json_object_get(writer->before, "buffers");
    size_t named = 0;
    if (json_array_size(buffers) > 1 && json_array_size(json_object_get(writer->root, "buffers")))
        for (size_t b = 0; b < json_array_size(buffers); b++)
            named += json_object_get(json_array_get(buffers, b), "name") ||
                     json_object_get(json_array_get(buffers, b), "extras");
    if (named)
        cutis_log(writer->context,
                  "%s: %zu buffers became one: names and extras of theirs are gone", path,
                  json_array_size(buffers));
    if (writer->before && writer->source.chunks_size && !writer->binary)
        cutis_log(writer->context, "%s: chunks that only a GLB has are gone", path);
}

/// Image files are not copied: said where the new document does not find what it names.
static void note_images(const gltf_writer *writer, const char *path)
{
    const json_t *images = json_object_get(writer->root, "images");
    const int folder = (int)cutis_path_folder(path);
    const char *first = NULL;
    size_t missing = 0;
    for (size_t i = 0; i < json_array_size(images) && writer->source.on_disk; i++) {
        const char *uri = cutis_gltf_string(json_array_get(images, i), "uri");
        char relative[4096], file[8192];
        if (!uri || strchr(uri, ':') || !cutis_gltf_decode_percent(uri, relative, sizeof relative))
            continue;
        const int length = snprintf(file, sizeof file, "%.*s%s", folder, path, relative);
        if (length < 0 || (size_t)length >= sizeof file || cutis_os_file_exists(file)) continue;
        if (missing++ == 0) first = uri;
    }
    if (missing)
        cutis_log(writer->context,
                  "%s: %zu image file%s not there (images are not copied); the first: %s", path,
                  missing, missing == 1 ? " is" : "s are", first);
}

cutis_result cutis_gltf_write(const cutis_model *model, const char *path,
                              const cutis_write_options *options)
{
    cutis_context *context = cutis_model_context(model);
    gltf_writer writer = { .context = context,
                           .data = cutis_model_get(model),
                           .other_view = CUTIS_NONE,
                           .source.parts.context = context,
                           .bytes.context = context,
                           .other.context = context,
                           .file.context = context };
    uint32_t node_count = writer.data->node_count;
    cutis_result result = check_model(context, path, writer.data);
    if (result != CUTIS_OK) return result;
    if (options) writer.options = *options;
    writer.binary = wants_glb(path, &writer.options);
    writer.node_of_model = cutis_alloc_array(context, node_count, sizeof *writer.node_of_model);
    if (!writer.node_of_model) return cutis_alloc_result(context);
    start(&writer, path);
    if (!writer.failed) write_parts(&writer);
    if (!writer.failed) result = cutis_gltf_compress(&writer, path);
    if (result != CUTIS_OK) {
        // the error is set
    } else if (writer.failed) {
        result =
            cutis_fail(context, cutis_alloc_result(context), "%s: no memory to write it", path);
    } else {
        result = writer.binary ? write_glb(&writer, path) : write_gltf(&writer, path);
    }
    if (result == CUTIS_OK) note_images(&writer, path);
    if (result == CUTIS_OK) note_left(&writer, path);
    json_decref(writer.root);
    json_decref(writer.nodes);
    cutis_bytes_drop(&writer.bytes);
    cutis_bytes_drop(&writer.other);
    cutis_bytes_drop(&writer.file);
    cutis_free_array(context, writer.written, writer.written_capacity, sizeof *writer.written);
    cutis_free_array(context, writer.node_of_model, node_count, sizeof *writer.node_of_model);
    return result;
}
