#!/bin/sh
# Makes the pictures of reduction.md: sh docs/guide/reduction_pictures.sh SHARED_DATA [FOLDER]   (CUTIS=build/cutis)
set -e
CUTIS=${CUTIS:-build/cutis}
data=$1 out=${2:-docs/guide}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
/usr/bin/python3 tests/fit/makehuman.py "$data" "$T/original.glb"
"$CUTIS" reduce "$T/original.glb" --influences 4 -o "$T/reduced.glb" --report "$T/report.html"
"$CUTIS" reduce "$T/original.glb" --influences 4 --method klargest -q -o "$T/klargest.glb"
# The random pose 1235 of the judge, body only: learned from by nobody.
/usr/bin/python3 - "$T/original.glb" "$T/pose.json" <<'PY'
import json, re, sys
import numpy as np
sys.path.insert(0, "tests/fit")
import judge_unseen as judge
file = judge.File(sys.argv[1])
nodes, draw = file.json["nodes"], np.random.default_rng(1235)
rest, out = judge.rest_pose(nodes), {}
for j in sorted({j for _, s in file.skinned() for j in file.json["skins"][s]["joints"]}):
    if re.match("spine|clavicle|shoulder|upperarm|lowerarm|upperleg|lowerleg|pelvis|neck", nodes[j]["name"]):
        axis = draw.normal(size=3)
        angle = np.radians(draw.uniform(-40, 40)) / 2
        turn = np.append(np.sin(angle) * axis / np.linalg.norm(axis), np.cos(angle))
        out[nodes[j]["name"]] = {"rotation": list(judge.product(rest[j][1], turn))}
json.dump({"joints": out}, open(sys.argv[2], "w"))
PY
for which in original klargest reduced; do
    "$CUTIS" render "$T/$which.glb" --pose "$T/pose.json" --focus clavicle.L --camera 20,0,1 --size 420x420 -q -o "$out/reduction_$which.png"
done
# The report's own pictures: the held-out pose that k-largest does worst in.
/usr/bin/python3 - "$T/report.html" "$out" <<'PY'
import base64, re, sys
pictures = re.findall("data:image/png;base64,([A-Za-z0-9+/=]+)", open(sys.argv[1]).read())
for name, text in zip(("bodies", "normals"), pictures):
    open(f"{sys.argv[2]}/reduction_{name}.png", "wb").write(base64.b64decode(text))
PY
