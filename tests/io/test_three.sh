#!/bin/sh
# `cutis deform --method lbs` against three.js: every animated model of the sample assets, every clip, five times each, and our own
# characters with at most four influences (three.js reads no more). Within 1e-5 of the diagonal.
here=$(dirname "$0")
modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
command -v node > /dev/null || {
    echo "skip three: node is not there"
    exit 0
}
for need in "$modules/three" "$SHARED/data/gltf-sample-assets"; do
    if [ ! -d "$need" ]; then
        echo "skip three: $need is not there"
        exit 0
    fi
done
if [ ! -x "$CUTIS" ]; then
    echo "skip three: there is no command at $CUTIS"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
CUTIS_NODE_MODULES=$modules
export CUTIS_NODE_MODULES
/usr/bin/python3 "$here/three_compare.py" "$CUTIS" "$SHARED/data/gltf-sample-assets" "$folder" "$here/three_lbs.mjs"
