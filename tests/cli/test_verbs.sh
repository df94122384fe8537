# Every verb on good input; what it writes is looked at by numpy, never by Cutis itself.
. "$(dirname "$0")/common.sh"
here=$(dirname "$0")
looks() { claim=$1; shift; if why=$(/usr/bin/python3 "$here/compare.py" "$@" 2>&1); then ok "$claim"; else not_ok "$claim" "$(echo "$why" | tail -1)"; fi; }
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip "verbs" "python3-numpy is not installed"; exit 0; }

# synth, info
passes "synth cylinder" "$CUTIS" synth cylinder -o "$T/cylinder.glb"
passes "synth biped" "$CUTIS" synth biped --vertices 3000 -o "$T/biped.glb"
passes "synth again" "$CUTIS" synth biped --vertices 3000 -o "$T/biped2.glb"
if cmp -s "$T/biped.glb" "$T/biped2.glb"; then ok "synth gives the same bytes twice"; else not_ok "synth gives the same bytes twice" "they differ"; fi
passes "info --json" "$CUTIS" info "$T/biped.glb" --json
holds "info of the biped" "$T/stdout" "d['vertices'] == 3000 and d['triangles'] == 5996 and d['joints'] == 41 and 4 < d['max_influences'] <= 7 and d['bone_sets'] > 0"
holds "info lists clips" "$T/stdout" "{'walk', 'walk_forward', 'bend', 'twist', 'wave'} <= {c['name'] for c in d['clips']} and all(c['duration'] > 0 for c in d['clips'])"
passes "info as text" "$CUTIS" info "$T/biped.glb"
passes "quiet is quiet" "$CUTIS" info "$T/biped.glb" --quiet && equals "quiet prints nothing" "$(wc -c <"$T/stdout")" 0

# deform
passes "deform" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 0:7 -o "$T/a.npy"
looks "deform writes float32 [frames, vertices, 3]" shape "$T/a.npy" 7 3000
passes "deform by clip index" "$CUTIS" deform "$T/biped.glb" --clip 2 --frames 0:7 -o "$T/index.npy"
"$CUTIS" deform "$T/biped.glb" --clip bend -o "$T/whole.npy" >/dev/null
"$CUTIS" info "$T/biped.glb" --json >"$T/info"
looks "without --frames the whole clip comes" shape "$T/whole.npy" "$(json "$T/info" "int([c['duration'] for c in d['clips'] if c['name'] == 'bend'][0] * 30 + 1e-4) + 1")" 3000
for option in "--instances 3" "--threads 2" "--isa scalar" "--threads 1 --isa auto"; do
    passes "deform $option" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 0:7 $option -o "$T/b.npy"
    if cmp -s "$T/a.npy" "$T/b.npy"; then ok "$option gives the same bits"; else not_ok "$option gives the same bits" "they differ"; fi
done
passes "frames in the middle" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 3:5 -o "$T/middle.npy"
looks "they are frames 3 and 4" shape "$T/middle.npy" 2 3000
/usr/bin/python3 -c 'import numpy as n, sys; n.save(sys.argv[2], n.load(sys.argv[1])[3:5])' "$T/a.npy" "$T/cut.npy"
looks "with the same vertices" near "$T/middle.npy" "$T/cut.npy" 0
passes "frames at another rate" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 0:4 --fps 15 -o "$T/slow.npy"
/usr/bin/python3 -c 'import numpy as n, sys; n.save(sys.argv[2], n.load(sys.argv[1])[0:7:2])' "$T/a.npy" "$T/cut.npy"
looks "half the rate is every second frame" near "$T/slow.npy" "$T/cut.npy" 0
passes "the rest pose" "$CUTIS" deform "$T/biped.glb" -o "$T/rest.npy"
looks "is one frame" shape "$T/rest.npy" 1 3000
"$CUTIS" deform "$T/biped.glb" -q -o "$T/still.obj"
passes "frames of a model without clips" "$CUTIS" deform "$T/still.obj" -q --frames 0:3 --fps 7 -o "$T/still.npy"
looks "are its rest pose each" shape "$T/still.npy" 3 3000
passes "deform to pc2" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 0:7 -o "$T/a.pc2"
looks "pc2 holds the same floats" pc2 "$T/a.pc2" "$T/a.npy"
passes "deform to one OBJ" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 5 -o "$T/one.obj"
looks "the OBJ is frame 5" obj "$T/one.obj" "$T/a.npy" 5
passes "deform to numbered OBJs" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 4:7 -o "$T/n.obj"
looks "OBJ 6 is frame 6" obj "$T/n_0006.obj" "$T/a.npy" 6
equals "three OBJs are there" "$(ls "$T" | grep -c '^n_000[456].obj$')" 3
passes "deform to PLY" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 5 -o "$T/one.ply"
passes "PLY to OBJ" "$CUTIS" convert "$T/one.ply" -o "$T/ply.obj"
looks "the PLY is frame 5" obj "$T/ply.obj" "$T/a.npy" 5
passes "deform to a morphing GLB" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 0:7 -o "$T/morph.glb"
passes "play the GLB" "$CUTIS" deform "$T/morph.glb" --clip frames --frames 0:7 -o "$T/played.npy"
looks "it plays the same frames" near "$T/played.npy" "$T/a.npy" 1e-6
passes "deform to a still GLB" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 5 -o "$T/still.glb"
if command -v node >/dev/null && [ -d tests/node_modules/gltf-validator ]; then
    issues=$(cd tests && node -e 'const v=require("gltf-validator"),fs=require("fs");(async()=>{let n=0;for(const f of process.argv.slice(1)){const i=(await v.validateBytes(new Uint8Array(fs.readFileSync(f)))).issues;n+=i.numErrors+i.numWarnings}console.log(n)})()' "$T/morph.glb" "$T/still.glb")
    equals "the Khronos validator has nothing against both GLBs" "$issues" 0
else skip "the Khronos validator has nothing against both GLBs" "no node or gltf-validator"; fi
passes "deform with normals" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 0:7 --normals "$T/normals.npy" -o "$T/b.npy"
looks "normals have the shape of positions" shape "$T/normals.npy" 7 3000
/usr/bin/python3 -c 'import numpy as n, sys; print(abs(n.linalg.norm(n.load(sys.argv[1]).astype(float), axis=2) - 1).max() < 1e-5)' "$T/normals.npy" >"$T/unit"
equals "normals are unit" "$(cat "$T/unit")" True
for method in rigid dqs cor; do passes "method $method" "$CUTIS" deform "$T/biped.glb" --clip bend --method $method --frames 0:3 -o "$T/$method.npy"; done
"$CUTIS" deform "$T/biped.glb" --clip bend --method sbs --frames 0:3 -o "$T/sbs.npy" >/dev/null 2>"$T/stderr"
equals "sbs says in one line that it may crease" "$? $(wc -l <"$T/stderr") $(grep -c -e '--weighted.*dqs' "$T/stderr")" "0 1 1"
passes "weighted sbs says nothing" "$CUTIS" deform "$T/biped.glb" --clip bend --method sbs --weighted --frames 0:3 -o "$T/w.npy"
/usr/bin/python3 -c 'import numpy as n, sys; n.save(sys.argv[1], n.zeros(3000, n.float32))' "$T/zero.npy"
passes "blend of zeros" "$CUTIS" deform "$T/biped.glb" --clip bend --method dqs --blend "$T/zero.npy" --frames 0:3 -o "$T/b.npy"
passes "lbs for it" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 0:3 -o "$T/l.npy"
looks "is lbs" near "$T/b.npy" "$T/l.npy" 1e-6
passes "deform --json" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 0:2 --json -o "$T/b.npy"
holds "its keys" "$T/stdout" "d['frames'] == 2 and d['vertices'] == 3000 and d['method'] == 'lbs' and d['device'] == 'cpu' and d['ns_per_vertex'] > 0"
mkdir "$T/bad" && /usr/bin/python3 "$here/make_bad.py" "$T/bad"
passes "a pose file" "$CUTIS" deform "$T/bad/good.gltf" --pose "$T/bad/pose.json" -o "$T/pose.npy"
looks "the pose is the formula's" pose "$T/pose.npy"

# measure
"$CUTIS" deform "$T/biped.glb" --clip bend --method dqs --frames 0:7 -o "$T/d.npy" >/dev/null
passes "convert to OBJ" "$CUTIS" convert "$T/biped.glb" -q -o "$T/biped.obj"
passes "measure" "$CUTIS" measure "$T/biped.glb" "$T/a.npy" "$T/d.npy" --json
cp "$T/stdout" "$T/m.json"
looks "measure agrees with numpy" measure "$T/biped.obj" "$T/a.npy" "$T/d.npy" "$T/m.json"
holds "the biped is closed and about 58 litres" "$T/m.json" "d['open_edges'] == 0 and 0.056 < d['rest_volume'] < 0.060 and d['frames'] == 7 == len(d['per_frame'])"
passes "measure two arrays" "$CUTIS" measure "$T/a.npy" "$T/d.npy" --json
holds "without triangles there is no volume" "$T/stdout" "d['volume'] is None and d['normal_rms'] is None and d['position_rms'] > 0"
passes "measure a model" "$CUTIS" measure "$T/cylinder.glb" --json
holds "the reference cylinder" "$T/stdout" "abs(d['volume'] / (0.5 * 64 * __import__('math').sin(__import__('math').pi / 32) * 8) - 1) < 1e-5 and d['volume_variation'] == 0 and d['position_max'] == 0"
passes "measure as text" "$CUTIS" measure "$T/biped.glb" "$T/a.npy"
fails 1 "measure of another body" 'vertices where' "$CUTIS" measure "$T/cylinder.glb" "$T/a.npy"
fails 1 "measure of another length" 'frames where' "$CUTIS" measure "$T/biped.glb" "$T/a.npy" "$T/middle.npy"

# convert, check
passes "four influences" "$CUTIS" convert "$T/biped.glb" --influences 4 -o "$T/four.glb"
"$CUTIS" info "$T/four.glb" --json >"$T/info"
holds "are at most four" "$T/info" "d['max_influences'] == 4 and d['vertices'] == 3000"
for weights in u8 u16; do
    passes "weights as $weights" "$CUTIS" convert "$T/biped.glb" --influences 4 --weights $weights -o "$T/$weights.glb"
    "$CUTIS" deform "$T/$weights.glb" --clip bend --frames 0:3 -o "$T/u.npy" >/dev/null
    "$CUTIS" deform "$T/four.glb" --clip bend --frames 0:3 -o "$T/v.npy" >/dev/null
    looks "$weights weights deform nearly alike" near "$T/u.npy" "$T/v.npy" "$([ $weights = u8 ] && echo 1e-2 || echo 1e-4)"
done
passes "to gltf and back" "$CUTIS" convert "$T/biped.glb" -o "$T/biped.gltf"
"$CUTIS" deform "$T/biped.gltf" --clip bend --frames 0:7 -o "$T/b.npy" >/dev/null
looks "deforms the same" near "$T/b.npy" "$T/a.npy" 0
passes "scaled OBJ" "$CUTIS" convert "$T/biped.obj" --scale 100 -o "$T/big.obj"
passes "its volume" "$CUTIS" measure "$T/big.obj" --json
holds "is a million times the biped's" "$T/stdout" "abs(d['volume'] / $(json "$T/m.json" "d['rest_volume']") / 1e6 - 1) < 1e-4"
# Half a body and its mirror image by a node: outside is outside for both (glTF 3.7.4), in what is measured and in what is written.
/usr/bin/python3 - "$T" <<'P'
import base64, json, struct, sys
corners = [(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)]
faces = [0,1,3, 0,3,2, 4,6,7, 4,7,5, 0,4,5, 0,5,1, 2,3,7, 2,7,6, 0,2,6, 0,6,4, 1,5,7, 1,7,3]
data = b"".join(struct.pack("<3f", *c) for c in corners) + struct.pack("<36H", *faces)
data += b"".join(struct.pack("<3f", *((2 * x - 1) / 3 ** .5 for x in c)) for c in corners)
json.dump({"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
           "nodes": [{"mesh": 0}, {"mesh": 0, "scale": [-1, 1, 1], "translation": [-1, 0, 0]}],
           "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "NORMAL": 2}, "indices": 1}]}],
           "accessors": [{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 1]},
                         {"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"},
                         {"bufferView": 2, "componentType": 5126, "count": 8, "type": "VEC3"}],
           "bufferViews": [{"buffer": 0, "byteLength": 96}, {"buffer": 0, "byteOffset": 96, "byteLength": 72},
                           {"buffer": 0, "byteOffset": 168, "byteLength": 96}],
           "buffers": [{"byteLength": 264, "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}]},
          open(sys.argv[1] + "/mirrored.gltf", "w"))
P
"$CUTIS" measure "$T/mirrored.gltf" --json >"$T/stdout"
holds "a mirror image has the volume of what it mirrors" "$T/stdout" "abs(d['volume'] - 2) < 1e-6"
for how in convert deform; do
    for ending in obj ply stl; do
        rm -f "$T/mirrored.$ending"
        "$CUTIS" $how "$T/mirrored.gltf" -q -o "$T/mirrored.$ending"
        "$CUTIS" measure "$T/mirrored.$ending" --json >"$T/stdout"
        holds "$how writes a mirror image with its outside outside ($ending)" "$T/stdout" "abs(d['volume'] - 2) < 1e-6"
    done
    looks "$how leaves its normals outside" outside "$T/mirrored.obj" 2
done
passes "a skeleton of a body and its image" "$CUTIS" skeleton "$T/mirrored.gltf" --parts shells -q -o "$T/shells.glb"
"$CUTIS" deform "$T/shells.glb" -q -o "$T/shells.obj"
looks "has its normals outside" outside "$T/shells.obj" 2
"$CUTIS" synth family --kind human --seed 71001 --unrigged --vertices 2000 -q -o "$T/human.gltf"
/usr/bin/python3 - "$T/human.gltf" "$T/image.gltf" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
d["nodes"].append({"scale": [-1, 1, 1], "children": d["scenes"][0]["nodes"]})
d["scenes"][0]["nodes"] = [len(d["nodes"]) - 1]
json.dump(d, open(sys.argv[2], "w"))
P
passes "a rig with patches for a mirror image" "$CUTIS" rig "$T/image.gltf" --patches --keep -q -o "$T/image.glb"
"$CUTIS" deform "$T/image.glb" -q -o "$T/image.obj"
"$CUTIS" measure "$T/human.gltf" --json >"$T/stdout"
looks "has its normals outside too" outside "$T/image.obj" "$(json "$T/stdout" "d['volume']")"
# The cube in a skin that was saved in a pose, plain and below a mirror: whatever is written has the volume of its twin, and not less than none.
/usr/bin/python3 - "$T" <<'P'
import base64, json, struct, sys
import numpy as np
t = sys.argv[1]
d = json.load(open(t + "/mirrored.gltf"))
data = base64.b64decode(d["buffers"][0]["uri"].split(",")[1])
def add(values, kind, component, count):
    global data
    d["bufferViews"].append({"buffer": 0, "byteOffset": len(data), "byteLength": len(values)})
    d["accessors"].append({"bufferView": len(d["bufferViews"]) - 1, "componentType": component, "count": count, "type": kind})
    data += values
    return len(d["accessors"]) - 1
of = d["meshes"][0]["primitives"][0]["attributes"]
of["JOINTS_0"] = add(bytes([0, 1, 0, 0] * 8), "VEC4", 5121, 8)
of["WEIGHTS_0"] = add(b"".join(struct.pack("<4f", 1 - y, y, 0, 0) for x in (0, 1) for y in (0, 1) for z in (0, 1)), "VEC4", 5126, 8)
times, turns = add(struct.pack("<2f", 0, 1), "SCALAR", 5126, 2), add(struct.pack("<8f", 0, 0, 0, 1, 0, .28, 0, .96), "VEC4", 5126, 2)
d["accessors"][times].update(min=[0], max=[1])
d["animations"] = [{"name": "c", "channels": [{"sampler": 0, "target": {"node": 3, "path": "rotation"}}], "samplers": [{"input": times, "output": turns}]}]
d["skins"] = [{"joints": [2, 3]}]
d["buffers"] = [{"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}]
shapes = np.random.default_rng(1).uniform(-.2, .2, (2, 8, 3)) + [[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]
for name, side in ("twin", 1), ("image", -1):
    d["nodes"] = [{"mesh": 0, "skin": 0}, {"scale": [side, 1, 1], "children": [2, 3]}, {}, {"rotation": [0, 0, .28, .96]}]
    json.dump(d, open(f"{t}/{name}_skin.gltf", "w"))
    np.save(f"{t}/{name}_shapes.npy", (shapes * [side, 1, 1]).astype("f4"))
    ends = [{"name": n, "kind": "point", "position": [side * .5, y, .5]} for n, y in (("a", 0), ("b", 1))]
    json.dump({"handles": ends}, open(f"{t}/{name}_ends.json", "w"))
P
"$CUTIS" deform "$T/twin_skin.gltf" -q -o "$T/twin.obj"
"$CUTIS" measure "$T/twin.obj" --json >"$T/twin"
"$CUTIS" measure "$T/image_skin.gltf" --json >"$T/stdout"
holds "a mirrored skin in a pose has its volume" "$T/stdout" "abs(d['rest_volume'] - $("$CUTIS" measure "$T/twin_skin.gltf" --json >"$T/m" && json "$T/m" "d['rest_volume']")) < 1e-6 < d['rest_volume']"
passes "handles on it" "$CUTIS" handles "$T/image_skin.gltf" --handles "$T/image_ends.json" -q -o "$T/image_ends.glb"
"$CUTIS" deform "$T/image_ends.glb" -q -o "$T/image_ends.obj"
looks "leave its outside and its normals outside" outside "$T/image_ends.obj" "$(json "$T/twin" "d['volume']")"
for body in twin image; do
    "$CUTIS" fit "$T/${body}_skin.gltf" --poses c --shapes "$T/${body}_shapes.npy" -q -o "$T/$body.glb"
    "$CUTIS" deform "$T/$body.glb" --clip c --method psd --fps 1 -q -o "$T/$body.npy" --normals "$T/${body}_normals.npy"
done
/usr/bin/python3 -c 'import numpy, sys; numpy.save(sys.argv[2], numpy.load(sys.argv[1]) * numpy.array([-1, 1, 1], "f4"))' "$T/image_normals.npy" "$T/back.npy"
looks "fitted normals of a mirrored skin are those of its twin" near "$T/back.npy" "$T/twin_normals.npy" 1e-4
"$CUTIS" convert "$T/cylinder.glb" -q -o "$T/cylinder.gltf"
/usr/bin/python3 - "$T/cylinder.gltf" "$T/posed.gltf" <<'P'
import json, sys
d = json.load(open(sys.argv[1]))
d["nodes"][d["skins"][0]["joints"][-1]]["rotation"] = [.28, 0, 0, .96]
d["nodes"].append({"scale": [-1, 1, 1], "children": d["scenes"][0]["nodes"]})
d["scenes"][0]["nodes"] = [len(d["nodes"]) - 1]
json.dump(d, open(sys.argv[2], "w"))
P
"$CUTIS" skeleton "$T/posed.gltf" --parts joints -o "$T/bones.glb" >"$T/stdout" 2>"$T/note"
equals "a skeleton of such a skin, from the file's own shape, turns no triangle over" "$(grep -c 'turned over' "$T/note")$([ -s "$T/bones.glb" ] || echo nothing)" 0

# A rig in centimetres: an OBJ of it is a hundred times the body that deform writes, which is said.
/usr/bin/python3 - "$T/biped.gltf" "$T/centimetres.gltf" <<'P'
import json, sys
document = json.load(open(sys.argv[1]))
below = {child for node in document["nodes"] for child in node.get("children", [])}
root = next(i for i in range(len(document["nodes"])) if i not in below)
document["nodes"].append({"name": "armature", "scale": [.01, .01, .01], "children": [root]})
scene = document["scenes"][document.get("scene", 0)]["nodes"]
scene[scene.index(root)] = len(document["nodes"]) - 1
json.dump(document, open(sys.argv[2], "w"))
P
for unit in biped:0 centimetres:1; do
    "$CUTIS" convert "$T/${unit%:*}.gltf" -o "$T/unposed.obj" >"$T/stdout" 2>"$T/err"
    equals "an OBJ that is not as the joints have it is told (${unit%:*})" "$(grep -c 'written as the file has them' "$T/err")" "${unit#*:}"
done

# convert tells what is in the file it wrote, and what its format lost
"$CUTIS" convert "$T/biped.glb" --json -o "$T/walk.bvh" >"$T/stdout" 2>"$T/note"
holds "a BVH holds no vertices and one clip" "$T/stdout" "d['vertices'] == d['triangles'] == 0 and d['clips'] == 1 and d['joints'] > 20 and d['lost'] == '3000 vertices, 4 clips'"
equals "which is noted" "$(cat "$T/note")" "cutis: note: $T/walk.bvh: its format cannot hold 3000 vertices, 4 clips"
"$CUTIS" info "$T/walk.bvh" --json >"$T/info"
holds "and the file has them" "$T/info" "d['vertices'] == 0 and len(d['clips']) == 1 and d['joints'] == d['nodes'] > 20"
"$CUTIS" convert "$T/biped.glb" --clip wave -q -o "$T/wave.bvh" && "$CUTIS" info "$T/wave.bvh" --json >"$T/info"
holds "--clip chooses which" "$T/info" "abs(d['clips'][0]['duration'] - 2) < 0.05"
fails 2 "a glTF keeps its clips" 'for .bvh alone' "$CUTIS" convert "$T/biped.glb" --clip wave -o "$T/out/a.glb"
passes "a clip from a file is added" "$CUTIS" convert "$T/biped.glb" --clip "$T/wave.bvh" -o "$T/more.glb"
"$CUTIS" info "$T/more.glb" --json >"$T/info"
holds "behind the others" "$T/info" "len(d['clips']) == 6 and d['clips'][0]['name'] == 'walk' and abs(d['clips'][5]['duration'] - 2) < 0.05"
fails 1 "no such clip" 'dance' "$CUTIS" convert "$T/biped.glb" --clip dance -o "$T/out/a.bvh"
printf 'v 0 0 0\nv 1 0 0\n' >"$T/points.obj"
"$CUTIS" info "$T/points.obj" >/dev/null 2>"$T/note"
equals "a mesh without faces is noted" "$(cat "$T/note")" "cutis: note: $T/points.obj: it has no faces"
"$CUTIS" deform "$T/biped.obj" -o "$T/still.npy" >/dev/null 2>"$T/note"
equals "a mesh without a skin too" "$(cat "$T/note")" "cutis: note: $T/biped.obj: no mesh has a skin, and no --clip moves its nodes"
# a picture shows the clip where it deforms most: linear blending of a twist, at its peak of 1 s and not in its middle
"$CUTIS" render "$T/biped.glb" --clip twist --json --size 64x64 -o "$T/peak.png" >"$T/stdout"
holds "the default time is the clip's peak" "$T/stdout" "abs(d['seconds'] - 1) < 0.1"
fails 1 "focus on a joint that is not there" 'nose' "$CUTIS" render "$T/biped.glb" --focus nose -o "$T/out/a.png"
passes "check" "$CUTIS" check "$T/four.glb" --json
holds "finds no error in our own character" "$T/stdout" "d['errors'] == 0"
passes "check as text" "$CUTIS" check "$T/four.glb"

# the arm's examples
passes "arm with examples" "$CUTIS" synth arm --size low --examples "$T/shapes" -o "$T/arm.glb"
"$CUTIS" info "$T/arm.glb" --json >"$T/info"
holds "the low arm" "$T/info" "d['vertices'] == 2972 and d['triangles'] == 5762 and 'examples' in [c['name'] for c in d['clips']]"
equals "eight shapes" "$(ls "$T/shapes" | grep -c '^example_000[0-7].obj$')" 8
looks "as an array too" shape "$T/shapes/examples.npy" 8 2972
"$CUTIS" deform "$T/arm.glb" --clip examples -o "$T/posed.npy" >/dev/null
looks "the clip has eight frames" shape "$T/posed.npy" 8 2972
"$CUTIS" measure "$T/arm.glb" "$T/posed.npy" "$T/shapes/examples.npy" --json >"$T/m.json"
holds "rest is rest, and muscles move the others" "$T/m.json" "[f['position_max'] > 0.2 for f in d['per_frame']] == [False] + 7 * [True] and d['position_max'] < 3"
passes "crowd" "$CUTIS" synth crowd --count 3 --seed 5 -o "$T/crowd.glb"

# devices, bench
passes "devices" "$CUTIS" devices
passes "devices --prepare" "$CUTIS" devices --prepare --device cpu --json
holds "each kind of work is done once" "$T/stdout" "[r['what'] for r in d['prepared']] == ['blending', 'patches', 'handles', 'reduction'] and all(r['device'] == 'cpu' for r in d['prepared'])"
fails 2 "a device for nothing" "prepare" "$CUTIS" devices --device cpu
if [ -n "${CUTIS_SOAK:-}" ] && "$CUTIS" devices | grep -q '^opencl:'; then
    XDG_CACHE_HOME=$T/cache; export XDG_CACHE_HOME
    passes "devices --prepare on OpenCL" "$CUTIS" devices --prepare --device opencl -q
    "$CUTIS" synth biped --vertices 2000 -q -o "$T/p.glb" && "$CUTIS" deform "$T/p.glb" --method sbs --device opencl -q -o "$T/p.npy"
    cached=$(find "$T/cache" -type f -path '*cutis*' | wc -l)
    if [ "$cached" -gt 10 ]; then ok "there are kernels in the cache"; else not_ok "there are kernels in the cache" "$cached"; fi
    equals "a real call finds its kernels" "$(find "$T/cache" -type f -path '*cutis*' | wc -l)" "$(find "$T/cache" -type f -path '*cutis*' ! -newer "$T/p.glb" | wc -l)"
    unset XDG_CACHE_HOME
fi
passes "devices --json" "$CUTIS" devices --json
holds "the cpu is there, and every kind is accounted for" "$T/stdout" "any(x['kind'] == 'cpu' and x['available'] for x in d['devices']) and {x['kind'] for x in d['devices']} == {'cpu', 'opencl', 'cuda'} and all(x['detail'] for x in d['devices'] if not x['available'])"
passes "bench pose" "$CUTIS" bench pose --quick --json
holds "poses take time" "$T/stdout" "d['rows'][0]['joints'] == 64 and 0 < d['rows'][0]['microseconds'] < 1000"
passes "bench blend" "$CUTIS" bench blend --quick --vertices 2972 --threads 1 --json
holds "its rows" "$T/stdout" "len(d['rows']) >= 2 and all(set('method device isa threads vertices instances ns_per_vertex times_plain of_limit'.split()) <= set(r) for r in d['rows']) and all(r['ns_per_vertex'] > 0 for r in d['rows'])"
exit $failed
