"""reproduce_check.py reproduce.json SPEC_FOLDER: the published figures in the file are those of docs/spec, read
from their own tables; one line a paper, as the test runner wants it."""
import json, re, sys

data = json.load(open(sys.argv[1]))
papers = {p["key"]: p for p in data["papers"]}

def spec(name):
    """Rows of all tables of a specification, as lists of cells."""
    lines = open(f"{sys.argv[2]}/{name}.md", encoding="utf-8").read().splitlines()
    return [[c.strip() for c in l.strip().strip("|").split("|")] for l in lines if l.startswith("|")]

def prose(name):
    """The text of a specification, wherever its lines end."""
    return " ".join(open(f"{sys.argv[2]}/{name}.md", encoding="utf-8").read().split())

def table(paper, place):
    return next(t for t in papers[paper]["tables"] if t["place"] == place)

def published(paper, place):
    """label -> published figures, the table's rows in order."""
    return [(r["label"], [c["paper"] for c in r["cells"]]) for r in table(paper, place)["rows"]]

def numbers(cells):
    return [float(c) for c in cells]

def near(got, want):
    return len(got) == len(want) and all(g is not None and abs(g - w) <= 1e-9 + 1e-6 * abs(w) for g, w in zip(got, want))

def check_sbs():
    rows = spec("blending")
    text = prose("blending")
    found = re.search(r"Skeleton (\d+) verts, (\d+) tris, (\d+) joints, (\d+) bone combinations; Woman (\d+), (\d+), (\d+), (\d+)", text)
    sizes = numbers(found.groups())
    assert near([v for _, row in published("sbs", "Table 2") for v in row], sizes), "Table 2"
    names = ["LBS CPU", "SBS CPU", "SBS CPU + LUT", "LBS GPU", "SBS GPU", "SBS GPU + LUT"]
    for name, (label, got) in zip(names, published("sbs", "Table 3"), strict=True):
        want = numbers(next(r for r in rows if r[0] == name)[1:])
        assert near(got, [1e3 * w for w in want]), f"Table 3, {label}: {got}"

def check_pose_space():
    rows = spec("pose-space")
    got = published("pose-space", "Table 1")
    for m, method in enumerate(("SSD", "PSD", "WPSD")):
        cells = next(r for r in rows if r[0] == method and "/" in r[1])[1:]
        for s, cell in enumerate(cells):
            assert near(got[3 * m + s][1][:2], numbers(cell.split("/"))), f"Table 1, {got[3 * m + s]}"
    for (label, row), vertices in zip(published("pose-space", "Table 2"), ("2972", "11574", "46036"), strict=True):
        want = next(r for r in rows if r[0] == vertices)[1:6]
        assert near(row, numbers(c.split()[0] for c in want)), f"Table 2, {label}: {row}"

def check_reduction():
    rows = [r for r in spec("reduction") if len(r) == 10 and r[2] in ("MVC", "HC", "SD")]
    got = published("reduction", "Table 1")
    assert len(rows) == len(got) == 8
    for r, (label, values) in zip(rows, got):
        assert label == f"{r[0]}, {r[2]}" and near(values, numbers(r[6:])), f"Table 1, {label}: {values}"
    text = prose("reduction")
    rates = re.search(r"CPU full ([\d.]+) fps, CPU 8 weights ([\d.]+) fps .*?, GPU 8 weights ([\d.]+) fps", text)
    assert near([v[0] for _, v in published("reduction", "Section 5")], numbers(rates.groups())), "Section 5"

def check_handles():
    rows = spec("handles")
    for label, values in published("handles", "Table 1"):
        want = next(r for r in rows if r[0].split()[0] == label and len(r) == 5)
        assert near(values, numbers(want[1:])), f"Table 1, {label}: {values}"

def check_patches():
    rows = [r for r in spec("patches") if len(r) == 7 and r[0] in ("Cow", "Horse", "Dilo", "Human")]
    assert len(rows) == 4
    for r, (label, sizes), (_, times) in zip(rows, published("patches", "Table 1"), published("patches", "Table 2"), strict=True):
        assert label == r[0] and near(sizes, numbers(r[1:4])) and near(times, numbers(r[4:])), f"Tables 1 and 2, {label}"

failed = 0
for key in papers:
    claim = f"{key}: the published figures are the specification's"
    try:
        globals()["check_" + key.replace("-", "_")]()
        print("ok", claim)
    except Exception as error:  # an assertion, or a table that is not there
        print(f"not ok {claim}: {type(error).__name__} {error}")
        failed = 1
sys.exit(failed)
