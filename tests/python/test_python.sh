# The Python package on the libraries of this build: pytest, a line for every test; mypy on its types.
HERE=$(cd "$(dirname "$0")" && pwd)
BUILD=${BUILD:-build}
PYTHON=/usr/bin/python3
for module in numpy scipy pytest pycparser mypy matplotlib; do
    "$PYTHON" -c "import $module" 2>/dev/null || { echo "not ok the Python package: Debian's python3-$module is not there; ./dev test installs it"; exit 1; }
done
[ -e "$BUILD/libcutis-render.so" ] || { echo "skip the Python package: this build has no shared libraries"; exit 0; }
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
"$PYTHON" "$HERE/../../python/package.py" "$BUILD" >/dev/null || { echo "not ok the Python package is made"; exit 1; }
export CUTIS_LIBRARY_PATH="$BUILD" PYTHONPATH="$BUILD/python" PYTHONDONTWRITEBYTECODE=1 CUTIS BUILD MPLBACKEND=Agg MPLCONFIGDIR="$T"
"$PYTHON" -m pytest -q -p no:cacheprovider --basetemp "$T/pytest" "$HERE" >"$T/log" 2>&1
status=$?
sed -n 's/^LINE //p' "$T/log"
[ $status = 0 ] || { grep -v '^LINE ' "$T/log" | tail -n 80; grep -q '^LINE not ok' "$T/log" || echo "not ok pytest runs: it ended with $status"; }
if [ -n "${CUTIS_SOAK:-}" ]; then # once under valgrind: whatever it says of our libraries
    PYTHONMALLOC=malloc valgrind --num-callers=40 --log-file="$T/valgrind" "$PYTHON" -m pytest -q -p no:cacheprovider --basetemp "$T/pytest" \
        "$HERE/test_bad_input.py" "$HERE/test_calls.py" -k 'not control_c and not fits_return and not pictures and not a_loop' >"$T/log" 2>&1 || { tail -n 40 "$T/log"; echo "not ok the tests pass under valgrind"; status=1; }
    if [ "$(grep -c 'libcutis\|_ctypes' "$T/valgrind")" = 0 ] && grep -q 'ERROR SUMMARY' "$T/valgrind"; then
        echo "ok valgrind says nothing of our libraries"
    else
        grep -B12 -A8 'libcutis\|_ctypes' "$T/valgrind" | head -n 60
        echo "not ok valgrind says nothing of our libraries: see above"
        status=1
    fi
fi
if "$PYTHON" -m mypy --strict --cache-dir "$T/mypy" "$BUILD/python/cutis" >"$T/types" 2>&1; then
    echo "ok types hold (mypy --strict)"
else
    tail -n 20 "$T/types"
    echo "not ok types hold (mypy --strict): see above"
    status=1
fi
exit $status
