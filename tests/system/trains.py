"""What a test sends as trains, and how it looks at what arrives: trains.py send|tagged|receive|watch|serve|fetch ..."""

import hashlib
import json
import socket
import struct
import sys
import time

PORT = 7000
SIZE = 1000
BURSTS = 30
PER_BURST = 40
SHORT = 300
UDP_SEGMENT = 103
SO_RCVBUFFORCE = 33
SOL_PACKET = 263
PACKET_AUXDATA = 8
PACKET_VNET_HDR = 15
NEEDS_CSUM = 1
GSO_UDP_L4 = 5
ROUND = bytes(range(251)) * 6


def datagram(index):
    """The bytes of the datagram of this number; the last of each burst is short."""
    size = SHORT if index % PER_BURST == PER_BURST - 1 else SIZE
    start = index % 251
    return struct.pack("!I", index) + ROUND[start : start + size - 4]


def bursts():
    for burst in range(BURSTS):
        first = burst * PER_BURST
        yield b"".join(datagram(index) for index in range(first, first + PER_BURST))
        time.sleep(0.012)


def fits(payload):
    return len(payload) >= 4 and payload == datagram(struct.unpack("!I", payload[:4])[0])


def tell(seen, wrong, **more):
    indices = sorted(seen)
    print(json.dumps({"received": len(seen), "wrong": wrong, "last": indices[-1] if indices else None, **more}))


def send(peer):
    """Bursts of datagrams, each in one call: UDP segmentation offload."""
    family, kind, protocol, _, address = socket.getaddrinfo(peer, PORT, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as sender:
        sender.setsockopt(socket.SOL_UDP, UDP_SEGMENT, SIZE)
        for burst in bursts():
            sender.sendto(burst, address)


def roomy(receiver):
    """Room for all that is sent, while this program waits for a processor: as root, more than others may have."""
    try:
        receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 8 << 20)
    except PermissionError:
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)


def receive(seconds):
    """Datagrams, for so long."""
    seen, wrong = set(), 0
    with socket.socket(socket.AF_INET6, socket.SOCK_DGRAM) as receiver:
        receiver.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        roomy(receiver)
        receiver.bind(("::", PORT))
        until = time.monotonic() + float(seconds)
        while (left := until - time.monotonic()) > 0:
            receiver.settimeout(left)
            try:
                payload = receiver.recv(65536)
            except TimeoutError:
                break
            if fits(payload):
                seen.add(payload[:4])
            else:
                wrong += 1
    with open("/proc/net/snmp") as table:
        rows = [line.split() for line in table if line.startswith("Udp:")]
    bad = int(dict(zip(*rows))["InCsumErrors"])
    tell({struct.unpack("!I", index)[0] for index in seen}, wrong, checksum_errors=bad)


def total(data):
    """RFC 1071, not inverted."""
    data += b"\0" * (len(data) % 2)
    value = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while value >> 16:
        value = (value & 0xFFFF) + (value >> 16)
    return value


def frame(tags, payload, addresses):
    """Ethernet with these VLAN tags, IPv4 and UDP, whose checksum is left to do."""
    header = addresses
    for protocol, tag in tags:
        header += struct.pack("!HH", protocol, tag)
    length = 8 + len(payload)
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + length, 1, 0x4000, 64, 17, 0, bytes(4), bytes(4))
    ip = ip[:10] + struct.pack("!H", 0xFFFF ^ total(ip)) + ip[12:]
    udp = struct.pack("!HHHH", PORT, PORT, length, total(ip[12:20] + struct.pack("!HH", 17, length)))
    return header + b"\x08\x00" + ip + udp + payload


def tagged(interface, count):
    """The same bursts, as frames with so many VLAN tags."""
    tags = [(0x88A8, 7), (0x8100, 42)][2 - int(count) :]
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0) as sender:
        sender.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        sender.bind((interface, 0))
        addresses = b"\xff" * 6 + sender.getsockname()[4]
        start = 14 + 4 * len(tags) + 20
        virtio = struct.pack("<BBHHHH", NEEDS_CSUM, GSO_UDP_L4, start + 8, SIZE, start, 6)
        for burst in bursts():
            sender.send(virtio + frame(tags, burst, addresses))


def watch(interface, seconds):
    """Tagged frames, for so long: whether headers, checksums and payload of each are right, and which tags they bear."""
    seen, wrong, tags = set(), 0, set()
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3)) as receiver:
        roomy(receiver)
        receiver.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
        receiver.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        receiver.bind((interface, 3))
        until = time.monotonic() + float(seconds)
        while (left := until - time.monotonic()) > 0:
            receiver.settimeout(left)
            try:
                data, extra, _, _ = receiver.recvmsg(70000, 100)
            except TimeoutError:
                break
            status, _, _, _, _, outer, protocol = struct.unpack("=IIIHHHH", extra[0][2])
            told = [(protocol, outer)] if status & 0x10 else []
            for index, found in check(data, told):
                tags.add(tuple(found))
                if index is None:
                    wrong += 1
                else:
                    seen.add(index)
    tell(seen, wrong, tags=sorted(tags))


def check(data, tags):
    """The segments of what a socket got: the number of each, or none if anything in it is wrong; and its tags."""
    flags, kind, _, size, start, _ = struct.unpack("<BBHHHH", data[:10])
    at = 10 + 12
    while (protocol := struct.unpack("!H", data[at : at + 2])[0]) in (0x8100, 0x88A8):
        tags = tags + [(protocol, struct.unpack("!H", data[at + 2 : at + 4])[0])]
        at += 4
    ip, udp = data[at + 2 : at + 22], data[at + 22 :]
    if protocol != 0x0800 or ip[9] != 17 or not tags:
        return
    length = len(udp)
    sum_there = struct.unpack("!H", udp[6:8])[0]
    pseudo = ip[12:20] + struct.pack("!HH", 17, length)
    right = total(ip) == 0xFFFF and ip[2:4] == struct.pack("!H", 20 + length)
    right = right and udp[4:6] == struct.pack("!H", length)
    if flags & NEEDS_CSUM:
        right = right and sum_there == total(pseudo) and start == at + 22 - 10
    else:
        right = right and total(pseudo + udp) == 0xFFFF
    payload = udp[8:]
    step = size if kind == GSO_UDP_L4 else len(payload)
    for first in range(0, len(payload), step):
        piece = payload[first : first + step]
        yield (struct.unpack("!I", piece[:4])[0] if right and fits(piece) else None), tags


def serve(size):
    """So many bytes for one who asks, and what their hash is."""
    data = hashlib.shake_256(b"netloom").digest(int(size))
    with socket.create_server(("", PORT)) as server:
        connection, _ = server.accept()
        with connection:
            connection.sendall(data)


def fetch(peer, size):
    """Gets them and compares."""
    got = hashlib.sha256()
    count = 0
    with socket.create_connection((peer, PORT), timeout=20) as connection:
        while data := connection.recv(1 << 16):
            got.update(data)
            count += len(data)
    wanted = hashlib.sha256(hashlib.shake_256(b"netloom").digest(int(size))).hexdigest()
    print(json.dumps({"bytes": count, "right": got.hexdigest() == wanted}))


if __name__ == "__main__":
    globals()[sys.argv[1]](*sys.argv[2:])
