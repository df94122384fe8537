#!/usr/bin/python3
"""Independent judge of weight reduction, in float64 from the definitions; shares no code with Cutis. It reads both glTF files
itself, poses the skeleton, blends linearly by the original, the reduced and the k-largest weights, and prints as JSON the ratio
reduced / k-largest of the RMS (over all poses and vertices) of the angle between welded area-weighted normals and of the distance.

Random poses turn every joint from its node's rest pose by a uniform angle of +-40 degrees about a random axis. Their seeds start at
1000 and are never learned from. Clips are sampled at 30 frames a second; `odd` judges by the frames that `cutis reduce` leaves out:
odd frames of a clip; of clips of one frame every second.
usage: judge_unseen.py ORIGINAL REDUCED K [--random N] [--seed S] [--clips odd|all|NAME,...] [--degrees D]
"""
import argparse
import base64
import json
import os
import struct

import numpy as np

TYPES = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class File:
    def __init__(self, path):
        raw, self.blobs, chunk = open(path, "rb").read(), [], None
        if raw[:4] == b"glTF":
            length = struct.unpack_from("<I", raw, 12)[0]
            self.json, chunk = json.loads(raw[20:20 + length]), raw[28 + length:]
        else:
            self.json = json.loads(raw)
        for buffer in self.json.get("buffers", []):
            uri = buffer.get("uri")
            if uri is None:
                self.blobs.append(chunk)
            elif uri.startswith("data:"):
                self.blobs.append(base64.b64decode(uri.split(",", 1)[1]))
            else:
                self.blobs.append(open(os.path.join(os.path.dirname(path), uri), "rb").read())

    def array(self, index):
        a = self.json["accessors"][index]
        kind, width = np.dtype(TYPES[a["componentType"]]), WIDTHS[a["type"]]
        view = self.json["bufferViews"][a["bufferView"]]
        start = view.get("byteOffset", 0) + a.get("byteOffset", 0)
        stride = view.get("byteStride", kind.itemsize * width)
        rows = np.ndarray((a["count"], width), kind, self.blobs[view["buffer"]], start, (stride, kind.itemsize))
        rows = rows.astype(np.float64 if kind == np.float32 or a.get("normalized") else np.int64)
        if a.get("normalized"):
            rows /= np.iinfo(kind).max
        return rows

    def skinned(self):
        """(mesh, skin) of every mesh by the first node that shows it with a skin."""
        pairs = {}
        for node in self.json["nodes"]:
            if "skin" in node and "mesh" in node:
                pairs.setdefault(node["mesh"], node["skin"])
        return sorted(pairs.items())


def rotation(q):
    x, y, z, w = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def product(p, q):
    (a, b, c, w), (x, y, z, v) = p, q
    return np.array([w * x + a * v + b * z - c * y, w * y - a * z + b * v + c * x, w * z + a * y - b * x + c * v,
                     w * v - a * x - b * y - c * z])


def rest_pose(nodes):
    """Per node translation, rotation, scale; a matrix stays one."""
    pose = []
    for node in nodes:
        if "matrix" in node:
            m = np.array(node["matrix"], float).reshape(4, 4).T
            scale = np.linalg.norm(m[:3, :3], axis=0)
            r = m[:3, :3] / scale
            k = [np.sqrt(max(0, 1 + s[0] * r[0, 0] + s[1] * r[1, 1] + s[2] * r[2, 2])) / 2
                 for s in ((1, -1, -1), (-1, 1, -1), (-1, -1, 1), (1, 1, 1))]
            q = np.array([np.copysign(k[0], r[2, 1] - r[1, 2]), np.copysign(k[1], r[0, 2] - r[2, 0]),
                          np.copysign(k[2], r[1, 0] - r[0, 1]), k[3]])
            pose.append([m[:3, 3], q, scale])
        else:
            pose.append([np.array(node.get("translation", [0, 0, 0]), float), np.array(node.get("rotation", [0, 0, 0, 1]), float),
                         np.array(node.get("scale", [1, 1, 1]), float)])
    return pose


def world_matrices(nodes, pose):
    parent = {c: i for i, node in enumerate(nodes) for c in node.get("children", [])}
    world = {}

    def visit(i):
        if i not in world:
            local = np.eye(4)
            local[:3, :3] = rotation(pose[i][1]) * pose[i][2]
            local[:3, 3] = pose[i][0]
            world[i] = visit(parent[i]) @ local if i in parent else local
        return world[i]
    return [visit(i) for i in range(len(nodes))]


def sample(file, clip, time, pose):
    path = {"translation": 0, "rotation": 1, "scale": 2}
    for channel in clip["channels"]:
        target = channel["target"]
        if target.get("path") not in path or "node" not in target:
            continue
        sampler = clip["samplers"][channel["sampler"]]
        times, values = file.array(sampler["input"])[:, 0], file.array(sampler["output"])
        kind = sampler.get("interpolation", "LINEAR")
        i = int(np.clip(np.searchsorted(times, time, "right") - 1, 0, len(times) - 1))
        j = min(i + 1, len(times) - 1)
        t = 0 if j == i or time <= times[i] else (time - times[i]) / (times[j] - times[i])
        if kind == "CUBICSPLINE":
            d = times[j] - times[i]
            a, b, c, e = values[3 * i + 1], values[3 * i + 2], values[3 * j], values[3 * j + 1]
            value = ((2 * t**3 - 3 * t**2 + 1) * a + d * (t**3 - 2 * t**2 + t) * b + (3 * t**2 - 2 * t**3) * e + d * (t**3 - t**2) * c)
        elif kind == "STEP":
            value = values[i]
        elif target["path"] == "rotation":
            p, q = values[i], values[j]
            dot = p @ q
            q, dot = (-q, -dot) if dot < 0 else (q, dot)
            angle = np.arccos(min(1, dot))
            value = p + t * (q - p) if angle < 1e-4 else (np.sin((1 - t) * angle) * p + np.sin(t * angle) * q) / np.sin(angle)
        else:
            value = values[i] + t * (values[j] - values[i])
        pose[target["node"]][path[target["path"]]] = value
    return pose


class Part:
    """A mesh with its skin: rest positions, triangles, weights as sorted lists of (joint, weight)."""

    def __init__(self, file, mesh, skin):
        self.joints = file.json["skins"][skin]["joints"]
        binds = file.json["skins"][skin].get("inverseBindMatrices")
        self.binds = np.tile(np.eye(4), (len(self.joints), 1, 1)) if binds is None else \
            file.array(binds).reshape(-1, 4, 4).transpose(0, 2, 1)
        self.positions, self.triangles, rows, count = [], [], [], 0
        for p in file.json["meshes"][mesh]["primitives"]:
            a = p["attributes"]
            if "JOINTS_0" not in a or p.get("mode", 4) != 4:
                continue
            positions = file.array(a["POSITION"])
            index = file.array(p["indices"])[:, 0] if "indices" in p else np.arange(len(positions))
            self.positions.append(positions)
            self.triangles.append(index[:len(index) // 3 * 3].reshape(-1, 3) + count)
            matrix = np.zeros((len(positions), len(self.joints)))
            s = 0
            while f"JOINTS_{s}" in a:
                joints, weights = file.array(a[f"JOINTS_{s}"]), file.array(a[f"WEIGHTS_{s}"])
                for k in range(4):
                    np.add.at(matrix, (np.arange(len(positions)), joints[:, k]), weights[:, k])
                s += 1
            rows.append(matrix / np.maximum(matrix.sum(1, keepdims=True), 1e-30))
            count += len(positions)
        self.positions, self.triangles = np.concatenate(self.positions), np.concatenate(self.triangles)
        self.weights = np.concatenate(rows)

    def palette(self, world):
        return np.stack([world[j] @ b for j, b in zip(self.joints, self.binds)])[:, :3, :]


def largest(weights, count):
    """The largest of every row (ties: the lower joint), divided by their sum."""
    order = np.argsort(-weights, axis=1, kind="stable")[:, :count]
    kept = np.zeros_like(weights)
    np.put_along_axis(kept, order, np.take_along_axis(weights, order, 1), 1)
    return kept / kept.sum(1, keepdims=True)


def sparse(weights):
    """Columns of (joint, weight), the largest first, so that blending is a few gathers."""
    order = np.argsort(-weights, axis=1, kind="stable")
    n = max(1, int((weights > 0).sum(1).max()))
    return order[:, :n], np.take_along_axis(weights, order[:, :n], 1)


class Body:
    def __init__(self, parts):
        self.parts = parts
        positions = np.concatenate([p.positions for p in parts])
        starts = np.cumsum([0] + [len(p.positions) for p in parts])
        self.triangles = np.concatenate([p.triangles + s for p, s in zip(parts, starts)])
        _, self.weld = np.unique(positions, axis=0, return_inverse=True)
        self.weld = self.weld.reshape(-1)
        self.diagonal = np.linalg.norm(positions.max(0) - positions.min(0))

    def normals(self, x):
        t = self.triangles
        face = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])
        sums = np.zeros((self.weld.max() + 1, 3))
        for corner in range(3):
            w = self.weld[t[:, corner]]
            for axis in range(3):
                sums[:, axis] += np.bincount(w, face[:, axis], len(sums))
        length = np.linalg.norm(sums, axis=1, keepdims=True)
        return (sums / np.where(length > 0, length, 1))[self.weld]


def blend(lists, palettes, parts):
    out = []
    for (joints, weights), palette, part in zip(lists, palettes, parts):
        m = np.zeros((len(joints), 3, 4))
        for k in range(joints.shape[1]):
            m += weights[:, k, None, None] * palette[joints[:, k]]
        out.append(np.einsum("vij,vj->vi", m[:, :, :3], part.positions) + m[:, :, 3])
    return np.concatenate(out)


def judge(body, reduced, kept, worlds):
    """Ratios (normal, position) over poses, and the number of poses."""
    lists = [[sparse(w) for w in kind] for kind in ([p.weights for p in body.parts], reduced, kept)]
    sums, count = np.zeros((2, 2)), 0
    for world in worlds:
        palettes = [part.palette(world) for part in body.parts]
        x = [blend(kind, palettes, body.parts) for kind in lists]
        n = [body.normals(y) for y in x]
        for i in (0, 1):
            cross = np.linalg.norm(np.cross(n[0], n[i + 1]), axis=1)
            sums[i] += [(np.arctan2(cross, (n[0] * n[i + 1]).sum(1))**2).sum(), ((x[0] - x[i + 1])**2).sum()]
        count += 1
    root = np.sqrt(sums / max(1, count * len(body.weld)))
    return {"poses": count, "normal": ratio(root[0, 0], root[1, 0]), "position": ratio(root[0, 1], root[1, 1]),
            "radians": root[0, 0], "percent": 100 * root[0, 1] / body.diagonal}


def ratio(a, b):
    return 1.0 if a == b else a / b if b > 0 else float("inf")


def random_worlds(file, joints, seed, count, degrees):
    nodes, draw = file.json["nodes"], np.random.default_rng(seed)
    for _ in range(count):
        pose = rest_pose(nodes)
        for j in joints:
            axis = draw.normal(size=3)
            angle = np.radians(draw.uniform(-degrees, degrees)) / 2
            pose[j][1] = product(pose[j][1], np.append(np.sin(angle) * axis / np.linalg.norm(axis), np.cos(angle)))
        yield world_matrices(nodes, pose)


def clip_frames(file, which):
    short, frames = 0, []
    for clip in file.json.get("animations", []):
        end = max([file.array(s["input"]).max() for s in clip["samplers"]], default=0)
        count = int(np.floor(end * 30 + 1e-3)) + 1
        if which not in ("odd", "all") and clip.get("name") not in which.split(","):
            continue
        odd = short % 2 if count == 1 else None
        short += count == 1
        frames += [(clip, f / 30) for f in range(count) if which != "odd" or (f % 2 if odd is None else odd)]
    return frames


def clip_worlds(file, which):
    nodes = file.json["nodes"]
    for clip, time in clip_frames(file, which):
        yield world_matrices(nodes, sample(file, clip, time, rest_pose(nodes)))


def compare(original, reduced, count, random=96, seed=1000, clips=None, degrees=40):
    assert seed >= 1000, "seeds below 1000 are learned from"
    file, other = File(original), File(reduced)
    pairs = file.skinned()
    body = Body([Part(file, m, s) for m, s in pairs])
    after = [Part(other, m, s) for m, s in other.skinned()]
    for a, b in zip(body.parts, after):
        assert a.positions.shape == b.positions.shape and np.allclose(a.positions, b.positions, atol=1e-6 * body.diagonal)
        assert (b.weights > 0).sum(1).max() <= count, "more influences than asked for"
    new, kept = [p.weights for p in after], [largest(p.weights, count) for p in body.parts]
    joints = sorted({j for p in body.parts for j in p.joints})
    result = {}
    if random:
        result["random"] = judge(body, new, kept, random_worlds(file, joints, seed, random, degrees))
    if clips:
        result["clips"] = judge(body, new, kept, clip_worlds(file, clips))
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("original"), parser.add_argument("reduced"), parser.add_argument("count", type=int)
    parser.add_argument("--random", type=int, default=96), parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--clips"), parser.add_argument("--degrees", type=float, default=40)
    print(json.dumps(compare(**vars(parser.parse_args()))))
