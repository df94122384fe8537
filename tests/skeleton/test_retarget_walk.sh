#!/bin/sh
# A CMU walk on the biped, on the skeleton extracted from it, and on MakeHuman's rig: figures from the files alone (retarget_check.py),
# and what was written plays in three.js as in Cutis.
here=$(dirname "$0")
[ -x "$CUTIS" ] || { echo "skip retarget_walk: there is no command at $CUTIS"; exit 0; }
[ -d "$SHARED/data/cmu-mocap" ] || { echo "skip retarget_walk: shared data: $SHARED/data/cmu-mocap is not there"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
/usr/bin/python3 "$here/retarget_check.py" "$CUTIS" "$SHARED" "$folder"
failed=$?
modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
if command -v node >/dev/null && [ -d "$modules/three" ]; then
    CUTIS_NODE_MODULES=$modules
    export CUTIS_NODE_MODULES
    set --
    for model in "$folder"/*_walk.glb; do
        # three.js reads four influences
        "$CUTIS" convert "$model" --influences 4 -q -o "${model%.glb}4.glb" && set -- "$@" "${model%.glb}4.glb"
    done
    /usr/bin/python3 "$here/../io/three_compare.py" "$CUTIS" none "$folder" "$here/../io/three_lbs.mjs" "$@" || failed=1
else
    echo "skip retarget_three: node or three.js is not there"
fi
exit $failed
