#!/usr/bin/python3
"""A body that is turned gets the same rig, turned.

    rig_turned.py CUTIS FOLDER VERTICES KIND:SEED...

Each bare body of `cutis synth family` is rigged as it stands, turned by 40 degrees about the vertical, tilted, and lying; the joints
of the turned ones are turned back (double precision, here). Names must be the same, and places within 1 % of the diagonal: cells
lie as the body does, and only rounding of the turned file moves one. A vertex far off that no triangle has changes nothing either: every
joint still holds something (its own check says so by the exit status)."""
import json
import os
import struct
import subprocess
import sys

import numpy as np

from judge_rig import Body, rotation

X, Y, Z = np.eye(3)
TURNS = {"turned by 40 degrees": rotation(Y, np.radians(40)),
         "tilted": rotation(X, np.radians(12)) @ rotation(Z, np.radians(-20)),
         "lying": rotation(X, np.radians(-90))}


def write_turned(source, target, turn):
    """The same GLB with other positions; normals are not read by `rig`, and left out."""
    data = bytearray(open(source, "rb").read())
    size = struct.unpack_from("<I", data, 12)[0]
    head, rest = json.loads(data[20:20 + size]), data[20 + size:]
    attributes = head["meshes"][0]["primitives"][0]["attributes"]
    attributes.pop("NORMAL", None)
    accessor = head["accessors"][attributes["POSITION"]]
    view = head["bufferViews"][accessor["bufferView"]]
    at = 8 + view.get("byteOffset", 0) + accessor.get("byteOffset", 0)
    points = np.frombuffer(rest, "<f4", 3 * accessor["count"], at).reshape(-1, 3).astype(float) @ turn.T
    points = points.astype("<f4")
    rest[at:at + points.nbytes] = points.tobytes()
    accessor["min"], accessor["max"] = points.min(0).astype(float).tolist(), points.max(0).astype(float).tolist()
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    open(target, "wb").write(struct.pack("<4sIIII", b"glTF", 2, 20 + len(text) + len(rest), len(text), 0x4E4F534A) + text + rest)


def write_stray(body, target):
    """The same body, and a vertex that nothing shows."""
    points = np.r_[body.points, [body.points.max(0) + 40 * np.ptp(body.points, axis=0)]].astype("<f4")
    data = points.tobytes() + body.faces.astype("<u4").tobytes()
    head = {"asset": {"version": "2.0"}, "scene": 0, "scenes": [{"nodes": [0]}], "nodes": [{"mesh": 0}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}], "buffers": [{"byteLength": len(data)}],
            "bufferViews": [{"buffer": 0, "byteLength": points.nbytes},
                            {"buffer": 0, "byteOffset": points.nbytes, "byteLength": len(data) - points.nbytes}],
            "accessors": [{"bufferView": 0, "componentType": 5126, "count": len(points), "type": "VEC3",
                           "min": points.min(0).astype(float).tolist(), "max": points.max(0).astype(float).tolist()},
                          {"bufferView": 1, "componentType": 5125, "count": body.faces.size, "type": "SCALAR"}]}
    text = json.dumps(head).encode()
    text += b" " * (-len(text) % 4)
    open(target, "wb").write(struct.pack("<4sIIII", b"glTF", 2, 28 + len(text) + len(data), len(text), 0x4E4F534A) + text +
                             struct.pack("<II", len(data), 0x004E4942) + data)


def rig(cutis, path, out):
    run = subprocess.run([cutis, "rig", path, "--keep", "-q", "-o", out], capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"{path}: rig exits {run.returncode}: {run.stderr}")
    body = Body(out)
    return dict(zip(body.names, body.places)), run.returncode


def main():
    cutis, folder, vertices = sys.argv[1:4]
    failed = 0
    for body in sys.argv[4:]:
        kind, seed = body.split(":")
        bare, other, out = (os.path.join(folder, f"turned_{name}.glb") for name in ("bare", "other", "out"))
        subprocess.run([cutis, "synth", "family", "--kind", kind, "--seed", seed, "--vertices", vertices, "--unrigged", "-q", "-o", bare],
                       check=True)
        points = Body(bare).points
        diagonal = np.linalg.norm(points.max(0) - points.min(0))
        truth, code = rig(cutis, bare, out)
        write_stray(Body(bare), other)
        found, strays = rig(cutis, other, out)
        good = strays == code and found.keys() == truth.keys() and max(np.linalg.norm(found[j] - truth[j]) for j in truth) < 1e-6 * diagonal
        claim = f"{kind} {seed} with a vertex far off that nothing shows gets the same rig"
        print(f"ok {claim}" if good else f"not ok {claim}: exit {strays}, not {code}")
        failed |= not good
        for name, turn in TURNS.items():
            write_turned(bare, other, turn)
            found, _ = rig(cutis, other, out)
            claim = f"{kind} {seed} {name} gets the same joints"
            if found.keys() != truth.keys():
                print(f"not ok {claim}: {len(found)}, not {len(truth)}; {sorted(found.keys() ^ truth.keys())}")
                failed = 1
                continue
            worst, joint = max((np.linalg.norm(found[j] @ turn - truth[j]) / diagonal, j) for j in truth)
            good = worst < 0.01
            print(f"ok {claim} ({100 * worst:.2f} %)" if good else f"not ok {claim}: {joint} is {100 * worst:.1f} % of the diagonal away")
            failed |= not good
    sys.exit(failed)


if __name__ == "__main__":
    main()
