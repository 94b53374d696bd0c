"""Further nodes: bridges of Linux, and the way out by address translation."""

from __future__ import annotations

from typing import Any

from ._names import other
from ._node import Node
from ._switches import LinuxBridge


class NAT(Node):
    """Translates addresses: in a namespace with rules of iptables, else the lab's way out into this machine's network, without root."""

    def __init__(
        self, name: str, subnet: str = "10.0/8", localIntf: Any = None, flush: bool = False, **params: Any
    ) -> None:
        super().__init__(name, **params)
        self.subnet = subnet
        self.localIntf = localIntf
        self.flush = flush
        self.forwardState: str | None = None

    def lab_kind(self) -> str:
        """See `Node`."""
        return "host" if self.inNamespace else "internet"

    def config(self, **params: Any) -> dict[str, Any]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Sets up forwarding and translation."""
        results = super().config(**params)
        if not self.inNamespace:
            return results
        if not self.localIntf:
            self.localIntf = self.defaultIntf()
        for rule in self._rules():
            self.cmd(f"iptables {rule}")
        self.cmd("sysctl net.ipv4.ip_forward=1")
        return results

    def _rules(self) -> list[str]:
        local, subnet = self.localIntf, _whole(self.subnet)
        flush = ["-F", "-t nat -F"] if self.flush else []
        return [
            *flush, "-P FORWARD DROP",
            f"-I FORWARD -i {local} -d {subnet} -j DROP",
            f"-A FORWARD -i {local} -s {subnet} -j ACCEPT",
            f"-A FORWARD -o {local} -d {subnet} -j ACCEPT",
            f"-t nat -A POSTROUTING -s {subnet} '!' -d {subnet} -j MASQUERADE",
        ]  # fmt: skip

    def terminate(self) -> None:
        """Ends it; its rules go with it."""
        super().terminate()


def _whole(subnet: str) -> str:
    """A subnet with all four bytes: iptables does not take `10.0/8`."""
    address, slash, length = subnet.partition("/")
    return address + ".0" * (3 - address.count(".")) + slash + length


def __getattr__(name: str) -> Any:
    return other("nodelib", name, globals())


__all__ = ["NAT", "LinuxBridge", "Node"]
