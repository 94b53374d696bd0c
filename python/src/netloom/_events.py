"""The events of a lab over several machines: those of all parts on one connection."""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from ._errors import NetloomError

#: How long a call waits for events, in seconds.
WAIT = 0.5
#: How often counters are asked for at most, in nanoseconds of wall time: they come from all machines.
LEAST_NS = 100_000_000
#: What can be subscribed to in virtual time, where other events would have time wait at an instant on one machine alone; and in real time.
KINDS = ("lab", "output", "stats")
IN_REAL_TIME = (*KINDS, "packets", "tcp")


class Parts(Protocol):
    """The parts of a lab."""

    def call(self, machine: Any, method: str, *arguments: Any) -> Any: ...


class Events:
    """A subscription, until it is ended."""

    def __init__(self, send: Callable[[Mapping[str, Any]], None], tag: Mapping[str, Any]) -> None:
        #: What each event has: the number of the request, if it had one.
        self._send, self._tag = send, tag
        self._is_over, self._has_begun = threading.Event(), threading.Event()

    def begin(self) -> None:
        """Sends events from now on: the reply comes before them."""
        self._has_begun.set()

    def end(self) -> None:
        """Sends nothing more."""
        self._is_over.set()
        self._has_begun.set()

    def follow(self, whole: Parts, asked: Sequence[tuple[Any, Mapping[str, Any]]]) -> Mapping[str, Any]:
        """Passes on the events of these machines, which say whose they are; the reply, which is a refusal if one of them refuses. `asked`: with the
        request of each.
        """

        def take(machine: Any, event: Mapping[str, Any] | None) -> None:
            if event is not None:
                self._say({**event, "machine": machine.part.machine})

        return self._follow(whole, asked, take)

    def join(
        self,
        whole: Parts,
        asked: Sequence[tuple[Any, Mapping[str, Any]]],
        joined: Callable[[Mapping[str, Mapping[str, Any]]], Mapping[str, Any]],
    ) -> Mapping[str, Any]:
        """Makes one event of those of these machines, by their names, whenever each has sent one; the reply as that of `follow`."""
        latest: dict[str, Mapping[str, Any]] = {}
        waited = {machine.part.machine for machine, _ in asked}
        joining = threading.Lock()

        def take(machine: Any, event: Mapping[str, Any] | None) -> None:
            with joining:
                if event is None:
                    waited.discard(machine.part.machine)
                else:
                    latest[machine.part.machine] = event
                if latest and waited <= latest.keys():
                    self._say(joined(latest))
                    latest.clear()

        return self._follow(whole, asked, take)

    def _follow(
        self,
        whole: Parts,
        asked: Sequence[tuple[Any, Mapping[str, Any]]],
        take: Callable[[Any, Mapping[str, Any] | None], None],
    ) -> Mapping[str, Any]:
        """Has `take` take the events of machines, and nothing when one sends no more."""
        started: list[tuple[Any, int]] = []
        reply: Mapping[str, Any] = {"reply": "done"}
        for machine, request in asked:
            reply = dict(whole.call(machine, "subscribe", request))
            if reply["reply"] == "refused":
                break
            started.append((machine, reply.pop("number")))
        for machine, number in started:
            if reply["reply"] == "refused":
                whole.call(machine, "program", "end", number)
            else:
                threading.Thread(target=self._pass_on, args=(whole, machine, number, take), daemon=True).start()
        return reply

    def _pass_on(
        self, whole: Parts, machine: Any, number: int, take: Callable[[Any, Mapping[str, Any] | None], None]
    ) -> None:
        # The lab goes on without a machine that is lost, or ends: whoever looks after it tells.
        with contextlib.suppress(NetloomError):
            while not self._is_over.is_set():
                found = whole.call(machine, "program", "drain", number, WAIT)
                for line in found["lines"]:
                    take(machine, json.loads(line))
                if found["is_over"]:
                    break
            else:
                whole.call(machine, "program", "end", number)
        take(machine, None)

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
        self._has_begun.wait()
        if not self._is_over.is_set():
            self._send({**self._tag, **event})
