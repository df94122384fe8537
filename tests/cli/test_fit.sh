# fit: shapes in, a model that plays them out; judged by numpy, by bytes and by the Khronos validator.
. "$(dirname "$0")/common.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip "fit" "python3-numpy is not installed"; exit 0; }
# near NAME A B TOLERANCE: largest distance of two arrays of frames, over the box of the first frame of B.
near() {
    if why=$(/usr/bin/python3 -c 'import numpy as n, sys
a, b = (n.load(f).astype(float) for f in sys.argv[1:3])
d = n.linalg.norm(b[0].max(0) - b[0].min(0)); e = n.linalg.norm(a - b, axis=-1).max() / d
sys.exit(None if a.shape == b.shape and e < float(sys.argv[3]) else "largest distance %g" % e)' "$2" "$3" "$4" 2>&1); then ok "$1"; else not_ok "$1" "$why"; fi
}
E=$T/ex/examples.npy
"$CUTIS" synth arm --examples "$T/ex" -o "$T/arm.glb" -q
passes "fit" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" -o "$T/psd.glb"
passes "fit --json" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --json -o "$T/psd2.glb"
holds "the report has the figures" "$T/stdout" "d['poses'] == 8 and d['merged'] == 1 and d['ambiguous_vertices'] == 0 and len(d['psd_rms']) == 8 and max(d['psd_rms'] + d['wpsd_rms']) < 1e-6 < max(d['ssd_rms']) and len(d['still_joints']) == 1"
if cmp -s "$T/psd.glb" "$T/psd2.glb"; then ok "fit gives the same bytes twice"; else not_ok "fit gives the same bytes twice" "they differ"; fi
"$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --threads 1 -q -o "$T/psd1.glb"
if cmp -s "$T/psd.glb" "$T/psd1.glb"; then ok "and with one thread"; else not_ok "and with one thread" "they differ"; fi
for method in psd wpsd; do
    passes "deform --method $method" "$CUTIS" deform "$T/psd.glb" --clip examples --method $method -o "$T/$method.npy"
    near "$method passes through every example" "$T/$method.npy" "$E" 1e-5
done
passes "rewrite" "$CUTIS" convert "$T/psd.glb" -o "$T/again.glb"
if cmp -s "$T/psd.glb" "$T/again.glb"; then ok "reading and writing gives the same bytes"; else not_ok "reading and writing gives the same bytes" "they differ"; fi
passes "rewrite as text" "$CUTIS" convert "$T/psd.glb" -o "$T/text.gltf"
"$CUTIS" deform "$T/text.gltf" --clip examples --method wpsd -q -o "$T/text.npy"
if cmp -s "$T/text.npy" "$T/wpsd.npy"; then ok "the text form plays the same bits"; else not_ok "the text form plays the same bits" "they differ"; fi
if "$CUTIS" devices 2>/dev/null | grep -q '^opencl.*available\|^opencl:0'; then
    for method in psd wpsd; do
        "$CUTIS" deform "$T/psd.glb" --clip examples --method $method --device opencl -q -o "$T/cl.npy" && near "$method on opencl" "$T/cl.npy" "$T/$method.npy" 1e-6
    done
else skip "psd and wpsd on opencl" "no OpenCL device"; fi
passes "gaussian, rotvec, a width" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --kernel gaussian --distance rotvec --sigma 0.4 -o "$T/g.glb"
"$CUTIS" deform "$T/g.glb" --clip examples --method wpsd -q -o "$T/g.npy"
near "the Gaussian passes through every example too" "$T/g.npy" "$E" 1e-5
passes "a mesh for every pose" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$T"/ex/example_*.obj --json -o "$T/obj.glb"
holds "gives the same model" "$T/stdout" "d['poses'] == 8 and max(d['psd_rms']) < 1e-6"
/usr/bin/python3 -c 'import numpy, sys; numpy.save(sys.argv[2], 1000 * numpy.load(sys.argv[1]))' "$E" "$T/millimetres.npy"
"$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$T/millimetres.npy" -o "$T/mm.glb" >"$T/said" 2>"$T/err"
equals "shapes in millimetres are told" "$(grep -c 'example [0-9]* is [0-9.e+]* diagonals of the body away from its pose (RMS): another unit' "$T/err")" 1
passes "the same with commas" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$(ls "$T"/ex/example_*.obj | tr '\n' ',' | sed 's/,$//')" -q -o "$T/comma.glb"
if cmp -s "$T/obj.glb" "$T/comma.glb"; then ok "is the same"; else not_ok "is the same" "they differ"; fi
# A sculpt without seams, in another order; one with a vertex too few.
seams=$(/usr/bin/python3 - "$E" "$T" <<'P'
import numpy as n, sys
a = n.load(sys.argv[1]); t = sys.argv[2]
u, first = n.unique(a[0], axis=0, return_index=True)
n.random.default_rng(1).shuffle(first)
n.save(t + "/sculpt.npy", a[:, first]); n.save(t + "/torn.npy", a[:, first[1:]])
print(a.shape[1] - len(first))
P
)
[ "$seams" -gt 0 ] && ok "the arm has $seams vertices at seams" || not_ok "the arm has vertices at seams" "$seams"
passes "a sculpt without seams, in another order" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$T/sculpt.npy" -o "$T/sculpt.glb"
if cmp -s "$T/sculpt.glb" "$T/psd.glb"; then ok "is matched vertex by vertex"; else not_ok "is matched vertex by vertex" "the model differs"; fi
fails 1 "a sculpt that misses a vertex" "torn.npy: shapes have [0-9]* vertices, the model has 2972, [0-9]* without seams" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$T/torn.npy" -o "$T/out/x.glb"
# One example: nothing can be left out, and it is said.
"$CUTIS" convert "$T/arm.glb" -q -o "$T/keys.gltf"
one_key "$T/keys.gltf" 2 "$T/key.gltf"
/usr/bin/python3 -c 'import numpy as n, sys; n.save(sys.argv[2], n.load(sys.argv[1])[2:3])' "$E" "$T/key.npy"
"$CUTIS" fit "$T/key.gltf" --poses examples --shapes "$T/key.npy" --learn-weights --json -o "$T/key.glb" >"$T/stdout" 2>"$T/stderr"
holds "nothing is said of poses left out" "$T/stdout" "'leave_one_out' not in d and 'left_out' not in d"
equals "but that nothing could be left out, and why" "$(grep -c 'note: .*nothing could be left out, there is one example' "$T/stderr")" 1
# Principal poses: four fields hold the arm's seven displacements.
passes "principal poses" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --principal-poses 4 --json -o "$T/few.glb"
holds "keep what there is" "$T/stdout" "d['fields'] == 4 and d['energy'] > 0.999999 and max(d['psd_rms'] + d['wpsd_rms']) < 1e-6"
"$CUTIS" info "$T/few.glb" --json >"$T/info"
holds "in four morph targets" "$T/info" "d['morph_targets'] == 4"
"$CUTIS" convert "$T/few.glb" -q -o "$T/few2.glb"
if cmp -s "$T/few.glb" "$T/few2.glb"; then ok "they are read and written with the same bytes"; else not_ok "they are read and written with the same bytes" "they differ"; fi
passes "displacements after skinning" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --after-skinning --json -o "$T/after.glb"
holds "pass through every example" "$T/stdout" "max(d['psd_rms'] + d['wpsd_rms']) < 1e-6"
"$CUTIS" convert "$T/after.glb" -q -o "$T/after2.glb"
if cmp -s "$T/after.glb" "$T/after2.glb"; then ok "and are read and written with the same bytes"; else not_ok "and are read and written with the same bytes" "they differ"; fi
passes "only psd" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --pose-space psd --json -o "$T/one.glb"
holds "is reported" "$T/stdout" "'psd_rms' in d and 'wpsd_rms' not in d"
# Locks: the elbow's weights, and half of the vertices.
/usr/bin/python3 -c 'import numpy as n, sys; n.save(sys.argv[1], (n.arange(2972) % 2).astype("f4"))' "$T/keep.npy"
passes "locks" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --learn-weights --weights-only --keep-joints elbow --keep-vertices "$T/keep.npy" -o "$T/locked.glb"
fails 1 "a joint that is not there" "nobody" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --learn-weights --keep-joints nobody -o "$T/out/x.glb"
fails 2 "locks without learning" "go with --learn-weights" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --keep-joints elbow -o "$T/out/x.glb"
# Ctrl-C: nothing is left behind.
"$CUTIS" synth arm --size high --examples "$T/big" -o "$T/big.glb" -q
"$CUTIS" fit "$T/big.glb" --poses examples --shapes "$T/big/examples.npy" --learn-weights --influences 2 -o "$T/out/big.glb" 2>"$T/stderr" &
pid=$!; sleep 0.15; kill -INT $pid; wait $pid; equals "Ctrl-C ends a fit" "$? $(cat "$T/stderr")" "130 cutis: fit: stopped"
equals "and leaves no file" "$(ls "$T/out")" ""
passes "weights alone" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --learn-weights --weights-only --influences 2 --json -o "$T/w.glb"
holds "they explain the shapes no worse than the model's own" "$T/stdout" "sum(a * a for a in d['ssd_rms']) <= 1.1 * sum(b * b for b in d['before_rms'])"
"$CUTIS" info "$T/w.glb" --json >"$T/info"
holds "at most two a vertex" "$T/info" "d['max_influences'] <= 2"
# Morph targets that rest moved are part of the body that joints move; what a clip does with them is not, and that is said.
"$CUTIS" synth arm --vertices 1000 --examples "$T/small" -q -o "$T/small.gltf"
/usr/bin/python3 - "$T" <<'P'
import json, sys
t = sys.argv[1]
d = json.load(open(t + "/small.gltf"))
mesh = d["meshes"][0]
for p in mesh["primitives"]:
    p["targets"] = [{"POSITION": p["attributes"]["NORMAL"]}]
mesh["weights"] = [0.01]
json.dump(d, open(t + "/swollen.gltf", "w"))
clip = next(a for a in d["animations"] if a["name"] == "examples")
node = next(i for i, n in enumerate(d["nodes"]) if "mesh" in n)
times = clip["samplers"][0]["input"]  # any numbers, one a key, will do for weights
clip["samplers"].append({"input": times, "output": times})
clip["channels"].append({"sampler": len(clip["samplers"]) - 1, "target": {"node": node, "path": "weights"}})
json.dump(d, open(t + "/swelling.gltf", "w"))
P
"$CUTIS" deform "$T/swollen.gltf" --clip examples -q -o "$T/swollen.npy"
"$CUTIS" fit "$T/swollen.gltf" --poses examples --shapes "$T/swollen.npy" --learn-weights --weights-only --json -o "$T/x.glb" >"$T/stdout" 2>/dev/null
holds "what rests moved by a morph target fits its own shapes" "$T/stdout" "max(d['before_rms'] + d['ssd_rms']) < 1e-6 * d['diagonal']"
"$CUTIS" fit "$T/swelling.gltf" --poses examples --shapes "$T/swollen.npy" --learn-weights --weights-only -o "$T/x.glb" >/dev/null 2>"$T/stderr"
equals "a clip that moves morph targets is told" "$? $(grep -c 'moves morph targets, which rest here' "$T/stderr")" "0 1"
# What is told is of the weights that the file has, in its bits and as few as were asked for: displacements are found for them.
"$CUTIS" fit "$T/small.gltf" --poses examples --shapes "$T/small/examples.npy" --weights u8 --json -q -o "$T/x.glb" >"$T/stdout"
"$CUTIS" deform "$T/x.glb" --clip examples --method psd -q -o "$T/x.npy"
near "weights of 8 bits pass through every example" "$T/x.npy" "$T/small/examples.npy" 1e-6
"$CUTIS" fit "$T/small.gltf" --poses examples --shapes "$T/small/examples.npy" --weights u8 --learn-weights --prior 0 --json -o "$T/x.glb" >"$T/stdout" 2>"$T/stderr"
holds "learned ones that are rounded miss them, and it is told" "$T/stdout" "1e-6 < max(d['psd_rms']) and d['psd_missed'] > 0"
equals "with the reason" "$(grep -c 'rounded to the bits of the file' "$T/stderr" | sed 's/[1-9][0-9]*/some/')" some
for only in "" --weights-only; do
    # shellcheck disable=SC2086
    "$CUTIS" fit "$T/small.gltf" --poses examples --shapes "$T/small/examples.npy" --learn-weights $only --influences 1 --json -o "$T/x.glb" >"$T/stdout" 2>/dev/null
    "$CUTIS" info "$T/x.glb" --json >"$T/info"
    equals "a rig's weights that stay are as few as were asked for $only" "$(json "$T/stdout" "d['prior']") $(json "$T/info" "d['max_influences']")" "-1 1"
done
if command -v node >/dev/null && [ -d tests/node_modules/gltf-validator ]; then
    issues=$(cd tests && node -e 'const v=require("gltf-validator"),fs=require("fs");(async()=>{let n=0;for(const f of process.argv.slice(1)){const i=(await v.validateBytes(new Uint8Array(fs.readFileSync(f)))).issues;n+=i.numErrors+i.numWarnings}console.log(n)})()' "$T/psd.glb" "$T/w.glb")
    equals "the Khronos validator has nothing against both" "$issues" 0
else skip "the Khronos validator has nothing against both" "no node or gltf-validator"; fi

# What is wrong is said in one line.
/usr/bin/python3 - "$E" "$T" <<'P'
import numpy as n, sys
a = n.load(sys.argv[1]); t = sys.argv[2]
n.save(t + "/few.npy", a[:7]); n.save(t + "/short.npy", a[:, :100])
b = a.copy(); b[3, 5, 1] = n.nan; n.save(t + "/nan.npy", b)
P
fails 1 "fewer shapes than poses" "few.npy: 7 shapes of 2972 vertices; the clip has 8 poses" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$T/few.npy" -o "$T/out/x.glb"
fails 1 "another vertex count" "short.npy: shapes have 100 vertices, the model has 2972" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$T/short.npy" -o "$T/out/x.glb"
fails 1 "a NaN in a shape" "nan.npy|example 3: vertex 5" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$T/nan.npy" -o "$T/out/x.glb"
fails 1 "no such clip" "examples" "$CUTIS" fit "$T/arm.glb" --poses nothing --shapes "$E" -o "$T/out/x.glb"
"$CUTIS" synth cylinder -o "$T/cylinder.glb" -q
fails 1 "a mesh of another size" "pose 1: .* vertices, the shape before it has 2972" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$T/ex/example_0000.obj,$T/cylinder.glb" -o "$T/out/x.glb"
fails 2 "no shapes" "needs --poses and --shapes" "$CUTIS" fit "$T/arm.glb" --poses examples -o "$T/out/x.glb"
fails 2 "influences without learning" "go with --learn-weights" "$CUTIS" fit "$T/arm.glb" --poses examples --shapes "$E" --influences 2 -o "$T/out/x.glb"
fails 1 "a model without a pose space" "psd needs a model with a pose space" "$CUTIS" deform "$T/arm.glb" --clip examples --method psd -o "$T/out/x.npy"
/usr/bin/python3 - "$T" <<'P'
import json, sys
t = sys.argv[1]
def make(name, change):
    d = json.load(open(t + "/text.gltf")); change(d); json.dump(d, open(t + "/" + name + ".gltf", "w"))
space = lambda d: d["extensions"]["CUTIS_pose_space"]
make("bad_joint", lambda d: space(d)["joints"].__setitem__(0, 999))
make("bad_kernel", lambda d: space(d).__setitem__("kernel", "cubic"))
make("bad_rotation", lambda d: space(d)["poses"][2]["rotations"].pop())
make("zero_rotation", lambda d: space(d)["poses"][2].__setitem__("rotations", [0] * len(space(d)["poses"][2]["rotations"])))
make("bad_target", lambda d: d["meshes"][0]["extensions"]["CUTIS_pose_space"].__setitem__("target", 3))
make("one_pose", lambda d: space(d).__setitem__("poses", space(d)["poses"][:1]))
P
for bad in bad_joint bad_kernel bad_rotation zero_rotation bad_target one_pose; do
    fails 1 "$bad is refused" "$bad.gltf: " "$CUTIS" deform "$T/$bad.gltf" --clip examples --method psd -o "$T/out/x.npy"
done
exit $failed
