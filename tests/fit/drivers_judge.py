#!/usr/bin/python3
"""Independent judge of `cutis bake --drivers`, in float64 from the file alone; shares no code with Cutis: it reads CUTIS_drivers, evaluates the
formula of docs/formats/drivers.md, blends linearly and compares with `cutis deform` of the same poses, and with the deformer that was baked.
usage: drivers_judge.py CUTIS FOLDER    gate: small cases, prints ok and not ok lines
"""
import json
import os
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bake_judge import changed, play  # noqa: E402
from judge_unseen import File, Part, rest_pose, world_matrices  # noqa: E402

failures = 0


def say(good, claim, detail=""):
    global failures
    failures += not good
    print(("ok " if good else "not ok ") + claim + (": " + detail if detail and not good else ""))


def run(*words):
    done = subprocess.run(words, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(words)}: {done.stderr}"
    return done.stdout


def multiply(a, b):
    """Quaternions x y z w."""
    v = a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3])
    return np.append(v, a[3] * b[3] - a[:3] @ b[:3])


def read_inputs(file, pose):
    """x, y, z, w - 1 of the joints that are read, within their ranges."""
    table, rest, inputs = file.json["extensions"]["CUTIS_drivers"], rest_pose(file.json["nodes"]), []
    ranges = file.array(table["ranges"]).reshape(-1, 2, 4).astype(float)
    for k, node in enumerate(table["joints"]):
        at_rest = np.array(rest[node][1], float) * [-1, -1, -1, 1]
        q = multiply(at_rest, np.array(pose[node][1], float))
        q = q / np.linalg.norm(q) * (1 if q[3] >= 0 else -1)
        inputs.append(np.clip(q - [0, 0, 0, 1], ranges[k, 0], ranges[k, 1]))
    return inputs


def terms_of(inputs, driver):
    u = np.concatenate([inputs[i] for i in driver["inputs"]] or [[]])
    return np.concatenate([u, [u[i] * u[j] for i in range(len(u)) for j in range(i, len(u))]])


def driven_targets(file, pose, mesh):
    """What morph targets add to a mesh's positions, by the weights that its first node's drivers say."""
    table, at = file.json["extensions"]["CUTIS_drivers"], 0
    coefficients, inputs = file.array(table["weightCoefficients"])[:, 0].astype(float), read_inputs(file, pose)
    primitives = file.json["meshes"][mesh]["primitives"]
    added = 0.0
    for driver in table["weights"]:
        terms = terms_of(inputs, driver)
        weight = terms @ coefficients[at:at + len(terms)]
        at += len(terms)
        if file.json["nodes"][driver["node"]].get("mesh") == mesh:
            added = added + weight * np.concatenate([file.array(p["targets"][driver["target"]]["POSITION"]) for p in primitives])
    assert at == len(coefficients)
    return added


def drive(file, pose, sums=None):
    """The pose with driven nodes as their drivers say, by the words of docs/formats/drivers.md. `sums` gets what the terms of each
    driver's numbers are without their signs: floats that cancel keep the rounding of these."""
    table = file.json["extensions"]["CUTIS_drivers"]
    coefficients = file.array(table["coefficients"]).astype(float).reshape(-1, 6) if "coefficients" in table else np.zeros((0, 6))
    rest, inputs = rest_pose(file.json["nodes"]), read_inputs(file, pose)
    out, at = [list(p) for p in pose], 0
    for driver in table.get("drivers", []):
        terms = terms_of(inputs, driver)
        n = len(terms)
        y = terms @ coefficients[at:at + len(terms)] if n else np.zeros(6)
        if sums is not None and n:
            sums.append((np.abs(terms) @ np.abs(coefficients[at:at + len(terms)])).max())
        at += len(terms) if n else 0
        angle = np.linalg.norm(y[:3])
        r = y[:3] * min(1, np.pi / angle) if angle else y[:3]
        half = np.linalg.norm(r) / 2
        turn = np.append(r / 2 * np.sinc(half / np.pi), np.cos(half))
        node = rest[driver["node"]]
        out[driver["node"]][1] = multiply(turn, node[1])
        out[driver["node"]][0] = node[0] + y[3:]
    assert at == len(coefficients)
    return out


def blend(file, pose, morphs=False):
    world = world_matrices(file.json["nodes"], pose)
    frame = []
    for mesh, skin in file.skinned():
        part = Part(file, mesh, skin)
        rest = part.positions + (driven_targets(file, pose, mesh) if morphs else 0)
        p = np.concatenate([rest, np.ones((len(rest), 1))], 1)
        frame.append(np.einsum("vrc,vc->vr", np.einsum("vj,jrc->vrc", part.weights, part.palette(world)), p))
    return np.concatenate(frame)


def turned(file, names, angles, generator):
    """A pose with joints turned about random axes, from rest; and as a pose file."""
    nodes = file.json["nodes"]
    pose, words = rest_pose(nodes), {}
    for name, angle in zip(names, angles):
        index = next(i for i, n in enumerate(nodes) if n.get("name") == name)
        axis = generator.normal(size=3)
        q = np.append(np.sin(angle / 2) * axis / np.linalg.norm(axis), np.cos(angle / 2))
        q = multiply(pose[index][1], q).astype(np.float32).astype(float)
        pose[index][1] = q
        words[name] = {"rotation": [float(x) for x in q]}
    return pose, {"joints": words}


def deform(cutis, folder, model, *words):
    out = os.path.join(folder, "frames.npy")
    run(cutis, "deform", model, *words, "-q", "-o", out)
    return np.load(out).astype(float)


def rms(a, b):
    return np.sqrt(((a - b) ** 2).sum(-1).mean())


def formula(cutis, folder, baked):
    """In range, beyond it, and at rest, the runtime is the formula."""
    file, generator, worst, sums = File(baked), np.random.default_rng(5), 0, []
    path = os.path.join(folder, "pose.json")
    for k in range(6):
        pose, words = turned(file, ("shoulder", "elbow", "wrist"), np.array([0.2, 0.6, 0.9]) * k, generator)
        json.dump(words, open(path, "w"))
        mine = blend(file, drive(file, pose, sums))
        worst = max(worst, np.abs(mine - deform(cutis, folder, baked, "--pose", path)[0]).max())
    size = np.linalg.norm(mine.max(0) - mine.min(0))
    rounding = np.finfo(np.float32).eps * max(sums)
    say(worst < 1e-6 * size + rounding, "poses by the runtime are the formula in numpy", f"{worst / size:.2g} of the diagonal, rounding {rounding / size:.2g}")
    still = blend(file, pose)
    say(np.abs(deform(cutis, folder, baked, "--pose", path, "--drivers", "off")[0] - still).max() < 1e-6 * size, "without drivers helpers rest")
    say(np.abs(mine - still).max() > 1e-3 * size, "which is another shape")


def quality(cutis, folder, arm):
    """Drivers on a clip that nothing was learned from but its ranges, tracks where clips have them, plain blending where nothing was learned."""
    baked = os.path.join(folder, "baked.glb")
    told = json.loads(run(cutis, "bake", arm, "--method", "dqs", "--helpers", "6", "--drivers", "--clips", "bend,raise", "--fps", "8", "--json", "-o", baked))
    d = told["unseen"]
    say(d["ratio"] < 0.15 and d["rms"] < 1.12 * d["free_rms"], "unseen poses are met, nearly as well as by the best transforms", str(d))
    target = deform(cutis, folder, arm, "--clip", "twist", "--method", "dqs", "--fps", "8")
    plain = rms(deform(cutis, folder, arm, "--clip", "twist", "--method", "lbs", "--fps", "8"), target)
    driven = rms(deform(cutis, folder, baked, "--clip", "twist", "--drivers", "all", "--fps", "8"), target)
    tracks = rms(deform(cutis, folder, baked, "--clip", "twist", "--fps", "8"), target)
    say(driven < 0.15 * plain, "a clip left out is driven", f"{driven / plain:.3f}")
    say(tracks < driven, "and its own tracks are nearer", f"{tracks / plain:.3f} {driven / plain:.3f}")
    return baked


def never_moved(cutis, folder, arm):
    """Joints that no clip moves deform as plain blending has them."""
    def only_bend(document):
        document["animations"] = [a for a in document["animations"] if a["name"] == "bend"]
    source, baked = changed(arm, folder, "bend.glb", only_bend), os.path.join(folder, "bend_baked.glb")
    run(cutis, "bake", source, "--method", "dqs", "--helpers", "4", "--drivers", "--fps", "6", "-q", "-o", baked)
    file, generator, sums = File(source), np.random.default_rng(8), np.zeros(2)
    path = os.path.join(folder, "pose.json")
    for k in range(4):
        json.dump(turned(file, ("collar", "shoulder"), (0.4, 0.9), generator)[1], open(path, "w"))
        target = deform(cutis, folder, source, "--pose", path, "--method", "dqs")
        sums += [rms(deform(cutis, folder, baked, "--pose", path), target) ** 2, rms(deform(cutis, folder, source, "--pose", path), target) ** 2]
    ratio = np.sqrt(sums[0] / sums[1])
    say(ratio < 1.05, "joints that never moved are no worse than plain blending", f"{ratio:.3f}")


def tracks(cutis, folder, baked):
    """A clip without tracks is driven; convert writes tracks that a player without drivers plays alike; so does retarget."""
    def bare(document):
        driven = {d["node"] for d in document["extensions"]["CUTIS_drivers"]["drivers"]}
        for clip in document["animations"]:
            clip["channels"] = [c for c in clip["channels"] if c["target"]["node"] not in driven]
    stripped, out = changed(baked, folder, "stripped.glb", bare), os.path.join(folder, "tracks.glb")
    for how in "tracks", "drop":
        run(cutis, "convert", stripped, "--drivers", how, "-q", "-o", out)
        say(("CUTIS_drivers" in File(out).json.get("extensions", {})) == (how == "tracks"), f"convert --drivers {how} has drivers or not")
        frames = deform(cutis, folder, stripped, "--clip", "twist")
        some = np.arange(0, len(frames), 17)
        off = np.abs(play(out, "twist", some / 30) - frames[some]).max()
        say(off < 1e-6, f"convert --drivers {how}: tracks in numpy are what drivers play", f"{off:.2g}")
    say(np.abs(deform(cutis, folder, stripped, "--clip", "twist") - deform(cutis, folder, baked, "--clip", "twist", "--drivers", "all")).max() < 1e-6,
        "a clip without tracks plays by drivers")
    run(cutis, "retarget", baked, "--motion", stripped, "--clip", "twist", "--fps", "30", "-q", "-o", out)
    last = len(File(out).json["animations"]) - 1
    frames = deform(cutis, folder, out, "--clip", f"#{last}", "--drivers", "all")
    some = np.arange(0, len(frames), 17)
    off = np.abs(play(out, last, some / 30) - frames[some]).max()
    say(off < 1e-6 and np.ptp(frames, 0).max() > 0.01, "retarget gives helpers tracks as drivers have them", f"{off:.2g}")


def morphs(cutis, folder, arm):
    """Weights of morph targets that are driven, beside helpers and alone: by the runtime, in a clip without tracks, as tracks."""
    baked, out, path = (os.path.join(folder, n) for n in ("morphs.glb", "morph_tracks.glb", "pose.json"))
    told = {}
    for helpers, count in (0, 4), (2, 4), (2, 0):
        words = ("--helpers", str(helpers), "--drivers", "--fps", "6") + (("--morphs", str(count)) if count else ())
        told[helpers, count] = json.loads(run(cutis, "bake", arm, "--method", "dqs", *words, "--json", "-o", baked if count else out))["unseen"]["ratio"]
        if not count:
            continue
        file, generator, worst, sums = File(baked), np.random.default_rng(9), 0, [1]
        for k in range(4):
            pose, words = turned(file, ("shoulder", "elbow", "wrist"), np.array([0.3, 0.5, 0.7]) * k, generator)
            json.dump(words, open(path, "w"))
            mine = blend(file, drive(file, pose, sums), True)
            worst = max(worst, np.abs(mine - deform(cutis, folder, baked, "--pose", path)[0]).max())
        size = np.linalg.norm(np.ptp(mine, 0))
        bound = 2e-6 * size + np.finfo(np.float32).eps * max(sums)
        say(worst < bound, f"driven weights beside {helpers} helpers are the formula in numpy", f"{worst / size:.2g} of the diagonal, {bound / size:.2g}")

        def bare(document):
            driven = {d["node"] for d in document["extensions"]["CUTIS_drivers"].get("drivers", [])}
            for clip in document["animations"]:
                clip["channels"] = [c for c in clip["channels"] if c["target"]["node"] not in driven and c["target"]["path"] != "weights"]
        stripped = changed(baked, folder, "bare.glb", bare)
        frames = deform(cutis, folder, stripped, "--clip", "bend")
        some = np.arange(0, len(frames), 17)
        say(np.abs(frames - deform(cutis, folder, stripped, "--clip", "bend", "--drivers", "off")).max() > 1e-3 * size, "a clip without tracks is driven")
        for words in ("convert", stripped, "--drivers", "drop"), ("retarget", stripped, "--motion", stripped, "--clip", "bend", "--fps", "30"):
            run(cutis, *words, "-q", "-o", out)
            clip = "bend" if words[0] == "convert" else len(File(out).json["animations"]) - 1
            off = np.abs(play(out, clip, some / 30) - frames[some]).max()
            say(off < 2e-6, f"{words[0]}: tracks of weights in numpy are what drivers play", f"{off:.2g}")
    say(told[2, 4] < 0.8 * told[2, 0], "driven targets take much of what driven helpers leave in unseen poses", str(told))
    say(told[0, 4] < 0.5, "and most of it alone", str(told))


if __name__ == "__main__":
    cutis, folder = sys.argv[1:3]
    arm = os.path.join(folder, "arm.glb")
    run(cutis, "synth", "arm", "--size", "low", "-q", "-o", arm)
    baked = quality(cutis, folder, arm)
    formula(cutis, folder, baked)
    tracks(cutis, folder, baked)
    morphs(cutis, folder, arm)
    never_moved(cutis, folder, arm)
    sys.exit(failures > 0)
