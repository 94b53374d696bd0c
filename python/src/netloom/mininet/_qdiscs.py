"""What `tc` says of a switch's port, as keys of the pipe that begins there: one queue, with at most one rate, one delay, and no classes beside one another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._quantity import amount
from ._shaping import time_ns

#: What a pipe is without any qdisc.
PLAIN = {
    "rate": "unlimited", "delay": "0", "loss": "0", "duplicate": "0", "corrupt": "0", "queue": "1000 packets",
}  # fmt: skip
#: Units of `tc` for rates, in bits per second, and for sizes, in bytes (tc(8), PARAMETERS).
_RATES = {
    "bit": 1, "kbit": 10**3, "mbit": 10**6, "gbit": 10**9, "tbit": 10**12, "kibit": 2**10, "mibit": 2**20, "gibit": 2**30,
    "bps": 8, "kbps": 8 * 10**3, "mbps": 8 * 10**6, "gbps": 8 * 10**9, "": 1,
}  # fmt: skip
_SIZES = {"": 1, "b": 1, "k": 2**10, "kb": 2**10, "m": 2**20, "mb": 2**20, "g": 2**30, "gb": 2**30}


class TcError(Exception):
    """A command that `tc` would refuse, or that a pipe cannot follow."""


def _amount(text: str, units: dict[str, int], what: str) -> int:
    found = amount(text.lower(), units, exponents=True)
    if found is None:
        raise TcError(f'Illegal "{what}": {text}')
    return int(found)


def rate(text: str) -> str:
    """A rate of `tc` as a lab file has it."""
    return f"{_amount(text, _RATES, 'rate')} bit/s"


def size(text: str) -> int:
    """A size of `tc`, in bytes."""
    return _amount(text, _SIZES, "size")


def _words(words: Sequence[str], known: dict[str, str], flags: Sequence[str], kind: str) -> dict[str, str]:
    """Options by their names, and flags that are there."""
    found: dict[str, str] = {}
    rest = list(words)
    while rest:
        word = rest.pop(0)
        if word in flags:
            found[word] = ""
        elif word in known and rest:
            found[word] = rest.pop(0)
        else:
            raise TcError(f"netloom: a pipe does not know `{word}` of {kind}")
    return found


def _time(text: str) -> str:
    return f"{time_ns('tc', 'time', text)} ns"


def _fifo(words: Sequence[str], kind: str) -> dict[str, Any]:
    limit = _words(words, {"limit": ""}, [], kind).get("limit")
    if limit is None:
        return {"queue": PLAIN["queue"]}
    return {"queue": f"{_amount(limit, _SIZES, 'limit')} {'B' if kind == 'bfifo' else 'packets'}"}


def _codel(words: Sequence[str], kind: str) -> dict[str, Any]:
    fair = kind == "fq_codel"
    known = {
        "limit": "",
        "target": "",
        "interval": "",
        **({"flows": "", "quantum": "", "memory_limit": ""} if fair else {}),
    }
    said = _words(words, known, ["ecn", "noecn"], kind)
    queue: dict[str, Any] = {
        "kind": kind,
        "ecn": "noecn" not in said and (fair or "ecn" in said),
    }
    if not fair or "limit" in said:
        queue["limit"] = f"{int(said.get('limit', '1000'))} packets"
    for word in ("target", "interval"):
        if word in said:
            queue[word] = _time(said[word])
    if "flows" in said:
        queue["flows"] = int(said["flows"])
    for word, key in (("quantum", "quantum"), ("memory_limit", "memory")):
        if word in said:
            queue[key] = f"{_amount(said[word], _SIZES, word)} B"
    return {"queue": queue}


def _red(words: Sequence[str], kind: str) -> dict[str, Any]:
    known: dict[str, str] = dict.fromkeys(("limit", "min", "max", "avpkt", "burst", "probability", "bandwidth"), "")
    said = _words(words, known, ["ecn", "harddrop"], kind)
    if "limit" not in said or "avpkt" not in said:
        raise TcError("RED: Required parameter (limit, avpkt) is missing")
    size = {word: _amount(said[word], _SIZES, word) for word in ("limit", "min", "max", "avpkt") if word in said}
    # What iproute2 takes if nothing is said (q_red.c): max is a quarter of the limit, min a third of max.
    most = size.get("max") or size["limit"] // 4
    least = size.get("min") or most // 3
    burst = int(said.get("burst", (2 * least + most) // (3 * size["avpkt"])))
    return {
        "queue": {
            "kind": "red", "limit": f"{size['limit']} B", "min": f"{least} B", "max": f"{most} B",
            "probability": f"{float(said.get('probability', 0.02)) * 100:g} %", "mean_packet": f"{size['avpkt']} B",
            "weight": f"{red_weight(burst, least, size['avpkt']) * 100:g} %", "ecn": "ecn" in said, "hard_drop": "harddrop" in said,
        }
    }  # fmt: skip


def red_weight(burst: int, least: int, packet: int) -> float:
    """The weight of RED's average that `tc` computes from a burst (`tc_red_eval_ewma` of iproute2), a power of two."""
    weight, room = 0.5, burst + 1 - least / packet
    for _ in range(31):
        if room <= (1 - (1 - weight) ** burst) / weight:
            return weight
        weight /= 2
    return weight


def _htb(_words: Sequence[str], _kind: str) -> dict[str, Any]:
    return {}


#: The qdiscs that a pipe can be, with what each of them says of it.
_KINDS = {
    "pfifo": _fifo, "bfifo": _fifo, "pfifo_fast": _fifo, "fq": lambda *_: {}, "codel": _codel, "fq_codel": _codel, "red": _red, "htb": _htb,
    "netem": lambda words, _: {"netem": " ".join(words)}, "tbf": lambda words, _: {"tbf": " ".join(words)},
}  # fmt: skip


def entry(kind: str, parent: str, handle: str, words: Sequence[str]) -> dict[str, Any]:
    """A qdisc, with the keys of the pipe that it means.

    Raises:
        TcError: A pipe cannot be it.
    """
    make = _KINDS.get(kind)
    if make is None:
        raise TcError(f"netloom: a pipe has no queue as `{kind}` is; known are {', '.join(_KINDS)}")
    try:
        keys = make(words, kind)
    except TcError:
        raise
    except Exception as error:
        raise TcError(f"netloom: {kind}: {error}") from None
    return {"kind": kind, "parent": parent, "handle": handle, "words": list(words), "keys": keys}


def changes(chain: Sequence[dict[str, Any]]) -> list[list[Any]]:
    """What a chain of qdiscs says of the pipe, from the root to the last: pairs of a key and its value.

    Raises:
        TcError: Two of them say the same.
    """
    keys: dict[str, Any] = {}
    for each in chain:
        for key, value in each["keys"].items():
            if key in keys and key in ("netem", "tbf", "rate"):
                raise TcError(f"netloom: a pipe has one {key}, and two qdiscs or classes say it")
            keys[key] = value
    found = {"rate": PLAIN["rate"], "queue": PLAIN["queue"]}
    if "netem" in keys:
        # A string is whole: what it does not say is plain.
        said = keys["netem"].split()
        if any("rate".startswith(word) and len(word) > 1 for word in said):
            found.pop("rate")
        if "limit" in said:
            found.pop("queue")
    else:
        found |= {key: PLAIN[key] for key in ("delay", "loss", "duplicate", "corrupt")}
    if "tbf" in keys:
        found.pop("rate", None)
        found.pop("queue", None)
    return [[key, value] for key, value in (found | keys).items()]


__all__ = ["PLAIN", "TcError", "changes", "entry", "rate", "red_weight", "size"]
