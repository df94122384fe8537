"""Independent judge of `cutis fit`, in float64 from the definitions of docs/spec/pose-space.md; shares no code with Cutis. It reads the
fitted glTF itself, poses the skeleton, and plays linear blending, PSD and WPSD (exponential kernel, geodesic distances) in poses that
were left out. A sequence is a rig (a glTF file), poses (per frame and node: translation, rotation xyzw, scale) and shapes in world
space. `fit` hands some of its frames to the command as the clip "examples" and gives back what the command said and the weights.
"""
import copy
import json
import os
import struct
import subprocess

import numpy as np

from judge_unseen import File, Part, rest_pose, sample, world_matrices


class Sequence:
    def __init__(self, name, rig, poses, shapes, clip=None):
        self.name, self.rig, self.poses, self.shapes = name, rig, poses, np.asarray(shapes, np.float32)
        self.clip = np.zeros(len(poses), int) if clip is None else np.asarray(clip)  # which clip a frame is of
        self.file = File(rig)
        self.parts = [Part(self.file, m, s) for m, s in self.file.skinned()]
        assert len(self.parts) == 1, "one skinned mesh"
        self.nodes = self.file.json["nodes"]
        self.palettes = np.stack([self.parts[0].palette(world_matrices(self.nodes, pose)) for pose in poses])
        self.rest = self.parts[0].positions
        self.diagonal = np.linalg.norm(self.rest.max(0) - self.rest.min(0))

    def some(self, vertices):
        """The same of some vertices alone."""
        other = copy.copy(self)
        other.rest, other.shapes = self.rest[vertices], self.shapes[:, vertices]
        return other


def clip_poses(file, name, count, span=None):
    """`count` poses evenly over a clip's time: (poses, times)."""
    clip = next(c for c in file.json["animations"] if c.get("name") == name)
    end = max(file.array(s["input"]).max() for s in clip["samplers"]) if span is None else span
    times = np.arange(count) * end / max(1, count - 1)
    return [sample(file, clip, t, rest_pose(file.json["nodes"])) for t in times], times


def write_examples(rig, poses, out):
    """A copy of a binary glTF with the poses as the keys of one clip, "examples" (all nodes; other clips are dropped)."""
    raw = open(rig, "rb").read()
    length = struct.unpack_from("<I", raw, 12)[0]
    doc, blob = json.loads(raw[20:20 + length]), bytearray(raw[28 + length:])
    while len(blob) % 4:
        blob.append(0)

    def accessor(array, kind):
        array = np.ascontiguousarray(array, np.float32)
        doc["bufferViews"].append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
        entry = {"bufferView": len(doc["bufferViews"]) - 1, "componentType": 5126, "count": len(array), "type": kind}
        if kind == "SCALAR":
            entry.update(min=[float(array.min())], max=[float(array.max())])
        blob.extend(array.tobytes())
        doc["accessors"].append(entry)
        return len(doc["accessors"]) - 1
    time = accessor(np.arange(len(poses), dtype=np.float32).reshape(-1, 1), "SCALAR")
    channels, samplers = [], []
    rest = rest_pose(doc["nodes"])
    for n in range(len(doc["nodes"])):
        for k, path in enumerate(("translation", "rotation", "scale")):
            values = np.array([pose[n][k] for pose in poses], float)
            if k == 1:
                values /= np.linalg.norm(values, axis=1, keepdims=True)
            if "mesh" in doc["nodes"][n] or np.abs(values - rest[n][k]).max() < 1e-9:
                continue
            samplers.append({"input": time, "output": accessor(values, "VEC4" if k == 1 else "VEC3")})
            channels.append({"sampler": len(samplers) - 1, "target": {"node": n, "path": path}})
    doc["animations"] = [{"name": "examples", "channels": channels, "samplers": samplers}]
    doc["buffers"][0]["byteLength"] = len(blob)
    text = json.dumps(doc).encode()
    text += b" " * (-len(text) % 4)
    with open(out, "wb") as file:
        file.write(struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(blob)))
        file.write(struct.pack("<II", len(text), 0x4E4F534A) + text)
        file.write(struct.pack("<II", len(blob), 0x004E4942) + blob)


def fit(cutis, folder, sequence, frames, *options):
    """Run the command on some frames: (its JSON report, the weights of the result, vertex by joint)."""
    rig, shapes, out = (os.path.join(folder, n) for n in ("fit_rig.glb", "fit_shapes.npy", "fit_out.glb"))
    write_examples(sequence.rig, [sequence.poses[f] for f in frames], rig)
    np.save(shapes, sequence.shapes[frames])
    result = subprocess.run([cutis, "fit", rig, "--poses", "examples", "--shapes", shapes, "--json", "-o", out, *options],
                            capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(result.stderr)
    file = File(out)
    return json.loads(result.stdout), Part(file, *file.skinned()[0]).weights


def blends(sequence, weights, frame):
    return np.einsum("vj,jrc->vrc", weights, sequence.palettes[frame])


def off(places, shapes):
    """Sum of squares of distances."""
    return ((places - shapes)**2).sum()


def lbs(sequence, weights, frame):
    m = blends(sequence, weights, frame)
    return np.einsum("vij,vj->vi", m[:, :, :3], sequence.rest) + m[:, :, 3]


# Pose space, docs/spec/pose-space.md 3 to 5.

def joint_squares(sequence, poses_a, poses_b):
    """Squared distances per joint of the skin: (a, b, joint)."""
    joints = sequence.parts[0].joints
    parent = {c: i for i, node in enumerate(sequence.nodes) for c in node.get("children", [])}

    def carried(j):
        while j in parent:
            j = parent[j]
            if j in joints:
                return True
        return False
    below = np.array([carried(j) for j in joints])
    rest = rest_pose(sequence.nodes)
    length = np.mean([np.linalg.norm(rest[j][0]) for j, b in zip(joints, below) if b]) if below.any() else 0

    def unit(poses):
        q = np.array([[pose[j][1] for j in joints] for pose in poses], float)
        return q / np.linalg.norm(q, axis=2, keepdims=True)
    a, b = unit(poses_a), unit(poses_b)
    # |sin| of half the angle is the length of p*q's vector part; by differences it keeps its digits for small angles
    near = np.minimum(np.linalg.norm(a[:, None] - b[None], axis=3), np.linalg.norm(a[:, None] + b[None], axis=3))
    square = (4 * np.arcsin(np.minimum(1, near / 2)))**2
    square[:, :, ~below] = 0  # the root's rotation does not count
    ta, tb = (np.array([[p[j][0] for j in joints] for p in poses], float) for poses in (poses_a, poses_b))
    slide = (((ta[:, None] - tb[None]) / length)**2).sum(3) if length > 0 else np.zeros_like(square)
    slide[:, :, ~below] = 0
    return square + np.where(slide > 1e-12, slide, 0)


def radial(g, queries, least):
    """Weights of the poses at queries: g (n, n) distances among them, queries (m, n). Those nearer than `least` share."""
    n = len(g)
    cluster = np.arange(n)
    for k, l in np.argwhere(np.tril(g < least, -1)):
        low, high = sorted((cluster[k], cluster[l]))
        cluster[cluster == high] = low
    heads = np.unique(cluster)
    if len(heads) == 1:
        return np.full((len(queries), n), 1 / n), cluster
    sub, query = g[np.ix_(heads, heads)], queries[:, heads]
    sigma = sub.max()
    f = np.linalg.solve(np.exp(-sub / sigma), np.exp(-(query - query.min(1, keepdims=True)) / sigma).T).T
    f /= f.sum(1, keepdims=True)
    size = np.bincount(cluster, minlength=n)
    return f[:, np.searchsorted(heads, cluster)] / size[cluster], cluster


class PoseSpace:
    """Displacements of some frames with given weights, to be played in others."""

    def __init__(self, sequence, weights, frames):
        self.sequence, self.weights = sequence, weights
        rest = [rest_pose(sequence.nodes)]
        self.poses = rest + [sequence.poses[f] for f in frames]
        table = joint_squares(sequence, self.poses, self.poses)
        # equal poses are one, with the mean displacement; those equal to rest are dropped
        total, keep, members = table.sum(2), [0], {0: []}
        for k in range(1, len(self.poses)):
            same = [h for h in keep if (table[k, h] < 1e-12).all()]
            if same:
                members[same[0]].append(frames[k - 1])
            else:
                keep.append(k)
                members[k] = [frames[k - 1]]
        self.table = table[np.ix_(keep, keep)]
        self.total = np.sqrt(total[np.ix_(keep, keep)])
        self.poses = [self.poses[k] for k in keep]
        self.d = np.zeros((len(keep), len(sequence.rest), 3))
        for i, k in enumerate(keep[1:], 1):
            self.d[i] = np.mean([self.pull(f) for f in members[k]], axis=0)

    def pull(self, frame):
        m = blends(self.sequence, self.weights, frame)
        image = np.einsum("vij,vj->vi", m[:, :, :3], self.sequence.rest) + m[:, :, 3]
        u, s, v = np.linalg.svd(m[:, :, :3])
        inverse = np.where(s < 0.05, s / (s * s + 0.0025), 1 / np.maximum(s, 1e-30))
        return np.einsum("vji,vj,vkj,vk->vi", v, inverse, u, self.sequence.shapes[frame] - image)

    def place(self, frame, d):
        m = blends(self.sequence, self.weights, frame)
        return np.einsum("vij,vj->vi", m[:, :, :3], self.sequence.rest + d) + m[:, :, 3]

    def psd(self, frame):
        query = np.sqrt(joint_squares(self.sequence, [self.sequence.poses[frame]], self.poses)[0].sum(1))
        r, _ = radial(self.total, query[None], 1e-5)
        return self.place(frame, np.einsum("k,kvc->vc", r[0], self.d))

    def fields(self):
        """Of every vertex, for WPSD: distances among the poses, their largest, the inverse of the kernel matrix; and the vertices whose
        weights hide a joint that tells poses apart. Those are taken one by one."""
        if not hasattr(self, "own"):
            g = np.sqrt(np.einsum("klj,vj->vkl", self.table, self.weights))
            n = g.shape[1]
            hidden = ((g < 1e-3) & ~np.eye(n, dtype=bool)).any((1, 2))
            sigma = np.where(hidden, 1, g.max((1, 2)))
            kernel = np.exp(-g / sigma[:, None, None])
            kernel[hidden] = np.eye(n)
            self.own = g, sigma, np.linalg.inv(kernel), np.where(hidden)[0]
        return self.own

    def wpsd(self, frame):
        g, sigma, inverse, hidden = self.fields()
        square = joint_squares(self.sequence, [self.sequence.poses[frame]], self.poses)[0]
        query = np.sqrt(self.weights @ square.T)
        f = np.einsum("vkl,vl->vk", inverse, np.exp(-(query - query.min(1, keepdims=True)) / sigma[:, None]))
        f /= f.sum(1, keepdims=True)
        r = radial(self.total, np.sqrt(square.sum(1))[None], 1e-5)[0][0]
        for v in hidden:  # what its own fields miss in the very poses is played by PSD's weights
            own, _ = radial(g[v], query[v][None], 1e-3)
            f[v] = own[0] + r @ (np.eye(len(r)) - radial(g[v], g[v], 1e-3)[0])
        return self.place(frame, np.einsum("vk,kvc->vc", f, self.d))
