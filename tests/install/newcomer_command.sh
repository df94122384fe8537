#!/bin/sh
# newcomer_command.sh CUTIS: what a newcomer tries with the command, by its outside alone (newcomer.sh runs it on a bare Debian:
# sh and perl, no Python). Run it by hand on any build.
set -u
cutis=$1
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
failed=0
verdict() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$T/log" 2>&1; then echo "ok $name"; else echo "not ok $name: $(head -n 2 "$T/log" | tr '\n' ' ')"; failed=1; fi
}
says() { # PATTERN COMMAND...: whatever its exit code
    pattern=$1
    shift
    "$@" 2>&1 | tee "$T/said" | grep -qE -- "$pattern" || { cat "$T/said"; return 1; }
}
says_not() { ! says "$@" || { cat "$T/said"; return 1; }; }
biped=$T/biped.glb
"$cutis" synth biped --vertices 3000 -q -o "$biped" || exit 1

moved() {
    "$cutis" render "$biped" -q -o "$T/rest.png" && "$cutis" render "$biped" --clip twist -q -o "$T/clip.png" && ! cmp -s "$T/rest.png" "$T/clip.png"
}
verdict "a picture of a clip is not the rest pose" moved

verdict "convert reports the file, not its source" says_not ': 3000 vertices' "$cutis" convert "$biped" -o "$T/walk.bvh"
verdict "convert --clip writes that clip" "$cutis" convert "$biped" --clip walk -q -o "$T/clip.bvh"
verdict "info of a BVH counts its joints" says_not '^ *joints +0$' "$cutis" info "$T/walk.bvh"

# interrupted COMMAND...: Ctrl-C after a moment ends it as a signal does, so that a shell's loop stops.
interrupted() {
    perl -e '$p = fork; exec @ARGV unless $p; select undef, undef, undef, 0.7; kill INT => $p; waitpid $p, 0; exit(($? & 127) != 2)' "$@"
}
verdict "Ctrl-C ends the command by SIGINT" interrupted "$cutis" deform "$biped" --clip walk --frames 0:9000000 -o "$T/a.npy"
verdict "and leaves nothing behind" test ! -e "$T/a.npy"
mkdir "$T/frames"
interrupted "$cutis" deform "$biped" --clip walk --frames 0:100000 -o "$T/frames/f_0000.obj" >/dev/null 2>&1
no_stray() {
    for file in "$T"/frames/*.mtl; do [ ! -e "$file" ] || [ -e "${file%.mtl}.obj" ] || { echo "$file is left"; return 1; }; done
}
verdict "Ctrl-C leaves no .mtl without its .obj" no_stray

kept() { # a file that may not be written is not replaced, but with --force, which keeps its mode
    echo mine >"$T/kept.glb" && chmod 444 "$T/kept.glb"
    ! "$cutis" convert "$biped" -o "$T/kept.glb" && [ "$(cat "$T/kept.glb")" = mine ] &&
        "$cutis" convert "$biped" --force -q -o "$T/kept.glb" && [ "$(stat -c %a "$T/kept.glb")" = 444 ]
}
modes() { : >"$T/mode.glb" && chmod 640 "$T/mode.glb" && "$cutis" convert "$biped" -q -o "$T/mode.glb" && [ "$(stat -c %a "$T/mode.glb")" = 640 ]; }
dangling() { # followed or refused
    ln -s "$T/target.glb" "$T/link.glb"
    "$cutis" convert "$biped" -q -o "$T/link.glb"
    [ -L "$T/link.glb" ]
}
verdict "a read-only output is refused without --force" kept
verdict "a replaced file keeps its mode" modes
verdict "a dangling link is not replaced" dangling

json() { [ "$("$cutis" help --json | head -c 1)" = '{' ]; }
verdict "help --json is JSON" json
verdict "-v is the version" says '^(cutis )?[0-9]+\.[0-9]+\.[0-9]+' "$cutis" -v
verdict "help of an unknown verb does not send in circles" says_not 'help help' "$cutis" help foo
verdict "a size too large is said so" says_not 'want WIDTHxHEIGHT' "$cutis" render "$biped" --size 100000x100000 -o "$T/x.png"
verdict "an error names its subject once" says_not 'biped: synth: biped' "$cutis" synth biped --vertices 10 -o "$T/x.glb"
exit $failed
