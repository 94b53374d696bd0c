#!/usr/bin/env python3
"""Adds numbers to the list of replica.py for 14 s, and says in the end which acknowledged ones are lost.

ask.py n1 n2 n3
"""

import json
import socket
import sys
import time

API, ADDING, PATIENCE, AGREEING = 7000, 14.0, 0.3, 5.0


class Client:
    def __init__(self) -> None:
        self.number = 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def call(self, name: str, request: dict) -> dict | None:
        """Asks a replica; None if nobody knows what became of it."""
        self.number += 1
        self.socket.sendto(json.dumps({"id": self.number, **request}).encode(), (name, API))
        until = time.monotonic() + PATIENCE
        while (rest := until - time.monotonic()) > 0:
            self.socket.settimeout(rest)
            try:
                answer = json.loads(self.socket.recv(65536))
            except OSError:
                continue
            if answer["id"] == self.number:
                return answer
        return None


def judge(lists: dict[str, list[int]], acknowledged: list[int]) -> list[str]:
    """What is wrong with what the replicas have applied, if all of them have caught up."""
    longest = max(lists.values(), key=len)
    wrong = []
    for own in lists.values():
        if own != longest[: len(own)]:
            place = next(i for i, item in enumerate(own) if item != longest[i])
            wrong.append(f"replicas have applied different items at place {place}: {own[place]} and {longest[place]}")
    lost = [item for item in acknowledged if item not in set(longest)]
    if lost:
        wrong.append(f"{len(lost)} of {len(acknowledged)} items acknowledged, but lost: {lost[:5]}")
    return wrong


def main(names: list[str]) -> int:
    client, acknowledged, item, begun = Client(), [], 0, time.monotonic()
    while time.monotonic() - begun < ADDING:
        name = names[item % len(names)]
        answer = client.call(name, {"add": item})
        if answer is not None and answer["ok"]:
            acknowledged.append(item)
        item += 1
        time.sleep(0.02)
    until, lists = time.monotonic() + AGREEING, {}
    while time.monotonic() < until:
        time.sleep(0.5)
        answers = {name: client.call(name, {}) for name in names}
        lists.update({name: answer["items"] for name, answer in answers.items() if answer is not None})
        if len(lists) == len(names) and len({tuple(own) for own in lists.values()}) == 1:
            print(f"all agree on {len(lists[names[0]])} items, {len(acknowledged)} were acknowledged")
            break
    wrong = judge(lists, acknowledged) if lists else ["nobody answers"]
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
