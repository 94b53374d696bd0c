"""Containernet's calls: nodes that have the files of a container image. They are nodes of the lab as others are, and no daemon is asked."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from ._clear import refuse
from .net import Mininet
from .node import Host


class Docker(Host):
    """A host with the files of a container image; its program is `dcmd`, or none but the shell."""

    def __init__(
        self, name: str, dimage: str | None = None, dcmd: str | Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None, volumes: Sequence[str] = (), cpu_period: int | None = None,
        cpu_quota: int | None = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        if not dimage:
            refuse(f"the container {name} without dimage", "it has its files from an image: dimage='debian:12'")
        for key in ("dockerfile", "build_params", "network_mode", "device_requests", "devices"):
            if kwargs.get(key):
                refuse(f"{key}={kwargs[key]!r}", "no container engine takes part; build the image before")
        self.dimage = dimage
        self.dcmd = shlex.split(dcmd) if isinstance(dcmd, str) else list(dcmd or ())
        self.environment = dict(environment or {})
        self.volumes = [each.removesuffix(":rw") for each in volumes]
        self.cpus = cpu_quota / (cpu_period or 100_000) if cpu_quota and cpu_quota > 0 else None
        super().__init__(name, **kwargs)
        self._folder = "/"

    def lab_keys(self) -> dict[str, Any]:
        """See `Node`."""
        keys: dict[str, Any] = {"image": self.dimage}
        keys.update({"command": self.dcmd} if self.dcmd else {"entrypoint": "none"})
        if self.environment:
            keys["env"] = {key: str(value) for key, value in self.environment.items()}
        if self.volumes:
            keys["volumes"] = self.volumes
        if self.cpus:
            keys["cpus"] = round(self.cpus, 3)
        return keys


class Containernet(Mininet):
    """A network, some of whose hosts have files of container images."""

    def addDocker(self, name: str, cls: Any = None, **params: Any) -> Any:
        """Adds a host with the files of the image `dimage`."""
        return self.addHost(name, cls=cls or Docker, **params)

    def removeDocker(self, name: str, **_params: Any) -> bool:
        """Removes one."""
        self.delHost(self[name])
        return True


__all__ = ["Containernet", "Docker"]
