#!/usr/bin/python3
"""KayKit's barbarian with all its meshes joined into one skinned mesh in the bind pose, bound by `cutis handles`: every
vertex of what hung under a joint (axes, shield, mug, hat, cape) must have that joint and no other. Reads glTF by itself.
usage: handles_islands.py CUTIS BARBARIAN.glb FOLDER
"""
import json
import struct
import subprocess
import sys

import numpy as np

cutis, source, folder = sys.argv[1:]
KINDS = {5121: "u1", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def load(path):
    data, at, parts = open(path, "rb").read(), 12, []
    while at < len(data):
        size = struct.unpack_from("<I", data, at)[0]
        parts.append(data[at + 8:at + 8 + size])
        at += 8 + size
    return json.loads(parts[0]), parts[1]


def read(doc, blob, index):
    a = doc["accessors"][index]
    view, width, kind = doc["bufferViews"][a["bufferView"]], WIDTHS[a["type"]], np.dtype(KINDS[a["componentType"]])
    start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
    step = view.get("byteStride", kind.itemsize * width)
    out = np.ndarray((a["count"], width), kind, blob, start, (step, kind.itemsize))
    return out / np.iinfo(kind).max if a.get("normalized") else np.array(out)


def matrix(node):
    x, y, z, w = node.get("rotation", [0, 0, 0, 1])
    m = np.eye(4)
    m[:3, :3] = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                          [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                          [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]]) * node.get("scale", [1, 1, 1])
    m[:3, 3] = node.get("translation", [0, 0, 0])
    return m


doc, blob = load(source)
skin = doc["skins"][0]
parent = {c: i for i, n in enumerate(doc["nodes"]) for c in n.get("children", [])}
joint = {n: k for k, n in enumerate(skin["joints"])}
binds = read(doc, blob, skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
places, triangles, hung, names, count = [], [], [], [], 0
for i, node in enumerate(doc["nodes"]):
    if "mesh" not in node:
        continue
    for primitive in doc["meshes"][node["mesh"]]["primitives"]:
        p = read(doc, blob, primitive["attributes"]["POSITION"]).astype(float)
        under = -1
        if "skin" not in node:
            under = joint[parent[i]]
            m = np.linalg.inv(binds[under]) @ matrix(node)
            p = p @ m[:3, :3].T + m[:3, 3]
        places.append(p)
        triangles.append(read(doc, blob, primitive["indices"]).ravel().astype("<u4") + count)
        hung += [under] * len(p)
        names += [node["name"]] * len(p)
        count += len(p)
places, triangles = np.vstack(places).astype("<f4"), np.hstack(triangles).astype("<u4")
hung, names = np.array(hung), np.array(names)
joints, weights = np.zeros((count, 4), "<u2"), np.zeros((count, 4), "<f4")
weights[:, 0] = 1
arrays = [places, triangles, joints, weights, binds.transpose(0, 2, 1).astype("<f4").reshape(-1, 16)]
views, blob = [], b""
for a in arrays:
    views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": a.nbytes})
    blob += a.tobytes() + b"\0" * (-a.nbytes % 4)
nodes = [{k: v for k, v in n.items() if k not in ("mesh", "skin")} for n in doc["nodes"]]
nodes.append({"mesh": 0, "skin": 0})
low, high = places.min(0).tolist(), places.max(0).tolist()
joined = {
    "asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": doc["scenes"][0]["nodes"] + [len(nodes) - 1]}],
    "nodes": nodes, "skins": [{"joints": skin["joints"], "inverseBindMatrices": 4}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}, "indices": 1}]}],
    "buffers": [{"byteLength": len(blob)}], "bufferViews": views,
    "accessors": [{"bufferView": 0, "componentType": 5126, "count": count, "type": "VEC3", "min": low, "max": high},
                  {"bufferView": 1, "componentType": 5125, "count": triangles.size, "type": "SCALAR"},
                  {"bufferView": 2, "componentType": 5123, "count": count, "type": "VEC4"},
                  {"bufferView": 3, "componentType": 5126, "count": count, "type": "VEC4"},
                  {"bufferView": 4, "componentType": 5126, "count": len(binds), "type": "MAT4"}]}
text = json.dumps(joined).encode()
text += b" " * (-len(text) % 4)
with open(folder + "/joined.glb", "wb") as file:
    file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(blob)) + struct.pack("<I4s", len(text), b"JSON") + text)
    file.write(struct.pack("<I4s", len(blob), b"BIN\0") + blob)
subprocess.run([cutis, "handles", folder + "/joined.glb", "--skeleton", "--largest", "-q", "-o", folder + "/bound.glb"],
               check=True)
doc, blob = load(folder + "/bound.glb")
attributes = doc["meshes"][0]["primitives"][0]["attributes"]
weights, joints = read(doc, blob, attributes["WEIGHTS_0"]), read(doc, blob, attributes["JOINTS_0"])
for name in np.unique(names[hung >= 0]):
    mine = (names == name) & (hung >= 0)
    strongest = joints[np.arange(count), weights.argmax(1)]
    right = (weights.max(1) > 0.9999) & (strongest == hung)
    print("%s %s: %d of %d vertices have the one joint they hung under"
          % ("ok" if right[mine].all() else "not ok", name, right[mine].sum(), mine.sum()))
bent = (weights > 0.01).sum(1)[hung < 0]
print("%s the body bends: %d of its %d vertices have several joints"
      % ("ok" if 2 * (bent > 1).sum() > len(bent) * 0.5 else "not ok", (bent > 1).sum(), len(bent)))
