"""Retargeted walks measured from their files: BVH and glTF are read and posed here, in double, without Cutis. See
test_retarget_walk.sh. Prints `ok`, `not ok` and `skip` lines.
usage: retarget_check.py CUTIS SHARED FOLDER"""
import json
import os
import struct
import subprocess
import sys

import numpy as np

sys.dont_write_bytecode = True
from bvh import Bvh

cutis, shared, folder = sys.argv[1:4]
here = os.path.dirname(os.path.abspath(__file__))
WALK = os.path.join(shared, 'data/cmu-mocap/data/002/02_01.bvh')
failures = 0


def say(good, name, why):
    global failures
    print(f'ok {name} ({why})' if good else f'not ok {name}: {why}')
    failures += not good


def run(*arguments):
    done = subprocess.run([cutis, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip() or f'exit {done.returncode}')
    return done.stdout


# Files ------------------------------------------------------------------------------------------

def quaternion_matrix(q):
    x, y, z, w = q / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


class Glb:
    """The nodes of a GLB at the keys of its last clip: places [frames, nodes, 3]; bind places of joints"""

    def __init__(self, path, posed=True):
        raw = open(path, 'rb').read()
        length = struct.unpack_from('<I', raw, 12)[0]
        self.json = json.loads(raw[20:20 + length])
        self.bin = raw[28 + length:]
        nodes = self.json['nodes']
        self.names = [n.get('name', '') for n in nodes]
        self.parents = [-1] * len(nodes)
        for i, n in enumerate(nodes):
            for c in n.get('children', []):
                self.parents[c] = i
        self.order = sorted(range(len(nodes)), key=self.depth)
        if not posed:
            return
        keys = {}
        animation = self.json['animations'][-1]
        self.clip = animation.get('name')
        for channel in animation['channels']:
            sampler = animation['samplers'][channel['sampler']]
            times = self.accessor(sampler['input'])
            if len(times) > 1:
                self.times = times
            keys[channel['target']['node'], channel['target']['path']] = self.accessor(sampler['output'])
        self.places = np.array([self.pose(keys, f) for f in range(len(self.times))])

    def depth(self, node):
        return 0 if self.parents[node] < 0 else 1 + self.depth(self.parents[node])

    def accessor(self, index):
        a = self.json['accessors'][index]
        view = self.json['bufferViews'][a['bufferView']]
        width = {'SCALAR': 1, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}[a['type']]
        values = np.frombuffer(self.bin, np.float32, a['count'] * width, view.get('byteOffset', 0) + a.get('byteOffset', 0))
        return values.reshape(a['count'], -1).astype(float).squeeze()

    def pose(self, keys, frame):
        world = [None] * len(self.names)
        for n in self.order:
            node, m = self.json['nodes'][n], np.eye(4)
            if 'matrix' in node and (n, 'rotation') not in keys:
                m = np.array(node['matrix']).reshape(4, 4).T
            else:
                def value(path, rest):
                    v = keys.get((n, path))
                    return np.array(node.get(path, rest)) if v is None else v[frame] if v.ndim > 1 else v
                m[:3, :3] = quaternion_matrix(value('rotation', [0, 0, 0, 1])) * value('scale', [1, 1, 1])
                m[:3, 3] = value('translation', [0, 0, 0])
            world[n] = m if self.parents[n] < 0 else world[self.parents[n]] @ m
        return np.array([w[:3, 3] for w in world])

    def height(self):
        low = np.array([self.json['accessors'][p['attributes']['POSITION']]['min'] for m in self.json['meshes'] for p in m['primitives']])
        high = np.array([self.json['accessors'][p['attributes']['POSITION']]['max'] for m in self.json['meshes'] for p in m['primitives']])
        return (high.max(0) - low.min(0)).max()

    def rename(self, path):
        """The same file with nameless joints."""
        nodes = self.json['nodes']
        for i, n in enumerate(nodes):
            n['name'] = f'n{i}' + ('_end' if n.get('name', '').endswith('_end') else '')
        text = json.dumps(self.json).encode()
        text += b' ' * (-len(text) % 4)
        with open(path, 'wb') as out:
            out.write(struct.pack('<4sIIII', b'glTF', 2, 28 + len(text) + len(self.bin), len(text), 0x4e4f534a))
            out.write(text + struct.pack('<II', len(self.bin), 0x004e4942) + self.bin)


# Measures ---------------------------------------------------------------------------------------

SOURCE = {'thigh': 'UpLeg', 'shin': 'Leg', 'foot': 'Foot', 'upperarm': 'Arm', 'hand': 'Hand'}


def stances(path, step, leg):
    span = max(1, round(1 / 60 / step))
    n = len(path)
    standing = []
    for f in range(n):
        a, b = max(0, f - span), min(n - 1, f + span)
        standing.append(np.linalg.norm(path[b] - path[a]) / ((b - a) * step) < 0.15 * leg)
    found, f = [], 0
    while f < n:
        last = f
        while last < n and standing[last]:
            last += 1
        if (last - f - 1) * step >= 0.1:
            found.append((f, last))
        f = last + 1
    return found


def length(path):
    return np.linalg.norm(np.diff(path, axis=0), axis=1).sum()


def leg(places, j):
    return np.mean([np.linalg.norm(places[0, j['shin' + k]] - places[0, j['thigh' + k]]) +
                    np.linalg.norm(places[0, j['foot' + k]] - places[0, j['shin' + k]]) for k in ('_l', '_r')])


def source_joints(source):
    return {role + side: source.names.index(long + word) for role, word in SOURCE.items() for side, long in (('_l', 'Left'), ('_r', 'Right'))}


def ankle_gaps(t, joints, motion, s, height):
    """Paths of both ankles, ours and the scaled source's, and how far apart they are in heights."""
    scale = leg(t, joints) / leg(motion, s)
    feet = [(t[:, joints['foot' + k]], scale * motion[:, s['foot' + k]]) for k in ('_l', '_r')]
    lift = np.median(np.concatenate([(a - b)[:, 1] for a, b in feet]))
    return feet, np.concatenate([np.linalg.norm(a - b - [0, lift, 0], axis=1) / height for a, b in feet])


def check(name, target, joints, source, height):
    """joints: role and side to node of the target."""
    s = source_joints(source)
    motion = source.places[1:]  # the first frame is the T-pose
    t = target.places
    if len(t) != len(motion):
        return say(False, f'{name} frames', f'{len(t)} where {len(motion)} are wanted')
    slide, slide_source, angles = 0, 0, []
    feet, gaps = ankle_gaps(t, joints, motion, s, height)
    for ours, theirs in feet:
        for first, last in stances(theirs, source.step, leg(t, joints)):
            slide += length(ours[first:last])
            slide_source += length(theirs[first:last])
    for k in ('_l', '_r'):
        a = t[:, joints['hand' + k]] - t[:, joints['upperarm' + k]]
        b = motion[:, s['hand' + k]] - motion[:, s['upperarm' + k]]
        angles += list(np.degrees(np.arccos(np.clip((a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1), -1, 1))))
    say(max(gaps) <= 0.02, f'{name}: ankles within 2 % of the height of the scaled source path', f'{100 * max(gaps):.2f} %, mean {100 * np.mean(gaps):.2f} %')
    say(slide_source > 0 and slide <= 1.3 * slide_source, f'{name}: stance slide at most 1.3 times the source', f'{slide / slide_source:.3f} times')
    say(max(angles) <= 12, f'{name}: shoulder-to-hand direction within 12 degrees', f'{max(angles):.1f}, mean {np.mean(angles):.1f}')


def named_joints(target, words):
    return {role + side: target.names.index(word.format(*sides)) for role, word in words.items()
            for side, sides in (('_l', ('l', 'L', 'Left')), ('_r', ('r', 'R', 'Right')))}


def other(name, model, words, motion, most=2):
    """Ankles only: another motion of the same collection. Where a foot would slide by more than 0.15 % of the height for it, the path gives way."""
    path = os.path.join(shared, 'data/cmu-mocap/data', motion[:3], motion[1:] + '.bvh')
    out = os.path.join(folder, 'other.glb')
    run('retarget', model, '--motion', path, '-o', out)
    target, file = Glb(out), Bvh(path)
    gaps = ankle_gaps(target.places, named_joints(target, words), file.places[1:], source_joints(file), target.height())[1]
    say(max(gaps) <= most / 100, f'{name}, {motion[1:]}: ankles within {most} % of the height of the scaled source path', f'{100 * max(gaps):.2f} %, mean {100 * np.mean(gaps):.2f} %')


def walk(name, model, words, **options):
    out = os.path.join(folder, name.replace(' ', '_') + '_walk.glb')
    report = json.loads(run('retarget', model, '--motion', WALK, '--json', '-o', out, *options.get('more', [])))
    target = Glb(out)
    joints = named_joints(target, words)
    check(name, target, joints, source, target.height())
    if 'by' in options:
        say(report['model_by'] == options['by'], f'{name}: joints found by {options["by"]}', report['model_by'])
    return report, target, joints


BIPED = {r: r + '_{0}' for r in SOURCE}
MAKEHUMAN = {'thigh': 'upperleg01.{1}', 'shin': 'lowerleg01.{1}', 'foot': 'foot.{1}', 'upperarm': 'upperarm01.{1}', 'hand': 'wrist.{1}'}


def nameless(name, model, words):
    """The same body without names: found by topology, and as good."""
    bare = os.path.join(folder, 'bare.glb')
    file = Glb(model, posed=False)
    indices = {role + side: file.names.index(word.format(*sides)) for role, word in words.items()
               for side, sides in (('_l', ('l', 'L', 'Left')), ('_r', ('r', 'R', 'Right')))}
    file.rename(bare)
    out = os.path.join(folder, 'bare_walk.glb')
    report = json.loads(run('retarget', bare, '--motion', WALK, '--json', '-o', out))
    say(report['model_by'] == 'topology', f'{name}: joints found by topology', report['model_by'])
    target = Glb(out)
    renamed = {key: target.names.index(f'n{i}') for key, i in indices.items()}
    check(name, target, renamed, source, target.height())


source = Bvh(WALK)
biped = os.path.join(folder, 'biped.glb')
run('synth', 'biped', '--size', 'low', '-o', biped)
walk('biped', biped, BIPED, by='names')
nameless('nameless biped', biped, BIPED)
other('biped', biped, BIPED, '005_01')

human = os.path.join(folder, 'human.glb')
done = subprocess.run([sys.executable, os.path.join(here, '../fit/makehuman.py'), os.path.join(shared, 'data'), human],
                      capture_output=True, text=True)
if done.returncode:
    say(False, 'makehuman', done.stderr.strip()[-200:])
else:
    walk('MakeHuman', human, MAKEHUMAN, by='names')
    for motion in ('005_01', '009_01', '016_35'):  # a walk with wide steps, two runs
        other('MakeHuman', human, MAKEHUMAN, motion)

extracted = os.path.join(folder, 'extracted.glb')
try:
    run('skeleton', biped, '--parts', 'joints', '-o', extracted)
except RuntimeError as why:
    print(f'skip extracted skeleton: {str(why)[:120]}')
else:
    walk('extracted skeleton', extracted, BIPED)
    nameless('nameless extracted skeleton', extracted, BIPED)
    other('extracted skeleton', extracted, BIPED, '005_01', 3)
sys.exit(1 if failures else 0)
