"""Walk, run and wave on bodies in six rest poses and three up axes, judged by retarget_eval.py.
--rig: bare bodies, rigged and moved in one command (`cutis rig --motion`); --odd: other trees; --broken: what the judge must see; --beasts: four legs;
--touching: a rig that may be wrong says so;
--robot: raylib's, whose feet hang under the root (goals of inverse kinematics), are long and have their ankles on the ground.
usage: retarget_grid.py CUTIS SHARED FOLDER [--seeds 100,101] [--poses a,t] [--ups y,z,x] [--motions walk,run] [--makehuman] [--rig | --odd | --broken | --beasts | --robot | --touching]
Prints `ok`, `not ok` and `skip` lines."""
import functools
import os
import subprocess
import sys

import numpy as np

sys.dont_write_bytecode = True
import rest_bodies
import retarget_eval as ev
from rest_bodies import Rig

here = os.path.dirname(os.path.abspath(__file__))
cutis, shared, folder = sys.argv[1:4]
more = sys.argv[4:]


def option(name, default):
    return more[more.index('--' + name) + 1].split(',') if '--' + name in more else default


POSES = ['t', 'a', 'sitting', 'bent', 'raised', 'kneeling']
seeds = option('seeds', ['100', '101'])
poses, ups, wanted = option('poses', POSES), option('ups', ['y', 'z', 'x']), option('motions', ['walk', 'run', 'wave'])
failures = 0
worst = {}


def say(good, name, why):
    global failures
    print(f'ok {name} ({why})' if good else f'not ok {name}: {why}', flush=True)
    failures += not good


def run(*arguments):
    done = subprocess.run([cutis, *arguments], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().split('\n')[0] or f'exit {done.returncode}')
    return done.stdout


def path(name):
    return os.path.join(folder, name)


@functools.lru_cache(None)
def motions():
    """name: (file, options of the command, Motion)"""
    out, mocap = {}, os.path.join(shared, 'data/cmu-mocap/data')
    run('synth', 'biped', '--size', 'low', '-q', '-o', path('biped.glb'))
    for name, clip in (('wave', 'wave'), ('forward', 'walk_forward')):
        out[name] = (path('biped.glb'), ['--clip', clip], ev.Motion(path('biped.glb'), clip))
    for name, file in (('walk', '002/02_01'), ('run', '009/09_01'), ('run2', '016/16_35')):
        file = os.path.join(mocap, file + '.bvh')
        if name in wanted and not os.path.exists(file):
            print(f'skip {name}: shared data: {file} is not there')
        elif name in wanted:
            out[name] = (file, [], ev.Motion(file, skip=1))
    file = os.path.join(shared, 'data/makehuman/makehuman/data/animations/zombie/zombieWalk1.bvh')  # another skeleton, z up (on a body with x up it would head elsewhere than judged), 24 frames a second
    if 'zombie' in wanted and os.path.exists(file):
        out['zombie'] = (file, [], ev.Motion(file, skip=1, z_up=True))
    elif 'zombie' in wanted:
        print(f'skip zombie: shared data: {file} is not there')
    return {k: v for k, v in out.items() if k in wanted}


def family(seed, pose):
    base = {'raised': 't', 'kneeling': 'a', 'arms': 't', 'leg': 'a', 'crouched': 't'}.get(pose, pose)
    file = path(f'{seed}_{base}.glb')
    if not os.path.exists(file):
        run('synth', 'family', '--kind', 'human', '--seed', seed, '--pose', base, '--vertices', '2500', '-q', '-o', file)
    rig = Rig(file)
    if pose in rest_bodies.FAMILY_POSES:
        rig.rest_in(rest_bodies.FAMILY_POSES[pose])
    return rig


def makehuman(_, pose):
    file = path('makehuman.glb')
    if not os.path.exists(file):
        done = subprocess.run([sys.executable, os.path.join(here, '../fit/makehuman.py'), os.path.join(shared, 'data'), file], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(done.stderr.strip()[-200:])
    rig = Rig(file)
    rig.rest_in(rest_bodies.MAKEHUMAN_POSES[pose])
    return rig


def grid(title, make, words, seed):
    standing, like = make(seed, 't'), {}
    standing.write(path('standing.glb'))
    for name, (file, more_options, motion) in motions().items():
        run('retarget', path('standing.glb'), '--motion', file, *more_options, '-q', '-o', path('like.glb'))
        like[name] = ev.judge(path('like.glb'), motion, words, 'y', standing)['places']
    for pose in poses:
        for up in ups:
            rig = make(seed, pose)
            rig.up_axis(up)
            rig.write(path('body.glb'))
            for name, (file, more_options, motion) in motions().items():
                label = f'{title}, {pose}, {up} up, {name}'
                try:
                    run('retarget', path('body.glb'), '--motion', file, *more_options, '-q', '-o', path('out.glb'))
                    result = ev.judge(path('out.glb'), motion, words, up, standing, like[name])
                except RuntimeError as why:
                    say(False, label, str(why))
                    continue
                bad = ev.faults(result)
                figures = ' '.join(f'{k} {result[k]:.2f}' for k in ev.LIMITS) + f' contacts {result["contacts"]} duty {result["duty"]:.2f}'
                say(not bad, label, '; '.join(bad) + ' | ' * bool(bad) + figures)
                for k in ev.LIMITS:
                    worst[k] = max(worst.get(k, 0), result[k])


def rig_one(title, words, body, up, standing, name):
    """One bare body, rigged and moved. The trunk may lean by 15 degrees more than the motion's, not 10: its joints are found, not known."""
    file, more_options, motion = motions()[name]
    if more_options:  # rig takes the first clip
        run('convert', file, *more_options, '-q', '-o', path(f'{name}.bvh'))
        file = path(f'{name}.bvh')
    try:
        run('rig', path('bare.glb'), '--motion', file, '-q', '-o', path('out.glb'))
        result = ev.judge(path('out.glb'), motion, ev.FAMILY, up, standing, truth=body, true_words=words)
    except (RuntimeError, ValueError) as why:  # no such joint: not rigged as a person
        return say(False, f'{title}, {up} up, {name}', str(why))
    limits = ev.LIMITS | ev.FOUND
    if name == 'zombie':  # its first frame, the rest pose, hangs its head, and no file says by how much
        del limits['head']
    bad = ev.faults(result, limits)
    say(not bad, f'{title}, {up} up, {name}', '; '.join(bad) + ' | ' * bool(bad) + ' '.join(f'{k} {result[k]:.2f}' for k in limits if k in result))
    for k in limits:
        if k in result:
            worst[k] = max(worst.get(k, 0), result[k])


def rigged(title, make, words, seed):
    standing = make(seed, 't')
    for pose in poses:
        for up in ups:
            body = make(seed, pose)
            body.up_axis(up)
            body.write(path('bare.glb'), bare=True)
            for name in motions():
                rig_one(f'{title} bare, {pose}', words, body, up, standing, name)


def touching(seed):
    """Who crouches with the hands at the thighs may come out as one piece with them, and torn: then the command says so, and writes nothing unless it is kept."""
    file, more_options, motion = next(iter(motions().values()))
    if more_options:
        run('convert', file, *more_options, '-q', '-o', path('motion.bvh'))
        file = path('motion.bvh')
    body, out = family(seed, 'a'), path('touching.glb')
    body.rest_in(rest_bodies.FAMILY_POSES['crouched'])
    body.write(path('bare.glb'), bare=True)
    command = [cutis, 'rig', path('bare.glb'), '--motion', file, '-q', '-o', out]
    done = subprocess.run(command, capture_output=True, text=True)
    written = os.path.exists(out)
    subprocess.run([*command, '--keep'], capture_output=True)
    result = ev.judge(out, motion, ev.FAMILY, 'y', family(seed, 't'), truth=body, true_words=ev.FAMILY)
    torn = result['edge'] > ev.LIMITS['edge']
    say(done.returncode == torn and written != torn and ('tears' in done.stderr) == torn, f'human {seed}, hands at the thighs: told if torn',
        f'edge {result["edge"]:.2f}, exit {done.returncode} {done.stderr.strip()}')


def odd(seed):
    """Trees that are built otherwise: the same body must walk the same."""
    standing = family(seed, 't')
    name, (file, more_options, motion) = next(iter(motions().items()))

    def chest(rig):
        rig.root_at('chest')

    def spine(rig):
        rig.root_at('spine')

    def skinned_root(rig):
        rig.add_joint(None, 0, None, 'hips', 0.6)

    def goals(rig):
        rig.add_joint('goal_a', 0, 'hand_l', 'hand_l', 0.45)
        rig.add_joint('goal_b', 0, 'foot_r', 'toes_r', 0.45)

    for change, limit in ((chest, 3), (spine, 3), (skinned_root, 0.1), (goals, 2)):
        for pose in ('a', 'sitting'):
            rig = family(seed, pose)
            base = family(seed, pose)
            base.write(path('base.glb'))
            run('retarget', path('base.glb'), '--motion', file, *more_options, '-q', '-o', path('like.glb'))
            like = ev.judge(path('like.glb'), motion, ev.FAMILY, 'y', standing)['places']
            change(rig)
            rig.write(path('body.glb'))
            run('retarget', path('body.glb'), '--motion', file, *more_options, '-q', '-o', path('out.glb'))
            result = ev.judge(path('out.glb'), motion, ev.FAMILY, 'y', standing, like)
            bad = ev.faults(result) + ([f'away {result["away"]:.2f} > {limit}'] if result['away'] > limit else [])
            say(not bad, f'human {seed}, {pose}, {change.__name__}, {name}', '; '.join(bad) + ' | ' * bool(bad) + ' '.join(f'{k} {result[k]:.2f}' for k in ev.LIMITS))


def back_slope(rig, places):
    """Degrees, hips to shoulders."""
    at = rig.names.index
    way = (places[at('upperarm_l')] + places[at('upperarm_r')] - places[at('thigh_l')] - places[at('thigh_r')]) / 2
    return np.degrees(np.arcsin(way[1] / np.linalg.norm(way)))


def beasts(seed):
    """The hound's walk, in place, on four-legged bodies: they face as it does, paws on the ground go backwards, nothing is torn; backs
    slope as that of the same body when it stands, whatever its rest pose; in every frame a paw is on the ground, none deep in it."""
    run('synth', 'quadruped', '--vertices', '1500', '-q', '-o', path('hound.glb'))
    run('synth', 'family', '--kind', 'quadruped', '--seed', seed, '--pose', 'a', '--vertices', '2500', '-q', '-o', path('stands.glb'))
    stands = Rig(path('stands.glb'))
    slope = back_slope(stands, stands.world(stands.locals)[:, :3, 3])
    for pose in ('a', 'sitting', 'bent'):
        run('synth', 'family', '--kind', 'quadruped', '--seed', seed, '--pose', pose, '--vertices', '2500', '-q', '-o', path('beast.glb'))
        run('retarget', path('beast.glb'), '--motion', path('hound.glb'), '--clip', 'walk', '-q', '-o', path('out.glb'))
        rig = Rig(path('out.glb'))
        frames, _ = rig.keyed()
        worlds = [rig.world(f) for f in frames]
        places, at = np.array([w[:, :3, 3] for w in worlds]), rig.names.index
        front = (places[:, at('upperarm_l')] + places[:, at('upperarm_r')] - places[:, at('thigh_l')] - places[:, at('thigh_r')]).mean(0)
        front /= np.linalg.norm(front)
        backwards = []
        for paw in ('foot_l', 'foot_r', 'hand_l', 'hand_r'):
            p = places[:, at(paw)]
            way = np.diff(p, axis=0) @ front
            backwards.append(way[p[:-1, 1] < np.percentile(p[:, 1], 40)].mean() / abs(way).max())
        size = np.ptp(rig.positions, axis=0).max()
        edges = np.vstack([rig.triangles[:, [0, 1]], rig.triangles[:, [1, 2]]])
        edge = max(np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1).max() for x in (rig.posed(w) for w in worlds[::4])) / size
        off = 100 * max(abs(rig.posed(w)[:, 1].min() - rig.positions[:, 1].min()) for w in worlds) / size
        steep = max(abs(back_slope(rig, p) - slope) for p in places)
        say(front[2] > 0.95 and max(backwards) < -0.2 and edge < 0.1 and off < 0.8 and steep < 15, f'beast {seed}, {pose}: walks forwards',
            f'front {np.round(front, 2)}, paws on the ground {np.round(backwards, 2)} of their fastest, longest edge {edge:.3f}, off the ground {off:.2f} %, '
            f'back {steep:.0f} degrees from standing')


def robot(_):
    file = os.path.join(shared, 'data/raylib/examples/models/resources/models/gltf/robot.glb')
    if not os.path.exists(file):
        print(f'skip robot: shared data: {file} is not there')
        return
    words = {r: {s: f'{w}.{s.upper()}' for s in 'lr'} for r, w in zip(ev.ROLES, ('UpperLeg', 'LowerLeg', 'Foot', 'UpperArm', 'LowerArm', 'Palm2'))}
    for name, (motion_file, more_options, motion) in motions().items():
        run('retarget', file, '--motion', motion_file, *more_options, '-q', '-o', path('out.glb'))
        result = ev.judge(path('out.glb'), motion, words, 'y', Rig(file))
        limits = {k: ev.LIMITS[k] for k in ('lean', 'ground', 'sunk', 'slide')}
        bad = ev.faults(result, limits)
        say(not bad, f'robot, {name}', '; '.join(bad) + ' | ' * bool(bad) + ' '.join(f'{k} {result[k]:.2f}' for k in limits))


def broken(seed):
    """What the judge must see: the same walk, broken on purpose."""
    def higher(rig, frames):
        frames[:, rig.names.index('hips'), 1, 3] += 0.02 * height

    def faster(rig, frames):
        frames[:, rig.names.index('hips'), 2, 3] *= 1.03

    def leaning(rig, frames):
        frames[:, rig.names.index('spine'), :3, :3] = rest_bodies.turn([1, 0, 0], 20) @ frames[:, rig.names.index('spine'), :3, :3]

    def torn(rig, frames):
        frames[:, rig.names.index('thigh_l'), 0, 3] += 0.3 * height

    def twitching(rig, frames):
        frames[7, rig.names.index('upperarm_r'), :3, :3] = rest_bodies.turn([0, 0, 1], 40) @ frames[7, rig.names.index('upperarm_r'), :3, :3]

    def one_knee(rig, frames):
        frames[:, rig.names.index('shin_r'), :3, :3] = rest_bodies.turn([1, 0, 0], 25) @ frames[:, rig.names.index('shin_r'), :3, :3]

    def one_elbow(rig, frames):
        frames[:, rig.names.index('forearm_l'), :3, :3] = rest_bodies.turn([0, 1, 0], 60) @ frames[:, rig.names.index('forearm_l'), :3, :3]

    def nodding(rig, frames):
        frames[:, rig.names.index('neck'), :3, :3] = rest_bodies.turn([1, 0, 0], 45) @ frames[:, rig.names.index('neck'), :3, :3]

    rig = family(seed, 't')
    rig.write(path('body.glb'))
    height = rig.positions[:, 1].max()
    name, (file, more_options, motion) = next(iter(motions().items()))
    run('retarget', path('body.glb'), '--motion', file, *more_options, '-q', '-o', path('out.glb'))
    run('retarget', path('body.glb'), '--motion', file, *more_options, '--feet', 'free', '-q', '-o', path('free.glb'))
    whole = ev.judge(path('out.glb'), motion, ev.FAMILY, 'y', rig, truth=rig, true_words=ev.FAMILY)
    good = ev.faults(whole, ev.LIMITS | ev.FOUND | {'lean': 10})
    say(not good, f'the judge passes a {name}', '; '.join(good) or 'no fault')
    for change, seen in ((higher, 'ground'), (faster, 'slide'), (leaning, 'lean'), (torn, 'edge'), (twitching, 'jerk'), (one_knee, 'away'),
                         (one_elbow, 'hand'), (nodding, 'head')):
        found = ev.faults(ev.judge(path('out.glb'), motion, ev.FAMILY, 'y', rig, whole['places'], change, rig, ev.FAMILY), ev.LIMITS | ev.FOUND | {'lean': 10})
        say(any(f.startswith(seen) for f in found), f'the judge sees a {name} that is broken: {change.__name__}', '; '.join(found) or 'nothing')
    found = ev.faults(ev.judge(path('free.glb'), motion, ev.FAMILY, 'y', rig))
    say(any(f.startswith('slide') for f in found), f'the judge sees a {name} with free feet', '; '.join(found) or 'nothing')
    lying = family(seed, 't')
    lying.up_axis('z')
    lying.write(path('body.glb'))
    run('retarget', path('body.glb'), '--motion', file, *more_options, '--map', 'y-up', '-q', '-o', path('out.glb'))
    found = ev.faults(ev.judge(path('out.glb'), motion, ev.FAMILY, 'z', rig, whole['places']))
    say(any(f.startswith('lean') for f in found), f'the judge sees a {name} lying down', '; '.join(found) or 'nothing')


if __name__ == '__main__':
    for name, only in (('--odd', odd), ('--broken', broken), ('--beasts', beasts), ('--robot', robot), ('--touching', touching)):
        if name in more:
            only(seeds[0])
            sys.exit(1 if failures else 0)
    sweep = rigged if '--rig' in more else grid
    for seed in seeds if seeds != ['none'] else []:
        sweep(f'human {seed}', family, ev.FAMILY, seed)
    if '--makehuman' in more:
        sweep('MakeHuman', makehuman, ev.MAKEHUMAN, None)
    print(f'{failures} failed, worst:', ' '.join(f'{k} {v:.2f}' for k, v in worst.items()))
    sys.exit(1 if failures else 0)
