#!/usr/bin/python3
"""Rigs of bodies that nobody here drew.

    rig_real.py CUTIS SHARED FOLDER

- kinds: spot and Khronos' fox have four legs, whichever axis is up; CesiumMan, MakeHuman's body and its low-poly proxies are people
- joints of MakeHuman's body against those of its own rig (default.mhskel), in % of the height: fingers 1.5 at most, limbs 4 at
  most; both hands have all five fingers
Shares no code with `cutis rig`."""
import json
import os
import struct
import subprocess
import sys

import numpy as np

LIMBS = {"upperarm": "upperarm01", "forearm": "lowerarm01", "hand": "wrist", "thigh": "upperleg01", "shin": "lowerleg01", "foot": "foot"}
FINGERS = {f"{name}{i}": f"finger{n}-{i}" for n, name in enumerate(["thumb", "index", "middle", "ring", "pinky"], 1) for i in (1, 2, 3)}


def rig(cutis, path, folder):
    out = os.path.join(folder, "rigged.glb")
    run = subprocess.run([cutis, "rig", path, "--keep", "--json", "--largest", "-o", out], capture_output=True, text=True)
    if not run.stdout:
        sys.exit(f"{path}: {run.stderr}")
    return json.loads(run.stdout), out, run.returncode


def bare(source, target):
    """Positions and faces alone; of MakeHuman's file the skin alone."""
    keep, lines = True, []
    for line in open(source):
        if line.startswith("g "):
            keep = line.split()[1] == "body"
        if line.startswith("v "):
            lines.append(line)
        elif line.startswith("f ") and keep:
            lines.append("f " + " ".join(c.split("/")[0] for c in line.split()[1:]) + "\n")
    open(target, "w").writelines(lines)
    return target


def lie_down(path, folder):
    """The same body, z up."""
    out = os.path.join(folder, "lying.obj")
    with open(out, "w") as file:
        for line in open(path):
            if line.startswith("v "):
                x, y, z = line.split()[1:4]
                line = f"v {x} {-float(z)} {y}\n"
            elif line.startswith("f "):
                line = "f " + " ".join(c.split("/")[0] for c in line.split()[1:]) + "\n"
            else:
                continue
            file.write(line)
    return out


def joints_of(path):
    data = open(path, "rb").read()
    size = struct.unpack_from("<I", data, 12)[0]
    file = json.loads(data[20:20 + size])
    skin, binary = file["skins"][0], data[28 + size:]
    accessor = file["accessors"][skin["inverseBindMatrices"]]
    offset = file["bufferViews"][accessor["bufferView"]].get("byteOffset", 0) + accessor.get("byteOffset", 0)
    binds = np.frombuffer(binary, "<f4", 16 * accessor["count"], offset).reshape(-1, 4, 4).transpose(0, 2, 1).astype(float)
    places = np.linalg.inv(binds)[:, :3, 3]
    return {file["nodes"][n]["name"]: places[i] for i, n in enumerate(skin["joints"])}


def makehuman(cutis, shared, folder):
    data = os.path.join(shared, "data/makehuman/makehuman/data")
    body = bare(os.path.join(data, "3dobjs/base.obj"), os.path.join(folder, "makehuman.obj"))
    report, path, code = rig(cutis, body, folder)
    points = np.array([[float(x) for x in line.split()[1:4]] for line in open(body) if line.startswith("v ")])
    skeleton = json.load(open(os.path.join(data, "rigs/default.mhskel")))
    used = np.unique([int(c) - 1 for line in open(body) if line.startswith("f ") for c in line.split()[1:]])
    height = np.ptp(points[used, 1])
    heads = {name: points[skeleton["joints"][bone["head"]]].mean(0) for name, bone in skeleton["bones"].items()}
    ours, missing, worst = joints_of(path), [], {}
    for names, kind in ((LIMBS, "limbs"), (FINGERS, "fingers")):
        for own, other in names.items():
            for side, theirs in (("_l", ".L"), ("_r", ".R")):
                if own + side not in ours:
                    missing.append(own + side)
                    continue
                away = 100 * np.linalg.norm(ours[own + side] - heads[other + theirs]) / height
                worst[kind] = max(worst.get(kind, (0, "")), (away, own + side))
    print("MakeHuman: %s, %d joints; worst of limbs %.1f %% (%s), of fingers %.1f %% (%s)" % (
        report["kind"], report["joints"], *worst.get("limbs", (99, "none")), *worst.get("fingers", (99, "none"))))
    good = code == 0 and report["kind"] == "human" and not missing and worst["limbs"][0] <= 4 and worst["fingers"][0] <= 1.5
    print("ok joints of MakeHuman's own rig" if good else f"not ok joints of MakeHuman's own rig: missing {missing}, {report['problems']}")
    return good


def main():
    cutis, shared, folder = sys.argv[1:]
    good = makehuman(cutis, shared, folder)
    samples, proxies = "data/gltf-sample-assets", "data/makehuman-assets/base/proxymeshes"
    for kind, name in (("quadruped", "data/spot-cc0/spot_triangulated.obj"), ("quadruped", f"{samples}/Fox/glTF-Binary/Fox.glb"),
                       ("human", f"{samples}/CesiumMan/glTF-Binary/CesiumMan.glb"), ("human", f"{proxies}/male1591/male1591.obj"),
                       ("human", f"{proxies}/proxy741/proxy741.obj")):
        path = os.path.join(shared, name)
        if path.endswith(".glb"):
            path = os.path.join(folder, os.path.basename(path) + ".obj")
            subprocess.run([cutis, "convert", os.path.join(shared, name), "-q", "-o", path], check=True)
        report, _, code = rig(cutis, path, folder)
        right = report["kind"] == kind and code == 0
        if kind == "quadruped":
            lying, _, code = rig(cutis, lie_down(path, folder), folder)
            right = right and lying["kind"] == kind and code == 0
        good = good and right
        print(f"{'ok' if right else 'not ok'} {os.path.basename(name)} is a {kind} (found {report['kind']}, {report['deviation']:.2f}, {report['problems']})")
    sys.exit(0 if good else 1)


main()
