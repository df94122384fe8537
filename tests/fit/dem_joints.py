"""The joints of dem-bones' Bone_All.fbx in all 400 frames; the converted JSON has every tenth. Binary FBX, keys of its curves, Maya's
chain of matrices (rotations in the order X, Y, Z); where the JSON has a frame both agree to its last digit (tests/fit/bake_figures.py)."""
import struct
import zlib

import numpy as np

SECOND = 46186158000  # ticks
ARRAYS = {"f": "<f4", "d": "<f8", "l": "<i8", "i": "<i4", "b": "<i1"}
SCALARS = {"Y": "<h", "C": "<b", "I": "<i", "F": "<f", "D": "<d", "L": "<q"}


def read(path):
    """Nodes as (name, properties, children)."""
    data = open(path, "rb").read()
    wide = struct.unpack_from("<I", data, 23)[0] >= 7500

    def value(at):
        kind = chr(data[at])
        at += 1
        if kind in SCALARS:
            return struct.unpack_from(SCALARS[kind], data, at)[0], at + struct.calcsize(SCALARS[kind])
        if kind in "SR":
            size = struct.unpack_from("<I", data, at)[0]
            return data[at + 4:at + 4 + size], at + 4 + size
        count, packed, size = struct.unpack_from("<III", data, at)
        raw = data[at + 12:at + 12 + size]
        return np.frombuffer(zlib.decompress(raw) if packed else raw, ARRAYS[kind], count), at + 12 + size

    def node(at):
        head = "<QQQ" if wide else "<III"
        end, count, _ = struct.unpack_from(head, data, at)
        at += struct.calcsize(head)
        if end == 0:
            return None, at + 1
        size = data[at]
        name, values, children = data[at + 1:at + 1 + size].decode(), [], []
        at += 1 + size
        for _ in range(count):
            one, at = value(at)
            values.append(one)
        while at < end:
            child, at = node(at)
            if child is None:
                break
            children.append(child)
        return (name, values, children), end
    at, out = 27, []
    while True:
        child, at = node(at)
        if child is None:
            return out
        out.append(child)


def rotation(degrees):
    x, y, z = np.radians(degrees)
    c, s = np.cos, np.sin
    return (np.array([[c(z), -s(z), 0], [s(z), c(z), 0], [0, 0, 1]]) @ np.array([[c(y), 0, s(y)], [0, 1, 0], [-s(y), 0, c(y)]]) @
            np.array([[1, 0, 0], [0, c(x), -s(x)], [0, s(x), c(x)]]))


def worlds(path, frames=400, fps=24):
    """World matrices of every node by its name, [frame, 4, 4]; the first frame is at 1 / fps."""
    tree = {n[0]: n[2] for n in read(path)}
    only = lambda node, name: next(k for k in node[2] if k[0] == name)
    models, curves, moved = {}, {}, set()
    for kind in tree["Objects"]:
        if kind[0] == "Model":
            options = {p[1][0].decode(): [float(x) for x in p[1][4:7]] for p in only(kind, "Properties70")[2] if len(p[1]) == 7}
            models[kind[1][0]] = kind[1][1].split(b"\0")[0].decode(), options
        elif kind[0] == "AnimationCurve":
            curves[kind[1][0]] = only(kind, "KeyTime")[1][0] / SECOND, only(kind, "KeyValueFloat")[1][0]
        elif kind[0] == "AnimationCurveNode":
            moved.add(kind[1][0])
    above, animated, channel, done = {}, {}, {}, {}
    for link in tree["Connections"]:
        kind, a, b = link[1][:3]
        if kind == b"OO" and a in models and b in models:
            above[a] = b
        elif kind == b"OP" and a in curves and b in moved:
            channel[b, link[1][3].decode()[-1]] = a
        elif kind == b"OP" and a in moved and b in models:
            animated[b, link[1][3].decode()] = a
    times = (np.arange(frames) + 1) / fps

    def track(model, name, still):
        out = np.tile(models[model][1].get(name, still), (frames, 1))
        for i, axis in enumerate("XYZ"):
            curve = channel.get((animated.get((model, name)), axis))
            if curve is not None:
                out[:, i] = np.interp(times, *curves[curve])
        return out

    def world(model):
        if model not in done:
            turn, size = track(model, "Lcl Rotation", [0, 0, 0]), track(model, "Lcl Scaling", [1, 1, 1])
            before = rotation(models[model][1].get("PreRotation", [0, 0, 0]))
            local = np.tile(np.eye(4), (frames, 1, 1))
            local[:, :3, :3] = [before @ rotation(r) @ np.diag(s) for r, s in zip(turn, size)]
            local[:, :3, 3] = track(model, "Lcl Translation", [0, 0, 0])
            done[model] = world(above[model]) @ local if model in above else local
        return done[model]
    return {models[m][0]: world(m) for m in models}
