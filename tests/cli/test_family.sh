# cutis synth family: a body, its truth in a second file, what is said, and bad options. What the body is like is judged in
# tests/synth/test_family.c; here the Khronos validator, the shared judge and cutis skeleton read it.
. "$(dirname "$0")/common.sh"
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
family() { "$CUTIS" synth family --vertices 2000 "$@"; }

passes "a body is made" family --kind quadruped --seed 5 --scan off --pose t --json -o "$T/body.glb"
cp "$T/stdout" "$T/report"
holds "the report says what was drawn" "$T/report" "(d['body'], d['kind'], d['seed'], d['pose'], d['scan'], d['clips']) == ('family', 'quadruped', 5, 't', False, []) and d['joints'] > 15 and 'hind_upper_l' in d['parts'] and d['vertices'] == 2000 and d['triangles'] == 3996"
passes "check finds nothing in it" "$CUTIS" check "$T/body.glb" --influences 8
"$CUTIS" measure "$T/body.glb" --json >"$T/measured" 2>/dev/null
holds "measure: closed, a sphere, nothing crosses" "$T/measured" "d['watertight'] is True and d['euler'] == 2 and d['boundary_edges'] == 0 and d['self_intersections'] == 0"
if [ -e "$ROOT/tests/node_modules/gltf-validator" ]; then
    (cd "$ROOT/tests" && node -e "require('gltf-validator').validateBytes(new Uint8Array(require('fs').readFileSync(process.argv[1]))).then(r => console.log(r.issues.numErrors, r.issues.numWarnings))" "$T/body.glb") >"$T/issues" 2>&1
    equals "the Khronos validator has no error and no warning" "$(cat "$T/issues")" "0 0"
else skip "the Khronos validator has no error and no warning" "tests/node_modules is not there (./dev installs it)"; fi

passes "the exam's body and its labels" family --kind bear --seed 9 --unrigged --truth "$T/bear.seg" -o "$T/bear.obj"
equals "the bare body is a mesh and nothing else" "$(grep -c '^[gou] ' "$T/bear.obj") $("$CUTIS" info "$T/bear.obj" --json | json /dev/stdin "d['joints']")" "0 0"
equals "a label for every triangle" "$(wc -l <"$T/bear.seg")" "$(grep -c '^f ' "$T/bear.obj")"
equals "all eight parts are among them" "$(sort -nu "$T/bear.seg" | tr '\n' ' ')" "0 1 2 3 4 5 6 7 "
passes "the truth as a model" family --kind bear --seed 9 --unrigged --truth "$T/truth.glb" -o "$T/bare.glb"
"$CUTIS" convert "$T/truth.glb" -q -o "$T/truth.obj" 2>/dev/null
equals "has the bare body's vertices, to the bit" "$(grep '^v ' "$T/truth.obj" | sha256sum)" "$(grep '^v ' "$T/bear.obj" | sha256sum)"
"$CUTIS" convert "$T/bare.glb" -q -o "$T/bare.obj" 2>/dev/null
equals "and its triangles" "$(grep '^f ' "$T/bare.obj" | sha256sum)" "$(grep '^f ' "$T/bear.obj" | sha256sum)"
family --kind bear --seed 9 --pose a --scan off --unrigged --truth "$T/whole.seg" -q -o "$T/whole.obj"
"$CUTIS" skeleton "$T/whole.obj" --parts "file:$T/whole.seg" --json -o "$T/rig.glb" >"$T/skeleton" 2>"$T/stderr"
holds "cutis skeleton makes a rig of the true parts" "$T/skeleton" "len(d['parts']) == 8"
family --kind bear --seed 9 --unrigged -q -o "$T/again.obj"
equals "the same seed gives the same bytes" "$(grep -v '^mtllib ' "$T/again.obj" | sha256sum)" "$(grep -v '^mtllib ' "$T/bear.obj" | sha256sum)"

fails 2 "an unknown kind" 'dragon' family --kind dragon -o "$T/out/x.glb"
fails 2 "an unknown pose" 'handstand' family --pose handstand -o "$T/out/x.glb"
fails 1 "too few vertices" '1999.*2000 to 4000000' "$CUTIS" synth family --vertices 1999 -o "$T/out/x.glb"
fails 2 "a size" '--size is not for family' "$CUTIS" synth family --size low -o "$T/out/x.glb"
fails 2 "a count" '--count is for crowd' family --count 3 -o "$T/out/x.glb"
fails 2 "a truth of no known kind" 'truth.*want a name that ends in' family --truth "$T/out/x.txt" -o "$T/out/x.glb"
fails 2 "weights of what has none" 'unrigged writes no weights' family --unrigged --weights u8 -o "$T/out/x.glb"
fails 2 "a family's option for another body" '--kind is for family' "$CUTIS" synth arm --kind bear -o "$T/out/x.glb"
fails 2 "a seed for another body" '--seed is for crowd and family' "$CUTIS" synth arm --seed 3 -o "$T/out/x.glb"
exit $failed
