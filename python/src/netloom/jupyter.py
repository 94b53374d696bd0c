"""How labs and results look in a notebook."""

from __future__ import annotations

import html
from typing import Any

from ._errors import NetloomError
from ._interfaces import Drawable, Judged, Running

#: A report that is longer is linked rather than shown.
_LONGEST_REPORT = 8 << 20


def lab_html(lab: Drawable) -> str:
    """A lab as its map; a wrong one as what is wrong."""
    try:
        return lab.svg()
    except NetloomError as error:
        return f'<pre style="color:#b00020">{html.escape(str(error))}</pre>'


def live_html(live: Running) -> str:
    """A lab that is up, as a table of its nodes and links."""
    try:
        nodes = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{html.escape(', '.join(node.addresses))}</td></tr>"
            for name, node in live.nodes.items()
        )
        now = live.now
    except NetloomError as error:
        return f"<pre>{html.escape(str(error))}</pre>"
    paused = ", paused" if now.paused else ""
    caption = f"lab {html.escape(live.name)} at {now.seconds:.3f} s ({now.clock} time{paused})"
    return f"<table><caption>{caption}</caption><tr><th>node</th><th>addresses</th></tr>{nodes}</table>"


def result_html(result: Judged) -> str:
    """A result as its report, if it has one, or else as its summary with a picture of the lab."""
    page = result.folder / "report.html"
    if page.is_file() and page.stat().st_size <= _LONGEST_REPORT:
        source = html.escape(page.read_text(encoding="utf-8"), quote=True)
        return f'<iframe srcdoc="{source}" style="width:100%;height:720px;border:1px solid #ccc"></iframe>'
    link = f'<p><a href="{html.escape(page.absolute().as_uri())}">report</a></p>' if page.is_file() else ""
    picture = result.folder / "lab.svg"
    drawn = picture.read_text(encoding="utf-8") if picture.is_file() else ""
    colour = "#1b7f3b" if result.ok else "#b00020"
    return f'<div style="border-left:4px solid {colour};padding-left:1em">{result.to_html()}{link}{drawn}</div>'


class Steps:
    """Shows the last step of what goes on in the place of the one before."""

    def __init__(self) -> None:
        from IPython.display import display  # pyright: ignore[reportMissingImports]

        self._shown: Any = display(_Line(""), display_id=True)

    def __call__(self, step: str) -> None:
        """Shows a step."""
        self._shown.update(_Line(step))


class _Line:
    def __init__(self, text: str) -> None:
        self._text = text

    def _repr_html_(self) -> str:
        return f"<code>{html.escape(self._text)}</code>"

    def __repr__(self) -> str:
        return self._text


class Bar:
    """How much of a number of things is done."""

    def __init__(self, total: int) -> None:
        from IPython.display import display  # pyright: ignore[reportMissingImports]

        self._total = total
        self._shown: Any = display(_Progress(0, total, ""), display_id=True)

    def show(self, done: int, text: str) -> None:
        """So many are done."""
        self._shown.update(_Progress(done, self._total, text))


class _Progress:
    def __init__(self, done: int, total: int, text: str) -> None:
        self._done, self._total, self._text = done, total, text

    def _repr_html_(self) -> str:
        label = f"{self._done} of {self._total} {html.escape(self._text)}"
        return f'<progress value="{self._done}" max="{self._total}" style="width:60%"></progress> {label}'

    def __repr__(self) -> str:
        return f"{self._done} of {self._total} {self._text}"
