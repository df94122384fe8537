# Real characters: counts that were published, and the independent judge of ../shared/judge over every method.
. "$(dirname "$0")/common.sh"
data=$SHARED/data
if [ ! -d "$data" ]; then skip "real assets" "shared data: $data is not there"; exit 0; fi
/usr/bin/python3 -c 'import numpy' 2>/dev/null || { skip "real assets" "python3-numpy is not installed"; exit 0; }

figures() { # NAME FILE EXPRESSION
    if "$CUTIS" info "$2" --json >"$T/info" 2>"$T/stderr"; then holds "$1" "$T/info" "$3"; else not_ok "$1" "$(head -1 "$T/stderr")"; fi
}
figures "cally is the woman of the spherical blend paper" "$data/cal3d/data/cally/cally.cfg" \
    "(d['vertices'], d['triangles'], d['joints'], d['bone_sets']) == (1844, 3342, 37, 62) and len(d['clips']) == 7"
figures "the Cal3D skeleton has no bone sets" "$data/cal3d/data/skeleton/skeleton.cfg" "d['joints'] == 23 and d['bone_sets'] == 0"
gltf=$data/gltf-sample-assets
find_model() { find "$gltf" \( -name "$1.gltf" -o -name "$1.glb" \) | sort | head -1; }
figures "Fox" "$(find_model Fox)" "(d['vertices'], d['joints'], len(d['clips'])) == (1728, 24, 3)"
figures "CesiumMan" "$(find_model CesiumMan)" "(d['vertices'], d['joints'], d['bone_sets']) == (3273, 19, 49)"
figures "RiggedFigure" "$(find_model RiggedFigure)" "(d['vertices'], d['joints']) == (370, 19)"
figures "SimpleSkin" "$(find_model SimpleSkin)" "(d['vertices'], d['joints']) == (10, 2)"

# The judge's exit status is a numpy integer, which Python takes for a message: its lines are what counts. One per method,
# each with an error of at most 1e-5.
judge() { # NAME MODEL [ARGUMENTS]
    claim=$1 file=$2; shift 2
    if [ ! -f "$file" ]; then skip "$claim" "shared data: the model is not there"; return; fi
    /usr/bin/python3 "$SHARED/judge/gltf_blend.py" "$CUTIS" "$file" "$@" >"$T/verdict" 2>&1
    case "$*" in *lbs,dqs,sbs*) methods=3 ;; *) methods=1 ;; esac
    good=$(awk '/max error/ && $4 <= 1e-5 { n++ } END { print n + 0 }' "$T/verdict")
    if [ "$good" -eq $methods ]; then ok "$claim"; else not_ok "$claim" "$(tr '\n' ' ' <"$T/verdict")"; fi
}
for model in CesiumMan Fox RiggedFigure RiggedSimple SimpleSkin RecursiveSkeletons; do
    judge "judge: $model" "$(find_model $model)" --methods lbs,dqs,sbs
done
for model in SimpleMorph AnimatedMorphCube MorphStressTest InterpolationTest; do
    judge "judge: $model" "$(find_model $model)"
done
for clip in Survey Walk Run; do judge "judge: Fox $clip" "$(find_model Fox)" --clip $clip --methods lbs,dqs,sbs; done
for body in "biped --vertices 3000" "quadruped --vertices 1500" cylinder "arm --size low"; do
    if "$CUTIS" synth $body -o "$T/body.glb" >/dev/null 2>"$T/stderr"; then
        judge "judge: $body, all influences" "$T/body.glb" --methods lbs,dqs,sbs
    else not_ok "judge: $body" "$(head -1 "$T/stderr")"; fi
done
exit $failed
