#!/usr/bin/env python3
"""Writes and reads one key of an etcd cluster through each of its members, and keeps the history.

clients.py SECONDS FILE e1 e2 e3
"""

import base64
import http.client
import itertools
import json
import sys
import threading
import time

PATIENCE, PAUSE, KEY = 3.0, 0.1, base64.b64encode(b"x").decode()


class History:
    """A file of operations as `netloom history check` reads them; a line is one write."""

    def __init__(self, path: str) -> None:
        self.file = open(path, "ab", buffering=0)

    def add(self, process: str, kind: str, **more: object) -> None:
        line = {"process": process, "type": kind, **more, "time": time.clock_gettime_ns(time.CLOCK_MONOTONIC)}
        self.file.write(json.dumps(line).encode() + b"\n")


def post(connection: http.client.HTTPConnection, path: str, body: dict) -> dict:
    """Asks a member; an error is one after which nobody knows what was done."""
    connection.request("POST", path, json.dumps(body))
    answer = connection.getresponse()
    text = answer.read()
    if answer.status != 200:
        raise OSError(f"{answer.status}: {text[:100]!r}")
    return json.loads(text)


def work(f: str, member: str, until: float, history: History, values: "itertools.count[int]") -> None:
    connection = http.client.HTTPConnection(member, 2379, timeout=PATIENCE)
    for number in itertools.count():
        if time.monotonic() >= until:
            return
        process = f"{f}-{member}-{number}"
        try:
            if f == "write":
                value = next(values)
                history.add(process, "invoke", f="write", value=value)
                post(connection, "/v3/kv/put", {"key": KEY, "value": base64.b64encode(str(value).encode()).decode()})
                history.add(process, "ok", f="write", value=value)
            else:
                history.add(process, "invoke", f="read")
                found = post(connection, "/v3/kv/range", {"key": KEY}).get("kvs")
                value = int(base64.b64decode(found[0]["value"])) if found else None
                history.add(process, "ok", f="read", value=value)
        except (OSError, http.client.HTTPException) as error:
            history.add(process, "info", f=f, error=repr(error))
            # What still comes over this connection is no answer to the next question.
            connection.close()
        time.sleep(PAUSE)


def main(seconds: str, path: str, members: list[str]) -> None:
    history, values, until = History(path), itertools.count(1), time.monotonic() + float(seconds)
    threads = [
        threading.Thread(target=work, args=(f, member, until, history, values))
        for f in ("write", "read")
        for member in members
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
