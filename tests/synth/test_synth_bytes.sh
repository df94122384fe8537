#!/bin/sh
# The same bytes from every compiler and optimisation level: the room is built anew by others, and the arrays of the quadruped and
# of a body of each kind of the family are hashed, beside those of the library at hand (`sh tools/levels` has -O0).
set -u
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cat > "$work/hash.c" <<'C'
#include <cutis/cutis.h>
#include <stdio.h>

static uint64_t hash = UINT64_C(14695981039346656037);

static void add(const void *data, size_t size)
{
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)data)[i]) * UINT64_C(1099511628211);
}

int main(void)
{
    cutis_context *context = NULL;
    cutis_model *model = NULL;
    cutis_synth_options options = { .body = CUTIS_BODY_QUADRUPED, .vertex_count = 1500 };
    if (cutis_context_create(NULL, &context) || cutis_synth_create(context, &options, &model)) return 1;
    const cutis_model_data *data = cutis_model_get(model);
    const cutis_primitive *p = data->meshes[0].primitives;
    add(p->positions, 12 * (size_t)p->vertex_count);
    add(p->normals, 12 * (size_t)p->vertex_count);
    add(p->colors, 16 * (size_t)p->vertex_count);
    add(p->indices, 4 * (size_t)p->index_count);
    add(p->parts, 4 * (size_t)p->index_count / 3);
    add(p->influences.joints, 4 * (size_t)p->influences.first[p->vertex_count]);
    add(p->influences.weights, 4 * (size_t)p->influences.first[p->vertex_count]);
    for (uint32_t c = 0; c < data->clip_count; c++)
        for (uint32_t k = 0; k < data->clips[c].channel_count; k++) {
            const cutis_channel *channel = &data->clips[c].channels[k];
            size_t width = channel->path == CUTIS_PATH_ROTATION ? 12 : 9; // all cubic
            add(channel->values, 4 * width * channel->key_count);
        }
    cutis_model_destroy(model);
    // Bent: the pose with most draws.
    for (int kind = 0; kind < CUTIS_FAMILY_KIND_COUNT; kind++) {
        options = (cutis_synth_options){ .body = CUTIS_BODY_FAMILY, .kind = (cutis_family_kind)kind, .seed = 7,
                                         .pose = CUTIS_FAMILY_POSE_BENT, .scan = CUTIS_FAMILY_SCAN_ON, .vertex_count = 2000 };
        if (cutis_synth_create(context, &options, &model)) return 1;
        p = (data = cutis_model_get(model))->meshes[0].primitives;
        add(p->positions, 12 * (size_t)p->vertex_count);
        add(p->normals, 12 * (size_t)p->vertex_count);
        add(p->indices, 4 * (size_t)p->index_count);
        add(p->parts, 4 * (size_t)p->index_count / 3);
        add(p->influences.joints, 4 * (size_t)p->influences.first[p->vertex_count]);
        add(p->influences.weights, 4 * (size_t)p->influences.first[p->vertex_count]);
        for (uint32_t n = 0; n < data->node_count; n++) add(&data->nodes[n].rest.translation, 12);
        cutis_model_destroy(model);
    }
    printf("%016llx\n", (unsigned long long)hash);
    cutis_context_destroy(context);
    return 0;
}
C
build() { # name, compiler, flags...
    name=$1 compiler=$2
    shift 2
    "$compiler" -std=c17 -D_GNU_SOURCE -ffp-contract=off "$@" -w -I"$source/include" -I"$source/src" "$work/hash.c" \
        $(ls "$source"/src/synth/*.c "$source"/src/geometry/half_edge.c "$source"/src/model/*.c "$source"/src/math/*.c "$source"/src/base/*.c "$source"/src/base/os/*.c | grep -v _windows) \
        -o "$work/$name" -lm -lpthread -ldl && "$work/$name" > "$work/$name.hash"
}
status=0
if ! cc -std=c17 -I"$source/include" "$work/hash.c" "${BUILD:-build}/libcutis.a" -o "$work/ours" -lm -lpthread -ldl || ! "$work/ours" > "$work/ours.hash"; then
    echo "not ok bytes: the program does not build with the library at hand, or does not run"
    exit 1
fi
for variant in "O3_native cc -O3 -march=native -fno-tree-slp-vectorize" "clang clang-14 -O2"; do
    set -- $variant
    if ! command -v "$2" > /dev/null; then
        echo "skip bytes_$1: no $2"
    elif build "$@" && cmp -s "$work/ours.hash" "$work/$1.hash"; then
        echo "ok bytes_$1"
    else
        echo "not ok bytes_$1: other bytes than the library at hand"
        status=1
    fi
done
exit $status
