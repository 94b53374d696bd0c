"""A ledger in SQLite: each commit writes one number into all accounts, which lie on different pages, and adds a line with it.

ledger.py serve JOURNAL SYNCHRONOUS    commits a number that it gets, and then acknowledges it
ledger.py ask CRASHES NODE...          commits numbers until a node crashes, and looks at what it has when it is back: how many commits
                                       are lost, and after how many crashes the file was not whole or had half of a transaction
"""

import glob
import json
import os
import socket
import sqlite3
import sys
import threading
import time

FILE, PORT, ACCOUNTS, SIZE = "/data/ledger", 7000, 20, 3_000
SILENCE, PATIENCE = 0.2, 10.0


def opened(journal: str, synchronous: str) -> sqlite3.Connection:
    database = sqlite3.connect(FILE, isolation_level=None)
    database.execute(f"PRAGMA journal_mode={journal}")
    database.execute(f"PRAGMA synchronous={synchronous}")
    database.execute("CREATE TABLE IF NOT EXISTS accounts (id INTEGER PRIMARY KEY, number INTEGER, filling TEXT)")
    database.execute("CREATE TABLE IF NOT EXISTS lines (number INTEGER PRIMARY KEY)")
    if database.execute("SELECT count(*) FROM accounts").fetchone()[0] == 0:
        database.execute("BEGIN")
        database.executemany("INSERT INTO accounts VALUES (?, 0, ?)", ((id, "x" * SIZE) for id in range(ACCOUNTS)))
        database.execute("COMMIT")
        # What is lost from here on are commits.
        os.sync()
    return database


def commit(database: sqlite3.Connection, number: int) -> None:
    database.execute("BEGIN")
    database.execute("UPDATE accounts SET number = ?", (number,))
    database.execute("INSERT INTO lines VALUES (?)", (number,))
    database.execute("COMMIT")


def state(database: sqlite3.Connection) -> dict:
    """The newest number, whether SQLite finds the file whole, and whether some accounts lack that number."""
    whole = database.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    newest, count = database.execute("SELECT coalesce(max(number), 0), count(*) FROM lines").fetchone()
    numbers = [number for (number,) in database.execute("SELECT DISTINCT number FROM accounts")]
    return {"newest": newest, "whole": whole and count == newest, "halves": numbers != [newest]}


def answer(database: sqlite3.Connection, line: str) -> dict:
    if line == "state\n":
        return state(database)
    commit(database, int(line))
    return {}


def serve(journal: str, synchronous: str) -> None:
    """Commits until the machine is gone. A file that SQLite cannot read is told once, and gives way to another one."""
    listener, database = socket.create_server(("", PORT)), None
    while True:
        client, _ = listener.accept()
        with client, client.makefile("r") as lines:
            for line in lines:
                try:
                    database = database or opened(journal, synchronous)
                    told = answer(database, line)
                except sqlite3.DatabaseError as error:
                    print(error, flush=True)
                    told, database = {"newest": 0, "whole": False, "halves": False}, None
                    for file in glob.glob(FILE + "*"):
                        os.unlink(file)
                client.sendall(json.dumps(told).encode() + b"\n")


def connected(node: str) -> socket.socket:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return socket.create_connection((node, PORT), SILENCE)
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def fill(node: str, number: int) -> int:
    """The last number that was acknowledged."""
    try:
        with connected(node) as connection, connection.makefile("r") as answers:
            while True:
                connection.sendall(b"%d\n" % (number + 1))
                if answers.readline() != "{}\n":
                    return number
                number += 1
                time.sleep(0.01)
    except OSError:
        return number


def judge(crashes: int, node: str, found: dict) -> None:
    lost, damaged, number, committed = [], 0, 0, 0
    for _ in range(crashes):
        acknowledged = fill(node, number)
        with connected(node) as connection, connection.makefile("r") as answers:
            connection.sendall(b"state\n")
            now = json.loads(answers.readline())
        committed += acknowledged - number
        # One that was not acknowledged may be there.
        lost.append(max(acknowledged - now["newest"], 0))
        damaged += not now["whole"] or now["halves"]
        number = now["newest"]
    found[node] = {"acknowledged": committed, "lost": sum(lost), "lost_at_once": max(lost), "damaged": damaged}


if sys.argv[1] == "serve":
    serve(*sys.argv[2:])
else:
    found: dict = {}
    threads = [threading.Thread(target=judge, args=(int(sys.argv[2]), node, found)) for node in sys.argv[3:]]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(json.dumps(found))
