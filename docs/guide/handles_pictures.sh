#!/bin/sh
# Makes the pictures of handles.md: sh docs/guide/handles_pictures.sh [FOLDER]   (CUTIS=build/cutis)
set -e
CUTIS=${CUTIS:-build/cutis}
out=${1:-docs/guide}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
"$CUTIS" synth quadruped --vertices 9000 -q -o "$T/hound.glb"
"$CUTIS" convert "$T/hound.glb" -q -o "$T/hound.obj"
# A soup: every triangle loose and a little too small, one in twenty gone, half of them inside out.
/usr/bin/python3 - "$T/hound.obj" "$T/soup.obj" <<'PY'
import sys, numpy as np
v, f = [], []
for line in open(sys.argv[1]):
    w = line.split()
    if line.startswith("v "): v.append([float(x) for x in w[1:4]])
    if line.startswith("f "): f.append([int(x.split("/")[0]) - 1 for x in w[1:4]])
v, f = np.array(v), np.array(f)
r = np.random.default_rng(1)
f = f[r.random(len(f)) > 0.05]
t = v[f]
t = t.mean(1, keepdims=True) + 0.9 * (t - t.mean(1, keepdims=True))
flip = r.random(len(t)) < 0.5
t[flip] = t[flip][:, ::-1]
with open(sys.argv[2], "w") as out:
    for p in t.reshape(-1, 3): out.write("v %.6f %.6f %.6f\n" % tuple(p))
    for i in range(len(t)): out.write("f %d %d %d\n" % (3 * i + 1, 3 * i + 2, 3 * i + 3))
PY
cp docs/guide/hound.json "$T/h.json"
for body in hound soup; do
    model=$T/$body.obj
    "$CUTIS" handles "$model" --handles "$T/h.json" --weights-picture "$T/weights_$body.png" -q -o "$T/$body.field.glb"
done
view="--camera 62,12 --size 900x620"
"$CUTIS" render "$T/soup.field.glb" $view --show handles -q -o "$out/handles_soup.png"
"$CUTIS" render "$T/soup.field.glb" $view --clip howl --show handles -q -o "$out/handles_dragged.png"
"$CUTIS" synth cylinder -q -o "$T/rod.glb"
"$CUTIS" handles "$T/rod.glb" --handles docs/guide/rod.json --weighting virtual --radius 1.6 -q -o "$T/rod.virtual.glb"
"$CUTIS" render "$T/rod.virtual.glb" --camera 62,12 --clip turn --methods lbs,handles-rigid --show handles --size 620x420 -q -o "$out/handles_rigid.png"
cp "$T/weights_hound.png" "$out/handles_weights.png"
