#!/usr/bin/env python3
"""A replicated set with a mistake: a leader acknowledges what it has not told a majority.

    replicas.py serve n1 n2 n3    a replica, whose own name is in NETLOOM_NODE
    replicas.py ask n1 n2 n3      adds numbers until 8 s, and asks in the end whether all that were acknowledged are there
"""

import json
import os
import socket
import sys
import time

PORT, HEARTBEAT, PATIENCE = 7000, 0.1, 0.3


class Replica:
    def __init__(self, names: list[str]) -> None:
        self.name, self.others = os.environ["NETLOOM_NODE"], [n for n in names if n != os.environ["NETLOOM_NODE"]]
        self.patience = PATIENCE * (1 + 0.5 * names.index(self.name))
        self.term, self.leader, self.items, self.heard = 0, "", set(), time.monotonic()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("", PORT))
        self.socket.settimeout(HEARTBEAT / 2)

    def serve(self) -> None:
        beat = 0.0
        while True:
            try:
                text, sender = self.socket.recvfrom(65536)
                self.take(json.loads(text), sender)
            except TimeoutError:
                pass
            now = time.monotonic()
            if self.leader != self.name and now - self.heard > self.patience:
                self.term, self.leader = self.term + 1, self.name
                print(f"became leader of term {self.term}", flush=True)
            if self.leader == self.name and now - beat >= HEARTBEAT:
                beat = now
                self.tell()

    def take(self, message: dict, sender: tuple) -> None:
        if message["kind"] == "state":
            if (message["term"], message["leader"]) >= (self.term, self.leader):
                self.term, self.leader = message["term"], message["leader"]
                self.items, self.heard = set(message["items"]), time.monotonic()
        elif self.leader == self.name:
            if message["kind"] == "add":
                self.items.add(message["item"])
                self.tell()  # The mistake: whether anybody hears it does not matter.
            self.socket.sendto(json.dumps({"id": message["id"], "items": sorted(self.items)}).encode(), sender)

    def tell(self) -> None:
        state = {"kind": "state", "term": self.term, "leader": self.leader, "items": sorted(self.items)}
        for other in self.others:
            self.socket.sendto(json.dumps(state).encode(), (other, PORT))


def ask(names: list[str]) -> int:
    begun, number, acknowledged = time.monotonic(), 0, set()
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(0.05)

    def call(name: str, request: dict) -> list | None:
        nonlocal number
        number += 1
        client.sendto(json.dumps({"id": number, **request}).encode(), (name, PORT))
        try:
            answer = json.loads(client.recv(65536))
            return answer["items"] if answer["id"] == number else None
        except TimeoutError:
            return None

    for item in range(1000):
        if time.monotonic() - begun > 8:
            break
        if any(call(name, {"kind": "add", "item": item}) is not None for name in names):
            acknowledged.add(item)
        time.sleep(0.05)
    time.sleep(max(0, begun + 10 - time.monotonic()))
    there = next((items for items in (call(name, {"kind": "get"}) for name in names * 3) if items is not None), None)
    if there is None:
        sys.exit("no leader answers")
    lost = sorted(acknowledged - set(there))
    print(f"{len(acknowledged)} acknowledged, {len(lost)} of them lost")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(ask(sys.argv[2:]) if sys.argv[1] == "ask" else Replica(sys.argv[2:]).serve())
