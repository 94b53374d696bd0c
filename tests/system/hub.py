"""A controller for OpenFlow 1.0 that makes hubs of switches: every frame comes to it, and is sent back to all other ports."""

import socket
import struct
import threading


def serve(switch):
    buffered = b""
    switch.sendall(struct.pack("!BBHI", 1, 0, 8, 1))
    while data := switch.recv(65536):
        buffered += data
        while len(buffered) >= 8 and len(buffered) >= struct.unpack("!H", buffered[2:4])[0]:
            _, kind, length, number = struct.unpack("!BBHI", buffered[:8])
            body, buffered = buffered[8:length], buffered[length:]
            if kind == 0:
                switch.sendall(struct.pack("!BBHI", 1, 5, 8, 2) + struct.pack("!BBHIHH", 1, 9, 12, 3, 0, 65535))
            elif kind == 2:
                switch.sendall(struct.pack("!BBHI", 1, 3, 8 + len(body), number) + body)
            elif kind == 10:
                buffer, _, port = struct.unpack("!IHH", body[:8])
                frame = body[10:] if buffer == 0xFFFFFFFF else b""
                flood = struct.pack("!HHHH", 0, 8, 0xFFFB, 0)
                switch.sendall(struct.pack("!BBHIIHH", 1, 13, 24 + len(frame), number, buffer, port, 8) + flood + frame)


listener = socket.create_server(("0.0.0.0", 6653))
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
