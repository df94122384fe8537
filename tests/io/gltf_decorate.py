"""A glTF made by Cutis, dressed with everything that Cutis does not touch: decorate(json, data) and the files made of it."""
import json
import struct

from gltf_extensions import dressed, jpeg, png, texture, uri, webp

PACKETS = {'packets': [{'@context': {'dc': 'http://purl.org/dc/elements/1.1/'}, 'dc:title': 'x'}]}


class Buffer:
    """Views and accessors added to a document at the end of its only buffer"""

    def __init__(self, json_, data):
        self.json, self.data = json_, bytearray(data)

    def view(self, data, **more):
        self.data += bytes(-len(self.data) % 4)
        self.json['bufferViews'].append({'buffer': 0, 'byteOffset': len(self.data), 'byteLength': len(data), **more})
        self.data += data
        return len(self.json['bufferViews']) - 1

    def attribute(self, values, kind, component, shape, count, **more):
        view = self.view(struct.pack(f'<{len(values)}{kind}', *values), target=34962, name='view ' + shape, extras={'v': shape})
        self.json['accessors'].append({'bufferView': view, 'componentType': component, 'type': shape, 'count': count, 'name': 'values ' + shape,
                                       'extras': {'a': 1}, **more})
        return len(self.json['accessors']) - 1


def dress_primitive(buffer, primitive):
    n = buffer.json['accessors'][primitive['attributes']['POSITION']]['count']
    more = {'TEXCOORD_0': ([0.25] * 2 * n, 'f', 5126, 'VEC2', {}), 'TEXCOORD_1': ([0.5] * 2 * n, 'f', 5126, 'VEC2', {}),
            'TEXCOORD_2': ([100, 200] * n, 'H', 5123, 'VEC2', {'normalized': True}), 'COLOR_0': ([255, 128, 0, 255] * n, 'B', 5121, 'VEC4', {'normalized': True}),
            'COLOR_1': ([0.125] * 3 * n, 'f', 5126, 'VEC3', {}), '_FOO': (list(range(n)), 'f', 5126, 'SCALAR', {}),
            '_BAR': ([1, 2, 3, 4] * n, 'B', 5121, 'VEC4', {}), 'TANGENT': ([1, 0, 0, 1] * n, 'f', 5126, 'VEC4', {})}
    for name, (values, kind, component, shape, keys) in more.items():
        if name not in primitive['attributes']:
            primitive['attributes'][name] = buffer.attribute(values, kind, component, shape, n, **keys)
    primitive.update(extras={'prim': [1, 2]}, material=0, extensions={
        'KHR_materials_variants': {'mappings': [{'variants': [0], 'material': 1}, {'variants': [1, 2], 'material': 2, 'name': 'x', 'extras': 5}]}})


def decorate(json_, data, foreign=False):
    """Changes the document; returns its buffer. foreign: extensions that nobody knows, which name accessors and meshes."""
    buffer, clothes = Buffer(json_, data), dressed()
    json_['asset'].update(copyright='(c) me', generator='Modeller 3; Exporter 2', extras={'x': 1}, extensions={'KHR_xmp_json_ld': {'packet': 0}})
    for mesh in json_['meshes']:
        mesh['extras'] = {**mesh.get('extras', {}), 'mesh': 1}
        for primitive in mesh['primitives']:
            dress_primitive(buffer, primitive)
    materials = clothes['materials']
    materials[0].update(name='skin', extras={'m': [1, {'n': None}]}, occlusionTexture=texture(2, strength=0.5), alphaMode='MASK', alphaCutoff=0.25)
    materials[0]['extensions']['KHR_materials_diffuse_transmission'] = {'diffuseTransmissionFactor': 0.5, 'diffuseTransmissionColorTexture': texture()}
    json_['materials'] = materials
    json_['images'] = [{'bufferView': buffer.view(png(), name='picture'), 'mimeType': 'image/png', 'name': 'i', 'extras': {'k': 2}},
                       {'uri': uri('image/webp', webp())}, {'uri': uri('image/jpeg', jpeg()), 'name': 'j'}, {'uri': 'skin.ktx2', 'mimeType': 'image/ktx2'}]
    json_['samplers'] = [{'magFilter': 9729, 'wrapS': 33071, 'name': 's', 'extras': 1}]
    json_['textures'] = [{'source': 0, 'sampler': 0, 'name': 't', 'extras': {'t': 1}, 'extensions': {
        'EXT_texture_webp': {'source': 1}, 'KHR_texture_basisu': {'source': 3}}}, {'source': 2}]
    json_['cameras'] = [{'type': 'perspective', 'name': 'cam', 'perspective': {'yfov': 1, 'znear': 0.125, 'extras': {'p': 1}}, 'extras': {'c': 1}},
                        {'type': 'orthographic', 'orthographic': {'xmag': 1, 'ymag': 1, 'znear': 0, 'zfar': 9}}]
    json_['extensions'] = {**json_.get('extensions', {}), **clothes['extensions'], 'KHR_xmp_json_ld': PACKETS}
    json_['extras'] = {'root': True, 'list': [1, 2.5, 'three', None]}
    for i, node in enumerate(json_['nodes']):
        node['extras'] = {'i': i}
    first = len(json_['nodes'])
    json_['nodes'] += [{'camera': 0, 'name': 'camera', 'translation': [0, 1, 3], 'extras': {'lens': 35}}, {'camera': 1, 'rotation': [0, 0, 0, 1]},
                       {'name': 'lamp', 'scale': [1, 1, 1], 'extensions': {'KHR_lights_punctual': {'light': 2}, 'KHR_node_visibility': {'visible': False}}},
                       {'name': 'nowhere'}]
    json_['scenes'][0].update(name='stage', nodes=json_['scenes'][0]['nodes'] + [first, first + 1, first + 2], extras={'s': 1})
    json_['scenes'].append({'name': 'other', 'nodes': [first]})
    for key in ('skins', 'animations'):
        for item in json_.get(key, []):
            item['extras'] = {key: 1}
    for animation in json_.get('animations', []):
        animation['channels'][0]['extras'] = {'ch': 1}
        animation['samplers'][0]['extras'] = {'sa': 1}
    for animation in json_.get('animations', [])[:1]:
        animation['channels'].append({'sampler': 0, 'target': {'path': 'pointer', 'extensions': {'KHR_animation_pointer': {
            'pointer': '/materials/0/extensions/KHR_materials_ior/ior'}}}})
    used = set(json_.get('extensionsUsed', [])) | set(clothes['extensionsUsed']) | {
        'KHR_xmp_json_ld', 'KHR_texture_basisu', 'KHR_node_visibility', 'KHR_materials_diffuse_transmission'}
    if foreign:
        used.add('FOO_bar')
        json_['nodes'][0]['extensions'] = {'FOO_bar': {'accessor': 3, 'mesh': 0}}
        json_['extensions']['FOO_bar'] = {'bufferViews': [1, 2]}
        json_['materials'][0]['extensions']['FOO_bar'] = {'texture': 1}
    json_['extensionsUsed'] = sorted(used)
    json_['buffers'][0].update(byteLength=len(buffer.data), name='buf', extras={'b': 1})
    return bytes(buffer.data)


def write_glb(path, json_, data, more=b''):
    text = json.dumps(json_).encode()
    text += b' ' * (-len(text) % 4)
    data += bytes(-len(data) % 4)
    with open(path, 'wb') as file:
        file.write(struct.pack('<4sIIII', b'glTF', 2, 28 + len(text) + len(data) + len(more), len(text), 0x4e4f534a) + text)
        file.write(struct.pack('<II', len(data), 0x4e4942) + data + more)
