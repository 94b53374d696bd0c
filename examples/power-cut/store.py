"""A store of numbered records: appends each line that it gets to a file, and acknowledges it; `count` asks how many there are.

store.py serve always|later    acknowledges a record when it is on the disk, or when it is written
store.py fill NODE SECONDS     writes records one after the other, and prints how many were acknowledged
store.py check NODE FILE       ends with 1 if fewer are there than that
"""

import os
import socket
import sys
import time

FILE, PORT = "/data/records", 7000


def serve(mode):
    records = os.open(FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    listener = socket.create_server(("", PORT))
    while True:
        client, _ = listener.accept()
        for line in client.makefile("rb"):
            if line == b"count\n":
                # The last record may be torn.
                client.sendall(b"%d\n" % os.pread(records, 1 << 24, 0).count(b"\n"))
                continue
            os.write(records, line)
            if mode == "always":
                os.fsync(records)
            client.sendall(b"ok\n")


def fill(node, seconds):
    acknowledged, end = 0, time.monotonic() + float(seconds)
    client = socket.create_connection((node, PORT))
    client.settimeout(0.5)
    answers = client.makefile("rb")
    try:
        while time.monotonic() < end:
            client.sendall(b"record %d\n" % acknowledged)
            acknowledged += answers.readline() == b"ok\n"
    except OSError:
        pass
    print(acknowledged)


def check(node, file):
    acknowledged = int(open(file).read())
    client = socket.create_connection((node, PORT))
    client.sendall(b"count\n")
    there = int(client.makefile("rb").readline())
    print(f"{acknowledged} acknowledged, {there} there")
    sys.exit(there < acknowledged)


{"serve": serve, "fill": fill, "check": check}[sys.argv[1]](*sys.argv[2:])
