"""Judge `cutis check` by the Khronos validator's own reports: gltf_judge.py CUTIS CORPUS

Every FILE with a FILE.report.json beside it counts. A file with errors must be refused with one of the codes of its report,
unless all its errors are about what Cutis does not read; a file without errors must pass. Prints "ok"/"not ok" lines with the
figures and the files that were accepted.
"""
import json
import os
import subprocess
import sys

# Errors about images, extensions and so on that Cutis keeps as they are and never reads. Cameras and materials it checks.
UNREAD = {
    'IMAGE_DATA_INVALID', 'IMAGE_MIME_TYPE_INVALID', 'IMAGE_NON_ENABLED_MIME_TYPE', 'IMAGE_UNEXPECTED_EOS',
    'TEXTURE_INVALID_IMAGE_MIME_TYPE', 'KHR_ANIMATION_POINTER_ANIMATION_CHANNEL_TARGET_NODE',
    'KHR_ANIMATION_POINTER_ANIMATION_CHANNEL_TARGET_PATH', 'KHR_LIGHTS_PUNCTUAL_LIGHT_SPOT_ANGLES',
    'KHR_MATERIALS_VARIANTS_NON_UNIQUE_VARIANT', 'MESH_PRIMITIVE_NO_TANGENT_SPACE',
}
LEAST = 0.95  # of the files with errors


def unread(message):
    pointer = message.get('pointer') or ''
    return message['code'] in UNREAD or '/extensions/' in pointer or pointer.startswith('/images')


def check(cutis, file):
    """(refused, codes of errors, standard error)"""
    run = subprocess.run([cutis, 'check', '--json', file], capture_output=True, text=True, timeout=60)
    try:
        issues = json.loads(run.stdout)['issues'] if run.stdout else []
    except ValueError:
        issues = []
    codes = {i['code'] for i in issues if i['severity'] == 'error'}
    if run.returncode not in (0, 1):
        codes.add(f'EXIT {run.returncode}')
    return run.returncode != 0, codes, run.stderr.strip()


def main():
    cutis, corpus = sys.argv[1:3]
    wrong, right, accepted, other, refused = [], [], [], [], []
    for folder, _, names in sorted(os.walk(corpus)):
        for name in sorted(names):
            if not name.endswith('.report.json'):
                continue
            file = os.path.join(folder, name[:-len('.report.json')])
            with open(file + '.report.json') as report:
                errors = [m for m in json.load(report)['issues']['messages'] if m['severity'] == 0]
            said_no, codes, line = check(cutis, file)
            short = os.path.relpath(file, corpus)
            if not errors:
                right.append(short)
                if said_no:
                    refused.append(f'{short}: {line}')
                continue
            wrong.append(short)
            expected = {m['code'] for m in errors}
            if said_no and not codes & expected:
                other.append(f'{short}: {sorted(codes)}, its report has {sorted(expected)}')
            elif not said_no:
                accepted.append((short, expected, all(unread(m) for m in errors)))
    for short, expected, excused in accepted:
        print(f'accepted{"" if excused else " wrongly"}: {short}: {sorted(expected)}')
    for line in other:
        print(f'another code: {line}')
    good = len(wrong) - len(accepted) - len(other)
    counted = len(wrong) - sum(excused for _, _, excused in accepted)
    line = f'{good} of {len(wrong)} refused with a code of their report, {len(accepted)} accepted, {len(other)} other codes'
    bad = [a for a in accepted if not a[2]]
    print(f'{"ok" if good >= LEAST * counted and wrong else "not ok"} gltf_judge_wrong_files: {line}; {len(bad)} accepted wrongly')
    print(f'{"not ok" if refused or not right else "ok"} gltf_judge_right_files: {len(refused)} of {len(right)} refused')
    for line in refused:
        print(f'refused: {line}')
    return 0 if good >= LEAST * counted and wrong and right and not refused else 1


sys.exit(main())
