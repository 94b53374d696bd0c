#!/usr/bin/env python3
"""Keeps numbers by a library for Python that says it keeps them on the disk, and acknowledges each when the library has returned.

keeper.py serve LIBRARY    keeps them in /srv/data
keeper.py ask              adds numbers for 8 s, and says in the end which acknowledged ones are lost
"""

import os
import socket
import sys
import time
from collections.abc import Iterator

PORT, DATA, ADDING, PATIENCE, REST, RECOVERING = 7000, "/srv/data", 8.0, 0.3, 1.5, 4.0
# Items are of 100 bytes; of 40 kB where a library keeps long ones in files of their own.
SHORT, LONG = 100, 40_000


def content(number: int, length: int) -> bytes:
    return (f"{number}:".encode() * length)[:length]


class PersistQueue:
    """persistqueue.Queue: "Adding data to the queue with put() will always persist immediately"."""

    length = SHORT

    def __init__(self) -> None:
        from persistqueue import Queue

        self.queue = Queue(DATA + "/queue")

    def add(self, number: int) -> None:
        self.queue.put((number, content(number, self.length)))

    def items(self) -> Iterator[tuple[int, bytes]]:
        while self.queue.qsize() > 0:
            yield self.queue.get(block=False)


class PersistQueueSqlite(PersistQueue):
    """persistqueue.SQLiteQueue."""

    def __init__(self) -> None:
        from persistqueue import SQLiteQueue

        self.queue = SQLiteQueue(DATA + "/queue", auto_commit=True)

    def items(self) -> Iterator[tuple[int, bytes]]:
        while self.queue.size > 0:
            yield self.queue.get(block=False)


class SqliteDict:
    """sqlitedict, which waits in commit() until all is on the disk: "Persist all data to disk"."""

    length = SHORT

    def __init__(self) -> None:
        from sqlitedict import SqliteDict as Dict

        self.items_by_number = Dict(DATA + "/dict.sqlite")

    def add(self, number: int) -> None:
        self.items_by_number[number] = content(number, self.length)
        self.items_by_number.commit(blocking=True)

    def items(self) -> Iterator[tuple[int, bytes]]:
        return ((int(number), data) for number, data in self.items_by_number.items())


class DiskCache:
    """diskcache.Cache, of which every item that it has must be the one that was put in: a cache may forget."""

    length = LONG

    def __init__(self) -> None:
        from diskcache import Cache

        self.cache = Cache(DATA + "/cache", eviction_policy="none")

    def add(self, number: int) -> None:
        self.cache[number] = content(number, self.length)

    def items(self) -> Iterator[tuple[int, bytes]]:
        return ((number, self.cache[number]) for number in self.cache)


class DiskCacheFull(DiskCache):
    """The same with SQLite's own default, which flushes each commit."""

    def __init__(self) -> None:
        from diskcache import Cache

        self.cache = Cache(DATA + "/cache", eviction_policy="none", sqlite_synchronous=2)


class DiskCacheSynced(DiskCache):
    """The same, and the files of long items are flushed before they are noted: the control."""

    def __init__(self) -> None:
        from diskcache import Cache, Disk

        class Synced(Disk):
            def store(self, value: object, read: bool, key: object = None) -> tuple:
                size, mode, name, data = super().store(value, read, key)
                path = os.path.join(self._directory, name) if name else self._directory
                # The file, and the folders in which it is.
                while True:
                    opened = os.open(path, os.O_RDONLY)
                    os.fsync(opened)
                    os.close(opened)
                    if path == self._directory:
                        return size, mode, name, data
                    path = os.path.dirname(path)

        self.cache = Cache(DATA + "/cache", disk=Synced, eviction_policy="none", sqlite_synchronous=2)


class Sqlite:
    """sqlite3 of Python with its defaults: a rollback journal, which is deleted to commit, and synchronous=FULL."""

    length, synchronous = SHORT, "FULL"

    def __init__(self) -> None:
        import sqlite3

        self.base = sqlite3.connect(DATA + "/base.sqlite")
        self.base.execute(f"PRAGMA synchronous={self.synchronous}")
        self.base.execute("CREATE TABLE IF NOT EXISTS items (number INTEGER PRIMARY KEY, data BLOB)")
        self.base.commit()

    def add(self, number: int) -> None:
        self.base.execute("INSERT OR REPLACE INTO items VALUES (?, ?)", (number, content(number, self.length)))
        self.base.commit()

    def items(self) -> Iterator[tuple[int, bytes]]:
        return iter(self.base.execute("SELECT number, data FROM items").fetchall())


class SqliteExtra(Sqlite):
    """The same with a flush of the folder behind the deletion of the journal."""

    synchronous = "EXTRA"


LIBRARIES = {
    "persist-queue": PersistQueue,
    "persist-queue-sqlite": PersistQueueSqlite,
    "sqlitedict": SqliteDict,
    "diskcache": DiskCache,
    "diskcache-full": DiskCacheFull,
    "diskcache-synced": DiskCacheSynced,
    "sqlite3": Sqlite,
    "sqlite3-extra": SqliteExtra,
}
# Those that promise to be durable: what they acknowledged has to be there.
DURABLE = set(LIBRARIES) - {"diskcache"}


def serve(library: str) -> None:
    # The folder is there for good before anything is acknowledged.
    os.makedirs(DATA, exist_ok=True)
    api = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    api.bind(("", PORT))
    try:
        store, trouble = LIBRARIES[library](), None
    except Exception as error:
        store, trouble = None, f"cannot open what it has written: {type(error).__name__}: {error}"
        print(trouble, flush=True)
    # Reading a queue empties it: whoever asks again, since a packet was lost, gets the same answer.
    found = None
    while True:
        text, sender = api.recvfrom(65536)
        words = text.decode().split()
        if trouble is not None:
            answer = f"trouble {trouble}"
        elif words[0] == "add":
            store.add(int(words[1]))
            answer = f"kept {words[1]}"
        else:
            if found is None:
                found = recover(library, store)
                print(found, flush=True)
            answer = found
        api.sendto(answer.encode(), sender)


def recover(library: str, store: PersistQueue | SqliteDict | DiskCache | Sqlite) -> str:
    """What there is: `has NUMBER...`, or the trouble that it has."""
    numbers = []
    try:
        for number, data in store.items():
            if data != content(number, store.length):
                return f"trouble an item has another content than was put in: {len(data)} bytes, not {store.length}"
            numbers.append(number)
    except Exception as error:
        return f"trouble cannot read what it has written: {type(error).__name__}: {error}"
    return " ".join([f"{'has' if library in DURABLE else 'may-have-lost'}", *map(str, numbers)])


def ask() -> int:
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def call(text: str, patience: float) -> str:
        client.settimeout(patience)
        try:
            client.sendto(text.encode(), ("store", PORT))
            return client.recv(65536).decode()
        except OSError:
            return ""

    acknowledged, number, begun = set(), 0, time.monotonic()
    while time.monotonic() - begun < ADDING:
        answer = call(f"add {number}", PATIENCE).split()
        if answer[:1] == ["kept"]:
            acknowledged.add(int(answer[1]))
        number += 1
        time.sleep(0.05)
    # Reading empties a queue, which a crash in between must not do: it waits until there are no faults any more.
    time.sleep(REST)
    until, answer = time.monotonic() + RECOVERING, ""
    while not answer.startswith(("has", "may-have-lost", "trouble")) and time.monotonic() < until:
        answer = call("read", 2)
    kind, *words = answer.split(" ")
    lost = sorted(acknowledged - {int(word) for word in words}) if kind == "has" else []
    if lost:
        print(f"lost: {len(lost)} of {len(acknowledged)} acknowledged items")
        print(f"the first of them: {lost[:5]}")
    elif kind in ("has", "may-have-lost"):
        print(f"fine: {len(words)} items, {len(acknowledged)} were acknowledged")
    else:
        print(f"broken: {answer.removeprefix('trouble ')}" if answer else "silent: nobody answers")
    return 0


if __name__ == "__main__":
    sys.exit(ask() if sys.argv[1] == "ask" else serve(sys.argv[2]))
