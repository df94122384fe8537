"""Is a binary STL one closed shell that looks outwards? shell_check.py FILE.stl prints the edges that are not in exactly two triangles
running along them in opposite directions, the pieces, and the volume; corners are one where their bytes are, and nothing else of Cutis is used."""
import sys

import numpy as np

data = open(sys.argv[1], "rb").read()
count = int.from_bytes(data[80:84], "little")
rows = np.frombuffer(data, np.dtype([("normal", "<f4", 3), ("corner", "<f4", (3, 3)), ("extra", "<u2")]), count, 84)
corners = rows["corner"].reshape(-1, 3)
_, weld = np.unique(np.ascontiguousarray(corners).view("V12").reshape(-1), return_inverse=True)
faces = weld.reshape(-1, 3).astype(np.int64)
edges = np.concatenate([faces[:, (0, 1)], faces[:, (1, 2)], faces[:, (2, 0)]])
size = faces.max() + 1
along, times = np.unique(edges[:, 0] * size + edges[:, 1], return_counts=True)
bad = (times != 1).sum() + len(np.setxor1d(along, np.unique(edges[:, 1] * size + edges[:, 0])))
label = np.arange(size)
while True:  # the least number around, until nothing changes
    least = label.copy()
    np.minimum.at(least, edges[:, 0], label[edges[:, 1]])
    least = least[least]
    if (least == label).all():
        break
    label = least
x = corners.astype(float).reshape(-1, 3, 3)
print(int(bad), len(np.unique(label)), repr(float(np.einsum("ij,ij->", x[:, 0], np.cross(x[:, 1], x[:, 2])) / 6)))
