"""The package as a folder, and as a wheel with the libraries inside: package.py BUILD [--wheel].

BUILD holds the shared libraries; BUILD/python/cutis is the package, which finds them through CUTIS_LIBRARY_PATH=BUILD. The wheel
(BUILD/python/cutis-VERSION-py3-none-PLATFORM.whl) is the same for every Python 3 of a platform, and the same bytes every time.
"""
import base64
import hashlib
import pathlib
import re
import shutil
import subprocess
import sys
import sysconfig
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
HEADERS = HERE.parent / "include"
LIBRARIES = ("cutis", "cutis-io", "cutis-skeleton", "cutis-render")
FOREIGN = ("jansson", "meshoptimizer", "qhull_r")  # what cutis-io and cutis-skeleton need and a machine may lack


def version() -> str:
    text = (HEADERS / "cutis/base.h").read_text()
    return ".".join(re.search(rf"CUTIS_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def make_folder(build: pathlib.Path) -> pathlib.Path:
    package = build / "python" / "cutis"
    package.mkdir(parents=True, exist_ok=True)
    for old in package.glob("*.py"):
        old.unlink()
    for file in (HERE / "cutis").glob("*.py"):
        shutil.copy(file, package)
    subprocess.run([sys.executable, HERE / "generate.py", HEADERS, package / "_api.py"], check=True)
    (package / "VERSION").write_text(version() + "\n")
    (package / "py.typed").touch()
    return package


def libraries(build: pathlib.Path) -> dict[str, pathlib.Path]:
    """Place in the package: file."""
    short = ".".join(version().split(".")[:2])
    own = {f"cutis/lib/lib{name}.so.{short}": build / f"lib{name}.so.{short}" for name in LIBRARIES}
    needed = {}
    for file in own.values():
        for name, path in re.findall(r"(\S+) => (/\S+)", subprocess.run(["ldd", file], capture_output=True, text=True, check=True).stdout):
            if any(name.startswith(f"lib{foreign}.so") for foreign in FOREIGN):
                needed[f"cutis/lib/foreign/{name}"] = pathlib.Path(path)
    return own | needed


def metadata() -> dict[str, str]:
    info = f"cutis-{version()}.dist-info"
    tag = f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    about = (f"Metadata-Version: 2.1\nName: cutis\nVersion: {version()}\nSummary: Character skinning: every classic method and the ones that fix it\n"
             "License: MIT\nRequires-Python: >=3.10\nRequires-Dist: numpy\n")
    return {f"{info}/METADATA": about, f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: cutis\nRoot-Is-Purelib: false\nTag: {tag}\n",
            f"{info}/LICENSE": (HERE.parent / "LICENSE").read_text()}


def licence(library: pathlib.Path) -> bytes:
    """The notice of the Debian package that a library is from."""
    owner = subprocess.run(["dpkg", "-S", f"*/{library.resolve().name}"], capture_output=True, text=True, check=True).stdout.split(":")[0]
    return pathlib.Path("/usr/share/doc", owner, "copyright").read_bytes()


def make_wheel(build: pathlib.Path, package: pathlib.Path) -> pathlib.Path:
    contents = {f"cutis/{file.name}": file.read_bytes() for file in package.iterdir() if file.is_file()}
    contents |= {place: file.resolve().read_bytes() for place, file in libraries(build).items()}
    contents |= {place: text.encode() for place, text in metadata().items()}
    contents |= {f"cutis-{version()}.dist-info/licences/{file.name}": licence(file) for place, file in libraries(build).items() if "/foreign/" in place}
    digest = lambda data: base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()  # noqa: E731
    record = f"cutis-{version()}.dist-info/RECORD"
    contents[record] = ("".join(f"{place},sha256={digest(data)},{len(data)}\n" for place, data in sorted(contents.items())) + f"{record},,\n").encode()
    platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    for old in (build / "python").glob("cutis-*.whl"):
        old.unlink()
    wheel = build / "python" / f"cutis-{version()}-py3-none-{platform}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as out:
        for place, data in sorted(contents.items(), key=lambda each: (each[0] == record, each[0])):
            entry = zipfile.ZipInfo(place, (1980, 1, 1, 0, 0, 0))
            entry.external_attr, entry.compress_type = (0o755 if ".so" in place else 0o644) << 16, zipfile.ZIP_DEFLATED
            out.writestr(entry, data)
    return wheel


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[1]).resolve()
    made = make_folder(folder)
    print(make_wheel(folder, made) if "--wheel" in sys.argv else made)
