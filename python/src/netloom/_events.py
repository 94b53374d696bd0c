"""The events of a lab over several machines: those of all parts on one connection."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ._errors import NetloomError

#: How long a call waits for events, in seconds.
WAIT = 0.5
#: How often counters are asked for at most, in nanoseconds of wall time: they come from all machines.
LEAST_NS = 100_000_000
#: What can be subscribed to. Other events are of one machine's instants.
KINDS = ("lab", "output", "stats")


class Parts(Protocol):
    """The parts of a lab."""

    def call(self, machine: Any, method: str, *arguments: Any) -> Any: ...


class Events:
    """A subscription, until it is ended."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], tag: Mapping[str, Any]) -> None:
        #: What each event has: the number of the request, if it had one.
        self._send, self._tag = send, tag
        self._is_over = threading.Event()

    def end(self) -> None:
        """Sends nothing more."""
        self._is_over.set()

    def follow(self, whole: Parts, machines: list[Any], request: Mapping[str, Any]) -> Mapping[str, Any]:
        """Passes on the events of these machines, which say whose they are; the reply, which is a refusal if one of them refuses."""
        started: list[tuple[Any, int]] = []
        reply: Mapping[str, Any] = {"reply": "done"}
        for machine in machines:
            reply = dict(whole.call(machine, "subscribe", request))
            if reply["reply"] == "refused":
                break
            started.append((machine, reply.pop("number")))
        for machine, number in started:
            if reply["reply"] == "refused":
                whole.call(machine, "program", "end", number)
            else:
                threading.Thread(target=self._pass_on, args=(whole, machine, number), daemon=True).start()
        return reply

    def _pass_on(self, whole: Parts, machine: Any, number: int) -> None:
        try:
            while not self._is_over.is_set():
                found = whole.call(machine, "program", "drain", number, WAIT)
                for line in found["lines"]:
                    self._say({**json.loads(line), "machine": machine.part.machine})
                if found["is_over"]:
                    return
            whole.call(machine, "program", "end", number)
        except NetloomError:
            # The lab goes on without this machine, or ends: whoever looks after it tells.
            return

    def sample(self, every_ns: int, stats: Callable[[], Mapping[str, Any]]) -> None:
        """Sends the counters of the whole lab now, and then every so often."""

        def go() -> None:
            due = time.monotonic()
            while not self._is_over.wait(max(0.0, due - time.monotonic())):
                try:
                    self._say(
                        {
                            **{key: value for key, value in stats().items() if key != "reply"},
                            "event": "stats",
                            "lost": 0,
                        }
                    )
                except NetloomError:
                    return
                due = max(due + max(every_ns, LEAST_NS) / 1e9, time.monotonic())

        threading.Thread(target=go, daemon=True).start()

    def _say(self, event: Mapping[str, Any]) -> None:
        if not self._is_over.is_set():
            self._send({**self._tag, **event})
