#!/usr/bin/python3
"""Independent judge of bounds, whole-number weights and merged joints, in float64 from the definitions; shares no code with Cutis.
Poses are those of judge_unseen.py: of the original's skeleton, random (seeds from 1000 on) or frames of clips. Joints of the reduced
file are found in the original by name (by index where names are missing or not unique) and move as they do there. Prints as JSON:
largest distance in thousandths of a unit and angle in degrees of any vertex in any pose, what 99 % of the vertices never exceed, how
many (vertex, pose) are beyond --max-error and --max-normal, RMS over all, vertices by number of influences, joints in use.
Normals do not count where the original's faces around a place cancel to a tenth of their area: folded flat, they have none.
usage: judge_bound.py ORIGINAL REDUCED [--random N] [--seed S] [--clips odd|all|NAME,...] [--max-error MM] [--max-normal DEG]
"""
import argparse
import json

import numpy as np

from judge_unseen import Body, File, Part, blend, clip_worlds, random_worlds, sparse


def node_map(file, other):
    """Node of the original for every node of the other file."""
    names = [n.get("name") for n in file.json["nodes"]]
    unique = None not in names and len(set(names)) == len(names)
    return [names.index(n["name"]) if unique else i for i, n in enumerate(other.json["nodes"])]


def sizes(body, x):
    """Normals by place, not normalised, and the sum of the faces' own sizes."""
    t, w = body.triangles, body.weld
    face = np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]])
    area, count = np.linalg.norm(face, axis=1), w.max() + 1
    sums, total = np.zeros((count, 3)), np.zeros(count)
    for corner in range(3):
        at = w[t[:, corner]]
        total += np.bincount(at, area, count)
        for axis in range(3):
            sums[:, axis] += np.bincount(at, face[:, axis], count)
    return sums, total


def judge(original, reduced, random, seed, clips, max_error, max_normal):
    assert seed >= 1000, "seeds below 1000 are learned from"
    file, other = File(original), File(reduced)
    body = Body([Part(file, m, s) for m, s in file.skinned()])
    after = [Part(other, m, s) for m, s in other.skinned()]
    to = node_map(file, other)
    for part in after:
        part.joints = [to[j] for j in part.joints]
    joints = sorted({j for p in body.parts for j in p.joints})
    lists = [[sparse(p.weights) for p in parts] for parts in (body.parts, after)]
    worlds = list(random_worlds(file, joints, seed, random, 40)) + (list(clip_worlds(file, clips)) if clips else [])
    far, turned = np.zeros(len(body.weld)), np.zeros(body.weld.max() + 1)
    beyond, squares = [0, 0], np.zeros(2)
    for world in worlds:
        x = [blend(kind, [p.palette(world) for p in parts], parts) for kind, parts in zip(lists, (body.parts, after))]
        distance = np.linalg.norm(x[0] - x[1], axis=1)
        (n, area), (m, _) = sizes(body, x[0]), sizes(body, x[1])
        angle = np.arctan2(np.linalg.norm(np.cross(n, m), axis=1), (n * m).sum(1))
        angle[np.linalg.norm(n, axis=1) <= 0.1 * area] = 0
        far, turned = np.maximum(far, distance), np.maximum(turned, angle)
        beyond[0] += int((1e3 * distance > max_error).sum())
        beyond[1] += int((np.degrees(angle) > max_normal).sum())
        squares += [(distance**2).mean(), (angle[body.weld]**2).mean()]
    root = np.sqrt(squares / max(1, len(worlds)))
    counts = np.concatenate([(p.weights > 0).sum(1) for p in after])
    high = [float(np.sort(v)[int(np.ceil(0.99 * len(v))) - 1]) for v in (far, turned)]
    return {"poses": len(worlds), "mm": 1e3 * far.max(), "degrees": float(np.degrees(turned.max())), "mm_99": 1e3 * high[0],
            "degrees_99": float(np.degrees(high[1])), "beyond_mm": beyond[0], "beyond_degrees": beyond[1],
            "pairs": len(worlds) * len(far), "percent": 100 * root[0] / body.diagonal, "radians": root[1],
            "histogram": np.bincount(counts, minlength=17).tolist(), "mean_influences": float(counts.mean()),
            "joints": len({j for p in after for j in p.joints})}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("original"), parser.add_argument("reduced"), parser.add_argument("--random", type=int, default=96)
    parser.add_argument("--seed", type=int, default=1000), parser.add_argument("--clips")
    parser.add_argument("--max-error", type=float, default=np.inf), parser.add_argument("--max-normal", type=float, default=np.inf)
    print(json.dumps(judge(**vars(parser.parse_args()))))
