#!/bin/sh
# Makes the pictures of rig.md: sh docs/guide/rig_pictures.sh [FOLDER]   (CUTIS=build/cutis; the page is photographed where there is chromium)
set -e
CUTIS=$(realpath "${CUTIS:-build/cutis}")
out=${1:-docs/guide}
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export LIBGL_ALWAYS_SOFTWARE=1 # the same pixels on every machine
"$CUTIS" synth family --kind human --seed 302 --vertices 12000 --unrigged -q -o "$T/body.obj"
"$CUTIS" synth biped --size low -q -o "$T/walk.glb"
(cd "$T" && "$CUTIS" rig body.obj --motion walk.glb --report rig.html -q -o rig.glb)
draw() { "$CUTIS" render "$T/$1" "$2" "$3" --camera 38,8 --size 400x440 -q -o "$T/$4.png"; }
draw body.obj --show wire bare
draw rig.glb --show parts,skeleton parts
"$CUTIS" render "$T/rig.glb" --clip walk --time 0 --camera 38,8 --size 400x440 -q -o "$T/walk.png"
"$(dirname "$CUTIS")/tools/pictures_sheet" "$out/rig_body.png" 3 "$T/bare.png" "a body as it sits" "$T/parts.png" "its parts and joints" "$T/walk.png" "walking"
command -v chromium >/dev/null || { echo "no chromium: rig_report.png stays as it is"; exit 0; }
chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --force-device-scale-factor=0.7 --window-size=1240,1900 --screenshot="$T/page.png" "file://$T/rig.html" 2>/dev/null
cp "$T/page.png" "$out/rig_report.png"
