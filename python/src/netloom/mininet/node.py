"""Nodes: hosts, switches and controllers."""

from __future__ import annotations

from typing import Any

from ._clear import refuse
from ._controllers import (
    NOX,
    Controller,
    DefaultController,
    DefaultControllers,
    NullController,
    OVSController,
    RemoteController,
    Ryu,
    findController,
)
from ._names import other
from ._node import Node
from ._switches import (
    IVSSwitch,
    KernelSwitch,
    OVSBridge,
    OVSKernelSwitch,
    OVSLegacyKernelSwitch,
    OVSSwitch,
    Switch,
    UserSwitch,
)
from .log import error
from .util import numCores, quietRun


class Host(Node):
    """A host."""


class CPULimitedHost(Host):
    """A host whose programs may use a part of the processors."""

    def __init__(self, name: str, sched: str = "cfs", **params: Any) -> None:
        if sched not in ("cfs", "rt", "none"):
            raise Exception(f"{name}: sched={sched!r} is neither 'cfs' nor 'rt'")
        self.sched = sched
        self.period_us: int = params.get("period_us", 100000)
        self._cores: float | None = None
        self._pins: list[int] = []
        if sched == "rt":
            self.checkRtGroupSched()
        super().__init__(name, **params)

    def lab_keys(self) -> dict[str, Any]:
        """See `Node`."""
        keys: dict[str, Any] = {} if self._cores is None else {"cpus": round(self._cores, 3)}
        return {**keys, "pin": self._pins} if self._pins else keys

    def rtInfo(self, f: float) -> tuple[int, int]:
        """Refused, see `checkRtGroupSched`."""
        return self.checkRtGroupSched()

    @classmethod
    def checkRtGroupSched(cls) -> Any:
        """Refuses `sched="rt"`.

        Raises:
            Unsupported: Always.
        """
        refuse(
            'CPULimitedHost(sched="rt")',
            "a lab limits processors by cgroups' quotas, not by real-time groups; use sched='cfs'",
        )

    def setCPUFrac(self, f: float, sched: str | None = None, numc: int | None = None) -> None:
        """Limits its programs to a share of all processors: 0.5 of 4 are 2; -1 is no limit."""
        if not f:
            return
        if sched == "rt":
            self.checkRtGroupSched()
        cores = None if f < 0 else float(f) * (numc or numCores())
        if cores is not None and cores < 0.001:
            raise Exception(f"{self.name}: cpu={f} is less than a thousandth of a processor")
        if cores != self._cores and self.fabric is not None:
            self.fabric.touch()
        self._cores = cores

    def setCPUs(self, cores: Any, mems: int = 0) -> None:
        """Says which processors it has, by number."""
        self._pins = [int(core) for core in (cores if isinstance(cores, (list, tuple)) else [cores])]
        if self.fabric is not None:
            self.fabric.touch()

    def config(  # pyright: ignore[reportIncompatibleMethodOverride]
        self, cpu: Any = -1, cores: Any = None, **params: Any
    ) -> dict[str, Any]:
        """Sets what its parameters say.

        Args:
            cpu: The share of all processors that it may use.
            cores: Which it has.
            **params: What other nodes have.
        """
        results = super().config(**params)
        if cpu is not None and float(cpu) >= 0:
            self.setCPUFrac(cpu, sched=self.sched)
        if cores is not None:
            self.setCPUs(cores)
        return results

    def cgroupSet(self, param: str, value: Any, resource: str = "cpu") -> Any:
        """Refused: the lab has the control groups."""
        refuse(f"{self.name}.cgroupSet({param!r})", "the lab has the control groups; use cpu=...")

    def cgroupGet(self, param: str, resource: str = "cpu") -> Any:
        """Refused: the lab has the control groups."""
        refuse(f"{self.name}.cgroupGet({param!r})", "the lab has the control groups")


def __getattr__(name: str) -> Any:
    return other("node", name, globals())


__all__ = [
    "NOX", "CPULimitedHost", "Controller", "DefaultController", "DefaultControllers", "Host", "IVSSwitch", "KernelSwitch", "Node",
    "NullController", "OVSBridge", "OVSController", "OVSKernelSwitch", "OVSLegacyKernelSwitch", "OVSSwitch", "RemoteController",
    "Ryu", "Switch", "UserSwitch", "error", "findController", "quietRun",
]  # fmt: skip
