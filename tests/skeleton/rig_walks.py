#!/usr/bin/python3
"""Bare people of the family, in four rest poses, rigged and walking and running in one command (`cutis rig --motion`), judged by positions only
(retarget_eval.py). The trunk may lean by 15 degrees more than the motion's, not 10: its joints are found, not known.

    rig_walks.py CUTIS SHARED FOLDER FIRST COUNT
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
import retarget_eval as ev
from rest_bodies import Rig

LEAN = 15


def main():
    cutis, shared, folder, first, count = *sys.argv[1:4], int(sys.argv[4]), int(sys.argv[5])
    mocap = os.path.join(shared, 'data/cmu-mocap/data')
    files = {'walk': os.path.join(mocap, '002/02_01.bvh'), 'run': os.path.join(mocap, '009/09_01.bvh')}
    motions = {name: ev.Motion(file, skip=1) for name, file in files.items()}
    place = lambda name: os.path.join(folder, name)
    failed = judged = 0
    worst = {}
    for seed in range(first, first + count):
        body = ['synth', 'family', '--kind', 'human', '--seed', str(seed), '--vertices', '2500', '-q']
        subprocess.run([cutis, *body, '--pose', 't', '-o', place('standing.glb')], check=True)
        standing = Rig(place('standing.glb'))
        for pose in ('a', 't', 'sitting', 'bent'):
            subprocess.run([cutis, *body, '--pose', pose, '--unrigged', '-o', place('bare.glb')], check=True)
            for name, motion in motions.items():
                done = subprocess.run([cutis, 'rig', place('bare.glb'), '--motion', files[name], '-q', '-o', place('out.glb')], capture_output=True, text=True)
                judged += 1
                if done.returncode:
                    print(f'not ok {seed} {pose} {name}: {done.stderr.strip()}')
                    failed += 1
                    continue
                result = ev.judge(place('out.glb'), motion, ev.FAMILY, 'y', standing)
                bad = [f for f in ev.faults(result) if not (f.startswith('lean') and result['lean'] <= LEAN)]
                for key in ('lean', 'ground', 'sunk', 'slide', 'edge', 'jerk'):
                    worst[key] = max(worst.get(key, 0), result[key])
                if bad:
                    print(f'not ok {seed} {pose} {name}: {"; ".join(bad)}')
                    failed += 1
    print(f'{"not ok" if failed else "ok"} people rigged and walking: {failed} of {judged} failed, worst', ' '.join(f'{k} {v:.2f}' for k, v in worst.items()))
    sys.exit(1 if failed else 0)


main()
