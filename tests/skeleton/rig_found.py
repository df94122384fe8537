#!/usr/bin/python3
"""Kinds of animals and people of a game, which nobody here drew or was tuned to: 0 A.D.'s meshes, from Debian's 0ad-data.

    apt-get download 0ad-data; dpkg-deb --fsys-tarfile 0ad-data_*.deb | tar -x --wildcards '*public.zip'
    rig_found.py CUTIS public.zip FOLDER

Every mesh as bare triangles, nothing told. People of this game wear their heads apart: they are not asked for. Prints what was
taken for something else, and how many were right; fails below 85 of 100."""
import json
import os
import struct
import subprocess
import sys
import zipfile

import numpy as np

KINDS = {
    "quadruped": """Croc animal_boar animal_lion animal_lioness auroch_a auroch_b bear bear_polar bull_a camel camel_1 cattle_female_a
        cattle_male_a deer_mesh donkey elephant elephant_african_baby elephant_african_bush elephant_african_forest elephant_asian_male
        fauna_hippopotamus fox giraffe_adult giraffe_infant goat goat_male horse horse_breed mastiff mastiff_no_spikes muskox pig
        animal_piglet pony rabbit_01 rhino sanga_cattle_a sanga_cattle_b sheep tiger wildebeest_adult wildebeest_juvenile wolf wolfhound
        zebra zebu""",
    "bird": "chicken crow hawk peacock seagull",
    "fish": "animal_tuna fish fish_single shark whale whale_fin"}


def bare(data, path):
    """A PMD file's vertices, welded where they coincide, and triangles."""
    version, _, count = struct.unpack_from("<III", data, 4)
    at, coordinates = 16, 1
    if version >= 4:
        coordinates, at = struct.unpack_from("<I", data, at)[0], 20
    stride = 44 + 8 * coordinates
    rows = np.frombuffer(data, np.uint8, count * stride, at).reshape(count, stride)
    points = rows[:, :12].copy().view("<f4")
    at += count * stride
    faces = np.frombuffer(data, "<u2", 3 * struct.unpack_from("<I", data, at)[0], at + 4).reshape(-1, 3)
    points, onto = np.unique(points.round(5), axis=0, return_inverse=True)
    faces = onto.reshape(-1)[faces]
    with open(path, "w") as out:
        out.writelines("v %g %g %g\n" % tuple(p) for p in points)
        out.writelines("f %d %d %d\n" % tuple(f + 1) for f in faces if len(set(f)) == 3)


def main():
    cutis, archive, folder = sys.argv[1:]
    right = total = 0
    with zipfile.ZipFile(archive) as files:
        for kind, names in KINDS.items():
            for name in names.split():
                path = os.path.join(folder, name + ".obj")
                bare(files.read(f"art/meshes/skeletal/{name}.dae.cached.pmd"), path)
                run = subprocess.run([cutis, "rig", path, "--keep", "--json", "--largest", "-o", path + ".glb"], capture_output=True,
                                     text=True)
                report = json.loads(run.stdout) if run.stdout else {"kind": "nothing: " + run.stderr.strip(), "deviation": 0}
                total += 1
                right += report["kind"] == kind
                if report["kind"] != kind:
                    print(f"{name}, a {kind}, was taken for {report['kind']} ({report['deviation']:.2f})")
    print(f"{right} of {total} right")
    sys.exit(0 if right >= 0.85 * total else 1)


main()
