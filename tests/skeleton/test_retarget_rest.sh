#!/bin/sh
# Walks and runs on bodies in odd rest poses, with odd axes up and odd trees, judged by positions only (retarget_eval.py), and the judge itself on
# motions broken on purpose. With CUTIS_SOAK set: twenty generated people and MakeHuman, six rest poses, three axes, walk, run and wave.
here=$(dirname "$0")
[ -x "$CUTIS" ] || { echo "skip retarget_rest: there is no command at $CUTIS"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
failed=0
grid() { /usr/bin/python3 "$here/retarget_grid.py" "$CUTIS" "$SHARED" "$folder" "$@" || failed=1; }
grid --broken --motions forward --seeds 100
grid --odd --motions forward --seeds 100
grid --beasts --seeds 102
grid --robot --motions walk,run
# Legs of thigh and foot alone have no soles that could be told to stand: the body goes to the ground it rests on, and does not float.
"$CUTIS" synth biped --vertices 3000 -q -o "$folder/biped.glb"
for pose in sitting a; do
    "$CUTIS" synth family --kind bear --seed 101 --pose $pose --vertices 2000 -q -o "$folder/bear.glb"
    "$CUTIS" retarget "$folder/bear.glb" --motion "$folder/biped.glb" --clip walk_forward --fps 10 -q -o "$folder/walk.glb"
    "$CUTIS" deform "$folder/walk.glb" --clip walk_forward --fps 10 -q -o "$folder/walk.npy"
    "$CUTIS" deform "$folder/bear.glb" -q -o "$folder/rest.npy"
    /usr/bin/python3 - "$folder" $pose <<'P' || failed=1
import sys
import numpy as np
walk, rest = (np.load(f"{sys.argv[1]}/{name}.npy").astype(float)[:, :, 1] for name in ("walk", "rest"))
low, height = walk.min(1) - rest.min(), np.ptp(rest)
good = abs(np.sort(low)[int(0.05 * (len(low) - 1))]) < 0.005 * height and low.max() < 0.1 * height
print("ok" if good else "not ok", f"a toy bear ({sys.argv[2]}) walks on the ground" + ("" if good else f": {low / height}"))
sys.exit(not good)
P
done
if [ -n "${CUTIS_SOAK:-}" ]; then
    [ -d "$SHARED/data/makehuman" ] && human=--makehuman || echo "skip MakeHuman: shared data: $SHARED/data/makehuman is not there"
    grid --seeds "$(seq -s, 100 119)" ${human:-}
else
    grid --seeds 100 --poses sitting,kneeling --ups z --motions run
    grid --seeds 101 --poses bent,raised --ups x --motions walk,wave
fi
exit $failed
