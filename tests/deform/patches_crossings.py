#!/usr/bin/python3
"""Crossing triangles (exact: own_crossings and posed_crossings of `cutis deform --json`, self_intersections of `cutis measure`) of patches and of LBS in the same frames of a clip.

    patches_crossings.py CUTIS MODEL.glb CLIP [--twin WEIGHTED.glb] [--frames N] [--json FILE]

N frames spread evenly over the clip (default 12). A twin is the same body with the same clip and smooth weights, for LBS, where MODEL's are rigid.
Prints crossings frame by frame (own: at joints, the others are the pose's), in how many frames patches have no more than LBS, the largest ratio,
and how many frames have none of their own.
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
    parser.add_argument('--json')
    given = parser.parse_args()
    clips = asked([given.cutis, 'info', given.model, '--json'])['clips']
    seconds = next(c['duration'] for c in clips if c['name'] == given.clip)
    last = int(seconds * 30)
    wanted = sorted({last * (2 * k + 1) // (2 * given.frames) for k in range(given.frames)})
    patches, own, lbs = [], [], []
    with tempfile.TemporaryDirectory() as folder:
        mesh = os.path.join(folder, 'frame.obj')
        for frame in wanted:
            one = ['--clip', given.clip, '--frames', str(frame), '--json', '--force', '-o', mesh]
            facts = asked([given.cutis, 'deform', given.model, '--method', 'patches'] + one)
            patches.append(facts['own_crossings'] + facts['posed_crossings'])  # of the frame; what is written is cut along them
            own.append(facts['own_crossings'])
            asked([given.cutis, 'deform', given.twin or given.model, '--method', 'lbs'] + one)
            lbs.append(asked([given.cutis, 'measure', mesh, '--json'])['self_intersections'])
    found = {'patches': patches, 'own': own, 'lbs': lbs, 'frames': len(wanted), 'no_more': sum(p <= q for p, q in zip(patches, lbs)),
             'ratio': max((p / q if q else float('inf') if p else 1.0) for p, q in zip(patches, lbs)), 'own_none': sum(o == 0 for o in own)}
    for name in ('patches', 'own', 'lbs'):
        print(f'{given.clip}: {name:7} {" ".join(map(str, found[name]))}')
    print(f'{given.clip}: no more than LBS in {found["no_more"]} of {len(wanted)} frames, at most {found["ratio"]:.2f} times; none of its own in {found["own_none"]}')
    if given.json:
        with open(given.json, 'w') as f:
            json.dump(found, f)


if __name__ == '__main__':
    main()
