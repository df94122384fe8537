#!/bin/sh
# `cutis check` against the Khronos validator: its corpus with reports, and some thousand documents with one thing changed,
# which the validator itself judges beside us; the rules of extensions and images, one document each.
here=$(dirname "$0")
modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
if [ -d "$SHARED/data/gltf-validator" ]; then
    /usr/bin/python3 "$here/gltf_judge.py" "$CUTIS" "$SHARED/data/gltf-validator" || failed=1
else
    echo "skip gltf_judge: shared data: $SHARED/data/gltf-validator is not there"
fi
if command -v node > /dev/null && [ -d "$modules/gltf-validator" ]; then
    CUTIS_NODE_MODULES=$modules
    export CUTIS_NODE_MODULES
    /usr/bin/python3 "$here/gltf_mutate.py" "$BUILD/tests/test_gltf_inspect_io" || failed=1
    /usr/bin/python3 "$here/gltf_extensions.py" "$BUILD/tests/test_gltf_inspect_io" || failed=1
else
    echo "skip gltf_mutate: node or $modules/gltf-validator is not there"
    echo "skip gltf_extensions: node or $modules/gltf-validator is not there"
fi
exit ${failed:-0}
