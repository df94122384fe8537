"""Baking a sequence that stays in its file: the same bytes as of one in memory (float64, which is read whole), for .npy and .pc2, threads and
--memory. usage: bake_stream.py CUTIS FOLDER SIDE FRAMES MEMORY [LIMIT]: a sheet of SIDE x SIDE vertices; LIMIT: of address space, as a part
of the file's size.
"""
import filecmp
import os
import resource
import subprocess
import sys

import numpy as np

cutis, folder, side, frames, memory = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5]
limit = float(sys.argv[6]) if len(sys.argv) > 6 else None
path = lambda name: os.path.join(folder, name)
failed = []


def say(good, what, detail=""):
    print(("ok " if good else "not ok ") + what + (": " + detail if detail and not good else ""))
    failed.extend([] if good else [what])


u = np.linspace(0, 1, side)
rest = np.stack([np.tile(u, side), np.repeat(u, side), np.zeros(side * side)], 1)
with open(path("rest.obj"), "w") as file:
    file.writelines("v %.9g %.9g %.9g\n" % tuple(v) for v in rest)
    for a in (j * side + i + 1 for j in range(side - 1) for i in range(side - 1)):
        file.write("f %d %d %d %d\n" % (a, a + 1, a + side + 1, a + side))
some = np.lib.format.open_memmap(path("some.npy"), "w+", "<f4", (frames, side * side, 3))
whole = np.lib.format.open_memmap(path("whole.npy"), "w+", "<f8", (frames, side * side, 3))
for f in range(frames):  # it rolls up along x, more and less, and turns
    k, t = 2.5 * np.sin(f * .013) + 1e-3, .7 * np.sin(f * .0071)
    x, z = np.sin(k * rest[:, 0]) / k, (1 - np.cos(k * rest[:, 0])) / k
    some[f] = np.stack([x * np.cos(t) - rest[:, 1] * np.sin(t), x * np.sin(t) + rest[:, 1] * np.cos(t), z], 1)
    whole[f] = some[f]
some.flush(), whole.flush()
with open(path("some.pc2"), "wb") as file:
    file.write(b"POINTCACHE2\0" + np.array([1, side * side], "<i4").tobytes() + np.array([0, 1], "<f4").tobytes() +
               np.array([frames], "<i4").tobytes())
    file.write(some.tobytes() if limit is None else b"")


def bake(name, out, *more, space=None):
    def bound():
        if space:
            resource.setrlimit(resource.RLIMIT_AS, (space, space))
    return subprocess.run([cutis, "bake", path(name), "--rest", path("rest.obj"), "--bones", "3", "--memory", memory, "-q", "-o", path(out), *more],
                          capture_output=True, text=True, preexec_fn=bound)


space = int(limit * os.path.getsize(path("some.npy"))) if limit else None
say(bake("whole.npy", "whole.glb").returncode == 0, "an array in memory")
told = bake("some.npy", "some.glb", "--threads", "2", space=space)
say(told.returncode == 0, "an array that stays in its file" + (f", {space >> 20} MB for {space * 4 >> 20}" if limit else ""), told.stderr)
say(told.returncode == 0 and filecmp.cmp(path("some.glb"), path("whole.glb"), False), "the same bytes")
if limit is None:
    say(bake("some.pc2", "cache.glb", "--threads", "1").returncode == 0 and filecmp.cmp(path("cache.glb"), path("whole.glb"), False),
        "the same bytes from a point cache, by one thread")
    size = os.path.getsize(path("some.npy"))
    os.truncate(path("some.npy"), size - 5)
    told = bake("some.npy", "cut.glb")
    say(told.returncode == 1 and "some.npy" in told.stderr and told.stderr.count("\n") == 1, "a file that is cut off is one line", told.stderr)
    some = np.lib.format.open_memmap(path("bad.npy"), "w+", "<f4", (frames, side * side, 3))
    some[:] = np.load(path("whole.npy"))
    some[frames - 2, 7] = np.nan
    some.flush()
    told = bake("bad.npy", "bad.glb")
    say(told.returncode == 1 and f"frame {frames - 2}: vertex 7" in told.stderr, "what is not finite is named", told.stderr)
sys.exit(bool(failed))
