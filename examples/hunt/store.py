#!/usr/bin/env python3
"""A key-value store with a mistake: it acknowledges what is not on its disk yet.

    store.py serve    keeps its log in /var/lib/store
    store.py ask      writes and reads for 10 s, and notes each operation in /srv/history.jsonl
"""

import json
import os
import socket
import sys
import time

PORT, LOG, HISTORY = 7000, "/var/lib/store/log", "/srv/history.jsonl"


def serve() -> None:
    data: dict[str, int] = {}
    if os.path.exists(LOG):
        with open(LOG) as log:
            # The last line may be torn.
            data = dict(json.loads(line) for line in log if line.endswith("]\n"))
        print(f"recovered {len(data)} keys", flush=True)
    log = open(LOG, "a")
    listener = socket.create_server(("", PORT))
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("rw") as lines:
            try:
                for line in lines:
                    request = json.loads(line)
                    if request["f"] == "write":
                        data[request["key"]] = request["value"]
                        log.write(json.dumps([request["key"], request["value"]]) + "\n")
                        log.flush()  # The mistake: this is no fsync.
                    lines.write(json.dumps(data.get(request["key"])) + "\n")
                    lines.flush()
            except OSError:
                print("a client has gone", flush=True)


def ask() -> None:
    history, begun, number = open(HISTORY, "a"), time.monotonic(), 0

    def note(kind: str, f: str, key: str, value: int | None) -> None:
        event = {"process": "ask", "type": kind, "f": f, "key": key, "value": value, "time": time.monotonic_ns()}
        history.write(json.dumps(event) + "\n")
        history.flush()

    while time.monotonic() - begun < 10:
        try:
            with socket.create_connection(("store", PORT), 0.5) as connection, connection.makefile("rw") as lines:
                while time.monotonic() - begun < 10:
                    number += 1
                    # What is read is what was written three operations before.
                    f, key = ["write", "read"][number % 2], f"k{(number // 2 + number % 2) % 2}"
                    value = number if f == "write" else None
                    note("invoke", f, key, value)
                    try:
                        lines.write(json.dumps({"f": f, "key": key, "value": value}) + "\n")
                        lines.flush()
                        answer = lines.readline()
                        if not answer:
                            raise OSError("closed")
                    except OSError:
                        note("info", f, key, value)  # Whether it took effect, nobody knows.
                        raise
                    note("ok", f, key, json.loads(answer))
                    time.sleep(0.1)
        except OSError:
            time.sleep(0.2)


if __name__ == "__main__":
    ask() if sys.argv[1] == "ask" else serve()
