"""Judge the validator's reports that test_gltf_validator.sh has gathered in a folder."""
import collections
import json
import os
import sys

folder = sys.argv[1]

# Files that are wrong only in what Cutis does not model (cameras, images, extensions it does not read), or in values that
# mean the same all the same: a colour above 1, a rotation key a little off unit length. They are read.
TOLERATED = {
    'ONE_OF_MISMATCH', 'CAMERA_ZFAR_LEQUAL_ZNEAR', 'IMAGE_BUFFER_VIEW_WITH_BYTESTRIDE', 'INVALID_URI',
    'UNSATISFIED_DEPENDENCY', 'ACCESSOR_NON_CLAMPED', 'KHR_ANIMATION_POINTER_ANIMATION_CHANNEL_TARGET_PATH',
    'PATTERN_MISMATCH', 'UNEXPECTED_EXTENSION_OBJECT', 'ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION',
}


def reports(name):
    with open(os.path.join(folder, name)) as lines:
        return {r['file']: r['issues'] for r in map(json.loads, lines)}


def errors(issues):
    return {i['code'] for i in issues if i['severity'] == 0}


def main():
    before, after = reports('in.jsonl'), reports('out.jsonl')
    pairs = [line.rstrip('\n').split('\t') for line in open(os.path.join(folder, 'pairs'))]
    read = {a for a, b in pairs if b != '-'}
    failures = []

    refused_valid = [f for f in before if not errors(before[f]) and f not in read]
    valid = sum(not errors(i) for i in before.values())
    if refused_valid:
        failures.append(f'gltf_valid_files_are_read: refused {refused_valid[:3]}')
    else:
        print(f'ok gltf_valid_files_are_read ({valid} files)')

    worse = []
    for a, b in pairs:
        if b == '-':
            continue
        old = collections.Counter((i['code'], i['severity']) for i in before[a])
        new = collections.Counter((i['code'], i['severity']) for i in after[b])
        # Image files stay files; the validator only remarks on them inside a GLB. A buffer without data cannot be a GLB's
        # first, so an unused one of four bytes stands before it.
        if a.lower().endswith('.gltf') and b.endswith('.glb'):
            new.pop(('URI_GLB', 2), None)
            if any(i['code'] == 'UNUSED_OBJECT' and i['pointer'] == '/buffers/0' for i in after[b]):
                new[('UNUSED_OBJECT', 2)] -= 1
        if new - old:
            worse.append((a, b, dict(new - old)))
    if worse:
        failures.append(f'gltf_rewriting_adds_no_issue: {len(worse)} files, first {worse[:8]}')
    else:
        print(f'ok gltf_rewriting_adds_no_issue ({len(after)} files)')

    wrong = {f for f in before if errors(before[f])}
    accepted = [f for f in wrong & read if not errors(before[f]) <= TOLERATED]
    line = f'{len(wrong - read)} of {len(wrong)} refused'
    if accepted:
        failures.append(f'gltf_wrong_files_are_refused: {line}, but read {accepted[:3]}')
    else:
        print(f'ok gltf_wrong_files_are_refused ({line})')

    authored = reports('authored.jsonl')
    bad = {os.path.basename(f): sorted({k['code'] for k in i if k['severity'] < 2}) for f, i in authored.items()}
    bad = {f: codes for f, codes in bad.items() if codes}
    if bad or not authored:
        failures.append(f'gltf_authored_files_have_no_errors_or_warnings: {bad or "none were written"}')
    else:
        print(f'ok gltf_authored_files_have_no_errors_or_warnings ({len(authored)} files)')

    for failure in failures:
        print('not ok ' + failure)
    return 1 if failures else 0


sys.exit(main())
