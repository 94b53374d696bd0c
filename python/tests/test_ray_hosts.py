"""Clusters that Ray makes of hosts: its file, how `ray` is called, and that nothing is left. What is called here is no Ray."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from netloom import _program, _ray_hosts
from netloom._errors import NetloomError
from netloom._ray_hosts import Account

GOLDEN = Path(__file__).with_name("hosts")
#: In the place of Ray's command: notes how it was called, and the cluster file; `up` may take long, or fail.
RAY = """#!/bin/sh
echo "$@" >>"$CALLS/calls"
case $1 in
up)
    cp "$5" "$CALLS/cluster.yaml"
    [ -z "$SLOW" ] || { echo going >"$CALLS/going"; sleep 60; }
    [ -z "$FAILS" ] || { echo "ssh: connect to host one: refused"; exit 3; }
    ;;
esac
"""
#: In the place of the module: a cluster that nobody reaches.
MODULE = """
import netloom._ray_hosts
netloom._ray_hosts.CLIENTS_WITHIN = 2.0
__version__ = "2.60.0"
def is_initialized(): return False
"""
LAB = "name: far\nmachines: {a: {}, b: {}}\nnodes: {web: {machine: a}, db: {machine: b}}\nlinks: {l: {ends: [web, db], delay: 20 ms}}\n"


def prepared(folder: Path) -> dict[str, str]:
    """An environment with this Ray, and folders of its own."""
    for name in ("bin", "tmp", "run", "site"):
        (folder / name).mkdir(mode=0o700)
    (folder / "bin" / "ray").write_text(RAY)
    (folder / "bin" / "ray").chmod(0o755)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / "site" / "ray.py").write_text(MODULE)
    (folder / "lab.yaml").write_text(LAB)
    own = {"CALLS": str(folder), "TMPDIR": str(folder / "tmp"), "XDG_RUNTIME_DIR": str(folder / "run")}
    # The environment of this Python may have the true Ray.
    packages = [str(folder / "site"), *(path for path in sys.path if path)]
    own |= {"PATH": f"{folder}/bin:{os.environ['PATH']}", "PYTHONPATH": os.pathsep.join(packages)}
    return {**os.environ, **own, "NETLOOM_PYTHON": str(folder / "bin" / "python")}


def play(environment: Mapping[str, str], *more: str) -> subprocess.Popen[str]:
    command = [_program.program(), "run", "lab.yaml", "--on", "me@127.0.0.1,127.0.0.2", *more]
    return subprocess.Popen(
        command,
        cwd=environment["CALLS"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def left(folder: Path) -> list[str]:
    """What is there of a cluster when its keeper has had its time."""
    deadline = time.monotonic() + 60
    while list((folder / "tmp").iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    return [path.name for path in (folder / "tmp").iterdir()]


def calls(folder: Path) -> list[str]:
    """The subcommands of Ray that were called."""
    return [line.split()[0] for line in (folder / "calls").read_text().splitlines()]


@pytest.mark.parametrize("key", [None, "/home/me/.ssh/id"])
def test_the_cluster_file_is_what_ray_wants(key: str | None) -> None:
    account = Account("me", key)
    text = _ray_hosts.cluster_file("labs", ["192.0.2.1", "192.0.2.2", "three"], account, "2.60.0", (3, 11))
    golden = GOLDEN / ("agent.yaml" if key is None else "key.yaml")
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text)
    assert text == golden.read_text()


def test_ray_is_called_with_the_file_and_nothing_is_left(tmp_path: Path) -> None:
    with play(prepared(tmp_path)) as run:
        _, said = run.communicate(timeout=120)
    # No client of Ray is taken there, which is told after the cluster was made.
    assert run.returncode == 8 and "there is no cluster of Ray at ray://127.0.0.1:10001" in said, said
    assert (
        "ray up: starting Ray 2.60.0 on 127.0.0.1, 127.0.0.2 by SSH as me" in said and "taken down at the end" in said
    )
    assert left(tmp_path) == []
    assert calls(tmp_path) == ["up", "exec", "down"]
    file = (tmp_path / "cluster.yaml").read_text()
    assert '"head_ip": "127.0.0.1"' in file and '"ssh_user": "me"' in file
    assert not list((tmp_path / "run").glob("netloom/far*"))


def test_what_ray_says_is_shown_if_it_fails(tmp_path: Path) -> None:
    with play({**prepared(tmp_path), "FAILS": "1"}) as run:
        _, said = run.communicate(timeout=120)
    assert run.returncode == 8, said
    assert "`ray up` has ended with 3" in said and "ssh: connect to host one: refused" in said
    assert left(tmp_path) == [] and calls(tmp_path) == ["up", "exec", "down"]


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_nothing_is_left_of_a_command_that_ends_while_ray_starts(tmp_path: Path, number: int) -> None:
    with play({**prepared(tmp_path), "SLOW": "1"}) as run:
        deadline = time.monotonic() + 60
        while not (tmp_path / "going").exists():
            assert run.poll() is None and time.monotonic() < deadline, run.communicate()
            time.sleep(0.02)
        run.send_signal(number)
        _, said = run.communicate(timeout=60)
    assert run.returncode == (-number if number == signal.SIGKILL else 130), said
    assert left(tmp_path) == []
    # It was ended before the cluster was taken down.
    assert calls(tmp_path) == ["up", "exec", "down"]
    alive = subprocess.run(["pgrep", "-f", f"up .*{tmp_path}"], capture_output=True, text=True, check=False)
    assert not alive.stdout


def test_what_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    (tmp_path / "ssh").write_text("#!/bin/sh\necho user me\n")
    (tmp_path / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NetloomError, match=r"Ray's command `ray` is neither in .* nor in PATH"):
        _ray_hosts.up("one,two", "2.60.0", print)
    (tmp_path / "ssh").unlink()
    with pytest.raises(NetloomError, match="needs `ssh`"):
        _ray_hosts.up("one,two", "2.60.0", print)


@pytest.mark.parametrize(
    "on, why",
    [
        ("one,one", "each host is written once"),
        ("me@one,you@two", "logs in to all hosts as one user, and these are me, you"),
    ],
)
def test_hosts_that_do_not_fit_are_refused(on: str, why: str) -> None:
    with pytest.raises(NetloomError, match=why):
        _ray_hosts.up(on, "2.60.0", print)


def test_hosts_that_do_not_come_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_ray_hosts, "JOIN_WITHIN", 0.0)
    told: list[str] = []
    with pytest.raises(NetloomError, match="only 1 of 2 hosts are in the cluster"):
        _ray_hosts.await_all("127.0.0.1,127.0.0.2", lambda: 1, told.append)
    assert told == ["1 of 2 hosts are in the cluster"]
