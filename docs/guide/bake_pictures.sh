#!/bin/sh
# The picture of docs/guide/bake.md: the first one of the report.
# usage: sh docs/guide/bake_pictures.sh [CUTIS]
set -eu
cutis=${1:-build/cutis}
here=$(dirname "$0")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$cutis" synth arm --size low -q -o "$folder/arm.glb"
"$cutis" bake "$folder/arm.glb" --method dqs --helpers 8 --report "$folder/page.html" -q -o "$folder/baked.glb"
/usr/bin/python3 - "$folder/page.html" "$here/bake_twist.png" <<'P'
import base64
import re
import sys
found = re.search("data:image/png;base64,([A-Za-z0-9+/=]+)", open(sys.argv[1]).read())
open(sys.argv[2], "wb").write(base64.b64decode(found.group(1)))
P
