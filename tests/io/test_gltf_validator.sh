#!/bin/sh
# The Khronos validator over every shared glTF before and after Cutis rewrote it: no issue may appear that was not there. Also
# counts how many of the files that the validator calls wrong Cutis refuses, and validates what Cutis authors by itself.
here=$(dirname "$0")
modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
command -v node > /dev/null || {
    echo "skip gltf_validator: node is not there"
    exit 0
}
for need in "$modules/gltf-validator" "$SHARED/data"; do
    if [ ! -d "$need" ]; then
        echo "skip gltf_validator: $need is not there"
        exit 0
    fi
done
mkdir "$folder/corpus" "$folder/authored"
"$BUILD/tests/test_gltf_corpus_io" --write "$folder/corpus" > "$folder/pairs" || {
    echo "not ok gltf_validator: the corpus program failed"
    exit 1
}
"$BUILD/tests/test_gltf_write_io" --write "$folder/authored" > "$folder/authored.list" || {
    echo "not ok gltf_validator: the authoring program failed"
    exit 1
}
cut -f1 "$folder/pairs" | sort -u > "$folder/in"
cut -f2 "$folder/pairs" | grep -v '^-$' > "$folder/out"
CUTIS_NODE_MODULES=$modules
export CUTIS_NODE_MODULES
node "$here/gltf_validate.mjs" < "$folder/in" > "$folder/in.jsonl" &&
    node "$here/gltf_validate.mjs" < "$folder/out" > "$folder/out.jsonl" &&
    node "$here/gltf_validate.mjs" < "$folder/authored.list" > "$folder/authored.jsonl" || {
    echo "not ok gltf_validator: node failed"
    exit 1
}
/usr/bin/python3 "$here/gltf_issues.py" "$folder"
