"""What is lost between two glTF files: a structural comparison that resolves references.

lost(before, after) walks both documents together. References to accessors are compared by type and decoded elements, images by
their bytes, other references as the numbers they are while the collection's items are compared one by one (Cutis adds at the end
and does not reorder). Buffers, views and the numbers of accessors are layout and not compared. What `after` has more is no loss.
"""
import base64
import json
import os
import re
import struct
import sys
import urllib.parse

FORMATS = {5120: 'b', 5121: 'B', 5122: 'h', 5123: 'H', 5125: 'I', 5126: 'f'}
WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT2': 4, 'MAT3': 9, 'MAT4': 16}
# Places that name accessors, from the root on.
ACCESSORS = [re.compile(p) for p in (
    r'/meshes/\d+/primitives/\d+/(attributes/[^/]+|indices|targets/\d+/[^/]+)', r'/skins/\d+/inverseBindMatrices',
    r'/animations/\d+/samplers/\d+/(input|output)', r'/nodes/\d+/extensions/EXT_mesh_gpu_instancing/attributes/[^/]+',
    r'.*/extensions/CUTIS_handles/(virtual/)?(first|handles|weights|shares|places)', r'.*/extensions/CUTIS_cage/(controls|weights|triangles)',
    r'/extensions/CUTIS_drivers/(ranges|coefficients|weightCoefficients)',
    r'/meshes/\d+/extensions/CUTIS_parts/(labels/\d+|weld/\d+|loops/\d+/vertices)')]
VIEWS = [re.compile(r'/meshes/\d+/primitives/\d+/extensions/KHR_draco_mesh_compression/bufferView')]
LAYOUT = re.compile(r'/(buffers|bufferViews|accessors)')
COMPRESSED = {'EXT_meshopt_compression', 'KHR_meshopt_compression'}


class Asset:
    def __init__(self, path):
        self.folder = os.path.dirname(os.path.abspath(path))
        with open(path, 'rb') as file:
            data = file.read()
        self.bin = b''
        if data[:4] == b'glTF':
            size = struct.unpack_from('<I', data, 12)[0]
            self.json = json.loads(data[20:20 + size])
            if len(data) >= 28 + size:
                self.bin = data[28 + size:28 + size + struct.unpack_from('<I', data, 20 + size)[0]]
        else:
            self.json = json.loads(data.decode('utf-8-sig'))
        self.buffers, self.decoded = {}, {}

    def uri(self, text):
        if text.startswith('data:'):
            head, content = text.split(',', 1)
            content = urllib.parse.unquote_to_bytes(content)
            return base64.b64decode(content + b'==', b'-_' if b'-' in content or b'_' in content else None) if head.endswith(';base64') else content
        with open(os.path.join(self.folder, urllib.parse.unquote(text)), 'rb') as file:
            return file.read()

    def buffer(self, index):
        if index not in self.buffers:
            json_ = self.json['buffers'][index]
            try:
                self.buffers[index] = self.uri(json_['uri']) if 'uri' in json_ else self.bin if index == 0 and self.bin else None
            except OSError:
                self.buffers[index] = None
        return self.buffers[index]

    def view(self, index):
        """Its bytes; None: the file has none, or they are compressed"""
        json_ = self.json['bufferViews'][index]
        data = self.buffer(json_['buffer'])
        if data is None or COMPRESSED & set(json_.get('extensions', {})):
            return None
        start = json_.get('byteOffset', 0)
        return data[start:start + json_['byteLength']]

    def elements(self, view, offset, size, count):
        """`count` elements of `size` bytes each, one after the other"""
        data, stride = self.view(view), self.json['bufferViews'][view].get('byteStride', size)
        if data is None:
            return None
        if stride == size:
            return bytearray(data[offset:offset + count * size])
        return bytearray(b''.join(data[offset + i * stride:offset + i * stride + size] for i in range(count)))

    def accessor(self, index):
        if index not in self.decoded:
            self.decoded[index] = self.decode(self.json['accessors'][index])
        return self.decoded[index]

    def decode(self, a):
        """The bytes of its elements, sparse ones in place"""
        component = struct.calcsize(FORMATS[a['componentType']])
        rows = {'MAT2': 2, 'MAT3': 3}.get(a['type'], 0)  # columns of small matrices are padded
        size = -(-rows * component // 4) * 4 * rows if rows else WIDTHS[a['type']] * component
        values = bytearray(size * a['count'])
        if 'bufferView' in a:
            values = self.elements(a['bufferView'], a.get('byteOffset', 0), size, a['count'])
        sparse = a.get('sparse')
        if sparse and values is not None:
            kind, count = FORMATS[sparse['indices']['componentType']], sparse['count']
            places = self.elements(sparse['indices']['bufferView'], sparse['indices'].get('byteOffset', 0), struct.calcsize(kind), count)
            items = self.elements(sparse['values']['bufferView'], sparse['values'].get('byteOffset', 0), size, count)
            for i, place in enumerate(struct.unpack(f'<{count}{kind}', places) if places else ()):
                values[size * place:size * place + size] = items[size * i:size * i + size]
        return values


def same_accessor(before, after, i, j):
    """None, or how they differ"""
    a, b = before.json['accessors'][i], after.json['accessors'][j]
    for key in ('type', 'componentType', 'normalized', 'count', 'name', 'extras', 'min', 'max'):
        if a.get(key) != b.get(key) and not (key == 'normalized' and not a.get(key) and not b.get(key)):
            return f'{key} {a.get(key)} is {b.get(key)}'
    x, y = before.accessor(i), after.accessor(j)
    if x is not None and y is not None and x != y:
        return 'its elements'
    return None


def image_bytes(asset, image):
    if 'bufferView' in image:
        return asset.view(image['bufferView'])
    uri = image.get('uri')
    return asset.uri(uri) if uri and uri.startswith('data:') else uri


def image_lost(before, after, a, b, place):
    try:
        if image_bytes(before, a) != image_bytes(after, b):
            yield f'{place}: its bytes'
    except (OSError, ValueError):
        pass
    rest = [{k: v for k, v in image.items() if k not in ('uri', 'bufferView')} for image in (a, b)]
    if 'mimeType' not in rest[0]:  # a data URI said it
        rest[1].pop('mimeType', None)
    yield from compare_members(before, after, *rest, place)


def compare_members(before, after, a, b, place):
    for key, value in a.items():
        step = f'{place}/{key}'
        if LAYOUT.fullmatch(step):
            continue
        if key not in b and value == []:  # glTF has no empty lists; none says the same
            continue
        if key not in b:
            yield f'{step}: gone'
        else:
            yield from compare(before, after, value, b[key], step)


def compare(before, after, a, b, place):
    if any(p.fullmatch(place) for p in ACCESSORS) and type(a) is int and type(b) is int:
        how = same_accessor(before, after, a, b)
        if how:
            yield f'{place}: {how}'
    elif any(p.fullmatch(place) for p in VIEWS):
        if before.view(a) != after.view(b):
            yield f'{place}: its bytes'
    elif re.fullmatch(r'/images/\d+', place):
        yield from image_lost(before, after, a, b, place)
    elif isinstance(a, dict) and isinstance(b, dict):
        yield from compare_members(before, after, a, b, place)
    elif isinstance(a, list) and isinstance(b, list):
        if place in ('/extensionsUsed', '/extensionsRequired'):
            gone = set(a) - set(b) - COMPRESSED
            if gone:
                yield f'{place}: {sorted(gone)} gone'
            return
        for i, value in enumerate(a):
            if i >= len(b):
                yield f'{place}/{i}: gone'
            else:
                yield from compare(before, after, value, b[i], f'{place}/{i}')
        if len(b) > len(a) and not re.fullmatch(r'/[a-zA-Z]+|.*/(primitives|channels|samplers|children|nodes|joints)', place):
            yield f'{place}: {len(a)} became {len(b)}'
    elif a != b or type(a) is not type(b) and {type(a), type(b)} != {int, float}:
        yield f'{place}: {json.dumps(a)[:60]} is {json.dumps(b)[:60]}'


def lost(before, after):
    first, second = Asset(before), Asset(after)
    gone = list(compare(first, second, first.json, second.json, ''))
    names = [{json.dumps([i.get('name'), i.get('extras')], sort_keys=True) for i in asset.json.get(key, []) if 'name' in i or 'extras' in i}
             for key in ('bufferViews',) for asset in (first, second)]
    gone += [f'/bufferViews: {n} gone' for n in sorted(names[0] - names[1])]
    return gone


if __name__ == '__main__':
    found = lost(*sys.argv[1:3])
    print('\n'.join(found))
    sys.exit(1 if found else 0)
