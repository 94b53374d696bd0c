"""Models of path loss, by the name under which scripts import them."""

from __future__ import annotations

from ._signals import Propagation as PropagationModel

ppm = PropagationModel

__all__ = ["PropagationModel", "ppm"]
