#!/bin/sh
# Makes the pictures of learned weights in pose-space.md: sh docs/guide/pose_space_pictures.sh [FOLDER]   (CUTIS=build/cutis)
set -e
CUTIS=${CUTIS:-build/cutis}
out=${1:-docs/guide}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
# Weights from 13 frames of a biped that bends, as optimised centres of rotation move it; then a pose of its walk, which no example shows.
/usr/bin/python3 - "$CUTIS" "$T" <<'PY'
import json, os, shutil, sys
sys.path.insert(0, "tests/fit")
import fit_sequences as make
import judge_fit as judge
cutis, folder = sys.argv[1:]
sequence = make.moved(cutis, folder, "cor", ["bend"], 13, 12000)
shutil.copy(sequence.rig, os.path.join(folder, "rig.glb"))
for name, words in (("plain", ("--prior", "0")), ("learned", ())):
    judge.fit(cutis, folder, sequence, list(range(13)), "--learn-weights", "--weights-only", *words)
    shutil.copy(os.path.join(folder, "fit_out.glb"), os.path.join(folder, name + ".glb"))
poses, _ = judge.clip_poses(sequence.file, "walk", 9)
joints = {node["name"]: {"rotation": list(map(float, poses[2][n][1])), "translation": list(map(float, poses[2][n][0]))}
          for n, node in enumerate(sequence.nodes) if "mesh" not in node and "name" in node}
json.dump({"joints": joints}, open(os.path.join(folder, "pose.json"), "w"))
PY
for which in rig plain learned; do
    "$CUTIS" render "$T/$which.glb" --pose "$T/pose.json" --camera 35,5,1 --size 320x480 -q -o "$out/pose-space-$which.png"
done
