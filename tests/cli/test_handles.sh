# cutis handles: points and bars on a soup and on a cloud, poses that play, automatic weights, bad input. What is written is
# looked at by numpy through deform's arrays; the formula of a pose is the one of docs/formats/handles.md.
. "$(dirname "$0")/common.sh"
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip "handles" "python3-numpy is not installed"; exit 0; }

# A soup: a box of loose triangles (no shared vertices, one missing, orientations mixed), and a second loose box.
/usr/bin/python3 - "$T" <<'PY'
import sys, numpy as n
t = sys.argv[1]
r = n.random.default_rng(1)
def box(lo, hi, k):
    lo, hi = n.array(lo, float), n.array(hi, float)
    out = []
    for axis in range(3):
        for side in (lo, hi):
            for i in range(k):
                for j in range(k):
                    c = []
                    for u, v in ((0, 0), (1, 0), (1, 1), (0, 1)):
                        p = n.zeros(3); a, b = (axis + 1) % 3, (axis + 2) % 3
                        p[axis] = side[axis]
                        p[a] = lo[a] + (hi[a] - lo[a]) * (i + u) / k
                        p[b] = lo[b] + (hi[b] - lo[b]) * (j + v) / k
                        c.append(p)
                    out += [[c[0], c[1], c[2]], [c[0], c[3], c[2]]]
    return out
soup = box([0, 0, 0], [2, .5, .5], 12)
soup.pop(100)
soup += box([2.2, 0, 0], [2.4, .5, .5], 2)
with open(t + "/soup.obj", "w") as f:
    for tri in soup:
        for p in tri: f.write("v %.6f %.6f %.6f\n" % tuple(p))
    for i in range(len(soup)): f.write("f %d %d %d\n" % (3 * i + 1, 3 * i + 2, 3 * i + 3))
cloud = n.array([t for t in soup]).reshape(-1, 3)
cloud = n.concatenate([r.random((30000, 3)) * [2, .5, .5]])
with open(t + "/cloud.ply", "w") as f:
    f.write("ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\nend_header\n" % len(cloud))
    for p in cloud: f.write("%.6f %.6f %.6f\n" % tuple(p))
PY
cat >"$T/h.json" <<'JSON'
{"handles": [{"name": "left", "kind": "bar", "from": [0.1, 0.25, 0.25], "to": [0.6, 0.25, 0.25]},
             {"name": "right", "kind": "point", "position": [1.8, 0.25, 0.25]}],
 "poses": [{"name": "lift", "handles": {"right": {"rotation": [0, 0, 0.70710678, 0.70710678], "translation": [0, 0.5, 0]}}}]}
JSON
for weighting in field virtual; do
    "$CUTIS" handles "$T/soup.obj" --handles "$T/h.json" --weighting $weighting --json -o "$T/$weighting.glb" >"$T/report" 2>"$T/stderr"
    equals "$weighting: a soup binds, and the loose piece is said in one line" "$? $(grep -c 'without a handle' "$T/stderr") $(wc -l <"$T/stderr")" "0 1 1"
    holds "$weighting: the report" "$T/report" "d['real_handles'] == 2 and d['components'] == 2 and d['components_without_handle'] == 1 and d['interpolation_error_max'] == 0 and d['domain_voxels'] > 10000 and set(d['seconds']) == {'voxelise', 'distances', 'insertion', 'weights', 'reduction', 'update'} and (d['virtual_handles'] > 0 and 0 < d['coverage_max'] <= 0.8 if '$weighting' == 'virtual' else d['iterations'] > 0)"
    passes "$weighting: the pose plays" "$CUTIS" deform "$T/$weighting.glb" --clip lift -o "$T/lift.npy"
    passes "$weighting: so does rest" "$CUTIS" deform "$T/$weighting.glb" -o "$T/rest.npy"
    if why=$(/usr/bin/python3 - "$T" 2>&1 <<'PY'
import sys, numpy as n
t = sys.argv[1]
rest, lift = n.load(t + "/rest.npy")[0], n.load(t + "/lift.npy")[0]
file = n.array([l.split()[1:] for l in open(t + "/soup.obj") if l[0] == "v"], float)
assert abs(rest - file).max() < 1e-6, "rest differs from the file"
h = n.array([1.8, .25, .25]); x = rest - h
to = n.stack([-x[:, 1], x[:, 0], x[:, 2]], 1) + h + [0, .5, 0]
d = to - rest
w = ((lift - rest) * d).sum(1) / (d * d).sum(1)
assert abs(rest + w[:, None] * d - lift).max() < 1e-5, "not a blend of staying and moving"
assert w[rest[:, 0] < .6].max() < .06 and w[(rest[:, 0] > 1.7)].min() > .94, (w[rest[:, 0] < .6].max(), w[rest[:, 0] > 1.7].min())
assert w[rest[:, 0] > 2.15].min() > 1 - 1e-6, "the loose piece does not follow the nearest handle"
PY
    ); then ok "$weighting: vertices move by the pose's formula"; else not_ok "$weighting: vertices move by the pose's formula" "$(echo "$why" | tail -1)"; fi
done
for method in dqs cor; do passes "$method plays it too" "$CUTIS" deform "$T/field.glb" --clip lift --method $method -o "$T/m.npy"; done
passes "handles-rigid plays virtual handles" "$CUTIS" deform "$T/virtual.glb" --clip lift --method handles-rigid -o "$T/r.npy"
"$CUTIS" convert "$T/virtual.glb" -q -o "$T/again.gltf" && "$CUTIS" deform "$T/again.gltf" --clip lift --method handles-rigid -q -o "$T/r2.npy"
if cmp -s "$T/r.npy" "$T/r2.npy"; then ok "and the same bits after another writing"; else not_ok "and the same bits after another writing" "they differ"; fi
fails 1 "handles-rigid without virtual handles" "needs a model with virtual handles" "$CUTIS" deform "$T/field.glb" --method handles-rigid -o "$T/out/x.npy"
if "$CUTIS" render "$T/virtual.glb" --clip lift --show handles --size 320x240 -q -o "$T/show.png" 2>"$T/stderr"; then
    equals "handles are drawn" "$(head -c 4 "$T/show.png" | tail -c 3)" PNG
    fails 1 "a model without handles has none to show" "no handles to show" "$CUTIS" render "$T/soup.obj" --show handles -o "$T/out/x.png"
else skip "handles are drawn" "$(head -1 "$T/stderr")"; fi
"$CUTIS" bench handles --quick --vertices 3000 --json >"$T/report" 2>"$T/stderr"
holds "bench handles times both weightings" "$T/report" "[r['weighting'] for r in d['rows']] == ['field', 'virtual'] and all(r['bind'] > 0 and r['move'] > 0 and r['update'] > 0 and r['domain_voxels'] > 10000 for r in d['rows'])"
for threads in 1 3; do "$CUTIS" handles "$T/soup.obj" --handles "$T/h.json" --threads $threads -q -o "$T/t$threads.glb" 2>/dev/null; done
if cmp -s "$T/t1.glb" "$T/t3.glb"; then ok "any number of threads writes the same bytes"; else not_ok "any number of threads writes the same bytes" "they differ"; fi
passes "a point cloud binds" "$CUTIS" handles "$T/cloud.ply" --handles "$T/h.json" --voxels 64 -o "$T/cloud.glb"

# Handles that are too close, outside, at one place
sed 's/\[1.8, 0.25, 0.25\]/[0.63, 0.25, 0.25]/' "$T/h.json" >"$T/close.json"
"$CUTIS" handles "$T/soup.obj" --handles "$T/close.json" --json -o "$T/close.glb" >"$T/report" 2>"$T/stderr"
equals "handles too close are a warning that names the voxels" "$? $(grep -c -e '--voxels [0-9]* would do' "$T/stderr")" "0 1"
holds "with the error" "$T/report" "d['interpolation_error_max'] > 0 and d['voxels_needed'] > 128"
"$CUTIS" handles "$T/soup.obj" --handles "$T/close.json" --voxels auto --json -o "$T/close.glb" >"$T/report" 2>/dev/null
holds "--voxels auto separates them" "$T/report" "d['interpolation_error_max'] == 0 and d['voxels'] > 400"
fails 1 "--strict refuses them" "does not separate" "$CUTIS" handles "$T/soup.obj" --handles "$T/close.json" --strict -o "$T/out/x.glb"
sed 's/\[1.8, 0.25, 0.25\]/[1.8, 3, 0.25]/' "$T/h.json" >"$T/far.json"
"$CUTIS" handles "$T/soup.obj" --handles "$T/far.json" --voxels 64 --json -o "$T/far.glb" >"$T/report" 2>"$T/stderr"
holds "a handle outside is snapped and its distance said" "$T/report" "abs(d['handles'][1]['snapped'] - 2.5) < 0.05"

# Bad input
echo '{"handles": [{"kind": "point", "position": [0, 0, NaN]}]}' >"$T/nan.json"
echo '{"handles": []}' >"$T/none.json"
echo 'o nothing' >"$T/empty.obj"
fails 1 "a NaN" "nan.json" "$CUTIS" handles "$T/soup.obj" --handles "$T/nan.json" -o "$T/out/x.glb"
fails 1 "no handles" "none.json" "$CUTIS" handles "$T/soup.obj" --handles "$T/none.json" -o "$T/out/x.glb"
fails 1 "an empty model" "empty.obj" "$CUTIS" handles "$T/empty.obj" --handles "$T/h.json" -o "$T/out/x.glb"
fails 1 "no skeleton" "no skeleton" "$CUTIS" handles "$T/soup.obj" --skeleton -o "$T/out/x.glb"
fails 2 "neither handles nor skeleton" "--handles FILE or --skeleton" "$CUTIS" handles "$T/soup.obj" -o "$T/out/x.glb"
fails 2 "a radius for field" "--radius" "$CUTIS" handles "$T/soup.obj" --handles "$T/h.json" --radius 1 -o "$T/out/x.glb"
fails 2 "no such number of voxels" "--voxels" "$CUTIS" handles "$T/soup.obj" --handles "$T/h.json" --voxels 4 -o "$T/out/x.glb"

# Skeletons, and bodies of many shells
echo '{"handles": [{"name": "head", "kind": "point", "position": [0, 7, 0.5]}, {"name": "feet", "kind": "point", "position": [1, -7, 0]}]}' >"$T/body.json"
"$CUTIS" synth biped --vertices 3000 -q -o "$T/biped.glb"
"$CUTIS" handles "$T/biped.glb" --skeleton --json -o "$T/auto.glb" >"$T/report" 2>"$T/stderr"
holds "automatic weights of the biped, which nothing was tuned on, are near its own" "$T/report" "d['against_existing']['mean_absolute'] < 0.5 and d['against_existing']['position_rms'] < 0.25"
"$CUTIS" info "$T/auto.glb" --json >"$T/report"
holds "with four influences, clips and all" "$T/report" "d['max_influences'] <= 4 and d['unweighted_vertices'] == 0 and len(d['clips']) == 5"
for file in cal3d/data/cally/cally.cfg cal3d/data/paladin/paladin.cfg cal3d/data/skeleton/skeleton.cfg gltf-sample-assets/RecursiveSkeletons/glTF-Binary/RecursiveSkeletons.glb gltf-sample-assets/SimpleSkin/glTF/SimpleSkin.gltf makehuman/makehuman/data/3dobjs/base.obj; do
    if [ -f "$SHARED/data/$file" ]; then
        mode=--skeleton
        # MakeHuman's whole base.obj: 19158 vertices in many open shells, without a skeleton; decimetres.
        case $file in *base.obj) mode="--handles $T/body.json" ;; esac
        if "$CUTIS" handles "$SHARED/data/$file" $mode --voxels 64 -q -o "$T/b.glb" 2>"$T/stderr"; then ok "$file binds"; else not_ok "$file binds" "$(head -1 "$T/stderr")"; fi
    else skip "$file binds" "shared data: it is not there"; fi
done
if "$CUTIS" handles "$T/biped.glb" --skeleton --voxels 64 -q --weights-picture "$T/w.png" -o "$T/b.glb" 2>"$T/stderr"; then
    equals "a picture of the weights" "$(head -c 4 "$T/w.png" | tail -c 3)" PNG
else skip "a picture of the weights" "$(head -1 "$T/stderr")"; fi
# A mesh that another scene shows under its old skin stays as it is there.
"$CUTIS" synth arm --vertices 1000 -q -o "$T/two.gltf"
/usr/bin/python3 - "$T/two.gltf" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
shown = next(i for i, n in enumerate(d["nodes"]) if "skin" in n)
d["nodes"].append({"mesh": d["nodes"][shown]["mesh"], "skin": d["nodes"][shown]["skin"]})
d["scenes"].append({"nodes": [r for r in d["scenes"][0]["nodes"] if r != shown] + [len(d["nodes"]) - 1]})
d["scene"] = 0
json.dump(d, open(sys.argv[1], "w"))
PY
echo '{"handles": [{"name": "a", "kind": "point", "position": [0, 0, 0]}, {"name": "b", "kind": "point", "position": [0.5, 0, 0]}]}' >"$T/two.json"
"$CUTIS" handles "$T/two.gltf" --handles "$T/two.json" --largest --voxels 16 -q -o "$T/held.gltf" 2>"$T/stderr"
equals "another scene's skin is no obstacle" "$? $(cat "$T/stderr")" "0 "
/usr/bin/python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); d["scene"] = 1; json.dump(d, open(sys.argv[1], "w"))' "$T/held.gltf"
"$CUTIS" deform "$T/held.gltf" --clip bend --frames 20:21 -q -o "$T/after.npy"
"$CUTIS" deform "$T/two.gltf" --clip bend --frames 20:21 -q -o "$T/before.npy"
cmp -s "$T/before.npy" "$T/after.npy" && ok "and moves there as before" || not_ok "and moves there as before" "it moves otherwise"
exit $failed
