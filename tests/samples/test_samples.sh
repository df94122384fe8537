#!/bin/sh
# The samples run and say what they should.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
check() { # NAME PATTERN COMMAND...
    name=$1 pattern=$2
    shift 2
    if "$@" >"$work/out" 2>&1 && { [ -z "$pattern" ] || grep -qE "$pattern" "$work/out"; }; then echo "ok $name"; else echo "not ok $name: $(head -c 300 "$work/out" | tr '\n' ' ')"; status=1; fi
}
check hello_walks 'success: 3000 vertices, from -?0\.[0-9]+ m to 1\.[78]' "$BUILD/samples/sample_01_hello"
# The upper edge (y = 2) turns by 90 degrees about the knee at (0, 1): to x = -1, y = 1 and 2.
check own_mesh_bends '^-1 1 0$|^-1 1 ' "$BUILD/samples/sample_02_your_own_mesh"
check crowd_stays_on_the_device 'success: 18000000 bytes' "$BUILD/samples/sample_03_crowd"
check crowd_lives_on_the_device 'success: [1-9][0-9]+ near and [1-9][0-9]+ far of 2000 are drawn' "$BUILD/samples/sample_07_living_crowd"
check pose_space_reaches_its_shapes '8 poses: .* pose space by 0\.00[0-9]+ mm at most' "$BUILD/samples/sample_05_pose_space"
check handles_are_dragged 'step 10: 4 weights a vertex' "$BUILD/samples/sample_06_drag_handles"
if "$CUTIS" synth arm --size low -o "$work/arm.glb" >/dev/null 2>&1; then
    check file_in_file_out '' "$BUILD/samples/sample_04_file_in_file_out" "$work/arm.glb" "$work/four.glb" "$work/frames.npy"
    [ -s "$work/four.glb" ] && [ -s "$work/frames.npy" ] && echo "ok files_are_there" || { echo "not ok files_are_there: missing"; status=1; }
else
    echo "not ok file_in_file_out: cutis synth failed"
    status=1
fi
exit $status
