#!/bin/sh
# cutis deform --method patches, measure --plot: what they write and refuse.
. "$(dirname "$0")/common.sh"

passes "makes an arm" "$CUTIS" synth arm -o "$T/arm.glb"
passes "one frame as a mesh" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --frames 30 --json -o "$T/one.obj"
cp "$T/stdout" "$T/one.json"
holds "it has the documented keys" "$T/one.json" 'sorted(d) == ["band","file","fill","fixed","frames","method","notes","output","own_crossings","pieces","posed_crossings","remove","seconds","self_intersections","triangles_max","united","vertices_max","volume","volume_variation","watertight"]'
holds "cut and keep are the defaults" "$T/one.json" 'd["band"] == "girth" and d["remove"] == "cut" and d["fill"] == "keep"'
holds "an elbow keeps its volume" "$T/one.json" 'abs(d["volume_variation"]) < 0.1'
passes "measure reads the mesh" "$CUTIS" measure "$T/one.obj" --json
cp "$T/stdout" "$T/measure.json"
holds "the frame is closed" "$T/measure.json" 'd["watertight"] and d["euler"] == 2 and d["boundary_edges"] == 0'
turned='"elbow": {"rotation": [0, 0.5, 0, 0.8660254]}'
count() { "$CUTIS" deform "$T/arm.glb" --pose "$T/far.json" --method patches "$@" --json -o "$T/far.obj" >"$T/far" && json "$T/far" 'd["vertices_max"]'; }
echo "{\"joints\": {$turned}}" >"$T/far.json"
own=$(count) patched=$(count --band none)
if [ "$patched" -gt "$own" ]; then ok "a patch has vertices of its own"; else not_ok "a patch has vertices of its own" "$patched, $own"; fi
for far in 67 200; do # matrices are floats, coarse far away: a joint that only turns still bends in its band
    echo "{\"joints\": {\"base\": {\"translation\": [$far, 37.38, 81.178]}, $turned}}" >"$T/far.json"
    equals "bands stay $far metres away" "$(count)" "$own"
done
passes "several frames are numbered" "$CUTIS" deform "$T/arm.glb" --clip twist --method patches --frames 10:12 -o "$T/two.ply"
[ -s "$T/two_0010.ply" ] && [ -s "$T/two_0011.ply" ] && ok "both are there" || not_ok "both are there" "$(ls "$T")"
passes "a glb has a mesh for every frame" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --frames 20:23 -o "$T/baked.glb"
passes "info reads it" "$CUTIS" info "$T/baked.glb" --json
cp "$T/stdout" "$T/info.json"
holds "three meshes, one clip with a channel each" "$T/info.json" 'd["meshes"] == 3 and [c["channels"] for c in d["clips"]] == [3]'
passes "the box removal names its own default" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --remove box --frames 30 --json -o "$T/box.obj"
cp "$T/stdout" "$T/box.json"
holds "it is reduced" "$T/box.json" 'd["band"] == "none" and d["fill"] == "reduced" and d["volume_variation"] < 0'
passes "the paper's triangulation" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --band none --triangulate local --frames 30 --json -o "$T/local.obj"
cp "$T/stdout" "$T/local.json"
holds "it says what it leaves open" "$T/local.json" 'd["open_edges"] > 0'
passes "the rest topology goes into an array" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --band none --fixed --frames 28:31 --json -o "$T/fixed.pc2"
cp "$T/stdout" "$T/fixed.json"
holds "and says what it costs" "$T/fixed.json" 'abs(d["fixed_volume_variation"]) > abs(d["volume_variation"]) and abs(d["fixed_volume_variation"]) < 2'
passes "measure takes that array" "$CUTIS" measure "$T/arm.glb" "$T/fixed.pc2"
passes "plots a joint" "$CUTIS" measure "$T/arm.glb" --plot "$T/elbow.svg" --joint elbow
for plot in volume curvature patch; do
    grep -q "<svg" "$T/elbow_$plot.svg" && ok "there is elbow_$plot.svg" || not_ok "there is elbow_$plot.svg" "no SVG"
done

# A shell for printing, judged by a reader that knows nothing of Cutis; with bands and with patches.
for band in girth none; do
    passes "a pose for printing, band $band" "$CUTIS" deform "$T/arm.glb" --clip bend --method patches --band $band --frames 30 --json -o "$T/shell.stl"
    cp "$T/stdout" "$T/shell.json"
    set -- $(/usr/bin/python3 "$(dirname "$0")/shell_check.py" "$T/shell.stl")
    equals "every edge of it twice, one piece" "$1 $2" "0 1"
    holds "it looks outwards, and has the volume that was said" "$T/shell.json" "d['watertight'] and d['pieces'] == 1 and $3 > 0 and abs(d['volume'] - $3) < 1e-6 * $3"
done

# Thighs turned into each other cross because of the pose, not at a joint: parts that are no neighbours.
passes "makes a biped" "$CUTIS" synth biped --vertices 3000 -o "$T/biped.glb"
echo '{"joints": {"thigh_l": {"rotation": [0, 0, -0.2, 0.98]}, "thigh_r": {"rotation": [0, 0, 0.2, 0.98]}}}' >"$T/inwards.json"
passes "measures a pose with patches" "$CUTIS" measure "$T/biped.glb" --pose "$T/inwards.json" --method patches --json
cp "$T/stdout" "$T/posed.json"
holds "thighs cross by the pose" "$T/posed.json" 'd["watertight"] and d["posed_crossings"] > 100 and 10 * d["own_crossings"] < d["posed_crossings"]'
passes "writes the same pose" "$CUTIS" deform "$T/biped.glb" --pose "$T/inwards.json" --method patches -o "$T/posed.glb"
passes "measures that mesh" "$CUTIS" measure "$T/posed.glb" --json
holds "it has as many crossings, volume and triangles" "$T/stdout" "(lambda p: d['self_intersections'] == p['self_intersections'] == p['own_crossings'] + p['posed_crossings'] and abs(d['volume'] - p['volume']) < 1e-6 * p['volume'] and d['triangles'] == p['triangles'])(__import__('json').load(open('$T/posed.json')))"
for format in obj ply stl; do # what is printed is cut where thighs cross, and the inside is gone
    passes "prints the same pose as .$format" "$CUTIS" deform "$T/biped.glb" --pose "$T/inwards.json" --method patches --json -o "$T/printed.$format"
    cp "$T/stdout" "$T/printed.json"
    passes "measures the print" "$CUTIS" measure "$T/printed.$format" --json
    holds "it is closed, nothing crosses, and the thighs' common space counts once" "$T/stdout" "(lambda p, q: d['watertight'] and d['self_intersections'] == 0 and q['united'] and q['triangles_max'] == d['triangles'] and q['self_intersections'] == 0 and q['posed_crossings'] == p['posed_crossings'] and abs(d['volume'] - q['volume']) < 1e-6 * q['volume'] and 0.9 * p['volume'] < q['volume'] < 0.999 * p['volume'])(*[__import__('json').load(open('$T/' + n)) for n in ('posed.json', 'printed.json')])"
done
set -- $(/usr/bin/python3 "$(dirname "$0")/shell_check.py" "$T/printed.stl")
equals "every edge of the print twice, one piece" "$1 $2" "0 1"
passes "measures it with rigid parts" "$CUTIS" measure "$T/biped.glb" --pose "$T/inwards.json" --method patches --band none --fill keep --json
holds "it says so, and has patches" "$T/stdout" 'd["band"] == "none" and any(j["triangles"] > 0 for j in d["joints"])'
holds "bands have none" "$T/posed.json" 'd["band"] == "girth" and all(j["triangles"] == 0 for j in d["joints"])'
fails 2 "measure: --band needs patches" "for --method patches" "$CUTIS" measure "$T/arm.glb" --band none
for other in "--remove box" "--fill mean"; do
    fails 2 "--band girth beside $other" "goes with --remove cut and --fill keep" "$CUTIS" deform "$T/arm.glb" --method patches --band girth $other -o "$T/out/x.obj"
done
fails 2 "render: --band girth beside a box" "goes with --remove cut" "$CUTIS" render "$T/arm.glb" --method patches --band girth --remove box -o "$T/out/x.png"

# A shell has no part inside out or shrunk to nothing, whatever the whole volume says.
for scale in "-1, 1, 1" "0, 0, 0" "1, 1, 0.0000001"; do
    echo "{\"joints\": {\"hand_l\": {\"scale\": [$scale]}}}" >"$T/scaled.json"
    fails 1 "a hand scaled by $scale is no shell" "part hand_l (inside out|to nothing)" "$CUTIS" deform "$T/biped.glb" --pose "$T/scaled.json" --method patches -o "$T/out/x.stl"
done
echo '{"joints": {"hand_l": {"scale": [0.5, 0.5, 0.5]}}}' >"$T/scaled.json"
passes "a small hand is one" "$CUTIS" deform "$T/biped.glb" --pose "$T/scaled.json" --method patches -o "$T/small.stl"

# Bands swell along the surface, whatever normals a file has: here all look up.
cat >"$T/up.py" <<'END'
import json, struct, sys
data = open(sys.argv[1], 'rb').read()
size = struct.unpack_from('<I', data, 12)[0]
doc, body = json.loads(data[20:20 + size]), bytearray(data[28 + size:])
for mesh in doc['meshes']:
    for primitive in mesh['primitives']:
        a = doc['accessors'][primitive['attributes']['NORMAL']]
        view = doc['bufferViews'][a['bufferView']]
        at, step = view.get('byteOffset', 0) + a.get('byteOffset', 0), view.get('byteStride', 12)
        for k in range(a['count']):
            struct.pack_into('<fff', body, at + k * step, 0, 1, 0)
open(sys.argv[2], 'wb').write(data[:28 + size] + bytes(body))
END
/usr/bin/python3 "$T/up.py" "$T/arm.glb" "$T/up.glb"
passes "an arm whose normals all look up" "$CUTIS" deform "$T/up.glb" --clip bend --method patches --frames 30 --json -o "$T/up.obj"
holds "keeps its volume" "$T/stdout" 'abs(d["volume_variation"]) < 0.01'

fails 2 "measure: patches take one model" "for a model alone" "$CUTIS" measure "$T/arm.glb" "$T/arm.glb" --method patches

# The same body with three vertices a triangle of its own: more of them than any frame of patches has.
cat >"$T/unweld.py" <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack_from("<I", data, 12)[0]
doc, body = json.loads(data[20:20 + size]), bytearray(data[28 + size:])
def read(i):
    a = doc["accessors"][i]
    view = doc["bufferViews"][a["bufferView"]]
    item = {5121: 1, 5123: 2, 5125: 4, 5126: 4}[a["componentType"]] * {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
    at, step = view.get("byteOffset", 0) + a.get("byteOffset", 0), view.get("byteStride", item)
    return [bytes(body[at + step * k:at + step * k + item]) for k in range(a["count"])]
def write(like, rows, **more):
    body.extend(bytes(-len(body) % 4))
    doc["bufferViews"].append({"buffer": 0, "byteOffset": len(body), "byteLength": sum(map(len, rows))})
    body.extend(b"".join(rows))
    doc["accessors"].append({**like, "bufferView": len(doc["bufferViews"]) - 1, "byteOffset": 0, "count": len(rows), **more})
    return len(doc["accessors"]) - 1
for primitive in doc["meshes"][0]["primitives"]:
    corners = [int.from_bytes(x, "little") for x in read(primitive["indices"])]
    for name, i in primitive["attributes"].items():
        rows = read(i)
        primitive["attributes"][name] = write(doc["accessors"][i], [rows[c] for c in corners])
    primitive["indices"] = write({"type": "SCALAR"}, [struct.pack("<I", k) for k in range(len(corners))], componentType=5125)
doc["buffers"][0]["byteLength"] = len(body)
text = json.dumps(doc).encode()
text += b" " * (-len(text) % 4)
body += bytes(-len(body) % 4)
out = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(body), 0x4E4942) + body
open(sys.argv[2], "wb").write(b"glTF" + struct.pack("<II", 2, 12 + len(out)) + out)
END
"$CUTIS" synth cylinder -q -o "$T/cylinder.glb"
passes "takes its triangles apart" /usr/bin/python3 "$T/unweld.py" "$T/cylinder.glb" "$T/apart.glb"
passes "plots a cylinder" "$CUTIS" measure "$T/cylinder.glb" --plot "$T/one.svg" --json
cp "$T/stdout" "$T/one_plot.json"
passes "and the same in single triangles" "$CUTIS" measure "$T/apart.glb" --plot "$T/apart.svg" --json
cp "$T/stdout" "$T/apart_plot.json"
holds "--json has the documented keys" "$T/apart_plot.json" 'sorted(d) == ["degrees","file","joint","notes","plots","ways"] and all(sorted(w) == ["curvature","name","patch","volume"] and len(w["volume"]) == len(d["degrees"]) == 23 for w in d["ways"]) and [w["patch"][0] for w in d["ways"]][-1] is None'
holds "linear blending and volumes that are kept do not depend on how vertices are shared" "$T/apart_plot.json" "all(abs(x - y) < 1e-3 for one, other in zip(d['ways'], json.load(open('$T/one_plot.json'))['ways']) if one['name'] in ('keep (cut)', 'linear blending') for x, y in zip(one['volume'] + one['curvature'], other['volume'] + other['curvature']))"

# Colours that are the rest positions: what a frame's vertex has is where it came from.
cat >"$T/paint.py" <<'END'
import json, struct, sys
data = open(sys.argv[1], "rb").read()
size = struct.unpack_from("<I", data, 12)[0]
doc, body = json.loads(data[20:20 + size]), bytearray(data[28 + size:])
if len(sys.argv) == 3:
    doc["materials"] = [{"name": "skin", "pbrMetallicRoughness": {"baseColorFactor": [0.2, 0.4, 0.6, 1], "baseColorTexture": {"index": 0}}}]
    doc["textures"] = [{"source": 0}]
    doc["images"] = [{"uri": "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGNocFAAAAIkAOGrWWInAAAAAElFTkSuQmCC"}]
    for mesh in doc["meshes"]:
        for primitive in mesh["primitives"]:
            a = doc["accessors"][primitive["attributes"]["POSITION"]]
            view = doc["bufferViews"][a["bufferView"]]
            at, step = view.get("byteOffset", 0) + a.get("byteOffset", 0), view.get("byteStride", 12)
            points = [struct.unpack_from("<3f", body, at + step * i) for i in range(a["count"])]
            low, high = min(map(min, points)), max(map(max, points))
            unit = [[(x - low) / (high - low) for x in p] for p in points]
            for name, kind, width in (("COLOR_0", "VEC4", 4), ("TEXCOORD_0", "VEC2", 2)):
                body += bytes(-len(body) % 4)
                rows = b"".join(struct.pack("<%df" % width, *(u + [1.0])[:width]) for u in unit)
                doc["bufferViews"].append({"buffer": 0, "byteOffset": len(body), "byteLength": len(rows)})
                doc["accessors"].append({"bufferView": len(doc["bufferViews"]) - 1, "componentType": 5126,
                                         "count": a["count"], "type": kind})
                primitive["attributes"][name] = len(doc["accessors"]) - 1
                body += rows
            primitive["material"] = 0
    doc["buffers"][0]["byteLength"] = len(body)
    text = json.dumps(doc).encode()
    text += b" " * (-len(text) % 4)
    body += bytes(-len(body) % 4)
    out = struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(body), 0x4E4942) + body
    open(sys.argv[2], "wb").write(b"glTF" + struct.pack("<II", 2, 12 + len(out)) + out)
else:
    primitives = [p for m in doc["meshes"] for p in m["primitives"]]
    attributes = [sorted(p["attributes"]) for p in primitives]
    print(json.dumps({"materials": [m.get("name") for m in doc.get("materials", [])], "attributes": attributes,
                      "used": [p.get("material") for p in primitives], "images": len(doc.get("images", [])),
                      "texture": doc["materials"][0]["pbrMetallicRoughness"].get("baseColorTexture")}))
END
passes "paints the arm" /usr/bin/python3 "$T/paint.py" "$T/arm.glb" "$T/painted.glb"
passes "deforms it" "$CUTIS" deform "$T/painted.glb" --clip bend --method patches --frames 30 -o "$T/painted_bent.glb"
passes "reads it back" /usr/bin/python3 "$T/paint.py" "$T/painted_bent.glb"
cp "$T/stdout" "$T/painted.json"
passes "what came out is sound" "$CUTIS" check "$T/painted_bent.glb"
holds "material, texture, colours and coordinates came along" "$T/painted.json" 'd["images"] == 1 and d["texture"]["index"] == 0 and d["materials"] == ["skin"] and d["used"] == [0] and all("COLOR_0" in a and "TEXCOORD_0" in a for a in d["attributes"])'
passes "render draws the frame's own mesh" "$CUTIS" render "$T/painted.glb" --clip bend --time 1 --methods lbs,patches -o "$T/sheet.png"
fails 2 "render does not paint vertices that are gone" "patches replace" "$CUTIS" render "$T/arm.glb" --method patches --show curvature -o "$T/out/x.png"
fails 2 "compare has no vertices to compare" "vertices of their own" "$CUTIS" compare "$T/arm.glb" --methods lbs,patches --report "$T/out/x.html"

# Game characters are of several shells: one that no other part touches (eyes, a helmet) follows its part as it is.
"$CUTIS" synth arm --size low -q -o "$T/low.glb" && "$CUTIS" convert "$T/low.glb" -q -o "$T/low.obj"
n=$(grep -c '^v ' "$T/low.obj")
printf 'g wrist\nv 9 0 0\nv 9.1 0 0\nv 9 0.1 0\nv 9 0 0.1\nf %d %d %d\nf %d %d %d\nf %d %d %d\nf %d %d %d\n' $((n + 1)) $((n + 3)) $((n + 2)) $((n + 1)) $((n + 2)) $((n + 4)) \
    $((n + 1)) $((n + 4)) $((n + 3)) $((n + 2)) $((n + 3)) $((n + 4)) >>"$T/low.obj"
"$CUTIS" skeleton "$T/low.obj" --parts parts -q -o "$T/shells.glb" 2>/dev/null
echo '{"joints": {"wrist": {"rotation": [0, 0.4, 0, 0.9165]}}}' >"$T/shells.json"
passes "a part with a shell of its own" "$CUTIS" deform "$T/shells.glb" --pose "$T/shells.json" --method patches -q -o "$T/shells.obj"
/usr/bin/python3 - "$T/shells.obj" >"$T/verdict" 2>&1 <<'PY'
import itertools, math, sys
points = [tuple(map(float, l.split()[1:4])) for l in open(sys.argv[1]) if l.startswith("v ")]
# The four that nothing else is near: their six distances, which a rigid motion keeps, and where it has brought them.
apart = [p for p in points if p[0] ** 2 + p[1] ** 2 + p[2] ** 2 > 25]
want = sorted(math.dist(a, b) for a, b in itertools.combinations([(9, 0, 0), (9.1, 0, 0), (9, .1, 0), (9, 0, .1)], 2))
got = sorted(math.dist(a, b) for a, b in itertools.combinations(apart, 2))
print("good" if len(got) == 6 and max(abs(a - b) for a, b in zip(got, want)) < 1e-5 and min(math.dist(p, (9, 0, 0)) for p in apart) > 1 else f"{len(apart)} apart, {got}")
PY
equals "which goes along rigidly" "$(tail -1 "$T/verdict")" good
fails 1 "but not where parts are cut" "in several pieces" "$CUTIS" deform "$T/shells.glb" --pose "$T/shells.json" --method patches --band none -q -o "$T/out/x.obj"

# Wherever such a shell stands in the file: of a part shorter than its band the tip is the skin's, not the shell's.
"$CUTIS" synth biped --size low -q -o "$T/short.glb" && "$CUTIS" convert "$T/short.glb" -q -o "$T/short.obj"
/usr/bin/python3 - "$T" <<'PY'
import sys
lines = open(sys.argv[1] + "/short.obj").read().splitlines()
count, begin = sum(l.startswith("v ") for l in lines), next(i for i, l in enumerate(lines) if l.startswith("v "))
shell, faces = ["v 9 0 0", "v 9.1 0 0", "v 9 0.1 0", "v 9 0 0.1"], [(1, 3, 2), (1, 2, 4), (1, 4, 3), (2, 3, 4)]
made = lambda first: shell + ["g toes_l"] + ["f %d %d %d" % tuple(first + i for i in f) for f in faces]
later = lambda corner: "/".join([str(int(corner.split("/")[0]) + 4)] + corner.split("/")[1:])
moved = ["f " + " ".join(map(later, l.split()[1:])) if l.startswith("f ") else l for l in lines[begin:]]
for name, text in (("last", lines + made(count)), ("first", lines[:begin] + made(0) + moved)):
    open(f"{sys.argv[1]}/{name}.obj", "w").write("\n".join(text) + "\n")
PY
echo '{"joints": {"toes_l": {"rotation": [0.4, 0, 0, 0.9165]}}}' >"$T/toes.json"
for place in first last; do
    "$CUTIS" skeleton "$T/$place.obj" --parts parts -q -o "$T/$place.glb" 2>/dev/null
    passes "a shell that comes $place" "$CUTIS" deform "$T/$place.glb" --pose "$T/toes.json" --method patches -q -o "$T/$place.posed.obj"
    grep '^v ' "$T/$place.posed.obj" | LC_ALL=C sort >"$T/$place.points"
done
equals "the same points, wherever the shell stands" "$(cmp "$T/first.points" "$T/last.points" 2>&1)" ""

# A real body, cut where its joints are, with loops as rough as they come: 120 parts on a captured walk.
WALK=$SHARED/data/cmu-mocap/data/002/02_01.bvh
if [ -d "$SHARED/data/makehuman" ] && [ -f "$WALK" ]; then
    /usr/bin/python3 "$(dirname "$0")/../fit/makehuman.py" "$SHARED/data" "$T/human.glb" >/dev/null 2>&1
    passes "MakeHuman in 120 parts" "$CUTIS" skeleton "$T/human.glb" --parts joints -q -o "$T/human_rig.glb"
    passes "walks" "$CUTIS" retarget "$T/human_rig.glb" --motion "$WALK" -q -o "$T/human_walk.glb"
    "$CUTIS" deform "$T/human_walk.glb" --clip 02_01 --method patches -q -o "$T/walk.obj" || not_ok "the walk" "deform failed"
    equals "86 frames of it" "$(ls "$T"/walk_*.obj | wc -l)" 86
    equals "every frame of its walk is closed" "$(/usr/bin/python3 "$(dirname "$0")/closed_edges.py" "$T"/walk_*.obj 2>&1 | tail -1)" "{}"
else skip "patches on a real body" "shared data: they are not there"; fi

# A coarse one (576 triangles in 20 parts) in rigid parts: strips and what is left of cut faces must not have the same edge.
FOX=$SHARED/data/gltf-sample-assets/Fox/glTF-Binary/Fox.glb
if [ -f "$FOX" ]; then
    passes "Fox in 20 parts" "$CUTIS" skeleton "$FOX" --parts joints -q -o "$T/fox.glb"
    passes "looks around" "$CUTIS" retarget "$T/fox.glb" --motion "$FOX" -q -o "$T/fox_moves.glb"
    "$CUTIS" deform "$T/fox_moves.glb" --clip Survey --method patches --band none -q -o "$T/fox.obj" || not_ok "Fox's clip" "deform failed"
    equals "every frame of it is closed, in rigid parts" "$(ls "$T"/fox_*.obj | wc -l) $(/usr/bin/python3 "$(dirname "$0")/closed_edges.py" --weld "$T"/fox_*.obj 2>&1 | tail -1)" "103 {}"
else skip "patches on a coarse body" "shared data: they are not there"; fi

fails 2 "free patches are no array" "want .obj" "$CUTIS" deform "$T/arm.glb" --method patches -o "$T/out/x.npy"
fails 2 "--fill needs patches" "for --method patches" "$CUTIS" deform "$T/arm.glb" --fill mean -o "$T/out/x.npy"
fails 2 "--fixed has its own triangles" "keeps the model" "$CUTIS" deform "$T/arm.glb" --method patches --fixed --triangulate local -o "$T/out/x.npy"
fails 2 "--normals has no vertices to go with" "not for --method patches" "$CUTIS" deform "$T/arm.glb" --method patches --normals "$T/out/n.npy" -o "$T/out/x.obj"
fails 2 "--frames without a clip" "wants --clip.*bend" "$CUTIS" deform "$T/arm.glb" --method patches --frames 3 -o "$T/out/x.obj"
fails 2 "--plot has its own poses" "bends its --joint itself" "$CUTIS" measure "$T/arm.glb" --clip bend --plot "$T/out/x.svg"
fails 2 "--joint without --plot" "goes with --plot" "$CUTIS" measure "$T/arm.glb" --joint elbow
fails 2 "render: --fill needs patches" "method patches" "$CUTIS" render "$T/arm.glb" --fill mean -o "$T/out/x.png"
fails 1 "no such joint" "nose" "$CUTIS" measure "$T/arm.glb" --plot "$T/out/x.svg" --joint nose
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >"$T/flat.obj"
fails 1 "a model without parts" "parts" "$CUTIS" deform "$T/flat.obj" --method patches -o "$T/out/x.obj"
exit $failed
