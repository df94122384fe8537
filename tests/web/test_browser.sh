# The page in Debian's Chromium, step by step as a user goes.
. "$(dirname "$0")/studio.sh"
needs chromium
node "$HERE/browser.mjs" "$CUTIS" "$BUILD/studio" "$T"
