#!/bin/sh
# cutis rig at the command line: what is written and said, kinds that are told, motion, and bad input.
. "$(dirname "$0")/common.sh"

"$CUTIS" synth family --kind human --seed 103 --vertices 3000 --unrigged -q -o "$T/bare.glb" || { not_ok "a body" "synth failed"; exit 1; }
passes "a body is rigged" "$CUTIS" rig "$T/bare.glb" -o "$T/body.glb"
"$CUTIS" rig "$T/bare.glb" --json -o "$T/body.glb" >"$T/report"
holds "the report has every key, and says what it is" "$T/report" "set(d) == {'file', 'output', 'kind', 'deviation', 'second', 'second_deviation', 'joints', 'parts', 'moved_inside', 'seconds', 'problems', 'notes'} and d['kind'] == 'human' and d['joints'] == 21 and d['parts'] == 14 and d['problems'] == [] and d['deviation'] < d['second_deviation']"
passes "what it writes is sound" "$CUTIS" check "$T/body.glb"
"$CUTIS" deform "$T/bare.glb" --method lbs -q -o "$T/before.npy" 2>/dev/null || "$CUTIS" deform "$T/bare.glb" --method rigid -q -o "$T/before.npy"
"$CUTIS" deform "$T/body.glb" --method lbs -q -o "$T/after.npy"
/usr/bin/python3 - "$T" >"$T/verdict" 2>&1 <<'PY'
import sys
import numpy as np
a, b = (np.load(f"{sys.argv[1]}/{n}.npy").reshape(-1, 3) for n in ("before", "after"))
print("same" if a.shape == b.shape and np.abs(a - b).max() < 1e-5 else f"apart {a.shape} {b.shape}")
PY
equals "at rest every vertex is where it was" "$(tail -1 "$T/verdict")" same
"$CUTIS" rig "$T/bare.glb" --threads 1 -q -o "$T/one.glb" && "$CUTIS" rig "$T/bare.glb" --threads 3 -q -o "$T/three.glb"
passes "the same bytes on one thread and three" cmp "$T/one.glb" "$T/three.glb"
"$CUTIS" synth biped --size low -q -o "$T/biped.glb"
passes "a motion goes on it" "$CUTIS" rig "$T/bare.glb" --motion "$T/biped.glb" -q -o "$T/walk.glb"
"$CUTIS" info "$T/walk.glb" --json >"$T/info"
holds "as a clip" "$T/info" "len(d['clips']) == 1 and d['clips'][0]['duration'] > 0.5"
"$CUTIS" rig "$T/bare.glb" --kind octopus --json -o "$T/wrong.glb" >"$T/report" 2>"$T/stderr"
equals "a person is no octopus: exit 1, one line, nothing written" "$? $(wc -l <"$T/stderr") $(ls "$T/wrong.glb" 2>/dev/null)" "1 1 "
fails 1 "a rig that is there stays" "has a skin already" "$CUTIS" rig "$T/biped.glb" -o "$T/out/a.glb"
fails 2 "formats without weights are refused" "\.glb" "$CUTIS" rig "$T/bare.glb" -o "$T/out/a.obj"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >"$T/tetra.obj"
fails 1 "four triangles are no body" "the body of a|limbs are not those" "$CUTIS" rig "$T/tetra.obj" -o "$T/out/a.glb"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\n' >"$T/points.obj"
"$CUTIS" rig "$T/points.obj" -o "$T/none.glb" >"$T/stdout" 2>"$T/stderr"
equals "nor are points" "$? $(tail -1 "$T/stderr" | grep -c 'no triangles') $(ls "$T/none.glb" 2>/dev/null)" "1 1 "
exit $failed
