"""Rigged bodies for retargeting, made of GLB files and written again: other rest poses (skin, joints and inverse binds go with the pose, so that
it is the new rest), other up axes, another root, and things to break. Blends by itself, in double.
Knows nothing of Cutis but where `synth` and MakeHuman put their names."""
import json
import struct

import numpy as np
import scipy.sparse

WIDTH = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}
KIND = {5120: np.int8, 5121: np.uint8, 5122: np.int16, 5123: np.uint16, 5125: np.uint32, 5126: np.float32}


def turn(axis, degrees):
    a = np.asarray(axis, float) / np.linalg.norm(axis)
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    k = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + s * k + (1 - c) * k @ k


def matrix_of(q):
    x, y, z, w = np.asarray(q, float) / np.linalg.norm(q)
    return np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                     [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                     [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


def quaternion_of(m):
    """Eigenvector of the largest eigenvalue: no cases."""
    k = np.array([[m[0, 0] - m[1, 1] - m[2, 2], 0, 0, 0], [m[0, 1] + m[1, 0], m[1, 1] - m[0, 0] - m[2, 2], 0, 0],
                  [m[0, 2] + m[2, 0], m[1, 2] + m[2, 1], m[2, 2] - m[0, 0] - m[1, 1], 0],
                  [m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1], m[0, 0] + m[1, 1] + m[2, 2]]]) / 3
    return np.linalg.eigh(k)[1][:, -1]


class Rig:
    """Nodes, one skin, its vertices, the animations of a GLB."""

    def __init__(self, path):
        raw = open(path, 'rb').read()
        length = struct.unpack_from('<I', raw, 12)[0]
        self.json, self.bin = json.loads(raw[20:20 + length]), raw[28 + length:]
        nodes = self.json['nodes']
        self.names = [n.get('name', '') for n in nodes]
        self.parents = [-1] * len(nodes)
        for i, n in enumerate(nodes):
            for c in n.get('children', []):
                self.parents[c] = i
        self.locals = np.array([self.local(n) for n in nodes])
        self.order = sorted(range(len(nodes)), key=self.depth)
        self.read_skin()

    def depth(self, n):
        return 0 if self.parents[n] < 0 else 1 + self.depth(self.parents[n])

    def accessor(self, index):
        a = self.json['accessors'][index]
        view = self.json['bufferViews'][a['bufferView']]
        dtype, width = np.dtype(KIND[a['componentType']]), WIDTH[a['type']]
        start, stride = view.get('byteOffset', 0) + a.get('byteOffset', 0), view.get('byteStride', 0) or dtype.itemsize * width
        flat = np.ndarray((a['count'], width), dtype, self.bin, start, (stride, dtype.itemsize))
        values = flat.astype(float if dtype == np.float32 or a.get('normalized') else np.int64)
        return values / np.iinfo(dtype).max if a.get('normalized') else values

    def local(self, node):
        m = np.eye(4)
        if 'matrix' in node:
            return np.array(node['matrix'], float).reshape(4, 4).T
        m[:3, :3] = matrix_of(node.get('rotation', [0, 0, 0, 1])) * np.array(node.get('scale', [1, 1, 1]), float)
        m[:3, 3] = node.get('translation', [0, 0, 0])
        return m

    def read_skin(self):
        self.positions, self.triangles, joints, weights, base = [], [], [], [], 0
        skin = self.json.get('skins', [None])[0]
        if not skin:
            return
        for mesh in self.json['meshes']:
            for p in mesh['primitives']:
                a = p['attributes']
                if 'JOINTS_0' not in a:
                    continue
                x = self.accessor(a['POSITION'])
                self.positions.append(x)
                t = self.accessor(p['indices']).reshape(-1, 3) if 'indices' in p else np.arange(len(x)).reshape(-1, 3)
                self.triangles.append(t + base)
                sets = [k for k in range(8) if f'JOINTS_{k}' in a]
                j = np.hstack([self.accessor(a[f'JOINTS_{k}']) for k in sets])
                w = np.hstack([self.accessor(a[f'WEIGHTS_{k}']) for k in sets])
                rows = np.repeat(np.arange(len(x)) + base, j.shape[1])
                joints.append((rows, j.ravel()))
                weights.append(w.ravel())
                base += len(x)
        self.positions, self.triangles = np.vstack(self.positions), np.vstack(self.triangles)
        self.joints = skin['joints']
        self.weights = scipy.sparse.csr_matrix((np.concatenate(weights), (np.concatenate([r for r, _ in joints]), np.concatenate([c for _, c in joints]))),
                                               shape=(base, len(self.joints)))
        self.weights = scipy.sparse.diags(1 / np.maximum(np.asarray(self.weights.sum(1)).ravel(), 1e-30)) @ self.weights
        self.strongest = np.asarray(self.weights.argmax(1)).ravel()
        self.inverse_binds = (self.accessor(skin['inverseBindMatrices']).reshape(-1, 4, 4).transpose(0, 2, 1)
                              if 'inverseBindMatrices' in skin else np.tile(np.eye(4), (len(self.joints), 1, 1)))

    def world(self, locals_):
        out = np.empty_like(locals_)
        for n in self.order:
            out[n] = locals_[n] if self.parents[n] < 0 else out[self.parents[n]] @ locals_[n]
        return out

    def keyed(self, clip=-1):
        """Local matrices at every key of a clip (by name or index), and the times."""
        animations = self.json['animations']
        one = animations[clip] if isinstance(clip, int) else next(a for a in animations if a.get('name') == clip)
        tracks, times = {}, np.zeros(1)
        for channel in one['channels']:
            sampler = one['samplers'][channel['sampler']]
            t = self.accessor(sampler['input']).ravel()
            times = t if len(t) > len(times) else times
            values = self.accessor(sampler['output'])
            tracks[channel['target']['node'], channel['target']['path']] = (t, values[1::3] if sampler.get('interpolation') == 'CUBICSPLINE' else values)
        frames = np.repeat(self.locals[None], len(times), 0)
        for n in {n for n, _ in tracks}:
            node = self.json['nodes'][n]
            for f, time in enumerate(times):
                def value(path, rest):
                    if (n, path) not in tracks:
                        return np.array(node.get(path, rest), float)
                    t, v = tracks[n, path]
                    k = int(np.argmin(abs(t - time)))
                    assert len(t) == 1 or abs(t[k] - time) < 1e-4, 'keys of different times'
                    return v[k]
                frames[f, n, :3, :3] = matrix_of(value('rotation', [0, 0, 0, 1])) * value('scale', [1, 1, 1])
                frames[f, n, :3, 3] = value('translation', [0, 0, 0])
        return frames, times

    def posed(self, world, rows=None):
        """Vertices (or those of some rows) under world matrices."""
        palette = (world[self.joints] @ self.inverse_binds)[:, :3].reshape(len(self.joints), 12)
        w, x = (self.weights, self.positions) if rows is None else (self.weights[rows], self.positions[rows])
        m = (w @ palette).reshape(-1, 3, 4)
        return np.einsum('vij,vj->vi', m[:, :, :3], x) + m[:, :, 3]

    def under(self, top):
        inside = []
        for n in self.order:
            if n == top or (self.parents[n] >= 0 and self.parents[n] in inside):
                inside.append(n)
        return inside

    # A new rest ------------------------------------------------------------------------------

    def bind_world(self):
        world = self.world(self.locals)
        for j, n in enumerate(self.joints):
            world[n] = np.linalg.inv(self.inverse_binds[j])
        return world

    def rest_in(self, turns):
        """Turn joints by {name: rotation}, in world axes, parents first: skin and joints follow, and that is the rest. On the ground y = 0."""
        world, rest = {}, self.bind_world()
        for n in self.order:
            p = self.parents[n]
            above = world[p] @ np.linalg.inv(rest[p]) if p >= 0 else np.eye(4)
            m = above @ rest[n]
            r = turns.get(self.names[n])
            if r is not None:
                m[:3, :3] = above[:3, :3] @ r @ np.linalg.inv(above[:3, :3]) @ m[:3, :3]
            world[n] = m
        world = np.array([world[n] for n in range(len(self.names))])
        self.rest_at(world, self.posed(world))
        down = np.eye(4)
        down[1, 3] = -self.positions[:, 1].min()
        self.turned_by(down)

    def rest_at(self, world, positions):
        self.positions = positions
        for n in range(len(self.names)):
            self.locals[n] = world[n] if self.parents[n] < 0 else np.linalg.inv(world[self.parents[n]]) @ world[n]
        self.inverse_binds = np.linalg.inv(world[self.joints])

    def turned_by(self, m):
        world = self.bind_world()
        self.rest_at(np.array([m @ w for w in world]), self.positions @ m[:3, :3].T + m[:3, 3])

    def up_axis(self, axis):
        """y up to `axis` up."""
        m = np.eye(4)
        m[:3, :3] = {'y': np.eye(3), 'z': turn([1, 0, 0], 90), 'x': turn([0, 0, 1], -90)}[axis]
        self.turned_by(m)

    def root_at(self, name):
        """Hang the tree from another joint."""
        n, world, up = self.names.index(name), self.bind_world(), []
        while n >= 0 and n in self.joints:
            up.append(n)
            n = self.parents[n]
        for child, parent in zip(up, up[1:]):
            self.parents[parent] = child
        self.parents[up[0]] = n
        self.order = sorted(range(len(self.names)), key=self.depth)
        self.rest_at(world, self.positions)

    def add_joint(self, name, parent, at, taken, share):
        """A joint of no axis of its own, under a node (index) at another joint's place, that takes a share of that joint's weights; or the parent itself."""
        world = self.bind_world()
        if name is None:
            n = parent
        else:
            n = len(self.names)
            self.names.append(name)
            self.json['nodes'].append({})
            self.parents.append(parent)
            self.locals = np.append(self.locals, [np.eye(4)], 0)
            place = np.eye(4)
            place[:3, 3] = world[self.names.index(at)][:3, 3]
            world = np.append(world, [place], 0)
            self.order = sorted(range(len(self.names)), key=self.depth)
        self.joints = self.joints + [n]
        column = self.weights[:, self.joints.index(self.names.index(taken))]
        w = scipy.sparse.hstack([self.weights, share * column]).tolil()
        w[:, self.joints.index(self.names.index(taken))] = (1 - share) * column
        self.weights = w.tocsr()
        self.weights.eliminate_zeros()
        self.inverse_binds = np.append(self.inverse_binds, [np.eye(4)], 0)
        self.strongest = np.asarray(self.weights.argmax(1)).ravel()
        self.rest_at(world, self.positions)

    def write(self, path, names=True, bare=False):
        """Skin, joints and mesh alone; parents before children. Bare: the mesh alone."""
        blob, views, accessors = bytearray(), [], []

        def put(values, kind, component, dtype):
            data = np.ascontiguousarray(values, dtype)
            views.append({'buffer': 0, 'byteOffset': len(blob), 'byteLength': data.nbytes})
            accessors.append({'bufferView': len(views) - 1, 'componentType': component, 'type': kind, 'count': len(data)})
            if kind == 'VEC3':
                accessors[-1].update(min=data.min(0).tolist(), max=data.max(0).tolist())
            blob.extend(data.tobytes() + b'\0' * (-data.nbytes % 4))
            return len(accessors) - 1

        kept = [n for n in self.order if 'mesh' not in self.json['nodes'][n] and not bare]
        place = {n: i for i, n in enumerate(kept)}
        nodes = []
        for n in kept:
            m = self.locals[n]
            nodes.append({'name': self.names[n] if names else f'n{n}', 'translation': m[:3, 3].tolist(), 'rotation': quaternion_of(m[:3, :3]).tolist()})
            children = [place[c] for c in kept if self.parents[c] == n]
            if children:
                nodes[-1]['children'] = children
        attributes = {'POSITION': put(self.positions, 'VEC3', 5126, '<f4')}
        most = 0 if bare else int(np.diff(self.weights.indptr).max())
        for k in range((most + 3) // 4):
            j, w = np.zeros((len(self.positions), 4)), np.zeros((len(self.positions), 4))
            for v in range(len(self.positions)):
                a, b = self.weights.indptr[v:v + 2]
                row = np.argsort(-self.weights.data[a:b])[4 * k:4 * k + 4]
                j[v, :len(row)], w[v, :len(row)] = self.weights.indices[a:b][row], self.weights.data[a:b][row]
            attributes[f'JOINTS_{k}'], attributes[f'WEIGHTS_{k}'] = put(j, 'VEC4', 5123, '<u2'), put(w, 'VEC4', 5126, '<f4')
        indices = put(self.triangles.reshape(-1, 1), 'SCALAR', 5125, '<u4')
        skins = [] if bare else [{'joints': [place[n] for n in self.joints],
                                  'inverseBindMatrices': put(self.inverse_binds.transpose(0, 2, 1).reshape(-1, 16), 'MAT4', 5126, '<f4')}]
        nodes.append({'name': 'body', 'mesh': 0} if bare else {'name': 'skin', 'mesh': 0, 'skin': 0})
        out = {'asset': {'version': '2.0'}, 'scene': 0, 'scenes': [{'nodes': [place[n] for n in kept if self.parents[n] < 0] + [len(nodes) - 1]}],
               'nodes': nodes, 'meshes': [{'primitives': [{'attributes': attributes, 'indices': indices}]}],
               **({'skins': skins} if skins else {}), 'accessors': accessors, 'bufferViews': views, 'buffers': [{'byteLength': len(blob)}]}
        text = json.dumps(out).encode()
        text += b' ' * (-len(text) % 4)
        with open(path, 'wb') as file:
            file.write(struct.pack('<4sIIII', b'glTF', 2, 28 + len(text) + len(blob), len(text), 0x4e4f534a) + text + struct.pack('<II', len(blob), 0x004e4942) + blob)


LEFT, UP, FRONT = [1, 0, 0], [0, 1, 0], [0, 0, 1]

# Rest poses by names of the generator's humans (standing in A or T) and of MakeHuman's (standing in A).
FAMILY_POSES = {
    'raised': {'clavicle_r': turn(FRONT, -20), 'upperarm_r': turn(FRONT, -50), 'forearm_r': turn(FRONT, -20), 'upperarm_l': turn(FRONT, -40), 'forearm_l': turn(UP, -60)},
    'kneeling': {'thigh_l': turn(LEFT, -15), 'thigh_r': turn(LEFT, -25), 'shin_l': turn(LEFT, 100), 'shin_r': turn(LEFT, 110), 'foot_l': turn(LEFT, 45),
                 'foot_r': turn(LEFT, 40), 'spine': turn(LEFT, 8)},
    'arms': {'forearm_l': turn(UP, -80), 'forearm_r': turn(FRONT, -70)},
    'leg': {'thigh_l': turn(LEFT, -75), 'shin_l': turn(LEFT, 70)},
    'crouched': {**{f'thigh_{s}': turn(LEFT, -80) for s in 'lr'}, **{f'shin_{s}': turn(LEFT, 100) for s in 'lr'}, **{f'foot_{s}': turn(LEFT, -20) for s in 'lr'},
                 'spine': turn(LEFT, 20)},
}
BOTH = {'.L': 1, '.R': -1}
MAKEHUMAN_POSES = {
    'a': {},
    't': {f'upperarm01{s}': turn(FRONT, 42 * k) for s, k in BOTH.items()},
    'sitting': {**{f'upperleg01{s}': turn(LEFT, -85) for s in BOTH}, **{f'lowerleg01{s}': turn(LEFT, 88) for s in BOTH}, 'spine05': turn(LEFT, -6)},
    'bent': {'spine05': turn(LEFT, 20), 'spine03': turn(LEFT, 25), 'spine01': turn(LEFT, 15), 'neck01': turn(LEFT, -20), 'upperarm01.L': turn(UP, -50),
             'lowerarm01.L': turn(UP, -50), 'upperleg01.R': turn(LEFT, -35), 'lowerleg01.R': turn(LEFT, 45)},
    'raised': {'clavicle.R': turn(FRONT, -15), 'upperarm01.R': turn(FRONT, -95), 'lowerarm01.R': turn(FRONT, -20)},
    'kneeling': {**{f'upperleg01{s}': turn(LEFT, -20) for s in BOTH}, **{f'lowerleg01{s}': turn(LEFT, 105) for s in BOTH}, **{f'foot{s}': turn(LEFT, 45) for s in BOTH}},
    'arms': {'upperarm01.L': turn(FRONT, 20), 'lowerarm01.L': turn(UP, -80), 'upperarm01.R': turn(FRONT, -42), 'lowerarm01.R': turn(FRONT, -70)},
    'leg': {'upperleg01.L': turn(LEFT, -75), 'lowerleg01.L': turn(LEFT, 70)},
    'crouched': {**{f'upperleg01{s}': turn(LEFT, -80) for s in BOTH}, **{f'lowerleg01{s}': turn(LEFT, 100) for s in BOTH},
                 **{f'foot{s}': turn(LEFT, -20) for s in BOTH}, 'spine05': turn(LEFT, 20)},
}
