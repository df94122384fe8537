#!/usr/bin/python3
"""patches_stages.py CUTIS MODEL.glb POSE.json FOLDER: the stages of the paper's Figure 2 as stage_{rest,turned,removed,patched}.glb in FOLDER.

Rest and patched are what `cutis deform --method patches --band none` writes; removed is that without the patch; turned is the rest mesh, every part moved whole
(`--method rigid`).
"""
import json
import os
import struct
import subprocess
import sys


def without_patches(path, out):
    """Drop the triangles of patches: indices of a primitive are kept where its label is one of a part."""
    data = open(path, 'rb').read()
    size = struct.unpack_from('<I', data, 12)[0]
    doc, body = json.loads(data[20:20 + size]), bytearray(data[28 + size:])
    widths = {5121: ('B', 1), 5123: ('H', 2), 5125: ('I', 4)}

    def span(index):
        a = doc['accessors'][index]
        view = doc['bufferViews'][a['bufferView']]
        return a, view.get('byteOffset', 0) + a.get('byteOffset', 0), widths[a['componentType']]

    for mesh in doc['meshes']:
        parts = mesh['extensions']['CUTIS_parts']
        own = [not name.endswith(' patch') for name in parts['names']]
        for primitive, tag in zip(mesh['primitives'], parts['labels']):
            label, at, (code, width) = span(tag)
            labels = struct.unpack_from(f'<{label["count"]}{code}', body, at)
            index, at_index, (code_index, width_index) = span(primitive['indices'])
            old = struct.unpack_from(f'<{index["count"]}{code_index}', body, at_index)
            kept = [t for t in range(len(labels)) if own[labels[t]]]
            flat = [old[3 * t + k] for t in kept for k in range(3)]
            struct.pack_into(f'<{len(flat)}{code_index}', body, at_index, *flat)
            struct.pack_into(f'<{len(kept)}{code}', body, at, *[labels[t] for t in kept])
            index['count'], label['count'] = len(flat), len(kept)
            for one in (index, label):
                one.pop('min', None)
                one.pop('max', None)
    text = json.dumps(doc).encode()
    text += b' ' * (-len(text) % 4)
    with open(out, 'wb') as f:
        f.write(struct.pack('<III', 0x46546C67, 2, 28 + len(text) + len(body)) + struct.pack('<II', len(text), 0x4E4F534A) + text)
        f.write(struct.pack('<II', len(body), 0x004E4942) + body)


def main():
    cutis, model, pose, folder = sys.argv[1:]
    stage = lambda name: os.path.join(folder, f'stage_{name}.glb')
    deform = lambda name, *more: subprocess.run([cutis, 'deform', model, '-q', '--force', '-o', stage(name), *more], check=True)
    deform('rest', '--method', 'patches', '--band', 'none')
    deform('turned', '--method', 'rigid', '--pose', pose)
    deform('patched', '--method', 'patches', '--band', 'none', '--pose', pose)
    without_patches(stage('patched'), stage('removed'))


if __name__ == '__main__':
    main()
