"""The kinds of sequence that can be made here: rig, poses and shapes, as judge_fit.Sequence. Real data stay where they are."""
import json
import os
import runpy
import struct
import subprocess
import sys

import numpy as np

import dem_joints
from judge_fit import Sequence, clip_poses
from judge_unseen import File, Part, rest_pose, world_matrices


def command(*words):
    subprocess.run(words, check=True, capture_output=True)


def arm(cutis, folder):
    """Eight sculpts, one joint each (tests of other poses need more: bent)."""
    rig = os.path.join(folder, "arm.glb")
    command(cutis, "synth", "arm", "--examples", os.path.join(folder, "ex"), "-q", "-o", rig)
    poses, _ = clip_poses(File(rig), "examples", 8)
    return Sequence("arm examples", rig, poses, np.load(os.path.join(folder, "ex/examples.npy")))


def biped(cutis, folder, vertices=3000, body="biped"):
    rig = os.path.join(folder, "%s%d.glb" % (body, vertices))
    if not os.path.exists(rig):
        command(cutis, "synth", body, "--vertices", str(vertices), "-q", "-o", rig)
    return rig


def moved(cutis, folder, method, clips, count=17, vertices=3000, body="biped"):
    """A biped (or another body of synth) as a method of Cutis moves it."""
    rig, poses, shapes, clip = biped(cutis, folder, vertices, body), [], [], []
    file, out = File(rig), os.path.join(folder, "moved.npy")
    for c, name in enumerate(clips):
        some, times = clip_poses(file, name, count)
        fps = 1 / (times[1] - times[0])
        command(cutis, "deform", rig, "--clip", name, "--fps", repr(fps), "--frames", "0:%d" % count, "--method", method,
                *(["--fixed"] if method == "patches" else []), "-q", "-o", out)
        poses += some
        shapes.append(np.load(out))
        clip += [c] * count
    return Sequence(f"{body}, {method}, {' '.join(clips)}", rig, poses, np.concatenate(shapes), clip)


def mean_value(points, cage, triangles):
    """Mean value coordinates of points in a closed mesh (Ju, Schaefer, Warren 2005)."""
    out = np.zeros((len(points), len(cage)))
    for first in range(0, len(points), 64):
        d = cage[None] - points[first:first + 64, None]
        r = np.linalg.norm(d, axis=2)
        u = d / r[:, :, None]
        t = [u[:, triangles[:, k]] for k in range(3)]
        length = [np.linalg.norm(t[(k + 1) % 3] - t[(k + 2) % 3], axis=2) for k in range(3)]
        theta = [2 * np.arcsin(np.minimum(1, l / 2)) for l in length]
        h = sum(theta) / 2
        sign = np.sign(np.einsum("ptc,ptc->pt", t[0], np.cross(t[1], t[2])))
        c = [np.clip(2 * np.sin(h) * np.sin(h - theta[k]) / (np.sin(theta[(k + 1) % 3]) * np.sin(theta[(k + 2) % 3])) - 1, -1, 1)
             for k in range(3)]
        s = [sign * np.sqrt(1 - x * x) for x in c]
        flat = np.minimum.reduce([np.abs(x) for x in s]) < 1e-9
        for k in range(3):
            a, b = (k + 1) % 3, (k + 2) % 3
            with np.errstate(divide="ignore", invalid="ignore"):
                w = (theta[k] - c[a] * theta[b] - c[b] * theta[a]) / (r[:, triangles[:, k]] * np.sin(theta[a]) * s[b])
            w[flat] = 0
            for p in range(len(w)):
                out[first + p] += np.bincount(triangles[:, k], w[p], len(cage))
    return out / out.sum(1, keepdims=True)


def caged(cutis, folder, clips, count=17, vertices=3000):
    """A biped in a cage, a coarser and thicker biped, that its joints move."""
    rig = biped(cutis, folder, vertices)
    file = File(rig)
    poses, clip = [], []
    for c, name in enumerate(clips):
        some, _ = clip_poses(file, name, count)
        poses += some
        clip += [c] * count
    body = cage = Part(file, *file.skinned()[0])
    x, t = cage.positions, cage.triangles
    face = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])
    _, weld = np.unique(x, axis=0, return_inverse=True)
    weld = weld.reshape(-1)
    normal = np.zeros((weld.max() + 1, 3))
    for k in range(3):
        np.add.at(normal, weld[t[:, k]], face)
    normal = (normal / np.linalg.norm(normal, axis=1, keepdims=True))[weld]
    thick = x + 0.05 * normal
    # A coarse one: vertices of a cell of 9 cm are one. What was closed stays closed.
    _, cell = np.unique(np.floor(thick / 0.09).astype(int), axis=0, return_inverse=True)
    cell = cell.reshape(-1)
    size = np.bincount(cell)
    thick = np.stack([np.bincount(cell, thick[:, c]) / size for c in range(3)], 1)
    weights = np.stack([np.bincount(cell, cage.weights[:, j]) / size for j in range(cage.weights.shape[1])], 1)
    t = cell[t]
    t = t[(t[:, 0] != t[:, 1]) & (t[:, 1] != t[:, 2]) & (t[:, 2] != t[:, 0])]
    coordinates = mean_value(body.positions, thick, t)
    assert np.abs(coordinates @ thick - body.positions).max() < 1e-6
    shapes, nodes = [], file.json["nodes"]
    for pose in poses:
        m = np.einsum("vj,jrc->vrc", weights, cage.palette(world_matrices(nodes, pose)))
        moved_cage = np.einsum("vij,vj->vi", m[:, :, :3], thick) + m[:, :, 3]
        shapes.append(body.positions + coordinates @ (moved_cage - thick))
    return Sequence("biped, cage, " + " ".join(clips), rig, poses, shapes, clip)


def matrix_pose(m):
    """Translation, rotation xyzw and scale of a 3x4 matrix."""
    scale = np.linalg.norm(m[:3, :3], axis=0)
    return rest_pose([{"matrix": np.vstack([np.hstack([m[:3, :3] / scale, m[:3, 3:]]), [0, 0, 0, 1]]).T.reshape(-1).tolist()}])[0]


def dem_bones(cutis, folder, data, rig_name="Bone_All", every=10):
    """Forty of the 400 frames of dem-bones' Bone, its joints as one of its rigs has them; or all of them, from Bone_All's FBX."""
    home = os.path.join(data, "dem-bones/converted")
    rig = json.load(open(os.path.join(home, rig_name + ".rig.json")))
    frames = np.fromfile(os.path.join(home, "bone_positions_400frames_754verts_f32le.bin"), "<f4").reshape(-1, 754, 3)
    to_world = np.array(rig["mesh_to_world"])[:3]
    shapes = (frames[:400:every] @ to_world[:, :3].T + to_world[:, 3]).astype(np.float32)
    names = [j["name"] for j in rig["joints"]]
    worlds = np.array(rig["joint_world_rows"])
    if every != 10:
        found = dem_joints.worlds(os.path.join(data, "dem-bones/data", rig_name + ".fbx"))
        found = np.stack([found[n][:, :3] for n in names], axis=1)
        assert np.abs(found[::10] - worlds).max() < 1e-9, "the FBX is another than the JSON"
        worlds = found[::every]
    binds = np.array([j["bind_world"] for j in rig["joints"]])
    full = lambda m: np.vstack([m[:3], [0, 0, 0, 1]])
    above = [names.index(j["parent"]) if j.get("parent") in names else -1 for j in rig["joints"]]

    def local(rows):
        return [matrix_pose(full(m) if a < 0 else np.linalg.inv(full(rows[a])) @ full(m)) for m, a in zip(rows, above)]
    nodes = []
    for j, (t, q, s) in enumerate(local(binds)):
        nodes.append({"name": names[j], "translation": list(t), "rotation": list(q / np.linalg.norm(q))})
        children = [k for k, a in enumerate(above) if a == j]
        if children:
            nodes[j]["children"] = children
    faces = []
    for line in open(os.path.join(home, "bone_000.obj")):
        if line.startswith("f "):
            f = [int(x.split("/")[0]) - 1 for x in line.split()[1:]]
            faces += [[f[0], f[i], f[i + 1]] for i in range(1, len(f) - 1)]
    weights = np.zeros((754, len(names)))
    for v, pairs in enumerate(rig["weights"]):
        for j, w in pairs:
            weights[v, j] = w
    path = os.path.join(folder, rig_name + ".glb")
    write_rig(path, nodes, [j for j, a in enumerate(above) if a < 0], shapes[0], weights,
              np.array([np.linalg.inv(full(b)) for b in binds]), np.array(faces))
    poses = [local(rows) + [[np.zeros(3), np.array([0, 0, 0, 1.0]), np.ones(3)]] for rows in worlds]
    return Sequence("dem-bones " + rig_name, path, poses, shapes)


def write_rig(path, nodes, roots, positions, weights, binds, triangles=None):
    """A binary glTF of one skinned mesh, all of its weights."""
    blob, views, accessors = bytearray(), [], []

    def accessor(array, kind, component, bounds=False):
        array = np.ascontiguousarray(array)
        while len(blob) % 4:
            blob.append(0)
        views.append({"buffer": 0, "byteOffset": len(blob), "byteLength": array.nbytes})
        entry = {"bufferView": len(views) - 1, "componentType": component, "count": len(array), "type": kind}
        if bounds:
            entry.update(min=array.min(0).tolist(), max=array.max(0).tolist())
        blob.extend(array.tobytes())
        accessors.append(entry)
        return len(accessors) - 1
    attributes = {"POSITION": accessor(positions.astype("<f4"), "VEC3", 5126, True)}
    weights = np.pad(weights, ((0, 0), (0, -weights.shape[1] % 4)))  # sets of four
    order = np.argsort(-weights, axis=1, kind="stable")
    for s in range((int((weights > 0).sum(1).max()) + 3) // 4):
        some = order[:, 4 * s:4 * s + 4]
        values = np.take_along_axis(weights, some, 1)
        attributes[f"JOINTS_{s}"] = accessor(np.where(values > 0, some, 0).astype("<u2"), "VEC4", 5123)
        attributes[f"WEIGHTS_{s}"] = accessor(values.astype("<f4"), "VEC4", 5126)
    primitive = {"attributes": attributes, "mode": 0}
    if triangles is not None:
        primitive.update(mode=4, indices=accessor(triangles.astype("<u4").reshape(-1, 1), "SCALAR", 5125))
    inverse = accessor(binds.transpose(0, 2, 1).astype("<f4").reshape(-1, 16), "MAT4", 5126)
    doc = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": roots + [len(nodes)]}],
           "nodes": nodes + [{"name": "body", "mesh": 0, "skin": 0}], "meshes": [{"primitives": [primitive]}],
           "skins": [{"joints": list(range(len(nodes))), "inverseBindMatrices": inverse}],
           "bufferViews": views, "accessors": accessors, "buffers": [{"byteLength": 0}]}
    while len(blob) % 4:
        blob.append(0)
    doc["buffers"][0]["byteLength"] = len(blob)
    text = json.dumps(doc).encode()
    text += b" " * (-len(text) % 4)
    with open(path, "wb") as file:
        file.write(struct.pack("<III", 0x46546C67, 2, 28 + len(text) + len(blob)))
        file.write(struct.pack("<II", len(text), 0x4E4F534A) + text)
        file.write(struct.pack("<II", len(blob), 0x004E4942) + bytes(blob))


FACE = {"LeftBrowDown": "eyebrows-left-down", "RightBrowDown": "eyebrows-right-down", "LeftOuterBrowUp": "eyebrows-left-extern-up",
        "RightOuterBrowUp": "eyebrows-right-extern-up", "LeftInnerBrowUp": "eyebrows-left-inner-up",
        "RightInnerBrowUp": "eyebrows-right-inner-up", "LeftUpperLidOpen": "eye-left-opened-up",
        "RightUpperLidOpen": "eye-right-opened-up", "LeftUpperLidClosed": "eye-left-closure",
        "RightUpperLidClosed": "eye-right-closure", "JawDrop": "mouth-open", "LipsKiss": "mouth-pursing",
        "lowerLipDown": "mouth-depression", "UpperLipUp": "mouth-elevation"}


def makehuman(cutis, folder, data):
    """MakeHuman's face: bones posed by its pose units, half and whole, shapes by the morph targets of the same expression."""
    here, words = os.path.dirname(os.path.abspath(__file__)), sys.argv
    path = os.path.join(folder, "makehuman.glb")
    sys.argv = ["makehuman.py", data, path]
    quiet, sys.stdout = sys.stdout, open(os.devnull, "w")
    try:
        m = runpy.run_path(os.path.join(here, "makehuman.py"))
    finally:
        sys.argv, sys.stdout = words, quiet
    file = File(path)
    body, nodes = Part(file, *file.skinned()[0]), file.json["nodes"][:-1]
    home = m["home"]
    frames = m["read_bvh"](os.path.join(home, "poseunits/face-poseunits.bvh"))
    names = json.load(open(os.path.join(home, "poseunits/face-poseunits.json")))["framemapping"]
    targets, reach = {}, np.zeros(len(body.positions), bool)
    for unit, name in FACE.items():
        d = np.zeros((len(m["positions"]), 3))
        for line in open(os.path.join(home, "targets/expression/units/caucasian", name + ".target")):
            if line.strip() and not line.startswith("#"):
                v, x, y, z = line.split()
                d[int(v)] = float(x), float(y), float(z)
        targets[unit] = d[m["used"]]
        reach |= (targets[unit] != 0).any(1)
    face = body.triangles[reach[body.triangles].all(1)]
    keep, triangles = np.unique(face, return_inverse=True)
    rig = os.path.join(folder, "face.glb")
    scene = file.json["scenes"][0]["nodes"][:-1]
    write_rig(rig, nodes, scene, body.positions[keep], body.weights[keep], body.binds, triangles.reshape(-1, 3))
    poses, shapes = [], []
    for unit in FACE:
        for share in (0.5, 1):
            pose = rest_pose(nodes) + [[np.zeros(3), np.array([0, 0, 0, 1.0]), np.ones(3)]]
            for joint, r in frames[names.index(unit)].items():
                q = m["quaternion"](r)
                angle, s = 2 * np.arctan2(np.linalg.norm(q[:3]), q[3]) * share, np.linalg.norm(q[:3])
                if s > 1e-12:
                    pose[m["index"][joint]][1] = np.append(q[:3] / s * np.sin(angle / 2), np.cos(angle / 2))
            poses.append(pose)
            shapes.append(body.positions[keep] + share * targets[unit][keep])
    return Sequence("makehuman face", rig, poses, shapes)
