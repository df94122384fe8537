# Only POSIX outside Linux: every file of the library and of the command, as a system would compile it that has POSIX 2008 with its
# XSI part and nothing else. Compiled, not run: macOS and the BSDs are not here. Pictures stand on EGL and the farm on
# Linux (elsewhere the command has farm_absent.c, which is looked at here): left out.
set -u
cd "$(dirname "$0")/../.." || exit 1
files=$(find src cli -name '*.c' ! -name '*_windows.c' ! -path 'cli/windows/*' ! -path 'src/render/*' ! -path 'cli/farm/*' | sort)
strict='-fsyntax-only -std=c17 -D_XOPEN_SOURCE=700 -Wall -Wextra -Wno-psabi -Werror -Iinclude -Isrc -Icli'
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
if echo "$files" | xargs "${CC:-cc}" $strict >"$log" 2>&1; then
    echo "ok $(echo "$files" | wc -l) files compile where there is POSIX and nothing else"
else
    echo "not ok files compile where there is POSIX and nothing else: $(grep -m 3 error "$log" | tr '\n' ' ')"
    exit 1
fi
# It could fail: the same switches refuse what Linux alone has.
if echo '#include <sched.h>
int f(void); int f(void) { cpu_set_t s; return sched_getaffinity(0, sizeof s, &s); }' | "${CC:-cc}" $strict -x c - 2>/dev/null; then
    echo "not ok and the check notices what is not POSIX: it did not"
    exit 1
fi
echo "ok and the check notices what is not POSIX"
