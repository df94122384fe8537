#!/usr/bin/python3
"""References for the command in numpy, sharing no code with it.

compare.py shape FILE.npy F V         the array is float32 [F, V, 3] and finite
compare.py near A.npy B.npy TOL       same shape, largest difference at most TOL
compare.py obj A.obj ARRAY.npy FRAME  vertices of an OBJ are that frame (1e-5)
compare.py outside A.obj VOLUME         its faces enclose that volume (1e-4 of it), and its normals lie on their side
compare.py pc2 A.pc2 ARRAY.npy        a point cache holds the same floats, bit for bit
compare.py measure MODEL.obj A.npy B.npy OUT.json   volume, variation, position and normal errors as cutis measure says
compare.py demo FOLDER                demo/demo.json has the volumes and distances of FOLDER's OBJ files (CLIP_METHOD.obj, biped.obj)
compare.py pose ARRAY.npy             test_verbs.sh's pose file on make_bad.py's triangle, from the formula
"""
import json, struct, sys
import numpy as np

def obj(path):
    v, f = [], []
    for line in open(path):
        t = line.split()
        if t[:1] == ["v"]: v.append([float(x) for x in t[1:4]])
        if t[:1] == ["f"]: f.append([int(x.split("/")[0]) - 1 for x in t[1:4]])
    return np.array(v), np.array(f)

def volume(p, f): return (p[f[:, 0]] * np.cross(p[f[:, 1]], p[f[:, 2]])).sum() / 6

def normals(p, f, weld, n):
    area = np.cross(p[f[:, 1]] - p[f[:, 0]], p[f[:, 2]] - p[f[:, 0]])
    out = np.zeros((n, 3))
    for k in range(3): np.add.at(out, weld[f[:, k]], area)
    return out / np.linalg.norm(out, axis=1, keepdims=True)

def measure(model, a, b, out):
    rest, f = obj(model); a = np.load(a).astype(float); b = np.load(b).astype(float); d = json.load(open(out))
    diagonal = np.linalg.norm(rest.max(0) - rest.min(0))
    error = np.linalg.norm(a - b, axis=2)
    uniq, weld = np.unique(rest, axis=0, return_inverse=True); weld = weld.reshape(-1)
    angle2 = []
    for x, y in zip(a, b):
        n, m = normals(x, f, weld, len(uniq)), normals(y, f, weld, len(uniq))
        angle2.append(np.arctan2(np.linalg.norm(np.cross(n, m), axis=1), (n * m).sum(1)) ** 2)
    v = np.array([volume(x, f) for x in a]); v0 = volume(rest, f); var = 100 * (v - v0) / v0; k = np.abs(var).argmax()
    want = {"volume": v[k], "volume_variation": var[k], "position_rms": 100 * np.sqrt((error ** 2).mean()) / diagonal,
            "position_max": 100 * error.max() / diagonal, "normal_rms": np.sqrt(np.mean(angle2))}
    for key, value in want.items():
        # the OBJ has its rest positions in decimal, so a relative 1e-4 of what is measured, and 1e-5 of nothing
        assert abs(d[key] - value) <= 1e-4 * abs(value) + 1e-5, f"{key}: {d[key]} where numpy has {value}"

def outside(path, want):
    p, f = obj(path)
    n = np.array([[float(x) for x in t[1:4]] for t in map(str.split, open(path)) if t[:1] == ["vn"]])
    at = np.array([[int(x.split("/")[2]) - 1 for x in t[1:4]] for t in map(str.split, open(path)) if t[:1] == ["f"]])
    face = np.cross(p[f[:, 1]] - p[f[:, 0]], p[f[:, 2]] - p[f[:, 0]])
    against = sum(((face * n[at[:, k]]).sum(1) <= 0).sum() for k in range(3))
    assert against == 0, f"{against} of {at.size} normals lie against their face"
    assert abs(volume(p, f) / float(want) - 1) < 1e-4, volume(p, f)

def demo(folder):
    said = json.load(open(folder + "/demo/demo.json"))
    rows = {r["method"]: r for r in said["rows"]}
    rest, f = obj(folder + "/biped.obj")
    whole, size = volume(rest, f), np.linalg.norm(rest.max(0) - rest.min(0))
    assert abs(said["rest_volume"] - whole) < 1e-5 * whole, whole
    shape = {(c, m): obj(f"{folder}/{c}_{m}.obj")[0] for c in ("bend", "twist") for m in rows}
    for (clip, method), p in shape.items():
        change = 100 * (volume(p, f) - whole) / whole
        assert abs(change - rows[method][clip]["volume_variation"]) < 1e-3, (clip, method, change)
    for method in rows:
        for to in ("lbs", "dqs"):
            far = max(np.sqrt(((shape[c, method] - shape[c, to]) ** 2).sum(1).mean()) for c in ("bend", "twist"))
            assert abs(100 * far / size - rows[method]["position_rms_from_" + to]) < 1e-3, (method, to, 100 * far / size)

def main():
    what, rest = sys.argv[1], sys.argv[2:]
    if what == "shape":
        a = np.load(rest[0]); want = (int(rest[1]), int(rest[2]), 3)
        assert a.shape == want and a.dtype == np.float32 and np.isfinite(a).all(), f"{a.shape} {a.dtype}"
    elif what == "near":
        a, b = np.load(rest[0]), np.load(rest[1])
        assert a.shape == b.shape, f"{a.shape} {b.shape}"
        assert np.abs(a.astype(float) - b).max() <= float(rest[2]), f"differs by {np.abs(a.astype(float) - b).max()}"
    elif what == "obj":
        v, _ = obj(rest[0]); a = np.load(rest[1])[int(rest[2])]
        assert v.shape == a.shape and np.abs(v - a).max() < 1e-5, f"{v.shape} {a.shape}"
    elif what == "pc2":
        raw = open(rest[0], "rb").read(); a = np.load(rest[1])
        magic, version, count, start, rate, frames = struct.unpack("<12siiffi", raw[:32])
        assert magic == b"POINTCACHE2\0" and version == 1 and (frames, count) == a.shape[:2], (magic, version, count, frames)
        assert raw[32:] == a.tobytes()
    elif what == "measure": measure(*rest)
    elif what == "outside": outside(*rest)
    elif what == "demo": demo(*rest)
    elif what == "pose":
        # two joints, weights one half each; the tip stands at (0, 1, 0) with identity inverse bind and turns by 90 degrees
        a = np.load(rest[0]).astype(float); p = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
        turned = p @ np.array([[0, -1, 0], [1, 0, 0], [0, 0, 1]]).T + [0, 1, 0]
        assert np.abs(a[0] - 0.5 * (p + turned)).max() < 1e-6, a
    else: sys.exit(__doc__)

try: main()
except AssertionError as e: print(e); sys.exit(1)
