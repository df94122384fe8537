#!/usr/bin/python3
"""What a person says of a body, against the truth of `cutis synth family`: rig_hints.py CUTIS FOLDER

- strokes along the true legs of a beast that is taken for something else make it a beast, with its legs where they are; a stroke that says
  `body` takes a limb away; strokes beside the body, of no known name, or two on one limb are refused in one line
- true parts given as labels come back as they were, each with a joint where it meets its parent; labels of another body are refused
- untold, the made biped with its legs crossed, touching, is a person, and its feet are where they are
- of a body of no kind, --count keeps that many parts, those that stand out most
Prints `ok` and `not ok` lines."""
import json
import os
import subprocess
import sys

import numpy as np

sys.dont_write_bytecode = True
from judge_rig import Body, one_minus_rand
from rest_bodies import Rig, turn

cutis, folder = sys.argv[1:3]
failures = 0


def say(good, name, why=''):
    global failures
    print(f'ok {name}' if good else f'not ok {name}: {why}', flush=True)
    failures += not good


def path(name):
    return os.path.join(folder, name)


def run(*arguments):
    done = subprocess.run([cutis, *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr.strip()


def rig(*more):
    code, out, error = run('rig', path('bare.off'), *more, '--json', '--keep', '-o', path('rig.glb'))
    return code, json.loads(out) if out else {}, error


def body(kind, seed, pose):
    """The truth, and the same without skin and parts as an OFF written here."""
    assert run('synth', 'family', '--kind', kind, '--seed', str(seed), '--pose', pose, '--vertices', '2500', '-q', '-o', path('truth.glb'))[0] == 0
    truth = Body(path('truth.glb'))
    with open(path('bare.off'), 'w') as file:
        print('OFF', len(truth.points), len(truth.faces), 0, file=file)
        np.savetxt(file, truth.points, '%.9g')
        np.savetxt(file, np.c_[np.full(len(truth.faces), 3), truth.faces], '%d')
    return truth


def write_strokes(strokes):
    handles = [{'name': n, 'kind': 'bar', 'from': list(map(float, a)), 'to': list(map(float, b))} for n, a, b in strokes]
    json.dump({'handles': handles}, open(path('strokes.json'), 'w'))


def legs_of(truth):
    place = dict(zip(truth.names, truth.places))
    limbs = [('forearm', 'hand'), ('shin', 'foot')]
    return [(f'leg_{a}{s}', place[f'{a}_{s}'], place[f'{b}_{s}']) for a, b in limbs for s in 'lr']


def strokes():
    truth = body('quadruped', 103, 'bent')
    legs = legs_of(truth)
    write_strokes(legs)
    code, plain, _ = rig()
    code, told, error = rig('--strokes', path('strokes.json'))
    made = Body(path('rig.glb'))
    size = np.linalg.norm(np.ptp(truth.points, axis=0))
    feet = [n for n in made.names if n.split('_')[0] in ('hand', 'foot')]
    true = np.array([p for n, p in zip(truth.names, truth.places) if n.split('_')[0] in ('hand', 'foot')])
    off = [min(np.linalg.norm(true - made.places[made.names.index(n)], axis=1)) / size for n in feet]
    say(plain['kind'] != 'quadruped' and told['kind'] == 'quadruped' and code == 0, 'strokes on legs make it a beast', f'{plain.get("kind")}, {told.get("kind")}, {error}')
    say(len(feet) == 4 and max(off) < 0.08, 'its feet are where they are', f'{feet}, {np.round(off, 3)} of the diagonal')
    write_strokes([legs[0], ('arm', *legs[0][1:])])
    code, _, error = rig('--strokes', path('strokes.json'))
    say(code == 1 and 'another one names' in error, 'two strokes on one limb are refused', error)
    write_strokes([('leg', [9, 9, 9], [9, 9, 8])])
    code, _, error = rig('--strokes', path('strokes.json'))
    say(code == 1 and 'no limb that was found' in error, 'a stroke beside the body is refused', error)
    write_strokes([('legend', *legs[0][1:])])
    code, _, error = rig('--strokes', path('strokes.json'))
    say(code == 1 and 'begins with none of' in error, 'a stroke of no known name is refused', error)


def labels():
    truth = body('human', 104, 'a')
    np.savetxt(path('true.seg'), truth.parts, '%d')
    code, told, error = rig('--parts', f'file:{path("true.seg")}')
    made = Body(path('rig.glb'))
    # Joints stand where the border's middle is, which is near the true joint that leads the part.
    size = np.linalg.norm(np.ptp(truth.points, axis=0))
    say(code == 0 and told['parts'] >= len(set(truth.parts)), 'true parts are all there', f'{told}, {error}')
    same = len(made.faces) == len(truth.faces) and one_minus_rand(truth.parts, made.parts)
    say(same is not False and same < 0.02, 'and as they were', f'1 - Rand {same}, {len(made.faces)} faces of {len(truth.faces)}')
    off = [min(np.linalg.norm(truth.places - p, axis=1)) / size for p in made.places]
    say(np.mean(np.array(off) < 0.05) > 0.8, 'joints are where parts meet', f'{np.round(off, 3)}')
    say(made.weights.max(1).min() < 0.9, 'weights are not rigid', str(made.weights.max(1).min()))
    np.savetxt(path('short.seg'), truth.parts[:-5], '%d')
    code, _, error = rig('--parts', f'file:{path("short.seg")}')
    say(code == 1 and error.count('\n') == 0, 'labels of another body are refused', error)


def count():
    truth = body('octopus', 104, 'a')
    place = dict(zip(truth.names, truth.places))
    write_strokes([('body', place['arm1_3_l'], place['arm1_4_l'])])
    with_it, without = (rig('--kind', 'any', *more)[1]['parts'] for more in ((), ('--strokes', path('strokes.json'))))
    say(without == with_it - 1, 'what is said to be the body is no limb', f'{with_it}, {without}')
    counts = []
    for n in (4, 7, 40):
        code, told, error = rig('--kind', 'any', '--count', str(n))
        counts.append(told.get('parts'))
    say(counts[:2] == [4, 7] and counts[2] >= 9, 'at most so many parts', f'{counts}')
    code, _, error = rig('--count', '4')
    say(code == 2, '--count without --kind any is wrong usage', error)


def crossed():
    assert run('synth', 'biped', '-q', '-o', path('biped.glb'))[0] == 0
    body = Rig(path('biped.glb'))
    body.rest_in({'thigh_l': turn([-0.547, 0, -0.837], 17.8), 'thigh_r': turn([0.475, 0, 0.880], 16.9)})
    body.write(path('crossed.glb'), bare=True)
    code, out, error = run('rig', path('crossed.glb'), '--json', '--keep', '-o', path('rig.glb'))
    made = Body(path('rig.glb'))
    true = {n: m[:3, 3] for n, m in zip(body.names, body.world(body.locals))}
    size = np.linalg.norm(np.ptp(made.points, axis=0))
    off = [np.linalg.norm(made.places[made.names.index(n)] - true[n]) / size for n in ('foot_l', 'foot_r', 'shin_l', 'shin_r') if n in made.names]
    say(code == 0 and json.loads(out)['kind'] == 'human', 'legs that are crossed and touch are a person\'s', f'{json.loads(out)["kind"]} {error}')
    say(len(off) == 4 and max(off) < 0.05, 'and each is its own', f'{np.round(off, 3)} of the diagonal')


strokes()
labels()
crossed()
count()
sys.exit(failures > 0)
