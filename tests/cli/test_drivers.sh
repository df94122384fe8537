#!/bin/sh
# Drivers in the command: files that cannot be, the same bytes for any number of threads, players without them. What they come to is
# judged in tests/fit/test_drivers.sh.
here=$(dirname "$0")
. "$here/common.sh"

"$CUTIS" synth arm --size low -q -o "$T/arm.glb"
passes "drivers are learned" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 3 --drivers --fps 3 --threads 1 --json -o "$T/t1.glb"
holds "and told" "$T/stdout" "d['unseen']['poses'] == 100 and d['unseen']['ratio'] < 0.6 and d['frames'] == 39 and 3 <= d['unseen']['inputs'] <= 12"
"$CUTIS" bake "$T/arm.glb" --method dqs --helpers 3 --drivers --fps 3 --threads 3 -q -o "$T/t3.glb"
"$CUTIS" bake "$T/arm.glb" --method dqs --helpers 3 --drivers --fps 3 --isa scalar -q -o "$T/scalar.glb"
cmp -s "$T/t1.glb" "$T/t3.glb" && cmp -s "$T/t1.glb" "$T/scalar.glb" && ok "threads and widths of vectors write the same bytes" || not_ok "threads and widths of vectors write the same bytes" "they differ"
"$CUTIS" info "$T/t1.glb" --json >"$T/info"
holds "info counts them" "$T/info" "d['drivers'] == 3"
fails 2 "drivers of a sequence" "for --method" "$CUTIS" bake "$T/arm.npy" --rest "$T/arm.glb" --bones 3 --drivers -o "$T/x.glb"
fails 1 "drivers on top of drivers" "drivers already" "$CUTIS" bake "$T/t1.glb" --method dqs --helpers 1 --drivers --fps 3 -o "$T/x.glb"
fails 2 "drivers of no helpers" "morphs 1 at least" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 0 --drivers --fps 3 -o "$T/x.glb"
# Tracks that hold a helper at rest, as exporters write them that key every joint, are no tracks: driven in the file, and after conversion.
"$CUTIS" convert "$T/t1.glb" -q -o "$T/keyed.gltf"
/usr/bin/python3 - "$T/keyed.gltf" <<'P'
import json
import os
import sys
import numpy as np
path = sys.argv[1]
d = json.load(open(path))
place = os.path.join(os.path.dirname(path), d["buffers"][0]["uri"])
data = bytearray(open(place, "rb").read())
driven = {driver["node"] for driver in d["extensions"]["CUTIS_drivers"]["drivers"]}
for clip in d["animations"]:
    for channel in clip["channels"]:
        node, way = channel["target"]["node"], channel["target"]["path"]
        if node not in driven:
            continue
        rest = d["nodes"][node].get(way, {"translation": [0, 0, 0], "rotation": [0, 0, 0, 1], "scale": [1, 1, 1]}[way])
        accessor = d["accessors"][clip["samplers"][channel["sampler"]]["output"]]
        at = d["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
        keys = np.tile(np.array(rest, "<f4"), accessor["count"]).tobytes()
        data[at:at + len(keys)] = keys
open(place, "wb").write(data)
P
"$CUTIS" convert "$T/keyed.gltf" --drivers drop -q -o "$T/unkeyed.glb"
"$CUTIS" deform "$T/keyed.gltf" --clip twist --fps 30 -q -o "$T/keyed.npy"
"$CUTIS" deform "$T/unkeyed.glb" --clip twist --fps 30 -q -o "$T/unkeyed.npy"
off=$(/usr/bin/python3 -c "
import numpy as np
a, b, c = (np.load('$T/%s.npy' % n) for n in ('keyed', 'unkeyed', 'keyed'))
print(np.abs(a - b).max() < 1e-5 and np.ptp(c, 0).max() > 0.01)")
equals "tracks at rest are driven before and after conversion" "$off" True
passes "converted" "$CUTIS" convert "$T/t1.glb" -q -o "$T/again.glb"
passes "and back" "$CUTIS" convert "$T/again.glb" -q -o "$T/text.gltf"
"$CUTIS" deform "$T/t1.glb" --clip twist --drivers all -q -o "$T/a.npy"
"$CUTIS" deform "$T/text.gltf" --clip twist --drivers all -q -o "$T/b.npy"
cmp -s "$T/a.npy" "$T/b.npy" && ok "drivers survive with the same bits" || not_ok "drivers survive with the same bits" "frames differ"
if "$CUTIS" devices 2>/dev/null | grep -q "^opencl" && "$CUTIS" deform "$T/t1.glb" --clip twist --drivers all --device opencl -q -o "$T/c.npy" 2>/dev/null; then
    cmp -s "$T/a.npy" "$T/c.npy" && ok "OpenCL plays them with the same bits" || not_ok "OpenCL plays them with the same bits" "frames differ"
else
    skip "OpenCL plays them with the same bits" "there is no OpenCL device"
fi

# Weights of morph targets too.
passes "weights of morph targets are driven" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 1 --morphs 3 --drivers --fps 3 --threads 1 --json -o "$T/m1.glb"
holds "and told" "$T/stdout" "d['unseen']['ratio'] < 0.6 and d['morphs'] == 3"
"$CUTIS" bake "$T/arm.glb" --method dqs --helpers 1 --morphs 3 --drivers --fps 3 --threads 3 --isa scalar -q -o "$T/m3.glb"
cmp -s "$T/m1.glb" "$T/m3.glb" && ok "with the same bytes by threads and widths" || not_ok "with the same bytes by threads and widths" "they differ"
"$CUTIS" info "$T/m1.glb" --json >"$T/info"
holds "info counts them" "$T/info" "d['drivers'] == 4"
"$CUTIS" convert "$T/m1.glb" -q -o "$T/m.gltf"
"$CUTIS" deform "$T/m1.glb" --clip twist --drivers all -q -o "$T/a.npy"
"$CUTIS" deform "$T/m.gltf" --clip twist --drivers all -q -o "$T/b.npy"
cmp -s "$T/a.npy" "$T/b.npy" && ok "they survive with the same bits" || not_ok "they survive with the same bits" "frames differ"
if "$CUTIS" devices 2>/dev/null | grep -q "^opencl" && "$CUTIS" deform "$T/m1.glb" --clip twist --drivers all --device opencl -q -o "$T/c.npy" 2>/dev/null; then
    cmp -s "$T/a.npy" "$T/c.npy" && ok "OpenCL plays driven weights with the same bits" || not_ok "OpenCL plays driven weights with the same bits" "frames differ"
else
    skip "OpenCL plays driven weights with the same bits" "there is no OpenCL device"
fi

# A body without a skin, whose morph target follows a node: baking it as a sequence takes its body alone.
/usr/bin/python3 - "$T/face.gltf" <<'P'
import base64, json, struct, sys
turn = [0, 0, 0.6, 0.8]
parts = [struct.pack('<12f', 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.1), struct.pack('<12f', *[0, 0, 0.2] * 4), struct.pack('<6H', 0, 1, 2, 2, 1, 3),
         struct.pack('<2f', 0, 1), struct.pack('<8f', 0, 0, 0, 1, *turn), struct.pack('<8f', -1, -1, -1, -1, 1, 1, 1, 0), struct.pack('<14f', *[1] * 14)]
views, accessors, data = [], [], b''
kinds = [(5126, 4, 'VEC3'), (5126, 4, 'VEC3'), (5123, 6, 'SCALAR'), (5126, 2, 'SCALAR'), (5126, 2, 'VEC4'), (5126, 2, 'VEC4'), (5126, 14, 'SCALAR')]
for part, (kind, count, shape) in zip(parts, kinds):
    views.append({'buffer': 0, 'byteOffset': len(data), 'byteLength': len(part)})
    accessors.append({'bufferView': len(views) - 1, 'componentType': kind, 'count': count, 'type': shape})
    data += part
accessors[0].update(min=[0, 0, 0], max=[1, 1, 0.1]), accessors[1].update(min=[0, 0, 0.2], max=[0, 0, 0.2]), accessors[3].update(min=[0], max=[1])
json.dump({'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'nodes': [0, 1]}], 'nodes': [{'mesh': 0}, {'name': 'knob'}],
           'meshes': [{'primitives': [{'attributes': {'POSITION': 0}, 'indices': 2, 'targets': [{'POSITION': 1}]}]}],
           'animations': [{'channels': [{'sampler': 0, 'target': {'node': 1, 'path': 'rotation'}}], 'samplers': [{'input': 3, 'output': 4}]}],
           'accessors': accessors, 'bufferViews': views, 'extensionsUsed': ['CUTIS_drivers'],
           'extensions': {'CUTIS_drivers': {'joints': [1], 'ranges': 5, 'weightCoefficients': 6, 'weights': [{'node': 0, 'target': 0, 'inputs': [0]}]}},
           'buffers': [{'byteLength': len(data), 'uri': 'data:application/octet-stream;base64,' + base64.b64encode(data).decode()}]}, open(sys.argv[1], 'w'))
P
passes "a body that driven weights move is a sequence" "$CUTIS" bake "$T/face.gltf" --bones 1 --fps 10 --json -o "$T/face.glb"
holds "and one bone follows it" "$T/stdout" "d['rms'] < 1e-4 and d['frames'] == 11"

cat >"$T/spoil.py" <<'P'
import json, struct, sys
source, folder = sys.argv[1:3]
data = open(source, 'rb').read()
size = struct.unpack_from('<I', data, 12)[0]
def spoil(name, change):
    document = json.loads(data[20:20 + size])
    change(document, document['extensions']['CUTIS_drivers'])
    text = json.dumps(document).encode()
    text += b' ' * (-len(text) % 4)
    rest = bytearray(data[20 + size:])
    if name == 'nan':
        accessor = document['accessors'][document['extensions']['CUTIS_drivers']['coefficients']]
        view = document['bufferViews'][accessor['bufferView']]
        struct.pack_into('<f', rest, 8 + view.get('byteOffset', 0) + accessor.get('byteOffset', 0), float('nan'))
    head = struct.pack('<4sII', b'glTF', 2, 20 + len(text) + len(rest)) + struct.pack('<I4s', len(text), b'JSON')
    open(f'{folder}/{name}.glb', 'wb').write(head + text + bytes(rest))
def cycle(document, drivers): drivers['joints'][0] = drivers['drivers'][0]['node']
def shorter(document, drivers): drivers['drivers'][0]['inputs'] = []
def five(document, drivers): drivers['drivers'][0]['inputs'] = [0, 1, 0, 1, 0]
def beyond(document, drivers): drivers['drivers'][0]['inputs'][0] = 4000000000
def node(document, drivers): drivers['drivers'][1]['node'] = len(document['nodes'])
def twice(document, drivers): drivers['drivers'][1]['node'] = drivers['drivers'][0]['node']
def none(document, drivers): drivers['drivers'] = []
def ranges(document, drivers): drivers['ranges'] = drivers['coefficients']
def word(document, drivers): drivers['joints'] = 'elbow'
def nan(document, drivers): pass
def morph_node(document, drivers): drivers['weights'][0]['node'] = drivers['joints'][0]
def morph_target(document, drivers): drivers['weights'][2]['target'] = 3
def morph_large(document, drivers): drivers['weights'][2]['target'] = 1e30
def morph_twice(document, drivers): drivers['weights'][2]['target'] = 0
def morph_five(document, drivers): drivers['weights'][0]['inputs'] = [0, 1, 0, 1, 0]
def morph_beyond(document, drivers): drivers['weights'][0]['inputs'][0] = 77
def morph_shorter(document, drivers): drivers['weights'][0]['inputs'] = []
def morph_lost(document, drivers): del drivers['weightCoefficients']
def morph_none(document, drivers): drivers['weights'] = []
def morph_word(document, drivers): drivers['weights'] = 'smile'
changes = [cycle, shorter, five, beyond, node, twice, none, ranges, word, nan]
if sys.argv[3:]: changes = [morph_node, morph_target, morph_large, morph_twice, morph_five, morph_beyond, morph_shorter, morph_lost, morph_none, morph_word]
for change in changes: spoil(change.__name__, change)
P
python3 "$T/spoil.py" "$T/t1.glb" "$T"
python3 "$T/spoil.py" "$T/m1.glb" "$T" morphs
fails 1 "weights of a node without a mesh" "shows no mesh" "$CUTIS" info "$T/morph_node.glb"
fails 1 "a target that is not there" "the mesh has 3" "$CUTIS" info "$T/morph_target.glb"
fails 1 "a target beyond all numbers" "number of a morph target" "$CUTIS" info "$T/morph_large.glb"
fails 1 "a weight driven twice" "driven already" "$CUTIS" info "$T/morph_twice.glb"
fails 1 "five inputs of a weight" "at most 4" "$CUTIS" info "$T/morph_five.glb"
fails 1 "an input of a weight that is not there" "joints" "$CUTIS" info "$T/morph_beyond.glb"
fails 1 "fewer coefficients than terms of weights" "weightCoefficients: want an accessor" "$CUTIS" info "$T/morph_shorter.glb"
fails 1 "no coefficients of weights" "weightCoefficients: want an accessor" "$CUTIS" info "$T/morph_lost.glb"
fails 1 "no weights" "at least one" "$CUTIS" info "$T/morph_none.glb"
fails 1 "weights that are a word" "at least one" "$CUTIS" info "$T/morph_word.glb"
fails 1 "a driven joint that drives" "cannot drive" "$CUTIS" info "$T/cycle.glb"
fails 1 "fewer coefficients than terms" "coefficients: want an accessor" "$CUTIS" info "$T/shorter.glb"
fails 1 "five inputs" "at most 4" "$CUTIS" info "$T/five.glb"
fails 1 "an input that is not there" "joints" "$CUTIS" info "$T/beyond.glb"
fails 1 "a node that is not there" "no node" "$CUTIS" info "$T/node.glb"
fails 1 "a node driven twice" "driven already" "$CUTIS" info "$T/twice.glb"
fails 1 "no drivers" "needs joints and drivers" "$CUTIS" info "$T/none.glb"
fails 1 "ranges of another shape" "ranges: want an accessor" "$CUTIS" info "$T/ranges.glb"
fails 1 "joints that are a word" "needs joints and drivers" "$CUTIS" info "$T/word.glb"
fails 1 "a coefficient that is not finite" "finite" "$CUTIS" info "$T/nan.glb"

modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
if command -v node >/dev/null && [ -d "$modules/gltf-validator" ] && [ -d "$modules/three" ]; then
    CUTIS_NODE_MODULES=$modules
    export CUTIS_NODE_MODULES
    "$CUTIS" retarget "$T/t1.glb" --motion "$T/arm.glb" --clip raise --fps 30 -q -o "$T/retargeted.glb"
    "$CUTIS" convert "$T/retargeted.glb" --drivers drop -q -o "$T/dropped.glb"
    "$CUTIS" retarget "$T/m1.glb" --motion "$T/arm.glb" --clip raise --fps 30 -q -o "$T/morphed.glb"
    printf '%s\n' "$T/t1.glb" "$T/retargeted.glb" "$T/dropped.glb" "$T/m1.glb" "$T/morphed.glb" | node "$here/../io/gltf_validate.mjs" >"$T/issues"
    equals "the validator reads all five" "$(wc -l <"$T/issues" | tr -d ' ')" 5
    if grep -Eq '"severity":[01]' "$T/issues"; then not_ok "the Khronos validator finds no error and no warning" "$(grep -E '"severity":[01]' "$T/issues" | head -1)"; else ok "the Khronos validator finds no error and no warning"; fi
    mkdir "$T/three"
    /usr/bin/python3 "$here/../io/three_compare.py" "$CUTIS" none "$T/three" "$here/../io/three_lbs.mjs" "$T/retargeted.glb" "$T/dropped.glb" "$T/morphed.glb" || failed=1
else
    skip "the Khronos validator and three.js" "node or its modules are not there"
fi
exit $failed
