# What the page costs: download, start, frames, memory over loads, large files; axe. CUTIS_SOAK=1: 201 loads, files of 56 and 28 MB.
. "$(dirname "$0")/studio.sh"
needs chromium
node "$HERE/cost.mjs" "$CUTIS" "$BUILD/studio" "$T"
