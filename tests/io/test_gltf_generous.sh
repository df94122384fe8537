#!/bin/sh
# Files that break the letter of glTF and have one safe meaning (gltf_faults.py makes them): read, noted, deformed as their clean
# twins and as three.js does, written clean to the Khronos validator, judged by `cutis check` as by the validator.
here=$(dirname "$0")
modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
command -v node > /dev/null || {
    echo "skip gltf_generous: node is not there"
    exit 0
}
for need in "$modules/gltf-validator" "$modules/three"; do
    if [ ! -d "$need" ]; then
        echo "skip gltf_generous: $need is not there"
        exit 0
    fi
done
if [ ! -x "$CUTIS" ]; then
    echo "skip gltf_generous: there is no command at $CUTIS"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CUTIS_NODE_MODULES=$modules
export CUTIS_NODE_MODULES
/usr/bin/python3 -B "$here/gltf_generous.py" "$CUTIS" "$folder"
