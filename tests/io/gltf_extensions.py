"""The rules of extensions and images, one document for each, judged by the Khronos validator and by Cutis: gltf_extensions.py INSPECT

A valid document that uses every extension the validator knows is changed in one place a rule is about (RULES), and in every
property of every extension by values of other types and ranges. INSPECT is the program test_gltf_inspect_io. Where the validator
has errors Cutis must refuse with one of its codes; where it has none Cutis must not refuse, and remark on the same. OURS are rules of extensions that the validator does not know.
"""
import base64
import json
import os
import struct
import sys
import tempfile
import zlib

from gltf_mutate import UNREMARKED, VERTICES, Document, instead_of, leaves, replaced, verdicts_in_full

LEAST = 120  # rules


def chunk(name, data):
    return struct.pack('>I', len(data)) + name + data + struct.pack('>I', zlib.crc32(name + data))


def png(width=2, height=2, more=b'', header=13):
    rows = b''.join(b'\0' + b'\xff' * 3 * width for _ in range(height))
    ihdr = struct.pack('>IIBBBBB', width, height, 8, 2, 0, 0, 0)[:header]
    return b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', ihdr) + more + chunk(b'IDAT', zlib.compress(rows)) + chunk(b'IEND', b'')


def jpeg(width=2, height=2, channels=3):
    frame = struct.pack('>BHHB', 8, height, width, channels) + b'\x01\x11\x00' * channels
    return b'\xff\xd8\xff\xe0' + struct.pack('>H', 16) + b'JFIF\0' + bytes(9) + b'\xff\xc0' + struct.pack('>H', 2 + len(frame)) + frame


def webp(kind=b'VP8L', width=2, height=2, features=0):
    if kind == b'VP8L':
        body = b'\x2f' + struct.pack('<I', (width - 1) | (height - 1) << 14) + bytes(8)
    elif kind == b'VP8X':
        body = bytes([features, 0, 0, 0]) + struct.pack('<I', width - 1)[:3] + struct.pack('<I', height - 1)[:3] + bytes(8)
    else:
        body = b'\0\0\0\x9d\x01\x2a' + struct.pack('<HH', width, height) + bytes(8)
    return b'RIFF' + struct.pack('<I', 12 + len(body)) + b'WEBP' + kind + struct.pack('<I', len(body)) + body


KTX2 = b'\xabKTX 20\xbb\r\n\x1a\n' + bytes(40)


def uri(mime, data):
    return f'data:{mime};base64,' + base64.b64encode(data).decode()


def texture(set_=0, **more):
    return {'index': 0, **({'texCoord': set_} if set_ else {}), **more}


def dressed():
    """Every extension the validator knows, nothing wrong or remarkable but sizes and NOT_CHECKED."""
    d = Document()
    attributes = {'POSITION': d.triangle(), 'NORMAL': d.accessor('f', [0, 0, 1] * 3, 'VEC3', VERTICES),
                  'TANGENT': d.accessor('f', [1, 0, 0, 1] * 3, 'VEC4', VERTICES),
                  'TEXCOORD_0': d.accessor('f', [0, 0] * 3, 'VEC2', VERTICES), 'TEXCOORD_1': d.accessor('f', [0, 0] * 3, 'VEC2', VERTICES)}
    times = d.accessor('f', [0, 1], 'SCALAR', None, True)
    values = d.accessor('f', [0, 1], 'SCALAR')
    inside = d.view(png())
    extensions = {
        'anisotropy': {'anisotropyStrength': 0.5, 'anisotropyRotation': 9.5, 'anisotropyTexture': texture()},
        'clearcoat': {'clearcoatFactor': 0.5, 'clearcoatTexture': texture(), 'clearcoatRoughnessFactor': 0.5,
                      'clearcoatRoughnessTexture': texture(), 'clearcoatNormalTexture': texture(scale=0.5)},
        'dispersion': {'dispersion': 0.5}, 'emissive_strength': {'emissiveStrength': 2.5}, 'ior': {'ior': 1.5},
        'iridescence': {'iridescenceFactor': 0.5, 'iridescenceTexture': texture(), 'iridescenceIor': 1.5, 'iridescenceThicknessMinimum': 50.5,
                        'iridescenceThicknessMaximum': 60.5, 'iridescenceThicknessTexture': texture()},
        'sheen': {'sheenColorFactor': [0.5, 0.5, 0.5], 'sheenColorTexture': texture(), 'sheenRoughnessFactor': 0.5,
                  'sheenRoughnessTexture': texture()},
        'specular': {'specularFactor': 0.5, 'specularTexture': texture(), 'specularColorFactor': [0.5, 2.5, 0.5],
                     'specularColorTexture': texture()},
        'transmission': {'transmissionFactor': 0.5, 'transmissionTexture': texture()},
        'volume': {'attenuationColor': [0.5, 0.5, 0.5], 'attenuationDistance': 0.5, 'thicknessFactor': 0.5, 'thicknessTexture': texture()},
    }
    gloss = {'diffuseFactor': [1, 1, 1, 0.5], 'diffuseTexture': texture(), 'specularFactor': [0.5, 0.5, 0.5], 'glossinessFactor': 0.5,
             'specularGlossinessTexture': texture()}
    transform = {'offset': [0.5, 0.5], 'rotation': 0.5, 'scale': [2.5, 2.5], 'texCoord': 1}
    plain = {'pbrMetallicRoughness': {'baseColorTexture': texture(extensions={'KHR_texture_transform': transform})},
             'normalTexture': texture(), 'emissiveFactor': [1, 1, 1], 'extensions': {f'KHR_materials_{k}': v for k, v in extensions.items()}}
    materials = [plain, {'extensions': {'KHR_materials_unlit': {}}}, {'extensions': {'KHR_materials_pbrSpecularGlossiness': gloss}}]
    variants = {'mappings': [{'variants': [0], 'material': 1}, {'variants': [1, 2], 'material': 2, 'name': 'x'}]}
    lights = [{'type': 'directional', 'color': [0.5, 0.5, 0.5], 'intensity': 2.5, 'name': 'sun'}, {'type': 'point', 'range': 2.5},
              {'type': 'spot', 'spot': {'innerConeAngle': 0.25, 'outerConeAngle': 0.5}}]
    used = [f'KHR_materials_{k}' for k in [*extensions, 'unlit', 'pbrSpecularGlossiness', 'variants']] + [
        'KHR_lights_punctual', 'KHR_texture_transform', 'KHR_animation_pointer', 'EXT_texture_webp']
    target = {'path': 'pointer', 'extensions': {'KHR_animation_pointer': {'pointer': '/materials/0/extensions/KHR_materials_ior/ior'}}}
    return d.done(
        extensionsUsed=used, scene=0, scenes=[{'nodes': [0, 1, 2, 3]}], materials=materials,
        extensions={'KHR_lights_punctual': {'lights': lights}, 'KHR_materials_variants': {'variants': [{'name': n} for n in 'abc']}},
        nodes=[{'mesh': 0}, *[{'extensions': {'KHR_lights_punctual': {'light': i}}} for i in range(3)]],
        meshes=[{'primitives': [{'attributes': attributes, 'material': 0, 'extensions': {'KHR_materials_variants': variants}}]}],
        textures=[{'source': 0, 'extensions': {'EXT_texture_webp': {'source': 1}}}, {'source': 2}],
        images=[{'bufferView': inside, 'mimeType': 'image/png'}, {'uri': uri('image/webp', webp())}, {'uri': uri('image/jpeg', jpeg())}],
        animations=[{'channels': [{'sampler': 0, 'target': target}], 'samplers': [{'input': times, 'output': values}]}])


def at(path, value):
    """A change: the value at "a/b/0" (or an added one), ... to delete it."""
    keys = [int(k) if k.isdigit() else k for k in path.split('/')]
    return lambda json_: replaced(json_, keys, value)


def both(*changes):
    def change(json_):
        for c in changes:
            json_ = c(json_)
        return json_
    return change


M, P, L = 'materials/0/extensions/KHR_materials_', 'meshes/0/primitives/0/', 'extensions/KHR_lights_punctual/lights/'
V = P + 'extensions/KHR_materials_variants/mappings/'
T = 'materials/0/pbrMetallicRoughness/baseColorTexture/extensions/KHR_texture_transform/'
A = 'animations/0/channels/0/target/'
SG = 'materials/2/extensions/KHR_materials_pbrSpecularGlossiness/'
W = 'textures/0/extensions/EXT_texture_webp/'


def factors():
    for name, above in (('anisotropy/anisotropyStrength', 1.5), ('clearcoat/clearcoatFactor', 1.5), ('clearcoat/clearcoatRoughnessFactor', 1.5),
                        ('dispersion/dispersion', None), ('emissive_strength/emissiveStrength', None), ('ior/ior', None),
                        ('iridescence/iridescenceFactor', 1.5), ('iridescence/iridescenceIor', None),
                        ('iridescence/iridescenceThicknessMinimum', None), ('iridescence/iridescenceThicknessMaximum', None),
                        ('sheen/sheenRoughnessFactor', 1.5), ('specular/specularFactor', 1.5), ('transmission/transmissionFactor', 1.5),
                        ('volume/attenuationDistance', None), ('volume/thicknessFactor', None)):
        yield f'{name} below its range', at(M + name, -0.5)
        yield f'{name} of another type', at(M + name, 'a')
        if above:
            yield f'{name} above its range', at(M + name, above)
    for name in ('sheen/sheenColorFactor', 'specular/specularColorFactor', 'volume/attenuationColor'):
        yield f'{name} of two numbers', at(M + name, [0.5, 0.5])
        yield f'{name} below 0', at(M + name, [0.5, 0.5, -0.5])
        yield f'{name} with a word', at(M + name, [0.5, 0.5, 'a'])
    yield 'ior below 1', at(M + 'ior/ior', 0.5)
    yield 'ior 0', at(M + 'ior/ior', 0)
    yield 'iridescence below 1', at(M + 'iridescence/iridescenceIor', 0.5)
    yield 'distance 0', at(M + 'volume/attenuationDistance', 0)
    yield 'specular colour above 1', at(M + 'specular/specularColorFactor', [5, 5, 5])
    yield 'sheen colour above 1', at(M + 'sheen/sheenColorFactor', [5, 5, 5])
    for name, value in (('diffuseFactor', [1, 1, 1]), ('specularFactor', [1, 1, 2]), ('glossinessFactor', 2), ('diffuseTexture', 5)):
        yield f'specular-glossiness {name}', at(SG + name, value)


def textures():
    for name in ('anisotropy/anisotropyTexture', 'clearcoat/clearcoatTexture', 'clearcoat/clearcoatRoughnessTexture',
                 'clearcoat/clearcoatNormalTexture', 'iridescence/iridescenceTexture', 'iridescence/iridescenceThicknessTexture',
                 'sheen/sheenColorTexture', 'sheen/sheenRoughnessTexture', 'specular/specularTexture', 'specular/specularColorTexture',
                 'transmission/transmissionTexture', 'volume/thicknessTexture'):
        yield f'{name} of no texture', at(M + name, {'index': 9})
        yield f'{name} without an index', at(M + name, {})
        yield f'{name} on a set that is not there', at(M + name, texture(2))
        yield f'{name} with a transform to a set that is not there', at(M + name, texture(extensions={'KHR_texture_transform': {'texCoord': 2}}))
    yield 'specular-glossiness on a set that is not there', at(SG + 'diffuseTexture', texture(4))
    yield 'transform with another length', at(T + 'offset', [0.5])
    yield 'transform scale of words', at(T + 'scale', ['a', 'b'])
    yield 'transform rotation a list', at(T + 'rotation', [1])
    yield 'transform set negative', at(T + 'texCoord', -1)
    yield 'transform to set 0, texture on set 2', both(at(T + 'texCoord', 0), at('materials/0/pbrMetallicRoughness/baseColorTexture/texCoord', 2))
    yield 'transform where none belongs', at('materials/0/extensions/KHR_texture_transform', {})
    yield 'transform in a transform', at(T + 'extensions', {'KHR_texture_transform': {}})
    yield 'webp source not there', at(W + 'source', 9)
    yield 'webp source missing', at(W + 'source', ...)
    yield 'webp source a word', at(W + 'source', 'a')
    yield 'webp extension on a PNG', at(W + 'source', 0)
    yield 'webp as plain source', at('textures/0/source', 1)
    yield 'webp extension on a node', at('nodes/0/extensions', {'EXT_texture_webp': {}})


def materials():
    yield 'volume without transmission', at(M + 'transmission', ...)
    yield 'volume on a double-sided material', at('materials/0/doubleSided', True)
    yield 'thin volume on a double-sided material', both(at('materials/0/doubleSided', True), at(M + 'volume/thicknessFactor', 0))
    yield 'dispersion without volume', at(M + 'volume', ...)
    yield 'emissive strength without a factor', at('materials/0/emissiveFactor', ...)
    yield 'emissive strength 1 without a factor', both(at('materials/0/emissiveFactor', ...), at(M + 'emissive_strength', {}))
    yield 'iridescence texture without a range', at(M + 'iridescence/iridescenceThicknessMinimum', 60.5)
    yield 'iridescence range without a texture', at(M + 'iridescence/iridescenceThicknessTexture', ...)
    yield 'anisotropy on other coordinates', at(M + 'anisotropy/anisotropyTexture/texCoord', 1)
    yield 'clearcoat normals on other coordinates', at(M + 'clearcoat/clearcoatNormalTexture/texCoord', 1)
    yield 'unlit with another', at('materials/1/extensions/KHR_materials_ior', {})
    yield 'specular-glossiness with another', at('materials/2/extensions/KHR_materials_ior', {})
    yield 'unlit with a property', at('materials/1/extensions/KHR_materials_unlit/x', 1)
    yield 'alpha cutoff without mask', at('materials/0/alphaCutoff', 0.5)
    yield 'tangents missing, normal texture there', at(P + 'attributes/TANGENT', ...)
    yield 'tangents and normal texture missing', both(at(P + 'attributes/TANGENT', ...), at('materials/0/normalTexture', ...))
    yield 'clearcoat normals alone without tangents', both(at(P + 'attributes/TANGENT', ...), at('materials/0/normalTexture', ...),
                                                           at(M + 'anisotropy', ...))
    yield 'tangents without normals', at(P + 'attributes/NORMAL', ...)
    yield 'tangents that nothing needs', at(P + 'material', 1)
    yield 'no coordinates', both(at(P + 'attributes/TEXCOORD_0', ...), at(P + 'attributes/TEXCOORD_1', ...))
    for name in ('anisotropy', 'clearcoat', 'dispersion', 'emissive_strength', 'ior', 'iridescence', 'sheen', 'specular', 'transmission', 'volume'):
        yield f'{name} is a list', at(M + name, [])
        yield f'{name} on a mesh', at('meshes/0/extensions', {f'KHR_materials_{name}': {}})
        yield f'{name} with another property', at(f'{M}{name}/x', 1)
        yield f'{name} not declared', lambda json_, n=name: {**json_, 'extensionsUsed': [u for u in json_['extensionsUsed'] if u != f'KHR_materials_{n}']}


def lights():
    yield 'light without a type', at(L + '0/type', ...)
    yield 'light of an unknown type', at(L + '0/type', 'area')
    yield 'light with a type that is a number', at(L + '0/type', 5)
    yield 'light colour above 1', at(L + '0/color', [2, 1, 1])
    yield 'light colour of four', at(L + '0/color', [1, 1, 1, 1])
    yield 'light intensity below 0', at(L + '0/intensity', -1)
    yield 'light range 0', at(L + '1/range', 0)
    yield 'range of the sun', at(L + '0/range', 5)
    yield 'spot of a point', at(L + '1/spot', {})
    yield 'spot of a point that is a number', at(L + '1/spot', 5)
    yield 'spot missing', at(L + '2/spot', ...)
    yield 'spot a number', at(L + '2/spot', 5)
    yield 'inner cone as wide as outer', at(L + '2/spot/innerConeAngle', 0.5)
    yield 'inner cone as wide as the default', at(L + '2/spot', {'innerConeAngle': 0.7853981633974483})
    yield 'inner cone below 0', at(L + '2/spot/innerConeAngle', -0.1)
    yield 'outer cone 0', at(L + '2/spot', {'outerConeAngle': 0})
    yield 'outer cone above a right angle', at(L + '2/spot/outerConeAngle', 1.6)
    yield 'outer cone a right angle', at(L + '2/spot/outerConeAngle', 1.5707963267948966)
    yield 'inner cone a right angle', at(L + '2/spot/innerConeAngle', 1.5707963267948966)
    yield 'light with another property', at(L + '0/x', 5)
    yield 'lights empty', at('extensions/KHR_lights_punctual/lights', [])
    yield 'lights missing', at('extensions/KHR_lights_punctual', {})
    yield 'lights a number', at('extensions/KHR_lights_punctual/lights', 5)
    yield 'a light a number', at(L + '0', 5)
    yield 'no lights at the root', at('extensions/KHR_lights_punctual', ...)
    yield 'node with a light that is not there', at('nodes/1/extensions/KHR_lights_punctual/light', 9)
    yield 'node with a light below 0', at('nodes/1/extensions/KHR_lights_punctual/light', -1)
    yield 'node without a light', at('nodes/1/extensions/KHR_lights_punctual', {})
    yield 'light on a mesh', at('meshes/0/extensions', {'KHR_lights_punctual': {'light': 0}})
    yield 'extras of a light that are no object', at(L + '0/extras', 5)


def variants():
    yield 'variant without a name', at('extensions/KHR_materials_variants/variants/0', {})
    yield 'variant with a number for a name', at('extensions/KHR_materials_variants/variants/0/name', 5)
    yield 'variants empty', at('extensions/KHR_materials_variants/variants', [])
    yield 'no variants at the root', at('extensions/KHR_materials_variants', ...)
    yield 'mappings missing', at(P + 'extensions/KHR_materials_variants', {})
    yield 'mapping without a material', at(V + '0/material', ...)
    yield 'mapping without variants', at(V + '0/variants', ...)
    yield 'mapping with no variant', at(V + '0/variants', [])
    yield 'mapping to a material that is not there', at(V + '0/material', 9)
    yield 'mapping of a variant that is not there', at(V + '0/variants', [9])
    yield 'mapping of a variant below 0', at(V + '0/variants', [-1])
    yield 'mapping of a word', at(V + '0/variants', ['a'])
    yield 'variant twice in a mapping', at(V + '0/variants', [0, 0])
    yield 'variant in two mappings', at(V + '0/variants', [1])
    yield 'mapping to a material without its coordinates', at('materials/2/extensions/KHR_materials_pbrSpecularGlossiness/diffuseTexture/texCoord', 3)
    yield 'variants on a node', at('nodes/0/extensions', {'KHR_materials_variants': {}})
    yield 'variant with another property', at('extensions/KHR_materials_variants/variants/0/x', 5)


def pointers():
    yield 'pointer missing', at(A + 'extensions/KHR_animation_pointer', {})
    yield 'pointer a number', at(A + 'extensions/KHR_animation_pointer/pointer', 5)
    yield 'pointer without a slash', at(A + 'extensions/KHR_animation_pointer/pointer', 'materials/0')
    yield 'pointer with a lone tilde', at(A + 'extensions/KHR_animation_pointer/pointer', '/materials/~2')
    yield 'pointer with tildes', at(A + 'extensions/KHR_animation_pointer/pointer', '/extras/~0~1')
    yield 'pointer to everything', at(A + 'extensions/KHR_animation_pointer/pointer', '')
    yield 'pointer and node', at(A + 'node', 0)
    yield 'pointer and another path', at(A + 'path', 'translation')
    yield 'pointer and an unknown path', at(A + 'path', 'foo')
    yield 'pointer on a channel', at('animations/0/channels/0/extensions', {'KHR_animation_pointer': {'pointer': ''}})
    yield 'pointer with another property', at(A + 'extensions/KHR_animation_pointer/x', 5)


def images():
    for name, data in (('sizes', png(3, 5)), ('wide', png(4, 2)), ('profile', png(more=chunk(b'iCCP', b'x\0\0abc'))),
                       ('gamma', png(more=chunk(b'gAMA', struct.pack('>I', 50000)))), ('gamma of sRGB', png(more=chunk(b'gAMA', struct.pack('>I', 45455)))),
                       ('gamma after sRGB', png(more=chunk(b'sRGB', b'\0') + chunk(b'gAMA', struct.pack('>I', 50000)))),
                       ('primaries', png(more=chunk(b'cHRM', bytes(32)))), ('pixels', png(more=chunk(b'pHYs', struct.pack('>IIB', 1, 2, 0)))),
                       ('square pixels', png(more=chunk(b'pHYs', struct.pack('>IIB', 2, 2, 0)))), ('gamma of two bytes', png(more=chunk(b'gAMA', b'ab'))),
                       ('intent of two bytes', png(more=chunk(b'sRGB', b'ab'))), ('header too short', png(header=12)), ('cut off', png()[:30]),
                       ('cut off in the header', png()[:20])):
        yield f'PNG: {name}', at('images/2/uri', uri('image/png', data))
    for name, data in (('sizes', jpeg(3, 5)), ('grey', jpeg(channels=1)), ('four channels', jpeg(channels=4)), ('cut off', jpeg()[:-8]),
                       ('cut off in a segment', jpeg()[:14]), ('segment of no length', jpeg()[:4] + b'\0\0' + jpeg()[6:])):
        yield f'JPEG: {name}', at('images/2/uri', uri('image/jpeg', data))
    for name, data in (('lossy', webp(b'VP8 ')), ('lossy of odd size', webp(b'VP8 ', 3, 5)), ('extended', webp(b'VP8X')),
                       ('moving', webp(b'VP8X', features=2)), ('profile', webp(b'VP8X', features=0x20)), ('odd size', webp(width=3, height=7)),
                       ('extended of odd size', webp(b'VP8X', 30, 70)), ('unknown', webp(b'VP8Y')), ('cut off', webp()[:22])):
        yield f'WebP: {name}', at('images/1/uri', uri('image/webp', data))
    yield 'JPEG that says PNG', at('images/2/uri', uri('image/png', jpeg()))
    yield 'noise that says PNG', at('images/2/uri', uri('image/png', b'noise' * 9))
    yield 'nothing that says PNG', at('images/2/uri', uri('image/png', b''))
    yield 'PNG that says nothing', at('images/2/uri', 'data:;base64,' + base64.b64encode(png()).decode())
    yield 'PNG that shouts', at('images/2/uri', uri('IMAGE/PNG', png()))
    yield 'JPEG whose mimeType is PNG', at('images/2/mimeType', 'image/png')
    yield 'PNG inside whose mimeType is JPEG', at('images/0/mimeType', 'image/jpeg')
    yield 'PNG inside without a mimeType', at('images/0/mimeType', ...)
    yield 'mimeType of no image', at('images/0/mimeType', 'text/plain')
    yield 'KTX2 as a source', at('images/2/uri', uri('image/ktx2', KTX2))
    yield 'WebP without its extension', both(at('textures/0/extensions', ...), lambda j: {**j, 'extensionsUsed': [u for u in j['extensionsUsed'] if 'webp' not in u]})
    yield 'uri and view', at('images/0/uri', uri('image/png', png()))
    yield 'neither uri nor view', at('images/0', {})


BESIDE = {'a b.png': png(), 'jpeg.png': jpeg(), 'a.webp': webp(), 'a.ktx2': KTX2, 'noise.png': b'noise' * 9, 'cut.jpg': jpeg()[:15], 'empty.png': b''}


def files():
    """Images beside the document"""
    for name, image in (('PNG', {'uri': 'a%20b.png'}), ('PNG named as it is', {'uri': 'a b.png'}), ('PNG that is said to be JPEG', {'uri': 'a%20b.png', 'mimeType': 'image/jpeg'}),
                        ('JPEG called PNG', {'uri': 'jpeg.png'}), ('JPEG that is said to be PNG', {'uri': 'jpeg.png', 'mimeType': 'image/png'}), ('WebP', {'uri': 'a.webp'}),
                        ('KTX2', {'uri': 'a.ktx2'}), ('KTX2 that says so', {'uri': 'a.ktx2', 'mimeType': 'image/ktx2'}), ('noise', {'uri': 'noise.png'}),
                        ('cut off', {'uri': 'cut.jpg'}), ('empty', {'uri': 'empty.png'}), ('on a network', {'uri': 'http://nowhere.invalid/a.png'})):
        yield f'image file: {name}', at('images/2', image)
    yield 'image file: two say different things of one', both(at('images/0', {'uri': 'jpeg.png'}), at('images/2', {'uri': 'jpeg.png', 'mimeType': 'image/png'}))
    yield 'image file: PNG for WebP', at('images/1', {'uri': 'a%20b.png'})


def lists():
    yield 'an extension used twice', lambda j: {**j, 'extensionsUsed': j['extensionsUsed'] * 2}
    yield 'required, not used', at('extensionsRequired', ['KHR_texture_basisu'])
    yield 'required and used', at('extensionsRequired', ['KHR_materials_ior'])
    yield 'quantised without being required', lambda j: {**j, 'extensionsUsed': j['extensionsUsed'] + ['KHR_mesh_quantization']}
    yield 'an extension nobody knows', lambda j: {**j, 'extensionsUsed': j['extensionsUsed'] + ['FOO_bar']}
    yield 'an extension of ill name', lambda j: {**j, 'extensionsUsed': j['extensionsUsed'] + ['bar']}
    yield 'extensions a list', at('nodes/0/extensions', [])
    yield 'extras a number', at('nodes/0/extras', 5)


def rules():
    yield 'nothing changed', lambda json_: json_
    for group in (factors, textures, materials, lights, variants, pointers, images, files, lists):
        yield from group()


def ours():
    """Rules of extensions that the validator does not know: (name, document, code)."""
    json_ = dressed()
    used = json_['extensionsUsed']

    def using(name, change):
        return change({**json_, 'extensionsUsed': used + [name]})
    yield 'basisu source not there', using('KHR_texture_basisu', at('textures/1/extensions', {'KHR_texture_basisu': {'source': 9}})), 'UNRESOLVED_REFERENCE'
    yield 'visibility a number', using('KHR_node_visibility', at('nodes/0/extensions', {'KHR_node_visibility': {'visible': 5}})), 'TYPE_MISMATCH'
    yield 'visibility on a mesh', using('KHR_node_visibility', at('meshes/0/extensions', {'KHR_node_visibility': {}})), 'UNEXPECTED_EXTENSION_OBJECT'
    yield 'draco without a view', using('KHR_draco_mesh_compression', at(P + 'extensions/KHR_draco_mesh_compression', {'attributes': {'POSITION': 0}})), 'UNDEFINED_PROPERTY'
    yield 'draco view not there', using('KHR_draco_mesh_compression', at(
        P + 'extensions/KHR_draco_mesh_compression', {'bufferView': 99, 'attributes': {'POSITION': 0}})), 'UNRESOLVED_REFERENCE'
    yield 'diffuse transmission above 1', using('KHR_materials_diffuse_transmission', at(
        'materials/0/extensions/KHR_materials_diffuse_transmission', {'diffuseTransmissionFactor': 2})), 'VALUE_NOT_IN_RANGE'
    yield 'instancing of an accessor not there', using('EXT_mesh_gpu_instancing', at(
        'nodes/0/extensions', {'EXT_mesh_gpu_instancing': {'attributes': {'TRANSLATION': 99}}})), 'UNRESOLVED_REFERENCE'


def mutations():
    json_ = dressed()
    for path, value in leaves(json_):
        if not {'extensions', 'images', 'textures'} & set(path):
            continue
        for other in instead_of(value):
            yield f'{"/".join(map(str, path))} = {"deleted" if other is ... else json.dumps(other)[:20]}', replaced(json_, path, other)


def write(folder, cases):
    names = []
    for name, data in BESIDE.items():
        with open(os.path.join(folder, name), 'wb') as file:
            file.write(data)
    for i, (_, json_) in enumerate(cases):
        names.append(os.path.join(folder, f'{i}.gltf'))
        with open(names[-1], 'w') as file:
            json.dump(json_, file)
    return names


def judge(program, cases, remarks):
    """Lists of what is wrongly accepted, wrongly refused, refused with another code; remarks missing or made up; how many have errors"""
    with tempfile.TemporaryDirectory() as folder:
        judged = verdicts_in_full(program, write(folder, cases))
    accepted, refused, other, unlike, wrong = [], [], [], [], 0
    for (name, _), (theirs, their_remarks, mine, my_remarks) in zip(cases, judged):
        if theirs is None:  # the validator itself stumbled
            continue
        wrong += bool(theirs)
        if theirs and not mine:
            accepted.append(f'{name}: {sorted(theirs)}')
        elif not theirs and mine:
            refused.append(f'{name}: {sorted(mine)}')
        elif theirs and not theirs & mine:
            other.append(f'{name}: {sorted(mine)}, not one of {sorted(theirs)}')
        elif remarks and not theirs and (their_remarks ^ my_remarks) - UNREMARKED:
            unlike.append(f'{name}: lacks {sorted(their_remarks - my_remarks)}, adds {sorted(my_remarks - their_remarks)}')
    return accepted, refused, other, unlike, wrong


def report(name, count, wrong, lists_):
    bad = [line for list_ in lists_ for line in list_]
    print(f'{"not ok" if bad or not wrong else "ok"} {name}: {count} documents, {wrong} with errors; '
          f'{", ".join(f"{len(l)} {what}" for l, what in zip(lists_, ("accepted", "refused wrongly", "with another code", "with other remarks")))}')
    for line in bad[:20]:
        print(f'  {line}')
    return bool(bad)


def main():
    program = sys.argv[1]
    base = dressed()
    cases = [(name, change(base)) for name, change in rules()]
    *lists_, wrong = judge(program, cases, True)
    failed = report('gltf_extensions_every_rule_has_the_validators_verdict', len(cases), wrong, lists_)
    if len(cases) < LEAST:
        failed = True
        print(f'not ok gltf_extensions_rules: {len(cases)} of at least {LEAST}')
    cases = list(mutations())
    *lists_, wrong = judge(program, cases, True)
    failed |= report('gltf_extensions_every_property_has_the_validators_verdict', len(cases), wrong, lists_)
    cases = list(ours())
    with tempfile.TemporaryDirectory() as folder:
        found = verdicts_in_full(program, write(folder, [c[:2] for c in cases]))
    bad = [f'{c[0]}: {sorted(f[2])}, not {c[2]}' for c, f in zip(cases, found) if c[2] not in f[2]]
    print(f'{"not ok" if bad else "ok"} gltf_extensions_the_validator_does_not_know: {len(cases) - len(bad)} of {len(cases)} refused {bad}')
    return 1 if failed or bad else 0


if __name__ == '__main__':
    sys.exit(main())
