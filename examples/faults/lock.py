"""A lock of Redis, and a store that those who hold it write to.

lock.py store PORT [fenced]    takes numbered writes and prints their numbers; `fenced`: none whose number is below one that it has seen
lock.py work WAIT WAIT         gets the lock, writes to both stores after each wait (seconds), and gives the lock back
"""

import json
import socket
import sys
import time

LIFE_MS, REDIS = 2_000, 6379
STORES = {"trusting": 7001, "fenced": 7002}
#: Takes the lock, if nobody has it, and answers its number, which grows with every lock.
ACQUIRE = 'return redis.call("set",KEYS[1],ARGV[1],"NX","PX",ARGV[2]) and redis.call("incr","number")'
#: Gives the lock back only to whoever has it: the script of Redis's own documentation.
RELEASE = 'return redis.call("get",KEYS[1])==ARGV[1] and redis.call("del",KEYS[1]) or 0'


def ask(node: str, port: int, *words: str) -> str:
    """The first line of the answer, in the protocol of Redis, which the stores speak, too."""
    text = f"*{len(words)}\r\n" + "".join(f"${len(word)}\r\n{word}\r\n" for word in words)
    with socket.create_connection((node, port), 5) as connection:
        connection.sendall(text.encode())
        return connection.makefile("r").readline().strip()


def store(port: str, fenced: bool) -> None:
    newest = 0
    listener = socket.create_server(("", int(port)))
    while True:
        connection, _ = listener.accept()
        with connection, connection.makefile("r") as lines:
            number = int([lines.readline() for _ in range(3)][2])
            taken = number >= newest or not fenced
            newest = max(newest, number)
            if taken:
                print(number, end=" ", flush=True)
            connection.sendall(b"+taken\r\n" if taken else b"-refused\r\n")


def locked(name: str) -> int:
    """The number of the lock, once it is ours."""
    while not (answer := ask("redis", REDIS, "EVAL", ACQUIRE, "1", "lock", name, str(LIFE_MS))).startswith(":"):
        time.sleep(0.05)
    return int(answer[1:])


def work(*waits: str) -> None:
    name = socket.gethostname()
    number, since = locked(name), time.monotonic()
    written: dict = {kind: [] for kind in STORES}
    for wait in waits:
        time.sleep(float(wait))
        # A careful holder writes only while its own clock says that the lock is its.
        if (time.monotonic() - since) * 1000 < LIFE_MS:
            for kind, port in STORES.items():
                written[kind].append(ask("store", port, str(number))[1:])
    had = ask("redis", REDIS, "EVAL", RELEASE, "1", "lock", name) == ":1"
    print(json.dumps({"number": number, "had_it_to_the_end": int(had), **written}))


if sys.argv[1] == "store":
    store(sys.argv[2], "fenced" in sys.argv)
else:
    work(*sys.argv[2:])
