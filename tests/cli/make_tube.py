#!/usr/bin/python3
"""A tube of rings along a chain of joints, as GLB: make_tube.py OUT JOINTS INFLUENCES FRAMES. Of its clip's frames even ones bend far and
odd ones hardly (0: no clip), so that what is learned from and what judges are different."""
import json
import math
import struct
import sys

out, joints, influences, frames = sys.argv[1], *map(int, sys.argv[2:5])
RINGS, AROUND = 9, 12
positions = [(0.1 * math.cos(2 * math.pi * k / AROUND), r / (RINGS - 1), 0.1 * math.sin(2 * math.pi * k / AROUND))
             for r in range(RINGS) for k in range(AROUND)]
corners = []
for r in range(RINGS - 1):
    for k in range(AROUND):
        a, b = r * AROUND + k, r * AROUND + (k + 1) % AROUND
        corners += [a, a + AROUND, b, b, a + AROUND, b + AROUND]
data, views, accessors = b"", [], []


def add(form, rows, component, kind, bounds=None):
    global data
    raw = b"".join(struct.pack("<" + form, *row) for row in rows)
    views.append({"buffer": 0, "byteOffset": len(data), "byteLength": len(raw)})
    data += raw + bytes(-len(raw) % 4)
    accessors.append({"bufferView": len(views) - 1, "componentType": component, "type": kind, "count": len(rows)})
    if bounds:
        accessors[-1]["min"], accessors[-1]["max"] = bounds
    return len(accessors) - 1


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


lists = []
for i, (_, y, _) in enumerate(positions):
    weight = {j: math.exp(-8 * abs(y - j / (joints - 1))) + 1e-3 * ((7 * i + 3 * j) % 10) for j in range(joints)}
    kept = sorted(weight, key=lambda j: -weight[j])[:influences]
    total = sum(weight[j] for j in kept)
    lists.append([(j, weight[j] / total) for j in sorted(kept)])
ends = [[single(f(p[c] for p in positions)) for c in range(3)] for f in (min, max)]
attributes = {"POSITION": add("3f", positions, 5126, "VEC3", ends)}
for s in range((influences + 3) // 4):
    rows = [(row[4 * s:4 * s + 4] + [(0, 0.0)] * 4)[:4] for row in lists]
    attributes[f"JOINTS_{s}"] = add("4H", [[j for j, _ in row] for row in rows], 5123, "VEC4")
    attributes[f"WEIGHTS_{s}"] = add("4f", [[w for _, w in row] for row in rows], 5126, "VEC4")
mesh = {"primitives": [{"attributes": attributes, "indices": add("I", [[c] for c in corners], 5125, "SCALAR")}]}
step = 1 / (joints - 1)
nodes = [{"name": f"j{j}", **({"translation": [0, step, 0]} if j else {}), **({"children": [j + 1]} if j + 1 < joints else {})}
         for j in range(joints)] + [{"mesh": 0, "skin": 0}]
binds = add("16f", [[1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -j * step, 0, 1] for j in range(joints)], 5126, "MAT4")
file = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0, joints]}], "nodes": nodes, "meshes": [mesh],
        "skins": [{"joints": list(range(joints)), "inverseBindMatrices": binds}]}
if frames:
    times = add("f", [[f / 30] for f in range(frames)], 5126, "SCALAR", ([0], [single((frames - 1) / 30)]))
    turns = [[(0.02 if f % 2 else 1.0) * math.sin(1 + j) / 2 for f in range(frames)] for j in range(joints)]
    samplers = [{"input": times, "output": add("4f", [[math.sin(a), 0, 0, math.cos(a)] for a in row], 5126, "VEC4")} for row in turns]
    file["animations"] = [{"samplers": samplers, "channels": [{"sampler": j, "target": {"node": j, "path": "rotation"}} for j in range(joints)]}]
file.update(buffers=[{"byteLength": len(data)}], bufferViews=views, accessors=accessors)
text = json.dumps(file).encode()
text += b" " * (-len(text) % 4)
open(out, "wb").write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(data)) + struct.pack("<I4s", len(text), b"JSON") + text +
                      struct.pack("<I4s", len(data), b"BIN\0") + data)
