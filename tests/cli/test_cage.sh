#!/bin/sh
# cutis cage, deform --method cage, reduce of a cage, --as-skin, render --show cage: what they print, write and refuse.
. "$(dirname "$0")/common.sh"
here=$(dirname "$0")
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip "cages" "python3-numpy is not installed"; exit 0; }
ARM=$T/arm.obj
CAGE=$T/cage.obj
COUNT=1000

# A bent arm, and 14 square rings and two poles around it (as tests/fit/cage_case.h makes them).
"$CUTIS" synth arm --vertices $COUNT -q -o "$T/straight.obj"
/usr/bin/python3 - "$T/straight.obj" "$ARM" "$CAGE" <<'PY'
import sys
import numpy as np
lines = [l.split() for l in open(sys.argv[1])]
v = np.array([[float(x) for x in l[1:4]] for l in lines if l and l[0] == "v"])
faces = [[int(x.split("/")[0]) for x in l[1:]] for l in lines if l and l[0] == "f"]
low, high = v.min(0), v.max(0)
v = (v - [low[0], *(low + high)[1:] / 2]) * 60 / (high[0] - low[0])
step, cage = 60 / 13, [[-60 / 13, 0, 0]]
for k in range(14):
    near = v[abs(v[:, 0] - k * step) <= 0.6 * step]
    r = 1.1 * np.hypot(near[:, 1], near[:, 2]).max()
    x = step * (k - 0.1 if k == 0 else k + 0.1 if k == 13 else k)
    cage += [[x, r, r], [x, -r, r], [x, -r, -r], [x, r, -r]]
cage = np.array(cage + [[60 + step, 0, 0]])
tube = []
for i in range(4):
    a, b = 1 + i, 1 + (i + 1) % 4
    tube += [[0, b, a], [a + 52, b + 52, 57]]
    for k in range(0, 52, 4): tube += [[a + k, b + k, b + k + 4], [a + k, b + k + 4, a + k + 4]]
def write(name, points, triangles):
    t, inner = points[:, 0] * 1.6 / 60, 60 / 1.6 - points[:, 1]
    points = np.c_[inner * np.sin(t), 60 / 1.6 - inner * np.cos(t), points[:, 2]]
    with open(name, "w") as out:
        for p in points: out.write("v %.9g %.9g %.9g\n" % tuple(p))
        for f in triangles: out.write("f %d %d %d\n" % tuple(f))
write(sys.argv[2], v, faces)
write(sys.argv[3], cage, np.array(tube) + 1)
PY

# Poses of the cage in every form: 5 bends as .npy, as meshes, as a morph clip with its vertices shuffled and split.
/usr/bin/python3 - "$CAGE" "$T" <<'PY'
import base64, json, sys
import numpy as np
source, folder = sys.argv[1:]
v = np.array([[float(x) for x in l.split()[1:4]] for l in open(source) if l.startswith("v ")])
faces = np.array([[int(x) - 1 for x in l.split()[1:4]] for l in open(source) if l.startswith("f ")])
c = v.mean(0)
axes = np.linalg.svd(v - c, full_matrices=False)[2]
s = (v - c) @ axes[0]
length = s.max() - s.min()
def pose(t):
    a = t * np.clip(s / (length / 3) + 0.5, 0, 1)
    q, k = v - c, axes[2]
    return c + np.cos(a)[:, None] * q + np.sin(a)[:, None] * np.cross(k, q) + ((1 - np.cos(a)) * (q @ k))[:, None] * k
frames = np.array([pose(t) for t in np.linspace(0, 1, 5)], np.float32)
np.save(folder + "/poses.npy", frames)
for i, f in enumerate(frames):
    with open("%s/pose%d.obj" % (folder, i), "w") as out:
        for p in f: out.write("v %.9g %.9g %.9g\n" % tuple(p))
        for t in faces: out.write("f %d %d %d\n" % tuple(t + 1))
rest = v.astype(np.float32)
order = faces[::-1].ravel()  # every corner a vertex of its own, in another order
blobs, accessors, views, data = [], [], [], b""
def add(a, kind, minmax=False):
    global data
    views.append({"buffer": 0, "byteOffset": len(data), "byteLength": a.nbytes})
    entry = {"bufferView": len(views) - 1, "componentType": 5126, "count": len(a), "type": kind}
    if minmax: entry.update(min=a.min(0).tolist() if a.ndim > 1 else [float(a.min())], max=a.max(0).tolist() if a.ndim > 1 else [float(a.max())])
    accessors.append(entry)
    data += a.tobytes()
    return len(accessors) - 1
position = add(rest[order], "VEC3", True)
targets = [{"POSITION": add(f[order] - rest[order], "VEC3", True)} for f in frames]
times = add((np.arange(5) / 30).astype(np.float32), "SCALAR", True)
weights = add(np.eye(5, dtype=np.float32).ravel(), "SCALAR")
gltf = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": position}, "targets": targets}]}],
        "animations": [{"channels": [{"sampler": 0, "target": {"node": 0, "path": "weights"}}],
                        "samplers": [{"input": times, "output": weights}]}],
        "accessors": accessors, "bufferViews": views,
        "buffers": [{"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}]}
json.dump(gltf, open(folder + "/clip.gltf", "w"))
open(folder + "/open.obj", "w").write("".join("v %r %r %r\n" % tuple(p) for p in v) + "".join("f %d %d %d\n" % tuple(t + 1) for t in faces[1:]))
open(folder + "/small.obj", "w").write("".join("v %r %r %r\n" % tuple(c + 0.8 * (p - c)) for p in v) + "".join("f %d %d %d\n" % tuple(t + 1) for t in faces))
np.save(folder + "/wrong.npy", frames[:, :57])
bad = frames.copy(); bad[2, 3, 1] = np.nan
np.save(folder + "/nan.npy", bad)
PY

passes "binds by mean value" "$CUTIS" cage "$ARM" --cage "$CAGE" --json -o "$T/arm.glb"
cp "$T/stdout" "$T/cage.json"
holds "58 controls, signed weights, the rest shape kept" "$T/cage.json" 'd["controls"] == 58 and d["weight_min"] < 0 and d["precision"] < 1e-4 and d["outside_vertices"] == 0'
passes "binds by harmonic coordinates" "$CUTIS" cage "$ARM" --cage "$CAGE" --coordinates harmonic --resolution 32 --json -o "$T/arm_h.glb"
holds "no weight is negative, the solver has converged" "$T/stdout" 'd["weight_min"] >= 0 and d["residual"] <= 1e-9 and d["nodes"] > 1000'
passes "reduces to eight while binding" "$CUTIS" cage "$ARM" --cage "$CAGE" --influences 8 --compare --json -o "$T/arm8.glb"
cp "$T/stdout" "$T/eight.json"
holds "all four methods are reported" "$T/eight.json" '[m["method"] for m in d["methods"]] == ["poisson", "klargest", "geometric", "smooth"]'
holds "poisson has at most 0.35 of k-largest's normal error" "$T/eight.json" 'd["methods"][0]["held_out_normal"] <= 0.35 * d["methods"][1]["held_out_normal"]'
passes "reduce serves the file with all weights" "$CUTIS" reduce "$T/arm.glb" --influences 8 --json -o "$T/again.glb"
holds "with the same errors as reducing while binding" "$T/stdout" 'abs(d["methods"][0]["held_out_normal"] - json.load(open("'"$T/eight.json"'"))["methods"][0]["held_out_normal"]) < 1e-4'
passes "learns from given poses" "$CUTIS" cage "$ARM" --cage "$CAGE" --influences 6 --poses "$T/poses.npy" --held-out "$T/pose2.obj,$T/pose4.obj" --json -o "$T/learned.glb"
holds "and counts them" "$T/stdout" 'd["example_poses"] == 5 and d["held_out_poses"] == 2'

passes "plays an array" "$CUTIS" deform "$T/arm.glb" --method cage --cage-poses "$T/poses.npy" --normals "$T/normals.npy" -o "$T/a.npy"
passes "plays meshes" "$CUTIS" deform "$T/arm.glb" --method cage --cage-poses "$T/pose0.obj,$T/pose1.obj,$T/pose2.obj,$T/pose3.obj,$T/pose4.obj" -o "$T/b.npy"
passes "plays a morph clip" "$CUTIS" deform "$T/arm.glb" --method cage --cage-poses "$T/clip.gltf" -o "$T/c.npy"
passes "plays the rest shape without poses" "$CUTIS" deform "$T/arm.glb" --method cage -o "$T/rest.npy"
check=$(/usr/bin/python3 - "$T" "$ARM" $COUNT <<'PY'
import sys
import numpy as np
t, arm, count = sys.argv[1:]
a, b, c, rest = (np.load("%s/%s.npy" % (t, n)) for n in ("a", "b", "c", "rest"))
v = np.array([[float(x) for x in l.split()[1:4]] for l in open(arm) if l.startswith("v ")])
size = np.linalg.norm(v.max(0) - v.min(0))
n = np.load(t + "/normals.npy")
print(a.shape == (5, int(count), 3), abs(a - b).max() < 1e-6 * size, abs(a - c).max() < 1e-5 * size, abs(rest[0] - v).max() < 1e-5 * size, abs(np.linalg.norm(n, axis=2) - 1).max() < 1e-5)
PY
)
equals "arrays, meshes and clips are the same poses; the first is the rest shape; normals are unit" "$check" "True True True True True"

for kind in "harmonic 4" "mvc 7"; do
    set -- $kind
    passes "$1 as a skin" "$CUTIS" cage "$ARM" --cage "$CAGE" --coordinates "$1" --influences "$2" --as-skin --cage-poses "$T/poses.npy" -o "$T/skin.glb"
    grep -q "$([ "$1" = mvc ] && echo 'two joints a control' || echo 'for any player')" "$T/stdout" && ok "$1: it says which skin it wrote" || not_ok "$1: it says which skin it wrote" "$(tail -1 "$T/stdout")"
    "$CUTIS" cage "$ARM" --cage "$CAGE" --coordinates "$1" --influences "$2" -o "$T/kept.glb" -q
    "$CUTIS" deform "$T/kept.glb" --method cage --cage-poses "$T/poses.npy" -o "$T/own.npy" -q
    passes "$1: the skin plays its clip" "$CUTIS" deform "$T/skin.glb" --clip cage -o "$T/played.npy"
    check=$(/usr/bin/python3 -c 'import sys, numpy as np; a, b = np.load(sys.argv[1]), np.load(sys.argv[2]); print(a.shape == b.shape and abs(a - b).max() < 1e-5 * np.linalg.norm(a[0].max(0) - a[0].min(0)))' "$T/own.npy" "$T/played.npy")
    equals "$1: the skin is the cage's own result to 1e-5" "$check" True
    cp "$T/skin.glb" "$T/skin_$1.glb"
done

modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
if command -v node >/dev/null && [ -d "$modules/gltf-validator" ]; then
    printf '%s\n' "$T/arm.glb" "$T/arm8.glb" "$T/skin_mvc.glb" "$T/skin_harmonic.glb" | CUTIS_NODE_MODULES=$modules node "$here/../io/gltf_validate.mjs" >"$T/issues"
    equals "the validator reads all four" "$(wc -l <"$T/issues" | tr -d ' ')" 4
    if grep -Eq '"severity":[01]' "$T/issues"; then not_ok "the Khronos validator finds no error and no warning" "$(head -1 "$T/issues")"; else ok "the Khronos validator finds no error and no warning"; fi
else
    skip "the Khronos validator" "node or gltf-validator is not there"
fi

passes "convert keeps the cage" "$CUTIS" convert "$T/arm8.glb" -o "$T/converted.gltf"
"$CUTIS" deform "$T/arm8.glb" --method cage --cage-poses "$T/poses.npy" -o "$T/x.npy" -q
"$CUTIS" deform "$T/converted.gltf" --method cage --cage-poses "$T/poses.npy" -o "$T/y.npy" -q
cmp -s "$T/x.npy" "$T/y.npy" && ok "with the same bits" || not_ok "with the same bits" "the frames differ"
"$CUTIS" cage "$ARM" --cage "$CAGE" --influences 8 --threads 1 -o "$T/t1.glb" -q
"$CUTIS" cage "$ARM" --cage "$CAGE" --influences 8 --threads 3 -o "$T/t3.glb" -q
cmp -s "$T/t1.glb" "$T/t3.glb" && ok "1 and 3 threads write the same file" || not_ok "1 and 3 threads write the same file" "they differ"
passes "the wire over the body" "$CUTIS" render "$T/arm8.glb" --method cage --cage-poses "$T/poses.npy" --time 0.2 --show cage --size 320x240 -o "$T/wire.png"
"$CUTIS" render "$T/arm8.glb" --method cage --cage-poses "$T/poses.npy" --time 0.2 --size 320x240 -o "$T/plain.png" -q
cmp -s "$T/wire.png" "$T/plain.png" && not_ok "the wire shows" "both pictures are the same" || ok "the wire shows"
if "$CUTIS" devices --json | grep -q '"kind":"opencl","index":0,"available":true' 2>/dev/null || "$CUTIS" devices | grep -q '^opencl'; then
    passes "OpenCL binds and plays" "$CUTIS" deform "$T/arm8.glb" --method cage --device opencl --cage-poses "$T/poses.npy" -o "$T/z.npy"
    cmp -s "$T/x.npy" "$T/z.npy" && ok "with the CPU's bits" || not_ok "with the CPU's bits" "the frames differ"
else
    skip "OpenCL" "there is no device"
fi

fails 1 "an open cage is named" 'not closed: 3 edges' "$CUTIS" cage "$ARM" --cage "$T/open.obj" -o "$T/out/x.glb"
fails 1 "harmonic: vertices outside are counted, the worst is named" "[0-9]+ of $COUNT vertices lie outside, the worst is vertex [0-9]+" "$CUTIS" cage "$ARM" --cage "$T/small.obj" --coordinates harmonic -o "$T/out/x.glb"
"$CUTIS" cage "$ARM" --cage "$T/small.obj" -o "$T/small.glb" >"$T/stdout" 2>"$T/stderr"
equals "mean value: they are a warning" "$? $(grep -c 'vertices lie outside' "$T/stderr")" "0 1"
fails 1 "fewer than four influences are refused" 'at least 4' "$CUTIS" cage "$ARM" --cage "$CAGE" --influences 3 -o "$T/out/x.glb"
fails 2 "a cage is needed" '--cage' "$CUTIS" cage "$ARM" -o "$T/out/x.glb"
fails 1 "poses of another cage are refused" 'no poses of 58 controls' "$CUTIS" deform "$T/arm.glb" --method cage --cage-poses "$T/wrong.npy" -o "$T/out/x.npy"
fails 1 "poses that are not finite are refused" 'pose 2 .* not finite' "$CUTIS" deform "$T/arm.glb" --method cage --cage-poses "$T/nan.npy" -o "$T/out/x.npy"
fails 1 "a mesh that is not the cage is refused" "$COUNT vertices for a cage of 58" "$CUTIS" deform "$T/arm.glb" --method cage --cage-poses "$ARM" -o "$T/out/x.npy"
fails 1 "a model without a cage cannot be played by one" 'no cage' "$CUTIS" deform "$ARM" --method cage -o "$T/out/x.npy"
fails 2 "a clip does not move a cage" 'cage-poses' "$CUTIS" deform "$T/skin_mvc.glb" --method cage --clip cage -o "$T/out/x.npy"
fails 2 "--signed is for cages" 'signed' "$CUTIS" reduce "$T/skin_mvc.glb" --signed -o "$T/out/x.glb"
fails 1 "no poses and --poses given" 'nothing.obj' "$CUTIS" cage "$ARM" --cage "$CAGE" --influences 8 --poses "$T/nothing.obj" -o "$T/out/x.glb"

REAL=$SHARED/data/supercages/__DataExamples/Arm
if [ -f "$REAL/arm_cage.obj" ]; then
    passes "the arm of SuperCages binds" "$CUTIS" cage "$REAL/arm.obj" --cage "$REAL/arm_cage.obj" --influences 8 --compare --json -o "$T/real.glb"
    holds "with 58 controls, signed weights, the rest shape kept" "$T/stdout" 'd["controls"] == 58 and d["weight_min"] < -0.1 and d["precision"] < 1e-4 and d["outside_vertices"] == 0'
    holds "and at most 0.35 of k-largest's normal error" "$T/stdout" 'd["methods"][0]["held_out_normal"] <= 0.35 * d["methods"][1]["held_out_normal"]'
else
    skip "the arm of SuperCages" "shared data: $REAL is not there"
fi
exit $failed
