# The page in Debian's Chromium, step by step as a user goes.
. "$(dirname "$0")/studio.sh"
needs chromium
twice node "$HERE/browser.mjs" "$CUTIS" "$BUILD/studio" "$T"
