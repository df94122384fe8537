#!/bin/sh
# retarget and measure at the command line: maps that are written and read, BVH both ways, bad maps, poses that are measured.
. "$(dirname "$0")/common.sh"
here=$(dirname "$0")
cat >"$T/walk.bvh" <<'B'
HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT LeftUpLeg
  {
    OFFSET 1 -1 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT LeftLeg
    {
      OFFSET 0 -4 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT LeftFoot
      {
        OFFSET 0 -4 0
        CHANNELS 3 Zrotation Xrotation Yrotation
        End Site
        {
          OFFSET 0 -0.5 2
        }
      }
    }
  }
  JOINT RightUpLeg
  {
    OFFSET -1 -1 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT RightLeg
    {
      OFFSET 0 -4 0
      CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT RightFoot
      {
        OFFSET 0 -4 0
        CHANNELS 3 Zrotation Xrotation Yrotation
        End Site
        {
          OFFSET 0 -0.5 2
        }
      }
    }
  }
}
MOTION
Frames: 4
Frame Time: 0.1
0 9 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
0 9 1 5 0 10 0 -30 0 0 40 0 0 -10 0 0 20 0 0 5 0 0 5 0
0 9 2 -5 10 -10 3 30 5 0 5 0 0 10 0 0 -20 0 0 45 0 0 -5 0
0 9 3 0 0 0 90 0 0 0 90 0 0 0 90 45 45 45 10 20 30 -90 0 0
B
passes "synth biped" "$CUTIS" synth biped --size low -q -o "$T/biped.glb"
passes "a motion of legs alone goes on a biped, with its map written" "$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" \
    --write-map "$T/map.json" --json -o "$T/legs.glb"
cp "$T/stdout" "$T/report.json"
holds "seven joints move, arms are not known" "$T/report.json" 'd["mapped"]==7 and d["hand_mean"] is None and d["rest"]=="zero" and d["frames"]==4'
holds "the map names every joint" "$T/map.json" 'd["joints"]["thigh_l"]=="LeftUpLeg" and d["joints"]["head"] is None and len(d["joints"])==41'
passes "the map that was written gives the same file" "$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" --map "$T/map.json" -q -o "$T/again.glb"
cmp -s "$T/legs.glb" "$T/again.glb" && ok "same bytes" || not_ok "same bytes" "they differ"
passes "the map alone" "$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" --write-map "$T/only.json" -q
cmp -s "$T/map.json" "$T/only.json" && ok "the same map" || not_ok "the same map" "they differ"
holds "the map follows its schema: names and nulls" "$T/map.json" 'list(d)==["joints"] and all(v is None or type(v) is str for v in d["joints"].values())'

# BVH -> glTF -> BVH, and a retargeted BVH against the glTF: the same joints in the same places.
passes "bvh to glb" "$CUTIS" convert "$T/walk.bvh" -q -o "$T/walk.glb"
passes "glb to bvh" "$CUTIS" convert "$T/walk.glb" -q -o "$T/back.bvh"
passes "motion survives bvh, glTF, bvh" /usr/bin/python3 "$here/bvh_same.py" "$T/walk.bvh" "$T/back.bvh" 1e-5
if [ -f "$SHARED/data/cmu-mocap/data/016/16_35.bvh" ]; then
    real="$SHARED/data/cmu-mocap/data/016/16_35.bvh"
    passes "a CMU file to glb" "$CUTIS" convert "$real" -q -o "$T/cmu.glb"
    passes "and back" "$CUTIS" convert "$T/cmu.glb" -q -o "$T/cmu.bvh"
    passes "31 joints keep their paths to 1e-5 of the body" /usr/bin/python3 "$here/bvh_same.py" "$real" "$T/cmu.bvh" 1e-5
else
    skip "CMU files both ways" "shared data: cmu-mocap is not there"
fi
passes "a motion retargeted to bvh" "$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" -q -o "$T/legs.bvh"
passes "and from the glb to bvh" "$CUTIS" retarget "$T/biped.glb" --motion "$T/legs.bvh" --rest zero --feet free -q -o "$T/twice.bvh"
passes "retargeting its own result changes nothing" /usr/bin/python3 "$here/bvh_same.py" "$T/legs.bvh" "$T/twice.bvh" 1e-4

printf '{"joints": {"thigh_l": "Nobody"}}' >"$T/a.json"
printf '{"joints": {"nobody": "Hips"}}' >"$T/b.json"
printf '{"joints": {"thigh_l": 3}}' >"$T/c.json"
printf '{"joints": {}, "more": 1}' >"$T/d.json"
printf '{"joints": {"thigh_l": null}}' >"$T/e.json"
printf '{"joints": {"thigh_l"' >"$T/f.json"
retarget() { file=$1; shift; "$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" --map "$T/$file" -o "$T/out/x.glb" "$@"; }
fails 1 "a joint the motion lacks" '/joints/thigh_l: no joint "Nobody"' retarget a.json
fails 1 "a joint the model lacks" '/joints/nobody: no joint "nobody"' retarget b.json
fails 1 "a number for a joint" '/joints/thigh_l: must be the name' retarget c.json
fails 1 "an unknown key" 'only the key "joints"' retarget d.json
fails 1 "a map that moves nothing" 'moves no joint' retarget e.json
fails 1 "half a map" 'line 1' retarget f.json
fails 2 "no motion" 'needs --motion' "$CUTIS" retarget "$T/biped.glb" -o "$T/out/x.glb"
fails 1 "a motion that is none" 'not a format' "$CUTIS" retarget "$T/biped.glb" --motion "$here/../../docs/cli.md" -o "$T/out/x.glb"
fails 2 "an output that holds no clip" 'ends in .glb, .gltf or .bvh' "$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" -o "$T/out/x.obj"
"$CUTIS" synth cylinder -q -o "$T/cylinder.glb"
fails 1 "a cylinder has no legs" 'nothing in common' "$CUTIS" retarget "$T/cylinder.glb" --motion "$T/walk.bvh" -q -o "$T/out/x.glb"
"$CUTIS" retarget "$T/cylinder.glb" --motion "$T/walk.bvh" -o "$T/out/x.glb" >"$T/stdout" 2>"$T/stderr"
code=$?
grep -Eq '^the model.s joints +the motion.s joints$' "$T/stdout" && grep -q ' Hips$' "$T/stdout" && grep -q ' LeftUpLeg$' "$T/stdout" &&
    [ $code = 1 ] && [ "$(wc -l <"$T/stderr")" = 1 ] && ok "and both skeletons are shown side by side" || not_ok "and both skeletons are shown side by side" "exit $code: $(head -3 "$T/stdout")"
"$CUTIS" retarget "$T/cylinder.glb" --motion "$T/walk.bvh" --json -o "$T/out/x.glb" >"$T/stdout" 2>/dev/null
holds "in JSON too" "$T/stdout" '[j["name"] for j in d["motion_joints"]][:3]==["Hips","LeftUpLeg","LeftLeg"] and d["motion_joints"][1]["parent"]=="Hips" and len(d["model_joints"])>0'
"$CUTIS" synth quadruped --vertices 1500 -q -o "$T/hound.glb"
fails 1 "a hound does not walk as people do" 'four legs and the motion on two' "$CUTIS" retarget "$T/hound.glb" --motion "$T/biped.glb" --clip walk -q -o "$T/out/x.glb"
"$CUTIS" synth family --kind octopus --seed 100 --vertices 2000 -q -o "$T/octopus.glb"
fails 1 "nor does an octopus" 'legs or arms on a side' "$CUTIS" retarget "$T/octopus.glb" --motion "$T/biped.glb" --clip walk -q -o "$T/out/x.glb"
passes "unless asked" "$CUTIS" retarget "$T/hound.glb" --motion "$T/biped.glb" --clip walk --map across --json -o "$T/odd.glb"
holds "with its fore legs as arms" "$T/stdout" '{"joint":"forepaw_l","motion_joint":"hand_l"} in d["map"] and d["up"]==[0,1,0]'
passes "an axis that is told is up" "$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" --map across,z-up --json -o "$T/told.glb"
holds "and is reported" "$T/stdout" 'd["up"]==[0,0,1]'
fails 1 "other words are a file" 'sideways' "$CUTIS" retarget "$T/biped.glb" --motion "$T/walk.bvh" --map across,sideways -o "$T/out/x.glb"

# measure: a model in a pose.
passes "measure at rest" "$CUTIS" measure "$T/biped.glb" --json
holds "the biped is closed, does not cross itself, and has 41 parts" "$T/stdout" 'd["watertight"] is True and d["euler"]==2 and d["boundary_edges"]==0 and d["self_intersections"]==0 and len(d["curvature_median"])>=37 and d["volume_variation"]==0'
passes "deform a pose" "$CUTIS" deform "$T/biped.glb" --clip bend --frames 60 --method dqs -q -o "$T/pose.npy"
passes "measure it from the array" "$CUTIS" measure "$T/biped.glb" "$T/pose.npy" --json
cp "$T/stdout" "$T/array.json"
passes "measure it from the clip" "$CUTIS" measure "$T/biped.glb" --clip bend --time 2 --method dqs --json
cp "$T/stdout" "$T/clip.json"
/usr/bin/python3 - "$T/array.json" "$T/clip.json" <<'P' && ok "both ways give the same figures" || not_ok "both ways give the same figures" "they differ"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(not (a == b and a['volume_variation'] != 0))
P
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >"$T/corner.obj"
passes "measure a mesh without a skin" "$CUTIS" measure "$T/corner.obj" --json
holds "a tetrahedron" "$T/stdout" 'd["watertight"] and d["euler"]==2 and abs(d["volume"]-1/6)<1e-9 and list(d["curvature_median"])==["all"]'
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\n' >"$T/open.obj"
passes "measure an open mesh" "$CUTIS" measure "$T/open.obj" --json
holds "its three border edges" "$T/stdout" 'not d["watertight"] and d["euler"]==1 and d["boundary_edges"]==3'
fails 2 "a pose and an array" 'for a model alone' "$CUTIS" measure "$T/biped.glb" "$T/pose.npy" --clip bend
exit $failed
