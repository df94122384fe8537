#!/usr/bin/python3
"""Small valid files of every format Cutis reads: make_seeds.py FOLDER. They are checked in (fuzz/seeds) and are where the
fuzzers and the generated malformed files start."""
import json
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', 'tests', 'io'))
from gltf_mutate import Document, VERTICES, INDICES, skinned, morphed, sparse, interleaved, looks  # noqa: E402
from gltf_faults import made  # noqa: E402

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)


def write(name, data):
    with open(os.path.join(folder, name), 'wb') as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def glb(document, **more):
    json_ = {k: v for k, v in document.json.items() if v != []}
    json_.update(more, buffers=[{'byteLength': len(document.data)}])
    text = json.dumps(json_, separators=(',', ':')).encode()
    text += b' ' * (-len(text) % 4)
    data = document.data + b'\0' * (-len(document.data) % 4)
    return (struct.pack('<4sIIII', b'glTF', 2, 28 + len(text) + len(data), len(text), 0x4E4F534A) + text +
            struct.pack('<II', len(data), 0x004E4942) + data)


def everything():
    """All attributes, two joint sets, strips, quantised data, a clip of every path, and our extensions."""
    d = Document()
    square = [0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0]
    attributes = {
        'POSITION': d.accessor('f', square, 'VEC3', VERTICES, True),
        'NORMAL': d.accessor('f', [0, 0, 1] * 4, 'VEC3', VERTICES), 'TANGENT': d.accessor('f', [1, 0, 0, 1] * 4, 'VEC4', VERTICES),
        'TEXCOORD_0': d.accessor('H', [0, 0, 65535, 0] * 2, 'VEC2', VERTICES, normalized=True),
        'COLOR_0': d.accessor('B', [255, 128, 0, 255] * 4, 'VEC4', VERTICES, normalized=True),
        'JOINTS_0': d.accessor('B', [0, 1, 2, 3] * 4, 'VEC4', VERTICES), 'JOINTS_1': d.accessor('H', [4, 0, 0, 0] * 4, 'VEC4', VERTICES),
        'WEIGHTS_0': d.accessor('f', [.25, .25, .125, .125] * 4, 'VEC4', VERTICES),
        'WEIGHTS_1': d.accessor('f', [.25, 0, 0, 0] * 4, 'VEC4', VERTICES)}
    strip = d.accessor('B', [0, 1, 2, 3], 'SCALAR', INDICES)
    move = d.accessor('f', [0, 0, 1] * 4, 'VEC3', VERTICES, True)
    binds = d.accessor('f', [1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1] * 5, 'MAT4')
    times = d.accessor('f', [0, .5, 1], 'SCALAR', None, True)
    turns = d.accessor('h', [0, 0, 0, 32767] * 3, 'VEC4', normalized=True)
    places = d.accessor('f', [0, 0, 0] * 9, 'VEC3')
    shapes = d.accessor('f', [0, 1, 0], 'SCALAR')
    labels = d.accessor('B', [0, 1], 'SCALAR')
    cage = d.accessor('f', [-1, -1, -1, 3, -1, -1, -1, 3, -1, -1, -1, 3], 'VEC3')
    sides = d.accessor('B', [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3], 'SCALAR')
    shares = d.accessor('f', [.25] * 16, 'SCALAR')
    poses = [{'rotations': [0, 0, 0, 1, 0, 0, 0, 1]}, {'rotations': [0, 0, .38268343, .9238795, 0, 0, 0, 1]}]
    names = ['CUTIS_parts', 'CUTIS_pose_space', 'CUTIS_cage']
    mesh_extensions = {'CUTIS_parts': {'names': ['a', 'b'], 'labels': [labels]}, 'CUTIS_pose_space': {'target': 0},
                       'CUTIS_cage': {'slots': 4, 'weights': shares}}
    channels = [('translation', places, 'CUBICSPLINE'), ('rotation', turns, 'LINEAR'), ('scale', places, 'CUBICSPLINE')]
    samplers = [{'input': times, 'output': o, 'interpolation': i} for _, o, i in channels] + [{'input': times, 'output': shapes}]
    return glb(
        d, scene=0, scenes=[{'nodes': [0, 1]}], extensionsUsed=names,
        extensions={'CUTIS_pose_space': {'kernel': 'exponential', 'distance': 'geodesic', 'joints': [2, 3], 'poses': poses},
                    'CUTIS_cage': {'coordinates': 'mvc', 'controls': cage, 'triangles': sides}},
        nodes=[{'mesh': 0, 'skin': 0, 'name': 'body'}] + [{'name': f'j{i}', 'translation': [0, .5, 0], **({'children': [i + 2]} if i < 4 else {})}
                                                           for i in range(5)],
        meshes=[{'primitives': [{'attributes': attributes, 'indices': strip, 'mode': 5, 'material': 0, 'targets': [{'POSITION': move}]}],
                 'weights': [0], 'extras': {'targetNames': ['up']}, 'extensions': mesh_extensions}],
        skins=[{'joints': [1, 2, 3, 4, 5], 'inverseBindMatrices': binds}],
        materials=[{'name': 'skin', 'pbrMetallicRoughness': {'baseColorFactor': [1, .5, .5, 1]}, 'doubleSided': True}],
        cameras=[{'type': 'perspective', 'perspective': {'yfov': 1, 'znear': .1}}],
        animations=[{'name': 'all', 'channels': [{'sampler': i, 'target': {'node': 2, 'path': p}} for i, (p, _, _) in enumerate(channels)] +
                     [{'sampler': 3, 'target': {'node': 0, 'path': 'weights'}}], 'samplers': samplers}])


def quantized():
    d = Document()
    position = d.view(struct.pack('<12h', 0, 0, 0, 0, 100, 0, 0, 0, 0, 100, 0, 0), target=VERTICES, byteStride=8)
    d.json['accessors'] = [{'bufferView': position, 'componentType': 5122, 'count': 3, 'type': 'VEC3', 'min': [0, 0, 0], 'max': [100, 100, 0]}]
    normal = d.view(struct.pack('<12b', 0, 0, 127, 0, 0, 0, 127, 0, 0, 0, 127, 0), target=VERTICES, byteStride=4)
    d.json['accessors'].append({'bufferView': normal, 'componentType': 5120, 'normalized': True, 'count': 3, 'type': 'VEC3'})
    return glb(d, extensionsUsed=['KHR_mesh_quantization'], extensionsRequired=['KHR_mesh_quantization'],
               meshes=[{'primitives': [{'attributes': {'POSITION': 0, 'NORMAL': 1}}]}], nodes=[{'mesh': 0, 'scale': [.01, .01, .01]}])


def handled():
    """CUTIS_handles: two real handles, a virtual one between them."""
    d = Document()
    attributes = {'POSITION': d.triangle(), 'JOINTS_0': d.accessor('B', [0, 1, 0, 0] * 3, 'VEC4', VERTICES),
                  'WEIGHTS_0': d.accessor('f', [.5, .5, 0, 0] * 3, 'VEC4', VERTICES)}
    virtual = {'places': d.accessor('f', [.5, .5, 0], 'VEC3'), 'first': d.accessor('B', [0, 2], 'SCALAR'),
               'handles': d.accessor('B', [0, 1], 'SCALAR'), 'shares': d.accessor('f', [.5, .5], 'SCALAR')}
    weights = {'first': d.accessor('H', [0, 1, 2, 3], 'SCALAR'), 'handles': d.accessor('H', [0, 1, 2], 'SCALAR'),
               'weights': d.accessor('f', [1, 1, 1], 'SCALAR')}
    handles = [{'node': 1, 'kind': 'point', 'position': [0, 0, 0]}, {'node': 2, 'kind': 'bar', 'from': [1, 0, 0], 'to': [0, 1, 0]}]
    return glb(d, extensionsUsed=['CUTIS_handles'], extensions={'CUTIS_handles': {'handles': handles, 'virtual': virtual}},
               nodes=[{'mesh': 0, 'skin': 0}, {'name': 'a', 'children': [2]}, {'name': 'b'}], skins=[{'joints': [1, 2]}],
               meshes=[{'primitives': [{'attributes': attributes, 'extensions': {'CUTIS_handles': weights}}],
                        'extensions': {'CUTIS_handles': {'first': 0}}}])


def driven():
    """CUTIS_drivers: a joint that follows another, and one that reads nothing."""
    d = Document()
    attributes = {'POSITION': d.triangle(), 'JOINTS_0': d.accessor('B', [0, 1, 0, 0] * 3, 'VEC4', VERTICES),
                  'WEIGHTS_0': d.accessor('f', [.5, .5, 0, 0] * 3, 'VEC4', VERTICES)}
    ranges = d.accessor('f', [-.5, -.5, -.5, -.5, .5, .5, .5, 0], 'VEC4')
    coefficients = d.accessor('f', [.25, 0, 0, 0, .5, 0] * 14, 'SCALAR')
    drivers = {'joints': [1], 'ranges': ranges, 'coefficients': coefficients, 'drivers': [{'node': 2, 'inputs': [0]}, {'node': 3, 'inputs': []}]}
    return glb(d, extensionsUsed=['CUTIS_drivers'], extensions={'CUTIS_drivers': drivers},
               nodes=[{'mesh': 0, 'skin': 0}, {'name': 'a', 'children': [2, 3]}, {'name': 'b'}, {'name': 'c'}], skins=[{'joints': [1, 2, 3]}],
               meshes=[{'primitives': [{'attributes': attributes}]}])


def parted():
    """CUTIS_parts with its tree: a tetrahedron, one face of it a part of its own."""
    d = Document()
    position = d.accessor('f', [0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], 'VEC3', VERTICES, True)
    joints = d.accessor('B', [0, 1, 0, 0] * 4, 'VEC4', VERTICES)
    weights = d.accessor('f', [.5, .5, 0, 0] * 4, 'VEC4', VERTICES)
    indices = d.accessor('B', [0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3], 'SCALAR', INDICES)
    labels = d.accessor('B', [1, 0, 0, 0], 'SCALAR')
    loop = d.accessor('B', [0, 2, 1], 'SCALAR')
    weld = d.accessor('B', [0, 1, 2, 3], 'SCALAR')
    part = {'joint': 0, 'position': [0, 0, 0], 'end': [0, 0, 1], 'centroid': [.25, .25, .25], 'kernelRadius': .1,
            'axes': [1, 0, 0, 0, 1, 0, 0, 0, 1], 'boxMin': [0, 0, 0], 'boxMax': [1, 1, 1]}
    tree = {'names': ['body', 'foot'], 'labels': [labels], 'parts': [part, {**part, 'parent': 0, 'loop': 0, 'joint': 1}],
            'loops': [{'parent': 0, 'child': 1, 'vertices': loop}], 'weldedCount': 4, 'weld': [weld],
            'links': [{'part': 0, 'from': [0, 0, 0], 'to': [0, 0, 1]}]}
    return glb(d, extensionsUsed=['CUTIS_parts'], nodes=[{'mesh': 0, 'skin': 0}, {'name': 'a', 'children': [2]}, {'name': 'b'}],
               skins=[{'joints': [1, 2]}],
               meshes=[{'primitives': [{'attributes': {'POSITION': position, 'JOINTS_0': joints, 'WEIGHTS_0': weights}, 'indices': indices}],
                        'extensions': {'CUTIS_parts': tree}}])


for name, make in (('skinned', skinned), ('cubic', lambda: skinned('CUBICSPLINE')), ('morphed', morphed), ('sparse', sparse),
                   ('interleaved', interleaved), ('looks', looks)):
    write(name + '.gltf', json.dumps(make(), separators=(',', ':')))
write('everything.glb', everything())
write('quantized.glb', quantized())
write('driven.glb', driven())
write('handled.glb', handled())
write('parted.glb', parted())

write('box.obj', 'mtllib none.mtl\no box\ng front\nv 0 0 0\nv 1 0 0 1 0 0\nv 1 1 0\nv 0 1 0\nvn 0 0 1\nvt 0 0\nvt 1 1\nusemtl red\n'
      's 1\nf 1/1/1 2/2/1 3/1/1 4/2/1\nf -4//-1 -3//-1 -2//-1\nl 1 2 3\np 1\n# end\n')
HEADER = ('element vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\nproperty float ny\nproperty float nz\n'
          'property uchar red\nproperty uchar green\nproperty uchar blue\nelement face 2\nproperty list uchar int vertex_indices\nend_header\n')
CORNERS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
write('quad.ply', 'ply\nformat ascii 1.0\ncomment c\n' + HEADER +
      ''.join(f'{x} {y} {z} 0 0 1 255 0 9\n' for x, y, z in CORNERS) + '4 0 1 2 3\n3 0 1 2\n')
for order, sign in (('little', '<'), ('big', '>')):
    body = b''.join(struct.pack(sign + '6f3B', *c, 0, 0, 1, 255, 0, 9) for c in CORNERS)
    body += struct.pack(sign + 'B4iB3i', 4, 0, 1, 2, 3, 3, 0, 1, 2)
    write(f'quad_{order}.ply', f'ply\nformat binary_{order}_endian 1.0\n{HEADER}'.encode() + body)

write('quad.off', 'OFF # a comment\n5 3 0\n0 0 0\n1 0 0\n\n1 1 0\n0.4 0.3 0\n0 1 0\n5 0 1 2 3 4 255 0 0\n3 0 2 1 .5 .5 .5 1\n2 0 1\n')
write('colors.off', 'STCNOFF 4 2 0\n' + ''.join(
    f'{x} {y} 0 0 0 1 {255 * x} {255 * y} 9 255 {x} {y}\n' for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))) + '3 0 1 2\n3 0 2 3\n')
write('binary.off', b'OFF BINARY\n' + struct.pack('>3I9f', 3, 1, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0) + struct.pack('>4II4f', 3, 0, 1, 2, 4, 1, 0, 0, 1))
FACET = 'facet normal 0 0 1\n outer loop\n  vertex %s\n  vertex %s\n  vertex %s\n endloop\nendfacet\n'
write('two.stl', 'solid one\n' + FACET % ('0 0 0', '1 0 0', '1 1 0') + 'endsolid one\nsolid\n' +
      FACET.replace('0 0 1', 'nan nan nan', 1) % ('0 0 0', '1 1 0', '0 1e0 -0') + 'endsolid\n')
CORNERS = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
write('tetra.stl', b'solid, but binary'.ljust(80) + struct.pack('<I', 4) + b''.join(
    struct.pack('<12fH', 0, 0, 0, *CORNERS[a], *CORNERS[b], *CORNERS[c], 0x8001)
    for a, b, c in ((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3))))
write('walk.bvh', 'HIERARCHY\nROOT hip\n{\n\tOFFSET 0 1 0\n\tCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\n\tJOINT knee\n\t{\n'
      '\t\tOFFSET 0 -1 0\n\t\tCHANNELS 3 Zrotation Xrotation Yrotation\n\t\tEnd Site\n\t\t{\n\t\t\tOFFSET 0 -1 0\n\t\t}\n\t}\n}\n'
      'MOTION\nFrames: 2\nFrame Time: 0.0333333\n0 1 0 0 0 0 10 20 30\n0 1 0.5 1 2 3 40 50 60\n')

write('two.xsf', '<HEADER MAGIC="XSF" VERSION="1000"/><SKELETON NUMBONES="2"><BONE ID="0" NAME="tip &amp; top" NUMCHILDS="0"><TRANSLATION>0 2 0'
      '</TRANSLATION><ROTATION>0 0 0.70710678 0.70710678</ROTATION><LOCALTRANSLATION>0 -3 0</LOCALTRANSLATION><LOCALROTATION>0 0 0 1'
      '</LOCALROTATION><PARENTID>1</PARENTID></BONE><BONE ID="1" NAME="root" NUMCHILDS="1"><TRANSLATION>0 1 0</TRANSLATION><ROTATION>0 0 0 1'
      '</ROTATION><LOCALTRANSLATION>0 -1 0</LOCALTRANSLATION><LOCALROTATION>0 0 0 1</LOCALROTATION><PARENTID>-1</PARENTID><CHILDID>0</CHILDID>'
      '</BONE></SKELETON>')
write('one.xmf', '<MESH VERSION="1000" NUMSUBMESH="1"><SUBMESH NUMVERTICES="3" NUMFACES="1" MATERIAL="0"><VERTEX ID="0" NUMINFLUENCES="1"><POS>0 0 0'
      '</POS><NORM>0 0 1</NORM><TEXCOORD>0.25 0.5</TEXCOORD><INFLUENCE ID="1">1</INFLUENCE></VERTEX><VERTEX ID="1" NUMINFLUENCES="2"><POS>1 0 0'
      '</POS><NORM>0 0 1</NORM><TEXCOORD>0 0</TEXCOORD><INFLUENCE ID="0">0.75</INFLUENCE><INFLUENCE ID="1">0.25</INFLUENCE></VERTEX>'
      '<VERTEX ID="2" NUMINFLUENCES="1"><POS>0 4 0</POS><NORM>0 0 1</NORM><TEXCOORD>1 1</TEXCOORD><INFLUENCE ID="0">1</INFLUENCE></VERTEX>'
      '<FACE VERTEXID="0 2 1"/></SUBMESH></MESH>')
write('one.xaf', '<ANIMATION VERSION="1000" DURATION="1" NUMTRACKS="1"><TRACK BONEID="0" NUMKEYFRAMES="2"><KEYFRAME TIME="1"><TRANSLATION>0 4 0'
      '</TRANSLATION><ROTATION>0 0 0 1</ROTATION></KEYFRAME><KEYFRAME TIME="0"><TRANSLATION>0 2 0</TRANSLATION><ROTATION>0 0 0 1</ROTATION>'
      '</KEYFRAME></TRACK></ANIMATION>')


def text(word):
    return struct.pack('<I', len(word) + 1) + word.encode() + b'\0'


BONE = struct.pack('<14f', 0, 1, 0, 0, 0, 0, 1, 0, -1, 0, 0, 0, 0, 1)
write('two.csf', b'CSF\0' + struct.pack('<II', 910, 2) + text('root') + BONE + struct.pack('<iII', -1, 1, 1) +
      text('tip') + BONE + struct.pack('<iI', 0, 0))
VERTEX = struct.pack('<6fII2f', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0)
write('one.cmf', b'CMF\0' + struct.pack('<II', 910, 1) + struct.pack('<6I', 0, 3, 1, 0, 0, 1) +
      (VERTEX + struct.pack('<IIf', 1, 0, 1)) * 3 + struct.pack('<3I', 0, 1, 2))
write('one.caf', b'CAF\0' + struct.pack('<IfI', 910, 1, 1) + struct.pack('<II', 1, 2) +
      struct.pack('<8f', 0, 0, 1, 0, 0, 0, 0, 1) + struct.pack('<8f', 1, 0, 2, 0, 0, 0, 0, 1))


def npy(descr, fortran, shape, data):
    head = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}".encode()
    head += b' ' * (-(len(head) + 11) % 64) + b'\n'
    return b'\x93NUMPY\x01\x00' + struct.pack('<H', len(head)) + head + data


write('frames.npy', npy('<f4', 'False', '(2, 2, 3)', struct.pack('<12f', *range(12))))
write('fortran.npy', npy('>f8', 'True', '(2, 3)', struct.pack('>6d', *range(6))))
write('labels.npy', npy('|u1', 'False', '(5,)', bytes(range(5))))
write('frames.pc2', b'POINTCACHE2\0' + struct.pack('<IIffI', 1, 2, 0, 1, 2) + struct.pack('<12f', *range(12)))
write('handles.json', '{"handles": [{"name": "head", "kind": "point", "position": [0, 1.5, 0]}, {"name": "tail", "kind": "bar", "from": [0, 1, 0], '
      '"to": [0, 0, -1]}], "poses": [{"name": "nod", "handles": {"head": {"rotation": [0.25, 0, 0, 0.97], "translation": [0, -0.5, 0.25]}}}]}')
write('pose.json', '{"joints": {"j1": {"rotation": [0, 0, 0.5, 0.5]}, "#2": {"translation": [0, 1, 0], "scale": [1, 1, 1]}}}')
write('joint_map.json', '{"joints": {"j0": "j1", "j1": null, "#2": "#0"}}')
write('limits.json', '{"joints": 256, "influences": 4, "morphs": 8, "weights": ["u8", "u16"]}')
write('parts.seg', '0\n0\n1\n\n 2 \n')
write('commands.cli', 'deform\nmodel.glb\n--clip\nwalk\n--method\nlbs\n--frames\n0:10\n-o\nout.npy\n')
write('check.cli', 'check\nmodel.glb\n--fix\n-o\nfixed.glb\n--influences\n4\n--json\n')

# Many faults that generous reading puts right, at once (tests/io/gltf_faults.py).
write('generous.glb', made(('binds_with_a_stride', 'times_with_a_stride', 'indices_with_a_stride',
                            'a_rotation_of_length_two', 'tangents_that_are_too_long', 'a_node_that_is_two_joints', 'empty_lists',
                            'attributes_in_one_view_without_a_stride', 'sparse_data_called_vertices', 'colours_of_three_bytes',
                            'a_least_version_above_the_version', 'an_extension_that_is_not_declared', 'a_header_that_says_more',
                            'times_without_bounds', 'a_view_padded_beyond_its_buffer'))[0].pack())
