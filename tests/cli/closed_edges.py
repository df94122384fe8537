"""Is every frame closed? closed_edges.py [--weld] FILE.obj... prints the frames whose edges are not each in exactly two triangles that
run along it in opposite directions, with how many such edges; from the faces of the files alone. --weld: corners are one where their
coordinates are, and triangles that lose a corner by that are none, as programs for printing read a file."""
import sys

import numpy as np

wrong = {}
welded = sys.argv[1] == "--weld"
for path in sys.argv[1 + welded :]:
    faces = np.array([[int(c.split("/")[0]) for c in line.split()[1:]] for line in open(path) if line.startswith("f ")])
    if welded:
        places = [line for line in open(path) if line.startswith("v ")]
        faces = np.unique(places, return_inverse=True)[1][faces - 1]
        faces = faces[(faces != np.roll(faces, 1, axis=1)).all(axis=1)]
    edges = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]).astype(np.int64)
    size = faces.max() + 1
    along, count = np.unique(edges[:, 0] * size + edges[:, 1], return_counts=True)
    against = np.unique(edges[:, 1] * size + edges[:, 0])
    bad = (count != 1).sum() + len(np.setxor1d(along, against))
    if bad:
        wrong[path.rsplit("/", 1)[-1]] = int(bad)
print(wrong)
