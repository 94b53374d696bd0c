"""What Mininet's default controller does: it makes learning switches of OpenFlow switches (OpenFlow 1.0).

It speaks over a socket and needs no program, no port and no library; with `RemoteController`, `Ryu` or a command of one's own, others do.
"""

from __future__ import annotations

import contextlib
import socket
import struct

_VERSION = 1
_HELLO, _ECHO, _ECHO_REPLY, _FEATURES, _SET_CONFIG, _PACKET_IN, _PACKET_OUT, _FLOW_MOD = 0, 2, 3, 5, 9, 10, 13, 14
_HEADER = struct.Struct("!BBHI")
_FLOOD, _NONE = 0xFFFB, 0xFFFF
_NO_BUFFER = 0xFFFFFFFF
#: All of a match is left open but the port, and the two hardware addresses.
_WILDCARDS = 0x3FFFFF & ~(1 | 4 | 8)
#: After how many seconds without packets a flow goes.
_IDLE = 60


class Learner:
    """Serves one switch."""

    def __init__(self, stream: socket.socket) -> None:
        self._stream = stream
        self._ports: dict[bytes, int] = {}

    def run(self) -> None:
        """Until the switch goes."""
        with contextlib.suppress(OSError), self._stream:
            self._send(_HELLO)
            self._send(_FEATURES)
            # Whole packets, for a switch that keeps none.
            self._send(_SET_CONFIG, struct.pack("!HH", 0, 0xFFFF))
            while head := self._read(_HEADER.size):
                _, kind, length, number = _HEADER.unpack(head)
                body = self._read(length - _HEADER.size)
                if kind == _ECHO:
                    self._send(_ECHO_REPLY, body, number)
                elif kind == _PACKET_IN and len(body) >= 24:
                    self._packet(body)

    def _packet(self, body: bytes) -> None:
        buffer, _, port, _ = struct.unpack_from("!IHHB", body)
        frame = body[10:]
        target, source = frame[:6], frame[6:12]
        if not source[0] & 1:
            self._ports[source] = port
        known = None if target[0] & 1 else self._ports.get(target)
        if known is None or known == port:
            self._out(buffer, port, _FLOOD, frame)
            return
        match = struct.pack("!IH6s6sHBBHBBHIIHH", _WILDCARDS, port, source, target, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
        flow = struct.pack("!QHHHHIHH", 0, 0, _IDLE, 0, 0x8000, buffer, _NONE, 0)
        self._send(_FLOW_MOD, match + flow + _output(known))
        if buffer == _NO_BUFFER:
            self._out(buffer, port, known, frame)

    def _out(self, buffer: int, port: int, to: int, frame: bytes) -> None:
        actions = _output(to)
        data = frame if buffer == _NO_BUFFER else b""
        self._send(_PACKET_OUT, struct.pack("!IHH", buffer, port, len(actions)) + actions + data)

    def _send(self, kind: int, body: bytes = b"", number: int = 0) -> None:
        self._stream.sendall(_HEADER.pack(_VERSION, kind, _HEADER.size + len(body), number) + body)

    def _read(self, length: int) -> bytes:
        data = b""
        while len(data) < length:
            more = self._stream.recv(length - len(data))
            if not more:
                return b""
            data += more
        return data


def _output(port: int) -> bytes:
    return struct.pack("!HHHH", 0, 8, port, 0xFFFF)
