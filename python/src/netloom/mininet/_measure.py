"""The tests of Mininet: pings between all hosts, the rate between two, the processor time of hosts."""

from __future__ import annotations

import re
import shutil
import time
from typing import Any

from ._clear import Unsupported
from .log import debug, error, info, output, warn
from .util import numCores, waitListening

_RTT = re.compile(r"r(?:tt|ound-trip) (?:min/avg/max/(?:mdev|stddev)) = ([\d.]+)/([\d.]+)/([\d.]+)/([\d.]+) ms")
_COUNTS = re.compile(r"(\d+) packets transmitted, (\d+)(?: packets)? received")


def parse_ping(text: str) -> tuple[int, int]:
    """How many pings were sent and answered.

    Raises:
        Exception: More were answered than sent.
    """
    if "connect: Network is unreachable" in text or "Network is unreachable" in text:
        return 1, 0
    match = _COUNTS.search(text)
    if match is None:
        error(f"*** Error: could not parse ping output: {text}\n")
        return 1, 0
    return int(match[1]), int(match[2])


def parse_ping_full(text: str) -> tuple[int, int, float, float, float, float]:
    """The same, and least, mean and greatest time and its deviation, in ms."""
    sent, received = parse_ping(text)
    times = _RTT.search(text)
    if times is None:
        return sent, received, 0.0, 0.0, 0.0, 0.0
    return sent, received, float(times[1]), float(times[2]), float(times[3]), float(times[4])


def ping(hosts: list[Any], timeout: Any, address: str | None) -> float:
    """Pings between all hosts; the share that was lost, in percent."""
    packets = lost = 0
    ploss = 0.0
    output("*** Ping: testing ping reachability\n")
    for host in hosts:
        output(f"{host.name} -> ")
        for other in hosts:
            if host is other:
                continue
            sent, received = parse_ping(_ping(host, other, timeout, address))
            if received > sent:
                error(f"*** Error: received too many packets from {other}\n")
                raise SystemExit(1)
            packets += sent
            lost += sent - received
            output(f"{other.name} " if received else "X ")
        output("\n")
    if packets:
        ploss = 100.0 * lost / packets
        output(f"*** Results: {ploss:.0f}% dropped ({packets - lost:d}/{packets:d} received)\n")
    else:
        output("*** Warning: No packets sent\n")
    return ploss


def _ping(host: Any, other: Any, timeout: Any, address: str | None) -> str:
    target = address if address is not None else other.IP()
    if not target:
        return "1 packets transmitted, 0 received"
    wait = f"-W {timeout} " if timeout else ""
    said = host.cmd(f"LANG=C ping -c1 {wait}{target}")
    debug(said)
    return said


def ping_full(hosts: list[Any], timeout: Any, address: str | None) -> list[Any]:
    """Pings between all hosts; for each pair what came of it."""
    found: list[Any] = []
    output("*** Ping: testing ping reachability\n")
    for host in hosts:
        output(f"{host.name} -> ")
        for other in hosts:
            if host is other:
                continue
            results = parse_ping_full(_ping(host, other, timeout, address))
            found.append((host, other, results))
            output(f"{other.name} " if results[1] else "X ")
        output("\n")
    output("*** Results: \n")
    for host, other, (sent, received, least, mean, most, deviation) in found:
        output(f" {host}->{other}: {sent:d}/{received:d}, ")
        output(f"rtt min/avg/max/mdev {least:0.3f}/{mean:0.3f}/{most:0.3f}/{deviation:0.3f} ms\n")
    return found


def parse_iperf(text: str) -> str:
    """The last rate that iperf says; empty if it says none."""
    found = re.findall(r"([\d.]+ [KMGT]?[Bb](?:its|ytes)?/sec)", text)
    if found:
        return found[-1]
    error(f"could not parse iperf output: {text}\n")
    return ""


def iperf(client: Any, server: Any, kind: str, rate: str, unit: str | None, seconds: int, port: int) -> list[str]:
    """Measures the rate between two hosts: at the server and at the client, in UDP with what was asked for before.

    Raises:
        Unsupported: There is no iperf.
    """
    if kind not in ("TCP", "UDP"):
        raise Exception(f"Unexpected l4 type: {kind}")
    output(f"*** Iperf: testing {kind} bandwidth between {client} and {server}\n")
    if shutil.which("iperf"):
        results = _iperf2(client, server, kind, rate, unit, seconds, port)
    elif shutil.which("iperf3"):
        results = _iperf3(client, server, kind, rate, unit, seconds, port)
    else:
        raise Unsupported("netloom: iperf cannot work here: install iperf or iperf3")
    if kind == "UDP":
        results.insert(0, rate)
    output(f"*** Results: {results}\n")
    return results


def _iperf2(client: Any, server: Any, kind: str, rate: str, unit: str | None, seconds: int, port: int) -> list[str]:
    server.cmd("killall -9 iperf 2>/dev/null")
    words = f"iperf -p {port:d} " + ("-u " if kind == "UDP" else "") + (f"-f {unit} " if unit else "")
    server.sendCmd(words + "-s")
    if kind == "TCP" and not waitListening(client, server.IP(), port, timeout=20):
        raise Exception(f"Could not connect to iperf on port {port:d}")
    said = client.cmd(words + f"-t {seconds:d} -c {server.IP()}" + (f" -b {rate}" if kind == "UDP" else ""))
    debug(f"Client output: {said}\n")
    heard, count = "", 2 if kind == "TCP" else 1
    end = time.monotonic() + 5
    while len(re.findall(r"/sec", heard)) < count and time.monotonic() < end:
        heard += server.monitor(timeoutms=1000) or ""
    server.sendInt()
    heard += server.waitOutput()
    debug(f"Server output: {heard}\n")
    return [parse_iperf(heard), parse_iperf(said)]


def _iperf3(client: Any, server: Any, kind: str, rate: str, unit: str | None, seconds: int, port: int) -> list[str]:
    scale = f"-f {unit} " if unit else ""
    server.sendCmd(f"iperf3 -s -1 -p {port:d} {scale}--forceflush")
    heard = ""
    end = time.monotonic() + 5
    while "listening" not in heard and time.monotonic() < end:
        heard += server.monitor(timeoutms=500) or ""
    said = client.cmd(
        f"iperf3 {scale}-p {port:d} -t {seconds:d} -c {server.IP()}" + (f" -u -b {rate}" if kind == "UDP" else "")
    )
    server.sendInt()
    server.waitOutput()
    sent = [line for line in said.splitlines() if "sender" in line]
    received = [line for line in said.splitlines() if "receiver" in line]
    return [parse_iperf("\n".join(received)), parse_iperf("\n".join(sent))]


def cpu_limit(hosts: list[Any], cpu: float, duration: int) -> list[float]:
    """Computes on all hosts; the share of all processors that each had every second, in percent."""
    output(f"*** Testing CPU {cpu * 100:.0f}% bandwidth limit\n")
    spinning: list[tuple[Any, str]] = []
    for host in hosts:
        host.cmd("while true; do a=1; done &")
        spinning.append((host, str(host.lastPid)))
    found: list[float] = []
    try:
        before = [(_ticks(host, process), time.monotonic()) for host, process in spinning]
        for _ in range(duration):
            time.sleep(1)
            for number, (host, process) in enumerate(spinning):
                ticks, now = _ticks(host, process), time.monotonic()
                used, span = ticks - before[number][0], now - before[number][1]
                before[number] = (ticks, now)
                found.append(100.0 * used / 100 / span / numCores())
                info(f"{host.name}: {found[-1]:.1f}% ")
            info("\n")
    finally:
        for host, process in spinning:
            host.cmd(f"kill {process}")
    output(f"*** Results: {found}\n")
    return found


def _ticks(host: Any, process: str) -> int:
    """How much processor time a process has had, in hundredths of a second."""
    fields = host.cmd(f"cat /proc/{process}/stat").rpartition(")")[2].split()
    if len(fields) < 13:
        warn(f"*** {host.name}: the process that computes has ended\n")
        return 0
    return int(fields[11]) + int(fields[12])
