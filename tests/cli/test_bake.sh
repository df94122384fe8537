#!/bin/sh
# cutis bake: bad input in one line, what it writes, the same bytes for any number of threads, players and the validator. What the
# files come to is judged in tests/fit/test_bake.sh.
here=$(dirname "$0")
. "$here/common.sh"

# bakes NAME COMMAND...: as passes, but for the notes that helpers rest in poses of no clip, and that so few turn normals.
bakes() {
    claim=$1; shift
    "$@" >"$T/stdout" 2>"$T/stderr"; code=$?
    grep -v "helpers rest there\|: normals of" "$T/stderr" >"$T/others"
    if [ $code -eq 0 ] && [ ! -s "$T/others" ]; then ok "$claim"; else not_ok "$claim" "exit $code: $(head -1 "$T/stderr")"; fi
}

"$CUTIS" synth arm --vertices 1000 -q -o "$T/arm.glb"
cat >"$T/tetra.obj" <<'O'
v 0 0 0
v 1 0 0
v 0 1 0
v 0 0 1
f 1 3 2
f 1 2 4
f 2 3 4
f 3 1 4
O
/usr/bin/python3 - "$T" <<'P' || { skip "bake" "python3-numpy is not installed"; exit 0; }
import sys
import numpy as np
t = sys.argv[1]
rest = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
def save(name, array): np.save(f"{t}/{name}.npy", array.astype(np.float32))
move = np.stack([rest + [0, 0, 0.1 * k] for k in range(6)])
move[:, 1, 1] += np.linspace(0, 1, 6)
save("move", move)
save("five", np.concatenate([move, move[:, :1]], 1))
nan = move.copy(); nan[3, 2, 1] = np.nan
save("nan", nan)
save("one", move[:1])
save("still", np.stack([rest] * 4))
save("flat", move.reshape(6, 12))
import os
for k, frame in enumerate(move):
    os.makedirs(f"{t}/meshes", exist_ok=True)
    os.makedirs(f"{t}/torn", exist_ok=True)
    os.makedirs(f"{t}/counted 1", exist_ok=True)
    faces = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    text = "".join("v %g %g %g\n" % tuple(v) for v in frame) + faces
    open(f"{t}/meshes/m{k:02}.obj", "w").write(text)
    open(f"{t}/counted 1/frame 2.{k + 7}.obj", "w").write(text)
    open(f"{t}/torn/m{k:02}.obj", "w").write(("v 5 5 5\n" + text.replace("f 1 3 2", "f 5 3 2") if k == 3 else text))
P
O="$T/out/x.glb"
fails 1 "frames of another vertex count" "5 vertices.*has 4" "$CUTIS" bake "$T/five.npy" --rest "$T/tetra.obj" --bones 2 -o "$O"
fails 1 "a frame that is not finite" "frame 3: vertex 2 is not finite" "$CUTIS" bake "$T/nan.npy" --rest "$T/tetra.obj" --bones 2 -o "$O"
fails 1 "one frame" "1 frame;" "$CUTIS" bake "$T/one.npy" --rest "$T/tetra.obj" --bones 2 -o "$O"
fails 1 "frames that do not move" "nothing moves" "$CUTIS" bake "$T/still.npy" --rest "$T/tetra.obj" --bones 2 -o "$O"
fails 1 "more joints than vertices" "9 joints for 4" "$CUTIS" bake "$T/move.npy" --rest "$T/tetra.obj" --bones 9 -o "$O"
fails 1 "an array of another shape" "frames, vertices, 3" "$CUTIS" bake "$T/flat.npy" --rest "$T/tetra.obj" --bones 2 -o "$O"
fails 1 "a folder whose meshes differ" "vertices, the frame before it has 4" "$CUTIS" bake "$T/torn" --bones 2 -o "$O"
fails 1 "a folder without meshes" "no meshes" "$CUTIS" bake "$T/out" --bones 2 -o "$T/x.glb"
fails 1 "a model that does not move" "no clip" "$CUTIS" bake "$T/tetra.obj" --bones 2 -o "$O"
fails 1 "a skinned model as a sequence" "has a skin" "$CUTIS" bake "$T/arm.glb" --bones 2 -o "$O"
fails 1 "pose space without examples" "pose" "$CUTIS" bake "$T/arm.glb" --method psd -o "$O"
fails 1 "handles without handles" "handle" "$CUTIS" bake "$T/arm.glb" --method handles-rigid -o "$O"
fails 1 "a cage without a cage" "no cage" "$CUTIS" bake "$T/arm.glb" --method cage --cage-poses "$T/move.npy" -o "$O"
fails 1 "a model without clips" "no clips" "$CUTIS" bake "$T/tetra.obj" --method dqs -o "$O"
fails 1 "a clip that is not there" "nod" "$CUTIS" bake "$T/arm.glb" --method dqs --clips nod -o "$O"
fails 1 "frames of another body than the rig's" "4 vertices" "$CUTIS" bake "$T/move.npy" --rig "$T/arm.glb" --helpers 2 -o "$O"
fails 2 "an array without triangles" "--rest" "$CUTIS" bake "$T/move.npy" --bones 2 -o "$O"
fails 2 "neither method nor joints" "--method" "$CUTIS" bake "$T/arm.glb" -o "$O"
fails 2 "a method that engines play" "as it is" "$CUTIS" bake "$T/arm.glb" --method lbs -o "$O"
fails 2 "--bones with a method" "sequences" "$CUTIS" bake "$T/arm.glb" --method dqs --bones 3 -o "$O"
fails 2 "a cage without poses" "cage-poses" "$CUTIS" bake "$T/arm.glb" --method cage -o "$O"
fails 2 "weights in an obj" "glb" "$CUTIS" bake "$T/arm.glb" --method dqs -o "$T/out/x.obj"

passes "a folder of meshes" "$CUTIS" bake "$T/meshes" --bones 2 --json -o "$T/tetra.glb"
cp "$T/stdout" "$T/folder.json"
passes "a folder whose names count without zeros" "$CUTIS" bake "$T/counted 1" --bones 2 -o "$T/counted.glb"
"$CUTIS" deform "$T/tetra.glb" --clip 0 -q -o "$T/tetra.npy"
"$CUTIS" deform "$T/counted.glb" --clip 0 -q -o "$T/counted.npy"
cmp -s "$T/tetra.npy" "$T/counted.npy" && ok "is read in that order" || not_ok "is read in that order" "it moves otherwise"
passes "the same as an array" "$CUTIS" bake "$T/move.npy" --rest "$T/tetra.obj" --bones 2 --json -o "$T/array.glb"
holds "a sequence has no poses of joints to judge by" "$T/stdout" "'unseen' not in d"
holds "give the same error" "$T/folder.json" "abs(d['rms'] - $(json "$T/stdout" "d['rms']")) < 1e-9 and d['rms'] < 0.02"
bakes "a method" "$CUTIS" bake "$T/arm.glb" --method sbs --helpers 2 --fps 6 --threads 1 -o "$T/t1.glb"
"$CUTIS" bake "$T/arm.glb" --method sbs --helpers 2 --fps 6 --threads 3 -q -o "$T/t3.glb"
"$CUTIS" bake "$T/arm.glb" --method sbs --helpers 2 --fps 6 --isa scalar -q -o "$T/scalar.glb"
cmp -s "$T/t1.glb" "$T/t3.glb" && cmp -s "$T/t1.glb" "$T/scalar.glb" && ok "threads and widths of vectors write the same bytes" || not_ok "threads and widths of vectors write the same bytes" "they differ"
if "$CUTIS" devices 2>/dev/null | grep -q "^opencl:"; then
    "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 2 --fps 8 -q -o "$T/cpu.glb" 2>/dev/null
    "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 2 --fps 8 --device opencl -q -o "$T/gpu.glb" 2>/dev/null
    cmp -s "$T/cpu.glb" "$T/gpu.glb" && ok "OpenCL writes the same bytes" || not_ok "OpenCL writes the same bytes" "they differ"
else skip "OpenCL writes the same bytes" "no OpenCL device"; fi
"$CUTIS" synth biped --vertices 3000 -q -o "$T/biped.glb"
"$CUTIS" bake "$T/biped.glb" --method cor --helpers 1 --fps 5 --json -o "$T/one.glb" >"$T/stdout" 2>"$T/stderr"
holds "a clip that would be worse than plain blending gets weights back" "$T/stdout" "all(c['rms'] <= c['plain_rms'] for c in d['clips'])"
holds "and the others stay better" "$T/stdout" "0.5 < d['ratio'] < 0.85"
passes "a morphing file is a sequence" "$CUTIS" deform "$T/arm.glb" --clip bend --method dqs --fps 5 -o "$T/morphed.glb"
passes "and becomes a rig" "$CUTIS" bake "$T/morphed.glb" --bones 4 --fps 5 --json -o "$T/rigged.glb"
holds "without morph targets" "$T/stdout" "d['helpers'] == 4 and d['ratio'] < 0.2"
"$CUTIS" info "$T/rigged.glb" --json >"$T/info"
holds "with as many joints as were asked for" "$T/info" "d['joints'] == 4 and d['morph_targets'] == 0 and d['max_influences'] <= 4"
"$CUTIS" bake "$T/arm.glb" --method patches --helpers 3 --fps 3 --json -o "$T/patches.glb" >"$T/stdout" 2>"$T/stderr"
equals "patches are baked onto the body" $? 0
holds "and are nearer than plain blending" "$T/stdout" "d['ratio'] < 1"
"$CUTIS" handles "$T/arm.glb" --skeleton --weighting virtual --voxels 48 -q -o "$T/held.glb"
"$CUTIS" bake "$T/held.glb" --method handles-rigid --helpers 4 --fps 3 --json -o "$T/unheld.glb" >"$T/stdout" 2>"$T/stderr"
equals "handles are baked" $? 0
grep -v "helpers rest there\|: normals of" "$T/stderr" >"$T/others"
equals "and worse than plain blending by no more than rounding" "$(cat "$T/others")" ""
holds "nearer than plain blending" "$T/stdout" "d['ratio'] < 0.3"
if "$CUTIS" deform "$T/unheld.glb" --method handles-rigid --rest -o "$T/x.npy" 2>"$T/stderr"; then not_ok "and go" "the file still has handles"; else ok "and go"; fi
"$CUTIS" convert "$T/arm.glb" -q -o "$T/arm.obj"
/usr/bin/python3 - "$T" <<'P'
import sys
import numpy as np
t = sys.argv[1]
v = np.array([[float(x) for x in line.split()[1:4]] for line in open(t + "/arm.obj") if line.startswith("v ")])
low, high = v.min(0) - .02, v.max(0) + .02
box = np.array([[(low, high)[i][0], (low, high)[j][1], (low, high)[k][2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
with open(t + "/box.obj", "w") as out:
    out.writelines("v %.9g %.9g %.9g\n" % tuple(p) for p in box)
    out.writelines("f %d %d %d\nf %d %d %d\n" % (a + 1, b + 1, c + 1, a + 1, c + 1, d + 1) for a, b, c, d in quads)
frames = []
for a in np.linspace(0, 1.5, 8):  # the far end of the box turns about its long axis
    q = box.copy()
    c = (low + high) / 2
    y, z = q[4:, 1] - c[1], q[4:, 2] - c[2]
    q[4:, 1], q[4:, 2] = c[1] + np.cos(a) * y - np.sin(a) * z, c[2] + np.sin(a) * y + np.cos(a) * z
    frames.append(q)
np.save(t + "/box.npy", np.array(frames, np.float32))
P
"$CUTIS" cage "$T/arm.obj" --cage "$T/box.obj" -q -o "$T/caged.glb"
passes "a cage is baked" "$CUTIS" bake "$T/caged.glb" --method cage --cage-poses "$T/box.npy" --helpers 6 --json -o "$T/uncaged.glb"
holds "far nearer than one rigid motion" "$T/stdout" "d['ratio'] < 0.2 and d['joints'] == 0 and d['helpers'] == 6"
bakes "as few as keep a bound" "$CUTIS" bake "$T/arm.glb" --method dqs --max-error 9 --fps 4 --json -o "$T/bound.glb"
holds "keep it" "$T/stdout" "d['max'] <= 0.009 and 0 < d['helpers'] < 8"
few=$(json "$T/stdout" "d['helpers'] - 1")
"$CUTIS" bake "$T/arm.glb" --method dqs --helpers "$few" --fps 4 --json -o "$T/few.glb" >"$T/few" 2>/dev/null
holds "and one fewer does not" "$T/few" "d['max'] > 0.009"
"$CUTIS" deform "$T/arm.glb" --clip bend --method dqs --fps 5 -q -o "$T/bend.npy"
fails 1 "a rig whose clip has another length" "has 121 frames" "$CUTIS" bake "$T/bend.npy" --rig "$T/arm.glb" --helpers 2 -o "$O"
"$CUTIS" bake "$T/bend.npy" --rig "$T/arm.glb" --clip bend --fps 5 --helpers 3 --json -o "$T/beside.glb" >"$T/stdout" 2>"$T/stderr"
equals "helpers beside a rig" $? 0
holds "take error away" "$T/stdout" "d['helpers'] == 3 and d['ratio'] < 0.4 and d['clips'][0]['name'] == 'bend'"
case $(cat "$T/stderr") in *"one of 3 clips"*) ok "clips without tracks are told" ;; *) not_ok "clips without tracks are told" "$(cat "$T/stderr")" ;; esac
"$CUTIS" deform "$T/arm.glb" --clip bend --method lbs --fps 5 -q -o "$T/plain.npy"
"$CUTIS" bake "$T/plain.npy" --rig "$T/arm.glb" --clip bend --fps 5 --helpers 2 --json -o "$T/plain.glb" >"$T/stdout" 2>"$T/stderr"
equals "frames that plain blending makes" $? 0
holds "are not spoilt by few bits" "$T/stdout" "d['max'] < 2e-5 and d['normal_degrees'] < 0.02"
fails 2 "--clip without --rig" "is of --rig" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 1 --clip bend -o "$O"
bakes "a bound with weights of 8 bits" "$CUTIS" bake "$T/arm.glb" --method dqs --max-error 10 --weights u8 --fps 4 --json -o "$T/u8.glb"
holds "is kept by the weights that are written" "$T/stdout" "d['max'] <= 0.01 and d['weights'] == 'u8'"
"$CUTIS" info "$T/u8.glb" --json >"$T/info"
bakes "weights in as few bits as cost nothing" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 8 --fps 6 --json -o "$T/few.glb"
holds "are not floats" "$T/stdout" "d['weights'] in ('u8', 'u16')"
fails 1 "a bound out of reach, after a few helpers" "mm would be by 256" "$CUTIS" bake "$T/arm.glb" --method dqs --max-error 1e-5 --clips bend --fps 4 -o "$O"
bakes "morph targets for a bound" "$CUTIS" bake "$T/arm.glb" --method dqs --max-error 3 --morphs 4 --fps 4 --json -o "$T/morphs.glb"
holds "are few, and helpers fewer" "$T/stdout" "d['max'] <= 0.003 and 0 < d['morphs'] <= 4"
cp "$T/stdout" "$T/few"
"$CUTIS" bake "$T/morphs.glb" --method dqs --helpers 1 --fps 4 -o "$T/again.glb" >"$T/said" 2>"$T/err"
equals "that morph targets of the model rest is told" "$(grep -c 'note: .*morphs.glb: morph targets, which clip 0 (bend) moves, rest' "$T/err")" 1
cp "$T/few" "$T/stdout"
helpers=$(json "$T/stdout" "d['helpers']") targets=$(json "$T/stdout" "d['morphs'] - 1")
"$CUTIS" bake "$T/arm.glb" --method dqs --helpers "$helpers" $([ "$targets" -gt 0 ] && echo --morphs "$targets") --fps 4 --json -q -o "$T/fewer.glb" >"$T/fewer"
holds "and one fewer does not keep it" "$T/fewer" "d['max'] > 0.003"

# Limits of players.
printf '{"joints": 7, "influences": 2, "weights": ["u8"]}' >"$T/limits.json"
fails 1 "more joints than a player has" "helpers 2 at most" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 3 --limits "$T/limits.json" -o "$O"
fails 2 "more morph targets than every client has" "gltf plays 8" "$CUTIS" bake "$T/arm.glb" --method dqs --morphs 9 --limits gltf -o "$O"
fails 2 "more influences than three.js has" "three plays 4" "$CUTIS" bake "$T/arm.glb" --method dqs --influences 5 --limits three -o "$O"
fails 2 "weights that a player does not read" "does not read" "$CUTIS" bake "$T/arm.glb" --method dqs --weights float --limits "$T/limits.json" -o "$O"
fails 1 "limits that are not there" "No such file" "$CUTIS" bake "$T/arm.glb" --method dqs --limits "$T/none.json" -o "$O"
bakes "within a player's limits" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 2 --fps 4 --limits "$T/limits.json" --json -o "$T/limited.glb"
holds "with its weights" "$T/stdout" "d['weights'] == 'u8' and d['influences'] == 2"
"$CUTIS" info "$T/limited.glb" --json >"$T/info"
holds "in the file" "$T/info" "d['joints'] == 7 and d['max_influences'] <= 2"

# Values that are held until the next key: between frames, too, helpers are where they should be.
"$CUTIS" convert "$T/arm.glb" -q -o "$T/cubic.gltf"
/usr/bin/python3 "$here/bake_steps.py" "$T/cubic.gltf" "$T/steps.gltf"
bakes "a clip in steps" "$CUTIS" bake "$T/steps.gltf" --method dqs --helpers 6 --fps 3 -o "$T/steps.glb"
"$CUTIS" deform "$T/steps.glb" --clip twist --fps 23 -q -o "$T/steps_baked.npy"
"$CUTIS" deform "$T/steps.gltf" --clip twist --fps 23 -q -o "$T/steps_lbs.npy"
"$CUTIS" deform "$T/steps.gltf" --clip twist --fps 23 --method dqs -q -o "$T/steps_dqs.npy"
ratio=$(/usr/bin/python3 -c "
import numpy as np
a, b, c = (np.load('$T/steps_%s.npy' % n).astype(float) for n in ('baked', 'lbs', 'dqs'))
print(((a - c) ** 2).sum() ** .5 / ((b - c) ** 2).sum() ** .5 < .2)")
equals "stays in steps between frames" "$ratio" True

# What joints cannot follow is told: vertices that each go their own way.
/usr/bin/python3 - "$T" <<'P'
import sys
import numpy as np
n = 12
rest = np.array([[x / n, y / n, 0] for y in range(n + 1) for x in range(n + 1)])
with open(sys.argv[1] + "/sheet.obj", "w") as out:
    out.writelines("v %g %g %g\n" % tuple(v) for v in rest)
    for y in range(n):
        for x in range(n):
            a = y * (n + 1) + x + 1
            out.write("f %d %d %d\nf %d %d %d\n" % (a, a + 1, a + n + 2, a, a + n + 2, a + n + 1))
draw = np.random.default_rng(1)
frames = np.stack([rest + [0, 0, 0.1 * np.sin(k)] * rest[:, :1] for k in range(30)])
corner = (rest[:, 0] < .3) & (rest[:, 1] < .3)
frames[:, corner] += draw.normal(0, .1, (30, corner.sum(), 3))
np.save(sys.argv[1] + "/torn.npy", frames.astype(np.float32))
P
"$CUTIS" bake "$T/torn.npy" --rest "$T/sheet.obj" --bones 5 --json -o "$T/torn.glb" >"$T/stdout" 2>"$T/stderr"
equals "a surface that tears" $? 0
holds "has vertices left, in that corner" "$T/stdout" "8 <= d['left']['count'] <= 16 and d['left']['torn'] >= 8 and all(w['vertex'] % 13 < 4 and w['vertex'] // 13 < 4 for w in d['left']['worst'])"
case $(cat "$T/stderr") in *"the surface tears there"*) ok "which is told" ;; *) not_ok "which is told" "$(cat "$T/stderr")" ;; esac

modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
if command -v node >/dev/null && [ -d "$modules/gltf-validator" ] && [ -d "$modules/three" ]; then
    CUTIS_NODE_MODULES=$modules
    export CUTIS_NODE_MODULES
    printf '%s\n' "$T/tetra.glb" "$T/t1.glb" "$T/rigged.glb" "$T/beside.glb" | node "$here/../io/gltf_validate.mjs" >"$T/issues"
    equals "the validator reads all four" "$(wc -l <"$T/issues" | tr -d ' ')" 4
    if grep -Eq '"severity":[01]' "$T/issues"; then not_ok "the Khronos validator finds no error and no warning" "$(grep -E '"severity":[01]' "$T/issues" | head -1)"; else ok "the Khronos validator finds no error and no warning"; fi
    mkdir "$T/three"
    /usr/bin/python3 "$here/../io/three_compare.py" "$CUTIS" none "$T/three" "$here/../io/three_lbs.mjs" "$T/t1.glb" "$T/rigged.glb" || failed=1
else
    skip "the Khronos validator and three.js" "node or its modules are not there"
fi
exit $failed
