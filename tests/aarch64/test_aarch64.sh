# Cutis for 64-bit ARM under qemu-user: the bits of the kernels (NEON against the scalar text) and the golden hashes of x86.
# ./dev test builds build-aarch64-gate for it (./dev soak build-aarch64-soak, and runs every test program);
# CUTIS_AARCH64=FOLDER takes another.
set -u
here=$(dirname "$0")
arm=$(realpath -m "${CUTIS_AARCH64:-build-aarch64-gate}")
for need in qemu-aarch64-static:qemu-user-static aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu; do
    command -v "${need%:*}" >/dev/null ||
        { echo "skip aarch64: Debian's package ${need#*:} is not there, and ./dev test could not install it"; exit 0; }
done
[ -x "$arm/cutis" ] || { echo "not ok aarch64: $arm/cutis is not there; ./dev test builds it"; exit 1; }
qemu="qemu-aarch64-static -L /usr/aarch64-linux-gnu"
CUTIS=$arm/cutis-under-qemu
printf '#!/bin/sh\nexec %s "%s/cutis" "$@"\n' "$qemu" "$arm" >"$CUTIS"
chmod +x "$CUTIS"
. "$here/../cli/common.sh"
claim() { name=$1; shift; if "$@" >"$T/log" 2>&1; then ok "aarch64: $name"; else not_ok "aarch64: $name" "$(tail -n 2 "$T/log" | tr '\n' ' ')"; fi; }

neon() { "$CUTIS" devices | grep -q 'ARM CPU, .*; scalar, neon'; }
claim "NEON is there and taken" neon
for test in cpu_bits_device cpu_bones_device cpu_formulas_device compute_device; do
    claim "test_$test" $qemu "$arm/tests/test_$test"
done
absent() { # one line, exit 1
    "$CUTIS" "$@" >"$T/out" 2>"$T/said"; code=$?
    [ $code = 1 ] && [ ! -s "$T/out" ] && [ "$(wc -l <"$T/said")" = 1 ] && grep -q 'makes no pictures' "$T/said"
}
claim "without pictures render says so" absent render "$here/../../README.md" -o "$T/x.png"
# What is not cross-compiled is asked of the command there: the same table, so the same bytes.
same_man() { "$CUTIS" help --man >"$T/arm.1" && "$BUILD/cutis" help --man | cmp - "$T/arm.1"; }
[ ! -x "${BUILD:-none}/cutis" ] || claim "the man page is what x86 prints" same_man
export CUTIS
# An emulated start takes a third of a second, a body sixteen. Scalar text on one thread is what they are compared with.
[ -n "${CUTIS_SOAK:-}" ] || { export CUTIS_HASH_VARIANTS='64:neon'; [ ! -x "${BUILD:-none}/cutis" ] || export CUTIS_HASH_BODIES="$BUILD/cutis"; }
sh "$here/../cli/test_hashes.sh" >"$T/hashes" 2>&1 || failed=1
sed 's/^\(ok\|not ok\|skip\) /\1 aarch64: /' "$T/hashes"
exit $failed
