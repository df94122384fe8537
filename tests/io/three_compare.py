"""Compare `cutis deform --method lbs` with three.js on every clip of every animated model; see test_three.sh.
With models named after the script of three.js: on the last clip of those alone."""
import glob
import json
import os
import struct
import subprocess
import sys

import numpy

TOLERANCE = 1e-5  # of the diagonal of the first frame's bounding box
FRAMES = 5
BODIES = ['biped', 'quadruped', 'arm', 'cylinder']

cutis, assets, folder, three = sys.argv[1:5]
named = sys.argv[5:]


def document(path):
    raw = open(path, 'rb').read()
    if raw[:4] != b'glTF':
        return json.loads(raw)
    return json.loads(raw[20:20 + struct.unpack_from('<I', raw, 12)[0]])


def duration(gltf, animation):
    inputs = {s['input'] for s in animation['samplers']}
    return max(gltf['accessors'][i]['max'][0] for i in inputs)


def run(*arguments):
    done = subprocess.run([cutis, *arguments], capture_output=True, text=True)
    return None if done.returncode == 0 else (done.stderr.strip() or f'exit {done.returncode}')


def main():
    failures = 0
    models = []
    for path in sorted(glob.glob(os.path.join(assets, '*', '*', '*.gl*'))):
        if path.endswith(('.gltf', '.glb')):
            models.append(('/'.join(path.split('/')[-3:]), path))
    for path in named:
        models.append((os.path.basename(path), path))
    for body in [] if named else BODIES:
        full, limited = os.path.join(folder, body + '.glb'), os.path.join(folder, body + '4.glb')
        why = run('synth', body, '--size', 'low', '-o', full) if body != 'cylinder' else run('synth', body, '-o', full)
        why = why or run('convert', full, '--influences', '4', '-o', limited)
        if why:
            print(f'not ok three_{body}: {why}')
            failures += 1
        else:
            models.append(('synth ' + body, limited))

    jobs = []
    for name, path in models:
        gltf = document(path)
        for index, animation in enumerate(gltf.get('animations', [])):
            if named and index + 1 < len(gltf['animations']):
                continue
            # The last of the five times lies inside the clip: at its very end three.js may wrap around.
            fps = '%.6g' % ((FRAMES - 0.1) / max(duration(gltf, animation), 1e-3))
            jobs.append((name, path, str(index), fps, os.path.join(folder, f'{len(jobs)}.f32')))
    lines = ''.join('\t'.join((path, index, fps, str(FRAMES), out)) + '\n' for _, path, index, fps, out in jobs)
    done = subprocess.run(['node', three], input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        print('not ok three: three.js failed: ' + done.stderr.strip()[-300:].replace('\n', ' '))
        return 1

    worst = {}
    for name, path, index, fps, out in jobs:
        ours = out.replace('.f32', '.npy')
        why = run('deform', path, '--clip', index, '--method', 'lbs', '--fps', fps, '--frames', f'0:{FRAMES}', '-o', ours)
        if why is None:
            reference = numpy.fromfile(out, numpy.float32).reshape(FRAMES, -1, 3).astype(float)
            found = numpy.load(ours).astype(float)
            if found.shape != reference.shape:
                why = f'shape {found.shape}, three.js has {reference.shape}'
            else:
                diagonal = numpy.linalg.norm(reference[0].max(0) - reference[0].min(0))
                error = numpy.linalg.norm(found - reference, axis=2).max() / diagonal
                worst[name] = max(worst.get(name, 0), error)
                if not error <= TOLERANCE:
                    why = f'{error:.3g} of the diagonal'
        if why:
            print(f'not ok three_lbs {name} clip {index}: {why}')
            failures += 1
    for name, error in worst.items():
        if error <= TOLERANCE:
            print(f'ok three_lbs {name} ({error:.2g} of the diagonal)')
    return 1 if failures else 0


sys.exit(main())
