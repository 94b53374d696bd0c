"""Puts numbered keys into a store of etcd, and says how many of those that were acknowledged are there at the end.

puts.py SECONDS MEMBER[,MEMBER...]...    for each store, asking its members in turn

It speaks the JSON form of etcd's protocol. A put without an answer counts as not acknowledged.
"""

import base64
import http.client
import json
import sys
import threading
import time

SILENCE, PATIENCE = 0.5, 8.0


def text(key: str) -> str:
    return base64.b64encode(key.encode()).decode()


def call(member: str, what: str, **body) -> dict:
    connection = http.client.HTTPConnection(member, 2379, timeout=SILENCE)
    try:
        connection.request("POST", f"/v3/kv/{what}", json.dumps(body))
        answer = connection.getresponse()
        if answer.status != 200:
            raise OSError(answer.reason)
        return json.loads(answer.read())
    except http.client.HTTPException as error:
        raise OSError from error
    finally:
        connection.close()


def put(members: list[str], seconds: float) -> set[str]:
    """The keys that were acknowledged."""
    acknowledged, number, end = set(), 0, time.monotonic() + seconds
    while time.monotonic() < end:
        number += 1
        key = f"k{number:06}"
        try:
            call(members[number % len(members)], "put", key=text(key), value=text("x" * 100))
            acknowledged.add(key)
        except OSError:
            pass
        time.sleep(0.02)
    return acknowledged


def keys(member: str) -> set[str]:
    """All keys that a member has, once it can ask a majority."""
    end = time.monotonic() + PATIENCE
    while True:
        try:
            found = call(member, "range", key=text("k"), range_end=text("l"), keys_only=True).get("kvs", [])
            return {base64.b64decode(one["key"]).decode() for one in found}
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.1)


def judge(store: str, seconds: float, found: dict) -> None:
    members = store.split(",")
    acknowledged = put(members, seconds)
    lost = {member: len(acknowledged - keys(member)) for member in members}
    found[members[0]] = {"acknowledged": len(acknowledged), "lost": lost}


found: dict = {}
threads = [threading.Thread(target=judge, args=(store, float(sys.argv[1]), found)) for store in sys.argv[2:]]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(found))
