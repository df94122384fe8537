#!/usr/bin/python3
"""Crossing triangles (`cutis measure`: self_intersections, exact) of patches and of LBS in the same frames of a clip.

    patches_crossings.py CUTIS MODEL.glb CLIP [--twin WEIGHTED.glb] [--frames N]

N frames spread evenly over the clip (default 12). A twin is the same body with the same clip and smooth weights, for LBS, where MODEL's are rigid.
Prints crossings frame by frame, in how many frames patches have no more than LBS, and the largest ratio.
"""
import argparse
import json
import os
import subprocess
import tempfile


def asked(command):
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('cutis')
    parser.add_argument('model')
    parser.add_argument('clip')
    parser.add_argument('--twin')
    parser.add_argument('--frames', type=int, default=12)
    given = parser.parse_args()
    clips = asked([given.cutis, 'info', given.model, '--json'])['clips']
    seconds = next(c['duration'] for c in clips if c['name'] == given.clip)
    last = int(seconds * 30)
    wanted = sorted({last * (2 * k + 1) // (2 * given.frames) for k in range(given.frames)})
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        mesh = os.path.join(folder, 'frame.obj')
        for frame in wanted:
            row = []
            for model, method in ((given.model, 'patches'), (given.twin or given.model, 'lbs')):
                subprocess.run([given.cutis, 'deform', model, '--clip', given.clip, '--frames', str(frame), '--method', method, '-q', '--force', '-o', mesh],
                               check=True)
                row.append(asked([given.cutis, 'measure', mesh, '--json'])['self_intersections'])
            rows.append(row)
    patches, lbs = [r[0] for r in rows], [r[1] for r in rows]
    no_more = sum(p <= q for p, q in rows)
    ratio = max((p / q if q else float('inf') if p else 1.0) for p, q in rows)
    print(f'{given.clip}: patches {" ".join(map(str, patches))}')
    print(f'{given.clip}: lbs     {" ".join(map(str, lbs))}')
    print(f'{given.clip}: no more than LBS in {no_more} of {len(rows)} frames, at most {ratio:.2f} times')


if __name__ == '__main__':
    main()
