#!/usr/bin/python3
"""Automatic weights of rigs, judged without any code of cutis: glTF is read and written here.
usage: handles_rigs.py worn CUTIS FOLDER       what people wear, put on the biped: what must be rigid is, what must bend does
       handles_rigs.py scans CUTIS FOLDER      bodies with noise and holes: weights on parts three or more joints away
       handles_rigs.py touching CUTIS FOLDER KIND,... SEED COUNT VERTICES [all]   the family's bodies, limbs turned until they touch
                                                       what is far along the joints or overlap it by up to 2 % of the longest side: the
                                                       same; all: overlap is measured at every vertex (slower; other poses)
       handles_rigs.py artists CUTIS FOLDER DATA   RMS to artists' weights over random poses, against limits
"""
import json
import os
import struct
import subprocess
import sys

import numpy as np

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


class Rig:
    """All meshes of skin 0, joined, in bind space: p, t, w (dense), binds, parents among joints, names."""

    def __init__(self, path):
        doc, blob = load(path)
        skin = doc["skins"][0]
        joints, count = skin["joints"], len(skin["joints"])
        self.names = [doc["nodes"][j].get("name", str(j)) for j in joints]
        self.binds = read(doc, blob, skin["inverseBindMatrices"]).reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
        self.origin = np.array([np.linalg.inv(b)[:3, 3] for b in self.binds])
        above = {c: i for i, n in enumerate(doc["nodes"]) for c in n.get("children", [])}
        of = {n: k for k, n in enumerate(joints)}
        self.up = np.full(count, -1)
        for k, n in enumerate(joints):
            a = above.get(n)
            while a is not None and a not in of:
                a = above.get(a)
            self.up[k] = of[a] if a is not None else -1
        p, t, w, at, done = [], [], [], 0, set()
        for node in doc["nodes"]:
            if node.get("skin") != 0 or node["mesh"] in done:
                continue
            done.add(node["mesh"])
            for primitive in doc["meshes"][node["mesh"]]["primitives"]:
                names = primitive["attributes"]
                p.append(read(doc, blob, names["POSITION"]).astype(float))
                dense, k = np.zeros((len(p[-1]), count)), 0
                while "JOINTS_%d" % k in names:
                    j, x = read(doc, blob, names["JOINTS_%d" % k]), read(doc, blob, names["WEIGHTS_%d" % k])
                    for c in range(4):
                        np.add.at(dense, (np.arange(len(dense)), j[:, c]), x[:, c])
                    k += 1
                w.append(dense / np.maximum(dense.sum(1, keepdims=True), 1e-30))
                corners = read(doc, blob, primitive["indices"]) if "indices" in primitive else np.arange(len(p[-1]))
                t.append(corners.reshape(-1, 3).astype(int) + at)
                at += len(p[-1])
        self.p, self.t, self.w = np.vstack(p), np.vstack(t), np.vstack(w)

    def steps(self):
        """Joints between each two."""
        chains = []
        for j in range(len(self.up)):
            chain = [j]
            while self.up[chain[-1]] >= 0:
                chain.append(self.up[chain[-1]])
            chains.append({x: i for i, x in enumerate(chain)})
        return np.array([[min([a[x] + b[x] for x in a if x in b], default=99) for b in chains] for a in chains])

    def save(self, path):
        order = np.argsort(-self.w, 1, kind="stable")[:, :4]
        arrays = [self.p.astype("<f4"), self.t.astype("<u4").ravel(), order.astype("<u2"),
                  np.take_along_axis(self.w, order, 1).astype("<f4"),
                  self.binds.transpose(0, 2, 1).astype("<f4").reshape(-1, 16)]
        arrays[3] /= arrays[3].sum(1, keepdims=True)
        blob, views, accessors = b"", [], []
        for a, kind, form in zip(arrays, (5126, 5125, 5123, 5126, 5126), ("VEC3", "SCALAR", "VEC4", "VEC4", "MAT4")):
            views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": a.nbytes})
            accessors.append({"bufferView": len(views) - 1, "componentType": kind, "count": len(a), "type": form})
            blob += a.tobytes() + b"\0" * (-a.nbytes % 4)
        accessors[0].update(min=arrays[0].min(0).tolist(), max=arrays[0].max(0).tolist())
        world, nodes, count = [np.linalg.inv(b) for b in self.binds], [], len(self.up)
        for j in range(count):
            m = world[j] if self.up[j] < 0 else self.binds[self.up[j]] @ world[j]
            m[3] = [0, 0, 0, 1]
            nodes.append({"name": self.names[j], "matrix": m.T.ravel().tolist()})
            below = [k for k in range(count) if self.up[k] == j]
            if below:
                nodes[-1]["children"] = below
        nodes.append({"mesh": 0, "skin": 0})
        doc = {"asset": {"version": "2.0"}, "scene": 0, "nodes": nodes, "bufferViews": views, "accessors": accessors,
               "scenes": [{"nodes": [j for j in range(count) if self.up[j] < 0] + [count]}], "buffers": [{"byteLength": len(blob)}],
               "skins": [{"joints": list(range(count)), "inverseBindMatrices": 4}],
               "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "JOINTS_0": 2, "WEIGHTS_0": 3}, "indices": 1}]}]}
        text = json.dumps(doc).encode()
        text += b" " * (-len(text) % 4)
        with open(path, "wb") as file:
            file.write(struct.pack("<4sII", b"glTF", 2, 28 + len(text) + len(blob)) + struct.pack("<I4s", len(text), b"JSON"))
            file.write(text + struct.pack("<I4s", len(blob), b"BIN\0") + blob)


def bind(cutis, path, folder):
    out = folder + "/bound.glb"
    subprocess.run([cutis, "handles", path, "--skeleton", "--largest", "--influences", "8", "-q", "-o", out], check=True)
    return Rig(out).w


def say(good, text):
    print(("ok " if good else "not ok ") + text)


# What people wear ------------------------------------------------------------------------------


def lathe(rings, around=24, part=1.0):
    """Rings (centre, radius) around y as a surface, open at both ends; part of a whole turn."""
    whole = part == 1
    columns = around if whole else around + 1
    angle = 2 * np.pi * part * np.arange(columns) / around - np.pi / 2 + (0 if whole else np.pi * (1 - part))
    p = np.vstack([np.column_stack([x + r * np.cos(angle), np.full(columns, y), z - r * np.sin(angle)]) for x, y, z, r in rings])
    t = []
    for i in range(len(rings) - 1):
        for k in range(around):
            a, b = i * columns + k, i * columns + (k + 1) % columns
            t += [[a, b, b + columns], [a, b + columns, a + columns]]
    return p, np.array(t)


def ball(x, y, z, r):
    turns = np.linspace(-np.pi / 2, np.pi / 2, 7)
    p, t = lathe([(x, y + r * np.sin(a), z, max(r * np.cos(a), 1e-4 * r)) for a in turns], 10)
    return p, t


def box(low, high):
    p = np.array([[(low, high)[i >> c & 1][c] for c in range(3)] for i in range(8)], float)
    t = [[0, 2, 1], [1, 2, 3], [4, 5, 6], [5, 7, 6], [0, 1, 4], [1, 5, 4], [2, 6, 3], [3, 6, 7], [0, 4, 2], [2, 4, 6], [1, 3, 5], [3, 7, 5]]
    return p, np.array(t)


def card(x, y, z):
    p = np.array([[x - .01, y, z], [x + .01, y, z], [x + .01, y - .06, z - .03], [x - .01, y - .06, z - .03]])
    return p, np.array([[0, 1, 2], [0, 2, 3]])


TRUNK, HEAD = ("hips", "spine", "chest"), ("head",)
RIGID = {  # name: shape, joints of which it may follow one
    "left eye": (ball(.03, 1.70, .085, .012), HEAD),
    "right eye": (ball(-.03, 1.70, .085, .012), HEAD),
    "teeth": (box((-.02, 1.63, .05), (.02, 1.64, .07)), HEAD),
    "button": (ball(0, 1.25, .1, .008), TRUNK),
    "hair card on the crown": (card(0, 1.812, .02), HEAD),
    "hair card behind": (card(.03, 1.80, -.06), HEAD),
    "staff in both hands": (box((-.64, 1.03, .02), (.64, 1.05, .04)), ("hand_l", "hand_r")),
}
BENDS = {  # name: shape, joints that each have weight somewhere
    "skirt": (lathe([(0, 1.0 - .05 * i, 0, .17 + .012 * i) for i in range(12)]), ("hips", "thigh_l", "thigh_r")),
    "shirt": (lathe([(0, .95 + .05 * i, -.005, .19) for i in range(10)]), TRUNK),
    "coat, open in front": (lathe([(0, 1.45 - .06 * i, 0, .21) for i in range(15)], 24, .85), ("chest", "hips", "thigh_l", "thigh_r")),
}


def worn(cutis, folder):
    subprocess.run([cutis, "synth", "biped", "--vertices", "6000", "-q", "-o", folder + "/biped.glb"], check=True)
    body = Rig(folder + "/biped.glb")
    count, alone = len(body.p), bind(cutis, folder + "/biped.glb", folder)
    for name, (shape, joints) in {**RIGID, **BENDS}.items():
        dressed = Rig(folder + "/biped.glb")
        p, t = shape
        dressed.p, dressed.t = np.vstack([body.p, p]), np.vstack([body.t, t + count])
        dressed.w = np.vstack([body.w, np.tile(body.w[:1], (len(p), 1))])
        dressed.save(folder + "/worn.glb")
        w = bind(cutis, folder + "/worn.glb", folder)
        mine, among = w[count:], [body.names.index(j) for j in joints]
        same = np.abs(w[:count] - alone).sum(1).mean()
        if name in RIGID:
            one = np.unique(mine.argmax(1))
            say(mine.max(1).min() > .9999 and len(one) == 1, "%s is rigid: %s" % (name, ", ".join(body.names[j] for j in one)))
            say(one[0] in among, "%s follows %s" % (name, " or ".join(joints)))
            say(same < .02, "%s leaves the body's weights: mean difference %.4f" % (name, same))
        else:
            say((mine[:, among].max(0) > .2).all(), "%s bends with %s: at most %s" % (name, ", ".join(joints), np.round(mine[:, among].max(0), 2)))


# Scans -----------------------------------------------------------------------------------------


def scans(cutis, folder):
    for kind, seed in (("human", 2), ("quadruped", 2), ("octopus", 3), ("hand", 3)):
        path = folder + "/scan.glb"
        subprocess.run([cutis, "synth", "family", "--kind", kind, "--seed", str(seed), "--scan", "on", "-q", "-o", path], check=True)
        rig = Rig(path)
        edges = np.sort(np.vstack([rig.t[:, [0, 1]], rig.t[:, [1, 2]], rig.t[:, [2, 0]]]), 1)
        holes = (np.unique(edges, axis=0, return_counts=True)[1] == 1).sum()
        given = bind(cutis, path, folder)
        far = ((given > .05) & (rig.steps()[rig.w.argmax(1)] >= 3)).any(1).mean()
        say(holes > 0 and far <= .01, "a scanned %s with %d open edges: %.2f %% of vertices have weight three joints away" % (kind, holes, 100 * far))


# Limbs that touch --------------------------------------------------------------------------------

OVERLAP = .02  # of the longest side
MOST = 100  # vertices of a limb that overlap is measured at; ten times as many of what is far from it


def turn_to(rig, rotations):
    """World movement of every joint from the rest pose; rotations: per joint, about its origin."""
    moved = np.tile(np.eye(4), (len(rig.up), 1, 1))
    for j in sorted(range(len(rig.up)), key=lambda j: len(rig.chains[j])):
        if rig.up[j] >= 0:
            moved[j] = moved[rig.up[j]]
        if j in rotations and np.linalg.norm(rotations[j]) > 0:
            m = np.eye(4)
            m[:3, :3] = spin(rotations[j])
            m[:3, 3] = rig.origin[j] - m[:3, :3] @ rig.origin[j]
            moved[j] = moved[j] @ m
    return moved


def blend(rig, moved):
    return np.einsum("vj,jab,vb->va", rig.w, moved[:, :3], np.c_[rig.p, np.ones(len(rig.p))])


def depth(rig, p, limb, other):
    """How far vertices of a limb are inside of what is far from it (below 0: apart), by the nearest vertex there and its normal."""
    face = np.cross(p[rig.t[:, 1]] - p[rig.t[:, 0]], p[rig.t[:, 2]] - p[rig.t[:, 0]])
    normal = np.zeros_like(p)
    for c in range(3):
        np.add.at(normal, rig.t[:, c], face)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-30)
    limb, other, worst = limb[::len(limb) // MOST + 1], other[::len(other) // (10 * MOST) + 1], -np.inf
    for v in np.array_split(limb, len(limb) // 64 + 1):
        near = other[((p[v, None] - p[other]) ** 2).sum(2).argmin(1)]
        worst = max(worst, ((p[near] - p[v]) * normal[near]).sum(1).max())
    return worst


def reach(rig, rng, size):
    """Rotations that bring the end of a limb onto something three or more joints away, or None."""
    steps, main = rig.steps(), rig.w.argmax(1)
    ends = [j for j in range(len(rig.up)) if j not in rig.up and len(rig.chains[j]) > 3 and (main == j).any()]
    end = ends[rng.integers(len(ends))]
    chain = rig.chains[end][:4]
    limb = np.where(np.isin(main, [j for j in range(len(rig.up)) if chain[-2] in rig.chains[j]]))[0]
    other = np.where((steps[main][:, main[limb]] >= 3).all(1))[0]
    if len(other) < 20 or len(limb) < 20:
        return None
    target, at = rig.p[other[rng.integers(len(other))]], rig.p[main == end].mean(0)
    turned = {j: np.zeros(3) for j in chain[1:]}
    for _ in range(6):
        for j in chain[1:]:
            moved = turn_to(rig, turned)
            here = moved[rig.up[j]] if rig.up[j] >= 0 else np.eye(4)
            inward = lambda x: np.linalg.inv(here) @ np.r_[x, 1]
            a = inward((moved[end] @ np.r_[at, 1])[:3])[:3] - rig.origin[j]
            b = inward(target)[:3] - rig.origin[j]
            axis = np.cross(a, b)
            angle = np.arctan2(np.linalg.norm(axis), a @ b) * .4
            if np.linalg.norm(axis) > 1e-12 and np.linalg.norm(turned[j]) < 1.2:
                turned[j] = turned[j] + axis / np.linalg.norm(axis) * angle
    wanted, base = rng.uniform(0, OVERLAP) * size, depth(rig, rig.p, limb, other)
    if base > 0:
        return None
    for share in np.arange(.1, 1.3, .04):
        now = {j: share * r for j, r in turned.items()}
        inside = depth(rig, blend(rig, turn_to(rig, now)), limb, other)
        if inside > OVERLAP * size:
            return None
        if inside > wanted:
            return now, inside
    return None


def touching(cutis, folder, kinds, seed, count, vertices, at=""):
    global MOST
    MOST, shares = 1 << 30 if at == "all" else MOST, []
    for number in range(int(seed), int(seed) + int(count)):
        kind = kinds.split(",")[number % len(kinds.split(","))]
        path, rng = folder + "/touching.glb", np.random.default_rng(number)
        subprocess.run([cutis, "synth", "family", "--kind", kind, "--seed", str(number), "--vertices", vertices, "-q", "-o", path], check=True)
        rig = Rig(path)
        rig.chains = ancestors(rig)
        size, rotations, inside = np.ptp(rig.p, axis=0).max(), {}, []
        before = bind(cutis, path, folder)
        for _ in range(40):
            found = reach(rig, rng, size)
            if found and not set(found[0]) & set(rotations) and len(inside) < 2:
                rotations.update(found[0])
                inside.append(found[1])
        if not inside:
            print("# %s %d: no limb reaches anything" % (kind, number))
            continue
        far = rig.steps()[rig.w.argmax(1)] >= 3
        moved = turn_to(rig, rotations)
        rig.p, rig.binds = blend(rig, moved), rig.binds @ np.linalg.inv(moved)
        rig.save(path)
        given = bind(cutis, path, folder)
        share = ((given > .05) & far).any(1).mean()
        shares.append(share)
        say(share <= .01, "%s %d: %.2f %% of vertices have weight three joints away (unposed %.2f %%), %s %% of the longest side inside" %
            (kind, number, 100 * share, 100 * ((before > .05) & far).any(1).mean(), ", ".join("%.2f" % (100 * i / size) for i in inside)))
    print("# %d bodies, %d over 1 %%" % (len(shares), sum(s > .01 for s in shares)))


# Artists ---------------------------------------------------------------------------------------

LIMITS = {  # % of the diagonal, a tenth above what was measured
    "gltf-sample-assets/CesiumMan/glTF-Binary/CesiumMan.glb": .25, "gltf-sample-assets/Fox/glTF-Binary/Fox.glb": .81,
    "gltf-sample-assets/RiggedFigure/glTF-Binary/RiggedFigure.glb": .67, "gltf-sample-assets/RiggedSimple/glTF-Binary/RiggedSimple.glb": .26,
    "kaykit/Barbarian.glb": .80, "raylib/examples/models/resources/models/gltf/greenman.glb": 4.6,
    "raylib/examples/models/resources/models/gltf/robot.glb": 1.83, "cal3d:cally": .72, "cal3d:paladin": 1.18, "cal3d:skeleton": .42,
}


def spin(v):
    angle = np.linalg.norm(v)
    x, y, z = v / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def distance(rig, given, count=24):
    """RMS over poses whose joints turn by up to 40 degrees about random axes, in % of the diagonal."""
    rng, total, joints = np.random.default_rng(5), 0, len(rig.up)
    order = sorted(range(joints), key=lambda j: rig.steps_up[j])
    difference = given - rig.w
    for _ in range(count):
        moved = np.tile(np.eye(4), (joints, 1, 1))
        for j in order:
            axis = rng.normal(size=3)
            turn = axis / np.linalg.norm(axis) * rng.uniform(-40, 40) * np.pi / 180
            if rig.up[j] < 0:
                continue
            m = np.eye(4)
            m[:3, :3] = spin(turn)
            m[:3, 3] = rig.origin[j] - m[:3, :3] @ rig.origin[j]
            moved[j] = moved[rig.up[j]] @ m
        off = sum(difference[:, j, None] * (rig.p @ moved[j, :3, :3].T + moved[j, :3, 3]) for j in range(joints))
        total += (off ** 2).sum(1).mean()
    return 100 * np.sqrt(total / count) / np.linalg.norm(np.ptp(rig.p, axis=0))


def artists(cutis, folder, data):
    for name, limit in LIMITS.items():
        path = data + "/" + name
        if name.startswith("cal3d:"):
            found = [d + "/" + name[6:] + ".cfg" for d, _, files in os.walk(data + "/cal3d") if name[6:] + ".cfg" in files]
            path = folder + "/" + name[6:] + ".glb"
            if found:
                subprocess.run([cutis, "convert", found[0], "-q", "-o", path], check=True)
        if not os.path.exists(path):
            print("skip %s: shared data: it is not there" % name)
            continue
        rig = Rig(path)
        rig.steps_up = [len(chain) for chain in ancestors(rig)]
        off = distance(rig, bind(cutis, path, folder))
        say(off <= limit, "%s: %.3f %% from the artist's over random poses (at most %.2f)" % (os.path.basename(name), off, limit))


def ancestors(rig):
    out = []
    for j in range(len(rig.up)):
        chain = [j]
        while rig.up[chain[-1]] >= 0:
            chain.append(rig.up[chain[-1]])
        out.append(chain)
    return out


{"worn": worn, "scans": scans, "touching": touching, "artists": artists}[sys.argv[1]](*sys.argv[2:])
