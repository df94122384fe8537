#!/bin/sh
# Rigs for bare bodies of eight kinds, nothing told, against the truth (judge_rig.py): three seeds of each; 50 of each, in full size,
# with CUTIS_SOAK, half of them seeds that nobody looked at while it was written (9000 and on), and people that walk (rig_walks.py).
# Then bodies that others made (rig_real.py).
here=$(dirname "$0")
[ -x "$CUTIS" ] || { echo "skip rig: there is no command at $CUTIS"; exit 0; }
/usr/bin/python3 -c 'import numpy, scipy' 2>/dev/null || { echo "skip rig: numpy or scipy is not there"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
judge() { # NAME FIRST COUNT VERTICES
    if /usr/bin/python3 "$here/judge_rig.py" "$CUTIS" "$folder" "$2" "$3" "$4" >"$folder/log" 2>&1; then
        echo "ok $1"
    else
        echo "not ok $1: $(grep -E 'missed|Error' "$folder/log" | tr '\n' ' ')"
        failed=1
    fi
    cat "$folder/log"
}
failed=0
if [ -d "$SHARED/data/makehuman" ] && [ -d "$SHARED/data/spot-cc0" ]; then
    /usr/bin/python3 "$here/rig_real.py" "$CUTIS" "$SHARED" "$folder" || failed=1
else
    echo "skip rig_real: shared data: $SHARED/data/makehuman or spot-cc0 is not there"
fi
if [ -n "${CUTIS_SOAK:-}" ]; then
    judge "rigs of 200 bodies that were looked at" 100 25 8000
    judge "rigs of 200 bodies that nobody looked at" 9000 25 8000
    if [ -d "$SHARED/data/cmu-mocap" ]; then
        /usr/bin/python3 "$here/rig_walks.py" "$CUTIS" "$SHARED" "$folder" 100 20 || failed=1
    else
        echo "skip rig_walks: shared data: $SHARED/data/cmu-mocap is not there"
    fi
else
    judge "rigs of 24 bodies" 100 3 3000
fi
exit $failed
