#!/bin/sh
# No rig is worse off with `cutis reduce` than with k-largest in poses nobody showed: four small ones here, all of them (23 rigs, K = 1
# to 4, with clips and without; an hour) with CUTIS_SOAK.
if ! /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    echo "skip reduce_unseen: python3-numpy is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
data=$SHARED/data
[ -d "$data" ] || data=-
if [ -n "${CUTIS_SOAK:-}" ]; then
    /usr/bin/python3 tests/fit/sweep_unseen.py "$CUTIS" "$data" "$folder"
else
    /usr/bin/python3 tests/fit/sweep_unseen.py "$CUTIS" "$data" "$folder" --only arm,family-fish,RiggedFigure,Fox --counts 1,3
fi
