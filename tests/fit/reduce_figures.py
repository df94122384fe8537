#!/usr/bin/python3
"""Held-out errors of `cutis reduce` on real characters against k-largest, with the bounds of issue 5. Prints one line per
claim: "ok NAME: figures" or "not ok NAME: figures".
usage: reduce_figures.py CUTIS DATA FOLDER
"""
import json
import os
import subprocess
import sys

cutis, data, folder = sys.argv[1:4]
here = os.path.dirname(os.path.abspath(__file__))
MASK = (1 << 64) - 1


def mix(x):
    x ^= x >> 30
    x = x * 0xBF58476D1CE4E5B9 & MASK
    x ^= x >> 27
    x = x * 0x94D049BB133111EB & MASK
    return x ^ x >> 31


def random_bits(seed, stream, index):
    """The project's one generator (formats.md 4)."""
    x = mix((seed + 0x9E3779B97F4A7C15) & MASK)
    x = mix(((x ^ (stream * 0xD1342543DE82EF95 & MASK)) + 0x9E3779B97F4A7C15) & MASK)
    return mix(((x ^ (index * 0xDA942042E4DD58B5 & MASK)) + 0x9E3779B97F4A7C15) & MASK)


def run(*words):
    result = subprocess.run(words, capture_output=True, text=True)
    if result.returncode:
        print(f"not ok {words[1]}: {result.stderr.strip()}")
        sys.exit(1)
    return result.stdout


def reduce(model, *options):
    """(normal, position) of the chosen method over k-largest's, on held-out poses."""
    out = json.loads(run(cutis, "reduce", model, "--influences", "4", "--json", "-o", os.path.join(folder, "out.glb"), *options))
    rows = {row["method"]: row for row in out["methods"]}
    chosen, largest = out["methods"][0], rows["klargest"]
    assert chosen["influences"] <= 4
    return [chosen[key] / largest[key] for key in ("held_out_normal", "held_out_position")]


def claim(name, figures, good):
    text = ", ".join(f"{key} {value:.3f}" for key, value in figures.items())
    print(f"{'ok' if good else 'not ok'} {name}: {text} of k-largest's")


def splits(model, face):
    """7 of 17 poses to learn from, 10 to be judged by, for seeds 1, 2, 3; with face units the sets are disjoint."""
    names = [clip["name"] for clip in json.loads(run(cutis, "info", model, "--json"))["clips"]]
    if face:
        names = [name[:-1] for name in names if name.endswith("a")]
    for seed in (1, 2, 3):
        order = sorted(names, key=lambda name: random_bits(seed, 0, names.index(name)))
        yield ([name + ("a" if face else "") for name in order[:7]], [name + ("b" if face else "") for name in order[7:]])


def mean(values):
    return sum(values) / len(values)


def makehuman():
    model = os.path.join(folder, "makehuman.glb")
    print("#", run("/usr/bin/python3", os.path.join(here, "makehuman.py"), data, model).strip())
    ours, paper = [], []
    for learn, judge in splits(model, False):
        poses = ("--poses", ",".join(learn), "--held-out", ",".join(judge))
        ours.append(reduce(model, *poses))
        paper.append(reduce(model, *poses, "--energy", "laplace", "--sets", "largest"))
    normal, position = [r[0] for r in ours], [r[1] for r in ours]
    claim("makehuman_halves_the_normal_error_of_k_largest", {"normal": mean(normal), "worst": max(normal), "position": mean(position)},
          mean(normal) <= 0.5 and max(normal) <= 0.55 and mean(position) <= 0.7)
    claim("makehuman_beats_the_papers_energy", {"paper's normal": mean([r[0] for r in paper]), "paper's position": mean([r[1] for r in paper])},
          mean(normal) < 0.75 * mean([r[0] for r in paper]))
    run("/usr/bin/python3", os.path.join(here, "makehuman.py"), data, model, "--face", "1")
    faces = [reduce(model, "--poses", ",".join(learn), "--held-out", ",".join(judge)) for learn, judge in splits(model, True)]
    figures = {"normal": mean([r[0] for r in faces]), "position": mean([r[1] for r in faces])}
    claim("makehuman_with_unseen_face_units", figures, figures["normal"] <= 0.75 and figures["position"] <= 0.75)


def sample(name):
    source = os.path.join(data, f"gltf-sample-assets/{name}/glTF-Binary/{name}.glb")
    model = os.path.join(folder, name + ".glb")
    print("#", run("/usr/bin/python3", os.path.join(here, "smooth_weights.py"), source, model).strip())
    normal, position = reduce(model)
    claim(f"{name}_with_smooth_weights", {"normal": normal, "position": position}, normal <= 0.75 and position <= 1)


makehuman()
sample("CesiumMan")
sample("Fox")
