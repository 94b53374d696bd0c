"""What is said of a network when it has stopped."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..result import Result

_MOST = 3


def tell(result: Result | None, kept: bool) -> None:
    """Says on standard error whether the network was as described, and where the results are."""
    if result is None:
        return
    verdict = result.verdict or {}
    findings = verdict.get("findings", [])
    lines: list[str] = []
    if verdict.get("as_described") and result.ok:
        lines.append("netloom: the network was as described")
    else:
        lines.append(
            f"netloom: the network was not as described: {len(findings)} findings"
            if findings
            else f"netloom: {result.summary}"
        )
        lines += [f"  {each.get('subject')}: {each.get('text')}" for each in findings[:_MOST]]
        if len(findings) > _MOST:
            lines.append(f"  and {len(findings) - _MOST} more")
        lines += [f"  because {each}" for each in verdict.get("causes", [])]
    if kept:
        lines.append(f"netloom: results are in {result.folder}")
    print("\n".join(lines), file=sys.stderr, flush=True)
