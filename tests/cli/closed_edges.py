"""Is every frame closed? closed_edges.py FILE.obj... prints the frames whose edges are not each in exactly two triangles that
run along it in opposite directions, with how many such edges; from the faces of the files alone."""
import sys

import numpy as np

wrong = {}
for path in sys.argv[1:]:
    faces = np.array([[int(c.split("/")[0]) for c in line.split()[1:]] for line in open(path) if line.startswith("f ")])
    edges = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]]).astype(np.int64)
    size = faces.max() + 1
    along, count = np.unique(edges[:, 0] * size + edges[:, 1], return_counts=True)
    against = np.unique(edges[:, 1] * size + edges[:, 0])
    bad = (count != 1).sum() + len(np.setxor1d(along, against))
    if bad:
        wrong[path.rsplit("/", 1)[-1]] = int(bad)
print(wrong)
