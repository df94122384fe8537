# The studio's engine (WebAssembly, under node) against the command: files of every verb, bits of every method, lines of bad files.
. "$(dirname "$0")/studio.sh"
node "$HERE/engine.mjs" "$BUILD/studio" "$CUTIS" "$T" "$HERE/../../fuzz/seeds" || {
    echo "not ok all claims of the engine's tests hold, to their end: node failed"
    exit 1
}
