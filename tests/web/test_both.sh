# What must hold in Debian's Chromium and in its Firefox: open, pose, undo, save, reopen; a plain host, offline, new builds.
. "$(dirname "$0")/studio.sh"
needs chromium firefox-esr xvfb-run
status=0
for browser in chromium firefox; do
    mkdir "$T/$browser"
    node "$HERE/both.mjs" "$CUTIS" "$BUILD/studio" "$T/$browser" "$browser" || status=1
    node "$HERE/static.mjs" "$BUILD/studio" "$T/$browser" "$browser" || status=1
done
exit $status
