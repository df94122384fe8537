#!/bin/sh
# Compressed twins: files that gltf-transform and npm's meshoptimizer compressed give the skinned positions of their plain ones, and
# so do ours when Cutis and gltf-transform read them; the validator finds ours clean, plain or compressed; the error that is stated
# holds; undecoded data is not judged.
here=$(dirname "$0")
modules=${CUTIS_NODE_MODULES:-$here/../node_modules}
for need in "$modules/@gltf-transform" "$modules/meshoptimizer" "$modules/draco3d" "$modules/gltf-validator"; do
    if ! command -v node > /dev/null || [ ! -d "$need" ]; then
        echo "skip twins: node or $need is not there"
        exit 0
    fi
done
for need in "$CUTIS" "$BUILD/libexec/cutis/cutis-draco"; do
    if [ ! -x "$need" ]; then
        echo "skip twins: $need is not there"
        exit 0
    fi
done
CUTIS_NODE_MODULES=$(cd "$modules" && pwd)
export CUTIS_NODE_MODULES
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
result() { # NAME TEXT: empty is good
    if [ -z "$2" ]; then
        echo "ok $1"
    else
        echo "not ok $1: $(echo "$2" | head -1)"
        failed=1
    fi
}

mkdir "$folder/in"
"$CUTIS" synth biped --size low --influences 4 -q -o "$folder/in/biped.glb"
"$CUTIS" synth arm --size low -q -o "$folder/in/arm.glb"
set -- "$folder"/in/*.glb
assets=$SHARED/data/gltf-sample-assets
if [ -d "$assets" ]; then
    set -- "$@" "$assets"/*/glTF-Binary/*.glb "$assets"/SimpleSkin/glTF/SimpleSkin.gltf "$assets"/SimpleMorph/glTF/SimpleMorph.gltf
else
    echo "skip twins_samples: ../shared/data/gltf-sample-assets is not there"
fi
result twins_made "$(node "$here/gltf_twins.mjs" "$folder" "$@" 2>&1)"

for plain in "$folder"/*.plain.glb; do
    name=${plain%.plain.glb}
    "$CUTIS" convert "$plain" --compress meshopt --json -q -o "$name.our_meshopt.glb" > "$name.our_meshopt.json"
    "$CUTIS" convert "$plain" --compress draco --json -q -o "$name.our_draco.glb" > "$name.our_draco.json"
    "$CUTIS" convert "$plain" --compress meshopt --bits 0 -q -o "$name.our_exact.glb"
    "$CUTIS" convert "$name.edgebreaker.glb" -q -o "$name.unpacked.glb"
    "$CUTIS" convert "$name.khr.glb" -q -o "$name.unpacked_khr.glb"
    "$CUTIS" convert "$name.our_draco.glb" --compress meshopt -q -o "$name.recoded.glb"
done 2> "$folder/errors"
result twins_written "$(cat "$folder/errors")"
result twins_read_by_others "$(node "$here/gltf_twins.mjs" --unpack "$folder"/*.our_meshopt.glb "$folder"/*.our_draco.glb 2>&1)"
/usr/bin/python3 "$here/twins_compare.py" "$CUTIS" "$folder" edgebreaker=1e-4 sequential=1e-4 ext=1e-5 khr=1e-5 fallback=1e-5 || failed=1
# Filters lose what their encoder wants: here its own decoder says what is left.
mkdir "$folder/filters"
mv "$folder"/*.filter.glb "$folder/filters"
node "$here/gltf_twins.mjs" --unpack "$folder"/filters/*.filter.glb
for file in "$folder"/filters/*.filter_read.glb; do mv "$file" "${file%.filter_read.glb}.plain.glb"; done
/usr/bin/python3 "$here/twins_compare.py" "$CUTIS" "$folder/filters" filter=1e-5 || failed=1
/usr/bin/python3 "$here/twins_compare.py" "$CUTIS" "$folder" our_meshopt=1e-5 our_meshopt_read=1e-5 our_exact=0 our_draco=1e-4 \
    our_draco_read=1e-4 unpacked=1e-4 unpacked_khr=0 recoded=1.1e-4 || failed=1
/usr/bin/python3 "$here/twins_error.py" "$folder" || failed=1

find "$folder" -name '*.our_*.glb' -o -name '*.unpacked*.glb' -o -name '*.recoded.glb' | grep -v _read | node "$here/gltf_validate.mjs" > "$folder/verdicts"
result twins_valid "$(grep '"severity":0' "$folder/verdicts" | cut -c1-300)"
[ "$(wc -l < "$folder/verdicts")" -gt 10 ] || result twins_validated "only $(wc -l < "$folder/verdicts") files"

for file in "$folder"/*.edgebreaker.glb "$folder"/*.khr.glb "$folder"/*.ext.glb; do
    "$CUTIS" check "$file" > "$folder/said" 2>&1 || echo "$file: $(head -1 "$folder/said")"
    CUTIS_DRACO=/none "$CUTIS" check "$file" > "$folder/said" 2>&1 || echo "$file without a decoder: $(head -1 "$folder/said")"
done > "$folder/judged"
result twins_not_misjudged "$(cat "$folder/judged")"

file=$(ls "$folder"/*.edgebreaker.glb | head -1)
said=$(CUTIS_DRACO=/none "$CUTIS" info "$file" 2>&1) && said="it was read"
case $said in
*libdraco-dev*) result twins_without_decoder "$(echo "$said" | sed 1d)" ;;
*) result twins_without_decoder "it says: $said" ;;
esac
said=$(CUTIS_DRACO=/none "$CUTIS" convert "$file" --compress draco -o "$folder/none.glb" 2>&1) && said="it was written"
[ ! -e "$folder/none.glb" ] || said="a file is left"
case $said in
*libdraco-dev*) result twins_without_encoder "$(echo "$said" | sed 1d)" ;;
*) result twins_without_encoder "it says: $said" ;;
esac
exit $failed
