#!/bin/sh
# Nothing lost: what Cutis does not touch comes out of it as it was, by a structural comparison of what goes in and comes out.
/usr/bin/python3 "$(dirname "$0")/gltf_kept_judge.py" "$CUTIS" "$SHARED/data"
