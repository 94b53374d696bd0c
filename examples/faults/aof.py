"""Appends to a list of each Redis server, until it is gone, and says how much of what that acknowledged is there when it is back.

aof.py SERVER...    prints for each how many entries were acknowledged and how many are lost, and from how long before the end
"""

import json
import socket
import sys
import threading
import time

#: How long a server is given to answer, and to come back.
SILENCE, PATIENCE = 0.2, 5.0


def command(server: str, *words: str) -> int:
    with socket.create_connection((server, 6379), SILENCE) as one:
        return ask(one, one.makefile("rb"), *words)


def ask(connection, answers, *words: str) -> int:
    """The whole number with which Redis answers."""
    connection.sendall(" ".join(words).encode() + b"\r\n")
    answer = answers.readline()
    if not answer.startswith(b":"):
        raise OSError(answer)
    return int(answer[1:])


def fill(server: str) -> list[float]:
    """When each entry was acknowledged."""
    acknowledged = []
    connection = socket.create_connection((server, 6379), SILENCE)
    answers = connection.makefile("rb")
    try:
        while True:
            ask(connection, answers, "RPUSH", "list", str(len(acknowledged)))
            acknowledged.append(time.monotonic())
            time.sleep(0.01)
    except OSError:
        return acknowledged


def count(server: str) -> int:
    end = time.monotonic() + PATIENCE
    while True:
        try:
            return command(server, "LLEN", "list")
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def judge(server: str, found: dict) -> None:
    acknowledged = fill(server)
    there = count(server)
    lost = acknowledged[there:]
    seconds = lost[-1] - lost[0] if lost else 0
    found[server] = {"acknowledged": len(acknowledged), "lost": len(lost), "lost_s": round(seconds, 3)}


found: dict = {}
threads = [threading.Thread(target=judge, args=(server, found)) for server in sys.argv[1:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(found))
