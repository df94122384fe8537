# The command line: help, man page, completion and docs come from one table; wrong usage is exit 2 with one line and a hint.
. "$(dirname "$0")/common.sh"

verbs=$("$CUTIS" help | sed -n 's/^  \([a-z]*\) .*/\1/p' | grep -v cutis)
for verb in info check convert synth deform measure devices bench demo help version; do
    case " $(echo $verbs) " in *" $verb "*) ok "overview names $verb" ;; *) not_ok "overview names $verb" "it does not" ;; esac
done

# Every option of a verb, as completion lists them, stands in its help, in the man page and in docs/cli.md.
"$CUTIS" help --completion bash >"$T/completion"
"$CUTIS" help --man >"$T/man"
"$CUTIS" help --markdown >"$T/cli.md"
for verb in $verbs; do
    missing=
    "$CUTIS" "$verb" --help >"$T/help" || missing=exit
    "$CUTIS" help "$verb" | cmp -s - "$T/help" || missing="$missing help-verb-differs"
    grep -q '^Examples:' "$T/help" || missing="$missing examples"
    sed -n "s/^    $verb) options=\"\([^\"]*\)\".*/\1/p" "$T/completion" | tr ' ' '\n' | grep . >"$T/options"
    [ -s "$T/options" ] || missing="$missing completion"
    while read -r option; do
        grep -q -e "$option" "$T/help" || missing="$missing $option"
        grep -q -e "\`[^|]*$option" "$T/cli.md" || missing="$missing $option-in-docs"
        grep -q -e "$(echo "$option" | sed 's/-/\\\\-/g')" "$T/man" || missing="$missing $option-in-man"
    done <"$T/options"
    if [ -z "$missing" ]; then ok "help of $verb has all its options"; else not_ok "help of $verb has all its options" "$missing"; fi
done

if cmp -s "$T/cli.md" docs/cli.md; then ok "docs/cli.md is what the command says"; else
    not_ok "docs/cli.md is what the command says" "run: cutis help --markdown > docs/cli.md"; fi
# One list of methods (CUTIS_METHODS): what the header lists is what help, docs, parser and guide have.
sed -n 's/^ *X([A-Z_]*, [0-9]*, "\([a-z-]*\)",.*/\1/p' include/cutis/deform.h >"$T/methods"
missing=
[ "$(wc -l <"$T/methods")" -ge 10 ] || missing=the-header-is-not-understood
while read -r method; do
    "$CUTIS" help methods | grep -q "^  $method  " || missing="$missing $method-in-help"
    grep -q "^| \`$method\` |" docs/cli.md || missing="$missing $method-in-docs"
    grep -q "^| .*\`$method\`.* |" docs/guide/methods.md || missing="$missing $method-in-the-guide"
    "$CUTIS" deform /nowhere.glb --method "$method" -o "$T/x.obj" 2>&1 | grep -q nowhere || missing="$missing $method-in-parser"
    "$CUTIS" render /nowhere.glb --methods "$method" -o "$T/x.png" 2>&1 | grep -q nowhere || missing="$missing $method-in-pictures"
done <"$T/methods"
equals "every method stands in help, docs, parser and guide" "$missing" ""
if command -v bash >/dev/null; then
    bash -c ". '$T/completion'; COMP_WORDS=(cutis deform --me); COMP_CWORD=2; _cutis; echo \${COMPREPLY[*]}
             COMP_WORDS=(cutis deform --method d); COMP_CWORD=3; _cutis; echo \${COMPREPLY[*]}
             COMP_WORDS=(cutis synth qu); COMP_CWORD=2; _cutis; echo \${COMPREPLY[*]}
             COMP_WORDS=(cutis conv); COMP_CWORD=1; _cutis; echo \${COMPREPLY[*]}" >"$T/replies" 2>&1
    equals "bash completes options, choices, bodies and verbs" "$(tr '\n' ' ' <"$T/replies")" "--method dqs quadruped convert "
    # completes NAME WANTED WORD...: what bash offers for the last word
    completes() {
        claim=$1 wanted=$2; shift 2
        equals "$claim" "$(cd "$T/empty" && bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cutis; echo ${COMPREPLY[*]}' "$T/completion" "$@" 2>&1)" "$wanted"
    }
    mkdir "$T/empty" "$T/my files"
    program=$CUTIS
    case $program in /*) ;; *) program=$PWD/$program ;; esac
    "$CUTIS" synth arm --size low -q -o "$T/my files/arm.glb"
    file="$T/my\\ files/arm.glb"
    completes "reduce's methods are its own" "poisson geometric smooth klargest" cutis reduce x --method ""
    completes "skeleton's frames" "bone world" cutis skeleton x --frames ""
    completes "are not deform's" "" cutis deform x --frames ""
    completes "--clip offers the file's clips" "bend twist raise" "$program" deform "$file" --clip ""
    completes "by their beginning" "twist" "$program" render --dark "\"$T/my files/arm.glb\"" --clip = t
    completes "in a list the one after the comma" "bend,twist" "$program" reduce -o y.glb "$file" --poses bend,t
    completes "retarget's are the motion's" "raise" "$program" retarget x --motion "$file" --clip r
    completes "and a file that is none is silent" "" "$program" deform "$T/completion" --clip ""
    completes "help offers verbs" "deform devices demo" cutis help de
    completes "an output is a file, whatever it follows" "" cutis synth -o ""
    # A clip's name is text, whatever is in it.
    /usr/bin/python3 - "$T/my files/arm.glb" "$T/evil.glb" <<'PY'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
length = struct.unpack_from("<I", data, 12)[0]
doc = json.loads(data[20:20 + length])
for clip, name in zip(doc["animations"], ["$(touch owned)", "two words", "a\nb"]): clip["name"] = name
text = json.dumps(doc).encode(); text += b" " * (-len(text) % 4)
rest = data[20 + length:]
open(sys.argv[2], "wb").write(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A) + text + rest)
PY
    completes "names are quoted, and indices where they are no line" '\$\(touch\ owned\) two\ words 2' "$program" deform "$T/evil.glb" --clip ""
    equals "and not run" "$(ls "$T/empty")" ""
else skip "bash completes options, choices, bodies, verbs and clips" "no bash"; fi
if command -v man >/dev/null && command -v groff >/dev/null; then
    man --warnings -l "$T/man" >"$T/page" 2>"$T/warnings"
    if [ -s "$T/warnings" ] || ! grep -q deform "$T/page"; then not_ok "the man page is clean troff" "$(head -1 "$T/warnings")"; else ok "the man page is clean troff"; fi
else skip "the man page is clean troff" "no man or groff"; fi

passes "--help" "$CUTIS" --help
passes "--version" "$CUTIS" --version
passes "-v" "$CUTIS" -v
equals "is the version" "$(cat "$T/stdout")" "$("$CUTIS" version)"
passes "help --json" "$CUTIS" help --json
equals "has every verb" "$(json "$T/stdout" "' '.join(v['name'] for v in d['verbs'])")" "$(echo $verbs)"
passes "help of a verb as JSON" "$CUTIS" help deform --json
holds "has its options" "$T/stdout" "d['name'] == 'deform' and 'dqs' in [o for o in d['options'] if o['name'] == 'method'][0]['choices']"
"$CUTIS" deform --help --json | cmp -s - "$T/stdout" && ok "and --help --json is the same" || not_ok "and --help --json is the same" "it differs"
passes "version --json" "$CUTIS" version --json
holds "version is a string" "$T/stdout" "isinstance(d['version'], str)"

fails 2 "unknown verb" 'did you mean deform' "$CUTIS" defrom x
fails 2 "unknown option" 'did you mean --method' "$CUTIS" deform x --methd dqs -o "$T/out/a.npy"
fails 2 "unknown choice" 'one of: lbs' "$CUTIS" deform x --method foo -o "$T/out/a.npy"
fails 2 "near choice" 'did you mean dqs' "$CUTIS" deform x --method dqz -o "$T/out/a.npy"
fails 2 "missing value" 'needs a value' "$CUTIS" deform x -o
fails 2 "missing operand" 'MODEL is missing' "$CUTIS" info
fails 2 "too many operands" 'unexpected b' "$CUTIS" info a b
fails 2 "option given twice" 'twice' "$CUTIS" deform x --fps 1 --fps 2 -o "$T/out/a.npy"
fails 2 "flag with a value" 'no value' "$CUTIS" info x --json=1
fails 2 "not a number" 'a number' "$CUTIS" deform x --fps fast -o "$T/out/a.npy"
fails 2 "not a whole number" 'whole number' "$CUTIS" deform x --threads 1.5 -o "$T/out/a.npy"
fails 2 "number out of range" '1 to 1024' "$CUTIS" deform x --threads 0 -o "$T/out/a.npy"
fails 2 "infinite number" 'a number' "$CUTIS" deform x --fps inf -o "$T/out/a.npy"
fails 2 "hexadecimal number" 'whole number' "$CUTIS" synth biped --vertices 0x10 -o "$T/out/a.glb"
fails 2 "missing output" '-o FILE is missing' "$CUTIS" deform x
fails 2 "an empty name" 'a name is empty' "$CUTIS" info ""
for line in "reduce x" "cage x --cage y.obj" "handles x --skeleton" "fit x --poses a --shapes b.obj"; do
    fails 2 "${line%% *} does not write weights where they are lost" 'ends in .glb or .gltf' "$CUTIS" $line -o "$T/out/a.obj"
done
fails 2 "a skeleton is no array" '.ply or .stl' "$CUTIS" skeleton x --parts auto -o "$T/out/a.npy"
fails 2 "--ascii is PLY's" 'for .ply' "$CUTIS" convert x --ascii -o "$T/out/a.obj"
fails 2 "--ascii is PLY's in deform too" 'for .ply' "$CUTIS" deform x --ascii -o "$T/out/a.npy"
fails 2 "--weights is glTF's" 'for .glb' "$CUTIS" synth arm --weights u8 -o "$T/out/a.obj"
fails 2 "cage: what is for reducing" 'needs --influences.*sets' "$CUTIS" cage x --cage y.obj --sets largest -o "$T/out/a.glb"
fails 2 "cage: an energy it has not" 'for skins' "$CUTIS" cage x --cage y.obj --influences 8 --energy normals -o "$T/out/a.glb"
fails 2 "a report is a page" 'ends in .html' "$CUTIS" reduce x --report "$T/out/a.txt" -o "$T/out/a.glb"
fails 2 "weights are drawn as a picture" 'ends in .png' "$CUTIS" handles x --skeleton --weights-picture "$T/out/a.txt" -o "$T/out/a.glb"
fails 2 "a rig is drawn as a picture" 'ends in .png' "$CUTIS" skeleton x --parts auto --picture "$T/out/a.txt" -o "$T/out/a.glb"
for verb in convert synth deform render reduce cage handles fit skeleton reproduce; do # x is a body for synth alone
    case $verb in synth) input=arm ;; reproduce) input= ;; *) input=x ;; esac
    fails 2 "$verb wants an output" '-o (FILE|DIR) is missing' "$CUTIS" $verb $input
    case $("$CUTIS" help $verb | head -1) in *"-o OUTPUT") ok "the usage of $verb says so" ;; *) not_ok "the usage of $verb says so" "it does not" ;; esac
done
fails 2 "output of unknown kind" '.npy .pc2' "$CUTIS" deform x -o "$T/out/a.xyz"
fails 2 "device of unknown kind" 'want cpu' "$CUTIS" deform "$T/none.glb" --device gpu -o "$T/out/a.npy"
fails 2 "unknown body" 'did you mean biped' "$CUTIS" synth bipd -o "$T/out/a.glb"
fails 2 "seed without crowd" 'for crowd' "$CUTIS" synth biped --seed 1 -o "$T/out/a.glb"
fails 2 "help of an unknown verb" 'unknown verb' "$CUTIS" help nothing
fails 2 "unknown bench" 'did you mean' "$CUTIS" bench blnd
"$CUTIS" >"$T/stdout" 2>"$T/stderr"; code=$?
equals "no verb: overview and exit 2" "$code $(grep -c "^  deform " "$T/stdout")" "2 1"
# A datagram for each write: two programs that write to one log do not mix their lines.
equals "an error is one write" "$(/usr/bin/python3 -c '
import socket, subprocess, sys
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
subprocess.run(sys.argv[1:], stderr=theirs)
ours.setblocking(False)
line, more = ours.recv(65536), 0
try:
    while ours.recv(65536): more += 1
except BlockingIOError: pass
print(line.decode().strip(), more)' "$CUTIS" info "a
b" c)" "cutis: info: unexpected c (see: cutis help info) 0"
fails 1 "a name of two lines" "cutis: none\\?b: " "$CUTIS" info "none
b"
exit $failed
