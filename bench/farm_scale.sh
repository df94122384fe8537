#!/bin/sh
# farm_scale.sh CUTIS FOLDER [ROUNDS]: `cutis farm` under mpirun on one and on two ranks alternately, one thread each: compare (no large
# output), and SBS deform of 10^9 vertices (12 GB in FOLDER), the disk's rate beside it, and what `farm plan` says. As root on a
# machine with other work pieces get the cores for themselves (chrt), and those who hand out go before pieces.
set -eu
cutis=$(realpath "$1") rounds=${3:-3}
mkdir -p "$2" && cd "$2"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
alone=; [ "$(id -u)" != 0 ] || alone="chrt -f 50"
children() { ps -eo pid,ppid | awk -v p="$1" '$2 == p {print $1}'; }
run() { # RANKS JOBS: prints seconds
    rm -rf out
    $alone timeout 1000 mpirun --bind-to none --oversubscribe -n "$1" "$cutis" farm "$2" -o out --json >log 2>err &
    job=$!
    for k in $(seq 200); do [ -e out/farm/manifest ] && break; sleep 0.01; done
    if [ -n "$alone" ]; then
        mpi=$(children $job)
        for p in $job $mpi $(children "$mpi"); do chrt -f -p 60 "$p" 2>/dev/null || true; done
    fi
    wait $job || { head -1 err; exit 1; }
    sed -n 's/.*"event":"end".*"seconds":\([0-9.]*\),"rate".*/\1/p' log
    rm -rf out
}
[ -f c1.glb ] || { "$cutis" synth biped --vertices 20000 -q -o c1.glb; for i in 2 3 4 5 6; do cp c1.glb c$i.glb; done; }
echo '{"jobs": [{"verb": "compare", "files": "c[1-6].glb", "clips": ["bend", "walk"], "options": {"methods": "lbs,sbs,dqs"}}]}' >compare.json
echo '{"jobs": [{"verb": "deform", "files": "c1.glb", "clips": ["walk"], "output": "walk.npy", "options": {"method": "sbs", "fps": 50000, "frames": "0:50000"}}]}' >deform.json
for jobs in compare.json deform.json; do
    for i in $(seq "$rounds"); do
        one=$(run 1 $jobs) two=$(run 2 $jobs)
        echo "$jobs: 1 rank $one s, 2 ranks $two s, $(echo "$one $two" | awk '{printf "%.2f", $1 / $2}') times; plan for 2: $($alone "$cutis" farm plan $jobs --ranks 2 -o . --json | sed -n 's/.*"seconds": \([0-9.]*\),/\1/p') s; load $(cut -d' ' -f1 /proc/loadavg)"
    done
done
dd if=/dev/zero of=disk bs=4M count=512 conv=fdatasync 2>&1 | tail -1
rm -f disk
