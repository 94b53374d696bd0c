"""Measures the path between two machines, from Python on both. Ray sends this file along, so a machine needs nothing of Netloom.

A program in Python answers some tens of microseconds later than the packet engine does: the figures are those of the path and a little more.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from typing import Any

#: How many questions are asked, how far apart, and how long answers are waited for, in seconds.
QUESTIONS, APART, PATIENCE = 500, 0.004, 1.0
#: How long the rate is measured, in seconds.
SENDING = 1.0
#: The lengths of packets that may pass: the least of IPv4 and the longest; and of its headers.
SHORTEST, LONGEST, HEADERS = 576, 65_535, 28
#: linux/in.h and linux/in6.h: datagrams are not fragmented, whatever the kernel believes of the path.
DISCOVER, PROBE = {socket.AF_INET: (socket.IPPROTO_IP, 10), socket.AF_INET6: (socket.IPPROTO_IPV6, 23)}, 3
#: A question: its number and when it was sent; the answer adds when it came and left. Ray sends this file along, and cannot send a `Struct`.
QUESTION, ANSWER = "!Iq", "!Iqqq"


def _family(address: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in address else socket.AF_INET


class Answering:
    """The machine that answers."""

    def __init__(self, address: str) -> None:
        self._questions = socket.socket(_family(address), socket.SOCK_DGRAM)
        self._questions.bind((address, 0))
        self._streams = socket.create_server((address, 0), family=_family(address))
        for serve in (self._answer, self._take):
            threading.Thread(target=serve, daemon=True).start()

    def ports(self) -> tuple[int, int]:
        """The ports of UDP and of TCP."""
        return self._questions.getsockname()[1], self._streams.getsockname()[1]

    def _answer(self) -> None:
        while True:
            data, asker = self._questions.recvfrom(LONGEST)
            came = time.time_ns()
            if len(data) < struct.calcsize(QUESTION):
                continue
            number, sent = struct.unpack_from(QUESTION, data)
            with contextlib.suppress(OSError):
                self._questions.sendto(struct.pack(ANSWER, number, sent, came, time.time_ns()), asker)

    def _take(self) -> None:
        while True:
            stream, _ = self._streams.accept()
            with stream, contextlib.suppress(OSError):
                begun, count = time.monotonic(), 0
                room = bytearray(1 << 20)
                while got := stream.recv_into(room):
                    count += got
                stream.sendall(struct.pack("!d", count * 8 / max(time.monotonic() - begun, 1e-9)))


class Asking:
    """The machine that asks another one."""

    def __init__(self, own: str, other: str, ports: tuple[int, int]) -> None:
        self._other, self._ports = other, ports
        self._socket = socket.socket(_family(own), socket.SOCK_DGRAM)
        self._socket.bind((own, 0))
        level, option = DISCOVER[_family(own)]
        self._socket.setsockopt(level, option, PROBE)
        self._socket.connect((other, ports[0]))

    def measure(self) -> dict[str, Any]:
        """The round trips in nanoseconds in their order, how far the other clock is ahead by the shortest, and what passes."""
        answered: dict[int, tuple[int, int]] = {}
        self._socket.settimeout(APART)
        for number in range(QUESTIONS):
            with contextlib.suppress(OSError):
                self._socket.send(struct.pack(QUESTION, number, time.time_ns()))
            self._hear(answered, time.monotonic() + APART)
        self._hear(answered, time.monotonic() + PATIENCE, QUESTIONS)
        trips = sorted(trip for trip, _ in answered.values())
        ahead = min(answered.values())[1] if answered else None
        return {
            "round_trips_ns": trips,
            "lost": QUESTIONS - len(answered),
            "clock_ahead_ns": ahead,
            "packet_bytes": self._longest() if answered else None,
            "rate_bits_per_second": self._rate() if answered else None,
        }

    def _hear(self, answered: dict[int, tuple[int, int]], until: float, enough: int | None = None) -> None:
        while (left := until - time.monotonic()) > 0 and (enough is None or len(answered) < enough):
            self._socket.settimeout(left)
            try:
                data = self._socket.recv(LONGEST)
            except OSError:
                continue
            back = time.time_ns()
            if len(data) == struct.calcsize(ANSWER):
                number, sent, came, left_at = struct.unpack(ANSWER, data)
                trip = (back - sent) - (left_at - came)
                answered.setdefault(number, (trip, ((came - sent) + (left_at - back)) // 2))

    def _longest(self) -> int:
        """The longest packet of IP that comes through."""
        headers = HEADERS + (20 if ":" in self._other else 0)
        passes, fails = SHORTEST, LONGEST + 1
        while passes + 1 < fails:
            middle = (passes + fails) // 2
            if any(self._passes(middle - headers) for _ in range(2)):
                passes = middle
            else:
                fails = middle
        return passes

    def _passes(self, length: int) -> bool:
        number = 1 << 31 | length
        try:
            self._socket.send(struct.pack(QUESTION, number, 0).ljust(length, b"\0"))
        except OSError:
            return False
        until = time.monotonic() + 0.2
        while (left := until - time.monotonic()) > 0:
            self._socket.settimeout(left)
            with contextlib.suppress(OSError):
                if struct.unpack_from(QUESTION, self._socket.recv(LONGEST))[0] == number:
                    return True
        return False

    def _rate(self) -> float:
        with socket.create_connection((self._other, self._ports[1]), timeout=PATIENCE) as stream:
            stream.settimeout(10)
            data, until = bytes(1 << 20), time.monotonic() + SENDING
            while time.monotonic() < until:
                stream.sendall(data)
            stream.shutdown(socket.SHUT_WR)
            return struct.unpack("!d", stream.recv(8, socket.MSG_WAITALL))[0]
