# The same bytes everywhere: models, weights and every deformer, hashed, for several thread counts and every instruction
# set, against hashes that are checked in (golden_hashes.txt). CUTIS_UPDATE_HASHES=1 writes them anew: look at why first.
. "$(dirname "$0")/common.sh"
golden=$(dirname "$0")/golden_hashes.txt
hash() { sha256sum <"$1" | cut -c1-16; }

# settled NAME FILE: the hash is the golden one.
settled() {
    now=$(hash "$2")
    if [ -n "$CUTIS_UPDATE_HASHES" ]; then echo "$now $1" >>"$T/golden"; ok "$1 is written down"; return; fi
    want=$(awk -v n="$1" 'substr($0, 18) == n { print $1 }' "$golden")
    if [ "$now" = "$want" ]; then ok "$1 has its golden hash"; else not_ok "$1 has its golden hash" "$now, not ${want:-there}"; fi
}

# everywhere NAME MODEL ARGUMENTS...: one hash for all thread counts and instruction sets, and it is the golden one.
everywhere() {
    claim=$1 model=$2; shift 2
    "$CUTIS" deform "$model" "$@" --threads 1 --isa scalar -q -o "$T/one.npy" --normals "$T/one_n.npy" || { not_ok "$claim" "deform failed"; return; }
    cat "$T/one.npy" "$T/one_n.npy" >"$T/one"
    for variant in ${CUTIS_HASH_VARIANTS:-1:auto 2:auto 3:sse2 64:avx2 17:avx512 5:neon}; do # threads and instructions
        "$CUTIS" deform "$model" "$@" --threads "${variant%:*}" --isa "${variant#*:}" -q -o "$T/other.npy" --normals "$T/other_n.npy" 2>"$T/why" ||
            { status=$?; grep -q 'this machine or build has no' "$T/why" || not_ok "$claim with ${variant}" "exit $status: $(cat "$T/why")"; continue; }
        cat "$T/other.npy" "$T/other_n.npy" >"$T/other"
        cmp -s "$T/one" "$T/other" || { not_ok "$claim" "other bits with $variant (threads, isa)"; return; }
    done
    settled "$claim" "$T/one"
}

# Making a body takes longest. Where starts are slow, all but the arm come from CUTIS_HASH_BODIES, a command of this machine's own.
maker=${CUTIS_HASH_BODIES:-$CUTIS}
"$CUTIS" synth arm --size low -q -o "$T/arm.glb"
settled "synth arm" "$T/arm.glb"
for body in biped quadruped; do
    "$maker" synth $body --size low -q -o "$T/$body.glb"
    settled "synth $body" "$T/$body.glb" >"$T/settled"
    if [ "$maker" = "$CUTIS" ] || ! grep -q '^ok' "$T/settled"; then cat "$T/settled"
    else skip "synth $body" "this machine's command made it, which takes a tenth of the time; ./dev soak makes it there"; fi
done
for method in lbs rigid sbs dqs cor; do
    everywhere "$method of the arm" "$T/arm.glb" --clip bend --frames 20:28 --method $method
    everywhere "$method of the biped" "$T/biped.glb" --clip walk --frames 3:9 --method $method
done
everywhere "weighted sbs" "$T/arm.glb" --clip bend --frames 20:24 --method sbs --weighted
"$maker" synth arm --size low --examples "$T/ex" -q -o "$T/sculpted.glb"
"$CUTIS" fit "$T/sculpted.glb" --poses examples --shapes "$T/ex/examples.npy" -q -o "$T/fitted.glb"
settled "fit" "$T/fitted.glb"
for method in psd wpsd; do everywhere "$method" "$T/fitted.glb" --clip examples --method $method; done
"$CUTIS" reduce "$T/biped.glb" --influences 2 --poses walk --method poisson -q -o "$T/reduced.glb" && settled "reduce" "$T/reduced.glb"
"$maker" synth arm --vertices 1000 -q -o "$T/small.glb"
"$CUTIS" reduce "$T/small.glb" --influences 2 -q -o "$T/reduced.glb" && settled "reduce by moments, a small arm" "$T/reduced.glb"
if [ "$maker" = "$CUTIS" ]; then "$CUTIS" reduce "$T/biped.glb" --influences 2 -q -o "$T/reduced.glb" && settled "reduce by moments" "$T/reduced.glb"
else skip "reduce by moments" "a minute where starts are slow; the small arm is there, ./dev soak does this one"; fi
"$CUTIS" handles "$T/quadruped.glb" --skeleton --voxels 48 -q -o "$T/bound.glb" && settled "handles --skeleton" "$T/bound.glb"

# The other deformers: a cage of eight controls, handles with virtual ones, blending patches.
cat >"$T/box.obj" <<'OBJ'
v -2 -2 -2
v 2 -2 -2
v -2 2 -2
v 2 2 -2
v -2 -2 2
v 2 -2 2
v -2 2 2
v 2 2 2
f 1 3 4 2
f 5 6 8 7
f 1 2 6 5
f 3 7 8 4
f 1 5 7 3
f 2 4 8 6
OBJ
sed '8s/.*/v 2.5 2.3 1.7/; 1s/.*/v -2 -1.6 -2.4/' "$T/box.obj" >"$T/moved.obj"
"$CUTIS" cage "$T/arm.glb" --cage "$T/box.obj" -q -o "$T/caged.glb" && settled "cage" "$T/caged.glb"
everywhere "cage of the arm" "$T/caged.glb" --method cage --cage-poses "$T/box.obj,$T/moved.obj"
cat >"$T/handles.json" <<'JSON'
{"handles": [{"name": "tail", "kind": "point", "position": [0, 0.6, -0.5]}, {"name": "head", "kind": "point", "position": [0, 0.7, 0.5]}],
 "poses": [{"name": "nod", "handles": {"head": {"rotation": [0, 0, 0.6, 0.8], "translation": [0, -0.1, 0]}}}]}
JSON
"$CUTIS" handles "$T/quadruped.glb" --handles "$T/handles.json" --weighting virtual --voxels 48 -q -o "$T/virtual.glb" && settled "handles" "$T/virtual.glb"
everywhere "handles-rigid" "$T/virtual.glb" --clip nod --method handles-rigid
patched() { "$CUTIS" deform "$T/arm.glb" --clip bend --frames 20:28 --method patches --fixed -q "$@"; }
patched --threads 1 -o "$T/one.npy" && patched --threads 3 -o "$T/three.npy" && cmp -s "$T/one.npy" "$T/three.npy" ||
    not_ok "patches of the arm" "other bits with 3 threads"
settled "patches of the arm" "$T/one.npy"
# Bands that overlap, with normals: vectors of every width make the frames of plain C.
banded() { "$CUTIS" deform "$T/biped.glb" --clip walk --frames 9 --method patches --force -q "$@"; }
banded --isa scalar -o "$T/one.ply"
for isa in sse2 avx2 avx512 neon; do
    banded --isa $isa -o "$T/other.ply" 2>"$T/why" || { grep -q 'this machine or build has no' "$T/why" || not_ok "patches of the biped with $isa" "$(cat "$T/why")"; continue; }
    cmp -s "$T/one.ply" "$T/other.ply" || not_ok "patches of the biped" "other bits with $isa"
done
settled "patches of the biped" "$T/one.ply"
if [ -n "$CUTIS_UPDATE_HASHES" ]; then mv "$T/golden" "$golden"; fi
exit $failed
