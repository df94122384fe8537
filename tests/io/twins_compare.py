"""Skinned positions of compressed twins against their plain files; see test_twins.sh.

Each clip of each model at five times. Where the order of vertices stays, vertex by vertex; Draco's edgebreaker changes it, so there each
vertex of one has its nearest in the other, both ways. Prints one line a kind of twin with the worst distance, in diagonals."""
import glob
import json
import os
import struct
import subprocess
import sys

import numpy
from scipy.spatial import cKDTree

KINDS = {a.split('=')[0]: float(a.split('=')[1]) for a in sys.argv[3:]}  # KIND=TOLERANCE...: of the diagonal
FRAMES = 5
cutis, folder = sys.argv[1:3]


def document(path):
    raw = open(path, 'rb').read()
    return json.loads(raw[20:20 + struct.unpack_from('<I', raw, 12)[0]])


def frames(path, index, fps):
    out = os.path.join(folder, 'frames.npy')
    options = ['--clip', str(index), '--fps', fps] if index is not None else []
    done = subprocess.run([cutis, 'deform', path, '--method', 'lbs', *options, '-q', '-o', out], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f'exit {done.returncode}')
    return numpy.load(out)[:FRAMES].astype(float)


def distance(a, b):
    if a.shape == b.shape:
        straight = numpy.sqrt(((a - b) ** 2).sum(-1)).max()
        if straight < 1e-2:
            return straight
    near = 0
    for x, y in zip(a, b):
        near = max(near, cKDTree(x).query(y)[0].max(), cKDTree(y).query(x)[0].max())
    return near


failed = 0
worst = {kind: [0.0, '', 0] for kind in KINDS}
for plain in sorted(glob.glob(os.path.join(folder, '*.plain.glb'))):
    gltf = document(plain)
    name = os.path.basename(plain)[:-len('.plain.glb')]
    clips = []
    for index, animation in enumerate(gltf.get('animations', [])):
        length = max(gltf['accessors'][s['input']]['max'][0] for s in animation['samplers'])
        clips.append((index, '%.6g' % ((FRAMES - 0.1) / max(length, 1e-3))))
    for index, fps in clips[:3] or [(None, None)]:
        base = frames(plain, index, fps)
        diagonal = numpy.linalg.norm(base[0].max(0) - base[0].min(0))
        for kind in KINDS:
            twin = plain.replace('.plain.', f'.{kind}.')
            try:
                if not os.path.exists(twin):
                    raise RuntimeError('not made')
                found = distance(base / diagonal, frames(twin, index, fps) / diagonal)
            except RuntimeError as error:
                print(f'not ok twins_{kind}: {name}: {error}')
                failed = 1
                continue
            worst[kind][2] += 1
            if found >= worst[kind][0]:
                worst[kind][:2] = [found, name]
for kind, (found, name, count) in worst.items():
    good = count > 0 and found <= KINDS[kind]
    failed |= not good
    print(f'{"ok" if good else "not ok"} twins_{kind}: {count} clips, at most {found:.2g} of the diagonal ({name}), allowed {KINDS[kind]:g}')
sys.exit(failed)
