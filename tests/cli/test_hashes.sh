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
    $CUTIS deform "$model" "$@" --threads 1 --isa scalar -q -o "$T/one.npy" --normals "$T/one_n.npy" || { not_ok "$claim" "deform failed"; return; }
    cat "$T/one.npy" "$T/one_n.npy" >"$T/one"
    for variant in "1 auto" "2 auto" "3 sse2" "64 avx2" "17 avx512"; do
        set -- "$@"
        $CUTIS deform "$model" "$@" --threads "${variant% *}" --isa "${variant#* }" -q -o "$T/other.npy" --normals "$T/other_n.npy" 2>"$T/why" ||
            { grep -q 'this machine or build has no' "$T/why" || not_ok "$claim with ${variant}" "$(cat "$T/why")"; continue; }
        cat "$T/other.npy" "$T/other_n.npy" >"$T/other"
        cmp -s "$T/one" "$T/other" || { not_ok "$claim" "other bits with $variant (threads, isa)"; return; }
    done
    settled "$claim" "$T/one"
}

for body in arm biped quadruped; do
    $CUTIS synth $body --size low -q -o "$T/$body.glb"
    settled "synth $body" "$T/$body.glb"
done
for method in lbs rigid sbs dqs cor; do
    everywhere "$method of the arm" "$T/arm.glb" --clip bend --frames 20:28 --method $method
    everywhere "$method of the biped" "$T/biped.glb" --clip walk --frames 3:9 --method $method
done
everywhere "weighted sbs" "$T/arm.glb" --clip bend --frames 20:24 --method sbs --weighted
$CUTIS synth arm --size low --examples "$T/ex" -q -o "$T/sculpted.glb"
$CUTIS fit "$T/sculpted.glb" --poses examples --shapes "$T/ex/examples.npy" -q -o "$T/fitted.glb"
settled "fit" "$T/fitted.glb"
for method in psd wpsd; do everywhere "$method" "$T/fitted.glb" --clip examples --method $method; done
$CUTIS reduce "$T/biped.glb" --influences 2 --poses walk -q -o "$T/reduced.glb" && settled "reduce" "$T/reduced.glb"
$CUTIS handles "$T/quadruped.glb" --skeleton --voxels 48 -q -o "$T/bound.glb" && settled "handles --skeleton" "$T/bound.glb"
if [ -n "$CUTIS_UPDATE_HASHES" ]; then mv "$T/golden" "$golden"; fi
exit $failed
