#!/usr/bin/env python3
"""Writes and reads an etcd cluster through each of its members, and keeps the history: of one key, or of a set, in which each element is a key.

clients.py register|set|relay SECONDS FILE e1 e2 e3

With `relay` each client writes through one member and then reads through another: what it has just written has to be there, whichever member it asks.
"""

import base64
import http.client
import itertools
import json
import random
import sys
import threading
import time

# etcd commits its backend every 100 ms: pauses that are never the same do not fall in step with that.
PATIENCE, PAUSES = 1.5, (0.02, 0.15)
# Of `relay`.
CLIENTS = 5


def coded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def decoded(text: str) -> str:
    return base64.b64decode(text).decode()


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


def call(connection: http.client.HTTPConnection, f: str, value: int | None) -> int | list[int] | None:
    """Does an operation, and returns what it has read."""
    if f == "write":
        post(connection, "/v3/kv/put", {"key": coded("x"), "value": coded(str(value))})
        return value
    if f == "add":
        post(connection, "/v3/kv/put", {"key": coded(f"n{value}"), "value": ""})
        return value
    # A read of the register, or of all keys from "n" up to "o".
    everything = {"key": coded("n"), "range_end": coded("o"), "keys_only": True}
    found = post(connection, "/v3/kv/range", {"key": coded("x")} if f == "read" else everything).get("kvs", [])
    if f == "read":
        return int(decoded(found[0]["value"])) if found else None
    return [int(decoded(own["key"])[1:]) for own in found]


def work(f: str, member: str, until: float, history: History, values: "itertools.count[int]") -> None:
    connection = http.client.HTTPConnection(member, 2379, timeout=PATIENCE)
    # In histories of sets, the function that reads all is called "read" as well.
    name = "read" if f == "read all" else f
    for number in itertools.count():
        if time.monotonic() >= until:
            return
        process = f"{name}-{member}-{number}"
        value = next(values) if f in ("write", "add") else None
        try:
            history.add(process, "invoke", f=name, value=value)
            history.add(process, "ok", f=name, value=call(connection, f, value))
        except (OSError, http.client.HTTPException) as error:
            history.add(process, "info", f=name, value=value, error=repr(error))
            # What still comes over this connection is no answer to the next question.
            connection.close()
        time.sleep(random.uniform(*PAUSES))


def relay(client: int, members: list[str], until: float, history: History, values: "itertools.count[int]") -> None:
    """One client: writes through a member, reads through another, and so on. None waits long for a member that is silent."""
    connections = {member: http.client.HTTPConnection(member, 2379, timeout=PATIENCE) for member in members}
    for number in itertools.count():
        for f, member in zip(("write", "read"), random.sample(members, 2), strict=True):
            if time.monotonic() >= until:
                return
            process, value = f"{client}-{member}-{number}-{f}", next(values) if f == "write" else None
            try:
                history.add(process, "invoke", f=f, value=value)
                history.add(process, "ok", f=f, value=call(connections[member], f, value))
            except (OSError, http.client.HTTPException) as error:
                history.add(process, "info", f=f, value=value, error=repr(error))
                connections[member].close()
            time.sleep(random.uniform(*PAUSES))


def main(model: str, seconds: str, path: str, members: list[str]) -> None:
    history, values, until = History(path), itertools.count(1), time.monotonic() + float(seconds)
    threads = [
        threading.Thread(target=work, args=(f, member, until, history, values))
        for f in {"register": ("write", "read"), "set": ("add", "read all")}.get(model, ())
        for member in members
    ]
    if model == "relay":
        threads = [threading.Thread(target=relay, args=(client, members, until, history, values)) for client in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:])
