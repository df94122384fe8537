#!/bin/sh
# joints at the command line, and the cast of motions.
. "$(dirname "$0")/common.sh"
"$CUTIS" synth biped --vertices 1500 -q -o "$T/body.glb"
passes "a joint is moved, others added, removed and renamed" "$CUTIS" joints "$T/body.glb" --move forearm_l=0.45,1.3,0 --move forearm_r=-0.45,1.3,0 \
    --add jaw=head,0,1.6,0.08 --remove toes_l --rename hand_r=paw --json -o "$T/more.glb"
[ "$(json "$T/stdout" "(d['moved'], d['added'], d['removed'], d['renamed'], d['bound'])")" = "(2, 1, 1, 1, True)" ] && ok "and it says so" || not_ok "and it says so" "$(cat "$T/stdout")"
[ "$("$CUTIS" info "$T/more.glb" --json | /usr/bin/python3 -c 'import json,sys; print(json.load(sys.stdin)["joints"])')" = \
  "$("$CUTIS" info "$T/body.glb" --json | /usr/bin/python3 -c 'import json,sys; print(json.load(sys.stdin)["joints"])')" ] && ok "one more and one less" || not_ok "one more and one less" "another count"
passes "what it made is sound" "$CUTIS" check "$T/more.glb" -q
passes "a name alone keeps the weights" "$CUTIS" joints "$T/body.glb" --rename head=skull --json -o "$T/named.glb"
[ "$(json "$T/stdout" "d['bound']")" = False ] && ok "and says that" || not_ok "and says that" "$(cat "$T/stdout")"
# What a rig says of VRM's and Mixamo's bones has the new names, and no other is touched.
"$CUTIS" synth family --kind human --seed 7 --vertices 2000 --unrigged -q -o "$T/scan.glb" && "$CUTIS" rig "$T/scan.glb" -q -o "$T/rig.glb"
passes "joints of a rig get other names" "$CUTIS" joints "$T/rig.glb" --rename head=skull --rename hand_l=paw_l --json -o "$T/skull.gltf"
bones() { "$CUTIS" convert "$1" -q -o "$T/bones.gltf" --force; /usr/bin/python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); b=[n["extras"]["cutis"]["humanoid"] for n in d["nodes"] if "cutis" in n.get("extras", {})][0]; print(b["vrm"]["head"], b["mixamo"]["mixamorig:Head"], b["vrm"]["leftHand"], b["vrm"]["rightHand"], len(b["vrm"]))' "$T/bones.gltf"; }
[ "$(bones "$T/rig.glb")" = "head head hand_l hand_r 21" ] && [ "$(bones "$T/skull.gltf")" = "skull skull paw_l hand_r 21" ] && ok "and the maps of VRM and Mixamo follow" || not_ok "and the maps of VRM and Mixamo follow" "$(bones "$T/rig.glb"); $(bones "$T/skull.gltf")"
# Moved and renamed by one command: what its file kept of it stays, as with a name alone; so it does of a joint with others below it.
"$CUTIS" convert "$T/rig.glb" -q -o "$T/bones.gltf" --force
/usr/bin/python3 -c 'import json,sys; d=json.load(open(sys.argv[1])); [n.setdefault("extras", {}).update(mine=n["name"]) for n in d["nodes"] if n.get("name") in ("head", "forearm_l", "hand_l")]; json.dump(d, open(sys.argv[1], "w"))' "$T/bones.gltf"
mine() { /usr/bin/python3 -c 'import json,sys; print(sorted((n["name"], n["extras"]["mine"]) for n in json.load(open(sys.argv[1]))["nodes"] if "mine" in n.get("extras", {})))' "$1"; }
passes "joints are moved and renamed at once" "$CUTIS" joints "$T/bones.gltf" --move head=0,1.55,0.02 --rename head=skull --move forearm_l=0.4,1.2,0 --rename forearm_l=ulna_l -q -o "$T/both.gltf"
want="[('hand_l', 'hand_l'), ('skull', 'head'), ('ulna_l', 'forearm_l')]"
[ "$(mine "$T/both.gltf")" = "$want" ] && ok "and keep what the file had of them" || not_ok "and keep what the file had of them" "$(mine "$T/both.gltf")"
[ "$(bones "$T/both.gltf")" = "skull skull hand_l hand_r 21" ] && ok "and the maps follow" || not_ok "and the maps follow" "$(bones "$T/both.gltf")"
fails 1 "a joint that is not there" 'no joint is called "nose"' "$CUTIS" joints "$T/body.glb" --move nose=0,0,0 -o "$T/out/x.glb"
fails 1 "a name twice" 'a joint "hips" already' "$CUTIS" joints "$T/body.glb" --rename head=hips -o "$T/out/x.glb"
fails 1 "the topmost joint stays" 'none above it' "$CUTIS" joints "$T/body.glb" --remove hips -o "$T/out/x.glb"
fails 2 "no place" 'NAME=X,Y,Z' "$CUTIS" joints "$T/body.glb" --move head=1,2 -o "$T/out/x.glb"
fails 2 "no number" 'NAME=X,Y,Z' "$CUTIS" joints "$T/body.glb" --move head=1,2,nan -o "$T/out/x.glb"
fails 2 "no parent" 'NAME=PARENT,X,Y,Z' "$CUTIS" joints "$T/body.glb" --add jaw=1,2,3 -o "$T/out/x.glb"
fails 2 "nothing to do" 'nothing is to be done' "$CUTIS" joints "$T/body.glb" -o "$T/out/x.glb"
for body in biped quadruped; do
    passes "$body: a cast of motions" "$CUTIS" synth $body --motions --size low --json -o "$T/$body.glb"
    want="['walk', 'run', 'idle']"; [ $body = biped ] && want="['walk', 'run', 'idle', 'wave']"
    [ "$(json "$T/stdout" "d['clips']")" = "$want" ] && ok "$body: its clips" || not_ok "$body: its clips" "$(json "$T/stdout" "d['clips']")"
done
fails 2 "others have none" 'biped and quadruped' "$CUTIS" synth arm --motions -o "$T/out/x.glb"
"$CUTIS" retarget "$T/body.glb" --motion "$T/biped.glb" --clip run -q -o "$T/run.glb" && ok "a run is put on a body" || not_ok "a run is put on a body" "it is not"
# In a run the body flies between steps; in a walk, and standing, something always touches the ground.
low() { "$CUTIS" deform "$T/biped.glb" --clip $1 --fps 60 -q -o "$T/$1.npy"; /usr/bin/python3 -c '
import ast, struct, sys
data = open(sys.argv[1], "rb").read(); size = struct.unpack_from("<H", data, 8)[0]
frames, vertices, _ = ast.literal_eval(data[10:10 + size].decode())["shape"]
values = struct.unpack_from("<%df" % (3 * frames * vertices), data, 10 + size)
lows = [min(values[3 * f * vertices + 1:3 * (f + 1) * vertices:3]) for f in range(frames)]
print(int(1000 * min(lows)), int(1000 * max(lows)))' "$T/$1.npy"; }
for clip in run walk idle; do
    set -- $(low $clip)
    if [ $clip = run ]; then [ "$1" -ge -12 ] && [ "$2" -ge 8 ]; else [ "$1" -ge -12 ] && [ "$2" -lt 8 ]; fi && ok "$clip: on the ground, or off it" || not_ok "$clip: on the ground, or off it" "the lowest point is between $1 and $2 mm"
done
exit $failed
