# `cutis view`: what it serves, what it refuses, how it starts and stops.
. "$(dirname "$0")/studio.sh"
node "$HERE/server.mjs" "$CUTIS" "$BUILD/studio" "$T"
