#!/bin/sh
# One bake of a sequence that stays in its file, cut into parts by the farm: looked at, learned, tracks, judged, each by whichever rank is free.
# The bytes and the report are those of one process. CUTIS_SOAK=1: four times the address space, more ranks, more kills.
. "$(dirname "$0")/common.sh"
CUTIS=$(realpath "$(command -v "$CUTIS")")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
unset OMPI_COMM_WORLD_SIZE PMI_SIZE PMIX_RANK
cd "$T" || exit 1
farm() { timeout 200 "$CUTIS" farm "$@"; }
pieces() { grep -c '"event":"piece"' "$1"; }

mkdir in
"$CUTIS" synth arm --vertices 1001 -q -o in/arm.glb # no multiple of 4: files of parts end anywhere
"$CUTIS" convert in/arm.glb -q -o in/rest.obj 2>err
"$CUTIS" deform in/arm.glb --clip bend --method dqs --fps 130 -q -o in/moves.npy
"$CUTIS" deform in/arm.glb --clip bend --method dqs --fps 130 -q -o in/moves.pc2
cat >in/jobs.json <<'END'
{"jobs": [
 {"verb": "bake", "files": "moves.npy", "output": "bones.glb", "options": {"rest": "rest.obj", "bones": 2, "memory": 0.001}},
 {"verb": "bake", "files": "moves.pc2", "output": "rig.gltf", "options": {"rig": "arm.glb", "clip": "bend", "helpers": 1, "fps": 130, "memory": 0.001, "weights": "u16"}},
 {"verb": "bake", "files": "moves.npy", "output": "whole.glb", "options": {"rest": "rest.obj", "bones": 2}}
]}
END
/usr/bin/python3 - <<'END'
import json
jobs = json.load(open("in/jobs.json"))
json.dump({"jobs": jobs["jobs"][:1]}, open("in/first.json", "w"))
END
memory="--memory 0.001"
"$CUTIS" bake in/moves.npy --rest in/rest.obj --bones 2 $memory --threads 1 --json --report bones.html -o bones.glb >bones.json 2>err || not_ok "one process" "$(head -1 err)"
"$CUTIS" bake in/moves.pc2 --rig in/arm.glb --clip bend --helpers 1 --fps 130 --weights u16 $memory -q -o rig.gltf 2>err || not_ok "one process with a rig" "$(head -1 err)"
"$CUTIS" bake in/moves.npy --rest in/rest.obj --bones 2 -q -o whole.glb
farm in/jobs.json -o one --ranks 1 -q 2>err || not_ok "parts on one rank" "$(head -1 err)"
same=
for name in bones.glb rig.gltf rig.bin whole.glb; do cmp -s $name one/$name || same="$same $name"; done
equals "parts on one rank give the bytes of one process: joints alone, beside a rig, and a file that is no larger than memory" "$same" ""
json bones.json '{k: v for k, v in d.items() if k not in ("output", "seconds", "file")}' >a
json one/results.json '{k: v for k, v in d[0]["result"].items() if k not in ("output", "seconds", "file")}' >b
if [ -s a ] && cmp -s a b; then ok "and what it says"; else not_ok "and what it says" "$(cat a b | cut -c1-300)"; fi
count=$(($(grep -c '^[0-9a-f]* done 0 ' one/farm/manifest)))
frames=$(json one/results.json 'd[0]["result"]["frames"]')
equals "each frame is looked at, followed and judged in a part of 64 frames" "$count" $((3 * ((frames + 63) / 64) + 2))
equals "what fits in memory is one piece" "$(grep -c '^[0-9a-f]* done 2 ' one/farm/manifest)" 1
sed 's/"memory": 0.001}}/"memory": 0.001, "report": "bones.html"}}/' in/first.json >in/page.json
farm in/page.json -o page --ranks 2 -q 2>err || not_ok "a page beside it" "$(head -1 err)"
text() { sed -e 's/[0-9.]* s</s</g' -e 's/<pre>cutis .*//' -e 's/[^ "<>]*\(bones.glb\|moves.npy\)/\1/g' "$1"; }
text bones.html >a; text page/bones.html >b
if [ -s a ] && cmp -s a b; then ok "and the page that goes with it"; else not_ok "and the page that goes with it" "$(diff a b | cut -c1-200 | head -3)"; fi
equals "parts are gone when they were put together" "$(find one -name parts)" ""
one=$(hash_of one)
counts=2; [ -n "${CUTIS_SOAK:-}" ] && counts="2 3 4"
for n in $counts; do
    farm in/jobs.json -o local$n --ranks $n -q 2>err || not_ok "$n ranks" "$(head -1 err)"
    equals "$n ranks give the same hash" "$(hash_of local$n)" "$one"
done
for i in 1 2; do farm in/jobs.json -o slices --piece $i/2 -q 2>err || not_ok "slice $i" "$(head -1 err)"; done
farm join in/jobs.json -o slices -q 2>err || not_ok "join" "$(head -1 err)"
equals "slices, of which one does each whole, give it too" "$(hash_of slices)" "$one"
counts=4; [ -n "${CUTIS_SOAK:-}" ] && counts="1 2 3 4"
if ! command -v mpirun >log; then skip "ranks of MPI give one hash" "there is no mpirun"
elif ! [ -x "$(dirname "$CUTIS")/libexec/cutis/cutis-farm" ]; then skip "ranks of MPI give one hash" "cutis-farm was not built"
else
    for n in $counts; do
        timeout 200 mpirun --oversubscribe -q -n "$n" "$CUTIS" farm in/jobs.json -o mpi$n -q >log 2>&1 || not_ok "mpirun -n $n" "$(head -1 log)"
        equals "mpirun -n $n gives the same hash" "$(hash_of mpi$n)" "$one"
    done
fi
farm in/first.json -o first --ranks 2 -q 2>err
first=$(hash_of first)

# A disk that fails while frames are judged: said, and no file; figures of other frames would be no figures.
cat >late.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static long count;
size_t fread(void *to, size_t size, size_t items, FILE *file)
{
    static size_t (*real)(void *, size_t, size_t, FILE *);
    const char *last = getenv("LATE");
    if (!real) *(void **)&real = dlsym(RTLD_NEXT, "fread");
    return ++count > (last ? atol(last) : 1000000000) ? 0 : real(to, size, items, file);
}
__attribute__((destructor)) static void tell(void)
{
    const char *name = getenv("COUNTED");
    FILE *file = name ? fopen(name, "w") : NULL;
    if (file) fprintf(file, "%ld\n", count), fclose(file);
}
END
late() { LATE=$1 LD_PRELOAD=$T/late.so "$CUTIS" bake in/moves.npy --rest in/rest.obj --bones 2 $memory -q -o late.glb; }
if ! cc -D_GNU_SOURCE -shared -fPIC -o late.so late.c -ldl 2>log || ! COUNTED=$T/reads late 1000000000 2>log || ! [ -s reads ]; then skip "frames that cannot be read any more" "nothing can stand before fread here"
else
    rm -f late.glb; reads=$(cat reads)
    fails 1 "frames that cannot be read any more to be judged" "cannot be read any more" late $((reads * 3 / 4))
    fails 1 "nor to see what is left" "cannot be read any more" late $((reads - 3))
    equals "and there is no file then" "$(ls late.glb 2>/dev/null)" ""
fi

# What is damaged or gone is done again, and nothing else.
farm in/first.json -o late --ranks 2 -q >log 2>err & run=$!
for k in $(seq 2000); do [ -e late/farm/parts/0.11 ] && break; sleep 0.01; done
mkdir -p late/bones.glb/x; wait $run; code=$?
parts=$(ls late/farm/parts 2>/dev/null | wc -l)
equals "a result that cannot be written is the one piece that fails, and its parts stay" "$code $(grep -c 'failed 3 times' err) $parts" "1 1 $((count - 1))"
printf X | dd of=late/farm/parts/0.1 bs=1 seek=40 conv=notrunc 2>log; rm -f "late/farm/parts/0.$((count - 2))"
rm -r late/bones.glb
farm in/first.json -o late --resume --json >log 2>err; code=$?
equals "--resume does a damaged part and one that is gone again" "$code $(pieces log) $(hash_of late)" "0 3 $first"
farm in/first.json -o late --resume --json >log 2>err
equals "then nothing is left to do" "$(pieces log)" 0
rm late/bones.glb
farm in/first.json -o late --resume -q 2>err || not_ok "a result that is gone" "$(head -1 err)"
equals "a result that is gone is made again" "$(hash_of late)" "$first"
passes "a plan takes it as one piece" farm plan in/first.json --ranks 2 --disk 1GB/s --json
holds "and says so" stdout "d['pieces'] == 1"

# What is wrong with a frame is said once; what needs that part waits for nothing.
/usr/bin/python3 - <<'END'
data = bytearray(open("in/moves.npy", "rb").read())
data[-8:-4] = b"\xff\xff\xff\xff" # the last frame's last vertex
open("in/bad.npy", "wb").write(data)
END
sed 's/moves.npy/bad.npy/' in/first.json >in/bad.json
farm in/bad.json -o bad --ranks 2 -q >log 2>err; code=$?
equals "a number that is none is named, and the farm ends" "$code $(grep -c "failed 3 times: .*bad.npy: bake: frame $((frames - 1)): vertex .* is not finite" err) $(grep -c 'failed 3 times' err)" "1 1 1"
holds "results.json has why" bad/results.json "'not finite' in d[0]['error']"

# Kills: the same hash whatever the moment.
wrong=0; rounds=2; [ -n "${CUTIS_SOAK:-}" ] && rounds=30
for i in $(seq $rounds); do
    rm -rf killed
    "$CUTIS" farm in/first.json -o killed --ranks 2 -q >log 2>&1 & run=$!
    for k in $(seq 400); do [ -e killed/farm/parts ] && break; sleep 0.01; done
    sleep "$(($(od -An -N1 -tu1 /dev/urandom) % 4)).$(printf %02d $(($(od -An -N1 -tu1 /dev/urandom) % 100)))"
    kill -9 $run 2>/dev/null; wait $run 2>/dev/null
    farm in/first.json -o killed --resume -q 2>err || wrong=$((wrong + 1))
    [ "$(hash_of killed)" = "$first" ] || wrong=$((wrong + 1))
done
equals "resumed after $rounds kills -9: the same bytes" "$wrong" 0

if [ -n "${CUTIS_SOAK:-}" ]; then # no process of it has more memory than a quarter of the file
    "$CUTIS" synth arm --vertices 8000 -q -o in/arm.glb
    "$CUTIS" convert in/arm.glb -q --force -o in/rest.obj 2>err
    "$CUTIS" deform in/arm.glb --clip bend --method dqs --fps 2000 -q --force -o in/moves.npy
    sed 's/"memory": 0.001/"memory": 0.005/' in/first.json >in/large.json
    "$CUTIS" bake in/moves.npy --rest in/rest.obj --bones 2 --memory 0.005 -q -o large.glb
    limit=$(($(stat -c %s in/moves.npy) / 4096))
    (ulimit -v $limit; timeout 3000 "$CUTIS" farm in/large.json -o large --ranks 2 -q) 2>err || not_ok "a quarter of its size is enough" "$(head -1 err)"
    if cmp -s large.glb large/bones.glb; then ok "a sequence of $(stat -c %s in/moves.npy) bytes in parts within $limit KiB: the same bytes"; else not_ok "four times the address space" "other bytes"; fi
fi
exit $failed
