"""Judge the validator's reports that test_gltf_validator.sh has gathered in a folder."""
import collections
import json
import os
import sys

folder = sys.argv[1]

# Files that are wrong only in what Cutis does not model (cameras, images, extensions it does not read, channels without a
# node). They are read, and what is wrong stays where it was.
TOLERATED = {
    'ONE_OF_MISMATCH', 'CAMERA_ZFAR_LEQUAL_ZNEAR', 'INVALID_URI',
    'UNSATISFIED_DEPENDENCY', 'KHR_ANIMATION_POINTER_ANIMATION_CHANNEL_TARGET_PATH',
    'PATTERN_MISMATCH', 'UNEXPECTED_EXTENSION_OBJECT', 'ACCESSOR_ANIMATION_SAMPLER_OUTPUT_NON_NORMALIZED_QUATERNION',
}

# What has one safe meaning (docs/formats/gltf.md): read, noted, and never written again.
GENEROSITIES = {
    'ACCESSOR_ELEMENT_OUT_OF_MAX_BOUND', 'ACCESSOR_ELEMENT_OUT_OF_MIN_BOUND', 'ACCESSOR_INVALID_FLOAT', 'ACCESSOR_MAX_MISMATCH',
    'ACCESSOR_MIN_MISMATCH', 'ACCESSOR_NON_CLAMPED', 'ACCESSOR_VECTOR3_NON_UNIT', 'ANIMATION_SAMPLER_INPUT_ACCESSOR_WITHOUT_BOUNDS',
    'BUFFER_BYTE_LENGTH_MISMATCH', 'BUFFER_VIEW_INVALID_BYTE_STRIDE', 'BUFFER_VIEW_TARGET_OVERRIDE', 'BUFFER_VIEW_TOO_BIG_BYTE_STRIDE',
    'DUPLICATE_ELEMENTS', 'EMPTY_ENTITY', 'GLB_CHUNK_LENGTH_UNALIGNED', 'GLB_CHUNK_TOO_BIG', 'GLB_LENGTH_MISMATCH',
    'IMAGE_BUFFER_VIEW_WITH_BYTESTRIDE', 'INVALID_JSON', 'MESH_PRIMITIVE_ACCESSOR_WITHOUT_BYTESTRIDE',
    'MESH_PRIMITIVE_INDICES_ACCESSOR_WITH_BYTESTRIDE', 'MESH_PRIMITIVE_POSITION_ACCESSOR_WITHOUT_BOUNDS',
    'SKIN_IBM_ACCESSOR_WITH_BYTESTRIDE', 'SKIN_NO_COMMON_ROOT', 'UNDECLARED_EXTENSION', 'VALUE_MULTIPLE_OF',
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
        # What was put right may be worth a remark; errors and warnings are never new, and errors never stay.
        least = 2 if errors(before[a]) else 4
        added = {key: count for key, count in (new - old).items() if key[1] < least}
        stays = errors(after[b]) - TOLERATED
        if added or stays:
            worse.append((a, b, added, stays))
    if worse:
        failures.append(f'gltf_rewriting_adds_no_issue_and_keeps_no_error: {len(worse)} files, first {worse[:8]}')
    else:
        print(f'ok gltf_rewriting_adds_no_issue_and_keeps_no_error ({len(after)} files)')

    wrong = {f for f in before if errors(before[f])}
    accepted = [f for f in wrong & read if not errors(before[f]) <= TOLERATED | GENEROSITIES]
    line = f'{len(wrong - read)} of {len(wrong)} refused, {len(wrong & read)} put right or none of ours'
    if accepted:
        failures.append(f'gltf_wrong_files_are_refused_or_put_right: {line}, but read {accepted[:3]}')
    else:
        print(f'ok gltf_wrong_files_are_refused_or_put_right ({line})')

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
