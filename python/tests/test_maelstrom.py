"""Nodes of Maelstrom: their messages, over UDP on this machine."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from netloom import maelstrom
from netloom.history import History

#: A register that forgets every third write.
NODE = """
import json, sys
data, writes = {}, 0
for line in sys.stdin:
    message = json.loads(line)
    body, own = message["body"], message["dest"]
    answer = {"type": body["type"] + "_ok", "in_reply_to": body["msg_id"]}
    if body["type"] == "write":
        writes += 1
        if writes % 3:
            data[body["key"]] = body["value"]
    elif body["type"] == "read":
        if body["key"] in data:
            answer["value"] = data[body["key"]]
        else:
            answer = {"type": "error", "code": 20, "in_reply_to": body["msg_id"]}
    elif body["type"] == "cas":
        answer = {"type": "error", "code": 10, "text": "not here", "in_reply_to": body["msg_id"]}
    print(json.dumps({"src": own, "dest": message["src"], "body": answer}), flush=True)
"""


def test_a_node_is_called_and_its_operations_are_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node, path = tmp_path / "node.py", tmp_path / "history.jsonl"
    node.write_text(NODE)
    code = f"import sys; from netloom import maelstrom as m; m.PORT = 4019; sys.exit(m.serve(['127.0.0.1'], ['python3', {str(node)!r}], '', '127.0.0.1'))"
    monkeypatch.setattr(maelstrom, "PORT", 4019)
    server = subprocess.Popen([sys.executable, "-c", code])
    try:
        client = maelstrom.Client("c1", History(path, process="c1"))
        for _ in range(100):
            try:
                client.call("127.0.0.1", {"type": "read", "key": 0})
            except maelstrom.CallError as error:
                if error.code == maelstrom.NOT_FOUND:
                    break
                time.sleep(0.1)
        for number in range(1, 4):
            body = {"type": "write", "key": 0, "value": number}
            client.operate("127.0.0.1", "write", number, body, lambda _, number=number: number, 0)
        client.operate("127.0.0.1", "read", None, {"type": "read", "key": 0}, lambda answer: answer["value"], 0)
        client.operate("127.0.0.1", "read", None, {"type": "read", "key": 1}, lambda answer: answer["value"], 1)
        client.operate("127.0.0.1", "cas", [1, 2], {"type": "cas", "key": 0, "from": 1, "to": 2}, lambda _: [1, 2], 0)
    finally:
        server.terminate()
        server.wait()
    events = [json.loads(line) for line in path.read_text().splitlines()]
    ends = [(one["type"], one["f"], one["value"]) for one in events if one["type"] != "invoke"]
    assert ends[:3] == [("ok", "write", 1), ("ok", "write", 2), ("ok", "write", 3)]
    assert ends[3:6] == [("ok", "read", 2), ("ok", "read", None), ("fail", "cas", [1, 2])]


def test_services_are_stores() -> None:
    store: dict[object, object] = {}
    ask = maelstrom.serviced
    assert ask(store, {"type": "read", "key": "x"})["code"] == maelstrom.NOT_FOUND
    assert ask(store, {"type": "cas", "key": "x", "from": 0, "to": 1})["code"] == maelstrom.NOT_FOUND
    assert ask(store, {"type": "cas", "key": "x", "from": 0, "to": 1, "create_if_not_exists": True})["type"] == "cas_ok"
    assert ask(store, {"type": "cas", "key": "x", "from": 0, "to": 2})["code"] == maelstrom.PRECONDITION
    assert ask(store, {"type": "write", "key": "x", "value": [3]})["type"] == "write_ok"
    assert ask(store, {"type": "read", "key": "x"}) == {"type": "read_ok", "value": [3]}
    assert ask(store, {"type": "append", "key": "x"})["code"] == 10


def test_every_workload_says_its_checker() -> None:
    assert all("a checker is `" in (step.__doc__ or "") for step in maelstrom.WORKLOADS.values())
