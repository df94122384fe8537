# The journey, from a scan to a saved character that walks, in Debian's Chromium and in its Firefox. CUTIS_SOAK=1: seven bodies.
. "$(dirname "$0")/studio.sh"
needs chromium firefox-esr xvfb-run
status=0
for browser in chromium firefox; do
    mkdir "$T/$browser"
    node "$HERE/journey.mjs" "$CUTIS" "$BUILD/studio" "$T/$browser" "$browser" "${SHARED:-$HERE/../../../shared}" || status=1
done
exit $status
