"""The time of a lab that is up in virtual time over several machines: it stands still in all parts at one instant, or goes on in all by one span.

All parts compute the same lab. So whatever a user does to it is done in all of them, between two spans, and in one order.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Generator, Mapping
from typing import Any

from ._errors import NetloomError

#: The first span of lab time, in nanoseconds. The next is longer or shorter, so that one takes so many seconds of wall time.
FIRST_NS = 1_000_000
SHORTEST_NS, LONGEST_NS = 1_000, 10**12
SHORT, LONG = 0.1, 0.4

Reply = Mapping[str, Any]


class Steps:
    """Lets lab time go on, and does what changes the lab where it stands."""

    def __init__(self, ask: Callable[[Mapping[str, Any]], list[Reply]]) -> None:
        #: Asks all parts at once.
        self._ask = ask
        self._turn = threading.Condition()
        self._is_busy = False
        #: Who waits for lab time to stand; spans wait for them.
        self._waiting = 0
        #: The number of the latest wish: whoever lets time go on does so until another one comes.
        self._wish = 0
        self.is_going = False
        self._span_ns = FIRST_NS
        #: How long the last span took, in seconds.
        self._took = 0.0

    @contextlib.contextmanager
    def standing(self, patience: float | None = None) -> Generator[None, None, None]:
        """Lab time stands meanwhile, at one instant in all parts.

        Raises:
            NetloomError: It has gone on for as long as somebody waits for that, in seconds.
        """
        with self._turn:
            self._waiting += 1
            stands = self._turn.wait_for(lambda: not self._is_busy, patience)
            self._waiting -= 1
            if not stands:
                raise NetloomError(f"lab time has not come to a stand for {patience:g} s")
            self._is_busy = True
        try:
            yield
        finally:
            self._leave()

    def _leave(self) -> None:
        with self._turn:
            self._is_busy = False
            self._turn.notify_all()

    def same(self, request: Mapping[str, Any], patience: float | None = None) -> Reply:
        """Asks all parts for the same at one instant; the reply, which is a refusal if one part refuses it."""
        with self.standing(patience):
            return _common(self._ask(request))

    def advance(self, by_ns: int) -> Reply:
        """Lets time go on by so much, in one span as on one machine: what nodes do depends on nothing but that."""
        wish = self._begin()
        try:
            reply = self._go(by_ns, wish)
        finally:
            self._end(wish)
        # Somebody has wished another thing before it began.
        return self.now(self._ask({"request": "now"})[0] if reply is None else reply)

    def resume(self, fails: Callable[[str], None]) -> Reply:
        """Lets time go on by itself from now on."""
        wish = self._begin()

        def go() -> None:
            try:
                while (reply := self._go(self._span_ns, wish)) is not None:
                    self._learn(self._took)
                    if reply["reply"] == "refused":
                        fails(str(reply["message"]))
                        return
            except NetloomError as error:
                fails(str(error))
            finally:
                self._end(wish)

        threading.Thread(target=go, daemon=True).start()
        return self.now(self._ask({"request": "now"})[0])

    def pause(self) -> Reply:
        """Has time stand from now on."""
        self.hold()
        return self.now(self.same({"request": "now"}))

    def hold(self) -> None:
        """Has time stand as soon as its span is over."""
        with self._turn:
            self._wish += 1
            self.is_going = False
            self._turn.notify_all()

    def now(self, reply: Reply) -> Reply:
        """What a part says of the time, as it is for the whole lab: parts stand between any two spans."""
        return {**reply, "paused": not self.is_going} if "paused" in reply else reply

    def _begin(self) -> int:
        with self._turn:
            self._wish += 1
            self.is_going = True
            return self._wish

    def _end(self, wish: int) -> None:
        with self._turn:
            if self._wish == wish:
                self.is_going = False

    def _go(self, span_ns: int, wish: int) -> Reply | None:
        """Lets time go on; none if that is wished no more when it is its turn."""
        with self._turn:
            self._turn.wait_for(lambda: self._wish != wish or (not self._is_busy and self._waiting == 0))
            if self._wish != wish:
                return None
            self._is_busy = True
        try:
            begun = time.monotonic()
            reply = _common(self._ask({"request": "advance", "by_ns": span_ns}))
            self._took = time.monotonic() - begun
            return reply
        finally:
            self._leave()

    def _learn(self, took: float) -> None:
        """Makes the next span longer or shorter."""
        if took < SHORT:
            self._span_ns = min(2 * self._span_ns, LONGEST_NS)
        elif took > LONG:
            self._span_ns = max(self._span_ns // 2, SHORTEST_NS)


def _common(replies: list[Reply]) -> Reply:
    """The one reply of all parts.

    Raises:
        NetloomError: They are not at one instant any more.
    """
    for reply in replies:
        if reply["reply"] == "refused":
            return reply
    if len({reply.get("at_ns") for reply in replies}) > 1:
        raise NetloomError(f"the parts of the lab are not at one instant: {[reply.get('at_ns') for reply in replies]}")
    return replies[0]
