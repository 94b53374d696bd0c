#!/usr/bin/env python3
"""A small Raft over UDP (Ongaro and Ousterhout 2014, figure 2), with a journal, without snapshots.

    raft.py n1 n2 n3      one member, whose own name is in NETLOOM_NODE

The leader proposes a command of its own every 20 ms. A member knows a digest of all that it has applied, and its leader
tells it its own: who has applied something else says so ("diverged"). RAFT_BUG in the environment makes one of
five mistakes, each of which others have made:

    elect       a member votes for candidates that lack entries which it has (5.4.1)
    truncate    a follower cuts its log behind the entries of each message, also of one that has been overtaken (5.3)
    vote        the vote is not in the journal: who restarts may vote twice in a term (5.1)
    term        neither the term nor the vote is in the journal
    commit      a leader commits entries of older terms by counting their copies (5.4.2)
"""

import contextlib
import json
import os
import select
import socket
import sys
import time
import zlib

PORT, JOURNAL = 7000, "/srv/journal"
HEARTBEAT, PROPOSE, PATIENCE = 0.05, 0.02, 0.2
BUG = os.environ.get("RAFT_BUG", "")


class Member:
    """The state of a member: figure 2 of the paper, with its names."""

    def __init__(self, name: str, peers: list[str]) -> None:
        self.name, self.peers = name, peers
        self.term, self.voted_for, self.votes = 0, None, set()
        self.log: list[list] = []
        self.commit, self.digests = 0, [0]
        self.role, self.has_diverged = "follower", False
        self.next: dict[str, int] = {}
        self.match: dict[str, int] = {}
        self.beat = self.propose = 0.0
        self.journal = os.open(JOURNAL, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        self.replay()
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind(("0.0.0.0", PORT))
        self.socket.setblocking(False)
        self.addresses = {peer: socket.gethostbyname(peer) for peer in peers}
        self.wait()

    # What survives a restart.

    def keep(self, **record: object) -> None:
        """Appends to the journal, in one write. A member answers only after that."""
        os.write(self.journal, json.dumps(record).encode() + b"\n")

    def replay(self) -> None:
        with open(JOURNAL) as lines:
            for record in map(json.loads, lines):
                if "term" in record:
                    self.term, self.voted_for = record["term"], record["vote"]
                else:
                    self.log[record["from"] :] = record["entries"]

    def enter(self, term: int, vote: str | None) -> None:
        """Enters a term, or votes in it."""
        if (term, vote) != (self.term, self.voted_for):
            self.term, self.voted_for = term, vote
            if BUG != "term":
                self.keep(term=term, vote=None if BUG == "vote" else vote)

    def store(self, start: int, entries: list[list]) -> None:
        """Lets the log go on with these behind so many."""
        self.log[start:] = entries
        self.keep(**{"from": start, "entries": entries})

    # The course of time.

    def wait(self) -> None:
        """Nothing is done before the next time-out of an election."""
        share = int.from_bytes(os.urandom(2), "big") / 65536
        self.deadline = time.monotonic() + PATIENCE * (1 + share)

    def run(self) -> None:
        while True:
            now = time.monotonic()
            if self.role == "leader":
                self.lead(now)
            elif now >= self.deadline:
                self.stand()
            wake = min(self.beat + HEARTBEAT, self.propose + PROPOSE) if self.role == "leader" else self.deadline
            if select.select([self.socket], [], [], max(wake - time.monotonic(), 0.0))[0]:
                # A datagram whose checksum is wrong wakes select, and is gone when it is read.
                with contextlib.suppress(BlockingIOError):
                    self.receive(json.loads(self.socket.recv(65_535)))
            while len(self.digests) <= self.commit:
                entry = self.log[len(self.digests) - 1]
                self.digests.append(zlib.crc32(json.dumps(entry).encode(), self.digests[-1]))

    def stand(self) -> None:
        self.enter(self.term + 1, self.name)
        self.role, self.votes = "candidate", {self.name}
        self.wait()
        for peer in self.peers:
            self.send(peer, kind="vote?", length=len(self.log), last=self.last_term(len(self.log)))

    def lead(self, now: float) -> None:
        if now >= self.propose + PROPOSE:
            self.propose = now
            self.store(len(self.log), [[self.term, f"{self.name}-{len(self.log) + 1}"]])
            self.replicate()
        elif now >= self.beat + HEARTBEAT:
            self.replicate()

    # Messages.

    def send(self, peer: str, **message: object) -> None:
        try:
            message = {"from": self.name, "term": self.term, **message}
            self.socket.sendto(json.dumps(message).encode(), (self.addresses[peer], PORT))
        except OSError:
            pass

    def last_term(self, length: int) -> int:
        return self.log[length - 1][0] if length else 0

    def replicate(self) -> None:
        self.beat = time.monotonic()
        for peer in self.peers:
            before = self.next[peer]
            entries = self.log[before : before + 20]
            applied = len(self.digests) - 1
            known = [applied, self.digests[applied]]
            last = self.last_term(before)
            self.send(peer, kind="append", before=before, last=last, entries=entries, commit=self.commit, known=known)

    def receive(self, message: dict) -> None:
        if message["term"] > self.term:
            self.enter(message["term"], None)
            if self.role == "leader":
                self.wait()
            self.role = "follower"
        peer, is_old = message["from"], message["term"] < self.term
        match message["kind"]:
            case "vote?":
                mine = [0, 0] if BUG == "elect" else [self.last_term(len(self.log)), len(self.log)]
                yes = not is_old and self.voted_for in (None, peer) and [message["last"], message["length"]] >= mine
                if yes:
                    self.enter(self.term, peer)
                    self.wait()
                self.send(peer, kind="vote", yes=yes)
            case "vote" if self.role == "candidate" and not is_old and message["yes"]:
                self.votes.add(peer)
                if 2 * len(self.votes) > len(self.peers) + 1:
                    print(f"became leader of term {self.term}", flush=True)
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
        before, entries = message["before"], message["entries"]
        if is_old:
            return self.send(peer, kind="appended", yes=False, length=len(self.log))
        self.role = "follower"
        self.wait()
        if before > len(self.log) or self.last_term(before) != message["last"]:
            return self.send(peer, kind="appended", yes=False, length=min(before, len(self.log)))
        if BUG == "truncate":
            self.store(before, entries)
        else:
            for number, entry in enumerate(entries, before):
                if number >= len(self.log) or self.log[number][0] != entry[0]:
                    self.store(number, entries[number - before :])
                    break
        length = before + len(entries)
        self.commit = max(self.commit, min(message["commit"], length))
        applied, digest = message["known"]
        if applied < len(self.digests) and self.digests[applied] != digest and not self.has_diverged:
            self.has_diverged = True
            print(f"diverged: up to entry {applied}, not the same was applied as by the leader", flush=True)
        return self.send(peer, kind="appended", yes=True, length=length)

    def appended(self, peer: str, message: dict) -> None:
        if not message["yes"]:
            self.next[peer] = max(min(self.next[peer] - 1, message["length"]), 0)
            return
        self.match[peer] = max(self.match[peer], message["length"])
        self.next[peer] = max(self.next[peer], self.match[peer])
        lengths = sorted([len(self.log), *self.match.values()])
        safe = lengths[(len(lengths) - 1) // 2]
        if safe > self.commit and (BUG == "commit" or self.last_term(safe) == self.term):
            self.commit = safe


if __name__ == "__main__":
    own = os.environ["NETLOOM_NODE"]
    Member(own, [name for name in sys.argv[1:] if name != own]).run()
