#!/bin/sh
# Fits in poses that were left out, judged in numpy; all kinds of sequence with CUTIS_SOAK set.
if ! /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    echo "skip fit_figures: python3-numpy is not installed"
    exit 0
fi
if [ -n "${CUTIS_SOAK:-}" ] && { [ ! -d "$SHARED/data/dem-bones" ] || [ ! -d "$SHARED/data/makehuman" ]; }; then
    echo "skip fit_figures: shared data: dem-bones or makehuman is not there"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$(/usr/bin/python3 tests/fit/fit_figures.py "$CUTIS" "$SHARED/data" "$folder" 2>&1)
status=$?
echo "$out"
if [ $status -ne 0 ]; then
    echo "not ok fit_figures: the script failed"
    exit 1
fi
! echo "$out" | grep -q "^not ok"
