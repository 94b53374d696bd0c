"""Mininet's own examples, where they are installed: Netloom brings none of them."""

from __future__ import annotations

import os
import sys

#: Where to look, beside a folder `mininet/examples` in Python's path.
_PLACES = ("/usr/share/doc/mininet/examples", "/usr/lib/python3/dist-packages/mininet/examples")


def _found() -> list[str]:
    named = os.environ.get("NETLOOM_MININET_EXAMPLES")
    folders = [named] if named else [os.path.join(each or ".", "mininet", "examples") for each in sys.path]
    own = os.path.dirname(os.path.abspath(__file__))
    return [each for each in [*folders, *_PLACES] if os.path.isdir(each) and os.path.abspath(each) != own]


__path__ += _found()
