"""What a network measures of itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import _measure
from ._clear import Explained


class Measured(Explained):
    """What has hosts, and measures between them."""

    hosts: list[Any]

    # Measuring

    def monitor(self, hosts: Any = None, timeoutms: float = -1) -> Iterator[tuple[Any, str | None]]:
        """What hosts write, as it comes."""
        from select import POLLIN, poll

        from ._node import Node

        waiting = [host for host in (hosts or self.hosts) if host.waiting]
        poller = poll()
        for host in waiting:
            poller.register(host.stdout, POLLIN)
        while any(host.waiting for host in waiting):
            ready = poller.poll(timeoutms)
            for number, _ in ready:
                host: Any = Node.outToNode[number]
                line = host.monitor()
                if line is not None:
                    yield host, line
                if not host.waiting:
                    poller.unregister(number)
            if not ready and timeoutms >= 0:
                yield None, None

    @staticmethod
    def _parsePing(pingOutput: str) -> tuple[int, int]:
        return _measure.parse_ping(pingOutput)

    @staticmethod
    def _parsePingFull(pingOutput: str) -> tuple[int, int, float, float, float, float]:
        return _measure.parse_ping_full(pingOutput)

    @staticmethod
    def _parseIperf(iperfOutput: str) -> str:
        return _measure.parse_iperf(iperfOutput)

    def ping(self, hosts: Any = None, timeout: Any = None, manualdestip: str | None = None) -> float:
        """Pings between all hosts; the share that was lost, in percent."""
        return _measure.ping(hosts or self.hosts, timeout, manualdestip)

    def pingFull(self, hosts: Any = None, timeout: Any = None, manualdestip: str | None = None) -> list[Any]:
        """Pings between all hosts; for each pair what was sent, received, and how long it took in ms."""
        return _measure.ping_full(hosts or self.hosts, timeout, manualdestip)

    def pingAll(self, timeout: Any = None) -> float:
        """Pings between all hosts; the share that was lost, in percent."""
        return self.ping(timeout=timeout)

    def pingPair(self) -> float:
        """Pings between the first two hosts."""
        return self.ping(hosts=self.hosts[:2])

    def pingAllFull(self) -> list[Any]:
        """See `pingFull`."""
        return self.pingFull()

    def pingPairFull(self) -> list[Any]:
        """See `pingFull`, for the first two hosts."""
        return self.pingFull(hosts=self.hosts[:2])

    def iperf(
        self, hosts: Any = None, l4Type: str = "TCP", udpBw: str = "10M", fmt: str | None = None, seconds: int = 5,
        port: int = 5001,
    ) -> list[str]:  # fmt: skip
        """Measures the rate between two hosts, the first and the last if none are given: at the server and the client."""
        hosts = hosts or [self.hosts[0], self.hosts[-1]]
        assert len(hosts) == 2, "iperf measures between two hosts"
        return _measure.iperf(hosts[0], hosts[1], l4Type, udpBw, fmt, seconds, port)

    def runCpuLimitTest(self, cpu: float, duration: int = 5) -> list[float]:
        """Computes on all hosts; the share of all processors that each had every second, in percent."""
        return _measure.cpu_limit(self.hosts, cpu, duration)
