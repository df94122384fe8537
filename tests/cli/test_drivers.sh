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
fails 2 "drivers of no helpers" "helpers 1 at least" "$CUTIS" bake "$T/arm.glb" --method dqs --helpers 0 --drivers --fps 3 -o "$T/x.glb"
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

cat >"$T/spoil.py" <<'P'
import json, struct, sys
source, folder = sys.argv[1:]
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
for change in cycle, shorter, five, beyond, node, twice, none, ranges, word, nan: spoil(change.__name__, change)
P
python3 "$T/spoil.py" "$T/t1.glb" "$T"
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
    printf '%s\n' "$T/t1.glb" "$T/retargeted.glb" "$T/dropped.glb" | node "$here/../io/gltf_validate.mjs" >"$T/issues"
    equals "the validator reads all three" "$(wc -l <"$T/issues" | tr -d ' ')" 3
    if grep -Eq '"severity":[01]' "$T/issues"; then not_ok "the Khronos validator finds no error and no warning" "$(grep -E '"severity":[01]' "$T/issues" | head -1)"; else ok "the Khronos validator finds no error and no warning"; fi
    mkdir "$T/three"
    /usr/bin/python3 "$here/../io/three_compare.py" "$CUTIS" none "$T/three" "$here/../io/three_lbs.mjs" "$T/retargeted.glb" "$T/dropped.glb" || failed=1
else
    skip "the Khronos validator and three.js" "node or its modules are not there"
fi
exit $failed
