#!/usr/bin/env python3
"""Transactions of three clients at the highest level of isolation: each appends to lists and reads lists, and is noted in /srv/history.jsonl.

client.py SERVER SECONDS
"""

import itertools
import json
import random
import socket
import struct
import sys
import threading
import time

PORT, PATIENCE, KEYS, HISTORY = 5432, 1.0, 5, "/srv/history.jsonl"
# https://www.postgresql.org/docs/15/errcodes-appendix.html: the transaction was rolled back (40001, 40P01), or failed before (25P02).
ROLLED_BACK = ("40001", "40P01", "25P02")


class Refused(Exception):
    """An error that the server reports, with its code."""


class Postgres:
    """A connection that asks simple queries (https://www.postgresql.org/docs/15/protocol.html)."""

    def __init__(self, server: str) -> None:
        self.socket = socket.create_connection((server, PORT), PATIENCE)
        self.stream = self.socket.makefile("rb")
        options = b"user\0postgres\0database\0postgres\0\0"
        self.socket.sendall(struct.pack("!ii", 8 + len(options), 196_608) + options)
        self.rows()

    def ask(self, query: str) -> list[str | None]:
        """The first columns of the rows of a query."""
        text = query.encode() + b"\0"
        self.socket.sendall(b"Q" + struct.pack("!i", 4 + len(text)) + text)
        return self.rows()

    def rows(self) -> list[str | None]:
        rows, error = [], None
        while True:
            kind, length = struct.unpack("!ci", self.take(5))
            body = self.take(length - 4)
            if kind == b"D":
                size = struct.unpack_from("!i", body, 2)[0]
                rows.append(None if size < 0 else body[6 : 6 + size].decode())
            elif kind == b"E":
                fields = body.decode(errors="replace").split("\0")
                error = Refused(next(field[1:] for field in fields if field.startswith("C")))
                # The last words of a session come without the message that ends an answer.
                if any(field[1:] in ("FATAL", "PANIC") for field in fields):
                    raise error
            elif kind == b"Z":
                if error:
                    raise error
                return rows

    def take(self, size: int) -> bytes:
        data = self.stream.read(size)
        if len(data) < size:
            raise OSError("the connection has ended")
        return data

    def close(self) -> None:
        self.stream.close()
        self.socket.close()


def connected(server: str, until: float) -> Postgres:
    while True:
        try:
            return Postgres(server)
        except (OSError, Refused):
            if time.monotonic() >= until:
                raise
            time.sleep(0.05)


def steps(session: Postgres, asked: list[list]) -> list[list]:
    """Does what a transaction asks for, up to its commit."""
    session.ask("BEGIN ISOLATION LEVEL SERIALIZABLE")
    done = []
    for f, key, element in asked:
        if f == "append":
            session.ask(
                f"INSERT INTO lists VALUES ({key}, '{element}') ON CONFLICT (key) DO UPDATE SET elements = lists.elements || ',' || '{element}'"
            )
            done.append([f, key, element])
        else:
            found = session.ask(f"SELECT elements FROM lists WHERE key = {key}")
            done.append([f, key, [int(one) for one in found[0].split(",")] if found else []])
    return done


def transact(session: Postgres, asked: list[list], end) -> bool:
    """Does a transaction and notes its end; returns whether the connection still serves."""
    is_asked = False
    try:
        done = steps(session, asked)
        is_asked = True
        session.ask("COMMIT")
        end("ok", done)
        return True
    except Refused as error:
        # What fails before its commit was asked for has no effect; so has what the server has rolled back.
        is_over = not is_asked or str(error) in ROLLED_BACK
        end("fail" if is_over else "info", asked, str(error))
        if str(error) in ROLLED_BACK:
            session.ask("ROLLBACK")
            return True
    except OSError as error:
        end("info" if is_asked else "fail", asked, repr(error))
    return False


def work(worker: int, server: str, until: float, note, elements: "itertools.count[int]") -> None:
    session = None
    for number in itertools.count():
        time.sleep(random.uniform(0.005, 0.05))
        if time.monotonic() >= until:
            return
        try:
            session = session or Postgres(server)
        except (OSError, Refused):
            continue
        kinds = [random.choice(["append", "r"]) for _ in range(random.randrange(1, 4))]
        asked = [[f, random.randrange(KEYS), next(elements) if f == "append" else None] for f in kinds]
        process = f"{worker}-{number}"
        note(process=process, type="invoke", f="txn", value=asked)

        def end(kind: str, value: list, error: str | None = None) -> None:
            note(process=process, type=kind, f="txn", value=value, error=error)

        try:
            is_good = transact(session, asked, end)
        except (OSError, Refused):
            is_good = False
        if not is_good:
            session.close()
            session = None


def main(server: str, seconds: str) -> None:
    history, elements, until = open(HISTORY, "ab", buffering=0), itertools.count(1), time.monotonic() + float(seconds)

    def note(**event: object) -> None:
        history.write(json.dumps({**event, "time": time.monotonic_ns()}).encode() + b"\n")

    threads = [threading.Thread(target=work, args=(worker, server, until, note, elements)) for worker in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    # What is there in the end: the network is whole, and the server has started again.
    session = connected(server, time.monotonic() + 5)
    asked = [["r", key, None] for key in range(KEYS)]
    note(process="last", type="invoke", f="txn", value=asked)
    done = steps(session, asked)
    session.ask("COMMIT")
    note(process="last", type="ok", f="txn", value=done)
    print(f"{sum(len(read) for _, _, read in done)} elements are there", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
