#!/bin/sh
# cutis farm: what may and what may not be gone on with: other jobs, files that came late or changed, manifests that cannot be read, names
# that are one.
. "$(dirname "$0")/common.sh"
CUTIS=$(realpath "$(command -v "$CUTIS")")
unset OMPI_COMM_WORLD_SIZE PMI_SIZE PMIX_RANK
cd "$T" || exit 1
farm() { timeout 60 "$CUTIS" farm "$@"; }

mkdir in
"$CUTIS" synth arm --vertices 2000 --examples in/shapes -q -o in/arm.glb
"$CUTIS" convert in/arm.glb -q -o in/parts.gltf
cat >in/jobs.json <<'END'
{"jobs": [
 {"verb": "deform", "files": ["late.glb", "arm.glb"], "clips": ["bend"], "output": "{file}.npy", "frames_per_piece": 10},
 {"verb": "check", "files": "parts.gltf"},
 {"verb": "fit", "files": "arm.glb", "output": "fit/{file}.glb", "options": {"poses": "examples", "shapes": ["shapes/examples.npy"]}},
 {"verb": "convert", "files": "arm.glb", "output": "./mesh/.//{file}.obj"}
]}
END
sed 's/"frames_per_piece": 10/"frames_per_piece": 11/' in/jobs.json >in/other.json

# A file that comes late: what could be done stays done, --resume does the rest.
farm in/jobs.json -o late -q >log 2>err; code=$?
equals "a file that is missing fails, alone" "$code $(ls late | tr '\n' ' ')" "1 arm.npy farm fit mesh results.json "
cp in/arm.glb in/late.glb
farm in/jobs.json -o late --resume --json >log 2>err; code=$?
equals "a file that came late is done by --resume, and nothing else" "$code $(grep '"event":"piece"' log | grep -c '"file":"late.glb"') $(grep '"event":"piece"' log | grep -vc '"file":"late.glb"')" \
    "0 $(grep '"event":"start"' log | sed 's/.*"pieces":\([0-9]*\),"done":\([0-9]*\).*/\1 \2/' | awk '{print $1 - $2}') 0"
passes "a whole run" farm in/jobs.json -o whole
equals "the result is that of a whole run" "$(hash_of late)" "$(hash_of whole)"

# Two slices, and others' manifests beside them.
for i in 1 2; do farm in/jobs.json -o slices --piece $i/2 -q 2>err || not_ok "slice $i" "$(head -1 err)"; done
fails 1 "--resume with other jobs is refused" 'other jobs, other files, another device or another version' timeout 60 "$CUTIS" farm in/other.json -o slices --resume
fails 1 "so is a slice of other jobs" 'other jobs, other files, another device or another version' timeout 60 "$CUTIS" farm in/other.json -o slices --piece 3/3
fails 1 "and another device" 'other jobs, other files, another device or another version' timeout 60 "$CUTIS" farm in/jobs.json -o slices --resume --device opencl
equals "they leave no manifest of their own" "$(cd slices/farm && ls manifest* | tr '\n' ' ')" "manifest.1-2 manifest.2-2 "
# Slices as samples/farm/array.sbatch runs them: the second finds the first's surveys, and still notices another file.
for file in one two; do cp in/arm.glb in/$file.glb; done
echo '{"jobs": [{"verb": "convert", "files": ["one.glb", "two.glb"], "output": "{file}.obj"}]}' >in/two.json
for i in 1 2; do farm in/two.json -o again --piece $i/2 --resume -q 2>err || not_ok "slice $i with --resume" "$(head -1 err)"; done
for file in one two; do
    cp in/$file.glb kept; "$CUTIS" synth arm --vertices 2100 -q --force -o in/$file.glb
    fails 1 "another $file.glb is noticed, whichever slice did it" 'has changed since the run' timeout 60 "$CUTIS" farm join in/two.json -o again
    cp -p kept in/$file.glb; rm -rf again
    for i in 1 2; do farm in/two.json -o again --piece $i/2 --resume -q 2>err; done
done

/usr/bin/python3 - <<'END'
# 4200 manifests without pieces, named so that those with pieces are read last.
head = open("slices/farm/manifest.1-2").readline()
for i in range(4200): open(f"slices/farm/manifest.0-{i}", "w").write(head)
END
passes "join reads any number of manifests" farm join in/jobs.json -o slices
equals "and finishes" "$(hash_of slices)" "$(hash_of whole)"

# Inputs that are not the unit's own file.
touched() { cp -p "$2" save; touch -d 2001-01-01 "$2"; fails 1 "$1" "$3: it, or a file that goes with it, has changed since" timeout 60 "$CUTIS" farm in/jobs.json -o whole --resume; mv save "$2"; }
touched "shapes that have changed since" in/shapes/examples.npy arm.glb
touched "a buffer of a .gltf that has changed since" in/parts.bin parts.gltf
passes "files that are as they were" farm in/jobs.json -o whole --resume
printf 'mtllib own.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl red\nf 1 2 3\n' >in/own.obj; printf 'newmtl red\nKd 1 0 0\n' >in/own.mtl
echo '{"jobs": [{"verb": "convert", "files": "own.obj", "output": "{file}.glb"}]}' >in/own.json
passes "a mesh with materials" farm in/own.json -o own --ranks 1
fails 1 "materials of an .obj that have changed since" 'own.obj: it, or a file that goes with it, has changed' sh -c 'cp -p in/own.mtl save; echo >>in/own.mtl; timeout 60 "$0" farm in/own.json -o own --resume; s=$?; mv save in/own.mtl; exit $s' "$CUTIS"
/usr/bin/python3 - <<'END'
import base64, json
tree = json.load(open("in/parts.gltf"))
png = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
open("in/skin.png", "wb").write(png)
tree["images"] = [{"uri": "skin.png"}]
json.dump(tree, open("in/painted.gltf", "w"))
END
echo '{"jobs": [{"verb": "check", "files": "painted.gltf"}]}' >in/painted.json
farm in/painted.json -o painted -q 2>err
fails 1 "an image of a .gltf that has changed since" 'painted.gltf: it, or a file that goes with it, has changed' sh -c 'touch -d 2001-01-01 in/skin.png; timeout 60 "$0" farm in/painted.json -o painted --resume' "$CUTIS"

# What was done once and fails now.
cp -r whole now; rm now/mesh/arm.obj; mkdir -p now/mesh/arm.obj/x
farm in/jobs.json -o now --resume -q >log 2>err; code=$?
equals "an output that cannot be made again fails" "$code" 1
holds "results.json has its error, not the result of before" now/results.json "[('error' in u, 'result' in u) for u in d if u['verb'] == 'convert'] == [(True, False)]"
rm -r now/mesh/arm.obj
farm in/jobs.json -o now --resume -q 2>err || not_ok "and is made when it can be" "$(head -1 err)"
equals "it is made when it can be" "$(hash_of now)" "$(hash_of whole)"

# Pieces in an array that is not whole are not lost to a full disk.
echo '{"jobs": [{"verb": "deform", "files": "arm.glb", "clips": ["bend"], "output": "{file}.npy", "frames_per_piece": 10}]}' >in/deform.json
farm in/deform.json -o full --piece 1/2 -q 2>err
truncate -s 100000 full/arm.npy.part # as where room cannot be asked for
cp full/arm.npy.part before
(trap '' XFSZ; ulimit -f 8; farm in/deform.json -o full --piece 2/2 -q) >log 2>err; code=$?
if [ $code = 1 ] && grep -q 'cannot be put there' err && cmp -s before full/arm.npy.part; then ok "a full disk takes nothing away"
else not_ok "a full disk takes nothing away" "$code: $(head -1 err), $(ls full)"; fi

# A manifest that cannot be read is not begun anew.
cp -r whole large; truncate -s 64G large/farm/manifest
(ulimit -v 8000000; farm in/jobs.json -o large --resume) >log 2>err; code=$?
truncate -s "$(stat -c %s whole/farm/manifest)" large/farm/manifest
if [ $code = 1 ] && [ "$(grep -c '^cutis: .*farm/manifest: ' err)" = 1 ] && cmp -s whole/farm/manifest large/farm/manifest; then ok "a manifest that cannot be read stays"
else not_ok "a manifest that cannot be read stays" "$code: $(head -1 err)"; fi

# What a kill left goes; what is not the farm's stays.
mkdir -p whole/mine; touch whole/mine/.a.obj.cutis-1-1 whole/.arm.obj.cutis-1-1 whole/mesh/.arm.obj.cutis-1-1 whole/mesh/.arm.mtl.cutis-1-2 whole/mesh/.arm_0012.obj.cutis-1-3 whole/fit/.arm.glb.cutis-2-f whole/.results.json.cutis-3-0 whole/arm.npy.part-118751233-27643.lock whole/your.npy.part-1-2.lock
farm in/jobs.json -o whole --resume -q 2>err
equals "temporary files of outputs go, others stay" "$(cd whole && find . -name '.*.cutis-*' -o -name '*.lock' | LC_ALL=C sort | tr '\n' ' ')" "./.arm.obj.cutis-1-1 ./mine/.a.obj.cutis-1-1 ./your.npy.part-1-2.lock "

# Names ---------------------------------------------------------------------------------------------
case_() { echo "$2" >in/case.json; fails 1 "$1" "$3" "$CUTIS" farm in/case.json -o "$T/out"; rm -rf "$T/out"; }
case_ "two spellings of one output" '{"jobs": [{"verb": "convert", "files": "arm.glb", "output": "./a.obj"}, {"verb": "convert", "files": "arm.glb", "output": "a.obj"}]}' 'two outputs are a.obj'
case_ "two reports of one name" '{"jobs": [{"verb": "compare", "files": ["arm.glb", "late.glb"], "clips": ["bend"], "options": {"methods": "lbs,dqs", "report": "r.html"}}]}' 'two outputs are r.html'
frames='{"verb": "deform", "files": "arm.glb", "clips": ["bend"], "output": "b.obj", "options": {"frames": "0:3"}}'
case_ "an output that is a frame of another" "{\"jobs\": [{\"verb\": \"convert\", \"files\": \"late.glb\", \"output\": \"b_0001.obj\"}, $frames]}" 'two outputs are b_0001.obj: of job 1, arm.glb bend .a file a frame., and of job 0, late.glb'
echo "{\"jobs\": [{\"verb\": \"convert\", \"files\": \"late.glb\", \"output\": \"b_0003.obj\"}, $frames]}" >in/case.json
passes "a number beyond the frames is nobody's" farm in/case.json -o numbers -q
equals "and all are there" "$(cd numbers && echo *.obj)" "b_0000.obj b_0001.obj b_0002.obj b_0003.obj"
beside='{"verb": "deform", "files": "arm.glb", "clips": ["bend"], "output": "b.obj", "options": {"frames": "0:3", "normals": "n.npy"}}'
echo "{\"jobs\": [$beside, {\"verb\": \"deform\", \"files\": \"late.glb\", \"clips\": [\"bend\"], \"output\": \"n_0001.npy\"}]}" >in/case.json
passes "normals have no numbers: a name like theirs with one is free" farm in/case.json --dry-run -o "$T/out" -q
for name in farm/manifest ./farm/lock farm//manifest farm results.json ./results.json a/../../b.obj /b.obj . a.npy.part; do
    case_ "an output named $name" "{\"jobs\": [{\"verb\": \"convert\", \"files\": \"arm.glb\", \"output\": \"$name\"}]}" 'must be a name below the folder of -o'
done
exit $failed
