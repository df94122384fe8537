#!/bin/sh
# `cutis demo`, the first thing people run: its files, and its figures against numpy.
. "$(dirname "$0")/common.sh"
here=$(cd "$(dirname "$0")" && pwd)
passes "demo" "$CUTIS" demo --vertices 2000 --json -o "$T/demo"
if cmp -s "$T/stdout" "$T/demo/demo.json"; then ok "what it prints is what it writes"; else not_ok "what it prints is what it writes" "they differ"; fi
holds "every blending method has a row" "$T/demo/demo.json" \
    "[r['method'] for r in d['rows']] == ['rigid', 'lbs', 'sbs', 'sbs_weighted', 'dqs', 'cor'] and d['vertices'] == 2000"
holds "all times are positive" "$T/demo/demo.json" \
    "all(r[k] > 0 for r in d['rows'] for k in ('ns_per_vertex', 'times_plain', 'characters_at_60_hz')) and d['plain_ns_per_vertex'] > 0"
for file in "$T"/demo/*.glb; do "$CUTIS" convert "$file" -q -o "$T/$(basename "$file" .glb).obj"; done
passes "volumes and distances are numpy's" /usr/bin/python3 "$here/compare.py" demo "$T"
"$CUTIS" deform "$T/demo/biped.glb" --clip walk --method dqs -q -o "$T/walk.npy"
if cmp -s "$T/walk.npy" "$T/demo/walk_dqs.npy"; then ok "its walk is deform's"; else not_ok "its walk is deform's" "the arrays differ"; fi
passes "demo for people" "$CUTIS" demo --vertices 1500 -o "$T/demo2"
equals "a line for each method" "$(grep -cE '^(rigid|lbs|sbs|sbs_weighted|dqs|cor) .* %' "$T/stdout")" 6
: >"$T/file"
fails 1 "a file is no folder for a demo" 'not a folder|cannot be made' "$CUTIS" demo --vertices 1500 -o "$T/file"
fails 2 "an unknown device" 'want cpu' "$CUTIS" demo --device gpu -o "$T/out/demo"
fails 1 "a body that cannot be made" '1000 vertices' "$CUTIS" demo --vertices 1000 -o "$T/out/demo"
exit $failed
