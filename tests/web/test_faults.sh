# Faults that users met, one test each, in Debian's Chromium.
. "$(dirname "$0")/studio.sh"
needs chromium
node "$HERE/faults.mjs" "$CUTIS" "$BUILD/studio" "$T"
