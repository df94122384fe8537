# Shared by the scripts of this folder: the studio must have been built, unless this build was told not to.
HERE=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-build}
CUTIS=${CUTIS:-$BUILD/cutis}
if [ ! -f "$BUILD/studio/index.html" ]; then
    if grep -q '^CUTIS_STUDIO:BOOL=ON' "$BUILD/CMakeCache.txt" 2>/dev/null; then echo "not ok the studio: $BUILD/studio is not there"; exit 1; fi
    echo "skip the studio: this build is without it (CUTIS_STUDIO=OFF); ./dev test builds it"
    exit 0
fi
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT

# What a test with browsers needs: chromium, firefox-esr, xvfb-run.
needs() {
    for program; do
        command -v "$program" >/dev/null || { echo "not ok the page in a browser: $program is not there; ./dev test installs it"; exit 1; }
    done
    [ -d "$HERE/../node_modules/playwright-core" ] || { echo "not ok the page in a browser: tests/node_modules is not there; (cd tests && npm ci)"; exit 1; }
}
