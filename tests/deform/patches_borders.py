#!/usr/bin/python3
"""Jump of normals across the borders of patches against the rest pose (docs/spec/patches.md C1), from the files the command writes.

    patches_borders.py CUTIS MODEL.glb [--angles 5,10,20,45,90] [--joints NAME,...] [--json FILE] [--by joint]
        bends every joint of a model with parts by itself, about two axes across its limb, and prints per angle (and joint) the
        jump and the tilt, mean and 95th percentile in degrees, the most that the volume changed (% of the body), and the share of poses with a patch
    patches_borders.py CUTIS MODEL.glb --rest
        is the body at rest that of the file? Largest differences of positions and texture coordinates (of the diagonal) and normals (degrees)
    patches_borders.py CUTIS MODEL.glb --floor [--angles ...] [--joints ...] [--by joint]
        the same jumps of bends that are none of ours: dual quaternions with the model's own weights, and an even bend over 2.3 half axes of the
        loop on both sides, linear in the place along the limb: what this mesh has of a bend of that length (a longer one has less)
    patches_borders.py --self-test
        the measure on a folded, a swept and an untouched cylinder, whose jumps are known

Independent of the library: reads glTF by itself, poses by quaternions of its own, all in double.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile

import numpy as np
from scipy.spatial import cKDTree

TYPES = {5121: np.uint8, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}
WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}
FPS = 30
GIRTH = 2.3  # length of a band on a side, in shorter half axes of its loop (docs/spec/patches.md B0)
BATCH = 60  # frames in a file: at most 256 fit


def unit(v):
    return v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-300)


class Surface:
    """Triangles with normals at their vertices and a label each; vertices at the same place are one."""

    def __init__(self, points, normals, faces, labels):
        self.raw_faces, self.raw_points = faces, points.astype(float)
        self.points, self.first, which = np.unique(self.raw_points, axis=0, return_index=True, return_inverse=True)
        which = which.reshape(-1)
        sums = np.zeros_like(self.points)
        np.add.at(sums, which, normals)  # twins across a seam of texture coordinates have the same
        self.faces = which[faces]
        good = (self.faces[:, 0] != self.faces[:, 1]) & (self.faces[:, 1] != self.faces[:, 2]) & (self.faces[:, 2] != self.faces[:, 0])
        self.faces, self.labels, self.ids = self.faces[good], labels[good], np.flatnonzero(good)
        corner = self.points[self.faces]
        cross = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
        self.face_normals = unit(cross)
        self.flat = np.linalg.norm(cross, axis=1) < 1e-14 * np.ptp(self.points, axis=0).max() ** 2
        if not sums.any():  # a file without normals: weighted by area
            for k in range(3):
                np.add.at(sums, self.faces[:, k], cross)
        self.normals = unit(sums)
        self.volume = np.einsum('ij,ij->', corner[:, 0], np.cross(corner[:, 1], corner[:, 2])) / 6

    def edges(self):
        """Pairs of faces along every edge that two faces have: vertices a, b as the first face walks them, first, second face."""
        f = self.faces
        a, b = np.concatenate([f[:, 0], f[:, 1], f[:, 2]]), np.concatenate([f[:, 1], f[:, 2], f[:, 0]])
        face = np.tile(np.arange(len(f)), 3)
        n = len(self.points)
        key = np.minimum(a, b) * n + np.maximum(a, b)
        order = np.argsort(key, kind='stable')
        key = key[order]
        start = np.flatnonzero(np.r_[True, key[1:] != key[:-1]])
        start = start[np.diff(np.r_[start, len(key)]) == 2]
        one, two = order[start], order[start + 1]
        return a[one], b[one], face[one], face[two]


class Nearest:
    """Nearest faces of a surface, and the normals there."""

    def __init__(self, surface, near=12):
        self.s, self.corner = surface, surface.points[surface.faces]
        # Every face under points of its own: long faces too are found from anywhere on them.
        spread = np.array([[1, 1, 1], [4, 1, 1], [1, 4, 1], [1, 1, 4]]) / np.array([[3], [6], [6], [6]])
        self.tree, self.near = cKDTree(np.einsum('kc,fcx->fkx', spread, self.corner).reshape(-1, 3)), near

        a, b, one, two = surface.edges()
        pa, pb = surface.points[a], surface.points[b]
        self.edge_tree, self.edge_length, self.edge_way = cKDTree((pa + pb) / 2), np.linalg.norm(pb - pa, axis=1), unit(pb - pa)
        self.edge_turn = turn_of(surface.face_normals[one], surface.face_normals[two], self.edge_way)

    def edge(self, middle, along, length):
        """Turn across the edge of the surface that is nearest to one like it; NaN where none is."""
        far, at = self.edge_tree.query(middle, 8)
        way = np.abs(np.einsum('nkx,nx->nk', self.edge_way[at], along))
        like = (way > 0.9) & (np.abs(self.edge_length[at] / length[:, None] - 1) < 0.25) & (far < 0.3 * length[:, None])
        cost = np.where(like, far, np.inf)
        pick = cost.argmin(1)
        row = np.arange(len(middle))
        return np.where(like.any(1), self.edge_turn[at[row, pick]], np.nan)

    def find(self, x):
        """@return distance, face, barycentric coordinates of the nearest point"""
        _, at = self.tree.query(x, self.near)
        face = at // 4
        c = self.corner[face]
        p = x[:, None, :]
        best, bary = None, None
        e0, e1, d = c[..., 1, :] - c[..., 0, :], c[..., 2, :] - c[..., 0, :], p - c[..., 0, :]
        dot = lambda u, v: np.einsum('...i,...i->...', u, v)
        a, b, g, u, v = dot(e0, e0), dot(e0, e1), dot(e1, e1), dot(d, e0), dot(d, e1)
        det = np.maximum(a * g - b * b, 1e-300)
        s, t = (g * u - b * v) / det, (a * v - b * u) / det
        inside = (s >= 0) & (t >= 0) & (s + t <= 1)
        options = [np.stack([1 - s - t, s, t], -1)]
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            side = c[..., j, :] - c[..., i, :]
            r = np.clip(dot(p - c[..., i, :], side) / np.maximum(dot(side, side), 1e-300), 0, 1)
            w = np.zeros(r.shape + (3,))
            w[..., i], w[..., j] = 1 - r, r
            options.append(w)
        for n, w in enumerate(options):
            far = np.linalg.norm(np.einsum('...k,...kx->...x', w, c) - p, axis=-1)
            if n == 0:
                far = np.where(inside, far, np.inf)
            if best is None:
                best, bary = far, w
            else:
                nearer = far < best
                best, bary = np.where(nearer, far, best), np.where(nearer[..., None], w, bary)
        pick = best.argmin(1)
        row = np.arange(len(x))
        return best[row, pick], face[row, pick], bary[row, pick]

    def smooth(self, face, bary):
        return unit(np.einsum('nk,nkx->nx', bary, self.s.normals[self.s.faces[face]]))


def rotation(axis, angle):
    x, y, z = axis
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def turn_of(a, b, along):
    """Signed angle from normal a to b about an edge."""
    return np.arctan2(np.einsum('ij,ij->i', along, np.cross(a, b)), np.einsum('ij,ij->i', a, b))


def same_edges(frame, rest, a, b, one, two):
    """Turns at rest across edges of a frame that has the triangles of the rest frame, in its order; NaN where it has others."""
    if rest is None or not np.array_equal(frame.raw_faces, rest.raw_faces):
        return np.full(len(a), np.nan)
    corner = rest.raw_points[rest.raw_faces]
    normals = unit(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]))
    along = unit(rest.raw_points[frame.first[b]] - rest.raw_points[frame.first[a]])
    return turn_of(normals[frame.ids[one]], normals[frame.ids[two]], along)


def borders(frame, chosen, rest, motions, patch_first=0, at_rest=None):
    """Jump and tilt along the borders of a frame.

    chosen: of labels (x, y) on both sides of an edge: does it count?  motions: what may bring a part back to rest, (matrix, vector) each; at every
    point the one counts that leads nearest to the rest surface. patch_first: the first label of patches. at_rest: the frame of the rest pose;
    one with the same triangles is compared with it edge by edge.
    @return jump, tilt (degrees), their weights (lengths)
    """
    a, b, one, two = frame.edges()
    x, y = frame.labels[one], frame.labels[two]
    keep = (x != y) & chosen(x, y) & ~frame.flat[one] & ~frame.flat[two]
    a, b, one, two, x, y = a[keep], b[keep], one[keep], two[keep], x[keep], y[keep]
    swap = y < x  # the part first: parts have the smaller labels
    a, b, one, two = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, two, one), np.where(swap, one, two)
    if len(a) == 0:
        return np.zeros(0), np.zeros(0), np.zeros(0)
    pa, pb = frame.points[a], frame.points[b]
    length = np.linalg.norm(pb - pa, axis=1)
    along, middle = unit(pb - pa), (pa + pb) / 2
    n, m = frame.face_normals[one], frame.face_normals[two]
    found = [rest.find(middle @ r.T + t) for r, t in motions]
    which = np.argmin([f[0] for f in found], axis=0)
    r, t = np.array([q[0] for q in motions])[which], np.array([q[1] for q in motions])[which]
    back = lambda v: np.einsum('nij,nj->ni', r, v)
    across = np.cross(n, along)  # to the side of the first face
    step = 1e-3 * length[:, None]
    sides = []
    for sign in (1, -1):
        at = back(middle + sign * step * across) + t
        sides.append(rest.s.face_normals[rest.find(at)[1]])
    before = turn_of(sides[0], sides[1], back(along))
    # Between two parts the edge is one of the rest surface, which a soft bend does not lead back to exactly.
    known = rest.edge(back(middle) + t, back(along), length)
    before = np.where(np.isfinite(known) & (np.maximum(x, y) < patch_first), known, before)
    same = same_edges(frame, at_rest, a, b, one, two)
    before = np.where(np.isfinite(same), same, before)
    jump = np.abs(turn_of(n, m, along) - before)
    jump = np.minimum(jump, 2 * np.pi - jump)
    tilt = np.zeros(len(a))
    for v, p in ((a, pa), (b, pb)):
        _, face, bary = rest.find(back(p) + t)
        cosine = np.einsum('ij,ij->i', rest.smooth(face, bary), back(frame.normals[v]))
        sine = np.linalg.norm(np.cross(rest.smooth(face, bary), back(frame.normals[v])), axis=1)
        tilt += np.arctan2(sine, cosine) / 2
    return np.degrees(jump), np.degrees(tilt), length


def summary(values, weights):
    """Mean and 95th percentile, weighted."""
    if len(values) == 0 or weights.sum() == 0:
        return 0.0, 0.0
    order = np.argsort(values)
    share = np.cumsum(weights[order]) / weights.sum()
    return float(values @ weights / weights.sum()), float(values[order][min(np.searchsorted(share, 0.95), len(values) - 1)])


# glTF


class Glb:
    def __init__(self, path):
        data = open(path, 'rb').read()
        size = struct.unpack_from('<I', data, 12)[0]
        self.doc, self.body = json.loads(data[20:20 + size]), data[28 + size:]

    def array(self, index):
        a = self.doc['accessors'][index]
        view, kind, width = self.doc['bufferViews'][a['bufferView']], np.dtype(TYPES[a['componentType']]), WIDTHS[a['type']]
        at, step = view.get('byteOffset', 0) + a.get('byteOffset', 0), view.get('byteStride', kind.itemsize * width)
        rows = np.ndarray((a['count'], width), kind, self.body, at, (step, kind.itemsize))
        return np.array(rows)

    def surface(self, mesh):
        m = self.doc['meshes'][mesh]
        labels = m['extensions']['CUTIS_parts']['labels']
        points, normals, faces, tags, first = [], [], [], [], 0
        for primitive, tag in zip(m['primitives'], labels):
            at = primitive['attributes']
            points.append(self.array(at['POSITION']).astype(float))
            normals.append(self.array(at['NORMAL']).astype(float) if 'NORMAL' in at else 0 * points[-1])
            faces.append(self.array(primitive['indices']).reshape(-1, 3).astype(int) + first)
            tags.append(self.array(tag).reshape(-1).astype(int))
            first += len(points[-1])
        return Surface(*map(np.concatenate, (points, normals, faces, tags)))

    def names(self, mesh=0):
        return self.doc['meshes'][mesh]['extensions']['CUTIS_parts']['names']

    def write(self, path):
        text = json.dumps(self.doc).encode()
        text += b' ' * (-len(text) % 4)
        body = self.body + bytes(-len(self.body) % 4)
        with open(path, 'wb') as f:
            f.write(struct.pack('<III', 0x46546C67, 2, 28 + len(text) + len(body)) + struct.pack('<II', len(text), 0x4E4F534A) + text)
            f.write(struct.pack('<II', len(body), 0x004E4942) + body)


def quat_times(a, b):
    (x, y, z, w), (p, q, r, s) = a, b
    return np.array([w * p + x * s + y * r - z * q, w * q - x * r + y * s + z * p, w * r + x * q - y * p + z * s, w * s - x * p - y * q - z * r])


def quat_turn(q, v):
    u = np.cross(q[:3], v)
    return v + 2 * (q[3] * u + np.cross(q[:3], u))


class Rig:
    """Rest pose of the nodes of a model, without scale."""

    def __init__(self, glb):
        self.nodes = glb.doc['nodes']
        parent = {c: i for i, n in enumerate(self.nodes) for c in n.get('children', [])}
        self.local, self.turn, self.place, self.above = {}, {}, {}, {}
        for i in range(len(self.nodes)):
            self.find(i, parent)
        self.by_name = {n.get('name', str(i)): i for i, n in enumerate(self.nodes)}

    def find(self, i, parent):
        if i in self.turn:
            return
        node = self.nodes[i]
        assert 'matrix' not in node and np.allclose(node.get('scale', 1), 1), 'rests with matrices or scale are not for this script'
        q, t = np.array(node.get('rotation', [0, 0, 0, 1]), float), np.array(node.get('translation', [0, 0, 0]), float)
        up, where = np.array([0, 0, 0, 1.0]), np.zeros(3)
        if i in parent:
            self.find(parent[i], parent)
            up, where = self.turn[parent[i]], self.place[parent[i]]
        self.local[i], self.above[i] = q, up
        self.turn[i], self.place[i] = quat_times(up, q), where + quat_turn(up, t)

    def bent(self, i, axis, angle):
        """Local rotation of node i that turns what hangs on it by an angle about an axis of the world."""
        q = np.r_[np.sin(angle / 2) * axis, np.cos(angle / 2)]
        up = self.above[i]
        back = up * [-1, -1, -1, 1]
        return quat_times(quat_times(back, quat_times(q, up)), self.local[i])


def axes_across(limb):
    e = np.eye(3)[np.argmin(np.abs(limb))]
    u = unit(np.cross(limb, e))
    return u, unit(np.cross(limb, u))


def plan(glb, rig, angles, only):
    """Every joint by itself: (name, node, axis, degrees) of each frame, and the names of the parts."""
    skin = glb.doc['skins'][0]['joints']
    parts = glb.doc['meshes'][0]['extensions']['CUTIS_parts']
    rest, names, frames = glb.surface(0), glb.names(), []
    for p, name in enumerate(names):
        tree = parts.get('parts')
        node = skin[tree[p]['joint']] if tree else rig.by_name[name]
        corners = rest.points[np.unique(rest.faces[rest.labels == p])]
        if len(corners) == 0 or (only and name not in only) or (tree and 'loop' not in tree[p]) or (not tree and p == 0):
            continue
        for axis in axes_across(unit(corners.mean(0) - rig.place[node])):
            frames += [(name, node, axis, angle) for angle in angles]
    return frames, names, rest


def add_clip(glb, rig, frames):
    """The clip `sweep`: frame k of it is pose k; keys stand half a frame before, so that no rounding matters."""
    doc = glb.doc
    size = len(glb.body)
    glb.body += bytes(-size % 4)

    def put(rows, kind):
        data = np.asarray(rows, np.float32)
        doc['bufferViews'].append({'buffer': 0, 'byteOffset': len(glb.body), 'byteLength': data.nbytes})
        glb.body += data.tobytes()
        a = {'bufferView': len(doc['bufferViews']) - 1, 'componentType': 5126, 'count': len(data), 'type': kind}
        if kind == 'SCALAR':
            a.update(min=[float(data.min())], max=[float(data.max())])
        doc['accessors'].append(a)
        return len(doc['accessors']) - 1

    samplers, channels = [], []
    for node in sorted({f[1] for f in frames}):
        own = [k for k, f in enumerate(frames) if f[1] == node]
        times = [0.0] + [(k - 0.5) / FPS if k else 1e-3 for k in own] + [(own[-1] + 0.5) / FPS, len(frames) / FPS]
        if own[0] == 0:  # frame 0 is at time 0
            times[0:2] = [0.0]
        turns = [rig.bent(node, frames[k][2], np.radians(frames[k][3])) for k in own]
        values = ([] if own[0] == 0 else [rig.local[node]]) + turns + [rig.local[node]] * 2
        samplers.append({'input': put(times, 'SCALAR'), 'output': put(values, 'VEC4'), 'interpolation': 'STEP'})
        channels.append({'sampler': len(samplers) - 1, 'target': {'node': node, 'path': 'rotation'}})
    doc.setdefault('animations', []).append({'name': 'sweep', 'samplers': samplers, 'channels': channels})
    doc['buffers'][0]['byteLength'] = len(glb.body)



def sweep(cutis, model, angles, only=None):
    """@return per frame: name, degrees, jump, tilt, length, change of volume (% of the body)"""
    glb = Glb(model)
    rig = Rig(glb)
    frames, names, rest = plan(glb, rig, angles, only)
    nearest, rows = Nearest(rest), []
    with tempfile.TemporaryDirectory() as folder:
        swept, out = os.path.join(folder, 'sweep.glb'), os.path.join(folder, 'frames.glb')
        subprocess.run([cutis, 'deform', model, '--method', 'patches', '-q', '--force', '-o', out], check=True)
        still, there = Glb(out).surface(0), Glb(out).names(0)
        frames = [f for f in frames if f[0] + ' patch' in there]  # the root of a rig may have a part, too
        add_clip(glb, rig, frames)
        glb.write(swept)
        for first in range(0, len(frames), BATCH):
            end = min(first + BATCH, len(frames))
            subprocess.run([cutis, 'deform', swept, '--clip', 'sweep', '--method', 'patches', '--frames', f'{first}:{end}', '--fps', str(FPS), '-q',
                            '--force', '-o', out], check=True)
            batch = Glb(out)
            for k in range(first, end):
                name, node, axis, angle = frames[k]
                frame = batch.surface(k - first)
                patch, part = batch.names(k - first).index(name + ' patch'), names.index(name)
                centre, motions = rig.place[node], []
                for share in np.linspace(0, 1, 11):
                    r = rotation(axis, -share * np.radians(angle))
                    motions.append((r, centre - r @ centre))
                count = len(names)
                chosen = lambda x, y: (np.maximum(x, y) == patch) | ((np.maximum(x, y) < count) & ((x == part) | (y == part)))
                jump, tilt, length = borders(frame, chosen, nearest, motions, count, still)
                patched = int((frame.labels == patch).sum())
                rows.append((name, angle, jump, tilt, length, 100 * (frame.volume / rest.volume - 1), patched))
    return rows


def turned_by(points, centre, axis, angles):
    """Points turned about an axis through a centre, each by an angle of its own."""
    y = points - centre
    sine, cosine = np.sin(angles)[:, None], np.cos(angles)[:, None]
    return centre + cosine * y + sine * np.cross(axis, y) + (1 - cosine) * (y @ axis)[:, None] * axis


def descendants(nodes, top):
    """A node and all that hang on it."""
    found, left = set(), [top]
    while left:
        i = left.pop()
        found.add(i)
        left += nodes[i].get('children', [])
    return found


def own_shares(glb, below):
    """What vertices of the first mesh have of the nodes `below`, by the weights of the file; None: it has none."""
    joints, shares = glb.doc['skins'][0]['joints'], []
    inside = np.array([j in below for j in joints], float)
    for primitive in glb.doc['meshes'][0]['primitives']:
        at, total, sums = primitive['attributes'], 0, 0
        if 'WEIGHTS_0' not in at:
            return None
        for k in range(16):
            if f'WEIGHTS_{k}' in at:
                w = glb.array(at[f'WEIGHTS_{k}']).astype(float)
                total, sums = total + (w * inside[glb.array(at[f'JOINTS_{k}'])]).sum(1), sums + w.sum(1)
        shares.append(total / sums)
    return np.concatenate(shares)


def half_axis(points):
    """Shorter half axis of a loop's points (docs/spec/patches.md B1b)."""
    values = np.linalg.eigvalsh(np.cov(points.T, bias=True))
    return np.sqrt(2 * max(values[1], 0))


def floor(model, angles, only=None):
    """@return {kind: rows} as sweep's, without tilt"""
    glb = Glb(model)
    rig = Rig(glb)
    frames, names, rest = plan(glb, rig, angles, only)
    a, b, one, two = rest.edges()
    x, y = rest.labels[one], rest.labels[two]
    at = lambda points, v: points[rest.first[v]]
    corner = lambda points: points[rest.raw_faces[rest.ids]]

    def turns(points, keep):
        c = corner(points)
        f = np.unique(np.r_[one[keep], two[keep]])
        normals = np.zeros((len(c), 3))
        normals[f] = unit(np.cross(c[f, 1] - c[f, 0], c[f, 2] - c[f, 0]))
        return turn_of(normals[one[keep]], normals[two[keep]], unit(at(points, b[keep]) - at(points, a[keep])))

    rows = {'dual quaternions, own weights': [], 'even': []}
    for name, node, axis, angle in frames:
        part = names.index(name)
        keep = np.flatnonzero((x != y) & ((x == part) | (y == part)) & ~rest.flat[one] & ~rest.flat[two])
        upper = keep[np.array([not (set((x[k], y[k])) - {part} <= below_parts(glb, rig, names, node)) for k in keep], bool)]
        limb = np.cross(*axes_of(axis, frames, name))
        centre, before = rig.place[node], turns(rest.raw_points, keep)
        loop = rest.points[np.unique(np.r_[a[upper], b[upper]])] if len(upper) else rest.points[a[keep]]
        reach = GIRTH * half_axis(loop)
        ramp = np.clip(0.5 + (rest.raw_points - loop.mean(0)) @ limb / (2 * reach), 0, 1)
        share, theta = own_shares(glb, descendants(rig.nodes, node)), np.radians(angle)
        kinds = {'even': ramp * theta}
        if share is not None:
            kinds['dual quaternions, own weights'] = 2 * np.arctan2(share * np.sin(theta / 2), 1 - share + share * np.cos(theta / 2))
        for kind, turn in kinds.items():
            points = turned_by(rest.raw_points, centre, axis, turn)
            length = np.linalg.norm(at(points, b[keep]) - at(points, a[keep]), axis=1)
            jump = np.abs(turns(points, keep) - before)
            jump = np.degrees(np.minimum(jump, 2 * np.pi - jump))
            rows[kind].append((name, angle, jump, np.zeros(len(jump)), length, 0.0, 0))
    return {k: r for k, r in rows.items() if r}


def axes_of(axis, frames, name):
    """The two axes of a joint's frames, in order, so that their product is along its limb."""
    own = [f[2] for f in frames if f[0] == name]
    first, second = own[0], next(q for q in own if not np.allclose(q, own[0]))
    return first, second


def below_parts(glb, rig, names, node):
    """Parts that hang on a node, but for its own."""
    skin, tree = glb.doc['skins'][0]['joints'], glb.doc['meshes'][0]['extensions']['CUTIS_parts'].get('parts')
    nodes = [skin[tree[p]['joint']] if tree else rig.by_name[n] for p, n in enumerate(names)]
    below = descendants(rig.nodes, node) - {node}
    return {p for p, n in enumerate(nodes) if n in below}


def figures(rows, angles):
    """{angle: {jump, jump95, tilt, tilt95, volume}} over all frames, and by joint."""
    def of(some):
        weights = np.concatenate([r[4] / max(r[4].sum(), 1e-300) for r in some])  # every joint counts the same
        jump = summary(np.concatenate([r[2] for r in some]), weights)
        tilt = summary(np.concatenate([r[3] for r in some]), weights)
        return {'jump': jump[0], 'jump95': jump[1], 'tilt': tilt[0], 'tilt95': tilt[1], 'volume': max((r[5] for r in some), key=abs), 'patched': sum(r[6] > 0 for r in some) / len(some)}
    names = list(dict.fromkeys(r[0] for r in rows))
    return {'all': {str(a): of([r for r in rows if r[1] == a]) for a in angles},
            'joints': {n: {str(a): of([r for r in rows if r[1] == a and r[0] == n]) for a in angles} for n in names}}


def corners(glb):
    """Places, texture coordinates and normals of all corners of triangles of the first mesh."""
    rows = []
    for primitive in glb.doc['meshes'][0]['primitives']:
        at, index = primitive['attributes'], glb.array(primitive['indices']).reshape(-1)
        one = [glb.array(at[k])[index].astype(float) if k in at else np.zeros((len(index), n)) for k, n in
               (('POSITION', 3), ('TEXCOORD_0', 2), ('NORMAL', 3))]
        rows.append(np.concatenate(one, 1))
    return np.concatenate(rows)


def at_rest(cutis, model):
    """@return largest difference of places and texture coordinates, of normals (degrees; 0 if the file has none)"""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, 'rest.glb')
        subprocess.run([cutis, 'deform', model, '--method', 'patches', '-q', '-o', out], check=True)
        file, rest = corners(Glb(model)), corners(Glb(out))
    diagonal = np.linalg.norm(np.ptp(file[:, :3], axis=0))
    far, which = cKDTree(file[:, :5]).query(rest[:, :5])
    back, _ = cKDTree(rest[:, :5]).query(file[:, :5])
    a, b = file[which, 5:], rest[:, 5:]
    turn = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum('ij,ij->i', a, b))
    return max(far.max(), back.max()) / diagonal, np.degrees(turn.max()) if a.any() else 0.0


# The measure on surfaces whose jumps are known


def tube(rings, labels):
    """A tube through rings of points [rows, around, 3]; a label for each row of quads."""
    rings = np.asarray(rings)
    rows, around = rings.shape[:2]
    faces, tags = [], []
    for r in range(rows - 1):
        for i in range(around):
            j = (i + 1) % around
            a, b, c, d = r * around + i, r * around + j, (r + 1) * around + j, (r + 1) * around + i
            faces += [(a, b, c), (a, c, d)]
            tags += [labels[r]] * 2
    points = rings.reshape(-1, 3)
    faces = np.array(faces)
    corner = points[faces]
    cross = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    normals = np.zeros_like(points)
    for k in range(3):
        np.add.at(normals, faces[:, k], cross)
    return points, unit(normals), faces, np.array(tags)


def self_test():
    """@return are all as the formulas say?"""
    around, psi = 720, 2 * np.pi * np.arange(720) / 720
    ring = lambda z, tilt=0.0: np.stack([np.cos(psi), np.sin(psi), z + tilt * np.cos(psi)], 1)
    rest = Surface(*tube([ring(z) for z in (-3, -2, -1, 0, 1, 2, 3)], [0, 0, 0, 1, 1, 1]))
    nearest, good = Nearest(rest), True
    every = lambda x, y: x >= 0
    at_rest = (np.eye(3), np.zeros(3))

    def check(what, got, want, error):
        nonlocal good
        fine = abs(got - want) <= error
        good &= fine
        print(f'{"ok" if fine else "not ok"} {what}: {got:.4f}, by the formula {want:.4f}')

    jump, tilt, length = borders(rest, every, nearest, [at_rest])
    check('at rest: jump', jump.max(), 0, 1e-4)
    check('at rest: tilt', tilt.max(), 0, 1e-4)
    for degrees in (5.0, 20.0, 90.0):
        # Mitred: both halves end on the plane that halves the fold. Normals are those of the cylinders: at azimuth psi the angle between them is
        # acos(1 - (1 - cos theta) cos^2 psi), and the seam is an ellipse.
        theta, half = np.radians(degrees), np.tan(np.radians(degrees) / 2)
        r = rotation([0, 1, 0], theta)
        low = [ring(-3), ring(-2), ring(0, -half)]
        high = [ring(2) @ r.T, ring(3) @ r.T]
        bent = Surface(*tube(low + high, [0, 0, 1, 1]))
        jump, tilt, length = borders(bent, every, nearest, [at_rest, (r.T, np.zeros(3))])
        fine = (np.arange(200000) + 0.5) / 200000 * 2 * np.pi
        arc = np.sqrt(1 + (half * np.sin(fine)) ** 2)
        turn = np.degrees(np.arccos(1 - (1 - np.cos(theta)) * np.cos(fine) ** 2))
        order = np.argsort(turn)
        share = np.cumsum(arc[order]) / arc.sum()
        mean, high95 = summary(jump, length)
        check(f'folded by {degrees:g}: mean', mean, turn @ arc / arc.sum(), 0.02 * degrees)
        check(f'folded by {degrees:g}: 95th percentile', high95, turn[order][np.searchsorted(share, 0.95)], 0.01 * degrees)
        # Swept about an axis beside the cylinder, tangent to both halves, in `rows` chords: the first turns by theta / (2 rows) against the part,
        # seen at azimuth psi by that times cos psi; 2 / pi in the mean.
        rows, off = 10, 3.0
        sweep_rings = []
        for k in range(rows + 1):
            q = rotation([0, 1, 0], -theta * k / rows)
            sweep_rings.append((ring(0) + [off, 0, 0]) @ q.T - [off, 0, 0])
        q = rotation([0, 1, 0], -theta)
        after = [(ring(z) + [off, 0, 0]) @ q.T - [off, 0, 0] for z in (2, 3)]
        swept = Surface(*tube([ring(-3), ring(-2)] + sweep_rings + after, [0, 0] + [2] * rows + [1, 1]))
        jump, tilt, length = borders(swept, every, nearest, [at_rest, (q.T, q.T @ [off, 0, 0] - [off, 0, 0])])
        check(f'swept by {degrees:g}: mean', summary(jump, length)[0], degrees / (2 * rows) * 2 / np.pi, 0.002 * degrees)
    return good


def main():
    if sys.argv[1:] == ['--self-test']:
        sys.exit(0 if self_test() else 1)
    parser = argparse.ArgumentParser()
    parser.add_argument('cutis')
    parser.add_argument('model')
    parser.add_argument('--angles', default='5,10,20,45,90')
    parser.add_argument('--joints')
    parser.add_argument('--json')
    parser.add_argument('--by', default='')
    parser.add_argument('--rest', action='store_true')
    parser.add_argument('--floor', action='store_true')
    given = parser.parse_args()
    if given.rest:
        print('%.3g %.3g' % at_rest(given.cutis, given.model))
        return
    angles = [float(a) for a in given.angles.split(',')]
    if given.floor:
        for kind, rows in floor(given.model, angles, given.joints and given.joints.split(',')).items():
            found = figures(rows, angles)
            for name, by in [('', found['all'])] + (list(found['joints'].items()) if given.by == 'joint' else []):
                print(f'{kind}: ' + '  '.join(f'{by[a]["jump"]:6.2f}/{by[a]["jump95"]:6.2f}' for a in by) + f'  {name}')
        return
    found = figures(sweep(given.cutis, given.model, angles, given.joints and given.joints.split(',')), angles)
    line = lambda f: f'{f["jump"]:6.2f} {f["jump95"]:6.2f}   {f["tilt"]:6.2f} {f["tilt95"]:6.2f}   {f["volume"]:+8.4f}  {f["patched"]:5.2f}'
    print('angle    jump    95%     tilt    95%     volume  patched')
    for name, by in [('', found['all'])] + (list(found['joints'].items()) if given.by == 'joint' else []):
        for a in by:
            print(f'{float(a):5g}  {line(by[a])}  {name}')
    if given.json:
        with open(given.json, 'w') as f:
            json.dump(found, f)


if __name__ == '__main__':
    main()
