#!/bin/sh
# A farm under plain mpirun, on the machines that a file lists (a line each: NAME slots=N): mpirun.sh HOSTS JOBS.json OUT
mpirun --hostfile "$1" cutis farm "$2" -o "$3" --resume
