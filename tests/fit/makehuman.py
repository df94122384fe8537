#!/usr/bin/python3
"""MakeHuman's body as glTF: group `body` of base.obj, the default rig with joints at the means of their helper
vertices, all weights, and poses from BVH files as clips of one key (docs/spec/conventions.md 8).

A pose's rotation acts in world axes about the joint's head, parents first; BVH axes are z-up, so rotations are conjugated
with (x, y, z) -> (x, z, -y). Position channels are ignored.
usage: makehuman.py DATA OUT.glb [--face SEED]   (--face: examples and held-out poses get disjoint face units mixed in)
"""
import json
import os
import struct
import sys

import numpy as np

from random_bits import shuffled

data, out = sys.argv[1], sys.argv[2]
face_seed = int(sys.argv[4]) if len(sys.argv) > 4 else None
home = os.path.join(data, "makehuman/makehuman/data")
assets = os.path.join(data, "makehuman-assets/base/poses")


def read_obj(path):
    positions, triangles, group = [], [], None
    with open(path) as file:
        for line in file:
            if line.startswith("v "):
                positions.append([float(x) for x in line.split()[1:4]])
            elif line.startswith("g "):
                group = line.split()[1]
            elif line.startswith("f ") and group == "body":
                f = [int(x.split("/")[0]) - 1 for x in line.split()[1:]]
                triangles += [[f[0], f[i], f[i + 1]] for i in range(1, len(f) - 1)]
    return np.array(positions), np.array(triangles)


def euler(order, degrees):
    r = np.eye(3)
    for axis, angle in zip(order, np.radians(degrees)):
        c, s = np.cos(angle), np.sin(angle)
        m = {"X": [[1, 0, 0], [0, c, -s], [0, s, c]], "Y": [[c, 0, s], [0, 1, 0], [-s, 0, c]],
             "Z": [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis]
        r = r @ np.array(m)
    return r


FLIP = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])  # (x, y, z) -> (x, z, -y)


def read_bvh(path):
    """One dictionary of joint -> rotation (y-up) per frame."""
    channels, name, frames, motion = [], None, [], False
    with open(path) as file:
        for line in file:
            words = line.split()
            if not words:
                continue
            if motion:
                if words[0] not in ("Frames:", "Frame"):
                    frames.append([float(x) for x in words])
            elif words[0] in ("ROOT", "JOINT"):
                name = words[1]
            elif words[0] == "CHANNELS":
                channels += [(name, c) for c in words[2:]]
            elif words[0] == "MOTION":
                motion = True
    result = []
    for values in frames:
        angles = {}
        for (joint, channel), value in zip(channels, values):
            if channel.endswith("rotation"):
                angles.setdefault(joint, []).append((channel[0], value))
        result.append({j: FLIP @ euler([a for a, _ in list_], [v for _, v in list_]) @ FLIP.T
                       for j, list_ in angles.items()})
    return result


def quaternion(r):
    w = np.sqrt(max(0, 1 + r[0, 0] + r[1, 1] + r[2, 2])) / 2
    x = np.sqrt(max(0, 1 + r[0, 0] - r[1, 1] - r[2, 2])) / 2
    y = np.sqrt(max(0, 1 - r[0, 0] + r[1, 1] - r[2, 2])) / 2
    z = np.sqrt(max(0, 1 - r[0, 0] - r[1, 1] + r[2, 2])) / 2
    return np.array([np.copysign(x, r[2, 1] - r[1, 2]), np.copysign(y, r[0, 2] - r[2, 0]),
                     np.copysign(z, r[1, 0] - r[0, 1]), w])


positions, triangles = read_obj(os.path.join(home, "3dobjs/base.obj"))
rig = json.load(open(os.path.join(home, "rigs/default.mhskel")))
weights = json.load(open(os.path.join(home, "rigs/default_weights.mhw")))["weights"]
head = {b: positions[rig["joints"][v["head"]]].mean(0) for b, v in rig["bones"].items()}
order = []


def visit(bone):
    order.append(bone)
    for b in sorted(rig["bones"]):
        if rig["bones"][b]["parent"] == bone:
            visit(b)


for b in sorted(rig["bones"]):
    if rig["bones"][b]["parent"] is None:
        visit(b)
index = {b: i for i, b in enumerate(order)}

used = np.unique(triangles)
back = np.full(len(positions), -1)
back[used] = np.arange(len(used))
triangles = back[triangles]
vertex_weights = [[] for _ in used]
for bone, list_ in weights.items():
    for v, w in list_:
        if back[v] >= 0 and w > 0:
            vertex_weights[back[v]].append((index[bone], w))
for list_ in vertex_weights:  # raw sums run from 0.32 to 1.67
    total = sum(w for _, w in list_)
    list_[:] = [(j, w / total) for j, w in list_] or [(0, 1.0)]

poses = {}
for folder, names in ((assets, sorted(os.listdir(assets))), (os.path.join(home, "poses"), ["benchmark.bvh", "tpose.bvh"])):
    for name in names:
        if name.endswith(".bvh"):
            frames = read_bvh(os.path.join(folder, name))
            for i, frame in enumerate(frames):
                poses[name[:-4] + ("" if len(frames) == 1 else f"#{i}")] = frame
if face_seed is not None:
    # Units split at random in two halves; of every pose NAME there is NAMEa with three units of the first and NAMEb of the second.
    units = read_bvh(os.path.join(home, "poseunits/face-poseunits.bvh"))[1:]
    order_of_units = shuffled(range(len(units)), face_seed, 1)
    mixed = {}
    for number, (name, pose) in enumerate(poses.items()):
        for half in (0, 1):
            frame = dict(pose)
            for u in shuffled(order_of_units[half::2], face_seed, 2 + 2 * number + half)[:3]:
                for joint, r in units[u].items():
                    frame[joint] = frame.get(joint, np.eye(3)) @ r
            mixed[name + "ab"[half]] = frame
    poses = mixed

blob, views, accessors = b"", [], []


def accessor(array, kind, component, low_high=False):
    global blob
    blob += b"\0" * (-len(blob) % 4)
    views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
    entry = {"bufferView": len(views) - 1, "componentType": component, "count": len(array), "type": kind}
    if low_high:
        entry["min"] = array.min(0).reshape(-1).tolist()
        entry["max"] = array.max(0).reshape(-1).tolist()
    blob += array.tobytes()
    accessors.append(entry)
    return len(accessors) - 1


sets = (max(len(list_) for list_ in vertex_weights) + 3) // 4
joints = np.zeros((len(used), 4 * sets), np.uint8)
values = np.zeros((len(used), 4 * sets), np.float32)
for v, list_ in enumerate(vertex_weights):
    for i, (j, w) in enumerate(sorted(list_, key=lambda x: -x[1])):
        joints[v, i], values[v, i] = j, w
attributes = {"POSITION": accessor(positions[used].astype(np.float32), "VEC3", 5126, True)}
for s in range(sets):
    attributes[f"JOINTS_{s}"] = accessor(np.ascontiguousarray(joints[:, 4 * s:4 * s + 4]), "VEC4", 5121)
    attributes[f"WEIGHTS_{s}"] = accessor(np.ascontiguousarray(values[:, 4 * s:4 * s + 4]), "VEC4", 5126)
indices = accessor(triangles.astype(np.uint32).reshape(-1, 1), "SCALAR", 5125)
binds = np.tile(np.eye(4, dtype=np.float32), (len(order), 1, 1))
for b, i in index.items():
    binds[i, 3, :3] = -head[b]  # column-major
bind_accessor = accessor(binds.reshape(-1, 16), "MAT4", 5126)
nodes = []
for b in order:
    parent = rig["bones"][b]["parent"]
    nodes.append({"name": b, "translation": (head[b] - (head[parent] if parent else 0)).tolist()})
for b in order:
    children = [index[c] for c in order if rig["bones"][c]["parent"] == b]
    if children:
        nodes[index[b]]["children"] = children
roots = [index[b] for b in order if rig["bones"][b]["parent"] is None]
nodes.append({"name": "body", "mesh": 0, "skin": 0})
animations = []
time = accessor(np.zeros((1, 1), np.float32), "SCALAR", 5126, True)
for name, pose in poses.items():
    channels, samplers = [], []
    for b in order:
        if b in pose:
            q = quaternion(pose[b]).astype(np.float32).reshape(1, 4)
            samplers.append({"input": time, "output": accessor(q / np.linalg.norm(q), "VEC4", 5126)})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": index[b], "path": "rotation"}})
    animations.append({"name": name, "channels": channels, "samplers": samplers})
gltf = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": roots + [len(nodes) - 1]}], "nodes": nodes,
        "meshes": [{"primitives": [{"attributes": attributes, "indices": indices}]}],
        "skins": [{"joints": list(range(len(order))), "inverseBindMatrices": bind_accessor}],
        "animations": animations, "accessors": accessors, "bufferViews": views}
blob += b"\0" * (-len(blob) % 4)
gltf["buffers"] = [{"byteLength": len(blob)}]
text = json.dumps(gltf).encode()
text += b" " * (-len(text) % 4)
with open(out, "wb") as file:
    file.write(struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(blob)))
    file.write(struct.pack("<II", len(text), 0x4E4F534A) + text)
    file.write(struct.pack("<II", len(blob), 0x004E4942) + blob)
print(len(used), "vertices", len(triangles), "triangles", len(order), "joints", len(poses), "poses",
      max(len(x) for x in vertex_weights), "influences at most")
