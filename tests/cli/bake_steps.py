# A glTF whose cubic tracks hold every eighth value until the next: bake_steps.py IN.gltf OUT.gltf
import json
import os
import sys

import numpy as np
d = json.load(open(sys.argv[1]))
folder = os.path.dirname(os.path.abspath(sys.argv[1]))
b = bytearray(open(os.path.join(folder, d['buffers'][0]['uri']), 'rb').read())
def add(b, d, array, kind):
    b += b'\0' * (-len(b) % 4)
    d['bufferViews'].append({'buffer': 0, 'byteOffset': len(b), 'byteLength': array.nbytes})
    d['accessors'].append({'bufferView': len(d['bufferViews']) - 1, 'componentType': 5126, 'count': len(array), 'type': kind})
    if kind == 'SCALAR':
        d['accessors'][-1].update(min=[float(array[0])], max=[float(array[-1])])
    b += array.tobytes()
    return len(d['accessors']) - 1


def values(b, d, index, width):
    accessor = d['accessors'][index]
    at = d['bufferViews'][accessor['bufferView']].get('byteOffset', 0) + accessor.get('byteOffset', 0)
    return np.frombuffer(bytes(b[at:at + 4 * width * accessor['count']]), '<f4')


for a in d['animations']:
    for s in a['samplers']:
        kind = d['accessors'][s['output']]['type']
        width = {'VEC3': 3, 'VEC4': 4}[kind]
        keys = values(b, d, s['output'], width).reshape(-1, 3, width)[::8, 1]
        s['input'] = add(b, d, values(b, d, s['input'], 1)[::8], 'SCALAR')
        s['output'] = add(b, d, keys, kind)
        s['interpolation'] = 'STEP'
d['buffers'][0]['byteLength'] = len(b)
name = os.path.basename(sys.argv[2])[:-5] + '.bin'
d['buffers'][0]['uri'] = name
out = os.path.dirname(os.path.abspath(sys.argv[2]))
open(os.path.join(out, name), 'wb').write(b)
json.dump(d, open(sys.argv[2], 'w'))
