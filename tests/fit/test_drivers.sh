#!/bin/sh
# Drivers of baked files, evaluated in numpy from the file alone, against the runtime and the deformer that was baked.
if ! /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    echo "skip drivers: python3-numpy is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
out=$(/usr/bin/python3 "$(dirname "$0")/drivers_judge.py" "$CUTIS" "$folder" 2>&1)
status=$?
echo "$out" | grep -E "^(ok|not ok|skip)"
if [ $status -ne 0 ] && ! echo "$out" | grep -q "^not ok"; then
    echo "not ok drivers: the script failed: $(echo "$out" | tail -1)"
    exit 1
fi
! echo "$out" | grep -q "^not ok"
