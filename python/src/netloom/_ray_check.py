"""Asks a cluster of Ray for its machines, for `netloom check --on`: the program becomes this, and this the program again, which shows what goes where."""

from __future__ import annotations

import json
import signal
import sys

from . import _ray, _ray_run
from ._errors import NetloomError


def main(order: str) -> int:
    """Becomes `netloom check` with the machines of a cluster.

    Args:
        order: An object in JSON: `on` (`ray`, or the address of a cluster), `then` (the arguments of the program).
    """
    asked = json.loads(order)
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _ray.keep_stdout()
    try:
        ray = _ray.ray_itself()
        _ray.connect(ray, None if asked["on"] == "ray" else asked["on"])
        hosts = [_ray_run.as_host(node) for node in _ray_run.nodes_of(ray)]
    except NetloomError as error:
        print(f"error: {error}", file=sys.stderr)
        return 8
    except KeyboardInterrupt:
        print("interrupted before the cluster had answered", file=sys.stderr)
        return 130
    _ray.become(ray, [*asked["then"], "--hosts", json.dumps(hosts)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
