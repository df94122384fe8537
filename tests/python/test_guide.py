"""docs/guide/python.md runs as it stands, and its notebook is the same."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guide/python.md"


def test_the_tutorial_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", GUIDE.read_text(), re.M | re.S)
    assert len(blocks) >= 6
    names: dict = {}
    for block in blocks:
        exec(compile(block, str(GUIDE), "exec"), names)
    said = capsys.readouterr().out
    for claim in re.findall(r"print\(.*\) +# (<.*?>|\(.*?\) \(.*?\)|\(.*?\)|\[.*?\])(?:$|:)", GUIDE.read_text(), re.M):
        assert claim in said, claim
    assert (tmp_path / "methods.png").stat().st_size > 10_000


def test_the_notebook_is_the_guide():
    sys.path.insert(0, str(ROOT / "python"))
    from notebook import notebook
    assert (ROOT / "docs/guide/python.ipynb").read_text() == notebook(GUIDE.read_text())
