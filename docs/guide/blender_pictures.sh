# The pictures of docs/guide/blender.md, and the speed of its preview drawn by Mesa in software: sh docs/guide/blender_pictures.sh BUILD [FOLDER]
set -e
HERE=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "${1:-build}" && pwd)
OUT=$(cd "${2:-$HERE}" && pwd)
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
export BLENDER_USER_SCRIPTS="$T/scripts" BLENDER_USER_CONFIG="$T/config" LIBGL_ALWAYS_SOFTWARE=1
mkdir -p "$T/scripts/addons"
"$BUILD/cutis" synth biped --vertices 12000 -q -o "$T/biped.glb"
ZIP=$(/usr/bin/python3 "$HERE/../../blender/package.py" "$BUILD")
xvfb-run -a -s '-screen 0 1400x900x24' blender --factory-startup -noaudio --enable-event-simulate --window-geometry 0 0 1400 900 --python "$HERE/blender_pictures.py" -- "$OUT" "$T/biped.glb" "$ZIP"
