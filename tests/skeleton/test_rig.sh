#!/bin/sh
# Rigs for bare bodies of eight kinds, nothing told, against the truth (judge_rig.py): two seeds of each; 50 of each, in full size,
# with CUTIS_SOAK, half of them seeds that nobody looked at while it was written (9000 and on). Bare people rigged and moved in one command, judged by
# positions only (retarget_grid.py --rig): one in the gate; with CUTIS_SOAK twenty and MakeHuman, in seven and six rest poses, three axes up, walk, run, wave.
# Then what a person says of a body (rig_hints.py), and bodies that others made (rig_real.py).
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
grid() { /usr/bin/python3 "$here/retarget_grid.py" "$CUTIS" "$SHARED" "$folder" --rig "$@" || failed=1; }
/usr/bin/python3 "$here/rig_hints.py" "$CUTIS" "$folder" || failed=1
/usr/bin/python3 "$here/rig_turned.py" "$CUTIS" "$folder" 3000 quadruped:70003 bird:70002 || failed=1 # bodies that were other ones when turned
if [ -d "$SHARED/data/makehuman" ] && [ -d "$SHARED/data/spot-cc0" ]; then
    /usr/bin/python3 "$here/rig_real.py" "$CUTIS" "$SHARED" "$folder" || failed=1
else
    echo "skip rig_real: shared data: $SHARED/data/makehuman or spot-cc0 is not there"
fi
if [ -n "${CUTIS_SOAK:-}" ]; then
    judge "rigs of 200 bodies that were looked at" 100 25 8000
    judge "rigs of 200 bodies that nobody looked at" 9000 25 8000
    grid --seeds "$(seq -s, 100 119)" --poses t,a,sitting,bent
    grid --seeds "$(seq -s, 100 119)" --poses arms,leg,crouched --ups y
    if [ -d "$SHARED/data/makehuman" ]; then
        grid --seeds none --makehuman --poses t,a,sitting,arms,leg,crouched
        grid --seeds "$(seq -s, 100 119)" --poses t,a,sitting,bent --ups y,z --motions zombie
    else
        echo "skip MakeHuman: shared data: $SHARED/data/makehuman is not there"
    fi
else
    judge "rigs of 16 bodies" 100 2 3000
    grid --seeds 100 --poses crouched --ups z --motions forward,wave
    grid --touching --seeds 300 --motions forward
    grid --seeds 302 --poses a --ups z --motions walk # narrow shoulders were found: a beast, if one went by these
fi
exit $failed
