"""Files that break the letter of glTF and still have one safe meaning, made by code: a small character, the faults, what a clean
twin has instead, and pairs of faults. gltf_generous.py judges them."""
import base64
import copy
import json
import math
import struct

import numpy

KINDS = {'f': 5126, 'B': 5121, 'H': 5123, 'I': 5125}
WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}
RINGS, SPOKES = 5, 6


def unit(*v):
    length = math.sqrt(sum(x * x for x in v))
    return [x / length for x in v]


class Array:
    """An accessor to be: its numbers, and how it lies in its view."""

    def __init__(self, kind, shape, values, target=None, bounds=False, **more):
        self.kind, self.shape, self.values, self.bounds = kind, shape, values, bounds
        self.view = {'target': target} if target else {}
        self.more, self.shift, self.offset, self.beside, self.sparse = more, 0, 0, None, None

    def rows(self):
        width = WIDTHS[self.shape]
        return [self.values[i:i + width] for i in range(0, len(self.values), width)]

    def scaled(self, factor, first=0, last=None):
        rows = self.rows()
        width = last or WIDTHS[self.shape]
        for row in rows:
            row[first:width] = [x * factor for x in row[first:width]]
        self.values = [x for row in rows for x in row]


class File:
    def __init__(self):
        self.arrays = {}
        self.json = {'asset': {'version': '2.0'}}
        self.container, self.binary, self.after = [], True, []
        self.make()

    def make(self):
        positions, normals, tangents, colors, coords, joints, weights, moves = ([] for _ in range(8))
        for ring in range(RINGS):
            for spoke in range(SPOKES):
                angle, height = 2 * math.pi * spoke / SPOKES, 0.6 * ring
                c, s = math.cos(angle), math.sin(angle)
                share = min(max(height - 0.4, 0), 1), min(max(height - 1.4, 0), 1)
                positions += [0.5 * c, height, 0.5 * s]
                normals += [c, 0, s]
                tangents += [-s, 0, c, 1]
                colors += [ring / RINGS, spoke / SPOKES, 0.5, 1]
                coords += [spoke / SPOKES, ring / RINGS]
                first = 1 - share[0]
                third = share[0] * share[1]
                joints += [0, 1, 2, 0]
                weights += [float(numpy.float32(x)) for x in (first, 1 - first - third, third, 0)]
                moves += [0.02 * c, 0.01 * ring, 0]
        corners = []
        for ring in range(RINGS - 1):
            for spoke in range(SPOKES):
                a, b = ring * SPOKES + spoke, ring * SPOKES + (spoke + 1) % SPOKES
                corners += [a, a + SPOKES, b, b, a + SPOKES, b + SPOKES]
        binds = []
        for joint in range(4):
            binds += [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -float(joint), 0, 1]
        half = math.sqrt(0.5)
        self.arrays = {
            'POSITION': Array('f', 'VEC3', positions, 34962, True), 'NORMAL': Array('f', 'VEC3', normals, 34962),
            'TANGENT': Array('f', 'VEC4', tangents, 34962), 'COLOR_0': Array('f', 'VEC4', colors, 34962),
            'TEXCOORD_0': Array('f', 'VEC2', coords, 34962), 'JOINTS_0': Array('B', 'VEC4', joints, 34962),
            'WEIGHTS_0': Array('f', 'VEC4', weights, 34962), 'target': Array('f', 'VEC3', moves, 34962, True),
            'indices': Array('H', 'SCALAR', corners, 34963), 'binds': Array('f', 'MAT4', binds),
            'times': Array('f', 'SCALAR', [0, 0.5, 1], bounds=True),
            'turns': Array('f', 'VEC4', [0, 0, 0, 1] + unit(0.2, 0, 0.4, 1) + [0, 0, half, half]),
            'bends': Array('f', 'VEC4', unit(0, 0.1, 0, 1) + unit(0.5, 0, 0, 1) + unit(0.3, 0.3, 0, 1)),
            'steps': Array('f', 'VEC3', [0, 0, 0, 0.5, 0.1, 0, 1, 0, 0.2]),
        }
        names = list(self.arrays)
        index = names.index
        attributes = {name: index(name) for name in names if name.upper() == name}
        self.json.update({
            'scene': 0, 'scenes': [{'nodes': [0, 1]}],
            'nodes': [{'mesh': 0, 'skin': 0}, {'name': 'hip', 'children': [2]},
                      {'name': 'mid', 'translation': [0, 1, 0], 'children': [3]},
                      {'name': 'fore', 'translation': [0, 1, 0], 'rotation': unit(0, 0.1, 0, 1), 'children': [4]},
                      {'name': 'tip', 'translation': [0, 1, 0]}],
            'meshes': [{'primitives': [{'attributes': attributes, 'indices': index('indices'), 'material': 0,
                                        'targets': [{'POSITION': index('target')}]}], 'weights': [0.25]}],
            'materials': [{'name': 'skin', 'pbrMetallicRoughness': {'metallicFactor': 0.5}}],
            'skins': [{'joints': [1, 2, 3, 4], 'inverseBindMatrices': index('binds'), 'skeleton': 1}],
            'animations': [{'name': 'wave', 'channels': [
                {'sampler': 0, 'target': {'node': 2, 'path': 'rotation'}},
                {'sampler': 1, 'target': {'node': 3, 'path': 'rotation'}},
                {'sampler': 2, 'target': {'node': 1, 'path': 'translation'}}],
                'samplers': [{'input': index('times'), 'output': index(x)} for x in ('turns', 'bends', 'steps')]}]})

    def index(self, name):
        return list(self.arrays).index(name)

    def add(self, name, array):
        self.arrays[name] = array
        return self.index(name)

    def pack(self):
        """The bytes of the file."""
        data, views, accessors, view_of = b'', [], [], {}
        for name, array in self.arrays.items():
            width, size = WIDTHS[array.shape], struct.calcsize(array.kind)
            rows = [struct.pack(f'<{width}{array.kind}', *row) for row in array.rows()]
            stride = array.view.get('byteStride') or width * size
            content = b''.join(row.ljust(stride, b'\xee') for row in rows) if stride != width * size else b''.join(rows)
            accessor = {'componentType': KINDS[array.kind], 'count': len(rows), 'type': array.shape, **array.more}
            if array.bounds:
                exact = [[x[0] for x in struct.iter_unpack('<' + array.kind, row)] for row in rows]
                accessor['min'] = [min(row[k] for row in exact) for k in range(width)]
                accessor['max'] = [max(row[k] for row in exact) for k in range(width)]
            if array.beside:
                view = view_of[array.beside]
                start = len(data) - views[view]['byteOffset'] + -len(data) % 4
                data += b'\0' * (-len(data) % 4) + content
                views[view]['byteLength'] = len(data) - views[view]['byteOffset']
                accessor.update({'bufferView': view, 'byteOffset': start})
            else:
                data += b'\0' * (-len(data) % 4 + array.shift) + b'\0' * 0
                views.append({'buffer': 0, 'byteOffset': len(data), 'byteLength': len(content) + array.offset, **array.view})
                data += b'\0' * array.offset + content
                accessor['bufferView'] = len(views) - 1
                if array.offset:
                    accessor['byteOffset'] = array.offset
            view_of[name] = accessor['bufferView']
            accessors.append(accessor)
            if array.sparse:
                for part, extra in array.sparse:
                    data += b'\0' * (-len(data) % 4)
                    views.append({'buffer': 0, 'byteOffset': len(data), 'byteLength': len(part), **extra})
                    data += part
                accessor['sparse'] = {'count': 1, 'indices': {'bufferView': len(views) - 2, 'componentType': 5123},
                                      'values': {'bufferView': len(views) - 1}}
        json_ = {**copy.deepcopy(self.json), 'accessors': accessors, 'bufferViews': views, 'buffers': [{'byteLength': len(data)}]}
        for edit in self.after:
            data = edit(json_, data) or data
        return self.glb(json_, data) if self.binary else self.gltf(json_, data)

    def gltf(self, json_, data):
        json_['buffers'][0]['uri'] = 'data:application/octet-stream;base64,' + base64.b64encode(data).decode()
        raw = json.dumps(json_).encode()
        for edit in self.container:
            raw = edit(raw)
        return raw

    def glb(self, json_, data):
        text = json.dumps(json_).encode()
        parts = {'text': text, 'data': data + b'\0' * (-len(data) % 4), 'fill': b' ', 'more': 0, 'end': b'', 'text_length': None,
                 'data_length': None}
        for edit in self.container:
            edit(parts)
        text = parts['text'] + parts['fill'] * (-len(parts['text']) % 4)
        text_length = parts['text_length'](text) if parts['text_length'] else len(text)
        data_length = parts['data_length'](parts['data']) if parts['data_length'] else len(parts['data'])
        body = struct.pack('<I4s', text_length, b'JSON') + text + struct.pack('<I4s', data_length, b'BIN\0') + parts['data']
        return b'glTF' + struct.pack('<II', 2, 12 + len(body) + parts['more']) + body + parts['end']


FAULTS = {}


def fault(code, three=True, twin=None, pairs=True):
    """@param code what the note says; None: nothing is to be put right. @param twin what the clean file has instead"""
    def register(function):
        FAULTS[function.__name__] = {'code': code, 'three': three, 'twin': twin, 'apply': function, 'pairs': pairs}
        return function
    return register


def stride(name, bytes_):
    def apply(f):
        f.arrays[name].view['byteStride'] = bytes_
    return apply


for label, name, bytes_, code in [
        ('binds_with_a_stride', 'binds', 80, 'SKIN_IBM_ACCESSOR_WITH_BYTESTRIDE'),
        ('binds_with_the_stride_they_have', 'binds', 64, 'SKIN_IBM_ACCESSOR_WITH_BYTESTRIDE'),
        ('times_with_a_stride', 'times', 8, 'ANIMATION_SAMPLER_ACCESSOR_WITH_BYTESTRIDE'),
        ('turns_with_a_stride', 'turns', 24, 'ANIMATION_SAMPLER_ACCESSOR_WITH_BYTESTRIDE'),
        ('stride_of_256', 'NORMAL', 256, 'VALUE_NOT_IN_RANGE'),
        ('stride_of_14', 'POSITION', 14, 'VALUE_MULTIPLE_OF')]:
    # three.js takes strides of whole floats, and none of inverse binds and keys.
    good = bytes_ % 4 == 0 and name not in ('times', 'turns') and bytes_ != 80
    FAULTS[label] = {'code': code, 'three': good, 'twin': None, 'apply': stride(name, bytes_), 'pairs': True}


@fault('MESH_PRIMITIVE_INDICES_ACCESSOR_WITH_BYTESTRIDE')
def indices_with_a_stride(f):
    f.arrays['indices'].view = {'byteStride': 4}


@fault('BUFFER_VIEW_INVALID_BYTE_STRIDE')
def indices_with_a_stride_and_a_target(f):
    f.arrays['indices'].view['byteStride'] = 4


@fault('VALUE_NOT_IN_RANGE')
def stride_of_zero(f):
    f.arrays['WEIGHTS_0'].view['byteStride'] = 0


@fault('MESH_PRIMITIVE_ACCESSOR_WITHOUT_BYTESTRIDE')
def attributes_in_one_view_without_a_stride(f):
    f.arrays['NORMAL'].beside = 'POSITION'


@fault('ACCESSOR_MAX_MISMATCH')
def a_bound_slightly_off(f):
    def edit(json_, _):
        json_['accessors'][f.index('POSITION')]['max'][1] *= 1 + 1.5e-5
    f.after.append(edit)


@fault('ACCESSOR_MIN_MISMATCH')
def bounds_far_off(f):
    f.after.append(lambda json_, _: json_['accessors'][f.index('POSITION')].update({'min': [-9, -9, -9]}))


@fault('ACCESSOR_MAX_MISMATCH')
def bounds_of_times_off(f):
    f.after.append(lambda json_, _: json_['accessors'][f.index('times')].update({'max': [1.25]}))


@fault('MESH_PRIMITIVE_POSITION_ACCESSOR_WITHOUT_BOUNDS')
def positions_without_bounds(f):
    f.arrays['POSITION'].bounds = False


@fault('ANIMATION_SAMPLER_INPUT_ACCESSOR_WITHOUT_BOUNDS')
def times_without_bounds(f):
    f.arrays['times'].bounds = False


@fault('ARRAY_LENGTH_NOT_IN_LIST')
def bounds_of_two_numbers(f):
    f.after.append(lambda json_, _: json_['accessors'][f.index('POSITION')].update({'max': [1, 2]}))


@fault('ACCESSOR_WEIGHTS_NON_NORMALIZED')
def weights_that_sum_to_two(f):
    f.arrays['WEIGHTS_0'].scaled(2)


@fault('ACCESSOR_WEIGHTS_NON_NORMALIZED')
def weights_of_five_digits(f):
    f.arrays['WEIGHTS_0'].scaled(0.99999)


def whole_weights(top):
    def round_(f):
        rows = f.arrays['WEIGHTS_0'].rows()
        for row in rows:
            row[:] = [round(x * top) for x in row]
            row[0] += top - sum(row)
        return [x for row in rows for x in row]
    return round_


def weights_twin(top):
    def twin(f):
        f.arrays['WEIGHTS_0'] = Array('f', 'VEC4', [float(numpy.float32(x / top)) for x in whole_weights(top)(f)], 34962)
        for_sum = f.arrays['WEIGHTS_0'].rows()
        for row in for_sum:
            total = sum(row)
            row[:] = [float(numpy.float32(x / total)) for x in row]
        f.arrays['WEIGHTS_0'].values = [x for row in for_sum for x in row]
    return twin


@fault('MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT', three=False, twin=weights_twin(255))
def weights_of_bytes_not_called_normalised(f):
    f.arrays['WEIGHTS_0'] = Array('B', 'VEC4', whole_weights(255)(f), 34962)


@fault('MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT', three=False, twin=weights_twin(65535))
def weights_of_shorts_not_called_normalised(f):
    f.arrays['WEIGHTS_0'] = Array('H', 'VEC4', whole_weights(65535)(f), 34962)


@fault('ACCESSOR_WEIGHTS_NON_NORMALIZED', three=False, twin=weights_twin(255))
def weights_of_bytes_that_sum_to_more(f):
    values = whole_weights(255)(f)
    f.arrays['WEIGHTS_0'] = Array('B', 'VEC4', [x // 2 * 2 for x in values], 34962, normalized=True)
    total = f.arrays['WEIGHTS_0'].rows()
    # The same shares of another whole, so that the twin is the same blend.
    f.arrays['WEIGHTS_0'].values = [x for row in total for x in row]


FAULTS['weights_of_bytes_that_sum_to_more']['twin'] = lambda f: even_weights(f)


def even_weights(f):
    rows = Array('B', 'VEC4', [x // 2 * 2 for x in whole_weights(255)(f)]).rows()
    for row in rows:
        total = sum(row)
        row[:] = [float(numpy.float32(x / total)) for x in row]
    f.arrays['WEIGHTS_0'] = Array('f', 'VEC4', [x for row in rows for x in row], 34962)


def empty_vertex(f):
    f.arrays['WEIGHTS_0'].values[:4] = [0, 0, 0, 0]
    f.arrays['JOINTS_0'].values[:4] = [1, 0, 0, 0]


def whole_vertex(f):
    f.arrays['WEIGHTS_0'].values[:4] = [1, 0, 0, 0]
    f.arrays['JOINTS_0'].values[:4] = [1, 0, 0, 0]


@fault('VERTEX_UNWEIGHTED', twin=whole_vertex)
def a_vertex_without_weights(f):
    empty_vertex(f)


@fault('ROTATION_NON_UNIT', three=False)
def a_rotation_of_length_two(f):
    f.json['nodes'][3]['rotation'] = [2 * x for x in f.json['nodes'][3]['rotation']]


@fault('ROTATION_NON_UNIT', three=False)
def a_rotation_of_half_a_length(f):
    f.json['nodes'][3]['rotation'] = [x / 2 for x in f.json['nodes'][3]['rotation']]


@fault('ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION', three=False)
def turns_that_are_too_long(f):
    f.arrays['turns'].scaled(1.5)


@fault('ACCESSOR_VECTOR3_NON_UNIT')
def normals_that_are_too_long(f):
    f.arrays['NORMAL'].scaled(2)


@fault('ACCESSOR_VECTOR3_NON_UNIT')
def normals_without_direction(f):
    f.arrays['NORMAL'].scaled(0)


@fault('ACCESSOR_VECTOR3_NON_UNIT')
def tangents_that_are_too_long(f):
    f.arrays['TANGENT'].scaled(3, 0, 3)


@fault('ACCESSOR_INVALID_SIGN')
def tangents_of_half_a_sign(f):
    f.arrays['TANGENT'].scaled(0.5, 3, 4)


@fault('ACCESSOR_NON_CLAMPED')
def colours_above_one(f):
    f.arrays['COLOR_0'].scaled(1.5)


@fault('ACCESSOR_JOINTS_INDEX_DUPLICATE')
def a_joint_twice_in_a_vertex(f):
    joints, weights = f.arrays['JOINTS_0'].rows(), f.arrays['WEIGHTS_0'].rows()
    for j, w in zip(joints, weights):
        j[3], w[3], w[1] = j[1], w[1] / 2, w[1] / 2
    f.arrays['JOINTS_0'].values = [x for row in joints for x in row]
    f.arrays['WEIGHTS_0'].values = [x for row in weights for x in row]


@fault('ACCESSOR_JOINTS_INDEX_OOB', three=False)
def joints_out_of_range_without_weight(f):
    f.arrays['JOINTS_0'].values[3::4] = [77] * (RINGS * SPOKES)


@fault('MESH_PRIMITIVE_ATTRIBUTES_ACCESSOR_INVALID_FORMAT')
def joints_of_32_bits(f):
    f.arrays['JOINTS_0'].kind = 'I'


def reorder(f, order):
    for name in ('times', 'turns', 'bends', 'steps'):
        rows = f.arrays[name].rows()
        f.arrays[name].values = [x for k in order for x in rows[k]]


@fault('ACCESSOR_ANIMATION_INPUT_NON_INCREASING', three=False)
def keys_that_are_not_sorted(f):
    reorder(f, (2, 0, 1))


@fault('ACCESSOR_ANIMATION_INPUT_NON_INCREASING')
def keys_twice(f):
    reorder(f, (0, 1, 1, 2))


def jump(f, times):
    reorder(f, (0, 1, 2, 2))
    f.arrays['times'].values = times


@fault('ACCESSOR_ANIMATION_INPUT_NON_INCREASING', three=False, pairs=False,
       twin=lambda f: jump(f, [0, float(numpy.nextafter(numpy.float32(0.5), numpy.float32(0))), 0.5, 1]))
def keys_that_jump(f):
    jump(f, [0, 0.5, 0.5, 1])


def no_binds(f):
    f.json['skins'][0].pop('inverseBindMatrices')
    del f.arrays['binds']
    samplers = f.json['animations'][0]['samplers']
    for sampler, output in zip(samplers, ('turns', 'bends', 'steps')):
        sampler.update({'input': f.index('times'), 'output': f.index(output)})


def identity_binds(f):
    f.arrays['binds'].values = [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] * 4


@fault(None, twin=identity_binds, pairs=False)
def no_inverse_binds(f):
    no_binds(f)


@fault('INVALID_IBM_ACCESSOR_COUNT', three=False)
def no_inverse_bind_for_a_joint_nobody_follows(f):
    f.arrays['binds'].values = f.arrays['binds'].values[:48]


@fault('ACCESSOR_INVALID_IBM', three=False)
def dust_in_inverse_binds(f):
    f.arrays['binds'].values[15] = 1.00001


@fault(None)
def joints_nobody_follows(f):
    f.json['nodes'] += [{'name': 'spare'}]
    f.json['nodes'][4]['children'] = [5]
    f.json['skins'][0]['joints'].append(5)
    f.arrays['binds'].values = f.arrays['binds'].values + f.arrays['binds'].values[48:]


@fault('DUPLICATE_ELEMENTS', three=True)
def a_node_that_is_two_joints(f):
    f.json['skins'][0]['joints'].append(2)
    f.arrays['binds'].values = f.arrays['binds'].values + f.arrays['binds'].values[16:32]
    joints = f.arrays['JOINTS_0'].rows()
    for row in joints[::2]:
        row[1] = 4
    f.arrays['JOINTS_0'].values = [x for row in joints for x in row]


@fault('DUPLICATE_ELEMENTS')
def a_child_twice(f):
    f.json['nodes'][3]['children'] = [4, 4]


@fault('DUPLICATE_ELEMENTS')
def a_root_twice(f):
    f.json['scenes'][0]['nodes'] = [0, 1, 1]


@fault('BUFFER_BYTE_LENGTH_MISMATCH')
def a_buffer_padded_in_its_length_only(f):
    f.after.append(lambda json_, _: json_['buffers'][0].update({'byteLength': json_['buffers'][0]['byteLength'] + 3}))


@fault('BUFFER_BYTE_LENGTH_MISMATCH')
def a_buffer_much_longer_than_its_data(f):
    f.after.append(lambda json_, _: json_['buffers'][0].update({'byteLength': json_['buffers'][0]['byteLength'] + 4096}))


@fault('BUFFER_VIEW_TOO_LONG')
def a_view_padded_beyond_its_buffer(f):
    f.after.append(lambda json_, _: json_['bufferViews'][-1].update({'byteLength': json_['bufferViews'][-1]['byteLength'] + 2}))


def container(code, three=True, binary=True):
    def register(function):
        def apply(f):
            f.binary = binary
            f.container.append(function)
        FAULTS[function.__name__] = {'code': code, 'three': three, 'twin': None, 'apply': apply, 'pairs': binary}
        return function
    return register


@container('GLB_LENGTH_MISMATCH')
def a_header_that_says_more(parts):
    parts['more'] = 64


@container('GLB_CHUNK_TOO_BIG')
def a_header_that_says_less(parts):
    parts['more'] = -12


@container(None)
def bytes_after_the_end(parts):
    parts['end'] = b'trailing'


@container('GLB_UNEXPECTED_END_OF_CHUNK_HEADER', three=False)
def a_few_bytes_after_the_chunks(parts):
    parts['end'], parts['more'] = b'\0\0\0', 3


@container('GLB_CHUNK_LENGTH_UNALIGNED', three=False)
def a_text_chunk_without_its_padding(parts):
    parts['text'] += b' ' * (-len(parts['text']) % 4) + b' '
    parts['text_length'] = lambda text: len(text) - 3


@container('GLB_UNEXPECTED_END_OF_CHUNK_DATA', three=False)
def a_data_chunk_whose_padding_is_missing(parts):
    size = len(parts['data'])
    parts['data'] += b'\0'
    parts['data_length'] = lambda data: size + 4
    parts['more'] = 3


@container('INVALID_JSON', three=False)
def zero_bytes_after_the_text(parts):
    parts['text'] += b' ' * ((-len(parts['text']) - 3) % 4)
    parts['fill'] = b'\0'


@container('INVALID_JSON', three=False)
def a_mark_before_the_text_of_a_glb(parts):
    parts['text'] = b'\xef\xbb\xbf' + parts['text']


@container('INVALID_JSON', three=False, binary=False)
def a_mark_before_the_text(raw):
    return b'\xef\xbb\xbf' + raw


@container('INVALID_JSON', three=False, binary=False)
def zero_bytes_at_the_end(raw):
    return raw + b'\0\0'


@fault('BUFFER_VIEW_TARGET_OVERRIDE')
def vertices_that_are_called_indices(f):
    f.arrays['POSITION'].view['target'] = 34963


@fault('BUFFER_VIEW_TARGET_OVERRIDE')
def indices_that_are_called_vertices(f):
    f.arrays['indices'].view['target'] = 34962


@fault('BUFFER_VIEW_TARGET_OVERRIDE')
def binds_that_are_called_vertices(f):
    f.arrays['binds'].view['target'] = 34962


@fault('BUFFER_VIEW_TARGET_OVERRIDE')
def times_that_are_called_vertices(f):
    f.arrays['times'].view['target'] = 34962


@fault('BUFFER_VIEW_TARGET_OVERRIDE')
def vertices_and_indices_in_one_view(f):
    f.arrays['target'].view = {}
    f.arrays['indices'].beside = 'target'


@fault('ASSET_MIN_VERSION_GREATER_THAN_VERSION')
def a_least_version_above_the_version(f):
    f.json['asset']['minVersion'] = '2.1'


@fault('UNKNOWN_ASSET_MINOR_VERSION')
def a_version_to_come(f):
    f.json['asset'].update({'version': '2.1', 'minVersion': '2.1'})


@fault('SKIN_SKELETON_INVALID')
def a_skeleton_that_is_no_common_root(f):
    f.json['skins'][0]['skeleton'] = 4


def forest(f, joined):
    nodes = f.json['nodes']
    f.json['skins'][0]['joints'].pop()  # the validator does not see it with a second joint of the second tree
    f.arrays['binds'].values = f.arrays['binds'].values[:48]
    nodes[2].pop('children')
    nodes[3]['translation'] = [0.1, 2, 0]
    f.json['skins'][0].pop('skeleton')
    if joined:
        nodes.append({'name': 'above', 'children': [1, 3]})
    f.json['scenes'][0]['nodes'] = [0, 5] if joined else [0, 1, 3]


@fault('SKIN_NO_COMMON_ROOT', twin=lambda f: forest(f, True), pairs=False)
def joints_of_two_trees(f):
    forest(f, False)


@fault(None)
def a_joint_of_no_size(f):
    f.json['nodes'][4]['scale'] = [0, 0, 0]


def spin(x, y, z, w):
    return numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
                        [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
                        [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)]])


OUTER, INNER = unit(0.3, 0.1, 0, 1), unit(0, 0.2, 0.5, 1)


def above(f, scale, split):
    """A root over the joints that turns, scales and turns again: as one matrix, or as two nodes."""
    matrix = numpy.eye(4)
    matrix[:3, :3] = spin(*OUTER) @ numpy.diag(scale) @ spin(*INNER)
    matrix[:3, 3] = [0.1, 0.2, 0.3]
    nodes = f.json['nodes']
    if split:
        nodes += [{'translation': [0.1, 0.2, 0.3], 'rotation': OUTER, 'scale': scale, 'children': [6]},
                  {'rotation': INNER, 'children': [1]}]
    else:
        nodes += [{'matrix': [float(x) for x in matrix.T.flatten()], 'children': [1]}]
    f.json['scenes'][0]['nodes'] = [0, 5]
    f.json['skins'][0].pop('skeleton', None)


@fault('NODE_MATRIX_NON_TRS', twin=lambda f: above(f, [1.5, 0.5, 1], True), three=False, pairs=False)
def a_sheared_matrix(f):
    above(f, [1.5, 0.5, 1], False)


@fault('NODE_MATRIX_NON_TRS', twin=lambda f: above(f, [1, 0, 1], True), three=False, pairs=False)
def a_matrix_of_no_height(f):
    above(f, [1, 0, 1], False)


@fault(None)
def names_that_repeat(f):
    for node in f.json['nodes'][1:]:
        node['name'] = 'bone'


@fault('VALUE_NOT_IN_RANGE')
def a_factor_above_one(f):
    f.json['materials'][0]['pbrMetallicRoughness']['metallicFactor'] = 1.5


@fault('EMPTY_ENTITY')
def empty_lists(f):
    f.json['cameras'] = []
    f.json['nodes'][4]['children'] = []


@fault('UNDECLARED_EXTENSION')
def an_extension_that_is_not_declared(f):
    f.json['materials'][0]['extensions'] = {'KHR_materials_unlit': {}}


@fault('UNUSED_EXTENSION_REQUIRED')
def an_extension_that_is_required_only(f):
    f.json['materials'][0]['extensions'] = {'KHR_materials_unlit': {}}
    f.json['extensionsUsed'] = ['KHR_materials_emissive_strength']
    f.json['materials'][0]['extensions'] = {'KHR_materials_emissive_strength': {'emissiveStrength': 2.0}}
    f.json['extensionsRequired'] = ['KHR_mesh_quantization']


@fault('DUPLICATE_ELEMENTS')
def an_extension_twice_in_its_list(f):
    f.json['materials'][0]['extensions'] = {'KHR_materials_unlit': {}}
    f.json['extensionsUsed'] = ['KHR_materials_unlit', 'KHR_materials_unlit']


@fault('ACCESSOR_TOTAL_OFFSET_ALIGNMENT', three=False)
def floats_at_an_odd_place(f):
    f.arrays['TEXCOORD_0'].shift = 2


@fault('ACCESSOR_OFFSET_ALIGNMENT', three=False)
def binds_at_an_odd_place(f):
    f.arrays['binds'].offset = 6


@fault('MESH_PRIMITIVE_ACCESSOR_UNALIGNED')
def colours_of_three_bytes(f):
    values = [round(255 * x) for row in f.arrays['COLOR_0'].rows() for x in row[:3]]
    f.arrays['COLOR_0'] = Array('B', 'VEC3', values, 34962, normalized=True)


@fault('ACCESSOR_NORMALIZED_INVALID')
def floats_that_are_called_normalised(f):
    f.arrays['WEIGHTS_0'].more['normalized'] = True


def sparse(extra):
    def apply(f):
        row = f.arrays['target'].rows()[4]
        f.arrays['target'].sparse = [(struct.pack('<H', 4), extra), (struct.pack('<3f', *row), extra)]
    return apply


FAULTS['sparse_data_called_vertices'] = {'code': 'BUFFER_VIEW_TARGET_OVERRIDE', 'three': True, 'twin': None,
                                         'apply': sparse({'target': 34962}), 'pairs': True}


def made(names):
    """The file with these faults, and its clean twin."""
    broken, clean = File(), File()
    for name in names:
        FAULTS[name]['apply'](broken)
        if FAULTS[name]['twin']:
            FAULTS[name]['twin'](clean)
    return broken, clean


def cases():
    for name in FAULTS:
        yield (name,)
    paired = [name for name in FAULTS if FAULTS[name]['pairs']]
    for step in (7, 19):
        for i in range(0, len(paired), 2):
            a, b = paired[i], paired[(i + step) % len(paired)]
            if compatible(a, b):
                yield (a, b)


def touched(name):
    """What of the file a fault changes: arrays, parts of the JSON, edits that follow."""
    f, base = File(), File()
    FAULTS[name]['apply'](f)
    parts = {x for x in base.arrays if x not in f.arrays or vars(f.arrays[x]) != vars(base.arrays[x])}
    parts |= {x for x in f.json if f.json[x] != base.json.get(x)}
    parts |= {'POSITION'} if f.after else set()
    return parts | ({'container'} if f.container else set())


def compatible(a, b):
    return a != b and not touched(a) & touched(b)
