"""Answers of `iw` and `iwconfig` about wireless interfaces, whose cards exist in the medium of the lab alone."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .link import WirelessIntf

#: A call at the beginning of a command, up to what separates it from the next.
_CALL = re.compile(
    r"(?P<before>^\s*|[;&|(]\s*)(?P<sudo>sudo\s+)?(?P<words>iw(?:config|list)?\s[^;&|<>()]*|iw(?:config)?\s*$)"
)


def answered(command: str, node: Any) -> str:
    """A command in which calls of `iw` and `iwconfig` are replaced by what they would write."""

    def replaced(call: re.Match[str]) -> str:
        try:
            words = [word for word in shlex.split(call["words"]) if not re.fullmatch(r"\d", word)]
        except ValueError:
            return call[0]
        said, code = _config(words[1:], node) if words[0] == "iwconfig" else _iw(words[1:], node)
        # No name of an interface stands in it, which an access point would take for a look at a switch.
        text = "".join(f"\\{byte:03o}" for byte in said.encode())
        shown = f"printf '{text}'" if code == 0 else f"{{ printf '{text}' >&2; (exit {code}); }}"
        return f"{call['before']}{shown} "

    return _CALL.sub(replaced, command).strip() if "iw" in command else command


def _own(name: str, node: Any) -> WirelessIntf | None:
    return next((intf for intf in node.wintfs.values() if intf.name == name), None)


def _iw(words: list[str], node: Any) -> tuple[str, int]:
    """What `iw` writes, and its exit code."""
    words = [word for word in words if word not in ("--debug", "-t", "-h")]
    if not words:
        return "Usage:\tiw [options] command\n", 0
    if words[0] in ("dev", "phy") and len(words) == 1:
        return "".join(f"{_info(intf)}" for intf in node.wintfs.values()) if words[0] == "dev" else "", 0
    if words[0] != "dev":
        return "command failed: Operation not supported (-95)\n", 161
    intf = _own(words[1], node)
    if intf is None:
        return "command failed: No such device (-19)\n", 237
    action, rest = " ".join(words[2:4]), words[2:]
    if rest[:1] == ["link"]:
        return _link(intf), 0
    if rest[:1] in (["info"], []):
        return _info(intf), 0
    if rest[:1] == ["scan"]:
        return _scan(intf), 0
    if action.startswith("station"):
        return _stations(intf, rest), 0
    if rest[:1] in (["connect"], ["disconnect"]):
        return _connect(intf, rest)
    if action == "set txpower" and len(rest) > 3:
        # In hundredths of a dBm.
        intf.setTxPower(float(rest[3]) / 100)
        return "", 0
    if action == "set channel" and len(rest) > 2:
        intf.setChannel(int(rest[2]))
        return "", 0
    return "command failed: Operation not supported (-95)\n", 161


def _megahertz(intf: WirelessIntf) -> int:
    return round(intf.wifi_channel.hertz / 1e6)


def _link(intf: WirelessIntf) -> str:
    """What `iw dev ... link` writes: who it is connected with, and how strong that is."""
    ap = intf.associatedTo
    if ap is None or not _hears(intf, ap):
        return "Not connected.\n"
    return (
        f"Connected to {ap.mac} (on {intf.name})\n\tSSID: {ap.ssid}\n\tfreq: {_megahertz(ap)}\n"
        f"\tsignal: {round(intf.power_from(ap))} dBm\n"
    )


def _hears(intf: WirelessIntf, ap: WirelessIntf) -> bool:
    if not (intf.node.has_place and ap.node.has_place):
        return True
    return intf.power_from(ap) >= intf.net.propagation.noise_th


def _info(intf: WirelessIntf) -> str:
    """What `iw dev ... info` writes."""
    kind = {"managed": "managed", "master": "AP", "adhoc": "IBSS", "mesh": "mesh point"}[intf.kind]
    ssid = (intf.associatedTo.ssid if intf.associatedTo else None) if intf.kind == "managed" else intf.ssid
    named = f"\tssid {ssid}\n" if ssid else ""
    channel = intf.wifi_channel
    return (
        f"Interface {intf.name}\n\taddr {intf.mac}\n{named}\ttype {kind}\n"
        f"\tchannel {channel.number} ({_megahertz(intf)} MHz), width: {channel.width} MHz\n\ttxpower {intf.power:.2f} dBm\n"
    )


def _scan(intf: WirelessIntf) -> str:
    """What `iw dev ... scan` writes: the access points that it hears."""
    current = intf.associatedTo
    return "".join(
        f"BSS {ap.mac}(on {intf.name}){' -- associated' if ap is current else ''}\n\tfreq: {_megahertz(ap)}\n"
        f"\tsignal: {power:.2f} dBm\n\tSSID: {ap.ssid}\n"
        for ap, power in sorted(intf.apsInRange.items(), key=lambda pair: -pair[1])
    )


def _stations(intf: WirelessIntf, rest: list[str]) -> str:
    """What `iw dev ... station dump` and `station get` write: who it is connected with."""
    known = intf.associatedStations if intf.kind == "master" else [intf.associatedTo] if intf.associatedTo else []
    wanted = rest[2].lower() if rest[1:2] == ["get"] and len(rest) > 2 else None
    return "".join(
        f"Station {other.mac} (on {intf.name})\n\tsignal:  \t{round(intf.power_from(other))} dBm\n"
        for other in known
        if _hears(intf, other) and wanted in (None, (other.mac or "").lower())
    )


def _connect(intf: WirelessIntf, rest: list[str]) -> tuple[str, int]:
    """Associates with a network by its name, and perhaps the address of its access point."""
    if rest[0] == "disconnect":
        intf.associate(None)
        return "", 0
    words = [word for word in rest[1:] if word != "-w"]
    addresses = [word.lower() for word in words[1:] if re.fullmatch(r"(?i)([0-9a-f]{2}:){5}[0-9a-f]{2}", word)]
    found = [ap for ap in intf.net.masters() if words and ap.ssid == words[0]]
    if addresses:
        found = [ap for ap in found if (ap.mac or "").lower() in addresses]
    found = [ap for ap in found if ap.node is not intf.node and _hears(intf, ap)]
    if not found:
        return "command failed: No such file or directory (-2)\n", 254
    intf.associate(max(found, key=intf.power_from))
    return "", 0


def _config(words: list[str], node: Any) -> tuple[str, int]:
    """What `iwconfig` writes, and its exit code."""
    shown = [intf for intf in node.wintfs.values() if not words or intf.name == words[0]]
    if not shown:
        return f"{words[0]}  No such device\n", 237
    if len(words) > 1:
        return "Error for wireless request: Operation not supported.\n", 161
    return "\n".join(_configured(intf) for intf in shown), 0


def _configured(intf: WirelessIntf) -> str:
    mode = {"managed": "Managed", "master": "Master", "adhoc": "Ad-Hoc", "mesh": "Auto"}[intf.kind]
    ap = intf.associatedTo if intf.associatedTo is not None and _hears(intf, intf.associatedTo) else None
    ssid = (ap.ssid if ap else None) if intf.kind == "managed" else intf.ssid
    quoted = f'"{ssid}"' if ssid else "off/any"
    place = f"Frequency:{intf.freq:.4g} GHz  Access Point: {ap.mac}" if ap else "Access Point: Not-Associated"
    quality = f"          Link Quality={max(0, min(70, round(intf.power_from(ap)) + 110))}/70  Signal level={round(intf.power_from(ap))} dBm\n" if ap else ""  # fmt: skip
    return f"{intf.name}  IEEE 802.11  ESSID:{quoted}\n          Mode:{mode}  {place}   Tx-Power={intf.power:.0f} dBm\n{quality}"


__all__ = ["answered"]
