"""The wheel: it is installed elsewhere, and does the main job with the program that it brings."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

import pytest

from netloom._program import program

ROOT = Path(__file__).parent.parent

JOB = """
from netloom import Lab
from netloom._program import program
lab = Lab("wheel-%d")
lab.link(lab.host("a"), lab.host("b"), delay="1 ms", name="l")
with lab.up() as live:
    print(program())
    print(live["a"].shell("ping -c 1 -W 10 b"))
print(live.result.lab)
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    binary = out / "netloom"
    shutil.copy(program(), binary)
    # Of a debug build, most is for debuggers.
    subprocess.run(["strip", "--strip-all", str(binary)], check=True)
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
    subprocess.run(
        command, cwd=ROOT, env={**os.environ, "NETLOOM_BINARY": str(binary)}, check=True, capture_output=True
    )
    [wheel] = out.glob("*.whl")
    return wheel


def test_a_wheel_does_the_main_job_elsewhere(wheel: Path, tmp_path: Path) -> None:
    binary = wheel.parent / "netloom"
    needed = max(int(minor) for minor in re.findall(rb"GLIBC_2\.(\d+)", binary.read_bytes()))
    assert f"-py3-none-manylinux_2_{max(needed, 17)}_{os.uname().machine}.whl" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert any(name.endswith(".data/scripts/netloom") for name in names) and "netloom/py.typed" in names
    assert not any(name.startswith("tests") or "pycache" in name for name in names)

    venv.create(tmp_path / "venv", with_pip=True)
    python = tmp_path / "venv/bin/python"
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", wheel], check=True)
    bare = {key: value for key, value in os.environ.items() if key not in ("NETLOOM", "PYTHONPATH")}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    done = subprocess.run(
        [python, "-W", "ignore", "-c", JOB % os.getpid()],
        cwd=elsewhere,
        env=bare,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith(f"{tmp_path}/venv/bin/netloom\n") and "1 received" in done.stdout
    version = subprocess.run([tmp_path / "venv/bin/netloom", "--version"], capture_output=True, text=True, check=True)
    assert version.stdout.startswith("netloom ")
    again = subprocess.run([python, "-m", "netloom", "--version"], env=bare, capture_output=True, text=True, check=True)
    assert again.stdout == version.stdout


@pytest.mark.skipif(os.geteuid() != 0, reason="all tests run as an ordinary user")
def test_an_ordinary_user_does_it_too(wheel: Path) -> None:
    # Folders of tests are root's alone.
    with tempfile.TemporaryDirectory(prefix="netloom-wheel-") as base:
        os.chmod(base, 0o777)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(base)
        [own] = Path(base).glob("*.data/scripts/netloom")
        own.chmod(0o755)
        nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        env = {"HOME": base, "TMPDIR": base, "PATH": os.environ["PATH"], "PYTHONPATH": base, "NETLOOM": str(own)}
        said: list[str] = []
        # That of the tests may be in root's home.
        for python in (sys.executable, "/usr/bin/python3"):
            done = subprocess.run(
                [*nobody, python, "-W", "ignore", "-c", JOB % (os.getpid() + 1)],
                cwd=base, env=env, capture_output=True, text=True, check=False,
            )  # fmt: skip
            said.append(done.stdout + done.stderr)
            if "1 received" in done.stdout:
                return
        raise AssertionError("\n".join(said))
