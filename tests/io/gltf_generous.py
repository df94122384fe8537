"""Files that break the letter of glTF and still have one safe meaning, made by code: one fault each, and pairs of faults.
Each is read for use, says what was put right, deforms as its clean twin and as three.js (where that reads it), converts and is
fixed to a file the Khronos validator finds clean, and is judged by `cutis check` as by the validator. See test_gltf_generous.sh."""
import json
import math
import os
import subprocess
import sys

import numpy

from gltf_faults import FAULTS, cases, made

TOLERANCE = 1e-6
FRAMES, FPS = 6, '4.7'


def run(cutis, *arguments):
    return subprocess.run([cutis, *arguments], capture_output=True, text=True)


def validate(paths):
    here = os.path.dirname(os.path.abspath(__file__))
    done = subprocess.run(['node', os.path.join(here, 'gltf_validate.mjs')], input='\n'.join(paths) + '\n', capture_output=True, text=True)
    return [[i for i in json.loads(line)['issues'] if i['severity'] <= 1] for line in done.stdout.splitlines()]


def three_frames(paths, folder):
    here = os.path.dirname(os.path.abspath(__file__))
    outs = [os.path.join(folder, f'three{i}.f32') for i in range(len(paths))]
    lines = ''.join(f'{p}\t0\t{FPS}\t{FRAMES}\t{o}\n' for p, o in zip(paths, outs))
    done = subprocess.run(['node', os.path.join(here, 'three_lbs.mjs')], input=lines, capture_output=True, text=True, timeout=120)
    if done.returncode:
        sys.exit('not ok gltf_generous: three.js failed: ' + done.stderr.strip()[-400:].replace('\n', ' '))
    return [numpy.fromfile(o, numpy.float32).reshape(FRAMES, -1, 3).astype(float) for o in outs]


def deform(cutis, path, out):
    done = run(cutis, 'deform', path, '--clip', '0', '--method', 'lbs', '--fps', FPS, '--frames', f'0:{FRAMES}', '-o', out)
    return (numpy.load(out).astype(float), done.stderr) if done.returncode == 0 else (None, done.stderr)


class Tally:
    def __init__(self):
        self.failed = {}

    def expect(self, claim, good, what):
        self.failed.setdefault(claim, [])
        if not good:
            self.failed[claim].append(what)

    def report(self, count):
        for claim, failures in self.failed.items():
            print(f'{"not ok" if failures else "ok"} gltf_generous_{claim}: {len(failures)} of {count} fail {failures[:4]}')
        return 1 if any(self.failed.values()) else 0


def judge(cutis, tally, name, path, theirs):
    """`cutis check` against the validator."""
    done = run(cutis, 'check', path, '--json')
    errors = {i['code'] for i in theirs if i['severity'] == 0}
    ours = {i['code'] for i in json.loads(done.stdout)['issues'] if i['severity'] == 'error'} if done.stdout else set()
    tally.expect('check_says_what_the_validator_says', bool(errors) == (done.returncode == 1) and (not errors or errors & ours),
                 (name, sorted(errors), sorted(ours)))


def main():
    cutis, folder = sys.argv[1:3]
    tally, files = Tally(), []
    for i, names in enumerate(cases()):
        broken, clean = made(names)
        path = os.path.join(folder, f'{i}{".glb" if broken.binary else ".gltf"}')
        twin = os.path.join(folder, f'{i}_twin.glb')
        open(path, 'wb').write(broken.pack())
        open(twin, 'wb').write(clean.pack())
        files.append((names, path, twin))
    written = []
    frames = {}
    for names, path, twin in files:
        stem = os.path.splitext(path)[0]
        wanted = {FAULTS[n]['code'] for n in names} - {None}
        found, notes = deform(cutis, path, stem + '.npy')
        frames[path] = found
        expected, quiet = deform(cutis, twin, stem + '_twin.npy')
        tally.expect('clean_twins_have_no_notes', expected is not None and not quiet, (names, quiet))
        tally.expect('files_are_read', found is not None, (names, notes))
        if found is None or expected is None:
            continue
        error = abs(found - expected).max()
        tally.expect('files_deform_as_their_clean_twins', error <= TOLERANCE, (names, error))
        tally.expect('notes_name_the_code', all(f'[{code}]' in notes for code in wanted) and (wanted or not notes), (names, notes))
        info = run(cutis, 'info', path, '--json')
        tally.expect('json_has_the_notes', info.returncode == 0 and wanted <= {n['code'] for n in json.loads(info.stdout)['notes']},
                     (names, info.stdout[-200:]))
        for out, arguments in ((stem + '_new.glb', ('convert', path, '-o')), (stem + '_new.gltf', ('convert', path, '-o')),
                               (stem + '_fixed.glb', ('check', path, '--fix', '-o'))):
            done = run(cutis, *arguments, out)
            tally.expect('files_are_written', done.returncode == 0, (names, done.stderr))
            if done.returncode == 0:
                written.append((names, out))
            if done.returncode == 0 and out.endswith('.glb'):
                again, notes = deform(cutis, out, stem + '_again.npy')
                tally.expect('what_is_written_deforms_the_same', again is not None and abs(again - expected).max() <= TOLERANCE,
                             (names, arguments[0], notes))
    for (names, path, twin), theirs in zip(files, validate([path for _, path, _ in files])):
        judge(cutis, tally, names, path, theirs)
    for (names, out), issues in zip(written, validate([out for _, out in written])):
        tally.expect('what_is_written_is_clean_to_the_validator', not [i for i in issues if i['severity'] == 0], (names, out, issues[:2]))
    for (names, _, twin), issues in zip(files, validate([twin for _, _, twin in files])):
        tally.expect('twins_are_clean_to_the_validator', not [i for i in issues if i['severity'] == 0], (names, issues[:2]))
    compared = [(names, path) for names, path, _ in files if all(FAULTS[n]['three'] for n in names) and frames[path] is not None]
    for (names, path), reference in zip(compared, three_frames([path for _, path in compared], folder)):
        error = abs(frames[path] - reference).max() if frames[path].shape == reference.shape else math.inf
        tally.expect('files_deform_as_in_three', error <= 1e-5, (names, error))
    print(f'# {len(files)} files, {len(FAULTS)} faults, {len(compared)} of them compared with three.js')
    tally.expect('enough_files', len(files) >= 60, len(files))
    return tally.report(len(files))


if __name__ == '__main__':
    sys.exit(main())
