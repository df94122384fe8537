#!/bin/sh
# Crossing triangles of patches against those of LBS in the same frames: biped and hound in the gate, with CUTIS_SOAK also captured walks and runs on the
# biped and on MakeHuman (docs/benchmarks.md, "Borders and crossings").
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
# judge CLAIM EXPRESSION MODEL CLIP [OPTIONS]: of the figures `d`
judge() {
    claim=$1 expression=$2
    shift 2
    /usr/bin/python3 -B tests/deform/patches_crossings.py "$CUTIS" "$@" --json "$folder/out.json" >"$folder/out" 2>&1
    if [ $? -eq 0 ] && /usr/bin/python3 -c "import json, sys; d = json.load(open(sys.argv[1])); sys.exit(not ($expression))" "$folder/out.json"; then echo "ok $claim"
    else echo "not ok $claim: $(tr '\n' ' ' <"$folder/out")"; failed=1; fi
}
"$CUTIS" synth biped -q -o "$folder/biped.glb"
"$CUTIS" synth quadruped -q -o "$folder/hound.glb"
none='d["no_more"] == d["frames"] and d["own_none"] == d["frames"]'
frames=3
[ -z "${CUTIS_SOAK:-}" ] || frames=12
judge "the walking biped crosses no more than under LBS, and not at joints" "$none" "$folder/biped.glb" walk --frames $frames
judge "nor does the bending hound" "$none" "$folder/hound.glb" bend --frames $frames
[ -n "${CUTIS_SOAK:-}" ] || exit $failed
judge "the walking hound" "$none" "$folder/hound.glb" walk
judge "the twisting hound" "$none" "$folder/hound.glb" twist
walk=$SHARED/data/cmu-mocap/data/002/02_01.bvh run=$SHARED/data/cmu-mocap/data/009/09_01.bvh
if [ ! -d "$SHARED/data/makehuman" ] || [ ! -f "$walk" ] || [ ! -f "$run" ]; then
    echo "skip captured motions: shared data are not there"
    exit $failed
fi
/usr/bin/python3 tests/fit/makehuman.py "$SHARED/data" "$folder/human.glb" >/dev/null 2>&1
"$CUTIS" skeleton "$folder/human.glb" --parts joints -q -o "$folder/human_rig.glb"
for model in biped human human_rig; do
    "$CUTIS" retarget "$folder/$model.glb" --motion "$walk" -q -o "$folder/${model}_walk.glb"
    "$CUTIS" retarget "$folder/$model.glb" --motion "$run" -q -o "$folder/${model}_run.glb"
done
judge "the running biped" "$none" "$folder/biped_run.glb" 09_01
judge "MakeHuman walks, never at joints" 'd["no_more"] >= 9 and d["own_none"] == d["frames"]' "$folder/human_rig_walk.glb" 02_01 --twin "$folder/human_walk.glb"
# Folds of its ears, a millimetre apart, touch in three frames: bands of the neck reach them.
judge "and runs" 'd["no_more"] == d["frames"] and d["own_none"] >= 9' "$folder/human_rig_run.glb" 09_01 --twin "$folder/human_run.glb"
exit $failed
