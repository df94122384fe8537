#!/bin/sh
# cutis reduce --max-error, --max-normal, --joints and --weights u8: bounds on poses that nobody showed, whole numbers against
# rounding and the motion of joints that stay, by judges in Python that share no code (tests/fit/judge_bound.py, joints_same.py).
. "$(dirname "$0")/common.sh"
JUDGE="/usr/bin/python3 tests/fit/judge_bound.py"
"$CUTIS" synth biped --vertices 1500 -q -o "$T/biped.glb"

fails 2 "a bound of zero is refused" 'max-error' "$CUTIS" reduce "$T/biped.glb" --max-error 0 -o "$T/out/x.glb"
fails 2 "no joints are refused" 'joints' "$CUTIS" reduce "$T/biped.glb" --joints 0 -o "$T/out/x.glb"
fails 1 "bounds are of moments" 'method moments, not of poisson' "$CUTIS" reduce "$T/biped.glb" --max-error 2 --method poisson -o "$T/out/x.glb"
fails 1 "a bound that the cap breaks is an error" '2 influences do not keep the bound: vertices are up to [0-9.]+ mm' \
    "$CUTIS" reduce "$T/biped.glb" --max-error 0.2 --influences 2 --poses auto --effort fast -o "$T/out/x.glb"

passes "a bound in millimetres" "$CUTIS" reduce "$T/biped.glb" --max-error 2 --effort fast --json -o "$T/mm.glb"
cp "$T/stdout" "$T/mm.json"
holds "poses that decided nothing are told of" "$T/mm.json" 'd["bounds"]["judged_poses"] >= 256 and d["bounds"]["beyond_vertices"] <= 2 and d["bounds"]["largest_error_mm"] <= 2.2'
holds "with few influences" "$T/mm.json" 'd["mean_influences_after"] < 0.7 * d["mean_influences_before"]'
passes "a bound in degrees, on one thread" "$CUTIS" reduce "$T/biped.glb" --max-normal 6 --poses auto --effort fast --threads 1 -o "$T/deg.glb"
grep -Eq '^[0-9.]+ degrees at most in [0-9]+ unseen poses' "$T/stdout" && grep -q '^vertices by influences: 1: ' "$T/stdout" \
    && ok "the text has the largest angle and the histogram" || not_ok "the text has the largest angle and the histogram" "$(cat "$T/stdout")"
passes "the same on three" "$CUTIS" reduce "$T/biped.glb" --max-normal 6 --poses auto --effort fast --threads 3 -o "$T/deg3.glb"
cmp -s "$T/deg.glb" "$T/deg3.glb" && ok "1 and 3 threads write the same file" || not_ok "1 and 3 threads write the same file" "they differ"
passes "all at once" "$CUTIS" reduce "$T/biped.glb" --joints 24 --max-error 60 --weights u8 --effort fast --report "$T/page.html" -o "$T/all.glb"
grep -q 'Bound: 60 mm' "$T/page.html" && grep -q '24 joints, before 29' "$T/page.html" && grep -q 'steps of 1/255' "$T/page.html" \
    && ok "the page says all three" || not_ok "the page says all three" "$(grep -c '<p>' "$T/page.html") paragraphs"
passes "u8 as chosen" "$CUTIS" reduce "$T/biped.glb" --weights u8 --poses auto --effort fast --json -o "$T/u8.glb"
cp "$T/stdout" "$T/u8.json"
holds "the form's value is below that of rounding" "$T/u8.json" 'd["quantised"]["chosen_energy"] < 0.9 * d["quantised"]["rounded_energy"]'
passes "20 joints" "$CUTIS" reduce "$T/biped.glb" --joints 20 --effort fast --json -o "$T/j20.glb"
holds "nine are named with those they went into" "$T/stdout" '[len(d["joints"]["merged"]), d["joints"]["before"], d["joints"]["after"]] == [9, 29, 20]'
passes "the result is in order" "$CUTIS" check "$T/j20.glb" --json
holds "without errors" "$T/stdout" 'd["errors"] == 0'

# Frames that are learned from bend far, those that judge hardly: the bound holds in both.
/usr/bin/python3 tests/cli/make_tube.py "$T/far.glb" 8 6 21
fails 1 "a bound that only the unseen frames keep is an error" '2 influences do not keep' "$CUTIS" reduce "$T/far.glb" --mix 0 --influences 2 --max-error 3 -o "$T/out/x.glb"
fails 1 "also in whole numbers" '2 influences in whole numbers do not' "$CUTIS" reduce "$T/far.glb" --mix 0 --influences 2 --max-error 3 --weights u8 -o "$T/out/x.glb"
/usr/bin/python3 tests/cli/make_tube.py "$T/one.glb" 8 6 1
fails 1 "a bound without a pose to judge by is an error" 'needs poses to judge by' "$CUTIS" reduce "$T/one.glb" --mix 0 --max-error 5 --influences 1 -o "$T/out/x.glb"
fails 2 "a bound leaves nothing to compare" 'compare goes with a count' "$CUTIS" reduce "$T/far.glb" --joints 4 --compare -o "$T/out/x.glb"
# More influences than a short list has room for: merging nothing changes nothing.
/usr/bin/python3 tests/cli/make_tube.py "$T/wide.glb" 300 200 0
"$CUTIS" reduce "$T/wide.glb" --effort fast -q -o "$T/wide4.glb" && "$CUTIS" reduce "$T/wide.glb" --joints 300 --effort fast -q -o "$T/wide300.glb"
cmp -s "$T/wide4.glb" "$T/wide300.glb" && ok "as many joints as there are change nothing" || not_ok "as many joints as there are change nothing" "the files differ"
# Where the form does not fit, whole numbers are rounded, and it is said.
"$CUTIS" reduce "$T/biped.glb" --influences 16 --memory 0.001 --weights u8 -o "$T/rounded.glb" >/dev/null 2>"$T/stderr"
grep -q 'the weights are rounded' "$T/stderr" && ok "whole numbers have a budget of memory, too" || not_ok "whole numbers have a budget of memory, too" "$(cat "$T/stderr")"

# An extension that nobody here knows may name nodes: they stay, and it is said.
"$CUTIS" convert "$T/biped.glb" -q -o "$T/named.gltf"
/usr/bin/python3 - "$T/named.gltf" <<'PY'
import json, sys
d = json.load(open(sys.argv[1]))
d["extensionsUsed"] = d.get("extensionsUsed", []) + ["VENDOR_rig"]
d["extensions"] = {"VENDOR_rig": {"head": 4}}
json.dump(d, open(sys.argv[1], "w"))
PY
"$CUTIS" reduce "$T/named.gltf" --joints 12 --effort fast -o "$T/stay.gltf" >/dev/null 2>"$T/stderr"
[ "$(json "$T/stay.gltf" 'len(d["nodes"])')" = "$(json "$T/named.gltf" 'len(d["nodes"])')" ] && grep -q 'nodes that are no longer joints stay: VENDOR_rig' "$T/stderr" \
    && ok "nodes stay where an extension may name them" || not_ok "nodes stay where an extension may name them" "$(cat "$T/stderr")"

if ! /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    skip "bounds by another program" "python3-numpy is not installed"
    exit $failed
fi
# Of 450,000 distances in fresh random poses at most one in 100,000 may be beyond the bound, by at most 3 %.
$JUDGE "$T/biped.glb" "$T/mm.glb" --random 300 --clips odd --max-error 2 >"$T/judged.json"
holds "millimetres hold in fresh poses" "$T/judged.json" 'd["mm"] <= 2 * 1.03 and d["beyond_mm"] <= 1e-5 * d["pairs"] and d["mm"] > 1'
holds "the report's largest error is what others find" "$T/mm.json" \
    "0.8 < d['bounds']['largest_error_mm'] / $(json "$T/judged.json" 'd["mm"]') < 1.25"
$JUDGE "$T/biped.glb" "$T/mm.glb" --random 0 --clips odd --max-error 2 >"$T/judged.json"
holds "the bound is kept in frames that were held out" "$T/judged.json" 'd["beyond_mm"] == 0 and d["pairs"] > 100000 and d["mm"] > 0.1'
$JUDGE "$T/biped.glb" "$T/mm.glb" --random 300 --clips odd --max-error 2 >"$T/judged.json"
holds "the histogram is the file's" "$T/mm.json" "d['histogram_after'] == $(json "$T/judged.json" 'd["histogram"][:17]')"
$JUDGE "$T/biped.glb" "$T/deg.glb" --random 300 --max-normal 6 >"$T/judged.json"
holds "degrees hold in fresh poses" "$T/judged.json" 'd["degrees"] <= 6 * 1.03 and d["beyond_degrees"] <= 1e-5 * d["pairs"] and d["degrees"] > 3'
$JUDGE "$T/biped.glb" "$T/all.glb" --random 96 --max-error 60 >"$T/judged.json"
holds "a bound holds on fewer joints in whole numbers" "$T/judged.json" 'd["mm"] <= 60 * 1.03 and d["mm"] > 20 and d["joints"] == 24'
# The same sets and real weights, rounded by the writer.
"$CUTIS" reduce "$T/biped.glb" --poses auto --effort fast -q -o "$T/real.glb"
"$CUTIS" convert "$T/real.glb" --weights u8 -q -o "$T/rounded.glb"
$JUDGE "$T/biped.glb" "$T/u8.glb" --random 96 >"$T/chosen.json"
$JUDGE "$T/biped.glb" "$T/rounded.glb" --random 96 >"$T/judged.json"
holds "chosen numbers beat rounded ones in fresh poses" "$T/chosen.json" \
    "d['radians'] < 0.95 * $(json "$T/judged.json" 'd["radians"]') and d['percent'] < 1.0 * $(json "$T/judged.json" 'd["percent"]')"

for model in "$T/biped.glb" "$SHARED/data/gltf-sample-assets/Fox/glTF-Binary/Fox.glb" \
    "$SHARED/data/gltf-sample-assets/CesiumMan/glTF-Binary/CesiumMan.glb" "$SHARED/data/kaykit/Barbarian.glb"; do
    name=$(basename "$model")
    if [ ! -f "$model" ]; then skip "joints of $name move as before" "$model is not there"; continue; fi
    "$CUTIS" reduce "$model" --joints 12 --influences 3 --effort fast -q -o "$T/j12.glb"
    /usr/bin/python3 tests/fit/joints_same.py "$model" "$T/j12.glb" >"$T/same.json"
    holds "joints of $name move as before" "$T/same.json" \
        'd["difference"] < 1e-9 and d["joints"][1] == 12 and not d["new_joints"] and d["binds_changed"] == 0 and d["nodes"][1] < d["nodes"][0] and d["tracks"][1] < d["tracks"][0]'
done
exit $failed
