#!/bin/sh
# cutis deform --method patches, measure --plot: what they write and refuse.
. "$(dirname "$0")/common.sh"

passes "makes an arm" "$CUTIS" synth arm -o "$T/arm.glb"
passes "one frame as a mesh" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --frames 30 --json -o "$T/one.obj"
cp "$T/stdout" "$T/one.json"
holds "it has the documented keys" "$T/one.json" 'sorted(d) == ["file","fill","fixed","frames","method","output","remove","seconds","triangles_max","vertices_max","volume_variation"]'
holds "cut and keep are the defaults" "$T/one.json" 'd["remove"] == "cut" and d["fill"] == "keep"'
holds "an elbow keeps its volume" "$T/one.json" 'abs(d["volume_variation"]) < 0.05'
passes "measure reads the mesh" "$CUTIS" measure "$T/one.obj" --json
cp "$T/stdout" "$T/measure.json"
holds "the frame is closed" "$T/measure.json" 'd["watertight"] and d["euler"] == 2 and d["boundary_edges"] == 0'
passes "several frames are numbered" "$CUTIS" deform "$T/arm.glb" --clip twist --method patches --frames 10:12 -o "$T/two.ply"
[ -s "$T/two_0010.ply" ] && [ -s "$T/two_0011.ply" ] && ok "both are there" || not_ok "both are there" "$(ls "$T")"
passes "a glb has a mesh for every frame" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --bake glb --frames 20:23 -o "$T/baked.glb"
passes "info reads it" "$CUTIS" info "$T/baked.glb" --json
cp "$T/stdout" "$T/info.json"
holds "three meshes, one clip with a channel each" "$T/info.json" 'd["meshes"] == 3 and [c["channels"] for c in d["clips"]] == [3]'
passes "the box removal names its own default" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --remove box --frames 30 --json -o "$T/box.obj"
cp "$T/stdout" "$T/box.json"
holds "it is reduced" "$T/box.json" 'd["fill"] == "reduced" and d["volume_variation"] < 0'
passes "the rest topology goes into an array" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --fixed --frames 28:31 --json -o "$T/fixed.pc2"
cp "$T/stdout" "$T/fixed.json"
holds "and says what it costs" "$T/fixed.json" 'abs(d["fixed_volume_variation"]) > abs(d["volume_variation"]) and abs(d["fixed_volume_variation"]) < 2'
passes "measure takes that array" "$CUTIS" measure "$T/arm.glb" "$T/fixed.pc2"
passes "plots a joint" "$CUTIS" measure "$T/arm.glb" --plot "$T/elbow.svg" --joint elbow
for plot in volume curvature patch; do
    grep -q "<svg" "$T/elbow_$plot.svg" && ok "there is elbow_$plot.svg" || not_ok "there is elbow_$plot.svg" "no SVG"
done

fails 2 "free patches are no array" "want .obj" "$CUTIS" deform "$T/arm.glb" --method patches -o "$T/out/x.npy"
fails 2 "--fill needs patches" "for --method patches" "$CUTIS" deform "$T/arm.glb" --fill mean -o "$T/out/x.npy"
fails 2 "--bake wants a glb" "OUT.glb" "$CUTIS" deform "$T/arm.glb" --method patches --bake glb -o "$T/out/x.obj"
fails 1 "no such joint" "nose" "$CUTIS" measure "$T/arm.glb" --plot "$T/out/x.svg" --joint nose
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >"$T/flat.obj"
fails 1 "a model without parts" "parts" "$CUTIS" deform "$T/flat.obj" --method patches -o "$T/out/x.obj"
exit $failed
