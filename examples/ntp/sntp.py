"""A clock by NTP (RFC 5905, section 14): `serve` answers, `set SERVER SKEW` asks once and sets the clock, which was fast by SKEW ms."""

import json
import socket
import struct
import sys
import time

#: 1970 in seconds since 1900, from which NTP counts.
EPOCH = 2_208_988_800
#: Leap, version and mode; stratum, poll, precision; root delay and dispersion, reference; four timestamps.
PACKET = struct.Struct("!BBbbIII4Q")
CLIENT, SERVER = 0x23, 0x24


def stamp(nanoseconds: int) -> int:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return (seconds + EPOCH) << 32 | (rest << 32) // 1_000_000_000


def nanoseconds(stamp: int) -> int:
    return ((stamp >> 32) - EPOCH) * 1_000_000_000 + ((stamp & 0xFFFF_FFFF) * 1_000_000_000 >> 32)


def serve() -> None:
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.bind(("", 123))
    while True:
        question, client = own.recvfrom(512)
        received = stamp(time.time_ns())
        originate = PACKET.unpack(question[:48])[-1]
        own.sendto(PACKET.pack(SERVER, 1, 0, -20, 0, 0, 0, received, originate, received, stamp(time.time_ns())), client)


def offset(server: str) -> int:
    """By how much the own clock is slow, as far as NTP knows, in nanoseconds."""
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.settimeout(10)
    sent = time.time_ns()
    own.sendto(PACKET.pack(CLIENT, 0, 0, 0, 0, 0, 0, 0, 0, 0, stamp(sent)), (server, 123))
    answer = own.recv(512)
    came = time.time_ns()
    *_, received, replied = PACKET.unpack(answer[:48])
    # It takes half of the round trip for the way there.
    return (nanoseconds(received) - sent + nanoseconds(replied) - came) // 2


def set_clock(server: str, skew_ms: float) -> None:
    first = offset(server)
    time.clock_settime_ns(time.CLOCK_REALTIME, time.time_ns() + first)
    left, wrong = abs(offset(server)) / 1e6, abs(skew_ms + first / 1e6)
    print(json.dumps({"set_by_ms": first / 1e6, "found_then_ms": left, "wrong_by_ms": wrong}))


if sys.argv[1] == "serve":
    serve()
else:
    set_clock(sys.argv[2], float(sys.argv[3]))
