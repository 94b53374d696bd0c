"""A small Raft over UDP (Ongaro and Ousterhout 2014, figure 2), without snapshots and changes of its members.

    python3 raft.py NAME PEER...        one node; it prints what it applies
    RAFT_BUG=1 python3 raft.py ...      with a mistake that many have made

The leader proposes a command of its own every 10 ms, so no client is needed. The mistake: a follower cuts its log behind
the entries of each message, also of one that a later message has overtaken (section 5.3 says: only if an entry conflicts).
"""

import json
import os
import random
import select
import socket
import sys
import time

PORT = 7000
HEARTBEAT = 0.03
PROPOSE = 0.01


class Node:
    """The state of a node: figure 2 of the paper, with its names."""

    def __init__(self, name: str, peers: list[str]) -> None:
        self.name, self.peers = name, peers
        self.chance = random.Random(name)
        self.term, self.voted_for, self.votes = 0, None, set()
        self.log: list[tuple[int, str]] = []
        self.commit = self.applied = 0
        self.role = "follower"
        self.next: dict[str, int] = {}
        self.match: dict[str, int] = {}
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("0.0.0.0", PORT))
        self.socket.setblocking(False)
        self.beat = self.propose = 0.0
        self.wait()

    def wait(self) -> None:
        """Nothing is done before the next time-out of an election."""
        self.deadline = time.monotonic() + self.chance.uniform(0.15, 0.3)

    def send(self, peer: str, **message: object) -> None:
        try:
            self.socket.sendto(json.dumps({"from": self.name, "term": self.term, **message}).encode(), (peer, PORT))
        except OSError:
            pass

    def step_down(self, term: int) -> None:
        self.term, self.voted_for, self.role = term, None, "follower"

    def last_term(self, length: int) -> int:
        return self.log[length - 1][0] if length else 0

    def run(self) -> None:
        while True:
            now = time.monotonic()
            if self.role == "leader":
                self.lead(now)
            elif now >= self.deadline:
                self.stand()
            wake = min(self.beat + HEARTBEAT, self.propose + PROPOSE) if self.role == "leader" else self.deadline
            if select.select([self.socket], [], [], max(wake - time.monotonic(), 0.0))[0]:
                self.receive(json.loads(self.socket.recv(65_535)))
            while self.applied < self.commit:
                self.applied += 1
                print("apply", self.applied, self.log[self.applied - 1][1], flush=True)

    def stand(self) -> None:
        self.step_down(self.term + 1)
        self.role, self.voted_for, self.votes = "candidate", self.name, {self.name}
        self.wait()
        for peer in self.peers:
            self.send(peer, kind="vote?", length=len(self.log), last=self.last_term(len(self.log)))

    def lead(self, now: float) -> None:
        if now >= self.propose + PROPOSE:
            self.propose = now
            self.log.append((self.term, f"{self.name}-{self.term}-{len(self.log) + 1}"))
            self.replicate()
        elif now >= self.beat + HEARTBEAT:
            self.replicate()

    def replicate(self) -> None:
        self.beat = time.monotonic()
        for peer in self.peers:
            before = self.next[peer]
            entries = self.log[before : before + 20]
            self.send(
                peer, kind="append", before=before, last=self.last_term(before), entries=entries, commit=self.commit
            )

    def receive(self, message: dict) -> None:
        if message["term"] > self.term:
            self.step_down(message["term"])
        peer, is_old = message["from"], message["term"] < self.term
        match message["kind"]:
            case "vote?":
                mine = (self.last_term(len(self.log)), len(self.log))
                yes = not is_old and self.voted_for in (None, peer) and (message["last"], message["length"]) >= mine
                if yes:
                    self.voted_for = peer
                    self.wait()
                self.send(peer, kind="vote", yes=yes)
            case "vote" if self.role == "candidate" and not is_old and message["yes"]:
                self.votes.add(peer)
                if 2 * len(self.votes) > len(self.peers) + 1:
                    self.role = "leader"
                    self.next = dict.fromkeys(self.peers, len(self.log))
                    self.match = dict.fromkeys(self.peers, 0)
                    self.replicate()
            case "append":
                self.append(peer, message, is_old)
            case "appended" if self.role == "leader" and not is_old:
                self.appended(peer, message)
            case _:
                pass

    def append(self, peer: str, message: dict, is_old: bool) -> None:
        before, entries = message["before"], [tuple(entry) for entry in message["entries"]]
        if is_old:
            return self.send(peer, kind="appended", yes=False, length=len(self.log))
        self.role = "follower"
        self.wait()
        if before > len(self.log) or self.last_term(before) != message["last"]:
            return self.send(peer, kind="appended", yes=False, length=min(before, len(self.log)))
        if os.environ.get("RAFT_BUG"):
            self.log[before:] = entries
        else:
            for number, entry in enumerate(entries, before):
                if number >= len(self.log) or self.log[number][0] != entry[0]:
                    self.log[number:] = entries[number - before :]
                    break
        length = before + len(entries)
        self.commit = max(self.commit, min(message["commit"], length))
        return self.send(peer, kind="appended", yes=True, length=length)

    def appended(self, peer: str, message: dict) -> None:
        if not message["yes"]:
            self.next[peer] = max(min(self.next[peer] - 1, message["length"]), 0)
            return
        self.match[peer] = max(self.match[peer], message["length"])
        self.next[peer] = self.match[peer]
        lengths = sorted([len(self.log), *self.match.values()])
        safe = lengths[(len(lengths) - 1) // 2]
        if safe > self.commit and self.last_term(safe) == self.term:
            self.commit = safe


if __name__ == "__main__":
    Node(sys.argv[1], sys.argv[2:]).run()
