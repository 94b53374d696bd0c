"""Signals as a script describes them: channels, path loss, and what arrives at a distance."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ..mininet._clear import meant, refuse

_SPEED_OF_LIGHT = 299_792_458.0
#: Standards by Mininet-WiFi's modes.
_STANDARDS = {
    "a": "a",
    "b": "b",
    "g": "g",
    "n": "n",
    "n2": "n",
    "n5": "n",
    "ac": "ac",
    "ax": "ax",
    "ax2": "ax",
    "ax5": "ax",
}
#: Channels at 5 GHz.
_HIGH = (*range(36, 65, 4), *range(100, 145, 4), *range(149, 178, 4))
_MODELS = ("friis", "logDistance", "logNormalShadowing", "ITU", "twoRayGround")
#: ITU-R P.1238 between flats, which Mininet-WiFi has for short distances.
_IN_FLATS = 28.0
#: The farthest distance that is looked at, in metres.
_FARTHEST = 1e6


@dataclass(frozen=True)
class Channel:
    """A channel, and the standard that is spoken there."""

    standard: str
    number: int
    width: int = 20

    @property
    def hertz(self) -> float:
        """Its frequency."""
        if self.number == 14:
            return 2_484e6
        return (2_407e6 if self.number < 14 else 5_000e6) + 5e6 * self.number


def channel_of(name: str, mode: Any, channel: Any, width: Any) -> tuple[Channel, str]:
    """The channel that a mode and a number mean, and a note if the number is none of that mode.

    Raises:
        Unsupported: There is no such mode here.
    """
    standard = _STANDARDS.get(str(mode))
    if standard is None:
        refuse(f"mode={mode!r} of {name}", "media of a lab speak 802.11 a, b, g, n, ac and ax")
    number = int(channel or 0)
    is_low = standard in ("b", "g") or str(mode) in ("n2", "ax2")
    is_high = standard in ("a", "ac") or str(mode) in ("n5", "ax5")
    known = (() if is_high else tuple(range(1, 15))) + (() if is_low else _HIGH)
    usual = 36 if is_high or (not is_low and number > 14) else 1
    note = ""
    if number not in known:
        # Mininet-WiFi has 1 for whoever says nothing.
        if number > 1:
            note = f"channel {number} is none of mode {mode}: {name} has {usual}"
        number = usual
    asked = int(width or 20)
    widths = {"n": (20, 40), "ac": (20, 40, 80, 160), "ax": (20, 40, 80, 160)}.get(standard, (20,))
    return Channel(standard, number, asked if asked in widths else 20), note


@dataclass(frozen=True)
class Propagation:
    """The path loss of a network."""

    model: str = "logDistance"
    #: The exponent of log-distance.
    exp: float = 3.0
    #: The system loss, a factor.
    sL: float = 1.0
    #: The loss of a floor in dB, the power of distance times ten, and floors of ITU.
    lF: float = 0.0
    pL: float = 0.0
    nFloors: int = 0
    #: The standard deviation of shadowing in dB.
    variance: float = 2.0
    #: The least power that is received, in dBm.
    noise_th: float = -91.0

    @staticmethod
    def of(noise_th: float, params: dict[str, Any]) -> Propagation:
        """The one that a script describes.

        Raises:
            Unsupported: There is no such model here.
        """
        model = str(params.get("model", "logDistance"))
        if model not in _MODELS:
            refuse(
                f"setPropagationModel(model={model!r})",
                f"there are {', '.join(_MODELS)}{meant(model, _MODELS).replace(': did', '; did')}",
            )
        numbers = {key: float(params[key]) for key in ("exp", "sL", "lF", "pL", "variance") if key in params}
        noise = float(params.get("noise_th", noise_th))
        return Propagation(model=model, nFloors=int(params.get("nFloors", 0)), noise_th=noise, **numbers)

    def loss(self, metres: float, hertz: float, heights: tuple[float, float] = (1.0, 1.0)) -> float:
        """The path loss over a distance in dB, without shadowing."""
        metres = max(metres, 0.1)
        system = 10 * math.log10(self.sL)
        if self.model == "friis":
            return _friis(metres, hertz) + system
        if self.model == "ITU":
            return 20 * math.log10(hertz / 1e6) + self._coefficient * math.log10(max(metres, 1.0)) + self._floors - 28
        if self.model == "twoRayGround":
            crossover = 4 * math.pi * heights[0] * heights[1] * hertz / _SPEED_OF_LIGHT
            if metres > crossover:
                return 40 * math.log10(metres) - 20 * math.log10(heights[0] * heights[1])
            return _friis(metres, hertz)
        return _friis(1.0, hertz) + system + 10 * self.exp * math.log10(metres)

    def range_of(self, power: float, gains: float, hertz: float, heights: tuple[float, float] = (1.0, 1.0)) -> float:
        """How far a signal is received, in metres."""
        budget = power + gains - self.noise_th
        near, far = 0.1, _FARTHEST
        if self.loss(near, hertz, heights) > budget:
            return near
        for _ in range(80):
            middle = math.sqrt(near * far)
            near, far = (middle, far) if self.loss(middle, hertz, heights) <= budget else (near, middle)
        return near

    def power_for(self, metres: float, gains: float, hertz: float, heights: tuple[float, float] = (1.0, 1.0)) -> float:
        """The power in dBm whose signal is just received at a distance."""
        return self.noise_th - gains + self.loss(metres, hertz, heights)

    @property
    def _coefficient(self) -> float:
        return self.pL or _IN_FLATS

    @property
    def _floors(self) -> float:
        return self.lF * self.nFloors

    def lab_keys(self, hertz: float) -> dict[str, Any]:
        """The keys that a medium has by it."""
        keys: dict[str, Any] = {"sensitivity": f"{self.noise_th:.4f} dBm"}
        exponent = 2.0 if self.model == "friis" else self.exp
        if self.model == "ITU":
            keys["loss"] = {"kind": "indoor", "coefficient": self._coefficient, "floors": f"{self._floors:.4f} dB"}
        elif self.model == "twoRayGround":
            keys["loss"] = "two-ray"
        elif self.model == "friis" and self.sL == 1:
            keys["loss"] = "friis"
        else:
            reference = _friis(1.0, hertz) + 10 * math.log10(self.sL)
            keys["loss"] = {"kind": "log-distance", "exponent": exponent, "reference": f"{max(reference, 0):.4f} dB"}
        if self.model == "logNormalShadowing":
            keys["shadowing"] = {"deviation": f"{self.variance:.4f} dB"}
        return keys


def _friis(metres: float, hertz: float) -> float:
    return 20 * math.log10(4 * math.pi * metres * hertz / _SPEED_OF_LIGHT)
