"""Makes a cluster of Ray on hosts where the user has accounts, by `ray up` over SSH, and takes it down again by `ray down`.

What is written here is Ray's cluster file; Ray installs itself, starts, and ends. A process of its own, the keeper, takes the cluster down when this
process has ended in whatever way.
"""

from __future__ import annotations

import getpass
import ipaddress
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ._errors import NetloomError

#: The ports at which Ray's head takes machines, and clients.
HEAD, CLIENT = 6379, 10001
#: How long `ray up` may take, and then each machine to join, in seconds: what is not there is installed.
UP_WITHIN, JOIN_WITHIN = 900.0, 600.0
#: How long the head may take from then on until it takes clients, in seconds.
CLIENTS_WITHIN = 120.0
#: How much of what `ray up` says is shown if it fails, in lines.
SHOWN = 40


@dataclass(frozen=True)
class Account:
    """How the machines are reached: by the user's name there, and by a key, if `ssh` uses one that is in a file."""

    user: str
    key: str | None


def are_hosts(on: str) -> bool:
    """Whether `--on` names hosts, and no cluster that is there."""
    return "," in on


def cluster_file(name: str, hosts: Sequence[str], account: Account, version: str, python: tuple[int, int]) -> str:
    """Ray's cluster file for these hosts, the head first; `version`: that of Ray. JSON is YAML, too."""
    own = _own(version)
    is_there = f"python3 -c 'import ray, sys; sys.exit(ray.__version__ != \"{version}\")' 2>/dev/null && command -v ray >/dev/null"
    make = f"{{ python3 -m venv {own} && {own}/bin/python -m pip install --quiet 'ray[client]=={version}'; }}"
    path = _path(version)
    # The second autoscaler of Ray 2.60 starts no worker of this provider.
    head = f"RAY_enable_autoscaler_v2=0 ray start --head --port={HEAD} --ray-client-server-port={CLIENT} --include-dashboard=false --disable-usage-stats"
    head += " --autoscaling-config=$HOME/ray_bootstrap_config.yaml"
    # Others reach it by this address, whichever it would choose among its own.
    head += f" --node-ip-address={hosts[0]}" if _is_address(hosts[0]) else ""
    worker = f"ray start --address=$RAY_HEAD_IP:{HEAD} --disable-usage-stats"
    described: dict[str, Any] = {
        "cluster_name": name,
        "provider": {"type": "local", "head_ip": hosts[0], "worker_ips": list(hosts[1:])},
        "auth": {"ssh_user": account.user} | ({} if account.key is None else {"ssh_private_key": account.key}),
        "min_workers": len(hosts) - 1,
        "max_workers": len(hosts) - 1,
        "setup_commands": [f"{path}; {{ {is_there}; }} || {make}"],
        "head_start_ray_commands": [f"{path}; ray stop", _begun(path, head)],
        "worker_start_ray_commands": [f"{path}; ray stop", _begun(path, worker)],
        # Nobody takes the idle machines of a lab away that has just begun.
        "idle_timeout_minutes": 100_000,
    }
    major, minor = python
    return f"# Made by netloom for Ray {version} and Python {major}.{minor}.\n" + json.dumps(described, indent=2) + "\n"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _begun(path: str, start: str) -> str:
    """Starts Ray, which gives up when a busy host takes longer than 30 s."""
    return f"{path}; for _ in 1 2 3 4; do {start} && exit 0; ray stop; done; exit 1"


def _own(version: str) -> str:
    """Where Ray is installed on a host that does not have it, in the words of a shell."""
    return f'"$HOME/.cache/netloom/ray-{version}"'


def _path(version: str) -> str:
    return f'export PATH={_own(version)}/bin:"$PATH"'


def up(on: str, version: str, tell: Callable[[str], None]) -> str:
    """Makes a cluster of these hosts (`HOST,HOST` or `USER@HOST,HOST`); where clients of Ray reach it.

    Raises:
        NetloomError: There is no `ray` or `ssh`, or Ray could not be started there.
    """
    hosts, account = _read(on)
    program = _ray_program()
    folder = Path(tempfile.mkdtemp(prefix="netloom-hosts-"))
    name = f"netloom-{secrets.token_hex(4)}"
    file = folder / "cluster.yaml"
    file.write_text(cluster_file(name, hosts, account, version, sys.version_info[:2]), encoding="utf-8")
    notes = f"/tmp/ray/cluster-{name}.state /tmp/ray/cluster-{name}.lock"
    # Ray leaves the key, with which the head has logged in to the others.
    _keep(
        folder,
        program,
        f"{_path(version)}; ray stop; rm -f ~/ray_bootstrap_key.pem ~/ray_bootstrap_config.yaml {notes}",
        notes,
    )
    tell(f"ray up: starting Ray {version} on {', '.join(hosts)} by SSH as {account.user}; it is taken down at the end")
    tell(f"to keep such a cluster, copy {file}, call `ray up` yourself, and write --on ray://{hosts[0]}:{CLIENT}")
    command = [program, "up", "--yes", "--no-config-cache", "--disable-usage-stats", str(file)]
    code = _run(command, folder)
    if code is None:
        raise NetloomError(f"`ray up` has not come to an end for {UP_WITHIN:g} s{_tail(folder)}")
    if code != 0:
        raise NetloomError(f"`ray up` has ended with {code}, so there is no cluster on {on}{_tail(folder)}")
    return f"ray://{hosts[0]}:{CLIENT}"


def _run(command: Sequence[str], folder: Path) -> int | None:
    """Runs `ray up` in a session of its own: keys at a terminal are for this process. Its exit code; none if it takes too long."""
    note = folder / "up"
    with open(folder / "said", "wb") as said:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            env=_environment(folder),
            start_new_session=True,
        )
        note.write_text(str(process.pid), encoding="utf-8")
        try:
            return process.wait(UP_WITHIN)
        except subprocess.TimeoutExpired:
            return None
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
                process.wait()
            note.unlink()


def await_all(on: str, count: Callable[[], int], tell: Callable[[str], None]) -> None:
    """Waits until all of these hosts are in the cluster; the head starts the others. `count`: how many are there.

    Raises:
        NetloomError: One has not come.
    """
    hosts, _ = _read(on)
    until, there = time.monotonic() + JOIN_WITHIN, 0
    while (now := count()) < len(hosts):
        if now != there:
            tell(f"{now} of {len(hosts)} hosts are in the cluster")
        there = now
        if time.monotonic() > until:
            raise NetloomError(
                f"only {now} of {len(hosts)} hosts are in the cluster after {JOIN_WITHIN:g} s: from {hosts[0]}, `ssh` has to reach the others "
                f"with the same account; there, `ray monitor` and /tmp/ray/session_latest/logs/monitor* say more"
            )
        time.sleep(1)


def down() -> None:
    """Takes the cluster down that this process has made, if it has, and waits for that."""
    global _keeper
    if _keeper is not None and _keeper.stdin is not None:
        _keeper.stdin.close()
        _keeper.wait()
    _keeper = None


#: Takes down the cluster that this process has made.
_keeper: subprocess.Popen[bytes] | None = None

#: Waits for the end of its standard input, which is that of the process that has made the cluster. `up` has the process of `ray up`, if it is there.
KEEPER = """
trap '' HUP INT TERM
folder=$1 ray=$2 last=$3 notes=$4
cat >/dev/null
if up=$(cat "$folder/up" 2>/dev/null); then
    kill -TERM "-$up" 2>/dev/null
    while kill -0 "$up" 2>/dev/null; do sleep 0.1; done
fi
"$ray" exec --no-config-cache "$folder/cluster.yaml" "$last" >"$folder/last" 2>&1 </dev/null
"$ray" down --yes "$folder/cluster.yaml" >"$folder/down" 2>&1 </dev/null || echo "netloom: ray down: $(tail -n 3 "$folder/down")" >&2
rm -rf "$folder" $notes
"""


def _keep(folder: Path, program: str, last: str, notes: str) -> None:
    """Starts the keeper. `last`: what is done on the head before the cluster is taken down; `notes`: files that Ray leaves here."""
    global _keeper
    _keeper = subprocess.Popen(
        ["/bin/sh", "-c", KEEPER, "keeper", str(folder), program, last, notes],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=_environment(folder),
        start_new_session=True,
    )


def _environment(folder: Path) -> Mapping[str, str]:
    """Ray's command has its other files in this folder. It notes which hosts it has started, in a file that it copies to the same path of the head, which looks for it in `/tmp`."""
    kept = {name: value for name, value in os.environ.items() if name != "RAY_ADDRESS"}
    return kept | {"RAY_TMPDIR": "/tmp", "TMPDIR": str(folder), "RAY_USAGE_STATS_ENABLED": "0"}


def _read(on: str) -> tuple[list[str], Account]:
    users, hosts = set[str](), list[str]()
    for word in on.split(","):
        user, _, host = word.strip().rpartition("@")
        users |= {user} if user else set()
        hosts.append(host)
    if len(users) > 1:
        raise NetloomError(f"--on: Ray logs in to all hosts as one user, and these are {', '.join(sorted(users))}")
    if len(set(hosts)) < len(hosts) or not all(hosts):
        raise NetloomError("--on: each host is written once, for example host1,host2")
    found = _settings(hosts[0])
    user = next(iter(users), None) or found.get("user", [getpass.getuser()])[0]
    keys = [os.path.expanduser(key) for key in found.get("identityfile", [])]
    return hosts, Account(user, next((key for key in keys if os.path.exists(key)), None))


def _settings(host: str) -> Mapping[str, list[str]]:
    """What `ssh` would use for this host."""
    if shutil.which("ssh") is None:
        raise NetloomError("--on with hosts needs `ssh`, which is not in PATH")
    done = subprocess.run(["ssh", "-G", "--", host], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise NetloomError(f"--on: {host}: {done.stderr.strip()}")
    found: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition(" ")
        found.setdefault(name, []).append(value)
    return found


def _ray_program() -> str:
    """Ray's command, of the environment of this Python first."""
    beside = os.path.dirname(sys.executable)
    found = shutil.which("ray", path=beside) or shutil.which("ray")
    if found is None:
        raise NetloomError(f"Ray's command `ray` is neither in {beside} nor in PATH: `pip install 'ray[client]'`")
    return found


def _tail(folder: Path) -> str:
    lines = (folder / "said").read_text(encoding="utf-8", errors="replace").splitlines()
    said = [line for line in lines if line.strip()][-SHOWN:]
    return "".join(f"\n  {line}" for line in said) if said else ""
