"""Joins two interfaces: reads frames from a socket of AF_XDP at each, and writes them to the other's.

    python3 forwarder.py eth0 eth1

A program of XDP at each interface (native mode) sends every frame to the socket, past the kernel's stack. Needs root and nothing but Python.
Numbers are those of linux/bpf.h and linux/if_xdp.h.
"""

import ctypes
import mmap
import select
import socket
import struct
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_BPF = {"x86_64": 321, "aarch64": 280}
AF_XDP, SOL_XDP = 44, 283
FRAME, FRAMES = 2048, 2048
FILL, COMPLETION, RX, TX = 0, 1, 2, 3
#: By ring: the option that makes it, where it is mapped, and bytes of an entry.
RINGS = {FILL: (5, 0x1_0000_0000, 8), COMPLETION: (6, 0x1_8000_0000, 8), RX: (2, 0, 16), TX: (3, 0x8000_0000, 16)}
#: The order of the rings in the answer to XDP_MMAP_OFFSETS.
OFFSETS = [RX, TX, FILL, COMPLETION]


def bpf(command, attributes):
    """A call of bpf(2)."""
    import platform

    buffer = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    result = LIBC.syscall(SYS_BPF[platform.machine()], command, buffer, 128)
    if result < 0:
        raise OSError(ctypes.get_errno(), f"bpf command {command}")
    return result


def instruction(code, registers=0, offset=0, value=0):
    """An instruction of BPF; registers: destination, and source in the upper four bits."""
    return struct.pack("<BBhi", code, registers, offset, value)


class Ring:
    """A ring that is shared with the kernel."""

    def __init__(self, fd, kind, offsets, producing):
        option, page, self.size = RINGS[kind]
        producer, consumer, self.entries, _ = offsets
        self.memory = mmap.mmap(fd, self.entries + FRAMES * self.size, mmap.MAP_SHARED | mmap.MAP_POPULATE, offset=page)
        self.own, self.other = (producer, consumer) if producing else (consumer, producer)

    def number(self, place):
        return struct.unpack_from("=I", self.memory, place)[0]

    def waiting(self):
        """How many entries the kernel has produced."""
        return (self.number(self.other) - self.number(self.own)) & 0xFFFFFFFF

    def entry(self, number):
        return self.entries + (number % FRAMES) * self.size

    def take(self, count):
        """The next entries, which are the kernel's again."""
        first = self.number(self.own)
        places = [self.entry(first + step) for step in range(count)]
        found = [self.memory[place : place + self.size] for place in places]
        struct.pack_into("=I", self.memory, self.own, (first + count) & 0xFFFFFFFF)
        return found

    def put(self, entries):
        first = self.number(self.own)
        for step, entry in enumerate(entries):
            place = self.entry(first + step)
            self.memory[place : place + self.size] = entry
        struct.pack_into("=I", self.memory, self.own, (first + len(entries)) & 0xFFFFFFFF)


class Interface:
    """A socket of AF_XDP at an interface. The first half of its frames is for what comes, the second for what goes."""

    def __init__(self, name):
        self.name, self.index = name, socket.if_nametoindex(name)
        self.socket = socket.socket(AF_XDP, socket.SOCK_RAW)
        self.umem = mmap.mmap(-1, 2 * FRAMES * FRAME)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self.umem))
        self.socket.setsockopt(SOL_XDP, 4, struct.pack("=QQIII4x", start, len(self.umem), FRAME, 0, 0))
        for option, _, _ in RINGS.values():
            self.socket.setsockopt(SOL_XDP, option, struct.pack("=I", FRAMES))
        numbers = struct.unpack("=16Q", self.socket.getsockopt(SOL_XDP, 1, 128))
        fd = self.socket.fileno()
        self.rings = [
            Ring(fd, kind, numbers[4 * place : 4 * place + 4], kind in (FILL, TX))
            for kind in (FILL, COMPLETION, RX, TX)
            for place in [OFFSETS.index(kind)]
        ]
        self.rings[FILL].put([struct.pack("=Q", number * FRAME) for number in range(FRAMES)])
        self.free = [(FRAMES + number) * FRAME for number in range(FRAMES)]
        # struct sockaddr_xdp: copy mode, queue 0.
        address = struct.pack("=HHIII", AF_XDP, 1 << 1, self.index, 0, 0)
        if LIBC.bind(fd, address, len(address)) < 0:
            raise OSError(ctypes.get_errno(), f"bind a socket of AF_XDP to {name}")
        self.attach()

    def attach(self):
        """Has every frame of queue 0 come to the socket."""
        self.map = bpf(0, struct.pack("=IIII", 17, 4, 4, 1))
        key, value = ctypes.create_string_buffer(4), ctypes.create_string_buffer(struct.pack("=I", self.socket.fileno()))
        bpf(2, struct.pack("=IIQQQ", self.map, 0, ctypes.addressof(key), ctypes.addressof(value), 0))
        code = ctypes.create_string_buffer(
            instruction(0x18, 0x11, value=self.map)
            + instruction(0)
            + instruction(0xB7, 2)
            + instruction(0xB7, 3, value=2)
            + instruction(0x85, value=51)
            + instruction(0x95)
        )
        license = ctypes.create_string_buffer(b"GPL")
        words = (6, 6, ctypes.addressof(code), ctypes.addressof(license), 0, 0, 0, 0, 0)
        program = bpf(5, struct.pack("=IIQQIIQII", *words))
        self.link = bpf(28, struct.pack("=IIII", program, self.index, 37, 4))

    def frames(self):
        """What has come."""
        ring = self.rings[RX]
        for entry in ring.take(ring.waiting()):
            address, length, _ = struct.unpack("=QII", entry)
            yield self.umem[address : address + length]
            self.rings[FILL].put([struct.pack("=Q", address // FRAME * FRAME)])

    def send(self, frames):
        done = self.rings[COMPLETION]
        self.free += [struct.unpack("=Q", entry)[0] for entry in done.take(done.waiting())]
        entries = []
        for frame in frames:
            if not self.free:
                break
            address = self.free.pop()
            self.umem[address : address + len(frame)] = frame
            entries.append(struct.pack("=QII", address, len(frame), 0))
        if entries:
            self.rings[TX].put(entries)
            LIBC.sendto(self.socket.fileno(), None, 0, socket.MSG_DONTWAIT, None, 0)


def main():
    sides = [Interface(name) for name in sys.argv[1:3]]
    print("ready", flush=True)
    open("/run/forwarder.ready", "w").close()
    waiting = select.poll()
    for side in sides:
        waiting.register(side.socket, select.POLLIN)
    while True:
        waiting.poll()
        for side, other in zip(sides, reversed(sides)):
            other.send(list(side.frames()))


if __name__ == "__main__":
    main()
