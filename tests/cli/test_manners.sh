# Manners towards the shell and other people's files: Ctrl-C, full disks, what may be replaced.
. "$(dirname "$0")/common.sh"
body=$T/body.glb
large=$T/large.glb # seconds of work for the verbs that are stopped
"$CUTIS" synth biped --vertices 3000 -q -o "$body" && "$CUTIS" synth biped --vertices 80000 -q -o "$large" || exit 1

# interrupted SIGNAL COMMAND...: starts it in $T/out, sends the signal once something stands there (or after 0.7 s), prints the
# signal it died of, and has its stderr in $T/stderr.
interrupted() {
    rm -rf "$T/out"; mkdir "$T/out"
    sent=$1; shift
    /usr/bin/python3 -c '
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL) # a job in the background ignores it, and so would the command, until the disk is full
child = subprocess.Popen(sys.argv[4:], cwd=sys.argv[2], stdout=subprocess.DEVNULL, stderr=open(sys.argv[3], "w"))
start = time.time()
while time.time() - start < 0.7 and len(os.listdir(sys.argv[2])) < 3: time.sleep(0.01)
child.send_signal(getattr(signal, "SIG" + sys.argv[1]))
code = child.wait()
print(signal.Signals(-code).name if code < 0 else f"exit {code}")' "$sent" "$T/out" "$T/stderr" "$@"
}
case $CUTIS in /*) ;; *) CUTIS=$PWD/$CUTIS ;; esac
stops() { # NAME SIGNAL VERB ARGUMENTS...: dies of the signal, says so in the one wording, leaves nothing
    claim=$1 signal=$2; shift 2
    died=$(interrupted "$signal" "$CUTIS" "$@" 2>&1)
    equals "$claim" "$died, $(cat "$T/stderr"), left: $(ls -A "$T/out")" "SIG$signal, cutis: $1: stopped, left: "
}
stops "Ctrl-C ends an array" INT deform "$body" --clip walk --frames 0:9000000 -o a.npy
stops "SIGTERM too" TERM deform "$body" --clip walk --frames 0:9000000 -o a.npy
stops "Ctrl-C ends a sequence and takes its .mtl away" INT deform "$body" --clip walk --frames 0:9000000 -o f_0000.obj
stops "and one of patches" INT deform "$body" --clip walk --frames 0:100000 --method patches -o p.obj
stops "Ctrl-C ends a comparison" INT compare "$large" --clip walk --fps 1500 --methods dqs,lbs --report c.html
stops "Ctrl-C ends a measurement" INT measure --plot p.svg "$large"
stops "Ctrl-C ends a reduction" INT reduce "$large" --influences 2 --compare -o r.glb
# A loop of the shell ends with the command in it, for the command died of the signal.
cat >"$T/loop.sh" <<'LOOP'
for i in 1 2 3; do "$1" deform "$2" --clip walk --frames 0:9000000 -q -o a.npy; echo $i >>rounds; done
LOOP
if command -v bash >/dev/null; then
    rm -rf "$T/out"; mkdir "$T/out"
    /usr/bin/python3 -c '
import os, signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
child = subprocess.Popen(sys.argv[2:], cwd=sys.argv[1], stderr=subprocess.DEVNULL, start_new_session=True)
time.sleep(0.7)
os.killpg(child.pid, signal.SIGINT)
child.wait()' "$T/out" bash "$T/loop.sh" "$CUTIS" "$body"
    equals "a shell's loop stops too" "$(ls -A "$T/out")" ""
else skip "a shell's loop stops too" "no bash"; fi

# A limit on the size of files stands for a full disk: room for the .mtl, none for the .obj.
full() { (trap '' XFSZ; ulimit -f 8; "$CUTIS" "$@"); }
fails 1 "a full disk leaves no .mtl without its .obj" 'a.obj: ' full convert "$body" -o "$T/out/a.obj"
fails 1 "nor in a sequence" 'f_0000.obj: ' full deform "$body" --clip walk --frames 0:5 -o "$T/out/f.obj"
fails 1 "nor a .bin without its .gltf" 'a\.(bin|gltf): ' full convert "$body" -o "$T/out/a.gltf"
rm -rf "$T/out"; mkdir "$T/out"
passes "a sequence" "$CUTIS" deform "$body" --clip walk --frames 3:5 -o "$T/out/f.obj"
equals "is reported by the names of its files" "$(sed 's/: .*//' "$T/stdout")" "$T/out/f_0003.obj to $T/out/f_0004.obj"
equals "which are there" "$(cd "$T/out" && echo *)" "f_0003.mtl f_0003.obj f_0004.mtl f_0004.obj"

# Replacing. Root may write everything, but a file without any write permission is not replaced by it either.
mode() { stat -c %a "$1"; }
echo mine >"$T/kept.glb"; chmod 444 "$T/kept.glb"
fails 1 "a read-only output is refused" 'kept.glb: the file is read-only; --force' "$CUTIS" convert "$body" -o "$T/kept.glb"
equals "and stays" "$(cat "$T/kept.glb") $(mode "$T/kept.glb")" "mine 444"
passes "--force replaces it" "$CUTIS" convert "$body" --force -q -o "$T/kept.glb"
equals "and keeps its mode" "$(mode "$T/kept.glb")" 444
cmp -s "$body" "$T/kept.glb" && ok "with the new content" || not_ok "with the new content" "it differs"
echo mine >"$T/a.mtl"; chmod 444 "$T/a.mtl"
fails 1 "a read-only .mtl is refused" 'a.mtl: the file is read-only' "$CUTIS" convert "$body" -o "$T/a.obj"
equals "and no .obj is made without it" "$(ls "$T/a.obj" 2>/dev/null)" ""
: >"$T/mode.glb"; chmod 640 "$T/mode.glb"
passes "an output is replaced" "$CUTIS" convert "$body" -q -o "$T/mode.glb"
equals "and its mode kept" "$(mode "$T/mode.glb")" 640
ln -s later.glb "$T/link.glb"
passes "a link to nothing yet is followed" "$CUTIS" convert "$body" -q -o "$T/link.glb"
if [ -L "$T/link.glb" ] && cmp -s "$body" "$T/later.glb"; then ok "and stays a link"; else not_ok "and stays a link" "$(ls -l "$T/link.glb")"; fi
for verb in check convert synth deform measure bench demo render compare reduce cage handles fit retarget skeleton reproduce; do
    "$CUTIS" help $verb | grep -q -e '  --force ' || without="${without-} $verb"
done
equals "every verb that writes has --force" "${without-}" ""
exit $failed
