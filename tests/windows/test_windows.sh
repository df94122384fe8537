# Cutis for Windows, under wine: golden hashes, bits of the kernels, files, kills, names, Ctrl-C, and a sample built against what is
# shipped. ./dev test builds build-windows-gate for it (./dev soak build-windows-soak, with every test program);
# CUTIS_WINDOWS=FOLDER takes another; CUTIS_NO_HASHES=1 leaves the hashes out, by hand.
set -u
here=$(dirname "$0")
windows=$(realpath "${CUTIS_WINDOWS:-build-windows-gate}")
wine=$(realpath "$here/under_wine")
for need in /usr/lib/wine/wine64:wine64 /usr/bin/x86_64-w64-mingw32-gcc-win32:gcc-mingw-w64-x86-64-win32; do
    [ -e "${need%:*}" ] || { echo "skip windows: Debian's package ${need#*:} is not there, and ./dev test could not install it"; exit 0; }
done
[ -f "$windows/cutis.exe" ] || { echo "skip windows: $windows/cutis.exe is not there; ./dev test builds it"; exit 0; }
export WINEPREFIX="$windows/wine" LC_ALL=C.UTF-8
# One server for all programs: the one that comes and goes with them was once gone as the next began.
mkdir -p "$WINEPREFIX" && /usr/lib/wine/wineserver64 -p60 >/dev/null 2>&1
"$wine" wineboot --init >/dev/null 2>&1
cutis=$windows/cutis-under-wine
printf '#!/bin/sh\nexec "%s" "%s/cutis.exe" "$@"\n' "$wine" "$windows" >"$cutis"
chmod +x "$cutis"
CUTIS=$cutis
. "$here/../cli/common.sh"
claim() { name=$1; shift; : >"$T/log"; if "$@" >>"$T/log" 2>&1; then ok "windows: $name"; else not_ok "windows: $name" "$(tail -n 2 "$T/log" | tr '\r\n' '  ')"; fi; }
has() { grep -qF -- "$1" "$T/log" || { echo "lacks: $1"; return 1; }; }

# Nothing is needed that Windows has not got; no move of a vector asks for more than Windows' stack gives (gcc's bug 54412).
imports() { # FILE...: DLLs other than the system's and our own
    ! x86_64-w64-mingw32-objdump -p "$@" | sed -n 's/.*DLL Name: //p' | sort -u | grep -viE '^(kernel32|msvcrt|advapi32|cutis(-io|-skeleton)?-[0-9.]+)(\.dll)$'
}
claim "the command and the DLLs need no DLL but Windows' own" imports "$windows"/cutis.exe "$windows"/cutis*-*.dll
unaligned() { # the objects of AVX2 and AVX-512: none, and they are there
    objects=$(find "$windows/CMakeFiles" -name '*_avx*.c.obj')
    [ "$(echo "$objects" | wc -l)" -ge 8 ] || { echo "too few objects"; return 1; }
    for object in $objects; do
        x86_64-w64-mingw32-objdump -d --no-show-raw-insn "$object" | grep -E 'vmov(ap[sd]|dqa[0-9]*) .*\(.*\)' && return 1
    done
    return 0
}
claim "no vector is moved as if the stack were aligned to 32 or 64" unaligned

# The command.
mkdir -p "$T/Überg röße 皮膚 🦴"
claim "arguments are UTF-8" "$CUTIS" synth arm --size low -q -o "$T/Überg röße 皮膚 🦴/ärm 皮.glb"
claim "names are what they are on Linux" test -s "$T/Überg röße 皮膚 🦴/ärm 皮.glb"
deep=$T/deep
for i in 1 2 3 4 5 6; do deep=$deep/$(printf '%060d' $i); done
mkdir -p "$deep"
claim "a path of more than 260 characters" "$CUTIS" convert "$T/Überg röße 皮膚 🦴/ärm 皮.glb" -q -o "$deep/arm.gltf"
claim "and its parts" test -s "$deep/arm.bin"
claim "backslashes and a drive" "$CUTIS" convert "Z:$(echo "$deep" | tr / '\\')\\arm.gltf" -q -o "$(echo "$T" | tr / '\\')\\back.obj"
claim "both files of an OBJ" test -s "$T/back.obj"
claim "a folder is walked" "$CUTIS" check "$T/deep"
grep -qa '皮' "$T/log" || ! "$CUTIS" info "$T/Überg röße 皮膚 🦴/ärm 皮.glb" >"$T/log" || grep -qa '皮' "$T/log" && ok "windows: names are printed in UTF-8" || not_ok "windows: names are printed in UTF-8" "$(head -1 "$T/log")"
absent() { # VERB: one line, exit 1
    "$CUTIS" "$@" >"$T/out" 2>"$T/said"; code=$?
    [ $code = 1 ] && [ ! -s "$T/out" ] && [ "$(wc -l <"$T/said")" = 1 ] && grep -q 'makes no pictures' "$T/said"
}
claim "render is off and says so" absent render "$T/back.obj" -o "$T/x.png"
claim "view is off and says so" absent view
draco() { ! "$CUTIS" convert "$deep/arm.gltf" --compress draco -o "$T/d.glb" && has 'Windows'; }
claim "Draco is off and says so" draco
lf() { "$CUTIS" help --man >"$T/man" && ! grep -q "$(printf '\r')" "$T/man" && "${LINUX_CUTIS:-$BUILD/cutis}" help --man | cmp - "$T/man"; }
[ -x "${BUILD:-none}/cutis" ] && claim "what is printed is what Linux prints, byte by byte" lf
claim "demo" "$CUTIS" demo -o "$T/demo"
claim "and its files" test -s "$T/demo/walk_dqs.npy" -a -s "$T/demo/demo.json"

# Ctrl-C: a line, nothing left, the exit status of a process that Ctrl-C ended.
"$CUTIS" synth biped --size high -q -o "$T/biped.glb"
interrupted() {
    mkdir -p "$T/stopped"
    # wine has a console where there is a terminal
    script -qec "'$wine' '$windows/tests/interrupt_windows.exe' 1500 '$T/ctrl-c' '$windows/cutis.exe' handles '$T/biped.glb' --skeleton --voxels 400 -o '$T/stopped/out.glb'" /dev/null </dev/null
    cat "$T/ctrl-c"
    has 'pressed, exit 0xC000013A' && has 'handles: stopped' && [ -z "$(ls -A "$T/stopped")" ]
}
claim "Ctrl-C ends the command cleanly" interrupted

# Files and kills.
mkdir "$T/files" "$T/kills"
"$wine" "$windows/tests/files_windows.exe" "$T/files" 2>"$T/log" | tr -d '\r' || failed=1
"$wine" "$windows/tests/files_windows.exe" "$T/kills" kills "${CUTIS_KILLS:-60}" 2>>"$T/log" | tr -d '\r'

# Bits: every instruction set against the scalar text, then the golden hashes.
for test in cpu_bits_device cpu_bones_device cpu_formulas_device compute_device pool_base; do
    claim "test_$test" "$wine" "$windows/tests/test_$test.exe"
done
[ -n "${CUTIS_SOAK:-}" ] || export CUTIS_HASH_VARIANTS='3:sse2 64:avx2 17:avx512' # a start under wine takes a tenth of a second
[ -n "${CUTIS_NO_HASHES:-}" ] || CUTIS=$cutis sh "$here/../cli/test_hashes.sh" | sed 's/^\(ok\|not ok\|skip\) /\1 windows: /'

# What is shipped: a program of somebody else's, with CMake, the DLLs beside it.
shipped() {
    cmake --install "$windows" --prefix "$T/shipped" &&
        cmake -S "$here/sample" -B "$T/sample" -G Ninja "-DCMAKE_TOOLCHAIN_FILE=$(realpath "$here/../../cmake/windows.cmake")" \
            "-Dcutis_DIR=$T/shipped/lib/cmake/cutis" "-DSAMPLE=$(realpath "$here/../../samples/04_file_in_file_out.c")" &&
        cmake --build "$T/sample" && cp "$T"/shipped/bin/*.dll "$T/sample"
}
claim "a sample is built against what is shipped" shipped
for kind in shared static; do
    claim "it runs, $kind" "$wine" "$T/sample/sample_$kind.exe" "$T/demo/biped.glb" "$T/four.glb" "$T/frames.npy"
done
claim "and needs no other DLL" imports "$T"/sample/*.exe
exit $failed
