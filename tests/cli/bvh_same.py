#!/usr/bin/python3
"""Do two BVH files move the joints they both have along the same paths? Read and posed by the reader of the skeleton tests.
usage: bvh_same.py A B TOLERANCE   (of the size of the body)"""
import os
import sys

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '../skeleton'))
from bvh import Bvh

a, b = Bvh(sys.argv[1]), Bvh(sys.argv[2])
both = [n for n in a.names if n in b.names]
assert len(both) >= 7, both
assert len(a.places) == len(b.places), (len(a.places), len(b.places))
assert abs(a.step - b.step) < 1e-5 * a.step, (a.step, b.step)
x, y = (m.places[:, [m.names.index(n) for n in both]] for m in (a, b))
size = np.linalg.norm(x[0].max(0) - x[0].min(0))
error = np.linalg.norm(x - y, axis=2).max() / size
assert error <= float(sys.argv[3]), f'{error:.3g} of the body'
