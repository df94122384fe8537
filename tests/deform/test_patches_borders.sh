#!/bin/sh
# Jump of normals across borders of patches: the measure against formulas, then an arm bent by it.
if ! /usr/bin/python3 -c "import numpy, scipy" 2>/dev/null; then
    echo "skip patches_borders: python3-numpy or python3-scipy is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
here=tests/deform/patches_borders.py
/usr/bin/python3 -B $here --self-test || failed=1
"$CUTIS" synth arm -q -o "$folder/arm.glb" &&
    /usr/bin/python3 -B $here "$CUTIS" "$folder/arm.glb" --angles 0,20,90 --json "$folder/arm.json" >"$folder/out" 2>&1
if [ $? -ne 0 ]; then
    echo "not ok an arm is measured: $(tail -1 "$folder/out")"
    exit 1
fi
# holds CLAIM EXPRESSION of the figures `d` by angle
holds() {
    if /usr/bin/python3 -c "import json, sys; d = json.load(open(sys.argv[1]))['all']; sys.exit(not ($2))" "$folder/arm.json"; then echo "ok $1"
    else echo "not ok $1: $(tr '\n' ' ' <"$folder/out")"; failed=1; fi
}
holds "a joint that is not bent has no jump" 'd["0.0"]["jump95"] < 1e-3 and d["0.0"]["jump"] < 1e-3'
holds "nor other normals" 'd["0.0"]["tilt95"] < 1e-3'
holds "a jump of 2 degrees at 20, 6 at the 95th percentile; 8 and 24 at 90" 'd["20.0"]["jump"] < 2 and d["20.0"]["jump95"] < 6 and d["90.0"]["jump"] < 8 and d["90.0"]["jump95"] < 24'
# What any smooth bend of that length has on this mesh: ours are at most a quarter above it.
if /usr/bin/python3 -B $here "$CUTIS" "$folder/arm.glb" --floor --angles 20 >"$folder/floor" &&
    awk 'FNR == NR { if ($1 == 20) ours = $2; next } /^even:/ { split($2 $3, f, "/"); exit !(ours > f[1] && ours < 1.25 * f[1]) }' "$folder/out" "$folder/floor"
then echo "ok a jump is within a quarter of an even bend's"
else echo "not ok a jump is within a quarter of an even bend's: $(cat "$folder/floor")"; failed=1; fi
"$CUTIS" synth biped -q -o "$folder/biped.glb"
for body in arm biped; do
    if out=$(/usr/bin/python3 -B $here "$CUTIS" "$folder/$body.glb" --rest) && echo "$out" | awk '{ exit !($1 < 1e-6 && $2 < 1e-4) }'
    then echo "ok the $body at rest has the file's positions, texture coordinates and normals"
    else echo "not ok the $body at rest has the file's positions, texture coordinates and normals: $out"; failed=1; fi
done
exit $failed
