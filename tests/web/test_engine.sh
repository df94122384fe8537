# The studio's engine (WebAssembly, under node) against the command: files of every verb, bits of every method, lines of bad files.
# And the page's modules use no name that is not there.
. "$(dirname "$0")/studio.sh"
status=0
node "$HERE/engine.mjs" "$BUILD/studio" "$CUTIS" "$T" "$HERE/../../fuzz/seeds" || {
    echo "not ok all claims of the engine's tests hold, to their end: node failed"
    status=1
}
node --expose-internals "$HERE/names.mjs" "$HERE"/../../web/src/*.js || {
    echo "not ok every name of the page's modules is declared: node failed"
    status=1
}
exit $status
