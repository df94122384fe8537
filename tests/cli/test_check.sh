# cutis check: the codes of the Khronos validator with their places, and --fix, whose result is right.
here=$(dirname "$0")
. "$here/common.sh"
/usr/bin/python3 "$here/make_bad.py" "$T" || exit 1

# codes FILE: the errors of a file, sorted, as check --json lists them.
codes() {
    "$CUTIS" check --json "$1" 2>"$T/stderr" | /usr/bin/python3 -c "
import json, sys
print(' '.join(sorted({i['code'] for i in json.load(sys.stdin)['issues'] if i['severity'] == 'error' and i['place'].startswith(('/', 'byte'))})))"
}

while read -r name code place; do
    equals "check names what is wrong with $name" "$(codes "$T/$name.gltf")" "$code"
    "$CUTIS" check "$T/$name.gltf" >"$T/stdout" 2>"$T/stderr"
    equals "check refuses $name in one line with code and place" \
        "$? $(wc -l <"$T/stderr") $(grep -c "$place.*\[$code\]" "$T/stderr")" "1 1 1"
done <<'END'
cycle NODE_LOOP /nodes/1
index_out_of_range ACCESSOR_INDEX_OOB /meshes/0/primitives/0/indices
joint_out_of_range ACCESSOR_JOINTS_INDEX_OOB /meshes/0/primitives/0/attributes/JOINTS_0
node_out_of_range UNRESOLVED_REFERENCE /skins/0/joints/1
view_too_long BUFFER_VIEW_TOO_LONG /bufferViews/0/byteLength
nan_position ACCESSOR_INVALID_FLOAT /accessors/0
sums_to_two ACCESSOR_WEIGHTS_NON_NORMALIZED /meshes/0/primitives/0/attributes/WEIGHTS_0
times_backwards ACCESSOR_ANIMATION_INPUT_NON_INCREASING /animations/0/samplers/0/input
truncated INVALID_JSON byte
END

# What --fix repairs is listed as repaired, and the file that was written has nothing wrong with it.
for name in sums_to_two negative_weight nan_weight unweighted doubled_joint times_backwards nan_key joint_out_of_range singular_bind no_scene_joints; do
    "$CUTIS" check "$T/$name.gltf" --fix -o "$T/fixed.glb" --json >"$T/stdout" 2>"$T/stderr"
    code=$?
    listed=$(grep -c '"repaired": *true' "$T/stdout")
    "$CUTIS" check "$T/fixed.glb" >"$T/again" 2>&1
    equals "check --fix repairs $name and lists it" "$code $? $([ "$listed" -gt 0 ] && echo listed)" "0 0 listed"
done
# A result that would fail its own check is not written, and what was there stays.
for name in other_scene.glb other_scene.gltf; do
    rm -rf "$T/out"; mkdir "$T/out"
    echo before >"$T/out/$name"
    "$CUTIS" check "$T/other_scene.gltf" --fix -o "$T/out/$name" >"$T/stdout" 2>"$T/stderr"
    equals "check --fix writes no $name with an error left" "$? $(wc -l <"$T/stderr") $(grep -c 'not written.*NODE_SKIN_NO_SCENE' "$T/stderr") $(ls -A "$T/out") $(cat "$T/out/$name")" "1 1 1 $name before"
done
# Formats without codes of their own: the file once, the line, the reason; no hint at what nothing was found to repair.
printf 'v 0 0 0\nhello\n' >"$T/words.obj"
"$CUTIS" check "$T/words.obj" --json >"$T/stdout" 2>"$T/stderr"
equals "check of an OBJ names file and line once" "$? $(cat "$T/stderr")" "1 cutis: $T/words.obj: line 2: unknown statement 'hello' [CORRUPT_DATA]; 1 error in all"
holds "and has them apart in JSON" "$T/stdout" "[(i['place'], i['text']) for i in d['issues']] == [('line 2', \"unknown statement 'hello'\")]"
printf 'what is this' >"$T/noise.xyz"
"$CUTIS" check "$T/noise.xyz" >"$T/stdout" 2>"$T/stderr"
equals "check of a file of no known kind names it once" "$? $(grep -c noise.xyz "$T/stderr") $(grep -c 'noise.xyz.*noise.xyz' "$T/stderr")" "1 1 0"
"$CUTIS" check "$T/good.gltf" >"$T/stdout" 2>&1
equals "check has nothing against a right file" "$?" 0
# What is not looked at is named, in both kinds of output; undecoded data is never judged.
cat >"$T/packed.gltf" <<'J'
{"asset":{"version":"2.0"},"extensionsUsed":["FOO_packing","FOO_bar"],"extensionsRequired":["FOO_packing"],
"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0,"extensions":{"FOO_bar":{}}}],"meshes":[{"primitives":[{"attributes":{"POSITION":0},
"extensions":{"FOO_packing":{"bufferView":0,"attributes":{"POSITION":0}}}}]}],
"accessors":[{"componentType":5126,"count":3,"type":"VEC3","min":[1,2,3],"max":[4,5,6]}],
"bufferViews":[{"buffer":0,"byteLength":4}],"buffers":[{"byteLength":4,"uri":"data:application/octet-stream;base64,AAAAAA=="}]}
J
"$CUTIS" check "$T/packed.gltf" --json >"$T/stdout" 2>"$T/stderr"
equals "not_checked names what a run leaves out" "$(json "$T/stdout" "[n['place'] for n in d['not_checked']], d['errors']")" "(['/extensionsRequired/0', '/extensionsUsed/0', '/extensionsUsed/1'], 0)"
"$CUTIS" check "$T/packed.gltf" 2>&1 | grep -q '^not checked: /extensionsRequired/0: ' && ok "not checked: a line in text" || not_ok "not checked: a line in text" "there is none"
exit $failed
