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
if [ -n "${CUTIS_SOAK:-}" ]; then
    [ -d "$SHARED/data/makehuman" ] && human=--makehuman || echo "skip MakeHuman: shared data: $SHARED/data/makehuman is not there"
    grid --seeds "$(seq -s, 100 119)" ${human:-}
else
    grid --seeds 100 --poses sitting,kneeling --ups z --motions run
    grid --seeds 101 --poses bent,raised --ups x --motions walk,wave
fi
exit $failed
