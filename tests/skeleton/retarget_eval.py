"""Judge of retargeted motions, by positions only: places of joints and skin, read from the files and blended here in double. It does not know how
Cutis retargets, nor what it reports. Definitions (lengths in % of the body's standing height):

contact   of a foot, from the motion alone: some point of the foot (ankle, ball, tip) slower than 0.1 of the foot's own fast speed (95th percentile; at
          least 0.15 leg lengths a second), and the lowest no higher than 0.1 leg lengths above the foot's own low level (5th percentile), for 0.08 s or more
lean      the angle between the trunk (middle of the hips to middle of the shoulders) and the motion's, at its largest over the frames. Seen from the hips
          (their line and up), and less what both have between them when they stand: where rigs put shoulders is their own affair (CMU's T-poses
          lean back by 7 to 13 degrees), and whoever stands upright is upright
ground    in contact: how far the lowest point of the foot's skin is from the ground, at its largest. The ground is the lowest point of the body at rest
sunk      how far any point of the feet's skin is below the ground, in any frame
slide     from frame to frame of a contact, the skin that touches (within 0.1 % of the foot's lowest in either frame) moves along the ground by a mean
          vector; their lengths are summed over the contact: the way the sole was seen to slide. A foot that rolls over its heel or ball slides 0,
          and so does one that turns on the spot. The largest over all contacts
edge      the longest edge of the skin: a body that is torn has edges across the gap
jerk      the largest change of a limb joint's velocity from frame to frame, in those of the motion's own (scaled by the legs): what pops has more
away      joints of the limbs from where the same body brings them from its T-pose, at their largest
Of a body whose rig was found, by the skin that truly is the hand's or the head's (a rig that took something else for a hand has its joint in place):
hand      the middle of a hand's skin from where it should be: the true shoulder (carried by what holds the rig's), from there the true lengths of upper arm
          and forearm, with half a hand, along the motion's two bones; the largest over both hands and all frames
head      the angle between the middle of the shoulders to the middle of the head's skin and the same of the motion, as for lean; the largest
"""
import sys

import numpy as np
from scipy.spatial import cKDTree

sys.dont_write_bytecode = True
from bvh import Bvh
from rest_bodies import Rig

ROLES = ('thigh', 'shin', 'foot', 'upperarm', 'forearm', 'hand')
FAMILY = {r: {'l': f'{r}_l', 'r': f'{r}_r'} for r in ROLES}
CMU = {r: {'l': 'Left' + w, 'r': 'Right' + w} for r, w in zip(ROLES, ('UpLeg', 'Leg', 'Foot', 'Arm', 'ForeArm', 'Hand'))}
MAKEHUMAN = {r: {'l': w + '.L', 'r': w + '.R'} for r, w in zip(ROLES, ('upperleg01', 'lowerleg01', 'foot', 'upperarm01', 'lowerarm01', 'wrist'))}
MAKEHUMAN_BVH = {r: {'l': w + '_L', 'r': w + '_R'} for r, w in zip(ROLES, ('UpLeg', 'LoLeg', 'Foot', 'UpArm', 'LoArm', 'Hand'))}
HEADS = ('head', 'Head')


def least(a, b):
    """The least rotation between two axes."""
    v, c = np.cross(a, b), np.dot(a, b)
    k = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + k + k @ k / (1 + c)


def leg_of(places, j):
    p = places[0]
    return np.mean([np.linalg.norm(p[j['shin'][s]] - p[j['thigh'][s]]) + np.linalg.norm(p[j['foot'][s]] - p[j['shin'][s]]) for s in 'lr'])


class Motion:
    """Places of a motion's joints, y up: [frames, joints, 3]."""

    def __init__(self, path, clip=None, skip=0, z_up=False):
        if path.endswith('.bvh'):
            file = Bvh(path)
            self.places, self.step, self.names, parents, words = file.places[skip:], file.step, file.names, file.parents, MAKEHUMAN_BVH if z_up else CMU
            self.rest = file.places[0]
            if z_up:
                self.places, self.rest = (p[..., [0, 2, 1]] * [1, 1, -1] for p in (self.places, self.rest))
        else:
            rig = Rig(path)
            frames, times = rig.keyed(clip)
            self.places = np.array([rig.world(f)[:, :3, 3] for f in frames])
            self.rest = rig.world(rig.locals)[:, :3, 3]
            self.step, self.names, parents, words = times[1] - times[0], rig.names, rig.parents, FAMILY
        self.parents = parents
        self.joint = {r: {s: self.names.index(w) for s, w in both.items()} for r, both in words.items()}
        self.head = next(self.names.index(w) for w in HEADS if w in self.names)
        self.feet = {s: self.under(self.joint['foot'][s]) for s in 'lr'}

    def under(self, top):
        inside = [top]
        for n in range(len(self.names)):
            if self.parents[n] in inside:
                inside.append(n)
        return inside

    def leg(self):
        return leg_of(self.places, self.joint)

    def contacts(self, side):
        points, leg = self.places[:, self.feet[side]], self.leg()
        n = len(points)
        a, b = np.maximum(np.arange(n) - 1, 0), np.minimum(np.arange(n) + 1, n - 1)
        speed = np.linalg.norm(points[b] - points[a], axis=2) / ((b - a) * self.step)[:, None]
        low = points[:, :, 1].min(1)
        bound = max(0.1 * np.percentile(speed.min(1), 95), 0.15 * leg)
        on = (speed.min(1) < bound) & (low < np.percentile(low, 5) + 0.1 * leg)
        found, f = [], 0
        while f < n:
            last = f
            while last < n and on[last]:
                last += 1
            if (last - f - 1) * self.step >= 0.08 - 1e-9:
                found.append((f, last))
            f = last + 1
        return found


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def middle(places, joint, role):
    return (places[:, joint[role]['l']] + places[:, joint[role]['r']]) / 2


def seen_from_hips(places, joint, way=None):
    """The trunk, or other ways, along left, up and front of the hips, frame by frame."""
    left = places[:, joint['thigh']['l']] - places[:, joint['thigh']['r']]
    left[:, 1] = 0
    left = unit(left)
    d = unit(middle(places, joint, 'upperarm') - middle(places, joint, 'thigh') if way is None else way)
    return np.stack([(d * left).sum(1), d[:, 1], (d * np.cross(left, [0, 1.0, 0])).sum(1)], 1)


def slide_of(skin, touch):
    """Way of what touches, over the frames of one contact. skin [frames, vertices, 3], y up"""
    way = 0
    for a, b in zip(skin, skin[1:]):
        near = (a[:, 1] < a[:, 1].min() + touch) | (b[:, 1] < b[:, 1].min() + touch)
        way += np.linalg.norm((b[near] - a[near]).mean(0)[[0, 2]])
    return way


def degrees_between(a, b):
    return np.degrees(np.arccos(np.clip((a * b).sum(-1), -1, 1)))


def skin_figures(rig, worlds, places, joint, back, motion, truth, standing, stands, true_words, height):
    """hand and head of a found rig. `truth`: the body as it was rigged, true joints and weights, same skin; `standing`: the same in T-pose, y up"""
    _, vertex = cKDTree(rig.positions).query(truth.positions)

    def rows_of(body, name):
        return np.flatnonzero(np.isin(np.array(body.joints)[body.strongest], body.under(body.names.index(name))))

    def stood_at(name):
        return standing.positions[rows_of(standing, name)].mean(0)

    def centre(name):
        return np.array([rig.posed(w, vertex[rows_of(truth, name)]).mean(0) for w in worlds]) @ back.T

    binds, stood, out, shoulders = truth.bind_world()[:, :3, 3], standing.bind_world()[:, :3, 3], 0, {}
    for s in 'lr':
        holder = rig.parents[joint['upperarm'][s]]
        own = rig.inverse_binds[rig.joints.index(holder)] @ np.append(binds[truth.names.index(true_words['upperarm'][s])], 1)
        shoulders[s] = np.array([(w[holder] @ own)[:3] for w in worlds]) @ back.T
        length = [np.linalg.norm(stood[stands[b][s]] - stood[stands[a][s]]) for a, b in (('upperarm', 'forearm'), ('forearm', 'hand'))]
        length[1] += np.linalg.norm(stood_at(true_words['hand'][s]) - stood[stands['hand'][s]])
        m = motion.places
        ways = [unit(m[:, motion.joint[b][s]] - m[:, motion.joint[a][s]]) for a, b in (('upperarm', 'forearm'), ('forearm', 'hand'))]
        wanted = shoulders[s] + length[0] * ways[0] + length[1] * ways[1]
        out = max(out, 100 * np.linalg.norm(centre(true_words['hand'][s]) - wanted, axis=1).max() / height)
    head = next(w for w in HEADS if w in truth.names)
    ways = centre(head) - (shoulders['l'] + shoulders['r']) / 2
    stood_way = stood_at(head) - middle(stood[None], stands, 'upperarm')
    own = [seen_from_hips(p, motion.joint, p[:, motion.head] - middle(p, motion.joint, 'upperarm')) for p in (motion.rest[None], motion.places)]
    between = least(own[0][0], seen_from_hips(stood[None], stands, stood_way)[0])
    return {'hand': out, 'head': degrees_between(seen_from_hips(places, joint, ways), own[1] @ between.T).max()}


def judge(path, motion, words, up, standing, like=None, change=None, truth=None, true_words=None):
    """Figures of the last clip of a file; all with y up. `standing`: the same body in T-pose, y up; `like`: places of another judged file (its
    `places`); `change`: breaks local matrices [frames, nodes, 4, 4] in place; `truth`, `true_words`: of a body whose rig was found, as it was given."""
    rig, height = Rig(path), np.ptp(standing.positions[:, 1])
    axis = {'x': np.array([1.0, 0, 0]), 'y': np.array([0, 1.0, 0]), 'z': np.array([0, 0, 1.0])}[up]
    back = least(axis, np.array([0, 1.0, 0]))
    joint = {r: {s: rig.names.index(w) for s, w in both.items()} for r, both in words.items()}
    frames, _ = rig.keyed()
    if change:
        change(rig, frames)
    assert len(frames) == len(motion.places), f'{len(frames)} frames, the motion has {len(motion.places)}'
    worlds = [rig.world(f) for f in frames]
    places = np.array([w[:, :3, 3] for w in worlds]) @ back.T
    ground = (rig.positions @ back.T)[:, 1].min()
    stands = {r: {s: standing.names.index(w) for s, w in both.items()} for r, both in (true_words or words).items()}
    between = least(seen_from_hips(motion.rest[None], motion.joint)[0], seen_from_hips(standing.bind_world()[None, :, :3, 3], stands)[0])
    lean = degrees_between(seen_from_hips(places, joint), seen_from_hips(motion.places, motion.joint) @ between.T)
    result = {'lean': lean.max(), 'ground': 0, 'sunk': 0, 'slide': 0, 'contacts': 0, 'duty': 0}
    for side in 'lr':
        under = rig.under(joint['foot'][side])
        rows = np.flatnonzero(np.isin(np.array(rig.joints)[rig.strongest], under))
        skin = np.array([rig.posed(w, rows) for w in worlds]) @ back.T
        low = skin[:, :, 1].min(1) - ground
        result['sunk'] = max(result['sunk'], -100 * low.min() / height)
        for first, last in motion.contacts(side):
            result['contacts'] += 1
            result['duty'] += (last - first) / len(frames) / 2
            result['ground'] = max(result['ground'], 100 * abs(low[first:last]).max() / height)
            result['slide'] = max(result['slide'], 100 * slide_of(skin[first:last], 0.001 * height) / height)
    edges = np.vstack([rig.triangles[:, [0, 1]], rig.triangles[:, [1, 2]], rig.triangles[:, [2, 0]]])
    result['edge'] = max(100 * np.linalg.norm(x[edges[:, 0]] - x[edges[:, 1]], axis=1).max() / height for x in (rig.posed(w) for w in worlds[::max(1, len(worlds) // 24)]))
    limbs = [joint[r][s] for r in ROLES for s in 'lr']
    own = motion.places[:, [motion.joint[r][s] for r in ROLES for s in 'lr']] * (leg_of(places, joint) / motion.leg())
    changes = [np.linalg.norm(np.diff(p, 2, axis=0), axis=2).max() for p in (places[:, limbs], own)]
    result['jerk'] = changes[0] / max(changes[1], 1e-4 * height)
    result['places'] = places[:, limbs]
    if truth is not None:
        result |= skin_figures(rig, worlds, places, joint, back, motion, truth, standing, stands, true_words, height)
    if like is not None:
        result['away'] = 100 * np.linalg.norm(places[:, limbs] - like, axis=2).max() / height
    return result


LIMITS = {'lean': 10, 'ground': 1, 'sunk': 1, 'slide': 0.3, 'edge': 7, 'jerk': 4, 'away': 8}

FOUND = {'lean': 15, 'hand': 12, 'head': 25}


def faults(result, limits=LIMITS):
    return [f'{k} {result[k]:.2f} > {most}' for k, most in limits.items() if k in result and not result[k] <= most]
