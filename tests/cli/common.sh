# Shared by the scripts of this folder: a scratch folder, and the three words the runner sums up.
# CUTIS, SHARED and BUILD come from the test runner; by hand: CUTIS=build/cutis sh tests/cli/test_verbs.sh
CUTIS=${CUTIS:-build/cutis}
SHARED=${SHARED:-../shared}
command -v "$CUTIS" >/dev/null || { echo "not ok $(basename "$0" .sh): $CUTIS is not there; build it first"; exit 1; }
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
failed=0

ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; failed=1; }
skip() { echo "skip $1: $2"; }

# passes NAME COMMAND...: exit 0 and nothing on stderr; what it prints is in $T/stdout.
passes() {
    claim=$1; shift
    "$@" >"$T/stdout" 2>"$T/stderr"; code=$?
    if [ $code -ne 0 ]; then not_ok "$claim" "exit $code: $(head -1 "$T/stderr")"; return 1; fi
    if [ -s "$T/stderr" ]; then not_ok "$claim" "on stderr: $(head -1 "$T/stderr")"; return 1; fi
    ok "$claim"
}

# fails CODE NAME PATTERN COMMAND...: that exit code, exactly one line on stderr that starts with "cutis: " and matches
# PATTERN, nothing on stdout, and no file under $T/out.
fails() {
    want=$1 claim=$2 pattern=$3; shift 3
    rm -rf "$T/out"; mkdir "$T/out"
    "$@" >"$T/stdout" 2>"$T/stderr"; code=$?
    if [ $code -ne "$want" ]; then not_ok "$claim" "exit $code, not $want: $(head -1 "$T/stderr")"
    elif [ "$(wc -l <"$T/stderr")" -ne 1 ]; then not_ok "$claim" "$(wc -l <"$T/stderr") lines on stderr"
    elif ! grep -q '^cutis: ' "$T/stderr"; then not_ok "$claim" "the line is: $(cat "$T/stderr")"
    elif ! grep -Eq -- "$pattern" "$T/stderr"; then not_ok "$claim" "no $pattern in: $(cat "$T/stderr")"
    elif [ -s "$T/stdout" ]; then not_ok "$claim" "on stdout: $(head -1 "$T/stdout")"
    elif [ -n "$(ls -A "$T/out")" ]; then not_ok "$claim" "it left $(ls -A "$T/out")"
    else ok "$claim"; fi
}

# json FILE EXPRESSION: evaluates a Python expression with the parsed object as d.
json() { /usr/bin/python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2"; }

# equals NAME GOT WANTED
equals() { if [ "$2" = "$3" ]; then ok "$1"; else not_ok "$1" "got $2, want $3"; fi; }
# holds NAME FILE EXPRESSION: the expression over the JSON in FILE is true.
holds() {
    if got=$(json "$2" "$3" 2>&1) && [ "$got" = True ]; then ok "$1"; else not_ok "$1" "$3 is $(echo "$got" | tail -1)"; fi
}

# one_key GLTF K OUT: a text glTF whose clips have key K alone.
one_key() {
    /usr/bin/python3 - "$1" "$2" "$3" <<'PY'
import json, sys
d, key = json.load(open(sys.argv[1])), int(sys.argv[2])
for clip in d["animations"]:
    for s in clip["samplers"]:
        time, out = (d["accessors"][s[k]] for k in ("input", "output"))
        if out["count"] == 1: # shared, and cut already
            continue
        three = s.get("interpolation") == "CUBICSPLINE" # a slope on both sides
        at = (3 * key + 1 if three else key) * 4 * {"VEC3": 3, "VEC4": 4}[out["type"]]
        out.update(count=1, byteOffset=out.get("byteOffset", 0) + at)
        time.update(count=1, max=time["min"])
        s["interpolation"] = "LINEAR"
json.dump(d, open(sys.argv[3], "w"))
PY
}

# hash_of FOLDER: of all files below it but the farm's own.
hash_of() { (cd "$1" && find . -type f ! -path './farm/*' | LC_ALL=C sort | xargs sha256sum | sha256sum | cut -c1-64); }
