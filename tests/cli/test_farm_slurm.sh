#!/bin/sh
# The examples of samples/farm under Slurm and plain mpirun. Slurm is started here, on this machine alone, with keys and folders of
# its own: only where CUTIS_SOAK is set, as root, and where Debian's slurm-wlm is.
. "$(dirname "$0")/common.sh"
samples=$(realpath "$(dirname "$0")/../../samples/farm")
CUTIS=$(realpath "$(command -v "$CUTIS")")
claim="the examples for Slurm"
[ -n "${CUTIS_SOAK:-}" ] || { skip "$claim" "./dev soak runs them"; exit 0; }
for program in slurmctld slurmd munged sbatch mpirun; do
    command -v $program >/dev/null || { skip "$claim" "there is no $program"; exit 0; }
done
[ "$(id -u)" = 0 ] || { skip "$claim" "Slurm needs root to be started"; exit 0; }
chmod 755 "$T"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
host=$(hostname -s)
S=$T/slurm; mkdir -p "$S/state" "$S/spool" "$T/bin"; ln -s "$CUTIS" "$T/bin/cutis"; PATH=$T/bin:$PATH
export PATH
dd if=/dev/urandom of="$S/key" bs=1024 count=1 2>/dev/null; chmod 400 "$S/key"
cat >"$S/slurm.conf" <<END
ClusterName=soak
SlurmctldHost=$host(127.0.0.1)
AuthType=auth/munge
AuthInfo=socket=$S/munge.socket
CryptoType=crypto/munge
SlurmUser=root
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation=$S/state
SlurmdSpoolDir=$S/spool
SlurmctldPidFile=$S/slurmctld.pid
SlurmdPidFile=$S/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
ReturnToService=2
MpiDefault=none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
END
export SLURM_CONF="$S/slurm.conf"
munged --foreground --key-file="$S/key" --socket="$S/munge.socket" --pid-file="$S/munged.pid" --log-file="$S/munged.log" --seed-file="$S/seed" --force >"$S/munge.out" 2>&1 & munge=$!
sleep 1
slurmctld -D -f "$S/slurm.conf" >"$S/ctld.out" 2>&1 & ctld=$!
sleep 2
slurmd -D -f "$S/slurm.conf" >"$S/slurmd.out" 2>&1 & node=$!
finish() { kill $node $ctld $munge 2>/dev/null; wait 2>/dev/null; rm -rf "$T"; }
trap finish EXIT
for i in $(seq 60); do sinfo -h -o %t 2>/dev/null | grep -Eq '^(idle|mix|alloc)' && break; sleep 0.5; done
if ! sinfo -h -o %t 2>/dev/null | grep -Eq '^(idle|mix|alloc)'; then
    skip "$claim" "Slurm cannot be started here: $(tail -n 1 "$S/munge.out" "$S/ctld.out" "$S/slurmd.out" | grep -v '^$' | tail -n 1)"; exit 0
fi

cd "$T" || exit 1
mkdir characters
for kind in human bear; do "$CUTIS" synth biped --vertices 6000 -q -o characters/$kind.glb; done
cp "$samples/jobs.json" .
"$CUTIS" farm jobs.json -o whole -q 2>/dev/null
want=$(hash_of whole)
done_all() { for i in $(seq 600); do [ -z "$(squeue -h)" ] && return 0; sleep 0.5; done; return 1; }
id=$(sbatch --parsable --array=1-4 "$samples/array.sbatch" jobs.json array) && sbatch -Q --dependency=afterok:$id "$samples/join.sbatch" jobs.json array >/dev/null
done_all || not_ok "a job array" "it does not end: $(squeue -h | head -1)"
equals "a job array of four slices, and join" "$(hash_of array 2>&1)" "$want"
sbatch -Q --ntasks=2 "$samples/mpi.sbatch" jobs.json mpi >/dev/null
done_all || not_ok "mpirun in a job" "it does not end: $(squeue -h | head -1)"
equals "mpirun with two tasks of a job" "$(hash_of mpi 2>&1)" "$want"
id=$(sbatch --parsable --ntasks=2 "$samples/mpi.sbatch" jobs.json again)
sleep 2; scancel "$id"; done_all
sbatch -Q --ntasks=2 "$samples/mpi.sbatch" jobs.json again >/dev/null; done_all
equals "a job that was cancelled, sent again" "$(hash_of again 2>&1)" "$want"
echo "localhost slots=2" >hosts
timeout 120 sh "$samples/mpirun.sh" hosts jobs.json plain >log 2>&1 || not_ok "plain mpirun" "$(head -1 log)"
equals "plain mpirun with a file of hosts" "$(hash_of plain 2>&1)" "$want"
[ $failed = 0 ] || cat slurm-*.out | head -20
exit $failed
