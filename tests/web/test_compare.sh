# Comparing in the page against the command's figures; patches, cages, bars, drivers, shapes to learn from.
. "$(dirname "$0")/studio.sh"
needs chromium
node "$HERE/compare.mjs" "$CUTIS" "$BUILD/studio" "$T"
