"""A second reader of BVH: names, parents and places of all joints in all frames, in double."""
import numpy as np


def axis_rotation(axis, degrees):
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array({'X': [[1, 0, 0], [0, c, -s], [0, s, c]], 'Y': [[c, 0, s], [0, 1, 0], [-s, 0, c]],
                     'Z': [[c, -s, 0], [s, c, 0], [0, 0, 1]]}[axis])


class Bvh:
    """names, parents, places [frames, joints, 3], seconds a frame"""

    def __init__(self, path):
        self.names, self.parents, offsets, channels, stack, rows = [], [], [], [], [], []
        motion = False
        for line in open(path):
            w = line.split()
            if not w:
                continue
            if motion:
                if w[0] == 'Frame':
                    self.step = float(w[2])
                elif w[0] != 'Frames:':
                    rows.append([float(x) for x in w])
            elif w[0] in ('ROOT', 'JOINT', 'End'):
                self.names.append(self.names[stack[-1]] + '_end' if w[0] == 'End' else w[1])
                self.parents.append(stack[-1] if stack else -1)
                offsets.append(None)
                channels.append([])
            elif w[0] == '{':
                stack.append(len(self.names) - 1)
            elif w[0] == '}':
                stack.pop()
            elif w[0] == 'OFFSET':
                offsets[-1] = [float(x) for x in w[1:4]]
            elif w[0] == 'CHANNELS':
                channels[-1] = w[2:]
            elif w[0] == 'MOTION':
                motion = True
        self.places = np.array([self.pose(np.array(offsets), channels, row) for row in rows])

    def pose(self, offsets, channels, row):
        at, places, rotations = 0, [], []
        for n, parent in enumerate(self.parents):
            r, p = np.eye(3), offsets[n].copy()
            for channel in channels[n]:
                if channel.endswith('position'):
                    p['XYZ'.index(channel[0])] += row[at]
                else:
                    r = r @ axis_rotation(channel[0], row[at])
                at += 1
            places.append(p if parent < 0 else places[parent] + rotations[parent] @ p)
            rotations.append(r if parent < 0 else rotations[parent] @ r)
        return np.array(places)
