#!/bin/sh
# README.md keeps its word: its program compiles without a warning as it stands, links with the libraries of this build and runs;
# its commands run one after the other.
set -u
HERE=$(cd "$(dirname "$0")/../.." && pwd)
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
status=0
verdict() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$T/log" 2>&1; then echo "ok $name"; else echo "not ok $name: $(tail -n 3 "$T/log" | tr '\n' ' ')"; status=1; fi
}
block() { awk -v open="\`\`\`$1" '$0 == open { on = 1; next } /^```/ { on = 0 } on' "$HERE/README.md"; }
block c >"$T/hello.c"
block sh | sed "s|^build/cutis |\"\$CUTIS\" |" >"$T/commands.sh"

# The compiler and the sanitizers of this build, so that its objects link.
cached() { sed -n "s/^$1:[A-Z]*=//p" "$BUILD/CMakeCache.txt"; }
sanitizer=
[ "$(cached CUTIS_SANITIZE)" = ON ] && sanitizer=-fsanitize=address,undefined
compiles() {
    [ -s "$T/hello.c" ] && "$(cached CMAKE_C_COMPILER)" -std=c17 -Wall -Wextra -Werror $sanitizer -I"$HERE/include" "$T/hello.c" -o "$T/hello" \
        "$BUILD/libcutis-io.a" "$BUILD/libcutis.a" -ljansson -lmeshoptimizer -lm -lpthread -ldl
}
runs() { (cd "$T" && ./hello) >"$T/said" && cat "$T/said" && grep -q '^success: 60 frames of [1-9][0-9]* vertices$' "$T/said"; }
commands() { [ "$(grep -c CUTIS "$T/commands.sh")" -ge 5 ] && (cd "$T" && sh -e commands.sh); }
fails() { (cd / && ! "$T/hello") && grep -q 'out/demo/biped.glb' "$T/log"; } # without the demo's file it says which

verdict the_program_in_README_compiles compiles
verdict without_its_file_it_says_so fails
mkdir -p "$T/out/demo"
verdict a_character_for_README "$CUTIS" synth biped -q -o "$T/out/demo/biped.glb" # as the demo makes it
verdict the_program_in_README_runs runs
verdict the_commands_in_README_run commands
exit $status
