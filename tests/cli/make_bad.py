#!/usr/bin/python3
"""Small glTF files, each wrong in one way: make_bad.py FOLDER. good.gltf is the one they are made from."""
import base64, copy, json, struct, sys

folder = sys.argv[1]
positions = [0, 0, 0, 1, 0, 0, 0, 1, 0]
blob = struct.pack("<9f", *positions)                                      # 0: positions, 36 bytes
blob += struct.pack("<3H", 0, 1, 2) + b"\0\0"                               # 36: indices, 8
blob += bytes([0, 1, 0, 0] * 3)                                            # 44: joints, 12
blob += struct.pack("<12f", *[0.5, 0.5, 0, 0] * 3)                         # 56: weights, 48
identity = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
blob += struct.pack("<32f", *identity * 2)                                 # 104: inverse binds, 128
blob += struct.pack("<2f", 0, 1)                                           # 232: times, 8
blob += struct.pack("<8f", 0, 0, 0, 1, 0, 0, 0.7071068, 0.7071068)         # 240: rotations, 32

def views(spec):
    return [{"buffer": 0, "byteOffset": o, "byteLength": n} for o, n in spec]

good = {
    "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, 1]}],
    "nodes": [{"mesh": 0, "skin": 0}, {"name": "root", "children": [2]}, {"name": "tip", "translation": [0, 1, 0]}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}, "indices": 1}]}],
    "skins": [{"joints": [1, 2], "inverseBindMatrices": 4}],
    "animations": [{"name": "turn", "channels": [{"sampler": 0, "target": {"node": 2, "path": "rotation"}}],
                    "samplers": [{"input": 5, "output": 6}]}],
    "accessors": [
        {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
        {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
        {"bufferView": 2, "componentType": 5121, "count": 3, "type": "VEC4"},
        {"bufferView": 3, "componentType": 5126, "count": 3, "type": "VEC4"},
        {"bufferView": 4, "componentType": 5126, "count": 2, "type": "MAT4"},
        {"bufferView": 5, "componentType": 5126, "count": 2, "type": "SCALAR", "min": [0], "max": [1]},
        {"bufferView": 6, "componentType": 5126, "count": 2, "type": "VEC4"}],
    "bufferViews": views([(0, 36), (36, 6), (44, 12), (56, 48), (104, 128), (232, 8), (240, 32)]),
}

def write(name, edit=None, data=blob):
    g = copy.deepcopy(good)
    if edit: edit(g)
    g["buffers"] = [{"byteLength": len(data), "uri": "data:application/octet-stream;base64," + base64.b64encode(data).decode()}]
    with open(f"{folder}/{name}.gltf", "w") as f: json.dump(g, f)

def patch(offset, code, *values):
    b = bytearray(blob); struct.pack_into("<" + code, b, offset, *values); return bytes(b)

nan = float("nan")
write("good")
write("cycle", lambda g: g["nodes"][2].update(children=[1]))
write("two_parents", lambda g: g["scenes"][0].update(nodes=[0, 1, 2]))
write("index_out_of_range", data=patch(40, "H", 7))
write("joint_out_of_range", data=patch(45, "B", 9))
write("node_out_of_range", lambda g: g["skins"][0].update(joints=[1, 99]))
write("accessor_out_of_range", lambda g: g["meshes"][0]["primitives"][0]["attributes"].update(POSITION=70))
write("view_too_long", lambda g: g["bufferViews"][0].update(byteLength=1 << 30))
write("nan_bind", data=patch(104, "f", nan))
write("nan_position", data=patch(0, "f", nan))
write("nan_key", data=patch(240, "f", nan))
write("infinite_translation", lambda g: g["nodes"][2].update(translation=[0, 1e300, 0]))
write("singular_bind", data=patch(104, "16f", *[0] * 16))
write("no_binds", lambda g: g["skins"][0].pop("inverseBindMatrices"))
write("nan_weight", data=patch(56, "f", nan))
write("negative_weight", data=patch(56, "f", -0.5))
write("sums_to_two", data=patch(56, "12f", *[1, 1, 0, 0] * 3))
write("unweighted", data=patch(56, "4f", 0, 0, 0, 0))
write("doubled_joint", data=patch(45, "B", 0))
write("times_backwards", data=patch(232, "2f", 1, 0))
write("no_scene_joints", lambda g: g["scenes"][0].update(nodes=[0]))
write("other_scene", lambda g: g["scenes"].append({"nodes": [0]}))
raw = open(f"{folder}/good.gltf", "rb").read()
open(f"{folder}/truncated.gltf", "wb").write(raw[:len(raw) // 2])
open(f"{folder}/empty.gltf", "wb").close()
json.dump({"joints": {"tip": {"rotation": [0, 0, 0.7071068, 0.7071068]}}}, open(f"{folder}/pose.json", "w"))
json.dump({"joints": {"nose": {"rotation": [0, 0, 0, 1]}}}, open(f"{folder}/pose_unknown.json", "w"))
open(f"{folder}/pose_nan.json", "w").write('{"joints": {"tip": {"rotation": [0, 0, NaN, 1]}}}')
open(f"{folder}/pose_zero.json", "w").write('{"joints": {"tip": {"rotation": [0, 0, 0, 0]}}}')
