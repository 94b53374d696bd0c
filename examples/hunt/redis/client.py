#!/usr/bin/env python3
"""Writes, reads and adds to keys of a Redis for 9 s over three connections, and notes each operation in /srv/history.jsonl.

client.py SERVER
"""

import itertools
import json
import random
import socket
import sys
import threading
import time

PORT, PATIENCE, RUNNING, KEYS, HISTORY = 6379, 0.5, 9.0, 4, "/srv/history.jsonl"


class Refused(Exception):
    """The server said no: nothing has happened."""


class Redis:
    """A connection that speaks RESP (redis.io/docs/latest/develop/reference/protocol-spec)."""

    def __init__(self, server: str) -> None:
        self.socket = socket.create_connection((server, PORT), PATIENCE)
        self.lines = self.socket.makefile("rb")

    def ask(self, *words: str) -> str | None:
        parts = "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
        self.socket.sendall(f"*{len(words)}\r\n{parts}".encode())
        answer = self.line()
        if answer.startswith("-"):
            raise Refused(answer)
        if answer.startswith("$"):
            return None if answer == "$-1" else self.line()
        return answer[1:]

    def line(self) -> str:
        text = self.lines.readline()
        if not text.endswith(b"\r\n"):
            raise OSError("the connection has ended")
        return text[:-2].decode()

    def close(self) -> None:
        self.lines.close()
        self.socket.close()


def operate(redis: Redis, f: str, key: str, value: int | None) -> int | None:
    """Does an operation, and returns its value."""
    if f == "write":
        redis.ask("SET", key, str(value))
        return value
    found = redis.ask("GET", key)
    return None if found is None else int(found)


def work(worker: int, server: str, note, values: "itertools.count[int]") -> None:
    redis, until = None, time.monotonic() + RUNNING
    for number in itertools.count():
        if time.monotonic() >= until:
            return
        time.sleep(random.uniform(0.005, 0.06))
        try:
            redis = redis or Redis(server)
        except OSError:
            continue
        f, key = random.choice(["write", "read"]), f"k{random.randrange(KEYS)}"
        operation = {"process": f"{worker}-{number}", "f": f, "key": key}
        value = next(values) if f == "write" else None
        note(type="invoke", value=value, **operation)
        try:
            note(type="ok", value=operate(redis, f, key, value), **operation)
        except Refused as error:
            note(type="fail", value=value, error=str(error), **operation)
        except OSError as error:
            # Whether it was done, nobody knows; and what still comes is no answer to the next question.
            note(type="info", value=value, error=repr(error), **operation)
            redis.close()
            redis = None


def main(server: str) -> None:
    history, values = open(HISTORY, "ab", buffering=0), itertools.count(1)

    def note(**event: object) -> None:
        history.write(json.dumps({**event, "time": time.monotonic_ns()}).encode() + b"\n")

    threads = [threading.Thread(target=work, args=(worker, server, note, values)) for worker in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # What is there in the end: the network is whole, and the server has started again.
    redis = Redis(server)
    for key in (f"k{number}" for number in range(KEYS)):
        note(process=f"last-{key}", type="invoke", f="read", key=key, value=None)
        note(process=f"last-{key}", type="ok", f="read", key=key, value=operate(redis, "read", key, None))


if __name__ == "__main__":
    main(sys.argv[1])
