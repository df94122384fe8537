"""The error that `convert --compress --json` states against positions that gltf-transform read; see test_twins.sh. Meshopt's is the
greatest there is; Draco's a bound, and the order of vertices may be another."""
import glob
import json
import os
import struct
import sys

import numpy
from scipy.spatial import cKDTree

folder = sys.argv[1]


def positions(path):
    """Of every primitive, from a GLB without compression."""
    raw = open(path, 'rb').read()
    size = struct.unpack_from('<I', raw, 12)[0]
    gltf, data = json.loads(raw[20:20 + size]), raw[28 + size:]
    for mesh in gltf['meshes']:
        for part in mesh['primitives']:
            accessor = gltf['accessors'][part['attributes']['POSITION']]
            view = gltf['bufferViews'][accessor['bufferView']]
            start = view.get('byteOffset', 0) + accessor.get('byteOffset', 0)
            floats = view.get('byteStride', 12) // 4
            end = start + 4 * (floats * (accessor['count'] - 1) + 3)
            flat = numpy.frombuffer(data[start:end], '<f4').astype(float)
            flat = numpy.append(flat, numpy.zeros(floats - 3))
            yield flat.reshape(-1, floats)[:, :3]


failed = 0
for how in 'meshopt', 'draco':
    count, worst = 0, 0.0
    for stated in sorted(glob.glob(os.path.join(folder, f'*.our_{how}.json'))):
        name = stated[:-len(f'.our_{how}.json')]
        said = json.load(open(stated)).get('compression')
        if not said or not os.path.exists(f'{name}.our_{how}_read.glb'):
            continue
        found = 0.0
        for a, b in zip(positions(name + '.plain.glb'), positions(f'{name}.our_{how}_read.glb')):
            if how == 'meshopt':
                found = max(found, numpy.sqrt(((a - b) ** 2).sum(-1)).max())
            else:
                found = max(found, cKDTree(a).query(b)[0].max())
        limit = said['position_error']
        good = found <= limit * 1.0001 and (how == 'draco' or said['bytes_after'] >= said['bytes_before'] or found >= limit * 0.3)
        if not good:
            print(f'not ok twins_error_{how}: {os.path.basename(name)}: states {limit:g}, found {found:g}')
            failed = 1
        worst = max(worst, found / limit if limit else 0)
        count += 1
    good = count > 0
    failed |= not good
    print(f'{"ok" if good else "not ok"} twins_error_{how}: {count} files, found at most {worst:.3f} of what is stated')
sys.exit(failed)
