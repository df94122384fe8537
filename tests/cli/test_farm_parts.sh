#!/bin/sh
# cutis fit --weights-only over shapes that stay in their file, and cut into parts by the farm: the bytes of one process with everything in
# memory. CUTIS_SOAK=1: shapes four times as large as the address space it gets, and more ranks.
. "$(dirname "$0")/common.sh"
CUTIS=$(realpath "$(command -v "$CUTIS")")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
unset OMPI_COMM_WORLD_SIZE PMI_SIZE PMIX_RANK
cd "$T" || exit 1
farm() { timeout 120 "$CUTIS" farm "$@"; }

mkdir in
"$CUTIS" synth arm --vertices 12000 --examples in/shapes -q -o in/arm.glb
learn="--poses examples --shapes in/shapes/examples.npy --learn-weights --weights-only"
passes "fit with its shapes in memory" "$CUTIS" fit in/arm.glb $learn --json -o memory.glb
mv stdout memory.json
passes "and with shapes that stay in their file" "$CUTIS" fit in/arm.glb $learn --memory 0.001 --json -o file.glb
if cmp -s memory.glb file.glb; then ok "they give the same bytes"; else not_ok "they give the same bytes" "they differ"; fi
sed 's/"output":.*//' stdout >file.json; sed -i 's/"output":.*//' memory.json
if cmp -s memory.json file.json; then ok "and the same report"; else not_ok "and the same report" "$(diff memory.json file.json | head -3)"; fi
truncate -s 1100000 in/shapes/examples.npy
fails 1 "a file that ends before its shapes" 'examples.npy' "$CUTIS" fit in/arm.glb $learn --memory 0.001 -o "$T/out/x.glb"
"$CUTIS" synth arm --vertices 12000 --examples in/shapes -q -o in/arm.glb

cat >in/jobs.json <<'END'
{"jobs": [{"verb": "fit", "files": "arm.glb", "output": "{file}.glb",
  "options": {"poses": "examples", "shapes": ["shapes/examples.npy"], "learn-weights": true, "weights-only": true, "memory": 0.001}}]}
END
farm in/jobs.json -o one --ranks 1 -q 2>err || not_ok "parts on one rank" "$(head -1 err)"
if cmp -s memory.glb one/arm.glb; then ok "parts on one rank give the bytes of one process"; else not_ok "parts on one rank give the bytes of one process" "they differ"; fi
equals "three parts and what puts them together" "$(grep -c '^[0-9a-f]* done 0 ' one/farm/manifest)" 4
equals "parts are gone when they were put together" "$(find one -name parts)" ""
one=$(hash_of one)
farm in/jobs.json -o two --ranks 2 -q 2>err || not_ok "parts on two ranks" "$(head -1 err)"
equals "two ranks give the same hash" "$(hash_of two)" "$one"
for i in 1 2; do farm in/jobs.json -o slices --piece $i/2 -q 2>err || not_ok "slice $i" "$(head -1 err)"; done
farm join in/jobs.json -o slices -q 2>err || not_ok "join" "$(head -1 err)"
equals "slices, which do not wait for each other, give it too" "$(hash_of slices)" "$one"
counts=2; [ -n "${CUTIS_SOAK:-}" ] && counts="1 2 3 4"
if ! command -v mpirun >log; then skip "ranks of MPI give one hash" "there is no mpirun"
elif ! [ -x "$(dirname "$CUTIS")/libexec/cutis/cutis-farm" ]; then skip "ranks of MPI give one hash" "cutis-farm was not built"
else
    for n in $counts; do
        timeout 120 mpirun --oversubscribe -q -n "$n" "$CUTIS" farm in/jobs.json -o mpi$n -q >log 2>&1 || not_ok "mpirun -n $n" "$(head -1 log)"
        equals "mpirun -n $n gives the same hash" "$(hash_of mpi$n)" "$one"
    done
fi

# Parts that are there wait for the piece that puts them together.
(trap '' XFSZ; ulimit -f 1000; farm in/jobs.json -o late --ranks 2 -q) >log 2>err; code=$?
equals "a result that cannot be written is the one piece that fails, and its parts stay" "$code $(grep -c 'failed 3 times' err) $(ls late/farm/parts | tr '\n' ' ')" "1 1 0.0 0.1 0.2 "
printf X | dd of=late/farm/parts/0.1 bs=1 seek=4000 conv=notrunc 2>/dev/null; rm late/farm/parts/0.2
farm in/jobs.json -o late --resume --json >log 2>err; code=$?
equals "--resume learns again what is damaged or gone, and puts them together" "$code $(grep -c '"event":"piece"' log) $(hash_of late)" "0 3 $one"
farm in/jobs.json -o late --resume --json >log 2>err
equals "then nothing is left to do" "$(grep -c '"event":"piece"' log)" 0
rm late/arm.glb
farm in/jobs.json -o late --resume -q 2>err || not_ok "a result that is gone" "$(head -1 err)"
equals "a result that is gone is made again" "$(hash_of late)" "$one"
passes "a plan of parts" farm plan in/jobs.json --ranks 3 --disk 1GB/s --json

# Kills: the same hash whatever the moment.
wrong=0; rounds=2; [ -n "${CUTIS_SOAK:-}" ] && rounds=30
for i in $(seq $rounds); do
    rm -rf killed
    "$CUTIS" farm in/jobs.json -o killed --ranks 2 -q >log 2>&1 & run=$!
    for k in $(seq 200); do [ -e killed/farm/parts ] && break; sleep 0.01; done
    sleep "0.$(printf %02d $(($(od -An -N1 -tu1 /dev/urandom) % 30)))"
    kill -9 $run 2>/dev/null; wait $run 2>/dev/null
    farm in/jobs.json -o killed --resume -q 2>err || wrong=$((wrong + 1))
    [ "$(hash_of killed)" = "$one" ] || wrong=$((wrong + 1))
done
equals "resumed after $rounds kills -9: the same bytes" "$wrong" 0

# A part that fails: what puts them together does not wait for ever.
sed 's/shapes\/examples.npy/shapes\/gone.npy/' in/jobs.json >in/gone.json
timeout 60 "$CUTIS" farm in/gone.json -o gone --ranks 2 -q >log 2>err; code=$?
equals "without its shapes every part fails, and the farm ends" "$code $(grep -c 'part [0-2]): failed 3 times' err)" "1 3"

if [ -n "${CUTIS_SOAK:-}" ]; then
    "$CUTIS" synth arm --vertices 200000 -q -o large.glb
    "$CUTIS" convert large.glb --clip bend -q -o bend.bvh
    frames=400
    /usr/bin/python3 - $frames <<'END'
import random, sys
text = open("bend.bvh").read().split("\n")
at = [k for k, line in enumerate(text) if line.startswith("MOTION")][0]
rows = [[float(x) for x in line.split()] for line in text[at + 3:] if line.strip()]
random.seed(1)
out = [" ".join("%.5f" % (x + (random.uniform(-20, 20) if j >= 3 else 0)) for j, x in enumerate(rows[k % len(rows)])) for k in range(int(sys.argv[1]))]
open("long.bvh", "w").write("\n".join(text[:at] + ["MOTION", "Frames: %s" % sys.argv[1], "Frame Time: 0.125"] + out) + "\n")
END
    "$CUTIS" deform large.glb --clip long.bvh --method dqs --fps 8 -q -o long.npy
    long="--poses long.bvh --shapes long.npy --learn-weights --weights-only --threads 1 -q"
    "$CUTIS" fit large.glb $long --memory 4 -o a.glb 2>err || not_ok "400 shapes in memory" "$(head -1 err)"
    limit=$(($(stat -c %s long.npy) / 4096))
    (ulimit -v $limit; "$CUTIS" fit large.glb $long --memory 4 -o c.glb) >log 2>&1 && not_ok "in memory they do not fit" "they do" || ok "in memory they do not fit into $limit KiB"
    (ulimit -v $limit; "$CUTIS" fit large.glb $long --memory 0.05 -o b.glb) 2>err || not_ok "a quarter of the shapes' size is enough" "$(head -1 err)"
    if cmp -s a.glb b.glb; then ok "shapes of $(stat -c %s long.npy) bytes in $limit KiB: the same bytes"; else not_ok "shapes four times the address space" "other bytes"; fi
fi
exit $failed
