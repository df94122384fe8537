#!/bin/sh
# bake_h200.sh CUTIS FOLDER: baking 46036 vertices, 299 frames, 16 helpers on the GPU and on the host's cores, alternately;
# all files must have the same bytes. The first run on the GPU compiles its kernels, which are cached, and does not count.
set -eu
cutis=$1 folder=$2
mkdir -p "$folder"
model="$folder/large.glb"
"$cutis" devices
"$cutis" synth biped --vertices 46036 -q -o "$model"
bake() { # DEVICE NAME
    /usr/bin/env time -f "$1: %e s of the whole command" "$cutis" bake "$model" --method dqs --helpers 16 --fps 24 --device "$1" --json -o "$folder/$2.glb" 2>"$folder/stderr" >"$folder/json"
    grep "whole command" "$folder/stderr" || grep -v note "$folder/stderr" || true
    grep -o '"seconds": *[0-9.e-]*' "$folder/json" | sed "s/^/$1: baking /"
}
bake cuda warm
for round in 1 2 3; do
    bake cpu cpu
    bake cuda cuda
    cmp "$folder/cpu.glb" "$folder/cuda.glb" && echo "the same bytes"
done
! "$cutis" devices | grep -q "^opencl:" || { bake opencl opencl; cmp "$folder/cpu.glb" "$folder/opencl.glb" && echo "the same bytes by OpenCL"; }
