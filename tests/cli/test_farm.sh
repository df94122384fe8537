#!/bin/sh
# cutis farm: the same bytes on any number of ranks as one process writes, resumed after kills, in slices; what bad input gets.
# CUTIS_SOAK=1: 100 kills, 10^5 pieces.
. "$(dirname "$0")/common.sh"
CUTIS=$(realpath "$(command -v "$CUTIS")")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl_vader_single_copy_mechanism=none
unset OMPI_COMM_WORLD_SIZE PMI_SIZE PMIX_RANK
cd "$T" || exit 1
if ! command -v mpirun >mpi.log; then no_mpi="there is no mpirun"
elif ! [ -x "$(dirname "$CUTIS")/libexec/cutis/cutis-farm" ]; then no_mpi="cutis-farm was not built"
else no_mpi=; fi
mpi() { n=$1; shift; timeout 120 mpirun --oversubscribe -q -n "$n" "$CUTIS" farm "$@"; }

mkdir in && cd in || exit 1
"$CUTIS" synth biped --size low -q -o biped.glb
"$CUTIS" synth arm --examples shapes -q -o arm.glb
"$CUTIS" synth family --kind human --seed 7 --unrigged -q -o scan.glb
cat >jobs.json <<'END'
{"jobs": [
 {"verb": "deform", "files": ["biped.glb"], "clips": ["walk", "bend"], "output": "{file}_{clip}.npy", "frames_per_piece": 10,
  "options": {"method": "sbs", "normals": "normals/{clip}.npy"}},
 {"verb": "deform", "files": "arm.glb", "clips": ["twist"], "output": "deep/er/{file}.pc2", "options": {"method": "dqs"}, "frames_per_piece": 7},
 {"verb": "deform", "files": "arm.glb", "clips": ["bend"], "output": "{file}.ply", "options": {"frames": "3:6"}},
 {"verb": "compare", "files": ["biped.glb", "arm.glb"], "clips": ["bend"], "options": {"methods": "lbs,dqs"}},
 {"verb": "reduce", "files": "biped.glb", "output": "reduced/{file}.glb", "options": {"influences": 2, "method": "smooth"}},
 {"verb": "fit", "files": "arm.glb", "output": "fit_{file}.glb", "options": {"poses": "examples", "shapes": ["shapes/examples.npy"]}},
 {"verb": "bake", "files": "arm.glb", "output": "bake_{file}.glb", "options": {"method": "dqs", "helpers": 1, "clips": "bend"}},
 {"verb": "rig", "files": "scan.glb", "output": "rig_{file}.glb", "options": {"kind": "human", "largest": true}},
 {"verb": "check", "files": "*.glb"},
 {"verb": "convert", "files": "*.glb", "output": "{file}.obj"}
]}
END

# The same bytes ----------------------------------------------------------------------------------
cd ..
passes "every kind of job on one rank" timeout 120 "$CUTIS" farm in/jobs.json -o one --ranks 1
one=$(hash_of one)
"$CUTIS" deform in/biped.glb --clip bend --method sbs --normals n.npy -q -o p.npy 2>/dev/null
"$CUTIS" deform in/arm.glb --clip twist --method dqs -q -o p.pc2
"$CUTIS" deform in/arm.glb --clip bend --frames 3:6 -q -o p.ply
"$CUTIS" reduce in/biped.glb --influences 2 --method smooth -q -o r.glb 2>/dev/null
"$CUTIS" fit in/arm.glb --poses examples --shapes in/shapes/examples.npy -q -o f.glb
same=
for pair in p.npy:biped_bend.npy n.npy:normals/bend.npy p.pc2:deep/er/arm.pc2 p_0004.ply:arm_0004.ply r.glb:reduced/biped.glb f.glb:fit_arm.glb; do
    cmp -s "${pair%:*}" "one/${pair#*:}" || same="$same ${pair#*:}"
done
equals "files are byte for byte what one process writes" "$same" ""
equals "nothing is left half-done" "$(find one -name '*.part' -o -name '.*.cutis-*')" ""
holds "results.json has what every unit said, in order" one/results.json "[u['verb'] for u in d] == ['deform']*4 + ['compare']*2 + ['reduce', 'fit', 'bake', 'rig'] + ['check']*3 + ['convert']*3 and all('error' not in u for u in d) and len(d[4]['result']['methods']) == 2"
counts="2 4"
if [ -n "${CUTIS_SOAK:-}" ]; then
    counts="1 2 3 4 8"
    for n in 2 4; do
        timeout 120 "$CUTIS" farm in/jobs.json -o local$n --ranks $n -q 2>log || not_ok "$n local ranks" "$(head -1 log)"
        equals "$n local ranks give the same hash" "$(hash_of local$n)" "$one"
    done
fi
if [ -z "$no_mpi" ]; then
    for n in $counts; do
        mpi $n in/jobs.json -o mpi$n -q >log 2>&1 || not_ok "mpirun -n $n" "$(head -1 log)"
        equals "mpirun -n $n gives the same hash" "$(hash_of mpi$n)" "$one"
    done
else skip "1, 2 and 4 ranks of MPI give one hash" "$no_mpi"; fi
if ldd "$CUTIS" 2>/dev/null | grep -q libmpi; then not_ok "the command itself needs no MPI" "it links libmpi"; else ok "the command itself needs no MPI"; fi

# Slices ------------------------------------------------------------------------------------------
for i in 1 2 3; do timeout 120 "$CUTIS" farm in/jobs.json -o slices --piece $i/3 --ranks 2 -q 2>log || not_ok "slice $i of 3" "$(cat log)"; done
equals "before join an array has another name" "$(ls slices/deep/er)" arm.pc2.part
cp -r slices damaged
printf X | dd of=damaged/biped_bend.npy.part bs=1 seek=400000 conv=notrunc 2>/dev/null
timeout 60 "$CUTIS" farm join in/jobs.json -o damaged >log 2>&1; code=$?
if [ $code = 1 ] && grep -q '1 of [0-9]* pieces are not there.*deform biped.glb bend, frames' log; then ok "join names a piece whose bytes are not those that were written"
else not_ok "join names a piece whose bytes are not those that were written" "$code: $(cat log)"; fi
rm damaged/farm/manifest.2-3
timeout 60 "$CUTIS" farm join in/jobs.json -o damaged >log 2>&1; code=$?
if [ $code = 1 ] && [ "$(wc -l <log)" = 1 ]; then ok "join without a slice fails in one line"; else not_ok "join without a slice fails in one line" "$code: $(cat log)"; fi
passes "join of all slices" timeout 60 "$CUTIS" farm join in/jobs.json -o slices
equals "slices give the same hash" "$(hash_of slices)" "$one"
passes "more slices than pieces: some have none" timeout 60 "$CUTIS" farm in/jobs.json -o many --piece 4000/4000

# Kills -------------------------------------------------------------------------------------------
cat >in/kill.json <<'END'
{"jobs": [
 {"verb": "deform", "files": "biped.glb", "clips": ["walk", "bend", "twist", "wave"], "output": "{clip}.npy", "options": {"fps": 240, "method": "sbs"}, "frames_per_piece": 20},
 {"verb": "convert", "files": "*.glb", "output": "{file}.obj"},
 {"verb": "check", "files": "*.glb"}
]}
END
"$CUTIS" farm in/kill.json -o whole -q 2>/dev/null
whole=$(hash_of whole)
random() { od -An -N2 -tu2 /dev/urandom | tr -d ' '; }
# one_kill FOLDER WHO: start a run, kill -9 one of its ranks at some moment, go on until it ends. hit=1: it was at work when it was killed.
one_kill() {
    rm -rf "$1"
    if [ "$2" = mpi ]; then mpirun --oversubscribe -q -n 2 "$CUTIS" farm in/kill.json -o "$1" -q >log 2>&1 &
    else "$CUTIS" farm in/kill.json -o "$1" --ranks 2 -q >log 2>&1 & fi
    run=$! hit=0
    for i in $(seq 200); do [ -e "$1/farm/manifest" ] && break; sleep 0.02; done # it is at work: mpirun takes its time before
    sleep "0.$(printf %03d $(($(random) % 400)))"
    victims=$run
    [ "$2" = mpi ] && victims=$(ps -eo pid,ppid,comm | awk -v p="$run" '$2 == p && $3 ~ /cutis/ {print $1}')
    [ "$2" = worker ] && victims=$(ps -eo pid,ppid,comm | awk -v p="$run" '$2 == p {print $1}')
    count=$(echo $victims | wc -w)
    [ "$count" -gt 0 ] && kill -9 "$(echo $victims | cut -d' ' -f$(($(random) % count + 1)))" 2>/dev/null && killed=1 || killed=0
    wait $run 2>/dev/null && killed=0 # it had come to its end
    [ $killed = 1 ] && [ ! -e "$1/results.json" ] && hit=1
    rm -f log2
    if [ "$2" = mpi ]; then mpi 2 in/kill.json -o "$1" --resume -q >log2 2>&1
    else timeout 120 "$CUTIS" farm in/kill.json -o "$1" --ranks 2 --resume -q >log2 2>&1; fi
}
# kills COUNT WHO: until so many have hit; $wrong: how often the resumed output was not the same.
kills() {
    wrong=0 hits=0 tries=0
    while [ $hits -lt "$1" ] && [ $tries -lt $((4 * $1 + 10)) ]; do
        one_kill killed "$2" || { wrong=$((wrong + 1)); echo "# $(head -1 log2)"; }
        [ "$(hash_of killed)" = "$whole" ] || { wrong=$((wrong + 1)); diff -rq whole killed | sed 's/^/# /'; }
        hits=$((hits + hit)) tries=$((tries + 1))
    done
    echo "# $hits kills of $2 in $tries runs"
}
rounds=1; [ -n "${CUTIS_SOAK:-}" ] && rounds=50
for who in local worker; do
    kills $rounds $who
    equals "resumed after $rounds kills -9 of a $who run at work: the same bytes" "$hits $wrong" "$rounds 0"
done
if [ -z "$no_mpi" ]; then
    rounds=2; [ -n "${CUTIS_SOAK:-}" ] && rounds=100
    kills $rounds mpi
    equals "resumed after $rounds kills -9 of a random rank of two at work: the same bytes" "$hits $wrong" "$rounds 0"
else skip "kills of a random rank" "$no_mpi"; fi
sleep 0.2
equals "no process outlives its farm" "$(ps -eo args | grep -c "[f]arm in/kill.json -o killed")" 0
timeout 60 "$CUTIS" farm in/kill.json -o whole --resume >log 2>&1; code=$?
equals "a run that is whole has nothing left to do" "$code $(sed -n 's/.*: \([0-9]* pieces\).*/\1/p' log)" "0 0 pieces"
printf '12345678 done 1 garb' >>whole/farm/manifest
timeout 60 "$CUTIS" farm in/kill.json -o whole --resume -q 2>log || not_ok "half a line of a manifest" "$(cat log)"
equals "half a line in the manifest does not count" "$(hash_of whole)" "$whole"
rm whole/biped.obj whole/walk.npy
timeout 60 "$CUTIS" farm in/kill.json -o whole --resume -q 2>log || not_ok "outputs that are gone" "$(cat log)"
equals "outputs that are gone are made again" "$(hash_of whole)" "$whole"
printf 'x' | dd of=whole/walk.npy bs=1 seek=5000 conv=notrunc 2>/dev/null
timeout 60 "$CUTIS" farm in/kill.json -o whole --resume -q 2>log || not_ok "a damaged array" "$(cat log)"
equals "a damaged array is mended" "$(hash_of whole)" "$whole"

# Ctrl-C: one line, no temporary, and --resume.
"$CUTIS" farm in/kill.json -o stopped --ranks 2 2>err & run=$!
for i in $(seq 100); do [ -e stopped/farm/manifest ] && break; sleep 0.02; done
alive=$(ps -eo args | grep -c "[f]arm in/kill.json -o stopped") # so that the count of none above says something
if [ "$alive" -gt 0 ]; then ok "a farm at work is seen by ps"; else not_ok "a farm at work is seen by ps" "0"; fi
kill -INT $run; wait $run; code=$?
if [ $code = 130 ] && { [ "$(cat err)" = "cutis: farm: stopped" ] && [ -z "$(find stopped -name '.*.cutis-*')" ]; }; then ok "Ctrl-C is one line"; else not_ok "Ctrl-C is one line" "$code: $(cat err)"; fi
timeout 60 "$CUTIS" farm in/kill.json -o stopped --resume -q 2>err || not_ok "after Ctrl-C" "$(head -1 err)"
equals "after Ctrl-C --resume goes on" "$(hash_of stopped)" "$whole"

# Failures ----------------------------------------------------------------------------------------
mkdir bad_in; cp in/arm.glb bad_in; printf 'no glb' >bad_in/broken.glb
cat >bad_in/bad.json <<'END'
{"jobs": [{"verb": "check", "files": "arm.glb"}, {"verb": "convert", "files": "broken.glb", "output": "b.obj"},
 {"verb": "deform", "files": ["broken.glb", "nowhere.glb", "arm.glb"], "clips": ["bend"], "output": "{file}.npy"}]}
END
timeout 60 "$CUTIS" farm bad_in/bad.json -o bad --ranks 2 >log 2>err; code=$?
equals "pieces that fail are named after three times, and the rest goes on" \
    "$code $(grep -c 'rank [01]: piece [0-9]* (.*): failed 3 times: ' err) $(ls bad | tr '\n' ' ')" "1 3 arm.npy farm results.json "
holds "results.json says why" bad/results.json "[bool(u.get('error')) for u in d] == [False, True, True, True, False] and 'nowhere.glb' in d[3]['error']"
timeout 60 "$CUTIS" farm bad_in/bad.json -o bad --ranks 2 --resume --json >log 2>err; code=$?
equals "they are tried again by --resume, alone" "$code $(grep -c '"event":"piece"' log) $(grep -c '"event":"failed"' log) $(grep -c '"event":"end","done":2,"failed":3,"pieces":5' log)" "1 0 9 1"
/usr/bin/python3 -c 'import json,sys; [json.loads(l) for l in open("log")]' 2>err && ok "--json prints an object a line" || not_ok "--json prints an object a line" "$(tail -1 err)"

case_() { echo "$2" >in/case.json; fails 1 "$1" "$3" "$CUTIS" farm in/case.json -o "$T/out"; rm -rf "$T/out"; }
# fails looks into $T/out, where a farm's folder may stay: a run that was refused leaves it empty.
case_ "a file that is no JSON" '{"jobs": [' 'case.json: line [0-9]'
case_ "no jobs" '{"jobs": []}' 'there are no jobs'
case_ "an unknown verb" '{"jobs": [{"verb": "dance", "files": "arm.glb"}]}' 'job 0: verb must be'
case_ "an unknown key" '{"jobs": [{"verb": "check", "files": "arm.glb", "colour": 1}]}' 'job 0: known are .* not colour'
case_ "an unknown option" '{"jobs": [{"verb": "check", "files": "arm.glb", "options": {"speed": 1}}]}' 'job 0: no option of the verb: speed'
case_ "a wrong value" '{"jobs": [{"verb": "deform", "files": "arm.glb", "output": "a.npy", "options": {"fps": -1}}]}' 'job 0: .*--fps'
case_ "a text for an option that takes none" '{"jobs": [{"verb": "convert", "files": "arm.glb", "output": "a.stl", "options": {"ascii": "biped.glb"}}]}' 'job 0: true or false only for the option ascii'
case_ "true for an option that takes a value" '{"jobs": [{"verb": "deform", "files": "arm.glb", "output": "a.npy", "options": {"pose": true}}]}' 'job 0: want text or a number for the option pose'
case_ "a name in braces that stands for nothing" '{"jobs": [{"verb": "convert", "files": "arm.glb", "output": "{name}.obj"}]}' 'an output has {file}, {path} and, with clips, {clip}, not {name}.obj'
case_ "the clip's name without clips" '{"jobs": [{"verb": "deform", "files": "arm.glb", "output": "a.npy", "options": {"normals": "{clip}.npy"}}]}' 'with clips, {clip}, not {clip}.npy'
case_ "no such files" '{"jobs": [{"verb": "check", "files": "none*.glb"}]}' 'there are no files none'
case_ "an output outside" '{"jobs": [{"verb": "convert", "files": "arm.glb", "output": "../a.obj"}]}' 'below the folder of -o'
case_ "two jobs on one output" '{"jobs": [{"verb": "convert", "files": ["arm.glb", "biped.glb"], "output": "a.obj"}]}' 'two outputs are a.obj: of job 0, arm.glb .* biped.glb'
cp in/arm.glb 'in/[{clip}].glb'; echo '{"jobs": [{"verb": "convert", "files": "[{clip}].glb", "output": "{file}.ply"}]}' >in/brackets.json
"$CUTIS" farm in/brackets.json -o brackets -q --ranks 1 2>err
equals "a pattern that finds nothing is a name, and a name's braces are letters" "$(ls brackets | tr "\n" " ")$(cat err)" "[{clip}].ply farm results.json "
rm 'in/[{clip}].glb'
fails 2 "a slice that is none" '--piece 5/4' "$CUTIS" farm in/jobs.json -o x --piece 5/4
fails 2 "a rate that is none" '--disk 20' "$CUTIS" farm plan in/jobs.json --disk 20
fails 2 "an unknown word" 'unknown jion' "$CUTIS" farm jion in/jobs.json -o x
fails 1 "an output with a run in it" 'there is a run in it: --resume' "$CUTIS" farm in/jobs.json -o one
fails 1 "a manifest of other jobs" 'other jobs, other files, another device or another version' "$CUTIS" farm in/kill.json -o one --resume
cp -r whole changed; cp -p in/biped.glb save; touch -d 2001-01-01 in/biped.glb
fails 1 "a file that has changed since" 'biped.glb: it, or a file that goes with it, has changed since' "$CUTIS" farm in/kill.json -o changed --resume
mv save in/biped.glb

# Two farms on one output: the second is refused while the first runs, and takes nothing from it.
"$CUTIS" farm in/kill.json -o both --ranks 1 -q 2>/dev/null & first=$!
for i in $(seq 100); do [ -e both/farm/manifest ] && break; sleep 0.02; done
kill -STOP $first
fails 1 "two farms on one output" 'both: another farm is at work on it' timeout 60 "$CUTIS" farm in/kill.json -o both --resume
fails 1 "a slice of an output that a farm is at work on" 'both: another farm is at work on it' timeout 60 "$CUTIS" farm in/kill.json -o both --piece 1/2
kill -CONT $first; wait $first
equals "the first goes on" "$(hash_of both)" "$whole"

# A full disk: refused before the work where room can be asked for, never taken for whole.
(trap '' XFSZ; ulimit -f 8; timeout 60 "$CUTIS" farm in/kill.json -o full --ranks 1 -q) >log 2>err; code=$?
if [ $code = 1 ] && [ "$(grep -c '\.npy.part: .* GB cannot be put there: ' err)" = 1 ] && ! ls full/*.npy >/dev/null 2>&1; then ok "a full disk is one line, and no array is there"
else not_ok "a full disk is one line, and no array is there" "$code: $(head -2 err)"; fi
timeout 60 "$CUTIS" farm in/kill.json -o full --resume -q 2>err || not_ok "after the disk has room" "$(head -1 err)"
equals "with room again --resume goes on" "$(hash_of full)" "$whole"

# Ranks that do not fit together ------------------------------------------------------------------
if [ -z "$no_mpi" ]; then
    mkdir other; sed 's/0\.1\.0/0.9.9/g' "$(dirname "$CUTIS")/libexec/cutis/cutis-farm" >other/cutis-farm; chmod +x other/cutis-farm
    timeout 60 mpirun --oversubscribe -q -n 1 "$CUTIS" farm in/kill.json -o ranks : -n 1 "$T/other/cutis-farm" farm in/kill.json -o ranks >log 2>&1; code=$?
    if [ $code = 1 ] && [ "$(grep -c '^cutis: ' log)" = 1 ] && grep -q '^cutis: rank 1 on .* is version 0.9.9 of cutis, rank 0 on' log; then ok "a rank with another version is named"
    else not_ok "a rank with another version is named" "$code: $(head -2 log)"; fi
    mkdir node; cp in/arm.glb in/scan.glb in/kill.json node
    timeout 60 mpirun --oversubscribe -q -n 1 "$CUTIS" farm in/kill.json -o node_out : -n 1 "$CUTIS" farm node/kill.json -o node_out >log 2>&1; code=$?
    if [ $code = 1 ] && grep -q '^cutis: rank 1 on .*kill.json is not what rank 0 on' log; then ok "a rank that finds other files is named"
    else not_ok "a rank that finds other files is named" "$code: $(head -2 log)"; fi
    sed 's/\*\.glb/arm.glb/' in/kill.json >in/named.json; cp in/named.json node
    timeout 60 mpirun --oversubscribe -q -n 1 "$CUTIS" farm in/named.json -o node_out : -n 1 "$CUTIS" farm node/named.json -o node_out >log 2>&1; code=$?
    "$CUTIS" farm in/named.json -o named -q 2>/dev/null
    equals "a file that is missing on one node: its pieces are done by the others" "$code $(hash_of node_out)" "0 $(hash_of named)"
    mpi 4 bad_in/bad.json -o bad4 -q >log 2>&1; code=$?
    equals "failures name rank, machine and piece" "$code $(grep -c "^cutis: rank [0-3] on $(hostname): piece [0-9]* (.*): failed 3 times: " log)" "1 3"
    echo '{"jobs": [{"verb": "check", "files": "arm.glb"}]}' >in/one_piece.json
    mpi 4 in/one_piece.json -o few >log 2>&1; code=$?
    if [ $code = 0 ] && grep -q 'note: 4 ranks for 1 piece: 3 of them have nothing to do' log; then ok "more ranks than pieces: said, and done"
    else not_ok "more ranks than pieces: said, and done" "$code: $(head -2 log)"; fi
else skip "ranks that do not fit together" "$no_mpi"; fi
(OMPI_COMM_WORLD_SIZE=2 CUTIS_FARM=/nowhere; export OMPI_COMM_WORLD_SIZE CUTIS_FARM; cp "$CUTIS" alone; ./alone farm in/jobs.json -o never) >log 2>&1
if grep -q '^cutis: farm: under mpirun it needs the program cutis-farm' log && [ ! -e never ]; then ok "mpirun without cutis-farm is an error, not two farms"
else not_ok "mpirun without cutis-farm is an error, not two farms" "$(cat log)"; fi

# Handing out, and planning -----------------------------------------------------------------------
pieces=2000; [ -n "${CUTIS_SOAK:-}" ] && pieces=100000
/usr/bin/python3 -c "import json; json.dump({'jobs': [{'verb': 'check', 'files': ['arm.glb'] * $pieces}]}, open('in/dry.json', 'w'))"
timeout 300 "$CUTIS" farm in/dry.json -o dry --ranks 2 --dry-run --json >log 2>err
# 2 % of pieces that take 5 ms each: the least worth handing out.
if us=$(/usr/bin/python3 -c "
import json
end = [json.loads(l) for l in open('log')][-1]
assert end['event'] == 'end' and end['done'] == $pieces
print(round(1e6 * end['seconds'] / $pieces))" 2>&1) && [ "$us" -le 100 ]; then ok "handing out $pieces pieces: $us us each"; else not_ok "handing out $pieces pieces" "$us"; fi
fails 1 "what a dry run did counts for nothing" 'other jobs, other files, another device or another version' "$CUTIS" farm in/dry.json -o dry --resume
passes "a plan" timeout 120 "$CUTIS" farm plan in/kill.json --ranks 1000 --disk 20GB/s --json
cp stdout plan.json
holds "it says what a thousand ranks take and what bounds them" plan.json "d['ranks'] == 1000 and d['bound'] in ('compute', 'longest', 'disk', 'manager') and d['bytes'] > 3e7 and d['disk_rate'] == 2e10 and d['seconds'] < d['work_seconds'] and d['seconds'] >= d['longest_seconds'] * 0.99"
"$CUTIS" farm plan in/kill.json --ranks 1 --disk 1MB/s --json >plan1.json
holds "a slow disk bounds" plan1.json "d['seconds'] >= d['disk_seconds'] and d['disk_seconds'] > 30"
equals "a plan leaves nothing" "$(ls "${TMPDIR:-/tmp}" | grep -c cutis-plan)" 0
exit $failed
