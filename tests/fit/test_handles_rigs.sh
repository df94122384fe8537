#!/bin/sh
# Automatic weights of what people have: accessories and clothes, scans with holes, rigs with artists' weights.
if ! /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    echo "skip handles_rigs: python3-numpy is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
for part in worn scans artists; do
    set -- $part "$CUTIS" "$folder"
    if [ $part = artists ]; then
        [ -d "$SHARED/data" ] || { echo "skip handles_rigs artists: shared data is not there"; continue; }
        set -- "$@" "$SHARED/data"
    fi
    out=$(/usr/bin/python3 tests/fit/handles_rigs.py "$@" 2>&1) || { out="$out
not ok handles_rigs $part: the script failed"; }
    echo "$out"
    if echo "$out" | grep -q "^not ok"; then failed=1; fi
done
exit $failed
