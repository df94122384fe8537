#!/bin/sh
# No public function crashes on NULL: a program made from the headers calls each of them with it.
set -u
HERE=$(cd "$(dirname "$0")/../.." && pwd)
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
cached() { sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"; }
sanitizer=
[ "$(cached CUTIS_SANITIZE)" = ON ] && sanitizer=-fsanitize=address,undefined
python3 "$HERE/tests/base/null_calls.py" "$HERE/include" >"$T/null.c" || exit 1
"$(cached CMAKE_C_COMPILER)" -std=c17 -w $sanitizer -I"$HERE/include" "$T/null.c" -o "$T/null" -L"$BUILD" -Wl,-rpath,"$BUILD" \
    -lcutis-render -lcutis-skeleton -lcutis-io -lcutis || { echo "not ok the_calls_compile"; exit 1; }
ASAN_OPTIONS=detect_leaks=0 "$T/null" "$T" 2>/dev/null
