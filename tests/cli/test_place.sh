# --up, --units and --scale on the verbs, what auto says, OFF with PSB's labels, STL in and out.
here=$(dirname "$0")
. "$here/common.sh"
"$CUTIS" synth biped --vertices 3000 -q -o "$T/biped.glb"
"$CUTIS" convert "$T/biped.glb" -q -o "$T/biped.ply"
"$CUTIS" convert "$T/biped.glb" --clip walk_forward -q -o "$T/walk.bvh" 2>/dev/null

# A quarter turn four times is none: three times makes a file that --up z stands up again.
turn() { "$CUTIS" convert "$1" --up z -q -o "$2" 2>"$T/stderr"; }
for end in ply stl obj; do
    "$CUTIS" convert "$T/biped.ply" -q -o "$T/t0.$end"
    for i in 0 1 2 3; do turn "$T/t$i.$end" "$T/t$((i + 1)).$end"; done
    equals "--up z four times is nothing ($end)" "$(cksum <"$T/t4.$end")" "$(cksum <"$T/t0.$end")"
    cmp -s "$T/t1.$end" "$T/t0.$end" && not_ok "--up z turns ($end)" "it does not" || ok "--up z turns ($end)"
done
"$CUTIS" info "$T/t3.ply" --json >"$T/lying.json"
"$CUTIS" info "$T/t3.ply" --up z --units cm --json >"$T/stood.json"
/usr/bin/python3 - "$T/lying.json" "$T/stood.json" >"$T/seen" <<'END'
import json, sys
a, b = (json.load(open(f))['bounds'] for f in sys.argv[1:])
want_min = [a['min'][0], a['min'][2], -a['max'][1]]
want_max = [a['max'][0], a['max'][2], -a['min'][1]]
print(all(abs(x - y * .01) < 1e-8 for x, y in zip(b['min'] + b['max'], want_min + want_max)))
END
equals "info --up z --units cm has the turned bounds" "$(cat "$T/seen")" True

# auto: said on stderr with the reason, kept in JSON, and right.
"$CUTIS" convert "$T/t3.ply" --up auto --units auto --json -o "$T/auto.ply" >"$T/stdout" 2>"$T/stderr"
equals "auto says what it took and why" "$(grep -c '^cutis: note: .*guessed --up z: it is symmetric along x .* stands on z = 0$' "$T/stderr") $(grep -c 'guessed --units m: in metres its height of 1.8' "$T/stderr")" "1 1"
holds "and in JSON" "$T/stdout" "d['guesses'][0]['up'] == 'z' and 'stands on z' in d['guesses'][0]['up_reason'] and d['guesses'][0]['units'] == 'm' and d['guesses'][0]['file'].endswith('t3.ply')"
equals "and does it" "$(cksum <"$T/auto.ply")" "$(cksum <"$T/t4.ply")"
"$CUTIS" info "$T/t3.ply" --json >"$T/stdout" 2>"$T/stderr"
holds "nothing is guessed unasked" "$T/stdout" "'guesses' not in d"
equals "nor said" "$(wc -c <"$T/stderr")" 0

# Verbs that read a glTF and another file: the options are for the other.
cp "$T/walk.bvh" "$T/w0.bvh"
for i in 0 1 2; do turn "$T/w$i.bvh" "$T/w$((i + 1)).bvh"; done
"$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" -q -o "$T/plain.glb" 2>/dev/null
"$CUTIS" retarget "$T/biped.glb" --motion "$T/w3.bvh" --up z -q -o "$T/turned.glb" 2>/dev/null
for name in plain turned; do "$CUTIS" deform "$T/$name.glb" --clip walk --frames 0:20 -q -o "$T/$name.npy" 2>/dev/null ||
    "$CUTIS" deform "$T/$name.glb" --clip "$("$CUTIS" info "$T/$name.glb" --clips | tail -1)" --frames 0:20 -q -o "$T/$name.npy"; done
"$CUTIS" measure "$T/plain.npy" "$T/turned.npy" --json >"$T/stdout" 2>"$T/stderr"
holds "retarget --up z takes a motion with z up" "$T/stdout" "d['position_max'] < 0.01"

for verb in info check; do
    fails 2 "$verb: a glTF has its own up" 'has its own, y up and metres' "$CUTIS" $verb "$T/biped.glb" --up z
    fails 2 "$verb: and its own units" 'has its own, y up and metres' "$CUTIS" $verb "$T/biped.glb" --units cm
    fails 2 "$verb: --scale and --units exclude each other" 'exclude each other' "$CUTIS" $verb "$T/biped.ply" --scale 1 --units m
done
fails 2 "there is no axis w" 'one of: x y z auto' "$CUTIS" info "$T/biped.ply" --up w
fails 2 "nor a unit ft" 'one of: m cm mm in auto' "$CUTIS" info "$T/biped.ply" --units ft

# The same body as OFF, with labels beside it, becomes the same rig as from PLY.
/usr/bin/python3 - "$T" <<'END'
import json, struct, sys
folder = sys.argv[1]
raw = open(folder + '/biped.glb', 'rb').read()
size = struct.unpack_from('<I', raw, 12)[0]
doc, data = json.loads(raw[20:20 + size]), raw[28 + size:]
def accessor(i, kinds={5126: 'f', 5125: 'I', 5123: 'H', 5121: 'B'}, widths={'SCALAR': 1, 'VEC3': 3}):
    a = doc['accessors'][i]
    v = doc['bufferViews'][a['bufferView']]
    kind, width = kinds[a['componentType']], widths[a['type']]
    step = v.get('byteStride', struct.calcsize(kind) * width)
    at = v.get('byteOffset', 0) + a.get('byteOffset', 0)
    return [struct.unpack_from('<%d%s' % (width, kind), data, at + step * k) for k in range(a['count'])]
places, corners, labels, first, offset = [], [], [], 0, 0
for mesh in doc['meshes']:
    parts = mesh['extensions']['CUTIS_parts']
    for p, label in zip(mesh['primitives'], parts['labels']):
        places += accessor(p['attributes']['POSITION'])
        corners += [first + i[0] for i in accessor(p['indices'])]
        labels += [l[0] for l in accessor(label)]
        first = len(places)
triangles = [corners[i:i + 3] for i in range(0, len(corners), 3)]
assert len(labels) == len(triangles)
with open(folder + '/b.off', 'w') as f:
    f.write('OFF\n%d %d 0\n' % (len(places), len(triangles)))
    f.writelines('%.9g %.9g %.9g\n' % p for p in places)
    f.writelines('3 %d %d %d\n' % tuple(t) for t in triangles)
with open(folder + '/b.ply', 'w') as f:
    f.write('ply\nformat ascii 1.0\nelement vertex %d\nproperty float x\nproperty float y\nproperty float z\nelement face %d\n'
            'property list uchar int vertex_indices\nend_header\n' % (len(places), len(triangles)))
    f.writelines('%.9g %.9g %.9g\n' % p for p in places)
    f.writelines('3 %d %d %d\n' % tuple(t) for t in triangles)
open(folder + '/b.seg', 'w').writelines('%d\n' % l for l in labels)
END
for end in off ply; do "$CUTIS" skeleton "$T/b.$end" --parts "file:$T/b.seg" -q -o "$T/rig_$end.glb" 2>/dev/null; done
equals "a labelled OFF makes the rig that PLY makes" "$(cksum <"$T/rig_off.glb")" "$(cksum <"$T/rig_ply.glb")"

# STL: what deform writes is what it writes as PLY, triangle by triangle.
"$CUTIS" deform "$T/biped.glb" --clip bend --frames 20:22 -q -o "$T/pose.stl"
"$CUTIS" deform "$T/biped.glb" --clip bend --frames 20 -q -o "$T/pose.ply"
equals "several frames are numbered" "$(cd "$T" && ls pose*.stl | tr '\n' ' ')" "pose_0020.stl pose_0021.stl "
"$CUTIS" measure "$T/pose_0020.stl" --json >"$T/stl.json"
"$CUTIS" measure "$T/pose.ply" --json >"$T/ply.json"
/usr/bin/python3 -c "
import json
a, b = json.load(open('$T/stl.json')), json.load(open('$T/ply.json'))
print(abs(a['volume'] - b['volume']) < 1e-9 and a['triangles'] == b['triangles'] and a['watertight'] and a['boundary_edges'] == 0)" >"$T/seen"
equals "deform -o x.stl has the posed body, closed" "$(cat "$T/seen")" True
"$CUTIS" convert "$T/biped.glb" --ascii -o "$T/a.stl" >/dev/null 2>"$T/stderr"
equals "what STL cannot hold is said" "$(grep -c 'cannot hold 41 joints, 5 clips' "$T/stderr") $(head -c 5 "$T/a.stl")" "1 solid"
exit $failed
