#!/usr/bin/python3
"""Is `cutis reduce` anywhere worse than k-largest? Every rig of the shared data and of `cutis synth`, K = 1 to 4, with clips and
without, judged on poses that were not learned from by judge_unseen.py. A line per run: model, K, what was learned from, ratios to
k-largest (normals and positions; on random poses, on odd frames of the clips). Fails where one is above 1.02 (k-largest's own weights
have exactly 1).
With --rigged S in their place: bare bodies of all kinds, seeds S and on, that `cutis rig` gave joints and many influences, people and
quadrupeds with motions.
usage: sweep_unseen.py CUTIS SHARED_DATA|- FOLDER [--only NAME,...] [--counts 1,2,3,4] [--seed S] [--poses N] [--rigged S]
"""
import argparse
import os
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import judge_unseen  # noqa: E402

WORSE = 1.02
KINDS = ("human", "quadruped", "bird", "octopus", "insect", "bear", "hand", "fish")


def made(cutis, folder):
    """Rigs by code: bodies with clips, a family without, automatic weights (many influences)."""
    rows = {"biped": ["synth", "biped", "--vertices", "3000"], "quadruped": ["synth", "quadruped", "--vertices", "3000"],
            "arm": ["synth", "arm", "--size", "low"]}
    rows.update({f"family-{kind}": ["synth", "family", "--kind", kind, "--seed", "7", "--vertices", "4000"] for kind in KINDS})
    for name, words in rows.items():
        yield name, words
    yield "bound", ["handles", os.path.join(folder, "biped.glb"), "--skeleton", "--influences", "12", "--largest"]


def rigged(cutis, folder, seed):
    for i, kind in enumerate(KINDS):
        bare, moves = (os.path.join(folder, name + ".glb") for name in (f"bare-{kind}-{seed + i}", f"moves-{kind}"))
        words = ["rig", bare, "--kind", kind, "--influences", "12", "--largest"]
        if not os.path.exists(bare):
            subprocess.run([cutis, "synth", "family", "--kind", kind, "--seed", str(seed + i), "--vertices", "4000", "--unrigged", "-q",
                            "-o", bare], check=True)
        if kind in ("human", "quadruped"):
            if not os.path.exists(moves):
                subprocess.run([cutis, "synth", "biped" if kind == "human" else kind, "--motions", "-q", "-o", moves], check=True)
            words += ["--motion", moves]
        yield f"rigged-{kind}-{seed + i}", words


def found(data):
    sample = os.path.join(data, "gltf-sample-assets")
    for name in ("CesiumMan", "Fox", "RiggedFigure", "RiggedSimple"):
        yield name, os.path.join(sample, name, "glTF-Binary", name + ".glb")
    yield "Barbarian", os.path.join(data, "kaykit", "Barbarian.glb")
    for name in ("greenman", "robot"):
        yield name, os.path.join(data, "raylib/examples/models/resources/models/gltf", name + ".glb")
    for name in ("paladin", "skeleton", "cally"):
        yield name, os.path.join(data, "cal3d", "data", name, name + ".cfg")


def models(cutis, data, folder, only, rigs):
    """(name, path of a GLB), made or brought into that form."""
    def run(words, path):
        if not os.path.exists(path):
            subprocess.run([cutis, *words, "-q", "-o", path], check=True)
        return path
    if rigs is not None:
        for name, words in rigged(cutis, folder, rigs):
            if only is None or name in only:
                yield name, run(words, os.path.join(folder, name + ".glb"))
        return
    for name, words in made(cutis, folder):
        if only is None or name in only:
            yield name, run(words, os.path.join(folder, name + ".glb"))
    for name, path in found(data) if data != "-" else ():
        if only is None or name in only:
            yield name, run(["convert", path], os.path.join(folder, name + ".glb"))
    if data != "-" and (only is None or "makehuman" in only):
        path = os.path.join(folder, "makehuman.glb")
        if not os.path.exists(path):
            here = os.path.dirname(os.path.abspath(__file__))
            subprocess.run([sys.executable, os.path.join(here, "makehuman.py"), data, path], check=True, stdout=subprocess.DEVNULL)
        yield "makehuman", path


def judged(path, after, count, options, poses, clips):
    """Small meshes have few vertices to average over: more poses."""
    vertices = sum(len(p.positions) for p in judge_unseen.Body([judge_unseen.Part(f, m, s) for f in [judge_unseen.File(path)]
                                                                 for m, s in f.skinned()]).parts)
    result = judge_unseen.compare(path, after, count, random=max(poses, min(2000, 250000 // vertices)), seed=options.seed,
                                  clips="odd" if clips else None)
    # Where nothing had to go, what is left is the file's rounding of weights: as good as k-largest.
    sizes = {"normal": ("radians", 1e-6), "position": ("percent", 1e-5)}
    return {f"{kind} {measure}": result[kind][measure] if result[kind][sizes[measure][0]] > sizes[measure][1] else 1.0
            for kind in result for measure in sizes if result[kind]["poses"]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("cutis"), parser.add_argument("data"), parser.add_argument("folder")
    parser.add_argument("--only", type=lambda s: s.split(",")), parser.add_argument("--counts", default="1,2,3,4")
    parser.add_argument("--seed", type=int, default=4000), parser.add_argument("--poses", type=int, default=96)
    parser.add_argument("--rigged", type=int)
    options = parser.parse_args()
    os.makedirs(options.folder, exist_ok=True)
    runs = bad = 0
    for name, path in models(options.cutis, options.data, options.folder, options.only, options.rigged):
        has_clips = bool(judge_unseen.File(path).json.get("animations"))
        for count in map(int, options.counts.split(",")):
            for learned in ("default", "auto") if has_clips else ("auto",):
                after = os.path.join(options.folder, "after.glb")
                subprocess.run([options.cutis, "reduce", path, "--influences", str(count), "-q", "-o", after] +
                               (["--poses", "auto"] if learned == "auto" else []), check=True, stderr=subprocess.DEVNULL)
                ratios = judged(path, after, count, options, options.poses, learned == "default")
                worst = max(ratios.values())
                runs, bad = runs + 1, bad + (worst > WORSE)
                print(f"{'ok' if worst <= WORSE else 'not ok'} {name} {count} {learned}: " +
                      ", ".join(f"{k} {v:.3f}" for k, v in ratios.items()), flush=True)
    print(f"# {runs} runs, {bad} worse than k-largest by more than {WORSE - 1:.0%}", flush=True)
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
