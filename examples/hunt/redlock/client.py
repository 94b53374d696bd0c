#!/usr/bin/env python3
"""Takes a lock of Redlock again and again for 12 s, works under it, and notes in /srv/history.jsonl when it had it.

client.py r1 r2 r3
"""

import json
import os
import random
import sys
import time

from redlock import MultipleRedlockException, Redlock

LASTS, WORK, SPARE, RUNNING, HISTORY = 2_000, 0.2, 0.3, 12.0, "/srv/history.jsonl"


def main(servers: list[str]) -> None:
    own, history, begun, had = os.environ["NETLOOM_NODE"], open(HISTORY, "a"), time.monotonic(), 0

    def note(kind: str, f: str) -> None:
        event = {"process": own, "type": kind, "f": f, "key": "lock", "value": None, "time": time.time_ns()}
        history.write(json.dumps(event) + "\n")
        history.flush()

    # Each asks the servers in an order of its own, so that both get votes when the lock becomes free.
    servers = servers[::-1] if own == "c2" else servers
    wait = {"socket_timeout": 0.1, "socket_connect_timeout": 0.1}
    locks = Redlock([{"host": server, **wait} for server in servers], retry_count=1, retry_delay=0.01)
    while time.monotonic() - begun < RUNNING:
        note("invoke", "acquire")
        try:
            lock = locks.lock("lock", LASTS)
        except MultipleRedlockException:
            lock = False
        # The library says for how long the lock is valid: one that may end during the work is not used.
        valid = time.monotonic() + lock.validity / 1000 if lock else 0
        if not lock or lock.validity / 1000 < WORK + SPARE:
            note("fail", "acquire")
        else:
            note("ok", "acquire")
            had += 1
            time.sleep(WORK)
            if time.monotonic() > valid:
                print("woke too late", flush=True)
            note("invoke", "release")
            note("ok", "release")
        if lock:
            try:
                locks.unlock(lock)
            except MultipleRedlockException:
                pass
        time.sleep(random.uniform(0.005, 0.03))
    print(f"had the lock {had} times", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
