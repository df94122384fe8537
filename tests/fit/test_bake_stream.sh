#!/bin/sh
# Sequences that stay in their file, against the same in memory; with CUTIS_SOAK one four times as large as the address space it gets.
if ! /usr/bin/python3 -c "import numpy" 2>/dev/null; then
    echo "skip bake stream: python3-numpy is not installed"
    exit 0
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
judge="$(dirname "$0")/bake_stream.py"
/usr/bin/python3 "$judge" "$CUTIS" "$folder" 20 500 0.001 || exit 1
if [ -n "${CUTIS_SOAK:-}" ]; then
    /usr/bin/python3 "$judge" "$CUTIS" "$folder" 80 5000 0.008 0.25 || exit 1
fi
