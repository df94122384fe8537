# The studio's engine (WebAssembly, under node) against the command: files of every verb, bits of every method, lines of bad files.
. "$(dirname "$0")/studio.sh"
node "$HERE/engine.mjs" "$BUILD/studio" "$CUTIS" "$T" "$HERE/../../fuzz/seeds" || echo "not ok the engine's tests run to their end: node failed"
