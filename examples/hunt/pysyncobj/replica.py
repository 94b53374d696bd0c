#!/usr/bin/env python3
"""A replica of a list, by PySyncObj, with its own name in NETLOOM_NODE. It answers requests by UDP.

replica.py n1 n2 n3
"""

import json
import os
import socket
import sys

from pysyncobj import FAIL_REASON, SyncObj, SyncObjConf, replicated

API, RAFT = 7000, 4321


class Replica(SyncObj):
    def __init__(self, own: str, others: list[str]) -> None:
        conf = SyncObjConf(journalFile="/srv/data/journal", dynamicMembershipChange=False, appendEntriesUseBatch=True)
        self.items: list[int] = []
        super().__init__(f"{own}:{RAFT}", [f"{other}:{RAFT}" for other in others], conf)

    @replicated
    def add(self, item: int) -> None:
        self.items.append(item)


def serve(names: list[str]) -> None:
    own = os.environ["NETLOOM_NODE"]
    replica = Replica(own, [name for name in names if name != own])
    api = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    api.bind(("", API))
    while True:
        text, sender = api.recvfrom(65536)
        request = json.loads(text)

        def answer(_: object, error: object, request: dict = request, sender: tuple = sender) -> None:
            ok = error == FAIL_REASON.SUCCESS
            api.sendto(json.dumps({"id": request["id"], "ok": ok}).encode(), sender)

        if "add" in request:
            replica.add(request["add"], callback=answer)
        else:
            answered = {"id": request["id"], "ok": True, "items": list(replica.items)}
            api.sendto(json.dumps(answered).encode(), sender)


if __name__ == "__main__":
    serve(sys.argv[1:])
