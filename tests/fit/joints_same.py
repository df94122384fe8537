#!/usr/bin/python3
"""Do the nodes that are left in a file with merged joints move as in the original? In float64, by code that Cutis does not share:
every clip of both files is sampled at times between keys, and world matrices of nodes of the same name are compared. Prints as JSON the
largest difference of an entry in units of the largest entry, joints and nodes of both files, tracks of both, inverse binds that differ.
usage: joints_same.py ORIGINAL REDUCED
"""
import json
import sys

import numpy as np

from judge_unseen import File, rest_pose, sample, world_matrices


def skin_binds(file):
    """Inverse bind by (skin, joint's name)."""
    out = {}
    for s, skin in enumerate(file.json.get("skins", [])):
        binds = file.array(skin["inverseBindMatrices"]) if "inverseBindMatrices" in skin else np.tile(np.eye(4).reshape(16), (len(skin["joints"]), 1))
        for j, bind in zip(skin["joints"], binds):
            out[s, file.json["nodes"][j]["name"]] = bind
    return out


def compare(original, reduced):
    files = [File(original), File(reduced)]
    names = [[n["name"] for n in f.json["nodes"]] for f in files]
    assert all(len(set(n)) == len(n) for n in names), "names of nodes must be unique"
    place = [names[0].index(n) for n in names[1]]
    clips = [f.json.get("animations", []) for f in files]
    assert [c.get("name") for c in clips[0]] == [c.get("name") for c in clips[1]]
    worst = 0.0
    for pair in zip(*clips) if clips[0] else [(None, None)]:
        ends = [max([f.array(s["input"]).max() for s in c["samplers"]], default=0) if c else 0 for f, c in zip(files, pair)]
        assert abs(ends[0] - ends[1]) < 1e-6, "a clip has another length"
        for time in np.linspace(0, ends[0], 23):
            worlds = []
            for f, c in zip(files, pair):
                pose = rest_pose(f.json["nodes"])
                worlds.append(np.array(world_matrices(f.json["nodes"], sample(f, c, time, pose) if c else pose)))
            worst = max(worst, float(np.abs(worlds[0][place] - worlds[1]).max() / np.abs(worlds[0]).max()))
    binds = [skin_binds(f) for f in files]
    joints = [sorted({f.json["nodes"][j]["name"] for s in f.json["skins"] for j in s["joints"]}) for f in files]
    return {"difference": worst, "joints": [len(j) for j in joints], "new_joints": sorted(set(joints[1]) - set(joints[0])),
            "nodes": [len(n) for n in names], "tracks": [sum(len(c["channels"]) for c in cs) for cs in clips],
            "binds_changed": sum(not np.array_equal(b, binds[0][key]) for key, b in binds[1].items())}


if __name__ == "__main__":
    print(json.dumps(compare(*sys.argv[1:3])))
