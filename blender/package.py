"""The add-on as one zip with the Python package and the libraries inside: package.py BUILD [--folder].

BUILD/blender/cutis-blender-VERSION.zip is what Blender installs; with --folder only BUILD/blender/cutis_blender is made, which uses the
libraries in BUILD (CUTIS_LIBRARY_PATH=BUILD). The same bytes every time.
"""
import pathlib
import re
import shutil
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python"))
import package  # noqa: E402


def contents(build: pathlib.Path, libraries: bool) -> dict[str, bytes]:
    made = package.make_folder(build / "blender")  # not BUILD/python: tests of the package may be using that
    out = {f"cutis_blender/{file.name}": file.read_bytes() for file in (HERE / "cutis_blender").glob("*.py")}
    version = ", ".join(package.version().split("."))
    first = out["cutis_blender/__init__.py"].decode()
    out["cutis_blender/__init__.py"] = re.sub(r'"version": \([^)]*\)', f'"version": ({version})', first).encode()  # include/cutis/base.h has it
    out |= {f"cutis_blender/cutis/{file.name}": file.read_bytes() for file in made.iterdir() if file.is_file()}
    out["cutis_blender/LICENSE"] = (HERE.parent / "LICENSE").read_bytes()
    if libraries:
        for place, file in package.libraries(build).items():
            out[f"cutis_blender/{place}"] = file.resolve().read_bytes()
            if "/foreign/" in place:
                out[f"cutis_blender/licences/{file.name}"] = package.licence(file)
    return out


def make_zip(build: pathlib.Path) -> pathlib.Path:
    folder = build / "blender"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("cutis-blender-*.zip"):
        old.unlink()
    path = folder / f"cutis-blender-{package.version()}.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
        for place, data in sorted(contents(build, True).items()):
            entry = zipfile.ZipInfo(place, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o755 if ".so" in place else 0o644) << 16, zipfile.ZIP_DEFLATED
            out.writestr(entry, data)
    return path


def make_folder(build: pathlib.Path) -> pathlib.Path:
    folder = build / "blender" / "cutis_blender"
    shutil.rmtree(folder, ignore_errors=True)
    for place, data in contents(build, False).items():
        file = build / "blender" / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
    return folder


if __name__ == "__main__":
    given = pathlib.Path(sys.argv[1]).resolve()
    print(make_folder(given) if "--folder" in sys.argv else make_zip(given))
