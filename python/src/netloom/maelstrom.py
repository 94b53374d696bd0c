"""Nodes of Maelstrom in labs: programs that take and give messages as JSON lines on standard input and output.

    python3 -m netloom.maelstrom serve n1,n2,n3 -- ./server       in each of these nodes: runs the program, and carries its messages over UDP
    python3 -m netloom.maelstrom client n1,n2,n3 lin-kv 20        in another node: calls them for 20 s, and writes /srv/history.jsonl

The messages are those of https://github.com/jepsen-io/maelstrom (doc/protocol.md): objects with `src`, `dest` and `body`. Unlike there, they cross
the network of the lab, whose links delay and lose them. Messages to the services `lin-kv`, `seq-kv` and `lww-kv` go to the client, which has one
linearizable store for each.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING or __package__:
    from .history import History
else:
    from history import History

PORT = 4010
#: The services that nodes can call.
SERVICES = ("lin-kv", "seq-kv", "lww-kv")
#: How long a call may take, in seconds.
TIMEOUT = 1.0
#: The errors after which a call took effect for certain not (doc/protocol.md).
DEFINITE = {1, 10, 11, 12, 14, 20, 21, 22, 30}
NOT_FOUND, EXISTS, PRECONDITION = 20, 21, 22
#: The longest datagram.
LONGEST = 65_507

Message = dict[str, Any]


def serve(names: list[str], command: list[str], services: str, own: str) -> int:
    """Runs a program as a node, until it ends; returns its exit code."""
    program = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert program.stdin and program.stdout
    plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    #: Where clients are that have called.
    clients: dict[str, Any] = {}

    def give(message: Message) -> None:
        try:
            program.stdin.write(json.dumps(message).encode() + b"\n")  # type: ignore[union-attr]
            program.stdin.flush()  # type: ignore[union-attr]
        except BrokenPipeError:
            pass  # It has ended, and so do we.

    def take(line: bytes) -> None:
        try:
            message = json.loads(line)
            to = message["dest"]
        except (ValueError, KeyError, TypeError):
            print(f"no message: {line[:200]!r}", file=sys.stderr, flush=True)
            return
        if to == "netloom":
            # The answer to `init`: from now on it can be called.
            plug.bind(("", PORT))
            threading.Thread(target=listen, daemon=True).start()
        elif len(line) > LONGEST:
            print(f"a message of {len(line)} bytes to {to} is too long, and dropped", file=sys.stderr, flush=True)
        elif to in names:
            send(line, (to, PORT))
        elif to in SERVICES:
            send(line, (services, PORT))
        elif to in clients:
            send(line, clients[to])

    def send(line: bytes, place: Any) -> None:
        try:
            plug.sendto(line, place)
        except OSError as error:
            print(f"to {place}: {error}", file=sys.stderr, flush=True)

    def listen() -> None:
        while True:
            text, place = plug.recvfrom(65_536)
            message = json.loads(text)
            if message["src"] not in names:
                clients[message["src"]] = place
            give(message)

    body = {"type": "init", "msg_id": 0, "node_id": own, "node_ids": names}
    give({"src": "netloom", "dest": own, "body": body})
    for line in program.stdout:
        take(line.strip())
    return program.wait()


class CallError(Exception):
    """A call failed; `code` is Maelstrom's, or 0 if there was no answer."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


class Client:
    """A client of the nodes: one call at a time."""

    def __init__(self, name: str, history: History) -> None:
        self.name, self.history, self.number = name, history, 0
        self.plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def call(self, node: str, body: Message) -> Message:
        """Calls a node, and returns the body of its answer."""
        self.number += 1
        message = {"src": self.name, "dest": node, "body": {**body, "msg_id": self.number}}
        end = time.monotonic() + TIMEOUT
        try:
            self.plug.sendto(json.dumps(message).encode(), (node, PORT))
            while (left := end - time.monotonic()) > 0:
                self.plug.settimeout(left)
                answer = json.loads(self.plug.recv(65_536))["body"]
                if answer.get("in_reply_to") != self.number:
                    continue  # It came too late.
                if answer["type"] == "error":
                    raise CallError(answer.get("code", 0), answer.get("text", ""))
                return answer
        except OSError as error:
            raise CallError(0, str(error)) from None
        raise CallError(0, "timeout")

    def operate(
        self, node: str, f: str, value: Any, body: Message, result: Callable[[Message], Any], key: Any = None
    ) -> None:
        """Calls a node, and notes that as an operation."""
        self.history.record("invoke", f, key=key, value=value)
        try:
            found = result(self.call(node, body))
        except CallError as error:
            if f == "read" and error.code == NOT_FOUND:
                self.history.record("ok", f, key=key, value=None)
                return
            kind = "fail" if error.code in DEFINITE else "info"
            self.history.record(kind, f, key=key, value=value, error=str(error) or f"code {error.code}")
            return
        self.history.record("ok", f, key=key, value=found)


#: What a workload does next with a client and a node; the number is that of the operation.
Step = Callable[[Client, str, int], None]


def lin_kv(client: Client, node: str, number: int) -> None:
    """Registers with compare-and-set: a checker is `linearizable`."""
    # Keys are few at a time and have few operations, as a checker likes it.
    key, kind = number // 60 * 3 + random.randrange(3), random.randrange(3)
    if kind == 0:
        client.operate(node, "read", None, {"type": "read", "key": key}, lambda answer: answer["value"], key)
    elif kind == 1:
        client.operate(node, "write", number, {"type": "write", "key": key, "value": number}, lambda _: number, key)
    else:
        pair = [number - random.randrange(1, 6), number]
        body = {"type": "cas", "key": key, "from": pair[0], "to": pair[1]}
        client.operate(node, "cas", pair, body, lambda _: pair, key)


def broadcast(client: Client, node: str, number: int) -> None:
    """Numbers that all nodes get to know: a checker is `set-full`."""
    if number == 1:
        others = client.nodes  # type: ignore[attr-defined]
        topology = {one: [other for other in others if other != one] for one in others}
        for one in others:
            try:
                client.call(one, {"type": "topology", "topology": topology})
            except CallError as error:
                print(f"topology to {one}: {error}", file=sys.stderr, flush=True)
    if number % 5:
        client.operate(node, "add", number, {"type": "broadcast", "message": number}, lambda _: number)
    else:
        client.operate(node, "read", None, {"type": "read"}, lambda answer: answer["messages"])


def g_set(client: Client, node: str, number: int) -> None:
    """A set that grows: a checker is `set-full`."""
    if number % 5:
        client.operate(node, "add", number, {"type": "add", "element": number}, lambda _: number)
    else:
        client.operate(node, "read", None, {"type": "read"}, lambda answer: answer["value"])


def unique_ids(client: Client, node: str, number: int) -> None:
    """Identifiers: a checker is `ids`."""
    client.operate(node, "generate", None, {"type": "generate"}, lambda answer: answer["id"])


def txn_list_append(client: Client, node: str, number: int) -> None:
    """Transactions on lists: a checker is `append`."""
    keys = [number // 40 * 3 + random.randrange(3) for _ in range(random.randrange(1, 4))]
    txn = [
        ["r", key, None] if random.random() < 0.5 else ["append", key, number * 10 + at] for at, key in enumerate(keys)
    ]
    client.operate(node, "txn", txn, {"type": "txn", "txn": txn}, lambda answer: answer["txn"])


WORKLOADS: dict[str, Step] = {
    "lin-kv": lin_kv,
    "broadcast": broadcast,
    "g-set": g_set,
    "unique-ids": unique_ids,
    "txn-list-append": txn_list_append,
}
#: What is read from every node in the end.
FINAL = {"broadcast": "messages", "g-set": "value"}


def call_all(names: list[str], workload: str, lasts: float, path: str, width: int, rest: float) -> None:
    """Calls nodes for a while, by several clients at once; then rests, and reads from all nodes what the workload has to read in the end."""
    threading.Thread(target=services, daemon=True).start()
    numbers, lock, end = iter(range(1, sys.maxsize)), threading.Lock(), time.monotonic() + lasts

    def work(place: int) -> None:
        client = Client(f"c{place + 1}", History(path, process=f"c{place + 1}"))
        client.nodes = names  # type: ignore[attr-defined]
        for number in taken():
            WORKLOADS[workload](client, random.choice(names), number)
            time.sleep(random.random() * 0.1)

    def taken() -> Iterator[int]:
        while time.monotonic() < end:
            with lock:
                number = next(numbers)
            yield number

    threads = [threading.Thread(target=work, args=(place,)) for place in range(width)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if workload in FINAL:
        time.sleep(rest)
        client = Client("last", History(path, process="last"))
        for name in names:
            client.operate(name, "read", None, {"type": "read"}, lambda answer: answer[FINAL[workload]])


def services() -> None:
    """Answers calls of the services."""
    stores: dict[str, dict[Any, Any]] = {name: {} for name in SERVICES}
    plug = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    plug.bind(("", PORT))
    while True:
        text, place = plug.recvfrom(65_536)
        message = json.loads(text)
        store = stores.get(message["dest"])
        if store is None:
            continue
        body = serviced(store, message["body"])
        reply = {
            "src": message["dest"],
            "dest": message["src"],
            "body": {**body, "in_reply_to": message["body"]["msg_id"]},
        }
        plug.sendto(json.dumps(reply).encode(), place)


def serviced(store: dict[Any, Any], body: Message) -> Message:
    """The answer of a store."""
    key, kind = json.dumps(body.get("key")), body["type"]
    if kind == "read":
        return {"type": "read_ok", "value": store[key]} if key in store else error(NOT_FOUND, "there is no such key")
    if kind == "write":
        store[key] = body["value"]
        return {"type": "write_ok"}
    if kind != "cas":
        return error(10, f"this service does not know {kind}")
    if key not in store and not body.get("create_if_not_exists"):
        return error(NOT_FOUND, "there is no such key")
    if store.get(key, body["from"]) != body["from"]:
        return error(PRECONDITION, f"the value is {store[key]!r}")
    store[key] = body["to"]
    return {"type": "cas_ok"}


def error(code: int, text: str) -> Message:
    """An answer that is an error."""
    return {"type": "error", "code": code, "text": text}


def main(arguments: list[str] | None = None) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="netloom.maelstrom", description="Nodes of Maelstrom in labs.")
    commands = parser.add_subparsers(dest="what", required=True)
    own = commands.add_parser("serve", help="run a program as a node")
    own.add_argument("nodes", type=lambda text: text.split(","), help="the names of all nodes: n1,n2,n3")
    own.add_argument("command", nargs="+", help="the program and its arguments, behind --")
    own.add_argument("--services", default="client", help="the node that has the services; default: client")
    own.add_argument(
        "--name", default=os.environ.get("NETLOOM_NODE", "n1"), help="the own name; default: that of the lab's node"
    )
    caller = commands.add_parser("client", help="call nodes, and write a history")
    caller.add_argument("nodes", type=lambda text: text.split(","), help="the names of all nodes: n1,n2,n3")
    caller.add_argument("workload", choices=list(WORKLOADS))
    caller.add_argument("seconds", type=float, help="for how long")
    caller.add_argument("--history", default="/srv/history.jsonl", help="the file for operations")
    caller.add_argument("--clients", type=int, default=4, help="how many call at once")
    caller.add_argument("--rest", type=float, default=5.0, help="seconds before nodes are read in the end")
    given = parser.parse_args(arguments)
    if given.what == "serve":
        return serve(given.nodes, given.command, given.services, given.name)
    call_all(given.nodes, given.workload, given.seconds, given.history, given.clients, given.rest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
