"""Judge `cutis check` by the Khronos validator's own reports: gltf_judge.py CUTIS CORPUS

Every FILE with a FILE.report.json beside it counts, if the buffers it names are there. A file with errors must be refused with
one of the codes of its report, a file without errors must pass. Prints "ok"/"not ok" lines with the figures and the files that
were accepted.
"""
import json
import os
import subprocess
import sys


def complete(file):
    """Whether every buffer the document names is there to be judged"""
    try:
        with open(file, encoding='utf-8') as text:
            buffers = json.load(text).get('buffers')
    except (ValueError, AttributeError):
        return True
    uris = [b.get('uri') for b in buffers if isinstance(b, dict)] if isinstance(buffers, list) else []
    return all(os.path.exists(os.path.join(os.path.dirname(file), u)) for u in uris if isinstance(u, str) and ':' not in u and u.endswith('.bin'))


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
    wrong, right, accepted, other, refused, absent = [], [], [], [], [], []
    for folder, _, names in sorted(os.walk(corpus)):
        for name in sorted(n for n in names if n.endswith('.report.json')):
            file = os.path.join(folder, name[:-len('.report.json')])
            with open(file + '.report.json') as report:
                expected = {m['code'] for m in json.load(report)['issues']['messages'] if m['severity'] == 0}
            said_no, codes, line = check(cutis, file)
            short = os.path.relpath(file, corpus)
            (wrong if expected else right).append(short)
            if not complete(file) and 'IO_ERROR' not in expected:
                absent.append(short)
            elif not expected and said_no:
                refused.append(f'{short}: {line}')
            elif expected and not said_no:
                accepted.append(f'{short}: {sorted(expected)}')
            elif expected and not codes & expected:
                other.append(f'{short}: {sorted(codes)}, its report has {sorted(expected)}')
    whole = [w for w in wrong if w not in absent]
    good = len(whole) - len(accepted) - len(other)
    print(f'{"ok" if whole and good == len(whole) else "not ok"} gltf_judge_wrong_files: {good} of {len(whole)} refused with a code of their report, '
          f'{len(accepted)} accepted, {len(other)} with other codes; the data of {len(wrong) - len(whole)} more is not there')
    print(f'{"not ok" if refused or not right else "ok"} gltf_judge_right_files: {len(refused)} of {len(right)} refused')
    for title, lines in (('accepted', accepted), ('another code', other), ('refused', refused)):
        for line in lines:
            print(f'{title}: {line}')
    return 0 if whole and good == len(whole) and right and not refused else 1


sys.exit(main())
