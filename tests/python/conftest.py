"""Fixtures, and the house's lines: "ok NAME", "not ok NAME: why", "skip NAME: why" (tests/python/test_python.sh takes them from the log)."""
import os
import pathlib
import subprocess

import pytest

import cutis


def pytest_runtest_logreport(report):
    name = report.nodeid.split("/")[-1].replace("::", " ").replace(".py", "").replace("_", " ")
    if report.skipped:
        print(f"\nLINE skip {name}: {report.longrepr[2].removeprefix('Skipped: ')}")
    elif report.failed:
        print(f"\nLINE not ok {name}: {str(report.longrepr).splitlines()[-1] if report.longrepr else report.when}")
    elif report.when == "call":
        print(f"\nLINE ok {name}")


@pytest.fixture(scope="session")
def command(tmp_path_factory):
    """Run the command in a folder of its own."""
    folder = tmp_path_factory.mktemp("command")

    def run(*words):
        subprocess.run([os.path.abspath(os.environ["CUTIS"]), *map(str, words), "-q"], cwd=folder, check=True)
        return folder
    return run


@pytest.fixture(scope="session")
def folder(command) -> pathlib.Path:
    """Made by the command: biped.glb, arm.glb with a pose space, handles.glb with virtual handles."""
    command("synth", "biped", "--size", "low", "-o", "biped.glb")
    command("synth", "arm", "--size", "low", "--examples", "sculpts", "-o", "plain_arm.glb")
    return command("fit", "plain_arm.glb", "--poses", "examples", "--shapes", "sculpts/examples.npy", "-o", "arm.glb")


@pytest.fixture(scope="session")
def biped(folder):
    return cutis.read(folder / "biped.glb")
