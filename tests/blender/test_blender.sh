# The add-on in Debian's Blender, without a screen: a smoke test here, the rest with CUTIS_SOAK=1 (./dev soak).
HERE=$(cd "$(dirname "$0")" && pwd)
BUILD=$(cd "${BUILD:-build}" && pwd)
command -v blender >/dev/null || { echo "skip the add-on in Blender: Debian's blender is not there and could not be installed"; exit 0; }
/usr/bin/python3 -c 'import pycparser' 2>/dev/null || { echo "not ok the add-on in Blender: Debian's python3-pycparser is not there; ./dev test installs it"; exit 1; }
[ -e "$BUILD/libcutis-render.so" ] || { echo "skip the add-on in Blender: this build has no shared libraries"; exit 0; }
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
# A user's own settings and cache are left alone; numpy of Debian is what Debian's Blender uses.
export CUTIS_TEST_FOLDER="$T" BLENDER_USER_SCRIPTS="$T/scripts" BLENDER_USER_CONFIG="$T/config" CUTIS SHARED
mkdir -p "$T/scripts/addons"
CUTIS_ADDON=$(/usr/bin/python3 "$HERE/../../blender/package.py" "$BUILD") || { echo "not ok the add-on is made"; exit 1; }
export CUTIS_ADDON
status=0
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin LIBGL_ALWAYS_SOFTWARE=1
run() { # SCRIPT COMMAND...
    script=$1
    shift
    "$@" --factory-startup -noaudio --python-exit-code 1 --python "$HERE/$script" >"$T/log" 2>&1
    ended=$?
    grep -E '^(ok|not ok|skip) ' "$T/log"
    [ $ended = 0 ] && return
    status=1
    grep -vE '^(ok|skip) |^Info|^Data are' "$T/log" | tail -n 60
    grep -q '^not ok ' "$T/log" || echo "not ok $script runs: Blender ended with $ended"
}
run smoke.py blender -b
if [ -n "${CUTIS_SOAK:-}" ]; then
    run soak.py blender -b
    run tutorial.py blender -b
    run gui.py xvfb-run -a -s '-screen 0 1000x700x24' blender --enable-event-simulate --window-geometry 0 0 1000 700
fi
exit $status
