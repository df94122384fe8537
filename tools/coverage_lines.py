"""Sum up gcov's lines over all objects of a build: coverage_lines.py BUILD [--missed FILE].

A line of a header is run if any program ran it. Only files below src/ and cli/ count; what the build itself makes
(wrappers around kernel texts, embedded texts) does not.
"""
import collections
import json
import os
import subprocess
import sys

build = os.path.abspath(sys.argv[1])
root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
notes = [os.path.join(folder, name)
         for folder, _, names in os.walk(build) for name in names if name.endswith(".gcno")
         if "/tests/" not in folder and "/fuzz/" not in folder and "/bench/" not in folder and "/samples/" not in folder]
lines = collections.defaultdict(dict)
places = {}


def place(name, folder):
    if name not in places:
        path = os.path.realpath(os.path.join(folder, name))
        places[name] = os.path.relpath(path, root) if path.startswith(root + "/") else None
        if places[name] and not places[name].startswith(("src/", "cli/")):
            places[name] = None
    return places[name]


for start in range(0, len(notes), 20):
    text = subprocess.run(["gcov", "--json-format", "--stdout", *notes[start:start + 20]],
                          capture_output=True, cwd=build).stdout.decode()
    for document in text.splitlines():
        if not document.startswith("{"):
            continue
        record = json.loads(document)
        for file in record["files"]:
            name = place(file["file"], record["current_working_directory"])
            for line in file["lines"] if name else []:
                number = line["line_number"]
                lines[name][number] = lines[name].get(number, 0) + line["count"]

if "--missed" in sys.argv:
    name = sys.argv[sys.argv.index("--missed") + 1]
    print(" ".join(str(n) for n in sorted(lines[name]) if not lines[name][n]))
    sys.exit()
rooms = collections.defaultdict(lambda: [0, 0])
bad = []
for name, counts in lines.items():
    run, total = sum(1 for c in counts.values() if c), len(counts)
    for key in {"/".join(name.split("/")[:2]) if name.startswith("src/") else "cli", name.split("/")[0], "all"}:
        rooms[key][0] += run
        rooms[key][1] += total
    if total and run < 0.9 * total:
        bad.append((total - run, run, total, name))
for missed, run, total, name in sorted(bad, reverse=True):
    print(f"{name:44} {100 * run / total:5.1f} % of {total:5}, {missed} missed")
for room, (run, total) in sorted(rooms.items()):
    print(f"{room:14} {100 * run / total:5.1f} % of {total} lines")
