# The page in Debian's Chromium, step by step as a user goes.
. "$(dirname "$0")/studio.sh"
[ -x /usr/bin/chromium ] || { echo "not ok the page in a browser: chromium is not there; ./dev test installs it"; exit 1; }
[ -d "$HERE/../node_modules/playwright-core" ] || { echo "not ok the page in a browser: tests/node_modules is not there; (cd tests && npm ci)"; exit 1; }
node "$HERE/browser.mjs" "$CUTIS" "$BUILD/studio" "$T"
