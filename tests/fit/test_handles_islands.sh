#!/bin/sh
# Accessories of a real rig, joined with its body into one mesh, follow the joints they hung under.
if [ ! -f "$SHARED/data/kaykit/Barbarian.glb" ] || ! /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    echo "skip handles_islands: shared data: kaykit is not there, or python3-numpy is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$(/usr/bin/python3 tests/fit/handles_islands.py "$CUTIS" "$SHARED/data/kaykit/Barbarian.glb" "$folder" 2>&1)
status=$?
echo "$out"
if [ $status -ne 0 ]; then
    echo "not ok handles_islands: the script failed"
    exit 1
fi
! echo "$out" | grep -q "^not ok"
