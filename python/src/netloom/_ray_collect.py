"""Fetches the results that machines of a cluster of Ray have left which a run has lost: `netloom collect` becomes this, and this the program again, which
shows the report with them.
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path
from typing import Any

from . import _left, _parts, _ray, _ray_worker
from ._errors import NetloomError
from ._left import Place

#: How long a machine may take to pack and send what it has, in seconds.
TRANSFER = 600.0


def main(order: str) -> int:
    """Fetches what is left, and makes the report anew.

    Args:
        order: An object in JSON: `folder` (the results folder), `on` (`ray`, or the address of a cluster, or null for that of the run), `then` (more
            arguments of the program that shows the report).
    """
    asked = json.loads(order)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _ray.keep_stdout()
    folder = Path(asked["folder"])
    try:
        folder = folder.resolve(strict=True)
        found = _left.noted(folder)
        if found is None:
            raise NetloomError(f"{folder}: no machine is noted there that has anything left")
        cluster, places = found
        ray = _ray.ray_itself()
        on = asked["on"] or cluster
        _ray.connect(ray, None if on == "ray" else on)
        came = [place for place in places if _fetch(ray, folder, place)]
        if not came:
            raise NetloomError("nothing could be fetched")
        _parts.rejoin(folder)
        _left.forget_all_but(folder, {place.machine for place in places if place not in came})
    except (NetloomError, OSError, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 6
    except KeyboardInterrupt:
        print("interrupted; what has come is in the results folder: collect once more", file=sys.stderr)
        return 130
    _ray.become(ray, ["run", str(folder / "lab.yaml"), "--played", str(folder), *asked["then"]])


def _fetch(ray: Any, folder: Path, place: Place) -> bool:
    """Brings what a machine has left into the folder, and has the machine forget it; whether that was something."""
    who = f"machine {place.machine} ({place.address})"
    node = next((node for node in ray.nodes() if node["Alive"] and node["NodeManagerAddress"] == place.address), None)
    if node is None:
        print(f"{who} is not in the cluster", file=sys.stderr)
        return False
    ray.cloudpickle.register_pickle_by_value(_ray_worker)
    there = ray.util.scheduling_strategies.NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
    of_node: dict[str, Any] = {"num_cpus": 0, "max_retries": 0, "scheduling_strategy": there}
    try:
        archive = ray.get(ray.remote(**of_node)(_ray_worker.left).remote(place.name), timeout=TRANSFER)
        if archive is None:
            print(f"{who} has nothing left of this run", file=sys.stderr)
            return False
        _left.unpack(archive, folder / "parts", place.machine)
        ray.get(ray.remote(**of_node)(_ray_worker.forget).remote(place.name), timeout=TRANSFER)
    except ray.exceptions.RayError as error:
        print(f"{who}: {str(error).strip().splitlines()[0]}", file=sys.stderr)
        return False
    print(f"{who}: fetched", file=sys.stderr)
    return True


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
