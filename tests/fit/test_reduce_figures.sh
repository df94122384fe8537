#!/bin/sh
# Real characters reduced to four influences: errors on poses that were not learned from, with the bounds of issue 5.
if [ ! -d "$SHARED/data/makehuman" ] || ! /usr/bin/python3 -c "import scipy" 2>/dev/null; then
    echo "skip reduce_figures: shared data: makehuman is not there, or python3-scipy is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$(/usr/bin/python3 tests/fit/reduce_figures.py "$CUTIS" "$SHARED/data" "$folder" 2>&1)
status=$?
echo "$out"
if [ $status -ne 0 ]; then
    echo "not ok reduce_figures: the script failed"
    exit 1
fi
! echo "$out" | grep -q "^not ok"
