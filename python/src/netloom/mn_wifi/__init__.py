"""Mininet-WiFi's interface: what a script imports as `mn_wifi` when `netloom mininet` runs it.

The modules `net`, `node`, `link`, `cli`, `topo`, `replaying`, `wmediumdConnector` and `propagationModels` have the names of Mininet-WiFi
2.7. Stations and access points become stations of Netloom's radio media; where a lab has nothing for a call, `Unsupported` says so.
"""

from __future__ import annotations

from ..mininet._clear import Unsupported

__all__ = ["Unsupported"]
