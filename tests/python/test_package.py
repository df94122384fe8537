"""The generated part against the headers and the C compiler; nothing public is missing."""
import ctypes
import os
import pathlib
import re
import subprocess
import sys
import zipfile

import numpy as np

import cutis
from cutis import _api

HEADERS = pathlib.Path(__file__).resolve().parents[2] / "include"


def test_every_public_function_is_reachable():
    declared = set()
    for header in HEADERS.glob("cutis/*.h"):
        text = re.sub(r"//.*|#.*", "", header.read_text())
        declared |= {re.findall(r"(cutis_\w+)\s*\(", each)[0] for each in re.findall(r"CUTIS_API\b[^;]*;", text)}
    assert len(declared) > 150 and declared == set(_api.FUNCTIONS)
    for name in declared:
        assert getattr(cutis.c, name), name


def test_structs_lie_as_the_compiler_lays_them(tmp_path):
    names = {name: kind for name, kind in _api.STRUCTS.items() if not name.endswith("_paper")}
    lines = [f'printf("{name} %zu\\n", sizeof({name}));' for name in names]
    lines += [f'printf("{name}.{field} %zu\\n", offsetof({name}, {field}));' for name, kind in names.items() for field, _ in kind._fields_]
    headers = "".join(f"#include <cutis/{header.name}>\n" for header in sorted(HEADERS.glob("cutis/*.h")))
    (tmp_path / "sizes.c").write_text(f"{headers}#include <stdio.h>\nint main(void)\n{{\n{chr(10).join(lines)}\n}}\n")
    subprocess.run(["cc", f"-I{HEADERS}", tmp_path / "sizes.c", "-o", tmp_path / "sizes"], check=True)
    told = dict(line.split() for line in subprocess.run([tmp_path / "sizes"], capture_output=True, text=True, check=True).stdout.splitlines())
    ours = {name: ctypes.sizeof(kind) for name, kind in names.items()}
    ours |= {f"{name}.{field}": getattr(kind, field).offset for name, kind in names.items() for field, _ in kind._fields_}
    assert len(ours) > 500 and {name: int(size) for name, size in told.items()} == ours


def test_docstrings_are_the_headers_comments():
    assert "renormalised" in cutis.c.cutis_weights_limit.__doc__
    assert "Nothing is allocated after" in cutis.c.cutis_deform.__doc__
    assert sum(bool(text) for _, _, _, text in _api.FUNCTIONS.values()) > 0.8 * len(_api.FUNCTIONS)


def test_version_is_the_librarys():
    assert cutis.__version__ == cutis.c.cutis_version().decode()


def test_raw_functions_raise():
    out = ctypes.c_void_p()
    try:
        cutis.c.cutis_model_read(cutis._core.context(), b"/nowhere.glb", None, ctypes.byref(out))
    except cutis.Error as error:
        assert error.code == "FILE_NOT_FOUND" and "/nowhere.glb" in str(error) and not out
    else:
        raise AssertionError("nothing was raised")


def test_results_are_arrays(biped):
    assert biped.vertices.shape == (3000, 3) and biped.vertices.dtype == np.float32
    assert biped.faces.shape == (5996, 3) and biped.faces.dtype == np.uint32
    assert biped.weights.shape == (3000, 41) and np.allclose(biped.weights.sum(1), 1, atol=1e-6)
    assert [clip.name for clip in biped.clips] == ["walk", "walk_forward", "bend", "twist", "wave"]
    assert biped.nodes[biped.joints[3].parent].name


def test_the_wheel_holds_everything(tmp_path):
    """Two wheels of one build are the same bytes; taken apart it works without a build folder, a compiler and what we link with."""
    build = pathlib.Path(os.environ["BUILD"]).resolve()
    make = [sys.executable, HEADERS.parent / "python/package.py", build, "--wheel"]
    file = pathlib.Path(subprocess.run(make, check=True, capture_output=True, text=True).stdout.strip())
    first = file.read_bytes()
    subprocess.run(make, check=True, capture_output=True)
    assert file.read_bytes() == first
    with zipfile.ZipFile(file) as wheel:
        wheel.extractall(tmp_path)
        assert {name.split(".so")[0].split("/lib")[-1] for name in wheel.namelist() if "/foreign/" in name} == {"jansson", "meshoptimizer", "qhull_r"}
    code = f"import cutis; assert cutis.__file__.startswith({str(tmp_path)!r}); m = cutis.synth('biped', size='low'); print(len(cutis.skeleton(m).joints)); m.save('x.glb'); print(cutis.read('x.glb'))"
    clean = {key: value for key, value in os.environ.items() if key not in ("CUTIS_LIBRARY_PATH", "PYTHONPATH")}
    said = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=clean, capture_output=True, text=True)
    assert said.returncode == 0 and "3000 vertices" in said.stdout, said.stderr
