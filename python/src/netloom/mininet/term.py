"""Terminals in windows: refused, for Netloom opens none."""

from __future__ import annotations

from typing import Any

from ._clear import refuse

_WHY = "Netloom opens no windows; `netloom shell LAB NODE` in a terminal of your own gives a shell in a node (`netloom ps` lists labs)"


def makeTerm(node: Any, title: str = "Node", term: str = "xterm", display: Any = None, cmd: str = "bash") -> Any:
    """Refused."""
    refuse(f"makeTerm({node})", _WHY)


def makeTerms(nodes: Any, title: str = "Node", term: str = "xterm") -> Any:
    """Refused."""
    refuse("a terminal in a window (xterm, -x)", _WHY)


def runX11(node: Any, cmd: Any) -> Any:
    """Refused."""
    refuse(f"runX11({node})", _WHY)


def tunnelX11(node: Any, display: Any = None) -> Any:
    """Refused."""
    refuse(f"tunnelX11({node})", _WHY)


def cleanUpScreens() -> None:
    """Nothing: there are none."""


def __getattr__(name: str) -> Any:
    from ._names import other

    return other("term", name, globals())
