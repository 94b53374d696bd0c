"""Commits numbers to servers of PostgreSQL, one after the other, and says which of those that were acknowledged are there after each crash.

commits.py CRASHES SERVER...    prints for each server how many were acknowledged and lost, how long before the end of a connection the oldest
                                that was lost, and whether the server or the table was gone
"""

import json
import os
import select
import subprocess
import sys
import threading
import time

#: How long a server is given for an answer, and to come back.
SILENCE, PATIENCE = 0.3, 5.0


class Gone(Exception):
    pass


class Session:
    """One psql, and so one connection."""

    def __init__(self, server: str):
        command = ["psql", "-h", server, "-U", "postgres", "-Atq", "-v", "ON_ERROR_STOP=1"]
        self.psql = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ | {"PGCONNECT_TIMEOUT": "2"})
        self.rest = b""

    def ask(self, statement: str, wait: float = SILENCE) -> str:
        """What the statement answers in one line."""
        try:
            self.psql.stdin.write(statement.encode() + b";\n")
            self.psql.stdin.flush()
        except OSError as error:
            raise Gone from error
        while b"\n" not in self.rest:
            readable, _, _ = select.select([self.psql.stdout], [], [], wait)
            more = os.read(self.psql.stdout.fileno(), 4096) if readable else b""
            if not more:
                raise Gone
            self.rest += more
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode()

    def close(self) -> None:
        self.psql.kill()
        self.psql.communicate()


def connected(server: str) -> Session:
    end = time.monotonic() + PATIENCE
    while True:
        session = Session(server)
        try:
            session.ask("SELECT 1", 2)
            return session
        except Gone:
            session.close()
            if time.monotonic() > end:
                raise
            time.sleep(0.2)


def fill(server: str, number: int) -> dict[int, float]:
    """The numbers that were acknowledged, and when."""
    session, acknowledged = connected(server), {}
    try:
        while True:
            number += 1
            session.ask(f"INSERT INTO numbers VALUES ({number}) RETURNING n")
            acknowledged[number] = time.monotonic()
            time.sleep(0.01)
    except Gone:
        return acknowledged
    finally:
        session.close()


def there(server: str) -> set[int]:
    """The numbers that it has."""
    session = connected(server)
    numbers = session.ask("SELECT coalesce(string_agg(n::text, ' '), '') FROM numbers", 2)
    session.close()
    return {int(number) for number in numbers.split()}


def judge(server: str, crashes: int, found: dict) -> None:
    row = found[server] = {"acknowledged": 0, "lost": 0, "lost_s": 0.0, "gone": 0}
    session = connected(server)
    session.ask("CREATE TABLE numbers (n int PRIMARY KEY); SELECT 1")
    session.close()
    kept: set[int] = set()
    for _ in range(crashes):
        acknowledged = fill(server, max(kept, default=0))
        row["acknowledged"] += len(acknowledged)
        try:
            has = there(server)
        except Gone:
            row["lost"] += len(kept | set(acknowledged))
            row["gone"] = 1
            return
        lost = (kept | set(acknowledged)) - has
        row["lost"] += len(lost)
        if lost:
            first = min(acknowledged.get(number, 0) for number in lost)
            row["lost_s"] = max(row["lost_s"], round(max(acknowledged.values()) - first, 3))
        kept = has


found: dict = {}
threads = [threading.Thread(target=judge, args=(server, int(sys.argv[1]), found)) for server in sys.argv[2:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(found))
