# The studio's engine (WebAssembly, under node) against the command: positions of every built-in character and method.
. "$(dirname "$0")/studio.sh"
node "$HERE/engine.mjs" "$BUILD/studio/engine.wasm" "$CUTIS" "$T" || echo "not ok the engine's tests run to their end: node failed"
