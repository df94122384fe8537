#!/bin/sh
# The golden hashes of the command (tests/cli/golden_hashes.txt) from the page's engine, under node: ./dev soak. In the gate test_engine.sh
# compares its files and frames with the command's.
. "$(dirname "$0")/studio.sh"
printf '#!/bin/sh\nexec node "%s/command.mjs" "%s/studio/engine.wasm" "$@"\n' "$HERE" "$(cd "$BUILD" && pwd)" >"$T/cutis"
chmod +x "$T/cutis"
CUTIS=$T/cutis CUTIS_HASH_VARIANTS='1:auto' sh "$HERE/../cli/test_hashes.sh" >"$T/said" 2>&1
status=$?
sed 's/^\(ok\|not ok\|skip\) /\1 wasm: /' "$T/said"
exit $status
