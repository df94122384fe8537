#!/bin/sh
# patches.sh CUTIS FOLDER [SHARED]: LBS, DQS and patches in eight poses of biped, hound and MakeHuman (where SHARED has its data), a sheet 1600 pixels
# wide for each pose; and the paper's Figures 2 and 23 made again. Pictures of docs/guide/patches.md are among them.
set -eu
cutis=$1 out=$2 shared=${3:-../shared}
tools=$(dirname "$cutis")/tools
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
export LIBGL_ALWAYS_SOFTWARE=1 # the same pixels on every machine
data=$shared/data poses=$shared/data/makehuman-assets/base/poses

# sheet NAME MODEL TWIN OPTIONS...: LBS and DQS of the twin, which has smooth weights, patches of the model.
sheet() {
    name=$1 model=$2 twin=$3
    shift 3
    "$cutis" render "$work/$twin.glb" "$@" --method lbs --size 507x620 -q -o "$work/1.png"
    "$cutis" render "$work/$twin.glb" "$@" --method dqs --size 507x620 -q -o "$work/2.png"
    "$cutis" render "$work/$model.glb" "$@" --method patches --size 507x620 -q -o "$work/3.png"
    "$tools/pictures_sheet" "$out/$name.png" 3 "$work/1.png" lbs "$work/2.png" dqs "$work/3.png" patches
}
pose() { # NAME {joint: rotation}...
    echo "{\"joints\": {$2}}" >"$work/$1.json"
}
"$cutis" synth biped -q -o "$work/biped.glb"
"$cutis" synth quadruped -q -o "$work/hound.glb"
sheet biped_walk biped biped --clip walk --time 0.3 --camera 30,8
sheet biped_squat biped biped --clip bend --time 2 --camera 30,8
sheet biped_twist biped biped --clip twist --time 1 --camera 20,8
sheet biped_wave biped biped --clip wave --time 1 --camera 20,8
pose nod '"neck": {"rotation": [0.26, 0, 0, 0.966]}, "head": {"rotation": [0.2, 0.26, 0, 0.94]}, "spine": {"rotation": [0.13, 0, 0, 0.99]}'
sheet biped_nod biped biped --pose "$work/nod.json" --focus neck --camera 40,10,1.3
pose bow '"spine": {"rotation": [0.26, 0, 0, 0.966]}, "chest": {"rotation": [0.26, 0, 0, 0.966]}'
sheet biped_bow biped biped --pose "$work/bow.json" --camera 60,8
pose arms '"upperarm_l": {"rotation": [0, 0, 0.5, 0.866]}, "upperarm_r": {"rotation": [0.5, 0, 0, 0.866]}'
sheet biped_arms biped biped --pose "$work/arms.json" --camera 20,8
fist=
for finger in index middle ring pinky; do
    fist="$fist${fist:+, }\"${finger}1_l\": {\"rotation\": [0, 0, -0.6, 0.8]}, \"${finger}2_l\": {\"rotation\": [0, 0, -0.6, 0.8]}"
done
pose fist "$fist"
sheet biped_fingers biped biped --pose "$work/fist.json" --focus middle1_l --camera 20,35,0.8
sheet hound_walk hound hound --clip walk --time 0.3 --camera 50,8
sheet hound_bend hound hound --clip bend --time 2 --camera 50,8
sheet hound_bend_behind hound hound --clip bend --time 2 --camera 130,8
sheet hound_twist hound hound --clip twist --time 1 --camera 50,8
pose look '"neck": {"rotation": [0, 0.3, 0, 0.954]}, "neck2": {"rotation": [0, 0.3, 0, 0.954]}, "head": {"rotation": [0, 0.2, 0, 0.98]}'
sheet hound_look hound hound --pose "$work/look.json" --camera 30,8
pose arch '"spine": {"rotation": [0.2, 0, 0, 0.98]}, "chest": {"rotation": [0.2, 0, 0, 0.98]}'
sheet hound_arch hound hound --pose "$work/arch.json" --camera 70,8
pose tail '"tail1": {"rotation": [-0.35, 0, 0, 0.937]}, "tail2": {"rotation": [-0.35, 0, 0, 0.937]}, "tail3": {"rotation": [-0.35, 0, 0, 0.937]}'
sheet hound_tail hound hound --pose "$work/tail.json" --focus tail2 --camera 120,8,1.3
pose paw '"upperarm_l": {"rotation": [-0.45, 0, 0, 0.893]}, "forearm_l": {"rotation": [0.5, 0, 0, 0.866]}'
sheet hound_paw hound hound --pose "$work/paw.json" --camera 50,8
if [ -d "$data/makehuman" ] && [ -d "$poses" ]; then
    /usr/bin/python3 tests/fit/makehuman.py "$data" "$work/human.glb" >/dev/null 2>&1
    "$cutis" skeleton "$work/human.glb" --parts joints -q -o "$work/human_rig.glb"
    for motion in sit01 run01 gym01 fight01 fly01 standing03 standing05 fight03; do
        for model in human human_rig; do
            "$cutis" retarget "$work/$model.glb" --motion "$poses/$motion.bvh" -q -o "$work/${model}_posed.glb"
        done
        sheet human_$motion human_rig_posed human_posed --clip $motion --time 0 --camera 30,8
    done
else
    echo "patches.sh: no MakeHuman in $data, its sheets are not made" >&2
fi

# Figure 2: a joint at rest, its lower part turned, what is removed, and the patch.
"$cutis" synth arm --size mid -q -o "$work/arm.glb"
echo '{"joints": {"elbow": {"rotation": [0, 0.66, 0, 0.7513]}}}' >"$work/elbow.json"
/usr/bin/python3 tools/pictures/patches_stages.py "$cutis" "$work/arm.glb" "$work/elbow.json" "$work"
set --
for stage in rest turned removed patched; do
    "$cutis" render "$work/stage_$stage.glb" --show parts,wire --size 376x420 --camera 0,80 -q -o "$work/stage_$stage.png"
    set -- "$@" "$work/stage_$stage.png" "$stage"
done
"$tools/pictures_sheet" "$out/figure_2.png" 4 "$@"
# Figure 23: the limb turned about its own axis by 0, 90 and 180 degrees: LBS, rigid parts with patches as the paper has them, bands.
set --
for how in lbs "patches --band none" patches; do
    for turn in "0, 1" "0.7071, 0.7071" "1, 0.0001"; do
        echo "{\"joints\": {\"elbow\": {\"rotation\": [${turn%,*}, 0, 0, ${turn#*, }]}}}" >"$work/turn.json"
        name="$work/turn_$#.png"
        # shellcheck disable=SC2086 # two words
        "$cutis" render "$work/arm.glb" --pose "$work/turn.json" --method $how --size 507x220 --camera 0,14 -q -o "$name"
        set -- "$@" "$name" "$how"
    done
done
"$tools/pictures_sheet" "$out/figure_23.png" 3 "$@"
