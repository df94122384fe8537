#!/bin/sh
# bake_gpu.sh CUTIS FOLDER [DEVICE [VERTICES [ROUNDS]]]: baking 46036 vertices, 299 frames, 16 helpers on the GPU (cuda) and
# on the host's cores, alternately; all files must have the same bytes. The first run on the GPU compiles its kernels, which
# are cached, and does not count.
set -eu
cutis=$1 folder=$2 device=${3:-cuda} vertices=${4:-46036} rounds=${5:-3}
mkdir -p "$folder"
"$cutis" devices
"$cutis" synth biped --vertices "$vertices" -q -o "$folder/model.glb"
bake() { # DEVICE
    begun=$(date +%s%N)
    "$cutis" bake "$folder/model.glb" --method dqs --helpers 16 --fps 24 --device "$1" --json -o "$folder/$1.glb" >"$folder/json" 2>"$folder/notes" ||
        { cat "$folder/notes"; exit 1; }
    echo "$1: $((($(date +%s%N) - begun) / 1000000)) ms, of which baking $(grep -o '"seconds":[^,}]*' "$folder/json")"
}
echo "to compile:" && bake "$device"
for round in $(seq "$rounds"); do
    bake cpu
    bake "$device"
    cmp "$folder/cpu.glb" "$folder/$device.glb"
    echo "$round: the same bytes"
done
