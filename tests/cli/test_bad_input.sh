# What bad input gets: one line that names the file, exit 1, no output file.
. "$(dirname "$0")/common.sh"
bad=$T/bad
mkdir "$bad" && /usr/bin/python3 "$(dirname "$0")/make_bad.py" "$bad" || { not_ok "make the bad files" "python failed"; exit 1; }

passes "the good file is good" "$CUTIS" deform "$bad/good.gltf" --clip turn -o "$T/good.npy"
for name in cycle two_parents index_out_of_range joint_out_of_range node_out_of_range accessor_out_of_range view_too_long \
            nan_bind nan_position nan_key infinite_translation nan_weight negative_weight singular_bind truncated empty; do
    fails 1 "deform refuses $name" "$name.gltf: " "$CUTIS" deform "$bad/$name.gltf" -o "$T/out/a.npy"
    fails 1 "convert refuses $name" "$name.gltf: " "$CUTIS" convert "$bad/$name.gltf" -o "$T/out/a.glb"
    fails 1 "info refuses $name" "$name.gltf: " "$CUTIS" info "$bad/$name.gltf" --json
done
# What the glTF specification settles is taken as it says.
passes "deform takes no_binds" "$CUTIS" deform "$bad/no_binds.gltf" --clip turn -o "$T/x.npy"
# What has one safe meaning is taken, and said once; what is written of it is right (tests/io/gltf_faults.py has them all).
for name in sums_to_two unweighted times_backwards; do
    "$CUTIS" deform "$bad/$name.gltf" --clip turn -o "$T/x.npy" >/dev/null 2>"$T/stderr"; code=$?
    equals "deform takes $name and says so" "$code $(grep -c '^cutis: note: .*gltf: /.*\[[A-Z_]*\]$' "$T/stderr") $(wc -l <"$T/stderr")" "0 1 1"
    "$CUTIS" convert -q "$bad/$name.gltf" -o "$T/$name.glb"
    passes "what convert makes of $name is right" "$CUTIS" check "$T/$name.glb"
done
# A body whose weights sum to 1.3: what retarget passed on once.
"$CUTIS" synth biped --size low -q -o "$T/body.glb" && /usr/bin/python3 - "$T/body.glb" "$T/heavy.glb" <<'END'
import json, struct, sys
raw = bytearray(open(sys.argv[1], 'rb').read())
size = struct.unpack_from('<I', raw, 12)[0]
gltf = json.loads(raw[20:20 + size])
for mesh in gltf['meshes']:
    for primitive in mesh['primitives']:
        for name, index in primitive['attributes'].items():
            accessor = gltf['accessors'][index]
            view = gltf['bufferViews'][accessor['bufferView']]
            start = 28 + size + view.get('byteOffset', 0) + accessor.get('byteOffset', 0)
            if name.startswith('WEIGHTS_'):
                numbers = struct.unpack_from(f'<{4 * accessor["count"]}f', raw, start)
                struct.pack_into(f'<{len(numbers)}f', raw, start, *[1.3 * x for x in numbers])
open(sys.argv[2], 'wb').write(raw)
END
fails 1 "check finds weights that sum to 1.3" 'ACCESSOR_WEIGHTS_NON_NORMALIZED' "$CUTIS" check -q "$T/heavy.glb"
"$CUTIS" retarget -q "$T/heavy.glb" --motion "$T/body.glb" -o "$T/moved.glb"
passes "retarget does not pass them on" "$CUTIS" check "$T/moved.glb"
# What can be repaired is, on request, and the result is a good file.
for name in nan_weight negative_weight singular_bind times_backwards; do
    "$CUTIS" check "$bad/$name.gltf" >"$T/stdout" 2>"$T/stderr"; code=$?
    equals "check finds $name" "$code $(wc -l <"$T/stderr")" "1 1"
    if passes "check --fix repairs $name" "$CUTIS" check "$bad/$name.gltf" --fix -o "$T/$name.glb"; then
        passes "$name is good afterwards" "$CUTIS" deform "$T/$name.glb" -o "$T/x.npy"
    fi
done
for name in sums_to_two unweighted; do
    "$CUTIS" check "$bad/$name.gltf" --json >"$T/report" 2>/dev/null
    holds "check reports $name" "$T/report" "len(d['issues']) > 0 and all(i['code'] == i['code'].upper() for i in d['issues'])"
done

good=$bad/good.gltf
fails 1 "no such file" 'nothing.glb: ' "$CUTIS" info "$bad/nothing.glb"
fails 1 "a folder" 'bad' "$CUTIS" info "$bad"
printf 'what is this' >"$bad/noise.xyz"
fails 1 "a file of no known kind" 'noise.xyz: ' "$CUTIS" info "$bad/noise.xyz"
fails 1 "unknown clip lists the clips" 'turn' "$CUTIS" deform "$good" --clip jump -o "$T/out/a.npy"
fails 1 "clip index out of range" 'turn' "$CUTIS" deform "$good" --clip 5 -o "$T/out/a.npy"
fails 1 "missing output folder" 'nowhere does not exist' "$CUTIS" deform "$good" -o "$T/nowhere/a.npy"
fails 1 "missing folder of normals" 'nowhere does not exist' "$CUTIS" deform "$good" --normals "$T/nowhere/n.npy" -o "$T/out/a.npy"
fails 1 "missing output folder of convert" 'nowhere does not exist' "$CUTIS" convert "$good" -o "$T/nowhere/a.glb"
fails 1 "missing output folder of synth" 'nowhere does not exist' "$CUTIS" synth cylinder -o "$T/nowhere/a.glb"
fails 1 "output is a folder" 'folder' "$CUTIS" deform "$good" -o "$T"
fails 2 "frames backwards" 'no frame' "$CUTIS" deform "$good" --clip turn --frames 5:2 -o "$T/out/a.npy"
fails 2 "frames that are none" 'want A:B' "$CUTIS" deform "$good" --clip turn --frames x:y -o "$T/out/a.npy"
fails 2 "frames of no clip, and what there is" 'frames wants --clip.*turn' "$CUTIS" deform "$good" --frames 5 -o "$T/out/a.npy"
fails 2 "a rate of no clip" 'fps wants --clip' "$CUTIS" deform "$good" --fps 60 -o "$T/out/a.npy"
fails 2 "measure: a time in no clip" 'goes with --clip' "$CUTIS" measure "$good" --time 1
fails 2 "measure: weighted without sbs" 'sbs' "$CUTIS" measure "$good" --weighted
fails 2 "measure: a device of unknown kind, even at rest" 'want cpu' "$CUTIS" measure "$good" --device gpu
fails 2 "render: a time in no clip" 'goes with --clip' "$CUTIS" render "$good" --time 1 -o "$T/out/a.png"
fails 2 "clip and pose" 'exclude' "$CUTIS" deform "$good" --clip turn --pose "$bad/pose.json" -o "$T/out/a.npy"
fails 1 "pose of an unknown joint" 'nose' "$CUTIS" deform "$good" --pose "$bad/pose_unknown.json" -o "$T/out/a.npy"
fails 1 "pose with NaN" 'pose_nan.json: ' "$CUTIS" deform "$good" --pose "$bad/pose_nan.json" -o "$T/out/a.npy"
fails 1 "pose with a zero rotation" 'pose_zero.json: ' "$CUTIS" deform "$good" --pose "$bad/pose_zero.json" -o "$T/out/a.npy"
fails 1 "no such pose" 'none.json: ' "$CUTIS" deform "$good" --pose "$bad/none.json" -o "$T/out/a.npy"
fails 1 "too many frames for glTF" '256' "$CUTIS" deform "$good" --clip turn --frames 0:300 -o "$T/out/a.glb"
fails 1 "no such device" 'cuda:77' "$CUTIS" deform "$good" --device cuda:77 -o "$T/out/a.npy"
fails 2 "weighted without sbs" 'sbs' "$CUTIS" deform "$good" --weighted -o "$T/out/a.npy"
fails 2 "blend without a method" 'method' "$CUTIS" deform "$good" --blend x.npy -o "$T/out/a.npy"
fails 1 "blend of the wrong size" 'numbers for 3 vertices' "$CUTIS" deform "$good" --method dqs --blend "$T/good.npy" -o "$T/out/a.npy"
fails 1 "a body that cannot be so small" 'biped: ' "$CUTIS" synth biped --vertices 10 -o "$T/out/a.glb"
fails 1 "convert to a format that cannot hold it" 'a.bvh: |a.npy: ' "$CUTIS" convert "$good" -o "$T/out/a.npy"
fails 2 "check -o without --fix" 'for --fix' "$CUTIS" check "$good" -o "$T/out/a.glb"
printf 'P\n1 2\n' >"$T/v.ply"
fails 1 "a lying PLY" 'v.ply: ' "$CUTIS" info "$T/v.ply"
# /proc takes no new files from anybody, root included
fails 1 "an output that cannot be written" '/proc/' "$CUTIS" convert "$good" -o /proc/a.glb
fails 1 "an array that cannot be written" '/proc/' "$CUTIS" deform "$good" -o /proc/a.npy
if [ "$(id -u)" -ne 0 ]; then
    mkdir "$T/locked"; chmod 555 "$T/locked"
    fails 1 "an output in a folder that may not be written" 'locked' "$CUTIS" convert "$good" -o "$T/locked/a.glb"
else skip "an output in a folder that may not be written" "root may write in all of them"; fi
if [ -e /dev/full ]; then
    "$CUTIS" info "$good" >/dev/full 2>"$T/stderr"; code=$?
    equals "a full standard output is a failure" "$code $(wc -l <"$T/stderr")" "1 1"
else skip "a full standard output is a failure" "there is no /dev/full"; fi

# Ctrl-C: stops, says so in one line, leaves nothing. timeout sends it 0.3 s into a run that would take much longer.
rm -rf "$T/out"; mkdir "$T/out"
timeout -s INT 0.3 "$CUTIS" deform "$good" --clip turn --frames 0:90000000 -o "$T/out/a.npy" >"$T/stdout" 2>"$T/stderr"
equals "Ctrl-C stops cleanly" "$(wc -l <"$T/stderr") $(grep -c stopped "$T/stderr") $(ls -A "$T/out" | wc -l)" "1 1 0"
exit $failed
