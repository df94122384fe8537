/// What accessors and views are used for: each for one thing, with the stride and the target that
/// go with it. Strict, a second use is an error. Reading for use it does no harm, and a document
/// that stays is laid out as glTF wants it: what is askew, or stands in a view of another use,
/// moves to a view of its own. Invariant: after it, nothing that Cutis writes from the document
/// breaks these rules.
#include "io/gltf/parts.h"

#include <stdio.h>

typedef enum use {
    UNUSED,
    VERTICES,
    INDICES,
    BINDS,
    TIMES,
    VALUES,
    SPARSE,
    IMAGE,
} use;

static const char *const USES[] = {
    "nothing",   "vertices",   "indices",     "inverse binds",
    "key times", "key values", "sparse data", "an image",
};

typedef struct uses {
    gltf_document *document;
    uint8_t *accessors, *views;
    bool *declared; ///< per view: its use is what its target says, nothing has claimed it yet
} uses;

/// Key times, key values and sparse data may share a view; nothing else may.
static use view_use(use u)
{
    return u == TIMES || u == VALUES || u == SPARSE ? SPARSE : u;
}

static uint32_t target_of(use u)
{
    return u == VERTICES ? GLTF_ARRAY_BUFFER : u == INDICES ? GLTF_ELEMENT_ARRAY_BUFFER : 0;
}

/// A target that says something else than what the view holds becomes what it holds.
static bool correct_target(const uses *all, uint32_t view, use as)
{
    gltf_document *document = all->document;
    json_t *json = (json_t *)cutis_gltf_item(document, "bufferViews", view);
    const uint32_t target = target_of(as);
    document->views[view].target = target;
    json_object_del(json, "target");
    return target == 0 || json_object_set_new(json, "target", json_integer(target)) == 0;
}

/// @param clash set if the view already holds something else; strict, that is an error
static cutis_result claim_view(uses *all, const char *place, uint32_t view, use as, bool *clash)
{
    const gltf_document *document = all->document;
    uint8_t *now = &all->views[view];
    if (*now != UNUSED && *now != view_use(as)) {
        FORGIVE("BUFFER_VIEW_TARGET_OVERRIDE",
                "%s: bufferView %u holds %s by its target or another use", place, view, USES[*now]);
        *clash = !all->declared[view];
        if (*clash) return CUTIS_OK;
        if (!correct_target(all, view, as))
            return cutis_fail(document->context, CUTIS_OUT_OF_MEMORY, "no memory for a view");
    }
    all->declared[view] = false;
    *now = (uint8_t)view_use(as);
    return CUTIS_OK;
}

static cutis_result claim_accessor(uses *all, const char *place, int64_t accessor, use as)
{
    gltf_document *document = all->document;
    gltf_accessor *a = &document->accessors[accessor];
    uint8_t *now = &all->accessors[accessor];
    bool clash = false;
    if (*now != UNUSED && *now != as) {
        FORGIVE("ACCESSOR_USAGE_OVERRIDE", "%s: accessor %lld already holds %s", place,
                (long long)accessor, USES[*now]);
        a->unfit = true;
        return CUTIS_OK;
    }
    const bool again = *now == as;
    *now = (uint8_t)as;
    cutis_result result = a->view == CUTIS_NONE || again || a->askew
                              ? CUTIS_OK
                              : claim_view(all, place, (uint32_t)a->view, as, &clash);
    if (result != CUTIS_OK || !(clash || a->askew) || document->strict) return result;
    return cutis_gltf_repack(document, (uint32_t)accessor, target_of(as));
}

static cutis_result claim_map(uses *all, const char *place, const json_t *map)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)map, key, value)
    {
        char full[200];
        int64_t accessor = 0;
        cutis_json_integer(value, &accessor);
        snprintf(full, sizeof full, "%s/%.60s", place, key);
        cutis_result result = claim_accessor(all, full, accessor, VERTICES);
        if (result != CUTIS_OK) return result;
    }
    return CUTIS_OK;
}

static cutis_result claim_primitive(uses *all, uint32_t mesh, uint32_t index, const json_t *json)
{
    char place[120];
    const json_t *targets = json_object_get(json, "targets");
    int32_t indices = cutis_gltf_index(json, "indices");
    snprintf(place, sizeof place, "/meshes/%u/primitives/%u/attributes", mesh, index);
    cutis_result result = claim_map(all, place, json_object_get(json, "attributes"));
    for (size_t t = 0; t < json_array_size(targets) && result == CUTIS_OK; t++) {
        snprintf(place, sizeof place, "/meshes/%u/primitives/%u/targets/%zu", mesh, index, t);
        result = claim_map(all, place, json_array_get(targets, t));
    }
    snprintf(place, sizeof place, "/meshes/%u/primitives/%u/indices", mesh, index);
    if (result == CUTIS_OK && indices != CUTIS_NONE)
        result = claim_accessor(all, place, indices, INDICES);
    return result;
}

static cutis_result claim_animation(uses *all, uint32_t index)
{
    const json_t *list =
        json_object_get(cutis_gltf_item(all->document, "animations", index), "samplers");
    cutis_result result = CUTIS_OK;
    for (size_t s = 0; s < json_array_size(list) && result == CUTIS_OK; s++) {
        char place[96];
        const json_t *sampler = json_array_get(list, s);
        snprintf(place, sizeof place, "/animations/%u/samplers/%zu/input", index, s);
        result = claim_accessor(all, place, cutis_gltf_index(sampler, "input"), TIMES);
        snprintf(place, sizeof place, "/animations/%u/samplers/%zu/output", index, s);
        if (result == CUTIS_OK)
            result = claim_accessor(all, place, cutis_gltf_index(sampler, "output"), VALUES);
    }
    return result;
}

static cutis_result claim_sparse(uses *all, uint32_t index)
{
    static const char *const PARTS[] = { "indices", "values" };
    const json_t *sparse =
        json_object_get(cutis_gltf_item(all->document, "accessors", index), "sparse");
    cutis_result result = CUTIS_OK;
    for (int i = 0; i < 2 && sparse && result == CUTIS_OK; i++) {
        char place[96];
        int32_t view = cutis_gltf_index(json_object_get(sparse, PARTS[i]), "bufferView");
        snprintf(place, sizeof place, "/accessors/%u/sparse/%s/bufferView", index, PARTS[i]);
        bool clash = false;
        result = claim_view(all, place, (uint32_t)view, SPARSE, &clash);
        if (clash) all->document->accessors[index].askew = true;
    }
    return result;
}

static cutis_result claim_skin(uses *all, uint32_t index)
{
    int32_t binds =
        cutis_gltf_index(cutis_gltf_item(all->document, "skins", index), "inverseBindMatrices");
    char place[64];
    snprintf(place, sizeof place, "/skins/%u/inverseBindMatrices", index);
    return binds == CUTIS_NONE ? CUTIS_OK : claim_accessor(all, place, binds, BINDS);
}

static cutis_result claim_image(uses *all, uint32_t index)
{
    int32_t view = cutis_gltf_index(cutis_gltf_item(all->document, "images", index), "bufferView");
    char place[64];
    snprintf(place, sizeof place, "/images/%u/bufferView", index);
    if (view == CUTIS_NONE) return CUTIS_OK;
    const gltf_document *document = all->document;
    bool clash = false;
    cutis_result result = claim_view(all, place, (uint32_t)view, IMAGE, &clash);
    json_t *json = (json_t *)cutis_gltf_item(document, "bufferViews", (size_t)view);
    if (result != CUTIS_OK || document->strict || !json_object_get(json, "byteStride"))
        return result;
    FORGIVE("IMAGE_BUFFER_VIEW_WITH_BYTESTRIDE", "%s: bufferView %d has a stride", place, view);
    if (!clash) json_object_del(json, "byteStride");
    return CUTIS_OK;
}

static cutis_result claim_mesh(uses *all, uint32_t index)
{
    const json_t *list =
        json_object_get(cutis_gltf_item(all->document, "meshes", index), "primitives");
    cutis_result result = CUTIS_OK;
    for (uint32_t p = 0; p < json_array_size(list) && result == CUTIS_OK; p++)
        result = claim_primitive(all, index, p, json_array_get(list, p));
    return result;
}

/// Views whose accessors have all moved away keep nothing that only they could explain.
static void clear_abandoned(uses *all)
{
    gltf_document *document = all->document;
    json_t *list = json_object_get(document->root, "bufferViews");
    for (uint32_t v = 0; v < document->view_count; v++) all->views[v] = 0;
    for (uint32_t i = 0; i < document->accessor_count; i++)
        if (document->accessors[i].view != CUTIS_NONE) all->views[document->accessors[i].view] = 1;
    for (uint32_t v = 0; v < document->view_count; v++) {
        if (!(document->views[v].abandoned || document->views[v].askew) || all->views[v]) continue;
        json_object_del(json_array_get(list, v), "byteStride");
        json_object_del(json_array_get(list, v), "target");
    }
}

static cutis_result claim_all(uses *all)
{
    static const struct {
        const char *collection;
        cutis_result (*claim)(uses *all, uint32_t index);
    } CLAIMS[] = { { "accessors", claim_sparse },
                   { "images", claim_image },
                   { "meshes", claim_mesh },
                   { "skins", claim_skin },
                   { "animations", claim_animation } };
    cutis_result result = CUTIS_OK;
    for (size_t k = 0; k < sizeof CLAIMS / sizeof *CLAIMS && result == CUTIS_OK; k++) {
        size_t count = json_array_size(json_object_get(all->document->root, CLAIMS[k].collection));
        for (uint32_t i = 0; i < count && result == CUTIS_OK; i++) {
            result = CLAIMS[k].claim(all, i);
            cutis_gltf_go_on(all->document, &result);
        }
    }
    return result;
}

cutis_result cutis_gltf_check_uses(gltf_document *document)
{
    uses all = { .document = document };
    cutis_arena scratch = { .context = document->context };
    // Every accessor may get a view of its own.
    const size_t view_most = (size_t)document->view_count + document->accessor_count;
    all.accessors = cutis_arena_zero(&scratch, document->accessor_count, 1);
    all.views = cutis_arena_zero(&scratch, view_most, 1);
    all.declared = cutis_arena_zero(&scratch, view_most, sizeof *all.declared);
    cutis_result result = all.accessors && all.views && all.declared
                              ? CUTIS_OK
                              : cutis_alloc_result(document->context);
    for (uint32_t v = 0; v < document->view_count && result == CUTIS_OK; v++) {
        const uint32_t target = document->views[v].target;
        all.views[v] = target == GLTF_ARRAY_BUFFER           ? VERTICES
                       : target == GLTF_ELEMENT_ARRAY_BUFFER ? INDICES
                                                             : UNUSED;
        all.declared[v] = all.views[v] != UNUSED;
    }
    if (result == CUTIS_OK) result = claim_all(&all);
    for (uint32_t i = 0; i < document->accessor_count && result == CUTIS_OK; i++)
        document->accessors[i].idle = all.accessors[i] == UNUSED;
    if (result == CUTIS_OK && !document->strict) clear_abandoned(&all);
    cutis_arena_release(&scratch);
    return result;
}
