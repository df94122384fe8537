#!/usr/bin/python3
"""Smooth weights for tests, from the skin of any GLB with one mesh (docs/spec/conventions.md 4): three steps (M + tau L) w = M w with
tau = (0.04 diagonal)^2, cotangent Laplacian clamped at 0, weights below 1e-3 dropped, renormalised.
usage: smooth_weights.py IN.glb OUT.glb
"""
import json
import struct
import sys

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

raw = open(sys.argv[1], "rb").read()
length = struct.unpack_from("<I", raw, 12)[0]
gltf = json.loads(raw[20:20 + length])
blob = bytearray(raw[28 + length:28 + length + struct.unpack_from("<I", raw, 20 + length)[0]])
TYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


def read(index):
    a = gltf["accessors"][index]
    view, kind, width = gltf["bufferViews"][a["bufferView"]], np.dtype(TYPES[a["componentType"]]), WIDTHS[a["type"]]
    stride = view.get("byteStride", kind.itemsize * width)
    offset = view.get("byteOffset", 0) + a.get("byteOffset", 0)
    return np.array([np.frombuffer(blob, kind, width, offset + i * stride) for i in range(a["count"])])


def add(array, kind, component):
    blob.extend(b"\0" * (-len(blob) % 4))
    gltf["bufferViews"].append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
    blob.extend(array.tobytes())
    gltf["accessors"].append({"bufferView": len(gltf["bufferViews"]) - 1, "componentType": component,
                              "count": len(array), "type": kind})
    return len(gltf["accessors"]) - 1


primitive = gltf["meshes"][0]["primitives"][0]
attributes = primitive["attributes"]
positions = read(attributes["POSITION"]).astype(float)
_, weld, back = np.unique(positions, axis=0, return_index=True, return_inverse=True)
back = back.reshape(-1)
points = positions[weld]
n = len(points)
triangles = read(primitive["indices"]).reshape(-1, 3) if "indices" in primitive else np.arange(len(positions)).reshape(-1, 3)
triangles = back[triangles]
triangles = triangles[(triangles[:, 0] != triangles[:, 1]) & (triangles[:, 1] != triangles[:, 2])
                      & (triangles[:, 2] != triangles[:, 0])]
joints, weights = read(attributes["JOINTS_0"]).astype(int), read(attributes["WEIGHTS_0"]).astype(float)
if gltf["accessors"][attributes["WEIGHTS_0"]]["componentType"] != 5126:
    weights /= weights.sum(1, keepdims=True)
count = len(gltf["skins"][0]["joints"])
w = np.zeros((n, count))
for v in range(n):
    np.add.at(w[v], joints[weld[v]], weights[weld[v]])
w /= w.sum(1, keepdims=True)
rows, columns, values, mass = [], [], [], np.zeros(n)
for k in range(3):
    o, a, b = (triangles[:, (k + i) % 3] for i in range(3))
    u, x = points[a] - points[o], points[b] - points[o]
    twice = np.linalg.norm(np.cross(u, x), axis=1)
    good = twice > 1e-14 * np.ptp(points, axis=0).max() ** 2
    cot = np.where(good, (u * x).sum(1) / np.where(good, twice, 1), 0)
    rows += [a, b]
    columns += [b, a]
    values += [cot / 2, cot / 2]
    np.add.at(mass, o, twice / 6)
edge = sparse.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))), (n, n)).tocsr()
edge.data = np.maximum(edge.data, 0)
laplacian = sparse.diags(np.asarray(edge.sum(1)).reshape(-1)) - edge
diagonal = np.linalg.norm(np.ptp(points, axis=0))
mass = sparse.diags(np.maximum(mass, 1e-12 * diagonal ** 2))
solve = splu((mass + (0.04 * diagonal) ** 2 * laplacian).tocsc())
for _ in range(3):
    w = solve.solve(mass @ w)
w[w < 1e-3] = 0
w /= w.sum(1, keepdims=True)
sets = (int((w > 0).sum(1).max()) + 3) // 4
order = np.argsort(-w, axis=1, kind="stable")[:, :4 * sets]
order = np.pad(order, ((0, 0), (0, 4 * sets - order.shape[1])))
sorted_w = np.take_along_axis(w, order, 1).astype(np.float32)
sorted_w[:, count:] = 0
sorted_j = np.where(sorted_w > 0, order, 0).astype(np.uint16)
for s in range(sets):
    attributes[f"JOINTS_{s}"] = add(np.ascontiguousarray(sorted_j[back][:, 4 * s:4 * s + 4]), "VEC4", 5123)
    attributes[f"WEIGHTS_{s}"] = add(np.ascontiguousarray(sorted_w[back][:, 4 * s:4 * s + 4]), "VEC4", 5126)
blob.extend(b"\0" * (-len(blob) % 4))
gltf["buffers"][0]["byteLength"] = len(blob)
text = json.dumps(gltf).encode()
text += b" " * (-len(text) % 4)
with open(sys.argv[2], "wb") as file:
    file.write(struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(blob)))
    file.write(struct.pack("<II", len(text), 0x4E4F534A) + text + struct.pack("<II", len(blob), 0x004E4942) + blob)
print((w > 0).sum(1).max(), "influences at most,", ((w > 0).sum(1) > 4).sum(), "of", n, "vertices have more than 4")
