# Poses have the same bits whatever compiler, optimisation and instruction set built the library.
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
flags="-std=c17 -D_GNU_SOURCE -ffp-contract=off -w -Iinclude -Isrc"
sources="tests/model/pose_bits.c $(ls src/base/*.c src/base/os/*.c src/math/*.c src/model/*.c | grep -v _windows)"
first= failed=0
while read -r name compiler options; do
    if ! command -v "$compiler" >/dev/null; then
        echo "skip pose_bits_$name: no $compiler"
        continue
    fi
    # gcc's SLP vectoriser is off in the build too (CMakeLists.txt).
    [ "$compiler" = gcc ] && options="$options -fno-tree-slp-vectorize"
    if ! $compiler $flags $options $sources -o "$work/bits" -lm -lpthread -ldl 2>"$work/log"; then
        echo "not ok pose_bits_$name: $(head -1 "$work/log")"
        failed=1
        continue
    fi
    bits=$("$work/bits")
    : "${first:=$bits}"
    if [ -n "$bits" ] && [ "$bits" = "$first" ]; then
        echo "ok pose_bits_$name"
    else
        echo "not ok pose_bits_$name: $bits, not $first"
        failed=1
    fi
done <<LIST
gcc_O0 gcc -O0
gcc_O2 gcc -O2
gcc_O3_native gcc -O3 -march=native
clang_O2 clang-14 -O2
LIST
exit $failed
