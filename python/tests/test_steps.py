"""The time of a lab in virtual time over several machines, with parts that only count."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from netloom._errors import NetloomError
from netloom._steps import Steps


class Parts:
    """Two parts whose lab time goes on by what they are asked for."""

    def __init__(self, pause: float = 0.0, drift_ns: int = 0) -> None:
        self.at_ns, self.spans, self.asked = [0, 0], list[int](), list[str]()
        self._pause, self._drift_ns = pause, drift_ns
        self.refuses: str | None = None

    def ask(self, request: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        self.asked.append(request["request"])
        if request["request"] == self.refuses:
            return [{"reply": "done"}, {"reply": "refused", "code": 2, "message": "not so"}]
        if request["request"] == "advance":
            time.sleep(self._pause)
            self.spans.append(request["by_ns"])
            self.at_ns = [self.at_ns[0] + request["by_ns"], self.at_ns[1] + request["by_ns"] + self._drift_ns]
        return [{"reply": "now", "at_ns": at, "paused": True} for at in self.at_ns]


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_time_goes_on_by_one_span_that_is_asked_for() -> None:
    parts = Parts()
    assert Steps(parts.ask).advance(300) == {"reply": "now", "at_ns": 300, "paused": True}
    assert parts.spans == [300]


def test_whatever_changes_the_lab_waits_for_time_to_stand() -> None:
    parts = Parts(pause=0.3)
    steps = Steps(parts.ask)
    goes = threading.Thread(target=steps.advance, args=[10])
    goes.start()
    until(lambda: "advance" in parts.asked)
    with pytest.raises(NetloomError, match=r"has not come to a stand for 0\.01 s"):
        steps.same({"request": "down"}, 0.01)
    assert steps.is_going and steps.now({"paused": True}) == {"paused": False}
    steps.same({"request": "set"})
    assert parts.asked == ["advance", "set"] and parts.at_ns == [10, 10]
    goes.join()


def test_time_that_goes_on_by_itself_does_so_in_spans_between_which_there_is_room() -> None:
    parts, said = Parts(pause=0.001), list[str]()
    steps = Steps(parts.ask)
    steps.resume(said.append)
    for _ in range(5):
        before = len(parts.spans)
        steps.same({"request": "set"})
        until(lambda before=before: len(parts.spans) > before)
    assert steps.pause()["paused"] is True
    stood = list(parts.at_ns)
    time.sleep(0.05)
    assert parts.at_ns == stood and stood[0] > 0 and not said
    # Short spans become longer ones.
    assert parts.spans[1] == 2 * parts.spans[0]


def test_what_one_part_refuses_is_refused() -> None:
    parts, said = Parts(), list[str]()
    steps = Steps(parts.ask)
    parts.refuses = "set"
    assert steps.same({"request": "set"})["message"] == "not so"
    parts.refuses = "advance"
    steps.resume(said.append)
    until(lambda: said == ["not so"])
    assert not steps.is_going


def test_parts_at_two_instants_are_an_error() -> None:
    with pytest.raises(NetloomError, match="not at one instant"):
        Steps(Parts(drift_ns=1).ask).advance(5)
