# The weight brush in the page: what a stroke makes of weights, undo, locks, limits, cost; a smoke test in Firefox.
. "$(dirname "$0")/studio.sh"
needs chromium firefox-esr xvfb-run
status=0
for browser in chromium firefox; do
    mkdir "$T/$browser"
    node "$HERE/brush.mjs" "$CUTIS" "$T/$browser" "$browser" || status=1
done
exit $status
