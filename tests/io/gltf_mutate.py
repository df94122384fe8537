"""Documents with one thing wrong, judged by the Khronos validator and by Cutis: gltf_mutate.py INSPECT

Small valid documents (a skinned and animated triangle, morph targets, sparse and interleaved accessors, indices, materials,
cameras, cubic splines) have each property deleted and replaced by values of other types and ranges. INSPECT is the program
test_gltf_inspect_io. Where the validator has errors we must refuse, with one of its codes for 99 % of the documents;
where it has none we must not, and remark on the same.
"""
import base64
import copy
import json
import os
import struct
import subprocess
import sys
import tempfile

LEAST = 0.99
# What the validator remarks on and Cutis does not: what is unused, empty or degenerate; and images that are not there, which are
# left out of the validator's report (gltf_validate.mjs), and what only Cutis says.
UNREMARKED = {'NOT_CHECKED', 'IO_ERROR', 'UNUSED_OBJECT', 'UNUSED_MESH_WEIGHTS', 'NODE_EMPTY', 'ACCESSOR_INDEX_TRIANGLE_DEGENERATE'}
COMPONENTS = {'f': 5126, 'B': 5121, 'b': 5120, 'H': 5123, 'h': 5122, 'I': 5125}
WIDTHS = {'SCALAR': 1, 'VEC2': 2, 'VEC3': 3, 'VEC4': 4, 'MAT4': 16}
VERTICES, INDICES = 34962, 34963


class Document:
    """A document whose accessors are filled in one by one."""

    def __init__(self):
        self.json = {'asset': {'version': '2.0'}, 'bufferViews': [], 'accessors': []}
        self.data = b''

    def view(self, data, **more):
        self.data += b'\0' * (-len(self.data) % 4)
        self.json['bufferViews'].append({'buffer': 0, 'byteOffset': len(self.data), 'byteLength': len(data), **more})
        self.data += data
        return len(self.json['bufferViews']) - 1

    def accessor(self, kind, values, shape, target=None, bounds=False, **more):
        view = self.view(struct.pack(f'<{len(values)}{kind}', *values), **({'target': target} if target else {}))
        width = WIDTHS[shape]
        json_ = {'bufferView': view, 'componentType': COMPONENTS[kind], 'count': len(values) // width, 'type': shape, **more}
        if bounds:
            json_['min'] = [min(values[i::width]) for i in range(width)]
            json_['max'] = [max(values[i::width]) for i in range(width)]
        self.json['accessors'].append(json_)
        return len(self.json['accessors']) - 1

    def triangle(self):
        return self.accessor('f', [0, 0, 0, 1, 0, 0, 0, 1, 0], 'VEC3', VERTICES, True)

    def done(self, **more):
        json_ = {k: v for k, v in self.json.items() if v != []}
        if self.data:
            uri = 'data:application/octet-stream;base64,' + base64.b64encode(self.data).decode()
            json_['buffers'] = [{'byteLength': len(self.data), 'uri': uri}]
        return {**json_, **more}


def skinned(interpolation=None):
    d = Document()
    attributes = {'POSITION': d.triangle(), 'JOINTS_0': d.accessor('B', [0, 1, 0, 0] * 3, 'VEC4', VERTICES),
                  'WEIGHTS_0': d.accessor('f', [.5, .5, 0, 0] * 3, 'VEC4', VERTICES)}
    binds = d.accessor('f', [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] * 2, 'MAT4')
    times = d.accessor('f', [0, 1], 'SCALAR', None, True)
    turns = d.accessor('f', [0, 0, 0, 1] * (6 if interpolation else 2), 'VEC4')
    sampler = {'input': times, 'output': turns, **({'interpolation': interpolation} if interpolation else {})}
    return d.done(scene=0, scenes=[{'nodes': [0, 1]}], nodes=[{'mesh': 0, 'skin': 0}, {'children': [2]}, {'rotation': [0, 0, 0, 1]}],
                  meshes=[{'primitives': [{'attributes': attributes}]}],
                  skins=[{'joints': [1, 2], 'inverseBindMatrices': binds, 'skeleton': 1}],
                  animations=[{'channels': [{'sampler': 0, 'target': {'node': 2, 'path': 'rotation'}}], 'samplers': [sampler]}])


def morphed():
    d = Document()
    attributes = {'POSITION': d.triangle(), 'NORMAL': d.accessor('f', [0, 0, 1] * 3, 'VEC3', VERTICES),
                  'TANGENT': d.accessor('f', [1, 0, 0, 1] * 3, 'VEC4', VERTICES),
                  'COLOR_0': d.accessor('B', [255] * 12, 'VEC4', VERTICES, normalized=True)}
    target = {'POSITION': d.accessor('f', [1, 0, 0] * 3, 'VEC3', VERTICES, True),
              'NORMAL': d.accessor('f', [0, 5, 0] * 3, 'VEC3', VERTICES)}
    times = d.accessor('f', [0, 2], 'SCALAR', None, True)
    weights = d.accessor('f', [0, 1], 'SCALAR')
    return d.done(nodes=[{'mesh': 0, 'weights': [1]}], scenes=[{'nodes': [0]}],
                  meshes=[{'primitives': [{'attributes': attributes, 'targets': [target]}], 'weights': [0.5]}],
                  animations=[{'channels': [{'sampler': 0, 'target': {'node': 0, 'path': 'weights'}}],
                               'samplers': [{'input': times, 'output': weights}]}])


def sparse():
    d = Document()
    base = d.accessor('f', [0] * 9, 'VEC3')
    indices = d.view(struct.pack('<2H', 0, 2))
    values = d.view(struct.pack('<6f', *[1.0] * 6))
    d.json['accessors'][base]['sparse'] = {'count': 2, 'indices': {'bufferView': indices, 'componentType': 5123},
                                           'values': {'bufferView': values}}
    d.json['accessors'][base].update({'min': [0, 0, 0], 'max': [1, 1, 1]})
    return d.done(meshes=[{'primitives': [{'attributes': {'POSITION': base}}]}])


def interleaved():
    d = Document()
    view = d.view(struct.pack('<18f', *[0.0] * 18), target=VERTICES, byteStride=24)
    zero = [0, 0, 0]
    d.json['accessors'] = [{'bufferView': view, 'componentType': 5126, 'count': 3, 'type': 'VEC3', 'min': zero, 'max': zero},
                           {'bufferView': view, 'byteOffset': 12, 'componentType': 5126, 'count': 3, 'type': 'VEC3'}]
    indices = d.accessor('H', [0, 1, 2], 'SCALAR', INDICES, True)
    return d.done(meshes=[{'primitives': [{'attributes': {'POSITION': 0, '_SHADE': 1}, 'indices': indices, 'mode': 4}]}])


def looks():
    d = Document()
    attributes = {'POSITION': d.triangle(), 'TEXCOORD_0': d.accessor('f', [0, 0] * 3, 'VEC2', VERTICES)}
    material = {'pbrMetallicRoughness': {'baseColorFactor': [1, 1, 1, 1], 'baseColorTexture': {'index': 0}, 'metallicFactor': 0.5},
                'normalTexture': {'index': 0, 'scale': 1}, 'emissiveFactor': [0, 0, 0], 'alphaMode': 'MASK', 'alphaCutoff': 0.5}
    return d.done(meshes=[{'primitives': [{'attributes': attributes, 'material': 0}]}], materials=[material],
                  textures=[{'sampler': 0}], samplers=[{'magFilter': 9729, 'wrapS': 10497}],
                  cameras=[{'type': 'perspective', 'perspective': {'yfov': 1, 'znear': 1, 'zfar': 9, 'aspectRatio': 1}},
                           {'type': 'orthographic', 'orthographic': {'xmag': 1, 'ymag': 1, 'znear': 1, 'zfar': 9}}],
                  nodes=[{'mesh': 0, 'camera': 0, 'matrix': [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 5, 0, 0, 1]}],
                  extensionsUsed=['KHR_materials_unlit'])


def leaves(value, path=()):
    yield path, value
    items = value.items() if isinstance(value, dict) else enumerate(value[:3]) if isinstance(value, list) else ()
    for key, inner in items:
        yield from leaves(inner, path + (key,))


def replaced(json_, path, value):
    json_ = copy.deepcopy(json_)
    at = json_
    for key in path[:-1]:
        at = at[key]
    if value is Ellipsis:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return json_


def instead_of(value):
    if isinstance(value, str):
        return [..., '', 'FOO', 5, None, []] if len(value) < 100 else [..., 5, None, 'data:,', value[:-40]]
    if isinstance(value, bool):
        return [..., not value, 5, None]
    if isinstance(value, int):
        return [..., -1, 0, 1, value + 1, value - 1, value + 4, 2**31, 2**62, 1.5, 'a', None, [], {}]
    if isinstance(value, float):
        return [..., -1, 2, 'a', None]
    if isinstance(value, list):
        return [..., [], value + value[:1], value[:-1], 5, None, {}]
    return [..., {}, 5, None, []]


def documents():
    for make in (skinned, lambda: skinned('CUBICSPLINE'), morphed, sparse, interleaved, looks):
        json_ = make()
        yield 'unchanged', json_
        for path, value in leaves(json_):
            for other in instead_of(value) if path else []:
                yield f'{"/".join(map(str, path))} = {"deleted" if other is ... else json.dumps(other)[:20]}', replaced(json_, path, other)


def verdicts_in_full(program, names):
    """Of each file: codes of the validator's errors (None: it did not validate) and of its remarks, then ours"""
    here = os.path.dirname(os.path.abspath(__file__))
    text = '\n'.join(names) + '\n'
    node = subprocess.run(['node', os.path.join(here, 'gltf_validate.mjs')], input=text, capture_output=True, text=True)
    theirs = [json.loads(line)['issues'] for line in node.stdout.splitlines()]
    ours = subprocess.run([program, '--inspect'], input=text, capture_output=True, text=True)
    lines = [line.split('\t') for line in ours.stdout.splitlines()]
    if len(theirs) != len(names) or len(lines) != len(names) or ours.returncode:
        sys.exit(f'not ok gltf_mutate: {len(theirs)} and {len(lines)} of {len(names)} files judged; {ours.stderr[-300:]}')
    return [(None if any(i['code'] == 'NOT_VALIDATED' for i in issues) else {i['code'] for i in issues if i['severity'] == 0},
             {i['code'] for i in issues if i['severity'] in (1, 2)},
             set(line[2].split()) if line[1] == 'OK' else {line[1]}, set(line[4].split()))
            for issues, line in zip(theirs, lines)]


def main():
    with tempfile.TemporaryDirectory() as folder:
        cases, names = list(documents()), []
        for i, (_, json_) in enumerate(cases):
            names.append(os.path.join(folder, f'{i}.gltf'))
            with open(names[-1], 'w') as file:
                json.dump(json_, file)
        full = verdicts_in_full(sys.argv[1], names)
    judged = [(theirs, ours) for theirs, _, ours, _ in full]
    unlike = [f'{c[0]}: {(r ^ s) - UNREMARKED}' for c, (e, r, _, s) in zip(cases, full)
              if e is not None and not e and (r ^ s) - UNREMARKED]
    accepted = [c[0] for c, (e, o) in zip(cases, judged) if e and not o]
    refused = [f'{c[0]}: {o}' for c, (e, o) in zip(cases, judged) if e is not None and not e and o]
    other = [f'{c[0]}: {o} not of {e}' for c, (e, o) in zip(cases, judged) if e and o and not e & o]
    wrong = sum(bool(e) for e, _ in judged)
    right = sum(e is not None and not e for e, _ in judged)
    print(f'{"not ok" if accepted else "ok"} gltf_mutate_wrong_documents_are_refused: {len(accepted)} of {wrong} accepted {accepted[:5]}')
    print(f'{"not ok" if refused else "ok"} gltf_mutate_right_documents_pass: {len(refused)} of {right} refused {refused[:5]}')
    good = len(other) <= (1 - LEAST) * wrong
    print(f'{"ok" if good else "not ok"} gltf_mutate_codes_are_the_validators: {wrong - len(other)} of {wrong} {other[:5]}')
    print(f'{"not ok" if unlike else "ok"} gltf_mutate_remarks_are_the_validators: {right - len(unlike)} of {right} {unlike[:5]}')
    return 1 if accepted or refused or unlike or not good else 0


if __name__ == '__main__':
    sys.exit(main())
