#!/bin/sh
# cutis bake: bad input in one line, what it writes, the same bytes for any number of threads, players and the validator. What the
# files come to is judged in tests/fit/test_bake.sh.
here=$(dirname "$0")
. "$here/common.sh"

"$CUTIS" synth arm --size low -q -o "$T/arm.glb"
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
    faces = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"
    text = "".join("v %g %g %g\n" % tuple(v) for v in frame) + faces
    open(f"{t}/meshes/m{k:02}.obj", "w").write(text)
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
passes "the same as an array" "$CUTIS" bake "$T/move.npy" --rest "$T/tetra.obj" --bones 2 --json -o "$T/array.glb"
holds "give the same error" "$T/folder.json" "abs(d['rms'] - $(json "$T/stdout" "d['rms']")) < 1e-9 and d['rms'] < 0.02"
passes "a method" "$CUTIS" bake "$T/arm.glb" --method sbs --helpers 2 --fps 6 --threads 1 -o "$T/t1.glb"
"$CUTIS" bake "$T/arm.glb" --method sbs --helpers 2 --fps 6 --threads 3 -q -o "$T/t3.glb"
"$CUTIS" bake "$T/arm.glb" --method sbs --helpers 2 --fps 6 --isa scalar -q -o "$T/scalar.glb"
cmp -s "$T/t1.glb" "$T/t3.glb" && cmp -s "$T/t1.glb" "$T/scalar.glb" && ok "threads and widths of vectors write the same bytes" || not_ok "threads and widths of vectors write the same bytes" "they differ"
passes "a morphing file is a sequence" "$CUTIS" deform "$T/arm.glb" --clip bend --method dqs --fps 5 -o "$T/morphed.glb"
passes "and becomes a rig" "$CUTIS" bake "$T/morphed.glb" --bones 4 --fps 5 --json -o "$T/rigged.glb"
holds "without morph targets" "$T/stdout" "d['helpers'] == 4 and d['ratio'] < 0.2"
"$CUTIS" info "$T/rigged.glb" --json >"$T/info"
holds "with as many joints as were asked for" "$T/info" "d['joints'] == 4 and d['morph_targets'] == 0 and d['max_influences'] <= 4"
passes "patches are baked onto the body" "$CUTIS" bake "$T/arm.glb" --method patches --helpers 3 --fps 3 --json -o "$T/patches.glb"
holds "and are nearer than plain blending" "$T/stdout" "d['ratio'] < 1"
passes "as few as keep a bound" "$CUTIS" bake "$T/arm.glb" --method dqs --max-error 9 --fps 4 --json -o "$T/bound.glb"
holds "keep it" "$T/stdout" "d['max'] <= 0.009 and 0 < d['helpers'] < 8"
few=$(json "$T/stdout" "d['helpers'] - 1")
"$CUTIS" bake "$T/arm.glb" --method dqs --helpers "$few" --fps 4 --json -o "$T/few.glb" >"$T/few"
holds "and one fewer does not" "$T/few" "d['max'] > 0.009"
"$CUTIS" deform "$T/arm.glb" --clip bend --method dqs --fps 5 -q -o "$T/bend.npy"
fails 1 "a rig whose clip has another length" "has 121 frames" "$CUTIS" bake "$T/bend.npy" --rig "$T/arm.glb" --helpers 2 -o "$O"
"$CUTIS" bake "$T/bend.npy" --rig "$T/arm.glb" --clip bend --fps 5 --helpers 3 --json -o "$T/beside.glb" >"$T/stdout" 2>"$T/stderr"
equals "helpers beside a rig" $? 0
holds "take error away" "$T/stdout" "d['helpers'] == 3 and d['ratio'] < 0.4 and d['clips'][0]['name'] == 'bend'"
case $(cat "$T/stderr") in *"one of 3 clips"*) ok "clips without tracks are told" ;; *) not_ok "clips without tracks are told" "$(cat "$T/stderr")" ;; esac
fails 2 "--clip without --rig" "is of --rig" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 1 --clip bend -o "$O"
fails 2 "a bound by weights of 8 bits" "8 bits" "$CUTIS" bake "$T/arm.glb" --method dqs --max-error 3 --weights u8 -o "$O"

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
