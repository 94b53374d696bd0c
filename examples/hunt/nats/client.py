#!/usr/bin/env python3
"""Publishes to a stream of NATS JetStream with three replicas, and asks in the end for all that was acknowledged.

client.py n1 n2 n3
"""

import json
import socket
import sys
import time

PORT, STREAM, SUBJECT = 4222, "s", "numbers"
PUBLISHING, PATIENCE, PAUSE, SETTLING = 14.0, 1.0, 0.03, 6.0


class Connection:
    """A connection to a server: text lines, see docs.nats.io/reference/reference-protocols/nats-protocol."""

    def __init__(self, server: str) -> None:
        self.socket = socket.create_connection((server, PORT), timeout=PATIENCE)
        self.file = self.socket.makefile("rb")
        self.number = 0
        self.file.readline()
        options = {"verbose": False, "pedantic": False, "headers": True, "no_responders": True}
        self.socket.sendall(f"CONNECT {json.dumps(options)}\r\nSUB i.* 1\r\n".encode())

    def ask(self, subject: str, body: bytes) -> dict:
        """The answer to a request; an OSError if nobody knows what became of it."""
        self.number += 1
        self.socket.sendall(f"PUB {subject} i.{self.number} {len(body)}\r\n".encode() + body + b"\r\n")
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            line = self.file.readline()
            if not line:
                raise OSError("closed")
            words = line.decode().split()
            if words[:1] == ["PING"]:
                self.socket.sendall(b"PONG\r\n")
            elif words[:1] in (["MSG"], ["HMSG"]):
                text = self.file.read(int(words[-1]) + 2)
                if words[1] == f"i.{self.number}":
                    if words[0] == "HMSG":
                        raise OSError("nobody serves this subject")
                    return json.loads(text)
        raise OSError("no answer")


class Client:
    """Asks one server after the other until one answers."""

    def __init__(self, servers: list[str]) -> None:
        self.servers, self.connection = servers, None

    def ask(self, subject: str, body: bytes) -> dict | None:
        try:
            if self.connection is None:
                self.connection = Connection(self.servers[0])
            return self.connection.ask(subject, body)
        except (OSError, ValueError):
            self.connection = None
            self.servers = self.servers[1:] + self.servers[:1]
            return None


def until(seconds: float) -> float:
    return time.monotonic() + seconds


def create(client: Client) -> bool:
    stream = {"name": STREAM, "subjects": [SUBJECT], "num_replicas": 3, "storage": "file"}
    end = until(8)
    while time.monotonic() < end:
        answer = client.ask(f"$JS.API.STREAM.CREATE.{STREAM}", json.dumps(stream).encode())
        if answer is not None and "error" not in answer:
            return True
        time.sleep(0.2)
    return False


def publish(client: Client) -> int:
    """How many messages were acknowledged."""
    acknowledged, number, end = 0, 0, until(PUBLISHING)
    while time.monotonic() < end:
        number += 1
        answer = client.ask(SUBJECT, str(number).encode())
        if answer is not None and answer.get("stream") == STREAM and "error" not in answer:
            acknowledged += 1
        time.sleep(PAUSE)
    return acknowledged


def main(servers: list[str]) -> None:
    client = Client(servers)
    if not create(client):
        sys.exit("no stream could be made")
    acknowledged = publish(client)
    end, missing = until(SETTLING), "nobody answers"
    while time.monotonic() < end:
        answer = client.ask(f"$JS.API.STREAM.INFO.{STREAM}", b"")
        if answer is None:
            missing = "nobody answers"
        elif "error" in answer and answer["error"].get("code") == 404:
            missing = f"the stream: {answer['error'].get('description')}"
        elif "error" in answer:
            # Without a leader a server knows nothing of the stream: that says nothing about what is lost.
            missing = f"no answer: {answer['error'].get('description')}"
        else:
            there = answer["state"]["messages"]
            if there >= acknowledged:
                print(f"all {acknowledged} acknowledged messages are there")
                return
            missing = f"{acknowledged - there} of {acknowledged} acknowledged messages are lost"
        time.sleep(0.5)
    print(f"missing: {missing}")


if __name__ == "__main__":
    main(sys.argv[1:])
