"""Nothing lost: gltf_kept_judge.py CUTIS SHARED

Converts every glTF of SHARED that Cutis reads to .glb and .gltf, and documents dressed with everything that Cutis does not touch
(gltf_decorate.py), and compares the structure before and after (gltf_kept.py); then the dressed ones after the verbs that change a
model, where only what the verb is for may differ. First the comparison itself: whatever is taken from a document, it must notice.
"""
import copy
import json
import os
import re
import subprocess
import sys
import tempfile

from gltf_decorate import decorate, write_glb
from gltf_kept import Asset, lost
from gltf_mutate import VERTICES, Document, leaves, replaced

SKIN = r'/meshes/\d+/primitives/\d+/attributes/(JOINTS|WEIGHTS)_\d+'
MORPHS = r'/meshes/\d+/(weights|extras/targetNames|primitives/\d+/targets)(/.*)?'
PLACED = r'/nodes/\d+/(skin|mesh)'
SHAPE = r'/meshes/\d+/primitives/\d+/attributes/(POSITION|NORMAL|TANGENT)'
# Everything of the old rig and surface, and textures on coordinates that a new surface does not have.
RIG = (r'/(nodes|meshes|skins|animations|scenes)/.*', r'/(animations|skins)', r'/extensions/KHR_materials_variants',
       r'/materials/0/(occlusionTexture|pbrMetallicRoughness/baseColorTexture|extensions/KHR_materials_.*)', r'/extensionsUsed', r'/bufferViews')


# Where a repair that reading has noted ("[CODE]") may have changed something: rig, surface, motion.
REPAIRED = (r'/(nodes|meshes|skins|animations|scenes|scene)(/.*)?', r'/asset/(version|minVersion)', r'/bufferViews')


def run(cutis, *words):
    return subprocess.run([cutis, *words], capture_output=True, text=True, timeout=300)


def say(name, bad, more):
    print(f'{"not ok" if bad else "ok"} {name}: {more}')
    for line in bad[:10]:
        print(f'  {line}')
    return bool(bad)


def without(lines, allowed):
    return [line for line in lines if not any(re.fullmatch(a, line.split(': ')[0]) for a in allowed)]


def check_comparison(folder, path):
    """Delete each property once: the comparison must notice, but for what is layout."""
    asset, unseen, count = Asset(path), [], 0
    other = os.path.join(folder, 'less.glb')
    layout = re.compile(r'(buffers|bufferViews|accessors)(/.*)?|asset/version|scene|.*/mimeType')
    for where, _ in leaves(asset.json):
        name = '/'.join(map(str, where))
        if not where or layout.fullmatch(name) or isinstance(where[-1], int):
            continue
        count += 1
        write_glb(other, replaced(asset.json, where, ...), asset.bin)
        if not lost(path, other):
            unseen.append(name)
    return say('gltf_kept_the_comparison_notices_what_is_gone', unseen, f'{count - len(unseen)} of {count} deletions')


def check_shared(cutis, shared, folder):
    files = sorted(os.path.join(at, n) for at, _, names in os.walk(shared) for n in names if n.endswith(('.gltf', '.glb')))
    read, noted, bad = 0, 0, []
    for file in files:
        for name in ('a.glb', 'b.gltf'):
            out = os.path.join(folder, name)
            done = run(cutis, 'convert', file, '-o', out)
            if done.returncode == 0:
                read += 1
                repaired = re.search(r'\[[A-Z0-9_]+\]$', done.stderr, re.M)
                noted += bool(repaired)
                bad += [f'{os.path.relpath(file, shared)} to {name[2:]}: {line}' for line in without(lost(file, out), REPAIRED if repaired else ())]
    return say('gltf_kept_real_files', bad if read else ['none was read'],
               f'{read} conversions of {len(files)} files, {noted} with noted repairs, {len(bad)} things lost')


def make(cutis, folder):
    """name -> path of dressed files"""
    made = {}
    for body, more in (('biped', ()), ('arm', ('--examples', os.path.join(folder, 'examples')))):
        plain = os.path.join(folder, body + '_plain.glb')
        run(cutis, 'synth', body, '--size', 'low', *more, '-o', plain, '-q')
        asset = Asset(plain)
        for foreign in (False, True):
            json_ = copy.deepcopy(asset.json)
            data = decorate(json_, asset.bin[:json_['buffers'][0]['byteLength']], foreign)
            name = body + ('_foreign' if foreign else '')
            made[name] = os.path.join(folder, name + '.glb')
            write_glb(made[name], json_, data, b'\x08\0\0\0TIMEabcdefgh')
            made[name + '.gltf'] = os.path.join(folder, name + '.gltf')
            json_['buffers'][0]['uri'] = name + '.bin'
            with open(made[name + '.gltf'], 'w') as file:
                json.dump(json_, file)
            with open(os.path.join(folder, name + '.bin'), 'wb') as file:
                file.write(data)
    made['quantized.gltf'] = os.path.join(folder, 'quantized.gltf')
    with open(made['quantized.gltf'], 'w') as file:
        json.dump(quantized(), file)
    with open(os.path.join(folder, 'skin.ktx2'), 'wb') as file:
        file.write(b'\xabKTX 20\xbb\r\n\x1a\n')
    return made


def quantized():
    """Positions of 16 bits, and a node that shows its mesh many times"""
    d = Document()
    place = d.accessor('h', [0, 0, 0, 0, 9, 0, 0, 0, 0, 9, 0, 0], 'VEC3', VERTICES)  # the fourth is padding
    d.json['bufferViews'][0]['byteStride'] = 8
    d.json['accessors'][place].update(count=3, min=[0, 0, 0], max=[9, 9, 0])
    shifts = d.accessor('f', [0, 0, 0, 1, 0, 0], 'VEC3')
    used = ['KHR_mesh_quantization', 'EXT_mesh_gpu_instancing']
    return d.done(extensionsUsed=used, extensionsRequired=used[:1], scenes=[{'nodes': [0]}], meshes=[{'primitives': [{'attributes': {'POSITION': place}}]}],
                  nodes=[{'mesh': 0, 'extensions': {'EXT_mesh_gpu_instancing': {'attributes': {'TRANSLATION': shifts}, 'extras': {'n': 2}}}}])


def check_dressed(cutis, made, folder):
    bad, chunks = [], 0
    for name, path in made.items():
        for out in (os.path.join(folder, 'out.glb'), os.path.join(folder, 'out.gltf')):
            done = run(cutis, 'convert', path, '-o', out)
            lines = lost(path, out) if done.returncode == 0 else [done.stderr]
            bad += [f'{name} to {out[-4:]}: {line}' for line in lines]
            with open(out, 'rb') as file:
                kept = file.read().endswith(b'TIMEabcdefgh')
            if path.endswith('.glb') and kept != out.endswith('.glb'):
                bad.append(f'{name}: its last chunk')
            if path.endswith('.glb') and out.endswith('.gltf') and 'chunk' not in done.stderr:
                bad.append(f'{name}: nothing said of the chunk that is gone')
            chunks += kept
    return say('gltf_kept_dressed_files', bad, f'{2 * len(made)} conversions, {len(bad)} things lost')


def verbs(folder):
    """(verb, body, words, what may differ)"""
    cage, handles, motion = (os.path.join(folder, n) for n in ('cage.obj', 'handles.json', 'walk.bvh'))
    examples = os.path.join(folder, 'examples', 'examples.npy')
    yield 'reduce', 'biped', ('--influences', '2', '--method', 'smooth'), (SKIN,)
    yield 'retarget', 'biped', ('--motion', motion), ()
    yield 'handles', 'biped', ('--skeleton', '--voxels', '24', '--largest'), (SKIN,)
    yield 'handles', 'biped', ('--handles', handles, '--voxels', '24', '--largest'), (SKIN, PLACED)
    yield 'cage', 'biped', ('--cage', cage), ()
    yield 'cage', 'biped', ('--cage', cage, '--as-skin'), (SKIN, PLACED, SHAPE)
    yield 'fit', 'arm', ('--poses', 'examples', '--shapes', examples), (SKIN, MORPHS, SHAPE)
    yield 'skeleton', 'biped', ('--parts', 'joints'), RIG
    yield 'convert', 'biped', ('--influences', '2'), (SKIN,)
    yield 'convert', 'biped', ('--weights', 'u8'), (SKIN,)


def write_inputs(cutis, made, folder):
    corners = [(x, y, z) for y in (-1, 3) for x, z in ((-2, -2), (2, -2), (2, 2), (-2, 2))]
    faces = '123 134 576 587 162 156 273 267 384 378 451 485'.split()
    with open(os.path.join(folder, 'cage.obj'), 'w') as file:
        file.writelines(f'v {x} {y} {z}\n' for x, y, z in corners)
        file.writelines(f'f {" ".join(f)}\n' for f in faces)
    with open(os.path.join(folder, 'handles.json'), 'w') as file:
        json.dump({'handles': [{'name': 'a', 'kind': 'point', 'position': [0, 1.6, 0]}, {'name': 'b', 'kind': 'point', 'position': [0, 0.9, 0]}]}, file)
    run(cutis, 'convert', made['biped'], '--clip', 'walk', '-o', os.path.join(folder, 'walk.bvh'), '-q')


def check_verbs(cutis, made, folder):
    bad, count = [], 0
    write_inputs(cutis, made, folder)
    for verb, body, words, allowed in verbs(folder):
        for name in (body, body + '_foreign'):
            out, path = os.path.join(folder, 'verb.glb'), made[name]
            done = run(cutis, verb, path, *words, '-o', out)
            count += 1
            if done.returncode:
                bad.append(f'{verb} {name}: {done.stderr.strip()}')
                continue
            # What belongs to nobody Cutis knows goes with the rig, and that is said.
            noted = allowed + (r'/materials/0/extensions/FOO_bar', r'/extensions/FOO_bar') if 'foreign extensions' in done.stderr else allowed
            bad += [f'{verb} {" ".join(words[:1])} {name}: {line}' for line in without(lost(path, out), noted)]
            if verb == 'skeleton':
                after = Asset(out).json['nodes']
                for prop in ('camera', 'lamp'):
                    before = next(n for n in Asset(path).json['nodes'] if n.get('name') == prop)
                    if {**before, 'scale': 0} not in [{**n, 'scale': 0} for n in after]:
                        bad.append(f'skeleton {name}: {prop}')
    return say('gltf_kept_after_verbs', bad, f'{count} runs, {len(bad)} things lost')


def main():
    cutis, shared = sys.argv[1:3]
    with tempfile.TemporaryDirectory() as folder:
        made = make(cutis, folder)
        failed = check_comparison(folder, made['arm'])
        failed |= check_dressed(cutis, made, folder)
        failed |= check_verbs(cutis, made, folder)
        if os.path.isdir(shared):
            failed |= check_shared(cutis, shared, folder)
        else:
            print(f'skip gltf_kept_real_files: shared data: {shared} is not there')
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())
