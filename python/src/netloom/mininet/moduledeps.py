"""What Mininet wants of this machine's kernel: Netloom wants none of it."""

from __future__ import annotations

import shutil
from typing import Any

from .log import error

OVS_KMOD = "openvswitch"
OF_KMOD = "ofdatapath"
TUN = "tun"


def moduleDeps(subtract: Any = None, add: Any = None) -> None:
    """Nothing: no module of the kernel is loaded."""


def pathCheck(*args: str, **kwargs: Any) -> None:
    """Makes sure that programs are there.

    Raises:
        SystemExit: One is not.
    """
    for each in args:
        if not shutil.which(each):
            module = kwargs.get("moduleName", "it")
            error(
                f"Cannot find required executable {each}.\nPlease make sure that {module} is installed and available in your $PATH.\n"
            )
            raise SystemExit(1)


def __getattr__(name: str) -> Any:
    from ._names import other

    return other("moduledeps", name, globals())
