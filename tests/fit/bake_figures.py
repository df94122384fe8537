#!/usr/bin/python3
"""The figures of issue "bake" (docs/benchmarks.md): baked files played in numpy where they are a sequence's, as the command tells
them (tests/fit/test_bake.sh checks those) where they are a method's. Times are processor seconds, user and system.
usage: bake_figures.py CUTIS SHARED_DATA FOLDER [dem] [rig] [arm] [two] [pose] [biped] [ways] [large]
"""
import json
import os
import resource
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bake_judge import play, rms, run  # noqa: E402
from fit_sequences import dem_bones  # noqa: E402
from judge_fit import write_examples  # noqa: E402

cutis, data, folder = sys.argv[1:4]
wanted = sys.argv[4:] or ["dem", "rig", "arm", "two", "pose", "drivers", "biped", "ways", "large"]
out = os.path.join(folder, "baked.glb")


def bake(*words):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    told = json.loads(run(cutis, "bake", *words, "--json", "-o", out))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return told, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def say(name, value, bar, seconds):
    print("%-34s %8.4f  bar %-6s %s  %6.1f s" % (name, value, bar, "" if bar is None or value <= bar else "MISSED", seconds), flush=True)


def method(model, name, helpers, bar, label, *more):
    told, seconds = bake(model, "--method", name, "--helpers", str(helpers), *more)
    clips = [c for c in told["clips"] if not c["held_out"]]
    error = lambda k: np.sqrt(sum(c[k] ** 2 * c["frames"] for c in clips))
    say(f"{label} {name} H={helpers}", error("rms") / error("plain_rms"), bar, seconds)


home = os.path.join(data, "dem-bones/converted")
if "dem" in wanted:
    frames = np.fromfile(os.path.join(home, "bone_positions_400frames_754verts_f32le.bin"), "<f4").reshape(-1, 754, 3)
    rest, array = os.path.join(folder, "rest.obj"), os.path.join(folder, "frames.npy")
    faces = [line for line in open(os.path.join(home, "bone_000.obj")) if line.startswith("f ")]
    with open(rest, "w") as file:  # without normals, which would split vertices
        file.writelines("v %.9g %.9g %.9g\n" % tuple(v) for v in frames[0])
        file.writelines("f " + " ".join(c.split("/")[0] for c in line.split()[1:]) + "\n" for line in faces)
    np.save(array, frames)
    for bones, bar in (5, .0147), (10, .0046), (20, .0024):
        _, seconds = bake(array, "--rest", rest, "--bones", str(bones))
        say(f"dem-bones {bones} joints, RMSE", rms(play(out, 0, np.arange(400) / 30), frames), bar, seconds)
if "rig" in wanted:
    sequence = dem_bones(cutis, folder, data, every=1)
    rig, array = os.path.join(folder, "rig.glb"), os.path.join(folder, "some.npy")
    write_examples(sequence.rig, sequence.poses, rig)
    np.save(array, sequence.shapes)
    for helpers, bar in (0, None), (4, None), (8, .0065), (16, None):
        told, seconds = bake(array, "--rig", rig, "--fps", "1", "--helpers", str(helpers))
        say(f"dem-bones rig kept, H={helpers}, RMSE", rms(play(out, 0, np.arange(len(sequence.shapes))), sequence.shapes), bar, seconds)
arm, biped = os.path.join(folder, "arm.glb"), os.path.join(folder, "biped.glb")
run(cutis, "synth", "arm", "--size", "low", "-q", "-o", arm)
run(cutis, "synth", "biped", "--vertices", "3000", "-q", "-o", biped)
for name in "dqs", "sbs", "cor":
    if "arm" in wanted:
        method(arm, name, 4, .15, "arm"), method(arm, name, 8, .04, "arm")
    if "two" in wanted:
        method(arm, name, 4, .15, "arm, bend and twist", "--clips", "bend,twist")
        method(arm, name, 8, .04, "arm, bend and twist", "--clips", "bend,twist")
if "arm" in wanted:
    method(arm, "dqs", 8, .01, "arm, 8 morphs,", "--morphs", "8")
if "pose" in wanted:
    posed, fitted = os.path.join(folder, "posed.glb"), os.path.join(folder, "fitted.glb")
    run(cutis, "synth", "arm", "--size", "low", "--examples", os.path.join(folder, "ex"), "-q", "-o", posed)
    run(cutis, "fit", posed, "--poses", "examples", "--shapes", os.path.join(folder, "ex/examples.npy"), "-q", "-o", fitted)
    for name in "psd", "wpsd":
        method(fitted, name, 8, .10, "arm")
        method(fitted, name, 0, None, "arm, 8 morphs alone,", "--morphs", "8")
if "drivers" in wanted:
    def driven(model, name, helpers, goal, text, *more):
        out = os.path.join(folder, "driven.glb")
        told = json.loads(run(cutis, "bake", model, "--method", name, "--helpers", str(helpers), "--drivers", *more, "--json", "-o", out))
        d = told["unseen"]
        print(f'{text} {name} H = {helpers}, drivers: unseen poses {d["ratio"]:.3f} ({goal})' + ("" if "--morphs" in more else f', over free {d["rms"] / d["free_rms"]:.2f} (1.3)'), flush=True)
        for clip in told["clips"]:
            if not clip["held_out"]:
                continue
            frames = []
            for words in ([model, "--method", name], [model, "--method", "lbs"], [out, "--drivers", "all"]):
                run(cutis, "deform", words[0], "--clip", clip["name"], *words[1:], "-q", "-o", os.path.join(folder, "x.npy"))
                frames.append(np.load(os.path.join(folder, "x.npy")).astype(float))
            error = [np.sqrt(((f - frames[0]) ** 2).sum(2).mean()) for f in frames]
            print(f'  {clip["name"]} left out: {error[2] / error[1]:.3f}, free {clip["rms"] / clip["plain_rms"]:.3f}', flush=True)
    posed, fitted = os.path.join(folder, "posed.glb"), os.path.join(folder, "fitted.glb")
    run(cutis, "synth", "arm", "--size", "low", "--examples", os.path.join(folder, "ex"), "-q", "-o", posed)
    run(cutis, "fit", posed, "--poses", "examples", "--shapes", os.path.join(folder, "ex/examples.npy"), "-q", "-o", fitted)
    driven(arm, "dqs", 8, .10, "arm"), driven(arm, "dqs", 16, None, "arm"), driven(arm, "dqs", 8, .10, "arm", "--clips", "bend,raise")
    for name, goal in ("wpsd", .16), ("psd", None):
        driven(fitted, name, 8, goal, "arm"), driven(fitted, name, 0, None, "arm, 8 morph targets,", "--morphs", "8")
    driven(arm, "dqs", 4, None, "arm, 4 morph targets,", "--morphs", "4")
    driven(biped, "dqs", 32, .15, "biped"), driven(biped, "dqs", 32, .15, "biped", "--clips", "walk,walk_forward,bend,twist")
for name in "dqs", "sbs", "cor":
    if "biped" in wanted:
        method(biped, name, 16, .16, "biped"), method(biped, name, 32, .08, "biped")
def cage_motions(path):
    """A cage that bends by 80 degrees, then twists by 120, along its longest axis: 30 frames each."""
    v = np.array([[float(x) for x in line.split()[1:4]] for line in open(path) if line.startswith("v ")])
    centre = v.mean(0)
    axes = np.linalg.svd(v - centre, full_matrices=False)[2]
    along = (v - centre) @ axes[0]
    share = np.clip(along / (np.ptp(along) / 2) + .5, 0, 1)
    frames = []
    for axis, most in (axes[2], 80), (axes[0], 120):
        for step in np.linspace(0, 1, 30):
            a, q = np.radians(most) * step * share, v - centre
            frames.append(centre + np.cos(a)[:, None] * q + np.sin(a)[:, None] * np.cross(axis, q) + ((1 - np.cos(a)) * (q @ axis))[:, None] * axis)
    return np.array(frames, np.float32)


if "ways" in wanted:
    for label, model in ("arm", arm), ("biped", biped):
        held = os.path.join(folder, "held.glb")
        run(cutis, "handles", model, "--skeleton", "--weighting", "virtual", "-q", "-o", held)
        method(held, "handles-rigid", 16, .5, label)
        method(model, "patches", 16, .5, label)
    cages = os.path.join(data, "supercages/__DataExamples/Arm")
    caged, poses = os.path.join(folder, "caged.glb"), os.path.join(folder, "poses.npy")
    np.save(poses, cage_motions(os.path.join(cages, "arm_cage.obj")))
    run(cutis, "cage", os.path.join(cages, "arm.obj"), "--cage", os.path.join(cages, "arm_cage.obj"), "-q", "-o", caged)
    method(caged, "cage", 16, .5, "supercages' arm", "--cage-poses", poses)
if "large" in wanted:
    large = os.path.join(folder, "large.glb")
    run(cutis, "synth", "biped", "--vertices", "46036", "-q", "-o", large)
    method(large, "dqs", 16, None, "46036 vertices, 299 frames,", "--fps", "24")
